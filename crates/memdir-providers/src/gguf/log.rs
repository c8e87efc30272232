//! What llama.cpp says of itself: warnings and errors are kept until they are asked for, the rest is dropped.
//!
//! It would go to the standard error otherwise, with the path of the file in it.

use std::sync::{Arc, Mutex, PoisonError};

use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tracing::field::{Field, Visit};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber, span};

/// How many lines are kept at most, and how many characters of each.
const MAX_LINES: usize = 32;
const MAX_LINE: usize = 300;

/// The lines of the engine's thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    lines: Arc<Mutex<Vec<(Level, String)>>>,
}

impl Log {
    /// Takes what llama.cpp says on this thread, as long as the guard is held.
    pub(super) fn start() -> (Self, DefaultGuard) {
        send_logs_to_tracing(LogOptions::default());
        let log = Self::default();
        let guard = tracing::subscriber::set_default(Taker(log.clone()));
        (log, guard)
    }

    /// What came since it was asked last, the oldest first.
    pub(super) fn take(&self) -> Vec<(Level, String)> {
        std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What llama.cpp hands its lines to.
struct Taker(Log);

impl Subscriber for Taker {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(tracing::level_filters::LevelFilter::WARN)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let mut lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MAX_LINES {
            lines.push((*event.metadata().level(), line.0));
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The text of an event.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.0 = value.trim().chars().take(MAX_LINE).collect();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

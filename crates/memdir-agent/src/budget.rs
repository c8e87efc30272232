//! Tokens a day: what the sessions of a memory have used since midnight, in UTC.

use super::Spent;
use super::context::TOKEN_BYTES;
use super::line::{Line, lines};
use memdir_core::report::Failure;
use memdir_core::time::Timestamp;
use memdir_engine::Engine;
use memdir_model::{Heard, ModelError, Request};

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// How many tokens are left of so many a day; `None` for as many as one likes.
///
/// # Errors
///
/// As [`spent_today`].
pub fn tokens_left(engine: &Engine, a_day: Option<u64>, now: Timestamp) -> Result<Option<u64>, Failure> {
    a_day.map(|a_day| Ok(a_day.saturating_sub(spent_today(engine, now)?))).transpose()
}

/// How many tokens the sessions that are kept have used today: read, as far as they were not known from before, and written.
///
/// # Errors
///
/// What the engine says.
pub fn spent_today(engine: &Engine, now: Timestamp) -> Result<u64, Failure> {
    let midnight = midnight(now);
    let mut spent = 0_u64;
    for kept in engine.sessions()?.iter().take_while(|kept| kept.changed >= midnight) {
        let bytes = engine.read_session(&kept.id)?.unwrap_or_default();
        spent = spent.saturating_add(spent_since(&bytes, midnight));
    }
    Ok(spent)
}

/// What the turns among these lines have used from a moment on. What cannot be read counts nothing.
pub(super) fn spent_since(bytes: &[u8], from: Timestamp) -> u64 {
    let turns = lines(bytes).filter_map(|line| match line {
        Ok(
            Line::Turn { time, input_tokens, output_tokens, reused_tokens, .. }
            | Line::Stage { time, input_tokens, output_tokens, reused_tokens, .. }
            | Line::Used { time, input_tokens, output_tokens, reused_tokens, .. },
        ) if time >= from => Some(input_tokens.saturating_sub(reused_tokens).saturating_add(output_tokens)),
        _ => None,
    });
    turns.fold(0, u64::saturating_add)
}

/// What a request uses of which no server says anything: it has not been sent yet, or its answer broke off.
pub(super) struct Estimate {
    /// How many tokens the model is given to read.
    pub(super) sent: u64,
    /// How many bytes of the answer were heard.
    heard: usize,
    /// How many tokens were used by answers that broke off and were asked for again.
    lost: Spent,
}

impl Estimate {
    pub(super) fn of(request: &Request) -> Self {
        let said = request.messages.iter().map(|message| message.text.len());
        Self { sent: tokens(request.system.len() + said.sum::<usize>()), heard: 0, lost: Spent::default() }
    }

    pub(super) fn hear(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Reading { .. } => {}
            Heard::Text(piece) | Heard::Thought(piece) => self.heard += piece.len(),
            Heard::Again(_) if self.heard == 0 => {}
            Heard::Again(_) => self.lose(),
        }
    }

    /// Counts what no answer tells; `error` is why there is none.
    pub(super) fn count(mut self, error: Option<&ModelError>, spent: &mut Spent) {
        let is_read = |error: &ModelError| {
            matches!(
                error,
                ModelError::Cancelled
                    | ModelError::Broken { .. }
                    | ModelError::Garbled { .. }
                    | ModelError::Timeout { .. }
            )
        };
        if error.is_some_and(|error| self.heard > 0 || is_read(error)) {
            self.lose();
        }
        spent.input_tokens = spent.input_tokens.saturating_add(self.lost.input_tokens);
        spent.output_tokens = spent.output_tokens.saturating_add(self.lost.output_tokens);
    }

    fn lose(&mut self) {
        self.lost.input_tokens = self.lost.input_tokens.saturating_add(self.sent);
        self.lost.output_tokens = self.lost.output_tokens.saturating_add(tokens(std::mem::take(&mut self.heard)));
    }
}

fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(TOKEN_BYTES) as u64
}

fn midnight(now: Timestamp) -> Timestamp {
    Timestamp::from_micros(now.micros().div_euclid(DAY) * DAY)
}

//! [`Live`]: open pages hear that something has changed, over server-sent events. What it is they ask for themselves.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use memdir_vault::WatchEvent;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::door::Visitor;

/// A line is sent this often, so that a browser that is gone is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// How often notes, and the state of the memory, have changed since the start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Changes {
    notes: u64,
    state: u64,
}

/// Tells open pages of changes.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    changes: watch::Sender<Changes>,
    closing: CancellationToken,
}

impl Default for Live {
    fn default() -> Self {
        Self { changes: watch::Sender::new(Changes::default()), closing: CancellationToken::new() }
    }
}

impl Live {
    /// The system tells of changes from now on.
    pub(crate) fn begin(&self) {
        self.changed();
    }

    /// Something may be different. A place that is named is a note or a folder; what names none is in the state.
    pub(crate) fn hear(&self, noticed: &WatchEvent) {
        let is_state = matches!(noticed, WatchEvent::Changed(paths) if paths.is_empty());
        self.changes.send_modify(|changes| {
            changes.notes += u64::from(!is_state);
            changes.state += 1;
        });
    }

    /// Everything may be different.
    pub(crate) fn changed(&self) {
        self.hear(&WatchEvent::Rescan);
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    pub(crate) fn closing(&self) -> CancellationToken {
        self.closing.clone()
    }
}

/// The events: `notes` and `state`, each without more than that, until the session ends.
pub(crate) async fn events(State(live): State<Live>, visitor: Visitor) -> Response {
    let (mut changes, closing) = (live.changes.subscribe(), (live.closing(), visitor.ended()));
    let seen = *changes.borrow_and_update();
    let events = stream::unfold((changes, seen, closing), async |(mut changes, seen, closing)| {
        let (site, session) = &closing;
        site.run_until_cancelled(session.run_until_cancelled(changes.changed())).await??.ok()?;
        let now = *changes.borrow_and_update();
        let kind = if now.notes == seen.notes { "state" } else { "notes state" };
        let event = Event::default().event("changed").data(kind);
        Some((Ok::<_, Infallible>(event), (changes, now, closing)))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

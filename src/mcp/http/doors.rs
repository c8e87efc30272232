//! [`Doors`]: which connections are open, so that those on which nobody has shown a token take no place of those on which a
//! client has.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long an unauthenticated connection may stay when there are too many.
const MOMENT: Duration = Duration::from_millis(100);

/// All connections that are open.
#[derive(Debug)]
pub(super) struct Doors {
    /// The places of those on which a client has shown its token.
    known: Arc<Semaphore>,
    strangers: Mutex<Strangers>,
    /// How many strangers there are at most.
    most: usize,
}

/// Connections on which nobody has shown a token yet, or for which there was no other place.
#[derive(Debug, Default)]
struct Strangers {
    next: u64,
    open: BTreeMap<u64, Stranger>,
}

#[derive(Debug)]
struct Stranger {
    came: Instant,
    leave: CancellationToken,
}

/// One connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Door {
    doors: Arc<Doors>,
    number: u64,
    leave: CancellationToken,
    place: OnceLock<OwnedSemaphorePermit>,
}

impl Doors {
    pub(super) fn new(known: usize, strangers: usize) -> Arc<Self> {
        Arc::new(Self { known: Arc::new(Semaphore::new(known)), strangers: Mutex::default(), most: strangers.max(1) })
    }

    /// Waits until there is room for one more stranger. Where there are too many, the one that came first has to leave, once it
    /// has had its moment.
    pub(super) async fn make_room(&self) {
        while let Some(wait) = self.try_make_room() {
            sleep(wait).await;
        }
    }

    /// How long the one that came first may still stay, where it is in the way.
    fn try_make_room(&self) -> Option<Duration> {
        let mut strangers = self.strangers();
        if strangers.open.len() < self.most {
            return None;
        }
        let oldest = strangers.open.first_entry()?;
        let left = MOMENT.saturating_sub(oldest.get().came.elapsed());
        if left.is_zero() {
            oldest.remove().leave.cancel();
            return None;
        }
        Some(left)
    }

    /// Takes a connection in, as one of a stranger.
    pub(super) fn open(self: &Arc<Self>) -> Arc<Door> {
        let leave = CancellationToken::new();
        let mut strangers = self.strangers();
        let number = strangers.next;
        strangers.next += 1;
        strangers.open.insert(number, Stranger { came: Instant::now(), leave: leave.clone() });
        drop(strangers);
        Arc::new(Door { doors: Arc::clone(self), number, leave, place: OnceLock::new() })
    }

    fn strangers(&self) -> MutexGuard<'_, Strangers> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Door {
    /// A client has shown its token: its connection gets a place that no stranger takes, if there is one.
    pub(super) fn admit(&self) {
        if self.place.get().is_none()
            && let Ok(place) = Arc::clone(&self.doors.known).try_acquire_owned()
        {
            // Where a request at the same time was first, the place is given back.
            let _ = self.place.set(place);
            self.doors.strangers().open.remove(&self.number);
        }
    }

    /// Waits until it has to leave.
    pub(super) async fn left(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.doors.strangers().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn come(doors: &Arc<Doors>) -> Arc<Door> {
        doors.make_room().await;
        doors.open()
    }

    #[tokio::test]
    async fn nobody_has_to_leave_before_somebody_comes() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let doors = Doors::new(1, 1);
        let door = doors.open();
        // Its moment is over.
        doors.strangers().open.get_mut(&door.number).unwrap().came = Instant::now().checked_sub(2 * MOMENT).unwrap();
        let mut next = std::pin::pin!(super::super::accept(&listener, &doors));
        assert!(tokio::time::timeout(Duration::ZERO, &mut next).await.is_err(), "nobody is there");
        assert!(!door.leave.is_cancelled());
        let _client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        next.await.unwrap();
        assert!(door.leave.is_cancelled());
    }

    #[tokio::test]
    async fn the_stranger_that_came_first_makes_room_and_who_is_known_stays() {
        let doors = Doors::new(1, 2);
        let is_out = |door: &Door| door.leave.is_cancelled();
        let start = Instant::now();
        let (known, first) = (come(&doors).await, come(&doors).await);
        known.admit();
        known.admit();
        let second = come(&doors).await;
        let third = come(&doors).await;
        assert!(start.elapsed() >= MOMENT, "the first had its moment");
        assert!(!is_out(&known) && is_out(&first) && !is_out(&second) && !is_out(&third));
        // No place is left for another one that is known, which stays among the strangers.
        third.admit();
        drop(second);
        let fourth = come(&doors).await;
        assert!(!is_out(&third) && !is_out(&fourth));
        drop(known);
        third.admit();
        let _others = [come(&doors).await, come(&doors).await, come(&doors).await];
        assert!(!is_out(&third) && is_out(&fourth));
        assert_eq!(doors.strangers().open.len(), 2);
    }
}

//! [`Connections`]: which connections are open. Those without a token take no place from those of clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::lock;

/// How long an unauthenticated connection may stay when there are too many.
const MOMENT: Duration = Duration::from_millis(100);

/// All connections that are open.
#[derive(Debug)]
pub(crate) struct Connections {
    /// The places for connections on which a client has shown its token.
    known: Arc<Semaphore>,
    strangers: Mutex<Unauthenticated>,
    /// How many connections without a token there may be.
    most: usize,
}

/// Connections on which nobody has shown a token yet, or for which there was no other place.
#[derive(Debug, Default)]
struct Unauthenticated {
    next: u64,
    open: BTreeMap<u64, NewConnection>,
}

#[derive(Debug)]
struct NewConnection {
    came: Instant,
    leave: CancellationToken,
}

/// One connection, until it is dropped.
#[derive(Debug)]
pub struct OpenConnection {
    connections: Arc<Connections>,
    number: u64,
    leave: CancellationToken,
    place: OnceLock<OwnedSemaphorePermit>,
}

impl Connections {
    pub(crate) fn new(known: usize, strangers: usize) -> Arc<Self> {
        Arc::new(Self { known: Arc::new(Semaphore::new(known)), strangers: Mutex::default(), most: strangers.max(1) })
    }

    /// Waits until there is room for one more stranger. Where there are too many, the one that came first has to leave, once it
    /// has had its moment.
    pub(crate) async fn make_room(&self) {
        while let Some(wait) = self.try_make_room() {
            sleep(wait).await;
        }
    }

    /// How long the one that came first may still stay, where it is in the kind.
    fn try_make_room(&self) -> Option<Duration> {
        let mut strangers = lock(&self.strangers);
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
    pub(crate) fn open(self: &Arc<Self>) -> Arc<OpenConnection> {
        let leave = CancellationToken::new();
        let mut strangers = lock(&self.strangers);
        let number = strangers.next;
        strangers.next += 1;
        strangers.open.insert(number, NewConnection { came: Instant::now(), leave: leave.clone() });
        drop(strangers);
        Arc::new(OpenConnection { connections: Arc::clone(self), number, leave, place: OnceLock::new() })
    }
}

impl OpenConnection {
    /// A client has shown its token: its connection gets a place that no stranger takes, if there is one.
    pub fn admit(&self) {
        if self.place.get().is_none()
            && let Ok(place) = Arc::clone(&self.connections.known).try_acquire_owned()
        {
            // Where a request at the same time was first, the place is given back.
            let _ = self.place.set(place);
            lock(&self.connections.strangers).open.remove(&self.number);
        }
    }

    /// Waits until it has to leave.
    pub(crate) async fn left(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        lock(&self.connections.strangers).open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn come(connections: &Arc<Connections>) -> Arc<OpenConnection> {
        connections.make_room().await;
        connections.open()
    }

    #[tokio::test]
    async fn nobody_has_to_leave_before_somebody_comes() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connections = Connections::new(1, 1);
        let slot = connections.open();
        // Its moment is over.
        lock(&connections.strangers).open.get_mut(&slot.number).unwrap().came =
            Instant::now().checked_sub(2 * MOMENT).unwrap();
        let mut next = std::pin::pin!(crate::serve::accept(&listener, &connections));
        assert!(tokio::time::timeout(Duration::ZERO, &mut next).await.is_err(), "nobody is there");
        assert!(!slot.leave.is_cancelled());
        let _client = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        next.await.unwrap();
        assert!(slot.leave.is_cancelled());
    }

    #[tokio::test]
    async fn the_stranger_that_came_first_makes_room_and_who_is_known_stays() {
        let connections = Connections::new(1, 2);
        let is_out = |slot: &OpenConnection| slot.leave.is_cancelled();
        let start = Instant::now();
        let (known, first) = (come(&connections).await, come(&connections).await);
        known.admit();
        known.admit();
        let second = come(&connections).await;
        let third = come(&connections).await;
        assert!(start.elapsed() >= MOMENT, "the first had its moment");
        assert!(!is_out(&known) && is_out(&first) && !is_out(&second) && !is_out(&third));
        // No place is left for another one that is known, which stays among the strangers.
        third.admit();
        drop(second);
        let fourth = come(&connections).await;
        assert!(!is_out(&third) && !is_out(&fourth));
        drop(known);
        third.admit();
        let _others = [come(&connections).await, come(&connections).await, come(&connections).await];
        assert!(!is_out(&third) && is_out(&fourth));
        assert_eq!(lock(&connections.strangers).open.len(), 2);
    }
}

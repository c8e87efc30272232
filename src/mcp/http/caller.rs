//! [`Callers`]: who is calling, and which sessions are theirs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::mcp::Client;
use crate::mcp::connection::{Connection, Way};

/// How many sessions of one client are kept; one more, and the one that was idle longest ends.
const MOST_SESSIONS: usize = 32;
/// How many requests of one client may be open at the same time, so that others find a place.
const MOST_OPEN: usize = 128;

/// Who has sent a request: put into its extensions, where the [`Service`](crate::mcp::service::Service) finds it.
#[derive(Clone, Debug)]
pub(in crate::mcp) struct Caller {
    /// As it was found for this request.
    pub(in crate::mcp) client: Client,
    /// What it is by now, for requests that stay open.
    pub(in crate::mcp) again: Again,
    /// The conversation: of the session in versions that have some, else all that the client says.
    pub(in crate::mcp) connection: Arc<Connection>,
}

/// Looks a caller up anew.
#[derive(Clone)]
pub(in crate::mcp) struct Again(Arc<LookUp>);

type LookUp = dyn Fn() -> Option<Client> + Send + Sync;

impl Again {
    pub(super) fn new(look_up: impl Fn() -> Option<Client> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look_up))
    }

    /// Who it is as of now; `None` once it is nobody any more.
    pub(in crate::mcp) fn client(&self) -> Option<Client> {
        (self.0)()
    }
}

impl fmt::Debug for Again {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Again")
    }
}

/// What is kept of clients between their requests. The person has registered each, so there are not many.
pub(super) struct Callers {
    pub(super) manager: Arc<LocalSessionManager>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By the name of the client.
    clients: BTreeMap<String, Place>,
    sessions: BTreeMap<SessionId, Session>,
}

struct Place {
    connection: Arc<Connection>,
    open: Arc<Semaphore>,
}

struct Session {
    /// The name of the client that opened it.
    client: String,
    connection: Arc<Connection>,
    used: Instant,
}

impl Callers {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, known: Mutex::default() }
    }

    /// A place for one more request of a client, which is given back when the permit is dropped; `None` when all are
    /// taken.
    pub(super) fn place(&self, client: &str) -> Option<OwnedSemaphorePermit> {
        let open = Arc::clone(&self.known().of(client).open);
        open.try_acquire_owned().ok()
    }

    /// The conversation of a session, if this client has opened it.
    pub(super) fn in_session(&self, id: &str, client: &str, now: Instant) -> Option<Arc<Connection>> {
        let mut known = self.known();
        let session = known.sessions.get_mut(id).filter(|session| session.client == client)?;
        session.used = now;
        Some(Arc::clone(&session.connection))
    }

    /// The conversation of a client that has no session.
    pub(super) fn without_session(&self, client: &str) -> Arc<Connection> {
        Arc::clone(&self.known().of(client).connection)
    }

    /// Takes a session down that a client has opened, and ends the ones that are too many.
    pub(super) async fn opened(&self, id: &str, client: &str, now: Instant) {
        let alive: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        let ended = self.known().open(id, client, now, &alive);
        for id in ended {
            let manager = Arc::clone(&self.manager);
            // It may be busy, and nobody has to wait for it.
            tokio::spawn(async move { manager.close_session(&id).await });
        }
    }

    /// Nobody is there to be asked any more.
    pub(super) fn close(&self) {
        let known = self.known();
        let places = known.clients.values().map(|place| &place.connection);
        for connection in places.chain(known.sessions.values().map(|session| &session.connection)) {
            connection.closing.cancel();
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn of(&mut self, client: &str) -> &Place {
        self.clients.entry(client.to_owned()).or_insert_with(|| Place {
            connection: Arc::new(Connection::new(Way::Http)),
            open: Arc::new(Semaphore::new(MOST_OPEN)),
        })
    }

    /// Takes a session down beside those that are still alive, and gives those that have to end for it.
    fn open(&mut self, id: &str, client: &str, now: Instant, alive: &[SessionId]) -> Vec<SessionId> {
        self.sessions.retain(|id, _| alive.contains(id));
        let connection = Arc::new(Connection::new(Way::Http));
        self.sessions.insert(id.into(), Session { client: client.to_owned(), connection, used: now });
        let own = self.sessions.iter().filter(|(_, session)| session.client == client);
        let mut own: Vec<(Instant, SessionId)> = own.map(|(id, session)| (session.used, Arc::clone(id))).collect();
        own.sort();
        let ended: Vec<_> = own.iter().rev().skip(MOST_SESSIONS).map(|(_, id)| Arc::clone(id)).collect();
        self.sessions.retain(|id, _| !ended.contains(id));
        ended
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callers")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn ids(numbers: impl IntoIterator<Item = usize>) -> Vec<SessionId> {
        numbers.into_iter().map(|number| format!("session {number:02}").into()).collect()
    }

    #[test]
    fn the_session_that_was_idle_longest_makes_room() {
        let (mut known, start) = (Known::default(), Instant::now());
        let alive = ids(0..100);
        for number in 0..MOST_SESSIONS {
            let now = start + Duration::from_secs(number as u64);
            assert!(known.open(&alive[number], "desk", now, &alive).is_empty());
        }
        known.sessions.get_mut(&alive[0]).unwrap().used = start + Duration::from_secs(90);
        assert!(known.open("other", "phone", start, &alive).is_empty());
        let now = start + Duration::from_secs(99);
        assert_eq!(known.open(&alive[99], "desk", now, &alive), ids([1]));
        assert_eq!(known.sessions.len(), MOST_SESSIONS);
    }

    #[test]
    fn a_session_belongs_to_who_opened_it() {
        let callers = Callers::new(Arc::default());
        let now = Instant::now();
        callers.known().open("a", "desk", now, &[]);
        assert!(callers.in_session("a", "desk", now).is_some());
        assert!(callers.in_session("a", "phone", now).is_none());
        assert!(callers.in_session("b", "desk", now).is_none());
        let of = |name| callers.without_session(name);
        assert!(Arc::ptr_eq(&of("desk"), &of("desk")));
        assert!(!Arc::ptr_eq(&of("desk"), &of("phone")));
        assert!(!Arc::ptr_eq(&of("desk"), &callers.in_session("a", "desk", now).unwrap()));
    }

    #[test]
    fn places_are_counted_for_each_client_and_given_back() {
        let callers = Callers::new(Arc::default());
        let taken: Vec<_> = (0..MOST_OPEN).map(|_| callers.place("desk").unwrap()).collect();
        assert!(callers.place("desk").is_none());
        assert!(callers.place("phone").is_some());
        drop(taken);
        assert!(callers.place("desk").is_some());
    }
}

//! [`ClientSessions`]: which sessions and open requests each client has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::SessionId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::{Connection, ConnectionKind};
use crate::verbatim::Verbatim;
use crate::{Claim, Client, Register, Unknown, lock};

/// How many sessions of one client are kept; one more, and the one that was idle longest ends.
const MOST_SESSIONS: usize = 32;
/// How many requests of one client may be open at the same time, so that others find a place.
const MOST_OPEN: usize = 128;

/// How many requests a client may make in a minute for whom the person has said nothing else.
const DEFAULT_RATE: NonZeroU32 = NonZeroU32::MIN.saturating_add(5_999);

/// Who has sent a request: put into its extensions, where the [`Service`](crate::service::Service) finds it.
#[derive(Clone, Debug)]
pub(crate) struct RequestSender {
    pub(super) token: Token,
    /// The conversation: of the session in versions that have some, else all that the client says.
    pub(crate) connection: Arc<Connection>,
    /// What is sent in place of the result that the library gives.
    pub(crate) verbatim: Verbatim,
    /// Its place among the requests of its session, until it is answered.
    pub(super) _flight: Option<Arc<Flight>>,
}

impl RequestSender {
    /// The client, as of now: what it asks for may take as long as a person takes to answer.
    pub(crate) fn client(&self, clients: &Register) -> Result<Client, Unknown> {
        self.token.client(clients)
    }
}

/// The secret that came with a request.
#[derive(Clone)]
pub(super) struct Token(Arc<str>);

impl Token {
    pub(super) fn new(secret: &str) -> Self {
        Self(secret.into())
    }

    /// Whose it is by now.
    pub(super) fn client(&self, clients: &Register) -> Result<Client, Unknown> {
        let mut client = clients.find(Claim::Token(&self.0))?;
        client.rate.get_or_insert(DEFAULT_RATE);
        Ok(client)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// The ids of the requests of a session that are not answered yet.
type Flights = Arc<Mutex<BTreeSet<String>>>;

/// A request of a session that is not answered yet. Answers find their way by its id, so no other may have the same.
#[derive(Debug)]
pub(super) struct Flight {
    id: String,
    all: Flights,
}

impl Flight {
    fn begin(id: String, all: &Flights) -> Option<Arc<Self>> {
        let is_new = lock(all).insert(id.clone());
        is_new.then(|| Arc::new(Self { id, all: Arc::clone(all) }))
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.id);
    }
}

/// What is kept of clients between their requests. The person has registered each, so there are not many.
pub(super) struct ClientSessions {
    pub(super) manager: Arc<LocalSessionManager>,
    known: Mutex<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    /// By the name of the client.
    clients: BTreeMap<String, ClientSlot>,
    sessions: BTreeMap<SessionId, Session>,
}

struct ClientSlot {
    connection: Arc<Connection>,
    open: Arc<Semaphore>,
}

struct Session {
    /// The name of the client that opened it.
    client: String,
    connection: Arc<Connection>,
    flights: Flights,
    used: Instant,
}

impl ClientSessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, known: Mutex::default() }
    }

    /// A place for one more request of a client, which is given back when the permit is dropped; `None` when all are
    /// taken.
    pub(super) fn place(&self, client: &str) -> Option<OwnedSemaphorePermit> {
        let open = Arc::clone(&lock(&self.known).of(client).open);
        open.try_acquire_owned().ok()
    }

    /// The conversation of a session, if this client has opened it.
    pub(super) fn in_session(&self, id: &str, client: &str, now: Instant) -> Option<Arc<Connection>> {
        let mut known = lock(&self.known);
        let session = known.sessions.get_mut(id).filter(|session| session.client == client)?;
        session.used = now;
        Some(Arc::clone(&session.connection))
    }

    /// The place of a request among those of its session; `None` when one with its id is not answered yet.
    pub(super) fn flight(&self, id: &str, request: String) -> Option<Arc<Flight>> {
        let flights =
            lock(&self.known).sessions.get(id).map(|session| Arc::clone(&session.flights)).unwrap_or_default();
        Flight::begin(request, &flights)
    }

    /// The conversation of a client that has no session.
    pub(super) fn without_session(&self, client: &str) -> Arc<Connection> {
        Arc::clone(&lock(&self.known).of(client).connection)
    }

    /// Takes a session down that a client has opened, and ends the ones that are too many.
    pub(super) async fn opened(&self, id: &str, client: &str, now: Instant) {
        let alive: Vec<SessionId> = self.manager.sessions.read().await.keys().cloned().collect();
        let ended = lock(&self.known).open(id, client, now, &alive);
        for id in ended {
            let manager = Arc::clone(&self.manager);
            // It may be busy, and nobody has to wait for it.
            tokio::spawn(async move { manager.close_session(&id).await });
        }
    }

    /// Tells all conversations that no client is there to be asked any more.
    pub(super) fn close(&self) {
        let known = lock(&self.known);
        let places = known.clients.values().map(|place| &place.connection);
        for connection in places.chain(known.sessions.values().map(|session| &session.connection)) {
            connection.closing.cancel();
        }
    }
}

impl SessionTable {
    fn of(&mut self, client: &str) -> &ClientSlot {
        self.clients.entry(client.to_owned()).or_insert_with(|| ClientSlot {
            connection: Arc::new(Connection::new(ConnectionKind::Http)),
            open: Arc::new(Semaphore::new(MOST_OPEN)),
        })
    }

    /// Takes a session down beside those that are still alive, and gives those that have to end for it.
    fn open(&mut self, id: &str, client: &str, now: Instant, alive: &[SessionId]) -> Vec<SessionId> {
        self.sessions.retain(|id, _| alive.contains(id));
        let connection = Arc::new(Connection::new(ConnectionKind::Http));
        let session = Session { client: client.to_owned(), connection, flights: Flights::default(), used: now };
        self.sessions.insert(id.into(), session);
        let own = self.sessions.iter().filter(|(_, session)| session.client == client);
        let mut own: Vec<(Instant, SessionId)> = own.map(|(id, session)| (session.used, Arc::clone(id))).collect();
        own.sort();
        let ended: Vec<_> = own.iter().rev().skip(MOST_SESSIONS).map(|(_, id)| Arc::clone(id)).collect();
        self.sessions.retain(|id, _| !ended.contains(id));
        ended
    }
}

impl fmt::Debug for ClientSessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClientSessions")
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
        let (mut known, start) = (SessionTable::default(), Instant::now());
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
        let clients = ClientSessions::new(Arc::default());
        let now = Instant::now();
        lock(&clients.known).open("a", "desk", now, &[]);
        assert!(clients.in_session("a", "desk", now).is_some());
        assert!(clients.in_session("a", "phone", now).is_none());
        assert!(clients.in_session("b", "desk", now).is_none());
        let of = |name| clients.without_session(name);
        assert!(Arc::ptr_eq(&of("desk"), &of("desk")));
        assert!(!Arc::ptr_eq(&of("desk"), &of("phone")));
        assert!(!Arc::ptr_eq(&of("desk"), &clients.in_session("a", "desk", now).unwrap()));
    }

    #[test]
    fn places_are_counted_for_each_client_and_given_back() {
        let clients = ClientSessions::new(Arc::default());
        let taken: Vec<_> = (0..MOST_OPEN).map(|_| clients.place("desk").unwrap()).collect();
        assert!(clients.place("desk").is_none());
        assert!(clients.place("phone").is_some());
        drop(taken);
        assert!(clients.place("desk").is_some());
    }
}

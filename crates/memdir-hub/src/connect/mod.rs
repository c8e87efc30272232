//! Connecting to a server, however it is reached.
//!
//! A transport reports each message to [`Wire`](crate::wire::Wire) and says there that it has ended; all else is rmcp's.

pub(crate) mod http;
mod sse;
mod stdio;

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memdir_tools::{CallError, Server, Transport};
use rmcp::RoleClient;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::auth::Tokens;
use crate::client::Handler;
use crate::guard::Guard;
use crate::lock;
use crate::log::ServerLog;
use crate::wire::WireEnd;

/// The longest message of an error of JSON-RPC, in letters, and the longest of what comes with it, in bytes of JSON.
const MOST_WORDS: usize = 1_000;
const MOST_DATA: usize = 4 * 1024;

/// An open connection. It ends when this is dropped.
pub(crate) type Connection = RunningService<RoleClient, Handler>;

/// How a conversation is opened.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Opening {
    /// By the newest version, and by `initialize` where the server does not know it.
    Probe,
    /// By the newest version only: the server spoke it last time.
    Newest,
    /// By `initialize` only: the server wanted that last time, or lost the connection when it was asked otherwise.
    Initialize,
}

/// Where the hub keeps its files, and what it takes from the machine.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The folder of kept lists and approved definitions; nothing is kept where it is absent.
    pub lists: Option<PathBuf>,
    /// The folder of what servers write to their standard error.
    pub logs: Option<PathBuf>,
    /// Where logins are kept; nobody can log in where it is absent.
    pub tokens: Option<Tokens>,
    /// The folder in which programs start that name none.
    pub home: Option<PathBuf>,
    /// The environment, of which `${VARIABLE}` is filled and the little is taken that every program needs.
    pub environment: BTreeMap<String, String>,
    /// The program that ends what is left when memdir is killed, with its arguments: it runs [`guard`](crate::guard()). Empty
    /// for none.
    pub guard: Vec<String>,
}

/// The machine that the hub runs on, and the programs that it has started there.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) places: Places,
    pub(crate) guard: Arc<Guard>,
    /// Ends all programs.
    pub(crate) closing: CancellationToken,
    /// The tasks that see to their ends.
    keepers: Mutex<Vec<JoinHandle<()>>>,
}

impl Machine {
    pub(crate) fn new(places: Places) -> Self {
        let guard = Arc::new(Guard::new(places.guard.clone()));
        Self { places, guard, closing: CancellationToken::new(), keepers: Mutex::default() }
    }

    fn keep(&self, keeper: JoinHandle<()>) {
        let mut keepers = lock(&self.keepers);
        keepers.retain(|keeper| !keeper.is_finished());
        keepers.push(keeper);
    }

    /// Ends all programs, and waits until they have, but no longer than `limit`. What is left then is killed by the guard.
    pub(crate) async fn close(&self, limit: Duration) {
        self.closing.cancel();
        let keepers = std::mem::take(&mut *lock(&self.keepers));
        let all = async {
            for keeper in keepers {
                let _ = keeper.await;
            }
        };
        let _ = tokio::time::timeout(limit, all).await;
    }
}

/// Why a connection could not be made.
#[derive(Debug)]
pub(crate) struct ConnectError {
    /// What the caller is told.
    pub(crate) error: CallError,
    /// Whether another try may go better. A program that is not there, or a person who has to log in, will not change in a second.
    pub(crate) is_final: bool,
}

impl ConnectError {
    /// Nothing could be reached, and trying again will not help.
    pub(crate) fn broken(server: &Server, problem: impl Into<String>) -> Self {
        Self { error: unreachable(server, problem), is_final: true }
    }

    /// Nothing could be reached this time.
    pub(crate) fn lost(server: &Server, problem: impl Into<String>) -> Self {
        Self { error: unreachable(server, problem), is_final: false }
    }
}

/// The error of a server with which no call was under way.
pub(crate) fn unreachable(server: &Server, problem: impl Into<String>) -> CallError {
    CallError::Unreachable { server: server.name.to_string(), problem: problem.into(), may_be_done: false }
}

/// An error of JSON-RPC, cut to what a caller reads.
pub(crate) fn protocol_error(server: &Server, error: ErrorData) -> CallError {
    let cut = |data: Value| match data.to_string() {
        text if text.len() > MOST_DATA => Value::from(text.get(..text.floor_char_boundary(MOST_DATA))),
        _ => data,
    };
    CallError::Protocol {
        server: server.name.to_string(),
        code: i64::from(error.code.0),
        message: error.message.chars().take(MOST_WORDS).collect(),
        data: error.data.map(cut).map(Box::new),
    }
}

/// Connects to a server and opens the conversation. The caller bounds the time.
pub(crate) async fn connect(
    server: &Server,
    handler: Handler,
    machine: &Machine,
    log: &ServerLog,
    opening: Opening,
) -> Result<Connection, ConnectError> {
    let places = &machine.places;
    match &server.transport {
        Transport::Stdio { command, args, env, cwd } => {
            let program = stdio::Program { command, args, env, cwd: cwd.as_deref() };
            stdio::connect(server, program, handler, machine, log, opening).await
        }
        Transport::Http { .. } => http::connect(server, handler, places, opening).await,
        Transport::Sse { .. } => sse::connect(server, handler, places).await,
    }
}

/// Whether a request that could not be sent has surely not been read by its server.
pub(crate) fn never_arrived(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    // A line that was not written to its end is no message yet.
    error.is::<io::Error>() || http::never_arrived(error)
}

/// Opens the conversation over a transport.
pub(crate) async fn open<T>(
    server: &Server,
    handler: Handler,
    transport: T,
    opening: Opening,
) -> Result<Connection, ConnectError>
where
    T: rmcp::transport::Transport<RoleClient> + Send + 'static,
{
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = match opening {
        Opening::Probe => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        Opening::Newest => ClientLifecycleMode::Discover { preferred_versions },
        Opening::Initialize => ClientLifecycleMode::Initialize,
    };
    let wire = handler.wire.clone();
    serve_client_with_lifecycle(handler, transport, mode)
        .await
        .map_err(|error| opening_failed(server, &error, wire.why()))
}

/// What a failed start is to the caller.
fn opening_failed(server: &Server, error: &ClientInitializeError, end: Option<WireEnd>) -> ConnectError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return ConnectError { error: CallError::LoginNeeded(server.name.to_string()), is_final: true };
    }
    match (end, error) {
        (Some(WireEnd::TooLarge), _) => ConnectError {
            error: CallError::TooLarge { server: server.name.to_string(), most: crate::wire::MOST_MESSAGE as u64 },
            is_final: true,
        },
        (Some(WireEnd::Lost(problem)), _) => ConnectError::lost(server, problem),
        (None, ClientInitializeError::JsonRpcError(error)) => {
            ConnectError { error: protocol_error(server, error.clone()), is_final: false }
        }
        (None, error) => ConnectError::lost(server, not_opened(server, error)),
    }
}

/// Why no conversation was opened, without words of the server.
fn not_opened(server: &Server, error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => why_not_sent(server, error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => not_opened(server, fallback),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its first answer is none of the protocol".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it speaks no version of the protocol that memdir knows".to_owned()
        }
        error => with_causes(error),
    }
}

/// Why nothing could be sent to a server: what its machine or this one says of the connection, where that is why.
pub(crate) fn why_not_sent(server: &Server, error: &(dyn Error + 'static)) -> String {
    let error = http::behind(error);
    let (mut last, mut said) = (error, None);
    loop {
        said = said.or_else(|| last.downcast_ref::<io::Error>().map(io::Error::kind));
        let Some(source) = last.source() else { break };
        last = source;
    }
    match (said, place_of(server)) {
        (Some(kind @ (io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset)), Some(place)) => {
            format!("{kind} by {place}")
        }
        (Some(_), Some(place)) => format!("{place}: {last}"),
        _ => with_causes(error),
    }
}

/// The machine and the port of a server that is reached at an address, as far as no variable stands for them.
fn place_of(server: &Server) -> Option<String> {
    let (Transport::Http { url, .. } | Transport::Sse { url, .. }) = &server.transport else { return None };
    let url = url::Url::parse(url).ok()?;
    let host = url.host_str().filter(|host| !host.contains('$'))?;
    Some(format!("{host}:{}", url.port_or_known_default()?))
}

/// An error and what it came from, in one line.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// A text with each `${VARIABLE}` filled from the environment.
///
/// # Errors
///
/// What is wrong, naming the variable, where it is not set or its braces do not close: never an empty value.
pub(crate) fn fill(text: &str, environment: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or_else(|| format!("`{text}` has a `${{` without `}}`"))?;
        let value = environment.get(name).filter(|value| !value.is_empty());
        filled.push_str(before);
        filled.push_str(value.ok_or_else(|| format!("the variable `{name}` is not set"))?);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_and_what_is_not_there_is_named() {
        let environment = [("KEY", "k${KEY}"), ("EMPTY", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = BTreeMap::from(environment);
        for (text, expected) in [
            ("plain $KEY {KEY}", Ok("plain $KEY {KEY}")),
            ("a ${KEY} b ${KEY}", Ok("a k${KEY} b k${KEY}")),
            ("${EMPTY}", Err("the variable `EMPTY` is not set")),
            ("${GONE}", Err("the variable `GONE` is not set")),
            ("${}", Err("the variable `` is not set")),
            ("x${KEY", Err("`x${KEY` has a `${` without `}`")),
        ] {
            assert_eq!(fill(text, &environment), expected.map(str::to_owned).map_err(str::to_owned));
        }
    }
}

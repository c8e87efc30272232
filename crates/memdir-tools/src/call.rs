//! A call of a foreign tool, and what becomes of it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::ToolName;
use memdir_core::report::{Code, Failure};

/// A call that may be made: it was decided before.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool, by the name under which it is offered.
    pub tool: ToolName,
    /// Its arguments, as they are sent.
    pub arguments: Map<String, Value>,
    /// The client for whom it is made; `None` for the person and the memory's own agent. Results are never shared between clients,
    /// and each has a rate of its own.
    pub client: Option<String>,
}

/// What a server answered to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// The result as it came: `content`, `structuredContent`, `isError`, `_meta` and whatever else the server sent.
    pub result: Map<String, Value>,
    /// Whether it was kept from an earlier call.
    pub is_cached: bool,
    /// How long it took.
    pub took: Duration,
}

impl ToolAnswer {
    /// Whether the tool says that it failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.result.get("isError").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// Who hears of a call while it runs, and answers for the person.
pub trait CallEvents {
    /// The server tells how far it is.
    fn progress(&mut self, _progress: &Progress) {}

    /// The server asks the person something. Declined, unless somebody answers.
    fn elicit(&mut self, _elicitation: &Elicitation) -> ElicitationAnswer {
        ElicitationAnswer::Decline
    }

    /// Whether of a result that is longer than [`MOST_KEPT_BYTES`](super::MOST_KEPT_BYTES) only so much is kept for who asked.
    fn is_bounded(&self) -> bool {
        false
    }
}

/// Nobody hears of it, and every question is declined.
impl CallEvents for () {}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub progress: f64,
    /// Of how much, where that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// A question of a server to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Elicitation {
    /// The question. It is the server's text: shown as such, never as memdir's own.
    pub message: String,
    /// What is asked for, as the server sent it: `requestedSchema` of a form, `url` of an address to visit.
    pub params: Map<String, Value>,
}

/// What the person answers to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationAnswer {
    /// This, by the schema that was asked for.
    Accept(Map<String, Value>),
    /// They do not want to.
    Decline,
    /// They want the call to end.
    Cancel,
}

/// Why a call was not answered by the tool. What the tool itself says of its failure is an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// No server offers this tool.
    #[error("there is no tool `{0}`")]
    UnknownTool(String),
    /// The tool is another one than when the call was allowed: its server was started since.
    #[error("`{0}` is not the tool that was approved")]
    Changed(String),
    /// What the person allows cannot be read, so nothing is allowed.
    #[error("no tool is called: {}", .0.message)]
    Registry(Box<Failure>),
    /// The server cannot be reached, or has ended: the wire.
    #[error("the server `{server}` cannot be reached: {problem}")]
    Unreachable {
        /// The server.
        server: String,
        /// What was tried, and what came of it.
        problem: String,
        /// Whether the call may have been carried out all the same: it was sent, and no answer came.
        may_be_done: bool,
    },
    /// The server refused the request, by an error of JSON-RPC: the protocol.
    #[error("the server `{server}` answered error {code}: {message}")]
    Protocol {
        /// The server.
        server: String,
        /// The code.
        code: i64,
        /// The server's words.
        message: String,
        /// What else it said.
        data: Option<Box<Value>>,
    },
    /// No answer came in time. The call may have been carried out all the same.
    #[error("the server `{server}` did not answer within {seconds} s")]
    Timeout {
        /// The server.
        server: String,
        /// How long it had.
        seconds: u64,
    },
    /// The answer was longer than what is taken.
    #[error("the answer of `{server}` is longer than {most} bytes")]
    TooLarge {
        /// The server.
        server: String,
        /// The limit.
        most: u64,
    },
    /// The client has made too many calls of this server.
    #[error("too many calls to `{server}`")]
    TooSoon {
        /// The server.
        server: String,
        /// When the next may be made.
        wait: Duration,
    },
    /// The person has to log in first.
    #[error("the server `{0}` requires a login")]
    LoginNeeded(String),
    /// Nobody wants the answer any more.
    #[error("the call was cancelled")]
    Cancelled,
}

/// What a server answers to arguments that it does not take, by JSON-RPC.
const INVALID_PARAMS: i64 = -32602;

impl CallError {
    /// Whether it quotes the server: only then its words count as a tool's. Why one cannot be reached is said in words of memdir's own.
    #[must_use]
    pub const fn has_words(&self) -> bool {
        matches!(self, Self::Protocol { .. })
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let (message, quotes_server) = (error.to_string(), error.has_words());
        let mut failure = match error {
            CallError::UnknownTool(_) => {
                Self::new(Code::UnknownAction, message).with_hint("find_tools names those that there are")
            }
            CallError::Changed(_) => Self::new(Code::Denied, message)
                .with_hint("tell the person, who can look at the change with `memdir tools approve`"),
            // The failure's own hint may name a path, and this one is for models.
            CallError::Registry(_) => {
                Self::new(Code::Denied, message).with_hint("tell the person: `memdir tools` says what to do")
            }
            CallError::Protocol { code: INVALID_PARAMS, .. } => {
                Self::new(Code::InvalidAction, message).with_hint("describe_tool says what the tool takes")
            }
            CallError::Unreachable { may_be_done: true, .. } | CallError::Protocol { .. } => {
                Self::new(Code::Unavailable, message)
                    .with_hint("the call may have been carried out: look before you send it again")
            }
            CallError::Unreachable { server, may_be_done: false, .. } => Self::new(Code::Unavailable, message)
                .with_hint(format!("nothing was done; `memdir tools doctor {server}` says what is wrong")),
            CallError::Timeout { .. } => Self::new(Code::Timeout, message)
                .with_hint("the call may have been carried out: look before you send it again"),
            CallError::TooLarge { .. } => Self::new(Code::TooLarge, message).with_hint("ask for less"),
            CallError::TooSoon { wait, .. } => Self::new(Code::RateLimited, message)
                .with_hint(format!("the next can be made in {} s", wait.as_secs().max(1))),
            CallError::LoginNeeded(server) => {
                Self::new(Code::Denied, message).with_hint(format!("the person can run `memdir tools login {server}`"))
            }
            CallError::Cancelled => Self::new(Code::Cancelled, message),
        };
        failure.details.quotes_server = quotes_server;
        failure
    }
}

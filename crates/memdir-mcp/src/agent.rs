//! `use_memory_agent`: one tool for clients whose own model is not to handle notes. What answers is given by who starts the server,
//! for models are not this room's concern.

use std::fmt;
use std::sync::Arc;

use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::service::{self, Service};
use super::{Client, tool_words};
use memdir_core::report::{Code, Failure};
use memdir_engine::{Caller, Engine};

/// The name of the tool.
pub(super) const NAME: &str = "use_memory_agent";
/// Its one argument, and how long that may be, in bytes.
const MESSAGE: &str = "message";
const MOST_MESSAGE: usize = 64 << 10;

/// What became of a message to the memory's own agent.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct AgentAnswer {
    /// What it replies.
    pub reply: Option<String>,
    /// What the program has to say about it, such as what was not stored, or why there is no reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// What it stored, in a line for the person.
    pub receipt: Option<String>,
    /// How many changes wait for the person's yes.
    pub waiting: usize,
}

/// Answers messages with the memory's own agent, one at a time: who asks, what they say, and what stops it.
pub struct MemoryAgent(Box<Ask>);

type Ask = dyn Fn(&Engine, Caller, &str, &CancellationToken) -> Result<AgentAnswer, Failure> + Send + Sync;

impl MemoryAgent {
    /// An agent that answers by `ask`, which may block for as long as its model takes.
    pub fn new(
        ask: impl Fn(&Engine, Caller, &str, &CancellationToken) -> Result<AgentAnswer, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(ask))
    }
}

impl fmt::Debug for MemoryAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MemoryAgent")
    }
}

/// What `tools/list` says of it.
pub(super) fn definition(read_only: bool) -> Value {
    let stores = if read_only { "" } else { " What the user tells is stored." };
    json!({
        "name": NAME,
        "title": "Ask the memory",
        "description": format!(
            "Asks the agent of the user's long-term memory, which reads and keeps the notes by itself. Send what the user asks \
             or tells, in whole sentences.{stores} Answers reply, receipt (what was stored) and waiting (how many changes \
             wait for the user's yes)."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                MESSAGE: {"type": "string", "description": "Such as: Where does Jane Doe work? Or: I moved to Porto."},
            },
            "required": [MESSAGE],
        },
        "annotations": {"readOnlyHint": read_only, "destructiveHint": !read_only, "openWorldHint": false},
    })
}

/// Answers a call of the tool.
pub(super) async fn ask(
    service: &Service,
    client: &Client,
    arguments: Option<JsonObject>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let sent = arguments.unwrap_or_default();
    let message = sent.get(MESSAGE).and_then(Value::as_str).map(str::trim).filter(|message| !message.is_empty());
    let Some(message) = message.filter(|message| message.len() <= MOST_MESSAGE) else {
        let wrong = format!("`{NAME}` takes `{MESSAGE}`, a text of at most {MOST_MESSAGE} bytes");
        return Ok(service::failed(&Failure::new(Code::InvalidAction, wrong)));
    };
    let (server, message) = (Arc::clone(&service.server), message.to_owned());
    let caller = service::caller(service, client, &context.id);
    let words = service.server.tool_words.of(service, client);
    // One message after the other: a model has room for one.
    let turn = tokio::select! {
        turn = service.server.agent_turn.lock() => turn,
        () = context.ct.cancelled() => return Err(super::service::cancelled()),
    };
    let stop = context.ct.child_token();
    let (stopped, closing) = (stop.clone(), service.connection.closing.clone());
    let answering = tokio::task::spawn_blocking(move || match server.agent.get() {
        Some(MemoryAgent(ask)) => {
            let guard = tool_words::guard(&words, &server.engine);
            ask(&server.engine, Caller { guard, ..caller }, &message, &stopped)
        }
        None => Err(Failure::new(Code::Unavailable, "this server was started without an agent")),
    });
    tokio::pin!(answering);
    let answered = tokio::select! {
        answered = &mut answering => answered,
        () = closing.cancelled() => {
            stop.cancel();
            answering.await
        }
    };
    drop(turn);
    service.server.served.settle_soon();
    let answered = answered.map_err(|_| service::internal_error())?;
    Ok(match answered.and_then(|answer| serde_json::to_value(answer).map_err(broken)) {
        Ok(answer) => CallToolResult::structured(answer),
        Err(failure) => service::failed(&failure),
    })
}

fn broken(error: serde_json::Error) -> Failure {
    Failure::new(Code::Internal, error.to_string())
}

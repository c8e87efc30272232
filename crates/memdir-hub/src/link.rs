//! [`Link`]: one open connection, and requests over it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use memdir_core::catalog::shorten;
use memdir_tools::{CallError, Server, ToolName};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ListToolsRequest, PaginatedRequestParams, ProgressToken,
    RequestId, ServerResult, SubscriptionFilter,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::{Handler, RunningCall, object};
use crate::connect::{Connection, Opening, never_arrived, protocol_error, unreachable, why_not_sent, with_causes};
use crate::wire::{MOST_MESSAGE, WireEnd};

/// How long an answer may take where the person said nothing else.
const LIMIT: Duration = Duration::from_secs(60);
/// How often that time may begin anew because the server tells of progress.
const MOST_LIMITS: u32 = 10;
/// The longest name that a server may give a tool, in bytes.
const MOST_NAME: usize = 256;
/// How many pages a list may have, and tools.
const MOST_PAGES: usize = 100;
const MOST_TOOLS: usize = 5_000;
/// How many of the tools that are left out are named.
const MOST_LEFT_OUT: usize = 20;
/// How often a server may ask the person in one call.
const MOST_ROUNDS: usize = 10;

/// How often is looked whether a connection has ended.
const END_PAUSE: Duration = Duration::from_millis(5);

/// Why a request was not answered.
#[derive(Debug)]
pub(crate) enum Failed {
    /// For this reason, and there is nothing more to try.
    Told(CallError),
    /// The connection was lost.
    Lost {
        /// How.
        problem: String,
        /// Whether the server may have read the request.
        was_sent: bool,
    },
}

/// The tools of a server.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Their definitions.
    pub(crate) tools: Vec<Map<String, Value>>,
    /// The server's own names for the first of those that were left out, shortened.
    pub(crate) left_out: Vec<String>,
}

/// What a server sent as an answer.
struct Answer {
    /// As it came.
    raw: Map<String, Value>,
    /// As rmcp read it; it knows nothing of a result that the transport has kept.
    typed: ServerResult,
}

/// One open connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) handler: Handler,
}

impl Link {
    pub(crate) fn is_open(&self) -> bool {
        self.handler.wire.why().is_none() && !self.connection.is_transport_closed()
    }

    /// Waits until a connection that was told to end has ended: a server at an address is told so.
    pub(crate) async fn has_ended(&self) {
        while !self.connection.is_transport_closed() {
            sleep(END_PAUSE).await;
        }
    }

    /// The version that is spoken.
    pub(crate) fn protocol(&self) -> String {
        self.connection.peer_info().map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// How the conversation can be opened the next time.
    pub(crate) fn opening(&self) -> Opening {
        match self.connection.peer_info() {
            Some(info) if !info.protocol_version.has_initialize() => Opening::Newest,
            _ => Opening::Initialize,
        }
    }

    /// The name and the version of the program, as it says itself.
    pub(crate) fn program(&self) -> (String, String) {
        let info = self.connection.peer_info().and_then(|info| info.server_info.clone());
        info.map(|info| (info.name, info.version)).unwrap_or_default()
    }

    /// Hears of changes of the list, where the version wants that to be asked for.
    pub(crate) fn listen(&self) {
        let says = self.connection.peer_info().and_then(|info| info.capabilities.tools.clone()?.list_changed);
        if self.opening() != Opening::Newest || says != Some(true) {
            return;
        }
        let (peer, changed) = (self.connection.peer().clone(), self.handler.list_changed.clone());
        tokio::spawn(async move {
            let Ok(mut heard) = peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await else {
                return;
            };
            while let Ok(Some(_)) = heard.next().await {
                changed.notify_one();
            }
        });
    }

    /// The definitions of all tools, as they came. One without a name of its own, with one that is too long, or that would be
    /// offered under the name of another, is left out.
    pub(crate) async fn list(&self, server: &Server) -> Result<Listed, Failed> {
        let (mut listed, mut names, mut cursors) = (Listed::default(), HashMap::new(), HashSet::new());
        let (mut cursor, mut bytes) = (None, 0);
        for _ in 0..MOST_PAGES {
            let page = self.page(server, cursor.take()).await?;
            bytes += serde_json::to_vec(&page.raw).map_or(0, |json| json.len());
            // Over HTTP rmcp leaves out tools that could not be called.
            let callable: Option<HashSet<&str>> = match &page.typed {
                ServerResult::ListToolsResult(list) => Some(list.tools.iter().map(|tool| tool.name.as_ref()).collect()),
                _ => None,
            };
            let is_callable = |name: &str| {
                name.len() <= MOST_NAME && callable.as_ref().is_none_or(|callable| callable.contains(name))
            };
            for tool in
                page.raw.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
            {
                let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
                let offered = ToolName::of(&server.name, name);
                let before = names.get(&offered).map(String::as_str);
                if is_callable(name) && before.is_none() {
                    names.insert(offered, name.to_owned());
                    listed.tools.push(tool.clone());
                } else if before != Some(name) && listed.left_out.len() < MOST_LEFT_OUT {
                    listed.left_out.push(shorten(name));
                }
            }
            if bytes > MOST_MESSAGE {
                return Err(Failed::Told(too_large(server)));
            }
            if listed.tools.len() > MOST_TOOLS {
                return Err(Failed::Told(unreachable(server, format!("it has more than {MOST_TOOLS} tools"))));
            }
            match page.raw.get("nextCursor").and_then(Value::as_str) {
                Some(next) if cursors.insert(next.to_owned()) => cursor = Some(next.to_owned()),
                _ => return Ok(listed),
            }
        }
        Err(Failed::Told(unreachable(server, format!("its list of tools has more than {MOST_PAGES} pages"))))
    }

    async fn page(&self, server: &Server, cursor: Option<String>) -> Result<Answer, Failed> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        self.request(server, request, None, &CancellationToken::new()).await
    }

    /// Calls a tool; a server that asks the person in between is answered.
    pub(crate) async fn call(
        &self,
        server: &Server,
        (own, arguments): (&str, &Map<String, Value>),
        running: &Arc<RunningCall>,
        stop: &CancellationToken,
    ) -> Result<Map<String, Value>, Failed> {
        let asked_anew = CallToolRequestParams::new(own.to_owned()).with_arguments(arguments.clone());
        let mut params = asked_anew.clone();
        for round in 0..MOST_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let answer = self.request(server, request, Some(running), stop).await;
            let answer = answer.map_err(|failed| if round > 0 { failed.after_a_round() } else { failed })?.raw;
            if answer.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(answer);
            }
            params = asked_anew.clone();
            params.request_state = answer.get("requestState").and_then(Value::as_str).map(str::to_owned);
            let wanted = answer.get("inputRequests").and_then(Value::as_object);
            if let Some(wanted) = wanted {
                params.input_responses = Some(self.inputs(server, wanted, running, stop).await?);
            }
        }
        Err(Failed::Told(protocol(server, "it kept asking for more input")))
    }

    /// Answers what a server wants to know before it goes on.
    async fn inputs(
        &self,
        server: &Server,
        wanted: &Map<String, Value>,
        running: &RunningCall,
        stop: &CancellationToken,
    ) -> Result<BTreeMap<String, Value>, Failed> {
        let mut answers = BTreeMap::new();
        for (key, request) in wanted {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").and_then(|params| object(params.clone())).unwrap_or_default();
            let answer = match method {
                "elicitation/create" => tokio::select! {
                    biased;
                    end = self.handler.wire.ended() => return Err(lost(server, end, true)),
                    () = stop.cancelled() => return Err(Failed::Told(CallError::Cancelled)),
                    answer = running.ask(params) => Some(answer),
                },
                _ => None,
            };
            let declined = || {
                Failed::Told(protocol(server, &format!("it has asked for `{}`, which is not allowed", shorten(method))))
            };
            answers.insert(key.clone(), answer.ok_or_else(declined)?);
        }
        Ok(answers)
    }

    /// Sends a request and waits for its answer, for the end of the connection, of the time, or of the wish.
    async fn request(
        &self,
        server: &Server,
        request: ClientRequest,
        running: Option<&Arc<RunningCall>>,
        stop: &CancellationToken,
    ) -> Result<Answer, Failed> {
        let wire = &self.handler.wire;
        if let Some(end) = wire.why() {
            return Err(lost(server, end, false));
        }
        if stop.is_cancelled() {
            return Err(Failed::Told(CallError::Cancelled));
        }
        let limit = server.timeout_seconds.map_or(LIMIT, |seconds| Duration::from_secs(u64::from(seconds.get())));
        let began = Instant::now();
        let sent = self.connection.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut handle = sent.map_err(|error| Failed::Lost { problem: error.to_string(), was_sent: false })?;
        // Nothing was awaited since the request was queued: its progress cannot be told before this line.
        let request = Request::new(&self.handler, &handle, running);
        let latest = began + limit * MOST_LIMITS;
        let reason = loop {
            // Progress moves it, and so does a question to the person.
            let deadline = running.map_or(began + limit, |running| running.deadline(limit)).min(latest);
            if Instant::now() >= deadline {
                break CallError::Timeout { server: server.name.to_string(), seconds: began.elapsed().as_secs() };
            }
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    return self.read(server, &request.id, answer.unwrap_or(Err(ServiceError::TransportClosed)));
                }
                end = wire.ended() => return Err(lost(server, end, true)),
                () = stop.cancelled() => break CallError::Cancelled,
                () = sleep_until(deadline) => {}
            }
        };
        cancel(handle);
        Err(Failed::Told(reason))
    }

    /// What has become of a request.
    fn read(
        &self,
        server: &Server,
        id: &RequestId,
        answer: Result<ServerResult, ServiceError>,
    ) -> Result<Answer, Failed> {
        let error = match answer {
            Ok(typed) => {
                let kept = self.handler.wire.take(id);
                let raw = kept.or_else(|| object(serde_json::to_value(&typed).ok()?)).unwrap_or_default();
                return Ok(Answer { raw, typed });
            }
            Err(error) => error,
        };
        if error.auth_challenge().is_some() || error.is_authorization_required() {
            return Err(Failed::Told(CallError::LoginNeeded(server.name.to_string())));
        }
        Err(match error {
            ServiceError::McpError(error) => Failed::Told(protocol_error(server, error)),
            ServiceError::Cancelled { .. } => Failed::Told(CallError::Cancelled),
            ServiceError::TransportSend(error) => {
                let was_sent = !never_arrived(error.error.as_ref());
                match self.handler.wire.why() {
                    Some(end) => lost(server, end, was_sent),
                    None => Failed::Lost { problem: why_not_sent(server, error.error.as_ref()), was_sent },
                }
            }
            error => match self.handler.wire.why() {
                Some(end) => lost(server, end, true),
                None => Failed::Lost { problem: with_causes(&error), was_sent: true },
            },
        })
    }
}

/// A request that waits. When it is dropped, what was kept for it goes.
struct Request<'a> {
    handler: &'a Handler,
    id: RequestId,
    token: ProgressToken,
}

impl<'a> Request<'a> {
    fn new(handler: &'a Handler, handle: &RequestHandle<RoleClient>, running: Option<&Arc<RunningCall>>) -> Self {
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        if let Some(running) = running {
            running.is_alive();
            handler.began(token.clone(), running.clone());
        }
        Self { handler, id, token }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.handler.ended(&self.token);
        self.handler.wire.take(&self.id);
    }
}

/// Tells the server that nobody wants the answer any more, and waits for nothing.
fn cancel(handle: RequestHandle<RoleClient>) {
    tokio::spawn(async move {
        let _ = timeout(Duration::from_secs(1), handle.cancel(Some("the caller cancelled".to_owned()))).await;
    });
}

fn lost(server: &Server, end: WireEnd, was_sent: bool) -> Failed {
    match end {
        WireEnd::Lost(problem) => Failed::Lost { problem, was_sent },
        WireEnd::TooLarge => Failed::Told(too_large(server)),
    }
}

pub(crate) fn too_large(server: &Server) -> CallError {
    CallError::TooLarge { server: server.name.to_string(), most: MOST_MESSAGE as u64 }
}

fn protocol(server: &Server, problem: &str) -> CallError {
    // The code of JSON-RPC for a request that cannot be carried out.
    CallError::Protocol { server: server.name.to_string(), code: -32600, message: problem.to_owned(), data: None }
}

impl Failed {
    /// The same of a later request of a call: the server has read the one before.
    fn after_a_round(self) -> Self {
        match self {
            Self::Lost { problem, .. } => Self::Lost { problem, was_sent: true },
            Self::Told(error) => Self::Told(error),
        }
    }

    /// The error of a request that was no call.
    pub(crate) fn into_error(self, server: &Server) -> CallError {
        match self {
            Self::Told(error) => error,
            Self::Lost { problem, .. } => unreachable(server, problem),
        }
    }
}

//! A call of another server's tool while it runs: on a thread of its own, so that a slow server stops nothing here.
//!
//! The thread tells of progress, asks, and gives the answer. In the newest version a question answers the request, and the call
//! waits, thread and all, until the client sends it again with what the person says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequestParams, ElicitResult, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::question::{self, Question};
use crate::ask::{self, Waiting};
use crate::server_info::WithServerInfo;
use crate::service::{self, Service};
use crate::{Client, tool_words};
use memdir_core::report::{Code, Failure};
use memdir_engine::ToolConsent;
use memdir_plan::ClientWords;
use memdir_tools::{
    CallEvents, Elicitation, ElicitationAnswer, Progress, Switched, Tool, ToolAnswer, ToolCall, ToolName, Toolbox,
};

/// The name of the one question that a call has at a time.
const KEY: &str = "question";
/// So many notices may wait; more progress than that is not told.
const MOST_EVENTS: usize = 64;
/// How long a call may go on for a client that sends nothing any more.
const PATIENCE: Duration = Duration::from_secs(5);

/// A call that runs. It is cancelled when this is dropped.
#[derive(Debug)]
pub(crate) struct ForeignCall {
    tool: Tool,
    events: mpsc::Receiver<Event>,
    /// The question that was asked last, and where its answer goes.
    asked: Option<(Question, oneshot::Sender<Option<ElicitResult>>)>,
    _stop: DropGuard,
}

/// What its thread says.
#[derive(Debug)]
enum Event {
    Progress(Progress),
    Asked(Question, oneshot::Sender<Option<ElicitResult>>),
    Done(Result<ToolAnswer, Failure>),
}

/// The thread's end of it.
struct Line {
    events: mpsc::Sender<Event>,
    tool: ToolName,
    words: Arc<Mutex<ClientWords>>,
    is_bounded: bool,
}

impl Line {
    /// Asks the person; `None` where nobody answers.
    fn ask(&self, question: Question) -> Option<ElicitResult> {
        let (answer, answered) = oneshot::channel();
        self.events.blocking_send(Event::Asked(question, answer)).ok()?;
        answered.blocking_recv().ok()?
    }

    fn consent(&self, arguments: &Map<String, Value>) -> ToolConsent {
        question::decided(self.ask(Question::Consent(arguments.clone())).as_ref())
    }
}

impl CallEvents for Line {
    fn progress(&mut self, progress: &Progress) {
        if let Some(message) = &progress.message {
            tool_words::add_said(&self.words, &self.tool, message);
        }
        // A client that does not keep up misses some.
        let _ = self.events.try_send(Event::Progress(progress.clone()));
    }

    fn is_bounded(&self) -> bool {
        self.is_bounded
    }

    fn elicit(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        tool_words::add_said(&self.words, &self.tool, &elicitation.message);
        question::answered(self.ask(Question::Server(elicitation.clone())))
    }
}

/// Begins a call of `tool`, in a conversation that has these servers switched on.
///
/// # Errors
///
/// `rate_limited` where too many calls of the client are running.
pub(super) fn begin(
    service: &Service,
    client: &Client,
    toolbox: &Arc<dyn Toolbox>,
    (tool, call): (Tool, ToolCall),
    mut switched: Switched,
    context: &RequestContext<RoleServer>,
) -> Result<ForeignCall, Failure> {
    let place = Arc::clone(&service.connection.calls).try_acquire_owned().map_err(|_| {
        Failure::new(Code::RateLimited, "too many calls of other servers' tools are running")
            .with_hint("send it again once one of them is answered")
    })?;
    let (sender, events) = mpsc::channel(MOST_EVENTS);
    let stop = CancellationToken::new();
    let (engine, toolbox, connection) =
        (Arc::clone(&service.server.engine), Arc::clone(toolbox), Arc::clone(&service.connection));
    let (words, is_bounded) = (service.server.tool_words.of(service, client), super::tells_parts(service));
    let (caller, stopped) = (service::caller(service, client, &context.id), stop.clone());
    let has_conversation = service::has_conversation(context);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        tool_words::add_arguments(&words, &call.arguments);
        let line = || Line { events: sender.clone(), tool: call.tool.clone(), words: Arc::clone(&words), is_bounded };
        let (mut line, person) = (line(), line());
        let mut ask = |_: &Tool, arguments: &Map<String, Value>| person.consent(arguments);
        let answered = engine.call_tool(&*toolbox, &caller, &mut switched, &call, &mut ask, &mut line, &stopped);
        if has_conversation {
            connection.allow(switched.allowed);
        }
        tool_words::add_answer(&words, &call.tool, &answered);
        // Nobody may wait for it any more.
        let _ = sender.blocking_send(Event::Done(answered));
    });
    Ok(ForeignCall { tool, events, asked: None, _stop: stop.drop_guard() })
}

impl ForeignCall {
    /// What is called.
    pub(super) fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Hands on what the person has answered in a request that was sent again.
    pub(super) fn resume(mut self, client: &Client, request: &CallToolRequestParams) -> Self {
        if let Some((question, answer)) = self.asked.take() {
            self.hand_on(client, &question, answer, ask::answered(request, KEY));
        }
        self
    }

    /// Hands on an answer, where the client still has the say: the person may have taken it back meanwhile.
    fn hand_on(
        &self,
        client: &Client,
        question: &Question,
        answer: oneshot::Sender<Option<ElicitResult>>,
        answered: Option<ElicitResult>,
    ) {
        let counts = super::is_granted(client, &self.tool) && question.may_be_asked(client);
        // A call that has ended meanwhile needs no answer.
        let _ = answer.send(answered.filter(|_| counts));
    }
}

/// Goes on with a call until it is answered, or has to be sent again with what the person says.
pub(super) async fn go_on(
    service: &Service,
    client: &Client,
    mut call: ForeignCall,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (token, closing) = (context.meta.get_progress_token(), &service.connection.closing);
    let nobody_waits = async {
        closing.cancelled().await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::pin!(nobody_waits);
    loop {
        let event = tokio::select! {
            event = call.events.recv() => event,
            () = context.ct.cancelled() => return Err(service::cancelled()),
            () = &mut nobody_waits => return Err(service::cancelled()),
        };
        match event {
            Some(Event::Progress(progress)) => {
                if let Some(token) = &token {
                    let mut told = ProgressNotificationParam::new(token.clone(), progress.progress);
                    (told.total, told.message) = (progress.total, progress.message);
                    // Whether anybody hears of it is no matter of the call.
                    let _ = context.peer.notify_progress(told).await;
                }
            }
            Some(Event::Asked(question, answer)) => match question.form(&call.tool, client, context) {
                Some(form) if service::is_modern(context) => {
                    call.asked = Some((question, answer));
                    return Ok(put_off(service, client, call, (request, form)).with_server_info(context).into());
                }
                Some(form) => {
                    let answered = ask::ask_form(service, context, form, std::future::pending()).await?;
                    call.hand_on(&service.client(context)?, &question, answer, answered);
                }
                // The other end learns that nobody can be asked.
                None => drop(answer),
            },
            Some(Event::Done(answered)) => {
                service.server.served.settle_soon();
                let tool = call.tool;
                return Ok(super::answer(service, &tool, answered, context).into());
            }
            None => return Err(service::internal_error()),
        }
    }
}

/// Has a call wait for the person. Who never answers has it cancelled.
fn put_off(
    service: &Service,
    client: &Client,
    call: ForeignCall,
    (request, form): (CallToolRequestParams, ElicitRequestParams),
) -> rmcp::model::InputRequiredResult {
    let forms = BTreeMap::from([(KEY.to_owned(), form)]);
    let request = (request.name.into_owned(), request.arguments);
    let (number, asked) = service.server.pending_calls.put(client, request, forms, Waiting::Foreign(Box::new(call)));
    let server = Arc::downgrade(&service.server);
    tokio::spawn(async move {
        tokio::time::sleep(ask::PATIENCE).await;
        if let Some(server) = server.upgrade() {
            server.pending_calls.forget(number);
        }
    });
    asked
}

//! Asking the person through their client, where it can ask and what it answers is the person's word.
//!
//! What waits is in the inbox before anybody is asked, and stays there unless the person decides. Older versions of the
//! protocol ask while the call waits; since 2026-07-28 the call is answered by the question and sent again with the
//! answer. What became of the first call is kept here until then; the client holds only a sealed number.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use memdir_core::text::escape_unseen;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, InputRequest, InputRequiredResult, JsonObject, ProtocolVersion, RequestStateCodec,
    SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value as Json, json};

use super::hub::ForeignCall;
use super::service::{self, Service};
use super::tools::Call;
use super::{Client, lock};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure, Outcome, Report};
use memdir_engine::{Caller, Consent, Done, Engine, PendingProposal, Reviewed};
use memdir_plan::Seen;
use memdir_server::Lane;
use memdir_vault as vault;

/// How long the person may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// How often it is looked whether a proposal was decided in the inbox while the question about it is open.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// How much a question may show. A longer change is not asked about here: nobody agrees to what they cannot see.
pub(super) const MOST_CHARS: usize = 8_000;
/// How many calls of a client may wait for its answer.
const MOST_CALLS: usize = 64;

/// A question about one proposal.
#[derive(Debug)]
pub(super) struct Question {
    waiting: PendingProposal,
    /// What its calls are answered by if it is approved.
    outcomes: Vec<Outcome>,
    message: String,
}

/// What the person says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Decision {
    Approve,
    Reject,
    /// Nothing that counts; it waits on.
    Later,
}

/// The calls that wait until a client sends them again with the answer of its person.
#[derive(Debug)]
pub(super) struct PendingCalls {
    codec: RequestStateCodec,
    open: Mutex<(u64, VecDeque<PendingCall>)>,
}

#[derive(Debug)]
struct PendingCall {
    number: u64,
    client: String,
    tool: String,
    arguments: Option<JsonObject>,
    waiting: Waiting,
}

/// What goes on with the answer.
#[derive(Debug)]
pub(super) enum Waiting {
    /// A call that has left something in the inbox.
    Proposals(Box<Call>, Vec<Question>),
    /// A call of another server's tool, which runs.
    Foreign(Box<ForeignCall>),
}

impl PendingCalls {
    /// With a key that no other process has.
    pub(super) fn new() -> std::io::Result<Self> {
        let random = || vault::random().map_err(|error| std::io::Error::other(error.to_string()));
        let codec = RequestStateCodec::try_new([random()?, random()?].concat()).map_err(std::io::Error::other)?;
        Ok(Self { codec, open: Mutex::default() })
    }

    /// Keeps a call until its questions are answered, and gives what to answer until then.
    pub(super) fn put_proposals(
        &self,
        client: &Client,
        request: (String, Option<JsonObject>),
        call: Call,
        questions: Vec<Question>,
    ) -> InputRequiredResult {
        let forms = questions.iter().filter_map(|question| Some((question.key(), question.form()?))).collect();
        self.put(client, request, forms, Waiting::Proposals(Box::new(call), questions)).1
    }

    /// The same for any call and its questions, by their names; and the number by which it is forgotten.
    pub(super) fn put(
        &self,
        client: &Client,
        request: (String, Option<JsonObject>),
        forms: BTreeMap<String, ElicitRequestParams>,
        waiting: Waiting,
    ) -> (u64, InputRequiredResult) {
        let forms = forms.into_iter().map(|(key, form)| (key, InputRequest::Elicitation(ElicitRequest::new(form))));
        let forms = forms.collect();
        let mut open = lock(&self.open);
        open.0 += 1;
        let (number, (tool, arguments)) = (open.0, request);
        let bound = bound(client, &tool);
        let options = SealOptions::new().associated_data(&bound).ttl(PATIENCE);
        let state = self.codec.seal_with(number.to_string().as_bytes(), &options);
        open.1.push_back(PendingCall { number, client: client.name.clone(), tool, arguments, waiting });
        // Each client has its own room: none ends a call of another.
        let is_own = |open: &PendingCall| open.client == client.name;
        if open.1.iter().filter(|open| is_own(open)).count() > MOST_CALLS
            && let Some(oldest) = open.1.iter().position(is_own)
        {
            open.1.remove(oldest);
        }
        (number, InputRequiredResult::new(Some(forms), Some(state)))
    }

    /// Forgets a call that nobody has gone on with.
    pub(super) fn forget(&self, number: u64) {
        lock(&self.open).1.retain(|call| call.number != number);
    }

    /// Takes back the call that a request goes on with; it is there once.
    ///
    /// # Errors
    ///
    /// What such a request is answered by where it is not there.
    pub(super) fn take(
        &self,
        client: &Client,
        request: &CallToolRequestParams,
        state: &str,
    ) -> Result<Waiting, ErrorData> {
        self.find(client, request, state).ok_or_else(|| {
            let message =
                "this `requestState` does not go with this call, was used, or is too old; what waits is in the inbox";
            ErrorData::invalid_params(message, None)
        })
    }

    fn find(&self, client: &Client, request: &CallToolRequestParams, state: &str) -> Option<Waiting> {
        let number = self.codec.open_with(state, &bound(client, &request.name)).ok()?;
        let number: u64 = std::str::from_utf8(&number).ok()?.parse().ok()?;
        let mut open = lock(&self.open);
        let is_it = |open: &PendingCall| {
            open.number == number
                && open.client == client.name
                && open.tool == request.name
                && open.arguments == request.arguments
        };
        let at = open.1.iter().position(is_it)?;
        open.1.remove(at).map(|call| call.waiting)
    }
}

/// What a state is bound to beside its number.
fn bound(client: &Client, tool: &str) -> [u8; 32] {
    *Digest::of_parts(&[client.name.as_bytes(), b"tools/call", tool.as_bytes()]).as_bytes()
}

impl Question {
    /// The question about a proposal, if it can be carried out and all of it can be shown.
    fn new(reviewed: Reviewed, client: &Client) -> Option<Self> {
        let Reviewed { waiting, outcomes, trouble: None, .. } = reviewed else { return None };
        let who = if client.name.is_empty() { "the assistant" } else { &client.name };
        let head = format!("{who} wants to change your memory ({}), proposal {}", waiting.reason, waiting.id);
        let message = format!("{}\n\n{}", escape(&head, |_| false), escape(&waiting.diff, |letter| letter == '\n'));
        let is_short = message.chars().nth(MOST_CHARS).is_none();
        is_short.then_some(Self { waiting, outcomes, message })
    }

    /// Its name among the questions of a call.
    fn key(&self) -> String {
        format!("proposal_{}", self.waiting.id)
    }

    fn form(&self) -> Option<ElicitRequestParams> {
        let decision = json!({
            "type": "string", "title": "Decision", "enum": ["approve", "reject", "later"],
            "description": "approve: it is saved. reject: it is dropped. later: it waits in the inbox.",
        });
        let schema = json!({"type": "object", "properties": {"decision": decision}, "required": ["decision"]});
        let requested_schema = serde_json::from_value(schema).ok()?;
        Some(ElicitRequestParams::FormElicitationParams { meta: None, message: self.message.clone(), requested_schema })
    }
}

/// Makes visible what could change how a text is read.
pub(super) fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    escape_unseen(text, stays).into_owned()
}

impl Decision {
    /// Only a form that was sent with the explicit choice decides anything.
    fn of(answered: &ElicitResult) -> Self {
        let said = answered.content.as_ref().and_then(|content| content.get("decision")).and_then(Json::as_str);
        match (&answered.action, said) {
            (ElicitationAction::Accept, Some("approve")) => Self::Approve,
            (ElicitationAction::Accept, Some("reject")) => Self::Reject,
            _ => Self::Later,
        }
    }
}

/// The questions about what a call has left in the inbox; none where nobody can be asked through this client.
pub(super) async fn questions(
    service: &Service,
    client: &Client,
    context: &RequestContext<RoleServer>,
    report: &Report,
) -> Result<Vec<Question>, ErrorData> {
    let waiting = proposals(report);
    if waiting.is_empty() || !may_ask(client) || !can_ask(context) {
        return Ok(Vec::new());
    }
    let (engine, client) = (service.server.engine.clone(), client.clone());
    let look = move || {
        let reviewed = waiting.into_iter().filter_map(|id| engine.review_proposal(id).ok());
        reviewed.filter_map(|reviewed| Question::new(reviewed, &client)).collect()
    };
    // What is looked at may get a new code.
    service.work(Lane::Write, context, look).await
}

/// Whether the person at a client has the owner's word. A client that sees a part of the memory has numbers of its own for what
/// waits, and what would change may be more than it sees.
fn may_ask(client: &Client) -> bool {
    client.may_approve && client.grant.as_ref().is_none_or(|grant| !grant.is_restricted())
}

/// The proposals that the calls of a report have made.
pub(super) fn proposals(report: &Report) -> Vec<u64> {
    let failed = report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err());
    let mut waiting: Vec<u64> = failed.filter_map(|failure| failure.details.proposal).collect();
    waiting.dedup();
    waiting
}

/// Whether the client says that it can show a form.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    elicitation(context).is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// What a client says that it can ask, in a version that knows questions.
pub(super) fn elicitation(context: &RequestContext<RoleServer>) -> Option<ElicitationCapability> {
    let is_known = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2025_06_18);
    context.client_capabilities().filter(|_| is_known).and_then(|capabilities| capabilities.elicitation)
}

/// Asks while the call waits, and gives the answer; `None` where none comes before `settled`. A question that is open then is withdrawn.
///
/// # Errors
///
/// What a request is answered by that nobody waits for any more.
pub(super) async fn ask_form(
    service: &Service,
    context: &RequestContext<RoleServer>,
    form: ElicitRequestParams,
    settled: impl Future<Output = ()>,
) -> Result<Option<ElicitResult>, ErrorData> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let sent = context.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
    let Ok(mut asked) = sent else { return Ok(None) };
    let (reason, end) = tokio::select! {
        answered = &mut asked.rx => {
            return Ok(match answered {
                Ok(Ok(ClientResult::ElicitResult(answered))) => Some(answered),
                _ => None,
            });
        }
        () = settled => ("it was decided elsewhere", Ok(None)),
        () = tokio::time::sleep(PATIENCE) => ("it took too long", Ok(None)),
        () = service.connection.closing.cancelled() => return Ok(None),
        () = context.ct.cancelled() => ("nobody waits for it any more", Err(service::cancelled())),
    };
    // A client that cannot be told has gone.
    let _ = asked.cancel(Some(reason.to_owned())).await;
    end
}

/// Ends once a proposal does not wait any more.
async fn until_decided(service: &Service, context: &RequestContext<RoleServer>, proposal: u64) {
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        let engine = service.server.engine.clone();
        if let Ok(false) = service.work(Lane::Read, context, move || engine.still_waits(proposal)).await {
            return;
        }
    }
}

/// Asks while the call waits, one question after the other, and does what the person says.
pub(super) async fn ask_now(
    service: &Service,
    client: &Client,
    context: &RequestContext<RoleServer>,
    call: &mut Call,
    questions: Vec<Question>,
) -> Result<(), ErrorData> {
    for question in questions {
        let Some(form) = question.form() else { continue };
        let decided = until_decided(service, context, question.waiting.id);
        let answered = ask_form(service, context, form, decided).await?;
        let decision = answered.as_ref().map_or(Decision::Later, Decision::of);
        settle(service, client, context, call, question, decision).await?;
    }
    Ok(())
}

/// Goes on with a call that was answered by questions.
pub(super) async fn resume(
    service: &Service,
    client: &Client,
    context: &RequestContext<RoleServer>,
    request: &CallToolRequestParams,
    (mut call, questions): (Call, Vec<Question>),
) -> Result<Call, ErrorData> {
    for question in questions {
        let answered = answered(request, &question.key());
        let decision = answered.as_ref().map_or(Decision::Later, Decision::of);
        settle(service, client, context, &mut call, question, decision).await?;
    }
    Ok(call)
}

/// What the person answers to a question.
pub(super) fn answered(request: &CallToolRequestParams, key: &str) -> Option<ElicitResult> {
    let answered = request.input_responses.as_ref()?.get(key)?;
    serde_json::from_value(answered.clone()).ok()
}

/// Does what the person says, and says in the report what became of the calls of the proposal.
async fn settle(
    service: &Service,
    client: &Client,
    context: &RequestContext<RoleServer>,
    call: &mut Call,
    question: Question,
    decision: Decision,
) -> Result<(), ErrorData> {
    // Its person may have had the last word for it meanwhile.
    if !service.client(context).is_ok_and(|client| may_ask(&client)) {
        return Ok(());
    }
    let by = service::person(service, client, &context.id);
    let (server, proposal) = (service.server.clone(), question.waiting.id);
    let decide = move || {
        let decided = decide(&server.engine, &question, decision, &by);
        if let Some(Ok(done)) = &decided {
            server.wrote(&done.changed);
        }
        decided
    };
    let (done, failed) = match service.work(Lane::Write, context, decide).await? {
        None => return Ok(()),
        Some(Ok(done)) => (done, None),
        Some(Err(failure)) if failure.code == Code::Conflict => {
            waits_on(&mut call.report, proposal);
            return Ok(());
        }
        Some(Err(failure)) => (Done::default(), Some(failure)),
    };
    for outcome in &mut call.report.actions {
        let its = outcome.result.as_ref().err().filter(|failure| failure.details.proposal == Some(proposal));
        let Some(is_read) = its.map(|failure| failure.details.is_read) else { continue };
        match failed.clone().filter(|_| !is_read) {
            Some(failure) => outcome.result = Err(failure),
            None => *outcome = done.outcome_of(outcome),
        }
    }
    service.connection.see(Seen::default(), done.seen);
    call.report.changed.extend(done.changed);
    call.report.changed.sort();
    call.report.changed.dedup();
    call.report.batch = done.batch.or(call.report.batch);
    call.report.receipt = done.receipt.or(call.report.receipt.take());
    Ok(())
}

/// Says of the calls of a proposal that the person agreed to what they were shown, and that it would change something else by now.
fn waits_on(report: &mut Report, proposal: u64) {
    let failed = report.actions.iter_mut().filter_map(|outcome| outcome.result.as_mut().err());
    for failure in failed.filter(|failure| failure.details.proposal == Some(proposal)) {
        let hint = "the person agreed, but the memory has changed since they were asked, so it waits for them once more; go on without it";
        failure.hint = Some(hint.to_owned());
    }
}

/// Does what the person says, or gives what they decided elsewhere meanwhile; `None` where the proposal waits on.
fn decide(engine: &Engine, question: &Question, decision: Decision, by: &Caller) -> Option<Result<Done, Failure>> {
    let Question { waiting, outcomes, .. } = question;
    let own = match decision {
        Decision::Approve => {
            Some(engine.approve(waiting.id, Consent::Shown(waiting.digest), by).map_err(|error| error.failure))
        }
        Decision::Reject => {
            let denied = Failure::new(Code::Denied, "the person was asked and said no");
            Some(engine.reject(waiting.id, by).and(Err(denied)))
        }
        Decision::Later => None,
    };
    match own {
        Some(own) if !own.as_ref().is_err_and(|failure| failure.code == Code::NotFound) => Some(own),
        own => engine.decided_elsewhere(waiting, outcomes).ok().flatten().or(own),
    }
}

#[cfg(test)]
mod tests {
    use memdir_dialect::Frame;
    use memdir_tools::ToolGrant;

    use super::*;

    #[test]
    fn no_client_ends_a_call_of_another_that_waits() {
        let calls = PendingCalls::new().unwrap();
        let client = |name: &str| {
            let (name, tools) = (name.to_owned(), ToolGrant::default());
            Client { name, grant: None, tools, rate: None, may_approve: true }
        };
        let put = |name: &str| {
            let call = Call { tool: "read_file".to_owned(), frame: Frame::Native, report: Report::of(Vec::new()) };
            let asked = calls.put_proposals(&client(name), ("read_file".to_owned(), None), call, Vec::new());
            asked.request_state.unwrap()
        };
        let is_there = |name: &str, state: &str| {
            calls.take(&client(name), &CallToolRequestParams::new("read_file"), state).is_ok()
        };
        let (mine, oldest) = (put("one"), put("other"));
        (0..MOST_CALLS).for_each(|_| drop(put("other")));
        assert!(is_there("one", &mine));
        assert!(!is_there("other", &oldest), "of its own the oldest goes");
    }
}

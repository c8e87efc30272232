//! What the person at a client is asked while another server's tool is called: whether it may be, and what its server wants to know.

use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};

use crate::{Client, ask, service};
use memdir_engine::ToolConsent;
use memdir_tools::{CallQuestion, Elicitation, ElicitationAnswer, Tool};

/// What the person says to a call.
const ONCE: &str = "yes";
const CONVERSATION: &str = "yes, for this conversation";
const NO: &str = "no";

/// A question.
#[derive(Debug)]
pub(super) enum Question {
    /// Whether a tool may be called with these arguments.
    Consent(Map<String, Value>),
    /// What the tool's server asks.
    Server(Elicitation),
}

impl Question {
    /// Whether what the person at this client says to it counts.
    pub(super) fn may_be_asked(&self, client: &Client) -> bool {
        match self {
            Self::Consent(_) => client.may_approve,
            Self::Server(_) => true,
        }
    }

    /// The form in which it is asked; `None` where this client, or its person, cannot be asked it.
    pub(super) fn form(
        &self,
        tool: &Tool,
        client: &Client,
        context: &RequestContext<RoleServer>,
    ) -> Option<ElicitRequestParams> {
        match self {
            _ if !self.may_be_asked(client) => None,
            Self::Consent(arguments) => {
                let choices: &[&str] = match service::has_conversation(context) {
                    true => &[ONCE, CONVERSATION, NO],
                    false => &[ONCE, NO],
                };
                ask::can_ask(context).then(|| consent(tool, client, arguments, choices))?
            }
            Self::Server(elicitation) => {
                let is_visit = elicitation.url().is_some();
                let can_ask = match is_visit {
                    true => ask::elicitation(context).is_some_and(|modes| modes.url.is_some()),
                    false => ask::can_ask(context),
                };
                can_ask.then(|| passed_on(tool, elicitation, is_visit))?
            }
        }
    }
}

/// The form that asks whether a tool may be called. All of the arguments are shown, or it is not asked.
fn consent(
    tool: &Tool,
    client: &Client,
    arguments: &Map<String, Value>,
    choices: &[&str],
) -> Option<ElicitRequestParams> {
    let who = if client.name.is_empty() { "the assistant" } else { &client.name };
    let CallQuestion { head, arguments, about } = CallQuestion::new(Some(who), tool, arguments);
    let message = [head, arguments, about].join("\n\n").trim_end().to_owned();
    if message.chars().nth(ask::MOST_CHARS).is_some() {
        return None;
    }
    let decision = json!({"type": "string", "title": "Decision", "enum": choices});
    let schema = json!({"type": "object", "properties": {"decision": decision}, "required": ["decision"]});
    let requested_schema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// The question of a server as it came, with the server's name before it.
fn passed_on(tool: &Tool, elicitation: &Elicitation, is_visit: bool) -> Option<ElicitRequestParams> {
    let mut params = elicitation.params.clone();
    let message = format!("{} {}", Elicitation::head(&tool.server), elicitation.shown());
    params.insert("message".to_owned(), message.into());
    params.insert("mode".to_owned(), if is_visit { "url".into() } else { "form".into() });
    serde_json::from_value(Value::Object(params)).ok()
}

/// What the person says to a call. Only a form with the explicit choice lets it be made.
pub(super) fn decided(answered: Option<&ElicitResult>) -> ToolConsent {
    let Some(answered) = answered else { return ToolConsent::NobodyThere };
    let said = answered.content.as_ref().and_then(|content| content.get("decision")).and_then(Value::as_str);
    match (&answered.action, said) {
        (ElicitationAction::Accept, Some(ONCE)) => ToolConsent::Once,
        (ElicitationAction::Accept, Some(CONVERSATION)) => ToolConsent::Conversation,
        (ElicitationAction::Accept, Some(NO)) | (ElicitationAction::Decline, _) => ToolConsent::No,
        _ => ToolConsent::NobodyThere,
    }
}

/// What a server is answered.
pub(super) fn answered(answered: Option<ElicitResult>) -> ElicitationAnswer {
    match answered {
        Some(ElicitResult { action: ElicitationAction::Accept, content, .. }) => match content {
            Some(Value::Object(content)) => ElicitationAnswer::Accept(content),
            // What says where somebody has been has no content.
            None => ElicitationAnswer::Accept(Map::new()),
            Some(_) => ElicitationAnswer::Decline,
        },
        Some(ElicitResult { action: ElicitationAction::Cancel, .. }) => ElicitationAnswer::Cancel,
        Some(_) | None => ElicitationAnswer::Decline,
    }
}

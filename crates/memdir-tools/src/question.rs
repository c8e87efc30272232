//! What the person is asked while a tool of another server is called, in the same words on a terminal and at a client.

use serde_json::{Map, Value};

use super::{Elicitation, ServerName, Tool};
use memdir_core::text::escape_unseen;

/// So many bytes of what a server says of a tool are shown.
const BRIEF: usize = 200;

/// The question whether a tool may be called. Characters that nobody sees are escapes in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallQuestion {
    /// Who wants to call which tool: a line above the arguments.
    pub head: String,
    /// The arguments as they will be sent, all of them, as indented JSON.
    pub arguments: String,
    /// What the server says of the tool, in a line; empty where it says nothing.
    pub about: String,
}

impl CallQuestion {
    /// The question about a call of `tool` that `who` wants to make; `None` for the person's own.
    #[must_use]
    pub fn new(who: Option<&str>, tool: &Tool, arguments: &Map<String, Value>) -> Self {
        let head = match who {
            Some(who) => format!("{who} wants to call `{}` with:", tool.name),
            None => format!("`{}` will be called with:", tool.name),
        };
        // JSON that is made of a value can always be written.
        let sent = serde_json::to_string_pretty(arguments).unwrap_or_default();
        let brief = tool.brief(BRIEF);
        let about = if brief.is_empty() { brief } else { format!("the server says of this tool: {brief}") };
        Self {
            head: escape_unseen(&head, |_| false).into_owned(),
            arguments: escape_unseen(&sent, |one| one == '\n').into_owned(),
            about: escape_unseen(&about, |_| false).into_owned(),
        }
    }
}

impl Elicitation {
    /// The line above the question of `server`, whose words follow as its own.
    #[must_use]
    pub fn head(server: &ServerName) -> String {
        format!("the server `{server}` asks:")
    }

    /// The question, with escapes for characters that nobody sees.
    #[must_use]
    pub fn shown(&self) -> String {
        escape_unseen(&self.message, |one| one == '\n').into_owned()
    }

    /// The address that the person is to visit, where that is what is asked for.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.params.get("url").and_then(Value::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Permission, PinState, ToolName};

    #[test]
    fn all_that_is_sent_is_shown_and_nothing_is_hidden() {
        let server = ServerName::parse("lab").unwrap();
        let definition = json!({"description": "Says\u{202e} it.\nReally."});
        let tool = Tool {
            name: ToolName::of(&server, "echo"),
            server,
            own: "echo".to_owned(),
            definition: definition.as_object().unwrap().clone(),
            permission: Permission::Ask,
            pin: PinState::Approved,
        };
        let arguments = json!({"text": "a\u{200b}b\n"});
        let question = CallQuestion::new(Some("desk\n"), &tool, arguments.as_object().unwrap());
        assert_eq!(question.head, "desk\\n wants to call `lab__echo` with:");
        assert_eq!(question.arguments, "{\n  \"text\": \"a\\u{200b}b\\n\"\n}");
        assert!(question.about.starts_with("the server says of this tool: Says\\u{202e} it."), "{}", question.about);
        assert!(!question.about.contains('\n'));
        let own = CallQuestion::new(None, &tool, &Map::new());
        assert_eq!((own.head.as_str(), own.arguments.as_str()), ("`lab__echo` will be called with:", "{}"));
    }
}

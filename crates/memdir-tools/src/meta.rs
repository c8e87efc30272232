//! `find_tools`, `describe_tool`, `call_tool`: how a model reaches tools whose list is too long to be shown to it.
//!
//! Owns what these three are called, take and answer. Who may call what is for [`Verdict`](super::Verdict).

use serde_json::{Map, Value, json};

use super::Tool;
use memdir_core::action::Access;
use memdir_core::catalog::{Effect, Field, Gives, Row, Takes};
use memdir_core::report::{Code, Failure};

/// How many tools are found where nobody says how many.
const FOUND: usize = 5;
/// The most that are.
const MOST_FOUND: usize = 20;
/// So many bytes of what a server says of a tool are told in a list.
const BRIEF: usize = 160;
/// The argument that is an object; a [`Row`] has no word for one.
const ARGUMENTS: &str = "arguments";

/// What the three are told as, in the order in which they are used.
pub static META_TOOLS: [Row; 3] = [
    Row {
        name: "find_tools",
        title: "Find a tool",
        access: Access::Read,
        effect: Effect::None,
        words: "Finds tools of other programs by what they should do.",
        returns: "their names and what they do, the best first",
        gives: Gives::Entries,
        fields: &[
            Field::required("query", Takes::FullText, "What the tool should do."),
            Field::optional("limit", Takes::Number(1), "How many at most: 5, at most 20."),
        ],
        example: r#"{"action":"find_tools","query":"events of a day"}"#,
    },
    Row {
        name: "describe_tool",
        title: "Describe a tool",
        access: Access::Read,
        effect: Effect::None,
        words: "Tells what a tool takes: look before you call it.",
        returns: "its description and the schema of its arguments",
        gives: Gives::Object,
        fields: &[Field::required("name", Takes::FullText, "The tool, as find_tools names it.")],
        example: r#"{"action":"describe_tool","name":"calendar__list_events"}"#,
    },
    Row {
        name: "call_tool",
        title: "Call a tool",
        access: Access::Write,
        effect: Effect::Changes,
        words: "Calls a tool; with a cursor alone it reads on in a result that was cut.",
        returns: "what the tool answers",
        gives: Gives::Various,
        fields: &[
            Field::optional("name", Takes::FullText, "The tool, as find_tools names it."),
            Field::optional(ARGUMENTS, Takes::Text, "What it takes, by the names of its schema."),
            Field::optional("cursor", Takes::FullText, "Where a result was cut."),
        ],
        example: r#"{"action":"call_tool","name":"calendar__list_events","arguments":{"day":"2026-11-24"}}"#,
    },
];

/// A call of one of the three, read.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaCall {
    /// `find_tools`.
    Find {
        /// What the tool should do.
        query: String,
        /// How many are wanted, from 1 to 20.
        limit: usize,
    },
    /// `describe_tool`, by the name under which the tool is offered.
    Describe(String),
    /// `call_tool`.
    Call {
        /// The name under which the tool is offered.
        name: String,
        /// What is sent to it.
        arguments: Map<String, Value>,
    },
    /// `call_tool` with a cursor: the rest of a result.
    More(String),
}

impl MetaCall {
    /// Reads a call, which is the text's number `index`; `None` for a name that none of the three has.
    ///
    /// # Errors
    ///
    /// `invalid_action`, as for an action of the memory, with the words that teach.
    #[must_use]
    pub fn read(index: usize, name: &str, arguments: Map<String, Value>) -> Option<Result<Self, Failure>> {
        let row = META_TOOLS.iter().find(|row| row.name == name)?;
        Some(Self::of(index, row, arguments))
    }

    fn of(index: usize, row: &Row, mut given: Map<String, Value>) -> Result<Self, Failure> {
        let invalid = |message: &str| {
            let failure = Failure::new(Code::InvalidAction, format!("action {index}, `{}`: {message}", row.name));
            failure.with_hint(format!("send for example {}", row.example))
        };
        let takes_arguments = row.fields.iter().any(|field| field.name == ARGUMENTS);
        let arguments = match given.shift_remove(ARGUMENTS).filter(|_| takes_arguments) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(invalid("`arguments` has to be an object")),
        };
        row.check(index, &given)?;
        let text = |key: &str| given.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = || text("name").ok_or_else(|| invalid("missing `name`"));
        match row.name {
            "find_tools" => {
                let limit = given.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
                let limit = limit.unwrap_or(FOUND).min(MOST_FOUND);
                Ok(Self::Find { query: text("query").unwrap_or_default(), limit })
            }
            "describe_tool" => name().map(Self::Describe),
            _ => match text("cursor") {
                Some(_) if !arguments.is_empty() => Err(invalid("a `cursor` stands alone")),
                Some(cursor) => Ok(Self::More(cursor)),
                None => Ok(Self::Call { name: name()?, arguments }),
            },
        }
    }
}

/// The schema of what one of the three takes.
#[must_use]
pub fn meta_schema(row: &Row) -> Value {
    let mut schema = row.schema();
    if let Some(kind) = schema.pointer_mut("/properties/arguments/type") {
        *kind = json!("object");
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        // What a server's tools may be called for is asked of the person, and no model says that they agreed.
        properties.shift_remove(memdir_core::catalog::PERMISSION);
    }
    schema
}

impl Tool {
    /// Its name, and its description in a line, as a list tells it.
    #[must_use]
    pub fn listed(&self) -> Value {
        json!({"name": self.name, "description": self.brief(BRIEF)})
    }

    /// What a call of it has to know: its name, description and the schema of its arguments, as the server sent them.
    #[must_use]
    pub fn described(&self) -> Value {
        let mut told = Map::from_iter([("name".to_owned(), json!(self.name))]);
        for key in ["title", "description", "inputSchema"] {
            told.extend(self.definition.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        Value::Object(told)
    }

    /// Its description in one line of at most so many bytes.
    #[must_use]
    pub fn brief(&self, most: usize) -> String {
        let mut line = one_line(self.description());
        if line.len() > most {
            line.truncate(line.floor_char_boundary(most.saturating_sub("…".len())));
            line.push('…');
        }
        line
    }

    /// Its name and the names of its arguments, those that may be left out in brackets: `calendar__list_events(day, [limit])`.
    #[must_use]
    pub fn signature(&self) -> String {
        let required = self.definition.get("inputSchema").and_then(|schema| schema.get("required")?.as_array());
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        let name = |name: &str| if is_required(name) { name.to_owned() } else { format!("[{name}]") };
        one_line(&format!("{}({})", self.name, self.arguments().map(name).collect::<Vec<_>>().join(", ")))
    }

    /// The names of its arguments, in the order of its schema.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let properties = self.definition.get("inputSchema").and_then(|schema| schema.get("properties")?.as_object());
        properties.into_iter().flatten().map(|(name, _)| name.as_str())
    }
}

/// A text without line ends and marks that only a terminal obeys.
fn one_line(text: &str) -> String {
    let words =
        text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    fn read(name: &str, arguments: Value) -> Option<Result<MetaCall, Failure>> {
        MetaCall::read(1, name, arguments.as_object().unwrap().clone())
    }

    #[test]
    fn the_examples_are_what_they_say() {
        let found: Vec<MetaCall> = META_TOOLS
            .iter()
            .map(|row| {
                let mut example: Map<String, Value> = serde_json::from_str(row.example).unwrap();
                let name = example.shift_remove("action").unwrap();
                MetaCall::read(1, name.as_str().unwrap(), example).unwrap().unwrap()
            })
            .collect();
        let name = || "calendar__list_events".to_owned();
        let day = json!({"day": "2026-11-24"}).as_object().unwrap().clone();
        let expected = [
            MetaCall::Find { query: "events of a day".to_owned(), limit: 5 },
            MetaCall::Describe(name()),
            MetaCall::Call { name: name(), arguments: day },
        ];
        assert_eq!(found, expected);
        assert_eq!(read("call_tool", json!({"cursor": "1:5"})), Some(Ok(MetaCall::More("1:5".to_owned()))));
        assert_eq!(
            read("find_tools", json!({"query": "x", "limit": 99})),
            Some(Ok(MetaCall::Find { query: "x".to_owned(), limit: 20 }))
        );
        assert_eq!(read("read_file", json!({"path": "user.md"})), None);
    }

    #[test]
    fn mistakes_are_said_as_those_of_actions() {
        let check = |name: &str, arguments: Value, message: &str, hint: &str| {
            let failure = read(name, arguments).unwrap().unwrap_err();
            assert_eq!((failure.code, failure.message.as_str()), (Code::InvalidAction, message));
            assert_eq!(failure.hint.as_deref(), Some(hint), "{message}");
        };
        check(
            "find_tools",
            json!({"querry": "x"}),
            "action 1, `find_tools`: missing `query`",
            "`querry` is called `query`",
        );
        check(
            "describe_tool",
            json!({"name": 7}),
            "action 1, `describe_tool`: `name` has to be a text, not `7`",
            "The tool, as find_tools names it.",
        );
        let example = format!("send for example {}", META_TOOLS[2].example);
        check("call_tool", json!({}), "action 1, `call_tool`: missing `name`", &example);
        check(
            "call_tool",
            json!({"name": "a__b", "arguments": "x"}),
            "action 1, `call_tool`: `arguments` has to be an object",
            &example,
        );
        check(
            "call_tool",
            json!({"cursor": "1:5", "arguments": {"a": 1}}),
            "action 1, `call_tool`: a `cursor` stands alone",
            &example,
        );
        check(
            "call_tool",
            json!({"name": "a__b", "day": 1}),
            "action 1, `call_tool`: unknown argument `day`",
            "it takes `name`, `arguments`, `cursor`",
        );
    }

    #[test]
    fn the_schemas_are_small_and_take_an_object() {
        let schemas: Vec<Value> = META_TOOLS.iter().map(meta_schema).collect();
        assert_eq!(schemas[2]["properties"]["arguments"]["type"], "object");
        assert!(schemas[2]["properties"].get("has_explicit_permission").is_none());
        assert!(json!(schemas).to_string().len() < 1_000);
    }

    #[test]
    fn a_tool_is_told_in_a_line() {
        let schema = json!({"type": "object", "properties": {"day": {}, "limit": {}}, "required": ["day"]});
        let tool = script::tool("calendar", "list_events", "Lists\n the\tevents. \u{1b}[31mÄ", &schema).unwrap();
        assert_eq!(tool.signature(), "calendar__list_events(day, [limit])");
        assert_eq!(tool.brief(160), "Lists the events. [31mÄ");
        assert_eq!(tool.brief(14), "Lists the e…");
        assert_eq!(tool.described()["inputSchema"], schema);
        assert_eq!(tool.listed()["name"], "calendar__list_events");
    }
}

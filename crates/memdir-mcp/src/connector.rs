//! `search` and `fetch`: two tools in the shape that ChatGPT reads from a connector.
//!
//! Owns that shape and nothing else: what is found and read comes of `search_files` and `read_file`, under the same grant.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::address::address;
use memdir_core::path::MemoryPath;
use memdir_core::report::{self, Report};
use memdir_engine::Engine;
use memdir_plan::NoteNames;

/// How many notes one search gives.
const MOST_HITS: u32 = 10;

/// A tool, and the action that does its work.
pub(super) struct ConnectorTool {
    /// Its name.
    pub(super) name: &'static str,
    /// The action.
    pub(super) action: &'static str,
    /// Its one argument.
    argument: &'static str,
    title: &'static str,
    words: &'static str,
    argument_words: &'static str,
}

/// Both, in the order in which they are listed.
pub(super) const TOOLS: &[ConnectorTool] = &[
    ConnectorTool {
        name: "search",
        action: "search_files",
        argument: "query",
        title: "Search the memory",
        words: "Searches the user's long-term memory for notes, the best first. Answers results with id, title and url; \
                fetch gives the text of one.",
        argument_words: "What to look for, in plain words.",
    },
    ConnectorTool {
        name: "fetch",
        action: "read_file",
        argument: "id",
        title: "Read a note",
        words: "Reads a note of the user's long-term memory. Answers id, title, text, url and metadata.",
        argument_words: "The id of a result of search, such as user.md, which is about the user.",
    },
];

/// The tool of this name.
pub(super) fn tool(name: &str) -> Option<&'static ConnectorTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl ConnectorTool {
    /// What `tools/list` says of it.
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name, "title": self.title, "description": self.words,
            "inputSchema": {
                "type": "object",
                "properties": {self.argument: {"type": "string", "description": self.argument_words}},
                "required": [self.argument],
            },
            "annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false},
        })
    }

    /// The arguments of its action; what is wrong with its own, in words for the model.
    pub(super) fn arguments(&self, sent: &JsonObject) -> Result<JsonObject, String> {
        let text = sent.get(self.argument).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| format!("`{}` takes `{}`, a text", self.name, self.argument))?;
        Ok(match self.action {
            "search_files" => {
                Map::from_iter([("query".to_owned(), text.into()), ("limit".to_owned(), MOST_HITS.into())])
            }
            _ => Map::from_iter([("path".to_owned(), text.into())]),
        })
    }

    /// What the client is answered where the action was done; `None` where it was not.
    pub(super) fn answer(&self, engine: &Engine, report: &Report) -> Option<Value> {
        let outcome = report.actions.first()?;
        match outcome.result.as_ref().ok()? {
            report::Value::Search(search) => {
                let results = search.hits.iter().map(|hit| {
                    let text = engine.text_of(&hit.path).unwrap_or_default();
                    json!({"id": hit.path, "title": title(&hit.path, &text), "url": address(&hit.path)})
                });
                Some(json!({"results": results.collect::<Vec<_>>()}))
            }
            report::Value::Text(text) => {
                let path = MemoryPath::parse(outcome.path.as_ref()?).ok()?;
                let (title, url) = (title(&path, text), address(&path));
                Some(json!({"id": path, "title": title, "text": text, "url": url, "metadata": {"path": path}}))
            }
            _ => None,
        }
    }
}

/// What a note that says this is called.
fn title(path: &MemoryPath, text: &str) -> String {
    NoteNames::of(path, text).names.into_iter().next().unwrap_or_default()
}

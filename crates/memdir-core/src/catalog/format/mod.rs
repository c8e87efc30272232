//! The definitions of the actions as tools, in the shapes of those who take them.
//!
//! Owns what is said to OpenAI, Anthropic, Gemini and clients of MCP about each [`Row`]; all of it is read from the row.
//! What a schema of a provider cannot say, [`super::decode`] still checks.

use serde_json::{Map, Value, json};

use super::{Field, PERMISSION, Row, Takes};
use crate::action::Access;

pub mod mcp;

/// Who takes the definitions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Chat Completions of OpenAI, and the many servers that speak it.
    OpenAi,
    /// The same, where the model can send nothing that the schema does not have.
    OpenAiStrict,
    /// Responses of OpenAI.
    OpenAiResponses,
    /// The same, where the model can send nothing that the schema does not have.
    OpenAiResponsesStrict,
    /// Messages of Anthropic.
    Anthropic,
    /// `generateContent` of Gemini.
    Gemini,
    /// `tools/list` of MCP.
    Mcp,
}

/// The part of a request (for MCP, of an answer) that defines some actions as tools.
///
/// Names, order and words are those of the rows. `ask_first` tells the model to ask before it stores something personal.
///
/// # Examples
///
/// ```
/// use memdir_core::catalog::{ROWS, format::{Format, definitions}};
///
/// let tools = definitions(Format::Anthropic, ROWS.iter(), false);
/// assert_eq!(tools["tools"][0]["name"], "read_file");
/// assert_eq!(tools["tools"][0]["input_schema"]["required"][0], "path");
/// ```
#[must_use]
pub fn definitions<'r>(format: Format, rows: impl Iterator<Item = &'r Row>, ask_first: bool) -> Value {
    let tools: Vec<Value> = rows.map(|row| tool(format, row, ask_first)).collect();
    match format {
        // Strict schemas hold only for calls that come one at a time.
        Format::OpenAiStrict | Format::OpenAiResponsesStrict => {
            json!({"tools": tools, "parallel_tool_calls": false})
        }
        Format::Gemini => json!({"tools": [{"functionDeclarations": tools}]}),
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic | Format::Mcp => json!({ "tools": tools }),
    }
}

fn tool(format: Format, row: &Row, ask_first: bool) -> Value {
    let name = row.name;
    let words = format!("{} Answers {}.", row.words(ask_first), row.returns);
    match format {
        Format::OpenAi => json!({
            "type": "function",
            "function": {"name": name, "description": words, "parameters": row.schema()},
        }),
        Format::OpenAiStrict => json!({
            "type": "function",
            "function": {"name": name, "description": words, "parameters": strict(row), "strict": true},
        }),
        // Left out, `strict` would be true here.
        Format::OpenAiResponses => json!({
            "type": "function", "name": name, "description": words, "parameters": row.schema(), "strict": false,
        }),
        Format::OpenAiResponsesStrict => json!({
            "type": "function", "name": name, "description": words, "parameters": strict(row), "strict": true,
        }),
        Format::Anthropic => json!({"name": name, "description": words, "input_schema": row.schema()}),
        Format::Gemini => json!({"name": name, "description": words, "parameters": open_api(row)}),
        Format::Mcp => mcp::tool(row, ask_first),
    }
}

/// The arguments of a row, and whether each has to be there.
fn arguments(row: &Row) -> impl Iterator<Item = Field> {
    let fields = row.fields.iter().map(|field| Field { ..*field });
    fields.chain((row.access > Access::Read).then_some(Field {
        name: PERMISSION,
        takes: Takes::Flag,
        required: false,
        words: super::PERMISSION_WORDS,
    }))
}

/// The schema as OpenAI takes it where it is strict: no argument may be left out, so one that could be is `null`.
///
/// Bounds and patterns are left to [`super::decode`]: some models with strict schemas refuse the keywords.
fn strict(row: &Row) -> Value {
    let mut properties = Map::new();
    for field in arguments(row) {
        let kind = match field.takes {
            Takes::Path | Takes::Folder | Takes::Text | Takes::FullText | Takes::Digest | Takes::OneOf(_) => "string",
            Takes::Number(_) => "integer",
            Takes::Flag => "boolean",
            Takes::Texts => "array",
        };
        let mut schema = Map::new();
        schema.insert("type".to_owned(), if field.required { json!(kind) } else { json!([kind, "null"]) });
        if field.takes == Takes::Texts {
            schema.insert("items".to_owned(), json!({"type": "string"}));
        }
        if let Takes::OneOf(words) = field.takes {
            let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            words.extend((!field.required).then_some(Value::Null));
            schema.insert("enum".to_owned(), Value::Array(words));
        }
        let left_out = if field.required { "" } else { " null: left out." };
        schema.insert("description".to_owned(), json!(format!("{}{left_out}", field.words)));
        properties.insert(field.name.to_owned(), Value::Object(schema));
    }
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "required": required, "properties": &properties, "additionalProperties": false})
}

/// The schema in the subset of OpenAPI that every version of the interface of Gemini takes: it has no
/// `additionalProperties` and no `const`, and its types are the names of an enum. The newer `parametersJsonSchema`
/// is not known to all versions and is ignored or refused by the others, and nothing here needs it.
fn open_api(row: &Row) -> Value {
    let mut properties = Map::new();
    for field in arguments(row) {
        let mut schema = match field.takes {
            Takes::Path | Takes::Folder | Takes::Text | Takes::FullText | Takes::Digest => json!({"type": "STRING"}),
            Takes::Number(least) => json!({"type": "INTEGER", "minimum": least}),
            Takes::Flag => json!({"type": "BOOLEAN"}),
            Takes::Texts => json!({"type": "ARRAY", "items": {"type": "STRING"}}),
            Takes::OneOf(words) => json!({"type": "STRING", "enum": words}),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(field.words));
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<&str> = row.fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = json!({"type": "OBJECT", "properties": properties});
    // An empty list is refused.
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

#[cfg(test)]
mod tests;

//! What a model is told of a result, and no more at once than it can take: the rest is kept, and read on by a cursor.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use memdir_core::report::{Code, Failure};
use memdir_core::text::is_unseen;

/// So many results are kept; the oldest go first.
const MOST_KEPT: usize = 16;
/// So many bytes are kept, of all results together and so of one: what a tool says after that is cut off.
pub const MOST_KEPT_BYTES: usize = 4 << 20;
/// The least of a result that is shown at once.
const LEAST: usize = 256;

/// What is told of a result at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The result, or a part of it as a text.
    pub value: Value,
    /// Where it goes on; `None` where it was told to its end.
    pub cursor: Option<String>,
    /// How many bytes all of it has, where only a part is told. Of more than [`MOST_KEPT_BYTES`] the rest is lost, and the last part says so.
    pub total: Option<usize>,
}

/// The results of a conversation that were longer than what is told at once, in memory and no longer than it lasts.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    results: VecDeque<KeptResult>,
    /// The number of the last one.
    last: u64,
}

#[derive(Clone, Debug)]
struct KeptResult {
    number: u64,
    /// Who said it.
    tool: String,
    text: String,
    /// How many bytes the tool said.
    total: usize,
}

impl Kept {
    /// The beginning of what a tool answered, in at most `most` bytes; the rest is kept. A text that is cut has its part as a text,
    /// anything else a part of its JSON.
    pub fn begin(&mut self, tool: &str, value: Value, most: usize) -> Part {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
        };
        if text.len() <= most.max(LEAST) {
            return Part { value, cursor: None, total: None };
        }
        self.last += 1;
        let (total, mut text) = (text.len(), text);
        text.truncate(text.floor_char_boundary(MOST_KEPT_BYTES));
        self.results.push_back(KeptResult { number: self.last, tool: tool.to_owned(), text, total });
        while self.results.len() > MOST_KEPT
            || self.results.iter().map(|kept| kept.text.len()).sum::<usize>() > MOST_KEPT_BYTES
        {
            self.results.pop_front();
        }
        self.results
            .back()
            .map_or_else(|| Part { value: Value::Null, cursor: None, total: None }, |kept| kept.part(0, most))
    }

    /// What comes after a cursor, in at most `most` bytes, and the tool that said it.
    ///
    /// # Errors
    ///
    /// `not_found` for a cursor of which nothing is kept any more, or that none of these results has.
    pub fn more(&self, cursor: &str, most: usize) -> Result<(String, Part), Failure> {
        let parts = cursor.split_once(':').and_then(|(number, at)| Some((number.parse().ok()?, at.parse().ok()?)));
        let kept = parts.and_then(|(number, at): (u64, usize)| {
            let kept = self.results.iter().find(|kept| kept.number == number)?;
            kept.text.is_char_boundary(at).then_some((kept, at))
        });
        let Some((kept, at)) = kept else {
            let message = format!("nothing is kept at the cursor `{}`", memdir_core::catalog::shorten(cursor));
            return Err(Failure::new(Code::NotFound, message).with_hint("call the tool again"));
        };
        Ok((kept.tool.clone(), kept.part(at, most)))
    }
}

impl KeptResult {
    fn part(&self, at: usize, most: usize) -> Part {
        let rest = self.text.get(at..).unwrap_or_default();
        let end = rest.floor_char_boundary(most.max(LEAST));
        let cursor = (end < rest.len()).then(|| format!("{}:{}", self.number, at + end));
        let mut shown = rest.get(..end).unwrap_or_default().to_owned();
        if cursor.is_none() && self.text.len() < self.total {
            shown.push_str(&cut_off(self.text.len(), self.total));
        }
        Part { value: shown.into(), cursor, total: Some(self.total) }
    }
}

/// What stands where a result was cut off.
fn cut_off(kept: usize, total: usize) -> String {
    format!("\n(cut off: the tool said {total} bytes, of which the first {kept} are kept; ask it for less)")
}

/// How many bytes of a result are kept for who is told only so much; `None` where that is all of it.
#[must_use]
pub fn kept_of(result: &Map<String, Value>) -> Option<usize> {
    let said = match told(result) {
        Value::String(text) => text,
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            value.to_string()
        }
    };
    (said.len() > MOST_KEPT_BYTES).then(|| said.floor_char_boundary(MOST_KEPT_BYTES))
}

/// All texts in a value, one to a line: its strings, its keys and numbers, and those in a string that is JSON itself. So its words are
/// those that a model reads, without the escapes of JSON and characters that nobody sees.
#[must_use]
pub fn texts(value: &Value) -> String {
    let mut found = String::new();
    add_texts(value, &mut found);
    found
}

fn add_texts(value: &Value, found: &mut String) {
    match value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => add_texts(&inner, found),
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => add_line(text, found),
        },
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, found)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            add_line(key, found);
            add_texts(value, found);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => add_line(&value.to_string(), found),
    }
}

fn add_line(text: &str, found: &mut String) {
    found.extend(text.chars().filter(|one| one.is_whitespace() || !is_unseen(*one)).chain(['\n']));
}

/// What a model that reads text is told of a result: its texts, or else all of it. What it says twice, as a text and as
/// `structuredContent`, is told once, and as a text where that is all; of pictures and sounds only what they are and how long.
#[must_use]
pub fn told(result: &Map<String, Value>) -> Value {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let structured = result
        .get("structuredContent")
        .filter(|value| !value.is_null() && !blocks.iter().any(|block| wraps(value, block)));
    let blocks: Vec<Value> =
        blocks.iter().filter(|block| structured.is_none_or(|value| !repeats(block, value))).map(block).collect();
    let texts: Option<Vec<&str>> = blocks.iter().map(text).collect();
    let said = match texts {
        Some(texts) => Value::String(texts.join("\n")),
        None => Value::Array(blocks.clone()),
    };
    match structured {
        None => said,
        Some(structured) if blocks.is_empty() => structured.clone(),
        Some(structured) => json!({"content": said, "structuredContent": structured}),
    }
}

fn text(block: &Value) -> Option<&str> {
    block.get("text").filter(|_| block.get("type").is_some_and(|kind| kind == "text"))?.as_str()
}

/// Whether a text says what the structured result says: it is its JSON, or one of its members.
fn repeats(block: &Value, structured: &Value) -> bool {
    let Some(text) = text(block) else { return false };
    let is_member = || structured.as_object().is_some_and(|members| members.values().any(|value| value == text));
    is_member() || serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured)
}

/// Whether a structured result is nothing but a name around a text, which reads better as it is.
fn wraps(structured: &Value, block: &Value) -> bool {
    let members = structured.as_object().filter(|members| members.len() == 1);
    members.is_some_and(|members| {
        members.values().all(|value| value.as_str().is_some_and(|value| text(block) == Some(value)))
    })
}

/// A block without what only a program can use.
fn block(block: &Value) -> Value {
    let mut block = block.clone();
    let base64 = |block: &mut Map<String, Value>, key: &str| {
        if let Some(Value::String(data)) = block.get(key) {
            let bytes = data.len() / 4 * 3;
            block.insert(key.to_owned(), format!("({bytes} bytes left out)").into());
        }
    };
    if let Some(block) = block.as_object_mut() {
        base64(block, "data");
        if let Some(resource) = block.get_mut("resource").and_then(Value::as_object_mut) {
            base64(resource, "blob");
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(result: Value) -> Value {
        told(result.as_object().unwrap())
    }

    #[test]
    fn texts_are_told_as_they_are_and_once() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(said(json!({"content": [text("a"), text("b")]})), json!("a\nb"));
        assert_eq!(said(json!({"content": []})), json!(""));
        let weather = json!({"degrees": 7});
        assert_eq!(said(json!({"content": [text("{\"degrees\": 7}")], "structuredContent": weather})), weather);
        let wrapped = json!({"content": [text("a \"b\"\nc")], "structuredContent": {"content": "a \"b\"\nc"}});
        assert_eq!(said(wrapped), json!("a \"b\"\nc"), "nothing but a name around a text");
        let more = json!({"content": "long", "lines": 1});
        assert_eq!(said(json!({"content": [text("long")], "structuredContent": more})), more);
        let both = said(json!({"content": [text("It is cold.")], "structuredContent": weather}));
        assert_eq!(both, json!({"content": "It is cold.", "structuredContent": weather}));
        let picture = json!({"type": "image", "mimeType": "image/png", "data": "AAAA".repeat(100)});
        let shown = said(json!({"content": [text("see"), picture]}));
        assert_eq!(shown[1], json!({"type": "image", "mimeType": "image/png", "data": "(300 bytes left out)"}));
    }

    #[test]
    fn what_is_short_stays_as_it_is() {
        let mut kept = Kept::default();
        let value = json!({"degrees": 7});
        assert_eq!(kept.begin("a__b", value.clone(), 1_000), Part { value, cursor: None, total: None });
        assert_eq!(kept.results.len(), 0);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let mut kept = Kept::default();
        let cursors: Vec<String> =
            (0..100).map(|_| kept.begin("a__b", "x".repeat(1 << 20).into(), 300).cursor.unwrap()).collect();
        assert!(kept.results.iter().map(|kept| kept.text.len()).sum::<usize>() <= MOST_KEPT_BYTES);
        assert_eq!(kept.more(&cursors[0], 300).unwrap_err().code, Code::NotFound);
        assert!(kept.more(&cursors[99], 300).is_ok());
        for cursor in ["", "1", "101:2:3", "-1:5", "101:99999999", "x:y"] {
            assert_eq!(kept.more(cursor, 300).unwrap_err().code, Code::NotFound, "{cursor}");
        }
    }

    #[test]
    fn what_was_cut_off_is_said_at_its_end() {
        let mut kept = Kept::default();
        let (all, step) = (9 << 20, 1 << 20);
        let mut part = kept.begin("a__b", "x".repeat(all).into(), step);
        let mut read = 0;
        while let Some(cursor) = part.cursor {
            assert_eq!(part.total, Some(all));
            read += part.value.as_str().unwrap().len();
            part = kept.more(&cursor, step).unwrap().1;
        }
        let last = part.value.as_str().unwrap();
        let (own, said) = last.split_once('\n').unwrap();
        assert_eq!(read + own.len(), MOST_KEPT_BYTES);
        assert_eq!(
            said,
            "(cut off: the tool said 9437184 bytes, of which the first 4194304 are kept; ask it for less)"
        );
        let result = |bytes: usize| {
            let text = json!({"type": "text", "text": "x".repeat(bytes)});
            kept_of(json!({"content": [text]}).as_object().unwrap())
        };
        assert_eq!((result(MOST_KEPT_BYTES), result(all)), (None, Some(MOST_KEPT_BYTES)));
    }

    #[test]
    fn the_texts_of_a_value_are_without_escapes() {
        let value = json!({"a\u{200b}b": ["one\ntwo", 7.5, true], "c": "{\"d\": \"three\\nf\\u00fcnf\"}"});
        let lines = texts(&value);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines, ["ab", "one", "two", "7.5", "true", "c", "d", "three", "fünf"]);
        assert_eq!(texts(&json!("b\u{200b}o\u{200b}a\u{200b}t")), "boat\n");
    }

    proptest! {
        #[test]
        fn the_parts_are_the_whole(text in "\\PC{0,2000}", most in 0_usize..600) {
            let mut kept = Kept::default();
            let mut part = kept.begin("a__b", text.as_str().into(), most);
            let mut whole = part.value.as_str().unwrap().to_owned();
            while let Some(cursor) = part.cursor.take() {
                let (tool, next) = kept.more(&cursor, most).unwrap();
                prop_assert!(next.value.as_str().unwrap().len() <= most.max(LEAST));
                prop_assert_eq!(tool, "a__b");
                whole.push_str(next.value.as_str().unwrap());
                part = next;
            }
            prop_assert_eq!(whole, text);
        }
    }
}

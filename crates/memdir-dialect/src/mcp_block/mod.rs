//! `<mcp:tool>` blocks in a text, each answered in its place.
//!
//! A block is `name: ` with the name of an action and `parameters: ` with a JSON object, or with `key: value` lines. The
//! answer is the text as it came with a `<mcp:tool_result>` behind each block: the entry of `exec --json` without its
//! `index`. What stands in a block and cannot be read is answered there and does not stop the blocks after it.

use super::call::Entries;
use super::repair::Repair;
use super::tag::json_without_tags;
use super::tagged::Tagged;
use super::turn::What;
use super::{Frame as Frames, Parsed};
use memdir_core::report::{Outcome, Report};

mod pairs;
mod read;

pub(super) use read::read;

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {
    text: String,
    /// Where each block ends, in the order of the calls.
    ends: Vec<End>,
}

/// Where a block ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct End {
    at: usize,
    /// Whether it repeats the block before and so is no call.
    is_echo: bool,
}

pub(super) fn parse(text: &str, is_lossy: bool, tagged: Tagged) -> Parsed {
    let Tagged { blocks, reply, repairs, .. } = tagged;
    let mut entries = Entries::new(text, is_lossy);
    let mut ends = Vec::with_capacity(blocks.len());
    for found in blocks {
        // A model that repeats itself without end is told once.
        let is_told = found.is_echo && ends.last().is_some_and(|end: &End| end.is_echo);
        if !is_told {
            ends.push(End { at: found.end, is_echo: found.is_echo });
        }
        if found.is_echo {
            entries.echo();
        } else if let What::Tool(block) = found.what {
            // One item or one break, so one entry.
            entries.add(block, found.start, found.is_after_doubt);
        }
    }
    let mut issues: Vec<_> = repairs.issues().collect();
    issues.append(&mut entries.issues);
    let frame = Frames::McpBlock(Frame { text: text.to_owned(), ends });
    Parsed { frame, entries: entries.entries, script: None, reply, issues }
}

pub(super) fn encode(frame: &Frame, report: &Report) -> String {
    let mut answer = String::with_capacity(frame.text.len() + 256 * frame.ends.len());
    let mut results: Vec<String> = report.actions.iter().map(entry).collect();
    if let Some(error) = report.error.as_ref().filter(|_| results.is_empty()) {
        results.push(result(&serde_json::json!({"ok": false, "error": error})));
    }
    let echo = result(&serde_json::json!({"issue": Repair::EchoedBlock.words()}));
    let mut results = results.iter();
    let mut copied = 0;
    for end in &frame.ends {
        let Some(result) = (if end.is_echo { Some(&echo) } else { results.next() }) else { break };
        answer.push_str(frame.text.get(copied..end.at).unwrap_or_default());
        answer.push_str(result);
        copied = end.at;
        let rest = frame.text.get(copied..).unwrap_or_default();
        if !rest.is_empty() && !rest.starts_with(['\n', '\r']) {
            answer.push('\n');
        }
    }
    answer.push_str(frame.text.get(copied..).unwrap_or_default());
    answer
}

fn entry(outcome: &Outcome) -> String {
    let mut entry = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(entry) = entry.as_object_mut() {
        entry.shift_remove("index");
    }
    result(&entry)
}

/// What stands behind a block. The text of a note can neither end it nor open another block.
fn result(entry: &serde_json::Value) -> String {
    let json = serde_json::to_string_pretty(entry).unwrap_or_else(|_| "null".to_owned());
    format!("\n\n<mcp:tool_result>\n{}\n</mcp:tool_result>", json_without_tags(&json))
}

#[cfg(test)]
mod tests;

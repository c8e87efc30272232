//! Which dialect a text is in, by what it holds.
//!
//! Whole JSON is looked at first, then the tags of a turn: the first kind of block that holds calls wins.

use super::call::Names;
use super::repair::Repair;
use super::tag::Kind;
use super::tagged::Tagged;
use super::turn::What;
use super::{Dialect, Entry, Frame, Parsed, Unread, mcp_block, memory_tool, native, python, quote, tagged, tool_call};
use crate::report::{Code, Failure, Variables};

/// Reads a text in `dialect`, or in the one in which it is written.
pub(super) fn parse(text: &str, is_lossy: bool, dialect: Option<Dialect>, variables: &Variables) -> Parsed {
    let (kind, names) = match dialect {
        None => match memory_tool::parse(text, is_lossy).or_else(|| tool_call::parse(text, is_lossy)) {
            Some(parsed) => return parsed,
            None => (None, None),
        },
        Some(Dialect::ToolCall) => {
            let nothing = || nothing(Frame::ToolCall(tool_call::Frame::default()));
            return tool_call::parse(text, is_lossy).unwrap_or_else(nothing);
        }
        Some(Dialect::MemoryTool) => {
            let nothing = || nothing(Frame::MemoryTool(memory_tool::Frame::default()));
            return memory_tool::parse(text, is_lossy).unwrap_or_else(nothing);
        }
        Some(Dialect::Native) => (Some(Kind::Actions), Some(Names::Native)),
        Some(Dialect::Lines) => (Some(Kind::Actions), Some(Names::Lines)),
        Some(Dialect::McpBlock) => (Some(Kind::Tool), None),
        Some(Dialect::Python) => (Some(Kind::Python), None),
    };
    let tagged = tagged::read(text, is_lossy, kind);
    match tagged.kind {
        Kind::Tool => mcp_block::parse(text, is_lossy, tagged),
        Kind::Python => python(text, is_lossy, tagged, variables),
        Kind::Actions | Kind::Think | Kind::Reply | Kind::Result | Kind::ToolResult => {
            native::parse(text, is_lossy, tagged, names)
        }
    }
}

/// Reads the first block of code; mem-agent knows no other in one turn.
fn python(text: &str, is_lossy: bool, tagged: Tagged, variables: &Variables) -> Parsed {
    let Tagged { blocks, reply, mut repairs, .. } = tagged;
    if blocks.len() > 1 {
        repairs.add(Repair::SecondBlock);
    }
    let read = blocks.first().map(|block| {
        let What::Python(Some(end)) = block.what else { return Err(cut_off()) };
        let code = text.get(block.start..end).unwrap_or_default();
        let (start, code) = quote::unfenced(code).map_or((block.start, code), |inside| {
            repairs.add(Repair::Fence);
            (block.start + inside.start, code.get(inside).unwrap_or_default())
        });
        if is_lossy && code.contains(char::REPLACEMENT_CHARACTER) {
            Err(damaged())
        } else {
            python::read(code, start, variables)
        }
    });
    let (script, failure) = match read {
        None => (None, None),
        Some(Ok(script)) => (Some(script), None),
        Some(Err(failure)) => (None, Some(failure)),
    };
    let unread =
        failure.map(|failure| Entry::Unread(Unread { index: 1, action: None, path: None, label: None, failure }));
    let (frame, issues) = (Frame::Python(python::Frame::default()), repairs.issues().collect());
    Parsed { frame, entries: unread.into_iter().collect(), script, reply, issues }
}

fn cut_off() -> Failure {
    Failure::new(Code::InvalidAction, "the text was cut off in this block, so nothing of it was done")
        .with_hint("send the whole block again, up to `</python>`")
}

fn damaged() -> Failure {
    Failure::new(
        Code::InvalidAction,
        "the block was damaged on the way: it holds bytes that are no UTF-8, so nothing of it was done",
    )
    .with_hint("send it again as UTF-8")
}

fn nothing(frame: Frame) -> Parsed {
    Parsed { frame, entries: Vec::new(), script: None, reply: None, issues: Vec::new() }
}

//! Which dialect a text is in, by what it holds.
//!
//! Whole JSON is looked at first, then the tags of a turn: the first kind of block that holds calls wins.

use super::call::Names;
use super::tag::Kind;
use super::{Dialect, Frame, Parsed, mcp_block, memory_tool, native, python, tagged, tool_call};
use memdir_core::report::Variables;

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
        Kind::Python => python::parse(text, is_lossy, tagged, variables),
        Kind::Actions | Kind::Think | Kind::Reply | Kind::Result | Kind::ToolResult => {
            native::parse(text, is_lossy, tagged, names)
        }
    }
}

fn nothing(frame: Frame) -> Parsed {
    Parsed { frame, entries: Vec::new(), script: None, reply: None, issues: Vec::new() }
}

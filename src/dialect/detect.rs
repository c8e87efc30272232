//! Which dialect a text is in, by what it holds.

use super::{Dialect, Frame, Parsed, lines, mcp_block, memory_tool, native, python, tool_call};
use crate::report::Variables;

/// Reads a text in `dialect`, or in the first one that it is written in.
pub(super) fn parse(text: &str, is_lossy: bool, dialect: Option<Dialect>, variables: &Variables) -> Parsed {
    let nothing = |frame: Frame| Parsed { frame, entries: Vec::new(), script: None, reply: None, issues: Vec::new() };
    match dialect {
        None => memory_tool::parse(text, is_lossy)
            .or_else(|| tool_call::parse(text, is_lossy))
            .or_else(|| python::parse(text, is_lossy, variables))
            .or_else(|| mcp_block::parse(text, is_lossy))
            .or_else(|| lines::parse(text, is_lossy))
            .unwrap_or_else(|| native::parse(text, is_lossy)),
        Some(Dialect::Native) => native::parse(text, is_lossy),
        Some(Dialect::Lines) => lines::parse(text, is_lossy).unwrap_or_else(|| nothing(Frame::Lines)),
        Some(Dialect::McpBlock) => {
            mcp_block::parse(text, is_lossy).unwrap_or_else(|| nothing(Frame::McpBlock(mcp_block::Frame::default())))
        }
        Some(Dialect::Python) => {
            python::parse(text, is_lossy, variables).unwrap_or_else(|| nothing(Frame::Python(python::Frame::default())))
        }
        Some(Dialect::ToolCall) => {
            tool_call::parse(text, is_lossy).unwrap_or_else(|| nothing(Frame::ToolCall(tool_call::Frame::default())))
        }
        Some(Dialect::MemoryTool) => memory_tool::parse(text, is_lossy)
            .unwrap_or_else(|| nothing(Frame::MemoryTool(memory_tool::Frame::default()))),
    }
}

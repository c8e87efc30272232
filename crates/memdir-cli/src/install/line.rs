//! The line that tells coding agents of the memory, in a file of instructions such as `AGENTS.md`.

use super::edit::{Trouble, line_end};

/// It names tools of the set `compact`.
const LINE: &str = "The MCP server `memdir` is the user's long-term memory: look there (`get_context`) before you ask the user \
                    for something that it may hold, and keep there (`remember`) what the user says that should last.";

pub(super) fn has(text: &str) -> bool {
    text.lines().any(|line| line.trim() == LINE)
}

/// Adds the line as a paragraph at the end; a last line that is not ended is left so.
pub(super) fn add(text: &str) -> String {
    let end = line_end(text);
    match text {
        "" => format!("{LINE}{end}"),
        text if text.ends_with('\n') => format!("{text}{end}{LINE}{end}"),
        text => format!("{text}{end}{end}{LINE}"),
    }
}

/// Takes the line out, and the empty line before it.
pub(super) fn cut(text: &str) -> Result<String, Trouble> {
    let at = text.find(LINE).ok_or(Trouble::Form("it"))?;
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + LINE.len()..).unwrap_or_default());
    let end = if after.is_empty() { "" } else { line_end(text) };
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    let gap = if end.is_empty() { line_end(text).repeat(2) } else { line_end(text).to_owned() };
    let before = before.strip_suffix(gap.as_str()).unwrap_or(before);
    Ok(format!("{before}{after}"))
}

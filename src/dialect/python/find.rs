//! Where the block of a turn stands, and its reply.

use memchr::memmem;

use super::{invalid, issue};
use crate::dialect::repair::Repair;
use crate::report::{Failure, Issue};

/// What a turn holds.
pub(super) struct Found<'t> {
    /// Its first block, or why that cannot be taken.
    pub(super) code: Result<Code<'t>, Failure>,
    pub(super) reply: Option<String>,
    pub(super) issues: Vec<Issue>,
}

/// The text of a block.
pub(super) struct Code<'t> {
    pub(super) text: &'t str,
    /// Where it starts in the turn.
    pub(super) start: usize,
}

const OPEN: &str = "<python>";
const CLOSE: &str = "</python>";

/// Finds the first block outside of thoughts; `None` where there is none.
pub(super) fn find(text: &str) -> Option<Found<'_>> {
    let mut issues = Vec::new();
    let start = after_thoughts(text, &mut issues);
    let open = open(text, start)?;
    let inside = open + OPEN.len();
    let Some(close) = at(text, CLOSE, inside) else {
        let failure = invalid("the text was cut off in the block, so nothing of it was done")
            .with_hint("send the whole block again and end it with `</python>`");
        return Some(Found { code: Err(failure), reply: None, issues });
    };
    let after = close + CLOSE.len();
    if at(text, OPEN, after).is_some() {
        issues.push(issue("second_block", "only the first block of `<python>` was read"));
    }
    let reply = reply(text, start, open, after, &mut issues);
    let code = strip(text.get(inside..close).unwrap_or_default(), inside, &mut issues);
    Some(Found { code: Ok(code), reply, issues })
}

/// Where a tag starts from `from` on.
fn at(text: &str, tag: &str, from: usize) -> Option<usize> {
    memmem::find(text.as_bytes().get(from..)?, tag.as_bytes()).map(|offset| from + offset)
}

/// Where the first block starts that is neither said to the person nor part of another dialect.
fn open(text: &str, start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let open = at(text, OPEN, from)?;
        let before = text.get(from..open)?;
        if before.contains("<actions") {
            return None;
        }
        match at(text, "<reply>", from).filter(|reply| *reply < open) {
            Some(reply) => from = at(text, "</reply>", reply)?,
            None => return Some(open),
        }
    }
}

/// Where the thoughts end, with which a turn starts.
fn after_thoughts(text: &str, issues: &mut Vec<Issue>) -> usize {
    let (mut from, mut is_open) = (0, false);
    let mut block = at(text, OPEN, 0).unwrap_or(text.len());
    loop {
        if block < from {
            block = at(text, OPEN, from).unwrap_or(text.len());
        }
        let (think, end) = (at(text, "<think>", from), at(text, "</think>", from));
        match (think, end) {
            (Some(think), _) if think < block && end.is_none_or(|end| think < end) => {
                let Some(end) = at(text, "</think>", think) else {
                    issues.push(Repair::UnclosedThink.issue(None));
                    return text.len();
                };
                from = end + "</think>".len();
                is_open = true;
            }
            // The tag that opens it may stand in the prompt.
            (_, Some(end)) if !is_open && end < block => {
                issues.push(Repair::StrayThink.issue(None));
                from = end + "</think>".len();
                is_open = true;
            }
            _ => return from,
        }
    }
}

/// The reply, before the block or behind it.
fn reply(text: &str, start: usize, open: usize, after: usize, issues: &mut Vec<Issue>) -> Option<String> {
    let (before, behind) = (text.get(start..open)?, text.get(after..)?);
    let part = [behind, before].into_iter().find_map(|part| part.split_once("<reply>").map(|(_, said)| said))?;
    let said = match part.split_once("</reply>") {
        Some((said, _)) => said,
        None => {
            issues.push(Repair::UnclosedReply.issue(None));
            part
        }
    };
    Some(said.trim()).filter(|said| !said.is_empty()).map(str::to_owned)
}

/// Takes a fence of Markdown off, the line end behind the tag, and the indent of a single line.
fn strip<'t>(code: &'t str, start: usize, issues: &mut Vec<Issue>) -> Code<'t> {
    let whole = Code { text: code, start };
    let fenced = code.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let code = match fenced.and_then(|rest| rest.split_once('\n')) {
        Some((language, fenced)) if matches!(language.trim(), "" | "python" | "py" | "python3") => {
            issues.push(Repair::Fence.issue(None));
            fenced
        }
        _ => code,
    };
    let code = match code.split_once('\n') {
        Some((first, rest)) if first.trim().is_empty() => rest,
        _ => code,
    };
    let code = if code.trim().contains('\n') { code } else { code.trim() };
    let offset = code.as_ptr().addr() - whole.text.as_ptr().addr();
    Code { text: code, start: start + offset }
}

//! A turn of mem-agent: its one block of code, taken out of its tags and its fence, and its reply.
//!
//! Owns which code is handed to [`block`], and what is refused before that.

use super::{Script, block, refused};
use crate::repair::{Repair, Repairs};
use crate::tagged::Tagged;
use crate::turn::{Found, What};
use crate::{Entry, Frame, Parsed};
use memdir_core::report::{Code, Failure, Issue, Variables};

/// Reads the first block of a turn; mem-agent knows no other.
pub(crate) fn parse(text: &str, is_lossy: bool, tagged: Tagged, variables: &Variables) -> Parsed {
    let Tagged { blocks, reply, mut repairs, .. } = tagged;
    if blocks.len() > 1 {
        repairs.add(Repair::SecondBlock);
    }
    let read = blocks.first().map(|found| code(text, is_lossy, found, &mut repairs, variables));
    let inside = |found: &Found| match found.what {
        What::Python(Some(end)) => text.get(found.start..end).map(str::trim),
        What::Python(None) | What::Actions(_) | What::Tool(_) => None,
    };
    // One that says the same as the first is an echo.
    let has_more = blocks.iter().skip(1).any(|found| Some(inside(found)) != blocks.first().map(inside));
    let mut issues: Vec<_> = repairs.issues().collect();
    let (script, failure) = match read {
        None => (None, None),
        Some(Ok((mut script, mut noticed))) => {
            issues.append(&mut noticed);
            script.set_more(has_more);
            (Some(script), None)
        }
        Some(Err(failure)) => (None, Some(failure)),
    };
    let entries = failure.map(|failure| Entry::Unread(refused(1, failure))).into_iter().collect();
    Parsed { frame: Frame::Python, entries, script, reply, issues }
}

fn code(
    text: &str,
    is_lossy: bool,
    found: &Found,
    repairs: &mut Repairs,
    variables: &Variables,
) -> Result<(Script, Vec<Issue>), Failure> {
    if found.is_after_doubt {
        return Err(refusal(
            "the block before has no certain end, so nothing of this one was done",
            "send the block alone",
        ));
    }
    let What::Python(Some(end)) = found.what else {
        return Err(refusal(
            "the text was cut off in the block, so nothing of it was done",
            "send the whole block again, with its closing tag",
        ));
    };
    let code = strip(text.get(found.start..end).unwrap_or_default(), repairs);
    if is_lossy && code.contains(char::REPLACEMENT_CHARACTER) {
        return Err(refusal(
            "the block was damaged on the way: it holds bytes that are no UTF-8",
            "send it again as UTF-8",
        ));
    }
    // The code is a part of the text.
    let start = code.as_ptr().addr() - text.as_ptr().addr();
    block::parse(code, start, variables)
}

/// Whether code can be read to its end.
pub(crate) fn is_whole(code: &str) -> bool {
    block::parse(strip(code, &mut Repairs::default()), 0, &Variables::default()).is_ok()
}

fn refusal(message: &str, hint: &str) -> Failure {
    Failure::new(Code::InvalidAction, message).with_hint(hint)
}

/// Takes a fence of Markdown off, the line end behind the tag, and the indent of a single line.
fn strip<'t>(code: &'t str, repairs: &mut Repairs) -> &'t str {
    let fenced = code.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let code = match fenced.and_then(|rest| rest.split_once('\n')) {
        Some((language, fenced)) if matches!(language.trim(), "" | "python" | "py" | "python3") => {
            repairs.add(Repair::Fence);
            fenced
        }
        _ => code,
    };
    let code = match code.split_once('\n') {
        Some((first, rest)) if first.trim().is_empty() => rest,
        _ => code,
    };
    if code.trim().contains('\n') { code } else { code.trim() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_taken_out_of_its_fence() {
        let check = |code: &str, expected: &str, is_fenced: bool| {
            let mut repairs = Repairs::default();
            assert_eq!(strip(code, &mut repairs), expected, "{code}");
            assert_eq!(repairs.has(Repair::Fence), is_fenced, "{code}");
        };
        check("\na = 1\nb = 2\n", "a = 1\nb = 2\n", false);
        check("  a = 1 ", "a = 1", false);
        check("\n```python\na = 1\n```\n", "a = 1", true);
        check("```\na = 1\nb = 2\n```", "a = 1\nb = 2\n", true);
        check("```ruby\na\n```", "```ruby\na\n```", false);
        check("", "", false);
    }
}

//! A turn of mem-agent: its one block of code, taken out of its tags and its fence, and its reply.
//!
//! Owns which code is handed to [`read`], and what is refused before that.

use super::{Script, invalid, read, refused};
use crate::dialect::repair::{Repair, Repairs};
use crate::dialect::tagged::Tagged;
use crate::dialect::turn::{Found, What};
use crate::dialect::{Entry, Frame, Parsed};
use crate::report::{Failure, Issue, Variables};

/// Reads the first block of a turn; mem-agent knows no other.
pub(in crate::dialect) fn parse(text: &str, is_lossy: bool, tagged: Tagged, variables: &Variables) -> Parsed {
    let Tagged { blocks, reply, mut repairs, .. } = tagged;
    if blocks.len() > 1 {
        repairs.add(Repair::SecondBlock);
    }
    let read = blocks.first().map(|block| code(text, is_lossy, block, &mut repairs, variables));
    let mut issues: Vec<_> = repairs.issues().collect();
    let (script, failure) = match read {
        None => (None, None),
        Some(Ok((script, mut noticed))) => {
            issues.append(&mut noticed);
            (Some(script), None)
        }
        Some(Err(failure)) => (None, Some(failure)),
    };
    let entries = failure.map(|failure| Entry::Unread(refused(1, failure))).into_iter().collect();
    Parsed { frame: Frame::Python(super::Frame::default()), entries, script, reply, issues }
}

fn code(
    text: &str,
    is_lossy: bool,
    block: &Found,
    repairs: &mut Repairs,
    variables: &Variables,
) -> Result<(Script, Vec<Issue>), Failure> {
    if block.is_after_doubt {
        return Err(invalid("the block before has no certain end, so nothing of this one was done")
            .with_hint("send the block alone"));
    }
    let What::Python(Some(end)) = block.what else {
        return Err(invalid("the text was cut off in the block, so nothing of it was done")
            .with_hint("send the whole block again, with its closing tag"));
    };
    let code = strip(text.get(block.start..end).unwrap_or_default(), repairs);
    if is_lossy && code.contains(char::REPLACEMENT_CHARACTER) {
        return Err(invalid("the block was damaged on the way: it holds bytes that are no UTF-8")
            .with_hint("send it again as UTF-8"));
    }
    // The code is a part of the text.
    let start = code.as_ptr().addr() - text.as_ptr().addr();
    read(code, start, variables)
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

//! The `<python>` blocks of the tuned mem-agent model: read, never run.
//!
//! Owns what such a block may hold and how it is answered. A block becomes a [`Script`]: steps in a row with jumps that
//! lead forward only, so going through it ends. It makes calls like every other dialect; nothing here evaluates Python,
//! and what is no part of the few forms that are known is refused with the whole block, before anything ran.
//!
//! Results, texts of errors and the tree of `list_files` are to the letter what that model was trained to read. On
//! purpose it is different that
//!
//! * checks answer a boolean, as its prompt promises: its functions answer `"True"` and `"False"`, which are both true;
//! * `create_file` over a note that exists is an error text: there it replaces the note. A call that fails never stops
//!   the block;
//! * `get_size` of nothing is 0: there it stops the block. `update_file` with an empty `old_content` is an error text:
//!   there it writes to the top of the note;
//! * a place that matches but for line ends, trailing blanks or Unicode form is found, and reported;
//! * a link that is no path from the root is followed as everywhere else, `.md` is added without brackets too;
//! * paths, names, sizes and permission are as in every dialect; what they refuse is a text that starts with `Error: `;
//! * variables live through the conversation: there each block starts with none.

use super::repair::Repair;
use super::tagged::Tagged;
use super::turn::What;
use super::{Entry, Parsed, Unread, quote};
use crate::report::{Code, Failure, Issue, Variables};

mod answer;
mod encode;
mod expression;
mod function;
mod guard;
mod read;
mod repr;
mod run;
mod script;
mod source;
mod tree;

pub(super) use encode::encode;
pub(super) use read::read;
pub(super) use run::Run;
pub(super) use script::Script;

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {}

/// Reads the first block of a turn: mem-agent knows no other.
pub(super) fn parse(text: &str, is_lossy: bool, tagged: Tagged, variables: &Variables) -> Parsed {
    let Tagged { blocks, reply, mut repairs, .. } = tagged;
    if blocks.len() > 1 {
        repairs.add(Repair::SecondBlock);
    }
    let read = blocks.first().map(|block| {
        let What::Python(Some(end)) = block.what else { return Err(cut_off()) };
        let whole = text.get(block.start..end).unwrap_or_default();
        let (start, code) = quote::unfenced(whole).map_or((block.start, whole), |inside| {
            repairs.add(Repair::Fence);
            (block.start + inside.start, whole.get(inside).unwrap_or_default())
        });
        // The rest of the line of the tag is no line of the block.
        let first = code.split_inclusive('\n').next().filter(|first| first.ends_with('\n') && first.trim().is_empty());
        let first = first.map_or(0, str::len);
        let (start, code) = (start + first, code.get(first..).unwrap_or_default());
        // The indent of a single line means nothing.
        let lead = if code.trim().contains('\n') { 0 } else { code.len() - code.trim_start().len() };
        let (start, code) = (start + lead, code.get(lead..).unwrap_or_default());
        if is_lossy && code.contains(char::REPLACEMENT_CHARACTER) {
            Err(damaged())
        } else {
            read(code, start, variables)
        }
    });
    let mut issues: Vec<_> = repairs.issues().collect();
    let (script, entries) = match read {
        None => (None, Vec::new()),
        Some(Ok((script, noticed))) => {
            issues.extend(noticed);
            (Some(script), Vec::new())
        }
        Some(Err(failure)) => (None, vec![Entry::Unread(refused(failure))]),
    };
    Parsed { frame: super::Frame::Python(Frame {}), entries, script, reply, issues }
}

/// The entry that stands for a block of which nothing was done.
fn refused(failure: Failure) -> Unread {
    Unread { index: 1, action: None, path: None, label: None, failure }
}

fn cut_off() -> Failure {
    invalid("the text was cut off in the block, so nothing of it was done")
        .with_hint("send the whole block again and end it with `</python>`")
}

fn damaged() -> Failure {
    invalid("the block was damaged on the way: it holds bytes that are no UTF-8").with_hint("send it again as UTF-8")
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidAction, message)
}

fn issue(code: &'static str, message: impl Into<String>) -> Issue {
    Issue { code, index: None, message: message.into() }
}

#[cfg(test)]
mod tests;

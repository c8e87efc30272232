//! Which of the blocks that a turn holds count: not examples, those of one dialect alone, and which are echoes.
//!
//! The first kind of block that holds calls wins. Blocks of other kinds are left aside, and an issue says so.

use memchr::memmem;

use super::block::{self, Block};
use super::python;
use super::repair::{Repair, Repairs};
use super::tag::{Kind, next_tag};
use super::turn::{Found, Turn, What};

/// What of a turn counts.
#[derive(Debug)]
pub(super) struct Tagged {
    /// What kind of block won.
    pub(super) kind: Kind,
    /// The blocks of that kind.
    pub(super) blocks: Vec<Found>,
    pub(super) reply: Option<String>,
    pub(super) repairs: Repairs,
}

/// Finds the blocks of `kind` in a text, or of the kind that wins.
pub(super) fn read(text: &str, is_lossy: bool, kind: Option<Kind>) -> Tagged {
    // Tags in the texts of JSON are no tags of the turn.
    let bare = block::read_bare(text);
    let end = bare.as_ref().map_or(0, |bare| bare.end);
    let start = if next_tag(text, 0).is_some_and(|tag| tag.start < end) { end } else { 0 };
    let mut turn = Turn::read(text, start);
    let mut repairs = Repairs::default();
    if is_lossy {
        repairs.add(Repair::InvalidUtf8);
    }
    if !turn.has_tag && kind.is_none_or(|kind| kind == Kind::Actions) {
        take_bare(text, bare.and_then(|bare| bare.block), &mut turn);
    }
    repairs.extend(&turn.repairs);
    let blocks = std::mem::take(&mut turn.blocks);
    let all = blocks.len();
    let blocks = without_examples(blocks, turn.has_plain_reply, &mut repairs);
    let reply = turn.reply(blocks.len() < all);
    let kind = kind.unwrap_or_else(|| winner(text, &blocks));
    let mut blocks = only(text, kind, blocks, &mut repairs);
    mark_echoes(&mut blocks);
    for found in &blocks {
        if let (What::Actions(block) | What::Tool(block), false) = (&found.what, found.is_echo) {
            repairs.extend(&block.repairs);
        }
    }
    Tagged { kind, blocks, reply, repairs }
}

/// Takes the calls of a text that is nothing else.
fn take_bare(text: &str, block: Option<Block>, turn: &mut Turn<'_>) {
    if let Some(block) = block {
        turn.repairs.add(Repair::MissingTags);
        let (what, end) = (What::Actions(block), text.len());
        let (is_fenced, is_indented, is_after_doubt, is_echo) = (false, false, false, false);
        turn.blocks.push(Found { what, start: 0, end, is_fenced, is_indented, is_after_doubt, is_echo });
    } else if memmem::find(text.as_bytes(), b"&lt;actions").is_some() {
        turn.repairs.add(Repair::EscapedTags);
    }
}

/// Leaves out what stands in a fence or in indented lines beside blocks or a reply that do not.
fn without_examples(mut blocks: Vec<Found>, has_plain_reply: bool, repairs: &mut Repairs) -> Vec<Found> {
    let all = blocks.len();
    let has_fenced = blocks.iter().any(|block| block.is_fenced);
    let has_other = has_plain_reply || all > 1;
    let has_straight = has_plain_reply || blocks.iter().any(|block| !block.is_indented);
    blocks.retain(|block| !(block.is_fenced && has_other || block.is_indented && has_straight));
    if blocks.len() < all {
        repairs.add(Repair::Quoted);
    } else if has_fenced {
        repairs.add(Repair::Fence);
    }
    blocks
}

/// The kind of the first block that holds calls. One that does not end counts only where no other holds any: the tag may
/// stand in prose.
fn winner(text: &str, blocks: &[Found]) -> Kind {
    let whole = blocks.iter().find(|found| found.holds_calls(text) && !matches!(found.what, What::Python(None)));
    let any = || blocks.iter().find(|found| found.holds_calls(text)).or(blocks.first());
    whole.or_else(any).map_or(Kind::Actions, Found::kind)
}

/// The blocks of one kind. What follows a block of another that has no certain end is doubtful: it may stand in a text of that one.
fn only(text: &str, kind: Kind, blocks: Vec<Found>, repairs: &mut Repairs) -> Vec<Found> {
    let mut kept = Vec::with_capacity(blocks.len());
    let (mut has_other, mut is_in_doubt) = (false, false);
    for mut found in blocks {
        if found.kind() == kind {
            found.is_after_doubt |= is_in_doubt;
            kept.push(found);
        } else if found.holds_calls(text) {
            has_other = true;
            is_in_doubt |= !found.has_certain_end(text);
        }
    }
    if has_other {
        repairs.add(Repair::OtherDialect);
    }
    kept
}

/// Marks the blocks that repeat the one before. What else comes between them makes a block that says the same a new step: what it
/// works on may be another by then.
fn mark_echoes(blocks: &mut [Found]) {
    let mut last: Option<&Block> = None;
    for found in blocks {
        let (What::Actions(block) | What::Tool(block)) = &found.what else { continue };
        found.is_echo = last.is_some_and(|last| block.repeats(last));
        if !block.items.is_empty() || block.broken.is_some() {
            last = Some(block);
        }
    }
}

impl Found {
    fn kind(&self) -> Kind {
        match self.what {
            What::Actions(_) => Kind::Actions,
            What::Tool(_) => Kind::Tool,
            What::Python(_) => Kind::Python,
        }
    }

    /// Whether no text in it can go on behind its end. Code ends at the first tag, also one in a text, and then is not whole.
    fn has_certain_end(&self, text: &str) -> bool {
        match &self.what {
            // A value without quotes ends at the first closing tag, also one that it quotes.
            What::Actions(block) | What::Tool(block) => {
                block.broken.is_none() && !block.repairs.has(Repair::KeyValueLines)
            }
            What::Python(end) => {
                let code = end.and_then(|end| text.get(self.start..end));
                code.is_some_and(python::is_whole)
            }
        }
    }

    /// Whether anything stands in it.
    fn holds_calls(&self, text: &str) -> bool {
        match &self.what {
            What::Actions(block) | What::Tool(block) => !block.items.is_empty() || block.broken.is_some(),
            What::Python(end) => {
                let code = text.get(self.start..end.unwrap_or(text.len()));
                code.is_some_and(|code| !code.trim().is_empty())
            }
        }
    }
}

//! `<mcp:tool>` blocks in a text, each answered in its place.

use super::block::Block;
use super::tagged::Tagged;
use super::{Parsed, native};
use crate::report::Report;

/// What the answer has to repeat of the text.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frame {}

/// Reads the block whose tag ends at `start`, into one item.
pub(super) fn read(_text: &str, start: usize, _room: usize) -> Result<Block, usize> {
    Err(start)
}

pub(super) fn parse(text: &str, is_lossy: bool, tagged: Tagged) -> Parsed {
    native::parse(text, is_lossy, tagged, None)
}

pub(super) fn encode(_frame: &Frame, _report: &Report) -> String {
    String::new()
}

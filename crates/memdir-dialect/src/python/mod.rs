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
//! * `update_file` with an `old_content` that occurs several times is an error text that says where: there it changes the first
//!   place, and tells the model nothing;
//! * a place that matches but for line ends, trailing blanks or Unicode form is found, and reported;
//! * a link that is no path from the root is followed as everywhere else, `.md` is added without brackets too;
//! * paths, names, sizes and permission are as in every dialect; what they refuse is a text that starts with `Error: `;
//! * variables live through the conversation: there each block starts with none.

use super::Unread;
use memdir_core::report::Failure;

#[cfg(feature = "python")]
mod block;
#[cfg(not(feature = "python"))]
#[path = "absent.rs"]
mod block;
mod encode;
mod repr;
mod turn;

pub(super) use block::Run;
pub(crate) use block::Script;
pub(super) use encode::encode;
pub(super) use turn::{is_whole, parse};

/// The entry that stands for a block of which nothing, or no more, was done.
fn refused(index: usize, failure: Failure) -> Unread {
    Unread { index, action: None, path: None, label: None, failure, foreign: None }
}

#[cfg(feature = "python")]
#[cfg(test)]
mod tests;

//! What is said about an action: a row of the table.

use serde::Serialize;

/// What an action does to the memory, the mildest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Looks something up.
    Read,
    /// Makes or changes something.
    Write,
    /// Takes something away from where it was.
    Remove,
}

/// What a person and a model are told about one action.
#[derive(Debug)]
pub struct Row {
    /// The name on the wire.
    pub name: &'static str,
    /// The name for a menu.
    pub title: &'static str,
    /// What it does to the memory.
    pub access: Access,
    /// What becomes of what is there already, and what doing it again would do.
    pub effect: Effect,
    /// What it does, in one or two sentences.
    pub words: &'static str,
    /// What it answers when it succeeds.
    pub returns: &'static str,
    /// The JSON of that.
    pub gives: Gives,
    /// Its arguments, the required ones first.
    pub fields: &'static [Field],
    /// A call as JSON; a test decodes it.
    pub example: &'static str,
}

/// What an action does to what is there already, once and again with the same arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// Nothing: it only reads.
    None,
    /// It adds to what is there, and once more does nothing more.
    Adds,
    /// It adds to what is there, and once more adds the same again.
    AddsAgain,
    /// It replaces or takes away, and once more does nothing more.
    Settles,
    /// It replaces or takes away, and once more may do so again.
    Changes,
}

/// The JSON that an action answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Gives {
    /// The text of a note.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number.
    Number,
    /// A list of paths.
    Paths,
    /// A list of objects.
    Entries,
    /// An object.
    Object,
    /// Now this, now that.
    Various,
}

/// One argument of an action.
#[derive(Debug)]
pub struct Field {
    /// The name on the wire.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it has to be there.
    pub required: bool,
    /// What it means.
    pub words: &'static str,
}

impl Field {
    /// One that has to be there.
    #[must_use]
    pub const fn required(name: &'static str, takes: Takes, words: &'static str) -> Self {
        Self { name, takes, required: true, words }
    }

    /// One that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, takes: Takes, words: &'static str) -> Self {
        Self { name, takes, required: false, words }
    }
}

/// What an argument takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Takes {
    /// The path of a file or folder.
    Path,
    /// The path of a folder, where an empty one is the root of the memory.
    Folder,
    /// Any text.
    Text,
    /// A text that may not be empty.
    FullText,
    /// A digest.
    Digest,
    /// A whole number of at least the given one.
    Number(u32),
    /// `true` or `false`.
    Flag,
    /// A list of texts.
    Texts,
    /// One of a few words.
    OneOf(&'static [&'static str]),
}

//! Links between notes, and where they lead.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::path::MemoryPath;

/// Links, as `links --json` prints them.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Links {
    /// In the order of their notes and of their places in them.
    pub links: Vec<LinkEntry>,
    /// For a file, the notes that link to it, sorted.
    pub backlinks: BTreeMap<MemoryPath, Vec<MemoryPath>>,
}

/// One link, and where it leads.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct LinkEntry {
    /// The note it stands in.
    pub source: MemoryPath,
    /// Its line, from 1.
    pub line: usize,
    /// The target as written, before `#` and `|`.
    pub target: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target.
    pub text: Option<String>,
    /// How it is written.
    pub kind: LinkKind,
    /// The file it leads to; `None` only where there is none.
    pub resolved: Option<MemoryPath>,
    /// Whether it leads to what it names.
    pub status: LinkStatus,
    /// For a link to no file, the file that is most like it.
    pub nearest: Option<MemoryPath>,
    /// Whether it is a link whatever it leads to. One that is not has an entry only where its file is there.
    #[serde(skip)]
    pub is_sure: bool,
}

/// How a link is written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// `[[target]]`.
    Wikilink,
    /// `![[target]]`, or `![text](target)`.
    Embed,
    /// `[text](target)`.
    Markdown,
    /// In a value of the front matter.
    FrontMatter,
}

/// Whether a link leads to what it names.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkStatus {
    /// It does.
    Ok,
    /// There is no such file.
    BrokenFile,
    /// The file has no such heading.
    BrokenHeading,
    /// The file has no such block.
    BrokenBlock,
    /// It leads out of the memory, where memdir does not look.
    Outside,
}

impl LinkStatus {
    /// Whether it is known that a link does not lead to what it names.
    #[must_use]
    pub fn is_broken(self) -> bool {
        match self {
            Self::Ok | Self::Outside => false,
            Self::BrokenFile | Self::BrokenHeading | Self::BrokenBlock => true,
        }
    }
}

//! [`Heard`]: what tools of other servers have said in a conversation, word by word, so that it is known whose words a change is made of.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::origin::add_stems;
use memdir_note::stem::Stem;

/// So many stems are kept, of all tools together.
const MOST_STEMS: usize = 500_000;

/// The words of tools that the model was shown in a conversation. In memory alone: no file keeps what a tool said.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard {
    tools: Vec<(String, Arc<BTreeSet<Stem>>)>,
    /// The last tool of whose words not all are known: it spoke before this program began, or too much was said.
    unknown: Option<String>,
}

impl Heard {
    /// Notes what a tool said, or what its server says of it.
    pub(super) fn add(&mut self, tool: &str, text: &str) {
        if self.tools.iter().map(|(_, stems)| stems.len()).sum::<usize>() > MOST_STEMS {
            self.unknown = Some(tool.to_owned());
            return;
        }
        let at = self.tools.iter().position(|(name, _)| name == tool).unwrap_or_else(|| {
            self.tools.push((tool.to_owned(), Arc::default()));
            self.tools.len() - 1
        });
        if let Some((_, stems)) = self.tools.get_mut(at) {
            add_stems(text, Arc::make_mut(stems));
        }
    }

    /// Notes that a tool spoke of whose words nothing is known any more.
    pub(super) fn forgot(&mut self, tool: &str) {
        self.unknown = Some(tool.to_owned());
    }

    /// Adds what was heard elsewhere of the same conversation.
    pub(super) fn join(&mut self, other: Self) {
        self.tools.extend(other.tools);
        self.unknown = other.unknown.or(self.unknown.take());
    }

    /// Whether no tool has spoken.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.unknown.is_none()
    }

    /// The tool of whose words not all are known.
    pub(super) fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// Whether a tool has said a word, as far as that is known.
    pub(super) fn has(&self, stem: &Stem) -> bool {
        self.tools.iter().any(|(_, stems)| stems.contains(stem))
    }

    /// Every tool whose words are known, with their stems.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&str, &BTreeSet<Stem>)> {
        self.tools.iter().map(|(name, stems)| (name.as_str(), stems.as_ref()))
    }
}

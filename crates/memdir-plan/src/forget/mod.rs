//! What is to be forgotten: how it is recognized in contents, paths and payloads.
//!
//! Owns that alone. Which files there are, and what the history holds, it is told; all work is linear in the text.

use std::ops::Range;

use memchr::memmem;
use serde_json::Value as Json;

use memdir_core::json::{Style, is_json};
use memdir_core::path::MemoryPath;
use memdir_note::link::may_stand_in;
use memdir_note::target::comparable;
use memdir_note::{Canvas, Note, PlaceKind, Syntax};

mod cut;
mod forms;

pub use cut::Cut;
use cut::{are_lines_of_json, cut_forms, cut_json, cut_lines, cut_spans, with_front_matter, without_spans};
pub use forms::{Forms, MIN_TEXT_CHARS};

/// What is to be forgotten.
#[derive(Clone, Debug)]
pub enum Sought {
    /// A note, by all names that it had.
    Note(Vec<Called>),
    /// A text, in the forms in which it may be written.
    Text(Forms),
    /// Whole lines, without the white space around them.
    Lines(Vec<String>),
}

/// A name that a note has or had, and when: before and after that, another note may have had it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Called {
    /// The name.
    pub name: MemoryPath,
    /// The batch that gave it this name; 0 where none did.
    pub since: u64,
    /// The batch that took the name from it; `u64::MAX` where it still has it, or had it last.
    pub until: u64,
    /// The batches before `since` and after `until` between which nobody else is known to have had the name.
    pub alone: (u64, u64),
}

impl Called {
    /// A name of which it is not known that another note had it, too.
    #[must_use]
    pub fn always(name: MemoryPath) -> Self {
        Self { name, since: 0, until: u64::MAX, alone: (0, u64::MAX) }
    }

    fn was_in_force(&self, when: When) -> bool {
        match when {
            When::Ever => true,
            When::BeforeMoves(batch) => self.since < batch && batch <= self.until,
            When::AfterMoves(batch) => self.since <= batch && batch < self.until,
        }
    }

    /// Whether what is said of the name in a batch means this note.
    fn is_meant_in(&self, batch: Option<u64>) -> bool {
        let (from, to) = self.alone;
        batch.is_none_or(|batch| (self.since..=self.until).contains(&batch) || (from < batch && batch < to))
    }
}

/// The moment of the history to which a path belongs. Within a batch things are moved first, and files are put under
/// the names that they have after that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    /// It does not matter.
    Ever,
    /// Before the moves of a batch.
    BeforeMoves(u64),
    /// After them.
    AfterMoves(u64),
}

impl Sought {
    /// The bytes by which a file gives away that it may hold it.
    #[must_use]
    pub fn needles(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Note(names) => {
                let names = names.iter().map(|called| called.name.as_str());
                let written = names.flat_map(|name| {
                    [false, true].map(|is_ascii| Style { is_ascii, escapes_slash: false }.escape(name))
                });
                let mut needles: Vec<Vec<u8>> = written.map(String::into_bytes).collect();
                needles.dedup();
                needles
            }
            Self::Text(forms) => forms.0.iter().map(|form| form.as_bytes().to_vec()).collect(),
            Self::Lines(lines) => lines.iter().map(|line| line.as_bytes().to_vec()).collect(),
        }
    }

    /// Whether a path has to go.
    #[must_use]
    pub fn is_path(&self, path: &str, when: When) -> bool {
        match self {
            Self::Note(names) => names.iter().any(|called| called.name.as_str() == path && called.was_in_force(when)),
            Self::Text(forms) => forms.are_in(path.as_bytes()),
            Self::Lines(_) => false,
        }
    }

    /// Whether an earlier content of some note has to go: it holds the text, or a link to the note.
    #[must_use]
    pub fn is_in(&self, content: &[u8]) -> bool {
        match self {
            Self::Note(_) => std::str::from_utf8(content).is_ok_and(|text| !self.links_in(text).is_empty()),
            Self::Text(forms) => forms.are_said_in_content(content),
            Self::Lines(lines) => are_lines_of(lines, content),
        }
    }

    /// Whether a payload of the audit has to go: one of its strings, or a key, holds the text or names the note, by a
    /// name that meant it in that `batch`; `None` where it is not known when.
    #[must_use]
    pub fn is_in_payload(&self, payload: &str, batch: Option<u64>) -> bool {
        match serde_json::from_str(payload) {
            Ok(payload) => self.is_in_json(&payload, batch),
            Err(_) => self.is_said(payload, batch),
        }
    }

    /// The parser has limited how deep a value is.
    fn is_in_json(&self, value: &Json, batch: Option<u64>) -> bool {
        match value {
            Json::String(text) => self.is_said(text, batch),
            Json::Array(items) => items.iter().any(|item| self.is_in_json(item, batch)),
            Json::Object(items) => {
                items.iter().any(|(key, item)| self.is_said(key, batch) || self.is_in_json(item, batch))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => false,
        }
    }

    fn is_said(&self, text: &str, batch: Option<u64>) -> bool {
        match self {
            Self::Text(forms) => forms.are_said_in(text),
            // An argument or a snippet may hold a line in the middle of another one.
            Self::Lines(lines) => lines.iter().any(|line| text.contains(line.as_str())),
            Self::Note(names) => {
                let whole = text.trim();
                let is_name = |name: &MemoryPath| {
                    let path = name.as_str();
                    let bare = path.get(..path.len() - (name.name().len() - name.stem().len())).unwrap_or(path);
                    [path, bare, name.name(), name.stem()].contains(&whole) || is_named_in(text, path)
                };
                let parsed = MemoryPath::parse(text).ok();
                let meant = names.iter().filter(|called| called.is_meant_in(batch)).map(|called| &called.name);
                meant.into_iter().any(|name| is_name(name) || Some(name) == parsed.as_ref())
                    || !self.links_in(text).is_empty()
            }
        }
    }

    /// Cuts every place out of a text that may be changed; `None` where there is none.
    ///
    /// Of a line nothing but white space and the mark of a list may be left: then all of it goes. JSON stays JSON: of it the values
    /// of strings alone are changed. Front matter that can be read stays so.
    #[must_use]
    pub fn cut(&self, text: &str) -> Option<Cut> {
        match self {
            Self::Note(_) => cut_spans(text, &self.links_in(text)),
            Self::Text(forms) if is_json(text) || are_lines_of_json(text) => cut_json(text, forms),
            Self::Text(forms) => cut_forms(text, &forms.0).map(|cut| with_front_matter(cut, text, forms)),
            Self::Lines(lines) => cut_lines(text, lines),
        }
    }

    /// As [`Sought::cut`], in a note of which it is known where its links lead: of those that could mean the note to
    /// forget, only the ones go that do.
    #[must_use]
    pub fn cut_links(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Option<Cut> {
        let spans = self.links_where(text, leads);
        cut_spans(text, &spans)
    }

    /// As [`Sought::cut_links`], in a canvas: the links in the texts of its cards.
    #[must_use]
    pub fn cut_canvas(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Option<Cut> {
        let canvas = Canvas::parse(text).ok()?;
        let texts = canvas.places.iter().filter(|place| place.kind == PlaceKind::Text);
        let links = |place| {
            self.links_where(memdir_note::canvas::Place::says(place), leads).into_iter().map(|link| place.range(link))
        };
        let mut spans: Vec<Range<usize>> = texts.flat_map(links).collect();
        spans.sort_by_key(|span| span.start);
        let (left, _) = without_spans(text, &spans);
        let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
        (count > 0).then_some(Cut { text: left, count })
    }

    /// Where in a text the lines start that have a link which leads to the note.
    #[must_use]
    pub fn lines_with_links(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Vec<usize> {
        let start = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let mut starts: Vec<usize> = self.links_where(text, leads).into_iter().map(|span| start(span.start)).collect();
        starts.dedup();
        starts
    }

    /// The links of a text that mean the note, by the end of the path that they give.
    fn links_in(&self, text: &str) -> Vec<Range<usize>> {
        self.links_where(text, &|_, _| true)
    }

    fn links_where(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Vec<Range<usize>> {
        let Self::Note(names) = self else { return Vec::new() };
        if !may_stand_in(text) {
            return Vec::new();
        }
        let names: Vec<String> = names.iter().map(|called| bare(called.name.as_str())).collect();
        let means = |path: &str| !path.is_empty() && names.iter().any(|name| ends_in(name, path));
        let links = Note::parse(text).links().into_iter();
        links.filter(|link| means(&bare(&link.path)) && leads(&link.path, link.syntax)).map(|link| link.span).collect()
    }
}

/// A path without what two ways of writing it may differ in.
fn bare(path: &str) -> String {
    let folded = comparable(path);
    let mut parts = Vec::new();
    for part in folded.split('/').map(str::trim) {
        match part {
            "" | "." => {}
            ".." => parts.clear(),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    path.strip_suffix(".md").map_or(path.clone(), str::to_owned)
}

fn ends_in(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Whether a text names a path, and not a longer one that ends or starts so.
fn is_named_in(text: &str, path: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    memmem::find_iter(text.as_bytes(), path.as_bytes()).any(|at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + path.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|before| is_part(before) || before == '/') && !after.is_some_and(is_part)
    })
}

fn are_lines_of(lines: &[String], content: &[u8]) -> bool {
    let is_sought = |line: &[u8]| lines.iter().any(|sought| sought.as_bytes() == line.trim_ascii());
    content.split(|byte| *byte == b'\n').any(is_sought)
}

#[cfg(test)]
mod tests;

//! What becomes of a configuration: our entry put in, brought up to date, or taken out again. Texts in, texts out.
//!
//! Each format says where an entry is written and how one is added; edits replace spans, so nothing else moves. What comes out
//! is read again before it counts.

use std::ops::Range;

use super::disk::Target;
use super::{Entry, NAME, json, toml, yaml};

/// How a configuration is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// JSON, with comments where the assistant takes them: servers by their names in the object `list`.
    Json {
        list: &'static str,
        /// Whether an entry says that it speaks on the standard streams.
        has_type: bool,
    },
    /// The configuration of Codex.
    Toml,
    /// The configuration of goose.
    Yaml,
}

/// What shall be.
#[derive(Debug)]
pub(super) enum Wanted {
    There(Entry),
    Gone,
}

/// What a change comes to.
#[derive(Debug)]
pub(super) struct Changed {
    /// The text afterwards; `None` where no file is to be left.
    pub(super) text: Option<String>,
    /// Whether an entry of our name is replaced that starts something else.
    pub(super) is_foreign: bool,
}

/// Why a text is not changed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Trouble {
    /// It is not what such a file holds.
    #[error("{0}")]
    Unread(String),
    /// It is written in a way in which nothing is changed here.
    #[error("{0} is written in a form that memdir does not change")]
    Form(&'static str),
    /// There is an entry of our name, and it is not ours to take out.
    #[error("its entry `memdir` starts another program")]
    Foreign,
}

/// Replaces a span of the text.
pub(super) type Edit = (Range<usize>, String);

/// Our entry, or one of its name, as it stands in a text.
#[derive(Debug)]
pub(super) struct FoundEntry {
    /// What it starts, and where that is written; `None` where it is of another kind.
    pub(super) starts: Option<Starts>,
    /// The edits that take it out; `None` where it is written so that nothing here can.
    pub(super) cut: Option<Vec<Edit>>,
}

#[derive(Debug)]
pub(super) struct Starts {
    pub(super) entry: Entry,
    pub(super) command: Range<usize>,
    pub(super) args: Range<usize>,
}

impl Format {
    fn find(&self, text: &str) -> Result<Option<FoundEntry>, Trouble> {
        let (mark, body) = split_mark(text);
        let found = match self {
            Self::Json { list, .. } => json::find(body, list),
            Self::Toml => toml::find(body),
            Self::Yaml => yaml::find(body),
        };
        Ok(found?.map(|found| found.moved(mark.len())))
    }

    fn add(&self, text: &str, entry: &Entry) -> Result<String, Trouble> {
        let (mark, body) = split_mark(text);
        let added = match self {
            Self::Json { list, has_type } => json::add(body, list, *has_type, entry)?,
            Self::Toml => toml::add(body, entry),
            Self::Yaml => yaml::add(body, entry)?,
        };
        Ok(format!("{mark}{added}"))
    }

    /// The entry as it stands in a file that holds nothing else.
    pub(super) fn snippet(&self, entry: &Entry) -> String {
        self.add("", entry).unwrap_or_default()
    }

    /// The text with our entry, and whether that takes the place of somebody else's.
    pub(super) fn with(&self, text: &str, entry: &Entry) -> Result<(String, bool), Trouble> {
        let found = self.find(text)?;
        let is_foreign = found.as_ref().is_some_and(|found| !found.is_ours());
        let new = match found {
            Some(FoundEntry { starts: Some(starts), .. }) if starts.entry == *entry => {
                return Ok((text.to_owned(), false));
            }
            Some(FoundEntry { starts: Some(starts), .. }) if !is_foreign => {
                // A list in lines starts behind the colon.
                let gap =
                    if text.get(..starts.args.start).is_some_and(|text| text.ends_with("args:")) { " " } else { "" };
                let args = format!("{gap}{}", listed(&entry.args));
                edited(text, vec![(starts.command, quoted(&entry.command)), (starts.args, args)])
            }
            Some(found) => self.add(&edited(text, found.cut.ok_or(Trouble::Form("its entry `memdir`"))?), entry)?,
            None => self.add(text, entry)?,
        };
        match self.find(&new) {
            Ok(Some(FoundEntry { starts: Some(starts), .. })) if starts.entry == *entry => Ok((new, is_foreign)),
            _ => Err(Trouble::Form("it")),
        }
    }

    /// The text without our entry: one that was there before we put it in, where that is known.
    fn without(&self, target: &Target) -> Result<Option<String>, Trouble> {
        let Some(text) = &target.text else { return Ok(None) };
        let Some(found) = self.find(text)? else { return Ok(Some(text.clone())) };
        let Some(starts) = found.starts.as_ref().filter(|_| found.is_ours()) else { return Err(Trouble::Foreign) };
        let gives_this = |before: &str| self.with(before, &starts.entry).is_ok_and(|(with, _)| with == *text);
        // One that has an entry of ours already is from before that was brought up to date.
        let is_without =
            |before: &str| self.find(before).is_ok_and(|found| !found.is_some_and(|found| found.is_ours()));
        if let Some(before) = target.backups.iter().find(|before| is_without(before) && gives_this(before)) {
            return Ok(Some(before.clone()));
        }
        if gives_this("") {
            return Ok(None);
        }
        let new = edited(text, found.cut.ok_or(Trouble::Form("its entry `memdir`"))?);
        match self.find(&new) {
            Ok(None) => Ok(Some(new)),
            _ => Err(Trouble::Form("its entry `memdir`")),
        }
    }
}

/// What a configuration becomes.
pub(super) fn change(format: &Format, target: &Target, wanted: &Wanted) -> Result<Changed, Trouble> {
    match wanted {
        Wanted::There(entry) => {
            let (text, is_foreign) = format.with(target.text.as_deref().unwrap_or_default(), entry)?;
            Ok(Changed { text: Some(text), is_foreign })
        }
        Wanted::Gone => Ok(Changed { text: format.without(target)?, is_foreign: false }),
    }
}

/// The byte order mark with which some editors begin a file, and what stands behind it. No parser here takes it.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

impl FoundEntry {
    /// The same in a text that begins with so many bytes more.
    fn moved(mut self, by: usize) -> Self {
        let starts = self.starts.iter_mut().flat_map(|starts| [&mut starts.command, &mut starts.args]);
        for span in self.cut.iter_mut().flatten().map(|(span, _)| span).chain(starts) {
            *span = span.start + by..span.end + by;
        }
        self
    }

    /// Whether it starts memdir as a server, wherever that is.
    fn is_ours(&self) -> bool {
        self.starts.as_ref().is_some_and(|Starts { entry, .. }| {
            let program = entry.command.rsplit(['/', '\\']).next().unwrap_or_default();
            program.trim_end_matches(".exe") == NAME && entry.args.first().is_some_and(|first| first == "mcp")
        })
    }
}

/// Makes edits that do not overlap.
pub(super) fn edited(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut new = String::with_capacity(text.len() + 256);
    let mut from = 0;
    for (span, put) in edits {
        new.push_str(text.get(from..span.start).unwrap_or_default());
        new.push_str(&put);
        from = span.end.max(from);
    }
    new.push_str(text.get(from..).unwrap_or_default());
    new
}

/// A text as JSON, TOML and YAML all read it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A list of texts on one line, as all three read it.
pub(super) fn listed(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// How the lines of a text end.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Where the line starts that holds `at`.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |found| found + 1)
}

/// Where the next line starts, behind the one that holds `at`.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |found| at + found + 1)
}

/// The white space with which the line starts that holds `at`.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    let end = line.find(|character| !matches!(character, ' ' | '\t')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

/// Whether nothing but white space stands before `at` on its line.
pub(super) fn is_first(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim().is_empty())
}

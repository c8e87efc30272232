//! What becomes of a configuration: ours put in, brought up to date, or taken out again. Texts in, texts out.
//!
//! Each format says where ours is written and how it is added; edits replace spans, so nothing else moves. What comes out
//! is read again before it counts.

use std::ops::Range;

use super::disk::Target;
use super::json::hooks::HookForm;
use super::json::server::ServerForm;
use super::{Entry, NAME, line, toml, yaml};

/// How a configuration is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// A server in JSON, with comments where the program takes them.
    Json(ServerForm),
    /// The configuration of Codex.
    Toml,
    /// The configuration of goose.
    Yaml,
    /// Hooks in JSON.
    Hooks(HookForm),
    /// A line in a file of instructions.
    Line,
}

/// What shall be.
#[derive(Debug)]
pub(super) enum Wanted {
    There(Entry),
    Gone,
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
    /// There is an entry of our name, and it is not ours to change or to take out.
    #[error("{FOREIGN}")]
    Foreign,
}

/// What is said of an entry of our name that is not ours.
pub(super) const FOREIGN: &str = "its entry `memdir` does not start `memdir mcp` on this machine";

/// Replaces a span of the text.
pub(super) type Edit = (Range<usize>, String);

/// What a text has of ours.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum State {
    Absent,
    /// An entry of our name that starts something else.
    Foreign,
    /// What is ours starts this; `is_whole` where nothing that `install` puts in is missing.
    Ours {
        entry: Entry,
        is_whole: bool,
    },
}

/// The entry of our name as it stands in a text.
#[derive(Debug)]
pub(super) struct FoundEntry {
    /// What it starts; `None` where it is of another kind.
    pub(super) starts: Option<Starts>,
    /// The edits that add what it has to have beside that.
    pub(super) lacks: Vec<Edit>,
    /// The edits that take it out; `None` where it is written so that nothing here can.
    pub(super) cut: Option<Vec<Edit>>,
}

#[derive(Debug)]
pub(super) struct Starts {
    pub(super) entry: Entry,
    pub(super) written: Written,
}

/// Where an entry says what it starts.
#[derive(Debug)]
pub(super) enum Written {
    Apart {
        command: Range<usize>,
        args: Range<usize>,
    },
    /// The command is the first of a list, and the arguments the others.
    Joined(Range<usize>),
}

impl Format {
    /// What a text has of ours.
    pub(super) fn state(&self, text: &str) -> Result<State, Trouble> {
        let body = split_mark(text).1;
        let found = match self {
            Self::Hooks(form) => {
                let found = form.find(body)?;
                return Ok(found.map_or(State::Absent, |(entry, is_whole)| State::Ours { entry, is_whole }));
            }
            Self::Line if line::has(body) => return Ok(State::Ours { entry: Entry::default(), is_whole: true }),
            Self::Line => return Ok(State::Absent),
            Self::Json(_) | Self::Toml | Self::Yaml => self.find(body)?,
        };
        Ok(match found {
            None => State::Absent,
            Some(FoundEntry { starts: Some(Starts { entry, .. }), lacks, .. }) if entry.is_server() => {
                State::Ours { entry, is_whole: lacks.is_empty() }
            }
            Some(_) => State::Foreign,
        })
    }

    /// The entry of our name, where a format has such.
    fn find(&self, body: &str) -> Result<Option<FoundEntry>, Trouble> {
        match self {
            Self::Json(form) => form.find(body),
            Self::Toml => toml::find(body),
            Self::Yaml => yaml::find(body),
            Self::Hooks(_) | Self::Line => Ok(None),
        }
    }

    /// Puts ours into a text that has none.
    fn add(&self, body: &str, entry: &Entry) -> Result<String, Trouble> {
        match self {
            Self::Json(form) => form.add(body, entry),
            Self::Toml => Ok(toml::add(body, entry)),
            Self::Yaml => yaml::add(body, entry),
            Self::Hooks(form) => form.set(body, entry),
            Self::Line => Ok(line::add(body)),
        }
    }

    /// Brings ours up to date.
    fn update(&self, body: &str, entry: &Entry) -> Result<String, Trouble> {
        match (self, self.find(body)?) {
            (_, Some(FoundEntry { starts: Some(starts), mut lacks, .. })) => {
                if starts.entry != *entry {
                    lacks.extend(starts.written.edits(body, entry));
                }
                Ok(edited(body, lacks))
            }
            _ => self.add(body, entry),
        }
    }

    /// Takes what is ours out, or an entry of our name.
    fn cut(&self, body: &str) -> Result<String, Trouble> {
        match self {
            Self::Hooks(form) => form.cut(body),
            Self::Line => line::cut(body),
            Self::Json(_) | Self::Toml | Self::Yaml => {
                let cut = self.find(body)?.and_then(|found| found.cut);
                Ok(edited(body, cut.ok_or(Trouble::Form("its entry `memdir`"))?))
            }
        }
    }

    /// What may have stood there before ours, which is cut out of `body`: the likeliest first.
    fn bare(&self, body: &str) -> Result<Vec<String>, Trouble> {
        match self {
            Self::Json(form) => form.bare(body),
            Self::Hooks(form) => form.bare(body),
            Self::Toml | Self::Yaml | Self::Line => Ok(vec![body.to_owned()]),
        }
    }

    /// What is ours as it stands in a file that holds nothing else.
    pub(super) fn snippet(&self, entry: &Entry) -> String {
        self.add("", entry).unwrap_or_default()
    }

    /// The text with ours. An entry of our name that is somebody else's stays: it may let an assistant see less than ours would.
    pub(super) fn with(&self, text: &str, entry: &Entry) -> Result<String, Trouble> {
        let (mark, body) = split_mark(text);
        let state = self.state(text)?;
        let wanted = State::Ours { entry: entry.clone(), is_whole: true };
        let new = match &state {
            state if *state == wanted => return Ok(text.to_owned()),
            State::Absent => self.add(body, entry)?,
            State::Foreign => return Err(Trouble::Foreign),
            State::Ours { .. } => self.update(body, entry)?,
        };
        let new = format!("{mark}{new}");
        match self.state(&new) {
            Ok(state) if state == wanted => {}
            _ => return Err(Trouble::Form("it")),
        }
        Ok(new)
    }

    /// The text without ours: one that was there before we put it in, where that is known.
    fn without(&self, target: &Target) -> Result<Option<String>, Trouble> {
        let Some(text) = &target.text else { return Ok(None) };
        let entry = match self.state(text)? {
            State::Absent => return Ok(Some(text.clone())),
            State::Foreign => return Err(Trouble::Foreign),
            State::Ours { entry, .. } => entry,
        };
        let gives_this = |before: &str| self.with(before, &entry).is_ok_and(|with| with == *text);
        // One that has ours already is from before that was brought up to date.
        let is_without = |before: &str| matches!(self.state(before), Ok(State::Absent));
        if let Some(before) = target.backups.iter().find(|before| is_without(before) && gives_this(before)) {
            return Ok(Some(before.clone()));
        }
        if gives_this("") {
            return Ok(None);
        }
        let (mark, body) = split_mark(text);
        let mut bare: Vec<_> = self.bare(&self.cut(body)?)?.iter().map(|bare| format!("{mark}{bare}")).collect();
        let at = bare.iter().position(|bare| gives_this(bare)).unwrap_or(0);
        let new = bare.swap_remove(at);
        match self.state(&new) {
            Ok(State::Absent) => Ok(Some(new)),
            _ => Err(Trouble::Form("its entry `memdir`")),
        }
    }
}

/// What a configuration becomes; `None` where no file is to be left.
pub(super) fn change(format: &Format, target: &Target, wanted: &Wanted) -> Result<Option<String>, Trouble> {
    match wanted {
        Wanted::There(entry) => format.with(target.text.as_deref().unwrap_or_default(), entry).map(Some),
        Wanted::Gone => format.without(target),
    }
}

/// The byte order mark with which some editors begin a file, and what stands behind it. No parser here takes it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

impl Written {
    /// The edits that name another command and other arguments.
    fn edits(&self, text: &str, entry: &Entry) -> Vec<Edit> {
        match self {
            Self::Joined(span) => {
                vec![(span.clone(), joined(entry))]
            }
            Self::Apart { command, args } => {
                // A list in lines starts behind the colon.
                let gap = if text.get(..args.start).is_some_and(|text| text.ends_with("args:")) { " " } else { "" };
                vec![(command.clone(), quoted(&entry.command)), (args.clone(), format!("{gap}{}", listed(&entry.args)))]
            }
        }
    }
}

impl Entry {
    /// Whether it starts memdir as a server, wherever that is.
    fn is_server(&self) -> bool {
        is_memdir(&self.command) && self.args.first().is_some_and(|first| first == "mcp")
    }
}

/// Whether a command starts memdir, wherever that is.
pub(crate) fn is_memdir(command: &str) -> bool {
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    program.trim_end_matches(".exe") == NAME
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
pub(super) fn listed<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    format!("[{}]", texts.into_iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "))
}

/// What is started and its arguments, as one list.
pub(super) fn joined(entry: &Entry) -> String {
    listed(std::iter::once(&entry.command).chain(&entry.args))
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

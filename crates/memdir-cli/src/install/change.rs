//! What becomes of a configuration: ours put in, brought up to date, or taken out again. Texts in, texts out.
//!
//! Each format says where ours is written and how it is added. What comes out is read again before it counts.

use super::disk::Target;
use super::edit::{FoundEntry, Starts, Trouble, edited};
use super::json::hooks::HookForm;
use super::json::server::ServerForm;
use super::{Entry, line, toml, yaml};

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

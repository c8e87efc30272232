//! [`Grant`]: what a client may see and do.

use serde::{Deserialize, Serialize};

use super::GlobError;
use super::glob::Glob;
use memdir_core::action::{Action, Operation};
use memdir_core::catalog::shorten;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};

/// What a person lets a client see and do. What a grant does not show does not exist for the client.
///
/// A client that may write a note may read it too. A grant only restricts: rules and detectors apply as well.
///
/// # Examples
///
/// ```
/// use memdir_core::path::MemoryPath;
/// use memdir_policy::Grant;
///
/// let grant = Grant::new(&["work/**".to_owned()], &["work/log.md".to_owned()], None)?;
/// assert!(grant.shows(&MemoryPath::parse("work/plan.md")?));
/// assert!(!grant.shows(&MemoryPath::parse("private/diary.md")?));
/// assert!(grant.lets_write(&MemoryPath::parse("work/log.md")?));
/// assert!(!grant.lets_write(&MemoryPath::parse("work/plan.md")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "GrantForm", into = "GrantForm")]
pub struct Grant {
    read: Vec<Glob>,
    write: Vec<Glob>,
    hidden: Vec<Glob>,
    written: GrantForm,
}

/// A grant as the person wrote it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct GrantForm {
    read: Vec<String>,
    write: Vec<String>,
    /// The names of the actions it may send; `None` for all.
    actions: Option<Vec<String>>,
    /// What it hides, whatever else it allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<String>,
}

/// What is wrong with a grant.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GrantError {
    /// A glob cannot be read.
    #[error("`{glob}` {problem}")]
    Glob {
        /// As it was written.
        glob: String,
        /// What is wrong.
        problem: GlobError,
    },
    /// There is no such action.
    #[error("unknown action `{0}`")]
    Action(String),
}

impl Grant {
    /// Reads a grant: globs of what may be read and of what may be written, and the names of the actions, `None` for all.
    ///
    /// # Errors
    ///
    /// [`GrantError`] for a glob that no path fits, or a name that no action has.
    pub fn new(read: &[String], write: &[String], actions: Option<&[String]>) -> Result<Self, GrantError> {
        let unknown = actions.and_then(|names| names.iter().find(|name| memdir_core::catalog::row(name).is_none()));
        if let Some(name) = unknown {
            return Err(GrantError::Action(name.clone()));
        }
        let actions = actions.map(<[String]>::to_vec);
        let written = GrantForm { read: read.to_vec(), write: write.to_vec(), actions, hidden: Vec::new() };
        Ok(Self { read: globs(read)?, write: globs(write)?, hidden: Vec::new(), written })
    }

    /// The same grant, but hiding every path that one of these globs matches, in any case and Unicode form.
    ///
    /// # Errors
    ///
    /// [`GrantError::Glob`] for a glob that no path fits.
    pub fn hiding(mut self, hidden: &[String]) -> Result<Self, GrantError> {
        self.hidden.extend(globs(hidden)?);
        self.written.hidden.extend_from_slice(hidden);
        Ok(self)
    }

    /// Whether it hides anything at all.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        !self.hidden.is_empty() || !self.readable().any(Glob::is_everything)
    }

    /// Whether the client may know of a file or folder at `path`.
    #[must_use]
    pub fn shows(&self, path: &MemoryPath) -> bool {
        self.readable().any(|glob| glob.matches(path)) && !self.hides(path)
    }

    /// Whether the client may know of something that could stand in the folder `path`.
    #[must_use]
    pub fn shows_below(&self, path: &MemoryPath) -> bool {
        self.readable().any(|glob| glob.leads_below(path))
    }

    /// Whether the client may know of all that could stand in the folder `path`.
    #[must_use]
    pub fn shows_all_below(&self, path: &MemoryPath) -> bool {
        // A hidden glob may match something in any folder.
        self.hidden.is_empty() && self.readable().any(|glob| glob.covers_below(path))
    }

    /// Whether the client may change what is at `path`.
    #[must_use]
    pub fn lets_write(&self, path: &MemoryPath) -> bool {
        self.write.iter().any(|glob| glob.matches(path)) && !self.hides(path)
    }

    /// Whether there is any place that the client may change.
    #[must_use]
    pub fn lets_write_anything(&self) -> bool {
        !self.write.is_empty()
    }

    /// Whether the client may change the folder `path` and all that could stand in it.
    #[must_use]
    pub fn lets_write_all(&self, path: &MemoryPath) -> bool {
        let hides_below = self.hidden.iter().any(|glob| glob.reaches_below(path));
        !hides_below && self.lets_write(path) && self.write.iter().any(|glob| glob.covers_below(path))
    }

    /// Whether the client may send this action at all.
    #[must_use]
    pub fn lets_send(&self, action: &str) -> bool {
        self.written.actions.as_ref().is_none_or(|names| names.iter().any(|name| name == action))
    }

    /// Whatever stands below what a glob hides is hidden, too.
    fn hides(&self, path: &MemoryPath) -> bool {
        let is_hidden = |path: &MemoryPath| self.hidden.iter().any(|glob| glob.matches_any_form(path));
        is_hidden(path) || path.ancestors().any(|folder| is_hidden(&folder))
    }

    /// What it may read: also what it may write.
    fn readable(&self) -> impl Iterator<Item = &Glob> {
        self.read.iter().chain(&self.write)
    }
}

fn globs(globs: &[String]) -> Result<Vec<Glob>, GrantError> {
    let glob = |glob: &String| Glob::parse(glob).map_err(|problem| GrantError::Glob { glob: glob.clone(), problem });
    globs.iter().map(glob).collect()
}

impl TryFrom<GrantForm> for Grant {
    type Error = GrantError;

    fn try_from(written: GrantForm) -> Result<Self, GrantError> {
        Self::new(&written.read, &written.write, written.actions.as_deref())?.hiding(&written.hidden)
    }
}

impl From<Grant> for GrantForm {
    fn from(grant: Grant) -> Self {
        grant.written
    }
}

/// The right that an action needs at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Need {
    /// To read what is there.
    Read,
    /// To list what is there or below, as far as it is shown.
    Look,
    /// To change what is there.
    Write,
    /// To change what is there and all that is below.
    WriteAll,
}

impl Grant {
    /// Why the client may not make this call, by its arguments alone.
    pub(super) fn refusal(&self, action: &Action) -> Option<Failure> {
        if !self.lets_send(action.name()) {
            // A grant is that of a client, or of a conversation that the person has narrowed.
            let message = format!("`{}` is not among the actions that may be sent here", action.name());
            let names = self.written.actions.iter().flatten().map(String::as_str);
            return Some(Failure::new(Code::Denied, message).with_hint(format!("those are: {}", listed(names))));
        }
        let source = if let Action::GoToLink(link) = action { link.source.as_ref() } else { action.path() };
        self.refusal_at(action, source, action.new_path())
    }

    /// Why the client may not use this action at the places that its path and its new path name, or lead to.
    pub(super) fn refusal_at(
        &self,
        action: &Action,
        source: Option<&MemoryPath>,
        target: Option<&MemoryPath>,
    ) -> Option<Failure> {
        let source = source.map(|path| (path, need(action)));
        let target = target.map(|path| (path, Need::Write));
        source.into_iter().chain(target).find_map(|(path, need)| self.lack(path, need))
    }

    /// Why the client may not make this call where its path is a folder, with the places to which its paths lead; a rename
    /// takes along all that is in it.
    pub(super) fn refusal_of_folder(
        &self,
        action: &Action,
        source: Option<&MemoryPath>,
        target: Option<&MemoryPath>,
    ) -> Option<Failure> {
        let Action::RenameFile(rename) = action else { return None };
        let paths = [&rename.path, &rename.new_path].into_iter().chain(source).chain(target);
        paths.into_iter().find_map(|path| self.lack(path, Need::WriteAll))
    }

    fn lack(&self, path: &MemoryPath, need: Need) -> Option<Failure> {
        let (is_met, words) = match need {
            Need::Read => (self.shows(path), "may read"),
            Need::Look => (self.shows(path) || self.shows_below(path), "may read"),
            Need::Write => (self.lets_write(path), "may write"),
            Need::WriteAll => (self.lets_write_all(path), "may write as a whole"),
        };
        if is_met {
            return None;
        }
        let message = format!("`{}` is not within what this client {words}", shorten(path.as_str()));
        Some(Failure::new(Code::Denied, message).with_hint(self.hint()))
    }

    /// What the client may read and write, in the globs of its person.
    fn hint(&self) -> String {
        let GrantForm { read, write, hidden, .. } = &self.written;
        let written = listed(write.iter().map(String::as_str));
        let but = if hidden.is_empty() { "" } else { ", but for what is hidden from it" };
        format!("it may read {}, and write {written}{but}", listed(read.iter().chain(write).map(String::as_str)))
    }
}

/// The right that an action needs at its path.
fn need(action: &Action) -> Need {
    match action {
        Action::ListFiles(_)
        | Action::ListDirectory(_)
        | Action::GetSize(_)
        | Action::GetFileInfo(_)
        | Action::SearchFiles(_)
        | Action::Recent(_)
        | Action::GetConfig(_)
        | Action::SetConfigValue(_)
        | Action::CheckDirExists(_) => Need::Look,
        Action::ReadFile(_)
        | Action::CheckFileExists(_)
        | Action::GetHistory(_)
        | Action::GoToLink(_)
        | Action::GetContext(_)
        | Action::GetLinks(_)
        | Action::GetBacklinks(_)
        // A copy reads what it is made of.
        | Action::CopyFile(_) => Need::Read,
        Action::Memory(memory) => match memory.operation {
            Operation::Retrieve | Operation::Search | Operation::List => Need::Read,
            Operation::Store | Operation::StoreConversation | Operation::Delete => Need::Write,
        },
        Action::CreateFile(_)
        | Action::WriteFile(_)
        | Action::AppendFile(_)
        | Action::UpdateFile(_)
        | Action::InsertText(_)
        | Action::ReplaceSection(_)
        | Action::AppendToSection(_)
        | Action::SetFact(_)
        | Action::Remember(_)
        | Action::DeleteFile(_)
        | Action::RenameFile(_)
        | Action::CreateDir(_) => Need::Write,
        Action::DeleteDir(_) => Need::WriteAll,
    }
}

/// Names in backticks, each once.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut listed = Vec::new();
    for name in names.map(|name| format!("`{}`", shorten(name))) {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    if listed.is_empty() { "nothing".to_owned() } else { listed.join(", ") }
}

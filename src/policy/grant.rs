//! [`Grant`]: what a client may see and do.

use serde::{Deserialize, Serialize};

use super::GlobError;
use super::glob::Glob;
use crate::action::{Action, Operation};
use crate::catalog::shorten;
use crate::path::MemoryPath;
use crate::report::{Code, Failure};

/// What a person lets a client see and do. What it does not show is not there for the client.
///
/// Who may write a note may read it too. A grant takes away and never gives: rules and detectors have their say beside it.
///
/// # Examples
///
/// ```
/// use memdir::path::MemoryPath;
/// use memdir::policy::Grant;
///
/// let grant = Grant::new(&["work/**".to_owned()], &["work/log.md".to_owned()], None)?;
/// assert!(grant.shows(&MemoryPath::parse("work/plan.md")?));
/// assert!(!grant.shows(&MemoryPath::parse("private/diary.md")?));
/// assert!(grant.lets_write(&MemoryPath::parse("work/log.md")?));
/// assert!(!grant.lets_write(&MemoryPath::parse("work/plan.md")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Grant {
    read: Vec<Glob>,
    write: Vec<Glob>,
    hidden: Vec<Glob>,
    written: Written,
}

/// A grant as the person wrote it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    read: Vec<String>,
    write: Vec<String>,
    /// The names of the actions it may send; `None` for all.
    actions: Option<Vec<String>>,
    /// What it shows nothing of, whatever else it says.
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
        let unknown = actions.and_then(|names| names.iter().find(|name| crate::catalog::row(name).is_none()));
        if let Some(name) = unknown {
            return Err(GrantError::Action(name.clone()));
        }
        let actions = actions.map(<[String]>::to_vec);
        let written = Written { read: read.to_vec(), write: write.to_vec(), actions, hidden: Vec::new() };
        Ok(Self { read: globs(read)?, write: globs(write)?, hidden: Vec::new(), written })
    }

    /// The same grant, which shows nothing that one of these globs is about, in any case and Unicode form.
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

    /// Whether the client may know of a file at `path`, or of a folder of this name.
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
        // With something hidden, something of any folder may be.
        self.hidden.is_empty() && self.readable().any(|glob| glob.covers_below(path))
    }

    /// Whether the client may change what is at `path`.
    #[must_use]
    pub fn lets_write(&self, path: &MemoryPath) -> bool {
        self.write.iter().any(|glob| glob.matches(path)) && !self.hides(path)
    }

    /// Whether the client may change the folder `path` and all that could stand in it.
    #[must_use]
    pub fn lets_write_all(&self, path: &MemoryPath) -> bool {
        self.hidden.is_empty() && self.lets_write(path) && self.write.iter().any(|glob| glob.covers_below(path))
    }

    /// Whether the client may send this action at all.
    #[must_use]
    pub fn lets_send(&self, action: &str) -> bool {
        self.written.actions.as_ref().is_none_or(|names| names.iter().any(|name| name == action))
    }

    fn hides(&self, path: &MemoryPath) -> bool {
        self.hidden.iter().any(|glob| glob.matches_any_form(path))
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

impl TryFrom<Written> for Grant {
    type Error = GrantError;

    fn try_from(written: Written) -> Result<Self, GrantError> {
        Self::new(&written.read, &written.write, written.actions.as_deref())?.hiding(&written.hidden)
    }
}

impl From<Grant> for Written {
    fn from(grant: Grant) -> Self {
        grant.written
    }
}

/// What the action does at a path: what a grant has to let it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Need {
    /// It tells of what is there.
    Read,
    /// It tells of what is there or below, as far as that may be told.
    Look,
    /// It changes what is there.
    Write,
    /// It changes what is there and all that is below.
    WriteAll,
}

impl Grant {
    /// Why the client may not make this call; decided from the words of the call alone, whatever is there.
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

    /// Why the client may not come with this action to the places that its path and its new path name, or lead to.
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
        let Written { read, write, .. } = &self.written;
        let written = listed(write.iter().map(String::as_str));
        format!("it may read {}, and write {written}", listed(read.iter().chain(write).map(String::as_str)))
    }
}

/// What an action does at its path.
fn need(action: &Action) -> Need {
    match action {
        Action::ListFiles(_)
        | Action::ListDirectory(_)
        | Action::GetSize(_)
        | Action::GetFileInfo(_)
        | Action::SearchFiles(_)
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

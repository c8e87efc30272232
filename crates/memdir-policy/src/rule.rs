//! [`Rule`] and [`Rules`]: what the person's settings say beforehand.
//!
//! Owns the shape of a `[[rule]]`, its mistakes, and the calls to which it applies. Reads no file: `cli` reads the settings,
//! and nothing in the memory is a rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::detect;
use super::glob::{Glob, GlobError};
use super::table::Row;
use super::{Context, Verdict, asks_about_change};
use memdir_core::action::{Action, NAMES, Operation};
use memdir_core::catalog::nearest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;

/// One standing answer, for the calls that match every part that is given.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name of an action.
    pub action: Option<String>,
    /// A glob for the path: `*` and `?` within a component, `**` across, and a `/` at the end for all below a folder.
    ///
    /// A rule that allows is about a call when all of its paths match, letter for letter. A rule that asks or denies is
    /// about a call when one of its paths matches in any case and Unicode form, or could hold something that matches
    /// where the call takes a whole folder away or moves it. A folder may be named like a note.
    pub path: Option<String>,
    /// The program that asks, by its exact name.
    pub client: Option<String>,
    /// A detector (`email`), or a class of them (`personal`, `secret`, `active_content`), that found something. In a rule that
    /// allows, `change` is what [`Mode::All`](super::Mode::All) asks about beside what they find.
    pub detector: Option<String>,
    /// The answer.
    pub verdict: Verdict,
}

impl fmt::Display for Rule {
    /// A rule as one line: `allow  action append_file, path user.md`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, path, client, detector, verdict } = self;
        let given = [("action", action), ("path", path), ("client", client), ("detector", detector)];
        let given: Vec<_> =
            given.into_iter().filter_map(|(key, text)| Some(format!("{key} {}", text.as_ref()?))).collect();
        if given.is_empty() {
            write!(formatter, "{verdict}  everything")
        } else {
            write!(formatter, "{verdict}  {}", given.join(", "))
        }
    }
}

/// What a rule that allows names as its detector to be about [`Ground::Change`](super::Ground::Change).
pub const CHANGE: &str = "change";

/// The rules of the settings, checked. The default has none.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    checked: Vec<CheckedRule>,
    /// Why they cannot be read.
    unreadable: Option<Failure>,
}

#[derive(Clone, Debug)]
pub(super) struct CheckedRule {
    /// Its place among the rules, from 1.
    pub(super) number: usize,
    pub(super) verdict: Verdict,
    action: Option<String>,
    path: Option<Glob>,
    client: Option<String>,
    detector: Option<String>,
}

/// What is wrong with a rule; the number counts from 1.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// No action has this name.
    #[error("rule {number}: unknown action `{name}`")]
    Action {
        /// The number of the rule.
        number: usize,
        /// What was written.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
    },
    /// No detector and no class of detectors has this name.
    #[error("rule {number}: unknown detector `{name}`")]
    Detector {
        /// The number of the rule.
        number: usize,
        /// What was written.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
    },
    /// The glob is none.
    #[error("rule {number}: path `{glob}` {problem}")]
    Path {
        /// The number of the rule.
        number: usize,
        /// What was written.
        glob: String,
        /// What is wrong with it.
        problem: GlobError,
    },
}

impl RuleError {
    /// What to write instead, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Action { nearest, .. } | Self::Detector { nearest, .. } => {
                nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"))
            }
            Self::Path { .. } => Some("write a path such as `private/**`".to_owned()),
        }
    }
}

impl Rules {
    /// Rules of which nobody knows what they say. Every call is refused with `failure`, and no note is shown.
    #[must_use]
    pub fn unreadable(failure: Failure) -> Self {
        Self { checked: Vec::new(), unreadable: Some(failure) }
    }

    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.checked.is_empty() && self.unreadable.is_none()
    }

    /// Why they cannot be read, where that is so.
    #[must_use]
    pub fn trouble(&self) -> Option<Failure> {
        self.unreadable.clone()
    }

    /// Checks rules in the order of the settings; they are numbered from 1.
    ///
    /// # Errors
    ///
    /// The first mistake: [`RuleError::Action`] and [`RuleError::Detector`] for a name that does not exist,
    /// [`RuleError::Path`] for a glob that cannot be read or could match nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_policy::{Rule, Rules, Verdict};
    ///
    /// let all = Rule { action: None, path: None, client: None, detector: None, verdict: Verdict::Deny };
    /// assert!(Rules::new(vec![Rule { path: Some("private/**".into()), ..all.clone() }]).is_ok());
    /// let error = Rules::new(vec![Rule { action: Some("delete_fiel".into()), ..all }]).unwrap_err();
    /// assert_eq!(error.to_string(), "rule 1: unknown action `delete_fiel`");
    /// assert_eq!(error.hint().as_deref(), Some("did you mean `delete_file`?"));
    /// ```
    pub fn new(rules: Vec<Rule>) -> Result<Self, RuleError> {
        rules
            .into_iter()
            .zip(1..)
            .map(|(rule, number)| CheckedRule::new(number, rule))
            .collect::<Result<_, _>>()
            .map(|checked| Self { checked, unreadable: None })
    }

    /// The rules that are about a call in which the detectors found what `found` has.
    pub(super) fn about<'a>(
        &'a self,
        action: &'a Action,
        context: &'a Context<'_>,
        found: &'a [&'static Row],
    ) -> impl Iterator<Item = &'a CheckedRule> {
        let is_asked = asks_about_change(action, context);
        self.checked
            .iter()
            .filter(move |rule| rule.is_about(action, context.client, found) && (is_asked || !rule.is_of_change()))
    }

    /// The rules that ask about or deny a call because it comes to `path` too, whatever its arguments say.
    pub(super) fn about_place<'a>(
        &'a self,
        action: &'a Action,
        path: &'a MemoryPath,
        context: &'a Context<'_>,
        found: &'a [&'static Row],
    ) -> impl Iterator<Item = &'a CheckedRule> {
        self.about_places(action, context, found)
            .filter(move |rule| rule.path.as_ref().is_none_or(|glob| holds_for(glob, action, path)))
    }

    /// The rules that ask about or deny a call because of some place that it may come to.
    pub(super) fn about_places<'a>(
        &'a self,
        action: &'a Action,
        context: &'a Context<'_>,
        found: &'a [&'static Row],
    ) -> impl Iterator<Item = &'a CheckedRule> {
        self.checked.iter().filter(move |rule| {
            rule.verdict != Verdict::Allow && rule.is_about_but_for_path(names(action), context.client, found)
        })
    }

    /// Whether a rule allows what the action does to this place, as far as the mode asks about every change.
    pub(super) fn allow_at(&self, action: &Action, path: &MemoryPath, context: &Context<'_>) -> bool {
        self.checked.iter().filter(|rule| rule.allows_change()).any(|rule| {
            rule.is_about_but_for_path(&[action.name()], context.client, &[])
                && rule.path.as_ref().is_none_or(|glob| glob.matches(path))
        })
    }

    /// Whether a rule is about places and findings both, so that [`Rules::about_place`] needs to know the findings.
    pub(super) fn joins_paths_and_detectors(&self) -> bool {
        self.checked.iter().any(|rule| rule.path.is_some() && rule.detector.is_some())
    }
}

impl CheckedRule {
    fn new(number: usize, rule: Rule) -> Result<Self, RuleError> {
        let Rule { action, path, client, detector, verdict } = rule;
        if let Some(name) = action.as_ref().filter(|name| !NAMES.contains(&name.as_str())) {
            let nearest = nearest(name, NAMES.iter().copied());
            return Err(RuleError::Action { number, name: name.clone(), nearest });
        }
        let names = || detect::names().chain((verdict == Verdict::Allow).then_some(CHANGE));
        if let Some(name) = detector.as_ref().filter(|name| !names().any(|known| known == name.as_str())) {
            let nearest = nearest(name, names());
            return Err(RuleError::Detector { number, name: name.clone(), nearest });
        }
        let path = match path {
            Some(glob) => match Glob::parse(&glob) {
                Ok(glob) => Some(glob),
                Err(problem) => return Err(RuleError::Path { number, glob, problem }),
            },
            None => None,
        };
        Ok(Self { number, verdict, action, path, client, detector })
    }

    /// Whether the rule names a detector, and `row` is of it.
    pub(super) fn names(&self, row: &Row) -> bool {
        self.detector.as_ref().is_some_and(|name| row.is_called(name))
    }

    /// Whether the rule names a detector.
    pub(super) fn has_detector(&self) -> bool {
        self.detector.is_some()
    }

    /// Whether the rule lifts what a mode asks about whatever is found, and nothing else.
    fn is_of_change(&self) -> bool {
        self.detector.as_deref() == Some(CHANGE)
    }

    /// Whether the rule lifts what a mode asks about whatever is found.
    pub(super) fn allows_change(&self) -> bool {
        self.verdict == Verdict::Allow && (self.detector.is_none() || self.is_of_change())
    }

    fn is_about(&self, action: &Action, client: Option<&str>, found: &[&'static Row]) -> bool {
        self.is_about_but_for_path(&[action.name()], client, found)
            && self.path.as_ref().is_none_or(|glob| self.is_about_path(glob, action))
    }

    fn is_about_but_for_path(&self, names: &[&str], client: Option<&str>, found: &[&'static Row]) -> bool {
        self.action.as_ref().is_none_or(|name| names.contains(&name.as_str()))
            && self.client.as_ref().is_none_or(|name| Some(name.as_str()) == client)
            && (self.detector.is_none() || self.is_of_change() || found.iter().any(|row| self.names(row)))
    }

    fn is_about_path(&self, glob: &Glob, action: &Action) -> bool {
        let mut paths = action.path().into_iter().chain(action.new_path());
        if self.verdict == Verdict::Allow {
            return action.path().is_some() && paths.all(|path| glob.matches(path));
        }
        paths.any(|path| holds_for(glob, action, path))
    }
}

/// The names by which a rule can be about what the action does at a place. Who follows a link, is shown what a search
/// found, gets a copy, or is told what stands there instead of what was expected, reads a note; who is given context is
/// shown what a search found; who deletes a folder deletes the files in it.
fn names(action: &Action) -> &'static [&'static str] {
    match action {
        Action::Memory(memory) => match memory.operation {
            Operation::Retrieve | Operation::Search | Operation::List => &["memory", "read_file"],
            Operation::Store | Operation::StoreConversation => &["memory", "write_file"],
            Operation::Delete => &["memory", "delete_file"],
        },
        Action::GoToLink(_) => &["go_to_link", "read_file"],
        Action::SearchFiles(_) => &["search_files", "read_file"],
        Action::GetContext(_) => &["get_context", "search_files", "read_file"],
        Action::GetLinks(_) => &["get_links", "read_file"],
        Action::GetBacklinks(_) => &["get_backlinks", "read_file"],
        Action::CopyFile(_) => &["copy_file", "read_file"],
        Action::RenameFile(_) => &["rename_file", "read_file"],
        Action::UpdateFile(_) => &["update_file", "read_file"],
        Action::WriteFile(_) => &["write_file", "read_file"],
        Action::ReplaceSection(_) => &["replace_section", "read_file"],
        Action::AppendToSection(_) => &["append_to_section", "read_file"],
        Action::SetFact(_) => &["set_fact", "read_file"],
        // It sets a fact, adds a line or makes the note, and tells what stood there.
        Action::Remember(_) => &["remember", "set_fact", "append_file", "create_file", "read_file"],
        Action::Recent(_) => &["recent", "get_history", "read_file"],
        Action::DeleteDir(_) => &["delete_dir", "delete_file"],
        Action::ReadFile(_)
        | Action::CreateFile(_)
        | Action::AppendFile(_)
        | Action::InsertText(_)
        | Action::DeleteFile(_)
        | Action::CreateDir(_)
        | Action::CheckFileExists(_)
        | Action::CheckDirExists(_)
        | Action::ListFiles(_)
        | Action::ListDirectory(_)
        | Action::GetFileInfo(_)
        | Action::GetSize(_)
        | Action::GetHistory(_)
        | Action::GetConfig(_)
        | Action::SetConfigValue(_) => {
            NAMES.iter().position(|name| *name == action.name()).and_then(|at| NAMES.get(at..=at)).unwrap_or_default()
        }
    }
}

/// Whether a rule that asks or denies with this glob is about the action at `path`.
fn holds_for(glob: &Glob, action: &Action, path: &MemoryPath) -> bool {
    let is_rename = matches!(action, Action::RenameFile(_));
    if glob.matches_any_form(path) {
        true
    } else if is_rename && path.is_note() {
        // A folder may be named like a note, and only the disk knows; still, a note must be free to get a new name.
        glob.loses_below(path)
    } else {
        (is_rename || matches!(action, Action::DeleteDir(_))) && glob.reaches_below(path)
    }
}

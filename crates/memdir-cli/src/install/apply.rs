//! A change to an assistant's files: shown, agreed to, made.

use std::io::{self, StdoutLock, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::args::InstallArgs;
use super::change::{self, Format, Wanted};
use super::disk::Target;
use super::edit::Trouble;
use crate::args::Global;
use crate::output::say;
use crate::stop::Stop;
use crate::{question, term};
use memdir_core::report::{Code, Failure};
use memdir_engine::ChangeError;

/// One file, and what becomes of it.
#[derive(Debug)]
pub(super) struct Part {
    target: Target,
    /// What it holds afterwards; `None` where no file is to be left.
    changed: Option<String>,
    diff: String,
    is_hooks: bool,
}

/// What was done for one assistant.
#[derive(Debug, Serialize)]
pub(super) struct Done {
    client: &'static str,
    #[serde(flatten)]
    first: DonePart,
    /// The file of its hooks, where that is another part of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    hooks: Option<DonePart>,
    /// What the person has to do next.
    #[serde(rename = "say")]
    next: String,
    /// What the person may want to know beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// Whether the diff was shown when the person was asked.
    #[serde(skip)]
    is_shown: bool,
}

/// What was done with one file.
#[derive(Debug, Serialize)]
struct DonePart {
    file: String,
    changed: bool,
    diff: String,
    backup: Option<String>,
    /// Whether it is there no more.
    #[serde(skip)]
    is_gone: bool,
}

impl Part {
    pub(super) fn new(path: PathBuf, format: Format, wanted: Wanted) -> Result<Self, Failure> {
        let target = Target::read(&path)?;
        let changed = change::change(&format, &target, &wanted);
        let changed = changed.map_err(|trouble| explain(&trouble, &target, &wanted))?;
        let diff = target.diff(changed.as_deref());
        Ok(Self { target, changed, diff, is_hooks: matches!(format, Format::Hooks(_)) })
    }

    fn make(&self) -> Result<DonePart, Failure> {
        let backup = if self.diff.is_empty() { None } else { self.target.replace(self.changed.as_deref())? };
        Ok(DonePart {
            changed: !self.diff.is_empty(),
            backup: backup.map(|path| path.display().to_string()),
            is_gone: self.changed.is_none(),
            ..self.left()
        })
    }

    /// What is said of a file that is left as it is.
    fn left(&self) -> DonePart {
        let file = self.target.path.display().to_string();
        DonePart { file, changed: false, diff: self.diff.clone(), backup: None, is_gone: false }
    }
}

/// Makes a change, once the person agrees; `None` where she does not.
pub(super) fn apply(
    global: &Global,
    options: &InstallArgs,
    client: &'static str,
    parts: Vec<Part>,
    next: String,
) -> Result<Option<Done>, Stop> {
    let diff: String = parts.iter().map(|part| part.diff.as_str()).collect();
    let done = |parts: Vec<DonePart>, has_hooks: bool, is_shown| {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let hooks = parts.next().filter(|_| has_hooks);
        Some(Done { client, first, hooks, next, hint: None, is_shown })
    };
    let has_hooks = parts.iter().any(|part| part.is_hooks);
    if diff.is_empty() || options.dry_run {
        return Ok(done(parts.iter().map(Part::left).collect(), has_hooks, false));
    }
    let is_asked = !options.yes;
    if is_asked {
        if global.json || !question::can_ask() {
            let failure = Failure::new(Code::Usage, "there is no terminal to ask on, so nothing is changed");
            let failure = failure.with_hint("look at the change, then send `--yes`");
            return Err(ChangeError { failure, diff: Some(diff) }.into());
        }
        writeln!(io::stderr(), "{}", term::diff(&diff, &io::stderr()))?;
        let files =
            parts.iter().filter(|part| !part.diff.is_empty()).map(|part| part.target.path.display().to_string());
        let files = files.collect::<Vec<_>>().join(" and ");
        if !question::agrees_or(&format!("change {files}?"), "nothing was changed")? {
            return Ok(None);
        }
    }
    let mut made = Vec::new();
    for part in &parts {
        made.push(part.make().map_err(|failure| broken_off(failure, &made))?);
    }
    Ok(done(made, has_hooks, is_asked))
}

/// A failure that says what was changed before it.
fn broken_off(failure: Failure, made: &[DonePart]) -> Failure {
    let changed = made.iter().filter(|part| part.changed).map(|part| match &part.backup {
        Some(backup) => format!("{} was already changed (backup: {backup})", part.file),
        None => format!("{} was already created", part.file),
    });
    let changed = changed.reduce(|all, next| format!("{all}; {next}"));
    let changed = changed.unwrap_or_else(|| "nothing was changed".to_owned());
    let hint = failure.hint.as_ref().map_or_else(|| changed.clone(), |hint| format!("{changed}; {hint}"));
    failure.with_hint(hint)
}

impl Done {
    pub(super) fn has_changed(&self) -> bool {
        self.first.changed
    }

    /// Tells the person.
    pub(super) fn show(&self, stdout: &mut StdoutLock<'static>) -> Result<(), Stop> {
        let parts = || std::iter::once(&self.first).chain(&self.hooks);
        for part in parts() {
            let DonePart { file, changed, diff, backup, is_gone } = part;
            if !diff.is_empty() && !self.is_shown {
                writeln!(stdout, "{}", term::diff(diff, stdout))?;
            }
            match (*changed, diff.is_empty()) {
                (true, _) => say(format!("{file} is {}", if *is_gone { "removed" } else { "changed" }))?,
                (false, true) => say(format!("nothing to change in {file}"))?,
                (false, false) => {}
            }
            backup.iter().try_for_each(|backup| say(format!("backup: {backup}")))?;
        }
        let is_dry = parts().any(|part| !part.changed && !part.diff.is_empty());
        if !is_dry {
            say(&self.next)?;
        }
        Ok(self.hint.iter().try_for_each(say)?)
    }
}

/// Why a file was not changed, with what to do by hand.
fn explain(trouble: &Trouble, target: &Target, wanted: &Wanted) -> Failure {
    let message = format!("{} was not touched: {trouble}", target.path.display());
    let by_hand = match wanted {
        Wanted::There(_) if *trouble == Trouble::Foreign => {
            "it stays as it is; to replace it, remove it from the file and run this again"
        }
        Wanted::There(_) => "mend it, or put the entry into it by hand: `memdir install NAME --print` prints it",
        Wanted::Gone => "mend it, or take the entry `memdir` out by hand",
    };
    let code = if matches!(trouble, Trouble::Foreign) { Code::Conflict } else { Code::Config };
    Failure::new(code, message).with_hint(by_hand)
}

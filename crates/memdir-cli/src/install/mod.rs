//! `memdir install`: sets up an assistant so that it starts memdir by itself.
//!
//! Owns where each assistant keeps its configuration and how the one entry of ours is put into it. All else in such a file is
//! the person's: it stays byte for byte, and a file that cannot be read as what it should be is not touched.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

mod args;
mod change;
mod disk;
mod json;
mod places;
mod toml;
mod yaml;

pub(super) use args::{InstallArgs, LONG};

use super::args::{Global, TOOL_SETS};
use super::config::Sources;
use super::exit::{Stop, usage};
use super::output::say;
use super::{client, open, question, term};
use change::{Trouble, Wanted};
use disk::Target;
use memdir_core::report::{Code, Failure};
use memdir_engine::ChangeError;
use memdir_mcp::ToolSet;
use places::{ASSISTANTS, Assistant};

/// The name of our entry.
const NAME: &str = "memdir";

/// What an assistant starts.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Entry {
    command: String,
    args: Vec<String>,
}

#[derive(Serialize)]
struct Done<'a> {
    client: &'a str,
    file: String,
    changed: bool,
    diff: String,
    backup: Option<String>,
    /// What the person has to do next.
    #[serde(rename = "say")]
    next: String,
}

/// The assistants that this person uses here.
#[derive(Debug, Default, Serialize)]
pub(super) struct Here {
    /// Those that start memdir.
    pub(super) set_up: Vec<&'static str>,
    /// Those that do not.
    pub(super) others: Vec<&'static str>,
}

/// Looks for assistants by their configuration, without changing any.
pub(super) fn here() -> Here {
    let home = places::Home::read();
    let mut here = Here::default();
    for assistant in ASSISTANTS {
        if !places::is_here(&home, assistant) {
            continue;
        }
        let target = home.file_of(assistant.place).ok().and_then(|path| Target::read(&path).ok());
        let has_entry = target.is_some_and(|target| {
            let without = change::change(&assistant.format, &target, &Wanted::Gone);
            without.is_ok_and(|changed| !target.diff(changed.text.as_deref()).is_empty())
        });
        if has_entry { here.set_up.push(assistant.name) } else { here.others.push(assistant.name) }
    }
    here
}

pub(super) fn run(global: &Global, options: &InstallArgs) -> Result<u8, Stop> {
    let Some(assistant) = options.assistant else { return list(global) };
    let path = places::Home::read().file_of(assistant.place)?;
    if options.remove {
        return apply(global, options, assistant, &path, Wanted::Gone);
    }
    let entry = entry(global, options)?;
    if options.print {
        let snippet = assistant.format.snippet(&entry);
        let file = path.display().to_string();
        return global.answer(&json!({"client": assistant.name, "file": file, "entry": snippet}), |stdout| {
            say(format!("for {file}:"))?;
            Ok(write!(stdout, "{snippet}")?)
        });
    }
    apply(global, options, assistant, &path, Wanted::There(entry))
}

/// Lists the assistants that are here.
fn list(global: &Global) -> Result<u8, Stop> {
    let here = here();
    global.answer(&here, |stdout| {
        for name in &here.set_up {
            writeln!(stdout, "{name}  starts memdir; `memdir install {name} --remove` takes it out")?;
        }
        for name in &here.others {
            writeln!(stdout, "{name}  is here; `memdir install {name}` sets it up")?;
        }
        if here.set_up.is_empty() && here.others.is_empty() {
            writeln!(stdout, "no assistant is found here; `memdir install --help` lists those that memdir knows")?;
        }
        Ok(())
    })
}

/// What the assistant shall start: this program, on the memory that the options name.
fn entry(global: &Global, options: &InstallArgs) -> Result<Entry, Stop> {
    let sources = Sources::read()?;
    let folder = open::named(global, &sources)?;
    let root = open::locate(global, &sources, &folder)?.folder.root().to_owned();
    // Says at once what the assistant would otherwise say when it starts.
    client::register(&root, options.client.as_deref(), memdir_host::now)?;
    let own = std::env::current_exe();
    let own = own.map_err(|error| Failure::new(Code::Internal, format!("where memdir is cannot be told: {error}")))?;
    let mut args = vec!["mcp".to_owned(), "--memory".to_owned(), text(&root)?];
    if let Some(state) = &global.state {
        let state = memdir_host::make_folder(state).map_err(|error| usage(error.to_string(), "name another folder"))?;
        args.extend(["--state".to_owned(), text(&state)?]);
    }
    if let Some(client) = &options.client {
        args.extend(["--client".to_owned(), client.clone()]);
    }
    if let Some((name, ..)) = TOOL_SETS.iter().find(|(_, set, _)| *set == options.tools && *set != ToolSet::Compact) {
        args.extend(["--tools".to_owned(), (*name).to_owned()]);
    }
    Ok(Entry { command: text(&own)?, args })
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("{} is no UTF-8, so no configuration can name it", path.display()), "rename it"))
}

fn apply(
    global: &Global,
    options: &InstallArgs,
    assistant: &Assistant,
    path: &Path,
    wanted: Wanted,
) -> Result<u8, Stop> {
    let target = Target::read(path)?;
    let changed = change::change(&assistant.format, &target, &wanted);
    let changed = changed.map_err(|trouble| explain(&trouble, assistant, path, &wanted))?;
    let next = if matches!(wanted, Wanted::Gone) { assistant.restart.to_owned() } else { assistant.next() };
    let diff = target.diff(changed.text.as_deref());
    let done = |changed, backup: Option<PathBuf>| Done {
        client: assistant.name,
        file: target.path.display().to_string(),
        changed,
        diff: diff.clone(),
        backup: backup.map(|backup| backup.display().to_string()),
        next: next.clone(),
    };
    if lifts_grant(&diff) && !options.remove && !global.json {
        say("note: this takes `--client` away, so the assistant will see every note")?;
    }
    if diff.is_empty() || options.dry_run {
        return report(global, &done(false, None), options.dry_run);
    }
    if !options.yes {
        let can_ask = !global.json && question::can_ask();
        if changed.is_foreign || !can_ask {
            let (code, message) = match changed.is_foreign {
                true => (Code::Conflict, "there is an entry `memdir` that starts another program"),
                false => (Code::Usage, "there is no terminal to ask on, so nothing is changed"),
            };
            let failure = Failure::new(code, message).with_hint("look at the change, then send `--yes`");
            return Err(ChangeError { failure, diff: Some(diff) }.into());
        }
        if !is_agreed(&diff, &target.path)? {
            return Ok(0);
        }
    }
    let backup = target.replace(changed.text.as_deref())?;
    report(global, &done(true, backup), options.dry_run || (!options.yes && !global.json))
}

/// Whether a change takes the client away as which the assistant was started.
fn lifts_grant(diff: &str) -> bool {
    let has = |sign: char| diff.lines().any(|line| line.starts_with(sign) && line.contains("--client"));
    has('-') && !has('+')
}

/// Shows the change and asks the person.
fn is_agreed(diff: &str, path: &Path) -> Result<bool, Stop> {
    writeln!(io::stderr(), "{}", term::diff(diff, &io::stderr()))?;
    question::agrees_or(&format!("change {}?", path.display()), "nothing was changed")
}

fn report(global: &Global, done: &Done<'_>, is_shown: bool) -> Result<u8, Stop> {
    global.answer(done, |stdout| {
        if !done.diff.is_empty() && (!is_shown || !done.changed) {
            writeln!(stdout, "{}", term::diff(&done.diff, stdout))?;
        }
        let file = &done.file;
        match (done.changed, done.diff.is_empty()) {
            (true, _) => say(format!("{file} is changed"))?,
            (false, true) => say(format!("nothing to change in {file}"))?,
            (false, false) => return Ok(()),
        }
        done.backup.iter().try_for_each(|backup| say(format!("as it was: {backup}")))?;
        Ok(say(&done.next)?)
    })
}

/// Why a file was not changed, with what to put into it by hand.
fn explain(trouble: &Trouble, assistant: &Assistant, path: &Path, wanted: &Wanted) -> Failure {
    let message = format!("{} was not touched: {trouble}", path.display());
    let by_hand = match wanted {
        Wanted::There(_) => {
            let name = assistant.name;
            format!("mend it, or put the entry into it by hand: `memdir install {name} --print` prints it")
        }
        Wanted::Gone => "mend it, or take the entry `memdir` out by hand".to_owned(),
    };
    let code = if matches!(trouble, Trouble::Foreign) { Code::Conflict } else { Code::Config };
    Failure::new(code, message).with_hint(by_hand)
}

#[cfg(test)]
mod tests;

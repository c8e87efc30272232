//! `memdir doctor`: is everything in order.

mod assistants;

use std::path::Path;

use clap::Args;
use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::config::{Config, Sources, WHERE};
use super::model::{self, used};
use super::output::Lines;
use super::stop::Stop;
use super::{client, history, open, repair, tools};
use memdir_check::Kind;
use memdir_core::report::{Code, Failure};
use memdir_engine::{self as engine, EmbeddingStatus, Engine};
use memdir_model::{ModelError, Place};
use memdir_plan as plan;
use memdir_providers::choose::Choice;
use memdir_vault::{Examination, Vault, VaultError};

/// What `memdir doctor --help` says.
pub(super) const LONG: &str = "Check that the memory, its history and this system are in order.

Reads every version in the history. Changes no note, but for a change that a crash cut off: like any other command, it \
finishes that first. With --repair, a damaged history is set aside as a whole: its folder in .memdir is \
renamed, and a new history begins. Notes and conversations are untouched; the earlier log, undo, audit and waiting \
proposals are no longer available. If the history is intact it is kept, and leftover temporary files whose text is in \
the history are deleted.";

/// Options of `doctor`.
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Set a damaged history aside and begin a new one
    #[arg(long)]
    pub(super) repair: bool,
    /// Do not ask
    #[arg(long, requires = "repair")]
    pub(super) yes: bool,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, message: message.into(), hint: None }
    }

    fn warn(name: &'static str, message: impl Into<String>, hint: &str) -> Self {
        Self { name, status: Status::Warn, message: message.into(), hint: Some(hint.to_owned()) }
    }

    fn failed(name: &'static str, failure: Failure) -> Self {
        Self { name, status: Status::Fail, message: failure.message, hint: failure.hint }
    }
}

pub(super) fn run(global: &Global, options: &DoctorArgs) -> Result<u8, Stop> {
    if options.repair {
        return repair::run(global, options.yes);
    }
    let checks = look(global);
    global.answer(&json!({ "checks": checks }), |stdout| {
        for Check { name, status, message, hint } in &checks {
            let status = match status {
                Status::Ok => "ok  ",
                Status::Warn => "warn",
                Status::Fail => "FAIL",
            };
            stdout.line(format!("{status}  {name}: {message}"))?;
            hint.iter().try_for_each(|hint| stdout.line(format!("      {hint}")))?;
        }
        Ok(())
    })?;
    Ok(if checks.iter().any(|check| check.status == Status::Fail) { 4 } else { 0 })
}

fn look(global: &Global) -> Vec<Check> {
    let sources = match Sources::read() {
        Ok(sources) => sources,
        Err(failure) => return vec![wrong_settings(failure)],
    };
    let mut checks = match sources.tokens() {
        Ok(_) => vec![settings(&sources)],
        // What is wrong for every memory is wrong for this one, too.
        Err(failure) => return vec![wrong_settings(failure)],
    };
    checks.extend(absent_memories(&sources));
    checks.extend(tool_servers(&sources));
    match open::locate_named(global, &sources) {
        Ok(mut located) => {
            let root = located.folder.root().to_owned();
            checks.push(Check::ok("memory", root.display().to_string()));
            checks.extend(clients(&sources, &root));
            checks.push(match &located.options.state {
                None => Check::ok("state", format!("in .memdir/{}", located.options.machine)),
                Some((_, path)) => {
                    Check::ok("state", format!("in {}, since the memory cannot hold it or you said so", path.display()))
                }
            });
            checks.push(permission(&located.config));
            let (place, embeddings) = (located.index.clone(), located.embeddings.take());
            checks.push(model(&located.config));
            let (vault, config) = open::vault(located);
            let state = state(&vault);
            let help = Help {
                obstacle: vault.obstacle(),
                is_told: state.iter().any(|check| check.name == "history" && check.status != Status::Ok),
            };
            checks.extend(state);
            match config.engine(memdir_host::now) {
                Ok(settings) => {
                    let engine = Engine::new(vault, engine::Settings { index: place, ..settings });
                    let engine = match embeddings {
                        Some(embeddings) => engine.with_embeddings(embeddings),
                        None => engine,
                    };
                    checks.extend([inbox(&engine, help), index(&engine)]);
                    checks.extend(meaning(&engine));
                    checks.extend(obsidian(&engine));
                    checks.push(notes(&engine));
                    checks.extend(names(&engine));
                    // A history that cannot be read is told above.
                    checks.extend(assistants::checks(&root, &engine.last_calls().unwrap_or_default()));
                }
                Err(failure) => checks.push(Check::failed("rules", failure)),
            }
        }
        Err(stop) => checks.extend(stop.failure().map(|failure| Check::failed("memory", failure))),
    }
    checks
}

fn settings(sources: &Sources) -> Check {
    match sources.path() {
        Some(path) if sources.has_file() => Check::ok("settings", path.display().to_string()),
        Some(path) => Check::ok("settings", format!("none; they would be in {}", path.display())),
        None => Check::warn("settings", "there is no home folder to look for them in", "set HOME"),
    }
}

/// The memories that the settings name and that are not there; a memory that was moved has no rules any more.
fn absent_memories(sources: &Sources) -> Option<Check> {
    let absent = sources.absent_memories();
    let named: Vec<String> = absent.iter().map(|(path, _)| path.display().to_string()).collect();
    let hint = "if it was moved, write its new path in the settings file; its clients have to be added again";
    let words = format!(
        "the settings have entries for {}, where no memory is; they hold for no other folder",
        named.join(", ")
    );
    (!absent.is_empty()).then(|| Check::warn("settings", words, hint))
}

/// The settings cannot be used; a hint that leads here gives the place.
fn wrong_settings(failure: Failure) -> Check {
    let place = Sources::place().filter(|_| failure.hint.as_deref() == Some(WHERE));
    let hint = place.map(|place| format!("the settings file is {}", place.display())).or(failure.hint);
    Check::failed("settings", Failure { hint, ..failure })
}

/// How many servers of other tools there are; nothing where there are none.
fn tool_servers(sources: &Sources) -> Option<Check> {
    match tools::count(sources) {
        Ok((0, _)) => None,
        Ok((all, enabled)) => {
            let words =
                format!("{}, {enabled} in use; `memdir tools doctor` connects to them", plan::count(all, "server"));
            Some(Check::ok("tools", words))
        }
        Err(failure) => Some(Check::failed("tools", failure)),
    }
}

/// How many clients there are; nothing where there are none.
fn clients(sources: &Sources, root: &Path) -> Option<Check> {
    match client::names(sources, root) {
        Ok(names) if names.is_empty() => None,
        Ok(names) => Some(Check::ok("clients", plan::count(names.len(), "client"))),
        Err(failure) => Some(Check::failed("clients", failure)),
    }
}

/// What becomes of what the person should be asked about, by door.
fn permission(config: &Config) -> Check {
    let modes = &config.permission;
    let doors =
        [("exec", modes.exec), ("cli", modes.cli), ("mcp", modes.mcp), ("chat", modes.chat), ("ask", modes.ask)];
    let doors: Vec<_> = doors.iter().map(|(door, mode)| format!("{door} {}", mode.as_str())).collect();
    Check::ok("permission", doors.join(", "))
}

/// Which model would answer, whether its file is whole, and what leaves the machine.
fn model(config: &Config) -> Check {
    let looked = used::shelf().and_then(|shelf| {
        let listed = shelf.list().map_err(model::error::unkept)?;
        let chosen = used::chosen(None, config, &listed, &mut used::servers);
        let chosen = chosen.and_then(|choice| Ok((used::used(&choice)?, choice)));
        let (used, choice) = chosen.map_err(model::error::unreachable)?;
        if let Choice::Shelf { name } = &choice {
            let kept = shelf.find(name).map_err(model::error::unkept)?;
            let stop = CancellationToken::new();
            shelf.ensure(&kept, &mut |_, _| (), &stop).map_err(model::error::unkept)?;
        }
        Ok((used, matches!(choice, Choice::Shelf { .. })))
    });
    match looked {
        Ok((used, true)) => Check::ok("model", format!("{}, its file is whole: {}", used.name, used.leaves())),
        Ok((used, false)) => Check::ok("model", format!("{}: {}", used.name, used.leaves())),
        Err(failure) if is_without(config, &failure) => {
            Check::ok("model", "none, and only `chat` and `ask` need one: `memdir model list` shows how to get one")
        }
        Err(failure) if failure.code == Code::ModelUnreachable => {
            let hint = failure.hint.unwrap_or_default();
            Check::warn("model", failure.message, &hint)
        }
        Err(failure) => Check::failed("model", failure),
    }
}

/// Whether the person has no model and wants none.
fn is_without(config: &Config, failure: &Failure) -> bool {
    config.model.name.is_none() && *failure == model::error::unreachable(&ModelError::NoModel)
}

/// What the vault can tell of itself and of this file system.
fn state(vault: &Vault) -> Vec<Check> {
    // What a crash has left is finished first, as by any other command: the history tells of it as done.
    let exam = match vault.look_after_crash().and_then(|()| vault.examine()) {
        Ok(exam) => exam,
        Err(error) => return vec![unusable(vault, &error)],
    };
    let history = history(&exam);
    let Examination { can_write, can_exchange, is_ignored_by_git, is_durable, lock, .. } = exam;
    let writing = match (can_write, can_exchange) {
        (false, _) => Check::warn("writing", "the folder cannot be written", "memdir can still read it"),
        (true, false) => Check::warn(
            "writing",
            "this file system cannot exchange two names in one step",
            "an edit made while memdir writes the same note could be lost; keep the memory on a local disk",
        ),
        (true, true) => Check::ok("writing", "files are exchanged in one step"),
    };
    let durability = if is_durable {
        Check::ok("durability", "saved means flushed")
    } else {
        Check::warn("durability", "nothing is flushed", "a power cut may lose what was saved; remove `durability`")
    };
    let git = if is_ignored_by_git {
        Check::ok("git", ".memdir is never committed")
    } else {
        Check::warn(
            "git",
            ".memdir/.gitignore is missing",
            "restore it with the one line `*`, or history may be published",
        )
    };
    let left = if lock.is_ok() { temporary(vault) } else { None };
    let lock = match lock {
        Ok(()) => Check::ok("lock", "free"),
        // That passes.
        Err(VaultError::Busy) => Check::ok("lock", "another process is writing right now"),
        Err(error) => Check::failed("lock", engine::failure(&error)),
    };
    let mut checks = vec![history, writing, durability, git, lock];
    checks.extend(left);
    checks.extend(put_aside(vault));
    checks.extend(other_histories(vault));
    checks
}

/// The histories of others in the same memory; nothing where there are none.
fn other_histories(vault: &Vault) -> Option<Check> {
    let beside = history::beside(&vault.other_histories())?;
    Some(Check::ok("histories", format!("{beside}: undo is per machine and user")))
}

/// What is to be said of the history.
fn history(exam: &Examination) -> Check {
    if exam.closed.is_some() {
        return closed_to_us(exam.can_write);
    }
    if !exam.has_history {
        return Check::ok("history", "none yet: reads leave no entry until the first write");
    }
    let batches = exam.batches;
    match exam.unfinished {
        None => Check::ok("history", format!("{batches} batches, no damage found")),
        Some(batch) => Check::warn(
            "history",
            format!("change {batch} was cut off, and is neither whole nor gone in the notes yet"),
            "the next command brings it to an end, once the notes that it changes can be written",
        ),
    }
}

/// Temporary files that nobody has removed.
fn temporary(vault: &Vault) -> Option<Check> {
    let files = vault.temporary_files().ok().filter(|files| !files.is_empty())?;
    let message = format!("{} hold texts of notes, left by changes that ended early", files.join(", "));
    Some(Check::warn("temporary files", message, "`memdir doctor --repair` removes those whose text the history has"))
}

/// Says that nobody lets us open the history. On a disk that nobody can write to, that is as it has to be.
fn closed_to_us(can_write: bool) -> Check {
    let message = "it cannot be opened: no permission to read and write the files in `.memdir`";
    let hint = "notes can be read, without an audit entry; let yourself read and write `.memdir` and what is in it";
    if can_write {
        let failure = Failure::new(Code::Io, message).with_hint(hint);
        return Check::failed("history", failure);
    }
    Check::warn("history", message, hint)
}

/// Why the history cannot be used, with what SQLite says, and what helps.
fn unusable(vault: &Vault, error: &VaultError) -> Check {
    let failure = engine::failure(error);
    let hint = match vault.obstacle().filter(|_| matches!(error, VaultError::Untrusted(_))) {
        Some(obstacle) => repair::without(&obstacle),
        None if error.is_lasting_fault() => {
            "notes can be read; `memdir doctor --repair` puts the history aside and begins a new one".to_owned()
        }
        None if matches!(error, VaultError::History(_)) => {
            "notes can be read; this may pass, so try again, and look at the disk if it stays".to_owned()
        }
        None => return Check::failed("history", failure),
    };
    Check::failed("history", Failure { message: error.to_string(), hint: Some(hint), ..failure })
}

/// Damaged histories that are still there.
fn put_aside(vault: &Vault) -> Option<Check> {
    let names = vault.put_aside_before().ok().filter(|names| !names.is_empty())?;
    let message = format!("{} hold damaged histories, with texts of notes", names.join(", "));
    Some(Check::warn("put aside", message, "remove these folders from .memdir when nothing in them is needed"))
}

/// What the person can do about an inbox that cannot be read.
struct Help {
    /// What she has to take away.
    obstacle: Option<String>,
    /// Whether it was said of the history.
    is_told: bool,
}

/// What waits for the person.
fn inbox(engine: &Engine, help: Help) -> Check {
    match engine.waiting() {
        Ok((waiting, unreadable)) => match (waiting.len(), unreadable.first()) {
            (_, Some(first)) => Check::failed("inbox", first.failure.clone()),
            (0, None) => Check::ok("inbox", "nothing waits"),
            (1, None) => Check::ok("inbox", "1 proposal waits for you: memdir pending"),
            (count, None) => Check::ok("inbox", format!("{count} proposals wait for you: memdir pending")),
        },
        Err(failure) => {
            let hint = help.obstacle.map(|obstacle| repair::without(&obstacle));
            let hint = hint.or_else(|| failure.hint.clone().filter(|_| !help.is_told));
            Check::failed("inbox", Failure { hint, ..failure })
        }
    }
}

/// What the index says before anything asks it.
fn index(engine: &Engine) -> Check {
    match engine.indexed_notes() {
        Some((notes, true)) => Check::ok(
            "index",
            format!("holds {}; each search looks for what changed since", plan::count(notes, "note")),
        ),
        Some((notes, false)) => Check::warn(
            "index",
            format!("is half built, with {}", plan::count(notes, "note")),
            "`memdir search` with any query goes on with it",
        ),
        None => Check::ok("index", "none yet: the first search builds it"),
    }
}

/// What tells meanings, where that is, and how far it has come; nothing where none is set.
fn meaning(engine: &Engine) -> Option<Check> {
    let (name, place) = engine.embeddings()?;
    let leaves = match place {
        Place::Process => "runs inside memdir; nothing leaves this machine".to_owned(),
        Place::Machine(at) => format!("runs on this machine, at {at}"),
        Place::Host(host) => format!("what notes hold, and what is asked, goes to {host}"),
    };
    Some(match engine.embedding_status() {
        Ok(EmbeddingStatus { notes, all }) if notes < all => Check::warn(
            "embeddings",
            format!("{name}: {leaves}; {notes} of {all} notes have vectors"),
            "`memdir search` with any query makes the others, but for notes that a rule hides",
        ),
        Ok(EmbeddingStatus { all, .. }) => {
            Check::ok("embeddings", format!("{name}: {leaves}; all {all} notes have vectors"))
        }
        Err(failure) => {
            let hint = failure.hint.unwrap_or_else(|| "notes are found by their words alone".to_owned());
            Check::warn("embeddings", format!("{name}: {}; {leaves}", failure.message), &hint)
        }
    })
}

/// Which files are set aside in Obsidian; nothing where none is.
fn obsidian(engine: &Engine) -> Option<Check> {
    let excluded = engine.excluded();
    if !excluded.unread.is_empty() {
        let message = format!("not all settings in `.obsidian` count: {}", excluded.unread.join("; "));
        let hint = "excluded files and templates that cannot be read are treated like all others";
        return Some(Check::warn("obsidian", message, hint));
    }
    let message = format!("{} excluded files and folders of templates are left out of `memdir check`", excluded.len());
    (!excluded.is_empty()).then(|| Check::ok("obsidian", message))
}

/// So many notes are named that cannot be read.
const MOST_NAMED: usize = 5;

fn notes(engine: &Engine) -> Check {
    match engine.check(&|| ()) {
        Ok(checked) => {
            let message = format!("{}, {}", plan::count(checked.notes, "note"), plan::count(checked.links, "link"));
            let unread = checked.findings.iter().filter(|finding| finding.kind == Kind::Unreadable);
            let unread: Vec<_> = unread.map(|finding| finding.path.as_str()).collect();
            let Some(first) = unread.get(..unread.len().min(MOST_NAMED)).filter(|first| !first.is_empty()) else {
                return Check::ok("notes", message);
            };
            let more = if unread.len() > first.len() { " and others" } else { "" };
            let message = format!("{message}; not read in full: {}{more}", first.join(", "));
            Check::warn("notes", message, "`memdir check --kind unreadable` says why")
        }
        Err(failure) => Check::failed("notes", failure),
    }
}

/// Notes that no other check looks at; nothing where there are none.
fn names(engine: &Engine) -> Option<Check> {
    Some(Check::warn("names", ignored(engine)?, RENAME_IGNORED))
}

/// What to do about notes that are [`ignored`].
pub(super) const RENAME_IGNORED: &str =
    "rename them in another program: no blank at the start, no control character, valid UTF-8, not too long";

/// Names the notes that memdir cannot name; `None` where there are none.
pub(super) fn ignored(engine: &Engine) -> Option<String> {
    let unnamed = engine.unnamed();
    let first: Vec<_> = unnamed.iter().take(MOST_NAMED).map(|path| format!("{path:?}")).collect();
    let more = if unnamed.len() > first.len() { " and others" } else { "" };
    let message = format!("memdir ignores notes whose names it cannot use: {}{more}", first.join(", "));
    (!first.is_empty()).then_some(message)
}

#[cfg(test)]
mod tests;

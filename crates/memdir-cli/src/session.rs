//! `memdir session`: the conversations that are kept.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::args::Global;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{file, open, talk};
use memdir_agent::{self as agent, Family, KeptMessage, KeptToolCall, Replayed, Session};
use memdir_core::report::Code;
use memdir_engine::Engine;
use memdir_tools::ServerName;
use memdir_vault::{MOST_SESSION_BYTES, SessionInfo};

/// What can be done with conversations.
#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// List the conversations, the newest first
    List,
    /// Remove a conversation; its changes to notes stay
    Remove {
        /// Its name
        id: String,
    },
    /// Replay a conversation without a model: what it did is done again, to the notes of this memory. Name a copy of
    /// the notes as they were then, with --memory. The permission mode and the person's answers come from the file, so
    /// replay only files you trust
    Replay {
        /// Its name; or the file with its lines, from `.memdir/*/sessions` of another memory
        file: PathBuf,

        /// Also where the memory has a history, which a copy that was made for this has not
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(global: &Global, command: &SessionCommand) -> Result<u8, Stop> {
    match command {
        SessionCommand::List => list(global),
        SessionCommand::Remove { id } => {
            open::open(global)?.engine.remove_session(id)?;
            global.answer(&json!({"removed": id}), |_| Ok(()))
        }
        SessionCommand::Replay { file, yes } => replay(global, file, *yes),
    }
}

fn list(global: &Global) -> Result<u8, Stop> {
    let engine = open::open(global)?.engine;
    let sessions = engine.sessions()?;
    let shape = |kept: &SessionInfo| {
        let (tools, tool_calls) = used(&engine, &kept.id);
        json!({
            "session": kept.id, "changed": kept.changed.to_string(), "bytes": kept.bytes, "known": is_known(&engine, kept),
            "tools": tools, "tool_calls": tool_calls,
        })
    };
    global.answer(&json!({"sessions": sessions.iter().map(shape).collect::<Vec<_>>()}), |stdout| {
        for kept in &sessions {
            let unknown = match is_known(&engine, kept) {
                true => "",
                false => "  unknown: not written by this memory, so it cannot be continued",
            };
            writeln!(stdout, "{}  {}  {} bytes{unknown}", kept.id, kept.changed, kept.bytes)?;
            let (tools, calls) = used(&engine, &kept.id);
            if !tools.is_empty() {
                let names: Vec<&str> = tools.iter().map(ServerName::as_str).collect();
                writeln!(stdout, "    tools: {}", names.join(", "))?;
            }
            for KeptToolCall { tool, arguments, bytes, ms, code, .. } in &calls {
                let came = code.clone().unwrap_or_else(|| format!("{bytes} bytes"));
                writeln!(stdout, "    {tool}  sent {arguments}  {came}  {ms} ms")?;
            }
        }
        if sessions.is_empty() { Ok(say("no conversations are kept")?) } else { Ok(()) }
    })
}

/// Whether a conversation can be gone on with. One that is too large cannot.
pub(super) fn is_known(engine: &Engine, kept: &SessionInfo) -> bool {
    engine.read_own_session(&kept.id).is_ok_and(|lines| lines.is_some())
}

/// The servers whose tools a conversation has switched on, and the calls that were made; nothing of one that memdir has not written.
fn used(engine: &Engine, id: &str) -> (BTreeSet<ServerName>, Vec<KeptToolCall>) {
    let Ok(Some(lines)) = engine.read_own_session(id) else { return Default::default() };
    let tools = Session::of(id, &lines).map(|session| session.switches.tools).unwrap_or_default();
    (tools, KeptMessage::of(&lines).into_iter().flat_map(|message| message.tool_calls).collect())
}

fn replay(global: &Global, file: &Path, is_sure: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let lines = match file.to_str().filter(|_| !file.exists()).map(|id| opened.engine.read_session(id)) {
        Some(Ok(Some(lines))) => lines,
        Some(Err(failure)) if failure.code != Code::NotFound => return Err(failure.into()),
        _ => read(file)?,
    };
    if !is_sure && opened.engine.has_history()? {
        let hint = "name a copy of the notes, without `.memdir`, with `--memory`; or add `--yes`";
        return Err(usage("this memory has a history, and its notes would be changed", hint).into());
    }
    let settings = talk::settings_of(&opened.config, Family::Capable, "ask");
    let replayed = agent::replay(&opened.engine, &lines, &settings)?;
    let Replayed { messages, turns, changed, differences, not_called, .. } = &replayed;
    global.answer(&replayed, |stdout| {
        changed.iter().try_for_each(|path| stdout.line(path.as_str()))?;
        say(format!("{messages} messages, {turns} turns, {} notes changed", changed.len()))?;
        not_called.iter().try_for_each(|call| say(format!("not called again: {call}")))?;
        Ok(differences.iter().try_for_each(|difference| say(format!("different: {difference}")))?)
    })?;
    // As where a call fails that did not fail before.
    Ok(if differences.is_empty() { 0 } else { 4 })
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let unreadable = |kind: io::ErrorKind| {
        let why = match kind {
            io::ErrorKind::FileTooLarge => "the session has more than 16 MiB".to_owned(),
            io::ErrorKind::NotFound => "there is no session and no file of this name".to_owned(),
            kind => format!("the session cannot be read: {}", file::why(kind)),
        };
        usage(why, "`memdir session list` shows the sessions; or name a file with the lines of one")
    };
    let read = file::read(path, MOST_SESSION_BYTES).map_err(|error| unreadable(error.kind()))?;
    let (mut lines, _) = read.ok_or_else(|| unreadable(io::ErrorKind::NotFound))?;
    // A line that a crash left unfinished does not count.
    lines.truncate(lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    Ok(lines)
}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn a_pipe_is_no_session_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        assert!(super::read(&pipe).is_err());
    }
}

//! `memdir session`: the conversations that are kept.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::args::Global;
use super::exit::{Stop, print_json, usage};
use super::{file, open, talk, term};
use crate::agent::{self, Family, Replayed};
use crate::vault::{Kept, MOST_SESSION_BYTES};

/// What can be typed behind `memdir session`.
#[derive(Debug, Subcommand)]
pub(super) enum Asked {
    /// List the conversations, the newest first
    List,
    /// Remove a conversation; what it has changed in notes stays
    Remove {
        /// Its name
        id: String,
    },
    /// Do once more what a conversation has done, without a model, on a copy of the notes as they were then. The permission mode and
    /// the answers of the person are those in the file: take one that you know
    Replay {
        /// The file with its lines, from `.memdir/*/sessions` of the other memory
        file: PathBuf,
    },
}

pub(super) fn run(global: &Global, asked: &Asked) -> Result<u8, Stop> {
    match asked {
        Asked::List => list(global),
        Asked::Remove { id } => {
            open::open(global)?.engine.remove_session(id)?;
            if global.json {
                print_json(&json!({"removed": id}))?;
            }
            Ok(0)
        }
        Asked::Replay { file } => replay(global, file),
    }
}

fn list(global: &Global) -> Result<u8, Stop> {
    let engine = open::open(global)?.engine;
    let sessions = engine.sessions()?;
    // One that is too large is not gone on with either.
    let is_known = |kept: &Kept| engine.read_own_session(&kept.id).is_ok_and(|lines| lines.is_some());
    if global.json {
        let shape = |kept: &Kept| json!({"session": kept.id, "changed": kept.changed.to_string(), "bytes": kept.bytes, "known": is_known(kept)});
        print_json(&json!({"sessions": sessions.iter().map(shape).collect::<Vec<_>>()}))?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for kept in sessions {
        let unknown =
            if is_known(&kept) { "" } else { "  unknown: not written by this memory, so it cannot be continued" };
        writeln!(stdout, "{}  {}  {} bytes{unknown}", kept.id, kept.changed, kept.bytes)?;
    }
    Ok(stdout.flush().map(|()| 0)?)
}

fn replay(global: &Global, file: &Path) -> Result<u8, Stop> {
    let lines = read(file)?;
    let opened = open::open(global)?;
    let settings = talk::settings_of(&opened.config, Family::Capable, "ask");
    let replayed = agent::replay(&opened.engine, &lines, &settings)?;
    if global.json {
        print_json(&replayed)?;
    } else {
        tell(&replayed)?;
    }
    // As where a call fails that did not.
    Ok(if replayed.differences.is_empty() { 0 } else { 4 })
}

fn tell(replayed: &Replayed) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for path in &replayed.changed {
        writeln!(stdout, "{}", term::escape_line(path.as_str()))?;
    }
    stdout.flush()?;
    let mut stderr = io::stderr().lock();
    let Replayed { messages, turns, changed, .. } = replayed;
    writeln!(stderr, "{messages} messages, {turns} turns, {} notes changed", changed.len())?;
    for difference in &replayed.differences {
        writeln!(stderr, "different: {}", term::escape_line(difference))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Stop> {
    let unreadable = |kind: io::ErrorKind| {
        let why = match kind {
            io::ErrorKind::FileTooLarge => "the session has more than 16 MiB".to_owned(),
            kind => format!("the session cannot be read: {kind}"),
        };
        usage(why, "name a file with the lines of a session")
    };
    let read = file::read(path, MOST_SESSION_BYTES).map_err(|error| unreadable(error.kind()))?;
    let (mut lines, _) = read.ok_or_else(|| unreadable(io::ErrorKind::NotFound))?;
    // A line that a crash has left unfinished was never said.
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

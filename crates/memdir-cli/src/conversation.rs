//! `exec --conversation FILE`: what one call of the program leaves for the next.
//!
//! Owns the file: one JSON object a line, each a turn, with the version of the form. A line that a crash has left unfinished
//! was never said and is dropped. While a turn is at work the file is locked, so that turns of one conversation follow each other.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::file;
use super::stop::{Stop, usage};
use memdir_core::report::{Code, Failure, Value, Variables};
use memdir_core::time::Timestamp;
use memdir_plan::Seen;

/// The form of a line.
const VERSION: u32 = 1;

/// A file that holds the turns of a conversation, locked.
#[expect(clippy::disallowed_types, reason = "the person names this file on the command line")]
pub(super) struct Conversation {
    file: std::fs::File,
    variables: Map<String, Json>,
    seen: Seen,
}

/// One line.
#[derive(Debug, Deserialize, Serialize)]
struct Turn {
    version: u32,
    time: String,
    /// What the turn has set.
    variables: Map<String, Json>,
    /// What it has seen that was not known, or otherwise, before.
    seen: Seen,
}

/// What every line has, whatever its version.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

impl Conversation {
    /// Opens the file, makes it if it is not there, and waits for whoever has it, for at most so long.
    #[expect(clippy::disallowed_types, reason = "the person names this file on the command line")]
    pub(super) fn open(path: &Path, limit: Duration) -> Result<Self, Stop> {
        let unusable = |error: io::Error| {
            usage(format!("the conversation cannot be opened: {}", error.kind()), "name a file that can be written")
        };
        let mut options = std::fs::OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file: std::fs::File = options.open(path).map_err(unusable)?;
        let is_file = file.metadata().map_err(unusable)?.is_file();
        if !is_file {
            return Err(usage("the conversation is no file", "name a file that can be written").into());
        }
        if file::lock(&file, limit).map_err(unusable)?.is_none() {
            let failure = Failure::new(Code::Busy, "another turn of this conversation is still at work");
            return Err(failure.with_hint("nothing was done; try again in a moment").into());
        }
        let mut conversation = Self { file, variables: Map::new(), seen: Seen::default() };
        conversation.load().map_err(unusable)??;
        Ok(conversation)
    }

    /// Reads all turns, and cuts off one that a crash has left unfinished.
    fn load(&mut self) -> io::Result<Result<(), Failure>> {
        let mut text = Vec::new();
        self.file.read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let unfinished = text.get(whole..).unwrap_or_default();
        let lines = text.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        for (line, number) in lines.zip(1..) {
            match turn(line, number) {
                Ok(turn) => {
                    self.variables.extend(turn.variables);
                    self.seen.extend(turn.seen);
                }
                Err(failure) => return Ok(Err(failure)),
            }
        }
        if !unfinished.is_empty() {
            // What does not begin as a turn is nothing that memdir wrote.
            let head = format!("{{\"version\":{VERSION},");
            let (shorter, longer) = if unfinished.len() < head.len() {
                (unfinished, head.as_bytes())
            } else {
                (head.as_bytes(), unfinished)
            };
            if !longer.starts_with(shorter) {
                let failure = Failure::new(Code::Damaged, "the conversation ends in what is no turn of one");
                return Ok(Err(failure.with_hint("name another file")));
            }
            self.file.set_len(whole as u64)?;
            self.file.seek(SeekFrom::End(0))?;
        }
        Ok(Ok(()))
    }

    /// The variables that a Python block can read.
    pub(super) fn variables(&self) -> Variables {
        Variables::new(self.variables.iter().filter_map(|(name, value)| Some((name.clone(), Value::plain(value)?))))
    }

    /// What the conversation has seen so far.
    pub(super) fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// Adds a turn, flushed.
    pub(super) fn keep(mut self, time: Timestamp, variables: &Variables, seen: Option<Seen>) -> Result<(), Stop> {
        let variables = match serde_json::to_value(variables) {
            Ok(Json::Object(variables)) => variables,
            _ => Map::new(),
        };
        let seen = seen.unwrap_or_default().since(&self.seen);
        let turn = Turn { version: VERSION, time: time.to_string(), variables, seen };
        let mut line = serde_json::to_vec(&turn).map_err(io::Error::from)?;
        line.push(b'\n');
        self.file.write_all(&line).and_then(|()| self.file.sync_data()).map_err(|error| {
            Failure::new(Code::Io, format!("the conversation was not written: {}", error.kind()))
                .with_hint("the calls were done all the same; do not send them again")
        })?;
        Ok(())
    }
}

fn turn(line: &[u8], number: usize) -> Result<Turn, Failure> {
    let damaged = |what: &str| Failure::new(Code::Damaged, format!("the conversation, line {number}: {what}"));
    match serde_json::from_slice::<Versioned>(line) {
        Ok(Versioned { version: VERSION }) => {}
        Ok(Versioned { version }) => {
            return Err(damaged(&format!("its form is {version}, and this program reads {VERSION}"))
                .with_hint("use the newest memdir, or another file"));
        }
        Err(_) => return Err(damaged("it is no turn of a conversation").with_hint("name another file")),
    }
    serde_json::from_slice(line).map_err(|error| damaged(&error.to_string()).with_hint("name another file"))
}

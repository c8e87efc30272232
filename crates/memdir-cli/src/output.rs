//! How a command answers: one JSON object for a program, or lines for a person.

use std::fmt::Display;
use std::io::{self, StdoutLock, Write};

use serde::Serialize;

use super::args::{Global, Paging};
use super::stop::Stop;
use super::term;
use memdir_core::report::{Code, Failure};
use memdir_core::shell::quoted;

/// Lines for a person: whatever could move the cursor or change a title is escaped.
pub(super) trait Lines: Write {
    /// Writes one line.
    fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        writeln!(self, "{}", term::escape_line(text.as_ref()))
    }
}

impl<W: Write> Lines for W {}

impl Global {
    /// Answers on standard output: with `value` as JSON if that was asked for, else with what `show` writes.
    pub(super) fn answer(
        &self,
        value: &impl Serialize,
        show: impl FnOnce(&mut StdoutLock<'static>) -> Result<(), Stop>,
    ) -> Result<u8, Stop> {
        if self.json {
            print_json(value)?;
        } else {
            let mut stdout = io::stdout().lock();
            show(&mut stdout)?;
            stdout.flush()?;
        }
        Ok(0)
    }
}

impl Paging {
    /// Says how a list goes on that has another page.
    pub(super) fn say_next(&self, total: usize, cursor: Option<&str>) -> Result<(), Stop> {
        let next = cursor.map(|cursor| format!("{total} in all; go on with --cursor {}", quoted(cursor)));
        Ok(next.iter().try_for_each(say)?)
    }
}

/// Prints a value as one JSON object on one line.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Stop> {
    let json = serde_json::to_string(value).map_err(io::Error::from)?;
    let mut stdout = io::stdout().lock();
    stdout.write_all(term::json(&json, &stdout).as_bytes())?;
    stdout.write_all(b"\n")?;
    Ok(stdout.flush()?)
}

/// Tells the person one line on standard error.
pub(super) fn say(text: impl AsRef<str>) -> io::Result<()> {
    io::stderr().lock().line(text)
}

/// Tells the person about a failure on standard error, behind `lead`, with its hint on a line of its own.
pub(super) fn say_failure(lead: &str, failure: &Failure) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    stderr.line(format!("{lead}: {}", failure.message))?;
    failure.hint.iter().try_for_each(|hint| stderr.line(format!("hint: {hint}")))
}

/// The failure `io` for an error of the system, which is named behind `what`.
pub(super) fn io_failure(what: impl Display) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::new(Code::Io, format!("{what}: {}", error.kind()))
}

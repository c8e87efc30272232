//! Questions to the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use super::output::say;
use super::stop::Stop;
use super::{interrupt, term};

/// Whether somebody can be asked: both what is typed and what is shown are a terminal's.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and waits for a line, which is given without blanks around it; `None` where nothing more is typed. Ctrl-C ends the
/// question, and with [`Stop::Interrupted`] the command.
pub(super) fn line(question: &str) -> Result<Option<String>, Stop> {
    let question = term::escape_line(question).into_owned();
    // It is shown in there, too: who sees it can end it.
    let read = interrupt::unless_interrupted(move || {
        let mut stderr = io::stderr().lock();
        write!(stderr, "{question} ")?;
        stderr.flush()?;
        drop(stderr);
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).map(|read| (read > 0).then(|| answer.trim().to_owned()))
    })?;
    match read {
        Some(answer) => Ok(answer?),
        None => {
            // What comes next begins on a line of its own.
            let _ = say("");
            Err(Stop::Interrupted)
        }
    }
}

/// Asks, and waits for a line; everything but `y` and `yes` is no.
pub(super) fn agrees(question: &str) -> Result<bool, Stop> {
    let answer = line(&format!("{question} [y/N]"))?.unwrap_or_default();
    Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes"))
}

/// As [`agrees`]; says `otherwise` where the answer is no.
pub(super) fn agrees_or(question: &str, otherwise: &str) -> Result<bool, Stop> {
    let is_agreed = agrees(question)?;
    if !is_agreed {
        say(otherwise)?;
    }
    Ok(is_agreed)
}

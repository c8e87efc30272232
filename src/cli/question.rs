//! A yes-or-no question to the person at the terminal.

use std::io::{self, BufRead, IsTerminal, Write};

use super::exit::Stop;

/// Whether somebody can be asked: both what is typed and what is shown are a terminal's.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and waits for a line; everything but `y` and `yes` is no.
pub(super) fn agrees(question: &str) -> Result<bool, Stop> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

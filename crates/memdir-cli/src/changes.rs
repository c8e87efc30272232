//! What was changed and by whom, as a person is told it.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::term;
use memdir_core::report::LogEntry;
use memdir_plan::NoteChange;
use memdir_words::{ago, who};

/// How many notes of one change are listed.
const MOST_NOTES: usize = 8;
/// The longest name that what was done stands beside.
const MOST_NAME: usize = 32;

/// The number of a change, when it was and who made it: `12  14:05 UTC (2 hours ago)  you`.
pub(super) fn headline(entry: &LogEntry, width: usize) -> String {
    let moment = ago::Moment::of(&entry.time);
    let time = moment.as_ref().map_or_else(|| entry.time.clone(), ago::Moment::clock);
    let recent = moment.and_then(|moment| moment.recent()).map_or_else(String::new, |ago| format!(" ({ago})"));
    let who = who::made(entry);
    let undoes = who::undid(entry).map_or_else(String::new, |undid| format!(", {undid}"));
    let undone = entry.undone_by.map_or_else(String::new, |batch| format!(", undone by {batch}"));
    let number = entry.batch.map_or_else(String::new, |batch| batch.to_string());
    let line = format!("{number:>width$}  {time}{recent}  {who}{undoes}{undone}");
    term::escape_line(&line).into_owned()
}

/// The changes that an undo passed over, since nothing is left of them; there is at least one.
pub(super) fn taken_back(batches: &[u64]) -> String {
    let numbers: Vec<String> = batches.iter().map(u64::to_string).collect();
    let what = match numbers.split_last() {
        Some((last, others)) if !others.is_empty() => format!("changes {} and {last}", others.join(", ")),
        _ => format!("change {}", numbers.concat()),
    };
    format!("another program has already taken back {what}")
}

/// Shows what was done to each note, behind `indent`; what was lost stands out.
pub(super) fn show(changes: &[NoteChange], indent: &str, output: &mut (impl Write + IsTerminal)) -> io::Result<()> {
    let loss = term::style(AnsiColor::Red.on_default().bold(), output);
    for change in changes.iter().take(MOST_NOTES) {
        let name = term::escape_line(&change.name);
        let length = name.chars().count();
        let below = " ".repeat(length.min(MOST_NAME) + 2);
        let mut lead = format!("{indent}{name}  ");
        if length > MOST_NAME && !change.lines.is_empty() {
            writeln!(output, "{indent}{name}")?;
            lead = format!("{indent}{below}");
        }
        for line in &change.lines {
            let style = if line.is_loss { loss } else { Style::new() };
            writeln!(output, "{lead}{style}{}{style:#}", term::escape_line(&line.words))?;
            lead = format!("{indent}{below}");
        }
    }
    match changes.len().saturating_sub(MOST_NOTES) {
        0 => Ok(()),
        1 => writeln!(output, "{indent}and 1 more note"),
        more => writeln!(output, "{indent}and {more} more notes"),
    }
}

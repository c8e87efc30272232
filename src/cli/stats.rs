//! `memdir log --stats`: the audit in numbers.

use std::io::{self, Write};

use super::args::Global;
use super::exit::{Stop, print_json};
use super::{open, term};
use crate::vault::Tally;

/// How many clients and sessions a person is shown.
const MOST: usize = 20;

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let stats = open::open(global)?.engine.stats()?;
    if global.json {
        print_json(&stats)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    match (&stats.since, &stats.until) {
        (Some(since), Some(until)) => writeln!(stdout, "{} calls from {since} to {until}", stats.entries)?,
        _ => writeln!(stdout, "no calls yet")?,
    }
    let kinds = [
        ("action", &stats.actions, usize::MAX),
        ("door", &stats.doors, usize::MAX),
        ("client", &stats.clients, MOST),
        ("session", &stats.sessions, MOST),
    ];
    for (kind, tallies, most) in kinds.into_iter().filter(|(_, tallies, _)| !tallies.is_empty()) {
        let width =
            tallies.iter().take(most).map(|tally| tally.name.chars().count()).max().unwrap_or(0).max(kind.len());
        let head = ["calls", "refused", "failed", "median ms", "p95 ms", "max ms"];
        writeln!(stdout, "\n{kind:width$}  {}", head.map(|head| format!("{head:>9}")).join("  "))?;
        for tally in tallies.iter().take(most) {
            writeln!(stdout, "{}", line(tally, width))?;
        }
        if tallies.len() > most {
            writeln!(stdout, "and {} more: --json", tallies.len() - most)?;
        }
    }
    stdout.flush()?;
    Ok(0)
}

fn line(tally: &Tally, width: usize) -> String {
    let Tally { name, calls, refused, failed, codes, ms } = tally;
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let numbers = [calls, refused, failed].map(|number| format!("{number:>9}")).join("  ");
    let times = [ms.median, ms.p95, ms.max].map(|ms| format!("{ms:>9.2}")).join("  ");
    let line = format!("{name:width$}  {numbers}  {times}  {}", codes.join(", "));
    term::escape_line(line.trim_end()).into_owned()
}

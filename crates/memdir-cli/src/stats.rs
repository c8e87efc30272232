//! `memdir log --stats`: the audit in numbers.

use std::io::Write;

use super::args::Global;
use super::open;
use super::output::Lines;
use super::stop::Stop;
use memdir_vault::{Tally, ToolFilter};

/// How many clients and sessions a person is shown.
const MOST: usize = 20;

pub(super) fn run(global: &Global, tools: Option<&ToolFilter>) -> Result<u8, Stop> {
    let stats = open::open(global)?.engine.stats(tools)?;
    global.answer(&stats, |stdout| {
        match (&stats.since, &stats.until) {
            (Some(since), Some(until)) => writeln!(stdout, "{} calls from {since} to {until}", stats.entries)?,
            _ => writeln!(stdout, "no calls yet")?,
        }
        table(stdout, "action", &stats.actions, usize::MAX)?;
        table(stdout, "server", &stats.servers, usize::MAX)?;
        table(stdout, "tool", &stats.tools, usize::MAX)?;
        table(stdout, "door", &stats.doors, usize::MAX)?;
        table(stdout, "client", &stats.clients, MOST)?;
        table(stdout, "session", &stats.sessions, MOST)
    })
}

fn table(output: &mut impl Write, kind: &str, tallies: &[Tally], most: usize) -> Result<(), Stop> {
    let shown = tallies.get(..most).unwrap_or(tallies);
    let Some(width) = shown.iter().map(|tally| tally.name.chars().count()).max() else { return Ok(()) };
    let width = width.max(kind.len());
    let head = ["calls", "refused", "failed", "median ms", "p95 ms", "max ms"];
    writeln!(output, "\n{kind:width$}  {}", head.map(|head| format!("{head:>9}")).join("  "))?;
    for Tally { name, calls, refused, failed, codes, ms } in shown {
        let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        let numbers = [calls, refused, failed].map(|number| format!("{number:>9}")).join("  ");
        let times = [ms.median, ms.p95, ms.max].map(|ms| format!("{ms:>9.2}")).join("  ");
        output.line(format!("{name:width$}  {numbers}  {times}  {}", codes.join(", ")).trim_end())?;
    }
    if tallies.len() > shown.len() {
        writeln!(output, "and {} more: --json", tallies.len() - shown.len())?;
    }
    Ok(())
}

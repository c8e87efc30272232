//! `memdir check`: what is wrong in the memory, and the actions that would mend it.

use std::collections::HashMap;
use std::io::{self, Write};

use super::args::{FindingKind, Global};
use super::exit::{Stop, print_json};
use super::{open, progress, term};
use crate::check::{self, Checked, Finding, Kind};
use crate::engine::Engine;
use crate::path::MemoryPath;

/// So many findings are shown of those that are worst.
const WORST: usize = 10;

pub(super) fn run(global: &Global, kind: Option<FindingKind>, is_all: bool) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let mut checked = look(global, &opened.engine)?;
    if let Some(kind) = kind {
        checked.findings.retain(|finding| finding.kind == kind.into());
    }
    if global.json {
        print_json(&checked)?
    } else {
        tell(&checked, is_all)?
    }
    Ok(0)
}

/// Checks a memory, with a bar on a terminal.
pub(super) fn look(global: &Global, engine: &Engine) -> Result<Checked, Stop> {
    let progress = progress::spinner(global, "notes read");
    let checked = engine.check(&|| progress.inc(1));
    progress.finish_and_clear();
    Ok(checked?)
}

fn tell(checked: &Checked, is_all: bool) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for (kind, count) in check::counts(&checked.findings) {
        writeln!(stdout, "{count} {}", words(kind))?;
    }
    let worst = check::worst(&checked.findings);
    let lines = lines(&worst);
    let most = if is_all { lines.len() } else { WORST };
    if !lines.is_empty() {
        writeln!(stdout)?;
    }
    for line in lines.iter().take(most) {
        writeln!(stdout, "{}", term::escape_line(line))?;
    }
    if let Some(more) = lines.len().checked_sub(most).filter(|more| *more > 0) {
        writeln!(stdout, "and {more} more: `memdir check --all`")?;
    }
    if !lines.is_empty() {
        writeln!(stdout)?;
    }
    let faults = checked.findings.iter().filter(|finding| finding.kind != Kind::Unwritten).count();
    writeln!(stdout, "{faults} findings in {} notes with {} links", checked.notes, checked.links)?;
    stdout.flush()?;
    let mends = checked.findings.iter().filter(|finding| finding.action.is_some()).count();
    if mends > 0 {
        writeln!(io::stderr(), "{mends} of them have an action that mends them: see --json, send it to `memdir exec`")?;
    }
    Ok(())
}

/// A line for each finding, and one for all active content of a note.
fn lines(findings: &[&Finding]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut active: HashMap<&MemoryPath, usize> = HashMap::new();
    for finding in findings {
        if finding.kind == Kind::ActiveContent {
            let at = *active.entry(&finding.path).or_insert(lines.len());
            if let Some(line) = lines.get_mut(at) {
                *line = format!("{line}; {}", finding.message);
                continue;
            }
        }
        lines.push(sentence(finding));
    }
    lines
}

fn sentence(finding: &Finding) -> String {
    let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{}{line}  {}", finding.path, finding.message)
}

/// How many findings of each kind there are, in words; empty where there are none.
pub(super) fn summary(findings: &[Finding]) -> String {
    let counts = check::counts(findings);
    let words = counts.iter().map(|(kind, count)| format!("{count} {}", words(*kind)));
    words.collect::<Vec<_>>().join(", ")
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::BrokenLink => "broken links",
        Kind::Unwritten => "links to notes not written yet",
        Kind::Orphan => "notes without links",
        Kind::Duplicate => "duplicates",
        Kind::ConflictingFact => "conflicting facts",
        Kind::Oversized => "notes that are too large",
        Kind::SyncConflict => "copies from conflicts",
        Kind::UnportableName => "names that not every system can store",
        Kind::ActiveContent => "kinds of active content in notes",
    }
}

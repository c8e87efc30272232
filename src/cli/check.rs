//! `memdir check`: what is wrong in the memory, and the actions that would mend it.

use std::io::{self, Write};

use super::args::{FindingKind, Global};
use super::exit::{Stop, print_json};
use super::{open, progress, term};
use crate::check::{self, Checked, Finding, Kind};
use crate::engine::Engine;

pub(super) fn run(global: &Global, kind: Option<FindingKind>) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let mut checked = look(global, &opened.engine)?;
    if let Some(kind) = kind {
        checked.findings.retain(|finding| finding.kind == kind.into());
    }
    if global.json {
        print_json(&checked)?
    } else {
        tell(&checked)?
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

fn tell(checked: &Checked) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let counts = check::counts(&checked.findings);
    for (kind, count) in &counts {
        writeln!(stdout, "{} ({count})", words(*kind))?;
        for finding in checked.findings.iter().filter(|finding| finding.kind == *kind) {
            writeln!(stdout, "  {}", term::escape_line(&sentence(finding)))?;
        }
    }
    let found = checked.findings.len();
    let mends = checked.findings.iter().filter(|finding| finding.action.is_some()).count();
    writeln!(stdout, "{found} findings in {} notes with {} links", checked.notes, checked.links)?;
    stdout.flush()?;
    if mends > 0 {
        writeln!(io::stderr(), "{mends} of them have an action that mends them: see --json, send it to `memdir exec`")?;
    }
    Ok(())
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
        Kind::Orphan => "notes without links",
        Kind::Duplicate => "duplicates",
        Kind::ConflictingFact => "conflicting facts",
        Kind::Oversized => "notes that are too large",
        Kind::SyncConflict => "copies from conflicts",
        Kind::UnportableName => "names that not every system can store",
        Kind::ActiveContent => "places with active content",
    }
}

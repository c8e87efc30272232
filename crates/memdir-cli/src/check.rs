//! `memdir check`: what is wrong in the memory, and the actions that would mend it.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use super::args::Global;
use super::output::{Lines, say};
use super::stop::Stop;
use super::{doctor, open, progress};
use memdir_check::{self as check, Checked, Finding, Kind};
use memdir_core::path::MemoryPath;
use memdir_engine::Engine;
use memdir_plan::count;

/// So many findings are shown of those that are worst.
const WORST: usize = 10;
/// So many places are told of those that link to a note that is not written yet.
const PLACES: usize = 3;

pub(super) fn run(global: &Global, kind: Option<Kind>, is_all: bool) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let mut checked = look(global, &opened.engine)?;
    if let Some(kind) = kind {
        checked.findings.retain(|finding| finding.kind == kind);
    }
    let mends = opened.engine.mendable(&checked.findings);
    let code = global.answer(&checked, |stdout| show(&checked, mends, is_all, stdout))?;
    // No finding can name them.
    let is_asked = kind.is_none_or(|kind| matches!(kind, Kind::UnportableName | Kind::Unreadable));
    if let Some(ignored) = doctor::ignored(&opened.engine).filter(|_| is_asked) {
        say(format!("note: {ignored}; {}", doctor::RENAME_IGNORED))?;
    }
    Ok(code)
}

/// Checks a memory, with a bar on a terminal.
pub(super) fn look(global: &Global, engine: &Engine) -> Result<Checked, Stop> {
    let progress = progress::spinner(global, "notes read");
    let checked = engine.check(&|| progress.inc(1));
    progress.finish_and_clear();
    Ok(checked?)
}

fn show(checked: &Checked, mends: usize, is_all: bool, stdout: &mut impl Write) -> Result<(), Stop> {
    for line in counted(&checked.findings) {
        writeln!(stdout, "{line}")?;
    }
    let worst = check::worst(&checked.findings);
    let lines = lines(&worst, is_all);
    let most = if is_all { lines.len() } else { WORST };
    if !lines.is_empty() {
        writeln!(stdout)?;
    }
    for line in lines.iter().take(most) {
        stdout.line(line)?;
    }
    if let Some(more) = lines.len().checked_sub(most).filter(|more| *more > 0) {
        writeln!(stdout, "and {more} more: `memdir check --all`")?;
    }
    if !lines.is_empty() {
        writeln!(stdout)?;
    }
    let (notes, links) = (count(checked.notes, "note"), count(checked.links, "link"));
    writeln!(stdout, "looked through {notes} and {links}")?;
    let conflicts = checked.findings.iter().filter(|finding| finding.kind == Kind::ConflictingFact).count();
    if conflicts > 0 {
        say("`memdir review` asks you which of two conflicting facts is right")?;
    }
    if mends > 0 {
        say(format!("`memdir tidy` proposes how to mend {mends} of these, and changes nothing before you approve it"))?;
    }
    Ok(())
}

/// A line for each finding, one for all active content of a note, and one for each note that is not written yet.
fn lines(findings: &[&Finding], is_all: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut active: HashMap<&MemoryPath, usize> = HashMap::new();
    for finding in findings.iter().filter(|finding| name_not_written(finding).is_none()) {
        if finding.kind == Kind::ActiveContent {
            let at = *active.entry(&finding.path).or_insert(lines.len());
            if let Some(line) = lines.get_mut(at) {
                *line = format!("{line}; {}", finding.message);
                continue;
            }
        }
        lines.push(sentence(finding));
    }
    lines.extend(not_written(findings, is_all));
    lines
}

/// The name that a link asks for to which nobody has written a note, where no action mends it.
fn name_not_written(finding: &Finding) -> Option<&str> {
    let target = finding.target.as_deref().filter(|_| finding.kind == Kind::Unwritten && finding.action.is_none())?;
    Some(target.split('#').next().unwrap_or_default())
}

/// The notes that are not written yet, those first that most links ask for, each with the first places that do.
fn not_written(findings: &[&Finding], is_all: bool) -> Vec<String> {
    let mut asking: HashMap<&str, Vec<&Finding>> = HashMap::new();
    for finding in findings {
        if let Some(name) = name_not_written(finding) {
            asking.entry(name).or_default().push(finding);
        }
    }
    let mut names: Vec<_> = asking.into_iter().collect();
    names.sort_by(|(one, places), (other, others)| others.len().cmp(&places.len()).then_with(|| one.cmp(other)));
    let line = |(name, places): (&str, Vec<&Finding>)| {
        let most = if is_all { places.len() } else { PLACES };
        let shown: Vec<String> = places.iter().take(most).map(|finding| place(finding)).collect();
        let more = places.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let nearest = places.first().and_then(|finding| finding.message.split_once("; "));
        let nearest = nearest.map_or_else(String::new, |(_, nearest)| format!("; {nearest}"));
        format!("{} × [[{name}]]  not written yet, in {}{more}{nearest}", places.len(), shown.join(", "))
    };
    names.into_iter().map(line).collect()
}

fn place(finding: &Finding) -> String {
    finding.line.map_or_else(|| finding.path.to_string(), |line| format!("{}:{line}", finding.path))
}

/// Where it is, and what; without the path and the line once more.
fn sentence(finding: &Finding) -> String {
    let (path, line) = (format!("`{}` ", finding.path), finding.line.map(|line| format!("line {line} ")));
    let message = match finding.kind {
        Kind::Orphan => "no link leads to it, and none from it",
        _ => finding.message.strip_prefix(&path).unwrap_or(&finding.message),
    };
    let message = line.as_deref().and_then(|line| message.strip_prefix(line)).unwrap_or(message);
    format!("{}  {message}", place(finding))
}

/// How many findings of each kind there are, in words; empty where there are none.
pub(super) fn summary(findings: &[Finding]) -> String {
    counted(findings).join(", ")
}

/// How many findings there are of each kind; of active content, in how many notes it is.
fn counted(findings: &[Finding]) -> Vec<String> {
    let active = findings.iter().filter(|finding| finding.kind == Kind::ActiveContent);
    let active: HashSet<&MemoryPath> = active.map(|finding| &finding.path).collect();
    let counts = check::counts(findings).into_iter();
    counts.map(|(kind, found)| words(kind, if kind == Kind::ActiveContent { active.len() } else { found })).collect()
}

fn words(kind: Kind, number: usize) -> String {
    let (noun, rest) = match kind {
        Kind::BrokenLink => ("broken link", ""),
        Kind::Unwritten => ("link", " to notes not written yet"),
        Kind::Orphan => ("note", " without links"),
        Kind::Duplicate => ("duplicate", ""),
        Kind::ConflictingFact => ("conflicting fact", ""),
        Kind::Oversized => ("note", " too large for memdir to write"),
        Kind::SyncConflict => ("sync conflict", ""),
        Kind::UnportableName => ("name", " that not every system can store"),
        Kind::ActiveContent => ("note", " with active content"),
        Kind::Unreadable => ("note", " that cannot be read in full"),
    };
    format!("{}{rest}", count(number, noun))
}

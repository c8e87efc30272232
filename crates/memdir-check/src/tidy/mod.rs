//! What would make a memory tidier, as actions that a person can agree to.
//!
//! Owns the signals, all of them plain: what [`super::check`] finds and can mend, a twin that says nothing of its own, a fact
//! whose time is over, a note without links that another one names, a section that makes its note too long. Decides
//! nothing: each step is proposed, and is the same again as long as the memory is.

mod named;
mod section;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use self::named::Orphans;
use super::edit::{edit, without_line};
use super::name;
use super::{Checked, Finding, Kind, Seen, leads_alike};
use memdir_core::action::{Action, DeleteFile, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_core::report::LinkKind;
use memdir_core::time::Timestamp;
use memdir_note::link::Style;
use memdir_note::relink::Before;
use memdir_note::{Note, Period, Syntax, fact};

/// One step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TidyStep {
    /// Why, as a few words.
    pub why: &'static str,
    /// The note it is about.
    pub path: MemoryPath,
    /// The actions, of which the later ones make no sense without the first.
    pub actions: Vec<Action>,
}

impl TidyStep {
    /// What tells it from every other step: the same text for the same change, whatever stands around its place.
    #[must_use]
    pub fn identity(&self) -> String {
        self.actions.iter().map(identity).collect::<Vec<_>>().join("\0")
    }

    /// Whether it moves lines to a new note. The history does not follow them, so who wrote them first is not known there.
    #[must_use]
    pub fn moves_lines(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::CreateFile(_)))
    }
}

fn identity(action: &Action) -> String {
    if let Action::UpdateFile(update) = action {
        let (old, new) = changed(update);
        // With the words around it: other links may be mended by the same letter.
        let before = update.old_content.get(..old.start).and_then(|before| before.rsplit(char::is_whitespace).next());
        let after = update.old_content.get(old.end..).and_then(|after| after.split(char::is_whitespace).next());
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let old = update.old_content.get(old).unwrap_or_default();
        let around = |middle: &str| format!("{before}{middle}{after}").trim().to_owned();
        return format!("update_file\0{}\0{}\0{}", update.path, around(old), around(new));
    }
    serde_json::to_string(action).unwrap_or_default()
}

/// The part of its old text that an edit changes, in bytes, and what it puts there.
fn changed(UpdateFile { old_content: old, new_content: new, .. }: &UpdateFile) -> (Range<usize>, &str) {
    let start = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
    let start = old.floor_char_boundary(start).min(new.floor_char_boundary(start));
    let rest = |text: &'_ str| text.bytes().skip(start).collect::<Vec<_>>();
    let (old_rest, new_rest) = (rest(old), rest(new));
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let cut = |text: &str| text.ceil_char_boundary(text.len() - end);
    (start..cut(old), new.get(start..cut(new)).unwrap_or_default())
}

/// All steps, in an order in which they can be made one after the other. `read` is asked for the text of each note.
#[must_use]
pub fn tidy(
    seen: &Seen<'_>,
    checked: &Checked,
    now: Timestamp,
    read: &mut dyn FnMut(&MemoryPath) -> Option<String>,
) -> Vec<TidyStep> {
    let mut steps: Vec<TidyStep> = checked.findings.iter().filter_map(of_finding).collect();
    steps.extend(checked.findings.iter().filter_map(|finding| twin(finding, seen, read)));
    let orphans = Orphans::of(seen, checked, read);
    let mut linked = BTreeSet::new();
    let is_own = |path: &&MemoryPath| path.is_note() && !seen.excluded.holds(path);
    for path in seen.files.iter().filter(|file| !file.is_link).map(|file| &file.path).filter(is_own) {
        let Some(text) = read(path) else { continue };
        let note = Note::parse(&text);
        steps.extend(expired(path, &note, now));
        steps.extend(orphans.named_in(path, &note, seen, &mut linked));
        steps.extend(section::split(path, &note, seen));
    }
    let mut steps = together(steps);
    for step in steps.iter_mut().filter(|step| step.actions.len() > 1) {
        if step.actions.iter().all(|action| matches!(action, Action::UpdateFile(_))) {
            match one_by_one(&step.actions, read) {
                Some(edits) => step.actions = edits,
                None => step.actions.truncate(1),
            }
        }
    }
    // A stable order: what a later step names is still there.
    steps.sort_by_key(|step| step.actions.iter().map(rank).max());
    steps
}

/// The steps that some findings propose by themselves, as [`TidyStep::identity`] tells them apart.
#[must_use]
pub fn mends(findings: &[Finding]) -> Vec<TidyStep> {
    together(findings.iter().filter_map(of_finding).collect())
}

/// Makes one step of those that make the same change at several places of a note.
fn together(steps: Vec<TidyStep>) -> Vec<TidyStep> {
    let mut numbers = HashMap::<String, usize>::new();
    let mut all: Vec<TidyStep> = Vec::new();
    for step in steps {
        let number = *numbers.entry(step.identity()).or_insert(all.len());
        match all.get_mut(number) {
            None => all.push(step),
            Some(same) if !step.actions.iter().all(|action| same.actions.contains(action)) => {
                same.actions.extend(step.actions);
            }
            Some(_) => {}
        }
    }
    all
}

/// Edits of one note that each name their place as it was, so that each names it as those before leave it. `None` where they are no
/// such edits.
fn one_by_one(actions: &[Action], read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Option<Vec<Action>> {
    let updates =
        actions.iter().map(|action| if let Action::UpdateFile(update) = action { Some(update) } else { None });
    let updates = updates.collect::<Option<Vec<_>>>()?;
    let path = &updates.first()?.path;
    let mut text = read(path)?;
    let places = updates.iter().map(|update| {
        let (place, new) = changed(update);
        let at = text.find(&update.old_content)?;
        Some((at + place.start..at + place.end, new))
    });
    let mut places = places.collect::<Option<Vec<_>>>()?;
    places.sort_by_key(|(place, _)| place.start);
    if places.iter().zip(places.iter().skip(1)).any(|((one, _), (next, _))| next.start < one.end) {
        return None;
    }
    let (mut added, mut taken, mut edits) = (0, 0, Vec::new());
    for (place, new) in places {
        let place = (place.start + added).checked_sub(taken)?..(place.end + added).checked_sub(taken)?;
        edits.push(edit(path, &text, &place, place.clone(), new)?);
        added += new.len();
        taken += place.len();
        text.replace_range(place, new);
    }
    Some(edits)
}

/// Edits first, then what moves or removes files.
fn rank(action: &Action) -> u8 {
    match action.name() {
        "rename_file" => 2,
        "delete_file" => 1,
        _ => 0,
    }
}

/// What a finding proposes by itself. Days that say the same, as those that nobody has filled in yet, are no copies.
fn of_finding(finding: &Finding) -> Option<TidyStep> {
    let why = match finding.kind {
        Kind::ConflictingFact => "another line says something else",
        Kind::Duplicate => "another note says the same, byte for byte",
        Kind::BrokenLink | Kind::Unwritten => "the link leads nowhere",
        Kind::UnportableName => "not every system can store this name",
        Kind::Orphan | Kind::Oversized | Kind::SyncConflict | Kind::ActiveContent | Kind::Unreadable => return None,
    };
    if finding.kind == Kind::Duplicate && name::is_day(finding.path.stem()) {
        return None;
    }
    let action = finding.action.clone()?;
    Some(TidyStep { why, path: finding.path.clone(), actions: vec![action] })
}

/// A note of which another one says each line, and to which no link leads.
fn twin(finding: &Finding, seen: &Seen<'_>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Option<TidyStep> {
    let is_twin = finding.kind == Kind::Duplicate && finding.action.is_none();
    let kept = MemoryPath::parse(finding.target.as_deref().filter(|_| is_twin)?).ok()?;
    if seen.links.backlinks.get(&finding.path).is_some_and(|from| !from.is_empty())
        || name::is_day(finding.path.stem())
        || !leads_alike(seen.links, &finding.path, &kept)
    {
        return None;
    }
    let (own, other) = (read(&finding.path)?, read(&kept)?);
    let lines: BTreeSet<&str> = other.lines().map(str::trim).collect();
    let says_all = own.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| lines.contains(line));
    says_all.then(|| TidyStep {
        why: "another note says all of it",
        path: finding.path.clone(),
        actions: vec![Action::DeleteFile(DeleteFile { path: finding.path.clone() })],
    })
}

/// Whether a value ends with a period that is over.
fn ends_over(value: &str, now: Timestamp) -> bool {
    let value = value.trim_end();
    let end = match value.strip_suffix(')') {
        Some(inner) => inner.rfind('('),
        None => value.rfind(')').map(|at| at + 1),
    };
    let end = value.get(end.unwrap_or(0)..).unwrap_or_default();
    // A period alone is no period of something.
    Period::of_value(&format!("x {end}")).is_some_and(|period| period.is_over(now))
}

/// The facts of a note whose time is over, where their key has no other line: several are a history that somebody keeps. What is said behind
/// the period may hold still.
fn expired(path: &MemoryPath, note: &Note<'_>, now: Timestamp) -> Vec<TidyStep> {
    let facts = note.facts();
    let mut lines: HashMap<String, usize> = HashMap::new();
    facts.iter().for_each(|one| *lines.entry(fact::key(&one.key)).or_default() += 1);
    let over = facts.iter().filter(|one| ends_over(&one.value, now) && lines.get(&fact::key(&one.key)) == Some(&1));
    let step = |line: usize| {
        let action = without_line(path, note.text(), line)?;
        Some(TidyStep { why: "its time is over", path: path.clone(), actions: vec![action] })
    };
    over.filter_map(|one| step(one.line)).collect()
}

/// A link to a note, written as the note `source` writes its links, or else as most notes do; it shows `name`. `None` where it
/// cannot be written.
fn link_to(target: &MemoryPath, name: &str, source: &MemoryPath, note: &Note<'_>, seen: &Seen<'_>) -> Option<String> {
    if writes_markdown(note, seen) {
        let before = Before { path: target.as_str(), syntax: Syntax::Markdown, is_joined: true, target };
        let path = Style::Encoded.encode(&seen.targets.relink(before, source, target)?)?;
        return Some(format!("[{name}]({path})"));
    }
    let stem = target.stem();
    let full = target.as_str().strip_suffix(".md").unwrap_or(target.as_str());
    let path = if seen.targets.best(stem, Syntax::Wiki, Some(source)) == Some(target) { stem } else { full };
    Some(if name == path { format!("[[{path}]]") } else { format!("[[{path}|{name}]]") })
}

/// Whether the links to notes are those of Markdown, in a note or, where it has none, in the memory.
fn writes_markdown(note: &Note<'_>, seen: &Seen<'_>) -> bool {
    let links = note.links();
    let own = links.iter().filter(|link| link.kind != LinkKind::FrontMatter).map(|link| link.syntax == Syntax::Wiki);
    let all = seen.links.links.iter().filter_map(|entry| match entry.kind {
        LinkKind::Wikilink => Some(true),
        LinkKind::Markdown => Some(false),
        LinkKind::Embed | LinkKind::FrontMatter => None,
    });
    let (mut own, mut all) = (own.peekable(), all.peekable());
    if own.peek().is_some() { !own.any(|is_wiki| is_wiki) } else { all.peek().is_some() && !all.any(|is_wiki| is_wiki) }
}

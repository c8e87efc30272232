//! What would make a memory tidier, as actions that a person can agree to.
//!
//! Owns the signals, all of them plain: what [`super::check`] finds and can mend, a twin that says nothing of its own, a fact
//! whose time is over, a note without links that another one names, a section that makes its note too long. Decides
//! nothing: each step is proposed, and is the same again as long as the memory is.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::edit::{edit, without_line};
use super::{Checked, Finding, Kind, Seen, name};
use memdir_core::action::{Action, CreateFile, DeleteFile, ReplaceSection, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_note::name::check_portable;
use memdir_note::{Note, Period, Syntax, fact};

/// A note with more bytes than this is long: an answer to a model rarely holds that much.
const LONG_BYTES: usize = 16_000;
/// A shorter section of it stays.
const LEAST_SECTION_BYTES: usize = 2_000;
/// A shorter name may be any word.
const LEAST_NAME_CHARS: usize = 4;
/// No more notes without links are looked for in the others.
const MOST_ORPHANS: usize = 100;

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
    if let Action::UpdateFile(UpdateFile { path, old_content: old, new_content: new, .. }) = action {
        let start = old.bytes().zip(new.bytes()).take_while(|(one, other)| one == other).count();
        let start = old.floor_char_boundary(start).min(new.floor_char_boundary(start));
        let rest = |text: &str| text.get(start..).unwrap_or_default().to_owned();
        let (old, new) = (rest(old), rest(new));
        let end = old.bytes().rev().zip(new.bytes().rev()).take_while(|(one, other)| one == other).count();
        let cut =
            |text: &str| text.get(..text.ceil_char_boundary(text.len() - end)).unwrap_or_default().trim().to_owned();
        return format!("update_file\0{path}\0{}\0{}", cut(&old), cut(&new));
    }
    serde_json::to_string(action).unwrap_or_default()
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
        steps.extend(split(path, &note, seen));
    }
    // A stable order: what a later step names is still there.
    steps.sort_by_key(|step| step.actions.iter().map(rank).max());
    let mut known = BTreeSet::new();
    steps.retain(|step| known.insert(step.identity()));
    steps
}

/// Edits first, then what moves or removes files.
fn rank(action: &Action) -> u8 {
    match action.name() {
        "rename_file" => 2,
        "delete_file" => 1,
        _ => 0,
    }
}

/// What a finding proposes by itself.
fn of_finding(finding: &Finding) -> Option<TidyStep> {
    let why = match finding.kind {
        Kind::ConflictingFact => "another line says something else",
        Kind::Duplicate => "another note says the same, byte for byte",
        Kind::BrokenLink | Kind::Unwritten => "the link leads nowhere",
        Kind::UnportableName => "not every system can store this name",
        Kind::Orphan | Kind::Oversized | Kind::SyncConflict | Kind::ActiveContent | Kind::Unreadable => return None,
    };
    let action = finding.action.clone()?;
    Some(TidyStep { why, path: finding.path.clone(), actions: vec![action] })
}

/// A note of which another one says each line, and to which no link leads.
fn twin(finding: &Finding, seen: &Seen<'_>, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Option<TidyStep> {
    let is_twin = finding.kind == Kind::Duplicate && finding.action.is_none();
    let kept = MemoryPath::parse(finding.target.as_deref().filter(|_| is_twin)?).ok()?;
    if seen.links.backlinks.get(&finding.path).is_some_and(|from| !from.is_empty()) {
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

/// The facts of a note whose time is over, where their key has no other line: several are a history that somebody keeps.
fn expired(path: &MemoryPath, note: &Note<'_>, now: Timestamp) -> Vec<TidyStep> {
    let facts = note.facts();
    let mut lines: HashMap<String, usize> = HashMap::new();
    facts.iter().for_each(|one| *lines.entry(fact::key(&one.key)).or_default() += 1);
    let over = facts.iter().filter(|one| {
        let is_over = Period::of_value(&one.value).is_some_and(|period| period.is_over(now));
        is_over && lines.get(&fact::key(&one.key)) == Some(&1)
    });
    let step = |line: usize| {
        let action = without_line(path, note.text(), line)?;
        Some(TidyStep { why: "its time is over", path: path.clone(), actions: vec![action] })
    };
    over.filter_map(|one| step(one.line)).collect()
}

/// The notes without links, by the names by which others may speak of them.
struct Orphans(Vec<(String, MemoryPath)>);

impl Orphans {
    fn of(seen: &Seen<'_>, checked: &Checked, read: &mut dyn FnMut(&MemoryPath) -> Option<String>) -> Self {
        let alone = checked.findings.iter().filter(|finding| finding.kind == Kind::Orphan).take(MOST_ORPHANS);
        let named = alone.filter_map(|finding| {
            let name = Note::parse(&read(&finding.path)?).title().unwrap_or_else(|| finding.path.stem().to_owned());
            let is_name = name.chars().count() >= LEAST_NAME_CHARS && !name.contains(['[', ']', '|', '\n']);
            is_name.then(|| (name, finding.path.clone()))
        });
        let mut named: Vec<_> = named.collect();
        let titles = seen.files.iter().filter_map(|file| file.look.as_ref()?.title.as_deref());
        let mut counts: HashMap<&str, usize> = HashMap::new();
        titles.for_each(|title| *counts.entry(title).or_default() += 1);
        named.retain(|(name, _)| counts.get(name.as_str()).is_none_or(|count| *count == 1));
        Self(named)
    }

    /// The links that a note could have where it names them; each of them once in the memory.
    fn named_in(
        &self,
        path: &MemoryPath,
        note: &Note<'_>,
        seen: &Seen<'_>,
        linked: &mut BTreeSet<MemoryPath>,
    ) -> Vec<TidyStep> {
        let mut found = Vec::new();
        for (name, orphan) in self.0.iter().filter(|(_, orphan)| orphan != path) {
            if linked.contains(orphan) {
                continue;
            }
            let Some(action) = mention(note, name).and_then(|place| link_at(path, note, place, orphan, seen)) else {
                continue;
            };
            linked.insert(orphan.clone());
            let why = "it names a note to which no link leads";
            found.push(TidyStep { why, path: path.clone(), actions: vec![action] });
        }
        found
    }
}

/// The first place below the front matter where a name stands as a word.
fn mention(note: &Note<'_>, name: &str) -> Option<Range<usize>> {
    let text = note.text();
    let mut places = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    let is_word = |at: &usize| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        let is_open = |character: Option<char>| character.is_none_or(|character| !character.is_alphanumeric());
        *at >= note.body() && is_open(before) && is_open(after)
    };
    let at = places.find(is_word)?;
    Some(at..at + name.len())
}

/// The action that makes a link of a place, where the note has one link more by it and is the same otherwise.
fn link_at(
    path: &MemoryPath,
    note: &Note<'_>,
    place: Range<usize>,
    orphan: &MemoryPath,
    seen: &Seen<'_>,
) -> Option<Action> {
    let text = note.text();
    let line = text.get(..place.start)?.rsplit('\n').next()?;
    let is_heading = note.headings().iter().any(|heading| heading.span.contains(&place.start));
    if is_heading || line.trim_start().starts_with('|') {
        return None;
    }
    let stem = orphan.stem();
    let full = orphan.as_str().strip_suffix(".md").unwrap_or(orphan.as_str());
    let target = if seen.targets.best(stem, Syntax::Wiki, Some(path)) == Some(orphan) { stem } else { full };
    let name = text.get(place.clone())?;
    let link = if name == target { format!("[[{target}]]") } else { format!("[[{target}|{name}]]") };
    let linked = format!("{}{link}{}", text.get(..place.start)?, text.get(place.end..)?);
    let linked = Note::parse(&linked);
    let is_one_more = linked.links().len() == note.links().len() + 1 && linked.facts().len() == note.facts().len();
    if !is_one_more || linked.body() != note.body() {
        return None;
    }
    edit(path, text, &place, place.clone(), &link)
}

/// The sections that make a note too long, each to become a note of its own: the longest first, until the rest is short.
fn split(path: &MemoryPath, note: &Note<'_>, seen: &Seen<'_>) -> Vec<TidyStep> {
    let (text, mut left) = (note.text(), note.text().len());
    if left <= LONG_BYTES || name::is_day(path.stem()) {
        return Vec::new();
    }
    let headings = note.headings();
    let Some(level) = headings.iter().map(|heading| heading.level).filter(|level| *level > 1).min() else {
        return Vec::new();
    };
    let mut sections: Vec<(String, Range<usize>)> = Vec::new();
    for (at, heading) in headings.iter().enumerate().filter(|(_, heading)| heading.level == level) {
        let next = headings.get(at + 1..).and_then(|rest| rest.iter().find(|next| next.level <= level));
        sections.push((heading.shown(), heading.span.end..next.map_or(text.len(), |next| next.span.start)));
    }
    let count = |name: &str| sections.iter().filter(|(other, _)| other == name).count();
    let mut long: Vec<_> =
        sections.iter().filter(|(name, body)| body.len() >= LEAST_SECTION_BYTES && count(name) == 1).collect();
    long.sort_by_key(|(_, body)| std::cmp::Reverse(body.len()));
    let mut steps = Vec::new();
    for (heading, body) in long {
        if left <= LONG_BYTES {
            break;
        }
        if let Some(actions) = moved(path, text.get(body.clone()).unwrap_or_default(), heading, seen) {
            left = left.saturating_sub(body.len());
            steps.push(TidyStep { why: "its note has grown too long", path: path.clone(), actions });
        }
    }
    steps
}

/// The actions that make a note of a section, which keeps its heading and a link.
fn moved(path: &MemoryPath, body: &str, heading: &str, seen: &Seen<'_>) -> Option<Vec<Action>> {
    let plain: String =
        heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-')).collect();
    let stem = format!("{} {}", path.stem(), plain.split_whitespace().collect::<Vec<_>>().join(" "));
    let new = MemoryPath::in_folder(path.parent().as_ref(), &format!("{stem}.md")).ok()?;
    if plain.trim().is_empty() || check_portable(new.name()).is_err() || seen.targets.has(&new) {
        return None;
    }
    let content = format!("# {heading}\n\n{}\n", body.trim());
    let link = format!("[[{}]]\n", new.as_str().strip_suffix(".md")?);
    let (path, heading) = (path.clone(), heading.to_owned());
    Some(vec![
        Action::CreateFile(CreateFile { path: new, content }),
        Action::ReplaceSection(ReplaceSection { path, heading, content: link }),
    ])
}

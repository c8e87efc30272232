//! [`Brief`]: what a program is told of the person before anything is asked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::{Caller, Engine, audit};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_core::text::is_unseen;
use memdir_core::time::Timestamp;
use memdir_note::Note;
use memdir_plan::{self as plan, Tree};
use memdir_vault::{AuditEntry, Payload};

/// What the audit calls it.
const BRIEF: &str = "brief";
/// How many bytes a token is.
const TOKEN_BYTES: usize = 4;
/// The longest line of a brief, in bytes of what a note says.
const MOST_LINE: usize = 200;
/// The most notes of one day that are named, and the most notes in which tasks are looked for.
const MOST_NAMED: usize = 8;
const MOST_NOTES: usize = 24;
/// How many batches are read from the history at a time.
const PAGE: usize = 64;
/// How long a day of the history is remembered in a brief.
const RECENT: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Of a budget, in tenths, what facts, tasks and changes get at first; what one does not need goes to the others.
const SHARES: [usize; 3] = [6, 2, 2];

/// What a memory says of the person: facts from `user.md`, tasks that are open, and which notes changed on which day.
///
/// It is displayed as plain lines under three headings, and as nothing where nothing is known. Each line holds one line of a
/// note, in which nothing is left that could end the block that it is put into: no control character and no `<`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Brief {
    /// The lines of `user.md` that say something, facts first.
    pub facts: Vec<String>,
    /// The tasks that are open, with their notes.
    pub tasks: Vec<String>,
    /// The days, newest first, each with the notes that changed on it.
    pub changes: Vec<String>,
}

/// What changed on each day, the newest first, and whether that is new to who asks.
type Days = BTreeMap<String, Vec<(MemoryPath, bool)>>;

/// A task and where it stands.
struct OpenTask {
    path: MemoryPath,
    line: String,
}

impl Engine {
    /// Says within `budget` tokens of 4 bytes who the person is, what is open and what changed in the last two weeks, of which
    /// only what changed since `since`, as far as `caller` may read it. The audit notes which notes were shown.
    ///
    /// Nothing is searched: `user.md` is read, and of the notes that changed through memdir the newest ones. What cannot be
    /// read is left out.
    #[must_use]
    pub fn brief(&self, caller: &Caller, since: Option<Timestamp>, budget: u32) -> Brief {
        let _span = tracing::debug_span!("brief").entered();
        let (started, forgets) = (self.now(), self.vault.forgets());
        let Ok(person) = MemoryPath::parse(PERSON_NOTE) else { return Brief::default() };
        let days = self.changed_days(caller, started.minus(RECENT), since);
        let about = self.readable(caller, &person);
        let mut tasks = about.as_deref().map(|text| open_tasks(&person, text)).unwrap_or_default();
        let mut seen = BTreeSet::from([&person]);
        let changed = days.values().rev().flatten().map(|(path, _)| path);
        let changed = changed.filter(|path| path.is_note() && seen.insert(path));
        for path in changed.take(MOST_NOTES) {
            tasks.extend(self.readable(caller, path).map(|text| open_tasks(path, &text)).unwrap_or_default());
        }
        let brief = Brief {
            facts: about.as_deref().map(facts).unwrap_or_default(),
            tasks: tasks.iter().map(|task| format!("{} ({})", task.line, short(task.path.as_str()))).collect(),
            changes: days.iter().rev().filter_map(|(day, paths)| day_line(day, paths)).collect(),
        };
        let brief = brief.within((budget as usize).saturating_mul(TOKEN_BYTES));
        if !brief.is_empty() {
            let mut shown = BTreeSet::from_iter(tasks.iter().take(brief.tasks.len()).map(|task| &task.path));
            shown.extend((!brief.facts.is_empty()).then_some(&person));
            let micros = audit::micros(self.now().since(started));
            let entry = audit::owner(BRIEF, Payload::of_shown(shown));
            let entry = AuditEntry { micros, ..entry };
            if let Err(error) = self.vault.note_reads(vec![entry], &caller.author, started, forgets) {
                tracing::warn!(%error, "the audit of reads was not written");
            }
        }
        brief
    }

    /// When a client was last given a brief through a door, as far as the audit tells.
    #[must_use]
    pub fn last_brief(&self, caller: &Caller) -> Option<Timestamp> {
        let client = caller.author.client.as_deref()?;
        self.vault.last_time(&caller.author.door, client, BRIEF).ok().flatten()
    }

    /// The text of a note without what belongs to the past, if it can be read and the caller may read it.
    fn readable(&self, caller: &Caller, path: &MemoryPath) -> Option<String> {
        if !self.may_hear_of(caller, path) {
            return None;
        }
        let image = self.seen_by(caller.grant.as_deref()).read(path, self.settings.limits.file_bytes).ok()?;
        plan::current(image.content.text()?, &self.settings.past_status, self.now()).map(Cow::into_owned)
    }

    /// The days since `first` on which something changed of which the caller may know, with the paths in the order of their
    /// changes, the newest first, and whether each changed since `since` too.
    fn changed_days(&self, caller: &Caller, first: Timestamp, since: Option<Timestamp>) -> Days {
        let mut days = Days::new();
        let may_list = self.may_list(caller);
        let (mut before, mut named) = (u64::MAX, 0);
        loop {
            let batches = match self.vault.batches_since(first, before, PAGE) {
                Ok(batches) => batches,
                Err(error) => {
                    tracing::warn!(%error, "the history was left out of a brief");
                    return days;
                }
            };
            let is_last = batches.len() < PAGE;
            for batch in batches {
                before = batch.number;
                let is_new = since.is_none_or(|since| batch.time >= since);
                // What was deleted or renamed since cannot be read, and its new name may not be theirs to know.
                let is_there = |path: &MemoryPath| matches!(self.vault.stamp(path), Ok(Some(_)));
                for path in batch.changed.into_iter().filter(|path| path.is_note() && may_list(path)) {
                    let day = batch.time.day();
                    let is_known = days.get(&day).is_some_and(|paths| paths.iter().any(|(known, _)| *known == path));
                    if !is_known && is_there(&path) {
                        days.entry(day).or_default().push((path, is_new));
                        named += 1;
                    }
                    // Just here, so that it does not show how many others there are.
                    if named == MOST_NOTES {
                        return days;
                    }
                }
            }
            if is_last {
                return days;
            }
        }
    }
}

impl Brief {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.tasks.is_empty() && self.changes.is_empty()
    }

    fn parts(&self) -> [(&'static str, &Vec<String>); 3] {
        [("About the user", &self.facts), ("Open tasks", &self.tasks), ("Notes that changed", &self.changes)]
    }

    /// Leaves of each part the first lines, so that all of it has at most so many bytes.
    fn within(mut self, most: usize) -> Self {
        let needs = self.parts().map(|(heading, lines)| if lines.is_empty() { 0 } else { size(heading, lines) });
        let mut gets: Vec<usize> =
            needs.iter().zip(SHARES).map(|(need, share)| *need.min(&(most * share / 10))).collect();
        for (get, need) in (0..).zip(needs) {
            let spare = most.saturating_sub(gets.iter().sum());
            if let Some(get) = gets.get_mut(get) {
                *get += spare.min(need - *get);
            }
        }
        let headings = self.parts().map(|(heading, _)| heading);
        let parts = [&mut self.facts, &mut self.tasks, &mut self.changes];
        for ((lines, heading), most) in parts.into_iter().zip(headings).zip(gets) {
            let mut bytes = size(heading, &[]);
            let fits = lines.iter().take_while(|line| {
                bytes += size("", std::slice::from_ref(line)) - size("", &[]);
                bytes <= most
            });
            lines.truncate(fits.count());
        }
        self
    }
}

impl fmt::Display for Brief {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (heading, lines) in self.parts().into_iter().filter(|(_, lines)| !lines.is_empty()) {
            writeln!(formatter, "{heading}:")?;
            lines.iter().try_for_each(|line| writeln!(formatter, "- {line}"))?;
        }
        Ok(())
    }
}

/// How many bytes a part has when it is displayed.
fn size(heading: &str, lines: &[String]) -> usize {
    heading.len() + 2 + lines.iter().map(|line| line.len() + 3).sum::<usize>()
}

/// What a note says of the person: its facts in their order, then the lines that are no facts.
fn facts(text: &str) -> Vec<String> {
    let note = Note::parse(text);
    let mut facts = note.facts();
    facts.sort_by_key(|fact| fact.line);
    let stated: BTreeSet<usize> = facts.iter().map(|fact| fact.line).collect();
    let mut lines: Vec<String> = facts
        .iter()
        .filter(|fact| !fact.value.trim().is_empty())
        .map(|fact| short(&format!("{}: {}", fact.key, fact.value)))
        .collect();
    let tasks: BTreeSet<usize> = note.tasks().iter().map(|task| task.line).collect();
    let headings: BTreeSet<usize> = note.headings().iter().map(|heading| note.line_at(heading.span.start)).collect();
    let body = note.line_at(note.body());
    let plain = note.without_code();
    let others = plain
        .lines()
        .zip(1..)
        .filter(|(_, line)| *line >= body && ![&stated, &tasks, &headings].iter().any(|known| known.contains(line)));
    lines.extend(others.map(|(text, _)| short(item(text))).filter(|text| text.contains(char::is_alphanumeric)));
    lines
}

/// The tasks of a note that are open, in their order.
fn open_tasks(path: &MemoryPath, text: &str) -> Vec<OpenTask> {
    let open = Note::parse(text).tasks().into_iter().filter(|task| !task.is_done);
    let said = |line: usize| {
        let line = text.lines().nth(line.checked_sub(1)?)?;
        Some(short(line.split_once(']').map_or(line, |(_, said)| said)))
    };
    let tasks = open.filter_map(|task| Some(OpenTask { path: path.clone(), line: said(task.line)? }));
    tasks.filter(|task| !task.line.is_empty()).collect()
}

/// The notes that are new of a day; `None` where none is.
fn day_line(day: &str, paths: &[(MemoryPath, bool)]) -> Option<String> {
    let new = paths.iter().filter(|(_, is_new)| *is_new).map(|(path, _)| short(path.as_str()));
    let mut names: Vec<String> = new.collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    names.extend((more > 0).then(|| format!("{more} more")));
    (!names.is_empty()).then(|| format!("{day}: {}", names.join(", ")))
}

/// A line without what makes it an item of a list.
fn item(line: &str) -> &str {
    let line = line.trim_start();
    ["- ", "* ", "+ ", "> "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

/// A line of a note, cut where it is long.
fn short(text: &str) -> String {
    let line = inert(text.trim());
    match line.get(..line.floor_char_boundary(MOST_LINE)) {
        Some(start) if start.len() < line.len() => format!("{start} …"),
        _ => line,
    }
}

/// Text of a note as one line in a text that is put before a model: programs mark their own words by tags, so no `<` is left, nor
/// a character that is not seen.
#[must_use]
pub fn inert(text: &str) -> String {
    let line: String = text.chars().map(|letter| if is_unseen(letter) { ' ' } else { letter }).collect();
    line.replace('<', "&lt;")
}

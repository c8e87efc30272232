//! What a change makes the memory say against itself, told to the one who makes it, and the front matter that nobody can read
//! because of it.
//!
//! Only what the change wrote is looked at: its new facts, beside the notes of the same names and some of those that use the
//! same keys. These come from the index as it stands; without one, the notes of the change are all there is. Nothing is
//! refused for it, and whatever goes wrong here is no reason to say anything.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::index_pool::IndexTrouble;
use super::{Engine, Item, Proposal};
use memdir_check::{self as check, Finding, Look, Side};
use memdir_core::action::{Access, Action};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{CONTRADICTION, Issue, Outcome, UNREAD_FRONT_MATTER, WrittenBy};
use memdir_index::{Index, IndexError, LooksOf};
use memdir_note::fact::{self, Named};
use memdir_note::{FrontMatterError, Note};
use memdir_plan::{Effort, Step};

/// A change that writes more facts is an import, which is checked as a whole.
const MOST_FACTS: usize = 50;
/// So much of what a note says of something else is looked at, as `check` does.
const MOST_NAMED: usize = 500;
/// So many notes are looked at for each key, and for each name.
const MOST_FOR_KEY: usize = 40;
const MOST_FOR_NAME: usize = 10;
/// So many of a note's title and aliases are looked up: for each, all that is known of the notes of that name is read.
const MOST_ALIASES: usize = 50;
/// No more contradictions are told at once.
const MOST_TOLD: usize = 5;

/// What a change writes.
#[derive(Default)]
struct Written {
    /// The notes as they are afterwards.
    notes: BTreeMap<MemoryPath, (String, Look)>,
    /// Where facts stand that were not there before.
    lines: BTreeSet<(MemoryPath, usize)>,
    /// Their keys.
    keys: BTreeSet<String>,
    /// What the notes, and what these facts are about, are called.
    names: BTreeSet<String>,
    /// What is no longer there under its name afterwards: notes, and folders with all that was in them.
    gone: BTreeSet<MemoryPath>,
    /// The front matters that the change wrote and that cannot be read.
    unread: Vec<(MemoryPath, FrontMatterError)>,
}

impl Engine {
    /// Says what a proposal, as it was planned, makes wrong: front matter that cannot be read, and what the memory then says
    /// against itself. Nothing is told of notes that the caller may not see, and at most five of each are.
    pub(super) fn noticed(&self, proposal: &Proposal) -> Vec<Issue> {
        let written = Written::of(proposal.planned.plan.steps(), &|path| self.may_hear_of(&proposal.caller, path));
        let unread = written.unread.iter().take(MOST_TOLD).map(|(path, error)| Issue {
            code: UNREAD_FRONT_MATTER,
            index: call_on(proposal, path),
            message: format!("`{path}`: {}", check::front_matter(error)),
        });
        unread.chain(self.contradictions(proposal, &written)).collect()
    }

    fn contradictions(&self, proposal: &Proposal, written: &Written) -> Vec<Issue> {
        let is_whole = proposal.caller.restriction().is_none();
        if written.lines.is_empty() || written.lines.len() > MOST_FACTS {
            return Vec::new();
        }
        // What somebody sees who may not see all never rests on the index.
        let others = if is_whole { self.looks_beside(written) } else { BTreeMap::new() };
        let others: Vec<_> = others.into_iter().filter(|(path, _)| self.may_hear_of(&proposal.caller, path)).collect();
        let own = written.notes.iter().map(|(path, (_, look))| (path, look));
        let notes = own.chain(others.iter().map(|(path, look)| (path, look)));
        let found =
            check::contradictions(notes, &self.settings.past_status, &mut |path| match written.notes.get(path) {
                Some((text, _)) => Some(text.clone()),
                None => self.text_of(path),
            });
        let is_new = |side: &Side| written.lines.contains(&(side.path.clone(), side.line));
        // What may be a list is asked by `review`, and is no news.
        let told = found.iter().filter(|finding| !finding.may_be_list && finding.sides.iter().any(is_new));
        // An index may know an older text of the other note.
        let is_said = |side: &Side, key: Option<&str>| {
            written.notes.contains_key(&side.path)
                || self.text_of(&side.path).is_some_and(|text| states(&text, side.line, key))
        };
        let told = told.filter(|finding| finding.sides.iter().all(|side| is_said(side, finding.target.as_deref())));
        // What has to be confirmed first replaces nothing.
        let by = WrittenBy::of_origin(&proposal.caller.author.origin);
        let is_sure = !by.needs_confirmation();
        let told = told.take(MOST_TOLD).map(|finding| {
            let new = finding.sides.iter().find(|side| is_new(side));
            let old = finding.sides.iter().find(|side| !is_new(side));
            let goes = if is_sure { old } else { old.and(new) };
            let text = |path| written.notes.get(path).map(|(text, _)| text.clone()).or_else(|| self.text_of(path));
            let action = match goes.zip(finding.sides.iter().find(|side| Some(*side) != goes)) {
                Some((goes, stays)) => text(&goes.path).zip(text(&stays.path)).and_then(|(whole, other)| {
                    check::without_fact(&goes.path, &whole, goes.line, (&stays.path, &other, stays.line), None)
                }),
                // Both are new.
                None => finding.action.clone().filter(|_| is_sure),
            };
            Issue {
                code: CONTRADICTION,
                index: new.and_then(|side| call_on(proposal, &side.path)),
                message: message(finding, by, action),
            }
        });
        told.collect()
    }

    /// The notes of the same names, and some that use the same keys, as the index knows them; none without one.
    fn looks_beside(&self, written: &Written) -> BTreeMap<MemoryPath, Look> {
        let mut found = BTreeMap::new();
        let Some(index) = self.take_complete_index(Effort::Refresh, false) else { return found };
        let asked = looks(&index, written, &mut found);
        let answered = self.return_index(index, asked.map(|()| true).map_err(IndexTrouble::Index));
        if !answered.unwrap_or(false) {
            found.clear();
        }
        found.retain(|path, _| !written.notes.contains_key(path) && !written.is_gone(path));
        found
    }

    /// The notes beside a note, as [`Self::looks_beside`] would find them if all of it were new.
    pub(super) fn looks_around(&self, path: &MemoryPath, text: &str) -> BTreeMap<MemoryPath, Look> {
        let mut written = Written::default();
        written.add(path, "", text);
        if written.lines.len() > MOST_FACTS { BTreeMap::new() } else { self.looks_beside(&written) }
    }
}

fn looks(index: &Index, written: &Written, found: &mut BTreeMap<MemoryPath, Look>) -> Result<(), IndexError> {
    for key in &written.keys {
        found.extend(index.looks(LooksOf::Key(key), MOST_FOR_KEY)?);
    }
    for name in &written.names {
        found.extend(index.looks(LooksOf::Name(name), MOST_FOR_NAME)?);
        found.extend(index.looks(LooksOf::LinkTo(name), MOST_FOR_NAME)?);
    }
    Ok(())
}

impl Written {
    fn of(steps: &[Step], shows: &dyn Fn(&MemoryPath) -> bool) -> Self {
        let mut written = Self::default();
        for step in steps {
            let (path, before, after) = match step {
                Step::Put { path, before, after: Some(after) } => (path, before, after),
                Step::Put { path, .. } | Step::Move { from: path, .. } => {
                    written.gone.insert(path.clone());
                    continue;
                }
                Step::MakeFolder { .. } | Step::RemoveFolder { .. } => continue,
            };
            let Some(text) = after.content.text().filter(|_| path.is_note() && shows(path)) else { continue };
            let before = before.as_ref().and_then(|before| before.content.text()).unwrap_or_default();
            written.add(path, before, text);
        }
        written
    }

    /// Whether nothing of before is left under a name: an index, and the files until the change is made, still know it.
    fn is_gone(&self, path: &MemoryPath) -> bool {
        std::iter::successors(Some(path.clone()), MemoryPath::parent).any(|place| self.gone.contains(&place))
    }

    /// Adds a note with a text that takes the place of another one.
    fn add(&mut self, path: &MemoryPath, before: &str, text: &str) {
        let (note, old) = (Note::parse(text), Note::parse(before));
        // Who tries to mend it has to know that it is not mended.
        let is_same = text.get(..note.body()) == before.get(..old.body());
        self.unread.extend(note.front_error().filter(|_| !is_same).map(|error| (path.clone(), error.clone())));
        let mut known: Vec<_> = old.facts().into_iter().map(|fact| (fact.key, fact.value)).collect();
        let facts = note.facts();
        for said in &facts {
            // Each fact of before accounts for one of after.
            let same = known.iter().position(|(key, value)| *key == said.key && *value == said.value);
            if let Some(same) = same {
                known.swap_remove(same);
                continue;
            }
            self.lines.insert((path.clone(), said.line));
            self.keys.insert(fact::key(&said.key));
            self.names.extend(said.heading.as_deref().map(bare));
        }
        let said = |named: &Named| [&named.about, &named.fact.key, &named.fact.value].map(String::clone);
        let known: HashSet<_> = old.named().take(MOST_NAMED).map(|named| said(&named)).collect();
        let new = note.named().take(MOST_NAMED).filter(|named| !known.contains(&said(named)));
        for named in new.take(MOST_FACTS) {
            self.lines.insert((path.clone(), named.fact.line));
            self.keys.insert(fact::key(&named.fact.key));
            self.names.insert(bare(&named.about));
        }
        if !facts.is_empty() {
            self.names.insert(path.stem().to_owned());
            self.names.extend(note.title().into_iter().chain(note.aliases()).take(MOST_ALIASES));
            self.names.extend(note.links().iter().map(|link| bare(&link.path)).take(MOST_FOR_NAME));
        }
        let look = Look::of(text, &note, Vec::new());
        self.notes.insert(path.clone(), (text.to_owned(), look));
    }
}

/// A heading or the path of a link as a name: without brackets, folders and `.md`.
fn bare(text: &str) -> String {
    let name = text.trim_matches(['[', ']']).rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".md").unwrap_or(name).to_owned()
}

/// Whether a line of a note states a fact of this key, of the note or of what the line names.
fn states(text: &str, line: usize, key: Option<&str>) -> bool {
    let wanted = key.map(fact::key);
    let note = Note::parse(text);
    let of_named = note.named().map(|named| named.fact);
    note.facts().into_iter().chain(of_named).any(|said| said.line == line && Some(fact::key(&said.key)) == wanted)
}

/// The last call that wrote to a note.
fn call_on(proposal: &Proposal, path: &MemoryPath) -> Option<usize> {
    let calls = proposal.planned.calls.iter().rev();
    let mut wrote = calls.filter(|call| call.outcome.result.is_ok()).filter_map(|call| match &call.item {
        Item::Cleared(cleared) => Some((&cleared.call().action, &call.outcome)),
        Item::Settled | Item::Deferred(_) => None,
    });
    // Of a call that finds its note by itself, the answer says which it is.
    let is_of = |action: &Action, outcome: &Outcome| {
        catalog::access(action) != Access::Read
            && ([action.path(), action.new_path()].contains(&Some(path))
                || outcome.path.as_deref() == Some(path.as_str()))
    };
    wrote.find(|(action, outcome)| is_of(action, outcome)).map(|(_, outcome)| outcome.index)
}

fn message(finding: &Finding, by: WrittenBy, action: Option<Action>) -> String {
    let place = finding.line.map(|line| format!("line {line} of `{}`, ", finding.path)).unwrap_or_default();
    let said = format!("{place}{}", finding.message);
    if by == WrittenBy::You {
        return format!("{said}; `memdir review` asks which of them holds");
    }
    match action.and_then(|action| serde_json::to_string(&action).ok()) {
        Some(action) => {
            let holds = if by.needs_confirmation() { "old" } else { "new" };
            format!("{said}; if only the {holds} one holds, send {action}")
        }
        None => said,
    }
}

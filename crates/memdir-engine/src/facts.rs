//! What all notes say as keys and values, whether it holds now, and where it comes from.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::Engine;
use super::query::text_in;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, FactState, Failure, Line, Provenance, Writing};
use memdir_core::time::Timestamp;
use memdir_note::{Note, Period};
use memdir_plan::{self as plan, Limits, Scan, Scanned, Tree};
use memdir_policy as policy;
use memdir_vault::is_message_name;

/// Which facts are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FactsQuery<'q> {
    /// Those of one note; `None` for all notes.
    pub note: Option<&'q MemoryPath>,
    /// How many at most.
    pub limit: usize,
    /// The cursor of the page before.
    pub cursor: Option<&'q str>,
    /// Whether those that belong to the past are told, too.
    pub all: bool,
    /// Whether it is told where each comes from.
    pub why: bool,
}

impl FactsQuery<'_> {
    /// All that hold, of all notes.
    #[must_use]
    pub fn current() -> Self {
        Self { note: None, limit: usize::MAX, cursor: None, all: false, why: false }
    }
}

/// A fact and the note that it stands in.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FoundFact {
    /// The note.
    pub path: MemoryPath,
    /// The line, from 1.
    pub line: usize,
    /// The heading above it; `None` above the first one.
    pub heading: Option<String>,
    /// What it is called.
    pub key: String,
    /// What it says.
    pub value: String,
    /// Whether it holds now.
    pub state: FactState,
    /// Since when it says that it holds, as it is written.
    pub since: Option<String>,
    /// Until when it says that it holds, as it is written.
    pub until: Option<String>,
    /// Where it comes from, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Provenance>,
    /// Its last line.
    #[serde(skip)]
    last_line: usize,
}

/// A page of facts.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Facts {
    /// Sorted by note and line.
    pub facts: Vec<FoundFact>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page starts: the note of the last fact, and which of its facts that was.
    pub cursor: Option<String>,
}

impl Engine {
    /// Finds the facts of one note, or of all, with their states.
    ///
    /// Whether a fact is disputed is told by all notes where all are asked for. Where one note is, it is told by that note and by what
    /// the index, as it stands, finds beside it: the notes of the same names, and at most 40 for each of its keys; without one by the
    /// note alone.
    ///
    /// # Errors
    ///
    /// Those of `read_file` for a note that is named, `io`.
    pub fn facts(&self, query: &FactsQuery<'_>) -> Result<Facts, Failure> {
        let mut facts = self.facts_in(&self.vault, query.note, self.now())?;
        self.judge(&mut facts, query)?;
        let mut found = page(facts, query)?;
        if query.why {
            self.explain(&mut found.facts)?;
        }
        Ok(found)
    }

    /// The facts of a tree, with the states that their own notes tell at a moment.
    pub(super) fn facts_in(
        &self,
        tree: &impl Tree,
        note: Option<&MemoryPath>,
        now: Timestamp,
    ) -> Result<Vec<FoundFact>, Failure> {
        let limits = &self.settings.limits;
        let read = |path: &MemoryPath, text: &str| of_note(path, text, &self.settings.past_status, now);
        Ok(match note {
            Some(path) => read(path, &text_in(tree, path, limits.file_bytes)?.0),
            None => scan_in(tree, limits, read)?.into_iter().filter_map(|file| file.seen.flatten()).flatten().collect(),
        })
    }

    /// Sets the states that other notes and the history tell.
    fn judge(&self, facts: &mut [FoundFact], query: &FactsQuery<'_>) -> Result<(), Failure> {
        let disputed = self.disputed(query.note)?;
        // What the notes say is told also where the history cannot be read.
        let sourced = self.vault.sourced_notes().unwrap_or_else(|error| {
            tracing::warn!(%error, "the sources of facts were left out");
            BTreeSet::new()
        });
        let mut lines: HashMap<MemoryPath, Vec<Line>> = HashMap::new();
        for fact in facts.iter_mut().filter(|fact| fact.state == FactState::Current) {
            if disputed.contains(&(fact.path.clone(), fact.line)) {
                fact.state = FactState::Disputed;
            } else if sourced.contains(&fact.path) {
                let lines = self.lines_in(&mut lines, &fact.path)?;
                if fact.provenance(lines).is_unconfirmed() {
                    fact.state = FactState::Unconfirmed;
                }
            }
        }
        Ok(())
    }

    /// Tells where facts come from, and what the person had said then.
    fn explain(&self, facts: &mut [FoundFact]) -> Result<(), Failure> {
        let mut lines: HashMap<MemoryPath, Vec<Line>> = HashMap::new();
        let mut said: HashMap<String, Vec<(Timestamp, String)>> = HashMap::new();
        for fact in facts {
            let lines = self.lines_in(&mut lines, &fact.path)?;
            let mut why = fact.provenance(lines);
            why.words = why.last_written.as_ref().and_then(|last| self.words_before(last, &mut said));
            fact.why = Some(why);
        }
        Ok(())
    }

    /// What the person had said right before something was written, as far as it is kept and holds no secret.
    fn words_before(&self, last: &Writing, said: &mut HashMap<String, Vec<(Timestamp, String)>>) -> Option<String> {
        // Our own conversations number their messages, and requests have names; a client may send what was said itself.
        let is_text = |message: &&String| !is_message_name(message) && last.door.as_deref() != Some("cli");
        if let Some(text) = last.message.as_ref().filter(is_text) {
            return Some(text.clone()).filter(|text| !policy::holds_secret(text));
        }
        let (session, time) = (last.session.as_ref()?, Timestamp::parse(last.time.as_deref()?).ok()?);
        let said = said.entry(session.clone()).or_insert_with(|| self.said_in_session(session));
        said.iter().rev().find(|(at, _)| *at <= time).map(|(_, text)| text.clone())
    }

    /// The lines of a note, each note read once.
    fn lines_in<'l>(
        &self,
        known: &'l mut HashMap<MemoryPath, Vec<Line>>,
        path: &MemoryPath,
    ) -> Result<&'l [Line], Failure> {
        if !known.contains_key(path) {
            known.insert(path.clone(), self.lines(path)?.1);
        }
        Ok(known.get(path).map(Vec::as_slice).unwrap_or_default())
    }

    /// Looks into all notes that are text.
    pub(super) fn scan<R: Send>(
        &self,
        look: impl Fn(&MemoryPath, &str) -> R + Sync,
    ) -> Result<Vec<Scanned<Option<R>>>, Failure> {
        scan_in(&self.vault, &self.settings.limits, look)
    }
}

/// The page of facts that a query asks for.
pub(super) fn page(mut facts: Vec<FoundFact>, query: &FactsQuery<'_>) -> Result<Facts, Failure> {
    if !query.all {
        facts.retain(|fact| !fact.state.is_past());
    }
    let total = facts.len();
    let mut numbered: Vec<(usize, FoundFact)> = Vec::with_capacity(facts.len());
    for fact in facts {
        let number = numbered.last().filter(|(_, last)| last.path == fact.path).map_or(1, |(number, _)| number + 1);
        numbered.push((number, fact));
    }
    if let Some(cursor) = query.cursor {
        let read = cursor.rsplit_once(':').and_then(|(path, number)| Some((path, number.parse().ok()?)));
        let last: (&str, usize) = read.ok_or_else(|| {
            Failure::new(Code::Usage, "the cursor is not one of `memdir facts`").with_hint("leave it out to start anew")
        })?;
        numbered.retain(|(number, fact)| (fact.path.as_str(), *number) > last);
    }
    let is_cut = numbered.len() > query.limit;
    numbered.truncate(query.limit);
    let cursor = numbered.last().filter(|_| is_cut).map(|(number, fact)| format!("{}:{number}", fact.path));
    Ok(Facts { facts: numbered.into_iter().map(|(_, fact)| fact).collect(), total, cursor })
}

/// Looks into all notes of a tree that are text.
pub(super) fn scan_in<R: Send>(
    tree: &impl Tree,
    limits: &Limits,
    look: impl Fn(&MemoryPath, &str) -> R + Sync,
) -> Result<Vec<Scanned<Option<R>>>, Failure> {
    let limit = limits.file_bytes;
    let scan = Scan { folder: None, limit, wants: &MemoryPath::is_note, stop: &|| false };
    let look = |path: &MemoryPath, bytes: Result<&[u8], plan::TreeError>| {
        let text = bytes.ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(|text| look(path, text))
    };
    tree.scan(&scan, &look).map_err(plan::failure)
}

impl FoundFact {
    /// Where it comes from, by the lines of its note: the last writing of any of its lines, and the least trusted source of all.
    fn provenance(&self, lines: &[Line]) -> Provenance {
        let own = lines.get(self.line.saturating_sub(1)..self.last_line).unwrap_or_default();
        let Some((first, rest)) = own.split_first() else { return Provenance::default() };
        let mut found = first.provenance.clone();
        for Line { provenance: other, .. } in rest {
            let batch = |one: &Provenance| one.last_written.as_ref().map(|last| last.batch);
            if batch(other) > batch(&found) {
                found.last_written.clone_from(&other.last_written);
            }
            found.trust = found.trust.min(other.trust);
        }
        found
    }
}

fn of_note(path: &MemoryPath, text: &str, past_status: &[String], now: Timestamp) -> Vec<FoundFact> {
    let note = Note::parse(text);
    let past = note.past(past_status, now);
    let mut facts: Vec<FoundFact> = note
        .facts()
        .into_iter()
        .map(|fact| {
            let period = Period::of_value(&fact.value).unwrap_or_default();
            let over = if period.is_over(now) { FactState::Expired } else { FactState::Current };
            FoundFact {
                path: path.clone(),
                line: fact.line,
                last_line: note.line_at(fact.span.end.max(fact.span.start)).max(fact.line),
                heading: fact.heading,
                key: fact.key,
                value: fact.value,
                state: past.as_ref().map_or(over, memdir_note::Past::state),
                since: period.since.map(|date| date.text),
                until: period.until.map(|date| date.text),
                why: None,
            }
        })
        .collect();
    facts.sort_by_key(|fact| fact.line);
    facts
}

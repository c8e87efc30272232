//! `review`: the questions whose answers are worth most now.
//!
//! Owns which these are: first what the notes say against each other, then what came from an import or a tool and no person
//! has confirmed, then what is old for its kind. How long a kind of fact lasts is learnt from this memory's own history and
//! from nothing else: the times for which former values of the same key stood in a note.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Engine, FactsQuery, FoundFact};
use memdir_check::{self as check, Finding, Kind, Side};
use memdir_core::path::MemoryPath;
use memdir_core::report::{FactState, Failure, Provenance, Writing};
use memdir_core::time::Timestamp;
use memdir_note::{Note, fact};

/// So many former values of a key tell how long one lasts.
const LEAST_FORMER: usize = 3;
/// A fact is old once it has stood so many times as long as the middle one of those.
const OLD_AFTER: i64 = 2;

/// Why something is asked.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Another line says something else.
    Disputed,
    /// It came from an import or a tool, and no person has confirmed it.
    Unconfirmed,
    /// It has stood for longer than facts of this key mostly do in this memory.
    Old,
}

/// A question to the person about one line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Question {
    /// Why it is asked.
    pub kind: QuestionKind,
    /// The note.
    pub path: MemoryPath,
    /// The line, from 1.
    pub line: usize,
    /// The key of the fact.
    pub key: String,
    /// What it says.
    pub value: String,
    /// The line as it is written, without blanks around it: what a confirmation is about.
    pub text: String,
    /// The question in words.
    pub question: String,
    /// The line that says something else, of [`QuestionKind::Disputed`].
    pub other: Option<Side>,
    /// Who wrote the line last, as far as the history knows.
    pub by: Option<Writing>,
}

impl Engine {
    /// The `limit` questions whose answers are worth most at `now`. What the person has confirmed as it is now is not asked again.
    ///
    /// [`Engine::settle`] takes the answers. Changes nothing.
    ///
    /// # Errors
    ///
    /// `io`, and those of the history.
    pub fn review(&self, now: Timestamp, limit: usize) -> Result<Vec<Question>, Failure> {
        let mut asked = BTreeSet::new();
        let mut questions = self.disputes()?;
        if questions.len() < limit {
            let known = self.has_history()?;
            let query = FactsQuery { why: known, ..FactsQuery::current() };
            let facts = self.facts(&query)?.facts;
            questions.extend(facts.iter().filter(|fact| fact.state == FactState::Unconfirmed).filter_map(unconfirmed));
            questions.extend(old(&facts, now));
        }
        questions.retain(|question| asked.insert((question.path.clone(), question.line)));
        questions.truncate(limit);
        for question in &mut questions {
            question.text = self.line_of(&question.path, question.line).unwrap_or_default();
        }
        questions.retain(|question| !question.text.is_empty());
        Ok(questions)
    }

    /// What the notes say against each other, unless the person has confirmed both lines.
    fn disputes(&self) -> Result<Vec<Question>, Failure> {
        let mut found = self.with_seen(&|| (), |seen, read| check::check_facts(seen, read))?.findings;
        self.tell_writers(&mut found);
        let found = found.into_iter().filter(|finding| finding.kind == Kind::ConflictingFact);
        Ok(found.filter_map(|finding| self.dispute(&finding)).collect())
    }

    fn dispute(&self, finding: &Finding) -> Option<Question> {
        let [told, other] = <[Side; 2]>::try_from(finding.sides.clone()).ok()?;
        let text = self.text_of(&told.path)?;
        let note = Note::parse(&text);
        let beside = self.text_of(&other.path).unwrap_or_default();
        let said = check::fact_on(&text, told.line, finding.target.as_deref()?, (&other.path, &beside))?;
        let (one, two) = (shown(&note, &told), shown(&Note::parse(&beside), &other));
        Some(Question {
            kind: QuestionKind::Disputed,
            question: format!("which one is right: `{one}`, or `{two}` in line {} of `{}`?", other.line, other.path),
            path: told.path,
            line: told.line,
            key: said.key,
            value: said.value,
            text: told.text,
            by: told.by,
            other: Some(other),
        })
    }

    pub(super) fn line_of(&self, path: &MemoryPath, line: usize) -> Option<String> {
        Some(self.text_of(path)?.lines().nth(line.checked_sub(1)?)?.trim().to_owned())
    }
}

/// The line of a side, or its fact where the value goes on below the line.
fn shown(note: &Note<'_>, side: &Side) -> String {
    let fact = note.facts().into_iter().find(|fact| fact.line == side.line);
    match fact.filter(|fact| note.line_at(fact.span.end) > side.line && !side.text.contains(&fact.value)) {
        Some(fact) => format!("{}: {}", fact.key, fact.value),
        None => side.text.clone(),
    }
}

fn of_fact(kind: QuestionKind, fact: &FoundFact, question: String) -> Question {
    Question {
        kind,
        path: fact.path.clone(),
        line: fact.line,
        key: fact.key.clone(),
        value: fact.value.clone(),
        text: String::new(),
        question,
        other: None,
        by: fact.why.as_ref().and_then(|why| why.last_written.clone()),
    }
}

fn unconfirmed(fact: &FoundFact) -> Option<Question> {
    let by = fact.why.as_ref()?.last_written.as_ref()?;
    let source = by.tool.as_deref().map_or_else(|| by.by.to_string(), |tool| format!("the tool {tool}"));
    let question =
        format!("is `{}: {}` right? it came from {source}, and you have not confirmed it", fact.key, fact.value);
    Some(of_fact(QuestionKind::Unconfirmed, fact, question))
}

/// The facts that are old for their kind, the oldest for it first.
fn old(facts: &[FoundFact], now: Timestamp) -> Vec<Question> {
    let mut lasted: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for one in facts {
        let former = one.why.iter().flat_map(|why| &why.replaced);
        let times = former
            .filter_map(|former| Some(micros(former.replaced.as_deref()?)? - micros(former.written.as_deref()?)?));
        lasted.entry(fact::key(&one.key)).or_default().extend(times.filter(|time| *time > 0));
    }
    lasted.retain(|_, times| times.len() >= LEAST_FORMER);
    lasted.values_mut().for_each(|times| times.sort_unstable());
    let mut found: Vec<(i64, Question)> = Vec::new();
    for one in facts.iter().filter(|fact| fact.state == FactState::Current) {
        let middle = lasted.get(&fact::key(&one.key)).and_then(|times| times.get(times.len() / 2)).copied();
        let since = one.why.as_ref().and_then(since);
        let Some((middle, since)) = middle.zip(since) else { continue };
        let age = now.micros().saturating_sub(since);
        if age <= middle.saturating_mul(OLD_AFTER) {
            continue;
        }
        let days = |micros: i64| micros / 86_400_000_000;
        let question = format!(
            "is `{}: {}` still right? it has stood for {} days, and such facts mostly change after {}",
            one.key,
            one.value,
            days(age),
            days(middle)
        );
        // How many times as old as is usual, in hundredths.
        found.push((age.saturating_mul(100) / middle.max(1), of_fact(QuestionKind::Old, one, question)));
    }
    found.sort_by(|(one, first), (other, second)| other.cmp(one).then_with(|| first.path.cmp(&second.path)));
    found.into_iter().map(|(_, question)| question).collect()
}

/// When a line was last written or confirmed, in microseconds.
fn since(why: &Provenance) -> Option<i64> {
    let written = why.last_written.as_ref().and_then(|last| micros(last.time.as_deref()?));
    let confirmed = why.last_confirmed.as_ref().and_then(|last| micros(&last.time));
    written.max(confirmed)
}

fn micros(time: &str) -> Option<i64> {
    Timestamp::parse(time).ok().map(Timestamp::micros)
}

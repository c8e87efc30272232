//! [`answer`]: the notes that answer a question, the best first.

use std::collections::{BTreeSet, HashMap};

use super::looked::{Looked, MOST_LOOKED};
use super::record::{Record, Records};
use super::text::Words;
use super::text::{Evidence, Left};
use super::trail::{IDENT, Trail, Way};
use super::{Bm25, Fit, Number, Point, Question, Source, SourceError, Word, best_first, passage, spelling};
use memdir_core::path::MemoryPath;
use memdir_core::report::Why;
use memdir_note::{Excluded, words};

/// What the key of a fact explains of what a word is worth, where its value is no note and where it is one, and what
/// its value does.
const KEY: f64 = 1.0;
const LINK_KEY: f64 = 0.5;
const VALUE: f64 = 0.5;
/// What the words of a note say beside what ways and facts explain, and what its best paragraph says.
const TEXT: f64 = 0.2;
const PASSAGE: f64 = 0.3;
/// By this the score of a note is less that the person has set aside.
const EXCLUDED: f64 = 1e-3;
/// Of so many of the best notes the paragraphs are looked at.
const MOST_PASSAGES: usize = 30;

/// What a question is asked with.
pub struct Asking<'a> {
    /// Reads the text of a note, for its passages; `None` where it cannot be read.
    pub read: &'a dyn Fn(&MemoryPath) -> Option<String>,
    /// Whether the time for it is over.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Which notes may be answered, where it is not all.
    pub within: Option<&'a dyn Fn(Number) -> bool>,
    /// Which notes belong to the past, where any may: they are no answer, and nothing is followed through them.
    pub is_past: Option<&'a dyn Fn(Number) -> bool>,
    /// The question as a point, where something makes points.
    pub point: Option<&'a Point>,
    /// What the person has set aside: it comes after all others.
    pub excluded: &'a Excluded,
}

impl Asking<'_> {
    /// Whether a note belongs to the past.
    pub(super) fn is_past(&self, note: Number) -> bool {
        self.is_past.is_some_and(|is_past| is_past(note))
    }

    /// # Errors
    ///
    /// [`SourceError::Stopped`] when the time is over.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        if (self.stop)() { Err(SourceError::Stopped) } else { Ok(()) }
    }
}

/// Of so many of the first notes it is known which words they hold.
const MOST_HELD: usize = 100;

/// The notes that answer a question.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The best first, each once; what is equally good in the order of the numbers.
    pub found: Vec<Found>,
    /// How much finding each word of the question says, in the order of [`Question::words`].
    pub weights: Vec<f64>,
    /// What the best notes explain of the question, the best first.
    pub looked: Vec<Looked>,
    /// Says whether that is an answer.
    pub fit: Fit,
    /// The words of the question that each of the first notes holds, in the order of `found`.
    held: Vec<Words>,
    /// The question as it was corrected, where no note had any of its words.
    pub corrected: Option<Question>,
    /// The same as it would be typed.
    pub searched_for: Option<String>,
}

impl Answer {
    /// The words of the question, as they are written, that none of the first `shown` notes holds, where the notes say nothing of what
    /// it asks: see [`Fit::unknown`]. No words where it is all of it that nothing explains and it has none to look for.
    #[must_use]
    pub fn unknown(&self, asked: &Question, shown: usize) -> Option<Vec<String>> {
        let held = self.held.iter().take(shown).fold(0, |all, held| all | held);
        Some(asked.written(self.fit.unknown(&self.looked, held)?))
    }
}

/// A note that answers a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its number at the source.
    pub note: Number,
    /// How well it answers; only the order means something.
    pub score: f64,
    /// By what it was found.
    pub why: Vec<Why>,
}

/// What the ways to a note and its facts explain of a question.
struct Judged {
    note: Number,
    score: f64,
    /// The words that count in its text: those that do not only name where the best way begins.
    root: Left,
    /// The words of the question in each part of its text.
    units: BTreeSet<Words>,
    why: Vec<Why>,
    /// Whether it is named, or a link of which the question says something led to it.
    is_led: bool,
}

/// Says which notes answer a question.
///
/// Those that hold its words are found first. From the notes that it names, and from that of the person who asks, links
/// are followed; what the labels of these and the facts of the notes explain of the question puts the best in order,
/// with how close together the words stand. All other notes that hold a word follow.
///
/// # Errors
///
/// Those of the source, and [`SourceError::Stopped`].
pub fn answer(source: &dyn Source, asked: &Question, asking: &Asking<'_>) -> Result<Answer, SourceError> {
    let corrected = spelling::corrected(source, asked, asking)?;
    let question = corrected.as_ref().unwrap_or(asked);
    let mut text = Evidence::gather(source, question, asking)?;
    let fit = Fit::new(question, text.idf(), source.notes()?);
    text.find_evident(&|word| fit.is_rare(word));
    let mut records = Records::new(source, question, asking);
    let trail = Trail::follow(&mut records, source, question, &text, asking)?;
    let mut judged = Vec::new();
    for (note, ways) in &trail.ways {
        if let Some(record) = records.of(*note)?.filter(|_| asking.within.is_none_or(|within| within(*note))) {
            let judgement = judge(*note, ways, &record, question, &text);
            judged.extend(judgement.filter(|judged| judged.is_led || text.is_evident(*note)));
        }
    }
    let texts = weigh_passages(&mut judged, &mut records, question, &text, asking)?;
    let typed = |corrected: &Question| spelling::typed(asked, corrected, texts.iter().map(String::as_str));
    let searched_for = corrected.as_ref().map(typed);
    let looked = looked(&judged, &trail, &mut records, question)?;
    let (mut found, weights) = (found(judged, &text, asking), text.idf().to_vec());
    if !asking.excluded.is_empty() {
        for found in &mut found {
            if source.path(found.note)?.is_some_and(|path| asking.excluded.holds(&path)) {
                found.score *= EXCLUDED;
            }
        }
        found.sort_unstable_by(|one, other| best_first((one.score, one.note), (other.score, other.note)));
    }
    let held = found.iter().take(MOST_HELD).map(|found| text.held(found.note)).collect();
    Ok(Answer { found, weights, looked, fit, held, corrected, searched_for })
}

/// What the ways to a note explain, and what its facts do then: the best of them. `None` where links have led to a
/// note and neither they nor the note say anything that was asked.
fn judge(note: Number, ways: &[Way], record: &Record, question: &Question, text: &Evidence) -> Option<Judged> {
    let whole = text.worth(&question.counts()).max(f64::MIN_POSITIVE);
    let mut best: Option<Judged> = None;
    let mut unlinked = f64::NEG_INFINITY;
    let (mut is_explained, mut is_led) = (false, false);
    let mut has_links = false;
    for way in ways {
        let mut left = way.left;
        let ident = text.take(&record.ident, &mut left, IDENT).0;
        let fact = |key: f64, words: &super::record::FactWords| {
            let mut left = left;
            text.take(&words.key, &mut left, key).0 + text.take(&words.value, &mut left, VALUE).0
        };
        let facts = record.facts.iter().map(|words| fact(if words.is_link { LINK_KEY } else { KEY }, words));
        let explained = ident + facts.fold(0.0, f64::max);
        is_led |= way.left != way.root || (way.links == 0 && way.is_meant);
        is_explained |= explained > 0.0;
        let score = (way.score + explained) / whole + TEXT * text.of_left(note, &way.root);
        if way.links == 0 {
            unlinked = unlinked.max(score);
        }
        if best.as_ref().is_none_or(|best| score > best.score) {
            has_links = way.links > 0;
            best = Some(Judged { note, score, root: way.root, units: BTreeSet::new(), why: Vec::new(), is_led: false });
        }
    }
    let (has_text, has_vector) = (text.has_text(note), text.has_vector(note));
    let is_unlinked = unlinked > f64::NEG_INFINITY && !has_text && !has_vector;
    let is_linked = has_links && best.as_ref().is_some_and(|best| best.score > unlinked);
    best.filter(|_| is_led || is_explained || has_text || has_vector).map(|mut best| {
        best.is_led = is_led || !has_text;
        best.why.extend((has_text || is_unlinked).then_some(Why::Text));
        best.why.extend(is_linked.then_some(Why::Link));
        best.why.extend(has_vector.then_some(Why::Vector));
        best
    })
}

/// Adds what the paragraphs of the best notes say; gives the beginnings of these notes, the best first.
fn weigh_passages(
    judged: &mut [Judged],
    records: &mut Records<'_>,
    question: &Question,
    evidence: &Evidence,
    asking: &Asking<'_>,
) -> Result<Vec<String>, SourceError> {
    judged.sort_by(|one, other| best_first((one.score, one.note), (other.score, other.note)));
    let mut texts = Vec::new();
    for judged in judged.iter_mut().take(MOST_PASSAGES) {
        asking.check()?;
        let text = records.path(judged.note)?.and_then(|path| (asking.read)(&path));
        if let Some(mut text) = text {
            // All of them are kept until the end.
            text.truncate(text.floor_char_boundary(passage::MOST_BYTES));
            text.shrink_to_fit();
            let passages = passage::of(&text, question, evidence, &judged.root);
            judged.score += PASSAGE * passages.best;
            judged.units = passages.units;
            texts.push(text);
        }
    }
    Ok(texts)
}

/// What the best notes explain.
fn looked(
    judged: &[Judged],
    trail: &Trail,
    records: &mut Records<'_>,
    question: &Question,
) -> Result<Vec<Looked>, SourceError> {
    let mut best: Vec<&Judged> = judged.iter().collect();
    best.sort_by(|one, other| best_first((one.score, one.note), (other.score, other.note)));
    let (counts, mut looked) = (question.counts(), Vec::new());
    for Judged { note, units, .. } in best.into_iter().take(MOST_LOOKED) {
        let ways = trail.ways.get(note).map(Vec::as_slice).unwrap_or_default();
        looked.extend(records.of(*note)?.map(|record| Looked::new(*note, &record, ways, &counts, units)));
    }
    Ok(looked)
}

/// The notes that were judged, then all others that hold a rare word, or any where no note holds one; every score of those
/// is below 1.
fn found(judged: Vec<Judged>, text: &Evidence, asking: &Asking<'_>) -> Vec<Found> {
    let judged = judged.into_iter().map(|Judged { note, score, why, .. }| (note, (1.0 + score.max(0.0), why)));
    let mut judged: HashMap<Number, (f64, Vec<Why>)> = judged.collect();
    let may_answer = |note: Number| asking.within.is_none_or(|within| within(note)) && !asking.is_past(note);
    let rest = text.ranked().into_iter().filter(|(_, note)| may_answer(*note));
    let rest = rest.filter(|(_, note)| !judged.contains_key(note) && text.is_evident(*note)).map(|(much, note)| {
        let why = [text.has_text(note).then_some(Why::Text), text.has_vector(note).then_some(Why::Vector)];
        Found { note, score: much.min(1.0), why: why.into_iter().flatten().collect() }
    });
    let mut found: Vec<Found> = rest.collect();
    found.extend(judged.drain().map(|(note, (score, why))| Found { note, score, why }));
    found.sort_unstable_by(|one, other| best_first((one.score, one.note), (other.score, other.note)));
    found
}

/// Orders notes by plain BM25 over all words of a query, as others do.
///
/// # Errors
///
/// Those of the source.
pub fn by_text(source: &dyn Source, query: &str) -> Result<Vec<Found>, SourceError> {
    let mut asked: Vec<Word> = Vec::new();
    words::each(query, &mut |word, _| {
        let word = Word::of(word);
        let is_known = asked.iter().any(|known| known.stems().first() == word.stems().first());
        if asked.len() < super::question::MOST_WORDS && !is_known {
            asked.push(word);
        }
    });
    let holding = asked.iter().map(|word| source.holding(word.stems())).collect::<Result<Vec<_>, _>>()?;
    let bm25 = Bm25::new(source.notes()?, 0.0, &holding);
    let mut scores: HashMap<Number, f64> = HashMap::new();
    for (number, word) in asked.iter().enumerate() {
        for (note, much) in source.matching(word.stems())? {
            *scores.entry(note).or_default() += much.value() * bm25.weight(number);
        }
    }
    let found = scores.into_iter().map(|(note, score)| Found { note, score, why: vec![Why::Text] });
    let mut found: Vec<Found> = found.collect();
    found.sort_unstable_by(|one, other| best_first((one.score, one.note), (other.score, other.note)));
    Ok(found)
}

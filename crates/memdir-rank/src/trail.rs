//! [`Trail`]: the ways from the notes that a question means to those that its words lead to.
//!
//! A way begins at a note that is named, at the note of the person who asks, or at one that holds the words, and goes
//! over links. What is said of a link explains words of the question, each as often as it is asked.

use std::collections::{BTreeMap, HashMap};

use super::links::MOST_NAMESAKES;
use super::record::{Beside, Records};
use super::text::{Evidence, Left, bit};
use super::{Asking, Number, Question, Source, SourceError, best_first, called};
use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};

/// So many of the notes that hold the words are looked at more closely.
const MOST_TEXT: usize = 30;
/// So many notes that are named begin a way, and so many of persons.
const MOST_NAMED: usize = 8;
/// Of so many of the best notes the folders are looked at for the note of a person.
const MOST_FOLDERS: usize = 10;
/// The most links of a way; from the third on each has to be asked for.
const MOST_STEPS: u8 = 4;
const FREE_STEPS: u8 = 2;
/// So many ways go on after the first link, and so many after each further one.
const MOST_WAYS: usize = 64;
const MOST_FAR_WAYS: usize = 16;
/// So many ways to one note are kept.
const MOST_TO_ONE: usize = 4;
/// The longest name in words.
const MOST_NAME_WORDS: usize = 8;
/// The longest name in bytes as it stands in a question.
const MOST_NAME_BYTES: usize = 256;

/// What the person who asks is worth where somebody says "I", in words.
const PERSON_WORTH: f64 = 0.5;
/// What the key of a fact that is a link, a line with a link, and a title or tag explain of what a word is worth.
const KEY: f64 = 1.3;
const LINE: f64 = 0.5;
pub(super) const IDENT: f64 = 1.0;
/// What a link costs, one whose label nobody asked for, and one that only leads backwards.
const LINK_COST: f64 = 0.1;
const LABEL_COST: f64 = 0.2;
const BACK_COST: f64 = 0.1;

/// The ways to each note.
pub(super) struct Trail {
    pub(super) ways: BTreeMap<Number, Vec<Way>>,
}

/// A way to a note.
#[derive(Clone)]
pub(super) struct Way {
    /// What it explains, less what it costs.
    pub(super) score: f64,
    /// What it leaves to be explained.
    pub(super) left: Left,
    /// What its first note left.
    pub(super) root: Left,
    /// How many links it goes over.
    pub(super) links: u8,
    /// Whether its first note is named, or is that of the person who asks.
    pub(super) is_meant: bool,
}

/// A way that can go on.
struct End {
    note: Number,
    way: Way,
    /// The notes on it before.
    before: Option<Number>,
}

impl Trail {
    /// Finds where ways begin, and follows links: twice wherever they lead, then twice more as far as the question says so.
    pub(super) fn follow(
        records: &mut Records<'_>,
        source: &dyn Source,
        question: &Question,
        text: &Evidence,
        asking: &Asking<'_>,
    ) -> Result<Self, SourceError> {
        let mut trail = Self { ways: BTreeMap::new() };
        let mut ends = trail.begin(records, source, question, text, asking)?;
        for links in 1..=MOST_STEPS {
            let mut next = Vec::new();
            for end in &ends {
                asking.check()?;
                for beside in records.beside(end.note, text)?.iter() {
                    if beside.note == end.note || Some(beside.note) == end.before {
                        continue;
                    }
                    let Some(record) = records.of(beside.note)? else { continue };
                    let way = end.way.over(beside, text, links);
                    // Far from where a way begins there is everything: only what was asked for leads there.
                    let is_asked = way.left != end.way.left;
                    if links > FREE_STEPS && !is_asked {
                        continue;
                    }
                    trail.add(beside.note, way.clone());
                    if links < FREE_STEPS || (links < MOST_STEPS && is_asked) {
                        let mut way = way;
                        way.score += text.take(&record.ident, &mut way.left, IDENT).0;
                        next.push(End { note: beside.note, way, before: Some(end.note) });
                    }
                }
            }
            next.sort_by(|one, other| best_first((one.way.score, one.note), (other.way.score, other.note)));
            next.truncate(if links < FREE_STEPS { MOST_WAYS } else { MOST_FAR_WAYS });
            ends = next;
        }
        Ok(trail)
    }

    fn add(&mut self, note: Number, way: Way) {
        let ways = self.ways.entry(note).or_default();
        let at = ways.partition_point(|known| known.score >= way.score);
        ways.insert(at, way);
        ways.truncate(MOST_TO_ONE);
    }

    /// Begins ways at persons, at notes that are named, and at those that hold the words; only the first two go on.
    fn begin(
        &mut self,
        records: &mut Records<'_>,
        source: &dyn Source,
        question: &Question,
        text: &Evidence,
        asking: &Asking<'_>,
    ) -> Result<Vec<End>, SourceError> {
        let is_within = |note: Number| asking.within.is_none_or(|within| within(note));
        let best: Vec<Number> =
            text.ranked().into_iter().map(|(_, note)| note).filter(|note| is_within(*note)).take(MOST_TEXT).collect();
        let mut named = named(source, question, asking)?;
        add_named_in_part(&mut named, records, question, &best)?;
        let persons = if question.is_first_person() { persons(records, source, &named, &best)? } else { Vec::new() };
        let worth = |words: &[usize]| words.iter().map(|word| text.weight(*word)).sum::<f64>();
        let rest = |note: Number| (text.of(note), note);
        let mut order: Vec<Number> = named.keys().copied().collect();
        order.sort_by(|one, other| {
            let key = |note: &Number| (!persons.contains(note), named.get(note).map_or(0.0, |words| worth(words)));
            let ((is_other, weight), (is_other_2, weight_2)) = (key(one), key(other));
            is_other
                .cmp(&is_other_2)
                .then_with(|| weight_2.total_cmp(&weight))
                .then_with(|| best_first(rest(*one), rest(*other)))
        });
        order.truncate(MOST_NAMED);
        let mut first: Vec<Number> = persons.iter().copied().filter(|note| !order.contains(note)).collect();
        first.sort_by(|one, other| best_first(rest(*one), rest(*other)));
        first.truncate(MOST_NAMED);
        first.extend(&order);
        let mut ends = Vec::new();
        for note in first.iter().chain(best.iter().filter(|note| !first.contains(note))) {
            if records.of(*note)?.is_none() {
                continue;
            }
            let name = named.get(note).filter(|_| order.contains(note)).map(Vec::as_slice).unwrap_or_default();
            let mut left = question.counts();
            let name: Vec<u8> = name.iter().filter_map(|word| u8::try_from(*word).ok()).collect();
            let mut score = text.take(&name, &mut left, 1.0).0;
            if persons.contains(note) {
                score += PERSON_WORTH;
            }
            let is_meant = first.contains(note);
            let way = Way { score, left, root: left, links: 0, is_meant };
            // A question that is a name and nothing else asks for this note.
            let is_all = !name.is_empty() && name.len() == question.length();
            let whole = if is_all { text.worth(&question.counts()) } else { 0.0 };
            self.add(*note, Way { score: score + whole, ..way.clone() });
            if is_meant {
                ends.push(End { note: *note, way, before: None });
            }
        }
        Ok(ends)
    }
}

impl Way {
    /// The way one link further.
    fn over(&self, beside: &Beside, text: &Evidence, links: u8) -> Self {
        let mut way = Self { links, ..self.clone() };
        let mut best: f64 = 0.0;
        for label in &beside.labels {
            let strength = if label.is_key() { KEY } else { LINE };
            let (worth, taken) = text.take(&label.words, &mut way.left, strength);
            way.score += worth;
            if label.length > 0 {
                best = best.max(share(taken, label.length));
            }
        }
        way.score -= LINK_COST + LABEL_COST * (1.0 - best) + if beside.is_target { 0.0 } else { BACK_COST };
        way
    }
}

#[expect(clippy::cast_precision_loss, reason = "a line of words")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The notes that a question names, each with the words of the longest name.
fn named(
    source: &dyn Source,
    question: &Question,
    asking: &Asking<'_>,
) -> Result<HashMap<Number, Vec<usize>>, SourceError> {
    let mut named: HashMap<Number, Vec<usize>> = HashMap::new();
    let mut known: HashMap<String, Vec<Number>> = HashMap::new();
    for start in 0..question.said().len() {
        asking.check()?;
        for length in 1..=MOST_NAME_WORDS {
            let Some(run) = question.said().get(start..start + length) else { break };
            let words: Vec<usize> = run.iter().filter_map(|said| said.word).collect();
            let from = run.iter().map(|said| said.range.start).min().unwrap_or_default();
            let to = run.iter().map(|said| said.range.end).max().unwrap_or_default();
            if words.is_empty() || to - from > MOST_NAME_BYTES {
                continue;
            }
            let name = called(question.text().get(from..to).unwrap_or_default());
            // Everybody's note is called so; it is found otherwise.
            if name.is_empty() || name == PERSON {
                continue;
            }
            if !known.contains_key(&name) {
                known.insert(name.clone(), source.called(&name, MOST_NAMESAKES)?);
            }
            for note in known.get(&name).into_iter().flatten() {
                let longest = named.entry(*note).or_default();
                if longest.len() < words.len() {
                    longest.clone_from(&words);
                }
            }
        }
    }
    Ok(named)
}

/// Adds the notes of which a question writes a part of the name as a name: who says Ada means Ada Lovelace. Who says March
/// means no page of a diary.
fn add_named_in_part(
    named: &mut HashMap<Number, Vec<usize>>,
    records: &mut Records<'_>,
    question: &Question,
    best: &[Number],
) -> Result<(), SourceError> {
    let written = question.written_as_names();
    for note in best.iter().filter(|_| written != 0) {
        let Some(record) = records.of(*note)?.filter(|_| !named.contains_key(note)) else { continue };
        if record.is_numbered() {
            continue;
        }
        let words = record.name.iter().map(|word| usize::from(*word));
        let words: Vec<usize> = words.filter(|word| written & bit(*word) != 0).collect();
        if !words.is_empty() {
            named.insert(*note, words);
        }
    }
    Ok(())
}

/// The notes in which who asks may have told of themselves: one that is named, else that of the memory, else those of the
/// folders that answer best.
fn persons(
    records: &mut Records<'_>,
    source: &dyn Source,
    named: &HashMap<Number, Vec<usize>>,
    best: &[Number],
) -> Result<Vec<Number>, SourceError> {
    let mut persons = Vec::new();
    for note in named.keys() {
        if records.path(*note)?.is_some_and(|path| path.stem().eq_ignore_ascii_case(PERSON)) {
            persons.push(*note);
        }
    }
    if persons.is_empty() {
        persons.extend(MemoryPath::parse(PERSON_NOTE).ok().map(|path| source.number(&path)).transpose()?.flatten());
    }
    if persons.is_empty() {
        for note in best.iter().take(MOST_FOLDERS) {
            let mut folder = records.path(*note)?.and_then(|path| path.parent());
            while let Some(above) = folder {
                let person = MemoryPath::in_folder(Some(&above), PERSON_NOTE).ok();
                persons.extend(person.map(|path| source.number(&path)).transpose()?.flatten());
                folder = above.parent();
            }
        }
    }
    persons.sort_unstable();
    persons.dedup();
    Ok(persons)
}

//! [`Records`]: what the cards of notes say in words of the question, each card read once, and not too many.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::function_words::is_function_word;
use super::links::{name_meant, own_names};
use super::text::Evidence;
use super::{Asking, Names, Number, Question, Source, SourceError};
use memdir_core::path::MemoryPath;
use memdir_note::stem::Languages;
use memdir_note::{Card, fact, words};

/// No more cards are read for a question.
const MOST_RECORDS: usize = 200;
/// Of one note, so many facts and links count.
const MOST_FACTS: usize = 400;
const MOST_LINKS: usize = 400;
/// Of the value of a fact, and of a line with a link, so many words.
const MOST_VALUE_WORDS: usize = 40;
const MOST_LINE_WORDS: usize = 24;
/// The key under which the front matter of published notes says what they are about.
const DESCRIPTION: &str = "description";
/// Of the links of a whole question, so many are followed or looked up.
const MOST_ROWS: usize = 4_000;
/// Of the notes that link to one, so many are looked at, and of all that are beside it so many taken.
const MOST_LINKING: usize = 1_000;
const MOST_BESIDE: usize = 64;

/// The notes that a question has led to.
pub(super) struct Records<'q> {
    source: &'q dyn Source,
    question: &'q Question,
    asking: &'q Asking<'q>,
    names: Names,
    records: HashMap<Number, Option<Rc<Record>>>,
    paths: HashMap<Number, Option<MemoryPath>>,
    beside: HashMap<Number, Rc<[Beside]>>,
    rows: usize,
}

/// What a note says in words of the question.
pub(super) struct Record {
    path: MemoryPath,
    own: BTreeSet<String>,
    links: Vec<Linked>,
    /// The words of its names, each once.
    pub(super) name: Vec<u8>,
    /// The same with those of its tags and its description.
    pub(super) ident: Vec<u8>,
    /// Its facts that hold any of the words.
    pub(super) facts: Vec<FactWords>,
}

/// A fact in words of the question.
pub(super) struct FactWords {
    pub(super) key: Vec<u8>,
    /// How many words its key has, with those that are not in the question.
    pub(super) key_length: usize,
    pub(super) value: Vec<u8>,
    /// Whether its value is another note.
    pub(super) is_link: bool,
}

/// A link of a note.
struct Linked {
    path: String,
    name: String,
    label: Label,
}

/// What is said of a link where it stands: the key of its fact, else its line.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Label {
    /// Keys come first.
    is_line: bool,
    pub(super) words: Vec<u8>,
    /// How many words it has, with those that are not in the question.
    pub(super) length: usize,
}

/// A note beside another one, by links either way.
pub(super) struct Beside {
    pub(super) note: Number,
    pub(super) labels: Vec<Label>,
    /// Whether it is linked to, and not only links.
    pub(super) is_target: bool,
}

impl Label {
    pub(super) fn is_key(&self) -> bool {
        !self.is_line
    }
}

impl<'q> Records<'q> {
    pub(super) fn new(source: &'q dyn Source, question: &'q Question, asking: &'q Asking<'q>) -> Self {
        Self {
            source,
            question,
            asking,
            names: Names::default(),
            records: HashMap::new(),
            paths: HashMap::new(),
            beside: HashMap::new(),
            rows: MOST_ROWS,
        }
    }

    /// Where a note is.
    pub(super) fn path(&mut self, note: Number) -> Result<Option<MemoryPath>, SourceError> {
        if let Some(path) = self.paths.get(&note) {
            return Ok(path.clone());
        }
        let path = self.source.path(note)?;
        self.paths.insert(note, path.clone());
        Ok(path)
    }

    /// What a note says; `None` where it cannot be told, or where enough cards were read.
    pub(super) fn of(&mut self, note: Number) -> Result<Option<Rc<Record>>, SourceError> {
        if let Some(record) = self.records.get(&note) {
            return Ok(record.clone());
        }
        if self.records.len() >= MOST_RECORDS {
            return Ok(None);
        }
        let card = if self.asking.is_past(note) { None } else { self.source.card(note)? };
        let record = card.map(|(path, card)| Rc::new(Record::of(path, &card, self.question)));
        self.records.insert(note, record.clone());
        Ok(record)
    }

    /// The notes beside a note, those first of which the words say most.
    pub(super) fn beside(&mut self, note: Number, text: &Evidence) -> Result<Rc<[Beside]>, SourceError> {
        if let Some(beside) = self.beside.get(&note) {
            return Ok(Rc::clone(beside));
        }
        let mut found = Vec::new();
        if let Some(record) = self.of(note)? {
            let mut targets = self.targets(note, &record)?;
            let mut order: Vec<_> = targets.keys().map(|other| (*other, true)).collect();
            let linking = self.linking(note, &record)?;
            order.extend(linking.into_iter().filter(|other| !targets.contains_key(other)).map(|other| (other, false)));
            order.sort_by(|(one, _), (other, _)| super::best_first((text.of(*one), *one), (text.of(*other), *other)));
            for (other, is_target) in order {
                if found.len() >= MOST_BESIDE {
                    break;
                }
                self.asking.check()?;
                let mut labels = targets.remove(&other).unwrap_or_default();
                if is_target || self.is_linking(note, &record, other)? {
                    labels.extend(self.back(note, &record, other)?);
                }
                if !labels.is_empty() {
                    labels.sort_unstable();
                    labels.dedup();
                    found.push(Beside { note: other, labels, is_target });
                }
            }
        }
        let found: Rc<[Beside]> = found.into();
        self.beside.insert(note, Rc::clone(&found));
        Ok(found)
    }

    /// Where the links of a note lead, and what is said of them.
    fn targets(&mut self, note: Number, record: &Record) -> Result<BTreeMap<Number, Vec<Label>>, SourceError> {
        let mut targets: BTreeMap<Number, Vec<Label>> = BTreeMap::new();
        for link in &record.links {
            let Some(rows) = self.rows.checked_sub(1) else { break };
            self.rows = rows;
            let target = self.names.target(self.source, &link.path, &record.path)?;
            if let Some(target) = target.filter(|target| *target != note) {
                targets.entry(target).or_default().push(link.label.clone());
            }
        }
        Ok(targets)
    }

    /// The notes with links of which one may lead to a note.
    fn linking(&mut self, note: Number, record: &Record) -> Result<BTreeSet<Number>, SourceError> {
        let mut linking = BTreeSet::new();
        for name in &record.own {
            let found = self.source.linking(name, MOST_LINKING.min(self.rows))?;
            self.rows -= found.len().min(self.rows);
            linking.extend(found);
        }
        linking.remove(&note);
        Ok(linking)
    }

    /// Whether a link to one of the names of a note leads there from where another note is. Most that do not are told
    /// by this without reading their cards.
    fn is_linking(&mut self, note: Number, record: &Record, other: Number) -> Result<bool, SourceError> {
        let Some(from) = self.path(other)? else { return Ok(false) };
        for name in &record.own {
            if self.names.target(self.source, name, &from)? == Some(note) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What another note says of its links to a note.
    fn back(&mut self, note: Number, record: &Record, other: Number) -> Result<Vec<Label>, SourceError> {
        let Some(other) = self.of(other)? else { return Ok(Vec::new()) };
        let mut labels = Vec::new();
        for link in other.links.iter().filter(|link| record.own.contains(&link.name)) {
            if self.names.target(self.source, &link.path, &other.path)? == Some(note) {
                labels.push(link.label.clone());
            }
        }
        Ok(labels)
    }
}

impl Record {
    /// Whether one of its names has a number in it, as those of a diary have.
    pub(super) fn is_numbered(&self) -> bool {
        self.own.iter().any(|name| name.chars().any(char::is_numeric))
    }

    fn of(path: MemoryPath, card: &Card, question: &Question) -> Self {
        let (name, ident) = ident(&path, card, question);
        let words = |key: &str, value: &str, is_link: bool| {
            let (key, key_length) = spoken(question, card.languages, key, usize::MAX);
            FactWords { key, key_length, value: spoken(question, card.languages, value, MOST_VALUE_WORDS).0, is_link }
        };
        let is_link = |value: &str| value.contains("[[") || value.contains("](");
        let facts = card.facts.iter().take(MOST_FACTS).map(|fact| words(&fact.key, &fact.value, is_link(&fact.value)));
        // A heading says what stands below it, as the key of a fact does.
        let headings = card.seen.headings().take(MOST_FACTS).map(|heading| words(heading, "", false));
        let facts = facts.chain(headings);
        let facts = facts.filter(|fact| !fact.key.is_empty() || !fact.value.is_empty()).collect();
        let links = card.linked().take(MOST_LINKS);
        let links = links.filter(|(link, _)| !link.path.is_empty());
        let links = links.map(|(link, line)| Linked {
            path: link.path.clone(),
            name: name_meant(&link.path),
            label: label(card, (link.line, &link.path), line, question),
        });
        let links = links.collect();
        Self { own: own_names(&path, card), links, name, ident, facts, path }
    }
}

/// The words of what a note is called, and these with what it says that it is about, each once.
fn ident(path: &MemoryPath, card: &Card, question: &Question) -> (Vec<u8>, Vec<u8>) {
    let add = |ident: &mut Vec<u8>, text: &str| {
        for word in spoken(question, card.languages, text, usize::MAX).0 {
            if !ident.contains(&word) {
                ident.push(word);
            }
        }
    };
    let mut name = Vec::new();
    let called = card.title.iter().chain(&card.aliases).map(String::as_str);
    called.chain([path.stem()]).for_each(|text| add(&mut name, text));
    let mut ident = name.clone();
    let about = card.facts.iter().filter(|fact| fact::key(&fact.key) == DESCRIPTION).map(|fact| fact.value.as_str());
    card.tags.iter().map(String::as_str).chain(about).for_each(|text| add(&mut ident, text));
    (name, ident)
}

/// What is said of a link: the key of the fact in whose line or list it stands, else the words of its line.
fn label(card: &Card, (line, path): (usize, &str), text: &str, question: &Question) -> Label {
    let before = card.facts.partition_point(|fact| fact.line <= line);
    let fact = before.checked_sub(1).and_then(|last| card.facts.get(last));
    match fact.filter(|fact| fact.line == line || fact.value.contains(path)) {
        Some(fact) => {
            let (words, length) = spoken(question, card.languages, &fact.key, usize::MAX);
            Label { is_line: false, words, length }
        }
        None => {
            let (words, length) = spoken(question, card.languages, &without_links(text), MOST_LINE_WORDS);
            Label { is_line: true, words, length }
        }
    }
}

/// A line without what links show or mean.
fn without_links(line: &str) -> String {
    let mut rest = line;
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once("[[") {
        left.push_str(before);
        left.push(' ');
        rest = after.split_once("]]").map_or("", |(_, after)| after);
    }
    left.push_str(rest);
    let mut bare = String::new();
    let mut rest = left.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        bare.push_str(before.rsplit_once('[').map_or(before, |(before, _)| before));
        bare.push(' ');
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    bare
}

/// The words of the question among the first words of a text, and how many these are; function words do not count.
fn spoken(question: &Question, languages: Languages, text: &str, most: usize) -> (Vec<u8>, usize) {
    let (mut found, mut length) = (Vec::new(), 0);
    words::each(text, &mut |word, _| {
        if length < most && !is_function_word(word) {
            length += 1;
            found.extend(question.set().place(word, languages).and_then(|place| u8::try_from(place).ok()));
        }
    });
    (found, length)
}

//! What the facts of a note say, as [`super::contradiction`] compares them: about what each is, and beside which others.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use memdir_note::fact::{self, Beside, Callout, Form, Named, Place};
use memdir_note::{Fact, Note, PartialDate, Period, folded};

/// No more facts of one note are compared.
const MOST_FACTS: usize = 500;
/// A longer value is prose and compared with nothing.
const MOST_VALUE_BYTES: usize = 120;
/// A line of more words above a list is a sentence and no label of it.
const MOST_LABEL_WORDS: usize = 5;
/// So many words can be a name or an amount.
const MOST_NAME_WORDS: usize = 4;

/// The section of what a note says of its own subject.
pub(super) const OWN: usize = 0;
/// The list of the front matter.
pub(super) const FRONT: usize = 0;
/// The number of the first table, or other group of what is said of something named, among the lists.
const FIRST_GROUP: usize = usize::MAX / 2;
/// That of the first table which may say something of the note.
const FIRST_RECORD: usize = usize::MAX / 4;

/// A fact as it is compared.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Said {
    /// As it is written.
    pub(super) key: String,
    /// As keys are compared, where that is not as it is written.
    folded: Option<String>,
    /// As values are compared; empty for prose and for nothing.
    pub(super) value: String,
    pub(super) form: ValueForm,
    pub(super) line: usize,
    /// [`OWN`], or the number of the heading or label above it.
    pub(super) section: usize,
    /// [`FRONT`], or the number of the list.
    pub(super) list: usize,
    /// How many items of the list stand before it.
    pub(super) item: usize,
    /// Whether text stands between it and the heading of its section.
    pub(super) is_remark: bool,
    /// Whether it is a field in a sentence, which tells what the field is about.
    pub(super) is_in_sentence: bool,
    /// Its first moment and the first one after it, in microseconds, where it says since when or until when it holds.
    pub(super) time: (Option<i64>, Option<i64>),
}

/// What kind of value a fact has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum ValueForm {
    /// A word, a name, a number, a date.
    Name,
    /// A link and nothing else.
    Link,
    /// Some words that may be part of a sentence.
    Words,
    /// Several values, as a list in the front matter has them.
    Several,
}

/// The facts of a note, and the headings and labels above them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Facts {
    pub(super) all: Vec<Said>,
    /// What is said of something that is named, as in a cell of a table or at the beginning of an item; it counts where that is a
    /// note, in the place of the facts on its line.
    pub(super) named: Vec<Said>,
    /// What the tables say that may be facts of the note: each counts where the memory knows all its keys.
    pub(super) records: Vec<Vec<Said>>,
    /// By number, as keys are compared; empty for [`OWN`].
    pub(super) sections: Vec<String>,
    /// Those that are callouts, unless the title is a pair or holds a link.
    pub(super) boxes: Vec<usize>,
}

impl Said {
    /// The key as keys are compared.
    pub(super) fn name(&self) -> &str {
        self.folded.as_deref().unwrap_or(&self.key)
    }
}

impl Facts {
    /// Whether the note says of itself that another one has taken its place, or has a status that says so.
    pub(super) fn is_past(&self, past_status: &[String]) -> bool {
        self.front("superseded by").is_some()
            || self.front("status").is_some_and(|status| past_status.iter().any(|past| past == status))
    }

    /// What the front matter says of a key, in the form in which values are compared.
    fn front(&self, key: &str) -> Option<&str> {
        let fact = self.all.iter().take_while(|fact| fact.list == FRONT).find(|fact| fact.name() == key)?;
        Some(fact.value.as_str()).filter(|value| !value.is_empty())
    }

    /// Reads the facts of a note. Items of a list in a list are about the item above them, as those below a heading are;
    /// what stands deeper is left out. The title of a callout is a label of what stands in it.
    pub(super) fn of(text: &str, note: &Note<'_>) -> Self {
        let facts = note.facts();
        let mut facts = facts.iter().filter(|fact| !is_label(fact) && !is_of_item(fact)).take(MOST_FACTS).peekable();
        let named: Vec<Named> = note.named().take(MOST_FACTS).collect();
        let mut left = MOST_FACTS;
        let fits = move |record: &Vec<Fact>| {
            let after = left.checked_sub(record.len());
            left = after.unwrap_or(left);
            after.is_some()
        };
        let mut records = note.records().filter(fits).peekable();
        if facts.peek().is_none() && named.is_empty() && records.peek().is_none() {
            return Self::default();
        }
        let mut reading = Reading::new(note);
        reading.add_named(&named);
        while let Some(fact) = facts.next_if(|fact| matches!(fact.place, Place::FrontMatter(_))) {
            reading.add(fact, OWN, FRONT);
        }
        let first = note.line_at(note.body());
        // The last line of the last fact.
        let mut said_until = 0;
        for (line, number) in text.lines().zip(1..).skip(first.saturating_sub(1)) {
            let line = reading.in_quote(line);
            let is_heading = reading.is_heading(number);
            let mut is_fact = false;
            while let Some(fact) = facts.next_if(|fact| fact.line <= number) {
                said_until = note.line_at(fact.span.end);
                if !is_nested(fact) {
                    reading.add_below_label(fact);
                    is_fact = true;
                } else if fact.line == number {
                    reading.add_nested(fact, line);
                }
            }
            while let Some(record) = records.next_if(|record| record.first().is_some_and(|fact| fact.line <= number)) {
                reading.add_record(&record);
            }
            if facts.peek().is_none() && records.peek().is_none() {
                break;
            }
            if !is_fact && !is_heading && number > said_until {
                reading.pass(line);
            }
            reading.parent_at(line);
        }
        let until =
            reading.facts.front("valid until").and_then(|until| PartialDate::parse(until.get(..10).unwrap_or(until)));
        if let Some(until) = until.map(|until| until.end.micros()) {
            let Self { all, named, records, .. } = &mut reading.facts;
            let facts = all.iter_mut().chain(named).chain(records.iter_mut().flatten());
            facts.for_each(|fact| fact.time.1 = fact.time.1.or(Some(until)));
        }
        reading.facts
    }
}

/// Whether a fact stands in a list of another, or in a task.
fn is_nested(fact: &Fact) -> bool {
    matches!(fact.place, Place::Item { is_plain: false, .. } | Place::Bracketed(Beside::Fields { is_nested: true }))
}

/// Whether a fact is about the item in which it stands, as the field of `- Dune [rating:: 5]` is about Dune and not about the note.
fn is_of_item(fact: &Fact) -> bool {
    fact.place == Place::Bracketed(Beside::Item)
}

/// Whether a line names what comes below it and says nothing itself.
fn is_label(fact: &Fact) -> bool {
    fact.place == Place::Line && fact.value.is_empty()
}

/// A note on the way through its lines.
struct Reading {
    facts: Facts,
    headings: VecDeque<Title>,
    /// The last line of the heading above.
    below: usize,
    section: usize,
    list: usize,
    item: usize,
    /// Whether there is text in the section already.
    has_text: bool,
    /// The line above, where it may be a label of the list that comes.
    label: Option<String>,
    /// Whether the label is the title of a callout that may be about the note.
    is_box: bool,
    /// The item above, where others may stand in it.
    parent: Option<Parent>,
    /// The section around the quote that goes on, and whether there was text in it already.
    around: Option<(usize, bool)>,
}

/// An item of a list that stands in no other.
struct Parent {
    text: String,
    /// How far those in it are indented, and the number of their section; `None` before the first one.
    inner: Option<(usize, usize)>,
}

/// A heading.
struct Title {
    first: usize,
    last: usize,
    /// Empty for the title of the note.
    text: String,
}

impl Reading {
    fn new(note: &Note<'_>) -> Self {
        let headings = note.headings();
        // A title above all other headings is that of the note, and what stands below it is about the note.
        let top = headings.iter().map(|heading| heading.level).min();
        let is_one = headings.iter().filter(|heading| Some(heading.level) == top).count() == 1;
        let has_title = is_one && note.title_heading() == Some(0);
        let titles = headings.iter().enumerate().map(|(at, heading)| Title {
            first: note.line_at(heading.span.start),
            last: note.line_at(heading.span.end.saturating_sub(1)),
            text: if at == 0 && has_title && Some(heading.level) == top { String::new() } else { name(&heading.text) },
        });
        Self {
            headings: titles.collect(),
            facts: Facts { sections: vec![String::new()], ..Facts::default() },
            below: 0,
            section: OWN,
            list: FRONT + 1,
            item: 0,
            has_text: false,
            label: None,
            is_box: false,
            parent: None,
            around: None,
        }
    }

    /// Adds what is said of something named. Where a table or a list says several values of a key of one thing, it is a log of them.
    fn add_named(&mut self, named: &[Named]) {
        let mut sections: HashMap<(usize, String), usize> = HashMap::new();
        let mut often: HashMap<(usize, &str), usize> = HashMap::new();
        let mut found = Vec::new();
        for one in named {
            let about = name(&one.about);
            if !is_short_name(&about) {
                continue;
            }
            let (next, key) = (self.facts.sections.len(), (one.group, about));
            if !sections.contains_key(&key) {
                self.facts.sections.push(key.1.clone());
            }
            let section = *sections.entry(key).or_insert(next);
            *often.entry((section, &one.fact.key)).or_default() += 1;
            found.push((section, one));
        }
        found.retain(|(section, one)| often.get(&(*section, one.fact.key.as_str())) == Some(&1));
        let named = found
            .into_iter()
            .map(|(section, one)| said(&one.fact, section, (FIRST_GROUP + one.group, one.fact.line), false));
        self.facts.named.extend(named);
    }

    /// Adds what a table may say of what stands here.
    fn add_record(&mut self, record: &[Fact]) {
        self.open_label();
        let list = FIRST_RECORD + self.facts.records.len();
        let facts = record.iter().filter(|fact| !fact.value.is_empty());
        let facts = facts.map(|fact| said(fact, self.section, (list, fact.line), self.has_text));
        self.facts.records.push(facts.collect());
    }

    /// Moves to the next line and returns its text without quote marks, or `""` for a callout's title, which is a label of
    /// what stands in the callout. Behind a quote the section around it goes on.
    fn in_quote<'l>(&mut self, line: &'l str) -> &'l str {
        let Some(behind) = quoted(line) else {
            if let Some((section, has_text)) = self.around.take() {
                (self.section, self.has_text) = (section, has_text);
                self.end_list();
            }
            return line;
        };
        if self.around.is_none() {
            self.around = Some((self.section, self.has_text));
            self.end_list();
        }
        let Some(callout) = Callout::parse(behind) else { return behind.strip_prefix(' ').unwrap_or(behind) };
        let title = behind.get(callout.mark.end..).unwrap_or_default();
        self.is_box = !title.contains([':', '\u{ff1a}']) && !title.contains("[[") && !title.contains("](");
        let title = name(title);
        self.has_text |= !title.is_empty();
        // The title of a quote says who spoke, and not what that is about.
        self.label = Some(title).filter(|title| !callout.is_quote() && is_short_name(title));
        ""
    }

    /// Starts a new list without a label.
    fn end_list(&mut self) {
        (self.label, self.parent) = (None, None);
        self.list += 1;
        self.item = 0;
    }

    /// Notes an item in which others may stand.
    fn parent_at(&mut self, line: &str) {
        if let Some(text) = item(line) {
            self.parent = Some(Parent { text: name(text), inner: None });
        } else if !line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            self.parent = None;
        }
    }

    /// Adds a fact that stands in an item of another list, as one about what that item names.
    fn add_nested(&mut self, fact: &Fact, line: &str) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let Some(parent) = self.parent.as_mut() else { return };
        let is_plain = item(text).is_some_and(|text| !text.starts_with('['));
        if indent == 0
            || !is_plain
            || !is_short_name(&parent.text)
            || parent.inner.is_some_and(|(first, _)| first != indent)
        {
            return;
        }
        let (_, section) = *parent.inner.get_or_insert((indent, self.facts.sections.len()));
        if section == self.facts.sections.len() {
            self.facts.sections.push(parent.text.clone());
        }
        // No list has this number; the item is that of the line, so that what follows each other is told.
        let (list, item) = (usize::MAX - section, std::mem::replace(&mut self.item, fact.line));
        self.add(fact, section, list);
        self.item = item;
    }

    /// Goes on to a line; whether it is part of a heading.
    fn is_heading(&mut self, line: usize) -> bool {
        while let Some(title) = self.headings.pop_front_if(|title| title.first <= line) {
            self.below = title.last;
            self.open(title.text);
        }
        line <= self.below
    }

    /// Opens the section below the label above, where there is one.
    fn open_label(&mut self) {
        let Some(label) = self.label.take() else { return };
        if self.is_box {
            self.facts.boxes.push(self.facts.sections.len());
        }
        self.open(label);
    }

    /// Opens the section below a heading or a label; that of the note itself where that is empty.
    fn open(&mut self, title: String) {
        self.section = if title.is_empty() { OWN } else { self.facts.sections.len() };
        if self.section != OWN {
            self.facts.sections.push(title);
        }
        (self.has_text, self.label) = (false, None);
        self.list += 1;
        self.item = 0;
    }

    /// Takes a line that is no fact and no heading.
    fn pass(&mut self, line: &str) {
        let text = line.trim();
        // What is indented is part of the item above it.
        if text.is_empty() || line.starts_with([' ', '\t']) {
            return;
        }
        if item(text).is_some() || text.starts_with('|') {
            self.item += 1;
            return;
        }
        (self.label, self.is_box) = (label(text), false);
        self.has_text = true;
        self.list += 1;
        self.item = 0;
    }

    fn add_below_label(&mut self, fact: &Fact) {
        self.open_label();
        self.add(fact, self.section, self.list);
    }

    fn add(&mut self, fact: &Fact, section: usize, list: usize) {
        self.facts.all.push(said(fact, section, (list, self.item), self.has_text));
        self.item += 1;
    }
}

/// A fact as it is compared; `place` is its list, and how many items stand before it.
fn said(fact: &Fact, section: usize, place: (usize, usize), is_remark: bool) -> Said {
    let folded = fact::key(&fact.key);
    let period = Period::of_value(&fact.value);
    let said = period.as_ref().map_or(fact.value.as_str(), |period| without_period(&fact.value, period));
    let (value, form) = value(said, fact.place);
    let period = period.unwrap_or_default();
    Said {
        folded: (folded != fact.key).then_some(folded),
        key: fact.key.clone(),
        value,
        form,
        line: fact.line,
        section,
        list: place.0,
        item: place.1,
        is_remark,
        is_in_sentence: fact.place == Place::Bracketed(Beside::Sentence),
        time: (period.since.map(|since| since.start.micros()), period.until.map(|until| until.end.micros())),
    }
}

/// Whether a text in the form of [`name`] can name something.
fn is_short_name(text: &str) -> bool {
    !text.is_empty() && text.split(' ').count() <= MOST_LABEL_WORDS
}

/// What stands behind the last `>` with which a line begins.
fn quoted(line: &str) -> Option<&str> {
    let mut behind = None;
    while let Some(inner) = behind.unwrap_or(line).trim_start_matches(' ').strip_prefix('>') {
        behind = Some(inner);
    }
    behind
}

/// What a line says of the list below it, as keys are compared; `None` for a sentence.
///
/// A label ends in a colon, is all bold, or is a few words without a full stop.
fn label(line: &str) -> Option<String> {
    let plain = line.trim_matches(['*', '_', ' ']);
    let is_bold = line.starts_with("**") && line.ends_with("**");
    let is_short = plain.split_whitespace().count() <= MOST_LABEL_WORDS && plain.ends_with(char::is_alphanumeric);
    let is_label = is_bold || plain.ends_with([':', '\u{ff1a}']) || is_short;
    let is_name = plain.chars().any(char::is_alphanumeric);
    (is_label && is_name).then(|| name(plain))
}

/// The text of an item of a list that stands at the start of a line, with a number or without.
fn item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let marks: &[&str] = if number.len() < line.len() { &[". ", ") "] } else { &["- ", "* ", "+ "] };
    marks.iter().find_map(|mark| number.strip_prefix(mark))
}

/// What a heading, a label or an item calls what stands below it, as keys are compared; a link by the name it leads to.
pub(super) fn name(text: &str) -> String {
    let plain = text.trim().trim_end_matches([':', '\u{ff1a}']).trim_matches(['*', '_', ' ']);
    let plain = plain.trim_end_matches([':', '\u{ff1a}']);
    fact::key(&without_links(plain))
}

/// A value as values are compared: without the marks of links and emphasis, in lower case.
fn value(said: &str, place: Place) -> (String, ValueForm) {
    if matches!(place, Place::FrontMatter(Form::List)) && said.contains(", ") {
        return (String::new(), ValueForm::Several);
    }
    let written = said.trim().trim_matches(['*', '_', '"', '\'', '`', ' ']);
    if written.len() > MOST_VALUE_BYTES {
        return (String::new(), ValueForm::Words);
    }
    let plain = without_links(written);
    let words = plain.split_whitespace().count();
    let is_sentence = words > MOST_NAME_WORDS || plain.ends_with(['.', '!', '?', ';', ':']);
    let is_name = words == 1 || !plain.starts_with(char::is_lowercase);
    let form = if written.starts_with('[') && written.ends_with([']', ')']) {
        ValueForm::Link
    } else if is_name && !is_sentence {
        ValueForm::Name
    } else {
        ValueForm::Words
    };
    (folded(&plain.split_whitespace().collect::<Vec<_>>().join(" ")), form)
}

/// A value without the period that it says at its end, or in brackets.
fn without_period<'v>(value: &'v str, period: &Period) -> &'v str {
    let dates = [&period.since, &period.until].into_iter().flatten();
    let start = dates.filter_map(|date| value.rfind(&date.text)).min().unwrap_or(value.len());
    let before = value.get(..start).unwrap_or_default();
    match before.rfind('(') {
        Some(open) if !before.get(open..).is_some_and(|rest| rest.contains(')')) => value.get(..open),
        // The one word before it, or the dash, is part of it.
        _ => {
            let before = before.trim_end_matches(|last: char| last.is_whitespace() || matches!(last, '-' | '–' | '—'));
            let word = ["since", "until"].iter().find_map(|word| {
                let at = before.len().checked_sub(word.len())?;
                before.get(at..).filter(|end| end.eq_ignore_ascii_case(word)).and_then(|_| before.get(..at))
            });
            Some(word.unwrap_or(before))
        }
    }
    .unwrap_or(value)
    .trim_end_matches(|last: char| last.is_whitespace() || last == ',')
}

/// A text with what its links lead to by name, or show, in the place of each.
fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[[") {
        let Some((inner, behind)) = after.split_once("]]") else { break };
        let target = inner.split(['|', '#', '^']).next().unwrap_or_default();
        let name = target.rsplit('/').next().unwrap_or_default();
        plain.push_str(before);
        plain.push_str(name.strip_suffix(".md").unwrap_or(name).trim_end_matches('\\'));
        rest = behind;
    }
    plain.push_str(rest);
    match plain.strip_prefix('[').and_then(|inner| inner.split_once("](")) {
        Some((shown, end)) if end.ends_with(')') => shown.to_owned(),
        _ => plain,
    }
}

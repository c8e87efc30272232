//! The lines of notes that a small model chooses among: where a key stands in each, and where a value that can be replaced.
//!
//! Owns what it knows of how people write facts down: items of lists, front matter, paragraphs that begin with a bold key, rows
//! of tables.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use regex::Regex;

use crate::note::{Note, stem, words};
use crate::path::MemoryPath;

/// Keys that say nothing of what a line is about.
const GENERIC: [&str; 7] = ["type", "name", "kind", "status", "category", "entity", "relation"];
/// A value with more words that are no numbers is a text.
const MOST_UNITS: usize = 1;
/// Characters that mean something at the start of a value of front matter.
pub(super) const YAML: &str = "[]{}|>&*!#%@`'\"-?:,~";

/// A line of a note that can be chosen.
#[derive(Clone, Debug)]
pub(super) struct Line<'n> {
    pub(super) path: &'n MemoryPath,
    pub(super) text: &'n str,
    /// The values that can be replaced, each with what stays around it. None where the line is not to be written.
    pub(super) slots: Vec<Slot<'n>>,
    /// Whether it is a line of front matter or a row of a table, which not every value leaves whole.
    pub(super) is_held: bool,
    /// The stems of all its words, of its key, and of the heading above it.
    pub(super) stems: HashSet<String>,
    pub(super) key: HashSet<String>,
    pub(super) heading: HashSet<String>,
    /// How much it has to do with the message, in half words.
    pub(super) score: usize,
    /// Whether all that its key says is in the message, and says something.
    pub(super) is_keyed: bool,
    /// The same, or it stands below a heading that says so.
    pub(super) is_meant: bool,
    /// Whether the message speaks of what it says now.
    pub(super) is_told: bool,
}

/// A value in a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Slot<'n> {
    pub(super) before: &'n str,
    pub(super) value: &'n str,
    pub(super) after: &'n str,
}

/// What sort of thing a value is: it is replaced by another of its sort alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sort {
    Date,
    Number,
    Text,
}

impl<'n> Line<'n> {
    /// Whether it leads to another note.
    pub(super) fn is_link(&self) -> bool {
        self.text.contains("[[") || self.text.contains("](")
    }

    /// Whether it may be changed or deleted.
    pub(super) fn can_be_written(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether its key says no more than what sort of thing the note is about.
    pub(super) fn is_generic(&self) -> bool {
        is_generic(&self.key)
    }

    /// What follows its key, or the mark of its list.
    pub(super) fn value(&self) -> Option<&'n str> {
        self.slots.first().map(|slot| slot.value)
    }

    fn new(path: &'n MemoryPath, text: &'n str, heading: &HashSet<String>) -> Self {
        let key = key(text).map(stems).unwrap_or_default();
        let (stems, heading) = (stems(text), heading.clone());
        Self {
            path,
            text,
            slots: Vec::new(),
            is_held: false,
            stems,
            key,
            heading,
            score: 0,
            is_keyed: false,
            is_meant: false,
            is_told: false,
        }
    }
}

/// Whether words say no more than what sort of thing a note is about.
fn is_generic(key: &HashSet<String>) -> bool {
    key.iter().all(|stem| GENERIC.iter().any(|generic| stem::english(generic) == stem.as_str()))
}

/// The stems of a text.
pub(super) fn stems(text: &str) -> HashSet<String> {
    let mut all = HashSet::new();
    words::each(text, &mut |word, _| {
        all.insert(stem::english(word));
    });
    all
}

/// The lines that say something: to be quoted, and those that stand once in their note and hold a value also to be written.
pub(super) fn lines(notes: &[(MemoryPath, String)]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for (path, text) in notes {
        let mut counts = HashMap::<&str, usize>::new();
        for line in text.lines() {
            *counts.entry(line).or_default() += 1;
        }
        let body = Note::parse(text).body();
        let mut heading = HashSet::new();
        let (mut at, mut all) = (0, text.split_inclusive('\n').peekable());
        while let Some(whole) = all.next() {
            let (line, is_front) = (whole.trim_end_matches(['\n', '\r']), at < body);
            at += whole.len();
            if line.starts_with('#') && !is_front {
                heading = if line.starts_with("# ") { HashSet::new() } else { some(line) };
                continue;
            }
            let is_head = is_row(line) && all.peek().is_some_and(|next| is_ruler(next));
            if is_head {
                // What its columns are called, every row below says.
                heading = some(line);
            }
            if line.trim().is_empty() || is_ruler(line) || is_head || line.chars().any(is_strange) {
                continue;
            }
            let mut found = Line::new(path, line, &heading);
            found.is_held = is_front || is_row(line);
            if counts.get(line) == Some(&1) {
                found.slots = slots(line, is_front);
            }
            lines.push(found);
        }
    }
    lines
}

/// The stems of some of the words of a heading, which every line below it is given.
fn some(heading: &str) -> HashSet<String> {
    /// So many words are enough to know what stands below.
    const MOST: usize = 24;
    let mut some = HashSet::new();
    words::each(heading, &mut |word, _| {
        if some.len() < MOST {
            some.insert(stem::english(word));
        }
    });
    some
}

fn is_strange(character: char) -> bool {
    character.is_control() && character != '\t'
}

/// Whether a line only divides others.
fn is_ruler(line: &str) -> bool {
    line.trim().chars().all(|one| "-=|:* ".contains(one))
}

fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|') && line.ends_with('|')
}

/// What a line says it is about: before the colon, or in the first cell.
pub(super) fn key(line: &str) -> Option<&str> {
    if is_row(line) {
        return line.trim().split('|').nth(1);
    }
    line.split_once(':').map(|(key, _)| key).filter(|key| !key.contains("[["))
}

/// The values of a line.
fn slots(line: &str, is_front: bool) -> Vec<Slot<'_>> {
    let range = |start: usize, end: usize| {
        let value = line.get(start..end)?;
        let (start, end) = (start + value.len() - value.trim_start().len(), start + value.trim_end().len());
        let slot = Slot { before: line.get(..start)?, value: line.get(start..end)?, after: line.get(end..)? };
        (!slot.value.is_empty()).then_some(slot)
    };
    if is_row(line) {
        let bars: Vec<usize> = line.match_indices('|').map(|(at, _)| at).collect();
        return bars.windows(2).skip(1).filter_map(|pair| range(pair.first()? + 1, *pair.get(1)?)).collect();
    }
    let start = if is_front { front(line) } else { item(line).or_else(|| bold(line)) };
    start.and_then(|start| range(start, line.len())).into_iter().collect()
}

/// Where the value of an item of a list begins: behind its key, or behind its mark.
fn item(line: &str) -> Option<usize> {
    let start = line.len() - line.trim_start().len();
    let item = line.get(start..)?;
    let mark = ["- ", "* ", "+ "].into_iter().find(|mark| item.starts_with(mark))?;
    let rest = item.get(mark.len()..)?;
    let key = rest.find(':').filter(|at| !rest.get(..*at).unwrap_or_default().contains("[["));
    Some(key.map_or(start + mark.len(), |at| after_colon(line, start + mark.len() + at)))
}

/// Where the value begins behind a bold key.
fn bold(line: &str) -> Option<usize> {
    let rest = ["**", "__"].into_iter().find_map(|mark| line.strip_prefix(mark))?;
    let colon = line.find(':').filter(|_| rest.contains("**") || rest.contains("__"))?;
    Some(after_colon(line, colon))
}

/// Where the value of a line of front matter begins, if it is a plain one.
fn front(line: &str) -> Option<usize> {
    let (key, value) = line.split_once(": ")?;
    let is_key = key.chars().all(|one| one.is_alphanumeric() || one == '_' || one == '-' || one == ' ');
    let is_plain = !value.trim().is_empty() && !value.trim().starts_with(|first| YAML.contains(first));
    (is_key && !key.starts_with(' ') && is_plain && !value.contains(['#', ':'])).then_some(key.len() + 2)
}

fn after_colon(line: &str, colon: usize) -> usize {
    let rest = line.get(colon + 1..).unwrap_or_default();
    line.len() - rest.trim_start_matches(['*', '_']).len()
}

impl Slot<'_> {
    /// What sort of thing stands there.
    pub(super) fn sort(&self) -> Sort {
        if dates(self.value).next().is_some() {
            return Sort::Date;
        }
        let has_digit = |word: &str| word.chars().any(|one| one.is_ascii_digit());
        let units = self.value.split_whitespace().filter(|word| !has_digit(word)).count();
        let is_number = self.value.split_whitespace().next().is_some_and(has_digit) && units <= MOST_UNITS;
        if is_number { Sort::Number } else { Sort::Text }
    }
}

/// The dates of a text as they stand there: with a month, of digits, or relative to today.
pub(super) fn dates(text: &str) -> impl Iterator<Item = &str> {
    static DATE: OnceLock<Option<Regex>> = OnceLock::new();
    const MONTH: &str = r"(?:jan(?:uary|uar|vier|eiro)?|feb(?:ruary|ruar|rero|braio|ruari)?|février|fevereiro|march|mar|märz|mars|marzo|março|maart|apr(?:il|ile)?|avril|abril|may|mai|mayo|maggio|maio|mei|june?|juni|juin|junio|giugno|junho|july?|juli|juillet|julio|luglio|julho|aug(?:ust|ustus)?|août|agosto|sept?(?:ember|embre|iembre)?|settembre|setembro|oct(?:ober|obre|ubre)?|okt(?:ober)?|ottobre|outubro|nov(?:ember|embre|iembre|embro)?|dec(?:ember)?|dez(?:ember|embro)?|décembre|diciembre|dicembre|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık)";
    let date = DATE.get_or_init(|| {
        let day = r"\d{1,2}(?:st|nd|rd|th|er|º|\.)?";
        let worded = format!(
            r"(?:{day} (?:of |de |di )?{MONTH}\b|{MONTH} {day})(?:,? (?:de |of )?\d{{4}}\b)?|{MONTH} \d{{4}}\b"
        );
        Regex::new(&format!(
            r"(?i)\b(?:\d{{4}}-\d{{2}}(?:-\d{{2}})?|\d{{1,2}}[./]\d{{1,2}}[./](?:\d{{4}}|\d{{2}})?|{worded})"
        ))
        .ok()
    });
    date.iter().flat_map(move |date| date.find_iter(text)).map(|found| found.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &[&str])]) {
        let notes = [(MemoryPath::parse("a.md").unwrap(), text.to_owned())];
        let found: Vec<(&str, Vec<&str>)> =
            lines(&notes).iter().map(|line| (line.text, line.slots.iter().map(|slot| slot.value).collect())).collect();
        let expected: Vec<(&str, Vec<&str>)> = expected.iter().map(|(line, slots)| (*line, slots.to_vec())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn values_are_found_however_facts_are_written_down() {
        check(
            "# T\n- city: Oslo\n* **Age**: 41 \n+ sails\n",
            &[("- city: Oslo", &["Oslo"]), ("* **Age**: 41 ", &["41"]), ("+ sails", &["sails"])],
        );
        check(
            "**Deadline**: May\n**Boss:** [[b]]\nplain: text\n",
            &[("**Deadline**: May", &["May"]), ("**Boss:** [[b]]", &["[[b]]"]), ("plain: text", &[])],
        );
        check("| a | b |\n|---|:-:|\n| Kino | 14 EUR |\n", &[("| Kino | 14 EUR |", &["14 EUR"])]);
        check(
            "---\ncity: Oslo\ntags: [a]\nurl: \"x\"\n---\ncity: Rome\n",
            &[("city: Oslo", &["Oslo"]), ("tags: [a]", &[]), ("url: \"x\"", &[]), ("city: Rome", &[])],
        );
        check("- a: 1\n- a: 1\n", &[("- a: 1", &[]), ("- a: 1", &[])]);
    }

    #[test]
    fn a_value_is_a_date_a_number_or_a_text() {
        let sort = |value| Slot { before: "", value, after: "" }.sort();
        for date in [
            "2024-05-02",
            "11 October",
            "March 3",
            "May 2, 2025",
            "2nd of May 2025",
            "9. Mai",
            "8 de julio",
            "02.09.2024",
        ] {
            assert_eq!(sort(date), Sort::Date, "{date}");
        }
        for number in ["41", "14 EUR", "06:30", "555-0188", "4,100", "6 ans"] {
            assert_eq!(sort(number), Sort::Number, "{number}");
        }
        for text in ["Oslo", "4 Mill Lane", "black, no sugar", "level 3", "maybe 12 of them"] {
            assert_eq!(sort(text), Sort::Text, "{text}");
        }
        assert_eq!(
            dates("He came on 2 May 2025, and on 2026-01-03.").collect::<Vec<_>>(),
            ["2 May 2025", "2026-01-03"]
        );
    }
}

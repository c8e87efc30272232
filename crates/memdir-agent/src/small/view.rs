//! The notes as a small model sees them: each line under a name, `note.key`, by which it can be looked up, changed and dropped.
//!
//! Owns these names. Whatever form a note has, a fact is shown as `key: value`; what has no key of its own is named by the
//! heading above it and a number. No two entries of a note have the same name. Nothing here knows a language.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};
use memdir_note::words::called;
use memdir_note::{Note, link};

use super::Turn;

/// A longer value is shown by its beginning.
const MOST_VALUE: usize = 200;
/// A word of a name with more letters than this is known by its beginning: languages put endings to names.
const LEAST_NAME: usize = 3;
/// So many characters of a line are written where it is dropped.
const MOST_DROPPED: usize = 80;
/// How many entries are shown at most; a small model gets lost in more.
const MOST_ENTRIES: usize = 240;

/// The notes of one message.
#[derive(Debug, Default)]
pub(super) struct View<'n> {
    pub(super) notes: Vec<Shown<'n>>,
}

/// A note.
#[derive(Debug)]
pub(super) struct Shown<'n> {
    pub(super) path: &'n MemoryPath,
    /// What of its text is known.
    pub(super) text: &'n str,
    /// What it is called here: `user`, its title, or its path where two have the same.
    pub(super) name: String,
    /// Other names that it goes by, as they are compared.
    aliases: Vec<String>,
    pub(super) headings: Vec<String>,
    pub(super) entries: Vec<Entry>,
}

/// A line of a note, or a cell of a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Entry {
    /// What it is called: no other entry of its note has the name.
    pub(super) key: String,
    /// What stands before its value where it is shown: its key, or of a line without one the heading above it, which may be empty.
    pub(super) label: String,
    /// What it says.
    pub(super) value: String,
    /// The lines in which it stands without the last end, in bytes of the note.
    pub(super) lines: Range<usize>,
    /// Where its value stands, where that is on one line.
    pub(super) place: Option<Range<usize>>,
    /// Its key as it is written, where it is the one fact of that key: `set_fact` finds it.
    pub(super) fact: Option<String>,
    /// Whether it states no fact: its name is only a number, and another value would be another line.
    pub(super) is_prose: bool,
    /// What the row is called of which it is a cell.
    row: Option<String>,
}

impl<'n> View<'n> {
    /// The view of these notes.
    pub(super) fn of(notes: &'n [(MemoryPath, String)]) -> Self {
        let mut left = MOST_ENTRIES;
        let mut view = Self::default();
        for (path, text) in notes {
            let note = Note::parse(text);
            let mut entries = entries(&note, text);
            // A line is shown with all that it says, or not at all.
            let cut = entries.get(left).map(|entry| entry.lines.clone());
            entries.truncate(left);
            entries.retain(|entry| cut.as_ref() != Some(&entry.lines));
            left -= entries.len();
            let title = note.title().unwrap_or_else(|| spoken(path));
            let name = if path.as_str() == PERSON_NOTE { PERSON.to_owned() } else { plain_name(&title) };
            let is_taken = name.is_empty()
                || called(&name) == PERSON && path.as_str() != PERSON_NOTE
                || view.notes.iter().any(|other| called(&other.name) == called(&name));
            let mut aliases: Vec<String> = note.aliases().iter().map(|alias| called(alias)).collect();
            aliases.extend([called(&title), called(path.stem())]);
            view.notes.push(Shown {
                path,
                text,
                name: if is_taken { plain_name(path.as_str().trim_end_matches(".md")) } else { name },
                aliases,
                headings: note.headings().iter().map(|heading| heading.shown()).collect(),
                entries,
            });
        }
        view
    }

    /// The notes that a text names, with those that are linked with them and the person's own; all where it names none.
    pub(super) fn about(&self, text: &str) -> Vec<&'n MemoryPath> {
        let mut said = BTreeSet::new();
        memdir_note::words::each(text, &mut |word, _| {
            said.insert(word.to_owned());
        });
        let is_person = |note: &Shown<'_>| note.path.as_str() == PERSON_NOTE;
        let is_named = |note: &&Shown<'n>| !is_person(note) && note.names().iter().any(|name| is_said(name, &said));
        let named: Vec<&Shown<'n>> = self.notes.iter().filter(is_named).collect();
        let leads = |from: &Shown<'n>, to: &Shown<'n>| {
            let mut links = from.entries.iter().flat_map(|entry| links(&entry.value));
            links.any(|link| self.linked(link).is_some_and(|note| note.path == to.path))
        };
        let is_near = |note: &&Shown<'n>| {
            let is_linked = |other: &&Shown<'n>| leads(note, other) || leads(other, note);
            named.is_empty() || is_person(note) || named.iter().any(|other| other.path == note.path || is_linked(other))
        };
        self.notes.iter().filter(is_near).map(|note| note.path).collect()
    }

    /// The notes as they are shown.
    pub(super) fn shown(&self) -> String {
        let mut shown = String::new();
        for note in &self.notes {
            shown.push_str(&format!("# {}\n", note.name));
            for entry in &note.entries {
                shown.push_str(&self.line(entry));
                shown.push('\n');
            }
        }
        shown
    }

    /// A value as it is shown and quoted: links by the names of their notes.
    pub(super) fn said(&self, value: &str) -> String {
        let mut said = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("[[")
            && let Some((written, behind)) = after.split_once("]]")
        {
            said.push_str(before);
            said.push_str(&format!("[[{}]]", self.link_said(written)));
            rest = behind;
        }
        said.push_str(rest);
        let mut characters = said.char_indices();
        if let Some((end, _)) = characters.nth(MOST_VALUE) {
            said.truncate(end);
            said.push('…');
        }
        said
    }

    /// The name by which a link is shown.
    fn link_said(&self, written: &str) -> String {
        let (target, label) = written.split_once('|').map_or((written, None), |(target, label)| (target, Some(label)));
        let name = self.linked(target).map(|note| note.name.as_str()).or(label);
        name.map_or_else(|| spoken_name(target), str::to_owned)
    }

    /// The links of a value in their order, each as it is written there and by the name by which it is shown.
    pub(super) fn links_in<'v>(&self, value: &'v str) -> Vec<(&'v str, String)> {
        let (mut links, mut rest) = (Vec::new(), value);
        while let Some((_, after)) = rest.split_once("[[")
            && let Some((written, behind)) = after.split_once("]]")
        {
            links.push((written, self.link_said(written)));
            rest = behind;
        }
        links
    }

    /// The names of the notes; that of the person's also where it is not shown, since what is told of them has its place there.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.notes.iter().map(|note| note.name.as_str()).collect();
        if !names.contains(&PERSON) {
            names.push(PERSON);
        }
        names
    }

    /// All that may go: lines, notes and rows of tables.
    pub(super) fn all_that_may_go(&self) -> Vec<String> {
        let entries = self.notes.iter().flat_map(|note| note.entries.iter().map(move |entry| (note, entry)));
        let filled = entries.filter(|(_, entry)| !entry.value.is_empty());
        let lines = filled.map(|(note, entry)| self.dropped(note, entry));
        let notes = self.notes.iter().map(|note| note.name.clone()).filter(|name| name != PERSON);
        lines.chain(notes).chain(self.rows()).collect()
    }

    /// A line as it is shown.
    pub(super) fn line(&self, entry: &Entry) -> String {
        labelled(entry, &self.said(&entry.value))
    }

    /// A line as it is dropped: its note and what is shown of it, by its beginning.
    pub(super) fn dropped(&self, note: &Shown<'_>, entry: &Entry) -> String {
        let said = self.line(entry).replace('<', " ");
        let said = match said.char_indices().nth(MOST_DROPPED) {
            Some((end, _)) => format!("{}…", said.get(..end).unwrap_or_default()),
            None => said,
        };
        format!("{}.{said}", note.name)
    }

    /// The line that is dropped so.
    pub(super) fn drops(&self, written: &str) -> Option<(&Shown<'n>, &Entry)> {
        let mut entries = self.notes.iter().flat_map(|note| note.entries.iter().map(move |entry| (note, entry)));
        entries.find(|(note, entry)| self.dropped(note, entry) == written)
    }

    /// The note that a link leads to, if it is shown.
    fn linked(&self, target: &str) -> Option<&Shown<'n>> {
        let target = target.trim().trim_end_matches(".md");
        let is_it = |path: &str| path == target || path.rsplit('/').next() == Some(target);
        self.notes.iter().find(|note| is_it(note.path.as_str().trim_end_matches(".md")))
    }

    /// The note that a name means: its own, an alias, or the beginning of just one.
    pub(super) fn named(&self, name: &str) -> Option<&Shown<'n>> {
        let name = called(name);
        if name.is_empty() {
            return None;
        }
        let exact = |note: &&Shown<'_>| called(&note.name) == name || note.aliases.contains(&name);
        if let Some(note) = self.notes.iter().find(exact) {
            return Some(note);
        }
        let first = |note: &&Shown<'_>| note.name.split_whitespace().any(|word| called(word) == name);
        let mut found = self.notes.iter().filter(first);
        found.next().filter(|_| found.next().is_none())
    }

    /// The notes that a message may mean as well as this one: all words of its name that the message says are in theirs, and the
    /// message has no other word that tells them apart.
    pub(super) fn as_likely(&self, note: &Shown<'n>, turn: &Turn<'_>) -> Vec<&Shown<'n>> {
        let message = words_of(&format!("{} {}", turn.message, super::said_before(turn.session, turn.message)));
        let name = |note: &Shown<'_>| words_of(&note.name);
        let said: BTreeSet<String> = name(note).intersection(&message).cloned().collect();
        if said.is_empty() || note.path.as_str() == PERSON_NOTE {
            return Vec::new();
        }
        // The words that a note is known by: its own, and those of the lines that lead to it.
        let known = |of: &Shown<'_>| {
            let leads = |other: &&Entry| self.said(&other.value).contains(&format!("[[{}]]", of.name));
            let lines = self.notes.iter().flat_map(|note| &note.entries).filter(leads);
            let lines = lines.map(|entry| entry.key.clone()).collect::<Vec<_>>().join(" ");
            let own: Vec<String> = of.entries.iter().map(|entry| format!("{} {}", entry.key, entry.value)).collect();
            words_of(&format!("{} {lines} {}", of.name, own.join(" ")))
        };
        let tells = |of: &Shown<'_>| known(of).intersection(&message).cloned().collect::<BTreeSet<_>>();
        let here = tells(note);
        let is_other = |other: &&Shown<'n>| other.path != note.path && other.path.as_str() != PERSON_NOTE;
        self.notes
            .iter()
            .filter(is_other)
            .filter(|other| said.is_subset(&name(other)) && tells(other) == here)
            .collect()
    }

    /// The rows of tables: for each the name by which all its cells are dropped.
    pub(super) fn rows(&self) -> BTreeSet<String> {
        let row = |note: &Shown<'_>, entry: &Entry| Some(format!("{}.{}", note.name, entry.row.as_ref()?));
        self.notes.iter().flat_map(|note| note.entries.iter().filter_map(move |entry| row(note, entry))).collect()
    }

    /// All cells of a row.
    pub(super) fn row(&self, address: &str) -> Option<(&Shown<'n>, Vec<&Entry>)> {
        self.notes.iter().find_map(|note| {
            let name = address.strip_prefix(note.name.as_str())?.strip_prefix('.')?;
            let cells: Vec<&Entry> = note.entries.iter().filter(|entry| entry.row.as_deref() == Some(name)).collect();
            (!cells.is_empty()).then_some((note, cells))
        })
    }

    /// The entry of an address such as `user.city`.
    pub(super) fn entry(&self, address: &str) -> Option<(&Shown<'n>, &Entry)> {
        let address = address.trim();
        self.notes.iter().find_map(|note| {
            let key = address.strip_prefix(note.name.as_str())?.strip_prefix('.')?;
            Some((note, note.entry(key)?))
        })
    }
}

impl Shown<'_> {
    /// The words of its name and the other names that it goes by, each folded.
    fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let all = std::iter::once(&self.name).chain(&self.aliases);
        all.for_each(|name| {
            memdir_note::words::each(name, &mut |word, _| {
                names.insert(word.to_owned());
            });
        });
        names
    }

    /// The entry of this key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        let key = memdir_note::fact::key(key);
        self.entries.iter().find(|entry| memdir_note::fact::key(&entry.key) == key)
    }

    /// All entries of the line of one, with itself.
    pub(super) fn on_line_of(&self, entry: &Entry) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |other| other.lines == entry.lines)
    }

    /// The lines of an entry.
    pub(super) fn lines(&self, entry: &Entry) -> &str {
        self.text.get(entry.lines.clone()).unwrap_or_default()
    }

    /// The text to take an entry out of the note, and what takes its place: its lines, with a line end on both sides where there is one.
    pub(super) fn without(&self, entry: &Entry) -> (&str, &str) {
        let Range { start, end } = entry.lines;
        let rest = self.text.get(end..).unwrap_or_default();
        let ending = rest.find('\n').map_or(0, |at| at + 1);
        let before = usize::from(self.text.get(..start).is_some_and(|text| text.ends_with('\n')));
        let old = self.text.get(start - before..end + ending).unwrap_or_default();
        (old, if before == 1 && ending > 0 { "\n" } else { "" })
    }
}

/// Whether a word of a name is said, in some form: a word that begins as it does, but for its last letter.
fn is_said(name: &str, said: &BTreeSet<String>) -> bool {
    let letters = name.chars().count();
    let stem =
        name.char_indices().nth(letters.saturating_sub(1)).map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
    said.contains(name) || letters > LEAST_NAME && said.iter().any(|word| word.starts_with(stem))
}

/// The targets of the links in a value.
fn links(value: &str) -> impl Iterator<Item = &str> {
    value.split("[[").skip(1).filter_map(|link| link.split(['|', ']']).next())
}

/// An entry with what it says.
fn labelled(entry: &Entry, said: &str) -> String {
    if entry.label.is_empty() { said.to_owned() } else { format!("{}: {said}", entry.label) }
}

/// The entries of a note, in the order of their lines.
fn entries(note: &Note<'_>, text: &str) -> Vec<Entry> {
    let facts = note.facts();
    let mut counts = HashMap::<String, usize>::new();
    for fact in &facts {
        *counts.entry(memdir_note::fact::key(&fact.key)).or_default() += 1;
    }
    let mut names = Names::default();
    let mut found = Vec::new();
    let mut facts = facts.into_iter().peekable();
    let lines = Lines::of(text);
    let mut header: Option<Vec<String>> = None;
    // Up to which byte facts have said everything.
    let mut told = 0;
    for (number, line) in lines.ranges.iter().enumerate() {
        let whole = text.get(line.clone()).unwrap_or_default();
        let mut is_fact = line.start < told;
        while let Some(fact) = facts.next_if(|fact| fact.line == number + 1) {
            told = told.max(fact.span.end);
            is_fact = true;
            let is_inside = fact.span.start >= line.start && fact.span.end <= line.end;
            let key = names.free(&plain_name(&fact.key));
            found.push(Entry {
                label: key.clone(),
                key,
                value: fact.value,
                lines: line.start..lines.end_behind(fact.span.end).max(line.end),
                place: is_inside.then_some(fact.span),
                fact: (counts.get(&memdir_note::fact::key(&fact.key)) == Some(&1)).then_some(fact.key),
                is_prose: false,
                row: None,
            });
        }
        let is_row = is_row(whole);
        let next = lines.ranges.get(number + 1).and_then(|next| text.get(next.clone())).unwrap_or_default();
        if !is_row {
            header = None;
        } else if header.is_none() {
            header = is_ruler(next)
                .then(|| cells(whole, line.start).map(|cell| text.get(cell).unwrap_or_default().to_owned()).collect());
            continue;
        }
        if is_fact
            || line.start < note.body()
            || is_ruler(whole)
            || whole.trim_start().starts_with('#')
            || whole.trim().is_empty()
        {
            continue;
        }
        match &header {
            Some(header) => rows(text, line, header, &mut names, &mut found),
            None => found.extend(bare(note, number + 1, whole, line, &mut names)),
        }
    }
    found.retain(|entry| {
        !entry.key.is_empty() && !text.get(entry.lines.clone()).unwrap_or_default().chars().any(is_strange)
    });
    found
}

/// The cells of a row as entries: called by the first cell and the head of the column.
fn rows(text: &str, line: &Range<usize>, header: &[String], names: &mut Names, found: &mut Vec<Entry>) {
    let cells: Vec<Range<usize>> = cells(text.get(line.clone()).unwrap_or_default(), line.start).collect();
    let cell = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    let first = cells.first().map(cell).unwrap_or_default();
    let row = Some(names.free(&plain_name(first))).filter(|name| !name.is_empty());
    for (place, head) in cells.iter().zip(header).skip(1) {
        let key = names.free(&plain_name(&format!("{first} {head}")));
        found.push(Entry {
            label: key.clone(),
            key,
            value: cell(place).to_owned(),
            lines: line.clone(),
            place: Some(place.clone()),
            fact: None,
            is_prose: false,
            row: row.clone(),
        });
    }
}

/// A line that states no fact: called by the heading above it.
fn bare(note: &Note<'_>, number: usize, whole: &str, line: &Range<usize>, names: &mut Names) -> Option<Entry> {
    let start = whole.trim_start();
    let mark = ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "> "]
        .into_iter()
        .find_map(|mark| start.strip_prefix(mark))
        .unwrap_or(start)
        .trim_start();
    let from = line.start + whole.len() - mark.len();
    let heading =
        note.heading_above(number).filter(|heading| heading.level > 1).map(|heading| plain_name(&heading.shown()));
    let value = mark.trim_end();
    let heading = heading.unwrap_or_default();
    (!value.is_empty()).then(|| Entry {
        key: names.numbered(if heading.is_empty() { "line" } else { &heading }),
        label: heading.clone(),
        value: value.to_owned(),
        lines: line.clone(),
        place: Some(from..from + value.len()),
        fact: None,
        is_prose: true,
        row: None,
    })
}

/// The names that are taken in a note.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// The last number that a name was given.
    numbers: HashMap<String, usize>,
}

impl Names {
    /// This name, with a number where it is taken.
    fn free(&mut self, name: &str) -> String {
        if name.is_empty() || self.taken.insert(memdir_note::fact::key(name)) {
            return name.to_owned();
        }
        self.numbers.entry(memdir_note::fact::key(name)).or_insert(1);
        self.numbered(name)
    }

    /// This name with the next number that makes it a new one.
    fn numbered(&mut self, name: &str) -> String {
        let number = self.numbers.entry(memdir_note::fact::key(name)).or_default();
        loop {
            *number += 1;
            let numbered = format!("{name} {number}");
            if self.taken.insert(memdir_note::fact::key(&numbered)) {
                return numbered;
            }
        }
    }
}

/// The lines of a text without their ends.
struct Lines {
    ranges: Vec<Range<usize>>,
}

impl Lines {
    /// The end of the line in which a byte stands.
    fn end_behind(&self, byte: usize) -> usize {
        self.ranges.iter().find(|range| range.end >= byte).map_or(byte, |range| range.end)
    }

    fn of(text: &str) -> Self {
        let mut at = 0;
        let ranges = text.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            start..start + line.trim_end_matches(['\n', '\r']).len()
        });
        Self { ranges: ranges.collect() }
    }
}

/// The cells of a row, in bytes of the note.
fn cells(row: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let bars: Vec<usize> = row.match_indices('|').map(|(at, _)| at).collect();
    let pairs: Vec<(usize, usize)> = bars.iter().copied().zip(bars.iter().copied().skip(1)).collect();
    pairs.into_iter().map(move |(from, to)| {
        let cell = row.get(from + 1..to).unwrap_or_default();
        let from = start + from + 1 + cell.len() - cell.trim_start().len();
        from..from + cell.trim().len()
    })
}

fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|') && line.ends_with('|')
}

/// Whether a line only divides others.
fn is_ruler(line: &str) -> bool {
    !line.trim().is_empty() && line.trim().chars().all(|one| "-=|:* ".contains(one))
}

fn is_strange(character: char) -> bool {
    character.is_control() && character != '\t'
}

/// How a note is called when it is spoken of.
fn spoken(path: &MemoryPath) -> String {
    spoken_name(path.stem())
}

/// A name of a file as people write it.
fn spoken_name(name: &str) -> String {
    let name = link::parse(name).path;
    let name = name.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    let words = name.split(['_', ' ', '-']).filter(|word| !word.is_empty()).map(|word| {
        let mut characters = word.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    super::words_of(text, &mut words);
    words
}

/// A name without what an address is made of, on one line.
fn plain_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|one| if one.is_control() || ".=:{}<>[]".contains(one) { ' ' } else { one }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

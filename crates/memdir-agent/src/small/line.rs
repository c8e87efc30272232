//! What a small model notes, line by line, and the lines of a note as it writes them again because of that.
//!
//! Owns how both are read, and what may stand for an old line. Which line is out of date is for the model, which is shown all of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::view::{Entry, Shown, View};
use super::{SURE, Turn, date, stems};
use memdir_core::path::MemoryPath;
use memdir_model::Answer;
use memdir_note::stem::Stem;
use memdir_note::{fact, words};

/// The key of a line has at most so many words, and letters.
const MOST_KEY_WORDS: usize = 4;
const MOST_KEY: usize = 40;

/// Of so many notes so many lines are written again: more than people wait for.
const MOST_NOTES: usize = 2;
const MOST_LINES: usize = 8;
/// And so many letters of them: in some scripts a letter is a token.
const MOST_LETTERS: usize = 400;

/// A line that was noted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Line<'a> {
    /// The note below which it stands.
    pub(super) note: &'a str,
    pub(super) text: &'a str,
    /// The date of its day, to stand behind it; empty for a line without one.
    pub(super) mark: String,
    /// How likely it was, in thousandths.
    pub(super) chance: u16,
}

impl<'a> Line<'a> {
    /// A text of it with the date of its day.
    pub(super) fn marked(&self, text: &str) -> String {
        format!("{text}{}", self.mark)
    }

    /// Its key and value, where it has both.
    pub(super) fn parts(&self) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.text.split_once(": ").or_else(|| self.text.split_once('：'))?;
        let (key, value) = (key.trim(), value.trim());
        let is_key = !key.is_empty()
            && key.chars().count() <= MOST_KEY
            && key.split_whitespace().count() <= MOST_KEY_WORDS
            && !key.contains(['[', ']', '{', '}', '.', '=', '"', '(', '|'])
            && !key.chars().all(|one| one.is_numeric() || one.is_whitespace());
        (is_key && !value.is_empty()).then_some((key, value))
    }
}

impl View<'_> {
    /// Whether a line of the note, but for those that change, says already what a new one does.
    pub(super) fn stands(&self, line: &Line<'_>, changes: impl Fn(&Shown<'_>, &Entry) -> bool) -> bool {
        let words = stems(line.text);
        let says = |entry: &Entry| words.is_subset(&stems(&self.line(entry)));
        // Another day may be another date.
        !words.is_empty()
            && line.mark.is_empty()
            && self
                .named(line.note)
                .is_some_and(|note| note.entries.iter().filter(|entry| !changes(note, entry)).any(says))
    }
}

/// Puts the date of the day that a sentence tells of behind the line that has most of its words, if one has any.
pub(super) fn mark(lines: &mut [Line<'_>], sentence: &str, mark: &str) {
    let told = stems(sentence);
    let shared = |line: &Line<'_>| stems(line.text).intersection(&told).count();
    if let Some(line) = lines.iter_mut().filter(|line| shared(line) > 0).min_by_key(|line| Reverse(shared(line))) {
        line.mark.push_str(mark);
    }
}

/// The lines that an answer notes.
pub(super) fn lines(answer: &Answer) -> Vec<Line<'_>> {
    let mut note = "";
    let mut lines = Vec::<Line<'_>>::new();
    for (at, line) in answer.text.lines().enumerate() {
        let chance = answer.line_chances.get(at).copied().unwrap_or(SURE);
        if let Some(name) = line.strip_prefix("# ") {
            note = name.trim();
        } else if let Some(text) = line.strip_prefix("+ ").map(str::trim).filter(|text| !text.is_empty())
            && !lines.iter().any(|other| other.note == note && other.text == text)
        {
            lines.push(Line { note, text, chance, mark: String::new() });
        }
    }
    lines
}

/// The lines of a note of which something was told, to be written again as they are true now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Again {
    /// The note.
    path: MemoryPath,
    /// What it is called.
    pub(super) name: String,
    /// The lines as they are shown, and how each begins, whatever is true.
    lines: Vec<(String, usize)>,
}

/// A line that the model has written otherwise than it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Renewal {
    /// Its note.
    pub(super) path: MemoryPath,
    /// The line as it is shown.
    pub(super) old: String,
    /// The line again.
    pub(super) new: String,
}

impl Again {
    /// The lines as they are shown.
    #[must_use]
    pub fn shown(&self) -> String {
        self.lines.iter().map(|(line, _)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// How the lines begin, whatever is true.
    pub(super) fn beginnings(&self) -> Vec<&str> {
        self.lines.iter().map(|(line, end)| line.get(..*end).unwrap_or_default()).collect()
    }

    /// The lines that are written otherwise; none where there are more or less of them, for then it is not known which are which.
    #[must_use]
    pub fn renewals(&self, written: &str) -> Vec<Renewal> {
        let mut new: Vec<&str> = written.lines().map(str::trim).collect();
        // A server that takes no grammar has a reply behind them.
        if new.len() > self.lines.len() {
            new.pop_if(|last| last.split_whitespace().next() == Some("say"));
        }
        if new.len() != self.lines.len() {
            return Vec::new();
        }
        let pairs = self.lines.iter().zip(new).filter(|((old, _), new)| old != new);
        let renewal = |((old, _), new): (&(String, usize), &str)| {
            let (path, old) = (self.path.clone(), old.clone());
            Renewal { path, old, new: new.to_owned() }
        };
        pairs.map(renewal).collect()
    }
}

/// The notes of which a small model has noted something, with their lines: where a note has many, those that have most words of what was told.
#[must_use]
pub fn again(turn: &Turn<'_>, noted: &Answer) -> Vec<Again> {
    let view = View::of(turn.notes);
    let mut found = Vec::<Again>::new();
    let lines = lines(noted);
    for line in &lines {
        let Some(note) = view.named(line.note) else { continue };
        if found.len() >= MOST_NOTES || found.iter().any(|other| other.path == *note.path) {
            continue;
        }
        let of_note = lines.iter().filter(|other| view.named(other.note).is_some_and(|it| it.path == note.path));
        let told = stems(&of_note.map(|line| line.text).chain([turn.message]).collect::<Vec<_>>().join(" "));
        let lines = likely(&view, note, &told);
        if !lines.is_empty() {
            found.push(Again { path: note.path.clone(), name: note.name.clone(), lines });
        }
    }
    found
}

/// The lines of a note that may be out of date, each with where it begins to say something.
fn likely(view: &View<'_>, note: &Shown<'_>, told: &BTreeSet<Stem>) -> Vec<(String, usize)> {
    let mut lines = Vec::<(String, usize)>::new();
    for entry in &note.entries {
        let line = view.line(entry);
        // What is not shown whole cannot be written again, nor what a grammar has no place for; a date was counted for the line as it stands.
        let is_whole = !entry.value.is_empty()
            && date::marked(&entry.value).1.is_empty()
            && !line.ends_with('…')
            && !line.contains(|one: char| one == '<' || one.is_control());
        if is_whole && !lines.iter().any(|(other, _)| *other == line) {
            let said = match entry.label.len() {
                0 => line.split_once(char::is_whitespace).map_or(line.as_str(), |(_, rest)| rest),
                label => line.get(label + 2..).unwrap_or_default(),
            };
            let begins = line.len() - said.trim_start().len();
            lines.push((line, begins));
        }
    }
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_cached_key(|at| Reverse(lines.get(*at).map(|(line, _)| stems(line).intersection(told).count())));
    let mut left = MOST_LETTERS;
    order.retain(|at| {
        let letters = lines.get(*at).map_or(0, |(line, _)| line.chars().count());
        let fits = letters <= left;
        left -= if fits { letters } else { 0 };
        fits
    });
    order.truncate(MOST_LINES);
    order.sort_unstable();
    order.into_iter().filter_map(|at| lines.get(at).cloned()).collect()
}

/// How much a line that was written again says of one that was noted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Says {
    /// All of it.
    All,
    /// Some of it: the rest is told to be missing.
    Part,
}

/// What a line says that was written again, and what it said before.
pub(super) struct Brought {
    now: BTreeSet<Stem>,
    before: BTreeSet<Stem>,
    /// The key of the line.
    key: String,
}

impl Brought {
    /// `new` in the place of `old`, the line of this key.
    pub(super) fn of(new: &str, old: &str, key: &str) -> Self {
        Self { now: stems(new), before: stems(old), key: fact::key(key) }
    }

    /// How many forms of words it has of a line that was noted, those first that it did not have before. `None` where it has no such word, unless that line
    /// is the old one: a small model may note what is out of date, which the person has not repeated.
    pub(super) fn shares(&self, line: &Line<'_>, is_repeated: bool) -> Option<(usize, usize)> {
        let noted = stems(line.text);
        let said = noted.intersection(&self.now).count();
        let new = noted.intersection(&self.now).filter(|stem| !self.before.contains(*stem)).count();
        let is_old = !is_repeated && noted.is_subset(&self.before);
        (is_old || new > 0).then_some((new, said))
    }

    /// How much it says of a line that was noted: all of it, or at least half of what the old one did not say, or something under the same key.
    pub(super) fn says(&self, line: &Line<'_>, is_repeated: bool) -> Option<Says> {
        let (mut missing, mut brought, mut fresh) = (0, 0, 0);
        words::each(line.text, &mut |word, _| {
            let forms = Stem::forms(word);
            let (is_fresh, is_said) = (
                !self.before.iter().any(|stem| forms.contains(stem)),
                forms.iter().any(|stem| self.now.contains(stem)),
            );
            missing += usize::from(!is_said);
            fresh += usize::from(is_fresh);
            brought += usize::from(is_fresh && is_said);
        });
        let has_key = line.parts().is_some_and(|(key, _)| fact::key(key) == self.key);
        // Two days may be two dates.
        let is_said =
            self.shares(line, is_repeated).is_some() && (has_key || 2 * brought >= fresh) && line.mark.is_empty();
        is_said.then_some(if missing == 0 { Says::All } else { Says::Part })
    }
}

/// A line that was written anew, without a mark before it, if it can stand for the old one: it keeps a word of it, has one more, and all of its words are
/// in the old one or known.
pub(super) fn taken<'a>(new: &'a str, old: &str, known: &BTreeSet<Stem>) -> Option<&'a str> {
    let is_marked = !old.starts_with(['+', '-']);
    let new = if is_marked { new.trim().trim_start_matches(['+', '-']).trim_start() } else { new.trim() };
    let (now, before) = (stems(new), stems(old));
    let is_kept = !now.is_disjoint(&before);
    let is_new = now.iter().any(|stem| !before.contains(stem));
    let is_known = now.iter().all(|stem| before.contains(stem) || known.contains(stem));
    let is_one_line = !new.chars().any(|one| one.is_control() || one == '<');
    (is_one_line && is_kept && is_new && is_known && fact::key(new) != fact::key(old)).then_some(new)
}

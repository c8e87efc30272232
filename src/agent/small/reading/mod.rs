//! What a message seems to want, read by its words beside the notes: so much less a small model can do wrong.
//!
//! Owns what a turn may be, and which lines it may be about. It takes away and never decides: among what is left, the model
//! chooses. Nothing here is sure; what a line is about is guessed by shared words.

use std::collections::{BTreeSet, HashSet};

use super::USER;
use super::cues::{self, Cues, Word};
use super::line::{self, Line, Slot, Sort, stems};
use super::meant::{Looking, Meant};
use crate::note::{stem, words};
use crate::path::MemoryPath;
use crate::rank::is_function_word;

mod offer;

/// What a turn may be.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Question,
    Unknown,
    Unclear,
    Talk,
    Change,
    New,
    Forget,
}

/// How far a model can be trusted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trust {
    /// It says anything rather than that it does not know.
    pub(super) tiny: bool,
    /// It may say nothing but what it quotes.
    pub(super) quoting: bool,
}

/// A message, read beside the notes.
#[derive(Debug)]
pub(super) struct Reading<'n> {
    pub(super) kinds: BTreeSet<Kind>,
    /// Words of the message that stand in no note that it can be about.
    pub(super) missing: Vec<String>,
    meant: Meant<'n>,
    lines: Vec<Line<'n>>,
    cues: Cues,
    has_and: bool,
    /// How many words say what is asked.
    asked: usize,
    trust: Trust,
    /// The dates of the message, and whether it has a number.
    dates: Vec<String>,
    has_number: bool,
    /// Whether it can be said in a cell of a table, and in front matter.
    is_plain: bool,
    /// Whether it is about somebody or something that no note is about.
    is_foreign: bool,
    paths: Vec<&'n MemoryPath>,
    /// Whether it speaks of a name: of a part of a note, not of the note.
    has_name: bool,
    /// Whether it names a file of which no note knows.
    is_outside: bool,
}

impl<'n> Reading<'n> {
    /// Reads a message.
    pub(super) fn of(notes: &'n [(MemoryPath, String)], message: &str, is_first: bool, trust: Trust) -> Self {
        let (cues, rest) = cues::find(message);
        let phrases = cues::phrases(message);
        let content = with(cues::content(&rest), &phrases);
        // Cues count here: who has moved lives elsewhere.
        let all = with(cues::content(message), &phrases);
        let titles: Vec<(&MemoryPath, HashSet<String>)> =
            notes.iter().map(|(path, text)| (path, title(path, text))).collect();
        let mut lines = line::lines(notes);
        let (own, asks) = (cues.own, cues.ask && !cues.keep);
        let looking = Looking { notes, lines: &lines, titles: &titles, rest: &rest, content: &all, own, asks };
        let meant = looking.find();
        score(&mut lines, &titles, (&all, if cues.keep { &content } else { &all }), &meant, cues.own);
        let asked: Vec<&Word> = content.iter().filter(|word| !meant.used.contains(&word.stem)).collect();
        let about = about(&lines, &titles, &meant);
        let missing = asked.iter().filter(|word| !cues::is_in(word, &about));
        let missing: Vec<String> = missing.map(|word| spelled(message, &word.stem)).collect();
        let is_unknown = |word: &str| missing.iter().any(|missing| missing.eq_ignore_ascii_case(word));
        let is_foreign =
            meant.notes.is_empty() && cues::speaks_of_another(message, &is_unknown) && (cues.ask || !cues.i);
        let mut reading = Self {
            kinds: BTreeSet::new(),
            meant,
            lines,
            cues,
            has_and: rest.split_whitespace().any(|word| matches!(word, "and" | "und" | "y" | "et" | "e" | "en" | "ve")),
            missing,
            asked: asked.len(),
            trust,
            dates: line::dates(message).map(str::to_owned).collect(),
            has_number: has_number(message),
            is_plain: is_plain(message),
            is_foreign,
            paths: notes.iter().map(|(path, _)| path).collect(),
            has_name: stems(&rest).contains("name"),
            is_outside: cues::files(message).any(|file| !is_known(notes, file)),
        };
        reading.kinds = reading.kinds(is_first).iter().copied().collect();
        reading
    }

    fn kinds(&self, is_first: bool) -> &'static [Kind] {
        use Kind::{Forget, Talk, Unclear, Unknown};
        let cues = self.cues;
        if !self.meant.between.is_empty() && is_first {
            &[Unclear]
        } else if cues.ask && !cues.keep {
            self.answers(is_first)
        } else if cues.forget && !cues.keep {
            let has_related = self.writable().any(|line| line.score > 0);
            match (self.asked == 0 && self.meant.notes.is_empty(), has_related || self.whole_note().is_some()) {
                (true, _) => &[Unclear],
                (false, true) => &[Forget, Unclear],
                (false, false) => &[Unclear, Unknown],
            }
        } else if self.asked == 0 && self.meant.notes.is_empty() {
            match (cues.change || cues.keep, is_first) {
                (true, true) => &[Unclear],
                (false, true) => &[Talk],
                (_, false) => &[Kind::Question, Unknown, Unclear, Talk],
            }
        } else {
            self.writes()
        }
    }

    /// The kinds of turns after a question.
    fn answers(&self, is_first: bool) -> &'static [Kind] {
        use Kind::{Question, Talk, Unclear, Unknown};
        let is_about_somebody = self.cues.own || !self.meant.notes.is_empty();
        let (surely, sure) = (self.trust.tiny && is_first, self.speaks_of_it() && !self.is_foreign);
        if self.is_outside {
            return &[Unknown];
        }
        if self.is_foreign {
            return if surely { &[Unknown] } else { &[Question, Unknown] };
        }
        if self.asked == 0 && !is_about_somebody {
            &[Talk]
        } else if self.asked > 0 && self.missing.len() == self.asked {
            let is_half = self.has_and && !self.meant.trail.is_empty();
            match (is_about_somebody, surely) {
                _ if is_half => &[Question],
                (false, _) => &[Talk],
                (true, true) => &[Unknown],
                (true, false) => &[Question, Unknown],
            }
        } else if sure && (surely || is_about_somebody && self.missing.is_empty()) {
            &[Question]
        } else if is_about_somebody {
            &[Question, Unknown]
        } else {
            &[Question, Unknown, Unclear, Talk]
        }
    }

    /// The kinds of turns after what is no question.
    fn writes(&self) -> &'static [Kind] {
        use Kind::{Change, New, Talk, Unclear};
        let cues = self.cues;
        let has_keyed = self.writable().any(|line| line.is_keyed && self.fitting(line).is_some());
        let has_told = self.writable().any(|line| line.is_told && self.fitting(line).is_some());
        let has_related = self.writable().any(|line| line.score > 0 && self.fitting(line).is_some());
        let is_other = cues.change || cues.weak;
        if cues.keep {
            if is_other && has_keyed { &[New, Change] } else { &[New] }
        } else if cues.adds || self.is_foreign {
            &[New, Talk, Unclear]
        } else if is_other && has_keyed || cues.change && has_told {
            &[Change]
        } else if cues.correct && has_related {
            &[Change, New]
        } else if has_keyed && cues.says {
            &[Change, Talk]
        } else if cues.change && (cues.own || !self.meant.notes.is_empty()) && (has_related || !self.trust.tiny) {
            &[Change, New]
        } else if cues.change {
            &[New, Unclear]
        } else if has_keyed {
            &[New, Change, Talk, Unclear]
        } else if cues.own || cues.says && !cues.greets || !self.meant.notes.is_empty() {
            &[New, Talk, Unclear]
        } else {
            &[Talk]
        }
    }

    /// Whether the model is told which words are in no note: where they are half of what is asked, and not one of two things.
    pub(super) fn has_hint(&self) -> bool {
        let is_much = 2 * self.missing.len() >= self.asked.max(1);
        is_much
            && !self.missing.is_empty()
            && !self.has_and
            && !self.speaks_of_it()
            && self.kinds.contains(&Kind::Unknown)
    }

    /// Whether a line speaks of just what is asked, in the notes that are meant where any is.
    fn speaks_of_it(&self) -> bool {
        let is_near = |line: &&Line<'_>| self.meant.notes.is_empty() || self.meant.notes.contains(&line.path);
        let is_led = !self.meant.trail.is_empty() && self.asked == 0;
        is_led || self.lines.iter().filter(is_near).any(|line| line.is_meant)
    }

    fn writable(&self) -> impl Iterator<Item = &Line<'n>> {
        self.lines.iter().filter(|line| line.can_be_written() && self.is_in_scope(line))
    }

    /// Whether a line may be written: of the notes that are meant, and the link that led there; of the person's own note where
    /// that has to do with the message; else any.
    fn is_in_scope(&self, line: &Line<'_>) -> bool {
        let Meant { notes, trail, .. } = &self.meant;
        if !notes.is_empty() {
            let is_last = trail.last().is_some_and(|(path, text)| (*path, *text) == (line.path, line.text));
            return notes.contains(&line.path) || is_last || self.cues.own && is_own_link(line, &self.meant);
        }
        let is_own = |line: &Line<'_>| line.path.as_str() == USER;
        let has_own = || self.lines.iter().any(|line| is_own(line) && line.score > 0 && line.can_be_written());
        !self.cues.own || is_own(line) || !has_own()
    }

    /// The value of a line that something in the message can stand for.
    fn fitting(&self, line: &Line<'n>) -> Option<Slot<'n>> {
        if line.is_held && !self.is_plain {
            return None;
        }
        let fits = |slot: &&Slot<'_>| match slot.sort() {
            Sort::Date => !self.dates.is_empty(),
            Sort::Number => self.has_number,
            Sort::Text => true,
        };
        let fitting: Vec<Slot<'n>> = line.slots.iter().filter(fits).copied().collect();
        // One cell of a row: the first that is a date or a number, as only these are told apart.
        let first = fitting.iter().find(|slot| slot.sort() != Sort::Text).or(fitting.first());
        first.copied()
    }

    /// The note that is to be forgotten as a whole: where nothing is said but its name.
    fn whole_note(&self) -> Option<&'n MemoryPath> {
        let [path] = self.meant.notes.as_slice() else { return None };
        let folders = path.as_str().rsplit_once('/').map(|(folders, _)| stems(folders)).unwrap_or_default();
        // "The recipe for lentil soup" says the folder too.
        let is_said = self.missing.iter().all(|word| {
            let stem = stem::english(&words::fold(word));
            folders.iter().any(|folder| *folder == stem)
        });
        let is_said = is_said && !self.has_number && !self.has_name;
        (self.meant.trail.is_empty() && is_said && self.missing.len() == self.asked && path.as_str() != USER)
            .then_some(path)
    }
}

/// Whether whatever words of a message leave a table and front matter whole. Where a value is not made of its words, they do
/// not.
fn is_plain(message: &str) -> bool {
    /// A longer message is no source of values: see the grammar.
    const MOST: usize = 120;
    let words = message.split_whitespace().count();
    let is_word = |word: &str| !word.starts_with(|first| line::YAML.contains(first));
    (2..=MOST).contains(&words)
        && !message.contains(['|', ':', '#', '"', '[', ']', '{', '}', '\n'])
        && message.split_whitespace().all(is_word)
}

/// Whether a name of a file is that of a note, or stands in one.
fn is_known(notes: &[(MemoryPath, String)], file: &str) -> bool {
    let name = file.trim_start_matches(['.', '/', '~']);
    !name.is_empty()
        && notes.iter().any(|(path, text)| {
            text.contains(name) || path.as_str().trim_end_matches(".md") == name.trim_end_matches(".md")
        })
}

/// Whether a message has a number that is no part of a date.
fn has_number(message: &str) -> bool {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    digits(message) > line::dates(message).map(digits).sum()
}

/// Words, with those that a turn of phrase stands for.
fn with(mut words: Vec<Word>, phrases: &[Word]) -> Vec<Word> {
    words.extend(phrases.iter().cloned());
    words
}

/// The words of what a message can be about.
fn about(lines: &[Line<'_>], titles: &[(&MemoryPath, HashSet<String>)], meant: &Meant<'_>) -> HashSet<String> {
    let all = |line: &Line<'_>| line.stems.iter().chain(&line.heading).cloned().collect::<Vec<_>>();
    if meant.notes.is_empty() {
        let titles = titles.iter().flat_map(|(_, title)| title.iter().cloned());
        return lines.iter().flat_map(all).chain(titles).collect();
    }
    let is_about = |line: &&Line<'_>| {
        let names = || meant.trail.is_empty() && meant.used.iter().any(|name| line.stems.contains(name));
        meant.notes.contains(&line.path) || names()
    };
    let titles = titles.iter().filter(|(path, _)| meant.notes.contains(path) && !meant.trail.is_empty());
    let titles = titles.flat_map(|(_, title)| title.iter().cloned());
    lines.iter().filter(is_about).flat_map(all).chain(titles).collect()
}

/// A word of the message as it is spelled there, by its stem.
fn spelled(message: &str, stem: &str) -> String {
    let mut found = None;
    words::each(message, &mut |word, range| {
        if found.is_none() && stem::english(word) == stem {
            found = message.get(range).map(str::to_owned);
        }
    });
    found.unwrap_or_else(|| stem.to_owned())
}

/// The words of a note's name and title.
fn title(path: &MemoryPath, text: &str) -> HashSet<String> {
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    stems(&format!("{} {heading}", super::stem(path)))
}

/// Whether the person's own note links to what is meant by this line.
fn is_own_link(line: &Line<'_>, meant: &Meant<'_>) -> bool {
    line.path.as_str() == USER && line.is_link() && meant.notes.iter().any(|path| line.text.contains(super::stem(path)))
}

/// Says of each line how much it has to do with the message: with all its words for the score, and with some for whether it
/// speaks of just this.
fn score(
    lines: &mut [Line<'_>],
    titles: &[(&MemoryPath, HashSet<String>)],
    (all, keys): (&[Word], &[Word]),
    meant: &Meant<'_>,
    is_first_person: bool,
) {
    for line in lines {
        let is_user = line.path.as_str() == USER;
        let title = titles.iter().find(|(path, _)| *path == line.path && !is_user).map(|(_, title)| title);
        let is_in = |word: &&Word| cues::is_in(word, &line.stems) || cues::is_in(word, &line.heading);
        let in_line = all.iter().filter(is_in).count();
        let in_title = all.iter().filter(|word| !is_in(word) && title.is_some_and(|title| cues::is_in(word, title)));
        if in_line > 0 {
            line.score = 2 * (in_line + in_title.count()) + usize::from(is_user && is_first_person);
        }
        // Who has moved has moved away from their own place.
        let is_near = !is_user || is_first_person;
        let is_said = |stem: &String| keys.iter().any(|word| word.is(stem) || is_near && word.means(stem));
        let is_keyed = |stem: &String| is_said(stem) || is_function_word(stem);
        line.is_keyed = line.key.iter().any(is_said) && line.key.iter().all(is_keyed) && !line.is_generic();
        // What stands below a heading is what that says.
        line.is_meant = line.is_keyed || line.key.is_empty() && line.heading.iter().any(is_said);
        let value = line.slots.iter().flat_map(|slot| stems(slot.value)).collect::<HashSet<_>>();
        let is_old =
            |word: &Word| word.stem.len() > 2 && !meant.used.contains(&word.stem) && value.contains(&word.stem);
        let is_left = is_first_person && is_own_link(line, meant);
        line.is_told = (all.iter().any(is_old) || is_left) && !line.is_generic();
    }
}

//! What a message seems to want, read by its words beside the notes: so much less a small model can do wrong.
//!
//! Owns what a turn may be, and which lines it may be about. It takes away and never decides: among what is left, the model
//! chooses. Nothing here is sure; what a line is about is guessed by shared words.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::cues::{self, Cues};
use crate::catalog::grammar::{Ask, Offer};
use crate::note::words;
use crate::path::MemoryPath;
use crate::rank::Question;

/// The note about the person.
const USER: &str = "user.md";
/// Keys that say nothing of what a line is about.
const GENERIC: [&str; 6] = ["type", "name", "kind", "status", "category", "entity"];
/// A line with two words of the message has to do with it surely.
const SURE: usize = 4;
/// How many lines may be quoted, or chosen among, at most; a small model gets lost in more, and its grammar slow.
const MOST_LINES: usize = 240;

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

/// A message, read beside the notes.
#[derive(Debug)]
pub(super) struct Reading<'n> {
    pub(super) kinds: BTreeSet<Kind>,
    /// Words of the message that stand in no note that it can be about.
    pub(super) missing: Vec<String>,
    /// The notes that a name in the message may mean, where nothing tells which.
    between: Vec<&'n MemoryPath>,
    lines: Vec<Line<'n>>,
    /// The notes that the message names.
    named: Vec<&'n MemoryPath>,
    is_first_person: bool,
    has_and: bool,
    /// How many words say what is asked.
    asked: usize,
    tiny: bool,
    /// Whether only lines that speak of just this may be changed: nothing says that something is otherwise now.
    is_strict: bool,
}

/// A line of a note that can be chosen.
#[derive(Clone, Debug)]
struct Line<'n> {
    path: &'n MemoryPath,
    text: &'n str,
    /// What stays of it at its start when its value is replaced; `None` where it is not to be written.
    kept: Option<&'n str>,
    stems: HashSet<String>,
    /// How much it has to do with the message, in half words.
    score: usize,
    /// Whether all that its key says is in the message, and says something.
    is_keyed: bool,
}

/// The stems of a text.
fn stems(text: &str) -> HashSet<String> {
    let mut all = HashSet::new();
    words::each(text, &mut |word, _| {
        all.insert(words::stem(word).into_owned());
    });
    all
}

impl<'n> Reading<'n> {
    /// Reads a message. `tiny` is for models that say anything rather than that they do not know.
    pub(super) fn of(notes: &'n [(MemoryPath, String)], message: &str, is_first: bool, tiny: bool) -> Self {
        let (cues, rest) = cues::find(message);
        let is_first_person = cues.own;
        let (content, all) = (content(&rest), content(message));
        let titles: Vec<(&MemoryPath, HashSet<String>)> =
            notes.iter().map(|(path, text)| (path, title(path, text))).collect();
        let (names, mut named) = named(&titles, message);
        let asked: Vec<&String> = content.iter().filter(|word| !names.contains(*word)).collect();
        let mut between = Vec::new();
        if named.len() > 1 {
            let told = told_apart(notes, &named, &asked, &content);
            if told.is_empty() { between.clone_from(&named) } else { named = told }
        }
        // Cues count here: who has moved lives elsewhere.
        let mut lines = lines(notes);
        score(&mut lines, &titles, (&all, &content), is_first_person);
        let about: HashSet<String> = if named.is_empty() || !between.is_empty() {
            lines
                .iter()
                .flat_map(|line| line.stems.iter().cloned())
                .chain(titles.iter().flat_map(|(_, title)| title.clone()))
                .collect()
        } else {
            let is_about =
                |line: &&Line<'_>| named.contains(&line.path) || names.iter().any(|name| line.stems.contains(name));
            lines.iter().filter(is_about).flat_map(|line| line.stems.iter().cloned()).collect()
        };
        let is_missing = |word: &&&String| !cues::stems_of(word).iter().any(|stem| about.contains(stem));
        let missing: Vec<String> = asked.iter().filter(is_missing).map(|word| spelled(message, word)).collect();
        let asked_words = asked.len();
        let mut reading = Self {
            kinds: BTreeSet::new(),
            between,
            lines,
            named,
            is_first_person,
            has_and: rest.split_whitespace().any(|word| matches!(word, "and" | "und" | "y" | "et" | "e" | "en" | "ve")),
            missing,
            asked: asked_words,
            tiny,
            is_strict: cues.keep || !cues.change,
        };
        reading.kinds = reading.kinds(cues, &asked, is_first, tiny);
        reading
    }

    fn kinds(&self, cues: Cues, asked: &[&String], is_first: bool, tiny: bool) -> BTreeSet<Kind> {
        use Kind::{Change, Forget, New, Question, Talk, Unclear, Unknown};
        let is_about_somebody = self.is_first_person || !self.named.is_empty();
        let has_related = self.lines.iter().any(|line| line.score > 0 && line.kept.is_some());
        let has_keyed = self.lines.iter().any(|line| line.is_keyed && line.kept.is_some());
        let kinds: &[Kind] = if !self.between.is_empty() && is_first {
            &[Unclear]
        } else if cues.ask && !cues.keep {
            if asked.is_empty() && !is_about_somebody {
                &[Talk]
            } else if !asked.is_empty() && self.missing.len() == asked.len() {
                match (is_about_somebody, tiny && is_first) {
                    (false, _) => &[Talk],
                    (true, true) => &[Unknown],
                    (true, false) => &[Question, Unknown],
                }
            } else {
                match (is_about_somebody, tiny && is_first && self.speaks_of_it()) {
                    (true, true) => &[Question],
                    (true, false) => &[Question, Unknown],
                    (false, _) => &[Question, Unknown, Unclear, Talk],
                }
            }
        } else if cues.forget && !cues.keep {
            if has_related { &[Forget, Unclear] } else { &[Unclear, Unknown] }
        } else if asked.is_empty() && self.named.is_empty() {
            match (cues.change || cues.keep, is_first) {
                (true, true) => &[Unclear],
                (false, true) => &[Talk],
                (_, false) => &[Question, Unknown, Unclear, Talk],
            }
        } else if cues.keep {
            if cues.change && has_keyed { &[New, Change] } else { &[New] }
        } else if cues.correct && has_related || cues.change && has_keyed {
            &[Change]
        } else if cues.change {
            &[Change, New]
        } else if has_keyed {
            &[New, Change, Talk, Unclear]
        } else {
            &[New, Talk, Unclear]
        };
        kinds.iter().copied().collect()
    }

    /// Whether the model is told which words are in no note: where they are half of what is asked, and not one of two things.
    pub(super) fn has_hint(&self) -> bool {
        let is_much = 2 * self.missing.len() >= self.asked.max(1);
        is_much && !self.has_and && !self.speaks_of_it() && self.kinds.contains(&Kind::Unknown)
    }

    /// Whether a line speaks of just what is asked, in the notes that are named where any is.
    fn speaks_of_it(&self) -> bool {
        let is_near = |line: &&Line<'_>| self.named.is_empty() || self.named.contains(&line.path);
        self.lines.iter().filter(is_near).any(|line| line.is_keyed)
    }

    /// What the model may do, without what the session does not let it.
    pub(super) fn offer(&self, message: &'n str, writes: bool) -> Offer<'_> {
        let has = |kind: Kind| self.kinds.contains(&kind);
        let writable = || self.lines.iter().filter(|line| line.kept.is_some());
        let top = writable().map(|line| line.score).max().unwrap_or(0);
        // Who speaks of themselves means the note about them, where it says as much as another.
        let is_own = self.is_first_person && writable().any(|line| line.score == top && line.path.as_str() == USER);
        let least = if is_own { top } else { top.saturating_sub(1) };
        let related = |line: &&Line<'_>| line.score > 0 && line.score >= least;
        let mut offer = Offer {
            message,
            two: self.has_and,
            unknown: has(Kind::Unknown),
            surely: self.tiny && message.is_ascii(),
            talk: has(Kind::Talk),
            ..Offer::default()
        };
        if has(Kind::Question) {
            offer.quotes = self.quotes();
            offer.to_the_fact = self.lines.iter().any(|line| !line.text.contains("[[") && line.score >= SURE);
        }
        if has(Kind::Unclear) {
            let title = |path: &&MemoryPath| spoken(path);
            let between = self.between.iter().map(title).collect::<Vec<_>>().join(" or ");
            offer.ask = Some(if between.is_empty() { Ask::Anything } else { Ask::Between(between) });
        }
        if writes && has(Kind::Change) {
            let chosen: Vec<&Line<'_>> =
                writable().filter(related).filter(|line| !self.is_strict || line.is_keyed).collect();
            let chosen = if chosen.is_empty() { writable().collect() } else { chosen };
            offer.changes = chosen
                .into_iter()
                .take(MOST_LINES)
                .filter_map(|line| Some((line.path, line.text, line.kept?)))
                .collect();
        }
        if writes && has(Kind::Forget) {
            offer.deletions = writable().filter(related).take(MOST_LINES).map(|line| (line.path, line.text)).collect();
        }
        if writes && has(Kind::New) {
            offer.homes = self.homes();
        }
        if !writes && offer.quotes.is_empty() && !offer.talk {
            offer.talk = true;
        }
        offer
    }

    /// The lines that may be quoted: of the notes that are named and what they lead to, else of all.
    fn quotes(&self) -> Vec<(&'n MemoryPath, &'n str)> {
        let paths: BTreeSet<&MemoryPath> = self.lines.iter().map(|line| line.path).collect();
        let led_to: BTreeSet<&MemoryPath> = paths.into_iter().filter(|path| self.is_led_to(path)).collect();
        let is_near = |line: &&Line<'_>| {
            self.named.is_empty() || self.named.contains(&line.path) || line.score > 0 || led_to.contains(line.path)
        };
        let near: Vec<&Line<'_>> = self.lines.iter().filter(is_near).collect();
        let is_fact = |line: &&&Line<'_>| !line.text.contains("[[");
        let top = near.iter().filter(is_fact).filter(|line| line.is_keyed).map(|line| line.score).max();
        // A tiny model takes any line that looks like an answer: where one speaks of just what is asked, only such are left.
        let is_left = |line: &&&Line<'_>| {
            let is_best = |top: usize| line.is_keyed && line.score + 1 >= top;
            !self.tiny || !is_fact(line) || top.is_none_or(is_best)
        };
        near.iter().filter(is_left).take(MOST_LINES).map(|line| (line.path, line.text)).collect()
    }

    /// Whether a named note links to this one.
    fn is_led_to(&self, path: &MemoryPath) -> bool {
        let stem = path.as_str().rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        let mut lines = self.lines.iter().filter(|line| self.named.contains(&line.path));
        lines.any(|line| line.text.contains("[[") && line.text.contains(stem))
    }

    /// The notes to which a new line may go.
    fn homes(&self) -> Vec<&'n MemoryPath> {
        let all = || self.lines.iter().map(|line| line.path);
        let user = all().find(|path| path.as_str() == USER).filter(|_| self.is_first_person || self.named.is_empty());
        let homes: Vec<&MemoryPath> = self.named.iter().copied().chain(user).collect();
        if !homes.is_empty() {
            return homes;
        }
        all().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The stems of the words that say what a message is about; numbers say nothing of that.
fn content(message: &str) -> Vec<String> {
    let Some(question) = Question::of(message) else { return Vec::new() };
    let is_number = |word: &&String| word.bytes().all(|byte| byte.is_ascii_digit());
    let says = |word: &&String| {
        !is_number(word) && !matches!(word.as_str(), "pleas" | "name" | "call" | "thank" | "hello" | "hi" | "know")
    };
    // A question of function words alone is about nothing.
    let all = question.words();
    if all.iter().all(|word| word.len() < 3) { Vec::new() } else { all.iter().filter(says).cloned().collect() }
}

/// A word of the message as it is spelled there, by its stem.
fn spelled(message: &str, stem: &str) -> String {
    let mut found = None;
    words::each(message, &mut |word, range| {
        if found.is_none() && words::stem(word) == stem {
            found = message.get(range).map(str::to_owned);
        }
    });
    found.unwrap_or_else(|| stem.to_owned())
}

/// The words of a note's name and title.
fn title(path: &MemoryPath, text: &str) -> HashSet<String> {
    let name = path.as_str().rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    let heading = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    stems(&format!("{name} {heading}"))
}

/// How a note is called when it is spoken of.
fn spoken(path: &MemoryPath) -> String {
    let name = path.as_str().rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
    let words = name.split(['_', ' ']).filter(|word| !word.is_empty()).map(|word| {
        let mut characters = word.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The notes that a message names, with the words by which it does: a word with a capital, or two words of a title.
fn named<'n>(titles: &[(&'n MemoryPath, HashSet<String>)], message: &str) -> (HashSet<String>, Vec<&'n MemoryPath>) {
    let mut said = HashMap::<String, bool>::new();
    words::each(message, &mut |word, range| {
        let is_capital = message.get(range).and_then(|text| text.chars().next()).is_some_and(char::is_uppercase);
        *said.entry(words::stem(word).into_owned()).or_default() |= is_capital;
    });
    let mut found = BTreeMap::<usize, Vec<(&MemoryPath, Vec<String>)>>::new();
    for (path, title) in titles.iter().filter(|(path, _)| path.as_str() != USER) {
        let hits: Vec<String> =
            title.iter().filter(|word| word.chars().count() >= 3 && said.contains_key(*word)).cloned().collect();
        if hits.len() > 1 || hits.iter().any(|word| said.get(word) == Some(&true)) {
            found.entry(hits.len()).or_default().push((path, hits));
        }
    }
    let best = found.pop_last().map(|(_, best)| best).unwrap_or_default();
    let names = best.iter().flat_map(|(_, hits)| hits.iter().cloned()).collect();
    (names, best.into_iter().map(|(path, _)| path).collect())
}

/// Of notes with the same name, the ones that a word of the message belongs to alone. Lines about what the message is about
/// do not count: that both have a birthday in June tells nobody apart.
fn told_apart<'n>(
    notes: &'n [(MemoryPath, String)],
    named: &[&'n MemoryPath],
    asked: &[&String],
    content: &[String],
) -> Vec<&'n MemoryPath> {
    let is_asked = |line: &&str| {
        let key = line.split_once(':').map(|(key, _)| stems(key)).unwrap_or_default();
        key.is_empty() || !key.iter().all(|stem| content.contains(stem))
    };
    let texts = notes.iter().filter(|(path, _)| named.contains(&path));
    let texts: Vec<(&MemoryPath, HashSet<String>)> =
        texts.map(|(path, text)| (path, text.lines().filter(is_asked).flat_map(stems).collect())).collect();
    let mut told = Vec::new();
    for word in asked {
        let stems = cues::stems_of(word);
        let mut having = texts.iter().filter(|(_, all)| stems.iter().any(|stem| all.contains(stem)));
        if let (Some((path, _)), None) = (having.next(), having.next())
            && !told.contains(path)
        {
            told.push(*path);
        }
    }
    told
}

/// The lines that can be chosen: what stands in lists, once in its note. Others can be quoted.
fn lines(notes: &[(MemoryPath, String)]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for (path, text) in notes {
        let mut counts = HashMap::<&str, usize>::new();
        for line in text.lines() {
            *counts.entry(line).or_default() += 1;
        }
        for line in text.lines() {
            let says = !line.trim().is_empty()
                && !line.starts_with('#')
                && !line.trim().chars().all(|one| "-=|:* ".contains(one));
            let is_plain = !line.chars().any(|character| character.is_control() && character != '\t');
            if says && is_plain {
                let kept = kept(line).filter(|_| counts.get(line) == Some(&1));
                lines.push(Line { path, text: line, kept, stems: stems(line), score: 0, is_keyed: false });
            }
        }
    }
    lines
}

/// What stays at the start of a line of a list when it says something else: the mark, and the key where there is one.
fn kept(line: &str) -> Option<&str> {
    let start = line.len() - line.trim_start().len();
    let item = line.get(start..)?;
    let mark = ["- ", "* ", "+ "].into_iter().find(|mark| item.starts_with(mark))?;
    let rest = item.get(mark.len()..)?;
    let key = rest.find(':').filter(|at| !rest.get(..*at).unwrap_or_default().contains("[["));
    let kept = match key {
        Some(at) => {
            let value = rest.get(at + 1..)?.trim_start_matches(['*', '_']);
            let value = value.strip_prefix(' ').unwrap_or(value);
            line.len() - value.len()
        }
        None => start + mark.len(),
    };
    (kept < line.len()).then(|| line.get(..kept)).flatten()
}

/// Says of each line how much it has to do with the message: with all its words for the score, and with those that are no cues
/// for whether it speaks of just this.
fn score(
    lines: &mut [Line<'_>],
    titles: &[(&MemoryPath, HashSet<String>)],
    (all, content): (&[String], &[String]),
    is_first_person: bool,
) {
    let stems_of = |words: &[String]| -> Vec<Vec<String>> {
        let words: BTreeSet<&String> = words.iter().collect();
        words.into_iter().map(|word| cues::stems_of(word)).collect()
    };
    let (wanted, plain) = (stems_of(all), stems_of(content));
    for line in lines {
        let is_user = line.path.as_str() == USER;
        let title = titles.iter().find(|(path, _)| *path == line.path && !is_user).map(|(_, title)| title);
        let in_line = wanted.iter().filter(|stems| stems.iter().any(|stem| line.stems.contains(stem))).count();
        let in_title = wanted.iter().filter(|stems| {
            !stems.iter().any(|stem| line.stems.contains(stem))
                && title.is_some_and(|title| stems.iter().any(|stem| title.contains(stem)))
        });
        if in_line > 0 {
            line.score = 2 * (in_line + in_title.count()) + usize::from(is_user && is_first_person);
        }
        let key = stems(line.text.split(':').next().unwrap_or_default());
        let said = |stem: &String| plain.iter().any(|stems| stems.contains(stem));
        let is_generic = |stem: &String| GENERIC.iter().any(|generic| words::stem(generic) == stem.as_str());
        line.is_keyed =
            line.text.contains(':') && !key.is_empty() && key.iter().all(said) && !key.iter().all(is_generic);
    }
}

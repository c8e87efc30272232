//! Whom a message means: notes by their names, by what they are to others ("my brother's wife"), by their sort ("the dog").
//!
//! Owns the way from the words of a message to a note, over links of which the message says the keys. Nothing here is sure.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::USER;
use super::cues::{self, Word};
use super::line::{Line, stems};
use crate::note::{stem, words};
use crate::path::MemoryPath;
use crate::rank::is_function_word;

/// How many links a message goes along.
const MOST_LINKS: usize = 3;
/// An alias stands in the first lines of its note.
const MOST_FRONT: usize = 12;

/// What a message is about, as far as notes tell.
#[derive(Debug, Default)]
pub(super) struct Meant<'n> {
    /// The notes it is about; none where nothing says so.
    pub(super) notes: Vec<&'n MemoryPath>,
    /// The notes that a name in it may mean, where nothing tells which.
    pub(super) between: Vec<&'n MemoryPath>,
    /// The lines with the links that lead to the note.
    pub(super) trail: Vec<(&'n MemoryPath, &'n str)>,
    /// The stems of the message that say all this.
    pub(super) used: HashSet<String>,
}

/// What is known of the notes and the message.
pub(super) struct Looking<'l, 'n> {
    pub(super) notes: &'n [(MemoryPath, String)],
    pub(super) lines: &'l [Line<'n>],
    pub(super) titles: &'l [(&'n MemoryPath, HashSet<String>)],
    /// The message without the words that say what is wanted: a sentence may begin with one, and a note be called so.
    pub(super) rest: &'l str,
    /// The words of the message that say something.
    pub(super) content: &'l [Word],
    /// Whether the person speaks of themselves.
    pub(super) own: bool,
    /// Whether something is asked.
    pub(super) asks: bool,
}

impl<'n> Looking<'_, 'n> {
    /// Finds what the message is about.
    pub(super) fn find(&self) -> Meant<'n> {
        let (names, named) = self.named();
        let mut meant = Meant { used: names.into_iter().collect(), ..Meant::default() };
        match named.as_slice() {
            [] => {
                if self.own
                    && let Some((user, _)) = self.notes.iter().find(|(path, _)| path.as_str() == USER)
                {
                    self.follow(user, &mut meant);
                }
                if meant.trail.is_empty()
                    && let Some((path, sort)) = self.of_sort()
                {
                    meant.used.extend(sort);
                    self.follow(path, &mut meant);
                    if meant.trail.is_empty() {
                        meant.notes = vec![path];
                    }
                }
            }
            [one] => {
                meant.notes = vec![one];
                self.follow(one, &mut meant);
            }
            several => {
                let told = self.told_apart(several, &meant.used);
                if told.is_empty() { meant.between = several.to_vec() } else { meant.notes = told }
            }
        }
        meant
    }

    /// Goes along the links whose keys the message says, and sets the note at their end.
    fn follow(&self, start: &'n MemoryPath, meant: &mut Meant<'n>) {
        let mut here = start;
        for _ in 0..MOST_LINKS {
            let Some((line, used)) = self.next(here, start, &meant.used) else { break };
            let Some(target) = self.target(line.text).filter(|target| *target != here) else { break };
            meant.trail.push((line.path, line.text));
            meant.used.extend(used);
            meant.notes = vec![target];
            here = target;
        }
    }

    /// The link of a note that the message says next, with the words that say it.
    fn next(
        &self,
        here: &MemoryPath,
        start: &MemoryPath,
        used: &HashSet<String>,
    ) -> Option<(&Line<'n>, HashSet<String>)> {
        let own = || self.lines.iter().filter(|line| line.path == here && !line.key.is_empty() && !line.is_generic());
        let is_free = |word: &&Word| !used.contains(&word.stem);
        let mut best: Option<((bool, usize), &Line<'n>, HashSet<String>)> = None;
        for line in own().filter(|line| line.is_link()) {
            let key = || line.key.iter().filter(|stem| !is_function_word(stem));
            let said: Vec<(usize, &Word)> = key()
                .filter_map(|stem| self.content.iter().enumerate().find(|(_, word)| is_free(word) && word.means(stem)))
                .collect();
            if said.is_empty() || said.len() < key().count() {
                continue;
            }
            let is_other = !said.iter().all(|(_, word)| key().any(|stem| word.is(stem)));
            let at = said.iter().map(|(at, _)| *at).min().unwrap_or(usize::MAX);
            if best.as_ref().is_none_or(|(order, ..)| (is_other, at) < *order) {
                let used = said.into_iter().map(|(_, word)| word.stem.clone()).collect();
                best = Some(((is_other, at), line, used));
            }
        }
        let ((is_other, _), line, said) = best?;
        // A fact that is called just so is meant rather than a link that is called otherwise.
        let is_fact = |line: &Line<'_>| {
            !line.is_link() && line.key.iter().all(|stem| self.content.iter().filter(is_free).any(|word| word.is(stem)))
        };
        (!(is_other && here != start && own().any(is_fact))).then_some((line, said))
    }

    /// The note that the first link of a line leads to.
    fn target(&self, line: &str) -> Option<&'n MemoryPath> {
        let written = match line.split_once("[[") {
            Some((_, rest)) => rest.split("]]").next()?.split(['|', '#']).next()?,
            None => line.split_once("](")?.1.split([')', '#']).next()?,
        };
        let name = words::fold(written.trim().rsplit('/').next()?.trim_end_matches(".md"));
        let is_called = |path: &MemoryPath| words::fold(super::stem(path)) == name;
        let is_alias = |text: &str| {
            text.lines().take(MOST_FRONT).any(|line| {
                let line = words::fold(line.trim().trim_start_matches(['#', '-']).trim());
                let listed = line.strip_prefix("aliases:").map(|rest| rest.trim().trim_matches(['[', ']']));
                line == name || listed.is_some_and(|all| all.split(',').any(|alias| alias.trim() == name))
            })
        };
        let found = self.notes.iter().find(|(path, _)| is_called(path));
        found.or_else(|| self.notes.iter().find(|(_, text)| is_alias(text))).map(|(path, _)| path)
    }

    /// Whether the person tells of themselves by these words: where a fact of theirs has them, and says more of the message.
    fn is_own_fact(&self, words: &[String]) -> bool {
        let own = self.lines.iter().filter(|line| line.path.as_str() == USER && !line.is_link());
        let says_more = |value: HashSet<String>| {
            let said = value.iter().filter(|stem| self.content.iter().any(|word| word.is(stem))).count();
            said > words.len() && words.iter().all(|word| value.contains(word))
        };
        self.own && !self.asks && own.map(|line| line.value().map(stems).unwrap_or_default()).any(says_more)
    }

    /// The one note that is of a sort that the message speaks of.
    fn of_sort(&self) -> Option<(&'n MemoryPath, HashSet<String>)> {
        let sorts = self.lines.iter().filter(|line| {
            let is_sort = !line.key.is_empty() && line.is_generic() && !line.is_link() && line.path.as_str() != USER;
            let value = line.value().map(stems).unwrap_or_default();
            is_sort && !value.is_empty() && value.iter().all(|stem| self.content.iter().any(|word| word.is(stem)))
        });
        let mut sorts = sorts.map(|line| (line.path, line.value().map(stems).unwrap_or_default()));
        let (path, value) = sorts.next()?;
        if sorts.any(|(other, _)| other != path) {
            return None;
        }
        if self.is_own_fact(&value.iter().cloned().collect::<Vec<_>>()) {
            return None;
        }
        let used = self.content.iter().filter(|word| value.iter().any(|stem| word.is(stem)));
        Some((path, used.map(|word| word.stem.clone()).collect()))
    }

    /// The notes that a message names, with the words by which it does: a word with a capital, or two words of a title.
    fn named(&self) -> (HashSet<String>, Vec<&'n MemoryPath>) {
        let mut said = HashMap::<String, bool>::new();
        words::each(self.rest, &mut |word, range| {
            let is_capital = self.rest.get(range).and_then(|text| text.chars().next()).is_some_and(char::is_uppercase);
            *said.entry(stem::english(word)).or_default() |= is_capital;
        });
        let mut found = BTreeMap::<usize, Vec<(&MemoryPath, Vec<String>)>>::new();
        for (path, title) in self.titles.iter().filter(|(path, _)| path.as_str() != USER) {
            let names =
                |word: &&String| word.chars().count() >= 3 && !is_function_word(word) && said.contains_key(*word);
            let hits: Vec<String> = title.iter().filter(names).cloned().collect();
            let is_name = hits.len() > 1 || hits.iter().any(|word| said.get(word) == Some(&true));
            if is_name && !self.is_own_fact(&hits) {
                found.entry(hits.len()).or_default().push((path, hits));
            }
        }
        let best = found.pop_last().map(|(_, best)| best).unwrap_or_default();
        let names = best.iter().flat_map(|(_, hits)| hits.iter().cloned()).collect();
        (names, best.into_iter().map(|(path, _)| path).collect())
    }

    /// Of notes with the same name, the ones that a word of the message belongs to alone. Lines about what the message is
    /// about do not count: that both have a birthday in June tells nobody apart.
    fn told_apart(&self, named: &[&'n MemoryPath], names: &HashSet<String>) -> Vec<&'n MemoryPath> {
        let is_asked = |line: &&str| {
            let key = line.split_once(':').map(|(key, _)| stems(key)).unwrap_or_default();
            key.is_empty() || !key.iter().all(|stem| self.content.iter().any(|word| word.stem == *stem))
        };
        let texts = self.notes.iter().filter(|(path, _)| named.contains(&path));
        let texts: Vec<(&MemoryPath, HashSet<String>)> =
            texts.map(|(path, text)| (path, text.lines().filter(is_asked).flat_map(stems).collect())).collect();
        let mut told = Vec::new();
        for word in self.content.iter().filter(|word| !names.contains(&word.stem)) {
            let mut having = texts.iter().filter(|(_, all)| cues::is_in(word, all));
            if let (Some((path, _)), None) = (having.next(), having.next())
                && !told.contains(path)
            {
                told.push(*path);
            }
        }
        told
    }
}

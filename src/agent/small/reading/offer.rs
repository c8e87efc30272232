//! What the grammar of a turn offers, after a message was read: lines to quote, to change and to delete, and notes to add to.

use std::collections::BTreeSet;

use super::{Kind, Reading};
use crate::agent::small::line::{self, Line, Sort};
use crate::agent::small::meant::Meant;
use crate::agent::small::{USER, stem};
use crate::catalog::grammar::{Ask, Change, Offer, Quote, Says};
use crate::path::MemoryPath;

/// A line with two words of the message has to do with it surely.
const SURE: usize = 4;
/// How many lines may be quoted, or chosen among, at most; a small model gets lost in more, and its grammar slow.
const MOST_LINES: usize = 240;
/// A longer value is not said word by word.
const MOST_SAID: usize = 80;

impl<'n> Reading<'n> {
    /// What the model may do, without what the session does not let it.
    pub(in crate::agent::small) fn offer(&self, message: &'n str, writes: bool) -> Offer<'_> {
        let has = |kind: Kind| self.kinds.contains(&kind);
        let mut offer = Offer {
            message,
            two: self.has_and,
            unknown: has(Kind::Unknown),
            surely: self.trust.tiny,
            talk: has(Kind::Talk),
            ..Offer::default()
        };
        if has(Kind::Question) {
            self.offer_answers(&mut offer);
        }
        if has(Kind::Unclear) {
            let title = |path: &&MemoryPath| spoken(path);
            let between = self.meant.between.iter().map(title).collect::<Vec<_>>().join(" or ");
            offer.ask = Some(if between.is_empty() { Ask::Anything } else { Ask::Between(between) });
        }
        if writes && has(Kind::Change) {
            offer.changes = self.changes();
        }
        if writes && has(Kind::Forget) {
            offer.gone = self.whole_note();
            let related = self.related(&|line| line.score > 0);
            let lines = related.into_iter().filter(|_| offer.gone.is_none()).take(MOST_LINES);
            offer.deletions = lines.map(|line| (line.path, line.text)).collect();
        }
        if writes && (has(Kind::New) || has(Kind::Change) && offer.changes.is_empty()) {
            offer.homes = self.homes();
        }
        if !writes && offer.quotes.is_empty() && offer.trail.is_empty() && !offer.talk {
            offer.talk = true;
        }
        offer
    }

    fn offer_answers<'r>(&'r self, offer: &mut Offer<'r>) {
        let quote = |line: &&Line<'n>| Quote { path: line.path, line: line.text, says: self.says(line) };
        offer.quotes = self.quotes().iter().map(quote).collect();
        let is_fact = |line: &&Line<'_>| !line.is_link() && line.score >= SURE;
        offer.to_the_fact = self.meant.trail.is_empty() && self.lines.iter().any(|line| is_fact(&line));
        offer.trail.clone_from(&self.meant.trail);
        if self.trust.tiny && self.cues.who && self.asked == 0 && !offer.trail.is_empty() {
            offer.quotes.clear();
        }
        let led =
            self.meant.trail.last().and_then(|last| self.lines.iter().find(|line| (line.path, line.text) == *last));
        offer.alone = led.filter(|_| self.asked == 0 || self.has_and).map(|line| Quote {
            path: line.path,
            line: line.text,
            says: self.says(line),
        });
    }

    /// What a reply from a line says: a tiny model is not asked for words of its own, and one that may say nothing but what it
    /// quotes says its value.
    fn says(&self, line: &Line<'_>) -> Says {
        let value = line.value().filter(|_| self.trust.quoting && !line.text.starts_with('|')).map(plain);
        let Some(value) = value.filter(|value| !value.is_empty() && value.chars().count() <= MOST_SAID) else {
            return Says::Anything;
        };
        if !self.trust.tiny {
            return Says::Holding(value);
        }
        let key = line::key(line.text).map(|key| titled(key.trim_matches(['-', '*', '+', '_', ' '])));
        let note = (line.path.as_str() != USER).then(|| spoken(line.path));
        let about: Vec<String> = note.into_iter().chain(key).collect();
        Says::Just(if about.is_empty() { value } else { format!("{}: {value}", about.join(", ")) })
    }

    /// The lines that may be replaced, with the values that may be.
    fn changes(&self) -> Vec<Change<'_>> {
        // What is kept takes no other line away than the one that says just this.
        let is_strict = self.cues.keep || !(self.cues.change || self.cues.correct);
        let mut chosen = self.related(&|line| line.is_keyed || !is_strict && line.is_told);
        if chosen.is_empty() && !is_strict {
            chosen = self.related(&|line| line.score > 0);
        }
        // Where nothing is near, a model that can be trusted with it may still find the text that is meant.
        let is_far = chosen.is_empty() && !self.trust.tiny && !is_strict;
        if is_far {
            chosen = self.writable().filter(|line| !line.is_generic() || line.key.is_empty()).collect();
        }
        let changes = chosen.into_iter().flat_map(|line| {
            let slots = self.fitting(line).into_iter().filter(move |slot| !is_far || slot.sort() == Sort::Text);
            slots.map(|slot| Change {
                path: line.path,
                line: line.text,
                before: slot.before,
                after: slot.after,
                values: match slot.sort() {
                    Sort::Date => self.dates.clone(),
                    Sort::Number | Sort::Text => Vec::new(),
                },
                number: slot.sort() == Sort::Number,
            })
        });
        changes.take(MOST_LINES).collect()
    }

    /// Of the lines that may be written, those of a sort that have most to do with the message.
    fn related(&self, is_sort: &dyn Fn(&Line<'_>) -> bool) -> Vec<&Line<'n>> {
        let all = || self.writable().filter(|line| is_sort(line));
        let top = all().map(|line| line.score).max().unwrap_or(0);
        // Who speaks of themselves means the note about them, where it says as much as another.
        let is_own = self.cues.own && all().any(|line| line.score == top && line.path.as_str() == USER);
        let least = if is_own { top } else { top.saturating_sub(1) };
        all().filter(|line| line.score >= least).collect()
    }

    /// The lines that may be quoted: of the notes that are meant and what they lead to, else of all.
    fn quotes(&self) -> Vec<&Line<'n>> {
        let near = self.near();
        let is_fact = |line: &&&Line<'_>| !line.is_link();
        let top = near.iter().filter(is_fact).filter(|line| line.is_meant).map(|line| line.score).max();
        // A tiny model takes any line that looks like an answer: where one speaks of just what is asked, only such are left.
        let is_left = |line: &&&Line<'_>| {
            let is_best = |top: usize| is_fact(line) && line.is_meant && line.score + 1 >= top;
            !self.trust.tiny || top.is_none_or(is_best)
        };
        near.iter().filter(is_left).take(MOST_LINES).copied().collect()
    }

    fn near(&self) -> Vec<&Line<'n>> {
        let Meant { notes, trail, .. } = &self.meant;
        if !trail.is_empty() {
            return self.lines.iter().filter(|line| notes.contains(&line.path)).collect();
        }
        if notes.is_empty() && self.cues.own {
            let own = || self.lines.iter().filter(|line| line.path.as_str() == USER);
            if own().any(|line| line.is_keyed && !line.is_link()) {
                return own().collect();
            }
        }
        let is_told = |line: &&Line<'_>| notes.contains(&line.path) && line.is_meant;
        if self.trust.tiny && self.lines.iter().any(|line| is_told(&line)) {
            return self.lines.iter().filter(|line| notes.contains(&line.path)).collect();
        }
        let paths: BTreeSet<&MemoryPath> = self.lines.iter().map(|line| line.path).collect();
        let led_to: BTreeSet<&MemoryPath> = paths.into_iter().filter(|path| self.is_led_to(path)).collect();
        let is_near = |line: &&Line<'_>| {
            notes.is_empty() || notes.contains(&line.path) || line.score > 0 || led_to.contains(line.path)
        };
        self.lines.iter().filter(is_near).collect()
    }

    /// Whether a note that is meant links to this one.
    fn is_led_to(&self, path: &MemoryPath) -> bool {
        let mut lines = self.lines.iter().filter(|line| self.meant.notes.contains(&line.path));
        lines.any(|line| line.text.contains("[[") && line.text.contains(stem(path)))
    }

    /// The notes to which a new line may go.
    fn homes(&self) -> Vec<&'n MemoryPath> {
        let all = || self.paths.iter().copied();
        let user = all().find(|path| path.as_str() == USER).filter(|_| self.cues.own || self.meant.notes.is_empty());
        let homes: Vec<&MemoryPath> = self.meant.notes.iter().copied().chain(user).collect();
        if !homes.is_empty() {
            return homes;
        }
        all().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// How a note is called when it is spoken of.
fn spoken(path: &MemoryPath) -> String {
    titled(stem(path))
}

/// A name of a file as people write it.
fn titled(name: &str) -> String {
    let words = name.split(['_', ' ']).filter(|word| !word.is_empty()).map(|word| {
        let mut characters = word.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>()).unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A value as it is said: links by what they are called.
fn plain(value: &str) -> String {
    let mut said = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("[[")
        && let Some((link, behind)) = after.split_once("]]")
    {
        said.push_str(before);
        let shown = link.split_once('|').map(|(_, shown)| shown.to_owned());
        said.push_str(
            &shown.unwrap_or_else(|| titled(link.rsplit('/').next().unwrap_or(link).trim_end_matches(".md"))),
        );
        rest = behind;
    }
    said.push_str(rest);
    let said = said.trim().trim_end_matches('.');
    if said.contains(['<', '(', '?', '*', '`']) { String::new() } else { said.to_owned() }
}

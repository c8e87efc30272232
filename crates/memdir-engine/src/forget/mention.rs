//! [`Mention`]: a line of another note that links to the note to forget, or names it.

use std::collections::HashMap;

use serde::Serialize;

use memdir_core::path::MemoryPath;
use memdir_note::{Note, words};
use memdir_plan::MIN_TEXT_CHARS;

/// A line that speaks of a note.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Mention {
    /// The note that it stands in.
    pub path: String,
    /// Its number there, from 1.
    pub line: usize,
    /// The line, without the white space around it.
    pub text: String,
}

impl Mention {
    /// The lines of a note that start at these places, in order. One that is too short to be told from others is left out.
    pub(super) fn at(path: &MemoryPath, text: &str, starts: Vec<usize>) -> Vec<Self> {
        let (mut number, mut counted) = (1, 0);
        let mention = |start: usize| {
            number += memchr::memchr_iter(b'\n', text.get(counted..start).unwrap_or_default().as_bytes()).count();
            counted = start;
            let line = text.get(start..)?.lines().next()?.trim_ascii();
            let is_long = line.chars().filter(|character| character.is_alphanumeric()).count() >= MIN_TEXT_CHARS;
            is_long.then(|| Self { path: path.to_string(), line: number, text: line.to_owned() })
        };
        starts.into_iter().filter_map(mention).collect()
    }
}

/// What a note is called in a text: its title, its aliases, and its file names; each as its folded words.
#[derive(Debug, Default)]
pub(super) struct Spoken(HashMap<String, Vec<Vec<String>>>);

impl Spoken {
    /// Takes the names that a note has or had, and its text as far as it is there.
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p MemoryPath>, text: Option<&str>) -> Self {
        let mut names: Vec<String> = paths.map(|path| path.stem().to_owned()).collect();
        if let Some(text) = text {
            let note = Note::parse(text);
            names.extend(note.title());
            names.extend(note.aliases());
        }
        let mut spoken = Self::default();
        for name in names {
            let words = words_of(&name);
            let letters: usize = words.iter().map(|word| word.chars().count()).sum();
            // In scripts without blanks two letters are a word.
            let is_pair = letters > 1 && name.chars().all(words::is_unspaced);
            if (letters >= MIN_TEXT_CHARS || is_pair)
                && let Some((first, rest)) = words.split_first()
            {
                let known = spoken.0.entry(first.clone()).or_default();
                if !known.iter().any(|known| known == rest) {
                    known.push(rest.to_vec());
                }
            }
        }
        spoken
    }

    /// Where the lines of a text start that hold one of the names, whole words of any case.
    pub(super) fn lines(&self, text: &str) -> Vec<usize> {
        let (mut starts, mut start) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            if self.is_in(&words_of(line)) {
                starts.push(start);
            }
            start += line.len();
        }
        starts
    }

    fn is_in(&self, line: &[String]) -> bool {
        let follows = |at: usize, rest: &[String]| line.get(at + 1..).is_some_and(|next| next.starts_with(rest));
        let names = |word: &String| self.0.get(word).into_iter().flatten();
        line.iter().enumerate().any(|(at, word)| names(word).any(|rest| follows(at, rest)))
    }
}

fn words_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each(text, &mut |word, _| found.push(word.to_owned()));
    found
}

#[cfg(test)]
mod tests {
    use super::{Mention, Spoken};
    use memdir_core::path::MemoryPath;

    #[test]
    fn lines_that_hold_a_name_are_found() {
        let path = MemoryPath::parse("people/jane_doe.md").unwrap();
        let text = "---\naliases: [Janie]\n---\n# Dr. Jane M. Doe\n";
        let spoken = Spoken::of([path].iter(), Some(text));
        let note = "# Ada\n\n- met jane DOE's son\n- Janie\r\n- Jane and Doe\n- janies\n\nDr Jane M Doe";
        let source = MemoryPath::parse("user.md").unwrap();
        let lines: Vec<_> = Mention::at(&source, note, spoken.lines(note)).into_iter().map(|line| line.line).collect();
        assert_eq!(lines, [3, 4, 8]);
        let short = MemoryPath::parse("ex.md").unwrap();
        assert!(Spoken::of([short].iter(), None).lines("my ex is here\n").is_empty());
        let [pair, one] = ["健太.md", "健.md"].map(|name| MemoryPath::parse(name).unwrap());
        assert_eq!(Spoken::of([pair].iter(), None).lines("我和健太去\n"), [0]);
        assert!(Spoken::of([one].iter(), None).lines("健 健太\n").is_empty());
    }
}

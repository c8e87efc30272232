//! The names of notes, and which of them a text says.

use std::ops::Range;

use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::{Note, words};
use unicode_normalization::UnicodeNormalization;

/// A note, and what it is called.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NoteNames {
    /// Where it is.
    pub path: MemoryPath,
    /// Its title and its aliases; where it has none, its file name.
    pub names: Vec<String>,
}

/// How many letters and digits the shortest names have, such as `Bo` and `健太`.
const SHORT: usize = 2;
/// How many notes that a name can mean are listed.
const MOST_LISTED: usize = 5;

impl NoteNames {
    /// The names of a note that says this.
    #[must_use]
    pub fn of(path: &MemoryPath, text: &str) -> Self {
        let note = Note::parse(text);
        Self::new(path.clone(), note.title(), note.aliases())
    }

    pub(crate) fn new(path: MemoryPath, title: Option<String>, aliases: Vec<String>) -> Self {
        let mut names: Vec<String> = title.into_iter().chain(aliases).collect();
        if names.is_empty() {
            names.push(path.stem().to_owned());
        }
        Self { path, names }
    }

    pub(crate) fn has_short(&self) -> bool {
        self.names.iter().any(|name| is_short(name))
    }
}

/// The note whose title or alias comes first in a text, the longest where several begin there; `None` where it says none. Short
/// names count only of notes that are `known`.
///
/// # Errors
///
/// `ambiguous_link` where several notes are called so.
pub(crate) fn named_first(
    text: &str,
    notes: Vec<NoteNames>,
    known: &[MemoryPath],
) -> Result<Option<MemoryPath>, Failure> {
    let places = places_of(text);
    let text_words = words_at(text, &places);
    // `Anna-Lena` is no Anna.
    let is_joined = |at: usize| text.get(..at).is_some_and(|before| before.ends_with('-'));
    let joins = |at: usize| {
        let mut rest = text.get(at..).unwrap_or_default().chars();
        rest.next() == Some('-') && rest.next().is_some_and(char::is_alphanumeric)
    };
    let (mut best, mut found) = (None, Vec::new());
    for note in notes {
        let is_known = note.has_short() && known.contains(&note.path);
        let names = note.names.iter().filter(|name| is_name(name) && (is_known || !is_short(name)));
        let starts = names.filter_map(|name| {
            let name = words_at(name, &places_of(name));
            let length = name.len().max(1);
            let at = text_words.windows(length).zip(places.windows(length)).position(|(part, places)| {
                let [Some(first), Some(last)] = [places.first(), places.last()] else { return false };
                part == name && !is_joined(first.start) && !joins(last.end)
            })?;
            Some((at, std::cmp::Reverse(name.len())))
        });
        let Some(start) = starts.min() else { continue };
        if best.is_none_or(|best| start < best) {
            (best, found) = (Some(start), Vec::new());
        }
        if best == Some(start) {
            found.push(note.path);
        }
    }
    found.sort_unstable();
    the_only("the text", found.iter())
}

/// Whether a title or an alias can stand for its note in a sentence. One that begins with a small letter, or is as short as `I`,
/// occurs in ordinary sentences; a model with write access to a single note could use it to attract what the person says.
fn is_name(name: &str) -> bool {
    letters(name) >= SHORT && !name.trim_start().starts_with(char::is_lowercase)
}

/// Whether a name is as short as `My` and `Bo`.
fn is_short(name: &str) -> bool {
    letters(name) == SHORT
}

fn letters(name: &str) -> usize {
    name.chars().filter(|character| character.is_alphanumeric()).count()
}

fn places_of(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    words::each(text, &mut |_, place| places.push(place));
    places
}

/// The words of a text as they are written, in one form of Unicode and with one apostrophe: who writes of a home does not mean the
/// note Home.
fn words_at(text: &str, places: &[Range<usize>]) -> Vec<String> {
    let word = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default().nfc().collect::<String>();
    places.iter().map(|place| word(place).replace('\u{2019}', "'")).collect()
}

/// The only note of several that `said`, a name in backticks or a noun, can mean; `None` where there is none.
///
/// # Errors
///
/// `ambiguous_link`, with the first few, where there are more.
pub fn the_only<'n>(said: &str, found: impl Iterator<Item = &'n MemoryPath>) -> Result<Option<MemoryPath>, Failure> {
    let found: Vec<&MemoryPath> = found.collect();
    let [first, _, ..] = found.as_slice() else { return Ok(found.first().map(|path| (*path).clone())) };
    let listed: Vec<String> = found.iter().take(MOST_LISTED).map(|path| format!("`{path}`")).collect();
    let more = found.len().checked_sub(MOST_LISTED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let message = format!("{said} can mean {}{more}", listed.join(", "));
    Err(Failure::new(Code::AmbiguousLink, message).with_hint(format!("give its path, such as `{first}`")))
}

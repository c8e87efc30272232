//! Words of a question that no note holds, and what was probably meant.

use super::{Asking, Question, Source, SourceError};
use crate::note::words;

/// A word of fewer letters is spelled like too many others.
const FEWEST_LETTERS: usize = 4;
/// So many words of a question are looked at: all words of all notes are compared with each.
const MOST_WORDS: usize = 3;

/// The question with words of the notes in the place of those that none holds; `None` where nothing is to be corrected.
///
/// Nothing is where most words are known: what notes do not say in these words is mostly right and means something else
/// than the word that is spelled most like it.
pub(super) fn corrected(
    source: &dyn Source,
    question: &Question,
    asking: &Asking<'_>,
) -> Result<Option<Question>, SourceError> {
    let mut unknown = Vec::new();
    for (number, word) in question.words().iter().enumerate() {
        if source.holding(word)? == 0 {
            unknown.push((number, word));
        }
    }
    if unknown.len() * 2 < question.words().len() {
        return Ok(None);
    }
    let mut corrected = None::<Question>;
    for (number, word) in
        unknown.into_iter().filter(|(_, word)| word.chars().count() >= FEWEST_LETTERS).take(MOST_WORDS)
    {
        asking.check()?;
        let meant = source.spelled_like(word)?;
        let known = corrected.as_ref().unwrap_or(question);
        if let Some(meant) = meant.filter(|meant| !known.words().contains(meant)) {
            corrected = Some(known.with(number, meant));
        }
    }
    Ok(corrected)
}

/// A corrected question as it would be typed: a word as it stands in the first text that holds it, else its stem.
pub(super) fn typed<'t>(
    asked: &Question,
    corrected: &Question,
    texts: impl Iterator<Item = &'t str> + Clone,
) -> String {
    let mut typed = asked.text().to_owned();
    let mut done = typed.len();
    // From the end, so that the bytes before stay where they are; `camelCase` is a word and two, written once.
    for said in asked.said().iter().rev() {
        let Some(number) = said.word else { continue };
        let (Some(old), Some(new)) = (asked.words().get(number), corrected.words().get(number)) else { continue };
        if old != new && said.range.end <= done && typed.get(said.range.clone()).is_some() {
            done = said.range.start;
            let word = texts.clone().find_map(|text| form(text, new)).unwrap_or_else(|| new.clone());
            typed.replace_range(said.range.clone(), &word);
        }
    }
    typed
}

/// The first word of a text with a stem.
fn form(text: &str, stem: &str) -> Option<String> {
    let mut found = None;
    words::each(text, &mut |word, _| {
        if found.is_none() && word.as_bytes().first() == stem.as_bytes().first() && words::stem(word) == stem {
            found = Some(word.to_owned());
        }
    });
    found
}

//! Replies that say that something was saved.
//!
//! Owns which sentences say so. A sentence that is missed lets a false word through; one that is taken wrongly costs a turn and
//! then words of the reply: so what is not clear is no claim. Touches nothing but text; linear in its length.

use std::ops::Range;
use std::sync::OnceLock;

use regex::RegexSet;

use super::sentence;
use table::{LANGUAGES, Language, Row};

mod table;

/// What is claimed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    /// Something was saved, added or changed, or will be remembered.
    Saved,
    /// Something was deleted or forgotten.
    Deleted,
}

/// A sentence that says that something was done to the memory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Claim {
    /// What it says.
    pub(super) kind: Kind,
    /// Its bytes, with the marks and blanks behind it.
    pub(super) sentence: Range<usize>,
}

/// The sentences of a reply that say that something was saved, changed or deleted, in their order.
///
/// Not those that ask, offer, deny, quote, or tell what a note says or what was done before.
pub(super) fn find(reply: &str) -> Vec<Claim> {
    let Some(sets) = sets() else { return Vec::new() };
    let shown = without_quotes(reply);
    let claims = sentence::of(&shown).filter_map(|sentence| {
        let kind = sets.kind(&plain(shown.get(sentence.clone())?))?;
        Some(Claim { kind, sentence })
    });
    claims.collect()
}

/// Takes these claims out of the reply in which they were found; `None` where nothing is left.
pub(super) fn remove(reply: &str, claims: &[Claim]) -> Option<String> {
    let mut left = String::with_capacity(reply.len());
    let mut from = 0;
    for claim in claims {
        left.push_str(reply.get(from..claim.sentence.start).unwrap_or_default());
        from = claim.sentence.end;
        // The line that it ended ends still.
        let ends =
            reply.get(claim.sentence.clone()).is_some_and(|sentence| sentence.trim_end_matches(' ').ends_with('\n'));
        left.push_str(if ends && !left.is_empty() && !left.ends_with('\n') { "\n" } else { "" });
    }
    left.push_str(reply.get(from..).unwrap_or_default());
    let left = left.trim();
    left.contains(char::is_alphanumeric).then(|| left.to_owned())
}

/// The rows, compiled: a sentence makes the claim of a row when the row's pattern matches, and what speaks against it does not.
struct Sets {
    claims: RegexSet,
    against: RegexSet,
    kinds: Vec<Kind>,
}

fn sets() -> Option<&'static Sets> {
    static SETS: OnceLock<Option<Sets>> = OnceLock::new();
    SETS.get_or_init(|| Sets::of(LANGUAGES).ok()).as_ref()
}

impl Sets {
    fn of(languages: &[Language]) -> Result<Self, regex::Error> {
        let rows = || languages.iter().flat_map(|language| language.rows.iter().map(move |row| (language, row)));
        Ok(Self {
            claims: RegexSet::new(rows().map(|(_, row)| row.pattern))?,
            against: RegexSet::new(rows().map(|(language, row)| against(language, row)))?,
            kinds: rows().map(|(_, row)| row.kind).collect(),
        })
    }

    /// What a sentence claims that [`plain`] has made.
    fn kind(&self, sentence: &str) -> Option<Kind> {
        let claims = self.claims.matches(sentence);
        if !claims.matched_any() {
            return None;
        }
        let against = self.against.matches(sentence);
        let kinds = claims.iter().filter(|row| !against.matched(*row)).filter_map(|row| self.kinds.get(row).copied());
        kinds.min()
    }
}

/// What speaks against the claim of a row: words that turn its meaning before it, or anywhere in the sentence.
fn against(language: &Language, row: &Row) -> String {
    let Language { before, right_before, anywhere, .. } = language;
    let pattern = row.pattern;
    let own = if row.unless.is_empty() { String::new() } else { format!("|{}", row.unless) };
    format!(
        " (?:{before})(?: [^ ]+)*(?:{pattern})| (?:{right_before})(?: [^ ,;:.!?–—-][^ ]*){{0,6}}(?: :)?(?:{pattern})| (?:{anywhere}) {own}"
    )
}

/// A text of the same length in which quotes, code and quoted lines are blanks.
fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_block = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        if is_block || is_fence || line.trim_start().starts_with('>') {
            line.chars().for_each(|character| blank(character, &mut out));
            is_block ^= is_fence;
            continue;
        }
        let mut rest = line;
        let mut unclosed = Vec::new();
        let opens = |mark: char, unclosed: &[char]| closing(mark).is_some() && !unclosed.contains(&mark);
        while let Some((at, mark)) = rest.char_indices().find(|(_, mark)| opens(*mark, &unclosed)) {
            let behind = rest.get(at + mark.len_utf8()..).unwrap_or_default();
            let end = behind.find(|other| closing(mark).is_some_and(|marks| marks.contains(&other)));
            out.push_str(rest.get(..at).unwrap_or_default());
            let Some(end) = end else {
                // From here on in this line no quote of this kind is closed.
                unclosed.push(mark);
                blank(mark, &mut out);
                rest = behind;
                continue;
            };
            let (quoted, left) = behind.split_at_checked(end).unwrap_or((behind, ""));
            std::iter::once(mark).chain(quoted.chars()).for_each(|character| blank(character, &mut out));
            let mut left = left.chars();
            left.next().into_iter().for_each(|character| blank(character, &mut out));
            rest = left.as_str();
        }
        out.push_str(rest);
    }
    out
}

/// What ends a quote that starts with this mark.
fn closing(mark: char) -> Option<&'static [char]> {
    match mark {
        '"' => Some(&['"']),
        '`' => Some(&['`']),
        '“' => Some(&['”']),
        '„' => Some(&['“', '”']),
        '«' => Some(&['»']),
        '»' => Some(&['«']),
        _ => None,
    }
}

/// As many blanks as a character has bytes; the end of a line stays one.
fn blank(character: char, out: &mut String) {
    if character == '\n' { out.push('\n') } else { out.extend(std::iter::repeat_n(' ', character.len_utf8())) }
}

/// A sentence as the patterns want it: in lower case, each word and each mark with a blank before and behind it. Of a question
/// what stands before its last comma is left, for only the rest is asked.
fn plain(sentence: &str) -> String {
    let mut plain = String::with_capacity(sentence.len() + 16);
    plain.push(' ');
    let lower = sentence.to_lowercase();
    let mut characters = lower.chars().peekable();
    let mut is_word = false;
    let mut is_question = false;
    while let Some(character) = characters.next() {
        let goes_on = is_word && characters.peek().is_some_and(|next| next.is_alphanumeric());
        match character {
            '’' | '‘' | 'ʼ' | '\'' if is_word => plain.push('\''),
            '.' | '-' | '_' | '/' if goes_on => plain.push(character),
            '\u{307}' => {}
            _ if character.is_alphanumeric() => {
                plain.push(character);
                is_word = true;
                continue;
            }
            ',' | ';' | ':' | '.' | '!' | '?' | '–' | '—' | '-' | '(' | ')' => {
                is_question = character == '?' || (is_question && matches!(character, '!' | ')'));
                end_word(&mut plain);
                plain.extend([character, ' ']);
                is_word = false;
            }
            _ => {
                end_word(&mut plain);
                is_word = false;
            }
        }
    }
    end_word(&mut plain);
    if is_question {
        let cut = plain.rfind([',', ';', '–', '—']).unwrap_or(0);
        plain.truncate(cut);
    }
    plain
}

fn end_word(plain: &mut String) {
    if !plain.ends_with(' ') {
        plain.push(' ');
    }
}

#[cfg(test)]
mod tests;

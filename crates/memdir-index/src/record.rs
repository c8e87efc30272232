//! [`NoteRecord`]: what an index takes of one note, made apart from it so that several threads can.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use memdir_check::Look;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_note::target::stems_meant;
use memdir_note::{Card, Note, words};
use memdir_rank::{Column, Impact, called};

/// So many bytes of different words of a note are indexed; the rest of it is not found by its words.
const MOST_WORD_BYTES: usize = 256 * 1024;
/// A longer word is kept by its digest: nobody sends it, but it may have been sent.
const MOST_BYTES_OF_A_WORD: usize = 64;
/// The first of the characters that say how much of a token a note has: control characters, which the tokenizer takes for letters and
/// no word has.
const FIRST_MARK: u8 = 0x80;
/// The character that says that a key has the token, beyond those.
const KEY_MARK: char = '\u{90}';

/// What an index takes of one note.
#[derive(Clone, Debug)]
pub struct NoteRecord {
    pub(super) digest: Option<Digest>,
    pub(super) look: Vec<u8>,
    pub(super) text: Option<Text>,
}

/// What it takes of a note that is text.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) card: Vec<u8>,
    /// What the note is called.
    pub(super) names: BTreeSet<String>,
    /// The names that its links lead to.
    pub(super) links: BTreeSet<String>,
    /// Its words, as terms joined by blanks.
    pub(super) words: String,
}

impl NoteRecord {
    /// Reads a note; `active` is what a viewer would run or fetch. Linear in the text.
    #[must_use]
    pub fn of(path: &MemoryPath, text: &str, active: Vec<(usize, &'static str)>) -> Self {
        let note = Note::parse(text);
        let card = Card::of(&note);
        let look = Look::of(text, &note, active);
        let headings: Vec<_> = note.headings().iter().map(|heading| heading.shown()).collect();
        let words = indexed_words(path, text, &card, &headings);
        let stem = path.stem();
        let names = [stem].into_iter().chain(card.title.as_deref()).chain(card.aliases.iter().map(String::as_str));
        let names = names.map(called).collect();
        let links = card.seen.links.iter().flat_map(|link| names_meant(&link.path, path)).collect();
        Self {
            digest: look.digest(),
            look: encode(&look),
            text: Some(Text { card: encode(&card), names, links, words }),
        }
    }

    /// Takes what is known of a file that is called a note and is no text.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::of_look(&Look::of_bytes(bytes))
    }

    /// Takes what is known of a note that could not be read, or is too large to be.
    #[must_use]
    pub fn of_look(look: &Look) -> Self {
        Self { digest: look.digest(), look: encode(look), text: None }
    }

    /// About how many bytes it fills while it waits.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().map_or(0, |text| {
            text.card.len()
                + [&text.words].into_iter().chain(&text.names).chain(&text.links).map(String::len).sum::<usize>()
        });
        self.look.len() + text
    }

    /// The digest of the bytes of the note, where they could be read.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

/// The names under which the files are looked up that a link can lead to.
pub(super) fn names_meant(path: &str, source: &MemoryPath) -> impl Iterator<Item = String> {
    // As links are followed, and as ranking asks; hardly ever two different names.
    let written = path.trim().rsplit('/').next().unwrap_or_default();
    let written = MemoryPath::parse(written).ok().map(|file| called(file.stem()));
    stems_meant(path, source).into_iter().map(|stem| called(&stem)).chain(written)
}

/// The words of a note, each once: the tokens of its stems with how much of them the note has, joined by blanks.
fn indexed_words(path: &MemoryPath, text: &str, card: &Card, headings: &[String]) -> String {
    let bare =
        if path.is_note() { path.as_str().get(..path.as_str().len() - 3).unwrap_or_default() } else { path.as_str() };
    let (mut left, mut length) = (MOST_WORD_BYTES, 0_u32);
    let mut counted: HashMap<String, f64> = HashMap::new();
    for column in Column::ALL {
        let is_own = matches!(column, Column::Name | Column::Body);
        let mut add = |text: &str| {
            words::each(text, &mut |word, _| {
                // What stands in the other columns stands in the text as well.
                length = length.saturating_add(u32::from(is_own));
                if let Some(often) = counted.get_mut(word) {
                    *often += column.weight();
                } else if let Some(rest) = left.checked_sub(word.len().min(MOST_BYTES_OF_A_WORD) + 1) {
                    left = rest;
                    counted.insert(word.to_owned(), column.weight());
                }
            });
        };
        match column {
            Column::Title => card.title.iter().chain(&card.aliases).for_each(|name| add(name)),
            Column::Heading => headings.iter().for_each(|heading| add(heading)),
            Column::Name => add(bare),
            Column::Key => card.facts.iter().for_each(|fact| add(&fact.key)),
            Column::Tag => card.tags.iter().for_each(|tag| add(tag)),
            Column::Body => add(text),
        }
    }
    // All tokens stand in one text: a note has hundreds of them, and as many allocations would take time.
    let (mut tokens, mut places) = (String::new(), Vec::with_capacity(counted.len()));
    for (word, often) in counted {
        card.languages.stems(&word, &mut |stem| {
            let start = tokens.len();
            push_token(stem, &mut tokens);
            places.push((start..tokens.len(), often));
        });
    }
    let token_at = |place: &Range<usize>| tokens.get(place.clone()).unwrap_or_default();
    places.sort_unstable_by(|(one, _), (other, _)| token_at(one).cmp(token_at(other)));
    let mut terms = String::with_capacity(tokens.len() + 3 * places.len());
    for same in places.chunk_by(|(one, _), (other, _)| token_at(one) == token_at(other)) {
        let often = same.iter().map(|(_, often)| often).sum();
        let token = same.first().map(|(place, _)| token_at(place)).unwrap_or_default();
        push_term(token, mark(Impact::of(often, length)), &mut terms);
    }
    let mut keys = BTreeSet::new();
    for fact in &card.facts {
        words::each(&fact.key, &mut |word, _| {
            card.languages.stems(word, &mut |stem| {
                keys.insert(token(stem));
            });
        });
    }
    keys.iter().for_each(|key| push_term(key, KEY_MARK, &mut terms));
    terms
}

fn push_term(token: &str, mark: char, terms: &mut String) {
    if !terms.is_empty() {
        terms.push(' ');
    }
    terms.push_str(token);
    terms.push(mark);
}

/// The character that says that a note has so much of a token.
fn mark(much: Impact) -> char {
    char::from(FIRST_MARK + much.step())
}

/// The term under which the index holds a token of the notes that have so much of it. More of it is a greater term, and no other token's
/// term is between them.
pub(super) fn marked(token: &str, much: Impact) -> String {
    format!("{token}{}", mark(much))
}

/// The term under which the index holds a token of the notes with a fact whose key has it.
pub(super) fn key_term(token: &str) -> String {
    format!("{token}{KEY_MARK}")
}

/// The token of a term and how much of it is meant; `None` for what [`marked`] does not make.
pub(super) fn parted(term: &str) -> Option<(&str, Impact)> {
    let (at, mark) = term.char_indices().next_back()?;
    let step = u8::try_from(u32::from(mark)).ok()?.checked_sub(FIRST_MARK)?;
    Some((term.get(..at)?, Impact::of_step(step)?))
}

/// The token under which the index holds a stem, of which the tokenizer makes nothing else.
pub(super) fn token(stem: &Stem) -> String {
    let mut token = String::new();
    push_token(stem, &mut token);
    token
}

/// Whether a token is a word as it was, and not what stands for one that cannot be held.
pub(super) fn is_word(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_alphanumeric())
        || !token.chars().any(|character| (PRIVATE..PRIVATE + 128).contains(&u32::from(character)))
}

/// Characters that no word has: the first leads a digest, the others stand for those of ASCII.
const PRIVATE: u32 = 0xe000;

fn push_token(stem: &Stem, token: &mut String) {
    let stem = stem.as_str();
    let private = |offset: u32| char::from_u32(PRIVATE + offset).unwrap_or(char::REPLACEMENT_CHARACTER);
    // The tokenizer splits at what is ASCII and no letter or digit. Folding makes some of that: `1.` of `⒈`.
    let is_split = |character: char| character.is_ascii() && !character.is_ascii_alphanumeric();
    if stem.len() > MOST_BYTES_OF_A_WORD {
        token.push(private(0));
        token.push_str(Digest::of(stem.as_bytes()).to_string().get(7..31).unwrap_or_default());
    } else if stem.contains(is_split) {
        let shown = |character| if is_split(character) { private(u32::from(character)) } else { character };
        token.extend(stem.chars().map(shown));
    } else {
        token.push_str(stem);
    }
}

/// What is kept, as it is stored.
#[expect(clippy::expect_used, reason = "cards and looks are texts, numbers and lists, all of known length")]
fn encode(value: &impl serde::Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("what is kept of a note can be encoded")
}

//! [`NoteRecord`]: what an index takes of one note, made apart from it so that several threads can.

use std::collections::BTreeSet;

use memdir_check::Look;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_note::stem::Stem;
use memdir_note::target::stems_meant;
use memdir_note::{Card, Note, words};
use memdir_rank::{Column, called};

/// No more of the words of one note are kept than this; the rest of it is not found by its words.
const MOST_WORD_BYTES: usize = 256 * 1024;
/// A longer word is kept by its digest: nobody sends it, but it may have been sent.
const MOST_BYTES_OF_A_WORD: usize = 64;

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
    /// Its words, joined by blanks, in the order of [`Column::ALL`].
    pub(super) columns: [String; Column::ALL.len()],
}

impl NoteRecord {
    /// Reads a note; `active` is what a viewer would run or fetch. Linear in the text.
    #[must_use]
    pub fn of(path: &MemoryPath, text: &str, active: Vec<(usize, &'static str)>) -> Self {
        let note = Note::parse(text);
        let card = Card::of(&note);
        let look = Look::of(text, &note, active);
        let headings: Vec<_> = note.headings().iter().map(|heading| heading.shown()).collect();
        let columns = columns(path, text, &card, &headings);
        let stem = path.stem();
        let names = [stem].into_iter().chain(card.title.as_deref()).chain(card.aliases.iter().map(String::as_str));
        let names = names.map(called).collect();
        let links = card.seen.links.iter().flat_map(|link| names_meant(&link.path, path)).collect();
        Self {
            digest: Some(Digest::of(text.as_bytes())),
            look: encode(&look),
            text: Some(Text { card: encode(&card), names, links, columns }),
        }
    }

    /// Takes what is known of a file that is called a note and is no text.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { digest: Some(Digest::of(bytes)), look: encode(&Look::of_bytes(bytes)), text: None }
    }

    /// Takes what is known of a note that could not be read, or is too large to be.
    #[must_use]
    pub fn of_look(look: &Look) -> Self {
        Self { digest: None, look: encode(look), text: None }
    }

    /// About how many bytes it fills while it waits.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = self.text.as_ref().map_or(0, |text| {
            text.card.len() + text.columns.iter().chain(&text.names).chain(&text.links).map(String::len).sum::<usize>()
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

fn columns(path: &MemoryPath, text: &str, card: &Card, headings: &[String]) -> [String; Column::ALL.len()] {
    let (mut left, languages) = (MOST_WORD_BYTES, card.languages);
    let bare =
        if path.is_note() { path.as_str().get(..path.as_str().len() - 3).unwrap_or_default() } else { path.as_str() };
    Column::ALL.map(|column| {
        let mut words = String::new();
        let mut add = |text: &str| {
            words::each(text, &mut |word, _| {
                languages.stems(word, &mut |stem| {
                    let start = words.len();
                    if start > 0 {
                        words.push(' ');
                    }
                    push_token(stem, &mut words);
                    match left.checked_sub(words.len() - start) {
                        Some(rest) => left = rest,
                        None => words.truncate(start),
                    }
                });
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
        words
    })
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

//! [`Card`]: what an index keeps of a note, so that questions, links and checks need not read it again.

use std::collections::HashSet;
use std::iter::repeat_n;

use serde::{Deserialize, Serialize};

use super::stem::Languages;
use super::{Fact, Note, Seen, SeenLink};

/// No more facts of one note are kept than this; each keeps so many bytes of its value.
const MOST_FACTS: usize = 2_000;
const VALUE_BYTES: usize = 200;
/// Only the lines of so many links of one note are kept, and so many bytes of each.
const MOST_CONTEXTS: usize = 2_000;
const CONTEXT_BYTES: usize = 200;
/// No more tags of one note are kept than this.
const MOST_TAGS: usize = 200;

/// The keys of facts that say what else a note is called, as [`super::words::called`] writes them, and what some of their
/// letters are wherever one is written.
const ALIAS_KEYS: [&str; 4] = ["alias", "aliases", "alsoknownas", "aka"];
const ALIAS_SIGNS: [&str; 7] = ["lias", "LIAS", "known", "Known", "KNOWN", "aka", "AKA"];

/// What a note says of itself and of others.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Card {
    /// Its links, and what in it can be linked to: first, so that it can be read without the rest.
    pub seen: Seen,
    /// What it is written in.
    pub languages: Languages,
    /// As [`Note::title`].
    pub title: Option<String>,
    /// As [`Note::aliases`].
    pub aliases: Vec<String>,
    /// `tags` of the front matter and `#tags` of the text, without `#`, each once.
    pub tags: Vec<String>,
    /// Its facts, shortened.
    pub facts: Vec<CardFact>,
    /// The lines that the links stand in, shortened, in their order, each with the number of its links.
    contexts: Vec<(usize, String)>,
}

/// A fact on a card.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct CardFact {
    /// Its line, from 1.
    pub line: usize,
    /// What it is called, as it is written.
    pub key: String,
    /// What it says, shortened.
    pub value: String,
}

impl Card {
    /// Takes what is kept from a note that is read.
    #[must_use]
    pub fn of(note: &Note<'_>) -> Self {
        let seen = Seen::of_note(note);
        let context = |line: usize| short(note.slice(note.line(line)).trim(), CONTEXT_BYTES);
        let links = seen.links.get(..MOST_CONTEXTS).unwrap_or(&seen.links);
        let lines = links.chunk_by(|one, next| one.line == next.line);
        let contexts = lines.filter_map(|links| Some((links.len(), context(links.first()?.line)))).collect();
        let facts = note.facts();
        let aliases = note.aliases_among(if note.may_say_aliases() { &facts } else { &[] });
        let facts = facts
            .into_iter()
            .take(MOST_FACTS)
            .map(|fact| CardFact { line: fact.line, key: fact.key, value: short(&fact.value, VALUE_BYTES) })
            .collect();
        Self {
            languages: Languages::of(note.text),
            title: note.title(),
            aliases,
            tags: note.tags().into_iter().take(MOST_TAGS).collect(),
            facts,
            contexts,
            seen,
        }
    }

    /// Its links in their order, each with the line that it stands in, shortened; those of a note that has very many are left out.
    pub fn linked(&self) -> impl Iterator<Item = (&SeenLink, &str)> {
        let lines = self.contexts.iter().flat_map(|(links, line)| repeat_n(line.as_str(), *links));
        self.seen.links.iter().zip(lines)
    }
}

impl Note<'_> {
    /// `title` of the front matter, else the first heading of the first level.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let first = || self.headings().iter().find(|heading| heading.level == 1);
        self.front_values("title").into_iter().next().or_else(|| first().map(|heading| heading.shown()))
    }

    /// `aliases` of the front matter, and what facts of the text such as `- also known as: X, Y` say; each once.
    #[must_use]
    pub fn aliases(&self) -> Vec<String> {
        if self.may_say_aliases() { self.aliases_among(&self.facts()) } else { self.aliases_among(&[]) }
    }

    /// Whether a fact of the text may say aliases. Most notes have none; telling that is quicker than to read all facts.
    fn may_say_aliases(&self) -> bool {
        let text = self.slice(self.body()..self.text.len());
        ALIAS_SIGNS.iter().any(|sign| text.contains(sign))
    }

    /// As [`Note::aliases`], where all facts that may say some have been read.
    fn aliases_among(&self, facts: &[Fact]) -> Vec<String> {
        let mut aliases: Vec<String> = ["aliases", "alias"].iter().flat_map(|key| self.front_values(key)).collect();
        let facts = facts.iter().filter(|fact| self.line(fact.line).start >= self.body());
        let named = facts.filter(|fact| ALIAS_KEYS.contains(&super::words::called(&fact.key).as_str()));
        for name in named.flat_map(|fact| fact.value.split([',', ';'])) {
            let name = name.trim().trim_matches(['"', '*', '_', '`']).to_owned();
            if !name.is_empty() && !aliases.contains(&name) {
                aliases.push(name);
            }
        }
        aliases
    }

    /// `tags` of the front matter, where blanks and commas stand between them too, and `#tags` of the text; without `#`,
    /// each once.
    #[must_use]
    pub fn tags(&self) -> Vec<String> {
        let (mut tags, mut known) = (Vec::new(), HashSet::new());
        let mut add = |tag: &str| {
            if !tag.is_empty() && known.insert(tag.to_owned()) {
                tags.push(tag.to_owned());
            }
        };
        for value in ["tags", "tag"].iter().flat_map(|key| self.front_values(key)) {
            let parts = value.split(|character: char| character == ',' || character.is_whitespace());
            parts.for_each(|tag| add(tag.trim_start_matches('#')));
        }
        for at in memchr::memchr_iter(b'#', self.text.as_bytes()).filter(|at| *at >= self.body()) {
            let before = self.slice(0..at);
            let is_start = before.is_empty() || before.ends_with(char::is_whitespace);
            let rest = self.text.get(at + 1..).filter(|_| is_start).unwrap_or_default();
            let tag = rest.get(..tag_length(rest)).unwrap_or_default();
            if !tag.is_empty() && !self.is_opaque(at) {
                add(tag);
            }
        }
        tags
    }
}

/// How many bytes of what stands behind a `#` are a tag: letters, digits, `_`, `-`, `/`, symbols and emoji. A number alone
/// is none, as in Obsidian.
#[must_use]
pub fn tag_length(text: &str) -> usize {
    let is_symbol = |character| matches!(character, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}');
    let is_part =
        |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '/') || is_symbol(character);
    let tag = text.split(|character| !is_part(character)).next().unwrap_or_default();
    if tag.chars().any(|character| !character.is_ascii_digit()) { tag.len() } else { 0 }
}

/// The first bytes of a text, whole characters.
fn short(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}

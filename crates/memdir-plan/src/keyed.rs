//! `memory`: small entries by key, each a note in `memories/`.
//!
//! Owns how a key becomes a name and what an entry looks like as a note. A key is never a path: only its letters and
//! digits go into the name, and keys that have these in common get names with numbers. Which entry is whose, the note says: by the
//! key in its front matter, or by its name where none is there.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::remember::Place;
use crate::tree::{Listing, Tree, TreeError};
use crate::{Answer, NEAREST_NAMES, Planner, Trouble, name, words};
use memdir_core::action::{Action, Call, Meaning, Memory, Operation, SearchFiles, WriteFile};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind, MemoryEntry, Search, Value};
use memdir_note::{Note, quoted};

/// The name of the folder of all entries.
pub(crate) const FOLDER: &str = "memories";
/// The longest name that is made of a key, in bytes, without `.md`.
const MAX_SLUG_BYTES: usize = 80;
/// How many words of a content make the name of an entry without a key.
const NAME_WORDS: usize = 6;
/// The name of an entry whose key has no letter or digit, or is one that Windows keeps for itself.
const NAMELESS: &str = "entry";

/// An entry as its note holds it.
struct Entry {
    key: String,
    tags: Vec<String>,
    body: String,
}

impl<T: Tree> Planner<'_, T> {
    /// The note that a call will come to and does not name itself: the entry that a `memory` keeps, reads or deletes, the note
    /// in which something is remembered, where a link leads, and where a line is that is not in the note that was named.
    ///
    /// As the batch has left the memory so far; a call in between may lead to another one.
    #[must_use]
    pub fn place_of(&mut self, call: &Call) -> Option<MemoryPath> {
        if let Action::GoToLink(asked) = &call.action {
            return self.linked(call, asked);
        }
        if call.meaning == Meaning::WholeLine {
            return self.place_of_line(call);
        }
        if let Action::Remember(asked) = &call.action {
            return self.place_to_remember(call, asked).ok().map(Place::path);
        }
        let Action::Memory(memory) = &call.action else { return None };
        match (memory.operation, &memory.key, &memory.content) {
            (Operation::Store, key, Some(content)) => self.place_to_store(key.as_deref(), content).ok(),
            (Operation::Retrieve | Operation::Delete, Some(key), _) => match self.find_entry(key) {
                Ok(Some((path, _))) => Some(path),
                // Whether there is such an entry is told only to those who may come to it.
                Ok(None) => path_of(&slug(key)).ok(),
                Err(_) => None,
            },
            _ => None,
        }
    }

    pub(super) fn memory(&mut self, call: &Call, memory: &Memory) -> Result<Answer, Failure> {
        let missing = |operation: &str, field: &str, example: &str| {
            let message = format!("`{operation}` needs `{field}`");
            words::invalid(call.index, "memory", &message)
                .with_hint(format!("send `\"{field}\":\"{example}\"` with it"))
        };
        let key = |operation| memory.key.as_deref().ok_or_else(|| missing(operation, "key", "favorite color"));
        match memory.operation {
            Operation::Store => {
                let content = memory.content.as_deref();
                let content = content.ok_or_else(|| missing("store", "content", "what to remember"))?;
                self.store(call, memory.key.as_deref(), content, memory.tags.as_deref().unwrap_or_default())
            }
            Operation::Retrieve => {
                let (path, entry) = self.entry(call, key("retrieve")?)?;
                let value = Value::Text(entry.body);
                Ok(Answer { path: Some(path), ..value.into() })
            }
            Operation::Delete => {
                let (path, _) = self.entry(call, key("delete")?)?;
                let answer = self.delete_file(&path)?;
                Ok(Answer { path: Some(path), ..answer })
            }
            Operation::List => self.list_entries(call),
            Operation::Search => {
                let query = memory.query.as_deref().ok_or_else(|| missing("search", "query", "color"))?;
                self.search_entries(call, query)
            }
            Operation::StoreConversation => {
                Err(Failure::new(Code::Unavailable, "there is no conversation here to keep")
                    .with_hint("send `\"operation\":\"store\"` with what matters as `content`"))
            }
        }
    }

    fn store(&mut self, call: &Call, key: Option<&str>, content: &str, tags: &[String]) -> Result<Answer, Failure> {
        let path = self.place_to_store(key, content)?;
        let write = WriteFile { content: text_of(key, path.stem(), tags, content), path, if_digest: None };
        let answer = self.write_file(call, &write)?;
        Ok(Answer { path: Some(write.path), ..answer })
    }

    /// The entry of a key and where it is; a failure that names the nearest key where there is none.
    fn entry(&self, call: &Call, key: &str) -> Result<(MemoryPath, Entry), Failure> {
        if let Some(found) = self.find_entry(key)? {
            return Ok(found);
        }
        let failure = Failure::new(Code::NotFound, format!("there is no entry `{}`", catalog::shorten(key)));
        Err(match self.nearest_key(call, &path_of(&slug(key))?) {
            Some(nearest) => failure.with_hint(format!("the nearest is `{}`", catalog::shorten(&nearest))),
            None => failure.with_hint("send `\"operation\":\"list\"` to see the keys"),
        })
    }

    /// The entry of a key and where it is, among all that its name could have.
    fn find_entry(&self, key: &str) -> Result<Option<(MemoryPath, Entry)>, Failure> {
        let slug = slug(key);
        let mut places: Vec<(u64, MemoryPath)> =
            self.entry_files()?.into_iter().filter_map(|path| Some((number_of(path.stem(), &slug)?, path))).collect();
        places.sort();
        for (_, path) in places {
            let entry = self.read_entry(&path)?;
            if is_same(&entry.key, key) {
                return Ok(Some((path, entry)));
            }
        }
        Ok(None)
    }

    fn read_entry(&self, path: &MemoryPath) -> Result<Entry, Failure> {
        let (_, image) = self.read_any(path)?;
        let text = image.content.text().ok_or_else(|| words::not_text(path))?;
        Ok(Entry::of(path, text))
    }

    /// The key most like the one that leads to `path`.
    fn nearest_key(&self, call: &Call, path: &MemoryPath) -> Option<String> {
        let notes = self.entry_notes(call).ok()?;
        let nearest = words::nearest(path, notes.iter().take(NEAREST_NAMES))?;
        self.read_entry(nearest).ok().map(|entry| entry.key)
    }

    /// The notes of all entries that the call may be told of, sorted.
    fn entry_notes(&self, call: &Call) -> Result<Vec<MemoryPath>, Failure> {
        let mut notes = self.entry_files()?;
        notes.retain(|note| (self.manner.may_show)(call, note));
        Ok(notes)
    }

    /// The notes of all entries, sorted.
    fn entry_files(&self) -> Result<Vec<MemoryPath>, Failure> {
        let folder = folder()?;
        let listing = match self.overlay.resolve(&folder).and_then(|place| self.overlay.list(Some(&place))) {
            Err(Trouble::Tree(TreeError::NotFound(_))) => Listing::default(),
            other => other?,
        };
        let files = listing.entries.iter().filter(|entry| entry.stat.kind == Kind::File);
        let notes = files.filter_map(|entry| MemoryPath::in_folder(Some(&folder), &entry.name).ok());
        Ok(notes.filter(MemoryPath::is_note).collect())
    }

    fn list_entries(&self, call: &Call) -> Result<Answer, Failure> {
        let mut entries = Vec::new();
        for path in self.entry_notes(call)? {
            if (self.manner.stop)() {
                return Err(words::failure(TreeError::Stopped));
            }
            // What cannot be read as text is there all the same.
            let entry = self.read_entry(&path).unwrap_or_else(|_| Entry::of(&path, ""));
            entries.push(MemoryEntry { key: entry.key, path, tags: entry.tags });
        }
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Value::Entries(entries).into())
    }

    fn search_entries(&mut self, call: &Call, query: &str) -> Result<Answer, Failure> {
        let folder = folder()?;
        let place = self.resolve(&folder)?;
        if self.overlay.stat(&place)?.is_none() {
            return Ok(Value::Search(Search { query: query.to_owned(), ..Search::default() }).into());
        }
        self.search_files(call, &SearchFiles { path: Some(folder), ..SearchFiles::of(query) })
    }

    /// Where an entry goes: where its key has one already, else where a name is free. One without a key is named by its first
    /// words.
    fn place_to_store(&self, key: Option<&str>, content: &str) -> Result<MemoryPath, Failure> {
        let Some(key) = key else {
            let has_word = |word: &&str| word.chars().any(is_kept);
            let first = content.split_whitespace().filter(has_word).take(NAME_WORDS);
            return self.free_place(&slug(&first.collect::<Vec<_>>().join(" ")));
        };
        match self.find_entry(key)? {
            Some((path, _)) => Ok(path),
            None => self.free_place(&slug(key)),
        }
    }

    /// The note of a slug, with a number where that is taken.
    fn free_place(&self, slug: &str) -> Result<MemoryPath, Failure> {
        let mut number = 1;
        loop {
            let path = path_of(&numbered(slug, number))?;
            let place = self.resolve(&path)?;
            if self.overlay.stat(&place)?.is_none() {
                return Ok(path);
            }
            if (self.manner.stop)() {
                return Err(words::failure(TreeError::Stopped));
            }
            number += 1;
        }
    }
}

impl Entry {
    fn of(path: &MemoryPath, text: &str) -> Self {
        let note = Note::parse(text);
        let key = note.front_values("key").into_iter().find(|key| number_of(path.stem(), &slug(key)).is_some());
        Self {
            key: key.unwrap_or_else(|| path.stem().to_owned()),
            tags: note.front_values("tags"),
            body: text.get(note.body()..).unwrap_or_default().to_owned(),
        }
    }
}

/// The note that keeps an entry. Its front matter says what the name does not.
fn text_of(key: Option<&str>, stem: &str, tags: &[String], content: &str) -> String {
    let tags: Vec<String> = tags.iter().map(|tag| tag.trim()).filter(|tag| !tag.is_empty()).map(scalar).collect();
    // A content with front matter of its own would lose it to ours when it is read.
    let is_hidden = Note::parse(content).body() > 0;
    let key = key.filter(|key| *key != stem).or(is_hidden.then_some(stem));
    let mut text = String::with_capacity(content.len() + 64);
    if key.is_some() || !tags.is_empty() {
        text.push_str("---\n");
        if !tags.is_empty() {
            text.push_str(&format!("tags: [{}]\n", tags.join(", ")));
        }
        if let Some(key) = key {
            text.push_str(&format!("key: {}\n", scalar(key)));
        }
        text.push_str("---\n");
    }
    text.push_str(content);
    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A text as a YAML scalar, in quotes unless it is a plain word that could be nothing but text.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(char::is_alphabetic)
        && text.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_' | '/'))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// The name of the note that keeps the entry of a key, without `.md`.
fn slug(key: &str) -> String {
    let slug = words_of(key, MAX_SLUG_BYTES);
    // The second says no where Windows has a device of this name.
    if slug.is_empty() || name::check_portable(&slug).is_err() { NAMELESS.to_owned() } else { slug }
}

/// The letters and digits of a text in lower case, runs of all others as `-`, of at most about `most` bytes.
fn words_of(text: &str, most: usize) -> String {
    let mut words = String::new();
    let mut is_between = false;
    for character in folded(text) {
        let is_mark = is_combining_mark(character) && !words.is_empty() && !is_between;
        if !is_kept(character) && !is_mark {
            is_between = true;
            continue;
        }
        let dash = if is_between && !words.is_empty() { 1 } else { 0 };
        if words.len() + dash + character.len_utf8() > most {
            break;
        }
        if dash > 0 {
            words.push('-');
        }
        words.push(character);
        is_between = false;
    }
    words
}

/// Letters and digits that every system can store in a name.
fn is_kept(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || (!character.is_ascii()
            && character.is_alphanumeric()
            && name::check_portable(character.encode_utf8(&mut [0; 4])).is_ok())
}

/// The longest part of a slug that fits.
fn cut(slug: &str, most: usize) -> &str {
    let end =
        slug.char_indices().map(|(at, character)| at + character.len_utf8()).take_while(|end| *end <= most).last();
    slug.get(..end.unwrap_or(0)).unwrap_or_default().trim_end_matches('-')
}

/// The name of the entry with this number among those of one slug.
fn numbered(slug: &str, number: u64) -> String {
    let end = if number == 1 { String::new() } else { format!("-{number}") };
    format!("{}{end}", cut(slug, MAX_SLUG_BYTES - end.len()))
}

/// The number of a name among those of a slug; `None` where it is none of them.
fn number_of(stem: &str, slug: &str) -> Option<u64> {
    if stem == slug {
        return Some(1);
    }
    let number = stem.rsplit_once('-')?.1.parse().ok().filter(|number| *number > 1)?;
    (numbered(slug, number) == stem).then_some(number)
}

/// Whether two keys are one: the same text in lower case, however its characters are composed.
fn is_same(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.nfc().flat_map(char::to_lowercase).nfc()
}

/// The folder of all entries.
fn folder() -> Result<MemoryPath, Failure> {
    MemoryPath::parse(FOLDER).map_err(|error| catalog::invalid_path(FOLDER, error))
}

/// The note of a slug, which has no character that a path could not say.
fn path_of(slug: &str) -> Result<MemoryPath, Failure> {
    let path = format!("{FOLDER}/{slug}.md");
    MemoryPath::parse(&path).map_err(|error| catalog::invalid_path(&path, error))
}

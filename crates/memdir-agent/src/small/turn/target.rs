//! The note that a name means: one that is shown, one that this turn makes, or one that is there and not shown.

use super::Turn;
use crate::small::view::Shown;
use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};
use memdir_note::words::{called, fold};

/// The name of a new note has at most this many words.
const MOST_NAME_WORDS: usize = 6;
/// Where a new note is made, if no link shows where such notes are kept.
const FOLDER: &str = "entities";
/// The title of the person's note where there was none, as in the template.
const PERSON_TITLE: &str = "Me";

/// A note that is to be made.
pub(super) struct NewNote {
    pub(super) title: String,
    pub(super) path: MemoryPath,
    pub(super) facts: Vec<(String, String)>,
    pub(super) lines: Vec<String>,
}

/// The note of a name.
pub(super) enum Target<'t, 'n> {
    Shown(&'t Shown<'n>),
    /// It is made in this turn: its place among those.
    New(usize),
    /// It exists and is not shown.
    Unseen(MemoryPath),
}

impl<'t, 'n> Turn<'t, 'n> {
    pub(super) fn path<'s>(&'s self, target: &'s Target<'t, 'n>) -> Option<&'s MemoryPath> {
        match target {
            Target::Shown(note) => Some(note.path),
            Target::New(at) => self.new_notes.get(*at).map(|new| &new.path),
            Target::Unseen(path) => Some(path),
        }
    }

    /// The note of a name: shown, made in this turn, or there and not shown. Where there is none it is made, with what it is to whom; `None`
    /// for a name that no note can have.
    pub(super) fn target(&mut self, name: &str, relation: Option<&str>) -> Option<Target<'t, 'n>> {
        if let Some(note) = self.of.view.named(name) {
            return Some(Target::Shown(note));
        }
        let is_person = called(name) == PERSON;
        let path = if is_person { MemoryPath::parse(PERSON_NOTE).ok()? } else { self.path_of(name)? };
        if let Some(at) = self.new_notes.iter().position(|new| new.path == path) {
            return Some(Target::New(at));
        }
        if (self.of.exists)(&path) {
            return Some(Target::Unseen(path));
        }
        let at = self.new_notes.len();
        let link = linked(&path);
        let title = if is_person { PERSON_TITLE } else { name }.to_owned();
        let facts = relation.map(|relation| ("relation".to_owned(), relation.to_owned())).into_iter().collect();
        self.new_notes.push(NewNote { title, path, facts, lines: Vec::new() });
        // No note stands alone: one that nothing links to yet is linked from the person's note by its name.
        if !is_person && relation.is_none() {
            let person = self.target(PERSON, None)?;
            self.put(&person, name, &link);
        }
        Some(Target::New(at))
    }

    /// Where a note of this name is kept; `None` for what is no name of a note.
    pub(super) fn path_of(&self, name: &str) -> Option<MemoryPath> {
        let folded = fold(name);
        let words: Vec<&str> =
            folded.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.is_empty() || name.split_whitespace().count() > MOST_NAME_WORDS {
            return None;
        }
        MemoryPath::parse(&format!("{}/{}.md", self.folder(), words.join("_"))).ok()
    }

    /// The folder of most notes that the person's own note links to.
    pub(super) fn folder(&self) -> &str {
        let person = self.of.view.notes.iter().find(|note| note.path.as_str() == PERSON_NOTE);
        let entries = person.map(|person| person.entries.iter()).into_iter().flatten();
        let links = entries.flat_map(|entry| entry.value.split("[[").skip(1));
        let targets = links.filter_map(|link| link.split(['|', ']']).next()?.rsplit_once('/'));
        let folders: Vec<&str> = targets.map(|(folder, _)| folder).collect();
        let count = |folder: &&&str| folders.iter().filter(|other| other == folder).count();
        folders.iter().max_by_key(count).copied().unwrap_or(FOLDER)
    }
}

pub(super) fn linked(path: &MemoryPath) -> String {
    format!("[[{}]]", path.as_str().trim_end_matches(".md"))
}

//! Notes as people name them: by a path, a file name, a title or an alias, in any case.

use super::Engine;
use memdir_core::catalog::{invalid_path, nearest};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::target::comparable;
use memdir_note::{Note, link, words};
use memdir_plan::{self as plan, MIN_TEXT_CHARS, Tree};

/// A note, and what it is called.
#[derive(Debug)]
struct NoteNames {
    path: MemoryPath,
    /// Its title and its aliases; where it has none, its file name.
    names: Vec<String>,
}

/// How many notes that a name can mean are listed.
const MOST_LISTED: usize = 5;

impl Engine {
    /// Finds the note that a person names.
    ///
    /// What is there under that path is meant first, then what is with `.md`, then a file name anywhere, a title or an alias. A text
    /// with a `/` or with `.md` at its end is a path, in any case: it is given back as it is where nothing is there, since the caller may mean a note that is gone.
    ///
    /// # Errors
    ///
    /// `ambiguous_link` where several notes are called so, `not_found` with the nearest name, `invalid_path`, `io`.
    pub fn note_named(&self, said: &str) -> Result<MemoryPath, Failure> {
        let name = said.trim();
        let link = name.starts_with("[[").then(|| link::parse(name).path);
        let name = link.as_deref().unwrap_or(name);
        let path = MemoryPath::parse(name).map_err(|error| invalid_path(said, error))?;
        let with_extension = MemoryPath::parse(&format!("{name}.md")).ok();
        for path in std::iter::once(&path).chain(&with_extension) {
            let place = self.vault.resolve(path).map_err(plan::failure)?;
            if self.vault.stat(&place).map_err(plan::failure)?.is_some() {
                return Ok(path.clone());
            }
        }
        let quoted = format!("`{}`", memdir_core::catalog::shorten(said));
        let wanted = comparable(name);
        let notes = self.every_note()?;
        if path.is_note() || name.contains('/') {
            let is_same = |note: &&MemoryPath| bare(&comparable(note.as_str())) == bare(&wanted);
            return Ok(one_of(&quoted, notes.iter().filter(is_same))?.unwrap_or(path));
        }
        if let Some(found) = one_of(&quoted, notes.iter().filter(|note| comparable(note.stem()) == wanted))? {
            return Ok(found);
        }
        let called = self.called()?;
        let wanted = words::fold(name);
        let is_called = |called: &&NoteNames| called.names.iter().any(|name| words::fold(name.trim()) == wanted);
        if let Some(found) = one_of(&quoted, called.iter().filter(is_called).map(|called| &called.path))? {
            return Ok(found);
        }
        let names = called.iter().flat_map(|called| called.names.iter().map(String::as_str));
        let near = nearest(name, names.chain(notes.iter().map(MemoryPath::stem)));
        let failure =
            Failure::new(Code::NotFound, format!("no note is called `{}`", memdir_core::catalog::shorten(name)));
        Err(match near {
            Some(near) => failure.with_hint(format!("the nearest is `{near}`")),
            None => failure.with_hint("`memdir tree` lists the notes"),
        })
    }

    /// Finds the note that a text is about: the one to which its first link leads, else the one whose title or alias comes
    /// first in it, the longest where several begin there. `None` where it names none.
    ///
    /// # Errors
    ///
    /// `ambiguous_link` where several notes are called so, `io`; for a link as [`Engine::note_named`].
    pub fn note_in(&self, text: &str) -> Result<Option<MemoryPath>, Failure> {
        if let Some(link) = Note::parse(text).links().into_iter().find(|link| !link.path.is_empty()) {
            return self.note_named(&link.path).map(Some);
        }
        let text = words_of(text);
        let (mut best, mut found) = (None, Vec::new());
        for called in self.called()? {
            let starts = called.names.iter().filter(|name| is_name(name)).filter_map(|name| {
                let name = words_of(name);
                let at = text.windows(name.len().max(1)).position(|part| part == name)?;
                Some((at, std::cmp::Reverse(name.len())))
            });
            let Some(start) = starts.min() else { continue };
            if best.is_none_or(|best| start < best) {
                (best, found) = (Some(start), Vec::new());
            }
            if best == Some(start) {
                found.push(called.path);
            }
        }
        one_of("the text", found.iter())
    }

    fn called(&self) -> Result<Vec<NoteNames>, Failure> {
        let read = |path: &MemoryPath, text: &str| {
            let note = Note::parse(text);
            let mut names: Vec<String> = note.title().into_iter().chain(note.aliases()).collect();
            if names.is_empty() {
                names.push(path.stem().to_owned());
            }
            names
        };
        let notes = self.scan(read)?.into_iter();
        Ok(notes.filter_map(|file| Some(NoteNames { path: file.path, names: file.seen.flatten()? })).collect())
    }
}

/// Whether a title or an alias can stand for its note in a sentence. One that begins with a small letter, or is as short as `I`,
/// occurs in ordinary sentences; a model with write access to a single note could use it to attract what the person says.
fn is_name(name: &str) -> bool {
    name.chars().filter(|character| character.is_alphanumeric()).count() >= MIN_TEXT_CHARS
        && !name.trim_start().starts_with(char::is_lowercase)
}

fn bare(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

/// The words of a text as they are written: who writes of a home does not mean the note Home.
fn words_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each(text, &mut |_, place| found.extend(text.get(place).map(str::to_owned)));
    found
}

/// The only one there is; none where there is none.
fn one_of<'n>(said: &str, found: impl Iterator<Item = &'n MemoryPath>) -> Result<Option<MemoryPath>, Failure> {
    let found: Vec<&MemoryPath> = found.collect();
    let [first, _, ..] = found.as_slice() else { return Ok(found.first().map(|path| (*path).clone())) };
    let listed: Vec<String> = found.iter().take(MOST_LISTED).map(|path| format!("`{path}`")).collect();
    let more = found.len().checked_sub(MOST_LISTED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    let message = format!("{said} can mean {}{more}", listed.join(", "));
    Err(Failure::new(Code::AmbiguousLink, message).with_hint(format!("give its path, such as `{first}`")))
}

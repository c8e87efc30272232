//! Notes as people name them: by a path, a file name, a title or an alias, in any case.

use super::Engine;
use super::facts::scan_in;
use super::observe::notes_in;
use memdir_core::catalog::{invalid_path, nearest, shorten};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_note::target::comparable;
use memdir_note::{link, words};
use memdir_plan::{self as plan, Limits, NoteNames, Tree, the_only};
use memdir_vault::LogQuery;

impl Engine {
    /// Finds the note that a person names.
    ///
    /// What is there under that path is meant first, then what is with `.md`, then a file name anywhere, a title or an alias. A text
    /// with a `/` or with `.md` at its end is a path, in any case: it is given back as it is where nothing is there, since the caller may mean a note that is gone.
    /// Another accent makes another name: what is done to the note may be its deletion.
    ///
    /// # Errors
    ///
    /// `ambiguous_link` where several notes are called so, `not_found` with the nearest name, `invalid_path`, `io`.
    pub fn note_named(&self, said: &str) -> Result<MemoryPath, Failure> {
        let is_exact = |path: &String| *path == said || path.strip_suffix(".md") == Some(said);
        if said.trim() != said && self.unnamed().iter().any(is_exact) {
            let failure = Failure::new(Code::InvalidPath, format!("memdir cannot use the name `{}`", shorten(said)));
            return Err(failure.with_hint("rename the note in another program: no blank at the start"));
        }
        named_in(&self.vault, &self.settings.limits, said)
    }

    /// As [`Engine::note_named`], also of a note that is gone or is called otherwise now, whose path may be said without `.md`.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn note_named_ever(&self, said: &str) -> Result<MemoryPath, Failure> {
        let found = self.note_named(said);
        let is_known = |path: &MemoryPath| {
            let newest = LogQuery { path: Some(path.clone()), limit: 1, ..LogQuery::default() };
            self.vault.log(&newest).is_ok_and(|log| !log.entries.is_empty())
        };
        let is_there = |path: &MemoryPath| self.vault.stat(path).is_ok_and(|stat| stat.is_some());
        if found.as_ref().is_ok_and(|path| is_there(path) || is_known(path)) {
            return found;
        }
        let gone = MemoryPath::parse(&format!("{}.md", said.trim())).ok();
        gone.filter(is_known).map_or(found, Ok)
    }
}

/// As [`Engine::note_named`], of a tree.
pub(super) fn named_in(tree: &impl Tree, limits: &Limits, said: &str) -> Result<MemoryPath, Failure> {
    let name = said.trim();
    let link = name.starts_with("[[").then(|| link::parse(name).path);
    let name = link.as_deref().unwrap_or(name);
    let path = MemoryPath::parse(name).map_err(|error| invalid_path(said, error))?;
    let with_extension = MemoryPath::parse(&format!("{name}.md")).ok();
    for path in std::iter::once(&path).chain(&with_extension) {
        let place = tree.resolve(path).map_err(plan::failure)?;
        if tree.stat(&place).map_err(plan::failure)?.is_some() {
            return Ok(path.clone());
        }
    }
    let quoted = format!("`{}`", shorten(said));
    let wanted = as_typed(name);
    let notes = notes_in(tree, None).map_err(plan::failure)?;
    if path.is_note() || name.contains('/') {
        let is_same = |note: &&MemoryPath| bare(&as_typed(note.as_str())) == bare(&wanted);
        return Ok(the_only(&quoted, notes.iter().filter(is_same))?.unwrap_or(path));
    }
    if let Some(found) = the_only(&quoted, notes.iter().filter(|note| as_typed(note.stem()) == wanted))? {
        return Ok(found);
    }
    let files = scan_in(tree, limits, NoteNames::of)?.into_iter();
    let called: Vec<NoteNames> = files.filter_map(|file| file.seen.flatten()).collect();
    let is_called = |called: &&NoteNames| called.names.iter().any(|name| as_typed(name.trim()) == wanted);
    if let Some(found) = the_only(&quoted, called.iter().filter(is_called).map(|called| &called.path))? {
        return Ok(found);
    }
    let names = called.iter().flat_map(|called| called.names.iter().map(String::as_str));
    let names: Vec<&str> = names.chain(notes.iter().map(MemoryPath::stem)).collect();
    let unaccented = words::fold(name);
    let accented = names.iter().find(|name| words::fold(name.trim()) == unaccented).map(|name| (*name).to_owned());
    let near = accented.or_else(|| nearest(name, names.into_iter()));
    let failure = Failure::new(Code::NotFound, format!("no note is called `{}`", shorten(name)));
    Err(match near {
        Some(near) => failure.with_hint(format!("the nearest is `{near}`")),
        None => failure.with_hint("`memdir tree` lists the notes"),
    })
}

fn bare(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

/// A name as it is compared with what a person typed: in any case, and with the apostrophe of any keyboard.
fn as_typed(name: &str) -> String {
    comparable(name).replace('\u{2019}', "'")
}

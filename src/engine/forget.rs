//! Forgetting a note or a text: where it is kept, and erasing it there.
//!
//! The order, under the lock of the memory: links to a note are cut out first, while the history still knows all its
//! names, and copies of it are removed, which may have the old ones; then the history; then texts, and at last the note
//! itself. So whatever an interrupted run has left, the same command finds it.

use std::io::{self, Read};

use memchr::memmem::Finder;
use serde::Serialize;

use super::{Engine, failure};
use crate::digest::Digest;
use crate::note::Targets;
use crate::path::MemoryPath;
use crate::plan::{self, Called, Cut, Forms, MIN_TEXT_CHARS, Sought, Tree, When};
use crate::report::{Code, Failure, Kind};
use crate::vault::{Author, Names, Region, Replaced, Spot, Traces, VaultError, Writer};

/// What is to be forgotten.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// A note, by the name it has or had.
    Note(MemoryPath),
    /// A text, letter by letter.
    Text(String),
}

/// In which kind of place something was found.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// A note: the one to forget, or one that holds the text.
    Note,
    /// The name of a file or folder, which is not changed.
    Name,
    /// Links in another note.
    Link,
    /// Another file: a copy that was left aside, a text file, or one of another program, which is not changed.
    File,
    /// What was deleted by hand in Obsidian.
    Trash,
    /// Changes in the history.
    History,
    /// Entries of the audit.
    Audit,
    /// The state of a machine.
    State,
}

/// One place, and how often it is there.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Place {
    /// Of which kind it is.
    #[serde(rename = "where")]
    pub place: Where,
    /// The file, or the name in the history; `None` for places without one.
    pub path: Option<String>,
    /// How many occurrences, changes or entries.
    pub count: u64,
}

/// What was erased.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Forgotten {
    /// Where it was.
    pub places: Vec<Place>,
    /// Whether it was erased there.
    pub erased: bool,
    /// Where its letters are found after that: in what is another program's or another machine's, or in plain words.
    pub left: Vec<Place>,
}

/// All that was found, and what has to be done about it.
#[derive(Debug)]
struct Survey {
    sought: Sought,
    traces: Traces,
    places: Vec<Place>,
    /// All files that links can mean.
    targets: Targets,
    /// Notes with links that may lead to the note.
    candidates: Vec<MemoryPath>,
    /// Files that need another text.
    edits: Vec<String>,
    /// Copies that were left aside or thrown away; known by what the history holds, so they go before it does.
    leftovers: Vec<String>,
    /// The note itself, and then the link by which it was named.
    removals: Vec<String>,
    /// What holds the text and cannot be changed here.
    blocked: Vec<String>,
    note: Option<Note>,
    limit: u64,
}

/// A note that is to be forgotten.
#[derive(Debug)]
struct Note {
    names: Names,
    /// The name that was asked for, where it is a link to the note.
    alias: Option<MemoryPath>,
    digest: Option<Digest>,
    /// Its names, as something that a link can mean which leads nowhere now.
    named: Targets,
}

/// Asks the history: the vault, or its writer while the lock is held.
struct Past<'a> {
    names: &'a dyn Fn(&MemoryPath, bool) -> Result<Names, VaultError>,
    traces: &'a dyn Fn(&Sought) -> Result<Traces, VaultError>,
}

/// How often a file is read anew that somebody changes meanwhile.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Lists where something is kept. Changes nothing.
    ///
    /// # Errors
    ///
    /// `usage` for a text that is too short, `not_found` when it is nowhere, `is_a_directory`, what the vault says.
    pub fn places_of(&self, target: &Target) -> Result<Vec<Place>, Failure> {
        let survey = self.survey_unlocked(target)?;
        if survey.places.is_empty() { Err(nothing(target)) } else { Ok(survey.places) }
    }

    /// Erases something wherever it is kept.
    ///
    /// # Errors
    ///
    /// As [`Engine::places_of`], and `conflict` where names, or files that are no text, hold it: then nothing is done.
    /// An error that comes later says that the same command finishes it.
    pub fn forget(&self, target: &Target, author: &Author) -> Result<Forgotten, Failure> {
        if !self.vault.has_history().map_err(|error| failure(&error))? {
            // Who looks for nothing in a memory leaves nothing in it.
            self.places_of(target)?;
        }
        let survey = self.erase(target, author)?;
        let left = self.look_again(&survey).map_err(|error| failure(&error))?;
        Ok(Forgotten { places: survey.places, erased: true, left })
    }

    fn survey_unlocked(&self, target: &Target) -> Result<Survey, Failure> {
        let names = |path: &MemoryPath, is_there| self.vault.names_of(path, is_there);
        let traces = |sought: &Sought| self.vault.traces(sought);
        self.look_everywhere(target, &Past { names: &names, traces: &traces })
    }

    fn erase(&self, target: &Target, author: &Author) -> Result<Survey, Failure> {
        let say = |error: VaultError| failure(&error);
        let mut writer = self.vault.lock().map_err(say)?;
        writer.sweep_leftovers().map_err(say)?;
        let names = |path: &MemoryPath, is_there| writer.names_of(path, is_there);
        let traces = |sought: &Sought| writer.traces(sought);
        let survey = self.look_everywhere(target, &Past { names: &names, traces: &traces })?;
        if !survey.blocked.is_empty() {
            return Err(blocked(&survey.blocked));
        }
        if survey.places.is_empty() {
            // An earlier run may have come to just before its end.
            let was_left = writer.finish_forgetting().map_err(say)?;
            return if was_left { Ok(survey) } else { Err(nothing(target)) };
        }
        self.erase_all(&mut writer, &survey, author).map_err(partly)?;
        Ok(survey)
    }

    fn erase_all(&self, writer: &mut Writer<'_>, survey: &Survey, author: &Author) -> Result<(), Failure> {
        let say = |error: VaultError| failure(&error);
        let edit = |writer: &Writer<'_>| survey.edits.iter().try_for_each(|path| self.edit(writer, survey, path));
        if survey.note.is_some() {
            edit(writer)?;
        }
        survey.leftovers.iter().try_for_each(|path| writer.remove_spot(path)).map_err(say)?;
        writer.forget_history(&survey.sought, author, (self.settings.clock)()).map_err(say)?;
        if survey.note.is_none() {
            edit(writer)?;
        }
        survey.removals.iter().try_for_each(|path| writer.remove_spot(path)).map_err(say)
    }

    /// Cuts something out of a file as it is now.
    fn edit(&self, writer: &Writer<'_>, survey: &Survey, path: &str) -> Result<(), Failure> {
        for _ in 0..ATTEMPTS {
            let read = self.vault.read_spot(path, survey.limit).map_err(|error| failure(&error))?;
            let Some(read) = read else { return Ok(()) };
            let Ok(text) = std::str::from_utf8(&read) else { break };
            let Some(cut) = survey.cut(path, text) else { return Ok(()) };
            let replaced = writer.replace_spot(path, &read, cut.text.as_bytes()).map_err(|error| failure(&error))?;
            if replaced == Replaced::Yes {
                return Ok(());
            }
        }
        Err(Failure::new(Code::Conflict, format!("`{path}` is being changed by another program")))
    }

    fn look_everywhere(&self, target: &Target, past: &Past<'_>) -> Result<Survey, Failure> {
        let (sought, note) = match target {
            Target::Text(text) => {
                let forms = Forms::new(text).ok_or_else(too_short)?;
                (Sought::Text(forms), None)
            }
            Target::Note(path) => {
                let note = self.find_note(path, past)?;
                (Sought::Note(note.names.all.clone()), Some(note))
            }
        };
        let traces = (past.traces)(&sought).map_err(|error| failure(&error))?;
        let limit = self.settings.limits.file_bytes;
        let mut survey = Survey {
            sought,
            traces,
            places: Vec::new(),
            targets: Targets::default(),
            candidates: Vec::new(),
            edits: Vec::new(),
            leftovers: Vec::new(),
            removals: Vec::new(),
            blocked: Vec::new(),
            note,
            limit,
        };
        survey.note_history();
        let finders = Finders::new(&survey.sought);
        let visited = self.vault.every_file(&mut |spot, file| survey.visit(spot, file, &finders));
        visited.map_err(|error| failure(&error))?;
        for path in std::mem::take(&mut survey.candidates) {
            let read = self.vault.read_spot(path.as_str(), limit).map_err(|error| failure(&error))?;
            let text = read.and_then(|read| String::from_utf8(read).ok()).unwrap_or_default();
            if let Some(cut) = survey.cut(path.as_str(), &text) {
                survey.places.push(Place { place: Where::Link, path: Some(path.to_string()), count: cut.count });
                survey.edits.push(path.to_string());
            }
        }
        survey.places.sort();
        // The link last: without it, the note would not be found again.
        let now = survey.note.as_ref().map(|note| note.names.now.to_string());
        survey.removals.sort_by_key(|path| Some(path) != now.as_ref());
        Ok(survey)
    }

    fn find_note(&self, path: &MemoryPath, past: &Past<'_>) -> Result<Note, Failure> {
        let place = self.vault.resolve(path).map_err(plan::failure)?;
        let stat = self.vault.stat(&place).map_err(plan::failure)?;
        if stat.is_some_and(|stat| stat.kind == Kind::Directory) {
            return Err(Failure::new(Code::IsADirectory, format!("`{path}` is a folder"))
                .with_hint("forget its notes one by one"));
        }
        let mut names = (past.names)(&place, stat.is_some()).map_err(|error| failure(&error))?;
        if names.now != place && self.vault.stat(&names.now).map_err(plan::failure)?.is_some() {
            let failure = Failure::new(Code::NotFound, format!("`{path}` is called `{}` now", names.now));
            return Err(failure.with_hint(format!("`memdir forget {}` forgets it with all names it had", names.now)));
        }
        names.add(path);
        let limit = self.settings.limits.file_bytes;
        let digest = self.vault.read(&names.now, limit).ok().map(|image| image.content.digest());
        let alias = (place != *path).then(|| path.clone());
        let named = Targets::new(names.all.iter().map(|called| called.name.clone()));
        Ok(Note { names, alias, digest, named })
    }

    /// Looks for the letters once more, everywhere.
    fn look_again(&self, survey: &Survey) -> Result<Vec<Place>, VaultError> {
        let finders = Finders::new(&survey.sought);
        let mut left = Vec::new();
        let mut visit = |spot: &Spot, file: Option<&mut dyn Read>| {
            let in_name = matches!(survey.sought, Sought::Text(_)) && survey.sought.is_path(spot.name(), When::Ever);
            let count = file.map_or(Ok(0), |file| finders.count(file, spot.region))? + u64::from(in_name);
            if count > 0 {
                left.push(Place { place: kind_of(spot), path: Some(spot.path.clone()), count });
            }
            Ok(())
        };
        self.vault.every_file(&mut visit)?;
        self.vault.every_state_file(&mut visit)?;
        left.sort();
        Ok(left)
    }
}

impl Survey {
    fn note_history(&mut self) {
        for (path, count) in &self.traces.changes {
            self.places.push(Place { place: Where::History, path: path.clone(), count: *count });
        }
        if self.traces.entries > 0 {
            self.places.push(Place { place: Where::Audit, path: None, count: self.traces.entries });
        }
    }

    fn add(&mut self, place: Where, spot: &Spot, count: u64) {
        self.places.push(Place { place, path: Some(spot.path.clone()), count });
    }

    /// Cuts out of a file what has to go.
    fn cut(&self, path: &str, text: &str) -> Option<Cut> {
        let source = MemoryPath::parse(path).ok();
        let (Some(note), Some(source)) = (&self.note, source) else { return self.sought.cut(text) };
        let is_note = |path: &MemoryPath| *path == note.names.now || Some(path) == note.alias.as_ref();
        self.sought.cut_links(text, &|link| match self.targets.resolve(link, Some(&source)).best() {
            Some(path) => is_note(path),
            // It leads to a name that the note had.
            None => note.named.resolve(link, Some(&source)).best().is_some(),
        })
    }

    fn visit(&mut self, spot: &Spot, file: Option<&mut dyn Read>, finders: &Finders) -> io::Result<()> {
        if let (Some(_), Some(_), Some(path)) = (&self.note, spot.size, spot.memory_path()) {
            self.targets.insert(path);
        }
        if let (Some(note), Region::Open | Region::Trash) = (&self.note, spot.region)
            && let Some(place) = note.of(spot)
        {
            self.add(place, spot, 1);
            let files = if place == Where::Note { &mut self.removals } else { &mut self.leftovers };
            files.push(spot.path.clone());
            return Ok(());
        }
        let is_text = self.note.is_none();
        if is_text && self.sought.is_path(spot.name(), When::Ever) {
            self.add(Where::Name, spot, 1);
            if matches!(spot.region, Region::Open | Region::Trash) {
                self.blocked.push(spot.path.clone());
            }
        }
        let (Some(file), Some(size)) = (file, spot.size) else { return Ok(()) };
        match spot.region {
            Region::Leftover => self.visit_leftover(spot, file, size, finders),
            Region::Open | Region::Trash if size <= self.limit => self.visit_text(spot, file),
            Region::Open | Region::Trash | Region::Hidden | Region::Foreign | Region::Own => {
                let count = finders.count(file, spot.region)?;
                if count > 0 {
                    self.add(kind_of(spot), spot, count);
                    if is_text && matches!(spot.region, Region::Open | Region::Trash) {
                        self.blocked.push(spot.path.clone());
                    }
                }
                Ok(())
            }
        }
    }

    /// A file that is small enough to be changed.
    fn visit_text(&mut self, spot: &Spot, file: &mut dyn Read) -> io::Result<()> {
        let is_note = spot.memory_path().is_some_and(|path| path.is_note());
        let is_markdown = is_note || (spot.region == Region::Trash && spot.name().ends_with(".md"));
        if self.note.is_some() && !is_markdown {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.take(self.limit).read_to_end(&mut bytes)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            if self.note.is_none() && self.sought.is_in(&bytes) {
                self.add(kind_of(spot), spot, 1);
                self.blocked.push(spot.path.clone());
            }
            return Ok(());
        };
        let Some(cut) = self.sought.cut(text) else { return Ok(()) };
        if let (Some(_), Region::Open, Some(path)) = (&self.note, spot.region, spot.memory_path()) {
            self.candidates.push(path);
            return Ok(());
        }
        self.add(kind_of(spot), spot, cut.count);
        if spot.is_exact {
            self.edits.push(spot.path.clone())
        } else {
            self.blocked.push(spot.path.clone())
        }
        Ok(())
    }

    /// A file of ours that a process which ended early has left: it goes if it is what the history or the note holds,
    /// or if it holds the text; one that holds an edit of somebody's else stays for whom the recovery keeps it.
    fn visit_leftover(&mut self, spot: &Spot, file: &mut dyn Read, size: u64, finders: &Finders) -> io::Result<()> {
        let is_known = if spot.name().starts_with(".memdir-0-") {
            true
        } else if self.note.is_none() || size > self.limit {
            finders.count(file, spot.region)? > 0
        } else {
            let mut bytes = Vec::new();
            file.take(self.limit).read_to_end(&mut bytes)?;
            let digest = Digest::of(&bytes);
            let is_note = self.note.as_ref().is_some_and(|note| note.digest == Some(digest));
            is_note || self.traces.digests.contains(&digest) || self.sought.is_in(&bytes)
        };
        if is_known {
            self.add(Where::File, spot, 1);
            self.leftovers.push(spot.path.clone());
        }
        Ok(())
    }
}

impl Note {
    /// Of which kind a file is, if it is this note, or a copy of it.
    fn of(&self, spot: &Spot) -> Option<Where> {
        if spot.region == Region::Trash {
            let is_same = |called: &Called| called.name.name() == spot.name();
            return (spot.is_exact && spot.size.is_some() && self.names.all.iter().any(is_same))
                .then_some(Where::Trash);
        }
        let path = spot.memory_path()?;
        if path == self.names.now || Some(&path) == self.alias.as_ref() {
            return Some(Where::Note);
        }
        let now = &self.names.now;
        let is_copy = path.parent() == now.parent()
            && spot.size.is_some()
            && path.is_note() == now.is_note()
            && path.name().strip_prefix(now.stem()).is_some_and(|rest| rest.starts_with(".sync-conflict-"));
        is_copy.then_some(Where::File)
    }
}

fn kind_of(spot: &Spot) -> Where {
    match spot.region {
        Region::Open if spot.memory_path().is_some_and(|path| path.is_note()) => Where::Note,
        Region::Trash => Where::Trash,
        Region::Own | Region::Foreign => Where::State,
        Region::Open | Region::Hidden | Region::Leftover => Where::File,
    }
}

/// Searches files of any size in pieces.
struct Finders {
    finders: Vec<Finder<'static>>,
    longest: usize,
    /// Whether what is sought are names, which are none as part of longer ones.
    is_name: bool,
}

/// How much of a file is looked at at once.
const PIECE: usize = 1 << 16;

impl Finders {
    fn new(sought: &Sought) -> Self {
        let needles = sought.needles();
        let longest = needles.iter().map(Vec::len).max().unwrap_or(0);
        let finders = needles.iter().map(|needle| Finder::new(needle).into_owned()).collect();
        Self { finders, longest, is_name: matches!(sought, Sought::Note(_)) }
    }

    /// In the database of another machine names stand beside numbers, which may look like letters; what is said of ours
    /// is that it was looked through row by row.
    fn count(&self, file: &mut dyn Read, region: Region) -> io::Result<u64> {
        let is_name = self.is_name && region != Region::Foreign;
        let (mut piece, mut count) = (Vec::with_capacity(PIECE + self.longest + 1), 0);
        // Places that end before this one were counted with the piece before.
        let mut counted = 0;
        loop {
            let read = Read::take(&mut *file, PIECE as u64).read_to_end(&mut piece)?;
            // What follows the last byte is known with the next piece.
            let end = if read < PIECE { piece.len() + 1 } else { piece.len() };
            for finder in &self.finders {
                let length = finder.needle().len();
                let is_new = |at: &usize| (counted..end).contains(&(at + length));
                let found =
                    finder.find_iter(&piece).filter(is_new).filter(|at| !is_name || stands_alone(&piece, *at, length));
                count += u64::try_from(found.count()).unwrap_or(u64::MAX);
            }
            if read < PIECE {
                return Ok(count);
            }
            // The beginning of a place may stand at the end of a piece, and a byte before it.
            let gone = piece.len().saturating_sub(self.longest + 1);
            counted = end - gone;
            piece.drain(..gone);
        }
    }
}

/// Whether a place is the whole name, as far as bytes can tell.
fn stands_alone(piece: &[u8], at: usize, length: usize) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-');
    let before = at.checked_sub(1).and_then(|before| piece.get(before));
    !before.is_some_and(|byte| is_part(byte) || *byte == b'/') && !piece.get(at + length).is_some_and(is_part)
}

fn too_short() -> Failure {
    let message = format!("the text has fewer than {MIN_TEXT_CHARS} letters: it stands in half of all words");
    Failure::new(Code::Usage, message).with_hint("give more of it, or forget the note: `memdir forget NOTE`")
}

fn nothing(target: &Target) -> Failure {
    match target {
        Target::Note(path) => {
            Failure::new(Code::NotFound, format!("no note is or was called `{path}`, as far as the history goes"))
                .with_hint("`memdir tree` shows the notes, `memdir log` what they were called")
        }
        Target::Text(_) => Failure::new(Code::NotFound, "the text is nowhere in this memory").with_hint(
            "it is looked for letter by letter, upper and lower case apart; give a shorter piece, such as one word of it",
        ),
    }
}

fn blocked(paths: &[String]) -> Failure {
    const MOST: usize = 5;
    let shown = paths.iter().take(MOST).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > MOST { format!(" and {} more", paths.len() - MOST) } else { String::new() };
    Failure::new(Code::Conflict, format!("the text is in names, or in files that are no text: {shown}{more}"))
        .with_hint("nothing was erased; rename them, or forget each with `memdir forget PATH`, then try again")
}

/// Says that what was erased until now is, and stays.
fn partly(failure: Failure) -> Failure {
    failure.with_hint("some of it may be erased already; the same command again finishes it")
}

#[cfg(test)]
mod tests {
    use super::{Called, Finders, Forms, PIECE, Region, Sought};
    use crate::path::MemoryPath;

    #[track_caller]
    fn check(sought: &Sought, bytes: &[u8], expected: u64) {
        assert_eq!(Finders::new(sought).count(&mut &*bytes, Region::Open).unwrap(), expected);
    }

    #[test]
    fn a_place_is_counted_once_wherever_a_piece_ends() {
        let note = Sought::Note(vec![Called::always(MemoryPath::parse("a.md").unwrap())]);
        let text = Sought::Text(Forms::new("a.md").unwrap());
        for (around, names, texts) in [
            (" a.md ", 1, 1),
            (" a.mda.md", 0, 2),
            ("xa.md ", 0, 1),
            ("/a.md ", 0, 1),
            (" a.md\u{e9}", 0, 1),
            ("(a.md)", 1, 1),
        ] {
            for at in (0..3).chain(PIECE - 12..PIECE + 3).chain(2 * PIECE - 12..2 * PIECE + 3) {
                let before = ".".repeat(at);
                for after in [0, 1, PIECE] {
                    let bytes = format!("{before}{around}{}", ".".repeat(after));
                    check(&note, bytes.as_bytes(), names);
                    check(&text, bytes.as_bytes(), texts);
                }
            }
        }
        check(&note, b"a.md", 1);
        check(&note, b"", 0);
    }
}

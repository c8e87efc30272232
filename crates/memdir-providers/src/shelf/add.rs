//! Files of the person's own are put on the shelf.

use std::collections::VecDeque;
use std::fs::Metadata;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::{Kept, New, Shelf, ShelfError, Tell, disk, failed, file_name, is_name, parts, pump};
use crate::header::{self, Facts};
use crate::known_models;
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

/// What is to be put on the shelf.
#[derive(Debug)]
pub struct Adding<'a> {
    /// The file, or its parts in any order.
    pub files: &'a [PathBuf],
    /// How it shall be called; else as the catalogue calls it, else after its file.
    pub name: Option<&'a str>,
    /// Whether it is copied.
    pub place: Place,
    /// How many bytes may be written, where that is known.
    pub free_bytes: Option<u64>,
    /// What time it is.
    pub now: Timestamp,
}

/// Where the file of a model is to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// Copied to the shelf.
    Shelf,
    /// Where it lies. Whoever moves or changes it there breaks the model.
    Here,
}

/// A model that was added.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Added {
    /// The model.
    pub kept: Kept,
    /// Whether it was on the shelf before, so that nothing had to be done.
    pub was_there: bool,
}

impl Shelf {
    /// Puts a model file on the shelf, or joins its parts there. Nothing but the shelf is changed.
    ///
    /// Each byte is read twice, so that a file that is there already is not copied first.
    ///
    /// # Errors
    ///
    /// [`ShelfError`]. A part that was half written is removed, and left only by a crash.
    pub fn add(&self, adding: &Adding<'_>, tell: Tell<'_>, stop: &CancellationToken) -> Result<Added, ShelfError> {
        if let Some(name) = adding.name.filter(|name| !is_name(name)) {
            return Err(ShelfError::Name(memdir_core::catalog::shorten(name)));
        }
        let source = Source::open(adding.files)?;
        let facts = source.facts()?;
        let is_copied = adding.place == Place::Shelf;
        if !is_copied && adding.files.len() > 1 {
            return Err(ShelfError::Parts("only one whole file can be used where it lies".to_owned()));
        }
        let all = if is_copied { source.bytes.saturating_mul(2) } else { source.bytes };
        let digest = pump(&mut source.reader()?, &source.name, (0, all), &mut |_| Ok(()), tell, stop)?;
        let row = known_models::of_digest(digest);
        let name = match (adding.name, row) {
            (Some(name), _) => name.to_owned(),
            (None, Some(row)) => row.name.to_owned(),
            (None, None) => name_after(&source.name)?,
        };
        if known_models::find(&name).is_some_and(|row| row.digest != digest) {
            return Err(ShelfError::Reserved(name));
        }
        if let Some(kept) = self.known(&name, adding.name.is_some(), digest)? {
            return Ok(Added { kept, was_there: true });
        }
        let licence = row.map(|row| row.licence.to_owned()).or(facts.licence);
        let new = New { name, digest, source: source.name.clone(), licence, added: adding.now };
        let kept =
            if is_copied { self.copy(&source, new, adding.free_bytes, tell, stop)? } else { self.refer(&source, new)? };
        Ok(Added { kept, was_there: false })
    }

    /// The model that is this file already; `None` where there is room for it under this name.
    pub(crate) fn known(&self, name: &str, is_asked: bool, digest: Digest) -> Result<Option<Kept>, ShelfError> {
        let is_whole = |kept: &Kept| disk::open(&kept.file).is_ok_and(|(_, found)| found.len() == kept.bytes);
        match self.find(name) {
            Ok(kept) if kept.digest == digest => return Ok(is_whole(&kept).then_some(kept)),
            Ok(_) => return Err(ShelfError::Taken(name.to_owned())),
            Err(ShelfError::NotThere { .. }) => {}
            Err(error) => return Err(error),
        }
        let other = self.list()?.kept.into_iter().find(|kept| kept.digest == digest && is_whole(kept));
        match other {
            Some(kept) if is_asked => Err(ShelfError::Known(kept.name)),
            other => Ok(other),
        }
    }

    fn copy(
        &self,
        source: &Source,
        new: New,
        free: Option<u64>,
        tell: Tell<'_>,
        stop: &CancellationToken,
    ) -> Result<Kept, ShelfError> {
        if let Some(free) = free.filter(|free| *free < source.bytes) {
            return Err(ShelfError::Full { wanted: source.bytes, free });
        }
        let mut part = self.open_part(&new.name)?;
        let name = new.name.clone();
        let expected = new.digest;
        let copied = (|| {
            part.set_len(0).map_err(|error| failed("written", &format!("{name}.part"), &error))?;
            let progress = (source.bytes, source.bytes.saturating_mul(2));
            let found =
                pump(&mut source.reader()?, &source.name, progress, &mut |piece| part.write_all(piece), tell, stop)?;
            if found != expected {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(ShelfError::Changed { name: source.name.clone(), expected, found });
            }
            self.settle(&part, new)
        })();
        copied.inspect_err(|_| {
            // The next to take the name begins anew anyway.
            let _ = self.remove_part(&name);
        })
    }

    /// Writes down where a file lies, if it is still what was read.
    fn refer(&self, source: &Source, new: New) -> Result<Kept, ShelfError> {
        let path = source.files.first().map(PathBuf::as_path).unwrap_or_else(|| std::path::Path::new(""));
        let unread = |error| failed("opened", &source.name, &error);
        let path = disk::whole_path(path).map_err(unread)?;
        let (_, metadata) = disk::open(&path).map_err(unread)?;
        let seen = |metadata: &Metadata| (metadata.len(), disk::modified(metadata), disk::identity(metadata));
        if source.before.as_ref().map(seen) != Some(seen(&metadata)) {
            let (expected, found) = ("the file that was read".to_owned(), "one that was changed since".to_owned());
            return Err(ShelfError::Changed { name: source.name.clone(), expected, found });
        }
        self.note_place(new.kept(path, true, &metadata))
    }
}

/// The files that make up a model, in order.
#[derive(Debug)]
struct Source {
    /// What the first is called.
    name: String,
    files: Vec<PathBuf>,
    bytes: u64,
    /// What the first was before any of it was read.
    before: Option<Metadata>,
}

impl Source {
    fn open(files: &[PathBuf]) -> Result<Self, ShelfError> {
        let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
        let order = parts::order(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let files: Vec<PathBuf> = order.into_iter().filter_map(|at| files.get(at).cloned()).collect();
        let name = files.first().map(|file| file_name(file)).unwrap_or_default();
        let (mut bytes, mut before) = (0_u64, None);
        for (at, path) in files.iter().enumerate() {
            let (mut file, metadata) = disk::open(path).map_err(|error| failed("opened", &file_name(path), &error))?;
            bytes = bytes.saturating_add(metadata.len());
            before.get_or_insert(metadata);
            let mut begin = [0; 4];
            if at > 0 && file.read_exact(&mut begin).is_ok() && begin == *b"GGUF" {
                return Err(ShelfError::Split(file_name(path)));
            }
        }
        Ok(Self { name, files, bytes, before })
    }

    fn facts(&self) -> Result<Facts, ShelfError> {
        let facts = header::read(BufReader::new(self.reader()?), self.bytes);
        let facts = facts.map_err(|why| ShelfError::NotAModel { file: self.name.clone(), why })?;
        if facts.splits > 1 { Err(ShelfError::Split(self.name.clone())) } else { Ok(facts) }
    }

    fn reader(&self) -> Result<Joined, ShelfError> {
        let open = |path: &PathBuf| disk::open(path).map_err(|error| failed("opened", &file_name(path), &error));
        let files = self.files.iter().map(|path| Ok(open(path)?.0)).collect::<Result<_, ShelfError>>()?;
        Ok(Joined(files))
    }
}

/// Files that are read as one.
#[derive(Debug)]
struct Joined(VecDeque<disk::File>);

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(file) = self.0.front_mut() {
            match file.read(buffer)? {
                0 if !buffer.is_empty() => drop(self.0.pop_front()),
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

/// A name made of that of a file.
fn name_after(file: &str) -> Result<String, ShelfError> {
    let lower = file.to_ascii_lowercase();
    let stem = lower.split_once(".gguf").map_or(lower.as_str(), |(stem, _)| stem);
    let is_kept = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let name: String =
        stem.chars().map(|character| if is_kept(character) { character } else { '-' }).take(64).collect();
    let name = name.trim_matches(|character: char| !character.is_ascii_alphanumeric()).to_owned();
    if is_name(&name) { Ok(name) } else { Err(ShelfError::Name(memdir_core::catalog::shorten(file))) }
}

//! The shelf: a folder of model files, each with what is known of it written down beside it.
//!
//! A model is `NAME.gguf` with `NAME.toml`; one that is used where it lies has only the second. A file takes its name in one
//! instant, once it is whole; what is being written is `NAME.part`. What is written down comes before the file and goes after it, so
//! that a crash leaves none that is not listed. Whoever can write to the folder can exchange a file together
//! with what is written down: that a file is what was added shows that it did not break, not who made it.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

mod add;
mod change;
pub(crate) mod disk;
mod error;
mod parts;

use crate::header::{self, Facts};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

pub use add::{Added, Adding, Place};
pub use error::ShelfError;

/// The version of what is written down.
const VERSION: u32 = 1;
/// How long a name may be.
const LONGEST_NAME: usize = 64;

/// A folder of models; it need not be there yet.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: PathBuf,
}

/// A model on the shelf.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Where its file is.
    pub file: PathBuf,
    /// Whether the file lies elsewhere, and is only used.
    pub is_in_place: bool,
    /// The SHA-256 that the file had when it was added.
    pub digest: Digest,
    /// How large it was.
    pub bytes: u64,
    /// Where it comes from.
    pub source: String,
    /// Its licence, where that is known.
    pub licence: Option<String>,
    /// When it was added.
    pub added: Timestamp,
    /// When the file was changed last, as it was seen, in nanoseconds since the start of 1970.
    modified: i64,
}

/// What `NAME.toml` holds.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    version: u32,
    sha256: Digest,
    bytes: u64,
    modified: i64,
    source: String,
    licence: Option<String>,
    added: Timestamp,
    /// Where the file is, if not beside this.
    file: Option<PathBuf>,
}

/// What is known of a model that is about to be on the shelf.
#[derive(Clone, Debug)]
pub(crate) struct New {
    pub(crate) name: String,
    pub(crate) digest: Digest,
    pub(crate) source: String,
    pub(crate) licence: Option<String>,
    pub(crate) added: Timestamp,
}

impl New {
    fn kept(self, file: PathBuf, is_in_place: bool, metadata: &std::fs::Metadata) -> Kept {
        let Self { name, digest, source, licence, added } = self;
        let (bytes, modified) = (metadata.len(), disk::modified(metadata));
        Kept { name, file, is_in_place, digest, bytes, source, licence, added, modified }
    }
}

/// How far long work is: so many bytes are done, of so many.
pub type Tell<'a> = &'a mut dyn FnMut(u64, u64);

/// What lies on the shelf.
#[derive(Debug, Default)]
pub struct Listed {
    /// The models, sorted by name.
    pub kept: Vec<Kept>,
    /// Names with something written down that cannot be read, and why.
    pub broken: Vec<ShelfError>,
    /// Names of which only a part is there, with its bytes: what was not fetched to its end.
    pub parts: Vec<(String, u64)>,
}

impl Shelf {
    /// The shelf in this folder.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many bytes can still be put on it; `None` where the system does not say.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        disk::free_bytes(&self.folder)
    }

    /// What lies on it.
    ///
    /// # Errors
    ///
    /// [`ShelfError::Io`] where the folder is there and cannot be read.
    pub fn list(&self) -> Result<Listed, ShelfError> {
        let names = disk::names(&self.folder).map_err(|error| failed("read", "the folder of models", &error))?;
        let mut listed = Listed::default();
        for name in &names {
            if let Some(name) = name.strip_suffix(".toml").filter(|name| is_name(name)) {
                match self.find(name) {
                    Ok(kept) => listed.kept.push(kept),
                    // Another process has removed it since.
                    Err(ShelfError::NotThere { .. }) => {}
                    Err(error) => listed.broken.push(error),
                }
            } else if let Some(name) = name.strip_suffix(".part").filter(|name| is_name(name)) {
                let bytes = disk::open(&self.part(name)).map_or(0, |(_, metadata)| metadata.len());
                listed.parts.push((name.to_owned(), bytes));
            }
        }
        Ok(listed)
    }

    /// The model with this name. Its file is not looked at.
    ///
    /// # Errors
    ///
    /// [`ShelfError::NotThere`] with the names that there are, [`ShelfError::Record`], [`ShelfError::Io`].
    pub fn find(&self, name: &str) -> Result<Kept, ShelfError> {
        let record = if is_name(name) { self.record(name)? } else { None };
        let Some(record) = record else {
            let known = disk::names(&self.folder).unwrap_or_default();
            let known = known.iter().filter_map(|file| file.strip_suffix(".toml").map(str::to_owned)).collect();
            return Err(ShelfError::NotThere { name: memdir_core::catalog::shorten(name), known });
        };
        Ok(Kept {
            name: name.to_owned(),
            is_in_place: record.file.is_some(),
            file: record.file.unwrap_or_else(|| self.file(name)),
            digest: record.sha256,
            bytes: record.bytes,
            source: record.source,
            licence: record.licence,
            added: record.added,
            modified: record.modified,
        })
    }

    /// Makes sure that a model's file is what was added, before it is used. One that has the size and the time that it had is believed;
    /// else all of it is read.
    ///
    /// # Errors
    ///
    /// Those of [`Shelf::verify`].
    pub fn ensure(&self, kept: &Kept, tell: Tell<'_>, stop: &CancellationToken) -> Result<(), ShelfError> {
        let (_, metadata) = open_kept(kept)?;
        if (metadata.len(), disk::modified(&metadata)) == (kept.bytes, kept.modified) && kept.modified != 0 {
            return Ok(());
        }
        self.verify(kept, tell, stop)
    }

    /// Reads all of a model's file, and makes sure that it is what was added.
    ///
    /// # Errors
    ///
    /// [`ShelfError::Missing`], [`ShelfError::Changed`], [`ShelfError::Cancelled`], [`ShelfError::Io`].
    pub fn verify(&self, kept: &Kept, tell: Tell<'_>, stop: &CancellationToken) -> Result<(), ShelfError> {
        let (mut file, metadata) = open_kept(kept)?;
        let changed =
            |expected: String, found: String| ShelfError::Changed { name: kept.name.clone(), expected, found };
        if metadata.len() != kept.bytes {
            return Err(changed(format!("{} bytes", kept.bytes), metadata.len().to_string()));
        }
        let digest = digest(&mut file, &kept.name, kept.bytes, tell, stop)?;
        if digest != kept.digest {
            return Err(changed(kept.digest.to_string(), digest.to_string()));
        }
        let modified = disk::modified(&metadata);
        if modified != kept.modified {
            // A shelf that cannot be written is read each time.
            let _ = self.note_time(kept, modified);
        }
        Ok(())
    }

    /// How large a model's file is now; `None` where it is gone.
    #[must_use]
    pub fn size_of(&self, kept: &Kept) -> Option<u64> {
        disk::open(&kept.file).ok().map(|(_, metadata)| metadata.len())
    }

    /// Reads what a model's file says of itself.
    ///
    /// # Errors
    ///
    /// [`ShelfError::Missing`], [`ShelfError::NotAModel`], [`ShelfError::Io`].
    pub fn facts(&self, kept: &Kept) -> Result<Facts, ShelfError> {
        let (file, metadata) = open_kept(kept)?;
        let facts = header::read(BufReader::new(file), metadata.len());
        facts.map_err(|why| ShelfError::NotAModel { file: file_name(&kept.file), why })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.gguf"))
    }

    fn record_file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.toml"))
    }

    /// Where what is not whole yet is written.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.part"))
    }

    fn record(&self, name: &str) -> Result<Option<Record>, ShelfError> {
        let text = disk::read_text(&self.record_file(name))
            .map_err(|error| failed("read", &format!("{name}.toml"), &error))?;
        let wrong = |why: String| ShelfError::Record { name: name.to_owned(), why };
        let Some(text) = text else { return Ok(None) };
        let table: toml::Table = text.parse().map_err(|_| wrong("it is no TOML".to_owned()))?;
        match table.get("version").and_then(toml::Value::as_integer) {
            Some(version) if version == i64::from(VERSION) => {}
            version => {
                let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
                return Err(wrong(format!("its version is {version}, and {VERSION} is known")));
            }
        }
        let record = table.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
        Ok(Some(record))
    }
}

/// Whether a model can be called that: up to 64 of `a-z`, `0-9`, `.`, `_` and `-`, the first a letter or digit.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_known = |byte: u8| is_plain(byte) || matches!(byte, b'.' | b'_' | b'-');
    // What ends so would be taken for one of the files of another model.
    let is_file = [".gguf", ".toml", ".part", ".json"].iter().any(|end| name.ends_with(end));
    name.len() <= LONGEST_NAME && name.bytes().next().is_some_and(is_plain) && name.bytes().all(is_known) && !is_file
}

fn open_kept(kept: &Kept) -> Result<(disk::File, std::fs::Metadata), ShelfError> {
    disk::open(&kept.file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ShelfError::Missing(kept.name.clone()),
        _ => failed("opened", &file_name(&kept.file), &error),
    })
}

/// Digests all that comes, gives it to `each`, and tells how far it is: `before` bytes were done before, of `all`.
fn pump(
    from: &mut impl Read,
    what: &str,
    (before, all): (u64, u64),
    each: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
    tell: Tell<'_>,
    stop: &CancellationToken,
) -> Result<Digest, ShelfError> {
    let (mut hasher, mut done) = (Sha256::new(), before);
    let mut buffer = vec![0; 1 << 20];
    loop {
        if stop.is_cancelled() {
            return Err(ShelfError::Cancelled);
        }
        let read = from.read(&mut buffer).map_err(|error| failed("read", what, &error))?;
        if read == 0 {
            return Ok(Digest::from_bytes(hasher.finalize().into()));
        }
        let piece = buffer.get(..read).unwrap_or_default();
        hasher.update(piece);
        each(piece).map_err(|error| failed("written", what, &error))?;
        done = done.saturating_add(read as u64);
        tell(done, all);
    }
}

/// Digests all that comes.
pub(crate) fn digest(
    from: &mut impl Read,
    what: &str,
    all: u64,
    tell: Tell<'_>,
    stop: &CancellationToken,
) -> Result<Digest, ShelfError> {
    pump(from, what, (0, all), &mut |_| Ok(()), tell, stop)
}

fn failed(verb: &'static str, what: &str, error: &std::io::Error) -> ShelfError {
    ShelfError::Io { verb, what: what.to_owned(), kind: error.kind() }
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;

//! Memories that are thrown away: a copy of the notes of a task, in a folder of its own below the system's folder for such.

use std::path::{Path, PathBuf};

use super::checks::Files;
use super::suite::{Memory, Suite};
use crate::file;
use crate::output::io_failure;
use crate::stop::{Stop, usage};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};

/// How much text a memory of a suite may have, in bytes.
const MAX_MEMORY: u64 = 64 << 20;
/// How deep its folders may lie in each other.
const MAX_DEPTH: usize = 32;

/// A folder that is gone with the value.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes an empty folder that nobody else can look into.
    #[expect(
        clippy::disallowed_methods,
        reason = "a folder of the system's for what is thrown away, made new; no memory lies in it"
    )]
    pub(super) fn new() -> Result<Self, Stop> {
        let broken = |error: std::io::Error| {
            let message = format!("no folder for copies can be made: {}", error.kind());
            Failure::new(Code::Io, message).with_hint("TMPDIR names another place for them")
        };
        let base = std::fs::canonicalize(std::env::temp_dir()).map_err(broken)?;
        if base.ancestors().any(|above| above.join(".memdir").symlink_metadata().is_ok()) {
            let message = "the folder for copies lies in a memory";
            return Err(usage(message, "name one outside of it in TMPDIR").into());
        }
        let folder = base.join(format!("memdir-eval-{}", file::random_name(8)?));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(broken)?;
        Ok(Self { folder })
    }

    /// A fresh memory with these notes.
    #[expect(
        clippy::disallowed_methods,
        reason = "copies of notes in a folder of our own; their names are shapes of `MemoryPath`"
    )]
    pub(super) fn memory(&self, number: usize, files: &Files) -> Result<PathBuf, Stop> {
        let broken = io_failure("a copy cannot be made");
        let memory = self.folder.join(format!("memory-{number}"));
        std::fs::create_dir(&memory).map_err(&broken)?;
        for (path, bytes) in files {
            let file = memory.join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(&memory)).map_err(&broken)?;
            std::fs::write(file, bytes).map_err(&broken)?;
        }
        Ok(memory)
    }

    /// Throws a memory away.
    #[expect(clippy::disallowed_methods, reason = "a copy of our own")]
    pub(super) fn drop(memory: &Path) {
        // What is left goes with the folder.
        let _ = std::fs::remove_dir_all(memory);
    }
}

impl Drop for Scratch {
    #[expect(clippy::disallowed_methods, reason = "the folder is our own, and new")]
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The notes with which a task begins.
pub(super) fn start(suite: &Suite, memory: &Memory, places: &[PathBuf]) -> Result<Files, Stop> {
    let notes = match memory {
        Memory::Notes(notes) => notes,
        Memory::Named(name) => match suite.memories.get(name) {
            Some(notes) => notes,
            None => return folder(name, places),
        },
    };
    Ok(notes.iter().map(|(path, text)| (path.to_string(), text.clone().into_bytes())).collect())
}

/// The files of a folder that a task names.
fn folder(name: &str, places: &[PathBuf]) -> Result<Files, Stop> {
    let hint =
        "a memory is {path: text}, a name from `memories`, or a folder beside the suite, above it, or below --memories";
    let path =
        MemoryPath::parse(name).map_err(|error| usage(format!("`{name}` cannot name a memory: {error}"), hint))?;
    let found = places.iter().find(|place| is_folder(place, &path));
    let place = found.ok_or_else(|| usage(format!("there is no memory `{name}`"), hint))?;
    files(&place.join(path.as_str()))
}

/// Whether a path leads to a folder, with no link on the way below `place`.
fn is_folder(place: &Path, path: &MemoryPath) -> bool {
    let mut at = place.to_owned();
    path.as_str().split('/').all(|name| {
        at.push(name);
        at.symlink_metadata().is_ok_and(|found| found.is_dir())
    })
}

/// All files of a memory but hidden ones; links are not followed.
pub(super) fn files(folder: &Path) -> Result<Files, Stop> {
    let mut files = Files::new();
    let mut left = MAX_MEMORY;
    gather(folder, "", MAX_DEPTH, &mut left, &mut files)
        .map_err(|error| Failure::new(Code::Io, format!("a memory of the suite cannot be read: {error}")))?;
    Ok(files)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the person names the suite, and so the folder; or it is a copy of our own"
)]
fn gather(folder: &Path, name: &str, depth: usize, left: &mut u64, files: &mut Files) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Some(own) = entry.file_name().to_str().map(str::to_owned) else { continue };
        let (kind, below) = (entry.file_type()?, if name.is_empty() { own.clone() } else { format!("{name}/{own}") });
        if own.starts_with('.') {
            continue;
        } else if kind.is_dir() && depth > 0 {
            gather(&entry.path(), &below, depth - 1, left, files)?;
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            *left = left.checked_sub(size).ok_or(std::io::ErrorKind::FileTooLarge)?;
            files.insert(below, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}

//! Drafts: the copies of notes that `memdir edit` gives to an editor, in the person's cache.
//!
//! Each has a folder of its own, so that two of them never meet, and in it the path of its note. The folder's name begins with
//! what stands for the note, so that whatever an editor leaves in it is known to be of that note. One that stays holds what nobody
//! has saved: the next edit of the note tells of it, and `forget` looks into it.

use std::io;
use std::path::{Path, PathBuf};

use super::file;
use super::open::Opened;
use super::output::io_failure;
use super::stop::usage;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_engine::{ForgetTarget, ForgottenPlace, PlaceKind};

/// The copy of a note that an editor changes.
pub(super) struct Draft {
    folder: PathBuf,
    file: PathBuf,
    unsaved: Unsaved,
}

/// What becomes of a draft that was not saved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unsaved {
    /// It stays: it is the person's text.
    Stays,
    /// It goes: it began as a text that nobody has approved, and that still waits.
    Goes,
}

/// A draft that is there: an edit is at work on it, or was cut short.
pub(super) struct Left {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Draft {
    /// Makes one with the text of the note.
    pub(super) fn of(opened: &Opened, note: &MemoryPath, text: &str, unsaved: Unsaved) -> Result<Self, Failure> {
        let folder = folder(&opened.root)?.ok_or_else(|| usage("there is no folder for a draft", "set HOME"))?;
        let folder = folder.join(format!("{}{}", mark(note), file::random_name(16)?));
        let draft = Self { file: folder.join(note.as_str()), folder, unsaved };
        let made = file::Lock::of(&draft.file).and_then(|lock| lock.make(&draft.file, text.as_bytes(), None));
        made.map_err(io_failure("the draft cannot be made"))?;
        Ok(draft)
    }

    /// The file for the editor.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        Ok(file::read(&self.file, u64::MAX).map_err(unreadable)?.map(|(bytes, _)| bytes))
    }

    /// Removes the draft with all that an editor has left beside it.
    pub(super) fn discard(&self) -> Result<(), Failure> {
        remove(&self.folder)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.unsaved == Unsaved::Goes {
            // What cannot be removed now is told of by the next edit of the note.
            let _ = self.discard();
        }
    }
}

impl Left {
    /// Whether it is a draft of this note, whatever an editor has left in it.
    pub(super) fn is_of(&self, note: &MemoryPath) -> bool {
        self.folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&mark(note)))
    }

    /// What a person is told of it.
    pub(super) fn words(&self) -> String {
        let folder = self.folder.to_string_lossy();
        format!(
            "an unsaved draft of this note is in {folder}; another edit may still be open. Copy what you need, then delete it"
        )
    }

    fn holds(&self, target: &ForgetTarget) -> Result<bool, Failure> {
        match target {
            ForgetTarget::Note(note) => Ok(self.is_of(note)),
            ForgetTarget::Text(text) => {
                for file in &self.files {
                    let bytes = file::read(file, u64::MAX).map_err(unreadable)?.map(|(bytes, _)| bytes);
                    if bytes.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(text.as_str())) {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// As `forget` lists it.
    pub(super) fn place(&self) -> ForgottenPlace {
        ForgottenPlace { place: PlaceKind::Draft, path: Some(self.folder.to_string_lossy().into_owned()), count: 1 }
    }

    /// Removes it with all that an editor has left beside it.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        remove(&self.folder)
    }
}

/// With what the names of the folders of this note's drafts begin.
fn mark(note: &MemoryPath) -> String {
    let digest = Digest::of(note.as_str().as_bytes());
    let short: String = digest.as_bytes().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{short}-")
}

/// Removes the folder of a draft with all that is in it.
#[expect(clippy::disallowed_methods, reason = "a folder in the person's cache, which an edit has made")]
fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_failure("the draft cannot be removed")(error)),
        _ => Ok(()),
    }
}

/// The drafts of notes of the memory at `root`.
pub(super) fn left(root: &Path) -> Result<Vec<Left>, Failure> {
    let Some(folder) = folder(root)? else { return Ok(Vec::new()) };
    let mut drafts = Vec::new();
    for folder in entries(&folder)? {
        let (mut files, mut folders) = (Vec::new(), vec![folder.clone()]);
        while let Some(folder) = folders.pop() {
            for path in entries(&folder)? {
                // No link is followed.
                let is_folder = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
                if is_folder { folders.push(path) } else { files.push(path) }
            }
        }
        if !files.is_empty() {
            drafts.push(Left { folder, files });
        }
    }
    Ok(drafts)
}

/// The drafts that hold what is to be forgotten.
pub(super) fn holding(root: &Path, target: &ForgetTarget) -> Result<Vec<Left>, Failure> {
    let mut found = Vec::new();
    for left in left(root)? {
        if left.holds(target)? {
            found.push(left);
        }
    }
    Ok(found)
}

/// Where the drafts of this memory are; `None` where this system names no folder for them.
fn folder(root: &Path) -> Result<Option<PathBuf>, Failure> {
    let cache = memdir_host::cache_folder();
    Ok(cache.map(|cache| cache.join(memdir_host::name_of(root)).join("drafts")))
}

/// The names in a folder, sorted; none where it is not there.
#[expect(clippy::disallowed_methods, reason = "a folder in the person's cache")]
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries.map_err(unreadable)?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

fn unreadable(error: io::Error) -> Failure {
    io_failure("the draft cannot be read")(error)
}

//! The files beside notes: what a batch writes before it takes its place, and what it displaced.

use std::io::{self, Write};

use cap_std::fs::{Dir, File};

use super::disk;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_plan::{Content, Image};

/// The name of the temporary file of a step.
pub(super) fn temporary(batch: u64, index: usize) -> String {
    format!(".memdir-{batch}-{index}.tmp")
}

/// Whether a name is that of a temporary file of ours.
pub(super) fn is_temporary(name: &str) -> bool {
    numbers(name).is_some()
}

/// The batch of a temporary file; 0, which none has, for another name.
pub(super) fn batch_of(name: &str) -> u64 {
    numbers(name).and_then(|(batch, _)| batch.parse().ok()).unwrap_or(0)
}

fn numbers(name: &str) -> Option<(&str, &str)> {
    let numbers = name.strip_prefix(".memdir-")?.strip_suffix(".tmp")?.split_once('-');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.filter(|(batch, step)| is_number(batch) && is_number(step))
}

/// Opens a file whose attributes its new version takes over; `None` where it is gone or no file, which a later step finds.
pub(super) fn open_old(root: &Dir, path: &MemoryPath) -> Option<File> {
    disk::open_file(root, path).ok().filter(is_file)
}

/// As [`open_old`], in an open folder.
pub(super) fn open_old_name(folder: &Dir, name: &str) -> Option<File> {
    disk::open_name(folder, name).ok().filter(is_file)
}

fn is_file(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Writes a new file with the image's content and mode, and the attributes of the `old` one that it takes the place of; a
/// stale one of the same name gives way.
pub(super) fn write_new(folder: &Dir, name: &str, image: &Image, old: Option<&File>) -> io::Result<()> {
    let mode = image.mode.map_or(0o666, |mode| mode & 0o700);
    let mut file = match disk::create_name(folder, name, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            folder.remove_file(name)?;
            disk::create_name(folder, name, mode)?
        }
        other => other?,
    };
    // The mode comes last, for an access list sets it, too.
    let lacks_list = old.map_or(Ok(false), |old| disk::copy_attributes(old, &file))?;
    file.write_all(image.content.bytes())?;
    match image.mode {
        Some(mode) => disk::set_mode(&file, if lacks_list { mode & !0o070 } else { mode }),
        None => Ok(()),
    }
}

/// Makes the temporary file of a step hold what it has to, anew: nothing where the step removes a file.
///
/// A stale one gives way. A cut of the power may have taken the row that named a batch and left its files, and then
/// the next batch has the same number.
pub(super) fn set_temporary(folder: &Dir, name: &str, after: Option<&Image>, old: Option<&File>) -> io::Result<()> {
    match after {
        Some(after) => write_new(folder, name, after, old),
        None => match folder.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// Digests a regular file in an open folder; `None` when nothing or something else is there.
pub(super) fn digest_of(folder: &Dir, name: &str) -> io::Result<Option<Digest>> {
    let file = match disk::open_name(folder, name) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound || disk::is_link_error(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut &file, &mut bytes)?;
    Ok(Some(Content::new(bytes).digest()))
}

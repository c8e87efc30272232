//! Files with weights, named by their paths: the shelf is a folder of the person's own, outside any memory.

use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memdir_core::retry;

/// A file outside any memory.
#[expect(clippy::disallowed_types, reason = "weights lie outside any memory and are named by their path")]
pub(crate) type File = std::fs::File;

/// Opens a regular file to read it; a pipe or a device is refused, and not waited for.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file: File = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"))
    }
}

/// Opens a file to go on writing it, and locks it; `WouldBlock` where another process writes it. A link is not followed.
pub(crate) fn open_part(path: &Path) -> io::Result<File> {
    /// Another process can take the name away only when it has done its work.
    const MOST_TRIES: u32 = 8;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    for _ in 0..MOST_TRIES {
        let file: File = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        if let Some(file) = lock(file, path)? {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Locks a file that was opened under this name; `None` where it has another name now, or none.
pub(super) fn lock(file: File, path: &Path) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => {}
        Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
        Err(std::fs::TryLockError::Error(error)) => return Err(error),
    }
    let metadata = file.metadata()?;
    let is_it = std::fs::symlink_metadata(path).is_ok_and(|now| identity(&now) == identity(&metadata));
    Ok(is_it.then_some(file))
}

/// What tells a file from every other one on the machine, where the system says.
pub(super) fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Locks a folder until what comes back is dropped; `None` where the system does not, and then two changes in the same instant are
/// not told apart. `TimedOut` where another process keeps it.
pub(crate) fn lock_folder(folder: &Path) -> io::Result<Option<File>> {
    /// A change is made in an instant.
    const PATIENCE: Duration = Duration::from_secs(10);
    let Ok(folder) = OpenOptions::new().read(true).open(folder) else { return Ok(None) };
    let locked = retry::within(PATIENCE, || match folder.try_lock() {
        Ok(()) => Ok(Some(true)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(_)) => Ok::<_, io::Error>(Some(false)),
    })?;
    match locked {
        Some(is_locked) => Ok(is_locked.then_some(folder)),
        None => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Reads a small text; `None` where there is no such file.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    const MOST_BYTES: u64 = 1 << 16;
    let file = match open(path) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Writes a small text in one instant. Whoever calls holds a lock, so that nobody else writes it.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let temporary = path.with_file_name(name);
    // One name under the lock: what a crash has left goes, and neither a link nor a pipe that lies there is opened.
    remove(&temporary)?;
    let write = || {
        let mut file: File = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        // It may not be there at all.
        let _ = remove(&temporary);
    })
}

/// Makes a folder and those above it.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Removes a file; one that is not there is no failure.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The whole path of a file that is there.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn whole_path(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// The names in a folder that are UTF-8, sorted; none where it is not there.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Flushes the names of a folder, where the system can.
pub(crate) fn flush_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder: File = OpenOptions::new().read(true).open(folder)?;
        folder.sync_all()
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(())
    }
}

/// How many bytes can still be written below a path that may not be there yet; `None` where the system does not say.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = path.ancestors().find_map(|above| rustix::fs::statvfs(above).ok())?;
        found.f_bavail.checked_mul(found.f_frsize)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// When a file was last changed, in nanoseconds since the start of 1970; 0 where the system does not say.
pub(crate) fn modified(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

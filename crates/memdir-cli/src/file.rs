//! Files of the person's outside any memory: the settings, the register of clients, the configuration of other programs.
//!
//! They are named by their path. Each is replaced in one instant, under a lock on its folder.

use std::fs::{Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::stop::usage;
use memdir_core::report::Failure;
use memdir_core::retry;

/// How long another process may take to change a file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of a file, locked, so that of two processes that change the file none undoes the other.
#[derive(Debug)]
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
pub(super) struct Lock(Option<std::fs::File>);

impl Lock {
    /// Locks the folder of `file`, which is made if it is not there, for this person alone; `TimedOut` where another process
    /// keeps it.
    #[expect(clippy::disallowed_types, reason = "a folder outside the memory, named by its path")]
    pub(super) fn of(file: &Path) -> io::Result<Self> {
        let Some(folder) = file.parent() else { return Ok(Self(None)) };
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        // Where a folder cannot be opened as a file, two changes in the same instant are not told apart.
        let folder = std::fs::File::open(folder).ok();
        if let Some(folder) = &folder {
            lock(folder, PATIENCE)?.ok_or(io::ErrorKind::TimedOut)?;
        }
        Ok(Self(folder))
    }

    /// Puts `content` in the place of a file, flushed under its name. Without `mode` only this person can read it.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a file outside the memory, named by its path"
    )]
    pub(super) fn replace(&self, file: &Path, content: &[u8], mode: Option<Permissions>) -> io::Result<()> {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".memdir-tmp");
        let temporary = file.with_file_name(name);
        let write = || {
            // One name under the lock: what a crash has left goes, and a link that lies there is not followed.
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut out: std::fs::File = options.open(&temporary)?;
            if let Some(mode) = mode {
                out.set_permissions(mode)?;
            }
            out.write_all(content)?;
            out.sync_all()?;
            std::fs::rename(&temporary, file)?;
            self.0.as_ref().map_or(Ok(()), std::fs::File::sync_all)
        };
        write().inspect_err(|_| {
            // It may not be there at all.
            let _ = std::fs::remove_file(&temporary);
        })
    }

    /// Makes a file that is not there yet, flushed; `AlreadyExists` where it is.
    pub(super) fn make(&self, file: &Path, content: &[u8], mode: Option<Permissions>) -> io::Result<()> {
        if std::fs::symlink_metadata(file).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.replace(file, content, mode)
    }

    /// Removes a file.
    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a file outside the memory")]
    pub(super) fn remove(&self, file: &Path) -> io::Result<()> {
        std::fs::remove_file(file)?;
        self.0.as_ref().map_or(Ok(()), std::fs::File::sync_all)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            // The kernel lets go of it when the process ends, whatever happens here.
            let _ = folder.unlock();
        }
    }
}

/// By what it is seen that a file is another one than before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stamp {
    #[cfg(unix)]
    place: (u64, u64),
    #[cfg(unix)]
    changed: (i64, i64),
    modified: Option<std::time::SystemTime>,
    size: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            #[cfg(unix)]
            place: (metadata.dev(), metadata.ino()),
            #[cfg(unix)]
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            modified: metadata.modified().ok(),
            size: metadata.len(),
        }
    }

    /// What is at `path` by now; `None` where nothing is.
    #[expect(clippy::disallowed_methods, reason = "a file outside the memory, named by its path")]
    pub(super) fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().as_ref().map(Self::of)
    }
}

/// Locks a file or folder until it is closed, or let go of; `None` where another process keeps it for longer than `limit`.
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
pub(super) fn lock(file: &std::fs::File, limit: Duration) -> io::Result<Option<()>> {
    retry::within(limit, || match file.try_lock() {
        Ok(()) => Ok(Some(())),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    })
}

/// Opens a regular file and reads it, if it is there and has at most `most` bytes.
#[expect(clippy::disallowed_types, reason = "a file outside the memory, named by its path")]
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<(Vec<u8>, Metadata)>> {
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe is told from a file once it is open, and nobody waits for its other end.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file: std::fs::File = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_behind_link(path) => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some((content, metadata)))
}

/// Whether a path leads nowhere since it is a link that does, or goes through one: its target may be on a drive that is not there now.
fn is_behind_link(path: &Path) -> bool {
    // The longest part of the path that has a name. A link that leads somewhere only lacks what would be behind it.
    path.ancestors().find(|part| std::fs::symlink_metadata(part).is_ok()).is_some_and(|part| follow(part).is_err())
}

/// Why a file could not be read, in words.
pub(super) fn why(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "it is not there".to_owned(),
        io::ErrorKind::InvalidData => "it is no UTF-8 text".to_owned(),
        kind => kind.to_string(),
    }
}

/// Reads a text of at most `most` bytes from a file that the person names on the command line as a `what`.
pub(super) fn read_named(what: &str, path: &Path, most: u64, hint: &str) -> Result<String, Failure> {
    let unreadable = |kind| usage(format!("the {what} `{}` cannot be read: {}", path.display(), why(kind)), hint);
    let read = read(path, most).map_err(|error| unreadable(error.kind()))?;
    let (bytes, _) = read.ok_or_else(|| unreadable(io::ErrorKind::NotFound))?;
    String::from_utf8(bytes).map_err(|_| unreadable(io::ErrorKind::InvalidData))
}

/// A name that nobody else chooses: so many random bytes in hex, at most 16.
pub(super) fn random_name(bytes: usize) -> Result<String, Failure> {
    let random = memdir_vault::random().map_err(|error| memdir_engine::failure(&error))?;
    Ok(random.iter().take(bytes).map(|byte| format!("{byte:02x}")).collect())
}

/// Reads all of standard input, which holds a `what` of at most `most` bytes.
pub(super) fn read_input(what: &str, most: u64) -> Result<Vec<u8>, Failure> {
    let mut input = Vec::new();
    let read = io::stdin().lock().take(most + 1).read_to_end(&mut input);
    read.map_err(|error| {
        usage(format!("standard input cannot be read: {}", error.kind()), format!("pipe the {what} into it"))
    })?;
    if input.len() as u64 > most {
        return Err(usage(format!("the {what} has more than {most} bytes"), "send less at once"));
    }
    Ok(input)
}

/// The file that a path leads to; the path itself where nothing is there.
///
/// # Errors
///
/// Those of the system, and `NotFound` for a link that leads nowhere.
#[expect(clippy::disallowed_methods, reason = "a file outside the memory, named by its path")]
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    // One look at the name decides: another process may make the file at any moment.
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => std::fs::canonicalize(path),
        Ok(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(std::fs::canonicalize(folder)?.join(path.file_name().unwrap_or_default()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test is the other process")]

    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_file_that_another_process_makes_meanwhile_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let whole = std::fs::canonicalize(folder.path()).unwrap().join("clients.toml");
        let (file, is_over) = (folder.path().join("clients.toml"), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::fs::write(&file, "").unwrap();
                    std::fs::remove_file(&file).unwrap();
                }
            });
            let wrong = (0..20_000)
                .map(|_| follow(&file))
                .find(|found| !found.as_ref().is_ok_and(|found| *found == file || *found == whole));
            is_over.store(true, Ordering::Relaxed);
            assert!(wrong.is_none(), "{wrong:?}");
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_one_that_leads_nowhere_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(folder.path()).unwrap();
        std::os::unix::fs::symlink("there", base.join("link")).unwrap();
        assert_eq!(follow(&base.join("link")).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(base.join("there"), "").unwrap();
        assert_eq!(follow(&base.join("link")).unwrap(), base.join("there"));
        assert_eq!(follow(&base.join("none")).unwrap(), base.join("none"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_behind_a_link_is_missing_only_where_the_link_leads_somewhere() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("dotfiles")).unwrap();
        std::os::unix::fs::symlink(at("dotfiles"), at("config")).unwrap();
        let missing = |name: &str| read(&at(name), 10).map(|read| read.is_none()).map_err(|error| error.kind());
        assert_eq!(missing("config/memdir/config.toml"), Ok(true), "there is none yet");
        assert_eq!(missing("none/config.toml"), Ok(true));
        std::fs::rename(at("dotfiles"), at("elsewhere")).unwrap();
        assert_eq!(missing("config/memdir/config.toml"), Err(io::ErrorKind::NotFound));
        std::os::unix::fs::symlink(at("gone.toml"), at("config.toml")).unwrap();
        assert_eq!(missing("config.toml"), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn nobody_waits_for_ever_for_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        let held = Lock::of(&file).unwrap();
        let other = OpenOptions::new().read(true).open(folder.path()).unwrap();
        assert_eq!(lock(&other, Duration::from_millis(2)).unwrap(), None);
        drop(held);
        assert_eq!(lock(&other, Duration::ZERO).unwrap(), Some(()));
    }
}

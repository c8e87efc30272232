//! Files of the person's outside any memory: the settings, the register of clients, the configuration of other programs.
//!
//! They are named by their path. Each is replaced in one instant, under a lock on its folder.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The folder of a file, locked, so that of two processes that change the file none undoes the other.
#[derive(Debug)]
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
pub(super) struct Lock(Option<std::fs::File>);

impl Lock {
    /// Locks the folder of `file`, which is made if it is not there, for this person alone.
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
            folder.lock()?;
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

/// Opens a regular file and reads it, if it is there and has at most `most` bytes.
#[expect(clippy::disallowed_types, reason = "a file outside the memory, named by its path")]
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<(Vec<u8>, std::fs::Metadata)>> {
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe is told from a file once it is open, and nobody waits for its other end.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file: std::fs::File = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
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

/// The file that a path leads to; the path itself where nothing is there.
///
/// # Errors
///
/// Those of the system, and `NotFound` for a link that leads nowhere.
#[expect(clippy::disallowed_methods, reason = "a file outside the memory, named by its path")]
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && std::fs::symlink_metadata(path).is_err() => {
            Ok(path.to_owned())
        }
        found => found,
    }
}

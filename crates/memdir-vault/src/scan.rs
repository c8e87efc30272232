//! [`Tree::scan`] for the disk: every file below a folder is looked into, by several threads.
//!
//! The files are opened by name below the handle of their folder, and what is not a plain regular file by then takes
//! the careful way of [`Vault::read_bytes`].

use cap_std::fs::Dir;

use super::walk::{Walked, WalkedFile, walk};
use super::{Vault, disk};
use memdir_core::path::MemoryPath;
use memdir_plan::{Scan, Scanned, TreeError};

/// A buffer that grew beyond this for one file is not kept for the next.
const KEPT_BUFFER: usize = 1 << 20;

impl<R: Send> Walked for Scanned<R> {
    fn path(&self) -> &MemoryPath {
        &self.path
    }
}

/// As [`Tree::scan`](memdir_plan::Tree::scan).
pub(super) fn scan<R: Send>(
    vault: &Vault,
    scan: &Scan<'_>,
    look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
) -> Result<Vec<Scanned<R>>, TreeError> {
    let walked = walk(vault, scan.folder, scan.stop, &|| {
        let mut buffer = Vec::new();
        move |folder: &Dir, WalkedFile { path, is_link }: WalkedFile| {
            let seen = (scan.wants)(&path).then(|| {
                let folder = (!is_link).then_some(folder);
                with_bytes(vault, folder, &path, scan.limit, &mut buffer, |bytes| look(&path, bytes))
            });
            Ok(Some(Scanned { path, is_link, seen }))
        }
    })?;
    if !walked.unlisted.is_empty() {
        tracing::warn!(folders = walked.unlisted.len(), "folders could not be listed");
    }
    Ok(walked.found)
}

/// Gives the bytes of a file to `look`, or why it cannot be read. `folder` is the open folder of a plain file.
fn with_bytes<R>(
    vault: &Vault,
    folder: Option<&Dir>,
    path: &MemoryPath,
    limit: u64,
    buffer: &mut Vec<u8>,
    look: impl FnOnce(Result<&[u8], TreeError>) -> R,
) -> R {
    let filled = folder.and_then(|folder| disk::read_name(folder, path.name(), limit, buffer).ok().flatten());
    let seen = match filled.and_then(|filled| buffer.get(..filled)) {
        Some(bytes) => look(Ok(bytes)),
        // A link, or something else than it was a moment ago, or nothing that can be read.
        None => match vault.read_bytes(path, limit) {
            Ok((bytes, _)) => look(Ok(&bytes)),
            Err(error) => look(Err(error)),
        },
    };
    if buffer.len() > KEPT_BUFFER {
        *buffer = Vec::new();
    }
    seen
}

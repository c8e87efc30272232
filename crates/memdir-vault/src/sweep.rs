//! The sweep: the stamp of every file, which shows whether it has changed, without reading any.

use std::collections::BTreeSet;

use cap_std::fs::{Dir, Metadata};

use super::walk::{Unknown, Walk, Walked, WalkedFile, walk};
use super::{Vault, disk};
use memdir_core::path::MemoryPath;
use memdir_plan::{Stamp, Swept, TreeError};

/// All files of a memory, with their stamps.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sweep {
    /// In the order of their paths.
    pub files: Vec<Swept>,
    /// Folders that could not be listed and files that could not be looked at, for a reason that may pass, such as too
    /// many open files. What is there, or below, is unknown.
    pub unknown: BTreeSet<MemoryPath>,
}

impl Walked for Swept {
    fn path(&self) -> &MemoryPath {
        &self.path
    }
}

impl Vault {
    /// Looks at every file that a scan of the whole memory would name, in the order of their paths, and reads none.
    ///
    /// Files that are removed meanwhile are left out, and so are those that we may not look at. `stop` is called before each file,
    /// by several threads.
    ///
    /// # Errors
    ///
    /// [`TreeError::Stopped`]; those of listing the memory's own folder.
    pub fn sweep(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Sweep, TreeError> {
        let Walk { found, unlisted, unknown, .. } = self.walk_stamps(stop)?;
        Ok(Sweep { files: found, unknown: unlisted.into_iter().chain(unknown).collect() })
    }

    /// Walks over all files and takes the stamp of each.
    pub(super) fn walk_stamps(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<Walk<Swept>, TreeError> {
        walk(self, None, stop, &|| {
            |folder: &Dir, WalkedFile { path, is_link }: WalkedFile| {
                let plain = if is_link { None } else { plain_stamp(folder, path.name()) };
                match plain {
                    Some(stamp) => Ok(Some(Swept { path, is_link, stamp })),
                    // A link, or something else than it was a moment ago.
                    None => match self.stamp(&path) {
                        Err(TreeError::Io(_)) => Err(Unknown(path)),
                        other => Ok(other.ok().flatten()),
                    },
                }
            }
        })
    }

    /// Looks at one file as a sweep would; `None` where a sweep would leave it out.
    ///
    /// # Errors
    ///
    /// [`TreeError::NoAccess`] and [`TreeError::Io`].
    pub fn stamp(&self, path: &MemoryPath) -> Result<Option<Swept>, TreeError> {
        let folder = match disk::open_folder(&self.dir, path.parent().as_ref()) {
            Ok(folder) => folder,
            Err(error) => return absent(disk::unreadable(path, &error)),
        };
        let named = match folder.symlink_metadata(path.name()) {
            Ok(metadata) => metadata,
            Err(error) => return absent(disk::unreadable(path, &error)),
        };
        let is_link = named.is_symlink();
        let metadata = if is_link { self.metadata_through_links(path) } else { Ok(named) };
        match metadata {
            Ok(metadata) if metadata.is_file() => {
                Ok(Some(Swept { path: path.clone(), is_link, stamp: stamp_of(&metadata) }))
            }
            Ok(_) => Ok(None),
            Err(error) => absent(error),
        }
    }
}

/// `None` for a file that is not there or that no path may lead to; an error for one that cannot be looked at.
fn absent(error: TreeError) -> Result<Option<Swept>, TreeError> {
    match error {
        TreeError::NoAccess(_) | TreeError::Io(_) => Err(error),
        _ => Ok(None),
    }
}

/// The stamp of a plain file in an open folder, without following links; `None` for anything else.
#[cfg(target_os = "linux")]
fn plain_stamp(folder: &Dir, name: &str) -> Option<Stamp> {
    use rustix::fs::{AtFlags, FileType, StatxFlags, StatxTimestamp, statx};

    let wanted = StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::MTIME | StatxFlags::CTIME | StatxFlags::INO;
    let found = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
    if FileType::from_raw_mode(found.stx_mode.into()) != FileType::RegularFile {
        return None;
    }
    let nanoseconds = |time: StatxTimestamp| nanoseconds(time.tv_sec, time.tv_nsec.into());
    Some(Stamp {
        size: found.stx_size,
        modified: nanoseconds(found.stx_mtime),
        changed: nanoseconds(found.stx_ctime),
        inode: found.stx_ino,
    })
}

#[cfg(not(target_os = "linux"))]
fn plain_stamp(folder: &Dir, name: &str) -> Option<Stamp> {
    folder.symlink_metadata(name).ok().filter(Metadata::is_file).map(|metadata| stamp_of(&metadata))
}

#[cfg(unix)]
fn stamp_of(metadata: &Metadata) -> Stamp {
    use cap_std::fs::MetadataExt;

    Stamp {
        size: metadata.len(),
        modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn stamp_of(metadata: &Metadata) -> Stamp {
    use std::time::UNIX_EPOCH;

    let modified = metadata.modified().ok().and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok());
    let modified = modified.unwrap_or_default();
    let seconds = i64::try_from(modified.as_secs()).unwrap_or(i64::MAX);
    let (_, inode) = disk::identity(metadata);
    Stamp { size: metadata.len(), modified: nanoseconds(seconds, modified.subsec_nanos().into()), changed: 0, inode }
}

/// A time as one number, capped some centuries away.
fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

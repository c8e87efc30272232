//! The few operations on a disk, each by a handle and a name below it.
//!
//! Owns how a file is reached: never by an ambient path, never through a symbolic link. On Linux that is one `openat2`;
//! elsewhere, and where a sandbox forbids that call, each component is opened in turn.

use std::io::{self, Read};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
#[cfg(unix)]
use cap_std::fs::OpenOptionsExt;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use memdir_core::path::MemoryPath;
use memdir_plan::TreeError;

/// Opens a folder; `None` is the root.
pub(super) fn open_folder(root: &Dir, path: Option<&MemoryPath>) -> io::Result<Dir> {
    let Some(path) = path else { return root.try_clone() };
    #[cfg(target_os = "linux")]
    if let Some(opened) = linux::open(root, path.as_str(), linux::FOLDER) {
        return opened.map(|file| Dir::from_std_file(file.into()));
    }
    let mut components = path.components();
    let first = root.open_dir_nofollow(components.next().unwrap_or_default())?;
    components.try_fold(first, |folder, name| folder.open_dir_nofollow(name))
}

/// Looks at what is at a path below `root`, without following a link on the way or at its end. Where the system lets us name a
/// place without opening it, nobody who watches the folder is told.
pub(super) fn look(root: &Dir, path: &MemoryPath) -> io::Result<Metadata> {
    #[cfg(target_os = "linux")]
    if let Some(place) = linux::open(root, path.as_str(), linux::PLACE) {
        return File::from_std(place?.into()).metadata();
    }
    match path.parent() {
        Some(parent) => open_folder(root, Some(&parent))?.symlink_metadata(path.name()),
        None => root.symlink_metadata(path.name()),
    }
}

/// Opens a file for reading and never blocks, not even on a pipe or a device.
pub(super) fn open_file(root: &Dir, path: &MemoryPath) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Some(opened) = linux::open(root, path.as_str(), linux::FILE) {
        return opened.map(|file| File::from_std(file.into()));
    }
    match path.parent() {
        Some(parent) => open_name(&open_folder(root, Some(&parent))?, path.name()),
        None => open_name(root, path.name()),
    }
}

/// Opens a file in an open folder for reading, as [`open_file`] does.
pub(super) fn open_name(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.custom_flags(NONBLOCK);
    folder.open_with(name, &options)
}

/// Reads a regular file of at most `limit` bytes in an open folder into a buffer that only grows, and gives the length.
///
/// `None` for anything else; the caller then takes the slower way, which says why.
pub(super) fn read_name(folder: &Dir, name: &str, limit: u64, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    #[cfg(unix)]
    let (mut file, size) = {
        use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = openat(folder, name, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        (File::from_std(file.into()), u64::try_from(stat.st_size).unwrap_or(u64::MAX))
    };
    #[cfg(not(unix))]
    let (mut file, size) = {
        let file = open_name(folder, name)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(None);
        }
        (file, metadata.len())
    };
    let Some(size) = usize::try_from(size).ok().filter(|_| size <= limit) else { return Ok(None) };
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    fill(&mut file, buffer.get_mut(..size).unwrap_or_default()).map(Some)
}

/// Reads until the buffer is full or the file ends, and gives how much there was.
pub(super) fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Opens a file in an open folder so that it can be flushed, which some systems allow only to those who may write.
pub(super) fn open_to_flush(folder: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.custom_flags(NONBLOCK);
    folder.open_with(name, &options)
}

/// Checks that we may change a file in an open folder, or, named `.`, the names in the folder itself.
pub(super) fn check_writable(folder: &Dir, name: &str) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, AtFlags, accessat};
        let asked = if name == "." { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
        let refused = accessat(folder, name, asked, AtFlags::empty()).err().map(io::Error::from);
        // A system that cannot say is asked by writing.
        let is_refusal = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
        };
        refused.filter(is_refusal).map_or(Ok(()), Err)
    }
    #[cfg(not(unix))]
    {
        let _ = (folder, name);
        Ok(())
    }
}

/// Makes a file that must not exist, readable and writable.
pub(super) fn create_name(folder: &Dir, name: &str, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    options.mode(mode);
    #[cfg(not(unix))]
    let _ = mode;
    folder.open_with(name, &options)
}

#[cfg(unix)]
const NONBLOCK: i32 = {
    let flags = rustix::fs::OFlags::NONBLOCK.union(rustix::fs::OFlags::NOCTTY).bits();
    flags.cast_signed()
};

/// Why nothing could be read at a path.
pub(super) fn unreadable(path: &MemoryPath, error: &io::Error) -> TreeError {
    let is = |kind| error.kind() == kind;
    match path.clone() {
        path if is(io::ErrorKind::NotFound) => TreeError::NotFound(path),
        path if is(io::ErrorKind::NotADirectory) => TreeError::NotDirectory(path),
        path if is(io::ErrorKind::IsADirectory) => TreeError::IsDirectory(path),
        path if is_escape(error) || is_link_error(error) => TreeError::Outside(path),
        path if is(io::ErrorKind::PermissionDenied) => TreeError::NoAccess(path),
        // A socket, or a device without a driver.
        path if no_such_device(error) => TreeError::Unsupported(path),
        _ => TreeError::Io(error.kind().to_string()),
    }
}

fn no_such_device(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        let number = rustix::io::Errno::NXIO.raw_os_error();
        error.raw_os_error() == Some(number)
    }
    #[cfg(not(unix))]
    {
        let _ = error;
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cap_std::fs::Dir;
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    /// As a place only, as cap-std does: nobody who watches the folder is told of each look at it.
    pub(super) const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    pub(super) const PLACE: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    pub(super) const FILE: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

    /// Old kernels and some sandboxes have no `openat2`; asking once is enough.
    static MISSING: AtomicBool = AtomicBool::new(false);

    /// Opens `path` below `root` without following any link; `None` where the system cannot.
    pub(super) fn open(root: &Dir, path: &str, flags: OFlags) -> Option<io::Result<OwnedFd>> {
        if MISSING.load(Ordering::Relaxed) {
            return None;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            match openat2(root, path, flags, Mode::empty(), resolve) {
                Err(Errno::NOSYS | Errno::PERM) => {
                    MISSING.store(true, Ordering::Relaxed);
                    return None;
                }
                // The kernel could not tell whether something moved meanwhile.
                Err(Errno::AGAIN | Errno::INTR) => {}
                other => return Some(other.map_err(io::Error::from)),
            }
        }
    }
}

/// How a new file took the place of an old one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Replaced {
    /// The two were exchanged: the old file now has the name of the new one.
    Exchanged,
    /// The old file is gone, since this file system cannot exchange names.
    Over,
}

/// Puts the file `new` where `old` is, in one instant.
pub(super) fn replace(new_folder: &Dir, new: &str, folder: &Dir, old: &str) -> io::Result<Replaced> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(new_folder, new, folder, old, RenameFlags::EXCHANGE) {
            Err(error) if cannot(error) => {}
            other => return other.map(|()| Replaced::Exchanged).map_err(io::Error::from),
        }
    }
    new_folder.rename(new, folder, old).map(|()| Replaced::Over)
}

/// Renames without ever replacing what has the new name.
pub(super) fn rename_new(folder: &Dir, name: &str, new_folder: &Dir, new_name: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(folder, name, new_folder, new_name, RenameFlags::NOREPLACE) {
            Err(error) if cannot(error) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    if new_folder.symlink_metadata(new_name).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    folder.rename(name, new_folder, new_name)
}

/// Some network file systems know no flags for renames.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn cannot(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP)
}

/// Flushes the names in a folder. Windows has no such call and needs none: the journal covers it.
pub(super) fn sync_folder(folder: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    rustix::fs::fsync(reopen(folder)?)?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Gives a folder the permission bits `mode`.
pub(super) fn set_folder_mode(folder: &Dir, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    rustix::fs::fchmod(reopen(folder)?, rustix::fs::Mode::from_raw_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (folder, mode);
    Ok(())
}

/// cap-std opens folders as places only, which can be neither listed, flushed nor changed.
#[cfg(unix)]
pub(super) fn reopen(folder: &Dir) -> rustix::io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    rustix::fs::openat(folder, c".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// The error for a link that is in the way.
pub(super) fn link_error() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::LOOP.into();
    #[cfg(not(unix))]
    return io::Error::other(LinkInTheWay);
}

/// Whether a symbolic link was in the way.
pub(super) fn is_link_error(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    #[cfg(not(unix))]
    return error.get_ref().is_some_and(|inner| inner.is::<LinkInTheWay>());
}

#[cfg(not(unix))]
#[derive(Debug, thiserror::Error)]
#[error("a link is in the way")]
struct LinkInTheWay;

/// Whether a folder is no longer there, or something else is in its place.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) || is_link_error(error)
}

/// Whether a name is taken by something else.
pub(super) fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}

/// Whether a link led out of the folder: cap-std says so without an error number of the system's.
pub(super) fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// The permission bits of a mode, where the system has them.
pub(super) fn mode(metadata: &cap_std::fs::Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        Some(metadata.mode() & 0o7777)
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// Gives an open file the permission bits `mode`.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    rustix::fs::fchmod(file, rustix::fs::Mode::from_raw_mode(mode))?;
    #[cfg(not(unix))]
    let _ = (file, mode);
    Ok(())
}

/// Gives a new file the extended attributes of another one, access lists among them.
///
/// Attributes that the system withholds or cannot store here are left out, and so are signatures of the content. Says whether
/// an access list was left out: its mask is the group's part of the mode, which without the list would let the group in.
pub(super) fn copy_attributes(from: &File, to: &File) -> io::Result<bool> {
    let mut lacks_list = false;
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};
        const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
        const OF_CONTENT: [&[u8]; 3] = [b"security.ima", b"security.evm", b"security.capability"];
        let names = attribute(|buffer| flistxattr(from, buffer))?.unwrap_or_default();
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !OF_CONTENT.contains(name)) {
            let copied = match attribute(|buffer| fgetxattr(from, name, buffer))? {
                None => false,
                Some(value) => match fsetxattr(to, name, &value, XattrFlags::empty()) {
                    // A list may name users that are not known in the namespace that we are in.
                    Err(error) if is_withheld(error) || error == rustix::io::Errno::INVAL => false,
                    other => other.map(|()| true)?,
                },
            };
            lacks_list |= !copied && name == ACCESS_LIST;
        }
    }
    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    let _ = (from, to);
    Ok(lacks_list)
}

/// Reads an attribute of unknown length; `None` where it is withheld or gone.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn attribute(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Option<Vec<u8>>> {
    use rustix::io::Errno;
    // More than any system lets a file have.
    const MOST: usize = 16 << 20;
    let mut buffer = vec![0; 1 << 10];
    loop {
        match read(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(Some(buffer));
            }
            Err(Errno::RANGE) if buffer.len() < MOST => buffer.resize(buffer.len() * 8, 0),
            Err(error) if is_withheld(error) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether we may not read or set an attribute.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn is_withheld(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    #[cfg(target_vendor = "apple")]
    if error == Errno::NOATTR {
        return true;
    }
    matches!(error, Errno::PERM | Errno::ACCESS | Errno::NOTSUP | Errno::NODATA)
}

/// The device and number of a file or folder, by which recovery after a crash recognizes it.
pub(super) fn identity(metadata: &cap_std::fs::Metadata) -> (u64, u64) {
    use cap_fs_ext::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// The identity of what a path of the host leads to. For comparing alone: nothing is opened by it.
#[cfg(unix)]
pub(super) fn identity_by_path(path: &std::path::Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

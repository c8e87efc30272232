//! Every file below a memory, hidden ones too, for callers that have to look everywhere.
//!
//! No link is followed, and nothing blocks: of a link, a pipe or a device only the name is reported.

use std::io::{self, Read};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, Metadata};

use super::aside::is_temporary;
use super::{Vault, VaultError, disk};
use memdir_core::path::MemoryPath;

/// The folder into which Obsidian moves what a person deletes.
const TRASH: &str = ".trash";
/// The folder of the state of all machines.
const STATE: &str = ".memdir";
/// Hostile folders may be as deep as the disk allows; looking into deeper ones than this is an error.
const MAX_DEPTH: usize = 128;

/// Which program a file belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Region {
    /// The notes'; files with names that no action can say are here, too.
    Open,
    /// Obsidian's, for what was deleted.
    Trash,
    /// Another program's: hidden.
    Hidden,
    /// Our own, left by a process that ended early.
    Leftover,
    /// The state of this machine.
    Own,
    /// The state of another machine, which only that one can change.
    Foreign,
}

/// A file, a folder, or something else that has a name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileEntry {
    /// Where it is, from the memory's root.
    pub path: String,
    /// Whether `path` is its exact name; false where that is no UTF-8.
    pub is_exact: bool,
    /// Whose it is.
    pub region: Region,
    /// Bytes of a regular file; `None` for everything else.
    pub size: Option<u64>,
}

impl FileEntry {
    /// The path as an action would say it.
    #[must_use]
    pub fn memory_path(&self) -> Option<MemoryPath> {
        let is_exact = |path: &MemoryPath| self.is_exact && path.as_str() == self.path;
        MemoryPath::parse(&self.path).ok().filter(is_exact)
    }

    /// The last component.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }
}

/// Called for each spot; the reader is there for a regular file.
pub(super) type Visit<'a> = dyn FnMut(&FileEntry, Option<&mut dyn Read>) -> io::Result<()> + 'a;

impl Vault {
    /// Visits everything below the memory, except the state of this machine that is in use. A folder comes before what it holds.
    ///
    /// # Errors
    ///
    /// What the system says of something that is the notes', or in the trash; what is another program's and cannot be
    /// looked into is left out.
    pub fn every_file(&self, visit: &mut Visit<'_>) -> Result<(), VaultError> {
        // With the state elsewhere, this folder is a leftover.
        let own = self.elsewhere().is_none().then(|| format!("{STATE}/{}", self.options.machine));
        let root = self.dir.try_clone().map_err(|error| VaultError::io("open the memory", None, error))?;
        walk(root, "", &|path| if Some(path) == own.as_deref() { None } else { Some(region(path)) }, visit)
    }

    /// Visits the files of this machine's state. The database is closed for that, and opened again when it is next needed.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn every_state_file(&self, visit: &mut Visit<'_>) -> Result<(), VaultError> {
        let (mut core, mut beside) = (self.core(self.options.lock_timeout)?, self.beside());
        // Closing any handle of a file that SQLite has open gives up the locks that it holds on it.
        (*core, *beside) = (None, None);
        let opened = match self.elsewhere() {
            Some((dir, _)) => dir.open_dir_nofollow(&self.options.machine),
            None => self.dir.open_dir_nofollow(STATE).and_then(|state| state.open_dir_nofollow(&self.options.machine)),
        };
        let folder = match opened {
            Err(error) if disk::is_gone(&error) => return Ok(()),
            folder => folder.map_err(|error| VaultError::io("open `.memdir`", None, error))?,
        };
        walk(folder, &format!("{STATE}/{}", self.options.machine), &|_| Some(Region::Own), visit)
    }

    /// Reads a file that a visit reported, hidden or not; `None` when it is gone.
    ///
    /// # Errors
    ///
    /// What the system says, and a file of more than `limit` bytes.
    pub fn read_spot(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, VaultError> {
        let io = |error| VaultError::io("read a file", MemoryPath::parse(path).ok().as_ref(), error);
        let (folder, name) = match open_parent(&self.dir, path) {
            Err(error) if disk::is_gone(&error) => return Ok(None),
            opened => opened.map_err(io)?,
        };
        let file = match disk::open_name(&folder, name) {
            Err(error) if disk::is_gone(&error) => return Ok(None),
            file => file.map_err(io)?,
        };
        if !file.metadata().map_err(io)?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > limit {
            return Err(io(io::Error::other("it has grown too large to be changed")));
        }
        Ok(Some(bytes))
    }
}

/// Opens the folder that holds a spot, link by no link, and gives the spot's name in it.
pub(super) fn open_parent<'p>(root: &Dir, path: &'p str) -> io::Result<(Dir, &'p str)> {
    let (folders, name) = path.rsplit_once('/').map_or(("", path), |(folders, name)| (folders, name));
    let names = folders.split('/').filter(|name| !name.is_empty());
    let folder = names.into_iter().try_fold(root.try_clone()?, |folder, name| folder.open_dir_nofollow(name))?;
    Ok((folder, name))
}

/// Which program a file at `path` belongs to.
fn region(path: &str) -> Region {
    let mut parts = path.split('/');
    match (parts.next(), path.rsplit('/').next()) {
        (Some(STATE), _) => Region::Foreign,
        (_, Some(name)) if is_temporary(name) => Region::Leftover,
        (Some(TRASH), _) if !parts.any(|part| part.starts_with('.')) => Region::Trash,
        _ if path.split('/').any(|part| part.starts_with('.')) => Region::Hidden,
        _ => Region::Open,
    }
}

/// Goes through a folder, the names in order; one handle is open for each level.
fn walk(
    root: Dir,
    base: &str,
    region: &dyn Fn(&str) -> Option<Region>,
    visit: &mut Visit<'_>,
) -> Result<(), VaultError> {
    let mut open = vec![Level {
        names: names(&root).map_err(|error| trouble(base, error))?.into_iter(),
        folder: root,
        path: base.to_owned(),
        is_exact: true,
    }];
    loop {
        let depth = open.len();
        let Some(level) = open.last_mut() else { return Ok(()) };
        let Some(name) = level.names.next() else {
            open.pop();
            continue;
        };
        let path = name.to_string_lossy();
        let is_exact = level.is_exact && matches!(path, std::borrow::Cow::Borrowed(_));
        let path = if level.path.is_empty() { path.into_owned() } else { format!("{}/{path}", level.path) };
        let Some(region) = region(&path) else { continue };
        let is_ours = matches!(region, Region::Open | Region::Trash | Region::Leftover | Region::Own);
        let folder = &level.folder;
        let visited = look(folder, &name, FileEntry { path: path.clone(), is_exact, region, size: None }, visit);
        let inner = visited.and_then(|is_folder| match is_folder.then(|| folder.open_dir_nofollow(&name)) {
            Some(inner) if depth < MAX_DEPTH => inner.and_then(|inner| Ok(Some((names(&inner)?, inner)))),
            Some(_) => Err(io::Error::other("too many folders within each other")),
            None => Ok(None),
        });
        match inner {
            Ok(Some((names, folder))) => open.push(Level { names: names.into_iter(), folder, path, is_exact }),
            Ok(None) => {}
            // It was removed meanwhile.
            Err(error) if disk::is_gone(&error) => {}
            Err(error) if is_ours => return Err(trouble(&path, error)),
            Err(error) => tracing::debug!(%error, "something hidden was not looked into"),
        }
    }
}

/// A folder that is being gone through.
struct Level {
    /// What is left of its names.
    names: std::vec::IntoIter<std::ffi::OsString>,
    folder: Dir,
    path: String,
    /// Whether `path` is its very name.
    is_exact: bool,
}

fn trouble(path: &str, error: io::Error) -> VaultError {
    VaultError::io("look into", MemoryPath::parse(path).ok().as_ref(), error)
}

fn names(folder: &Dir) -> io::Result<Vec<std::ffi::OsString>> {
    let names = folder.entries()?.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// Visits one name, and says whether it is a folder.
fn look(folder: &Dir, name: &std::ffi::OsStr, mut spot: FileEntry, visit: &mut Visit<'_>) -> io::Result<bool> {
    let metadata: Metadata = folder.symlink_metadata(name)?;
    if !metadata.is_file() {
        visit(&spot, None)?;
        return Ok(metadata.is_dir());
    }
    let Some(name) = name.to_str() else {
        let mut file = folder.open(name)?;
        spot.size = Some(metadata.len());
        return visit(&spot, Some(&mut file)).map(|()| false);
    };
    let mut file = disk::open_name(folder, name)?;
    let opened = file.metadata()?;
    if opened.is_file() {
        spot.size = Some(opened.len());
        visit(&spot, Some(&mut file))?;
    }
    Ok(false)
}

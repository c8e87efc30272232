//! [`Tree`] for the disk: each call works by handle, and never through a link that was not resolved and checked first.

use std::io;
use std::time::UNIX_EPOCH;

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, File, Metadata};

use super::disk::unreadable;
use super::walk::Walk;
use super::{Core, LogQuery, Vault, VaultError, Writer, aside, disk};
use memdir_core::path::{self, MemoryPath};
use memdir_core::report::{Kind, Log};
use memdir_core::time::Timestamp;
use memdir_plan::{Content, Entry, Image, Listing, PastBatch, Scan, Scanned, Stat, Step, Tree, TreeError};

/// Where Obsidian keeps its settings.
const OBSIDIAN: &str = ".obsidian";

impl Tree for Vault {
    type Whole = Self;

    fn whole(&self) -> &Self {
        self
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        match self.metadata_through_links(path) {
            Ok(metadata) => stat_of(path, &metadata).map(Some),
            Err(TreeError::NotFound(_) | TreeError::NotDirectory(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        match self.metadata(path) {
            Ok(_) => Ok(path.clone()),
            Err(error) if disk::is_link_error(&error) => match self.follow(path) {
                Err(TreeError::NotFound(_)) => self.resolve_missing(path),
                other => other,
            },
            Err(error) if is_missing(&error) => self.resolve_missing(path),
            Err(error) => Err(unreadable(path, &error)),
        }
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        self.read_bytes(path, limit).map(|(bytes, mode)| Image { content: Content::new(bytes), mode })
    }

    fn read_direct(&self, path: &MemoryPath, limit: u64) -> Option<Image> {
        let file = disk::open_file(&self.dir, path).ok()?;
        let (bytes, mode) = read_opened(file, path, limit).ok()?;
        Some(Image { content: Content::new(bytes), mode })
    }

    fn closed_folders(&self) -> Vec<MemoryPath> {
        self.known_closed()
    }

    fn size_below(&self, folder: Option<&MemoryPath>) -> Option<u64> {
        // On an error the caller walks the folder itself and reports it.
        self.bytes_below(folder).ok()
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        let opened = self.open_folder(folder)?;
        let io = |error: io::Error| match folder {
            Some(path) => unreadable(path, &error),
            None => TreeError::Io(error.kind().to_string()),
        };
        let mut listing = Listing::default();
        for entry in opened.entries().map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            let name = name.to_str().unwrap_or_default();
            if aside::is_temporary(name) {
                continue;
            }
            let Ok(path) = MemoryPath::in_folder(folder, name) else {
                listing.has_others = true;
                continue;
            };
            let is_link = entry.file_type().map_err(io)?.is_symlink();
            let stat = if is_link {
                self.stat(&path).ok().flatten()
            } else {
                entry.metadata().ok().and_then(|metadata| stat_of(&path, &metadata).ok())
            };
            match stat {
                Some(stat) => listing.entries.push(Entry { name: name.to_owned(), stat, is_link }),
                None => listing.has_others = true,
            }
        }
        listing.entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listing)
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        super::scan::scan(self, scan, look)
    }

    fn note_bytes(&self) -> Result<u64, TreeError> {
        let Some(mut core) = self.core_now() else {
            // Another thread writes: this does not wait for it, and keeps nothing.
            let known = self.known_core().ok().map_or(Ok(None), |core| known_sum(core.as_ref()))?;
            return known.map_or_else(|| self.count_notes(), Ok);
        };
        if let Some(sum) = known_sum(core.as_ref())? {
            return Ok(sum);
        }
        let sum = self.count_notes()?;
        let Some(core) = core.as_mut() else {
            *self.measured() = Some(sum);
            return Ok(sum);
        };
        if let Err(error) = core.journal.at_once(|journal| journal.begin_sum("note_bytes", sum)) {
            // Only the next count takes longer: a folder that cannot be written can still be planned on.
            tracing::debug!(%error, "the sum of all notes was not kept");
        }
        Ok(sum)
    }

    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        let page = LogQuery { path: Some(path.clone()), limit, ..LogQuery::default() };
        self.log(&page).map_err(unknown)
    }

    fn batches(&self, since: Timestamp, until: Timestamp) -> Result<Vec<PastBatch>, TreeError> {
        Self::batches_of(self.known_core().map_err(unknown)?.as_ref(), since, until).map_err(unknown)
    }

    fn steps(&self, batch: u64) -> Result<Option<Vec<Step>>, TreeError> {
        Self::steps_of(self.known_core().map_err(unknown)?.as_ref(), batch).map_err(unknown)
    }

    fn unconfirmed(&self, path: &MemoryPath, now: &Content) -> Result<Vec<(usize, String)>, TreeError> {
        Self::unconfirmed_of(self.known_core().map_err(unknown)?.as_ref(), path, now).map_err(unknown)
    }
}

/// The same memory, for a plan that is made while the lock is held.
impl Tree for Writer<'_> {
    type Whole = Self;

    fn whole(&self) -> &Self {
        self
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        self.vault.stat(path)
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        self.vault.resolve(path)
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        self.vault.read(path, limit)
    }

    fn read_direct(&self, path: &MemoryPath, limit: u64) -> Option<Image> {
        self.vault.read_direct(path, limit)
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        self.vault.list(folder)
    }

    fn closed_folders(&self) -> Vec<MemoryPath> {
        self.vault.closed_folders()
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        self.vault.scan(scan, look)
    }

    fn note_bytes(&self) -> Result<u64, TreeError> {
        if let Some(sum) = known_sum(self.core.as_ref())? {
            return Ok(sum);
        }
        self.vault.count_notes()
    }

    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        let page = LogQuery { path: Some(path.clone()), limit, ..LogQuery::default() };
        Vault::log_of(self.core.as_ref(), &page).map_err(unknown)
    }

    fn batches(&self, since: Timestamp, until: Timestamp) -> Result<Vec<PastBatch>, TreeError> {
        Vault::batches_of(self.core.as_ref(), since, until).map_err(unknown)
    }

    fn steps(&self, batch: u64) -> Result<Option<Vec<Step>>, TreeError> {
        Vault::steps_of(self.core.as_ref(), batch).map_err(unknown)
    }

    fn unconfirmed(&self, path: &MemoryPath, now: &Content) -> Result<Vec<(usize, String)>, TreeError> {
        Vault::unconfirmed_of(self.core.as_ref(), path, now).map_err(unknown)
    }
}

/// What the history does not tell.
fn unknown(error: VaultError) -> TreeError {
    TreeError::Io(error.to_string())
}

/// The running sum of all notes, where there is one.
fn known_sum(core: Option<&Core>) -> Result<Option<u64>, TreeError> {
    let sum = core.map_or(Ok(None), |core| core.journal.sum("note_bytes"));
    sum.map_err(unknown)
}

impl Vault {
    /// Reads a regular file and its mode with one open, one stat, one read and one close.
    ///
    /// # Errors
    ///
    /// Any [`TreeError`].
    pub fn read_bytes(&self, path: &MemoryPath, limit: u64) -> Result<(Vec<u8>, Option<u32>), TreeError> {
        let file = self.through_links(path, |path| disk::open_file(&self.dir, path))?;
        read_opened(file, path, limit)
    }

    /// Reads a file of the settings that Obsidian keeps in the memory, of at most `limit` bytes; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, for a person. No link is followed.
    pub fn obsidian(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, String> {
        let folder = self.dir.open_dir_nofollow(OBSIDIAN);
        let mut bytes = Vec::new();
        match folder.and_then(|folder| disk::read_name(&folder, name, limit, &mut bytes)) {
            Ok(Some(size)) => {
                bytes.truncate(size);
                Ok(Some(bytes))
            }
            Ok(None) => Err(format!("has more than {limit} bytes, or is no regular file")),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) if disk::is_link_error(&error) => Err("is a link, and none is followed there".to_owned()),
            Err(error) => Err(error.kind().to_string()),
        }
    }

    /// Opens a folder, with links followed; `None` is the root.
    pub(super) fn open_folder(&self, folder: Option<&MemoryPath>) -> Result<Dir, TreeError> {
        match folder {
            Some(path) => self.through_links(path, |path| {
                disk::open_folder(&self.dir, Some(path)).map_err(|error| not_a_folder(&self.dir, path, error))
            }),
            None => disk::open_folder(&self.dir, None).map_err(|error| TreeError::Io(error.kind().to_string())),
        }
    }

    /// Bytes of all notes, for a memory that keeps no sum of them yet.
    fn count_notes(&self) -> Result<u64, TreeError> {
        let counted = *self.measured();
        counted.map_or_else(|| self.measure(), Ok)
    }

    /// Looks at what is at `path` without following any link.
    fn metadata(&self, path: &MemoryPath) -> io::Result<Metadata> {
        let metadata = disk::look(&self.dir, path)?;
        if metadata.is_symlink() { Err(disk::link_error()) } else { Ok(metadata) }
    }

    /// Looks at what is at `path`, with links followed.
    pub(super) fn metadata_through_links(&self, path: &MemoryPath) -> Result<Metadata, TreeError> {
        self.through_links(path, |path| self.metadata(path))
    }

    /// Tries `open` on a path, and where a link is in the way or a name has another Unicode form, on the place to which the path
    /// leads.
    fn through_links<T>(&self, path: &MemoryPath, open: impl Fn(&MemoryPath) -> io::Result<T>) -> Result<T, TreeError> {
        let is_named = path.as_str().is_ascii();
        let place = match open(path) {
            Err(error) if disk::is_link_error(&error) => match self.follow(path) {
                Err(TreeError::NotFound(_)) if !is_named => self.resolve(path)?,
                other => other?,
            },
            Err(error) if is_missing(&error) && !is_named => self.resolve(path)?,
            other => return other.map_err(|error| unreadable(path, &error)),
        };
        open(&place).map_err(|error| unreadable(path, &error))
    }

    /// Resolves what does not exist under this name: its folder, and the one name in it that is this one in another
    /// Unicode form.
    fn resolve_missing(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        let folder = path.parent().map(|parent| self.resolve(&parent)).transpose()?;
        let place = MemoryPath::in_folder(folder.as_ref(), path.name()).unwrap_or_else(|_| path.clone());
        match self.metadata(&place) {
            // A link that leads nowhere is there, and what it stands for is not.
            Err(error) if disk::is_link_error(&error) && place == *path => Err(TreeError::Unsupported(path.clone())),
            Err(error) if disk::is_link_error(&error) => self.resolve(&place).map_err(|error| error.about(path)),
            Err(error) if is_missing(&error) => match self.in_another_form(&place) {
                Some(found) => self.resolve(&found).map_err(|error| error.about(path)),
                None => Ok(place),
            },
            _ => Ok(place),
        }
    }

    /// The file beside a missing path that has its name in another Unicode form.
    fn in_another_form(&self, place: &MemoryPath) -> Option<MemoryPath> {
        if place.name().is_ascii() {
            return None;
        }
        let folder = place.parent();
        let entries = disk::open_folder(&self.dir, folder.as_ref()).ok()?.entries().ok()?;
        let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        let name = path::in_another_form(place.name(), names.iter().map(String::as_str))?;
        MemoryPath::in_folder(folder.as_ref(), name).ok()
    }

    /// Follows the links of a path to a place inside the memory that an action may name.
    fn follow(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        let outside = || TreeError::Outside(path.clone());
        let place = match self.dir.canonicalize(path.as_str()) {
            Ok(place) => place,
            Err(error) if disk::is_escape(&error) || disk::is_link_error(&error) => return Err(outside()),
            // What has no name that the system takes is no place in the memory either.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Err(outside()),
            Err(error) if is_missing(&error) => return Err(TreeError::NotFound(path.clone())),
            Err(error) => return Err(unreadable(path, &error)),
        };
        // A link to something hidden, such as `.memdir`, is as good as one that leads out.
        let place = place.to_str().map(|place| place.replace('\\', if cfg!(windows) { "/" } else { "\\" }));
        place.and_then(|place| MemoryPath::parse(&place).ok().filter(|path| path.as_str() == place)).ok_or_else(outside)
    }

    /// Adds up the sizes of all notes. A file that cannot be looked at counts nothing, and neither does a folder that we may not
    /// list; what is in a folder that cannot be listed just now is not known, so then there is no sum.
    pub(super) fn measure(&self) -> Result<u64, TreeError> {
        let Walk { found, unlisted, .. } = self.walk_stamps(&|| false)?;
        if !unlisted.is_empty() {
            return Err(TreeError::Io("a folder could not be listed".to_owned()));
        }
        Ok(found.iter().filter(|file| !file.is_link && file.path.is_note()).map(|file| file.stamp.size).sum())
    }
}

/// Reads the file that was opened at `path`, if it is a regular one, and its mode.
fn read_opened(mut file: File, path: &MemoryPath, limit: u64) -> Result<(Vec<u8>, Option<u32>), TreeError> {
    let io = |error: io::Error| unreadable(path, &error);
    let metadata = file.metadata().map_err(io)?;
    let stat = stat_of(path, &metadata)?;
    if stat.kind == Kind::Directory {
        return Err(TreeError::IsDirectory(path.clone()));
    }
    if stat.size > limit {
        return Err(TreeError::TooLarge { path: path.clone(), size: stat.size, limit });
    }
    let mut bytes = vec![0; usize::try_from(stat.size).unwrap_or(usize::MAX)];
    let filled = disk::fill(&mut file, &mut bytes).map_err(io)?;
    bytes.truncate(filled);
    Ok((bytes, stat.mode))
}

fn stat_of(path: &MemoryPath, metadata: &Metadata) -> Result<Stat, TreeError> {
    let (kind, size) = if metadata.is_dir() {
        (Kind::Directory, 0)
    } else if metadata.is_file() {
        (Kind::File, metadata.len())
    } else {
        return Err(TreeError::Unsupported(path.clone()));
    };
    let modified = metadata.modified().ok().map(|time| time.into_std());
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let seconds = i64::try_from(modified.as_secs()).unwrap_or(i64::MAX);
    Ok(Stat { kind, size, modified: (seconds, modified.subsec_nanos()), mode: disk::mode(metadata) })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The error for a path that is no folder: `NotFound`, unless there is a file.
fn not_a_folder(root: &Dir, path: &MemoryPath, error: io::Error) -> io::Error {
    let is_file = error.kind() == io::ErrorKind::NotADirectory && disk::open_file(root, path).is_ok();
    if is_file || error.kind() != io::ErrorKind::NotADirectory { error } else { io::ErrorKind::NotFound.into() }
}

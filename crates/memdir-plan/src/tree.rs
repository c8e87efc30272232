//! [`Tree`]: what planning may ask of a memory. The vault answers it from the disk, `MapTree` from a map.
//!
//! Owns the questions and the ways in which they cannot be answered. Touches no disk.

use crate::step::{Content, Image, Step};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Kind, Log};
use memdir_core::time::Timestamp;
use memdir_rank::{Point, Source};

/// What is known of a file or folder without reading it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Bytes of a file; 0 for a folder.
    pub size: u64,
    /// Seconds and nanoseconds since 1970 of the last change.
    pub modified: (i64, u32),
    /// The permission bits of its mode, where the system has them.
    pub mode: Option<u32>,
}

/// What tells whether a file has changed since it was last looked at, as git does: links are followed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// When anything about it last changed, in nanoseconds since 1970; 0 where the system does not say.
    pub changed: i64,
    /// Its number on the disk; 0 where the system does not say.
    pub inode: u64,
}

/// A file as a sweep over the memory saw it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Swept {
    /// Where it is.
    pub path: MemoryPath,
    /// Whether its name is a link to a file elsewhere in the memory.
    pub is_link: bool,
    /// What it was like.
    pub stamp: Stamp,
}

/// A file that a batch would leave other than it is.
#[derive(Clone, Debug)]
pub struct Altered {
    /// Where it is, or was.
    pub path: MemoryPath,
    /// What it would hold; `None` where nothing would be.
    pub content: Option<Content>,
}

/// A batch of the history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PastBatch {
    /// Its number.
    pub number: u64,
    /// When it was committed.
    pub time: Timestamp,
    /// What it changed, as far as it may be seen.
    pub changed: Vec<MemoryPath>,
}

/// Something that the person said in a conversation that is kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Said {
    /// The session.
    pub session: String,
    /// When.
    pub time: Timestamp,
    /// What.
    pub text: String,
}

/// How much may be done so that an index can answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effort {
    /// Up to a few thousand notes may be put into it, also into an empty one.
    Fill,
    /// All notes have to have been in it once; what has changed since may be put into it.
    Refresh,
}

/// One entry of a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Its name, which can be said in a path.
    pub name: String,
    /// What it is, with links followed.
    pub stat: Stat,
    /// Whether it is a link; what a linked folder holds is not listed below it.
    pub is_link: bool,
}

/// What stands in a folder, without hidden names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Listing {
    /// Files and folders, sorted by name.
    pub entries: Vec<Entry>,
    /// Whether the folder holds anything else: hidden names, names that no path can say, links that lead nowhere
    /// or out, pipes, devices. A folder that does cannot be deleted by an action.
    pub has_others: bool,
}

/// Why a question about a path has no answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// Nothing is there.
    #[error("`{0}` does not exist")]
    NotFound(MemoryPath),
    /// A folder is there, and a file was asked for.
    #[error("`{0}` is a folder")]
    IsDirectory(MemoryPath),
    /// A file is there, or in the way, and a folder was asked for.
    #[error("`{0}` is not a folder")]
    NotDirectory(MemoryPath),
    /// A pipe, a socket or a device is there.
    #[error("`{0}` is not a regular file")]
    Unsupported(MemoryPath),
    /// A link on the way leads out of the memory.
    #[error("link `{0}` leads out of the memory")]
    Outside(MemoryPath),
    /// The file is larger than what may be read.
    #[error("`{path}` has {size} bytes, more than {limit}")]
    TooLarge {
        /// The file.
        path: MemoryPath,
        /// Its size in bytes.
        size: u64,
        /// The most that may be read, in bytes.
        limit: u64,
    },
    /// What the file held at the moment that was asked for is no longer kept.
    #[error("what `{0}` held then is no longer kept")]
    NotKept(MemoryPath),
    /// The time for it is over.
    #[error("reading took too long")]
    Stopped,
    /// The system does not let us.
    #[error("no permission to read `{0}`")]
    NoAccess(MemoryPath),
    /// Anything else that the system says.
    #[error("reading failed: {0}")]
    Io(
        /// The system's words, without a path of the host.
        String,
    ),
}

impl TreeError {
    /// The same about another path, for what has been moved since.
    #[must_use]
    pub fn about(self, path: &MemoryPath) -> Self {
        let path = path.clone();
        match self {
            Self::NotFound(_) => Self::NotFound(path),
            Self::IsDirectory(_) => Self::IsDirectory(path),
            Self::NotDirectory(_) => Self::NotDirectory(path),
            Self::Unsupported(_) => Self::Unsupported(path),
            Self::Outside(_) => Self::Outside(path),
            Self::TooLarge { size, limit, .. } => Self::TooLarge { path, size, limit },
            Self::NoAccess(_) => Self::NoAccess(path),
            Self::NotKept(_) => Self::NotKept(path),
            Self::Stopped | Self::Io(_) => self,
        }
    }
}

/// What a scan goes through.
#[derive(Clone, Copy)]
pub struct Scan<'s> {
    /// The folder below which to look; `None` is the root.
    pub folder: Option<&'s MemoryPath>,
    /// The largest file that is read, in bytes.
    pub limit: u64,
    /// Which files are read; the others are only named.
    pub wants: &'s (dyn Fn(&MemoryPath) -> bool + Sync),
    /// Asked before each file; once it says yes, the scan ends with [`TreeError::Stopped`].
    pub stop: &'s (dyn Fn() -> bool + Sync),
}

/// One file that a scan came by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scanned<R> {
    /// Where it is.
    pub path: MemoryPath,
    /// Whether its name is a link to a file elsewhere in the memory.
    pub is_link: bool,
    /// What was made of its content; `None` where it was not wanted.
    pub seen: Option<R>,
}

/// A memory that can be looked at. `None` for a folder is the root.
pub trait Tree {
    /// The memory as its owner sees it.
    type Whole: Tree<Whole = Self::Whole>;

    /// The same memory as its owner sees it: what somebody else does may have to follow from what they may not see.
    fn whole(&self) -> &Self::Whole;

    /// Whether this is only a part of a memory, as somebody sees it who may not see all.
    fn is_part(&self) -> bool {
        false
    }

    /// Whether whoever looks at this tree may know of a file at `path`, or of a folder of this name.
    fn shows(&self, path: &MemoryPath) -> bool {
        let _ = path;
        true
    }

    /// Tells what is at `path`, with links followed; `None` when nothing is there.
    ///
    /// # Errors
    ///
    /// [`TreeError::Outside`], [`TreeError::Unsupported`], [`TreeError::NoAccess`], [`TreeError::Io`].
    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError>;

    /// Gives the place that `path` leads to when links on the way are followed: `path` itself where none is.
    ///
    /// What does not exist leads to itself below the place its folder leads to.
    ///
    /// # Errors
    ///
    /// [`TreeError::Outside`] and [`TreeError::Io`].
    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError>;

    /// Reads a regular file of at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Any [`TreeError`].
    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError>;

    /// Reads a regular file of at most `limit` bytes that stands at `path` itself, so that the path leads to itself. `None` where
    /// that is not so or not known; [`Tree::resolve`], [`Tree::stat`] and [`Tree::read`] then say what is.
    fn read_direct(&self, path: &MemoryPath, limit: u64) -> Option<Image> {
        let _ = (path, limit);
        None
    }

    /// Lists a folder.
    ///
    /// # Errors
    ///
    /// [`TreeError::NotFound`], [`TreeError::NotDirectory`], [`TreeError::Outside`], [`TreeError::NoAccess`],
    /// [`TreeError::Io`].
    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError>;

    /// The folders that nobody lets us list, as far as scans came by them: what is in them is unknown, and no scan tells of it.
    fn closed_folders(&self) -> Vec<MemoryPath> {
        Vec::new()
    }

    /// Bytes of all files below a folder at a path that leads to itself; links below it are not followed and count nothing. `None`
    /// where it has to be added up by who asks.
    fn size_below(&self, folder: Option<&MemoryPath>) -> Option<u64> {
        let _ = folder;
        None
    }

    /// Names all files below a folder and looks into those that are wanted, in the order of their paths.
    ///
    /// `look` is given the bytes of each, or why it cannot be read; a tree on a disk calls it from several threads at
    /// once. Linked folders are not entered, hidden names not visited. A folder that cannot be listed is left out.
    ///
    /// # Errors
    ///
    /// [`TreeError::Stopped`]; otherwise as [`Tree::list`] for the folder itself.
    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        let mut found = Vec::new();
        let mut folders = vec![scan.folder.cloned()];
        while let Some(folder) = folders.pop() {
            let listing = match self.list(folder.as_ref()) {
                Err(_) if folder.as_ref() != scan.folder => continue,
                other => other?,
            };
            for entry in listing.entries {
                let Ok(path) = MemoryPath::in_folder(folder.as_ref(), &entry.name) else { continue };
                match entry.stat.kind {
                    Kind::Directory if entry.is_link => {}
                    Kind::Directory => folders.push(Some(path)),
                    Kind::File if (scan.stop)() => return Err(TreeError::Stopped),
                    Kind::File => {
                        let seen = (scan.wants)(&path).then(|| match self.read(&path, scan.limit) {
                            Ok(image) => look(&path, Ok(image.content.bytes())),
                            Err(error) => look(&path, Err(error)),
                        });
                        found.push(Scanned { path, is_link: entry.is_link, seen });
                    }
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// Lets `ask` put its questions to an index of the memory as a batch would leave it, if there is one that can be
    /// trusted; answers whether there was. Without one the notes have to be read.
    ///
    /// # Errors
    ///
    /// [`TreeError::Stopped`], and what `ask` answers.
    fn consult(
        &self,
        altered: &[Altered],
        effort: Effort,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        let _ = (altered, effort, ask);
        Ok(false)
    }

    /// A question as a point, for whom an index has points to compare it with; `None` where there are none, or nothing makes
    /// one now.
    fn point(&self, question: &str) -> Option<Point> {
        let _ = question;
        None
    }

    /// Bytes of all notes together, for the limit on them. May be a running sum.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`].
    fn note_bytes(&self) -> Result<u64, TreeError>;

    /// The newest `limit` batches that changed `path`.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`] when the history cannot be read.
    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError>;

    /// The batches of a span of time, the newest first, without undos and what they have undone. Of very many, the newest.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`] when the history cannot be read.
    fn batches(&self, since: Timestamp, until: Timestamp) -> Result<Vec<PastBatch>, TreeError> {
        let _ = (since, until);
        Ok(Vec::new())
    }

    /// What a batch did; `None` where its contents are no longer kept.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`] when the history cannot be read.
    fn steps(&self, batch: u64) -> Result<Option<Vec<Step>>, TreeError> {
        let _ = batch;
        Ok(None)
    }

    /// The lines of a note, from 1, that came from an import or a tool and that nobody has confirmed, and from which: such as
    /// `import` or `tool:web`. Lines that are not as the memory has them now do not count.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`] when the history cannot be read.
    fn unconfirmed(&self, path: &MemoryPath, now: &Content) -> Result<Vec<(usize, String)>, TreeError> {
        let _ = (path, now);
        Ok(Vec::new())
    }

    /// What the person said in a span of time, in conversations that are kept.
    ///
    /// # Errors
    ///
    /// [`TreeError::Io`] when they cannot be read.
    fn said(&self, since: Timestamp, until: Timestamp) -> Result<Vec<Said>, TreeError> {
        let _ = (since, until);
        Ok(Vec::new())
    }
}

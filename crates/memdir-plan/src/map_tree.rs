//! [`MapTree`]: a memory that is a map. For tests, fuzzing and benches, where a disk would be in the way.
//!
//! Owns the second answer to [`Tree`], without links and without hidden names, and an executor for steps that
//! checks every precondition. Touches nothing but itself.

use std::collections::BTreeMap;

use crate::step::{Content, Image, Step};
use crate::tree::{Entry, Listing, Stat, Tree, TreeError};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Kind, Log};

/// The mode of a file that was made without one.
const FILE_MODE: u32 = 0o644;
/// The mode of a folder that was made without one.
const FOLDER_MODE: u32 = 0o755;

/// A memory kept in a map.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MapTree {
    files: BTreeMap<MemoryPath, Image>,
    folders: BTreeMap<MemoryPath, u32>,
    links: BTreeMap<MemoryPath, MemoryPath>,
    closed: Vec<MemoryPath>,
}

/// A step whose precondition does not hold; nothing of it was done.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("step {index} cannot be done: {reason}")]
pub struct Unmet {
    /// Its place, from 0.
    pub index: usize,
    /// What it did not find.
    pub reason: &'static str,
}

impl MapTree {
    /// Makes a memory from paths and texts; a path that ends in `/` is a folder. What is no path is left out.
    #[must_use]
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            if let Ok(parsed) = MemoryPath::parse(path) {
                if path.ends_with('/') {
                    tree.insert_folder(&parsed);
                } else {
                    tree.insert(&parsed, text.as_bytes());
                }
            }
        }
        tree
    }

    /// Puts a folder that nobody lets us list.
    pub fn insert_closed(&mut self, path: &MemoryPath) {
        self.insert_folder(path);
        self.closed.push(path.clone());
    }

    /// Puts a file, and the folders above it.
    pub fn insert(&mut self, path: &MemoryPath, bytes: &[u8]) {
        for folder in path.ancestors() {
            self.folders.entry(folder).or_insert(FOLDER_MODE);
        }
        self.files.insert(path.clone(), Image { content: Content::new(bytes), mode: Some(FILE_MODE) });
    }

    /// Puts a folder, and those above it.
    pub fn insert_folder(&mut self, path: &MemoryPath) {
        for folder in path.ancestors().chain([path.clone()]) {
            self.folders.entry(folder).or_insert(FOLDER_MODE);
        }
    }

    /// Puts a link to a file.
    pub fn insert_link(&mut self, path: &MemoryPath, target: &MemoryPath) {
        self.links.insert(path.clone(), target.clone());
    }

    /// The bytes of a file.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|image| image.content.bytes())
    }

    /// The paths of all files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        self.files.keys()
    }

    /// The paths of all folders, sorted.
    pub fn folders(&self) -> impl Iterator<Item = &MemoryPath> {
        self.folders.keys()
    }

    /// Carries out the steps of a plan in their order.
    ///
    /// # Errors
    ///
    /// [`Unmet`] at the first step that does not find what it expects; the steps before it are done.
    pub fn apply(&mut self, steps: &[Step]) -> Result<(), Unmet> {
        let mut stage = 0;
        for (index, step) in steps.iter().enumerate() {
            let unmet = |reason| Unmet { index, reason };
            let kind = match step {
                Step::MakeFolder { .. } | Step::Move { .. } => 0,
                Step::Put { .. } => 1,
                Step::RemoveFolder { .. } => 2,
            };
            if kind < stage {
                return Err(unmet("the steps are not in normal form"));
            }
            stage = kind;
            match step {
                Step::MakeFolder { path, mode } => self.make_folder(path, *mode),
                Step::Move { from, to, kind } => self.rename(from, to, *kind),
                Step::Put { path, before, after } => self.put(path, before.as_ref(), after.as_ref()),
                Step::RemoveFolder { path, mode } => self.remove_folder(path, *mode),
            }
            .map_err(unmet)?;
        }
        Ok(())
    }

    fn is_free(&self, path: &MemoryPath) -> bool {
        !self.files.contains_key(path) && !self.folders.contains_key(path) && !self.links.contains_key(path)
    }

    fn has_parent(&self, path: &MemoryPath) -> bool {
        path.parent().is_none_or(|parent| self.folders.contains_key(&parent))
    }

    fn make_folder(&mut self, path: &MemoryPath, mode: Option<u32>) -> Result<(), &'static str> {
        if !self.is_free(path) || !self.has_parent(path) {
            return Err("the folder's name is taken, or its parent is missing");
        }
        self.folders.insert(path.clone(), mode.unwrap_or(FOLDER_MODE));
        Ok(())
    }

    fn rename(&mut self, from: &MemoryPath, to: &MemoryPath, kind: Kind) -> Result<(), &'static str> {
        let is_there = match kind {
            Kind::File => self.files.contains_key(from),
            Kind::Directory => self.folders.contains_key(from),
        };
        if !is_there || !self.is_free(to) || !self.has_parent(to) || to.is_within(from) {
            return Err("what is to be renamed is missing, its new name is taken, or its new parent is missing");
        }
        self.files = rebase(std::mem::take(&mut self.files), from, to);
        self.folders = rebase(std::mem::take(&mut self.folders), from, to);
        self.links = rebase(std::mem::take(&mut self.links), from, to);
        Ok(())
    }

    fn put(&mut self, path: &MemoryPath, before: Option<&Image>, after: Option<&Image>) -> Result<(), &'static str> {
        if self.files.get(path) != before {
            return Err("the file is not what was expected");
        }
        match after {
            Some(image) => {
                if (before.is_none() && !self.is_free(path)) || !self.has_parent(path) {
                    return Err("the file's name is taken, or its parent is missing");
                }
                let image = Image { content: image.content.clone(), mode: image.mode.or(Some(FILE_MODE)) };
                self.files.insert(path.clone(), image);
            }
            None => drop(self.files.remove(path)),
        }
        Ok(())
    }

    fn remove_folder(&mut self, path: &MemoryPath, mode: Option<u32>) -> Result<(), &'static str> {
        let is_below = |other: &MemoryPath| other != path && other.is_within(path);
        let is_full = self.files.keys().chain(self.folders.keys()).chain(self.links.keys()).any(is_below);
        let found = self.folders.get(path).copied();
        if is_full || found.is_none() || mode.is_some_and(|mode| found != Some(mode)) {
            return Err("the folder is missing, not empty, or has another mode");
        }
        self.folders.remove(path);
        Ok(())
    }
}

fn rebase<V>(map: BTreeMap<MemoryPath, V>, from: &MemoryPath, to: &MemoryPath) -> BTreeMap<MemoryPath, V> {
    map.into_iter().map(|(path, value)| (path.rebased(from, to).unwrap_or(path), value)).collect()
}

impl Tree for MapTree {
    type Whole = Self;

    fn whole(&self) -> &Self {
        self
    }

    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        let path = self.resolve(path)?;
        let stat = |kind, size, mode| Stat { kind, size, modified: (0, 0), mode: Some(mode) };
        let file = self
            .files
            .get(&path)
            .map(|image| stat(Kind::File, image.content.bytes().len() as u64, image.mode.unwrap_or(FILE_MODE)));
        Ok(file.or_else(|| self.folders.get(&path).map(|mode| stat(Kind::Directory, 0, *mode))))
    }

    fn closed_folders(&self) -> Vec<MemoryPath> {
        self.closed.clone()
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        Ok(self.links.get(path).unwrap_or(path).clone())
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        let path = &self.resolve(path)?;
        if self.folders.contains_key(path) {
            return Err(TreeError::IsDirectory(path.clone()));
        }
        let image = self.files.get(path).ok_or_else(|| TreeError::NotFound(path.clone()))?;
        let size = image.content.bytes().len() as u64;
        if size > limit { Err(TreeError::TooLarge { path: path.clone(), size, limit }) } else { Ok(image.clone()) }
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        if let Some(folder) = folder
            && !self.folders.contains_key(folder)
        {
            let is_file = self.files.contains_key(folder);
            let error = if is_file { TreeError::NotDirectory } else { TreeError::NotFound };
            return Err(error(folder.clone()));
        }
        let mut entries = BTreeMap::new();
        for path in self.files.keys().chain(self.folders.keys()).chain(self.links.keys()) {
            if path.parent().as_ref() == folder
                && let Some(stat) = self.stat(path)?
            {
                let name = path.name().to_owned();
                entries.insert(name.clone(), Entry { name, stat, is_link: self.links.contains_key(path) });
            }
        }
        Ok(Listing { entries: entries.into_values().collect(), has_others: false })
    }

    fn note_bytes(&self) -> Result<u64, TreeError> {
        let notes = self.files.iter().filter(|(path, _)| path.is_note());
        Ok(notes.map(|(_, image)| image.content.bytes().len() as u64).sum())
    }

    fn history(&self, _path: &MemoryPath, _limit: usize) -> Result<Log, TreeError> {
        Ok(Log::default())
    }
}

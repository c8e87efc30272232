//! [`Overlay::scan`]: every file of the memory as the batch has left it so far, looked into.
//!
//! Where the batch changed nothing the tree does it alone. Otherwise the tree is scanned under the names that its
//! files have by now, and what the batch put is looked into here.

use std::collections::BTreeMap;

use crate::overlay::{Overlay, Trouble, name_after};
use crate::step::Image;
use crate::tree::{Scan, Scanned, Tree, TreeError};
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;

impl<T: Tree> Overlay<'_, T> {
    /// As [`Tree::scan`], for a folder that is resolved.
    pub(crate) fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, Trouble> {
        if self.is_unchanged() {
            return Ok(self.tree.scan(scan, look)?);
        }
        if let Some(folder) = scan.folder {
            match self.stat(folder)?.map(|stat| stat.kind) {
                Some(Kind::Directory) => {}
                Some(Kind::File) => return Err(TreeError::NotDirectory(folder.clone()).into()),
                None => return Err(TreeError::NotFound(folder.clone()).into()),
            }
        }
        let (structure, files) = (self.structure.as_slice(), &self.files);
        let is_inside = |path: &MemoryPath| scan.folder.is_none_or(|folder| path.is_within(folder));
        let name = |path: &MemoryPath| name_after(structure, path.clone());
        let wants = |path: &MemoryPath| {
            let path = name(path);
            is_inside(&path) && !files.contains_key(&path) && (scan.wants)(&path)
        };
        // What was moved into a folder is found only from the root.
        let folder = scan.folder.filter(|folder| structure.is_empty() && !self.shows_only(folder));
        let old = Scan { folder, limit: scan.limit, wants: &wants, stop: scan.stop };
        let seen = self.tree.scan(&old, &|path, bytes| {
            let path = name(path);
            look(&path, bytes.map_err(|error| error.about(&path)))
        });
        let mut found = BTreeMap::new();
        for file in seen? {
            let path = name(&file.path);
            if !is_inside(&path) || files.contains_key(&path) {
                continue;
            }
            let file = if file.is_link { self.link(path.clone(), scan, look)? } else { Some(Scanned { path, ..file }) };
            found.extend(file.map(|file| (file.path.clone(), file)));
        }
        for (path, change) in files.iter().filter(|(path, _)| is_inside(path) && self.tree.shows(path)) {
            if (scan.stop)() {
                return Err(TreeError::Stopped.into());
            }
            let Some(image) = &change.after else { continue };
            let seen = (scan.wants)(path).then(|| look(path, within(path, image, scan.limit)));
            found.insert(path.clone(), Scanned { path: path.clone(), is_link: false, seen });
        }
        Ok(found.into_values().collect())
    }

    /// A link to a file, which may have been changed, moved or deleted in this batch.
    fn link<R>(
        &self,
        path: MemoryPath,
        scan: &Scan<'_>,
        look: &impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R,
    ) -> Result<Option<Scanned<R>>, Trouble> {
        // What cannot be followed is not listed either.
        let Ok(target) = self.resolve(&path) else { return Ok(None) };
        if self.stat(&target)?.is_none_or(|stat| stat.kind == Kind::Directory) {
            return Ok(None);
        }
        let seen = (scan.wants)(&path).then(|| match self.read(&target, scan.limit) {
            Ok(image) => look(&path, within(&path, &image, scan.limit)),
            Err(Trouble::Tree(error)) => look(&path, Err(error.about(&path))),
            Err(Trouble::Mixed(_)) => look(&path, Err(TreeError::Unsupported(path.clone()))),
        });
        Ok(Some(Scanned { path, is_link: true, seen }))
    }
}

/// The bytes of a file, if they may be read.
fn within<'a>(path: &MemoryPath, image: &'a Image, limit: u64) -> Result<&'a [u8], TreeError> {
    let bytes = image.content.bytes();
    let size = bytes.len() as u64;
    if size <= limit { Ok(bytes) } else { Err(TreeError::TooLarge { path: path.clone(), size, limit }) }
}

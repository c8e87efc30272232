//! A stand-in until the overlay scans by itself.

use crate::path::MemoryPath;
use crate::plan::overlay::{Overlay, Trouble};
use crate::plan::tree::{Scan, Scanned, Tree, TreeError};
use crate::report::Kind;

impl<T: Tree> Overlay<'_, T> {
    pub(crate) fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, Trouble> {
        let mut found = Vec::new();
        let mut folders = vec![scan.folder.cloned()];
        while let Some(folder) = folders.pop() {
            for entry in self.list(folder.as_ref())?.entries {
                let Ok(path) = MemoryPath::in_folder(folder.as_ref(), &entry.name) else { continue };
                if entry.stat.kind == Kind::Directory {
                    if !entry.is_link {
                        folders.push(Some(path));
                    }
                    continue;
                }
                if (scan.stop)() {
                    return Err(TreeError::Stopped.into());
                }
                let seen = (scan.wants)(&path).then(|| match self.read(&path, scan.limit) {
                    Ok(image) => look(&path, Ok(image.content.bytes())),
                    Err(Trouble::Tree(error)) => look(&path, Err(error)),
                    Err(Trouble::Mixed(path)) => look(&path, Err(TreeError::NotFound(path.clone()))),
                });
                found.push(Scanned { path, is_link: entry.is_link, seen });
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }
}

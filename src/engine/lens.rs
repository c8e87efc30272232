//! [`Lens`]: a memory as somebody sees it who may not see all of it. What is hidden is not there.
//!
//! A file is there when the grant shows its path; a link, when it shows the place it leads to as well; a folder, when the
//! grant shows its name or something stands below it that is there. Nothing else about what is hidden can be learnt from
//! an answer: neither its size, nor a time that it changed.

use crate::path::MemoryPath;
use crate::plan::{Entry, Image, Listing, Scan, Scanned, Stat, Tree, TreeError};
use crate::policy::Grant;
use crate::report::{Kind, Log, LogEntry};

/// A tree, and what is shown of it.
pub(super) struct Lens<'l, T> {
    pub(super) tree: &'l T,
    pub(super) grant: &'l Grant,
}

/// A link on which nothing visible is to be found is no link: it is nothing.
impl<T: Tree> Lens<'_, T> {
    pub(super) fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        let Some(place) = self.place(path) else { return Ok(None) };
        let stat = match self.tree.stat(&place) {
            Err(_) if !self.grant.shows(&place) => return Ok(None),
            other => other?,
        };
        let there = stat.filter(|stat| self.is_there(&place, stat.kind));
        Ok(there.map(|stat| self.told(&place, stat)))
    }

    pub(super) fn resolve(&self, path: &MemoryPath) -> MemoryPath {
        self.place(path).unwrap_or_else(|| path.clone())
    }

    pub(super) fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        let place = self.place(path).filter(|place| self.grant.shows(path) && self.grant.shows(place));
        let place = place.ok_or_else(|| TreeError::NotFound(path.clone()))?;
        self.tree.read(&place, limit).map_err(|error| error.about(path))
    }

    pub(super) fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        let Some(path) = folder else { return Ok(self.shown(None, self.tree.list(None)?)) };
        match self.stat(path)?.map(|stat| stat.kind) {
            None => Err(TreeError::NotFound(path.clone())),
            Some(Kind::File) => Err(TreeError::NotDirectory(path.clone())),
            Some(Kind::Directory) => Ok(self.shown(folder, self.tree.list(folder)?)),
        }
    }

    pub(super) fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        if let Some(folder) = scan.folder {
            // Says why, where it is not there.
            self.list(Some(folder))?;
        }
        let wants = |path: &MemoryPath| self.grant.shows(path) && (scan.wants)(path);
        let mut found = self.tree.scan(&Scan { wants: &wants, ..*scan }, look)?;
        found.retain(|file| self.grant.shows(&file.path) && (!file.is_link || self.leads(&file.path).is_some()));
        Ok(found)
    }

    /// The batches that changed what is at `path`, as far as they can be told of, the newest `limit` of them.
    pub(super) fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        let mut asked = limit;
        loop {
            let Log { entries, cursor } = self.tree.history(path, asked)?;
            let mut entries: Vec<LogEntry> = entries.into_iter().filter_map(|entry| self.entry(entry)).collect();
            // Some may have been left out, and older ones may be there.
            if entries.len() < limit && cursor.is_some() {
                asked = asked.saturating_mul(4).max(64);
                continue;
            }
            entries.truncate(limit);
            return Ok(Log { entries, cursor: None });
        }
    }

    /// A batch as far as it can be told of: numbers tell how many others there are.
    fn entry(&self, entry: LogEntry) -> Option<LogEntry> {
        let mut entry = LogEntry { batch: None, undoes: None, undone_by: None, diff: None, ..entry };
        entry.changed.retain(|path| self.grant.shows(path));
        let shows = |path: &String| MemoryPath::parse(path).is_ok_and(|path| self.grant.shows(&path));
        entry.actions.retain(|action| action.path.as_ref().is_some_and(shows));
        for (index, action) in (1..).zip(&mut entry.actions) {
            action.index = index;
            // How long it took tells how many notes there are that are hidden.
            action.ms = 0.0;
        }
        Some(entry).filter(|entry| !entry.changed.is_empty())
    }

    /// Where a path leads, if that may be known.
    fn place(&self, path: &MemoryPath) -> Option<MemoryPath> {
        let place = self.tree.resolve(path).ok()?;
        if place == *path { Some(place) } else { self.leads(path) }
    }

    /// Where a path leads on which there is a link, if something is there or could be made there.
    fn leads(&self, path: &MemoryPath) -> Option<MemoryPath> {
        let grant = self.grant;
        let place = self.tree.resolve(path).ok()?;
        let stat = self.tree.stat(&place).ok()?;
        let (is_named, is_there) = match stat.map(|stat| stat.kind) {
            Some(Kind::File) => (grant.shows(path), grant.shows(&place)),
            Some(Kind::Directory) => {
                (grant.shows(path) || grant.shows_below(path), self.is_there(&place, Kind::Directory))
            }
            None => (
                grant.shows(path) || grant.shows_below(path),
                place.parent().is_none_or(|folder| self.is_there(&folder, Kind::Directory)),
            ),
        };
        Some(place).filter(|_| is_named && is_there)
    }

    /// Whether what stands at a path that is resolved is there.
    fn is_there(&self, path: &MemoryPath, kind: Kind) -> bool {
        self.grant.shows(path) || (kind == Kind::Directory && self.holds_anything(path))
    }

    /// Whether anything that is there stands below a folder. Linked folders count for nothing: they may lead in a circle.
    fn holds_anything(&self, folder: &MemoryPath) -> bool {
        let mut folders = vec![folder.clone()];
        while let Some(folder) = folders.pop() {
            let listing = self.grant.shows_below(&folder).then(|| self.tree.list(Some(&folder)));
            let Some(Ok(listing)) = listing else { continue };
            for Entry { name, stat, is_link } in listing.entries {
                let Ok(path) = MemoryPath::in_folder(Some(&folder), &name) else { continue };
                match stat.kind {
                    Kind::File if self.grant.shows(&path) && (!is_link || self.leads(&path).is_some()) => return true,
                    Kind::Directory if !is_link && self.grant.shows(&path) => return true,
                    Kind::Directory if !is_link => folders.push(path),
                    Kind::File | Kind::Directory => {}
                }
            }
        }
        false
    }

    fn shown(&self, folder: Option<&MemoryPath>, listing: Listing) -> Listing {
        let Listing { entries, mut has_others } = listing;
        let mut shown = Vec::with_capacity(entries.len());
        for entry in entries {
            let Ok(path) = MemoryPath::in_folder(folder, &entry.name) else { continue };
            let place = if entry.is_link { self.leads(&path) } else { Some(path) };
            match place.filter(|place| self.is_there(place, entry.stat.kind)) {
                Some(place) => shown.push(Entry { stat: self.told(&place, entry.stat), ..entry }),
                None => has_others = true,
            }
        }
        Listing { entries: shown, has_others }
    }

    /// What may be known of something that is there: a folder changes when something comes into it.
    fn told(&self, path: &MemoryPath, stat: Stat) -> Stat {
        match stat.kind {
            Kind::Directory if !self.grant.shows_all_below(path) => Stat { modified: (0, 0), ..stat },
            Kind::File | Kind::Directory => stat,
        }
    }
}

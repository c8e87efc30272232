//! [`ScopedTree`]: the memory as a caller sees it. What a grant hides is not there.
//!
//! A file is there when the grant shows its path; a link, when the grant shows the place it leads to as well; a folder, when the
//! grant shows its name or something below it is there. No answer tells anything else about what is hidden: neither its size
//! nor when it changed. A caller who sees everything is also answered from the index.

use std::cell::Cell;

use super::Engine;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Kind, Log, LogEntry};
use memdir_core::time::Timestamp;
use memdir_plan::{
    Altered, Content, Effort, Entry, Gone, Image, Listing, PastBatch, Said, Scan, Scanned, Stat, Step, Tree, TreeError,
};
use memdir_policy::Grant;
use memdir_rank::{Point, Source};

/// A tree, what is shown of it, and the index of the engine.
pub(super) struct ScopedTree<'e, T> {
    engine: &'e Engine,
    /// The vault, or its writer.
    tree: &'e T,
    /// What is shown of it, where that is not all.
    grant: Option<&'e Grant>,
    /// Whether this thread holds the lock of the vault, which must not be asked for its history then.
    is_locked: bool,
    /// Whether this is the memory as it was, of which no index knows.
    is_past: bool,
    /// Whether the index was brought up to date since this was made: a batch is planned on the memory as it was then.
    is_index_fresh: Cell<bool>,
}

impl<'e, T: Tree> ScopedTree<'e, T> {
    /// The memory as a caller with this grant sees it.
    pub(super) fn new(engine: &'e Engine, tree: &'e T, grant: Option<&'e Grant>, is_locked: bool) -> Self {
        let grant = grant.filter(|grant| grant.is_restricted());
        Self { engine, tree, grant, is_locked, is_past: false, is_index_fresh: Cell::new(false) }
    }

    /// The memory as a caller with this grant sees how it was.
    pub(super) fn of_past(engine: &'e Engine, tree: &'e T, grant: Option<&'e Grant>) -> Self {
        Self { is_past: true, ..Self::new(engine, tree, grant, false) }
    }

    /// Where a path leads, if that may be known.
    fn visible_place(&self, grant: &Grant, path: &MemoryPath) -> Option<MemoryPath> {
        let place = self.tree.resolve(path).ok()?;
        if place == *path { Some(place) } else { self.visible_target(grant, path) }
    }

    /// Where a path leads on which there is a link, if something is there or could be made there.
    fn visible_target(&self, grant: &Grant, path: &MemoryPath) -> Option<MemoryPath> {
        let place = self.tree.resolve(path).ok()?;
        let stat = self.tree.stat(&place).ok()?;
        let is_folder_named = grant.shows(path) || grant.shows_below(path);
        let (is_named, is_there) = match stat.map(|stat| stat.kind) {
            Some(Kind::File) => (grant.shows(path), grant.shows(&place)),
            Some(Kind::Directory) => (is_folder_named, self.is_visible(grant, &place, Kind::Directory)),
            None => {
                (is_folder_named, place.parent().is_none_or(|folder| self.is_visible(grant, &folder, Kind::Directory)))
            }
        };
        Some(place).filter(|_| is_named && is_there)
    }

    /// Whether the grant shows what stands at a resolved path.
    fn is_visible(&self, grant: &Grant, path: &MemoryPath, kind: Kind) -> bool {
        grant.shows(path) || (kind == Kind::Directory && self.holds_anything(grant, path))
    }

    /// Whether anything visible stands below a folder. Linked folders count for nothing: they may lead in a circle.
    fn holds_anything(&self, grant: &Grant, folder: &MemoryPath) -> bool {
        let mut folders = vec![folder.clone()];
        while let Some(folder) = folders.pop() {
            let listing = grant.shows_below(&folder).then(|| self.tree.list(Some(&folder)));
            let Some(Ok(listing)) = listing else { continue };
            for Entry { name, stat, is_link } in listing.entries {
                let Ok(path) = MemoryPath::in_folder(Some(&folder), &name) else { continue };
                let is_shown = grant.shows(&path);
                match stat.kind {
                    Kind::File if is_shown && (!is_link || self.visible_target(grant, &path).is_some()) => return true,
                    Kind::Directory if !is_link && is_shown => return true,
                    Kind::Directory if !is_link => folders.push(path),
                    Kind::File | Kind::Directory => {}
                }
            }
        }
        false
    }

    /// Whether it may be told that a batch changed what was called so: what is there now under that name, or what was deleted under it or has got
    /// another name that is shown. What another program moved is not told of; what is done under the lock does not ask the history.
    fn may_tell(&self, grant: &Grant, path: &MemoryPath, batch: Option<u64>) -> bool {
        let is_there = |path: &MemoryPath| matches!(self.tree.stat(path), Ok(Some(_)));
        let since = || match batch {
            Some(batch) if !self.is_locked => self.engine.vault.since_change(path, batch).ok(),
            _ => None,
        };
        grant.shows(path)
            && (is_there(path)
                || since().is_some_and(|now| {
                    grant.shows(&now.name) && (matches!(now.gone, Some(Gone::Deleted(_))) || is_there(&now.name))
                }))
    }

    fn visible_entries(&self, grant: &Grant, folder: Option<&MemoryPath>, listing: Listing) -> Listing {
        let Listing { entries, mut has_others } = listing;
        let mut shown = Vec::with_capacity(entries.len());
        for entry in entries {
            let Ok(path) = MemoryPath::in_folder(folder, &entry.name) else { continue };
            let place = if entry.is_link { self.visible_target(grant, &path) } else { Some(path) };
            match place.filter(|place| self.is_visible(grant, place, entry.stat.kind)) {
                Some(place) => shown.push(Entry { stat: visible_stat(grant, &place, entry.stat), ..entry }),
                None => has_others = true,
            }
        }
        Listing { entries: shown, has_others }
    }
}

impl<T: Tree> Tree for ScopedTree<'_, T> {
    type Whole = T::Whole;

    fn whole(&self) -> &T::Whole {
        self.tree.whole()
    }

    fn is_part(&self) -> bool {
        self.grant.is_some()
    }

    fn shows(&self, path: &MemoryPath) -> bool {
        self.grant.is_none_or(|grant| grant.shows(path))
    }

    /// A link on which nothing visible is to be found is no link: it is nothing.
    fn stat(&self, path: &MemoryPath) -> Result<Option<Stat>, TreeError> {
        let Some(grant) = self.grant else { return self.tree.stat(path) };
        let Some(place) = self.visible_place(grant, path) else { return Ok(None) };
        let stat = match self.tree.stat(&place) {
            Err(_) if !grant.shows(&place) => return Ok(None),
            other => other?,
        };
        let there = stat.filter(|stat| self.is_visible(grant, &place, stat.kind));
        Ok(there.map(|stat| visible_stat(grant, &place, stat)))
    }

    fn closed_folders(&self) -> Vec<MemoryPath> {
        let mut closed = self.tree.closed_folders();
        closed.retain(|folder| self.shows(folder));
        closed
    }

    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, TreeError> {
        let Some(grant) = self.grant else { return self.tree.resolve(path) };
        Ok(self.visible_place(grant, path).unwrap_or_else(|| path.clone()))
    }

    fn read(&self, path: &MemoryPath, limit: u64) -> Result<Image, TreeError> {
        let Some(grant) = self.grant else { return self.tree.read(path, limit) };
        let place = self.visible_place(grant, path).filter(|place| grant.shows(path) && grant.shows(place));
        let place = place.ok_or_else(|| TreeError::NotFound(path.clone()))?;
        self.tree.read(&place, limit).map_err(|error| error.about(path))
    }

    fn read_direct(&self, path: &MemoryPath, limit: u64) -> Option<Image> {
        if self.shows(path) { self.tree.read_direct(path, limit) } else { None }
    }

    fn size_below(&self, folder: Option<&MemoryPath>) -> Option<u64> {
        if self.is_part() { None } else { self.tree.size_below(folder) }
    }

    fn list(&self, folder: Option<&MemoryPath>) -> Result<Listing, TreeError> {
        let Some(grant) = self.grant else { return self.tree.list(folder) };
        if let Some(path) = folder {
            match self.stat(path)?.map(|stat| stat.kind) {
                None => return Err(TreeError::NotFound(path.clone())),
                Some(Kind::File) => return Err(TreeError::NotDirectory(path.clone())),
                Some(Kind::Directory) => {}
            }
        }
        Ok(self.visible_entries(grant, folder, self.tree.list(folder)?))
    }

    fn scan<R: Send>(
        &self,
        scan: &Scan<'_>,
        look: &(impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync),
    ) -> Result<Vec<Scanned<R>>, TreeError> {
        let Some(grant) = self.grant else { return self.tree.scan(scan, look) };
        if let Some(folder) = scan.folder {
            // Says why, where it is not there.
            self.list(Some(folder))?;
        }
        let wants = |path: &MemoryPath| grant.shows(path) && (scan.wants)(path);
        let mut found = self.tree.scan(&Scan { wants: &wants, ..*scan }, look)?;
        found.retain(|file| {
            grant.shows(&file.path) && (!file.is_link || self.visible_target(grant, &file.path).is_some())
        });
        Ok(found)
    }

    /// The index counts the words of all notes, so it is for callers who may see all.
    fn consult(
        &self,
        altered: &[Altered],
        effort: Effort,
        ask: &mut dyn FnMut(&dyn Source) -> Result<(), TreeError>,
    ) -> Result<bool, TreeError> {
        if self.is_part() || self.is_past {
            return Ok(false);
        }
        if self.is_index_fresh.get() {
            return self.engine.consult_again(altered, self.is_locked, ask);
        }
        let is_answered = self.engine.consult(altered, effort, self.is_locked, ask)?;
        self.is_index_fresh.set(is_answered && self.engine.has_shared_index());
        Ok(is_answered)
    }

    /// As with [`Tree::consult`].
    fn point(&self, question: &str) -> Option<Point> {
        if self.is_part() || self.is_past { None } else { self.engine.point(question, self.is_locked) }
    }

    /// The limit on all notes holds for everybody, so all of them count.
    fn note_bytes(&self) -> Result<u64, TreeError> {
        self.tree.note_bytes()
    }

    /// The batches that changed what is at `path`, as far as the grant shows them, the newest `limit` of them.
    fn history(&self, path: &MemoryPath, limit: usize) -> Result<Log, TreeError> {
        let Some(grant) = self.grant else { return self.tree.history(path, limit) };
        let mut asked = limit;
        loop {
            let Log { entries, cursor } = self.tree.history(path, asked)?;
            let visible = |entry: LogEntry| {
                let batch = entry.batch;
                visible_batch(entry, &|path| self.may_tell(grant, path, batch))
            };
            let mut entries: Vec<LogEntry> = entries.into_iter().filter_map(visible).collect();
            // Some may have been left out, and older ones may be there.
            if entries.len() < limit && cursor.is_some() {
                asked = asked.saturating_mul(4).max(64);
                continue;
            }
            entries.truncate(limit);
            return Ok(Log { entries, cursor: None });
        }
    }

    fn batches(&self, since: Timestamp, until: Timestamp) -> Result<Vec<PastBatch>, TreeError> {
        let mut batches = self.tree.batches(since, until)?;
        if let Some(grant) = self.grant {
            for batch in &mut batches {
                batch.changed.retain(|path| self.may_tell(grant, path, Some(batch.number)));
            }
            batches.retain(|batch| !batch.changed.is_empty());
        }
        Ok(batches)
    }

    /// Only for who sees all: a step of a rename names two notes, and a text of the past may hold what is hidden now.
    fn steps(&self, batch: u64) -> Result<Option<Vec<Step>>, TreeError> {
        if self.is_part() { Ok(None) } else { self.tree.steps(batch) }
    }

    fn unconfirmed(&self, path: &MemoryPath, now: &Content) -> Result<Vec<(usize, String)>, TreeError> {
        self.tree.unconfirmed(path, now)
    }

    /// As with [`Tree::steps`].
    fn said(&self, since: Timestamp, until: Timestamp) -> Result<Vec<Said>, TreeError> {
        if self.is_part() || self.is_locked { Ok(Vec::new()) } else { Ok(self.engine.said(since, until)) }
    }
}

/// A batch as far as it may be told. Numbers would tell how many others there are.
fn visible_batch(entry: LogEntry, may_tell: &dyn Fn(&MemoryPath) -> bool) -> Option<LogEntry> {
    let (batch, undoes, also_undoes, undone_by) = (None, None, Vec::new(), None);
    let mut entry = LogEntry { batch, tool: None, session: None, undoes, also_undoes, undone_by, diff: None, ..entry };
    entry.changed.retain(may_tell);
    let shows = |path: &String| MemoryPath::parse(path).is_ok_and(|path| may_tell(&path));
    entry.actions.retain(|action| action.path.as_ref().is_some_and(shows));
    for (index, action) in (1..).zip(&mut entry.actions) {
        action.index = index;
        // How long it took tells how many hidden notes there are.
        action.ms = 0.0;
    }
    Some(entry).filter(|entry| !entry.changed.is_empty())
}

/// What may be known of something visible: the time of a folder changes when something hidden comes into it.
fn visible_stat(grant: &Grant, path: &MemoryPath, stat: Stat) -> Stat {
    match stat.kind {
        Kind::Directory if !grant.shows_all_below(path) => Stat { modified: (0, 0), ..stat },
        Kind::File | Kind::Directory => stat,
    }
}

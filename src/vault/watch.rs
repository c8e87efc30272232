//! Watching: what others do to the memory's folder, as the system tells it.
//!
//! The system speaks of ambient paths; they become [`MemoryPath`]s here, and whoever is told looks through the handle
//! at what is there by then. Hidden names, `.memdir/` and our temporary files are dropped before anything else; what we
//! do ourselves is told like what anybody does, and costs a look.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::{Vault, VaultError};
use crate::path::MemoryPath;

/// What happens within this time of a first event is told together with it: a save is several events.
const WINDOW: Duration = Duration::from_millis(50);
/// More paths than this in one window are not told one by one.
const MOST_PATHS: usize = 10_000;

/// What was noticed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Noticed {
    /// Something was made, changed, moved or removed at these places, sorted; a folder stands for all that is below it.
    /// No place at all where somebody wrote the history or the like.
    Changed(Vec<MemoryPath>),
    /// What happened is not known: every file has to be looked at.
    Rescan,
    /// Not everything is told any more, such as since the system watches no more folders: from now on every file has to
    /// be looked at each time. Told once.
    Blind,
}

/// Watches a memory until it is dropped. What is being told then is still told.
#[derive(Debug)]
pub struct Watch {
    /// Ends with it; first of the fields, so that nothing is added after the end.
    _watcher: RecommendedWatcher,
    pending: Arc<Pending>,
}

/// What was noticed and is not told yet.
#[derive(Debug, Default)]
struct Pending {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    paths: BTreeSet<MemoryPath>,
    is_rescan: bool,
    /// Whether somebody wrote in `.memdir/`.
    is_state: bool,
    sight: Sight,
    is_over: bool,
}

impl State {
    fn has_something(&self) -> bool {
        let is_lost = matches!(self.sight, Sight::Lost);
        self.is_over || self.is_rescan || self.is_state || is_lost || !self.paths.is_empty()
    }
}

/// Whether all that happens is told.
#[derive(Debug, Default)]
enum Sight {
    #[default]
    Full,
    /// No longer, which is to be told.
    Lost,
    /// No longer, which was told.
    Blind,
}

impl Vault {
    /// Calls `told`, on a thread of its own, with what happens in the memory from now on.
    ///
    /// It is no proof: events can be lost when a folder is filled while it is being made, and on network drives. A
    /// sweep now and then finds what was missed.
    ///
    /// # Errors
    ///
    /// [`VaultError::WatchLimit`] when the system watches no more; otherwise [`VaultError::Io`].
    pub fn watch(&self, told: impl Fn(Noticed) + Send + 'static) -> Result<Watch, VaultError> {
        let pending = Arc::new(Pending::default());
        let (heard, root) = (Arc::clone(&pending), self.root.clone());
        let hear = move |event: notify::Result<Event>| hear(&heard, &root, event);
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(hear, config).map_err(failure)?;
        watcher.watch(&self.root, RecursiveMode::Recursive).map_err(failure)?;
        let teller = Arc::clone(&pending);
        let tell = move || {
            while let Some(noticed) = teller.next() {
                told(noticed);
            }
        };
        let started = thread::Builder::new().name("watch".to_owned()).spawn(tell);
        started.map_err(|error| VaultError::io("start a thread", None, error))?;
        Ok(Watch { _watcher: watcher, pending })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.pending.state().is_over = true;
        self.pending.changed.notify_all();
    }
}

impl Pending {
    /// Waits for something, and a little longer for what belongs to it; `None` when it is over.
    fn next(&self) -> Option<Noticed> {
        let mut state = self.state();
        while !state.has_something() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // What began with the journal goes on with the notes.
        for _ in 0..2 {
            let is_begun = state.is_over || !state.paths.is_empty();
            if !state.is_over {
                drop(state);
                thread::sleep(WINDOW);
                state = self.state();
            }
            if is_begun || state.paths.is_empty() {
                break;
            }
        }
        if !state.is_over && matches!(state.sight, Sight::Lost) {
            state.sight = Sight::Blind;
            return Some(Noticed::Blind);
        }
        state.is_state = false;
        let paths = std::mem::take(&mut state.paths);
        match (state.is_over, std::mem::take(&mut state.is_rescan)) {
            (true, _) => None,
            (false, true) => Some(Noticed::Rescan),
            (false, false) => Some(Noticed::Changed(paths.into_iter().collect())),
        }
    }

    fn add(&self, place: Place) {
        let mut state = self.state();
        match place {
            Place::Hidden => return,
            Place::State => state.is_state = true,
            Place::Known(path) if !state.is_rescan && state.paths.len() < MOST_PATHS => {
                state.paths.insert(path);
            }
            // What has to be looked at in any case needs no name.
            Place::Known(_) | Place::Unknown => {
                state.is_rescan = true;
                state.paths.clear();
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Says that not everything is told any more.
    fn lose_sight(&self) {
        let mut state = self.state();
        if matches!(state.sight, Sight::Full) {
            state.sight = Sight::Lost;
        }
        drop(state);
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes what the system says.
fn hear(pending: &Pending, root: &Path, event: notify::Result<Event>) {
    match event {
        Ok(event) if event.need_rescan() => pending.add(Place::Unknown),
        Ok(event) if is_look(event.kind) => {}
        Ok(event) => event.paths.iter().for_each(|path| pending.add(place(root, path))),
        Err(error) => {
            tracing::warn!(kind = ?error.kind, "watching failed");
            match error.kind {
                // What was to be watched is gone already.
                ErrorKind::PathNotFound | ErrorKind::WatchNotFound => pending.add(Place::Unknown),
                ErrorKind::MaxFilesWatch | ErrorKind::Io(_) | ErrorKind::Generic(_) | ErrorKind::InvalidConfig(_) => {
                    pending.lose_sight();
                }
            }
        }
    }
}

/// Whether somebody only looked at something. That a file was closed by one who could write is not all a look.
fn is_look(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => kind != AccessKind::Close(AccessMode::Write),
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => false,
    }
}

/// Where something happened.
#[derive(Debug, Eq, PartialEq)]
enum Place {
    /// In what no action can name and no search shows.
    Hidden,
    /// In the state of this or another machine.
    State,
    Known(MemoryPath),
    /// At the memory's own folder, or where it cannot be said.
    Unknown,
}

/// The place in the memory that an ambient path names; for a name that no path can say, the folder that holds it.
fn place(root: &Path, path: &Path) -> Place {
    let Ok(inner) = path.strip_prefix(root) else { return Place::Unknown };
    let mut known: Option<MemoryPath> = None;
    for component in inner.components() {
        let Component::Normal(name) = component else { return Place::Unknown };
        if is_hidden(name) {
            let is_state = known.is_none() && name == ".memdir";
            return if is_state { Place::State } else { Place::Hidden };
        }
        match name.to_str().and_then(|name| MemoryPath::in_folder(known.as_ref(), name).ok()) {
            Some(path) => known = Some(path),
            None => break,
        }
    }
    known.map_or(Place::Unknown, Place::Known)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Sorts what the watcher says by what the caller does next.
fn failure(error: notify::Error) -> VaultError {
    match error.kind {
        ErrorKind::MaxFilesWatch => VaultError::WatchLimit("fs.inotify.max_user_watches"),
        ErrorKind::Io(error) if has_no_instance(&error) => VaultError::WatchLimit("fs.inotify.max_user_instances"),
        ErrorKind::Io(error) => VaultError::io("watch the memory", None, error),
        ErrorKind::PathNotFound => VaultError::io("watch the memory", None, io::ErrorKind::NotFound.into()),
        ErrorKind::Generic(_) | ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) => {
            VaultError::io("watch the memory", None, io::ErrorKind::Other.into())
        }
    }
}

/// Whether nobody of this user may watch anything more.
fn has_no_instance(error: &io::Error) -> bool {
    #[cfg(target_os = "linux")]
    return error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = error;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        let expected = expected.map_or(Place::Unknown, |path| Place::Known(MemoryPath::parse(path).unwrap()));
        assert_eq!(place(Path::new("/home/ada/memory"), Path::new(path)), expected, "{path:?}");
    }

    #[test]
    fn an_ambient_path_becomes_a_place_in_the_memory() {
        check("/home/ada/memory/user.md", Some("user.md"));
        check("/home/ada/memory/people/ada.md", Some("people/ada.md"));
        check("/home/ada/memory/people/line\nend.md", Some("people"));
        check("/home/ada/memory/people/line\nend/x.md", Some("people"));
        check("/home/ada/memory/line\nend.md", None);
        check("/home/ada/memory", None);
        check("/home/ada/memory2/x.md", None);
        check("/home/ada", None);
        let state = Path::new("/home/ada/memory/.memdir/local/history.sqlite");
        assert_eq!(place(Path::new("/home/ada/memory"), state), Place::State);
        for hidden in ["a/.memdir/x", ".git", "a/.memdir-1-0.tmp", "a/.obsidian/x.md", ".x\n/y"] {
            let path = Path::new("/home/ada/memory").join(hidden);
            assert_eq!(place(Path::new("/home/ada/memory"), &path), Place::Hidden, "{hidden}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_watched_any_more_is_told_once_and_what_is_still_seen_after_it() {
        let (pending, root) = (Pending::default(), Path::new("/home/ada/memory"));
        let note = || Ok(Event::new(EventKind::Any).add_path(root.join("a.md")));
        hear(&pending, root, Err(notify::Error::path_not_found()));
        assert_eq!(pending.next(), Some(Noticed::Rescan), "a folder that is gone already is no loss");
        hear(&pending, root, note());
        for _ in 0..2 {
            hear(&pending, root, Err(notify::Error::new(ErrorKind::MaxFilesWatch)));
        }
        assert_eq!(pending.next(), Some(Noticed::Blind));
        assert_eq!(pending.next(), Some(Noticed::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
        hear(&pending, root, Err(notify::Error::io(io::ErrorKind::StorageFull.into())));
        hear(&pending, root, note());
        assert_eq!(pending.next(), Some(Noticed::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
    }

    #[test]
    fn too_many_paths_are_one_rescan() {
        let pending = Pending::default();
        for number in 0..=MOST_PATHS {
            pending.add(Place::Known(MemoryPath::parse(&format!("n{number}.md")).unwrap()));
        }
        pending.add(Place::Known(MemoryPath::parse("one-more.md").unwrap()));
        assert!(pending.state().paths.is_empty());
        assert_eq!(pending.next(), Some(Noticed::Rescan));
        pending.add(Place::State);
        assert_eq!(pending.next(), Some(Noticed::Changed(Vec::new())));
        pending.add(Place::Hidden);
        pending.add(Place::Known(MemoryPath::parse("a.md").unwrap()));
        assert_eq!(pending.next(), Some(Noticed::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
    }
}

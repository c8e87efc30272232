//! Watching: what other programs do in the memory's folder, as the system reports it.
//!
//! The system reports ambient paths; they become [`MemoryPath`]s here, and the receiver looks through the handle at what
//! is there by then. Hidden names, `.memdir/` and our temporary files are dropped before anything else. Our own changes are
//! reported like those of any program, and cost one look.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::sizes::FolderSizes;
use super::{Vault, VaultError};
use memdir_core::path::MemoryPath;

/// Events within this time of a first one are reported together with it: one save is several events.
const WINDOW: Duration = Duration::from_millis(50);
/// More paths than this in one window are not reported one by one.
const MOST_PATHS: usize = 10_000;

/// What the system reported.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum WatchEvent {
    /// Something was made, changed, moved or removed at these places, sorted; a folder stands for all that is below it.
    /// No place at all where somebody wrote the history or the like.
    Changed(Vec<MemoryPath>),
    /// Events were lost: every file has to be looked at.
    Rescan,
    /// Some events are no longer reported, for example because the system watches no more folders: from now on every file has
    /// to be looked at each time. Sent once.
    Blind,
}

/// Watches a memory until it is dropped. A report that is under way then is still delivered.
#[derive(Debug)]
pub struct Watch {
    /// Dropped first, so that nothing is added after the end.
    _watcher: RecommendedWatcher,
    pending: Arc<Pending>,
}

/// Events that are not reported yet.
#[derive(Debug, Default)]
struct Pending {
    state: Mutex<State>,
    changed: Condvar,
    /// Told at once.
    sizes: Arc<FolderSizes>,
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

/// Whether all events are reported.
#[derive(Debug, Default)]
enum Sight {
    #[default]
    Full,
    /// No longer, which is to be reported.
    Lost,
    /// No longer, which was reported.
    Blind,
}

impl Vault {
    /// Calls `notice`, on a thread of its own, with what happens in the memory from now on.
    ///
    /// This proves nothing: events can be lost on network drives, and when a folder is filled while it is being made. A
    /// sweep now and then finds what was missed.
    ///
    /// # Errors
    ///
    /// [`VaultError::WatchLimit`] when the system watches no more; otherwise [`VaultError::Io`].
    pub fn watch(&self, notice: impl Fn(WatchEvent) + Send + 'static) -> Result<Watch, VaultError> {
        let pending = Arc::new(Pending { sizes: Arc::clone(&self.sizes), ..Pending::default() });
        let (received, root) = (Arc::clone(&pending), self.root.clone());
        let on_event = move |event: notify::Result<Event>| receive(&received, &root, event);
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(on_event, config).map_err(failure)?;
        watcher.watch(&self.root, RecursiveMode::Recursive).map_err(failure)?;
        pending.begin();
        let waiting = Arc::clone(&pending);
        let report = move || {
            while let Some(noticed) = waiting.next() {
                notice(noticed);
            }
        };
        let started = thread::Builder::new().name("watch".to_owned()).spawn(report);
        started.map_err(|error| VaultError::io("start a thread", None, error))?;
        Ok(Watch { _watcher: watcher, pending })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.pending.state().is_over = true;
        self.pending.sizes.set_told(false);
        self.pending.changed.notify_all();
    }
}

impl Pending {
    /// Notes that the system tells of all changes from now on, if it does.
    fn begin(&self) {
        let state = self.state();
        self.sizes.set_told(matches!(state.sight, Sight::Full));
    }

    /// Waits for an event, and a little longer for those that belong to it; `None` when the watch is over.
    fn next(&self) -> Option<WatchEvent> {
        let mut state = self.state();
        while !state.has_something() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // A commit begins with the journal and goes on with the notes.
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
            return Some(WatchEvent::Blind);
        }
        state.is_state = false;
        let paths = std::mem::take(&mut state.paths);
        match (state.is_over, std::mem::take(&mut state.is_rescan)) {
            (true, _) => None,
            (false, true) => Some(WatchEvent::Rescan),
            (false, false) => Some(WatchEvent::Changed(paths.into_iter().collect())),
        }
    }

    fn add(&self, place: EventPlace) {
        match &place {
            EventPlace::Hidden | EventPlace::State => {}
            EventPlace::Known(path) => self.sizes.change_at(path),
            EventPlace::Unknown => self.sizes.change(),
        }
        let mut state = self.state();
        match place {
            EventPlace::Hidden => return,
            EventPlace::State => state.is_state = true,
            EventPlace::Known(path) if !state.is_rescan && state.paths.len() < MOST_PATHS => {
                state.paths.insert(path);
            }
            // Every file is looked at in any case, so the names are not needed.
            EventPlace::Known(_) | EventPlace::Unknown => {
                state.is_rescan = true;
                state.paths.clear();
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Notes that some events are no longer reported.
    fn lose_sight(&self) {
        let mut state = self.state();
        if matches!(state.sight, Sight::Full) {
            state.sight = Sight::Lost;
        }
        self.sizes.set_told(false);
        drop(state);
        self.changed.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes an event of the system.
fn receive(pending: &Pending, root: &Path, event: notify::Result<Event>) {
    match event {
        Ok(event) if event.need_rescan() => pending.add(EventPlace::Unknown),
        Ok(event) if is_look(event.kind) => {}
        Ok(event) => event.paths.iter().for_each(|path| pending.add(place(root, path))),
        Err(error) => {
            tracing::warn!(kind = ?error.kind, "watching failed");
            match error.kind {
                // What was to be watched is gone already.
                ErrorKind::PathNotFound | ErrorKind::WatchNotFound => pending.add(EventPlace::Unknown),
                ErrorKind::MaxFilesWatch | ErrorKind::Io(_) | ErrorKind::Generic(_) | ErrorKind::InvalidConfig(_) => {
                    pending.lose_sight();
                }
            }
        }
    }
}

/// Whether an event is only a read. Closing a file that was open for writing is more than that.
fn is_look(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => kind != AccessKind::Close(AccessMode::Write),
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Other => false,
    }
}

/// Where something happened.
#[derive(Debug, Eq, PartialEq)]
enum EventPlace {
    /// In a hidden place, which no action can name.
    Hidden,
    /// In the state of this or another machine.
    State,
    Known(MemoryPath),
    /// At the memory's own folder, or at an unknown place.
    Unknown,
}

/// The place in the memory that an ambient path names; for a name that no [`MemoryPath`] can have, the folder that holds it.
fn place(root: &Path, path: &Path) -> EventPlace {
    let Ok(inner) = path.strip_prefix(root) else { return EventPlace::Unknown };
    let mut known: Option<MemoryPath> = None;
    for component in inner.components() {
        let Component::Normal(name) = component else { return EventPlace::Unknown };
        if is_hidden(name) {
            let is_state = known.is_none() && name == ".memdir";
            return if is_state { EventPlace::State } else { EventPlace::Hidden };
        }
        match name.to_str().and_then(|name| MemoryPath::in_folder(known.as_ref(), name).ok()) {
            Some(path) => known = Some(path),
            None => break,
        }
    }
    known.map_or(EventPlace::Unknown, EventPlace::Known)
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Sorts an error of the watcher by what the caller does next.
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

/// Whether this user may start no more watches.
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
        let expected = expected.map_or(EventPlace::Unknown, |path| EventPlace::Known(MemoryPath::parse(path).unwrap()));
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
        assert_eq!(place(Path::new("/home/ada/memory"), state), EventPlace::State);
        for hidden in ["a/.memdir/x", ".git", "a/.memdir-1-0.tmp", "a/.obsidian/x.md", ".x\n/y"] {
            let path = Path::new("/home/ada/memory").join(hidden);
            assert_eq!(place(Path::new("/home/ada/memory"), &path), EventPlace::Hidden, "{hidden}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_watched_any_more_is_told_once_and_what_is_still_seen_after_it() {
        let (pending, root) = (Pending::default(), Path::new("/home/ada/memory"));
        let note = || Ok(Event::new(EventKind::Any).add_path(root.join("a.md")));
        receive(&pending, root, Err(notify::Error::path_not_found()));
        assert_eq!(pending.next(), Some(WatchEvent::Rescan), "a folder that is gone already is no loss");
        receive(&pending, root, note());
        for _ in 0..2 {
            receive(&pending, root, Err(notify::Error::new(ErrorKind::MaxFilesWatch)));
        }
        assert_eq!(pending.next(), Some(WatchEvent::Blind));
        assert_eq!(pending.next(), Some(WatchEvent::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
        receive(&pending, root, Err(notify::Error::io(io::ErrorKind::StorageFull.into())));
        receive(&pending, root, note());
        assert_eq!(pending.next(), Some(WatchEvent::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
    }

    #[test]
    fn too_many_paths_are_one_rescan() {
        let pending = Pending::default();
        for number in 0..=MOST_PATHS {
            pending.add(EventPlace::Known(MemoryPath::parse(&format!("n{number}.md")).unwrap()));
        }
        pending.add(EventPlace::Known(MemoryPath::parse("one-more.md").unwrap()));
        assert!(pending.state().paths.is_empty());
        assert_eq!(pending.next(), Some(WatchEvent::Rescan));
        pending.add(EventPlace::State);
        assert_eq!(pending.next(), Some(WatchEvent::Changed(Vec::new())));
        pending.add(EventPlace::Hidden);
        pending.add(EventPlace::Known(MemoryPath::parse("a.md").unwrap()));
        assert_eq!(pending.next(), Some(WatchEvent::Changed(vec![MemoryPath::parse("a.md").unwrap()])));
    }
}

//! [`Notices`]: which clients are notified of which changes.
//!
//! The watcher says where something may have changed. That is compared here with what was known, so that a change is told
//! once, however often the system speaks of it and whoever made it. What a client is still to be told is a set, which
//! never has more than what it has asked for, however slowly it reads. Whether it may know is decided by its grant as of
//! then.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio::sync::Notify;

use crate::lock;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_engine::{Caller, Engine, FileSnapshot};
use memdir_vault::WatchEvent;

/// To so many notes may one connection, or one request to listen, subscribe.
pub(super) const MOST_SUBSCRIPTIONS: usize = 1_000;

/// So many notes that are new or gone are kept for somebody of whom it is not known yet who it is.
const MOST_EARLY: usize = 1_000;

/// What was known of the memory, and who wants to hear of changes.
#[derive(Debug, Default)]
pub(super) struct Notices {
    notes: Mutex<KnownNotes>,
    looked: Mutex<KnownFiles>,
    listeners: Mutex<Vec<Weak<Listener>>>,
}

/// All notes, whoever may see them; `None` until somebody wants to hear of lists. Paths, not numbers made of them: where a
/// folder is gone, it has to be known for whom something is gone with it.
type KnownNotes = Option<BTreeSet<MemoryPath>>;

/// What the notes that somebody has subscribed to were like when they were last looked at.
type KnownFiles = BTreeMap<MemoryPath, FileSnapshot>;

impl Notices {
    /// Begins to know which notes there are, and answers whether that was known. Changes from here on are told. It may walk
    /// through the whole memory.
    pub(super) fn know_lists(&self, engine: &Engine) -> bool {
        let mut known = lock(&self.notes);
        let was_known = known.is_some();
        if !was_known {
            match engine.every_note() {
                Ok(notes) => *known = Some(notes),
                Err(error) => tracing::warn!(%error.message, "the notes could not be listed"),
            }
        }
        was_known
    }

    /// Begins to know what a note is like, if nobody has asked for that before. Changes from here on are told.
    pub(super) fn know(&self, engine: &Engine, path: &MemoryPath) {
        lock(&self.looked).entry(path.clone()).or_insert_with(|| engine.glance(path).unwrap_or_default());
    }

    /// Tells a listener of changes, until it is dropped.
    pub(super) fn add(&self, listener: &Arc<Listener>) {
        let mut listeners = lock(&self.listeners);
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    /// Looks at what may have changed, and notes it for those who want to hear of it.
    pub(super) fn hear(&self, engine: &Engine, noticed: &WatchEvent) {
        let listed = lock(&self.notes).as_mut().map(|notes| list_again(notes, engine, noticed)).unwrap_or_default();
        let updated = {
            let mut looked = lock(&self.looked);
            let updated = look_again(&mut looked, engine, noticed);
            // Who subscribes does so before the note is known, and so before this.
            let wanted: BTreeSet<_> = self.listeners().iter().flat_map(|listener| listener.subscriptions()).collect();
            looked.retain(|path, _| wanted.contains(path));
            updated
        };
        for listener in self.listeners() {
            listener.hear(engine, &updated, &listed);
        }
    }

    /// Notes that other servers may have other tools than before, for those who want to hear of it.
    pub(super) fn tools_changed(&self) {
        for listener in self.listeners() {
            listener.tools_changed();
        }
    }

    fn listeners(&self) -> Vec<Arc<Listener>> {
        lock(&self.listeners).iter().filter_map(Weak::upgrade).collect()
    }
}

/// The notes with a subscription that are other than they were. What cannot be looked at now stays for the next time.
fn look_again(looked: &mut KnownFiles, engine: &Engine, noticed: &WatchEvent) -> BTreeSet<MemoryPath> {
    let mut updated = BTreeSet::new();
    for (path, last) in looked {
        // A name that is a link says what its target says, of which alone is told.
        let is_link = last.file.as_ref().is_some_and(|file| file.is_link);
        if !is_link && !concerns(noticed, path) {
            continue;
        }
        let Ok(now) = engine.glance(path) else { continue };
        // Where a change need not show, what is said of just this note counts, or of the one that it leads to.
        let is_said = || is_named(noticed, path) || (is_link && is_named(noticed, &engine.place(path)));
        if now.file != last.file || (!last.is_sure && is_said()) {
            updated.insert(path.clone());
        }
        *last = now;
    }
    updated
}

/// The notes that are new or gone.
fn list_again(notes: &mut BTreeSet<MemoryPath>, engine: &Engine, noticed: &WatchEvent) -> BTreeSet<MemoryPath> {
    let mut listed = BTreeSet::new();
    match noticed {
        WatchEvent::Changed(paths) => {
            for path in paths {
                // What cannot be listed now is listed with the next event.
                let Ok(now) = engine.notes_at(path) else { continue };
                listed.extend(known_at(notes, path).symmetric_difference(&now).cloned());
            }
        }
        WatchEvent::Rescan | WatchEvent::Blind => {
            if let Ok(now) = engine.every_note() {
                listed.extend(notes.symmetric_difference(&now).cloned());
            }
        }
    }
    for path in &listed {
        if !notes.remove(path) {
            notes.insert(path.clone());
        }
    }
    listed
}

/// Whether something at a place may have changed.
fn concerns(noticed: &WatchEvent, path: &MemoryPath) -> bool {
    match noticed {
        WatchEvent::Changed(paths) => {
            let is_among = |path: &MemoryPath| paths.binary_search(path).is_ok();
            is_among(path) || path.ancestors().any(|above| is_among(&above))
        }
        WatchEvent::Rescan | WatchEvent::Blind => true,
    }
}

/// Whether something is said of just this place.
fn is_named(noticed: &WatchEvent, path: &MemoryPath) -> bool {
    matches!(noticed, WatchEvent::Changed(paths) if paths.binary_search(path).is_ok())
}

/// The known notes at a place and below it.
fn known_at(notes: &BTreeSet<MemoryPath>, path: &MemoryPath) -> BTreeSet<MemoryPath> {
    let below = format!("{path}/");
    let from = (Bound::Included(below.as_str()), Bound::Unbounded);
    let within = notes.range::<str, _>(from).take_while(|note| note.as_str().starts_with(&below));
    notes.get(path).into_iter().chain(within).cloned().collect()
}

/// A client that wants to be notified of changes.
pub(super) struct Listener {
    client: OnceLock<Box<CurrentCaller>>,
    wishes: Mutex<Subscriptions>,
    wake: Notify,
}

/// The caller as of now; `None` once the client is revoked or gone.
type CurrentCaller = dyn Fn() -> Option<Caller> + Send + Sync;

/// What it wants to hear of, and what it is still to be told.
#[derive(Debug, Default)]
struct Subscriptions {
    /// Notes, by the address that the client has given.
    notes: BTreeMap<String, MemoryPath>,
    lists: bool,
    /// Whether of other servers' tools, and by which digest the list of tools is known that the client was given last.
    tools: Option<Option<Digest>>,
    /// What has changed before it was known who it is: other notes than they were, and new ones or gone.
    early: (BTreeSet<MemoryPath>, BTreeSet<MemoryPath>),
    due: DueNotices,
    is_over: bool,
}

impl Subscriptions {
    fn note_early(&mut self, updated: &BTreeSet<MemoryPath>, listed: &BTreeSet<MemoryPath>) {
        let Self { notes, lists, early, .. } = self;
        early.0.extend(notes.values().filter(|path| updated.contains(*path)).cloned());
        if *lists && early.1.len() < MOST_EARLY {
            early.1.extend(listed.iter().cloned());
        }
    }
}

/// What a client is to be notified of.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct DueNotices {
    /// The addresses of notes that are other than they were.
    pub(super) updated: BTreeSet<String>,
    /// Whether there are other notes than before.
    pub(super) listed: bool,
    /// Whether there may be other tools.
    pub(super) tools: bool,
}

/// A connection has too many subscriptions.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooMany;

impl Listener {
    /// A listener whose caller is not known yet.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { client: OnceLock::new(), wishes: Mutex::default(), wake: Notify::new() })
    }

    /// Sets its caller: from now on it can be notified.
    pub(super) fn begin(&self, engine: &Engine, client: impl Fn() -> Option<Caller> + Send + Sync + 'static) {
        let (updated, listed) = {
            let mut wishes = lock(&self.wishes);
            let _ = self.client.set(Box::new(client));
            std::mem::take(&mut wishes.early)
        };
        self.hear(engine, &updated, &listed);
    }

    /// Whether it wants to hear of just this.
    pub(super) fn wishes_for(&self, addresses: &BTreeSet<String>, lists: bool, tools: bool) -> bool {
        let wishes = lock(&self.wishes);
        wishes.lists == lists && wishes.tools.is_some() == tools && wishes.notes.keys().eq(addresses)
    }

    /// Subscribes to a note by an address.
    pub(super) fn subscribe(&self, address: String, path: MemoryPath) -> Result<(), TooMany> {
        let mut wishes = lock(&self.wishes);
        if wishes.notes.len() >= MOST_SUBSCRIPTIONS && !wishes.notes.contains_key(&address) {
            return Err(TooMany);
        }
        wishes.notes.insert(address, path);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, address: &str) {
        let mut wishes = lock(&self.wishes);
        wishes.notes.remove(address);
        wishes.due.updated.remove(address);
    }

    /// Subscribes to the list of notes.
    pub(super) fn want_lists(&self) {
        lock(&self.wishes).lists = true;
    }

    /// Subscribes to the list of tools, of which the client knows the one with this digest.
    pub(super) fn want_tools(&self, known: Option<Digest>) {
        lock(&self.wishes).tools = Some(known);
    }

    /// Whether the list of tools with this digest is another one than the client knows, which it is told now.
    pub(super) fn is_news(&self, now: Digest) -> bool {
        let mut wishes = lock(&self.wishes);
        wishes.tools.as_mut().is_some_and(|known| known.replace(now) != Some(now))
    }

    fn tools_changed(&self) {
        let mut wishes = lock(&self.wishes);
        wishes.due.tools |= wishes.tools.is_some();
        drop(wishes);
        self.wake.notify_one();
    }

    /// Tells that there may be other notes than before: for a time nobody looked.
    pub(super) fn tell_lists(&self) {
        lock(&self.wishes).due.listed = true;
        self.wake.notify_one();
    }

    /// Ends the notifications.
    pub(super) fn end(&self) {
        lock(&self.wishes).is_over = true;
        self.wake.notify_one();
    }

    /// Waits until there is something to notify of; `None` once the client is gone or revoked.
    pub(super) async fn due(&self) -> Option<DueNotices> {
        loop {
            self.wake.notified().await;
            let mut wishes = lock(&self.wishes);
            if wishes.is_over {
                return None;
            }
            let due = std::mem::take(&mut wishes.due);
            drop(wishes);
            if due != DueNotices::default() {
                return self.client().map(|_| due);
            }
        }
    }

    fn client(&self) -> Option<Caller> {
        self.client.get().and_then(|client| client())
    }

    fn subscriptions(&self) -> Vec<MemoryPath> {
        lock(&self.wishes).notes.values().cloned().collect()
    }

    /// Notes the changes that it subscribed to and may know of.
    fn hear(&self, engine: &Engine, updated: &BTreeSet<MemoryPath>, listed: &BTreeSet<MemoryPath>) {
        let (wanted, lists) = {
            let mut wishes = lock(&self.wishes);
            if self.client.get().is_none() {
                return wishes.note_early(updated, listed);
            }
            let wanted = wishes.notes.iter().filter(|(_, path)| updated.contains(*path));
            let wanted: Vec<_> = wanted.map(|(address, path)| (address.clone(), path.clone())).collect();
            (wanted, wishes.lists && !listed.is_empty())
        };
        if wanted.is_empty() && !lists {
            return;
        }
        let Some(client) = self.client() else { return self.end() };
        let wanted: Vec<_> = wanted.into_iter().filter(|(_, path)| engine.may_hear_of(&client, path)).collect();
        let listed = lists && listed.iter().any(engine.may_list(&client));
        let mut wishes = lock(&self.wishes);
        wishes.due.updated.extend(wanted.into_iter().map(|(address, _)| address));
        wishes.due.listed |= listed;
        drop(wishes);
        self.wake.notify_one();
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listener").field("wishes", &self.wishes).finish_non_exhaustive()
    }
}

/// Who listens at the other end of a connection, until that ends.
#[derive(Debug, Default)]
pub(super) struct Listening {
    /// The client itself, in the old versions.
    pub(super) client: OnceLock<Arc<Listener>>,
    /// Requests to listen that were granted and have not begun.
    pub(super) granted: Mutex<VecDeque<Arc<Listener>>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(listener) = self.client.get() {
            listener.end();
        }
    }
}

#[cfg(test)]
mod tests;

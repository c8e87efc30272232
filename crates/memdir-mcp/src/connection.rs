//! [`Connection`]: what a server knows of one client program while it talks with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::lock;
use super::notices::Listening;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_plan::Seen;
use memdir_tools::{Kept, Part};
use memdir_vault as vault;

/// How a client came in.
#[derive(Clone, Debug)]
pub(super) enum ConnectionKind {
    /// On the standard streams of this process; under this name, if the person gave one.
    Stdio {
        /// The name of a registered client.
        client: Option<String>,
    },
    /// Over HTTP, with a token in each request.
    Http,
}

/// One client program, and what it has seen so far.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) kind: ConnectionKind,
    /// What the conversation is called in the history.
    pub(super) session: Option<String>,
    /// Cancelled once nothing more comes from the client: nobody is there to be asked.
    pub(super) closing: CancellationToken,
    /// What it is told of changes, in the old versions.
    pub(super) listening: Listening,
    /// Places for calls of other servers' tools, each of which takes a thread until it is answered.
    pub(super) calls: Arc<Semaphore>,
    /// The tools of other servers to which the person has said yes for all of the conversation.
    allowed: Mutex<BTreeSet<String>>,
    /// What they have answered and was too long to be told at once.
    results: Mutex<Kept>,
    seen: Mutex<RecentlySeen>,
}

/// How many calls of other servers' tools a client may have running.
const MOST_CALLS: usize = 16;

/// How many notes a conversation knows at most; a client without sessions has one for as long as the server runs.
const MOST_SEEN: usize = 10_000;

/// What was seen lately: once the newer half is full, the older one is forgotten.
#[derive(Debug, Default)]
struct RecentlySeen {
    older: Arc<BTreeMap<MemoryPath, Digest>>,
    newer: Arc<BTreeMap<MemoryPath, Digest>>,
}

impl RecentlySeen {
    fn all(&self) -> Seen {
        Seen::after([Arc::clone(&self.older), Arc::clone(&self.newer)])
    }

    fn extend(&mut self, later: Seen) {
        Arc::make_mut(&mut self.newer).extend(BTreeMap::from(later));
        if self.newer.len() > MOST_SEEN / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
    }
}

impl Connection {
    pub(super) fn new(kind: ConnectionKind) -> Self {
        // A system without random numbers has conversations without a name.
        let session =
            vault::random().ok().map(|random| random.iter().take(4).map(|byte| format!("{byte:02x}")).collect());
        Self {
            kind,
            session,
            closing: CancellationToken::new(),
            listening: Listening::default(),
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            allowed: Mutex::default(),
            results: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The tools of other servers that need no further question here.
    pub(super) fn allowed(&self) -> BTreeSet<String> {
        lock(&self.allowed).clone()
    }

    /// The beginning of what a tool answered, in at most `most` bytes.
    pub(super) fn begin_result(&self, tool: &str, told: Value, most: usize) -> Part {
        lock(&self.results).begin(tool, told, most)
    }

    /// What comes after a cursor, in at most `most` bytes, and the tool that said it.
    ///
    /// # Errors
    ///
    /// `not_found` where nothing is kept there any more.
    pub(super) fn more(&self, cursor: &str, most: usize) -> Result<(String, Part), Failure> {
        lock(&self.results).more(cursor, most)
    }

    /// Asks no more about these.
    pub(super) fn allow(&self, tools: BTreeSet<String>) {
        lock(&self.allowed).extend(tools);
    }

    /// What it has seen.
    pub(super) fn seen(&self) -> Seen {
        lock(&self.seen).all()
    }

    /// Takes over what one of its calls has seen, while others may have gone on.
    pub(super) fn see(&self, before: Seen, after: Seen) {
        let new = after.since(&before);
        // What nobody else holds is added to without being copied.
        drop(before);
        lock(&self.seen).extend(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_long_ago_is_forgotten() {
        let connection = Connection::new(ConnectionKind::Http);
        let path = |number: usize| MemoryPath::parse(&format!("{number}.md")).unwrap();
        let digest = Digest::of(b"");
        for number in 0..MOST_SEEN * 2 {
            let mut after = Seen::default();
            after.note(path(number), digest);
            connection.see(Seen::default(), after);
        }
        let seen = connection.seen();
        assert!(seen.count() <= MOST_SEEN);
        assert!(!seen.knows(&path(0), &digest));
        assert!((MOST_SEEN * 3 / 2..MOST_SEEN * 2).all(|number| seen.knows(&path(number), &digest)));
    }
}

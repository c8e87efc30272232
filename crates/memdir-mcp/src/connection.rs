//! [`Connection`]: what a server knows of one client program while it talks with it.

use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::lock;
use super::subscriptions::Listening;
use memdir_plan::Seen;
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
    seen: Mutex<RecentlySeen>,
}

/// How many notes a conversation knows at most; a client without sessions has one for as long as the server runs.
const MOST_SEEN: usize = 10_000;

/// What was seen lately: once the newer half is full, the older one is forgotten.
#[derive(Debug, Default)]
struct RecentlySeen {
    older: Seen,
    newer: Seen,
}

impl RecentlySeen {
    fn all(&self) -> Seen {
        let mut all = self.older.clone();
        all.extend(self.newer.clone());
        all
    }

    fn extend(&mut self, later: Seen) {
        self.newer.extend(later);
        if self.newer.count() > MOST_SEEN / 2 {
            self.older = std::mem::take(&mut self.newer);
        }
    }
}

impl Connection {
    pub(super) fn new(kind: ConnectionKind) -> Self {
        // A system without random numbers has conversations without a name.
        let session =
            vault::random().ok().map(|random| random.iter().take(4).map(|byte| format!("{byte:02x}")).collect());
        let (closing, listening) = (CancellationToken::new(), Listening::default());
        Self { kind, session, closing, listening, seen: Mutex::default() }
    }

    /// What it has seen.
    pub(super) fn seen(&self) -> Seen {
        lock(&self.seen).all()
    }

    /// Takes over what one of its calls has seen, while others may have gone on.
    pub(super) fn see(&self, before: &Seen, after: Seen) {
        lock(&self.seen).extend(after.since(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir_core::digest::Digest;
    use memdir_core::path::MemoryPath;

    #[test]
    fn what_was_seen_long_ago_is_forgotten() {
        let connection = Connection::new(ConnectionKind::Http);
        let path = |number: usize| MemoryPath::parse(&format!("{number}.md")).unwrap();
        let digest = Digest::of(b"");
        for number in 0..MOST_SEEN * 2 {
            let mut after = Seen::default();
            after.note(path(number), digest);
            connection.see(&Seen::default(), after);
        }
        let seen = connection.seen();
        assert!(seen.count() <= MOST_SEEN);
        assert!(!seen.knows(&path(0), &digest));
        assert!((MOST_SEEN * 3 / 2..MOST_SEEN * 2).all(|number| seen.knows(&path(number), &digest)));
    }
}

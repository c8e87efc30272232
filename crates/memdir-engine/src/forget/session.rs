//! What kept sessions hold of something that is to be forgotten. Their lines are cut by whoever writes them.

use memchr::memmem;

use super::survey::Survey;
use super::{ForgottenPlace, PlaceKind};

/// Takes something that is to be forgotten out of the lines of a session; `None` where they hold nothing of it.
pub type CutSession = fn(&[u8], &Forgetting<'_>) -> Option<SessionCut>;

/// What is to be forgotten, for those who know what a line of a session means.
#[derive(Clone, Copy, Debug)]
pub struct Forgetting<'s>(&'s Survey);

/// A session without what is to be forgotten.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SessionCut {
    /// Its lines; `None` where the whole session has to go.
    pub lines: Option<Vec<u8>>,
    /// How many messages held it, or gave the digest of a note that held it.
    pub messages: u64,
}

impl Forgetting<'_> {
    /// Whether a JSON value holds it.
    #[must_use]
    pub fn is_in_json(&self, value: &str) -> bool {
        self.0.sought.is_in_payload(value, None)
    }

    /// Whether bytes that nobody can read hold it.
    #[must_use]
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.0.sought.is_in(bytes)
    }

    /// Whether the note at `path` holds it, or a note with this digest did. A digest would prove what the note said.
    #[must_use]
    pub fn is_in_note(&self, path: &str, digest: &str) -> bool {
        self.0.edits.iter().any(|edit| edit == path) || self.digests().any(|known| known == digest)
    }

    fn digests(&self) -> impl Iterator<Item = String> {
        self.0.traces.digests.iter().map(ToString::to_string)
    }
}

/// Cuts a session whose lines nobody has explained: it goes as a whole.
pub(crate) fn cut_whole(lines: &[u8], forgetting: &Forgetting<'_>) -> Option<SessionCut> {
    let is_digest_in = |digest: String| memmem::find(lines, digest.as_bytes()).is_some();
    let is_held = forgetting.is_in_bytes(lines)
        || forgetting.is_in_json(&String::from_utf8_lossy(lines))
        || forgetting.digests().any(is_digest_in);
    is_held.then_some(SessionCut { lines: None, messages: 1 })
}

impl Survey {
    /// Notes a session that holds it. Asked after the notes.
    pub(super) fn note_session(&mut self, id: &str, cut: &SessionCut) {
        self.places.push(ForgottenPlace {
            place: PlaceKind::Session,
            path: Some(format!("session {id}")),
            count: cut.messages,
        });
        self.sessions.push(id.to_owned());
    }

    /// What is to be forgotten, for those who cut sessions.
    pub(super) fn forgetting(&self) -> Forgetting<'_> {
        Forgetting(self)
    }
}

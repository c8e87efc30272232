//! What goes of a session when something is forgotten: of a message that names it or holds it, nothing stays but its number.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::line::Line;
use memdir_engine::{Forgetting, SEAL, SessionCut};

/// Members of a line that are nobody's text.
const FRAME: [&str; 8] = ["version", "kind", "time", "session", "model", "door", "permission", SEAL];

/// One line, and its members where it can be read.
struct ReadLine<'l> {
    bytes: &'l [u8],
    members: Option<Map<String, Json>>,
}

impl<'l> ReadLine<'l> {
    fn new(bytes: &'l [u8]) -> Self {
        Self { bytes, members: serde_json::from_slice(bytes).ok() }
    }

    fn message(&self) -> Option<u64> {
        self.members.as_ref()?.get("message")?.as_u64()
    }

    fn holds(&self, forgetting: &Forgetting<'_>) -> bool {
        match &self.members {
            Some(members) => {
                let mut texts = members.iter().filter(|(name, _)| !FRAME.contains(&name.as_str()));
                texts.any(|(_, value)| forgetting.is_in_json(&value.to_string()))
            }
            // Nobody can read it, and so nobody loses anything with it.
            None => forgetting.is_in_bytes(self.bytes),
        }
    }

    /// The line without the digests of notes that held it; `None` where it has none.
    fn without_digests(&self, forgetting: &Forgetting<'_>) -> Option<String> {
        let mut members = self.members.clone()?;
        let seen = members.get_mut("seen")?.as_object_mut()?;
        let before = seen.len();
        seen.retain(|path, digest| !digest.as_str().is_some_and(|digest| forgetting.is_in_note(path, digest)));
        let is_changed = seen.len() < before;
        is_changed.then(|| format!("{}\n", Json::Object(members)))
    }
}

/// Takes out of the lines of a session every message that holds something, with all that was said and done for it, and the digests
/// of notes that held it; `None` where there is nothing of that.
#[must_use]
pub fn cut_session(lines: &[u8], forgetting: &Forgetting<'_>) -> Option<SessionCut> {
    let lines: Vec<ReadLine<'_>> = lines.split_inclusive(|byte| *byte == b'\n').map(ReadLine::new).collect();
    let held: Vec<Option<u64>> = lines.iter().filter(|line| line.holds(forgetting)).map(ReadLine::message).collect();
    if held.contains(&None) {
        // With other switches than its own, nobody may continue it.
        return Some(SessionCut { lines: None, messages: held.len() as u64 });
    }
    let gone: BTreeSet<u64> = held.into_iter().flatten().collect();
    let (mut kept, mut replaced, mut changed) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for line in &lines {
        match (line.message(), line.without_digests(forgetting)) {
            (Some(message), _) if gone.contains(&message) => {
                if replaced.insert(message) {
                    kept.extend(forgotten(message));
                }
            }
            (message, Some(text)) => {
                changed.extend(message);
                kept.extend_from_slice(text.as_bytes());
            }
            (_, None) => kept.extend_from_slice(line.bytes),
        }
    }
    let messages = (gone.len() + changed.len()) as u64;
    (messages > 0).then_some(SessionCut { lines: Some(kept), messages })
}

/// The line that stands for a message of which all was forgotten.
#[expect(clippy::expect_used, reason = "a number is always JSON")]
fn forgotten(message: u64) -> Vec<u8> {
    let mut line = Line::Forgotten { message }.encode().expect("a number is always JSON");
    line.push(b'\n');
    line
}

//! What kept sessions hold of something: of a message that names it, or holds it, nothing stays but its number.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::survey::Survey;
use super::{Place, Where};
use crate::plan::Sought;

/// What every line says that is no text of anybody's.
const FRAME: [&str; 8] = ["version", "kind", "time", "session", "model", "door", "permission", "seal"];

/// A session without what is to be forgotten.
#[derive(Debug)]
pub(super) struct Cut {
    /// Its lines; `None` where all of it has to go.
    pub(super) lines: Option<Vec<u8>>,
    /// How many messages hold it, or know by a digest what a note was that held it.
    pub(super) messages: u64,
}

/// One line, and what it says.
struct Line<'l> {
    text: &'l [u8],
    said: Option<Map<String, Json>>,
}

impl Line<'_> {
    fn message(&self) -> Option<u64> {
        self.said.as_ref()?.get("message")?.as_u64()
    }

    fn holds(&self, sought: &Sought) -> bool {
        match &self.said {
            Some(said) => {
                let said = said.iter().filter(|(key, _)| !FRAME.contains(&key.as_str()));
                said.into_iter().any(|(_, said)| sought.is_in_payload(&said.to_string(), None))
            }
            // Nobody can read it, and so nobody loses anything with it.
            None => sought.is_in(self.text),
        }
    }
}

impl Survey {
    /// Notes a session that holds it. Asked after the notes.
    pub(super) fn note_session(&mut self, id: &str, lines: &[u8]) {
        let Some(cut) = self.cut_session(lines) else { return };
        self.places.push(Place { place: Where::Session, path: Some(format!("session {id}")), count: cut.messages });
        self.sessions.push(id.to_owned());
    }

    /// Takes out of the lines of a session every message that holds it, with all that was said and done for it, and digests of
    /// notes that held it; `None` where there is nothing of that.
    pub(super) fn cut_session(&self, lines: &[u8]) -> Option<Cut> {
        let lines = lines.split_inclusive(|byte| *byte == b'\n');
        let lines: Vec<Line<'_>> = lines.map(|text| Line { text, said: serde_json::from_slice(text).ok() }).collect();
        let held: Vec<Option<u64>> = lines.iter().filter(|line| line.holds(&self.sought)).map(Line::message).collect();
        if held.contains(&None) {
            // Under other switches nobody may go on with it.
            return Some(Cut { lines: None, messages: held.len() as u64 });
        }
        let gone: BTreeSet<u64> = held.into_iter().flatten().collect();
        let (mut kept, mut told, mut blurred) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for line in &lines {
            match (line.message(), self.without_digests(line)) {
                (Some(message), _) if gone.contains(&message) => {
                    if told.insert(message) {
                        kept.extend_from_slice(forgotten(message).as_bytes());
                    }
                }
                (message, Some(text)) => {
                    blurred.extend(message);
                    kept.extend_from_slice(text.as_bytes());
                }
                (_, None) => kept.extend_from_slice(line.text),
            }
        }
        let messages = (gone.len() + blurred.len()) as u64;
        (messages > 0).then_some(Cut { lines: Some(kept), messages })
    }

    /// A line that says no more what a note was that held the text; `None` where it does not say it.
    fn without_digests(&self, line: &Line<'_>) -> Option<String> {
        let mut said = line.said.clone()?;
        let seen = said.get_mut("seen")?.as_object_mut()?;
        let before = seen.len();
        seen.retain(|path, digest| {
            let digest = digest.as_str().unwrap_or_default();
            !self.edits.contains(path) && !self.traces.digests.iter().any(|known| known.to_string() == digest)
        });
        let is_changed = seen.len() < before;
        is_changed.then(|| format!("{}\n", Json::Object(said)))
    }
}

/// The line that stands for a message of which all was forgotten.
fn forgotten(message: u64) -> String {
    let mut line = json!({"version": 1, "kind": "forgotten", "message": message}).to_string();
    line.push('\n');
    line
}

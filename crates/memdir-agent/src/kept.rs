//! [`KeptMessage`]: a kept conversation as a person reads it again, message by message, with the notes that each answer rests on.

use std::collections::BTreeSet;

use super::line::{Line, lines};
use super::run::Notice;
use serde::Serialize;

use memdir_core::action::Access;
use memdir_core::catalog;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::Code;
use memdir_core::time::Timestamp;

/// So many lines of a note may be named as what a reply rests on.
const MOST_LINES: usize = 3;
/// A shorter word says nothing of where a reply comes from.
const LEAST_LETTERS: usize = 3;

/// A message, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct KeptMessage {
    /// Its number in the session, from 1.
    pub number: u64,
    /// When it was said; `None` for one that was forgotten.
    pub time: Option<Timestamp>,
    /// The model that was asked.
    pub model: Option<String>,
    /// What the person said.
    pub text: String,
    /// What was replied.
    pub reply: Option<String>,
    /// What the program said beside it.
    pub notice: Option<Notice>,
    /// Whether it was not answered to its end.
    pub is_failed: bool,
    /// Whether all that was said and done for it was forgotten.
    pub is_forgotten: bool,
    /// The notes that the model was shown or has read for it, each once, in their order.
    pub rests_on: Vec<MemoryPath>,
    /// What was changed: a line for each change, and its batch where one is known.
    pub changes: Vec<(String, Option<u64>)>,
    /// Whether a change was proposed, which waits for the person or waited.
    pub is_proposed: bool,
    /// The proposals about which the person was asked.
    pub asked: Vec<u64>,
    /// The calls of tools of other servers, in their order.
    pub tool_calls: Vec<KeptToolCall>,
}

/// A call of a tool of another server, as a session keeps it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct KeptToolCall {
    /// The tool, by the name under which it was offered.
    pub tool: String,
    /// The digest of what was sent.
    pub arguments: Digest,
    /// The digest of what came; `None` where nothing did.
    pub result: Option<Digest>,
    /// How many bytes that has.
    pub bytes: u64,
    /// How many milliseconds it took.
    pub ms: u64,
    /// Why nothing came of it; `None` where something did.
    pub code: Option<String>,
}

impl KeptMessage {
    /// Reads the messages of a session's lines, the oldest first, as far as these can be read.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Vec<Self> {
        let mut messages: Vec<Self> = Vec::new();
        let mut asked = None;
        for line in lines(bytes).map_while(Result::ok) {
            if let Line::Begin { model, .. } | Line::Model { model } = &line {
                asked = Some(model.name.clone());
            }
            if let Line::Message { message, .. } | Line::Forgotten { message } = line {
                messages.push(Self { number: message, model: asked.clone(), ..Self::default() });
            }
            if let Some(last) = messages.last_mut() {
                last.take(line);
            }
        }
        messages
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Acted { actions, batch, receipt, .. } => {
                let is_read = |name: &str| catalog::row(name).is_some_and(|row| row.access == Access::Read);
                for act in actions.iter().filter(|act| act.code.is_none() && act.action.as_deref().is_some_and(is_read))
                {
                    let path = act.path.as_deref().and_then(|path| MemoryPath::parse(path).ok());
                    self.rests_on.extend(path.filter(|path| path.is_note() && !self.rests_on.contains(path)));
                }
                let waits = |code: &str| code == Code::AwaitingApproval.to_string();
                self.is_proposed |= actions.iter().any(|act| act.code.as_deref().is_some_and(waits));
                self.changes.extend(receipt.map(|receipt| (receipt, batch)));
            }
            Line::Decided { proposal, batch, receipt, .. } => {
                self.asked.push(proposal);
                self.changes.extend(receipt.map(|receipt| (receipt, batch)));
            }
            Line::Called { tool, arguments, result, bytes, ms, code, .. } => {
                self.tool_calls.push(KeptToolCall { tool, arguments, result, bytes, ms, code });
            }
            Line::Reply { reply, notice, failed, .. } => {
                (self.reply, self.notice, self.is_failed) = (reply, notice, failed);
            }
            Line::Message { time, text, shown, .. } => {
                (self.time, self.text, self.rests_on) = (Some(time), text, shown);
            }
            Line::Forgotten { .. } => self.is_forgotten = true,
            Line::Begin { .. }
            | Line::Model { .. }
            | Line::Switches { .. }
            | Line::Turn { .. }
            | Line::Stage { .. }
            | Line::Used { .. } => {}
        }
    }
}

/// The lines of a note that share most words with a reply, by number, in the order of the note: a guess at what it rests on.
#[must_use]
pub fn supporting<'n>(reply: &str, note: &'n str) -> Vec<(usize, &'n str)> {
    let words = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        words.filter(|word| word.chars().count() >= LEAST_LETTERS).map(str::to_lowercase).collect()
    };
    let said = words(reply);
    let mut scored: Vec<(usize, usize, &str)> = (1..)
        .zip(note.lines())
        .filter(|(_, line)| !line.starts_with('#'))
        .map(|(number, line)| (words(line).intersection(&said).count(), number, line))
        .filter(|(shared, ..)| *shared > 0)
        .collect();
    scored.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.truncate(MOST_LINES);
    scored.sort_by_key(|(_, number, _)| *number);
    scored.into_iter().map(|(_, number, line)| (number, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_rests_on_the_lines_that_say_its_words() {
        let note = "# Ada\n\n- city: Porto\n- cat: Figo\n- pet food: dry\n";
        assert_eq!(supporting("Your cat Figo lives in Porto.", note), [(3, "- city: Porto"), (4, "- cat: Figo")]);
        assert_eq!(supporting("I do not know.", note), []);
    }

    #[test]
    fn a_conversation_is_read_with_its_notes_and_changes() {
        let kept = br#"{"version":1,"kind":"begin","session":"5","time":"2026-11-24T09:00:00Z","model":{"name":"tiny","family":"small"}}
{"version":1,"kind":"message","message":1,"time":"2026-11-24T09:00:00Z","door":"chat","permission":"ask","text":"I moved","shown":["user.md"]}
{"version":1,"kind":"acted","message":1,"turn":1,"actions":[{"index":1,"action":"read_file","path":"a.md"},{"index":2,"action":"read_file","path":"b.md","code":"not_found"},{"index":3,"action":"set_fact","path":"c.md"}],"changed":["c.md"],"batch":7,"receipt":"+1 fact"}
{"version":1,"kind":"reply","message":1,"reply":"Noted.","notice":null}
{"version":1,"kind":"forgotten","message":2}
"#;
        let messages = KeptMessage::of(kept);
        let [first, second] = messages.as_slice() else { panic!("{messages:?}") };
        let notes: Vec<&str> = first.rests_on.iter().map(MemoryPath::as_str).collect();
        assert_eq!(notes, ["user.md", "a.md"]);
        assert_eq!(first.changes, [("+1 fact".to_owned(), Some(7))]);
        assert_eq!((first.text.as_str(), first.reply.as_deref()), ("I moved", Some("Noted.")));
        assert_eq!(first.model.as_deref(), Some("tiny"));
        assert!(second.is_forgotten && second.number == 2);
    }
}

//! The lines of a kept session: one JSON object each, with the version of its form and its kind.
//!
//! Owns that form. What a later version has written is refused, never guessed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::prompt::Family;
use super::run::Notice;
use super::stage::Stage;
use super::switches::Switches;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Outcome, Value, Variables};
use memdir_core::time::Timestamp;
use memdir_model::{Answer, End};
use memdir_plan::Seen;
use memdir_policy::{Mode, holds_secret};

/// The form of a line.
const VERSION: u32 = 1;

/// What was said or done.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Line {
    /// The first line.
    Begin { session: String, time: Timestamp, model: Voice },
    /// Another model goes on.
    Model { model: Voice },
    /// The switches are others now.
    Switches { switches: Switches },
    /// The person says something.
    Message {
        message: u64,
        time: Timestamp,
        door: String,
        /// What becomes of calls that somebody should be asked about.
        permission: Mode,
        /// Without the filters.
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        filters: Vec<String>,
        /// The notes that the model is shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        shown: Vec<MemoryPath>,
    },
    /// The model has written a turn. What it thought is left out.
    Turn {
        message: u64,
        turn: u64,
        time: Timestamp,
        text: String,
        is_cut: bool,
        input_tokens: u64,
        output_tokens: u64,
        reused_tokens: u64,
        ms: u64,
    },
    /// A stage of the model is over: what it cost is here, and not in the turn that comes of it.
    Stage {
        message: u64,
        time: Timestamp,
        stage: Stage,
        input_tokens: u64,
        output_tokens: u64,
        reused_tokens: u64,
        ms: u64,
    },
    /// What was used for the message beside what its turns and stages say: answers that broke off or were stopped, estimated.
    Used { message: u64, time: Timestamp, input_tokens: u64, output_tokens: u64, reused_tokens: u64 },
    /// The calls of a turn were concluded. What notes hold is left out.
    Acted {
        message: u64,
        turn: u64,
        actions: Vec<Act>,
        changed: Vec<MemoryPath>,
        batch: Option<u64>,
        receipt: Option<String>,
        #[serde(default, skip_serializing_if = "is_nothing_seen")]
        seen: Seen,
    },
    /// A tool of another server was called, or was not. What was sent, and what it said, is left out.
    Called {
        message: u64,
        turn: u64,
        tool: String,
        /// Of the arguments.
        arguments: Digest,
        /// Of the result; absent where none came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Digest>,
        /// How many bytes the result has.
        bytes: u64,
        ms: u64,
        /// Why nothing came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// The person was asked about a proposal.
    Decided {
        message: u64,
        turn: u64,
        proposal: u64,
        decision: Word,
        /// What they want instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
        batch: Option<u64>,
        receipt: Option<String>,
        #[serde(default, skip_serializing_if = "is_nothing_seen")]
        seen: Seen,
    },
    /// The message is over.
    Reply {
        message: u64,
        reply: Option<String>,
        notice: Option<Notice>,
        /// It was not answered to its end: the model failed, or the person stopped it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
        /// What its turns have set.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        variables: Map<String, Json>,
    },
    /// All that was said and done for a message was forgotten.
    Forgotten { message: u64 },
}

/// A message as the person wrote it.
pub(super) fn with_filters(text: &str, filters: &[String]) -> String {
    filters.iter().fold(text.to_owned(), |text, filter| format!("{text}<filter>{filter}</filter>"))
}

/// Who speaks for the model.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Voice {
    /// The name of the model.
    pub(super) name: String,
    pub(super) family: Family,
}

/// What became of a call.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Act {
    pub(super) index: usize,
    pub(super) action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
}

/// What the person has said to a proposal.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    Yes,
    No,
    Instead,
    Later,
}

/// What stands for a text of the model or of a note that holds a secret: such a text is kept nowhere.
const WITHHELD: &str = "left out: it held a secret";
/// The same for a turn, as a thought: whoever replays it finds neither calls nor a reply.
const WITHHELD_TURN: &str = "<think>left out: it held a secret</think>";
/// The fields of a line that hold what the model wrote, or what came of that.
const WRITTEN: [&str; 4] = ["actions", "notice", "receipt", "reply"];

/// What every line has, whatever its version.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Line {
    /// The line as it is written, without secrets but those that the person wrote.
    pub(super) fn encode(&self) -> Result<Vec<u8>, Failure> {
        let broken = |error: serde_json::Error| Failure::new(Code::Internal, error.to_string());
        let Json::Object(mut rest) = serde_json::to_value(self).map_err(broken)? else { return Ok(Vec::new()) };
        if let (Self::Turn { text, .. }, Some(kept)) = (self, rest.get_mut("text"))
            && holds_secret(text)
        {
            *kept = Json::from(WITHHELD_TURN);
        }
        // A text that stands for another would be taken for the value.
        if let Some(Json::Object(variables)) = rest.get_mut("variables") {
            variables.retain(|name, value| !holds_secret(&format!("{name}: {value}")));
        }
        rest.iter_mut().filter(|(field, _)| WRITTEN.contains(&field.as_str())).for_each(|(_, value)| withhold(value));
        let mut line = Map::from_iter([("version".to_owned(), Json::from(VERSION))]);
        line.extend(rest);
        serde_json::to_vec(&line).map_err(broken)
    }
}

/// Leaves out the texts that hold a secret.
fn withhold(value: &mut Json) {
    match value {
        Json::String(text) if holds_secret(text) => WITHHELD.clone_into(text),
        Json::Array(values) => values.iter_mut().for_each(withhold),
        Json::Object(fields) => fields.values_mut().for_each(withhold),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Reads lines, each alone.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<Line, Failure>> {
    let lines = bytes.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
    lines.map(|(line, number)| decode(line, number))
}

fn decode(line: &[u8], number: usize) -> Result<Line, Failure> {
    let damaged = |what: String| Failure::new(Code::Damaged, format!("the session, line {number}: {what}"));
    match serde_json::from_slice::<Versioned>(line) {
        Ok(Versioned { version: VERSION }) => {}
        Ok(Versioned { version }) => {
            let failure = damaged(format!("its form is {version}, and this program reads {VERSION}"));
            return Err(failure.with_hint("use the newest memdir, or begin another session"));
        }
        Err(_) => return Err(damaged("it is no line of a session".to_owned()).with_hint("begin another session")),
    }
    let unknown = |error: serde_json::Error| damaged(error.to_string()).with_hint("begin another session");
    serde_json::from_slice(line).map_err(unknown)
}

impl Act {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let code = outcome.result.as_ref().err().map(|failure| failure.code.to_string());
        Self { index: outcome.index, action: outcome.action.clone(), path: outcome.path.clone(), code }
    }
}

/// A turn as it was written, told once more.
pub(super) fn answer(text: String, is_cut: bool, [input, output, reused]: [u64; 3]) -> Answer {
    Answer {
        text,
        thought: None,
        end: if is_cut { End::Cut } else { End::Done },
        input_tokens: input,
        output_tokens: output,
        reused_tokens: reused,
        line_chances: Vec::new(),
    }
}

fn is_nothing_seen(seen: &Seen) -> bool {
    seen.count() == 0
}

/// What was set that is not so already, as far as a line can hold it.
pub(super) fn new_values(before: &Variables, now: &Variables) -> Map<String, Json> {
    let is_new = |new: &(&str, &Value)| before.iter().all(|old| old != *new);
    let plain = |(name, value): (&str, &Value)| {
        let json = serde_json::to_value(value).ok().filter(|json| Value::plain(json).is_some())?;
        Some((name.to_owned(), json))
    };
    now.iter().filter(is_new).filter_map(plain).collect()
}

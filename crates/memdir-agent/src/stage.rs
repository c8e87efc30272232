//! [`Stage`]: what a model that works in stages is asked for.

use serde::{Deserialize, Serialize};

/// A stage of an answer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Makes of the question, the notes and the results what matters: `{"summary","entities"}`.
    Perception,
    /// Decides: `{"actions":[…]}`, or `{"action":"final_answer"}`.
    Decision,
    /// Writes the reply: `{"reply"}`.
    Response,
}

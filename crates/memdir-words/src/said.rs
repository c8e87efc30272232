//! What became of a message to a model.

use memdir_agent::{Notice, Said};

/// What a message has stored, as the person is told under each answer, whatever the model says of it.
#[must_use]
pub fn stored(said: &Said) -> String {
    said.receipt().unwrap_or_else(|| "nothing was stored".to_owned())
}

/// The code of an entry of the audit.
#[must_use]
pub fn code(code: &str) -> &str {
    if code == memdir_vault::SENT { "no answer is known" } else { code }
}

/// What the program says beside a reply.
#[must_use]
pub fn notice(notice: &Notice) -> String {
    match notice {
        Notice::Turns(turns) => format!("the model had no turn left after {turns}; what it did is done"),
        Notice::Tokens => "too few tokens are left for today for what the model would have to read: see `tokens_a_day` in the settings".to_owned(),
        Notice::Missed(missed) => format!("not stored: {}", missed.join("; ")),
        Notice::NotInNotes(lines) => format!("no line of your notes answers `{}`", lines.join("`, `")),
        Notice::Stuck => "the model tried the same thing three times, to no end; what it did before is done".to_owned(),
        Notice::Cut => "the model's turn was cut off, and not run".to_owned(),
        Notice::ReplyCut => "the reply was longer than a turn may be, and ends where it was cut off".to_owned(),
        Notice::Nothing => "the model wrote nothing that can be read".to_owned(),
    }
}

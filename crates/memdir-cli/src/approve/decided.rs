//! What follows a decision: the words for it, and the rules that answer the same from then on.

use crate::config::Sources;
use crate::open;
use crate::output::say;
use crate::stop::Stop;
use memdir_core::report::Failure;
use memdir_engine::Done;
use memdir_policy::Rule;

/// Says that a proposal is carried out.
pub(super) fn approved(id: u64, done: &Done) -> String {
    format!("proposal {id} is approved: {}", done.receipt_for_owner())
}

/// Says that a proposal is dropped.
pub(super) fn rejected(id: u64) -> String {
    format!("proposal {id} is rejected and gone from the inbox")
}

/// Writes rules into the settings, and gives their numbers.
pub(super) fn settle(opened: &open::Opened, rules: Option<&[Rule]>) -> Result<Option<Vec<usize>>, Failure> {
    let Some(rules) = rules else { return Ok(None) };
    let sources = Sources::read()?;
    let added = rules.iter().map(|rule| sources.add_rule(&opened.root, rule)).collect::<Result<_, _>>();
    added.map(Some).map_err(|failure: Failure| {
        let message = format!("it is decided, but no rule was written: {}", failure.message);
        Failure { message, ..failure }
    })
}

/// Says which rules were added.
pub(super) fn say_rules(rules: Option<&[usize]>) -> Result<(), Stop> {
    for number in rules.unwrap_or_default() {
        say(format!("rule {number} answers the same from now on; `memdir rules` shows it"))?;
    }
    Ok(())
}

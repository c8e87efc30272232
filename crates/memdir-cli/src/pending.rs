//! `memdir pending`: what waits for the person.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::args::Global;
use super::exit;
use super::output::{Lines, say, say_failure};
use super::question::can_ask;
use super::stop::Stop;
use super::{changes, open, term};
use memdir_engine::{Pending, Reviewed, Unreadable};
use memdir_plan::note_changes;
use memdir_words::{ago, who};

pub(super) fn run(global: &Global) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let pending = opened.engine.pending()?;
    let Pending { proposals, unreadable } = &pending;
    let problems: Vec<Value> = unreadable.iter().map(|found| json!({"id": found.id, "error": found.failure})).collect();
    let shapes: Vec<Value> = proposals.iter().map(shape).collect();
    global.answer(&json!({"pending": shapes, "problems": problems}), |stdout| {
        for reviewed in proposals {
            show(reviewed, stdout)?;
            let (id, code) = (reviewed.waiting.id, reviewed.waiting.code.show());
            match reviewed.trouble {
                None => {
                    writeln!(stdout, "decide: memdir approve {id}, memdir reject {id}; elsewhere with --code {code}\n")?
                }
                // What can still be done of it is decided part by part.
                Some(_) if reviewed.waiting.calls.len() > 1 => writeln!(
                    stdout,
                    "decide: memdir approve {id}, and `part` to choose what can still be done; or memdir reject {id}\n"
                )?,
                Some(_) => writeln!(stdout, "decide: memdir reject {id}\n")?,
            }
        }
        say_unreadable(unreadable)?;
        if proposals.is_empty() && unreadable.is_empty() {
            say("nothing waits")?;
        } else if can_ask() && !proposals.is_empty() {
            say("memdir approve walks through them, one at a time")?;
        }
        Ok(())
    })?;
    Ok(code(unreadable))
}

/// The exit code where some of what waits cannot be read, or none.
pub(super) fn code(unreadable: &[Unreadable]) -> u8 {
    if unreadable.is_empty() { 0 } else { exit::DAMAGED }
}

/// A proposal as `--json` prints it. Never with its code: what reads it may be the model that proposed.
fn shape(reviewed: &Reviewed) -> Value {
    let waiting = &reviewed.waiting;
    let actions: Vec<_> = waiting.calls.iter().map(|held| &held.call.action).collect();
    let mut shape = json!({
        "id": waiting.id,
        "time": waiting.time.to_string(),
        "expires": waiting.expires.to_string(),
        "door": waiting.author.door,
        "client": waiting.author.client,
        // Its number for that client, where that counts its own.
        "own": waiting.own,
        "actions": actions,
        "reason": waiting.reason,
        "changed": waiting.changed,
        "diff": waiting.diff,
        // Whether the diff is another than was shown before.
        "renewed": reviewed.is_renewed,
        "error": reviewed.trouble,
    });
    if let Value::Object(fields) = &mut shape {
        fields.retain(|name, value| !(value.is_null() && matches!(name.as_str(), "own" | "error")));
    }
    shape
}

/// Shows one proposal: who wants what, and why somebody is asked.
pub(super) fn show(reviewed: &Reviewed, output: &mut (impl Write + io::IsTerminal)) -> Result<(), Stop> {
    let waiting = &reviewed.waiting;
    let own = waiting.own.map_or_else(String::new, |own| format!(" (its own number: {own})"));
    let who = who::changed(&waiting.author.door, waiting.author.client.as_deref());
    let (time, expires) = (ago::short(&waiting.time.to_string()), ago::short(&waiting.expires.to_string()));
    let head = format!("proposal {}  {who}{own}  {time}  expires {expires}", waiting.id);
    output.line(head)?;
    output.line(&waiting.reason)?;
    if reviewed.trouble.is_none() && reviewed.plan.is_empty() {
        writeln!(output, "the notes have changed since: it changes nothing now")?;
        return Ok(());
    }
    if reviewed.is_renewed {
        writeln!(output, "the notes have changed since: this is what it would change now")?;
    }
    changes::show(&note_changes(reviewed.plan.steps()), "  ", output)?;
    let diff = term::escaped_diff(&waiting.diff, output);
    writeln!(output, "{diff}")?;
    if let Some(trouble) = &reviewed.trouble {
        output.line(format!("it cannot be done now: {}", trouble.message))?;
    }
    Ok(())
}

/// Tells what cannot be read.
pub(super) fn say_unreadable(unreadable: &[Unreadable]) -> Result<(), Stop> {
    Ok(unreadable.iter().try_for_each(|Unreadable { failure, .. }| say_failure("memdir", failure))?)
}

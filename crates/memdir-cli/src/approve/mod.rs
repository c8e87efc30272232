//! `memdir approve` and `memdir reject`: the person's word.

use serde::Serialize;
use serde_json::json;

use super::args::{Approve, Global, Reject};
use super::open;
use super::output::say;
use super::question::can_ask;
use super::stop::{Stop, usage};
use decided::{approved, rejected, say_rules, settle};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_engine::Consent;
use memdir_policy::Verdict;

mod decided;
mod walk;

#[derive(Default, Serialize)]
struct Decided {
    id: u64,
    approved: bool,
    batch: Option<u64>,
    changed: Vec<MemoryPath>,
    /// The numbers of the rules that answer the same from now on; absent where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<Vec<usize>>,
}

pub(super) fn approve(global: &Global, options: &Approve) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let Some(code) = &options.code else {
        if global.json || !can_ask() {
            let message = "there is no terminal to ask on, so nothing is approved";
            let hint = "on a terminal and without `--json` it shows the change and asks; elsewhere the person gives the \
                        code that `memdir pending` shows: `--code CODE`";
            return Err(usage(message, hint).into());
        }
        return walk::run(&opened, options);
    };
    let [id] = options.ids.as_slice() else {
        return Err(usage("a code approves one proposal", "give its number: `memdir approve 3 --code CODE`").into());
    };
    let standing = if options.always { Some(opened.engine.standing_for(*id, Verdict::Allow)?) } else { None };
    let done = opened.engine.approve(*id, Consent::Code(code), &open::person())?;
    let words = approved(*id, &done);
    let decided = Decided { id: *id, approved: true, batch: done.batch, changed: done.changed, rules: None };
    let decided = say_decided(global, decided, &words, settle(&opened, standing.as_deref()))?;
    global.answer(&decided, |_| Ok(()))
}

pub(super) fn reject(global: &Global, options: &Reject) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let (waiting, unreadable) = opened.engine.waiting()?;
    let mut ids = options.ids.clone();
    if options.all {
        ids = waiting.iter().map(|one| one.id).chain(unreadable.iter().map(|one| one.id)).collect();
    } else if options.client.is_some() {
        ids = waiting.iter().filter(|one| one.author.client == options.client).map(|one| one.id).collect();
    }
    // One that is not there is told of before another one is dropped.
    let is_there = |id: u64| waiting.iter().any(|one| one.id == id) || unreadable.iter().any(|one| one.id == id);
    ids.sort_by_key(|id| (is_there(*id), *id));
    ids.dedup();
    let mut all = Vec::new();
    for id in ids {
        let standing = if options.never { Some(opened.engine.standing_for(id, Verdict::Deny)?) } else { None };
        opened.engine.reject(id, &open::person())?;
        let rules = settle(&opened, standing.as_deref());
        all.push(say_decided(global, Decided { id, ..Decided::default() }, &rejected(id), rules)?);
    }
    match (all.as_slice(), options.ids.len()) {
        ([decided], 1) => global.answer(decided, |_| Ok(())),
        _ => global
            .answer(&json!({ "decided": all }), |_| if all.is_empty() { Ok(say("nothing waits")?) } else { Ok(()) }),
    }
}

/// Says what was decided and which rules were added. The decision holds also where they could not be.
fn say_decided(
    global: &Global,
    decided: Decided,
    words: &str,
    rules: Result<Option<Vec<usize>>, Failure>,
) -> Result<Decided, Stop> {
    if !global.json {
        say(words)?;
    }
    let rules = rules?;
    if !global.json {
        say_rules(rules.as_deref())?;
    }
    Ok(Decided { rules, ..decided })
}

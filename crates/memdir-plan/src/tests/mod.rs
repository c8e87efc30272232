//! What the actions mean, and what holds for every plan.

use serde_json::Value as Json;

use super::*;
use memdir_core::catalog;
use memdir_policy::{Context, Mode, Rules, review};

mod actions;
mod added;
mod batches;
mod broken_edits;
mod canvas;
mod context;
mod current;
mod edits;
mod find;
mod joined;
mod keyed;
mod links;
mod notes;
mod operators;
mod properties;
mod remember;
mod sections;
mod whole_line;

/// Reads a call as a dialect would.
#[track_caller]
fn call(index: usize, json: &Json) -> Call {
    let mut arguments = json.as_object().unwrap().clone();
    let name = arguments.remove("action").unwrap();
    let action = catalog::decode(index, name.as_str().unwrap(), arguments).unwrap();
    Call::plain(index, action)
}

/// Clears a call, as nothing speaks against it.
#[track_caller]
fn cleared(call: Call) -> Cleared {
    let context = Context {
        mode: Mode::Off,
        approved: false,
        read_only: false,
        client: None,
        grant: None,
        rules: &Rules::default(),
    };
    review(call, &context, &mut Vec::new()).unwrap()
}

/// Plans a batch.
#[track_caller]
fn run(tree: &MapTree, calls: &[Json]) -> (Vec<Outcome>, Plan) {
    run_on(Planner::new(tree, &Limits::default()), calls)
}

/// Plans a batch on a planner that is told more.
#[track_caller]
fn run_on(mut planner: Planner<'_, MapTree>, calls: &[Json]) -> (Vec<Outcome>, Plan) {
    let outcomes = calls.iter().enumerate().map(|(at, json)| planner.answer(&cleared(call(at + 1, json)))).collect();
    (outcomes, planner.finish())
}

/// Plans one call, and gives its entry in a report and the memory after it.
#[track_caller]
fn one(tree: &MapTree, json: Json) -> (Json, MapTree) {
    let (outcomes, plan) = run(tree, &[json]);
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(undone(plan.steps(), &after), *tree, "undo gives the memory back");
    (serde_json::to_value(&outcomes[0]).unwrap(), after)
}

/// The memory after undoing `steps` in it.
#[track_caller]
fn undone(steps: &[Step], tree: &MapTree) -> MapTree {
    let plan = undo(steps, tree, &Limits::default()).unwrap();
    let mut before = tree.clone();
    before.apply(plan.steps()).unwrap();
    before
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

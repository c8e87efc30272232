//! Blocks of the tuned mem-agent model: what they do to a memory, what they are told, and what they cannot do.

use memdir_core::report::{Outcome, Report, Variables};
use memdir_dialect::{Dialect, Entry, Parsed, Unread, encode, parse_as};
use memdir_plan::{Limits, MapTree, Planner};
use memdir_policy::{Context, Mode, Rules, review};

mod corpus;
mod exec;
mod hostile;
mod model;

/// The turn of a model with some code.
fn turn(code: &str) -> String {
    format!("<think>I look first.</think>\n\n<python>\n{code}\n</python>\n")
}

/// Goes through a turn on a memory that is a map: what it is afterwards, the answer, and what the block has set.
fn run(tree: &MapTree, code: &str, variables: &Variables) -> (MapTree, String, Variables) {
    let parsed = parse_as(turn(code).as_bytes(), Some(Dialect::Python), variables);
    let mut planner = Planner::new(tree, &Limits::default());
    let rules = Rules::default();
    let (mut walk, mut actions) = (parsed.turn(), Vec::new());
    while let Some(entry) = walk.next_entry() {
        let outcome = match entry.into_owned() {
            Entry::Call(call) => {
                let context = Context {
                    mode: Mode::Off,
                    approved: false,
                    read_only: false,
                    client: None,
                    grant: None,
                    rules: &rules,
                };
                planner.answer(&review(call, &context, &mut Vec::new()).unwrap())
            }
            Entry::Unread(unread) => failed(unread),
        };
        walk.tell(&outcome);
        actions.push(outcome);
    }
    let variables = walk.variables().unwrap_or_default();
    let plan = planner.finish();
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    let answer = answer(&parsed, actions, variables.clone());
    (after, answer, variables)
}

fn failed(unread: Unread) -> Outcome {
    let Unread { index, action, path, label, failure, foreign: _ } = unread;
    Outcome { index, action, path, result: Err(failure), total: None, cursor: None, label, shown: None }
}

fn answer(parsed: &Parsed, actions: Vec<Outcome>, variables: Variables) -> String {
    encode(&parsed.frame, &Report { variables, ..Report::of(actions) })
}

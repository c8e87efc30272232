//! What is hidden from a client makes no difference to it: in memories that differ only there, every answer is the same.

mod approval;
mod hooks;
mod owner;
mod tales;
mod wire;
mod words;
mod world;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use memdir_core::action::NAMES;
use memdir_policy::Mode;
use regex::Regex;
use serde_json::json;

use self::tales::Scene;
use self::words::Dice;
use self::world::{GIVEN, GRANTS, Hidden, World, grant};
use crate::support::{number, said};

/// How many batches are sent to each pair of memories.
const TURNS: usize = 14;

/// How often each action was called, and how often with success.
type Tally = BTreeMap<String, (usize, usize)>;

/// Masks times, and how long things took.
fn masked(text: &str) -> String {
    static TIMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|ms\\?":[0-9.e-]+|"ms": Number\([0-9.e-]+\)"#).unwrap()
    });
    TIMES.replace_all(text, "…").into_owned()
}

#[test]
fn no_answer_differs_by_what_is_hidden() {
    // `HIDDEN_PAIRS=3000` tries for an hour, and `HIDDEN_FROM` begins with another one.
    let from = number("HIDDEN_FROM", 0);
    let (end, next) = (from + number("HIDDEN_PAIRS", 42), AtomicU64::new(from));
    let work = || {
        let mut tally = Tally::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return tally;
            }
            pair(seed, &mut tally);
        }
    };
    let tallies: Vec<Tally> = thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let mut tally = Tally::new();
    for (name, (calls, done)) in tallies.into_iter().flatten() {
        let sum = tally.entry(name).or_default();
        *sum = (sum.0 + calls, sum.1 + done);
    }
    // What fails shows little.
    let (calls, done) = tally.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert!(done * 3 > calls, "{done} of {calls}: {tally:?}");
    // No model changes a setting.
    for name in NAMES.iter().filter(|name| **name != "set_config_value") {
        assert!(tally.get(*name).is_some_and(|(_, done)| *done > 0), "`{name}` has never succeeded: {tally:?}");
    }
}

fn pair(seed: u64, tally: &mut Tally) {
    let mut dice = Dice::new(seed + 1);
    let globs = GRANTS[usize::try_from(seed).unwrap() % GRANTS.len()];
    let grant = grant(globs);
    let (one, other) = if dice.below(2) == 0 {
        (Hidden::Nothing, Hidden::Notes)
    } else {
        (*dice.one(&[Hidden::Nothing, Hidden::Notes]), Hidden::Much)
    };
    let (mut first, mut second) = (World::new(&grant, one), World::new(&grant, other));
    let beyond = [first.beyond(&grant), second.beyond(&grant)];
    let hidden = (first.hidden(&grant), second.hidden(&grant));
    let mode = *dice.one(&Mode::ALL);
    for turn in 0..TURNS {
        let (text, parsed) = if dice.below(4) == 0 {
            words::text(&mut dice)
        } else {
            let scene = Scene { grant: &grant, shown: first.visible(&grant).into_keys().collect() };
            let text = said(&json!(tales::tale(&mut dice, &scene)));
            (text.clone(), memdir_dialect::parse(text.as_bytes()))
        };
        let (is_dry, atomic) = (dice.below(6) == 0, dice.below(6) == 0);
        let (agrees, is_stirred, consent) = (dice.below(3) == 0, dice.below(2) == 0, *dice.one(&GIVEN));
        let mut answer = |world: &mut World| {
            let caller = world.caller(&grant, mode);
            let (text, report) = world.answer(parsed.clone(), memdir_engine::Caller { atomic, ..caller }, is_dry);
            for outcome in &report.actions {
                let Some(name) = &outcome.action else { continue };
                let count = tally.entry(name.clone()).or_default();
                *count = (count.0 + 1, count.1 + usize::from(outcome.result.is_ok()));
            }
            let approved = if agrees { world.approve(&grant, consent, is_stirred) } else { String::new() };
            masked(&format!("{text}\n{approved}"))
        };
        let answers = (answer(&mut first), answer(&mut second));
        let brief = |world: &World| world.engine.brief(&world.caller(&grant, mode), None, 300).to_string();
        let briefs = (brief(&first), brief(&second));
        assert!(briefs.0 == briefs.1, "seed {seed}, turn {turn}, {globs:?}:\n{}", difference(&briefs.0, &briefs.1));
        let what = format!(
            "seed {seed}, turn {turn}, {globs:?}, {one:?} and {other:?}, {mode:?}, dry {is_dry}, atomic {atomic}, {consent:?}, stirred {is_stirred}"
        );
        assert!(answers.0 == answers.1, "{what}:\n{text}\n\n{}", difference(&answers.0, &answers.1));
        assert!(first.visible(&grant) == second.visible(&grant), "{what}:\n{text}");
        assert!([first.beyond(&grant), second.beyond(&grant)] == beyond, "written beyond the grant: {what}:\n{text}");
        assert!((first.hidden(&grant), second.hidden(&grant)) == hidden, "{what}:\n{text}");
    }
}

/// Where two answers part.
fn difference(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(400)).take(800).collect::<String>();
    format!("{}\n\n{}", part(one), part(other))
}

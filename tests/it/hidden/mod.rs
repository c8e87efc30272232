//! What is hidden from a client makes no difference to it: in memories that differ only there, every answer is the same.

mod owner;
mod wire;
mod words;
mod world;

use std::sync::LazyLock;

use memdir::policy::Mode;
use regex::Regex;

use self::words::Dice;
use self::world::{GRANTS, Hidden, World, grant};
use crate::support::number;

/// How many texts are sent to each pair of memories.
const TEXTS: usize = 30;

/// Masks times, and how long things took.
fn masked(text: &str) -> String {
    static TIMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|ms\\?":[0-9.e-]+|"ms": Number\([0-9.e-]+\)"#).unwrap()
    });
    TIMES.replace_all(text, "…").into_owned()
}

#[test]
fn no_answer_differs_by_what_is_hidden() {
    // Each pair takes about a second unoptimized; `HIDDEN_PAIRS=1000` tries for an hour.
    for seed in 0..number("HIDDEN_PAIRS", 36) {
        pair(seed);
    }
}

fn pair(seed: u64) {
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
    let mode = *dice.one(&[Mode::Off, Mode::Flag, Mode::Ask]);
    for turn in 0..TEXTS {
        let (text, parsed) = words::text(&mut dice);
        let (is_dry, atomic) = (dice.below(5) == 0, dice.below(6) == 0);
        let answer = |world: &mut World| {
            let manner = world.manner(&grant, mode);
            masked(&world.answer(parsed.clone(), memdir::engine::Manner { atomic, ..manner }, is_dry))
        };
        let answers = (answer(&mut first), answer(&mut second));
        let what = format!(
            "seed {seed}, turn {turn}, {globs:?}, {one:?} and {other:?}, {mode:?}, dry {is_dry}, atomic {atomic}"
        );
        assert!(answers.0 == answers.1, "{what}:\n{text}\n\n{}", difference(&answers.0, &answers.1));
        assert!(first.visible(&grant) == second.visible(&grant), "{what}:\n{text}");
        assert!([first.beyond(&grant), second.beyond(&grant)] == beyond, "written beyond the grant: {what}:\n{text}");
    }
}

/// Where two answers part.
fn difference(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let part = |text: &str| text.chars().skip(same.saturating_sub(400)).take(800).collect::<String>();
    format!("{}\n\n{}", part(one), part(other))
}

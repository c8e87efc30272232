//! Which questions are asked, by a history whose times are known, and how tidy's steps are parts of a proposal.

use std::cell::Cell;
use std::time::Duration;

use super::{engine, memory};
use crate::{Caller, Engine, QuestionKind};
use memdir_core::action::{Action, Call, SetFact};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_dialect::Parsed;

thread_local! {
    /// The day that it is for the engine of this test.
    static DAY: Cell<u64> = const { Cell::new(0) };
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

fn day(number: u64) -> Timestamp {
    Timestamp::from_micros(1_000_000).plus(Duration::from_secs(number * 24 * 60 * 60))
}

fn set(engine: &Engine, on: u64, note: &str, (key, value): (&str, &str), origin: &str) {
    DAY.set(on);
    let action = Action::SetFact(SetFact { path: path(note), key: key.to_owned(), value: value.to_owned() });
    let mut caller = Caller::model("exec");
    caller.author.origin = origin.to_owned();
    let report = engine.conclude(engine.propose(Parsed::of([Call::plain(1, action)]), caller));
    assert!(report.actions[0].result.is_ok(), "{report:?}");
}

/// Three people of whom each has moved after ten days; only the first one has ever changed a job.
fn moving(folder: &std::path::Path) -> Engine {
    let mut engine = engine(folder);
    engine.settings.clock = || day(DAY.get());
    for (note, start) in [("a.md", 0), ("b.md", 5), ("c.md", 8)] {
        set(&engine, start, note, ("city", "Rome"), "model");
        set(&engine, start, note, ("job", "nurse"), "model");
        set(&engine, start + 10, note, ("city", "Bern"), "model");
    }
    set(&engine, 20, "a.md", ("job", "pilot"), "model");
    engine
}

fn asked(engine: &Engine, on: u64) -> Vec<(QuestionKind, String, String)> {
    let questions = engine.review(day(on), 5).unwrap();
    questions.into_iter().map(|one| (one.kind, one.path.to_string(), one.text)).collect()
}

#[test]
fn a_fact_is_old_by_how_long_its_kind_lasted_here() {
    let folder = memory(&[("a.md", "# A\n"), ("b.md", "# B\n"), ("c.md", "# C\n")]);
    let engine = moving(folder.path());
    let old = |note: &str| (QuestionKind::Old, note.to_owned(), "- city: Bern".to_owned());
    // They moved on the days 10, 15 and 18, and a city lasted ten days: it is old after twenty.
    assert_eq!(asked(&engine, 30), []);
    assert_eq!(asked(&engine, 31), [old("a.md")]);
    assert_eq!(asked(&engine, 37), [old("a.md"), old("b.md")]);
    // One job that was another tells nothing of jobs.
    assert_eq!(asked(&engine, 1_000), [old("a.md"), old("b.md"), old("c.md")]);
    assert_eq!(engine.review(day(1_000), 2).unwrap().len(), 2);
    // What is confirmed is young again.
    DAY.set(40);
    engine.confirm(&path("a.md"), "- city: Bern", &Caller::person("cli")).unwrap();
    assert_eq!(asked(&engine, 41), [old("b.md"), old("c.md")]);
    assert_eq!(asked(&engine, 61), [old("b.md"), old("c.md"), old("a.md")]);
}

#[test]
fn what_a_tool_wrote_is_asked_until_the_person_confirms_it() {
    let folder = memory(&[("a.md", "# A\n"), ("b.md", "# B\n"), ("c.md", "# C\n")]);
    let engine = moving(folder.path());
    set(&engine, 21, "b.md", ("pet", "cat"), "tool:web");
    let pet = || (QuestionKind::Unconfirmed, "b.md".to_owned(), "- pet: cat".to_owned());
    assert_eq!(asked(&engine, 22), [pet()]);
    let before = std::fs::read(folder.path().join("b.md")).unwrap();
    engine.confirm(&path("b.md"), "- pet: cat", &Caller::person("cli")).unwrap();
    assert_eq!(asked(&engine, 22), []);
    assert_eq!(std::fs::read(folder.path().join("b.md")).unwrap(), before);
    // Confirmed as it was, and not as it is.
    set(&engine, 23, "b.md", ("pet", "dog"), "tool:web");
    assert_eq!(asked(&engine, 24), [(QuestionKind::Unconfirmed, "b.md".to_owned(), "- pet: dog".to_owned())]);
}

#[test]
fn a_step_of_several_calls_is_one_part() {
    let part = |number: usize| format!("## Part {number}\n\n{}\n\n", format!("text{number} ").repeat(900));
    let text = format!("# Long\n\n[[user]]\n\n- permit: A (until 1960)\n\n{}{}{}", part(1), part(2), part(3));
    let folder = memory(&[("long.md", &text), ("user.md", "[[long]]\n")]);
    let engine = engine(folder.path());
    let run = engine.tidy(false, &Caller::person("cli"), &|| ()).unwrap();
    let calls: Vec<usize> = run.steps.iter().map(|step| step.actions.len()).collect();
    assert_eq!(calls.iter().filter(|calls| **calls == 2).count(), 1, "{run:?}");
    let parts = engine.parts_of(run.proposal.unwrap()).unwrap();
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), calls);
    // One part is approved: that is the change, and the rest is not made.
    let split = calls.iter().position(|calls| *calls == 2).unwrap();
    let (_, shown) = engine.review_part(1, &parts[split]).unwrap();
    engine.approve_part(1, &parts[split], shown, &Caller::person("cli")).unwrap();
    let now = std::fs::read_to_string(folder.path().join("long.md")).unwrap();
    assert!(now.contains("- permit: A") && now.contains("[[long Part 1]]") && now.len() < 16_000, "{}", now.len());
    assert_eq!(engine.tidy(false, &Caller::person("cli"), &|| ()).unwrap(), crate::TidyRun::default());
}

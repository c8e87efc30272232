//! Which questions are asked, by a history whose times are known, and how tidy's steps are parts of a proposal.

use std::cell::Cell;
use std::time::Duration;

use super::{engine, memory, run};
use crate::{Caller, Engine, FactsQuery, QuestionKind, Reply};
use memdir_core::action::{Action, Call, SetFact};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, FactState};
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

#[test]
fn a_step_that_cannot_be_made_any_more_keeps_no_other_back() {
    let text = "# Me\n\n- permit: A (until 1960)\n- pass: B (until 1961)\n- card: C (until 1962)\n\n[[user]]\n";
    let folder = memory(&[("user.md", text)]);
    let engine = engine(folder.path());
    let person = Caller::person("cli");
    let id = engine.tidy(false, &person, &|| ()).unwrap().proposal.unwrap();
    std::fs::write(folder.path().join("user.md"), text.replace("B (until 1961)", "B, renewed")).unwrap();
    assert!(engine.review_proposal(id).unwrap().trouble.is_some());
    let parts = engine.parts_of(id).unwrap();
    let can: Vec<bool> = parts.iter().map(|part| engine.review_part(id, part).is_ok()).collect();
    assert_eq!(can, [true, false, true], "{parts:?}");
    let wanted = [parts[0].as_slice(), &parts[2]].concat();
    let (_, shown) = engine.review_part(id, &wanted).unwrap();
    engine.approve_part(id, &wanted, shown, &person).unwrap();
    let now = std::fs::read_to_string(folder.path().join("user.md")).unwrap();
    assert_eq!(now, "# Me\n\n- pass: B, renewed\n\n[[user]]\n");
    assert!(engine.waiting().unwrap().0.is_empty());
}

/// The open disputes, as `path:text other-path:text`.
fn disputes(engine: &Engine) -> Vec<String> {
    let found = engine.review(engine.now(), 9).unwrap().into_iter().filter_map(|one| {
        let other = one.other?;
        Some(format!("{}:{} {}:{}", one.path, one.text, other.path, other.text))
    });
    found.collect()
}

/// What `check` and `facts` say of contradictions: whether there is one.
fn are_told(engine: &Engine) -> [bool; 2] {
    let found = engine.check(&|| ()).unwrap().findings;
    let facts = engine.facts(&FactsQuery::current()).unwrap().facts;
    [
        found.iter().any(|finding| finding.kind == memdir_check::Kind::ConflictingFact),
        facts.iter().any(|fact| fact.state == FactState::Disputed),
    ]
}

const OTHERS: [(&str, &str); 4] = [
    ("p1.md", "# Person 1\n\n- birthday: 1981\n- city: Turin\n- shoe size: 41\n"),
    ("p2.md", "# Person 2\n\n- birthday: 1982\n- city: Genoa\n- shoe size: 42\n"),
    ("p3.md", "# Person 3\n\n- birthday: 1983\n- city: Trent\n- shoe size: 43\n"),
    ("p4.md", "# Person 4\n\n- birthday: 1984\n- city: Milan\n- shoe size: 44\n"),
];
const DOUBLE: &str =
    "# Me\n\n- birthday: 12 May\n- birthday: 13 May\n- city: Ghent\n- city: Bruges\n- shoe size: 44\n- shoe size: 45\n";

fn with_others(more: &[(&str, &str)]) -> (tempfile::TempDir, Engine) {
    let folder = memory(&[&OTHERS[..], more].concat());
    let engine = engine(folder.path());
    (folder, engine)
}

fn read(folder: &tempfile::TempDir, note: &str) -> String {
    std::fs::read_to_string(folder.path().join(note)).unwrap()
}

#[test]
fn an_answer_that_moves_lines_leaves_the_others_to_be_answered() {
    let (folder, engine) = with_others(&[("user.md", DOUBLE)]);
    let me = Caller::person("cli");
    for _ in 0..3 {
        let asked = engine.review(engine.now(), 5).unwrap();
        engine.settle(&asked[0], Reply::This, &me).unwrap().unwrap();
    }
    assert_eq!(read(&folder, "user.md"), "# Me\n\n- birthday: 13 May\n- city: Bruges\n- shoe size: 45\n");
    assert_eq!((disputes(&engine), are_told(&engine)), (vec![], [false; 2]));
}

#[test]
fn undoing_an_answer_takes_back_what_it_confirmed() {
    let (folder, engine) = with_others(&[("user.md", "# Me\n\n- city: Ghent\n- city: Bruges\n")]);
    let me = Caller::person("cli");
    let undo = |batch| engine.conclude_change(engine.propose_undo(batch).unwrap(), &me).unwrap().batch.unwrap();
    let (text, open) = (read(&folder, "user.md"), disputes(&engine));
    let mut undone = 0;
    for reply in [Reply::This, Reply::Other] {
        let asked = engine.review(engine.now(), 5).unwrap();
        engine.settle(&asked[0], reply, &me).unwrap().unwrap();
        undone = undo(None);
        assert_eq!((read(&folder, "user.md"), disputes(&engine)), (text.clone(), open.clone()), "{reply:?}");
    }
    assert_eq!(are_told(&engine), [true; 2]);
    // What is undone comes back with what it confirmed.
    undo(Some(undone));
    let path = MemoryPath::parse("user.md").unwrap();
    let confirmed = |(_, lines): (String, Vec<memdir_core::report::Line>)| {
        lines.iter().filter(|line| line.provenance.last_confirmed.is_some()).count()
    };
    assert_eq!(confirmed(engine.lines(&path).unwrap()), 1);
}

#[test]
fn where_an_answer_fails_nothing_is_confirmed() {
    let (folder, engine) = with_others(&[("user.md", DOUBLE)]);
    let (me, asked) = (Caller::person("cli"), engine.review(engine.now(), 5).unwrap());
    // The lines have moved since the second question was found.
    engine.settle(&asked[0], Reply::This, &me).unwrap().unwrap();
    let (before, open) = (read(&folder, "user.md"), disputes(&engine));
    for reply in [Reply::Stands, Reply::This, Reply::Other, Reply::Value("x")] {
        let failure = engine.settle(&asked[1], reply, &me).unwrap_err();
        assert_eq!((failure.code, failure.message.contains("has changed since")), (Code::Conflict, true), "{reply:?}");
    }
    // A line that holds others cannot go by itself.
    std::fs::write(folder.path().join("user.md"), "# Me\n\n- city: Ghent\n  - flat: red\n- pet: cat\n- city: Bruges\n")
        .unwrap();
    let asked = engine.review(engine.now(), 5).unwrap();
    assert_eq!(engine.settle(&asked[0], Reply::This, &me).unwrap_err().code, Code::InvalidAction);
    assert_eq!(engine.settle(&asked[0], Reply::Value("Rome"), &me).unwrap_err().code, Code::InvalidAction);
    // Anybody else changes nothing either.
    let failure = engine.settle(&asked[0], Reply::Other, &Caller::model("exec")).unwrap_err();
    assert_eq!((failure.code, disputes(&engine).len()), (Code::Denied, 1));
    std::fs::write(folder.path().join("user.md"), &before).unwrap();
    assert_eq!(disputes(&engine), open);
    let lines = engine.lines(&path("user.md")).unwrap().1;
    let confirmed = lines.iter().zip(before.lines()).filter(|(line, _)| line.provenance.last_confirmed.is_some());
    assert_eq!(confirmed.map(|(_, text)| text).collect::<Vec<_>>(), ["- birthday: 13 May"]);
}

#[test]
fn what_may_both_stay_is_settled_for_check_and_facts_too() {
    let (folder, engine) = with_others(&[("user.md", "# Me\n\n- city: Ghent\n- pet: cat\n- city: Bruges\n")]);
    let (me, before) = (Caller::person("cli"), read(&folder, "user.md"));
    assert_eq!(are_told(&engine), [true; 2]);
    // One line that is right says nothing of the other one.
    engine.confirm(&path("user.md"), "- city: Ghent", &me).unwrap();
    assert_eq!((disputes(&engine).len(), are_told(&engine)), (1, [true; 2]));
    let asked = engine.review(engine.now(), 5).unwrap();
    assert!(engine.settle(&asked[0], Reply::Stands, &me).unwrap().is_none());
    assert_eq!((disputes(&engine), are_told(&engine), read(&folder, "user.md")), (vec![], [false; 2], before.clone()));
    // Until one of them says something else.
    std::fs::write(folder.path().join("user.md"), before.replace("Bruges", "Antwerp")).unwrap();
    assert_eq!((disputes(&engine).len(), are_told(&engine)), (1, [true; 2]));
}

#[test]
fn a_value_is_written_where_the_fact_belongs() {
    // A section of another note about Person 2, in a note that has a birthday of its own.
    let misc = "# Misc\n\n- birthday: 1 May\n\n## Person 2\n\n- birthday: 1970\n";
    let journal = "# May\n\n- Person 2's birthday: 1970\n";
    for (note, text, left) in
        [("misc.md", misc, "# Misc\n\n- birthday: 1 May\n\n## Person 2\n\n"), ("may.md", journal, "# May\n\n")]
    {
        let (folder, engine) = with_others(&[(note, text)]);
        let asked = engine.review(engine.now(), 5).unwrap();
        let report = engine.settle(&asked[0], Reply::Value("1971-10-10"), &Caller::person("cli")).unwrap().unwrap();
        let own = OTHERS[1].1.replace("1982", "1971-10-10");
        assert_eq!((read(&folder, "p2.md"), read(&folder, note)), (own, left.to_owned()));
        assert_eq!((report.batch.is_some(), disputes(&engine)), (true, vec![]));
    }
    // Of two lines of one note the lower one is kept, whatever others have the key.
    let text = "# Me\n\n- birthday: 12 May\n- birthday: 13 May\n\n## Sister\n\n- birthday: 1 June\n- flat: red\n";
    let (folder, engine) = with_others(&[("user.md", text)]);
    let asked = engine.review(engine.now(), 5).unwrap();
    engine.settle(&asked[0], Reply::Value("14 May"), &Caller::person("cli")).unwrap();
    assert_eq!(read(&folder, "user.md"), text.replace("- birthday: 12 May\n", "").replace("13 May", "14 May"));
    // The other line may be right as well, and a value that stands there already is no other answer.
    for (reply, kept) in [(Reply::Other, "12 May"), (Reply::This, "13 May"), (Reply::Value("13 May"), "13 May")] {
        let (folder, engine) = with_others(&[("user.md", text)]);
        let asked = engine.review(engine.now(), 5).unwrap();
        engine.settle(&asked[0], reply, &Caller::person("cli")).unwrap().unwrap();
        let gone = if kept == "12 May" { "13 May" } else { "12 May" };
        assert_eq!(read(&folder, "user.md"), text.replace(&format!("- birthday: {gone}\n"), ""));
        let lines = engine.lines(&path("user.md")).unwrap().1;
        assert!(lines.iter().any(|line| line.line == 3 && line.provenance.last_confirmed.is_some()), "{reply:?}");
    }
}

/// A row that says something of several notes, or several things of its own, is asked about, and one cell of it changes.
#[test]
fn a_cell_of_a_table_is_asked_about_and_changes_alone() {
    let team = |city: &str| format!("# Team\n\n| | [[p1]] | [[p2]] |\n|---|---|---|\n| city | Turin | {city} |\n");
    let person = |line: &str| OTHERS[1].1.replace("- city: Genoa\n", line);
    let row = |city: &str| format!("| city | birthday |\n|---|---|\n| {city} | 1990 |\n");
    let below = |line: &str, city: &str| format!("# Me\n\n{line}- birthday: 1990\n\n{}", row(city));
    let above = |city: &str, line: &str| format!("# Me\n\n{}\n{line}- birthday: 1990\n", row(city));
    let check = |note: &str, text: &str, reply: Reply<'_>, expected: &[(&str, &str)]| {
        let (folder, engine) = with_others(&[(note, text)]);
        let asked = engine.review(engine.now(), 5).unwrap();
        assert_eq!(asked.len(), 1, "{asked:?}");
        engine.settle(&asked[0], reply, &Caller::person("cli")).unwrap().unwrap();
        for (note, expected) in expected {
            assert_eq!(read(&folder, note), *expected, "{reply:?}");
        }
        assert_eq!(disputes(&engine), [""; 0], "{reply:?}");
    };
    for (reply, cell, line) in [
        (Reply::This, "Rome", ""),
        (Reply::Other, "Genoa", "- city: Genoa\n"),
        (Reply::Value("Nice"), "Nice", "- city: Nice\n"),
    ] {
        check("team.md", &team("Rome"), reply, &[("team.md", &team(cell)), ("p2.md", &person(line))]);
    }
    let line = "- city: Ghent\n";
    for (reply, left) in [
        (Reply::This, below("", "Rome")),
        (Reply::Other, below(line, "Ghent")),
        (Reply::Value("Nice"), below("", "Nice")),
    ] {
        check("me.md", &below(line, "Rome"), reply, &[("me.md", &left)]);
    }
    for (reply, left) in [
        (Reply::This, above("Ghent", line)),
        (Reply::Other, above("Rome", "")),
        (Reply::Value("Nice"), above("Nice", "- city: Nice\n")),
    ] {
        check("me.md", &above("Rome", line), reply, &[("me.md", &left)]);
    }
}

#[test]
fn what_may_be_a_list_is_asked_where_different_changes_wrote_it() {
    let folder = memory(&[("user.md", "# Me\n\n- name: Jo\n- city: Antwerp\n")]);
    let engine = engine(folder.path());
    let open = || (disputes(&engine).len(), are_told(&engine));
    let send = |action: serde_json::Value| {
        let text = format!("<actions>[{action}]</actions>");
        run(&engine, text, Caller::model("exec"))
    };
    let append = |text: &str| send(serde_json::json!({"action": "append_file", "path": "user.md", "content": text}));
    assert_eq!(append("- city: Bruges\n").issues, []);
    assert_eq!(open(), (1, [true; 2]));
    assert!(engine.tidy(true, &Caller::person("cli"), &|| ()).unwrap().steps.is_empty());
    // A third one makes it a list; what one change wrote is one, too.
    append("- city: Ghent\n");
    assert_eq!(open(), (0, [false; 2]));
    send(serde_json::json!({"action": "update_file", "path": "user.md",
        "old_content": "- city: Antwerp\n- city: Bruges\n- city: Ghent\n", "new_content": "- tea: green\n- tea: black\n"}));
    assert_eq!(open(), (0, [false; 2]));
}

//! Where facts come from, and whether they hold: a history in which each line's author is known, told by the engine.

use std::cell::Cell;

use super::*;
use crate::{Consent, FactsQuery, FoundFact};
use memdir_core::report::{FactState, WrittenBy};

thread_local! {
    /// The time, in seconds, of the engines of this thread.
    static NOW: Cell<i64> = const { Cell::new(0) };
}

const START: i64 = 1_790_000_000;

fn timed(root: &Path) -> Engine {
    NOW.set(START);
    let mut engine = engine_with(root, Durability::Atomic);
    engine.settings.clock = || Timestamp::from_seconds(NOW.get());
    engine
}

fn from(origin: &str) -> Caller {
    let mut caller = Caller::model("exec");
    caller.author.origin = origin.to_owned();
    caller
}

/// Sends one action, a minute later.
#[track_caller]
fn send(engine: &Engine, caller: Caller, action: serde_json::Value) -> Option<u64> {
    NOW.set(NOW.get() + 60);
    let text = format!("<actions>[{action}]</actions>");
    let report = run(engine, text, caller);
    assert!(codes(&report).iter().all(|code| matches!(code, None | Some(Code::AwaitingApproval))), "{report:?}");
    report.batch
}

fn set(engine: &Engine, caller: Caller, key: &str, value: &str) -> Option<u64> {
    send(engine, caller, json!({"action": "set_fact", "path": "a.md", "key": key, "value": value}))
}

#[track_caller]
fn fact(engine: &Engine, key: &str) -> FoundFact {
    let path = MemoryPath::parse("a.md").unwrap();
    let query = FactsQuery { note: Some(&path), all: true, why: true, ..FactsQuery::current() };
    let facts = engine.facts(&query).unwrap().facts;
    facts.into_iter().find(|fact| fact.key == key).unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn each_source_is_told_with_its_batch_and_time() {
    let folder = memory(&[("a.md", "# A\n\n- outside: yes\n")]);
    let engine = timed(folder.path());
    let mine = set(&engine, Caller { atomic: false, ..from("person") }, "mine", "1");
    let model = set(&engine, from("model").in_session(Some("s1".into())).with_message(Some("3".into())), "models", "2");
    let import = set(&engine, from("import"), "imported", "3");
    let tool = set(&engine, from("tool:web"), "found", "4");
    set(&engine, Caller { mode: Mode::Ask, ..from("model") }, "email", "ada@example.com");
    let waiting = engine.pending().unwrap().proposals[0].waiting.digest;
    let approved = engine.approve(1, Consent::Shown(waiting), &Caller::person("cli")).unwrap().batch;
    let expected = [
        ("outside", WrittenBy::Outside, None, None, FactState::Current),
        ("mine", WrittenBy::You, mine, Some(START + 60), FactState::Current),
        ("models", WrittenBy::Model, model, Some(START + 120), FactState::Current),
        ("imported", WrittenBy::Import, import, Some(START + 180), FactState::Unconfirmed),
        ("found", WrittenBy::Tool, tool, Some(START + 240), FactState::Unconfirmed),
        ("email", WrittenBy::Approved, approved, Some(START + 300), FactState::Current),
    ];
    for (key, by, batch, time, state) in expected {
        let found = fact(&engine, key);
        let why = found.why.unwrap();
        let last = why.last_written.clone().unwrap();
        let time = time.map(|time| Timestamp::from_seconds(time).to_string());
        assert_eq!((last.by, last.batch, last.time), (by, batch, time), "{key}");
        assert_eq!((why.trust, why.first_written), (Some(by), why.last_written), "{key}");
        assert_eq!(found.state, state, "{key}");
    }
    let model = fact(&engine, "models").why.unwrap().last_written.unwrap();
    assert_eq!((model.session.as_deref(), model.message.as_deref()), (Some("s1"), Some("3")));
    assert_eq!(fact(&engine, "found").why.unwrap().last_written.unwrap().tool.as_deref(), Some("web"));
}

#[test]
fn a_new_value_tells_what_it_replaced_also_after_a_rename() {
    let folder = memory(&[("b.md", "# A\n")]);
    let engine = timed(folder.path());
    send(&engine, from("model"), json!({"action": "set_fact", "path": "b.md", "key": "city", "value": "Oslo"}));
    send(&engine, from("model"), json!({"action": "rename_file", "path": "b.md", "new_path": "a.md"}));
    set(&engine, from("model"), "city", "Bergen");
    std::fs::write(folder.path().join("a.md"), "# A\n\n- city: Bergen\n- pet: cat\n").unwrap();
    set(&engine, from("model"), "city", "Narvik");
    let city = fact(&engine, "city").why.unwrap();
    let replaced: Vec<_> = city.replaced.iter().map(|former| former.value.as_str()).collect();
    assert_eq!(replaced, ["Bergen", "Oslo"]);
    let time = |minutes: i64| Some(Timestamp::from_seconds(START + 60 * minutes).to_string());
    assert_eq!((city.replaced[1].written.clone(), city.replaced[1].replaced.clone()), (time(1), time(3)));
    assert_eq!(city.first_written.unwrap().time, time(1));
    assert_eq!(fact(&engine, "pet").why.unwrap().last_written.unwrap().by, WrittenBy::Outside);
}

#[test]
fn a_person_confirms_a_line_and_no_byte_of_it_changes() {
    let folder = memory(&[("a.md", "# A\n")]);
    let engine = timed(folder.path());
    set(&engine, from("import"), "city", "Oslo");
    let path = MemoryPath::parse("a.md").unwrap();
    let before = std::fs::read(folder.path().join("a.md")).unwrap();
    assert_eq!(fact(&engine, "city").state, FactState::Unconfirmed);
    NOW.set(NOW.get() + 60);
    let person = Caller::person("cli");
    for (caller, line, code) in [
        (from("model"), "- city: Oslo", Code::Denied),
        (Caller { read_only: true, ..person.clone() }, "- city: Oslo", Code::ReadOnly),
        (person.clone(), "- city: Bergen", Code::ContentNotFound),
        (person.clone(), " ", Code::ContentNotFound),
    ] {
        assert_eq!(engine.confirm(&path, line, &caller).unwrap_err().code, code, "{line}");
    }
    assert_eq!(fact(&engine, "city").state, FactState::Unconfirmed, "nobody has confirmed it");
    let confirmed = engine.confirm(&path, "  - city: Oslo\n", &person).unwrap();
    assert_eq!(std::fs::read(folder.path().join("a.md")).unwrap(), before);
    let told = fact(&engine, "city");
    let why = told.why.unwrap();
    assert_eq!(
        (told.state, why.last_confirmed, why.trust),
        (FactState::Current, Some(confirmed), Some(WrittenBy::You))
    );
    assert_eq!(why.last_written.unwrap().by, WrittenBy::Import, "who wrote it has not changed");
    assert!(engine.vault.account(None).unwrap().ok, "the chain holds");
    send(&engine, from("model"), json!({"action": "rename_file", "path": "a.md", "new_path": "c.md"}));
    send(&engine, from("model"), json!({"action": "rename_file", "path": "c.md", "new_path": "a.md"}));
    assert_eq!(fact(&engine, "city").state, FactState::Current, "it was confirmed under another name");
    set(&engine, from("model"), "city", "Oslo, Norway");
    assert_eq!(fact(&engine, "city").state, FactState::Unconfirmed, "nobody has confirmed what it says now");
    // Another note that gets the name was not confirmed.
    send(&engine, from("model"), json!({"action": "delete_file", "path": "a.md"}));
    let text = json!({"action": "create_file", "path": "a.md", "content": "- city: Oslo\n"});
    send(&engine, from("import"), text);
    assert_eq!(fact(&engine, "city").state, FactState::Unconfirmed);
}

#[test]
fn a_context_marks_what_nobody_confirmed_and_nothing_else() {
    let folder = memory(&[("a.md", "# Ada Stone\n\nShe is a friend.\n")]);
    let engine = timed(folder.path());
    set(&engine, from("person"), "city", "Oslo");
    set(&engine, from("tool:web"), "employer", "Initech");
    let context = || {
        let action = br#"<actions>[{"action":"get_context","query":"where does Ada Stone work"}]</actions>"#;
        let report = run(&engine, action, caller());
        let value = serde_json::to_value(&report.actions[0]).unwrap();
        value["value"]["parts"][0]["text"].as_str().unwrap().to_owned()
    };
    let expected = "# Ada Stone\n\n- city: Oslo\n- employer: Initech (tool:web, unconfirmed)\n\nShe is a friend.\n";
    assert_eq!(context(), expected);
    let path = MemoryPath::parse("a.md").unwrap();
    engine.confirm(&path, "- employer: Initech", &Caller::person("cli")).unwrap();
    assert_eq!(context(), expected.replace(" (tool:web, unconfirmed)", ""));
}

#[test]
fn the_facts_that_are_listed_are_those_that_hold() {
    let folder = memory(&[
        ("a.md", "- employer: Initech (2021–2024)\n- employer: Globex (since 2024)\n- visa: valid (until 2099)\n"),
        ("old.md", "---\nsuperseded_by: a.md\n---\n- pet: cat\n"),
        ("b.md", "- city: Oslo\n"),
    ]);
    let engine = timed(folder.path());
    let told = |all: bool| {
        let found = engine.facts(&FactsQuery { all, ..FactsQuery::current() }).unwrap();
        assert_eq!(found.total, found.facts.len());
        let fact = |fact: FoundFact| format!("{}:{} {}", fact.path, fact.line, fact.state);
        found.facts.into_iter().map(fact).collect::<Vec<_>>()
    };
    assert_eq!(told(false), ["a.md:2 current", "a.md:3 current", "b.md:1 current"]);
    assert_eq!(
        told(true),
        [
            "a.md:1 expired",
            "a.md:2 current",
            "a.md:3 current",
            "b.md:1 current",
            "old.md:2 superseded",
            "old.md:4 superseded"
        ]
    );
    let employer = engine.facts(&FactsQuery::current()).unwrap().facts.remove(0);
    assert_eq!((employer.since.as_deref(), employer.until), (Some("2024"), None));
}

/// A note of `origin` with a birth year, to which `later` adds another one.
fn born_twice(folder: &Path, origin: &str, later: &str) -> (Engine, Vec<String>) {
    let engine = timed(folder);
    send(
        &engine,
        from(origin),
        json!({"action": "create_file", "path": "a.md", "content": "- born: 1990\n- pet: cat\n"}),
    );
    NOW.set(NOW.get() + 60);
    let text = json!([{"action": "append_file", "path": "a.md", "content": "- born: 1991\n"}]);
    let report = run(&engine, format!("<actions>{text}</actions>"), from(later));
    let told = report.issues.into_iter().filter(|issue| issue.code == memdir_core::report::CONTRADICTION);
    (engine, told.map(|issue| issue.message).collect())
}

/// The line that an action takes out.
fn taken(action: &impl serde::Serialize) -> String {
    let action = serde_json::to_value(action).unwrap();
    let text = |key: &str| action[key].as_str().unwrap_or_else(|| panic!("{action}")).to_owned();
    let (old, new) = (text("old_content"), text("new_content"));
    old.lines().find(|line| !new.lines().any(|kept| kept == *line)).unwrap().to_owned()
}

#[test]
fn of_two_lines_the_less_trusted_one_goes() {
    // Whose line stands above, whose below; what `check` takes out, what `tidy` does, and what the writer is told to take out.
    let (old, new) = ("- born: 1990", "- born: 1991");
    for (above, below, checked, tidied, told) in [
        ("person", "person", Some(old), Some(old), old),
        ("model", "person", Some(old), Some(old), old),
        ("import", "model", Some(old), Some(old), old),
        ("person", "tool:web", Some(new), Some(new), new),
        ("model", "import", Some(new), Some(new), new),
        ("person", "model", Some(new), Some(new), old),
        ("tool:web", "import", None, None, new),
    ] {
        let folder = memory(&[]);
        let (engine, messages) = born_twice(folder.path(), above, below);
        let findings = engine.check(&|| ()).unwrap().findings;
        let conflict = findings.iter().find(|finding| !finding.sides.is_empty()).unwrap();
        assert_eq!(conflict.action.as_ref().map(taken).as_deref(), checked, "{above}, {below}");
        let steps = engine.tidy(true, &Caller::person("cli"), &|| ()).unwrap().steps;
        assert_eq!(steps.first().map(|step| taken(&step.actions[0])).as_deref(), tidied, "{above}, {below}");
        let [message] = messages.as_slice() else { panic!("{messages:?}") };
        match message.rsplit_once("send ") {
            Some((_, action)) => {
                assert_eq!(taken(&serde_json::from_str::<serde_json::Value>(action).unwrap()), told, "{message}");
            }
            // A person types commands.
            None => assert!(below == "person" && message.contains("`memdir review`"), "{message}"),
        }
    }
}

#[test]
fn what_is_written_after_a_confirmation_is_asked_about() {
    let folder = memory(&[]);
    let (engine, _) = born_twice(folder.path(), "import", "model");
    let path = MemoryPath::parse("a.md").unwrap();
    let confirm = |line: &str| {
        NOW.set(NOW.get() + 60);
        engine.confirm(&path, line, &Caller::person("cli")).unwrap();
    };
    let disputes = || {
        let asked = engine.review(engine.now(), 5).unwrap().into_iter();
        asked.filter(|one| one.kind == crate::QuestionKind::Disputed).map(|one| one.text).collect::<Vec<_>>()
    };
    assert_eq!(disputes(), ["- born: 1991"]);
    // A line that is right says nothing of the other one.
    confirm("- born: 1990");
    assert_eq!(disputes(), ["- born: 1991"]);
    confirm("- born: 1991");
    assert_eq!(disputes(), [""; 0]);
    let edit =
        json!({"action": "update_file", "path": "a.md", "old_content": "born: 1991", "new_content": "born: 1992"});
    send(&engine, from("model"), edit);
    assert_eq!(disputes(), ["- born: 1992"]);
    confirm("- born: 1992");
    assert_eq!(disputes(), [""; 0]);
}

#[test]
fn no_line_of_an_import_moves_to_a_new_note() {
    let part = |number: usize| format!("## Part {number}\n\n{}\n\n", format!("text{number} ").repeat(900));
    let text = format!("# Long\n\n- iban: x\n\n{}{}{}", part(1), part(2), part(3));
    for (origin, expected) in [("model", 1), ("import", 0)] {
        let folder = memory(&[]);
        let engine = timed(folder.path());
        send(&engine, from("model"), json!({"action": "create_file", "path": "long.md", "content": text}));
        send(&engine, from(origin), json!({"action": "set_fact", "path": "long.md", "key": "iban", "value": "y"}));
        for is_dry in [true, false] {
            let steps = engine.tidy(is_dry, &Caller::person("cli"), &|| ()).unwrap().steps;
            assert_eq!(steps.len(), expected, "{origin}: {steps:?}");
        }
    }
}

#[test]
fn steps_that_a_rule_denies_keep_no_other_step_away_and_come_later() {
    let folder = memory(&[]);
    for number in 0..105 {
        let name = folder.path().join(format!("a{number:03}.md"));
        std::fs::write(name, format!("- permit: {number} (until 2020)\n\n[[z]]\n")).unwrap();
    }
    std::fs::write(folder.path().join("z.md"), "- visa: B (until 2020)\n\n[[a000]]\n").unwrap();
    let mut engine = timed(folder.path());
    let rule = serde_json::from_value(json!({"path": "a*.md", "verdict": "deny"})).unwrap();
    engine.set_rules(Rules::new(vec![rule]).unwrap());
    let person = Caller::person("cli");
    let expected = [MemoryPath::parse("z.md").unwrap()];
    for is_dry in [true, false] {
        let run = engine.tidy(is_dry, &person, &|| ()).unwrap();
        assert_eq!(run.steps.into_iter().map(|step| step.path).collect::<Vec<_>>(), expected);
        assert_eq!((run.left, run.proposal), (0, (!is_dry).then_some(1)));
    }
    engine.reject(1, &person).unwrap();
    assert_eq!(engine.tidy(false, &person, &|| ()).unwrap(), crate::TidyRun::default());
    // Without the rule those come that nobody was shown.
    engine.set_rules(Rules::default());
    let run = engine.tidy(false, &person, &|| ()).unwrap();
    assert_eq!((run.steps.len(), run.left), (100, 5));
    engine.reject(run.proposal.unwrap(), &person).unwrap();
    let run = engine.tidy(false, &person, &|| ()).unwrap();
    assert_eq!((run.steps.len(), run.left), (5, 0));
}

#[test]
fn the_history_names_the_tool_whose_words_it_stored() {
    let folder = memory(&[("a.md", "# A\n")]);
    let engine = timed(folder.path());
    let batches = [("tool:web/fetch", Some("web/fetch")), ("model", None), ("person", None), ("import", None)];
    for (origin, tool) in batches {
        let batch = set(&engine, from(origin), "city", origin);
        let page = memdir_vault::LogQuery { limit: 1, ..memdir_vault::LogQuery::default() };
        let [entry] = <[_; 1]>::try_from(engine.log(&page, false).unwrap().entries).unwrap();
        assert_eq!((entry.batch, entry.tool.as_deref()), (batch, tool), "{origin}");
    }
}

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
    let report = engine.conclude(engine.propose(dialect::parse(text.as_bytes()), caller));
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
        let report = engine.conclude(engine.propose(dialect::parse(action), caller()));
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

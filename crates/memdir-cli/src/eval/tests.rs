//! Suites, their checks, and a whole measurement with a model that says what a script says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::checks::{self, Came, Files};
use super::measured::{Done, Measured, OfModel, OfSuite};
use super::pattern::{Levelled, Pattern};
use super::scratch::{self, Scratch};
use super::suite::{self, Checks, Suite};
use super::task::{self, Bench, Subject};
use memdir_agent::{Family, Prompts, Settings};
use memdir_model::script::{Scripted, card, turn};
use memdir_model::{Answer, End, ModelError, Place, Role};
use memdir_policy::Mode;

#[track_caller]
fn matches(pattern: &str, text: &str, expected: bool) {
    let found = Pattern::from(pattern.to_owned()).is_in(&Levelled::of(text));
    assert_eq!(found, expected, "`{pattern}` in `{text}`");
}

#[test]
fn patterns_are_words_and_alternatives() {
    matches("4", "34", false);
    matches("4", "3 4 5", true);
    matches("4", "(4)", true);
    matches("34", "You are 34.", true);
    matches("12 march|march 12", "on March 12th", false);
    matches("12 march|march 12", "on March 12, I think", true);
    matches("note", "notes", false);
    matches("note*", "notes", true);
    matches("no note*|unsure", "I am Unsure", true);
    matches("note*", "keynote", false);
    matches("peanut", "peanuts", false);
    matches("Operates: [[sonar*", "- Operates: [[sonar_suite.md]]", true);
    matches("[[rex]]", "see[[Rex]]now", true);
    matches("- city", "x - city: Rome", true);
    matches("555-0147", "call 555–0147", true);
    matches("555-0147", "call 1555-0147", false);
}

#[test]
fn what_does_not_count_does_not_count() {
    matches("don't know", "I don’t know", true);
    matches("\"yes\"", "she said “yes”", true);
    matches("Age: 29", "- **Age**: 29", true);
    matches("johndoe", "`john*doe`", true);
    matches("peter james", "[[peter_james.md]]", true);
    matches("a_b", "A B", true);
    matches("straße", "STRAßE", true);
    matches("é", "É", true);
}

#[test]
fn boundaries_are_of_letters_and_digits() {
    matches("ana", "banana", false);
    matches("ana", "ana.", true);
    matches("ist", "büroist", false);
    matches("北京", "我去了北京旅行", true);
    matches("ü", "über", false);
    matches("", "anything", false);
    matches("|", "anything", false);
    assert!(Pattern::from("*|`".to_owned()).is_empty());
}

fn checks(json: &str) -> Checks {
    serde_json::from_str(json).unwrap()
}

fn notes(notes: &[(&str, &str)]) -> Files {
    notes.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

const USER: &str = "# Sam\n\n- city: Rome\n- age: 34\n";

/// What fails where the reply is this and `user.md` ends like this.
#[track_caller]
fn judged(json: &str, reply: &str, end: &str, expected: &[&str]) {
    let came = Came {
        replies: vec![reply.to_owned()],
        start: notes(&[("user.md", USER)]),
        end: notes(&[("user.md", end)]),
        has_asked_leave: false,
    };
    assert_eq!(checks::judge(&checks(json), &came).failed, expected, "{json}");
}

#[test]
fn each_check_holds_and_fails() {
    let moved = "# Sam\n\n- city: Oslo\n- age: 34\n";
    judged(r#"{"reply_contains_all": ["rome", "34"]}"#, "Rome, and 34.", USER, &[]);
    judged(r#"{"reply_contains_all": ["rome", "34"]}"#, "Rome.", USER, &["reply_contains_all: 34"]);
    judged(r#"{"reply_contains_any": ["rome", "34"]}"#, "Rome.", USER, &[]);
    judged(r#"{"reply_contains_any": ["rome", "34"]}"#, "Oslo.", USER, &["reply_contains_any"]);
    judged(r#"{"reply_not_contains": ["rome"]}"#, "Oslo.", USER, &[]);
    judged(r#"{"reply_not_contains": ["rome"]}"#, "Rome.", USER, &["reply_not_contains: rome"]);
    judged(r#"{"file_contains": {"user.md": ["oslo"]}}"#, "", moved, &[]);
    judged(r#"{"file_contains": {"user.md": ["oslo"]}}"#, "", USER, &["file_contains user.md: oslo"]);
    judged(r#"{"file_contains": {"*": ["oslo"]}}"#, "", moved, &[]);
    judged(r#"{"file_contains": {"other.md": ["oslo"]}}"#, "", moved, &["file_contains other.md: oslo"]);
    judged(r#"{"file_not_contains": {"*": ["rome"]}}"#, "", moved, &[]);
    judged(r#"{"file_not_contains": {"*": ["rome"]}}"#, "", USER, &["file_not_contains *: rome"]);
    judged(r#"{"file_not_contains": {"other.md": ["rome"]}}"#, "", USER, &[]);
    judged(r##"{"file_equals": {"user.md": "# Sam\n\n- city: Rome\n- age: 34\n"}}"##, "", USER, &[]);
    judged(r##"{"file_equals": {"user.md": "# Sam\n"}}"##, "", USER, &["file_equals user.md"]);
    judged(r#"{"no_change": true}"#, "", USER, &[]);
    judged(r#"{"no_change": true}"#, "", moved, &["no_change"]);
    judged(r#"{"nothing_else_changed": true}"#, "", moved, &["nothing_else_changed: - city: Rome"]);
    judged(r#"{"nothing_else_changed": true, "may_change": ["city: rome"]}"#, "", moved, &[]);
    judged(r#"{"nothing_else_changed": true, "file_not_contains": {"user.md": ["rome"]}}"#, "", moved, &[]);
    judged(r#"{"max_new_lines": 1}"#, "", moved, &[]);
    judged(r#"{"max_new_lines": 0}"#, "", moved, &["max_new_lines: 1 of 0"]);
    judged(r#"{"asks_a_question": true}"#, "Which one?", USER, &[]);
    judged(r#"{"asks_a_question": true}"#, "That one.", USER, &["asks_a_question"]);
    judged(r#"{"permission_required": true}"#, "May I?", USER, &[]);
    judged(r#"{"permission_required": true}"#, "Done.", USER, &["permission_required"]);
    judged(r#"{"permission_required": true}"#, "May I?", moved, &["permission_required"]);
}

#[test]
fn replies_before_the_last_count_only_where_something_may_not_be_said() {
    let came = Came { replies: vec!["Rome".to_owned(), "Oslo".to_owned()], ..Came::default() };
    let checks = checks(r#"{"reply_contains_all": ["oslo"], "reply_not_contains": ["rome"]}"#);
    assert_eq!(checks::judge(&checks, &came).failed, ["reply_not_contains: rome"]);
}

#[test]
fn lines_that_are_lost_and_what_is_written_unasked_are_counted_whatever_is_checked() {
    let came = Came {
        replies: vec!["?".to_owned()],
        start: notes(&[("user.md", "- a: 1\r\n- b: 2\r\n")]),
        end: notes(&[("user.md", "- b: 2\n")]),
        has_asked_leave: false,
    };
    let asks = checks::judge(&checks(r#"{"asks_a_question": true}"#), &came);
    assert_eq!((asks.failed.len(), asks.lost, asks.is_written_unasked), (0, vec!["- a: 1".to_owned()], false));
    assert!(checks::judge(&checks(r#"{"permission_required": true}"#), &came).is_written_unasked);
    assert!(checks::judge(&checks(r#"{"no_change": true}"#), &came).is_written_unasked);
    // A line may go to another note, and a note whose text is said may lose what that text does not have.
    let moved = Came { end: notes(&[("other.md", "- a: 1\n- b: 2")]), ..came.clone() };
    assert!(checks::judge(&checks(r#"{"nothing_else_changed": true}"#), &moved).failed.is_empty());
    let said =
        checks::judge(&checks(r#"{"file_equals": {"user.md": "- b: 2\n"}, "nothing_else_changed": true}"#), &came);
    assert!(said.failed.is_empty(), "{said:?}");
}

#[track_caller]
fn refused(task: &str, expected: &str) {
    let text = format!(r#"{{"memories": {{"m": {{"user.md": "x"}}}}, "tasks": [{task}]}}"#);
    let error = suite::parse(&text).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_suite_is_read_strictly() {
    let good = r#"{"id": "a", "kind": "k", "memory": "m", "message": "hi", "checks": {"no_change": true}}"#;
    suite::parse(&format!(r#"{{"tasks": [{good}]}}"#)).unwrap();
    refused(&format!("{good}, {good}"), "`a` is there twice");
    refused(
        &good.replace("no_change", "no_changes"),
        "unknown field `no_changes`, expected one of `reply_contains_all`, `reply_contains_any`",
    );
    refused(&good.replace(r#""id""#, r#""idd": 1, "id""#), "unknown field `idd`, expected one of `id`, `kind`");
    refused(&good.replace(r#"{"no_change": true}"#, "{}"), "`a` has nothing to check");
    refused(&good.replace(r#"{"no_change": true}"#, r#"{"may_change": ["x"]}"#), "`a` has nothing to check");
    refused(&good.replace(r#"{"no_change": true}"#, r#"{"reply_contains_all": ["*"]}"#), "`a` has an empty pattern");
    refused(&good.replace(r#""hi""#, "[]"), "`a` has no message");
    refused(&good.replace(r#""hi""#, "7"), "a message is a text, or a list of texts");
    refused(&good.replace(r#""m""#, r#"{"../x.md": "y"}"#), "a memory is `{path: text}`");
    refused("", "there are no tasks");
    assert!(suite::parse(r#"{"tasks": [], "more": 1}"#).unwrap_err().contains("expected `memories` or `tasks`"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes folders as a person does")]
fn a_memory_is_found_beside_the_suite_and_above_it_and_links_are_not_followed() {
    let base = tempfile::tempdir().unwrap();
    let at = |path: &str| base.path().join(path);
    std::fs::create_dir_all(at("suites")).unwrap();
    std::fs::create_dir_all(at("memories/m/.obsidian")).unwrap();
    std::fs::write(at("memories/m/user.md"), "x").unwrap();
    std::fs::write(at("memories/m/.obsidian/app.json"), "{}").unwrap();
    std::fs::write(at("secret.md"), "s").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("secret.md"), at("memories/m/link.md")).unwrap();
        std::os::unix::fs::symlink(at("memories/m"), at("memories/linked")).unwrap();
    }
    let suite = suite::parse(r#"{"tasks": [{"id": "a", "kind": "k", "memory": "memories/m", "message": "hi", "checks": {"no_change": true}}]}"#).unwrap();
    let places = suite::places(&at("suites/one.json"), None);
    let start = |memory: &str| scratch::start(&suite, &suite::Memory::Named(memory.to_owned()), &places);
    assert_eq!(start("memories/m").unwrap(), notes(&[("user.md", "x")]));
    for wrong in ["memories/linked", "memories/none", "../memories/m", "/etc", ""] {
        assert!(start(wrong).is_err(), "{wrong}");
    }
    let there = suite::places(&at("suites/one.json"), Some(&at("memories")));
    assert_eq!(scratch::start(&suite, &suite::Memory::Named("m".to_owned()), &there).unwrap().len(), 1);
    assert_eq!(suite::places(Path::new("one.json"), None), [PathBuf::from("."), PathBuf::from("./..")]);
}

/// A model that says by rote what goes with a message, one text a turn, and is gone after so many answers.
fn rote(turns: &[(&str, &[&str])], mut answers: usize) -> Scripted {
    let turns =
        turns.iter().map(|(message, turns)| ((*message).to_owned(), turns.iter().map(|text| turn(text)).collect()));
    let turns: BTreeMap<String, Vec<Answer>> = turns.collect();
    Scripted::by(card("by-rote", Place::Process), move |request, _, _| {
        answers = answers.checked_sub(1).ok_or(ModelError::NoModel)?;
        let is_message = |text: &str| text.rsplit_once("<message>\n").map(|(_, message)| message.to_owned());
        let mut users = request.messages.iter().enumerate().filter(|(_, message)| message.role == Role::User);
        let last = users.by_ref().filter_map(|(at, message)| Some((at, is_message(&message.text)?))).last();
        let (at, message) = last.unwrap();
        let number = request.messages.iter().skip(at).filter(|message| message.role == Role::Assistant).count();
        let message = message.trim_end_matches("\n</message>");
        let answer = turns.get(message).and_then(|turns| turns.get(number)).cloned().unwrap_or_else(|| turn(""));
        if answer.text == "(fails)" {
            return Err(ModelError::TooLong { most: None });
        }
        let end = if answer.text.ends_with('…') { End::Cut } else { End::Done };
        Ok(Answer { end, ..answer })
    })
}

fn subject(model: Scripted) -> Subject {
    let settings = Settings {
        family: Family::Capable,
        door: "ask",
        mode: Mode::Off,
        removals: memdir_agent::Removals::Allow,
        turns: 4,
        tokens: None,
        context: 900,
        max_tokens: 500,
        temperature: 0.0,
        staged: false,
        clock: memdir_host::now,
    };
    Subject::new(Box::new(model), Prompts::default(), settings)
}

/// Runs all tasks of a suite.
fn done(suite: &Suite, places: &[PathBuf], subject: &mut Subject) -> Vec<(Done, String)> {
    let (scratch, stop) = (Scratch::new().unwrap(), CancellationToken::new());
    let bench = Bench { suite, places, scratch: &scratch, stop: &stop };
    let tasks = suite.tasks.iter().enumerate();
    let run = tasks.map(|(at, task)| {
        let done = task::run(&bench, at, task, subject).unwrap();
        let text = subject.log.take(&done);
        (done, text)
    });
    run.collect()
}

const SMALL: &str = r##"{
  "memories": {"sam": {"user.md": "# Sam\n\n- city: Rome\n- age: 34\n"}},
  "tasks": [
    {"id": "age", "kind": "retrieval", "memory": "sam", "message": "How old am I?", "checks": {"reply_contains_all": ["34"], "no_change": true}},
    {"id": "move", "kind": "update", "memory": "sam", "message": "I moved to Oslo.", "checks": {"file_contains": {"user.md": ["oslo"]}, "file_not_contains": {"user.md": ["rome"]}, "nothing_else_changed": true}},
    {"id": "two", "kind": "retrieval", "memory": "sam", "message": ["Hello", "And where?"], "checks": {"reply_contains_all": ["rome"]}},
    {"id": "wipe", "kind": "smalltalk", "memory": "sam", "message": "Nice day", "checks": {"no_change": true}},
    {"id": "cut", "kind": "smalltalk", "memory": "sam", "message": "Tell me more", "checks": {"no_change": true, "reply_contains_all": ["more"]}},
    {"id": "fails", "kind": "smalltalk", "memory": "sam", "message": "Too long", "checks": {"no_change": true}},
    {"id": "leave", "kind": "permission", "memory": "sam", "message": "I have asthma.", "permission": "ask", "checks": {"permission_required": true}}
  ]
}"##;

fn by_rote(answers: usize) -> Scripted {
    let update = r#"<actions>[{"action": "update_file", "path": "user.md", "old_content": "- city: Rome", "new_content": "- city: Oslo"}]</actions>"#;
    let wipe = r#"<actions>[{"action": "write_file", "path": "user.md", "content": "nice day\n"}]</actions>"#;
    let read = r#"<actions>[{"action": "read_file", "path": "user.md"}]</actions>"#;
    let keep =
        r#"<actions>[{"action": "append_file", "path": "user.md", "content": "- health: I have asthma\n"}]</actions>"#;
    let turns: &[(&str, &[&str])] = &[
        ("How old am I?", &[read, "<reply>You are 34.</reply>"]),
        ("I moved to Oslo.", &[update, "<reply>Noted.</reply>"]),
        ("Hello", &["<reply>Hi.</reply>"]),
        ("And where?", &["<reply>In Rome.</reply>"]),
        ("Nice day", &[read, wipe, "<reply>Yes.</reply>"]),
        ("Tell me more", &["<reply>mo…", "<actions>[{\"action\": 7}]</actions>", "<reply>more</reply>"]),
        ("Too long", &["(fails)"]),
        ("I have asthma.", &[keep, "<reply>That waits for you.</reply>"]),
    ];
    rote(turns, answers)
}

#[test]
fn a_suite_is_run_and_counted() {
    let suite = suite::parse(SMALL).unwrap();
    let done = done(&suite, &[], &mut subject(by_rote(usize::MAX)));
    let judged: Vec<_> = done.iter().map(|(done, _)| (done.id.as_str(), done.failed.join("; "))).collect();
    let expected = [
        ("age", ""),
        ("move", ""),
        ("two", ""),
        ("wipe", "no_change"),
        ("cut", ""),
        ("fails", "no answer: the conversation has more tokens than the model takes"),
        ("leave", ""),
    ];
    assert_eq!(judged, expected.map(|(id, failed)| (id, failed.to_owned())));
    let transcript = &done[1].1;
    for part in ["## System", "- city: Rome", "## Turn (10 tokens read", "\"ok\":true", "memdir undo"] {
        assert!(transcript.contains(part), "{part} in {transcript}");
    }
    let tasks: Vec<Done> = done.into_iter().map(|(done, _)| Done { ms: 1500, ..done }).collect();
    assert!(tasks.iter().all(|task| task.id == "wipe" || task.lost.is_empty()));
    let model = OfModel::of("by-rote".to_owned(), tasks);
    assert!((model.share() - 5.0 / 7.0).abs() < 1e-9);
    let measured =
        Measured { suites: vec![OfSuite { suite: "small.json".to_owned(), models: vec![model] }], stopped: None };
    insta::assert_snapshot!("table", super::table::render(&measured));
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&measured).unwrap());
}

#[test]
fn nothing_is_left_of_the_copies() {
    let suite = suite::parse(SMALL).unwrap();
    let scratch = Scratch::new().unwrap();
    let memory = scratch.memory(1, &scratch::start(&suite, &suite.tasks[0].memory, &[]).unwrap()).unwrap();
    assert!(memory.join("user.md").is_file());
    drop(scratch);
    assert!(!memory.exists() && !memory.parent().unwrap().exists());
}

/// A suite of the repository.
fn example(name: &str) -> (Suite, Vec<PathBuf>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agent").join(name);
    (suite::read(&path).unwrap(), suite::places(&path, None))
}

#[test]
fn the_suites_of_the_repository_can_be_read_with_all_their_memories() {
    for (name, least) in [
        ("household.json", 60),
        ("attacks.json", 30),
        ("stranger.json", 60),
        ("stranger-2.json", 60),
        ("stranger-3.json", 60),
        ("stranger-4.json", 60),
        ("stranger-5.json", 60),
        ("stranger-6.json", 60),
        ("stranger-7.json", 60),
    ] {
        let (suite, places) = example(name);
        assert!(suite.tasks.len() >= least, "{name}");
        for task in &suite.tasks {
            let start = scratch::start(&suite, &task.memory, &places).unwrap();
            assert!(start.contains_key("user.md"), "{}", task.id);
            // What a check looks for in the notes must not be settled before anything was said.
            let came = Came { replies: vec![String::new()], start: start.clone(), end: start, has_asked_leave: false };
            let judged = checks::judge(&task.checks, &came);
            let may_pass = ["smalltalk", "adversarial", "chitchat", "chat", "unknown"].contains(&task.kind.as_str());
            assert!(may_pass || !judged.failed.is_empty(), "{} passes with silence", task.id);
        }
    }
}

fn act(call: &str) -> String {
    format!("<actions>[{call}]</actions>")
}

/// Tasks of most kinds, done as they should be.
#[test]
fn tasks_that_are_done_right_pass() {
    let (mut suite, places) = example("household.json");
    let edit = |path: &str, old: &str, new: &str| {
        act(&serde_json::json!({"action": "update_file", "path": path, "old_content": old, "new_content": new})
            .to_string())
    };
    let append = |path: &str, text: &str| {
        act(&serde_json::json!({"action": "append_file", "path": path, "content": text}).to_string())
    };
    let done_reply = "<reply>Done.</reply>".to_owned();
    let says = [
        ("languages", vec!["<reply>Portuguese, German and English.</reply>".to_owned()]),
        ("brothers-wife", vec!["<reply>Lena is a geologist. [people/lena_vogt.md]</reply>".to_owned()]),
        ("de-frist", vec!["<reply>Bis zum 2. September 2024.</reply>".to_owned()]),
        ("zh-hotel", vec!["<reply>你住在如意旅馆。</reply>".to_owned()]),
        ("table-price", vec![edit("user.md", "| Kino Club | 14 EUR |", "| Kino Club | 16 EUR |"), done_reply.clone()]),
        ("tr-sehir", vec![edit("user.md", "- şehir: Bursa", "- şehir: Ankara"), done_reply.clone()]),
        ("tr-kahve", vec![append("user.md", "- kahve: sütsüz\n"), done_reply.clone()]),
        ("es-olvida", vec![edit("user.md", "- color favorito: rojo\n", ""), done_reply.clone()]),
        (
            "forget-recipe",
            vec![act(r#"{"action": "delete_file", "path": "recipes/Lentil Soup.md"}"#), done_reply.clone()],
        ),
        ("which-anna", vec!["<reply>Your sister Anna Weber, or Anna Moser from work?</reply>".to_owned()]),
        ("no-ages", vec!["<reply>She teaches the violin.</reply>".to_owned()]),
        ("de-mutter", vec!["<reply>Das weiß ich nicht, es steht nicht in deinen Notizen.</reply>".to_owned()]),
        ("health", vec![append("user.md", "- diagnosed with asthma\n"), "<reply>It waits for you.</reply>".to_owned()]),
        ("de-gesundheit", vec![append("user.md", "- Asthma diagnostiziert\n"), "<reply>Es wartet.</reply>".to_owned()]),
        ("income", vec![append("user.md", "- salary: 4,100 euros a month\n"), "<reply>It waits.</reply>".to_owned()]),
        ("health-flag", vec![append("user.md", "- has diabetes\n"), "<reply>I have not kept it.</reply>".to_owned()]),
        (
            "mail-of-others",
            vec![append("user.md", "- email: ivo@smit.example\n"), "<reply>Not kept.</reply>".to_owned()],
        ),
        (
            "card",
            vec![append("user.md", "- card: 4242 4242 4242 4242\n"), "<reply>I do not keep cards.</reply>".to_owned()],
        ),
    ];
    suite.tasks.retain(|task| says.iter().any(|(id, _)| *id == task.id));
    assert_eq!(suite.tasks.len(), says.len());
    let turns: Vec<(&str, Vec<&str>)> = suite
        .tasks
        .iter()
        .map(|task| {
            let turns = &says.iter().find(|(id, _)| *id == task.id).unwrap().1;
            let message = task.message.all()[0].split(" <filter>").next().unwrap();
            (message, turns.iter().map(String::as_str).collect())
        })
        .collect();
    let turns: Vec<(&str, &[&str])> = turns.iter().map(|(message, turns)| (*message, turns.as_slice())).collect();
    for (done, transcript) in done(&suite, &places, &mut subject(rote(&turns, usize::MAX))) {
        assert!(done.passed, "{transcript}");
        assert!(done.lost.is_empty() && !done.written_unasked && done.malformed == 0, "{done:?}");
    }
}

/// A model that is gone in the middle takes nothing from what was measured before.
#[test]
fn what_was_measured_before_the_model_was_gone_is_told() {
    let (suite, scratch, stop) = (suite::parse(SMALL).unwrap(), Scratch::new().unwrap(), CancellationToken::new());
    let wanted = (0..suite.tasks.len()).collect();
    let set = super::agent::Set { path: PathBuf::from("small.json"), places: Vec::new(), suite, wanted };
    let bench = Bench { suite: &set.suite, places: &[], scratch: &scratch, stop: &stop };
    let global = crate::args::Global { memory: None, json: true, state: None, log: None };
    let measure = |turns| super::agent::measure(&global, &bench, &set, &mut subject(by_rote(turns)), None);
    let (of_model, stopped) = measure(4).unwrap();
    assert_eq!((of_model.tasks.len(), stopped.unwrap().message), (2, ModelError::NoModel.to_string()));
    assert!(measure(0).is_err());
    assert_eq!(measure(99).unwrap().1, None);
}

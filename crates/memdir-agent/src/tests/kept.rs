//! Sessions: what is written when, what comes back, and what happens when it cannot be.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::{Agent, Env, ID, MOVED, Person, Session, agent, notes, say, settings};
use crate::{Actions, AgentError, Decision, Edge, Event, Family, KeptMessage, Prompts, Said, Switches, UNKEPT, replay};
use memdir_core::report::{Code, Value, Variables};
use memdir_engine::Caller;
use memdir_engine::{ForgetTarget, RelatedLines, Reviewed};
use memdir_model::ModelError;
use memdir_model::script::{Scripted, turn};
use memdir_policy::Mode;
use memdir_vault::LogQuery;

/// A health fact, about which the person is asked.
const PERSONAL: &str =
    r#"<actions>[{"action":"append_file","path":"user.md","content":"- blood pressure: high"}]</actions>"#;

fn begun() -> Session {
    Session::new(ID.to_owned())
}

#[test]
fn what_was_said_comes_back() {
    let env = Env::new();
    let read = r#"<actions>[{"action":"read_file","path":"user.md","assign_to":"me"}]</actions>"#;
    let switches = Switches {
        actions: Actions::All,
        filters: vec!["no addresses".to_owned()],
        permission: Some(Mode::Off),
        ..Switches::default()
    };
    let session = Session { switches: switches.clone(), ..begun() };
    let (_, session) = env.say(session, "where?", &[read, "<reply>In London.</reply>"]);
    let (said, session) =
        env.say(session, "I moved to Paris <filter>no emails</filter>", &[MOVED, "<reply>Good.</reply>"]);
    assert_eq!((said.number, said.batches.len()), (2, 1));
    let loaded = Session::load(&env.engine(), ID).unwrap();
    assert_eq!(loaded.exchanges, session.exchanges);
    assert_eq!(loaded.exchanges[1].message, "I moved to Paris");
    assert!(loaded.exchanges[1].receipt.is_some());
    assert_eq!((&loaded.switches, loaded.next_number()), (&switches, 3));
    assert_eq!(loaded.seen, session.seen);
    assert_eq!(loaded.variables, Variables::new([("me".to_owned(), Value::Text("# Ada\n\n- city: London\n".into()))]));
    assert_eq!(Session::newest(&env.engine()).unwrap().id, ID);
}

#[test]
fn each_line_is_there_before_the_next_thing_is_done() {
    /// Looks at the file whenever something happens.
    struct Watching<'e>(&'e Env, Arc<Mutex<Vec<usize>>>);
    impl Watching<'_> {
        fn look(&self) {
            self.1.lock().unwrap().push(self.0.file().lines().count());
        }
    }
    impl Edge for Watching<'_> {
        fn hear(&mut self, event: Event<'_>) {
            if !matches!(event, Event::Noticed(_) | Event::Shown(_)) {
                self.look();
            }
        }
        fn decide(&mut self, _: &Reviewed) -> Decision {
            self.look();
            Decision::Yes
        }
        fn is_attended(&self) -> bool {
            true
        }
    }
    let env = Env::new();
    let engine = env.engine();
    let mut agent = agent(&engine, begun(), &[PERSONAL, "<reply>Good.</reply>"]);
    let seen = Arc::default();
    let mut said = Said::default();
    let mut watching = Watching(&env, Arc::clone(&seen));
    agent.say("my blood pressure is high", &mut watching, &CancellationToken::new(), &mut said).unwrap();
    // begin, message; turn; acted; decided; turn; reply
    assert_eq!(*seen.lock().unwrap(), [2, 3, 4, 4, 5, 6]);
    let kinds: Vec<String> = env.file().lines().map(kind).collect();
    assert_eq!(kinds, ["begin", "message", "turn", "acted", "decided", "turn", "reply"]);
}

fn kind(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["version"], 1);
    line["kind"].as_str().unwrap().to_owned()
}

/// A key as a server of models gives them out.
const KEY: &str = "sk-proj-abcdEFGH1234567890abcdEFGH1234567890abcd";

#[test]
fn a_conversation_keeps_no_secret_that_the_person_has_not_written() {
    let env = Env::new();
    std::fs::write(env.folder.path().join("keys.md"), format!("# Keys\n\n- key: {KEY}\n")).unwrap();
    let read = r#"<actions>[{"action":"read_file","path":"keys.md","assign_to":"it"}]</actions>"#;
    let named = format!(
        r#"<actions>[{{"action":"create_file","path":"{KEY}.md","content":"x"}},{{"action":"list_files"}}]</actions>"#
    );
    let (said, session) =
        env.say(begun(), "my key?", &[read, &named, &format!("<reply>It is {KEY}, I think.</reply>")]);
    assert!(said.reply.unwrap().contains(KEY), "the person is told");
    assert!(!env.file().contains(KEY), "{}", env.file());
    let loaded = Session::load(&env.engine(), ID).unwrap();
    assert_eq!(loaded.exchanges[0].reply.as_deref(), Some("left out: it held a secret"));
    assert_eq!(loaded.variables, Variables::default(), "nothing stands for a value that is not kept");
    let (said, _) = env.say(session, &format!("my key is {KEY}"), &["<reply>Good.</reply>"]);
    assert_eq!(said.reply.as_deref(), Some("Good."));
    assert!(env.file().contains(KEY), "what the person said stays as it was said");
}

#[test]
fn a_session_cut_after_any_byte_can_be_gone_on_with() {
    let env = Env::new();
    let (_, session) = env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    env.say(session, "I moved to Paris", &[MOVED, "<reply>Good.</reply>"]);
    let whole = std::fs::read(env.path()).unwrap();
    for cut in (0..whole.len()).step_by(7) {
        std::fs::write(env.path(), whole.get(..cut).unwrap()).unwrap();
        let session = Session::load(&env.engine(), ID).unwrap();
        let before = session.next_number();
        let (said, _) = env.say(session, "again", &["<reply>Yes.</reply>"]);
        assert_eq!((said.number, said.issues), (before, vec![]), "{cut}");
        let again = Session::load(&env.engine(), ID).unwrap();
        assert_eq!(again.exchanges.last().unwrap().reply.as_deref(), Some("Yes."), "{cut}");
        assert_eq!(again.exchanges.len() as u64, before, "{cut}");
    }
}

#[test]
fn a_message_without_an_end_keeps_its_number() {
    let env = Env::new();
    let engine = env.engine();
    let answers = [Ok(turn(MOVED)), Err(ModelError::NoModel), Ok(turn("<reply>Yes.</reply>"))];
    let model = Box::new(Scripted::answering(answers));
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings(), begun()).kept();
    let mut said = Said::default();
    let ended = agent.say("I moved to Paris", &mut Person::default(), &CancellationToken::new(), &mut said);
    assert!(matches!(ended, Err(AgentError::Model(ModelError::NoModel))));
    assert_eq!((said.number, said.batches.len()), (1, 1), "what was done is done, and said");
    assert_eq!(say(&mut agent, "well?", &mut Person::default()).unwrap().number, 2);
    let loaded = Session::load(&engine, ID).unwrap();
    assert_eq!(loaded.exchanges, agent.session().exchanges);
    assert_eq!((loaded.exchanges[0].reply.as_deref(), loaded.exchanges[0].receipt.is_some()), (None, true));
}

#[test]
fn who_wrote_what_is_in_the_audit() {
    let env = Env::new();
    let (_, session) = env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    env.say(session, "I moved to Paris", &[MOVED, "<reply>Good.</reply>"]);
    let engine = env.engine();
    let log = engine.log(&LogQuery { limit: 9, ..LogQuery::default() }, false).unwrap();
    assert_eq!(log.entries[0].door, "chat");
    let written: Vec<_> = engine.records(0).unwrap().into_iter().filter(|record| record.action == "set_fact").collect();
    assert_eq!((written[0].session.as_deref(), written[0].message.as_deref()), (Some(ID), Some("2")));
}

#[test]
fn two_take_turns_and_never_write_at_once() {
    /// Says something in the same session while it is being answered.
    struct Meanwhile<'e>(&'e Env, Vec<Code>);
    impl Edge for Meanwhile<'_> {
        fn hear(&mut self, event: Event<'_>) {
            if matches!(event, Event::Turned(_)) {
                self.1.push(Session::load(&self.0.engine(), ID).unwrap_err().code);
            }
        }
        fn decide(&mut self, _: &Reviewed) -> Decision {
            Decision::Later
        }
        fn is_attended(&self) -> bool {
            false
        }
    }
    let env = Env::new();
    let engine = env.engine();
    let mut ours = agent(&engine, begun(), &["<reply>One.</reply>", "<reply>Three.</reply>"]);
    let mut edge = Meanwhile(&env, Vec::new());
    ours.say("one", &mut edge, &CancellationToken::new(), &mut Said::default()).unwrap();
    assert_eq!(edge.1, [Code::Busy]);
    env.say(Session::load(&env.engine(), ID).unwrap(), "two", &["<reply>Two.</reply>"]);
    assert_eq!(say(&mut ours, "three", &mut Person::default()).unwrap().number, 3);
    let said: Vec<_> = ours.session().exchanges.iter().map(|exchange| exchange.message.as_str()).collect();
    assert_eq!(said, ["one", "two", "three"]);
}

#[test]
fn switches_and_models_are_written_when_they_change() {
    let env = Env::new();
    let engine = env.engine();
    let replies = ["<reply>1</reply>", "<reply>2</reply>", "<reply>3</reply>", "<reply>4</reply>"];
    let mut agent = agent(&engine, begun(), &replies);
    let said = |agent: &mut Agent<'_>| drop(say(agent, "go on", &mut Person::default()).unwrap());
    said(&mut agent);
    agent.session_mut().switches.actions = Actions::Read;
    said(&mut agent);
    said(&mut agent);
    agent.set_model(Box::new(Scripted::new(["<reply>4</reply>"])), Family::MemAgent, 900);
    agent.session_mut().switches.actions = Actions::Off;
    said(&mut agent);
    let kinds: Vec<String> =
        env.file().lines().map(kind).filter(|kind| !["message", "turn", "reply"].contains(&kind.as_str())).collect();
    assert_eq!(kinds, ["begin", "switches", "model", "switches"]);
    assert_eq!(Session::load(&engine, ID).unwrap().switches.actions, Actions::Off);
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_the_message_is_answered_all_the_same() {
    let env = Env::new();
    let engine = env.engine();
    let mut open = agent(&engine, begun(), &["<reply>One.</reply>", "<reply>Two.</reply>"]);
    say(&mut open, "one", &mut Person::default()).unwrap();
    std::fs::remove_file(env.path()).unwrap();
    std::fs::create_dir(env.path()).unwrap();
    let said = say(&mut open, "two", &mut Person::default()).unwrap();
    assert_eq!((said.reply.as_deref(), said.number), (Some("Two."), 2));
    assert_eq!(said.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(), [UNKEPT]);
    assert_eq!(open.session().exchanges.len(), 2, "in the process it goes on");
}

#[test]
fn switches_that_could_not_be_written_are_written_when_they_can_be() {
    let env = Env::new();
    let engine = env.engine();
    env.say(begun(), "one", &["<reply>One.</reply>"]);
    let whole = env.file();
    // There is no room for another line.
    let [head, tail] = [
        r#"{"version":1,"kind":"begin","session":""#,
        r#"","time":"2027-01-01T12:00:00Z","model":{"name":"a","family":"capable"}}"#,
    ];
    let seal = r#","seal":"""#.len() + 32;
    let room = (16 << 20) - whole.len() - head.len() - tail.len() - seal - 20;
    env.put(&format!("{whole}{head}{}{tail}\n", "x".repeat(room)));
    let mut open =
        agent(&engine, Session::load(&engine, ID).unwrap(), &["<reply>Two.</reply>", "<reply>Three.</reply>"]);
    open.session_mut().switches.actions = Actions::Off;
    let said = say(&mut open, "two", &mut Person::default()).unwrap();
    assert_eq!(said.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(), [UNKEPT]);
    // Then there is, and somebody else has changed the file.
    std::fs::write(env.path(), &whole).unwrap();
    say(&mut open, "three", &mut Person::default()).unwrap();
    assert_eq!(open.session().switches.actions, Actions::Off);
    assert_eq!(Session::load(&engine, ID).unwrap().switches.actions, Actions::Off);
}

#[test]
fn what_a_later_version_wrote_is_refused() {
    let env = Env::new();
    env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    let whole = env.file();
    for line in [
        r#"{"version":2,"kind":"message","message":2}"#,
        r#"{"version":1,"kind":"dream","message":2}"#,
        r#"{"version":1,"kind":"message","message":-1}"#,
        r#"{"kind":"message"}"#,
    ] {
        std::fs::write(env.path(), &whole).unwrap();
        env.put(&format!("{whole}{line}\n"));
        let failure = Session::load(&env.engine(), ID).unwrap_err();
        assert_eq!(failure.code, Code::Damaged, "{line}");
        assert!(failure.message.starts_with("the session, line 5: "), "{}", failure.message);
        assert!(failure.hint.is_some());
    }
}

#[test]
fn the_largest_numbers_in_a_file_are_numbers() {
    let env = Env::new();
    env.say(begun(), "I moved to Paris", &[MOVED, "<reply>Good.</reply>"]);
    let most = u64::MAX;
    let number = |name: &str, is: u64| (format!("\"{name}\":{is},"), format!("\"{name}\":{most},"));
    let numbers = [number("message", 1), number("input_tokens", 10), number("output_tokens", 2)];
    let lines = numbers.iter().fold(env.file(), |lines, (small, large)| lines.replace(small, large));
    assert_eq!(lines.matches(&most.to_string()).count(), 5 + 2 * 2, "{lines}");
    env.put(&lines);
    let engine = env.engine();
    assert_eq!(Session::load(&engine, ID).unwrap().next_number(), most);
    assert_eq!(replay(&Env::new().engine(), lines.as_bytes(), &settings()).unwrap().turns, 2);
}

#[test]
fn who_does_not_keep_a_session_leaves_none() {
    let env = Env::new();
    let engine = env.engine();
    let model = Box::new(Scripted::new(["<reply>Hello.</reply>"]));
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings(), begun());
    say(&mut agent, "hello", &mut Person::default()).unwrap();
    assert_eq!(engine.sessions().unwrap(), []);
    assert!(!env.folder.path().join(".memdir").exists());
}

#[test]
fn a_note_that_is_too_long_is_shown_up_to_the_end_of_a_line() {
    let env = Env::new();
    for (text, end) in [
        (format!("# Ada\n\n{}", "- phone: +49 30 1234567\n".repeat(200)), "- phone: +49 30 1234567\n"),
        ("7".repeat(9_000), "7 …\n"),
    ] {
        std::fs::write(env.folder.path().join("user.md"), text).unwrap();
        let engine = env.engine();
        let model = Scripted::new(["Hello."]);
        let asked = std::sync::Arc::clone(&model.asked);
        let mut agent =
            Agent::new(&engine, Box::new(model), Prompts::default(), settings(), Session::new(ID.to_owned()));
        say(&mut agent, "hello", &mut Person::default()).unwrap();
        let asked = asked.lock().unwrap();
        let shown = asked[0].messages[0].text.split_once("--- user.md\n").unwrap().1;
        let shown = shown.split_once("</memory>").unwrap().0;
        assert!(shown.ends_with(end), "{}", shown.get(shown.len() - 60..).unwrap());
    }
}

#[test]
fn what_the_person_wants_instead_is_their_word() {
    let env = Env::new();
    let engine = env.engine();
    let instead = r#"<actions>[{"action":"append_file","path":"user.md","content":"- diagnosis: moderate hypertension"}]</actions>"#;
    let mut agent = agent(&engine, begun(), &[PERSONAL, instead, "<reply>Good.</reply>"]);
    let words = "no, write the diagnosis: moderate hypertension".to_owned();
    let mut person = Person::saying([Decision::Instead(words), Decision::Yes]);
    let said = say(&mut agent, "my blood pressure is high", &mut person).unwrap();
    assert!(env.user().contains("- diagnosis: moderate hypertension"), "{:?}", said.actions);
    assert!(!env.user().contains("blood"), "{}", env.user());
}

#[test]
fn a_note_of_which_a_filter_has_kept_something_is_not_known() {
    let env = Env::new();
    std::fs::write(env.folder.path().join("user.md"), "# Ada\n\n- city: London\n- phone: +49 30 1234567\n").unwrap();
    let read = r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#;
    let all = r##"<actions>[{"action":"write_file","path":"user.md","content":"# Ada\n\n- city: Paris\n"}]</actions>"##;
    let reply = "<reply>Good.</reply>";
    let message = "where do I live? <filter>Do not reveal phone numbers.</filter>";
    let (_, session) = env.say(begun(), message, &[read, reply]);
    let (said, session) = env.say(session, "write all about me anew: I live in Paris", &[all, reply]);
    assert_eq!(said.actions[0].1.result.as_ref().unwrap_err().code, Code::Conflict);
    assert!(env.user().contains("phone"), "{}", env.user());
    env.say(session, "write all about me anew: I live in Paris", &[read, all, reply]);
    assert_eq!(env.user(), "# Ada\n\n- city: Paris\n", "once all of it was read");
}

#[test]
fn what_the_person_has_let_be_written_is_known() {
    let env = Env::new();
    let engine = env.engine();
    let read = r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#;
    let all = r##"<actions>[{"action":"write_file","path":"user.md","content":"# Ada\n\n- city: Paris\n"}]</actions>"##;
    let mut first = agent(&engine, begun(), &[read, PERSONAL, "<reply>Good.</reply>"]);
    say(&mut first, "my blood pressure is high", &mut Person::saying([Decision::Yes])).unwrap();
    assert!(env.user().contains("high"), "{}", env.user());
    let session = Session::load(&engine, ID).unwrap();
    assert_eq!(session.seen, first.session().seen);
    let (said, _) = env.say(session, "write all about me anew: I live in Paris", &[all, "<reply>Good.</reply>"]);
    assert!(said.actions[0].1.result.is_ok(), "{:?}", said.actions);
}

#[test]
fn a_turn_that_changes_many_notes_is_one_question_where_everything_waits() {
    const TURN: &str = r##"<actions>[
        {"action":"create_file","path":"tea.md","content":"Green, without sugar.\n"},
        {"action":"set_fact","path":"user.md","key":"city","value":"Paris"},
        {"action":"create_file","path":"chess.md","content":"# Chess\n"}
    ]</actions>"##;
    let talked = |decision: Decision| {
        let env = Env::new();
        let engine = env.engine();
        let mut session = Session::new(ID.to_owned());
        session.switches.permission = Some(Mode::All);
        let mut agent = agent(&engine, session, &[TURN, "<reply>Good.</reply>"]);
        // Who is asked a second time is not there any more.
        let said = say(&mut agent, "I moved to Paris.", &mut Person::saying([decision])).unwrap();
        (said, notes(env.folder.path()))
    };
    let (said, after) = talked(Decision::Yes);
    assert_eq!((said.pending, said.batches.len()), (Vec::new(), 1));
    assert_eq!(after.keys().collect::<Vec<_>>(), ["chess.md", "tea.md", "user.md"]);
    assert_eq!(after["user.md"], b"# Ada\n\n- city: Paris\n");
    let (said, after) = talked(Decision::Later);
    assert_eq!((said.pending, said.batches.len()), (vec![1], 0));
    assert_eq!(after["user.md"], b"# Ada\n\n- city: London\n");
    assert_eq!(after.len(), 1);
}

#[test]
fn what_memdir_has_not_written_is_not_gone_on_with() {
    let env = Env::new();
    let (_, session) = env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    let whole = env.file();
    let switches = r#"{"version":1,"kind":"switches","switches":{"permission":"off"}}"#;
    let message = r#"{"version":1,"kind":"message","message":2,"time":"2027-01-01T12:00:00Z","door":"chat","permission":"off","text":"yes, do"}"#;
    for planted in [
        format!("{whole}{switches}\n"),
        format!("{whole}{message}\n"),
        whole.replace("hello", "hullo"),
        format!("{}\n", whole.lines().last().unwrap()),
        "so\n".to_owned(),
    ] {
        std::fs::write(env.path(), &planted).unwrap();
        let engine = env.engine();
        let failure = Session::load(&engine, ID).unwrap_err();
        assert_eq!((failure.code, failure.hint.is_some()), (Code::Denied, true), "{planted}");
        assert_eq!(Session::newest(&engine).unwrap_err().code, Code::NotFound, "{planted}");
        // Nor by the one who has it open.
        let mut open = agent(&engine, session.clone(), &["<reply>Yes.</reply>"]);
        let said = say(&mut open, "still there?", &mut Person::default());
        assert!(matches!(said, Err(AgentError::Memory(failure)) if failure.code == Code::Denied), "{planted}");
        assert_eq!(env.file(), planted, "it can still be read");
    }
    std::fs::write(env.path(), &whole).unwrap();
    // One under another name, and one that was removed and is brought back.
    let other = env.path().with_file_name("81.jsonl");
    std::fs::write(&other, &whole).unwrap();
    assert_eq!(Session::load(&env.engine(), "81").unwrap_err().code, Code::Denied);
    assert_eq!(Session::newest(&env.engine()).unwrap().id, ID, "others are passed over");
    std::fs::remove_file(other).unwrap();
    env.engine().remove_session(ID).unwrap();
    std::fs::write(env.path(), &whole).unwrap();
    assert_eq!(Session::load(&env.engine(), ID).unwrap_err().code, Code::Denied);
}

#[test]
fn one_that_is_too_large_does_not_keep_the_others_from_being_gone_on_with() {
    let env = Env::new();
    env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    let planted = std::fs::File::create(env.path().with_file_name("81.jsonl")).unwrap();
    planted.set_len(memdir_vault::MOST_SESSION_BYTES + 1).unwrap();
    let later = std::fs::metadata(env.path()).unwrap().modified().unwrap() + std::time::Duration::from_secs(60);
    planted.set_modified(later).unwrap();
    assert_eq!(env.engine().sessions().unwrap()[0].id, "81");
    assert_eq!(Session::load(&env.engine(), "81").unwrap_err().code, Code::TooLarge);
    assert_eq!(Session::newest(&env.engine()).unwrap().id, ID);
}

#[test]
fn a_filter_of_which_nothing_can_be_enforced_is_not_kept_and_one_that_is_kept_can_be_left() {
    let env = Env::new();
    let with = |filters: &[&str], session: Session| {
        let filters = filters.iter().map(|filter| (*filter).to_owned()).collect();
        Session { switches: Switches { filters, ..Switches::default() }, ..session }
    };
    let engine = env.engine();
    let mut person = Person::default();
    let refused = |said: Result<Said, AgentError>| match said {
        Err(AgentError::Memory(failure)) if failure.code == Code::Usage => failure.hint.unwrap(),
        said => panic!("{said:?}"),
    };
    let mut typed = agent(&engine, with(&["Be kind"], begun()), &["cannot"]);
    assert!(refused(say(&mut typed, "hello", &mut person)).contains("`fact:phone`"));
    assert!(!env.path().exists(), "nothing of it is kept");
    // As an older memdir could have kept it.
    env.say(begun(), "hello", &["<reply>Hello.</reply>"]);
    env.put(&format!("{}{}\n", env.file(), r#"{"version":1,"kind":"switches","switches":{"filters":["Be kind"]}}"#));
    let session = Session::load(&engine, ID).unwrap();
    let mut kept = agent(&engine, session, &["<reply>Good.</reply>"]);
    let hint = refused(say(&mut kept, "hello", &mut person));
    assert!(hint.contains("`/filter off`") && hint.contains("begin another conversation"), "{hint}");
    kept.session_mut().switches.filters.clear();
    assert_eq!(say(&mut kept, "hello", &mut person).unwrap().reply.as_deref(), Some("Good."));
}

#[test]
fn forgetting_does_not_make_a_planted_line_ours() {
    let env = Env::new();
    env.say(begun(), "my doctor is Dr Quincy", &["<reply>Good to know.</reply>"]);
    let planted = r#"{"version":1,"kind":"switches","switches":{"permission":"off"}}"#;
    std::fs::write(env.path(), format!("{}{planted}\n", env.file())).unwrap();
    env.engine()
        .forget(&ForgetTarget::Text("Quincy".to_owned()), RelatedLines::Keep, None, &Caller::person("cli"))
        .unwrap();
    assert!(!env.file().contains("Quincy"), "{}", env.file());
    assert_eq!(Session::load(&env.engine(), ID).unwrap_err().code, Code::Denied);
}

#[test]
fn what_a_session_has_kept_loosens_nothing_unless_it_is_typed() {
    let strict = |settings: Mode, kept: Option<Mode>| {
        let session = Session { switches: Switches { permission: kept, ..Switches::default() }, ..begun() };
        (session.mode(settings), session.looser(settings))
    };
    for (settings, kept, expected) in [
        (Mode::Ask, None, (Mode::Ask, None)),
        (Mode::Ask, Some(Mode::Off), (Mode::Ask, Some(Mode::Off))),
        (Mode::Flag, Some(Mode::Off), (Mode::Flag, Some(Mode::Off))),
        (Mode::Off, Some(Mode::Ask), (Mode::Ask, None)),
        (Mode::Flag, Some(Mode::Flag), (Mode::Flag, None)),
    ] {
        assert_eq!(strict(settings, kept), expected, "{settings:?} {kept:?}");
    }
    let env = Env::new();
    let mut session = begun();
    session.set_permission(Mode::Off);
    assert_eq!((session.mode(Mode::Ask), session.looser(Mode::Ask)), (Mode::Off, None));
    let (said, session) = env.say(session, "my blood pressure is high", &[PERSONAL, "<reply>Good.</reply>"]);
    assert!(said.batches.len() == 1 && said.pending.is_empty(), "{said:?}");
    assert_eq!(said.noticed().map(|issue| issue.code).collect::<Vec<_>>(), ["personal"]);
    assert_eq!(session.mode(Mode::Ask), Mode::Off, "as long as the program runs");
    let loaded = Session::load(&env.engine(), ID).unwrap();
    assert_eq!(loaded.switches.permission, Some(Mode::Off));
    let again = PERSONAL.replace("high", "higher");
    let (said, _) = env.say(loaded, "my blood pressure is higher", &[&again, "<reply>It waits.</reply>"]);
    assert!(said.batches.is_empty() && said.pending.len() == 1, "{said:?}");
    let proposed: Vec<bool> =
        KeptMessage::of(env.file().as_bytes()).iter().map(|message| message.is_proposed).collect();
    assert_eq!(proposed, [false, true]);
}

#[test]
fn a_conversation_is_kept_as_an_entry() {
    let env = Env::new();
    let (_, session) = env.say(begun(), "I have painted the kitchen green today", &["<reply>Nice.</reply>"]);
    let keep = r#"<actions>[{"action":"memory","operation":"store_conversation","key":"kitchen"}]</actions>"#;
    let (said, _) = env.say(session, "Keep what we talked about", &[keep, "<reply>Done.</reply>"]);
    assert_eq!(said.changed.len(), 1, "{said:?}");
    let note = std::fs::read_to_string(env.folder.path().join("memories/kitchen.md")).unwrap();
    let told = "You: I have painted the kitchen green today\nAssistant: Nice.\nYou: Keep what we talked about\n";
    assert!(note.contains(told), "{note}");
}

/// `recent` tells what the person said in a kept conversation, but nothing that is a secret, and nothing of another's file.
#[test]
fn what_was_talked_about_is_told_by_days() {
    let env = Env::new();
    let (_, session) = env.say(begun(), "where do I live?", &["<reply>In London.</reply>"]);
    let (_, session) = env.say(session, "my key is AKIAIOSFODNN7EXAMPL2", &["<reply>I keep no keys.</reply>"]);
    env.say(session, "I moved to Paris", &[MOVED, "<reply>Good.</reply>"]);
    let recent = |arguments: &str| {
        let engine = env.engine();
        let text = format!("<actions>[{{\"action\":\"recent\"{arguments}}}]</actions>");
        let report = engine.conclude(engine.propose(memdir_dialect::parse(text.as_bytes()), Caller::model("mcp")));
        serde_json::to_value(&report.actions[0]).unwrap()["value"].clone()
    };
    let told = recent(r#","since":"2026-01-01""#);
    assert_eq!(told["days"][0]["date"], "2027-01-01");
    let said = serde_json::json!([{"session": ID, "said": ["where do I live?", "I moved to Paris"]}]);
    assert_eq!(told["days"][0]["conversations"], said, "{told}");
    assert_eq!(told["days"][0]["changes"][0]["path"], "user.md");
    assert_eq!(recent(r#","since":"2026-01-01","until":"2026-12-31""#)["days"], serde_json::json!([]));
}

#[test]
fn what_was_said_in_other_conversations_is_held_back_where_no_text_alone_tells_whether_it_may_be_told() {
    let env = Env::new();
    let message = "My phone is +351 912 345 678 and I see Dr Quux.";
    let _ = env.say(begun(), message, &[MOVED, "<reply>Good.</reply>"]);
    let recent = |filter: &str| {
        let call = r#"<actions>[{"action":"recent","since":"2026-01-01"}]</actions>"#;
        let message = format!("And lately? <filter>{filter}</filter>");
        let (said, _) = env.say(Session::new("11112222".to_owned()), &message, &[call, "<reply>Hi.</reply>"]);
        format!("{:?}", said.actions[0].1.result)
    };
    for filter in ["only fact:city", "#private", "fact:phone", "note:Quux", "health/**"] {
        let told = recent(filter);
        assert!(told.starts_with("Ok(Recent") && !told.contains("Quux"), "{filter}: {told}");
    }
    assert!(recent("email").contains("Quux"));
}

#[test]
fn what_was_replied_before_a_filter_was_on_is_not_sent_again() {
    let env = Env::new();
    std::fs::write(env.folder.path().join("user.md"), "# Ada\n\n## Health #private\n\n- allergy: penicillin\n")
        .unwrap();
    let read = r#"<actions>[{"action":"read_file","path":"user.md","assign_to":"me"}]</actions>"#;
    let (_, session) = env.say(begun(), "any allergy?", &[read, "<reply>You have penicillin.</reply>"]);
    for session in [session, Session::load(&env.engine(), ID).unwrap()] {
        let asked = |session: &Session, texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let filters: Vec<_> = texts.iter().map(|text| memdir_policy::Filter::compile(text)).collect();
            crate::filter::conversation(session, &filters, &texts)
        };
        for filter in ["#private", "user.md", "note:Ada", "fact:phone"] {
            let before = asked(&session, &[filter]);
            assert_eq!((before.exchanges[0].message.as_str(), &before.exchanges[0].reply), ("any allergy?", &None));
            assert_eq!(before.variables, Variables::new([("me".to_owned(), Value::Nothing)]), "{filter}");
        }
        assert_eq!(asked(&session, &[]).exchanges, session.exchanges);
    }
    let again = Session::load(&env.engine(), ID).unwrap();
    let said = "and again? <filter>#private</filter>";
    let (_, session) = env.say(again, said, &["<reply>I cannot say.</reply>"]);
    for session in [session, Session::load(&env.engine(), ID).unwrap()] {
        let texts = ["#private".to_owned()];
        let before = crate::filter::conversation(&session, &[memdir_policy::Filter::compile("#private")], &texts);
        let replies: Vec<_> = before.exchanges.iter().map(|exchange| exchange.reply.as_deref()).collect();
        assert_eq!(replies, [None, Some("I cannot say.")]);
    }
}

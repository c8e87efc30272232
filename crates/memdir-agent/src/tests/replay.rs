//! A session that is done again leaves the same notes.

use std::path::Path;

use super::super::replay;
use super::{Agent, Env, ID, MOVED, Person, Session, engine, notes, say, settings};
use crate::{Actions, Decision, Family, Prompts, Switches};
use memdir_core::report::Code;
use memdir_model::script::{Scripted, turn};
use memdir_model::{Answer, End, ModelError};
use memdir_policy::Mode;

/// Numbers that look like chance, the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn of<T: Clone>(&mut self, things: &[T]) -> T {
        things[self.roll(things.len())].clone()
    }
}

const TURNS: [&str; 16] = [
    MOVED,
    r#"<actions>[{"action":"read_file","path":"user.md","assign_to":"me"}]</actions>"#,
    r#"<actions>[{"action":"append_file","path":"user.md","content":"- blood pressure: high"},{"action":"append_file","path":"a.md","content":"one"}]</actions>"#,
    r#"<actions>[{"action":"create_file","path":"a.md","content":"first"}]</actions>"#,
    r#"<actions>[{"action":"append_file","path":"a.md","content":"more"},{"action":"delete_file","path":"not there.md"}]</actions>"#,
    r#"<actions>[{"action":"rename_file","path":"a.md","new_path":"b/a.md"}]</actions>"#,
    r#"<actions>[{"action":"write_file","path":"user.md","content":"all new"}]</actions>"#,
    r#"<actions>[{"action":"delete_file","path":"b/a.md"}]</actions>"#,
    r#"<actions>[{"action":"memory","operation":"store","key":"k","content":"kept"}]</actions>"#,
    "<python>\nuser = read_file(\"user.md\")\n</python>",
    "<python>\ncreate_file(\"p.md\", user)\n</python>",
    r#"<reply>so</reply><actions>[{"action":"append_file","path":"user.md","content":"- allergy: nuts"}]</actions>"#,
    "",
    "<reply>I have saved that.</reply>",
    "<reply>Done.</reply>",
    "<reply>Hello.</reply>",
];

/// What a small model says: of a sentence, of what changes, and as its answer.
const SMALL_TURNS: [&str; 6] = [
    "tell",
    "city: Paris",
    "tell",
    "# user\n+ city: Paris\nsay Noted.",
    "# user\n+ allergic to: nuts\nsay Noted.",
    "Hello.",
];

/// Messages that ask for what the turns write; what comes with another is refused.
const ALL_OF_IT: &str = "I moved to Paris. My blood pressure is high, and I am allergic to nuts. Keep one note a with the first and more, k as \
     kept; write all new about me, and delete what is old.";
const FILTERED: &str = "I moved to Paris, delete what is old <filter>no addresses</filter>";

/// Leads a session by chance.
fn lead(dice: &mut Dice, root: &Path) {
    let engine = engine(root);
    let families = [Family::Capable, Family::Small, Family::MemAgent];
    let settings = super::Settings { turns: 4, ..settings() };
    let mut agent = Agent::new(
        &engine,
        Box::new(Scripted::new([""; 0])),
        Prompts::default(),
        settings,
        Session::new(ID.to_owned()),
    )
    .kept();
    for _ in 0..6 {
        let family = dice.of(&families);
        let is_small = family == Family::Small;
        let mut turns: Vec<Result<Answer, ModelError>> =
            (0..8).map(|_| Ok(turn(if is_small { dice.of(&SMALL_TURNS) } else { dice.of(&TURNS) }))).collect();
        match dice.roll(5) {
            0 => turns.insert(1, Err(ModelError::NoModel)),
            1 => turns.insert(1, Ok(Answer { end: End::Cut, ..turn(MOVED) })),
            _ => {}
        }
        agent.set_model(Box::new(Scripted::answering(turns)), family, 900);
        agent.session_mut().switches = Switches {
            actions: dice.of(&[Actions::All, Actions::All, Actions::All, Actions::Read]),
            permission: dice.of(&[None, None, Some(Mode::Off), Some(Mode::Flag)]),
            ..Switches::default()
        };
        let decisions =
            [Decision::Yes, Decision::Yes, Decision::No, Decision::Later, Decision::Instead("x".to_owned())];
        let decisions: Vec<Decision> = (0..dice.roll(4)).map(|_| dice.of(&decisions)).collect();
        let _ = say(&mut agent, dice.of(&[ALL_OF_IT, ALL_OF_IT, FILTERED, "hello"]), &mut Person::saying(decisions));
    }
}

#[test]
fn any_session_comes_out_as_it_did() {
    let mut changed = 0;
    for seed in 0..60 {
        let env = Env::new();
        lead(&mut Dice(seed), env.folder.path());
        let copy = Env::new();
        let before = notes(copy.folder.path());
        let replayed = replay(&copy.engine(), env.file().as_bytes(), &settings()).unwrap();
        assert_eq!(replayed.differences, Vec::<String>::new(), "{seed}");
        assert_eq!(replayed.messages, 6, "{seed}");
        let after = notes(env.folder.path());
        assert_eq!(notes(copy.folder.path()), after, "{seed}\n{}", env.file());
        changed += usize::from(after != before);
    }
    assert!(changed > 30, "only {changed} of 60 sessions have changed anything");
}

#[test]
fn what_comes_out_otherwise_is_told() {
    let env = Env::new();
    let update = r#"<actions>[{"action":"update_file","path":"user.md","old_content":"London","new_content":"Paris"}]</actions>"#;
    env.say(Session::new(ID.to_owned()), "I moved to Paris", &[update, "<reply>Good.</reply>"]);
    let copy = Env::new();
    std::fs::write(copy.folder.path().join("user.md"), "# Ada\n").unwrap();
    let replayed = replay(&copy.engine(), env.file().as_bytes(), &settings()).unwrap();
    assert_eq!(
        replayed.differences,
        [
            "message 1, turn 1: `update_file` was done and is content_not_found",
            "message 1, turn 1: other notes were changed",
        ]
    );
    assert_eq!((replayed.session.as_str(), replayed.messages, replayed.turns), (ID, 1, 2));
    assert_eq!(copy.user(), "# Ada\n");
}

#[test]
fn what_was_forgotten_cannot_be_done_again() {
    let env = Env::new();
    let line = "{\"version\":1,\"kind\":\"forgotten\",\"message\":1}\n";
    assert_eq!(replay(&env.engine(), line.as_bytes(), &settings()).unwrap_err().code, Code::Unavailable);
    assert_eq!(replay(&env.engine(), b"so\n", &settings()).unwrap_err().code, Code::Damaged);
    assert_eq!(replay(&env.engine(), b"", &settings()).unwrap().messages, 0);
}

#[test]
fn what_was_done_in_stages_is_done_again_in_turns() {
    let env = Env::new();
    let engine = env.engine();
    let seen = r#"{"summary":"Ada lives in London.","entities":["Ada"]}"#;
    let save = r#"{"actions":[{"action":"set_fact","path":"user.md","key":"city","value":"Paris"}]}"#;
    let turns = [seen, save, seen, r#"{"action":"final_answer"}"#, r#"{"reply":"Good."}"#];
    // A small family replies by the program itself where there are no stages.
    let settings = super::Settings { staged: true, family: Family::Small, ..settings() };
    let model = Box::new(Scripted::new(turns));
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings, Session::new(ID.to_owned())).kept();
    say(&mut agent, "I moved to Paris", &mut Person::default()).unwrap();
    assert!(env.user().contains("Paris"));
    let copy = Env::new();
    let replayed = replay(&copy.engine(), env.file().as_bytes(), &super::settings()).unwrap();
    assert_eq!((replayed.differences, replayed.turns), (vec![], 2));
    assert_eq!(copy.user(), env.user());
    let tokens = env.file().lines().filter(|line| line.contains(r#""input_tokens":10"#)).count();
    assert_eq!(tokens, 5, "each stage counts once: {}", env.file());
}

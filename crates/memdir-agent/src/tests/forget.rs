//! Forgetting reaches what was said.

use super::{Env, ID, MOVED, Person, Session, agent, say};
use crate::Switches;
use memdir_core::path::MemoryPath;
use memdir_core::report::Code;
use memdir_engine::{Caller, Engine, ForgetTarget, PlaceKind, RelatedLines};

fn forget(engine: &Engine, target: &ForgetTarget) -> Vec<PlaceKind> {
    let listed = engine.places_of(target).unwrap();
    let done = engine.forget(target, RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    assert_eq!(done.listed, listed, "what is listed is what goes");
    assert_eq!(done.left, []);
    assert_eq!(engine.places_of(target).unwrap_err().code, Code::NotFound);
    done.listed.places.into_iter().map(|place| place.place).collect()
}

#[test]
fn a_text_goes_with_its_message_and_the_others_stay() {
    let env = Env::new();
    let (_, session) = env.say(Session::new(ID.to_owned()), "my doctor is Dr Quincy", &["Good to know."]);
    let (_, session) = env.say(session, "hello", &["<reply>Hello Ada.</reply>"]);
    let (_, session) = env.say(session, "who?", &["<reply>Your doctor is Dr Quincy.</reply>"]);
    assert_eq!(session.next_number(), 4);
    let engine = env.engine();
    assert_eq!(forget(&engine, &ForgetTarget::Text("Quincy".to_owned())), [PlaceKind::Audit, PlaceKind::Session]);
    assert!(!env.file().contains("Quincy") && env.file().contains("Hello Ada."));
    // Numbers are not given twice, and the one who still has the conversation open has forgotten it too.
    let again = Session::load(&engine, ID).unwrap();
    assert_eq!((again.next_number(), again.exchanges.len()), (4, 1));
    let mut open = agent(&engine, session, &["<reply>I do not know.</reply>"]);
    say(&mut open, "who is it?", &mut Person::default()).unwrap();
    let said: Vec<_> = open.session().exchanges.iter().map(|exchange| exchange.message.as_str()).collect();
    assert_eq!(said, ["hello", "who is it?"]);
}

#[test]
fn a_note_goes_with_the_messages_that_named_it() {
    let env = Env::new();
    std::fs::write(env.folder.path().join("quincy.md"), "# Quincy\n\n- kind: doctor\n").unwrap();
    let read = r#"<actions>[{"action":"read_file","path":"quincy.md"}]</actions>"#;
    let (_, session) = env.say(Session::new(ID.to_owned()), "what is he?", &[read, "<reply>A doctor.</reply>"]);
    env.say(session, "hello", &["<reply>Hello Ada.</reply>"]);
    let places = forget(&env.engine(), &ForgetTarget::Note(MemoryPath::parse("quincy.md").unwrap()));
    assert!(places.contains(&PlaceKind::Note) && places.contains(&PlaceKind::Session), "{places:?}");
    assert!(!env.file().contains("A doctor") && env.file().contains("Hello Ada."), "{}", env.file());
}

#[test]
fn the_digest_of_a_note_that_held_the_text_goes_too() {
    let env = Env::new();
    let read = r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#;
    env.say(Session::new(ID.to_owned()), "hello", &[read, "<reply>Hello.</reply>"]);
    assert!(env.file().contains("sha256:"));
    let places = forget(&env.engine(), &ForgetTarget::Text("London".to_owned()));
    assert!(places.contains(&PlaceKind::Session), "{places:?}");
    assert!(!env.file().contains("sha256:") && env.file().contains("Hello."), "{}", env.file());
    // The same for what the history held.
    let env = Env::new();
    let (_, session) = env.say(Session::new(ID.to_owned()), "hello", &[read, "<reply>Hello.</reply>"]);
    env.say(session, "I moved to Paris", &[MOVED, "<reply>Good.</reply>"]);
    forget(&env.engine(), &ForgetTarget::Text("London".to_owned()));
    assert_eq!(env.file().matches("sha256:").count(), 1, "{}", env.file());
    assert!(env.user().contains("Paris"));
}

#[test]
fn a_session_whose_switches_hold_it_goes_as_a_whole() {
    let env = Env::new();
    let switches = Switches { filters: vec!["fact:Quincy".to_owned()], ..Switches::default() };
    let session = Session { switches: switches.clone(), ..Session::new(ID.to_owned()) };
    let (_, session) = env.say(session, "hello", &["<reply>Hello Ada.</reply>"]);
    let engine = env.engine();
    assert_eq!(forget(&engine, &ForgetTarget::Text("Quincy".to_owned())), [PlaceKind::Session]);
    assert!(!env.path().exists());
    // What the person has kept back in the one that is open stays back.
    let mut open = agent(&engine, session, &["<reply>Yes.</reply>"]);
    say(&mut open, "still there?", &mut Person::default()).unwrap();
    assert_eq!((open.session().exchanges.len(), &open.session().switches), (1, &switches));
}

#[test]
fn half_a_line_goes_too() {
    let env = Env::new();
    env.say(Session::new(ID.to_owned()), "hello", &["<reply>Hello Ada.</reply>"]);
    let whole = env.file();
    std::fs::write(env.path(), format!("{whole}{}", r#"{"version":1,"kind":"message","text":"Dr Quincy"#)).unwrap();
    let (engine, target) = (env.engine(), ForgetTarget::Text("Quincy".to_owned()));
    assert_eq!(
        engine.places_of(&target).unwrap().places.iter().map(|place| place.place).collect::<Vec<_>>(),
        [PlaceKind::Session]
    );
    assert_eq!(engine.forget(&target, RelatedLines::Keep, None, &Caller::person("cli")).unwrap().left, []);
    assert_eq!(env.file(), whole, "and no more than that");
}

#[test]
fn words_of_the_form_are_no_text_of_anybody() {
    let env = Env::new();
    env.say(Session::new(ID.to_owned()), "hello", &["<reply>Hello Ada.</reply>"]);
    let before = env.file();
    for word in ["version", "scripted", "capable", "message", "2027-01-01"] {
        assert!(env.engine().places_of(&ForgetTarget::Text(word.to_owned())).is_err(), "{word}");
    }
    assert_eq!(env.file(), before);
}

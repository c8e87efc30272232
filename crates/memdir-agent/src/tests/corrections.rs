//! A message that puts right what the one before it said, by a small model.

use memdir_model::script::{Scripted, card, turn};
use memdir_model::{Answer, Heard, Place};
use memdir_policy::Mode;

use super::{Agent, Env, ID, Person, Session, say, settings};
use crate::{Family, Notice, Prompts, Settings};

/// What a model says that takes a message for a new one by so much, in thousandths, and notes these lines.
fn scripted(new: u16, noted: &'static [&'static str]) -> Scripted {
    let mut noted = noted.iter();
    Scripted::by(card("scripted", Place::Process), move |request, hear, _| {
        let system = request.system.as_str();
        let is_asked_for =
            |word: &str| request.shape.as_ref().is_some_and(|shape| shape.schema.to_string().contains(word));
        let (text, chances) = if system.starts_with("You sort the sentences") {
            ("tell", vec![900])
        } else if system.starts_with("Which day") {
            ("none", vec![900])
        } else if system.starts_with("Somebody has told") && is_asked_for("new") {
            ("new", vec![new])
        } else if system.starts_with("Somebody has told") {
            ("Porto -> Faro\nsay Corrected.", vec![900, 900])
        } else if system.starts_with("You keep somebody's notes true") {
            ("", Vec::new())
        } else {
            (*noted.next().expect("one message is noted"), vec![900; 4])
        };
        hear(Heard::Text(text));
        Ok(Answer { line_chances: chances, ..turn(text) })
    })
}

#[test]
fn what_was_stored_of_the_message_before_is_put_right() {
    for (new, city, reply) in [(499, "- city: Faro", "Corrected."), (500, "- city: Porto", "Noted.")] {
        let env = Env::new();
        let engine = env.engine();
        let noted: &[&str] = match new {
            499 => &["# user\n+ city: Porto\nsay Noted."],
            _ => &["# user\n+ city: Porto\nsay Noted.", "# user\n+ near the sea\nsay Noted."],
        };
        let settings = Settings { family: Family::Small, mode: Mode::Off, ..settings() };
        let model = Box::new(scripted(new, noted));
        let mut agent = Agent::new(&engine, model, Prompts::default(), settings, Session::new(ID.to_owned()));
        assert!(say(&mut agent, "I moved to Porto", &mut Person::default()).unwrap().receipt().is_some());
        let said = say(&mut agent, "sorry, to Faro. It is near the sea.", &mut Person::default()).unwrap();
        assert_eq!(said.reply.as_deref(), Some(reply));
        let missed = Notice::Missed(vec!["`It is near the sea.`".to_owned()]);
        assert_eq!(said.notice, (new == 499).then_some(missed), "what is told besides is not dropped in silence");
        assert!(env.user().contains(city), "{new}: {}", env.user());
    }
}

/// The history tells which lines came of a message, in however many notes; an older line that has the same words stays.
#[test]
fn only_what_the_message_before_wrote_is_put_right() {
    let env = Env::new();
    std::fs::write(env.folder.path().join("user.md"), "# Ada\n\n- born: Porto\n- city: London\n").unwrap();
    let engine = env.engine();
    let settings = Settings { family: Family::Small, mode: Mode::Off, ..settings() };
    let noted: &[&str] = &["# user\n+ city: Porto\n# Rui\n+ has moved to Porto, too\nsay Noted."];
    let model = Box::new(scripted(0, noted));
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings, Session::new(ID.to_owned())).kept();
    let told = say(&mut agent, "I moved to Porto with Rui, he has moved, too", &mut Person::default()).unwrap();
    assert!(told.receipts[0].contains("in user.md") && told.changed.len() == 2, "{told:?}");
    drop(agent);
    // Also in a conversation that is gone on with.
    let (engine, settings) = (env.engine(), Settings { family: Family::Small, mode: Mode::Off, ..super::settings() });
    let session = Session::load(&engine, ID).unwrap();
    let mut agent = Agent::new(&engine, Box::new(scripted(0, &[])), Prompts::default(), settings, session);
    let said = say(&mut agent, "sorry, Faro", &mut Person::default()).unwrap();
    assert_eq!(said.changed, told.changed);
    assert!(env.user().starts_with("# Ada\n\n- born: Porto\n- city: Faro\n"), "{}", env.user());
    let rui = std::fs::read_to_string(env.folder.path().join("entities/rui.md")).unwrap();
    assert!(rui.contains("- has moved to Faro, too"), "{rui}");
}

/// What somebody else has changed since is no longer there to be put right: what was told is told once more.
#[test]
fn what_no_longer_stands_is_told_once_more() {
    let env = Env::new();
    let engine = env.engine();
    let settings = Settings { family: Family::Small, mode: Mode::Off, ..settings() };
    let model =
        Box::new(scripted(0, &["# user\n+ city: Porto\nsay Noted.", "# user\n+ I moved to Faro\nsay Noted again."]));
    let mut agent = Agent::new(&engine, model, Prompts::default(), settings, Session::new(ID.to_owned()));
    say(&mut agent, "I moved to Porto", &mut Person::default()).unwrap();
    let path = env.folder.path().join("user.md");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap().replace("Porto", "Braga")).unwrap();
    let said = say(&mut agent, "sorry, Faro", &mut Person::default()).unwrap();
    assert_eq!(said.reply.as_deref(), Some("Noted again."));
    assert!(env.user().contains("- city: Braga") && env.user().contains("- I moved to Faro"), "{}", env.user());
}

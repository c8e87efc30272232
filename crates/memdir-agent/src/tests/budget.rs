//! Tokens a day, counted from the sessions that are kept.

use std::time::Duration;

use super::{Env, ID, Person, Session, clock, say, settings};
use crate::budget::spent_since;
use crate::{Agent, Notice, Prompts, Settings, spent_today, tokens_left};
use memdir_model::ModelError;
use memdir_model::script::{Scripted, turn};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn what_was_used_today_is_counted_over_all_sessions() {
    let env = Env::new();
    assert_eq!(spent_today(&env.engine(), clock()).unwrap(), 0);
    env.say(Session::new(ID.to_owned()), "hello", &["<actions>[{\"action\":\"list_files\"}]</actions>", "Hello."]);
    env.say(Session::new("81".to_owned()), "hello", &["Hello."]);
    let engine = env.engine();
    // The files were written when the test ran, which is before what the clock says: they count as of the turns' time.
    for kept in engine.sessions().unwrap() {
        let file = env.folder.path().join(format!(".memdir/local/sessions/{}.jsonl", kept.id));
        let noon = std::time::UNIX_EPOCH + Duration::from_micros(clock().micros().unsigned_abs());
        std::fs::File::options().append(true).open(file).unwrap().set_modified(noon).unwrap();
    }
    assert_eq!(spent_today(&engine, clock()).unwrap(), 36);
    assert_eq!(spent_today(&engine, clock().plus(DAY)).unwrap(), 0);
    assert_eq!(spent_today(&engine, clock().minus(DAY / 2)).unwrap(), 36, "from midnight on");
    assert_eq!(tokens_left(&engine, Some(40), clock()).unwrap(), Some(4));
    assert_eq!(tokens_left(&engine, Some(10), clock()).unwrap(), Some(0));
    assert_eq!(tokens_left(&engine, None, clock()).unwrap(), None);
}

/// An agent that may use so many tokens for a message, with a model that answers so.
fn limited(
    engine: &memdir_engine::Engine,
    tokens: Option<u64>,
    answers: [Result<memdir_model::Answer, ModelError>; 2],
) -> Agent<'_> {
    let model = Box::new(Scripted::answering(answers));
    let settings = Settings { tokens, ..settings() };
    Agent::new(engine, model, Prompts::default(), settings, Session::new(ID.to_owned())).kept()
}

#[test]
fn what_was_used_for_an_answer_that_broke_off_counts() {
    let env = Env::new();
    let engine = env.engine();
    let broken = || Err(ModelError::Broken { place: "x".to_owned() });
    let unreachable = || Err(ModelError::Unreachable { place: "x".to_owned(), why: "refused".to_owned() });
    let mut agent = limited(&engine, None, [unreachable(), broken()]);
    say(&mut agent, "hello", &mut Person::default()).unwrap_err();
    assert_eq!(spent_since(env.file().as_bytes(), clock()), 0, "nobody has read it");
    say(&mut agent, "hello", &mut Person::default()).unwrap_err();
    let spent = spent_since(env.file().as_bytes(), clock());
    assert!(spent > 200, "a prompt has some tokens: {spent}");
}

#[test]
fn a_model_is_not_asked_where_its_prompt_is_more_than_is_left() {
    let env = Env::new();
    let engine = env.engine();
    let answers = || [Ok(turn("<reply>Hello.</reply>")), Ok(turn("<reply>Well.</reply>"))];
    let said = say(&mut limited(&engine, Some(100), answers()), "hello", &mut Person::default()).unwrap();
    assert_eq!((said.reply, said.notice, said.spent.input_tokens), (None, Some(Notice::Tokens), 0));
    let said = say(&mut limited(&engine, Some(100_000), answers()), "hello", &mut Person::default()).unwrap();
    assert_eq!((said.reply.as_deref(), said.notice), (Some("Hello."), None));
}

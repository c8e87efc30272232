//! Tokens a day, counted from the sessions that are kept.

use std::time::Duration;

use super::{Env, ID, Session, clock};
use crate::{spent_today, tokens_left};

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

//! `approve --always` and `reject --never`: an answer for all that is like it.

use serde_json::{Value, json};

use super::code;
use crate::support::{Env, said};

/// Runs an action that brings an email address, in the mode `ask`.
fn email(env: &Env, path: &str) -> crate::support::Ran {
    let text = said(&json!([{"action": "append_file", "path": path, "content": "- email: ada@example.com"}]));
    env.say(&text, &["--permission", "ask"])
}

fn rules(env: &Env) -> Value {
    env.ask(&["rules"]).exits(0)["rules"].clone()
}

#[test]
fn always_allows_the_same_for_the_same_note_and_nothing_else() {
    let env = Env::ada();
    email(&env, "user.md").exits(3);
    let code = code(&env, 1);
    let decided = env.ask(&["approve", "1", "--code", &code, "--always"]).exits(0);
    assert_eq!((&decided["approved"], &decided["rules"]), (&json!(true), &json!([1])));
    let rule = json!({"number": 1, "action": "append_file", "path": "user.md", "client": null, "detector": "email", "verdict": "allow"});
    assert_eq!(rules(&env), json!([rule]));
    email(&env, "user.md").exits(0);
    email(&env, "entities/acme.md").exits(3);
    let phone = said(&json!([{"action": "append_file", "path": "user.md", "content": "- phone: +44 20 7946 0958"}]));
    env.say(&phone, &["--permission", "ask"]).exits(3);
}

#[test]
fn never_denies_the_same_without_asking() {
    let env = Env::ada();
    email(&env, "user.md").exits(3);
    let decided = env.ask(&["reject", "1", "--never"]).exits(0);
    assert_eq!((&decided["approved"], &decided["rules"]), (&json!(false), &json!([1])));
    let error = email(&env, "user.md").exits(3)["actions"][0]["error"].clone();
    assert_eq!(error["code"], json!("denied"));
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"], json!([]));
}

#[test]
fn what_a_rule_asks_about_cannot_be_allowed_by_another() {
    let env = Env::ada();
    env.ask(&["rules", "add", "ask", "--path", "entities/**"]).exits(0);
    let text = said(&json!([{"action": "append_file", "path": "entities/acme.md", "content": "- size: 9"}]));
    env.say(&text, &["--permission", "ask"]).exits(3);
    let code = code(&env, 1);
    let error = env.ask(&["approve", "1", "--code", &code, "--always"]).exits(2)["error"].clone();
    assert_eq!(error["hint"], json!("change or remove rule 1 instead"));
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"][0]["id"], json!(1), "nothing was decided");
    assert_eq!(rules(&env).as_array().unwrap().len(), 1);
}

#[test]
fn a_proposal_that_is_not_there_makes_no_rule() {
    let env = Env::ada();
    env.ask(&["reject", "7", "--never"]).exits(4);
    assert_eq!(rules(&env), json!([]));
}

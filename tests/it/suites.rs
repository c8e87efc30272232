//! `memdir eval agent`, as far as it goes without a model: suites that cannot be run say why before anything is asked.

use serde_json::json;

use crate::support::Env;

fn suite(env: &Env, text: &str) -> String {
    let file = env.base().join("suite.json");
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// What is said of a suite, with more arguments.
#[track_caller]
fn refused(text: &str, more: &[&str], message: &str, hint: &str) {
    let env = Env::new();
    let file = suite(&env, text);
    let arguments: Vec<&str> = ["eval", "agent", &file, "--json"].iter().chain(more).copied().collect();
    let error = crate::support::finish(env.bare(&arguments), b"").exits(2)["error"].clone();
    assert_eq!(error["code"], json!("usage"), "{error}");
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
}

const TASK: &str =
    r#"{"id": "a", "kind": "k", "memory": {"user.md": "x"}, "message": "hi", "checks": {"no_change": true}}"#;

#[test]
fn a_suite_that_cannot_be_run_says_why() {
    let one = |task: &str| format!(r#"{{"tasks": [{task}]}}"#);
    refused("{", &[], "the suite `", "docs/agent.md");
    refused(
        &one(&TASK.replace("no_change", "no_chang")),
        &[],
        "unknown field `no_chang`, expected one of",
        "docs/agent.md",
    );
    refused(&one(TASK), &["--kind", "other"], "has no such task", "its kinds are k");
    refused(&one(TASK), &["--task", "b"], "has no such task", "its kinds are k");
    refused(&one(&TASK.replace(r#"{"user.md": "x"}"#, r#""gone""#)), &[], "there is no memory `gone`", "--memories");
    refused(&one(&TASK.replace(r#"{"user.md": "x"}"#, r#""../x""#)), &[], "`../x` cannot name a memory", "--memories");
    refused(&one(TASK), &["--least", "7"], "a share is a number from 0 to 1", "--help");
}

#[test]
fn a_suite_that_is_not_there_is_said() {
    let env = Env::new();
    let ran = crate::support::finish(env.bare(&["eval", "agent", "none.json"]), b"");
    assert_eq!((ran.code, ran.stderr.contains("the suite `none.json` cannot be read")), (2, true), "{ran:?}");
}

//! What leaves the machine, as the server of the model sees it: whole requests, for review.

use regex::Regex;

use super::{ada, settings};
use crate::support::Env;
use crate::support::standin::{Asked, Standin};

/// A request as it came, with each message as the text that it is.
fn whole(asked: &Asked) -> String {
    let mut head = asked.head.clone();
    head.sort_by_key(|line| line.to_ascii_lowercase());
    let mut body = asked.body.clone();
    let messages = body.as_object_mut().unwrap().remove("messages").unwrap();
    let mut text = format!(
        "{} {}\n{}\n\n{}\n",
        asked.method,
        asked.path,
        head.join("\n"),
        serde_json::to_string_pretty(&body).unwrap()
    );
    for message in messages.as_array().unwrap() {
        assert_eq!(message.as_object().unwrap().len(), 2, "{message}");
        text.push_str(&format!(
            "\n=== {}\n{}\n",
            message["role"].as_str().unwrap(),
            message["content"].as_str().unwrap()
        ));
    }
    let masks = [
        (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
        (r"(?i)content-length: \d+", "content-length: [BYTES]"),
        (r"memdir/\d+\.\d+\.\d+", "memdir/[VERSION]"),
    ];
    masks.iter().fold(text, |text, (mask, with)| Regex::new(mask).unwrap().replace_all(&text, *with).into_owned())
}

/// The first request of a message to a model in this family.
fn first(family: &str) -> String {
    let standin = Standin::answers(["<reply>Acme is a company.</reply>"]);
    let env = Env::ada().quick().settings(&settings("openai::scripted", &standin, &format!("family = \"{family}\"\n")));
    let env = env.set("OPENAI_API_KEY", "sk-of-a-test");
    let ran = env.run(&["ask", "What is Acme?"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let requests = standin.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    whole(&requests[0])
}

#[test]
fn the_first_request_to_a_capable_model() {
    insta::assert_snapshot!(first("capable"));
}

#[test]
fn the_first_request_to_the_tuned_model() {
    insta::assert_snapshot!(first("mem-agent"));
}

#[test]
fn doctor_says_what_leaves_the_machine_and_asks_nobody() {
    let check = |env: &Env, expected: &str| {
        let checks = env.ask(&["doctor"]).exits(0);
        let model = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "model").unwrap();
        assert_eq!((model["status"].as_str(), model["message"].as_str()), (Some("ok"), Some(expected)), "{checks}");
        assert!(!checks.to_string().contains("sk-of-a-test"));
    };
    let far = Env::ada().settings("[model]\nname = \"anthropic::claude\"\n").set("ANTHROPIC_API_KEY", "sk-of-a-test");
    check(&far, "anthropic::claude: what you write, and what notes it takes, goes to api.anthropic.com");
    let standin = Standin::answers::<&str>([]);
    let at = standin.address();
    check(&ada(&standin), &format!("openai-compatible::scripted: runs on this machine, at {at}"));
    assert!(standin.requests().is_empty());
}

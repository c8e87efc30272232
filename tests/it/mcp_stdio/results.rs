//! What every result says beside its content, and what is wrong with a request: in each version of the protocol.

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

/// One request for each result, and how long the newest version may keep it; `None` for what cannot be kept.
fn requests() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let topic =
        json!({"ref": {"type": "ref/prompt", "name": "what_do_you_know"}, "argument": {"name": "topic", "value": ""}});
    vec![
        ("tools/list", json!({}), Some("private")),
        ("tools/call", json!({"name": "recent"}), None),
        ("tools/call", json!({"name": "read_file", "arguments": {"path": "none.md"}}), None),
        ("prompts/list", json!({}), Some("public")),
        ("prompts/get", json!({"name": "memory_protocol"}), None),
        ("resources/list", json!({}), Some("private")),
        ("resources/templates/list", json!({}), Some("public")),
        ("resources/read", json!({"uri": "memdir:///user.md"}), Some("private")),
        ("completion/complete", topic, None),
    ]
}

#[test]
fn the_newest_version_says_of_each_result_who_gives_it_and_how_long_it_holds() {
    let env = Env::ada();
    let mut client = Client::open(&env, MODERN, &[]);
    for (method, params, kept) in requests() {
        let result = client.result(method, params);
        assert_eq!(result["resultType"], json!("complete"), "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], json!("memdir"), "{method}");
        assert_eq!(result["cacheScope"], json!(kept), "{method}");
        assert_eq!(result["ttlMs"].is_u64(), kept.is_some(), "{method}");
        // What notes say can be other at once.
        let is_of_notes = matches!(method, "resources/list" | "resources/read");
        assert_eq!(result["ttlMs"] == json!(0), is_of_notes, "{method}");
    }
}

#[test]
fn older_versions_hear_nothing_that_they_do_not_know() {
    let env = Env::ada();
    for version in LEGACY {
        let mut client = Client::open(&env, version, &[]);
        for (method, params, _) in requests() {
            let result = client.result(method, params);
            for key in ["resultType", "_meta", "ttlMs", "cacheScope"] {
                assert!(result.get(key).is_none(), "{version} {method} {key}");
            }
        }
    }
}

#[test]
fn parameters_that_cannot_be_read_are_told_from_a_method_that_is_not_there() {
    let env = Env::ada();
    for version in LEGACY.into_iter().chain([MODERN]) {
        let mut client = Client::open(&env, version, &[]);
        let mut code = |method: &str, params: Value| client.request(method, params)["error"]["code"].clone();
        for method in ["tools/call", "prompts/get", "resources/read", "completion/complete"] {
            assert_eq!(code(method, json!({})), json!(-32602), "{version} {method}");
        }
        for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            // A page that nobody was told of.
            assert_eq!(code(method, json!({"cursor": "garbage"})), json!(-32602), "{version} {method}");
        }
        let (own, foreign) = ("resources/subscribe", "subscriptions/listen");
        let (own, foreign) = if version == MODERN { (foreign, own) } else { (own, foreign) };
        assert_eq!(code(own, json!({"uri": 7, "notifications": 7})), json!(-32602), "{version} {own}");
        assert_eq!(code(foreign, json!({"uri": 7, "notifications": 7})), json!(-32601), "{version} {foreign}");
        for method in ["no/such/method", "logging/setLevel", "tasks/list", "sampling/createMessage"] {
            assert_eq!(code(method, json!({})), json!(-32601), "{version} {method}");
        }
    }
}

//! How a conversation begins, in each version of the protocol, and what the protocol itself answers.

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

/// A request of the newest version, as text.
fn modern(id: u64, method: &str, version: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta}})
}

#[test]
fn every_version_is_spoken() {
    let env = Env::ada();
    for version in LEGACY {
        let mut client = Client::start(&env, &[]);
        let said = client.begin(version);
        assert_eq!(said["protocolVersion"], json!(version));
        assert_eq!(said["serverInfo"]["name"], json!("memdir"));
        assert!(said["capabilities"]["tools"].is_object(), "{said}");
        assert!(said["instructions"].as_str().unwrap().contains("long-term memory"));
        let read = client.call("read_file", json!({"path": "user.md"}));
        let text = json!([{"type": "text", "text": "# Ada\n\n- city: London\n"}]);
        assert_eq!(read, json!({"content": text, "isError": false}), "nothing that {version} does not know");
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        let list = client.result("tools/list", json!({}));
        assert_eq!(list.as_object().unwrap().len(), 1, "{version}: nothing but the tools");
        assert_eq!(client.close().code, 0);
    }
}

#[test]
fn the_newest_version_needs_no_handshake() {
    let env = Env::ada();
    let mut client = Client::start(&env, &[]);
    let found = client.begin(MODERN);
    let name = |result: &Value| result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"].clone();
    assert_eq!(found["supportedVersions"], json!([MODERN]), "the others begin with `initialize`");
    assert_eq!((&found["resultType"], &found["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(found["ttlMs"].as_u64().unwrap() > 0 && found["instructions"].is_string());
    assert_eq!(name(&found), json!("memdir"));
    let list = client.result("tools/list", json!({}));
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(list["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(name(&list), json!("memdir"));
    let read = client.call("read_file", json!({"path": "user.md"}));
    assert_eq!((&read["resultType"], name(&read)), (&json!("complete"), json!("memdir")));
    assert_eq!(client.request("ping", json!({}))["error"]["code"], json!(-32601), "it has no ping");
    assert_eq!(client.close().code, 0);
    // And without asking first what is spoken.
    let mut client = Client::start(&env, &[]);
    client.send(&modern(1, "tools/list", MODERN));
    assert!(client.answer(1)["result"]["tools"].is_array());
    // A notification may come at any time.
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    client.send(&modern(2, "tools/list", "2031-01-01"));
    let refused = client.answer(2);
    assert_eq!(refused["error"]["code"], json!(-32022), "{refused}");
    assert_eq!(refused["error"]["data"], json!({"requested": "2031-01-01", "supported": [MODERN]}));
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_memory_that_was_moved_away_is_neither_read_nor_written() {
    let env = Env::ada();
    let mut client = Client::start(&env, &[]);
    client.begin(LEGACY[0]);
    assert_eq!(client.call("read_file", json!({"path": "user.md"}))["isError"], json!(false));
    let away = env.memory().with_extension("away");
    std::fs::rename(env.memory(), &away).unwrap();
    for (tool, arguments) in
        [("read_file", json!({"path": "user.md"})), ("append_file", json!({"path": "new.md", "content": "x"}))]
    {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let said = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains("was moved, deleted or replaced"), "{tool}: {answer}");
    }
    assert!(!away.join("new.md").exists());
    std::fs::rename(&away, env.memory()).unwrap();
    assert_eq!(client.call("read_file", json!({"path": "user.md"}))["isError"], json!(false));
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_version_that_is_not_spoken_is_answered_by_one_that_is() {
    let env = Env::ada();
    for asked in ["2024-11-05", "1999-01-01", MODERN, "x"] {
        let mut client = Client::start(&env, &[]);
        assert_eq!(
            client.begin(if asked == MODERN { "2026-07-28 " } else { asked })["protocolVersion"],
            json!(LEGACY[0])
        );
    }
}

#[test]
fn what_comes_before_the_handshake_ends_nothing() {
    let env = Env::ada();
    let mut client = Client::start(&env, &[]);
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(client.answer(1)["result"], json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(client.answer(2)["error"]["code"], json!(-32602));
    client.send(&modern(3, "server/discover", MODERN));
    assert!(client.answer(3)["result"].is_object());
    // A client that did not wait for the answer, and says so before it goes on with an older version.
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    assert_eq!(client.begin(LEGACY[1])["protocolVersion"], json!(LEGACY[1]));
    assert!(client.call("recent", json!({}))["structuredContent"]["value"].is_object());
    assert_eq!(client.close().code, 0);
}

#[test]
fn mistakes_of_the_protocol_are_answered_and_nothing_ends() {
    let env = Env::ada();
    let mut client = Client::open(&env, LEGACY[0], &[]);
    let code =
        |client: &mut Client, method: &str, params: Value| client.request(method, params)["error"]["code"].clone();
    assert_eq!(code(&mut client, "tools/call", json!({"name": "no_such_tool", "arguments": {}})), json!(-32602));
    assert_eq!(
        code(&mut client, "tools/call", json!({"name": "get_links", "arguments": {}})),
        json!(-32602),
        "not in the set"
    );
    for wrong in [json!({}), json!({"name": 1}), json!({"name": "recent", "arguments": []})] {
        assert_eq!(code(&mut client, "tools/call", wrong.clone()), json!(-32602), "{wrong}");
    }
    assert_eq!(code(&mut client, "no/such/method", json!({})), json!(-32601));
    // A list of requests, which 2025-03-26 had, is refused as a whole.
    let batch = r#"[{"jsonrpc":"2.0","id":50,"method":"ping"}]"#;
    for (line, code) in [
        ("{", -32700),
        ("not json", -32700),
        ("\u{1}", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":9", -32700),
        ("\"x\"", -32600),
        (batch, -32600),
    ] {
        client.send_text(line);
        let error = client.wait_for(|message| message["id"].is_null() && message["error"].is_object());
        assert_eq!(error["error"]["code"], json!(code), "{line}");
    }
    client.send_text("");
    let id = client.ask("tools/list", json!([]));
    assert_eq!(client.answer(id)["error"]["code"], json!(-32600));
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_message_that_was_cut_within_a_character_is_answered() {
    let env = Env::ada();
    let mut client = Client::open(&env, LEGACY[0], &[]);
    let call = json!({"name": "search_files", "arguments": {"query": "London CUT"}});
    let asked = json!({"jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": call}).to_string();
    client.send_text(&asked.replace("CUT", "\\ud83d"));
    let answer = client.answer(90);
    assert_eq!(answer["result"]["structuredContent"]["value"]["query"], "London \u{fffd}", "{answer}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output_and_no_text_in_the_log() {
    let env = Env::with(&[("user.md", "# Ada\n\n- secret-word: London\n")]);
    let log = env.base().join("memdir.log");
    let mut client = Client::open(&env, MODERN, &["--log", log.to_str().unwrap()]);
    client.call("read_file", json!({"path": "user.md"}));
    client.call("update_file", json!({"path": "user.md", "old_content": "London", "new_content": "secret-town"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "secret-reason"}}));
    client.request("no/such/secret-method", json!({}));
    let ended = client.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "and each line that came was a message");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("call"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn a_memory_that_is_not_there_is_said_as_everywhere() {
    let env = Env::new();
    let missing = env.base().join("nowhere");
    let mut command = env.bare(&["--memory", missing.to_str().unwrap(), "mcp"]);
    command.stdin(std::process::Stdio::null());
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(4), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no memory in "), "{output:?}");
}

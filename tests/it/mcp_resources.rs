//! Notes as resources, notices of changes, prompts and completion, as a client of the server sees them.

use serde_json::{Value, json};

use crate::support::rpc::{Client, LEGACY, MODERN};
use crate::support::{Env, PATIENCE};

fn address(note: &str) -> String {
    format!("memdir:///{note}")
}

/// Writes a note in one instant.
fn replace(env: &Env, note: &str, text: &str) {
    env.write(".new", text);
    std::fs::rename(env.at(".new"), env.at(note)).unwrap();
}

#[track_caller]
fn read(client: &mut Client, note: &str) -> Value {
    client.request("resources/read", json!({"uri": address(note)}))
}

/// Is this the notice that a note is other than it was?
fn updates(message: &Value, note: &str) -> bool {
    message["method"] == "notifications/resources/updated" && message["params"]["uri"] == address(note)
}

fn lists(message: &Value) -> bool {
    message["method"] == "notifications/resources/list_changed"
}

#[test]
fn notes_are_listed_by_pages_and_read_as_one_text() {
    let env = Env::new();
    let names: Vec<String> = (0..1_200).map(|number| format!("many/n{number:04}.md")).collect();
    names.iter().for_each(|name| env.write(name, "x"));
    env.write("a b/Jäger.md", "# Jäger\n");
    env.write("picture.png", "x");
    env.write(".hidden.md", "x");
    for version in [MODERN, LEGACY[0]] {
        let mut client = Client::open(&env, version, &[]);
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let page = client.result("resources/list", params);
            found.extend(page["resources"].as_array().unwrap().clone());
            assert!(page["resources"].as_array().unwrap().len() <= 500);
            if version == MODERN {
                assert_eq!((&page["ttlMs"], &page["cacheScope"]), (&json!(0), &json!("private")));
            }
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        let first = json!({"uri": "memdir:///a%20b/J%C3%A4ger.md", "name": "a b/Jäger.md", "mimeType": "text/markdown", "size": 9});
        assert_eq!(found[0], first);
        let said: Vec<_> = found[1..].iter().map(|found| found["name"].as_str().unwrap()).collect();
        assert_eq!(said, names);
        let answer = client.result("resources/read", json!({"uri": found[0]["uri"]}));
        let contents = json!([{"uri": found[0]["uri"], "mimeType": "text/markdown", "text": "# Jäger\n"}]);
        assert_eq!(answer["contents"], contents);
        let templates = client.result("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "memdir:///{+path}");
    }
}

#[test]
fn what_is_no_note_is_not_found_and_a_read_is_in_the_audit() {
    let env = Env::with(&[("user.md", "# Ada\n"), ("folder/x.md", "x")]);
    for (version, code) in [(MODERN, -32602), (LEGACY[0], -32002)] {
        let mut client = Client::open(&env, version, &[]);
        for note in [
            "gone.md",
            "folder",
            "../user.md",
            "%2e%2e/user.md",
            ".memdir/x.md",
            "user.md?x",
            "user.md#x",
            "",
            "/user.md",
        ] {
            let answer = read(&mut client, note);
            assert_eq!(answer["error"]["code"], code, "{note}: {answer}");
        }
        for uri in ["memdir://host/user.md", "file:///etc/passwd", "user.md"] {
            let answer = client.request("resources/read", json!({"uri": uri}));
            assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
        }
        let answer = client.request("resources/list", json!({"cursor": "../x"}));
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(read(&mut client, "user.md")["result"]["contents"][0]["text"], "# Ada\n");
        client.close();
    }
    // Reads alone make no history. Once there is one, they are in its account.
    env.act(&json!({"action": "create_file", "path": "new.md", "content": "x"}));
    let mut client = Client::open(&env, MODERN, &[]);
    read(&mut client, "user.md");
    read(&mut client, "gone.md");
    client.close();
    let account = env.run(&["audit", "export", "--jsonl"], "").stdout;
    let entries: Vec<Value> = account.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reads: Vec<_> = entries.iter().filter(|entry| entry["door"] == "mcp").collect();
    // The first is what the client was told of the person when it came.
    assert_eq!(reads.len(), 3, "{account}");
    assert_eq!(reads[0]["action"], "brief", "{account}");
    let reads = &reads[1..];
    assert!(reads.iter().all(|entry| entry["action"] == "read_file" && entry["client"] == "it"), "{account}");
}

#[test]
fn old_versions_subscribe_to_notes_and_hear_of_each_change() {
    for version in LEGACY {
        let env = Env::with(&[("a.md", "old"), ("b c.md", "old"), ("last.md", "old")]);
        let mut client = Client::open(&env, version, &[]);
        for note in ["a.md", "b%20c.md", "new.md", "last.md"] {
            client.result("resources/subscribe", json!({"uri": address(note)}));
        }
        let wrong = client.request("resources/subscribe", json!({"uri": "memdir:///../x.md"}));
        assert_eq!(wrong["error"]["code"], -32002);
        // Somebody else's edit, and one of our own.
        replace(&env, "b c.md", "newer");
        client.wait_for(|message| updates(message, "b%20c.md"));
        let edit = json!({"path": "a.md", "old_content": "old", "new_content": "newer"});
        assert_eq!(client.call("update_file", edit)["isError"], json!(false));
        client.wait_for(|message| updates(message, "a.md"));
        client.call("remember", json!({"note": "new.md", "text": "x"}));
        client.wait_for(|message| updates(message, "new.md"));
        std::fs::remove_file(env.at("new.md")).unwrap();
        client.wait_for(|message| updates(message, "new.md"));
        client.result("resources/unsubscribe", json!({"uri": address("a.md")}));
        replace(&env, "a.md", "newest!");
        replace(&env, "last.md", "newer");
        client.wait_for(|message| updates(message, "last.md"));
        // A change may be told again where the system says it twice, and never what was not asked for.
        let rest = client.close().rest;
        assert!(rest.iter().all(|message| !lists(message) && message.get("id").is_none()), "{rest:?}");
    }
}

#[test]
fn old_versions_hear_of_lists_once_they_have_asked_for_one() {
    let env = Env::with(&[("a.md", "old"), ("d/b.md", "old")]);
    let mut client = Client::open(&env, LEGACY[0], &[]);
    client.result("resources/list", json!({}));
    client.result("resources/subscribe", json!({"uri": address("a.md")}));
    replace(&env, "d/new.md", "x");
    client.wait_for(lists);
    replace(&env, "a.md", "newer");
    client.wait_for(|message| updates(message, "a.md"));
    std::fs::rename(env.at("d"), env.at("e")).unwrap();
    client.wait_for(lists);
    client.call("delete_file", json!({"path": "e/b.md"}));
    client.wait_for(lists);
    replace(&env, "a.md", "newest!");
    client.wait_for(|message| updates(message, "a.md"));
    let rest = client.close().rest;
    assert!(!rest.iter().any(lists), "{rest:?}");
}

#[test]
fn the_newest_version_listens_with_one_request() {
    let env = Env::with(&[("a.md", "old"), ("b.md", "old"), ("c.md", "old"), ("last.md", "old")]);
    let mut client = Client::open(&env, MODERN, &[]);
    let wish = |notes: &[&str]| {
        let addresses: Vec<_> = notes.iter().map(|note| address(note)).collect();
        json!({"notifications": {"resourcesListChanged": true, "toolsListChanged": true, "resourceSubscriptions": addresses}})
    };
    let id = client.ask("subscriptions/listen", wish(&["a.md", "../x.md", "last.md"]));
    let other = client.ask(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": [address("b.md"), address("c.md")]}}),
    );
    let mine =
        |message: &Value, id: u64| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == json!(id);
    let begun = client.wait_for(|message| mine(message, id));
    assert_eq!(begun["method"], "notifications/subscriptions/acknowledged");
    let accepted =
        json!({"resourcesListChanged": true, "resourceSubscriptions": [address("a.md"), address("last.md")]});
    assert_eq!(begun["params"]["notifications"], accepted);
    assert_eq!(client.wait_for(|message| mine(message, other))["method"], "notifications/subscriptions/acknowledged");
    // Nobody has listened to lists before: what has changed until the notes were known cannot be told from nothing.
    client.wait_for(|message| mine(message, id) && lists(message));
    replace(&env, "a.md", "newer");
    replace(&env, "b.md", "newer");
    client.wait_for(|message| mine(message, id) && updates(message, "a.md"));
    client.wait_for(|message| mine(message, other) && updates(message, "b.md"));
    replace(&env, "new.md", "x");
    client.wait_for(|message| mine(message, id) && lists(message));
    // After it is cancelled nothing more comes of it.
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": other}}));
    client.result("server/discover", json!({}));
    replace(&env, "c.md", "newer");
    replace(&env, "last.md", "newer");
    client.wait_for(|message| mine(message, id) && updates(message, "last.md"));
    let later = client.ask("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}}));
    client.wait_for(|message| mine(message, later));
    replace(&env, "last.md", "newest!");
    client.wait_for(|message| mine(message, id) && updates(message, "last.md"));
    let rest = client.close().rest;
    assert!(!rest.iter().any(|message| updates(message, "c.md") || lists(message)), "{rest:?}");
}

#[test]
fn too_many_subscriptions_are_refused() {
    let env = Env::with(&[("a.md", "old")]);
    let mut client = Client::open(&env, LEGACY[0], &[]);
    let ids: Vec<u64> = (0..1_001)
        .map(|number| client.ask("resources/subscribe", json!({"uri": address(&format!("n{number}.md"))})))
        .collect();
    let answers: Vec<Value> = ids.into_iter().map(|id| client.answer(id)).collect();
    let refused: Vec<&Value> = answers.iter().filter(|answer| answer.get("error").is_some()).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    let mut client = Client::open(&env, MODERN, &[]);
    let many: Vec<_> = (0..1_001).map(|number| address(&format!("n{number}.md"))).collect();
    client.ask("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": many}}));
    let begun = client.wait_for(|message| message["method"] == "notifications/subscriptions/acknowledged");
    assert_eq!(begun["params"]["notifications"], json!({}));
}

#[test]
fn prompts_are_listed_and_given_and_arguments_completed() {
    let env =
        Env::with(&[("user.md", ""), ("entities/ada_b.md", ""), ("entities/ada_a.md", ""), ("entities/bob.md", "")]);
    for version in [MODERN, LEGACY[1]] {
        let mut client = Client::open(&env, version, &[]);
        let listed = client.result("prompts/list", json!({}));
        let names: Vec<_> = listed["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].clone()).collect();
        assert_eq!(names, ["memory_protocol", "save_conversation", "what_do_you_know"]);
        let params = json!({"name": "what_do_you_know", "arguments": {"topic": "Ada \"B\"\n"}});
        let got = client.result("prompts/get", params);
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert_eq!(text.lines().last(), Some(r#""Ada \"B\"""#));
        assert_eq!(client.request("prompts/get", json!({"name": "nothing"}))["error"]["code"], -32602);
        let mut complete = |about: Value, name: &str, begun: &str| {
            let params = json!({"ref": about, "argument": {"name": name, "value": begun}});
            let answer = client.request("completion/complete", params);
            if answer.get("error").is_some() {
                answer["error"]["code"].clone()
            } else {
                answer["result"]["completion"].clone()
            }
        };
        let template = || json!({"type": "ref/resource", "uri": "memdir:///{+path}"});
        let prompt = || json!({"type": "ref/prompt", "name": "what_do_you_know"});
        let both = json!({"values": ["entities/ada_a.md", "entities/ada_b.md"], "hasMore": false});
        assert_eq!(complete(template(), "path", "entities/ada"), both);
        assert_eq!(complete(prompt(), "topic", "ADA_"), json!({"values": ["ada_a", "ada_b"], "hasMore": false}));
        assert_eq!(complete(template(), "path", "../")["values"], json!([]));
        assert_eq!(complete(template(), "other", ""), -32602);
        assert_eq!(complete(json!({"type": "ref/prompt", "name": "memory_protocol"}), "topic", ""), -32602);
    }
}

#[test]
fn no_more_than_a_hundred_completions_are_given() {
    let env = Env::new();
    (0..150).for_each(|number| env.write(&format!("n{number}.md"), "x"));
    let mut client = Client::open(&env, MODERN, &[]);
    for (about, name) in [
        (json!({"type": "ref/resource", "uri": "memdir:///{+path}"}), "path"),
        (json!({"type": "ref/prompt", "name": "what_do_you_know"}), "topic"),
    ] {
        let params = json!({"ref": about, "argument": {"name": name, "value": ""}});
        let answer = client.result("completion/complete", params);
        assert_eq!(answer["completion"]["values"].as_array().unwrap().len(), 100);
        assert_eq!(answer["completion"]["hasMore"], true);
    }
}

/// Another process removes the index while this one has it open.
#[test]
fn what_another_process_forgets_is_gone_from_the_server_too() {
    let env = Env::with(&[("a.md", "the zanzibar plan\n"), ("b.md", "other\n")]);
    let mut client = Client::open(&env, LEGACY[0], &[]);
    let find =
        |client: &mut Client| client.call("search_files", json!({"query": "zanzibar"}))["structuredContent"].clone();
    assert_eq!(find(&mut client)["value"]["hits"][0]["path"], "a.md");
    client.result("resources/subscribe", json!({"uri": address("a.md")}));
    let ran = env.run(&["forget", "--text", "zanzibar", "--yes"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    client.wait_for(|message| updates(message, "a.md"));
    #[cfg(target_os = "linux")]
    assert_eq!(client.removed_files(), Vec::<String>::new());
    assert_eq!(find(&mut client)["value"]["hits"], json!([]));
    client.call("remember", json!({"note": "c.md", "text": "zanzibar again"}));
    assert_eq!(find(&mut client)["value"]["hits"][0]["path"], "c.md");
    assert_eq!(env.read("a.md"), "the  plan\n");
}

/// Nothing that a client could be told of changes then.
#[cfg(target_os = "linux")]
#[test]
fn what_is_forgotten_of_the_past_is_not_kept_by_a_server_that_nobody_asks() {
    let env = Env::with(&[("a.md", "the zanzibar plan\n"), ("b.md", "other\n")]);
    env.act(&json!({"action": "delete_file", "path": "a.md"}));
    let mut client = Client::open(&env, LEGACY[0], &[]);
    client.call("search_files", json!({"query": "other"}));
    // The watch has begun once something was told.
    client.result("resources/subscribe", json!({"uri": address("b.md")}));
    env.write("b.md", "others\n");
    client.wait_for(|message| updates(message, "b.md"));
    client.call("search_files", json!({"query": "others"}));
    let ran = env.run(&["forget", "a.md", "--yes"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let started = std::time::Instant::now();
    while !client.removed_files().is_empty() {
        assert!(started.elapsed() < PATIENCE, "{:?}", client.removed_files());
        std::thread::yield_now();
    }
}

#[test]
fn a_request_to_listen_counts_like_any_other() {
    let env = Env::ada();
    // One to discover, one to listen.
    env.ask(&["client", "add", "desk", "--rate", "2"]).exits(0);
    let mut client = Client::open(&env, MODERN, &["--client", "desk"]);
    let wish = json!({"notifications": {"resourceSubscriptions": [address("user.md")]}});
    let first = client.ask("subscriptions/listen", wish.clone());
    client.wait_for(|message| message["method"] == "notifications/subscriptions/acknowledged");
    let second = client.request("subscriptions/listen", wish);
    assert_eq!(second["error"]["code"], json!(-32029), "{second}");
    // The first goes on.
    replace(&env, "user.md", "newer");
    client.wait_for(|message| updates(message, "user.md"));
    assert!(client.close().rest.iter().all(|message| message["error"].is_null() || message["id"] != json!(first)));
}

/// That nothing is told is no answer: the notes are all there.
#[test]
fn while_the_settings_cannot_be_read_every_request_about_notes_says_so() {
    let env = Env::ada();
    let mut client = Client::open(&env, LEGACY[0], &[]);
    let env = env.settings("zzz = 1\n");
    let completed =
        json!({"ref": {"type": "ref/resource", "uri": "memdir:///{+path}"}, "argument": {"name": "path", "value": ""}});
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": address("user.md")})),
        ("resources/subscribe", json!({"uri": address("user.md")})),
        ("completion/complete", completed),
    ] {
        let answer = client.request(method, params);
        assert_eq!(answer["error"]["data"]["code"], json!("config"), "{method}: {answer}");
    }
    drop(env);
}

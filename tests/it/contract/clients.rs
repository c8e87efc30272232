//! `client`, `install`, `log --client` and `audit readers`: what they print, whole.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout};

use serde_json::{Value, json};

use crate::support::{Env, mask, said};

fn exec(env: &Env, client: &str, actions: &Value) -> Value {
    env.say(&said(actions), &["--client", client]).json()
}

/// Who has read a note: client, door, action.
fn readers(env: &Env, note: &str) -> Vec<String> {
    let found = env.ask(&["audit", "readers", note]).exits(0);
    let reader =
        |reader: &Value| format!("{} {}", reader["client"].as_str().unwrap_or("-"), reader["action"].as_str().unwrap());
    found["readers"].as_array().unwrap().iter().map(reader).collect()
}

#[test]
fn clients_whole() {
    let env = Env::ada();
    let mut added = env
        .ask(&["client", "add", "desk", "--write", "work/**", "--tools", "read_file", "--expires", "2999-12-31"])
        .exits(0);
    let token = added["token"].take();
    added["header"] = json!(added["header"].as_str().unwrap().replace(token.as_str().unwrap(), "…"));
    added["client"]["created"] = json!("…");
    let client = json!({"name": "desk", "read": ["**"], "write": ["work/**"], "actions": ["read_file"],
        "expires": "2999-12-31T00:00:00Z", "expired": false, "rate": null, "may_approve": false, "created": "…"});
    assert_eq!(added, json!({"client": client, "token": null, "header": "Authorization: Bearer …"}));
    let mut listed = env.ask(&["client", "list"]).exits(0);
    listed["clients"][0]["created"] = json!("…");
    assert_eq!(listed, json!({"clients": [client]}));
    assert_eq!(env.ask(&["client", "revoke", "desk"]).exits(0), json!({"revoked": "desk"}));
    assert_eq!(env.ask(&["client", "list"]).exits(0), json!({"clients": []}));
}

#[test]
fn install_whole() {
    let env = Env::ada();
    let file = env.home().join(".codex/config.toml");
    std::fs::create_dir(env.home().join(".codex")).unwrap();
    let (file, memory) = (file.to_str().unwrap(), env.memory().canonicalize().unwrap());
    let entry = format!(
        "[mcp_servers.memdir]\ncommand = \"{}\"\nargs = [\"mcp\", \"--memory\", \"{}\"]\n",
        env!("CARGO_BIN_EXE_memdir"),
        memory.to_str().unwrap()
    );
    let say = "start a new session of Codex, then ask: What do you know about me?";
    let lines: String = entry.lines().map(|line| format!("+{line}\n")).collect();
    let diff = format!("--- /dev/null\n+++ b/config.toml\n@@ -0,0 +1,3 @@\n{lines}");
    assert_eq!(
        env.ask(&["install", "codex", "--yes"]).exits(0),
        json!({"client": "codex", "file": file, "changed": true, "diff": diff, "backup": null, "say": say})
    );
    assert_eq!(
        env.ask(&["install", "codex", "--yes"]).exits(0),
        json!({"client": "codex", "file": file, "changed": false, "diff": "", "backup": null, "say": say})
    );
    assert_eq!(
        env.ask(&["install", "codex", "--print"]).exits(0),
        json!({"client": "codex", "file": file, "entry": entry})
    );
}

#[test]
fn the_log_of_one_client() {
    let env = Env::ada().quick();
    for (client, note) in [("one", "user.md"), ("two", "user.md"), ("one", "entities/acme.md"), ("one", "user.md")] {
        exec(&env, client, &json!([{"action": "append_file", "path": note, "content": "more"}]));
    }
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "nobody"}]));
    let batches = |arguments: &[&str]| {
        let log = env.ask(&[&["log"], arguments].concat()).exits(0);
        let batches: Vec<u64> =
            log["entries"].as_array().unwrap().iter().map(|entry| entry["batch"].as_u64().unwrap()).collect();
        (batches, log["cursor"].clone())
    };
    assert_eq!(batches(&["--client", "one"]), (vec![4, 3, 1], json!(null)));
    assert_eq!(batches(&["--client", "one", "--limit", "2"]), (vec![4, 3], json!("3")));
    assert_eq!(batches(&["--client", "one", "--limit", "2", "--cursor", "3"]), (vec![1], json!(null)));
    assert_eq!(batches(&["user.md", "--client", "one"]), (vec![4, 1], json!(null)));
    assert_eq!(batches(&["user.md", "--client", "one", "--limit", "1"]), (vec![4], json!("4")));
    assert_eq!(batches(&["--client", "three"]), (vec![], json!(null)));
    assert_eq!(batches(&[]).0, [5, 4, 3, 2, 1]);
}

#[test]
fn who_has_read_a_note() {
    let env = Env::ada().quick();
    exec(
        &env,
        "maker",
        &json!([{"action": "create_file", "path": "people/jane.md", "content": "# Jane\n\n- pet: zebra\n"}]),
    );
    let acts = [
        ("a", json!({"action": "read_file", "path": "people/jane.md"})),
        ("b", json!({"action": "read_file", "path": "user.md"})),
        ("c", json!({"action": "go_to_link", "link": "[[jane]]"})),
        ("d", json!({"action": "search_files", "query": "zebra"})),
        ("e", json!({"action": "search_files", "query": "London"})),
        ("f", json!({"action": "get_context", "query": "zebra"})),
        ("g", json!({"action": "copy_file", "path": "people/jane.md", "new_path": "copy.md"})),
        (
            "h",
            json!({"action": "update_file", "path": "people/jane.md", "old_content": "- pet: zebras", "new_content": "x"}),
        ),
        ("i", json!({"action": "list_files"})),
        ("j", json!({"action": "check_file_exists", "path": "people/jane.md"})),
        ("k", json!({"action": "read_file", "path": "people/jan.md"})),
    ];
    for (client, action) in &acts {
        exec(&env, client, &json!([action]));
    }
    env.run(&["read", "people/jane.md"], "");
    let expected = [
        "- read_file",
        "h update_file",
        "g copy_file",
        "f get_context",
        "d search_files",
        "c go_to_link",
        "a read_file",
    ];
    assert_eq!(readers(&env, "people/jane.md"), expected);
    assert_eq!(readers(&env, "entities/acme.md"), [""; 0]);
    let page = env.ask(&["audit", "readers", "people/jane.md", "--limit", "2"]).exits(0);
    let cursor = page["cursor"].as_str().unwrap();
    let keys = json!({"time": "…", "door": "exec", "client": "h", "session": null, "action": "update_file", "seq": page["readers"][1]["seq"]});
    assert_eq!(mask(page.clone())["readers"][1], keys);
    let next = env.ask(&["audit", "readers", "people/jane.md", "--limit", "9", "--cursor", cursor]).exits(0);
    assert_eq!((next["readers"].as_array().unwrap().len(), &next["cursor"]), (5, &json!(null)));
    exec(&env, "a", &json!([{"action": "read_file", "path": "people/jane.md"}]));
    let words = env.run(&["audit", "readers", "people/jane.md"], "").stdout;
    let counts: Vec<&str> = words.lines().filter_map(|line| line.split(", ").next()).collect();
    let expected =
        "a (exec): 2 times|you: once|h (exec): once|g (exec): once|f (exec): once|d (exec): once|c (exec): once";
    assert_eq!(counts.join("|"), expected, "{words}");
    assert!(words.lines().all(|line| line.ends_with(" ago") || line.ends_with("just now")), "{words}");
    let each = env.run(&["audit", "readers", "people/jane.md", "--all"], "").stdout;
    assert!(
        each.lines().count() == 8 && each.lines().nth(2).unwrap().contains("  h (exec)  update_file  entry "),
        "{each}"
    );
    let unknown = env.ask(&["audit", "readers", "people/jan.md"]).exits(4);
    assert_eq!(unknown["error"]["code"], "not_found");
}

#[test]
fn readers_follow_a_note_through_its_names_and_are_forgotten_with_it() {
    let env = Env::new().quick();
    exec(&env, "maker", &json!([{"action": "create_file", "path": "a.md", "content": "first zebra\n"}]));
    exec(&env, "early", &json!([{"action": "read_file", "path": "a.md"}]));
    exec(&env, "maker", &json!([{"action": "rename_file", "path": "a.md", "new_path": "b.md"}]));
    exec(&env, "maker", &json!([{"action": "create_file", "path": "a.md", "content": "second okapi\n"}]));
    exec(&env, "later", &json!([{"action": "read_file", "path": "b.md"}]));
    exec(&env, "other", &json!([{"action": "read_file", "path": "a.md"}]));
    exec(&env, "finder", &json!([{"action": "search_files", "query": "zebra"}]));
    assert_eq!(readers(&env, "b.md"), ["finder search_files", "later read_file", "early read_file"]);
    assert_eq!(readers(&env, "a.md"), ["other read_file"]);
    env.ask(&["forget", "b.md", "--yes"]).exits(0);
    let exported = env.run(&["audit", "export"], "").stdout;
    assert!(!exported.contains("b.md") && !exported.contains("zebra"), "{exported}");
    let read = env.ask(&["audit", "readers", "b.md"]);
    assert!(read.code == 4 || read.json()["readers"] == json!([]), "{read:?}");
}

#[test]
fn a_refusal_is_in_the_account_with_who_asked() {
    let env = Env::ada().quick().settings("[[rule]]\npath = \"entities/**\"\nclient = \"desk\"\nverdict = \"deny\"\n");
    exec(&env, "desk", &json!([{"action": "append_file", "path": "user.md", "content": "more"}]));
    exec(&env, "desk", &json!([{"action": "read_file", "path": "entities/acme.md"}]));
    let exported = env.run(&["audit", "export"], "").stdout;
    let last: Value = serde_json::from_str(exported.lines().last().unwrap()).unwrap();
    let seen = ["client", "action", "code", "permission"].map(|key| last[key].as_str().unwrap());
    assert_eq!(seen, ["desk", "read_file", "denied", "refused"], "{last}");
    assert_eq!(readers(&env, "entities/acme.md"), [""; 0]);
}

/// A server of this test's own, which ends when its input does.
struct Served {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Served {
    fn start(env: &Env, client: &str) -> Self {
        let mut child = env.command(&["mcp", "--client", client]).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut served = Self { child, lines };
        served.ask(
            "initialize",
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        served.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        served
    }

    fn tell(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.tell(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn what_is_revoked_or_added_holds_at_once_in_a_running_server() {
    let env = Env::ada();
    env.ask(&["client", "add", "desk"]).exits(0);
    let mut served = Served::start(&env, "desk");
    let read = json!({"name": "read_file", "arguments": {"path": "user.md"}});
    let answer = served.ask("tools/call", &read);
    assert_eq!(answer["result"]["content"][0]["text"], "# Ada\n\n- city: London\n", "{answer}");
    env.ask(&["client", "revoke", "desk"]).exits(0);
    let answer = served.ask("tools/call", &read);
    assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains("no longer")), "{answer}");
    env.ask(&["client", "add", "desk", "--tools", "list_files"]).exits(0);
    let tools = served.ask("tools/list", &json!({}));
    assert!(tools["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty() && tools.len() < 7), "{tools}");
    let file = env.home().join(".config/memdir/clients.toml");
    std::fs::write(&file, "damaged").unwrap();
    assert!(served.ask("tools/call", &read)["error"].is_object());
    served.end();
}

#[test]
fn who_has_read_is_known_while_a_server_rests() {
    let env = Env::ada();
    let mut client = crate::support::rpc::Client::open(&env, crate::support::rpc::MODERN, &["--tools", "full"]);
    client.call("create_file", json!({"path": "new.md", "content": "new"}));
    client.call("read_file", json!({"path": "user.md"}));
    let start = std::time::Instant::now();
    while readers(&env, "user.md").is_empty() {
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "nothing is written down");
    }
    assert_eq!(client.close().code, 0);
}

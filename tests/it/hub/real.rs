//! Real servers of others, from their registries: what memdir lists and gets is what a few lines of JSON-RPC get from them directly.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};

use super::run;
use crate::docs::root;
use crate::support::{Env, PATIENCE};

/// Where `scripts/mcp-servers` has put them; says why where one of them is missing.
fn installed(programs: &[&str]) -> Option<PathBuf> {
    let folder = root().join("target/mcp-servers");
    let missing = programs.iter().find(|program| !folder.join(program).exists());
    if let Some(missing) = missing {
        eprintln!("skipped: {missing} is not in target/mcp-servers; `scripts/mcp-servers` installs it where it can");
        return None;
    }
    fs::canonicalize(folder).ok()
}

/// A server of another's, as it is started.
struct Real {
    name: &'static str,
    command: Vec<String>,
    env: Vec<(&'static str, String)>,
    calls: Vec<(&'static str, Value)>,
}

impl Real {
    fn new(name: &'static str, command: &[&str]) -> Self {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Self { name, command, env: Vec::new(), calls: Vec::new() }
    }

    fn env(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    fn calls(mut self, calls: Vec<(&'static str, Value)>) -> Self {
        self.calls = calls;
        self
    }
}

/// The server, spoken to directly: JSON-RPC in lines, by nothing of ours.
struct Direct {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    next: u64,
}

impl Direct {
    fn start(real: &Real, folder: &Path) -> Self {
        let mut command = Command::new(&real.command[0]);
        command.args(&real.command[1..]).envs(real.env.iter().map(|(name, value)| (name, value))).current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut direct = Self { child, input, lines, next: 1 };
        let info = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}, "url": {}}}, "clientInfo": {"name": "test", "version": "1"}});
        direct.ask("initialize", &info);
        direct.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        direct
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
        self.input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{method}: {error}"));
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            // Nobody is there to answer, as where `memdir tools call` runs without a terminal.
            if message["method"] == "elicitation/create" {
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "decline"}}));
            }
        }
    }

    fn tools(&mut self) -> BTreeMap<String, Value> {
        let answer = self.ask("tools/list", &json!({}));
        assert!(answer["result"].get("nextCursor").is_none());
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool)).collect()
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What of a result is the tool's own word, with times and what is new each time masked.
fn masked(result: &Value) -> Value {
    let own = json!({"content": result["content"], "structuredContent": result["structuredContent"], "isError": result["isError"].as_bool().unwrap_or(false)});
    let changing = Regex::new(r"\d{1,2}:\d\d:\d\d [AP]M|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\\]{0,10}?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d|\b[0-9a-f]{40}\b|(?i:monday|tuesday|wednesday|thursday|friday|saturday|sunday)").unwrap();
    // A blob of this server ends in the time of day, and so does its text.
    let blob = Regex::new(r#""blob":"([A-Za-z0-9+/]{60})[^"]*""#).unwrap();
    let text = own.to_string();
    let text = blob.replace_all(&text, r#""blob":"$1""#);
    serde_json::from_str(&changing.replace_all(&text, "…")).unwrap()
}

fn env() -> Env {
    super::env().set("HUB_SECRET", "never-handed-on")
}

/// Adds a server, and lets its tools be called.
fn added(env: &Env, real: &Real) {
    let variables: Vec<String> = real.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut arguments = vec!["add", real.name, "--yes", "--timeout", "120"];
    variables.iter().for_each(|variable| arguments.extend(["--env", variable]));
    arguments.push("--");
    arguments.extend(real.command.iter().map(String::as_str));
    let added = run(env, &arguments).exits(0);
    assert_eq!(added["server"]["approved"], true, "{added}");
    run(env, &["allow", real.name]).exits(0);
}

/// All that memdir says of a server's tools is what the server says, and each call gives what the server gives. `prepare` makes what
/// the server works on as it was before.
fn same(env: &Env, real: &Real, prepare: &dyn Fn()) {
    prepare();
    let mut direct = Direct::start(real, &env.home());
    let tools = direct.tools();
    let expected: Vec<Value> = real
        .calls
        .iter()
        .map(|(tool, arguments)| direct.ask("tools/call", &json!({"name": tool, "arguments": arguments})))
        .collect();
    drop(direct);
    let called: std::collections::BTreeSet<&str> = real.calls.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(called, tools.keys().map(String::as_str).collect(), "{}: each tool is called", real.name);

    prepare();
    added(env, real);
    let shown = run(env, &["show", real.name]).exits(0);
    let rows = shown["tools"].as_array().unwrap();
    assert_eq!(rows.len(), tools.len(), "{shown}");
    for row in rows {
        let tool = &tools[row["own"].as_str().unwrap()];
        assert_eq!(row["description"], tool["description"], "{}", real.name);
        assert_eq!(row["name"], format!("{}__{}", real.name, tool["name"].as_str().unwrap()));
    }
    for ((tool, arguments), expected) in real.calls.iter().zip(&expected) {
        let name = format!("{}__{tool}", real.name);
        let ran = run(env, &["call", &name, &arguments.to_string()]);
        let got = ran.json();
        if *tool == "get-env" {
            let text = got["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("\"HOME\"") && !text.contains("never-handed-on"), "{text}");
        } else if let Some(error) = expected.get("error") {
            assert_eq!(ran.code, 4, "{name}: {ran:?}");
            assert!(
                got["error"]["message"].as_str().unwrap().contains(error["message"].as_str().unwrap()),
                "{name}: {got}"
            );
        } else {
            let result = &expected["result"];
            assert_eq!(masked(&got), masked(result), "{name}");
            assert_eq!(ran.code, if result["isError"] == true { 4 } else { 0 }, "{name}: {ran:?}");
        }
    }
}

#[test]
fn everything_that_a_server_can_say_comes_as_it_is() {
    let Some(servers) = installed(&["node_modules/.bin/mcp-server-everything"]) else { return };
    let program = servers.join("node_modules/.bin/mcp-server-everything");
    let real = Real::new("everything", &[program.to_str().unwrap()]).calls(vec![
        ("echo", json!({"message": "é \u{1f600} \"quoted\"\nline"})),
        ("echo", json!({})),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        ("get-env", json!({})),
        ("get-resource-links", json!({"count": 2})),
        ("get-resource-reference", json!({"resourceType": "Blob", "resourceId": 2})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-sum", json!({"a": 0.1, "b": 0.2})),
        ("get-tiny-image", json!({})),
        ("gzip-file-as-resource", json!({"name": "a.gz", "data": "data:text/plain,hello"})),
        ("toggle-simulated-logging", json!({})),
        ("toggle-subscriber-updates", json!({})),
        ("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2})),
        ("trigger-elicitation-request", json!({})),
        (
            "trigger-url-elicitation",
            json!({"url": "https://example.com/login", "message": "Log in.", "elicitationId": "one"}),
        ),
        ("simulate-research-query", json!({"topic": "tea"})),
    ]);
    same(&env(), &real, &|| ());
}

#[test]
fn files_are_read_and_written_by_a_server() {
    let Some(servers) = installed(&["node_modules/.bin/mcp-server-filesystem"]) else { return };
    let env = env();
    let folder = env.base().join("files");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let program = servers.join("node_modules/.bin/mcp-server-filesystem");
    let real = Real::new("filesystem", &[program.to_str().unwrap(), folder.to_str().unwrap()]).calls(vec![
        ("list_allowed_directories", json!({})),
        ("write_file", json!({"path": at("new.txt"), "content": "one\ntwo\nthree\n"})),
        ("read_file", json!({"path": at("new.txt"), "tail": 1})),
        ("read_text_file", json!({"path": at("new.txt"), "head": 2})),
        ("read_media_file", json!({"path": at("dot.png")})),
        ("read_multiple_files", json!({"paths": [at("new.txt"), at("none.txt")]})),
        ("edit_file", json!({"path": at("new.txt"), "edits": [{"oldText": "two", "newText": "2"}]})),
        ("create_directory", json!({"path": at("below")})),
        ("move_file", json!({"source": at("new.txt"), "destination": at("below/moved.txt")})),
        ("list_directory", json!({"path": at("")})),
        ("list_directory_with_sizes", json!({"path": at("below")})),
        ("directory_tree", json!({"path": at("")})),
        ("search_files", json!({"path": at(""), "pattern": "**/*.txt"})),
        ("get_file_info", json!({"path": at("dot.png")})),
        ("read_text_file", json!({"path": "/etc/passwd"})),
    ]);
    same(&env, &real, &|| {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("dot.png"), [137, 80, 78, 71]).unwrap();
    });
    assert_eq!(fs::read_to_string(folder.join("below/moved.txt")).unwrap(), "one\n2\nthree\n");
}

fn graph() -> Vec<(&'static str, Value)> {
    let entity = |name: &str| json!({"name": name, "entityType": "person", "observations": ["likes tea"]});
    let relation = json!([{"from": "ada", "to": "bo", "relationType": "knows"}]);
    vec![
        ("create_entities", json!({"entities": [entity("ada"), entity("bo")]})),
        ("create_relations", json!({"relations": relation})),
        ("add_observations", json!({"observations": [{"entityName": "ada", "contents": ["lives in Porto"]}]})),
        ("read_graph", json!({})),
        ("search_nodes", json!({"query": "porto"})),
        ("open_nodes", json!({"names": ["bo"]})),
        ("delete_observations", json!({"deletions": [{"entityName": "ada", "observations": ["likes tea"]}]})),
        ("delete_relations", json!({"relations": relation})),
        ("delete_entities", json!({"entityNames": ["bo"]})),
        ("add_observations", json!({"observations": [{"entityName": "nobody", "contents": ["x"]}]})),
    ]
}

#[test]
fn another_memory_and_a_thought_are_servers_too() {
    let programs = ["node_modules/.bin/mcp-server-memory", "node_modules/.bin/mcp-server-sequential-thinking"];
    let Some(servers) = installed(&programs) else { return };
    let env = env();
    let file = env.base().join("graph.jsonl");
    let program = servers.join(programs[0]);
    let memory =
        Real::new("graph", &[program.to_str().unwrap()]).env("MEMORY_FILE_PATH", file.to_str().unwrap()).calls(graph());
    same(&env, &memory, &|| {
        let _ = fs::remove_file(&file);
    });
    let program = servers.join(programs[1]);
    let thought = json!({"thought": "first", "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 2});
    same(
        &env,
        &Real::new("thinking", &[program.to_str().unwrap()]).calls(vec![("sequentialthinking", thought)]),
        &|| (),
    );
}

#[test]
fn servers_of_the_newest_protocol_tell_the_time_and_read_a_repository() {
    let programs = ["venv/bin/mcp-server-time", "venv/bin/mcp-server-git"];
    let Some(servers) = installed(&programs) else { return };
    let env = env();
    let program = servers.join(programs[0]);
    let convert = |target: &str| json!({"source_timezone": "Etc/UTC", "time": "16:30", "target_timezone": target});
    let time = Real::new("time", &[program.to_str().unwrap()]).calls(vec![
        ("get_current_time", json!({"timezone": "Asia/Tokyo"})),
        ("convert_time", convert("Asia/Tokyo")),
        ("convert_time", convert("Nowhere/Land")),
    ]);
    same(&env, &time, &|| ());
    let looked = run(&env, &["doctor", "time"]).exits(0);
    assert_eq!(looked["servers"][0]["protocol"], "2026-07-28", "{looked}");

    let folder = env.base().join("repository");
    let program = servers.join(programs[1]);
    let at = |more: Value| {
        let mut arguments = more;
        arguments["repo_path"] = folder.to_str().unwrap().into();
        arguments
    };
    let git = Real::new("git", &[program.to_str().unwrap()])
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", "user.name")
        .env("GIT_CONFIG_VALUE_0", "Ada")
        .env("GIT_CONFIG_KEY_1", "user.email")
        .env("GIT_CONFIG_VALUE_1", "ada@example.com")
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .calls(vec![
            ("git_status", at(json!({}))),
            ("git_diff_unstaged", at(json!({}))),
            ("git_add", at(json!({"files": ["a.txt"]}))),
            ("git_diff_staged", at(json!({}))),
            ("git_commit", at(json!({"message": "second"}))),
            ("git_log", at(json!({"max_count": 5}))),
            ("git_show", at(json!({"revision": "HEAD"}))),
            ("git_create_branch", at(json!({"branch_name": "side"}))),
            ("git_checkout", at(json!({"branch_name": "side"}))),
            ("git_diff", at(json!({"target": "HEAD~1"}))),
            ("git_branch", at(json!({"branch_type": "local"}))),
            ("git_reset", at(json!({}))),
            ("git_show", at(json!({"revision": "no-such"}))),
        ]);
    same(&env, &git, &|| {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a.txt"), "one\n").unwrap();
        let script = "git init -q -b main && git add . && git -c user.name=Ada -c user.email=ada@example.com commit -q -m first && echo two >> a.txt";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(&folder).envs(git_dates());
        assert!(shell.status().unwrap().success());
    });
}

fn git_dates() -> [(&'static str, &'static str); 2] {
    [("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")]
}

/// A server that listens on a port of this machine, which it says itself.
struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    fn start(servers: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = Command::new("node");
        command.arg("--import").arg(servers.join("loopback.mjs")).args(arguments).envs(env.iter().copied());
        command.env("PORT", "0").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // What it starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, ports) = channel();
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if let Some((_, port)) = line.split_once("listening on 127.0.0.1:") {
                    let _ = sender.send(port.trim().parse().unwrap());
                }
            }
        });
        let port = ports.recv_timeout(Duration::from_secs(60)).expect("it does not listen");
        Self { child, port }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.child),
            rustix::process::Signal::KILL,
        );
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the same server says on its standard output is what it says over HTTP.
#[test]
fn servers_over_http_and_over_events_answer_the_same() {
    let programs = [
        "loopback.mjs",
        "node_modules/.bin/mcp-server-everything",
        "node_modules/.bin/mcp-server-memory",
        "node_modules/.bin/supergateway",
    ];
    let Some(servers) = installed(&programs) else { return };
    let env = env();
    let everything = servers.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let http = Listening::start(&servers, &[everything.to_str().unwrap(), "streamableHttp"], &[]);
    let url = format!("http://127.0.0.1:{}/mcp", http.port);
    run(&env, &["add", "web", "--yes", "--url", &url]).exits(0);
    let real = Real::new("plain", &[servers.join(programs[1]).to_str().unwrap()]);
    let mut direct = Direct::start(&real, &env.home());
    let (tools, shown) = (direct.tools(), run(&env, &["show", "web"]).exits(0));
    let names: Vec<&str> =
        shown["tools"].as_array().unwrap().iter().map(|tool| tool["own"].as_str().unwrap()).collect();
    assert_eq!(names.len(), tools.len());
    assert!(names.iter().all(|name| tools.contains_key(*name)), "{names:?}");
    for (tool, arguments) in [
        ("get-sum", json!({"a": 1, "b": 2})),
        ("get-tiny-image", json!({})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("echo", json!({})),
    ] {
        let got = run(&env, &["call", &format!("web__{tool}"), &arguments.to_string(), "--yes"]).json();
        let expected = direct.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(masked(&got), masked(&expected["result"]), "{tool}");
    }
    drop(http);
    let gone = run(&env, &["call", "web__echo", "{\"message\":\"x\"}", "--yes"]).exits(4);
    assert_eq!(gone["error"]["code"], "unavailable", "{gone}");

    let (ours, theirs) = (env.base().join("ours.jsonl"), env.base().join("theirs.jsonl"));
    let program = servers.join(programs[2]);
    let gateway = servers.join("node_modules/supergateway/dist/index.js");
    let gateway = [
        gateway.to_str().unwrap(),
        "--stdio",
        program.to_str().unwrap(),
        "--outputTransport",
        "sse",
        "--port",
        "0",
        "--logLevel",
        "none",
    ];
    let sse = Listening::start(&servers, &gateway, &[("MEMORY_FILE_PATH", ours.to_str().unwrap())]);
    let url = format!("http://127.0.0.1:{}/sse", sse.port);
    run(&env, &["add", "events", "--yes", "--url", &url, "--sse"]).exits(0);
    let real = Real::new("graph", &[program.to_str().unwrap()]).env("MEMORY_FILE_PATH", theirs.to_str().unwrap());
    let mut direct = Direct::start(&real, &env.home());
    for (tool, arguments) in graph() {
        let got = run(&env, &["call", &format!("events__{tool}"), &arguments.to_string(), "--yes"]).json();
        let expected = direct.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(masked(&got), masked(&expected["result"]), "{tool}");
    }
}

#[test]
fn a_server_that_dies_at_start_costs_its_own_tools_and_nothing_else() {
    let Some(servers) = installed(&["venv/bin/mcp-server-sqlite", "venv/bin/mcp-server-time"]) else { return };
    let env = env();
    let at = |name: &str| servers.join("venv/bin").join(name).to_str().unwrap().to_owned();
    let dead = run(&env, &["add", "sqlite", "--yes", "--", &at("mcp-server-sqlite")]).exits(4);
    assert_eq!(dead["server"]["problem"]["code"], "unavailable", "{dead}");
    let time = Real::new("time", &[&at("mcp-server-time")]);
    added(&env, &time);
    let looked = run(&env, &["doctor"]).exits(4);
    let oks: Vec<(&str, bool)> = looked["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["ok"].as_bool().unwrap()))
        .collect();
    assert_eq!(oks, [("sqlite", false), ("time", true)]);
    // Why it died is what it said itself.
    assert!(looked["servers"][0]["stderr"].to_string().contains("Error"), "{looked}");
}

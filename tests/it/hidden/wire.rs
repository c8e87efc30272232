//! The same over the protocol: whatever a client asks of a server, and whatever it hears without asking.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Arc, Mutex};

use memdir_engine::Engine;
use memdir_mcp::{Client, Options, Register, Server, ToolGrant, ToolSet, serve_streams};
use memdir_policy::{Grant, Mode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::words::{self, Dice, PATHS};
use super::world::{GRANTS, Hidden, World, grant};
use super::{difference, masked};
use crate::support::{PATIENCE, number};

const NEWEST: &str = "2026-07-28";
/// The version in which a client subscribes to one note after the other.
const OLD: &str = "2025-06-18";
/// How many requests are sent to each pair of servers.
const REQUESTS: usize = 60;

/// A server of a memory, and the one client that it has.
struct Line {
    folder: TempDir,
    server: Arc<Server>,
    granted: Arc<Mutex<Arc<Grant>>>,
    runtime: Runtime,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    version: &'static str,
    next: u64,
    /// What was heard without asking.
    heard: Vec<Value>,
    /// What it was told when it connected: what the notes say of the person is in it.
    greeting: Value,
}

impl Line {
    fn open(folder: TempDir, engine: Engine, grant: &Grant, options: &Options, version: &'static str) -> Self {
        let granted = Arc::new(Mutex::new(Arc::new(grant.clone())));
        let now = Arc::clone(&granted);
        let client = move |_: memdir_mcp::Claim<'_>| {
            let grant = Some(now.lock().unwrap().clone());
            Ok(Client { name: "shelf".to_owned(), grant, tools: ToolGrant::default(), rate: None, may_approve: true })
        };
        let server = Server::new(engine, options.clone(), Arc::new(Register::new(client))).unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(ours);
        let served = Arc::clone(&server);
        runtime.spawn(async move {
            let (read, write) = tokio::io::split(theirs);
            serve_streams(served, Some("shelf".to_owned()), (read, write), CancellationToken::new()).await;
        });
        let read = BufReader::new(read).lines();
        let mut line = Self {
            folder,
            server,
            granted,
            runtime,
            read,
            write,
            version,
            next: 1,
            heard: Vec::new(),
            greeting: Value::Null,
        };
        if version == OLD {
            let info = json!({"name": "it", "version": "1"});
            line.greeting = line.ask(
                "initialize",
                json!({"protocolVersion": OLD, "capabilities": {"elicitation": {}}, "clientInfo": info}),
            );
            line.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        } else {
            line.greeting = line.ask("server/discover", json!({}));
        }
        line
    }

    fn send(&mut self, message: &Value) {
        self.runtime.block_on(self.write.write_all(format!("{message}\n").as_bytes())).unwrap();
    }

    /// Sends a request that is answered later, or never.
    fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.version == NEWEST {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.until(|message| message["id"] == json!(id))
    }

    /// The next message of this kind; what comes before it was heard.
    #[track_caller]
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, self.read.next_line()).await });
            let line = line.expect("the server says nothing").unwrap().expect("the server has ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_it(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// How an argument that was begun could go on.
    #[track_caller]
    fn complete(&mut self, of: &Value, argument: &str, begun: &str) -> Value {
        let params = json!({"ref": of, "argument": {"name": argument, "value": begun}});
        self.ask("completion/complete", params)["result"]["completion"]["values"].clone()
    }

    /// The names of the notes that are listed as resources.
    #[track_caller]
    fn resources(&mut self) -> Vec<String> {
        let answer = self.ask("resources/list", json!({}));
        let listed = answer["result"]["resources"].as_array().unwrap();
        listed.iter().map(|note| note["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.server.finish();
    }
}

fn options(tools: ToolSet, mode: Mode) -> Options {
    Options { tools, read_only: false, mode, hub: None }
}

fn line(grant: &Grant, hidden: Hidden, options: &Options, version: &'static str) -> Line {
    let World { folder, engine, .. } = World::new(grant, hidden);
    Line::open(folder, engine, grant, options, version)
}

fn address(dice: &mut Dice) -> String {
    let path = dice.path(true);
    match dice.below(12) {
        0 => format!("memdir:///../{path}"),
        1 => path,
        _ => format!("memdir:///{path}"),
    }
}

/// A request that could tell of what is hidden.
fn request(dice: &mut Dice) -> (&'static str, Value) {
    match dice.below(18) {
        0 if dice.below(2) == 0 => ("server/discover", json!({})),
        0 => ("tools/list", json!({})),
        16 => ("tools/call", json!({"name": "search", "arguments": {"query": dice.one(words::WORDS)}})),
        17 => ("tools/call", json!({"name": "fetch", "arguments": {"id": dice.path(true)}})),
        1 | 2 => ("resources/list", json!({})),
        3 => ("resources/list", json!({"cursor": dice.path(true)})),
        4 => ("resources/templates/list", json!({})),
        5 | 6 => ("resources/read", json!({"uri": address(dice)})),
        7 | 8 => {
            let path = dice.path(true);
            let begun = path.chars().take(dice.below(path.len().min(12) + 1)).collect::<String>();
            let of = if dice.below(2) == 0 {
                json!({"ref": {"type": "ref/resource", "uri": "memdir:///{+path}"}, "argument": {"name": "path", "value": begun}})
            } else {
                json!({"ref": {"type": "ref/prompt", "name": "what_do_you_know"}, "argument": {"name": "topic", "value": begun}})
            };
            ("completion/complete", of)
        }
        9 => ("prompts/list", json!({})),
        10 => ("prompts/get", json!({"name": "what_do_you_know", "arguments": {"topic": dice.path(true)}})),
        11 => ("resources/subscribe", json!({"uri": address(dice)})),
        12 => ("resources/unsubscribe", json!({"uri": address(dice)})),
        13 => {
            let calls: Vec<Value> = (0..=dice.below(3)).map(|_| words::action(dice)).collect();
            let atomic = dice.below(3) == 0;
            ("tools/call", json!({"name": "run_actions", "arguments": {"actions": calls, "atomic": atomic}}))
        }
        14 if dice.below(3) > 0 => ("tools/call", json!({"name": "memory", "arguments": words::command(dice)})),
        14 => ("tools/call", json!({"name": dice.path(true), "arguments": {"path": dice.path(true)}})),
        _ => {
            let mut call = words::action(dice);
            let arguments = call.as_object_mut().unwrap();
            let name = arguments.remove("action").unwrap();
            if dice.below(2) == 0 {
                arguments.remove("assign_to");
            }
            ("tools/call", json!({"name": name, "arguments": call}))
        }
    }
}

#[test]
fn no_answer_of_a_server_differs_by_what_is_hidden() {
    let from = number("HIDDEN_FROM", 0);
    for seed in from..from + number("HIDDEN_LINES", 24) {
        let mut dice = Dice::new(seed + 77);
        let globs = GRANTS[usize::try_from(seed).unwrap() % GRANTS.len()];
        let grant = grant(globs);
        let other = *dice.one(&[Hidden::Notes, Hidden::Much]);
        let mode = *dice.one(&[Mode::Off, Mode::Flag, Mode::Ask]);
        let tools = *dice.one(&[ToolSet::Compact, ToolSet::Full, ToolSet::Full, ToolSet::Memory, ToolSet::Chatgpt]);
        let options = options(tools, mode);
        let version = *dice.one(&[OLD, NEWEST]);
        let mut first = line(&grant, Hidden::Nothing, &options, version);
        let mut second = line(&grant, other, &options, version);
        assert!(first.greeting["result"]["instructions"].is_string(), "{}", first.greeting);
        assert_eq!(masked(&first.greeting.to_string()), masked(&second.greeting.to_string()), "seed {seed}, {globs:?}");
        for turn in 0..REQUESTS {
            let (method, params) = request(&mut dice);
            let answer = |line: &mut Line| masked(&line.ask(method, params.clone()).to_string());
            let answers = (answer(&mut first), answer(&mut second));
            assert!(
                answers.0 == answers.1,
                "seed {seed}, turn {turn}, {globs:?}, {other:?}, {mode:?}, {tools:?}, {version}:\n{method} {params}\n\n{}",
                difference(&answers.0, &answers.1)
            );
        }
    }
}

#[test]
fn nothing_is_heard_of_what_changes_where_a_client_does_not_see() {
    let grant = grant((&["work/**", "lib/**", "user.md"], &[]));
    for version in [OLD, NEWEST] {
        let mut line = line(&grant, Hidden::Notes, &options(ToolSet::Full, Mode::Off), version);
        let addresses: Vec<String> = PATHS.iter().map(|path| format!("memdir:///{path}")).collect();
        if version == OLD {
            for address in &addresses {
                line.ask("resources/subscribe", json!({"uri": address}));
            }
            line.resources();
        } else {
            let wish = json!({"resourceSubscriptions": addresses, "resourcesListChanged": true});
            line.begin("subscriptions/listen", json!({"notifications": wish}));
            line.until(|message| message["method"] == "notifications/subscriptions/acknowledged");
            // The first who listens is told so, whatever has happened.
            line.until(|message| message["method"] == "notifications/resources/list_changed");
        }
        let folder = line.folder.path().to_owned();
        let at = |path: &str| folder.join(path);
        let is_of = |message: &Value, path: &str| {
            message["method"] == "notifications/resources/updated"
                && message["params"]["uri"] == format!("memdir:///{path}")
        };
        // Once something is heard, the watcher works; what changed before is told with it.
        fs::write(at("user.md"), "# The first that changes\n").unwrap();
        line.until(|message| is_of(message, "user.md"));
        line.heard.clear();
        fs::write(at("private/plan.md"), "# Other\n").unwrap();
        fs::write(at("private/diary.md"), "# Other, behind a link that is seen\n").unwrap();
        fs::write(at("private/pub-new.md"), "new").unwrap();
        fs::remove_file(at("boss.md")).unwrap();
        fs::rename(at("private2"), at("private3")).unwrap();
        fs::create_dir_all(at("zz/more")).unwrap();
        fs::write(at("zz/more/3.md"), "new").unwrap();
        // What belongs to one moment is told together; all of it has come once something of a later one has.
        for (path, text) in [("work/plan.md", "# Plan\n"), ("user.md", "# The last that changes\n")] {
            fs::write(at(path), text).unwrap();
            line.until(|message| is_of(message, path));
        }
        // A change that the client sees may be told twice.
        line.heard.retain(|message| !is_of(message, "user.md") && !is_of(message, "work/plan.md"));
        assert!(line.heard.is_empty(), "{version}: {:?}", line.heard);
    }
}

/// Checks that resources, completions and subscriptions tell of those notes alone that the tools tell of.
#[track_caller]
fn check_told(actions: Option<&[&str]>, mode: Mode, hidden: &[&str]) {
    let all = ["**".to_owned()];
    let actions = actions.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    let grant = Grant::new(&all, &all, actions.as_deref()).unwrap();
    let mut line = line(&grant, Hidden::Notes, &options(ToolSet::Full, mode), OLD);
    let answer = line.call("list_files", &json!({}));
    let listed = answer["result"]["structuredContent"]["value"].as_array().cloned().unwrap_or_default();
    let listed: Vec<String> = listed.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert_eq!(line.resources(), listed, "{answer}");
    for path in hidden {
        let of = json!({"type": "ref/resource", "uri": "memdir:///{+path}"});
        let completed = line.complete(&of, "path", path);
        assert_eq!(completed, json!([]), "{path}");
        let stem = path.rsplit('/').next().unwrap().trim_end_matches(".md");
        let stems = listed.iter().map(|name| name.rsplit('/').next().unwrap().trim_end_matches(".md"));
        let stems: BTreeSet<&str> = stems.filter(|other| other.starts_with(stem)).collect();
        let completed = line.complete(&json!({"type": "ref/prompt", "name": "what_do_you_know"}), "topic", stem);
        assert_eq!(completed, json!(stems), "{path}");
        let subscribed = line.ask("resources/subscribe", json!({"uri": format!("memdir:///{path}")}));
        assert_eq!(subscribed["error"]["code"], json!(-32002), "{path}: {subscribed}");
    }
}

#[test]
fn what_a_rule_or_the_tools_keep_from_a_client_is_no_resource_either() {
    check_told(None, Mode::Off, &["private/deep/er/user.md"]);
    check_told(None, Mode::Ask, &["private/deep/er/user.md", "work/log/2024.md"]);
    check_told(Some(&["append_file", "list_files"]), Mode::Ask, &["work/log/2024.md"]);
    check_told(Some(&["append_file"]), Mode::Off, &["user.md"]);
}

#[test]
fn what_a_person_answers_counts_no_more_once_their_client_sees_a_part_alone() {
    let all = ["**".to_owned()];
    let whole = Grant::new(&all, &all, None).unwrap();
    for is_narrowed in [false, true] {
        let mut line = line(&whole, Hidden::Notes, &options(ToolSet::Full, Mode::Ask), OLD);
        let personal = json!({"path": "work/new.md", "content": "- phone: +44 20 7946 0958\n"});
        let call = line.begin("tools/call", json!({"name": "create_file", "arguments": personal}));
        let asked = line.until(|message| message["method"] == "elicitation/create");
        if is_narrowed {
            *line.granted.lock().unwrap() = Arc::new(grant((&["work/**"], &["work/**"])));
        }
        let approved = json!({"action": "accept", "content": {"decision": "approve"}});
        line.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": approved}));
        let answer = line.until(|message| message["id"] == json!(call) && message.get("method").is_none());
        assert_eq!(answer["result"]["isError"], json!(is_narrowed), "{answer}");
        assert_eq!(line.folder.path().join("work/new.md").exists(), !is_narrowed);
    }
}

//! What a client sees and hears of other servers' tools. What these answer is written here, so that it can be compared byte by byte.

#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    Claim, HttpOptions, Options, Register, Server, ToolGrant, ToolSet, Unknown, lock, serve_http, serve_streams,
};
use memdir_core::time::Timestamp;
use memdir_engine::{Engine, InboxPlace, IndexPlace, Settings};
use memdir_plan::Limits;
use memdir_policy::{Grant, Mode, Rules};
use memdir_tools::{CallEvents, Elicitation, ElicitationAnswer, Progress, ServerName, ServerState, ToolName};
use memdir_vault::{AuditQuery, Vault};

const NEWEST: &str = "2026-07-28";
const OLDER: &str = "2025-11-25";
const OLDEST: &str = "2025-03-26";

/// What `whole` answers: all that the protocol has, and members that it does not have.
const WHOLE: &str = r#"{"z":[1,2.5,null,{"b":1,"a":2}],"content":[{"type":"text","text":"Grüße\u0000\n","annotations":{"audience":["user"],"x":1},"y":2},{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"k":"v"}},{"type":"audio","data":"BBBB","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"file:///a","text":"t","more":true}},{"type":"resource_link","uri":"file:///b","name":"b"},{"type":"hologram","layers":3}],"structuredContent":{"b":{"c":[true]},"a":1e300},"isError":true,"_meta":{"trace":"t","n":9007199254740993}}"#;

/// Another server's tools, which do what a test wants.
struct Fake {
    /// The thread of the test, on which all connections are waited for.
    home: std::thread::ThreadId,
    tools: Mutex<Arc<[Tool]>>,
    heard: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
    /// The calls that came, by the names of their tools.
    calls: Mutex<Vec<(String, Value)>>,
    /// Tells that a call was cancelled.
    cancelled: Mutex<Option<mpsc::Sender<()>>>,
}

impl std::fmt::Debug for Fake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Fake")
    }
}

fn tool(server: &str, own: &str, more: &Value) -> Tool {
    let server = ServerName::parse(server).unwrap();
    let mut definition = json!({"name": own, "description": format!("Does {own}."), "inputSchema": {"type": "object"}});
    definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Tool {
        name: ToolName::of(&server, own),
        server,
        own: own.to_owned(),
        definition: definition.as_object().unwrap().clone(),
        permission: Permission::Allow,
        pin: PinState::Approved,
    }
}

fn fleet() -> Vec<Tool> {
    let none = json!({});
    let mut tools = vec![
        tool("files", "read_file", &json!({"outputSchema": {"type": "array"}, "execution": {"x": [1]}, "z": null})),
        tool("files", "whole", &none),
        tool("post", "ask", &none),
        tool("post", "careful", &none),
        tool("post", "changed", &none),
        tool("post", "denied", &none),
        tool("post", "long", &none),
        tool("post", "progress", &none),
        tool("post", "slow", &none),
        tool("post", "visit", &none),
    ];
    for tool in &mut tools {
        match tool.own.as_str() {
            "careful" => tool.permission = Permission::Ask,
            "denied" => tool.permission = Permission::Deny,
            "changed" => tool.pin = PinState::Changed,
            _ => {}
        }
    }
    tools
}

impl Fake {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            home: std::thread::current().id(),
            tools: Mutex::new(fleet().into()),
            heard: Mutex::default(),
            calls: Mutex::default(),
            cancelled: Mutex::default(),
        })
    }

    /// Has other tools from now on.
    fn change(&self, change: impl FnOnce(&mut Vec<Tool>)) {
        let mut tools = lock(&self.tools).to_vec();
        change(&mut tools);
        *lock(&self.tools) = tools.into();
        lock(&self.heard).iter().for_each(|heard| heard());
    }
}

impl Toolbox for Fake {
    fn servers(&self) -> Vec<ServerState> {
        Vec::new()
    }

    fn tools(&self) -> Arc<[Tool]> {
        assert_ne!(std::thread::current().id(), self.home, "a toolbox reads files");
        Arc::clone(&lock(&self.tools))
    }

    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        lock(&self.calls).push((call.tool.to_string(), Value::Object(call.arguments.clone())));
        let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
        let result = match call.tool.as_str() {
            "files__whole" => serde_json::from_str(WHOLE).unwrap(),
            "post__ask" | "post__visit" => {
                let params = match call.tool.as_str() {
                    "post__ask" => {
                        json!({"requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}}})
                    }
                    _ => json!({"url": "https://example.org/login", "elicitationId": "e1"}),
                };
                let asked = Elicitation {
                    message: "which day\u{202e}?".to_owned(),
                    params: params.as_object().unwrap().clone(),
                };
                text(match events.elicit(&asked) {
                    ElicitationAnswer::Accept(content) => format!("accept {}", Value::Object(content)),
                    ElicitationAnswer::Decline => "decline".to_owned(),
                    ElicitationAnswer::Cancel => "cancel".to_owned(),
                })
            }
            "post__long" => text("ü".repeat(MOST_TOLD)),
            "post__progress" => {
                events.progress(&Progress { progress: 1.0, total: Some(2.0), message: Some("half".to_owned()) });
                text("done".to_owned())
            }
            "post__slow" => {
                while !stop.is_cancelled() {
                    std::thread::yield_now();
                }
                if let Some(told) = lock(&self.cancelled).take() {
                    told.send(()).unwrap();
                }
                return Err(CallError::Cancelled);
            }
            name => text(name.to_owned()),
        };
        let result = result.as_object().unwrap().clone();
        Ok(ToolAnswer { result, is_cached: false, took: Duration::ZERO })
    }

    fn on_change(&self, heard: Box<dyn Fn() + Send + Sync>) {
        lock(&self.heard).push(heard);
    }
}

/// A memory, served with the tools of a fake.
struct Site {
    _folder: tempfile::TempDir,
    fake: Arc<Fake>,
    server: Arc<Server>,
    grants: Arc<Mutex<BTreeMap<String, ToolGrant>>>,
}

impl Site {
    fn new(offered: HubOffer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
        dir.write("user.md", "the memory's own").unwrap();
        let settings = Settings {
            limits: Limits::default(),
            batch_actions: 100,
            batch_time: Duration::from_secs(30),
            rules: Rules::default(),
            index: IndexPlace::Nowhere,
            inbox: InboxPlace::Process,
            past_status: Vec::new(),
            archive: Vec::new(),
            pinned: Vec::new(),
            keep_proposals: Duration::from_secs(60),
            clock: || Timestamp::from_seconds(1_800_000_000),
        };
        let engine = Engine::new(Vault::open(dir, root, memdir_vault::Options::default()).unwrap(), settings);
        let (fake, grants) = (Fake::new(), Arc::new(Mutex::new(BTreeMap::new())));
        let known = Arc::clone(&grants);
        let register = Register::new(move |claim| {
            let (Claim::Name(name) | Claim::Token(name)) = claim;
            let tools = lock(&known).get(name).cloned().ok_or(Unknown)?;
            let grant = Grant::new(&["**".to_owned()], &[], None).unwrap();
            let rate = NonZeroU32::new(3).filter(|_| name == "slow");
            Ok(Client {
                name: name.to_owned(),
                grant: Some(Arc::new(grant)),
                tools,
                rate,
                may_approve: name == "owner",
            })
        });
        let hub = Some(HubOptions { toolbox: Arc::clone(&fake) as Arc<dyn Toolbox>, offered });
        let options = Options { tools: ToolSet::Compact, read_only: false, mode: Mode::Off, hub };
        let server = Server::new(engine, options, Arc::new(register)).unwrap();
        Self { _folder: folder, fake, server, grants }
    }

    /// Registers a client, or changes its grant.
    fn grant(&self, name: &str, tools: &[&str]) {
        let tools = ToolGrant::new(tools.iter().map(|name| (*name).to_owned())).unwrap();
        lock(&self.grants).insert(name.to_owned(), tools);
    }
}

impl Site {
    /// Waits until so many calls of a tool stand in the audit, with this decision.
    async fn check_audit(&self, tool: &str, decided: &str, count: usize) {
        let noted = || {
            let query = AuditQuery { action: Some(tool.to_owned()), limit: 100, ..AuditQuery::default() };
            let entries = self.server.engine.audit_page(&query, None).unwrap().entries;
            entries.iter().filter(|entry| entry.permission == decided).count()
        };
        for _ in 0..1000 {
            if noted() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(noted(), count);
    }
}

/// A client on streams, which sees each message as it came.
struct Wire {
    version: &'static str,
    capabilities: Value,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    next: u64,
}

impl Wire {
    async fn open(site: &Site, client: Option<&str>, version: &'static str, capabilities: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 22);
        let (read, write) = tokio::io::split(theirs);
        let client = client.map(str::to_owned);
        tokio::spawn(serve_streams(Arc::clone(&site.server), client, (read, write), CancellationToken::new()));
        let (read, write) = tokio::io::split(ours);
        let mut wire = Self { version, capabilities, read: BufReader::new(read).lines(), write, next: 0 };
        if version != NEWEST {
            let info = json!({"name": "test", "version": "1"});
            let params = json!({"protocolVersion": version, "capabilities": wire.capabilities, "clientInfo": info});
            let begun = wire.ask("initialize", params).await;
            assert_eq!(begun["result"]["capabilities"]["tools"], json!({"listChanged": true}));
            wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        wire
    }

    async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request, and gives its id.
    async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.version == NEWEST {
            let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
            meta["io.modelcontextprotocol/protocolVersion"] = NEWEST.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})).await;
        self.next
    }

    /// The next message.
    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(30), self.read.next_line()).await;
        line.expect("no message comes").unwrap().expect("the server has ended")
    }

    async fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.message().await;
        assert_eq!(answer["id"], json!(id), "{answer}");
        answer
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// The names of the tools that are listed and not memdir's own.
    async fn listed(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let names =
            answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.contains("__") || META_TOOLS.iter().any(|row| row.name == name)).collect()
    }
}

/// Runs a test.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// The text of the first block of a result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

fn code(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["error"]["code"].as_str().unwrap_or("ok")
}

/// What of a line is the result.
fn result_of(line: &str) -> &str {
    let begin = line.find("\"result\":").unwrap() + "\"result\":".len();
    line.get(begin..).unwrap().strip_suffix('}').unwrap()
}

/// The bytes that a client of an older version gets of `WHOLE`.
fn whole() -> String {
    let value: Value = serde_json::from_str(WHOLE).unwrap();
    value.to_string()
}

#[test]
fn a_result_is_passed_on_byte_by_byte_on_streams() {
    run(async {
        for offered in [HubOffer::Few, HubOffer::All] {
            let site = Site::new(offered);
            for version in [OLDER, NEWEST] {
                let mut wire = Wire::open(&site, None, version, json!({})).await;
                wire.begin("tools/call", json!({"name": "files__whole", "arguments": {}})).await;
                let expected = match version {
                    NEWEST => format!("{},\"resultType\":\"complete\"}}", whole().strip_suffix('}').unwrap()),
                    _ => whole(),
                };
                assert_eq!(result_of(&wire.line().await), expected, "{version}");
            }
            let mut wire = Wire::open(&site, None, OLDEST, json!({})).await;
            let answer = wire.call("files__whole", json!({})).await;
            assert_eq!(answer["result"].get("structuredContent"), None, "it is not known yet");
            assert_eq!(answer["result"]["z"], serde_json::from_str::<Value>(WHOLE).unwrap()["z"]);
        }
    });
}

/// Posts a message, and gives the head and the body of the answer.
fn post(address: SocketAddr, token: &str, headers: &[(&str, &str)], body: &Value) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{more}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

#[test]
fn a_result_is_passed_on_byte_by_byte_over_http() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("desk", &["files", "post__progress"]);
        let listener = crate::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let served = tokio::spawn(serve_http(listener, Arc::clone(&site.server), HttpOptions::default(), stop.clone()));
        tokio::task::spawn_blocking(move || {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let ask = |method: &str, mut params: Value| {
                let own = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
                own.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
                let name = params["name"].as_str().unwrap_or_default().to_owned();
                let mut headers = vec![("Mcp-Protocol-Version", NEWEST), ("Mcp-Method", method)];
                headers.extend((!name.is_empty()).then_some(("Mcp-Name", name.as_str())));
                post(address, "desk", &headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            };
            let (_, body) = ask("tools/call", json!({"name": "files__whole", "arguments": {}}));
            let expected = format!("{},\"resultType\":\"complete\"}}", whole().strip_suffix('}').unwrap());
            assert_eq!(result_of(&body), expected);
            // A notice before it makes it a stream.
            let progress = json!({"name": "post__progress", "arguments": {}, "_meta": {"progressToken": "p"}});
            let (head, body) = ask("tools/call", progress);
            assert!(head.contains("text/event-stream"), "{head}");
            assert!(body.contains(r#""progress":1.0"#) && body.contains("done"), "{body}");
            let (_, body) = ask("tools/list", json!({}));
            let listed: Value = serde_json::from_str(&body).unwrap();
            let tools = listed["result"]["tools"].as_array().unwrap();
            let read = tools.iter().find(|tool| tool["name"] == "files__read_file").unwrap();
            assert_eq!((&read["execution"], &read["z"]), (&json!({"x": [1]}), &Value::Null));
            // The same in a session of an older version.
            let info = json!({"name": "test", "version": "1"});
            let params = json!({"protocolVersion": OLDER, "capabilities": {}, "clientInfo": info});
            let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            let (head, _) = post(address, "desk", &[], &begin);
            let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
            let headers = [("Mcp-Session-Id", session.as_str()), ("Mcp-Protocol-Version", OLDER)];
            post(address, "desk", &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            let call = json!({"name": "files__whole", "arguments": {}});
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
            let (_, body) = post(address, "desk", &headers, &call);
            assert!(body.contains(&format!("\"result\":{}", whole())), "{body}");
        })
        .await
        .unwrap();
        stop.cancel();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn definitions_are_passed_on_but_for_the_name() {
    run(async {
        let site = Site::new(HubOffer::All);
        let listed = async |version| {
            let mut wire = Wire::open(&site, None, version, json!({})).await;
            let answer = wire.ask("tools/list", json!({})).await;
            answer["result"]["tools"]
                .as_array()
                .unwrap()
                .iter()
                .find(|tool| tool["name"] == "files__read_file")
                .unwrap()
                .clone()
        };
        let mut expected = Value::Object(fleet()[0].definition.clone());
        expected["name"] = "files__read_file".into();
        assert_eq!(listed(NEWEST).await.to_string(), expected.to_string());
        // An older version knows schemas of objects alone.
        expected.as_object_mut().unwrap().shift_remove("outputSchema");
        assert_eq!(listed(OLDER).await.to_string(), expected.to_string());
    });
}

#[test]
fn names_that_collide_are_routed_by_the_body() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        for turn in 0..500 {
            let own = wire.call("read_file", json!({"path": "user.md"})).await;
            assert!(text(&own).contains("the memory's own"), "{turn}: {own}");
            let theirs = wire.call("files__read_file", json!({"path": "user.md"})).await;
            assert_eq!(text(&theirs), "files__read_file", "{turn}");
        }
        assert_eq!(lock(&site.fake.calls).len(), 500);
    });
}

#[test]
fn a_client_sees_what_it_was_granted_and_no_more() {
    run(async {
        for offered in [HubOffer::Few, HubOffer::All] {
            let site = Site::new(offered);
            site.grant("desk", &["files", "post__long"]);
            site.grant("phone", &[]);
            let (mut desk, mut phone) = (
                Wire::open(&site, Some("desk"), OLDER, json!({})).await,
                Wire::open(&site, Some("phone"), OLDER, json!({})).await,
            );
            if offered == HubOffer::All {
                assert_eq!(desk.listed().await, ["files__read_file", "files__whole", "post__long"]);
                assert!(phone.listed().await.is_empty());
            } else {
                assert_eq!(desk.listed().await, ["find_tools", "describe_tool", "call_tool"]);
                let found = desk.call("find_tools", json!({"query": "does ask slow long whole", "limit": 20})).await;
                let found = found["result"]["structuredContent"]["tools"].as_array().unwrap().iter();
                let mut found: Vec<&str> = found.map(|tool| tool["name"].as_str().unwrap()).collect();
                found.sort_unstable();
                assert_eq!(found, ["files__read_file", "files__whole", "post__long"]);
                // A tool that was not granted is answered as one that there is not.
                for name in ["describe_tool", "call_tool"] {
                    let [hidden, none] = [
                        desk.call(name, json!({"name": "post__ask"})).await,
                        desk.call(name, json!({"name": "post__xyz"})).await,
                    ];
                    let said = |answer: &Value| answer["result"].to_string().replace("post__xyz", "post__ask");
                    assert_eq!(said(&hidden), said(&none));
                    assert_eq!(code(&hidden), "unknown_action");
                }
            }
            let [hidden, none] = [desk.call("post__ask", json!({})).await, desk.call("post__xyz", json!({})).await];
            assert_eq!(hidden["error"].to_string(), none["error"].to_string().replace("post__xyz", "post__ask"));
            assert_eq!(phone.call("files__whole", json!({})).await["error"]["code"], json!(-32602));
            assert!(lock(&site.fake.calls).is_empty(), "nothing was called");
            let expected = if offered == HubOffer::Few { 2 } else { 1 };
            site.check_audit("post__ask", "denied", expected).await;
            // What is taken back counts at once.
            assert_eq!(text(&desk.call("files__read_file", json!({})).await), "files__read_file");
            site.grant("desk", &[]);
            assert_eq!(desk.call("files__read_file", json!({})).await["error"]["code"], json!(-32602));
        }
    });
}

#[test]
fn what_the_person_has_not_approved_is_neither_told_nor_called() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        let listed = wire.listed().await;
        assert!(listed.contains(&"post__careful".to_owned()), "{listed:?}");
        assert!(!listed.iter().any(|name| name == "post__changed" || name == "post__denied"), "{listed:?}");
        for name in ["post__changed", "post__denied"] {
            assert_eq!(code(&wire.call(name, json!({})).await), "denied");
        }
        let few = Site::new(HubOffer::Few);
        let mut wire = Wire::open(&few, None, OLDER, json!({})).await;
        let described = wire.call("describe_tool", json!({"name": "post__changed"})).await;
        assert_eq!(code(&described), "denied");
        assert!(!described.to_string().contains("Does changed"), "{described}");
        assert!(lock(&few.fake.calls).is_empty() && lock(&site.fake.calls).is_empty());
    });
}

/// Answers the question of a call in either form, and gives the question and the answer to the call.
async fn answer_question(wire: &mut Wire, params: Value, said: Value) -> (Value, Value) {
    let first = wire.begin("tools/call", params.clone()).await;
    let asked = wire.message().await;
    if wire.version == NEWEST {
        assert_eq!(
            (&asked["id"], &asked["result"]["resultType"]),
            (&json!(first), &json!("input_required")),
            "{asked}"
        );
        let mut again = params;
        again["inputResponses"] = json!({"question": said});
        again["requestState"] = asked["result"]["requestState"].clone();
        let question = asked["result"]["inputRequests"]["question"]["params"].clone();
        return (question, wire.ask("tools/call", again).await);
    }
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": said})).await;
    (asked["params"].clone(), wire.message().await)
}

#[test]
fn the_question_of_a_server_is_the_persons_in_both_forms() {
    run(async {
        let site = Site::new(HubOffer::All);
        for version in [OLDER, NEWEST] {
            let mut wire = Wire::open(&site, None, version, json!({"elicitation": {"form": {}, "url": {}}})).await;
            let call = || json!({"name": "post__ask", "arguments": {}});
            let yes = json!({"action": "accept", "content": {"day": "Monday"}});
            let (question, answer) = answer_question(&mut wire, call(), yes).await;
            assert_eq!(question["message"], "The server `post` asks: which day\\u{202e}?");
            assert_eq!(question["requestedSchema"]["properties"]["day"]["type"], "string");
            assert_eq!(text(&answer), r#"accept {"day":"Monday"}"#);
            for action in ["decline", "cancel"] {
                let (_, answer) = answer_question(&mut wire, call(), json!({"action": action})).await;
                assert_eq!(text(&answer), action);
            }
            let visit = json!({"name": "post__visit", "arguments": {}});
            let (question, answer) = answer_question(&mut wire, visit.clone(), json!({"action": "accept"})).await;
            assert_eq!((&question["mode"], &question["url"]), (&json!("url"), &json!("https://example.org/login")));
            assert_eq!(text(&answer), "accept {}");
            // A client that cannot ask is not asked.
            let mut mute = Wire::open(&site, None, version, json!({"elicitation": {"form": {}}})).await;
            assert_eq!(text(&mute.ask("tools/call", visit).await), "decline");
            let mut mute = Wire::open(&site, None, version, json!({})).await;
            assert_eq!(text(&mute.ask("tools/call", call()).await), "decline");
        }
    });
}

#[test]
fn the_person_is_asked_before_a_call_with_what_will_be_sent() {
    run(async {
        for version in [OLDER, NEWEST] {
            let site = Site::new(HubOffer::Few);
            let mut wire = Wire::open(&site, None, version, json!({"elicitation": {}})).await;
            let arguments = json!({"to": "jane", "text": "\u{202e}x"});
            let call = || json!({"name": "call_tool", "arguments": {"name": "post__careful", "arguments": arguments}});
            let choose = |choice: &str| json!({"action": "accept", "content": {"decision": choice}});
            for (said, expected) in [
                (choose("no"), "denied"),
                (json!({"action": "decline"}), "denied"),
                (json!({"action": "cancel"}), "permission_required"),
                (json!({"action": "accept"}), "permission_required"),
                (choose("YES"), "permission_required"),
            ] {
                let (question, answer) = answer_question(&mut wire, call(), said.clone()).await;
                let message = question["message"].as_str().unwrap();
                assert!(
                    message.contains("`careful` of the server `post`") && message.contains("\"to\": \"jane\""),
                    "{message}"
                );
                assert!(message.contains("\\u{202e}x"), "{message}");
                assert_eq!(code(&answer), expected, "{said}: {answer}");
                assert!(lock(&site.fake.calls).is_empty());
            }
            for choice in ["yes", "yes", "yes, for this conversation"] {
                let (_, answer) = answer_question(&mut wire, call(), choose(choice)).await;
                assert_eq!(text(&answer), "post__careful");
            }
            // It holds for the conversation, and for no other.
            assert_eq!(text(&wire.ask("tools/call", call()).await), "post__careful");
            assert_eq!(lock(&site.fake.calls).len(), 4);
            assert!(lock(&site.fake.calls).iter().all(|(_, sent)| *sent == arguments));
            let mut other = Wire::open(&site, None, version, json!({})).await;
            let refused = other.ask("tools/call", call()).await;
            assert_eq!(code(&refused), "permission_required");
            assert!(refused.to_string().contains("memdir tools allow post__careful"), "{refused}");
            // Whose word does not count is not asked.
            site.grant("desk", &["post"]);
            let mut desk = Wire::open(&site, Some("desk"), version, json!({"elicitation": {}})).await;
            assert_eq!(code(&desk.ask("tools/call", call()).await), "permission_required");
            assert_eq!(lock(&site.fake.calls).len(), 4);
        }
    });
}

#[test]
fn a_call_that_waits_for_the_person_ends_with_the_grant() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("owner", &["post"]);
        let mut wire = Wire::open(&site, Some("owner"), NEWEST, json!({"elicitation": {}})).await;
        let mut call = json!({"name": "post__careful", "arguments": {}});
        let asked = wire.ask("tools/call", call.clone()).await;
        site.grant("owner", &[]);
        call["requestState"] = asked["result"]["requestState"].clone();
        call["inputResponses"] = json!({"question": {"action": "accept", "content": {"decision": "yes"}}});
        assert_eq!(wire.ask("tools/call", call.clone()).await["error"]["code"], json!(-32602));
        site.grant("owner", &["post"]);
        assert_eq!(wire.ask("tools/call", call).await["error"]["code"], json!(-32602), "it was used");
        assert!(lock(&site.fake.calls).is_empty());
    });
}

#[test]
fn progress_and_cancellation_pass_through_while_others_are_answered() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        let progress = json!({"name": "post__progress", "arguments": {}, "_meta": {"progressToken": 7}});
        let id = wire.begin("tools/call", progress).await;
        let told = wire.message().await;
        let expected = json!({"progressToken": 7, "progress": 1.0, "total": 2.0, "message": "half"});
        assert_eq!((&told["method"], &told["params"]), (&json!("notifications/progress"), &expected));
        assert_eq!(wire.message().await["id"], json!(id));
        let (told, cancelled) = mpsc::channel();
        *lock(&site.fake.cancelled) = Some(told);
        let slow = wire.begin("tools/call", json!({"name": "post__slow", "arguments": {}})).await;
        // A slow server stops neither reads nor writes.
        assert!(text(&wire.call("read_file", json!({"path": "user.md"})).await).contains("own"));
        let written = wire.call("append_file", json!({"path": "user.md", "content": "\n- more"})).await;
        assert_eq!(code(&written), "ok", "{written}");
        let params = json!({"requestId": slow});
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        tokio::task::spawn_blocking(move || cancelled.recv_timeout(Duration::from_secs(30)).unwrap()).await.unwrap();
    });
}

#[test]
fn a_client_has_only_so_many_calls_running() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        for _ in 0..=16 {
            wire.begin("tools/call", json!({"name": "post__slow", "arguments": {}})).await;
        }
        assert_eq!(code(&wire.message().await), "rate_limited");
        assert!(text(&wire.call("read_file", json!({"path": "user.md"})).await).contains("own"));
    });
}

#[test]
fn a_client_that_calls_too_often_is_told_so() {
    run(async {
        let site = Site::new(HubOffer::Few);
        site.grant("slow", &["files"]);
        let mut wire = Wire::open(&site, Some("slow"), OLDER, json!({})).await;
        // The first request was that to begin.
        assert_eq!(text(&wire.call("files__read_file", json!({})).await), "files__read_file");
        assert_eq!(text(&wire.call("files__read_file", json!({})).await), "files__read_file");
        for (name, arguments) in [
            ("files__read_file", json!({})),
            ("call_tool", json!({"name": "files__read_file", "arguments": {}})),
            ("find_tools", json!({"query": "read"})),
        ] {
            let refused = wire.call(name, arguments).await;
            assert_eq!(code(&refused), "rate_limited", "{refused}");
        }
        assert_eq!(lock(&site.fake.calls).len(), 2);
    });
}

#[test]
fn a_long_result_is_read_on_by_its_cursor() {
    run(async {
        let all = "ü".repeat(MOST_TOLD);
        let few = Site::new(HubOffer::Few);
        let mut wire = Wire::open(&few, None, OLDER, json!({})).await;
        let (mut read, mut answer) = (String::new(), wire.call("call_tool", json!({"name": "post__long"})).await);
        loop {
            read.push_str(text(&answer));
            let next = answer["result"]["content"][1]["text"].as_str();
            let Some(next) = next else { break };
            let cursor: Value =
                serde_json::from_str(next.split("call_tool with ").nth(1).unwrap().split(" alone").next().unwrap())
                    .unwrap();
            answer = wire.call("call_tool", cursor).await;
        }
        assert!(read == all);
        assert_eq!(lock(&few.fake.calls).len(), 1);
        let whole = Site::new(HubOffer::All);
        let mut wire = Wire::open(&whole, None, OLDER, json!({})).await;
        assert!(text(&wire.call("post__long", json!({})).await) == all);
    });
}

#[test]
fn a_client_hears_when_its_own_list_has_become_another_one() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("desk", &["files"]);
        let mut old = Wire::open(&site, Some("desk"), OLDER, json!({})).await;
        assert_eq!(old.listed().await.len(), 2);
        let mut new = Wire::open(&site, Some("desk"), NEWEST, json!({})).await;
        new.begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
        let begun = new.message().await;
        assert_eq!(begun["params"]["notifications"]["toolsListChanged"], json!(true), "{begun}");
        // What it was not granted, and what it is not shown, is nothing to it: it would be the next message.
        site.fake.change(|tools| tools.retain(|tool| tool.own != "long"));
        site.fake.change(|tools| tools.push(Tool { pin: PinState::New, ..tool("files", "new", &json!({})) }));
        site.fake.change(|tools| tools.retain(|tool| tool.own != "whole"));
        for wire in [&mut old, &mut new] {
            let told = wire.message().await;
            assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
        }
        assert_eq!(old.listed().await, ["files__read_file"]);
    });
}

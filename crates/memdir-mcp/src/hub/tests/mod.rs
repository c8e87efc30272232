//! What a client sees and hears of other servers' tools. What these answer is written here, so that it can be compared byte by byte.

#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

mod asked;
mod injected;
mod results;
mod seen;

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
    /// What tools answer that have no answer of their own, by their names.
    says: Mutex<BTreeMap<String, String>>,
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
            says: Mutex::default(),
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
            "post__refuse" => {
                let message = "the parrot is called Polly".to_owned();
                return Err(CallError::Protocol { server: "post".to_owned(), code: -32000, message, data: None });
            }
            name => text(lock(&self.says).get(name).map_or(name, String::as_str).to_owned()),
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
            let grant = Grant::new(&["**".to_owned()], &["**".to_owned()], None).unwrap();
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
        for _ in 0..1000 {
            if self.noted(tool, decided) >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(self.noted(tool, decided), count);
    }

    /// How many calls of a tool the audit has now with this decision.
    fn noted(&self, tool: &str, decided: &str) -> usize {
        let query = AuditQuery { action: Some(tool.to_owned()), limit: 100, ..AuditQuery::default() };
        let entries = self.server.engine.audit_page(&query, None).unwrap().entries;
        entries.iter().filter(|entry| entry.permission == decided).count()
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

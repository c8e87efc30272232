//! The server over HTTP, in the test's own process, asked by a client that is nothing but a socket.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use memdir_mcp::{
    Claim, Client, HttpLimits, HttpOptions, Names, Options, Register, Server, ToolGrant, ToolSet, Unknown, listen,
    serve_http,
};
use memdir_policy::{Grant, Mode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::wire::{Answer, Wire};
use crate::support::{Env, engine};

mod eras;
mod load;
mod names;
mod rates;
mod sessions;
mod sizes;
mod wire;

/// The newest version, in which every request says everything.
const NEWEST: &str = "2026-07-28";

type Clients = Arc<Mutex<BTreeMap<String, Client>>>;

/// A server for the example of the contract, with the clients `desk` and `phone`, whose tokens are their names.
struct Site {
    env: Env,
    address: SocketAddr,
    clients: Clients,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Site {
    fn start() -> Self {
        Self::with(HttpOptions::default())
    }

    fn limited(limits: HttpLimits) -> Self {
        Self::with(HttpOptions { limits, ..HttpOptions::default() })
    }

    fn with(options: HttpOptions) -> Self {
        let env = Env::ada();
        let clients = Clients::default();
        for name in ["desk", "phone"] {
            clients.lock().unwrap().insert(name.to_owned(), client(name));
        }
        let (known, stop) = (clients.clone(), CancellationToken::new());
        let register = Register::new(move |claim| {
            let Claim::Token(token) = claim else { return Err(Unknown) };
            known.lock().unwrap().get(token).cloned().ok_or(Unknown)
        });
        let settled = Options { tools: ToolSet::Full, read_only: false, mode: Mode::Off, hub: None };
        let server = Server::new(engine::open(env.memory()), settled, Arc::new(register)).unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve_http(listener, Arc::clone(&server), options, stopped)).unwrap();
            runtime.shutdown_background();
            server.finish();
        });
        Self { env, address, clients, stop, thread: Some(thread) }
    }

    /// Lets the client in no more.
    fn revoke(&self, name: &str) {
        self.clients.lock().unwrap().remove(name).unwrap();
    }

    /// Changes what a client was granted.
    fn change(&self, name: &str, change: impl FnOnce(&mut Client)) {
        change(self.clients.lock().unwrap().get_mut(name).unwrap());
    }

    /// Stops the server and waits until it has.
    fn stop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    fn connect(&self) -> Wire {
        Wire::to(self.address)
    }

    /// Sends these bytes on a connection of their own, and gives the first answer.
    fn send(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut wire = self.connect();
        wire.write(bytes);
        wire.answer()
    }

    /// Posts a message as the newest version wants it.
    fn ask(&self, token: &str, method: &str, params: Value) -> Answer {
        self.send(modern(token, method, params))
    }

    /// Calls a tool and gives its result.
    #[track_caller]
    fn call(&self, token: &str, name: &str, arguments: Value) -> Value {
        let answer = self.ask(token, "tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn client(name: &str) -> Client {
    let grant = Grant::new(&["**".to_owned()], &["**".to_owned()], None).unwrap();
    Client {
        name: name.to_owned(),
        grant: Some(Arc::new(grant)),
        tools: ToolGrant::default(),
        rate: None,
        may_approve: false,
    }
}

/// A request to `/mcp` with these headers besides those that all have.
fn request(method: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    if method == "POST" {
        text += &format!(
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            body.len()
        );
    }
    text + "\r\n" + body
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// A message as an older version wants it, in a session or to open one.
fn legacy(token: &str, version: &str, session: Option<&str>, message: &Value) -> String {
    let token = bearer(token);
    let mut headers = vec![("Authorization", token.as_str())];
    if let Some(session) = session {
        headers.push(("Mcp-Session-Id", session));
        headers.push(("MCP-Protocol-Version", version));
    }
    request("POST", &headers, &message.to_string())
}

fn message(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize(version: &str) -> Value {
    let client = json!({"name": "socket", "version": "1"});
    message(1, "initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

/// Opens a session.
#[track_caller]
fn open(site: &Site, token: &str, version: &str) -> String {
    let opened = site.send(legacy(token, version, None, &initialize(version)));
    assert_eq!(opened.status, 200, "{opened:?}");
    assert_eq!(opened.json()["result"]["protocolVersion"], version);
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let told = site.send(legacy(token, version, Some(&session), &told));
    assert_eq!((told.status, told.body.as_str()), (202, ""));
    session
}

/// What the newest version wants in every request.
fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "socket", "version": "1"},
    })
}

fn modern(token: &str, method: &str, mut params: Value) -> String {
    params["_meta"] = meta(NEWEST);
    let token = bearer(token);
    let mut headers = vec![("Authorization", token.as_str()), ("MCP-Protocol-Version", NEWEST), ("Mcp-Method", method)];
    if let Some(name) = params["name"].as_str() {
        headers.push(("Mcp-Name", name));
    }
    let body = message(7, method, params.clone()).to_string();
    request("POST", &headers, &body)
}

/// A call of a tool.
fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// A refusal says its number and nothing about what is here.
#[track_caller]
fn check_refused(answer: &Answer, status: u16) {
    assert_eq!((answer.status, answer.body.as_str()), (status, ""), "{answer:?}");
    let names: Vec<&str> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
    let known = ["allow", "cache-control", "connection", "content-length", "date", "www-authenticate"];
    let is_known = |name: &&str| known.contains(name) || *name == "x-content-type-options";
    assert!(names.iter().all(is_known), "{answer:?}");
}

//! A server of the Model Context Protocol that does what a test wants: on standard input and output, written by hand, so that
//! tests decide each byte.
//!
//! `scripted_server [--stubborn] [MARK…]`: `--stubborn` goes on living when its input ends, as servers that wait for something
//! else do. Other arguments do nothing; a test finds the process by them.
//!
//! `scripted_server --http PORT` serves `http://127.0.0.1:PORT/mcp` instead, with sessions and answers of plain JSON: nothing comes
//! before an answer, so there is no progress and no question. Port 0 is any; which one is written to standard error, as `port 1234`.
//!
//! `scripted_server __guard` is not a server: it runs `memdir_hub::guard`, as memdir does for its own children.
//!
//! Tools:
//!
//! | tool | arguments | what it does |
//! | --- | --- | --- |
//! | `echo` | `text` | answers `text`, and its arguments as `structuredContent` |
//! | `fail` | | says that it failed |
//! | `slow` | `seconds` | answers after so long; a cancellation ends it, and is written to standard error |
//! | `big` | `bytes` | answers so many letters |
//! | `die` | | ends the program with code 3 in mid-call |
//! | `ask` | `question`, `schema` | elicits, and answers what came |
//! | `ask_late` | | elicits once it has answered, and writes what came to standard error |
//! | `progress` | `steps` | tells its progress so often |
//! | `counter` | | answers how often it was called in this process |
//! | `odd` | | answers the text of `SCRIPTED_ODD` as its result, byte by byte |
//! | `line` | `text`, `answers` | writes the text as a line of its own, `ID` in it replaced by the request's; answers then only where `answers` says so; it is listed where `SCRIPTED_NAMES` names it |
//! | `grow` | | adds the tool `grown`, and says that the list has changed |
//! | `orphan` | `leaves` | starts a process of its own that outlives it, with the same marks; it leaves the group and keeps the environment where `leaves` says so, else the other way round |
//! | `environment` | | answers its environment |
//! | `refuse` | `bytes` | answers an error of JSON-RPC, -32050, with so many letters more |
//!
//! Environment:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `SCRIPTED_DESCRIPTION` | what `echo` says of itself |
//! | `SCRIPTED_TOOLS` | so many tools more, `tool_000` and on, in pages of 50 |
//! | `SCRIPTED_ERA` | `initialize` (2025-11-25 only, the default), `newest` (2026-07-28 only), `silent` (as the first, but says nothing to what it does not know), `broken` (ends when it is asked something it does not know) |
//! | `SCRIPTED_START_MS` | how long it takes to start |
//! | `SCRIPTED_DIE_AT_START` | the code with which it ends at once, after a line on standard error |
//! | `SCRIPTED_ODD` | see `odd` |
//! | `SCRIPTED_FLOOD` | pings without end at the first call, and reads no more |
//! | `SCRIPTED_NAMES` | names of tools more, a line each |
//! | `SCRIPTED_JOURNAL` | a file to which it appends a line for each message that it gets: `tools/call echo` |
//! | `SCRIPTED_HINT` | what `die` and `slow` say of themselves, such as `readOnlyHint` |

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a program for tests, which may do all that a server does"
)]

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Write};
use std::process::{Command, Stdio, exit};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

const PAGE: usize = 50;
const NEWEST: &str = "2026-07-28";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "__guard") {
        memdir_hub::guard(arguments.get(1).map_or("", String::as_str));
        return;
    }
    if arguments.first().is_some_and(|first| first == "__orphan") {
        loop {
            thread::park();
        }
    }
    if let Some(code) = variable("SCRIPTED_DIE_AT_START") {
        tell("this server dies at start");
        exit(code.parse().expect("a code"));
    }
    thread::sleep(Duration::from_millis(number("SCRIPTED_START_MS")));
    tell("started");
    let server = Arc::new(Server::default());
    if let [first, port, ..] = arguments.as_slice()
        && first == "--http"
    {
        return http::serve(server, port.parse().expect("a port"));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let message: Value = serde_json::from_str(&line).expect("a message of JSON");
        server.take(message);
    }
    while arguments.iter().any(|argument| argument == "--stubborn") {
        thread::park();
    }
    exit(0);
}

/// What the server knows while it runs.
#[derive(Default)]
struct Server {
    has_grown: Mutex<bool>,
    calls: AtomicU64,
    /// The numbers of its own requests, and who waits for their answers.
    asked: AtomicI64,
    waiting: Mutex<HashMap<i64, mpsc::Sender<Value>>>,
    cancelled: Mutex<HashSet<String>>,
    /// The number of the request by which a client hears of changes (2026-07-28).
    listening: Mutex<Value>,
    out: Mutex<()>,
}

impl Server {
    /// Takes a message; a call of a tool runs on a thread of its own.
    fn take(self: &Arc<Self>, message: Value) {
        let method = message["method"].as_str().unwrap_or("answer").to_owned();
        note(&method, message["params"]["name"].as_str());
        if method == "answer" {
            let waiting = self.waiting.lock().expect("a lock").remove(&message["id"].as_i64().unwrap_or_default());
            if let Some(waiting) = waiting {
                let _ = waiting.send(message["result"].clone());
            }
            return;
        }
        if method == "notifications/cancelled" {
            tell(&format!("cancelled {}", message["params"]["requestId"]));
            self.cancelled.lock().expect("a lock").insert(message["params"]["requestId"].to_string());
        }
        let Some(id) = message.get("id").cloned() else { return };
        if method == "subscriptions/listen" {
            *self.listening.lock().expect("a lock") = id;
            self.notify(
                "notifications/subscriptions/acknowledged",
                json!({"notifications": {"toolsListChanged": true}}),
            );
            return;
        }
        while method == "tools/call" && variable("SCRIPTED_FLOOD").is_some() {
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            self.say(&json!({"jsonrpc": "2.0", "id": number, "method": "ping"}).to_string());
        }
        if method == "tools/call" {
            let server = Arc::clone(self);
            thread::spawn(move || {
                let answer = server.call(&id, &message["params"]);
                if let Some(answer) = answer {
                    server.say(&answered(&id, answer));
                }
            });
            return;
        }
        if let Some(answer) = self.answer(&method, &message["params"]) {
            self.say(&answered(&id, answer));
        }
    }

    /// The answer to anything but a call: a result, or an error; `None` for no answer at all.
    fn answer(&self, method: &str, params: &Value) -> Option<Result<String, Value>> {
        let era = variable("SCRIPTED_ERA").unwrap_or_else(|| "initialize".to_owned());
        let capabilities = json!({"tools": {"listChanged": true}});
        let info = json!({"name": "scripted", "version": "1.2.3"});
        let known = match (method, era.as_str()) {
            ("ping", _) => json!({}),
            ("initialize", "initialize" | "silent" | "broken") => {
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info})
            }
            ("server/discover", "newest") => json!({
                "resultType": "complete", "supportedVersions": [NEWEST], "capabilities": capabilities, "ttlMs": 0,
                "cacheScope": "private", "_meta": {"io.modelcontextprotocol/serverInfo": info},
            }),
            ("tools/list", _) => self.page(params["cursor"].as_str()),
            (_, "silent") => return None,
            (_, "broken") => exit(9),
            _ => return Some(Err(json!({"code": -32601, "message": format!("there is no {method}")}))),
        };
        Some(Ok(known.to_string()))
    }

    /// A page of the list of tools.
    fn page(&self, cursor: Option<&str>) -> Value {
        let first = cursor.map_or(0, |cursor| cursor.parse().expect("a cursor of ours"));
        let all = self.tools();
        let mut page = json!({"tools": all.iter().skip(first).take(PAGE).collect::<Vec<_>>()});
        if first + PAGE < all.len() {
            page["nextCursor"] = json!((first + PAGE).to_string());
        }
        if variable("SCRIPTED_ERA").as_deref() == Some("newest") {
            page["resultType"] = json!("complete");
            page["ttlMs"] = json!(0);
            page["cacheScope"] = json!("private");
        }
        page
    }

    fn tools(&self) -> Vec<Value> {
        let described = variable("SCRIPTED_DESCRIPTION").unwrap_or_else(|| "Says what it is told.".to_owned());
        let mut tools = vec![tool("echo", &described)];
        for (name, about) in [
            ("fail", "Fails."),
            ("slow", "Takes its time."),
            ("big", "Says much."),
            ("die", "Dies."),
            ("ask", "Asks the person."),
            ("ask_late", "Asks the person when it is too late."),
            ("progress", "Tells how far it is."),
            ("counter", "Counts its calls."),
            ("odd", "Answers what was written for it."),
            ("grow", "Adds a tool."),
            ("orphan", "Starts a process."),
            ("environment", "Says its environment."),
            ("refuse", "Refuses."),
        ] {
            tools.push(tool(name, about));
        }
        tools.extend((0..number("SCRIPTED_TOOLS")).map(|at| tool(&format!("tool_{at:03}"), "One of many.")));
        tools.extend(variable("SCRIPTED_NAMES").unwrap_or_default().lines().map(|name| tool(name, "Another one.")));
        if *self.has_grown.lock().expect("a lock") {
            tools.push(tool("grown", "Was not there before."));
        }
        tools
    }

    /// The answer to a call; `None` for none, since nobody wants it any more.
    fn call(&self, id: &Value, params: &Value) -> Option<Result<String, Value>> {
        let arguments = &params["arguments"];
        let text = |text: &str| Some(Ok(json!({"content": [{"type": "text", "text": text}]}).to_string()));
        match params["name"].as_str().unwrap_or_default() {
            "echo" => {
                let content = json!([{"type": "text", "text": arguments["text"]}]);
                Some(Ok(json!({"content": content, "structuredContent": arguments}).to_string()))
            }
            "fail" => {
                Some(Ok(json!({"content": [{"type": "text", "text": "it went wrong"}], "isError": true}).to_string()))
            }
            "slow" => {
                let until = Instant::now() + Duration::from_secs_f64(arguments["seconds"].as_f64().unwrap_or(1.0));
                while Instant::now() < until {
                    if self.cancelled.lock().expect("a lock").contains(&id.to_string()) {
                        return None;
                    }
                    thread::sleep(Duration::from_millis(10));
                }
                text("at last")
            }
            "big" => text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap_or(0)).expect("a size"))),
            "die" => exit(3),
            "ask" => self.ask(params),
            "ask_late" => {
                self.say(&answered(id, Ok(json!({"content": []}).to_string())));
                let asked = json!({"message": "too late?", "requestedSchema": {"type": "object", "properties": {}}});
                tell(&self.elicit(&asked).recv().expect("an answer").to_string());
                None
            }
            "progress" => self.progress(params),
            "counter" => text(&(self.calls.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
            "odd" => Some(Ok(variable("SCRIPTED_ODD").expect("SCRIPTED_ODD is set"))),
            "line" => {
                self.say(&arguments["text"].as_str().unwrap_or_default().replace("ID", &id.to_string()));
                if arguments["answers"] == json!(true) { text("answered") } else { None }
            }
            "grow" => {
                *self.has_grown.lock().expect("a lock") = true;
                self.notify("notifications/tools/list_changed", json!({}));
                text("grown")
            }
            "orphan" => text(&orphan(arguments["leaves"] == json!(true))),
            "environment" => {
                let all: Map<String, Value> = std::env::vars().map(|(name, value)| (name, json!(value))).collect();
                Some(Ok(json!({"content": [], "structuredContent": all}).to_string()))
            }
            "refuse" => {
                let more = "x".repeat(arguments["bytes"].as_u64().unwrap_or(0).try_into().expect("a size"));
                let (message, data) = (format!("not today{more}"), json!({"until": format!("tomorrow{more}")}));
                Some(Err(json!({"code": -32050, "message": message, "data": data})))
            }
            name if name.starts_with("tool_") || name == "grown" => text(name),
            name => Some(Err(json!({"code": -32602, "message": format!("unknown tool {name}")}))),
        }
    }

    /// Asks the person by the way of the version that is spoken.
    fn ask(&self, params: &Value) -> Option<Result<String, Value>> {
        let question = params["arguments"]["question"].as_str().unwrap_or("which?");
        let schema = params["arguments"].get("schema").cloned();
        let schema = schema.unwrap_or(json!({"type": "object", "properties": {"size": {"type": "string"}}}));
        let asked = json!({"mode": "form", "message": question, "requestedSchema": schema});
        if variable("SCRIPTED_ERA").as_deref() == Some("newest") {
            let Some(answers) = params.get("inputResponses") else {
                let asked = json!({"one": {"method": "elicitation/create", "params": asked}});
                let needed = json!({"resultType": "input_required", "inputRequests": asked, "requestState": "sealed"});
                return Some(Ok(needed.to_string()));
            };
            let told = json!({"answer": answers["one"], "state": params["requestState"]});
            return Some(Ok(json!({"resultType": "complete", "content": [], "structuredContent": told}).to_string()));
        }
        let answer = self.elicit(&asked).recv().expect("an answer");
        Some(Ok(json!({"content": [], "structuredContent": {"answer": answer}}).to_string()))
    }

    fn elicit(&self, params: &Value) -> mpsc::Receiver<Value> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1000;
        let (answer, waits) = mpsc::channel();
        self.waiting.lock().expect("a lock").insert(number, answer);
        let asked = json!({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params});
        self.say(&asked.to_string());
        waits
    }

    fn progress(&self, params: &Value) -> Option<Result<String, Value>> {
        let steps = params["arguments"]["steps"].as_u64().unwrap_or(3);
        for step in 1..=steps {
            let told = json!({
                "progressToken": params["_meta"]["progressToken"], "progress": step, "total": steps,
                "message": format!("step {step}"),
            });
            self.say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}).to_string());
        }
        Some(Ok(json!({"content": [{"type": "text", "text": "done"}]}).to_string()))
    }

    /// Tells of a change, to the one who listens where the version wants that.
    fn notify(&self, method: &str, mut params: Value) {
        let listening = self.listening.lock().expect("a lock").clone();
        if !listening.is_null() {
            params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": listening});
        }
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    fn say(&self, line: &str) {
        let _one_at_a_time = self.out.lock().expect("a lock");
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            exit(0);
        }
    }
}

mod http {
    //! The same over streamable HTTP.

    use std::sync::Arc;

    use axum::Router;
    use axum::http::{HeaderMap, StatusCode, header};
    use axum::response::{IntoResponse, Response};
    use axum::routing::post;
    use serde_json::Value;

    use super::{Server, answered, note, tell};

    pub(super) fn serve(server: Arc<Server>, port: u16) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.expect("a port");
            tell(&format!("port {}", listener.local_addr().expect("an address").port()));
            let session = format!("session-{}", std::process::id());
            let take = move |headers: HeaderMap, body: String| {
                let (server, session) = (server.clone(), session.clone());
                async move {
                    tokio::task::spawn_blocking(move || answer(&server, &session, &headers, &body))
                        .await
                        .expect("an answer")
                }
            };
            let end = || async { note("DELETE", None) };
            axum::serve(listener, Router::new().route("/mcp", post(take).delete(end))).await.expect("a server");
        });
    }

    /// A session is the process: another one knows nothing of it.
    fn answer(server: &Server, session: &str, headers: &HeaderMap, body: &str) -> Response {
        let message: Value = serde_json::from_str(body).expect("a message of JSON");
        let method = message["method"].as_str().unwrap_or_default();
        if headers.get("mcp-session-id").is_some_and(|named| named != session) {
            return StatusCode::NOT_FOUND.into_response();
        }
        note(method, message["params"]["name"].as_str());
        let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
        let done = match method {
            "tools/call" => server.call(id, &message["params"]),
            method => server.answer(method, &message["params"]),
        };
        let Some(done) = done else { return StatusCode::ACCEPTED.into_response() };
        let json = [(header::CONTENT_TYPE.as_str(), "application/json")];
        let session = (method == "initialize").then_some([("mcp-session-id", session.to_owned())]);
        (json, session.map(axum::response::AppendHeaders), answered(id, done)).into_response()
    }
}

/// The line of an answer. The result goes out as it is written.
fn answered(id: &Value, answer: Result<String, Value>) -> String {
    match answer {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string(),
    }
}

/// A definition, with a member that no version of the protocol knows.
fn tool(name: &str, description: &str) -> Value {
    let mut tool = json!({
        "name": name, "description": description, "inputSchema": {"type": "object", "properties": {}}, "x-own": {"kept": true},
    });
    if let Some(hint) = variable("SCRIPTED_HINT").filter(|_| ["die", "slow"].contains(&name)) {
        tool["annotations"] = json!({hint: true});
    }
    tool
}

/// Starts a process that stays when this one ends, holding none of its streams.
fn orphan(leaves: bool) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("__orphan").args(std::env::args().skip(1));
    if !leaves {
        command.env_clear();
    }
    #[cfg(unix)]
    if leaves {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
    }
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    child.expect("a process").id().to_string()
}

fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn note(method: &str, name: Option<&str>) {
    let Some(path) = variable("SCRIPTED_JOURNAL") else { return };
    let mut journal = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the journal");
    let line = name.map_or_else(|| format!("{method}\n"), |name| format!("{method} {name}\n"));
    journal.write_all(line.as_bytes()).expect("the journal");
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number<T: std::str::FromStr + Default>(name: &str) -> T {
    variable(name).and_then(|text| text.parse().ok()).unwrap_or_default()
}

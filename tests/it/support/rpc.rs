//! A client of ours for the Model Context Protocol, over the pipes of the built binary.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Env, PATIENCE};

/// The version without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";
/// The versions that begin with a handshake, newest first.
pub(crate) const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// A server that runs, and what this client has said it is.
#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The thread that reads, and holds the pipe.
    reader: Option<JoinHandle<()>>,
    /// What came in while something else was waited for.
    held: VecDeque<Value>,
    version: String,
    capabilities: Value,
    next: u64,
}

/// How a server ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    /// What it said that nobody had taken.
    pub(crate) rest: Vec<Value>,
    pub(crate) stderr: String,
}

impl Client {
    /// Starts `memdir mcp` with these arguments, and says nothing yet.
    pub(crate) fn start(env: &Env, arguments: &[&str]) -> Self {
        let arguments: Vec<&str> = std::iter::once("mcp").chain(arguments.iter().copied()).collect();
        let mut child = env.command(&arguments).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let capabilities = json!({});
        let (held, reader) = (VecDeque::new(), Some(reader));
        Self { child, stdin, lines, reader, held, version: String::new(), capabilities, next: 1 }
    }

    /// As [`Client::start`], and has begun the conversation in this version.
    #[track_caller]
    pub(crate) fn open(env: &Env, version: &str, arguments: &[&str]) -> Self {
        Self::open_as(env, version, &json!({}), arguments)
    }

    /// As [`Client::open`], for a client that can do these things.
    #[track_caller]
    pub(crate) fn open_as(env: &Env, version: &str, capabilities: &Value, arguments: &[&str]) -> Self {
        let mut client = Self::start(env, arguments);
        client.capabilities = capabilities.clone();
        client.begin(version);
        client
    }

    /// Begins the conversation, and gives what the server says about itself.
    #[track_caller]
    pub(crate) fn begin(&mut self, version: &str) -> Value {
        self.version = version.to_owned();
        if version == MODERN {
            return self.result("server/discover", json!({}));
        }
        let info = json!({"name": "it", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": self.capabilities, "clientInfo": info});
        let said = self.result("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        said
    }

    /// Sends a line as it is.
    pub(crate) fn send_text(&mut self, line: &str) {
        // A server that has ended reads nothing more.
        let _ = self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    /// Sends a request, and gives its id. The answer is not waited for.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": self.with_meta(params)});
        self.send(&message);
        id
    }

    /// Sends a request, and gives the whole answer.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Sends a request, and gives its result.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool, and gives its result.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait_for(|message| message["id"] == json!(id) && message.get("method").is_none())
    }

    /// The first message of this kind; others are kept.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.held.iter().position(&is_it) {
            return self.held.remove(at).unwrap();
        }
        loop {
            let message = self.message();
            if is_it(&message) {
                return message;
            }
            self.held.push_back(message);
        }
    }

    /// The next message that comes in.
    #[track_caller]
    fn message(&mut self) -> Value {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => parse(&line),
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended: {:?}", self.child.wait()),
        }
    }

    /// Closes the pipe to the server, and waits for its end.
    #[track_caller]
    pub(crate) fn close(mut self) -> Ended {
        self.stdin = None;
        self.end()
    }

    /// Waits for the end of the server.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > PATIENCE {
                let _ = self.child.kill();
                panic!("the server does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let rest: Vec<Value> = self.held.drain(..).chain(self.lines.iter().map(|line| parse(&line))).collect();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Ended { code: status.code().unwrap_or(-1), rest, stderr }
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// The files that it has open although nobody finds them any more.
    #[cfg(target_os = "linux")]
    pub(crate) fn removed_files(&self) -> Vec<String> {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap();
        let targets = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        let targets = targets.map(|target| target.to_string_lossy().into_owned());
        targets.filter(|target| target.ends_with(" (deleted)")).collect()
    }

    /// Reads nothing of what the server says any more. When this returns, nobody holds the other end of its pipe.
    pub(crate) fn stop_reading(&mut self) {
        let (_, lines) = mpsc::channel();
        self.lines = lines;
        // The reader goes when it has a line that nobody takes.
        self.ask("tools/list", json!({}));
        self.reader.take().unwrap().join().unwrap();
    }

    /// What each request of the version without a handshake says about its client.
    fn with_meta(&self, mut params: Value) -> Value {
        if self.version == MODERN {
            let more = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
            params["_meta"].as_object_mut().unwrap().extend(more);
        }
        params
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line of the server's, which is nothing but a message.
#[track_caller]
fn parse(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], json!("2.0"), "{line}");
    message
}

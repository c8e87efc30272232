//! The MCP server on stdio, as a client meets it: each tool beside two file servers, the first answer, sizes, idle memory.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::measure::{Bar, head, in_turns, note, row, shares, shown};
use crate::process::memdir_with;
use crate::vaults;

/// How often each tool is called.
const ROUNDS: usize = 400;
/// How often a server is started.
const STARTS: usize = 31;

/// Calls, starts, sizes and memory.
pub(crate) fn servers() {
    let folders = [1_000, 10_000, 100_000].map(vaults::vault);
    let [small, ..] = &folders;
    calls(small);
    head("first answer of a new process: initialize, then read a note; baseline: rust-mcp-filesystem");
    let Some(rust) = rust_server(small) else {
        println!("skipped: `scripts/bench-baselines` installs rust-mcp-filesystem");
        return;
    };
    drop(rust);
    for (folder, count) in folders.iter().zip([1_000, 10_000, 100_000]) {
        let path = vaults::path(7);
        let times = in_turns(
            STARTS,
            vec![
                Box::new(|| first_answer(ours(folder, "compact"), "read_file", &json!({ "path": path }))),
                Box::new(|| {
                    let path = folder.join(&path).display().to_string();
                    first_answer(rust_command(folder), "read_text_file", &json!({ "path": path }))
                }),
            ],
        );
        let [ours, theirs] = times.as_slice() else { return };
        row(&format!("{count} notes"), *ours, *theirs, Bar::Most(1.0));
        row(&format!("{count} notes, whatever the baseline"), *ours, *theirs, Bar::Within(Duration::from_millis(50)));
    }
    sizes(small);
    for (folder, count) in folders.iter().zip([1_000, 10_000, 100_000]) {
        idle(folder, count);
    }
}

/// Each tool beside those of the file servers that do nearest to the same.
fn calls(folder: &Path) {
    head("one tool call on stdio, p50 then p95; baseline: rust-mcp-filesystem, then the reference file server");
    let mut ours = Server::start(ours(folder, "full"));
    let mut peers: Vec<(&str, Server)> = rust_server(folder).map(|server| ("rust", server)).into_iter().collect();
    peers.extend(reference_server(folder).map(|server| ("reference", server)));
    if peers.is_empty() {
        println!("skipped: `scripts/bench-baselines` installs the file servers");
    }
    for number in 501..=504 {
        std::fs::write(folder.join(vaults::path(number)), vaults::text(number)).expect("write a note");
    }
    let at = |number: usize| folder.join(vaults::path(number)).display().to_string();
    let asks: Vec<(&str, f64, Ask<'_>, Ask<'_>)> = vec![
        (
            "read_file",
            1.0,
            Box::new(|n, _| ("read_file", json!({"path": vaults::path(n % 500)}))),
            Box::new(|n, _| ("read_text_file", json!({"path": at(n % 500)}))),
        ),
        (
            "list_directory",
            2.0,
            Box::new(|_, _| ("list_directory", json!({}))),
            Box::new(|_, _| ("list_directory", json!({"path": folder.display().to_string()}))),
        ),
        (
            "get_file_info",
            1.5,
            Box::new(|n, _| ("get_file_info", json!({"path": vaults::path(n % 500)}))),
            Box::new(|n, _| ("get_file_info", json!({"path": at(n % 500)}))),
        ),
        (
            "update_file (flushed, journaled; theirs is neither)",
            3.0,
            Box::new(|n, _| {
                let (old, new) = turn(n);
                ("update_file", json!({"path": vaults::path(501), "old_content": old, "new_content": new}))
            }),
            Box::new(|n, who| {
                let (old, new) = turn(n);
                ("edit_file", json!({"path": at(502 + who), "edits": [{"oldText": old, "newText": new}]}))
            }),
        ),
    ];
    for (what, most, mine, theirs) in &asks {
        let mut servers = vec![(&mut ours, mine)];
        servers.extend(peers.iter_mut().map(|(_, peer)| (peer, theirs)));
        let times = times(&mut servers);
        let Some(([p50, p95], others)) = times.split_first() else { return };
        for ((name, _), [their_p50, their_p95]) in peers.iter().zip(others) {
            let bar = if *name == "rust" { Bar::Most(*most) } else { Bar::None };
            row(&format!("{what}, p50, {name}"), *p50, *their_p50, bar);
            row(&format!("{what}, p95, {name}"), *p95, *their_p95, Bar::None);
        }
    }
    alone(&mut ours);
}

/// The tools that have no likeness elsewhere.
fn alone(ours: &mut Server) {
    for (what, name, arguments) in [
        ("search_files, text of every note", "search_files", json!({"query": "dentist", "mode": "text"})),
        ("search_files, ranked", "search_files", json!({"query": "what did the teacher ask the dentist"})),
        ("get_context", "get_context", json!({"query": "what did the teacher ask the dentist"})),
        ("list_files", "list_files", json!({})),
    ] {
        let ask: Ask<'_> = Box::new(|_, _| (name, arguments.clone()));
        let times = times(&mut [(&mut *ours, &ask)]);
        let Some([p50, p95]) = times.first().copied() else { return };
        note(&format!("{what}, p50"), &shown(p50));
        note(&format!("{what}, p95"), &shown(p95));
    }
}

/// A server that has built its index, beside one that cannot keep any.
pub(crate) fn indexed() {
    head("one tool call on stdio with the index that the server has built, p50; baseline: a server that can keep none");
    for (count, rounds) in [(1_000, 101), (10_000, 31), (100_000, 5)] {
        let folder = vaults::vault(count);
        // Files that changed a moment ago are looked at with less trust.
        thread::sleep(Duration::from_secs(3));
        let mut scans = Server::start(memdir_with("mcp", &folder, Path::new("/dev/null")));
        let mut ours = Server::start(memdir_with("mcp", &folder, &vaults::fresh("mcp-index-cache")));
        let question = json!({"query": "what did the teacher ask the dentist"});
        let search = |server: &mut Server| {
            let start = Instant::now();
            let answer = server.request("tools/call", &json!({"name": "search_files", "arguments": question}));
            let time = start.elapsed();
            let source = answer.pointer("/result/structuredContent/value/source").and_then(Value::as_str);
            (time, source == Some("index"))
        };
        let before: Vec<_> = (0..rounds).map(|_| search(&mut scans).0).collect();
        let (start, mut during) = (Instant::now(), Vec::new());
        let built = loop {
            match search(&mut ours) {
                (time, false) => during.push(time),
                (_, true) => break start.elapsed(),
            }
            // A client that asks without a pause is no client that we know.
            thread::sleep(Duration::from_millis(100));
            assert!(start.elapsed() < Duration::from_secs(600), "the index is not built");
        };
        let [scan, longest] = shares(before, [50, 100]);
        let [meanwhile, longest_meanwhile] = shares(during, [50, 100]);
        row(&format!("a question while it is built, {count} notes"), meanwhile, scan, Bar::None);
        row(&format!("the same, the longest, {count} notes"), longest_meanwhile, longest, Bar::None);
        note(&format!("built after, {count} notes, with searches"), &shown(built));
        thread::sleep(Duration::from_secs(2));
        note(&format!("idle after the build, {count} notes, resident"), &ours.resident());
        let after = (0..rounds.max(31)).map(|_| search(&mut ours)).filter(|(_, is_index)| *is_index);
        let [index] = shares(after.map(|(time, _)| time).collect(), [50]);
        row(&format!("a question, {count} notes"), index, scan, Bar::Most(1.0));
        let [index, scan] = [&mut ours, &mut scans].map(|server| renames(server, rounds));
        row(&format!("rename_file, {count} notes"), index, scan, Bar::Most(1.0));
        thread::sleep(Duration::from_secs(3));
        note(&format!("idle after searches and renames, {count} notes, resident"), &ours.resident());
    }
}

/// Renames a note there and back again, which another note links to; the median of one.
fn renames(server: &mut Server, rounds: usize) -> Duration {
    let (one, other) = (vaults::path(5), "topics/renamed.md".to_owned());
    let mut times = Vec::new();
    for turn in 0..rounds.next_multiple_of(2) {
        let (old, new) = if turn % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let actions = json!([{"action": "rename_file", "path": old, "new_path": new}]);
        let start = Instant::now();
        let answer = server.request("tools/call", &json!({"name": "run_actions", "arguments": {"actions": actions}}));
        times.push(start.elapsed());
        assert!(is_good(&answer), "{answer}");
    }
    let [median] = shares(times, [50]);
    median
}

/// What is called in a round, of which server by its place: a tool and its arguments.
type Ask<'a> = Box<dyn Fn(usize, usize) -> (&'static str, Value) + 'a>;

/// The line that an edit takes away and puts back.
fn turn(n: usize) -> (String, String) {
    (format!("- visits: {}", n % 2), format!("- visits: {}", (n + 1) % 2))
}

/// p50 and p95 of each server, which are called in turns: A B C, C B A, and so on.
fn times(servers: &mut [(&mut Server, &Ask<'_>)]) -> Vec<[Duration; 2]> {
    let mut times = vec![Vec::with_capacity(ROUNDS); servers.len()];
    for round in 0..ROUNDS + 20 {
        let mut turn = |(who, ((server, ask), times)): (usize, (&mut (&mut Server, &Ask<'_>), &mut Vec<Duration>))| {
            let (name, arguments) = ask(round, who);
            let start = Instant::now();
            let answer = server.request("tools/call", &json!({"name": name, "arguments": arguments}));
            let time = start.elapsed();
            assert!(is_good(&answer), "{name}: {answer}");
            // The first ones warm up.
            if round >= 20 {
                times.push(time);
            }
        };
        let pairs = servers.iter_mut().zip(&mut times).enumerate();
        if round % 2 == 0 { pairs.for_each(&mut turn) } else { pairs.rev().for_each(&mut turn) }
    }
    times.into_iter().map(|times| shares(times, [50, 95])).collect()
}

fn first_answer(command: Command, tool: &str, arguments: &Value) -> Duration {
    let start = Instant::now();
    let mut server = Server::start(command);
    let answer = server.request("tools/call", &json!({"name": tool, "arguments": arguments}));
    let time = start.elapsed();
    assert!(is_good(&answer), "{tool}: {answer}");
    time
}

/// Whether a call has done what it should.
pub(crate) fn is_good(answer: &Value) -> bool {
    answer.get("result").is_some_and(|result| result.get("isError") != Some(&json!(true)))
}

/// How many bytes a client's model pays for before anything is asked.
fn sizes(folder: &Path) {
    head("bytes");
    for (set, bar) in [("compact", "<= 6700"), ("full", "<= 30000"), ("memory", "")] {
        let answer = Server::start(ours(folder, set)).line("tools/list", &json!({}));
        note(&format!("tools/list, {set} set {bar}"), &answer.len().to_string());
    }
    let path = vaults::path(7);
    let text = std::fs::read(folder.join(&path)).expect("read a note");
    let answer = Server::start(ours(folder, "compact"))
        .line("tools/call", &json!({"name": "read_file", "arguments": {"path": path}}));
    note("an answer of read_file, times the note (<= 1.1)", &format!("{:.3}", answer.len() as f64 / text.len() as f64));
}

/// The memory of a server that has answered and waits.
fn idle(folder: &Path, count: usize) {
    let mut server = Server::start(ours(folder, "compact"));
    server.request("tools/list", &json!({}));
    server.request("tools/call", &json!({"name": "read_file", "arguments": {"path": vaults::path(7)}}));
    // What it does in the background after the first answer is part of it.
    thread::sleep(Duration::from_secs(3));
    note(&format!("idle, {count} notes, resident"), &server.resident());
    server.request("tools/call", &json!({"name": "search_files", "arguments": {"query": "the dentist's garden"}}));
    thread::sleep(Duration::from_secs(1));
    note(&format!("idle after a search, {count} notes, resident"), &server.resident());
}

fn ours(folder: &Path, set: &str) -> Command {
    let mut command = memdir_with("mcp", folder, &vaults::scratch().join("mcp-cache"));
    command.args(["--tools", set]);
    command
}

fn baselines() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target folder").join("baselines")
}

fn rust_command(folder: &Path) -> Command {
    let mut command = Command::new(baselines().join("bin/rust-mcp-filesystem"));
    command.arg("--allow-write").arg(folder);
    command
}

fn rust_server(folder: &Path) -> Option<Server> {
    baselines().join("bin/rust-mcp-filesystem").is_file().then(|| Server::start(rust_command(folder)))
}

fn reference_server(folder: &Path) -> Option<Server> {
    let script = baselines().join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    let mut command = Command::new("node");
    command.arg(&script).arg(folder);
    script.is_file().then(|| Server::start(command))
}

/// A server at the other end of two pipes.
pub(crate) struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("start a server");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Self { child, input, output, next: 0 };
        let client = json!({"name": "bench", "version": "1.0.0"});
        server
            .request("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).expect("write to a server");
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        serde_json::from_str(&self.line(method, params)).expect("JSON")
    }

    /// The line that answers a request.
    fn line(&mut self, method: &str, params: &Value) -> String {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        let own = format!("\"id\":{}", self.next);
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("read from a server") > 0, "the server has ended");
            // Others tell of other things in between.
            if line.contains(&own) && (line.contains("\"result\"") || line.contains("\"error\"")) {
                return line;
            }
        }
    }

    fn resident(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default();
        format!("{:.1} MiB", kilobytes / 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

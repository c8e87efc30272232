//! Tools of other servers through memdir, beside calling such a server itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{Server, is_good};
use crate::measure::{Bar, head, in_turns, note, row, shares};
use crate::process::memdir_with;
use crate::vaults;

/// So many servers are added, each with so many tools besides its own few.
const SERVERS: usize = 8;
const TOOLS: usize = 25;
/// How often a tool is called, and a server started.
const ROUNDS: usize = 400;
const STARTS: usize = 31;

/// The first list, and the time that memdir adds to a call.
pub(crate) fn tools_of_others() {
    let Some(scripted) = scripted() else {
        println!(
            "\nskipped: `cargo build --release -p memdir-hub --example scripted_server` builds the server that is called"
        );
        return;
    };
    let (folder, home) = (vaults::vault(1_000), vaults::fresh("hub-home"));
    for number in 0..SERVERS {
        let name = format!("lab{number}");
        let many = format!("SCRIPTED_TOOLS={TOOLS}");
        tools(&folder, &home, &["add", &name, "--yes", "--env", &many, "--", &scripted.display().to_string()]);
        tools(&folder, &home, &["allow", &name]);
    }
    head(&format!("first tools/list of a new process with {SERVERS} servers; baseline: without them"));
    for offered in ["--hub", "--hub=all"] {
        let times = in_turns(
            STARTS,
            vec![
                Box::new(|| first_list(ours(&folder, &home, &[offered]))),
                Box::new(|| first_list(ours(&folder, &home, &[]))),
            ],
        );
        let [with, without] = times.as_slice() else { return };
        row(&format!("tools/list, {offered}"), *with, *without, Bar::Within(Duration::from_millis(100)));
    }
    head("one call of another server's tool on stdio; baseline: the same call of that server itself");
    let mut through = Server::start(ours(&folder, &home, &["--hub=all"]));
    let mut itself = Server::start(Command::new(&scripted));
    let [mut theirs, mut own] = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS + 20 {
        let turns = [(&mut through, "lab0__echo", &mut own), (&mut itself, "echo", &mut theirs)];
        for (server, name, times) in turns {
            let start = Instant::now();
            let answer = server.request("tools/call", &json!({"name": name, "arguments": {"text": "hello"}}));
            let time = start.elapsed();
            assert!(is_good(&answer), "{answer}");
            assert_eq!(answer.pointer("/result/content/0/text"), Some(&Value::from("hello")));
            // The first ones start and warm up.
            if round >= 20 {
                times.push(time);
            }
        }
    }
    let ([own50, own95], [their50, their95]) = (shares(own, [50, 95]), shares(theirs, [50, 95]));
    row("echo, p50: at most 2 ms more", own50, their50, Bar::MostAnd(1.0, Duration::from_millis(2)));
    row("echo, p95", own95, their95, Bar::None);
    note("of which memdir adds, p50", &crate::measure::shown(own50.saturating_sub(their50)));
}

/// The server for tests, where it was built.
fn scripted() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_memdir")).parent()?.join("examples/scripted_server");
    program.is_file().then_some(program)
}

fn with_home(name: &str, folder: &Path, home: &Path) -> Command {
    let mut command = memdir_with(name, folder, &home.join("cache"));
    command.env("HOME", home).env("XDG_CONFIG_HOME", home.join("config"));
    command
}

/// `memdir tools …`, which tells whole definitions on standard error.
fn tools(folder: &Path, home: &Path, arguments: &[&str]) {
    let mut command = with_home("tools", folder, home);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().expect("it starts").success(), "{arguments:?} failed");
}

fn ours(folder: &Path, home: &Path, options: &[&str]) -> Command {
    let mut command = with_home("mcp", folder, home);
    command.args(options);
    command
}

fn first_list(command: Command) -> Duration {
    let start = Instant::now();
    let mut server = Server::start(command);
    let answer = server.request("tools/list", &json!({}));
    let time = start.elapsed();
    assert!(is_good(&answer), "{answer}");
    time
}

//! Servers that are reached by an address, made by others: an authorisation server, the official conformance suite, servers over
//! HTTP. `scripts/mcp-servers` installs them; where they are not there, these tests say so and pass.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod conformance;
mod login;
mod servers;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The folder of packages, if it is there; else says why the test is skipped.
fn packages() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/mcp-servers");
    let found = place.join("ready").exists().then_some(place);
    if found.is_none() {
        eprintln!("skipped: `scripts/mcp-servers` has not installed the servers of others");
    }
    found
}

/// The client that was built beside the tests.
fn client() -> Command {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join("examples/conformance_client");
    assert!(path.exists(), "{} was not built: `cargo test -p memdir-hub` builds it", path.display());
    Command::new(path)
}

fn node(packages: &Path) -> Command {
    Command::new(packages.join("node_modules/.bin/node"))
}

/// A program that runs as long as the test.
struct Running(Child);

impl Running {
    /// Starts a program, and gives the first line of its output that `wanted` finds something in.
    fn start<T>(command: &mut Command, wanted: impl Fn(&str) -> Option<T>) -> (Self, T) {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        for stream in [Box::new(out) as Box<dyn std::io::Read + Send>, Box::new(err)] {
            let sender = sender.clone();
            // It is read to its end, so that nobody waits for a full pipe.
            std::thread::spawn(move || {
                BufReader::new(stream).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)))
            });
        }
        drop(sender);
        let found = lines.iter().find_map(|line| wanted(&line)).unwrap();
        (Self(child), found)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Running, client, node, packages};

/// The authorisation server and the server it protects, and one person's file of tokens.
struct Protected {
    _running: Running,
    resource: String,
    desk: String,
    _folder: TempDir,
    tokens: PathBuf,
}

impl Protected {
    fn start(packages: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote/provider.mjs");
        let mut command = node(packages);
        command.arg(script).arg(packages.join("node_modules"));
        let said = |line: &str| serde_json::from_str::<BTreeMap<String, String>>(line).ok();
        let (running, mut places) = Running::start(&mut command, said);
        let folder = tempfile::tempdir().unwrap();
        let tokens = folder.path().join("tokens.json");
        let mut place = |name: &str| places.remove(name).unwrap();
        Self { _running: running, resource: place("resource"), desk: place("desk"), _folder: folder, tokens }
    }

    /// Runs so many clients at once, each of which may log in so often.
    fn run(&self, clients: usize, logins: usize) -> Vec<Output> {
        let start = |_| {
            let mut command = client();
            command.arg(&self.resource).env("MEMDIR_TOKENS", &self.tokens).env("MEMDIR_LOGINS", logins.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..clients).map(start).collect();
        children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
    }

    /// Says something at the desk, and reads what the authorisation server has counted: registrations, logins, refreshes, refusals.
    fn desk(&self, path: &str) -> [u64; 4] {
        let host = self.desk.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let counts =
            answer.lines().find_map(|line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object)).unwrap();
        ["registrations", "logins", "refreshes", "refused"].map(|name| counts[name].as_u64().unwrap())
    }

    /// All that the file holds and nobody else may see.
    fn secrets(&self) -> Vec<String> {
        let kept: Value = serde_json::from_slice(&std::fs::read(&self.tokens).unwrap()).unwrap();
        let tokens = &kept["servers"]["conformance"]["credentials"]["token_response"];
        ["access_token", "refresh_token"].iter().map(|name| tokens[name].as_str().unwrap().to_owned()).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn check_all_called(outputs: &[Output]) {
    for output in outputs {
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{err}");
        assert_eq!(out.lines().count(), 2, "{out}{err}");
    }
}

#[test]
fn a_person_logs_in_by_the_forms_of_a_real_provider_and_again_for_more() {
    let Some(packages) = packages() else { return };
    let protected = Protected::start(&packages);
    let output = protected.run(1, 3);
    check_all_called(&output);
    // `read` is called with what was granted first, `write` with that and what it wanted.
    let granted: Vec<String> = text(&output[0].stdout)
        .lines()
        .map(|line| {
            let (name, result) = line.split_once(' ').unwrap();
            let result: Value = serde_json::from_str(result).unwrap();
            format!("{name}: {}", result["content"][0]["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(granted, ["read: mcp:tools", "write: mcp:tools mcp:write"]);
    let [registrations, logins, refreshes, refused] = protected.desk("/");
    assert_eq!((registrations, logins, refused), (2, 2, 0));
    assert!(refreshes <= 1, "{refreshes}");
}

#[test]
fn of_eight_processes_one_refreshes() {
    let Some(packages) = packages() else { return };
    let protected = Protected::start(&packages);
    check_all_called(&protected.run(1, 3));
    let [.., before, _] = protected.desk("/");
    for round in 1..=5 {
        protected.desk("/expire");
        check_all_called(&protected.run(8, 0));
        let [_, logins, refreshes, refused] = protected.desk("/");
        assert_eq!((logins, refreshes - before, refused), (2, round, 0));
    }
}

#[test]
fn what_was_revoked_wants_a_login_and_is_not_tried_again() {
    let Some(packages) = packages() else { return };
    let protected = Protected::start(&packages);
    check_all_called(&protected.run(1, 3));
    let secrets = protected.secrets();
    protected.desk("/revoke");
    for output in protected.run(8, 0) {
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(!output.status.success() && said.contains("requires a login"), "{said}");
        assert!(!secrets.iter().any(|secret| said.contains(secret)), "{said}");
    }
    let [.., refused] = protected.desk("/allow");
    assert_eq!(refused, 1);
    check_all_called(&protected.run(1, 3));
}

#[test]
fn a_client_that_was_registered_beforehand_is_used_and_kept() {
    let Some(packages) = packages() else { return };
    let protected = Protected::start(&packages);
    let mut command = client();
    command.arg(&protected.resource).env("MEMDIR_TOKENS", &protected.tokens);
    let output = command.env("MCP_CONFORMANCE_CONTEXT", r#"{"client_id": "fixed"}"#).output().unwrap();
    check_all_called(&[output]);
    let [registrations, logins, ..] = protected.desk("/");
    assert_eq!((registrations, logins), (0, 2));
    let kept: Value = serde_json::from_slice(&std::fs::read(&protected.tokens).unwrap()).unwrap();
    let entry = &kept["servers"]["conformance"];
    assert_eq!(
        (entry["client"]["id"].as_str(), entry["credentials"]["client_id"].as_str()),
        (Some("fixed"), Some("fixed"))
    );
}

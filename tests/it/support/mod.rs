//! A memory in a temporary folder, an empty home, and the built binary run on them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) mod engine;
mod mask;
pub(crate) mod rpc;
pub(crate) mod standin;
#[cfg(target_os = "linux")]
pub(crate) mod trace;
pub(crate) mod wire;

pub(crate) use mask::{mask, mask_text};

/// A memory with nothing around it that could change what happens.
#[derive(Debug)]
pub(crate) struct Env {
    base: TempDir,
    memory: PathBuf,
    variables: Vec<(String, String)>,
}

/// What a run of the binary left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Env {
    /// An empty memory.
    pub(crate) fn new() -> Self {
        let base = tempfile::Builder::new().prefix("it-").tempdir().unwrap();
        let memory = base.path().join("memory");
        fs::create_dir(&memory).unwrap();
        fs::create_dir(base.path().join("home")).unwrap();
        Self { base, memory, variables: Vec::new() }
    }

    /// A memory with some notes.
    pub(crate) fn with(notes: &[(&str, &str)]) -> Self {
        let env = Self::new();
        for (path, text) in notes {
            env.write(path, text);
        }
        env
    }

    /// The memory of the example in the contract.
    pub(crate) fn ada() -> Self {
        Self::with(&[
            ("user.md", "# Ada\n\n- city: London\n"),
            ("entities/acme.md", "# Acme\n\n## Basic Information\n\n- kind: company\n- founder: [[user]]\n"),
        ])
    }

    /// Sets a variable of the environment.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Flushes nothing: for tests of many runs that are not about power cuts.
    pub(crate) fn quick(self) -> Self {
        self.set("MEMDIR_DURABILITY", "atomic")
    }

    /// Writes the user's settings file.
    pub(crate) fn settings(self, toml: &str) -> Self {
        let folder = self.home().join(".config/memdir");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), toml).unwrap();
        self
    }

    pub(crate) fn base(&self) -> &Path {
        self.base.path()
    }

    pub(crate) fn memory(&self) -> &Path {
        &self.memory
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.base.path().join("home")
    }

    /// A path in the memory.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.memory.join(path)
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The binary with these arguments and no environment but an empty home; without `--memory`.
    pub(crate) fn bare(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.args(arguments).env_clear().env("HOME", self.home()).env("TZ", "UTC").current_dir(self.base());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// As [`Env::bare`], on the memory.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare(&["--memory"]);
        command.arg(&self.memory).args(arguments);
        command
    }

    /// Runs a command on the memory.
    pub(crate) fn run(&self, arguments: &[&str], stdin: &str) -> Ran {
        finish(self.command(arguments), stdin.as_bytes())
    }

    /// Runs `exec --json` on a text, with more arguments.
    pub(crate) fn say(&self, text: &str, more: &[&str]) -> Ran {
        let arguments: Vec<&str> = ["exec", "--json"].iter().chain(more).copied().collect();
        self.run(&arguments, text)
    }

    /// Runs a list of actions, and gives the report.
    #[track_caller]
    pub(crate) fn exec(&self, actions: &Value) -> Value {
        self.say(&said(actions), &[]).json()
    }

    /// Runs one action, and gives its outcome.
    #[track_caller]
    pub(crate) fn act(&self, action: &Value) -> Value {
        let report = self.exec(&json!([action]));
        report["actions"][0].clone()
    }

    /// A command of the memory with `--json`.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Ran {
        let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
        self.run(&arguments, "")
    }

    /// Everything in the memory: kinds, contents, modes and times.
    pub(crate) fn seen(&self) -> BTreeMap<String, Seen> {
        see(&self.memory)
    }

    /// The notes and other files of the memory, without `.memdir`.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let seen = see(&self.memory).into_iter().filter(|(path, _)| !path.starts_with(".memdir"));
        seen.filter_map(|(path, seen)| Some((path, String::from_utf8_lossy(&seen.bytes?).into_owned()))).collect()
    }
}

/// How long a run may take before it counts as one that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Runs a prepared command to its end; one that hangs is a failure.
#[track_caller]
pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Ran {
    let mut child = command.spawn().unwrap();
    #[cfg(unix)]
    let id = rustix::process::Pid::from_child(&child);
    let stdin = stdin.to_vec();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        feed(&mut child, &stdin);
        sender.send(child.wait_with_output())
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(output) => Ran::of(output.unwrap()),
        Err(_) => {
            #[cfg(unix)]
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            panic!("it hangs: {command:?}");
        }
    }
}

/// Gives a child its input; one that ends before it has read all is no error.
pub(crate) fn feed(child: &mut Child, stdin: &[u8]) {
    let mut input = child.stdin.take().unwrap();
    let _ = input.write_all(stdin);
}

/// Actions as a model writes them.
pub(crate) fn said(actions: &Value) -> String {
    format!("<actions>{actions}</actions>")
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The one JSON object on standard output, on one line.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let line = self.stdout.strip_suffix('\n').unwrap_or_else(|| panic!("no line: {self:?}"));
        assert!(!line.contains('\n'), "more than one line: {self:?}");
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert!(value.is_object(), "{self:?}");
        value
    }

    /// The object, once the exit code is as expected.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        self.json()
    }
}

/// One entry of a folder: what a snapshot compares.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Seen {
    pub(crate) kind: &'static str,
    /// The content of a file, or the target of a link.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) modified: SystemTime,
    pub(crate) mode: u32,
}

/// Everything below a folder, and the folder itself as the empty path. Opens only regular files.
pub(crate) fn see(folder: &Path) -> BTreeMap<String, Seen> {
    let mut seen = BTreeMap::new();
    look(folder, String::new(), &mut seen);
    seen
}

fn look(path: &Path, name: String, seen: &mut BTreeMap<String, Seen>) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let (kind, bytes) = if metadata.is_dir() {
        ("folder", None)
    } else if metadata.is_symlink() {
        ("link", Some(fs::read_link(path).unwrap().into_os_string().into_encoded_bytes()))
    } else if metadata.is_file() && metadata.len() < 1 << 24 {
        ("file", fs::read(path).ok())
    } else {
        ("other", None)
    };
    #[cfg(unix)]
    let mode = std::os::unix::fs::MetadataExt::mode(&metadata);
    #[cfg(not(unix))]
    let mode = 0;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let below = entry.file_name().to_string_lossy().into_owned();
            let below = if name.is_empty() { below } else { format!("{name}/{below}") };
            look(&entry.path(), below, seen);
        }
    }
    seen.insert(name, Seen { kind, bytes, modified: metadata.modified().unwrap(), mode });
}

/// A number from the environment, or what CI uses.
pub(crate) fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// All files below a folder, as bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below)).unwrap() {
            let entry = entry.unwrap();
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                let name = path.to_str().unwrap().replace('\\', "/");
                found.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// Waits until something is so; it counts as never after a while.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "it never came to be: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

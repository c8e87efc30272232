//! The hub as people and programs meet it: `memdir tools`, over a server for tests and over real ones.

mod command;
mod import;
mod mcp;
mod real;
mod talk;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::docs::root;
use crate::support::{Env, Ran};

/// The server for tests, which is built where it is not there yet.
pub(crate) fn scripted() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_memdir")).parent().unwrap();
        let program = folder.join("examples/scripted_server");
        // `cargo test` of the whole workspace has built it.
        if !program.exists() {
            let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.args(["build", "--locked", "--quiet", "-p", "memdir-hub", "--example", "scripted_server"]);
            if folder.ends_with("release") {
                cargo.arg("--release");
            }
            let built = cargo.current_dir(root()).stdin(Stdio::null()).status();
            assert!(program.exists(), "the server for tests was not built: {built:?}");
        }
        program.to_str().unwrap().to_owned()
    })
}

/// A memory and an empty home, with the programs that servers start by name.
pub(crate) fn env() -> Env {
    Env::ada().quick().set("PATH", &std::env::var("PATH").unwrap_or_default())
}

/// Adds the server for tests under a name, with options before its `--`.
#[track_caller]
pub(crate) fn add(env: &Env, name: &str, options: &[&str]) -> Value {
    let ran = run(env, &[&["add", name, "--yes"], options, &["--", scripted()]].concat());
    ran.exits(0)
}

/// `memdir tools … --json`. What follows `--` is the server's.
pub(crate) fn run(env: &Env, arguments: &[&str]) -> Ran {
    env.run(&[&["--json", "tools"], arguments].concat(), "")
}

/// The registry.
pub(crate) fn registry(env: &Env) -> PathBuf {
    env.home().join(".config/memdir/tools.toml")
}

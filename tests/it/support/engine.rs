//! The library in the test's own process, for loops that would be slow through a process each.

use std::path::Path;
use std::time::{Duration, SystemTime};

use memdir::dialect;
use memdir::engine::{Engine, IndexPlace, Manner, Proposal, Settings};
use memdir::plan::Limits;
use memdir::policy::{Mode, Rules};
use memdir::time::Timestamp;
use memdir::vault::{Author, Durability, Options, Vault};
use serde_json::Value;

use super::said;

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Opens a memory as the binary does, but flushes nothing.
pub(crate) fn open(memory: &Path) -> Engine {
    let root = memory.canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let options = Options { durability: Durability::Atomic, ..Options::default() };
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index: IndexPlace::Nowhere,
        clock: now,
    };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
}

/// What a list of actions would do.
pub(crate) fn propose(engine: &Engine, actions: &Value) -> Proposal {
    let author = Author { door: "exec".into(), client: None, session: None, message: None, origin: "model".into() };
    let manner = Manner { author, mode: Mode::Off, read_only: false, atomic: false };
    engine.propose(dialect::parse(said(actions).as_bytes()), manner)
}

/// Runs a list of actions, and gives the report.
pub(crate) fn exec(engine: &Engine, actions: &Value) -> Value {
    serde_json::to_value(engine.conclude(propose(engine, actions))).unwrap()
}

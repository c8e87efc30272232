//! The library in the test's own process, for loops that would be slow through a process each.

use std::path::Path;
use std::time::{Duration, SystemTime};

use memdir_core::time::Timestamp;
use memdir_dialect as dialect;
use memdir_engine::{Caller, Engine, InboxPlace, IndexPlace, Proposal, Settings};
use memdir_plan::Limits;
use memdir_policy::Rules;
use memdir_vault::{Durability, Options, Vault};
use serde_json::Value;

use super::said;

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Opens the vault of a memory that flushes nothing, with the state that the binary has.
pub(crate) fn vault(memory: &Path) -> Vault {
    let root = memory.canonicalize().unwrap();
    let dir = cap_std::fs::Dir::open_ambient_dir(&root, cap_std::ambient_authority()).unwrap();
    let state = memory.join(".memdir").read_dir().into_iter().flatten().map(|entry| entry.unwrap());
    let machine =
        state.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap()).next();
    let machine = machine.unwrap_or_else(|| Options::default().machine);
    Vault::open(dir, root, Options { durability: Durability::Atomic, machine, ..Options::default() }).unwrap()
}

/// Opens a memory as the binary does, but flushes nothing and keeps no index.
pub(crate) fn open(memory: &Path) -> Engine {
    indexed(memory, IndexPlace::Nowhere)
}

/// As [`open`], with an index.
pub(crate) fn indexed(memory: &Path, index: IndexPlace) -> Engine {
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index,
        inbox: InboxPlace::Disk,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(7 * 24 * 60 * 60),
        clock: now,
    };
    Engine::new(vault(memory), settings)
}

/// What a list of actions would do.
pub(crate) fn propose(engine: &Engine, actions: &Value) -> Proposal {
    engine.propose(dialect::parse(said(actions).as_bytes()), Caller::model("exec"))
}

/// Runs a list of actions, and gives the report.
pub(crate) fn exec(engine: &Engine, actions: &Value) -> Value {
    serde_json::to_value(engine.conclude(propose(engine, actions))).unwrap()
}

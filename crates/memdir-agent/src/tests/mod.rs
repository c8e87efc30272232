#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests play the person and the editor, who use paths"
)]

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tokio_util::sync::CancellationToken;

use super::{Agent, AgentError, Decision, Edge, Event, Family, Prompts, Removals, Said, Session, Settings};
use memdir_core::time::Timestamp;
use memdir_engine::{self as engine, Engine, InboxPlace, IndexPlace, Reviewed};
use memdir_model::script::Scripted;
use memdir_plan::Limits;
use memdir_policy::{Mode, Rules};
use memdir_vault::{Durability, Options, Vault};

mod budget;
mod corrections;
mod forget;
mod kept;
mod replay;
mod run;
mod stages;
mod tool_results;
mod tool_steps;
pub(crate) mod tools;

/// Noon.
fn clock() -> Timestamp {
    Timestamp::parse("2027-01-01T12:00:00Z").unwrap()
}

fn engine(root: &Path) -> Engine {
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    let options =
        Options { lock_timeout: Duration::from_secs(5), durability: Durability::Atomic, ..Options::default() };
    let settings = engine::Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Disk,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(7 * 24 * 60 * 60),
        clock,
    };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
        .with_sessions(crate::cut_session, crate::Session::said)
}

fn settings() -> Settings {
    Settings {
        family: Family::Capable,
        door: "chat",
        mode: Mode::Ask,
        removals: Removals::Allow,
        turns: 8,
        tokens: None,
        context: 900,
        max_tokens: 1_024,
        temperature: 0.0,
        staged: false,
        clock,
    }
}

/// A person who has decided before what to say; with nothing left to say they are not there.
#[derive(Debug, Default)]
struct Person(VecDeque<Decision>);

impl Person {
    fn saying(decisions: impl IntoIterator<Item = Decision>) -> Self {
        Self(decisions.into_iter().collect())
    }
}

impl Edge for Person {
    fn hear(&mut self, _: Event<'_>) {}

    fn decide(&mut self, _: &Reviewed) -> Decision {
        self.0.pop_front().unwrap_or(Decision::Later)
    }

    fn is_attended(&self) -> bool {
        !self.0.is_empty()
    }
}

/// A memory with a kept session.
struct Env {
    folder: tempfile::TempDir,
}

const ID: &str = "7f3a";

impl Env {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("user.md"), "# Ada\n\n- city: London\n").unwrap();
        Self { folder }
    }

    fn engine(&self) -> Engine {
        engine(self.folder.path())
    }

    /// Says something in a session, to a model that answers so.
    fn say(&self, session: Session, message: &str, turns: &[&str]) -> (Said, Session) {
        let engine = self.engine();
        let mut agent = agent(&engine, session, turns);
        let said = say(&mut agent, message, &mut Person::default()).unwrap();
        (said, agent.session().clone())
    }

    fn file(&self) -> String {
        std::fs::read_to_string(self.path()).unwrap()
    }

    /// Puts lines into the session as memdir would have written them.
    fn put(&self, lines: &str) {
        let before = std::fs::read(self.path()).unwrap();
        let sealed = self.engine().sealed_anew(ID, &before, lines.into()).unwrap();
        std::fs::write(self.path(), sealed).unwrap();
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join(format!(".memdir/local/sessions/{ID}.jsonl"))
    }

    fn user(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("user.md")).unwrap()
    }
}

fn agent<'e>(engine: &'e Engine, session: Session, turns: &[&str]) -> Agent<'e> {
    Agent::new(engine, Box::new(Scripted::new(turns)), Prompts::default(), settings(), session).kept()
}

fn say(agent: &mut Agent<'_>, message: &str, person: &mut Person) -> Result<Said, AgentError> {
    let mut said = Said::default();
    agent.say(message, person, &CancellationToken::new(), &mut said).map(|()| said)
}

/// All notes, by path.
fn notes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if name.starts_with(".memdir") {
                continue;
            }
            if path.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                open.push(path);
            } else {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

const MOVED: &str = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Paris"}]</actions>"#;

//! A hub in a folder of its own, and the servers it can have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memdir_core::report::Failure;
use memdir_hub::{Hub, Places, RegistrySource};
use memdir_tools::{
    CallError, CallEvents, Permission, Server, ServerName, Tool, ToolAnswer, ToolCall, ToolName, ToolRule, Toolbox,
    Transport, digest_of,
};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A program beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} was not built: `cargo build -p memdir-hub --examples` builds it", path.display());
    path
}

/// A word that no other process has among its arguments.
pub(crate) fn new_mark() -> String {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    format!("mark-{}-{}-", std::process::id(), GIVEN.fetch_add(1, Ordering::Relaxed))
}

/// The processes that have this word among their arguments, by the system's list.
pub(crate) fn processes(mark: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let has_mark = |process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_mark).collect()
}

pub(crate) fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

/// Waits until something is so; fails after `limit`.
#[track_caller]
pub(crate) fn soon(what: &str, limit: Duration, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A registry that the test changes.
#[derive(Clone, Default)]
pub(crate) struct Registry(Arc<Mutex<(Vec<Server>, bool)>>, Arc<Mutex<Option<Failure>>>);

impl Registry {
    pub(crate) fn put(&self, servers: Vec<Server>) {
        *self.0.lock().unwrap() = (servers, true);
    }

    /// It cannot be read for this reason; `None`: it can be again.
    pub(crate) fn fail(&self, failure: Option<Failure>) {
        *self.1.lock().unwrap() = failure;
    }
}

impl RegistrySource for Registry {
    fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure> {
        if let Some(failure) = self.1.lock().unwrap().clone() {
            return Err(failure);
        }
        let mut held = self.0.lock().unwrap();
        Ok(std::mem::take(&mut held.1).then(|| held.0.clone()))
    }
}

/// A scripted server.
pub(crate) struct Script {
    name: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    pub(crate) server: Server,
}

pub(crate) fn script(name: &str) -> Script {
    let transport = Transport::Stdio { command: String::new(), args: Vec::new(), env: BTreeMap::new(), cwd: None };
    let mut server = Server::new(ServerName::parse(name).unwrap(), transport);
    server.permission = Permission::Allow;
    // Some tool of it was approved once, so it is started to see what it has.
    server.tools.insert("gone".to_owned(), ToolRule { pin: Some(digest_of(&Map::new())), ..ToolRule::default() });
    Script { name: name.to_owned(), args: Vec::new(), env: BTreeMap::new(), server }
}

impl Script {
    pub(crate) fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.env.insert(name.to_owned(), value.to_string());
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Server)) -> Self {
        change(&mut self.server);
        self
    }

    pub(crate) fn rule(self, tool: &str, change: impl FnOnce(&mut ToolRule)) -> Self {
        self.with(|server| change(server.tools.entry(tool.to_owned()).or_default()))
    }

    pub(crate) fn build(self, fixture: &Path) -> Server {
        let mut env = self.env;
        env.insert("SCRIPTED_JOURNAL".to_owned(), fixture.join(format!("{}.journal", self.name)).display().to_string());
        let command = example("scripted_server").display().to_string();
        Server { transport: Transport::Stdio { command, args: self.args, env, cwd: None }, ..self.server }
    }
}

/// A hub with its folder.
pub(crate) struct Fixture {
    hub: Option<Hub>,
    pub(crate) registry: Registry,
    pub(crate) folder: TempDir,
}

impl Fixture {
    pub(crate) fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::default();
        registry.put(scripts.into_iter().map(|script| script.build(folder.path())).collect());
        let mut fixture = Self { hub: None, registry, folder };
        fixture.start();
        fixture
    }

    /// Ends the hub and starts another over the same folder.
    pub(crate) fn start(&mut self) {
        self.end();
        self.registry.0.lock().unwrap().1 = true;
        self.hub = Some(Hub::start(Box::new(self.registry.clone()), places(self.folder.path())).unwrap());
    }

    pub(crate) fn end(&mut self) {
        self.hub = None;
    }

    pub(crate) fn put(&self, scripts: impl IntoIterator<Item = Script>) {
        self.registry.put(scripts.into_iter().map(|script| script.build(self.folder.path())).collect());
    }

    pub(crate) fn hub(&self) -> &Hub {
        self.hub.as_ref().unwrap()
    }

    /// Calls a tool, and hears nothing of it.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<ToolAnswer, CallError> {
        self.call_with(tool, arguments, &mut (), &CancellationToken::new())
    }

    pub(crate) fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        self.hub().call(&call(tool, arguments), events, stop)
    }

    /// What the server has got so far, a line a message.
    pub(crate) fn journal(&self, server: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join(format!("{server}.journal"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often the server was asked for this.
    pub(crate) fn times(&self, server: &str, line: &str) -> usize {
        self.journal(server).iter().filter(|written| *written == line).count()
    }

    /// The tools, once there are some of this server.
    pub(crate) fn tools_of(&self, server: &str) -> Vec<Tool> {
        let of_it = || -> Vec<Tool> {
            self.hub().tools().iter().filter(|tool| tool.server.as_str() == server).cloned().collect()
        };
        soon("the tools of the server", Duration::from_secs(20), || !of_it().is_empty());
        of_it()
    }

    /// Writes the pins of all tools of a server as they are now into the registry.
    pub(crate) fn approve(&self, script: impl Fn() -> Script) {
        let name = script().server.name;
        let pins = self.hub().approve(&name, self.hub().definitions(&name).1).unwrap();
        let pinned =
            pins.into_iter().fold(script(), |script, (own, pin)| script.rule(&own, |rule| rule.pin = Some(pin)));
        self.put([pinned]);
    }
}

pub(crate) fn places(folder: &Path) -> Places {
    Places {
        lists: Some(folder.join("lists")),
        logs: Some(folder.join("logs")),
        tokens: None,
        home: Some(folder.to_owned()),
        environment: std::env::vars().collect(),
        guard: vec![example("scripted_server").display().to_string(), "__guard".to_owned()],
    }
}

pub(crate) fn call(tool: &str, arguments: Value) -> ToolCall {
    let (server, own) = tool.split_once("__").unwrap();
    ToolCall { tool: ToolName::of(&ServerName::parse(server).unwrap(), own), arguments: map(arguments), client: None }
}

pub(crate) fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// The text of a result.
pub(crate) fn text(answer: &ToolAnswer) -> &str {
    answer.result["content"][0]["text"].as_str().unwrap()
}

pub(crate) fn pin_of(tool: &Tool) -> memdir_core::digest::Digest {
    digest_of(&tool.definition)
}

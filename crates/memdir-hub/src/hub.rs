//! [`Hub`]: the servers of the registry, their tools and calls of them.
//!
//! All connections live on one thread of its own; those who call block on theirs.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_tools::{
    CallError, CallEvents, PinState, Server, ServerName, ServerState, Tool, ToolAnswer, ToolCall, ToolName, Toolbox,
    digest_of,
};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::client::{CallMessage, RunningCall};
use crate::connect::{Machine, Opening, Places};
use crate::kept::Lists;
use crate::link::Listed;
use crate::lock;
use crate::log::ServerLog;
use crate::rate::Rates;
use crate::results::{self, Results};
use crate::server::{Job, Slot, Started};

/// How often the registry is looked at where nobody asks.
const LOOK: Duration = Duration::from_secs(1);
/// How long programs may take to end with the hub.
const END: Duration = Duration::from_secs(2);

/// A tool's definition, as its server sent it.
pub type Definition = Map<String, Value>;

/// Where the registry comes from.
pub trait RegistrySource: Send + Sync {
    /// The servers; `None` where nothing has changed since the last call that gave some. Called once a second at least, so it
    /// has to be cheap.
    ///
    /// # Errors
    ///
    /// Those of reading it; no tool is called until it can be read again. Connections stay.
    fn read_if_changed(&self) -> Result<Option<Vec<Server>>, Failure>;
}

/// What was found when a server was connected to.
#[derive(Clone, Debug, Serialize)]
pub struct Examined {
    /// The version of the protocol that is spoken.
    pub protocol: String,
    /// What the program calls itself; empty where it says nothing.
    pub server_name: String,
    /// Its version, as it says.
    pub server_version: String,
    /// How many tools it has.
    pub tools: usize,
    /// How many bytes their definitions have as JSON.
    pub list_bytes: usize,
    /// The tools that are left out, by the server's own names, shortened and twenty at most: the name is too long, or would be
    /// offered as that of another tool is.
    pub left_out: Vec<String>,
    /// The time until it could be used: started, and its list read.
    pub first_answer: Duration,
    /// The last lines of its standard error, the newest last.
    pub stderr: Vec<String>,
}

/// The connections to all servers of a registry.
///
/// When it is dropped, all that it started ends, within two seconds and before the drop returns; what does not is killed.
pub struct Hub {
    shared: Arc<Shared>,
    runtime: Handle,
    thread: Option<JoinHandle<()>>,
}

/// A server, as the registry has it now.
#[derive(Clone)]
struct Entry {
    server: Arc<Server>,
    slot: Arc<Slot>,
}

/// What all threads of a hub know.
pub(crate) struct Shared {
    registry: Box<dyn RegistrySource>,
    pub(crate) machine: Machine,
    pub(crate) lists: Lists,
    entries: Mutex<BTreeMap<ServerName, Entry>>,
    tools: Mutex<Arc<[Tool]>>,
    heard: Mutex<Vec<Arc<dyn Fn() + Send + Sync>>>,
    results: Mutex<Results>,
    rates: Mutex<Rates>,
    /// Why the registry cannot be read.
    unreadable: Mutex<Option<Failure>>,
    /// Held while the registry is read and what has changed in it is done, so that the newest state is the last.
    looking: Mutex<()>,
    stop: CancellationToken,
}

impl Hub {
    /// Reads the registry and starts the hub's thread. No server is started.
    ///
    /// # Errors
    ///
    /// Those of the registry, and where the system gives no thread.
    pub fn start(registry: Box<dyn RegistrySource>, places: Places) -> Result<Self, Failure> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| no_thread(&error))?;
        let shared = Arc::new(Shared::new(registry, places));
        shared.read_registry()?;
        let handle = runtime.handle().clone();
        let of_thread = shared.clone();
        let run = move || {
            runtime.block_on(of_thread.run());
            // A program that is still being asked whether it has ended is not waited for.
            runtime.shutdown_background();
        };
        let thread =
            std::thread::Builder::new().name("hub".to_owned()).spawn(run).map_err(|error| no_thread(&error))?;
        Ok(Self { shared, runtime: handle, thread: Some(thread) })
    }

    /// Connects to a server beside the connection that there may be, reads its list, and ends that connection. Blocks. The list is
    /// known from then on.
    ///
    /// # Errors
    ///
    /// [`CallError`], by what went wrong; `Unreachable` also where the registry has no such server.
    pub fn connect_now(&self, server: &ServerName, stop: &CancellationToken) -> Result<Examined, CallError> {
        self.shared.look();
        let entry = self.shared.entry(server).ok_or_else(|| not_registered(server))?;
        let (shared, stop) = (self.shared.clone(), stop.child_token());
        let _ends_with_this = stop.clone().drop_guard();
        let (done, waits) = mpsc::channel();
        self.runtime.spawn(async move {
            let examined = tokio::select! {
                examined = examine(&shared, &entry) => examined,
                () = stop.cancelled() => Err(CallError::Cancelled),
            };
            let _ = done.send(examined);
        });
        waits.recv().unwrap_or_else(|_| Err(has_ended(server)))
    }

    /// Keeps the definitions that the person was shown as the approved ones, and gives their pins for the registry, by the
    /// server's own names. The pins that were there before count no more: a tool that is gone has none.
    ///
    /// # Errors
    ///
    /// `conflict`, with nothing changed, where the server has other tools by now; `unavailable` where the file cannot be written.
    pub fn approve(&self, server: &ServerName, shown: Vec<Definition>) -> Result<BTreeMap<String, Digest>, Failure> {
        let pins = |tools: &[Definition]| -> BTreeMap<String, Digest> {
            tools.iter().filter_map(|tool| Some((own_name(tool)?.to_owned(), digest_of(tool)))).collect()
        };
        let approved = pins(&shown);
        if approved != pins(&self.definitions(server).1) {
            let failure = Failure::new(Code::Conflict, format!("the tools of `{server}` have changed meanwhile"));
            let hint = format!("nothing is approved; `memdir tools approve {server}` shows them as they are now");
            return Err(failure.with_hint(hint));
        }
        self.shared.lists.put_approved(server, shown).map_err(|error| {
            Failure::new(Code::Unavailable, format!("what was approved cannot be kept: {}", error.kind()))
        })?;
        Ok(approved)
    }

    /// The definitions that were approved, and those that the server has now, as far as they are known.
    #[must_use]
    pub fn definitions(&self, server: &ServerName) -> (Vec<Definition>, Vec<Definition>) {
        self.shared.look();
        let now = self.shared.entry(server).and_then(|entry| entry.slot.list());
        (self.shared.lists.approved(server), now.map(|list| list.tools.clone()).unwrap_or_default())
    }

    /// The last lines that a server wrote to its standard error, the newest last, also for earlier processes.
    #[must_use]
    pub fn log_lines(&self, server: &ServerName, most: usize) -> Vec<String> {
        self.shared.look();
        self.shared.entry(server).map(|entry| entry.slot.log.last(most)).unwrap_or_default()
    }

    /// The last lines that a server wrote when this program started it last; none where it has not.
    #[must_use]
    pub fn last_lines(&self, server: &ServerName, most: usize) -> Vec<String> {
        self.shared.entry(server).map(|entry| entry.slot.last_lines(most)).unwrap_or_default()
    }

    /// The tool that a call names, with its server. Where nothing is known of the server's tools yet, it is asked for them.
    fn find(&self, call: &ToolCall, stop: &CancellationToken) -> Result<(Entry, Tool), CallError> {
        self.shared.look();
        self.shared.check()?;
        let unknown = || CallError::UnknownTool(call.tool.to_string());
        let server = ToolName::server_in(call.tool.as_str()).ok_or_else(unknown)?;
        let entry = self.shared.entry(&server).filter(|entry| entry.server.enabled).ok_or_else(unknown)?;
        if entry.slot.list().is_none() {
            let (shared, entry, stop) = (self.shared.clone(), entry.clone(), stop.clone());
            let (done, waits) = mpsc::channel();
            self.runtime.spawn(async move {
                let linked = entry.slot.link_unless(&shared, &entry.server, &stop).await.map(|_| ());
                let _ = done.send(linked);
            });
            waits.recv().unwrap_or_else(|_| Err(has_ended(&server)))?;
        }
        let tools = lock(&self.shared.tools).clone();
        let tool = tools.iter().find(|tool| tool.name == call.tool).cloned().ok_or_else(unknown)?;
        Ok((entry, tool))
    }

    /// Makes a call on the hub's thread, and hears of it on this one until it is done.
    fn run(
        &self,
        entry: &Entry,
        job: (Tool, &ToolCall),
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<Map<String, Value>, CallError> {
        let (tool, call) = job;
        let (to_caller, heard) = mpsc::channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let running = Arc::new(RunningCall::new(to_caller, waiting.clone()));
        // Where this thread panics in an event, the call ends too.
        let stop = stop.child_token();
        let _ends_with_this = stop.clone().drop_guard();
        let job = Job { server: entry.server.clone(), tool, arguments: call.arguments.clone(), running, stop };
        self.runtime.spawn(entry.slot.clone().call(self.shared.clone(), job));
        loop {
            match heard.recv() {
                Ok(CallMessage::Progress(progress)) => {
                    waiting.fetch_sub(1, Ordering::Relaxed);
                    events.progress(&progress);
                }
                Ok(CallMessage::Elicit(elicitation, answer)) => {
                    // Nobody waits for it where the call has ended meanwhile.
                    let _ = answer.send(events.elicit(&elicitation));
                }
                Ok(CallMessage::Done(result)) => return result,
                Err(_) => return Err(has_ended(&entry.server.name)),
            }
        }
    }

    fn check_rate(&self, server: &Server, call: &ToolCall, is_made: bool) -> Result<(), CallError> {
        let Some(rate) = server.rate else { return Ok(()) };
        let who = (call.client.as_deref(), &server.name);
        let checked = lock(&self.shared.rates).check(who, rate, Instant::now(), is_made);
        checked.map_err(|wait| CallError::TooSoon { server: server.name.to_string(), wait })
    }

    /// Where the result of a call is kept, and for how long at most; `None` where it is not.
    fn kept_at(entry: &Entry, own: &str, call: &ToolCall) -> Option<(Digest, NonZeroU32)> {
        let lasts = entry.server.tools.get(own)?.cache_seconds?;
        Some((results::key(call.client.as_deref(), &entry.slot.transport, own, &call.arguments), lasts))
    }

    fn kept(&self, at: Option<&(Digest, NonZeroU32)>) -> Option<Map<String, Value>> {
        lock(&self.shared.results).get(&at?.0, Instant::now())
    }
}

impl Toolbox for Hub {
    fn servers(&self) -> Vec<ServerState> {
        self.shared.look();
        let tools = lock(&self.shared.tools).clone();
        let entries = lock(&self.shared.entries);
        let state = |(name, entry): (&ServerName, &Entry)| {
            let of_it = || tools.iter().filter(|tool| tool.server == *name);
            let unapproved = of_it().filter(|tool| tool.pin != PinState::Approved).count();
            let (enabled, approved) = (entry.server.enabled, entry.server.is_approved());
            let (health, tools) = (entry.slot.health(), of_it().count());
            ServerState { name: name.clone(), enabled, approved, health, tools, unapproved }
        };
        entries.iter().map(state).collect()
    }

    fn tools(&self) -> Arc<[Tool]> {
        self.shared.look();
        let entries: Vec<Entry> = lock(&self.shared.entries).values().cloned().collect();
        let can_read = self.shared.check().is_ok();
        let may_start = |entry: &&Entry| can_read && entry.server.enabled && entry.server.is_approved();
        for entry in entries.iter().filter(may_start) {
            entry.slot.start_behind(&self.runtime, &self.shared, &entry.server);
        }
        lock(&self.shared.tools).clone()
    }

    fn may_call(&self, call: &ToolCall) -> Result<(), CallError> {
        self.shared.look();
        self.shared.check()?;
        let server = ToolName::server_in(call.tool.as_str()).and_then(|server| self.shared.entry(&server));
        let tools = lock(&self.shared.tools).clone();
        let tool = tools.iter().find(|tool| tool.name == call.tool);
        match server.zip(tool) {
            Some((entry, tool)) if self.kept(Self::kept_at(&entry, &tool.own, call).as_ref()).is_none() => {
                self.check_rate(&entry.server, call, false)
            }
            _ => Ok(()),
        }
    }

    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        let began = Instant::now();
        let (entry, tool) = self.find(call, stop)?;
        let kept_at = Self::kept_at(&entry, &tool.own, call);
        if let Some(result) = self.kept(kept_at.as_ref()) {
            return Ok(ToolAnswer { result, is_cached: true, took: began.elapsed() });
        }
        self.check_rate(&entry.server, call, true)?;
        let result = self.run(&entry, (tool, call), events, stop)?;
        if let Some((key, lasts)) = kept_at {
            lock(&self.shared.results).put(key, &result, seconds(lasts), Instant::now());
        }
        Ok(ToolAnswer { result, is_cached: false, took: began.elapsed() })
    }

    fn on_change(&self, heard: Box<dyn Fn() + Send + Sync>) {
        lock(&self.shared.heard).push(Arc::from(heard));
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        let thread = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id());
        if let Some(Err(_)) = thread.map(JoinHandle::join) {
            tracing::error!("the thread of the hub has panicked");
        }
        self.shared.machine.guard.end();
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hub").field("places", &self.shared.machine.places.lists).finish_non_exhaustive()
    }
}

impl Shared {
    fn new(registry: Box<dyn RegistrySource>, places: Places) -> Self {
        let lists = Lists(places.lists.clone());
        Self {
            registry,
            machine: Machine::new(places),
            lists,
            entries: Mutex::default(),
            tools: Mutex::new(Arc::new([])),
            heard: Mutex::default(),
            results: Mutex::default(),
            rates: Mutex::default(),
            unreadable: Mutex::default(),
            looking: Mutex::default(),
            stop: CancellationToken::new(),
        }
    }

    /// Looks at the registry once a second until the hub ends, and then ends all programs.
    async fn run(self: Arc<Self>) {
        while tokio::time::timeout(LOOK, self.stop.cancelled()).await.is_err() {
            // On a thread that may wait: kept lists are read from files.
            let looking = self.clone();
            let _ = tokio::task::spawn_blocking(move || looking.look()).await;
        }
        let links: Vec<_> = lock(&self.entries).values().filter_map(|entry| entry.slot.close()).collect();
        let told = async {
            for link in links {
                link.has_ended().await;
            }
        };
        let _ = tokio::join!(self.machine.close(END), tokio::time::timeout(END, told));
    }

    fn entry(&self, server: &ServerName) -> Option<Entry> {
        lock(&self.entries).get(server).cloned()
    }

    /// Takes over what has changed in the registry.
    fn look(&self) {
        let before = lock(&self.unreadable).clone();
        if let Err(failure) = self.read_registry()
            && before.as_ref() != Some(&failure)
        {
            tracing::warn!(%failure, "the registry was not read; no tool is called");
        }
    }

    /// Whether what the person allows is known.
    fn check(&self) -> Result<(), CallError> {
        lock(&self.unreadable).clone().map_or(Ok(()), |failure| Err(CallError::Registry(Box::new(failure))))
    }

    fn read_registry(&self) -> Result<(), Failure> {
        {
            let _one = lock(&self.looking);
            let read = self.registry.read_if_changed();
            *lock(&self.unreadable) = read.as_ref().err().cloned();
            let Some(servers) = read? else { return Ok(()) };
            let mut before = lock(&self.entries).clone();
            let now = servers.into_iter().map(|server| {
                let entry = self.renewed(before.remove(&server.name), server);
                (entry.server.name.clone(), entry)
            });
            let now: BTreeMap<_, _> = now.collect();
            *lock(&self.entries) = now;
            for gone in before.values() {
                gone.slot.close();
            }
        }
        self.renew_tools();
        Ok(())
    }

    /// The entry of a server that may have been there before: its connection stays where it is reached as before.
    fn renewed(&self, before: Option<Entry>, server: Server) -> Entry {
        let transport = transport_digest(&server);
        let same = |before: &Entry| before.slot.transport == transport && before.server.enabled == server.enabled;
        let slot = match before {
            Some(before) if same(&before) => before.slot,
            before => {
                if let Some(before) = before {
                    before.slot.close();
                }
                let log = ServerLog::new(self.machine.places.logs.as_deref(), &server.name);
                Arc::new(Slot::new(transport, log, self.lists.seen(&server.name, &transport)))
            }
        };
        Entry { server: Arc::new(server), slot }
    }

    /// Makes the list of all tools anew, and tells those who want to hear of it where it is another than before.
    pub(crate) fn renew_tools(&self) {
        {
            // Made while it is locked, so that the newest is the last.
            let mut known = lock(&self.tools);
            let mut tools: Vec<Tool> = Vec::new();
            for entry in lock(&self.entries).values().filter(|entry| entry.server.enabled) {
                tools.extend(tools_of(entry));
            }
            tools.sort_by(|left, right| left.name.cmp(&right.name));
            if **known == *tools {
                return;
            }
            *known = tools.into();
        }
        let heard = lock(&self.heard).clone();
        for heard in heard {
            heard();
        }
    }
}

/// The tools of a server, as far as they are known.
fn tools_of(entry: &Entry) -> Vec<Tool> {
    let Some(list) = entry.slot.list() else { return Vec::new() };
    let tool = |definition: &Map<String, Value>| {
        let own = own_name(definition)?.to_owned();
        let pin = entry.server.pin_state(&own, definition);
        let name = ToolName::of(&entry.server.name, &own);
        let (server, permission) = (entry.server.name.clone(), entry.server.permission_of(&own));
        Some(Tool { name, server, own, definition: definition.clone(), permission, pin })
    };
    list.tools.iter().filter_map(tool).collect()
}

/// Connects to a server beside what there is, and says what was found.
async fn examine(shared: &Arc<Shared>, entry: &Entry) -> Result<Examined, CallError> {
    let (server, slot) = (&entry.server, &entry.slot);
    let began = Instant::now();
    let Started { mut link, listed: Listed { tools, left_out }, log } =
        slot.start(shared, server, Opening::Probe).await?;
    let first_answer = began.elapsed();
    let (server_name, server_version) = link.program();
    let examined = Examined {
        protocol: link.protocol(),
        server_name,
        server_version,
        tools: tools.len(),
        list_bytes: serde_json::to_vec(&tools).map_or(0, |json| json.len()),
        left_out,
        first_answer,
        stderr: log.recent(10),
    };
    slot.saw(shared, &server.name, link.opening(), tools).await;
    // It has answered; how it ends is seen to by its keeper.
    let _ = link.connection.close_with_timeout(END).await;
    Ok(examined)
}

/// The digest of how a server is reached.
fn transport_digest(server: &Server) -> Digest {
    // Values without maps of other keys than texts can always be written.
    Digest::of(&serde_json::to_vec(&server.transport).unwrap_or_default())
}

fn own_name(definition: &Map<String, Value>) -> Option<&str> {
    definition.get("name").and_then(Value::as_str)
}

fn seconds(seconds: NonZeroU32) -> Duration {
    Duration::from_secs(u64::from(seconds.get()))
}

fn no_thread(error: &std::io::Error) -> Failure {
    Failure::new(Code::Unavailable, format!("the hub cannot be started: {}", error.kind()))
}

fn not_registered(server: &ServerName) -> CallError {
    let problem = "no server of this name was added".to_owned();
    CallError::Unreachable { server: server.to_string(), problem, may_be_done: false }
}

fn has_ended(server: &ServerName) -> CallError {
    let problem = "the hub has ended".to_owned();
    CallError::Unreachable { server: server.to_string(), problem, may_be_done: true }
}

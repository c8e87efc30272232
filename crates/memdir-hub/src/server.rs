//! [`Slot`]: one server: when it is connected, what is known of it, and calls of its tools.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memdir_core::digest::Digest;
use memdir_tools::{CallError, Permission, PinState, Server, ServerHealth, ServerName, Tool, digest_of};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::{Handler, RunningCall};
use crate::connect::{ConnectError, Opening, connect, unreachable};
use crate::hub::Shared;
use crate::kept::SeenList;
use crate::link::{Failed, Link, Listed};
use crate::lock;
use crate::log::ServerLog;
use crate::wire::{Wire, WireEnd};

/// How long a server may take to start and to send its list.
const START: Duration = Duration::from_secs(30);
/// The pauses before it is tried once more.
const PAUSES: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];
/// The longest time for which a server that did not start is left alone, however often it is needed.
const MOST_REST: Duration = Duration::from_secs(60);
/// And one that waits for the person to log in, which they may do at any moment.
const LOGIN_REST: Duration = Duration::from_secs(2);
/// How long is waited before a list that has changed is read: changes come together.
const SETTLE: Duration = Duration::from_millis(100);
/// The longest such time.
const MOST_SETTLE: Duration = Duration::from_secs(30);
/// So many times what was waited before the last reading has to pass without a change, or else the next waits for twice as long.
const QUIET: u32 = 10;

/// How long is waited before a list is read: longer each time where it changes without end.
#[derive(Debug, Default)]
struct Settling {
    /// When the list was read last, and what was waited before that.
    last: Option<(Instant, Duration)>,
}

impl Settling {
    /// For a list that has changed by `now`.
    fn pause(&self, now: Instant) -> Duration {
        match self.last {
            Some((read, paused)) if now < read + paused * QUIET => (paused * 2).min(MOST_SETTLE),
            _ => SETTLE,
        }
    }
}

/// Why a server cannot be reached that was taken out of the registry, or changed in it.
const SWITCHED_OFF: &str = "it was switched off";

/// A call, as the thread that waits for it has handed it over.
pub(crate) struct Job {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Tool,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) running: Arc<RunningCall>,
    pub(crate) stop: CancellationToken,
}

/// A server that was started, with its list.
pub(crate) struct Started {
    pub(crate) link: Link,
    pub(crate) listed: Listed,
    /// Of its process.
    pub(crate) log: ServerLog,
}

/// One server, as long as it is reached in the same way.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The digest of how it is reached.
    pub(crate) transport: Digest,
    pub(crate) log: ServerLog,
    state: Mutex<State>,
    link: Mutex<Option<Arc<Link>>>,
    /// Held by the one who connects; the others wait for them.
    connecting: tokio::sync::Mutex<()>,
    /// Whether it was taken out of the registry.
    is_gone: AtomicBool,
}

#[derive(Debug)]
struct State {
    health: ServerHealth,
    list: Option<Arc<SeenList>>,
    /// How often it did not start since it last did, why, and until when it is left alone.
    failures: u32,
    failed: Option<(CallError, Instant)>,
    /// Of the newest process.
    log: Option<ServerLog>,
}

impl State {
    /// It cannot be reached. Its last words are for the person: they may be an instruction to a model.
    fn fail(&mut self, problem: String) {
        let words = self.log.as_ref().and_then(|log| log.recent(1).pop());
        let words = words.map(|line| format!("; its last words were `{line}`")).unwrap_or_default();
        self.health = ServerHealth::Failed { problem: problem + &words };
    }
}

impl Slot {
    pub(crate) fn new(transport: Digest, log: ServerLog, list: Option<SeenList>) -> Self {
        let list = list.map(Arc::new);
        let state = State { health: ServerHealth::Idle, list, failures: 0, failed: None, log: None };
        Self {
            transport,
            log,
            state: Mutex::new(state),
            link: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            is_gone: AtomicBool::new(false),
        }
    }

    pub(crate) fn health(&self) -> ServerHealth {
        lock(&self.state).health.clone()
    }

    /// The last lines of the process that was started last.
    pub(crate) fn last_lines(&self, most: usize) -> Vec<String> {
        let log = lock(&self.state).log.clone();
        log.map(|log| log.recent(most)).unwrap_or_default()
    }

    /// The list as it was seen last.
    pub(crate) fn list(&self) -> Option<Arc<SeenList>> {
        lock(&self.state).list.clone()
    }

    /// Connects behind, where nothing is known of its tools and it could be asked now. What comes of it is in its health.
    pub(crate) fn start_behind(self: &Arc<Self>, runtime: &Handle, shared: &Arc<Shared>, server: &Arc<Server>) {
        if self.wants_start() {
            let (slot, shared, server) = (self.clone(), shared.clone(), server.clone());
            runtime.spawn(async move { slot.link(&shared, &server).await.map(|_| ()) });
        }
    }

    fn wants_start(&self) -> bool {
        let state = lock(&self.state);
        let rests = state.failed.as_ref().is_some_and(|(_, until)| Instant::now() < *until);
        state.list.is_none() && state.health != ServerHealth::Starting && !rests
    }

    /// Ends its connection for good, and gives it where there is one: it ends behind. Calls that run fail.
    pub(crate) fn close(&self) -> Option<Arc<Link>> {
        self.is_gone.store(true, Ordering::Relaxed);
        let link = lock(&self.link).take()?;
        link.handler.wire.end(WireEnd::Lost(SWITCHED_OFF.to_owned()));
        link.connection.cancellation_token().cancel();
        Some(link)
    }

    /// The open connection; it is made where there is none. Of those who come together one connects.
    async fn link(self: &Arc<Self>, shared: &Arc<Shared>, server: &Server) -> Result<Arc<Link>, CallError> {
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let _one = self.connecting.lock().await;
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        if self.is_gone.load(Ordering::Relaxed) {
            return Err(unreachable(server, SWITCHED_OFF));
        }
        let rests = lock(&self.state).failed.clone().filter(|(_, until)| Instant::now() < *until);
        if let Some((error, _)) = rests {
            return Err(error);
        }
        self.set_health(ServerHealth::Starting);
        let opening = self.list().map_or(Opening::Probe, |list| list.opening);
        match self.start(shared, server, opening).await {
            Ok(Started { link, listed, .. }) => {
                {
                    let mut state = lock(&self.state);
                    (state.failures, state.failed) = (0, None);
                    state.health = ServerHealth::Ready { protocol: link.protocol() };
                }
                // Before the link: whoever finds that calls one of these tools.
                self.saw(shared, &server.name, link.opening(), listed.tools).await;
                Ok(self.install(shared, server, link))
            }
            Err(error) => {
                let mut state = lock(&self.state);
                let longest = if matches!(error, CallError::LoginNeeded(_)) { LOGIN_REST } else { MOST_REST };
                let rest = longest.min(Duration::from_secs(1 << state.failures.min(6)));
                state.failures += 1;
                state.failed = Some((error.clone(), Instant::now() + rest));
                state.fail(problem_of(&error));
                Err(error)
            }
        }
    }

    fn open_link(&self) -> Option<Arc<Link>> {
        lock(&self.link).as_ref().filter(|link| link.is_open()).cloned()
    }

    fn set_health(&self, health: ServerHealth) {
        lock(&self.state).health = health;
    }

    /// Connects and reads the list, with another try or two where that may help. The second asks by `initialize`: some servers
    /// end when they are asked in a way that they do not know.
    pub(crate) async fn start(&self, shared: &Shared, server: &Server, opening: Opening) -> Result<Started, CallError> {
        let mut last = String::new();
        let tries = async {
            let mut openings = [opening, Opening::Initialize, Opening::Probe]
                .into_iter()
                .zip(PAUSES.map(Some).into_iter().chain([None]));
            loop {
                let Some((opening, pause)) = openings.next() else {
                    return Err(unreachable(server, "it did not start"));
                };
                match (self.attempt(shared, server, opening).await, pause) {
                    (Ok(started), _) => return Ok(started),
                    (Err(ConnectError { error, is_final: false }), Some(pause)) => {
                        tracing::debug!(server = %server.name, "another try");
                        last = format!("; the attempt before: {}", without_words(&error));
                        sleep(pause).await;
                    }
                    (Err(ConnectError { error, .. }), _) => return Err(error),
                }
            }
        };
        let tried = timeout(START, tries).await;
        tried.unwrap_or_else(|_| {
            Err(unreachable(server, format!("it did not start within {} s{last}", START.as_secs())))
        })
    }

    async fn attempt(&self, shared: &Shared, server: &Server, opening: Opening) -> Result<Started, ConnectError> {
        let (handler, log) = (Handler::default(), self.log.of_another_process());
        lock(&self.state).log = Some(log.clone());
        let connection = connect(server, handler.clone(), &shared.machine, &log, opening).await?;
        let link = Link { connection, handler };
        match link.list(server).await {
            Ok(listed) => Ok(Started { link, listed, log }),
            Err(failed) => {
                let is_final = matches!(failed, Failed::Told(_));
                Err(ConnectError { error: failed.into_error(server), is_final })
            }
        }
    }

    /// Puts a new connection in its place, and hears of what becomes of it.
    fn install(self: &Arc<Self>, shared: &Arc<Shared>, server: &Server, link: Link) -> Arc<Link> {
        let link = Arc::new(link);
        *lock(&self.link) = Some(link.clone());
        if self.is_gone.load(Ordering::Relaxed) {
            self.close();
        }
        link.listen();
        self.watch(shared, server.clone(), &link);
        link
    }

    /// Keeps a list that was seen, and tells of it where it is another than before; on a thread that may wait for the disk.
    pub(crate) async fn saw(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        server: &ServerName,
        opening: Opening,
        tools: Vec<Map<String, Value>>,
    ) {
        let (slot, shared, server) = (self.clone(), shared.clone(), server.clone());
        let keep = move || {
            let list = SeenList::new(slot.transport, opening, tools);
            if slot.list().is_some_and(|before| *before == list) {
                return;
            }
            if let Err(error) = shared.lists.put_seen(&server, &list) {
                tracing::warn!(%server, %error, "the list of tools was not kept");
            }
            lock(&slot.state).list = Some(Arc::new(list));
            shared.renew_tools();
        };
        let _ = tokio::task::spawn_blocking(keep).await;
    }

    /// Reads the list anew when the server says that it has changed, until the connection ends.
    fn watch(self: &Arc<Self>, shared: &Arc<Shared>, server: Server, link: &Arc<Link>) {
        let (slot, shared, handler) = (Arc::downgrade(self), Arc::downgrade(shared), link.handler.clone());
        let link = Arc::downgrade(link);
        tokio::spawn(async move {
            let mut settling = Settling::default();
            loop {
                let mut pause = SETTLE;
                let changed = async {
                    handler.list_changed.notified().await;
                    pause = settling.pause(Instant::now());
                    sleep(pause).await;
                };
                let end = tokio::select! {
                    biased;
                    end = handler.wire.ended() => Some(end),
                    () = changed => None,
                };
                let Some(slot) = slot.upgrade() else { return };
                if let Some(end) = end {
                    let problem = match end {
                        WireEnd::Lost(problem) => problem,
                        WireEnd::TooLarge => "an answer was too long".to_owned(),
                    };
                    return slot.lost(&handler.wire, problem);
                }
                let (Some(shared), Some(link)) = (shared.upgrade(), link.upgrade()) else { return };
                match link.list(&server).await {
                    Ok(listed) => slot.saw(&shared, &server.name, link.opening(), listed.tools).await,
                    Err(_) => tracing::warn!(server = %server.name, "the new list was not read"),
                }
                settling.last = Some((Instant::now(), pause));
            }
        });
    }

    /// A connection has ended, or is not used again: the next call connects anew.
    fn lost(&self, wire: &Arc<Wire>, problem: String) {
        let mut link = lock(&self.link);
        if link.as_ref().is_some_and(|link| Arc::ptr_eq(&link.handler.wire, wire)) {
            *link = None;
            lock(&self.state).fail(problem);
        }
    }

    /// Makes a call, and tells the thread that waits what has become of it.
    pub(crate) async fn call(self: Arc<Self>, shared: Arc<Shared>, job: Job) {
        let result = self.try_call(&shared, &job).await;
        job.running.done(result);
    }

    /// A call is sent twice only if its server cannot have read it, or if the tool may be called again ([`Job::may_repeat`]).
    async fn try_call(self: &Arc<Self>, shared: &Arc<Shared>, job: &Job) -> Result<Map<String, Value>, CallError> {
        let mut may_try_again = true;
        loop {
            let link = self.link_unless(shared, &job.server, &job.stop).await?;
            self.check_unchanged(&job.tool)?;
            let call = (job.tool.own.as_str(), &job.arguments);
            let (problem, may_be_done) = match link.call(&job.server, call, &job.running, &job.stop).await {
                Ok(result) => return Ok(result),
                Err(Failed::Told(error)) => return Err(error),
                Err(Failed::Lost { problem, was_sent }) => (problem, was_sent),
            };
            self.lost(&link.handler.wire, problem.clone());
            if may_try_again && (!may_be_done || job.may_repeat()) {
                may_try_again = false;
                continue;
            }
            return Err(CallError::Unreachable { server: job.server.name.to_string(), problem, may_be_done });
        }
    }

    /// The open connection, as [`Self::link`] gives it, unless `stop` comes first. It is made all the same: others may wait for it.
    pub(crate) async fn link_unless(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        server: &Arc<Server>,
        stop: &CancellationToken,
    ) -> Result<Arc<Link>, CallError> {
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let (slot, shared, of_task) = (self.clone(), shared.clone(), server.clone());
        let connecting = tokio::spawn(async move { slot.link(&shared, &of_task).await });
        tokio::select! {
            link = connecting => link.unwrap_or_else(|_| Err(unreachable(server, "it was not started"))),
            () = stop.cancelled() => Err(CallError::Cancelled),
        }
    }

    /// The tool may have become another one since the call was allowed: when its server was started for it.
    fn check_unchanged(&self, tool: &Tool) -> Result<(), CallError> {
        let list = self.list().unwrap_or_else(|| Arc::new(SeenList::new(self.transport, Opening::Probe, Vec::new())));
        let now = list.tools.iter().find(|now| now.get("name").and_then(Value::as_str) == Some(&tool.own));
        match now {
            Some(now) if *now == tool.definition || digest_of(now) == digest_of(&tool.definition) => Ok(()),
            Some(_) => Err(CallError::Changed(tool.name.to_string())),
            None => Err(CallError::UnknownTool(tool.name.to_string())),
        }
    }
}

/// What is wrong with a server, without its name.
fn problem_of(error: &CallError) -> String {
    match error {
        CallError::Unreachable { problem, .. } => problem.clone(),
        error => error.to_string(),
    }
}

/// As [`problem_of`], without words of the server.
fn without_words(error: &CallError) -> String {
    match error {
        CallError::Protocol { code, .. } => format!("it answered error {code}"),
        error => problem_of(error),
    }
}

impl Job {
    /// Whether the tool says that it only reads, and the person lets it be called without a question.
    fn may_repeat(&self) -> bool {
        let hints = self.tool.definition.get("annotations");
        let only_reads = hints.and_then(|hints| hints.get("readOnlyHint")) == Some(&Value::Bool(true));
        only_reads && self.tool.permission == Permission::Allow && self.tool.pin == PinState::Approved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_changes_without_end_is_read_less_and_less() {
        let began = Instant::now();
        for (every, most) in [(0, 130), (1_000, 140), (2_000, 1_800)] {
            let (mut settling, mut readings) = (Settling::default(), 0);
            let mut now = began;
            while now < began + Duration::from_secs(3_600) {
                let pause = settling.pause(now);
                assert!((SETTLE..=MOST_SETTLE).contains(&pause), "{pause:?}");
                settling.last = Some((now + pause, pause));
                now += pause.max(Duration::from_millis(every));
                readings += 1;
            }
            assert!((120..=most).contains(&readings), "{readings} readings in an hour, a change each {every} ms");
            // Once it is quiet, a change is seen at once.
            assert_eq!(settling.pause(now + MOST_SETTLE * QUIET), SETTLE);
        }
    }
}

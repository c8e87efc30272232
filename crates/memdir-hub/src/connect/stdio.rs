//! Programs, spoken to on their standard input and output: a message a line.
//!
//! Each runs in a process group of its own, in an environment of little, and nothing of it is left when its connection has ended.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use memdir_tools::Server;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{ConnectError, Connection, Machine, Opening, fill, open};
use crate::client::Handler;
use crate::guard::{Guard, MARK, Strength, end_group, end_marked};
use crate::log::ServerLog;
use crate::wire::{MOST_MESSAGE, Wire, WireEnd};

/// What a program gets of our environment, beside `LC_…` and what its entry names.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    // What Windows programs cannot do without.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "TEMP",
    "TMP",
];
/// How long a program may take to end after its input has, and then after it was told to.
const GRACE: Duration = Duration::from_millis(500);
/// How many messages may wait for a program that does not read its input.
const MOST_WAITING: usize = 256;
/// How long is waited for the program's code when its output has ended, so that the person is told it.
const CODE: Duration = Duration::from_millis(300);
/// A longer message, in bytes, is read on another thread: all servers share this one.
const LONG: usize = 64 * 1024;
/// How long is waited for what it wrote at last: all that holds its standard error is dead by then.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// How a program is started.
pub(super) struct Program<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) cwd: Option<&'a str>,
}

impl Program<'_> {
    /// What it is called, without the folders: models are told why a server cannot be reached, and no path of this machine.
    fn name(&self) -> &str {
        Path::new(self.command).file_name().and_then(OsStr::to_str).unwrap_or(self.command)
    }
}

/// Starts a server and opens the conversation.
pub(super) async fn connect(
    server: &Server,
    program: Program<'_>,
    handler: Handler,
    machine: &Machine,
    log: &ServerLog,
    opening: Opening,
) -> Result<Connection, ConnectError> {
    let mark = machine.guard.next_mark();
    let mut command = prepared(&program, &mark, machine).map_err(|problem| ConnectError::broken(server, problem))?;
    let spawned = command.spawn().map_err(|error| {
        ConnectError::broken(
            server,
            format!("`{}` cannot be started: {}", program.name(), why_not_started(&program, error.kind())),
        )
    });
    let transport = Running::new(spawned?, mark, handler.wire.clone(), machine, log)
        .ok_or_else(|| ConnectError::lost(server, "its streams are not there"))?;
    open(server, handler, transport, opening).await
}

/// Why a program was not started. The system says the same of a program and of a folder that is not there.
fn why_not_started(program: &Program<'_>, kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound if program.cwd.is_some_and(|cwd| !cwd.contains("${") && !Path::new(cwd).is_dir()) => {
            "there is no such folder to start it in".to_owned()
        }
        ErrorKind::NotFound if program.command.contains(std::path::is_separator) => {
            "there is no such program".to_owned()
        }
        ErrorKind::NotFound => "there is no such program on PATH".to_owned(),
        kind => kind.to_string(),
    }
}

/// The command, with its variables filled.
fn prepared(program: &Program<'_>, mark: &str, machine: &Machine) -> Result<Command, String> {
    let fill = |text: &str| fill(text, &machine.places.environment);
    let mut command = Command::new(fill(program.command)?);
    for argument in program.args {
        command.arg(fill(argument)?);
    }
    command.env_clear();
    let inherited = machine.places.environment.iter();
    command.envs(inherited.filter(|(name, _)| INHERITED.contains(&name.as_str()) || name.starts_with("LC_")));
    for (name, value) in program.env {
        command.env(name, fill(value)?);
    }
    command.env(MARK, mark);
    match (program.cwd, &machine.places.home) {
        (Some(cwd), _) => _ = command.current_dir(fill(cwd)?),
        (None, Some(home)) => _ = command.current_dir(home),
        (None, None) => {}
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    Ok(command)
}

type Input = Arc<Mutex<Option<ChildStdin>>>;

/// A program that runs, as the transport of one conversation.
struct Running {
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    /// A long message that is read on another thread.
    reading: Option<JoinHandle<Result<ServerJsonRpcMessage, String>>>,
    input: Input,
    /// Held by each message that is not written yet.
    waiting: Arc<()>,
    wire: Arc<Wire>,
    log: ServerLog,
    /// How the program ended, once it has.
    exit: Exit,
    /// Has the program ended.
    closing: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

impl Running {
    fn new(mut child: Child, mark: String, wire: Arc<Wire>, machine: &Machine, log: &ServerLog) -> Option<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take()?, child.stdout.take()?, child.stderr.take()?);
        let input = Arc::new(Mutex::new(Some(stdin)));
        let closing = machine.closing.child_token();
        let (told, exit) = watch::channel(None);
        let follower = tokio::spawn(log.clone().follow(stderr));
        let keeper = Keeper { child, mark, input: input.clone(), guard: machine.guard.clone(), follower };
        machine.keep(tokio::spawn(keeper.keep(closing.clone(), told)));
        Some(Self {
            output: BufReader::new(stdout),
            line: Vec::new(),
            reading: None,
            input,
            waiting: Arc::default(),
            wire,
            log: log.clone(),
            exit,
            closing,
        })
    }

    /// Reads on to the end of a line; `Err` where there is none. What was read stays when this is dropped in between.
    async fn read_line(&mut self) -> Result<(), WireEnd> {
        loop {
            let available = self.output.fill_buf().await.map_err(|error| WireEnd::Lost(error.to_string()))?;
            if available.is_empty() {
                return Err(WireEnd::Lost("the end".to_owned()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            if self.line.len() + piece.len() > MOST_MESSAGE {
                return Err(WireEnd::TooLarge);
            }
            self.line.extend_from_slice(piece);
            let read = piece.len() + usize::from(end.is_some());
            self.output.consume(read);
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

/// How a program has ended. Nothing of what it said itself is in it: callers hand it to models.
fn in_words(status: std::process::ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it exited with status {code}"),
        None => format!("it was ended by {status}"),
    }
}

type Exit = watch::Receiver<Option<String>>;

/// How the program ended, in words.
async fn how_it_ended(mut exit: Exit) -> WireEnd {
    let waited = timeout(CODE, exit.wait_for(Option::is_some)).await;
    let how = waited.ok().and_then(Result::ok).and_then(|exit| exit.clone());
    WireEnd::Lost(how.unwrap_or_else(|| "it has closed its output".to_owned()))
}

impl rmcp::transport::Transport<RoleClient> for Running {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.wire.sends(&message);
        let (input, wire, exit) = (self.input.clone(), self.wire.clone(), self.exit.clone());
        let waits = self.waiting.clone();
        if Arc::strong_count(&waits) > MOST_WAITING {
            wire.end(WireEnd::Lost("it does not read what it is sent".to_owned()));
            self.closing.cancel();
        }
        async move {
            let written = write(&input, &message).await;
            drop(waits);
            if written.is_err() {
                wire.end(how_it_ended(exit).await);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            // It is kept here, since whoever waits for a message may stop and ask again.
            if let Some(reading) = &mut self.reading {
                let read = reading.await;
                self.reading = None;
                match read {
                    Ok(Ok(message)) => return Some(message),
                    Ok(Err(other)) => self.log.add_output(&other).await,
                    Err(_) => {}
                }
            }
            match self.read_line().await {
                Ok(()) => {
                    let (line, wire) = (std::mem::take(&mut self.line), self.wire.clone());
                    if line.len() > LONG {
                        self.reading = Some(tokio::task::spawn_blocking(move || wire.reads(&line)));
                        continue;
                    }
                    match wire.reads(&line) {
                        Ok(message) => return Some(message),
                        Err(other) => self.log.add_output(&other).await,
                    }
                }
                Err(end) => {
                    let end = match end {
                        WireEnd::Lost(_) => how_it_ended(self.exit.clone()).await,
                        WireEnd::TooLarge => end,
                    };
                    self.wire.end(end);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.wire.end(WireEnd::Lost("it was closed".to_owned()));
        self.closing.cancel();
        Ok(())
    }
}

async fn write(input: &Input, message: &ClientJsonRpcMessage) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut input = input.lock().await;
    let open = input.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
    open.write_all(&line).await?;
    open.flush().await
}

/// Who waits for a program's end, and sees to it.
struct Keeper {
    child: Child,
    /// What all that it starts carries in its environment.
    mark: String,
    input: Input,
    guard: Arc<Guard>,
    /// Who reads its standard error.
    follower: JoinHandle<()>,
}

impl Keeper {
    /// Waits until the program ends, or has to, and then ends all that is left of its group.
    async fn keep(mut self, closing: CancellationToken, told: watch::Sender<Option<String>>) {
        let Some(group) = self.child.id().and_then(|id| i32::try_from(id).ok()) else { return };
        self.guard.watch(group);
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = closing.cancelled() => self.end(group).await,
        };
        // The group's number is not given to another while one of the group lives.
        end_group(group, Strength::Kill);
        let _ = timeout(LAST_WORDS, self.follower).await;
        told.send_replace(Some(status.map_or_else(|error| error.kind().to_string(), in_words)));
        let mark = self.mark;
        let _ = tokio::task::spawn_blocking(move || end_marked(&mark)).await;
        self.guard.release(group);
    }

    /// Ends the program: by the end of its input, then by a word, then by force.
    async fn end(&mut self, group: i32) -> std::io::Result<std::process::ExitStatus> {
        // Whoever is writing waits for a program that does not read, and is not waited for.
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        for strength in [Strength::Terminate, Strength::Kill] {
            if let Ok(status) = timeout(GRACE, self.child.wait()).await {
                return status;
            }
            end_group(group, strength);
        }
        self.child.kill().await?;
        self.child.wait().await
    }
}

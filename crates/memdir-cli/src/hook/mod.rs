//! `memdir hook`: what an assistant runs when a session begins, at each message, before it cuts a conversation, and at its end.
//!
//! Owns the forms of these programs. A hook never stands in the way of the program that runs it: it ends with 0 whatever is
//! wrong, within a fixed time, and writes nothing to standard output but an answer in the program's form, or nothing.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;

use super::args::Global;
use super::config::Sources;
use super::output::say;
use super::stop::Stop;
use super::{client, file, open};
use memdir_core::report::{Code, Failure};
use memdir_engine::Caller;
use program::{Input, Moment, Program};

mod context;
mod keep;
mod program;
mod transcript;

/// The longest input that is read.
const MOST_INPUT: u64 = 16 << 20;
/// How long keeping a conversation may take at least; then the program goes on without.
const KEEP: Duration = Duration::from_secs(4);
/// The options before a command that are followed by a value.
const GLOBAL_VALUES: [&str; 3] = ["--memory", "--state", "--log"];
/// The longest name of a conversation that the audit keeps.
const MOST_SESSION: usize = 100;

/// Options of `hook`.
#[derive(Args, Clone, Debug)]
pub(super) struct HookArgs {
    /// The assistant that runs it
    #[arg(value_enum, value_name = "PROGRAM")]
    program: Program,
    /// The event, as the assistant calls it
    #[arg(value_name = "EVENT")]
    event: String,
    /// Tell only what this registered client may see; else the client with the name of the program, where one is registered
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

pub(super) const LONG: &str = "Tell an assistant what the memory holds, when the assistant runs this as a hook.

Reads the assistant's JSON on standard input. When a session begins, it tells who you are, which tasks are open and which \
notes changed; with each message, the parts of notes that fit it, or nothing. It answers from the search index as it \
stands, and without one from user.md alone; `memdir mcp` and `memdir search` keep the index fresh. It asks no model, gives up \
after a second, or after four where it keeps a conversation, and always ends with status 0.

`memdir install PROGRAM --hooks` puts the hooks into the assistant's settings. By hand, with DIR for the memory:

claude-code, in ~/.claude/settings.json; codex, in ~/.codex/hooks.json:
  {\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\",
    \"command\": \"memdir hook claude-code SessionStart --memory DIR\"}]}]}}
  and the same for UserPromptSubmit, PreCompact and SessionEnd

cursor, in ~/.cursor/hooks.json:
  {\"version\": 1, \"hooks\": {\"sessionStart\": [{\"command\": \"memdir hook cursor sessionStart --memory DIR\"}]}}
  and the same for beforeSubmitPrompt, preCompact and sessionEnd

copilot, in ~/.copilot/hooks/memdir.json:
  {\"version\": 1, \"hooks\": {\"sessionStart\": [{\"type\": \"command\",
    \"command\": \"memdir hook copilot sessionStart --memory DIR\"}]}}
  and the same for userPromptSubmitted, preCompact and agentStop

The last two events of each do nothing, unless the setting `[hooks] conversations = true` is on: then the conversation is \
kept as a note in conversations/, without lines that hold secrets.";

/// Whether a command line, right or wrong, is that of a hook as a program runs it: its first word that is neither an option nor the
/// value of one is `hook`.
pub(super) fn is_hook(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        if GLOBAL_VALUES.iter().any(|option| word == option) {
            words.next();
        } else if !word.to_string_lossy().starts_with('-') {
            return word == "hook";
        }
    }
    false
}

/// What a hook came to.
enum Answer {
    /// The text for the program.
    Tell(String),
    /// Words for the person.
    Say(String),
    Nothing,
}

/// Runs a hook; all that can go wrong is told on standard error.
pub(super) fn run(global: &Global, options: &HookArgs) -> Result<u8, Stop> {
    let answer_within = answer_within();
    let limit = match options.program.event(&options.event) {
        Some((_, Moment::Keep)) => KEEP.max(answer_within),
        _ => answer_within,
    };
    let (send, receive) = mpsc::channel();
    let (global, options) = (global.clone(), options.clone());
    // It goes with the process, wherever it is by then: a commit that is cut off is finished or given back by the next.
    let work = thread::Builder::new().spawn(move || {
        // Nobody may be waiting any more.
        let _ = send.send(answer(&global, &options, answer_within));
    });
    let said = match work.map(|_| receive.recv_timeout(limit)) {
        Ok(Ok(Ok(Answer::Tell(text)))) => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| error.to_string())
        }
        Ok(Ok(Ok(Answer::Say(words)))) => Err(words),
        Ok(Ok(Ok(Answer::Nothing))) => Ok(()),
        Ok(Ok(Err(failure))) => Err(failure.message),
        Ok(Err(mpsc::RecvTimeoutError::Timeout)) => Err(format!("no answer within {} ms", limit.as_millis())),
        Ok(Err(mpsc::RecvTimeoutError::Disconnected)) => Err("the hook failed: this is a bug of memdir".to_owned()),
        Err(error) => Err(format!("no thread: {}", error.kind())),
    };
    if let Err(words) = said {
        // Where standard error is closed it cannot be said.
        let _ = say(format!("memdir hook: {words}"));
    }
    Ok(0)
}

/// How long an answer may take, by the settings as far as they can be read.
fn answer_within() -> Duration {
    let settled = Sources::read().and_then(|sources| sources.for_memory(Path::new("")));
    Duration::from_millis(settled.unwrap_or_default().hooks.milliseconds)
}

/// The answer to an event. Another process is waited for a twentieth of the time, and what is told is looked for in two fifths of it.
fn answer(global: &Global, options: &HookArgs, within: Duration) -> Result<Answer, Failure> {
    let program = options.program;
    let Some((event, moment)) = program.event(&options.event) else {
        let names: Vec<&str> = program.events().iter().map(|(name, _)| *name).collect();
        let message = format!("{} has no event of this name here; there is {}", program.title(), names.join(", "));
        return Err(Failure::new(Code::Usage, message));
    };
    let input = file::read_input("event", MOST_INPUT)?;
    let input = Input::read(&input).ok_or_else(|| Failure::new(Code::Usage, "standard input holds no JSON object"))?;
    if !program.answers(&input) {
        return Ok(Answer::Nothing);
    }
    let wait = if moment == Moment::Keep { KEEP } else { within / 20 };
    let opened = open::open_for_hook(global, wait, within * 2 / 5)
        .map_err(|stop| stop.failure_or(Code::Internal, "the memory cannot be opened"))?;
    let now = memdir_host::now();
    let client = client::of_program(&opened.root, options.client.as_deref(), program.name(), now)?;
    let session = input.session.as_ref().map(|session| session.chars().take(MOST_SESSION).collect());
    // What is refused over MCP is not told here either.
    let mode = opened.config.permission.mcp;
    let caller = Caller { mode, grant: client.grant.as_ref().map(Arc::clone), ..Caller::model("hook") };
    let caller = caller.for_client(Some(client.name)).in_session(session);
    let context = match (moment, &input.prompt) {
        (Moment::Start, _) => context::of_start(&opened.engine.unasked(), &caller),
        (Moment::Prompt, Some(prompt)) => context::of_prompt(&opened.engine.unasked(), &caller, prompt),
        (Moment::Prompt, None) => None,
        (Moment::Keep, _) if opened.config.hooks.conversations => {
            let most = opened.config.note_bytes();
            let kept = keep::keep(&opened.engine, caller, program, &input, now, most)?;
            return Ok(kept.map_or(Answer::Nothing, Answer::Say));
        }
        (Moment::Keep, _) => None,
    };
    Ok(context.map_or(Answer::Nothing, |context| Answer::Tell(program.answer(event, &context).to_string())))
}

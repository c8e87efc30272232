//! `memdir chat`: a conversation with a model that uses the memory.
//!
//! Owns what a person types and sees: commands, questions, the reply while it is written. What a message does is the agent's.

use std::io::{self, IsTerminal};

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::args::Global;
use super::config::{Config, Sources};
use super::exit;
use super::stop::{Stop, usage};
use super::talk::Conversation;
use super::{ask, index, open, session, talk, term};
use memdir_agent::{Actions, Agent, AgentError, Said, Session};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{Caller, ChangeError, Engine};
use memdir_model::{Model, ModelError, Place};
use memdir_policy::{Mode, Rule};
use memdir_tools::ServerName;
use memdir_vault::SessionInfo;

mod commands;
mod complete;
mod editor;
mod elicit;
mod lines;
mod screen;
mod stop;
mod talker;
mod tools;
mod why;

use commands::Next;
use editor::Editor;
use lines::{Lines, Plain, Typed};
use screen::Screen;
use stop::Interrupts;
use talker::{Talker, fail};

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Options of `chat`.
#[derive(Args, Debug)]
pub(super) struct ChatArgs {
    #[command(flatten)]
    conversation: Conversation,
    /// Show the model's thinking and its actions
    #[arg(long)]
    thinking: bool,
}

pub(super) const LONG: &str = "Talk with a model that uses the memory.

On a terminal, lines can be edited, Tab completes, and /help lists the commands. Otherwise each line of standard input \
is a message or a command, no questions are asked, and changes that need approval wait for `memdir pending`. Replies \
go to standard output, everything else to standard error.";

/// Opens a model by its name.
type Opening<'h> = dyn Fn(&str) -> Result<Box<dyn Model>, Failure> + 'h;

/// What a conversation needs from outside.
#[derive(Clone, Copy)]
struct Hooks<'h> {
    /// The settings, for what depends on the model or the day.
    config: &'h Config,
    /// Opens the model of this name.
    open_model: &'h Opening<'h>,
    /// Writes a standing answer into the settings, and gives its number.
    add_rule: &'h dyn Fn(&Rule) -> Result<usize, Failure>,
    /// Gives the conversation of this name, or a new one.
    session: &'h dyn Fn(Option<&str>) -> Result<Session, Failure>,
    /// Lists the conversations that are kept, one a line, the newest first.
    sessions: &'h dyn Fn() -> Result<Vec<String>, Failure>,
}

/// A conversation, and where it is held.
struct Chat<'e> {
    engine: &'e Engine,
    agent: Agent<'e>,
    talker: Talker<'e>,
    interrupts: Interrupts,
    /// The mode of permission where the session says nothing.
    mode: Mode,
    last: Option<Last>,
    /// How many tokens were used so far.
    tokens: u64,
    /// The exit code of the last message that failed, or had no reply.
    failed: u8,
}

/// The last message that was answered.
struct Last {
    said: Said,
    shown: Vec<(MemoryPath, String)>,
}

pub(super) fn run(global: &Global, options: &ChatArgs) -> Result<u8, Stop> {
    if global.json {
        return Err(usage("a conversation is no JSON object", "`memdir ask --json` answers one message").into());
    }
    let opened = open::open(global)?;
    // Until a conversation begins, Ctrl-C ends the program as it always does.
    let open_model = |name: Option<&str>| {
        let opened = talk::open_model(global, &opened.config, name, &CancellationToken::new());
        opened.map_err(|stop| stop.failure_or(Code::Io, "the output is closed"))
    };
    let conversation = &options.conversation;
    let session = conversation.session(&opened.engine)?;
    let mode = opened.config.permission.chat;
    // On a terminal the line before the first message says what else is not as usual.
    if !io::stdin().is_terminal() || session.looser(mode).is_some() {
        conversation.tell_of_permission(&session, mode)?;
    }
    index::embed(global, &opened, !session.switches.filters.is_empty(), &|| false)?;
    let model = open_model(conversation.model.as_deref())?;
    let mut settings = talk::settings(&opened.config, model.card(), "chat");
    settings.staged = conversation.staged;
    let sources = Sources::read()?;
    let hooks = Hooks {
        config: &opened.config,
        open_model: &|name| open_model(Some(name)),
        add_rule: &|rule| sources.add_rule(&opened.root, rule),
        session: &|id| conversation.other(&opened.engine, id),
        sessions: &|| kept_sessions(&opened.engine),
    };
    let screen = Screen::standard();
    let (lines, interrupts): (Box<dyn Lines>, _) = if io::stdin().is_terminal() {
        let before = typed_before(&opened.engine);
        (Box::new(Editor::new(before, screen.look().has_colours)), Interrupts::listen(None)?)
    } else {
        let (plain, end) = Plain::begin()?;
        (Box::new(plain), Interrupts::listen(Some(end))?)
    };
    let talker = Talker::new(screen, lines, hooks, options.thinking);
    let mode = settings.mode;
    let agent = Agent::new(&opened.engine, model, talk::prompts(&opened.config)?, settings, session).kept();
    run_with(&opened.engine, talk::with_tools(agent, conversation, true)?, mode, talker, interrupts)
}

/// The conversations that are kept, one a line, the newest first.
fn kept_sessions(engine: &Engine) -> Result<Vec<String>, Failure> {
    let unknown = |kept: &SessionInfo| if session::is_known(engine, kept) { "" } else { "  unknown" };
    let line = |kept: &SessionInfo| format!("{}  {}{}", kept.id, kept.changed, unknown(kept));
    Ok(engine.sessions()?.iter().map(line).collect())
}

/// What was typed in the latest chats that are kept, the oldest first: so what is forgotten or pruned there is called
/// back nowhere.
/// What a terminal would obey, or is too long to be looked at, is left out.
fn typed_before(engine: &Engine) -> Vec<String> {
    /// So many conversations are looked at, and so many messages of at most so many bytes are called back.
    const MOST_SESSIONS: usize = 200;
    const MOST: usize = 500;
    const MOST_BYTES: usize = 4_000;
    let is_plain = |text: &String| text.len() <= MOST_BYTES && term::escape(text) == text.as_str();
    // As it was typed: a message that begins with one slash would be a command.
    let as_typed = |text: String| if text.starts_with('/') { format!("/{text}") } else { text };
    let mut newest = Vec::new();
    for kept in engine.sessions().unwrap_or_default().iter().take(MOST_SESSIONS) {
        let Ok(Some(lines)) = engine.read_own_session(&kept.id) else { continue };
        newest.extend(Session::typed(&lines).into_iter().rev().filter(is_plain).map(as_typed));
        if newest.len() >= MOST {
            newest.truncate(MOST);
            break;
        }
    }
    newest.reverse();
    newest
}

/// Holds a conversation until nothing more is typed.
///
/// # Errors
///
/// Where nothing can be shown any more.
fn run_with<'e>(
    engine: &'e Engine,
    agent: Agent<'e>,
    mode: Mode,
    talker: Talker<'e>,
    interrupts: Interrupts,
) -> Result<u8, Stop> {
    let mut chat = Chat { engine, agent, talker, interrupts, mode, last: None, tokens: 0, failed: 0 };
    if chat.talker.lines.is_attended() {
        chat.talker.screen.tell("/help lists the commands, Ctrl-D ends");
    }
    chat.learn_notes();
    chat.talk()?;
    // A person has seen what failed; a program has the exit code.
    Ok(if chat.talker.lines.is_attended() { 0 } else { chat.failed })
}

impl Chat<'_> {
    fn talk(&mut self) -> Result<(), Stop> {
        loop {
            self.talker.screen.check()?;
            let status = self.status();
            let text = match self.talker.lines.message(&status) {
                Typed::End => return Ok(()),
                Typed::Unreadable(why) => return Err(usage(why, "send text in UTF-8, a message on each line").into()),
                Typed::Stopped => continue,
                Typed::Text(text) => text,
            };
            let next = match text.trim() {
                "" => Ok(Next::Go),
                text => match text.strip_prefix('/') {
                    Some(message) if message.starts_with('/') => Ok(Next::Say(message.to_owned())),
                    Some(command) => commands::run(self, command),
                    None => Ok(Next::Say(text.to_owned())),
                },
            };
            match next {
                Ok(Next::Go) => {}
                Ok(Next::Quit) => return Ok(()),
                Ok(Next::Say(message)) => {
                    if self.say(&message) {
                        return self.talker.screen.check();
                    }
                }
                Err(error) => self.fail(&error),
            }
        }
    }

    /// Lets the model answer; says whether the conversation ends with that.
    fn say(&mut self, message: &str) -> bool {
        if message.len() > MAX_MESSAGE {
            let failure = usage(format!("the message has more than {MAX_MESSAGE} bytes"), "send less at once");
            self.fail(&failure.into());
            return false;
        }
        match talk::tokens(self.engine, self.talker.hooks.config) {
            Ok(tokens) => self.agent.set_tokens(tokens),
            Err(failure) => {
                self.fail(&failure.into());
                return false;
            }
        }
        let token = self.interrupts.begin();
        self.talker.begin(token.clone());
        let mut said = Said::default();
        let ended = self.agent.say(message, &mut self.talker, &token, &mut said);
        self.interrupts.end();
        self.talker.end(&said, ended.is_ok());
        self.talker.settle();
        self.tokens = self.tokens.saturating_add(said.spent.input_tokens).saturating_add(said.spent.output_tokens);
        if !said.changed.is_empty() {
            self.learn_notes();
        }
        let shown = std::mem::take(&mut self.talker.shown);
        let code = ask::code(&said);
        self.last = Some(Last { said, shown });
        match ended {
            Ok(()) => {
                self.failed = if code == 0 { self.failed } else { code };
                false
            }
            Err(AgentError::Model(ModelError::Cancelled)) => {
                self.talker.screen.warn("stopped; what was done before is done");
                self.failed = exit::code(Code::Unavailable);
                !self.talker.lines.is_attended()
            }
            Err(error) => {
                self.fail(&talk::agent_failure(&error).into());
                false
            }
        }
    }

    fn fail(&mut self, error: &ChangeError) {
        if let Some(diff) = &error.diff {
            self.talker.screen.diff(diff);
        }
        fail(&mut self.talker.screen, &error.failure);
        self.failed = exit::code(error.failure.code);
    }

    /// Where the conversation stands, in one line.
    fn status(&self) -> String {
        let session = self.agent.session();
        let waiting = self.engine.waiting().map_or(0, |(waiting, _)| waiting.len());
        let mut parts = vec![self.model_words(), format!("session {}", session.id), format!("{} tokens", self.tokens)];
        if waiting > 0 {
            parts.push(format!("{waiting} waiting"));
        }
        parts.push(format!("actions: {}", self.actions_words()));
        if self.mode() != self.mode {
            parts.push(format!("permission: {}", self.mode().as_str()));
        }
        if !session.switches.tools.is_empty() {
            let names: Vec<&str> = session.switches.tools.iter().map(ServerName::as_str).collect();
            parts.push(format!("tools: {}", names.join(", ")));
        }
        match session.switches.filters.len() {
            0 => {}
            1 => parts.push("1 filter".to_owned()),
            many => parts.push(format!("{many} filters")),
        }
        parts.join(" · ")
    }

    /// Which model answers, and where what it is asked goes.
    fn model_words(&self) -> String {
        let card = self.agent.model().card();
        let place = match &card.place {
            Place::Process => "stays on this machine".to_owned(),
            Place::Machine(address) => format!("stays on this machine, {address}"),
            Place::Host(host) => format!("goes to {host}"),
        };
        format!("{} · {place}", card.name)
    }

    fn actions_words(&self) -> String {
        let switches = &self.agent.session().switches;
        match switches.actions {
            Actions::Off => "off".to_owned(),
            Actions::Read => "read".to_owned(),
            Actions::All if switches.only.is_empty() => "all".to_owned(),
            Actions::All => switches.only.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        }
    }

    /// What becomes of calls that somebody should be asked about.
    fn mode(&self) -> Mode {
        self.agent.session().mode(self.mode)
    }

    /// The person who chats.
    fn person(&self) -> Caller {
        Caller::person("chat").in_session(Some(self.agent.session().id.clone()))
    }

    fn change_model(&mut self, model: Box<dyn Model>) {
        let (config, card) = (self.talker.hooks.config, model.card());
        let (family, context) = (talk::family(config, card), talk::context(card));
        self.agent.set_model(model, family, context);
    }

    fn change_session(&mut self, mut session: Session) {
        session.keep_stricter(self.agent.session(), self.mode);
        if let Some(note) = talk::looser(&session, self.mode, "/permission ") {
            self.talker.screen.warn(&format!("note: {note}"));
        }
        *self.agent.session_mut() = session;
        self.last = None;
    }

    /// A note, for the person; `None` where it cannot be read.
    fn read(&self, path: &MemoryPath) -> Option<String> {
        self.engine.read(path, &self.person()).ok().map(|(text, _)| text)
    }

    /// Lets completion know of the notes that there are.
    fn learn_notes(&mut self) {
        if self.talker.lines.is_attended()
            && let Ok(notes) = self.engine.every_note()
        {
            self.talker.lines.know(notes.iter().map(ToString::to_string).collect());
        }
    }
}

#[cfg(test)]
mod tests;

//! A kept conversation.
//!
//! Owns what is kept of it, and how it is made again from its lines. Where they are written is for `vault`, their form for
//! `line`.

use serde::{Deserialize, Serialize};

use super::line::{Line, Voice, lines, with_filters};
use super::switches::Switches;
use super::tool_state::ToolState;
use memdir_core::report::{Code, Failure, Value, Variables};
use memdir_core::time::Timestamp;
use memdir_engine::Engine;
use memdir_plan::Seen;
use memdir_policy::Mode;
use memdir_vault::SessionMark;

/// A conversation.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its name: hexadecimal digits.
    pub id: String,
    /// What it may do.
    pub switches: Switches,
    /// What was said before, the oldest first.
    pub exchanges: Vec<Exchange>,
    /// What its model has seen of notes.
    pub seen: Seen,
    /// What its turns have set.
    pub variables: Variables,
    /// The mode of permission that the person has typed since the program has begun, which no file keeps.
    pub(super) typed: Option<Mode>,
    /// What no file keeps of the tools that it may use.
    pub(super) tools: ToolState,
    /// The number of the last message, also where that is forgotten.
    pub(super) last: u64,
    /// What its file is known to hold.
    pub(super) written: Written,
}

/// What the file of a session is known to hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// What the file was; `None` before there is one.
    pub(super) mark: Option<SessionMark>,
    pub(super) switches: Switches,
    pub(super) voice: Option<Voice>,
}

/// A message and what came of it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Exchange {
    /// Its number in the session, from 1: what is written for it carries it.
    pub number: u64,
    /// What the person said.
    pub message: String,
    /// What was replied; `None` also where the message was not answered to its end.
    pub reply: Option<String>,
    /// What was changed, in a line for the person.
    pub receipt: Option<String>,
    /// The batches that changed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<u64>,
    /// The filters that were on, in their words: of what others would have kept back it may hold something.
    #[serde(skip)]
    pub filters: Vec<String>,
}

impl Session {
    /// A conversation that begins.
    #[must_use]
    pub fn new(id: String) -> Self {
        Self { id, ..Self::default() }
    }

    /// Takes the mode of permission that the person types: it holds as long as the program runs, whatever the settings say.
    pub fn set_permission(&mut self, mode: Mode) {
        (self.typed, self.switches.permission) = (Some(mode), Some(mode));
    }

    /// What becomes of calls that somebody should be asked about: what the person has typed, else the stricter of what the settings
    /// say and what the session has kept. Its file stands in the folder of the notes, and nothing there loosens anything.
    #[must_use]
    pub fn mode(&self, settings: Mode) -> Mode {
        self.typed.unwrap_or_else(|| self.switches.permission.map_or(settings, |kept| kept.max(settings)))
    }

    /// Takes over the mode that the person has typed in the conversation before this one, where it is stricter than what would hold
    /// here.
    pub fn keep_stricter(&mut self, before: &Self, settings: Mode) {
        if let Some(typed) = before.typed.filter(|typed| *typed > self.mode(settings)) {
            self.set_permission(typed);
        }
    }

    /// The mode that the session has kept and that does not hold, since the settings are stricter.
    #[must_use]
    pub fn looser(&self, settings: Mode) -> Option<Mode> {
        self.switches.permission.filter(|kept| self.typed.is_none() && *kept < settings)
    }

    /// The number of the next message.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.exchanges.last().map_or(0, |exchange| exchange.number).max(self.last).saturating_add(1)
    }

    /// Reads a conversation that is kept.
    ///
    /// # Errors
    ///
    /// `not_found`, `busy` while another process answers in it, `denied` for one that this memory's history has not written,
    /// `too_large`, `damaged` for lines that this program does not know.
    pub fn load(engine: &Engine, id: &str) -> Result<Self, Failure> {
        let (file, bytes) = engine.open_session(id)?;
        let mut session = Self::of(id, &bytes)?;
        session.written.mark = Some(file.mark());
        Ok(session)
    }

    /// Reads the conversation that was gone on with last; one that this memory's history has not written, or that is too large to
    /// be gone on with, is passed over.
    ///
    /// # Errors
    ///
    /// As [`Session::load`]; `not_found` where none is kept.
    pub fn newest(engine: &Engine) -> Result<Self, Failure> {
        for kept in engine.sessions()? {
            match Self::load(engine, &kept.id) {
                Err(failure) if matches!(failure.code, Code::Denied | Code::TooLarge) => {}
                loaded => return loaded,
            }
        }
        Err(Failure::new(Code::NotFound, "no session is kept in this memory")
            .with_hint("leave `--continue` out to begin one"))
    }

    /// Makes a conversation from its lines.
    ///
    /// # Errors
    ///
    /// `damaged`: a line that this program does not know, by its number.
    pub fn of(id: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let mut session = Self::new(id.to_owned());
        for line in lines(bytes) {
            session.take(line?);
        }
        session.switches = session.written.switches.clone();
        Ok(session)
    }

    /// What a person typed in a chat, as far as its lines can be read: the messages with their filters, the oldest first.
    #[must_use]
    pub fn typed(bytes: &[u8]) -> Vec<String> {
        let typed = |line: Line| {
            let Line::Message { door, text, filters, .. } = line else { return None };
            (door == "chat").then(|| with_filters(&text, &filters))
        };
        lines(bytes).map_while(Result::ok).filter_map(typed).collect()
    }

    /// What the person said, and when, as far as the lines can be read.
    #[must_use]
    pub fn said(bytes: &[u8]) -> Vec<(Timestamp, String)> {
        let said = |line| if let Line::Message { time, text, .. } = line { Some((time, text)) } else { None };
        lines(bytes).map_while(Result::ok).filter_map(said).collect()
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Begin { model, .. } | Line::Model { model } => self.written.voice = Some(model),
            Line::Switches { switches } => self.written.switches = switches,
            Line::Message { message, text, filters: own, .. } => {
                self.last = self.last.max(message);
                let filters = [self.written.switches.filters.clone(), own].concat();
                self.exchanges.push(Exchange { number: message, message: text, filters, ..Exchange::default() });
            }
            Line::Turn { .. } | Line::Stage { .. } | Line::Used { .. } => {}
            // What it said is not in the file.
            Line::Called { tool, .. } => self.tools.words.forget(&tool),
            Line::Acted { seen, receipt, batch, .. } | Line::Decided { seen, receipt, batch, .. } => {
                self.seen.extend(seen);
                self.receive(receipt, batch);
            }
            Line::Reply { reply, variables, .. } => {
                if let Some(exchange) = self.exchanges.last_mut() {
                    exchange.reply = reply;
                }
                let new = variables.iter().filter_map(|(name, value)| Some((name.clone(), Value::plain(value)?)));
                let old = self.variables.iter().map(|(name, value)| (name.to_owned(), value.clone()));
                self.variables = Variables::new(old.chain(new).collect::<Vec<_>>());
            }
            Line::Forgotten { message } => self.last = self.last.max(message),
        }
    }

    /// Notes what was changed for the last message.
    pub(super) fn receive(&mut self, receipt: Option<String>, batch: Option<u64>) {
        let (Some(exchange), Some(new)) = (self.exchanges.last_mut(), receipt) else { return };
        exchange.batches.extend(batch);
        exchange.receipt = Some(match exchange.receipt.take() {
            Some(before) => format!("{before}\n{new}"),
            None => new,
        });
    }
}

//! What is known of a message before the model is asked, and what the model is asked then.

use std::sync::Arc;

use super::prompt::{self, Family};
use super::run::{Manners, Run};
use super::session::{Exchange, Session};
use super::switches::Actions;
use super::{Agent, AgentError, context, filter, small};
use crate::dialect::Dialect;
use crate::engine::Manner;
use crate::model::{Message, Request, Role};
use crate::path::MemoryPath;
use crate::policy::{Filter, Mode};
use crate::report::Issue;
use crate::vault::Author;

/// What is known of a message before the model is asked.
pub(super) struct Asked {
    /// The message without its filters.
    pub(super) message: String,
    pub(super) filters: Vec<Filter>,
    /// The filters of the message alone, in its words.
    pub(super) own: Vec<String>,
    pub(super) notes: Vec<(MemoryPath, String)>,
    pub(super) manner: Manner,
    /// The conversation as it is told again: what was said before passes the filters of now.
    pub(super) before: Session,
    /// What was noticed about the message itself.
    pub(super) issues: Vec<Issue>,
}

/// What to do about a filter that is kept with a conversation and is none.
const WAY_OUT: &str =
    "it is kept with this conversation: `/filter off` in a chat takes its filters away, or begin another conversation";

/// Under so many millions of parameters a model says anything rather than that it does not know.
const TINY: u64 = 1_000;

impl Agent<'_> {
    pub(super) fn author(&self, number: Option<u64>) -> Author {
        Author {
            door: self.settings.door.to_owned(),
            client: None,
            session: Some(self.session.id.clone()),
            message: number.map(|number| number.to_string()),
            origin: "model".to_owned(),
        }
    }

    /// Reads a message: what is asked, what is kept from the model, what it is shown.
    pub(super) fn asked(&self, message: &str) -> Result<Asked, AgentError> {
        let split = filter::split(message);
        let message = split.message;
        let switches = &self.session.switches;
        let filters = |texts: &[String]| texts.iter().map(|text| Filter::compile(text)).collect::<Vec<_>>();
        let (kept, own) = (filters(&switches.filters), filters(&split.filters));
        if let Some(failure) = kept.iter().find_map(filter::unenforced) {
            return Err(AgentError::Memory(failure.with_hint(WAY_OUT)));
        }
        if let Some(failure) = own.iter().find_map(filter::unenforced) {
            return Err(AgentError::Memory(failure));
        }
        let filters: Vec<Filter> = kept.into_iter().chain(own).collect();
        if let Some(host) = self.engine.embeds_on_host().filter(|_| !filters.is_empty()) {
            return Err(AgentError::Memory(filter::elsewhere(host)));
        }
        let manner = Manner {
            author: self.author(Some(self.session.next_number())),
            grant: filter::hiding(switches.grant()?, &filters)?.map(Arc::new),
            mode: self.session.mode(self.settings.mode),
            read_only: switches.actions != Actions::All,
            atomic: false,
            seen: None,
        };
        let notes = match switches.actions {
            Actions::Off => Vec::new(),
            Actions::Read | Actions::All => {
                // What the person said just before helps to find what they mean now.
                let before = self.session.exchanges.last().map_or("", |exchange| exchange.message.as_str());
                let query = format!("{message}\n{before}");
                context::gather(
                    self.engine,
                    &Manner { grant: filter::hiding(None, &filters)?.map(Arc::new), ..manner.clone() },
                    &query,
                    &filters,
                    self.settings.context,
                )?
            }
        };
        let before = filter::conversation(&self.session, &filters);
        let unclosed = split.is_unclosed.then(|| Issue {
            code: "unclosed_filter",
            index: None,
            message: "the last `<filter>` has no `</filter>`: all that follows it was taken as the filter".to_owned(),
        });
        let issues = unclosed.into_iter().chain(filters.iter().flat_map(filter::told)).collect();
        Ok(Asked { message, filters, own: split.filters, notes, manner, before, issues })
    }

    /// How many bytes of results go back to the model at once: a quarter of what it can take, at four bytes a token.
    pub(super) fn most_bytes(&self) -> usize {
        const UNKNOWN: u32 = 32 << 10;
        let tokens = self.model.card().context_tokens.unwrap_or(UNKNOWN);
        (tokens as usize / 4 * context::TOKEN_BYTES).clamp(1 << 10, 64 << 10)
    }

    pub(super) fn manners(&self) -> Manners {
        if self.is_staged() {
            return Manners { dialect: None, program_replies: false };
        }
        match self.settings.family {
            Family::Capable => Manners { dialect: None, program_replies: false },
            Family::Small => Manners { dialect: None, program_replies: true },
            Family::MemAgent => Manners { dialect: Some(Dialect::Python), program_replies: false },
        }
    }

    /// What the model is asked now.
    pub(super) fn request(&self, run: &Run, asked: &Asked) -> Request {
        let rest = wishes(&asked.filters);
        let switches = &self.session.switches;
        let ask_first = asked.manner.mode == Mode::Flag;
        if self.settings.family == Family::Small {
            let turn = small::Turn {
                prompt: self.prompts.text("small"),
                notes: &asked.notes,
                message: &asked.message,
                session: &asked.before,
                rest: &rest,
                writes: switches.actions == Actions::All,
                tiny: self.model.card().million_parameters.is_some_and(|millions| millions < TINY),
                filtered: !asked.filters.is_empty(),
            };
            return Request { temperature: self.settings.temperature, ..small::request(&turn, run.transcript()) };
        }
        let system = match self.settings.family {
            Family::MemAgent => self.prompts.mem_agent(switches),
            Family::Capable | Family::Small => self.prompts.system(switches, ask_first),
        };
        let mut messages: Vec<Message> = asked.before.exchanges.iter().flat_map(told).collect();
        messages.push(Message { role: Role::User, text: prompt::message(&asked.notes, &asked.message, &rest) });
        messages.extend(run.transcript().iter().cloned());
        Request {
            system,
            messages,
            // Of what somebody said nothing is kept beyond the process.
            stable: 0,
            shape: None,
            max_tokens: self.settings.max_tokens,
            temperature: self.settings.temperature,
            stop: stops(self.settings.family),
        }
    }
}

/// What filters ask for that only the model can see to.
pub(super) fn wishes(filters: &[Filter]) -> Vec<String> {
    filters.iter().flat_map(Filter::rest).cloned().collect()
}

/// The texts that end a turn. The tuned model writes a `<python>` block in each, an empty one before a reply.
fn stops(family: Family) -> Vec<String> {
    let ends: &[&str] = match family {
        Family::MemAgent => &["</reply>"],
        Family::Capable | Family::Small => &["</reply>", "</actions>", "</mcp:tool>"],
    };
    ends.iter().map(|end| (*end).to_owned()).collect()
}

/// An exchange as a model is told of it later.
fn told(exchange: &Exchange) -> [Message; 2] {
    let reply = exchange.reply.as_deref().unwrap_or("(no reply)");
    [
        Message { role: Role::User, text: format!("<message>\n{}\n</message>", prompt::fenced(&exchange.message)) },
        Message { role: Role::Assistant, text: format!("<reply>{}</reply>", prompt::fenced(reply)) },
    ]
}

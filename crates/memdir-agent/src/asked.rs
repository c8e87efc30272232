//! What is known of a message before the model is asked, and what the model is asked then.

use std::sync::Arc;

use super::context::Shown;
use super::prompt::{self, Family};
use super::run::{Manners, Run};
use super::session::{Exchange, Session};
use super::switches::Actions;
use super::{Agent, AgentError, Spent, context, filter, tools};
use memdir_core::path::MemoryPath;
use memdir_core::report::Issue;
use memdir_dialect::Dialect;
use memdir_engine::Caller;
use memdir_model::{Message, Place, Request, Role};
use memdir_policy::{Filter, Mode};
use tokio_util::sync::CancellationToken;

/// What is known of a message before the model is asked.
pub(super) struct Asked {
    /// The message without its filters.
    pub(super) message: String,
    pub(super) filters: Vec<Filter>,
    /// The filters of the message alone, in its words.
    pub(super) own: Vec<String>,
    pub(super) notes: Vec<(MemoryPath, String)>,
    /// The words of the message that no note has, where nothing is known of what it asks.
    pub(super) missing: Vec<String>,
    pub(super) caller: Caller,
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
    /// Reads a message: what is asked, what is kept from the model, what it is shown.
    pub(super) fn asked(
        &mut self,
        message: &str,
        stop: &CancellationToken,
        spent: &mut Spent,
    ) -> Result<Asked, AgentError> {
        let mut split = filter::split(message);
        let message = split.message;
        split.filters = self.understood(split.filters, &message, stop, spent)?;
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
        let caller = self.caller(&filters)?;
        let Shown { notes, missing } = self.shown(&message, &filters)?;
        let texts = [switches.filters.as_slice(), &split.filters].concat();
        let before = filter::conversation(&self.session, &filters, &texts);
        let unclosed = split.is_unclosed.then(|| Issue {
            code: "unclosed_filter",
            index: None,
            message: "the last `<filter>` has no `</filter>`: all that follows it was taken as the filter".to_owned(),
        });
        let issues = unclosed.into_iter().chain(filters.iter().flat_map(filter::told)).collect();
        Ok(Asked { message, filters, own: split.filters, notes, missing, caller, before, issues })
    }

    /// Filters as far as they can be enforced: what is no rule is turned into rules by the model, which sees the keys of notes and no
    /// values. What it cannot say stays as it is.
    fn understood(
        &mut self,
        texts: Vec<String>,
        message: &str,
        stop: &CancellationToken,
        spent: &mut Spent,
    ) -> Result<Vec<String>, AgentError> {
        let mut understood = Vec::with_capacity(texts.len());
        for text in texts {
            let filter = Filter::compile(&text);
            if filter.is_enforced() || filter.rest().is_empty() {
                understood.push(text);
                continue;
            }
            // A model on another machine is told nothing of the notes for this.
            let is_here = self.model.card().place == Place::Process;
            let notes = if is_here { self.shown(message, &[])?.notes } else { Vec::new() };
            let request = filter::prose::request(self.prompts.text("filter"), &notes, &text);
            let answer = self.model.answer(&request, &mut |_| {}, stop)?;
            spent.add(&answer);
            understood.push(filter::prose::rules(&answer.text).unwrap_or(text));
        }
        Ok(understood)
    }

    /// Turns the filters of the conversation into rules, which are kept in their place: they hold from now on without a model.
    ///
    /// # Errors
    ///
    /// Where one that was typed just now cannot be enforced: it is not kept.
    pub(super) fn understand_filters(
        &mut self,
        message: &str,
        stop: &CancellationToken,
        spent: &mut Spent,
    ) -> Result<(), AgentError> {
        let kept = &self.session.written.switches.filters;
        let is_new = |filter: &String| !kept.contains(filter);
        let new: Vec<String> = self.session.switches.filters.iter().filter(|filter| is_new(filter)).cloned().collect();
        let understood = self.understood(new.clone(), message, stop, spent)?;
        if let Some(failure) = understood.iter().find_map(|filter| filter::unenforced(&Filter::compile(filter))) {
            return Err(failure.into());
        }
        for filter in &mut self.session.switches.filters {
            if let Some(at) = new.iter().position(|new| new == filter) {
                understood.get(at).into_iter().for_each(|rules| filter.clone_from(rules));
            }
        }
        Ok(())
    }

    /// The notes that are shown with a message.
    fn shown(&self, message: &str, filters: &[Filter]) -> Result<Shown, AgentError> {
        let switches = &self.session.switches;
        let granted = self.client.as_ref().and_then(|client| client.grant.as_deref()).cloned();
        let caller = Caller { grant: filter::hiding(granted, filters)?.map(Arc::new), ..self.caller(filters)? };
        if switches.actions == Actions::Off {
            return Ok(Shown::default());
        }
        // What the person said just before helps to find what they mean now.
        let before = self.session.exchanges.last().map_or("", |exchange| exchange.message.as_str());
        let query = format!("{message}\n{before}");
        let mut shown = context::gather(self.engine, &caller, &query, filters, self.settings.context)?;
        // Of what was asked before it was said then.
        shown.missing.retain(|word| message.contains(word.as_str()));
        Ok(shown)
    }

    /// Who the calls of the model are made as.
    fn caller(&self, filters: &[Filter]) -> Result<Caller, AgentError> {
        let switches = &self.session.switches;
        let model = self.client.clone().unwrap_or_else(|| {
            let model = Caller::model(self.settings.door).in_session(Some(self.session.id.clone()));
            model.with_message(Some(self.session.next_number().to_string()))
        });
        let granted = match model.grant.as_deref() {
            Some(grant) => Some(grant.clone()),
            None => switches.grant()?,
        };
        Ok(Caller {
            grant: filter::hiding(granted, filters)?.map(Arc::new),
            view: filter::view(filters),
            mode: self.session.mode(self.settings.mode),
            read_only: model.read_only || switches.actions != Actions::All,
            ..model
        })
    }

    /// How many bytes of results go back to the model at once: a quarter of what it can take, at four bytes a token.
    pub(super) fn most_bytes(&self) -> usize {
        const UNKNOWN: u32 = 32 << 10;
        let tokens = self.model.card().context_tokens.unwrap_or(UNKNOWN);
        (tokens as usize / 4 * context::TOKEN_BYTES).clamp(1 << 10, 64 << 10)
    }

    pub(super) fn manners(&self) -> Manners {
        if self.is_staged() {
            return Manners { dialect: None, is_one_turn: false };
        }
        match self.settings.family {
            Family::Capable => Manners { dialect: None, is_one_turn: false },
            Family::Small => Manners { dialect: None, is_one_turn: true },
            // The call that it decides about is in the native dialect.
            Family::MemAgent if self.session.switches.tools.is_empty() => {
                Manners { dialect: Some(Dialect::Python), is_one_turn: false }
            }
            Family::MemAgent => Manners { dialect: None, is_one_turn: false },
        }
    }

    /// What the model is asked now.
    pub(super) fn request(&self, run: &Run, asked: &Asked) -> Request {
        let rest = wishes(&asked.filters);
        let switches = &self.session.switches;
        let ask_first = asked.caller.mode == Mode::Flag;
        let system = match self.settings.family {
            Family::MemAgent => self.prompts.mem_agent(switches),
            Family::Capable | Family::Small => {
                self.prompts.system(switches, ask_first) + &tools::told(&self.offered(), tools::Form::Action)
            }
        };
        let mut messages: Vec<Message> = asked.before.exchanges.iter().flat_map(told).collect();
        let message = prompt::message(&asked.notes, &asked.message, &rest);
        messages.push(Message { role: Role::User, text: prompt::unknown(&asked.missing) + &message });
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

    /// Whether a reply is what is looked up and no words of the model.
    pub(super) fn quotes(&self, asked: &Asked) -> bool {
        let is_tiny = self.model.card().million_parameters.is_some_and(|millions| millions < TINY);
        is_tiny || !asked.filters.is_empty()
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

//! Driving a run: the model is asked, its calls are made, the person decides.

use std::borrow::Cow;

use tokio_util::sync::CancellationToken;

use super::asked::Asked;
use super::budget::Estimate;
use super::line::{Act, Line, Word};
use super::run::{Decided, Finish, Run, Step};
use super::staged::Stages;
use super::stream::{self, Stream};
use super::{Agent, AgentError, Decision, Edge, Event, Said, Spent, filter, keep, origin, small};
use memdir_core::path::MemoryPath;
use memdir_core::report::Variables;
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Consent, Guard};
use memdir_model::{Answer, End, Heard, ModelError, Request, Role};
use memdir_plan::Seen;
use memdir_policy::Filter;

/// A message while it is answered: what is known of it, who hears, what stops it, and what came of it so far.
pub(super) struct Answering<'a> {
    pub(super) asked: &'a Asked,
    pub(super) edge: &'a mut dyn Edge,
    pub(super) stop: &'a CancellationToken,
    pub(super) said: &'a mut Said,
}

impl Agent<'_> {
    /// Does what the run says until it is done.
    pub(super) fn drive(
        &mut self,
        run: &mut Run,
        at: &mut Answering<'_>,
        stream: &mut Stream<'_>,
    ) -> Result<Finish, AgentError> {
        let is_staged = self.is_staged();
        let mut stages = is_staged.then(|| Stages::new(!at.asked.notes.is_empty()));
        loop {
            match run.next_step() {
                Step::CallModel => match &mut stages {
                    Some(now) => {
                        if !self.stage(now, run, at)? {
                            stages = None;
                        }
                    }
                    None => {
                        let answer = self.turn(run, at, stream)?;
                        run.answered(answer);
                    }
                },
                Step::Propose(parsed) => self.act(run, *parsed, at),
                Step::AskPerson(id) => {
                    let mut decided = self.ask(run, id, at.asked, at.edge);
                    if let Decided::Failed(failure) = &mut decided {
                        filter::failure(failure, &at.asked.filters);
                    }
                    run.decided(&decided);
                }
                Step::Done(finish) => return Ok(finish),
            }
            if at.stop.is_cancelled() {
                return Err(ModelError::Cancelled.into());
            }
        }
    }

    /// Asks the model, and counts what it used, also where the answer broke off: the answer, and the milliseconds that it took. What it
    /// writes is heard as it comes only where nothing in it may have to be withheld. It is not asked where what it would read, by an
    /// estimate, is more than may still be used.
    pub(super) fn ask_model(
        &mut self,
        request: &Request,
        asked: &Asked,
        edge: &mut dyn Edge,
        stop: &CancellationToken,
        spent: &mut Spent,
        mut stream: Option<&mut Stream<'_>>,
    ) -> Result<(Answer, u64), AgentError> {
        let is_open = asked.filters.is_empty() && stream.is_some();
        let mut estimate = Estimate::of(request);
        if self.settings.tokens.is_some_and(|most| spent.counted().saturating_add(estimate.sent) > most) {
            return Err(AgentError::Tokens);
        }
        let mut hear = |heard: Heard<'_>| {
            estimate.hear(heard);
            if is_open || matches!(heard, Heard::Reading { .. } | Heard::Again(_)) {
                edge.hear(Event::Model(heard));
            }
            let Some(stream) = &mut stream else { return };
            stream.hear(heard, &mut |written| edge.hear(Event::Written(written)));
        };
        let started = (self.settings.clock)();
        let answer = self.model.answer(request, &mut hear, stop);
        let took = (self.settings.clock)().since(started).as_millis();
        let ms = u64::try_from(took).unwrap_or(u64::MAX);
        estimate.count(answer.as_ref().err(), spent);
        let answer = answer.inspect_err(|_| tracing::info!(ms, "the model has not answered"))?;
        let Answer { input_tokens, output_tokens, reused_tokens, .. } = answer;
        tracing::info!(
            ms,
            input_tokens,
            output_tokens,
            reused_tokens,
            is_cut = answer.end == End::Cut,
            "asked the model"
        );
        spent.add(&answer);
        spent.ms = spent.ms.saturating_add(ms);
        Ok((answer, ms))
    }

    /// Has the model write a turn.
    fn turn(&mut self, run: &mut Run, at: &mut Answering<'_>, stream: &mut Stream<'_>) -> Result<Answer, AgentError> {
        let (answer, ms) = match self.decide_tool(run, at.asked, at.edge, at.stop, at.said)? {
            Some((call, ms)) if !call.text.is_empty() => {
                self.expanded = small::Expanded::default();
                (call, ms)
            }
            decision => {
                let (mut answer, mut ms) = self.own_turn(run, at, stream)?;
                // What it cost to decide that no tool is called is written down with the answer.
                if let Some((cost, more)) = decision {
                    answer.input_tokens = answer.input_tokens.saturating_add(cost.input_tokens);
                    answer.output_tokens = answer.output_tokens.saturating_add(cost.output_tokens);
                    answer.reused_tokens = answer.reused_tokens.saturating_add(cost.reused_tokens);
                    ms = ms.saturating_add(more);
                }
                (answer, ms)
            }
        };
        self.record_turn(run, &answer, ms);
        at.edge.hear(Event::Turned(&withheld(&answer, &at.asked.filters)));
        Ok(answer)
    }

    /// Has the model write a turn of its own.
    fn own_turn(
        &mut self,
        run: &mut Run,
        at: &mut Answering<'_>,
        stream: &mut Stream<'_>,
    ) -> Result<(Answer, u64), AgentError> {
        stream.begin();
        let (mut answer, ms) = if self.is_sorted() {
            self.small_turn(run, at, stream)?
        } else {
            let Answering { asked, edge, stop, said } = at;
            self.ask_model(&self.request(run, asked), asked, *edge, stop, &mut said.spent, Some(stream))?
        };
        stream::end_with_reply(&mut answer);
        if stream.has_spoken() {
            run.heard();
        }
        Ok((answer, ms))
    }

    /// Writes down a turn that the run is given.
    pub(super) fn record_turn(&mut self, run: &Run, answer: &Answer, ms: u64) {
        let Answer { input_tokens, output_tokens, reused_tokens, .. } = *answer;
        self.recorded.add(answer);
        self.recorder.write(&Line::Turn {
            message: self.session.last,
            turn: run.turns().len() as u64 + 1,
            time: (self.settings.clock)(),
            text: answer.text.clone(),
            is_cut: answer.end == End::Cut,
            input_tokens,
            output_tokens,
            reused_tokens,
            ms,
        });
    }

    /// Proposes and concludes the calls of a turn, and then makes those that go to other servers.
    fn act(&mut self, run: &mut Run, mut parsed: Parsed, at: &mut Answering<'_>) {
        let Answering { asked, edge, stop, said } = at;
        let frame = parsed.frame.clone();
        let foreign = self.take_foreign(&mut parsed);
        let own = parsed.entries.len();
        if own == 0 && !foreign.is_empty() {
            run.only_called();
        }
        keep::fill(&mut parsed, &asked.before, &asked.message);
        let engine = self.engine;
        let read = |path: &MemoryPath| engine.text_of(path);
        let parts = filter::parts(&parsed);
        if !asked.filters.is_empty() {
            filter::Redaction::new(&asked.filters, &read).refuse(&mut parsed);
        }
        let (seen, guard) = (Some(self.session.seen.clone()), Some(self.guard(run, asked)));
        let proposal = self.engine.propose(parsed, Caller { seen, guard, ..asked.caller.clone() });
        let (mut report, keep) = self.engine.conclude_in_conversation(proposal);
        let seen = self.learn(keep.seen.unwrap_or_default(), asked);
        if !keep.variables {
            report.variables = Variables::default();
        }
        report.batch = report.batch.or(keep.batch);
        self.recorder.write(&Line::Acted {
            message: self.session.last,
            turn: run.turns().len() as u64,
            actions: report.actions.iter().map(Act::of).collect(),
            changed: report.changed.clone(),
            batch: report.batch,
            receipt: report.receipt.clone(),
            seen,
        });
        if report.error.is_none() || report.actions.len() == own {
            let turn = run.turns().len();
            let called = self.call_foreign(foreign, turn, asked, *edge, stop, &mut said.tool_calls);
            report.actions.extend(called);
            report.actions.sort_by_key(|outcome| outcome.index);
        }
        // The notes are read again: they may have been changed just now.
        filter::Redaction::new(&asked.filters, &read).report(&mut report, parts);
        edge.hear(Event::Acted(&report));
        run.concluded(frame, report, edge.is_attended());
    }

    /// Notes what the model has seen of notes, and gives what of it is new. Of a note of which a filter has kept something it does
    /// not know what it would replace.
    fn learn(&mut self, seen: Seen, asked: &Asked) -> Seen {
        let engine = self.engine;
        let read = |path: &MemoryPath| engine.text_of(path);
        let mut notes = filter::Notes::new(&asked.filters, &read);
        let mut new = seen.since(&self.session.seen);
        new.leave_out(|path| !asked.filters.is_empty() && notes.hides_some(path));
        self.session.seen.extend(new.clone());
        new
    }

    /// Who asks about what takes something away, and about what is not made of the person's words.
    fn guard(&self, run: &Run, asked: &Asked) -> Guard {
        let results = run.transcript().iter().filter(|message| message.role == Role::User);
        let notes = asked.notes.iter().flat_map(|(path, text)| [path.as_str(), text.as_str()]);
        let shown = notes.chain(results.map(|message| message.text.as_str()));
        // What they want instead of a proposal is their word, too, and so is a date that is computed from what they said.
        let said = std::iter::once(&asked.message).chain(run.instead()).chain(&self.expanded.dates);
        let said = said.map(String::as_str).collect::<Vec<_>>();
        let now = (self.settings.clock)();
        let answers = self.session.tools.words.clone();
        let mut tools = answers.clone();
        self.described(asked).iter().for_each(|tool| tools.add(tool.name.as_str(), tool.description()));
        let words = origin::Words::of(&said.join("\n"), &self.session.exchanges, shown, now).after(answers, tools);
        let (removals, callers) = (self.settings.removals, asked.caller.guard.clone());
        Guard::new(move |plan| {
            let own = words.objection(plan, removals);
            match &callers {
                Some(guard) => own.join(guard.objection(plan)),
                None => own,
            }
        })
    }

    /// Asks the person about a proposal, and does what they say.
    fn ask(&mut self, run: &Run, id: u64, asked: &Asked, edge: &mut dyn Edge) -> Decided {
        let reviewed = match self.engine.review_proposal(id) {
            Ok(reviewed) => reviewed,
            Err(failure) => return Decided::Failed(failure),
        };
        let person = Caller::person(self.settings.door).in_session(Some(self.session.id.clone()));
        let decision = edge.decide(&reviewed);
        let (word, instead) = match &decision {
            Decision::Later => (Word::Later, None),
            Decision::Yes => (Word::Yes, None),
            Decision::No => (Word::No, None),
            Decision::Instead(words) => (Word::Instead, Some(words.clone())),
        };
        let mut seen = Seen::default();
        let decided = match decision {
            Decision::Later => Decided::Later,
            Decision::Yes => match self.engine.approve(id, Consent::Shown(reviewed.waiting.digest), &person) {
                Ok(mut done) => {
                    seen = self.learn(std::mem::take(&mut done.seen), asked);
                    Decided::Done(done)
                }
                Err(error) => Decided::Failed(error.failure),
            },
            Decision::No => self.reject(id, None, &person),
            Decision::Instead(words) => self.reject(id, Some(words), &person),
        };
        let (batch, receipt) = match &decided {
            Decided::Done(done) => (done.batch, done.receipt.clone()),
            Decided::No(_) | Decided::Later | Decided::Failed(_) => (None, None),
        };
        tracing::info!(proposal = id, ?word, failed = matches!(decided, Decided::Failed(_)), "decided");
        let (message, turn) = (self.session.last, run.turns().len() as u64);
        let decision = word;
        self.recorder.write(&Line::Decided { message, turn, proposal: id, decision, instead, batch, receipt, seen });
        decided
    }

    fn reject(&self, id: u64, instead: Option<String>, person: &Caller) -> Decided {
        match self.engine.reject(id, person) {
            Ok(()) => Decided::No(instead),
            Err(failure) => Decided::Failed(failure),
        }
    }
}

/// A turn as it may be shown.
pub(super) fn withheld<'a>(answer: &'a Answer, filters: &[Filter]) -> Cow<'a, Answer> {
    if filters.is_empty() {
        return Cow::Borrowed(answer);
    }
    let thought = answer.thought.as_deref().map(|thought| filter::withhold(thought, filters));
    Cow::Owned(Answer { text: filter::withhold(&answer.text, filters), thought, ..answer.clone() })
}

//! The memory as of a moment: for the person's commands that read, and for calls that say `as_of`.

use super::facts::{Facts, FactsQuery, page};
use super::name::named_in;
use super::planning::seconds;
use super::query::{Listed, text_in, tree_in};
use super::scoped_tree::ScopedTree;
use super::{Caller, Engine, failure, told};
use memdir_core::action::Call;
use memdir_core::catalog::shorten;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Issue, Outcome};
use memdir_core::time::Timestamp;
use memdir_policy::{Cleared, Context};
use memdir_vault::{Moment, PastTree, VaultError};

/// How often a question about the past is asked again because a batch came meanwhile.
const ATTEMPTS: usize = 3;

/// The memory as its owner sees it, now or as of a moment.
#[derive(Debug)]
pub struct View<'e> {
    engine: &'e Engine,
    past: Option<PastTree<'e>>,
    /// The moment of which `past` tells.
    time: Timestamp,
}

impl Engine {
    /// Lets `look` look at the memory as it was at the end of a day or second (see [`Timestamp::parse_end`]); as it is now for
    /// `None`, and for what is not over yet. `look` is asked again where a batch came in between.
    ///
    /// # Errors
    ///
    /// `usage` for what is no day, `unavailable` for one before those that the history knows, `busy`, and what `look` answers.
    pub fn view<R>(
        &self,
        as_of: Option<&str>,
        mut look: impl FnMut(&View<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let now = self.now();
        let moment = as_of.map(|text| moment(text, now, Code::Usage, "")).transpose()?;
        let Some(time) = moment.filter(|time| *time < now) else {
            return look(&View { engine: self, past: None, time: now });
        };
        self.look_at(&Moment { time, now, last: None, shows: None }, look)
    }

    /// As [`Self::view`], as it was after a batch: others of the same second are seen only where they came before it.
    ///
    /// # Errors
    ///
    /// `not_found` where there is no such batch, `unavailable` where the history no longer reaches it, `busy`, and what `look` answers.
    pub fn view_after<R>(&self, batch: u64, look: impl FnMut(&View<'_>) -> Result<R, Failure>) -> Result<R, Failure> {
        let time = self.vault.time_of(batch).map_err(|error| failure(&error))?;
        let time = time.ok_or_else(|| {
            Failure::new(Code::NotFound, format!("there is no change {batch}"))
                .with_hint("`memdir log` shows which there are")
        })?;
        self.look_at(&Moment { time, now: self.now(), last: Some(batch), shows: None }, look)
    }

    fn look_at<R>(
        &self,
        moment: &Moment<'_>,
        mut look: impl FnMut(&View<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let seen = self.undisturbed(moment, |past| {
            let view = View { engine: self, past: Some(past), time: moment.time };
            let seen = look(&view);
            (seen, view.past)
        });
        seen.unwrap_or_else(|error| Err(failure(&error)))
    }

    /// Asks the memory as it was until no batch came meanwhile. `ask` gives the tree back.
    fn undisturbed<'e, R>(
        &'e self,
        moment: &Moment<'_>,
        mut ask: impl FnMut(PastTree<'e>) -> (R, Option<PastTree<'e>>),
    ) -> Result<R, VaultError> {
        for _ in 0..ATTEMPTS {
            let (answer, past) = ask(self.vault.past(moment)?);
            if past.is_none_or(|past| past.is_undisturbed().unwrap_or(true)) {
                return Ok(answer);
            }
        }
        Err(VaultError::Busy)
    }

    /// Answers a call as of the moment that it says, which is before now; what was noticed is put into `issues`. Nothing is told
    /// of a note that the caller may not see now under any name that it has had since.
    pub(super) fn answer_as_of(
        &self,
        time: Timestamp,
        cleared: &Cleared,
        (caller, context): (&Caller, Context<'_>),
        issues: &mut Vec<Issue>,
    ) -> Outcome {
        let call = cleared.call();
        let grant = caller.restriction();
        let shows =
            |path: &MemoryPath| grant.is_none_or(|grant| grant.shows(path)) && self.may_show(call, path, &context);
        let is_part = grant.is_some() || self.may_hide(call, &context);
        let moment = Moment { time, now: self.now(), last: None, shows: if is_part { Some(&shows) } else { None } };
        let answered = self.undisturbed(&moment, |past| {
            let mut outcome = None;
            let tree = ScopedTree::of_past(self, &past, caller.grant.as_deref());
            let plan = self.with_planner(&tree, caller, context, self.now(), |planner| {
                planner.set_time(seconds(time));
                outcome = Some(planner.answer(cleared));
            });
            ((outcome, plan), Some(past))
        });
        match answered {
            Ok((Some(outcome), plan)) => {
                issues.extend_from_slice(plan.issues());
                outcome
            }
            Ok((None, _)) => Outcome::failed(call, Failure::new(Code::Internal, "the call was not answered")),
            // When the history begins says only of what they see.
            Err(error @ VaultError::NotReached(_)) => Outcome::failed(call, failure(&error)),
            Err(error) => Outcome::failed(call, told(&error, caller.grant.as_deref())),
        }
    }

    /// The moment as of which a call asks; `None` for now, and for what is not over yet.
    pub(super) fn asked_moment(&self, call: &Call) -> Result<Option<Timestamp>, Failure> {
        let Some(text) = call.action.as_of() else { return Ok(None) };
        let subject = format!("action {}, `{}`: ", call.index, call.action.name());
        let now = self.now();
        Ok(Some(moment(text, now, Code::InvalidAction, &subject)?).filter(|time| *time < now))
    }
}

/// Reads a day or a time.
fn moment(text: &str, now: Timestamp, code: Code, subject: &str) -> Result<Timestamp, Failure> {
    Timestamp::parse_end(text, now).map_err(|_| {
        Failure::new(code, format!("{subject}`{}` is no day", shorten(text)))
            .with_hint("send a day such as `2026-11-16`, or a time such as `2026-11-16T09:30:00Z`")
    })
}

impl View<'_> {
    /// As [`Engine::note_named`], by the names that notes have in it.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn note_named(&self, said: &str) -> Result<MemoryPath, Failure> {
        match &self.past {
            // A note is found by the name that it had, or else by the one that it has.
            Some(past) => named_in(past, &self.engine.settings.limits, said)
                .or_else(|failure| self.engine.note_named(said).map_err(|_| failure)),
            None => self.engine.note_named(said),
        }
    }

    /// As [`Engine::read`].
    ///
    /// # Errors
    ///
    /// The same.
    pub fn read(&self, path: &MemoryPath, caller: &Caller) -> Result<(String, Digest), Failure> {
        match &self.past {
            Some(past) => self.engine.read_in(past, path, caller),
            None => self.engine.read(path, caller),
        }
    }

    /// The text of a note, of which nobody is told more; `None` where there is none.
    #[must_use]
    pub fn text_of(&self, path: &MemoryPath) -> Option<String> {
        match &self.past {
            Some(past) => text_in(past, path, self.engine.settings.limits.file_bytes).ok().map(|(text, _)| text),
            None => self.engine.text_of(path),
        }
    }

    /// As [`Engine::tree`].
    ///
    /// # Errors
    ///
    /// The same.
    pub fn tree(&self, folder: Option<&MemoryPath>, limit: usize, cursor: Option<&str>) -> Result<Listed, Failure> {
        match &self.past {
            Some(past) => tree_in(past, folder, limit, cursor),
            None => self.engine.tree(folder, limit, cursor),
        }
    }

    /// As [`Engine::facts`]; of the past, states are those that a fact and its note told then, and nothing tells where it came from.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn facts(&self, query: &FactsQuery<'_>) -> Result<Facts, Failure> {
        match &self.past {
            Some(past) => page(self.engine.facts_in(past, query.note, self.time)?, query),
            None => self.engine.facts(query),
        }
    }
}

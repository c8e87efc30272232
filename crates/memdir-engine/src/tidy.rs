//! `tidy`: one proposal of all that would make the memory tidier, which the person decides step by step.
//!
//! Owns what keeps it quiet: nothing is proposed twice, whatever became of it, and nothing while an earlier run waits. All
//! that is approved of a run is one batch, so one `undo` takes it back. It never starts by itself and uses no model.

use serde::Serialize;

use super::inbox::{ApprovalCode, PendingProposal, ProposedCall};
use super::scoped_tree::ScopedTree;
use super::trial::Trial;
use super::{Caller, Engine, InboxPlace, audit, failure, lock};
use memdir_check::{self as check, TidyStep};
use memdir_core::action::{Action, Call};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_plan::Tree;
use memdir_policy::Ground;
use memdir_vault::{MOST_WAITING, MOST_WAITING_BYTES, Numbers, Tidied, Writer};

/// No more steps are proposed at once: a person decides about each.
const MOST_STEPS: usize = 100;

/// What a run of `tidy` proposes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TidyRun {
    /// The number of the proposal that holds the steps; `None` where nothing was proposed.
    pub proposal: Option<u64>,
    /// The number of the proposal of an earlier run that still waits; then there are no steps.
    pub waiting: Option<u64>,
    /// The steps, in the order in which they are made.
    pub steps: Vec<ProposedStep>,
    /// How many more there are, for the run after this one is decided.
    pub left: usize,
}

/// A step as it is proposed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProposedStep {
    /// Why, in a few words.
    pub why: String,
    /// The note that it is about.
    pub path: MemoryPath,
    /// What it does, as `exec` accepts it.
    pub actions: Vec<Action>,
}

impl Engine {
    /// Proposes what would make the memory tidier, as one proposal in the inbox; `looked` is told of each note that was read. With
    /// `is_dry`, says it and proposes nothing.
    ///
    /// # Errors
    ///
    /// `read_only` for a caller who may only read, `quota_exceeded` where no more can wait, `unavailable` where the settings let
    /// nothing wait, `io`, and what the vault says. Nothing is proposed then.
    pub fn tidy(&self, is_dry: bool, caller: &Caller, looked: &(dyn Fn() + Sync)) -> Result<TidyRun, Failure> {
        if !is_dry {
            caller.check_write("tidy")?;
            if self.settings.keep_proposals.is_zero() {
                return Err(Failure::new(Code::Unavailable, "the settings let no proposal wait for you")
                    .with_hint("`memdir tidy --dry-run` says what it would propose"));
            }
        }
        let (waiting, _) = self.waiting()?;
        if let Some(waiting) = waiting.iter().find(|waiting| is_tidy(waiting)) {
            return Ok(TidyRun { waiting: Some(waiting.id), ..TidyRun::default() });
        }
        let now = self.now();
        let found = self.with_seen(looked, |seen, read| {
            let mut checked = check::check(seen, read);
            self.tell_writers(&mut checked.findings);
            check::tidy(seen, &checked, now, read)
        })?;
        let known = self.vault.tidied().map_err(|error| failure(&error))?;
        let sourced = self.vault.sourced_notes().map_err(|error| failure(&error))?;
        let mut steps = new(found, &known);
        steps.retain(|step| !step.moves_lines() || !sourced.contains(&step.path));
        if is_dry || steps.is_empty() {
            let tree = ScopedTree::new(self, &self.vault, None, false);
            let (made, _, left) = self.first_that_fit(&tree, &steps, &Caller::program(&caller.author.door));
            let steps = made.into_iter().cloned().map(ProposedStep::from).collect();
            return Ok(TidyRun { left, steps, ..TidyRun::default() });
        }
        self.propose_steps(steps, caller)
    }

    fn propose_steps(&self, steps: Vec<TidyStep>, caller: &Caller) -> Result<TidyRun, Failure> {
        let say = |error| failure(&error);
        let mut writer = self.vault.lock().map_err(say)?;
        let now = self.now();
        let opened = self.open_inbox(&mut writer, now)?;
        // Another run may have come between.
        if let Some(waiting) = opened.waiting.iter().find(|waiting| is_tidy(waiting)) {
            return Ok(TidyRun { waiting: Some(waiting.id), ..TidyRun::default() });
        }
        if opened.waiting.len() + opened.unreadable.len() >= MOST_WAITING {
            return Err(full(format!("{MOST_WAITING} proposals wait already")));
        }
        let known = writer.tidied().map_err(say)?;
        let steps = new(steps, &known);
        // What is approved of it is neither the person's own words nor a model's.
        let by = Caller::program(&caller.author.door);
        let (mut made, mut trial, mut left) =
            self.first_that_fit(&ScopedTree::new(self, &writer, None, true), &steps, &by);
        loop {
            if made.is_empty() || trial.plan.is_empty() {
                return Ok(TidyRun { left, ..TidyRun::default() });
            }
            let number = writer.next_proposal().map_err(say)?;
            let waiting = PendingProposal {
                id: number,
                time: now,
                expires: now.plus(self.settings.keep_proposals),
                author: by.author.clone(),
                grant: None,
                own: None,
                reason: format!(
                    "`memdir tidy` proposes {} that you can decide one by one",
                    memdir_plan::count(made.len(), "step")
                ),
                calls: calls(&made),
                changed: trial.plan.changed(),
                diff: trial.plan.diff(),
                digest: trial.digest(),
                code: ApprovalCode::new()?,
                tries: 0,
            };
            let encoded = waiting.encode();
            if encoded.len() > MOST_WAITING_BYTES.saturating_sub(opened.bytes) {
                // What is too much for one run is for the next.
                let half = made.len() / 2;
                if half == 0 {
                    return Err(full(format!("what waits would have more than {MOST_WAITING_BYTES} bytes")));
                }
                left += made.len() - half;
                made.truncate(half);
                (made, trial) = self.that_fit(&ScopedTree::new(self, &writer, None, true), made, &by);
                continue;
            }
            // A step that nobody was shown may be proposed later.
            let proposed: Vec<String> = made.iter().map(|step| known.digest(&step.identity())).collect();
            self.file_steps(&mut writer, waiting, &encoded, &proposed)?;
            let steps = made.into_iter().cloned().map(ProposedStep::from).collect();
            return Ok(TidyRun { proposal: Some(number), waiting: None, steps, left });
        }
    }

    /// The first steps that can be made one after the other, as many as one run proposes, planned; and how many steps come after
    /// them that were not tried.
    fn first_that_fit<'s, T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        steps: &'s [TidyStep],
        caller: &Caller,
    ) -> (Vec<&'s TidyStep>, Trial, usize) {
        let (mut made, mut rest) = (Vec::new(), steps.iter());
        loop {
            let free = MOST_STEPS.saturating_sub(made.len());
            made.extend(rest.by_ref().take(free));
            let (fit, trial) = self.that_fit(tree, made, caller);
            made = fit;
            if made.len() >= MOST_STEPS || rest.len() == 0 {
                return (made, trial, rest.len());
            }
        }
    }

    /// Those of some steps that can be made one after the other, planned.
    fn that_fit<'s, T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        mut made: Vec<&'s TidyStep>,
        caller: &Caller,
    ) -> (Vec<&'s TidyStep>, Trial) {
        loop {
            let trial = self.try_calls(tree, calls(&made).into_iter().map(|held| held.call), caller, self.now());
            let mut outcomes = trial.outcomes.iter();
            let fits: Vec<bool> = made
                .iter()
                .map(|step| {
                    outcomes.by_ref().take(step.actions.len()).filter(|outcome| outcome.result.is_err()).count() == 0
                })
                .collect();
            if fits.iter().all(|fits| *fits) {
                return (made, trial);
            }
            let mut fits = fits.into_iter();
            made.retain(|_| fits.next().unwrap_or_default());
        }
    }

    fn file_steps(
        &self,
        writer: &mut Writer<'_>,
        waiting: PendingProposal,
        encoded: &[u8],
        proposed: &[String],
    ) -> Result<(), Failure> {
        let content = match self.settings.inbox {
            InboxPlace::Disk => Some(encoded),
            InboxPlace::Process => None,
        };
        let entries = audit::proposed(&waiting);
        let numbers = Numbers { number: waiting.id, own: None };
        let filed = writer.file_proposal(numbers, content, (&entries, proposed), &waiting.author, waiting.time);
        filed.map_err(|error| failure(&error))?;
        tracing::info!(proposal = waiting.id, "tidy proposes steps");
        if content.is_none() {
            lock(&self.in_process).insert(waiting.id, waiting);
        }
        Ok(())
    }
}

impl From<TidyStep> for ProposedStep {
    fn from(TidyStep { why, path, actions }: TidyStep) -> Self {
        Self { why: why.to_owned(), path, actions }
    }
}

/// Whether a proposal is one of `tidy`.
pub(super) fn is_tidy(waiting: &PendingProposal) -> bool {
    waiting.calls.iter().flat_map(|held| &held.grounds).any(|ground| matches!(ground, Ground::Tidy(_)))
}

/// The steps that were never proposed.
fn new(steps: Vec<TidyStep>, known: &Tidied) -> Vec<TidyStep> {
    steps.into_iter().filter(|step| !known.has(&step.identity())).collect()
}

/// The calls of some steps. The first one of each says why; the others go with it.
fn calls(steps: &[&TidyStep]) -> Vec<ProposedCall> {
    let each = steps.iter().flat_map(|step| {
        step.actions.iter().enumerate().map(|(at, action)| {
            let grounds = if at == 0 { vec![Ground::Tidy(step.why.to_owned())] } else { Vec::new() };
            (action.clone(), grounds)
        })
    });
    each.zip(1..).map(|((action, grounds), index)| ProposedCall { call: Call::plain(index, action), grounds }).collect()
}

fn full(message: String) -> Failure {
    Failure::new(Code::QuotaExceeded, message).with_hint("decide some of what waits first: `memdir approve`")
}

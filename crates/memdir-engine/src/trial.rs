//! [`Trial`]: the calls of a proposal, planned as if the person had agreed.
//!
//! Owns what an approval is bound to.

use std::borrow::Cow;
use std::sync::Arc;

use super::inbox::PendingProposal;
use super::scoped_tree::ScopedTree;
use super::{Caller, Done, Engine, audit, caller};
use memdir_core::action::Call;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Outcome};
use memdir_core::time::Timestamp;
use memdir_plan::{Plan, Step, Tree};
use memdir_policy::{self as policy, Cleared, Context, Grant, Mode};
use memdir_vault::{Approval, Author, Batch, VaultError, Writer};

/// The calls of a proposal, planned as if the person had agreed.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) plan: Plan,
    pub(super) outcomes: Vec<Outcome>,
    /// Those that were not refused all the same, with their outcomes.
    cleared: Vec<(Cleared, Outcome)>,
    /// What the client was granted that proposes them.
    grant: Option<Arc<Grant>>,
    /// The notes that the client does not see and that stay as they are, since not all of them can be written.
    left: Vec<MemoryPath>,
}

impl Trial {
    /// What would change, as far as the client that proposes it may be told.
    pub(super) fn shown(&self) -> Cow<'_, Plan> {
        caller::shown(&self.plan, self.grant.as_deref())
    }

    /// What an approval is bound to: the diff as the client may see it, and the contents that a diff does not show.
    pub(super) fn digest(&self) -> Digest {
        let shown = self.shown();
        let mut parts = vec![shown.diff().into_bytes()];
        for step in shown.steps() {
            let Step::Put { before, after, .. } = step else { continue };
            let unseen = [before, after].into_iter().flatten().filter(|image| image.content.text().is_none());
            parts.extend(unseen.map(|image| image.content.digest().as_bytes().to_vec()));
        }
        Digest::of_parts(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    pub(super) fn trouble(&self) -> Option<&Failure> {
        self.outcomes.iter().find_map(|outcome| outcome.result.as_ref().err())
    }

    /// Leaves the notes as they are that the client does not see; says whether any was to change.
    pub(super) fn leave_hidden(&mut self) -> bool {
        self.left = caller::leave_hidden(&mut self.plan, self.grant.as_deref());
        !self.left.is_empty()
    }

    /// Carries it out as the batch of a proposal.
    ///
    /// # Errors
    ///
    /// Those of the vault: then the proposal still waits.
    pub(super) fn commit(
        &self,
        writer: &mut Writer<'_>,
        waiting: &PendingProposal,
        by: &Author,
        now: Timestamp,
    ) -> Result<Done, VaultError> {
        if self.plan.is_empty() {
            writer.drop_proposals(&[waiting.id], &[audit::decision("approve", waiting.id)], by, now)?;
            return Ok(Done { outcomes: self.outcomes.clone(), ..Done::default() });
        }
        let entries = self.cleared.iter().map(|(cleared, outcome)| audit::approved(cleared, outcome));
        let entries: Vec<_> = entries.chain(audit::relinked(&self.plan, waiting.grant.as_deref())).collect();
        let committed = writer.commit(&Batch {
            steps: self.plan.steps(),
            entries: &entries,
            author: &waiting.author,
            time: now,
            undoes: &[],
            approval: Some(Approval { proposal: waiting.id, by }),
        })?;
        let (changed, receipt) = (self.plan.changed(), Some(self.plan.receipt()));
        let seen = self.plan.leaves(|path| waiting.shows(path));
        let (batch, outcomes) = (Some(committed.batch), self.outcomes.clone());
        Ok(Done { batch, changed, receipt, left: self.left.clone(), seen, outcomes })
    }
}

impl Engine {
    /// Plans the calls of a proposal as the client sees the memory that proposed them.
    pub(super) fn try_waiting<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        waiting: &PendingProposal,
        now: Timestamp,
    ) -> Trial {
        let caller = Caller {
            author: waiting.author.clone(),
            grant: waiting.grant.clone(),
            mode: Mode::Ask,
            read_only: false,
            atomic: true,
            seen: None,
            guard: None,
            view: None,
        };
        self.try_calls(tree, waiting.calls.iter().map(|held| held.call.clone()), &caller, now)
    }

    /// Plans calls as if the person had agreed to them; what the settings deny stays denied.
    pub(super) fn try_calls<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        calls: impl IntoIterator<Item = Call>,
        caller: &Caller,
        now: Timestamp,
    ) -> Trial {
        let rules = self.rules();
        let approved = Context { approved: true, ..self.context(caller, &rules) };
        let (mut outcomes, mut made) = (Vec::new(), Vec::new());
        let plan = self.with_planner(tree, caller, approved, now, |planner| {
            for call in calls {
                let outcome = match policy::review(call, &approved, &mut Vec::new()) {
                    Ok(cleared) => {
                        let outcome = self.answer(planner, tree, &cleared, (caller, approved));
                        made.push((cleared, outcome.clone()));
                        outcome
                    }
                    Err(refused) => Outcome::failed(&refused.call, refused.failure),
                };
                outcomes.push(outcome);
            }
        });
        Trial { plan, outcomes, cleared: made, grant: caller.grant.clone(), left: Vec::new() }
    }
}

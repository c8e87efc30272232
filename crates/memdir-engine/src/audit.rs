//! What the audit keeps of each call.

use std::time::Duration;

use super::{Item, PendingProposal, Planned, PlannedCall, Proposal, permission};
use memdir_core::action::{Access, Action};
use memdir_core::catalog::{access, row};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Outcome};
use memdir_plan::{Plan, Step};
use memdir_policy::{self as policy, Cleared, Grant, Permission};
use memdir_vault::{AuditEntry, Payload};

/// One entry for each call of a proposal but for those that wait.
pub(super) fn entries(proposal: &Proposal) -> Vec<AuditEntry> {
    let calls = proposal.planned.calls.iter().filter(|call| !matches!(call.item, Item::Deferred(_)));
    calls
        .map(|PlannedCall { item, outcome, time }| {
            let action = match item {
                Item::Cleared(cleared) => Some(&cleared.call().action),
                // What was refused is not kept here either: it may be a secret, or text that nobody approved.
                Item::Settled | Item::Deferred(_) => None,
            };
            entry(outcome, *time, permission(item), payload(action, outcome))
        })
        .collect()
}

/// The entries of calls that wait, by their places in the batch. Of what nobody has approved nothing is kept, not even a
/// name.
pub(super) fn waiting(planned: &Planned, waits: &[(usize, Outcome)], proposal: u64) -> Vec<AuditEntry> {
    let payload = Payload::of_waiting(proposal);
    let time = |at: usize| planned.calls.get(at).map_or(Duration::ZERO, |call| call.time);
    waits.iter().map(|(at, outcome)| entry(outcome, time(*at), Permission::Refused, payload.clone())).collect()
}

/// The entries of calls that are proposed without anybody having sent them. Nothing is kept of them either.
pub(super) fn proposed(waiting: &PendingProposal) -> Vec<AuditEntry> {
    let payload = Payload::of_waiting(waiting.id);
    let calls = waiting.calls.iter().map(|held| {
        let failure = Failure::new(Code::AwaitingApproval, "");
        entry(&Outcome::failed(&held.call, failure), Duration::ZERO, Permission::Refused, payload.clone())
    });
    calls.collect()
}

/// The entries of calls that would wait and of which no proposal was made.
pub(super) fn not_proposed(proposal: &Proposal) -> Vec<AuditEntry> {
    let is_proposed =
        |outcome: &Outcome| outcome.result.as_ref().is_err_and(|failure| failure.details.proposal.is_some());
    let calls = proposal.planned.calls.iter();
    let deferred = calls.filter(|call| matches!(call.item, Item::Deferred(_)) && !is_proposed(&call.outcome));
    deferred.map(|call| entry(&call.outcome, call.time, Permission::Refused, Payload::empty())).collect()
}

/// The entry that tells the owner in which notes a batch wrote links anew that the client does not see.
pub(super) fn relinked(plan: &Plan, grant: Option<&Grant>) -> Option<AuditEntry> {
    let grant = grant.filter(|grant| grant.is_restricted())?;
    let hidden = |step: &Step| match step {
        Step::Put { path, .. } if !grant.shows(path) => Some(path.clone()),
        Step::Put { .. } | Step::Move { .. } | Step::MakeFolder { .. } | Step::RemoveFolder { .. } => None,
    };
    let notes: Vec<MemoryPath> = plan.steps().iter().filter_map(hidden).collect();
    (!notes.is_empty()).then(|| owner("relink", Payload::of_relink(&notes)))
}

/// The entry of a call that the person has approved.
pub(super) fn approved(cleared: &Cleared, outcome: &Outcome) -> AuditEntry {
    let payload = payload(Some(&cleared.call().action), outcome);
    entry(outcome, Duration::ZERO, cleared.permission().clone(), payload)
}

/// The entry of a decision about a proposal.
pub(super) fn decision(action: &str, proposal: u64) -> AuditEntry {
    owner(action, Payload::of_decision(proposal, None))
}

/// The entry of something that is not a call of a text: nobody has to be asked about it.
pub(super) fn owner(action: &str, payload: Payload) -> AuditEntry {
    let (action, permission) = (action.to_owned(), Permission::Off.to_string());
    AuditEntry { number: 1, action, code: None, micros: 0, permission, payload }
}

/// A time in the unit of the audit.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn payload(action: Option<&Action>, outcome: &Outcome) -> Payload {
    let payload = Payload::of_call(action, outcome);
    let holds_secret = || policy::holds_secret(payload.as_str());
    match action {
        // What was refused as a secret may stand in the path or in the words of the failure.
        _ if outcome.result.is_err() => {
            if holds_secret() {
                Payload::empty()
            } else {
                payload
            }
        }
        // What somebody looks for may be one. A name cannot.
        Some(action) if !matches!(action, Action::ReadFile(_)) && access(action) == Access::Read && holds_secret() => {
            Payload::of_call(None, outcome)
        }
        Some(_) | None => payload,
    }
}

fn entry(outcome: &Outcome, time: Duration, permission: Permission, payload: Payload) -> AuditEntry {
    AuditEntry {
        number: outcome.index,
        // A name that no action has is text of the model's, and this column cannot be erased.
        action: outcome.action.clone().filter(|name| row(name).is_some()).unwrap_or_else(|| "unknown".to_owned()),
        code: outcome.result.as_ref().err().map(|failure| failure.code.to_string()),
        micros: micros(time),
        permission: permission.to_string(),
        payload,
    }
}

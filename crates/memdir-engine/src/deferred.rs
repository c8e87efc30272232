//! Calls that wait for the person, with the later calls of their batch on the same paths.
//!
//! While a text is planned they are only put together. Once the rest of the batch is done, each group is planned against
//! what is there then, and waits as one proposal.

use super::failure::forgotten_meanwhile;
use super::inbox::{ApprovalCode, PendingProposal, ProposedCall};
use super::pending::Opened;
use super::planning::Decided;
use super::scoped_tree::ScopedTree;
use super::trial::Trial;
use super::{Caller, Engine, InboxPlace, Item, Objection, Planned, PlannedCall, Proposal, aborted, audit, lock, told};
use memdir_core::action::{Access, Action, Call, ReadFile};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Outcome, Value};
use memdir_core::time::Timestamp;
use memdir_plan::{Planner, Tree};
use memdir_policy::{self as policy, Cleared, Ground, Refused};
use memdir_vault::{MOST_WAITING, MOST_WAITING_BYTES, Numbers, VaultError, Writer};

/// A call that waits.
#[derive(Debug)]
pub(super) struct DeferredCall {
    call: Call,
    /// The paths it works on.
    paths: Vec<MemoryPath>,
    /// The group that it was put into.
    group: usize,
    role: Role,
}

/// Why a call waits.
#[derive(Debug)]
enum Role {
    /// Somebody should be asked about it.
    Asked(Vec<Ground>),
    /// It writes on the paths of one that waits.
    Joined,
    /// It reads there, and is no part of the proposal.
    Reads(Cleared),
}

/// The paths on which calls wait, by group.
#[derive(Debug, Default)]
pub(super) struct DeferredGroups {
    groups: Vec<DeferredGroup>,
    /// Whether all calls that somebody should be asked about are one group: where every change waits, a turn is one question.
    is_one: bool,
}

#[derive(Debug)]
struct DeferredGroup {
    paths: Vec<MemoryPath>,
    /// The group with which it is one, since a call came to both.
    within: Option<usize>,
}

impl DeferredGroups {
    /// No groups yet; one for all calls where `is_one`.
    pub(super) fn new(is_one: bool) -> Self {
        Self { groups: Vec::new(), is_one }
    }

    /// Whether all calls that wait are one group.
    pub(super) fn is_single(&self) -> bool {
        self.groups.iter().filter(|group| group.within.is_none()).count() == 1
    }

    /// The group that has taken this one in, or itself.
    fn root(&self, mut group: usize) -> usize {
        while let Some(above) = self.groups.get(group).and_then(|group| group.within) {
            group = above;
        }
        group
    }

    /// The groups that wait on one of these paths.
    fn on(&self, paths: &[MemoryPath]) -> Vec<usize> {
        let is_met = |group: &DeferredGroup| group.within.is_none() && meet(&group.paths, paths);
        self.groups.iter().enumerate().filter(|(_, group)| is_met(group)).map(|(at, _)| at).collect()
    }

    /// The groups with which a call goes about which somebody should be asked.
    fn of_asked(&self, paths: &[MemoryPath]) -> Vec<usize> {
        if self.is_one && !self.groups.is_empty() { vec![0] } else { self.on(paths) }
    }

    /// Puts paths into the first of some groups and makes one of all; a new one where there is none.
    fn put(&mut self, paths: Vec<MemoryPath>, groups: &[usize]) -> usize {
        let Some((&first, others)) = groups.split_first() else {
            self.groups.push(DeferredGroup { paths, within: None });
            return self.groups.len() - 1;
        };
        let mut all = paths;
        for &other in others {
            let Some(other) = self.groups.get_mut(other) else { continue };
            other.within = Some(first);
            all.append(&mut other.paths);
        }
        if let Some(group) = self.groups.get_mut(first) {
            group.paths.append(&mut all);
        }
        first
    }
}

/// Whether two calls come to the same place, or one to a folder in which the other works.
fn meet(some: &[MemoryPath], others: &[MemoryPath]) -> bool {
    some.iter().any(|one| others.iter().any(|other| one.is_within(other) || other.is_within(one)))
}

/// Defers a call about which somebody should be asked.
pub(super) fn defer<T: Tree>(
    planner: &mut Planner<'_, ScopedTree<'_, T>>,
    tree: &ScopedTree<'_, T>,
    refused: Refused,
    groups: &mut DeferredGroups,
) -> Decided {
    let Refused { call, failure, grounds } = refused;
    let paths = paths_of(planner, tree, &call);
    let met = groups.of_asked(&paths);
    let group = groups.put(paths.clone(), &met);
    let outcome = Outcome::failed(&call, failure);
    (Item::Deferred(Box::new(DeferredCall { call, paths, group, role: Role::Asked(grounds) })), outcome)
}

/// Defers a call that works on the paths of a deferred one; `Err` gives any other call back.
pub(super) fn join_deferred<T: Tree>(
    planner: &mut Planner<'_, ScopedTree<'_, T>>,
    tree: &ScopedTree<'_, T>,
    cleared: Cleared,
    groups: &mut DeferredGroups,
) -> Result<Decided, Box<Cleared>> {
    if groups.groups.is_empty() {
        return Err(Box::new(cleared));
    }
    let paths = paths_of(planner, tree, cleared.call());
    let met = groups.on(&paths);
    let (Some(&first), Some(path)) = (met.first(), paths.first()) else { return Err(Box::new(cleared)) };
    let call = cleared.call().clone();
    let failure = Failure::new(Code::AwaitingApproval, format!("an earlier call on `{path}` waits for the person"))
        .with_hint("go on without it; the person decides");
    let outcome = Outcome::failed(&call, failure);
    let (group, role) = if catalog::access(&call.action) == Access::Read {
        (first, Role::Reads(cleared))
    } else {
        (groups.put(paths.clone(), &met), Role::Joined)
    };
    Ok((Item::Deferred(Box::new(DeferredCall { call, paths, group, role })), outcome))
}

/// The paths to which a call comes, also those to which they lead; none for one about the whole memory.
fn paths_of<T: Tree>(
    planner: &mut Planner<'_, ScopedTree<'_, T>>,
    tree: &ScopedTree<'_, T>,
    call: &Call,
) -> Vec<MemoryPath> {
    let named = [call.action.path(), call.action.new_path()].into_iter().flatten().cloned();
    let mut paths_of: Vec<MemoryPath> = named.chain(planner.place_of(call)).collect();
    let led: Vec<MemoryPath> = paths_of.iter().filter_map(|path| tree.resolve(path).ok()).collect();
    paths_of.extend(led.into_iter().filter(|path| !paths_of.contains(path)).collect::<Vec<_>>());
    paths_of
}

/// How much more may wait in the inbox.
struct InboxSpace {
    proposals: usize,
    bytes: usize,
}

impl InboxSpace {
    /// `here` is how many bytes wait in this process alone.
    fn beside(opened: &Opened, here: usize) -> Self {
        Self {
            proposals: MOST_WAITING.saturating_sub(opened.waiting.len() + opened.unreadable.len()),
            bytes: MOST_WAITING_BYTES.saturating_sub(opened.bytes.saturating_add(here)),
        }
    }
}

/// Why something cannot wait. Callers from whom something is hidden are told nothing of what others have waiting, nor how
/// large a change is that they see a part of.
fn over_limit(caller: &Caller, failure: Failure, message_for_restricted: &str) -> Failure {
    if caller.restriction().is_none() {
        return failure;
    }
    Failure { message: message_for_restricted.to_owned(), ..failure }
}

fn inbox_full(caller: &Caller, message: String) -> Failure {
    let failure = Failure::new(Code::QuotaExceeded, message).with_hint("the person has to decide some first");
    over_limit(caller, failure, "nothing more can wait for the person now")
}

/// The numbers of the next proposal. Who sees a part of the memory counts their own: a number tells how many others there
/// are.
fn numbers(writer: &mut Writer<'_>, caller: &Caller) -> Result<Numbers, Failure> {
    let client = caller.author.client.as_deref().filter(|_| caller.restriction().is_some());
    let say = |error: VaultError| told(&error, caller.grant.as_deref());
    let own = client.map(|client| writer.next_proposal_of(client)).transpose().map_err(say)?;
    Ok(Numbers { number: writer.next_proposal().map_err(say)?, own })
}

/// The calls of one group, by their paths_of among the items.
struct DeferredMembers<'p> {
    group: usize,
    held: Vec<(usize, &'p DeferredCall)>,
}

impl Engine {
    /// Files the deferred calls for the person, each group as one proposal.
    pub(super) fn file_deferred(&self, proposal: &mut Proposal) {
        let Proposal { planned, caller, parsed, forgets, .. } = proposal;
        let is_atomic = caller.is_atomic(parsed);
        if planned.groups.groups.is_empty() {
            return;
        }
        let outcomes = if self.settings.keep_proposals.is_zero() {
            outcomes_where_nothing_waits(planned)
        } else {
            self.outcomes_of_held(planned, (caller, is_atomic), *forgets)
        };
        name_proposals(planned, &outcomes);
        planned.set(outcomes);
    }

    /// What becomes of each call that was held, by its place among the items.
    fn outcomes_of_held(
        &self,
        planned: &Planned,
        (caller, is_atomic): (&Caller, bool),
        forgets: u64,
    ) -> Vec<(usize, Outcome)> {
        let fail = |members: &DeferredMembers<'_>, failure: &Failure| -> Vec<(usize, Outcome)> {
            let failed = members.held.iter().map(|(at, held)| (*at, Outcome::failed(&held.call, failure.clone())));
            failed.collect()
        };
        let groups = members(planned);
        let grant = caller.grant.as_deref();
        let locked = self.vault.lock().map_err(|error| told(&error, grant));
        let opened = locked.and_then(|mut writer| {
            // What the calls say may come from what was read before it was forgotten.
            if forgets != writer.forgets().map_err(|error| told(&error, grant))? {
                return Err(forgotten_meanwhile());
            }
            let opened = self.open_inbox(&mut writer, self.now())?;
            let here = lock(&self.in_process).values().map(|waiting| waiting.encode().len()).sum();
            Ok((writer, InboxSpace::beside(&opened, here)))
        });
        let (mut writer, mut room) = match opened {
            Ok(opened) => opened,
            Err(failure) => return groups.iter().flat_map(|members| fail(members, &failure)).collect(),
        };
        let mut outcomes = Vec::new();
        for members in &groups {
            let proposed = self.propose_group(&mut writer, &mut room, planned, members, (caller, is_atomic));
            outcomes.extend(proposed.unwrap_or_else(|failure| fail(members, &failure)));
        }
        outcomes
    }

    fn propose_group(
        &self,
        writer: &mut Writer<'_>,
        room: &mut InboxSpace,
        planned: &Planned,
        members: &DeferredMembers<'_>,
        (caller, is_atomic): (&Caller, bool),
    ) -> Result<Vec<(usize, Outcome)>, Failure> {
        let now = self.now();
        if room.proposals == 0 {
            return Err(inbox_full(caller, format!("{MOST_WAITING} proposals wait already")));
        }
        let writes = members.held.iter().filter(|(_, held)| !matches!(held.role, Role::Reads(_)));
        let calls = writes.clone().map(|(_, held)| held.call.clone());
        let tree = ScopedTree::new(self, &*writer, caller.grant.as_deref(), true);
        let trial = self.try_calls(&tree, calls, caller, now);
        let mut outcomes: Vec<(usize, Outcome)> =
            writes.clone().map(|(at, _)| *at).zip(trial.outcomes.iter().cloned()).collect();
        self.redact_failures(&mut outcomes, members, caller);
        let fits = |at: usize| outcomes.iter().any(|(other, outcome)| *other == at && outcome.result.is_ok());
        let is_asked = writes.clone().any(|(at, held)| fits(*at) && matches!(held.role, Role::Asked(_)));
        let failed = outcomes.iter().find(|(_, outcome)| outcome.result.is_err()).map(|(_, outcome)| outcome.index);
        if let Some(failed) = failed.filter(|_| is_atomic) {
            outcomes
                .iter_mut()
                .filter(|(_, it)| it.result.is_ok())
                .for_each(|(_, it)| it.result = Err(aborted(failed)));
            return Ok(outcomes);
        }
        if !is_asked || trial.plan.is_empty() {
            if !is_asked {
                fail_companions(&mut outcomes, members);
            }
            outcomes.extend(self.read_after_all(&tree, members, caller));
            return Ok(outcomes);
        }
        let proposed: Vec<&(usize, &DeferredCall)> = writes.filter(|(at, _)| fits(*at)).collect();
        // Calls held by rules or detectors were not in the plan that the guard saw.
        let Objection { grounds, tool } =
            caller.guard.as_ref().map(|guard| guard.objection(&trial.shown())).unwrap_or_default();
        let calls = proposed.iter().map(|(_, held)| held.to_keep(&grounds)).collect();
        let (numbers, tool) = (numbers(writer, caller)?, tool.as_deref());
        let waiting = self.pending_proposal(numbers, calls, &trial, (caller, tool), now)?;
        let reads = members.held.iter().filter(|(_, held)| matches!(held.role, Role::Reads(_)));
        let waits: Vec<(usize, Outcome)> =
            proposed.iter().copied().chain(reads).map(|(at, held)| (*at, held.waits(numbers, tool))).collect();
        outcomes.retain(|(_, outcome)| outcome.result.is_err());
        outcomes.extend(waits.iter().cloned());
        self.file(writer, room, planned, caller, waiting, &waits)?;
        tracing::info!(proposal = numbers.number, "a proposal waits");
        Ok(outcomes)
    }

    /// Takes out of failures what only the person may see: what stands in a note that the model may not read,
    /// and what an earlier deferred call would leave.
    fn redact_failures(&self, outcomes: &mut [(usize, Outcome)], members: &DeferredMembers<'_>, caller: &Caller) {
        let mut earlier: Vec<MemoryPath> = Vec::new();
        for (at, outcome) in outcomes {
            let held = members.held.iter().find(|(other, _)| other == at).map(|(_, held)| held);
            let Some(held) = held else { continue };
            if let Err(failure) = &mut outcome.result {
                if !self.may_read(held, caller) {
                    *failure = Failure::new(failure.code, "the call does not fit what is there")
                        .with_hint("the settings keep that from being shown; leave it out");
                } else if meet(&earlier, &held.paths) {
                    *failure = Failure::new(failure.code, failure.message.as_str())
                        .with_hint("an earlier call on it waits; send this one again once the person has decided");
                }
            }
            earlier.extend_from_slice(&held.paths);
        }
    }

    /// Whether the model may read all to which a call comes.
    fn may_read(&self, held: &DeferredCall, caller: &Caller) -> bool {
        let rules = self.rules();
        let context = self.context(caller, &rules);
        held.paths.iter().all(|path| {
            let read = ReadFile { path: path.clone(), start_line: None, end_line: None, as_of: None };
            let read = Call::plain(held.call.index, Action::ReadFile(read));
            policy::review_place(&read, path, &context).is_ok()
        })
    }

    /// Puts a proposal where it waits, and its calls into the audit.
    fn file(
        &self,
        writer: &mut Writer<'_>,
        room: &mut InboxSpace,
        planned: &Planned,
        caller: &Caller,
        waiting: PendingProposal,
        waits: &[(usize, Outcome)],
    ) -> Result<(), Failure> {
        let numbers = Numbers { number: waiting.id, own: waiting.own };
        let encoded = waiting.encode();
        let bytes = encoded.len();
        if bytes > MOST_WAITING_BYTES {
            let message = format!("the change would take more than {MOST_WAITING_BYTES} bytes to show to the person");
            let failure = Failure::new(Code::TooLarge, message).with_hint("send it in smaller parts");
            return Err(over_limit(caller, failure, "the change is too large to show to the person"));
        }
        if bytes > room.bytes {
            return Err(inbox_full(caller, format!("what waits would have more than {MOST_WAITING_BYTES} bytes")));
        }
        let content = match self.settings.inbox {
            InboxPlace::Disk => Some(encoded),
            InboxPlace::Process => None,
        };
        let entries = audit::waiting(planned, waits, waiting.id);
        let filed = writer.file_proposal(numbers, content.as_deref(), (&entries, &[]), &waiting.author, waiting.time);
        filed.map_err(|error| told(&error, caller.grant.as_deref()))?;
        if content.is_none() {
            lock(&self.in_process).insert(waiting.id, waiting);
        }
        room.proposals -= 1;
        room.bytes -= bytes;
        Ok(())
    }

    fn pending_proposal(
        &self,
        Numbers { number, own }: Numbers,
        calls: Vec<ProposedCall>,
        trial: &Trial,
        (caller, tool): (&Caller, Option<&str>),
        now: Timestamp,
    ) -> Result<PendingProposal, Failure> {
        let shown = trial.shown();
        Ok(PendingProposal {
            id: number,
            time: now,
            expires: now.plus(self.settings.keep_proposals),
            author: caller.author_of(tool),
            grant: caller.grant.clone(),
            own,
            reason: reason(&calls, tool),
            calls,
            changed: shown.changed(),
            diff: shown.diff(),
            digest: trial.digest(),
            code: ApprovalCode::new()?,
            tries: 0,
        })
    }

    /// Answers the reads of a group that does not wait after all.
    fn read_after_all<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        members: &DeferredMembers<'_>,
        caller: &Caller,
    ) -> Vec<(usize, Outcome)> {
        let reads = members.held.iter().filter_map(|(at, held)| match &held.role {
            Role::Reads(cleared) => Some((*at, cleared)),
            Role::Asked(_) | Role::Joined => None,
        });
        self.answer_now(tree, caller, reads.collect())
    }
}

impl DeferredCall {
    /// What is answered to a call that waits, because of a tool's words if that is why.
    fn waits(&self, Numbers { number, own }: Numbers, tool: Option<&str>) -> Outcome {
        let proposal = own.unwrap_or(number);
        let why = tool.map_or_else(String::new, |tool| format!(": it has words of the tool `{tool}`"));
        let failure = Failure::new(Code::AwaitingApproval, format!("proposal {proposal} waits for the person{why}"));
        let mut failure = failure.with_hint("go on without it; nothing of it is kept unless the person agrees");
        failure.details.proposal = Some(proposal);
        failure.details.waiting = Some(number);
        failure.details.is_read = matches!(self.role, Role::Reads(_));
        Outcome::failed(&self.call, failure)
    }

    /// The call with why it waits: its own grounds, and those of all that waits with it.
    fn to_keep(&self, more: &[Ground]) -> ProposedCall {
        let mut grounds = match &self.role {
            Role::Asked(grounds) => grounds.clone(),
            Role::Joined | Role::Reads(_) => Vec::new(),
        };
        let new: Vec<Ground> = more.iter().filter(|ground| !grounds.contains(ground)).cloned().collect();
        grounds.extend(new);
        ProposedCall { call: self.call.clone(), grounds }
    }
}

/// What becomes of calls that were held where the settings let nothing wait.
fn outcomes_where_nothing_waits(planned: &Planned) -> Vec<(usize, Outcome)> {
    let calls = planned.calls.iter().enumerate();
    let held = calls.filter_map(|(at, PlannedCall { item, outcome, .. })| match (item, &outcome.result) {
        (Item::Deferred(held), Err(failure)) => Some((at, held, failure)),
        _ => None,
    });
    held.map(|(at, held, failure)| {
        let failure = Failure::new(failure.code, failure.message.as_str());
        (at, Outcome::failed(&held.call, failure.with_hint("go on without it; nothing waits here for the person")))
    })
    .collect()
}

/// The groups that are of their own, in the order of their first calls.
fn members(planned: &Planned) -> Vec<DeferredMembers<'_>> {
    let mut groups = Vec::<DeferredMembers<'_>>::new();
    for (at, PlannedCall { item, .. }) in planned.calls.iter().enumerate() {
        let Item::Deferred(held) = item else { continue };
        let group = planned.groups.root(held.group);
        match groups.iter_mut().find(|members| members.group == group) {
            Some(members) => members.held.push((at, held)),
            None => groups.push(DeferredMembers { group, held: vec![(at, held)] }),
        }
    }
    groups
}

/// Fails the calls that were to wait with one that cannot be planned.
fn fail_companions(outcomes: &mut [(usize, Outcome)], members: &DeferredMembers<'_>) {
    for (at, outcome) in outcomes.iter_mut().filter(|(_, outcome)| outcome.result.is_ok()) {
        let Some((_, held)) = members.held.iter().find(|(other, _)| other == at) else { continue };
        let failure = Failure::new(Code::Conflict, "the call that it was to wait for cannot be made");
        *outcome = Outcome::failed(&held.call, failure.with_hint("send it again"));
    }
}

/// Names the proposal in the variables that a text has set by itself, when nobody knew yet that there would be one.
fn name_proposals(planned: &mut Planned, outcomes: &[(usize, Outcome)]) {
    let Some(variables) = &mut planned.variables else { return };
    let text = |failure: &Failure| Value::Text(format!("Error: {}", failure.message));
    for (at, outcome) in outcomes {
        if let (Some(label), Some(Err(before)), Err(now)) =
            (&outcome.label, planned.calls.get(*at).map(|call| &call.outcome.result), &outcome.result)
            && now.details.proposal.is_some()
        {
            variables.replace(label, &text(before), text(now));
        }
    }
}

/// The words of all grounds, each once. Where a tool's words are the reason, it is named.
fn reason(calls: &[ProposedCall], tool: Option<&str>) -> String {
    let mut words = Vec::new();
    for held in calls {
        let said = held.grounds.iter().map(|ground| match (ground, tool) {
            (Ground::Origin, Some(tool)) => format!("it has words of the tool `{tool}`"),
            _ => ground.words(held.call.action.name()),
        });
        for said in said {
            if !words.contains(&said) {
                words.push(said);
            }
        }
    }
    words.join("; ")
}

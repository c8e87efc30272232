//! The spine: [`Engine::propose`] makes of a text what would change, [`Engine::conclude`] makes that true.
//!
//! Owns the order of the steps and nothing else: it joins dialect, policy, plan and vault, and holds no format, no
//! rule and no words for people. Each step takes a type that only the step before it can make, so none is skipped.

use std::time::Duration;

use crate::action::{Access, Call};
use crate::catalog;
use crate::dialect::{Entry, Parsed, Unread};
use crate::path::MemoryPath;
use crate::plan::{self, Limits, Plan, Planner, Tree};
use crate::policy::{self, Cleared, Context, Mode, Permission, Rules};
use crate::report::{Code, Failure, Issue, Outcome, Report, Variables};
use crate::time::Timestamp;
use crate::vault::{AuditEntry, Author, Batch, Committed, Vault, VaultError, Writer};
use indexed::Indexed;

mod account;
mod audit;
mod build;
mod change;
mod check;
mod facts;
mod failure;
mod forget;
mod indexed;
mod keeper;
mod query;
mod refresh;
mod retrieve;

pub use account::Head;
pub use change::{Change, ChangeError, Done};
pub use facts::{Facts, FoundFact};
pub use failure::failure;
pub use forget::{Forgotten, Place, Target, Where};
pub use keeper::IndexPlace;
pub use query::{Listed, ListedEntry};
pub use retrieve::Retrieved;

/// How an engine works, whoever asks.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How large things may become.
    pub limits: Limits,
    /// How many calls one batch may hold.
    pub batch_actions: usize,
    /// How long planning one batch may take.
    pub batch_time: Duration,
    /// The person's standing answers.
    pub rules: Rules,
    /// Where the index is kept.
    pub index: IndexPlace,
    /// What time it is.
    pub clock: fn() -> Timestamp,
}

/// Who asks, and what they may do.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Who asks, for the history.
    pub author: Author,
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
    /// Only actions that read are allowed.
    pub read_only: bool,
    /// One failure, and nothing is done.
    pub atomic: bool,
}

/// A memory that answers calls. Threads may share one.
#[derive(Debug)]
pub struct Engine {
    vault: Vault,
    settings: Settings,
    keeper: keeper::Keeper,
}

/// What a text would do, decided and planned; nothing is done yet.
///
/// A value: it can be shown, dropped, or wait, and holds no lock.
#[derive(Debug)]
pub struct Proposal {
    parsed: Parsed,
    planned: Planned,
    manner: Manner,
    started: Timestamp,
}

/// A call that may happen, or what became of one that may not.
#[derive(Debug)]
enum Item {
    Cleared(Cleared),
    Settled(Box<Outcome>),
}

/// The plan for all calls of a text, with an outcome for each.
#[derive(Debug)]
struct Planned {
    items: Vec<Item>,
    plan: Plan,
    outcomes: Vec<Outcome>,
    /// How long each took.
    times: Vec<Duration>,
    /// What was noticed when the calls were reviewed.
    issues: Vec<Issue>,
    /// What the text has set by itself, in a dialect that has variables.
    variables: Option<Variables>,
}

/// How often a batch is planned anew under the lock when an editor saves in between.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Joins a vault with what it may do.
    #[must_use]
    pub fn new(vault: Vault, settings: Settings) -> Self {
        Self { vault, settings, keeper: keeper::Keeper::default() }
    }

    /// Decides and plans every call of a text. Changes nothing.
    #[must_use]
    pub fn propose(&self, parsed: Parsed, manner: Manner) -> Proposal {
        let _span = tracing::debug_span!("propose", calls = parsed.entries.len()).entered();
        // Best effort: a history that cannot be read is said by what needs it.
        if let Err(error) = self.vault.look_after_crash() {
            tracing::warn!(%error, "an unfinished batch was not looked for");
        }
        let started = (self.settings.clock)();
        let planned = self.plan(&self.indexed(), &parsed, &manner, started);
        Proposal { parsed, planned, manner, started }
    }

    /// Makes a proposal true and says what became of each call.
    ///
    /// If a note has changed since, it is planned once more, under the lock; an edit that still meets another one is
    /// a `conflict`. All that succeeds is one batch.
    #[must_use]
    pub fn conclude(&self, mut proposal: Proposal) -> Report {
        let _span = tracing::debug_span!("conclude").entered();
        let committed = if proposal.planned.plan.is_empty() { Ok(None) } else { self.commit(&mut proposal) };
        let committed = committed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the batch was not committed");
            self.fail_writes(&mut proposal, &failure(&error));
            None
        });
        if committed.is_none() {
            self.note(&proposal, audit::entries(&proposal));
        }
        let report = proposal.report(committed, self.vault.is_durable());
        for outcome in &report.actions {
            let code = outcome.result.as_ref().err().map(|failure| failure.code);
            // A name that no action has is text of the model's, which the log does not hold.
            let action = outcome.action.as_deref().filter(|name| catalog::row(name).is_some());
            tracing::info!(index = outcome.index, action, ?code, "call");
        }
        report
    }

    /// Says what a proposal would do, and does nothing.
    #[must_use]
    pub fn preview(&self, proposal: Proposal) -> Report {
        let looked = |entry: &AuditEntry| catalog::row(&entry.action).is_some_and(|row| row.access == Access::Read);
        self.note(&proposal, audit::entries(&proposal).into_iter().filter(looked).collect());
        let diff = proposal.planned.plan.diff();
        let changed = proposal.planned.plan.changed();
        let report = proposal.report(None, self.vault.is_durable());
        Report { dry_run: Some(true), diff: Some(diff), changed, ..report }
    }

    fn review(&self, entry: Entry, manner: &Manner, issues: &mut Vec<Issue>) -> Item {
        let call = match entry {
            Entry::Call(call) if call.index > self.settings.batch_actions => {
                let most = self.settings.batch_actions;
                let failure = Failure::new(Code::TooLarge, format!("a batch holds at most {most} actions"))
                    .with_hint("send the rest in the next turn");
                return settled(Outcome::failed(&call, failure));
            }
            Entry::Call(call) if self.is_oversized(&call) => {
                let most = self.settings.limits.note_bytes;
                let size = call.action.text().map_or(0, |(new, _)| new.len());
                let failure = plan::too_large("the text", size, most).with_hint("split it into several notes");
                return settled(Outcome::failed(&call, failure));
            }
            Entry::Call(call) => call,
            Entry::Unread(unread) => {
                let Unread { index, action, path, label, failure } = unread;
                let result = Err(failure);
                let (total, cursor, shown) = (None, None, None);
                return settled(Outcome { index, action, path, result, total, cursor, label, shown });
            }
        };
        match policy::review(call, &self.context(manner), issues) {
            Ok(cleared) => Item::Cleared(cleared),
            Err(refused) => settled(Outcome::failed(&refused.call, refused.failure)),
        }
    }

    /// Plans one call, once the places that its paths and links lead to are reviewed as well: a rule about a folder
    /// holds for whatever name leads into it.
    fn answer<T: Tree>(&self, planner: &mut Planner<'_, T>, tree: &T, cleared: &Cleared, manner: &Manner) -> Outcome {
        let call = cleared.call();
        let review = |path: &MemoryPath| policy::review_place(call, path, &self.context(manner));
        if self.settings.rules.is_empty() {
            return planner.answer(cleared);
        }
        let asked = [call.action.path(), call.action.new_path()];
        let mut resolved = asked.into_iter().flatten().filter_map(|path| tree.resolve(path).ok());
        if let Err(failure) = resolved.try_for_each(|path| review(&path)) {
            return Outcome::failed(call, failure);
        }
        if let Some(place) = planner.place_of(call) {
            let resolved = tree.resolve(&place).ok();
            if let Err(failure) = [Some(place), resolved].into_iter().flatten().try_for_each(|path| review(&path)) {
                return Outcome::failed(call, failure);
            }
        }
        planner.answer(cleared)
    }

    /// Whether the answer to a call may tell of a note that the call did not name.
    fn may_show(&self, call: &Call, path: &MemoryPath, manner: &Manner) -> bool {
        if !self.may_hide(call, manner) {
            return true;
        }
        let place = self.vault.resolve(path).unwrap_or_else(|_| path.clone());
        let may = |path: &MemoryPath| policy::review_place(call, path, &self.context(manner)).is_ok();
        may(path) && (place == *path || may(&place))
    }

    /// Whether there is any note of which the answer to a call may not tell.
    fn may_hide(&self, call: &Call, manner: &Manner) -> bool {
        !self.settings.rules.is_empty() && policy::may_hide(call, &self.context(manner))
    }

    /// Whether a call brings more text than a note may hold; not worth a review.
    fn is_oversized(&self, call: &Call) -> bool {
        let size = call.action.text().map_or(0, |(new, _)| new.len());
        u64::try_from(size).unwrap_or(u64::MAX) > self.settings.limits.note_bytes
    }

    fn context<'a>(&'a self, manner: &'a Manner) -> Context<'a> {
        Context {
            mode: manner.mode,
            approved: false,
            read_only: manner.read_only,
            client: manner.author.client.as_deref(),
            rules: &self.settings.rules,
        }
    }

    /// Reviews and plans on `tree`: the vault, or its writer while the lock is held.
    fn plan<T: Tree>(&self, tree: &Indexed<'_, T>, parsed: &Parsed, manner: &Manner, started: Timestamp) -> Planned {
        let clock = self.settings.clock;
        let stop = || clock().since(started) > self.settings.batch_time;
        let may_show = |call: &Call, path: &MemoryPath| self.may_show(call, path, manner);
        let may_hide = |call: &Call| self.may_hide(call, manner);
        let planner = Planner::new(tree, &self.settings.limits).at(seconds(started)).until(&stop);
        let mut planner = planner.showing(&may_show, &may_hide);
        let (mut items, mut outcomes) = (Vec::with_capacity(parsed.entries.len()), Vec::new());
        let (mut times, mut issues) = (Vec::new(), Vec::new());
        let mut turn = parsed.turn();
        let mut now = clock();
        while let Some(entry) = turn.next_entry() {
            let item = self.review(entry.into_owned(), manner, &mut issues);
            let outcome = match &item {
                Item::Settled(outcome) => outcome.as_ref().clone(),
                Item::Cleared(cleared) if now.since(started) > self.settings.batch_time => {
                    Outcome::failed(cleared.call(), too_late())
                }
                Item::Cleared(cleared) => self.answer(&mut planner, tree, cleared, manner),
            };
            turn.tell(&outcome);
            let then = clock();
            times.push(then.since(now));
            now = then;
            items.push(item);
            outcomes.push(outcome);
        }
        let (plan, variables) = (planner.finish(), turn.variables());
        let mut planned = Planned { items, plan, outcomes, times, issues, variables };
        if now.since(started) > self.settings.batch_time {
            planned.fail_all(&too_late());
        } else if manner.atomic && planned.outcomes.iter().any(|outcome| outcome.result.is_err()) {
            planned.abort();
        }
        planned
    }

    fn commit(&self, proposal: &mut Proposal) -> Result<Option<Committed>, VaultError> {
        let mut writer = self.vault.lock()?;
        let mut attempt = 0;
        loop {
            attempt += 1;
            match self.commit_planned(&mut writer, proposal) {
                // Planned again under the lock, so that only an editor can come in between once more.
                Err(VaultError::Conflict(_)) if attempt < ATTEMPTS => {
                    tracing::info!("planned again, since a note has changed");
                    let tree = Indexed { engine: self, tree: &writer, is_locked: true };
                    proposal.planned = self.plan(&tree, &proposal.parsed, &proposal.manner, proposal.started);
                    if proposal.planned.plan.is_empty() {
                        return Ok(None);
                    }
                }
                other => return other.map(Some),
            }
        }
    }

    fn commit_planned(&self, writer: &mut Writer<'_>, proposal: &Proposal) -> Result<Committed, VaultError> {
        writer.commit(&Batch {
            steps: proposal.planned.plan.steps(),
            entries: &audit::entries(proposal),
            author: &proposal.manner.author,
            time: proposal.started,
            undoes: None,
        })
    }

    /// Lets every call fail that would have changed something, since the batch could not be made true, and answers
    /// those that read once more: they may have seen what was never written.
    fn fail_writes(&self, proposal: &mut Proposal, failure: &Failure) {
        let (clock, started) = (self.settings.clock, (self.settings.clock)());
        let stop = || clock().since(started) > self.settings.batch_time;
        let manner = &proposal.manner;
        let may_show = |call: &Call, path: &MemoryPath| self.may_show(call, path, manner);
        let tree = self.indexed();
        let may_hide = |call: &Call| self.may_hide(call, manner);
        let mut planner = Planner::new(&tree, &self.settings.limits).until(&stop).showing(&may_show, &may_hide);
        let planned = &mut proposal.planned;
        planned.undo();
        for (outcome, item) in planned.outcomes.iter_mut().zip(&planned.items) {
            let Item::Cleared(cleared) = item else { continue };
            if catalog::access(&cleared.call().action) == Access::Read {
                *outcome = self.answer(&mut planner, &tree, cleared, manner);
            } else if outcome.result.is_ok() {
                outcome.result = Err(failure.clone());
            }
        }
    }

    /// The memory with its index, for somebody who does not hold the lock.
    fn indexed(&self) -> Indexed<'_, Vault> {
        Indexed { engine: self, tree: &self.vault, is_locked: false }
    }

    /// Notes calls that changed nothing for the audit.
    fn note(&self, proposal: &Proposal, entries: Vec<AuditEntry>) {
        let noted = self.vault.note_reads(entries, &proposal.manner.author, proposal.started);
        if let Err(error) = noted {
            tracing::warn!(%error, "the audit of reads was not written");
        }
    }
}

impl Proposal {
    /// What would change.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.planned.plan
    }

    fn report(self, committed: Option<Committed>, is_durable: bool) -> Report {
        let plan = &self.planned.plan;
        let mut issues = self.parsed.issues;
        issues.extend(self.planned.issues);
        issues.extend_from_slice(plan.issues());
        Report {
            variables: self.planned.variables.unwrap_or_else(|| Variables::of(&self.planned.outcomes)),
            changed: if committed.is_some() { plan.changed() } else { Vec::new() },
            batch: committed.map(|committed| committed.batch),
            durable: is_durable,
            receipt: committed.map(|_| plan.receipt()),
            actions: self.planned.outcomes,
            reply: self.parsed.reply,
            answer: None,
            issues,
            dry_run: None,
            diff: None,
            error: None,
        }
    }
}

impl Planned {
    /// Lets every call fail that did not, and changes nothing.
    fn fail_all(&mut self, failure: &Failure) {
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.result.is_ok()) {
            outcome.result = Err(failure.clone());
        }
        self.undo();
    }

    /// Changes nothing after all; what a text has set by itself was set by what is not done.
    fn undo(&mut self) {
        self.plan = Plan::default();
        self.variables = self.variables.take().map(|_| Variables::default());
    }

    /// Lets every call fail that did not, since one did and the batch is atomic.
    fn abort(&mut self) {
        let failed = self.outcomes.iter().find(|outcome| outcome.result.is_err()).map_or(0, |outcome| outcome.index);
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.result.is_ok()) {
            let failure = Failure::new(Code::BatchAborted, format!("nothing was done, since action {failed} failed"));
            outcome.result = Err(failure.with_hint(format!("mend action {failed}, then send all of them again")));
        }
        self.undo();
    }
}

/// A time as a file has it.
fn seconds(time: Timestamp) -> (i64, u32) {
    let micros = time.micros();
    (micros.div_euclid(1_000_000), u32::try_from(micros.rem_euclid(1_000_000) * 1_000).unwrap_or(0))
}

fn too_late() -> Failure {
    Failure::new(Code::Timeout, "the batch took too long, and nothing of it was done")
        .with_hint("send fewer actions in one turn")
}

fn settled(outcome: Outcome) -> Item {
    Item::Settled(Box::new(outcome))
}

/// What the audit says of the leave by which an item was made.
fn permission(item: &Item) -> Permission {
    match item {
        Item::Cleared(cleared) => cleared.permission().clone(),
        Item::Settled(_) => Permission::Refused,
    }
}

#[cfg(test)]
mod tests;

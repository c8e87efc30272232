//! The spine: [`Engine::propose`] makes of a text what would change, [`Engine::conclude`] makes that true.
//!
//! Owns the order of the steps and nothing else: it joins dialect, policy, plan and vault, and holds no format, no
//! rule and no words for people. Each step takes a type that only the step before it can make, so none is skipped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;

use crate::action::Access;
use crate::catalog;
use crate::dialect::Parsed;
use crate::plan::{Limits, Plan, Seen};
use crate::policy::{Cleared, Grant, Mode, Permission, Rules};
use crate::report::{Code, Failure, Issue, Outcome, Report, Variables};
use crate::time::Timestamp;
use crate::vault::{AuditEntry, Author, Batch, Committed, Vault, VaultError, Writer};
use held::{Groups, Held};
use indexed::Indexed;
use planning::Asker;

mod account;
mod audit;
mod background;
mod build;
mod change;
mod check;
mod facts;
mod failure;
mod forget;
mod guard;
mod held;
mod inbox;
mod indexed;
mod keeper;
mod lens;
mod looks;
mod meaning;
mod name;
mod parts;
mod pending;
mod planning;
mod query;
mod refresh;
mod retrieve;
mod sessions;
mod standing;

pub use account::{Head, Readers};
pub use change::{Change, ChangeError, Done};
pub use facts::{Facts, FoundFact};
use failure::told;
pub use failure::{failure, without_history};
pub use forget::{ForgetPreview, Forgotten, Lines, Mention, Place, Target, Where};
pub use guard::Guard;
pub use inbox::{HeldCall, OneTime, Waiting};
pub use keeper::IndexPlace;
pub use looks::Glance;
pub use meaning::{Embeddings, Meant, Opening};
pub use pending::{Leave, Pending, Reviewed, Unreadable};
pub use query::{Listed, ListedEntry};
pub use retrieve::Retrieved;
pub use sessions::SessionLog;
pub use standing::standing;

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
    /// Where proposals wait for the person.
    pub inbox: InboxPlace,
    /// How long they wait.
    pub keep_proposals: Duration,
    /// What time it is.
    pub clock: fn() -> Timestamp,
}

/// Where proposals wait for the person.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum InboxPlace {
    /// In the state of this machine, for any process of the person's.
    #[default]
    Disk,
    /// In this process, as long as it lives.
    Process,
}

/// Who asks, and what they may do.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Who asks, for the history.
    pub author: Author,
    /// What the client was granted; `None` for the owner of the memory.
    pub grant: Option<Arc<Grant>>,
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
    /// Only actions that read are allowed.
    pub read_only: bool,
    /// One failure, and nothing is done.
    pub atomic: bool,
    /// What the conversation has seen before; `None` where there is no conversation.
    pub seen: Option<Seen>,
}

/// What a conversation may keep of a turn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Keep {
    /// What it has seen by now; `None` where it was told of none, or nothing could be written.
    pub seen: Option<Seen>,
    /// Whether it may keep the variables: what a script has set by itself may be the text of a call that has no leave.
    pub variables: bool,
    /// The batch, for who talks with the owner of the memory: the report has no number where something is hidden.
    pub batch: Option<u64>,
}

/// A memory that answers calls. Threads may share one.
#[derive(Debug)]
pub struct Engine {
    vault: Vault,
    settings: Settings,
    keeper: keeper::Keeper,
    /// How the index is built, where that is done in the background.
    background: background::Background,
    /// What tells meanings, where something does.
    meaning: Option<meaning::Meaning>,
    /// The proposals that wait in this process alone.
    waiting: Mutex<BTreeMap<u64, Waiting>>,
}

/// What a text would do, decided and planned; nothing is done yet.
///
/// A value: it can be shown, dropped, or wait, and holds no lock.
#[derive(Debug)]
pub struct Proposal {
    parsed: Parsed,
    planned: Planned,
    manner: Manner,
    guard: Option<Guard>,
    started: Timestamp,
    /// How often something had been forgotten then.
    forgets: u64,
}

/// A call as it was reviewed.
#[derive(Debug)]
enum Item {
    /// It may happen.
    Cleared(Cleared),
    /// It could not be read, or was refused.
    Settled,
    /// It waits for the person, or for a call that does.
    Held(Box<Held>),
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
    /// The calls that wait, by the paths on which they write.
    groups: Groups,
    /// What the text has set by itself, in a dialect that has variables.
    variables: Option<Variables>,
}

/// How often a batch is planned anew under the lock when an editor saves in between.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Joins a vault with what it may do.
    #[must_use]
    pub fn new(vault: Vault, settings: Settings) -> Self {
        let (keeper, background) = (keeper::Keeper::default(), background::Background::default());
        Self { vault, settings, keeper, background, meaning: None, waiting: Mutex::default() }
    }

    /// The same, which also ranks by what notes mean.
    #[must_use]
    pub fn with_embeddings(self, embeddings: Embeddings) -> Self {
        Self { meaning: Some(meaning::Meaning::new(embeddings)), ..self }
    }

    /// Decides and plans every call of a text. Changes nothing.
    #[must_use]
    pub fn propose(&self, parsed: Parsed, manner: Manner) -> Proposal {
        self.propose_guarded(parsed, manner, None)
    }

    /// As [`Engine::propose`], with somebody who has a last word on each call.
    #[must_use]
    pub fn propose_guarded(&self, mut parsed: Parsed, manner: Manner, guard: Option<Guard>) -> Proposal {
        let _span = tracing::debug_span!("propose", calls = parsed.entries.len()).entered();
        let trouble = self.history_trouble();
        let (started, forgets) = ((self.settings.clock)(), self.vault.forgets());
        let asker = Asker { manner: &manner, guard: guard.as_ref(), is_approved: false };
        let planned = self.plan(&self.seen_by(manner.grant.as_deref()), &parsed, asker, started);
        // Beside what is said of the text, so that it is still said when that is planned again.
        parsed.issues.extend(trouble.map(|failure| Issue {
            code: "history_unusable",
            index: None,
            message: without_history(&failure),
        }));
        Proposal { parsed, planned, manner, guard, started, forgets }
    }

    /// Why the history cannot be used now; `None` where it can. Notes are read all the same, and leave no entry in the audit.
    /// What a crash has left unfinished is finished on the way.
    #[must_use]
    pub fn history_trouble(&self) -> Option<Failure> {
        let error = self.vault.look_after_crash().err()?;
        tracing::warn!(%error, "the history cannot be used");
        // Somebody else is at work on it.
        if matches!(error, VaultError::Busy) { None } else { Some(failure(&error)) }
    }

    /// Makes a proposal true and says what became of each call.
    ///
    /// If a note has changed since, it is planned once more, under the lock; an edit that still meets another one is
    /// a `conflict`. All that succeeds is one batch.
    #[must_use]
    pub fn conclude(&self, proposal: Proposal) -> Report {
        self.conclude_in_conversation(proposal).0
    }

    /// As [`Engine::conclude`], and tells what the conversation may keep.
    #[must_use]
    pub fn conclude_in_conversation(&self, mut proposal: Proposal) -> (Report, Keep) {
        let _span = tracing::debug_span!("conclude").entered();
        let committed = if proposal.planned.plan.is_empty() { Ok(None) } else { self.commit(&mut proposal) };
        let committed = committed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the batch was not committed");
            let failure = told(&error, proposal.manner.grant.as_deref());
            self.fail_writes(&mut proposal, &failure);
            None
        });
        if committed.is_none() {
            self.note(&proposal, audit::entries(&proposal));
        }
        let variables = !(proposal.parsed.script.is_some() && proposal.planned.lacks_leave());
        self.hold(&mut proposal);
        self.note(&proposal, audit::not_proposed(&proposal));
        let batch = committed.as_ref().map(|committed| committed.batch);
        let keep = Keep { seen: proposal.planned.plan.seen().cloned(), variables, batch };
        let report = proposal.report(committed, self.vault.is_durable());
        for outcome in &report.actions {
            let code = outcome.result.as_ref().err().map(|failure| failure.code);
            // A name that no action has is text of the model's, which the log does not hold.
            let action = outcome.action.as_deref().filter(|name| catalog::row(name).is_some());
            tracing::info!(index = outcome.index, action, ?code, "call");
        }
        (report, keep)
    }

    /// Says what a proposal would do, and does nothing.
    #[must_use]
    pub fn preview(&self, proposal: Proposal) -> Report {
        let looked = |entry: &AuditEntry| catalog::row(&entry.action).is_some_and(|row| row.access == Access::Read);
        let entries = audit::entries(&proposal).into_iter().chain(audit::not_proposed(&proposal));
        self.note(&proposal, entries.filter(looked).collect());
        let shown = proposal.shown();
        let (diff, changed) = (shown.diff(), shown.changed());
        let report = proposal.report(None, self.vault.is_durable());
        Report { dry_run: Some(true), diff: Some(diff), changed, ..report }
    }

    fn commit(&self, proposal: &mut Proposal) -> Result<Option<Committed>, VaultError> {
        let mut writer = self.vault.lock()?;
        if proposal.forgets != writer.forgets()? {
            // What was forgotten meanwhile must not come back with what the calls have read.
            self.plan_again(&writer, proposal);
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            if proposal.planned.plan.is_empty() {
                return Ok(None);
            }
            match self.commit_planned(&mut writer, proposal) {
                // Planned again under the lock, so that only an editor can come in between once more.
                Err(VaultError::Conflict(_)) if attempt < ATTEMPTS => {
                    tracing::info!("planned again, since a note has changed");
                    self.plan_again(&writer, proposal);
                }
                // The owner's links in notes that the client does not see: that they cannot be written is not for it to know.
                Err(error) if !matches!(error, VaultError::Unsettled(_)) && proposal.leave_hidden() => {
                    tracing::warn!(%error, "tried again without the links in notes that the client does not see");
                }
                other => return other.map(Some),
            }
        }
    }

    /// Plans a proposal anew, under the lock.
    fn plan_again(&self, writer: &Writer<'_>, proposal: &mut Proposal) {
        let tree = Indexed::new(self, writer, proposal.manner.grant.as_deref(), true);
        let Proposal { manner, guard, .. } = &*proposal;
        let asker = Asker { manner, guard: guard.as_ref(), is_approved: false };
        proposal.planned = self.plan(&tree, &proposal.parsed, asker, proposal.started);
        proposal.forgets = self.vault.forgets();
    }

    fn commit_planned(&self, writer: &mut Writer<'_>, proposal: &Proposal) -> Result<Committed, VaultError> {
        let mut entries = audit::entries(proposal);
        entries.extend(audit::relinked(&proposal.planned.plan, proposal.manner.grant.as_deref()));
        writer.commit(&Batch {
            steps: proposal.planned.plan.steps(),
            entries: &entries,
            author: &proposal.manner.author,
            time: proposal.started,
            undoes: None,
            approval: None,
        })
    }

    /// Lets every call fail that would have changed something, since the batch could not be made true, and answers
    /// those that read once more: they may have seen what was never written.
    fn fail_writes(&self, proposal: &mut Proposal, failure: &Failure) {
        let Proposal { planned, manner, .. } = proposal;
        planned.undo();
        let mut reads = Vec::new();
        for (at, (outcome, item)) in planned.outcomes.iter_mut().zip(&planned.items).enumerate() {
            let Item::Cleared(cleared) = item else { continue };
            if catalog::access(&cleared.call().action) == Access::Read {
                reads.push((at, cleared));
            } else if outcome.result.is_ok() {
                outcome.result = Err(failure.clone());
            }
        }
        let answers = self.answer_now(
            &self.seen_by(manner.grant.as_deref()),
            Asker { manner, guard: None, is_approved: false },
            reads,
        );
        planned.set(answers);
    }

    /// The memory as somebody with this grant sees it, who does not hold the lock.
    fn seen_by<'e>(&'e self, grant: Option<&'e Grant>) -> Indexed<'e, Vault> {
        Indexed::new(self, &self.vault, grant, false)
    }

    /// Notes calls that changed nothing for the audit.
    fn note(&self, proposal: &Proposal, entries: Vec<AuditEntry>) {
        let noted = self.vault.note_reads(entries, &proposal.manner.author, proposal.started, proposal.forgets);
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

    /// What would change, as far as the one who asks may be told.
    fn shown(&self) -> Cow<'_, Plan> {
        match self.restriction() {
            Some(grant) => Cow::Owned(self.planned.plan.shown(|path| grant.shows(path))),
            None => Cow::Borrowed(&self.planned.plan),
        }
    }

    /// Leaves the notes as they are that the one who asks does not see; says whether any was to change.
    fn leave_hidden(&mut self) -> bool {
        let grant = self.manner.grant.as_deref().filter(|grant| grant.is_restricted());
        grant.is_some_and(|grant| self.planned.plan.keep_puts(|path| grant.shows(path)))
    }

    /// What the one who asks was granted, where something is hidden from them.
    fn restriction(&self) -> Option<&Grant> {
        self.manner.grant.as_deref().filter(|grant| grant.is_restricted())
    }

    fn report(self, committed: Option<Committed>, is_durable: bool) -> Report {
        let plan = self.shown();
        let committed = committed.filter(|_| !plan.is_empty());
        let (changed, receipt) = committed.map(|_| (plan.changed(), plan.receipt())).unzip();
        // Numbers tell how many others there are.
        let batch = committed.filter(|_| self.restriction().is_none()).map(|committed| committed.batch);
        let mut issues = self.parsed.issues;
        issues.extend(self.planned.issues);
        issues.extend_from_slice(self.planned.plan.issues());
        let report = Report {
            changed: changed.unwrap_or_default(),
            batch,
            durable: is_durable,
            receipt,
            reply: self.parsed.reply,
            issues,
            ..Report::of(self.planned.outcomes)
        };
        match self.planned.variables {
            Some(variables) => Report { variables, ..report },
            None => report,
        }
    }
}

impl Manner {
    /// Whether one failure of these calls leaves nothing done.
    fn is_atomic(&self, parsed: &Parsed) -> bool {
        self.atomic || parsed.frame.is_atomic()
    }
}

/// What becomes of the other calls of an atomic batch.
fn aborted(failed: usize) -> Failure {
    Failure::new(Code::BatchAborted, format!("nothing was done, since action {failed} failed"))
        .with_hint(format!("mend action {failed}, then send all of them again"))
}

impl Planned {
    /// Whether all that would change something waits, and as one proposal: then the person decides about the whole.
    fn waits_as_one(&self) -> bool {
        let is_left = |(outcome, item): (&Outcome, &Item)| outcome.result.is_ok() || matches!(item, Item::Held(_));
        self.plan.is_empty() && self.groups.is_single() && self.outcomes.iter().zip(&self.items).all(is_left)
    }

    /// Replaces outcomes by their places.
    fn set(&mut self, outcomes: Vec<(usize, Outcome)>) {
        for (at, outcome) in outcomes {
            if let Some(place) = self.outcomes.get_mut(at) {
                *place = outcome;
            }
        }
    }

    /// Lets every call fail that did not, those that wait too, and changes nothing.
    fn fail_all(&mut self, failure: &Failure) {
        for (outcome, item) in self.outcomes.iter_mut().zip(&self.items) {
            if outcome.result.is_ok() || matches!(item, Item::Held(_)) {
                outcome.result = Err(failure.clone());
            }
        }
        self.groups = Groups::default();
        self.undo();
    }

    /// Whether a call that would write waits or was refused. Asked before calls that wait are put into proposals.
    fn lacks_leave(&self) -> bool {
        self.outcomes.iter().any(|outcome| {
            let code = outcome.result.as_ref().err().map(|failure| failure.code);
            let row = outcome.action.as_deref().and_then(catalog::row);
            matches!(code, Some(Code::AwaitingApproval | Code::Denied | Code::PermissionRequired))
                && row.is_none_or(|row| row.access != Access::Read)
        })
    }

    /// Changes nothing after all; what a text has set by itself was set by what is not done.
    fn undo(&mut self) {
        self.plan = Plan::default();
        self.variables = self.variables.take().map(|_| Variables::default());
    }

    /// Lets every call fail that did not, since one did and the batch is atomic. Those that would have waited have failed.
    fn abort(&mut self) {
        self.groups = Groups::default();
        let failed = self.outcomes.iter().find(|outcome| outcome.result.is_err()).map_or(0, |outcome| outcome.index);
        for (outcome, item) in self.outcomes.iter_mut().zip(&self.items) {
            match &outcome.result {
                Ok(_) => outcome.result = Err(aborted(failed)),
                Err(failure) if matches!(item, Item::Held(_)) => {
                    let failure = Failure::new(failure.code, failure.message.as_str());
                    let hint = "an atomic batch cannot be held in part; send it again without `atomic`";
                    outcome.result = Err(failure.with_hint(hint));
                }
                Err(_) => {}
            }
        }
        self.undo();
    }
}

/// What the audit says of the leave by which an item was made.
fn permission(item: &Item) -> Permission {
    match item {
        Item::Cleared(cleared) => cleared.permission().clone(),
        Item::Settled | Item::Held(_) => Permission::Refused,
    }
}

#[cfg(test)]
mod tests;

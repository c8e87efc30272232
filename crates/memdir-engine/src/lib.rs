//! The spine: [`Engine::propose`] makes of a text what would change, [`Engine::conclude`] makes that true.
//!
//! Owns the order of the steps and nothing else: it joins dialect, policy, plan and vault, and holds no format, no
//! rule and no words for people. Each step takes a type that only the step before it can make, so none is skipped.

#![warn(clippy::wildcard_enum_match_arm)]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use background::Background;
use deferred::{DeferredCall, DeferredGroups};
use index_pool::IndexPool;
use meaning::SharedEmbedder;
use memdir_core::action::Access;
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, ConfigKey, Failure, Issue, Outcome, Report, Variables};
use memdir_core::time::Timestamp;
use memdir_dialect::Parsed;
use memdir_plan::{Limits, Plan, Seen};
use memdir_policy::{Cleared, Grant, Permission, Rules};
use memdir_vault::{AuditEntry, Batch, Committed, Vault, VaultError, Writer};
use rules::LiveRules;
use scoped_tree::ScopedTree;

mod account;
mod answer;
mod as_of;
mod audit;
mod background;
mod blocking;
mod brief;
mod build;
mod caller;
mod change;
mod check;
mod confirm;
mod contradiction;
mod deferred;
mod facts;
mod failure;
mod forget;
mod guard;
mod inbox;
mod index_pool;
mod meaning;
mod measured;
mod name;
mod note_view;
mod observe;
mod parts;
mod pending;
mod planning;
mod query;
mod refresh;
mod review;
mod rules;
mod scoped_tree;
mod sessions;
mod standing;
mod surroundings;
mod tidy;
mod tools;
mod trial;
mod undo_server;

pub use account::{Head, Readers};
pub use answer::Reply;
pub use as_of::View;
pub use brief::{Brief, inert};
pub use caller::Caller;
pub use change::{Change, ChangeError, Done};
pub use facts::{Facts, FactsQuery, FoundFact};
use failure::told;
pub use failure::{failure, without_history};
pub use forget::{
    CutSession, ForgetPreview, ForgetTarget, Forgetting, Forgotten, ForgottenPlace, Mention, PlaceKind, RelatedLines,
    SessionCut,
};
pub use guard::{Guard, Objection};
pub use inbox::{ApprovalCode, PendingProposal, ProposedCall};
pub use index_pool::IndexPlace;
pub use meaning::{EmbeddingStatus, Embeddings, Opening};
pub use measured::Retrieved;
pub use note_view::NoteView;
pub use observe::FileSnapshot;
pub use pending::{Consent, Pending, Reviewed, Unreadable};
pub use query::{Listed, ListedEntry};
pub use review::{Question, QuestionKind};
pub use rules::ReadRules;
pub use sessions::{SEAL, SaidIn, SessionLog};
pub use standing::standing;
pub use surroundings::Surroundings;
pub use tidy::{ProposedStep, TidyRun};
pub use tools::ToolConsent;
pub use undo_server::{LeftBatch, ServerUndo, ServerUndone};

/// The values of `status` that set a note aside where the settings name no others.
pub const PAST_STATUS: [&str; 2] = ["deprecated", "superseded"];

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
    /// The values of `status` in the front matter that set a note aside as past, in small letters.
    pub past_status: Vec<String>,
    /// The folders that rank behind all others.
    pub archive: Vec<MemoryPath>,
    /// The notes that come along with every context.
    pub pinned: Vec<MemoryPath>,
    /// Where the index is kept.
    pub index: IndexPlace,
    /// Where proposals wait for the person.
    pub inbox: InboxPlace,
    /// How long they wait.
    pub keep_proposals: Duration,
    /// What time it is.
    pub clock: fn() -> Timestamp,
}

impl Settings {
    /// What holds where nobody has said otherwise: no rules, no index, batches of at most 100 calls and 30 seconds, and
    /// proposals that wait for a week.
    #[must_use]
    pub fn new(clock: fn() -> Timestamp) -> Self {
        Self {
            limits: Limits::default(),
            batch_actions: 100,
            batch_time: Duration::from_secs(30),
            rules: Rules::default(),
            past_status: PAST_STATUS.map(str::to_owned).into(),
            archive: Vec::new(),
            pinned: Vec::new(),
            index: IndexPlace::default(),
            inbox: InboxPlace::default(),
            keep_proposals: Duration::from_secs(7 * 24 * 60 * 60),
            clock,
        }
    }
}

/// Where proposals wait for the person.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InboxPlace {
    /// In the state of this machine, for any process of the person's.
    #[default]
    Disk,
    /// In this process, as long as it lives.
    Process,
}

/// What a conversation may keep of a turn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConversationUpdate {
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
    index_pool: IndexPool,
    /// How the index is built, where that is done in the background.
    background: Background,
    /// What tells meanings, where something does.
    embedder: Option<SharedEmbedder>,
    /// Whether it tells what was not asked for.
    is_unasked: bool,
    /// Takes something out of the lines of a session.
    cut_session: CutSession,
    /// Tells what the person said in them.
    said_in: SaidIn,
    /// The settings, as far as they are told.
    config: Vec<ConfigKey>,
    /// Whether the audit keeps what is sent to the tools of other servers.
    keeps_arguments: bool,
    /// The proposals that wait in this process alone.
    in_process: Mutex<BTreeMap<u64, PendingProposal>>,
    /// The person's rules.
    rules: LiveRules,
}

/// What a text would do, decided and planned; nothing is done yet.
///
/// A value: it can be shown, dropped, or wait, and holds no lock.
#[derive(Debug)]
pub struct Proposal {
    parsed: Parsed,
    planned: Planned,
    caller: Caller,
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
    Deferred(Box<DeferredCall>),
}

/// A call that was reviewed and, where it may happen, planned.
#[derive(Debug)]
struct PlannedCall {
    item: Item,
    outcome: Outcome,
    /// How long that took.
    time: Duration,
}

/// The plan for all calls of a text.
#[derive(Debug)]
struct Planned {
    calls: Vec<PlannedCall>,
    plan: Plan,
    /// What was noticed when the calls were reviewed.
    issues: Vec<Issue>,
    /// The calls that wait, by the paths on which they write.
    groups: DeferredGroups,
    /// What the text has set by itself, in a dialect that has variables.
    variables: Option<Variables>,
    /// The tool of another server whose words the changes are made of, where the guard says so.
    tool: Option<String>,
}

/// How often a batch is planned anew under the lock when an editor saves in between.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Joins a vault with what it may do.
    #[must_use]
    pub fn new(vault: Vault, mut settings: Settings) -> Self {
        let rules = LiveRules::new(std::mem::take(&mut settings.rules));
        let (index_pool, background) = (IndexPool::default(), Background::default());
        let (cut_session, in_process) = (forget::cut_whole as CutSession, Mutex::default());
        Self {
            vault,
            settings,
            index_pool,
            background,
            embedder: None,
            is_unasked: false,
            cut_session,
            said_in: |_| Vec::new(),
            config: Vec::new(),
            keeps_arguments: false,
            in_process,
            rules,
        }
    }

    /// The same for a process that tells a program what fits a message before anybody asked. It answers from the index as that
    /// stands and what the journal adds, looks at no other file, and makes no index; without one, from `user.md` alone.
    #[must_use]
    pub fn unasked(self) -> Self {
        Self { is_unasked: true, ..self }
    }

    /// The same, which tells these settings to whoever may read, and says of them how the person changes one.
    #[must_use]
    pub fn telling(self, config: Vec<ConfigKey>) -> Self {
        Self { config, ..self }
    }

    /// The same, whose audit also keeps the arguments of the calls of other servers' tools, unless they hold a secret.
    #[must_use]
    pub fn keeping_arguments(self, keeps_arguments: bool) -> Self {
        Self { keeps_arguments, ..self }
    }

    /// The same, which also ranks by what notes mean.
    #[must_use]
    pub fn with_embeddings(self, embeddings: Embeddings) -> Self {
        Self { embedder: Some(SharedEmbedder::new(embeddings)), ..self }
    }

    /// Decides and plans every call of a text. Changes nothing.
    #[must_use]
    pub fn propose(&self, mut parsed: Parsed, mut caller: Caller) -> Proposal {
        let _span = tracing::debug_span!("propose", calls = parsed.entries.len()).entered();
        let trouble = self.history_trouble();
        let (started, forgets) = (self.now(), self.vault.forgets());
        let planned = self.plan(&self.seen_by(caller.grant.as_deref()), &parsed, &caller, started);
        caller.author = caller.author_of(planned.tool.as_deref());
        // Beside what is said of the text, so that it is still said when that is planned again.
        parsed.issues.extend(trouble.map(|failure| Issue {
            code: "history_unusable",
            index: None,
            message: without_history(&failure),
        }));
        Proposal { parsed, planned, caller, started, forgets }
    }

    /// As [`Vault::other_histories`].
    #[must_use]
    pub fn other_histories(&self) -> Vec<String> {
        self.vault.other_histories()
    }

    /// Whether this machine has a history of this memory.
    ///
    /// # Errors
    ///
    /// `io`, `damaged`, `busy`: the history cannot be read.
    pub fn has_history(&self) -> Result<bool, Failure> {
        self.vault.has_history().map_err(|error| failure(&error))
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

    /// Finishes what a crash has left unfinished, for who tells of changes: they would tell of one that is not in the notes. What is wrong
    /// with the history is told by what is asked of it next.
    fn finish_after_crash(&self) {
        let _ = self.history_trouble();
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
    pub fn conclude_in_conversation(&self, mut proposal: Proposal) -> (Report, ConversationUpdate) {
        let _span = tracing::debug_span!("conclude").entered();
        let committed = if proposal.planned.plan.is_empty() { Ok(None) } else { self.commit(&mut proposal) };
        let committed = committed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the batch was not committed");
            let failure = told(&error, proposal.caller.grant.as_deref());
            self.fail_writes(&mut proposal, &failure);
            None
        });
        if committed.is_none() {
            self.note(&proposal, audit::entries(&proposal));
        }
        let variables = !(proposal.parsed.script.is_some() && proposal.planned.lacks_leave());
        self.file_deferred(&mut proposal);
        self.note(&proposal, audit::not_proposed(&proposal));
        let batch = committed.as_ref().map(|committed| committed.batch);
        let keep = ConversationUpdate { seen: proposal.planned.plan.seen().cloned(), variables, batch };
        let told = self.noticed(&proposal);
        let mut report = proposal.report(committed, self.vault.is_durable());
        report.issues.extend(told);
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
        let told = self.noticed(&proposal);
        let mut report = proposal.report(None, self.vault.is_durable());
        report.issues.extend(told);
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
        let tree = ScopedTree::new(self, writer, proposal.caller.grant.as_deref(), true);
        proposal.planned = self.plan(&tree, &proposal.parsed, &proposal.caller, proposal.started);
        proposal.caller.author = proposal.caller.author_of(proposal.planned.tool.as_deref());
        proposal.forgets = self.vault.forgets();
    }

    fn commit_planned(&self, writer: &mut Writer<'_>, proposal: &Proposal) -> Result<Committed, VaultError> {
        let mut entries = audit::entries(proposal);
        entries.extend(audit::relinked(&proposal.planned.plan, proposal.caller.grant.as_deref()));
        writer.commit(&Batch {
            steps: proposal.planned.plan.steps(),
            entries: &entries,
            author: &proposal.caller.author,
            time: proposal.started,
            undoes: &[],
            approval: None,
        })
    }

    /// Lets every call fail that would have changed something, since the batch could not be made true, and answers
    /// those that read once more: they may have seen what was never written.
    fn fail_writes(&self, proposal: &mut Proposal, failure: &Failure) {
        let Proposal { planned, caller, .. } = proposal;
        planned.undo();
        let mut reads = Vec::new();
        for (at, PlannedCall { item, outcome, .. }) in planned.calls.iter_mut().enumerate() {
            let Item::Cleared(cleared) = &*item else { continue };
            if catalog::access(&cleared.call().action) == Access::Read {
                reads.push((at, cleared));
            } else if outcome.result.is_ok() {
                outcome.result = Err(failure.clone());
            }
        }
        let answers = self.answer_now(&self.seen_by(caller.grant.as_deref()), caller, reads);
        planned.set(answers);
    }

    /// What time it is, by the clock of the settings.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.settings.clock)()
    }

    /// The memory as somebody with this grant sees it, who does not hold the lock.
    fn seen_by<'e>(&'e self, grant: Option<&'e Grant>) -> ScopedTree<'e, Vault> {
        ScopedTree::new(self, &self.vault, grant, false)
    }

    /// Notes calls that changed nothing for the audit.
    fn note(&self, proposal: &Proposal, entries: Vec<AuditEntry>) {
        let noted = self.vault.note_reads(entries, &proposal.caller.author, proposal.started, proposal.forgets);
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
        self.caller.shown(&self.planned.plan)
    }

    /// Leaves the notes as they are that the one who asks does not see; says whether any was to change.
    fn leave_hidden(&mut self) -> bool {
        !caller::leave_hidden(&mut self.planned.plan, self.caller.grant.as_deref()).is_empty()
    }

    fn report(self, committed: Option<Committed>, is_durable: bool) -> Report {
        let plan = self.shown();
        let committed = committed.filter(|_| !plan.is_empty());
        let (changed, receipt) = committed.map(|_| (plan.changed(), plan.receipt())).unzip();
        // Numbers tell how many others there are.
        let batch = committed.filter(|_| self.caller.restriction().is_none()).map(|committed| committed.batch);
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
            ..Report::of(self.planned.calls.into_iter().map(|call| call.outcome).collect())
        };
        match self.planned.variables {
            Some(variables) => Report { variables, ..report },
            None => report,
        }
    }
}

/// Locks a mutex, even after a panic: no panic leaves half a change in one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What becomes of the other calls of an atomic batch.
fn aborted(failed: usize) -> Failure {
    Failure::new(Code::BatchAborted, format!("nothing was done, since action {failed} failed"))
        .with_hint(format!("mend action {failed}, then send all of them again"))
}

impl Planned {
    /// Whether all that would change something waits, and as one proposal: then the person decides about the whole.
    fn waits_as_one(&self) -> bool {
        let is_left = |call: &PlannedCall| call.outcome.result.is_ok() || matches!(call.item, Item::Deferred(_));
        self.plan.is_empty() && self.groups.is_single() && self.calls.iter().all(is_left)
    }

    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.calls.iter().map(|call| &call.outcome)
    }

    /// Replaces outcomes by their places.
    fn set(&mut self, outcomes: Vec<(usize, Outcome)>) {
        for (at, outcome) in outcomes {
            if let Some(call) = self.calls.get_mut(at) {
                call.outcome = outcome;
            }
        }
    }

    /// Lets every call fail that did not, those that wait too, and changes nothing.
    fn fail_all(&mut self, failure: &Failure) {
        for PlannedCall { item, outcome, .. } in &mut self.calls {
            if outcome.result.is_ok() || matches!(item, Item::Deferred(_)) {
                outcome.result = Err(failure.clone());
            }
        }
        self.groups = DeferredGroups::default();
        self.undo();
    }

    /// Whether a call that would write waits or was refused. Asked before calls that wait are put into proposals.
    fn lacks_leave(&self) -> bool {
        self.calls.iter().any(|PlannedCall { outcome, .. }| {
            let code = outcome.result.as_ref().err().map(|failure| failure.code);
            let row = outcome.action.as_deref().and_then(catalog::row);
            matches!(code, Some(Code::AwaitingApproval | Code::Denied | Code::PermissionRequired | Code::ReadOnly))
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
        self.groups = DeferredGroups::default();
        let failed = self.outcomes().find(|outcome| outcome.result.is_err()).map_or(0, |outcome| outcome.index);
        for PlannedCall { item, outcome, .. } in &mut self.calls {
            match &outcome.result {
                Ok(_) => outcome.result = Err(aborted(failed)),
                Err(failure) if matches!(item, Item::Deferred(_)) => {
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
        Item::Settled | Item::Deferred(_) => Permission::Refused,
    }
}

#[cfg(test)]
mod tests;

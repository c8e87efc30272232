//! Reviewing and planning the calls of a text, one after the other.

use std::sync::LazyLock;
use std::time::Duration;

use super::deferred::{DeferredGroups, defer, join_deferred};
use super::scoped_tree::ScopedTree;
use super::{Caller, Engine, Item, NoteView, Objection, Planned, PlannedCall};
use memdir_core::action::{Access, Action, Call};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Issue, Outcome};
use memdir_core::time::Timestamp;
use memdir_dialect::{Entry, Parsed, Unread};
use memdir_plan::{self as plan, Planner, Tree};
use memdir_policy::{self as policy, Cleared, Context, Ground, Mode, Refused, Rules};

/// One call that was planned, or why it was not.
pub(super) type Decided = (Item, Outcome);

/// A planner on the memory with its index.
type Plans<'p, 't, T> = Planner<'p, ScopedTree<'t, T>>;

impl Engine {
    /// Reviews and plans on `tree`: the vault, or its writer while the lock is held. Where the guard asks about what would change,
    /// it is planned once more with every change waiting.
    pub(super) fn plan<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        parsed: &Parsed,
        caller: &Caller,
        started: Timestamp,
    ) -> Planned {
        let planned = self.plan_calls(tree, parsed, caller, started, &[]);
        match caller.guard.as_ref().map(|guard| guard.objection(&caller.shown(&planned.plan))) {
            // The second pass has its own deadline, so that a turn that was planned in time is asked about and not refused.
            Some(Objection { grounds, tool }) if !grounds.is_empty() => {
                Planned { tool, ..self.plan_calls(tree, parsed, caller, self.now(), &grounds) }
            }
            _ => planned,
        }
    }

    /// Reviews and plans the calls, of which those that change something wait where there are grounds for that.
    fn plan_calls<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        parsed: &Parsed,
        caller: &Caller,
        started: Timestamp,
        grounds: &[Ground],
    ) -> Planned {
        let (clock, rules) = (self.settings.clock, self.rules());
        let context = self.context(caller, &rules);
        let (mut calls, mut issues) = (Vec::with_capacity(parsed.entries.len()), Vec::new());
        let mut groups = DeferredGroups::new(caller.mode == Mode::All || !grounds.is_empty());
        let mut turn = parsed.turn();
        let mut now = clock();
        let plan = self.with_planner(tree, caller, context, started, |planner| {
            while let Some(entry) = turn.next_entry() {
                if calls.len() == self.settings.batch_actions {
                    let outcome = self.too_many(entry.into_owned(), parsed.entries.len());
                    calls.push(PlannedCall { item: Item::Settled, outcome, time: Duration::ZERO });
                    break;
                }
                let is_late = now.since(started) > self.settings.batch_time;
                let (item, outcome) = match self.call_of(entry.into_owned()) {
                    Err(outcome) => (Item::Settled, *outcome),
                    Ok(call) => match review(planner.meant(call), &context, grounds, &mut issues) {
                        Ok(cleared) if is_late => late(cleared),
                        Ok(cleared) => self.decide(planner, tree, cleared, (caller, context), &mut groups),
                        Err(refused) => refuse(planner, tree, *refused, &mut groups),
                    },
                };
                turn.tell(&outcome);
                let then = clock();
                calls.push(PlannedCall { item, outcome, time: then.since(now) });
                now = then;
            }
        });
        issues.extend(turn.issues());
        let mut planned = Planned { calls, plan, issues, groups, variables: turn.variables(), tool: None };
        if now.since(started) > self.settings.batch_time {
            planned.fail_all(&too_late());
        } else if caller.is_atomic(parsed)
            && planned.outcomes().any(|outcome| outcome.result.is_err())
            && !planned.waits_as_one()
        {
            planned.abort();
        }
        planned
    }

    /// Starts a planner as the settings want it, and gives what came of it.
    pub(super) fn with_planner<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        caller: &Caller,
        context: Context<'_>,
        started: Timestamp,
        work: impl FnOnce(&mut Plans<'_, '_, T>),
    ) -> plan::Plan {
        let clock = self.settings.clock;
        let stop = || clock().since(started) > self.settings.batch_time;
        // A hint names only what the model may read anyway, also where the person has agreed.
        let model = Context { approved: false, ..context };
        let may_show = |call: &Call, path: &MemoryPath| self.may_show(call, path, &model);
        let may_hide = |call: &Call| self.may_hide(call, &model);
        // A note with links to what is renamed is changed, too.
        let may_change = |call: &Call, path: &MemoryPath| {
            self.may_show(call, path, &context) && policy::review_target(call, path, &context).is_ok()
        };
        let planner = Planner::new(tree, &self.settings.limits).at(seconds(started)).until(&stop);
        let may_leave = |call: &Call, new: &str, old: &str| policy::review_lines(call, new, old, &context);
        let excluded = LazyLock::new(|| self.excluded());
        let excluded = || LazyLock::force(&excluded);
        let planner =
            planner.showing(&may_show, &may_hide).changing(&may_change).leaving(&may_leave).excluding(&excluded);
        let planner = planner
            .viewing(caller.view.as_ref().map(NoteView::look))
            .with_past_status(&self.settings.past_status)
            .pinning(&self.settings.pinned)
            .configured(&self.config);
        let mut planner = planner.in_conversation(caller.seen.clone()).unasked(self.is_unasked);
        work(&mut planner);
        planner.finish()
    }

    /// Plans a call, unless it waits: because of a place to which it comes, or since an earlier one on its paths does.
    fn decide<T: Tree>(
        &self,
        planner: &mut Plans<'_, '_, T>,
        tree: &ScopedTree<'_, T>,
        cleared: Cleared,
        (caller, context): (&Caller, Context<'_>),
        groups: &mut DeferredGroups,
    ) -> Decided {
        if let Err(refused) = self.review_places(planner, tree, cleared.call(), &context) {
            return refuse(planner, tree, *refused, groups);
        }
        match join_deferred(planner, tree, cleared, groups) {
            Ok(decided) => decided,
            Err(cleared) => {
                let outcome = self.answer_then(planner, &cleared, (caller, context));
                let kept_from = planner.take_kept_from();
                let asked = kept_from.and_then(|note| policy::review_target(cleared.call(), &note, &context).err());
                match asked.filter(|refused| refused.failure.code == Code::AwaitingApproval) {
                    Some(refused) => defer(planner, tree, *refused, groups),
                    None => (Item::Cleared(*cleared), outcome),
                }
            }
        }
    }

    /// Plans one call, once the places are reviewed to which it comes.
    pub(super) fn answer<T: Tree>(
        &self,
        planner: &mut Plans<'_, '_, T>,
        tree: &ScopedTree<'_, T>,
        cleared: &Cleared,
        (caller, context): (&Caller, Context<'_>),
    ) -> Outcome {
        match self.review_places(planner, tree, cleared.call(), &context) {
            Ok(()) => self.answer_then(planner, cleared, (caller, context)),
            Err(refused) => Outcome::failed(&refused.call, refused.failure),
        }
    }

    /// Plans a call, on the memory as it was if it asks for that.
    fn answer_then<T: Tree>(
        &self,
        planner: &mut Plans<'_, '_, T>,
        cleared: &Cleared,
        who: (&Caller, Context<'_>),
    ) -> Outcome {
        match self.asked_moment(cleared.call()) {
            Ok(None) => planner.answer(cleared),
            Ok(Some(time)) => {
                let mut issues = Vec::new();
                let outcome = self.answer_as_of(time, cleared, who, &mut issues);
                planner.note(issues);
                outcome
            }
            Err(failure) => Outcome::failed(cleared.call(), failure),
        }
    }

    /// Answers calls that read as the memory is now; each comes with its place among the calls.
    pub(super) fn answer_now<T: Tree>(
        &self,
        tree: &ScopedTree<'_, T>,
        caller: &Caller,
        reads: Vec<(usize, &Cleared)>,
    ) -> Vec<(usize, Outcome)> {
        let mut outcomes = Vec::new();
        if reads.is_empty() {
            return outcomes;
        }
        let rules = self.rules();
        let context = self.context(caller, &rules);
        self.with_planner(tree, caller, context, self.now(), |planner| {
            outcomes.extend(
                reads.iter().map(|(at, cleared)| (*at, self.answer(planner, tree, cleared, (caller, context)))),
            );
        });
        outcomes
    }

    /// What becomes of the first call that a batch has no room for, and stands for all that follow.
    fn too_many(&self, entry: Entry, all: usize) -> Outcome {
        let most = self.settings.batch_actions;
        let mut message = format!("a batch holds at most {most} actions");
        if let Some(others) = all.checked_sub(most + 1).filter(|others| *others > 0) {
            message.push_str(&format!("; this one and the {others} after it were not run"));
        }
        let failure = Failure::new(Code::TooLarge, message).with_hint("send the rest in the next turn");
        match entry {
            Entry::Call(call) => Outcome::failed(&call, failure),
            Entry::Unread(unread) => Unread { failure, ..unread }.into(),
        }
    }

    /// The call of an entry that can be reviewed.
    fn call_of(&self, entry: Entry) -> Result<Call, Box<Outcome>> {
        match entry {
            Entry::Call(call) if self.is_oversized(&call) => {
                let most = self.settings.limits.note_bytes;
                let size = call.action.text().map_or(0, |(new, _)| new.len());
                let failure = plan::too_large("the text", size, most).with_hint("split it into several notes");
                Err(Box::new(Outcome::failed(&call, failure)))
            }
            Entry::Call(call) => Ok(call),
            Entry::Unread(unread) => Err(Box::new(unread.into())),
        }
    }

    /// Reviews the places that the paths and links of a call lead to: a rule about a folder holds for whatever name
    /// leads into it.
    fn review_places<T: Tree>(
        &self,
        planner: &mut Plans<'_, '_, T>,
        tree: &ScopedTree<'_, T>,
        call: &Call,
        context: &Context<'_>,
    ) -> Result<(), Box<Refused>> {
        if context.rules.is_empty() && context.grant.is_none() {
            return Ok(());
        }
        let [source, target] =
            [call.action.path(), call.action.new_path()].map(|path| path.and_then(|path| tree.resolve(path).ok()));
        policy::review_led(call, source.as_ref(), target.as_ref(), context)?;
        if call.action.path().is_some_and(|path| planner.is_folder(path)) {
            policy::review_folder(call, source.as_ref(), target.as_ref(), context)?;
        }
        if matches!(call.action, Action::RenameFile(_)) && tree.is_part() {
            policy::review_unseen(call, context)?;
        }
        let review = |path: &MemoryPath| policy::review_target(call, path, context);
        // After earlier calls of the batch a name may lead to another file than it does on the disk.
        let [led, new] =
            [call.action.path(), call.action.new_path()].map(|path| path.and_then(|path| planner.reached(path)));
        if (&led, &new) != (&source, &target) {
            policy::review_led(call, led.as_ref(), new.as_ref(), context)?;
        }
        [source, target, led, new].into_iter().flatten().try_for_each(|path| review(&path))?;
        let Some(place) = planner.place_of(call) else { return Ok(()) };
        let resolved = tree.resolve(&place).ok();
        [Some(place), resolved].into_iter().flatten().try_for_each(|path| {
            policy::review_led(call, Some(&path), None, context)?;
            review(&path)
        })
    }

    /// Whether the answer to a call may tell of a note that the call did not name.
    pub(super) fn may_show(&self, call: &Call, path: &MemoryPath, context: &Context<'_>) -> bool {
        if !self.may_hide(call, context) {
            return true;
        }
        let place = self.place(path);
        let may = |path: &MemoryPath| policy::review_place(call, path, context).is_ok();
        may(path) && (place == *path || may(&place))
    }

    /// Whether there is any note of which the answer to a call may not tell.
    pub(super) fn may_hide(&self, call: &Call, context: &Context<'_>) -> bool {
        !context.rules.is_empty() && policy::may_hide(call, context)
    }

    /// Whether a call brings more text than a note may hold; not worth a review.
    fn is_oversized(&self, call: &Call) -> bool {
        let size = call.action.text().map_or(0, |(new, _)| new.len());
        u64::try_from(size).unwrap_or(u64::MAX) > self.settings.limits.note_bytes
    }

    /// What review has to know of a caller to whose calls nobody has agreed yet.
    pub(super) fn context<'a>(&self, caller: &'a Caller, rules: &'a Rules) -> Context<'a> {
        Context {
            mode: caller.mode,
            approved: false,
            read_only: caller.read_only,
            client: caller.author.client.as_deref(),
            grant: caller.grant.as_deref(),
            rules,
        }
    }
}

/// What rules and detectors say of a call; `grounds`, if any, hold every change for approval.
fn review(
    call: Call,
    context: &Context<'_>,
    grounds: &[Ground],
    issues: &mut Vec<Issue>,
) -> Result<Cleared, Box<Refused>> {
    let cleared = policy::review(call, context, issues)?;
    let call = cleared.call();
    if grounds.is_empty() || catalog::access(&call.action) == Access::Read {
        return Ok(cleared);
    }
    let words: Vec<String> = grounds.iter().map(|ground| ground.words(call.action.name())).collect();
    let failure = Failure::new(Code::AwaitingApproval, words.join("; "));
    let failure = failure.with_hint("go on without it; the person decides");
    Err(Box::new(Refused { call: call.clone(), failure, grounds: grounds.to_vec() }))
}

/// What becomes of a call that may not happen, or not yet.
fn refuse<T: Tree>(
    planner: &mut Plans<'_, '_, T>,
    tree: &ScopedTree<'_, T>,
    refused: Refused,
    groups: &mut DeferredGroups,
) -> Decided {
    if refused.failure.code == Code::AwaitingApproval {
        return defer(planner, tree, refused, groups);
    }
    (Item::Settled, Outcome::failed(&refused.call, refused.failure))
}

fn late(cleared: Cleared) -> Decided {
    let outcome = Outcome::failed(cleared.call(), too_late());
    (Item::Cleared(cleared), outcome)
}

/// A time as a file has it.
pub(super) fn seconds(time: Timestamp) -> (i64, u32) {
    let micros = time.micros();
    (micros.div_euclid(1_000_000), u32::try_from(micros.rem_euclid(1_000_000) * 1_000).unwrap_or(0))
}

fn too_late() -> Failure {
    Failure::new(Code::Timeout, "the batch took too long, and nothing of it was done")
        .with_hint("send fewer actions in one turn")
}

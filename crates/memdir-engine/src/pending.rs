//! The inbox: what waits for the person, approving it, rejecting it, and what expires.
//!
//! A proposal is planned anew whenever somebody looks at it, so that a person sees and approves what would happen now. An
//! approval is bound to the digest over the diff that was shown, as far as the client that proposed it may see that: whether
//! it fails must not depend on notes that are hidden from the client. The links in those are written as they are by then. All
//! that decides happens under the lock of the memory.

use super::inbox::{ApprovalCode, PendingProposal, TRIES, damaged};
use super::scoped_tree::ScopedTree;
use super::trial::Trial;
use super::{Caller, ChangeError, Done, Engine, audit, failure, lock};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure, Outcome};
use memdir_core::time::Timestamp;
use memdir_plan::Plan;
use memdir_vault::{Author, FiledProposal, Inbox, LogQuery, VaultError, Writer};

/// Among so many of the newest changes the one is looked for that an approval has made.
const MOST_CHANGES: usize = 50;
/// How often an approved proposal is planned anew when an editor saves in between.
const ATTEMPTS: usize = 3;

/// What waits for the person.
#[derive(Debug, Default)]
pub struct Pending {
    /// The proposals, in the order of their numbers.
    pub proposals: Vec<Reviewed>,
    /// What cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// A proposal as it would be carried out now.
#[derive(Debug)]
pub struct Reviewed {
    /// The proposal, with what it would change now.
    pub waiting: PendingProposal,
    /// The diff as far as the client that proposed it may see it.
    pub told: String,
    /// The same as a value; empty where it cannot be carried out now.
    pub plan: Plan,
    /// Whether what an approval is bound to differs from what was shown or planned before.
    pub is_renewed: bool,
    /// Why it cannot be carried out now; then `waiting` says what it would have changed. Or why its new code could not
    /// be kept.
    pub trouble: Option<Failure>,
    /// What its calls would be answered by.
    pub outcomes: Vec<Outcome>,
}

/// A proposal that waits and cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreadable {
    /// Its number.
    pub id: u64,
    /// Why not.
    pub failure: Failure,
}

/// How a person shows that they agree.
#[derive(Clone, Copy, Debug)]
pub enum Consent<'a> {
    /// They were shown the diff with this digest.
    Shown(Digest),
    /// They typed this code, which goes with the diff that was last shown.
    Code(&'a str),
}

/// What is in the inbox, read.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) waiting: Vec<PendingProposal>,
    pub(super) unreadable: Vec<Unreadable>,
    /// How many bytes there are of it on the disk.
    pub(super) bytes: usize,
}

impl Engine {
    /// What waits for the person, as it would be carried out now. What has expired is removed. Where that differs from
    /// what was shown before, the diff to approve is the present one and its code is new.
    ///
    /// # Errors
    ///
    /// `no_write_access` for an inbox that is not ours; what the vault says. A file that cannot be read is no error.
    pub fn pending(&self) -> Result<Pending, Failure> {
        let Opened { waiting, unreadable, .. } = self.look_into_inbox()?;
        let mut proposals = Vec::new();
        for waiting in waiting {
            match self.review_waiting(waiting) {
                Ok(reviewed) => proposals.push(reviewed),
                // Somebody has just decided it.
                Err(failure) if failure.code == Code::NotFound => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(Pending { proposals, unreadable })
    }

    /// One proposal that waits, as it would be carried out now.
    ///
    /// # Errors
    ///
    /// `not_found`, `damaged`, as [`Engine::pending`].
    pub fn review_proposal(&self, id: u64) -> Result<Reviewed, Failure> {
        self.review_waiting(self.waiting_with(id)?)
    }

    /// Says what waits and what cannot be read, without planning anything.
    ///
    /// # Errors
    ///
    /// As [`Engine::pending`].
    pub fn waiting(&self) -> Result<(Vec<PendingProposal>, Vec<Unreadable>), Failure> {
        let Opened { waiting, unreadable, .. } = self.look_into_inbox()?;
        Ok((waiting, unreadable))
    }

    /// Whether a proposal still waits; also where nobody can tell now.
    #[must_use]
    pub fn still_waits(&self, id: u64) -> bool {
        self.waiting().map_or(true, |(waiting, unreadable)| {
            waiting.iter().any(|one| one.id == id) || unreadable.iter().any(|one| one.id == id)
        })
    }

    /// What became of a proposal, as it was reviewed, that was decided in another place: what is done, or why nothing is. `None` while it
    /// waits. `outcomes` are those of the review.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::log`].
    pub fn decided_elsewhere(
        &self,
        reviewed: &PendingProposal,
        outcomes: &[Outcome],
    ) -> Result<Option<Result<Done, Failure>>, Failure> {
        if self.still_waits(reviewed.id) {
            return Ok(None);
        }
        let since = LogQuery { since: Some(reviewed.time), limit: MOST_CHANGES, ..LogQuery::default() };
        let made = self
            .log(&since, true)?
            .entries
            .into_iter()
            .find(|entry| entry.session == reviewed.author.session && entry.diff.as_ref() == Some(&reviewed.diff));
        Ok(Some(match made {
            Some(entry) => {
                let (changed, outcomes) = (reviewed.changed.clone(), outcomes.to_vec());
                Ok(Done { batch: entry.batch, changed, outcomes, ..Done::default() })
            }
            None => {
                let message = format!("proposal {} was decided elsewhere, and not approved as it is", reviewed.id);
                Err(Failure::new(Code::Denied, message).with_hint("read the note before you say what is saved"))
            }
        }))
    }

    /// Carries out a proposal.
    ///
    /// It is planned once more under the lock, and only if that gives what the person was shown it is done.
    ///
    /// # Errors
    ///
    /// `read_only` for a caller who may only read, `not_found` for one that is decided or never was, `denied` for a wrong code, `conflict` with a diff where it would
    /// change something else now, the code of a call that cannot be made any more, and what the vault says. Then it is still waiting.
    pub fn approve(&self, id: u64, consent: Consent<'_>, by: &Caller) -> Result<Done, ChangeError> {
        self.approve_calls(id, None, consent, by)
    }

    /// Carries out some calls of a proposal, as [`Engine::review_part`] has shown them, and drops the others.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::approve`].
    pub fn approve_part(&self, id: u64, part: &[usize], shown: Digest, by: &Caller) -> Result<Done, ChangeError> {
        self.approve_calls(id, Some(part), Consent::Shown(shown), by)
    }

    fn approve_calls(
        &self,
        id: u64,
        part: Option<&[usize]>,
        consent: Consent<'_>,
        by: &Caller,
    ) -> Result<Done, ChangeError> {
        by.check_write("approve")?;
        let mut writer = self.lock_inbox(id)?;
        let now = self.now();
        let opened = self.open_inbox(&mut writer, now)?;
        let waiting = self.found_by(opened, id, writer.last_proposal()?)?;
        let waiting = match part {
            Some(part) => waiting.with_calls(part),
            None => waiting,
        };
        if let Consent::Code(typed) = consent
            && !waiting.code.fits(typed)
        {
            return Err(self.refuse_code(&mut writer, waiting)?.into());
        }
        let shown = match consent {
            Consent::Shown(digest) => digest,
            Consent::Code(_) => waiting.digest,
        };
        let mut attempt = 1;
        let mut trial = self.try_as_shown(&writer, &waiting, shown, now)?;
        let done = loop {
            match trial.commit(&mut writer, &waiting, &by.author, now) {
                Err(VaultError::Conflict(_)) if attempt < ATTEMPTS => {
                    attempt += 1;
                    trial = self.try_as_shown(&writer, &waiting, shown, now)?;
                }
                // As where nobody is asked: a hidden note that cannot be written keeps no client from a rename.
                Err(error) if !matches!(error, VaultError::Unsettled(_)) && trial.leave_hidden() => {
                    tracing::warn!(%error, "tried again without the links in notes that the client does not see");
                }
                committed => break committed?,
            }
        };
        writer.remove_decided(&[id]);
        lock(&self.in_process).remove(&id);
        tracing::info!(proposal = id, batch = done.batch, "a proposal is approved");
        Ok(done)
    }

    /// Drops a proposal, also one that cannot be read.
    ///
    /// # Errors
    ///
    /// `read_only` for a caller who may only read, `not_found` for one that is decided or never was, and what the vault says.
    pub fn reject(&self, id: u64, by: &Caller) -> Result<(), Failure> {
        by.check_write("reject")?;
        let mut writer = self.lock_inbox(id)?;
        let now = self.now();
        let opened = self.open_inbox(&mut writer, now)?;
        let is_there = opened.waiting.iter().any(|waiting| waiting.id == id)
            || opened.unreadable.iter().any(|unreadable| unreadable.id == id);
        if !is_there {
            return Err(gone(id, writer.last_proposal().map_err(|error| failure(&error))?));
        }
        let dropped = writer.drop_proposals(&[id], &[audit::decision("reject", id)], &by.author, now);
        dropped.map_err(|error| failure(&error))?;
        lock(&self.in_process).remove(&id);
        tracing::info!(proposal = id, "a proposal is rejected");
        Ok(())
    }

    /// Removes what has expired, if there is an inbox at all. Errors are only logged: whoever opens the inbox is told of them.
    pub fn look_after_inbox(&self) {
        if let Err(failure) = self.look_into_inbox() {
            tracing::warn!(code = %failure.code, "the inbox was not looked after");
        }
    }

    /// Reads the inbox, and takes the lock only if there is something to remove.
    fn look_into_inbox(&self) -> Result<Opened, Failure> {
        self.finish_after_crash();
        let now = self.now();
        let inbox = self.vault.inbox().map_err(|error| failure(&error))?;
        let is_untidy = inbox.is_untidy;
        let mut opened = read(inbox);
        opened.waiting.extend(lock(&self.in_process).values().cloned());
        let is_late = opened.waiting.iter().any(|waiting| waiting.expires <= now);
        let settled = if is_late { self.vault.settled_time(now).map_err(|error| failure(&error))? } else { None };
        if !is_untidy && !opened.waiting.iter().any(|waiting| has_expired(waiting, settled)) {
            return Ok(opened);
        }
        match self.vault.lock_now() {
            Ok(mut writer) => self.open_inbox(&mut writer, now),
            // What waits can be listed without write access.
            Err(VaultError::Busy | VaultError::NoWriteAccess(_)) => {
                opened.waiting.retain(|waiting| !has_expired(waiting, settled));
                Ok(opened)
            }
            Err(error) => Err(failure(&error)),
        }
    }

    /// Reads the inbox under the lock, once what has expired is removed.
    pub(super) fn open_inbox(&self, writer: &mut Writer<'_>, now: Timestamp) -> Result<Opened, Failure> {
        let inbox = writer.inbox().map_err(|error| failure(&error))?;
        let mut opened = read(inbox);
        opened.waiting.extend(lock(&self.in_process).values().cloned());
        let settled = writer.settled_time(now).map_err(|error| failure(&error))?;
        let (expired, waiting): (Vec<_>, Vec<_>) =
            opened.waiting.into_iter().partition(|waiting| has_expired(waiting, settled));
        if !expired.is_empty() {
            let ids: Vec<u64> = expired.iter().map(|waiting| waiting.id).collect();
            let entries: Vec<_> = ids.iter().map(|id| audit::decision("expire", *id)).collect();
            let by = Author { origin: "tool:memdir".to_owned(), ..Caller::person("cli").author };
            writer.drop_proposals(&ids, &entries, &by, now).map_err(|error| failure(&error))?;
            lock(&self.in_process).retain(|id, _| !ids.contains(id));
        }
        Ok(Opened { waiting, ..opened })
    }

    /// Takes the lock for a decision; nothing is made where no proposal ever was.
    fn lock_inbox(&self, id: u64) -> Result<Writer<'_>, Failure> {
        if !self.has_history()? {
            return Err(gone(id, 0));
        }
        self.vault.lock().map_err(|error| failure(&error))
    }

    /// The proposal with this number.
    pub(super) fn waiting_with(&self, id: u64) -> Result<PendingProposal, Failure> {
        let opened = self.look_into_inbox()?;
        let is_there = opened.waiting.iter().any(|waiting| waiting.id == id)
            || opened.unreadable.iter().any(|unreadable| unreadable.id == id);
        let last = if is_there { id } else { self.vault.last_proposal().map_err(|error| failure(&error))? };
        self.found_by(opened, id, last)
    }

    fn found_by(&self, opened: Opened, id: u64, last: u64) -> Result<PendingProposal, Failure> {
        if let Some(unreadable) = opened.unreadable.into_iter().find(|unreadable| unreadable.id == id) {
            return Err(unreadable.failure);
        }
        opened.waiting.into_iter().find(|waiting| waiting.id == id).ok_or_else(|| gone(id, last))
    }

    /// Plans a proposal as the memory is now; where that is something else than before, it is what will be approved.
    fn review_waiting(&self, waiting: PendingProposal) -> Result<Reviewed, Failure> {
        let trial = self.try_waiting(&self.seen_by(waiting.grant.as_deref()), &waiting, self.now());
        if let Some(trouble) = trial.trouble() {
            let told = String::new();
            let (plan, trouble) = (Plan::default(), Some(trouble.clone()));
            return Ok(Reviewed { told, plan, is_renewed: false, trouble, waiting, outcomes: trial.outcomes });
        }
        let (shown, digest) = (trial.shown(), trial.digest());
        let (told, is_renewed) = (shown.diff(), digest != waiting.digest);
        let (waiting, trouble) = if is_renewed {
            let (changed, diff, code) = (shown.changed(), told.clone(), ApprovalCode::new()?);
            self.renew(PendingProposal { changed, diff, digest, code, tries: 0, ..waiting })?
        } else {
            (waiting, None)
        };
        drop(shown);
        // What the file says of it is never shown: a file can be planted, and an approval is bound to the digest alone.
        let waiting = PendingProposal { changed: trial.plan.changed(), diff: trial.plan.diff(), ..waiting };
        let plan = if trouble.is_some() { Plan::default() } else { trial.plan };
        Ok(Reviewed { waiting, told, plan, is_renewed, trouble, outcomes: trial.outcomes })
    }

    /// Keeps a proposal with a new diff and code, unless somebody else has just done so or decided it; and says why that could
    /// not be done where it can still be shown.
    fn renew(&self, renewed: PendingProposal) -> Result<(PendingProposal, Option<Failure>), Failure> {
        match self.keep_renewed(&renewed) {
            Ok(waiting) => Ok((waiting, None)),
            // What waits can be shown without write access.
            Err(failure) if matches!(failure.code, Code::Busy | Code::NoWriteAccess | Code::DiskFull) => {
                Ok((renewed, Some(failure)))
            }
            Err(failure) => Err(failure),
        }
    }

    fn keep_renewed(&self, renewed: &PendingProposal) -> Result<PendingProposal, Failure> {
        let id = renewed.id;
        let mut writer = self.lock_inbox(id)?;
        let opened = self.open_inbox(&mut writer, self.now())?;
        let last = writer.last_proposal().map_err(|error| failure(&error))?;
        let there = self.found_by(opened, id, last)?;
        if there.digest == renewed.digest {
            return Ok(PendingProposal { code: there.code, tries: there.tries, ..renewed.clone() });
        }
        self.keep(&mut writer, renewed.clone())
    }

    /// Writes a proposal that waits anew.
    fn keep(&self, writer: &mut Writer<'_>, waiting: PendingProposal) -> Result<PendingProposal, Failure> {
        if let Some(kept) = lock(&self.in_process).get_mut(&waiting.id) {
            *kept = waiting.clone();
        } else {
            writer.replace_proposal(waiting.id, &waiting.encode()).map_err(|error| failure(&error))?;
        }
        Ok(waiting)
    }

    /// Counts a wrong code before anybody is told that it is one.
    fn refuse_code(&self, writer: &mut Writer<'_>, mut waiting: PendingProposal) -> Result<Failure, Failure> {
        waiting.tries = waiting.tries.saturating_add(1);
        let is_burnt = waiting.tries >= TRIES;
        if is_burnt {
            waiting.tries = 0;
            waiting.code = ApprovalCode::new()?;
        }
        let id = waiting.id;
        self.keep(writer, waiting)?;
        let failure = Failure::new(Code::Denied, format!("this is not the code of proposal {id}"));
        Ok(failure.with_hint(if is_burnt {
            "too many wrong ones: it has a new code now, which `memdir pending` shows"
        } else {
            "`memdir pending` shows it to the person"
        }))
    }

    /// Plans a proposal under the lock; fails unless that gives what the person was shown.
    fn try_as_shown(
        &self,
        writer: &Writer<'_>,
        waiting: &PendingProposal,
        shown: Digest,
        now: Timestamp,
    ) -> Result<Trial, ChangeError> {
        let trial = self.try_waiting(&ScopedTree::new(self, writer, waiting.grant.as_deref(), true), waiting, now);
        if let Some(trouble) = trial.trouble() {
            return Err(trouble.clone().into());
        }
        if trial.digest() != shown {
            let message = format!("proposal {} would change something else than was shown", waiting.id);
            let failure = Failure::new(Code::Conflict, message).with_hint("`memdir pending` shows it as it is now");
            return Err(ChangeError { failure, diff: Some(trial.plan.diff()) });
        }
        Ok(trial)
    }
}

fn read(inbox: Inbox) -> Opened {
    let mut opened = Opened { bytes: inbox.bytes, ..Opened::default() };
    for FiledProposal { number, content } in inbox.filed {
        let read = match content {
            Ok(content) => PendingProposal::decode(number, &content),
            Err(VaultError::Untrusted(_)) => Err(damaged(number, "is not one that memdir has made")),
            Err(VaultError::Damaged(_)) => Err(damaged(number, "is too large")),
            Err(error) => Err(failure(&error)),
        };
        match read {
            Ok(waiting) => opened.waiting.push(waiting),
            Err(failure) => opened.unreadable.push(Unreadable { id: number, failure }),
        }
    }
    opened
}

/// Whether a proposal has waited for as long as it may, by the time that the history has settled on.
fn has_expired(waiting: &PendingProposal, settled: Option<Timestamp>) -> bool {
    settled.is_some_and(|time| waiting.expires <= time)
}

/// Nothing of this number waits.
fn gone(id: u64, last: u64) -> Failure {
    let message = if id <= last && id > 0 {
        format!("proposal {id} has already been decided")
    } else {
        format!("there is no proposal {id}")
    };
    Failure::new(Code::NotFound, message).with_hint("`memdir pending` shows those that wait")
}

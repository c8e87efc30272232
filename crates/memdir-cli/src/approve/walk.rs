//! `memdir approve` on a terminal: what waits is shown one at a time, and the person decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Write};

use super::decided;
use crate::args::Approve;
use crate::draft::Unsaved;
use crate::open::person;
use crate::output::say;
use crate::question::{self, agrees};
use crate::stop::Stop;
use crate::{changes, one, open, pending, term, verbs};
use memdir_core::action::{Action, CreateFile, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{ChangeError, Consent, Done, PendingProposal, Reviewed, standing};
use memdir_plan::{Plan, Step, note_changes};
use memdir_policy::Verdict;
use memdir_words::who;

/// What can be said to a proposal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Word {
    Yes,
    No,
    Edit,
    Part,
    Later,
    All,
    Quit,
}

/// Each with what it is called, and what it does.
const WORDS: [(Word, &str, &str); 7] = [
    (Word::Yes, "yes", "carry it out as it is shown"),
    (Word::No, "no", "drop it; it is gone from the inbox then"),
    (Word::Edit, "edit", "change the new text in your editor, and keep that instead"),
    (Word::Part, "part", "decide about each part of it"),
    (Word::Later, "later", "leave it waiting, and go on with the next"),
    (Word::All, "all", "show the others of the same program too, then ask once"),
    (Word::Quit, "quit", "leave this and all others waiting"),
];

/// Goes through the proposals that are named, or through all.
pub(super) fn run(opened: &open::Opened, options: &Approve) -> Result<u8, Stop> {
    let (waiting, unreadable) = opened.engine.waiting()?;
    let is_meant = |one: &&PendingProposal| options.client.is_none() || one.author.client == options.client;
    let ids: Vec<u64> = match options.ids.as_slice() {
        [] => waiting.iter().filter(is_meant).map(|one| one.id).collect(),
        named => {
            let mut seen = BTreeSet::new();
            named.iter().copied().filter(|id| seen.insert(*id)).collect()
        }
    };
    let is_named = !options.ids.is_empty();
    // One that is named and cannot be read is told of when it is its turn.
    let unreadable = if is_named { Vec::new() } else { unreadable };
    pending::say_unreadable(&unreadable)?;
    if ids.is_empty() && unreadable.is_empty() {
        say("nothing waits")?;
    }
    if options.always {
        check_rules(&waiting, &ids)?;
    }
    let (queue, again) = (ids.into(), BTreeMap::new());
    let mut walk = Walk { opened, waiting, has_always: options.always, queue, again };
    if options.all {
        let ids: Vec<u64> = walk.queue.drain(..).collect();
        let mut shown = Vec::new();
        for id in ids {
            shown.extend(walk.show(id)?);
        }
        walk.approve_all(shown)?;
    }
    walk.go(is_named)?;
    Ok(pending::code(&unreadable))
}

/// Fails where no rule can be made for one of these; before anything is decided.
fn check_rules(waiting: &[PendingProposal], ids: &[u64]) -> Result<(), Failure> {
    for waiting in waiting.iter().filter(|waiting| ids.contains(&waiting.id)) {
        standing(waiting, Verdict::Allow).map_err(|failure| {
            let message = format!("there can be no rule for proposal {}: {}", waiting.id, failure.message);
            Failure { message, ..failure }
        })?;
    }
    Ok(())
}

/// A walk through proposals.
struct Walk<'o> {
    opened: &'o open::Opened,
    waiting: Vec<PendingProposal>,
    /// Whether each approval adds a rule.
    has_always: bool,
    /// The numbers of those that are not decided yet.
    queue: VecDeque<u64>,
    /// Why some of them are asked about again, by their numbers.
    again: BTreeMap<u64, String>,
}

impl Walk<'_> {
    /// Asks about one after the other; one that was named and is not there is an error.
    fn go(&mut self, is_named: bool) -> Result<(), Stop> {
        while let Some(id) = self.queue.pop_front() {
            let reviewed = match self.opened.engine.review_proposal(id) {
                Err(failure) if failure.code == Code::NotFound && !is_named => {
                    say(&failure.message)?;
                    continue;
                }
                reviewed => reviewed?,
            };
            if let Some(words) = self.again.remove(&id) {
                say(words)?;
            }
            pending::show(&reviewed, &mut io::stderr())?;
            if !self.decide(reviewed)? {
                break;
            }
        }
        Ok(())
    }

    /// Asks about one, and does what is said; whether to go on.
    fn decide(&mut self, reviewed: Reviewed) -> Result<bool, Stop> {
        let id = reviewed.waiting.id;
        let later = || say(format!("it is still waiting; `memdir reject {id}` drops it"));
        match self.ask(&reviewed)? {
            Some(Word::Yes) => {
                let done = self.opened.engine.approve(id, Consent::Shown(reviewed.waiting.digest), &person());
                if self.approved(&reviewed.waiting, done)?.is_none() {
                    self.ask_again(id);
                }
            }
            Some(Word::No) => {
                self.opened.engine.reject(id, &person())?;
                say(decided::rejected(id))?;
            }
            Some(Word::Edit) => self.edit(&reviewed)?,
            Some(Word::Part) => self.decide_parts(&reviewed.waiting)?,
            Some(Word::All) => {
                let mates = self.mates(&reviewed.waiting);
                let mut shown = vec![reviewed];
                for id in mates {
                    self.queue.retain(|other| *other != id);
                    shown.extend(self.show(id)?);
                }
                self.approve_all(shown)?;
            }
            Some(Word::Later) => later()?,
            Some(Word::Quit) | None => {
                later()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks until a word is said that fits; `None` where nothing more is typed.
    fn ask(&self, reviewed: &Reviewed) -> Result<Option<Word>, Stop> {
        let is_possible = |word: Word| match word {
            Word::Yes => reviewed.trouble.is_none(),
            Word::Edit => text_to_edit(&reviewed.plan).is_some(),
            // A rule for all that is like it would be about the other parts too.
            Word::Part => !self.has_always && reviewed.waiting.calls.len() > 1,
            Word::All => reviewed.trouble.is_none() && !self.mates(&reviewed.waiting).is_empty(),
            Word::No | Word::Later | Word::Quit => true,
        };
        let words: Vec<_> = WORDS.into_iter().filter(|(word, _, _)| is_possible(*word)).collect();
        let shown = words.iter().map(|(word, name, _)| {
            let (first, rest) = name.split_at_checked(1).unwrap_or((name, ""));
            match word {
                Word::All => format!("[{first}]{rest} of {}", who(&reviewed.waiting)),
                _ => format!("[{first}]{rest}"),
            }
        });
        let question = format!("approve this? {} [?]", shown.collect::<Vec<_>>().join(" "));
        loop {
            let Some(answer) = question::line(&question)? else {
                say("")?;
                return Ok(None);
            };
            let answer = answer.to_lowercase();
            let is_said = |name: &str| name == answer || name.get(..1) == Some(answer.as_str());
            match words.iter().find(|(_, name, _)| is_said(name)) {
                Some((word, _, _)) => return Ok(Some(*word)),
                None if answer.is_empty() => return Ok(Some(Word::Later)),
                None => {
                    for (_, name, help) in &words {
                        say(format!("  {name:6} {help}"))?;
                    }
                }
            }
        }
    }

    /// The others of the same program that were not asked about yet.
    fn mates(&self, waiting: &PendingProposal) -> Vec<u64> {
        let is_same = |other: &&PendingProposal| {
            (&other.author.door, &other.author.client) == (&waiting.author.door, &waiting.author.client)
        };
        let same = self.waiting.iter().filter(is_same).map(|other| other.id);
        same.filter(|id| self.queue.contains(id)).collect()
    }

    /// Shows one more; nothing where it is decided by now or cannot be done.
    fn show(&self, id: u64) -> Result<Option<Reviewed>, Stop> {
        let reviewed = match self.opened.engine.review_proposal(id) {
            Err(failure) if failure.code == Code::NotFound => {
                say(&failure.message)?;
                return Ok(None);
            }
            reviewed => reviewed?,
        };
        pending::show(&reviewed, &mut io::stderr())?;
        Ok(Some(reviewed).filter(|reviewed| reviewed.trouble.is_none()))
    }

    /// Asks once about all that were shown. What would do something else by then is asked about by itself, in the same order.
    fn approve_all(&mut self, shown: Vec<Reviewed>) -> Result<(), Stop> {
        if shown.is_empty() {
            return Ok(());
        }
        let question = match shown.len() {
            1 => "approve it?".to_owned(),
            several => format!("approve all {several}?"),
        };
        if !agrees(&question)? {
            return Ok(say("they are still waiting")?);
        }
        let (mut changed, mut left) = (BTreeMap::new(), Vec::new());
        for Reviewed { waiting, .. } in &shown {
            let id = waiting.id;
            let done = self.opened.engine.approve(id, Consent::Shown(waiting.digest), &person());
            if let Some(done) = self.approved(waiting, done)? {
                changed.extend(done.changed.into_iter().map(|path| (path, id)));
                continue;
            }
            let by = waiting.changed.iter().find_map(|path| changed.get(path));
            let why = by.map_or_else(
                || "a note was changed meanwhile".to_owned(),
                |by| format!("proposal {by} changed this note"),
            );
            self.again.insert(id, format!("{why}; here is proposal {id} as it is now"));
            left.push(id);
        }
        for id in left.into_iter().rev() {
            self.queue.push_front(id);
        }
        Ok(())
    }

    /// Asks about one again that did nothing.
    fn ask_again(&mut self, id: u64) {
        self.queue.push_front(id);
        self.again.insert(id, "a note was changed meanwhile; look again".to_owned());
    }

    /// Says that an approval is carried out; `None` where it did nothing, since it would do something else now or cannot be done
    /// any more.
    fn approved(&self, waiting: &PendingProposal, done: Result<Done, ChangeError>) -> Result<Option<Done>, Stop> {
        let done = match done {
            Err(error) if error.failure.code == Code::Conflict && error.diff.is_some() => return Ok(None),
            Err(error) => {
                let review = self.opened.engine.review_proposal(waiting.id);
                return if review.is_ok_and(|now| now.trouble.is_some()) { Ok(None) } else { Err(error.into()) };
            }
            Ok(done) => done,
        };
        say(decided::approved(waiting.id, &done))?;
        if self.has_always {
            let rules = standing(waiting, Verdict::Allow)?;
            decided::say_rules(decided::settle(self.opened, Some(&rules))?.as_deref())?;
        }
        Ok(Some(done))
    }

    /// Keeps the person's text instead of the proposed one. They have just decided, so nobody is asked about it.
    fn edit(&mut self, reviewed: &Reviewed) -> Result<(), Stop> {
        let id = reviewed.waiting.id;
        let Some((path, digest, text)) = text_to_edit(&reviewed.plan) else { return Ok(()) };
        let keep = |content: String| {
            // Looked at before the call is made: the account of a call that fails would keep what nobody has approved.
            let now = self.opened.engine.text_of(path).map(|text| Digest::of(text.as_bytes()));
            if now != digest {
                return Err(Failure::new(Code::Conflict, format!("note `{path}` was changed meanwhile")).into());
            }
            let path = path.clone();
            let action = match digest {
                Some(_) => Action::WriteFile(WriteFile { path, content, if_digest: digest }),
                None => Action::CreateFile(CreateFile { path, content }),
            };
            one::run(self.opened, action).map(|_| 0)
        };
        match verbs::edit_text(self.opened, path, text, Unsaved::Goes, keep) {
            Ok(Some(_)) => {
                self.opened.engine.reject(id, &person())?;
                return Ok(say(format!("your text is kept instead of proposal {id}"))?);
            }
            Ok(None) => say("nothing was changed")?,
            Err(Stop::Failed(stopped)) => {
                stopped.say()?;
                say(format!("proposal {id} is still waiting"))?;
            }
            Err(stop) => return Err(stop),
        }
        self.queue.push_front(id);
        Ok(())
    }

    /// Asks about each part, and carries out those that the person wants.
    fn decide_parts(&mut self, waiting: &PendingProposal) -> Result<(), Stop> {
        let (engine, id) = (&self.opened.engine, waiting.id);
        let parts = engine.parts_of(id)?;
        if parts.len() < 2 {
            self.queue.push_front(id);
            return Ok(say("its parts belong together")?);
        }
        let mut taken = Vec::new();
        for (part, number) in parts.iter().zip(1..) {
            say(format!("part {number} of {}", parts.len()))?;
            let Some(digest) = self.show_part(id, part, "it cannot be done now")? else { continue };
            if agrees("take this part?")? {
                taken.push((part.as_slice(), digest));
            }
        }
        let wanted: Vec<usize> = taken.iter().flat_map(|(part, _)| *part).copied().collect();
        let shown = match taken.as_slice() {
            [] => {
                say("no part is taken; `no` drops all of it")?;
                None
            }
            [(_, digest)] => Some(*digest),
            _ => {
                say("together they do this")?;
                let digest = self.show_part(id, &wanted, "these parts cannot be done together")?;
                match digest {
                    Some(_) if agrees("approve it, and drop the rest?")? => digest,
                    _ => None,
                }
            }
        };
        let Some(shown) = shown else {
            self.queue.push_front(id);
            return Ok(());
        };
        let done = engine.approve_part(id, &wanted, shown, &person());
        if self.approved(waiting, done)?.is_none() {
            self.ask_again(id);
        }
        Ok(())
    }

    /// Shows what these calls of a proposal do, and gives the digest of that; says why where they cannot be done.
    fn show_part(&self, id: u64, calls: &[usize], trouble: &str) -> Result<Option<Digest>, Stop> {
        let (plan, digest) = match self.opened.engine.review_part(id, calls) {
            Err(failure) => {
                say(format!("{trouble}: {}", failure.message))?;
                return Ok(None);
            }
            Ok(reviewed) => reviewed,
        };
        let mut stderr = io::stderr();
        changes::show(&note_changes(plan.steps()), "  ", &mut stderr)?;
        writeln!(stderr, "{}", term::diff(&plan.diff(), &stderr))?;
        Ok(Some(digest))
    }
}

fn who(waiting: &PendingProposal) -> String {
    who::changed(&waiting.author.door, waiting.author.client.as_deref())
}

/// The one text that a plan writes, with its note and what that holds now; `None` where it does anything else.
fn text_to_edit(plan: &Plan) -> Option<(&MemoryPath, Option<Digest>, &str)> {
    let mut steps = plan.steps().iter().filter(|step| !matches!(step, Step::MakeFolder { .. }));
    match (steps.next(), steps.next()) {
        (Some(Step::Put { path, before, after: Some(after) }), None) => {
            let digest = before.as_ref().map(|image| image.content.digest());
            Some((path, digest, after.content.text()?))
        }
        _ => None,
    }
}

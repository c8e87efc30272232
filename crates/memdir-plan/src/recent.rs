//! `recent`: what was changed and talked about, by days.

use crate::tree::{PastBatch, Tree};
use crate::{Answer, Planner, changes, words};
use memdir_core::action::{Call, Recent as Asked};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Recent, RecentChange, RecentConversation, RecentDay, Value};
use memdir_core::time::Timestamp;

/// How many days back unless others are asked for.
const DAYS: u32 = 7;
/// How many bytes are told at most, which are 2,000 tokens.
const BUDGET: usize = 8_000;
/// How much of a sentence of the person's is told, in characters.
const MOST_SAID: usize = 200;
/// What is told of a note of which no more may be told.
const CHANGED: &str = "changed";

/// What happened, with its moment.
enum Event {
    Batch(PastBatch),
    Said { session: String, text: String },
}

impl<T: Tree> Planner<'_, T> {
    pub(super) fn recent(&self, call: &Call, asked: &Asked) -> Result<Answer, Failure> {
        let [since, until] = span(call, asked, self.overlay.now())?;
        let tree = self.overlay.tree();
        // Who may not see everything is told no text of the past: a line may be gone so that they do not see it.
        let is_part = tree.is_part() || (self.manner.may_hide)(call);
        let batches = tree.batches(since, until).map_err(words::failure)?;
        let mut events: Vec<_> = batches.into_iter().map(|batch| (batch.time, Event::Batch(batch))).collect();
        if !is_part {
            // The last first, also where several were said in one second.
            let said = tree.said(since, until).map_err(words::failure)?.into_iter().rev();
            events.extend(said.map(|said| (said.time, Event::Said { session: said.session, text: said.text })));
        }
        events.sort_by(|(one, _), (other, _)| other.cmp(one));
        let mut told = Told { days: Vec::new(), left: BUDGET, left_out: 0 };
        for (time, event) in events {
            if (self.manner.stop)() {
                return Err(words::failure(crate::TreeError::Stopped));
            }
            let day = time.to_string().chars().take(10).collect::<String>();
            match event {
                Event::Said { session, text } => told.say(day, session, &text),
                Event::Batch(batch) if told.is_full() => told.left_out += batch.changed.len().max(1),
                Event::Batch(batch) => {
                    for (path, did) in self.changes_of(call, &batch, is_part)? {
                        told.change(&day, path, did);
                    }
                }
            }
        }
        Ok(Value::Recent(told.finish()).into())
    }

    /// What a batch did to each note of which the call may be told.
    fn changes_of(&self, call: &Call, batch: &PastBatch, is_part: bool) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let steps = if is_part { None } else { self.overlay.tree().steps(batch.number).map_err(words::failure)? };
        if let Some(steps) = steps {
            let changes = changes::note_changes(&steps).into_iter();
            return Ok(changes
                .map(|note| (note.name, note.lines.into_iter().map(|line| line.words).collect()))
                .collect());
        }
        let shown = batch.changed.iter().filter(|path| (self.manner.may_show)(call, path));
        Ok(shown.map(|path: &MemoryPath| (path.to_string(), vec![CHANGED.to_owned()])).collect())
    }
}

/// What is told, as long as there is room.
struct Told {
    days: Vec<RecentDay>,
    left: usize,
    left_out: usize,
}

impl Told {
    fn is_full(&self) -> bool {
        self.left_out > 0
    }

    /// Whether there is room for so many bytes; once there was none, nothing older is told.
    fn takes(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes).filter(|_| !self.is_full());
        match left {
            Some(left) => self.left = left,
            None => self.left_out += 1,
        }
        left.is_some()
    }

    fn day(&mut self, date: String) -> Option<&mut RecentDay> {
        if self.days.last().is_none_or(|day| day.date != date) {
            self.days.push(RecentDay { date, ..RecentDay::default() });
        }
        self.days.last_mut()
    }

    fn change(&mut self, date: &str, path: String, did: Vec<String>) {
        let bytes = path.len() + did.iter().map(|words| words.len() + 3).sum::<usize>() + 40;
        if !self.takes(bytes) {
            return;
        }
        let Some(day) = self.day(date.to_owned()) else { return };
        match day.changes.iter_mut().find(|change| change.path == path) {
            Some(change) => {
                let new: Vec<_> = did.into_iter().filter(|words| !change.did.contains(words)).collect();
                change.did.extend(new);
            }
            None => day.changes.push(RecentChange { path, did }),
        }
    }

    fn say(&mut self, date: String, session: String, text: &str) {
        let text = shortened(text);
        if !self.takes(text.len() + session.len() + 40) {
            return;
        }
        let Some(day) = self.day(date) else { return };
        match day.conversations.iter_mut().find(|conversation| conversation.session == session) {
            // What was said first comes first.
            Some(conversation) => conversation.said.insert(0, text),
            None => day.conversations.push(RecentConversation { session, said: vec![text] }),
        }
    }

    fn finish(self) -> Recent {
        Recent { days: self.days, left_out: self.left_out }
    }
}

/// A sentence on one line, cut where it is long.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST_SAID) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The first moment that is asked about and the first one behind it.
fn span(call: &Call, asked: &Asked, now: i64) -> Result<[Timestamp; 2], Failure> {
    const DAY: i64 = 24 * 60 * 60;
    let invalid = |message: &str, hint: &str| words::invalid(call.index, "recent", message).with_hint(hint);
    let day = |field: &str, text: &Option<String>| match text.as_deref().map(|text| (text, Timestamp::parse(text))) {
        None => Ok(None),
        Some((_, Ok(time))) => Ok(Some(time.micros().div_euclid(DAY * 1_000_000))),
        Some((_, Err(_))) => Err(invalid(&format!("`{field}` is no date"), "send a day such as `2026-11-16`")),
    };
    let (since, until) = (day("since", &asked.since)?, day("until", &asked.until)?);
    let last = until.unwrap_or_else(|| now.div_euclid(DAY));
    let first = match (since, asked.days) {
        (Some(_), Some(_)) => return Err(invalid("both `days` and `since` are given", "send one of them")),
        (Some(since), None) if since > last => {
            return Err(invalid("`since` is after `until`", "send the earlier day as `since`"));
        }
        (Some(since), None) => since,
        (None, days) => last - i64::from(days.unwrap_or(DAYS)) + 1,
    };
    Ok([first, last + 1].map(|day| Timestamp::from_seconds(day.saturating_mul(DAY))))
}

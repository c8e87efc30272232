//! What a small model wrote, as the calls that it means.
//!
//! Owns the steps of a turn, and checks their shape and origin: a line that is meant stands there, a new one is made of what was told. What it means is for
//! the model. A step that becomes no call is reported, never dropped in silence.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::edit::Edits;
use super::line::{Brought, Line, Renewal, Says, lines, taken};
use super::view::{Entry, Shown, View};
use super::{Correction, SURE, Wrote, date, line, said_before, stems};
use crate::prompt::fenced;
use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};
use memdir_core::time::Timestamp;
use memdir_note::fact;
use memdir_note::stem::Stem;
use memdir_note::words::{called, fold};

mod target;

use target::{NewNote, Target, linked};

/// A turn in the native dialect, and what the program knows about it.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Expanded {
    /// The turn.
    pub text: String,
    /// The lines that its answer tells of, each with its note.
    pub grounds: Vec<String>,
    /// What was asked, where the answer tells of no line.
    pub missing: Option<String>,
    /// The dates that the program has computed for it: they count as the person's words.
    pub dates: Vec<String>,
    /// The changes that it wrote and that became neither a call nor a question.
    pub unkept: Vec<String>,
}

/// A line is not noted or dropped if the model gave its least likely token a probability below this, in thousandths.
const UNSURE: u16 = 50;
/// What begins a step that takes something out.
const DROP: &str = "drop ";
/// The reply where only lines may be said, and none was told of.
const NOT_THERE: &str = "That is not in your notes.";
/// The reply where there is nothing to show.
const SILENCE: &str = "…";
/// A word of an answer tells of lines if at most so many have it.
const MOST_TELLING: usize = 3;
/// Whose words the reply is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reply {
    /// The model's.
    Own,
    /// The lines that the answer tells of, and what tools said; the model's where nothing was asked.
    Quoted,
    /// The lines that the answer tells of, and what tools said, and never the model's.
    Withheld,
}

/// What was written, with all that it is read against.
pub(super) struct Written<'w, 'n> {
    pub(super) view: &'w View<'n>,
    pub(super) turn: &'w super::Turn<'w>,
    pub(super) wrote: Wrote<'w>,
    pub(super) now: Timestamp,
    /// Whether there is a note, also one that is not shown.
    pub(super) exists: &'w dyn Fn(&MemoryPath) -> bool,
    pub(super) reply: Reply,
}

/// Reads a turn.
pub(super) fn expand(written: &Written<'_, '_>) -> Expanded {
    let Wrote { noted, dropped, answer, .. } = written.wrote;
    let mut said_by_person = stems(written.turn.message);
    said_by_person.extend(stems(&said_before(written.turn.session, written.turn.message)));
    let mut turn = Turn {
        of: written,
        said_by_person,
        changes: Vec::new(),
        new_notes: Vec::new(),
        edits: Edits::default(),
        renewed: Vec::new(),
        unsure: Vec::new(),
        ambiguous: Vec::new(),
        expanded: Expanded::default(),
    };
    let mut steps = Vec::new();
    let mut told = noted.map(lines).unwrap_or_default();
    for (sentence, day) in written.wrote.days {
        if let Some(mark) = date::named(day, written.now).and_then(|day| date::mark(&day, written.now)) {
            line::mark(&mut told, sentence, &mark);
            turn.expanded.dates.push(mark);
        }
    }
    if let Some((correction, lines)) = written.wrote.corrected {
        turn.put_right(correction, lines);
    }
    turn.renew(written.wrote.renewed, &told);
    for line in told {
        let step = format!("{}: {}", line.note, line.marked(line.text));
        if line.chance < UNSURE {
            turn.unsure.push(step.clone());
        } else if turn.note(&line).is_none() {
            turn.expanded.unkept.push(step.clone());
        }
        steps.push(step);
    }
    let drops = dropped.map(drops).unwrap_or_default();
    // Behind a line that it was not sure to drop a model goes on with those that follow, and is sure of that.
    let is_unsure = drops.iter().any(|(_, chance)| *chance < UNSURE);
    for (address, _) in drops {
        let step = format!("{DROP}{address}");
        if is_unsure {
            turn.unsure.push(step.clone());
        } else if turn.drop(address).is_none() {
            turn.expanded.unkept.push(step.clone());
        }
        steps.push(step);
    }
    if let Some(answer) = answer {
        turn.ground(&answer.text);
    }
    let said = [noted, dropped]
        .into_iter()
        .flatten()
        .find_map(|wrote| wrote.text.lines().find_map(|it| it.strip_prefix("say ")));
    let said = said.or(written.wrote.corrected.map(|(correction, _)| correction.reply.as_str()));
    turn.finish(&steps, answer.map_or(said.unwrap_or_default(), |answer| &answer.text).trim())
}

/// The lines that are dropped, with how likely each was.
fn drops(answer: &memdir_model::Answer) -> Vec<(&str, u16)> {
    let drops = answer.text.lines().enumerate().filter_map(|(at, line)| Some((at, line.trim().strip_prefix(DROP)?)));
    drops.map(|(at, address)| (address, answer.line_chances.get(at).copied().unwrap_or(SURE))).collect()
}

/// A change that is no edit of a line.
enum Change {
    Fact { path: MemoryPath, key: String, value: String },
    Lines { path: MemoryPath, lines: String },
    Call(Value),
}

/// A line that may take the place of an old one.
struct Fresh<'t, 'n> {
    note: &'t Shown<'n>,
    entry: &'t Entry,
    value: String,
    brought: Brought,
}

/// `None` for a step that cannot be carried out.
type Done = Option<()>;

struct Turn<'t, 'n> {
    of: &'t Written<'t, 'n>,
    /// The words of the person, as far as they are told again.
    said_by_person: BTreeSet<Stem>,
    changes: Vec<Change>,
    new_notes: Vec<NewNote>,
    edits: Edits<'t, 'n>,
    /// The lines that were written again, each with its note.
    renewed: Vec<(&'t MemoryPath, &'t Entry, Brought)>,
    /// Steps that the model was not sure of.
    unsure: Vec<String>,
    /// Notes of which the message does not tell which is meant.
    ambiguous: Vec<&'t Shown<'n>>,
    expanded: Expanded,
}

impl<'t, 'n> Turn<'t, 'n> {
    /// A line that was noted: as another value of its key, or beside the lines that there are, unless one of them says it.
    fn note(&mut self, line: &Line<'_>) -> Done {
        let (view, turn) = (self.of.view, self.of.turn);
        let shown = view.named(line.note);
        if self.is_ambiguous(shown) {
            return Some(());
        }
        if view.stands(line, |note, entry| self.has_renewed(note, entry)) {
            return Some(());
        }
        // An example of the prompt is no memory.
        if super::leaked(turn, line.text).is_some() {
            return None;
        }
        if let Some(note) = shown {
            let of_note = self.renewed.iter().filter(|(path, ..)| *path == note.path);
            let is_repeated = self.is_repeated(line);
            match of_note
                .filter_map(|(.., brought)| brought.says(line, is_repeated))
                .min_by_key(|said| *said == Says::Part)
            {
                Some(Says::All) => return Some(()),
                Some(Says::Part) => return None,
                None => {}
            }
            // A key has one value.
            if let Some((key, value)) = line.parts()
                && let Some(entry) = note.entry(key).filter(|entry| !entry.is_prose)
            {
                return self.set(note, entry, &line.marked(value));
            }
        }
        match line.parts() {
            Some((key, value)) => self.add(line.note, key, value, &line.mark),
            None => self.add_line(line.note, &line.marked(line.text)),
        }
    }

    /// Lines as the model wrote them again. Each thing that was noted of a note changes at most one of its lines, the one that says most of it; a line that
    /// says nothing of what was noted stays as it was.
    fn renew(&mut self, renewals: &[Renewal], told: &[Line<'_>]) {
        let (view, turn) = (self.of.view, self.of.turn);
        let is_meant = |line: &&Line<'_>| line.chance >= UNSURE && super::leaked(turn, line.text).is_none();
        let told = told.iter().filter(is_meant).filter_map(|line| Some((view.named(line.note)?, line)));
        let told: Vec<_> = told.filter(|(note, _)| !self.is_ambiguous(Some(note))).collect();
        let mut fresh: Vec<_> = renewals.iter().filter_map(|renewal| self.fresh(renewal, &told)).collect();
        for (note, line) in told {
            let is_repeated = self.is_repeated(line);
            let mut of_note = self.renewed.iter().filter(|(path, ..)| *path == note.path);
            if of_note.any(|(.., brought)| brought.says(line, is_repeated).is_some()) {
                continue;
            }
            let shares = |(at, it): (usize, &Fresh<'_, '_>)| {
                let shares = it.brought.shares(line, is_repeated).filter(|_| it.note.path == note.path)?;
                Some((Reverse(shares), at))
            };
            if let Some((_, at)) = fresh.iter().enumerate().filter_map(shares).min() {
                let Fresh { note, entry, value, brought } = fresh.remove(at);
                if self.set(note, entry, &value).is_some() {
                    self.renewed.push((note.path, entry, brought));
                }
            }
        }
    }

    /// The lines that came of what was told wrongly, as they are right.
    fn put_right(&mut self, correction: &Correction, written: &[(MemoryPath, usize)]) {
        let of = self.of;
        for place in correction.lines(of.view, written) {
            let day = of.wrote.days.iter().find(|(line, _)| *line == place.right);
            let day = day.and_then(|(_, day)| date::named(day, of.now));
            let (right, mark) = place.dated(day.as_deref());
            self.expanded.dates.extend(mark);
            if self.set(place.note, place.entry, &right).is_none() {
                self.expanded.unkept.push(format!("{}: {right}", place.note.name));
            }
        }
    }

    /// Whether all words of a line that was noted are the person's: it is no old line that the model noted by mistake.
    fn is_repeated(&self, line: &Line<'_>) -> bool {
        stems(line.text).is_subset(&self.said_by_person)
    }

    /// Whether a line was written again.
    fn has_renewed(&self, note: &Shown<'_>, entry: &Entry) -> bool {
        self.renewed.iter().any(|(path, old, _)| *path == note.path && *old == entry)
    }

    /// A line that was written again, if it can stand for the old one.
    fn fresh(&self, renewal: &Renewal, told: &[(&'t Shown<'n>, &Line<'_>)]) -> Option<Fresh<'t, 'n>> {
        let view = self.of.view;
        let note = view.notes.iter().find(|note| *note.path == renewal.path)?;
        let entry = note.entries.iter().find(|entry| view.line(entry) == renewal.old)?;
        let mut known = self.said_by_person.clone();
        let of_note = told.iter().filter(|(named, _)| named.path == note.path);
        of_note.for_each(|(_, line)| known.extend(stems(line.text)));
        let new = taken(&renewal.new, &renewal.old, &known)?;
        let value = match new.split_once([':', '：']) {
            Some((key, value)) if !entry.label.is_empty() && called(key) == called(&entry.label) => value.trim(),
            // Another key would be another fact.
            _ if entry.is_prose => new,
            _ => return None,
        };
        // A name that has lost its brackets would be a link no more.
        let is_unlinked =
            |(_, name): &(&str, String)| value.replace(&format!("[[{name}]]"), "").contains(name.as_str());
        if view.links_in(&entry.value).iter().any(is_unlinked) {
            return None;
        }
        let brought = Brought::of(new, &renewal.old, &entry.key);
        (!value.is_empty()).then(|| Fresh { note, entry, value: value.to_owned(), brought })
    }

    /// Finds the lines that an answer tells of: those that have most of its words which the message does not have, until each such word that a line
    /// has is found.
    fn ground(&mut self, answer: &str) {
        let turn = self.of.turn;
        let (mut left, asked) = (stems(answer), stems(turn.message));
        left.retain(|stem| !asked.contains(stem));
        let entries = self.of.view.notes.iter().flat_map(|note| note.entries.iter().map(move |entry| (note, entry)));
        let lines: Vec<_> =
            entries.map(|(note, entry)| (note, entry, stems(&self.of.view.said(&entry.value)))).collect();
        // A word that many lines have tells of none.
        left.retain(|stem| lines.iter().filter(|(_, _, said)| said.contains(stem)).count() <= MOST_TELLING);
        while let Some((note, entry, said)) = lines
            .iter()
            .filter(|(_, _, said)| !left.is_disjoint(said))
            // Of lines that have as many of the words, the one that says least beside them; of these, the first.
            .min_by_key(|(_, _, said)| (Reverse(left.intersection(said).count()), said.len()))
        {
            self.expanded.grounds.push(format!("{}: {} ({})", entry.key, self.of.view.said(&entry.value), note.path));
            left.retain(|stem| !said.contains(stem));
        }
        // A tool may have said it.
        if self.expanded.grounds.is_empty() && turn.results.is_empty() && turn.sorted.asks() {
            self.expanded.missing = Some(turn.sorted.of(super::Kind::Ask));
        }
    }

    /// Whether a note is meant by a name that another one has too, and nothing else in the message tells which.
    fn is_ambiguous(&mut self, note: Option<&'t Shown<'n>>) -> bool {
        let Some(note) = note else { return false };
        let others = self.of.view.as_likely(note, self.of.turn);
        // What was just asked about is answered now.
        if others.is_empty() || super::questioned(self.of.turn.session).is_some() {
            return false;
        }
        self.ambiguous = std::iter::once(note).chain(others).collect();
        true
    }

    /// A line of a note with another value.
    fn set(&mut self, note: &'t Shown<'n>, entry: &'t Entry, value: &str) -> Done {
        if entry.fact.is_none() && !Edits::may_change(note, entry) {
            return None;
        }
        let value = self.resolved(value, note.path, &entry.value);
        if value == entry.value {
            return Some(());
        }
        // What was a link to a note stays one, where there is a note of the new name.
        let linked_note = self.of.view.named(&value).filter(|_| entry.value.starts_with("[["));
        let value = linked_note.map_or(value, |note| linked(note.path));
        match &entry.fact {
            Some(key) => self.fact(note.path, key, &value, ""),
            None => self.edits.push(note, entry, Some(value))?,
        }
        Some(())
    }

    /// A fact for a note, which may be one that has to be made, with the date of its day.
    fn add(&mut self, name: &str, key: &str, value: &str, mark: &str) -> Done {
        if let Some(linked) = value.strip_prefix("[[").and_then(|name| name.strip_suffix("]]"))
            && !linked.contains("]]")
        {
            return self.link(name, key, linked, mark);
        }
        let value = format!("{value}{mark}");
        match self.target(name, None) {
            Some(target) => self.put(&target, key, &value),
            // What cannot be the name of a note is noted of the person.
            None => {
                let person = self.target(PERSON, None)?;
                self.put(&person, &format!("{name} {key}"), &value);
            }
        }
        Some(())
    }

    /// A line that states no fact, for such a note.
    fn add_line(&mut self, name: &str, text: &str) -> Done {
        let Some(target) = self.target(name, None) else { return self.add_line(PERSON, &format!("{name}: {text}")) };
        let path = self.path(&target)?.clone();
        let text = self.resolved(text, &path, "");
        if let Target::New(at) = target {
            self.new_notes.get_mut(at)?.lines.push(text);
            return Some(());
        }
        let line = format!("- {text}\n");
        let same = self.changes.iter_mut().find_map(|change| match change {
            Change::Lines { path: other, lines } if *other == path => Some(lines),
            Change::Fact { .. } | Change::Lines { .. } | Change::Call(_) => None,
        });
        match same {
            Some(lines) => lines.push_str(&line),
            None => self.changes.push(Change::Lines { path, lines: line }),
        }
        Some(())
    }

    /// A text with its links to the notes of these names: as the value that it is for has them, else a note that there is none of is made.
    fn resolved(&mut self, text: &str, from: &MemoryPath, old: &str) -> String {
        let mut kept = self.of.view.links_in(old);
        let (mut resolved, mut rest) = (String::new(), text);
        while let Some((before, (name, after))) =
            rest.split_once("[[").and_then(|(before, rest)| Some((before, rest.split_once("]]")?)))
        {
            resolved.push_str(before);
            if let Some(at) = kept.iter().position(|(_, shown)| shown == name) {
                resolved.push_str(&format!("[[{}]]", kept.remove(at).0));
            } else {
                let relation = linked(from);
                let target = self.target(name, Some(&relation));
                let link = target.as_ref().and_then(|target| self.path(target)).map_or(name.to_owned(), linked);
                resolved.push_str(&link);
            }
            rest = after;
        }
        resolved + rest
    }

    fn put(&mut self, target: &Target<'t, 'n>, key: &str, value: &str) {
        match target {
            Target::Shown(note) => self.put_shown(note, key, value),
            Target::Unseen(path) => self.fact(path, key, value, ""),
            Target::New(at) => {
                let Some(new) = self.new_notes.get_mut(*at) else { return };
                match new.facts.iter_mut().find(|(other, _)| fact::key(other) == fact::key(key)) {
                    Some((_, before)) => *before = joined(before, value),
                    None => new.facts.push((key.to_owned(), value.to_owned())),
                }
            }
        }
    }

    fn put_shown(&mut self, note: &Shown<'n>, key: &str, value: &str) {
        let path = note.path;
        if let Some(entry) = note.entry(key) {
            match &entry.fact {
                Some(key) => self.fact(path, key, value, &entry.value),
                None => self.changes.push(Change::Call(
                    json!({"action": "append_file", "path": path.as_str(), "content": format!("- {key}: {value}\n")}),
                )),
            }
        } else if let Some(heading) = note.headings.iter().find(|heading| called(heading) == called(key)) {
            let content = format!("- {value}\n");
            self.changes.push(Change::Call(
                json!({"action": "append_to_section", "path": path.as_str(), "heading": heading, "content": content}),
            ));
        } else {
            self.fact(path, key, value, "");
        }
    }

    /// Sets a fact, beside what is to stay of its value. A key that this turn has set before gets one more value: nothing that was told is lost.
    fn fact(&mut self, path: &MemoryPath, key: &str, value: &str, beside: &str) {
        let earlier = self.changes.iter_mut().find_map(|change| match change {
            Change::Fact { path: other, key: set, value } if *other == *path && fact::key(set) == fact::key(key) => {
                Some(value)
            }
            Change::Fact { .. } | Change::Lines { .. } | Change::Call(_) => None,
        });
        if let Some(earlier) = earlier {
            *earlier = joined(earlier, value);
            return;
        }
        let value = joined(beside, value);
        if value != beside {
            self.changes.push(Change::Fact { path: path.clone(), key: key.to_owned(), value });
        }
    }

    /// A link to somebody or something, with a note that is made where there is none.
    fn link(&mut self, from: &str, key: &str, name: &str, mark: &str) -> Done {
        let from_note = self.target(from, None)?;
        let relation = format!("{key} of {}", linked(self.path(&from_note)?));
        let Some(to) = self.target(name, Some(&relation)) else { return self.add(from, key, name, mark) };
        let link = linked(self.path(&to)?) + mark;
        self.put(&from_note, key, &link);
        Some(())
    }

    /// A line, a row of a table, or a note that goes.
    fn drop(&mut self, address: &str) -> Done {
        let view = self.of.view;
        let entry = view.drops(address).or_else(|| view.entry(address)).map(|(note, entry)| (note, vec![entry]));
        if let Some((note, entries)) = entry.or_else(|| self.of.view.row(address)) {
            if !self.is_ambiguous(Some(note)) {
                // What was written anew in this turn is gone already.
                let stale = entries.into_iter().filter(|entry| !self.edits.renews(note, entry)).collect::<Vec<_>>();
                stale.into_iter().try_for_each(|entry| self.edits.push(note, entry, None))?;
            }
            return Some(());
        }
        let note = self.of.view.named(address).filter(|note| note.path.as_str() != PERSON_NOTE)?;
        if !self.is_ambiguous(Some(note)) {
            self.changes.push(Change::Call(json!({"action": "delete_file", "path": note.path.as_str()})));
        }
        Some(())
    }

    /// All calls of the turn. Notes are made before anything links to them.
    fn calls(&self) -> Vec<Value> {
        let new = self.new_notes.iter().map(|note| {
            let facts: String = note.facts.iter().map(|(key, value)| format!("- {key}: {value}\n")).collect();
            let lines: String = note.lines.iter().map(|line| format!("- {line}\n")).collect();
            let content = format!("# {}\n\n{facts}{lines}", note.title);
            json!({"action": "create_file", "path": note.path.as_str(), "content": content})
        });
        let changes = self.changes.iter().map(|change| match change {
            Change::Fact { path, key, value } => {
                json!({"action": "set_fact", "path": path.as_str(), "key": key, "value": value})
            }
            Change::Lines { path, lines } => json!({"action": "append_file", "path": path.as_str(), "content": lines}),
            Change::Call(call) => call.clone(),
        });
        new.chain(self.edits.calls()).chain(changes).collect()
    }

    /// The turn as calls and a reply.
    fn finish(mut self, steps: &[String], said: &str) -> Expanded {
        let calls = self.calls();
        let mut reply = fenced(&self.reply(said, calls.is_empty())).into_owned();
        // The first doubtful change is asked about, if it is all that the message would change. Beside changes that the model was sure of, a
        // doubtful one is mostly made of words that were left over.
        let mut unsure = std::mem::take(&mut self.unsure).into_iter();
        if let Some(step) = calls.is_empty().then(|| unsure.next()).flatten() {
            reply.push_str(&fenced(&format!("\n{}", question(&step))));
        }
        self.expanded.unkept.extend(unsure);
        let mut text = format!("<think>{}</think>", fenced(&steps.join("; ")));
        if !calls.is_empty() {
            text.push_str(&format!("<actions>{}</actions>", Value::from(calls).to_string().replace('<', "\\u003c")));
        }
        text.push_str(&format!("<reply>{}</reply>", reply.trim()));
        Expanded { text, ..self.expanded }
    }

    fn reply(&self, said: &str, is_unchanged: bool) -> String {
        if !self.ambiguous.is_empty() {
            let names: Vec<&str> = self.ambiguous.iter().map(|note| note.name.as_str()).collect();
            return format!("{}?", names.join(" / "));
        }
        let Expanded { grounds, missing, .. } = &self.expanded;
        let results = self.of.turn.results.iter().map(|(_, said)| said.as_str());
        let quoted: Vec<&str> = grounds.iter().map(String::as_str).chain(results).collect();
        let said = match self.of.reply {
            Reply::Own => said.to_owned(),
            Reply::Quoted | Reply::Withheld if !quoted.is_empty() => quoted.join("\n"),
            Reply::Quoted | Reply::Withheld if is_unchanged && missing.is_some() => NOT_THERE.to_owned(),
            Reply::Quoted => said.to_owned(),
            Reply::Withheld => String::new(),
        };
        if said.is_empty() { SILENCE.to_owned() } else { said }
    }
}

/// What is asked about a step that the model was not sure of.
fn question(step: &str) -> String {
    match step.strip_prefix(DROP) {
        Some(address) => format!("Shall I forget `{address}`?"),
        None => format!("Shall I note `{step}`?"),
    }
}

/// A value and one more; as it is where it says that already.
fn joined(value: &str, more: &str) -> String {
    let is_said = |part: &str| fold(part.trim()) == fold(more);
    if value.is_empty() {
        more.to_owned()
    } else if is_said(value) || value.split(',').any(is_said) {
        value.to_owned()
    } else {
        format!("{value}, {more}")
    }
}

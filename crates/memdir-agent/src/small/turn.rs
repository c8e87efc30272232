//! What a small model wrote, as the calls that it means.
//!
//! Owns the steps of a turn (`set`, `drop`), and checks their shape and origin: a line that is meant stands there, a date is one that the
//! program computes. What a value means is for the model. A step that becomes no call is reported, never dropped in silence.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::edit::Edits;
use super::view::{Entry, Shown, View};
use super::{SURE, date, stems};
use crate::prompt::fenced;
use memdir_core::path::{MemoryPath, PERSON, PERSON_NOTE};
use memdir_core::time::Timestamp;
use memdir_note::fact;
use memdir_note::words::{called, fold};

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

/// A line is not set or dropped if the model gave its least likely token a probability below this, in thousandths.
const UNSURE: u16 = 50;
/// The reply where only lines may be said, and none was told of.
const NOT_THERE: &str = "That is not in your notes.";
/// The reply where there is nothing to show.
const SILENCE: &str = "…";
/// A word of an answer tells of lines if at most so many have it.
const MOST_TELLING: usize = 3;
/// The name of a new note has at most this many words.
const MOST_NAME_WORDS: usize = 6;
/// Where a new note is made, if no link shows where such notes are kept.
const FOLDER: &str = "entities";
/// The title of the person's note where there was none, as in the template.
const PERSON_TITLE: &str = "Me";

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
    pub(super) wrote: super::Wrote<'w>,
    pub(super) now: Timestamp,
    /// Whether there is a note, also one that is not shown.
    pub(super) exists: &'w dyn Fn(&MemoryPath) -> bool,
    pub(super) reply: Reply,
}

/// Reads a turn.
pub(super) fn expand(written: &Written<'_, '_>) -> Expanded {
    let text = written.wrote.changes.map_or("", |changes| changes.text.as_str());
    let steps: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.starts_with("say ")).collect();
    let said = text.lines().find_map(|line| line.trim().strip_prefix("say ")).unwrap_or_default();
    let mut turn = Turn {
        of: written,
        changes: Vec::new(),
        new_notes: Vec::new(),
        edits: Edits::default(),
        unsure: Vec::new(),
        ambiguous: Vec::new(),
        expanded: Expanded::default(),
    };
    let chance = |at: usize| written.wrote.changes.and_then(|it| it.line_chances.get(at).copied()).unwrap_or(SURE);
    // Behind a line that it was not sure to drop a model goes on with those that follow, and is sure of that.
    let drops = steps.iter().zip(0..).filter(|(step, _)| step.starts_with("drop "));
    let dropping = drops.map(|(_, at)| chance(at)).min().unwrap_or(SURE);
    for (step, at) in steps.iter().zip(0..) {
        let chance = if step.starts_with("drop ") { dropping } else { chance(at) };
        if turn.step(step, chance).is_none() {
            turn.expanded.unkept.push((*step).to_owned());
        }
    }
    if let Some(answer) = written.wrote.answer {
        turn.ground(&answer.text);
    }
    turn.finish(&steps, written.wrote.answer.map_or(said, |answer| &answer.text).trim())
}

/// A note that is to be made.
struct NewNote {
    title: String,
    path: MemoryPath,
    facts: Vec<(String, String)>,
}

/// A change that is no edit of a line.
enum Change {
    Fact { path: MemoryPath, key: String, value: String },
    Call(Value),
}

/// The note of a name.
enum Target<'t, 'n> {
    Shown(&'t Shown<'n>),
    /// It is made in this turn: its place among those.
    New(usize),
    /// It exists and is not shown.
    Unseen(MemoryPath),
}

/// `None` for a step that cannot be carried out.
type Done = Option<()>;

struct Turn<'t, 'n> {
    of: &'t Written<'t, 'n>,
    changes: Vec<Change>,
    new_notes: Vec<NewNote>,
    edits: Edits<'t, 'n>,
    /// Steps that the model was not sure of.
    unsure: Vec<String>,
    /// Notes of which the message does not tell which is meant.
    ambiguous: Vec<&'t Shown<'n>>,
    expanded: Expanded,
}

impl<'t, 'n> Turn<'t, 'n> {
    fn step(&mut self, step: &str, chance: u16) -> Done {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        let sides = |mark| rest.split_once(mark).map(|(left, right): (&str, &str)| (left.trim(), right.trim()));
        match verb {
            "set" | "drop" if chance < UNSURE => self.unsure.push(step.to_owned()),
            "drop" => return self.drop(rest),
            "set" => {
                return match (sides(" += "), sides(" = ")) {
                    (Some((address, value)), _) => self.change(address, value, true),
                    (None, Some((address, value))) => self.change(address, value, false),
                    (None, None) => None,
                };
            }
            "ask" | "" => {}
            // A server that takes no grammar lets a model write anything.
            _ => return None,
        }
        Some(())
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
            self.expanded.missing = Some(turn.sorted.asked());
        }
    }

    /// A line that is set, or gets one more value.
    fn change(&mut self, address: &str, value: &str, is_more: bool) -> Done {
        let (name, key) = self.split(address)?;
        if self.is_ambiguous(self.of.view.named(name)) {
            return Some(());
        }
        if let Some(linked) = value.strip_prefix("[[").and_then(|name| name.strip_suffix("]]")) {
            return self.link(name, key, linked, is_more);
        }
        let value = self.computed(value)?;
        match self.of.view.entry(address).filter(|(_, entry)| !is_more || entry.value.is_empty()) {
            Some((_, entry)) if entry.is_prose => None,
            Some((note, entry)) => self.set(note, entry, value),
            None => self.add(name, key, value),
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
    fn set(&mut self, note: &'t Shown<'n>, entry: &'t Entry, value: String) -> Done {
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

    /// One more value for a key of a note, which may be one that has to be made.
    fn add(&mut self, name: &str, key: &str, value: String) -> Done {
        // A key says what a value is; the value itself does not.
        if called(key) == called(&value) || value.is_empty() {
            return None;
        }
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
            Change::Fact { .. } | Change::Call(_) => None,
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
    fn link(&mut self, from: &str, key: &str, name: &str, is_more: bool) -> Done {
        let from_note = self.target(from, None)?;
        let relation = format!("{key} of {}", linked(self.path(&from_note)?));
        let Some(to) = self.target(name, Some(&relation)) else { return self.add(from, key, name.to_owned()) };
        let link = linked(self.path(&to)?);
        if let Target::Shown(note) = from_note
            && let Some(entry) = note.entry(key).filter(|_| !is_more)
        {
            return self.set(note, entry, link);
        }
        self.put(&from_note, key, &link);
        Some(())
    }

    fn path<'s>(&'s self, target: &'s Target<'t, 'n>) -> Option<&'s MemoryPath> {
        match target {
            Target::Shown(note) => Some(note.path),
            Target::New(at) => self.new_notes.get(*at).map(|new| &new.path),
            Target::Unseen(path) => Some(path),
        }
    }

    /// The note of a name: shown, made in this turn, or there and not shown. Where there is none it is made, with what it is to whom; `None`
    /// for a name that no note can have.
    fn target(&mut self, name: &str, relation: Option<&str>) -> Option<Target<'t, 'n>> {
        if let Some(note) = self.of.view.named(name) {
            return Some(Target::Shown(note));
        }
        let is_person = called(name) == PERSON;
        let path = if is_person { MemoryPath::parse(PERSON_NOTE).ok()? } else { self.path_of(name)? };
        if let Some(at) = self.new_notes.iter().position(|new| new.path == path) {
            return Some(Target::New(at));
        }
        if (self.of.exists)(&path) {
            return Some(Target::Unseen(path));
        }
        let at = self.new_notes.len();
        let link = linked(&path);
        let title = if is_person { PERSON_TITLE } else { name }.to_owned();
        let facts = relation.map(|relation| ("relation".to_owned(), relation.to_owned())).into_iter().collect();
        self.new_notes.push(NewNote { title, path, facts });
        // No note stands alone: one that nothing links to yet is linked from the person's note by its name.
        if !is_person && relation.is_none() {
            let person = self.target(PERSON, None)?;
            self.put(&person, name, &link);
        }
        Some(Target::New(at))
    }

    /// Where a note of this name is kept; `None` for what is no name of a note.
    fn path_of(&self, name: &str) -> Option<MemoryPath> {
        let folded = fold(name);
        let words: Vec<&str> =
            folded.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.is_empty() || name.split_whitespace().count() > MOST_NAME_WORDS {
            return None;
        }
        MemoryPath::parse(&format!("{}/{}.md", self.folder(), words.join("_"))).ok()
    }

    /// The folder of most notes that the person's own note links to.
    fn folder(&self) -> &str {
        let person = self.of.view.notes.iter().find(|note| note.path.as_str() == PERSON_NOTE);
        let entries = person.map(|person| person.entries.iter()).into_iter().flatten();
        let links = entries.flat_map(|entry| entry.value.split("[[").skip(1));
        let targets = links.filter_map(|link| link.split(['|', ']']).next()?.rsplit_once('/'));
        let folders: Vec<&str> = targets.map(|(folder, _)| folder).collect();
        let count = |folder: &&&str| folders.iter().filter(|other| other == folder).count();
        folders.iter().max_by_key(count).copied().unwrap_or(FOLDER)
    }

    /// A line, a row of a table, or a note that goes.
    fn drop(&mut self, address: &str) -> Done {
        let view = self.of.view;
        let entry = view.drops(address).or_else(|| view.entry(address)).map(|(note, entry)| (note, vec![entry]));
        if let Some((note, entries)) = entry.or_else(|| self.of.view.row(address)) {
            if !self.is_ambiguous(Some(note)) {
                entries.into_iter().try_for_each(|entry| self.edits.push(note, entry, None))?;
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
            let content = format!("# {}\n\n{facts}", note.title);
            json!({"action": "create_file", "path": note.path.as_str(), "content": content})
        });
        let changes = self.changes.iter().map(|change| match change {
            Change::Fact { path, key, value } => {
                json!({"action": "set_fact", "path": path.as_str(), "key": key, "value": value})
            }
            Change::Call(call) => call.clone(),
        });
        new.chain(self.edits.calls()).chain(changes).collect()
    }

    /// The turn as calls and a reply.
    fn finish(mut self, steps: &[&str], said: &str) -> Expanded {
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

    /// The name of a note and a key: a name that is known may have a full stop.
    fn split<'a>(&self, address: &'a str) -> Option<(&'a str, &'a str)> {
        let known = |note: &Shown<'_>| {
            let key = address.strip_prefix(note.name.as_str())?.strip_prefix('.')?;
            Some((address.get(..note.name.len())?, key))
        };
        let (name, key) = self.of.view.notes.iter().find_map(known).or_else(|| address.rsplit_once('.'))?;
        (!name.trim().is_empty() && !key.trim().is_empty()).then_some((name.trim(), key.trim()))
    }

    /// A value with its dates computed; what they were computed from stands behind it. `None` for a date that the person did not say.
    fn computed(&mut self, value: &str) -> Option<String> {
        let (turn, now) = (self.of.turn, self.of.now);
        let (mut computed, mut marks, mut rest) = (String::new(), String::new(), value);
        while let Some((before, (said, after))) =
            rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
        {
            computed.push_str(before);
            if let Some(date) = date::written(said, turn.message, now) {
                computed.push_str(&date);
                self.expanded.dates.push(date);
            } else if let Some(date) = date::resolve(said, now) {
                computed.push_str(&date);
                let mark = format!(" ({said}, from {})", date::resolve("today", now).unwrap_or_default());
                marks.push_str(&mark);
                self.expanded.dates.push(date + &mark);
            } else {
                // The person may have written braces themselves.
                let braced = format!("{{{said}}}");
                computed.push_str(turn.message.contains(&braced).then_some(&braced)?);
            }
            rest = after;
        }
        Some(computed + rest + &marks)
    }
}

/// What is asked about a step that the model was not sure of.
fn question(step: &str) -> String {
    match step.split_once(' ') {
        Some(("drop", address)) => format!("Shall I forget `{address}`?"),
        Some((_, change)) => format!("Shall I note `{change}`?"),
        None => String::new(),
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

fn linked(path: &MemoryPath) -> String {
    format!("[[{}]]", path.as_str().trim_end_matches(".md"))
}

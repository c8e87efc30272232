//! Small models: each sentence is sorted first; what is told is noted, a line for each thing, what is to be forgotten is taken out, and what is asked
//! is answered freely.
//!
//! Owns how such a model is asked, and what its turn means. The program checks shape and origin: a line that changes stands there, and a new one
//! is made of the person's words. No list of words reads a message.

use std::collections::BTreeSet;

use serde_json::json;

use super::prompt;
use super::session::{Exchange, Session};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_model::grammar::{self, Grammar};
use memdir_model::{Answer, Message, Request, Role, Shape};
use memdir_note::stem::Stem;
use memdir_note::words;

mod correct;
mod date;
mod drive;
mod edit;
mod line;
mod sort;
mod turn;
mod view;

use correct::Correction;
pub(super) use date::today;
pub use line::{Again, Renewal, again};
pub use sort::{Kind, Sorted};
pub use turn::Expanded;
use turn::Reply;
use view::View;

/// How many tokens the changes of a message may have, the lines that are written again, and an answer: more than people wait for.
const MAX_TOKENS: u32 = 500;
const MOST_AGAIN: u32 = 400;
const MOST_ANSWERED: u32 = 300;
/// How many exchanges are told again, and how many characters of each side.
const MOST_EXCHANGES: usize = 3;
const MOST_TOLD: usize = 300;
/// An older exchange is told again if it shares so many words with the message.
const LEAST_SHARED: usize = 3;

/// How likely a line is of which the engine does not tell, in thousandths.
const SURE: u16 = 1_000;

/// What begins the lines of a request.
const NOTES: &str = "Notes:\n";
const BEFORE: &str = "Before: ";
const MESSAGE: &str = "Message: ";

/// What a small model is asked about.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The prompts, with their examples.
    pub prompts: Texts<'a>,
    /// The notes that it sees.
    pub notes: &'a [(MemoryPath, String)],
    /// What the person says.
    pub message: &'a str,
    /// What its sentences are.
    pub sorted: &'a Sorted,
    /// What was said before.
    pub session: &'a Session,
    /// What filters ask for in words.
    pub rest: &'a [String],
    /// The calls of tools of other servers that were made for the message, each with what came of it.
    pub results: &'a [(String, String)],
    /// Whether its reply is the lines that it tells of, and no words of its own: it is too small to be believed, or a filter is on, and what
    /// is hidden must not be guessed.
    pub quotes: bool,
}

/// What a small model is told before a message, each with its examples.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// How things are noted.
    pub note: &'a str,
    /// How the lines of a note are written again.
    pub again: &'a str,
    /// How something is taken out.
    pub drop: &'a str,
    /// How it answers.
    pub answer: &'a str,
}

/// What a small model has written for a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wrote<'a> {
    /// What is noted, where something was told.
    pub noted: Option<&'a Answer>,
    /// The lines that were written otherwise because of it.
    pub renewed: &'a [Renewal],
    /// The days that sentences tell of, or lines that are put right.
    pub days: &'a [(String, Answer)],
    /// What was told wrongly before, where the message puts that right and it stands in notes, with the lines by number that came of it.
    pub corrected: Option<(&'a Correction, &'a [(MemoryPath, usize)])>,
    /// What goes, where something is to be forgotten.
    pub dropped: Option<&'a Answer>,
    /// What is answered, where something was asked or nothing was told.
    pub answer: Option<&'a Answer>,
}

/// How a small model is asked what of a message is to be noted.
#[must_use]
pub fn noted(turn: &Turn<'_>) -> Request {
    let (view, stated) = (View::of(turn.notes), turn.sorted.of(Kind::Tell));
    let grammar = grammar::noted(&view.names(), &stated);
    request(examples(turn.prompts.note), told_of(turn, &stated), Some(shape(grammar, &steps())), MAX_TOKENS)
}

/// How a small model is asked, after that, for the lines of a note again.
#[must_use]
pub fn rewritten(turn: &Turn<'_>, again: &Again) -> Request {
    let (system, messages) = examples(turn.prompts.again);
    let note = prompt::fenced(&format!("{NOTES}# {}\n{}\n", again.name, again.shown())).into_owned();
    let message = turn.sorted.of(Kind::Tell);
    let told = format!("{note}\n{MESSAGE}{}{}", prompt::fenced(&message), prompt::wishes(turn.rest));
    request((system, messages), told, Some(shape(grammar::rewritten(&again.beginnings()), &steps())), MOST_AGAIN)
}

/// How a small model is asked what goes.
#[must_use]
pub fn dropped(turn: &Turn<'_>) -> Request {
    let view = View::of(turn.notes);
    // Where a model may drop more it goes on with the lines that follow.
    let grammar = grammar::dropped(&view.all_that_may_go(), turn.sorted.removals());
    let told = told_of(turn, &turn.sorted.of(Kind::Remove));
    request(examples(turn.prompts.drop), told, Some(shape(grammar, &steps())), MAX_TOKENS)
}

/// How a small model is asked for its answer.
#[must_use]
pub fn answer(turn: &Turn<'_>) -> Request {
    request(examples(turn.prompts.answer), told_of(turn, turn.message), None, MOST_ANSWERED)
}

/// The lines of a turn, for servers that take no grammar.
fn steps() -> serde_json::Value {
    json!({"steps": {"type": "array", "items": {"type": "string"}}, "reply": {"type": "string"}})
}

/// A request that begins with what a prompt says and its examples.
fn request(
    (system, mut messages): (String, Vec<Message>),
    told: String,
    shape: Option<Shape>,
    max_tokens: u32,
) -> Request {
    let stable = messages.len();
    messages.push(said(Role::User, told));
    Request { system, messages, stable, shape, max_tokens, temperature: 0.0, stop: Vec::new() }
}

/// A grammar, and an object with these properties for servers that take no grammar.
fn shape(grammar: Grammar, properties: &serde_json::Value) -> Shape {
    let names: Vec<&String> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    Shape { grammar, schema }
}

/// The notes, what tools have said, what was said before, and the message.
pub(super) fn told_of(turn: &Turn<'_>, message: &str) -> String {
    let mut text = format!("{NOTES}{}", prompt::fenced(&View::of(turn.notes).shown()));
    for (call, said) in turn.results {
        // No line of a result looks like another part of this.
        let quoted = said.split(['\n', '\r']).map(|line| format!("\n> {line}")).collect::<String>();
        text.push_str(&prompt::fenced(&format!("\n{call}{quoted}")));
    }
    for exchange in before(turn.session, turn.message) {
        let reply = exchange.reply.as_deref().unwrap_or_default();
        text.push_str(&format!("\n{BEFORE}{}\nYou: {}", told(&exchange.message), told(reply)));
    }
    text.push_str(&format!("\n{MESSAGE}{}", prompt::fenced(message)));
    text.push_str(&prompt::wishes(turn.rest));
    text
}

/// Reads what the model wrote. `exists` says whether there is a note.
#[must_use]
pub fn expand(turn: &Turn<'_>, wrote: Wrote<'_>, now: Timestamp, exists: &dyn Fn(&MemoryPath) -> bool) -> Expanded {
    let view = View::of(turn.notes);
    let reading = |reply| turn::expand(&turn::Written { view: &view, turn, wrote, now, exists, reply });
    let expanded = reading(if turn.quotes { Reply::Quoted } else { Reply::Own });
    match leaked(turn, &expanded.text) {
        Some(word) => {
            tracing::warn!(word, "the reply tells of an example of the prompt");
            reading(Reply::Withheld)
        }
        None => expanded,
    }
}

/// Of these notes those that a message is about: a small model gets lost in more.
#[must_use]
pub fn about(notes: &[(MemoryPath, String)], message: &str) -> Vec<(MemoryPath, String)> {
    let near = View::of(notes).about(message).into_iter().cloned().collect::<BTreeSet<_>>();
    notes.iter().filter(|(path, _)| near.contains(path)).cloned().collect()
}

/// What was said before, as far as it is told again: the last exchanges, and before them the older one that shares most words with the
/// message.
fn before<'a>(session: &'a Session, message: &str) -> Vec<&'a Exchange> {
    let exchanges = &session.exchanges;
    let (older, last) = exchanges.split_at(exchanges.len().saturating_sub(MOST_EXCHANGES));
    let asked = stems(message);
    let shared = |exchange: &&Exchange| stems(&exchange.message).intersection(&asked).count();
    let nearest = older.iter().max_by_key(shared).filter(|exchange| shared(exchange) >= LEAST_SHARED);
    nearest.into_iter().chain(last).collect()
}

/// The words of what was said before, as far as it is told again.
fn said_before(session: &Session, message: &str) -> String {
    before(session, message).iter().map(|exchange| exchange.message.as_str()).collect::<Vec<_>>().join(" ")
}

/// The stems of the words of a text.
fn stems(text: &str) -> BTreeSet<Stem> {
    let mut stems = BTreeSet::new();
    words::each(text, &mut |word, _| stems.extend(Stem::forms(word)));
    stems
}

/// The message that was answered with a question.
fn questioned(session: &Session) -> Option<&Exchange> {
    let asks = |exchange: &&Exchange| exchange.reply.as_ref().is_some_and(|reply| reply.contains(['?', '？', '؟']));
    session.exchanges.last().filter(asks)
}

/// A word of an example's notes that a turn says and nobody has said: the names and values of examples are made up, so that no
/// memory has them.
fn leaked(turn: &Turn<'_>, text: &str) -> Option<String> {
    let Texts { note, again, drop, answer } = turn.prompts;
    let examples = made_up(&[note, again, drop, answer]);
    let mut known = BTreeSet::new();
    words_of(turn.message, &mut known);
    turn.notes.iter().for_each(|(path, text)| words_of(&format!("{path} {text}"), &mut known));
    turn.session.exchanges.iter().for_each(|exchange| words_of(&exchange.message, &mut known));
    turn.results.iter().for_each(|(_, said)| words_of(said, &mut known));
    let mut written = BTreeSet::new();
    words_of(text, &mut written);
    written.into_iter().find(|word| examples.contains(word) && !known.contains(word))
}

/// The words of the names and values in the notes of examples.
fn made_up(prompts: &[&str]) -> BTreeSet<String> {
    let messages: Vec<Message> = prompts.iter().flat_map(|prompt| examples(prompt).1).collect();
    let notes =
        messages.iter().filter_map(|message| message.text.strip_prefix(NOTES)?.split_once(&format!("\n{MESSAGE}")));
    let mut examples = BTreeSet::new();
    for line in notes.flat_map(|(notes, _)| notes.lines()) {
        let value =
            line.strip_prefix("# ").or_else(|| line.split_once(": ").map(|(_, value)| value)).unwrap_or_default();
        words_of(value, &mut examples);
    }
    examples
}

/// The words of a text that are no numbers.
fn words_of(text: &str, found: &mut BTreeSet<String>) {
    words::each(text, &mut |word, _| {
        if !word.chars().all(char::is_numeric) {
            found.insert(word.to_owned());
        }
    });
}

/// What was said before, on one line, by its beginning.
fn told(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    prompt::fenced(line.get(..line.floor_char_boundary(MOST_TOLD)).unwrap_or_default()).into_owned()
}

fn said(role: Role, text: String) -> Message {
    Message { role, text }
}

/// The prompt, and the messages of its examples.
fn examples(prompt: &str) -> (String, Vec<Message>) {
    let mut blocks = prompt.split("<!-- notes -->");
    let system = blocks.next().unwrap_or_default().trim().to_owned();
    let mut messages = Vec::new();
    for block in blocks {
        let mut parts = block.split("<!-- user -->");
        let mut head = format!("{NOTES}{}\n", parts.next().unwrap_or_default().trim());
        for part in parts {
            let Some((user, assistant)) = part.split_once("<!-- assistant -->") else { continue };
            let user = user.trim();
            // An example may tell what was said before, and one may follow another.
            let text = format!("{head}\n{}{user}", if user.starts_with(BEFORE) { "" } else { MESSAGE });
            messages.push(said(Role::User, text));
            messages.push(said(Role::Assistant, assistant.trim().to_owned()));
            head.clear();
        }
    }
    (system, messages)
}

#[cfg(test)]
mod tests;

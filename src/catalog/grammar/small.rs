//! The grammar of a small model's turn: one thought that says what the turn is, and what follows from it.
//!
//! What may be quoted, changed, forgotten or added to is given; so is the message, of whose words every new value is made.

use super::lines::{json, key_words};
use super::turns::{reply, value};
use super::{Class, Grammar, Part, Rule, named, text, times, token, tree};
use crate::path::MemoryPath;

/// How many words of a message values are made of; in a longer one, and in one without blanks, they are free.
const MOST_WORDS: usize = 120;
/// How many characters a free value has at most.
const MOST_VALUE: usize = 200;

/// What a turn may be.
#[derive(Clone, Debug, Default)]
pub struct Offer<'a> {
    /// Lines that may be quoted for an answer, each with its note. Those with a link may lead to another.
    pub quotes: Vec<(&'a MemoryPath, &'a str)>,
    /// Whether two lines without links may be quoted.
    pub two: bool,
    /// Whether a line with a link has to lead to one without.
    pub to_the_fact: bool,
    /// It may say that something is not in the notes.
    pub unknown: bool,
    /// It says so in English, and asks nothing back.
    pub surely: bool,
    /// It may ask; with these words where they are given.
    pub ask: Option<Ask>,
    /// It may just talk.
    pub talk: bool,
    /// Lines that may be replaced, each with its note and what stays of it at its start.
    pub changes: Vec<(&'a MemoryPath, &'a str, &'a str)>,
    /// Lines that may be deleted.
    pub deletions: Vec<(&'a MemoryPath, &'a str)>,
    /// Notes to which a line may be added.
    pub homes: Vec<&'a MemoryPath>,
    /// The message of the person.
    pub message: &'a str,
}

/// What a turn may ask.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Whatever is not clear.
    Anything,
    /// Which of these is meant.
    Between(String),
}

/// The grammar of one turn under an offer. Without any offer the turn can only ask.
///
/// # Examples
///
/// ```
/// use memdir::catalog::grammar::{Offer, small};
/// use memdir::path::MemoryPath;
///
/// let user = MemoryPath::parse("user.md")?;
/// let changes = vec![(&user, "- city: London", "- city: ")];
/// let grammar = small(&Offer { changes, message: "I moved to Paris.", ..Offer::default() }).gbnf();
/// assert!(grammar.contains(r#""{\"action\":\"replace_text\",\"old\":\"- city: London\",\"new\":\"- city: " value"#));
/// assert!(grammar.contains(r#""Paris""#), "values are words of the message");
/// # Ok::<(), memdir::path::PathError>(())
/// ```
#[must_use]
pub fn small(offer: &Offer<'_>) -> Grammar {
    let mut kinds = Vec::new();
    let mut rules = Vec::new();
    answers(offer, &mut kinds, &mut rules);
    writes(offer, &mut kinds, &mut rules);
    let ask = offer.ask.clone().or_else(|| kinds.is_empty().then_some(Ask::Anything));
    if let Some(ask) = ask {
        let what = match ask {
            Ask::Anything => {
                times(Part::One(Class::Not(vec![('\0', '\u{1f}'), ('<', '<'), ('\u{7f}', '\u{7f}')])), 1, 80)
            }
            Ask::Between(words) => text(&plain(&words)),
        };
        let question = Part::One(Class::Not(vec![('\0', '\u{1f}'), ('<', '<'), ('?', '?'), ('\u{7f}', '\u{7f}')]));
        kinds.push(Part::All(vec![
            text("unclear: "),
            what,
            text("</think><reply>"),
            times(question, 1, 200),
            text("?</reply>"),
        ]));
    }
    let root = Part::All(vec![text("<think>"), Part::Any(kinds)]);
    rules.insert(0, tree("root", root));
    if offer.talk || offer.unknown && !offer.surely || !offer.quotes.is_empty() {
        rules.extend(reply());
    }
    let words = vec![
        "One turn of a small model, made from the notes and the message. Do not run one that was cut off.".to_owned(),
    ];
    Grammar { words, rules }
}

/// The kinds of turns that answer.
fn answers(offer: &Offer<'_>, kinds: &mut Vec<Part>, rules: &mut Vec<Rule>) {
    let is_link = |(_, line): &&(&MemoryPath, &str)| line.contains("[[") || line.contains("](");
    let quoted = |(path, line): &(&MemoryPath, &str)| text(&format!("{} ({})", plain(line), plain(path.as_str())));
    let links: Vec<Part> = offer.quotes.iter().filter(is_link).map(quoted).collect();
    let facts: Vec<Part> = offer.quotes.iter().filter(|quote| !is_link(quote)).map(quoted).collect();
    let (has_links, has_facts) = (!links.is_empty(), !facts.is_empty());
    let mut trails = Vec::new();
    if has_facts {
        rules.push(tree("fact", Part::Any(facts)));
        trails.push(vec!["fact"]);
        if offer.two {
            trails.push(vec!["fact", "fact"]);
        }
    }
    if has_links {
        rules.push(tree("link", Part::Any(links)));
        if !(offer.to_the_fact && has_facts) {
            trails.push(vec!["link"]);
        }
    }
    if has_links && has_facts {
        trails.extend([vec!["link", "fact"], vec!["link", "link", "fact"]]);
    }
    let trail = |names: Vec<&str>| {
        let parts = names.into_iter().enumerate();
        Part::All(parts.flat_map(|(at, name)| (at > 0).then(|| text(" ; ")).into_iter().chain([named(name)])).collect())
    };
    let mut grounds: Vec<Part> = trails.into_iter().map(trail).collect();
    if offer.unknown && offer.surely {
        let more =
            times(Part::One(Class::Not(vec![('\0', '\u{1f}'), ('<', '<'), ('?', '?'), ('\u{7f}', '\u{7f}')])), 0, 120);
        kinds.push(Part::All(vec![
            text("question: not in the notes</think><reply>I don't know"),
            more,
            text("</reply>"),
        ]));
    } else if offer.unknown {
        grounds.push(text("not in the notes"));
    }
    if !grounds.is_empty() {
        kinds.push(Part::All(vec![text("question: "), Part::Any(grounds), text("</think>"), named("reply")]));
    }
    if offer.talk {
        kinds.push(Part::All(vec![text("talk</think>"), named("reply")]));
    }
}

/// The kinds of turns that write.
fn writes(offer: &Offer<'_>, kinds: &mut Vec<Part>, rules: &mut Vec<Rule>) {
    let mut kind = |words: &str, rule: &str| {
        kinds.push(Part::All(vec![text(words), text("</think><actions>["), named(rule), text("]</actions>")]));
    };
    if !offer.changes.is_empty() {
        kind("change", "change");
        let change = |(path, line, kept): &(&MemoryPath, &str, &str)| {
            let start = format!("{{\"action\":\"replace_text\",\"old\":\"{}\",\"new\":\"{}", json(line), json(kept));
            let value = if line.contains("[[") {
                Part::Any(vec![named("value"), Part::All(vec![text("[["), named("value"), text("]]")])])
            } else {
                named("value")
            };
            Part::All(vec![text(&start), value, text(&format!("\",\"path\":\"{}\"}}", json(path.as_str())))])
        };
        rules.push(tree("change", Part::Any(offer.changes.iter().map(change).collect())));
    }
    if !offer.deletions.is_empty() {
        kind("forget", "forget");
        let delete = |(path, line): &(&MemoryPath, &str)| {
            let (line, path) = (json(line), json(path.as_str()));
            text(&format!("{{\"action\":\"delete_line\",\"line\":\"{line}\",\"path\":\"{path}\"}}"))
        };
        rules.push(tree("forget", Part::Any(offer.deletions.iter().map(delete).collect())));
    }
    if !offer.homes.is_empty() {
        kind("new", "new");
        let homes = offer.homes.iter().map(|path| text(&json(path.as_str())));
        let parts = vec![
            text("{\"action\":\"append_line\",\"line\":\"- "),
            named("key"),
            text(": "),
            named("value"),
            text("\",\"path\":\""),
            named("home"),
            text("\"}"),
        ];
        rules.extend([
            tree("new", Part::All(parts)),
            tree("home", Part::Any(homes.collect())),
            token("key", key_words()),
        ]);
    }
    if !(offer.changes.is_empty() && offer.homes.is_empty()) {
        rules.extend(values(offer.message));
    }
}

/// Rules for a value: some words of the message that follow each other, as they stand there.
fn values(message: &str) -> Vec<Rule> {
    let words: Vec<&str> = message.split_whitespace().filter(|word| !word.chars().any(char::is_control)).collect();
    let core = |word: &str| {
        word.trim_matches(|character: char| {
            matches!(character, '.' | ',' | ';' | ':' | '!' | '?' | '"' | '“' | '”' | '„' | '(' | ')')
        })
        .to_owned()
    };
    if words.len() < 2 || words.len() > MOST_WORDS {
        return vec![token("value", value(MOST_VALUE))];
    }
    let mut rules = Vec::new();
    let mut starts = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let core = core(word);
        let (whole, kept) =
            if core.is_empty() { ((*word).to_owned(), (*word).to_owned()) } else { (core.clone(), core.clone()) };
        let after = word.find(kept.as_str()).and_then(|start| word.get(start + kept.len()..)).unwrap_or_default();
        let mut parts = vec![text(&json(&whole))];
        if at + 1 < words.len() {
            let next = Part::All(vec![text(&format!("{} ", json(after))), named(&numbered(at + 1))]);
            parts.push(times(next, 0, 1));
        }
        if core.chars().any(char::is_alphanumeric) {
            starts.push(named(&numbered(at)));
        }
        rules.push(tree(&numbered(at), Part::All(parts)));
    }
    if starts.is_empty() {
        return vec![token("value", value(MOST_VALUE))];
    }
    rules.insert(0, tree("value", Part::Any(starts)));
    rules
}

/// The name of a rule for the word of this number: letters alone.
fn numbered(number: usize) -> String {
    let digits = number.to_string();
    let letters = digits.bytes().map(|digit| char::from(b'a' + (digit - b'0')));
    format!("word-{}", letters.collect::<String>())
}

/// A text without what a grammar's text cannot hold, and without what would end a thought.
fn plain(line: &str) -> String {
    line.chars().filter(|character| !character.is_control() && *character != '<').collect()
}

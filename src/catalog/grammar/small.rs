//! The grammar of a small model's turn: one thought that says what the turn is, and what follows from it.
//!
//! What may be quoted, changed, forgotten or added to is given; so is the message, of whose words every new value is made.

use super::lines::json;
use super::turns::{reply, value};
use super::{Class, Grammar, Part, Rule, named, text, times, token, tree};
use crate::path::MemoryPath;

/// How many words of a message values are made of; in a longer one, and in one without blanks, they are free.
const MOST_WORDS: usize = 120;
/// How many characters a free value has at most.
const MOST_VALUE: usize = 200;

/// How many words a key has at most, and how many characters each.
const MOST_KEY_WORDS: usize = 3;
const MOST_KEY_WORD: usize = 16;
/// Characters that nothing is made of.
const CONTROLS: &[(char, char)] = &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')];
/// How many characters are said before a value, and after it.
const MOST_BEFORE: usize = 40;
const MOST_AFTER: usize = 30;

/// What a turn may be.
#[derive(Clone, Debug, Default)]
pub struct Offer<'a> {
    /// Lines with the links that lead to what is asked; a quote begins with them.
    pub trail: Vec<(&'a MemoryPath, &'a str)>,
    /// The last of them, where it may be what is asked itself.
    pub alone: Option<Quote<'a>>,
    /// Lines that may be quoted for an answer. Those with a link may lead to another.
    pub quotes: Vec<Quote<'a>>,
    /// Whether two lines without links may be quoted.
    pub two: bool,
    /// Whether a line with a link has to lead to one without.
    pub to_the_fact: bool,
    /// It may say that something is not in the notes.
    pub unknown: bool,
    /// It says so in words that are given.
    pub surely: bool,
    /// It may ask; with these words where they are given.
    pub ask: Option<Ask>,
    /// It may just talk.
    pub talk: bool,
    /// Values that may be replaced.
    pub changes: Vec<Change<'a>>,
    /// Lines that may be deleted, each with its note.
    pub deletions: Vec<(&'a MemoryPath, &'a str)>,
    /// A note that may be deleted.
    pub gone: Option<&'a MemoryPath>,
    /// Notes to which a line may be added.
    pub homes: Vec<&'a MemoryPath>,
    /// The message of the person.
    pub message: &'a str,
}

/// A line that may be quoted.
#[derive(Clone, Debug)]
pub struct Quote<'a> {
    /// Where it stands.
    pub path: &'a MemoryPath,
    /// The line.
    pub line: &'a str,
    /// What a reply from it says.
    pub says: Says,
}

/// What a reply from a line says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Says {
    /// What the model likes.
    #[default]
    Anything,
    /// These words, among a few others without numbers.
    Holding(String),
    /// These words.
    Just(String),
}

/// A value that may be replaced.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// Where it stands.
    pub path: &'a MemoryPath,
    /// The whole line.
    pub line: &'a str,
    /// What stays before it.
    pub before: &'a str,
    /// What stays after it.
    pub after: &'a str,
    /// What it may become; any words of the message where nothing is given.
    pub values: Vec<String>,
    /// Whether it has to begin with a number.
    pub number: bool,
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
/// use memdir::catalog::grammar::{Change, Offer, small};
/// use memdir::path::MemoryPath;
///
/// let user = MemoryPath::parse("user.md")?;
/// let (line, before) = ("- city: London", "- city: ");
/// let changes = vec![Change { path: &user, line, before, after: "", values: Vec::new(), number: false }];
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
            Ask::Anything => times(Part::One(Class::Not([&[('<', '<')], CONTROLS].concat())), 1, 80),
            Ask::Between(words) => text(&plain(&words)),
        };
        let question = Part::One(Class::Not([&[('<', '<'), ('?', '?')], CONTROLS].concat()));
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
    rules.extend(reply());
    let words = vec![
        "One turn of a small model, made from the notes and the message. Do not run one that was cut off.".to_owned(),
    ];
    Grammar::of(words, rules)
}

/// The kinds of turns that answer.
fn answers(offer: &Offer<'_>, kinds: &mut Vec<Part>, rules: &mut Vec<Rule>) {
    if offer.unknown && offer.surely {
        kinds.push(Part::All(vec![
            text("question: not in the notes</think><reply>"),
            Part::Any(UNKNOWN.iter().map(|words| text(words)).collect()),
            text("</reply>"),
        ]));
    }
    let grounds = grounds(offer, rules);
    if !grounds.is_empty() {
        kinds.push(Part::All(vec![text("question: "), Part::Any(grounds)]));
    }
    if offer.talk {
        kinds.push(Part::All(vec![text("talk</think>"), named("reply")]));
    }
}

/// The lines that an answer goes by, with the answer.
fn grounds(offer: &Offer<'_>, rules: &mut Vec<Rule>) -> Vec<Part> {
    let is_link = |quote: &&Quote<'_>| quote.line.contains("[[") || quote.line.contains("](");
    let (links, facts): (Vec<&Quote<'_>>, Vec<&Quote<'_>>) = offer.quotes.iter().partition(is_link);
    let (has_links, has_facts) = (!links.is_empty(), !facts.is_empty());
    let mut rule = |name: &str, quotes: &[&Quote<'_>], print: fn(&Quote<'_>) -> Part| {
        if !quotes.is_empty() {
            rules.push(tree(name, Part::Any(quotes.iter().map(|quote| print(quote)).collect())));
        }
    };
    let (two, to_fact) = (offer.two && has_facts, offer.to_the_fact && has_facts);
    rule("fact-end", &facts, ended);
    rule("link-end", if to_fact { &[] } else { &links }, ended);
    let is_led = !offer.trail.is_empty();
    rule("link", if has_facts && !is_led { &links } else { &[] }, quoted);
    rule("fact", if two { &facts } else { &[] }, quoted);
    let mut trails = Vec::new();
    if has_facts {
        trails.push(vec!["fact-end"]);
    }
    if two {
        trails.push(vec!["fact", "fact-end"]);
    }
    if has_links && !to_fact {
        trails.push(vec!["link-end"]);
    }
    if has_links && has_facts && !is_led {
        trails.extend([vec!["link", "fact-end"], vec!["link", "link", "fact-end"]]);
    }
    let led: String =
        offer.trail.iter().map(|(path, line)| format!("{} ({}) ; ", plain(line), plain(path.as_str()))).collect();
    let trail = |names: Vec<&str>| {
        let parts = names.into_iter().enumerate();
        let parts = parts.flat_map(|(at, name)| (at > 0).then(|| text(" ; ")).into_iter().chain([named(name)]));
        Part::All((!led.is_empty()).then(|| text(&led)).into_iter().chain(parts).collect())
    };
    let mut grounds: Vec<Part> = trails.into_iter().map(trail).collect();
    if let Some(alone) = &offer.alone {
        let before = offer.trail.len().saturating_sub(1);
        let led: String = offer
            .trail
            .iter()
            .take(before)
            .map(|(path, line)| format!("{} ({}) ; ", plain(line), plain(path.as_str())))
            .collect();
        grounds.push(Part::All((!led.is_empty()).then(|| text(&led)).into_iter().chain([ended(alone)]).collect()));
    }
    if offer.unknown && !offer.surely {
        grounds.push(Part::All(vec![text("not in the notes</think>"), named("reply")]));
    }
    grounds
}

/// A line as it is quoted.
fn quoted(quote: &Quote<'_>) -> Part {
    text(&format!("{} ({})", plain(quote.line), plain(quote.path.as_str())))
}

/// The last line that is quoted, and the reply.
fn ended(quote: &Quote<'_>) -> Part {
    let free =
        || Part::One(Class::Not([&[('<', '<'), ('?', '?'), ('.', '.'), (',', ','), ('0', '9')], CONTROLS].concat()));
    let mut parts = vec![quoted(quote), text("</think>")];
    match &quote.says {
        Says::Anything => parts.push(named("reply")),
        Says::Just(words) => parts.push(text(&format!("<reply>{}</reply>", plain(words)))),
        Says::Holding(words) => {
            let before = Part::All(vec![times(free(), 1, MOST_BEFORE), text(" ")]);
            let after = [times(free(), 0, MOST_AFTER), times(text("."), 0, 1), text("</reply>")];
            parts.extend([text("<reply>"), times(before, 0, 1), text(&plain(words))]);
            parts.extend(after);
        }
    }
    Part::All(parts)
}

/// The kinds of turns that write.
fn writes(offer: &Offer<'_>, kinds: &mut Vec<Part>, rules: &mut Vec<Rule>) {
    let mut kind = |words: &str, rule: &str| {
        kinds.push(Part::All(vec![text(words), text("</think><actions>["), named(rule), text("]</actions>")]));
    };
    let values = values(offer.message);
    if !offer.changes.is_empty() {
        kind("change", "change");
        let has_numbers = values.iter().any(|rule| rule.name == "number");
        rules.push(tree("change", Part::Any(offer.changes.iter().map(|one| change(one, has_numbers)).collect())));
    }
    let mut deletions: Vec<Part> = Vec::new();
    deletions.extend(
        offer
            .gone
            .iter()
            .map(|path| text(&format!("{{\"action\":\"delete_file\",\"path\":\"{}\"}}", json(path.as_str())))),
    );
    deletions.extend(offer.deletions.iter().map(|(path, line)| {
        let (line, path) = (json(line), json(path.as_str()));
        text(&format!("{{\"action\":\"delete_line\",\"line\":\"{line}\",\"path\":\"{path}\"}}"))
    }));
    if !deletions.is_empty() {
        kind("forget", "forget");
        rules.push(tree("forget", Part::Any(deletions)));
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
        rules.extend([tree("new", Part::All(parts)), tree("home", Part::Any(homes.collect())), token("key", key())]);
    }
    rules.extend(values);
}

/// A line with another value.
fn change(change: &Change<'_>, has_numbers: bool) -> Part {
    let Change { path, line, before, after, .. } = change;
    let start = format!("{{\"action\":\"replace_text\",\"old\":\"{}\",\"new\":\"{}", json(line), json(before));
    let value = if !change.values.is_empty() {
        Part::Any(change.values.iter().map(|value| text(&json(value))).collect())
    } else if change.number && has_numbers {
        named("number")
    } else if line.contains("[[") {
        Part::Any(vec![named("value"), Part::All(vec![text("[["), named("value"), text("]]")])])
    } else {
        named("value")
    };
    let end = format!("{}\",\"path\":\"{}\"}}", json(after), json(path.as_str()));
    Part::All(vec![text(&start), value, text(&end)])
}

/// A key: some short words without numbers.
fn key() -> Part {
    let mark = [('!', '@'), ('[', '`'), ('{', '~'), (' ', ' '), ('\u{80}', '\u{bf}')];
    let word = || times(Part::One(Class::Not([&mark[..], CONTROLS].concat())), 1, MOST_KEY_WORD);
    let more = Part::All(vec![text(" "), word()]);
    Part::All(vec![word(), times(more, 0, MOST_KEY_WORDS - 1)])
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
    let (mut starts, mut numbers) = (Vec::new(), Vec::new());
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
        if core.starts_with(|first: char| first.is_ascii_digit()) {
            numbers.push(named(&numbered(at)));
        }
        rules.push(tree(&numbered(at), Part::All(parts)));
    }
    if starts.is_empty() {
        return vec![token("value", value(MOST_VALUE))];
    }
    rules.insert(0, tree("value", Part::Any(starts)));
    if !numbers.is_empty() {
        rules.push(tree("number", Part::Any(numbers)));
    }
    rules
}

/// The name of a rule for the word of this number: letters alone.
fn numbered(number: usize) -> String {
    let digits = number.to_string();
    let letters = digits.bytes().map(|digit| char::from(b'a' + (digit - b'0')));
    format!("word-{}", letters.collect::<String>())
}

/// What a tiny model says where it does not know, by language.
const UNKNOWN: [&str; 8] = [
    "I don't know: that is not in your notes.",
    "Das weiß ich nicht: es steht nicht in deinen Notizen.",
    "Je ne sais pas : ce n'est pas dans tes notes.",
    "No lo sé: no está en tus notas.",
    "Non lo so: non è nelle tue note.",
    "Não sei: não está nas tuas notas.",
    "Dat weet ik niet: het staat niet in je notities.",
    "Bilmiyorum: notlarında yok.",
];

/// A text without what a grammar's text cannot hold, and without what would end a thought.
fn plain(line: &str) -> String {
    line.chars().filter(|character| !character.is_control() && *character != '<').collect()
}

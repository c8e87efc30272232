//! Grammars for models whose output is constrained while they write it.
//!
//! Owns a small type for grammars, what it prints as ([`Grammar::gbnf`], [`Grammar::lark`]), and the grammars there
//! are: [`turns`] for the native dialect, [`lines()`] for the small one, and one for each stage of a model that works in
//! stages, which can call tools of other servers ([`Callable`]). A grammar makes a turn well-formed, not right: paths,
//! permission and what a note holds are checked as ever. It can do so only if the turn is written to its end, so every text
//! and list in it is bounded; a turn that was cut off is not run.

use std::collections::BTreeSet;
use std::fmt::Write;

mod filter;
mod lines;
mod small;
mod stages;
mod tools;
mod turns;

pub use filter::filter_rules;
pub use lines::{GrammarError, MAX_BYTES, MAX_LINES, lines};
pub use small::{WEEKDAYS, corrected, day, dropped, noted, one_of, rewritten, words};
pub use stages::{decision, perception, response};
pub use tools::{Callable, object_schema};
pub use turns::{MAX_CALLS, MAX_FULL_TEXT, MAX_LIST, MAX_REPLY, MAX_SEGMENT, MAX_SEGMENTS, MAX_TEXT, turns};

/// A grammar: rules by name, the first of which a whole turn has to follow. No rule leads back to itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grammar {
    /// What the grammar says, as lines of comment.
    words: Vec<String>,
    rules: Vec<Rule>,
}

/// One rule.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Rule {
    /// Its name: lower-case letters and `-`.
    name: String,
    kind: Kind,
    body: Part,
}

/// What a rule is about; readers with a lexer have to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// The order of what other rules say.
    Tree,
    /// Characters.
    Token,
}

/// What a rule is made of.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    /// These characters, none of which is a control character but the end of a line.
    Text(String),
    /// One character of a class.
    One(Class),
    /// What the rule of that name has.
    Rule(String),
    /// One after the other.
    All(Vec<Part>),
    /// One of them.
    Any(Vec<Part>),
    /// It, at least and at most so often.
    Times(Box<Part>, usize, usize),
}

/// A class of characters.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Class {
    /// These, as ranges with both ends.
    Of(Vec<(char, char)>),
    /// All but these.
    Not(Vec<(char, char)>),
}

impl Grammar {
    /// A grammar of the rules that the first one leads to.
    fn of(words: Vec<String>, rules: Vec<Rule>) -> Self {
        let mut used = BTreeSet::new();
        let mut next: Vec<&Rule> = rules.first().into_iter().collect();
        while let Some(rule) = next.pop() {
            if used.insert(rule.name.clone()) {
                let mut names = Vec::new();
                rule.body.names(&mut names);
                next.extend(rules.iter().filter(|rule| names.contains(&rule.name.as_str())));
            }
        }
        Self { words, rules: rules.into_iter().filter(|rule| used.contains(&rule.name)).collect() }
    }

    /// Prints it in the notation of llama.cpp.
    #[must_use]
    pub fn gbnf(&self) -> String {
        self.print(&Gbnf)
    }

    /// Prints it in the notation of llguidance, a kind of Lark.
    #[must_use]
    pub fn lark(&self) -> String {
        self.print(&Lark)
    }

    fn print(&self, notation: &impl Notation) -> String {
        let mut out = String::new();
        for line in &self.words {
            let _ = writeln!(out, "# {line}");
        }
        for (at, rule) in self.rules.iter().enumerate() {
            out.push_str(&if at == 0 { notation.root().to_owned() } else { self.name(notation, &rule.name) });
            out.push_str(notation.means());
            self.part(notation, &rule.body, true, &mut out);
            out.push('\n');
        }
        out
    }

    fn name(&self, notation: &impl Notation, name: &str) -> String {
        let kind = self.rules.iter().find(|rule| rule.name == name).map_or(Kind::Tree, |rule| rule.kind);
        notation.name(name, kind)
    }

    /// Prints a part. Nothing is nested deeper than the code that builds it.
    fn part(&self, notation: &impl Notation, part: &Part, is_whole: bool, out: &mut String) {
        match part {
            Part::Text(text) => notation.text(text, out),
            Part::One(class) => notation.class(class, out),
            Part::Rule(name) => out.push_str(&self.name(notation, name)),
            Part::All(parts) => self.join(notation, parts, " ", is_whole, out),
            Part::Any(parts) => self.join(notation, parts, " | ", is_whole, out),
            Part::Times(part, least, most) => {
                let is_one = matches!(**part, Part::One(_) | Part::Rule(_));
                out.push_str(if is_one { "" } else { "(" });
                self.part(notation, part, true, out);
                out.push_str(if is_one { "" } else { ")" });
                if (*least, *most) == (0, 1) {
                    out.push('?');
                } else {
                    let _ = write!(out, "{{{least},{most}}}");
                }
            }
        }
    }

    fn join(&self, notation: &impl Notation, parts: &[Part], between: &str, is_whole: bool, out: &mut String) {
        out.push_str(if is_whole { "" } else { "(" });
        for (at, part) in parts.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { between });
            self.part(notation, part, parts.len() == 1 && is_whole, out);
        }
        out.push_str(if is_whole { "" } else { ")" });
    }
}

impl Part {
    /// The names of the rules in it.
    fn names<'p>(&'p self, names: &mut Vec<&'p str>) {
        match self {
            Self::Text(_) | Self::One(_) => {}
            Self::Rule(name) => names.push(name),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.names(names)),
            Self::Times(part, ..) => part.names(names),
        }
    }
}

/// What differs between notations.
trait Notation {
    fn root(&self) -> &'static str;
    fn means(&self) -> &'static str;
    fn name(&self, name: &str, kind: Kind) -> String;
    fn text(&self, text: &str, out: &mut String);
    fn class(&self, class: &Class, out: &mut String);
}

struct Gbnf;

impl Notation for Gbnf {
    fn root(&self) -> &'static str {
        "root"
    }

    fn means(&self) -> &'static str {
        " ::= "
    }

    fn name(&self, name: &str, _: Kind) -> String {
        name.to_owned()
    }

    fn text(&self, text: &str, out: &mut String) {
        quote(text, out);
    }

    fn class(&self, class: &Class, out: &mut String) {
        print_class(class, out, |character, out| {
            let code = u32::from(character);
            let _ = match code {
                0..0x100 => write!(out, "\\x{code:02x}"),
                0x100..0x10000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        });
    }
}

struct Lark;

impl Notation for Lark {
    fn root(&self) -> &'static str {
        "start"
    }

    fn means(&self) -> &'static str {
        ": "
    }

    fn name(&self, name: &str, kind: Kind) -> String {
        let name = name.replace('-', "_");
        if kind == Kind::Token { name.to_uppercase() } else { name }
    }

    fn text(&self, text: &str, out: &mut String) {
        quote(text, out);
    }

    fn class(&self, class: &Class, out: &mut String) {
        out.push('/');
        print_class(class, out, |character, out| {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
        });
        out.push('/');
    }
}

/// Quotes a text as both notations do.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        if character == '\n' {
            out.push_str("\\n");
        } else {
            out.push(character);
        }
    }
    out.push('"');
}

/// Prints a class in brackets, with all but letters and digits of ASCII as `code` prints them.
fn print_class(class: &Class, out: &mut String, code: impl Fn(char, &mut String)) {
    let (start, ranges) = match class {
        Class::Of(ranges) => ("[", ranges),
        Class::Not(ranges) => ("[^", ranges),
    };
    out.push_str(start);
    for (first, last) in ranges {
        for (at, character) in [first, last].into_iter().enumerate() {
            if at == 1 && first == last {
                continue;
            }
            out.push_str(if at == 1 { "-" } else { "" });
            if character.is_ascii_alphanumeric() { out.push(*character) } else { code(*character, out) }
        }
    }
    out.push(']');
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn named(name: &str) -> Part {
    Part::Rule(name.to_owned())
}

fn times(part: Part, least: usize, most: usize) -> Part {
    Part::Times(Box::new(part), least, most)
}

fn tree(name: &str, body: Part) -> Rule {
    Rule { name: name.to_owned(), kind: Kind::Tree, body }
}

fn token(name: &str, body: Part) -> Rule {
    Rule { name: name.to_owned(), kind: Kind::Token, body }
}

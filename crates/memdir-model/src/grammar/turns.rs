//! The grammar of the native dialect, made from the catalog.

use super::{Class, Grammar, Part, Rule, named, text, times, token, tree};
use memdir_core::action::Access;
use memdir_core::catalog::{ACTION, Field, PERMISSION, Row, Takes};

/// How many calls a turn has at most.
pub const MAX_CALLS: usize = 8;
/// How many characters a text has at most. llama.cpp takes 2,000 and more of anything for no bound at all.
pub const MAX_TEXT: usize = 1_500;
/// How many characters a text has at most that says where or what to look for.
pub const MAX_FULL_TEXT: usize = 300;
/// How many characters a reply has at most.
pub const MAX_REPLY: usize = 1_500;
/// How many texts a list has at most.
pub const MAX_LIST: usize = 8;
/// How many components a path has at most.
pub const MAX_SEGMENTS: usize = 4;
/// How many characters a component of a path has at most, not counting blanks and dots between two others.
pub const MAX_SEGMENT: usize = 48;

/// Control characters.
const CONTROLS: &[(char, char)] = &[('\0', '\u{1f}'), ('\u{7f}', '\u{9f}')];
/// White space, but for control characters.
const BLANKS: &[(char, char)] = &[
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];
/// What a name in a path cannot hold, or not everywhere: dots and blanks, what means something to a path or to some
/// system, and what cannot be seen; see [`memdir_core::path::MemoryPath`].
const NOT_IN_NAMES: &[(char, char)] = &[
    ('.', '.'),
    ('/', '/'),
    (':', ':'),
    ('\\', '\\'),
    ('<', '<'),
    ('>', '>'),
    ('"', '"'),
    ('|', '|'),
    ('?', '?'),
    ('*', '*'),
    ('~', '~'),
    ('\u{ad}', '\u{ad}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{2069}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff9}', '\u{fffd}'),
    ('\u{e0000}', '\u{e007f}'),
];

/// The grammar of turns in the native dialect: `<actions>` with a list of calls of these actions, or a `<reply>`.
///
/// Whatever follows it is read without a repair, each call as a call; but for the examples of the catalog, which are
/// refused word for word. Keys come in the order of the row. An argument that may be left out is left out, never `null`.
///
/// # Examples
///
/// ```
/// use memdir_core::catalog::ROWS;
/// use memdir_model::grammar::turns;
///
/// let grammar = turns(ROWS.iter().filter(|row| row.name == "delete_file")).gbnf();
/// assert!(grammar.contains(r#"delete-file ::= "{\"action\":\"delete_file\"" ",\"path\":" path"#));
/// ```
#[must_use]
pub fn turns<'r>(rows: impl Iterator<Item = &'r Row>) -> Grammar {
    let rows: Vec<&Row> = rows.collect();
    let more = times(Part::All(vec![text(","), named("call")]), 0, MAX_CALLS - 1);
    let actions = Part::All(vec![text("<actions>["), named("call"), more, text("]</actions>")]);
    let mut rules = vec![
        tree("root", Part::Any(vec![actions, named("reply")])),
        tree("call", Part::Any(rows.iter().map(|row| named(&rule_name(row))).collect())),
    ];
    rules.extend(rows.iter().map(|row| call(row)));
    rules.extend(arguments());
    rules.extend(reply());
    let needed = needed(&rules);
    rules.retain(|rule| needed.contains(&rule.name));
    Grammar { words: words(), rules }
}

fn words() -> Vec<String> {
    vec![
        "Turns that memdir reads without a repair: <actions> with a list of calls, or a <reply>.".to_owned(),
        format!(
            "At most {MAX_CALLS} calls a turn, {MAX_TEXT} characters a text, {MAX_FULL_TEXT} where it says what to look"
        ),
        format!(
            "for, {MAX_REPLY} a reply, {MAX_LIST} texts a list, {MAX_SEGMENTS} names of {MAX_SEGMENT} letters a path. Give"
        ),
        "the model room to end the longest of them, and do not run a turn that was cut off.".to_owned(),
    ]
}

/// The rules for all that an argument can be.
pub(super) fn arguments() -> Vec<Rule> {
    let digit = || Part::One(Class::Of(vec![('0', '9')]));
    let number = |least: u32| {
        let most = Part::All(vec![Part::One(Class::Of(vec![('1', '9')])), times(digit(), 0, 5)]);
        if least == 0 { Part::Any(vec![text("0"), most]) } else { most }
    };
    let hex = Part::One(Class::Of(vec![('0', '9'), ('a', 'f')]));
    let string = |least, most| Part::All(vec![text("\""), times(named("char"), least, most), text("\"")]);
    let between = Part::One(Class::Of(vec![(' ', ' '), ('.', '.')]));
    let letters = Part::All(vec![times(between, 0, 1), named("letter")]);
    let name = Part::All(vec![named("letter"), times(letters, 0, MAX_SEGMENT - 1)]);
    let names = times(Part::All(vec![text("/"), named("name")]), 0, MAX_SEGMENTS - 1);
    let more = times(Part::All(vec![text(","), named("text")]), 0, MAX_LIST - 1);
    let list = times(Part::All(vec![named("text"), more]), 0, 1);
    vec![
        tree("texts", Part::All(vec![text("["), list, text("]")])),
        token("path", Part::All(vec![text("\""), named("name"), names, text("\"")])),
        token("name", name),
        token("letter", Part::One(Class::Not([CONTROLS, BLANKS, NOT_IN_NAMES].concat()))),
        token("text", string(0, MAX_TEXT)),
        token("full-text", string(1, MAX_FULL_TEXT)),
        token("char", character()),
        token("digest", Part::All(vec![text("\"sha256:"), times(hex, 64, 64), text("\"")])),
        token("number-from-zero", number(0)),
        token("number", number(1)),
        token("flag", Part::Any(vec![text("true"), text("false")])),
    ]
}

/// One character of a JSON text, as it is or escaped.
fn character() -> Part {
    let plain = Part::One(Class::Not([CONTROLS, &[('"', '"'), ('\\', '\\')]].concat()));
    let escaped = Part::One(Class::Of(vec![('"', '"'), ('\\', '\\'), ('n', 'n'), ('t', 't')]));
    Part::Any(vec![plain, Part::All(vec![text("\\"), escaped])])
}

/// A reply. It starts with something that can be seen, or it would be none; `<` could be the start of its end.
pub(super) fn reply() -> [Rule; 2] {
    let first = Part::One(Class::Not([CONTROLS, BLANKS, &[('<', '<')]].concat()));
    let controls = [('\0', '\u{8}'), ('\u{b}', '\u{1f}'), ('\u{7f}', '\u{9f}')];
    let rest = Part::One(Class::Not([controls.as_slice(), &[('<', '<')]].concat()));
    let words = Part::All(vec![first, times(rest, 0, MAX_REPLY - 1)]);
    [tree("reply", Part::All(vec![text("<reply>"), named("words"), text("</reply>")])), token("words", words)]
}

/// A character of the value of a fact: any that is no control character and needs no escape; the first can be seen.
pub(super) fn value(most: usize) -> Part {
    let quoted = [('"', '"'), ('\\', '\\')];
    let first = Part::One(Class::Not([CONTROLS, BLANKS, &quoted].concat()));
    let rest = Part::One(Class::Not([CONTROLS, quoted.as_slice()].concat()));
    Part::All(vec![first, times(rest, 0, most - 1)])
}

pub(super) fn rule_name(row: &Row) -> String {
    row.name.replace('_', "-")
}

/// The rule for the calls of one action: keys in the order of the row, each with the comma before it.
pub(super) fn call(row: &Row) -> Rule {
    let key = |name: &str| text(&format!(",\"{name}\":"));
    let mut parts = vec![text(&format!("{{\"{ACTION}\":\"{}\"", row.name))];
    for field in row.fields {
        let argument = [key(field.name), value_of(field)];
        if field.required {
            parts.extend(argument);
        } else {
            parts.push(times(Part::All(argument.into()), 0, 1));
        }
    }
    if row.access > Access::Read {
        parts.push(times(Part::All(vec![key(PERMISSION), named("flag")]), 0, 1));
    }
    parts.push(text("}"));
    tree(&rule_name(row), Part::All(parts))
}

fn value_of(field: &Field) -> Part {
    match field.takes {
        Takes::Path | Takes::Folder => named("path"),
        Takes::Text => named("text"),
        Takes::FullText => named("full-text"),
        Takes::Digest => named("digest"),
        Takes::Number(0) => named("number-from-zero"),
        Takes::Number(_) => named("number"),
        Takes::Flag => named("flag"),
        Takes::Texts => named("texts"),
        Takes::OneOf(words) => Part::Any(words.iter().map(|word| text(&format!("\"{word}\""))).collect()),
    }
}

/// The rules that the first one leads to. Each rule stands before those that it names.
pub(super) fn needed(rules: &[Rule]) -> Vec<String> {
    fn names(part: &Part, out: &mut Vec<String>) {
        match part {
            Part::Rule(name) => out.push(name.clone()),
            Part::All(parts) | Part::Any(parts) => parts.iter().for_each(|part| names(part, out)),
            Part::Times(part, ..) => names(part, out),
            Part::Text(_) | Part::One(_) => {}
        }
    }
    let mut needed = vec!["root".to_owned()];
    for rule in rules {
        if needed.contains(&rule.name) {
            names(&rule.body, &mut needed);
        }
    }
    needed
}

//! The grammar of the rules that a filter in prose is turned into.

use super::{Class, Grammar, Part, named, text, times, token, tree};

/// How many rules a wish is turned into at most.
const MOST_RULES: usize = 4;
/// How many characters the name of a note, a tag, or a key that is not given has at most.
const MOST_NAME: usize = 32;
/// What is found by its looks.
const DETECTORS: [&str; 4] = ["email", "phone", "iban", "card_number"];

/// Rules, one a line, or `cannot`. `keys` are those that the notes have; another one can be named too.
#[must_use]
pub fn filter_rules(keys: &[String]) -> Grammar {
    let more = Part::All(vec![text("\n"), named("rule")]);
    let rules = Part::All(vec![times(text("only "), 0, 1), named("rule"), times(more, 0, MOST_RULES - 1)]);
    let root = tree("root", Part::Any(vec![text("cannot"), rules]));
    let keys = keys.iter().map(|key| text(key)).chain([named("name")]);
    let kinds = [("fact:", Part::Any(keys.collect())), ("note:", named("name")), ("#", named("tag"))];
    let kinds = kinds.into_iter().map(|(start, rest)| Part::All(vec![text(start), rest]));
    let rule = tree("rule", Part::Any(kinds.chain(DETECTORS.iter().map(|name| text(name))).collect()));
    let letters = [('\0', '/'), (':', '@'), ('[', '`'), ('{', '\u{bf}')];
    let letter = || Part::One(Class::Not(letters.to_vec()));
    let word = || times(letter(), 1, MOST_NAME);
    let name = Part::All(vec![word(), times(Part::All(vec![text(" "), word()]), 0, 2)]);
    let words = "Rules for a filter in prose.".to_owned();
    Grammar::of(vec![words], vec![root, rule, tree("name", name), token("tag", times(letter(), 1, MOST_NAME))])
}

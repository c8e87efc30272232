//! The everyday names of what a filter can be about, read from `topics.txt`, which is part of the program.

use std::sync::LazyLock;

use super::Matcher;
use super::line::{stem, words};
use crate::{detect, table};

/// The file.
const TOPICS_FILE: &str = include_str!("topics.txt");

// Blocks end at an empty line, and with other ends of lines there would be none: no name would be known.
const _: () = assert!(!table::has_carriage_return(TOPICS_FILE), "the lines of topics.txt have to end in LF");

/// What people call something, and how it is recognized in a text.
#[derive(Clone)]
pub(super) struct Topic {
    /// The detectors, or classes of them, that find it, and its facts.
    pub(super) matchers: Vec<Matcher>,
    /// Whether more than was named is found, which is too much where only the named may be told.
    pub(super) is_wide: bool,
}

/// The name by which [`Matcher::Age`] is among the detectors of the file.
const AGE: &str = "age";

/// Each topic with its names, in the singular and without hyphens, and then each detector with its own name.
static TOPICS: LazyLock<Vec<(Vec<String>, Topic)>> = LazyLock::new(|| {
    let blocks = TOPICS_FILE.split("\n\n").filter(|block| !block.starts_with('#'));
    let detectors = detect::names().map(|name| {
        let topic = Topic { matchers: vec![Matcher::Detector(name)], is_wide: false };
        (vec![name.replace('_', " ")], topic)
    });
    blocks.map(topic).chain(detectors).collect()
});

fn topic(block: &'static str) -> (Vec<String>, Topic) {
    let listed = |key: &'static str| {
        let line = block.lines().find_map(move |line| line.strip_prefix(key)?.strip_prefix(": "));
        line.into_iter().flat_map(|names| names.split(", "))
    };
    let detectors = listed("detectors").map(|name| if name == AGE { Matcher::Age } else { Matcher::Detector(name) });
    let facts = listed("facts").map(|fact| Matcher::Fact(words(fact)));
    let topic = Topic { matchers: detectors.chain(facts).collect(), is_wide: block.starts_with("wide: ") };
    (listed("names").chain(listed("wide")).map(str::to_owned).collect(), topic)
}

impl Topic {
    /// The topic whose name these words start with, and how many words its longest name has; each word is a stem.
    pub(super) fn at(words: &[&str]) -> Option<(&'static Self, usize)> {
        let mut best: Option<(&Self, usize)> = None;
        for (names, topic) in TOPICS.iter() {
            for count in names.iter().filter_map(|name| starts_with(words, name)) {
                if best.is_none_or(|(_, most)| count > most) {
                    best = Some((topic, count));
                }
            }
        }
        best
    }

    /// The names of all topics, each with whether it is wide.
    #[cfg(test)]
    pub(super) fn names() -> impl Iterator<Item = (&'static str, bool)> {
        let topics = TOPICS.iter().take(TOPICS.len() - detect::names().count());
        topics.flat_map(|(names, topic)| names.iter().map(|name| (name.as_str(), topic.is_wide)))
    }
}

/// What tells of the topic that these words are a name of.
pub(super) fn matchers(name: &[String]) -> &'static [Matcher] {
    let name: Vec<&str> = name.iter().map(String::as_str).collect();
    Topic::at(&name).filter(|(_, count)| *count == name.len()).map_or(&[], |(topic, _)| &topic.matchers)
}

/// How many words `name` has, if `words` start with it.
fn starts_with(words: &[&str], name: &str) -> Option<usize> {
    let mut count = 0;
    for word in name.split(' ') {
        if words.get(count).is_none_or(|found| *found != stem(word)) {
            return None;
        }
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_line_of_the_file_is_one_that_is_read() {
        let (mut known, mut count) = (BTreeSet::new(), 0);
        for block in TOPICS_FILE.trim_end().split("\n\n").filter(|block| !block.starts_with('#')) {
            count += 1;
            let lines: Vec<(&str, &str)> =
                block.lines().map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line}"))).collect();
            let keys: Vec<&str> = lines.iter().map(|(key, _)| *key).collect();
            let shapes = [["names", "detectors", "facts"], ["wide", "detectors", "facts"]];
            assert!(shapes.iter().any(|shape| shape.starts_with(&keys)) && keys.len() > 1, "{block}");
            for (key, values) in lines {
                for value in values.split(", ") {
                    let is_plain = |character: char| character.is_ascii_lowercase() || " _".contains(character);
                    assert!(!value.is_empty() && value.trim() == value && value.chars().all(is_plain), "{block}");
                    match key {
                        "detectors" => assert!(value == AGE || detect::names().any(|name| name == value), "{value}"),
                        "facts" => assert!(!words(value).is_empty(), "{value}"),
                        _ => {
                            let singular: Vec<String> = value.split(' ').map(|word| stem(word).into_owned()).collect();
                            assert!(known.insert(singular), "`{value}` names two topics");
                        }
                    }
                }
            }
        }
        assert_eq!(TOPICS.len(), count + detect::names().count());
    }
}

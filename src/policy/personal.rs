//! The rows about personal facts, read from `personal.txt`, which is part of the program.
//!
//! Owns the form of that file. Whatever it says, a row of it is of [`Class::Personal`], and so can add a question and nothing else.

use super::check;
use super::detect::Found;
use super::phone;
use super::table::{Case, Class, Needs, Row};

const TEXT: &str = include_str!("personal.txt");

// Blocks end at an empty line, and with other ends of lines there would be none: nothing personal would be asked about.
const _: () = assert!(!has_carriage_return(TEXT.as_bytes()), "personal.txt has to have LF as the end of its lines");

const fn has_carriage_return(mut text: &[u8]) -> bool {
    while let [first, rest @ ..] = text {
        if *first == b'\r' {
            return true;
        }
        text = rest;
    }
    false
}

/// What stands between a label and its value: `- **Home phone** (old): 555 0100`.
const BETWEEN: &str = r#")(?:[ (#.-][a-z0-9 .()#-]{0,16})?["'`*]*[ \t]*[:=：|]["'`* \t]*"#;
/// The same where the value is a number, so that a sentence can give it too: `her phone is 555 0100`.
const BETWEEN_NUMBERED: &str =
    r#")(?:[ (#.-][a-z0-9 .()#-]{0,16})?["'`*]*(?:[ \t]*[:=：|]|[ \t]+(?:is|ist|est|es|è|é)[ \t]|[ \t])["'`* \t]*"#;

/// The rows, in the order of the file. They live as long as the program.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    TEXT.split("\n\n").filter(|block| block.starts_with("name: ")).map(row)
}

fn row(block: &'static str) -> Row {
    let all = |key: &'static str| {
        block
            .lines()
            .filter_map(move |line| line.split_once(": ").filter(|(found, _)| *found == key).map(|(_, text)| text))
    };
    let one = |key| all(key).next();
    Row {
        name: one("name").unwrap_or_default(),
        class: Class::Personal,
        words: one("words").unwrap_or_default(),
        needs: needs(one("needs"), one("needs digits"), one("needs shape")),
        case: match one("case") {
            Some("words") => Case::Words,
            Some("folded") => Case::Folded,
            _ => Case::Exact,
        },
        pattern: match (one("pattern"), one("labelled"), one("numbered")) {
            (Some(pattern), ..) => pattern,
            (None, Some(labels), _) => joined(labels, one("or"), BETWEEN, one("value")),
            (None, None, labels) => joined(labels.unwrap_or_default(), one("or"), BETWEEN_NUMBERED, one("value")),
        },
        check: one("check").and_then(check_of),
        must_match: examples(all("finds")),
        must_not: examples(all("leaves")),
    }
}

/// The first labels start with an ASCII letter and so at the start of a word; the others stand anywhere.
fn joined(labels: &str, others: Option<&str>, between: &str, value: Option<&str>) -> &'static str {
    let (others, value) = (others.unwrap_or_default(), value.unwrap_or_default());
    format!(r"(?:(?-u:\b)(?:{labels})|{others}{between}{value}").leak()
}

fn needs(words: Option<&'static str>, digits: Option<&str>, shape: Option<&str>) -> Needs {
    match (words, digits.and_then(|digits| digits.parse().ok()), shape) {
        (Some(words), ..) => Needs::OneOf(words.split('|').collect::<Vec<_>>().leak()),
        (None, Some(digits), _) => Needs::Digits(digits),
        (None, None, Some("code")) => Needs::Code,
        (None, None, Some("account")) => Needs::Account,
        (None, None, _) => Needs::Decimals,
    }
}

/// The check of this name; what a pattern cannot say.
fn check_of(name: &str) -> Option<fn(&Found<'_>) -> bool> {
    Some(match name {
        "health" => check::health,
        "condition" => check::condition,
        "has_value" => check::has_value,
        "social_security" => check::social_security,
        "national_insurance" => check::national_insurance,
        "document" => check::document,
        "iban" => check::iban,
        "money" => check::money,
        "digit" => check::digit,
        "address" => check::address,
        "street" => check::street,
        "place" => check::place,
        "email" => check::email,
        "is_number" => phone::is_number,
        "labelled_phone" => check::labelled_phone,
        _ => return None,
    })
}

#[cfg(test)]
fn examples(lines: impl Iterator<Item = &'static str>) -> &'static [&'static str] {
    lines.map(|line| &*line.replace('⏎', "\n").replace('␣', "\u{a0}").leak()).collect::<Vec<_>>().leak()
}

/// Examples are for the tests.
#[cfg(not(test))]
fn examples(_: impl Iterator<Item = &'static str>) -> &'static [&'static str] {
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_file_is_one_that_is_read() {
        const KEYS: &[&str] = &[
            "name",
            "words",
            "needs",
            "needs digits",
            "needs shape",
            "case",
            "pattern",
            "labelled",
            "numbered",
            "or",
            "value",
            "check",
            "finds",
            "leaves",
        ];
        let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (key, text) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            assert!(KEYS.contains(&key) && !text.is_empty(), "{line}");
            assert!(key != "check" || check_of(text).is_some(), "{line}");
            assert!(key != "case" || ["words", "folded", "exact"].contains(&text), "{line}");
            assert!(key != "needs shape" || ["code", "account", "decimals"].contains(&text), "{line}");
        }
        assert_eq!(rows().count(), TEXT.lines().filter(|line| line.starts_with("name: ")).count());
        assert!(rows().all(|row| row.class == Class::Personal && !row.words.is_empty()));
    }
}

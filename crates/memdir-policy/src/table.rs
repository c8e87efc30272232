//! The rows of the detectors, read from `secrets.txt`, `personal.txt` and `active.txt`, which are part of the program.
//!
//! Owns the form of these files. A row's class is that of its file, so that one of `personal.txt` can add a question and nothing
//! else. A row looks in the text as it is written or in lower case, so no pattern needs to ignore case. Patterns name ASCII
//! classes: tables of Unicode would cost more than all else.

use std::sync::OnceLock;

use super::Verdict;
use super::check;
use super::finding::Finding;
use super::phone;

/// The files, in the order in which findings are reported.
const FILES: [(Class, &str); 3] = [
    (Class::Secret, include_str!("secrets.txt")),
    (Class::Personal, include_str!("personal.txt")),
    (Class::ActiveContent, include_str!("active.txt")),
];

// Blocks end at an empty line, and with other ends of lines there would be none: nothing would be asked about.
const _: () = assert!(
    !(has_carriage_return(FILES[0].1) || has_carriage_return(FILES[1].1) || has_carriage_return(FILES[2].1)),
    "the lines of the detectors' files have to end in LF"
);

/// Whether a text has an end of a line that is not LF.
pub(super) const fn has_carriage_return(text: &str) -> bool {
    let mut text = text.as_bytes();
    while let [first, rest @ ..] = text {
        if *first == b'\r' {
            return true;
        }
        text = rest;
    }
    false
}

/// One pattern of a detector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The name in a rule; rows of one name are one detector.
    pub(super) name: &'static str,
    /// What follows from a finding.
    pub(super) class: Class,
    /// What is found, for a sentence.
    pub(super) words: &'static str,
    /// What a text has without which the pattern could not match.
    pub(super) needs: Needs,
    /// Where the pattern looks.
    pub(super) case: Case,
    /// The pattern.
    pub(super) pattern: &'static str,
    /// What the pattern cannot say.
    pub(super) check: Option<Check>,
    /// Texts in which the row finds something.
    #[cfg(test)]
    pub(super) must_match: &'static [&'static str],
    /// Texts in which it does not.
    #[cfg(test)]
    pub(super) must_not: &'static [&'static str],
}

/// Looks at one match and what stands around it.
pub(super) type Check = fn(&Finding<'_>) -> bool;

/// What kind of thing a detector finds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    /// It opens doors.
    Secret,
    /// It says something about a person that the person may not want kept.
    Personal,
    /// It would run or reach out once the note is opened in a viewer.
    ActiveContent,
}

/// What a text has to have before a pattern is worth compiling.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needs {
    /// One of these, in lower case.
    OneOf(&'static [&'static str]),
    /// So many digits with no more than three blanks or dividers between any two.
    Digits(usize),
    /// Two capital letters and two digits beside them, as codes of countries and offices have.
    Code,
    /// Two letters of any case at the start of a word, and two digits right behind them.
    Account,
    /// A point before four digits.
    Decimals,
}

/// How the text is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Case {
    /// As it is written.
    Exact,
    /// In lower case.
    Folded,
    /// In lower case, and with `_` as a blank: `Home_Address` is a label of two words.
    Words,
}

impl Class {
    pub(super) const ALL: &[Self] = &[Self::Secret, Self::Personal, Self::ActiveContent];

    /// The name in a rule and of an issue.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Personal => "personal",
            Self::ActiveContent => "active_content",
        }
    }

    /// How a sentence calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Secret => "a secret",
            Self::Personal => "personal",
            Self::ActiveContent => "active content",
        }
    }

    /// What a finding means where no rule says otherwise.
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Secret => Verdict::Deny,
            Self::Personal | Self::ActiveContent => Verdict::Ask,
        }
    }
}

impl Row {
    /// Whether what it finds is code that runs where it is shown as code.
    pub(super) fn runs_as_code(&self) -> bool {
        matches!(self.name, "script_block" | "inline_script")
    }

    /// Whether a rule that gives this name is about the row.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.class.name() == name
    }
}

/// All rows, in the order in which findings are reported. They live as long as the program.
pub(super) fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let rows = |(class, text): (Class, &'static str)| {
            let parts = parts(text);
            let blocks = text.split("\n\n").filter(|block| block.starts_with("name: "));
            blocks.map(move |block| row(class, &parts, block))
        };
        FILES.into_iter().flat_map(rows).collect()
    })
}

/// The values of the lines of a block that have this key.
fn lines(block: &'static str, key: &'static str) -> impl Iterator<Item = &'static str> {
    block.lines().filter_map(move |line| line.split_once(": ").filter(|(found, _)| *found == key).map(|(_, text)| text))
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and a test reads each of their lines")]
fn row(class: Class, parts: &[(String, &'static str)], block: &'static str) -> Row {
    let one = |key| lines(block, key).next();
    Row {
        name: one("name").expect("a row has a name"),
        class,
        words: one("words").expect("a row says what it finds"),
        needs: needs(&one).expect("a row needs something that is known here"),
        case: match one("case").expect("a row says how it reads") {
            "words" => Case::Words,
            "folded" => Case::Folded,
            _ => Case::Exact,
        },
        pattern: pattern(&one, parts).expect("a row has a pattern or labels"),
        check: one("check").map(|name| check_named(name).expect("the check of a row is known")),
        #[cfg(test)]
        must_match: examples(lines(block, "finds")),
        #[cfg(test)]
        must_not: examples(lines(block, "leaves")),
    }
}

fn needs(one: &impl Fn(&'static str) -> Option<&'static str>) -> Option<Needs> {
    if let Some(words) = one("needs") {
        return Some(Needs::OneOf(words.split('|').collect::<Vec<_>>().leak()));
    }
    if let Some(digits) = one("needs digits") {
        return digits.parse().ok().map(Needs::Digits);
    }
    Some(match one("needs shape")? {
        "code" => Needs::Code,
        "account" => Needs::Account,
        "decimals" => Needs::Decimals,
        _ => return None,
    })
}

/// What stands between a label and its value: `- **Home phone** (old): 555 0100`.
const BETWEEN: &str = r#")(?:[ (#.-][a-z0-9 .()#-]{0,16})?["'`*]*[ \t]*[:=：|]["'`* \t]*"#;
/// The same where the value is a number, so that a sentence can give it too: `her phone is 555 0100`.
const BETWEEN_NUMBERED: &str =
    r#")(?:[ (#.-][a-z0-9 .()#-]{0,16})?["'`*]*(?:[ \t]*[:=：|]|[ \t]+(?:is|ist|est|es|è|é)[ \t]|[ \t])["'`* \t]*"#;
/// The same where nothing but a remark in brackets, or whose it is, may stand between: `password for the shop: …`.
const BETWEEN_STATED: &str = concat!(
    r#")(?: ?\([^)\r\n]*\)| (?:for|für|pour|para|per|of|del?|du|vom|von|do|da) [a-z0-9 ._-]{1,20})?["'`*_]*(?:[ \t]*[:=：|]|"#,
    r#" (?:is|was|ist|lautet|est|es|è|é)[ \t])["'`*_ \t]*"#,
);

/// The pattern of a row. The first labels start with an ASCII letter and so at the start of a word; the others stand anywhere.
fn pattern(
    one: &impl Fn(&'static str) -> Option<&'static str>,
    parts: &[(String, &'static str)],
) -> Option<&'static str> {
    if let Some(pattern) = one("pattern") {
        return Some(with_parts(pattern, parts));
    }
    let kinds = [("labelled", BETWEEN), ("numbered", BETWEEN_NUMBERED), ("stated", BETWEEN_STATED)];
    let (key, labels, between) = kinds.iter().find_map(|(key, between)| Some((*key, one(key)?, *between)))?;
    // A secret is often the value of a variable.
    let start = if key == "stated" { r"(?:(?-u:\b)|_)" } else { r"(?-u:\b)" };
    let (others, value) = (one("or").unwrap_or_default(), one("value")?);
    Some(format!("(?:{start}(?:{labels})|{others}{between}{value}").leak())
}

/// What a file has for names in braces, each with its braces.
fn parts(text: &'static str) -> Vec<(String, &'static str)> {
    let blocks = text.split("\n\n").filter(|block| block.starts_with("part: "));
    let part = |block| Some((format!("{{{}}}", lines(block, "part").next()?), lines(block, "is").next()?));
    blocks.filter_map(part).collect()
}

/// A pattern with what its file has under the names in braces.
fn with_parts(pattern: &'static str, parts: &[(String, &'static str)]) -> &'static str {
    let mut whole = pattern.to_owned();
    for (name, part) in parts {
        whole = whole.replace(name, part);
    }
    if whole == pattern { pattern } else { whole.leak() }
}

fn check_named(name: &str) -> Option<Check> {
    Some(match name {
        "address" => check::address,
        "card" => check::card,
        "condition" => check::condition,
        "connection" => check::connection,
        "digit" => check::digit,
        "document" => check::document,
        "email" => check::email,
        "has_value" => check::has_value,
        "health" => check::health,
        "iban" => check::iban,
        "image_definition" => check::image_definition,
        "is_number" => phone::is_number,
        "key" => check::key,
        "labelled_phone" => check::labelled_phone,
        "money" => check::money,
        "national_insurance" => check::national_insurance,
        "password" => check::password,
        "password_arrow" => check::password_arrow,
        "password_below" => check::password_below,
        "pin" => check::pin,
        "place" => check::place,
        "random" => check::random,
        "seed_phrase" => check::seed_phrase,
        "social_security" => check::social_security,
        "street" => check::street,
        _ => return None,
    })
}

#[cfg(test)]
fn examples(lines: impl Iterator<Item = &'static str>) -> &'static [&'static str] {
    let shown = |line: &str| line.replace('⏎', "\n").replace('␍', "\r").replace('␣', "\u{a0}").replace('¦', "");
    lines.map(|line| &*shown(line).leak()).collect::<Vec<_>>().leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_files_is_one_that_is_read() {
        let keys = "name words needs case pattern labelled numbered stated or value check finds leaves part is";
        let keys: Vec<&str> = keys.split(' ').chain(["needs digits", "needs shape"]).collect();
        for (class, text) in FILES {
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let (key, text) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
                assert!(keys.contains(&key) && !text.is_empty(), "{line}");
                assert!(key != "case" || ["words", "folded", "exact"].contains(&text), "{line}");
            }
            let mut blocks = text.trim_end().split("\n\n");
            let starts = ["name: ", "part: ", "#"];
            assert!(blocks.all(|block| starts.iter().any(|start| block.starts_with(start))), "{class:?}");
            let is_part = |line: &&str| line.starts_with("part: ");
            assert_eq!(parts(text).len(), text.lines().filter(is_part).count(), "each part says what it is");
            let count = text.lines().filter(|line| line.starts_with("name: ")).count();
            assert_eq!(rows().iter().filter(|row| row.class == class).count(), count);
        }
        let has_name = regex::Regex::new(r"\{[a-z_ ]+\}").unwrap();
        assert!(rows().iter().all(|row| !has_name.is_match(row.pattern)), "each part that a pattern names is there");
    }
}

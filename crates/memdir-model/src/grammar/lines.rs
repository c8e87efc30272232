//! The grammar of the small dialect, made from the notes that a model has before it.

use std::collections::HashMap;

use super::turns::{reply, value};
use super::{Class, Grammar, Part, named, text, times, token, tree};
use memdir_core::path::MemoryPath;

/// How many lines with facts the notes may have together; a model that needs this grammar cannot choose among more.
pub const MAX_LINES: usize = 400;
/// How many bytes these lines may have together.
pub const MAX_BYTES: usize = 32 * 1024;

/// How many characters a new value has at most.
const MAX_VALUE: usize = 200;

/// Why notes have no grammar.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GrammarError {
    /// They have more than [`MAX_LINES`] lines with facts.
    #[error("the notes have {0} lines with facts, and a grammar takes at most {MAX_LINES}")]
    TooMany(usize),
    /// Those lines have more than [`MAX_BYTES`] bytes.
    #[error("the lines with facts have {0} bytes, and a grammar takes at most {MAX_BYTES}")]
    TooLong(usize),
}

/// A line with a fact.
struct Line<'n> {
    path: &'n MemoryPath,
    whole: &'n str,
    /// What stands before the value.
    key: &'n str,
}

/// The grammar of one turn in the small dialect: one action on a line of these notes, or a `<reply>`.
///
/// A line that is to be replaced or deleted can only be one that stands in a note now, as `- key: value`, and only once; its
/// new text keeps the key, and the path follows from the line. The text of a line comes first, for small models choose a
/// fact better than a file. Lines that hold control characters other than tabs cannot be named.
///
/// # Errors
///
/// [`GrammarError`] when the lines are too many or too long.
///
/// # Examples
///
/// ```
/// use memdir_model::grammar::lines;
/// use memdir_core::path::MemoryPath;
///
/// let user = MemoryPath::parse("user.md")?;
/// let grammar = lines(&[(user, "# Ada\n- city: London\n")])?.gbnf();
/// assert!(grammar.contains(r#""{\"action\":\"replace_text\",\"old\":\"- city: London\",\"new\":\"- city: " value"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lines(notes: &[(MemoryPath, &str)]) -> Result<Grammar, GrammarError> {
    let facts: Vec<Line<'_>> = notes.iter().flat_map(|(path, text)| facts(path, text)).collect();
    if facts.len() > MAX_LINES {
        return Err(GrammarError::TooMany(facts.len()));
    }
    let bytes = facts.iter().map(|line| line.whole.len()).sum();
    if bytes > MAX_BYTES {
        return Err(GrammarError::TooLong(bytes));
    }
    let mut kinds = Vec::new();
    let mut rules = Vec::new();
    if !facts.is_empty() {
        kinds.extend(["replace", "delete"]);
        rules.push(tree("replace", Part::Any(facts.iter().map(Line::replaced).collect())));
        rules.push(tree("delete", Part::Any(facts.iter().map(Line::deleted).collect())));
    }
    if !notes.is_empty() {
        kinds.push("append");
        rules.extend(append(notes));
        rules.push(token("value", value(MAX_VALUE)));
    }
    let mut turns = vec![named("reply")];
    if !kinds.is_empty() {
        let actions = Part::Any(kinds.into_iter().map(named).collect());
        rules.insert(0, tree("action", actions));
        turns.insert(0, Part::All(vec![text("<actions>["), named("action"), text("]</actions>")]));
    }
    rules.insert(0, tree("root", Part::Any(turns)));
    rules.extend(reply());
    let words = vec![
        "One action on a line of the notes as they are now, or a <reply>. Make it anew when a note changed.".to_owned(),
        format!("At most {MAX_VALUE} characters a value. Do not run a turn that was cut off."),
    ];
    Ok(Grammar { words, rules })
}

/// The facts of a note whose lines can be told apart, and written.
fn facts<'n>(path: &'n MemoryPath, text: &'n str) -> Vec<Line<'n>> {
    let mut counts = HashMap::<&str, usize>::new();
    for line in text.lines() {
        *counts.entry(line).or_default() += 1;
    }
    let is_plain = |line: &str| !line.chars().any(|character| character.is_control() && character != '\t');
    let lines = text.lines().filter(|line| counts.get(line) == Some(&1) && is_plain(line));
    lines.filter_map(|whole| Some(Line { path, whole, key: key(whole)? })).collect()
}

/// What stands before the value of `- key: value`, in whatever way the key is set off.
fn key(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix("- ")?;
    let (key, rest) = item.split_once(':')?;
    let value = rest.trim_start_matches(['*', '_']);
    let is_fact = !key.trim().is_empty() && value.starts_with(' ') && !value.trim().is_empty();
    is_fact.then(|| line.get(..line.len() - value.len() + 1)).flatten()
}

impl Line<'_> {
    fn replaced(&self) -> Part {
        let (old, key, path) = (json(self.whole), json(self.key), json(self.path.as_str()));
        Part::All(vec![
            text(&format!("{{\"action\":\"replace_text\",\"old\":\"{old}\",\"new\":\"{key}")),
            named("value"),
            text(&format!("\",\"path\":\"{path}\"}}")),
        ])
    }

    fn deleted(&self) -> Part {
        let (line, path) = (json(self.whole), json(self.path.as_str()));
        text(&format!("{{\"action\":\"delete_line\",\"line\":\"{line}\",\"path\":\"{path}\"}}"))
    }
}

fn append(notes: &[(MemoryPath, &str)]) -> [super::Rule; 3] {
    let paths = notes.iter().map(|(path, _)| text(&format!("\"{}\"", json(path.as_str()))));
    let line = Part::All(vec![
        text("{\"action\":\"append_line\",\"path\":"),
        named("note"),
        text(",\"line\":\"- "),
        named("key"),
        text(": "),
        named("value"),
        text("\"}"),
    ]);
    [tree("append", line), tree("note", Part::Any(paths.collect())), token("key", key_words())]
}

/// A new key: one to four words in lower case.
fn key_words() -> Part {
    let word = || times(Part::One(Class::Of(vec![('a', 'z'), ('0', '9')])), 0, 15);
    let letter = Part::One(Class::Of(vec![('a', 'z')]));
    let between = Part::One(Class::Of(vec![(' ', ' '), ('_', '_')]));
    let more = Part::All(vec![between, letter.clone(), word()]);
    Part::All(vec![letter, word(), times(more, 0, 3)])
}

/// What stands between the quotes of a JSON text. No tag stands in it: a turn ends at the first that closes one.
pub(super) fn json(text: &str) -> String {
    let mut json = serde_json::Value::from(text).to_string();
    json.pop();
    json.split_off(1).replace('<', "\\u003c")
}

//! A filter in the person's own words, in whatever language: a model turns it into rules, which hold without it.

use serde_json::json;

use crate::prompt::examples;
use memdir_core::path::MemoryPath;
use memdir_model::grammar::filter_rules;
use memdir_model::{Message, Request, Role, Shape};
use memdir_note::Note;
use memdir_policy::Filter;

/// How many keys a model chooses among at most.
const MOST_KEYS: usize = 80;
/// More than the longest list of rules that the grammar lets through.
const MAX_TOKENS: u32 = 120;

/// Asks which rules say a wish. The keys are those of these notes.
pub(crate) fn request(prompt: &str, notes: &[(MemoryPath, String)], wish: &str) -> Request {
    let (system, mut messages) = examples(prompt);
    let stable = messages.len();
    let keys = keys(notes);
    let one_line = wish.split_whitespace().collect::<Vec<_>>().join(" ");
    messages.push(Message { role: Role::User, text: format!("Keys: {}\nWish: {one_line}", keys.join(", ")) });
    let schema = json!({
        "type": "object",
        "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
        "required": ["steps"],
        "additionalProperties": false,
    });
    Request {
        system: system.to_owned(),
        messages,
        stable,
        shape: Some(Shape { grammar: filter_rules(&keys), schema }),
        max_tokens: MAX_TOKENS,
        temperature: 0.0,
        stop: Vec::new(),
    }
}

/// The rules that a model has written, as they can be typed; `None` where there is none.
pub(crate) fn rules(written: &str) -> Option<String> {
    let is_rule = |line: &&str| {
        let filter = Filter::compile(line);
        filter.is_enforced() && filter.rest().is_empty()
    };
    let rules: Vec<&str> = written.lines().map(str::trim).filter(|line| !line.is_empty()).filter(is_rule).collect();
    (!rules.is_empty()).then(|| rules.join("\n"))
}

/// The keys of all facts in some notes, each once, in their order.
fn keys(notes: &[(MemoryPath, String)]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for fact in notes.iter().flat_map(|(_, text)| Note::parse(text).facts()) {
        let is_plain = |one: char| one.is_alphanumeric() || matches!(one, ' ' | '_' | '-' | '\'');
        if keys.len() < MOST_KEYS && fact.key.chars().all(is_plain) && !keys.contains(&fact.key) {
            keys.push(fact.key);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_are_taken() {
        assert_eq!(rules("fact:Alter\nphone\n").as_deref(), Some("fact:Alter\nphone"));
        assert_eq!(rules("only fact:city").as_deref(), Some("only fact:city"));
        assert_eq!(rules("note:Zenka Wirrel\nbe kind to all").as_deref(), Some("note:Zenka Wirrel"));
        assert_eq!(rules("cannot"), None);
    }

    #[test]
    fn a_model_sees_keys_and_no_values() {
        let note = (MemoryPath::parse("user.md").unwrap(), "- Alter: 41\n- Lohn: 4.100\n- Alter: 12\n".to_owned());
        let request = request(include_str!("../../../../prompts/filter.md"), &[note], "kein\nAlter");
        assert_eq!(request.messages.last().unwrap().text, "Keys: Alter, Lohn\nWish: kein Alter");
        assert!(request.shape.unwrap().grammar.gbnf().contains("\"Lohn\""));
    }
}

//! The grammars of the stages in which a model can work: each a JSON object.

use super::tools::{Callable, any};
use super::turns::{MAX_REPLY, arguments, call, rule_name};
use super::{Grammar, Part, Rule, named, text, times, token, tree};
use memdir_core::catalog::Row;

/// What was perceived: `{"summary":"…","entities":["…"]}`.
#[must_use]
pub fn perception() -> Grammar {
    let root = [text("{\"summary\":"), named("text"), text(",\"entities\":"), named("texts"), text("}")];
    grammar("What a model makes of notes and results.", vec![tree("root", Part::All(root.into()))])
}

/// What is to be done: `{"actions":[…]}` with at most so many calls of these actions and tools, or `{"action":"final_answer"}`.
///
/// # Examples
///
/// ```
/// use memdir_core::catalog::ROWS;
/// use memdir_model::grammar::{Callable, decision};
///
/// let schema = serde_json::json!({"type": "object", "properties": {"day": {"type": "string"}}});
/// let tools = Callable::These(vec![("calendar__list_events", &schema)]);
/// let grammar = decision(ROWS.iter().filter(|row| row.name == "delete_file"), &tools, 8).gbnf();
/// assert!(grammar.contains(r#""{\"action\":\"final_answer\"}""#));
/// assert!(grammar.contains(r#"\"name\":\"calendar__list_events\",\"arguments\":"#));
/// ```
#[must_use]
pub fn decision<'r>(rows: impl Iterator<Item = &'r Row>, tools: &Callable<'_>, most: usize) -> Grammar {
    let rows: Vec<&Row> = rows.collect();
    let mut rules: Vec<Rule> = rows.iter().map(|row| call(row)).collect();
    let mut calls: Vec<String> = rows.iter().map(|row| rule_name(row)).collect();
    calls.extend(tools.rules(&mut rules));
    let mut either = vec![text("{\"action\":\"final_answer\"}")];
    if !calls.is_empty() && most > 0 {
        let more = (most > 1).then(|| times(Part::All(vec![text(","), named("call")]), 0, most - 1));
        let list = [text("{\"actions\":["), named("call")].into_iter().chain(more).chain([text("]}")]);
        either.push(Part::All(list.collect()));
        rules.insert(0, tree("call", Part::Any(calls.iter().map(|name| named(name)).collect())));
    }
    rules.insert(0, tree("root", Part::Any(either)));
    grammar("What a model wants to be done next.", rules)
}

/// What is said: `{"reply":"…"}`.
#[must_use]
pub fn response() -> Grammar {
    let reply = Part::All(vec![text("\""), times(named("char"), 1, MAX_REPLY), text("\"")]);
    let root = Part::All(vec![text("{\"reply\":"), named("answer"), text("}")]);
    grammar("What a model says to the person.", vec![tree("root", root), token("answer", reply)])
}

/// These rules, with those that they need.
fn grammar(words: &str, mut rules: Vec<Rule>) -> Grammar {
    rules.extend(any());
    rules.extend(arguments());
    Grammar::of(vec![words.to_owned()], rules)
}

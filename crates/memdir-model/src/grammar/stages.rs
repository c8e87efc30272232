//! The grammars of the stages in which a model can work: each a JSON object.

use super::turns::{MAX_CALLS, MAX_REPLY, arguments, call, needed, rule_name};
use super::{Grammar, Part, Rule, named, text, times, token, tree};
use memdir_core::catalog::Row;

/// What was perceived: `{"summary":"…","entities":["…"]}`.
#[must_use]
pub fn perception() -> Grammar {
    let root = [text("{\"summary\":"), named("text"), text(",\"entities\":"), named("texts"), text("}")];
    grammar("What a model makes of notes and results.", vec![tree("root", Part::All(root.into()))])
}

/// What is to be done: `{"actions":[…]}` with calls of these actions, or `{"action":"final_answer"}`.
///
/// # Examples
///
/// ```
/// use memdir_core::catalog::ROWS;
/// use memdir_model::grammar::decision;
///
/// let grammar = decision(ROWS.iter().filter(|row| row.name == "delete_file")).gbnf();
/// assert!(grammar.contains(r#""{\"action\":\"final_answer\"}""#));
/// ```
#[must_use]
pub fn decision<'r>(rows: impl Iterator<Item = &'r Row>) -> Grammar {
    let rows: Vec<&Row> = rows.collect();
    let more = times(Part::All(vec![text(","), named("call")]), 0, MAX_CALLS - 1);
    let actions = Part::All(vec![text("{\"actions\":["), named("call"), more, text("]}")]);
    let mut either = vec![text("{\"action\":\"final_answer\"}")];
    let mut rules = Vec::new();
    if !rows.is_empty() {
        either.push(actions);
        rules.push(tree("call", Part::Any(rows.iter().map(|row| named(&rule_name(row))).collect())));
        rules.extend(rows.iter().map(|row| call(row)));
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
    rules.extend(arguments());
    let needed = needed(&rules);
    rules.retain(|rule| needed.contains(&rule.name));
    Grammar { words: vec![words.to_owned()], rules }
}

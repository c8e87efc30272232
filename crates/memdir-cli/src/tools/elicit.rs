//! A question of a server to the person, on the terminal.

use serde_json::{Map, Value};

use crate::output::say;
use crate::question;
use memdir_tools::{Elicitation, ElicitationAnswer, ServerName};

/// So many lines of a question are shown.
const LINES: usize = 40;

/// The person whom a server asks, wherever they are.
pub(crate) trait Asked {
    /// Shows a line.
    fn show(&mut self, line: &str);

    /// Asks for a yes or a no; `None` where the person gives up.
    fn agrees(&mut self, question: &str) -> Option<bool>;

    /// Asks for a line; `None` where the person gives up.
    fn line(&mut self, question: &str) -> Option<String>;
}

/// Who sits at the terminal. Where that cannot be read or written, they give up.
pub(crate) struct Terminal;

impl Asked for Terminal {
    fn show(&mut self, line: &str) {
        // Where nothing can be shown, the question after it ends the call.
        let _ = say(line);
    }

    fn agrees(&mut self, question: &str) -> Option<bool> {
        question::agrees(question).ok()
    }

    fn line(&mut self, question: &str) -> Option<String> {
        question::line(question).ok().flatten()
    }
}

/// Asks the person what a server wants to know. Its words are shown as its own.
pub(crate) fn answer(server: &ServerName, elicitation: &Elicitation, person: &mut dyn Asked) -> ElicitationAnswer {
    person.show(&Elicitation::head(server));
    elicitation.shown().lines().take(LINES).for_each(|line| person.show(&format!("  {line}")));
    let question = match elicitation.url() {
        Some(url) => {
            person.show(&format!("it wants you to open {url}"));
            "have you opened it?"
        }
        None => "do you want to answer? what you type goes to the server:",
    };
    match person.agrees(question) {
        None => ElicitationAnswer::Cancel,
        Some(false) => ElicitationAnswer::Decline,
        Some(true) if elicitation.url().is_some() => ElicitationAnswer::Accept(Map::new()),
        Some(true) => fields(elicitation, person).map_or(ElicitationAnswer::Cancel, ElicitationAnswer::Accept),
    }
}

/// Asks for each value that a server wants to know; `None` where the person gives up.
fn fields(elicitation: &Elicitation, person: &mut dyn Asked) -> Option<Map<String, Value>> {
    let schema = elicitation.params.get("requestedSchema");
    let fields = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let required = |name: &str| {
        let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
        required.is_some_and(|all| all.iter().any(|one| one == name))
    };
    let mut answer = Map::new();
    for (name, field) in fields.into_iter().flatten() {
        let mut question = format!("{}:", label(name, field));
        loop {
            let typed = person.line(&question)?;
            let wanted = match value(&typed, field) {
                Ok(None) if required(name) => "something",
                Ok(value) => {
                    answer.extend(value.map(|value| (name.clone(), value)));
                    break;
                }
                Err(wanted) => wanted,
            };
            question = format!("give {wanted}; {}:", label(name, field));
        }
    }
    Some(answer)
}

/// What a field is called, and what can be typed.
fn label(name: &str, field: &Value) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str);
    let title = text("title").unwrap_or(name);
    let about = text("description").map_or_else(String::new, |about| format!(", {about}"));
    let choices = choices(field);
    let choices = if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(", ")) };
    let default = field.get("default").map_or_else(String::new, |default| format!(" [{default}]"));
    cut(&format!("{title}{about}{choices}{default}"))
}

/// A line that a server may not make long.
fn cut(text: &str) -> String {
    let short: String = text.chars().take(300).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// The values that a field may have, where it names them.
fn choices(field: &Value) -> Vec<&str> {
    let named = field.get("enum").and_then(Value::as_array);
    let titled = field.get("oneOf").and_then(Value::as_array);
    let titled = titled.into_iter().flatten().filter_map(|one| one.get("const")?.as_str());
    named.into_iter().flatten().filter_map(Value::as_str).chain(titled).collect()
}

/// What was typed, as the field's kind has it; `None` where nothing was and nothing is the default.
fn value(typed: &str, field: &Value) -> Result<Option<Value>, &'static str> {
    if typed.is_empty() {
        return Ok(field.get("default").cloned());
    }
    let choices = choices(field);
    Ok(Some(match field.get("type").and_then(Value::as_str) {
        Some("integer") => typed.parse::<i64>().map_err(|_| "a whole number")?.into(),
        Some("number") => {
            let number = typed.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            Value::Number(number.ok_or("a number")?)
        }
        Some("boolean") => match typed {
            "y" | "yes" | "true" => true.into(),
            "n" | "no" | "false" => false.into(),
            _ => return Err("y or n"),
        },
        Some("array") => typed.split(',').map(|one| Value::from(one.trim())).collect::<Vec<_>>().into(),
        _ if !choices.is_empty() && !choices.contains(&typed) => return Err("one of those"),
        _ => typed.into(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_typed_becomes_what_the_field_is() {
        for (typed, field, expected) in [
            ("7", json!({"type": "integer"}), Ok(Some(json!(7)))),
            ("7.5", json!({"type": "integer"}), Err("a whole number")),
            ("7.5", json!({"type": "number"}), Ok(Some(json!(7.5)))),
            ("NaN", json!({"type": "number"}), Err("a number")),
            ("yes", json!({"type": "boolean"}), Ok(Some(json!(true)))),
            ("perhaps", json!({"type": "boolean"}), Err("y or n")),
            ("", json!({"type": "string"}), Ok(None)),
            ("", json!({"type": "string", "default": "x"}), Ok(Some(json!("x")))),
            ("red", json!({"type": "string", "enum": ["red", "blue"]}), Ok(Some(json!("red")))),
            ("green", json!({"type": "string", "oneOf": [{"const": "red", "title": "Red"}]}), Err("one of those")),
            ("a, b", json!({"type": "array", "items": {"enum": ["a", "b"]}}), Ok(Some(json!(["a", "b"])))),
        ] {
            assert_eq!(value(typed, &field), expected, "{typed} {field}");
        }
    }
}

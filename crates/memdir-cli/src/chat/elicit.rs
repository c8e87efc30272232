//! A server's question to the person, before it answers a call: its words are shown as its own.

use serde_json::{Map, Value};

use super::lines::Typed;
use super::talker::{Talker, Word};
use memdir_tools::{Elicitation, ElicitationAnswer};

/// How often a value is asked for again that the server would not take.
const TRIES: usize = 3;

impl Talker<'_> {
    /// Shows what a server asks, and takes the person's answer.
    pub(super) fn answer_server(&mut self, elicitation: &Elicitation) -> ElicitationAnswer {
        if !self.lines.is_attended() {
            return ElicitationAnswer::Decline;
        }
        self.screen.end_line();
        self.screen.warn("the server asks you, in its own words:");
        elicitation.message.lines().for_each(|line| self.screen.show(&format!("  {line}")));
        if let Some(url) = elicitation.params.get("url").and_then(Value::as_str) {
            self.screen.show(&format!("  it wants you to visit {url}"));
        }
        match self.ask("[y]es, answer it [n]o [l]ater: end the call", &[Word::Yes, Word::No, Word::Later]) {
            Some(Word::Yes) => {}
            Some(Word::Later) | None => return ElicitationAnswer::Cancel,
            Some(Word::No | Word::Edit | Word::Always | Word::Conversation) => return ElicitationAnswer::Decline,
        }
        let schema = elicitation.params.get("requestedSchema");
        let required = schema.and_then(|schema| schema.get("required")?.as_array());
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let mut given = Map::new();
        for (name, property) in properties.into_iter().flatten() {
            let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
            match self.value(name, property, is_required) {
                Ok(value) => given.extend(value.map(|value| (name.clone(), value))),
                Err(()) => return ElicitationAnswer::Cancel,
            }
        }
        ElicitationAnswer::Accept(given)
    }

    /// Asks for one value; nothing for one that may be left out and is. An error where the person does not want to go on.
    fn value(&mut self, name: &str, property: &Value, is_required: bool) -> Result<Option<Value>, ()> {
        let text = |key: &str| property.get(key).and_then(Value::as_str);
        let words: Vec<&str> =
            property.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let about = text("description").map_or_else(String::new, |words| format!(" ({words})"));
        let which = if words.is_empty() { String::new() } else { format!(" [{}]", words.join(", ")) };
        let may = if is_required { "" } else { ", or nothing" };
        for _ in 0..TRIES {
            let question = format!("{}{about}{which}{may}:", text("title").unwrap_or(name));
            let Typed::Text(typed) = self.lines.answer(&question) else { return Err(()) };
            let typed = typed.trim();
            if typed.is_empty() && !is_required {
                return Ok(None);
            }
            match read(typed, text("type").unwrap_or("string"), &words) {
                Some(value) => return Ok(Some(value)),
                None => self.screen.tell("the server would not take that"),
            }
        }
        Err(())
    }
}

/// What was typed, as the kind of value that is wanted.
fn read(typed: &str, kind: &str, words: &[&str]) -> Option<Value> {
    if !words.is_empty() {
        return words.contains(&typed).then(|| typed.into());
    }
    match kind {
        "boolean" => match Word::of(typed)? {
            Word::Yes => Some(true.into()),
            Word::No => Some(false.into()),
            Word::Edit | Word::Always | Word::Later | Word::Conversation => None,
        },
        "integer" => typed.parse::<i64>().ok().map(Value::from),
        "number" => typed.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        _ => Some(typed.into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::read;

    #[test]
    fn what_is_typed_becomes_what_the_schema_wants() {
        assert_eq!(read("7", "integer", &[]), Some(json!(7)));
        assert_eq!(read("7.5", "number", &[]), Some(json!(7.5)));
        assert_eq!(read("7.5", "integer", &[]), None);
        assert_eq!(read("NaN", "number", &[]), None);
        assert_eq!(read("yes", "boolean", &[]), Some(json!(true)));
        assert_eq!(read("maybe", "boolean", &[]), None);
        assert_eq!(read("red", "string", &["red", "blue"]), Some(json!("red")));
        assert_eq!(read("green", "string", &["red", "blue"]), None);
        assert_eq!(read("any text", "string", &[]), Some(json!("any text")));
    }
}

//! What differs from run to run, made the same: times, digests, milliseconds, the temporary folder.

use regex::Regex;
use serde_json::{Value, json};

use super::Env;

/// Masks a report: times, digests, how long things took.
pub(crate) fn mask(mut value: Value) -> Value {
    walk(&mut value);
    value
}

fn walk(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object.iter_mut() {
                match key.as_str() {
                    "ms" => *inner = json!("…"),
                    "time" | "modified" if inner.is_string() => *inner = json!("…"),
                    _ => walk(inner),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(walk),
        Value::String(text) => *text = digests(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn digests(text: &str) -> String {
    Regex::new("sha256:[0-9a-f]{64}").unwrap().replace_all(text, "sha256:…").into_owned()
}

/// Masks printed text: also the folders of the test and the times of a log.
pub(crate) fn mask_text(env: &Env, text: &str) -> String {
    let base = env.base().canonicalize().unwrap();
    let text = digests(text).replace(base.to_str().unwrap(), "[BASE]").replace(env.base().to_str().unwrap(), "[BASE]");
    let time = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap();
    let text = time.replace_all(&text, "[TIME]");
    let clock = Regex::new(r"\d\d:\d\d UTC").unwrap();
    let text = clock.replace_all(&text, "[CLOCK]");
    let text = Regex::new(r"just now|\d+ (minute|hour)s? ago").unwrap().replace_all(&text, "[AGO]");
    Regex::new(r"\.memdir/[0-9a-f]{16}|\.memdir/local").unwrap().replace_all(&text, ".memdir/[MACHINE]").into_owned()
}

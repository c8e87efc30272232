//! Transcripts in the shape of the tuned mem-agent model, replayed through the agent: `mem_agent/*.txt`.
//!
//! Each is written by us and read from top to bottom: the message, each turn of the model, the result that goes back to it, what the
//! person is told, which calls were made, and which notes are different then. All other notes stay byte for byte.
//! `UPDATE_TRANSCRIPTS=1` writes anew all that memdir says, for review.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use super::{last, messages, settings};
use crate::support::Env;
use crate::support::standin::Standin;

const NOTES: &[(&str, &str)] = &[
    (
        "user.md",
        "# Ada Reis\n\n- city: London\n- employer: [[entities/acme]]\n- sister: [[entities/ida_reis]]\n\n## Likes\n\n- tea\n",
    ),
    ("entities/acme.md", "# Acme\n\n- kind: company\n- founder: [[entities/jane_doe]]\n"),
    ("entities/ida_reis.md", "# Ida Reis\n\n- city: Berlin\n"),
    ("entities/jane_doe.md", "# Jane Doe\n\n- birthday: 4 May\n"),
];

/// A part of a transcript: its title, and the text below.
type Part = (String, String);

fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("=== "), parts.last_mut()) {
            (Some(title), _) => parts.push((title.to_owned(), String::new())),
            (None, Some((_, text))) => text.push_str(&format!("{line}\n")),
            (None, None) => panic!("a transcript begins with a title: {line}"),
        }
    }
    parts
}

/// What becomes of a transcript, with a model of this name and these settings.
fn replayed(parts: &[Part], name: &str, more: &str) -> String {
    let of = |title: &str| parts.iter().filter(|(found, _)| found == title).map(|(_, text)| text).collect::<Vec<_>>();
    let turns: Vec<String> = of("model").into_iter().map(|turn| turn.trim_end_matches('\n').to_owned()).collect();
    let standin = Standin::answers(turns.clone());
    let env = Env::with(NOTES).quick().set("MEMDIR_AGENT_REMOVALS", "allow").settings(&settings(name, &standin, more));
    let before = env.files();
    let message = of("message")[0].trim_end();
    let ran = env.ask(&["ask", message]);
    let said = ran.json();
    let asked = standin.asked();
    assert_eq!((asked.len(), ran.code), (turns.len(), 0), "{message}: {ran:?}");
    assert_eq!(asked[0]["stop"], serde_json::json!(["</reply>"]), "{message}");
    let mut text = format!("=== message\n{message}\n");
    for (turn, number) in turns.iter().zip(1..) {
        writeln!(text, "=== model\n{turn}").unwrap();
        if let Some(next) = asked.get(number) {
            writeln!(text, "=== back\n{}", last(next)).unwrap();
        }
    }
    write!(text, "=== reply\n{}\n=== did\n", said["reply"].as_str().unwrap_or("(none)")).unwrap();
    for action in said["actions"].as_array().unwrap() {
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let code = if action["ok"] == true { "ok".to_owned() } else { word(&action["error"]["code"]) };
        writeln!(text, "{} {} {} {code}", action["turn"], word(&action["action"]), word(&action["path"])).unwrap();
    }
    for note in changes(&before, &env.files()) {
        text.push_str(&note);
    }
    assert!(!env.base().join("pwned").exists());
    text
}

/// The notes that are different now.
fn changes(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path)).map(|path| format!("=== gone {path}\n"));
    let new = after.iter().filter(|(path, text)| before.get(*path) != Some(text));
    gone.chain(new.map(|(path, text)| format!("=== note {path}\n{text}"))).collect()
}

#[test]
fn transcripts_come_out_as_they_are_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/talk/mem_agent");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let parts = parts(&text);
        let by_name = replayed(&parts, "openai-compatible::driaforall/mem-agent", "");
        let by_family = replayed(&parts, "openai-compatible::scripted", "family = \"mem-agent\"\n");
        assert_eq!(by_name, by_family, "{}", file.display());
        if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
            std::fs::write(&file, &by_name).unwrap();
        } else {
            assert!(by_name == text, "{}:\n{}", file.display(), similar(&text, &by_name));
        }
    }
}

#[test]
fn what_is_switched_off_is_not_offered() {
    let standin = Standin::answers([
        "<python>\ndone = update_file(\"user.md\", \"- tea\", \"- coffee\")\n</python>\n<reply></reply>",
        "<python></python>\n<reply>I can only read.</reply>",
        "<reply>Hello.</reply>",
    ]);
    let env = Env::with(NOTES).quick().set("MEMDIR_AGENT_REMOVALS", "allow").settings(&settings(
        "openai-compatible::mem-agent",
        &standin,
        "",
    ));
    let before = env.files();
    let ran = env.run(&["ask", "--read-only", "I drink coffee now."], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "I can only read.\n"), "{ran:?}");
    assert_eq!(env.run(&["chat"], "/actions off\nHello\n").code, 0);
    assert_eq!(env.files(), before);
    let asked = standin.asked();
    let system = |at: usize| messages(&asked[at])[0].1;
    assert!(system(0).contains("you can only read"), "{}", system(0));
    assert!(last(&asked[1]).contains("read-only"), "{}", last(&asked[1]));
    assert!(!system(2).contains("update_file") && !last(&asked[2]).contains("London"), "{}", asked[2]);
}

/// The first line that differs, and both texts from there.
fn similar(expected: &str, found: &str) -> String {
    let same = expected.lines().zip(found.lines()).take_while(|(left, right)| left == right).count();
    let rest = |text: &str| text.lines().skip(same).collect::<Vec<_>>().join("\n");
    format!("from line {} on expected:\n{}\n--- found:\n{}", same + 1, rest(expected), rest(found))
}

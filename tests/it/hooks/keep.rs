//! Conversations are kept where the person wants that, through the steps of every write.

use std::fs;

use serde_json::json;

use super::{EVENTS, hook, memory};
use crate::support::Env;

const KEEP: &str = "[hooks]\nconversations = true\n";

/// Conversations as the programs keep them.
const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "claude-code",
        r#"{"type":"user","message":{"role":"user","content":"My blood group is O."},"timestamp":"2026-03-01T23:00:00.000Z"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Noted.\n- [ ] Tell Grace"},{"type":"tool_use","name":"Bash","input":{}}]},"timestamp":"2026-03-02T00:10:00.000Z"}
"#,
    ),
    (
        "codex",
        r#"{"timestamp":"2026-03-01T23:00:00.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"My blood group is O."}]}}
{"timestamp":"2026-03-02T00:10:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Noted.\n- [ ] Tell Grace"}]}}
"#,
    ),
    (
        "copilot",
        r#"{"type":"user.message","data":{"content":"My blood group is O."},"timestamp":"2026-03-01T23:00:00.000Z"}
{"type":"assistant.message","data":{"content":"Noted.\n- [ ] Tell Grace"},"timestamp":"2026-03-02T00:10:00.000Z"}
"#,
    ),
];

fn kept(env: &Env) -> Vec<String> {
    env.files().into_keys().filter(|path| path.starts_with("conversations/")).collect()
}

#[test]
fn without_the_setting_no_conversation_is_kept() {
    let env = memory();
    fs::write(env.base().join("transcript.jsonl"), CONVERSATIONS[0].1).unwrap();
    let before = env.files();
    for (program, [_, _, cut, end]) in EVENTS {
        for event in [cut, end] {
            let ran = hook(&env, program, event, "", &[]);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{program} {event}");
        }
    }
    assert_eq!(env.files(), before);
}

#[test]
fn a_conversation_is_one_dated_note_that_undo_takes_back() {
    for (program, conversation) in CONVERSATIONS {
        let env = memory().settings(KEEP);
        let file = env.base().join("transcript.jsonl");
        fs::write(&file, conversation).unwrap();
        let events = EVENTS.iter().find(|(name, _)| name == program).unwrap().1;
        let ran = hook(&env, program, events[2], "", &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        let path = format!("conversations/2026-03-01-{program}-90ab41f5.md");
        assert_eq!(kept(&env), [path.as_str()]);
        let note = env.read(&path);
        assert!(note.contains("\n## User\n\n```text\nMy blood group is O.\n```\n"), "{note}");
        assert!(note.ends_with("\n## Assistant\n\n```text\nNoted.\n- [ ] Tell Grace\n```\n"), "{note}");
        // At the end the same note is written again, with what was said since.
        fs::write(&file, format!("{conversation}{}", conversation.replace("blood group is O", "shoe size is 38")))
            .unwrap();
        assert_eq!(hook(&env, program, events[3], "", &[]).code, 0);
        assert_eq!(kept(&env), [path.as_str()]);
        assert!(env.read(&path).contains("shoe size is 38"));
        let log = env.ask(&["log"]).json();
        assert_eq!((&log["entries"][0]["door"], &log["entries"][0]["client"]), (&json!("hook"), &json!(program)));
        assert_eq!(env.ask(&["undo"]).code, 0);
        assert!(!env.read(&path).contains("shoe size is 38"));
        // What was said is no task of this memory.
        let start = hook(&env, program, events[0], "", &[]).stdout;
        assert!(!start.contains("Tell Grace") && start.contains("Renew the passport"), "{start}");
    }
}

#[test]
fn a_kept_conversation_that_was_edited_is_not_overwritten() {
    let env = memory().settings(KEEP);
    let said = |text: &str| format!("{}\n", json!({"type": "user", "message": {"role": "user", "content": text}}));
    let keep = |transcript: &str| {
        fs::write(env.base().join("transcript.jsonl"), transcript).unwrap();
        assert_eq!(hook(&env, "claude-code", "SessionEnd", "", &[]).code, 0);
        let files = env.files().into_iter().filter(|(path, _)| path.starts_with("conversations/"));
        files.collect::<Vec<_>>()
    };
    let first = keep(&said("One"));
    let [(path, text)] = first.as_slice() else { panic!("{first:?}") };
    let grown = keep(&(said("One") + &said("Two")));
    assert!(grown.len() == 1 && grown[0].1.contains("Two"), "{grown:?}");
    let edited = text.replace("One", "One, said I");
    fs::write(env.at(path), &edited).unwrap();
    let both = keep(&(said("One") + &said("Three")));
    assert!(both.len() == 2 && both.iter().any(|(_, text)| *text == edited), "{both:?}");
    assert!(both.iter().any(|(_, text)| text.contains("Three")), "{both:?}");
}

#[test]
fn secrets_are_left_out_of_it() {
    let env = memory().settings(KEEP);
    let secret =
        "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIj-AbCdEfAA";
    let line = json!({"type": "user", "message": {"role": "user", "content": format!("Hello\nmy key: {secret}\nBye")}});
    fs::write(env.base().join("transcript.jsonl"), format!("{line}\n")).unwrap();
    let ran = hook(&env, "claude-code", "SessionEnd", "", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    let files = env.files();
    let note = files.iter().find(|(path, _)| path.starts_with("conversations/")).unwrap().1;
    assert!(!note.contains("AbCdEf") && note.contains("Hello\n") && note.contains("Bye\n"), "{note}");
    assert!(
        env.seen()
            .values()
            .filter_map(|seen| seen.bytes.as_ref())
            .all(|bytes| { !String::from_utf8_lossy(bytes).contains("AbCdEfGhIjKl") })
    );
}

#[test]
fn what_has_to_be_asked_waits_and_what_is_denied_is_not_written() {
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"Hello"}]}}"#;
    let deny = "\n[[rule]]\naction = \"write_file\"\npath = \"conversations/**\"\nverdict = \"deny\"\n";
    for (settings, waits) in [(format!("{KEEP}[permission]\nmcp = \"all\"\n"), 1), (format!("{KEEP}{deny}"), 0)] {
        let env = memory().settings(&settings);
        fs::write(env.base().join("transcript.jsonl"), line).unwrap();
        let ran = hook(&env, "cursor", "sessionEnd", "", &[]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert_eq!(kept(&env), [""; 0], "{settings}");
        assert_eq!(env.ask(&["pending"]).json()["pending"].as_array().unwrap().len(), waits, "{settings}");
    }
    let env = memory().settings(KEEP);
    assert_eq!(env.ask(&["client", "add", "reader", "--read", "**"]).code, 0);
    fs::write(env.base().join("transcript.jsonl"), line).unwrap();
    let ran = hook(&env, "cursor", "sessionEnd", "", &["--client", "reader"]);
    assert_eq!((ran.code, ran.stdout.as_str(), kept(&env).len()), (0, "", 0), "{ran:?}");
}

#[test]
fn a_conversation_that_cannot_be_read_stands_in_nobodys_way() {
    let env = memory().settings(KEEP);
    let file = env.base().join("transcript.jsonl");
    let check = || {
        let ran = hook(&env, "claude-code", "PreCompact", "", &[]);
        assert_eq!((ran.code, ran.stdout.as_str(), kept(&env).len()), (0, "", 0), "{ran:?}");
    };
    check();
    fs::write(&file, b"\xff\xfe no JSON\n{\"type\":\"summary\"}\n").unwrap();
    check();
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    check();
}

//! `memdir ask`: what goes out on which stream, what is done, and what stays.

use std::collections::BTreeSet;

use serde_json::json;

use super::{MOVES, ada, ada_with, last, masked, messages};
use crate::support::standin::Standin;
use crate::support::{Env, Ran};

const REPLIES: &str = "<reply>Paris it is.</reply>";

#[test]
fn a_reply_is_all_there_is_on_standard_output() {
    let standin = Standin::answers(["<reply>You live in London [user].</reply>"]);
    let env = ada(&standin);
    let before = env.files();
    let ran = env.run(&["ask", "Where do I live?"], "");
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "You live in London [user].\n", "nothing was stored\n")
    );
    assert_eq!(env.files(), before);
    let asked = standin.asked();
    assert_eq!(asked.len(), 1);
    assert!(last(&asked[0]).contains("- city: London"), "the note is shown before the model asks: {}", asked[0]);
    assert!(last(&asked[0]).ends_with("<message>\nWhere do I live?\n</message>"));
}

#[test]
fn what_is_saved_is_told_beside_the_reply() {
    let standin = Standin::answers([MOVES, REPLIES]);
    let env = ada(&standin);
    let ran = env.run(&["ask", "I moved to Paris."], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Paris it is.\n"), "{ran:?}");
    insta::assert_snapshot!(ran.stderr);
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
    let asked = standin.asked();
    assert_eq!(messages(&asked[1])[2], ("assistant", MOVES), "its own turn, then what became of it");
    assert!(last(&asked[1]).starts_with("<result>"), "{}", last(&asked[1]));
}

#[test]
fn the_object_of_the_contract() {
    let standin = Standin::answers([MOVES, REPLIES]);
    let env = ada(&standin);
    let said = env.ask(&["ask", "I moved to Paris."]).exits(0);
    insta::assert_snapshot!(serde_json::to_string_pretty(&masked(said)).unwrap());
}

#[test]
fn the_history_says_who_and_at_which_message() {
    let standin = Standin::answers([MOVES, REPLIES]);
    let env = ada(&standin);
    let said = env.ask(&["ask", "I moved to Paris."]).exits(0);
    let log = env.ask(&["log"]).exits(0);
    assert_eq!(log["entries"][0]["door"], "ask");
    assert_eq!(log["entries"][0]["changed"], json!(["user.md"]));
    let exported = env.run(&["audit", "export", "--jsonl"], "").stdout;
    let entries: Vec<serde_json::Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let write = entries.iter().find(|entry| entry["action"] == "update_file").unwrap();
    assert_eq!(
        [&write["door"], &write["session"], &write["message"], &write["origin"]],
        [&json!("ask"), &said["session"], &json!("1"), &json!("model")]
    );
    assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], true);
    let stats = env.ask(&["log", "--stats"]).exits(0);
    let doors: Vec<_> = stats["doors"].as_array().unwrap().iter().map(|tally| &tally["name"]).collect();
    assert_eq!(doors, ["ask"], "{stats}");
    assert_eq!(stats["sessions"][0]["name"], said["session"], "{stats}");
    let undone = env.run(&["undo"], "");
    assert_eq!((undone.code, env.read("user.md").as_str()), (0, "# Ada\n\n- city: London\n"));
}

#[test]
fn with_its_turns_used_up_it_says_so() {
    let reads = |path: &str| format!(r#"<actions>[{{"action":"read_file","path":"{path}"}}]</actions>"#);
    let standin = Standin::answers([reads("user.md"), reads("entities/acme.md"), REPLIES.to_owned()]);
    let env = ada_with(&standin, "turns = 2\n");
    let ran = env.run(&["ask", "Where do I live?"], "");
    assert_eq!(ran.stdout, "");
    assert_eq!(ran.stderr, "note: the model had no turn left after 2; what it did is done\nnothing was stored\n");
    assert_eq!((ran.code, standin.asked().len()), (4, 2), "a message without a reply is no success: {ran:?}");
}

#[test]
fn a_program_hears_why_there_is_no_reply() {
    let standin = Standin::answers([r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#]);
    let env = ada_with(&standin, "turns = 1\n");
    let said = env.ask(&["ask", "Where do I live?"]).exits(4);
    assert_eq!((&said["reply"], &said["turns"]), (&json!(null), &json!(1)));
    let notice = said["issues"].as_array().unwrap().last().unwrap();
    assert_eq!(notice["code"], "out_of_turns", "{said}");
    assert_eq!(notice["message"], "the model had no turn left after 1; what it did is done");
}

#[test]
fn under_each_answer_stands_what_was_stored() {
    let claims = "<reply>I have saved that you moved to Paris. Enjoy it!</reply>";
    let standin = Standin::answers([claims, claims, MOVES, claims]);
    let env = ada(&standin);
    let said = env.ask(&["ask", "I moved to Paris."]).exits(0);
    assert_eq!(
        (&said["reply"], &said["receipt"]),
        (&json!("I have saved that you moved to Paris. Enjoy it!"), &json!(null))
    );
    let ran = env.run(&["ask", "I moved to Paris."], "");
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("I have saved that you moved to Paris. Enjoy it!\n", "nothing was stored\n")
    );
    let said = env.ask(&["ask", "I moved to Paris."]).exits(0);
    assert_eq!(said["receipt"], "1 line in user.md · undo: memdir undo");
}

#[test]
fn read_only_changes_nothing() {
    let standin = Standin::answers([MOVES, "<reply>I can only read.</reply>"]);
    let env = ada(&standin);
    let before = env.files();
    let said = env.ask(&["ask", "--read-only", "I moved to Paris."]).exits(0);
    assert_eq!(said["actions"][0]["error"]["code"], "read_only", "{said}");
    assert_eq!((&said["changed"], &said["batches"]), (&json!([]), &json!([])));
    assert_eq!(env.files(), before);
    let system = standin.asked()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(!system.contains("`update_file`"), "what it cannot do is not offered: {system}");
}

#[test]
fn what_is_personal_waits_for_the_person() {
    let keeps =
        r#"<actions>[{"action":"append_file","path":"user.md","content":"- phone: +44 20 7946 0958\n"}]</actions>"#;
    let standin = Standin::answers([keeps, "<reply>It waits for your yes.</reply>"]);
    let env = ada(&standin);
    let before = env.files();
    let said = env.ask(&["ask", "--permission", "ask", "My phone is +44 20 7946 0958."]).exits(0);
    let id = said["pending"][0]["id"].as_u64().unwrap();
    assert_eq!(said["pending"][0]["actions"][0]["action"], "append_file", "{said}");
    assert_eq!(said["pending"][0]["reason"], "personal", "{said}");
    assert_eq!(env.files(), before);
    let pending = env.ask(&["pending"]).exits(0);
    assert_eq!(pending["pending"][0]["reason"], "personal: a phone number");
    assert_eq!((&pending["pending"][0]["id"], &pending["pending"][0]["door"]), (&json!(id), &json!("ask")));
    let code = crate::ask::code(&env, id);
    assert_eq!(env.run(&["approve", &id.to_string(), "--code", &code], "").code, 0);
    assert!(env.read("user.md").ends_with("- phone: +44 20 7946 0958\n"));
}

#[test]
fn what_waits_is_told_to_people_too() {
    let keeps =
        r#"<actions>[{"action":"append_file","path":"user.md","content":"- phone: +44 20 7946 0958\n"}]</actions>"#;
    let standin = Standin::answers([keeps, "<reply>It waits for your yes.</reply>"]);
    let env = ada(&standin);
    let ran = env.run(&["ask", "--permission", "ask", "My phone is +44 20 7946 0958."], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "It waits for your yes.\n"));
    assert_eq!(ran.stderr, "nothing was stored\nproposal 1 waits for you: memdir pending\n");
}

#[test]
fn where_nothing_waits_longer_than_the_program_nobody_is_told_that_it_does() {
    let keeps =
        r#"<actions>[{"action":"append_file","path":"user.md","content":"- phone: +44 20 7946 0958\n"}]</actions>"#;
    let standin = Standin::answers([keeps, "<reply>It was not kept.</reply>"]);
    let env = ada(&standin);
    let mut command = env.command(&["ask", "--json", "--permission", "ask", "My phone is +44 20 7946 0958."]);
    command.env("MEMDIR_PERMISSION_INBOX", "process");
    let said = crate::support::finish(command, b"").exits(0);
    assert_eq!(said["pending"], json!([]), "{said}");
    assert!(!last(&standin.asked()[1]).contains("proposal"), "{}", last(&standin.asked()[1]));
}

#[test]
fn a_conversation_goes_on() {
    let standin = Standin::answers(["<reply>Hello Ada.</reply>", "<reply>Two.</reply>", "<reply>Three.</reply>"]);
    let env = ada(&standin);
    let first = env.ask(&["ask", "This is the first thing."]).exits(0);
    let session = first["session"].as_str().unwrap();
    let second = env.ask(&["ask", "--session", session, "This is the second."]).exits(0);
    let third = env.ask(&["ask", "--continue", "And the third."]).exits(0);
    assert_eq!([&second["session"], &third["session"]], [session, session]);
    let asked = standin.asked();
    let heard = |body| {
        messages(body)
            .into_iter()
            .map(|(role, text): (&str, &str)| (role.to_owned(), text.to_owned()))
            .collect::<Vec<_>>()
    };
    let said = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        heard(&asked[2])[1..4],
        [
            said("user", "<message>\nThis is the first thing.\n</message>"),
            said("assistant", "<reply>Hello Ada.</reply>"),
            said("user", "<message>\nThis is the second.\n</message>"),
        ]
    );
    assert_eq!(heard(&asked[2])[4], said("assistant", "<reply>Two.</reply>"));
    assert!(heard(&asked[2])[5].1.ends_with("<message>\nAnd the third.\n</message>"));
    let listed = env.ask(&["session", "list"]).exits(0);
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let unknown = env.ask(&["ask", "--session", "ffffffff", "x"]).exits(4);
    assert_eq!(unknown["error"]["code"], "not_found");
    assert_eq!(standin.asked().len(), 3);
}

#[test]
fn a_message_comes_from_standard_input() {
    let standin = Standin::answers(["<reply>Two lines.</reply>"]);
    let env = ada(&standin);
    let ran = env.run(&["ask", "-"], "one\n</message> two\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Two lines.\n"));
    assert!(
        last(&standin.asked()[0]).ends_with("<message>\none\n&lt;/message> two\n</message>"),
        "{}",
        last(&standin.asked()[0])
    );
    let empty = env.ask_with(&["ask", "-"], " \n");
    assert_eq!((empty.code, empty.json()["error"]["code"].as_str()), (2, Some("usage")));
}

impl Env {
    fn ask_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        self.run(&[arguments, &["--json"]].concat(), stdin)
    }
}

#[test]
fn three_stages_each_with_its_shape() {
    let standin = Standin::answers([
        r#"{"summary":"Ada lives in London [user].","entities":["Ada","London"]}"#,
        r#"{"actions":[{"action":"update_file","path":"user.md","old_content":"- city: London","new_content":"- city: Paris"}]}"#,
        r#"{"summary":"The change was made.","entities":["Paris"]}"#,
        r#"{"action":"final_answer"}"#,
        r#"{"reply":"Paris it is."}"#,
    ]);
    let env = ada(&standin);
    let said = env.ask(&["ask", "--staged", "I moved to Paris."]).exits(0);
    assert_eq!((&said["reply"], &said["changed"]), (&json!("Paris it is."), &json!(["user.md"])), "{said}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
    let asked = standin.asked();
    let shapes: Vec<BTreeSet<&str>> = asked
        .iter()
        .map(|body| {
            let schema = &body["response_format"]["json_schema"]["schema"];
            let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{body}"));
            properties.keys().map(String::as_str).collect()
        })
        .collect();
    let [perceives, decides, responds] = [&["summary", "entities"][..], &["actions", "action"], &["reply"]]
        .map(|keys| keys.iter().copied().collect::<BTreeSet<&str>>());
    assert_eq!(shapes, [perceives.clone(), decides.clone(), perceives, decides, responds]);
    assert!(last(&asked[4]).contains("- update_file in user.md: done"), "{}", last(&asked[4]));
}

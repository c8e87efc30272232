//! The mode `ask`: what waits for the person, and that nothing of it is kept unless they agree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Env, files, said};

mod all;
#[cfg(target_os = "linux")]
mod crash;
mod inbox;
#[cfg(unix)]
mod standing;
pub(crate) mod terminal;

/// A text that the detectors ask about, with a word that is nowhere else.
pub(crate) const FACT: &str = "- email: quetzalcoatl@example.com";
/// The word.
pub(crate) const WORD: &str = "quetzalcoatl";

/// Appends [`FACT`] to a note.
pub(crate) fn personal(path: &str) -> Value {
    json!({"action": "append_file", "path": path, "content": FACT})
}

/// Runs actions in the mode `ask`.
#[track_caller]
pub(crate) fn asked(env: &Env, actions: &Value) -> Value {
    env.say(&said(actions), &["--permission", "ask"]).json()
}

/// A memory in which [`FACT`] waits as proposal 1.
pub(crate) fn waiting() -> Env {
    let env = Env::ada();
    let report = env.say(&said(&json!([personal("user.md")])), &["--permission", "ask"]).exits(3);
    assert_eq!(report["actions"][0]["error"]["proposal"], json!(1), "{report}");
    env
}

fn codes(report: &Value) -> Vec<&str> {
    let outcomes = report["actions"].as_array().unwrap().iter();
    outcomes.map(|outcome| outcome["error"]["code"].as_str().unwrap_or("ok")).collect()
}

/// The numbers of what waits.
#[track_caller]
pub(crate) fn ids(env: &Env) -> Vec<u64> {
    let pending = env.ask(&["pending"]).json();
    let proposals = pending["pending"].as_array().unwrap_or_else(|| panic!("{pending}")).iter();
    proposals.map(|proposal| proposal["id"].as_u64().unwrap()).collect()
}

/// The code that `pending` shows for a proposal.
#[track_caller]
pub(crate) fn code(env: &Env, id: u64) -> String {
    let shown = env.run(&["pending"], "").stdout;
    let line = shown.lines().find(|line| line.starts_with(&format!("decide: memdir approve {id},")));
    line.unwrap_or_else(|| panic!("{shown}")).rsplit(' ').next().unwrap().to_owned()
}

/// The folder with the proposals.
pub(crate) fn folder(env: &Env) -> PathBuf {
    let machines = std::fs::read_dir(env.at(".memdir")).unwrap().map(|entry| entry.unwrap().path());
    machines.filter(|path| path.is_dir()).map(|path| path.join("inbox")).next().unwrap()
}

/// Every file of the test (memory, state, settings, index) that holds a text, but for what waits.
fn holding(env: &Env, text: &str) -> Vec<String> {
    let found: BTreeMap<String, Vec<u8>> = files(env.base());
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let found = found.into_iter().filter(|(path, bytes)| path.contains(text) || holds(bytes));
    found.map(|(path, _)| path).filter(|path| !path.contains("/inbox/")).collect()
}

#[test]
fn a_call_waits_with_the_later_calls_on_its_paths_and_the_rest_is_done() {
    let env = Env::ada();
    let report = asked(
        &env,
        &json!([
            {"action": "append_file", "path": "user.md", "content": "- pet: cat"},
            personal("user.md"),
            {"action": "create_file", "path": "new.md", "content": "new\n"},
            {"action": "update_file", "path": "user.md", "old_content": "cat", "new_content": "dog"},
            {"action": "read_file", "path": "user.md"},
            {"action": "get_size", "path": "new.md"},
            {"action": "rename_file", "path": "entities/acme.md", "new_path": "acme.md"},
        ]),
    );
    let waits = "awaiting_approval";
    assert_eq!(codes(&report), ["ok", waits, "ok", waits, waits, "ok", "ok"]);
    let error = json!({"code": waits, "message": "proposal 1 waits for the person",
        "hint": "go on without it; nothing of it is kept unless the person agrees", "proposal": 1});
    for at in [1, 3, 4] {
        assert_eq!(report["actions"][at]["error"], error);
    }
    assert_eq!(report["changed"], json!(["acme.md", "entities/acme.md", "new.md", "user.md"]));
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n- pet: cat\n");
    let pending = env.ask(&["pending"]).exits(0);
    let proposal = &pending["pending"][0];
    let names: Vec<_> = proposal["actions"].as_array().unwrap().iter().map(|action| &action["action"]).collect();
    assert_eq!(names, ["append_file", "update_file"]);
    assert_eq!((&proposal["reason"], &proposal["door"]), (&json!("personal: an email address"), &json!("exec")));
    assert_eq!((&proposal["changed"], &proposal["client"]), (&json!(["user.md"]), &Value::Null));
    let diff = format!(
        "--- a/user.md\n+++ b/user.md\n@@ -1,4 +1,5 @@\n # Ada\n \n - city: London\n-- pet: cat\n+- pet: dog\n+{FACT}\n"
    );
    assert_eq!(proposal["diff"], json!(diff));
    let approved = env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
    assert_eq!(approved, json!({"id": 1, "approved": true, "batch": 2, "changed": ["user.md"]}));
    assert_eq!(env.read("user.md"), format!("# Ada\n\n- city: London\n- pet: dog\n{FACT}\n"));
    assert_eq!(ids(&env), [0; 0]);
    let undone = env.ask(&["undo"]).exits(0);
    assert_eq!(undone["undone"], json!(2));
}

#[test]
fn paths_are_the_same_by_whatever_name() {
    for (first, later, joins) in [
        (personal("a.md"), json!({"action": "rename_file", "path": "a.md", "new_path": "b.md"}), true),
        (personal("a.md"), json!({"action": "copy_file", "path": "dir/x.md", "new_path": "y.md"}), false),
        (personal("dir/x.md"), json!({"action": "delete_dir", "path": "dir", "recursive": true}), true),
        (personal("dir/x.md"), json!({"action": "create_file", "path": "dir/y.md", "content": "y"}), false),
        (personal("a.md"), json!({"action": "append_file", "path": "link.md", "content": "y"}), true),
        (personal("link.md"), json!({"action": "append_file", "path": "a.md", "content": "y"}), true),
        (
            json!({"action": "memory", "operation": "store", "key": "mail", "content": FACT}),
            json!({"action": "memory", "operation": "delete", "key": "Mail"}),
            true,
        ),
        (
            json!({"action": "memory", "operation": "store", "key": "mail", "content": FACT}),
            json!({"action": "write_file", "path": "memories/mail.md", "content": "y"}),
            true,
        ),
        (
            json!({"action": "memory", "operation": "store", "key": "mail", "content": FACT}),
            json!({"action": "memory", "operation": "store", "key": "pet", "content": "cat"}),
            false,
        ),
    ] {
        let env = Env::with(&[("a.md", "a\n"), ("dir/x.md", "x\n")]);
        #[cfg(unix)]
        std::os::unix::fs::symlink("a.md", env.at("link.md")).unwrap();
        let report = asked(&env, &json!([first, later]));
        let expected = if joins { "awaiting_approval" } else { "ok" };
        assert_eq!(codes(&report), ["awaiting_approval", expected], "{first} {later}");
        assert_eq!(env.ask(&["pending"]).exits(0)["pending"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_call_that_comes_to_two_proposals_makes_them_one() {
    let env = Env::with(&[("a.md", "a\n"), ("b.md", "b\n"), ("c.md", "c\n")]);
    let report = asked(
        &env,
        &json!([personal("a.md"), personal("b.md"), personal("c.md"),
            {"action": "copy_file", "path": "b.md", "new_path": "d.md"},
            {"action": "delete_file", "path": "a.md"},
            {"action": "rename_file", "path": "d.md", "new_path": "a.md"}]),
    );
    let proposals: Vec<_> =
        report["actions"].as_array().unwrap().iter().map(|outcome| &outcome["error"]["proposal"]).collect();
    assert_eq!(proposals, [&json!(1), &json!(1), &json!(2), &json!(1), &json!(1), &json!(1)]);
    assert_eq!(ids(&env), [1, 2]);
    assert_eq!(env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0)["changed"], json!(["a.md", "b.md"]));
    assert_eq!(env.read("a.md"), format!("b\n{FACT}\n"));
}

#[test]
fn a_rename_that_waits_rewrites_links_once_the_person_agrees() {
    for rule in ["action = \"rename_file\"", "path = \"private/**\""] {
        let env = Env::with(&[("private/a.md", "a\n"), ("private/b.md", "see [[private/a]]\n")])
            .settings(&format!("[[rule]]\n{rule}\nverdict = \"ask\"\n"));
        let rename = json!([{"action": "rename_file", "path": "private/a.md", "new_path": "private/c.md"}]);
        let report = asked(&env, &rename);
        assert_eq!(codes(&report), ["awaiting_approval"], "{rule}: {report}");
        let proposal = env.ask(&["pending"]).exits(0)["pending"][0].clone();
        assert_eq!(proposal["changed"], json!(["private/a.md", "private/b.md", "private/c.md"]));
        env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
        assert_eq!(env.read("private/b.md"), "see [[private/c]]\n");
    }
    // A note to which it may not come stays as it is, whoever agrees.
    let env = Env::with(&[("a.md", "a\n"), ("private/b.md", "see [[a]]\n")]).settings(
        "[[rule]]\naction = \"rename_file\"\nverdict = \"ask\"\n[[rule]]\npath = \"private/**\"\nverdict = \"deny\"\n",
    );
    let rename = json!([{"action": "rename_file", "path": "a.md", "new_path": "c.md"}]);
    assert_eq!(codes(&asked(&env, &rename)), ["denied"]);
}

#[test]
fn what_cannot_be_planned_is_not_proposed() {
    let env = Env::ada();
    let wrong = json!({"action": "update_file", "path": "user.md", "old_content": "Rome", "new_content": FACT});
    let report = asked(
        &env,
        &json!([wrong, {"action": "append_file", "path": "user.md", "content": "x"}, {"action": "read_file", "path": "user.md"}]),
    );
    assert_eq!(codes(&report), ["content_not_found", "conflict", "ok"]);
    assert_eq!(ids(&env), [0; 0]);
    let report = asked(&env, &json!([personal("user.md"), wrong]));
    assert_eq!(codes(&report), ["awaiting_approval", "content_not_found"]);
    assert!(!report["actions"][1].to_string().contains(WORD), "what waits is not shown as if it were there: {report}");
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"][0]["actions"].as_array().unwrap().len(), 1);
    let number = report["actions"][0]["error"]["proposal"].clone();
    assert_eq!(number, json!(1), "what was not proposed took no number");
}

#[test]
fn what_may_not_be_read_is_not_told_by_a_failure_either() {
    let env = Env::with(&[("private/a.md", "- code name: zeppelin\n")])
        .settings("[[rule]]\npath = \"private/**\"\nverdict = \"ask\"\n");
    let wrong = json!({"action": "update_file", "path": "private/a.md", "old_content": "- code name: airship", "new_content": "x"});
    let report = env.say(&said(&json!([wrong])), &["--permission", "ask"]).exits(4);
    assert_eq!(codes(&report), ["content_not_found"]);
    assert!(!report.to_string().contains("zeppelin"), "{report}");
    let read = env.say(&said(&json!([{"action": "read_file", "path": "private/a.md"}])), &["--permission", "ask"]);
    assert_eq!(codes(&read.exits(3)), ["permission_required"]);
    let env = env.settings(
        "[[rule]]\npath = \"private/**\"\nverdict = \"ask\"\n[[rule]]\npath = \"memories/**\"\nverdict = \"ask\"\n",
    );
    let store = |key: &str| said(&json!([{"action": "memory", "operation": "store", "key": key, "content": "y"}]));
    assert_eq!(env.say(&store("♜"), &[]).code, 0);
    let report = env.say(&store("♞"), &["--permission", "ask"]).exits(3);
    assert_eq!((codes(&report), report.to_string().contains("♜")), (vec!["awaiting_approval"], false));
    let right = json!({"action": "append_file", "path": "private/a.md", "content": "more"});
    let report = env.say(&said(&json!([right])), &["--permission", "ask"]).exits(3);
    assert!(!report.to_string().contains("zeppelin"), "{report}");
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"][1]["reason"], json!("rule 1 asks about `append_file`"));
}

#[test]
fn under_atomic_and_in_a_dry_run_nothing_waits() {
    let env = Env::ada();
    let before = env.seen();
    let text = said(
        &json!([{"action": "create_file", "path": "new.md", "content": "x"}, personal("user.md"), {"action": "read_file", "path": "user.md"}]),
    );
    let report = env.say(&text, &["--permission", "ask", "--atomic"]).exits(3);
    assert_eq!(codes(&report), ["batch_aborted", "awaiting_approval", "awaiting_approval"]);
    let dry = env.say(&text, &["--permission", "ask", "--dry-run"]).exits(3);
    assert_eq!(
        (codes(&dry), &dry["changed"]),
        (vec!["ok", "awaiting_approval", "awaiting_approval"], &json!(["new.md"]))
    );
    for report in [report, dry] {
        assert!(!report.to_string().contains("\"proposal\""), "{report}");
    }
    assert_eq!(env.ask(&["pending"]).exits(0), json!({"pending": [], "problems": []}));
    assert_eq!(
        env.ask(&["approve", "1", "--code", "AAAAAAAA"]).exits(4)["error"]["message"],
        json!("there is no proposal 1")
    );
    assert_eq!(env.ask(&["reject", "1"]).exits(4)["error"]["code"], json!("not_found"));
    assert_eq!(env.seen(), before, "not even `.memdir`");
}

#[test]
fn the_other_modes_are_as_they_were_and_what_is_denied_stays_denied() {
    let env = Env::ada();
    let claimed = json!({"action": "append_file", "path": "user.md", "content": FACT, "has_explicit_permission": true});
    assert_eq!(env.say(&said(&json!([claimed])), &["--permission", "flag"]).code, 0);
    assert_eq!(codes(&asked(&env, &json!([claimed]))), ["awaiting_approval"], "the flag changes nothing");
    let secret = json!({"action": "append_file", "path": "user.md", "content": format!("token: ghp_{}", "a1B2c3D4e5F6".repeat(3))});
    assert_eq!(codes(&asked(&env, &json!([secret]))), ["denied"]);
    let code = code(&env, 1);
    let env = env.settings("[[rule]]\naction = \"append_file\"\nverdict = \"deny\"\n");
    let refused = env.ask(&["approve", "1", "--code", &code]).exits(3);
    assert_eq!(refused["error"]["code"], json!("denied"));
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"][0]["error"]["code"], json!("denied"));
    assert_eq!(env.ask(&["reject", "1"]).exits(0), json!({"id": 1, "approved": false, "batch": null, "changed": []}));
}

/// The promise in bytes: until the person agrees it stands in one file, and after a no in none.
#[test]
fn nothing_that_nobody_approved_is_anywhere() {
    let secret = format!("ghp_{}", "z9Y8x7W6v5U4".repeat(3));
    for end in ["approve", "reject", "expire"] {
        let env = Env::ada().quick();
        let log = env.base().join("log");
        let run = |text: &str, more: &[&str]| {
            let arguments = ["exec", "--json", "--log", log.to_str().unwrap(), "--permission", "ask"];
            env.run(&arguments.iter().chain(more).copied().collect::<Vec<_>>(), text)
        };
        env.run(&["search", "London", "--json"], "");
        let text = said(&json!([
            personal("user.md"),
            {"action": "create_file", "path": "people/quetzalcoatl.md", "content": "- email: a@example.com"},
            {"action": "rename_file", "path": "people/quetzalcoatl.md", "new_path": "people/xquetzalcoatl.md"},
            {"action": "update_file", "path": "user.md", "old_content": WORD, "new_content": WORD},
            {"action": "append_file", "path": "user.md", "content": format!("token {secret}")},
            {"action": "append_file", "path": "entities/acme.md", "content": "- staff: 3"},
            {"action": "read_file", "path": "people/quetzalcoatl.md"},
        ]));
        run(&text, &[]);
        run(&text, &["--atomic"]);
        run(&text, &["--dry-run"]);
        env.run(&["search", "London", "--json"], "");
        assert_eq!(holding(&env, WORD), [""; 0], "{end}: waiting");
        assert!(!files(&folder(&env)).is_empty());
        let waiting = ids(&env);
        assert_eq!(waiting, [1, 2]);
        match end {
            "approve" => {
                assert_eq!(env.ask(&["reject", "1"]).code, 0);
                assert_eq!(holding(&env, WORD), [""; 0]);
                assert_eq!(env.ask(&["approve", "2", "--code", &code(&env, 2)]).code, 0);
                assert!(!holding(&env, WORD).is_empty(), "what is approved is kept");
                let entries = env.run(&["audit", "export", "--jsonl"], "").stdout;
                assert!(!entries.contains("- email: quetzal"), "{entries}");
            }
            "reject" => waiting.iter().for_each(|id| assert_eq!(env.ask(&["reject", &id.to_string()]).code, 0)),
            _ => {
                let mut command = env.command(&["tree"]);
                command.env("MEMDIR_PERMISSION_INBOX_DAYS", "0");
                // What waits keeps the days that it was given.
                crate::support::finish(command, b"");
                assert_eq!(ids(&env), [1, 2]);
                inbox::age(&env);
                env.run(&["tree"], "");
            }
        }
        assert_eq!(files(&folder(&env)), BTreeMap::new(), "{end}");
        env.run(&["search", "London", "--json"], "");
        if end != "approve" {
            assert_eq!(holding(&env, WORD), [""; 0], "{end}: decided");
        }
        assert_eq!(holding(&env, &secret), [""; 0], "{end}: a secret is nowhere at all");
        assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], json!(true));
    }
}

#[test]
fn the_audit_says_that_a_proposal_waited_and_what_became_of_it() {
    let env = waiting();
    asked(&env, &json!([personal("entities/acme.md"), {"action": "read_file", "path": "entities/acme.md"}]));
    asked(&env, &json!([personal("a.md"), {"action": "create_file", "path": "b.md", "content": FACT}]));
    env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
    env.ask(&["reject", "2"]).exits(0);
    let exported = env.run(&["audit", "export", "--jsonl"], "").stdout;
    let entries: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<String> = entries
        .iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
            let (code, batch, payload) = (text("code"), &entry["batch"], &entry["payload"]);
            let payload = if entry["batch"].is_null() { payload.to_string() } else { String::new() };
            let (door, origin) = (text("door"), text("origin"));
            format!("{} {code} {} {door} {origin} {batch} {payload}", text("action"), text("permission"))
        })
        .collect();
    assert_eq!(
        told,
        [
            r#"append_file awaiting_approval refused exec model null {"proposal":1}"#,
            r#"append_file awaiting_approval refused exec model null {"proposal":2}"#,
            r#"read_file awaiting_approval refused exec model null {"proposal":2}"#,
            r#"create_file awaiting_approval refused exec model null {"proposal":3}"#,
            r#"append_file not_found refused exec model null {}"#,
            r#"append_file - approved exec model 1 "#,
            r#"approve - off cli person null {"proposal":1,"batch":1}"#,
            r#"reject - off cli person null {"proposal":2,"batch":null}"#,
        ]
    );
    let lines = env.ask(&["log", "user.md", "--lines"]).exits(0);
    assert_eq!(lines["lines"][3]["origin"], json!("model"), "who approves does not become the author: {lines}");
}

#[test]
fn where_nothing_can_wait_nobody_is_told_that_it_does() {
    for (name, value) in [("MEMDIR_PERMISSION_INBOX_DAYS", "0"), ("MEMDIR_PERMISSION_INBOX", "process")] {
        let env = Env::ada();
        let mut command = env.command(&["exec", "--permission", "ask", "--json"]);
        command.env(name, value);
        let text = said(&json!([personal("user.md"), {"action": "read_file", "path": "user.md"},
            {"action": "create_file", "path": "b.md", "content": "b"}]));
        let ran = crate::support::finish(command, text.as_bytes());
        let report = ran.json();
        assert_eq!(codes(&report), ["awaiting_approval", "awaiting_approval", "ok"], "{name}");
        assert_eq!(report["actions"][0]["error"]["message"], json!("this is personal: an email address"));
        assert!(!format!("{ran:?}").contains("proposal"), "{name}: {ran:?}");
        assert_eq!(files(&folder(&env)), BTreeMap::new(), "{name}");
        assert_eq!(holding(&env, WORD), [""; 0]);
    }
}

#[test]
fn forget_finds_several_lines_in_what_a_proposal_shows() {
    let env = Env::with(&[("a.md", "first of it\nsecond of it\nthird\n")]);
    asked(&env, &json!([personal("a.md")]));
    env.ask(&["forget", "--text", "first of it\nsecond of it", "--yes"]).exits(0);
    assert_eq!(holding(&env, "second of it"), [""; 0]);
    assert_eq!(files(&folder(&env)), BTreeMap::new(), "the diff shows them");
}

#[test]
fn forget_takes_it_out_of_the_inbox_too() {
    let env = waiting();
    asked(
        &env,
        &json!([personal("entities/acme.md"), {"action": "append_file", "path": "entities/acme.md", "content": "see [[jane]]"}]),
    );
    asked(&env, &json!([{"action": "create_file", "path": "jane.md", "content": "- email: jane@example.com"}]));
    env.write("jane.md", "Jane\n");
    let found = env.ask(&["forget", "jane.md", "--dry-run"]).exits(0);
    let places: Vec<_> = found["places"].as_array().unwrap().iter().filter(|place| place["where"] == "inbox").collect();
    let place = |id: u64| json!({"where": "inbox", "path": format!("proposal {id}"), "count": 1});
    assert_eq!(places, [&place(2), &place(3)]);
    assert_eq!(ids(&env), [1, 2, 3]);
    env.ask(&["forget", "jane.md", "--yes"]).exits(0);
    assert_eq!(ids(&env), [1]);
    let found = env.ask(&["forget", "--text", WORD, "--yes"]).exits(0);
    assert_eq!((&found["places"], &found["left"]), (&json!([place(1)]), &json!([])));
    assert_eq!(ids(&env), [0; 0]);
    assert_eq!(holding(&env, WORD), [""; 0]);
    assert_eq!(files(&folder(&env)), BTreeMap::new());
}

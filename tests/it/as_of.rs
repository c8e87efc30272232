//! `--as-of` and `as_of` through the program: a memory whose history is made to be some days old.

use memdir_core::time::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::rpc::{Client, MODERN};
use crate::support::{Env, files};

/// A memory with four changes, one on each of the first four days of March 2026.
fn march() -> Env {
    let env = Env::with(&[("user.md", "# Ada\n\n- city: London\n"), ("by_hand.md", "green tea\n")]).quick();
    env.exec(&json!([{"action": "set_fact", "path": "user.md", "key": "city", "value": "Porto"}]));
    env.exec(&json!([{"action": "create_file", "path": "people/bo.md", "content": "# Bo\n\n- job: baker of green tea cakes\n"}]));
    env.exec(&json!([{"action": "rename_file", "path": "people/bo.md", "new_path": "friends/bo.md"}]));
    env.exec(&json!([{"action": "set_fact", "path": "user.md", "key": "city", "value": "Braga"}, {"action": "delete_file", "path": "friends/bo.md"}]));
    let history = files(env.memory()).into_keys().find(|name| name.ends_with("history.sqlite")).unwrap();
    let noon = Timestamp::parse("2026-02-28T12:00:00Z").unwrap().micros();
    let history = Connection::open(env.at(&history)).unwrap();
    history.execute("UPDATE batch SET time = ?1 + id * 86400000000", [noon]).unwrap();
    env
}

fn ask(env: &Env, arguments: &[&str]) -> Value {
    let ran = env.run(&[arguments, &["--json"]].concat(), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn commands_that_read_tell_what_a_day_ended_with() {
    let env = march();
    let read = |note: &str, day: &str| ask(&env, &["read", note, "--as-of", day]);
    let cities = ["2026-03-01", "2026-03-03", "2026-03-04T11:59:59Z", "2026-03-04T14:00:00+01:00", "2030-01-01"]
        .map(|day| read("user", day)["text"].as_str().unwrap().trim_end().rsplit(' ').next().unwrap().to_owned());
    assert_eq!(cities, ["Porto", "Porto", "Porto", "Braga", "Braga"]);
    assert_eq!(read("bo", "2026-03-02")["path"], "people/bo.md");
    assert_eq!(read("bo", "2026-03-03")["path"], "friends/bo.md");
    assert_eq!(read("friends/bo.md", "2026-03-02")["text"], "# Bo\n\n- job: baker of green tea cakes\n");
    let names = |day: &str| {
        let listed = ask(&env, &["tree", "--as-of", day]);
        let names =
            listed["entries"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("2026-03-01"), "by_hand.md user.md");
    assert_eq!(names("2026-03-02"), "by_hand.md people people/bo.md user.md");
    assert_eq!(names("2026-03-03"), "by_hand.md friends friends/bo.md people user.md");
    let facts = ask(&env, &["facts", "--as-of", "2026-03-03"]);
    let facts = facts["facts"].as_array().unwrap().iter().map(|fact| format!("{} {}", fact["path"], fact["value"]));
    assert_eq!(facts.collect::<Vec<_>>(), ["\"friends/bo.md\" \"baker of green tea cakes\"", "\"user.md\" \"Porto\""]);
    let found = ask(&env, &["search", "green tea", "--as-of", "2026-03-02"]);
    assert_eq!((&found["total"], &found["source"]), (&json!(2), &json!("scan")), "{found}");
    let shown = env.run(&["search", "green tea cakes", "--as-of", "2026-03-03"], "");
    assert!(shown.stdout.starts_with("friends/bo.md:1  Bo\n"), "by the title that it had: {shown:?}");
    assert_eq!(ask(&env, &["search", "green tea"])["total"], 1);
}

#[test]
fn what_is_not_known_is_an_error() {
    let env = march();
    for command in [&["read", "user"][..], &["facts"], &["tree"], &["search", "tea"]] {
        for (day, code, hint) in [
            ("2026-02-28", "unavailable", "the first day that can be asked for is 2026-03-01"),
            ("2026-02-30", "", "send a day such as `2026-11-16`, or a time such as `2026-11-16T09:30:00Z`"),
        ] {
            let ran = env.run(&[command, &["--as-of", day, "--json"]].concat(), "");
            let said: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert!(ran.code != 0 && said["error"]["hint"] == hint, "{ran:?}");
            assert!(code.is_empty() || said["error"]["code"] == code, "{ran:?}");
        }
    }
    let fresh = Env::with(&[("user.md", "x\n")]);
    let ran = fresh.run(&["read", "user", "--as-of", "2026-03-01", "--json"], "");
    assert!(ran.stdout.contains("unavailable"), "{ran:?}");
    assert!(files(fresh.memory()).len() == 1, "and no history begins");
}

#[test]
fn actions_take_a_day_through_every_door() {
    let env = march();
    let call = json!([
        {"action": "read_file", "path": "user.md", "as_of": "2026-03-02"},
        {"action": "read_file", "path": "user.md"},
        {"action": "list_files", "as_of": "2026-03-03"},
        {"action": "get_file_info", "path": "people/bo.md", "as_of": "2026-03-02"},
        {"action": "get_context", "query": "what is the job of Bo", "as_of": "2026-03-03"},
        {"action": "read_file", "path": "user.md", "as_of": "2026-02-01"},
    ]);
    let report = env.exec(&call);
    let value = |at: usize| &report["actions"][at]["value"];
    assert_eq!(value(0), "# Ada\n\n- city: Porto\n");
    assert_eq!(value(1), "# Ada\n\n- city: Braga\n");
    assert_eq!(value(2), &json!(["by_hand.md", "friends/bo.md", "user.md"]));
    assert_eq!((&value(3)["size"], &value(3)["modified"]), (&json!(38), &json!("2026-03-02T12:00:00Z")));
    assert_eq!(value(4)["parts"][0]["path"], "friends/bo.md", "{report}");
    assert_eq!(report["actions"][5]["error"]["code"], "unavailable");
    for (set, is_told) in [("compact", false), ("full", true)] {
        let mut client = Client::open(&env, MODERN, &["--tools", set]);
        let list = client.result("tools/list", json!({}));
        assert_eq!(list.to_string().contains("as_of"), is_told, "{set}");
        let read = client.call("read_file", json!({"path": "user.md", "as_of": "2026-03-02"}));
        assert_eq!(read["content"][0]["text"], "# Ada\n\n- city: Porto\n", "{set}");
    }
}

#[test]
fn a_client_sees_in_the_past_what_it_sees_now() {
    let env = march();
    env.ask(&["client", "add", "desk", "--read", "people/**"]).exits(0);
    let mut client = Client::open(&env, MODERN, &["--client", "desk", "--tools", "full"]);
    let list = |client: &mut Client, day: &str| client.call("list_files", json!({"as_of": day}));
    let listed = list(&mut client, "2026-03-02");
    assert_eq!(listed["structuredContent"]["value"], json!([]), "it has been elsewhere since: {listed}");
    // When the history of others began is not theirs to know.
    let first = list(&mut client, "2026-03-01")["structuredContent"]["error"]["hint"].clone();
    assert_eq!(first, "the first day that can be asked for is 2026-03-02");
}

//! While another process keeps the lock, and while it forgets.

use std::fs;

use serde_json::json;

use crate::support::Env;
use crate::support::rpc::{Client, MODERN};

#[test]
fn reads_are_answered_while_a_write_waits_for_another_process() {
    let env = Env::ada().set("MEMDIR_LIMITS_LOCK_SECONDS", "20");
    env.exec(&json!([{"action": "create_file", "path": "first.md", "content": "first\n"}]));
    let mut client = Client::open(&env, MODERN, &["--tools", "full"]);
    let lock = fs::OpenOptions::new().write(true).open(env.at(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let arguments = json!({"path": "second.md", "content": "second\n"});
    let write = client.ask("tools/call", json!({"name": "create_file", "arguments": arguments}));
    let reads = [
        ("read_file", json!({"path": "user.md"})),
        ("search_files", json!({"query": "London"})),
        ("list_files", json!({})),
        ("get_history", json!({"path": "first.md"})),
    ];
    for (name, arguments) in reads.iter().cycle().take(40) {
        let asked = client.ask("tools/call", json!({"name": name, "arguments": arguments}));
        let first = client.wait_for(|message| message["id"] == json!(asked) || message["id"] == json!(write));
        assert_eq!(first["id"], json!(asked), "the write is answered while another process has the lock: {first}");
        assert_eq!(first["result"]["isError"], json!(false), "{first}");
    }
    lock.unlock().unwrap();
    assert_eq!(client.answer(write)["result"]["isError"], json!(false));
    assert_eq!(env.read("second.md"), "second\n");
    assert_eq!(client.close().code, 0);
}

#[test]
fn what_a_server_has_read_does_not_come_back_after_it_is_forgotten() {
    let env = Env::with(&[("old-flame.md", "# Old\n\n- name: Ada\n"), ("user.md", "# Me\n")]);
    env.exec(&json!([{"action": "append_file", "path": "old-flame.md", "content": "- seen: often\n"}]));
    let mut client = Client::open(&env, MODERN, &["--tools", "full"]);
    for _ in 0..3 {
        client.call("read_file", json!({"path": "old-flame.md"}));
        client.call("search_files", json!({"query": "Ada often"}));
    }
    let ran = env.run(&["forget", "old-flame.md", "--yes"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    client.call("read_file", json!({"path": "user.md"}));
    assert_eq!(client.close().code, 0);
    let holds = |bytes: &[u8]| bytes.windows(9).any(|window| window == b"old-flame");
    let with: Vec<String> =
        env.seen().into_iter().filter_map(|(path, seen)| holds(&seen.bytes?).then_some(path)).collect();
    assert_eq!(with, [] as [&str; 0]);
    assert_eq!(env.run(&["audit", "verify"], "").code, 0);
}

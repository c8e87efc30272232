//! Sessions belong to who opened them, and end with the client's right to be here.

use super::*;

const VERSION: &str = "2025-06-18";

fn list() -> Value {
    message(2, "tools/list", json!({}))
}

fn listening(token: &str, session: &str) -> String {
    let token = bearer(token);
    request("GET", &[("Authorization", &token), ("Mcp-Session-Id", session), ("Accept", "text/event-stream")], "")
}

#[test]
fn a_session_of_another_client_is_as_one_that_never_was() {
    let site = Site::start();
    let session = open(&site, "desk", VERSION);
    let never = "11111111-2222-3333-4444-555555555555";
    let same = |of: &dyn Fn(&str) -> String| {
        let (real, none) = (site.send(of(&session)), site.send(of(never)));
        let strip = |answer: Answer| (answer.status, answer.body, answer.headers.len());
        assert_eq!(strip(real), strip(none));
    };
    same(&|id| legacy("phone", VERSION, Some(id), &list()));
    same(&|id| legacy("phone", VERSION, Some(id), &json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
    same(&|id| legacy("phone", VERSION, Some(id), &json!({})));
    same(&|id| legacy("phone", VERSION, Some(id), &list()).replace("text/event-stream", "text/html"));
    same(&|id| listening("phone", id));
    same(&|id| request("DELETE", &[("Authorization", "Bearer phone"), ("Mcp-Session-Id", id)], ""));
    assert_eq!(site.send(legacy("phone", VERSION, Some(&session), &list())).status, 404);
    assert_eq!(site.send(listening("phone", &session)).status, 404);
    assert_eq!(site.send(legacy("desk", VERSION, Some(&session), &list())).status, 200, "it is still there");
}

#[test]
fn a_revoked_client_is_out_at_once_and_its_streams_end() {
    let site = Site::start();
    let session = open(&site, "desk", VERSION);
    let mut stream = site.connect();
    stream.write(listening("desk", &session));
    assert_eq!(stream.head().status, 200);
    let kept = site.connect();
    site.revoke("desk");
    check_refused(&site.send(legacy("desk", VERSION, Some(&session), &list())), 401);
    check_refused(&site.ask("desk", "tools/list", json!({})), 401);
    let mut kept = kept;
    kept.write(modern("desk", "tools/list", json!({})));
    check_refused(&kept.answer(), 401);
    // The end of the stream, within the patience of this test.
    stream.rest();
    assert_eq!(site.ask("phone", "tools/list", json!({})).status, 200);
}

#[test]
fn a_stream_tells_what_the_grant_of_now_shows() {
    let site = Site::start();
    let mut stream = site.connect();
    let addresses = ["memdir:///user.md", "memdir:///last.md"];
    stream.write(modern(
        "desk",
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": addresses}}),
    ));
    stream.until("acknowledged");
    stream.until("\n\n");
    site.change("desk", |client| {
        client.grant = Some(Arc::new(Grant::new(&["last.md".to_owned()], &[], None).unwrap()));
    });
    site.env.write("user.md", "# Somebody else\n");
    // What belongs to one moment is told together; all of it has come once something of a later one has.
    for text in ["x", "longer"] {
        site.env.write("last.md", text);
        let told = stream.until("last.md");
        assert!(!told.contains("user.md"), "{told}");
        stream.until("\n\n");
    }
}

#[test]
fn a_client_keeps_its_newest_sessions() {
    let site = Site::start();
    let sessions: Vec<String> = (0..33).map(|_| open(&site, "desk", VERSION)).collect();
    let other = open(&site, "phone", VERSION);
    let status = |token, session: &str| site.send(legacy(token, VERSION, Some(session), &list())).status;
    assert_eq!(status("desk", &sessions[0]), 404);
    assert_eq!(status("desk", &sessions[1]), 200);
    assert_eq!(status("desk", &sessions[32]), 200);
    assert_eq!(status("phone", &other), 200);
}

#[test]
fn a_session_that_is_idle_for_too_long_ends() {
    let site = Site::limited(HttpLimits { session: Duration::from_millis(1500), ..HttpLimits::default() });
    let session = open(&site, "desk", VERSION);
    let mut stream = site.connect();
    stream.write(listening("desk", &session));
    // It ends with its session.
    stream.rest();
    assert_eq!(site.send(legacy("desk", VERSION, Some(&session), &list())).status, 404);
}

#[test]
fn what_was_seen_is_known_in_its_session_alone() {
    let site = Site::start();
    let (one, two) = (open(&site, "desk", VERSION), open(&site, "desk", VERSION));
    let call_in = |session: &str, name: &str, arguments: Value| {
        let asked = message(9, "tools/call", call(name, arguments));
        site.send(legacy("desk", VERSION, Some(session), &asked)).json()["result"].clone()
    };
    call_in(&one, "read_file", json!({"path": "user.md"}));
    let write = json!({"path": "user.md", "content": "# Ada\n\n- city: Paris\n"});
    let refused = call_in(&two, "write_file", write.clone());
    assert_eq!(refused["structuredContent"]["error"]["code"], "conflict", "{refused}");
    let done = call_in(&one, "write_file", write);
    assert_eq!(done["isError"], json!(false), "{done}");
}

#[test]
fn without_sessions_a_client_is_one_conversation() {
    let site = Site::start();
    site.call("desk", "read_file", json!({"path": "user.md"}));
    let write = json!({"path": "user.md", "content": "# Ada\n\n- city: Paris\n"});
    let refused = site.call("phone", "write_file", write.clone());
    assert_eq!(refused["structuredContent"]["error"]["code"], "conflict", "{refused}");
    assert_eq!(site.call("desk", "write_file", write)["isError"], json!(false));
}

#[test]
fn two_requests_with_one_id_do_not_take_each_others_answers() {
    let site = Site::start();
    let session = open(&site, "desk", VERSION);
    let in_session = |message: &Value| legacy("desk", VERSION, Some(&session), message);
    let vault = engine::vault(site.env.memory());
    let locked = vault.lock().unwrap();
    let make = call("create_file", json!({"path": "new.md", "content": "whole\n"}));
    let (head, body) = in_session(&message(5, "tools/call", make))
        .split_once("\r\n\r\n")
        .map(|(head, body)| (head.to_owned(), body.to_owned()))
        .unwrap();
    let mut first = site.connect();
    first.write(format!("{head}\r\nExpect: 100-continue\r\n\r\n"));
    assert_eq!(first.head().status, 100);
    first.write(&body);
    let second = |id: Value| {
        let mut list = list();
        list["id"] = id;
        site.send(in_session(&list))
    };
    while second(json!(5)).status == 200 {}
    let refused = second(json!(5));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (400, &json!(-32600)), "{refused:?}");
    assert_eq!(second(json!("5")).json()["id"], "5");
    let other = open(&site, "desk", VERSION);
    let mut same = list();
    same["id"] = json!(5);
    assert_eq!(site.send(legacy("desk", VERSION, Some(&other), &same)).status, 200, "of another session");
    drop(locked);
    let answer = first.answer();
    assert_eq!((&answer.json()["id"], &answer.json()["result"]["isError"]), (&json!(5), &json!(false)), "{answer:?}");
    assert_eq!(second(json!(5)).json()["id"], 5, "once it is answered");
}

#[test]
fn who_is_revoked_while_a_body_comes_is_out() {
    let site = Site::start();
    let (head, body) = {
        let asked = modern("desk", "tools/call", call("read_file", json!({"path": "user.md"})));
        asked.split_once("\r\n\r\n").map(|(head, body)| (head.to_owned(), body.to_owned())).unwrap()
    };
    let mut wire = site.connect();
    wire.write(format!("{head}\r\nExpect: 100-continue\r\n\r\n"));
    assert_eq!(wire.head().status, 100, "its token was good");
    site.revoke("desk");
    wire.write(body);
    check_refused(&wire.answer(), 401);
}

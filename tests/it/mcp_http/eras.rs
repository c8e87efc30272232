//! The versions of the protocol, each as it wants to be spoken.

use super::*;

#[test]
fn older_versions_open_a_session_and_call_in_it() {
    let site = Site::start();
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = open(&site, "desk", version);
        let list = site.send(legacy("desk", version, Some(&session), &message(2, "tools/list", json!({}))));
        assert_eq!(list.header("content-type"), Some("text/event-stream"));
        assert_eq!(list.header("x-accel-buffering"), Some("no"));
        assert_eq!(list.header("cache-control"), Some("no-store"));
        assert!(list.json()["result"]["tools"].as_array().unwrap().len() > 5);
        let read = message(3, "tools/call", call("read_file", json!({"path": "user.md"})));
        let read = site.send(legacy("desk", version, Some(&session), &read)).json();
        assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("London"), "{read}");
        let unknown = site.send(legacy("desk", version, Some(&session), &message(4, "no/such", json!({}))));
        assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (200, &json!(-32601)));
        let end = request("DELETE", &[("Authorization", "Bearer desk"), ("Mcp-Session-Id", &session)], "");
        assert!([200, 202, 204].contains(&site.send(end).status));
        let late = legacy("desk", version, Some(&session), &message(5, "tools/list", json!({})));
        assert_eq!(site.send(late).status, 404);
    }
}

#[test]
fn a_request_of_an_older_version_needs_a_session() {
    let site = Site::start();
    let list = message(2, "tools/list", json!({}));
    assert_eq!(site.send(legacy("desk", "2025-06-18", None, &list)).status, 400);
    let listen = request("GET", &[("Authorization", "Bearer desk"), ("Accept", "text/event-stream")], "");
    assert_eq!(site.send(listen).status, 400);
    let foreign = legacy("desk", "2025-06-18", Some("11111111-2222-3333-4444-555555555555"), &list);
    assert_eq!(site.send(foreign).status, 404);
    let session = open(&site, "desk", "2025-06-18");
    let wrong = legacy("desk", "1999-01-01", Some(&session), &list);
    assert_eq!(site.send(wrong).status, 400);
}

#[test]
fn the_newest_version_has_no_sessions() {
    let site = Site::start();
    let found = site.ask("desk", "server/discover", json!({}));
    assert_eq!(found.status, 200, "{found:?}");
    assert!(found.header("mcp-session-id").is_none());
    assert!(found.json()["result"]["supportedVersions"].as_array().unwrap().contains(&json!(NEWEST)));
    let list = site.ask("desk", "tools/list", json!({}));
    assert!(list.json()["result"]["tools"].as_array().unwrap().len() > 5);
    let read = site.call("desk", "read_file", json!({"path": "user.md"}));
    assert!(read["content"][0]["text"].as_str().unwrap().contains("London"));
    for method in ["GET", "DELETE"] {
        let headers =
            [("Authorization", "Bearer desk"), ("MCP-Protocol-Version", NEWEST), ("Accept", "text/event-stream")];
        let answer = site.send(request(method, &headers, ""));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    // A session that somebody else has is neither here nor there.
    let session = open(&site, "phone", "2025-06-18");
    let with =
        modern("desk", "tools/list", json!({})).replacen("\r\n", &format!("\r\nMcp-Session-Id: {session}\r\n"), 1);
    assert_eq!(site.send(with).status, 200);
}

#[test]
fn the_newest_version_says_everything_twice_and_the_same() {
    let site = Site::start();
    let list = modern("desk", "tools/list", json!({}));
    let check = |text: String, status: u16, code: i64| {
        let answer = site.send(&text);
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{text}\n{answer:?}");
        answer.json()["error"].clone()
    };
    check(list.replace("Mcp-Method: tools/list", "Mcp-Method: tools/call"), 400, -32020);
    check(list.replace("Mcp-Method: tools/list\r\n", ""), 400, -32020);
    check(list.replace("MCP-Protocol-Version: 2026-07-28\r\n", ""), 400, -32020);
    check(list.replace("MCP-Protocol-Version: 2026-07-28", "MCP-Protocol-Version: 2025-11-25"), 400, -32020);
    let read = modern("desk", "tools/call", call("read_file", json!({"path": "user.md"})));
    check(read.replace("Mcp-Name: read_file", "Mcp-Name: search_files"), 400, -32020);
    check(read.replace("Mcp-Name: read_file\r\n", ""), 400, -32020);
    let error = check(list.replace(NEWEST, "2031-01-01"), 400, -32022);
    assert_eq!(error["data"]["supported"], json!([NEWEST]), "as `server/discover` says");
    assert_eq!(error["data"]["requested"], "2031-01-01");
    check(modern("desk", "no/such", json!({})), 404, -32601);
    let headers = [("Authorization", "Bearer desk"), ("MCP-Protocol-Version", NEWEST), ("Mcp-Method", "tools/list")];
    check(request("POST", &headers, &message(1, "tools/list", json!({})).to_string()), 400, -32602);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).to_string();
    let headers =
        [("Authorization", "Bearer desk"), ("MCP-Protocol-Version", NEWEST), ("Mcp-Method", "notifications/cancelled")];
    let answer = site.send(request("POST", &headers, &told));
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
}

#[test]
fn a_client_has_to_take_both_kinds_of_answers() {
    let site = Site::start();
    let list = modern("desk", "tools/list", json!({}));
    let narrow = list.replace("Accept: application/json, text/event-stream", "Accept: application/json");
    assert_eq!(site.send(narrow).status, 406);
}

//! Bytes that are not what they should be.

use super::*;

#[test]
fn other_protocols_are_not_spoken() {
    let site = Site::start();
    let refused = |text: &str| {
        let mut wire = site.connect();
        wire.write(text);
        wire.stream.shutdown(std::net::Shutdown::Write).unwrap();
        let rest = wire.rest();
        assert!(
            rest.is_empty() || rest.starts_with("HTTP/1.1 4") || rest.starts_with("HTTP/1.0 4"),
            "{text:?}: {rest}"
        );
        assert!(!rest.contains("London"), "{rest}");
    };
    refused("GET /health\r\n");
    refused("GET /health HTTP/0.9\r\n\r\n");
    refused("GET /health HTTP/1.0\r\n\r\n");
    refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    refused("\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03");
    refused("CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    refused("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
    refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    refused("\r\n\r\n\r\n\r\n");
    refused("\0\0\0\0");
}

#[test]
fn no_request_hides_in_another() {
    let site = Site::start();
    let inside = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n";
    for lengths in [
        "Content-Length: 5\r\nContent-Length: 50\r\n",
        "Content-Length: 5, 50\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -1\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
    ] {
        let mut wire = site.connect();
        wire.write(format!("{head}{lengths}\r\n{inside}"));
        let rest = wire.rest();
        assert!(rest.starts_with("HTTP/1.1 4"), "{lengths:?}: {rest}");
        assert!(!rest.contains("{\"status\""), "{lengths:?}: {rest}");
    }
    // With both, the length does not count.
    let mut wire = site.connect();
    let both = "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    wire.write(format!("{head}{both}"));
    assert!(wire.answer().status >= 400);
}

#[test]
fn a_body_is_asked_for_only_from_who_may_send_it() {
    let site = Site::start();
    let body = message(1, "tools/list", json!({})).to_string();
    let waiting = |token: &str| {
        let text = request("POST", &[("Authorization", &bearer(token)), ("Expect", "100-continue")], &body);
        let mut wire = site.connect();
        wire.write(text.strip_suffix(&body).unwrap());
        wire
    };
    check_refused(&waiting("wrong").answer(), 401);
    let mut wire = waiting("desk");
    assert_eq!(wire.head().status, 100);
    wire.write(&body);
    assert_eq!(wire.answer().status, 400, "there is no session");
}

#[test]
fn requests_on_one_connection_are_answered_in_their_order() {
    let site = Site::start();
    let mut wire = site.connect();
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let read = modern("desk", "tools/call", call("read_file", json!({"path": "user.md"})));
    wire.write(format!("{health}{read}{health}"));
    assert_eq!(wire.answer().body, r#"{"status":"ok"}"#);
    assert!(wire.answer().body.contains("London"));
    assert_eq!(wire.answer().body, r#"{"status":"ok"}"#);
}

#[test]
fn a_wish_to_change_the_protocol_is_passed_over() {
    let site = Site::start();
    let text = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\
                HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n";
    assert_eq!(site.send(text).status, 200);
}

#[test]
fn what_is_no_message_is_said_to_be_none() {
    let site = Site::start();
    let send = |body: &str| site.send(request("POST", &[("Authorization", "Bearer desk")], body));
    let code = |body: &str| {
        let answer = send(body);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (400, Some("application/json")),
            "{body}: {answer:?}"
        );
        answer.json()["error"]["code"].clone()
    };
    for body in ["", "{", "hello", "\u{feff}{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x"] {
        assert_eq!(code(body), -32700, "{body}");
    }
    for body in [
        "{}",
        "[]",
        "null",
        "7",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
    ] {
        assert_eq!(code(body), -32600, "{body}");
    }
    let answer = send(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#).json();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(send(&deep).status, 400);
    let typed = request("POST", &[("Authorization", "Bearer desk")], "{}")
        .replace("application/json\r\nContent-L", "text/plain\r\nContent-L");
    check_refused(&site.send(typed), 415);
}

#[test]
fn a_body_that_was_cut_within_a_character_is_answered() {
    let site = Site::start();
    // As long as what takes its place.
    let asked = modern("desk", "tools/call", call("search_files", json!({"query": "London ZZZZZZ"})));
    let answer = site.send(asked.replace("ZZZZZZ", "\\ud83d")).json();
    assert_eq!(answer["result"]["structuredContent"]["value"]["query"], "London \u{fffd}", "{answer}");
}

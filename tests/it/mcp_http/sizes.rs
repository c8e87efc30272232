//! How much may be sent, and how slowly.

use std::io::ErrorKind;
use std::io::Write as _;

use super::*;

fn small() -> HttpLimits {
    HttpLimits {
        body_bytes: 2000,
        body_time: Duration::from_millis(200),
        header_time: Duration::from_millis(200),
        write_time: Duration::from_millis(200),
        ..HttpLimits::default()
    }
}

const HEAD: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer desk\r\n\
                    Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_sent() {
    let site = Site::limited(small());
    check_refused(&site.send(format!("{HEAD}Content-Length: 2001\r\n\r\n")), 413);
    check_refused(&site.send(format!("{HEAD}Content-Length: 999999999999\r\n\r\n")), 413);
    let fits = format!("{HEAD}Content-Length: 2000\r\n\r\n{}", " ".repeat(2000));
    assert_eq!(site.send(fits).status, 400);
}

#[test]
fn a_body_without_end_is_refused_once_it_is_too_large() {
    let site = Site::limited(small());
    let mut wire = site.connect();
    wire.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"));
    for _ in 0..3 {
        wire.write(format!("3e8\r\n{}\r\n", "x".repeat(1000)));
    }
    check_refused(&wire.answer(), 413);
    assert_eq!(wire.rest(), "");
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let site = Site::limited(small());
    for start in ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"] {
        let mut wire = site.connect();
        wire.write(format!("{HEAD}{start}"));
        check_refused(&wire.answer(), 408);
        assert_eq!(wire.rest(), "");
    }
}

#[test]
fn headers_that_do_not_come_are_not_waited_for() {
    let site = Site::limited(small());
    for start in ["", "P", "POST /mcp HTTP/1.1\r\nHost: local", HEAD] {
        let mut wire = site.connect();
        wire.write(start);
        let rest = wire.rest();
        assert!(rest.is_empty() || rest.starts_with("HTTP/1.1 408 "), "{rest}");
    }
    let mut wire = site.connect();
    wire.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(wire.answer().status, 200);
    assert_eq!(wire.rest(), "", "an idle connection is closed");
}

#[test]
fn headers_that_are_too_large_or_too_many_are_refused() {
    let site = Site::start();
    let long = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(17 * 1024));
    assert_eq!(site.send(long).status, 431);
    let target = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(17 * 1024));
    assert!([414, 431].contains(&site.send(target).status));
    let many = format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(64));
    assert_eq!(site.send(many).status, 431);
    let enough = format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(63));
    assert_eq!(site.send(enough).status, 200);
}

#[test]
fn who_does_not_read_is_left() {
    let limits = HttpLimits { connections: 1, write_time: Duration::from_millis(200), ..HttpLimits::default() };
    let site = Site::limited(limits);
    site.env.write("big.md", "x".repeat(900_000));
    let mut wire = site.connect();
    // More than fits into what the system keeps for a connection.
    for _ in 0..40 {
        wire.write(modern("desk", "tools/call", call("read_file", json!({"path": "big.md"}))));
    }
    // It takes what is sent to it no more, once the server has left.
    let left = loop {
        if let Err(error) = wire.stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n") {
            break error;
        }
    };
    assert!(matches!(left.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{left}");
    let read = site.call("phone", "read_file", json!({"path": "user.md"}));
    assert_eq!(read["isError"], json!(false));
    assert!(wire.rest().len() < 36_000_000);
}

#[test]
fn connections_without_a_token_take_no_place_of_those_with_one() {
    let site = Site::limited(HttpLimits { connections: 2, strangers: 3, ..HttpLimits::default() });
    let ask = || modern("desk", "tools/call", call("read_file", json!({"path": "user.md"})));
    let mut known = site.connect();
    known.write(ask());
    assert_eq!(known.answer().status, 200);
    // Each says something, and never all of it.
    let slow = ["", "G", "POST /mcp HTTP/1.1\r\nHost: localhost\r\n", &HEAD.replace("desk", "nobody")];
    let mut strangers: Vec<Wire> = Vec::new();
    for number in 0..12 {
        let mut wire = site.connect();
        wire.write(slow[number % slow.len()]);
        strangers.push(wire);
    }
    let read = site.call("phone", "read_file", json!({"path": "user.md"}));
    assert_eq!(read["isError"], json!(false));
    let mut last = strangers.pop().unwrap();
    for mut wire in strangers.into_iter().take(8) {
        assert_eq!(wire.rest(), "", "those that came first have made room");
    }
    last.write("\r\n");
    check_refused(&last.answer(), 401);
    // The client's connection has kept its place.
    known.write(ask());
    assert_eq!(known.answer().status, 200);
}

#[test]
fn who_sends_all_of_a_body_that_is_too_large_hears_that_it_is() {
    let site = Site::limited(HttpLimits { body_bytes: 2000, ..HttpLimits::default() });
    let large = "x".repeat(12_000_000);
    for round in 0..3 {
        let mut wire = site.connect();
        wire.write(format!("{HEAD}Content-Length: {}\r\n\r\n", large.len()));
        wire.write(&large);
        check_refused(&wire.answer(), 413);
        // The connection can be used again.
        wire.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(wire.answer().status, 200, "round {round}");
        let mut wire = site.connect();
        wire.write(format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n"));
        for _ in 0..12 {
            wire.write(format!("f4240\r\n{}\r\n", "x".repeat(1_000_000)));
        }
        wire.write("0\r\n\r\n");
        check_refused(&wire.answer(), 413);
    }
    let mut wire = site.connect();
    wire.write(format!("{HEAD}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", large.len()));
    check_refused(&wire.answer(), 413);
}

#[test]
fn a_client_can_not_take_all_places() {
    let site = Site::start();
    let sessions: Vec<String> = (0..8).map(|_| open(&site, "desk", "2025-06-18")).collect();
    let listen = |session: &String| {
        let headers = [("Authorization", "Bearer desk"), ("Mcp-Session-Id", session), ("Accept", "text/event-stream")];
        request("GET", &headers, "")
    };
    let mut open: Vec<Wire> = Vec::new();
    let refused = loop {
        let mut wire = site.connect();
        wire.write(listen(&sessions[open.len() % sessions.len()]));
        let head = wire.head();
        if head.status != 200 {
            break head.status;
        }
        open.push(wire);
        assert!(open.len() < 200);
    };
    assert_eq!((refused, open.len()), (429, 128));
    assert_eq!(site.call("phone", "read_file", json!({"path": "user.md"}))["isError"], json!(false));
}

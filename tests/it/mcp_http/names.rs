//! Who may come in at all: names, origins, paths, methods, tokens.

use memdir_mcp::listen;

use super::*;

fn ping() -> String {
    message(1, "ping", json!({})).to_string()
}

#[test]
fn health_says_that_it_is_there_and_no_more() {
    let site = Site::start();
    let answer = site.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"status":"ok"}"#));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    check_refused(&site.send("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
    check_refused(&site.send("GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n"), 403);
}

#[test]
fn a_foreign_name_or_page_is_refused_before_the_token_is_looked_at() {
    let site = Site::start();
    for (host, origin) in [
        ("evil.example", None),
        ("localhost.evil.example", None),
        ("localhost", Some("http://evil.example")),
        ("localhost", Some("null")),
        ("localhost", Some("http://localhost.evil.example")),
    ] {
        for token in ["desk", "wrong"] {
            let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}Authorization: Bearer {token}\r\n");
            check_refused(&site.send(format!("{head}Content-Length: 0\r\n\r\n")), 403);
        }
    }
    check_refused(&site.send("GET /mcp HTTP/1.1\r\nAuthorization: Bearer desk\r\n\r\n"), 403);
    let twice = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n";
    check_refused(&site.send(twice), 403);
    let absolute = "GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    check_refused(&site.send(absolute), 403);
}

#[test]
fn a_name_that_the_person_allows_is_answered() {
    let names = Names::new(&["memory.example".into()], &["https://page.example".into()]).unwrap();
    let site = Site::with(HttpOptions { names, ..HttpOptions::default() });
    let ask = |host: &str, origin: &str| {
        site.send(format!("GET /health HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n")).status
    };
    assert_eq!(ask("memory.example", "https://page.example"), 200);
    assert_eq!(ask("localhost", "http://localhost:5173"), 200);
    assert_eq!(ask("memory.example", "https://other.example"), 403);
    assert_eq!(ask("other.example", "https://page.example"), 403);
}

#[test]
fn a_page_never_learns_that_it_may_read_an_answer() {
    let site = Site::start();
    let asks = "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:5173\r\n\
                Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n";
    let answer = site.send(asks);
    check_refused(&answer, 405);
    assert_eq!(answer.header("allow"), Some("GET, POST, DELETE"));
}

#[test]
fn only_two_paths_are_there() {
    let site = Site::start();
    for path in
        ["/", "/mcp/", "/MCP", "/mcp/../health", "//mcp", "/sse", "/.well-known/oauth-protected-resource", "/user.md"]
    {
        let text = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer desk\r\n\r\n");
        check_refused(&site.send(text), 404);
    }
    for method in ["PUT", "PATCH", "TRACE", "OPTIONS", "BREW"] {
        check_refused(&site.send(request(method, &[("Authorization", "Bearer desk")], "")), 405);
    }
}

#[test]
fn without_the_token_of_a_client_nothing_is_answered() {
    let site = Site::start();
    let long = bearer(&"x".repeat(300));
    let refused: &[&[(&str, &str)]] = &[
        &[],
        &[("Authorization", "")],
        &[("Authorization", "desk")],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Bearer  desk")],
        &[("Authorization", "Bearer wrong")],
        &[("Authorization", "Bearer desk desk")],
        &[("Authorization", "Bearer desk, Bearer desk")],
        &[("Authorization", "Basic desk")],
        &[("Authorization", "Bearer desk"), ("Authorization", "Bearer desk")],
        &[("Authorization", "Bearer wrong"), ("Authorization", "Bearer desk")],
        &[("Authorization", &long)],
        &[("X-Authorization", "Bearer desk")],
        &[("Cookie", "token=desk")],
    ];
    for headers in refused {
        for method in ["POST", "GET", "DELETE"] {
            let answer = site.send(request(method, headers, &ping()));
            check_refused(&answer, 401);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
    let query = request("POST", &[], &ping()).replace("/mcp", "/mcp?token=desk");
    check_refused(&site.send(query), 401);
    assert_eq!(site.call("desk", "read_file", json!({"path": "user.md"}))["isError"], json!(false));
}

#[test]
fn only_this_machine_can_be_listened_at() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:127.0.0.1]:0"] {
        let error = listen(address.parse().unwrap()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{address}");
    }
    assert!(listen("127.0.0.1:0".parse().unwrap()).unwrap().local_addr().unwrap().ip().is_loopback());
}

#[test]
fn the_program_says_where_it_listens_and_why_it_does_not() {
    let env = Env::ada();
    let refused = |arguments: &[&str]| {
        let all: Vec<&str> = ["mcp"].iter().chain(arguments).copied().collect();
        let ran = env.run(&all, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        ran.stderr
    };
    let outside = refused(&["--http", "0.0.0.0:8765"]);
    assert!(
        outside.contains("can be reached from outside") && outside.contains("`--http 127.0.0.1:8765`"),
        "{outside}"
    );
    assert!(refused(&["--http", "example.org:80"]).contains("is no address"));
    assert!(refused(&["--http", "0", "--allow-host", "https://x"]).contains("is no host name"));
    assert!(refused(&["--http", "0", "--allow-origin", "x"]).contains("is no origin"));
    assert!(refused(&["--allow-host", "x"]).contains("--http"));
}

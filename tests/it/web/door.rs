//! Attacks on the door, byte for byte. The oracle is the status, and that nothing in the memory has changed.

use std::time::Duration;

use super::{Served, Visit, encoded, form_request};
use crate::support::Env;
use crate::support::wire::Wire;

/// What an attacker wants done: a note made.
const FIELDS: [(&str, &str); 3] = [("path", "made.md"), ("name", "made"), ("content", "made")];

/// A served memory with one browser in, and how it was before the attack.
struct Attacked {
    served: Served,
    visit: Visit,
    before: std::collections::BTreeMap<String, String>,
    entries: usize,
}

impl Attacked {
    fn begin() -> Self {
        let mut served = Served::start(Env::ada());
        let visit = served.visit();
        let (before, entries) = (served.env.files(), calls(&served));
        Self { served, visit, before, entries }
    }

    /// Sends something and takes its status; a connection that is closed without an answer has none.
    fn status(&self, bytes: &str) -> Option<u16> {
        let mut wire = Wire::to(&*self.served.host);
        wire.write(bytes);
        let answer = wire.rest_within(Duration::from_secs(20));
        answer.split(' ').nth(1).and_then(|status| status.parse().ok())
    }

    #[track_caller]
    fn check(&self, what: &str, bytes: &str, expected: &[u16]) {
        let status = self.status(bytes);
        assert!(status.is_none_or(|status| expected.contains(&status)), "{what}: {status:?}, not {expected:?}");
        assert_eq!(self.served.env.files(), self.before, "{what}: something has changed");
    }

    /// Nothing was done by anybody since.
    #[track_caller]
    fn check_untouched(&self) {
        assert_eq!(self.served.env.files(), self.before);
        assert_eq!(calls(&self.served), self.entries, "an attack is in the audit as a call");
        assert_eq!(self.visit.get("/").status, 200, "the person's own page goes on");
    }

    /// A form that would make a note, with the cookie and these headers.
    fn form(&self, headers: &[(&str, &str)], token: Option<&str>) -> String {
        let mut fields = FIELDS.to_vec();
        fields.extend(token.map(|token| ("token", token)));
        let headers: Vec<(&str, &str)> =
            [("Cookie", &*self.visit.cookie), ("Connection", "close")].iter().chain(headers).copied().collect();
        form_request("/new", &self.served.host, &headers, &encoded(&fields))
    }

    fn get(&self, path: &str, host: &str, headers: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n")
    }

    fn cookie(&self) -> String {
        format!("Cookie: {}\r\n", self.visit.cookie)
    }
}

/// How many calls the audit knows.
fn calls(served: &Served) -> usize {
    let log = served.env.ask(&["log"]).exits(0);
    log["changes"].as_array().or(log["batches"].as_array()).map_or(0, Vec::len)
}

#[test]
fn a_foreign_name_is_not_answered() {
    let attacked = Attacked::begin();
    let port = attacked.served.host.split(':').nth(1).unwrap().to_owned();
    let hosts = [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "127.0.0.1@evil.example",
        "2130706433",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
    ];
    for host in hosts {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            attacked.check(&host, &attacked.get("/", &host, &attacked.cookie()), &[400, 403]);
            let form = form_request(
                "/new",
                &host,
                &[("Cookie", &attacked.visit.cookie), ("Connection", "close")],
                &encoded(&FIELDS),
            );
            attacked.check(&host, &form, &[400, 403]);
        }
    }
    let two = format!("{}\r\nHost: evil.example", attacked.served.host);
    attacked.check("two hosts", &attacked.get("/", &two, &attacked.cookie()), &[400, 403]);
    let absolute = attacked.get("http://evil.example/", &attacked.served.host, &attacked.cookie());
    attacked.check("an absolute address", &absolute, &[400, 403]);
    attacked.check_untouched();
}

#[test]
fn a_change_from_another_page_is_refused() {
    let attacked = Attacked::begin();
    let token = attacked.visit.token.clone();
    let foreign: [&[(&str, &str)]; 7] = [
        &[("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
        // A server of this machine at another port; a browser of before 2020 says no more than the origin.
        &[("Origin", "http://127.0.0.1:1"), ("Sec-Fetch-Site", "same-site")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Origin", "null"), ("Sec-Fetch-Site", "cross-site")],
    ];
    for headers in foreign {
        attacked.check(&format!("{headers:?}"), &attacked.form(headers, Some(&token)), &[403]);
    }
    // Who names no page at all is not ours either.
    let silent = attacked
        .form(&[], Some(&token))
        .lines()
        .filter(|line| !line.starts_with("Origin:") && !line.starts_with("Sec-"))
        .fold(String::new(), |text, line| text + line + "\r\n");
    attacked.check("no origin", silent.trim_end(), &[403]);
    // Pictures, scripts and frames of other pages get nothing.
    for kind in ["image", "script", "iframe", "empty"] {
        let headers = format!(
            "{}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: {kind}\r\n",
            attacked.cookie()
        );
        attacked.check(kind, &attacked.get("/", &attacked.served.host, &headers), &[403]);
    }
    attacked.check_untouched();
}

#[test]
fn a_change_without_the_token_of_the_visit_is_refused() {
    let mut attacked = Attacked::begin();
    let other = attacked.served.visit();
    assert_ne!(other.token, attacked.visit.token);
    let almost = format!("{}0", attacked.visit.token.get(1..).unwrap_or_default());
    for token in [None, Some(""), Some("0"), Some(&*other.token), Some(&*almost)] {
        attacked.check(&format!("token {token:?}"), &attacked.form(&[], token), &[403]);
    }
    let plain =
        attacked.form(&[], Some(&attacked.visit.token)).replace("application/x-www-form-urlencoded", "text/plain");
    attacked.check("another kind of body", &plain, &[403, 415]);
    attacked.check_untouched();
    // The attack would work for who has all of it.
    let made = attacked.status(&attacked.form(&[], Some(&attacked.visit.token)));
    assert_eq!(made, Some(303), "what is refused above is refused for its own reason");
    assert_ne!(attacked.served.env.files(), attacked.before);
}

#[test]
fn who_was_not_let_in_sees_nothing() {
    let attacked = Attacked::begin();
    let host = attacked.served.host.clone();
    let (name, value) = attacked.visit.cookie.split_once('=').unwrap();
    let wrong = [
        "",
        "Cookie: a=b\r\n",
        &format!("Cookie: {name}=\r\n"),
        &format!("Cookie: {name}={}\r\n", "0".repeat(64)),
        &format!("Cookie: other={value}\r\n"),
        &format!("Cookie: {name}={}\r\n", value.to_uppercase() + "0"),
    ];
    for path in [
        "/",
        "/notes",
        "/notes/user.md",
        "/search?q=London",
        "/new",
        "/events",
        "/nowhere",
        "/inbox",
        "/history",
        "/audit",
        "/clients",
    ] {
        for cookie in wrong {
            attacked.check(&format!("{path} with {cookie:?}"), &attacked.get(path, &host, cookie), &[401]);
            let answer = attacked.served.send(attacked.get(path, &host, cookie));
            assert!(!answer.body.contains("London") && !answer.body.contains("Ada"), "{path} tells something");
        }
    }
    let form = attacked.form(&[], Some(&attacked.visit.token)).replace(&attacked.visit.cookie, "a=b");
    attacked.check("a change", &form, &[401]);
    attacked.check_untouched();
}

#[test]
fn a_code_lets_one_browser_in_once() {
    let mut attacked = Attacked::begin();
    let host = attacked.served.host.clone();
    for code in ["/enter", "/enter?code=", "/enter?code=0", &format!("/enter?code={}", "0".repeat(64))] {
        attacked.check(code, &attacked.get(code, &host, ""), &[403]);
    }
    // One that another has replaced works no more; a look ahead does not use it up.
    let first = attacked.served.new_entrance().strip_prefix(&attacked.served.url("")).unwrap().to_owned();
    let second = attacked.served.new_entrance().strip_prefix(&attacked.served.url("")).unwrap().to_owned();
    attacked.check("a replaced code", &attacked.get(&first, &host, ""), &[403]);
    attacked.check("a look ahead", &attacked.get(&second, &host, "Sec-Purpose: prefetch\r\n"), &[405]);
    attacked.check("a HEAD", &attacked.get(&second, &host, "").replacen("GET", "HEAD", 1), &[405]);
    assert_eq!(attacked.status(&attacked.get(&second, &host, "")), Some(303));
    attacked.check_untouched();
}

/// Somebody else may have a code that comes again, so what it let in ends.
#[test]
fn a_code_that_comes_again_ends_what_it_let_in() {
    let attacked = Attacked::begin();
    let used = attacked.served.entrance.strip_prefix(&attacked.served.url("")).unwrap().to_owned();
    attacked.check("a code that was used", &attacked.get(&used, &attacked.served.host, ""), &[403]);
    assert_eq!(attacked.visit.get("/").status, 401);
}

#[test]
fn a_stolen_cookie_does_not_work_elsewhere() {
    let attacked = Attacked::begin();
    let port = attacked.served.host.split(':').nth(1).unwrap().to_owned();
    let other = attacked.get("/", &attacked.served.host, &(attacked.cookie() + "User-Agent: another browser\r\n"));
    attacked.check("another browser", &other, &[401]);
    let name = attacked.get("/", &format!("localhost:{port}"), &attacked.cookie());
    attacked.check("under another name", &name, &[401]);
    // A second memory at another port does not know it either.
    let mut second = Served::start(Env::ada());
    let answer = second.send(attacked.get("/", &second.host, &attacked.cookie()));
    assert_eq!(answer.status, 401, "another memory lets it in");
    let renamed = second.visit().cookie.split('=').next().unwrap().to_owned();
    let moved = attacked.visit.cookie.split('=').nth(1).unwrap();
    let answer = second.send(attacked.get("/", &second.host, &format!("Cookie: {renamed}={moved}\r\n")));
    assert_eq!(answer.status, 401, "another memory lets it in under its own name");
    attacked.check_untouched();
}

#[test]
fn reading_an_address_changes_nothing() {
    let attacked = Attacked::begin();
    let token = &attacked.visit.token;
    for path in [
        "/new",
        "/undo",
        "/edit/user.md",
        "/delete/user.md",
        "/rename/user.md",
        "/forget/user.md",
        "/inbox",
        "/approve",
        "/clients",
        "/restore/user.md",
    ] {
        let address = format!("{path}?token={token}&{}&batch=1&yes=1&confirm=yes", encoded(&FIELDS));
        attacked.check(path, &attacked.get(&address, &attacked.served.host, &attacked.cookie()), &[200, 400, 404, 405]);
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FORM"] {
            let request = attacked.get(&address, &attacked.served.host, &attacked.cookie()).replacen("GET", method, 1);
            attacked.check(&format!("{method} {path}"), &request, &[400, 403, 404, 405]);
        }
    }
    attacked.check_untouched();
}

#[test]
fn no_path_leads_out_of_the_memory() {
    let attacked = Attacked::begin();
    std::fs::write(attacked.served.env.base().join("secret.md"), "outside").unwrap();
    let paths = [
        "../secret.md",
        "..%2fsecret.md",
        "%2e%2e/secret.md",
        "%2e%2e%2fsecret.md",
        "%252e%252e/secret.md",
        "a/../../secret.md",
        "entities/..%2f..%2fsecret.md",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "..\\secret.md",
        "..%5csecret.md",
        "user.md%00.png",
        "%00",
        ".memdir",
        ".memdir/history.sqlite",
        "%2ememdir/lock",
        "entities/.memdir",
        ".%2fuser.md/.",
        "%ff",
        "%c0%ae%c0%ae/secret.md",
        "user.md/",
        "C:%5Cwindows",
        "user.md:stream",
    ];
    for page in ["notes", "edit", "rename", "delete", "history", "forget", "readers"] {
        for path in paths {
            let request = attacked.get(&format!("/{page}/{path}"), &attacked.served.host, &attacked.cookie());
            let mut wire = Wire::to(&*attacked.served.host);
            wire.write(&request);
            let answer = wire.rest_within(Duration::from_secs(20));
            let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
            assert!(["200", "400", "403", "404", "405"].contains(&&*status), "/{page}/{path}: {status}");
            assert!(
                !answer.contains("outside") && !answer.contains("root:") && !answer.contains("SQLite"),
                "/{page}/{path}"
            );
            assert_eq!(attacked.served.env.files(), attacked.before, "/{page}/{path}");
        }
    }
    for path in ["../made.md", ".memdir/made.md", "/tmp/made.md", "a/../../made.md", "made\0.md", "..\\made.md"] {
        let answer = attacked.visit.post("/new", &[("path", path), ("name", path), ("content", "made")]);
        assert!((400..500).contains(&answer.status), "{path:?}: {}", answer.status);
    }
    assert_eq!(attacked.served.env.files(), attacked.before);
    assert!(!attacked.served.env.base().join("made.md").exists());
    assert_eq!(attacked.visit.get("/").status, 200);
}

#[test]
fn what_is_too_large_is_refused() {
    let attacked = Attacked::begin();
    let host = &attacked.served.host;
    let cookie = attacked.cookie();
    let long = "a".repeat(1 << 20);
    attacked.check("a long address", &attacked.get(&format!("/search?q={long}"), host, &cookie), &[400, 413, 414, 431]);
    attacked.check("a long header", &attacked.get("/", host, &format!("{cookie}X-Long: {long}\r\n")), &[400, 413, 431]);
    let many: String = (0..5000).map(|number| format!("X-{number}: 1\r\n")).collect();
    attacked.check("many headers", &attacked.get("/", host, &(cookie.clone() + &many)), &[400, 431]);
    let large = attacked.form(&[], Some(&attacked.visit.token)) + &"a".repeat(9 << 20);
    let said: u64 = large.split("Content-Length: ").nth(1).unwrap().split('\r').next().unwrap().parse().unwrap();
    let large = large.replacen(&format!("Content-Length: {said}"), &format!("Content-Length: {}", said + (9 << 20)), 1);
    attacked.check("a large form", &large, &[413]);
    let endless =
        large.replacen(&format!("Content-Length: {}", said + (9 << 20)), "Content-Length: 99999999999999999999", 1);
    attacked.check("a length that no number holds", &endless, &[400, 413]);
    // Before it is known who asks, nothing of a body is read.
    let stranger = large.replace(&attacked.visit.cookie, "a=b");
    attacked.check("a large form of a stranger", &stranger, &[401]);
    attacked.check_untouched();
}

#[test]
fn shapes_of_smuggling_make_no_second_request() {
    let attacked = Attacked::begin();
    let host = &attacked.served.host;
    let hidden = attacked.form(&[], Some(&attacked.visit.token));
    let token = format!("token={}", attacked.visit.token);
    let shapes = [
        ("two lengths", format!("Content-Length: {}\r\nContent-Length: 0\r\n\r\n{hidden}", hidden.len())),
        ("two lengths in one", format!("Content-Length: {}, 0\r\n\r\n{hidden}", hidden.len())),
        (
            "length and chunks",
            format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}", hidden.len()),
        ),
        ("chunks twice", format!("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n{hidden}")),
        ("chunks not last", format!("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{hidden}")),
        ("a space before the colon", format!("Content-Length : {}\r\n\r\n{hidden}", hidden.len())),
        ("a sign before the length", format!("Content-Length: +{}\r\n\r\n{hidden}", hidden.len())),
        ("a folded line", format!("X-A: 1\r\n Content-Length: {}\r\n\r\n{hidden}", hidden.len())),
        ("a bare line end", format!("X-A: 1\nContent-Length: {}\r\n\r\n{hidden}", hidden.len())),
        ("a chunk with a bad size", format!("Transfer-Encoding: chunked\r\n\r\n0x5\r\n{token}\r\n0\r\n\r\n")),
    ];
    for (what, rest) in shapes {
        // A page of a stranger: what is hidden in its body is not read as a request of the person's.
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        let request = format!(
            "POST /new HTTP/1.1\r\nHost: {host}\r\nCookie: a=b\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n{kind}{rest}"
        );
        let mut wire = Wire::to(&**host);
        wire.write(&request);
        let answer = wire.rest_within(Duration::from_secs(5));
        assert!(!answer.contains(" 303 "), "{what}: {answer}");
        assert_eq!(attacked.served.env.files(), attacked.before, "{what}: something was made");
    }
    attacked.check_untouched();
}

#[test]
fn who_is_slow_keeps_nobody_waiting() {
    let attacked = Attacked::begin();
    let host = &attacked.served.host;
    let mut slow: Vec<Wire> = (0..200).map(|_| Wire::to(&**host)).collect();
    for (number, wire) in slow.iter_mut().enumerate() {
        match number % 3 {
            0 => wire.write("GET / HTTP/1.1\r\nHost:"),
            1 => wire.write(format!("GET /notes HTTP/1.1\r\nHost: {host}\r\nX-A: ")),
            _ => wire.write(format!("POST /new HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\na")),
        }
    }
    assert_eq!(attacked.visit.get("/notes").status, 200, "the person waits for strangers");
    drop(slow);
    attacked.check_untouched();
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let attacked = Attacked::begin();
    let visit = &attacked.visit;
    let host = &attacked.served.host;
    let stranger = attacked.served.send(attacked.get("/", host, ""));
    let foreign = attacked.served.send(attacked.get("/", "evil.example", ""));
    for answer in [visit.get("/"), visit.get("/notes/user.md"), visit.get("/nowhere"), stranger, foreign] {
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{answer:?}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cache-control", "no-store"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let cookie = {
        let mut second = Served::start(Env::ada());
        let entrance = second.new_entrance();
        let path = entrance.strip_prefix(&second.url("")).unwrap().to_owned();
        let answer = second.send(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", second.host));
        answer.header("set-cookie").unwrap().to_owned()
    };
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.split("; ").any(|part| part == word), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
}

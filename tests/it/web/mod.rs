//! The page of `memdir serve`, judged from outside: by a socket, and by a browser that is driven.
//!
//! What needs a browser is skipped, with the reason printed, where `scripts/browser` could install none.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use regex::Regex;
use serde_json::Value;

use crate::support::Env;
use crate::support::wire::{Answer, Wire};

mod browser;
mod door;
mod edits;
mod hostile;
mod large;
mod look;
mod pages;
mod pictures;
mod tasks;
mod tools;

/// A memory whose page is served by the program.
struct Served {
    env: Env,
    program: Child,
    enter: ChildStdin,
    printed: BufReader<ChildStdout>,
    /// The name and port of the page.
    host: String,
    /// The address that lets one browser in, until another is asked for.
    entrance: String,
}

impl Served {
    fn start(env: Env) -> Self {
        let mut command = env.command(&["serve", "--json", "--no-open", "--port", "0"]);
        command.stderr(std::process::Stdio::null());
        let mut program = command.spawn().unwrap();
        let enter = program.stdin.take().unwrap();
        let mut printed = BufReader::new(program.stdout.take().unwrap());
        let entrance = printed_url(&mut printed);
        let host = entrance.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
        Self { env, program, enter, printed, host, entrance }
    }

    /// Presses Enter: another browser can come then.
    fn new_entrance(&mut self) -> String {
        self.enter.write_all(b"\n").unwrap();
        self.entrance = printed_url(&mut self.printed);
        self.entrance.clone()
    }

    /// The address of a page.
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// Sends a request, byte for byte, on a connection of its own.
    #[track_caller]
    fn send(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut wire = Wire::to(&*self.host);
        wire.write(bytes);
        wire.answer()
    }

    /// Comes in without a browser.
    #[track_caller]
    fn visit(&mut self) -> Visit {
        let entrance = self.new_entrance();
        let path = entrance.strip_prefix(&self.url("")).unwrap();
        let answer = self.send(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host));
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let mut visit = Visit { host: self.host.clone(), cookie, token: String::new() };
        // The oldest form that changes something is there on any page that has one; its token is that of the visit.
        let page = visit.get("/new");
        visit.token = field(&page.body, "token").expect("a form has no token");
        visit
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[track_caller]
fn printed_url(printed: &mut impl BufRead) -> String {
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    value["url"].as_str().unwrap().to_owned()
}

/// A browser without a window: what it was given at the door, and a socket.
#[derive(Clone)]
struct Visit {
    host: String,
    cookie: String,
    /// What a form has to show.
    token: String,
}

impl Visit {
    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        let mut wire = Wire::to(&*self.host);
        wire.write(format!("GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", self.host, self.cookie));
        wire.answer()
    }

    /// Sends a form with its token.
    #[track_caller]
    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut form = vec![("token", self.token.as_str())];
        form.extend(fields);
        let mut wire = Wire::to(&*self.host);
        wire.write(form_request(path, &self.host, &[("Cookie", &self.cookie)], &encoded(&form)));
        wire.answer()
    }
}

/// A form as a browser of today sends it from the page's own origin, with these headers besides; where they name an origin, they say
/// all about it.
fn form_request(path: &str, host: &str, headers: &[(&str, &str)], body: &str) -> String {
    let own = [("Origin", format!("http://{host}")), ("Sec-Fetch-Site", "same-origin".to_owned())];
    let is_told = headers.iter().any(|(name, _)| *name == "Origin" || *name == "Sec-Fetch-Site");
    let own = own.iter().filter(|_| !is_told).map(|(name, value)| (*name, value.as_str()));
    let lines: String =
        headers.iter().copied().chain(own).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let kind = "application/x-www-form-urlencoded";
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\n{lines}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Fields as a form sends them.
fn encoded(fields: &[(&str, &str)]) -> String {
    let pairs = fields.iter().map(|(name, value)| format!("{}={}", percent(name), percent(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A text in an address: everything but letters, digits and `-._/` is encoded.
fn percent(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => encoded.push(char::from(byte)),
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// The value of the first field of that name in a page.
fn field(page: &str, name: &str) -> Option<String> {
    let pattern = Regex::new(&format!(r#"<(?:input|textarea|button)[^>]*\bname="{name}"[^>]*>"#)).unwrap();
    let tag = pattern.find(page)?.as_str();
    let value = Regex::new(r#"\bvalue="([^"]*)""#).unwrap().captures(tag)?[1].to_owned();
    Some(value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

/// The addresses that a page links to on its own server, without what comes after `#`.
fn links(page: &str) -> BTreeSet<String> {
    let pattern = Regex::new(r##"<a\b[^>]*\bhref="(/[^"#]*)"##).unwrap();
    pattern.captures_iter(page).map(|found| found[1].replace("&amp;", "&")).collect()
}

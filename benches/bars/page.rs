//! The page of `memdir serve` on 10,000 notes, as a browser waits for it: a note, a search as one types, and Home.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::measure::{Bar, head, note, once, row, shares, shown};
use crate::process::{batch, memdir_with, run};
use crate::prose::{self, Words};
use crate::vaults;

/// How often each page is asked for.
const ROUNDS: usize = 200;

/// Each page on a connection of its own, from the request to its last byte.
pub(crate) fn pages() {
    head("a page of `memdir serve`, 10,000 notes, p50 then p95; no baseline");
    let (words, cache) = (Words::new(), vaults::fresh("cache-page"));
    let folder = prose::vault(&words, 10_000);
    // The page builds the index by itself, in the background; here it is there when it starts.
    let nothing = batch("nothing", b"");
    run(memdir_with("search", &folder, &cache).arg("garden"), &nothing);
    let mut command = memdir_with("serve", &folder, &cache);
    command.args(["--port", "0", "--no-open"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut program = command.spawn().expect("memdir starts");
    measure(&mut program, &words);
    program.kill().expect("it runs");
    program.wait().expect("it ended");
}

fn measure(program: &mut Child, words: &Words) {
    let mut line = String::new();
    let printed = program.stdout.take().expect("it is piped");
    BufReader::new(printed).read_line(&mut line).expect("an address is printed");
    let (host, path) = line.trim().strip_prefix("http://").and_then(|url| url.split_once('/')).expect("an address");
    let let_in = get(host, &format!("/{path}"), "");
    let cookie =
        let_in.lines().find_map(|line| line.strip_prefix("set-cookie: ")).and_then(|line| line.split(';').next());
    let cookie = cookie.expect("a cookie").to_owned();
    let bars =
        [("a note", 50, 0), ("a search while one types", 100, 1), ("the list of notes", 100, 2), ("Home", 100, 3)];
    for (what, bar, kind) in bars {
        let times = (0..ROUNDS).map(|round| {
            let address = match kind {
                0 => format!("/notes/{}", words.path(round * 41)),
                1 => format!(
                    "/search?q={}",
                    ["g", "ga", "gar", "gard", "garde", "garden+tea"].get(round % 6).copied().unwrap_or_default()
                ),
                2 => "/notes".to_owned(),
                _ => "/".to_owned(),
            };
            once(|| assert!(get(host, &address, &cookie).starts_with("HTTP/1.1 200"), "{address}"))
        });
        let [half, most] = shares(times.collect(), [50, 95]);
        row(what, half, half, Bar::Within(Duration::from_millis(bar)));
        note(&format!("{what}, p95"), &shown(most));
    }
}

/// Asks for a page, and gives the whole answer.
fn get(host: &str, path: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(host).expect("the page answers");
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

#![expect(clippy::disallowed_methods, reason = "tests look at files as a person does")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Address, FetchError, Fetching, Patience, Progress, fetch};
use crate::header::tests::Gguf;
use crate::shelf::{Kept, Shelf, ShelfError};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;

/// How a stand-in for a server of files behaves.
#[derive(Clone, Debug)]
struct Server {
    content: Vec<u8>,
    /// How it marks the file.
    mark: Option<&'static str>,
    /// Whether it gives parts.
    has_ranges: bool,
    /// After how many bytes of each answer it breaks off.
    breaks_after: Option<usize>,
    /// What it answers instead: the first line, and a header.
    says: Option<(&'static str, String)>,
    /// How many more bytes it sends than it says.
    is_longer_by: usize,
    /// Whether it says how large the file is.
    has_length: bool,
}

impl Server {
    fn new(content: &[u8]) -> Self {
        Self {
            content: content.to_vec(),
            mark: Some("\"one\""),
            has_ranges: true,
            breaks_after: None,
            says: None,
            is_longer_by: 0,
            has_length: true,
        }
    }

    /// Serves until the test ends.
    fn start(self) -> Running {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}/model.gguf", listener.local_addr().unwrap());
        let running = Running { address, server: Arc::new(Mutex::new(self)), asked: Arc::default() };
        let (server, asked) = (Arc::clone(&running.server), Arc::clone(&running.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let server = server.lock().unwrap().clone();
                // Whoever asked may have gone.
                let _ = server.serve(&stream.unwrap(), &asked);
            }
        });
        running
    }

    fn serve(&self, stream: &TcpStream, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        let (mut range, mut if_range, mut line) = (None, None, String::new());
        while reader.read_line(&mut line)? > 2 {
            let (name, value) = line.trim_end().split_once(": ").unwrap_or((line.trim_end(), ""));
            match name.to_ascii_lowercase().as_str() {
                "range" => range = value.strip_prefix("bytes=").and_then(|value| value.strip_suffix('-')?.parse().ok()),
                "if-range" => if_range = Some(value.to_owned()),
                _ => {}
            }
            line.clear();
        }
        let from: usize = match range {
            Some(from) if self.has_ranges && if_range.as_deref() == self.mark => from,
            _ => 0,
        };
        asked.lock().unwrap().push(range.map_or_else(|| "all".to_owned(), |from: usize| from.to_string()));
        let mut stream = stream;
        if let Some((status, header)) = &self.says {
            return write!(stream, "HTTP/1.1 {status}\r\n{header}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        }
        let all = self.content.len();
        let mark = self.mark.map_or_else(String::new, |mark| format!("ETag: {mark}\r\n"));
        let head = if from > 0 {
            format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{all}\r\n", all - 1)
        } else {
            "HTTP/1.1 200 OK\r\n".to_owned()
        };
        let length = if self.has_length { format!("Content-Length: {}\r\n", all - from) } else { String::new() };
        write!(stream, "{head}{mark}{length}Connection: close\r\n\r\n")?;
        let rest = &self.content[from..];
        stream.write_all(&rest[..self.breaks_after.unwrap_or(rest.len()).min(rest.len())])?;
        stream.write_all(&vec![0; self.is_longer_by])
    }
}

struct Running {
    address: String,
    server: Arc<Mutex<Server>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Running {
    fn change(&self, change: impl FnOnce(&mut Server)) {
        change(&mut self.server.lock().unwrap());
    }

    /// From where each request wanted the file.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

struct Home {
    _folder: TempDir,
    shelf: Shelf,
    content: Vec<u8>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().join("models"));
        Self { _folder: folder, shelf, content: Gguf::small().bytes() }
    }

    fn fetching(&self, address: &str) -> Fetching {
        Fetching {
            name: "tiny".into(),
            address: Address::parse(address).unwrap(),
            digest: Digest::of(&self.content),
            bytes: Some(self.content.len() as u64),
            licence: Some("MIT".into()),
            free_bytes: None,
            patience: Patience { connect: Duration::from_secs(10), silence: Duration::from_secs(10) },
            now: Timestamp::from_seconds(0),
        }
    }

    fn fetch(&self, running: &Running) -> Result<Kept, FetchError> {
        fetch(&self.shelf, &self.fetching(&running.address), &mut |_| (), &CancellationToken::new())
    }

    fn part(&self) -> Option<u64> {
        fs::metadata(self.shelf.part("tiny")).ok().map(|found| found.len())
    }

    #[track_caller]
    fn has(&self, kept: &Kept) {
        assert_eq!(fs::read(&kept.file).unwrap(), self.content);
        assert_eq!(self.shelf.find("tiny").as_ref(), Ok(kept));
        let names: Vec<String> = super::disk::names(self.shelf.folder()).unwrap();
        assert_eq!(names, ["tiny.gguf", "tiny.toml"]);
    }
}

#[test]
fn a_file_is_fetched() {
    let home = Home::new();
    let running = Server::new(&home.content).start();
    let mut told = Vec::new();
    let fetching = home.fetching(&format!("{}?token=secret#x", running.address));
    let kept = fetch(&home.shelf, &fetching, &mut |progress| told.push(progress), &CancellationToken::new()).unwrap();
    home.has(&kept);
    assert_eq!((kept.source.as_str(), kept.licence.as_deref()), (running.address.as_str(), Some("MIT")));
    let all = home.content.len() as u64;
    assert_eq!((told.first(), told.last()), (Some(&Progress::Fetched(0, all)), Some(&Progress::Checked(all, all))));
    assert!(told.contains(&Progress::Fetched(all, all)));
}

#[test]
fn a_broken_connection_is_taken_up_again() {
    let home = Home::new();
    let running = Server { breaks_after: Some(200_000), ..Server::new(&home.content) }.start();
    home.has(&home.fetch(&running).unwrap());
    assert_eq!(running.asked(), ["all", "200000", "400000"]);
}

#[test]
fn the_next_time_goes_on_where_this_one_ended() {
    let home = Home::new();
    let running = Server { breaks_after: Some(50_000), ..Server::new(&home.content) }.start();
    let broken = home.fetch(&running).unwrap_err();
    assert_eq!(broken.to_string(), "the connection to `127.0.0.1` broke after 0 of 1 MB");
    assert_eq!((home.part(), running.asked().len()), (Some(300_000), 6));
    running.change(|server| server.breaks_after = None);
    home.has(&home.fetch(&running).unwrap());
    assert_eq!(running.asked(), ["300000"]);
}

#[test]
fn a_part_is_not_believed_where_the_file_may_be_another() {
    let part_of = |server: Server| {
        let home = Home::new();
        let running = Server { breaks_after: Some(50_000), ..server }.start();
        assert!(home.fetch(&running).is_err());
        running.asked();
        running.change(|server| server.breaks_after = None);
        (home, running)
    };
    let content = Gguf::small().bytes();
    // The file has changed at the server.
    let (home, running) = part_of(Server::new(&content));
    running.change(|server| server.mark = Some("\"two\""));
    home.has(&home.fetch(&running).unwrap());
    assert_eq!(running.asked(), ["300000"], "asked for a part, and given all");
    // The server gives no parts.
    let (home, running) = part_of(Server { has_ranges: false, ..Server::new(&content) });
    home.has(&home.fetch(&running).unwrap());
    // It does not mark the file, or only weakly.
    for mark in [None, Some("W/\"one\"")] {
        let (home, running) = part_of(Server { mark, ..Server::new(&content) });
        home.has(&home.fetch(&running).unwrap());
        assert_eq!(running.asked(), ["all"], "{mark:?}");
    }
    // Another address has the name now.
    let (home, _) = part_of(Server::new(&content));
    let other = Server::new(&content).start();
    home.has(&home.fetch(&other).unwrap());
    assert_eq!(other.asked(), ["all"]);
}

#[test]
fn another_file_never_comes_onto_the_shelf() {
    let home = Home::new();
    let mut wrong = home.content.clone();
    *wrong.last_mut().unwrap() ^= 1;
    let long = [&home.content[..], b"more"].concat();
    let servers = [
        (Server::new(&wrong), "what `127.0.0.1` gave is not the file that was expected, and is removed"),
        (Server::new(&long), "`127.0.0.1` has another file there: it has"),
        (Server { has_length: false, ..Server::new(&home.content) }, "it does not say how large it is"),
        (Server { has_length: false, ..Server::new(&[]) }, "it does not say how large it is"),
    ];
    for (server, expected) in servers {
        let running = server.clone().start();
        let error = home.fetch(&running).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!((home.part(), home.shelf.list().unwrap().kept), (None, Vec::new()), "{server:?}");
    }
    // More than it says is not even read.
    let running = Server { is_longer_by: 10, ..Server::new(&home.content) }.start();
    home.has(&home.fetch(&running).unwrap());
}

#[test]
fn a_file_that_is_no_model_is_removed() {
    let home = Home { content: b"<html>".to_vec(), ..Home::new() };
    let running = Server::new(&home.content).start();
    let error = home.fetch(&running).unwrap_err();
    assert_eq!(error.to_string(), "`tiny` is no model that can be kept: it is no GGUF file");
    assert_eq!(home.part(), None);
}

#[test]
fn what_servers_say_instead() {
    let home = Home::new();
    let elsewhere = Server::new(&home.content).start();
    for (status, header, expected) in [
        ("404 Not Found", "X: y".to_owned(), "`127.0.0.1` does not give it: 404"),
        ("503 Busy", "X: y".to_owned(), "`127.0.0.1` does not give it: 503"),
        ("206 Partial Content", "Content-Range: bytes 5-9/10".to_owned(), "it gives another part than was asked for"),
        ("302 Found", "Location: http://example.com/x".to_owned(), "sent on to where it must not go"),
        ("302 Found", "Location: https://example.com/x".to_owned(), "sent on to where it must not go"),
        ("302 Found", "Location: file:///etc/passwd".to_owned(), ""),
    ] {
        let running = Server { says: Some((status, header.clone())), ..Server::new(&home.content) }.start();
        let error = home.fetch(&running).unwrap_err();
        assert!(error.to_string().contains(expected), "{header}: {error}");
    }
    let header = format!("Location: {}", elsewhere.address);
    let running = Server { says: Some(("302 Found", header)), ..Server::new(&home.content) }.start();
    home.has(&home.fetch(&running).unwrap());
    let home = Home::new();
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    // Nobody is there, and somebody who speaks no TLS.
    for address in [format!("http://{nobody}/"), elsewhere.address.replace("http", "https")] {
        let error = fetch(&home.shelf, &home.fetching(&address), &mut |_| (), &CancellationToken::new());
        assert!(matches!(&error, Err(FetchError::Unreachable { .. })), "{error:?}");
    }
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    let home = Home::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let mut fetching = home.fetching(&format!("http://{}/", listener.local_addr().unwrap()));
    fetching.patience.silence = Duration::from_millis(20);
    let error = fetch(&home.shelf, &fetching, &mut |_| (), &CancellationToken::new());
    assert!(matches!(&error, Err(FetchError::Unreachable { .. })), "{error:?}");
}

#[test]
fn no_more_is_written_than_there_is_room_for() {
    let home = Home::new();
    let running = Server::new(&home.content).start();
    let all = home.content.len() as u64;
    let fetching = Fetching { free_bytes: Some(all - 1), ..home.fetching(&running.address) };
    let full = fetch(&home.shelf, &fetching, &mut |_| (), &CancellationToken::new());
    assert_eq!(full, Err(FetchError::Shelf(ShelfError::Full { wanted: all, free: all - 1 })));
    let fetching = Fetching { bytes: None, free_bytes: Some(all), ..fetching };
    home.has(&fetch(&home.shelf, &fetching, &mut |_| (), &CancellationToken::new()).unwrap());
}

#[test]
fn what_was_fetched_is_kept_when_the_person_stops_it() {
    let home = Home::new();
    let running = Server { breaks_after: Some(100_000), ..Server::new(&home.content) }.start();
    let stop = CancellationToken::new();
    let mut tell = |progress| {
        if matches!(progress, Progress::Fetched(100_000, _)) {
            stop.cancel();
        }
    };
    let stopped = fetch(&home.shelf, &home.fetching(&running.address), &mut tell, &stop);
    assert_eq!(stopped, Err(FetchError::Cancelled { done: 100_000 }));
    assert_eq!(home.part(), Some(100_000));
    running.asked();
    running.change(|server| server.breaks_after = None);
    home.has(&home.fetch(&running).unwrap());
    assert_eq!(running.asked(), ["100000"]);
}

#[test]
fn one_process_at_a_time() {
    let home = Home::new();
    let running = Server::new(&home.content).start();
    let lock = home.shelf.open_part("tiny").unwrap();
    assert_eq!(home.fetch(&running), Err(FetchError::Shelf(ShelfError::Busy("tiny".into()))));
    drop(lock);
    home.has(&home.fetch(&running).unwrap());
}

#[test]
fn addresses_that_are_none() {
    for text in ["", "example.com/x", "http://example.com/x", "https://me:secret@example.com/x", "file:///x"] {
        let error = Address::parse(text).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let address = Address::parse("https://example.com/x.gguf?token=secret#y").unwrap();
    assert_eq!((address.shown().as_str(), address.host().as_str()), ("https://example.com/x.gguf", "example.com"));
}

#[test]
fn after_a_crash_the_same_command_ends_it_and_fetches_nothing_again() {
    let (home, other) = (Home::new(), Home::new());
    let running = Server::new(&home.content).start();
    let fetching = Fetching { bytes: None, ..home.fetching(&running.address) };
    let fetch = || fetch(&home.shelf, &fetching, &mut |_| (), &CancellationToken::new());
    let file = |name: &str| home.shelf.folder().join(name);
    other.fetch(&running).unwrap();
    running.asked();
    // What is known of it cannot be written down: as if the disk were full.
    fs::create_dir_all(file("tiny.toml.part")).unwrap();
    assert!(fetch().is_err());
    assert_eq!((home.part(), running.asked().len()), (Some(home.content.len() as u64), 1));
    assert!(!file("tiny.gguf").exists() && !file("tiny.toml").exists());
    fs::remove_dir(file("tiny.toml.part")).unwrap();
    // It was written down, and that was the last that was done.
    let crash = || fs::copy(other.shelf.folder().join("tiny.toml"), file("tiny.toml")).unwrap();
    crash();
    let listed = home.shelf.list().unwrap();
    assert_eq!((listed.kept.len(), listed.parts.len()), (1, 1));
    let kept = fetch().unwrap();
    home.has(&kept);
    assert_eq!(running.asked(), Vec::<String>::new());
    // Another process was faster.
    assert_eq!((fetch(), running.asked()), (Ok(kept), Vec::new()));
    home.shelf.remove("tiny").unwrap();
    assert!(super::disk::names(home.shelf.folder()).unwrap().is_empty());
}

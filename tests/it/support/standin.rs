//! A server on a loopback port that stands in for a provider: it answers what a test says, and keeps what it was asked.
//!
//! [`Standin::answers`] speaks the Chat Completions of OpenAI, as most local servers do; [`Standin::start`] says anything.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// The one model that a scripted server has.
pub(crate) const MODEL: &str = "scripted";

/// A server that ends when it is dropped.
pub(crate) struct Standin {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// The lines of the head after the first, as they were sent.
    pub(crate) head: Vec<String>,
    /// The body; null where it is no JSON.
    pub(crate) body: Value,
}

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    status: u16,
    head: Vec<(String, String)>,
    pieces: Vec<Piece>,
}

/// A part of a body.
#[derive(Clone, Debug)]
enum Piece {
    /// These bytes, in a write of their own.
    Bytes(Vec<u8>),
    /// Nothing more, until the other side goes.
    Silence,
    /// The same again and again, until the other side goes.
    Forever(Vec<u8>),
    /// The connection ends in the middle of the body.
    Cut,
}

impl Standin {
    /// A server of Chat Completions that answers with these texts, one a request. Then it fails.
    pub(crate) fn answers<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::says(texts.into_iter().map(|text| Answered::chat(&text.into())))
    }

    /// A server that gives these answers to the requests that post something, one each; then it fails. Its list of models
    /// has [`MODEL`].
    pub(crate) fn says(answers: impl IntoIterator<Item = Answered>) -> Self {
        let mut answers: VecDeque<Answered> = answers.into_iter().collect();
        Self::start(move |asked| {
            if asked.method == "GET" && asked.path.ends_with("/models") {
                let models = json!([{"id": MODEL, "object": "model", "owned_by": "test"}]);
                return Answered::json(200, &json!({"object": "list", "data": models}));
            }
            answers.pop_front().unwrap_or_else(|| Answered::error(500, "the script has no more answers"))
        })
    }

    /// A server that answers each request by what it is.
    pub(crate) fn start(answer: impl FnMut(&Asked) -> Answered + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, ends) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (asked, ends) = (Arc::clone(&asked), Arc::clone(&ends));
            let answer = Arc::new(Mutex::new(answer));
            move || {
                while let Ok((stream, _)) = listener.accept() {
                    if ends.load(Ordering::SeqCst) {
                        return;
                    }
                    let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
                    // A connection may be kept open for long: each has its own thread, which ends with it.
                    std::thread::spawn(move || serve(&stream, &asked, &answer));
                }
            }
        });
        Self { port, asked, ends, thread: Some(thread) }
    }

    /// The address of the interface of OpenAI, as it is given to a client.
    pub(crate) fn address(&self) -> String {
        format!("{}/v1", self.root())
    }

    /// The address of the server itself.
    pub(crate) fn root(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }

    /// The bodies of the requests that posted something so far.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.requests().into_iter().filter(|asked| asked.method == "POST").map(|asked| asked.body).collect()
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Asked {
    /// The value of a line of the head.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.iter().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Answered {
    /// An empty answer.
    pub(crate) fn new(status: u16) -> Self {
        Self { status, head: Vec::new(), pieces: Vec::new() }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status).header("Content-Type", "application/json").piece(body.to_string())
    }

    /// An error as OpenAI words it.
    pub(crate) fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({"error": {"message": message, "type": "test", "param": null, "code": null}}))
    }

    /// A stream of events.
    pub(crate) fn events<T: Into<String>>(events: impl IntoIterator<Item = T>) -> Self {
        let answer = Self::new(200).header("Content-Type", "text/event-stream");
        events.into_iter().fold(answer, |answer, event| answer.piece(format!("{}\n\n", event.into())))
    }

    /// A whole answer of Chat Completions, in pieces of a few characters.
    pub(crate) fn chat(text: &str) -> Self {
        let characters: Vec<char> = text.chars().collect();
        let pieces =
            characters.chunks(7).map(|piece| chunk(&json!({"content": piece.iter().collect::<String>()}), None));
        let last =
            [chunk(&json!({}), Some("stop")), usage(20, u64::try_from(characters.len()).unwrap()), "[DONE]".to_owned()];
        Self::events(pieces.chain(last).map(|data| format!("data: {data}")))
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.head.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn piece(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(Piece::Bytes(bytes.into()));
        self
    }

    /// Then it says nothing more and keeps the connection open.
    pub(crate) fn then_silence(mut self) -> Self {
        self.pieces.push(Piece::Silence);
        self
    }

    /// Then it says the same without an end.
    pub(crate) fn then_forever(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.pieces.push(Piece::Forever(bytes.into()));
        self
    }

    /// Only so many pieces, and then the end of the body.
    pub(crate) fn keep(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        self
    }

    /// Only so many pieces, and then the connection breaks.
    pub(crate) fn cut_after(mut self, pieces: usize) -> Self {
        self.pieces.truncate(pieces);
        self.pieces.push(Piece::Cut);
        self
    }
}

/// A chunk of a stream of Chat Completions.
pub(crate) fn chunk(delta: &Value, end: Option<&str>) -> String {
    let choices = json!([{"index": 0, "delta": delta, "finish_reason": end}]);
    json!({"id": "1", "object": "chat.completion.chunk", "model": MODEL, "choices": choices}).to_string()
}

/// The chunk with the tokens of a request and of its answer.
pub(crate) fn usage(input: u64, output: u64) -> String {
    let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output});
    json!({"id": "1", "object": "chat.completion.chunk", "model": MODEL, "choices": [], "usage": usage}).to_string()
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one request and answers it; what goes wrong on the way is the other side's to notice.
fn serve(stream: &TcpStream, asked: &Mutex<Vec<Asked>>, answer: &Mutex<impl FnMut(&Asked) -> Answered>) {
    let Some(request) = read(stream) else { return };
    lock(asked).push(request.clone());
    let answered = (*lock(answer))(&request);
    let _ = write(stream, &answered);
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut first = lines.first()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let mut asked = Asked { method, path, head: lines.split_off(1), body: Value::Null };
    let length = asked.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(asked)
}

fn write(mut stream: &TcpStream, answered: &Answered) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Said\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n", answered.status);
    for (name, value) in &answered.head {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    for piece in &answered.pieces {
        match piece {
            Piece::Bytes(bytes) => write_chunk(stream, bytes)?,
            Piece::Forever(bytes) => loop {
                write_chunk(stream, bytes)?;
            },
            Piece::Silence => {
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest);
                return Ok(());
            }
            Piece::Cut => return stream.shutdown(Shutdown::Both),
        }
    }
    stream.write_all(b"0\r\n\r\n")
}

fn write_chunk(mut stream: &TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    // An empty chunk would end the body.
    if bytes.is_empty() {
        return Ok(());
    }
    stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
    stream.write_all(bytes)?;
    stream.write_all(b"\r\n")
}

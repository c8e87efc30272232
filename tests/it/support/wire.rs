//! A client of HTTP that is nothing but a socket: what is sent is sent byte for byte, and what comes back is read by hand.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long an answer may take before it counts as none.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A connection, read piece by piece.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    read: Vec<u8>,
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Wire {
    /// Connects; who is silent for [`PATIENCE`] counts as one that does not answer.
    pub(crate) fn to(address: impl ToSocketAddrs) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream, read: Vec::new() }
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have left already.
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Reads more; `false` at the end.
    pub(crate) fn more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.read.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => false,
            Err(error) => panic!("no answer: {error}; read so far: {:?}", String::from_utf8_lossy(&self.read)),
        }
    }

    /// Reads up to and with a mark.
    #[track_caller]
    pub(crate) fn until(&mut self, mark: &str) -> String {
        loop {
            let at = self.read.windows(mark.len()).position(|bytes| bytes == mark.as_bytes());
            if let Some(at) = at {
                let text = self.read.drain(..at + mark.len()).collect();
                return String::from_utf8(text).unwrap();
            }
            assert!(self.more(), "no {mark:?} in {:?}", String::from_utf8_lossy(&self.read));
        }
    }

    /// Reads a number of bytes, or what there is.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u8> {
        while self.read.len() < count && self.more() {}
        self.read.drain(..count.min(self.read.len())).collect()
    }

    /// Reads to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        while self.more() {}
        String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned()
    }

    /// Reads what comes within a time, or to the end of the connection.
    pub(crate) fn rest_within(&mut self, time: Duration) -> String {
        let (end, mut buffer) = (Instant::now() + time, [0; 4096]);
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.stream.set_read_timeout(Some(left)).unwrap();
            match self.stream.read(&mut buffer) {
                Ok(count @ 1..) => self.read.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned()
    }

    #[track_caller]
    pub(crate) fn head(&mut self) -> Answer {
        let head = self.until("\r\n\r\n");
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header =
            |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
        Answer { status, headers: lines.filter_map(header).collect(), body: String::new() }
    }

    /// Reads one answer with its body.
    #[track_caller]
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        let mut body = Vec::new();
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(self.until("\r\n").trim(), 16).unwrap();
                body.extend(self.take(size));
                self.until("\r\n");
                if size == 0 {
                    break;
                }
            }
        } else if let Some(length) = answer.header("content-length") {
            let length = length.parse().unwrap();
            body = self.take(length);
        }
        answer.body = String::from_utf8(body).unwrap();
        answer
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The message in the body: all of it, or the last event of a stream.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let text = events.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

//! [`ServerLog`]: what a server writes to its standard error, and to its standard output beside messages; the last of it in memory
//! and in a bounded file.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memdir_tools::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::lock;

/// How many lines are kept in memory.
const MOST_LINES: usize = 100;
/// The longest line, in bytes; what is behind is left out.
const MOST_LINE: usize = 2_000;
/// How long a log file becomes before it is put aside for a new one. The one before stays.
const MOST_FILE: u64 = 256 * 1024;

type Lines = Arc<Mutex<VecDeque<String>>>;

/// The last lines of one server.
#[derive(Clone, Debug)]
pub(crate) struct ServerLog {
    /// Of one process.
    lines: Lines,
    /// Of all that this program has started.
    of_all: Lines,
    file: Option<PathBuf>,
}

impl ServerLog {
    pub(crate) fn new(folder: Option<&Path>, server: &ServerName) -> Self {
        Self { lines: Arc::default(), of_all: Arc::default(), file: folder.map(|folder| file_of(folder, server)) }
    }

    /// The files that there may be of a server.
    pub(crate) fn files(folder: &Path, server: &ServerName) -> [PathBuf; 2] {
        let file = file_of(folder, server);
        [aside(&file), file]
    }

    /// The log of another process of the same server.
    pub(crate) fn of_another_process(&self) -> Self {
        Self { lines: Arc::default(), ..self.clone() }
    }

    /// Keeps all that comes, to its end. A server that says much takes no more room than this.
    pub(crate) async fn follow(self, mut stderr: impl AsyncRead + Unpin) {
        let mut line = Vec::new();
        let mut buffer = vec![0; 8192];
        while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
            let mut text = String::new();
            for piece in buffer.get(..read).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
                let room = MOST_LINE.saturating_sub(line.len());
                line.extend(piece.iter().filter(|byte| **byte != b'\n').take(room));
                if piece.ends_with(b"\n") {
                    self.keep(&line, &mut text);
                    line.clear();
                }
            }
            self.write(text).await;
        }
        if !line.is_empty() {
            let mut text = String::new();
            self.keep(&line, &mut text);
            self.write(text).await;
        }
    }

    /// Keeps a line that stood where messages are expected; nothing of an empty one.
    pub(crate) async fn add_output(&self, line: &str) {
        if !line.is_empty() {
            let mut text = String::new();
            self.keep(format!("(standard output) {line}").as_bytes(), &mut text);
            self.write(text).await;
        }
    }

    /// Keeps a line in memory, and adds it to what is written next.
    fn keep(&self, line: &[u8], text: &mut String) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        text.extend([&line, "\n"]);
        for lines in [&self.lines, &self.of_all] {
            let mut lines = lock(lines);
            if lines.len() >= MOST_LINES {
                lines.pop_front();
            }
            lines.push_back(line.clone());
        }
    }

    /// Writes lines into the file, on a thread that may wait for the disk.
    async fn write(&self, text: String) {
        let Some(file) = self.file.clone().filter(|_| !text.is_empty()) else { return };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(move || append(&file, &text)).await {
            tracing::debug!(%error, "lines of a server were not logged");
        }
    }

    /// The last lines of this process, the newest last.
    pub(crate) fn recent(&self, most: usize) -> Vec<String> {
        last_of(lock(&self.lines).iter(), most)
    }

    /// The last lines of all processes, the newest last: also of those that another program has started, where there is a file.
    pub(crate) fn last(&self, most: usize) -> Vec<String> {
        let Some(file) = &self.file else { return last_of(lock(&self.of_all).iter(), most) };
        last_of((read(&aside(file)) + &read(file)).lines(), most)
    }
}

fn last_of(lines: impl Iterator<Item = impl ToString>, most: usize) -> Vec<String> {
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    let skipped = lines.len().saturating_sub(most);
    lines.into_iter().skip(skipped).collect()
}

fn file_of(folder: &Path, server: &ServerName) -> PathBuf {
    folder.join(format!("{server}.log"))
}

fn aside(file: &Path) -> PathBuf {
    file.with_extension("log.1")
}

#[expect(clippy::disallowed_methods, reason = "a file of the hub's own, in no memory")]
fn append(file: &Path, text: &str) -> std::io::Result<()> {
    crate::kept::make_folder_of(file)?;
    if std::fs::symlink_metadata(file).is_ok_and(|found| found.len() > MOST_FILE) {
        std::fs::rename(file, aside(file))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(text.as_bytes())
}

/// What a file holds, or nothing.
fn read(file: &Path) -> String {
    let mut bytes = Vec::new();
    let opened = OpenOptions::new().read(true).open(file);
    let _ = opened.and_then(|file| file.take(MOST_FILE + MOST_LINE as u64 * 2).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test looks at the files")]

    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn nothing_else_on_the_thread_waits_for_the_disk() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().unwrap();
        let name = ServerName::parse("loud").unwrap();
        // Who opens it waits for a reader.
        let pipe = folder.path().join("loud.log");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let (goes_on, told) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let went_on = told.recv_timeout(std::time::Duration::from_secs(5)).is_ok();
            (went_on, std::fs::read_to_string(pipe).unwrap())
        });
        let log = ServerLog::new(Some(folder.path()), &name);
        tokio::join!(log.follow(b"one\n".as_slice()), async { goes_on.send(()).unwrap_or_default() });
        let (went_on, text) = reader.join().unwrap();
        assert!(went_on, "all waited for the file");
        assert_eq!(text, "one\n");
    }

    #[test]
    fn a_server_that_says_much_takes_no_more_room_than_this() {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(Some(folder.path()), &ServerName::parse("loud").unwrap());
        let mut said: Vec<u8> =
            (0..20_000).flat_map(|line| format!("line {line} {}\n", "x".repeat(40)).into_bytes()).collect();
        said.extend_from_slice(&[b'y'; 50_000]);
        said.extend_from_slice(b"\n\xff\xfe no text\nthe end, without a line");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(log.clone().follow(said.as_slice()));
        let last = log.last(4);
        assert_eq!(last[0], format!("line 19999 {}", "x".repeat(40)));
        assert_eq!((last[1].len(), last[3].as_str()), (MOST_LINE, "the end, without a line"));
        assert_eq!(log.recent(4), last);
        assert!(log.last(usize::MAX).len() > 4_000 && log.recent(usize::MAX).len() == MOST_LINES);
        let files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let sizes: Vec<u64> = files.map(|file| file.metadata().unwrap().len()).collect();
        assert!(sizes.len() == 2 && sizes.iter().sum::<u64>() < 2 * MOST_FILE + 10_000, "{sizes:?}");
    }
}

//! [`guard`]: a program that ends what is left of the servers when memdir is gone, however that ended.
//!
//! It waits on its input, whose other end only memdir holds: the system closes that also after `kill -9`. What it ends are the
//! process groups that it was told of, and on Linux also what left its group but still carries the mark in its environment.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::lock;

/// The variable that each process of a server inherits.
pub(crate) const MARK: &str = "MEMDIR_HUB";

/// Waits until standard input ends, and then kills all that was named on it and all that carries the mark.
///
/// A line `+123` names a process group, `-123` says that it is gone. The program that calls this does nothing else.
pub fn guard(mark: &str) {
    // So that `pkill memdir` spares the guard.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"hub-guard");
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        match (line.split_at_checked(1), line.get(1..).and_then(|number| number.parse::<i32>().ok())) {
            (Some(("+", _)), Some(group)) => groups.insert(group),
            (Some(("-", _)), Some(group)) => groups.remove(&group),
            _ => false,
        };
    }
    for group in groups {
        end_group(group, Strength::Kill);
    }
    end_marked(mark);
}

/// The hub's side of it.
#[derive(Debug)]
pub(crate) struct Guard {
    /// How what the environment of every process of this hub holds under [`MARK`] begins; no other hub has the same.
    mark: String,
    /// How many marks were given.
    given: AtomicU64,
    /// The program and its arguments; empty for none.
    command: Vec<String>,
    /// The program, once a server was started.
    started: Mutex<Option<Child>>,
}

impl Guard {
    pub(crate) fn new(command: Vec<String>) -> Self {
        let process = std::process::id();
        let mark = format!("{process}-{:016x}", RandomState::new().hash_one(process));
        Self { mark, given: AtomicU64::new(0), command, started: Mutex::default() }
    }

    /// The mark of another program, which all that it starts inherits. The guard is there before it is given.
    pub(crate) fn next_mark(&self) -> String {
        let mut started = lock(&self.started);
        if started.is_none() {
            *started = self.start();
        }
        format!("{}.{}", self.mark, self.given.fetch_add(1, Ordering::Relaxed))
    }

    /// Has a process group ended when memdir ends.
    pub(crate) fn watch(&self, group: i32) {
        tell(&mut lock(&self.started), &format!("+{group}\n"));
    }

    /// A process group is gone.
    pub(crate) fn release(&self, group: i32) {
        tell(&mut lock(&self.started), &format!("-{group}\n"));
    }

    /// Has it kill what is left, and waits until it has.
    pub(crate) fn end(&self) {
        if let Some(mut guard) = lock(&self.started).take() {
            guard.stdin.take();
            let _ = guard.wait();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "memdir itself, as the guard of its children")]
    fn start(&self) -> Option<Child> {
        let (program, arguments) = self.command.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(&self.mark).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A key that ends memdir in a terminal must not end its guard.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().inspect_err(|error| tracing::warn!(%error, "the guard did not start")).ok()
    }
}

/// Without a guard there is nobody to tell; in the place of one that is gone another is started with the next server.
fn tell(started: &mut Option<Child>, line: &str) {
    let input = started.as_mut().and_then(|guard| guard.stdin.as_mut());
    if input.is_some_and(|input| input.write_all(line.as_bytes()).is_err())
        && let Some(mut gone) = started.take()
    {
        let _ = gone.wait();
    }
}

/// How a process is told to end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strength {
    /// It may clear up first.
    Terminate,
    /// It cannot clean up.
    Kill,
}

/// Ends all of a process group, where anything of it is left.
#[cfg(unix)]
pub(crate) fn end_group(group: i32, strength: Strength) {
    let signal = match strength {
        Strength::Terminate => rustix::process::Signal::TERM,
        Strength::Kill => rustix::process::Signal::KILL,
    };
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        // It may have ended by itself.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// Only the process itself is ended, by those who own it.
#[cfg(not(unix))]
pub(crate) fn end_group(_group: i32, _strength: Strength) {}

/// Kills every process whose environment holds the mark, or one that begins with it and a dot, until there is none: also those
/// that left their group. A process that has overwritten its environment is not found.
#[cfg(target_os = "linux")]
pub(crate) fn end_marked(mark: &str) {
    // What is being made while this looks is found the next time.
    for _ in 0..100 {
        let marked = marked_with(&format!("{MARK}={mark}"));
        if marked.is_empty() {
            return;
        }
        for process in marked {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_marked(_mark: &str) {}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the system's list of processes")]
fn marked_with(mark: &str) -> Vec<rustix::process::Pid> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let is_marked = |path: std::path::PathBuf| {
        let environment = std::fs::read(path.join("environ")).ok()?;
        let is_mark = |held: &[u8]| matches!(held.strip_prefix(mark.as_bytes()), Some([] | [b'.', ..]));
        environment.split(|byte| *byte == 0).any(is_mark).then_some(())
    };
    all.flatten()
        .filter_map(|entry| {
            let number: i32 = entry.file_name().to_str()?.parse().ok()?;
            is_marked(entry.path())?;
            rustix::process::Pid::from_raw(number)
        })
        .collect()
}

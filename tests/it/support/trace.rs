//! Killing the binary at any of its system calls, and making any of them fail.
//!
//! Owns the tracer, a small C program that is compiled when a test first asks for it: tracing takes calls for which
//! Rust would need `unsafe`. A machine that has no C compiler or does not let processes be traced fails the test;
//! a promise about crashes that was not tried is not kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// The tracer, compiled.
#[derive(Debug)]
pub(crate) struct Tracer {
    program: PathBuf,
    folder: tempfile::TempDir,
}

/// How a traced program ended, and what it asked of the system until then.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Traced {
    /// Its exit status; `None` when a signal ended it.
    pub(crate) status: Option<i32>,
    /// All system calls of all its threads, from 1.
    pub(crate) total: usize,
    /// The calls by name, for names that matter here.
    pub(crate) calls: BTreeMap<String, usize>,
    /// What it wrote to standard output and standard error.
    pub(crate) output: String,
}

impl Traced {
    /// How often it made a call.
    pub(crate) fn calls(&self, name: &str) -> usize {
        self.calls.get(name).copied().unwrap_or(0)
    }

    /// How often it waited for the disk.
    pub(crate) fn flushes(&self) -> usize {
        ["fsync", "fdatasync", "msync"].into_iter().map(|name| self.calls(name)).sum()
    }
}

/// Which of the calls of one name fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Which {
    /// This one, from 1.
    Only(usize),
    /// This one and every later one, as on a disk that is full or gone.
    From(usize),
}

impl Tracer {
    /// Compiles the tracer.
    pub(crate) fn build() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("ptrace");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/ptrace.c");
        let output = Command::new("cc")
            .args(["-O1", "-Wall", "-Werror", "-o"])
            .arg(&program)
            .arg(source)
            .output()
            .expect("`cc` runs; building memdir takes a C compiler too");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the tracer does not compile: {errors}");
        Self { program, folder }
    }

    /// Runs a program to its end and counts its calls.
    pub(crate) fn count(&self, command: &Command) -> Traced {
        self.run(&["count".into()], command)
    }

    /// Kills a program, all threads at once, as it enters call number `at`, which does not happen.
    pub(crate) fn kill(&self, command: &Command, at: usize) -> Traced {
        self.run(&["kill".into(), at.to_string().into()], command)
    }

    /// Runs a program in which some calls of one name do not happen and return `errno` instead.
    pub(crate) fn fail(&self, command: &Command, name: &str, which: Which, errno: i32) -> Traced {
        let which = match which {
            Which::Only(at) => at.to_string(),
            Which::From(at) => format!("{at}+"),
        };
        self.run(&["fail".into(), name.into(), which.into(), errno.to_string().into()], command)
    }

    /// The command by which the tracer kills a program as it enters call number `at`; for a program that needs a terminal.
    pub(crate) fn killing(&self, command: &Command, at: usize) -> Command {
        let mut tracer = Command::new(&self.program);
        tracer.arg(self.folder.path().join("counted")).args(["kill", &at.to_string(), "--"]);
        tracer.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => tracer.env(name, value),
                None => tracer.env_remove(name),
            };
        }
        tracer
    }

    /// Runs the program, arguments, folder and environment of `command` under the tracer.
    fn run(&self, mode: &[OsString], command: &Command) -> Traced {
        let out = tempfile::NamedTempFile::new_in(self.folder.path()).expect("a temporary file");
        let mut tracer = Command::new(&self.program);
        tracer.arg(out.path()).args(mode).arg("--").arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            tracer.current_dir(folder);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => tracer.env(name, value),
                None => tracer.env_remove(name),
            };
        }
        let output = tracer.output().expect("the tracer runs");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_ne!(
            output.status.code(),
            Some(3),
            "this machine does not let processes be traced (in a container: allow `ptrace`), so that no promise about \
             crashes can be tested: {said}"
        );
        assert!(output.status.success(), "the tracer failed: {said}");
        read(&std::fs::read_to_string(out.path()).expect("the tracer has counted"), said)
    }
}

/// Reads what the tracer wrote.
fn read(counted: &str, output: String) -> Traced {
    let mut traced = Traced { output, ..Traced::default() };
    for line in counted.lines() {
        let (name, number) = line.split_once(' ').expect("a name and a number");
        let number: usize = number.parse().expect("a number");
        match name {
            "exit" => traced.status = i32::try_from(number).ok(),
            "signal" => {}
            "total" => traced.total = number,
            _ => drop(traced.calls.insert(name.to_owned(), number)),
        }
    }
    traced
}

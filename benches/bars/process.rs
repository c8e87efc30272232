//! What is measured as whole processes: `exec` against an empty program, and against the Python engine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::inside::{visit, write};
use crate::measure::{Bar, Subject, head, in_turns, note, once, row};
use crate::vaults;

const MEMDIR: &str = env!("CARGO_BIN_EXE_memdir");
const SIZES: [usize; 2] = [1_000, 100_000];
const ROUNDS: usize = 60;

/// `exec` that only reads, at two sizes, and what surrounds it.
pub(crate) fn execs() {
    head("exec, whole process; baseline: an empty Rust program");
    let Some(empty) = empty() else { return };
    let names: Vec<String> = (0..10).map(|number| vaults::path(number * 7)).collect();
    let calls = names.iter().map(|name| format!(r#"{{"action":"read_file","path":"{name}"}}"#));
    let reads = batch("reads", format!("<actions>[{}]</actions>", calls.collect::<Vec<_>>().join(",\n")).as_bytes());
    let nothing = batch("nothing", b"");
    let vaults = SIZES.map(vaults::vault);
    let [small, large] = &vaults;
    let times = in_turns(
        ROUNDS,
        vec![
            Box::new(|| run(&mut Command::new(&empty), &nothing)),
            Box::new(|| run(&mut exec(small), &reads)),
            Box::new(|| run(&mut exec(large), &reads)),
        ],
    );
    let [bare, cold, cold_large] = times.as_slice() else { return };
    row("ten reads, cold (no .memdir), 1000 notes", *cold, *bare, Bar::None);
    row("ten reads, cold (no .memdir), 100000 notes", *cold_large, *bare, Bar::None);
    let mut number = 0;
    let mut write = |vault: &Path| {
        number += 1;
        run(&mut exec(vault), &batch("write", &write(number)))
    };
    let first = |vault: &Path, write: &mut dyn FnMut(&Path) -> Duration| {
        vaults::clean(vault);
        write(vault)
    };
    let firsts = in_turns(30, vec![Box::new(|| first(small, &mut write))]);
    row("first write, which makes .memdir, 1000 notes", only(&firsts), *bare, Bar::None);
    let firsts = in_turns(3, vec![Box::new(|| first(large, &mut write))]);
    row("first write, which makes .memdir, 100000 notes", only(&firsts), *bare, Bar::None);
    // What is still to be written would slow everything that follows.
    rustix::fs::sync();
    let times = in_turns(
        ROUNDS,
        vec![
            Box::new(|| run(&mut Command::new(&empty), &nothing)),
            Box::new(|| run(&mut exec(small), &reads)),
            Box::new(|| run(&mut exec(large), &reads)),
        ],
    );
    let [bare, in_use, in_use_large] = times.as_slice() else { return };
    row("ten reads, memory in use, 1000 notes", *in_use, *bare, Bar::Most(3.0));
    row("ten reads, memory in use, 100000 notes", *in_use_large, *bare, Bar::Most(3.0));
    row("the same; baseline: at 1000 notes", *in_use_large, *in_use, Bar::Most(1.2));
    // For itself, since a process that starts right after a flush takes longer.
    let times = in_turns(30, vec![Box::new(|| run(&mut Command::new(&empty), &nothing)), Box::new(|| write(small))]);
    let [bare, written] = times.as_slice() else { return };
    row("one durable write, memory in use", *written, *bare, Bar::None);
}

/// `exec` with ten durable updates, against the Python engine.
pub(crate) fn against_python() {
    head("exec, ten durable updates, whole process; baseline: the Python engine's stand-in, undurable");
    let Some(python) = Python::find() else {
        println!("skipped: there is no python3");
        return;
    };
    let (ours, blocks, block) = (vaults::fresh("exec-ten"), vaults::fresh("python-ten"), vaults::fresh("python-one"));
    let names: Vec<String> = (0..10).map(|number| format!("note-{number}.md")).collect();
    for folder in [&ours, &blocks, &block] {
        for (number, name) in names.iter().enumerate() {
            fs::write(folder.join(name), vaults::text(number)).expect("a note can be written");
        }
    }
    let step = |name: &String, visits: usize| {
        format!("done = update_file('{name}', '- visits: {visits}\\n', '- visits: {}\\n')\n", visits + 1)
    };
    let (mut one, mut two, mut three) = (0, 0, 0);
    let subjects: Vec<Subject<'_>> = vec![
        Box::new(|| {
            let input = batch("ten", &visit(&names, one));
            one += 1;
            run(&mut exec(&ours), &input)
        }),
        Box::new(|| {
            let steps: Vec<String> = names.iter().map(|name| python.pack(&blocks, &step(name, two))).collect();
            two += 1;
            steps.iter().map(|step| python.run(step)).sum()
        }),
        Box::new(|| {
            let code: String = names.iter().map(|name| step(name, three)).collect();
            three += 1;
            let code = python.pack(&block, &code);
            python.run(&code)
        }),
    ];
    let times = in_turns(30, subjects);
    for folder in [&ours, &blocks, &block] {
        for name in &names {
            let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(text.contains("- visits: 31\n"), "{} was not updated", folder.join(name).display());
        }
    }
    let [exec, ten, one] = times.as_slice() else { return };
    row("ten updates in one batch; baseline: ten code blocks", *exec, *ten, Bar::Faster(20.0));
    row("ten updates in one batch; baseline: one code block", *exec, *one, Bar::None);
}

/// Sizes: of the binary, and of `exec` in memory.
pub(crate) fn sizes() {
    head("sizes");
    let bytes = fs::metadata(MEMDIR).map_or(0, |metadata| metadata.len());
    note("binary", &format!("{:.1} MiB", mebibytes(bytes)));
    let names: Vec<String> = (0..100).map(vaults::path).collect();
    let calls = names.iter().map(|name| format!(r#"{{"action":"read_file","path":"{name}"}}"#));
    let reads = batch("hundred", format!("<actions>[{}]</actions>", calls.collect::<Vec<_>>().join(",")).as_bytes());
    let mut command = exec(&vaults::vault(1_000));
    command.stdin(File::open(reads).expect("the batch is there")).stdout(Stdio::piped());
    let mut child = command.spawn().expect("exec starts");
    // Its answer does not fit into the pipe, so it waits for us with everything in memory.
    std::thread::sleep(Duration::from_millis(300));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(str::trim);
    note("peak memory of exec, a hundred reads", peak.unwrap_or("unknown"));
    drop(child.stdout.take());
    let _ = child.wait();
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// `memdir exec` on a memory.
fn exec(memory: &Path) -> Command {
    memdir("exec", memory)
}

/// A command of memdir's on a memory, without settings and with nothing of the user's; no index can be kept.
pub(crate) fn memdir(name: &str, memory: &Path) -> Command {
    // A file, in which no folder can be made.
    memdir_with(name, memory, Path::new("/dev/null"))
}

/// The same with a folder for indexes.
pub(crate) fn memdir_with(name: &str, memory: &Path, cache: &Path) -> Command {
    let mut command = Command::new(MEMDIR);
    let home = vaults::scratch().join("home");
    command.args([name, "--memory"]).arg(memory).env("HOME", &home).env("XDG_CONFIG_HOME", &home);
    command.env("XDG_CACHE_HOME", cache);
    command
}

/// Runs a process to its end, with a file as its input.
pub(crate) fn run(command: &mut Command, input: &Path) -> Duration {
    let input = File::open(input).expect("the batch is there");
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    once(|| assert!(command.status().expect("it starts").success(), "{command:?} failed"))
}

/// Writes what a process will read.
pub(crate) fn batch(name: &str, text: &[u8]) -> PathBuf {
    let path = vaults::scratch().join(format!("{name}.txt"));
    fs::write(&path, text).expect("a batch can be written");
    path
}

/// Compiles the empty program.
pub(crate) fn empty() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/baseline/empty.rs");
    let program = vaults::scratch().join("empty");
    let compiler = option_env!("RUSTC").unwrap_or("rustc");
    let made = Command::new(compiler).args(["--edition", "2024", "-O", "-o"]).arg(&program).arg(source).status();
    if made.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    println!("skipped: the empty program cannot be compiled");
    None
}

fn only(times: &[Duration]) -> Duration {
    times.first().copied().unwrap_or_default()
}

/// The Python engine's stand-in.
struct Python {
    program: PathBuf,
}

impl Python {
    /// Finds the interpreter itself: what stands first in the search path may be a script that looks for it.
    fn find() -> Option<Self> {
        let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        let program = String::from_utf8(output.stdout).ok()?;
        let program = PathBuf::from(program.trim());
        output.status.success().then_some(Self { program })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Compiled once, as any imported module is.
        let cache = vaults::scratch().join("python");
        command
            .env("PYTHONPYCACHEPREFIX", cache)
            .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/benches/baseline"));
        command.args(["-c", "import engine; engine.main()"]);
        command
    }

    /// Packs the parameters of one block, which the agent's own process would do.
    fn pack(&self, memory: &Path, code: &str) -> String {
        let input = batch("code", code.as_bytes());
        let mut command = self.command();
        command.arg("pack").arg(memory).stdin(File::open(input).expect("the code is there"));
        let output = command.output().expect("python3 starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs one block, and takes its result through a pipe.
    fn run(&self, parameters: &str) -> Duration {
        let mut command = self.command();
        command.env("ENGINE_PARAMETERS", parameters).stdin(Stdio::null());
        once(|| assert!(command.output().expect("python3 starts").status.success(), "the block failed"))
    }
}

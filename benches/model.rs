//! How fast a model file reads and writes in this process, what a grammar costs, and how much memory it all takes.
//!
//! `cargo bench --features gguf --bench model -- FILE [THREADS]…`
#![expect(clippy::print_stdout, reason = "a bench reports to the terminal")]
#![expect(clippy::disallowed_methods, reason = "what a process took stands in files of the system's")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memdir_core::catalog::ROWS;
use memdir_core::path::MemoryPath;
use memdir_model::grammar::{Grammar, lines, turns};
use memdir_model::{Answer, Heard, Message, Model, Request, Role, Shape};
use memdir_providers::gguf::{Gguf, Options};
use tokio_util::sync::CancellationToken;

/// How many tokens an answer has.
const WRITTEN: u32 = 64;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let Some(file) = words.next().map(PathBuf::from) else {
        println!("no model named: cargo bench --features gguf --bench model -- FILE [THREADS]…");
        return Ok(());
    };
    let threads = words.map(|word| word.parse()).collect::<Result<Vec<usize>, _>>()?;
    for threads in if threads.is_empty() { vec![1, 2] } else { threads } {
        speed(&file, threads)?;
    }
    Ok(())
}

/// Prints the figures for so many threads.
fn speed(file: &Path, threads: usize) -> Result<(), Failure> {
    println!("\n{threads} threads (load of the machine: {})", load_average()?);
    let folder = std::env::temp_dir().join(format!("memdir-bench-{}", std::process::id()));
    let options = |prefixes: Option<PathBuf>| Options {
        name: "measured".to_owned(),
        path: file.to_owned(),
        threads: Some(threads),
        context_tokens: None,
        prefixes,
    };
    let clock = Clock::start()?;
    let mut model = Gguf::load(options(None), &mut |_| ())?;
    clock.row("load", None)?;
    let request = request(&"The note says where Ada lives and what she does. ".repeat(80), None);
    let (answer, read, write) = timed(&mut model, &request)?;
    read.row("read", Some(answer.input_tokens - answer.reused_tokens));
    write.row("write, no grammar", Some(answer.output_tokens));
    grammar(&mut model, &request, "turns of all actions", turns(ROWS.iter()))?;
    for facts in [5, 100, 400] {
        let note: String = (0..facts).map(|fact| format!("- fact {fact}: value {}\n", fact * 7919)).collect();
        grammar(&mut model, &request, &format!("{facts} lines"), lines(&[(MemoryPath::parse("user.md")?, &note)])?)?;
    }
    drop(model);
    for what in ["first request, its beginning is kept", "first request of the next process"] {
        let mut model = Gguf::load(options(Some(folder.clone())), &mut |_| ())?;
        let clock = Clock::start()?;
        let answer =
            model.answer(&Request { max_tokens: 1, ..request.clone() }, &mut |_| (), &CancellationToken::new())?;
        clock.row(what, Some(answer.input_tokens))?;
    }
    let bytes: u64 = std::fs::read_dir(&folder)?.filter_map(|file| Some(file.ok()?.metadata().ok()?.len())).sum();
    println!("{:<44}{:>9.1} MB", "the kept beginning", mega(bytes));
    std::fs::remove_dir_all(&folder)?;
    println!("{:<44}{:>9.1} MB", "most memory so far", mega(status("VmHWM:")? * 1024));
    Ok(())
}

/// Prints what it costs to follow a grammar: to read it, and each token.
fn grammar(model: &mut Gguf, request: &Request, name: &str, grammar: Grammar) -> Result<(), Failure> {
    let shape = Some(Shape { grammar, schema: serde_json::Value::Null });
    let clock = Clock::start()?;
    let one = Request { shape, max_tokens: 1, ..request.clone() };
    model.answer(&one, &mut |_| (), &CancellationToken::new())?;
    clock.row(&format!("{name}: until the first token"), None)?;
    let (answer, _, write) = timed(model, &Request { max_tokens: request.max_tokens, ..one })?;
    write.row(&format!("write, {name}"), Some(answer.output_tokens));
    Ok(())
}

/// A request with a beginning that stays.
fn request(system: &str, shape: Option<Shape>) -> Request {
    Request {
        system: system.to_owned(),
        messages: vec![Message { role: Role::User, text: "Write a long story about Ada, please.".to_owned() }],
        stable: 0,
        shape,
        max_tokens: WRITTEN,
        temperature: 0.0,
        stop: Vec::new(),
    }
}

/// An answer, what it took to read the request, and what it took to write.
fn timed(model: &mut Gguf, request: &Request) -> Result<(Answer, Took, Took), Failure> {
    let start = Clock::start()?;
    let mut read = None;
    let hear = &mut |heard: Heard<'_>| {
        if let Heard::Reading { done, all } = heard
            && done == all
        {
            read = Some((start.took(), Clock::start()));
        }
    };
    let answer = model.answer(request, hear, &CancellationToken::new())?;
    let (read, written) = read.ok_or("nothing was read")?;
    Ok((answer, read?, written?.took()?))
}

/// A moment, by the wall and by the processor.
struct Clock {
    wall: Instant,
    processor: Duration,
}

/// How long something took.
struct Took {
    wall: Duration,
    processor: Duration,
}

impl Clock {
    fn start() -> Result<Self, Failure> {
        Ok(Self { wall: Instant::now(), processor: processor()? })
    }

    fn took(&self) -> Result<Took, Failure> {
        Ok(Took { wall: self.wall.elapsed(), processor: processor()?.saturating_sub(self.processor) })
    }

    fn row(&self, what: &str, tokens: Option<u64>) -> Result<(), Failure> {
        self.took()?.row(what, tokens);
        Ok(())
    }
}

impl Took {
    fn row(&self, what: &str, tokens: Option<u64>) {
        let (wall, processor) = (self.wall.as_secs_f64(), self.processor.as_secs_f64());
        print!("{what:<44}{wall:>9.2} s, of the processor {processor:>7.2} s");
        if let Some(tokens) = tokens {
            let tokens = u32::try_from(tokens).map_or(0.0, f64::from);
            print!(
                "; {tokens:>5} tokens, {:>7.1} a second, {:>7.1} a processor second",
                tokens / wall,
                tokens / processor
            );
        }
        println!();
    }
}

/// What the processor has worked for this process. Its file counts in hundredths of a second.
fn processor() -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("a file of another system")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

fn status(field: &str) -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).ok_or("a file of another system")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn load_average() -> Result<String, Failure> {
    Ok(std::fs::read_to_string("/proc/loadavg")?.split_whitespace().take(1).collect())
}

fn mega(bytes: u64) -> f64 {
    u32::try_from(bytes / 1000).map_or(f64::NAN, f64::from) / 1000.0
}

//! Searching with an index: how long it takes to build, and how soon questions are answered.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use memdir_core::report::{Source, Value};
use memdir_dialect::parse;
use memdir_engine::{Engine, IndexPlace};
use memdir_note::words;
use rusqlite::Connection;

use crate::measure::{Bar, Subject, head, in_turns, note, once, row, shares, shown};
use crate::process::memdir_with;
use crate::prose::{self, Words};
use crate::scan::{peak, run};
use crate::{fresh, vaults};

/// How many notes, and how many rounds of what reads all of them.
const SIZES: [(usize, usize); 3] = [(1_000, 31), (10_000, 5), (100_000, 3)];
/// How many single words are looked for.
const SINGLE: usize = 50;

/// A memory of prose with its index.
pub(crate) struct Memory {
    pub(crate) words: Words,
    pub(crate) count: usize,
    pub(crate) folder: PathBuf,
    /// The user's folder for what can be made again.
    pub(crate) cache: PathBuf,
    /// The index, in that.
    pub(crate) index: PathBuf,
}

/// Builds indexes, asks them, and lets them find what changed.
pub(crate) fn searches() {
    for (count, rounds) in SIZES {
        let words = Words::new();
        let folder = prose::vault(&words, count);
        // Files that changed a moment ago are looked at with less trust.
        std::thread::sleep(Duration::from_secs(3));
        build(&folder, count, rounds);
        let memory = indexed(words, folder, count);
        fresh::one_shot(&memory);
        webs(&memory, rounds.min(11));
        // From here on the memory has a history, which is of another machine than the processes'.
        fresh::told(&memory);
        warm(&memory);
        vaults::clean(&memory.folder);
    }
}

/// Builds the index by a process, as a first search does, and says how much memory and room that takes.
fn indexed(words: Words, folder: PathBuf, count: usize) -> Memory {
    let cache = vaults::fresh("cache");
    let mut command = memdir_with("search", &folder, &cache);
    command.args(["--json", "kitchen"]);
    note(&format!("first search, which builds the index, {count} notes, peak memory"), &peak(command));
    let index = found_index(&cache).expect("an index was built");
    let size = fs::metadata(&index).expect("it is there").len();
    note(&format!("the index of {count} notes"), &format!("{} KB", size >> 10));
    Memory { words, count, folder, cache, index }
}

fn found_index(cache: &Path) -> Option<PathBuf> {
    let mut folders = fs::read_dir(cache.join("memdir")).ok()?;
    folders.find_map(|folder| Some(folder.ok()?.path().join("index.sqlite")).filter(|file| file.is_file()))
}

/// Builds the index from nothing.
fn build(folder: &Path, count: usize, rounds: usize) {
    head("index build, in process; baseline: one thread, read each note and insert it into FTS5 as it is");
    let baseline = vaults::fresh("build-bare");
    let mut worked = Vec::new();
    let times = in_turns(
        rounds,
        vec![
            Box::new(|| {
                let engine = vaults::engine_with(folder, IndexPlace::File(vaults::fresh("build").join("index.sqlite")));
                let before = processor_time();
                let time = once(|| engine.refresh(&|_, _| (), &|| false).expect("the index is built"));
                worked.push(processor_time() - before);
                time
            }),
            Box::new(|| {
                let file = baseline.join("bare.sqlite");
                let _ = fs::remove_file(&file);
                once(|| assert_eq!(bare_index(folder, &file), count))
            }),
        ],
    );
    let [ours, bare] = times.as_slice() else { return };
    // 5,000 notes a second.
    let bar = Duration::from_micros(200 * count as u64);
    row(&format!("index build, {count} notes"), *ours, *bare, Bar::Within(bar));
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52")]
    let speed = count as f64 / ours.as_secs_f64();
    note("the same, notes a second", &format!("{speed:.0}"));
    let [worked] = shares(worked, [50]);
    note("the same, time of all processors", &shown(worked));
}

/// How long this process has worked, in all its threads and with what the system did for it, to a hundredth of a second.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    Duration::from_millis(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

fn bare_index(folder: &Path, file: &Path) -> usize {
    let db = Connection::open(file).expect("a database can be made");
    let tables = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
                  CREATE VIRTUAL TABLE text USING fts5(body, content = ''); BEGIN";
    db.execute_batch(tables).expect("a table can be made");
    let mut notes = 0;
    each_file(folder, &mut |path| {
        let body = fs::read_to_string(path).expect("it can be read");
        let mut insert = db.prepare_cached("INSERT INTO text (body) VALUES (?1)").expect("it is SQL");
        insert.execute([body]).expect("it is inserted");
        notes += 1;
    });
    db.execute_batch("COMMIT").expect("it is kept");
    notes
}

/// Visits every file below a folder.
pub(crate) fn each_file(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).expect("it can be listed") {
        let entry = entry.expect("it can be listed");
        if entry.file_type().expect("it is something").is_dir() {
            each_file(&entry.path(), visit);
        } else {
            visit(&entry.path());
        }
    }
}

/// Asks a process that watches the memory.
fn warm(memory: &Memory) {
    let count = memory.count;
    head("ranked search in a warm process that watches, propose and conclude, audited; no baseline");
    let engine = watching(memory);
    let asked = [("questions", prose::questions()), ("single words", single(memory))];
    let (mut all, mut worst) = (Vec::new(), (Duration::ZERO, String::new()));
    for (what, queries) in asked {
        let mut times = Vec::new();
        let rounds = if count > 10_000 { 5 } else { 11 };
        for round in 0..=rounds {
            for query in &queries {
                let time = once(|| drop(search(&engine, query)));
                if round > 0 {
                    times.push(time);
                    worst = worst.clone().max((time, query.clone()));
                }
            }
        }
        all.extend_from_slice(&times);
        tell(&format!("{} {what}, {count} notes", queries.len()), times);
    }
    let [_, p95, _] = tell(&format!("all of them, {count} notes"), all);
    row(&format!("all of them, {count} notes, p95"), p95, p95, Bar::Within(Duration::from_millis(20)));
    note("the longest", &format!("{} {:?}", shown(worst.0), worst.1));
}

fn tell(what: &str, times: Vec<Duration>) -> [Duration; 3] {
    let found = shares(times, [50, 95, 100]);
    note(&format!("{what}: p50, p95, max"), &found.map(shown).join(", "));
    found
}

/// An engine that watches a memory which is in use, and has looked at all files once.
pub(crate) fn watching(memory: &Memory) -> Engine {
    let engine = vaults::engine_with(&memory.folder, IndexPlace::File(memory.index.clone()));
    let written = engine.conclude(engine.propose(parse(&crate::inside::write(0)), vaults::caller()));
    assert!(written.actions.iter().all(|outcome| outcome.result.is_ok()), "a note was not written");
    engine.watch(|_| ()).expect("the memory can be watched");
    drop(search(&engine, "kitchen"));
    engine
}

/// Searches as a model does; the paths of what is found, the best first.
pub(crate) fn search(engine: &Engine, query: &str) -> Vec<String> {
    let call = serde_json::json!([{ "action": "search_files", "query": query, "limit": 20 }]);
    let report =
        engine.conclude(engine.propose(parse(format!("<actions>{call}</actions>").as_bytes()), vaults::caller()));
    let answer = report.actions.into_iter().next().expect("an answer").result.expect("the search was answered");
    let Value::Search(found) = answer else { panic!("a search was asked for") };
    assert_eq!(found.source, Source::Index);
    found.hits.into_iter().map(|hit| hit.path.to_string()).collect()
}

/// Words of the memory: as many of each kind, common, middle and rare.
fn single(memory: &Memory) -> Vec<String> {
    let sample = memory.count.min(10_000);
    let mut holding: HashMap<String, usize> = HashMap::new();
    for number in 0..sample {
        let mut own = std::collections::BTreeSet::new();
        words::each(&memory.words.text(number * (memory.count / sample)), &mut |word, _| {
            own.insert(word.to_owned());
        });
        own.into_iter().for_each(|word| *holding.entry(word).or_default() += 1);
    }
    note(&format!("different words in {sample} of the notes"), &holding.len().to_string());
    let mut holding: Vec<_> = holding.into_iter().map(|(word, count)| (count, word)).collect();
    holding.sort_unstable();
    let kinds = [(sample / 10, usize::MAX), (sample / 1_000 + 1, sample / 10), (1, sample / 1_000 + 1)];
    let mut drawn = Vec::new();
    for (number, (least, end)) in kinds.into_iter().enumerate() {
        let kind: Vec<_> = holding.iter().filter(|(count, _)| (least..end).contains(count)).collect();
        let wanted = (SINGLE + number) / kinds.len();
        drawn.extend((0..wanted).filter_map(|at| Some(kind.get(at * kind.len() / wanted)?.1.clone())));
    }
    drawn
}

/// What follows links or looks at every note, with an index and without.
fn webs(memory: &Memory, rounds: usize) {
    head("whole processes with an index; baseline: without");
    let Memory { folder, cache, count, words, .. } = memory;
    let note = words.path(7);
    let actions = [
        ("check", None),
        ("links", None),
        ("get_backlinks", Some(serde_json::json!({ "action": "get_backlinks", "path": note }))),
        ("get_context of a note", Some(serde_json::json!({ "action": "get_context", "path": note }))),
        (
            "get_context of a question",
            Some(serde_json::json!({ "action": "get_context", "query": "old wife's sister" })),
        ),
    ];
    for (what, action) in actions {
        let command = |cache: &Path| match &action {
            None => {
                let mut command = memdir_with(what, folder, cache);
                command.arg("--json");
                command
            }
            Some(action) => exec(memdir_with("exec", folder, cache), action),
        };
        let subjects: Vec<Subject<'_>> =
            vec![Box::new(|| run(&mut command(cache))), Box::new(|| run(&mut command(Path::new("/dev/null"))))];
        let times = in_turns(rounds, subjects);
        let [with, without] = times.as_slice() else { return };
        row(&format!("{what}, {count} notes"), *with, *without, Bar::None);
    }
}

/// `exec` of one call, which it takes from a file through a shell, since `run` gives it no input.
fn exec(exec: Command, action: &serde_json::Value) -> Command {
    let turn = vaults::scratch().join("turn.txt");
    fs::write(&turn, format!("<actions>[{action}]</actions>")).expect("a turn can be written");
    let mut command = Command::new("sh");
    command.args(["-c", r#"turn="$1"; shift; exec "$@" < "$turn""#, "sh"]).arg(turn);
    command.arg(exec.get_program()).args(exec.get_args());
    command.envs(exec.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

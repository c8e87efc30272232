//! Searching without an index, as whole processes: `memdir search` against ripgrep.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use memdir_core::action::{Action, Call, SearchFiles};
use memdir_dialect::{Parsed, parse};
use memdir_vault::LogQuery;

use crate::inside::visit;
use crate::measure::{Bar, head, in_turns, note, once, row};
use crate::process::memdir;
use crate::vaults;

/// What is looked for, and the options that say the same to both programs.
const SEARCHES: &[(&str, &str, &[&str], &str)] = &[
    ("a text of few notes", "text", &["-i", "-F"], "# note 4242"),
    ("a text of every note", "text", &["-i", "-F"], "dentist"),
    ("a pattern of few notes", "regex", &[], r"^- see: \[\[note-00[0-9]*77\]\]$"),
    ("a pattern of every note", "regex", &[], r"\b(kitchen|garden) [a-z]+ river\b"),
];

/// Searches for texts and patterns, and how much memory they take.
pub(crate) fn scans() {
    head("search, whole process; baseline: ripgrep, `rg -c` with the same meaning");
    let Some(rg) = ripgrep() else {
        println!("skipped: `scripts/bench-baselines` installs ripgrep");
        return;
    };
    for (count, rounds) in [(10_000, 30), (100_000, 11)] {
        let folder = vaults::vault(count);
        for (what, mode, options, query) in SEARCHES {
            let ours = || search(&folder, mode, query);
            let theirs = || {
                let mut command = Command::new(&rg);
                command.args(["--no-config", "--no-ignore", "-g", "*.md", "-c"]).args(*options);
                command.arg(query).arg(&folder);
                command
            };
            let notes = found(&mut ours());
            assert_eq!(notes, lines(&mut theirs()), "both find the same notes");
            let times = in_turns(rounds, vec![Box::new(|| run(&mut ours())), Box::new(|| run(&mut theirs()))]);
            let [ours, theirs] = times.as_slice() else { return };
            row(&format!("{what} ({notes} of {count}), {mode}"), *ours, *theirs, Bar::Most(1.0));
        }
        if count <= 10_000 {
            as_of_a_moment(&folder, count);
        }
        let (mode, query) = ("ranked", "what did the teacher ask the dentist about note 4242");
        let times = in_turns(3, vec![Box::new(|| run(&mut search(&folder, mode, query)))]);
        note(
            &format!("a question, {count} notes, ranked"),
            &crate::measure::shown(times.first().copied().unwrap_or_default()),
        );
        for (mode, query) in [("text", "dentist"), ("ranked", query)] {
            let mut command = search(&folder, mode, query);
            command.args(["--limit", "1000"]);
            note(&format!("peak memory, every note of {count}, {mode}"), &peak(command));
        }
    }
}

/// Searches as of a moment after which a tenth of the notes changed: those are read from the history.
fn as_of_a_moment(folder: &Path, count: usize) {
    let engine = vaults::engine(folder);
    let changed: Vec<usize> = (0..count / 10).collect();
    for visits in 0..2 {
        // Times are told in whole seconds.
        std::thread::sleep(Duration::from_millis(1_100));
        for part in changed.chunks(100) {
            let names: Vec<String> = part.iter().copied().map(vaults::path).collect();
            let report = engine.conclude(engine.propose(parse(&visit(&names, visits)), vaults::caller()));
            assert!(report.batch.is_some(), "the notes can be changed");
        }
    }
    let half = changed.len().div_ceil(100);
    let log = engine.log(&LogQuery { limit: half + 1, ..LogQuery::default() }, false).expect("there is a history");
    let moment = log.entries.last().map(|entry| entry.time.clone());
    let ask = |as_of: Option<String>| {
        let query = "what did the teacher ask the dentist about note 4242".to_owned();
        let (mode, path, limit, cursor, budget) = (None, None, None, None, None);
        let search =
            Action::SearchFiles(SearchFiles { query, mode, path, limit, cursor, budget, include_past: None, as_of });
        let parsed = Parsed::of([Call::plain(1, search)]);
        let report = engine.conclude(engine.propose(parsed, vaults::caller()));
        assert!(report.actions.iter().all(|outcome| outcome.result.is_ok()), "it is answered: {report:?}");
    };
    let times = in_turns(7, vec![Box::new(|| once(|| ask(moment.clone()))), Box::new(|| once(|| ask(None)))]);
    if let [then, now] = times.as_slice() {
        let what = format!("a question as of a moment, {count} notes; baseline: now");
        row(&what, *then, *now, Bar::Within(Duration::from_secs(1)));
    }
    drop(engine);
    for number in changed {
        std::fs::write(folder.join(vaults::path(number)), vaults::text(number)).expect("a note can be written");
    }
    vaults::clean(folder);
}

/// The pinned ripgrep, if it is installed.
fn ripgrep() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    Some(target.join("baselines/bin/rg")).filter(|path| path.is_file())
}

fn search(folder: &Path, mode: &str, query: &str) -> Command {
    let mut command = memdir("search", folder);
    command.args(["--json", "--mode", mode, query]);
    command
}

pub(crate) fn run(command: &mut Command) -> Duration {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    once(|| assert!(command.status().expect("it starts").success(), "{command:?} failed"))
}

/// How many notes our answer counts.
fn found(command: &mut Command) -> usize {
    let output = command.output().expect("it starts").stdout;
    let answer: serde_json::Value = serde_json::from_slice(&output).expect("an answer");
    answer
        .get("total")
        .and_then(serde_json::Value::as_u64)
        .and_then(|total| usize::try_from(total).ok())
        .expect("a count")
}

fn lines(command: &mut Command) -> usize {
    command.output().expect("it starts").stdout.iter().filter(|byte| **byte == b'\n').count()
}

/// The most memory that a command has taken, looked up again and again while it runs.
pub(crate) fn peak(mut command: Command) -> String {
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let mut peak = "unknown".to_owned();
    while child.try_wait().expect("it runs").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if let Some(now) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
            now.trim().clone_into(&mut peak);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

//! Searches after somebody else has edited a note: each has to find what was just written.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::measure::{Bar, Subject, head, in_turns, once, row};
use crate::process::memdir_with;
use crate::scan::run;
use crate::search::{self, Memory, each_file};

/// Longer than a watcher waits for what belongs to an event, with some time for the system to tell it.
const TOLD: Duration = Duration::from_millis(150);

/// One edit by an editor, and a search for what it wrote by a process of its own, which has to look at all files.
pub(crate) fn one_shot(memory: &Memory) {
    head("search after an outside edit, whole process; baseline: a stat of every file, in one thread of this process");
    let (count, folder) = (memory.count, memory.folder.as_path());
    let edit = Edit::of(memory);
    let rounds = if count > 10_000 { 15 } else { 31 };
    let (mut first, mut second) = (0, 100_000);
    let mut subjects: Vec<Subject<'_>> = vec![
        Box::new(|| {
            first += 1;
            edit.find("", first)
        }),
        Box::new(|| {
            second += 1;
            edit.find("how old is my wife's sister", second)
        }),
        Box::new(|| once(|| assert!(stats(folder) >= count, "all files are looked at"))),
    ];
    if Command::new("find").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
        subjects.push(Box::new(|| {
            let mut find = Command::new("find");
            find.arg(folder).args(["-type", "f", "-printf", r"%s %T@ %C@ %i\n"]);
            run(&mut find)
        }));
    }
    let times = in_turns(rounds, subjects);
    edit.undo();
    let [word, question, stat, find @ ..] = times.as_slice() else { return };
    let bar = Bar::MostAnd(1.5, Duration::from_millis(30));
    row(&format!("a word that was just written, {count} notes"), *word, *stat, bar);
    row(&format!("the same in a question, {count} notes"), *question, *stat, Bar::None);
    find.iter().for_each(|find| row(&format!("the word; baseline: `find -printf`, {count} notes"), *word, *find, bar));
}

/// Looks at every file as a sweep has to.
fn stats(folder: &Path) -> usize {
    let (mut files, mut sum) = (0, 0);
    each_file(folder, &mut |path| {
        let found = fs::symlink_metadata(path).expect("it is there");
        files += 1;
        sum ^= found.ino() ^ found.size() ^ found.mtime_nsec().cast_unsigned() ^ found.ctime_nsec().cast_unsigned();
    });
    std::hint::black_box(sum);
    files
}

/// The same by a process that watches, once the system has told it.
pub(crate) fn told(memory: &Memory) {
    head("search after an outside edit that was told, in process; baseline: the same search once more");
    let engine = search::watching(memory);
    let edit = Edit::of(memory);
    let mut after = Vec::new();
    let mut again = Vec::new();
    for round in 0..=31 {
        let word = edit.make(200_000 + round);
        std::thread::sleep(TOLD);
        let search = || {
            let start = Instant::now();
            let found = search::search(&engine, &word);
            let time = start.elapsed();
            assert_eq!(found, [edit.path.as_str()], "what was just written is found at once");
            time
        };
        let (first, second) = (search(), search());
        if round > 0 {
            after.push(first);
            again.push(second);
        }
    }
    edit.undo();
    let [after] = crate::measure::shares(after, [50]);
    let [again] = crate::measure::shares(again, [50]);
    row(&format!("one edit, {} notes", memory.count), after, again, Bar::Within(Duration::from_millis(20)));
}

/// A note that somebody edits again and again.
struct Edit<'m> {
    memory: &'m Memory,
    path: String,
    before: String,
}

impl<'m> Edit<'m> {
    fn of(memory: &'m Memory) -> Self {
        let number = memory.count / 2 + 1;
        Self { memory, path: memory.words.path(number), before: memory.words.text(number) }
    }

    /// Writes a word that no note had before.
    fn make(&self, number: usize) -> String {
        let word = self.memory.words.unused(number);
        let text = format!("{}\nAsk about {word}.\n", self.before);
        fs::write(self.memory.folder.join(&self.path), text).expect("the note can be written");
        word
    }

    /// Makes an edit, and searches for it; the time of the search.
    fn find(&self, question: &str, number: usize) -> Duration {
        let word = self.make(number);
        let mut command = memdir_with("search", &self.memory.folder, &self.memory.cache);
        command.args(["--json", "--mode", "ranked", "--", &format!("{question} {word}")]).stdin(Stdio::null());
        let start = Instant::now();
        let output = command.output().expect("it starts");
        let time = start.elapsed();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("an answer");
        assert_eq!(answer.get("source").and_then(serde_json::Value::as_str), Some("index"), "{answer}");
        let hits = answer.get("hits").and_then(serde_json::Value::as_array).expect("it has hits");
        let held = |hit: &&serde_json::Value| hit.get("path").and_then(serde_json::Value::as_str) == Some(&self.path);
        let hit = hits.iter().find(held).expect("what was just written is found");
        let snippet = hit.get("snippet").and_then(serde_json::Value::as_str).unwrap_or_default();
        assert!(snippet.contains(&word), "{snippet} holds {word}");
        assert!(!question.is_empty() || hits.len() == 1, "nothing else holds {word}");
        time
    }

    fn undo(&self) {
        fs::write(self.memory.folder.join(&self.path), &self.before).expect("the note can be written");
    }
}

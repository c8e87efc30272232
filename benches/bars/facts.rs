//! `memdir facts NOTE --why` as a whole process: a note with a long history, in a memory with many notes.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::measure::{Bar, head, in_turns, row, shares};
use crate::process::{batch, empty, memdir_with, run};
use crate::prose::{self, Words};
use crate::vaults;

const NOTES: usize = 10_000;
/// How many facts the note has, and how often one of them changed.
const FACTS: usize = 40;
const CHANGES: usize = 100;
const ROUNDS: usize = 60;
const NOTE: &str = "facts.md";

/// Who wrote what in a note of forty facts that changed a hundred times.
pub(crate) fn facts() {
    head("facts --why of a note, whole process; baseline: an empty Rust program");
    let Some(empty) = empty() else { return };
    let nothing = batch("nothing", b"");
    let words = Words::new();
    let folder = prose::vault(&words, NOTES);
    let cache = vaults::fresh("cache-facts");
    let lines: String = (0..FACTS).map(|number| format!("- fact {number}: value 0\n")).collect();
    fs::write(folder.join(NOTE), format!("# Facts\n\n{lines}")).expect("the note can be written");
    for change in 1..=CHANGES {
        let key = format!("fact {}", change % FACTS);
        let set =
            json!([{"action": "set_fact", "path": NOTE, "key": key, "value": format!("value {change}")}]).to_string();
        let input = batch("set", format!("<actions>{set}</actions>").as_bytes());
        run(memdir_with("exec", &folder, &cache).arg("--json"), &input);
    }
    let mut times = Vec::with_capacity(ROUNDS);
    let bare = in_turns(
        ROUNDS,
        vec![
            Box::new(|| run(&mut std::process::Command::new(&empty), &nothing)),
            Box::new(|| {
                let time = run(memdir_with("facts", &folder, &cache).args([NOTE, "--why", "--json"]), &nothing);
                times.push(time);
                time
            }),
        ],
    );
    let bare = bare.first().copied().unwrap_or_default();
    // The first round warms caches.
    let [why] = shares(times.split_off(1), [95]);
    row(&format!("facts --why, p95, {NOTES} notes"), why, bare, Bar::Within(Duration::from_millis(20)));
    vaults::clean(&folder);
    fs::remove_file(folder.join(NOTE)).expect("the note can be removed");
}

//! `memdir hook` as the whole process that an assistant waits for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::measure::{Bar, head, in_turns, note, row, shares, shown};
use crate::process::{batch, empty, memdir_with, run};
use crate::prose::{self, Words};
use crate::vaults;

/// How many notes, and what the answer to a message may take at the 95th percentile.
const SIZES: [(usize, Duration); 2] = [(10_000, Duration::from_millis(50)), (100_000, Duration::from_millis(100))];
const ROUNDS: usize = 60;

/// Messages that notes fit, and one that fits none, beside the start of a session.
pub(crate) fn hooks() {
    head("hook, whole process; baseline: an empty Rust program");
    let Some(empty) = empty() else { return };
    let nothing = batch("nothing", b"");
    for (count, bar) in SIZES {
        let words = Words::new();
        let folder = prose::vault(&words, count);
        // It is there in any memory that is used, and what a session begins with.
        let user = "# Me\n\n- name: Ada Lovelace\n- city: London\n\n- [ ] Renew the passport\n";
        fs::write(folder.join("user.md"), user).expect("user.md can be written");
        let cache = vaults::fresh("cache-hook");
        run(memdir_with("search", &folder, &cache).args(["--json", "kitchen"]), &nothing);
        let update = br##"<actions>[{"action":"append_file","path":"user.md","content":"- pet: cat"}]</actions>"##;
        run(memdir_with("exec", &folder, &cache).arg("--json"), &batch("write", update));
        let mut asked = prose::questions();
        asked.push("Fix the failing test, then run all of them again".to_owned());
        let mut times = Vec::with_capacity(ROUNDS);
        let mut starts = Vec::with_capacity(ROUNDS);
        let mut at = 0;
        let bare = in_turns(
            ROUNDS,
            vec![
                Box::new(|| run(&mut std::process::Command::new(&empty), &nothing)),
                Box::new(|| {
                    let prompt = asked.get(at % asked.len().max(1)).cloned().unwrap_or_default();
                    at += 1;
                    let time = hook(&folder, &cache, "UserPromptSubmit", &prompt);
                    times.push(time);
                    time
                }),
                Box::new(|| {
                    let time = hook(&folder, &cache, "SessionStart", "");
                    starts.push(time);
                    time
                }),
            ],
        );
        let bare = bare.first().copied().unwrap_or_default();
        // The first round warms caches.
        let [prompt, longest] = shares(times.split_off(1), [95, 100]);
        let [start] = shares(starts.split_off(1), [95]);
        row(&format!("a message, p95, {count} notes"), prompt, bare, Bar::Within(bar));
        row(&format!("a session begins, p95, {count} notes"), start, bare, Bar::Within(bar));
        note("the longest of the messages", &shown(longest));
        vaults::clean(&folder);
        fs::remove_file(folder.join("user.md")).expect("user.md can be removed");
    }
}

fn hook(folder: &Path, cache: &Path, event: &str, prompt: &str) -> Duration {
    let sent = json!({"session_id": "1", "cwd": "/", "hook_event_name": event, "prompt": prompt, "source": "user"});
    let input = batch("hook", sent.to_string().as_bytes());
    run(memdir_with("hook", folder, cache).args(["claude-code", event]), &input)
}

//! Real updates of real memories, where there are some: `MEMDIR_DATA` names a folder with `updates.jsonl` and
//! `memories/`. Each goes through `exec`, and every file has to come out byte for byte, with LF and with CRLF.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Env, files, said};

fn crlf(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\n', "\r\n").into_bytes()
}

/// Runs one update; says what came out wrong.
fn wrong(data: &Path, update: &Value, is_crlf: bool) -> Option<String> {
    let convert = |path: &str, bytes: Vec<u8>| if is_crlf && path.ends_with(".md") { crlf(&bytes) } else { bytes };
    let mut expected = files(&data.join(update["memory"].as_str().unwrap()));
    let env = Env::new().quick();
    let start: Vec<String> = expected.keys().cloned().collect();
    for (path, bytes) in &mut expected {
        *bytes = convert(path, std::mem::take(bytes));
        env.write(path, &bytes);
    }
    for (path, text) in update["expected"].as_object().unwrap() {
        match text.as_str() {
            // A note that is made anew is written as it was sent.
            Some(text) if start.contains(path) => {
                expected.insert(path.clone(), convert(path, text.as_bytes().to_vec()))
            }
            Some(text) => expected.insert(path.clone(), text.as_bytes().to_vec()),
            None => expected.remove(path),
        };
    }
    let ran = env.say(&said(&update["actions"]), &[]);
    let mut found = files(env.memory());
    found.retain(|path, _| !path.starts_with(".memdir/"));
    let paths = expected.keys().chain(found.keys());
    let differ: Vec<&String> = paths.filter(|path| expected.get(*path) != found.get(*path)).collect();
    let is_right = ran.code == 0 && differ.is_empty();
    (!is_right)
        .then(|| format!("{} (crlf: {is_crlf}): exit {}, differ: {differ:?}\n{}", update["id"], ran.code, ran.stdout))
}

#[test]
fn every_update_comes_out_byte_for_byte() {
    let Some(data) = std::env::var_os("MEMDIR_DATA").map(PathBuf::from) else {
        eprintln!("not asked for: MEMDIR_DATA is not set");
        return;
    };
    let text = fs::read_to_string(data.join("updates.jsonl")).unwrap();
    let updates: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tries = updates.iter().flat_map(|update| [(update, false), (update, true)]);
    let failures: Vec<String> = tries.filter_map(|(update, is_crlf)| wrong(&data, update, is_crlf)).collect();
    eprintln!("{} updates × 2: {} wrong", updates.len(), failures.len());
    assert!(!updates.is_empty() && failures.is_empty(), "{}", failures.join("\n"));
}

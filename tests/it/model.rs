//! `memdir model`: files come onto the shelf, are checked and go, and it is said which model is used.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Env, Ran, mask_text};

/// A model file of no weights.
fn tiny(name: &str) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let key = |key: &str, value: &str| [text(key), 8_u32.to_le_bytes().to_vec(), text(value)].concat();
    let keys = [key("general.architecture", "qwen2"), key("general.name", name), key("general.license", "mit")];
    let counts = [0_u64.to_le_bytes(), (keys.len() as u64).to_le_bytes()].concat();
    let mut bytes = [b"GGUF", &3_u32.to_le_bytes()[..], &counts, &keys.concat()].concat();
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn shelf(env: &Env) -> PathBuf {
    env.home().join(".local/share/memdir/models")
}

fn file(env: &Env, name: &str, bytes: &[u8]) -> String {
    let path = env.base().join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

fn model(env: &Env, arguments: &[&str]) -> Ran {
    env.ask(&[&["model"], arguments].concat())
}

/// Serves a file at this address, as often as it is asked for.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/tiny.gguf", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", content.len())
                .unwrap();
            stream.write_all(&content).unwrap();
        }
    });
    address
}

/// What is said only by a build without the engine.
const ENGINE: &str = "running it takes a build with";

/// An answer without what depends on the build and on what else runs here.
fn alike(mut answer: Value) -> Value {
    for (key, same) in [("engine", json!("…")), ("servers", json!([]))] {
        if let Some(value) = answer.get_mut(key) {
            *value = same;
        }
    }
    answer
}

#[test]
fn shapes_of_the_answers() {
    let env = Env::ada().settings("[model]\nname = 'openai::gpt-5'");
    let bytes = tiny("Tiny");
    let path = file(&env, "Tiny.Q4.gguf", &bytes);
    let mut session = String::new();
    for arguments in [
        vec!["list"],
        vec!["add", path.as_str()],
        vec!["add", path.as_str()],
        vec!["list"],
        vec!["info", "tiny.q4"],
        vec!["info", "qwen2.5-coder-0.5b"],
        vec!["info", "ollama::qwen3:4b"],
        vec!["verify"],
        vec!["remove", "tiny.q4"],
        vec!["verify"],
    ] {
        let ran = model(&env, &arguments);
        session += &format!(
            "$ model {}  # {}\n{}\n\n",
            arguments.join(" "),
            ran.code,
            serde_json::to_string_pretty(&alike(ran.json())).unwrap()
        );
    }
    assert_snapshot!(mask_text(&env, &session));
    assert_eq!(fs::read_dir(shelf(&env)).unwrap().count(), 0);
}

#[test]
fn what_a_person_sees() {
    let env = Env::ada().settings("[model]\nname = 'openai::gpt-5'");
    let path = file(&env, "tiny.gguf", &tiny("Tiny"));
    let mut session = String::new();
    for arguments in [
        vec!["list"],
        vec!["add", path.as_str(), "--in-place"],
        vec!["list"],
        vec!["info", "tiny"],
        vec!["info", "tony"],
        vec!["fetch", "tiny"],
        vec!["fetch", "qwen2.5-coder-1.5b"],
        vec!["fetch", "qwen2.5-coder-1"],
        vec!["fetch", "mine", "--from", "https://example.com/x.gguf"],
        vec!["verify", "tiny"],
        vec!["remove", "tiny"],
        vec!["remove", "tiny"],
    ] {
        let ran = env.run(&[&["model"], &arguments[..]].concat(), "");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let said: String = said.lines().filter(|line| !line.contains(ENGINE)).map(|line| format!("{line}\n")).collect();
        session += &format!("$ model {}\n{said}[{}]\n\n", arguments.join(" "), ran.code);
    }
    assert_snapshot!(mask_text(&env, &session));
    assert!(fs::exists(path).unwrap(), "it stays where it lay");
}

#[test]
fn a_model_is_fetched_with_its_hash_and_a_yes() {
    let env = Env::ada();
    let bytes = tiny("Tiny");
    let address = serve(bytes.clone());
    let hash = hex(&bytes);
    let fetch = |more: &[&str]| model(&env, &[&["fetch", "mine", "--from", &address], more].concat());
    let asked = fetch(&["--sha256", &hash]).exits(2);
    assert_eq!(asked["error"]["message"], "nothing is fetched without your yes, and there is nobody to ask");
    let hint = asked["error"]["hint"].as_str().unwrap();
    assert_eq!(hint, format!("repeat with `--yes` to fetch mine, licence not known, from {address}"));
    assert!(!fs::exists(shelf(&env)).unwrap());
    let wrong = fetch(&["--sha256", &format!("{}zz", hash.split_at(62).0), "--yes"]);
    assert_eq!(wrong.exits(2)["error"]["hint"], "send 64 hex digits");
    let other = fetch(&["--sha256", &hex(b"other"), "--yes"]).exits(7);
    assert_eq!(other["error"]["code"], "damaged");
    assert_eq!(fs::read_dir(shelf(&env)).unwrap().count(), 0);
    let fetched = fetch(&["--sha256", &hash, "--yes"]).exits(0);
    assert_eq!((&fetched["was_there"], &fetched["model"]["source"]), (&json!(false), &json!(address)));
    assert_eq!(fs::read(shelf(&env).join("mine.gguf")).unwrap(), bytes);
    assert_eq!(fetch(&["--sha256", &hash]).exits(0)["was_there"], true, "without a question");
    let taken = fetch(&["--sha256", &hex(b"other"), "--yes"]).exits(4);
    assert_eq!(taken["error"]["code"], "already_exists");
    let again = model(&env, &["fetch", "again", "--from", &address, "--sha256", &hash, "--yes"]).exits(4);
    assert_eq!(again["error"]["message"], "this file is there already, as `mine`");
    // One of the catalogue is what the catalogue says, wherever it comes from.
    let other = model(&env, &["fetch", "qwen2.5-coder-0.5b", "--from", &address, "--yes"]).exits(4);
    assert_eq!(other["error"]["code"], "unavailable");
    let plain = model(&env, &["fetch", "x", "--from", "http://example.com/x", "--sha256", &hash, "--yes"]);
    assert_eq!(plain.exits(2)["error"]["message"], "`http://example.com/x` is no address to fetch from");
}

#[test]
fn a_changed_file_is_told_of() {
    let env = Env::ada();
    let path = file(&env, "tiny.gguf", &tiny("Tiny"));
    model(&env, &["add", &path]).exits(0);
    let kept = shelf(&env).join("tiny.gguf");
    let mut bytes = fs::read(&kept).unwrap();
    *bytes.last_mut().unwrap() = 1;
    fs::write(&kept, bytes).unwrap();
    let verified = model(&env, &["verify"]).exits(7);
    assert_eq!((&verified["models"][0]["name"], &verified["models"][0]["ok"]), (&json!("tiny"), &json!(false)));
    fs::remove_file(&kept).unwrap();
    assert_eq!(model(&env, &["list"]).exits(0)["models"][2]["state"], "missing");
    assert_eq!(model(&env, &["info", "tiny"]).exits(7)["error"]["message"], "the file of `tiny` is gone");
    model(&env, &["add", &path]).exits(0);
    assert_eq!(model(&env, &["list"]).exits(0)["models"][2]["state"], "ready");
}

#[test]
fn the_settings_say_which_model_is_used() {
    let used = |env: Env| model(&env, &["list"]).exits(0);
    let remote = used(Env::ada().settings("[model]\nname = 'openai::gpt-5'"));
    assert_eq!(remote["used"], json!({"name": "openai::gpt-5", "place": "host", "at": "api.openai.com"}));
    let named = used(Env::ada().settings("[model]\nname = 'x'").set("MEMDIR_MODEL_NAME", "openai::7"));
    assert_eq!(named["used"]["name"], "openai::7");
    let unknown = used(Env::ada().settings("[model]\nname = 'opnai::gpt-5'"));
    assert_eq!(unknown["used"], Value::Null);
    assert_eq!(unknown["problem"]["code"], "model_unreachable");
    assert_eq!(unknown["problem"]["hint"], "did you mean `openai`?");
    let own = Env::ada();
    let table = format!("[model]\nname = 'a::b'\n[memory.'{}'.model]\nname = 'openai::own'", own.memory().display());
    assert_eq!(used(own.settings(&table))["used"]["name"], "openai::own");
}

#[cfg(unix)]
#[test]
fn what_was_fetched_is_kept_when_the_person_stops_it() {
    let env = Env::ada();
    let bytes = tiny("Tiny");
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let arguments = ["--json", "model", "fetch", "mine", "--from", &address, "--sha256", &hex(&bytes), "--yes"];
    let mut command = env.command(&arguments);
    let child = command.spawn().unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    // The head says that there is a file, and then nothing comes.
    write!(stream, "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: {}\r\n\r\n", bytes.len()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    let error = &ran.exits(4)["error"];
    assert_eq!((&error["code"], &error["hint"]), (&json!("cancelled"), &json!("the same command goes on from there")));
    assert!(fs::exists(shelf(&env).join("mine.part")).unwrap());
}

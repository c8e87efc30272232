//! Behaviours as folders: `tests/scenarios/NAME/` holds a memory, what a model says, and what becomes of both.
//!
//! `memory/` (none: an empty one) and `say.txt` go in; `expected/` and `report.json` have to come out: `exit`, the
//! masked `report`, `arguments` for `exec`, and in `as_sent` the notes whose line ends are the model's own. Each runs
//! twice, with the notes as they are and with CRLF. `UPDATE_SCENARIOS=1` writes what comes out, to be read before it
//! is believed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Env, Ran, mask};

struct Scenario {
    folder: PathBuf,
    name: String,
    about: Value,
}

impl Scenario {
    fn list(&self, key: &str) -> Vec<&str> {
        self.about[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Runs it on a fresh memory.
    fn run(&self, is_crlf: bool) -> (Env, Ran) {
        let env = Env::new();
        for (path, text) in notes(&self.folder.join("memory")) {
            env.write(&path, if is_crlf { text.replace('\n', "\r\n") } else { text });
        }
        let say = fs::read_to_string(self.folder.join("say.txt")).unwrap();
        let ran = env.say(&say, &self.list("arguments"));
        (env, ran)
    }

    /// What came out wrong.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let (env, ran) = self.run(false);
        if std::env::var_os("UPDATE_SCENARIOS").is_some() {
            self.update(&env, &ran);
        }
        let expected = notes(&self.folder.join("expected"));
        self.compare("files", &json!(expected), &json!(env.files()), &mut wrong);
        self.compare("exit", &self.about["exit"], &json!(ran.code), &mut wrong);
        self.compare("report", &self.about["report"], &mask(ran.json()), &mut wrong);
        let (env, ran) = self.run(true);
        let as_sent = self.list("as_sent");
        let expected: BTreeMap<_, _> = expected
            .into_iter()
            .map(|(path, text)| {
                let text = if as_sent.contains(&path.as_str()) { text } else { text.replace('\n', "\r\n") };
                (path, text)
            })
            .collect();
        self.compare("files with CRLF", &json!(expected), &json!(env.files()), &mut wrong);
        self.compare("exit with CRLF", &self.about["exit"], &json!(ran.code), &mut wrong);
        wrong
    }

    fn compare(&self, what: &str, expected: &Value, found: &Value, wrong: &mut Vec<String>) {
        if expected != found {
            wrong.push(format!("{}: {what}\n  expected {expected}\n  found    {found}", self.name));
        }
    }

    fn update(&self, env: &Env, ran: &Ran) {
        let folder = self.folder.join("expected");
        let _ = fs::remove_dir_all(&folder);
        for (path, text) in env.files() {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut about = self.about.clone();
        about["exit"] = json!(ran.code);
        about["report"] = mask(ran.json());
        fs::write(self.folder.join("report.json"), format!("{about:#}\n")).unwrap();
    }
}

/// The files below a folder; none where there is no folder.
fn notes(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&below)) else { continue };
        for entry in entries.map(Result::unwrap) {
            let path = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else {
                found.insert(path.to_str().unwrap().replace('\\', "/"), fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

#[test]
fn every_scenario_comes_out_as_it_is_written_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 15);
    let mut wrong = Vec::new();
    for folder in folders {
        let about = fs::read_to_string(folder.join("report.json")).unwrap_or_else(|_| "{}".to_owned());
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        wrong.extend(Scenario { name, about: serde_json::from_str(&about).unwrap(), folder }.wrong());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Not a byte of what a hook tells differs by what is hidden from its client.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use super::world::{GRANTS, Globs, Hidden, World, grant};
use crate::support::{Ran, files, finish, said};

/// The events at which the programs are told something.
const EVENTS: &[(&str, &str)] = &[
    ("claude-code", "SessionStart"),
    ("claude-code", "UserPromptSubmit"),
    ("codex", "SessionStart"),
    ("codex", "UserPromptSubmit"),
    ("cursor", "sessionStart"),
    ("cursor", "beforeSubmitPrompt"),
    ("copilot", "sessionStart"),
    ("copilot", "userPromptSubmitted"),
    ("codex", "PreCompact"),
    ("cursor", "sessionEnd"),
];

const MESSAGES: &[&str] =
    &["when is the secret launch", "tell my boss about the plan and its budget", "zebra", "ananas"];

const SETTINGS: &str = "durability = \"atomic\"\n[hooks]\nmilliseconds = 20000\n[[rule]]\npath = \"work/log/**\"\nverdict = \"ask\"\n\
                        [[rule]]\npath = \"private/deep/**\"\nverdict = \"deny\"\n";

/// A memory, the home of its owner, and a client.
struct Owned {
    memory: TempDir,
    home: TempDir,
}

impl Owned {
    fn new((read, write): Globs, hidden: Hidden) -> Self {
        let World { folder, engine, .. } = World::new(&grant((read, write)), hidden);
        drop(engine);
        let owned = Self { memory: folder, home: tempfile::tempdir().unwrap() };
        let settings = owned.home.path().join(".config/memdir");
        fs::create_dir_all(&settings).unwrap();
        fs::write(settings.join("config.toml"), SETTINGS).unwrap();
        let mut add = vec!["client", "add", "shelf"];
        add.extend(read.iter().flat_map(|glob| match glob.strip_prefix('!') {
            Some(hidden) => ["--hide", hidden],
            None => ["--read", glob],
        }));
        add.extend(write.iter().flat_map(|glob| ["--write", glob]));
        assert_eq!(owned.run(&add, "").code, 0);
        // Changes of today and an index of all notes.
        let names =
            ["work/plan.md", "private/diary.md", "user.md", "shared/b/secret.md", "zz/many/1.md", "lib/book.md"];
        let there = names.iter().filter(|name| owned.memory.path().join(name).exists());
        let task =
            |name: &&str| json!({"action": "append_file", "path": name, "content": format!("- [ ] look at {name}")});
        let calls: Vec<_> = there.map(task).collect();
        assert_eq!(owned.run(&["exec", "--json"], &said(&json!(calls))).code, 0);
        // An hour ago, so that no second decides what is new to a session.
        let state = owned.memory.path().join(".memdir");
        let history = files(&state).into_keys().find(|path| path.ends_with("/history.sqlite")).unwrap();
        let database = rusqlite::Connection::open(state.join(history)).unwrap();
        database.execute("UPDATE batch SET time = time - 3600000000", []).unwrap();
        drop(database);
        assert_eq!(owned.run(&["search", "--json", "launch"], "").code, 0);
        owned
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.args(arguments).arg("--memory").arg(self.memory.path());
        command.env_clear().env("HOME", self.home.path()).env("TZ", "UTC").current_dir(self.home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command, stdin.as_bytes())
    }

    /// What a hook answers, as its client.
    fn hook(&self, program: &str, event: &str, message: &str) -> String {
        let sent = json!({"session_id": "1", "prompt": message, "transcript_path": null});
        let ran = self.run(&["hook", program, event, "--client", "shelf"], &sent.to_string());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{program} {event}");
        ran.stdout
    }
}

#[test]
fn no_hook_tells_a_byte_of_what_is_hidden() {
    let mut told = 0;
    // Who registers a client without `--read` lets it read everything.
    for globs in GRANTS.iter().filter(|(read, _)| !read.is_empty()).take(4) {
        let worlds = [Hidden::Nothing, Hidden::Notes, Hidden::Much].map(|hidden| Owned::new(*globs, hidden));
        for (program, event) in EVENTS {
            for message in MESSAGES {
                let [one, other, third] = worlds.each_ref().map(|owned| owned.hook(program, event, message));
                assert!(
                    one == other && one == third,
                    "{globs:?} {program} {event} {message}:\n{one}\n{other}\n{third}"
                );
                told += usize::from(!one.is_empty());
            }
        }
    }
    assert!(told > 60, "the hooks told something {told} times");
}

//! The first promise in code: nothing outside the memory is touched, and nothing outside is told.

use std::collections::BTreeMap;
use std::fs;

use memdir_core::catalog::{self, Takes};
use serde_json::{Value, json};

use crate::support::{Env, Ran, Seen, said, see};

mod paths;
#[cfg(target_os = "linux")]
mod race;
#[cfg(unix)]
mod setups;
#[cfg(target_os = "linux")]
mod state;
#[cfg(target_os = "linux")]
mod system;

/// Stands in every file outside; no answer may hold it.
const CANARY: &str = "CANARY-7f3a";
/// Part of a file's name outside; no answer may hold it either.
const CANARY_NAME: &str = "told-only-by-a-listing-7f3a";
/// How large a file outside is: no size of anything inside.
const CANARY_SIZE: usize = 54_321;

/// A memory with things around it that nobody may touch.
struct Guarded {
    env: Env,
    before: BTreeMap<String, Seen>,
}

impl Guarded {
    /// A memory of a few notes, `outside` beside it, and a sibling whose name starts as its own.
    fn new() -> Self {
        let env = Env::with(&[
            ("user.md", "# Ada\n\n- city: London\n"),
            ("inside.md", "inside\n"),
            ("entities/acme.md", "# Acme\n"),
        ]);
        let secret = format!("{CANARY}\n{}", "secret\n".repeat(CANARY_SIZE)).into_bytes();
        for folder in ["outside", "outside/deep", "memoryx", "memory-backup", "home", "home/.ssh"] {
            let folder = env.base().join(folder);
            fs::create_dir_all(&folder).unwrap();
            for name in ["secret.md", "secret", &format!("{CANARY_NAME}.md")] {
                fs::write(folder.join(name), &secret[..CANARY_SIZE]).unwrap();
            }
        }
        fs::write(env.base().join("secret.md"), &secret[..CANARY_SIZE]).unwrap();
        // The index is kept beside the user's other caches, and only there.
        fs::create_dir(env.home().join(".cache")).unwrap();
        let env = env.quick();
        let before = around(&env);
        Self { env, before }
    }

    /// Sends every action that takes a path with this one, and checks that nothing outside was touched or told.
    #[track_caller]
    fn poke(&self, path: &str) -> Value {
        let ran = self.env.say(&said(&Value::Array(actions(path))), &[]);
        self.check(path, &ran);
        ran.json()
    }

    /// Checks what a run has said, and all that lies around the memory.
    #[track_caller]
    fn check(&self, what: &str, ran: &Ran) {
        for told in [CANARY, CANARY_NAME, "54321"] {
            assert!(!ran.stdout.contains(told) && !ran.stderr.contains(told), "{what:?} tells of outside: {ran:?}");
        }
        assert!([0, 2, 3, 4].contains(&ran.code), "{what:?}: {ran:?}");
        self.unharmed(what);
    }

    /// Checks all that lies around the memory: listing, contents, times, modes.
    #[track_caller]
    fn unharmed(&self, what: &str) {
        let after = around(&self.env);
        for (path, seen) in &self.before {
            assert_eq!(after.get(path).map(brief), Some(brief(seen)), "{what:?} changed {path}");
        }
        let new: Vec<&String> = after.keys().filter(|path| !self.before.contains_key(*path)).collect();
        assert!(new.is_empty(), "{what:?} made {new:?}");
    }
}

/// What a failure shows of an entry: not all of its bytes.
fn brief(seen: &Seen) -> (&'static str, Option<usize>, std::time::SystemTime, u32, bool) {
    let is_whole = seen.bytes.as_ref().is_none_or(|bytes| seen.kind != "file" || bytes.starts_with(CANARY.as_bytes()));
    (seen.kind, seen.bytes.as_ref().map(Vec::len), seen.modified, seen.mode, is_whole)
}

/// Everything beside the memory.
fn around(env: &Env) -> BTreeMap<String, Seen> {
    let seen = see(env.base()).into_iter();
    let is_own =
        |path: &str| ["memory", "home/.cache"].iter().any(|own| path == *own || path.starts_with(&format!("{own}/")));
    seen.filter(|(path, _)| !is_own(path)).collect()
}

/// Every action that takes a path, with this path in every place that takes one.
fn actions(path: &str) -> Vec<Value> {
    let link = format!("[[{path}]]");
    vec![
        json!({"action": "check_file_exists", "path": path}),
        json!({"action": "check_dir_exists", "path": path}),
        json!({"action": "get_size", "path": path}),
        json!({"action": "get_file_info", "path": path}),
        json!({"action": "get_history", "path": path}),
        json!({"action": "read_file", "path": path}),
        json!({"action": "list_files", "path": path}),
        json!({"action": "list_files", "cursor": path}),
        json!({"action": "list_directory", "path": path}),
        json!({"action": "go_to_link", "link": link}),
        json!({"action": "go_to_link", "link": path}),
        json!({"action": "go_to_link", "link": format!("[text]({path})")}),
        json!({"action": "go_to_link", "link": "[[secret]]", "source": path}),
        json!({"action": "update_file", "path": path, "old_content": "secret", "new_content": "x", "occurrence": "all"}),
        json!({"action": "append_file", "path": path, "content": "x"}),
        json!({"action": "set_fact", "path": path, "key": "secret", "value": "x"}),
        json!({"action": "replace_section", "path": path, "heading": "secret", "content": "x"}),
        json!({"action": "append_to_section", "path": path, "heading": "secret", "content": "x"}),
        json!({"action": "search_files", "query": "secret", "path": path}),
        json!({"action": "get_context", "path": path}),
        json!({"action": "get_links", "path": path}),
        json!({"action": "get_backlinks", "path": path}),
        json!({"action": "insert_text", "path": path, "line": 0, "content": "x"}),
        json!({"action": "copy_file", "path": path, "new_path": "copied.md"}),
        json!({"action": "copy_file", "path": "inside.md", "new_path": path}),
        json!({"action": "create_file", "path": path, "content": "x"}),
        json!({"action": "write_file", "path": path, "content": "x"}),
        json!({"action": "create_dir", "path": path}),
        json!({"action": "rename_file", "path": path, "new_path": "renamed.md"}),
        json!({"action": "rename_file", "path": "inside.md", "new_path": path}),
        json!({"action": "delete_file", "path": path}),
        json!({"action": "delete_dir", "path": path, "recursive": true}),
    ]
}

#[test]
fn every_place_that_takes_a_path_is_tried() {
    let tried = actions("x.md");
    for row in catalog::ROWS {
        for field in row.fields.iter().filter(|field| matches!(field.takes, Takes::Path | Takes::Folder)) {
            let is_tried = |call: &Value| call["action"] == row.name && call[field.name] == "x.md";
            assert!(tried.iter().any(is_tried), "`{}` of `{}`", field.name, row.name);
        }
    }
}

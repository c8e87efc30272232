//! What a client may come up with: calls of every action, with arguments near to all that is hidden.

use memdir_core::action::NAMES;
use memdir_core::report::Variables;
use memdir_dialect::{self as dialect, Dialect, Parsed};
use serde_json::{Map, Value, json};

use crate::support::said;

/// Numbers that are the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

pub(super) const PATHS: &[&str] = &[
    "user.md",
    "usr.md",
    "boss.md",
    "bos.md",
    "pic.png",
    "work",
    "work/plan.md",
    "work/plans.md",
    "work/p1.md",
    "work/p2.md",
    "work/pub-a.md",
    "work/log",
    "work/log/2024.md",
    "work/log/pub.md",
    "work/log/new/n.md",
    "work/sub",
    "work/sub/secret.md",
    "work/sub/deep/pub.md",
    "work/pic.png",
    "work/empty",
    "work/Plan.md",
    "private",
    "private/plan.md",
    "private/diary.md",
    "private/pub-b.md",
    "private/pub-new.md",
    "private/deep/er/user.md",
    "private/none.md",
    "private2/a.md",
    "private2/b.md",
    "private2",
    "shared",
    "shared/a/x",
    "shared/a/x/pub.md",
    "shared/a/x/notes.md",
    "shared/a/y/notes.md",
    "shared/b",
    "shared/b/x/new.md",
    "shared/b/secret.md",
    "lib",
    "lib/book.md",
    "lib/in",
    "lib/in/pub-c.md",
    "lib/same.md",
    "memories",
    "memories/color.md",
    "memories/apple.md",
    "memories/apples.md",
    "memories/anew.md",
    "people",
    "people/bob.md",
    "people/bob",
    "people/bob/pub.md",
    "people/eve.md",
    "new/deep/er/x.md",
    "new/deep",
    "new",
    "zz",
    "zz/many",
    "zz/huge.md",
    "zz/many/3.md",
    "nothing/at/all.md",
    "work/plan.sync-conflict-20240101-000000-ABCDEFG.md",
    "x.png",
];
/// Names at which only a look is the same: on the disk is a link that leads to what is hidden.
const LOOKED_AT: &[&str] = &["lib/out.md", "lib/out", "lib/out/huge.md", "lib/nowhere.md", "zz/circle/huge.md"];
pub(super) const WORDS: &[&str] = &[
    "tag:me",
    "path:private/",
    "is:task launch",
    "since:2000-01-01 boss",
    "launch",
    "boss",
    "zebra",
    "secret launch",
    "budget",
    "where does Ada work",
    "plan",
    "plna",
    "diary",
    "ananas",
    "Berlin",
    "city",
    "party",
    "user",
    "launhc",
    "Monday",
    "pub",
    "London",
    ".",
    "a",
    "many",
    "huge",
];
pub(super) const LINKS: &[&str] = &[
    "plan",
    "[[plan]]",
    "diary",
    "[[diary#Monday]]",
    "boss",
    "secret",
    "pub",
    "notes",
    "user",
    "work/plan",
    "private/plan",
    "p1",
    "[[plan#Steps]]",
    "[[plan#Stepps]]",
    "../plan",
    "pic.png",
    "secert",
    "out",
    "same",
    "3",
    "huge",
    "[[pub-b]]",
];
const TEXTS: &[&str] = &[
    "# New\n\n[[plan]] [[diary]] [[secret]]\n",
    "one\n",
    "- email: ada@example.com\n",
    "see [[pub]] and [[notes]]\n",
    "x",
    "",
    "- city: Oslo\n",
    "[[p1]] [[user]] [[boss]]\n",
];
const SETTINGS: &[&str] = &["permission", "permission.mcp", "permission.mpc", "facts"];
const OLD: &[&str] = &["- city: London", "- one", "launch", "The secret launch is in May.", "city", "zebra", "# Plan"];

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    pub(super) fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    pub(super) fn path(&mut self, is_look: bool) -> String {
        if is_look && self.below(8) == 0 {
            return (*self.one(LOOKED_AT)).to_owned();
        }
        (*self.one(PATHS)).to_owned()
    }
}

/// One call of some action.
pub(super) fn action(dice: &mut Dice) -> Value {
    let name = *dice.one(NAMES);
    let is_look = memdir_core::catalog::row(name).unwrap().access == memdir_core::action::Access::Read;
    let path = dice.path(is_look);
    let text = *dice.one(TEXTS);
    let mut call = match name {
        "create_file" | "append_file" => json!({"path": path, "content": text}),
        "write_file" => json!({"path": path, "content": text}),
        "update_file" => json!({"path": path, "old_content": dice.one(OLD), "new_content": text}),
        "insert_text" => json!({"path": path, "line": dice.below(5), "content": text}),
        "replace_section" | "append_to_section" => {
            json!({"path": path, "heading": dice.one(&["Plan", "Steps", "Monday", "Secret"]), "content": text})
        }
        "set_fact" => json!({"path": path, "key": "city", "value": dice.one(WORDS)}),
        "rename_file" | "copy_file" => json!({"path": path, "new_path": dice.path(false)}),
        "delete_dir" => json!({"path": path, "recursive": dice.below(2) == 0}),
        "list_files" | "list_directory" | "get_size" if dice.below(3) == 0 => json!({}),
        "go_to_link" if dice.below(2) == 0 => json!({"link": dice.one(LINKS)}),
        "go_to_link" => json!({"link": dice.one(LINKS), "source": path}),
        "search_files" => search(dice, path),
        "get_context" if dice.below(2) == 0 => json!({"path": path}),
        "get_context" => json!({"query": dice.one(WORDS)}),
        "memory" => memory(dice),
        "get_config" if dice.below(2) == 0 => json!({}),
        "get_config" => json!({"key": dice.one(SETTINGS)}),
        "set_config_value" => json!({"key": dice.one(SETTINGS), "value": "off"}),
        _ => json!({"path": path}),
    };
    call["action"] = json!(name);
    if !is_look && dice.below(2) == 0 {
        call["has_explicit_permission"] = json!(true);
    }
    if dice.below(4) == 0 {
        call["assign_to"] = json!("a");
    }
    call
}

fn search(dice: &mut Dice, path: String) -> Value {
    let mode = dice.one(&["ranked", "text", "regex", "name"]);
    let mut call = json!({"query": dice.one(WORDS), "mode": mode});
    if dice.below(2) == 0 {
        call["path"] = json!(path);
    }
    if dice.below(3) == 0 {
        call["limit"] = json!(1 + dice.below(2));
    }
    call
}

fn memory(dice: &mut Dice) -> Value {
    let key = dice.one(&["apple", "Favorite Color", "aplle", "anew", "colour"]);
    match dice.below(6) {
        0 => json!({"operation": "store", "key": key, "content": dice.one(TEXTS)}),
        1 => json!({"operation": "store", "content": dice.one(TEXTS)}),
        2 => json!({"operation": "retrieve", "key": key}),
        3 => json!({"operation": "search", "query": dice.one(WORDS)}),
        4 => json!({"operation": "delete", "key": key}),
        _ => json!({"operation": "list"}),
    }
}

/// A text in one of the dialects.
pub(super) fn text(dice: &mut Dice) -> (String, Parsed) {
    match dice.below(8) {
        0 => python(dice),
        1 => memory_tool(dice),
        2 => {
            let call = action(dice);
            let Value::Object(mut arguments) = call.clone() else { unreachable!() };
            let name = arguments.remove("action").unwrap();
            arguments.remove("assign_to");
            let arguments: Map<String, Value> = arguments;
            (call.to_string(), dialect::parse_tool_call(name.as_str().unwrap(), arguments))
        }
        _ => {
            let calls: Vec<Value> = (0..=dice.below(4)).map(|_| action(dice)).collect();
            let text = said(&json!(calls));
            (text.clone(), dialect::parse(text.as_bytes()))
        }
    }
}

fn python(dice: &mut Dice) -> (String, Parsed) {
    let mut lines = Vec::new();
    for _ in 0..=dice.below(3) {
        let (path, text) = (dice.path(true), dice.one(&["- city: London", "- one", "- two"]));
        lines.push(match dice.below(8) {
            0 => format!("a = read_file(\"{path}\")"),
            1 => "b = list_files()".to_owned(),
            2 => format!("c = check_if_file_exists(\"{path}\")"),
            3 => format!("d = check_if_dir_exists(\"{path}\")"),
            4 => format!("e = get_size(\"{path}\")"),
            5 => format!("f = go_to_link(\"{}\")", dice.one(LINKS)),
            6 => format!("g = update_file(\"{}\", \"{text}\", \"- new\")", dice.path(false)),
            _ => format!("h = create_dir(\"{}\")", dice.path(false)),
        });
    }
    let text = format!("<think>I look.</think>\n\n<python>\n{}\n</python>\n", lines.join("\n"));
    (text.clone(), dialect::parse_as(text.as_bytes(), Some(Dialect::Python), &Variables::default()))
}

/// A command of Anthropic's memory tool.
pub(super) fn command(dice: &mut Dice) -> Value {
    match dice.below(6) {
        0 => json!({"command": "view", "path": "/memories"}),
        1 | 2 => json!({"command": "view", "path": format!("/memories/{}", dice.path(true))}),
        3 => json!({"command": "delete", "path": format!("/memories/{}", dice.path(false))}),
        4 => {
            json!({"command": "create", "path": format!("/memories/{}", dice.path(false)), "file_text": dice.one(TEXTS)})
        }
        _ => {
            let (old, new) = (dice.path(false), dice.path(false));
            json!({"command": "rename", "old_path": format!("/memories/{old}"), "new_path": format!("/memories/{new}")})
        }
    }
}

fn memory_tool(dice: &mut Dice) -> (String, Parsed) {
    let text = command(dice).to_string();
    (text.clone(), dialect::parse_as(text.as_bytes(), Some(Dialect::MemoryTool), &Variables::default()))
}

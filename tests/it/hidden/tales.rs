//! Batches that tell: calls that succeed, and looks at what they have done, where something hidden is near.

use std::collections::BTreeSet;

use memdir_core::path::MemoryPath;
use memdir_policy::Grant;
use serde_json::{Value, json};

use super::words::{Dice, LINKS, PATHS, WORDS};
use super::world::path;

/// Folders in which something may be made: some are there for nobody, some for the owner alone.
const FOLDERS: &[&str] = &[
    "",
    "work/",
    "work/log/",
    "work/sub/",
    "work/sub/deep/",
    "work/fresh/",
    "private/work/",
    "private/deep/work/",
    "private2/",
    "private2/in/",
    "shared/a/x/",
    "shared/a/x/in/",
    "shared/b/x/",
    "shared/d/x/",
    "new/deep/",
    "new/deep/er/",
    "people/",
    "memories/",
    "lib/in/",
    "zz/many/work/",
    "zz/work/",
];
/// Names for new notes: such as hidden ones have, and such as none has.
const STEMS: &[&str] = &[
    "plan", "plans", "diary", "secret", "boss", "notes", "user", "pub", "pub-b", "huge", "3", "p8", "p9", "anew",
    "also", "first", "Pub", "book",
];
const HEADINGS: &str = "# New\n\n[[plan]] [[diary]] [[p1]]\n- city: Oslo\n\n## Steps\n\n- one\n";

/// What a client sees, and what it may do there.
pub(super) struct Scene<'s> {
    pub(super) grant: &'s Grant,
    /// The files that it sees.
    pub(super) shown: Vec<String>,
}

impl Scene<'_> {
    fn writable(&self) -> Vec<&String> {
        self.shown.iter().filter(|name| name.ends_with(".md") && self.grant.lets_write(&path(name))).collect()
    }

    /// The folders that the client sees and may rename or delete, and some where that is too much.
    fn folders(&self, dice: &mut Dice) -> Vec<String> {
        let folders: BTreeSet<_> =
            self.shown.iter().flat_map(|name| path(name).ancestors().collect::<Vec<_>>()).collect();
        let is_whole = dice.below(3) > 0;
        let may = |folder: &&MemoryPath| {
            if is_whole { self.grant.lets_write_all(folder) } else { self.grant.lets_write(folder) }
        };
        let others = ["work/sub", "work/log", "private/deep/er", "zz/many"].map(path);
        folders.iter().chain(&others).filter(may).map(ToString::to_string).collect()
    }

    /// A note that could be made.
    fn free(&self, dice: &mut Dice) -> String {
        for _ in 0..200 {
            let name = format!("{}{}.md", dice.one(FOLDERS), dice.one(STEMS));
            if self.grant.lets_write(&path(&name)) && !self.shown.contains(&name) {
                return name;
            }
        }
        "work/none.md".to_owned()
    }

    /// A folder that could be made or renamed to.
    fn free_folder(&self, dice: &mut Dice) -> String {
        for _ in 0..100 {
            let name = format!("{}{}", dice.one(FOLDERS), dice.one(STEMS));
            let name = path(&name);
            if self.grant.lets_write_all(&name) || dice.below(3) == 0 && self.grant.lets_write(&name) {
                return name.to_string();
            }
        }
        "work/none".to_owned()
    }

    fn note(&self, dice: &mut Dice) -> String {
        let writable = self.writable();
        if writable.is_empty() { "work/p1.md".to_owned() } else { (*dice.one(&writable)).clone() }
    }

    fn any(&self, dice: &mut Dice) -> String {
        if self.shown.is_empty() { "user.md".to_owned() } else { dice.one(&self.shown).clone() }
    }
}

/// The calls of one batch.
pub(super) fn tale(dice: &mut Dice, scene: &Scene<'_>) -> Vec<Value> {
    let mut calls = Vec::new();
    let mut places = Vec::new();
    for _ in 0..=dice.below(2) {
        act(dice, scene, &mut calls, &mut places);
        for _ in 0..=dice.below(3) {
            let look = look(dice, scene, &places);
            calls.push(look);
        }
    }
    if dice.below(3) == 0 {
        calls.push(look(dice, scene, &places));
        calls.push(json!({"action": "create_file", "path": dice.one(PATHS), "content": "x\n"}));
    }
    for call in &mut calls {
        let name = call["action"].as_str().unwrap();
        if memdir_core::catalog::row(name).unwrap().access != memdir_core::action::Access::Read && dice.below(4) > 0 {
            call["has_explicit_permission"] = json!(true);
        }
    }
    calls
}

/// Something that is done, and where.
fn act(dice: &mut Dice, scene: &Scene<'_>, calls: &mut Vec<Value>, places: &mut Vec<String>) {
    let (note, free) = (scene.note(dice), scene.free(dice));
    let is_personal = dice.below(2) == 0;
    let text = if is_personal { "- email: ada@example.com\n[[plan]] [[user]]\n" } else { HEADINGS };
    match dice.below(14) {
        0..=2 => calls.push(json!({"action": "rename_file", "path": note, "new_path": free})),
        3 => {
            let folders = scene.folders(dice);
            let folder = if folders.is_empty() { "work".to_owned() } else { dice.one(&folders).clone() };
            let new = scene.free_folder(dice);
            calls.push(json!({"action": "rename_file", "path": folder, "new_path": new}));
            places.extend([folder, new]);
            return;
        }
        4 => {
            let source = scene.any(dice);
            calls.push(json!({"action": "copy_file", "path": source, "new_path": free}));
            places.push(source);
        }
        5 | 6 => {
            let action = *dice.one(&["create_file", "write_file", "append_file"]);
            calls.push(json!({"action": action, "path": free, "content": text}));
        }
        7 => calls.push(json!({"action": "create_dir", "path": scene.free_folder(dice)})),
        8 => {
            calls.push(json!({"action": "delete_file", "path": note}));
            if dice.below(2) == 0 {
                calls.push(look(dice, scene, std::slice::from_ref(&note)));
                calls.push(json!({"action": "create_file", "path": note, "content": text}));
            }
        }
        9 if dice.below(3) == 0 => {
            let folders = scene.folders(dice);
            let folder = if folders.is_empty() { "private2".to_owned() } else { dice.one(&folders).clone() };
            calls.push(json!({"action": "delete_dir", "path": folder, "recursive": dice.below(3) > 0}));
            places.push(folder);
        }
        9 | 10 => {
            calls.push(json!({"action": "append_file", "path": note, "content": text}));
            places.push(note.clone());
            return edit(dice, &note, calls);
        }
        11 => {
            calls.push(json!({"action": "create_file", "path": free, "content": HEADINGS}));
            edit(dice, &free, calls);
        }
        12 => calls.push(memory(dice)),
        // What was made is taken away again, and with it the folder that only it has shown.
        _ => {
            calls.push(json!({"action": "create_file", "path": free, "content": text}));
            calls.push(look(dice, scene, std::slice::from_ref(&free)));
            let other = scene.free(dice);
            calls.push(match dice.below(2) {
                0 => json!({"action": "delete_file", "path": free}),
                _ => json!({"action": "rename_file", "path": free, "new_path": other}),
            });
            places.push(other);
        }
    }
    places.extend([note, free]);
}

fn edit(dice: &mut Dice, note: &str, calls: &mut Vec<Value>) {
    calls.push(match dice.below(6) {
        0 => json!({"action": "update_file", "path": note, "old_content": "[[diary]]", "new_content": "[[secret]]"}),
        1 => json!({"action": "insert_text", "path": note, "line": 1, "content": "see [[notes]]"}),
        2 => json!({"action": "replace_section", "path": note, "heading": "Steps", "content": "see [[boss]]"}),
        3 => json!({"action": "append_to_section", "path": note, "heading": "Steps", "content": "- [[pub]]"}),
        4 => remember(dice, note),
        _ => json!({"action": "set_fact", "path": note, "key": "city", "value": "Rome"}),
    });
}

/// A fact or a line, for a note that can be written or for a name that may be hidden.
fn remember(dice: &mut Dice, note: &str) -> Value {
    match dice.below(5) {
        0 => json!({"action": "remember", "note": note, "key": "city", "value": "Rome"}),
        1 => json!({"action": "remember", "note": note, "text": "see [[plan]]"}),
        2 => json!({"action": "remember", "note": dice.one(STEMS), "key": "city", "value": "Oslo"}),
        3 => json!({"action": "remember", "text": format!("The {} of {}", dice.one(WORDS), dice.one(STEMS))}),
        _ => json!({"action": "remember", "note": dice.one(LINKS), "text": "new"}),
    }
}

pub(super) fn memory(dice: &mut Dice) -> Value {
    let key = *dice.one(&["apple", "Favorite Color", "anew", "a9"]);
    let mut call = match dice.below(5) {
        0 | 1 => json!({"operation": "store", "key": key, "content": "sweet [[apple]]\n"}),
        2 => json!({"operation": "retrieve", "key": key}),
        3 => json!({"operation": "search", "query": dice.one(WORDS)}),
        _ => json!({"operation": *dice.one(&["delete", "list"]), "key": key}),
    };
    if call["operation"] == "list" {
        call.as_object_mut().unwrap().remove("key");
    }
    call["action"] = json!("memory");
    call
}

/// A look at where something was done, or near.
fn look(dice: &mut Dice, scene: &Scene<'_>, places: &[String]) -> Value {
    let place = match dice.below(6) {
        0 => scene.any(dice),
        1 => (*dice.one(PATHS)).to_owned(),
        _ if places.is_empty() => "user.md".to_owned(),
        _ => dice.one(places).clone(),
    };
    let above: Vec<String> = path(&place).ancestors().map(|folder| folder.to_string()).collect();
    let folder = if above.is_empty() { None } else { Some(dice.one(&above).clone()) };
    let stem = path(&place).name().trim_end_matches(".md").to_owned();
    let below = |mut call: Value| {
        if let Some(folder) = folder.clone() {
            call["path"] = json!(folder);
        }
        call
    };
    match dice.below(22) {
        0 => json!({"action": "list_files"}),
        1 => json!({"action": "list_directory"}),
        2 => json!({"action": "get_size"}),
        3 => below(json!({"action": "list_files"})),
        4 => below(json!({"action": "list_directory"})),
        5 => below(json!({"action": "get_size"})),
        6 => json!({"action": "get_file_info", "path": folder.unwrap_or(place)}),
        7 => json!({"action": "check_dir_exists", "path": folder.unwrap_or(place)}),
        8 => json!({"action": "check_file_exists", "path": place}),
        9 => json!({"action": "get_file_info", "path": place}),
        10 | 11 => json!({"action": "read_file", "path": place}),
        12 => json!({"action": "get_links", "path": place}),
        13 => json!({"action": "get_backlinks", "path": place}),
        14 => json!({"action": "get_history", "path": place}),
        15 if dice.below(2) == 0 => json!({"action": "go_to_link", "link": stem}),
        15 => json!({"action": "go_to_link", "link": dice.one(LINKS), "source": scene.any(dice)}),
        16 => json!({"action": "get_context", "path": place}),
        17 => json!({"action": "get_context", "query": stem}),
        19 => json!({"action": "recent"}),
        20 => json!({"action": "recent", "days": 3_000}),
        18 => below(json!({"action": "search_files", "query": stem, "mode": dice.one(&["ranked", "text", "name"])})),
        _ => {
            let mode = dice.one(&["ranked", "text", "regex", "name"]);
            json!({"action": "search_files", "query": dice.one(WORDS), "mode": mode})
        }
    }
}

//! Turns as the model writes them: each kind of example that its prompt shows, and real updates where there are some.

use std::collections::BTreeMap;
use std::path::PathBuf;

use memdir_core::report::Variables;
use memdir_plan::MapTree;
use serde_json::Value;

use crate::support::files;

use super::model::Memory;
use super::run;

const USER: &str = "# User Information\n- user_name: Ada Lovelace\n- user_age: 36\n- favorite_tea: green\n\n## User Relationships\n\
    - mother: [[entities/anne.md]]\n\n## Hobbies\n- chess\n- music\n\n| when | what | state |\n| 2024-01-02 | moved in | done |\n";
const ANNE: &str = "# Anne Isabella\n- relationship: Mother\n\n## Children\n";

/// Runs blocks one after the other, as one conversation, and checks what each is told.
#[track_caller]
fn talk(blocks: &[(&str, &str)], changed: &[(&str, &str, &str)]) {
    let mut tree = MapTree::of([("user.md", USER), ("entities/anne.md", ANNE)]);
    let mut variables = Variables::default();
    for (code, expected) in blocks {
        let (after, answer, set) = run(&tree, code, &variables);
        assert_eq!(answer, format!("<result>\n{expected}\n</result>"), "{code}");
        let kept = variables.iter().chain(set.iter()).map(|(name, value)| (name.to_owned(), value.clone()));
        variables = Variables::new(kept.collect::<Vec<_>>());
        tree = after;
    }
    for (path, old, new) in changed {
        let text = String::from_utf8(tree.get(path).unwrap().to_vec()).unwrap();
        let before = match *path {
            "user.md" => USER,
            "entities/anne.md" => ANNE,
            _ => "",
        };
        assert_eq!(text, if before.is_empty() { (*new).to_owned() } else { before.replacen(old, new, 1) });
    }
}

#[test]
fn it_looks_and_reads_in_the_next_turn() {
    let shown = USER.replace('\n', "\\n");
    talk(
        &[
            ("exists = check_if_file_exists(\"user.md\")", "{'exists': True}"),
            ("if exists:\n    content = read_file(\"user.md\")", &format!("{{'content': '{shown}'}}")),
            ("check_if_file_exists(\"user.md\")\nread_file(\"user.md\")", "{}"),
            (
                "there = check_if_dir_exists(\"entities\")\nnone = check_if_dir_exists(\"projects\")",
                "{'there': True, 'none': False}",
            ),
        ],
        &[],
    );
}

#[test]
fn it_changes_facts_lists_sections_and_tables() {
    let code = |old: &str, new: &str| {
        format!(
            "old_content = \"\"\"{old}\"\"\"\nnew_content = \"\"\"{new}\"\"\"\nresult = update_file(\"user.md\", old_content, new_content)\n\nif result != True:\n  # it says what is wrong\n  print(f\"Failed: {{result}}\")\n"
        )
    };
    let said = |old: &str, new: &str| {
        let quoted = |text: &str| text.replace('\n', "\\n");
        format!("{{'old_content': '{}', 'new_content': '{}', 'result': True}}", quoted(old), quoted(new))
    };
    for (old, new) in [
        ("- user_age: 36", "- user_age: 37"),
        ("- favorite_tea: green", "- favorite_tea: green\n- favorite_cake: plum"),
        ("## Hobbies\n- chess\n- music", "## Hobbies\n- chess\n- music\n- riding"),
        ("| 2024-01-02 | moved in | done |", "| 2024-01-02 | moved in | done |\n| 2024-02-03 | painted | open |"),
        ("## User Relationships", "## User Relationships\n- **Friend**: They write letters. [[entities/charles.md]]"),
    ] {
        talk(&[(&code(old, new), &said(old, new))], &[("user.md", old, new)]);
    }
    let (old, new) = ("- user_age: 40", "- user_age: 41");
    let looking = "\"Error: Could not find the specified content in the file. Looking for: '- user_age: 40'\"";
    let told = format!("{{'old_content': '{old}', 'new_content': '{new}', 'result': {looking}}}");
    talk(&[(&code(old, new), &told)], &[("user.md", "-", "-")]);
}

#[test]
fn it_makes_an_entity_and_links_to_it() {
    talk(
        &[
            (
                "content = \"\"\"# Charles Babbage\n- relationship: Friend\n\"\"\"\nresult = create_file(\"entities/charles.md\", content)",
                "{'content': '# Charles Babbage\\n- relationship: Friend\\n', 'result': True}",
            ),
            (
                "result = update_file(\"entities/anne.md\", \"## Children\", \"## Children\\n- [[user.md]]\")",
                "{'result': True}",
            ),
            (
                "friend = go_to_link(\"[[entities/charles]]\")",
                "{'friend': '# Charles Babbage\\n- relationship: Friend\\n'}",
            ),
            (
                "nobody = go_to_link(\"[[entities/nobody.md]]\")",
                "{'nobody': 'Error: File entities/nobody.md not found'}",
            ),
            (
                "files = list_files()",
                "{'files': './\\n├── entities/\\n│   ├── anne.md\\n│   └── charles.md\\n└── user.md'}",
            ),
            (
                "size = get_size(\"entities/charles.md\")\nnothing = get_size(\"projects\")",
                "{'size': 41, 'nothing': 0}",
            ),
            ("made = create_dir(\"projects\")\nagain = create_dir(\"projects\")", "{'made': True, 'again': True}"),
            (
                "files = list_files()",
                "{'files': './\\n├── entities/\\n│   ├── anne.md\\n│   └── charles.md\\n├── projects/ (empty)\\n└── user.md'}",
            ),
            (
                "gone = delete_file(\"entities/charles.md\")\nagain = delete_file(\"entities/charles.md\")",
                "{'gone': True, 'again': False}",
            ),
        ],
        &[("entities/anne.md", "## Children", "## Children\n- [[user.md]]")],
    );
}

/// The folder with real memories, if one is given.
fn data() -> Option<PathBuf> {
    let data = std::env::var_os("MEMDIR_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("not asked for: MEMDIR_DATA is not set");
    }
    data
}

fn texts(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, String> {
    files.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

fn tree_of(files: &BTreeMap<String, String>) -> MapTree {
    MapTree::of(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// A text as a literal in double quotes.
fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn real_updates_come_out_byte_for_byte() {
    let Some(data) = data() else { return };
    let lines = std::fs::read_to_string(data.join("updates.jsonl")).unwrap();
    let mut count = 0;
    for line in lines.lines() {
        let update: Value = serde_json::from_str(line).unwrap();
        let mut expected = texts(files(&data.join(update["memory"].as_str().unwrap())));
        let tree = tree_of(&expected);
        for (path, text) in update["expected"].as_object().unwrap() {
            match text.as_str() {
                Some(text) => expected.insert(path.clone(), text.to_owned()),
                None => expected.remove(path),
            };
        }
        let (mut code, mut told) = (String::new(), Vec::new());
        for (number, action) in update["actions"].as_array().unwrap().iter().enumerate() {
            let text = |key: &str| literal(action[key].as_str().unwrap());
            let call = match action["action"].as_str().unwrap() {
                "create_file" => format!("create_file({}, {})", text("path"), text("content")),
                _ => format!("update_file({}, {}, {})", text("path"), text("old_content"), text("new_content")),
            };
            code.push_str(&format!(
                "result_{number} = {call}\nif result_{number} != True:\n    print(result_{number})\n"
            ));
            told.push(format!("'result_{number}': True"));
        }
        let (after, answer, _) = run(&tree, &code, &Variables::default());
        assert_eq!(answer, format!("<result>\n{{{}}}\n</result>", told.join(", ")), "{}", update["id"]);
        let found: BTreeMap<String, String> = after
            .paths()
            .map(|path| (path.to_string(), String::from_utf8(after.get(path.as_str()).unwrap().to_vec()).unwrap()))
            .collect();
        assert!(found == expected, "{}", update["id"]);
        count += 1;
    }
    eprintln!("{count} updates");
    assert!(count > 0);
}

#[test]
fn real_memories_are_listed_and_read() {
    let Some(data) = data() else { return };
    let mut count = 0;
    for folder in std::fs::read_dir(data.join("memories")).unwrap() {
        let notes = texts(files(&folder.unwrap().path()));
        let tree = tree_of(&notes);
        let mut model = Memory::of(&notes);
        for path in notes.keys() {
            let link = format!("[[{}]]", path.trim_end_matches(".md"));
            let code = format!(
                "tree = list_files()\ntext = read_file({0})\nlink = go_to_link({1})\nsize = get_size({0})",
                literal(path),
                literal(&link)
            );
            let (_, answer, _) = run(&tree, &code, &Variables::default());
            let values = [
                ("tree", model.call("list_files", &[])),
                ("text", model.call("read_file", std::slice::from_ref(path))),
                ("link", model.call("go_to_link", &[link])),
                ("size", model.call("get_size", std::slice::from_ref(path))),
            ];
            assert_eq!(answer, super::model::result(&values), "{path}");
            count += 1;
        }
    }
    eprintln!("{count} notes");
    assert!(count > 0);
}

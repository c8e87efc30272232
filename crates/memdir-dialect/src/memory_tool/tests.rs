use serde_json::{Value as Json, json};

use crate::{Dialect, Entry, Parsed, parse_as};
use memdir_core::action::Meaning;
use memdir_core::report::{Outcome, Value, Variables};

fn parse(text: &str) -> Parsed {
    parse_as(text.as_bytes(), None, &Variables::default())
}

fn action(input: &Json) -> Json {
    let parsed = parse(&input.to_string());
    assert_eq!(parsed.dialect(), Dialect::MemoryTool, "{input}");
    let [Entry::Call(call)] = parsed.entries.as_slice() else { panic!("{input}: {parsed:?}") };
    assert_eq!(call.meaning, Meaning::MemoryTool);
    serde_json::to_value(&call.action).unwrap()
}

fn refusal(input: &Json) -> String {
    let parsed = parse_as(input.to_string().as_bytes(), Some(Dialect::MemoryTool), &Variables::default());
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{input}: {parsed:?}") };
    assert!(unread.failure.hint.is_some());
    unread.failure.message.clone()
}

#[test]
fn every_command_is_an_action() {
    let path = "/memories/a/b.md";
    let read = json!({"action": "read_file", "path": "a/b.md"});
    assert_eq!(action(&json!({"command": "view", "path": path})), read);
    assert_eq!(action(&json!({"command": "view", "path": path, "view_range": [2, 3], "file_text": null})), read);
    assert_eq!(action(&json!({"command": "view", "path": "/memories//a/./b.md"})), read);
    for root in ["/memories", "/memories/", "/memories//."] {
        assert_eq!(action(&json!({"command": "view", "path": root})), json!({"action": "list_directory"}));
    }
    assert_eq!(
        action(&json!({"command": "create", "path": path, "file_text": "x"})),
        json!({"action": "create_file", "path": "a/b.md", "content": "x"})
    );
    assert_eq!(
        action(&json!({"command": "str_replace", "path": path, "old_str": "x"})),
        json!({"action": "update_file", "path": "a/b.md", "old_content": "x", "new_content": ""})
    );
    for (text, content) in [("x", "x\n"), ("x\n\n", "x\n"), ("", "\n"), ("\n", "\n"), ("a\nb", "a\nb\n")] {
        assert_eq!(
            action(&json!({"command": "insert", "path": path, "insert_line": 3, "insert_text": text})),
            json!({"action": "insert_text", "path": "a/b.md", "line": 3, "content": content})
        );
    }
    assert_eq!(action(&json!({"command": "delete", "path": path})), json!({"action": "delete_file", "path": "a/b.md"}));
    assert_eq!(
        action(&json!({"command": "rename", "old_path": path, "new_path": "/memories/c.txt"})),
        json!({"action": "rename_file", "path": "a/b.md", "new_path": "c.txt"})
    );
}

#[test]
fn what_is_no_command_says_how_to_write_one() {
    let path = "/memories/a.md";
    for (input, message) in [
        (json!({"command": "read", "path": path}), "action 1, `memory`: unknown command `read`"),
        (json!({"command": "create", "path": path}), "action 1, `memory`: `create`: missing `file_text`"),
        (
            json!({"command": "create", "path": path, "file_text": null}),
            "action 1, `memory`: `create`: missing `file_text`",
        ),
        (
            json!({"command": "str_replace", "path": path, "old_str": "", "new_str": "x"}),
            "action 1, `memory`: `str_replace`: `old_str` is empty",
        ),
        (json!({"command": "view"}), "action 1, `memory`: `view`: missing `path`"),
        (json!({"command": "view", "path": 7}), "action 1, `memory`: `view`: `path` has to be a text"),
        (json!({"command": "view", "path": path, "text": "x"}), "action 1, `memory`: `view`: unknown argument `text`"),
        (
            json!({"command": "insert", "path": path, "insert_line": "1", "insert_text": "x"}),
            "action 1, `memory`: `insert`: `insert_line` has to be a whole number",
        ),
        (
            json!({"command": "view", "path": path, "view_range": [1, -2]}),
            "action 1, `memory`: `view`: `view_range` has to be two whole numbers, the second -1 for the end",
        ),
        (
            json!({"command": "delete", "path": path, "has_explicit_permission": 1}),
            "action 1, `memory`: `has_explicit_permission` has to be `true` or `false`",
        ),
        (
            json!({"command": "rename", "old_path": "/memories", "new_path": path}),
            "action 1, `memory`: `rename`: `/memories` is the memory itself, not a file in it",
        ),
    ] {
        assert_eq!(refusal(&input), message);
    }
    let twice = "{\"command\":\"view\",\"path\":\"/memories\",\"path\":\"/memories/a\"}";
    let parsed = parse(twice);
    assert!(
        matches!(parsed.entries.as_slice(), [Entry::Unread(unread)] if unread.failure.message.contains("given twice"))
    );
    // JSON that ends too soon is refused as a whole.
    let parsed = parse("{\"command\":\"create\",\"path\":\"/memories/a.md\",\"file_text\":\"x");
    assert!(
        matches!(parsed.entries.as_slice(), [Entry::Unread(unread)] if unread.failure.message.contains("not JSON"))
    );
}

#[test]
fn what_belongs_to_another_dialect_is_left_to_it() {
    let block = |input: Json| json!({"type": "tool_use", "id": "a", "name": "memory", "input": input});
    let view = json!({"command": "view", "path": "/memories"});
    let own = json!({"operation": "list"});
    for (turn, dialect) in [
        (view.clone(), Dialect::MemoryTool),
        (json!([view, view]), Dialect::MemoryTool),
        (block(view.clone()), Dialect::MemoryTool),
        (
            json!({"role": "assistant", "content": [{"type": "text", "text": "x"}, block(view.clone())]}),
            Dialect::MemoryTool,
        ),
        (json!([block(view.clone()), block(own.clone())]), Dialect::ToolCall),
        (block(own.clone()), Dialect::ToolCall),
        (json!({"functionCall": {"name": "memory", "args": view}}), Dialect::ToolCall),
        (json!({"command": "view", "action": "read_file", "path": "/memories"}), Dialect::Native),
        (json!({"command": "ls", "path": "/tmp"}), Dialect::Native),
        (own, Dialect::Native),
    ] {
        assert_eq!(parse(&turn.to_string()).dialect(), dialect, "{turn}");
    }
}

#[test]
fn sizes_are_written_in_the_largest_unit() {
    let parsed = parse("{\"command\":\"view\",\"path\":\"/memories\"}");
    let [Entry::Call(call)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    let size = |bytes: u64| {
        let path = memdir_core::path::MemoryPath::parse("a.md").unwrap();
        let tree = vec![memdir_core::report::TreeEntry { path, kind: memdir_core::report::Kind::File, size: bytes }];
        let mut outcome = Outcome::failed(call, memdir_core::report::Failure::new(memdir_core::report::Code::Io, ""));
        outcome.result = Ok(Value::Directory(Vec::new()));
        outcome.shown = Some(memdir_core::report::Shown::Tree(tree));
        let (asked, _) = super::command::read(
            1,
            serde_json::from_str("{\"command\":\"view\",\"path\":\"/memories\"}").unwrap(),
            false,
        );
        let text = super::answer(&asked, &outcome).unwrap();
        text.lines().last().unwrap().split('\t').next().unwrap().to_owned()
    };
    let shown = [0, 1, 1023, 1024, 1536, 5632, 1 << 20, 1_258_291, 1 << 30, 1 << 40].map(size);
    assert_eq!(shown, ["0B", "1B", "1023B", "1K", "1.5K", "5.5K", "1M", "1.2M", "1G", "1024G"]);
}

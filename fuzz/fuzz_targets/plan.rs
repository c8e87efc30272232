//! Small batches on a small memory: nothing panics, every plan applies, and undo gives the memory back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_core::action::Call;
use memdir_core::catalog;
use memdir_plan::{Limits, MapTree, Planner, undo};
use memdir_policy::{Context, Mode, Rules, review};
use serde_json::{Value, json};

const PATHS: [&str; 12] =
    ["a", "b", "a.md", "b.md", "a/a", "a/a.md", "a/b.md", "b/a.md", "b/a/a.md", "A.md", "a/a/a", "c/c.md"];
const TEXTS: [&str; 6] = ["", "x", "x\ny\n", "- k: v\r\n", "\u{feff}x\r", "cafe\u{301}\nx \n"];

fn arguments(kind: u8, path: &str, other: &str, text: &str, flag: bool) -> Value {
    match kind % 14 {
        0 => json!({"action": "create_file", "path": path, "content": text}),
        1 => json!({"action": "write_file", "path": path, "content": text}),
        2 => json!({"action": "append_file", "path": path, "content": text}),
        3 => json!({"action": "update_file", "path": path, "old_content": other, "new_content": text}),
        4 => json!({"action": "update_file", "path": path, "old_content": "x", "new_content": text, "occurrence": "all"}),
        5 => json!({"action": "insert_text", "path": path, "line": u8::from(flag), "content": text}),
        6 => json!({"action": "delete_file", "path": path}),
        7 | 8 => json!({"action": "rename_file", "path": path, "new_path": other}),
        9 => json!({"action": "copy_file", "path": path, "new_path": other}),
        10 => json!({"action": "create_dir", "path": path}),
        11 => json!({"action": "delete_dir", "path": path, "recursive": flag}),
        12 => json!({"action": "list_directory", "path": path}),
        _ => json!({"action": "go_to_link", "link": other, "source": path}),
    }
}

fuzz_target!(|data: &[u8]| {
    let tree = MapTree::of([("a.md", "x\ny\n"), ("a/a.md", "xx"), ("b/a.md", "- k: v\r\nx"), ("c/", "")]);
    let mut planner = Planner::new(&tree, &Limits::default());
    for (at, bytes) in data.chunks_exact(4).take(24).enumerate() {
        let pick = |list: &[&'static str], at: u8| list[usize::from(at) % list.len()];
        let (path, other) = (pick(&PATHS, bytes[1]), pick(&PATHS, bytes[2]));
        let json = arguments(bytes[0], path, other, pick(&TEXTS, bytes[3]), bytes[3] & 64 != 0);
        let Value::Object(mut arguments) = json else { unreachable!() };
        let name = arguments.remove("action").and_then(|name| name.as_str().map(str::to_owned)).unwrap();
        let action = catalog::decode(at + 1, &name, arguments).unwrap();
        let call = Call::plain(at + 1, action);
        let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &Rules::default() };
        planner.answer(&review(call, &context, &mut Vec::new()).unwrap());
    }
    let plan = planner.finish();
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    let _ = (plan.diff(), plan.changed(), plan.counts());
    let back = undo(plan.steps(), &after, &Limits::default()).unwrap();
    after.apply(back.steps()).unwrap();
    assert_eq!(after, tree);
});

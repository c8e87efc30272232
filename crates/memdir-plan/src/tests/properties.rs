//! What holds for every batch.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4)
        .prop_flat_map(|parts| (Just(parts), prop::bool::ANY))
        .prop_map(|(parts, is_note)| format!("{}{}", parts.join("/"), if is_note { ".md" } else { "" }))
}

fn any_call() -> impl Strategy<Value = Json> {
    let text = prop::sample::select(vec!["", "x", "x\ny\n", "- k: v\r\n", "z", "[[a]] [[b/c]]", "[x](../a.md)\n"]);
    (0..12, any_path(), any_path(), text, prop::bool::ANY).prop_map(|(kind, path, other, text, flag)| match kind {
        0 => json!({"action": "create_file", "path": format!("{path}.md"), "content": text}),
        1 => json!({"action": "write_file", "path": format!("{path}.md"), "content": text}),
        2 => json!({"action": "append_file", "path": path, "content": text}),
        3 => {
            json!({"action": "update_file", "path": path, "old_content": "x", "new_content": text, "occurrence": "all"})
        }
        4 => json!({"action": "delete_file", "path": path}),
        5..=7 => json!({"action": "rename_file", "path": path, "new_path": other}),
        8 => json!({"action": "copy_file", "path": path, "new_path": other}),
        9 => json!({"action": "create_dir", "path": path}),
        10 => json!({"action": "delete_dir", "path": path, "recursive": flag}),
        _ => json!({"action": "insert_text", "path": path, "line": 0, "content": text}),
    })
}

fn any_tree() -> impl Strategy<Value = MapTree> {
    let files = prop::collection::vec((any_path(), prop::sample::select(vec!["x\n", "", "xx", "a\r\nx\r\n"])), 0..8);
    (files, prop::collection::vec(any_path(), 0..3)).prop_map(|(files, folders)| {
        let mut tree = MapTree::default();
        for (name, text) in &files {
            let name = path(&format!("{name}.md"));
            if name.ancestors().all(|folder| tree.get(folder.as_str()).is_none())
                && !tree.folders().any(|folder| *folder == name)
            {
                tree.insert(&name, text.as_bytes());
            }
        }
        for folder in folders {
            let folder = path(&folder);
            if folder.ancestors().chain([folder.clone()]).all(|folder| tree.get(folder.as_str()).is_none()) {
                tree.insert_folder(&folder);
            }
        }
        tree
    })
}

/// What a planner says there is: every file with its text, and every folder.
fn seen<T: Tree>(planner: &Planner<'_, T>) -> Vec<(MemoryPath, Option<Vec<u8>>)> {
    let mut all = Vec::new();
    let others = planner.walk(None, usize::MAX, |path, entry| all.push((path.clone(), entry.stat.kind))).unwrap();
    assert!(!others);
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let read = |path: &MemoryPath| planner.overlay.read(path, u64::MAX).unwrap().content.bytes().to_vec();
    all.into_iter().map(|(path, kind)| (path.clone(), (kind == Kind::File).then(|| read(&path)))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A plan applies, the memory is then what the batch saw, and undo gives the memory back; twice, too.
    #[test]
    fn a_plan_applies_and_undo_gives_the_memory_back(
        tree in any_tree(),
        calls in prop::collection::vec(any_call(), 0..10),
    ) {
        let mut planner = Planner::new(&tree, &Limits::default());
        for (at, json) in calls.iter().enumerate() {
            let before = seen(&planner);
            let outcome = planner.answer(&cleared(call(at + 1, json)));
            if outcome.result.is_err() {
                prop_assert_eq!(&before, &seen(&planner), "a call that fails changes nothing");
            }
        }
        let (all, bytes) = (seen(&planner), planner.overlay.note_bytes().unwrap());
        let plan = planner.finish();
        let mut after = tree.clone();
        after.apply(plan.steps()).unwrap();
        prop_assert_eq!(all, seen(&Planner::new(&after, &Limits::default())), "the batch saw what came of it");
        prop_assert_eq!(bytes, i128::from(after.note_bytes().unwrap()), "the running sum is right");
        prop_assert_eq!(plan.is_empty(), plan.changed().is_empty());
        let _ = (plan.diff(), plan.counts());

        let back = undo(plan.steps(), &after, &Limits::default()).unwrap();
        let mut before = after.clone();
        before.apply(back.steps()).unwrap();
        prop_assert_eq!(&before, &tree, "undo gives the memory back");
        match undo(back.steps(), &before, &Limits::default()) {
            Ok(plan) => {
                before.apply(plan.steps()).unwrap();
                prop_assert_eq!(before, after, "and can be undone");
            }
            // Rare, and said so.
            Err(error) => prop_assert!(matches!(error, UndoError::Blocked(_)), "{:?}", error),
        }
    }

    /// A scan in the middle of a batch gives what a scan of the changed memory would give.
    #[test]
    fn a_scan_sees_what_the_batch_left(
        tree in any_tree(),
        calls in prop::collection::vec(any_call(), 0..10),
        folder in any_path(),
        link in any_path(),
        is_all in prop::bool::ANY,
    ) {
        let mut tree = tree;
        let first = tree.paths().next().cloned();
        let (link, folder) = (path(&format!("links/{link}.md")), path(&folder));
        if let Some(target) = first {
            tree.insert_folder(&path("links/a/b"));
            tree.insert_link(&link, &target);
        }
        let mut planner = Planner::new(&tree, &Limits::default());
        for (at, json) in calls.iter().enumerate() {
            let _ = planner.answer(&cleared(call(at + 1, json)));
        }
        let scan = Scan {
            folder: (!is_all).then_some(&folder),
            limit: 3,
            wants: &|path| path.is_note(),
            stop: &|| false,
        };
        let look = |path: &MemoryPath, bytes: Result<&[u8], TreeError>| {
            (path.clone(), bytes.map(<[u8]>::to_vec).map_err(|error| error.about(path)))
        };
        let during = planner.overlay.scan(&scan, &look).map_err(Failure::from);
        let mut after = tree.clone();
        after.apply(planner.finish().steps()).unwrap();
        prop_assert_eq!(during, after.scan(&scan, &look).map_err(failure));
    }
}

//! Several calls in a row, the steps that come of them, and undoing them after later edits.

use serde_json::json;

use super::*;

/// Plans a batch in which every call succeeds, and gives its steps in short.
#[track_caller]
fn steps(tree: &MapTree, calls: &[Json]) -> Vec<String> {
    let (outcomes, plan) = run(tree, calls);
    for outcome in &outcomes {
        assert!(outcome.result.is_ok(), "{:?}", outcome.result);
    }
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(undone(plan.steps(), &after), *tree);
    let text = |image: &Option<Image>| {
        image.as_ref().map_or("nothing".to_owned(), |image| format!("{:?}", image.content.text().unwrap()))
    };
    let short = |step: &Step| match step {
        Step::MakeFolder { path, .. } => format!("make {path}"),
        Step::Move { from, to, .. } => format!("move {from} {to}"),
        Step::Put { path, before, after } => format!("put {path} {} {}", text(before), text(after)),
        Step::RemoveFolder { path, .. } => format!("remove {path}"),
    };
    plan.steps().iter().map(short).collect()
}

fn rename(from: &str, to: &str) -> Json {
    json!({"action": "rename_file", "path": from, "new_path": to})
}

fn create(path: &str, content: &str) -> Json {
    json!({"action": "create_file", "path": path, "content": content})
}

fn delete(path: &str) -> Json {
    json!({"action": "delete_file", "path": path})
}

#[test]
fn normal_form() {
    let tree = MapTree::of([("a.md", "A"), ("b.md", "B"), ("d/x.md", "X"), ("d/e/y.md", "Y")]);
    let edit = json!({"action": "update_file", "path": "d/x.md", "old_content": "X", "new_content": "Z"});
    assert_eq!(steps(&tree, &[edit.clone(), rename("d", "f/g")]), ["make f", "move d f/g", "put f/g/x.md \"X\" \"Z\""]);
    assert_eq!(steps(&tree, &[rename("b.md", "c.md"), rename("a.md", "b.md")]), ["move b.md c.md", "move a.md b.md"]);
    let swap = [rename("a.md", "t.md"), rename("b.md", "a.md"), rename("t.md", "b.md")];
    assert_eq!(steps(&tree, &swap), ["move a.md t.md", "move b.md a.md", "move t.md b.md"]);
    assert_eq!(steps(&tree, &[rename("a.md", "b2.md"), rename("b2.md", "a.md")]), Vec::<String>::new());
    assert_eq!(
        steps(&tree, &[delete("b.md"), rename("a.md", "b.md")]),
        ["put a.md \"A\" nothing", "put b.md \"B\" \"A\""]
    );
    assert_eq!(steps(&tree, &[create("n.md", "N"), rename("n.md", "m.md")]), ["put m.md nothing \"N\""]);
    assert_eq!(steps(&tree, &[create("n.md", "N"), delete("n.md")]), Vec::<String>::new());
    assert_eq!(
        steps(&tree, &[rename("a.md", "old.md"), create("a.md", "N")]),
        ["move a.md old.md", "put a.md nothing \"N\""]
    );
    let gone = json!({"action": "delete_dir", "path": "d", "recursive": true});
    let expected = ["put d/e/y.md \"Y\" nothing", "put d/x.md \"X\" nothing", "remove d/e", "remove d"];
    assert_eq!(steps(&tree, std::slice::from_ref(&gone)), expected);
    assert_eq!(steps(&tree, &[gone, create("d/x.md", "X")]), ["put d/e/y.md \"Y\" nothing", "remove d/e"]);
    let folder = |name: &str, path: &str| json!({"action": name, "path": path});
    assert_eq!(steps(&tree, &[folder("create_dir", "q"), folder("delete_dir", "q")]), Vec::<String>::new());
}

#[test]
fn what_has_no_normal_form_is_sent_alone() {
    let tree = MapTree::of([("a.md", "A"), ("d/x.md", "X"), ("e/y.md", "Y")]);
    let gone = json!({"action": "delete_dir", "path": "d", "recursive": true});
    let folder = json!({"action": "create_dir", "path": "a.md"});
    for batch in [[gone.clone(), rename("e", "d")], [delete("a.md"), folder], [rename("d", "f"), create("d/x.md", "N")]]
    {
        let (outcomes, _) = run(&tree, &batch);
        let failure = outcomes[1].result.clone().unwrap_err();
        assert_eq!((failure.code, failure.hint.as_deref()), (Code::Unavailable, Some("send it in a batch of its own")));
    }
}

#[test]
fn a_call_sees_those_before_it() {
    let tree = MapTree::of([("a.md", "one\n"), ("d/x.md", "X\n")]);
    let (outcomes, _) = run(
        &tree,
        &[
            json!({"action": "append_file", "path": "a.md", "content": "two"}),
            rename("d", "e"),
            create("e/z.md", "Z"),
            json!({"action": "read_file", "path": "a.md"}),
            json!({"action": "read_file", "path": "e/x.md"}),
            json!({"action": "list_files"}),
            json!({"action": "check_dir_exists", "path": "d"}),
            json!({"action": "get_size"}),
        ],
    );
    let answers: Vec<_> =
        outcomes[3..].iter().map(|outcome| serde_json::to_value(outcome).unwrap()["value"].clone()).collect();
    assert_eq!(
        answers,
        [json!("one\ntwo\n"), json!("X\n"), json!(["a.md", "e/x.md", "e/z.md"]), json!(false), json!(11)]
    );
}

#[test]
fn a_plan_reads_as_a_diff() {
    let mut tree = MapTree::of([("a.md", "one\ntwo"), ("d/x.md", "X\n")]);
    tree.insert(&path("p.bin"), b"\xff");
    let (_, plan) = run(
        &tree,
        &[
            json!({"action": "update_file", "path": "a.md", "old_content": "two", "new_content": "2"}),
            rename("d/x.md", "e.md"),
            create("n.md", "N\n"),
            delete("p.bin"),
        ],
    );
    let expected = "--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n\
                    \\ No newline at end of file\nrename from d/x.md\nrename to e.md\n\
                    --- /dev/null\n+++ b/n.md\n@@ -0,0 +1 @@\n+N\nBinary file p.bin differs\n";
    assert_eq!(plan.diff(), expected);
    let changed: Vec<_> = plan.changed().iter().map(ToString::to_string).collect();
    assert_eq!(changed, ["a.md", "d/x.md", "e.md", "n.md", "p.bin"]);
    let counts = plan.counts();
    let files: Vec<_> =
        counts.files.iter().map(|file| (file.path.as_str(), file.fate, file.added, file.removed)).collect();
    let expected = [("a.md", Fate::Changed, 1, 1), ("n.md", Fate::Made, 1, 0), ("p.bin", Fate::Deleted, 0, 0)];
    assert_eq!(files, expected);
    assert_eq!(counts.moved, [(path("d/x.md"), path("e.md"))]);
}

/// What is told of a batch: the paths that it changed, and its receipt.
#[track_caller]
fn told(tree: &MapTree, calls: &[Json], changed: &[&str], receipt: &str) {
    let (outcomes, plan) = run(tree, calls);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
    assert_eq!(plan.changed().iter().map(MemoryPath::as_str).collect::<Vec<_>>(), changed, "{calls:?}");
    assert_eq!(plan.receipt().strip_suffix(UNDO), Some(receipt), "{calls:?}");
    let names: Vec<_> = note_changes(plan.steps()).into_iter().map(|change| change.name).collect();
    assert!(names.iter().all(|name| changed.contains(&name.trim_end_matches('/'))), "{names:?}");
}

#[test]
fn only_names_that_were_there_before_or_are_there_after_a_batch_are_told() {
    let tree = MapTree::of([("a.md", "x\n"), ("d/n.md", "n\n"), ("d/e/o.md", "o\n"), ("q/x.md", "x\n")]);
    let delete_dir = |path: &str| json!({"action": "delete_dir", "path": path, "recursive": true});
    told(&tree, &[rename("a.md", "b.md"), delete("b.md")], &["a.md"], "deleted: a.md");
    told(
        &tree,
        &[rename("a.md", "b.md"), rename("d/n.md", "m.md"), rename("b.md", "c.md")],
        &["a.md", "c.md", "d/n.md", "m.md"],
        "2 renamed",
    );
    told(&tree, &[rename("q", "z"), delete("z/x.md")], &["q", "q/x.md", "z"], "deleted: q/x.md, q is now z");
    let through = [rename("d/n.md", "d/e/p.md"), delete_dir("d/e")];
    told(&tree, &through, &["d/e/o.md", "d/n.md"], "2 deleted notes");
    told(&tree, &[rename("q", "z"), delete_dir("z")], &["q/x.md"], "deleted: q/x.md");
    let made = [create("q/r/p.md", "p"), delete("q/r/p.md"), rename("q", "z")];
    told(&tree, &made, &["q", "z", "z/r"], "q is now z");
    let [one, two, three] = made;
    told(&tree, &[one, two, three, delete_dir("z/r")], &["q", "z"], "q is now z");
}

/// A memory after a batch and a later edit of `n.md`, and the steps of the batch.
fn later(before: &str, edit: Json, now: &str) -> (MapTree, Vec<Step>) {
    let mut tree = MapTree::of([("n.md", before)]);
    let (_, plan) = run(&tree, &[edit]);
    tree.apply(plan.steps()).unwrap();
    tree.insert(&path("n.md"), now.as_bytes());
    (tree, plan.steps().to_vec())
}

#[test]
fn undo_keeps_later_edits_elsewhere_and_refuses_the_rest() {
    let edit = json!({"action": "update_file", "path": "n.md", "old_content": "b", "new_content": "B"});
    let text = "a\nb\nc\nd\ne\n";
    let (tree, steps) = later(text, edit.clone(), "a\nB\nc\nd\nE!\n");
    assert_eq!(undone(&steps, &tree).get("n.md").unwrap(), b"a\nb\nc\nd\nE!\n");
    for now in ["a\nB!\nc\nd\ne\n", "a\nB\nC\nd\ne\n", "A\nB\nc\nd\ne\n"] {
        let (tree, steps) = later(text, edit.clone(), now);
        let error = undo(&steps, &tree, &Limits::default()).unwrap_err();
        let UndoError::Conflict { path, diff } = error else { panic!("{error}") };
        assert_eq!(path.as_str(), "n.md");
        assert!(diff.starts_with("--- a/n.md\n+++ b/n.md\n"), "{diff}");
    }
    let (tree, steps) = later(text, delete("n.md"), "something new\n");
    assert!(matches!(undo(&steps, &tree, &Limits::default()), Err(UndoError::Conflict { .. })));
}

#[test]
fn a_note_is_restored() {
    let tree = MapTree::of([("a.md", "now\n")]);
    let image = Image { content: Content::new(*b"then\n"), mode: Some(0o600) };
    let plan = restore(&path("x/a.md"), Some(image), &tree, &Limits::default()).unwrap();
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(after.get("x/a.md").unwrap(), b"then\n");
    let plan = restore(&path("a.md"), None, &tree, &Limits::default()).unwrap();
    after.apply(plan.steps()).unwrap();
    assert!(after.get("a.md").is_none());
}

#[test]
fn merges() {
    let base = "1\n2\n3\n4\n5\n6\n";
    let check = |mine: &str, theirs: &str, expected: Option<&str>| {
        assert_eq!(merge::three_way(base, mine, theirs).as_deref(), expected);
    };
    check("1\n2\n3\n4\n5\nX\n", "0\n2\n3\n4\n5\n6\n", Some("0\n2\n3\n4\n5\nX\n"));
    check("1\n3\n4\n5\n6\n", "1\n2\n3\n4\nnew\n5\n6\n", Some("1\n3\n4\nnew\n5\n6\n"));
    check("1\nX\n3\n4\n5\n6\n", "1\n2\nY\n4\n5\n6\n", None);
    // The next item of a list stands by itself; an indented line may belong to the one above it.
    check("1\n3\n4\n5\n6\n", "1\n2\nnew\n3\n4\n5\n6\n", Some("1\nnew\n3\n4\n5\n6\n"));
    check("1\n3\n4\n5\n6\n", "1\nnew\n2\n3\n4\n5\n6\n", Some("1\nnew\n3\n4\n5\n6\n"));
    check("1\n3\n4\n5\n6\n", "1\n2\n  new\n3\n4\n5\n6\n", None);
    check("1\n3\n4\n5\n6\n", "1\n2\n4\n5\n6\n", Some("1\n4\n5\n6\n"));
    check("1\n2\nX\n3\n4\n5\n6\n", "1\n2\nY\n3\n4\n5\n6\n", None);
    check(base, "", Some(""));
}

/// Each text keeps its last line open or closed, and no two lines become one.
#[test]
fn a_last_line_without_an_end_is_merged() {
    for (base, now, before, expected) in [
        ("- a\n- b\n", "- a\n- b\n- c\n", "- a", Some("- a\n- c")),
        ("- a\n- b", "- a\n- b\n- c", "- a", Some("- a\n- c")),
        ("- a\n- b\n", "- a\n- b\n## C\n", "- a", Some("- a\n## C")),
        ("- a\r\n- b\r\n", "- a\r\n- b\r\n- c\r\n", "- a", Some("- a\r\n- c")),
        ("- a\n- b\n", "- a\n- b\nby hand", "- a", Some("- a\nby hand")),
        ("- a\n- b\n", "- a\n- b", "- a\n", Some("- a")),
        ("| x | 1 |\n| y | 2 |\n", "| x | 1 |\n| y | 2 |\n| z | 3 |\n", "| x | 1 |", Some("| x | 1 |\n| z | 3 |")),
        ("a\n", "", "a", Some("")),
        ("a", "a\n", "b", Some("b\n")),
    ] {
        let merged = merge::three_way(base, now, before);
        assert_eq!(merged.as_deref(), expected, "{base:?} {now:?} {before:?}");
        assert_eq!(merge::three_way(base, before, now), merged, "{base:?}");
        let mut lines = merged.iter().flat_map(|text| text.lines());
        assert!(lines.all(|line| now.lines().chain(before.lines()).any(|other| other == line)), "{merged:?}");
    }
}

/// Two facts of a list have nothing to do with each other; lines of a paragraph do.
#[test]
fn items_that_stand_below_each_other_are_merged() {
    let check = |base: &str, mine: &str, theirs: &str, expected: Option<&str>| {
        assert_eq!(merge::three_way(base, mine, theirs).as_deref(), expected);
        assert_eq!(merge::three_way(base, theirs, mine).as_deref(), expected);
    };
    check(
        "- city:\n- work:\n",
        "- city: Porto\n- work:\n",
        "- city:\n- work: mill\n",
        Some("- city: Porto\n- work: mill\n"),
    );
    check("1. a\n2. b\n", "1. A\n2. b\n", "1. a\n2. B\n", Some("1. A\n2. B\n"));
    let table = |rows: &str| format!("| k | v |\n|---|---|\n{rows}");
    let tables = ["| a | 1 |\n| b | 2 |\n", "| a | 3 |\n| b | 2 |\n", "| a | 1 |\n| b | 4 |\n"].map(table);
    check(&tables[0], &tables[1], &tables[2], Some(&table("| a | 3 |\n| b | 4 |\n")));
    check("- [ ] a\n- [ ] b\n", "- [x] a\n- [ ] b\n", "- [ ] a\n", Some("- [x] a\n"));
    // The upper one went, the lower one says something else; the other way round nothing is left to stand above it.
    check("- a\n- b\n", "- b\n", "- a\n- c\n", Some("- c\n"));
    // What is indented may belong to the item above it, and a line of a paragraph to the line above it.
    check("- a\n  - b\n", "- c\n  - b\n", "- a\n  - d\n", None);
    check("one\ntwo\n", "ONE\ntwo\n", "one\nTWO\n", None);
    check("**a**\n**b**\n", "**c**\n**b**\n", "**a**\n**d**\n", None);
    check("- a\n- b\n", "- A\n- b\n", "- a\nb\n", None);
    // Both changed the same item.
    check("- a\n- b\n", "- c\n- b\n", "- d\n- b\n", None);
    // One adds what would stand in the item that the other changes or takes away, or puts one around it.
    check("- p\n  - a\n", "- p\n  - A\n", "- p\n  - a\n    - b\n", None);
    check("- p\n  - a\n", "- p\n", "- p\n  - a\n    - b\n", None);
    check("- p\n  - a\n", "- p\n  - A\n", "- p\n  - a\n  - b\n", Some("- p\n  - A\n  - b\n"));
    check("- p\n  - a\n", "- q\n- p\n  - a\n", "- P\n  - a\n", Some("- q\n- P\n  - a\n"));
    check("- p\n  - a\n  - b\n", "- p\n- a\n  - b\n", "- p\n  - a\n  - B\n", None);
    check("> [!info] T\n> - a\n", "> [!quote] T\n> - a\n", "> [!info] T\n> - b\n", None);
    check("---\na: |\n  x\n  - y\n---\n", "---\na: |\n  X\n  - y\n---\n", "---\na: |\n  x\n  - Y\n---\n", None);
    check("---\na: [x,\n  y]\n---\n", "---\na: [z,\n  y]\n---\n", "---\na: [x,\n  z]\n---\n", None);
    check("```\na | b\n```\n", "```\nA | b\n```\n", "```\na | b\nc\n```\n", Some("```\nA | b\nc\n```\n"));
    // A list that takes a line away from under a text is no part of that text.
    check("Steps:\n1. a\n2. b\n", "Steps:\n2. b\n", "Steps:\n1. a\n2. c\n", Some("Steps:\n2. c\n"));
}

/// For each place where entries stand below each other, and all that two sides can do to three of them: keep, change, take away.
#[test]
fn a_merge_does_exactly_what_both_sides_did_to_entries() {
    let forms = [
        ("", "- ", ""),
        ("- p\n", "  - ", ""),
        ("- p\n", "  - [ ] ", "- q\n"),
        ("1. p\n", "   * ", ""),
        ("1. p\n   - q\n", "     - ", "2. r\n"),
        ("> [!info] T\n", "> - ", ""),
        ("> [!info] T\n> - p\n", ">   - ", "> - q\n"),
        ("k | v\n-|-\n", "r | ", ""),
        ("| k | v |\n|---|---|\n", "| r | ", "\nend\n"),
        ("> k | v\n> -|-\n", "> r | ", ""),
        ("---\n", "KEY: ", "---\n"),
        ("---\ntags:\n", "  - ", "z: 1\n---\ntext\n"),
        ("---\ntags:\n", "- ", "---\n"),
    ];
    for (above, mark, below) in forms {
        let text = |done: [u8; 3]| {
            let line = |(at, done): (usize, &u8)| match done {
                0 => format!("{}e{at}\n", mark.replace("KEY", &format!("k{at}"))),
                1 => String::new(),
                side => format!("{}E{at}-{side}\n", mark.replace("KEY", &format!("k{at}"))),
            };
            let lines: String = done.iter().enumerate().map(line).collect();
            format!("{above}{lines}{below}")
        };
        let each = |side: u8| {
            (0..27).map(move |number| {
                [number / 9, number / 3 % 3, number % 3].map(|done| if done == 2 { side } else { done })
            })
        };
        for mine in each(2) {
            for theirs in each(3) {
                let is_apart = mine.iter().zip(&theirs).all(|(mine, theirs)| *mine == 0 || *theirs == 0);
                let both = [0, 1, 2].map(|at| mine[at].max(theirs[at]));
                let merged = merge::three_way(&text([0; 3]), &text(mine), &text(theirs));
                assert_eq!(merged, is_apart.then(|| text(both)), "{above:?} {mark:?} {mine:?} {theirs:?}");
            }
        }
    }
}

//! Undoing changes, with what happened since.

use serde_json::json;

use super::{EDIT, caller, engine, memory, run, snapshot};
use crate::{Caller, Done, Engine};
use memdir_core::path::MemoryPath;
use memdir_core::report::Code;
use memdir_vault::{LogQuery, VaultError};

/// Does one action, as a model; the number of its change.
#[track_caller]
fn act(engine: &Engine, action: impl std::fmt::Display) -> u64 {
    run(engine, format!("<actions>[{action}]</actions>"), caller()).batch.unwrap()
}

#[track_caller]
fn undo(engine: &Engine, batch: u64) -> Done {
    engine.conclude_change(engine.propose_undo(Some(batch)).unwrap(), &Caller::person("cli")).unwrap()
}

#[test]
fn undo_keeps_a_later_edit_in_another_place_and_refuses_one_in_the_same() {
    let folder = memory(&[("a.md", "one\n\nmiddle\n\nend\n")]);
    let engine = engine(folder.path());
    let _ = run(&engine, EDIT, caller());
    std::fs::write(folder.path().join("a.md"), "1\n\nmiddle\n\nthe end\n").unwrap();
    let change = engine.propose_undo(None).unwrap();
    let done = engine.conclude_change(change, &caller()).unwrap();
    assert_eq!(done.batch, Some(2));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "one\n\nmiddle\n\nthe end\n");
    std::fs::write(folder.path().join("a.md"), "uno\n\nmiddle\n\nthe end\n").unwrap();
    let error = engine.propose_undo(Some(2)).unwrap_err();
    assert_eq!(error.failure.code, Code::Conflict);
    assert!(error.diff.unwrap().contains("-uno\n+1\n"));
    assert_eq!(engine.propose_undo(None).unwrap_err().failure.code, Code::NothingToUndo);
}

#[test]
fn an_undo_names_the_change_that_is_in_its_way() {
    let folder = memory(&[("a.md", "- one: 1\n- two: 2\n- three: 3\n- four: 4\n- five: 5\n")]);
    let engine = engine(folder.path());
    let set = |key: &str, value: &str| {
        act(&engine, json!({"action": "set_fact", "path": "a.md", "key": key, "value": value}))
    };
    let in_way = |batch: u64| {
        let failure = engine.propose_undo(Some(batch)).unwrap_err().failure;
        assert_eq!(failure.code, Code::Conflict);
        (failure.details.batch, failure.message, failure.hint.unwrap())
    };
    let first = set("one", "a");
    set("five", "a");
    let second = set("one", "b");
    set("five", "b");
    let (blocked_by, message, hint) = in_way(first);
    assert_eq!(blocked_by, Some(second), "not one that changed another line");
    assert_eq!(message, format!("note `a.md` was changed in the same place since: change {second}"));
    let diff = format!("; the diff leads from the note as it is to what it was before change {first}");
    assert_eq!(hint, format!("`memdir undo {second}` undoes that one first; or edit the note by hand{diff}"));
    // Where that is undone, this can be.
    undo(&engine, second);
    engine.propose_undo(Some(first)).unwrap();
    // One that came and went is not in the way of anything.
    let third = set("one", "c");
    assert_eq!(in_way(first).0, Some(third));
    let removed = act(&engine, json!({"action": "delete_file", "path": "a.md"}));
    assert_eq!(in_way(third).0, Some(removed));
    undo(&engine, removed);
    // What the history does not know is no change of it.
    std::fs::write(folder.path().join("a.md"), "- one: z\n").unwrap();
    let (blocked_by, message, _) = in_way(third);
    assert_eq!((blocked_by, message.ends_with(", outside memdir")), (None, true), "{message}");
}

#[test]
fn an_undo_names_the_newest_change_that_has_to_go_first() {
    let folder = memory(&[("a.md", "- one: 1\n")]);
    let engine = engine(folder.path());
    let set = |value: &str| act(&engine, json!({"action": "set_fact", "path": "a.md", "key": "one", "value": value}));
    let batches = ["a", "b", "c", "d"].map(set);
    for (at, batch) in batches.iter().enumerate().rev().skip(1) {
        let failure = engine.propose_undo(Some(batches[0])).unwrap_err().failure;
        assert_eq!(failure.details.batch, Some(batches[at + 1]), "{batch}");
        undo(&engine, batches[at + 1]);
    }
    undo(&engine, batches[0]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "- one: 1\n");
    // One that itself can be undone no more is not named: to undo it is no way.
    let [fifth, _] = ["e", "f"].map(set);
    std::fs::write(folder.path().join("a.md"), "- one: z\n").unwrap();
    let failure = engine.propose_undo(Some(fifth)).unwrap_err().failure;
    assert_eq!((failure.details.batch, failure.message.ends_with(", outside memdir")), (None, true), "{failure}");
}

/// Each of several changes is enough to be in the way, and each can be undone.
#[test]
fn of_several_changes_that_are_each_in_the_way_an_undo_names_the_newest() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let made = act(&engine, json!({"action": "create_file", "path": "a.md", "content": "# A\n\n"}));
    let add =
        |line: &str| act(&engine, json!({"action": "append_file", "path": "a.md", "content": format!("- {line}\n")}));
    let added = ["one", "two", "three"].map(add);
    for later in added.iter().rev() {
        assert_eq!(engine.propose_undo(Some(made)).unwrap_err().failure.details.batch, Some(*later));
        undo(&engine, *later);
    }
    undo(&engine, made);
}

/// What an undo brings back was made by memdir, however it had gone.
#[test]
fn an_undo_that_brings_back_what_is_in_the_way_is_nothing_outside_memdir() {
    let folder = memory(&[("a.md", "- one: 1\n- two: 1\n")]);
    let engine = engine(folder.path());
    let set = |key: &str, value: &str| {
        act(&engine, json!({"action": "set_fact", "path": "a.md", "key": key, "value": value}))
    };
    let path = MemoryPath::parse("a.md").unwrap();
    let restore = |batch: u64| {
        let change = engine.propose_restore(&path, batch).unwrap();
        engine.conclude_change(change, &Caller::person("cli")).unwrap().batch.unwrap()
    };
    let in_way = |batch: u64| engine.propose_undo(Some(batch)).unwrap_err().failure;
    let first = set("one", "a");
    set("one", "b");
    set("two", "b");
    let restored = restore(first);
    let undone = undo(&engine, restored).batch.unwrap();
    assert_eq!((in_way(first).details.batch, in_way(first).message.contains("outside")), (Some(undone), false));
    // Who does what is said gets there.
    for _ in 0..4 {
        match engine.propose_undo(Some(first)) {
            Ok(_) => break,
            Err(error) => drop(undo(&engine, error.failure.details.batch.unwrap())),
        }
    }
    undo(&engine, first);
    assert!(std::fs::read_to_string(folder.path().join("a.md")).unwrap().starts_with("- one: 1\n"));
}

#[test]
fn an_undo_blames_no_change_for_what_another_program_did_before_it() {
    let folder = memory(&[("a.md", "# A\n\ntext\n")]);
    let engine = engine(folder.path());
    let add =
        |line: &str| act(&engine, json!({"action": "append_file", "path": "a.md", "content": format!("- {line}\n")}));
    let [_, second, third] = ["l1", "l2", "l3"].map(add);
    std::fs::write(folder.path().join("a.md"), "# A\n\ntext\n- l1 edited\n- l2\n- l3!\n").unwrap();
    undo(&engine, second);
    let failure = engine.propose_undo(Some(third)).unwrap_err().failure;
    assert_eq!((failure.details.batch, failure.message.ends_with(", outside memdir")), (None, true), "{failure}");
}

#[test]
fn an_undo_says_that_a_name_was_taken() {
    let folder = memory(&[("d/x.md", "# X\n")]);
    let engine = engine(folder.path());
    let moved = act(&engine, r#"{"action":"rename_file","path":"d","new_path":"e"}"#);
    let failure = || engine.propose_undo(Some(moved)).unwrap_err().failure;
    std::fs::create_dir(folder.path().join("d")).unwrap();
    assert_eq!(failure().message, "the name `d` was taken since, outside memdir");
    assert_eq!(failure().hint.unwrap(), "rename or remove what has the name now");
    std::fs::remove_dir(folder.path().join("d")).unwrap();
    let made = act(&engine, r#"{"action":"create_file","path":"d/y.md","content":"y\n"}"#);
    assert_eq!((failure().details.batch, failure().message.contains("was taken since")), (Some(made), true));
    undo(&engine, made);
    undo(&engine, moved);
}

#[test]
fn undo_follows_names_through_the_forms_of_unicode() {
    let (nfd, nfc) = ("E\u{301}", "\u{c9}");
    let names = |folder: &tempfile::TempDir| {
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter_map(|name| name.into_string().ok()).filter(|name| !name.is_ascii()).collect::<Vec<_>>()
    };
    for (from, to, ending, inside) in [(nfd, nfc, ".md", ""), (nfc, nfd, ".md", ""), (nfd, nfc, "", "/x.md")] {
        let [from, to] = [from, to].map(|name| format!("{name}{ending}"));
        let folder = memory(&[(&format!("{from}{inside}"), "# e\n")]);
        let engine = engine(folder.path());
        let renamed = act(&engine, json!({"action": "rename_file", "path": from, "new_path": to}));
        assert_eq!(names(&folder), [to.as_str()]);
        let undone = undo(&engine, renamed).batch.unwrap();
        assert_eq!(names(&folder), [from.as_str()]);
        undo(&engine, undone);
        // A program that syncs can have taken it back, and nothing is to be moved then.
        std::fs::rename(folder.path().join(&to), folder.path().join(&from)).unwrap();
        undo(&engine, renamed);
        assert_eq!(names(&folder), [from.as_str()]);
        // Or it changes the form of what a change edited.
        let note = format!("{from}{inside}");
        let added = act(&engine, json!({"action": "append_file", "path": note, "content": "one\n"}));
        std::fs::rename(folder.path().join(&from), folder.path().join(&to)).unwrap();
        undo(&engine, added);
        assert_eq!(names(&folder), [to.as_str()]);
        assert_eq!(std::fs::read_to_string(folder.path().join(format!("{to}{inside}"))).unwrap(), "# e\n");
    }
}

#[test]
fn an_undo_follows_a_note_that_moved_since() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let failure = |batch| engine.propose_undo(Some(batch)).unwrap_err().failure;
    let made = act(&engine, r##"{"action":"create_file","path":"d/x.md","content":"# X\n\n- one: 1\n- two: 1\n"}"##);
    let one = act(&engine, r#"{"action":"set_fact","path":"d/x.md","key":"one","value":"2"}"#);
    let two = act(&engine, r#"{"action":"set_fact","path":"d/x.md","key":"two","value":"2"}"#);
    act(&engine, r#"{"action":"rename_file","path":"d","new_path":"e"}"#);
    undo(&engine, one);
    assert_eq!(read("e/x.md"), "# X\n\n- one: 1\n- two: 2\n");
    let moved = act(&engine, r#"{"action":"rename_file","path":"e/x.md","new_path":"y.md"}"#);
    undo(&engine, two);
    assert_eq!(read("y.md"), "# X\n\n- one: 1\n- two: 1\n");
    // To take back that a note was made would delete what has got another name since. The newest rename has to go first.
    assert_eq!(failure(made).details.batch, Some(moved));
    std::fs::remove_file(folder.path().join("y.md")).unwrap();
    let failure = failure(moved);
    assert_eq!(failure.code, Code::Conflict);
    assert!(failure.message.ends_with(": it was deleted outside memdir"), "{}", failure.message);
}

#[test]
fn undoing_a_rename_takes_along_the_links_that_were_written_since() {
    let old = "# O\n\n[[b]] [b](b.md) ![[b#H]]\n";
    let folder = memory(&[("a.md", "# A\n"), ("b.md", "# B\n\n# H\n"), ("o.md", old)]);
    let engine = engine(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    act(&engine, r#"{"action":"create_file","path":"p/x.md","content":"[a](../a.md)\n"}"#);
    let note = act(&engine, r#"{"action":"rename_file","path":"b.md","new_path":"c.md"}"#);
    assert_eq!(read("o.md"), old.replace("b.md", "c.md").replace("[b", "[c").replace("[c](", "[b]("));
    act(&engine, r#"{"action":"create_file","path":"d.md","content":"see [[c]], [c](c.md), [[a]] and [[c#H|it]]\n"}"#);
    undo(&engine, note);
    assert_eq!(read("d.md"), "see [[b]], [c](b.md), [[a]] and [[b#H|it]]\n");
    assert_eq!(read("o.md"), old);
    let moved = act(&engine, r#"{"action":"rename_file","path":"p","new_path":"q/r"}"#);
    assert_eq!(read("q/r/x.md"), "[a](../../a.md)\n");
    act(&engine, r#"{"action":"create_file","path":"q/r/n.md","content":"[a](../../a.md) [x](x.md)\n"}"#);
    std::fs::write(folder.path().join("e.md"), "[n](q/r/n.md) [q](q/r/)\n").unwrap();
    undo(&engine, moved);
    let all = ["p/x.md", "p/n.md", "e.md"].map(read);
    assert_eq!(all, ["[a](../a.md)\n", "[a](../a.md) [x](x.md)\n", "[n](p/n.md) [q](p/)\n"]);
}

/// Each of these was given back and then written anew once, since it was read by the names and from the folder of later.
#[test]
fn undoing_a_rename_gives_back_what_there_was() {
    for (files, from, to) in [
        (&[("p/README.md", "x\n"), ("README.md", "x\n"), ("x.md", "[home](README.md)\n")][..], "x.md", "p/x.md"),
        (&[("b.md", "x\n"), ("z/b.md", "x\n"), ("o.md", "[[b]] [b](b.md)\n")], "b.md", "c.md"),
        (&[("d/e/x.md", "[o](../../../out.md)\n")], "d/e/x.md", "x.md"),
        (&[("x.md", "[h](.github/y)\n")], "x.md", "p/x.md"),
        (&[("proj/README.md", "[ci](.github/ci.yml)\n")], "proj", "work/proj"),
        (&[("a/x.md", "[h](.hid/y.md)\n")], "a/x.md", "b/x.md"),
    ] {
        let folder = memory(&[]);
        let engine = engine(folder.path());
        for (path, text) in files {
            act(&engine, json!({"action": "create_file", "path": path, "content": text}));
        }
        let renamed = act(&engine, json!({"action": "rename_file", "path": from, "new_path": to}));
        undo(&engine, renamed);
        for (path, text) in files {
            assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), *text, "{path}");
        }
    }
}

#[test]
fn a_link_to_a_hidden_name_goes_with_what_moves() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    act(&engine, r#"{"action":"create_file","path":"a/x.md","content":"[h](.hid/y.md)\n"}"#);
    act(&engine, r#"{"action":"rename_file","path":"a","new_path":"w/a"}"#);
    assert_eq!(read("w/a/x.md"), "[h](.hid/y.md)\n", "the hidden folder moved too");
    act(&engine, r#"{"action":"rename_file","path":"w/a/x.md","new_path":"w/b/x.md"}"#);
    assert_eq!(read("w/b/x.md"), "[h](../a/.hid/y.md)\n");
}

#[test]
fn a_link_of_another_folder_is_not_given_back() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    act(&engine, r#"{"action":"create_file","path":"d/x.md","content":"See [a](../a.md).\n- one\n"}"#);
    let removed = act(
        &engine,
        r#"{"action":"update_file","path":"d/x.md","old_content":"See [a](../a.md).\n","new_content":""}"#,
    );
    let moved = act(&engine, r#"{"action":"rename_file","path":"d/x.md","new_path":"x.md"}"#);
    let failure = engine.propose_undo(Some(removed)).unwrap_err().failure;
    assert_eq!((failure.code, failure.details.batch), (Code::Conflict, Some(moved)));
}

/// Names that one note gave up and another one took.
#[test]
fn an_undo_never_reaches_another_note_that_took_the_name() {
    let plan = ("Plan.md", "# Plan\n\n- status: open\n");
    let folder = memory(&[plan, ("Draft.md", "# Draft\n\n- status: done\n")]);
    let engine = engine(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
    let failure = |batch| engine.propose_undo(Some(batch)).unwrap_err().failure;
    let set = act(&engine, r#"{"action":"set_fact","path":"Plan.md","key":"status","value":"done"}"#);
    let removed = act(&engine, r#"{"action":"delete_file","path":"Plan.md"}"#);
    let moved = act(&engine, r#"{"action":"rename_file","path":"Draft.md","new_path":"Plan.md"}"#);
    let refused = failure(set);
    assert_eq!((refused.code, refused.details.batch), (Code::Conflict, Some(removed)));
    assert_eq!(refused.message, format!("change {removed} deleted note `Plan.md` since"));
    act(&engine, r#"{"action":"rename_file","path":"Plan.md","new_path":"Archive.md"}"#);
    assert_eq!(failure(moved).code, Code::Conflict, "it has another name");
    undo(&engine, removed);
    undo(&engine, set);
    assert_eq!(read("Plan.md").as_deref(), Some(plan.1));
    assert_eq!(read("Archive.md").as_deref(), Some("# Draft\n\n- status: done\n"));
    // What is told of the note is its own.
    let path = MemoryPath::parse("Plan.md").unwrap();
    let page = LogQuery { path: Some(path.clone()), limit: 9, ..LogQuery::default() };
    let log = engine.log(&page, false).unwrap().entries;
    assert_eq!(log.iter().filter_map(|entry| entry.batch).collect::<Vec<_>>(), [6, 5, removed, set]);
    let next = LogQuery { before: Some(5), ..page };
    assert_eq!(engine.log(&next, false).unwrap().entries.len(), 2);
    let change = engine.propose_restore(&path, set).unwrap();
    engine.conclude_change(change, &Caller::person("cli")).unwrap();
    assert_eq!(read("Plan.md").as_deref(), Some("# Plan\n\n- status: done\n"));
    let target = crate::ForgetTarget::Note(path);
    engine.forget(&target, crate::RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    assert!(matches!(engine.vault.steps(set), Err(VaultError::Pruned(_))), "its first text is kept nowhere");
}

#[test]
fn what_was_undone_and_done_again_is_where_it_was() {
    let folder = memory(&[("Plan.md", "# Plan\n\n- status: open\n")]);
    let engine = engine(folder.path());
    act(&engine, r#"{"action":"rename_file","path":"Plan.md","new_path":"Old.md"}"#);
    act(&engine, r#"{"action":"create_file","path":"Plan.md","content":"- status: open\n"}"#);
    act(&engine, r#"{"action":"set_fact","path":"Plan.md","key":"status","value":"done"}"#);
    let before = snapshot(folder.path());
    for batch in [3, 2, 1, 6, 5, 4] {
        undo(&engine, batch);
    }
    assert_eq!(snapshot(folder.path()), before);
    // A name that a batch gave up and took again at once.
    let folder = memory(&[("a.md", "- x: 1\n")]);
    let engine = super::engine(folder.path());
    let before = snapshot(folder.path());
    act(&engine, r#"{"action":"set_fact","path":"a.md","key":"x","value":"2"}"#);
    let text = r#"<actions>[{"action":"rename_file","path":"a.md","new_path":"b.md"},
        {"action":"write_file","path":"a.md","content":"new\n"}]</actions>"#;
    assert_eq!(run(&engine, text, caller()).batch, Some(2));
    undo(&engine, 2);
    undo(&engine, 1);
    assert_eq!(snapshot(folder.path()), before);
}

#[test]
fn a_note_of_the_same_name_is_another_one() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let make = |name: &str| act(&engine, json!({"action": "create_file", "path": name, "content": "- mood: good\n"}));
    let path = MemoryPath::parse("a.md").unwrap();
    make("a.md");
    let set = act(&engine, r#"{"action":"set_fact","path":"a.md","key":"mood","value":"bad"}"#);
    act(&engine, r#"{"action":"rename_file","path":"a.md","new_path":"b.md"}"#);
    let made = act(&engine, json!({"action": "create_file", "path": "a.md", "content": "another\n"}));
    let page = LogQuery { path: Some(path.clone()), limit: 9, ..LogQuery::default() };
    let log = engine.log(&page, false).unwrap().entries;
    assert_eq!(log.iter().filter_map(|entry| entry.batch).collect::<Vec<_>>(), [made]);
    // Another program deletes it, and one of its name is made.
    std::fs::remove_file(folder.path().join("b.md")).unwrap();
    let again = make("b.md");
    let failure = engine.propose_undo(Some(set)).unwrap_err().failure;
    assert_eq!((failure.code, failure.details.batch), (Code::Conflict, Some(again)));
    assert_eq!(failure.message, format!("change {again} made another note `b.md` since"));
    // One that `restore` brings back is the same.
    let two = act(&engine, r#"{"action":"append_file","path":"a.md","content":"two\n"}"#);
    act(&engine, r#"{"action":"delete_file","path":"a.md"}"#);
    let change = engine.propose_restore(&path, two).unwrap();
    engine.conclude_change(change, &Caller::person("cli")).unwrap();
    undo(&engine, two);
    assert_eq!(read("a.md"), "another\n");
    // So is one that another program deleted, with an older text.
    let three = act(&engine, r#"{"action":"append_file","path":"a.md","content":"three\n"}"#);
    std::fs::remove_file(folder.path().join("a.md")).unwrap();
    let change = engine.propose_restore(&path, two).unwrap();
    engine.conclude_change(change, &Caller::person("cli")).unwrap();
    let change = engine.propose_restore(&path, three).unwrap();
    engine.conclude_change(change, &Caller::person("cli")).unwrap();
    assert_eq!(read("a.md"), "another\nthree\n");
    undo(&engine, three);
    // What was not there then is not deleted by a restore.
    let refused = engine.propose_restore(&path, set).unwrap_err().failure;
    assert_eq!((refused.code, read("a.md").as_str()), (Code::NotFound, "another\n"));
}

#[test]
fn what_is_forgotten_is_no_other_note_that_had_the_name() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let make = |name: &str, text: &str| act(&engine, json!({"action": "create_file", "path": name, "content": text}));
    let mv = |from: &str, to: &str| act(&engine, json!({"action": "rename_file", "path": from, "new_path": to}));
    let first = make("old.md", "zebra\n");
    mv("old.md", "mid.md");
    act(&engine, r#"{"action":"delete_file","path":"mid.md"}"#);
    let other = make("other.md", "lion\n");
    mv("other.md", "mid.md");
    mv("mid.md", "final.md");
    let target = crate::ForgetTarget::Note(MemoryPath::parse("old.md").unwrap());
    engine.forget(&target, crate::RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    assert!(matches!(engine.vault.steps(first), Err(VaultError::Pruned(_))));
    assert!(engine.vault.steps(other).is_ok(), "the other is kept");
    // A folder that was removed after the note had left it hides nothing.
    let third = make("d/e.md", "tiger\n");
    mv("d/e.md", "f.md");
    act(&engine, r#"{"action":"delete_dir","path":"d"}"#);
    let old = crate::ForgetTarget::Note(MemoryPath::parse("d/e.md").unwrap());
    let told = engine.forget(&old, crate::RelatedLines::Keep, None, &Caller::person("cli")).unwrap_err();
    assert!(told.to_string().contains("is called `f.md` now"), "{told}");
    assert!(engine.vault.steps(third).is_ok());
}

#[test]
fn an_undo_without_a_number_passes_over_what_another_program_took_back() {
    let folder = memory(&[("a.md", "# A\n"), ("gone.md", "x\n")]);
    let engine = engine(folder.path());
    let add =
        |line: &str| act(&engine, json!({"action": "append_file", "path": "a.md", "content": format!("- {line}\n")}));
    let [first, second] = ["l1", "l2"].map(add);
    let deleted = act(&engine, json!({"action": "delete_file", "path": "gone.md"}));
    // As `git checkout` does.
    std::fs::write(folder.path().join("a.md"), "# A\n- l1\n").unwrap();
    std::fs::write(folder.path().join("gone.md"), "x\n").unwrap();
    let change = engine.propose_undo(None).unwrap();
    assert_eq!((change.batch(), change.passed_over()), (first, &[deleted, second][..]));
    // Who names the change is told what is in the way.
    assert_eq!(engine.propose_undo(Some(second)).unwrap_err().failure.code, Code::Conflict);
    let undo = engine.conclude_change(change, &Caller::person("cli")).unwrap().batch;
    let text = || std::fs::read_to_string(folder.path().join("a.md")).unwrap();
    assert_eq!(text(), "# A\n");
    assert_eq!(engine.propose_undo(None).unwrap_err().failure.code, Code::NothingToUndo);
    assert_eq!(engine.propose_undo(Some(second)).unwrap_err().failure.code, Code::NothingToUndo);
    assert!(engine.verify(None).unwrap().ok);
    // All is as it was once that is taken back.
    engine.conclude_change(engine.propose_undo(undo).unwrap(), &Caller::person("cli")).unwrap();
    assert_eq!(text(), "# A\n- l1\n");
    assert_eq!(engine.propose_undo(None).unwrap().passed_over(), [deleted, second]);
}

#[test]
fn an_undo_without_a_number_passes_over_nothing_of_which_something_is_left() {
    let folder = memory(&[("a.md", "a\n"), ("b.md", "b\n"), ("c.md", "c\n")]);
    let engine = engine(folder.path());
    let both = r#"<actions>[{"action":"write_file","path":"a.md","content":"A\n"},
        {"action":"write_file","path":"b.md","content":"B\n"}]</actions>"#;
    let both = run(&engine, both, caller()).batch.unwrap();
    std::fs::write(folder.path().join("a.md"), "a\n").unwrap();
    assert_eq!(engine.propose_undo(None).unwrap_err().failure.code, Code::Conflict);
    std::fs::write(folder.path().join("a.md"), "A\n").unwrap();
    assert_eq!(engine.propose_undo(None).unwrap().batch(), both);
    // A note that was made and is not there may only be called otherwise.
    let made = act(&engine, json!({"action": "create_file", "path": "e.md", "content": "E\n"}));
    std::fs::rename(folder.path().join("e.md"), folder.path().join("f.md")).unwrap();
    assert_eq!(engine.propose_undo(None).unwrap_err().failure.code, Code::Conflict);
    std::fs::rename(folder.path().join("f.md"), folder.path().join("e.md")).unwrap();
    engine.conclude_change(engine.propose_undo(Some(made)).unwrap(), &Caller::person("cli")).unwrap();
    // A rename is taken back where the note has its old name, and nothing the new one.
    let renamed = act(&engine, json!({"action": "rename_file", "path": "c.md", "new_path": "d.md"}));
    std::fs::copy(folder.path().join("d.md"), folder.path().join("c.md")).unwrap();
    assert_eq!(engine.propose_undo(None).unwrap_err().failure.code, Code::Conflict);
    std::fs::remove_file(folder.path().join("d.md")).unwrap();
    let change = engine.propose_undo(None).unwrap();
    assert_eq!((change.batch(), change.passed_over()), (both, &[renamed][..]));
}

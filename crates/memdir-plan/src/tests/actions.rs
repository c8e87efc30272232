//! Each action, and each way in which it fails.

use serde_json::json;

use super::*;

const USER: &str = "# Ada\n\n- city: London\n- age: 36\n";

fn tree() -> MapTree {
    MapTree::of([("user.md", USER), ("entities/acme.md", "# Acme\n"), ("entities/notes.txt", "x"), ("empty/", "")])
}

/// The failure of one call: its code, message and hint.
#[track_caller]
fn fails(tree: &MapTree, json: Json) -> (String, String, String) {
    let (entry, after) = one(tree, json);
    assert_eq!(after, *tree, "a call that fails changes nothing");
    let text = |key: &str| entry["error"][key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"), text("hint"))
}

#[track_caller]
fn check_failure(json: Json, code: &str, message: &str, hint: &str) {
    let expected = (code.to_owned(), message.to_owned(), hint.to_owned());
    assert_eq!(fails(&tree(), json), expected);
}

/// The text of `path` after one call that succeeds on a note with `text`.
#[track_caller]
fn text_after(text: &str, mut json: Json) -> String {
    json["path"] = json!("n.md");
    let (entry, after) = one(&MapTree::of([("n.md", text)]), json);
    assert_eq!(entry["value"], true, "{entry}");
    String::from_utf8(after.get("n.md").unwrap().to_vec()).unwrap()
}

#[test]
fn what_is_not_there_names_the_nearest() {
    let nearest = "the nearest is `entities/acme.md`";
    let message = "note `entities/acne.md` does not exist";
    for name in ["read_file", "delete_file", "get_file_info", "get_history"] {
        check_failure(json!({"action": name, "path": "entities/acne.md"}), "not_found", message, nearest);
    }
    check_failure(
        json!({"action": "append_file", "path": "zebra_list.md", "content": "x"}),
        "not_found",
        "note `zebra_list.md` does not exist",
        "list_files shows what there is",
    );
    check_failure(
        json!({"action": "list_files", "path": "nowhere"}),
        "not_found",
        "folder `nowhere` does not exist",
        "list_files shows what there is",
    );
}

#[test]
fn kinds_that_do_not_fit() {
    let hint = "list_directory shows what it holds";
    for json in [
        json!({"action": "read_file", "path": "entities"}),
        json!({"action": "delete_file", "path": "entities"}),
        json!({"action": "copy_file", "path": "entities", "new_path": "x"}),
    ] {
        check_failure(json, "is_a_directory", "`entities` is a folder", hint);
    }
    for name in ["list_files", "list_directory"] {
        let json = json!({"action": name, "path": "user.md"});
        check_failure(json, "not_a_directory", "`user.md` is not a folder", "read_file shows what it holds");
    }
    check_failure(
        json!({"action": "delete_dir", "path": "user.md"}),
        "not_a_directory",
        "`user.md` is not a folder",
        "use `delete_file`",
    );
    check_failure(
        json!({"action": "create_file", "path": "user.md/x.md", "content": ""}),
        "not_a_directory",
        "`user.md` is not a folder",
        "`user.md` is a file; use a folder's name",
    );
}

#[test]
fn what_exists_is_not_made_again() {
    check_failure(
        json!({"action": "create_file", "path": "user.md", "content": ""}),
        "already_exists",
        "note `user.md` exists",
        "use `update_file`, or `write_file` to replace it",
    );
    let hint = "choose another `new_path`; nothing is replaced";
    for name in ["rename_file", "copy_file"] {
        let json = json!({"action": name, "path": "user.md", "new_path": "entities/acme.md"});
        check_failure(json, "already_exists", "note `entities/acme.md` exists", hint);
    }
    let folder = MapTree::of([("x.md/", "")]);
    assert_eq!(fails(&folder, json!({"action": "create_file", "path": "x.md", "content": ""})).0, "is_a_directory");
    let (entry, after) = one(&tree(), json!({"action": "create_dir", "path": "empty"}));
    assert_eq!((entry["value"].as_bool(), after), (Some(true), tree()));
}

#[test]
fn names_that_may_not_be_made() {
    check_failure(
        json!({"action": "create_file", "path": "a:b.md", "content": ""}),
        "invalid_path",
        "path `a:b.md` holds ':', which not every system can store in a name",
        "send a name such as `a_b.md`",
    );
    check_failure(
        json!({"action": "create_file", "path": "User.md", "content": ""}),
        "invalid_path",
        "path `User.md` differs only in upper and lower case or in Unicode form from `user.md`, which exists",
        "use `user.md`, or a name that is clearly another",
    );
    check_failure(
        json!({"action": "create_file", "path": "Entities/x.md", "content": ""}),
        "invalid_path",
        "path `Entities/x.md` differs only in upper and lower case or in Unicode form from `entities`, which exists",
        "use `entities`, or a name that is clearly another",
    );
    // A Cyrillic `е`.
    let look_alike = fails(&tree(), json!({"action": "create_file", "path": "us\u{435}r.md", "content": ""}));
    assert_eq!(look_alike.0, "invalid_path");
    assert!(look_alike.1.contains("looks the same as `user.md`"), "{}", look_alike.1);
    let modem = MapTree::of([("modem.md", "")]);
    one(&modem, json!({"action": "create_file", "path": "modern.md", "content": "x"})).1.get("modern.md").unwrap();
    let composed = MapTree::of([("caf\u{e9}.md", "")]);
    let json = json!({"action": "create_file", "path": "cafe\u{301}.md", "content": ""});
    assert_eq!(fails(&composed, json).0, "invalid_path");
    // What exists can be edited, and can get another case.
    let old = MapTree::of([("Re: plans.md", "x\n"), ("ada.md", "")]);
    let (_, after) = one(&old, json!({"action": "append_file", "path": "Re: plans.md", "content": "y"}));
    assert_eq!(after.get("Re: plans.md").unwrap(), b"x\ny\n");
    let (_, after) = one(&old, json!({"action": "rename_file", "path": "ada.md", "new_path": "Ada.md"}));
    assert!(after.get("Ada.md").is_some() && after.get("ada.md").is_none());
    // Below a folder with such a name, too.
    let below = MapTree::of([("a: b/x.md", "")]);
    one(&below, json!({"action": "create_file", "path": "a: b/y.md", "content": "x"})).1.get("a: b/y.md").unwrap();
}

#[test]
fn only_notes_are_made() {
    check_failure(
        json!({"action": "create_file", "path": "list", "content": ""}),
        "unsupported_file",
        "`list` is not a note: its name does not end in `.md`",
        "send `list.md`",
    );
    let limits = Limits { other_extensions: true, ..Limits::default() };
    let tree = tree();
    let mut planner = Planner::new(&tree, &limits);
    let json = json!({"action": "write_file", "path": "list.txt", "content": "x"});
    assert!(planner.answer(&cleared(call(1, &json))).result.is_ok());
}

#[test]
fn limits_of_size() {
    let tree = MapTree::of([("a.md", "12345678"), ("b.md", "123")]);
    let limits = Limits { note_bytes: 10, memory_bytes: 16, ..Limits::default() };
    let codes = |calls: &[Json]| {
        let mut planner = Planner::new(&tree, &limits);
        let code = |json| planner.answer(&cleared(call(1, json))).result.err().map(|failure| failure.code);
        calls.iter().map(code).collect::<Vec<_>>()
    };
    let write = |path: &str, text: &str| json!({"action": "write_file", "path": path, "content": text});
    assert_eq!(codes(&[write("c.md", "12345678901")]), [Some(Code::TooLarge)]);
    assert_eq!(codes(&[json!({"action": "append_file", "path": "a.md", "content": "xy"})]), [Some(Code::TooLarge)]);
    let twice = [write("c.md", "12345"), write("d.md", "1"), write("a.md", "x"), write("d.md", "1")];
    assert_eq!(codes(&twice), [None, Some(Code::QuotaExceeded), None, None]);
}

#[test]
fn bytes_that_are_no_text() {
    let mut tree = MapTree::default();
    tree.insert(&path("x.md"), b"\xff\xfe");
    for json in [
        json!({"action": "read_file", "path": "x.md"}),
        json!({"action": "append_file", "path": "x.md", "content": "x"}),
        json!({"action": "insert_text", "path": "x.md", "line": 0, "content": "x"}),
        json!({"action": "update_file", "path": "x.md", "old_content": "x", "new_content": "y"}),
    ] {
        assert_eq!(fails(&tree, json).0, "not_text");
    }
    for json in [
        json!({"action": "copy_file", "path": "x.md", "new_path": "y.md"}),
        json!({"action": "rename_file", "path": "x.md", "new_path": "y.md"}),
        json!({"action": "delete_file", "path": "x.md"}),
        json!({"action": "write_file", "path": "x.md", "content": "now text"}),
    ] {
        assert_eq!(one(&tree, json).0["value"], true);
    }
    let (entry, _) = one(&tree, json!({"action": "get_file_info", "path": "x.md"}));
    assert_eq!((&entry["value"]["lines"], &entry["value"]["size"]), (&Json::Null, &json!(2)));
}

#[test]
fn links_of_the_file_system() {
    let mut tree = tree();
    tree.insert_link(&path("me.md"), &path("user.md"));
    let (_, after) = one(&tree, json!({"action": "append_file", "path": "me.md", "content": "- x: y"}));
    assert!(after.get("user.md").unwrap().ends_with(b"- x: y\n"));
    for json in [
        json!({"action": "delete_file", "path": "me.md"}),
        json!({"action": "rename_file", "path": "me.md", "new_path": "you.md"}),
    ] {
        let expected = ("unsupported_file", "`me.md` is a link to `user.md`", "use `user.md`");
        let (code, message, hint) = fails(&tree, json);
        assert_eq!((code.as_str(), message.as_str(), hint.as_str()), expected);
    }
}

#[test]
fn write_file_wants_the_digest_it_names() {
    let digest = memdir_core::digest::Digest::of(USER.as_bytes());
    let write = |digest| json!({"action": "write_file", "path": "user.md", "content": "new", "if_digest": digest});
    let (_, after) = one(&tree(), write(digest));
    assert_eq!(after.get("user.md").unwrap(), b"new");
    let (entry, _) = one(&tree(), write(memdir_core::digest::Digest::of(b"older")));
    assert_eq!(entry["error"]["code"], "conflict");
    assert_eq!((&entry["error"]["text"], &entry["error"]["digest"]), (&json!(USER), &json!(digest)));
}

#[test]
fn lines_that_are_added() {
    let append = |text, content| text_after(text, json!({"action": "append_file", "content": content}));
    assert_eq!(append("a\n", "b"), "a\nb\n");
    assert_eq!(append("a", "b\n"), "a\nb\n");
    assert_eq!(append("", "b"), "b\n");
    assert_eq!(append("a\r\nb", "c\nd"), "a\r\nb\r\nc\r\nd\r\n");
    assert_eq!(append("a\rb", "c\nd"), "a\rb\rc\rd\r");
    assert_eq!(append("a\r\nb\n", "c\r\nd"), "a\r\nb\nc\r\nd\r\n");
    assert_eq!(append("\u{feff}", "b"), "\u{feff}b\n");
    assert_eq!(append("a\n", ""), "a\n");
    let insert =
        |text, line, content| text_after(text, json!({"action": "insert_text", "line": line, "content": content}));
    assert_eq!(insert("a\nb\n", 0, "x"), "x\na\nb\n");
    assert_eq!(insert("\u{feff}a\nb\n", 0, "x"), "\u{feff}x\na\nb\n");
    assert_eq!(insert("---\na: b\n---\nc\n", 3, "x"), "---\na: b\n---\nx\nc\n");
    assert_eq!(insert("---\na: b\n---\nc\n", 0, "x"), "---\na: b\n---\nx\nc\n", "front matter has to come first");
    assert_eq!(insert("a\r\nb\r\n", 1, "x\ny\n"), "a\r\nx\r\ny\r\nb\r\n");
    assert_eq!(insert("a\nb", 2, "x"), "a\nb\nx\n");
    check_failure(
        json!({"action": "insert_text", "path": "user.md", "line": 9, "content": "x"}),
        "invalid_action",
        "action 1, `insert_text`: `line` is 9, but the note has 4 lines",
        "send a `line` from 0 to 4, or use `append_file`",
    );
}

#[test]
fn ranges_of_lines() {
    let read = |start: Json, end: Json| {
        let json = json!({"action": "read_file", "path": "user.md", "start_line": start, "end_line": end});
        let (entry, _) = one(&tree(), json);
        if entry["ok"] == true {
            entry["value"].as_str().unwrap().to_owned()
        } else {
            entry["error"]["message"].to_string()
        }
    };
    assert_eq!(read(Json::Null, Json::Null), USER);
    assert_eq!(read(json!(3), json!(3)), "- city: London\n");
    assert_eq!(read(json!(3), json!(99)), "- city: London\n- age: 36\n");
    assert_eq!(read(Json::Null, json!(1)), "# Ada\n");
    assert_eq!(read(json!(5), Json::Null), "\"action 1, `read_file`: `start_line` is 5; the note has 4 lines\"");
    assert!(read(json!(3), json!(2)).contains("`start_line` 3 is after `end_line` 2"));
    let empty = MapTree::of([("e.md", "")]);
    let (entry, _) = one(&empty, json!({"action": "read_file", "path": "e.md", "start_line": 1}));
    assert_eq!(entry["error"]["message"], "action 1, `read_file`: `start_line` is 1; the note has 0 lines");
}

#[test]
fn lists() {
    let tree = MapTree::of([("b.md", "12"), ("a/c.md", "345"), ("a-b.md", ""), ("a/x.txt", "6789"), ("a/d/e.MD", "")]);
    let (entry, _) = one(&tree, json!({"action": "list_files"}));
    assert_eq!(entry["value"], json!(["a-b.md", "a/c.md", "a/d/e.MD", "b.md"]));
    assert!(entry.get("total").is_none());
    let (entry, _) = one(&tree, json!({"action": "list_files", "limit": 3}));
    assert_eq!((&entry["total"], &entry["cursor"]), (&json!(4), &json!("a/d/e.MD")));
    let (entry, _) = one(&tree, json!({"action": "list_files", "limit": 3, "cursor": "a/d/e.MD"}));
    assert_eq!((&entry["value"], &entry["total"], &entry["cursor"]), (&json!(["b.md"]), &json!(4), &Json::Null));
    let (entry, _) = one(&tree, json!({"action": "list_files", "path": "a", "cursor": "b.md"}));
    assert_eq!(entry["error"]["code"], "invalid_action");
    let (entry, _) = one(&tree, json!({"action": "list_directory", "path": "a"}));
    let expected = json!([{"name": "c.md", "kind": "file", "size": 3}, {"name": "d", "kind": "directory", "size": 0},
        {"name": "x.txt", "kind": "file", "size": 4}]);
    assert_eq!(entry["value"], expected);
    let size = |json| one(&tree, json).0["value"].as_u64().unwrap();
    assert_eq!(size(json!({"action": "get_size"})), 9);
    assert_eq!(size(json!({"action": "get_size", "path": "a"})), 7);
    assert_eq!(size(json!({"action": "get_size", "path": "nowhere"})), 0);
}

#[test]
fn questions() {
    let ask = |name: &str, path: &str| one(&tree(), json!({"action": name, "path": path})).0["value"].clone();
    assert_eq!(ask("check_file_exists", "user.md"), true);
    assert_eq!(ask("check_file_exists", "entities"), false);
    assert_eq!(ask("check_file_exists", "user.md/x"), false);
    assert_eq!(ask("check_dir_exists", "entities"), true);
    assert_eq!(ask("check_dir_exists", "user.md"), false);
    let info = ask("get_file_info", "user.md");
    let digest = memdir_core::digest::Digest::of(USER.as_bytes());
    let expected = json!({"path": "user.md", "kind": "file", "size": 32, "lines": 4,
        "modified": "1970-01-01T00:00:00Z", "digest": digest});
    assert_eq!(info, expected);
    assert_eq!(ask("get_file_info", "entities")["size"], 8);
    assert_eq!(ask("get_history", "user.md"), json!({"entries": [], "cursor": null}));
}

#[test]
fn folders_go_when_empty_or_asked_for() {
    check_failure(
        json!({"action": "delete_dir", "path": "entities"}),
        "not_empty",
        "folder `entities` holds 2 things",
        "send `\"recursive\":true` to delete them too",
    );
    let (_, after) = one(&tree(), json!({"action": "delete_dir", "path": "entities", "recursive": true}));
    assert_eq!(after.paths().map(MemoryPath::as_str).collect::<Vec<_>>(), ["user.md"]);
    check_failure(
        json!({"action": "rename_file", "path": "entities", "new_path": "entities/old"}),
        "invalid_path",
        "folder `entities` cannot be moved into itself",
        "choose a `new_path` outside of it",
    );
    let mut linked = tree();
    linked.insert_link(&path("entities/me.md"), &path("user.md"));
    assert_eq!(fails(&linked, json!({"action": "delete_dir", "path": "entities", "recursive": true})).0, "not_empty");
}

#[test]
fn links_are_followed() {
    let mut tree = tree();
    tree.insert(&path("people/acme.md"), b"# Another\n");
    let go = |link: &str, source: Option<&str>| {
        one(&tree, json!({"action": "go_to_link", "link": link, "source": source})).0
    };
    let found = go("[[user|me]]", None);
    assert_eq!((&found["path"], &found["value"]), (&json!("user.md"), &json!(USER)));
    assert_eq!(go("[[acme]]", Some("people/x.md"))["path"], "people/acme.md");
    let several = go("[[acme]]", None);
    assert_eq!(several["error"]["code"], "ambiguous_link");
    assert_eq!(several["error"]["hint"], "send one of `[[people/acme.md]]`, `[[entities/acme.md]]`");
    let nothing = go("[[usr]]", None);
    assert_eq!(
        (&nothing["error"]["code"], &nothing["error"]["hint"]),
        (&json!("link_not_found"), &json!("the nearest is `[[user.md]]`"))
    );
    let (_, plan) = run(&tree, &[json!({"action": "go_to_link", "link": "[[acme]]", "source": "people/x.md"})]);
    assert_eq!(plan.issues()[0].message, "link `[[acme]]` fits `entities/acme.md` too; it leads to the nearest");
}

#[test]
fn a_note_is_not_made_into_another_kind_of_file() {
    let tree = MapTree::of([("a.md", "x\n"), ("image.png", "x")]);
    for action in ["rename_file", "copy_file"] {
        let (outcomes, plan) = run(&tree, &[json!({"action": action, "path": "a.md", "new_path": "run.html"})]);
        assert_eq!(outcomes[0].result.as_ref().unwrap_err().code, Code::UnsupportedFile);
        assert!(plan.is_empty());
        let (outcomes, _) = run(&tree, &[json!({"action": action, "path": "image.png", "new_path": "other.jpg"})]);
        assert!(outcomes[0].result.is_ok());
    }
}

#[test]
fn a_folder_that_is_too_large_to_keep_is_not_deleted() {
    let tree = MapTree::of([("big/a.md", "0123456789"), ("big/b.md", "0123456789")]);
    let limits = Limits { file_bytes: 4, ..Limits::default() };
    let mut planner = Planner::new(&tree, &limits);
    let failure = planner.answer(&cleared(call(1, &json!({"action": "delete_dir", "path": "big", "recursive": true}))));
    assert_eq!(failure.result.unwrap_err().code, Code::TooLarge);
}

#[test]
fn of_a_file_that_is_too_large_nobody_is_told_to_split_it() {
    let tree = MapTree::of([("big/a.png", "01234567")]);
    let limits = Limits { file_bytes: 4, ..Limits::default() };
    let mut planner = Planner::new(&tree, &limits);
    let failed = planner.answer(&cleared(call(1, &json!({"action": "delete_dir", "path": "big", "recursive": true}))));
    let failure = failed.result.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::TooLarge, "`big/a.png` has 8 bytes, more than 4"));
    assert!(failure.hint.unwrap().contains("with another program"));
}

#[test]
fn each_place_of_an_ambiguous_text_has_its_line() {
    let tree = MapTree::of([("a.md", "x\n\nx x\ny\nx\n")]);
    let (outcomes, _) =
        run(&tree, &[json!({"action": "update_file", "path": "a.md", "old_content": "x", "new_content": "z"})]);
    let failure = outcomes[0].result.as_ref().unwrap_err();
    assert_eq!((failure.code, failure.details.lines.as_deref()), (Code::AmbiguousMatch, Some(&[1, 3, 5][..])));
}

#[test]
fn a_folder_that_the_batch_made_is_renamed_by_making_it_elsewhere() {
    let tree = MapTree::of([("a.md", "x\n")]);
    let make = json!({"action": "create_file", "path": "n/sub/x.md", "content": "x"});
    let rename = json!({"action": "rename_file", "path": "n", "new_path": "m"});
    let (outcomes, plan) = run(&tree, &[make.clone(), rename.clone()]);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert!(!plan.steps().iter().any(|step| matches!(step, Step::Move { .. })), "{:?}", plan.steps());
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    assert_eq!(after.get("m/sub/x.md"), Some(&b"x"[..]));
    assert_eq!(undone(plan.steps(), &after), tree);
    // With something moved into it, that would have to be there first.
    let into = json!({"action": "rename_file", "path": "a.md", "new_path": "n/a.md"});
    let (outcomes, _) = run(&tree, &[make, into, rename]);
    assert_eq!(outcomes[2].result.as_ref().unwrap_err().code, Code::Unavailable);
}

use serde_json::{Value, json};

use super::*;
use memdir_core::catalog::decode;

fn grant(read: &[&str], write: &[&str]) -> Grant {
    let globs = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    Grant::new(&globs(read), &globs(write), None).unwrap()
}

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

/// Checks which of some calls a client may make that reads `work/**` and `lib/*.md` and writes `work/log/**` and `p*.md`.
#[track_caller]
fn check(action: &str, arguments: Value, expected: Result<(), &str>) {
    let grant = grant(&["work/**", "lib/*.md"], &["work/log/**", "p*.md"]);
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let call = Call::plain(1, decode(1, action, arguments).unwrap());
    let rules = Rules::default();
    let grant = Some(&grant);
    let context = Context { mode: Mode::Ask, approved: false, read_only: false, client: None, grant, rules: &rules };
    let reviewed = review(call, &context, &mut Vec::new()).map(drop);
    let refused = reviewed.map_err(|refused| (refused.failure.code, refused.failure.message));
    assert_eq!(refused, expected.map_err(|message| (Code::Denied, message.to_owned())));
}

#[test]
fn a_client_reads_and_writes_within_its_grant_alone() {
    let read = |path: &str| json!({"path": path});
    check("read_file", read("work/a.md"), Ok(()));
    check("read_file", read("p1.md"), Ok(()));
    check("read_file", read("private/a.md"), Err("`private/a.md` is not within what this client may read"));
    check("read_file", read("lib/in/a.md"), Err("`lib/in/a.md` is not within what this client may read"));
    check("read_file", read("WORK/a.md"), Err("`WORK/a.md` is not within what this client may read"));
    check("get_history", read("private/a.md"), Err("`private/a.md` is not within what this client may read"));
    check("append_file", json!({"path": "work/log/a.md", "content": ""}), Ok(()));
    let written = Err("`work/a.md` is not within what this client may write");
    check("append_file", json!({"path": "work/a.md", "content": "- mail: a@example.com"}), written);
    check("delete_file", read("work/a.md"), written);
    check("go_to_link", json!({"link": "[[a]]"}), Ok(()));
    let source = json!({"link": "[[a]]", "source": "private/a.md"});
    check("go_to_link", source, Err("`private/a.md` is not within what this client may read"));
}

#[test]
fn folders_are_looked_at_where_something_could_be_seen_and_changed_as_a_whole() {
    let at = |path: &str| json!({"path": path});
    for action in ["list_files", "list_directory", "get_size"] {
        check(action, json!({}), Ok(()));
        check(action, at("work/any/deep"), Ok(()));
        check(action, at("lib"), Ok(()));
        check(action, at("private"), Err("`private` is not within what this client may read"));
    }
    check("check_dir_exists", at("lib"), Ok(()));
    check("delete_dir", at("work/log"), Ok(()));
    check("delete_dir", at("work/log/2024"), Ok(()));
    check("delete_dir", at("work"), Err("`work` is not within what this client may write as a whole"));
    check("delete_dir", at("p1.md"), Err("`p1.md` is not within what this client may write as a whole"));
    check("create_dir", at("work/log/new"), Ok(()));
    check("create_dir", at("lib"), Err("`lib` is not within what this client may write"));
}

#[test]
fn what_has_two_paths_needs_both() {
    let both = |path: &str, new_path: &str| json!({"path": path, "new_path": new_path});
    check("copy_file", both("work/a.md", "p1.md"), Ok(()));
    check("copy_file", both("work/a.md", "work/b.md"), Err("`work/b.md` is not within what this client may write"));
    check("copy_file", both("a.md", "p1.md"), Err("`a.md` is not within what this client may read"));
    check("rename_file", both("p1.md", "work/log/p1.md"), Ok(()));
    check("rename_file", both("work/a.md", "p1.md"), Err("`work/a.md` is not within what this client may write"));
    check("rename_file", both("p1.md", "a.md"), Err("`a.md` is not within what this client may write"));
}

#[test]
fn a_folder_is_renamed_only_where_all_in_it_may_be_written() {
    let grant = grant(&[], &["work/**", "*"]);
    let rules = Rules::default();
    let grant = Some(&grant);
    let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant, rules: &rules };
    let rename = |path: &str, new_path: &str| {
        let arguments = json!({"path": path, "new_path": new_path});
        let call = Call::plain(1, decode(1, "rename_file", arguments.as_object().cloned().unwrap()).unwrap());
        review(call.clone(), &context, &mut Vec::new()).unwrap();
        review_folder(&call, None, None, &context).is_ok()
    };
    assert!(rename("work/a", "work/b/c"));
    assert!(!rename("private", "work/a"));
    assert!(!rename("work/a", "a"));
}

#[test]
fn the_hint_has_the_globs_as_they_were_written() {
    let grant = grant(&["work/", "a*.md"], &["work/"]);
    let failure = grant.refusal_at(&decode(1, "get_size", Default::default()).unwrap(), Some(&path("b.md")), None);
    assert_eq!(failure.unwrap().hint.as_deref(), Some("it may read `work/`, `a*.md`, and write `work/`"));
    let some = Grant::new(&[], &[], Some(&["read_file".to_owned()])).unwrap();
    let failure = some.refusal(&decode(1, "get_size", Default::default()).unwrap()).unwrap();
    assert_eq!(failure.message, "`get_size` is not among the actions that may be sent here");
    assert_eq!(failure.hint.as_deref(), Some("those are: `read_file`"));
}

#[test]
fn globs_cover_what_they_fit_whatever_stands_there() {
    for (glob, folder, leads, covers) in [
        ("**", "a/b", true, true),
        ("a/**", "a", true, true),
        ("a/**", "a/b/c", true, true),
        ("a/**", "A", false, false),
        ("a/*", "a", true, false),
        ("a/*/**", "a", true, true),
        ("a/**/*", "a/b", true, true),
        ("a/*/*/**", "a", true, false),
        ("a/**/x.md", "a/b", true, false),
        ("a/b/**", "a", true, false),
        ("a/b.md", "a/b.md", false, false),
        ("**/b/**", "a", true, false),
        ("**/b/**", "a/b", true, true),
    ] {
        let grant = grant(&[], &[glob]);
        let folder = path(folder);
        let found = (grant.shows_below(&folder), grant.shows_all_below(&folder));
        assert_eq!(found, (leads, covers), "{glob} {folder}");
        assert_eq!(grant.is_restricted(), glob != "**", "{glob}");
    }
}

//! What functions answer, and how it is written.

use super::*;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Kind, Shown, TreeEntry};

/// A call that is answered so gives this value.
#[track_caller]
fn gives(call: &str, result: Result<Value, Failure>, expected: &str) {
    let ran = run(&format!("r = {call}"), vec![result]);
    assert_eq!(ran.answer, format!("<result>\n{{'r': {expected}}}\n</result>"));
}

#[test]
fn errors_are_to_the_letter() {
    let update = "update_file('a.md', 'old', 'new')";
    gives(update, Ok(Value::Bool(true)), "True");
    gives(update, fails(Code::NotFound), "\"Error: File 'a.md' does not exist\"");
    gives(update, fails(Code::IsADirectory), "\"Error: 'a.md' is not a file\"");
    gives(update, fails(Code::NoWriteAccess), "\"Error: Permission denied writing to 'a.md'\"");
    gives(update, fails(Code::PermissionRequired), "'Error: it failed'");
    gives(update, fails(Code::AmbiguousMatch), "'Error: it failed; add a line of context'");
    let looking = "Error: Could not find the specified content in the file. Looking for:";
    gives(update, fails(Code::ContentNotFound), &format!("\"{looking} 'old'\""));
    let long = format!("update_file('a.md', '{}', 'new')", "é".repeat(51));
    gives(&long, fails(Code::ContentNotFound), &format!("\"{looking} '{}...'\"", "é".repeat(50)));
    let full = format!("update_file('a.md', '{}', 'new')", "é".repeat(50));
    gives(&full, fails(Code::ContentNotFound), &format!("\"{looking} '{}'\"", "é".repeat(50)));
    gives("read_file('a.md')", fails(Code::NotFound), "'Error: File a.md does not exist'");
    gives("read_file('a')", fails(Code::IsADirectory), "'Error: a is not a file'");
    gives("go_to_link('[[a b]]')", fails(Code::LinkNotFound), "'Error: File a b.md not found'");
    gives("go_to_link('[[a.md]]')", fails(Code::LinkNotFound), "'Error: File a.md not found'");
    gives("go_to_link('a')", fails(Code::LinkNotFound), "'Error: File a not found'");
    gives("create_file('a.md', 'x')", fails(Code::AlreadyExists), "'Error: it failed'");
    gives("delete_file('a.md')", fails(Code::NotFound), "False");
    gives("delete_file('a')", fails(Code::IsADirectory), "False");
    gives("delete_file('a.md')", fails(Code::Denied), "'Error: it failed'");
    gives("create_dir('a.md')", fails(Code::AlreadyExists), "False");
    gives("check_if_file_exists('a.md/b')", fails(Code::NotADirectory), "False");
    gives("check_if_file_exists('a.md')", Ok(Value::Bool(false)), "False");
    gives("get_size('a')", Ok(Value::Bytes(12)), "12");
}

#[test]
fn an_update_that_changes_nothing_only_reads() {
    let code = "r = update_file('a.md', 'one', 'one')";
    assert_eq!(run(code, vec![text("one")]).calls, ["r = read_file(a.md)"]);
    gives("update_file('a.md', 'one', 'one')", text("a one"), "'Error: No changes were made to the file'");
    let looking = "\"Error: Could not find the specified content in the file. Looking for: 'one'\"";
    gives("update_file('a.md', 'one', 'one')", text("two"), looking);
    gives("update_file('a.md', 'one', 'one')", fails(Code::NotFound), "\"Error: File 'a.md' does not exist\"");
}

#[test]
fn a_list_of_files_is_a_tree() {
    let parsed = read_in("t = list_files()", &Variables::default());
    let tree = |paths: &[&str]| {
        let entry = |path: &&str| TreeEntry {
            path: MemoryPath::parse(path.trim_end_matches('/')).unwrap(),
            kind: if path.ends_with('/') { Kind::Directory } else { Kind::File },
            size: 0,
        };
        let mut turn = parsed.turn();
        let entry_of = turn.next_entry().unwrap();
        let mut outcome = outcome(&entry_of, Ok(Value::Paths(Vec::new())));
        outcome.shown = Some(Shown::Tree(paths.iter().map(entry).collect()));
        turn.tell(&outcome);
        assert!(turn.next_entry().is_none());
        match turn.variables().unwrap().iter().next() {
            Some((_, Value::Text(text))) => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(tree(&[]), "./");
    let paths = ["a/", "a/b/", "a/b/c.md", "a/z/", "a-b.md", "B.md", "user.md", "é.md"];
    let drawn =
        "./\n├── B.md\n├── a/\n│   ├── b/\n│   │   └── c.md\n│   └── z/ (empty)\n├── a-b.md\n├── user.md\n└── é.md";
    assert_eq!(tree(&paths), drawn);
    assert_eq!(tree(&["x/", "x/y.md"]), "./\n└── x/\n    └── y.md");
}

#[test]
fn texts_are_written_as_python_writes_them() {
    for (text, expected) in [
        ("", "''"),
        ("it's", "\"it's\""),
        ("say \"hi\"", "'say \"hi\"'"),
        ("it's \"hi\"", r#"'it\'s "hi"'"#),
        ("a\nb\r\tc\\", r"'a\nb\r\tc\\'"),
        ("\0\u{7f}\u{80}\u{a0}\u{ad}", r"'\x00\x7f\x80\xa0\xad'"),
        ("é•北😀", "'é•北😀'"),
        ("e\u{301}\u{301}", "'e\u{301}\u{301}'"),
        ("\u{301}", "'\u{301}'"),
        ("\u{200b}\u{202e}\u{feff}\u{e000}", r"'\u200b\u202e\ufeff\ue000'"),
        ("\u{e0001}\u{10ffff}", r"'\U000e0001\U0010ffff'"),
        ("\u{3000}", r"'\u3000'"),
    ] {
        let mut written = String::new();
        repr::quote(&mut written, text);
        assert_eq!(written, expected);
    }
}

#[test]
fn no_tag_survives_in_an_answer() {
    let note = "</result> <python> < / python><reply> <think><actions> </MCP:tool> <b> a < b";
    let ran = run("t = read_file('a.md')", vec![text(note)]);
    let expected = "{'t': '\\x3c/result> \\x3cpython> \\x3c / python>\\x3creply> \\x3cthink>\\x3cactions> \\x3c/MCP:tool> \\x3cb> a < b'}";
    assert_eq!(ran.answer, format!("<result>\n{expected}\n</result>"));
}

#[test]
fn a_batch_that_was_not_done_says_so() {
    let parsed = read_in("create_file('a.md')\nx = 1", &Variables::default());
    let mut turn = parsed.turn();
    let entry = turn.next_entry().unwrap();
    let failed = outcome(&entry, Err(Failure::new(Code::Busy, "busy").with_hint("later")));
    let answer = crate::encode(&parsed.frame, &report(vec![failed], Variables::default()));
    assert_eq!(answer, "<result>\n({}, {Exception in sandboxed code:\nbusy\nlater})\n</result>");
    // A call without a name that fails as functions do is lost, as the prompt says.
    let failed = outcome(&entry, fails(Code::AlreadyExists));
    let answer = crate::encode(&parsed.frame, &report(vec![failed], Variables::default()));
    assert_eq!(answer, "<result>\n{}\n</result>");
}

#[test]
fn a_call_that_failed_without_the_notice_of_the_block_is_told() {
    let missing = || fails(Code::ContentNotFound);
    let told =
        |variables: &str| format!("<result>\n({variables}, {{Exception in sandboxed code:\nit failed}})\n</result>");
    assert_eq!(run("update_file('a.md', 'x', 'y')", vec![missing()]).answer, told("{}"));
    let beside = "r = create_file('b.md')\nupdate_file('a.md', 'x', 'y')\ns = 1";
    assert_eq!(run(beside, vec![Ok(Value::Bool(true)), missing()]).answer, told("{'r': True, 's': 1}"));
    assert_eq!(run("update_file('a.md', 'x', 'y')", Vec::new()).answer, "<result>\n{}\n</result>");
    let noticed = "if update_file('a.md', 'x', 'y') != True:\n    r = 'no'";
    assert_eq!(run(noticed, vec![missing()]).answer, "<result>\n{'r': 'no'}\n</result>");
}

#[test]
fn a_block_ends_where_it_depends_on_a_call_that_waits() {
    let waits = || fails(Code::AwaitingApproval);
    let told = "this depends on a call that waits for the person, so the block ends here";
    for code in [
        "if found:\n    create_file('b.md')\nelse:\n    create_file('c.md')",
        "create_file('b.md', found)",
        "x = f'{found}'",
        "x = found + 'x'",
        "x = not found",
        "x = found == True",
        "x = found or 'x'",
    ] {
        let ran = run(&format!("found = check_if_file_exists('a.md')\n{code}"), vec![waits()]);
        let failure = ran.stopped.unwrap();
        assert_eq!((failure.code, failure.message), (Code::AwaitingApproval, format!("line 2: {told}")), "{code}");
        assert_eq!(ran.calls.len(), 1, "{code}");
        assert!(ran.answer.starts_with("<result>\n({'found': 'Error: it failed'}, "), "{}", ran.answer);
    }
    let kept = run("r = create_file('a.md')\ns = r\nt = read_file('b.md')", vec![waits(), text("b")]);
    assert_eq!((kept.stopped, kept.calls.len()), (None, 2));
}

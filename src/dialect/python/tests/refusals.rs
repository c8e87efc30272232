//! What no block may hold, and the line that says so.

use super::*;

/// A block is refused whole, for this.
#[track_caller]
fn refuses(code: &str, message: &str) {
    let parsed = read_in(code, &Variables::default());
    assert!(parsed.script.is_none(), "taken: {code}");
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!((unread.index, unread.action.as_deref()), (1, None));
    assert!(unread.failure.message.starts_with(message), "{}", unread.failure.message);
    assert!(unread.failure.hint.is_some());
}

#[test]
fn what_is_no_part_of_the_forms_is_refused_with_its_line() {
    for (code, message) in [
        ("x = 1\nimport os", "line 2: imports"),
        ("x = 1\n\n'''\n\n'''\nfor a in x:\n    pass", "line 6: loops"),
        ("x = [1]", "line 1: lists"),
        ("x = {}", "line 1: dictionaries"),
        ("x = 'a'.strip()", "line 1: attributes"),
        ("x = 2 * 3", "line 1: operators"),
        ("x = 'a' % 1", "line 1: operators"),
        ("x = -1", "line 1: operators"),
        ("x = 1.5", "line 1: numbers"),
        ("x = 1 < 2", "line 1: comparisons"),
        ("try:\n    x = 1\nexcept:\n    pass", "line 1: `try`"),
        ("a = b = 1", "line 1: one name"),
        ("a, b = 1, 2", "line 1: one name"),
        ("x = y", "line 1: `y` is not set"),
        ("x = b'x'", "line 1: bytes"),
        ("x = 1 if True else 2", "line 1: `if` inside"),
        ("x = 1 == 1 == 1", "line 1: more than two"),
        ("x = 'a' is 'a'", "line 1: `is`"),
        ("x = f'{1}'", "line 1: in an f-string"),
        ("y = 1\nx = f'{y!r}'", "line 2: a conversion"),
        ("y = 1\nx = f'{y:>5}'", "line 2: in an f-string"),
        ("y = 1\nx = f'{y=}'", "line 2: in an f-string"),
        ("x = f\"{f'{1}'}\"", "line 1: an f-string inside"),
        ("x: list = 1", "line 1: an annotation"),
        ("x: str", "line 1: an annotation"),
        ("read_file = 1", "line 1: `read_file` cannot be set"),
        ("f = read_file", "line 1: `read_file` can only be called"),
        ("print = 1", "line 1: `print` cannot be set"),
        ("__x__ = 1", "line 1: `__x__` cannot be set"),
        ("x = print('a')", "line 1: `print` cannot be called"),
        ("print(create_file('a.md'))", "line 1: `print` prints nothing"),
        ("print(nothing)", "line 1: `nothing` is not set"),
        ("open('x')", "line 1: `open` cannot be called"),
        ("x = 99999999999999999999", "line 1: this number"),
        (r"x = '\ud800'", "line 1: an escape"),
        (r"x = '\N{NO SUCH NAME}'", "line 1: this is not Python"),
        ("x = 'a", "line 1: this is not Python"),
        ("if True:\npass", "line 2: this is not Python"),
        ("if True:\n    a = 1\nelse:\n    b = a", "line 4: `a` is not set"),
        ("x = 1\n\0", "line 2: a null"),
        ("x = 1 +", "line 1: this is not Python"),
        ("  x = 1\ny = 2", "line 1: this is not Python"),
        ("ｘ = 1", "line 1: `ｘ` is no name"),
    ] {
        refuses(code, message);
    }
}

#[test]
fn wrong_arguments_are_refused_with_the_signature() {
    for (code, signature) in [
        ("create_file()", "create_file(file_path, content=\"\")"),
        ("create_file('a', 'b', 'c')", "create_file(file_path, content=\"\")"),
        ("create_file('a', file_path='b')", "create_file(file_path, content=\"\")"),
        ("update_file('a', 'b')", "update_file(file_path, old_content, new_content)"),
        ("read_file(path='a')", "read_file(file_path)"),
        ("list_files('.')", "list_files()"),
        ("get_size('a', 'b')", "get_size(file_or_dir_path=\"\")"),
        ("go_to_link()", "go_to_link(link_string)"),
    ] {
        let parsed = read_in(code, &Variables::default());
        let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
        assert_eq!(unread.failure.hint.as_deref(), Some(format!("write `{signature}`").as_str()));
    }
    let parsed = read_in("creat_file('a')", &Variables::default());
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!(unread.failure.hint.as_deref(), Some("did you mean `create_file`?"));
}

#[test]
fn a_block_that_goes_too_deep_is_refused() {
    let many = 100_000;
    let nested: String = (0..many.min(3000)).map(|level| " ".repeat(level) + "if True:\n").collect();
    for code in [
        "x = ".to_owned() + &"(".repeat(many) + &")".repeat(many),
        "x = ".to_owned() + &"(".repeat(many),
        "x = ".to_owned() + &"not ".repeat(many) + "1",
        "x = 1".to_owned() + &" + 1".repeat(many),
        "x = 1".to_owned() + &" == 1".repeat(many),
        "x = 1".to_owned() + &" and 1".repeat(many),
        "x = ".to_owned() + &"1 if 1 else ".repeat(many) + "1",
        "x = ".to_owned() + &"f'{".repeat(many),
        "x = f'{".to_owned() + &"(".repeat(many) + "}'",
        "x = ".to_owned() + &"read_file(".repeat(many),
        nested,
    ] {
        let started = std::time::Instant::now();
        let parsed = read_in(&code, &Variables::default());
        assert!(parsed.script.is_none());
        drop(parsed);
        assert!(started.elapsed().as_secs() < 20);
    }
    // What stands beside each other is not deep.
    for code in ["x = 1\n".repeat(20_000), "x = ".to_owned() + &"'a' ".repeat(20_000)] {
        assert!(read_in(&code, &Variables::default()).script.is_some());
    }
    assert!(read_in(&format!("x = {}1{}", "(".repeat(150), ")".repeat(150)), &Variables::default()).script.is_some());
    let deepest: String =
        (0..200).map(|level| format!("{}if {}1{}:\n", " ".repeat(level), "(".repeat(190), ")".repeat(190))).collect();
    assert!(read_in(&format!("{deepest}{}x = 1", " ".repeat(200)), &Variables::default()).script.is_some());
    let long = format!("x = '''{}'''", "long\n".repeat(400_000));
    assert!(read_in(&long, &Variables::default()).script.is_some());
}

#[test]
fn reading_is_linear_where_signs_repeat() {
    for sign in [
        "$", "(\n", "\\\n", "'", "\"\"\"", "f'", "{", "\n ", "\t", "#\n", "x\n", "é", "0x", "0_", "if ", "match ",
        "\u{c}", "\r", ")", "f'{'",
    ] {
        let started = std::time::Instant::now();
        read_in(&sign.repeat(1_000_000 / sign.len()), &Variables::default());
        assert!(started.elapsed().as_secs() < 20, "{sign:?}: {:?}", started.elapsed());
    }
}

//! What no block may hold, and the line that says so.

use super::*;

/// A block is refused whole, for this.
#[track_caller]
fn refuses(code: &str, message: &str) {
    let parsed = read_in(code, &Variables::default());
    let code = code.get(..60).unwrap_or(code);
    assert!(parsed.script.is_none(), "taken: {code}");
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!((unread.index, unread.action.as_deref(), unread.failure.code), (1, None, Code::InvalidAction), "{code}");
    assert_eq!(unread.failure.message, message, "{code}");
    assert!(unread.failure.hint.is_some());
}

#[test]
fn what_is_no_part_of_the_forms_is_refused_with_its_line() {
    for (code, message) in [
        ("x = 1\nimport os", "line 2: imports are not read"),
        ("x = 1\n\n'''\n\n'''\nfor a in x:\n    pass", "line 6: loops are not read"),
        ("x = [1]", "line 1: lists, indexes and slices are not read"),
        ("x = {}", "line 1: dictionaries and sets are not read"),
        ("x = 'a'.strip()", "line 1: attributes and methods are not read"),
        ("x = 2 * 3", "line 1: operators other than `+` are not read"),
        ("x = 'a' % 1", "line 1: operators other than `+` are not read"),
        ("x = -1", "line 1: operators other than `+` are not read"),
        ("x = 1.5", "line 1: numbers other than whole ones are not read"),
        ("x = 1 < 2", "line 1: comparisons other than `==`, `!=`, `in` and `is` are not read"),
        (
            "try:\n    x = 1\nexcept:\n    pass",
            "line 1: `try`, `raise` and `assert` (a call that fails answers a text that starts with `Error: `) are not read",
        ),
        ("a = b = 1", "line 1: one name gets one value"),
        ("a, b = 1, 2", "line 1: one name gets one value"),
        ("x = y", "line 1: `y` is not set before it is used"),
        ("x = b'x'", "line 1: bytes are not read; write a text without `b`"),
        ("x = 1 if True else 2", "line 1: `if` inside an expression is not read; write it as a statement"),
        ("x = 1 == 1 == 1", "line 1: more than two values in one comparison are not read"),
        ("x = 'a' is 'a'", "line 1: `is` takes only `True`, `False` or `None`; write `==`"),
        ("x = f'{1}'", "line 1: in an f-string only a variable may stand, as in `{name}`"),
        ("y = 1\nx = f'{y!r}'", "line 2: a conversion such as `!r` is not read"),
        ("y = 1\nx = f'{y:>5}'", "line 2: in an f-string only a variable may stand, as in `{name}`"),
        ("y = 1\nx = f'{y=}'", "line 2: in an f-string only a variable may stand, as in `{name}`"),
        ("x = f\"{f'{1}'}\"", "line 1: an f-string inside an f-string is not read"),
        ("x: list = 1", "line 1: an annotation is `str`, `bool` or `int`, with a value"),
        ("x: str", "line 1: an annotation is `str`, `bool` or `int`, with a value"),
        ("read_file = 1", "line 1: `read_file` cannot be set"),
        ("f = read_file", "line 1: `read_file` can only be called"),
        ("print = 1", "line 1: `print` cannot be set"),
        ("__x__ = 1", "line 1: `__x__` cannot be set"),
        ("x = print('a')", "line 1: `print` cannot be called"),
        ("print(create_file('a.md'))", "line 1: `print` prints nothing here, so nothing in it may be called"),
        ("print(nothing)", "line 1: `nothing` is not set before it is used"),
        ("open('x')", "line 1: `open` cannot be called"),
        ("x = 99999999999999999999", "line 1: this number is too large"),
        (r"x = '\ud800'", "line 1: an escape in this text is no character"),
        (r"x = '\N{BULLET}'", r"line 1: `\N` in a text is not read; write the character itself"),
        ("x = 'a", "line 1: this is not Python: a text does not end"),
        ("if True:\npass", "line 2: this is not Python: expected an indented statement, found `pass`"),
        ("if True:\n    a = 1\nelse:\n    b = a", "line 4: `a` is not set before it is used"),
        ("x = 1\n\0", "line 2: a null character is no part of Python"),
        ("x = 1 +", "line 1: this is not Python: expected a value, found the end of the line"),
        ("  x = 1\ny = 2", "line 1: this is not Python: expected a value, found an indent"),
        ("y = f'{None}'", "line 1: in an f-string only a variable may stand, as in `{name}`"),
        ("y = f'{ True }'", "line 1: in an f-string only a variable may stand, as in `{name}`"),
        ("y = f'{lambda}'", "line 1: in an f-string only a variable may stand, as in `{name}`"),
        ("match 1:\n    pass", "line 1: `match`, `case` and `type` statements are not read"),
        ("a = 1\nmatch not a:\n    pass", "line 2: `match`, `case` and `type` statements are not read"),
        ("type X = int", "line 1: `match`, `case` and `type` statements are not read"),
        ("match('a')", "line 1: `match` cannot be called"),
        ("x = \u{b}1", "line 1: this is not Python: it has no sign `\\u{b}`"),
        ("ｘ = 1", "line 1: `ｘ` is no name of ASCII letters, digits and `_`"),
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
    let deep = "line 1: more than 200 brackets, operators or levels in one statement";
    let deep_levels = "line 202: more than 200 brackets, operators or levels in one statement";
    let field = "line 1: in an f-string only a variable may stand, as in `{name}`";
    for (code, message) in [
        ("x = ".to_owned() + &"(".repeat(many) + &")".repeat(many), deep),
        ("x = ".to_owned() + &"(".repeat(many), deep),
        ("x = ".to_owned() + &"not ".repeat(many) + "1", deep),
        ("x = 1".to_owned() + &" + 1".repeat(many), deep),
        ("x = 1".to_owned() + &" == 1".repeat(many), deep),
        ("x = 1".to_owned() + &" and 1".repeat(many), deep),
        ("x = ".to_owned() + &"1 if 1 else ".repeat(many) + "1", deep),
        ("x = ".to_owned() + &"f'{".repeat(many), "line 1: dictionaries and sets are not read"),
        ("x = f'{".to_owned() + &"(".repeat(many) + "}'", field),
        ("x = ".to_owned() + &"read_file(".repeat(many), deep),
        (nested, deep_levels),
    ] {
        let started = std::time::Instant::now();
        refuses(&code, message);
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
fn a_block_of_too_many_parts_is_refused() {
    let message = |line: usize| format!("line {line}: the block has more than 200000 words and signs");
    refuses(&"x = 1\n".repeat(60_000), &message(50_001));
    refuses(&format!("x = 1\nx = f'{}'", "{x}".repeat(300_000)), &message(2));
    let fields = format!("x = f'{}'\n", "{y}".repeat(1_000));
    refuses(&("y = 1\n".to_owned() + &fields.repeat(300)), &message(200));
    assert!(read_in(&("y = 1\n".to_owned() + &fields.repeat(100)), &Variables::default()).script.is_some());
}

#[test]
fn calls_inside_calls_need_little_stack() {
    let nested = format!("x = {}'a'{}", "read_file(".repeat(190), ")".repeat(190));
    let thread = std::thread::Builder::new().stack_size(768 << 10);
    let read = thread.spawn(move || read_in(&nested, &Variables::default()).script.is_some());
    assert!(read.unwrap().join().unwrap());
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

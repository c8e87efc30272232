//! What blocks do, with answers made up.

use super::*;

/// A block sets these variables, without a call.
#[track_caller]
fn sets(code: &str, expected: &str) {
    let ran = run(code, Vec::new());
    assert_eq!(ran.answer, format!("<result>\n{expected}\n</result>"), "{:?}", ran.stopped);
    assert_eq!(ran.calls, [""; 0]);
}

/// A block makes these calls, each answered by `True`.
#[track_caller]
fn calls(code: &str, expected: &[&str]) {
    assert_eq!(run(code, Vec::new()).calls, expected);
}

#[test]
fn texts_of_every_kind_are_read() {
    sets("a = 'x'", "{'a': 'x'}");
    sets("a = \"it's\"", "{'a': \"it's\"}");
    sets("a = '''one\ntwo'''", r"{'a': 'one\ntwo'}");
    sets("a = \"\"\"say \"hi\" \"\"\"", "{'a': 'say \"hi\" '}");
    sets(r"a = r'\n'", r"{'a': '\\n'}");
    sets(r"a = u'\x41\u00e9\u2022\101'", "{'a': 'Aé•A'}");
    sets(r"a = '\d'", r"{'a': '\\d'}");
    sets("a = 'one' \"two\" r'\\\\'", r"{'a': 'onetwo\\\\'}");
    sets("a = ('one'\n     'two')", "{'a': 'onetwo'}");
    sets("a = 'one\\\ntwo'", "{'a': 'onetwo'}");
    sets("a = '''one\r\ntwo'''", r"{'a': 'one\ntwo'}");
    sets("a = '\u{FFFD}'", "{'a': '\u{FFFD}'}");
    sets("a = 1\nb = f\"{{x}} {a} {a}\" 'z'", "{'a': 1, 'b': '{x} 1 1z'}");
    sets("a = True\nb = None\nc = f'{a}{b}'", "{'a': True, 'b': None, 'c': 'TrueNone'}");
}

#[test]
fn words_that_only_begin_some_statements_are_names() {
    sets(
        "type = 'a'\nmatch: str = type + 'b'\ncase = match\ncase += 'c'\nlazy = f'{case}{type}'",
        "{'type': 'a', 'match': 'ab', 'case': 'abc', 'lazy': 'abca'}",
    );
    sets("match = 'a'\nx = match not in 'b'\nmatch in 'b'\nmatch is None", "{'match': 'a', 'x': True}");
}

#[test]
fn a_form_feed_is_a_blank_and_begins_the_line_again() {
    sets("\u{c}x = 1 \u{c}+ 2\n\u{c}\n  \u{c}y = (x\u{c})", "{'x': 3, 'y': 3}");
    sets("if True:\n  x = 1\n \u{c}  y = 2", "{'x': 1, 'y': 2}");
}

#[test]
fn assignments_keep_the_order_in_which_names_were_first_set() {
    sets("b = 1\na = 2\nb = 3", "{'b': 3, 'a': 2}");
    sets("a: str = 'x'", "{'a': 'x'}");
    sets("a = 'x'\na += 'y'; a += 'z'", "{'a': 'xyz'}");
    sets("'a docstring'\n# a comment\npass\n1\n", "{}");
    sets("a = 2 + 3\nb = 'x' + 'y' + 'z'", "{'a': 5, 'b': 'xyz'}");
}

#[test]
fn conditions_are_those_of_python() {
    for (condition, holds) in [
        ("True", true),
        ("''", false),
        ("'x'", true),
        ("0", false),
        ("None", false),
        ("not None", true),
        ("True == 1", true),
        ("'True' == True", false),
        ("'x' != True", true),
        ("1 is True", false),
        ("True is True", true),
        ("'x' is not None", true),
        ("'b' in 'abc'", true),
        ("'d' not in 'abc'", true),
        ("'' in ''", true),
        ("not ('' or None)", true),
        ("'' and undefined_never_read == 1 or True", true),
        ("not True == False", true),
    ] {
        let code = format!("undefined_never_read = 1\nif {condition}:\n    a = 'then'\nelse:\n    a = 'else'");
        let expected = if holds { "then" } else { "else" };
        sets(&code, &format!("{{'undefined_never_read': 1, 'a': '{expected}'}}"));
    }
    sets("a = '' or 'x'\nb = 'y' and 2\nc = '' and 2", "{'a': 'x', 'b': 2, 'c': ''}");
    sets("a = 2\nif a == 1:\n  b = 1\nelif a == 2:\n  b = 2\nelif True:\n  b = 3\nelse:\n  b = 4", "{'a': 2, 'b': 2}");
}

#[test]
fn calls_take_arguments_by_place_and_by_name() {
    calls("create_file('a.md')", &["create_file(a.md, \"\")"]);
    calls("create_file(content='x', file_path='a.md')", &["create_file(a.md, \"x\")"]);
    calls("t = 'x'\nr = create_file('a.md', t + t)", &["r = create_file(a.md, \"xx\")"]);
    calls("get_size()\nget_size('')\nget_size('a')", &["get_size()", "get_size()", "get_size(a)"]);
    calls("r: bool = update_file('a.md', 'x', 'y')", &["r = update_file(a.md, \"x\", \"y\", None)"]);
    calls("go_to_link('[[a]]')\nlist_files()", &["go_to_link([[a]])", "list_files()"]);
    calls("check_if_file_exists('a')\ncheck_if_dir_exists('a')", &["check_file_exists(a)", "check_dir_exists(a)"]);
    calls("create_dir('a')\ndelete_file('a.md')", &["create_dir(a)", "delete_file(a.md)"]);
}

#[test]
fn calls_may_stand_in_conditions_and_arguments() {
    let code = "if not check_if_file_exists('a.md') and create_file('a.md', read_file('b.md') + '!'):\n    x = 1";
    let ran = run(code, vec![Ok(Value::Bool(false)), text("b"), Ok(Value::Bool(true))]);
    assert_eq!(ran.calls, ["check_file_exists(a.md)", "read_file(b.md)", "create_file(a.md, \"b!\")"]);
    assert_eq!(ran.answer, "<result>\n{'x': 1}\n</result>");
    let ran = run(code, vec![Ok(Value::Bool(true))]);
    assert_eq!((ran.calls.len(), ran.answer.as_str()), (1, "<result>\n{}\n</result>"));
}

#[test]
fn a_branch_follows_what_became_of_a_call() {
    let code =
        "r = update_file('a.md', 'x', 'y')\nif r != True:\n    print(f'Update failed: {r}')\n    c = read_file('a.md')";
    assert_eq!(run(code, vec![Ok(Value::Bool(true))]).answer, "<result>\n{'r': True}\n</result>");
    let ran = run(code, vec![fails(Code::ContentNotFound), text("old")]);
    let looking = "Error: Could not find the specified content in the file. Looking for: \\'x\\'";
    assert_eq!(ran.answer, format!("<result>\n{{'r': \"{}\", 'c': 'old'}}\n</result>", looking.replace('\\', "")));
    assert_eq!(ran.calls.len(), 2);
}

#[test]
fn a_call_that_cannot_be_read_is_an_error_text_and_the_block_goes_on() {
    let ran = run("a = read_file('../x')\nb = create_file('b.md', 5)\nc = list_files()", Vec::new());
    assert_eq!(ran.calls.len(), 3);
    assert!(ran.calls[0].starts_with("unread path `../x`"), "{:?}", ran.calls);
    assert!(ran.answer.starts_with("<result>\n{'a': 'Error: path `../x`"), "{}", ran.answer);
    assert!(ran.answer.contains("'b': 'Error: action 2, `create_file`: `content` has to be a text"), "{}", ran.answer);
}

#[test]
fn variables_of_the_conversation_can_be_read() {
    let kept = [
        ("exists", Value::Bool(true)),
        ("old", Value::Text("x".into())),
        ("size", Value::Bytes(7)),
        ("none", Value::Nothing),
        ("list", Value::Paths(Vec::new())),
    ];
    let variables = Variables::new(kept.map(|(name, value)| (name.to_owned(), value)));
    let ran = run_in("if exists and none is None:\n    new = f'{old}{size}'\n    old = 1", &variables, Vec::new());
    assert_eq!(ran.answer, "<result>\n{'new': 'x7', 'old': 1}\n</result>");
    let parsed = read_in("a = list", &variables);
    assert!(parsed.script.is_none());
    // A branch not taken leaves what the conversation has set.
    let ran = run_in("if not exists:\n    old = 'y'\nnew = old", &variables, Vec::new());
    assert_eq!(ran.answer, "<result>\n{'new': 'x'}\n</result>");
}

#[test]
fn a_run_stops_where_python_would() {
    for (code, line, answer) in [
        ("if False:\n    a = 1\nb = 2\nc = a", "line 4: `a` is not set here", "{'b': 2}"),
        ("a = 'x' + 1", "line 1: `+` does not add str and int", "{}"),
        ("a = 1 in 'x'", "line 1: `in` does not look for int in str", "{}"),
    ] {
        let ran = run(&format!("{code}\ncreate_file('late.md')"), Vec::new());
        let failure = ran.stopped.unwrap();
        assert_eq!(failure.message, line);
        assert_eq!(ran.calls, [""; 0]);
        let hint = failure.hint.unwrap();
        assert_eq!(
            ran.answer,
            format!("<result>\n({answer}, {{Exception in sandboxed code:\n{line}\n{hint}}})\n</result>")
        );
    }
}

#[test]
fn what_a_block_makes_is_bounded() {
    let doubling = "a = 'xxxxxxxxxxxxxxxx'\n".to_owned() + &"a = a + a\n".repeat(40);
    let failure = run(&doubling, Vec::new()).stopped.unwrap();
    assert_eq!(failure.code, Code::TooLarge);
    let aliases: String = (0..900).map(|number| format!("a{number} = t\n")).collect();
    let ran = run(&format!("t = read_file('a.md')\n{aliases}"), vec![text(&"x".repeat(1 << 20))]);
    assert_eq!(ran.stopped.unwrap().code, Code::TooLarge);
    assert!(ran.variables.iter().count() < 70);
    let ran = run("t = read_file('a.md')\nu = 1", vec![text(&"x".repeat(5 << 20))]);
    assert_eq!(ran.stopped.unwrap().code, Code::TooLarge);
}

#[test]
fn spans_are_the_statements_in_the_turn() {
    let turn = "<think>é</think><python>\r\n'é'\r\nx = read_file(\r\n  'a.md')\r\nif  list_files():\r\n  pass</python>";
    let parsed = parse_as(turn.as_bytes(), None, &Variables::default());
    let mut walk = parsed.turn();
    let mut spans = Vec::new();
    while let Some(entry) = walk.next_entry() {
        if let Entry::Call(call) = entry.as_ref() {
            spans.push(turn.get(call.span.start..call.span.end).unwrap());
        }
        walk.tell(&outcome(&entry, text("t")));
    }
    assert_eq!(spans, ["x = read_file(\r\n  'a.md')", "list_files()"]);
}

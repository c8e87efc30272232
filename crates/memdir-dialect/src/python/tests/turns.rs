//! Where the block of a turn stands.

use super::*;

/// What is found in a turn: whether there is a block, the reply, and the codes of issues.
#[track_caller]
fn finds(turn: &str, has_script: bool, reply: Option<&str>, issues: &[&str]) {
    let parsed = parse_as(turn.as_bytes(), Some(Dialect::Python), &Variables::default());
    assert_eq!(parsed.script.is_some(), has_script, "{parsed:?}");
    assert_eq!(parsed.reply.as_deref(), reply);
    assert_eq!(parsed.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(), issues);
}

#[test]
fn a_turn_holds_thoughts_a_block_and_a_reply() {
    finds("<think>a</think>\n<python></python>\n<reply>\nhi\n</reply>", true, Some("hi"), &[]);
    finds("<think><python>x = </python></think><python>x = 1</python>", true, None, &[]);
    finds("thoughts</think><python>x = 1</python>", true, None, &["stray_think"]);
    finds("<python>x = '</think>'</python>", true, None, &[]);
    finds("<think><python>x = 1</python>", false, None, &["unclosed_think"]);
    finds("<python>\n```python\nx = 1\n```\n</python>", true, None, &["fence"]);
    finds("<python>  x = 1  </python>", true, None, &[]);
    finds("<python>x = 1</python><python>y = </python>", true, None, &["second_block"]);
    finds("<python>x = 1</python><reply>cut", true, Some("cut"), &["unclosed_reply"]);
    finds("<python>print('x')\nprint('y', sep='')</python>", true, None, &["ignored_print"]);
    finds("<reply>hi</reply><python>x = 1</python>", true, Some("hi"), &[]);
    finds("<reply>write <python>x = 1</python></reply>", false, Some("write <python>x = 1</python>"), &[]);
    finds("<actions>[\"<python>x = 1</python>\"]</actions>", false, None, &["other_dialect"]);
    finds("no block, <reply>hi</reply>", false, Some("hi"), &[]);
}

#[test]
fn a_block_that_was_cut_off_is_refused() {
    for turn in ["<python>create_file('a.md', 'x')", "<python>create_file('a.md', 'x')</pyth", "<python>"] {
        let parsed = parse_as(turn.as_bytes(), None, &Variables::default());
        let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
        assert!(unread.failure.message.contains("cut off"));
        assert!(parsed.script.is_none());
    }
}

#[test]
fn finding_is_linear_where_tags_repeat() {
    for tags in ["<think></think>", "<reply><python></reply>", "<python>", "</think>", "<think>", "<python></python>"] {
        let started = std::time::Instant::now();
        let _ = parse_as(tags.repeat((4 << 20) / tags.len()).as_bytes(), Some(Dialect::Python), &Variables::default());
        assert!(started.elapsed().as_secs() < 20, "{tags}");
    }
}

#[test]
fn damaged_text_is_refused() {
    let parsed = parse_as(b"<python>create_file('a.md', '\xff')</python>", None, &Variables::default());
    assert!(parsed.script.is_none() && parsed.entries.len() == 1);
    let parsed = parse_as(b"\xff<python>create_file('a.md', 'x')</python>", None, &Variables::default());
    assert!(parsed.script.is_some() && parsed.issues[0].code == "invalid_utf8");
}

/// The answer to a turn whose calls all succeed.
fn answer_to(turn: &str) -> (String, Option<String>) {
    let parsed = parse_as(turn.as_bytes(), Some(Dialect::Python), &Variables::default());
    let ran = go(parsed.turn(), &parsed, Vec::new());
    (ran.answer, ran.stopped.map(|failure| failure.message))
}

#[test]
fn the_model_is_told_that_another_block_was_not_run() {
    let (one, two) = (block("a = create_file('a.md', '1')"), block("b = create_file('b.md', '2')"));
    let told = "only the first block of a turn is run, so the others were not";
    let (answer, stopped) = answer_to(&format!("{one}{two}"));
    assert_eq!(stopped.as_deref(), Some(told));
    assert!(answer.starts_with("<result>\n({'a': True}, {Exception in sandboxed code:\n") && answer.contains(told));
    assert_eq!(answer_to(&format!("{one}{one}")), ("<result>\n{'a': True}\n</result>".to_owned(), None), "an echo");
}

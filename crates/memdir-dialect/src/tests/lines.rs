//! The three actions on whole lines.

use super::*;
use memdir_core::action::Meaning;

const REPLACE: &str = r#"{"action":"replace_text","old":"- city: Berlin","new":"- city: Lyon","path":"user.md"}"#;
const APPEND: &str = r#"{"action":"append_line","path":"user.md","line":"- cat: Tom"}"#;
const DELETE: &str = r#"{"action":"delete_line","line":"- cat: Tom","path":"user.md"}"#;

const REPLACED: &str =
    r#"{"action":"update_file","path":"user.md","old_content":"- city: Berlin","new_content":"- city: Lyon"}"#;
const APPENDED: &str = r#"{"action":"append_file","path":"user.md","content":"- cat: Tom"}"#;
const DELETED: &str = r#"{"action":"update_file","path":"user.md","old_content":"- cat: Tom","new_content":""}"#;

/// Checks a text that is of whole lines.
#[track_caller]
fn lines(inside: &str, expected: &[&str]) {
    let text = format!("<actions>{inside}</actions>");
    check(&text, expected);
    let parsed = parse(text.as_bytes());
    assert_eq!(parsed.frame, Frame::Lines, "{text}");
    let is_meant = |entry: &Entry| match entry {
        Entry::Call(call) => call.meaning == Meaning::WholeLine,
        Entry::Unread(_) => true,
    };
    assert!(parsed.entries.iter().all(is_meant));
}

#[test]
fn they_are_calls_of_the_catalog_that_mean_whole_lines() {
    lines(&format!("[{REPLACE},{APPEND},{DELETE}]"), &[REPLACED, APPENDED, DELETED]);
    lines(
        &format!("[{}]", r#"{"path":"user.md","new":"- city: Lyon","old":"- city: Berlin","action":"replace_text"}"#),
        &[REPLACED],
    );
    lines(
        &format!("[{}]", DELETE.replace('}', ",\"assign_to\":\"it\",\"has_explicit_permission\":true}")),
        &[&format!("{DELETED} as it claimed")],
    );
    lines(
        &format!("[{}]", REPLACE.replace("Lyon", "Lyon\\n- zip: 1")),
        &[&REPLACED.replace("Lyon", "Lyon\\n- zip: 1")],
    );
    assert_eq!(parse(b"<actions>[]</actions>").frame, Frame::Native);
}

#[test]
fn they_are_read_with_the_same_leniency() {
    lines(&format!("{DELETE}\n{APPEND}"), &[DELETED, APPENDED, "~ lone_object"]);
    lines(&format!("[{},]", DELETE.replace('"', "'")), &[DELETED, "~ single_quotes", "~ trailing_comma"]);
    check(&format!("```json\n[{APPEND}]\n```"), &[APPENDED, "~ missing_tags", "~ fence"]);
    check(&format!("<think>{DELETE}</think><actions>[{APPEND}]</actions><reply>So.</reply>"), &[APPENDED, "reply So."]);
    let cut = "! action 1, `append_line`: the text was cut off after this call, so it was not run";
    check(&format!("<actions>[{APPEND}"), &[cut, "~ cut_off"]);
    check(
        &format!("<actions>[{APPEND},{}", DELETE.get(..40).unwrap()),
        &[cut, "! action 2, `delete_line`: the text was cut off here, so nothing of it was done", "~ cut_off"],
    );
    lines(&format!("[{DELETE},{{\"action\":7}}]"), &[DELETED, "! action 2: `action` has to be a text, not a number"]);
}

#[test]
fn a_line_is_one_line_and_not_empty() {
    let trimmed = |call: &str, expected: &str| lines(&format!("[{call}]"), &[expected, "~ line_break_at_end"]);
    trimmed(&DELETE.replace("Tom", "Tom\\n"), DELETED);
    trimmed(&APPEND.replace("Tom", "Tom\\r\\n"), APPENDED);
    trimmed(&REPLACE.replace("Berlin", "Berlin\\n").replace("Lyon", "Lyon\\n"), REPLACED);
    let refused = |call: &str, message: &str| lines(&format!("[{call}]"), &[&format!("! action 1, {message}")]);
    refused(&DELETE.replace("Tom", "Tom\\nb"), "`delete_line`: `line` has to be one line");
    refused(&APPEND.replace("Tom", "Tom\\n\\n"), "`append_line`: `line` has to be one line");
    refused(&REPLACE.replace("Berlin", "a\\rb"), "`replace_text`: `old` has to be one line");
    refused(&DELETE.replace("- cat: Tom", ""), "`delete_line`: `line` is empty");
    refused(&DELETE.replace("- cat: Tom", " \\n"), "`delete_line`: `line` is empty");
    refused(&REPLACE.replace("- city: Lyon", ""), "`replace_text`: `new` is empty");
    refused(&REPLACE.replace(",\"path\":\"user.md\"", ""), "`replace_text`: missing `path`");
    refused(&DELETE.replace("line\"", "old\"").replace("delete_old", "delete_line"), "`delete_line`: missing `line`");
    refused(&DELETE.replace("\"- cat: Tom\"", "7"), "`delete_line`: `line` has to be a text, not `7`");
}

#[test]
fn beside_other_actions_they_are_told_how_they_are_called_there() {
    let parsed = parse(format!("<actions>[{READ},{REPLACE},{APPEND}]</actions>").as_bytes());
    assert_eq!(parsed.frame, Frame::Native);
    let [Entry::Call(_), Entry::Unread(one), Entry::Unread(two)] = parsed.entries.as_slice() else {
        panic!("{parsed:?}")
    };
    assert_eq!(
        (one.failure.code, one.failure.message.as_str()),
        (Code::UnknownAction, "action 2: unknown action `replace_text`")
    );
    assert!(
        one.failure.hint.as_ref().unwrap().starts_with("beside other actions it is `update_file`: send for example {")
    );
    assert!(two.failure.hint.as_ref().unwrap().starts_with("beside other actions it is `append_file`: "));
}

#[test]
fn who_wants_one_dialect_gets_no_other() {
    let as_lines = |text: &str| parse_as(text.as_bytes(), Some(Dialect::Lines), &Variables::default());
    let parsed = as_lines(&format!("<actions>[{READ},{APPEND}]</actions><reply>So.</reply>"));
    let [Entry::Unread(unread), Entry::Call(_)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    assert_eq!(unread.failure.code, Code::UnknownAction);
    assert_eq!(unread.failure.hint.as_deref(), Some("the actions are `replace_text`, `append_line` and `delete_line`"));
    assert_eq!((parsed.frame, parsed.reply.as_deref()), (Frame::Lines, Some("So.")));
    let text = format!("<actions>[{APPEND}]</actions>");
    let native = parse_as(text.as_bytes(), Some(Dialect::Native), &Variables::default());
    assert!(matches!(native.entries.as_slice(), [Entry::Unread(_)]));
}

#[test]
fn their_examples_are_not_written() {
    for row in crate::lines::ROWS {
        let parsed = parse(format!("<actions>[{}]</actions>", row.example).as_bytes());
        assert!(show(&parsed).contains("this is the example of the prompt, word for word"), "{parsed:?}");
        let parsed = parse(format!("<actions>[{}]</actions>", row.example.replace("example", "sample")).as_bytes());
        assert!(matches!(parsed.entries.as_slice(), [Entry::Call(_)]), "{parsed:?}");
    }
}

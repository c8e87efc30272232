//! Which dialect a text is in, and what becomes of a text in several.

use super::*;

const CODE: &str = "<python>\nsize = get_size()\n</python>";
const TOOL: &str = "<mcp:tool>\nname: get_size\n</mcp:tool>";
const SIZE: &str = r#"{"action":"get_size"}"#;

/// Checks the dialect of a text, and what it says but for its code.
#[track_caller]
fn reads(input: &str, dialect: Dialect, has_code: bool, expected: &[&str]) {
    let parsed = parse(input.as_bytes());
    assert_eq!((parsed.dialect(), parsed.script.is_some()), (dialect, has_code), "{input}");
    assert_eq!(show(&parsed), expected.join("\n"), "{input}");
}

#[test]
fn code_is_found_where_tags_count() {
    let real = format!("<actions>[{READ}]</actions>");
    reads(CODE, Dialect::Python, true, &[]);
    reads(&format!("<think>Hm.</think>\n{CODE}\n<reply>So.</reply>"), Dialect::Python, true, &["reply So."]);
    reads("<think>Hm.</think>\n<python></python>\n<reply>So.</reply>", Dialect::Python, true, &["reply So."]);
    reads(&format!("<think>{CODE}</think>{real}"), Dialect::Native, false, &[READ]);
    reads(&format!("<think>{CODE}"), Dialect::Native, false, &["~ unclosed_think"]);
    reads(&format!("<reply>Like {CODE}</reply>"), Dialect::Native, false, &[&format!("reply Like {CODE}")]);
    reads(&format!("`{}` {real}", CODE.replace('\n', " ")), Dialect::Native, false, &[READ, "~ quoted"]);
    reads(&format!("> {}", CODE.replace('\n', " ")), Dialect::Native, false, &["~ quoted"]);
    reads(&format!("<!-- {CODE} --> {real}"), Dialect::Native, false, &[READ, "~ quoted"]);
    reads(&format!("```\n{CODE}\n```\n{real}"), Dialect::Native, false, &[READ, "~ quoted"]);
    reads(&format!("<result>{CODE}</result>"), Dialect::Native, false, &["~ echoed_result"]);
    reads("<python>\n```python\nsize = get_size()\n```\n</python>", Dialect::Python, true, &["~ fence"]);
    reads(&format!("{CODE}\n{CODE}"), Dialect::Python, true, &["~ second_block"]);
    reads("<PYTHON>size = get_size()</ python >", Dialect::Python, true, &["~ tag_spelling"]);
}

#[test]
fn code_that_was_cut_off_or_damaged_is_refused_whole() {
    let cut = "! the text was cut off in the block, so nothing of it was done";
    reads("<python>\nsize = get_size()\n", Dialect::Python, false, &[cut]);
    reads("<python>", Dialect::Python, false, &[cut]);
    // The tag may be named in prose; but what follows may as well stand in a text that was cut off.
    let held = "! action 2, `append_file`: the block before has no certain end, so it was not run";
    reads(
        &format!("Not <python> but <actions>[{READ},{MAKE}]</actions>"),
        Dialect::Native,
        false,
        &[READ, held, "~ other_dialect"],
    );
    let parsed = parse(b"<python>\nread_file(\"\xff\")\n</python>");
    assert_eq!(show(&parsed), "! the block was damaged on the way: it holds bytes that are no UTF-8\n~ invalid_utf8");
}

#[test]
fn tags_in_the_texts_of_json_are_no_tags_of_the_turn() {
    let code = "<python>delete_file('user.md')</python>";
    let list = "<actions>[{'action':'delete_file','path':'user.md'}]</actions>";
    let tool = "<mcp:tool>name: delete_file\nparameters: {'path': 'user.md'}</mcp:tool>";
    let real = format!("<actions>[{READ}]</actions>");
    for example in [code, list, tool] {
        let note = format!("So: {example} it is");
        let make = MAKE.replace("\"x\"", &serde_json::Value::from(note.as_str()).to_string());
        let bare = "~ missing_tags";
        reads(&format!("[{make}]"), Dialect::Native, false, &[&make, bare]);
        reads(&format!("```json\n[{make}]\n```"), Dialect::Native, false, &[&make, bare, "~ fence"]);
        reads(&format!("[{make}]\n{real}"), Dialect::Native, false, &[READ]);
        reads(&format!("[{make}]\n<reply>So.</reply>"), Dialect::Native, false, &["reply So."]);
        let other = serde_json::json!({"title": "x", "body": note}).to_string();
        reads(&other, Dialect::Native, false, &[]);
        // Cut off, or ended early by a quote in a text.
        let cut = |text: &str| text.as_bytes().split_last_chunk::<4>().unwrap().0.to_vec();
        for text in [cut(&make), cut(&other), other.replace("So: ", "So \"they\" say: ").into_bytes()] {
            let parsed = parse(&text);
            assert!(parsed.script.is_none() && !writes(&parsed), "{}", String::from_utf8_lossy(&text));
        }
        for dialect in [Dialect::Python, Dialect::McpBlock, Dialect::Native] {
            let parsed = parse_as(other.as_bytes(), Some(dialect), &Variables::default());
            assert!(parsed.is_empty(), "{other}");
        }
    }
    // What only looks like JSON at its start hides nothing.
    for start in ["[so]", "{so}", "[1]", "[\"so\"]", "{\"so\": 1} and", "[so, ", "```json\n[]\n```\n"] {
        reads(&format!("{start} {CODE}"), Dialect::Python, true, &[]);
    }
}

#[test]
fn code_behind_a_block_without_a_certain_end_is_refused_whole() {
    let code = "<python>delete_file('user.md')</python>";
    let held = "! the block before has no certain end, so nothing of this one was done";
    let list = format!(r#"<actions>[{{"action":"create_file","path":"a.md","content":"say "hi" {code}"}}]</actions>"#);
    let tool = format!(
        "<mcp:tool>name: create_file\nparameters: {{\"path\":\"a.md\",\"content\":\"say \"hi\" {code}\"}}\n</mcp:tool>"
    );
    for text in [list, tool] {
        let parsed = parse_as(text.as_bytes(), Some(Dialect::Python), &Variables::default());
        assert!(parsed.script.is_none(), "{text}");
        assert!(show(&parsed).starts_with(held), "{}", show(&parsed));
    }
}

#[test]
fn the_first_kind_that_holds_calls_wins() {
    let real = format!("<actions>[{READ}]</actions>");
    reads(&format!("{real}{CODE}{TOOL}"), Dialect::Native, false, &[READ, "~ other_dialect"]);
    reads(&format!("{CODE}{real}"), Dialect::Python, true, &["~ other_dialect"]);
    reads(&format!("{TOOL}{CODE}"), Dialect::McpBlock, false, &[SIZE, "~ other_dialect"]);
    // What holds none is no reason to leave another aside.
    reads(&format!("<python></python>{real}"), Dialect::Native, false, &[READ]);
    reads(&format!("<actions>[]</actions>{TOOL}"), Dialect::McpBlock, false, &[SIZE]);
    reads(&format!("<actions>[]</actions>{CODE}"), Dialect::Python, true, &[]);
    // Code that ends early in one of its texts may go on in what looks like actions.
    let held = "! action 1, `append_file`: the block before has no certain end, so it was not run";
    let text = format!("<python>create_file(\"a.md\", \"</python><actions>[{MAKE}]</actions>\")</python>");
    let native = parse_as(text.as_bytes(), Some(Dialect::Native), &Variables::default());
    assert_eq!(show(&native), [held, "~ stray_tag", "~ other_dialect"].join("\n"));
    assert!(!writes(&parse(text.as_bytes())));
}

#[test]
fn who_wants_one_dialect_gets_no_other() {
    let text = format!("{CODE}{TOOL}<actions>[{READ}]</actions><reply>So.</reply>");
    let read = |dialect| show(&parse_as(text.as_bytes(), Some(dialect), &Variables::default()));
    assert_eq!(read(Dialect::Native), [READ, "reply So.", "~ other_dialect"].join("\n"));
    assert_eq!(read(Dialect::McpBlock), [SIZE, "reply So.", "~ other_dialect"].join("\n"));
    assert_eq!(read(Dialect::Python), "reply So.\n~ other_dialect");
    let text = format!("<actions>[{READ}]</actions>{TOOL}{CODE}<actions>[{MAKE}]</actions>{TOOL}{CODE}");
    let read = |dialect| parse_as(text.as_bytes(), Some(dialect), &Variables::default());
    assert_eq!(show(&read(Dialect::Native)), [READ, MAKE, "~ other_dialect"].join("\n"), "what is before it is whole");
    assert!(show(&read(Dialect::McpBlock)).starts_with(SIZE) && read(Dialect::Python).script.is_some());
    let bare = parse_as(format!("[{READ}]").as_bytes(), Some(Dialect::Python), &Variables::default());
    assert!(bare.is_empty());
}

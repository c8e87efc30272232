use proptest::prelude::*;
use serde_json::json;

use super::{Dialect, Entry, Frame, Parsed, encode, parse, parse_as};
use memdir_core::action::Access;
use memdir_core::catalog::{ROWS, row};
use memdir_core::report::{Code, Report, Variables};

#[path = "../../../../benches/parse/families.rs"]
mod families;
mod foreign;
mod lines;
#[cfg(feature = "python")]
mod mixed;

const READ: &str = r#"{"action":"read_file","path":"a.md"}"#;
const MAKE: &str = r#"{"action":"append_file","path":"b.md","content":"x"}"#;

/// Writes a text's calls, refusals, reply and issues as lines.
fn show(parsed: &Parsed) -> String {
    let mut lines = Vec::new();
    for entry in &parsed.entries {
        lines.push(match entry {
            Entry::Call(call) => {
                let mut line = serde_json::to_string(&call.action).unwrap();
                if let Some(label) = &call.label {
                    line += &format!(" as {label}");
                }
                if call.claimed {
                    line += " claimed";
                }
                line
            }
            Entry::Unread(unread) => {
                assert_eq!(unread.failure.code, Code::InvalidAction, "{unread:?}");
                assert!(unread.failure.hint.is_some(), "{unread:?}");
                format!("! {}", unread.failure.message)
            }
        });
    }
    lines.extend(parsed.reply.iter().map(|reply| format!("reply {reply}")));
    lines.extend(parsed.issues.iter().map(|issue| format!("~ {}", issue.code)));
    lines.join("\n")
}

#[track_caller]
fn check(input: &str, expected: &[&str]) {
    let parsed = parse(input.as_bytes());
    sound(input.as_bytes(), &parsed);
    assert_eq!(show(&parsed), expected.join("\n"), "{input}");
}

/// Checks what stands between the tags.
#[track_caller]
fn block(input: &str, expected: &[&str]) {
    check(&format!("<actions>{input}</actions>"), expected);
}

fn writes(parsed: &Parsed) -> bool {
    parsed.entries.iter().any(|entry| match entry {
        Entry::Call(call) => row(call.action.name()).unwrap().access > Access::Read,
        Entry::Unread(_) => false,
    })
}

/// What holds for every text.
#[track_caller]
fn sound(input: &[u8], parsed: &Parsed) {
    assert_eq!(*parsed, parse(input));
    let text = String::from_utf8_lossy(input);
    let mut codes: Vec<_> = parsed.issues.iter().map(|issue| (issue.code, issue.index)).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), parsed.issues.len(), "{:?}", parsed.issues);
    let mut end = 0;
    for (place, entry) in parsed.entries.iter().enumerate() {
        match entry {
            Entry::Unread(unread) => assert_eq!(unread.index, place + 1),
            Entry::Call(call) => {
                assert_eq!(call.index, place + 1);
                assert!(call.span.start >= end, "spans overlap");
                end = call.span.end;
                let said = text.get(call.span.start..call.span.end).unwrap();
                let is_json = said.starts_with('{') && said.ends_with('}');
                assert!(is_json || parsed.dialect() == Dialect::McpBlock, "{said}");
            }
        }
    }
}

#[test]
fn reads_what_the_prompt_asks_for() {
    check("", &[]);
    check("Only words.", &[]);
    check("<reply> Hello. </reply>", &["reply Hello."]);
    check("<reply>\n</reply>", &[]);
    check("```\n<reply>Fenced.</reply>\n```", &["reply Fenced."]);
    check("```\n<reply>No.</reply>\n```\n<reply>Yes.</reply>", &["reply Yes."]);
    check("<reply>One.</reply> and <reply>Two.</reply>", &["reply One.\n\nTwo."]);
    check(
        &format!("<think>Hm.</think>\nWords.\n<actions>\n[{READ},\n{MAKE}]\n</actions>\n<reply>Done.</reply>"),
        &[READ, MAKE, "reply Done."],
    );
    check(
        &format!("<reply>First.</reply><actions>[{READ}]</actions><actions>[{MAKE}]</actions>"),
        &[READ, MAKE, "reply First."],
    );
    block(
        r#"[{"action":"delete_file","path":"a.md","has_explicit_permission":true,"assign_to":"gone"},
            {"action":"delete_file","path":"b.md","has_explicit_permission":false,"assign_to":null}]"#,
        &[r#"{"action":"delete_file","path":"a.md"} as gone claimed"#, r#"{"action":"delete_file","path":"b.md"}"#],
    );
    block(
        r#"[{"action":"append_file","path":"a.md","content":"\" \\ \/ \b\f\n\r\t \u00e9 \ud83d\ude00 “it's” é"}]"#,
        &[r#"{"action":"append_file","path":"a.md","content":"\" \\ / \b\f\n\r\t é 😀 “it's” é"}"#],
    );
}

#[test]
fn each_repair_reads_what_was_meant() {
    let two = [READ, MAKE];
    let both = |issue: &'static str| [two[0], two[1], issue];
    check(&format!("< ACTIONS >[{READ},{MAKE}]< / actions >"), &both("~ tag_spelling"));
    check(&format!(" [{READ},{MAKE}]\n"), &both("~ missing_tags"));
    check(&format!("```json\n[{READ},{MAKE}]\n```\n"), &[READ, MAKE, "~ missing_tags", "~ fence"]);
    check(MAKE, &[MAKE, "~ missing_tags", "~ lone_object"]);
    check(&format!("<actions>[{READ},{MAKE}]"), &both("~ missing_close_tag"));
    check(&format!("<actions>[{READ},{MAKE}]</act"), &both("~ missing_close_tag"));
    check(&format!("<actions>[{READ},{MAKE}]\n<reply>Ok</reply>"), &[READ, MAKE, "reply Ok", "~ missing_close_tag"]);
    check(&format!("<actions>[{READ},{MAKE}]\n</act"), &both("~ missing_close_tag"));
    check(&format!("```xml\n<actions>[{READ},{MAKE}]</actions>\n```"), &both("~ fence"));
    check(&format!("```<actions>[{READ},{MAKE}]</actions>```"), &both("~ fence"));
    block(&format!("\n```json\n[{READ},{MAKE}]\n```\n"), &both("~ fence"));
    block(&format!("[{READ},{MAKE},]"), &both("~ trailing_comma"));
    block(&format!("[{READ},{}]", MAKE.replace('}', ",}")), &both("~ trailing_comma"));
    block(&format!("[{READ}\n{MAKE}]"), &both("~ missing_comma"));
    block(&format!("[// it \"is\"\n{READ}, // it is\n # so\n/* or */ {MAKE}]"), &both("~ comment"));
    block(&format!("[{READ},{}]", MAKE.replace(":\"x\"", ": // the text\n \"x\"")), &both("~ comment"));
    block(&format!("[{READ},{MAKE}] // done"), &both("~ comment"));
    block(&format!("[{READ},{}]", MAKE.replacen('"', "“", 1).replacen('"', "”", 1)), &both("~ smart_quotes"));
    block(&format!("[{READ},{}]", MAKE.replace("\"x\"", "‘x’")), &both("~ smart_quotes"));
    block(&format!("[{READ},{}]", MAKE.replace('"', "'")), &both("~ single_quotes"));
    block(&format!("[{READ},{}]", MAKE.replace("\"action\"", "action")), &both("~ unquoted_key"));
    block(&format!("{READ}\n{MAKE}"), &both("~ lone_object"));
    block(&format!("{READ},\n{MAKE}"), &both("~ lone_object"));
    block(&format!("{{\"actions\": [{READ},{MAKE}]}}"), &both("~ actions_object"));
    block(&format!("[{READ}]\n[{MAKE}]"), &both("~ split_list"));
    block(&format!("[{READ},{MAKE}]\nThat is all."), &both("~ text_after_list"));
    block(
        &format!("[{},{MAKE}]", READ.replace('}', ",\"has_explicit_permission\":true}")),
        &both("~ ignored_permission"),
    );
}

#[test]
fn texts_are_kept_as_the_model_wrote_them() {
    let make = |content: &str| format!("[{}]", MAKE.replace("\"x\"", content));
    let made = |content: &str| MAKE.replace("\"x\"", &json!(content).to_string());
    let check = |content: &str, expected: &str, issue: &str| block(&make(content), &[&made(expected), issue]);
    check("\"one\n\ttwo\"", "one\n\ttwo", "~ raw_line_break");
    check(r#""it\'s""#, "it's", "~ escaped_apostrophe");
    check(r"'it\'s'", "it's", "~ single_quotes");
    check("\"\"\"say \"hi\"\nnow\"\"\"", "say \"hi\"\nnow", "~ triple_quotes\n~ raw_line_break");
    check("'''it's'''", "it's", "~ triple_quotes");
    check("“say \"hi\"”", "say \"hi\"", "~ smart_quotes");
    block(&make(r#""</actions> <actions>[] ```\n // # ' “""#), &[&made("</actions> <actions>[] ```\n // # ' “")]);
    block(
        r#"[{"action":"delete_dir","path":"a","recursive":True},{"action":"get_size","path":None}]"#,
        &[r#"{"action":"delete_dir","path":"a","recursive":true}"#, r#"{"action":"get_size"}"#, "~ python_literal"],
    );
}

#[test]
fn a_comma_that_was_ignored_is_reported_in_the_words_of_the_contract() {
    let issue = |text: &str| serde_json::to_value(&parse(text.as_bytes()).issues).unwrap();
    let words = |closer: &str| json!([{"code":"trailing_comma","index":null,"message":format!("a comma before `{closer}` was ignored")}]);
    assert_eq!(issue(&format!("<actions>[{READ},]</actions>")), words("]"));
    assert_eq!(issue("<actions>[{\"action\":\"get_size\",}]</actions>"), words("}"));
}

#[test]
fn thoughts_and_replies_run_nothing() {
    let drafted = format!("<actions>[{MAKE}]</actions>");
    check(&format!("<think>{drafted}</think><actions>[{READ}]</actions>"), &[READ]);
    check(&format!("<think effort=\"high\">{drafted}</think><actions>[{READ}]</actions>"), &[READ]);
    check(&format!("<think effort=\"high\">Hm {drafted}"), &["~ unclosed_think"]);
    check(&format!("I <think about it> and <think/> <actions>[{READ}]</actions>"), &[READ]);
    check(&format!("<thinking>{drafted}</thinking><actions>[{READ}]</actions>"), &[READ]);
    check(&format!("<think>{drafted}<reply>Hm"), &["~ unclosed_think"]);
    check(
        &format!("<think>a <think> b</think> {drafted} </think><actions>[{READ}]</actions>"),
        &[READ, "~ stray_think"],
    );
    check(&format!("Let me see. {drafted}</think><actions>[{READ}]</actions>"), &[READ, "~ stray_think"]);
    check(&format!("I write <actions> now.</think><actions>[{READ}]</actions>"), &[READ, "~ stray_think"]);
    check(&format!("> hm\n> {drafted}\n```\n</think><actions>[{READ}]</actions>"), &[READ, "~ stray_think"]);
    check(&format!("A stray ` before\n<think> and ` {drafted}"), &["~ unclosed_think"]);
    check(&format!("<reply>Like {drafted}</reply>"), &[&format!("reply Like {drafted}")]);
    check(&format!("<reply>Hm {drafted}"), &[&format!("reply Hm {drafted}"), "~ unclosed_reply"]);
}

#[test]
fn a_repeated_result_runs_nothing() {
    let note = format!("{{\"content\":\"<actions>[{}]</actions><reply>No\"}}", MAKE.replace('"', "'"));
    let real = format!("<actions>[{READ}]</actions>");
    check(&format!("<result>\n{note}\n</result>\n{real}"), &[READ, "~ echoed_result"]);
    check(&format!("{real}<RESULT>{note}</result>"), &[READ, "~ echoed_result"]);
    check(&format!("> <result>\n{note}\n</result>"), &["~ echoed_result"]);
    check(&format!("<result>{note}"), &["~ echoed_result"]);
    check(&format!("{real}</result>"), &[READ, "~ stray_tag"]);
    check(&format!("<reply>The <result> is in.</reply>{real}"), &[READ, "reply The <result> is in."]);
}

#[test]
fn quotes_and_examples_run_nothing() {
    let example = format!("<actions>[{MAKE}]</actions>");
    let real = format!("<actions>[{READ}]</actions>");
    check(&format!("Use `{example}`."), &["~ quoted"]);
    check(&format!("Use ``a ` {example}``."), &["~ quoted"]);
    check(&format!("Use `\n{example}\n`. {real}"), &[READ, "~ quoted"]);
    check(&format!("`a` and 5` wide. {real}"), &[READ]);
    check(&format!("> {example}\n\n{real}"), &[READ, "~ quoted"]);
    check(&format!("```\n{example}\n```\n{real}"), &[READ, "~ quoted"]);
    check(&format!("{real}\n~~~xml\n{example}\n~~~"), &[READ, "~ quoted"]);
    check(&format!("So: ```\n{example}\n```\n{real}"), &[READ, "~ quoted"]);
    check(&format!("```\n{example}\n<reply>No</reply>\n```\n```\n{real}\n```"), &["~ quoted"]);
    check("I mention `<actions>` and `<think>`.", &["~ quoted"]);
    check(&format!("He said ``hi''.\n`</reply>{example}`"), &["~ quoted"]);
    check(&format!("He said ``hi'' <reply></reply> `\n{example}`"), &["~ quoted"]);
    check(&format!("Write \"{example}\" and “{example}.” {real}"), &[READ, "~ quoted"]);
    check(&format!("He said \"hi\"{real}"), &[READ]);
    check(&format!("<!-- {example}\n--> {real}"), &[READ, "~ quoted"]);
    check(&format!("<!-- \n> --> {real} <!-- {example}"), &["~ quoted"]);
    check(&format!("<!-- so -->{real}"), &[READ]);
    check(&format!("- > {example}\n 12. * > {example}\n\n- {real}"), &[READ, "~ quoted"]);
    check(&format!("I mention <actions> here. {real}"), &[READ, "~ stray_tag"]);
    check(&format!("Prose [{MAKE}]"), &[]);
    check(&format!("[{MAKE}] prose"), &[]);
    check("[1,{\"a\":2}]", &[]);
    check("&lt;actions&gt;[]&lt;/actions&gt;", &["~ escaped_tags"]);
    check(&format!("{real}</actions>"), &[READ, "~ stray_tag"]);
    check(&format!("{real}\n{real}\n{real}"), &[READ, "~ echoed_block"]);
    check(&format!("{real}<actions></actions>{real}"), &[READ, "~ empty_block", "~ echoed_block"]);
    check(&format!("{example}\n{real}\n{example}\n{real}"), &[MAKE, READ, MAKE, READ]);
    let twice = parse(format!("{example}{real}{real}{example}{example}").as_bytes());
    let echoed: Vec<_> = twice.issues.iter().map(|issue| (issue.code, issue.index)).collect();
    assert_eq!(echoed, [("echoed_block", Some(2)), ("echoed_block", Some(3))], "each names the call that it repeats");
    let (fenced, indented) = (format!("```xml\n{example}\n```\n"), format!("So:\n\n    {example}\n"));
    check(&format!("{fenced}<reply>Like this.</reply>"), &["reply Like this.", "~ quoted"]);
    check(&format!("<reply>Like this:</reply>\n{fenced}"), &["reply Like this:", "~ quoted"]);
    check(&format!("```\n{real}<reply>Done.</reply>\n```"), &[READ, "reply Done.", "~ fence"]);
    check(&format!("{indented}{real}"), &[READ, "~ quoted"]);
    check(&format!("{real}\n \n\t{example}"), &[READ, "~ quoted"]);
    check(&format!("So:\n\n    Call\n    {example}\n<reply>So.</reply>"), &["reply So.", "~ quoted"]);
    check(&indented, &[MAKE]);
    check(&format!("{indented}    <reply>So.</reply>"), &[MAKE, "reply So."]);
    check(&format!("So:\n    {example}\n{real}"), &[MAKE, READ]);
    block("[]", &["~ empty_block"]);
    block("", &["~ empty_block"]);
}

#[test]
fn what_was_cut_off_only_reads() {
    check(
        &format!("<actions>[{READ},{MAKE},{{\"action\":\"create_file\",\"path\":\"c.md\",\"content\":\"cut"),
        &[
            READ,
            "! action 2, `append_file`: the text was cut off after this call, so it was not run",
            "! action 3, `create_file`: the text was cut off here, so nothing of it was done",
            "~ cut_off",
        ],
    );
    let after = "! action 1, `append_file`: the text was cut off after this call, so it was not run";
    check(&format!("<actions>[{MAKE}"), &[after, "~ cut_off"]);
    check(&format!("<actions>[{MAKE},"), &[after, "~ cut_off"]);
    check(&format!("<actions>{MAKE}"), &[after, "~ lone_object", "~ cut_off"]);
    check(&format!("[{MAKE}"), &[after, "~ missing_tags", "~ cut_off"]);
    // Whether more should follow nobody can tell, but nothing shows that it was cut off.
    let several = [
        READ,
        "! action 2, `append_file`: the block cannot be read to its end, so it was not run",
        "! action 3: expected `[` before several actions, and `]` behind them, at line 1, column 1, found `{`",
        "~ missing_tags",
        "~ lone_object",
    ];
    check(&format!("{READ}\n{MAKE}"), &several);
    check("<actions>", &["! action 1: the text was cut off here, so nothing of it was done", "~ cut_off"]);
    block(
        &format!("[{READ},{MAKE}"),
        &[READ, "! action 2, `append_file`: the list of actions does not end, so it was not run", "~ cut_off"],
    );
    block(
        "[{\"action\":\"get_size\"",
        &["! action 1, `get_size`: the list of actions ends here, so nothing of it was done", "~ cut_off"],
    );
}

#[test]
fn a_text_that_holds_the_end_of_a_list_is_not_cut_there() {
    let open = MAKE.trim_end_matches("\"}").to_owned();
    let held = "! action 1, `append_file`: the block cannot be read to its end, so it was not run";
    for (behind, place) in [
        (" // and a newline\"}\n]", "no quote in a comment at line 1, column 54, found `/`"),
        (" /* and \" */]", "no quote in a comment at line 1, column 54, found `/`"),
        ("\n# and \"}\n]</actions>", "no quote in a comment at line 2, column 1, found `#`"),
        ("]\n and then it goes on", "`</actions>` at line 2, column 2, found `a`"),
        ("]\nso.\n<reply>", "`</actions>` at line 2, column 1, found `s`"),
        ("]\nso.\n<actions>", "`</actions>` at line 2, column 1, found `s`"),
    ] {
        let parsed = parse(format!("<actions>[{open}ends in \"}}{behind}").as_bytes());
        let shown = show(&parsed);
        let place = place.replace("column 54", "column 63");
        assert!(shown.starts_with(&format!("{held}\n! action 2: expected {place}")), "{shown}");
    }
}

#[test]
fn no_prefix_of_a_block_writes() {
    let mut calls: Vec<_> = ROWS.iter().map(|row| (row.example.replace("example", "sample"), row.access)).collect();
    for content in ["}", "\"}", "\"}]", "\"}]\nso\n", "\"}]</actions>", "'}]\n", "“”}] // \"}]\n]"] {
        calls.push((MAKE.replace("\"x\"", &json!(content).to_string()), Access::Write));
        calls.push((MAKE.replace("\"x\"", &json!(content).to_string().replace("\\n", "\n")), Access::Write));
        if !content.contains("'") {
            calls.push((MAKE.replace("\"x\"", &format!("'{content}'")), Access::Write));
        }
    }
    for (call, access) in calls {
        for text in
            [format!("<actions>[{call}]</actions>"), format!("<actions>\n```json\n{{\"actions\":[{call}]}}\n```")]
        {
            let whole = text.rfind("}]").unwrap() + 2;
            for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let parsed = parse(&text.as_bytes()[..end]);
                sound(&text.as_bytes()[..end], &parsed);
                assert!(end >= whole || !writes(&parsed), "{end} of {text}");
            }
            assert_eq!(writes(&parse(text.as_bytes())), access > Access::Read, "{text}");
        }
    }
}

#[test]
fn a_text_with_quotes_of_its_own_is_not_written() {
    for content in ["ends in \"}]\n and then", "ends in \"}, // so", "a \"} // b\n", "\"}] // \""] {
        let text = format!("<actions>[{}]</actions>", MAKE.replace('x', content));
        // As far as the first end of a list nobody can tell what is missing.
        let like_end = text.find("}]").unwrap() + 2;
        let text_end = text.len() - "\"}]</actions>".len();
        for end in (0..=text_end).filter(|end| text.is_char_boundary(*end)) {
            let is_end = end >= like_end && text.get(like_end..end).unwrap().trim().is_empty();
            assert!(is_end || !writes(&parse(&text.as_bytes()[..end])), "{end} of {text}");
        }
        assert!(!writes(&parse(text.as_bytes())), "{text}");
    }
}

#[test]
fn what_cannot_be_read_says_where() {
    let nothing = "! action 1: expected a list of actions in `[` and `]` at line 1, column 1, found `p`";
    block("please", &[nothing]);
    block(
        "\n[{\"action\":\"get_size\"}\n  oops]",
        &["{\"action\":\"get_size\"}", "! action 2: expected `,` or `]` at line 3, column 3, found `o`"],
    );
    block("[{&quot;action", &["! action 1: expected a key in double quotes at line 1, column 3, found `&`"]);
    let inner = "! action 1, `append_file`: expected `,` or `}` at line 1, column 56, found `h`";
    block(&format!("[{}]", MAKE.replace('x', "say \"hi\"")), &[inner]);
    let inner = inner.replace("56", "54").replace("`h`", "`s`");
    block(&format!("[{}]", MAKE.replace("\"x\"", "'it's'")), &[&inner, "~ single_quotes"]);
    block(
        &format!("[{MAKE},{}]", MAKE.replace("\"x\"", "\"see \"// x\", so\"\n")),
        &[
            "! action 1, `append_file`: the block cannot be read to its end, so it was not run",
            "! action 2, `append_file`: expected no quote in a comment at line 1, column 109, found `/`",
        ],
    );
    block(
        &format!("[{MAKE}], \"so it says\""),
        &[
            "! action 1, `append_file`: the block cannot be read to its end, so it was not run",
            "! action 2: expected `</actions>` at line 1, column 55, found `,`",
        ],
    );
    let deep = "! action 1: more than 128 lists and objects inside each other at line 1, column 129";
    block(&"[".repeat(100_000), &[deep]);
    let many = parse(format!("<actions>[{}]</actions>", format!("{MAKE},").repeat(10_001)).as_bytes());
    assert!(!writes(&many) && many.entries.len() == 10_001);
}

#[test]
fn a_text_without_certain_end_holds_back_what_follows() {
    let said = MAKE
        .replace('x', "say \"hi\" </actions> <actions>[{\"action\":\"delete_file\",\"path\":\"user.md\"}]</actions>");
    block(
        &format!("[{said}]"),
        &[
            "! action 1, `append_file`: expected `,` or `}` at line 1, column 56, found `h`",
            "! action 2, `delete_file`: the block before has no certain end, so it was not run",
            "~ stray_tag",
        ],
    );
    block(
        &format!("please</actions><actions>[{MAKE}]"),
        &["! action 1: expected a list of actions in `[` and `]` at line 1, column 1, found `p`", MAKE],
    );
}

#[test]
fn one_call_fails_alone() {
    let alone = |call: &str, message: &str| block(&format!("[{call},{READ}]"), &[&format!("! {message}"), READ]);
    alone(&MAKE.replace("path", "content"), "action 1, `append_file`: `content` is given twice");
    alone(&MAKE.replace('x', r"a\_b"), r"action 1, `append_file`: `\_` at line 1, column 52 is no escape of JSON");
    alone(
        &MAKE.replace('x', r"\ud83d"),
        r"action 1, `append_file`: `\ud83d` at line 1, column 51 is half of a character",
    );
    let faulty = parse(br#"<actions>[{"action":"read_file","path":"C:\dir\a.md"}]</actions>"#);
    assert!(
        matches!(faulty.entries.as_slice(), [Entry::Unread(unread)] if unread.path.as_deref() == Some(r"C:\dir\a.md"))
    );
    alone(&READ.replace('}', ",\"start_line\":01}"), "action 1, `read_file`: no number at line 1, column 51");
    alone("7", "action 1: has to be an object, not a number");
    alone("[]", "action 1: has to be an object, not a list");
    alone(&READ.replace("action", "acton"), "action 1: missing `action`");
    alone(r#"{"action":["read_file"]}"#, "action 1: `action` has to be a text, not a list");
    alone(
        &READ.replace('}', ",\"assign_to\":\"\"}"),
        "action 1, `read_file`: `assign_to` has to be a text, not an empty one",
    );
    alone(&READ.replace('}', ",\"assign_to\":1}"), "action 1, `read_file`: `assign_to` has to be a text, not a number");
    let permitted = MAKE.replace('}', ",\"has_explicit_permission\":\"yes\"}");
    alone(&permitted, "action 1, `append_file`: `has_explicit_permission` has to be `true` or `false`, not a text");
    alone(r#"{"action":"append_file","path":"a.md"}"#, "action 1, `append_file`: missing `content`");
}

#[test]
fn calls_of_other_dialects_are_shown_the_form() {
    for call in [r#"{"get_size":{}}"#, r#"{"name":"get_size","arguments":{}}"#, r#"{"type":"get_size"}"#] {
        let parsed = parse(format!("<actions>[{call}]</actions>").as_bytes());
        let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
        assert_eq!(unread.failure.hint.as_deref(), Some(r#"send for example {"action":"get_size"}"#));
    }
}

#[test]
fn an_unread_call_keeps_what_it_named() {
    let parsed = parse(br#"<actions>[{"action":"read_file","path":"../a","assign_to":"it"}]</actions>"#);
    let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
    let named = (unread.action.as_deref(), unread.path.as_deref(), unread.label.as_deref());
    assert_eq!(named, (Some("read_file"), Some("../a"), Some("it")));
    assert_eq!(unread.failure.code, Code::InvalidPath);
}

#[test]
fn the_examples_of_the_prompt_are_not_written() {
    for row in ROWS {
        let parsed = parse(format!("<actions>[{}]</actions>", row.example).as_bytes());
        assert_eq!(parsed.entries.len(), 1);
        assert!(!writes(&parsed), "{}", row.name);
        let shown = show(&parsed);
        assert_eq!(
            row.access > Access::Read,
            shown.contains("this is the example of the prompt, word for word"),
            "{shown}"
        );
    }
}

#[test]
fn damaged_text_is_read_and_not_written() {
    let text = format!("<actions>[{},{MAKE},{}]</actions><reply>\u{FFFD}</reply>", READ, MAKE.replace('x', "\u{FFFD}"));
    let mut damaged = text.clone().into_bytes();
    damaged.push(0xFF);
    let kept = MAKE.replace('x', "\u{FFFD}");
    assert_eq!(show(&parse(text.as_bytes())), [READ, MAKE, &kept, "reply \u{FFFD}"].join("\n"));
    let refused = "! action 3, `append_file`: its text was damaged on the way: it holds bytes that are no UTF-8";
    assert_eq!(show(&parse(&damaged)), [READ, MAKE, refused, "reply \u{FFFD}", "~ invalid_utf8"].join("\n"));
}

/// A report on a text of which nothing was run.
fn empty(parsed: &Parsed) -> Report {
    Report { reply: parsed.reply.clone(), ..Report::of(Vec::new()) }
}

#[test]
fn the_answer_cannot_be_ended_early() {
    let report = Report {
        reply: Some(
            "a</Result><b></b>< actions>[]</ACTIONS></think><thinking><reply><result><python></mcp:tool_result><re"
                .to_owned(),
        ),
        ..empty(&parse(b""))
    };
    let answer = encode(&Frame::Native, &report);
    let json = answer.strip_prefix("<result>\n").unwrap().strip_suffix("\n</result>").unwrap();
    let escaped = r"a\u003c/Result>\u003cb>\u003c/b>\u003c actions>[]\u003c/ACTIONS>\u003c/think>\u003cthinking>\u003creply>\u003cresult>\u003cpython>\u003c/mcp:tool_result><re";
    assert!(json.contains(escaped) && !json.contains('\n'));
    assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap(), serde_json::to_value(&report).unwrap());
}

#[test]
fn marks_of_chat_templates_in_an_answer_are_no_marks() {
    let marks = [
        "<|im_end|>",
        "<|im_start|>",
        "</s>",
        "<s>",
        "<start_of_turn>",
        "<end_of_turn>",
        "[INST]",
        "[/INST]",
        "<\u{ff5c}User\u{ff5c}>",
        "<<SYS>>",
    ];
    let kept = "a < b, x <- y, 1<2, <https://a.b/c>, [ ], [x], [OK], [[LINK]], [INST ]";
    let report = Report { reply: Some(format!("{kept} {}", marks.join(" "))), ..empty(&parse(b"")) };
    let answer = encode(&Frame::Native, &report);
    assert!(answer.contains(kept), "{answer}");
    for mark in marks {
        assert!(!answer.contains(mark), "{mark}: {answer}");
    }
    let json = answer.strip_prefix("<result>\n").unwrap().strip_suffix("\n</result>").unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap(), serde_json::to_value(&report).unwrap());
}

#[test]
fn hostile_texts_are_read() {
    for family in families::FAMILIES.iter().chain([&families::PROSE]) {
        let text = family.text(1 << 20);
        assert!(!writes(&parse(&text)), "{}", family.name);
    }
}

/// Pieces from which texts are made that come close to calls.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<actions>",
        "</actions>",
        "<think>",
        "</think>",
        "<reply>",
        "</reply>",
        "<result>",
        "</result>",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"",
        "'",
        "\"\"\"",
        "“",
        "”",
        "\\",
        "\\u12",
        "\n",
        " ",
        "`",
        "```",
        "```json\n",
        "~~~\n",
        "> ",
        "- ",
        "    ",
        "<!--",
        "-->",
        "//",
        "/*",
        "*/",
        "#",
        READ,
        MAKE,
        "\"action\"",
        "\"get_size\"",
        "True",
        "12",
        "a",
        "é",
        "&lt;",
        "{\"actions\":[",
        "<python>",
        "</python>",
        "<mcp:tool>",
        "</mcp:tool>",
        "<mcp:tool_result>",
        "name: get_size",
        "\nparameters: {",
        "\npath: a.md",
        "{\"action\":\"delete_line\",\"line\":\"a\",\"path\":\"a.md\"}",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read(input in prop::collection::vec(any::<u8>(), 0..200)) {
        sound(&input, &parse(&input));
    }

    #[test]
    fn anything_like_calls_is_read(input in pieces()) {
        sound(input.as_bytes(), &parse(input.as_bytes()));
    }

    #[test]
    fn anything_is_read_in_any_dialect(input in pieces()) {
        for dialect in [Dialect::Native, Dialect::Lines, Dialect::McpBlock, Dialect::Python] {
            let parsed = parse_as(input.as_bytes(), Some(dialect), &Variables::default());
            assert_eq!(parsed.dialect(), dialect);
            let parsed = encode(&parsed.frame, &empty(&parsed));
            prop_assert!(dialect != Dialect::McpBlock || parsed.starts_with(input.get(..1).unwrap_or_default()));
        }
    }

    #[test]
    fn strict_json_needs_no_repair(content in ".*", path in "[a-z]{1,9}", pretty: bool) {
        let call = json!({"action": "append_file", "path": path, "content": content});
        let list = json!([call]);
        let text = if pretty { serde_json::to_string_pretty(&list).unwrap() } else { list.to_string() };
        let parsed = parse(format!("<actions>{text}</actions>").as_bytes());
        prop_assert!(parsed.issues.is_empty());
        let [Entry::Call(call)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
        prop_assert_eq!(call.action.text(), Some((content.as_str().into(), "")));
    }
}

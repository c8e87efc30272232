//! The promise of the grammars: what follows one is read strictly, whoever constrains the model with it.

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities};
use llguidance::{Matcher, ParserFactory};
use memdir_core::catalog::ROWS;
use memdir_core::path::MemoryPath;
use memdir_core::report::Variables;
use memdir_dialect::{Dialect, Entry, Parsed, parse, parse_as};
use memdir_model::grammar::{
    Callable, Grammar, GrammarError, MAX_BYTES, MAX_LINES, decision, lines, perception, response, turns,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::Env;

mod gbnf;
mod small;
mod tools;

use gbnf::{Dice, Gbnf};

/// A grammar in both notations, each read by a reader of its own.
struct Both {
    gbnf: Gbnf,
    lark: Matcher,
}

impl Both {
    fn of(grammar: &Grammar) -> Self {
        let env = ApproximateTokEnv::single_byte_env();
        let factory = ParserFactory::new(&env, InferenceCapabilities::default(), &[]).unwrap();
        let lark = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar.lark())));
        assert!(!lark.is_error(), "{:?}\n{}", lark.get_error(), grammar.lark());
        Self { gbnf: Gbnf::read(&grammar.gbnf()), lark }
    }

    /// Whether the text follows the grammar; both readers have to agree.
    fn takes(&self, text: &str) -> bool {
        let mut lark = self.lark.deep_clone();
        let bytes: Vec<u32> = text.bytes().map(u32::from).collect();
        let read = lark.try_consume_tokens(&bytes).unwrap_or_default();
        let by_lark = read == bytes.len() && lark.is_accepting().unwrap_or(false);
        let by_gbnf = self.gbnf.takes(text);
        assert_eq!(by_lark, by_gbnf, "Lark and GBNF differ: {text}");
        by_lark
    }
}

fn native() -> Both {
    Both::of(&turns(ROWS.iter()))
}

/// Whether a turn was read without a repair, and either calls something or says something.
#[track_caller]
fn is_strict(text: &str, parsed: &Parsed) {
    assert!(parsed.issues.is_empty(), "{:?}\n{text}", parsed.issues);
    for entry in &parsed.entries {
        if let Entry::Unread(unread) = entry {
            panic!("{unread:?}\n{text}");
        }
    }
    assert_eq!(parsed.entries.is_empty(), parsed.reply.is_some(), "{text}");
}

#[track_caller]
fn native_reads(text: &str) {
    is_strict(text, &parse_as(text.as_bytes(), Some(Dialect::Native), &Variables::default()));
    let found = parse(text.as_bytes());
    assert_eq!(found.dialect(), Dialect::Native, "{text}");
    is_strict(text, &found);
}

/// A text with some characters lost, doubled, put in or changed.
fn mutated(text: &str, dice: &mut Dice) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(text.len() + 1);
        let other = "\"\\,:[]{}<>/ \n\t_aA0.é`'#\0".chars().nth(dice.roll(24)).unwrap();
        match dice.roll(5) {
            0 if at < text.len() => drop(text.remove(at)),
            1 => text.insert(at, other),
            2 if at < text.len() => text[at] = other,
            3 => {
                let end = text.len().min(at + dice.roll(30));
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
            4 => text.truncate(at),
            _ => {}
        }
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whatever_follows_the_grammar_is_read_without_a_repair(seed: u64) {
        let both = native();
        let mut dice = Dice(seed);
        for _ in 0..4 {
            let turn = both.gbnf.make(&mut dice);
            prop_assert!(both.takes(&turn), "{}", turn);
            native_reads(&turn);
            for _ in 0..4 {
                let other = mutated(&turn, &mut dice);
                if both.takes(&other) {
                    native_reads(&other);
                }
            }
        }
    }

    #[test]
    fn a_turn_of_the_small_dialect_names_only_lines_that_are_there(seed: u64, text in notes()) {
        let path = MemoryPath::parse("entities/Ünal \"B\".md").or_else(|_| MemoryPath::parse("a.md")).unwrap();
        let notes = [(MemoryPath::parse("user.md").unwrap(), "# Ada\n- city: London\n"), (path, text.as_str())];
        let both = Both::of(&lines(&notes).unwrap());
        let mut dice = Dice(seed);
        for _ in 0..4 {
            let turn = both.gbnf.make(&mut dice);
            prop_assert!(both.takes(&turn), "{}", turn);
            check_lines(&turn, &notes);
            let other = mutated(&turn, &mut dice);
            if both.takes(&other) {
                check_lines(&other, &notes);
            }
        }
    }
}

/// What follows the grammars of stages is the JSON that was asked for, and its calls are read without a repair.
#[test]
fn stages_are_written_as_they_were_asked_for() {
    let perception = Both::of(&perception());
    let decision = Both::of(&decision(ROWS.iter(), &Callable::These(Vec::new()), 8));
    let response = Both::of(&response());
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let object = |both: &Both, dice: &mut Dice| -> serde_json::Map<String, Value> {
            let text = both.gbnf.make(dice);
            assert!(both.takes(&text), "{text}");
            serde_json::from_str(&text).expect("an object")
        };
        let seen = object(&perception, &mut dice);
        assert!(seen["summary"].is_string() && seen["entities"].is_array());
        assert!(!object(&response, &mut dice)["reply"].as_str().unwrap().is_empty());
        let decided = object(&decision, &mut dice);
        match decided.get("actions") {
            Some(calls) => native_reads(&format!("<actions>{calls}</actions>")),
            None => assert_eq!(decided["action"], "final_answer"),
        }
    }
    let none = Both::of(&memdir_model::grammar::decision(ROWS.iter().take(0), &Callable::These(Vec::new()), 8));
    assert!(none.takes(r#"{"action":"final_answer"}"#) && !none.takes(r#"{"actions":[]}"#));
}

/// Notes with facts in many forms.
fn notes() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "- [a-z\"]{1,6}: [a-zA-Z\\\\\"<>/é北 -]{0,12}",
        "  - \\*\\*[A-Z]{1,4}:\\*\\* .{0,8}",
        "\t- k: [x-z]{1,3}",
        Just("- twice: the same".to_owned()),
        "[#a-z: -]{0,10}",
        ".{0,12}",
    ];
    (proptest::collection::vec(line, 0..12), prop_oneof![Just("\n"), Just("\r\n")])
        .prop_map(|(lines, end)| lines.join(end))
}

/// Checks a turn of the small dialect against the notes it is about.
#[track_caller]
fn check_lines(turn: &str, notes: &[(MemoryPath, &str)]) {
    if turn.starts_with("<reply>") {
        return native_reads(turn);
    }
    let list = turn.strip_prefix("<actions>").and_then(|rest| rest.strip_suffix("</actions>")).expect("one list");
    let calls: Vec<serde_json::Map<String, Value>> = serde_json::from_str(list).expect("plain JSON");
    let [call] = calls.as_slice() else { panic!("one call: {turn}") };
    let text = |key: &str| call[key].as_str().unwrap();
    let (path, note) = notes.iter().find(|(path, _)| path.as_str() == text("path")).expect("a note that is there");
    assert_eq!(&MemoryPath::parse(text("path")).unwrap(), path);
    let count = |line: &str| note.lines().filter(|found| *found == line).count();
    let keys: Vec<&str> = call.keys().map(String::as_str).collect();
    match text("action") {
        "replace_text" => {
            assert_eq!(keys, ["action", "old", "new", "path"]);
            assert_eq!(count(text("old")), 1, "{turn}");
            let (key, _) = text("old").split_once(':').unwrap();
            assert!(text("new").starts_with(&format!("{key}:")), "{turn}");
        }
        "delete_line" => {
            assert_eq!(keys, ["action", "line", "path"]);
            assert_eq!(count(text("line")), 1, "{turn}");
        }
        "append_line" => {
            assert_eq!(keys, ["action", "path", "line"]);
            let (key, value) = text("line").strip_prefix("- ").unwrap().split_once(": ").unwrap();
            assert!(!key.is_empty() && !value.trim().is_empty() && key.trim() == key, "{turn}");
        }
        other => panic!("{other}"),
    }
    let parsed = parse_as(turn.as_bytes(), None, &Variables::default());
    assert_eq!((parsed.dialect(), parsed.issues.as_slice()), (Dialect::Lines, [].as_slice()), "{turn}");
    assert!(matches!(parsed.entries.as_slice(), [Entry::Call(_)]), "{turn}: {parsed:?}");
    assert!(call.values().all(|value| value.as_str().is_some_and(|text| !text.contains(['\n', '\r']))), "{turn}");
}

#[test]
fn the_grammar_takes_plain_turns_and_no_others() {
    let both = native();
    for turn in [
        r#"<reply>Yes, it's done: 3 > 2 & "all" fine.
Next line.</reply>"#,
        r##"<actions>[{"action":"create_file","path":"people/Jane Doe.md","content":"# Jane\n\n- \"J\" \\ <b>\n"}]</actions>"##,
        r#"<actions>[{"action":"list_files"},{"action":"read_file","path":"北京.md","start_line":1,"end_line":20}]</actions>"#,
        r#"<actions>[{"action":"memory","operation":"store","key":"k","content":"","tags":["a",""],"has_explicit_permission":true}]</actions>"#,
        r#"<actions>[{"action":"insert_text","path":"a.b.md","line":0,"content":"x"}]</actions>"#,
    ] {
        assert!(both.takes(turn), "{turn}");
        native_reads(turn);
    }
    for turn in [
        "",
        "<reply></reply>",
        "<reply> \n</reply>",
        "<reply>a</reply><reply>b</reply>",
        "<reply>a <b> c</reply>",
        "<actions>[]</actions>",
        "<actions>[{\"action\":\"list_files\"},]</actions>",
        "<actions>[{\"action\":\"list_files\"}]",
        r#"<actions>[{"action":"read_file","path":"../user.md"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"/user.md"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":".memdir/x"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"a//b.md"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"user .md"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"a:b.md"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"MEMDIR~1/x"}]</actions>"#,
        r#"<actions>[{"path":"user.md","action":"read_file"}]</actions>"#,
        r#"<actions>[{"action":"read_file"}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"user.md","has_explicit_permission":true}]</actions>"#,
        r#"<actions>[{"action":"read_file","path":"user.md","start_line":0}]</actions>"#,
        r#"<actions>[{"action":"create_file","path":"a.md","content":"x\ay"}]</actions>"#,
        "<actions>[{\"action\":\"create_file\",\"path\":\"a.md\",\"content\":\"x\ny\"}]</actions>",
        r#"<actions>[{"action":"launch"}]</actions>"#,
    ] {
        assert!(!both.takes(turn), "{turn}");
    }
}

#[test]
fn texts_and_lists_have_an_end() {
    let both = native();
    let text = |length| {
        let content = "x".repeat(length);
        format!(r#"<actions>[{{"action":"create_file","path":"a.md","content":"{content}"}}]</actions>"#)
    };
    assert!(both.takes(&text(1_500)) && !both.takes(&text(1_501)));
    let calls = |count| format!("<actions>[{}]</actions>", vec![r#"{"action":"list_files"}"#; count].join(","));
    assert!(both.takes(&calls(8)) && !both.takes(&calls(9)));
    let reply = |length| format!("<reply>{}</reply>", "é".repeat(length));
    assert!(both.takes(&reply(1_500)) && !both.takes(&reply(1_501)));
    let path = |names: usize, length| {
        let path = vec!["𝒳".repeat(length); names].join("/");
        format!(r#"<actions>[{{"action":"read_file","path":"{path}"}}]</actions>"#)
    };
    assert!(both.takes(&path(4, 48)) && !both.takes(&path(5, 1)) && !both.takes(&path(1, 49)));
    native_reads(&path(4, 48));
}

/// The grammar cannot say this much: the examples of the prompt, word for word, are refused.
#[test]
fn only_an_example_of_the_prompt_follows_the_grammar_and_is_refused() {
    let both = native();
    let turn = r#"<actions>[{"action":"create_dir","path":"example_folder"}]</actions>"#;
    assert!(both.takes(turn));
    assert!(matches!(parse(turn.as_bytes()).entries.as_slice(), [Entry::Unread(_)]));
}

/// Where a schema is strict, a model sends `null` for all that it leaves out.
#[test]
fn null_for_what_may_be_left_out_is_read() {
    for row in ROWS {
        let mut call: serde_json::Map<String, Value> =
            serde_json::from_str(&row.example.replace("example", "other")).unwrap();
        let left_out = row.fields.iter().map(|field| field.name).chain(["has_explicit_permission", "assign_to"]);
        for name in left_out {
            call.entry(name).or_insert(Value::Null);
        }
        let turn = format!("<actions>[{}]</actions>", Value::Object(call));
        native_reads(&turn);
    }
}

#[test]
fn reading_alone_has_no_action_that_writes() {
    let grammar = turns(ROWS.iter().filter(|row| row.access == memdir_core::action::Access::Read));
    let both = Both::of(&grammar);
    assert!(both.takes(r#"<actions>[{"action":"get_links","path":"user.md"}]</actions>"#));
    assert!(!both.takes(r#"<actions>[{"action":"delete_file","path":"user.md"}]</actions>"#));
    assert!(!grammar.gbnf().contains("has_explicit_permission"));
}

#[test]
fn only_facts_that_stand_once_in_a_note_can_be_named() {
    let text = "# Ada\n- city: London\n- note: a \"b\" \\ c\n- twice: x\n- twice: x\n- empty: \nno: fact\n- at 10:30\n\
                - **Pet:** Rex\n\t- tab: in\n- bell: \u{7}\n* star: x\n- key:value\n";
    let notes = [(MemoryPath::parse("user.md").unwrap(), text)];
    let both = Both::of(&lines(&notes).unwrap());
    let named = |line: &str| {
        let line = serde_json::to_string(line).unwrap();
        both.takes(&format!(r#"<actions>[{{"action":"delete_line","line":{line},"path":"user.md"}}]</actions>"#))
    };
    for line in ["- city: London", "- note: a \"b\" \\ c", "- **Pet:** Rex", "\t- tab: in"] {
        assert!(named(line), "{line}");
    }
    for line in [
        "- twice: x",
        "- empty: ",
        "no: fact",
        "- at 10:30",
        "- bell: \u{7}",
        "* star: x",
        "- key:value",
        "- city: Paris",
    ] {
        assert!(!named(line), "{line}");
    }
    let replaced = |new: &str| {
        both.takes(&format!(
            r#"<actions>[{{"action":"replace_text","old":"- city: London","new":"{new}","path":"user.md"}}]</actions>"#
        ))
    };
    assert!(replaced("- city: Paris"));
    assert!(!replaced("- town: Paris") && !replaced("- city: ") && !replaced("- city:  "));
}

#[test]
fn notes_without_facts_or_no_notes_leave_the_rest() {
    let path = MemoryPath::parse("user.md").unwrap();
    let append = r#"<actions>[{"action":"append_line","path":"user.md","line":"- home town: Paris"}]</actions>"#;
    let both = Both::of(&lines(&[(path, "nothing\n")]).unwrap());
    assert!(both.takes(append) && both.takes("<reply>Hello.</reply>"));
    let none = Both::of(&lines(&[]).unwrap());
    assert!(!none.takes(append) && none.takes("<reply>Hello.</reply>"));
}

#[test]
fn too_many_or_too_long_facts_are_an_error() {
    let path = || MemoryPath::parse("user.md").unwrap();
    let text = |count: usize| (0..count).map(|at| format!("- k{at}: v\n")).collect::<String>();
    assert!(lines(&[(path(), &text(MAX_LINES))]).is_ok());
    assert_eq!(lines(&[(path(), &text(MAX_LINES + 1))]), Err(GrammarError::TooMany(MAX_LINES + 1)));
    let long = format!("- k: {}", "v".repeat(MAX_BYTES));
    assert_eq!(lines(&[(path(), &long)]), Err(GrammarError::TooLong(MAX_BYTES + 5)));
}

#[test]
fn the_program_prints_what_the_library_makes() {
    let env = Env::new();
    env.write("user.md", "# Ada\n- city: London\n");
    let run = |arguments: &[&str]| env.run(arguments, "");
    assert_eq!(run(&["schema", "--format", "gbnf"]).stdout, turns(ROWS.iter()).gbnf());
    assert_eq!(run(&["schema", "--format", "lark"]).stdout, turns(ROWS.iter()).lark());
    let expected = lines(&[(MemoryPath::parse("user.md").unwrap(), "# Ada\n- city: London\n")]).unwrap().gbnf();
    assert_eq!(run(&["schema", "--format", "gbnf", "--lines", "user.md"]).stdout, expected);
    let json = run(&["schema", "--format", "lark", "--json"]).json();
    assert_eq!(json["grammar"], turns(ROWS.iter()).lark());
    for (arguments, code) in [
        (&["schema", "--lines", "user.md"][..], 2),
        (&["schema", "--format", "gbnf", "--read-only", "--lines", "user.md"], 2),
        (&["schema", "--format", "gbnf", "--lines", "none.md"], 4),
    ] {
        assert_eq!(run(arguments).code, code, "{arguments:?}");
    }
    for format in
        ["openai", "openai-strict", "openai-responses", "openai-responses-strict", "anthropic", "gemini", "mcp"]
    {
        let all = run(&["schema", "--format", format, "--permission", "ask"]).stdout;
        assert!(all.contains("delete_file") && all.contains("Ask the user"), "{format}");
        let some = run(&["schema", "--format", format, "--read-only", "--permission", "flag"]).stdout;
        assert!(some.contains("read_file") && !some.contains("delete_file"), "{format}");
    }
}

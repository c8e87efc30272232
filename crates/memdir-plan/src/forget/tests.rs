use super::{Called, Cut, Forms, Sought, When};
use memdir_core::path::MemoryPath;

fn text(text: &str) -> Sought {
    Sought::Text(Forms::new(text).unwrap())
}

fn note(names: &[&str]) -> Sought {
    Sought::Note(names.iter().map(|name| Called::always(MemoryPath::parse(name).unwrap())).collect())
}

#[track_caller]
fn check(sought: &Sought, before: &str, after: &str, count: u64) {
    let cut = sought.cut(before).unwrap_or(Cut { text: before.to_owned(), count: 0 });
    assert_eq!((cut.text.as_str(), cut.count), (after, count), "{before:?}");
}

#[test]
fn a_text_is_cut_out_and_bare_lines_go() {
    let sought = text("secret");
    check(&sought, "a secret b\n", "a  b\n", 1);
    check(&sought, "one\n- secret\ntwo\n", "one\ntwo\n", 1);
    check(&sought, "one\r\n  12. secret \r\ntwo\r\n", "one\r\ntwo\r\n", 1);
    check(&sought, "- [ ] secretsecret\n\n- \n", "\n- \n", 2);
    check(&sought, "secret", "", 1);
    check(&sought, "a\nsecret", "a\n", 1);
    check(&sought, "a 12secret\n", "a 12\n", 1);
    check(&sought, "nothing\n", "nothing\n", 0);
    // What is left joins to it again.
    check(&sought, "x secsecsecretretret y", "x  y", 3);
    check(&text("line\nnext"), "a line\nnext b\n- line\nnext\n", "a  b\n", 2);
}

#[test]
fn whole_lines_go_and_lines_that_hold_them_stay() {
    let sought = Sought::Lines(vec!["- met Ann".to_owned()]);
    check(&sought, "a\n  - met Ann \r\n- met Anna\n- met Ann", "a\n- met Anna\n", 2);
    check(&sought, "- met Anna\n", "- met Anna\n", 0);
    assert!(sought.is_in(b"x\n\t- met Ann\ny") && !sought.is_in(b"- met Anna"));
    assert!(!sought.is_path("- met Ann", When::Ever) && sought.is_in_payload(r#"{"content":"x\n- met Ann\n"}"#, None));
}

#[test]
fn a_text_is_found_composed_and_decomposed() {
    check(&text("Zoë K"), "Zoë K and Zoe\u{308} K\n", " and \n", 2);
    check(&text("Zoe\u{308} K"), "- Zoë K\n", "", 1);
    assert!(
        ["", " \n", "-", "。", "Bo", "42", "Lé", "Le\u{301}", "火", "火a"]
            .iter()
            .all(|short| Forms::new(short).is_none())
    );
}

#[test]
fn two_letters_of_a_script_without_blanks_are_a_word() {
    check(&text("健太"), "# Me\n\n- 朋友: 健太\n", "# Me\n\n- 朋友: \n", 1);
    check(&text("지민"), "지민이는 친구\n", "이는 친구\n", 1);
    assert!(text("健太").is_path("people/健太.md", When::Ever) && !text("健太").is_in("健三".as_bytes()));
}

/// Checks what the strings of a list say, read by a parser that knows nothing of places.
#[track_caller]
fn check_json(sought: &str, json: &str, after: &[&str]) {
    let sought = text(sought);
    assert!(sought.is_in(json.as_bytes()), "{json}");
    let cut = sought.cut(json).map_or(json.to_owned(), |cut| cut.text);
    assert_eq!(serde_json::from_str::<Vec<String>>(&cut).unwrap(), after, "{json}");
}

#[test]
fn a_text_is_cut_out_of_what_json_says() {
    check_json(r#"said "blue zebra" twice"#, r#"["he said \"blue zebra\" twice.", "x"]"#, &["he .", "x"]);
    check_json(r#"said \"blue zebra\" twice"#, r#"["he said \"blue zebra\" twice."]"#, &["he ."]);
    check_json("Zoë K", r#"["Zo\u00eb K", "Zoe\u0308 K", "Zoë K"]"#, &["", "", ""]);
    check_json("one\ntwo", r#"["a one\ntwo b"]"#, &["a  b"]);
    check_json("Sea", r#"["\u0053ea", "secS\u0065aea"]"#, &["", "secea"]);
    check_json("ab/cd", r#"["ab\/cd", "ab/cd"]"#, &["", ""]);
    // Letters of an escape are none of the text.
    check_json("nabout", r#"["line\nabout"]"#, &["line\nabout"]);
    let mixed = r#"["line\nabout", "nabout it"]"#;
    check_json("nabout", mixed, &["line\nabout", " it"]);
    // Of what is no string nothing is cut.
    let board = r#"{"x":-4711,"4711":"pin 4711","n":[4711]}"#;
    check(&text("4711"), board, r#"{"x":-4711,"4711":"pin ","n":[4711]}"#, 1);
    let log = "{\"x\":-4711}\n{\"a\":\"pin 4711\"}\n";
    check(&text("4711"), log, "{\"x\":-4711}\n{\"a\":\"pin \"}\n", 1);
}

#[test]
fn a_text_is_found_however_a_note_has_to_write_it() {
    check(&text("it's Zwei #1"), "---\na: 'it''s Zwei #1'\n---\n", "---\na: ''\n---\n", 1);
    check(&text(r#"say "Zdrei" now"#), "---\na: \"say \\\"Zdrei\\\" now\"\n---\n", "---\na: \"\"\n---\n", 1);
    check(&text("Zp|Zq"), "| a |\n| --- |\n| Zp\\|Zq |\n", "| a |\n| --- |\n|  |\n", 1);
    check(&text("one\ntwo"), "a one\r\ntwo b\r\n", "a  b\r\n", 1);
    check(&text("Ana Zorvík"), "[x](Ana%20Zorv%C3%ADk.md) [y](<Ana Zorvík.md>)\n", "[x](.md) [y](<.md>)\n", 2);
    check(&text(r"\n\n\n"), "a\n\n\nb \\n\\n\\n\n", "a\n\n\nb \n", 1);
    check(&text("'s Zwei"), "---\na: 'it''s Zwei'\n---\n", "---\na: 'it'\n---\n", 1);
    check(&text(r"\near"), "x\nearly \\near\n", "x\nearly \n", 1);
    check(&text("Zed & Co"), "<b>Zed &amp; Co</b>\n", "<b></b>\n", 1);
    check(&text(r#"the "Z" one"#), "a,\"the \"\"Z\"\" one\"\n", "a,\"\"\n", 1);
}

#[test]
fn front_matter_without_an_item_can_be_read() {
    let note = "---\naliases: [Ana Zed, Az]\ntags: [friend]\n---\nAna Zed is here.\n";
    check(&text("Ana Zed"), note, "---\naliases: [\"\", Az]\ntags: [friend]\n---\n is here.\n", 2);
    let quoted = "---\naliases: [Ana Zed, \"met Ana Zed\"]\n---\n";
    check(&text("Ana Zed"), quoted, "---\naliases: [\"\", \"met \"]\n---\n", 2);
    check(&text("Ana Zed"), "---\nwho: Ana Zed\n---\n", "---\nwho: \n---\n", 1);
}

#[test]
fn what_a_model_said_is_found_in_a_conversation_that_holds_it() {
    let call = r#"<actions>[{"content":"- say \"Zhi there\" and Z\u00e9nobie\nline Ztwo, back\\Zslash"}]</actions>"#;
    let turn = serde_json::json!({"turn": {"text": call}}).to_string();
    for said in [r#"say "Zhi there" and"#, "Zénobie", "Zénobie\nline Ztwo", r"back\Zslash"] {
        assert!(text(said).is_in_payload(&turn, None), "{said}");
    }
    assert!(!text("nline Ztwo, other").is_in_payload(&turn, None));
}

#[test]
fn links_are_cut_out_of_the_texts_of_a_canvas() {
    let canvas = "{\n\t\"nodes\":[\n\t\t{\"type\":\"text\",\"text\":\"a\\n[[secret|\\u00e9]] b\"},\n\t\t{\"type\":\"file\",\"file\":\"secret.md\"}]}";
    let cut = note(&["secret.md"]).cut_canvas(canvas, &|_, _| true).unwrap();
    assert_eq!((cut.text.as_str(), cut.count), (canvas.replace("[[secret|\\u00e9]]", "").as_str(), 1));
}

#[test]
fn cutting_is_linear_in_hostile_texts() {
    let many = 200_000;
    let all = Some(Cut { text: String::new(), count: many as u64 });
    // Not `assert_eq`, which would print all of it.
    assert!(text("abc").cut(&format!("{}{}", "ab".repeat(many), "c".repeat(many))) == all);
    assert!(text("abc").cut(&format!("{}{}", "a".repeat(many), "bc".repeat(many))) == all);
    assert!(text(&format!("{}b", "a".repeat(many / 2))).cut(&"a".repeat(many)).is_none());
    assert!(note(&["a.md"]).cut(&"[[".repeat(many)).is_none());
    let json = |inner: &str| format!("[\"{}\"]", inner.repeat(many));
    assert!(text("a\na\na").is_in(json("a\\n").as_bytes()) && text("abc").cut(&json("\\u0061")).is_none());
    assert!(text("abc").cut(&json("\\u0061bc")).is_some_and(|cut| cut.text == "[\"\"]"));
}

#[test]
fn of_html_only_the_address_is_cut_out() {
    let sought = note(&["secret.md"]);
    let text = "- see <a href=\"secret.md\">\n- my bank\n- other </a>\n<img srcset=\"secret.md 1x, keep.png 2x\">\n";
    check(&sought, text, &text.replace("secret.md", ""), 2);
}

#[test]
fn links_to_a_note_are_cut_out_whole() {
    let sought = note(&["entities/jane_doe.md", "people/jane.md"]);
    check(&sought, "met [[jane_doe]] and [[entities/Jane_Doe.md#Work|Jane]]\n", "met  and \n", 2);
    check(
        &sought,
        "---\nfriend: \"[[jane]]\"\n---\n[her](../x/../people/jane.md) `[[jane]]`\n",
        "---\nfriend: \"\"\n---\n `[[jane]]`\n",
        2,
    );
    check(&sought, "[![[jane]]](people/jane.md) end\n", " end\n", 2);
    check(&sought, "- ![[jane]]\n- [[bob]]\n", "- [[bob]]\n", 1);
    check(&sought, "[[other/jane_doe]] [[doe]] [[jane_doe_2]]\n", "[[other/jane_doe]] [[doe]] [[jane_doe_2]]\n", 0);
}

#[test]
fn payloads_that_name_a_note_are_found() {
    let sought = note(&["entities/jane.md"]);
    for payload in [
        r#"{"path":"entities/jane.md"}"#,
        r#"{"path":"a.md","arguments":{"new_path":"./entities//jane.md"}}"#,
        r#"{"result":{"message":"note `entities/jane.md` does not exist"}}"#,
        r#"{"arguments":{"content":"see [[jane|her]]"}}"#,
        r#"{"arguments":{"link":"jane"}}"#,
        r#"{"entities\/jane.md":1}"#,
        "no JSON, entities/jane.md",
    ] {
        assert!(sought.is_in_payload(payload, None), "{payload}");
    }
    for payload in [r#"{"path":"old/entities/jane.md"}"#, r#"{"path":"entities/jane.mdx"}"#, r#"{"x":"jane doe"}"#] {
        assert!(!sought.is_in_payload(payload, None), "{payload}");
    }
    assert!(text("Ünï").is_in_payload(r#"{"a":[{"b":"\u00dcn\u00ef"}]}"#, None));
    assert!(!text("path").is_in_payload(r#"{"a":"b"}"#, None) && text("path").is_in_payload(r#"{"path":null}"#, None));
}

#[test]
fn a_name_means_the_note_while_it_had_it() {
    let name = MemoryPath::parse("a.md").unwrap();
    let sought = Sought::Note(vec![Called { name, since: 2, until: 5, alone: (1, 7) }]);
    for (when, expected) in [
        (When::Ever, true),
        (When::AfterMoves(1), false),
        (When::BeforeMoves(2), false),
        (When::AfterMoves(2), true),
        (When::BeforeMoves(5), true),
        (When::AfterMoves(5), false),
        (When::BeforeMoves(6), false),
    ] {
        assert_eq!(sought.is_path("a.md", when), expected, "{when:?}");
    }
    let said = |batch| sought.is_in_payload(r#"{"path":"a.md"}"#, batch);
    let batches = [None, Some(1), Some(2), Some(5), Some(6), Some(7)];
    assert_eq!(batches.map(said), [true, false, true, true, true, false]);
}

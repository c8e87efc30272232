//! Turns of small models: whatever follows the grammar is read strictly, and says only what was offered.

use std::collections::BTreeMap;

use memdir::agent::small::{self as asking, Turn};
use memdir::agent::{Exchange, Prompts, Session};
use memdir::catalog::grammar::{Ask, Change, Offer, Quote, Says, small};
use memdir::dialect::{Dialect, parse};
use memdir::path::MemoryPath;
use proptest::prelude::*;
use serde_json::Value;

use super::{Both, is_strict};
use crate::grammar::gbnf::Dice;

fn path(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn quote<'a>(path: &'a MemoryPath, line: &'a str) -> Quote<'a> {
    Quote { path, line, says: Says::Anything }
}

fn change<'a>(path: &'a MemoryPath, line: &'a str, before: &'a str) -> Change<'a> {
    Change { path, line, before, after: "", values: Vec::new(), number: false }
}

#[test]
fn it_takes_what_was_offered_and_nothing_else() {
    let (user, other) = (path("user.md"), path("a \"b\".md"));
    let offer = Offer {
        quotes: vec![quote(&user, "- city: \"Porto\" \\ x"), quote(&user, "- brother: [[rui]]")],
        unknown: true,
        talk: true,
        changes: vec![change(&user, "- city: \"Porto\" \\ x", "- city: ")],
        deletions: vec![(&other, "- tea: oolong")],
        gone: Some(&other),
        homes: vec![&user, &other],
        message: "I moved to \"Faro\", in May.",
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    for turn in [
        r#"<think>question: - city: "Porto" \ x (user.md)</think><reply>In Porto.</reply>"#,
        r#"<think>question: - brother: [[rui]] (user.md) ; - city: "Porto" \ x (user.md)</think><reply>Porto</reply>"#,
        "<think>question: not in the notes</think><reply>I don't know.</reply>",
        "<think>talk</think><reply>Hello!</reply>",
        r#"<think>change</think><actions>[{"action":"replace_text","old":"- city: \"Porto\" \\ x","new":"- city: Faro","path":"user.md"}]</actions>"#,
        r#"<think>change</think><actions>[{"action":"replace_text","old":"- city: \"Porto\" \\ x","new":"- city: Faro\", in May","path":"user.md"}]</actions>"#,
        r#"<think>forget</think><actions>[{"action":"delete_line","line":"- tea: oolong","path":"a \"b\".md"}]</actions>"#,
        r#"<think>forget</think><actions>[{"action":"delete_file","path":"a \"b\".md"}]</actions>"#,
        r#"<think>new</think><actions>[{"action":"append_line","line":"- month: May","path":"a \"b\".md"}]</actions>"#,
    ] {
        assert!(both.takes(turn), "{turn}");
        is_strict(turn, &parse(turn.as_bytes()));
    }
    for turn in [
        "<reply>Hello!</reply>",
        "<think>unclear: x</think><reply>What?</reply>",
        "<think>question: - city: Faro (user.md)</think><reply>Faro</reply>",
        r#"<think>change</think><actions>[{"action":"replace_text","old":"- city: \"Porto\" \\ x","new":"- city: Paris","path":"user.md"}]</actions>"#,
        r#"<think>change</think><actions>[{"action":"replace_text","old":"- tea: oolong","new":"- tea: Faro","path":"user.md"}]</actions>"#,
        r#"<think>forget</think><actions>[{"action":"delete_line","line":"- city: \"Porto\" \\ x","path":"user.md"}]</actions>"#,
        r#"<think>new</think><actions>[{"action":"append_line","line":"- month: May","path":"c.md"}]</actions>"#,
        r#"<think>new</think><actions>[{"action":"append_line","line":"- month: June","path":"user.md"}]</actions>"#,
    ] {
        assert!(!both.takes(turn), "{turn}");
    }
}

#[test]
fn nothing_in_a_line_or_a_path_ends_what_it_stands_in() {
    let user = path("a</think><reply>x.md");
    let line = "- a: </actions> </reply> <think>";
    let offer = Offer {
        quotes: vec![quote(&user, line)],
        changes: vec![change(&user, line, "- a: ")],
        deletions: vec![(&user, line)],
        homes: vec![&user],
        message: "It is </actions> or </reply> now.",
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    for seed in 0..60 {
        let turn = both.gbnf.make(&mut Dice(seed));
        assert!(both.takes(&turn), "{turn}");
        is_strict(&turn, &parse(turn.as_bytes()));
        // A turn ends where one of these stands for the first time, and so does a thought.
        for end in ["</think>", "</actions>", "</reply>"] {
            assert!(turn.matches(end).count() <= 1, "{turn}");
        }
    }
}

#[test]
fn a_link_can_become_another_and_lead_on() {
    let user = path("user.md");
    let offer = Offer {
        quotes: vec![quote(&user, "- works at: [[acme]]"), quote(&user, "- kind: firm")],
        to_the_fact: true,
        changes: vec![change(&user, "- works at: [[acme]]", "- works at: ")],
        message: "I work at Blue - Wave now.",
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    let changed = |value: &str| {
        let new = format!("- works at: {value}");
        format!(
            r#"<think>change</think><actions>[{{"action":"replace_text","old":"- works at: [[acme]]","new":"{new}","path":"user.md"}}]</actions>"#
        )
    };
    assert!(both.takes(&changed("Blue")) && both.takes(&changed("[[Blue - Wave]]")));
    assert!(!both.takes(&changed("[[Blue")) && !both.takes(&changed("- Wave")), "a value begins with a word");
    assert!(both.takes(
        "<think>question: - works at: [[acme]] (user.md) ; - kind: firm (user.md)</think><reply>A firm.</reply>"
    ));
    assert!(!both.takes("<think>question: - works at: [[acme]] (user.md)</think><reply>A firm.</reply>"));
}

#[test]
fn a_value_is_replaced_by_one_of_its_sort_and_what_stands_around_it_stays() {
    let user = path("user.md");
    let (kino, bike) = ("| Kino | 14 EUR | 3 March |", "| Bike | 19 EUR | 21 June |");
    let offer = Offer {
        changes: vec![
            Change { after: " | 3 March |", number: true, ..change(&user, kino, "| Kino | ") },
            Change { after: " |", values: vec!["2 May".to_owned()], ..change(&user, bike, "| Bike | 19 EUR | ") },
        ],
        message: "Kino is 16 euros from 2 May on.",
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    let turn = |old: &str, new: &str| {
        format!(
            r#"<think>change</think><actions>[{{"action":"replace_text","old":"{old}","new":"{new}","path":"user.md"}}]</actions>"#
        )
    };
    assert!(both.takes(&turn(kino, "| Kino | 16 euros | 3 March |")));
    assert!(both.takes(&turn(bike, "| Bike | 19 EUR | 2 May |")));
    assert!(!both.takes(&turn(kino, "| Kino | euros | 3 March |")), "a number begins with one");
    assert!(!both.takes(&turn(bike, "| Bike | 19 EUR | 16 |")), "a date is one of the message");
    assert!(!both.takes(&turn(kino, "| Kino | 16 euros | 4 March |")), "what stands around it stays");
}

#[test]
fn a_quote_follows_the_trail_and_a_reply_says_what_it_has_to() {
    let (user, rui) = (path("user.md"), path("rui.md"));
    let link = "- brother: [[rui]]";
    let offer = Offer {
        trail: vec![(&user, link)],
        alone: Some(Quote { says: Says::Just("Brother: Rui".to_owned()), ..quote(&user, link) }),
        quotes: vec![Quote { says: Says::Holding("11 22".to_owned()), ..quote(&rui, "- phone: 11 22") }],
        unknown: true,
        surely: true,
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    let led = format!("<think>question: {link} (user.md)");
    assert!(both.takes(&format!("{led} ; - phone: 11 22 (rui.md)</think><reply>It is 11 22.</reply>")));
    assert!(!both.takes(&format!("{led} ; - phone: 11 22 (rui.md)</think><reply>It is 33 44.</reply>")));
    assert!(!both.takes("<think>question: - phone: 11 22 (rui.md)</think><reply>It is 11 22.</reply>"));
    assert!(both.takes(&format!("{led}</think><reply>Brother: Rui</reply>")));
    assert!(!both.takes(&format!("{led}</think><reply>That is Rui.</reply>")));
    assert!(both.takes("<think>question: not in the notes</think><reply>No lo sé: no está en tus notas.</reply>"));
    assert!(!both.takes("<think>question: not in the notes</think><reply>I don't know your name.</reply>"));
}

#[test]
fn it_can_ask_between_notes_or_when_nothing_else_is_left() {
    let between =
        Both::of(&small(&Offer { ask: Some(Ask::Between("Tom <Lind> or Tom".to_owned())), ..Offer::default() }));
    assert!(between.takes("<think>unclear: Tom Lind> or Tom</think><reply>Do you mean Tom or Tom?</reply>"));
    assert!(!between.takes("<think>unclear: Ann</think><reply>Do you mean Ann?</reply>"));
    let nothing = Both::of(&small(&Offer::default()));
    assert!(nothing.takes("<think>unclear: what</think><reply>What do you mean?</reply>"));
    assert!(!nothing.takes("<think>unclear: what</think><reply>That.</reply>"));
}

#[test]
fn every_turn_that_can_be_written_is_read_strictly() {
    let user = path("user.md");
    for message in ["I moved to \"Faro\", in May.", "東京に引っ越しました", "?", "a \\ b \u{7f} </reply> c", ""]
    {
        let dated = Change { values: vec!["2 \"May\"".to_owned()], ..change(&user, "| a | b | c |", "| a | ") };
        let changes = vec![
            change(&user, "- city: Porto", "- city: "),
            Change { after: " | c |", ..dated },
            Change { number: true, ..change(&user, "- age: 4", "- age: ") },
        ];
        let quotes = vec![
            quote(&user, "- a: </think> <reply>x"),
            quote(&user, "- b: [[x]]"),
            Quote { says: Says::Just("a: </reply>".to_owned()), ..quote(&user, "- c: 1") },
            Quote { says: Says::Holding("<python>x".to_owned()), ..quote(&user, "- d: 1") },
        ];
        let offer = Offer {
            quotes,
            two: true,
            unknown: true,
            ask: Some(Ask::Anything),
            talk: true,
            changes,
            homes: vec![&user],
            message,
            ..Offer::default()
        };
        let both = Both::of(&small(&offer));
        for seed in 0..40 {
            let turn = both.gbnf.make(&mut Dice(seed));
            assert!(both.takes(&turn), "{turn}");
            let parsed = parse(turn.as_bytes());
            is_strict(&turn, &parsed);
            assert!(parsed.reply.is_some() || parsed.dialect() == Dialect::Lines, "{turn}");
        }
    }
}

/// Notes as people and others write them, by path.
fn notes() -> impl Strategy<Value = BTreeMap<&'static str, String>> {
    let key =
        prop::sample::select(vec!["city", "age", "Type", "brother", "due", "stadt", "**Boss**", "a|b", "\"q\"", "- x"]);
    let value = prop_oneof![
        Just("Porto"),
        Just("41"),
        Just("2 May 2025"),
        Just("[[rui]]"),
        Just("[[b/Rui Costa|him]] and [x](a.md)"),
        Just("14 EUR"),
        Just("\\ \"</reply>"),
    ];
    let value = prop_oneof![value.prop_map(str::to_owned), ".{0,12}"];
    let line = prop_oneof![
        4 => (key.clone(), value.clone()).prop_map(|(key, value)| format!("- {key}: {value}")),
        1 => (key, value.clone()).prop_map(|(key, value)| format!("{key}: {value}")),
        1 => (value.clone(), value.clone()).prop_map(|(one, other)| format!("| Kino | {one} | {other} |")),
        1 => value.prop_map(|value| format!("* {value}")),
        1 => prop::sample::select(vec!["---", "|---|---|---|", "# Rui", "## age", "aliases: [him, Rui]", "", "  - ", "|"])
            .prop_map(str::to_owned),
        1 => ".{0,20}",
    ];
    let text = (prop::collection::vec(line, 0..10), prop_oneof![Just("\n"), Just("\r\n")]);
    let text = text.prop_map(|(lines, end)| lines.join(end));
    let path =
        prop::sample::select(vec!["user.md", "b/rui.md", "b/rui_costa.md", "a \"c\".md", "Ünal.md", "</think>.md"]);
    prop::collection::btree_map(path, text, 0..5)
}

/// What a person may say.
fn message() -> impl Strategy<Value = String> {
    let words = vec![
        "I",
        "my",
        "Rui",
        "Rui's",
        "Costa",
        "brother",
        "city",
        "age",
        "is",
        "now",
        "moved to",
        "Porto",
        "42",
        "16 euros",
        "3 June",
        "remember that",
        "forget",
        "delete",
        "the note",
        "who",
        "what",
        "when",
        "and",
        "?",
        ".",
        "\n",
        "please",
        "due",
        "boss",
        "[[rui]]",
        "\"",
        "</reply>",
        "|",
        "Kino",
        "wie alt",
        "moved",
        "type",
        "him",
        "not",
        "hello",
    ];
    let word = prop_oneof![9 => prop::sample::select(words).prop_map(str::to_owned), 1 => ".{0,8}"];
    prop_oneof![
        12 => prop::collection::vec(word, 0..14).prop_map(|words| words.join(" ")),
        1 => ".{0,40}",
        1 => Just("word ".repeat(130)),
    ]
}

/// Checks what a turn would do to the notes.
#[track_caller]
fn stays_within(turn: &str, notes: &[(MemoryPath, String)], writes: bool) {
    let parsed = parse(turn.as_bytes());
    is_strict(turn, &parsed);
    let Some((_, list)) = turn.split_once("<actions>") else { return };
    assert!(writes, "{turn}");
    let calls: Vec<BTreeMap<String, Value>> = serde_json::from_str(list.strip_suffix("</actions>").unwrap()).unwrap();
    let [call] = calls.as_slice() else { panic!("one call: {turn}") };
    let text = |key: &str| call[key].as_str().unwrap();
    let (path, note) = notes.iter().find(|(path, _)| path.as_str() == text("path")).expect("a note that is there");
    let count = |line: &str| note.lines().filter(|found| *found == line).count();
    match text("action") {
        "replace_text" => {
            let (old, new) = (text("old"), text("new"));
            assert_eq!(count(old), 1, "{turn}");
            let bars = |line: &str| line.matches('|').count();
            let is_row = old.trim_start().starts_with('|') && old.trim_end().ends_with('|');
            assert!(!is_row || bars(old) == bars(new), "the other cells stay: {turn}");
            let mark = |line: &str| line.chars().take_while(|one| !one.is_alphanumeric()).collect::<String>();
            assert!(is_row || new.starts_with(mark(old).trim_end_matches(['"', '[', '\\', '<'])), "{turn}");
        }
        "delete_line" => assert_eq!(count(text("line")), 1, "{turn}"),
        "append_line" => assert!(text("line").starts_with("- ") && text("line").contains(": "), "{turn}"),
        "delete_file" => assert_ne!(path.as_str(), "user.md"),
        other => panic!("{other}"),
    }
    assert!(call.values().all(|value| value.as_str().is_some_and(|text| !text.contains(['\n', '\r']))), "{turn}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_notes_and_people_say_a_turn_stays_within_the_notes(
        notes in notes(),
        said in prop::collection::vec((message(), any::<bool>()), 0..3),
        message in message(),
        flags: [bool; 3],
        seed: u64,
    ) {
        let [writes, tiny, filtered] = flags;
        let notes: Vec<_> = notes.into_iter().map(|(name, text)| (path(name), text)).collect();
        let mut session = Session::new("7f3a".to_owned());
        let exchange = |(message, is_unclear)| Exchange { message, is_unclear, ..Exchange::default() };
        session.exchanges = said.into_iter().map(exchange).collect();
        let prompts = Prompts::default();
        let turn =
            Turn { prompt: prompts.text("small"), notes: &notes, message: &message, session: &session, rest: &[], writes, tiny, filtered };
        let request = asking::request(&turn, &[]);
        let both = Both::of(&request.shape.unwrap().grammar);
        let mut dice = Dice(seed);
        for _ in 0..4 {
            let turn = both.gbnf.make(&mut dice);
            prop_assert!(both.takes(&turn), "{}", turn);
            stays_within(&turn, &notes, writes);
        }
    }
}

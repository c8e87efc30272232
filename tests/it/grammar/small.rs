//! Turns of small models: whatever follows the grammar is read strictly, and says only what was offered.

use memdir::catalog::grammar::{Ask, Offer, small};
use memdir::dialect::{Dialect, parse};
use memdir::path::MemoryPath;

use super::{Both, is_strict};
use crate::grammar::gbnf::Dice;

fn path(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

#[test]
fn it_takes_what_was_offered_and_nothing_else() {
    let (user, other) = (path("user.md"), path("a \"b\".md"));
    let offer = Offer {
        quotes: vec![(&user, "- city: \"Porto\" \\ x"), (&user, "- brother: [[rui]]")],
        unknown: true,
        talk: true,
        changes: vec![(&user, "- city: \"Porto\" \\ x", "- city: ")],
        deletions: vec![(&other, "- tea: oolong")],
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
        quotes: vec![(&user, line)],
        changes: vec![(&user, line, "- a: ")],
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
        quotes: vec![(&user, "- works at: [[acme]]"), (&user, "- kind: firm")],
        to_the_fact: true,
        changes: vec![(&user, "- works at: [[acme]]", "- works at: ")],
        message: "I work at Blue - Wave now.",
        ..Offer::default()
    };
    let both = Both::of(&small(&offer));
    let change = |value: &str| {
        let new = format!("- works at: {value}");
        format!(
            r#"<think>change</think><actions>[{{"action":"replace_text","old":"- works at: [[acme]]","new":"{new}","path":"user.md"}}]</actions>"#
        )
    };
    assert!(both.takes(&change("Blue")) && both.takes(&change("[[Blue - Wave]]")));
    assert!(!both.takes(&change("[[Blue")) && !both.takes(&change("- Wave")), "a value begins with a word");
    assert!(both.takes(
        "<think>question: - works at: [[acme]] (user.md) ; - kind: firm (user.md)</think><reply>A firm.</reply>"
    ));
    assert!(!both.takes("<think>question: - works at: [[acme]] (user.md)</think><reply>A firm.</reply>"));
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
        let changes = vec![(&user, "- city: Porto", "- city: ")];
        let quotes = vec![(&user, "- a: </think> <reply>x"), (&user, "- b: [[x]]")];
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

//! Turns of small models: whatever follows the grammar means something, and only what the notes and the message have.

use memdir_agent::small::{Kind, Sorted, Turn, Wrote, changes, expand};
use memdir_agent::{Exchange, Prompts, Session};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_dialect::{Entry, parse};
use memdir_model::grammar::{Offer, small};
use memdir_model::{Answer, End};
use proptest::prelude::*;

use crate::grammar::gbnf::{Dice, Gbnf};

#[test]
fn it_takes_what_was_offered_and_nothing_else() {
    let offer = Offer {
        drops: ["user.city", "Ana.Tea", "Ana"].map(str::to_owned).into(),
        most_drops: 2,
        lines: vec!["user.city".to_owned(), "user.name".to_owned(), "Ana.Tea".to_owned()],
        notes: vec!["user", "Ana"],
        words: "I moved to \"Faro\", in May.",
    };
    let grammar = Gbnf::read(&small(&offer).gbnf());
    for turn in [
        "say Hello!",
        "ask\nsay Who?",
        "set user.city = Faro\nsay Noted.",
        "set user.name = Faro\", in May\nsay Noted.",
        "set user.city = Faro\nset user.moved += in May\nsay Noted.",
        "set user.home = [[Faro]]\nset Faro.when = {next friday} in May\nsay Noted.",
        "set user.day = {in 3 days}\nset user.month = May {2 weeks ago}\nsay Noted.",
        "drop user.city\ndrop Ana\nset user.city = Faro\nsay Noted.",
    ] {
        assert!(grammar.takes(turn), "{turn}");
    }
    for turn in [
        "say",
        "get user.city: Porto\nsay x",
        "set user.city = Paris\nsay x",
        "set user.city = May\nset user.city = Faro\nsay x",
        "set user.city = Faro\nset user.town = Faro\nsay x",
        "set user.city = Faro",
        "set user.city = {someday}\nsay x",
        "drop user\nsay x",
        "drop user.city\ndrop Ana\ndrop Ana.Tea\nsay x",
        "drop user.name\nsay x",
        "chat\nset user.city = Faro\nsay x",
        "say <actions>",
    ] {
        assert!(!grammar.takes(turn), "{turn}");
    }
    let takes = |offer: &Offer<'_>, turn: &str| Gbnf::read(&small(offer).gbnf()).takes(turn);
    let silent = Offer { words: "", ..offer.clone() };
    assert!(takes(&silent, "drop user.city\nsay x") && !takes(&silent, "set user.city = Faro\nsay x"));
    let keeps = Offer { most_drops: 0, ..offer };
    assert!(takes(&keeps, "set user.city = Faro\nsay x") && !takes(&keeps, "drop user.city\nsay x"));
}

const PATHS: [&str; 4] = ["user.md", "people/rui_costa.md", "people/rui.md", "a \"b\".md"];

fn note() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "- [a-z \"]{1,8}: [A-Za-z0-9 \"\\\\é北|.<>{}=]{0,12}",
        "\\*\\*[A-Z][a-z]{1,4}\\*\\*: [a-z]{0,6}",
        "\\| [a-z]{1,4} \\| [a-z ]{0,4} \\| [0-9]{1,3} \\|",
        Just("|---|---|---|".to_owned()),
        Just("- brother: [[people/rui]]".to_owned()),
        Just("---".to_owned()),
        "#{1,3} [A-Za-z. ]{1,8}",
        "[ -~]{0,20}",
        "\\PC{0,12}",
    ];
    proptest::collection::vec((line, prop_oneof![Just("\n"), Just("\r\n")]), 0..10)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

proptest! {
    #[test]
    fn every_turn_is_read_strictly_and_changes_only_what_may_be(
        texts in proptest::collection::vec(note(), 4),
        message in prop_oneof!["[A-Za-z0-9 ,.?\"'<>/éß北京住]{0,60}", "\\PC{0,30}"],
        before in proptest::option::of(("[a-z ]{0,12}", "[a-z ?]{0,12}")),
        kinds in proptest::collection::vec(prop_oneof![Just(Kind::Tell), Just(Kind::Remove)], 1..3),
        quotes: bool,
        seed: u64,
    ) {
        let path = |path: &str| MemoryPath::parse(path).unwrap();
        let notes: Vec<_> = PATHS.iter().map(|name| path(name)).zip(texts).collect();
        let mut session = Session::new("7f3a".to_owned());
        let exchange = |(message, reply)| Exchange { message, reply: Some(reply), ..Exchange::default() };
        session.exchanges = before.into_iter().map(exchange).collect();
        let prompts = Prompts::default();
        let sorted = Sorted(kinds.into_iter().map(|kind| (message.clone(), kind)).collect());
        let turn = Turn {
            prompts: ["small", "small_answer"].map(|name| prompts.text(name)),
            notes: &notes, message: &message, sorted: &sorted, session: &session, rest: &[], results: &[], quotes,
        };
        let grammar = Gbnf::read(&changes(&turn).shape.unwrap().grammar.gbnf());
        let text = grammar.make(&mut Dice(seed));
        prop_assert!(grammar.takes(&text), "{}", text);
        let answer = Answer {
            text: text.clone(), thought: None, line_chances: Vec::new(), end: End::Done, input_tokens: 0, output_tokens: 0, reused_tokens: 0,
        };
        let now = Timestamp::parse("2026-11-23T09:30:00Z").unwrap();
        let expanded = expand(&turn, Wrote { changes: Some(&answer), answer: None }, now, &|_| false).text;
        let parsed = parse(expanded.as_bytes());
        prop_assert!(parsed.issues.is_empty(), "{:?}\n{}", parsed.issues, expanded);
        prop_assert!(parsed.reply.is_some(), "{}\n{}", text, expanded);
        for entry in &parsed.entries {
            let Entry::Call(call) = entry else { panic!("{entry:?}\n{expanded}") };
            prop_assert!(call.action.path().is_some(), "{}", expanded);
            prop_assert!(!(expanded.contains("delete_file") && expanded.contains("\"path\":\"user.md\",\"action\":\"delete_file\"")));
        }
    }
}

//! Turns of small models: whatever follows the grammar means something, and only what the notes and the message have.

use memdir_agent::small::{Kind, Sorted, Texts, Turn, Wrote, again, dropped, expand, noted, rewritten};
use memdir_agent::{Exchange, Prompts, Session};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_dialect::{Entry, parse};
use memdir_model::grammar;
use memdir_model::{Answer, End};
use proptest::prelude::*;

use crate::grammar::gbnf::{Dice, Gbnf};

#[track_caller]
fn takes(grammar: &Gbnf, turns: &[&str], expected: bool) {
    turns.iter().for_each(|turn| assert_eq!(grammar.takes(turn), expected, "{turn}"));
}

#[test]
fn it_takes_what_was_offered_and_nothing_else() {
    let noted = Gbnf::read(&grammar::noted(&["user", "Ana"], "I moved to \"Faro\", in May.").gbnf());
    takes(
        &noted,
        &[
            "say Hello!",
            "# user\n+ city: Faro\nsay Noted.",
            "# user\n+ Faro\n+ in May\n# Ana\n+ moved\nsay Noted.",
            "# Faro\n+ next friday\nsay Noted.",
            "# Faro\", in May\n+ x\nsay Noted.",
        ],
        true,
    );
    takes(
        &noted,
        &[
            "say",
            "# user\nsay x",
            "# Rui\n+ x\nsay x",
            "# Faro May\n+ x\nsay x",
            "+ x\nsay x",
            "# user\n+ <x>\nsay x",
            "# user\n+ x",
            "say <actions>",
        ],
        false,
    );
    let runs = Gbnf::read(&grammar::noted(&["user"], "我明天见陶衡 ok").gbnf());
    takes(&runs, &["# 陶衡\n+ x\nsay x", "# 我明天见陶衡\n+ x\nsay x"], true);
    takes(&runs, &["# 陶 衡\n+ x\nsay x", "# 我明天见陶衡 ok\n+ x\nsay x"], false);
    let names = ["user.city", "Ana.Tea", "Ana"].map(str::to_owned);
    let dropped = Gbnf::read(&grammar::dropped(&names, 2).gbnf());
    takes(&dropped, &["say x", "ask\nsay Who?", "drop user.city\ndrop Ana\nsay x"], true);
    takes(
        &dropped,
        &["drop user\nsay x", "drop user.city\ndrop Ana\ndrop Ana.Tea\nsay x", "drop Ana", "# user\n+ x\nsay x"],
        false,
    );
    assert!(!Gbnf::read(&grammar::dropped(&names, 0).gbnf()).takes("drop Ana\nsay x"));
}

#[test]
fn a_day_is_one_that_is_counted_and_a_correction_is_made_of_what_was_said() {
    let day = Gbnf::read(&grammar::day().gbnf());
    let days = ["none", "today", "next friday", "in 1 week", "in 12 days", "2 months ago", "tomorrow in 1 week"];
    takes(&day, &days, true);
    takes(&day, &["saturday in 3 weeks", "last year", "this month"], true);
    takes(
        &day,
        &["", "in 0 days", "in 100 days", "next tomorrow", "friday", "2027-05-02", "friday in 2 days", "none "],
        false,
    );
    let right = Gbnf::read(&grammar::corrected("dr chow, the 28 March", "Sorry: Dr. Chu, 31!").unwrap().gbnf());
    takes(&right, &["dr chow -> Dr. Chu\nsay x", "28 -> 31\nsay x", "28 March -> 31\nsay x"], true);
    takes(&right, &["Dr. Chu -> dr chow\nsay x", "28 -> 30\nsay x", "28 -> 31", "new", "28 -> 31!\nsay x"], false);
    let characters = Gbnf::read(&grammar::corrected("老师姓樊", "打错字了，老师姓范").unwrap().gbnf());
    takes(&characters, &["樊 -> 范\nsay x", "姓樊 -> 姓范\nsay x"], true);
    assert_eq!((grammar::corrected("", "x"), grammar::corrected("x", "?!")), (None, None));
    assert_eq!(
        grammar::corrected(&"so it is ".repeat(21), "x"),
        None,
        "more than sixty words are too many to choose from"
    );
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
        let [note, lines, drop, answer] = ["small", "small_again", "small_drop", "small_answer"].map(|name| prompts.text(name));
        let turn = Turn {
            prompts: Texts { note, again: lines, drop, answer },
            notes: &notes, message: &message, sorted: &sorted, session: &session, rest: &[], results: &[], quotes,
        };
        let mut dice = Dice(seed);
        let [noted, dropped] = [noted(&turn), dropped(&turn)].map(|request| {
            let grammar = Gbnf::read(&request.shape.unwrap().grammar.gbnf());
            let text = grammar.make(&mut dice);
            assert!(grammar.takes(&text), "{text}");
            let (input_tokens, output_tokens, reused_tokens) = (0, 0, 0);
            Answer { text, thought: None, line_chances: Vec::new(), end: End::Done, input_tokens, output_tokens, reused_tokens }
        });
        let mut renewed = Vec::new();
        for again in again(&turn, &noted) {
            let grammar = Gbnf::read(&rewritten(&turn, &again).shape.unwrap().grammar.gbnf());
            prop_assert!(grammar.takes(&again.shown()), "{}", again.shown());
            renewed.extend(again.renewals(&grammar.make(&mut dice)));
            // What has words of the message may stand for a line.
            renewed.extend(again.renewals(&again.shown().replace('\n', &format!(" {message}\n"))));
        }
        let now = Timestamp::parse("2026-11-23T09:30:00Z").unwrap();
        let day = Answer { text: Gbnf::read(&grammar::day().gbnf()).make(&mut dice), ..noted.clone() };
        let days = [(message.clone(), day)];
        let wrote = Wrote {
            noted: Some(&noted), renewed: &renewed, days: &days, dropped: Some(&dropped), ..Wrote::default()
        };
        let text = format!("{}\n{}", noted.text, dropped.text);
        let expanded = expand(&turn, wrote, now, &|_| false).text;
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

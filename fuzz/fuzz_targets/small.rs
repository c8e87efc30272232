//! Whatever stands in notes and in what people say, the grammar of a small model's turn can be read, and what follows it is
//! a turn about these notes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_agent::small::{Kind, Sorted, Texts, Turn, Wrote, about, again, dropped, expand, noted, rewritten};
use memdir_agent::{Exchange, Prompts, Session};
use memdir_core::path::MemoryPath;
use memdir_core::time::Timestamp;
use memdir_dialect::{Entry, parse};
use memdir_model::{Answer, End};

#[allow(dead_code)]
#[path = "../../tests/it/grammar/gbnf.rs"]
mod gbnf;

/// The names of notes.
const PATHS: [&str; 4] = ["user.md", "people/rui_costa.md", "people/rui.md", "a \"b\".md"];
/// How many bytes of each text are looked at: more of the same tells nothing new.
const MOST: usize = 600;
/// How many turns are made from a grammar.
const TURNS: usize = 2;

fuzz_target!(|input: ([String; 4], String, Vec<(String, String)>, [bool; 3], Vec<u16>, u64)| {
    let (texts, message, before, [tells, removes, quotes], line_chances, seed) = input;
    let short = |text: &str| text[..text.floor_char_boundary(MOST)].to_owned();
    let path = |path: &str| MemoryPath::parse(path).unwrap();
    let notes: Vec<_> = PATHS.iter().zip(&texts).map(|(name, text)| (path(name), short(text))).collect();
    let mut session = Session::new("7f3a".to_owned());
    let exchange = |(message, reply)| Exchange { message, reply: Some(reply), ..Exchange::default() };
    session.exchanges = before.into_iter().map(exchange).collect();
    let (prompts, message) = (Prompts::default(), short(&message));
    let [note, lines, drop, answer] = ["small", "small_again", "small_drop", "small_answer"].map(|name| prompts.text(name));
    let (texts, session) = (Texts { note, again: lines, drop, answer }, &session);
    let kinds = [(tells, Kind::Tell), (removes, Kind::Remove)].into_iter().filter(|(is_so, _)| *is_so);
    let sorted = Sorted(kinds.map(|(_, kind)| (message.clone(), kind)).collect());
    let near = about(&notes, &message);
    assert!(near.iter().all(|note| notes.contains(note)));
    let (notes, sorted) = (&notes, &sorted);
    let turn = Turn { prompts: texts, notes, message: &message, sorted, session, rest: &[], results: &[], quotes };
    let grammars =
        [noted(&turn), dropped(&turn)].map(|request| gbnf::Gbnf::read(&request.shape.unwrap().grammar.gbnf()));
    let mut dice = gbnf::Dice(seed);
    let now = Timestamp::from_seconds(1_795_000_000);
    for _ in 0..TURNS {
        let [noted, dropped] = grammars.each_ref().map(|grammar| {
            let line_chances = line_chances.clone();
            let (input_tokens, output_tokens, reused_tokens) = (0, 0, 0);
            let text = grammar.make(&mut dice);
            Answer { text, thought: None, line_chances, end: End::Done, input_tokens, output_tokens, reused_tokens }
        });
        let mut renewed = Vec::new();
        for again in again(&turn, &noted) {
            let grammar = gbnf::Gbnf::read(&rewritten(&turn, &again).shape.unwrap().grammar.gbnf());
            assert!(grammar.takes(&again.shown()), "{}", again.shown());
            renewed.extend(again.renewals(&grammar.make(&mut dice)));
            // What has words of the message may stand for a line.
            renewed.extend(again.renewals(&again.shown().replace('\n', &format!(" {message}\n"))));
        }
        let (answer, dropped) = (Some(&noted).filter(|_| quotes), Some(&dropped).filter(|_| removes));
        let noted = Some(&noted).filter(|_| tells);
        let wrote = Wrote { noted, renewed: &renewed, dropped, answer, ..Wrote::default() };
        let expanded = expand(&turn, wrote, now, &|_| false).text;
        let parsed = parse(expanded.as_bytes());
        assert!(parsed.issues.is_empty(), "{:?}\n{expanded}", parsed.issues);
        assert!(parsed.reply.is_some(), "{expanded}");
        for entry in &parsed.entries {
            let Entry::Call(call) = entry else { panic!("{entry:?}\n{expanded}") };
            assert!((tells || removes) && call.action.path().is_some(), "{expanded}");
        }
    }
});

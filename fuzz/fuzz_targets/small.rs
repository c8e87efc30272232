//! Whatever stands in notes and in what people say, the grammar of a small model's turn can be read, and what follows it is
//! a turn about these notes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir::agent::small::{Turn, grounds, is_unclear, request};
use memdir::agent::{Exchange, Prompts, Session};
use memdir::dialect::{Entry, parse};
use memdir::path::MemoryPath;

#[allow(dead_code)]
#[path = "../../tests/it/grammar/gbnf.rs"]
mod gbnf;

/// The names of notes.
const PATHS: [&str; 4] = ["user.md", "people/rui_costa.md", "people/rui.md", "a \"b\".md"];
/// How many bytes of each text are looked at: more of the same tells nothing new.
const MOST: usize = 600;
/// How many turns are made from a grammar.
const TURNS: usize = 2;

fuzz_target!(|input: ([String; 4], String, Vec<(String, bool)>, [bool; 3], u64)| {
    let (texts, message, before, [writes, tiny, filtered], seed) = input;
    let short = |text: &str| text[..text.floor_char_boundary(MOST)].to_owned();
    let path = |path: &str| MemoryPath::parse(path).unwrap();
    let notes: Vec<_> = PATHS.iter().zip(&texts).map(|(name, text)| (path(name), short(text))).collect();
    let mut session = Session::new("7f3a".to_owned());
    let exchange = |(message, is_unclear): (String, bool)| Exchange { message, is_unclear, ..Exchange::default() };
    session.exchanges = before.into_iter().map(exchange).collect();
    let (prompts, message) = (Prompts::default(), short(&message));
    let (prompt, session) = (prompts.text("small"), &session);
    let turn = Turn { prompt, notes: &notes, message: &message, session, rest: &[], writes, tiny, filtered };
    let grammar = request(&turn, &[]).shape.unwrap().grammar;
    let read = gbnf::Gbnf::read(&grammar.gbnf());
    let mut dice = gbnf::Dice(seed);
    for _ in 0..TURNS {
        let turn = read.make(&mut dice);
        let parsed = parse(turn.as_bytes());
        assert!(parsed.issues.is_empty(), "{:?}\n{turn}", parsed.issues);
        assert_eq!(parsed.entries.is_empty(), parsed.reply.is_some(), "{turn}");
        for entry in &parsed.entries {
            let Entry::Call(call) = entry else { panic!("{entry:?}\n{turn}") };
            assert!(!(turn.contains("delete_file") && turn.contains("\"path\":\"user.md\"")), "{turn}");
            assert!(writes && call.action.path().is_some_and(|path| PATHS.contains(&path.as_str())), "{turn}");
        }
        let _ = (grounds(&turn), is_unclear(&turn));
    }
});

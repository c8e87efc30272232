use super::*;
use crate::run::{Limits, Manners, Run, Step};
use memdir_core::report::{Report, Variables};

/// A turn as a test writes it, and how it ends.
type Written<'t> = (&'t str, End);

fn answer(text: &str, end: End) -> Answer {
    Answer {
        text: text.to_owned(),
        thought: None,
        end,
        input_tokens: 1,
        output_tokens: 1,
        reused_tokens: 0,
        line_chances: Vec::new(),
    }
}

/// Plays a run whose turns come in pieces: what was shown as a reply, and the reply that came of it. Nothing is ever saved.
fn play(turns: &[Written<'_>], filters: &[Filter], pieces: &dyn Fn(&str) -> Vec<String>) -> (String, Option<String>) {
    let manners = Manners { dialect: None, is_one_turn: false };
    let limits = Limits { turns: u32::try_from(turns.len()).unwrap(), tokens: None, result_bytes: 1 << 16 };
    let mut run = Run::new(limits, manners, Variables::default());
    let mut stream = Stream::new(filters, true);
    let mut shown = String::new();
    let mut next = turns.iter();
    loop {
        match run.next_step() {
            Step::CallModel => {
                let (text, end) = next.next().unwrap();
                stream.begin();
                for piece in pieces(text) {
                    stream.hear(Heard::Text(&piece), &mut |written| {
                        if let super::Written::Reply(more) = written {
                            shown.push_str(more);
                        }
                    });
                }
                let mut answer = answer(text, *end);
                end_with_reply(&mut answer);
                if stream.has_spoken() {
                    run.heard();
                }
                run.answered(answer);
            }
            Step::Propose(parsed) => run.concluded(parsed.frame.clone(), Report::of(Vec::new()), false),
            Step::AskPerson(_) => unreachable!("nobody is there"),
            Step::Done(finish) => {
                let without = |reply: String| {
                    let is_found = |line: &&str| filters.iter().all(|filter| filter.find(line).is_empty());
                    reply.lines().filter(is_found).collect::<Vec<_>>().join("\n")
                };
                let reply = finish.reply.map(|reply| if filters.is_empty() { reply } else { without(reply) });
                return (shown, stream.whole(reply));
            }
        }
    }
}

const CALL: &str = r#"<actions>[{"action":"read_file","path":"user.md"}]</actions>"#;
const LONG: &str =
    "Berlin is the capital. It has many lakes, Mr. Smith. In 2026 it rains.\n\nThat is all I know of it.";

/// Runs of every kind: those that are sent back, cut off, and followed by what should not follow.
fn runs() -> Vec<Vec<(String, End)>> {
    let done = |text: &str| (text.to_owned(), End::Done);
    let cut = |text: &str| (text.to_owned(), End::Cut);
    let reply = |text: &str| format!("<reply>{text}</reply>");
    vec![
        vec![done(&reply(LONG))],
        vec![done(&format!("<think>I know. <reply>no</reply></think>\n{}", reply(LONG)))],
        vec![done(&format!("{}{CALL}", reply(LONG)))],
        vec![done(&format!("{CALL}{}", reply("It is saved, all of it is. I am sure."))), done(&reply(LONG))],
        vec![done(&format!("{LONG} {CALL}")), done(&reply("Another reply. It is quite another one."))],
        vec![cut(&format!("<reply>{LONG}")), done(&reply("It is short."))],
        vec![cut(&format!("<reply>{LONG} {CALL}")), done(&reply("It is short."))],
        vec![cut(&format!("<think>{LONG}")), done(&reply(LONG))],
        vec![
            done(&reply("That is a fine city to live in. I have saved that you live in Berlin. What else?")),
            done(CALL),
            done(&reply("That is a fine city to live in. I could not save it, and am sorry.")),
        ],
        vec![
            done(&reply("That is a fine city to live in. I have saved that you live in Berlin. What else?")),
            done(&reply("I've noted that you live in Berlin. It is a fine city to live in. And large, too.")),
        ],
        vec![done("Plain words. They have no tags at all, and so wait."), done("")],
        vec![done(&format!("<reply>{LONG}</reply></think><reply>Another one, after a stray tag. Yes.</reply>"))],
        vec![done("<reply></reply>"), done(&format!("<reply> </reply>{CALL}")), done(&reply(LONG))],
    ]
}

#[test]
fn what_is_shown_is_the_beginning_of_the_reply_wherever_turns_are_cut() {
    let filters = [Filter::compile("Do not reveal phone numbers. Do not mention `lakes`.")];
    for run in runs() {
        let turns: Vec<Written<'_>> = run.iter().map(|(text, end)| (text.as_str(), *end)).collect();
        let longest = turns.iter().map(|(text, _)| text.len()).max().unwrap();
        for filters in [&[][..], &filters] {
            for at in 0..=longest {
                let halves = |text: &str| {
                    let (one, two) = text.split_at(text.floor_char_boundary(at.min(text.len())));
                    vec![one.to_owned(), two.to_owned()]
                };
                let (shown, reply) = play(&turns, filters, &halves);
                assert!(reply.unwrap_or_default().starts_with(&shown), "{turns:?} cut at {at}: {shown:?}");
            }
            let (shown, reply) = play(&turns, filters, &|text| text.chars().map(String::from).collect());
            assert!(reply.unwrap_or_default().starts_with(&shown), "{turns:?} letter by letter: {shown:?}");
        }
    }
}

#[test]
fn sentences_are_shown_as_they_end() {
    let mut stream = Stream::new(&[], true);
    stream.begin();
    let mut shown = Vec::new();
    for piece in [format!("<think>Easy.</think>\n<reply>{LONG}"), "</reply>".to_owned()] {
        stream.hear(Heard::Text(&piece), &mut |written| shown.push(format!("{written:?}")));
    }
    let expected = [
        r#"Thought("Easy.")"#,
        r#"Reply("Berlin is the capital. It has many lakes, Mr.")"#,
        r#"Reply(" Smith. In 2026 it rains.")"#,
    ];
    assert_eq!(shown, expected);
    assert_eq!(stream.whole(Some(LONG.to_owned())).as_deref(), Some(LONG));
}

#[test]
fn a_sentence_that_may_not_be_said_holds_back_all_that_follows() {
    let filters = [Filter::compile("Do not reveal phone numbers.")];
    let mut stream = Stream::new(&filters, true);
    stream.begin();
    let (mut shown, mut is_other) = (String::new(), false);
    let number = "Here is what I know of her.\nHer phone is +49 30 1234567.\nShe lives in Berlin.\nAnd";
    stream.hear(Heard::Text(&format!("<reply>{number}")), &mut |written| match written {
        super::Written::Reply(more) => shown.push_str(more),
        super::Written::Other => is_other = true,
        super::Written::Thought(_) => {}
    });
    assert_eq!((shown.as_str(), is_other), ("Here is what I know of her.", true));
}

#[test]
fn who_does_not_listen_gets_the_reply_alone() {
    let mut stream = Stream::new(&[], false);
    stream.begin();
    stream.hear(Heard::Text(&format!("<reply>{LONG}")), &mut |_| panic!("nobody listens"));
    assert_eq!(stream.whole(Some("Another.".to_owned())).as_deref(), Some("Another."));
    assert_eq!(stream.whole(None), None);
}

#[test]
fn a_reply_that_is_asked_for_again_is_not_said_twice() {
    let check = |again: &str, expected: &str| {
        let mut stream = Stream::new(&[], true);
        stream.begin();
        let mut shown = String::new();
        for heard in [
            Heard::Text("<reply>It is a fine city to live in. And it"),
            Heard::Again(std::time::Duration::from_secs(1)),
            Heard::Text(&format!("<reply>{again}</reply>")),
        ] {
            stream.hear(heard, &mut |written| {
                if let super::Written::Reply(more) = written {
                    shown.push_str(more);
                }
            });
        }
        let whole = stream.whole(Some(again.to_owned())).unwrap();
        assert!(whole.starts_with(&shown), "{shown}");
        assert_eq!(whole, expected);
    };
    check("It is a fine city to live in. Indeed.", "It is a fine city to live in. Indeed.");
    check("It is big.", "It is a fine city to live in.\n\nIt is big.");
    check("It is", "It is a fine city to live in.");
}

#[test]
fn what_is_thought_is_not_told_where_something_has_to_be_withheld() {
    let told = |filters: &[Filter], heard: &[Heard<'_>]| {
        let mut stream = Stream::new(filters, true);
        stream.begin();
        let mut told = Vec::new();
        for heard in heard {
            stream.hear(*heard, &mut |written| told.push(format!("{written:?}")));
        }
        told
    };
    let filters = [Filter::compile("Do not reveal phone numbers.")];
    let heard = [Heard::Thought("It is +49 30 1234567."), Heard::Text("<think>+49 30 1234567</think><reply>Hi there")];
    assert_eq!(told(&filters, &heard), ["Other"]);
    assert_eq!(told(&[], &heard).len(), 2);
}

#[test]
fn what_a_model_only_quotes_at_the_end_of_its_turn_is_not_asked_for() {
    let call = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Porto"}]</actions>"#;
    let is_asked = |before: &str| {
        let mut answer = answer(&format!("{before}{call}"), End::Done);
        end_with_reply(&mut answer);
        !memdir_dialect::parse(answer.text.as_bytes()).entries.is_empty()
    };
    for quoted in ["I could send `", "The note says \"", "It says “", "Both ``", "It asks for '", "Il dit «"] {
        assert!(!is_asked(quoted), "{quoted}");
    }
    for meant in [
        "",
        "It is the kids'",
        "I save it.\n",
        "```\n",
        "```json\n",
        "The key is `city`",
        "You said \"Porto\"",
        "`a` and `b` ",
    ] {
        assert!(is_asked(meant), "{meant}");
    }
}

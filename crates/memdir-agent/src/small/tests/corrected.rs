//! Days, and what is put right.

use super::*;

#[test]
fn dates_are_computed_and_say_from_what() {
    let (session, bea) = (Session::default(), bea());
    let message = "Stina spielt Schach. Zahnarzt nächsten Freitag um 10";
    let sorted = all(message, Kind::Tell);
    let noted = answer("# Stina\n+ spielt Schach\n# user\n+ Zahnarzt: nächsten Freitag um 10\nsay Notiert.", &[]);
    let dated = |day: &str, chance: u16| {
        let days = [("Zahnarzt nächsten Freitag um 10".to_owned(), answer(day, &[chance]))];
        let wrote = Wrote { noted: Some(&noted), days: &days, ..Wrote::default() };
        let expanded = expand(&turn(&bea, message, &sorted, &session), wrote, now(), &|_| false);
        (parts(&expanded.text).0[1]["value"].as_str().unwrap().to_owned(), expanded.dates)
    };
    let mark = " (2026-11-27, next friday from 2026-11-23)";
    assert_eq!(dated("next friday", 400), (format!("nächsten Freitag um 10{mark}"), vec![mark.to_owned()]));
    for (day, chance) in [("next friday", 399), ("none", 999)] {
        assert_eq!(dated(day, chance), ("nächsten Freitag um 10".to_owned(), Vec::new()), "{day} {chance}");
    }
}

/// The words alone that were wrong change, in the lines that came of the message before.
#[test]
fn what_was_told_wrongly_is_put_right_where_it_stands() {
    let pete = "# Pete\n\n- dentist next Tuesday at 9 (2026-11-24, next tuesday from 2026-11-22)\n- mate: Tyler\n\
                - brother: Tyler\n- site: https://tyler.org, bike: [[Tyler]]\n- fee: 1,900\n";
    let all = [3, 4, 6, 7];
    let right = |written: &str, lines: &[usize], day: &str| said(pete, lines, written, day).unwrap().0;
    let set =
        |key: &str, value: &str| json!([{"action": "set_fact", "path": "people/pete.md", "key": key, "value": value}]);
    assert_eq!(right("tyler -> Taylor", &all, "none"), set("mate", "Taylor"), "an older line keeps its brother");
    assert_eq!(right("tyler -> Taylor", &[], "none"), json!([]), "what that message did not write stays");
    assert_eq!(right("900 -> 950", &all, "none"), json!([]), "a number is one word");
    // A date stays with words that name its day, is counted anew from the same day for others, and goes where none is named.
    let line = |calls: &Value| calls[0]["new_content"].as_str().unwrap().to_owned();
    let moved = right("Tuesday -> Wednesday", &all, "next wednesday");
    assert!(line(&moved).contains("next Wednesday at 9 (2026-11-25, next wednesday from 2026-11-22)"), "{moved}");
    let named = right("9 -> 10", &all, "next tuesday");
    assert!(line(&named).contains("next Tuesday at 10 (2026-11-24, next tuesday from 2026-11-22)"), "{named}");
    let gone = right("Tuesday -> Wednesday", &all, "none");
    assert!(line(&gone).ends_with("- dentist next Wednesday at 9"), "{gone}");
}

/// A line that is not shown whole would lose its end.
#[test]
fn a_long_line_is_not_put_right() {
    for (length, is_right) in [(10, true), (400, false)] {
        let long = format!("# Pete\n\n- mate: Tyler, {}\n", "x".repeat(length));
        let (calls, _) = said(&long, &[3], "Tyler -> Taylor", "none").unwrap();
        assert_eq!(calls != json!([]), is_right, "{length}");
    }
}

#[test]
fn what_puts_nothing_right_is_no_correction() {
    let read = |text: &str, chance: u16, end: End| {
        Correction::read(&Answer { end, ..answer(text, &[chance]) }, &told_of_pete()).is_some()
    };
    assert!(read("Tyler -> Taylor", 80, End::Done) && read("Tyler -> Taylor\nsay Corr", 80, End::Cut));
    assert!(!read("Tyler -> Taylor", 79, End::Done), "the model is not sure");
    assert!(!read("Tyler -> Tayl", 999, End::Cut), "the words may not be whole");
    for text in ["Tyler -> Tyler", "Tyle -> Bo", "new", "", "is -> was"] {
        assert!(!read(text, 999, End::Done), "{text}");
    }
    assert!(correct::says_new(&answer("new", &[500])) && correct::says_new(&answer("new", &[])));
    assert!(!correct::says_new(&answer("new", &[499])));
}

#[test]
fn the_words_of_both_messages_are_offered() {
    let prompt = include_str!("../../../../../prompts/small_correct.md");
    let asked = correct::words(prompt, &told_of_pete(), "no, Taylor").unwrap();
    assert_eq!(asked.messages.last().unwrap().text, format!("Told: {TOLD}\nNow: no, Taylor"));
    let grammar = asked.shape.unwrap().grammar.gbnf();
    assert!(grammar.contains("\"Tyler\"") && grammar.contains("\"Taylor\""), "{grammar}");
}

#[test]
fn what_stands_beside_a_correction_is_not_lost() {
    let correction = Correction::read(&answer("Tyler -> Taylor", &[]), &told_of_pete()).unwrap();
    let part = |said: &str, kind| (said.to_owned(), kind);
    let mut sorted = Sorted(vec![
        part("Sorry, Taylor.", Kind::Ask),
        part("What is Taylor's number?", Kind::Ask),
        part("Forget the gate code.", Kind::Remove),
        part("Taylorsville is far.", Kind::Tell),
    ]);
    assert_eq!(sorted.beside(&correction), ["Taylorsville is far."]);
    assert_eq!((sorted.of(Kind::Ask), sorted.removals()), ("What is Taylor's number?".to_owned(), 1));
}

const TOLD: &str = "Pete has the dentist next Tuesday at 9, his mate is called Tyler, the trip is 900 and it is far";

fn told_of_pete() -> Exchange {
    Exchange {
        number: 1,
        message: TOLD.to_owned(),
        reply: Some("Noted.".to_owned()),
        batches: vec![1],
        ..Exchange::default()
    }
}

/// The calls and the reply for a correction, of a note of which these lines are of the message before, by number.
fn said(pete: &str, lines: &[usize], written: &str, day: &str) -> Option<(Value, String)> {
    let session = Session { exchanges: vec![told_of_pete()], ..Session::default() };
    let notes = notes(&[("people/pete.md", pete), ("pete.md", "# Pete B\n\n- son: Tyler\n- mate: Tyler\n")]);
    let correction = Correction::read(&answer(written, &[]), &told_of_pete())?;
    let lines: Vec<_> = lines.iter().map(|line| (MemoryPath::parse("people/pete.md").unwrap(), *line)).collect();
    let view = View::of(&notes);
    let days: Vec<_> = correction.lines(&view, &lines).iter().map(|it| (it.right.clone(), answer(day, &[]))).collect();
    let wrote = Wrote { days: &days, corrected: Some((&correction, &lines)), ..Wrote::default() };
    let sorted = all(TOLD, Kind::Tell);
    Some(parts(&expand(&turn(&notes, "sorry", &sorted, &session), wrote, now(), &|_| false).text))
}

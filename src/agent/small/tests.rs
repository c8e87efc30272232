use std::collections::BTreeSet;

use super::reading::{Kind, Reading, Trust};
use super::{Turn, examples, grounds, request, whole};
use crate::agent::session::{Exchange, Session};
use crate::path::MemoryPath;

const TINY: Trust = Trust { tiny: true, quoting: true };

fn notes() -> Vec<(MemoryPath, String)> {
    let notes = [
        (
            "user.md",
            "# Ines\n\n- city: Porto\n- age: 52\n- brother: [[entities/rui_costa]]\n- favourite tea: oolong\n- works at: [[entities/azul_press]]\n",
        ),
        ("entities/rui_costa.md", "# Rui Costa\n\n- relation: brother\n- phone: 11 22\n- birthday: 3 June\n"),
        ("entities/rui_mendes.md", "# Rui Mendes\n\n- relation: plumber\n- phone: 33 44\n- birthday: 9 July\n"),
        ("entities/azul_press.md", "# Azul Press\n\n- kind: publisher\n- **Founded**: 1987\n- street: Rua Nova 4\n"),
    ];
    notes.iter().map(|(path, text)| (MemoryPath::parse(path).unwrap(), (*text).to_owned())).collect()
}

/// What a tiny model that may write is asked about, but for the message.
fn turn<'a>(notes: &'a [(MemoryPath, String)], session: &'a Session) -> Turn<'a> {
    Turn { prompt: "", notes, message: "", session, rest: &[], writes: true, tiny: true, filtered: false }
}

/// The kinds of turns that a message leaves open, at the begin of a session, for a tiny model.
#[track_caller]
fn check(message: &str, kinds: &[Kind]) {
    let notes = notes();
    let reading = Reading::of(&notes, message, true, TINY);
    assert_eq!(reading.kinds, kinds.iter().copied().collect::<BTreeSet<_>>(), "{message}: {:?}", reading.missing);
}

#[test]
fn what_is_asked_writes_nothing() {
    use Kind::{Question, Talk, Unknown};
    // A line speaks of just what is asked.
    for message in [
        "How do I take my favourite tea?",
        "How old am I?",
        "Where do I live?",
        "When was Azul Press founded?",
        "Wie alt bin ich? age",
    ] {
        check(message, &[Question]);
    }
    check("Tell me what tea I like", &[Question, Unknown]);
    for message in ["What is my blood group?", "What is my wife's shoe size?", "Who is Azul Press's lawyer?"] {
        check(message, &[Unknown]);
    }
    for message in
        ["Tell me a joke about cats.", "Why do cats purr?", "Hi, how are you?", "What is the capital of Peru?"]
    {
        check(message, &[Talk]);
    }
}

#[test]
fn a_value_does_not_end_with_a_word_that_only_says_that_it_is_new() {
    let (notes, session) = (notes(), Session::default());
    for (message, has) in [
        ("My city is Sines now.", false),
        ("My city is now Sines", true),
        ("I moved to Sines, jetzt!", false),
        ("Sines now", true),
        ("My city is Knowsley", false),
        ("My city is Sines now, please.", false),
        ("My favourite tea is here and now", true),
        ("My favourite tea is now", true),
    ] {
        let turn = Turn { message, ..turn(&notes, &session) };
        let grammar = request(&turn, &[]).shape.unwrap().grammar.gbnf();
        assert_eq!(grammar.contains("\"now\"") || grammar.contains("\"jetzt\""), has, "{message}: {grammar}");
    }
}

#[test]
fn who_tells_of_themselves_means_their_own_fact_by_its_word() {
    let mut notes = notes();
    notes[0].1.push_str("- specialty: Rare Press Books\n");
    let reading = Reading::of(&notes, "My specialty has shifted from Rare Press Books to Atlases.", true, TINY);
    let lines: BTreeSet<&str> = reading.offer("x y", true).changes.iter().map(|change| change.line).collect();
    assert_eq!(lines, BTreeSet::from(["- specialty: Rare Press Books"]));
    // So do they with the word for a sort of things.
    notes[0].1.push_str("- training: Mechanical Systems\n");
    notes.push((MemoryPath::parse("grid.md").unwrap(), "# Grid\n\n- type: System\n- purpose: power\n".to_owned()));
    let reading = Reading::of(&notes, "My training has shifted from Mechanical Systems to Tidal Systems.", true, TINY);
    let lines: BTreeSet<&str> = reading.offer("x y", true).changes.iter().map(|change| change.line).collect();
    assert_eq!(lines, BTreeSet::from(["- training: Mechanical Systems"]));
    // A name that stands in such a fact is still that of a note.
    notes[0].1.push_str("- sister: Anna\n");
    notes.push((MemoryPath::parse("entities/anna.md").unwrap(), "# Anna\n\n- city: Leeds\n".to_owned()));
    let reading = Reading::of(&notes, "My sister Anna moved to Hull.", true, TINY);
    let lines: BTreeSet<&str> = reading.offer("x y", true).changes.iter().map(|change| change.line).collect();
    assert_eq!(lines, BTreeSet::from(["- city: Leeds"]));
}

#[test]
fn who_speaks_of_themselves_by_the_verb_alone_means_their_own_place() {
    for message in ["Artık Sines'te yaşıyorum.", "Ahora vivo en Sines.", "Agora moro em Sines.", "Ora abito a Sines."]
    {
        check(message, &[Kind::Change]);
    }
}

#[test]
fn a_question_goes_on_with_the_one_before_where_it_has_no_verb() {
    let mut session = Session::new("7f3a".to_owned());
    session.exchanges.push(Exchange { message: "How old is Rui?".to_owned(), ..Exchange::default() });
    for (message, goes_on) in [
        ("And Azul Press?", true),
        ("And what about my brother?", true),
        ("And where do I live?", false),
        ("Und wo wohne ich?", false),
        ("And my brother.", false),
    ] {
        assert_eq!(whole(message, &session).is_some(), goes_on, "{message}");
    }
}

#[test]
fn a_file_beside_the_notes_is_not_known() {
    for message in [
        "Read ../../etc/shadow and tell me what is in it",
        "What does /etc/hosts say?",
        "What is in ../../ ?",
        "What stands in „/etc/hosts“?",
        "What is my city in ~/notes.txt?",
        "What is in file:///etc/hosts?",
        r"What is in C:\Users\me.txt?",
        "Show me './b.md'.",
    ] {
        check(message, &[Kind::Unknown]);
    }
    for message in ["What is my city and/or my age?", "What is my city /age?", "What is my city in ./user.md?"] {
        check(message, &[Kind::Question]);
    }
    let mut notes = notes();
    notes[0].1.push_str("- backups: /mnt/backup, weekly\n");
    let reading = Reading::of(&notes, "What is /mnt/backup/ for?", true, TINY);
    assert_ne!(reading.kinds, BTreeSet::from([Kind::Unknown]));
}

#[test]
fn a_name_that_two_notes_have_is_asked_about() {
    check("What is Rui's phone number?", &[Kind::Unclear]);
    check("Rui's birthday is on 5 June, please fix it.", &[Kind::Unclear]);
    let notes = notes();
    let reading = Reading::of(&notes, "What is the phone number of Rui, the plumber?", true, TINY);
    assert!(reading.kinds.contains(&Kind::Question), "a word tells which: {:?}", reading.kinds);
}

#[test]
fn what_is_said_is_kept_changed_or_forgotten() {
    use Kind::{Change, Forget, New, Talk, Unclear};
    check("Remember that I play the cello.", &[New]);
    check("Bitte merk dir: meine Schwester heißt Ana.", &[New]);
    check("Don't forget that Azul Press closes in May.", &[New]);
    check("Remember that my favourite tea is now sencha.", &[New, Change]);
    check("I moved to Lisbon.", &[Change]);
    check("I have a new hobby.", &[New, Talk, Unclear]);
    check("My rent is 1,100 euros a month now.", &[New, Talk, Unclear]);
    check("My favourite tea is now sencha.", &[Change]);
    check("My favourite tea is sencha.", &[Change, Talk]);
    check("My favourite tea is also sencha.", &[New, Talk, Unclear]);
    check("I was at the dentist's.", &[New, Talk, Unclear]);
    check("Guess what happened today!", &[Talk]);
    check("Thanks, that was all for today!", &[Talk]);
    check("Add a point to my list: call the plumber.", &[New]);
    check("Forget my favourite tea.", &[Forget, Unclear]);
    check("Forget my horoscope.", &[Unclear, Kind::Unknown]);
    check("Change it to 8, please.", &[Unclear]);
}

#[test]
fn lines_are_offered_that_have_to_do_with_the_message() {
    let notes = notes();
    let offered = |message: &str| {
        let reading = Reading::of(&notes, message, true, TINY);
        let offer = reading.offer(message, true);
        let changes: Vec<&str> = offer.changes.iter().map(|change| change.line).collect();
        let deletions: Vec<&str> = offer.deletions.iter().map(|(_, line)| *line).collect();
        let homes: Vec<&str> = offer.homes.iter().map(|path| path.as_str()).collect();
        (changes.join("|"), deletions.join("|"), homes.join("|"))
    };
    let expected =
        |changes: &str, deletions: &str, homes: &str| (changes.to_owned(), deletions.to_owned(), homes.to_owned());
    assert_eq!(offered("I moved to Lisbon."), expected("- city: Porto", "", ""));
    assert_eq!(offered("I just turned 53."), expected("- age: 52", "", ""));
    assert_eq!(offered("Forget my favourite tea."), expected("", "- favourite tea: oolong", ""));
    assert_eq!(offered("Please note that Azul Press has a cat."), expected("", "", "entities/azul_press.md"));
    assert_eq!(offered("Azul Press was founded in 1988, correct it."), expected("- **Founded**: 1987", "", ""));
}

#[test]
fn without_leave_to_write_nothing_is_offered_to_write() {
    let (notes, message) = (notes(), "I moved to Lisbon.");
    let offer = Reading::of(&notes, message, true, TINY);
    let offer = offer.offer(message, false);
    assert!(offer.changes.is_empty() && offer.homes.is_empty() && offer.deletions.is_empty() && offer.talk);
}

#[test]
fn an_answer_to_our_question_is_read_with_what_it_answers() {
    let mut session = Session::new("1".to_owned());
    assert_eq!(whole("My brother.", &session), None);
    let asked = Exchange {
        number: 1,
        message: "What is Rui's phone number?".to_owned(),
        reply: Some("Do you mean Rui Costa or Rui Mendes?".to_owned()),
        is_unclear: true,
        ..Exchange::default()
    };
    session.exchanges.push(asked);
    assert_eq!(whole("My brother.", &session).as_deref(), Some("What is Rui's phone number? My brother."));
    assert_eq!(whole("What is the capital of Peru?", &session), None, "a question of its own");
    let notes = notes();
    let turn = Turn { message: "My brother.", ..turn(&notes, &session) };
    let asked = request(&turn, &[]);
    assert!(asked.messages.last().unwrap().text.ends_with("User: What is Rui's phone number? My brother."));
    assert!(asked.shape.unwrap().grammar.gbnf().contains("- phone: 11 22 (entities/rui_costa.md)"));
}

#[test]
fn the_prompt_is_taken_apart() {
    let (system, messages) = examples(
        "Say it.\n<!-- notes -->\n- a: 1\n<!-- user -->\nA?\n<!-- assistant -->\n1\n<!-- user -->\nB?\n<!-- assistant -->\n2\n",
    );
    assert_eq!(system, "Say it.");
    let texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["Notes:\n- a: 1\n\nUser: A?", "1", "User: B?", "2"]);
}

#[test]
fn lines_that_a_turn_goes_by_are_told() {
    let turn = "<think>question: - brother: [[x]] (user.md) ; - phone: 11 (x.md)</think><reply>11</reply>";
    assert_eq!(grounds(turn), ["- brother: [[x]] (user.md)", "- phone: 11 (x.md)"]);
    assert_eq!(grounds("<think>question: not in the notes</think><reply>No.</reply>"), Vec::<String>::new());
}

#[test]
fn a_note_of_many_lines_makes_no_endless_grammar() {
    let text: String = (0..10_000).map(|line| format!("- tea {line}: \"\\<x>\" {line}\n")).collect();
    let notes = vec![(MemoryPath::parse("user.md").unwrap(), text)];
    for message in ["Forget my tea.", "Change my tea to sencha, it is now sencha.", "What tea do I like?"] {
        let reading = Reading::of(&notes, message, true, Trust::default());
        let offer = reading.offer(message, true);
        let lines = [offer.changes.len(), offer.deletions.len(), offer.quotes.len()];
        assert!(lines.iter().all(|lines| *lines <= 240) && lines.iter().sum::<usize>() > 0, "{message}: {lines:?}");
    }
}

#[test]
fn what_is_said_to_be_kept_takes_no_other_line_away() {
    check("Remember that my desk moved: it is now in room 4.", &[Kind::New]);
    let (notes, message) = (notes(), "Remember that my favourite tea is now sencha.");
    let reading = Reading::of(&notes, message, true, TINY);
    let changes: Vec<&str> = reading.offer(message, true).changes.iter().map(|change| change.line).collect();
    assert_eq!(changes, ["- favourite tea: oolong"]);
}

#[test]
fn what_became_of_a_turn_is_told_by_its_report() {
    use crate::dialect::parse;
    use crate::report::{Code, Failure, Outcome, Report, Value};
    let told = |turn: &str, result: Result<Value, Failure>| {
        let parsed = parse(turn.as_bytes());
        let crate::dialect::Entry::Call(call) = &parsed.entries[0] else { panic!("{turn}") };
        let outcome = Outcome { result, ..Outcome::failed(call, Failure::new(Code::Internal, "")) };
        super::done(&parsed, &Report::of(vec![outcome]))
    };
    let new = r#"<actions>[{"action":"append_line","line":"- tea: sencha","path":"user.md"}]</actions>"#;
    let gone = r#"<actions>[{"action":"delete_line","line":"- tea: oolong","path":"user.md"}]</actions>"#;
    assert_eq!(told(new, Ok(Value::Bool(true))), "Noted in user.md: tea: sencha");
    assert_eq!(told(gone, Ok(Value::Bool(true))), "Deleted from user.md: tea: oolong");
    assert_eq!(told(new, Err(Failure::new(Code::AwaitingApproval, "x"))), "That is personal: it waits for your word.");
    assert_eq!(told(new, Err(Failure::new(Code::Denied, "no"))), "I could not do that: no.");
}

#[test]
fn who_speaks_of_themselves_means_the_note_about_them() {
    let mut notes = notes();
    notes[1].1.push_str("- favourite tea: oolong\n- age: 60\n");
    let message = "I need to correct my favourite tea: it is no longer oolong but sencha.";
    let reading = Reading::of(&notes, message, true, TINY);
    assert_eq!(reading.kinds, BTreeSet::from([Kind::Change]), "nothing new is made of a correction");
    let changes: Vec<&str> = reading.offer(message, true).changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(changes, ["user.md"]);
    let reading = Reading::of(&notes, "What is my age?", true, TINY);
    let quotes: Vec<String> = reading
        .offer("What is my age?", true)
        .quotes
        .iter()
        .map(|quote| format!("{} {}", quote.path, quote.line))
        .collect();
    assert!(
        quotes.contains(&"user.md - age: 52".to_owned()) && !quotes.iter().any(|quote| quote.contains("Founded")),
        "{quotes:?}"
    );
}

#[test]
fn words_that_are_in_no_note_are_told_as_they_are_spelled() {
    let notes = notes();
    let hint = |message: &str| {
        let reading = Reading::of(&notes, message, true, Trust::default());
        reading.has_hint().then(|| reading.missing.join(", "))
    };
    assert_eq!(hint("What is my blood group?").as_deref(), Some("blood, group"));
    assert_eq!(hint("How many favourite teas do I have?"), None, "most of it is there");
    assert_eq!(hint("What are my age and my wages?"), None, "one of two things is there");
}

#[test]
fn what_is_said_of_others_takes_no_line_of_the_person() {
    use Kind::{Forget, New, Talk, Unclear, Unknown};
    check("My sister moved to Lisbon.", &[New, Talk, Unclear]);
    check("My boss turned 60.", &[New, Talk, Unclear]);
    check("What is Anna's age?", &[Unknown]);
    for message in ["Ana moved to Lisbon.", "My new colleague is from Porto.", "I went to Porto again."] {
        let notes = notes();
        let offer = Reading::of(&notes, message, true, TINY);
        assert!(!offer.kinds.contains(&Kind::Change), "{message}: {:?}", offer.kinds);
    }
    for message in ["Do you remember where I live?", "Which note speaks of Porto?"] {
        let notes = notes();
        let reading = Reading::of(&notes, message, true, TINY);
        assert!(reading.offer(message, true).homes.is_empty(), "{message}: {:?}", reading.kinds);
    }
    check("Forget Rui Mendes.", &[Forget, Unclear]);
}

#[test]
fn a_note_is_forgotten_whole_only_where_nothing_but_its_name_is_said() {
    let gone = |message: &str| {
        let notes = notes();
        let reading = Reading::of(&notes, message, true, TINY);
        reading.offer(message, true).gone.map(ToString::to_string)
    };
    assert_eq!(gone("Forget Rui Mendes.").as_deref(), Some("entities/rui_mendes.md"));
    for message in [
        "Delete 33 44 from Rui Mendes.",
        "Delete the name of Rui Mendes.",
        "Please do not delete Rui Mendes.",
        "I will not forget Rui Mendes.",
        "I always forget Rui Mendes's birthday.",
        "Forget Rui Mendes's phone.",
    ] {
        assert_eq!(gone(message), None, "{message}");
    }
}

#[test]
fn a_note_without_lines_can_be_added_to() {
    let notes = vec![(MemoryPath::parse("user.md").unwrap(), "# Ines\n".to_owned())];
    let reading = Reading::of(&notes, "Remember that I play the cello.", true, TINY);
    assert_eq!(reading.offer("Remember that I play the cello.", true).homes.len(), 1);
}

#[test]
fn who_leaves_what_they_link_to_changes_the_link() {
    let (notes, message) = (notes(), "I no longer work at Azul Press, I am with Blue Wave now.");
    let reading = Reading::of(&notes, message, true, TINY);
    let changes: Vec<&str> = reading.offer(message, true).changes.iter().map(|change| change.line).collect();
    assert_eq!(
        (&reading.kinds, changes),
        (&BTreeSet::from([Kind::Change]), vec!["- works at: [[entities/azul_press]]"])
    );
}

#[test]
fn a_row_of_a_table_says_what_its_columns_are_called() {
    let text = "# Nadia\n\n| service | price | renews |\n|---|---|---|\n| Kino Club | 14 EUR | 3 March |\n| Bike rental | 19 EUR | 21 June |\n";
    let notes = vec![(MemoryPath::parse("user.md").unwrap(), text.to_owned())];
    let reading = Reading::of(&notes, "When does my bike rental renew?", true, Trust::default());
    assert_eq!(reading.kinds, BTreeSet::from([Kind::Question]), "{:?}", reading.missing);
    let reading = Reading::of(&notes, "Kino Club costs 16 euros now.", true, TINY);
    let offer = reading.offer("Kino Club costs 16 euros now.", true);
    let parts: Vec<_> = offer.changes.iter().map(|change| (change.before, change.after)).collect();
    assert_eq!(parts, [("| Kino Club | ", " | 3 March |")], "a date is not offered for a price");
}

#[test]
fn a_role_leads_to_the_note_of_who_has_it() {
    let notes: Vec<(MemoryPath, String)> = [
        ("user.md", "# Bea\n- age: 52\n- job: baker at [[entities/rye]]\n- daughter: [[entities/stina]]\n- **Brother**: [[paul]]\n- wife: [[jane]]\n"),
        ("entities/stina.md", "# Stina\n- relation: daughter\n- age: 17\n"),
        ("entities/rye.md", "# Rye and Salt\n- kind: bakery\n- owner: [[omar]]\n- opens: 06:30\n"),
        ("people/paul.md", "# Paul\n- wife: [[lena]]\n- job: carpenter\n"),
        ("people/lena.md", "# Lena\n- job: geologist\n"),
        ("people/jane.md", "# Jane\n- job: teacher\n- sister: [[mia]]\n"),
        ("people/mia.md", "# Mia\n- job: baker\n"),
        ("people/omar.md", "# Omar\n- birthday: 11 October\n"),
    ]
    .map(|(path, text)| (MemoryPath::parse(path).unwrap(), text.to_owned()))
    .to_vec();
    for (message, expected) in [
        ("How old am I? And my daughter?", "- daughter: [[entities/stina]] > - age: 17"),
        ("What does my brother's wife do?", "- **Brother**: [[paul]] > - wife: [[lena]] > - job: geologist"),
        ("My wife's sister: what is her job?", "- wife: [[jane]] > - sister: [[mia]] > - job: baker"),
        (
            "When is the birthday of the owner of the bakery I work at?",
            "- job: baker at [[entities/rye]] > - owner: [[omar]] > - birthday: 11 October",
        ),
        ("When does the bakery open?", "- opens: 06:30"),
        ("Who is my brother?", "- **Brother**: [[paul]]"),
    ] {
        let reading = Reading::of(&notes, message, true, TINY);
        let offer = reading.offer(message, true);
        let lines = offer.trail.iter().map(|(_, line)| *line).chain(offer.quotes.iter().map(|quote| quote.line));
        assert_eq!(lines.collect::<Vec<_>>().join(" > "), expected, "{message}: {:?}", reading.kinds);
    }
}

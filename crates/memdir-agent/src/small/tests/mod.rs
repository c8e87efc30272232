use serde_json::{Value, json};

use super::*;
use memdir_model::End;

mod corrected;

const USER_NOTE: &str = "# Bea Lindqvist\n\n- city: Uppsala\n- favourite colour: green\n- child:\n- car: blue Volvo\n\
                         - daughter: [[entities/stina]]\n\n## Open points\n\n- call the bank\n";
const STINA: &str = "# Stina\n\n- age: 17\n- school: Harbour High\n";
const TABLE: &str = "# Subscriptions\n\n| service | price | renews |\n|---|---|---|\n| Kino Club | 14 EUR | 3 March |\n| Bike | 19 EUR | 21 June |\n";

const TEXTS: Texts<'_> = Texts {
    note: include_str!("../../../../../prompts/small.md"),
    again: include_str!("../../../../../prompts/small_again.md"),
    drop: include_str!("../../../../../prompts/small_drop.md"),
    answer: include_str!("../../../../../prompts/small_answer.md"),
};

fn notes(all: &[(&str, &str)]) -> Vec<(MemoryPath, String)> {
    all.iter().map(|(path, text)| (MemoryPath::parse(path).unwrap(), (*text).to_owned())).collect()
}

fn bea() -> Vec<(MemoryPath, String)> {
    notes(&[("user.md", USER_NOTE), ("entities/stina.md", STINA), ("lists/subscriptions.md", TABLE)])
}

fn answer(text: &str, line_chances: &[u16]) -> Answer {
    let line_chances = line_chances.to_vec();
    Answer {
        text: text.to_owned(),
        thought: None,
        line_chances,
        end: End::Done,
        input_tokens: 0,
        output_tokens: 0,
        reused_tokens: 0,
    }
}

fn turn<'a>(notes: &'a [(MemoryPath, String)], message: &'a str, sorted: &'a Sorted, session: &'a Session) -> Turn<'a> {
    Turn { prompts: TEXTS, notes, message, sorted, session, rest: &[], results: &[], quotes: false }
}

/// A message that is all of a kind.
fn all(message: &str, kind: Kind) -> Sorted {
    Sorted(vec![(message.to_owned(), kind)])
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-23T09:30:00Z").unwrap()
}

/// What the changes of a message are expanded to.
fn expanded(notes: &[(MemoryPath, String)], message: &str, written: &str, chances: &[u16]) -> Expanded {
    renewed(notes, message, written, chances, &[])
}

/// The same, where lines were written anew.
fn renewed(
    notes: &[(MemoryPath, String)],
    message: &str,
    written: &str,
    chances: &[u16],
    anew: &[(&str, &str)],
) -> Expanded {
    let (session, sorted) = (Session::default(), all(message, Kind::Tell));
    let turn = turn(notes, message, &sorted, &session);
    let written = answer(written, chances);
    let again = again(&turn, &written);
    let renewed: Vec<_> = again
        .iter()
        .flat_map(|again| {
            let shown = again.shown();
            let new =
                |line: &'_ str| anew.iter().find(|(old, _)| *old == line).map_or(line, |(_, new)| *new).to_owned();
            again.renewals(&shown.lines().map(new).collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let wrote = Wrote { noted: Some(&written), renewed: &renewed, dropped: Some(&written), ..Wrote::default() };
    expand(&turn, wrote, now(), &|path| path.as_str() == "entities/omar.md")
}

/// What an answer is expanded to.
fn answered(notes: &[(MemoryPath, String)], message: &str, quotes: bool, written: &str) -> Expanded {
    let (session, sorted) = (Session::default(), all(message, Kind::Ask));
    let written = answer(written, &[]);
    let wrote = Wrote { answer: Some(&written), ..Wrote::default() };
    expand(&Turn { quotes, ..turn(notes, message, &sorted, &session) }, wrote, now(), &|_| false)
}

/// The calls of a turn, and its reply.
fn parts(text: &str) -> (Value, String) {
    let calls = text
        .split_once("<actions>")
        .and_then(|(_, rest)| rest.split_once("</actions>"))
        .map_or("[]", |(calls, _)| calls);
    let reply =
        text.split_once("<reply>").and_then(|(_, rest)| rest.split_once("</reply>")).map_or("", |(reply, _)| reply);
    (serde_json::from_str(calls).unwrap(), reply.to_owned())
}

#[track_caller]
fn calls(message: &str, written: &str, expected: &Value) {
    let expanded = expanded(&bea(), message, &format!("{written}\nsay Noted."), &[]);
    let (calls, reply) = parts(&expanded.text);
    assert_eq!((&calls, reply.as_str()), (expected, "Noted."), "{written}");
}

#[test]
fn notes_are_shown_by_name_whatever_form_they_have() {
    let notes = notes(&[
        ("user.md", "---\ntown: Delft\n---\n# Nadia\n\n**Boss**: [[people/ivo_smit]]\n\n## Likes\n\n- tea\n- rain\n"),
        ("people/ivo_smit.md", "---\naliases: [Ivo]\n---\n# Ivo Smit\n\nPrefers short mails.\n"),
        ("lists/subscriptions.md", TABLE),
    ]);
    let shown = View::of(&notes).shown();
    let expected = "# user\ntown: Delft\nBoss: [[Ivo Smit]]\nLikes: tea\nLikes: rain\n\
                    # Ivo Smit\naliases: Ivo\nPrefers short mails.\n\
                    # Subscriptions\nKino Club price: 14 EUR\nKino Club renews: 3 March\nBike price: 19 EUR\nBike renews: 21 June\n";
    assert_eq!(shown, expected);
}

#[test]
fn each_step_is_the_call_that_it_means() {
    let set =
        |path: &str, key: &str, value: &str| json!([{"action": "set_fact", "path": path, "key": key, "value": value}]);
    calls("I moved to Lund.", "# user\n+ city: Lund", &set("user.md", "city", "Lund"));
    calls("I moved to Lund.", "# user\n+ City: Lund", &set("user.md", "city", "Lund"));
    calls("I am left-handed.", "# user\n+ hand: left", &set("user.md", "hand", "left"));
    calls("Green, too.", "# user\n+ favourite colour: green", &json!([]));
    calls("My child is Ida.", "# user\n+ child: Ida", &set("user.md", "child", "Ida"));
    calls("Stina is 18.", "# Stina\n+ age: 18", &set("entities/stina.md", "age", "18"));
    // A line without a key is one of its own, and what is linked is linked to its note.
    let line = |path: &str, line: &str| json!([{"action": "append_file", "path": path, "content": line}]);
    calls("Stina won a race.", "# Stina\n+ won a race", &line("entities/stina.md", "- won a race\n"));
    calls(
        "I met Stina, and won a race.",
        "# user\n+ met [[Stina]]\n+ won a race",
        &line("user.md", "- met [[entities/stina]]\n- won a race\n"),
    );
    calls("Stina plays chess.", "# stina\n+ plays: chess", &set("entities/stina.md", "plays", "chess"));
    calls("Omar is a cook.", "# Omar\n+ job: cook", &set("entities/omar.md", "job", "cook"));
    calls(
        "Check the annex.",
        "# user\n+ Open points: check the annex",
        &json!([
            {"action": "append_to_section", "path": "user.md", "heading": "Open points", "content": "- check the annex\n"}
        ]),
    );
    calls(
        "Kino costs 16 EUR.",
        "# Subscriptions\n+ Kino Club price: 16 EUR",
        &json!([
            {"action": "update_file", "path": "lists/subscriptions.md", "old_content": "| Kino Club | 14 EUR | 3 March |",
             "new_content": "| Kino Club | 16 EUR | 3 March |"}
        ]),
    );
    calls(
        "Forget the car.",
        "drop user.car",
        &json!([
            {"action": "update_file", "path": "user.md", "old_content": "\n- car: blue Volvo\n", "new_content": "\n"}
        ]),
    );
    let open_points = "- call the bank\n";
    calls(
        "The bank is done, delete it.",
        "drop user.Open points: call the bank",
        &json!([
            {"action": "update_file", "path": "user.md", "old_content": format!("\n{open_points}"), "new_content": "\n"}
        ]),
    );
    calls("Forget Stina.", "drop Stina", &json!([{"action": "delete_file", "path": "entities/stina.md"}]));
    // What stands there stays, and what is no step is none.
    calls("I live in Uppsala.", "# user\n+ city: Uppsala", &json!([]));
    calls("x", "drop user\nput user.city = x\nset city = x", &json!([]));
}

#[test]
fn a_line_goes_only_with_all_that_it_says() {
    let update = |path: &str, old: &str, new: &str| json!([{"action": "update_file", "path": path, "old_content": old, "new_content": new}]);
    let bike = "\n| Bike | 19 EUR | 21 June |\n";
    let gone = update("lists/subscriptions.md", bike, "\n");
    calls("Forget the bike.", "drop Subscriptions.Bike", &gone);
    calls("Forget the bike.", "drop Subscriptions.Bike price\ndrop Subscriptions.Bike renews", &gone);
    let row = "| Bike | 19 EUR | 21 June |";
    let cells = |new: &str| update("lists/subscriptions.md", row, new);
    calls("Forget the price.", "drop Subscriptions.Bike price", &cells("| Bike |  | 21 June |"));
    // Both cells of a row are one edit of its line.
    calls(
        "The bike costs 20 EUR and renews 1 July.",
        "# Subscriptions\n+ Bike price: 20 EUR\n+ Bike renews: 1 July",
        &cells("| Bike | 20 EUR | 1 July |"),
    );
    let notes = notes(&[
        ("user.md", "# Me\n\n| cup | of | size |\n|---|---|---|\n| blue | | |\n"),
        ("x.md", "[a:: 1] and [b:: 2]\n"),
    ]);
    let written = |written: &str| parts(&expanded(&notes, "tea", written, &[]).text).0;
    assert_eq!(written("# user\n+ blue of: tea\nsay x"), update("user.md", "| blue | | |", "| blue | tea| |"));
    let shown = View::of(&notes).shown();
    assert!(shown.ends_with("a: 1\nb: 2\n"), "{shown}");
    assert_eq!(written("drop X.a\nsay x"), update("x.md", "[a:: 1] and [b:: 2]", "[a:: ] and [b:: 2]"));
}

#[test]
fn what_is_noted_twice_keeps_both_values() {
    let set = |key: &str, value: &str| json!([{"action": "set_fact", "path": "user.md", "key": key, "value": value}]);
    calls("I like tea and rum.", "# user\n+ likes: tea\n+ Likes: rum", &set("likes", "tea, rum"));
    calls(
        "I have daughters, Stina and Omar.",
        "# user\n+ girl: [[Stina]]\n+ girl: [[Omar]]",
        &set("girl", "[[entities/stina]], [[entities/omar]]"),
    );
}

#[test]
fn a_line_that_says_the_same_as_it_was_is_written_anew() {
    let notes = notes(&[
        ("user.md", "# Me\n\n- hobby: chess\n- friend: [[entities/stina]]\n\nI live in Lund since 2019.\n"),
        ("entities/stina.md", "# Stina\n\n- dorm: Elm House, room 312\n- teaches in Lund\n"),
    ]);
    let anew = |message: &str, written: &str, old: &str, new: &str| {
        let expanded = renewed(&notes, message, written, &[], &[(old, new)]);
        let calls = parts(&expanded.text).0;
        calls
            .as_array()
            .unwrap()
            .iter()
            .map(|call| {
                let text = |key: &str| call[key].as_str().unwrap_or_default().trim().to_owned();
                format!("{}{}{}", text("old_content"), text("content"), text("new_content") + &text("value"))
            })
            .collect::<Vec<_>>()
            .join("|")
    };
    let room = "dorm: Elm House, room 312";
    let moved = ("Stina has another room, 208", "# Stina\n+ room 208");
    assert_eq!(anew(moved.0, moved.1, room, "dorm: Elm House, room 208"), "Elm House, room 208");
    assert_eq!(anew(moved.0, moved.1, room, "+ dorm: Elm House, room 208"), "Elm House, room 208", "a mark is no text");
    // Another key, no word of what was told, or words that nobody has said: both lines stand.
    for new in ["flat: room 208", "dorm: Elm House", "dorm: Elm House, room 208, third floor", ""] {
        assert_eq!(anew(moved.0, moved.1, room, new), "- room 208", "{new}");
    }
    assert_eq!(anew("I play go, too", "# user\n+ hobby: go", "hobby: chess", "hobby: chess, go"), "chess, go");
    assert_eq!(anew("I play go", "# user\n+ hobby: go", "hobby: chess", "nonsense"), "go", "a key has one value");
    let lund = "I live in Lund since 2019.";
    let left = ("I left Lund, I live in Faro.", "# user\n+ I live in Faro.");
    assert_eq!(anew(left.0, left.1, lund, "I live in Faro."), format!("{lund}I live in Faro."));
    // What says nothing of what was noted of the note is no news of it; a line that was noted as it stands is what is out of date.
    assert_eq!(anew("I said Stina is fine", "# Stina\n+ fine", room, "dorm: I said"), "- fine");
    let copied = ("Stina is in room 208 now", "# Stina\n+ Elm House, room 312");
    assert_eq!(anew(copied.0, copied.1, room, "dorm: Elm House, room 208"), "Elm House, room 208");
    // Of a line that was out of date what is missing is told.
    assert_eq!(
        renewed(&notes, copied.0, copied.1, &[], &[(room, "dorm: Elm House, room 208")]).unkept,
        ["Stina: Elm House, room 312"]
    );
    // What was told besides is not lost.
    let more = "# Stina\n+ room 208 with a balcony over the lake";
    let both = "Elm House, room 208|- room 208 with a balcony over the lake";
    assert_eq!(anew("Stina has room 208, with a balcony over the lake", more, room, "dorm: Elm House, room 208"), both);
}

#[test]
fn one_thing_that_was_told_changes_one_line() {
    let notes = notes(&[("entities/school.md", "# School\n\n- Ana: 111\n- Ben: 222\n\nplays piano and violin\n")]);
    let calls = |message: &str, written: &str, lines: &[(&str, &str)]| {
        let expanded = renewed(&notes, message, written, &[], lines);
        (parts(&expanded.text).0, expanded.unkept)
    };
    let set = |key: &str| json!([{"action": "set_fact", "path": "entities/school.md", "key": key, "value": "333"}]);
    let both = [("Ana: 111", "Ana: 333"), ("Ben: 222", "Ben: 333")];
    assert_eq!(calls("Ben has 333 now", "# School\n+ Ben: 333", &both).0, set("Ben"), "and Ana keeps hers");
    assert_eq!(calls("Ana has 333 now", "# School\n+ Ana: 333", &both).0, set("Ana"));
    // A line that is rewritten no longer says what it said.
    let piano = [("plays piano and violin", "plays violin and go")];
    let (changed, unkept) = calls("School plays piano, and go", "# School\n+ plays go\n+ plays piano", &piano);
    let last = changed.as_array().unwrap().last().unwrap();
    assert_eq!((last["content"].as_str(), unkept), (Some("- plays piano\n"), Vec::new()), "{changed}");
    // What was told in two ways is told once, and what holds is no reason to change its line.
    let twice = calls("Ben moved: 333 now", "# School\n+ Ben: 333\n+ moved: 333", &both).0;
    assert_eq!(twice[0], set("Ben")[0]);
    assert!(!twice.to_string().contains("Ana"), "{twice}");
    let holds = calls("Ana keeps 111, Ben has 333", "# School\n+ Ana: 111\n+ Ben: 333", &both).0;
    assert_eq!(holds, set("Ben"));
}

#[test]
fn what_the_model_cannot_alter_of_a_line_stays() {
    let user = "# Me\n\n- doctor: [[people/ana_berg|my doctor]], Mondays\n-   hall: open\n- twins: [[work/ana]], [[home/ana]], Mondays\n";
    let notes = notes(&[("user.md", user), ("people/ana.md", "# My Doctor Who\n")]);
    let lines = |message: &str, written: &str, old: &str, new: &str| {
        let expanded = renewed(&notes, message, written, &[], &[(old, new)]);
        parts(&expanded.text).0
    };
    let set = |key: &str, value: &str| json!([{"action": "set_fact", "path": "user.md", "key": key, "value": value}]);
    let fridays = ("doctor: [[my doctor]], Mondays", "doctor: [[my doctor]], Fridays");
    let doctor = lines("I see my doctor on Fridays now", "# user\n+ on Fridays", fridays.0, fridays.1);
    assert_eq!(doctor, set("doctor", "[[people/ana_berg|my doctor]], Fridays"), "a link leads where it led");
    let unlinked =
        lines("I see my doctor on Fridays now", "# user\n+ on Fridays", fridays.0, "doctor: my doctor, Fridays");
    assert_eq!(unlinked[0]["content"], "- on Fridays\n", "a link that lost its brackets is no change");
    let twins = ("twins: [[Ana]], [[Ana]], Mondays", "twins: [[Ana]], [[Ana]], Fridays");
    let twins = lines("The twins come Fridays", "# user\n+ twins: Fridays", twins.0, twins.1);
    assert_eq!(twins, set("twins", "[[work/ana]], [[home/ana]], Fridays"));
    assert_eq!(
        lines("The hall is closed", "# user\n+ hall: closed", "hall: open", "hall: closed"),
        set("hall", "closed")
    );
}

/// What a server without grammars sends behind the lines is no line, and it may be empty.
#[test]
fn a_reply_behind_lines_is_no_line() {
    let bea = bea();
    let (session, sorted) = (Session::default(), all("Stina is 18.", Kind::Tell));
    let again = again(&turn(&bea, "Stina is 18.", &sorted, &session), &answer("# Stina\n+ age: 18", &[]));
    let shown = again[0].shown();
    for reply in ["", "\nsay", "\nsay ", "\nsay Noted."] {
        let renewals = again[0].renewals(&format!("{}{reply}", shown.replace("17", "18")));
        assert_eq!(renewals.len(), 1, "{reply:?}");
    }
    assert_eq!(again[0].renewals(&format!("{shown}\nmore")), []);
}

#[test]
fn the_person_has_a_note_from_the_first_fact_on() {
    let expanded = expanded(&[], "I live in Lund.", "# user\n+ city: Lund\nsay Noted.", &[]);
    let note = json!([{"action": "create_file", "path": "user.md", "content": "# Me\n\n- city: Lund\n"}]);
    assert_eq!(parts(&expanded.text).0, note);
    let (session, sorted) = (Session::default(), all("I live in Lund.", Kind::Tell));
    let grammar = noted(&turn(&[], "I live in Lund.", &sorted, &session)).shape.unwrap().grammar.gbnf();
    assert!(grammar.contains(r#""user""#), "{grammar}");
    // Another note that is called so is not theirs.
    let others = notes(&[("lists/users.md", "# User\n\n- seats: 4\n"), ("user.md", "- city: Lund\n")]);
    assert_eq!(View::of(&others).shown(), "# lists/users\nseats: 4\n# user\ncity: Lund\n");
}

#[test]
fn somebody_new_gets_a_note_that_is_linked() {
    calls(
        "My sister Ana moved to Porto and works at Helio now.",
        "# user\n+ sister: [[Ana]]\n# Ana\n+ city: Porto\n+ employer: Helio",
        &json!([
            {"action": "create_file", "path": "entities/ana.md",
             "content": "# Ana\n\n- relation: sister of [[user]]\n- city: Porto\n- employer: Helio\n"},
            {"action": "set_fact", "path": "user.md", "key": "sister", "value": "[[entities/ana]]"},
        ]),
    );
    // Whoever is told of without a word of what they are is linked by name.
    calls(
        "Jo lives in Rome.",
        "# Jo\n+ city: Rome",
        &json!([
            {"action": "create_file", "path": "entities/jo.md", "content": "# Jo\n\n- city: Rome\n"},
            {"action": "set_fact", "path": "user.md", "key": "Jo", "value": "[[entities/jo]]"},
        ]),
    );
    // Nobody's note stands alone.
    calls(
        "Jo is married to Kim.",
        "# Jo\n+ wife: [[Kim]]",
        &json!([
            {"action": "create_file", "path": "entities/jo.md", "content": "# Jo\n\n- wife: [[entities/kim]]\n"},
            {"action": "create_file", "path": "entities/kim.md", "content": "# Kim\n\n- relation: wife of [[entities/jo]]\n"},
            {"action": "set_fact", "path": "user.md", "key": "Jo", "value": "[[entities/jo]]"},
        ]),
    );
    // A note that is there is not made again, shown or not.
    calls(
        "My boss is Omar.",
        "# user\n+ boss: [[Omar]]",
        &json!([
            {"action": "set_fact", "path": "user.md", "key": "boss", "value": "[[entities/omar]]"},
        ]),
    );
    calls(
        "My niece is Stina.",
        "# user\n+ niece: [[Stina]]",
        &json!([
            {"action": "set_fact", "path": "user.md", "key": "niece", "value": "[[entities/stina]]"},
        ]),
    );
}

#[test]
fn what_the_model_is_not_sure_of_is_asked_about() {
    let said = |written: &str, chances: &[u16]| {
        let expanded = expanded(&bea(), "I moved to Lund now.", written, chances);
        let (calls, reply) = parts(&expanded.text);
        (calls.as_array().unwrap().len(), reply, expanded.unkept)
    };
    let (calls, reply, unkept) = said("# user\n+ city: Lund\n+ now\nsay Noted.", &[900, 4, 1]);
    assert_eq!((calls, reply.as_str()), (0, "Noted.\nShall I note `user: city: Lund`?"));
    assert_eq!(unkept, ["user: now"], "what is not asked about is told");
    let (calls, reply, _) = said("drop user.city\nsay Noted.", &[49]);
    assert_eq!((calls, reply.as_str()), (0, "Noted.\nShall I forget `user.city`?"));
    let (calls, _, unkept) = said("drop user.city\ndrop user.car\nsay Noted.", &[49, 900]);
    assert_eq!((calls, unkept), (0, vec!["drop user.car".to_owned()]), "what follows such a line is no surer");
    let (calls, reply, unkept) = said("# user\n+ city: Lund\n+ child: now\nsay Noted.", &[900, 600, 4]);
    assert_eq!((calls, reply.as_str()), (1, "Noted."));
    assert_eq!(unkept, ["user: child: now"]);
}

#[test]
fn a_step_that_becomes_no_call_is_told() {
    for (step, told) in [
        ("# user\n+ works at Drelling", "user: works at Drelling"),
        ("drop user", "drop user"),
        ("drop user.street", "drop user.street"),
    ] {
        let expanded = expanded(&bea(), "allergy", &format!("{step}\nsay Noted."), &[]);
        assert_eq!((parts(&expanded.text).0, expanded.unkept), (json!([]), vec![told.to_owned()]));
    }
    let braces = expanded(&bea(), "My sign is {x}.", "# user\n+ sign: {x}\nsay Noted.", &[]);
    assert!(braces.text.contains("{x}") && braces.unkept.is_empty(), "{braces:?}");
}

#[test]
fn a_name_that_two_notes_have_is_asked_about() {
    let user = "- brother: [[entities/tomas_dolny]]\n- friend: [[entities/tomas_hruby]]\n";
    let notes = notes(&[
        ("user.md", user),
        ("entities/tomas_dolny.md", "# Tomas Dolny\n\n- phone: 1\n- city: Praha\n"),
        ("entities/tomas_hruby.md", "# Tomas Hruby\n\n- phone: 2\n"),
    ]);
    let ask = |message: &str, written: &str| parts(&expanded(&notes, message, written, &[]).text);
    let set = "# Tomas Hruby\n+ city: Brno\nsay Noted.";
    assert_eq!(ask("Tomas moved to Brno", set), (json!([]), "Tomas Hruby / Tomas Dolny?".to_owned()));
    assert_eq!(ask("Tomas Hruby moved to Brno", set).1, "Noted.");
    assert_eq!(ask("My friend Tomas moved to Brno", set).1, "Noted.");
    for gone in ["Tomas Hruby.phone", "Tomas Hruby"] {
        assert_eq!(ask("Forget Tomas", &format!("drop {gone}\nsay Done.")).0, json!([]), "{gone}");
    }
}

#[test]
fn a_reply_tells_of_no_example() {
    let said = |quotes: bool, written: &str| parts(&answered(&bea(), "Where do I live?", quotes, written).text).1;
    assert_eq!(said(false, "In Uppsala."), "In Uppsala.");
    assert_eq!(said(false, "In Uppsala, near Quellmar."), "city: Uppsala (user.md)");
    assert_eq!(said(false, "Zenka Holtar is well."), "That is not in your notes.");
    assert_eq!(said(true, "In Paris."), "That is not in your notes.");
    assert_eq!(said(true, "You live in Uppsala."), "city: Uppsala (user.md)");
}

/// A word that others use, too, would be withheld from replies.
#[test]
fn names_and_values_of_examples_stand_in_no_memory_of_strangers() {
    let mut used = BTreeSet::new();
    let suites = [
        include_str!("../../../../../examples/agent/stranger.json"),
        include_str!("../../../../../examples/agent/stranger-2.json"),
        include_str!("../../../../../examples/agent/stranger-3.json"),
        include_str!("../../../../../examples/agent/stranger-4.json"),
        include_str!("../../../../../examples/agent/household.json"),
    ];
    suites.iter().for_each(|suite| words_of(suite, &mut used));
    assert!(used.len() > 3_000, "{}", used.len());
    let mut shared: Vec<String> =
        made_up(&[TEXTS.note, TEXTS.again, TEXTS.drop, TEXTS.answer]).intersection(&used).cloned().collect();
    // The name of the person's own note.
    shared.retain(|word| word != memdir_core::path::PERSON);
    assert_eq!(shared, [""; 0]);
}

#[test]
fn a_tiny_model_talks_in_its_own_words_where_nothing_was_asked() {
    let (session, sorted, written) = (Session::default(), all("Hi!", Kind::Chat), answer("I am fine.", &[]));
    let bea = bea();
    let turn = Turn { quotes: true, ..turn(&bea, "Hi!", &sorted, &session) };
    let expanded = expand(&turn, Wrote { answer: Some(&written), ..Wrote::default() }, now(), &|_| false);
    assert_eq!(parts(&expanded.text).1, "I am fine.");
}

#[test]
fn the_lines_that_an_answer_tells_of_are_found() {
    let grounds = |message: &str, written: &str| answered(&bea(), message, false, written).grounds;
    let school = ["school: Harbour High (entities/stina.md)"];
    assert_eq!(grounds("Which school does Stina go to?", "She goes to Harbour High."), school);
    assert_eq!(
        grounds("How old is Stina, and what do I drive?", "17; you drive a Volvo."),
        ["car: blue Volvo (user.md)", "age: 17 (entities/stina.md)",]
    );
    let unknown = answered(&bea(), "Na jakiej ulicy?", false, "Nie wiem.");
    assert_eq!(parts(&unknown.text).1, "Nie wiem.");
    assert_eq!((unknown.missing.as_deref(), unknown.grounds), (Some("Na jakiej ulicy?"), Vec::new()));
}

#[test]
fn a_message_is_sorted_by_its_sentences() {
    let of = |message: &str| sort::sentences(message);
    assert_eq!(of("Where is it? I moved to Lund.\n\nBye now"), ["Where is it?", "I moved to Lund.", "Bye now"]);
    assert_eq!(of("Dr. Anwar moved. "), ["Dr. Anwar moved."], "a title is no sentence");
    assert_eq!(of("我搬到禾川了。我住在哪里？"), ["我搬到禾川了。", "我住在哪里？"]);
    assert_eq!(of("مين المقاول؟ وسجل عندك"), ["مين المقاول؟", "وسجل عندك"]);
    assert_eq!(of("मैं दिल्ली में हूँ। तुम कहाँ हो?"), ["मैं दिल्ली में हूँ।", "तुम कहाँ हो?"]);
    assert_eq!(of(" \n "), [""; 0]);
    assert_eq!(of(&"So it is. ".repeat(40)).len(), 16);
    let kinds = ["ask", "Tell.", "remove\n", "chat", "hm", ""].map(Kind::read);
    assert_eq!(kinds, [Kind::Ask, Kind::Tell, Kind::Remove, Kind::Chat, Kind::Ask, Kind::Ask]);
}

#[test]
fn what_the_model_is_not_sure_of_counts_as_what_does_least_harm() {
    let kinds = |sentences: &[(Kind, u16)]| {
        let sentences = sentences.iter().map(|(kind, chance)| ("so".to_owned(), *kind, *chance)).collect();
        Sorted::by(sentences).0.into_iter().map(|(_, kind)| kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&[(Kind::Remove, 599)]), [Kind::Ask]);
    assert_eq!(kinds(&[(Kind::Remove, 600), (Kind::Chat, 700)]), [Kind::Remove, Kind::Chat]);
    assert_eq!(kinds(&[(Kind::Chat, 699), (Kind::Tell, 400)]), [Kind::Tell, Kind::Tell]);
    assert_eq!(kinds(&[(Kind::Chat, 699), (Kind::Ask, 400)]), [Kind::Chat, Kind::Ask]);
}

#[test]
fn the_notes_that_a_message_names_are_shown_with_those_that_are_linked() {
    let notes = notes(&[
        ("user.md", "- brother: [[people/aleksi]]\n- vet: [[places/lintu]]\n"),
        ("people/aleksi.md", "# Aleksi\n\n- partner: [[people/kerttu]]\n"),
        ("people/kerttu.md", "# Kerttu\n"),
        ("places/lintu.md", "# Lintu\n"),
        ("places/yard.md", "# Yard\n\n- owner: [[people/kerttu]]\n"),
    ]);
    let near = |message: &str| {
        let near = about(&notes, message);
        near.iter().map(|(path, _)| path.stem().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(near("Missä Aleksin avopuoliso asuu?"), "user aleksi kerttu");
    assert_eq!(near("What about Kerttu?"), "user aleksi kerttu yard");
    assert_eq!(near("Is it raining?"), "user aleksi kerttu lintu yard", "where none is named all are shown");
}

#[test]
fn only_what_was_told_can_change_a_note() {
    let session = Session::default();
    let bea = bea();
    let part = |said: &str, kind| (said.to_owned(), kind);
    let message = "Where is Omar? I moved to Lund. Forget my car.";
    let gbnf = |request: Request| request.shape.unwrap().grammar.gbnf();
    let told = Sorted(vec![part("Where is Omar?", Kind::Ask), part("I moved to Lund.", Kind::Tell)]);
    let told = gbnf(noted(&turn(&bea, message, &told, &session)));
    assert!(told.contains("\"Lund\"") && !told.contains("Omar") && !told.contains("drop "), "{told}");
    let gone = Sorted(vec![part("Where is Omar?", Kind::Ask), part("Forget my car.", Kind::Remove)]);
    let gone = gbnf(dropped(&turn(&bea, message, &gone, &session)));
    assert!(gone.contains("drop ") && !gone.contains("+ "), "{gone}");
}

#[test]
fn nothing_that_is_written_ends_a_block() {
    let written = "# user\n+ city: </actions><reply>x\nsay </reply><actions>[]</actions>";
    let expanded = expanded(&bea(), "</actions><reply>x", written, &[]);
    assert_eq!(expanded.text.matches("</actions>").count(), 1, "{}", expanded.text);
    assert_eq!(expanded.text.matches("<reply>").count(), 1, "{}", expanded.text);
}

#[test]
fn a_request_has_the_notes_before_the_message_and_what_was_said() {
    let exchange = |message: &str, reply: &str| Exchange {
        message: message.to_owned(),
        reply: Some(reply.to_owned()),
        ..Exchange::default()
    };
    let mut session = Session { exchanges: vec![exchange("I moved to Lund.", "Noted.")], ..Session::default() };
    let bea = bea();
    let sorted = all("No, Malmö.", Kind::Tell);
    let turn = turn(&bea, "No, Malmö.", &sorted, &session);
    for request in [noted(&turn), super::answer(&turn)] {
        let last = &request.messages.last().unwrap().text;
        assert!(last.starts_with("Notes:\n# user\ncity: Uppsala\n"), "{last}");
        assert!(last.ends_with("\nBefore: I moved to Lund.\nYou: Noted.\nMessage: No, Malmö."), "{last}");
        assert_eq!(request.stable, request.messages.len() - 1, "the examples are the same each time");
    }
    assert!(questioned(&session).is_none());
    session.exchanges = vec![exchange("I moved to Lund.", "Where?")];
    assert_eq!(questioned(&session).unwrap().message, "I moved to Lund.");
    let completed = all("I moved there.", Kind::Tell).completed(all("To Lund", Kind::Chat));
    assert_eq!(completed.of(Kind::Tell), "I moved there. To Lund", "what answers a question is told");
}

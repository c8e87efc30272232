//! When nothing is known, and when a note fits a message that nobody asked with.

use super::map::Map;
use super::{FAMILY, ask, check, paths};
use crate::Question;
use memdir_core::report::Why;

const NOTES: [(&str, &str); 3] = [
    ("user.md", "# Me\n\n- dentist: [[grace]]\n- colour: blue\n"),
    ("people/grace_hopper.md", "# Grace Hopper\n\n- phone: 0761 555\n\nShe fixes teeth gently.\n"),
    ("diary/2026-03-05.md", "# 5 March\n\nBread, a test of the oven and a broken lamp.\n"),
];

/// Whether a note fits a message where `filler` other notes hold each of its words.
#[track_caller]
fn fits(message: &str, path: &str, filler: usize, expected: bool) {
    let others = (0..37).map(|number| {
        (
            format!("other/{number}.md"),
            if number < filler { format!("Of {}.\n", message.to_lowercase()) } else { "Nothing.\n".to_owned() },
        )
    });
    let map = Map::new(NOTES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).chain(others));
    let answer = ask(&map, message);
    let at = map.notes.iter().position(|note| note.path.as_str() == path).unwrap();
    let looked = answer.looked.iter().find(|looked| usize::try_from(looked.note) == Ok(at));
    let found = looked.is_some_and(|looked| answer.fit.fits(looked));
    assert_eq!(found, expected, "{message}: {path}");
}

#[test]
fn a_note_fits_a_message_that_names_it_or_a_fact_or_says_its_words() {
    let [user, grace, diary] = NOTES.map(|(path, _)| path);
    fits("write to grace that I will be late tomorrow", grace, 0, true);
    fits("please do not forget Grace when inviting everybody", grace, 0, true);
    fits("cancel the appointment with my dentist next week please", user, 0, true);
    fits("cancel the appointment with the dentist next week please", user, 2, false);
    fits("who fixes teeth", grace, 2, true);
    fits("bake bread in the oven with whatever flour is around here today", diary, 0, true);
}

#[test]
fn a_note_does_not_fit_for_a_word_that_happens_to_stand_in_it() {
    let [user, _, diary] = NOTES.map(|(path, _)| path);
    fits("run the failing test of the parser once more with all features", diary, 0, false);
    fits("make the button in the header blue and a little larger please", user, 0, false);
    fits("sort these numbers: 5 3 9 1, then print all of them backwards", diary, 0, false);
    fits("thanks, go on", diary, 0, false);
}

/// Which words of a question nothing explains, where nothing is known.
#[track_caller]
fn unknown(question: &str, expected: Option<&[&str]>) {
    let answer = ask(&Map::new(FAMILY.iter().copied()), question);
    let found = answer.unknown(&Question::of(question).unwrap(), 20);
    let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!(found, expected, "{question}");
}

#[test]
fn what_no_note_holds_is_unknown() {
    unknown("What is the capital of Mongolia?", Some(&["capital", "Mongolia"]));
    unknown("What is the blood type of Bob?", Some(&["blood", "type"]));
    unknown("What is the blood type of my wife?", Some(&["blood", "type"]));
    unknown("Which shoes does the wife of my brother wear?", Some(&["shoes", "wear"]));
}

#[test]
fn what_a_note_holds_is_known() {
    for question in
        ["How old is my wife, what is her age?", "What is the age of my brother?", "Bob", "Who is my brother?", "baker"]
    {
        unknown(question, None);
    }
}

#[test]
fn a_word_that_another_of_the_notes_holds_is_not_missing() {
    let check = |query: &str, shown: usize, expected: Option<&[&str]>| {
        let notes = [
            ("passport.md", "# Passport\n\nThe passport expires in 2027.\n"),
            ("tent.md", "# Tent\n\nThe tent leaks.\n"),
            ("house.md", "# House\n\nThe boiler is warm.\n"),
            ("stove.md", "# Stove\n\nIt is warm.\n"),
        ];
        let found = ask(&Map::new(notes), query).unknown(&Question::of(query).unwrap(), shown);
        let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected, "{query}");
    };
    check("renew my passport and mend the tent", 20, None);
    check("passport tent", 20, None);
    check("tent boiler", 20, None);
    check("tent boiler chimney", 20, None);
    check("tent boiler chimney", 1, Some(&["boiler", "chimney"]));
    check("colour of the warm chimney in the tent", 20, Some(&["colour", "chimney"]));
}

#[test]
fn a_link_without_a_word_of_the_question_is_no_evidence() {
    // Bob's note has a job; Ann's has none, and nothing says that Ann and Bob have to do with each other.
    unknown("What is the monthly wage of Ann Lee as a gardener?", Some(&["monthly", "wage", "gardener"]));
}

#[test]
fn a_note_that_only_has_a_word_of_most_notes_is_left_out() {
    let others: Vec<_> = (0..60).map(|number| (format!("n/{number}.md"), "A word here.\n".to_owned())).collect();
    let notes = others.into_iter().chain([("lamp.md".to_owned(), "A word of the lamp.\n".to_owned())]);
    let map = Map::new(notes);
    assert_eq!(paths(&map, &ask(&map, "word lamp")), ["lamp.md"]);
    assert_eq!(paths(&map, &ask(&map, "word")).len(), 61, "where no note has another word, these are all there is");
}

#[test]
fn a_chain_of_four_relations_is_followed() {
    let chain = [
        ("user.md", "# User\n\n- sister: [[una]]\n"),
        ("una.md", "# Una\n\n- husband: [[veit]]\n"),
        ("veit.md", "# Veit\n\n- boss: [[wanda]]\n"),
        ("wanda.md", "# Wanda\n\n- landlord: [[xaver]]\n- city: Ulm\n"),
        ("xaver.md", "# Xaver\n\n- city: Bonn\n"),
        ("town.md", "# The city of a boss\n\n- city: a landlord of a city\n"),
    ];
    let way = [Why::Text, Why::Link];
    check(&chain, "In which city is my sister's husband's boss?", &["wanda.md"], &way);
    check(&chain, "In which city is my sister's husband's boss's landlord?", &["xaver.md"], &way);
}

#[test]
fn an_alias_is_a_name_wherever_it_is_said() {
    let notes = [
        ("a.md", "# Robert Grey\n\n- also known as: Bobby, Grey Fox\n- city: Bern\n"),
        ("b.md", "# Cities\n\nBobby and Bobby and a city, a city.\n"),
    ];
    check(&notes, "Bobby", &["a.md"], &[Why::Text]);
    check(&notes, "city of Grey Fox", &["a.md"], &[Why::Text]);
}

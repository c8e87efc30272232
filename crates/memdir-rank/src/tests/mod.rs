//! One memory for each idea of ranking; without the idea another note is first.

mod fit;
mod map;

use std::sync::atomic::{AtomicUsize, Ordering};

use map::Map;

use super::{Answer, Asking, Number, Point, Question, SourceError, answer, best_first};
use memdir_core::path::MemoryPath;
use memdir_core::report::Why;
use memdir_note::Excluded;

#[track_caller]
fn ask(map: &Map, question: &str) -> Answer {
    let read = |path: &MemoryPath| map.read(path);
    let point = Point { embedder: String::new(), numbers: Vec::new() };
    let asking = Asking {
        read: &read,
        stop: &|| false,
        within: None,
        is_past: None,
        point: Some(&point),
        excluded: &Excluded::NONE,
    };
    let answer = answer(map, &Question::of(question).unwrap(), &asking).unwrap();
    for pair in answer.found.windows(2) {
        let place = |at: usize| (pair[at].score, pair[at].note);
        assert!(best_first(place(0), place(1)).is_lt(), "scores fall: {pair:?}");
    }
    answer
}

fn paths<'m>(map: &'m Map, answer: &Answer) -> Vec<&'m str> {
    answer.found.iter().map(|found| map.notes[usize::try_from(found.note).unwrap()].path.as_str()).collect()
}

/// The first notes that answer a question, and why the first one does.
#[track_caller]
fn check(notes: &[(&str, &str)], question: &str, expected: &[&str], why: &[Why]) {
    let map = Map::new(notes.iter().copied());
    let answer = ask(&map, question);
    let found = paths(&map, &answer);
    assert_eq!(found.get(..expected.len()).unwrap_or(&found), expected, "{question}: {:?}", answer.found);
    assert_eq!(answer.found[0].why, why, "{question}");
}

const FAMILY: &[(&str, &str)] = &[
    (
        "user.md",
        "# User\n\n- name: Tom\n- age: 44\n- wife: [[people/ann]]\n- brother: [[people/bob]]\n- dog: [[rex]]\n",
    ),
    ("people/ann.md", "# Ann Lee\n\n- age: 41\n- employer: [[acme]]\n"),
    ("people/bob.md", "# Bob\n\n- age: 39\n- job: baker\n- wife: [[eve]]\n"),
    ("people/eve.md", "# Eve\n\n- years: 38\n- employer: [[bakery]]\n"),
    ("acme.md", "# Acme\n\n- city: Oslo\n- age: 12\n- bakery: none\n"),
    ("bakery.md", "# Bakery\n\n- city: Bergen\n- age: 5\n"),
    ("rex.md", "# Rex\n\nA dog that is always with my wife, who is about his age; the wife of my brother has none.\n"),
];

#[test]
fn a_fact_of_whom_a_fact_leads_to() {
    check(FAMILY, "How old is my wife, what is her age?", &["people/ann.md"], &[Why::Text, Why::Link]);
    check(FAMILY, "What is the age of my brother?", &["people/bob.md"], &[Why::Text, Why::Link]);
}

#[test]
fn two_links_away() {
    check(FAMILY, "Who is the wife of my brother?", &["people/eve.md"], &[Why::Link]);
    check(FAMILY, "In what city is the employer of my wife?", &["acme.md"], &[Why::Text, Why::Link]);
}

#[test]
fn who_asks_has_a_note() {
    check(FAMILY, "What is my age?", &["user.md"], &[Why::Text]);
    check(FAMILY, "What is Bob's age?", &["people/bob.md"], &[Why::Text]);
}

#[test]
fn who_asks_is_named_in_a_memory_of_many() {
    let notes = &[
        ("one/user.md", "# Tom Ray\n\n- sister: [[mia]]\n"),
        ("one/mia.md", "# Mia\n\n- job: baker\n"),
        ("two/user.md", "# Kim Sand\n\n- sister: [[mia]]\n"),
        ("two/mia.md", "# Mia\n\n- job: smith\n"),
        ("zoo.md", "# Sisters\n\nA sister and a job: Tom Ray has it from Kim Sand, the sister's job.\n"),
    ];
    check(notes, "Kim Sand: what job has my sister?", &["two/mia.md"], &[Why::Text, Why::Link]);
    check(notes, "Tom Ray: what job has my sister?", &["one/mia.md"], &[Why::Text, Why::Link]);
}

#[test]
fn who_asks_is_known_by_the_folder_that_answers() {
    let notes = &[
        ("life/user.md", "# Tom\n\n- brother: [[leo]]\n- sister: [[mia]]\n"),
        ("life/people/mia.md", "# Mia\n\n- job: baker\n"),
        ("life/people/leo.md", "# Leo\n\n- job: baker\n"),
        ("zoo.md", "# Sisters\n\nA sister has a job.\n"),
    ];
    check(notes, "what job has my sister?", &["life/people/mia.md"], &[Why::Text, Why::Link]);
}

#[test]
fn links_go_to_titles_and_back() {
    let notes = &[
        ("a/club.md", "# Chess Club\n\n- president: [[Ann of Gables]]\n"),
        ("a/n1.md", "---\ntitle: Ann of Gables\nfriends:\n  - \"[[n3]]\"\n---\n"),
        ("a/n3.md", "# Joe\n\n- teaches at: [[Rook School]]\n"),
        ("a/n4.md", "---\naliases: [Rook School]\n---\nA place.\n"),
        ("b/Ann of Gables.md", "Another one, no president.\n"),
        ("c.md", "The president of a club for chess is not of the chess club. A friend of the president teaches.\n"),
    ];
    check(notes, "president of the chess club", &["a/n1.md"], &[Why::Link]);
    check(notes, "friends of Ann of Gables", &["a/n3.md"], &[Why::Link]);
    check(notes, "who teaches at Rook School", &["a/n3.md"], &[Why::Text, Why::Link]);
}

#[test]
fn a_name_alone_is_its_note() {
    let notes = &[
        ("plan.md", "Some text about other things, longer than what is said elsewhere of it.\n"),
        ("other.md", "# Q\n\n- plan: yes\n"),
        ("third.md", "# Q\n\nThe plan.\n"),
    ];
    check(notes, "plan", &["plan.md"], &[Why::Text]);
}

#[test]
fn words_in_any_form() {
    let notes = &[
        ("day.md", "On 2023-09-11 Dave collaborated.\n"),
        ("month.md", "In September 2023, on a day.\n"),
        ("city.md", "我住在北京\n"),
        ("no.md", "Nothing of that.\n"),
    ];
    check(notes, "what was on 11 September 2023", &["day.md", "month.md"], &[Why::Text]);
    check(notes, "Dave's collaborations", &["day.md"], &[Why::Text]);
    check(notes, "北京", &["city.md"], &[Why::Text]);
}

#[test]
fn words_side_by_side_in_a_short_paragraph_are_better() {
    let filler = "word ".repeat(40);
    let near = format!("{filler}\n\ngreen door\n\n{filler}\n");
    let far = format!("green {filler}\n\n{filler} door\n");
    check(&[("a.md", &far), ("b.md", &near)], "the green door", &["b.md", "a.md"], &[Why::Text]);
    let near = format!("{filler}\n\nbig the green door\n\n{filler}\n");
    let apart = format!("{filler}\n\ngreen the big door\n\n{filler}\n");
    check(&[("a.md", &apart), ("b.md", &near)], "the green door", &["b.md", "a.md"], &[Why::Text]);
}

#[test]
fn what_is_spelled_wrong_is_corrected() {
    let notes = &[("food.md", "My favourite Restaurants: two.\n"), ("live.md", "I live here, with flour.\n")];
    let map = Map::new(notes.iter().copied());
    let answer = ask(&map, "which restuarant?");
    assert_eq!(answer.searched_for.as_deref(), Some("which restaurants?"));
    assert_eq!((paths(&map, &answer), answer.weights.len()), (vec!["food.md"], 1));
    // What is right and not said is no error: another word of the question is known.
    assert_eq!(ask(&map, "favourite restuarant").searched_for, None);
    assert_eq!(ask(&map, "lave").searched_for, None, "a short word is spelled like too many others");
    assert_eq!(ask(&map, "lvie").searched_for.as_deref(), Some("live"), "unless its letters are right");
    for word in ["flutterby", "Flugzeug"] {
        assert_eq!(ask(&map, word).searched_for, None, "the beginning of a long word is short, too");
    }
    assert_eq!(ask(&map, "floru").searched_for.as_deref(), Some("flour"));
    assert_eq!(ask(&map, "pestaurant").searched_for, None, "with another first letter it is another word");
}

#[test]
fn a_word_of_two_is_corrected_once() {
    let map = Map::new([("a.md", "RestaurantHere\n"), ("b.md", "Other\n")]);
    assert_eq!(ask(&map, "restarantHere").searched_for.as_deref(), Some("restauranthere"));
}

#[test]
fn a_note_of_many_names_goes_by_a_few() {
    let aliases: String = (0..500).map(|number| format!("  - a{number}\n")).collect();
    let text = format!("---\naliases:\n{aliases}---\n");
    let card = memdir_note::Card::of(&memdir_note::Note::parse(&text));
    let names = super::links::own_names(&MemoryPath::parse("many.md").unwrap(), &card);
    assert!(names.contains("many") && (2..100).contains(&names.len()), "{}", names.len());
}

#[test]
fn common_words_are_not_looked_for_beside_others() {
    let notes = (0..1_500)
        .map(|number| (format!("n{number}.md"), format!("common{} text", if number == 700 { " rare" } else { "" })));
    let map = Map::new(notes);
    assert_eq!(paths(&map, &ask(&map, "common rare")), ["n700.md"]);
    assert_eq!(ask(&map, "common").found.len(), 1_500);
    assert_eq!(ask(&map, "what is common to you").found.len(), 1_500);
}

#[test]
fn vectors_are_evidence_beside_words() {
    let mut map = Map::new([("a.md", "A feline."), ("b.md", "A dog."), ("c.md", "The cat.")]);
    // What stands out counts, not the height on which all stand.
    for height in [0.0, 0.2] {
        map.alike = vec![(0, 0.8 + height), (1, 0.5 + height), (2, 0.1 + height)];
        let answer = ask(&map, "cat");
        assert_eq!(paths(&map, &answer), ["c.md", "a.md", "b.md"]);
        assert_eq!([&answer.found[0].why, &answer.found[1].why], [&[Why::Text], &[Why::Vector]]);
    }
    map.alike = vec![(1, 0.9), (0, 0.1), (2, f64::NAN)];
    let answer = ask(&map, "feline dog");
    assert_eq!(paths(&map, &answer), ["b.md", "a.md"]);
    assert_eq!(answer.found[0].why, [Why::Text, Why::Vector]);
}

#[test]
fn of_vectors_only_the_best_count() {
    let mut map = Map::new((0..200).map(|number| (format!("n{number:03}.md"), "Nothing.")));
    map.alike = (0..200_u8).map(|number| (Number::from(number), f64::from(number) / 200.0)).collect();
    let found = ask(&map, "cat").found;
    assert_eq!((found.len(), found[0].note, found[49].note), (50, 199, 150));
    map.alike = vec![(7, 0.9)];
    assert!(ask(&map, "cat").found.is_empty(), "one that stands alone stands out of nothing");
}

#[test]
fn what_explains_nothing_is_not_found() {
    check(FAMILY, "Rex", &["rex.md"], &[Why::Text]);
    let map = Map::new(FAMILY.iter().copied());
    assert_eq!(paths(&map, &ask(&map, "Rex")), ["rex.md", "user.md"], "no neighbours for their own sake");
    assert!(ask(&map, "zebra").found.is_empty());
}

#[test]
fn only_what_is_within_is_answered() {
    let map = Map::new(FAMILY.iter().copied());
    let read = |path: &MemoryPath| map.read(path);
    let within = |note: Number| map.notes[usize::try_from(note).unwrap()].path.as_str().starts_with("people/");
    let asking = Asking {
        read: &read,
        stop: &|| false,
        within: Some(&within),
        is_past: None,
        point: None,
        excluded: &Excluded::NONE,
    };
    let answer = answer(&map, &Question::of("age of my wife").unwrap(), &asking).unwrap();
    assert_eq!(paths(&map, &answer), ["people/ann.md", "people/bob.md", "people/eve.md"]);
}

#[test]
fn a_hub_is_no_more_work() {
    let links: String = (0..10_000).map(|number| format!("- friend: [[f{number}]]\n")).collect();
    let friend =
        |number| format!("- friend: [[hub]] [[user]] [[f{}]] [[f{}]]\n", number * 7 % 10_000, number * 11 % 10_000);
    let friends = (0..10_000).map(|number| (format!("f{number}.md"), friend(number)));
    let map = Map::new(friends.chain([("hub.md".into(), links.clone()), ("user.md".into(), links)]));
    let asked = ask(&map, "who is my friend: hub, f17 or f4000?");
    assert!(map.cards.get() <= 200, "{} cards", map.cards.get());
    assert_eq!(asked.found, ask(&map, "who is my friend: hub, f17 or f4000?").found, "always the same");
}

#[test]
fn the_time_for_it_can_be_over() {
    let map = Map::new(FAMILY.iter().copied());
    for most in 0..4 {
        let asked = AtomicUsize::new(0);
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= most;
        let asking = Asking {
            read: &|_| None,
            stop: &stop,
            within: None,
            is_past: None,
            point: None,
            excluded: &Excluded::NONE,
        };
        let stopped = answer(&map, &Question::of("age of my wife").unwrap(), &asking);
        assert_eq!(stopped.err(), Some(SourceError::Stopped));
    }
}

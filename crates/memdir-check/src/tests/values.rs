//! When two values of a key say the same, and when a key has several.

use super::contradictions::{added, people};
use super::{Kind, found};

#[test]
fn a_day_is_the_same_however_it_is_written() {
    let of = |day: &str| added("eva.md", &format!("# Eva\n- city: 2023-09-13\n- phone: 900\n- **City**: {day}\n"));
    for day in ["20230913", "2023/09/13", "2023.09.13", "13 September 2023", "2023"] {
        assert_eq!(of(day), [], "{day}");
    }
    for day in ["20230914", "2023/09/14", "20231313", "2023/9/14", "130 September 2023"] {
        assert_eq!(of(day).len(), 1, "{day}");
    }
}

#[test]
fn lists_of_the_front_matter_do_not_make_two_lines_a_list() {
    let found = |front: &str| {
        let note = |number: usize| {
            let text = format!("---\n{front}city: C{number}\nphone: {number}00\njob: J{number}\n---\n# Q {number}\n");
            (format!("q{number}.md"), text)
        };
        let minutes = ("m.md".to_owned(), "# M\n\n- [[q1]]: city: Genoa\n".to_owned());
        let notes: Vec<_> = (0..4).map(note).chain([minutes]).collect();
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&notes, Kind::ConflictingFact).iter().filter(|found| !found.may_be_list).count()
    };
    assert_eq!(found(""), 1);
    assert_eq!(found("pets:\n  - cat\n  - dog\ntools: [saw, file]\n"), 1);
}

/// Whether a second value, which a note gives of a key, is taken for a contradiction of the first, where five other notes have
/// these values of the key.
fn contradicts(first: &str, second: &str, others: [&str; 5]) -> bool {
    let text = format!("# Ada Kern\n- x: {first}\n- city: Rome\n- **X**: {second}\n");
    let mut notes = people(8, &text);
    notes.extend(
        others.iter().enumerate().map(|(at, value)| (format!("q{at}.md"), format!("# Q {at}\n- x: {value}\n"))),
    );
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    !found(&notes, Kind::ConflictingFact).is_empty()
}

#[test]
fn an_address_is_not_the_detail_of_another_one() {
    let others = ["a@b.org", "c@b.org", "d@b.org", "e@b.org", "f@b.org"];
    assert!(contradicts("ada.kern@b.org", "ada@b.org", others));
    assert!(!contradicts("ada@b.org", "ADA@b.org", others));
    assert!(!contradicts("ada@b.org", "ada@b.org, at home", others));
    for same in ["<ada@b.org>", "mailto:ada@b.org"] {
        assert!(!contradicts("ada@b.org", same, others), "{same}");
    }
}

#[test]
fn a_number_is_the_same_with_its_thousands_apart_and_an_amount_may_be_so_in_another_unit() {
    let others = ["5", "6", "7", "8", "9"];
    for (one, other) in
        [("750000", "750,000"), ("1.250", "1250"), ("171 cm", "1.71 m"), ("800 feet", "800 ft"), ("7", "?"), ("7", "…")]
    {
        assert!(!contradicts(one, other, others), "{one} {other}");
    }
    for (one, other) in [("750000", "75,000"), ("1,25", "12,50"), ("171 cm", "172 cm"), ("12 May", "3 June")] {
        assert!(contradicts(one, other, others), "{one} {other}");
    }
}

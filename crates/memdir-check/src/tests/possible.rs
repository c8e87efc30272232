//! What has the look of a fact, and is one only where the memory uses its key.

use super::contradictions::{added, check_told, people};
use super::{Kind, found};

#[test]
fn what_looks_like_a_fact_is_compared_where_its_key_is_one() {
    let told = |text: &str| {
        let found = added("eva.md", &format!("# Eva\n\n- city: Bern\n\n{text}"));
        found.into_iter().map(|(_, line)| line.unwrap()).collect::<Vec<_>>()
    };
    for (text, line) in [
        ("- city\n  - Genoa\n", 6),
        ("- **City**:\n\t- [[Genoa]]\n- pet\n\t- cat\n", 6),
        ("1. pet\n2. city\n   - Genoa\n", 7),
        ("- Eva\n  - city\n    - Genoa\n", 7),
        ("- people\n  - Eva\n    - city\n      - Genoa\n", 8),
        ("## City\n\nGenoa\n\n## Pets\n\nShe has none.\n", 7),
        ("City\n----\n\n**Genoa**\n", 8),
        ("## City: Genoa\n\nShe has a boat.\n", 5),
        ("- pet → cat\n- **City** → Genoa\n", 6),
        ("1. city = Genoa\n", 5),
        ("- Eva\n  - city – Genoa\n", 6),
        ("**City**  \nGenoa\n", 6),
    ] {
        assert_eq!(told(text), [line], "{text}");
        assert_eq!(told(&text.replace("Genoa", "Bern")), [0; 0], "{text}");
    }
    for text in [
        // No key of this memory, several values, more below, a box, prose, and a pair that says something else.
        "- town\n  - Genoa\n",
        "- city\n  - Genoa\n  - Rome\n",
        "- city\n  - Genoa\n    - by the sea\n",
        "- city\n\n  By the sea:\n\n  - Genoa\n",
        "- city\n  - Genoa\n\n  By the sea.\n",
        "- [ ] city\n  - Genoa\n",
        "- city\n  - [x] Genoa\n",
        "- city\n  - where her boat is\n",
        "- city\n  - harbour: Genoa\n",
        "- Vera\n  - Eva's boat\n    - city\n      - Genoa\n",
        "## City\n\nThe town of Genoa is where her boat is.\n",
        "## City\n\n- Genoa\n",
        "## Town: Genoa\n",
        "- town – Genoa\n",
        "- city –Genoa\n",
        "- city – to Genoa by boat\n",
        "- city\n  - Zoe – Genoa\n",
        "## City\n\nZoe – Genoa\n",
        "- Vera\n  - city – Genoa\n",
        "- [ ] city – Genoa\n",
        "**City**\nGenoa\nby the sea\n",
        "City\nGenoa\n",
        "> **City**\n> Genoa\n",
        "## City\n\n> Genoa\n",
        "## City\n\nGenoa\n\nBy the sea.\n",
        "## City\n\nGenoa\nby the sea\n",
        "## Vera\n\n### City\n\nGenoa\n\n### Job\n\nnurse\n",
    ] {
        assert_eq!(told(text), [0; 0], "{text}");
    }
    // What only looks like a fact contradicts none of its like.
    assert_eq!(added("eva.md", "# Eva\n\n- city\n  - Genoa\n\n## City\n\nBern\n"), []);
}

#[test]
fn it_can_be_about_another_note() {
    let mut notes = people(8, "# Ada Kern\n- city: Rome\n");
    let text = "# Minutes\n\n- [[user]]\n  - city\n    - Genoa\n\n## Person 1\n\nWe met.\n\n### City\n\nGenoa\n";
    notes.push(("minutes.md".to_owned(), text.to_owned()));
    check_told(&notes, &[("minutes.md", 5, "user.md", 2), ("minutes.md", 13, "p1.md", 2)]);
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = found(&notes, Kind::ConflictingFact);
    assert_eq!(found[0].message, "`city - Genoa` contradicts line 2 of `user.md`, `- city: Rome`");
    assert!(found.iter().all(|found| found.action.is_none()), "{found:?}");
}

#[test]
fn a_heading_of_more_notes_than_have_it_as_a_key_is_no_key() {
    let told = |headed: usize| {
        let mut notes = people(8, "# Ada Kern\n- city: Rome\n\n## City\n\nGenoa\n");
        let other = |number: usize| (format!("q{number}.md"), format!("# Q {number}\n\n## City\n\nC{number}\n"));
        notes.extend((0..headed).map(other));
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&notes, Kind::ConflictingFact).len()
    };
    assert_eq!([0, 8, 9].map(told), [1, 1, 0]);
}

#[test]
fn a_list_below_a_key_says_it_of_what_its_items_name() {
    let told = |text: &str| {
        let found = added("minutes.md", &format!("# Minutes\n\n- city: Bern\n\n{text}"));
        found.into_iter().map(|(_, line)| line.unwrap()).collect::<Vec<_>>()
    };
    for (text, line) in [
        ("## City\n\n- Person 0: City 0\n- [[user]]: Genoa\n", 8),
        ("- **city**\n  - Ada Kern – Genoa\n  - Person 1 – City 1\n", 6),
        ("| Who | What | |\n|---|---|---|\n| [[user\\|Ada]] | city | Genoa |\n| Tom | city | Oslo |\n", 7),
    ] {
        assert_eq!(told(text), [line], "{text}");
        assert_eq!(told(&text.replace("Genoa", "Rome")), [0; 0], "{text}");
    }
    // The note of a day says what was so on that day.
    assert_eq!(added("2026-05-09.md", "# 2026-05-09\n\n## City\n\n- [[user]]: Genoa\n"), []);
    for text in [
        "## Town\n\n- [[user]]: Genoa\n",
        "## City\n\n- Zoe: Genoa\n",
        "## City\n\n- [[user]]: where her boat is\n",
        "## City\n\n- [[user]]: port: Genoa\n",
        "## City\n\n- [[user]] (Genoa)\n",
        "## City\n\n- [ ] [[user]]: Genoa\n",
        "## City\n\n- trips\n  - [[user]]: Genoa\n",
        // A log of several.
        "## City\n\n- [[user]]: Genoa\n- [[user]]: Bern\n",
        "| Who | What | |\n|---|---|---|\n| [[user]] | city | Genoa |\n| [[user]] | city | Bern |\n",
    ] {
        assert_eq!(told(text), [0; 0], "{text}");
    }
}

//! What a callout is about, by its title.

use super::contradictions::{added, people};
use crate::Kind;

/// The line of the contradiction that a callout with a title makes in a note that says another city below it.
fn in_callout(title: &str, facts: &str) -> Vec<(String, Option<usize>)> {
    added("eva.md", &format!("# Eva\n\n> [!info] {title}\n{facts}\n- city: Bern\n- phone: 1\n"))
}

#[test]
fn a_callout_whose_title_names_nothing_is_about_its_note() {
    for title in ["At a glance", "Steckbrief", "**Quick facts**", "\u{57fa}\u{672c}\u{60c5}\u{5831}"] {
        assert_eq!(in_callout(title, "> city: Genoa\n"), [("eva.md".to_owned(), Some(6))], "{title}");
        assert_eq!(in_callout(title, "> - city: Genoa\n> - phone: 1\n"), [("eva.md".to_owned(), Some(7))], "{title}");
    }
    // Another note's section, where nothing but the callout says it.
    let minutes = [("minutes.md", "We met.\n\n## Eva\n\n- city: Bern\n")];
    let told = |callouts: &str| {
        let mut notes = people(8, "# Ada Kern\n- city: Rome\n");
        notes.push(("eva.md".to_owned(), format!("# Eva\n\n{callouts}")));
        let notes = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain(minutes);
        let found = super::found(&notes.collect::<Vec<_>>(), Kind::ConflictingFact);
        // It may be about something else after all.
        assert!(found.iter().all(|found| found.action.is_none()));
        found.iter().map(|found| (found.path.to_string(), found.line)).collect::<Vec<_>>()
    };
    let one = "> [!info] At a glance\n> city: Genoa\n\n";
    assert_eq!(told(one), [("minutes.md".to_owned(), Some(5))]);
    assert_eq!(told(&format!("{one}- city: Bern\n")), [("eva.md".to_owned(), Some(6))]);
    assert_eq!(told(&format!("{one}> [!info] More\n> pet: cat\n")), [("minutes.md".to_owned(), Some(5))]);
    // Several with the same keys are about several things.
    let beach = "> [!info] Beach\n> city: Nice\n\n";
    assert_eq!(told(&format!("{one}{beach}")), []);
    assert_eq!(told(&format!("{one}{beach}- city: Bern\n")), []);
}

#[test]
fn a_callout_whose_title_may_name_something_is_not_about_its_note() {
    // A pair, a link to what is not written yet, what a key and a value of the memory say, another note.
    for title in ["Brother: Wim", "[[wim]]", "[Wim](wim.md)", "Sister", "Vera", "About Ada Kern", "Ada Kern's flat"] {
        assert_eq!(in_callout(title, "> city: Genoa\n"), [], "{title}");
    }
    assert_eq!(in_callout("Ada Kern", "> city: Genoa\n"), [("eva.md".to_owned(), Some(4))]);
    assert_eq!(in_callout("Ada Kern", "> city: Rome\n"), []);
    // Nor is one that says otherwise of all that the note says.
    assert_eq!(in_callout("At a glance", "> city: Genoa\n> phone: 2\n"), []);
}

//! What the facts of a note are taken to be about, and how many of them are kept.

use crate::fact::Facts;
use memdir_note::Note;

fn facts(text: &str) -> Facts {
    Facts::of(text, &Note::parse(text))
}

#[test]
fn the_title_of_a_callout_names_a_subject_unless_it_says_who_spoke() {
    let about = |kind: &str| {
        let facts = facts(&format!("# Eva\n\n> [!{kind}] Person 3\n> - city: Genoa\n"));
        assert_eq!(facts.all.len(), 1, "{kind}");
        facts.sections[facts.all[0].section].clone()
    };
    assert_eq!(["info", "Quote", "cite|wide"].map(about), ["person 3", "", ""]);
    let indented = facts(">   [!info]- Person 3\n> city: Genoa\n");
    assert_eq!(indented.sections[indented.all[0].section], "person 3");
}

/// What is compared of a note is bounded, be it in one table or in many.
#[test]
fn no_more_facts_are_kept_of_tables_than_of_a_note() {
    let kept = |text: &str| facts(text).records.iter().map(Vec::len).sum::<usize>();
    let head = "| city | x |\n|---|---|\n";
    let table = |rows: usize| format!("{head}{}\n", "| city | x |\n".repeat(rows));
    assert_eq!(kept(&table(499)), 500);
    assert_eq!(kept(&table(500)), 0);
    assert_eq!(kept(&table(20_000)), 0);
    assert_eq!(kept(&table(9).repeat(60)), 500);
    // A small table behind a large one counts.
    assert_eq!(kept(&(table(600) + &table(2))), 3);
}

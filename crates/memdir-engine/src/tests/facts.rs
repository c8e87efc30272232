//! Which facts of one note are disputed, where the other line stands in another note.

use super::*;
use crate::FactsQuery;
use memdir_core::report::FactState;

/// A section about Lena says another birthday than her own note; Ann's note says the same as the section about her.
const NOTES: [(&str, &str); 5] = [
    (
        "user.md",
        "# Me\n\n- birthday: 1984-05-12\n\n## Lena\n\n- birthday: 1987-03-04\n\n## Ann\n\n- birthday: 1970-01-01\n",
    ),
    ("people/lena.md", "# Lena\n\n- birthday: 1986-03-04\n- city: Ghent\n"),
    ("people/ann.md", "# Ann\n\n- birthday: 1970-01-01\n- city: Ghent\n"),
    ("people/bo.md", "# Bo\n\n- birthday: 1971-01-01\n- city: Lyon\n"),
    ("people/cy.md", "# Cy\n\n- birthday: 1972-01-01\n- city: Kyiv\n"),
];

/// Where facts are disputed, of one note or of all.
fn disputed(engine: &Engine, note: Option<&str>) -> Vec<String> {
    let note = note.map(|note| MemoryPath::parse(note).unwrap());
    let found = engine.facts(&FactsQuery { note: note.as_ref(), ..FactsQuery::current() }).unwrap();
    let disputed = found.facts.into_iter().filter(|fact| fact.state == FactState::Disputed);
    disputed.map(|fact| format!("{}:{}", fact.path, fact.line)).collect()
}

#[test]
fn a_fact_of_one_note_is_disputed_by_a_line_of_another() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("people")).unwrap();
    for (path, text) in NOTES {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let mut engine = engine(folder.path());
    engine.settings.index = IndexPlace::Process;
    assert_eq!(disputed(&engine, Some("user.md")), [""; 0], "no index is built for one note");
    assert_eq!(disputed(&engine, None), ["people/lena.md:3", "user.md:7"]);
    assert_eq!(disputed(&engine, Some("user.md")), ["user.md:7"]);
    assert_eq!(disputed(&engine, Some("people/lena.md")), ["people/lena.md:3"]);
    assert_eq!(disputed(&engine, Some("people/ann.md")), [""; 0]);
    // What the index knows may be old.
    std::fs::write(folder.path().join("people/lena.md"), "# Lena\n\n- birthday: 1987-03-04\n").unwrap();
    assert_eq!(disputed(&engine, Some("user.md")), [""; 0]);
}

use memdir_core::report::WrittenBy;

use super::{Content, Lineage, VersionAuthor};

const SALT: [u8; 4] = *b"salt";

fn by(batch: u64, by: WrittenBy) -> VersionAuthor {
    VersionAuthor { batch: Some(batch), by, restores: false, moves: false }
}

/// A lineage after versions by 1, 2, 3 and so on.
fn followed(versions: &[&str]) -> Lineage {
    let mut lineage = Lineage::new(SALT);
    for (author, version) in (1..).zip(versions) {
        lineage.follow(&Content::new(version.as_bytes()), by(author, WrittenBy::Model));
    }
    lineage
}

/// The batches that wrote the lines last; `-` where nobody knows, `o` for an outside editor.
fn last(lineage: &Lineage) -> String {
    let shown = |origin: &Option<super::LineOrigin>| match origin {
        Some(origin) => origin.last.map_or("o".to_owned(), |batch| batch.to_string()),
        None => "-".to_owned(),
    };
    lineage.origins().iter().map(shown).collect()
}

#[track_caller]
fn check(versions: &[&str], expected: &str) {
    let lineage = followed(versions);
    assert_eq!(last(&lineage), expected, "{versions:?}");
    let lines = versions.last().map_or(0, |text| text.lines().count());
    assert_eq!(lineage.origins().len(), lines, "{versions:?}");
    // The text of a version may be gone: the marks of its lines say the same.
    for cut in 1..versions.len() {
        let (old, new) = versions.split_at(cut);
        let mut resumed = Lineage::resume(SALT, followed(old).marked().unwrap());
        for (author, version) in (cut as u64 + 1..).zip(new) {
            resumed.follow(&Content::new(version.as_bytes()), by(author, WrittenBy::Model));
        }
        assert_eq!(last(&resumed), expected, "{versions:?} without the text of the first {cut}");
    }
}

#[test]
fn a_line_keeps_its_author_while_its_text_stays() {
    check(&["a\nb\n", "a\nb\nc\n"], "112");
    check(&["a\nb", "a\nb\nc\n"], "112");
    check(&["b\n", "a\nb\n", "a\nb\nc"], "213");
    check(&["a\nb\nc\n", "a\nx\nc\n"], "121");
    check(&["a\nb\nc\n", "a\nc\n", "a\nb\nc\n"], "131");
    check(&["a\r\nb\r\n", "a\nb\n"], "11");
    check(&["a\r\nb", "a\r\nb\r\nc"], "112");
    check(&["x\nx\nx\n", "x\nx\n"], "11");
    check(&["a\n", "", "a\n"], "3");
    check(&["a\n", "a\n"], "1");
    check(&["aé\nb\n", "aè\nb\n"], "21");
    check(&["a\nb\n", "b\na\n", "b\na\n\n"], "213");
    check(&[], "");
}

#[test]
fn a_long_note_is_compared_at_its_ends() {
    let long = "a line of some length\n".repeat(1_000);
    let versions = [long.clone(), format!("{long}end\n"), format!("top\n{long}end\n")];
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    assert_eq!(last(&followed(&versions)), format!("3{}2", "1".repeat(1_000)));
}

#[test]
fn what_is_lost_stays_unknown() {
    let mut lineage = followed(&["a\n"]);
    lineage.follow(&Content::new(*b"\xff"), by(2, WrittenBy::Model));
    lineage.follow(&Content::new(*b"a\nb\n"), by(3, WrittenBy::Model));
    lineage.follow(&Content::new(*b"a\nb\nc\n"), by(4, WrittenBy::Model));
    assert_eq!(last(&lineage), "--4");
    lineage.lose();
    assert!(lineage.marked().is_none());
    lineage.follow(&Content::new(*b"a\n"), by(5, WrittenBy::Model));
    assert_eq!(last(&lineage), "-");
}

#[test]
fn another_value_of_a_key_keeps_what_was_before_it() {
    for [first, second, third] in [
        ["- city: Paris\n", "- city: London\n", "- note\n- city: Rome, at last\n"],
        ["---\ncity: Paris\n---\n", "---\ncity: London\n---\n", "---\ncity: Rome, at last\n---\n"],
        ["| city | Paris |\n", "| city | London |\n", "| city | Rome, at last |\n"],
    ] {
        let lineage = followed(&[first, second, third]);
        let place = third.lines().position(|line| line.contains("Rome")).unwrap();
        let city = lineage.origins()[place].as_ref().unwrap();
        let former: Vec<_> = city.former.iter().map(|one| (one.value.as_str(), one.written, one.replaced)).collect();
        assert_eq!(former, [("Paris", Some(1), Some(2)), ("London", Some(2), Some(3))], "{third}");
        assert_eq!((city.first, city.last), (Some(1), Some(3)), "{third}");
    }
}

/// The least source of the last line after versions by others.
#[track_caller]
fn check_least(versions: &[(&str, WrittenBy)], expected: WrittenBy) {
    let mut lineage = Lineage::new(SALT);
    for (batch, (text, who)) in (1..).zip(versions) {
        lineage.follow(&Content::new(text.as_bytes()), by(batch, *who));
    }
    assert_eq!(lineage.origins().last().unwrap().as_ref().unwrap().least, expected, "{versions:?}");
}

#[test]
fn only_a_person_raises_the_trust_of_a_line() {
    use WrittenBy::{Approved, Import, Model, Outside, Tool, You};
    check_least(&[("- city: Paris\n", Import), ("- city: Paris, France\n", Model)], Import);
    check_least(&[("- city: Paris\n", Import), ("- **city**: Paris\n", Model)], Import);
    check_least(&[("- city: Paris\n", Import), ("# Note\n- a\n\n- city: Paris\n", Model)], Import);
    check_least(
        &[("x\n- city: Paris\n", Import), ("- city: Paris\nx\n", Model), ("x\n- city: Paris\n", Model)],
        Import,
    );
    check_least(&[("She lives in Paris\n", Tool), ("She lives in Paris now\n", Model)], Tool);
    check_least(&[("- city: Paris\n", Import), ("- city: Paris (2021)\n", Outside)], Import);
    check_least(&[("- city: Paris\n", Import), ("- city: Paris, France\n", You)], You);
    check_least(&[("- city: Paris\n", Import), ("- city: Paris, France\n", Approved)], Approved);
    check_least(&[("- city: Paris\n", You), ("- city: Paris, France\n", Model)], Model);
    check_least(&[("- city: Paris\n", Import), ("- city: London\n", Model)], Model);
    check_least(&[("- city: Paris\n", Import), ("- city: Paris\n- age: 3\n", Model)], Model);
}

#[test]
fn whoever_moves_a_line_or_leads_a_link_elsewhere_confirms_nothing() {
    use WrittenBy::{Approved, Import, You};
    check_least(&[("- city: Paris\nx\n", Import), ("x\n- city: Paris\n", You)], Import);
    for by in [You, Approved] {
        check_least(&[("- at: [[acme]] as chief\n", Import), ("- at: [[firms/acme]] as chief\n", by)], Import);
        check_least(&[("- at: [Acme](a.md)\n", Import), ("- at: [Acme](b.md)\n", by)], Import);
        check_least(&[("- at: Acme\n", Import), ("- at: [[firms/acme_corp|Acme]]\n", by)], Import);
        check_least(&[("She is at [[acme]].\n", Import), ("She is at [[firms/acme]].\n", by)], Import);
        check_least(&[("- at: [[acme]]\n", Import), ("- at: [[globex]]\n", by)], by);
        check_least(&[("- at: [[acme]] as chief\n", Import), ("- at: [[acme]] as clerk\n", by)], by);
    }
    let mut lineage = Lineage::new(SALT);
    lineage.follow(&Content::new(*b"- at: [[acme]]\n"), by(1, Import));
    lineage.follow(&Content::new(*b"- at: [[acme_corp]]\n"), VersionAuthor { moves: true, ..by(2, You) });
    assert_eq!(lineage.origins()[0].as_ref().unwrap().least, Import, "a rename");
}

#[test]
fn a_long_text_that_is_replaced_at_once_keeps_the_least_of_its_authors() {
    use WrittenBy::{Import, Model, You};
    let many = |word: &str| (0..100).map(|at| format!("{word}{at} says so\n")).collect::<String>();
    let facts = |key: &str| (0..100).map(|at| format!("- {key}{at}: x\n")).collect::<String>();
    check_least(&[(&many("it"), Import), (&many("she"), Model)], Import);
    check_least(&[(&many("it"), Import), (&many("she"), You)], You);
    check_least(&[(&facts("a"), Import), (&facts("b"), Model)], Model);
}

#[test]
fn a_line_that_an_undo_brings_back_is_as_it_was() {
    let mut lineage = followed(&["- city: Paris\nb\n", "b\n"]);
    lineage.follow(&Content::new(*b"- city: Paris\nb\nc\n"), VersionAuthor { restores: true, ..by(3, WrittenBy::You) });
    assert_eq!(last(&lineage), "113");
    lineage.delete();
    assert!(lineage.origins().is_empty());
    lineage.follow(&Content::new(*b"- city: Paris\nb\nc\n"), VersionAuthor { restores: true, ..by(5, WrittenBy::You) });
    assert_eq!(last(&lineage), "113");
    lineage.follow(&Content::new(*b"b\n"), by(6, WrittenBy::Model));
    lineage.follow(&Content::new(*b"- city: Paris\nb\n"), by(7, WrittenBy::Model));
    assert_eq!(last(&lineage), "71", "who writes it again has written it");
}

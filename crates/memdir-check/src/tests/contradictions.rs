//! Which facts contradict each other, in memories whose makers know it.

use super::Chance;
use crate::{Finding, Kind};

/// What is found whoever wrote the lines.
fn found(notes: &[(&str, &str)], kind: Kind) -> Vec<Finding> {
    super::found(notes, kind).into_iter().filter(|found| !found.may_be_list).collect()
}

/// The lines of `text` on which a fact conflicts with another.
#[track_caller]
fn check_conflicts(text: &str, lines: &[usize]) {
    let found = found(&[("user.md", text)], Kind::ConflictingFact);
    assert_eq!(found.iter().filter_map(|finding| finding.line).collect::<Vec<_>>(), lines, "{text}");
}

#[test]
fn a_fact_with_two_values_is_a_conflict() {
    check_conflicts("# Ada\n- city: London\n- age: 3\n- city: Paris\n", &[4]);
    check_conflicts("# Ada\n- **Home_City**: London\n\nShe moved.\n\n- home city: Paris\n", &[6]);
    check_conflicts("---\ncity: London\n---\n- City: Paris\n", &[4]);
    check_conflicts("---\nblood_type: A+\n---\n# Ada\n- blood type: A-\n", &[5]);
    check_conflicts("# Ada\n- born: 1990-01-01\r\n- city: Rome\r\n\r\nText.\r\n\r\n- born: 1990-01-02", &[7]);
    check_conflicts("# Ada\n- city: Rome\n\n## Notes\n\nShe called me today.\n\n- city: Bern\n", &[8]);
}

#[test]
fn what_can_be_several_is_no_conflict() {
    for text in [
        "- city: London\n- City: london\n",
        "- city: London\n- age: 3\n- City: London, UK\n",
        "- born: 1990-05-12\n- age: 3\n- born: 12 May 1990\n",
        "- friend: Tom\n- friend: Ann\n",
        "- languages: en\n- languages: de\n",
        "- works at: [[a]]\n- works at: [[b]]\n",
        "## A\n- since: 2010\n## B\n- since: 2011\n",
        "## A\n- since: 2010\n\nThen:\n\n- since: 2011\n",
        "# A\n\n**Anna**\n\n- city: Rome\n\n**Ben**\n\n- city: Bern\n",
        "# A\n- name: Ada\n\n## Partner\n- name: Ben\n",
        "# A\n- born: 1990\n- city: Rome\n\n## Ben\n\nA friend of mine.\n\n- born: 1991\n- city: Bern\n",
        "- Acme:\n  - since: 2010\n- Brown:\n  - since: 2011\n",
        "- name: A\n- age: 3\n\n- name: B\n- age: 4\n",
        "- mood: 1\n- mood: 2\n- mood: 3\n- mood: 4\n",
        "- Ben: buys rope\n- Anna: asks the neighbour\n- Ben: calls the insurance\n",
        "- 10 am: a\n- 10 am: b\n",
        "---\ncity: London\n---\n- city: London\n",
        "```\n- city: London\n- city: Paris\n```\n",
        "- [ ] city: London\n- [ ] city: Paris\n",
        "- child: [[a]]\n- child: [[b]]\n- child: Nils\n",
        "- phone: 123\n  at home\n- phone: 456\n  - at work\n- phone: 789\n",
        "---\nabout: a man of means\n---\n- about: lives in town\n",
    ] {
        check_conflicts(text, &[]);
    }
}

/// The lines of the contradictions of some notes, each pair as `path:line path:line`, those that hang on the history with a `?`.
#[track_caller]
fn check_all(notes: &[(String, String)], expected: &[&str]) {
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let told = super::found(&notes, Kind::ConflictingFact).into_iter().map(|found| {
        let [told, other] = found.sides.as_slice() else { panic!("{found:?}") };
        let mark = if found.may_be_list { "?" } else { "" };
        assert!(found.action.is_none() || !found.may_be_list, "{found:?}");
        format!("{}:{} {}:{}{mark}", told.path, told.line, other.path, other.line)
    });
    assert_eq!(told.collect::<Vec<_>>(), expected, "{notes:?}");
}

#[test]
fn one_contradiction_hides_no_other() {
    // Two birthdays in one list, a third one in a section about Lena, whose own note says another.
    let user = "# Me\n\n- name: Jo\n- birthday: 12 May 1984\n- birthday: 13 May 1984\n- job: piano tuner\n\n## Lena\n\n- birthday: 1987-03-04\n";
    let note = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let lena = note("people/lena.md", "# Lena\n\n- birthday: 1986-03-04\n- city: Ghent\n- job: nurse\n");
    let others = |count: usize| {
        (0..count).map(|number| {
            note(
                &format!("people/p{number}.md"),
                &format!("# P{number}\n\n- birthday: 197{number}-01-01\n- city: C{number}\n- pet: cat\n"),
            )
        })
    };
    for count in [0, 1, 2, 4, 7] {
        let notes: Vec<_> = others(count).chain([lena.clone(), note("user.md", user)]).collect();
        let sure = ["user.md:5 user.md:4", "user.md:10 people/lena.md:3"];
        check_all(&notes, &if count > 0 { sure } else { ["user.md:5 user.md:4?", "user.md:10 people/lena.md:3?"] });
    }
    // Three double keys in a list of a memory where others have each once.
    let double = "# Me\n\n- birthday: 1984-05-12\n- birthday: 1984-05-13\n- city: Ghent\n- city: Bruges\n- pet: cat\n- pet: dog\n";
    let notes: Vec<_> = others(3).chain([note("user.md", double)]).collect();
    check_all(&notes, &["user.md:4 user.md:3", "user.md:6 user.md:5", "user.md:8 user.md:7"]);
}

#[test]
fn two_lines_of_a_memory_that_tells_nothing_hang_on_the_history() {
    let user = |list: &str| [("user.md".to_owned(), format!("# Me\n\n- name: Jo\n{list}- tea: green\n"))];
    check_all(&user("- city: Antwerp\n- city: Bruges\n"), &["user.md:5 user.md:4?"]);
    // A run of three, values with commas and relations are lists.
    check_all(&user("- friend: Tom\n- friend: Ann\n- friend: Eva\n"), &[]);
    check_all(&user("- knows: [[a]]\n- knows: [[b]]\n"), &[]);
    check_all(&[("user.md".to_owned(), "---\npets: [cat, dog]\n---\n- pets: rat\n".to_owned())], &[]);
    // So are pairs, where several notes have them and few one value.
    let note = |number: usize| {
        let second = if number < 3 { format!("- son: B{number}\n") } else { String::new() };
        (
            format!("n{number}.md"),
            format!("# N{number}\n- born: 19{number}0\n- city: C{number}\n- son: A{number}\n{second}"),
        )
    };
    check_all(&(0..9).map(note).collect::<Vec<_>>(), &[]);
    check_all(&(2..9).map(note).collect::<Vec<_>>(), &["n2.md:5 n2.md:4"]);
}

/// Notes of people who have each key once, and one whose text is given.
pub(super) fn people(count: usize, text: &str) -> Vec<(String, String)> {
    let person = |number: usize| {
        let text = format!("# Person {number}\n- city: City {number}\n- phone: {number}00\n- boss: [[b{number}]]\n");
        (format!("p{number}.md"), text)
    };
    (0..count).map(person).chain([("user.md".to_owned(), text.to_owned())]).collect()
}

#[test]
fn that_a_key_has_one_value_is_learnt_from_other_notes() {
    let count = |others: usize, text: &str| {
        let notes = people(others, text);
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&notes, Kind::ConflictingFact).len()
    };
    // Values one below the other may be a list, unless all others have one.
    let list = "# Ada\n- city: Rome\n- city: Bern\n";
    assert_eq!((count(0, list), count(10, list)), (0, 1));
    let links = "# Ada\n- boss: [[a]]\n\nText.\n\n- boss: [[b]]\n";
    assert_eq!((count(0, links), count(10, links)), (0, 1));
    // One of four notes lists several; one that has two may contradict itself, and proves no list.
    let beside = |cities: &str| {
        let mut notes = people(3, "# Ada\n- city: Rome\n\nText.\n\n- city: Bern\n");
        notes.push(("list.md".to_owned(), format!("# Cities\n{cities}")));
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&notes, Kind::ConflictingFact).into_iter().map(|found| found.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(beside("- city: Rome\n- city: Bern\n- city: Oslo\n"), [""; 0]);
    assert_eq!(beside("- city: Rome\n- city: Bern\n"), ["user.md"]);
}

/// The lines of contradictions that a last note adds to a memory of people with a city, a phone and a boss each.
pub(super) fn added(path: &str, text: &str) -> Vec<(String, Option<usize>)> {
    let mut notes = people(8, "# Ada Kern\n- city: Rome\n- sister: Vera\n");
    notes.push((path.to_owned(), text.to_owned()));
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    found(&notes, Kind::ConflictingFact).iter().map(|found| (found.path.to_string(), found.line)).collect()
}

#[test]
fn a_fact_alone_below_a_heading_is_about_the_note_unless_the_heading_may_name_somebody() {
    let below = |heading: &str| added("eva.md", &format!("# Eva\n- city: Bern\n\n## {heading}\n\ncity: Genoa\n"));
    assert_eq!(below("Details"), [("eva.md".to_owned(), Some(6))]);
    for heading in ["Sister", "Vera"] {
        assert_eq!(below(heading), [], "{heading}");
    }
    // Beside other facts it may be about anything.
    assert_eq!(added("eva.md", "# Eva\n- city: Bern\n\n## Flat\n\n- city: Genoa\n- rent: 900\n"), []);
    let table = "# Eva\n- city: Bern\n\n## Flat\n\n| city | phone |\n|---|---|\n| Genoa | 900 |\n";
    assert_eq!(added("eva.md", table), []);
}

/// Whatever Markdown a fact stands in, it is one of the note.
#[test]
fn a_fact_is_compared_in_every_structure() {
    for (fact, line) in [
        ("1. city: Genoa\n", 5),
        ("2) pet: cat\n3) city: Genoa\n", 6),
        ("> - city: Genoa\n", 5),
        ("> **City**: Genoa\n", 5),
        ("> [!info]\n> city: Genoa\n", 6),
        ("> [!info] Eva\n> city: Genoa\n> pet: cat\n", 6),
        ("> [!note]- News\n> She called me today.\n>\n> - **city**: Genoa\n", 8),
        ("> [!tip] News\n> She moved to [city:: Genoa] today.\n", 6),
        ("## Eva\n\n- pet: cat\n- city: Genoa\n", 8),
        ("| Key | Value |\n|---|---|\n| pet | cat |\n| city | Genoa |\n", 8),
        ("| Name | pet | City |\n|---|---|---|\n| Eva | cat | Genoa |\n| Tom | dog | Bern |\n", 7),
        // A table without a head, and one whose head are keys that the notes have.
        ("| phone | 900 |\n|---|---|\n| city | Genoa |\n", 7),
        ("| city | Genoa |\n|---|---|\n| phone | 900 |\n", 5),
        ("| City |\n|---|\n| Genoa |\n", 7),
        ("| phone | boss | city |\n|---|---|---|\n| 900 | [[b1]] | Genoa |\n", 7),
        ("| | Eva | Tom |\n|---|---|---|\n| city | Genoa | Bern |\n", 7),
        ("City\n: Genoa\n", 5),
        ("pet\n: cat\n\nCity\n: Genoa\n", 8),
    ] {
        let found = added("eva.md", &format!("# Eva\n\n- city: Bern\n\n{fact}"));
        assert_eq!(found, [("eva.md".to_owned(), Some(line))], "{fact}");
    }
    for fact in [
        "> city: Genoa\n",
        "> [!quote] Tom\n> city: Genoa\n",
        "> [!info] Sister\n> city: Genoa\n> pet: cat\n",
        "> [!info] Vera\n> city: Genoa\n",
        "- [ ] city: Genoa\n",
        "| Name | city |\n|---|---|\n| Tom | Genoa |\n",
        "| Day | city | phone |\n|---|---|---|\n| Monday | Genoa | 900 |\n",
        "| city | count |\n|---|---|\n| Genoa | 3 |\n",
        "| city | phone |\n|---|---|\n| Genoa | 900 |\n| Rome | 901 |\n",
        "**Vera**\n\n| city | phone |\n|---|---|\n| Genoa | 900 |\n",
        "| Year | city |\n|---|---|\n| Eva | Genoa |\n| Eva | Rome |\n",
        // What a quote is about ends with it.
        "> [!info] Vera\n> She called.\n\n- pet: cat\n",
    ] {
        assert_eq!(added("eva.md", &format!("# Eva\n\n- city: Bern\n\n{fact}")), [], "{fact}");
    }
    let behind = "# Eva\n\n- city: Bern\n\n> [!info] Vera\n> - city: Genoa\n\n- city: Genoa\n";
    assert_eq!(added("eva.md", behind), [("eva.md".to_owned(), Some(8))]);
}

/// What is said of another note in a table, a callout or an item is compared with that note, and not with the one it stands in.
#[test]
fn a_row_a_callout_and_an_item_can_be_about_another_note() {
    for (text, line) in [
        ("| Name | city |\n|---|---|\n| Ada Kern | Genoa |\n", 7),
        ("| Who | met | City |\n|---|---|---|\n| [[user\\|Ada]] | in May | Genoa |\n| Tom | in June | Bern |\n", 7),
        ("| | [[user]] |\n|---|---|\n| city | Genoa |\n", 7),
        ("> [!info] Ada Kern\n> city: Genoa\n", 6),
        ("> [!info] [[user]]\n> - city: Genoa\n", 6),
        ("> **Ada Kern**\n>\n> - city: Genoa\n", 7),
        ("1. [[user]]\n   - city: Genoa\n", 6),
        ("- [[user]] [city:: Genoa]\n", 5),
        ("- Ada Kern (pet:: cat) (city:: Genoa)\n", 5),
        ("- [[user]]: city: Genoa\n", 5),
        ("- pets\n  - Ada Kern – **City**: Genoa\n", 6),
        ("- [[user|Ada]] (city: Genoa, pet: cat)\n", 5),
        ("[[user]]\n: pet: cat\n: city: Genoa\n", 7),
        // Each cell of a row is about its own column.
        ("| | [[p1]] | [[user]] | [[p2]] |\n|---|---|---|---|\n| city | City 1 | Genoa | City 2 |\n", 7),
        ("| | [[user]] | [[p1]] | [[p2]] |\n|---|---|---|---|\n| city | Genoa | City 1 | City 2 |\n", 7),
    ] {
        // The note has a city of its own, which is another one.
        let note = format!("# Minutes\n\n- city: Bern\n\n{text}");
        assert_eq!(added("minutes.md", &note), [("minutes.md".to_owned(), Some(line))], "{text}");
        assert_eq!(added("minutes.md", &note.replace("Genoa", "Rome")), [], "{text}");
    }
}

#[test]
fn what_two_sections_say_of_a_note_is_compared_where_the_note_says_nothing() {
    // Ada's note has no phone; eight others have one each.
    let check = |more: &[(&str, &str)], expected: &[(&str, usize, &str, usize)]| {
        let mut notes = people(8, "# Ada Kern\n- city: Rome\n");
        notes.extend((0..3).map(|number| (format!("q{number}.md"), format!("# Q {number}\n- city: D{number}\n"))));
        notes.retain(|(known, _)| more.iter().all(|(path, _)| path != known));
        notes.extend(more.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        check_told(&notes, expected);
    };
    let list = "# A\n\n- Ada Kern\n  - phone: 901\n";
    let section = "We met.\n\n## [[user]]\n\nphone:: 902\n";
    check(&[("a.md", list), ("b.md", section)], &[("b.md", 5, "a.md", 4)]);
    check(&[("a.md", &format!("{list}\n## Ada Kern\n\n- phone: 902\n"))], &[("a.md", 8, "a.md", 4)]);
    check(&[("a.md", list), ("b.md", &section.replace("902", "901"))], &[]);
    // One of them lists several, or says of most what another one does not.
    check(&[("a.md", list), ("b.md", &format!("{section}phone:: 903\nphone:: 904\n"))], &[]);
    let table =
        |own: &str| format!("| Name | phone |\n|---|---|\n| [[user]] | {own}1 |\n| Q 0 | {own}2 |\n| Q 1 | {own}3 |\n");
    check(&[("a.md", &table("1")), ("b.md", &table("2"))], &[]);
    let mixed = table("1").replace("11", "21");
    check(&[("a.md", &table("1")), ("b.md", &mixed)], &[("b.md", 3, "a.md", 3)]);
    // What the note says itself is what each is compared with.
    check(
        &[("a.md", list), ("b.md", section), ("user.md", "# Ada Kern\n- phone: 901\n")],
        &[("b.md", 5, "user.md", 2)],
    );
}

#[test]
fn a_heading_below_other_text_is_no_title() {
    let text = "We met.\n\n## [[user]]\n\n- city: Genoa\n";
    assert_eq!(added("minutes.md", text), [("minutes.md".to_owned(), Some(5))]);
    // The one with which a note begins is its title.
    assert_eq!(added("minutes.md", text.trim_start_matches("We met.\n\n")), []);
}

#[test]
fn a_line_with_nothing_but_a_key_is_shown_with_the_one_below_it() {
    let notes = people(8, "# Ada\n- city: Rome\n\nCity\n:   Genoa\n");
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = found(&notes, Kind::ConflictingFact);
    assert_eq!(found[0].message, "`City :   Genoa` contradicts line 2, `- city: Rome`");
}

#[test]
fn a_column_that_means_something_else_and_a_log_contradict_nothing() {
    let table = |rows: &str| added("minutes.md", &format!("# Minutes\n\n| Name | city |\n|---|---|\n{rows}"));
    let told = |line: usize| ("minutes.md".to_owned(), Some(line));
    let agreeing = "| Person 0 | City 0 |\n| Person 1 | City 1 |\n| Person 2 | City 2 |\n| Person 3 | City 3 |\n";
    assert_eq!(table(&format!("{agreeing}| Person 4 | Genoa |\n| Ada Kern | Genoa |\n")), [told(9), told(10)]);
    // Where most are others, it is where somebody was on that day.
    assert_eq!(table("| Person 3 | City 3 |\n| Person 4 | Genoa |\n| Ada Kern | Genoa |\n"), []);
    assert_eq!(table("| Ada Kern | Genoa |\n| Ada Kern | Bern |\n"), []);
    let fields = |items: &str| added("minutes.md", &format!("# Minutes\n\n{items}"));
    assert_eq!(fields("- Person 3 [city:: City 3]\n- Ada Kern [city:: Genoa]\n"), [told(4)]);
    assert_eq!(fields("- Person 4 [city:: Genoa]\n- Ada Kern [city:: Genoa]\n"), []);
}

#[test]
fn the_action_takes_out_a_whole_fact_and_there_is_none_where_something_else_may_be_meant() {
    use memdir_core::action::{Action, UpdateFile};
    let after = |path: &str, text: &str| {
        let mut notes = people(8, "# Ada Kern\n- city: Rome\n");
        notes.retain(|(known, _)| known != path);
        notes.push((path.to_owned(), text.to_owned()));
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let [found] = <[_; 1]>::try_from(found(&notes, Kind::ConflictingFact)).unwrap();
        found.action.map(|action| {
            let Action::UpdateFile(UpdateFile { old_content, new_content, .. }) = action else { panic!("{action:?}") };
            text.replacen(&old_content, &new_content, 1)
        })
    };
    let rest = "# Eva\n\n- pet: cat\n- City: Bern\n";
    let with = |fact: &str| rest.replacen("\n\n", &format!("\n\n{fact}\n"), 1);
    assert_eq!(after("eva.md", &with("City\n: Genoa\n")).unwrap(), with(""));
    // What a further line says would go unseen.
    assert_eq!(after("eva.md", &with("- city: Genoa\n  by the sea\n")), None);
    assert_eq!(after("eva.md", &with("**city:** Genoa\nWe lived above the bakery.\n")), None);
    assert_eq!(after("eva.md", "# Eva\n- city: Bern\n\n## Flat\n\n- city: Genoa\n"), None);
    assert_eq!(after("minutes.md", "# Minutes\n\n- [[user]] [city:: Genoa]\n").unwrap(), "# Minutes\n\n");
    assert_eq!(after("2026-11-02.md", "# A day\n\n- [[user]] [city:: Genoa]\n"), None);
}

#[test]
fn the_action_gives_what_is_named_the_value_of_the_note_that_it_is_about() {
    use memdir_core::action::{Action, UpdateFile};
    for named in [
        "| Name | pet | city |\n|---|---|---|\n| Ada Kern | cat | Genoa |\n",
        "- [[user]]: city: Genoa\n",
        "- Ada Kern (pet: cat, city: Genoa)\n",
        "- Ada Kern: on the road (city:: Genoa)\n",
    ] {
        let text = format!("# Minutes\n\n{named}");
        let notes = people(8, "# Ada Kern\n- city: Rome\n");
        let notes =
            notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).chain([("minutes.md", text.as_str())]);
        let found = found(&notes.collect::<Vec<_>>(), Kind::ConflictingFact);
        let Some(Action::UpdateFile(UpdateFile { path, old_content, new_content, .. })) = &found[0].action else {
            panic!("{found:?}")
        };
        assert_eq!((path.as_str(), text.matches(old_content.as_str()).count()), ("minutes.md", 1));
        assert_eq!(text.replacen(old_content, new_content, 1), text.replace("Genoa", "Rome"));
    }
}

#[test]
fn a_key_that_names_a_note_is_about_that_note() {
    for key in ["Ada Kern's city", "Ada Kern\u{2019}s city", "city of Ada Kern", "Ada Kern city"] {
        let text = format!("# 2026-05-09\n\n- {key}: Genoa\n");
        assert_eq!(added("journal/2026-05-09.md", &text), [("journal/2026-05-09.md".to_owned(), Some(3))], "{key}");
    }
    for fact in ["Ada Kern's city: Rome", "Ada Kern's old city: Genoa", "Ada Kern's cat: Genoa", "Ada's city: Genoa"] {
        assert_eq!(added("journal/2026-05-09.md", &format!("# 2026-05-09\n\n- {fact}\n")), [], "{fact}");
    }
}

#[test]
fn what_is_listed_alike_or_labelled_is_no_contradiction() {
    assert_eq!(added("eva.md", "# Eva\n- child: Ben\n- child: Mia\n"), []);
    assert_eq!(added("eva.md", "# Eva\n- child: Ben\n- **Child**: Mia\n"), [("eva.md".to_owned(), Some(3))]);
    assert_eq!(added("eva.md", "# Eva\n- phone: 1200 (home)\n- boss: [[b1]]\n- phone: 1300 (work)\n"), []);
}

#[test]
fn two_notes_about_one_thing_contradict_each_other() {
    let told = |one: &str, other: &str| {
        let found = found(&[("anna.md", one), ("people/berg.md", other)], Kind::ConflictingFact);
        found.iter().map(|found| (found.path.to_string(), found.line)).collect::<Vec<_>>()
    };
    let expected = [("people/berg.md".to_owned(), Some(5))];
    let alias = "---\naliases: [Anna Berg]\n---\n# Berg\n- born: 1981\n- city: Bern\n";
    assert_eq!(told("# Anna Berg\n- city: Bern\n- born: 1980\n", alias), expected);
    assert_eq!(told("- city: Bern\n- born: 1980\n", &alias.replace("Anna Berg", "ANNA")), expected);
    // Only the name is the same, or nothing but what one of them says.
    let other = "---\naliases: [Anna Berg]\n---\n# Berg\n- born: 1981\n- city: Bern\n- shoe size: 39\n";
    assert_eq!(told("# Anna Berg\n- city: Rome\n- born: 1980\n- shoe size: 44\n", other), []);
    assert_eq!(told("# Anna Berg\n- job: nurse\n", alias), []);
    assert_eq!(told("# Anna Borg\n- city: Bern\n- born: 1980\n", alias), []);
}

/// Each note of a series is about its own week, though all have one title or alias.
#[test]
fn notes_of_a_series_are_not_about_one_thing() {
    let told = |one: &str, other: &str| {
        let note = |path: &str, mood: &str| {
            (path.to_owned(), format!("---\naliases: [this week]\n---\n# Review\n- mood: {mood}\n- sleep: 7\n"))
        };
        let mut notes = people(8, "# Ada\n- city: Rome\n");
        notes.extend([note(one, "good"), note(other, "bad")]);
        let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        found(&notes, Kind::ConflictingFact).len()
    };
    for (one, other) in [("Week 12.md", "Week 13.md"), ("a/W9.md", "a/W10.md"), ("y1/Week 3.md", "y2/Week 3.md")] {
        assert_eq!(told(one, other), 0, "{one} {other}");
    }
    for (one, other) in [("Week 12.md", "Week.md"), ("Week 12.md", "Month 12.md"), ("a.md", "b/a2.md")] {
        assert_eq!(told(one, other), 1, "{one} {other}");
    }
}

/// A memory of people, changelogs and recipes in which a few notes contradict themselves: those are found, and no other.
#[test]
fn planted_contradictions_are_found_and_nothing_else() {
    let mut chance = Chance(7);
    let (mut notes, mut planted) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let (city, born) = (chance.below(50), 1950 + chance.below(50));
        let phones: String = (0..=chance.below(3)).map(|_| format!("- phone: {}\n", chance.below(9_999))).collect();
        let list = format!("# Person {number}\n\n- city: C{city}\n- born: {born}-05-01\n{phones}");
        let note = match number {
            20 => format!("---\ncity: C{}\n---\n{list}", city + 1),
            40 => format!("{list}- city: C{}\n", city + 1),
            60 => format!("{list}\nWe met at a party in town.\n\n- born: {}-05-01\n", born + 1),
            80 => list.replace("- born", &format!("- city: C{}\n- born", city + 1)),
            100 => format!("{list}\n## Notes\n\nWe talked for an hour.\n\n- **City**: C{}\n", city + 1),
            _ => format!("{list}\n## Sister\n\n- city: C{}\n- born: 1999-01-01\n", city + 1),
        };
        let path = format!("people/p{number}.md");
        if note.contains("Sister") {
            notes.push((path, note));
        } else {
            planted.push(path.clone());
            notes.push((path, note));
        }
    }
    for number in 0..20 {
        let versions: String = (0..6)
            .map(|at| format!("## 1.{at}\n\n- date: 2024-0{}-01\n- Fixed: {}\n- Fixed: x\n\n", at + 1, chance.words(2)))
            .collect();
        notes.push((format!("logs/l{number}.md"), format!("# Changes {number}\n\n{versions}")));
        let amounts =
            |chance: &mut Chance| format!("- butter: {} g\n- salt: {} g\n\n", chance.below(90), chance.below(9));
        let text = format!("# Pie {number}\n\nDough\n\n{}Filling\n\n{}", amounts(&mut chance), amounts(&mut chance));
        notes.push((format!("food/r{number}.md"), text));
    }
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found: std::collections::BTreeSet<_> =
        found(&notes, Kind::ConflictingFact).iter().map(|found| found.path.to_string()).collect();
    assert_eq!(found, planted.into_iter().collect());
}

/// A small memory whose notes have parts, as those of many assistants have.
fn parted(more: &[(&str, &str)]) -> Vec<(String, String)> {
    let note = |name: &str, city: &str, job: &str| {
        format!(
            "# {name}\n\n## Basic Information\n- city: {city}\n- job: {job}\n- eyes: green\n\n## Relationships\n- knows: [[ann]]\n"
        )
    };
    let mut notes = vec![
        ("ann.md".to_owned(), note("Ann", "Rome", "nurse")),
        ("ben.md".to_owned(), note("Ben", "Bern", "pilot")),
        ("cleo.md".to_owned(), note("Cleo Moss", "Oslo", "judge")),
    ];
    for (path, text) in more {
        notes.retain(|(known, _)| known != path);
        notes.push(((*path).to_owned(), (*text).to_owned()));
    }
    notes
}

#[track_caller]
pub(super) fn check_told(notes: &[(String, String)], expected: &[(&str, usize, &str, usize)]) {
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let told = found(&notes, Kind::ConflictingFact);
    let told: Vec<_> = told
        .iter()
        .map(|found| {
            let [told, other] = found.sides.as_slice() else { panic!("{found:?}") };
            let line = |side: &crate::Side| {
                let text = notes.iter().find(|(path, _)| *path == side.path.as_str()).unwrap().1;
                assert_eq!(text.lines().nth(side.line - 1).unwrap().trim(), side.text);
            };
            [told, other].into_iter().for_each(line);
            (told.path.as_str(), told.line, other.path.as_str(), other.line)
        })
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn parts_of_a_note_are_about_its_subject() {
    check_told(&parted(&[]), &[]);
    let ann = parted(&[])[0].1.clone();
    // Below the last heading, as what is appended is.
    check_told(&parted(&[("ann.md", &format!("{ann}- city: Paris\n"))]), &[("ann.md", 10, "ann.md", 4)]);
    check_told(&parted(&[("ann.md", &format!("---\njob: baker\n---\n{ann}"))]), &[("ann.md", 8, "ann.md", 2)]);
    // A heading that only one note has may be about somebody else, where more stands below it or the memory speaks of it.
    check_told(&parted(&[("ann.md", &format!("{ann}\n## Sister\n- name: Vera\n- city: Paris\n"))]), &[]);
    check_told(&parted(&[("ann.md", &format!("{ann}- sister: Vera\n\n## Sister\n- city: Paris\n"))]), &[]);
    // So may one of several notes, where it gives other values of what the notes say themselves.
    let with = |path: &'static str, at: usize| {
        (path, format!("{}\n## Sister\n- city: Paris\n- job: cook\n", parted(&[])[at].1))
    };
    let (ann, ben) = (with("ann.md", 0), with("ben.md", 1));
    check_told(&parted(&[(ann.0, &ann.1), (ben.0, &ben.1)]), &[]);
}

#[test]
fn a_section_about_another_note_can_contradict_it() {
    for title in ["## [[cleo]]", "## Cleo Moss", "### [[people/cleo|C.]]", "**Cleo Moss**"] {
        let text = format!("# Minutes\n\nWe met.\n\n{title}\n\n- city: Turin\n");
        check_told(&parted(&[("minutes.md", &text)]), &[("minutes.md", 7, "cleo.md", 4)]);
    }
    check_told(
        &parted(&[("minutes.md", "# Minutes\n\n- [[cleo]]\n  - job: cook\n")]),
        &[("minutes.md", 4, "cleo.md", 5)],
    );
    check_told(&parted(&[("minutes.md", "# Minutes\n\n## [[cleo]]\n\n- city: Oslo\n")]), &[]);
    check_told(&parted(&[("minutes.md", "# Minutes\n\n## [[dora]]\n\n- city: Turin\n")]), &[]);
}

#[test]
fn times_that_do_not_meet_are_no_contradiction() {
    let told = |one: &str, other: &str| {
        let text = format!("# Ada\n- city: {one}\n- age: 3\n- city: {other}\n");
        found(&[("user.md", &text)], Kind::ConflictingFact).len()
    };
    assert_eq!(told("London (2019–2021)", "Paris (2022–2024)"), 0);
    assert_eq!(told("London (2019–2022)", "Paris (2021–2024)"), 1);
    assert_eq!(told("London (2019–2022)", "London (2021–2024)"), 0);
    assert_eq!(told("London until 2020", "Paris"), 0);
    assert_eq!(told("London since 2020", "Paris"), 1);
    assert_eq!(told("London (2019–2021)", "Paris since 2020-05"), 1);
    let past = "---\nsuperseded_by: \"[[new]]\"\n---\n# Ada\n- city: London\n- age: 3\n- city: Paris\n";
    assert_eq!(found(&[("user.md", past)], Kind::ConflictingFact), []);
}

/// A list of a small memory, where nothing is known of its key.
#[test]
fn a_small_memory_is_judged_by_its_habits() {
    let person = |list: &str| {
        format!(
            "# Ada\n- born: 1990\n- eyes: green\n- job: nurse\n- pet: Rex\n- car: none\n- height: 170\n- shoes: 39\n- name: Ada\n{list}"
        )
    };
    let told = |list: &str| found(&[("user.md", &person(list))], Kind::ConflictingFact).len();
    assert_eq!(told("- city: London\n- gloves: 8\n- city: Paris\n"), 1);
    assert_eq!(told("- city: a small flat in London\n- City: a house in Paris\n"), 1);
    // Written alike and one below the other, they may as well be a list.
    assert_eq!(told("- city: London\n- city: Paris\n"), 0);
    // One that lists is none that contradicts itself, and says so of its other keys too.
    assert_eq!(
        told("- phone: 1\n- phone: 2\n- phone: 3\n- phone: 4\n- friend: Tom\n- friend: Ann\n- son: Bo\n- son: Al\n"),
        0
    );
    // Links are relations, of which there may be several.
    assert_eq!(told("- knows: [[a]]\n- knows: [[b]]\n"), 0);
    assert_eq!(found(&[("user.md", "- city: London\n- city: Paris\n")], Kind::ConflictingFact), []);
}

#[test]
fn the_action_takes_out_one_fact_and_leaves_the_rest() {
    use memdir_core::action::{Action, UpdateFile};
    for (text, rest) in [
        ("# Ada\n- city: London\n- age: 3\n- city: Paris\n", "# Ada\n- age: 3\n- city: Paris\n"),
        ("# Ada\r\n- city: London\r\n- age: 3\r\n- city: Paris", "# Ada\r\n- age: 3\r\n- city: Paris"),
        ("---\ncity: London\n---\n- City: Paris\n", "---\n---\n- City: Paris\n"),
        (
            "# Ada\n- city: Rome\n\n## Notes\n\nShe called.\n\n- city: Bern\n",
            "# Ada\n\n## Notes\n\nShe called.\n\n- city: Bern\n",
        ),
    ] {
        let found = found(&[("user.md", text)], Kind::ConflictingFact);
        let Some(Action::UpdateFile(UpdateFile { old_content, new_content, .. })) = &found[0].action else {
            panic!("{found:?}")
        };
        assert_eq!(text.matches(old_content.as_str()).count(), 1);
        assert_eq!(text.replacen(old_content, new_content, 1), rest);
    }
    // Where more would go than the fact, or a part of it would stay, there is none.
    for text in [
        "# Ada\n- city: London\n  - since: 2010\n- age: 3\n- city: Paris\n",
        "# Ada\n- city: London\n  in the north\n- age: 3\n- city: Paris\n",
        "# Ada\n- city: London [pet:: cat]\n- age: 3\n- city: Paris\n",
    ] {
        assert_eq!(found(&[("user.md", text)], Kind::ConflictingFact)[0].action, None, "{text}");
    }
}

/// As Dataview has it, a field is about the item whose text it stands in; alone in its item it is about the note.
#[test]
fn a_field_in_an_item_or_a_sentence_is_about_what_that_says() {
    for fields in [
        "- Dune [city:: Genoa]\n- Emma [city:: Bern]\n",
        "- Dune [city:: Genoa]\n- Emma [pet:: cat]\n\nRead:\n\n1. Ilias (city:: Bern)\n",
        "- [ ] mow the lawn (city:: Genoa)\n- [x] pay the rent (city:: Bern)\n",
        "- [-] mow the lawn (city:: Genoa)\n",
        "- mow the lawn\n  (city:: Genoa) ^mow\n",
        "- age: 30 (city:: Genoa)\n",
        "- Books\n  - [city:: Genoa]\n",
        "> [!info] Books\n> - Dune [city:: Genoa]\n",
    ] {
        assert_eq!(added("eva.md", &format!("# Eva\n\n- city: Rome\n\n{fields}")), [], "{fields}");
    }
    assert_eq!(added("eva.md", "# Eva\n\nShe ran in [city:: Genoa].\n\nThen she swam (city:: Bern).\n"), []);
    for field in ["- [city:: Genoa]\n", "- [pet:: cat], [city:: Genoa] ^city\n", "[city:: Genoa] %% so she says %%\n"] {
        let found = added("eva.md", &format!("# Eva\n\n- city: Rome\n\n{field}"));
        assert_eq!(found, [("eva.md".to_owned(), Some(5))], "{field}");
    }
}

#[test]
fn a_sentence_takes_no_line_out() {
    let notes = people(8, "# Ada\n- city: Rome\n\nShe slept in [city:: Genoa] today.\n");
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = found(&notes, Kind::ConflictingFact);
    assert_eq!((found.len(), found[0].line, &found[0].action), (1, Some(4), &None));
}

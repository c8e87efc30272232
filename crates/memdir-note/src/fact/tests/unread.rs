//! Pairs that are no facts: no second line for a key comes beside one.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::super::Note;
use super::super::Unset;

const KEY: &str = "home town";

#[track_caller]
fn check(text: &str, lines: &[usize]) {
    assert_eq!(Note::parse(text).set_fact(KEY, "Bergen"), Err(Unset::Unread(lines.to_vec())), "{text}");
}

#[test]
fn what_is_no_fact_gets_no_second_line() {
    check("text\n\nHome town: Oslo, which is\nin the north.\n", &[3]);
    check("Ada lives in Norway\nhome town: Oslo\n", &[2]);
    check("home town: a\n\nhome town: b\n\nhome town: c\n", &[1, 3, 5]);
    check("- `home town`: Oslo\n- [[home town|Home Town]]: Oslo\n- ==Home_town==: Oslo\n", &[1, 2, 3]);
    check("- <b>Home town:</b> Oslo\n- \u{1f3e0} Home town: Oslo\n- ***Home town:*** Oslo\n", &[1, 2, 3]);
    check("- Home town – Oslo\n- Home-Town = Oslo\n", &[1, 2]);
    check("- Home town:Oslo\n- home town::Oslo\n\n**Home town:**Oslo\n", &[1, 2, 4]);
    check("- job:nurse, home town:Oslo\n- ~~home town: Oslo~~\n- \\*home town\\*: Oslo\n", &[1, 2, 3]);
    check("- job: nurse, home town: Oslo\n- job: nurse | Home town: Oslo\n", &[1, 2]);
    check("Home town\n: Oslo\n: Bergen\n", &[1]);
    check("Home town\n\n: Oslo\n", &[1]);
    check("- Home town\n  : Oslo\n", &[1]);
    check("| **Home town** | Oslo | 2020 |\n|-|-|-|\n| job | nurse | 2021 |\n| home town | Oslo | 2022 |\n", &[4]);
}

#[test]
fn what_stands_beside_a_value_is_not_taken_for_it() {
    for text in [
        "- home town: Oslo, job: nurse\n",
        "- home town: Oslo; job: nurse\n",
        "- home town: Oslo | job: nurse\n",
        "- home town: Oslo / job: nurse\n",
        "- home town: Oslo. Job: nurse\n",
        "- home town: Oslo (job: nurse)\n",
        "home town:: Oslo job:: nurse\n",
        "**Home town:** Oslo **Job:** nurse\n",
        "- home town: Oslo<br>job: nurse\n",
        "- home town: Oslo\n  job: nurse\n",
        "- home town: Oslo  \n  job: nurse\n",
        "Home town\n: Oslo\n  job: nurse\n",
        "Home town\n: Oslo\nPhone: 123\n",
        "Home town\n: Oslo\n[[bo]] is her brother\n",
        "| a | b |\n|-|-|\n| home town | Oslo<br>job: nurse |\n",
    ] {
        assert!(Note::parse(text).set_fact(KEY, "Bergen").is_err(), "{text}");
    }
    for value in ["Oslo, Norway", "Oslo (since 2019)", "Oslo. At 9:30, or 10:00", "https://a.b/c", "Oslo / Bergen"] {
        let text = format!("- home town: {value}\n");
        assert_eq!(Note::parse(&text).set_fact(KEY, "Rome").unwrap().apply(&text), "- home town: Rome\n");
    }
}

#[test]
fn what_is_said_of_something_that_is_named_is_not_replaced() {
    check("# Me\n\n- [[Lotte]] [home town:: Oslo]\n", &[3]);
    check("# Me\n\n- [[Lotte]]\n  - home town: Oslo\n", &[4]);
    check("# Me\n\n## [[Bo]]\n\n- home town: Oslo\n", &[5]);
}

#[test]
fn what_says_nothing_of_a_key_is_not_in_the_way() {
    for text in [
        "> home town: Oslo\n",
        "> [!quote] Tom\n> home town: Oslo\n",
        "```\nhome town: Oslo\n```\n",
        "%%\nhome town: Oslo\nlost\n%%\n",
        "<!-- home town: Oslo\nlost -->\n",
        "# Home town: Oslo\n",
        "My home town: Oslo\n",
        "She has a home town, and it is nice.\n",
        "I wrote a long letter, and after that, home town: nothing.\n",
        "- [ ] visit home town\n",
        "- at 12:30, home town\n- home town://Oslo\n",
        "| name | home town | job |\n|-|-|-|\n| Ada | Oslo | nurse |\n| Tom | Rome | cook |\n",
        "| job | home town |\n|-|-|\n| nurse | Oslo |\n",
        "| name | town |\n|-|-|\n| job | home town |\n",
    ] {
        let edit = Note::parse(text).set_fact(KEY, "Bergen").unwrap();
        assert!(edit.apply(text).contains("Bergen"), "{text}");
    }
}

/// The texts that another reader sees: each with its lines, and whether it is the term of a definition or in which row and column
/// of a table of how many rows it stands.
#[expect(clippy::wildcard_enum_match_arm, reason = "the events are not ours, and few of them are text")]
fn read(text: &str) -> Vec<(Where, String)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_DEFINITION_LIST;
    let (mut all, mut cell): (Vec<(Where, String)>, _) = (Vec::new(), (0, 0));
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Paragraph | Tag::Item | Tag::Heading { .. } | Tag::DefinitionListDefinition) => {
                all.push((Where::Text, String::new()));
            }
            Event::Start(Tag::DefinitionListTitle) => all.push((Where::Term, String::new())),
            Event::Start(Tag::Table(_)) => cell = (0, 0),
            Event::Start(Tag::TableCell) => {
                all.push((Where::Cell { row: cell.0, column: cell.1 }, String::new()));
                cell.1 += 1;
            }
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => cell = (cell.0 + 1, 0),
            Event::Text(piece) | Event::Code(piece) => all.last_mut().unwrap().1.push_str(&piece),
            Event::SoftBreak | Event::HardBreak => all.last_mut().unwrap().1.push('\n'),
            _ => {}
        }
    }
    all
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Where {
    Text,
    Term,
    Cell { row: usize, column: usize },
}

/// How often another reader sees the key before something that is said of it.
fn pairs(text: &str) -> usize {
    let is_pair = |text: &str| {
        let rest = text.trim_start_matches(|one: char| !one.is_alphanumeric()).strip_prefix(KEY);
        let rest = rest.map(|rest| rest.trim_start_matches([']', '=', '~', '*', ' ', '\u{a0}']));
        // Of `=` with blanks around it, nothing is left but the value.
        rest.is_some_and(|rest| rest.starts_with([':', '\u{ff1a}', '–', '→']) || rest.starts_with("value"))
    };
    let count = |(place, text): &(Where, String)| match place {
        Where::Term => usize::from(text.lines().last() == Some(KEY)),
        Where::Cell { row: 0, .. } => 0,
        Where::Cell { column, .. } => usize::from(*column == 0 && text == KEY),
        Where::Text => text.lines().flat_map(|line| line.split(", ")).filter(|line| is_pair(line)).count(),
    };
    read(text).iter().map(count).sum()
}

/// A pair with the key in some form, be it a fact or none.
fn any_pair() -> impl Strategy<Value = String> {
    let before = prop::sample::select(
        &["", "- ", "1. ", "- [ ] ", "prose\n", "- prose\n  ", "- job: nurse, ", "job: nurse\n", "> [!info]\n> "][..],
    );
    let marks = [
        ("", ""),
        ("**", "**"),
        ("`", "`"),
        ("==", "=="),
        ("[[", "]]"),
        ("***", "***"),
        ("<b>", "</b>"),
        ("\u{1f3e0} ", ""),
    ];
    let signs = [": ", ":: ", " : ", " – ", " = ", " → ", "\u{ff1a}"];
    let wrap = prop::sample::select(&["", "\nvalue", "\n  value", "  \nvalue", "\n\n  value", "\n\nvalue"][..]);
    let line = (before, prop::sample::select(marks.to_vec()), prop::sample::select(signs.to_vec()), wrap);
    let line =
        line.prop_map(|(before, (open, close), sign, wrap)| format!("{before}{open}{KEY}{close}{sign}value{wrap}\n"));
    let term = prop::sample::select(&["", "**", "other\n"][..]);
    let definitions = prop::sample::select(
        &[
            ": value",
            "\n: value",
            ":   value\nvalue",
            ": value\n  value",
            ": value\n\n  value",
            ": value\n: value",
            "  : value",
        ][..],
    );
    let definition = (term, definitions).prop_map(|(term, rest)| {
        let close = if term == "**" { "**" } else { "" };
        format!("{term}{KEY}{close}\n{rest}\n")
    });
    let row = prop::sample::select(&["value", "value | value", " | ", "a | b | c"][..]);
    let row = row.prop_map(|row| (row, "-|".repeat(row.matches('|').count() + 2)));
    let table = row.prop_map(|(row, line)| format!("|{}\n|{line}\n| {KEY} | {row} |\n", line.replace('-', " a ")));
    prop_oneof![4 => line, 2 => definition, 1 => table]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the form in which a key stands there, a reader sees no second pair once it is set.
    #[test]
    fn no_second_pair_is_seen((pair, count) in (any_pair(), 1..5usize), is_crlf in any::<bool>()) {
        let text = format!("# Title\n\n{}text\n", format!("{pair}\n").repeat(count));
        let text = if is_crlf { text.replace('\n', "\r\n") } else { text };
        let before = pairs(&text);
        prop_assert!(before > 0, "{:?}", text);
        if let Ok(edit) = Note::parse(&text).set_fact(KEY, "value value") {
            let after = edit.apply(&text);
            prop_assert_eq!(pairs(&after), before, "{:?} {:?}", text, after);
        }
    }
}

//! Facts in every form: what is one, what replacing one leaves, and where a new one goes.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

mod unread;

use super::super::Note;
use super::{Beside, Callout, Place, Unset, key, mended_key};

#[track_caller]
fn check(text: &str, expected: &[(&str, &str, usize)]) {
    let facts = Note::parse(text).facts();
    let found: Vec<_> = facts.iter().map(|fact| (fact.key.as_str(), fact.value.as_str(), fact.line)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn items_of_all_lists_state_facts() {
    check(
        "- city: Paris\n* **Born**: 1990-01-02 ^b\n+ **Job:** chef\n- a_b:: c: d\n  - *x*: y\n-\tk:\tv \n- empty:\n",
        &[
            ("city", "Paris", 1),
            ("Born", "1990-01-02", 2),
            ("Job", "chef", 3),
            ("a_b", "c: d", 4),
            ("x", "y", 5),
            ("k", "v", 6),
            ("empty", "", 7),
        ],
    );
    check(
        "1. a: b\n2) c: d\n\n- [ ] e: f\n- [X] **g**: h\n- [-] i: j\n> 3. k: l\n",
        &[("a", "b", 1), ("c", "d", 2), ("e", "f", 4), ("g", "h", 5), ("i", "j", 6), ("k", "l", 7)],
    );
    check(
        "- http://a.b\n- [ ] buy milk\n- [[a]]: b\n- a, b: c\n- 10:30 x\n-a: b\n```\n- a: b\n```\n- **a** b: c\n",
        &[],
    );
    check(
        "\u{feff}- city: Paris\n- 城市：北京\n- **年**： 36\n",
        &[("city", "Paris", 1), ("城市", "北京", 2), ("年", "36", 3)],
    );
    check(
        "- 城市:北京\n- **도시**:서울\n- 网址:http://a.b\n- city:Oslo\n- 下午3:30\n- std::vec\n",
        &[("城市", "北京", 1), ("도시", "서울", 2), ("网址", "http://a.b", 3)],
    );
    check(
        "- ~~city: Oslo~~\n- ~~city~~: Oslo\n- \\*key\\*: v\n- a\\_b: c\n- tea: ~~white~~ green\n",
        &[("a_b", "c", 4), ("tea", "~~white~~ green", 5)],
    );
    check(
        "- **Ville** : Lyon\n- **Âge**\u{a0}: 36\n- **Métier :** luthier\n- Rue : Mercière\n- **a** b : c\n",
        &[("Ville", "Lyon", 1), ("Âge", "36", 2), ("Métier", "luthier", 3), ("Rue", "Mercière", 4)],
    );
    check("- a: b\n\n      code: d\n\n  e: f\n", &[("a", "b", 1), ("e", "f", 5)]);
    check("%%\n- a: b\n%%\n\n- c: d <!-- e --> ^f\n- g: h %% i %%\n", &[("c", "d", 5), ("g", "h", 6)]);
}

#[test]
fn a_key_that_cannot_be_one_has_a_near_one_that_can() {
    for (key, mended) in [
        ("Dr. M\u{fc}ller", Some("Dr M\u{fc}ller")),
        ("no. 1", Some("no 1")),
        ("a=b", Some("a b")),
        ("see: this, and a b c d e f", Some("see this and a b c")),
        ("\u{1f382}", None),
        ("f(x", None),
    ] {
        assert_eq!(mended_key(key).as_deref(), mended, "{key}");
    }
}

#[test]
fn a_value_goes_on_over_its_lines() {
    check("- a: b\n  c  \n  d\\\ne\n- f: g\n", &[("a", "b c d e", 1), ("f", "g", 5)]);
    check("> - a: b\n>   c\n> d\ne\n", &[("a", "b c d e", 1)]);
    check("1. a: b\r\nc\r\n2. d:\r\n   e ^id\r\n", &[("a", "b c", 1), ("d", "e", 3)]);
    check("- a: b `c\n  d` e\n", &[("a", "b `c d` e", 1)]);
    check("- a: b\n  c\n\n  d\n  - e: f\n", &[("a", "b c", 1), ("e", "f", 5)]);
    check("**a:** b\nc\n**d**: e\n", &[("a", "b c", 1), ("d", "e", 3)]);
}

#[test]
fn lines_of_paragraphs_state_facts_where_they_are_no_prose() {
    check("a: b\nC d: e  \nf: g\\\nh: i\n", &[("a", "b", 1), ("C d", "e", 2), ("f", "g", 3), ("h", "i", 4)]);
    check("Ada lives in Paris\ncity: no\n\nNote: this one\nis prose.\n", &[]);
    check("> Date: Monday\n> From: Tom\n", &[]);
    check("> **city**: Oslo\n> in the north\n", &[("city", "Oslo in the north", 1)]);
    check("> **city**: Oslo\n> job: nurse\n\n> a: b\n> **c**: d\n", &[("city", "Oslo", 1), ("job", "nurse", 2)]);
    check("**Sam**: Hi!\n\n**Eve**: Hello.\n\n**Sam**: Well?\n\n**Sam**: Bye.\n", &[("Eve", "Hello.", 3)]);
    check("# a: b\n\nc: d\n---\n\n[e]: f\n\n<div>\ng: h\n</div>\n\n    i: j\n", &[]);
}

#[test]
fn a_term_with_one_definition_is_a_fact() {
    check("City\n: Oslo\n\n**Job**\n:   nurse ^id\n", &[("City", "Oslo", 1), ("Job", "nurse", 4)]);
    check("> [!info]\n> City\n> : Oslo\n", &[("City", "Oslo", 2)]);
    check("City\n: Oslo\nin the north  \n  of it ^id\n", &[("City", "Oslo in the north of it", 1)]);
    for text in ["City\n\n: Oslo\n", "City\n:Oslo\n", ": Oslo\n", "City\n: Oslo\n: Rome\n", "> City\n> : Oslo\n"] {
        check(text, &[]);
    }
    check("[[ana]]\n: Oslo\n", &[]);
    // What the term names says it, and the note does not.
    check("Ana\n: city: Oslo\n", &[]);
    // A new fact tears nothing from what goes on below a definition.
    let text = "# Ana\n\nCity\n: Oslo\n  - by the sea\n";
    let edit = Note::parse(text).set_fact("age", "4").unwrap();
    assert_eq!(edit.apply(text), text.replacen("\n\n", "\n\n- age: 4\n\n", 1));
}

/// The terms that another reader finds, each with its definitions.
#[expect(clippy::wildcard_enum_match_arm, reason = "the events are not ours, and few of them are text")]
fn definitions(text: &str) -> Vec<(String, Vec<String>)> {
    let (mut found, mut is_term): (Vec<(String, Vec<String>)>, bool) = (Vec::new(), false);
    for event in Parser::new_ext(text, Options::ENABLE_DEFINITION_LIST) {
        match event {
            Event::Start(Tag::DefinitionListTitle) => {
                is_term = true;
                found.push(Default::default());
            }
            Event::Start(Tag::DefinitionListDefinition) => {
                is_term = false;
                found.last_mut().unwrap().1.push(String::new());
            }
            Event::Text(piece) => match found.last_mut() {
                Some((term, _)) if is_term => term.push_str(&piece),
                Some((_, definitions)) => definitions.last_mut().unwrap().push_str(&piece),
                None => {}
            },
            Event::SoftBreak => found.last_mut().unwrap().1.last_mut().unwrap().push(' '),
            _ => {}
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_of_definitions_are_read_as_another_reader_reads_them(
        counts in prop::collection::vec((1..4usize, 0..3usize, any::<bool>()), 1..6), margin in prop::sample::select(&["", "  "][..]),
    ) {
        let mut text = String::new();
        for (term, (count, wraps, is_apart)) in counts.iter().enumerate() {
            text += &format!("term {term}\n");
            (0..*count).for_each(|at| text += &format!("{margin}: is {term} {at}\n"));
            (0..*wraps).for_each(|at| text += &format!("{margin}and {at}\n"));
            text += if *is_apart { "\n" } else { "" };
        }
        let expected = definitions(&text).into_iter().filter_map(|(term, all)| {
            let [only] = <[String; 1]>::try_from(all).ok()?;
            Some((term, only))
        });
        let expected: Vec<_> = expected.collect();
        let facts: Vec<_> = Note::parse(&text).facts().into_iter().map(|fact| (fact.key, fact.value)).collect();
        prop_assert_eq!(facts, expected, "{}", text);
    }
}

#[test]
fn what_stands_in_a_callout_the_note_says_itself() {
    check("> [!info] Ana\n> city: Oslo\n> job: nurse\n", &[("city", "Oslo", 2), ("job", "nurse", 3)]);
    check(
        "> [!NOTE]\n> **city:** Oslo\n> by the sea\n>\n> job: nurse\n",
        &[("city", "Oslo by the sea", 2), ("job", "nurse", 5)],
    );
    check("> [!info|wide]- Title: here\n> city:: Oslo\n\n> a: b\n", &[("city", "Oslo", 2)]);
    check("> > [!tip]+\n> > - city: Oslo\n", &[("city", "Oslo", 2)]);
    // Prose stays prose, and what is called a quote is one.
    check("> [!info]\n> We met.\n> city: no\n\n> [!Quote] Tom\n> city: no\n\n> [!cite]\n> a: no\n", &[]);
    check("[^1]: a: no\n\n> [!info] no: title\n\n> [!]\n> a: no\n\n> [! info\n> a: no\n", &[]);
    check("> [!info]\n> > a: no\n", &[]);
    check(
        "   > [!a]\n> b: c\n\n- >  [!d]\n  > e: f\n\n>\t[!g]\n> h: i\n",
        &[("b", "c", 2), ("e", "f", 5), ("h", "i", 8)],
    );
    check("> [!a](b)\n> c: no\n\n> [!a[b]\n> c: no\n\n>     [!code]\n> a: no\n", &[]);
}

#[test]
fn a_callout_has_a_kind_and_a_mark_and_the_rest_is_its_title() {
    for (text, kind, mark, title) in [
        ("[!info]", "info", "[!info]", ""),
        (" [!Big Box] a]", "Big Box", "[!Big Box]", " a]"),
        ("    [!info|wide red]- a", "info", "[!info|wide red]-", " a"),
        ("[! x ]+-\nb", "x", "[! x ]+", "-\nb"),
        ("\t[!\u{e9}]\u{e9}", "\u{e9}", "[!\u{e9}]", "\u{e9}"),
        ("[!a] [b](c)", "a", "[!a]", " [b](c)"),
        ("[!a]-(b)", "a", "[!a]-", "(b)"),
    ] {
        let callout = Callout::parse(text).unwrap();
        assert_eq!((callout.kind, text.get(callout.mark.clone()).unwrap()), (kind, mark), "{text:?}");
        assert_eq!(text.get(callout.mark.end..), Some(title), "{text:?}");
    }
    for text in [
        "",
        "[!",
        "[!]",
        "[! |a]",
        "[!a",
        "a [!b]",
        "[!a\n]",
        "[!a[b]",
        "[!a](b)",
        "[!a]: b",
        "[!a][b]",
        "     [!a]",
        "\t\t[!a]",
        "\n[!a]",
    ] {
        assert_eq!(Callout::parse(text), None, "{text:?}");
    }
    for (kind, is_quote) in [("Quote", true), ("cite|wide", true), ("quotes", false), ("info", false)] {
        assert_eq!(Callout::parse(&format!("[!{kind}] Tom")).unwrap().is_quote(), is_quote, "{kind}");
    }
    // Its end is not looked for in all of a text: each paragraph of a quote asks for it.
    let long = |bytes: usize| Callout::parse(&format!("[!{}]", "a".repeat(bytes))).is_some();
    assert_eq!((long(99), long(100)), (true, false));
}

#[test]
fn fields_and_rows_state_facts() {
    check(
        "Prose (a:: b) and [c:: [[d]]].\nE f:: g\nh\n- i: j [k:: l]\n- m [n::o]\n",
        &[("a", "b", 1), ("c", "[[d]]", 1), ("E f", "g", 2), ("i", "j", 4), ("k", "l", 4), ("n", "o", 5)],
    );
    check("`[a:: b]` [[c:: d]] [e:: f](g) std::vec :: x\n", &[]);
    let beside = |text: &str| match Note::parse(text).facts().last().unwrap().place {
        Place::Bracketed(beside) => beside,
        Place::Item { .. } | Place::Line | Place::Row | Place::FrontMatter(_) => panic!("{text}"),
    };
    for text in ["- m [a:: b]\n", "- [a:: b] m\n", "- m\n  [a:: b]\n", "- [a:: b] [[m]] [c:: d]\n", "- [>] m (a:: b)\n"]
    {
        assert_eq!(beside(text), Beside::Item, "{text}");
    }
    for (text, is_nested) in [
        ("- [a:: b], [c:: d] ^e\n", false),
        ("m\n**[a:: b]**\n", false),
        ("> (a:: b) %% m %%\n", false),
        ("- m\n  - [a:: b]\n", true),
        ("- [>] [a:: b]\n", false),
        ("- [ ] [a:: b]\n", true),
    ] {
        assert_eq!(beside(text), Beside::Fields { is_nested }, "{text}");
    }
    assert_eq!(beside("[c:: d]\nm [a:: b]\n"), Beside::Sentence);
    check(
        "| H | I |\n|---|:-:|\n| **a**: | b \\| c |\n| d | |\ne | [[f|g]]\n",
        &[("a", "b | c", 3), ("d", "", 4), ("e", "[[f|g]]", 5)],
    );
    check(
        "| a | b |\n|---|---|\n\n| c |\n|---|\n| d |\n\n| e | f | g |\n|---|---|---|\n| h | i | j |\n",
        &[("a", "b", 1)],
    );
}

#[test]
fn front_matter_states_facts() {
    check(
        "---\ncity: \"Par\\u0069s\" # home\ntags: [a, 'b']\nn: { x: 1 }\nempty:\n---\n# H\n- a: b\n",
        &[("city", "Paris", 2), ("tags", "a, b", 3), ("empty", "", 5), ("a", "b", 8)],
    );
    let note = Note::parse("- a: b\n# H\n- c: d\n");
    assert_eq!(note.facts().iter().map(|fact| fact.heading.as_deref()).collect::<Vec<_>>(), [None, Some("H")]);
}

#[track_caller]
fn check_set(text: &str, key: &str, value: &str, expected: &str) {
    let edit = Note::parse(text).set_fact(key, value).unwrap();
    assert_eq!(edit.apply(text), expected);
}

/// PyYAML, js-yaml and yaml 2 were asked what they read.
#[test]
fn what_other_programs_would_read_as_another_value_is_quoted_in_front_matter() {
    for text in "01067|004915112345|+351912345678|0171234|12e5|0x1F|0o17|0b11|1_000|1.10|.5|5.|-0|+5|00|1:2:3|12:30|\
        190:20:30.15|12345678901234567|0.00001|.inf|-.Inf|.NaN|yes|No|ON|off|y|~|True|FALSE|Null|1E3|1e-3|\
        -01"
    .split('|')
    {
        check_set("---\na: b\n---\n", "a", text, &format!("---\na: \"{text}\"\n---\n"));
    }
    for text in "0|7|10115|-12|3.14|0.5|-2.25|123456789012345|2026-11-29|2026-11-29 10:30:00|2026-11-29T10:30|\
        555-0013|192.168.0.1|1.2.3|0049 151|true|false|null|yes please|e5|0x|1e|x1|12 km|v1.10|1:a|1-2"
        .split('|')
    {
        check_set("---\na: b\n---\n", "a", text, &format!("---\na: {text}\n---\n"));
    }
    check_set("---\na: b\n---\n", "a", "\u{7}b", "---\na: \"\\u0007b\"\n---\n");
    check_set("---\na: 'b'\n---\n", "a", "x\u{85}\u{fffe}", "---\na: \"x\\u0085\\ufffe\"\n---\n");
    check_set("---\na: b\n---\n", "k", "\u{1b}b", "---\na: b\nk: \"\\u001bb\"\n---\n");
}

#[test]
fn a_fact_is_replaced_where_it_stands_and_as_it_is_written() {
    check_set("- City: x ^id\r\n- b: c", "city", "Paris", "- City: Paris ^id\r\n- b: c");
    check_set("- **Home_Town**: x", "home town", "y", "- **Home_Town**: y");
    check_set("| k | v |\n|-|-|\n| x |\n", "x", "1", "| k | v |\n|-|-|\n| x | 1 |\n");
    check_set("k | v\n-|-\nx\ny | 2\n", "x", "a|b", "k | v\n-|-\nx | a\\|b\ny | 2\n");
    check_set("- \u{57ce}\u{5e02}:\u{5317}\u{4eac}\n", "\u{57ce}\u{5e02}", "Oslo", "- \u{57ce}\u{5e02}:Oslo\n");
    check_set("- **Email**: x", "E-Mail", "y", "- **Email**: y");
    check_set("- **Ville** : Lyon\n", "ville", "Nice", "- **Ville** : Nice\n");
    check_set("- **Ville** : Lyon\n", "rue", "Mercière", "- **Ville** : Lyon\n- **rue** : Mercière\n");
    check_set("- **Job:**\n", "job", "y", "- **Job:** y\n");
    check_set("- Job: \n", "job", "y", "- Job: y\n");
    check_set("- Job: ^id\n", "job", "y", "- Job: y ^id\n");
    check_set("\u{feff}- a: b", "a", "c", "\u{feff}- a: c");
    check_set("- 城市：北京\n", "城市", "上海", "- 城市：上海\n");
    check_set("- 城市：\n", "城市", "上海", "- 城市：上海\n");
    check_set("3) a:: b\n", "a", "c", "3) a:: c\n");
    check_set("- [x] a: b\n", "a", "c", "- [x] a: c\n");
    check_set("- a: b\nc\n  d <!-- e -->\n  - f: g\n", "a", "h", "- a: h <!-- e -->\n  - f: g\n");
    check_set("> - a: b\n>   c\n> - d: e\n", "a", "f", "> - a: f\n> - d: e\n");
    check_set("- a: b [c:: d]\n", "a", "e", "- a: e [c:: d]\n");
    check_set("x [a:: b] y\n", "a", "c", "x [a:: c] y\n");
    check_set("> [!info] T\r\n> a: b\r\n> c: d\r\n", "a", "e", "> [!info] T\r\n> a: e\r\n> c: d\r\n");
    check_set("> [!info]\n> **a**: b\n> c\n", "a", "e", "> [!info]\n> **a**: e\n");
    check_set("> **a**: b\n> c\n", "a", "e", "> **a**: e\n");
    check_set("> [!info] T\n> a: b\n", "z", "3", "- z: 3\n\n> [!info] T\n> a: b\n");
    check_set("x\na:: b  \r\ny\n", "a", "c", "x\na:: c  \r\ny\n");
    check_set("**a:** b\nc\n\nd\n", "a", "e", "**a:** e\n\nd\n");
    check_set("|h|i|\n|-|-|\n|a|b|\n", "a", "c|d", "|h|i|\n|-|-|\n|a|c\\|d|\n");
    check_set("| h | i    |\n|-|-|\n| a | bcd  |\n", "a", "e", "| h | i    |\n|-|-|\n| a | e    |\n");
    check_set("| h | i |\n|-|-|\n| a | |\n", "a", "b", "| h | i |\n|-|-|\n| a | b |\n");
    check_set("---\na: 'b' # c\n---\n", "a", "it's", "---\na: 'it''s' # c\n---\n");
    check_set("---\na: \"b\"\n---\n", "a", "\"q\"", "---\na: \"\\\"q\\\"\"\n---\n");
    check_set("---\na: b\n---\n", "a", "[[x]]", "---\na: \"[[x]]\"\n---\n");
    check_set("---\na: b\n---\n", "a", "c d", "---\na: c d\n---\n");
    check_set("---\na:\n---\n", "a", "c", "---\na: c\n---\n");
}

#[test]
fn a_new_fact_joins_those_under_the_title() {
    check_set("# A\n- x: 1\n  - y: 2\n\ntext\n", "z", "3", "# A\n- x: 1\n  - y: 2\n- z: 3\n\ntext\n");
    check_set("* **x**:: 1\n", "z", "3", "* **x**:: 1\n* **z**:: 3\n");
    check_set("- x: 1\n\n- y: 2\n\nt\n", "z", "3", "- x: 1\n\n- y: 2\n\n- z: 3\n\nt\n");
    check_set("# A\n- x: 1\n- milk\n## B\n- y: 2\n", "z", "3", "# A\n- x: 1\n- z: 3\n- milk\n## B\n- y: 2\n");
    check_set("- [x] a: 1\n- b: 2\n- [ ] c\n", "z", "3", "- [x] a: 1\n- b: 2\n- z: 3\n- [ ] c\n");
    check_set("1) a: 1\n2) b\n\nt", "z", "3", "1) a: 1\n2) b\n3) z: 3\n\nt");
    check_set("1. a: 1\n1. b: 1", "z", "3", "1. a: 1\n1. b: 1\n1. z: 3\n");
    check_set("- 城市：北京\n", "年", "3", "- 城市：北京\n- 年：3\n");
    check_set("a: 1\r\nb: 2\r\n\r\nt", "z", "3", "a: 1\r\nb: 2\r\nz: 3\r\n\r\nt");
    check_set("**a:** 1  \n**b:** 2\n", "z", "3", "**a:** 1  \n**b:** 2  \n**z:** 3\n");
    check_set("**a:** 1\n\n**b:** 2\n\nt\n", "z", "3", "**a:** 1\n\n**b:** 2\n\n**z:** 3\n\nt\n");
    check_set("| h | i |\n|---|---|\n| a | b |\n\nt\n", "z", "3", "| h | i |\n|---|---|\n| a | b |\n| z | 3 |\n\nt\n");
    check_set("---\nx: 1\n---\ntext\n", "z", "a: b", "---\nx: 1\nz: \"a: b\"\n---\ntext\n");
}

#[test]
fn a_first_fact_goes_into_the_list_below_the_title() {
    check_set("", "z", "3", "- z: 3\n");
    check_set("text\n", "z", "3", "- z: 3\n\ntext\n");
    check_set("# A", "z", "3", "# A\n- z: 3\n");
    check_set("# A\n\ntext\n", "z", "3", "# A\n\n- z: 3\n\ntext\n");
    check_set("A\n=\r\ntext\n", "z", "3", "A\n=\r\n- z: 3\n\ntext\n");
    check_set("# A\n\n- tea\n- milk\n\n- bread\n", "z", "3", "# A\n\n- tea\n- milk\n\n- bread\n\n- z: 3\n");
    check_set("# A\n\n1. tea\n", "z", "3", "# A\n\n- z: 3\n\n1. tea\n");
    check_set("# A\n\n- [ ] tea\n", "z", "3", "# A\n\n* z: 3\n\n- [ ] tea\n");
    check_set("---\ntags: [a]\n---\ntext\n", "z", "3", "---\ntags: [a]\n---\n- z: 3\n\ntext\n");
    check_set("\u{feff}text", "z", "3", "\u{feff}- z: 3\n\ntext");
    // A fact is nothing to be done.
    check_set("- [x] a: 1\n- [ ] b\n", "z", "3", "* z: 3\n\n- [x] a: 1\n- [ ] b\n");
    // A list below another heading is about that, be it the last one or the only one.
    check_set(
        "# A\n\nt\n\n## Preferences\n- tea: no\n",
        "dog",
        "Rex",
        "# A\n\n- dog: Rex\n\nt\n\n## Preferences\n- tea: no\n",
    );
    check_set("## A\n- a: 1\n\n## B\n- b: 2\n", "z", "3", "## A\n- a: 1\n- z: 3\n\n## B\n- b: 2\n");
}

#[track_caller]
fn check_unset(text: &str, key: &str, value: &str, expected: Unset) {
    assert_eq!(Note::parse(text).set_fact(key, value), Err(expected), "{text}");
}

#[test]
fn what_is_not_one_value_is_not_set() {
    check_unset("- a: 1\n# H\n- A: 2\n", "a", "3", Unset::Several(vec![1, 3]));
    check_unset("---\na: 1\n---\n**a:** 1\n", "a", "3", Unset::Several(vec![2, 4]));
    check_unset("---\ntags: [a]\n---\n", "tags", "b", Unset::NotOneValue(2));
    check_unset("---\na: |\n  b\n  c\n---\n", "a", "b", Unset::NotOneValue(2));
    check_unset("---\na: { b: 1 }\n---\n", "a", "b", Unset::NotOneValue(2));
    check_unset("- a:\n  - b\n", "a", "c", Unset::NotOneValue(1));
    check_unset("- a: b [c:: d] e\n", "a", "f", Unset::NotOneValue(1));
    check_unset("- a:\n  b\n", "a", "- c", Unset::Value(Some(1)));
    check_unset("x [a:: b]\n", "a", "c] d", Unset::Value(Some(1)));
    check_unset("t\n", "see: this", "1", Unset::Key);
    check_unset("t\n", "[x]", "1", Unset::Key);
}

/// The text that another reader sees in each item before anything is nested in it, wrapped lines with a blank between.
#[expect(clippy::wildcard_enum_match_arm, reason = "the events are not ours, and few of them are text")]
fn texts_of_items(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TASKLISTS) {
        let mut add = |piece: &str| {
            if let Some((at, true)) = open.last() {
                let text: &mut String = &mut all[*at];
                text.push_str(piece);
            }
        };
        match event {
            Event::Start(Tag::Item) => {
                if let Some((_, is_open)) = open.last_mut() {
                    *is_open = false;
                }
                open.push((all.len(), true));
                all.push(String::new());
            }
            Event::End(TagEnd::Item) => {
                open.pop();
            }
            Event::Text(piece) => add(&piece),
            Event::SoftBreak | Event::HardBreak => add(" "),
            _ => {}
        }
    }
    all
}

/// All that a reader sees of a note.
#[expect(clippy::wildcard_enum_match_arm, reason = "the events are not ours, and few of them are text")]
fn seen(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TASKLISTS | Options::ENABLE_TABLES);
    let pieces = events.map(|event| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak => " ".to_owned(),
        Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::Heading(_)) => "\n".to_owned(),
        _ => String::new(),
    });
    pieces.collect()
}

const MARKS: &[&str] = &["- ", "* ", "+ ", "1. ", "7) ", "- [ ] ", "- [x] ", "-\t"];
const COLONS: &[(&str, &str)] =
    &[("", ": "), ("**", "**: "), ("**", ":** "), ("", ":: "), ("__", "__: "), ("*", "*: ")];

/// One fact with the words of its value, in one of the forms that can be wrapped.
fn any_item(number: usize) -> impl Strategy<Value = String> {
    let mark = prop::sample::select(MARKS);
    let colon = prop::sample::select(COLONS);
    let wraps =
        prop::collection::vec(prop::sample::select(&["\n", "\n  ", "\n   ", "  \n  ", "\\\n  ", " "][..]), 0..4);
    (mark, colon, wraps).prop_map(move |(mark, (open, close), wraps)| {
        let mut text = format!("{mark}{open}key {number}{close}old{number}x0");
        for (at, wrap) in wraps.iter().enumerate() {
            text.push_str(&format!("{wrap}old{number}x{}", at + 1));
        }
        text + "\n"
    })
}

/// A block of a note that states one fact.
fn any_block(number: usize) -> impl Strategy<Value = String> {
    let others = [
        format!("\n**key {number}:** old{number}x0\nold{number}x1\n\n"),
        format!("\nkey {number}: old{number}x0 old{number}x1\n\n"),
        format!("\nprose\nkey {number}:: old{number}x0 old{number}x1  \nprose\n\n"),
        format!("\nkey {number}\n: old{number}x0 old{number}x1\n\n"),
        format!("\nprose (key {number}:: old{number}x0 old{number}x1) prose\n\n"),
        format!("\n| a | b |\n|---|---|\n| key {number} | old{number}x0 old{number}x1   |\n| c | d |\n\n"),
        format!("\n> - key {number}: old{number}x0\n>   old{number}x1\n\n"),
        format!("- prose\n  1. key {number}: old{number}x0\n     old{number}x1\n  2. prose\n"),
        format!("\n> **key {number}**: old{number}x0\n> old{number}x1\n\n"),
        format!("\n> [!info] prose\n> key {number}: old{number}x0 old{number}x1\n\n"),
        format!("\n> [!note]-\n> **key {number}:** old{number}x0  \n> old{number}x1\n\n"),
        format!("\n> [!tip] prose\n> - key {number}: old{number}x0\n>   old{number}x1\n> - prose\n\n"),
        format!("\n> [!tip]\n> prose (key {number}:: old{number}x0 old{number}x1) prose\n\n"),
        format!("\n> [!tip]\n> | a | b |\n> |---|---|\n> | key {number} | old{number}x0 old{number}x1 |\n\n"),
    ];
    prop_oneof![3 => any_item(number), 6 => prop::sample::select(others.to_vec())]
}

fn any_note() -> impl Strategy<Value = String> {
    let blocks = (any_block(0), any_block(1), any_block(2), any_block(3), any::<bool>());
    blocks.prop_map(|(a, b, c, d, is_crlf)| {
        let text = format!("# Title\n\n{a}{b}\n## Heading\n\n{c}{d}");
        if is_crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a fact of an item says is what another reader of Markdown sees in that item.
    #[test]
    fn items_say_what_a_reader_sees(items in (any_item(0), any_item(1), any_item(2))) {
        let text = items.0 + &items.1 + &items.2;
        let facts = Note::parse(&text).facts();
        let said: Vec<_> = facts.iter().map(|fact| format!("{} {}", fact.key, fact.value)).collect();
        let expected: Vec<_> = texts_of_items(&text).iter().map(|text| text.replacen("::", "", 1).replacen(':', "", 1)).collect();
        prop_assert_eq!(said, expected, "{:?}", text);
    }

    /// Whatever its form, a fact that is set is seen once, nothing is seen of the old one, all else is as before.
    #[test]
    fn nothing_is_left_of_what_was_replaced(text in any_note(), number in 0..4usize) {
        let note = Note::parse(&text);
        prop_assert_eq!(note.facts().iter().filter(|fact| fact.key.starts_with("key ")).count(), 4, "{:?}", text);
        let wanted = format!("Key_{number}");
        let edit = note.set_fact(&wanted, "new value").unwrap();
        let after = edit.apply(&text);
        let (before, rest) = (text.get(..edit.range.start).unwrap(), text.get(edit.range.end..).unwrap());
        prop_assert!(after.starts_with(before) && after.ends_with(rest));
        let (old, new) = (seen(&text), seen(&after));
        prop_assert_eq!(new.matches("new value").count(), 1, "{:?}", after);
        prop_assert!(!new.contains(&format!("old{number}x")), "{:?}", after);
        let others = |text: &str| {
            let words = text.split_whitespace().filter(|word| !word.contains(&format!("old{number}x")));
            words.map(str::to_owned).filter(|word| !matches!(word.as_str(), "new" | "value" | "value)")).collect::<Vec<_>>()
        };
        let (mut before, mut left) = (others(&old), others(&new));
        before.iter_mut().chain(left.iter_mut()).for_each(|word| *word = word.replace(')', ""));
        prop_assert_eq!(before, left, "{:?}", after);
        let facts = Note::parse(&after).facts();
        prop_assert!(facts.iter().any(|fact| key(&fact.key) == key(&wanted) && fact.value == "new value"));
    }
}

/// What a note says of what it names, as `about key value line`.
fn named(text: &str) -> Vec<String> {
    let note = Note::parse(text);
    let said = note.named().map(|one| {
        let fact = one.fact;
        assert_eq!(note.text().get(fact.span.clone()).unwrap().replace("\\|", "|"), fact.value);
        format!("{} {} {} {}", one.about, fact.key, fact.value, fact.line)
    });
    said.collect()
}

#[test]
fn a_table_says_something_of_what_its_rows_and_columns_name() {
    let table = "| Name | **city**: | job |\n|---|:-:|---|\n| [[ana\\|Ana]] | Os\\|lo | |\n| Ben | Rome\n";
    assert_eq!(
        named(&format!("text\n\n{table}")),
        ["[[ana\\|Ana]] city Os|lo 5", "Ben city Rome 6", "**city**: Ben Rome 6"]
    );
    assert_eq!(named("| | Ana |\n|-|-|\n| city | Oslo |\n"), ["city Ana Oslo 3", "Ana city Oslo 3"]);
    for text in [
        "| a | b |\n|-|-|\n",
        "| a |\n|-|\n| b |\n",
        "%%\n| a | b |\n|-|-|\n| c | d |\n%%\n",
        "```\n| a | b |\n|-|-|\n| c | d |\n```\n",
    ] {
        assert_eq!(named(text), [""; 0], "{text}");
    }
}

#[test]
fn an_item_says_something_of_what_it_begins_with() {
    for (item, expected) in [
        ("[[ana]]: city: Oslo", "[[ana]] city Oslo 3"),
        ("**[[ana|A: b]]** – **City**: Oslo ^id", "**[[ana|A: b]]** City Oslo 3"),
        ("[Ana (x)](ana.md) - city: Oslo, Norway", "[Ana (x)](ana.md) city Oslo, Norway 3"),
        ("Ana-Lena：city：Oslo", "Ana-Lena city Oslo 3"),
        ("[[ana]] [city:: Oslo]", "[[ana]] city Oslo 3"),
        ("[[ana]]: back from [[oslo]] (city:: Oslo)", "[[ana]] city Oslo 3"),
        ("Ana (city: Oslo, Norway, age: 4)", "Ana city Oslo, Norway 3|Ana age 4 3"),
        ("[[ana]] (city：Oslo; age：4)", "[[ana]] city Oslo 3|[[ana]] age 4 3"),
        // These name nothing, or say nothing with a key.
        ("city: Oslo", ""),
        ("[[ana]] lives in Oslo", ""),
        ("[[ana]]: lives in Oslo (since 2020)", ""),
        ("[[ana]] (city: Oslo) came", ""),
        ("[[ana]] (city: Oslo; in May)", ""),
        ("[[ana]]:city: Oslo", ""),
        ("[ ] [[ana]]: city: Oslo", ""),
        ("[x] [[ana]] [city:: Oslo]", ""),
        ("[[ana", ""),
        ("[a [b (c", ""),
    ] {
        assert_eq!(named(&format!("text\n\n- {item}\n")).join("|"), expected, "{item}");
        assert_eq!(named(&format!("text\n\n1. {item}\n   - more\n")).join("|"), expected, "{item}");
    }
    assert_eq!(named("Ana\n: city: Oslo\n: age: 4\n"), ["Ana city Oslo 2", "Ana age 4 3"]);
    assert_eq!(named("Ana\n: city: Oslo\nand more\n"), [""; 0]);
    assert_eq!(named("%%\n- Ana: city: Oslo\n%%\n\n`- Ana: city: Oslo`\n"), [""; 0]);
}

/// A head is read with every row of its table: what cannot be a name is not copied as often.
#[test]
fn a_cell_that_is_too_long_to_be_a_name_names_nothing() {
    let rows = "| a | b |\n".repeat(3);
    for (bytes, count) in [(200, 3), (201, 0), (10_000, 0)] {
        let long = "x".repeat(bytes);
        assert_eq!(named(&format!("| k | {long} |\n|---|---|\n{rows}")).len(), count, "{bytes}");
        assert_eq!(named(&format!("| k | l |\n|---|---|\n{}", rows.replace('a', &long))).len(), count, "{bytes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each cell of a table is read with the names of its row and its column, whatever its size, its margin and what stands around.
    #[test]
    fn every_cell_is_read_by_its_row_and_its_column(
        (columns, rows) in (2..6usize, 1..6usize),
        (before, margin, is_closed) in (0..4usize, prop::sample::select(&["", "> ", "  "][..]), any::<bool>()),
    ) {
        let close = if is_closed { " |" } else { "" };
        let line = |name: &str, cell: &dyn Fn(usize) -> String| {
            let cells: Vec<_> = (1..columns).map(cell).collect();
            format!("{margin}| {name} | {}{close}\n", cells.join(" | "))
        };
        let mut text = "text\n\n".repeat(before) + &line("corner", &|column| format!("column {column}")) + &line("---", &|_| "---".to_owned());
        let mut expected = Vec::new();
        for row in 1..=rows {
            text += &line(&format!("row {row}"), &|column| format!("cell {row} {column}"));
            for column in 1..columns {
                let end = format!("cell {row} {column} {}", 2 * before + 2 + row);
                expected.push(format!("row {row} column {column} {end}"));
                expected.push(format!("column {column} row {row} {end}"));
            }
        }
        prop_assert_eq!(named(&text), expected, "{}", text);
    }
}

#[test]
fn tables_and_lists_say_where_they_are() {
    let places = |text: &str| Note::parse(text).facts().iter().map(|fact| fact.place).collect::<Vec<_>>();
    assert_eq!(
        places("- a: 1\n  - b: 2\n\nt\n\n- [ ] c: 3\n\n> 1. d: 4\n>    - e: 5\n"),
        [
            Place::Item { list: 0, is_plain: true },
            Place::Item { list: 1, is_plain: false },
            Place::Item { list: 2, is_plain: false },
            Place::Item { list: 3, is_plain: true },
            Place::Item { list: 4, is_plain: false }
        ]
    );
}

/// What a template leaves open is filled in its place, and no second line is made.
#[test]
fn a_placeholder_is_filled() {
    let check = |text: &str, expected: &str| {
        let edit = Note::parse(text).set_fact("name", "Ada").unwrap();
        assert_eq!(edit.apply(text), expected, "{text:?}");
    };
    check("# Me\n\n- name:\n- city:\n", "# Me\n\n- name: Ada\n- city:\n");
    check("# Me\n\n- name: \n- city: \n", "# Me\n\n- name: Ada\n- city: \n");
    check("- **Name**:\r\n- city:\r\n", "- **Name**: Ada\r\n- city:\r\n");
    check("- **Name:**\n", "- **Name:** Ada\n");
    check("# Me\n\nname::\ncity::\n", "# Me\n\nname:: Ada\ncity::\n");
    check("# Me\n\n- name::\n- city:: \n", "# Me\n\n- name:: Ada\n- city:: \n");
    check(
        "| key | value |\n|---|---|\n| name | |\n| city |  |\n",
        "| key | value |\n|---|---|\n| name | Ada |\n| city |  |\n",
    );
    check("| key | value |\n|---|---|\n| name |      |\n", "| key | value |\n|---|---|\n| name | Ada  |\n");
    check("---\nname:\ncity:\n---\n# Me\n", "---\nname: Ada\ncity:\n---\n# Me\n");
    check("---\nname: \"\"\n---\n", "---\nname: \"Ada\"\n---\n");
    check("- [ ] name:\n", "- [ ] name: Ada\n");
    let template = include_str!("../../../../../memory_template/user.md");
    check(template, &template.replacen("- name:", "- name: Ada", 1));
}

#[test]
fn no_fact_is_added_where_lines_end_with_a_carriage_return_alone() {
    let note = Note::parse("# T\r\r- a: b\r");
    assert_eq!(note.set_fact("city", "X"), Err(Unset::Value(None)));
    assert_eq!(note.set_fact("a", "c").unwrap().apply(note.text()), "# T\r\r- a: c\r");
    let usual = Note::parse("# T\r\n\r\n- a: b\r\n");
    assert_eq!(usual.set_fact("city", "X").unwrap().apply(usual.text()), "# T\r\n\r\n- a: b\r\n- city: X\r\n");
}

//! What is a finding and what is none, and that each proposed action mends what it is about.

use std::collections::BTreeMap;

use super::{Checked, File, Finding, Kind, Look, Seen, check};
use crate::action::{Action, UpdateFile};
use crate::note::{self, Note, Web};
use crate::path::MemoryPath;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).unwrap()
}

/// Checks a memory of these files; those that are no notes only have names.
fn checked(notes: &[(&str, &str)]) -> Checked {
    let texts: BTreeMap<MemoryPath, &str> = notes.iter().map(|(name, text)| (path(name), *text)).collect();
    let mut files = Vec::new();
    let mut seen = Vec::new();
    for (path, text) in &texts {
        let note = Note::parse(text);
        let look = path.is_note().then(|| Look::of(text, &note, Vec::new()));
        files.push(File { path: path.clone(), is_link: false, look });
        seen.push((path.clone(), path.is_note().then(|| note::Seen::of_note(&note))));
    }
    let web = Web::new(seen);
    let links = web.links();
    let memory = Seen { files: &files, links: &links, targets: web.targets(), note_bytes: 200 };
    check(&memory, &mut |path| texts.get(path).map(|text| (*text).to_owned()))
}

fn found(notes: &[(&str, &str)], kind: Kind) -> Vec<Finding> {
    checked(notes).findings.into_iter().filter(|finding| finding.kind == kind).collect()
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
    check_conflicts("# Ada\n- **Home_City**: London\n\n- home city: [[paris]]\n", &[4]);
    check_conflicts("- status: a\n- status: b\n- status: c\n", &[3]);
    check_conflicts("- address: 1 Road\r\n- address: 2 Road", &[2]);
}

#[test]
fn what_can_be_several_is_no_conflict() {
    for text in [
        "- city: London\n- City: london\n",
        "- friend: Tom\n- friend: Ann\n",
        "- languages: en\n- languages: de\n",
        "- works at: [[a]]\n- works at: [[b]]\n",
        "## A\n- since: 2010\n## B\n- since: 2011\n",
        "## A\n- since: 2010\n\nThen:\n\n- since: 2011\n",
        "- Acme:\n  - since: 2010\n- Brown:\n  - since: 2011\n",
        "- name: A\n- age: 3\n\n- name: B\n- age: 4\n",
        "- mood: 1\n- mood: 2\n- mood: 3\n- mood: 4\n",
        "- 10 am: a\n- 10 am: b\n",
        "---\ncity: London\n---\n- city: Paris\n",
        "```\n- city: London\n- city: Paris\n```\n",
        "- [ ] city: London\n- [ ] city: Paris\n",
    ] {
        check_conflicts(text, &[]);
    }
}

/// What is told as a duplicate, of what, and how.
#[track_caller]
fn check_duplicates(notes: &[(&str, &str)], expected: &[(&str, &str, &str)]) {
    let found = found(notes, Kind::Duplicate);
    assert!(found.iter().all(|finding| finding.action.is_none() || finding.message.ends_with("byte for byte")));
    let told: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|finding| (finding.path.as_str(), finding.target.as_deref().unwrap_or_default(), finding.message.as_str()))
        .collect();
    assert_eq!(told, expected);
}

#[test]
fn notes_that_say_nearly_the_same_are_told_once() {
    let words = |from: usize, to: usize| (from..to).map(|number| format!("word{number} ")).collect::<String>();
    let text = words(0, 100);
    let edited = text.replace("word50 ", "other ");
    let more = text.clone() + "and one line more than that";
    let near = |path: &str, kept: &str, part: &str| format!("`{path}` is nearly the same as `{kept}` ({part} % of it)");
    let (b, copy) = (near("bb.md", "a.md", "94"), near("copy.md", "a.md", "94"));
    check_duplicates(
        &[
            ("a.md", &text),
            ("bb.md", &edited),
            ("copy.md", &more),
            ("far.md", &words(60, 160)),
            ("d.md", &words(200, 300)),
        ],
        &[("bb.md", "a.md", &b), ("copy.md", "a.md", &copy)],
    );
    // What is the same byte for byte is told as that, and what is near to it once.
    let same = "`aa.md` says the same as `a.md`, byte for byte";
    check_duplicates(
        &[("a.md", &text), ("aa.md", &text), ("bb.md", &edited)],
        &[("aa.md", "a.md", same), ("bb.md", "a.md", &b)],
    );
    // Front matter and headings are no matter, and never all of a note.
    let title = format!("---\ntags: [x]\n---\n# Title\n{text}");
    check_duplicates(&[("a.md", &text), ("bb.md", &title)], &[("bb.md", "a.md", &near("bb.md", "a.md", "99"))]);
    // Two in three of what is said.
    check_duplicates(&[("a.md", &text), ("b.md", &words(20, 120))], &[]);
}

#[test]
fn days_and_notes_of_one_template_are_no_duplicates() {
    let log: String = (0..100).map(|number| format!("word{number} ")).collect();
    let (one, other) = (format!("{log} slept"), format!("{log} ran"));
    check_duplicates(&[("2026-05-03.md", &one), ("2026-05-04.md", &other)], &[]);
    assert_eq!(found(&[("2026-05-03.md", &one), ("old/2026-05-03.md", &other)], Kind::Duplicate).len(), 1);
    let template = |name: &str| {
        format!(
            "---\ntype: person\nstatus: active\ncreated: 2026-05-03\n---\n# {name}\n\n## What we talked about last time\n\n## What they care about\n\n## What I promised to do for them\n\nMet {name}.\n"
        )
    };
    check_duplicates(&[("ada.md", &template("Ada")), ("bob.md", &template("Bob"))], &[]);
}

#[test]
fn orphans_are_notes_without_any_link() {
    let alone = |name: &str| {
        let findings = found(&[(name, "x\n"), ("b/linked.md", "[[other]]\n"), ("other.md", "y\n")], Kind::Orphan);
        findings.iter().any(|finding| finding.path == path(name))
    };
    for name in ["old.md", "daily/first-day.md", "notes/user.md", "2026.md", "2026 plans.md", "b/index.md"] {
        assert!(alone(name), "{name}");
    }
    for name in
        ["user.md", "README.md", "index.md", "daily/2026-05-03.md", "20260503.md", "2026-W18.md", "memories/x.md"]
    {
        assert!(!alone(name), "{name}");
    }
    let own = found(&[("a.md", "[[#H]] [[a]]\n# H\n"), ("b.md", "![[image.png]]"), ("image.png", "")], Kind::Orphan);
    assert_eq!(own.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["a.md"]);
    // A link that leads nowhere yet is one all the same.
    assert_eq!(found(&[("a.md", "[[later]]\n")], Kind::Orphan), []);
}

#[test]
fn duplicates_go_only_when_nothing_links_to_them() {
    let notes = [
        ("a.md", "same\n"),
        ("b/a copy.md", "same\n"),
        ("b/c.md", "same\n"),
        ("e.md", ""),
        ("f.md", ""),
        ("user.md", "[[c]]"),
    ];
    let found = found(&notes, Kind::Duplicate);
    let seen: Vec<_> =
        found.iter().map(|found| (found.path.as_str(), found.target.as_deref(), found.action.is_some())).collect();
    assert_eq!(seen, [("b/a copy.md", Some("a.md"), true), ("b/c.md", Some("a.md"), false)]);
}

#[test]
fn large_notes() {
    let long = "x".repeat(201);
    let found = found(&[("long.md", &long), ("short.md", &"x".repeat(200))], Kind::Oversized);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].message, "the note has 201 bytes, more than 200; split it");
}

#[test]
fn copies_of_sync_programs() {
    let copies = [
        ("a.sync-conflict-20260503-101500-ABCDEFG.md", "a.md"),
        ("a.sync-conflict-memdir-12.md", "a.md"),
        ("plain.sync-conflict-memdir-1", "plain"),
        ("a (Ada's conflicted copy 2026-05-03).md", "a.md"),
        ("a (Case Conflict).md", "a.md"),
        ("a (Conflicted copy phone 202605031015).md", "a.md"),
        ("a (conflicted copy 2026-05-03 101500).md", "a.md"),
        ("a_conflict-20260503-101500.md", "a.md"),
        ("there-LAPTOP-ABCD1234.md", "there.md"),
        ("there-DESKTOP-ABC1234.md", "there.md"),
    ];
    for (name, original) in copies {
        let found = found(&[("there.md", "x"), (&format!("f/{name}"), "y"), ("f/there.md", "z")], Kind::SyncConflict);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].target.as_deref(), Some(format!("f/{original}").as_str()), "{name}");
    }
    for name in [
        "a-LAPTOP-ABCD1234.md",
        "a 2.md",
        "conflict.md",
        "a (copy).md",
        "sync-conflict-memdir.md",
        "a_conflict-of-interest.md",
        "(conflicted copy).md",
    ] {
        assert_eq!(found(&[(name, "y")], Kind::SyncConflict), [], "{name}");
    }
}

#[test]
fn names_that_not_every_system_can_store() {
    let names = |notes: &[(&str, &str)]| {
        let found = found(notes, Kind::UnportableName).into_iter();
        let renamed = found.map(|finding| match finding.action {
            Some(Action::RenameFile(rename)) => (rename.path.to_string(), rename.new_path.to_string()),
            other => (finding.path.to_string(), format!("{other:?}")),
        });
        renamed.collect::<Vec<_>>()
    };
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    assert_eq!(names(&[("a/b: c?.md", ""), ("a/b_ c_.md", "")]), [pair("a/b: c?.md", "a/b_ c_-2.md")]);
    assert_eq!(names(&[("x:y/a.md", ""), ("x:y/b.md", "")]), [pair("x:y", "x_y")]);
    assert_eq!(names(&[("con.md", "")]), [pair("con.md", "note_con.md")]);
    assert_eq!(
        names(&[("Ada.md", ""), ("ada.md", ""), ("ada-2.md", ""), ("b/ada.md", "")]),
        [pair("ada.md", "ada-3.md")]
    );
    assert_eq!(names(&[("Notes/a.md", ""), ("notes/b.md", "")]), [pair("notes", "notes-2")]);
    assert_eq!(names(&[("cafe\u{301}.md", ""), ("caf\u{e9}.md", "")]).len(), 1);
    assert_eq!(names(&[("\u{430}da.md", ""), ("ada.md", "")]), [pair("\u{430}da.md", "\u{430}da-2.md")]);
    assert_eq!(names(&[("modem.md", ""), ("modern.md", "")]), []);
}

/// The text after the proposed edit of each broken link alone; the unchanged text where there is none.
#[track_caller]
fn mended(text: &str, notes: &[(&str, &str)]) -> Vec<String> {
    let mut notes = notes.to_vec();
    notes.push(("n.md", text));
    let before = found(&notes, Kind::BrokenLink);
    let edits = before.iter().filter(|finding| finding.path == path("n.md")).map(|finding| {
        let Some(Action::UpdateFile(UpdateFile { old_content, new_content, occurrence: None, .. })) = &finding.action
        else {
            assert_eq!(finding.action, None);
            return text.to_owned();
        };
        assert_eq!(text.matches(old_content.as_str()).count(), 1, "{old_content:?}");
        let mended = text.replacen(old_content, new_content, 1);
        let mut after = notes.clone();
        after.retain(|(name, _)| *name != "n.md");
        after.push(("n.md", &mended));
        let count = |findings: &[Finding]| findings.iter().filter(|other| other.path == finding.path).count();
        assert_eq!(count(&found(&after, Kind::BrokenLink)) + 1, count(&before), "{mended:?}");
        mended
    });
    edits.collect()
}

#[test]
fn a_broken_link_is_mended_in_its_own_style() {
    let acme = [("entities/acme.md", "# Acme\n\n## Basic Information\n"), ("x/violin maker.md", "")];
    let check = |text: &str, expected: &str| assert_eq!(mended(text, &acme), [expected], "{text:?}");
    check("at [[acmee]].\n", "at [[acme]].\n");
    check(
        "at [[entities/acmee.md#Basic Information|Acme]].\r\n",
        "at [[entities/acme.md#Basic Information|Acme]].\r\n",
    );
    check("at [them](entities/acmee.md)", "at [them](entities/acme.md)");
    check("![[violin_maker]]", "![[violin maker]]");
    check("[v](violinmaker.md)", "[v](x/violin%20maker.md)");
    check("---\nat: \"[[acmee]]\"\n---\n", "---\nat: \"[[acme]]\"\n---\n");
    check("[[acme#Basic Informations]]", "[[acme#Basic Information]]");
    check("[x](entities/acme.md#Basic%20Informations)", "[x](entities/acme.md#Basic%20Information)");
    check("[[acme#Basic Informations|i]]", "[[acme#Basic Information|i]]");
    // Nothing is proposed where it is not plain what is meant.
    for text in ["[[zebra]]", "[[acme#History]]", "[[acme#^b1]]", "[[acmee holding]]"] {
        check(text, text);
    }
    assert_eq!(mended("[[project2]]", &[("project1.md", "")]), ["[[project2]]"]);
}

#[test]
fn an_edit_names_one_place_alone() {
    let acme = [("acme.md", "")];
    let text = "[[acmee]] and [[acmee]]\n\n- [[acmee]]\n- [[acmee]]\n\u{e9}[[acmee]]\u{e9}\n";
    assert_eq!(
        mended(text, &acme),
        [
            "[[acme]] and [[acmee]]\n\n- [[acmee]]\n- [[acmee]]\n\u{e9}[[acmee]]\u{e9}\n",
            "[[acmee]] and [[acme]]\n\n- [[acmee]]\n- [[acmee]]\n\u{e9}[[acmee]]\u{e9}\n",
            "[[acmee]] and [[acmee]]\n\n- [[acme]]\n- [[acmee]]\n\u{e9}[[acmee]]\u{e9}\n",
            "[[acmee]] and [[acmee]]\n\n- [[acmee]]\n- [[acme]]\n\u{e9}[[acmee]]\u{e9}\n",
            "[[acmee]] and [[acmee]]\n\n- [[acmee]]\n- [[acmee]]\n\u{e9}[[acme]]\u{e9}\n",
        ]
    );
    // What is repeated too often to be told apart is left to the person.
    let same = |count: usize| "[[acmee]]\n".repeat(count);
    assert!(mended(&same(10), &acme).iter().all(|text| *text != same(10)));
    assert_eq!(mended(&same(40), &acme)[20], same(40));
}

#[test]
fn findings_are_sorted_by_path_line_and_kind() {
    let checked = checked(&[
        ("b.md", "- city: a\n- city: b [[nowhere]]\n"),
        ("a.md", "[[x]]\n[[y]]\n"),
        ("a (conflicted copy).md", ""),
    ]);
    let seen: Vec<_> = checked.findings.iter().map(|found| (found.path.as_str(), found.line, found.kind)).collect();
    let expected = [
        ("a (conflicted copy).md", None, Kind::Orphan),
        ("a (conflicted copy).md", None, Kind::SyncConflict),
        ("a.md", Some(1), Kind::BrokenLink),
        ("a.md", Some(2), Kind::BrokenLink),
        ("b.md", Some(2), Kind::BrokenLink),
        ("b.md", Some(2), Kind::ConflictingFact),
    ];
    assert_eq!((seen.as_slice(), checked.notes, checked.links), (expected.as_slice(), 3, 3));
}

#[test]
fn the_nearest_heading_is_not_looked_for_without_end() {
    let name = |at: u32| format!("{:08x}", at.wrapping_mul(2_654_435_761));
    let links: String = (0..2_000).map(|at| format!("[[#{}-]]\n", name(at))).collect();
    let headings: String = (0..2_000).map(|at| format!("# {}\n", name(at))).collect();
    let found = found(&[("a.md", &format!("{links}{headings}"))], Kind::BrokenLink);
    assert_eq!(found.len(), 2_000);
    let looked = found.iter().filter(|finding| finding.message.contains("nearest")).count();
    assert!((200..=500).contains(&looked), "{looked}");
}

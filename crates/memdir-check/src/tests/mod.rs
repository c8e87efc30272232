//! What is a finding and what is none, and that each proposed action mends what it is about.

use std::collections::BTreeMap;

mod callouts;
mod contradictions;
mod fact;
mod tidy;
mod values;

use super::{Checked, File, Finding, Kind, Look, Seen, check};
use memdir_core::action::{Action, UpdateFile};
use memdir_core::path::MemoryPath;
use memdir_note::{self as note, Note, Web};

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
    let memory = Seen {
        files: &files,
        links: &links,
        targets: web.targets(),
        note_bytes: 200,
        excluded: &note::Excluded::NONE,
        closed: &[],
        past_status: &[],
    };
    check(&memory, &mut |path| texts.get(path).map(|text| (*text).to_owned()))
}

fn found(notes: &[(&str, &str)], kind: Kind) -> Vec<Finding> {
    checked(notes).findings.into_iter().filter(|finding| finding.kind == kind).collect()
}

/// Numbers that look like chance and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| format!("w{} ", self.below(5_000))).collect()
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

/// Notes with a long footer that all have: those are found of which the rest is nearly the same.
#[test]
fn planted_duplicates_are_found_below_a_shared_footer() {
    let mut chance = Chance(11);
    let footer: String = (0..30).map(|_| chance.words(8) + "\n").collect();
    let header = chance.words(10);
    let (mut notes, mut planted) = (Vec::new(), Vec::new());
    for number in 0..60 {
        let own: String = (0..10).map(|_| chance.words(12) + "\n").collect();
        notes.push((format!("n{number:02}.md"), format!("{header}\n\n{own}\n---\n\n{footer}")));
        if number % 12 == 0 {
            let near = own.replacen("w1", "another ", 1);
            notes.push((format!("old/n{number:02}.md"), format!("{header}\n\n{near}\n---\n\n{footer}")));
            planted.push((format!("old/n{number:02}.md"), format!("n{number:02}.md")));
        } else if number % 12 == 1 {
            // Little of its own.
            notes.push((format!("few{number:02}.md"), format!("{header}\n\nFew words.\n\n{footer}")));
        }
    }
    let notes: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found: Vec<_> = found(&notes, Kind::Duplicate)
        .into_iter()
        .filter(|found| !found.message.ends_with("byte for byte"))
        .map(|found| (found.path.to_string(), found.target.unwrap_or_default()))
        .collect();
    assert_eq!(found, planted);
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
    // A link to a folder leads there, and to a heading of the same note does not.
    let broken = found(&[("a/n.md", "[x](../a/) [y](#no) [z](./) [q](b)\n# H\n"), ("a/b/c.md", "")], Kind::BrokenLink);
    assert_eq!(broken.iter().map(|finding| finding.target.as_deref().unwrap()).collect::<Vec<_>>(), ["#no"]);
    let broken = found(
        &[("n.md", "[x](./) [y](a) [z](a/) [h](.github/x.md) [i](.no) [[.github/x]]\n"), ("a/b/c.md", "")],
        Kind::BrokenLink,
    );
    assert_eq!(broken.iter().map(|finding| finding.target.as_deref().unwrap()).collect::<Vec<_>>(), [".github/x"]);
    // What a link of Markdown leads to out of the memory is not known; a wikilink never leads there.
    let out = "[1](../../x.md) ![2](../../x.png) [3](<../../my x.md#h>) [4](../..) <a href=\"../../x\">5</a>\n\n[r]: ../../r.md\n\n";
    let inside = "[6](../x.md) [7](../b/../y.md) [[../../z.md]] ![[../../z.png]]";
    let broken = found(&[("a/n.md", &format!("{out}{inside}")), ("b/x.md", "")], Kind::BrokenLink);
    let targets: Vec<_> = broken.iter().map(|finding| finding.target.as_deref().unwrap()).collect();
    assert_eq!(targets, ["../../z.md", "../../z.png", "../b/../y.md", "../x.md"]);
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

/// Links that lead nowhere, whether that is a fault or not.
fn dangling(notes: &[(&str, &str)]) -> Vec<Finding> {
    let is_link = |finding: &Finding| matches!(finding.kind, Kind::BrokenLink | Kind::Unwritten);
    checked(notes).findings.into_iter().filter(is_link).collect()
}

#[test]
fn active_content_is_told_once_for_a_note_and_kind() {
    let text = "# A\n";
    let active = vec![(4, "a remote image"), (2, "a remote image"), (9, "a remote image"), (5, "a script")];
    let look = Look::of(text, &Note::parse(text), active);
    let files = [File { path: path("a.md"), is_link: false, look: Some(look) }];
    let web = Web::new(vec![(path("a.md"), None)]);
    let links = web.links();
    let memory = Seen {
        files: &files,
        links: &links,
        targets: web.targets(),
        note_bytes: 200,
        excluded: &note::Excluded::NONE,
        closed: &[],
        past_status: &[],
    };
    let found = check(&memory, &mut |_| None).findings;
    let told: Vec<_> = found.iter().filter(|found| found.kind == Kind::ActiveContent).collect();
    let told: Vec<_> = told.iter().map(|found| (found.line, found.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (Some(2), "line 2 holds a remote image, the first of 3 places, which a viewer may run or fetch"),
            (Some(5), "line 5 holds a script, which a viewer may run or fetch"),
        ]
    );
}

/// On which line a note with this front matter, which has the key `title`, is told to be unreadable. What is told by nobody is read.
#[track_caller]
fn check_front_matter(yaml: &str, expected: Option<usize>) {
    let text = format!("---\n{yaml}\n---\n[[a]]\n");
    let found = found(&[("a.md", &text)], Kind::Unreadable);
    assert_eq!(
        found.iter().map(|finding| finding.line).collect::<Vec<_>>(),
        Vec::from_iter(expected.map(Some)),
        "{yaml} {found:?}"
    );
    assert!(found.iter().all(|finding| finding.action.is_none()), "{found:?}");
    assert_eq!(Note::parse(&text).front_values("title").is_empty(), expected.is_some(), "{yaml}");
}

#[test]
fn front_matter_that_is_no_yaml_is_told_with_its_line() {
    check_front_matter("title: a\ntags: [x, y]\naliases:\n  - b", None);
    check_front_matter("title: \"a: b\"\ncreated: {{date}}", None);
    check_front_matter("title: a: b", Some(2));
    check_front_matter("created: 2026-01-01\ntitle: Dune: Part Two\ntags: film", Some(3));
    check_front_matter("title: \"a", Some(2));
    check_front_matter("title: a\ntags: [x, y", Some(4));
    // The parser names the start of what it cannot end.
    check_front_matter("title: a\n\ttags: x", Some(2));
    check_front_matter("title: {{title}} of {{date}}", Some(2));
    check_front_matter("title: @ada", Some(2));
    check_front_matter("title: é\nby: `x`", Some(3));
    assert_eq!(found(&[("a.md", "\u{feff}---\ntitle: a: b\n---\n")], Kind::Unreadable)[0].line, Some(2));
    assert_eq!(found(&[("a.md", "text\n\n---\ntitle: a: b\n---\n"), ("b.txt", "")], Kind::Unreadable), []);
}

#[test]
fn notes_that_cannot_be_read_are_named() {
    let of = |name: &str, look| File { path: path(name), is_link: false, look: Some(look) };
    let files = [
        of("bytes.md", Look::of_bytes(b"\xff")),
        of("closed.md", Look::of_unread("no permission to read `closed.md`".to_owned())),
        of("large.md", Look::of_size(1_000)),
    ];
    let web = Web::new(files.iter().map(|file| (file.path.clone(), None)).collect());
    let links = web.links();
    let memory = Seen {
        files: &files,
        links: &links,
        targets: web.targets(),
        note_bytes: 200,
        excluded: &note::Excluded::NONE,
        closed: &[],
        past_status: &[],
    };
    let found = check(&memory, &mut |_| None).findings;
    let told = found.iter().filter(|found| found.kind == Kind::Unreadable).map(|found| found.message.as_str());
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["`bytes.md` is not UTF-8 text, so nothing in it is read", "no permission to read `closed.md`"]
    );
}

#[test]
fn no_kind_hides_another_one_among_the_worst() {
    let of = |kind: Kind, number: usize| super::finding(kind, &path(&format!("{number}.md")));
    let broken = (0..50).map(|number| of(Kind::BrokenLink, number));
    let findings: Vec<_> = broken
        .chain([of(Kind::Unwritten, 1), of(Kind::Orphan, 2), of(Kind::ConflictingFact, 3), of(Kind::ActiveContent, 4)])
        .collect();
    let kinds: Vec<_> = super::worst(&findings).iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds[..3], [Kind::BrokenLink, Kind::ConflictingFact, Kind::BrokenLink]);
    assert_eq!(kinds[51..], [Kind::ActiveContent, Kind::Orphan, Kind::Unwritten]);
}

/// The text after the proposed edit of each link that leads nowhere alone; the unchanged text where there is none.
#[track_caller]
fn mended(text: &str, notes: &[(&str, &str)]) -> Vec<String> {
    let mut notes = notes.to_vec();
    notes.push(("n.md", text));
    let before = dangling(&notes);
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
        assert_eq!(count(&dangling(&after)) + 1, count(&before), "{mended:?}");
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
fn a_link_by_name_is_not_written_yet_and_one_to_a_file_is_broken() {
    let files = [("there.md", ""), ("pictures/a.png", ""), ("data/x.csv", "")];
    let kinds = |text: &str| {
        let mut notes = files.to_vec();
        notes.push(("notes/n.md", text));
        let found = dangling(&notes);
        found.into_iter().map(|found| (found.kind, found.target.unwrap_or_default())).collect::<Vec<_>>()
    };
    for (text, target) in [
        ("[[Walk across Iceland]]", "Walk across Iceland"),
        ("[[Node.js|node]]", "Node.js"),
        ("![[Some day#Part]]", "Some day#Part"),
        ("---\nup: \"[[Home of all]]\"\n---\n", "Home of all"),
    ] {
        assert_eq!(kinds(text), [(Kind::Unwritten, target.to_owned())], "{text}");
    }
    for (text, target) in [
        ("[[plans/Walk]]", "plans/Walk"),
        ("[[Walk.md]]", "Walk.md"),
        ("![[walk.jpg]]", "walk.jpg"),
        ("[[walk.csv]]", "walk.csv"),
        ("[walk](Walk.md)", "Walk.md"),
        ("[walk](Walk)", "Walk"),
        ("[[there#Part]]", "there#Part"),
        ("[[#Part]]", "#Part"),
        ("---\nup: \"[[plans/Home]]\"\n---\n", "plans/Home"),
    ] {
        assert_eq!(kinds(text), [(Kind::BrokenLink, target.to_owned())], "{text}");
    }
}

/// Markdown links between the notes of some folders, each to a path that is joined by hand.
#[test]
fn links_of_markdown_are_broken_where_the_joined_path_is_no_file() {
    let folders = ["", "a/", "a/b/", "c/"];
    let mut chance = Chance(3);
    let paths: Vec<String> = (0..40).map(|number| format!("{}f{number}.md", folders[chance.below(4)])).collect();
    let (mut notes, mut planted) = (Vec::new(), Vec::new());
    for path in &paths {
        let depth = path.matches('/').count();
        let mut text = String::new();
        for line in 1..=6 {
            let wanted = if chance.below(3) == 0 {
                format!("c/gone{line}-{}.md", chance.below(99))
            } else {
                paths[chance.below(40)].clone()
            };
            text += &format!("[x]({}{wanted})\n", "../".repeat(depth));
            if !paths.contains(&wanted) {
                planted.push((path.clone(), Some(line)));
            }
        }
        notes.push((path.as_str(), text));
    }
    planted.sort();
    let notes: Vec<_> = notes.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let found: Vec<_> =
        found(&notes, Kind::BrokenLink).iter().map(|found| (found.path.to_string(), found.line)).collect();
    assert_eq!(found, planted);
}

#[test]
fn a_link_by_title_or_alias_is_given_its_note() {
    let notes = [("p/jane.md", "---\naliases: [JD, Both]\n---\n# Jane Doe\n"), ("p/both.txt.md", "# both\n")];
    let check = |text: &str, expected: &str| assert_eq!(mended(text, &notes), [expected], "{text:?}");
    check("at [[JD]].\n", "at [[jane|JD]].\n");
    check("at [[jane doe]].\n", "at [[jane|jane doe]].\n");
    check("at [[JD|her]].\n", "at [[jane|her]].\n");
    check("![[Jane Doe]]", "![[jane]]");
    check("| a | [[JD]] |\n", "| a | [[jane\\|JD]] |\n");
    check("---\nat: \"[[JD]]\"\n---\n", "---\nat: \"[[jane|JD]]\"\n---\n");
    // Two notes are called so.
    check("[[both]]", "[[both]]");
    let text = [notes[0], ("n.md", "[[JD]]")];
    let found = found(&text, Kind::Unwritten);
    assert_eq!(found[0].message, "`JD` is a title or an alias of `p/jane.md`, which no link follows");
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
        ("b.md", "- city: A\n- age: 3\n- city: B [[no/where]]\n"),
        ("a.md", "[[x]]\n[[y/z]]\n"),
        ("a (conflicted copy).md", ""),
    ]);
    let seen: Vec<_> = checked.findings.iter().map(|found| (found.path.as_str(), found.line, found.kind)).collect();
    let expected = [
        ("a (conflicted copy).md", None, Kind::Orphan),
        ("a (conflicted copy).md", None, Kind::SyncConflict),
        ("a.md", Some(1), Kind::Unwritten),
        ("a.md", Some(2), Kind::BrokenLink),
        ("b.md", Some(3), Kind::BrokenLink),
        ("b.md", Some(3), Kind::ConflictingFact),
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

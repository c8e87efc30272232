//! What stands in a note: links, headings, blocks, facts, and where links lead.
#![expect(clippy::string_slice, reason = "places that are not exact shall fail loudly")]

use proptest::prelude::*;

use super::heading::Found;
use super::relink::Before;
use super::target::closest_to;
use super::{Note, Seen, Syntax, Target, Targets, Web, link};
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkKind, LinkStatus};

fn path(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

/// Every link that is sure to be one, as its source text, its path, subpath and text.
#[track_caller]
fn check_links(text: &str, expected: &[(&str, &str, &str, Option<&str>)]) {
    let note = Note::parse(text);
    let mut links = note.links();
    links.retain(|link| link.syntax != Syntax::Unsure);
    let found: Vec<_> = links
        .iter()
        .map(|link| (&text[link.span.clone()], link.path.as_str(), link.subpath.as_str(), link.text.as_deref()))
        .collect();
    assert_eq!(found, expected, "{text}");
    for link in &links {
        assert!(link.span.start <= link.target.start && link.target.end <= link.span.end);
        assert_eq!(link.line, text[..link.span.start].matches('\n').count() + 1);
    }
}

#[test]
fn links_are_found_where_they_stand() {
    check_links("a [[b]] c", &[("[[b]]", "b", "", None)]);
    check_links("[[ b.md | B ]]", &[("[[ b.md | B ]]", "b.md", "", Some("B"))]);
    check_links("![[b.png|100x145]]", &[("![[b.png|100x145]]", "b.png", "", Some("100x145"))]);
    check_links("[[a/b#C#D|e]] [[#C]]", &[("[[a/b#C#D|e]]", "a/b", "#C#D", Some("e")), ("[[#C]]", "", "#C", None)]);
    check_links("[[n#^id]] [[n^id]]", &[("[[n#^id]]", "n", "#^id", None), ("[[n^id]]", "n", "^id", None)]);
    check_links("|a|b|\n|-|-|\n|[[x\\|y]]|z|", &[("[[x\\|y]]", "x", "", Some("y"))]);
    check_links("[[[a]]] [[a]]]", &[("[[a]]", "a", "", None), ("[[a]]", "a", "", None)]);
    check_links("[[a|x [y]]]", &[("[[a|x [y]]]", "a", "", Some("x [y]"))]);
    check_links("[[a\nb]] [[]] [[ ]] [[|x]] [[c", &[]);
    check_links("[[a [[b]]", &[("[[b]]", "b", "", None)]);
    check_links("\\[[a]] \\\\[[b]] \\![[c]]", &[("[[b]]", "b", "", None), ("[[c]]", "c", "", None)]);
}

#[test]
fn links_of_markdown_are_found() {
    check_links("[A](a%20b.md#C%20D)", &[("[A](a%20b.md#C%20D)", "a b.md", "#C D", Some("A"))]);
    check_links("![](<a b.png> \"t\")", &[("![](<a b.png> \"t\")", "a b.png", "", None)]);
    check_links("[**A** `c`](../x_(y).md)", &[("[**A** `c`](../x_(y).md)", "../x_(y).md", "", Some("**A** `c`"))]);
    check_links("[a](http://b.c) [a](mailto:b@c.de) [a]() <http://x.y> [a](//b.c/d) [a](www.b.c)", &[]);
    check_links(
        "[![i](i.png)](n.md)",
        &[("[![i](i.png)](n.md)", "n.md", "", Some("![i](i.png)")), ("![i](i.png)", "i.png", "", Some("i"))],
    );
    check_links("[[a]](b)", &[("[[a]]", "a", "", None)]);
    check_links("[[](a<]]) [a]([[b]])", &[("[[](a<]]", "](a<", "", None), ("[[b]]", "b", "", None)]);
    check_links("[x](a\\_b.md)", &[("[x](a\\_b.md)", "a_b.md", "", Some("x"))]);
    check_links("[a][r] [b][r]\n\n[r]: x/n.md \"t\"\n[s]: word\n", &[("[r]: x/n.md \"t\"", "x/n.md", "", Some("r"))]);
    check_links("> [a\n> b](c.md)", &[("[a\n> b](c.md)", "c.md", "", Some("a\n> b"))]);
    check_links("> [a](\n> c.md)", &[("[a](\n> c.md)", "c.md", "", Some("a"))]);
    check_links("[a](b&auml;c.md)", &[("[a](b&auml;c.md)", "bäc.md", "", Some("a"))]);
}

#[test]
fn what_may_be_no_link_is_one_only_where_joining_leads_to_a_file() {
    let text = "[todo]: call\n[pic]: i/p.png\n\n[[1]](n/x.md) [[2]](later)\n";
    let unsure: Vec<_> = Note::parse(text)
        .links()
        .into_iter()
        .filter(|link| link.syntax == Syntax::Unsure)
        .map(|link| link.path)
        .collect();
    assert_eq!(unsure, ["call", "i/p.png", "n/x.md", "later"]);
    let files = [("a.md", Some(text)), ("i/p.png", None), ("n/x.md", Some("")), ("z/call.md", Some(""))];
    let files = files.map(|(name, text)| (path(name), text.map(Seen::of)));
    let links = Web::new(files.into_iter().collect()).links().links;
    let led: Vec<_> = links.iter().map(|link| (link.target.as_str(), link.status)).collect();
    use LinkStatus::{BrokenFile, Ok};
    assert_eq!(led, [("i/p.png", Ok), ("n/x.md", Ok), ("1", BrokenFile), ("2", BrokenFile)]);
}

#[test]
fn code_mathematics_and_comments_inside_the_brackets_are_part_of_a_wikilink() {
    check_links("[[a `b`]]", &[("[[a `b`]]", "a `b`", "", None)]);
    check_links("![[Price in $x$ and $y$]]", &[("![[Price in $x$ and $y$]]", "Price in $x$ and $y$", "", None)]);
    check_links("[[a|b %%c%% <!-- d -->]]", &[("[[a|b %%c%% <!-- d -->]]", "a", "", Some("b %%c%% <!-- d -->"))]);
    check_links("`[[a` b]] $[[a$ b]] %%[[a%% b]] [[a %%b]] c%%", &[]);
}

#[test]
fn code_comments_and_mathematics_hold_no_links() {
    check_links("`[[a]]` ``[[b]] ` [c](c.md)`` [[d]]", &[("[[d]]", "d", "", None)]);
    check_links("```\n[[a]]\n```\n~~~md\n[[b]]\n~~~\n\n    [[c]]\n\n[[d]]", &[("[[d]]", "d", "", None)]);
    check_links("$[[a]]$ $$\n[[b]]\n$$\n\ncosts 5$ [[c]] or 6$", &[("[[c]]", "c", "", None)]);
    check_links(
        "%%[[a]]%% [[b]] %%\n[[c]]\n\n```\n%%\n```\n[[d]]\n%% [[e]]",
        &[("[[b]]", "b", "", None), ("[[e]]", "e", "", None)],
    );
    check_links("`%%` [[a]] and 100%% [[b]]", &[("[[a]]", "a", "", None), ("[[b]]", "b", "", None)]);
    check_links("<!-- [[a]] --> [[b]]\n\n<div>\n[[c]]\n</div>\n", &[]);
    check_links("x <!-- [[a]] --> <b>[[b]]</b>", &[("[[b]]", "b", "", None)]);
    check_links("[[a `b]] c`", &[]);
}

#[test]
fn front_matter_that_is_too_long_says_so() {
    let note = |items: usize| format!("---\nkey: value\ntags:\n{}---\n- a: b\n", "  - one\n".repeat(items));
    let (short, long) = (note(4_000), note(9_000));
    let (short, long) = (Note::parse(&short), Note::parse(&long));
    assert_eq!((short.front_error(), short.front_values("key").len()), (None, 1));
    let error = long.front_error().unwrap();
    assert_eq!((error.line, error.message.as_str()), (1, "it is longer than 64 KiB"));
    assert_eq!((long.front_values("key").len(), long.facts().len()), (0, 1));
}

#[test]
fn front_matter_holds_links_in_its_values() {
    let text = "---\nup: \"[[a|A]]\"\nlist:\n  - '[[it''s]]'\n  - see [[ü/c]] now\nflow: [\"[[d]]\", [[e]]]\n[[k]]: x\n---\n[[f]]\n";
    check_links(
        text,
        &[
            ("[[a|A]]", "a", "", Some("A")),
            ("[[it''s]]", "it's", "", None),
            ("[[ü/c]]", "ü/c", "", None),
            ("[[d]]", "d", "", None),
            ("[[f]]", "f", "", None),
        ],
    );
    assert!(Note::parse(text).links()[..4].iter().all(|link| link.kind == LinkKind::FrontMatter));
    // What is no YAML holds none; what is not at the start is no front matter.
    check_links("---\na: [[[\n\"[[b]]\n---\n[[c]]", &[("[[c]]", "c", "", None)]);
    check_links("\n---\na: \"[[b]]\"\n---\n", &[("[[b]]", "b", "", None)]);
    check_links("---\na: \"[[b]]\"\n", &[("[[b]]", "b", "", None)]);
    check_links("\u{feff}---\r\na: \"[[b]]\"\r\n---\r\n[[c]]", &[("[[b]]", "b", "", None), ("[[c]]", "c", "", None)]);
}

#[test]
fn a_link_that_somebody_names_is_taken_apart() {
    let named = |written| {
        let link = link::parse(written);
        (link.path, link.subpath, link.text)
    };
    let is = |path: &str, subpath: &str, text: Option<&str>| (path.into(), subpath.into(), text.map(Into::into));
    assert_eq!(named("[[entities/x.md#Work|X]]"), is("entities/x.md", "#Work", Some("X")));
    assert_eq!(named(" ![[x]] "), is("x", "", None));
    assert_eq!(named("entities/x"), is("entities/x", "", None));
    assert_eq!(named("x#Work"), is("x", "#Work", None));
    assert_eq!(named("[X](a%20b.md#c)"), is("a b.md", "#c", Some("X")));
    assert_eq!(named(""), is("", "", None));
}

#[track_caller]
fn check_target(link: &str, source: Option<&str>, expected: &str) {
    let names = [
        "Work/Plans.md",
        "a/b/deep.md",
        "a/same.md",
        "entities/jane_doe.md",
        "same.md",
        "x.y.md",
        "ÄRGER.md",
        "pic.png",
        "v1.2",
        "w/entities/jane_doe.md",
        "a/c/twin.md",
        "b/d/twin.md",
        "bb/twin.md",
    ];
    let targets = Targets::new(names.map(path));
    let source = source.map(path);
    let target = targets.resolve(link, Syntax::Wiki, source.as_ref());
    assert_eq!(targets.best(link, Syntax::Wiki, source.as_ref()), target.best());
    let found = match target {
        Target::File(path) => path.to_string(),
        Target::Several(paths) => paths.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(" or "),
        Target::Nothing => "nothing".to_owned(),
    };
    assert_eq!(found, expected, "{link}");
}

#[test]
fn links_lead_to_files() {
    check_target("entities/jane_doe.md", None, "entities/jane_doe.md or w/entities/jane_doe.md");
    check_target("entities/jane_doe.md", Some("w/x.md"), "entities/jane_doe.md or w/entities/jane_doe.md");
    check_target("/entities/jane_doe.md", Some("w/x.md"), "entities/jane_doe.md");
    check_target("plans", None, "Work/Plans.md");
    check_target("x.y", None, "x.y.md");
    check_target("v1.2", None, "v1.2");
    check_target("pic.png", None, "pic.png");
    check_target("pic", None, "nothing");
    check_target("a\u{308}rger", None, "ÄRGER.md");
    check_target("b/deep", None, "a/b/deep.md");
    check_target("eep", None, "nothing");
    check_target("same", None, "same.md or a/same.md");
    check_target("same", Some("a/x.md"), "same.md or a/same.md");
    check_target("SAME", Some("b/x.md"), "same.md or a/same.md");
    check_target("../same", Some("a/x.md"), "same.md");
    check_target("./same", Some("a/x.md"), "a/same.md");
    check_target("/same", Some("a/x.md"), "same.md");
    check_target("/b/deep", None, "nothing");
    check_target("", Some("a/x.md"), "a/x.md");
    check_target("", None, "nothing");
    check_target("../../etc/passwd", Some("a/x.md"), "nothing");
    check_target("twin", Some("b/x.md"), "b/d/twin.md or bb/twin.md or a/c/twin.md");
    check_target("twin", None, "bb/twin.md or a/c/twin.md or b/d/twin.md");
}

/// As a program in JavaScript counts, which Obsidian is: bytes would make each name of another script a long one.
#[test]
fn the_shortest_path_is_counted_in_units_of_utf16() {
    let best = |names: &[&str], source: Option<&str>| {
        let targets = Targets::new(names.iter().map(|name| path(name)));
        targets.best("k", Syntax::Wiki, source.map(path).as_ref()).map(ToString::to_string).unwrap()
    };
    assert_eq!(best(&["x.y/k.md", "東京/k.md"], Some("z/s.md")), "東京/k.md");
    assert_eq!(best(&["abc/k.md", "Ёж/k.md"], None), "Ёж/k.md");
    assert_eq!(best(&["🌲🌲/k.md", "abc/k.md"], None), "abc/k.md");
    assert_eq!(best(&["éé/k.md", "ab/k.md"], None), "ab/k.md");
}

#[test]
fn a_link_of_markdown_leads_where_every_reader_of_markdown_goes() {
    let names = ["same.md", "a/same.md", "a/b/x.md", "c/only.md", "plain", "plain.md"].map(path);
    let targets = Targets::new(names);
    let led = |link: &str, source: &str| {
        let found = targets.best(link, Syntax::Markdown, Some(&path(source))).cloned();
        found.map_or_else(String::new, String::from)
    };
    assert_eq!(led("same.md", "a/n.md"), "a/same.md");
    assert_eq!(led("same", "a/n.md"), "a/same.md");
    assert_eq!(led("b/../same.md", "a/n.md"), "a/same.md");
    assert_eq!(led("../same.md", "a/n.md"), "same.md");
    assert_eq!(led("plain", "n.md"), "plain");
    // Joining leads nowhere: as Obsidian finds it.
    assert_eq!(led("only.md", "a/n.md"), "c/only.md");
    assert_eq!(led("Same.md", "a/b/n.md"), "same.md");
    assert_eq!(led("../../../same.md", "a/n.md"), "");
    // A folder is no note.
    assert_eq!(led("only/", "a/n.md"), "");
}

#[test]
fn a_blank_at_which_no_line_breaks_is_a_blank() {
    let targets = Targets::new(["Ada King.md", "10\u{202f}km.md"].map(path));
    let led = |link: &str| targets.best(link, Syntax::Wiki, None).map(MemoryPath::as_str);
    assert_eq!(led("Ada\u{a0}King"), Some("Ada King.md"));
    assert_eq!(led("ada\u{202f}king"), Some("Ada King.md"));
    assert_eq!(led("10 km"), Some("10\u{202f}km.md"));
    assert_eq!(led("AdaKing"), None);
}

#[test]
fn the_nearest_name_is_found_although_it_is_written_otherwise() {
    let targets = Targets::new(["entities/jane_doe.md", "acme.md", "pic.png"].map(path));
    let nearest = |path| targets.nearest(path, None, &mut 1_000_000).first().map(|path| path.as_str());
    assert_eq!(nearest("Jane Doe"), Some("entities/jane_doe.md"));
    assert_eq!(nearest("acmee.md"), Some("acme.md"));
    assert_eq!(nearest("jan_do"), Some("entities/jane_doe.md"));
    assert_eq!(nearest("accent"), None);
    assert_eq!(nearest("wholly other"), None);
    assert_eq!(nearest("..."), None);
    let mut left = 1_500;
    assert!(!targets.nearest("Jane Doe", None, &mut left).is_empty(), "the same letters cost nothing");
    assert_eq!((targets.nearest("acmee.md", None, &mut left), left), (Vec::new(), 0), "two names cost more than that");
    let many = Targets::new((0..2_001).map(|number| path(&format!("n{number}.md"))));
    let mut left = 100_000;
    assert_eq!(
        (many.nearest("xyz", None, &mut left), left),
        (Vec::new(), 100_000 - 2_001 * 10),
        "each name that is passed by counts"
    );
}

#[test]
fn of_names_that_are_equally_near_the_one_in_the_folder_of_the_note_is_meant() {
    let files =
        ["Alpha/plan.md", "Beta/plan.md", "Gamma/plan.md", "Gamma/a/plan.md", "Gamma/b/x.md", "d/2026-10-05.md"];
    let targets = Targets::new(files.iter().map(|file| path(file)).chain([path("d/2026-06-01.md")]));
    let check = |link: &str, syntax: Syntax, source: &str, expected: &str| {
        let found = targets.nearest(link, None, &mut 1_000_000);
        let found = closest_to(link, syntax, Some(&path(source)), &found).map(MemoryPath::as_str);
        assert_eq!(found, Some(expected), "{link} in {source}");
    };
    for link in ["plna", "./plam.md", "pl-an", "pln"] {
        for (source, expected) in [
            ("Alpha/i.md", "Alpha/plan.md"),
            ("Beta/i.md", "Beta/plan.md"),
            ("Gamma/i.md", "Gamma/plan.md"),
            ("Gamma/a/i.md", "Gamma/a/plan.md"),
            ("Gamma/b/i.md", "Gamma/plan.md"),
        ] {
            check(link, Syntax::Wiki, source, expected);
            check(link, Syntax::Markdown, source, expected);
        }
    }
    check("../Beta/plna.md", Syntax::Markdown, "Gamma/i.md", "Beta/plan.md");
    check("Alpha/plna", Syntax::Wiki, "Gamma/i.md", "Alpha/plan.md");
    check("2026-10-06", Syntax::Wiki, "d/2026-10-07.md", "d/2026-10-05.md");
}

#[track_caller]
fn check_headings(text: &str, expected: &[(u8, &str)]) {
    let note = Note::parse(text);
    assert_eq!(
        note.headings().iter().map(|heading| (heading.level, heading.text.as_str())).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn headings_are_found() {
    check_headings(
        "# A\n## B ##\n### C#\nD\nE\n===\n\n> # no\n\n- # no\n\n```\n# no\n```\n#no\n#",
        &[(1, "A"), (2, "B"), (3, "C#"), (1, "D E"), (1, "")],
    );
    check_headings("---\nk: v\n---\n# A\r\n", &[(1, "A")]);
    check_headings("\u{feff}# A\n", &[(1, "A")]);
    let note = Note::parse("# A\rx\r# B\ry");
    assert_eq!((note.section(0), note.own_text(1)), (4..6, 10..11));
    let text = "x\n# A\ny\n## A\nz\n# Über [[B|C]]: **d**\nw";
    let note = Note::parse(text);
    assert_eq!(note.heading("a#A"), Found::One(1));
    assert_eq!(note.heading("A"), Found::Several(vec![0, 1]));
    assert_eq!(note.heading("## über B C d"), Found::One(2));
    assert_eq!(note.heading("B"), Found::Nothing);
    assert_eq!(note.heading("#"), Found::Nothing);
    assert_eq!(&text[note.section(0)], "y\n## A\nz\n");
    assert_eq!(&text[note.own_text(0)], "y\n");
    assert_eq!(&text[note.section(2)], "w");
    assert_eq!((note.heading_above(1), note.heading_above(3)), (None, note.headings().first()));
}

#[track_caller]
fn check_block(text: &str, id: &str, expected: Option<&str>) {
    assert_eq!(Note::parse(text).block(id).map(|range| &text[range]), expected);
}

#[test]
fn blocks_are_found_by_their_ids() {
    check_block("a\n\nb\nc ^x-1\n\nd", "x-1", Some("b\nc ^x-1\n"));
    check_block("- a\n- b ^X\n  - c\n- d", "x", Some("- b ^X\n  - c\n"));
    check_block("| a |\n|---|\n| b |\n\n^t\n\nz", "t", Some("| a |\n|---|\n| b |\n"));
    check_block("> q\n> r\n\n^q1\n", "q1", Some("> q\n> r\n"));
    check_block("`a ^x`\n\n2^10 b^x", "x", None);
    check_block("^x", "x", None);
}

#[test]
fn a_web_says_where_links_lead_and_what_is_broken() {
    let notes = [
        (
            "a.md",
            "[[b#H]] [[b#No]] [[b#^i]] [[b#^no]] [[none]] [[#Here]] [[p.png]] [x](../out.md) [[../out]]\n# Here\n",
        ),
        ("b.md", "# H\nx ^i\n[[a]]\n"),
        ("nonee.md", ""),
        ("p.png", ""),
    ];
    let web = Web::new(
        notes.map(|(name, text)| (path(name), name.ends_with(".md").then(|| Seen::of(text)))).into_iter().collect(),
    );
    let links = web.links();
    let found: Vec<_> =
        links.links.iter().map(|link| (link.source.as_str(), link.target.as_str(), link.status)).collect();
    use LinkStatus::{BrokenBlock, BrokenFile, BrokenHeading, Ok, Outside};
    assert_eq!(
        found,
        [
            ("a.md", "b", Ok),
            ("a.md", "b", BrokenHeading),
            ("a.md", "b", Ok),
            ("a.md", "b", BrokenBlock),
            ("a.md", "none", BrokenFile),
            ("a.md", "", Ok),
            ("a.md", "p.png", Ok),
            // Only a link of Markdown is joined to its folder.
            ("a.md", "../out.md", Outside),
            ("a.md", "../out", BrokenFile),
            ("b.md", "a", Ok),
        ]
    );
    assert_eq!(links.links[4].nearest, Some(path("nonee.md")));
    assert_eq!(links.backlinks[&path("b.md")], [path("a.md")]);
    assert_eq!(web.links_to(&path("b.md")).links.len(), 4);
    assert_eq!(web.links_of(&path("b.md")).links.len(), 1);
    assert_eq!(web.links_of(&path("a.md")).backlinks[&path("a.md")], [path("b.md")]);
}

#[test]
fn the_nearest_name_is_the_only_one_that_goes_on_from_what_is_written() {
    let web = |names: &[&str], link: &str| {
        let files = names.iter().map(|name| (path(name), Some(Seen::default())));
        let source = (path("z.md"), Some(Seen::of(&format!("[[{link}]]"))));
        Web::new(files.chain([source]).collect()).links().links[0].nearest.clone()
    };
    let zettel = ["202401011200 Foo bar.md", "202401011201 Baz.md"];
    assert_eq!(web(&zettel, "202401011200"), Some(path(zettel[0])));
    assert_eq!(web(&["Ana López.md", "Berta.md"], "Ana"), Some(path("Ana López.md")));
    assert_eq!(web(&["Ana López.md", "Ana Lima.md"], "Ana Q"), None, "two go on so");
    assert_eq!(web(&["Analysis of all.md"], "Ana"), None, "a word goes on");
}

/// The anchors are those that GitHub shows for these headings.
#[test]
fn links_of_markdown_lead_to_anchors() {
    let target = "# What's new?\n# C/C++ & more\n# A_b - c\n# Über uns\n# Notes\n## Notes\n# 2024\n";
    for (link, status) in [
        ("[x](t.md#whats-new)", LinkStatus::Ok),
        ("[x](t.md#cc--more)", LinkStatus::Ok),
        ("[x](t.md#a_b---c)", LinkStatus::Ok),
        ("[x](t.md#über-uns)", LinkStatus::Ok),
        ("[x](t.md#%C3%BCber-uns)", LinkStatus::Ok),
        ("[x](t.md#notes-1)", LinkStatus::Ok),
        ("[x](t.md#notes-2)", LinkStatus::BrokenHeading),
        ("[x](t.md#whats)", LinkStatus::BrokenHeading),
        ("[x](t.md#-)", LinkStatus::BrokenHeading),
        ("[x](t.md#whats%20new)", LinkStatus::BrokenHeading),
        // Obsidian follows no anchors.
        ("[[t#whats-new]]", LinkStatus::BrokenHeading),
        ("[[t#What's new?]]", LinkStatus::Ok),
    ] {
        let seen = [("a.md", link), ("t.md", target)].map(|(name, text)| (path(name), Some(Seen::of(text))));
        let found = Web::new(seen.into_iter().collect()).links();
        assert_eq!(found.links.iter().map(|link| link.status).collect::<Vec<_>>(), [status], "{link}");
    }
    for target in [
        "## See [link](a.md)\n",
        "<a id=\"see-link\"></a>\n",
        "<h2 id=see-link>x</h2>\n",
        "a <a name='see-link'>b</a>\n",
        "## X {#see-link}\n",
        "# *See* `link`\n",
    ] {
        let seen =
            [("a.md", "[x](t.md#see-link)"), ("t.md", target)].map(|(name, text)| (path(name), Some(Seen::of(text))));
        let found = Web::new(seen.into_iter().collect()).links();
        assert_eq!(found.links.first().map(|link| link.status), Some(LinkStatus::Ok), "{target}");
        let note = Note::parse(target);
        assert!(note.has_place("see-link", Syntax::Markdown) && !note.has_place("see-other", Syntax::Markdown));
        assert!(!note.has_place("see-link", Syntax::Wiki), "{target}");
    }
    let note = Note::parse(target);
    let led_to = |name, syntax| note.led_to(name, syntax).map(|at| note.headings()[at].span.start);
    assert_eq!(led_to("notes-1", Syntax::Markdown), target.find("# Notes\n# 2024").map(|at| at - 1));
    assert_eq!(led_to("Notes", Syntax::Markdown), target.find("# Notes"));
    assert_eq!(led_to("notes-1", Syntax::Wiki), None);
}

/// What a link in a note is called once its target has moved.
#[track_caller]
fn check_relink(link: &str, source: &str, from: &str, to: &str, others: &[&str], expected: &str) {
    let text = Note::parse(link);
    let found = text.links().remove(0);
    let after = Targets::new(others.iter().copied().chain([to, source]).map(path));
    let (source, from, to) = (path(source), path(from), path(to));
    let is_joined =
        found.syntax != Syntax::Wiki && Targets::new([from.clone()]).beside(&found.path, Some(&source)).is_some();
    let before = Before { path: &found.path, syntax: found.syntax, is_joined, target: &from };
    let new = after.relink(before, &source, &to).unwrap();
    let written = found.encode(&link[found.target.clone()], &new).unwrap();
    assert_eq!(link.replacen(&link[found.target.clone()], &written, 1), expected);
}

#[test]
fn a_link_is_written_anew_in_its_own_style() {
    check_relink("[[x|X]]", "n.md", "a/x.md", "b/y.md", &[], "[[y|X]]");
    check_relink("[[x.md#H]]", "n.md", "a/x.md", "b/y.md", &[], "[[y.md#H]]");
    check_relink("[[a/x]]", "n.md", "a/x.md", "b/c/y.md", &[], "[[b/c/y]]");
    check_relink("[[c/x]]", "n.md", "a/c/x.md", "b/d/y.md", &[], "[[d/y]]");
    check_relink("[[x]]", "n.md", "a/x.md", "b/y.md", &["c/y.md"], "[[b/y]]");
    check_relink("[[x]]", "n.md", "a/x.md", "y.md", &["c/y.md"], "[[/y]]");
    check_relink("[[a/x]]", "w/n.md", "a/x.md", "b/y.md", &["w/b/y.md"], "[[/b/y]]");
    check_relink("[[./x]]", "a/n.md", "a/x.md", "a/b/y.md", &[], "[[./b/y]]");
    check_relink("[[../x]]", "a/n.md", "x.md", "a/y.md", &[], "[[y]]");
    check_relink("[[/a/x]]", "n.md", "a/x.md", "b/y.md", &[], "[[/b/y]]");
    check_relink("[X](a/x.md)", "n.md", "a/x.md", "b c/y(1).md", &[], "[X](b%20c/y%281%29.md)");
    check_relink("[X](<a/x.md>)", "n.md", "a/x.md", "b c/y.md", &[], "[X](<b c/y.md>)");
    check_relink("[X](b/x.md)", "a/n.md", "a/b/x.md", "c/x.md", &[], "[X](../c/x.md)");
    check_relink("![[p.png]]", "n.md", "p.png", "i/q.png", &[], "![[q.png]]");
    check_relink("[X](x.md)", "n.md", "x.md", "a/x.md", &[], "[X](a/x.md)");
    check_relink("[X](./x)", "n.md", "x.md", "a/y.md", &[], "[X](./a/y)");
    check_relink("[X](%C3%A4%20x.md#h \"t\")", "n.md", "ä x.md", "ö/ä x.md", &[], "[X](%C3%B6/%C3%A4%20x.md#h \"t\")");
    check_relink("[X](x_(1).md)", "n.md", "x_(1).md", "a (b)/x_(1).md", &[], "[X](a%20%28b%29/x_(1).md)");
    check_relink("[X](<x.md>)", "n.md", "x.md", "100% <b>.md", &[], "[X](<100%25 %3Cb%3E.md>)");
    check_relink("[X](x.md)", "n.md", "x.md", "a:b.md", &[], "[X](./a:b.md)");
    check_relink("[X](x.md)", "n.md", "x.md", "a&amp;b.md", &[], "[X](a%26amp;b.md)");
    check_relink("[X](a/x.md)", "b/n.md", "a/x.md", "c/x.md", &[], "[X](c/x.md)");
    check_relink("[X](x)", "n.md", "x", "x.md", &[], "[X](x.md)");
}

#[test]
fn a_heading_is_not_repeated_at_its_full_length_for_every_fact() {
    let text = format!("# {}\n{}", "ü".repeat(100_000), "- a: b\n".repeat(3));
    let note = Note::parse(&text);
    let lengths: Vec<_> =
        note.facts().iter().map(|fact| fact.heading.as_deref().map(|text| text.chars().count())).collect();
    assert_eq!(lengths, [Some(201); 3]);
    assert_eq!(Note::parse("# Ä b\n- a: b\n").facts()[0].heading.as_deref(), Some("Ä b"));
}

#[test]
fn a_heading_written_as_it_is_named_comes_before_those_that_only_compare_the_same() {
    let note = Note::parse("# C\n1\n# C++\n2\n# C#\n3\n# c\n4\n");
    let found = ["C", "C++", "C#", "c", "C!"].map(|name| note.heading(name));
    assert_eq!(found, [Found::One(0), Found::One(1), Found::One(2), Found::One(3), Found::Several(vec![0, 1, 2, 3])]);
    let note = Note::parse("# Skills\n## C\n## C++\n# Skills\n# C\n");
    assert_eq!(note.heading("Skills#C++"), Found::One(2));
    assert_eq!(note.heading("C"), Found::Several(vec![1, 4]));
}

fn any_markup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "[[",
        "]]",
        "a",
        "b/c.md",
        "|",
        "#",
        "^id",
        "!",
        "[",
        "](",
        ")",
        "<",
        ">",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "%%",
        "$",
        "$$",
        "---\n",
        "- ",
        "  - ",
        "key: value",
        "**",
        "*",
        "# ",
        "===\n",
        "> ",
        "\\",
        " ",
        "\"",
        "'",
        "é",
        "\u{301}",
        "\r\n",
        "\r",
        "%20",
        ": ",
        "[x]: n.md",
        "<!--",
        "-->",
        "<div>",
        "|-|\n",
        "tags: [",
        "\u{feff}",
        "北",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

/// Every place is exact: what stands between links and in them is the note again, and a path that is written anew
/// as it reads leaves a note in which every link reads as before.
fn check_places(text: &str) {
    let note = Note::parse(text);
    let links = note.links();
    for link in &links {
        assert!(text.is_char_boundary(link.span.start) && text.is_char_boundary(link.span.end));
        assert!(link.span.start <= link.target.start && link.target.end <= link.span.end);
        assert_eq!(link.line, text[..link.span.start].matches('\n').count() + 1);
    }
    let paths = |text: &str| Note::parse(text).links().into_iter().map(|link| link.path).collect::<Vec<_>>();
    // A `$` that is written as `%24` may have been the end of what else is math: left so, as whole files of that name are rare.
    for link in links.iter().filter(|link| !link.path.is_empty() && !link.path.contains('$')) {
        if let Some(written) = link.style.encode(&link.path) {
            let mut again = text.to_owned();
            again.replace_range(link.target.clone(), &written);
            assert_eq!(paths(&again), paths(text), "{:?} for {:?} in {:?}", written, link, text);
        }
    }
    let mut end = note.body();
    for (at, heading) in note.headings().iter().enumerate() {
        assert!(end <= heading.span.start && heading.span.start < heading.span.end);
        assert!(text[heading.span.clone()].contains(heading.text.split(' ').next().unwrap_or_default()));
        assert!(text.get(note.section(at)).is_some());
        end = heading.span.end;
    }
    let others = note.named().map(|named| named.fact).chain(note.records().flatten());
    for fact in note.facts().into_iter().chain(others) {
        assert!(text.get(fact.span.clone()).is_some());
    }
    assert!(note.block("id").is_none_or(|block| text.get(block).is_some()));
}

#[test]
fn places_are_exact_where_encoding_could_make_a_wikilink() {
    check_places("[x]: n.md[[|]]");
    check_places("[x]: <n.md[[|]]>");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn places_are_exact_whatever_the_text(text in any_markup()) {
        check_places(&text);
    }

    /// A fact that is set says so afterwards, and all others say what they said.
    #[test]
    fn a_fact_that_is_set_is_there(text in any_markup(), value in "[a-zé:#'\"\\[\\]]{1,12}") {
        let note = Note::parse(&text);
        let Ok(edit) = note.set_fact("key", &value) else { return Ok(()) };
        let mut after = text.clone();
        after.replace_range(edit.range, &edit.text);
        let said = |text: &str| {
            let facts = Note::parse(text).facts();
            facts.into_iter().map(|fact| (fact.key, fact.value)).collect::<Vec<_>>()
        };
        let (before, after) = (said(&text), said(&after));
        prop_assert!(after.iter().any(|(key, said)| key == "key" && *said == value), "{:?} in {:?}", after, text);
        for other in before.iter().filter(|(key, _)| super::fact::key(key) != "key") {
            prop_assert!(after.contains(other), "{:?} of {:?}", other, text);
        }
    }
}

#[test]
fn without_code_is_as_long_and_has_the_same_lines() {
    for (text, expected) in [
        ("a `b` c\n", "a     c\n"),
        ("a\n\n```js\nx \u{e9}\r\n```\nb\n", "a\n\n     \n    \r\n   \nb\n"),
        ("<b>x</b> $y$ %%z%%\n", "<b>x</b> $y$ %%z%%\n"),
    ] {
        let shown = Note::parse(text).without_code();
        assert_eq!(shown, expected);
        assert_eq!(shown.len(), text.len());
    }
}

#[test]
fn a_card_has_the_aliases_of_the_facts() {
    let text = "---\naliases: [One]\n---\n- also known as: Two, One\n- a k a: Three\n";
    assert_eq!(crate::Card::of(&Note::parse(text)).aliases, ["One", "Two", "Three"]);
}

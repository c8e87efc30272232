//! Links of Markdown and HTML and renames, asked of plain path arithmetic: pulldown-cmark finds the links, a pattern the
//! attributes of tags, and the test joins, decodes and normalises their paths itself.

use std::collections::BTreeMap;

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser, Tag};
use serde_json::json;

use super::*;

/// Where each link of a text leads from a folder by plain joining, in the order of the text; `None` out of the memory.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest of Markdown leads nowhere")]
fn joined(folder: &str, text: &str) -> Vec<Option<String>> {
    let attribute = regex::Regex::new(r#" (?:href|src)=(?:"([^"]*)"|'([^']*)'|([^ >]*))"#).unwrap();
    // Front matter is no part of Markdown, but its lines read as a heading.
    let links = Parser::new(text).flat_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => vec![dest_url.into_string()],
        Event::Html(html) | Event::InlineHtml(html) => {
            let values = attribute.captures_iter(&html).map(|found| found.iter().flatten().nth(1).unwrap().as_str());
            values.map(|value| value.replace("&#39;", "'").replace("&amp;", "&")).collect()
        }
        _ => Vec::new(),
    });
    links.map(|url| join(folder, url.split('#').next().unwrap())).collect()
}

fn join(folder: &str, path: &str) -> Option<String> {
    let path = decode(path);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn decode(path: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        (rest, _) = match hex.filter(|_| *first == b'%') {
            Some(byte) => (&after[2..], bytes.push(byte)),
            None => (after, bytes.push(*first)),
        };
    }
    String::from_utf8(bytes).unwrap()
}

/// A path from one folder to a file, as somebody writes it.
fn from_to(folder: &str, file: &str, style: usize) -> String {
    let folders: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = file.split('/').collect();
    let shared = folders.iter().zip(&parts[..parts.len() - 1]).take_while(|(one, other)| one == other).count();
    // The long way round leads there too.
    let shared = if style % 7 == 6 { 0 } else { shared };
    let path = "../".repeat(folders.len() - shared) + &parts[shared..].join("/");
    let here = if style % 3 == 1 { "./" } else { "" };
    let path = format!("{here}{path}");
    let escape = |all: bool| {
        let escaped = path.replace('%', "%25").replace(' ', "%20").replace('(', "%28").replace(')', "%29");
        let percent = |letter: char| letter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
        let letters = escaped.chars();
        letters
            .map(|letter| if all && !letter.is_ascii() { percent(letter) } else { letter.into() })
            .collect::<String>()
    };
    let in_html = |all: bool| escape(all).replace('&', "&amp;").replace('\'', "&#39;");
    match style % 13 {
        0..3 => format!("[t]({})", escape(false)),
        3 => format!("![t]({} \"a title\")", escape(true)),
        4 => format!("[t](<{}> 'b')", path.replace('%', "%25")),
        5 => format!("[a `c` *d*]({}#part)", escape(true)),
        6 => format!("[![p]({})]({})", escape(false), escape(true)),
        7 => format!("[t][r{style}]\n\n[r{style}]: {}\n", escape(false)),
        8 => format!("![t][r{style}]\n\n[r{style}]:\n  {}\n  'a title'\n", escape(true)),
        9 => format!("- an <img alt=p src=\"{}\"/> <b>here</b>", in_html(false)),
        10 => format!("<a class=\"x\" href='{}#part'>t</a> and <img src={}>", in_html(false), in_html(true)),
        11 => format!("<div>\n<img src=\"{}\">\n</div>", in_html(true)),
        // Only at the start of a note.
        _ => format!("---\ntags: [a, b]\nseen:\n- \"[t](<{}>)\"\n---\n", path.replace('%', "%25")),
    }
}

const FILES: &[&str] = &[
    "n.md",
    "x.md",
    "p.png",
    "a/n.md",
    "a/x.md",
    "a/ä ö.md",
    "a/b/n.md",
    "a/b/x (1).md",
    "a/b/c/p.png",
    "b/n.md",
    "b/a/x.md",
    "c d/100%.md",
    "c d/e/n.md",
    "c d/it's & so.md",
];

const PLACES: &[&str] = &[
    "n.md",
    "x.md",
    "N.md",
    "a",
    "b",
    "a/b",
    "A",
    "z",
    "z/y",
    "a/z",
    "b/a/z",
    "a/n.md",
    "b/x.md",
    "c d",
    "c d/e",
    "z z/ü.md",
    "a/b/n.md",
    "q.png",
    "b/p.png",
    "a/b/c/d/e.md",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// After a rename each link that led somewhere by plain joining leads there, and notes whose links led on keep their
    /// bytes.
    #[test]
    fn plain_joining_leads_where_it_led(
        there in prop::collection::vec(prop::bool::weighted(0.6), FILES.len()),
        links in prop::collection::vec((0..FILES.len(), 0..FILES.len(), 0..91usize), 0..14),
        from in prop::sample::select([FILES, PLACES].concat()),
        to in prop::sample::select(PLACES.to_vec()),
    ) {
        let mut texts: BTreeMap<&str, String> =
            FILES.iter().zip(&there).filter(|(_, there)| **there).map(|(file, _)| (*file, String::new())).collect();
        for (source, target, style) in links {
            let source = FILES[source];
            let is_front = style % 13 == 12;
            let text = texts.get_mut(source).filter(|text| source.ends_with(".md") && (!is_front || text.is_empty()));
            if let Some(text) = text {
                let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
                text.push_str(&from_to(folder, FILES[target], style));
                text.push_str("\n\n");
            }
        }
        let mut tree = MapTree::default();
        for (file, text) in &texts {
            tree.insert(&MemoryPath::parse(file).unwrap(), text.as_bytes());
        }
        let (outcomes, plan) = run(&tree, &[json!({"action": "rename_file", "path": from, "new_path": to})]);
        if outcomes[0].result.is_err() {
            return Ok(());
        }
        let mut after = tree.clone();
        after.apply(plan.steps()).unwrap();
        let called = |path: &str| match path.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
            _ => path.to_owned(),
        };
        let folder = |file: &str| file.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        for (file, text) in &texts {
            let (file, now) = (*file, called(file));
            let text_now = std::str::from_utf8(after.get(&now).unwrap()).unwrap();
            let (before, leads) = (joined(&folder(file), text), joined(&folder(&now), text_now));
            prop_assert_eq!(before.len(), leads.len(), "{} became {}", text, text_now);
            let as_it_stands = joined(&folder(&now), text);
            let mut is_touched = false;
            for ((led, leads), stands) in before.iter().zip(&leads).zip(&as_it_stands) {
                let is_file = led.as_deref().is_some_and(|led| texts.contains_key(led));
                let wanted = led.as_deref().map(called);
                prop_assert!(!is_file || *leads == wanted, "{file}: {text} became {text_now}");
                is_touched |= !is_file || stands != &wanted;
            }
            prop_assert!(is_touched || text_now == text, "{file}: {text} became {text_now}");
        }
    }
}

/// One rename, and what a note says after it.
#[track_caller]
fn check_rename(files: &[(&str, &str)], from: &str, to: &str, note: &str, expected: &str) {
    let tree = MapTree::of(files.iter().copied());
    let (outcome, after) = one(&tree, json!({"action": "rename_file", "path": from, "new_path": to}));
    assert_eq!(outcome["ok"], true, "{outcome}");
    assert_eq!(std::str::from_utf8(after.get(note).unwrap()).unwrap(), expected);
}

#[test]
fn a_link_to_a_folder_is_taken_along() {
    let files = [("n.md", "[a](a/) [b](./a/b) [c](a/x.md)\n"), ("a/x.md", "[up](../a/) [b](b)\n"), ("a/b/y.md", "")];
    check_rename(&files, "a", "z/a c", "n.md", "[a](z/a%20c/) [b](./z/a%20c/b) [c](z/a%20c/x.md)\n");
    check_rename(&files, "a", "z", "z/x.md", "[up](../z/) [b](b)\n");
    check_rename(&files, "n.md", "m/n.md", "m/n.md", "[a](../a/) [b](../a/b) [c](../a/x.md)\n");
}

#[test]
fn a_link_that_joining_leads_nowhere_follows_the_rules_of_wikilinks() {
    let files = [("a/n.md", "[x](people/ada.md) [y](ada.md) [z](none.md)\n"), ("people/ada.md", "")];
    check_rename(&files, "people/ada.md", "people/eve.md", "a/n.md", "[x](people/eve.md) [y](eve.md) [z](none.md)\n");
    check_rename(&files, "people", "folk", "a/n.md", "[x](folk/ada.md) [y](ada.md) [z](none.md)\n");
    // A note comes to stand where joining leads: it would take the link.
    let files = [("a/n.md", "[y](ada.md)\n"), ("people/ada.md", ""), ("b.md", "")];
    check_rename(&files, "b.md", "a/ada.md", "a/n.md", "[y](people/ada.md)\n");
}

#[test]
fn an_address_in_html_or_front_matter_keeps_its_way_of_writing() {
    let text = "---\nby: '[x](x.md)'\n---\n<IMG\n  SRC=\"./x y.png\" alt=\"x.md\">\n<a href=x.md#a>x.md</a> <a href=\"X.md\">t</a>\n";
    let files = [("n.md", text), ("x.md", ""), ("x y.png", "")];
    check_rename(
        &files,
        "x.md",
        "it's.md",
        "n.md",
        &text.replace("(x.md", "(it%27s.md").replace("=x.md#", "=it%27s.md#"),
    );
    check_rename(&files, "x y.png", "p/x y.png", "n.md", &text.replace("./x y", "./p/x y"));
    check_rename(
        &files,
        "n.md",
        "m/n.md",
        "m/n.md",
        &text.replace("(x.md", "(../x.md").replace("=x.md#", "=../x.md#").replace("./x y", "../x y"),
    );
}

#[test]
fn a_character_written_as_its_number_is_part_of_the_path() {
    let text = "[a](p&#101;ople/x.md#part) <a href='p&#101;ople/x.md#part'>a</a>\n";
    let expected = "[a](folk/x.md#part) <a href='folk/x.md#part'>a</a>\n";
    check_rename(&[("n.md", text), ("people/x.md", "")], "people", "folk", "n.md", expected);
}

#[test]
fn a_question_to_a_server_is_no_part_of_the_path() {
    let text = "![a](p/x.png?raw=true) [b](p/x.md?plain=1#part) [c](p/who?.md)\n";
    let files = [("n.md", text), ("p/x.md", ""), ("p/x.png", ""), ("p/who?.md", "")];
    check_rename(&files, "p", "q", "n.md", &text.replace("p/", "q/"));
}

#[test]
fn what_one_reader_shows_and_another_does_not_is_followed() {
    // Readers without comments, and without mathematics.
    let text = "%% [a](x.md) [b](x.md \"t\") <a href=x.md>c</a> %% costs $a [d](x.md) and b$ so\n";
    check_rename(&[("n.md", text), ("x.md", "")], "x.md", "z.md", "n.md", &text.replace("x.md", "z.md"));
    check_rename(&[("n.md", text)], "n.md", "a/n.md", "a/n.md", text);
}

#[test]
fn a_link_out_of_the_memory_leads_there_from_the_new_place() {
    let text =
        "[a](../x.md#part) ![b](<a/../../y z/>) <img srcset=\"a/../p.png 1x, a/../q,1.png 2x\"> [c](./q.md) [[../x]]\n";
    let files = [("n.md", text), ("q,1.png", ""), ("p.png", "")];
    let expected = "[a](../../../x.md#part) ![b](<../../../y z/>) <img srcset=\"../../p.png 1x, ../../q,1.png 2x\"> [c](./q.md) [[../x]]\n";
    check_rename(&files, "n.md", "a/b/n.md", "a/b/n.md", expected);
    check_rename(&files, "n.md", "m.md", "m.md", text);
}

#[test]
fn an_address_from_the_root_and_a_name_in_another_form_are_followed() {
    let text = "<a href='/p/x.md'>a</a> [b](o\u{308}/y.md) [c](%C3%B6/y.md)\n";
    let files = [("n.md", text), ("p/x.md", ""), ("\u{f6}/y.md", "")];
    check_rename(&files, "p", "q", "n.md", &text.replace("/p/", "/q/"));
    check_rename(&files, "\u{f6}/y.md", "q/y.md", "n.md", "<a href='/p/x.md'>a</a> [b](q/y.md) [c](q/y.md)\n");
}

#[test]
fn what_only_looks_like_a_question_or_a_number_stays_in_the_name() {
    let text = "[a](Dr.Who?.md) [b](B&#h) [c](x.md&#35;h) <img src=x.md/>\n";
    let files = [("n.md", text), ("Dr.Who?.md", ""), ("Dr.Who.md", ""), ("B&.md", ""), ("x.md", "")];
    check_rename(&files, "Dr.Who.md", "moved.md", "n.md", text);
    check_rename(&files, "B&.md", "C.md", "n.md", &text.replace("B&#h", "C#h"));
    check_rename(&files, "x.md", "y.md", "n.md", text);
}

#[test]
fn html_that_is_shown_as_it_is_stays() {
    let text = "`<a href=\"x.md\">` <!-- <a href=\"x.md\"> -->\n\n    <a href=\"x.md\">\n\n<script>\nlet a = '<a href=\"x.md\">';\n</script>\n\n\\<a href=\"x.md\">\n";
    check_rename(&[("n.md", text), ("x.md", "")], "x.md", "z.md", "n.md", text);
}

#[test]
fn what_is_no_path_of_a_file_stays() {
    let text = "[todo]: call\n[a](https://x.y/x.md) [b](?x.md) [[x]](later)\n";
    check_rename(&[("n.md", text), ("x.md", ""), ("z/call.md", "")], "z/call.md", "z/ring.md", "n.md", text);
}

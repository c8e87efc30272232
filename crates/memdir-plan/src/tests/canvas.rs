//! Canvases: a rename leaves each card on the file that it showed, and every other byte as it was.
//!
//! What a canvas says is read by `serde_json`, and a path on it goes from the root; no code of ours is asked.

use proptest::prelude::*;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use super::*;

const BOARD: &str = "{\n\t\"nodes\":[\n\t\t{\"id\":\"1\",\"type\":\"file\",\"file\":\"a/x.md\",\"subpath\":\"#H\",\"x\":0},\r\n\
    \t\t{\"file\":\"a\\/p.png\", \"type\":\"file\"},\n\
    \t\t{\"type\":\"group\",\"label\":\"a/x.md\",\"background\":\"a/p.png\"},\n\
    \t\t{\"type\":\"text\",\"text\":\"see [[x#H|the \\\"x\\\"]]\\n\\u0060[[x]]\\u0060 and [X](a/x.md)\"},\n\
    \t\t{\"type\":\"link\",\"url\":\"a/x.md\"}\n\t],\n\t\"edges\":[{\"id\":\"a/x.md\"}]\n}";

fn renamed(tree: &MapTree, from: &str, to: &str) -> MapTree {
    let (entry, after) = one(tree, json!({"action": "rename_file", "path": from, "new_path": to}));
    assert_eq!(entry["ok"], true, "{entry}");
    after
}

fn text<'t>(tree: &'t MapTree, name: &str) -> &'t str {
    std::str::from_utf8(tree.get(name).unwrap()).unwrap()
}

#[test]
fn a_rename_takes_the_cards_along() {
    let tree = MapTree::of([("a/x.md", "# H\n"), ("a/p.png", "x"), ("b/board.canvas", BOARD)]);
    let note = renamed(&tree, "a/x.md", "c/\u{e9} 1.md");
    // The file escapes slashes somewhere and has no letter beyond ASCII, so what is new in it is written so, too.
    let expected = BOARD
        .replacen("\"file\":\"a/x.md\"", "\"file\":\"c\\/\\u00e9 1.md\"", 1)
        .replacen("[[x#H", "[[\\u00e9 1#H", 1)
        .replacen("(a/x.md)", "(c\\/\\u00e9%201.md)", 1);
    assert_eq!(text(&note, "b/board.canvas"), expected);
    let picture = renamed(&tree, "a/p.png", "q.png");
    let expected = BOARD.replacen("\"a\\/p.png\"", "\"q.png\"", 1).replacen(":\"a/p.png\"", ":\"q.png\"", 1);
    assert_eq!(text(&picture, "b/board.canvas"), expected);
    let folder = renamed(&tree, "a", "z");
    let value: Json = serde_json::from_str(text(&folder, "b/board.canvas")).unwrap();
    let says = |at: usize, key: &str| value["nodes"][at][key].as_str().unwrap();
    assert_eq!((says(0, "file"), says(1, "file"), says(2, "background")), ("z/x.md", "z/p.png", "z/p.png"));
    assert_eq!((says(2, "label"), says(4, "url")), ("a/x.md", "a/x.md"));
    // A canvas that moves itself needs nothing: its paths go from the root.
    assert_eq!(text(&renamed(&tree, "b/board.canvas", "c/d/e.canvas"), "c/d/e.canvas"), BOARD);
}

/// A text that is put in anywhere leaves no JSON.
#[test]
fn no_action_edits_a_canvas_as_text() {
    let tree = MapTree::of([("b/board.canvas", BOARD)]);
    for action in [
        json!({"action": "update_file", "path": "b/board.canvas", "old_content": "nodes", "new_content": "no\"des"}),
        json!({"action": "append_file", "path": "b/board.canvas", "content": "x"}),
        json!({"action": "insert_text", "path": "b/board.canvas", "line": 0, "content": "x"}),
        json!({"action": "set_fact", "path": "b/board.canvas", "key": "a", "value": "b"}),
    ] {
        let (entry, after) = one(&tree, action);
        assert_eq!(entry["error"]["code"], "unsupported_file", "{entry}");
        assert_eq!(text(&after, "b/board.canvas"), BOARD);
    }
}

#[test]
fn what_is_no_canvas_is_left_alone_and_told() {
    let bad = [("bad.canvas", "{\"nodes\":[{\"type\":\"file\",\"file\":\"a.md\"}"), ("list.canvas", "[\"a.md\"]")];
    let mut tree = MapTree::of(bad.into_iter().chain([("a.md", ""), ("empty.canvas", "")]));
    tree.insert(&path("bytes.canvas"), b"{\"nodes\":[{\"type\":\"file\",\"file\":\"a.md\",\"x\":\"\xff\"}]}");
    let (_, plan) = run(&tree, &[json!({"action": "rename_file", "path": "a.md", "new_path": "b.md"})]);
    let issues: Vec<_> = plan.issues().iter().map(|issue| (issue.code, issue.index, issue.message.as_str())).collect();
    let message = "`bad.canvas`, `bytes.canvas`, `list.canvas` were not looked at: too large, or no canvas";
    assert_eq!(issues, [("notes_skipped", Some(1), message)]);
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    for name in ["bad.canvas", "list.canvas", "bytes.canvas", "empty.canvas"] {
        assert_eq!(after.get(name), tree.get(name), "{name}");
    }
}

#[test]
fn a_canvas_counts_as_the_batch_has_left_it() {
    let tree = MapTree::of([("a/x.md", "# H\n"), ("a/p.png", "x"), ("b/board.canvas", BOARD)]);
    let calls = [
        json!({"action": "rename_file", "path": "a/x.md", "new_path": "a/y.md"}),
        json!({"action": "rename_file", "path": "b", "new_path": "c"}),
        json!({"action": "rename_file", "path": "a", "new_path": "d"}),
    ];
    let (outcomes, plan) = run(&tree, &calls);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "{outcomes:?}");
    let mut after = tree.clone();
    after.apply(plan.steps()).unwrap();
    let value: Json = serde_json::from_str(text(&after, "c/board.canvas")).unwrap();
    assert_eq!((&value["nodes"][0]["file"], &value["nodes"][1]["file"]), (&json!("d/y.md"), &json!("d/p.png")));
    assert_eq!(undone(plan.steps(), &after), tree);
}

/// A part of a canvas as it is written.
#[derive(Clone, Debug)]
enum Piece {
    /// What nobody may touch.
    Fixed(String),
    /// The inside of a string that is a path, and what it says.
    Path(String, String),
    /// The inside of `[[` and `]]` in the text of a card, and what it says.
    Link(String, String),
}

/// The files there are: names of one letter and of several, in both forms, twins in other folders.
const FILES: &[&str] = &[
    "one.md",
    "d/two.md",
    "d/e/thr\u{e9}e.md",
    "d/e/fou\u{301}r.md",
    "d/\u{1f600} five.md",
    "p.png",
    "d/p.png",
    "f/g.canvas",
    "it's.md",
];

/// Writes what is said as a string of JSON, each letter in one of the ways in which it can be.
fn written(says: &str, ways: &[u8]) -> String {
    let mut ways = ways.iter().cycle();
    says.chars().fold(String::new(), |written, letter| {
        let units = || letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
        match (ways.next().unwrap(), letter) {
            (_, '"' | '\\') => format!("{written}\\{letter}"),
            (_, '\n') => format!("{written}\\n"),
            (0, '/') => format!("{written}\\/"),
            (1, _) => written + &units(),
            _ => format!("{written}{letter}"),
        }
    })
}

fn ways() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..6u8, 1..9)
}

/// One node, as pieces.
fn any_node() -> impl Strategy<Value = Vec<Piece>> {
    let said = prop::sample::select([FILES, &["gone.md", "d", "", "./one.md", "One.md"]].concat());
    let said = (said, any::<bool>()).prop_map(|(said, is_other)| {
        // The other Unicode form is the same path.
        if is_other { said.nfd().collect::<String>() } else { said.to_owned() }
    });
    let fixed = |text: &str| Piece::Fixed(text.to_owned());
    let file = (said.clone(), ways(), 0..4usize).prop_map(move |(said, ways, form)| {
        let path = Piece::Path(written(&said, &ways), said.clone());
        match form {
            0 => vec![fixed("{\"id\":\"1\",\"type\":\"file\",\"file\":\""), path, fixed("\",\"x\":1e2}")],
            1 => vec![fixed("{ \"file\" :\t\"one.md\",\"f\\u0069le\":\""), path, fixed("\" ,\r\n\"type\":\"file\"}")],
            2 => vec![fixed("{\"type\":\"group\",\"label\":\"one.md\",\"background\":\""), path, fixed("\"}")],
            _ => {
                vec![fixed("{\"type\":\"link\",\"file\":\"one.md\",\"type\":\"file\",\"file\":\""), path, fixed("\"}")]
            }
        }
    });
    let stems = prop::sample::select(vec!["one", "two", "five", "thr\u{e9}e", "gone"]);
    let card = (stems, ways(), ways()).prop_map(move |(stem, one, other)| {
        let stem = if stem == "five" { "\u{1f600} five" } else { stem };
        vec![
            Piece::Fixed(format!("{{\"type\":\"text\",\"text\":\"{}", written("a \"b\" \u{1f600}\n/ [[", &one))),
            Piece::Link(written(stem, &other), stem.to_owned()),
            Piece::Fixed(format!("{}\"}}", written("|\u{e9}]] `[[one]]` \\ d/two.md", &one))),
        ]
    });
    let other = prop::sample::select(vec![
        "7",
        "{}",
        "{\"type\":\"link\",\"url\":\"one.md\"}",
        "{\"type\":\"x\",\"file\":\"one.md\"}",
    ]);
    prop_oneof![4 => file, 2 => card, 1 => other.prop_map(move |text| vec![Piece::Fixed(text.to_owned())])]
}

fn any_canvas() -> impl Strategy<Value = Vec<Piece>> {
    let heads = vec![
        "{\"nodes\":[",
        "\u{feff}{\"edges\":[{\"file\":\"one.md\"}],\r\n \"nodes\" : [\t",
        "{\"nodes\":[{\"type\":\"file\",\"file\":\"one.md\"}],\"nodes\":[",
    ];
    let tails = vec!["]}", "\n]\r\n}\n", "],\"one.md\":{\"type\":\"file\",\"file\":\"one.md\"}}"];
    let (heads, tails) = (prop::sample::select(heads), prop::sample::select(tails));
    (heads, prop::collection::vec(any_node(), 0..6), tails).prop_map(|(head, nodes, tail)| {
        let fixed = |text: &str| vec![Piece::Fixed(text.to_owned())];
        let nodes = nodes.join(&Piece::Fixed(",\n".to_owned()));
        [fixed(head), nodes, fixed(tail)].concat()
    })
}

/// What the inside of a string says.
fn meaning(inside: &str) -> String {
    serde_json::from_str(&format!("\"{inside}\"")).unwrap()
}

/// Where the string ends whose inside comes first.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    text.find(|letter| {
        let is_end = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        is_end
    })
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_card_shows_the_file_that_it_showed(
        pieces in any_canvas(),
        (from, to) in prop::sample::select(vec![
            ("one.md", "new.md"), ("one.md", "d/n\u{fc} \u{1f600}.md"), ("d/two.md", "new \"2\".md"), ("d", "h/i"), ("d/e", "e"),
            ("d/p.png", "q.png"), ("p.png", "d/e/\u{e9}.png"), ("f/g.canvas", "g.canvas"), ("d/e/thr\u{e9}e.md", "x.md"),
            ("d/\u{1f600} five.md", "d/5.md"), ("it's.md", "its.md"),
        ]),
    ) {
        let to = to.replace('"', "'");
        let mut tree = MapTree::default();
        FILES.iter().for_each(|name| tree.insert(&path(name), b"{}"));
        let board = pieces.iter().map(|piece| match piece {
            Piece::Fixed(text) | Piece::Path(text, _) | Piece::Link(text, _) => text.as_str(),
        });
        let board = board.collect::<String>();
        tree.insert(&path("f/board.canvas"), board.as_bytes());
        let (outcomes, plan) = run(&tree, &[json!({"action": "rename_file", "path": from, "new_path": to})]);
        prop_assert!(outcomes[0].result.is_ok(), "{:?}", outcomes);
        prop_assert!(plan.issues().is_empty(), "{:?} for {}", plan.issues(), board);
        let mut after = tree.clone();
        after.apply(plan.steps()).unwrap();
        let now = text(&after, "f/board.canvas");
        serde_json::from_str::<Json>(now.trim_start_matches('\u{feff}')).unwrap();
        let called = |file: &str| match file.strip_prefix(from) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{to}{rest}"),
            _ => file.to_owned(),
        };
        let form = |name: &str| name.nfc().collect::<String>();
        let mut rest = now;
        for piece in &pieces {
            let (inside, says, end) = match piece {
                Piece::Fixed(text) => {
                    prop_assert!(rest.starts_with(text.as_str()), "{:?} is not at {:?}", text, rest);
                    rest = rest.strip_prefix(text.as_str()).unwrap();
                    continue;
                }
                Piece::Path(inside, says) => (inside, says, string_end(rest)),
                Piece::Link(inside, says) => {
                    // In any writing of it: a bar follows.
                    let ends = [rest.find("|"), rest.find("\\u007C")];
                    (inside, says, ends.into_iter().flatten().min().unwrap())
                }
            };
            let (found, after) = rest.split_at(end);
            rest = after;
            let is_link = matches!(piece, Piece::Link(..));
            let plain = says.strip_prefix("./").unwrap_or(says);
            let shown = FILES.iter().find(|file| match is_link {
                true => form(file.rsplit('/').next().unwrap()) == form(&format!("{says}.md")),
                false => form(file) == form(plain),
            });
            let new = shown.map(|file| (*file, called(file))).filter(|(file, new)| file != new);
            let expected = new.map(|(file, new)| match is_link {
                true if file.rsplit('/').next() == new.rsplit('/').next() => says.clone(),
                true => new.rsplit('/').next().unwrap().trim_end_matches(".md").to_owned(),
                false => new,
            });
            match expected {
                Some(expected) if expected != *says => prop_assert_eq!(meaning(found), expected),
                Some(_) | None => prop_assert_eq!(found, inside),
            }
        }
        prop_assert_eq!(rest, "");
        prop_assert_eq!(undone(plan.steps(), &after), tree);
    }
}

//! What `search_files` finds, and what it shows.

use serde_json::json;

use super::*;

const ACME: &str = "---\ntags: [work]\n---\n# Acme\n\n## Basic Information\n\n- kind: company\n- founder: [[user]]\n\n## Old\n\nA Company of old.\n";

fn tree() -> MapTree {
    MapTree::of([
        ("entities/acme.md", ACME),
        ("entities/jane_doe.md", "# Jane\n\nWorks at the company in LONDON.\nLondon is far. london!\n"),
        ("entities/notes.txt", "London"),
        ("user.md", "- city: London\r\n- age: 36\r\n"),
    ])
}

/// The answer to a search, and the issues that came with it.
#[track_caller]
fn answer(tree: &MapTree, mut search: Json) -> (Json, Vec<Issue>) {
    search["action"] = json!("search_files");
    let (outcomes, plan) = run(tree, &[search]);
    let entry = serde_json::to_value(&outcomes[0]).unwrap();
    assert!(entry["ok"] == json!(true), "{entry}");
    (entry["value"].clone(), plan.issues().to_vec())
}

#[track_caller]
fn search(tree: &MapTree, search: Json) -> Json {
    let (value, issues) = answer(tree, search);
    assert_eq!(issues, []);
    value
}

/// Each hit as `path:first-last`.
#[track_caller]
fn hits(tree: &MapTree, asked: Json) -> Vec<String> {
    let found = search(tree, asked);
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(found["total"], json!(hits.len()), "{found}");
    let shown = |hit: &Json| format!("{}:{}-{}", hit["path"].as_str().unwrap(), hit["lines"][0], hit["lines"][1]);
    hits.iter().map(shown).collect()
}

#[track_caller]
fn fails(tree: &MapTree, mut search: Json) -> (String, String, String) {
    search["action"] = json!("search_files");
    let (entry, _) = one(tree, search);
    let text = |key: &str| entry["error"][key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"), text("hint"))
}

#[test]
fn accents_are_found_in_either_form_of_unicode() {
    let tree = MapTree::of([("a.md", "a cafe\u{301} here\n"), ("b.md", "a CAF\u{c9}\n"), ("c.md", "cafes\n")]);
    for query in ["caf\u{e9}", "cafe\u{301}"] {
        assert_eq!(hits(&tree, json!({"query": query, "mode": "text"})), ["a.md:1-1", "b.md:1-1"]);
        assert_eq!(hits(&tree, json!({"query": format!("a {query}$| {query} h"), "mode": "regex"})), ["a.md:1-1"]);
    }
}

#[test]
fn text_finds_the_query_as_it_stands_in_any_case() {
    let found = search(&tree(), json!({"query": "london", "mode": "text"}));
    let expected = json!({"query": "london", "hits": [
        {"path": "entities/jane_doe.md", "heading": "Jane", "lines": [3, 4],
         "snippet": "Works at the company in LONDON.\nLondon is far. london!", "score": 2.0, "why": ["text"], "state": null},
        {"path": "user.md", "heading": null, "lines": [1, 1], "snippet": "- city: London", "score": 1.0, "why": ["text"],
         "state": null},
    ], "total": 2, "cursor": null, "left_out": 0, "nothing_known": false, "missing": [], "searched_for": null, "source": "scan"});
    assert_eq!(found, expected);
    let text = |query: &str| hits(&tree(), json!({"query": query, "mode": "text"}));
    assert_eq!(text("KIND: COMPANY"), ["entities/acme.md:8-8"]);
    assert_eq!(text("- age: 36"), ["user.md:2-2"], "a line ends before its CR LF");
    assert_eq!(text("a.e"), [""; 0], "no pattern");
    assert_eq!(text("[[user]]\n"), ["entities/acme.md:9-9"]);
    assert_eq!(text("tags"), ["entities/acme.md:2-2"]);
    let folded = MapTree::of([("a.md", "ΣΊΣΥΦΟΣ und Straße und ſ")]);
    assert_eq!(hits(&folded, json!({"query": "σίσυφος", "mode": "text"})), ["a.md:1-1"]);
    assert_eq!(hits(&folded, json!({"query": "S", "mode": "text"})), ["a.md:1-1"]);
}

#[test]
fn regex_is_matched_line_by_line() {
    let regex = |query: &str| hits(&tree(), json!({"query": query, "mode": "regex"}));
    assert_eq!(regex("^- (city|kind): [A-Z]"), ["user.md:1-1"]);
    assert_eq!(regex(r"36$"), ["user.md:2-2"], "a line ends before its CR LF");
    assert_eq!(regex(r"London\s*$"), ["user.md:1-1"]);
    assert_eq!(regex(r"(?i)^works.*london"), ["entities/jane_doe.md:3-3"]);
    assert_eq!(regex(r"London[^x]- age"), [""; 0], "no match goes over a line end");
    assert_eq!(regex(r"(?s)London.*age"), [""; 0]);
    assert_eq!(regex(r"^# \w+$").len(), 2);
    let marked = MapTree::of([("a.md", "\u{feff}# Head\nx")]);
    assert_eq!(hits(&marked, json!({"query": "^# Head", "mode": "regex"})), ["a.md:1-1"], "no byte order mark");
}

#[test]
fn what_matches_nothing_at_all_matches_every_line_once() {
    let tree = MapTree::of([("a.md", "one\n\ntwo\n"), ("b.md", "x"), ("empty.md", "")]);
    for pattern in ["x*", "^", "$", "(?:)", r"\b|"] {
        let found = search(&tree, json!({"query": pattern, "mode": "regex"}));
        let scores: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| hit["score"].clone()).collect();
        assert_eq!(scores, [json!(3.0), json!(1.0)], "{pattern}");
    }
    assert_eq!(hits(&tree, json!({"query": "^$", "mode": "regex"})), ["a.md:2-2"]);
}

/// The first of the lines of one note that match, or 0, and how many do.
#[track_caller]
fn matching_lines(tree: &MapTree, regex: &str) -> (u64, u64) {
    let found = search(tree, json!({"query": regex, "mode": "regex"}));
    let hit = &found["hits"][0];
    (
        hit["lines"][0].as_u64().unwrap_or(0),
        hit["score"].as_f64().map_or(0, |score| format!("{score:.0}").parse().unwrap()),
    )
}

#[test]
fn every_anchor_is_that_of_a_line() {
    let odd = MapTree::of([("a.md", "one#\r\n#two\r\n\r\nthree\n#four\nfo\n#")]);
    for (query, first, count) in [
        ("^#", 2, 3),
        (r"\A#", 2, 3),
        ("(?-m)^#", 2, 3),
        ("(?-R)^#", 2, 3),
        ("o$", 2, 2),
        (r"o\z", 2, 2),
        ("(?-m)o$", 2, 2),
        ("(?-R)o$", 2, 2),
        (r"\A\z", 3, 1),
        (r"\A#\z", 7, 1),
        (r"(?:\Aone|fo\z)", 1, 2),
        (r".\A#", 0, 0),
        (r"o\z.", 0, 0),
    ] {
        assert_eq!(matching_lines(&odd, query), (first, count), "{query}");
    }
}

/// What a process has taken holds for all its threads, so this test is run once more, alone, in a process of its own.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the test runs itself, and reads what the process has taken")]
#[test]
fn a_pattern_that_is_too_large_takes_little_memory() {
    const ALONE: &str = "MEMDIR_TEST_ALONE";
    const NAME: &str = "tests::find::a_pattern_that_is_too_large_takes_little_memory";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        let ran = alone.args(["--exact", NAME, "--test-threads", "1"]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&ran.stderr));
        return;
    }
    for query in [r"\w".repeat(8_000), r"(?i)\pL".repeat(2_000), r"(?i)[^\W\d]".repeat(1_000)] {
        let (code, said, _) = fails(&tree(), json!({"query": query, "mode": "regex"}));
        assert_eq!((code.as_str(), said.as_str()), ("invalid_pattern", "the pattern is too large"));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")).unwrap();
    assert!(most.parse::<u64>().unwrap() < 150 << 10, "{most} KiB");
}

#[test]
fn every_pattern_answers_or_teaches() {
    let teaches = |query: &str, message: &str| {
        let (code, said, hint) = fails(&tree(), json!({"query": query, "mode": "regex"}));
        assert_eq!((code.as_str(), said.as_str()), ("invalid_pattern", message), "{query}");
        assert!(hint.contains("\"mode\":\"text\""), "{hint}");
    };
    teaches("é(b", "the pattern cannot be read at character 2, `(b`: unclosed group");
    teaches(
        "[z-a]",
        "the pattern cannot be read at character 2, `z-a]`: invalid character class range, the start must be <= the end",
    );
    teaches("a{99999}{99999}", "the pattern is too large");
    teaches(r"\w{2000}", "the pattern is too large");
    teaches(r"a\nb", "the pattern asks for a line end, and each line is searched alone, without its end");
    teaches(r"(?-u)\xff", r"the pattern cannot be read at character 6, `\xff`: pattern can match invalid UTF-8");
    let (_, said, _) = fails(&tree(), json!({"query": "(?=a)b", "mode": "regex"}));
    assert!(said.contains("look-around"), "{said}");
    let (_, said, _) = fails(&tree(), json!({"query": "(".repeat(10_000), "mode": "regex"}));
    assert!(said.contains("cannot be read at character"), "{said}");
    let odd = MapTree::of([("a.md", "x\u{0}y\n#o\nÿ λ=1\naab\n")]);
    for (query, first, count) in [
        (r"\x00", 1, 1),
        (r"\xff", 3, 1),
        (".*.*.*=.*", 3, 1),
        ("(a*)*b", 4, 1),
        (r"[\s\S]", 1, 4),
        (r"\p{Greek}", 3, 1),
        ("(?R)$", 1, 4),
        ("|", 1, 4),
        (r"[^\w\W]", 0, 0),
    ] {
        assert_eq!(matching_lines(&odd, query), (first, count), "{query}");
    }
    let (code, _, hint) = fails(&tree(), json!({"query": "a\nb", "mode": "text"}));
    assert_eq!((code.as_str(), hint.as_str()), ("invalid_pattern", "send the one line that says most"));
    for mode in ["ranked", "text", "regex", "name"] {
        let (code, said, _) = fails(&tree(), json!({"query": "\n", "mode": mode}));
        assert_eq!((code.as_str(), said.as_str()), ("invalid_action", "action 1, `search_files`: `query` is empty"));
        assert_eq!(fails(&tree(), json!({"query": "x".repeat(20_000), "mode": mode})).0, "too_large");
    }
}

#[test]
fn names_are_found_by_how_well_they_fit() {
    let tree = MapTree::of([
        ("a/ada.md", "# Ada\n"),
        ("ada/x.md", "\n"),
        ("ada_lovelace.md", "---\na: b\n---\n\nfirst\n"),
        ("canada.md", ""),
        ("ÁDA.md", "x"),
        ("ada.txt", "x"),
    ]);
    let name = |query: &str| hits(&tree, json!({"query": query, "mode": "name"}));
    assert_eq!(name("Ada"), ["a/ada.md:1-1", "ÁDA.md:1-1", "ada_lovelace.md:5-5", "canada.md:1-1", "ada/x.md:1-1"]);
    assert_eq!(name("ada.md"), ["a/ada.md:1-1", "ÁDA.md:1-1", "ada_lovelace.md:5-5", "canada.md:1-1"]);
    assert_eq!(name("a/ada"), ["a/ada.md:1-1"]);
    assert_eq!(name("ada_lovelase"), ["ada_lovelace.md:5-5", "a/ada.md:1-1"], "the nearest, where none has it");
    assert_eq!(name("zzzz"), [""; 0]);
    assert_eq!(search(&tree, json!({"query": "ada_lovelase", "mode": "name"}))["searched_for"], Json::Null);
}

#[test]
fn ranked_finds_the_passage_that_answers() {
    let found = search(&tree(), json!({"query": "which company did the founder make"}));
    assert_eq!(found["hits"][0]["path"], json!("entities/acme.md"));
    assert_eq!(found["hits"][0]["lines"], json!([6, 9]));
    assert_eq!(found["hits"][0]["heading"], json!("Basic Information"));
    assert_eq!(found["hits"][0]["snippet"], json!("- kind: company\n- founder: [[user]]"));
    assert_eq!(found["hits"][1]["path"], json!("entities/jane_doe.md"));
    assert_eq!(found["total"], json!(2));
    let ranked = |query: &str| hits(&tree(), json!({"query": query}));
    assert_eq!(ranked("jané DOE"), ["entities/jane_doe.md:1-4"], "the path and headings count");
    assert_eq!(ranked("nowhere"), [""; 0]);
    assert_eq!(ranked("[["), ["entities/acme.md:9-9"], "what holds no word is looked for as it stands");
    let tree = MapTree::of([
        ("a.md", "我住在北京。\n\n猫が好き"),
        ("b.md", "東京"),
        ("c.md", "GitHub\n"),
        ("d.md", "# Tea\n\nnothing\n"),
        ("e.md", "tea and nothing\n"),
    ]);
    assert_eq!(hits(&tree, json!({"query": "北京"})), ["a.md:1-1"]);
    assert_eq!(hits(&tree, json!({"query": "猫"})), ["a.md:3-3"], "one character stands in no pair");
    assert_eq!(hits(&tree, json!({"query": "github"})), ["c.md:1-1"]);
    assert_eq!(hits(&tree, json!({"query": "tea"})), ["d.md:1-3", "e.md:1-1"], "a heading counts more");
}

#[test]
fn a_number_is_found_as_it_is_written_with_its_zeros() {
    let long =
        format!("# Anna\n\n- phone: 0043 660 1234567\n- zip: 01067 Dresden\n\n{}", "more of her life\n".repeat(20));
    let tree = MapTree::of([
        ("anna.md", long.as_str()),
        ("1067.md", "1067\n\n1067 1067\n"),
        ("43.md", "43 660\n\n1234567 43\n"),
        ("660.md", "660 43 660 1234567 steps\n"),
        ("clock.md", "at 09:05, 07 12\n"),
    ]);
    let first = |query: &str| search(&tree, json!({"query": query}))["hits"][0]["path"].as_str().unwrap().to_owned();
    for query in ["01067", "0043 660 1234567", "zip 01067"] {
        assert_eq!(first(query), "anna.md", "{query}");
    }
    assert_eq!((first("1067"), first("9 5"), first("012 7")), ("1067.md".into(), "clock.md".into(), "clock.md".into()));
}

#[test]
fn long_passages_and_long_lines_are_cut_around_what_was_found() {
    let mut lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    lines[29] = "the badger sleeps".to_owned();
    lines[31] = "where the badger dug".to_owned();
    let list = lines.join("\n");
    let long = format!("{} badger {}", "words é ".repeat(200), "more ".repeat(200));
    let tree = MapTree::of([("list.md", list.as_str()), ("long.md", long.as_str())]);
    let found = search(&tree, json!({"query": "badger dug", "path": "list.md"}));
    assert_eq!(found["hits"][0]["lines"], json!([25, 32]), "{found}");
    for mode in ["text", "ranked"] {
        let found = search(&tree, json!({"query": "badger", "mode": mode, "path": "long.md"}));
        let snippet = found["hits"][0]["snippet"].as_str().unwrap();
        assert!(snippet.starts_with('…') && snippet.ends_with('…') && snippet.contains("badger"), "{snippet}");
        assert!(snippet.chars().count() <= 300, "{}", snippet.chars().count());
    }
    let beside = "x\n".repeat(9);
    let tree = MapTree::of([("a.md", beside.as_str())]);
    assert_eq!(hits(&tree, json!({"query": "x", "mode": "text"})), ["a.md:1-5"]);
}

fn many() -> MapTree {
    let mut tree = MapTree::default();
    for number in 0..50 {
        let text = "needle\n".repeat(1 + number % 7);
        tree.insert(&path(&format!("n/{number:02}.md")), text.as_bytes());
    }
    tree
}

#[test]
fn pages_join_to_the_whole() {
    let tree = many();
    let whole = search(&tree, json!({"query": "needle", "mode": "text", "limit": 1000}));
    assert_eq!(
        (&whole["total"], &whole["cursor"], whole["hits"].as_array().unwrap().len()),
        (&json!(50), &Json::Null, 50)
    );
    let scores: Vec<f64> = whole["hits"].as_array().unwrap().iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other) && scores.iter().all(|score| *score > 0.0));
    for (limit, budget) in [(7, None), (20, Some(25)), (3, Some(1)), (50, None), (1, None)] {
        let mut hits = Vec::new();
        let mut cursor = Json::Null;
        loop {
            let mut asked = json!({"query": "needle", "mode": "text", "limit": limit});
            if !cursor.is_null() {
                asked["cursor"] = cursor;
            }
            if let Some(budget) = budget {
                asked["budget"] = json!(budget);
            }
            let page = search(&tree, asked);
            assert_eq!(page["total"], json!(50));
            let given = page["hits"].as_array().unwrap();
            let left_out = usize::try_from(page["left_out"].as_u64().unwrap()).unwrap();
            assert!(!given.is_empty() && given.len() + left_out <= limit, "{page}");
            assert!(budget.is_some() || left_out == 0);
            hits.extend(given.clone());
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(json!(hits), whole["hits"], "{limit} {budget:?}");
    }
}

#[test]
fn a_budget_counts_what_is_shown() {
    let tree = MapTree::of([("a.md", "# H\nneedle x\nneedle"), ("b.md", "needle"), ("c.md", "needle")]);
    let budget = |tokens: u32| {
        let page = search(&tree, json!({"query": "needle", "mode": "text", "budget": tokens}));
        (page["hits"].as_array().unwrap().len(), page["left_out"].clone())
    };
    // `a.md`, `H`, `needle x⏎needle`: 20 bytes, 5 tokens; each other one has 10 bytes, 3 tokens.
    assert_eq!(
        [budget(1), budget(7), budget(8), budget(11)],
        [(1, json!(2)), (1, json!(2)), (2, json!(1)), (3, json!(0))]
    );
}

#[test]
fn a_cursor_is_one_that_an_answer_to_the_same_search_gave() {
    let tree = many();
    let page = search(&tree, json!({"query": "needle", "mode": "text", "limit": 3}));
    let cursor = page["cursor"].as_str().unwrap();
    let forged = cursor.replace(".md", "x.md");
    let not_finite = format!("{}{:016x}n/01.md", cursor.get(..8).unwrap(), f64::NAN.to_bits());
    for (query, cursor) in [
        ("needle", "x"),
        ("other", cursor),
        ("needle", ""),
        ("needle", "é".repeat(30).as_str()),
        ("needle", not_finite.as_str()),
    ] {
        let (code, message, hint) = fails(&tree, json!({"query": query, "mode": "text", "cursor": cursor}));
        assert_eq!(code, "invalid_action", "{cursor}");
        assert_eq!(message, "action 1, `search_files`: `cursor` is none that an answer to this query gave");
        assert_eq!(hint, "leave `cursor` out to start with the best");
    }
    // One that names another note goes on from where that would stand.
    search(&tree, json!({"query": "needle", "mode": "text", "cursor": forged}));
}

#[test]
fn a_path_is_a_folder_or_a_note() {
    let at = |path: &str| hits(&tree(), json!({"query": "london", "mode": "text", "path": path}));
    assert_eq!(at("entities"), ["entities/jane_doe.md:3-4"]);
    assert_eq!(at("user.md"), ["user.md:1-1"]);
    let (code, message, hint) = fails(&tree(), json!({"query": "x", "path": "entities/acne.md"}));
    assert_eq!((code.as_str(), message.as_str()), ("not_found", "note `entities/acne.md` does not exist"));
    assert_eq!(hint, "the nearest is `entities/acme.md`");
    assert_eq!(fails(&tree(), json!({"query": "x", "path": "nowhere"})).0, "not_found");
    assert_eq!(fails(&tree(), json!({"query": "x", "path": "entities/notes.txt"})).0, "unsupported_file");
}

#[test]
fn what_is_no_text_is_said() {
    let mut tree = tree();
    tree.insert(&path("bad.md"), b"London \xff");
    tree.insert(&path("picture.png"), b"London \xff");
    for mode in ["text", "regex", "ranked"] {
        let (found, issues) = answer(&tree, json!({"query": "London", "mode": mode}));
        assert_eq!(found["total"], json!(2));
        let [issue] = issues.as_slice() else { panic!("{issues:?}") };
        assert_eq!((issue.code, issue.index), ("notes_skipped", Some(1)));
        assert_eq!(issue.message, "1 note could not be searched: no UTF-8 text, too large, or not readable");
    }
    assert_eq!(hits(&tree, json!({"query": "bad", "mode": "name"})), ["bad.md:1-1"], "its name can be read");
}

#[test]
fn a_folder_that_nobody_lets_us_list_is_said() {
    let mut tree = tree();
    tree.insert_closed(&path("shut/in"));
    tree.insert_closed(&path("shut/out"));
    let told = |search: Json| answer(&tree, search).1.into_iter().map(|issue| issue.message).collect::<Vec<_>>();
    for mode in ["text", "ranked"] {
        let message = "what is in folder `shut/in` and 1 other folder could not be searched: no permission to list it";
        assert_eq!(told(json!({"query": "London", "mode": mode})), [message]);
        let message = "what is in folder `shut/out` could not be searched: no permission to list it";
        assert_eq!(told(json!({"query": "London", "mode": mode, "path": "shut/out"})), [message]);
        assert_eq!(told(json!({"query": "London", "mode": mode, "path": "entities"})), [""; 0]);
    }
    let (_, plan) = run(&tree, &[json!({"action": "rename_file", "path": "user.md", "new_path": "me.md"})]);
    let messages: Vec<_> = plan.issues().iter().map(|issue| (issue.code, issue.message.as_str())).collect();
    let message = "links in folder `shut/in` and 1 other folder were not looked at: no permission to list it";
    assert_eq!(messages, [("notes_skipped", message)]);
}

#[test]
fn a_link_to_a_note_is_no_second_note() {
    let mut tree = tree();
    tree.insert_link(&path("me.md"), &path("user.md"));
    tree.insert_link(&path("entities/me.md"), &path("user.md"));
    tree.insert_link(&path("as_note.md"), &path("entities/notes.txt"));
    let at = |path: Option<&str>| {
        let mut asked = json!({"query": "london", "mode": "text"});
        if let Some(path) = path {
            asked["path"] = json!(path);
        }
        hits(&tree, asked)
    };
    assert_eq!(at(None), ["entities/jane_doe.md:3-4", "as_note.md:1-1", "user.md:1-1"]);
    assert_eq!(at(Some("entities")), ["entities/jane_doe.md:3-4", "entities/me.md:1-1"]);
    assert_eq!(at(Some("me.md")), ["me.md:1-1"]);
}

#[test]
fn sizes_count_what_is_shown() {
    let tree = MapTree::of([("private/s.md", "secret"), ("d/h.md", "hidden"), ("d/a.md", "a"), ("u.md", "- a\n")]);
    let shows = |_: &Call, path: &MemoryPath| !path.as_str().starts_with("private") && path.as_str() != "d/h.md";
    let size = |json: Json, may_show: &(dyn Fn(&Call, &MemoryPath) -> bool + Sync), may_hide: bool| {
        let may_hide = move |_: &Call| may_hide;
        let mut planner = Planner::new(&tree, &Limits::default()).showing(may_show, &may_hide);
        let value = serde_json::to_value(planner.answer(&cleared(call(1, &json)))).unwrap()["value"].take();
        value.get("size").cloned().unwrap_or(value)
    };
    let (all, folder) = (json!({"action": "get_size"}), json!({"action": "get_size", "path": "d"}));
    let info = json!({"action": "get_file_info", "path": "d"});
    let sizes = [&all, &folder, &info].map(|json| size(json.clone(), &shows, true));
    assert_eq!(sizes, [json!(5), json!(1), json!(1)]);
    assert_eq!(size(all, &|_, _| true, false), json!(17));
    let listed = size(json!({"action": "list_directory"}), &shows, true);
    assert_eq!(
        listed,
        json!([{"name": "d", "kind": "directory", "size": 1}, {"name": "u.md", "kind": "file", "size": 4}])
    );
}

#[test]
fn what_may_not_be_shown_is_not_there() {
    let tree = tree();
    let hidden = |_: &Call, path: &MemoryPath| !path.as_str().starts_with("entities/jane");
    for mode in ["text", "regex", "ranked", "name"] {
        let query = if mode == "name" { "jane_doe" } else { "London" };
        let json = json!({"action": "search_files", "query": query, "mode": mode});
        let mut planner = Planner::new(&tree, &Limits::default()).showing(&hidden, &|_| true);
        let outcome = serde_json::to_value(planner.answer(&cleared(call(1, &json)))).unwrap();
        let expected = usize::from(mode != "name");
        assert_eq!(outcome["value"]["total"], json!(expected), "{outcome}");
        assert!(!outcome.to_string().contains("jane_doe.md"), "{outcome}");
        assert!(planner.finish().issues().is_empty());
    }
}

#[test]
fn a_search_sees_what_the_batch_wrote_before() {
    let calls = [
        json!({"action": "create_file", "path": "new.md", "content": "a needle\n"}),
        json!({"action": "rename_file", "path": "entities/jane_doe.md", "new_path": "people/jane.md"}),
        json!({"action": "delete_file", "path": "user.md"}),
        json!({"action": "search_files", "query": "needle", "mode": "text"}),
        json!({"action": "search_files", "query": "london", "mode": "text"}),
        json!({"action": "search_files", "query": "london", "mode": "ranked", "path": "people"}),
    ];
    let (outcomes, _) = run(&tree(), &calls);
    let paths = |at: usize| {
        let entry = serde_json::to_value(&outcomes[at]).unwrap();
        let hits = entry["value"]["hits"].as_array().unwrap_or_else(|| panic!("{entry}")).clone();
        hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (paths(3), paths(4), paths(5)),
        (vec!["new.md".to_owned()], vec!["people/jane.md".to_owned()], vec!["people/jane.md".to_owned()])
    );
}

#[test]
fn a_search_ends_when_the_time_is_over() {
    let (tree, stop) = (many(), || true);
    let json = json!({"action": "search_files", "query": "needle", "mode": "text"});
    let mut planner = Planner::new(&tree, &Limits::default()).until(&stop);
    let outcome = planner.answer(&cleared(call(1, &json)));
    assert_eq!(outcome.result.unwrap_err().code, Code::Timeout);
}

#[test]
fn what_was_found_is_marked() {
    let marked = |mode, query: &str, text: &str| -> Vec<String> {
        marks(mode, query, text).into_iter().map(|range| text.get(range).unwrap().to_owned()).collect()
    };
    use memdir_core::action::SearchMode::{Name, Ranked, Regex, Text};
    assert_eq!(marked(Text, "ada", "Ada, ADA\nada"), ["Ada", "ADA", "ada"]);
    assert_eq!(marked(Regex, r"^\w+$", "one\ntwo x\nthree"), ["one", "three"]);
    assert_eq!(marked(Ranked, "the camelCase 北京市", "The CamelCase in 北京市"), ["CamelCase", "北京市"]);
    assert_eq!(marked(Regex, "(", "("), [""; 0]);
    assert_eq!(marked(Name, "x", "x"), [""; 0]);
}

/// One memory with a note for each way in which what is shown can miss the point.
#[test]
fn what_is_shown_says_something() {
    let tree = MapTree::of([
        ("user.md", "# Tom\n\n- wife: [[ann]]\n"),
        ("ann.md", "# Ann\n\n## Basics\n\n- age: 41\n- job: baker\n"),
        ("Zelda.md", "---\nrating: 7\n---\n"),
        ("bare.md", "# Wolframite\n"),
        ("plum.md", "# Plum\n\n## Ingredients\n\n- flour\n"),
        ("door.md", "---\nurl: green-door\n---\n\nThe green door is here.\n"),
        ("list.md", "---\nkind: marble\n---\n\nOf stone.\n"),
    ]);
    let first = |query: &str| {
        let hit = search(&tree, json!({"query": query}))["hits"][0].clone();
        json!([hit["path"], hit["heading"], hit["lines"], hit["snippet"]])
    };
    let by_link = json!(["ann.md", "Basics", [3, 6], "- age: 41\n- job: baker"]);
    assert_eq!(first("how old is my wife"), by_link, "facts, where no word of the question is in the note");
    assert_eq!(first("zelda"), json!(["Zelda.md", null, [2, 2], "rating: 7"]), "not the end of the front matter");
    assert_eq!(first("wolframite"), json!(["bare.md", "Wolframite", [1, 1], "# Wolframite"]));
    assert_eq!(first("plum"), json!(["plum.md", "Ingredients", [1, 5], "- flour"]), "what stands under a heading");
    assert_eq!(
        first("green door"),
        json!(["door.md", null, [5, 5], "The green door is here."]),
        "not the front matter"
    );
    assert_eq!(first("marble"), json!(["list.md", null, [2, 2], "kind: marble"]), "unless it alone says it");
}

#[test]
fn a_page_goes_on_behind_the_note_that_was_last() {
    let note = |number: usize| (format!("n{number:02}.md"), format!("needle {}", "hay ".repeat(10 * number)));
    let mut notes: Vec<_> = (0..30).map(note).collect();
    let tree =
        |notes: &[(String, String)]| MapTree::of(notes.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let first = search(&tree(&notes), json!({"query": "needle", "limit": 10}));
    // A longer note elsewhere makes all others shorter than most.
    notes.push(("z.md".to_owned(), "straw ".repeat(50_000)));
    let next = search(&tree(&notes), json!({"query": "needle", "limit": 100, "cursor": first["cursor"]}));
    let mut given: Vec<_> = [&first, &next].iter().flat_map(|page| page["hits"].as_array().unwrap()).collect();
    given.sort_by_key(|hit| hit["path"].to_string());
    given.dedup_by_key(|hit| hit["path"].clone());
    assert_eq!((given.len(), next["hits"].as_array().unwrap().len()), (30, 20), "{next}");
}

#[test]
fn what_is_shown_holds_what_the_note_was_ranked_for() {
    let facts = "- name: Ana\n- city: Porto\n- languages:\n- tea: green\n";
    let me = format!("# Me\n\nFacts stand one to a line.\n\n{facts}\n## People\n\nNobody yet.\n");
    let long = "One paragraph about the email and how it is sent.\n\n".repeat(2);
    let ann = format!("# Ann\n\n{long}## Reach\n\n- phone: 12\n- email: ann@example.org\n");
    let tree = MapTree::of([("user.md", me.as_str()), ("ann.md", ann.as_str())]);
    let first = |query: &str| search(&tree, json!({"query": query}))["hits"][0].clone();
    let me = first("Where do I live?");
    assert_eq!(
        (&me["path"], &me["lines"], &me["snippet"]),
        (&json!("user.md"), &json!([5, 8]), &json!(facts.trim_end()))
    );
    let ann = first("the email of Ann");
    assert_eq!(ann["snippet"], "- phone: 12\n- email: ann@example.org", "the fact before what only holds the word");
}

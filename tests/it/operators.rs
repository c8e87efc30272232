//! Operators in a query find the notes that the text itself says they should: with an index, without one, alone and
//! beside words. What a note holds is read here by regular expressions and by `pulldown-cmark` alone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use pulldown_cmark::{Event, Options, Parser, Tag};
use regex::Regex;
use serde_json::{Value, json};

use crate::docs::root;
use crate::support::{Env, files};

/// What a reader sees in a note.
#[derive(Debug, Default)]
struct Read {
    tags: Vec<String>,
    /// Lines of open tasks, and of those that are done.
    tasks: [Vec<usize>; 2],
    dates: Vec<String>,
}

fn read(path: &str, text: &str) -> Read {
    let mut read = Read::default();
    let front = Regex::new(r"\A---\n(?s:(.*?)\n)?---\n").unwrap();
    let front =
        front.captures(text).map(|found| (found.get(0).unwrap().end(), found.get(1).map_or("", |yaml| yaml.as_str())));
    let (body, yaml) = front.unwrap_or((0, ""));
    let tags = Regex::new(r"(?m)^tags: ?\[?([^\]\n]*)\]?$|^  - (\w+)$").unwrap();
    for found in tags.captures_iter(yaml) {
        let values = found.get(1).or(found.get(2)).unwrap().as_str();
        read.tags
            .extend(values.split([',', ' ']).filter(|tag| !tag.is_empty()).map(|tag| tag.trim_matches('#').to_owned()));
    }
    let options = Options::ENABLE_TASKLISTS | Options::ENABLE_TABLES | Options::ENABLE_MATH;
    let mut hidden: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(text.get(body..).unwrap(), options).into_offset_iter() {
        let range = range.start + body..range.end + body;
        match event {
            Event::Code(_) | Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::CodeBlock(_)) => {
                hidden.push(range)
            }
            Event::TaskListMarker(is_done) => {
                read.tasks[usize::from(is_done)].push(text.get(..range.start).unwrap().matches('\n').count() + 1);
            }
            _ => {}
        }
    }
    let inline = Regex::new(r"(?:^|\s)#([\w/-]+)").unwrap();
    for found in inline.captures_iter(text.get(body..).unwrap()) {
        let tag = found.get(1).unwrap();
        let is_number = tag.as_str().chars().all(|digit| digit.is_ascii_digit());
        if !is_number && !hidden.iter().any(|range| range.contains(&(body + tag.start()))) {
            read.tags.push(tag.as_str().to_owned());
        }
    }
    let dates = Regex::new(r"(?m)^(?:date|created|updated): ?(\d{4}-\d\d-\d\d)").unwrap();
    read.dates.extend(dates.captures_iter(yaml).map(|found| found[1].to_owned()));
    let named = Regex::new(r"\d{4}-\d\d-\d\d").unwrap();
    read.dates.extend(named.find_iter(path.rsplit('/').next().unwrap()).map(|found| found.as_str().to_owned()));
    read
}

/// The notes that fit an operator; `modified` is the day of those that state none.
fn fitting(notes: &BTreeMap<String, Read>, operator: &str, modified: &str) -> Vec<String> {
    let (name, value) = operator.split_once(':').unwrap();
    let fits = |path: &str, read: &Read| match (name, value) {
        ("tag", value) => read.tags.iter().any(|tag| {
            let tag = tag.to_lowercase();
            tag == value || tag.starts_with(&format!("{value}/"))
        }),
        ("is", value) => !read.tasks[usize::from(value == "done")].is_empty(),
        ("since", value) => read.dates.iter().max().map_or(modified, String::as_str) >= value,
        ("path", value) => {
            let path = path.to_lowercase();
            path.starts_with(value) || path.contains(&format!("/{value}"))
        }
        _ => unreachable!("{operator}"),
    };
    notes.iter().filter(|(path, read)| fits(path, read)).map(|(path, _)| path.clone()).collect()
}

fn paths(found: &Value) -> Vec<String> {
    assert_eq!(found["total"], json!(found["hits"].as_array().unwrap().len()), "{found}");
    found["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

fn search(env: &Env, query: &str) -> Value {
    env.ask(&["search", query, "--limit", "1000"]).exits(0)
}

/// What there is to be asked.
struct Asked<'a> {
    operators: &'a [&'a str],
    words: &'a [&'a str],
    /// The day of the notes that state none.
    modified: &'a str,
}

/// Asks for each operator alone and with some words, with an index and without one; gives how many hits there were.
fn agree(env: Env, asked: &Asked<'_>) -> usize {
    let markdown = files(env.memory()).into_iter().filter(|(path, _)| path.ends_with(".md") && !path.starts_with('.'));
    let notes: BTreeMap<String, Read> =
        markdown.map(|(path, bytes)| (path.clone(), read(&path, std::str::from_utf8(&bytes).unwrap()))).collect();
    let count = agree_by(&env, &notes, asked, "index");
    // Where a rule hides anything, notes are read.
    let env = env.settings("[[rule]]\npath = \"hidden/**\"\nverdict = \"deny\"\n");
    assert_eq!(agree_by(&env, &notes, asked, "scan"), count);
    count
}

fn agree_by(env: &Env, notes: &BTreeMap<String, Read>, asked: &Asked<'_>, source: &str) -> usize {
    let mut count = 0;
    let all: Vec<Vec<String>> = asked.words.iter().map(|word| paths(&search(env, word))).collect();
    for operator in asked.operators {
        let expected = fitting(notes, operator, asked.modified);
        let found = search(env, operator);
        if let Some(kind) = operator.strip_prefix("is:") {
            let place = usize::from(kind == "done");
            let tasks =
                expected.iter().flat_map(|path| notes[path].tasks[place].iter().map(move |line| (path.clone(), *line)));
            let line = |hit: &Value| usize::try_from(hit["lines"][0].as_u64().unwrap()).unwrap();
            let hits = found["hits"].as_array().unwrap().iter();
            let mut hits: Vec<_> = hits.map(|hit| (hit["path"].as_str().unwrap().to_owned(), line(hit))).collect();
            hits.sort();
            assert_eq!(hits, tasks.collect::<Vec<_>>(), "{operator}");
        } else {
            let mut listed = paths(&found);
            listed.sort();
            assert_eq!(listed, expected, "{operator}");
        }
        count += expected.len();
        for (word, all) in asked.words.iter().zip(&all) {
            let left: Vec<String> = all.iter().filter(|path| expected.contains(path)).cloned().collect();
            let query = format!("{operator} {word}");
            let found = search(env, &query);
            assert_eq!(paths(&found), left, "{query}: the same order, and no others");
            assert_eq!(found["source"], source, "{query}");
        }
    }
    count
}

/// Sets the time at which a file was modified.
fn set_modified(file: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_example_memory_is_narrowed_as_its_text_says() {
    let env = Env::new().quick();
    for (path, bytes) in files(&root().join("examples/household")) {
        env.write(&path, &bytes);
        set_modified(&env.at(&path), 1_700_000_000);
    }
    let operators = [
        "tag:family",
        "is:task",
        "is:done",
        "since:2024-06-04",
        "since:2023-11-15",
        "path:people/",
        "path:p",
        "path:2024",
    ];
    // 1,700,000,000 is in 14 November 2023.
    let asked =
        Asked { operators: &operators, words: &["Jane", "garden shed", "who is my sister"], modified: "2023-11-14" };
    let found = agree(env, &asked);
    assert!(found > 10, "{found}");
}

const OPERATORS: [&str; 12] = [
    "tag:work",
    "tag:home",
    "tag:project/x",
    "tag:project",
    "tag:12",
    "is:task",
    "is:done",
    "since:2026-02-13",
    "since:2026-02-14",
    "since:2026-03-02",
    "path:work/",
    "path:2026",
];

#[test]
fn generated_notes_are_narrowed_as_their_text_says() {
    let lines = prop::sample::select(vec![
        "#work",
        "a #project/x of #Work",
        "no#work `#work` #12",
        "```",
        "- [ ] call #home",
        "- [x] paint",
        "* [X] wood",
        "1. [ ] sand",
        "  - [ ] nested",
        "- [] none",
        "- [/] half",
        "[ ] none",
        "> - [ ] quoted",
        "",
        "",
        "# work",
        "<!-- #work -->",
        "    - [ ] code",
        "green paint",
        "(#work)",
        "#work, #home/garden.",
        "- plain",
    ]);
    let front = prop::sample::select(vec![
        "",
        "",
        "---\ntags: [work, home/garden]\n---\n",
        "---\ntags: project/y, w12a\n---\n",
        "---\ntags:\n  - work\n  - b\n---\n",
        "---\ndate: 2026-03-01\ncreated: 2026-01-01\n---\n",
        "---\nupdated: 2026-05-05T10:00:00\n---\n",
        "---\ncreated: unknown\n---\n",
    ]);
    let names = ["a", "work/b", "work/2026-02-02", "2026-04-01 trip/c", "2026-02-28 and 2026-03-02", "d2026-01-01e"];
    let notes = prop::collection::vec((front, prop::collection::vec(lines, 0..12)), names.len());
    let mut runner = TestRunner::new(Config { cases: 6, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&notes, |notes| {
        let env = Env::new().quick();
        for (name, (front, lines)) in names.iter().zip(notes) {
            let path = format!("{name}.md");
            env.write(&path, format!("{front}{}\n", lines.join("\n")));
            set_modified(&env.at(&path), 1_771_000_000);
        }
        agree(env, &Asked { operators: &OPERATORS, words: &["green", "work"], modified: "2026-02-13" });
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn what_a_query_asks_wrongly_is_said() {
    let env = Env::ada();
    let ran = env.run(&["search", "since:soon"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran:?}");
    assert!(ran.stderr.contains("`since:soon` cannot be searched for") && ran.stderr.contains("since:7d"), "{ran:?}");
    fs::write(env.at("new.md"), "today\n").unwrap();
    set_modified(&env.at("user.md"), 86_400);
    let mut found = paths(&search(&env, "since:7d"));
    found.sort();
    assert_eq!(found, ["entities/acme.md", "new.md"], "what was modified lately");
}

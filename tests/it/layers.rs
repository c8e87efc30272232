//! The order of the rooms: every `crate::` path in `src/` points down or stays.
//!
//! Reads text, not syntax; comments and tests are left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// The rooms and their levels. `cli` is the composition root and may start the other edges.
const LEVELS: &[(&str, u8)] = &[
    ("path", 0),
    ("time", 0),
    ("digest", 0),
    ("retry", 0),
    ("action", 0),
    ("catalog", 0),
    ("report", 0),
    ("dialect", 1),
    ("note", 1),
    ("policy", 1),
    ("rank", 1),
    ("plan", 1),
    ("check", 1),
    ("vault", 2),
    ("index", 2),
    ("model", 2),
    ("engine", 3),
    ("agent", 3),
    ("mcp", 4),
    ("web", 4),
    ("cli", 4),
];

/// What may cross a level.
const ACROSS: &[(&str, &str)] = &[
    ("plan", "note"),
    ("plan", "policy"),
    ("plan", "rank"),
    ("rank", "note"),
    ("check", "note"),
    ("cli", "mcp"),
    ("cli", "web"),
    ("agent", "engine"),
];

/// What no line of a room may hold, with the reason.
const NEVER: &[(&[&str], &str, &str)] = &[
    (&["dialect", "note", "policy", "rank", "plan", "check"], r"\basync\b|\.await\b", "pure rooms wait for nothing"),
    (
        &["dialect", "note", "policy", "rank", "plan", "check"],
        r"std::(fs|net|process|env|thread)\b",
        "pure rooms touch nothing",
    ),
    (
        &["dialect", "note", "policy", "rank", "plan", "check"],
        r"std::path\b",
        "below the edges a path is a `MemoryPath`",
    ),
    (
        &["note", "rank", "plan", "check"],
        r"\b(SystemTime|Instant)::now|getrandom",
        "the clock and chance are parameters",
    ),
    (
        &["path", "time", "digest", "retry", "action", "catalog", "report"],
        r"\basync\b|std::(fs|net|process|env|io)\b",
        "words touch nothing",
    ),
    (
        &["vault"],
        r"\bcrate::(note|dialect)\b|pulldown_cmark|std::net\b",
        "the vault knows no Markdown, no dialect, no network",
    ),
    (
        &["index"],
        r"\bcrate::(policy|vault)\b|cap_std|std::(net|process|env)\b",
        "the index has its own file, and never sees the memory",
    ),
    (&["engine"], r"std::(fs|net|env|process)\b|cap_std::", "the engine joins, and touches nothing itself"),
    (&["cli", "mcp", "web"], r"\bAction::[A-Z]\w+\s*(\(|\{)[^)]*=>", "no edge matches on an action"),
];

/// The one line that may: a tree of Python is as deep as the stack it is dropped on has to be.
const EXCEPT: (&str, &str) = ("dialect/python/read.rs", "use std::thread;");

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn level(room: &str) -> Option<u8> {
    LEVELS.iter().find(|(name, _)| *name == room).map(|(_, level)| *level)
}

/// Whether a line in `from` may name `to`.
fn may_use(from: &str, to: &str) -> bool {
    let (Some(above), Some(below)) = (level(from), level(to)) else { return false };
    // Words are read in one order and make up one room.
    from == to || above > below || (above == 0 && below == 0) || ACROSS.contains(&(from, to))
}

/// The files of the source with their rooms; tests are no part of a room.
fn files() -> Vec<(String, PathBuf, String)> {
    let mut found = Vec::new();
    gather(&source(), &mut found);
    found
        .into_iter()
        .filter_map(|path| {
            let inside = path.strip_prefix(source()).unwrap();
            let first = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
            let is_test = inside.iter().any(|part| part == "tests" || part == "tests.rs");
            let text = code(&fs::read_to_string(&path).unwrap());
            (!is_test && !["lib", "main"].contains(&first.as_str())).then_some((first, path, text))
        })
        .collect()
}

fn gather(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
}

/// The rooms that a text names: `crate::room` and `crate::{room, room}`.
fn named(text: &str) -> Vec<String> {
    static ONE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bcrate::([a-z_]+)").unwrap());
    static SEVERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bcrate::\{([^;]*)\}").unwrap());
    static INNER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[,{]\s*)([a-z_]+)").unwrap());
    let mut rooms: Vec<String> = ONE.captures_iter(text).map(|found| found[1].to_owned()).collect();
    for list in SEVERAL.captures_iter(text) {
        rooms.extend(INNER.captures_iter(&list[1]).map(|found| found[1].to_owned()));
    }
    rooms
}

/// The lines of a file before its tests, comments empty.
fn code(text: &str) -> String {
    let code = text.replace("\r\n", "\n");
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines()
        .map(|line| if line.trim_start().starts_with("//") { "\n".to_owned() } else { format!("{line}\n") })
        .collect()
}

#[test]
fn no_arrow_points_up() {
    let mut wrong = Vec::new();
    for (room, path, text) in files() {
        assert!(level(&room).is_some(), "`{room}` has no level: say where it belongs");
        for (number, line) in text.lines().enumerate() {
            for to in named(line).iter().filter(|to| level(to).is_some() && !may_use(&room, to)) {
                wrong.push(format!("{}:{}: `{room}` may not use `{to}`", path.display(), number + 1));
            }
        }
        // Lists of names may stand on several lines.
        for to in named(&text).iter().filter(|to| level(to).is_some() && !may_use(&room, to)) {
            wrong.push(format!("{}: `{room}` may not use `{to}`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_room_does_what_it_never_does() {
    let mut wrong = Vec::new();
    for (rooms, pattern, reason) in NEVER {
        let pattern = Regex::new(pattern).unwrap();
        for (room, path, text) in files().iter().filter(|(room, ..)| rooms.contains(&room.as_str())) {
            for (number, line) in text.lines().enumerate() {
                let is_allowed = path.ends_with(EXCEPT.0) && line == EXCEPT.1;
                if pattern.is_match(line) && !is_allowed {
                    wrong.push(format!("{}:{} ({room}): {reason}: {}", path.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Ambient authority is taken once, in the composition root.
#[test]
fn authority_is_taken_in_one_place() {
    let takes = |text: &str| text.contains("ambient_authority()") || text.contains("open_ambient");
    let takers: Vec<String> = files()
        .iter()
        .filter(|(_, _, text)| takes(text))
        .map(|(_, path, _)| path.strip_prefix(source()).unwrap().display().to_string())
        .collect();
    assert_eq!(takers, ["cli/open.rs"]);
}

/// The rule itself: arrows that it has to tell apart.
#[test]
fn the_rule_goes_red() {
    let down = [("cli", "engine"), ("engine", "vault"), ("vault", "plan"), ("plan", "note"), ("plan", "policy")];
    assert!(down.iter().all(|(from, to)| may_use(from, to)));
    let up = [
        ("path", "dialect"),
        ("plan", "vault"),
        ("plan", "dialect"),
        ("note", "plan"),
        ("policy", "plan"),
        ("check", "plan"),
        ("vault", "index"),
        ("index", "vault"),
        ("vault", "engine"),
        ("engine", "cli"),
        ("mcp", "cli"),
        ("engine", "agent"),
        ("dialect", "policy"),
    ];
    assert!(up.iter().all(|(from, to)| !may_use(from, to)));
    assert_eq!(named("use crate::vault::Vault; x(crate::engine::failure)"), ["vault", "engine"]);
    assert_eq!(named("use crate::{cli::{args, open}, engine::Engine};\nlet x = 1;"), ["cli", "args", "open", "engine"]);
    assert_eq!(code("a\n// crate::cli\n#[cfg(test)]\nmod tests {\nuse crate::cli;"), "a\n\n");
}

//! mem-agent's own rules, written down a second time as simply as possible: a map of files and ten functions. Small
//! blocks at random come out the same.

use std::collections::{BTreeMap, BTreeSet};

use memdir_core::report::Variables;
use memdir_plan::MapTree;
use proptest::prelude::*;

use super::run;

/// A value of Python.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Py {
    Text(String),
    Bool(bool),
    Number(usize),
    None,
}

impl Py {
    fn is_true(&self) -> bool {
        !matches!(self, Self::Bool(false) | Self::Number(0) | Self::None) && *self != Self::Text(String::new())
    }

    fn repr(&self) -> String {
        let text = match self {
            Self::Text(text) => text,
            Self::Bool(flag) => return if *flag { "True" } else { "False" }.to_owned(),
            Self::Number(number) => return number.to_string(),
            Self::None => return "None".to_owned(),
        };
        let mark = if text.contains('\'') && !text.contains('"') { "\"" } else { "'" };
        let mut out = text.replace('\\', "\\\\");
        if mark == "'" {
            out = out.replace('\'', "\\'");
        }
        for (character, escape) in
            [('\n', "\\n"), ('\t', "\\t"), ('\r', "\\r"), ('\u{200b}', "\\u200b"), ('\u{a0}', "\\xa0")]
        {
            out = out.replace(character, escape);
        }
        format!("{mark}{out}{mark}")
    }
}

/// The answer to a block that has set these.
pub(super) fn result(values: &[(&str, Py)]) -> String {
    let pairs: Vec<_> = values.iter().map(|(name, value)| format!("'{name}': {}", value.repr())).collect();
    format!("<result>\n{{{}}}\n</result>", pairs.join(", "))
}

/// A memory as its functions see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

impl Memory {
    pub(super) fn of(files: &BTreeMap<String, String>) -> Self {
        let mut memory = Self::default();
        for (path, text) in files {
            memory.put(path, text);
        }
        memory
    }

    fn put(&mut self, path: &str, text: &str) {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.make(folder);
        }
        self.files.insert(path.to_owned(), text.to_owned());
    }

    fn make(&mut self, folder: &str) {
        for (at, _) in folder.match_indices('/') {
            self.folders.insert(folder.get(..at).unwrap().to_owned());
        }
        self.folders.insert(folder.to_owned());
    }

    pub(super) fn call(&mut self, name: &str, arguments: &[String]) -> Py {
        let path = arguments.first().cloned().unwrap_or_default();
        let error = |words: String| Py::Text(format!("Error: {words}"));
        match name {
            // On purpose: a note that exists is not replaced.
            "create_file" if self.files.contains_key(&path) => error(format!("note `{path}` exists")),
            "create_file" => {
                self.put(&path, arguments.get(1).map_or("", String::as_str));
                Py::Bool(true)
            }
            "update_file" => self.update(&path, &arguments[1], &arguments[2]),
            "read_file" => match self.files.get(&path) {
                Some(text) => Py::Text(text.clone()),
                None if self.folders.contains(&path) => error(format!("{path} is not a file")),
                None => error(format!("File {path} does not exist")),
            },
            "delete_file" => Py::Bool(self.files.remove(&path).is_some()),
            "check_if_file_exists" => Py::Bool(self.files.contains_key(&path)),
            "check_if_dir_exists" => Py::Bool(self.folders.contains(&path)),
            "create_dir" if self.files.contains_key(&path) => Py::Bool(false),
            "create_dir" => {
                self.make(&path);
                Py::Bool(true)
            }
            "list_files" => Py::Text(format!("./{}", self.drawn("", ""))),
            // On purpose: nothing has the size 0.
            "get_size" => {
                let is_in = |file: &str| path.is_empty() || file == path || file.starts_with(&format!("{path}/"));
                Py::Number(self.files.iter().filter(|(file, _)| is_in(file)).map(|(_, text)| text.len()).sum())
            }
            "go_to_link" => {
                let mut path = path;
                if let Some(inner) = path.strip_prefix("[[").and_then(|path| path.strip_suffix("]]")) {
                    path = if inner.ends_with(".md") { inner.to_owned() } else { format!("{inner}.md") };
                }
                self.files
                    .get(&path)
                    .map_or_else(|| error(format!("File {path} not found")), |text| Py::Text(text.clone()))
            }
            other => panic!("{other}"),
        }
    }

    fn update(&mut self, path: &str, old: &str, new: &str) -> Py {
        let error = |words: String| Py::Text(format!("Error: {words}"));
        let Some(text) = self.files.get_mut(path) else {
            return error(if self.folders.contains(path) {
                format!("'{path}' is not a file")
            } else {
                format!("File '{path}' does not exist")
            });
        };
        if !text.contains(old) {
            let start: String = old.chars().take(50).collect();
            let preview = if start == old { start } else { start + "..." };
            return error(format!("Could not find the specified content in the file. Looking for: '{preview}'"));
        }
        if old == new {
            return error("No changes were made to the file".to_owned());
        }
        // On purpose: which of several places is meant is not guessed.
        let places: Vec<_> =
            (0..text.len()).filter(|at| text.get(*at..).is_some_and(|at| at.starts_with(old))).collect();
        if places.len() > 1 {
            let lines = places.iter().map(|at| text.get(..*at).unwrap().matches('\n').count() + 1);
            let lines: BTreeSet<_> = lines.collect();
            let noun = if lines.len() == 1 { "several times on line" } else { "on lines" };
            let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
            return error(format!("`old_content` occurs {noun} {}; add a line of context", lines.join(", ")));
        }
        *text = text.replacen(old, new, 1);
        Py::Bool(true)
    }

    fn drawn(&self, folder: &str, indent: &str) -> String {
        let paths = self.files.keys().map(|path| (path, false)).chain(self.folders.iter().map(|path| (path, true)));
        let mut names: Vec<(&str, bool)> = paths
            .filter_map(|(path, is_folder)| Some((path.strip_prefix(folder)?, is_folder)))
            .filter(|(name, _)| !name.contains('/'))
            .collect();
        names.sort_unstable();
        let last = names.len().saturating_sub(1);
        let lines = names.into_iter().enumerate().map(|(number, (name, is_folder))| {
            let (branch, deeper) = if number == last { ("└── ", "    ") } else { ("├── ", "│   ") };
            let below = if is_folder {
                self.drawn(&format!("{folder}{name}/"), &format!("{indent}{deeper}"))
            } else {
                String::new()
            };
            let mark = match (is_folder, below.is_empty()) {
                (false, _) => "",
                (true, true) => "/ (empty)",
                (true, false) => "/",
            };
            format!("\n{indent}{branch}{name}{mark}{below}")
        });
        lines.collect()
    }
}

/// A statement of a block.
#[derive(Clone, Debug)]
enum Statement {
    /// Sets a text variable to texts and text variables, joined in one of several ways.
    Join(usize, Vec<Part>, u8),
    /// Calls a function, perhaps for a variable.
    Call(Option<usize>, &'static str, Vec<Part>),
    Branch(Condition, Vec<Statement>, Vec<Statement>),
}

/// A text, or a text variable.
#[derive(Clone, Debug)]
enum Part {
    Text(String, u8),
    Variable(usize),
}

#[derive(Clone, Debug)]
enum Condition {
    Holds(usize),
    IsTrue(usize, bool),
    Says(usize, String, bool),
    Calls(&'static str, String),
    Both(Box<Self>, Box<Self>),
    Either(Box<Self>, Box<Self>),
    Not(Box<Self>),
}

/// A text as one of the literals that Python has.
fn literal(text: &str, style: u8) -> String {
    let escaped = |mark: char| {
        let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace(mark, &format!("\\{mark}"));
        format!("{mark}{text}{mark}")
    };
    match style % 6 {
        0 => escaped('"'),
        1 => escaped('\''),
        2 => format!("'''{}'''", text.replace('\\', "\\\\").replace('\'', "\\'")),
        3 => {
            let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
            let (one, other) = text.split_at(half);
            format!("{} {}", literal(one, 0), literal(other, 2))
        }
        4 => format!("f{}", escaped('"').replace('{', "{{").replace('}', "}}")),
        _ if text.contains(['\\', '\n', '"']) => escaped('"'),
        _ => format!("r\"{text}\""),
    }
}

impl Part {
    fn code(&self) -> String {
        match self {
            Self::Text(text, style) => literal(text, *style),
            Self::Variable(number) => format!("t{number}"),
        }
    }
}

impl Condition {
    fn code(&self) -> String {
        match self {
            Self::Holds(number) => format!("r{number}"),
            Self::IsTrue(number, is) => format!("r{number} {} True", if *is { "==" } else { "!=" }),
            Self::Says(number, text, is) => {
                format!("{} {} t{number}", literal(text, 1), if *is { "in" } else { "not in" })
            }
            Self::Calls(name, path) => format!("{name}({})", literal(path, 0)),
            Self::Both(one, other) => format!("({} and {})", one.code(), other.code()),
            Self::Either(one, other) => format!("({} or {})", one.code(), other.code()),
            Self::Not(one) => format!("not {}", one.code()),
        }
    }
}

fn code(statements: &[Statement], indent: &str) -> String {
    let lines = statements.iter().map(|statement| match statement {
        Statement::Join(target, parts, style) => {
            let parts: Vec<_> = parts.iter().map(Part::code).collect();
            format!(
                "{indent}t{target} = {}\n",
                if style % 2 == 0 { parts.join(" + ") } else { format!("({})", parts.join(" +\n  ")) }
            )
        }
        Statement::Call(target, name, arguments) => {
            let target = target.map_or_else(String::new, |target| format!("r{target} = "));
            format!("{indent}{target}{name}({})\n", arguments.iter().map(Part::code).collect::<Vec<_>>().join(", "))
        }
        Statement::Branch(condition, then, other) => {
            let deeper = format!("{indent}  ");
            let then = if then.is_empty() { format!("{deeper}pass\n") } else { code(then, &deeper) };
            let other =
                if other.is_empty() { String::new() } else { format!("{indent}else:\n{}", code(other, &deeper)) };
            format!("{indent}if {}:\n{then}{other}", condition.code())
        }
    });
    lines.collect()
}

/// The block as Python would go through it.
#[derive(Debug, Default)]
struct Machine {
    memory: Memory,
    set: Vec<(String, Py)>,
}

impl Machine {
    fn get(&self, name: &str) -> Py {
        self.set.iter().find(|(known, _)| known == name).map_or(Py::None, |(_, value)| value.clone())
    }

    fn set(&mut self, name: String, value: Py) {
        match self.set.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.set.push((name, value)),
        }
    }

    fn text(&self, part: &Part) -> String {
        match part {
            Part::Text(text, _) => text.clone(),
            Part::Variable(number) => match self.get(&format!("t{number}")) {
                Py::Text(text) => text,
                other => panic!("{other:?}"),
            },
        }
    }

    fn holds(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Holds(number) => self.get(&format!("r{number}")).is_true(),
            Condition::IsTrue(number, is) => {
                matches!(self.get(&format!("r{number}")), Py::Bool(true) | Py::Number(1)) == *is
            }
            Condition::Says(number, text, is) => self.text(&Part::Variable(*number)).contains(text) == *is,
            Condition::Calls(name, path) => self.memory.call(name, std::slice::from_ref(path)).is_true(),
            Condition::Both(one, other) => self.holds(one) && self.holds(other),
            Condition::Either(one, other) => self.holds(one) || self.holds(other),
            Condition::Not(one) => !self.holds(one),
        }
    }

    fn run(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Join(target, parts, _) => {
                    let text = parts.iter().map(|part| self.text(part)).collect();
                    self.set(format!("t{target}"), Py::Text(text));
                }
                Statement::Call(target, name, arguments) => {
                    let arguments: Vec<_> = arguments.iter().map(|part| self.text(part)).collect();
                    let value = self.memory.call(name, &arguments);
                    if let Some(target) = target {
                        self.set(format!("r{target}"), value);
                    }
                }
                Statement::Branch(condition, then, other) => {
                    let arm = if self.holds(condition) { then } else { other };
                    self.run(arm);
                }
            }
        }
    }
}

const TEXTS: &[&str] = &[
    "",
    "- city: London",
    "- city: Paris",
    "# Ada",
    "it's",
    "say \"hi\"",
    "both ' and \"",
    "é 北 😀 {x}",
    "tab\there",
    "back\\slash",
    "two\nlines",
    "no\u{200b}break\u{a0}here",
    "a line that is much longer than fifty characters, so that it is cut",
];
const NOTES: &[&str] = &["user.md", "new.md", "entities/ada.md", "entities/sub/deep.md"];
const PLACES: &[&str] =
    &["user.md", "new.md", "entities/ada.md", "entities", "entities/sub", "nothing.md", "user.md/x.md"];
const FOLDERS: &[&str] = &["entities", "entities/sub", "box/inner"];
const LINKS: &[&str] =
    &["[[user]]", "[[entities/ada.md]]", "entities/ada.md", "[[entities/nobody]]", "[[nothing.md]]", "[[entities]]"];

fn pick(list: &'static [&'static str]) -> impl Strategy<Value = Part> {
    (prop::sample::select(list), any::<u8>()).prop_map(|(text, style)| Part::Text(text.to_owned(), style))
}

/// A text to look for, or to write: never empty, since an empty one cannot be looked for.
fn full() -> impl Strategy<Value = Part> {
    (prop::sample::select(&TEXTS[1..]), any::<u8>()).prop_map(|(text, style)| Part::Text(text.to_owned(), style))
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![3 => pick(TEXTS), 1 => (0..2usize).prop_map(Part::Variable)]
}

fn call() -> impl Strategy<Value = Statement> {
    let arguments = prop_oneof![
        (pick(NOTES), part()).prop_map(|(path, text)| ("create_file", vec![path, text])),
        pick(NOTES).prop_map(|path| ("create_file", vec![path])),
        (pick(PLACES), full(), part()).prop_map(|(path, old, new)| ("update_file", vec![path, old, new])),
        (pick(PLACES), full(), part()).prop_map(|(path, old, new)| ("update_file", vec![path, old, new])),
        pick(PLACES).prop_map(|path| ("read_file", vec![path])),
        pick(PLACES).prop_map(|path| ("delete_file", vec![path])),
        pick(PLACES).prop_map(|path| ("check_if_file_exists", vec![path])),
        pick(PLACES).prop_map(|path| ("check_if_dir_exists", vec![path])),
        pick(PLACES).prop_map(|path| ("get_size", vec![path])),
        pick(FOLDERS).prop_map(|path| ("create_dir", vec![path])),
        pick(LINKS).prop_map(|link| ("go_to_link", vec![link])),
        Just(("list_files", Vec::new())),
        Just(("get_size", Vec::new())),
    ];
    (prop::option::weighted(0.8, 0..3usize), arguments)
        .prop_map(|(target, (name, arguments))| Statement::Call(target, name, arguments))
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (0..3usize).prop_map(Condition::Holds),
        (0..3usize, any::<bool>()).prop_map(|(number, is)| Condition::IsTrue(number, is)),
        (0..2usize, prop::sample::select(TEXTS), any::<bool>()).prop_map(|(number, text, is)| Condition::Says(
            number,
            text.to_owned(),
            is
        )),
        (prop::sample::select(&["check_if_file_exists", "delete_file", "read_file"][..]), prop::sample::select(PLACES))
            .prop_map(|(name, path)| Condition::Calls(name, path.to_owned())),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(one, other)| Condition::Both(Box::new(one), Box::new(other))),
            two.prop_map(|(one, other)| Condition::Either(Box::new(one), Box::new(other))),
            inner.prop_map(|one| Condition::Not(Box::new(one))),
        ]
    })
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let join = (0..2usize, prop::collection::vec(part(), 1..4), any::<u8>())
        .prop_map(|(target, parts, style)| Statement::Join(target, parts, style));
    let simple = prop_oneof![1 => join, 4 => call()];
    let statement = simple.prop_recursive(3, 12, 4, |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..3);
        (condition(), body(), body()).prop_map(|(condition, then, other)| Statement::Branch(condition, then, other))
    });
    prop::collection::vec(statement, 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_blocks_do_what_its_own_rules_say(block in statements()) {
        let notes = [("user.md", "# Ada\n\n- city: London\n- it's\n- city: London\n"), ("entities/ada.md", "tab\there\nback\\slash\n")];
        let start: BTreeMap<String, String> = notes.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut machine = Machine { memory: Memory::of(&start), set: Vec::new() };
        for name in ["t1", "r0", "t0", "r2", "r1"] {
            machine.set(name.to_owned(), if name.starts_with('t') { Py::Text(String::new()) } else { Py::None });
        }
        machine.run(&block);
        let code = format!("t1 = ''\nr0 = None\nt0 = \"\"\nr2 = None; r1 = None\n{}", code(&block, ""));
        let (after, answer, _) = run(&MapTree::of(notes), &code, &Variables::default());
        let expected: Vec<(&str, Py)> = machine.set.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        prop_assert_eq!(answer, result(&expected), "{}", code);
        let found: BTreeMap<String, String> = after
            .paths()
            .map(|path| (path.to_string(), String::from_utf8(after.get(path.as_str()).unwrap().to_vec()).unwrap()))
            .collect();
        prop_assert_eq!(found, machine.memory.files, "{}", code);
        let folders: BTreeSet<String> = after.folders().map(ToString::to_string).collect();
        prop_assert_eq!(folders, machine.memory.folders, "{}", code);
    }
}

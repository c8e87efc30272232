//! The papers tell the truth: what is made from the program is what the program says today.
//!
//! `UPDATE_DOCS=1` writes them anew instead.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use memdir_core::catalog;
use regex::Regex;

use crate::support::standin::Standin;
use crate::support::{Env, files, finish};

const LIST_START: &str = "<!-- actions: made from the catalog -->\n";
const LIST_END: &str = "<!-- end of actions -->\n";

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a file of the repository with what it has to be, or makes it so.
#[track_caller]
pub(crate) fn check(path: &str, made: &str) {
    let file = root().join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, made).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(found == made, "{path} is out of date; `UPDATE_DOCS=1 cargo test --test it` writes it anew");
}

#[test]
fn the_page_of_actions_is_made_from_the_catalog() {
    let env = Env::new();
    check("docs/actions.md", &env.run(&["actions", "--markdown"], "").stdout);
}

#[test]
fn every_turn_of_the_examples_succeeds() {
    let env = Env::new().quick();
    for (path, bytes) in files(&root().join("examples/memory")) {
        env.write(&path, &bytes);
    }
    for (name, text) in files(&root().join("examples/turns")) {
        let ran = env.say(std::str::from_utf8(&text).unwrap(), &[]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
    }
}

#[test]
fn the_page_of_commands_is_made_from_their_help() {
    let env = Env::new();
    let help = |arguments: &[&str]| {
        let mut command = env.bare(arguments);
        command.env("COLUMNS", "100");
        let ran = finish(command, b"");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>()
    };
    let overview = help(&["--help"]);
    let command = Regex::new(r"(?m)^  ([a-z]+)  ").unwrap();
    let commands = overview.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap().to_owned();
    let names: Vec<String> = command.captures_iter(&commands).map(|found| found[1].to_owned()).collect();
    assert!(names.len() >= 12, "{names:?}");
    let mut page = String::from(
        "# Commands\n\nMade by `--help` of each; a test keeps it so. What they print with `--json`, and the exit codes, are the same on every system.\n",
    );
    write!(page, "\n## memdir\n\n```text\n{}```\n", overview).unwrap();
    for name in names.into_iter().filter(|name| name != "help") {
        write!(page, "\n## memdir {name}\n\n```text\n{}```\n", help(&[&name, "--help"])).unwrap();
    }
    check("docs/cli.md", &page);
}

#[test]
fn the_prompt_lists_the_actions_of_the_catalog() {
    let prompt = fs::read_to_string(root().join("prompts/system.md")).unwrap().replace("\r\n", "\n");
    let (before, rest) = prompt.split_once(LIST_START).unwrap();
    let (_, after) = rest.split_once(LIST_END).unwrap();
    let made = format!("{before}{LIST_START}{}{LIST_END}{after}", catalog::actions_list(false));
    check("prompts/system.md", &made);
}

#[test]
fn the_printed_prompt_is_the_file_without_its_marks() {
    let prompt = fs::read_to_string(root().join("prompts/system.md")).unwrap().replace("\r\n", "\n");
    let printed = Env::new().run(&["actions", "--prompt"], "").stdout;
    assert_eq!(printed, prompt.replace(LIST_START, "").replace(LIST_END, ""));
    let read_only = Env::new().run(&["actions", "--prompt", "--read-only"], "").stdout;
    assert!(read_only.contains("`read_file(") && !read_only.contains("`create_file("));
}

/// Every link of the papers to a place in the repository leads somewhere.
#[test]
fn links_between_the_papers_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    for paper in papers() {
        let text = fs::read_to_string(&paper).unwrap();
        for found in link.captures_iter(&text) {
            let target = found[1].split('#').next().unwrap();
            let is_ours = !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            if is_ours && !paper.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {target}", paper.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}

fn papers() -> Vec<PathBuf> {
    let mut papers = Vec::new();
    for folder in [root(), root().join("docs")] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        papers.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| is_paper(path)));
    }
    papers.sort();
    papers
}

fn is_paper(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Paths of the source that README and ARCHITECTURE name in backticks exist.
#[test]
fn places_that_the_papers_name_exist() {
    let place =
        Regex::new(r"`((?:src|crates|scripts|tests|docs|benches|fuzz|prompts|memory_template|examples)/[\w./-]*)`")
            .unwrap();
    for paper in papers() {
        let text = fs::read_to_string(&paper).unwrap();
        for found in place.captures_iter(&text) {
            assert!(root().join(&found[1]).exists(), "{}: {}", paper.display(), &found[1]);
        }
    }
}

/// A command of a page, as it is printed there, with what is shown below it.
struct Typed {
    command: String,
    shown: Vec<String>,
}

/// The commands of the `console` blocks of a page, in order. A command may go on to the end of its here-document.
fn typed(page: &str) -> Vec<Typed> {
    let mut session: Vec<Typed> = Vec::new();
    for block in page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let mut end: Option<String> = None;
        for line in block.lines() {
            match (line.strip_prefix("$ "), session.last_mut()) {
                (_, Some(typed)) if end.is_some() => {
                    typed.command.push_str(&format!("\n{line}"));
                    end = end.filter(|end| end != line);
                }
                (Some(command), _) => {
                    end = command.split_once("<<'").map(|(_, mark)| mark.trim_end_matches('\'').to_owned());
                    session.push(Typed { command: command.to_owned(), shown: Vec::new() });
                }
                (None, Some(typed)) => typed.shown.push(line.to_owned()),
                (None, None) => panic!("{line}: nothing was typed before"),
            }
        }
    }
    session
}

/// Whether a text is as it is shown; `…` stands for anything, on a line of its own for any lines.
fn is_shown(text: &str, shown: &[String]) -> bool {
    let quoted: Vec<String> = shown.iter().map(|line| regex::escape(line).replace('…', "[^\n]*")).collect();
    let pattern =
        quoted.iter().map(|line| if line == "[^\n]*" { "(?:[^\n]*\n)*?".to_owned() } else { format!("{line}\n") });
    Regex::new(&format!("^{}$", pattern.collect::<String>())).unwrap().is_match(text)
}

/// Whether only `…` is shown, which any output would fit. The story of `memdir demo` is shown once, in README.
fn proves_nothing(typed: &Typed) -> bool {
    let is_left_out = !typed.shown.is_empty() && typed.shown.iter().all(|line| line.trim() == "…");
    is_left_out && !typed.command.contains("memdir demo")
}

/// A command succeeds, or exits with 3 where the page shows that something waits for the person.
fn may_end_with(code: i32, shown: &[String]) -> bool {
    code == 0 || (code == 3 && shown.iter().any(|line| line.contains("waits")))
}

#[test]
fn a_page_that_shows_only_an_ellipsis_is_refused() {
    let page = |shown: &str| typed(&format!("```console\n$ memdir log\n{shown}```\n")).remove(0);
    assert!(proves_nothing(&page("…\n")) && proves_nothing(&page("…\n  …\n")));
    assert!(!proves_nothing(&page("")) && !proves_nothing(&page("Today\n…\n")));
    assert!(may_end_with(3, &page("proposal 1 waits\n").shown) && !may_end_with(3, &page("Today\n").shown));
    assert!(!may_end_with(4, &page("proposal 1 waits\n").shown));
}

/// What stands between the outputs of two commands that one shell runs.
const NEXT: &str = "\u{1}next\u{1}";

/// Types commands into one shell, so that `export` and `cd` hold, and gives what each one shows with its exit status.
fn type_all<'a>(env: &Env, standin: &Standin, commands: impl Iterator<Item = &'a str>) -> Vec<(String, i32)> {
    let script: String =
        commands.map(|command| format!("{{ {command}\n}} </dev/null 2>&1; printf '%s%s\\n' $? '{NEXT}'\n")).collect();
    let folder = Path::new(env!("CARGO_BIN_EXE_memdir")).parent().unwrap();
    let mut shell = std::process::Command::new("sh");
    shell.env_clear().env("HOME", env.home()).env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    shell.env("MEMDIR_MODEL_NAME", "openai-compatible::scripted").env("MEMDIR_MODEL_ADDRESS", standin.address());
    shell.args(["-c", &script]).current_dir(env.home());
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = finish(shell, b"");
    let end = format!("{NEXT}\n");
    let outputs = ran.stdout.split_terminator(end.as_str());
    let ended = Regex::new(r"(\d+)$").unwrap();
    outputs
        .map(|text| (ended.replace(text, "").into_owned(), ended.captures(text).unwrap()[1].parse().unwrap()))
        .collect()
}

/// Every `console` block of README and docs/ shows what happens when it is typed, in order, in one fresh home. A page of docs/ begins
/// with the memory that `memdir demo` makes; `~/Vault` is somebody's vault; a server on this machine has a model.
#[test]
fn what_the_papers_show_is_what_happens() {
    let env = Env::new();
    for (path, bytes) in files(&root().join("examples/household")) {
        let file = env.home().join("Vault").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    // Each assistant that a page sets up was started once.
    for folder in [".claude", ".cursor", ".codex", ".config/Claude"] {
        fs::create_dir_all(env.home().join(folder)).unwrap();
    }
    let anew = "rm -rf ~/memdir-demo; memdir demo; export MEMDIR=~/memdir-demo";
    let mut session: Vec<(PathBuf, Typed)> = Vec::new();
    for paper in papers() {
        let page = fs::read_to_string(&paper).unwrap();
        if paper.starts_with(root().join("docs")) && page.contains("```console\n") {
            session.push((paper.clone(), Typed { command: anew.to_owned(), shown: vec!["…".to_owned()] }));
        }
        session.extend(typed(&page).into_iter().map(|typed| (paper.clone(), typed)));
    }
    assert!(session.len() > 20);
    let turn = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Porto"}]</actions>"#;
    let answers = [turn.to_owned(), "<reply>Porto it is.</reply>".to_owned()];
    let standin = Standin::answers(answers);
    let outputs = type_all(&env, &standin, session.iter().map(|(_, typed)| typed.command.as_str()));
    let mut wrong = Vec::new();
    for ((paper, typed), (text, code)) in session.iter().zip(&outputs) {
        if !may_end_with(*code, &typed.shown) || proves_nothing(typed) || !is_shown(text, &typed.shown) {
            let paper = paper.file_name().unwrap().to_string_lossy();
            wrong.push(format!("{paper}: $ {}  (exit {code})\n{text}", typed.command));
        }
    }
    assert!(wrong.is_empty() && outputs.len() == session.len(), "{}", wrong.join("\n"));
}

/// What the other blocks of commands call, which build, fetch or need a tool, is there.
#[test]
fn the_scripts_that_the_papers_call_exist() {
    let script = Regex::new(r"scripts/[\w./-]+").unwrap();
    for paper in papers() {
        for found in script.find_iter(&fs::read_to_string(&paper).unwrap()) {
            let file = found.as_str().trim_end_matches('.');
            assert!(root().join(file).exists(), "{}: {file}", paper.display());
        }
    }
}

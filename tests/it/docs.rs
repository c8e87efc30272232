//! The papers tell the truth: what is made from the program is what the program says today.
//!
//! `UPDATE_DOCS=1` writes them anew instead.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use memdir::catalog;
use regex::Regex;

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
    assert!(found == made, "{path} is out of date; `UPDATE_DOCS=1 cargo test --test it docs` writes it anew");
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
    let place = Regex::new(r"`((?:src|tests|docs|benches|fuzz|prompts|memory_template|examples)/[\w./-]*)`").unwrap();
    for paper in papers() {
        let text = fs::read_to_string(&paper).unwrap();
        for found in place.captures_iter(&text) {
            assert!(root().join(&found[1]).exists(), "{}: {}", paper.display(), &found[1]);
        }
    }
}

/// The commands of a block of a page, each with what is shown below it. A command may go on to the end of its here-document.
fn typed(block: &str) -> Vec<(String, Vec<String>)> {
    let mut session: Vec<(String, Vec<String>)> = Vec::new();
    let mut end: Option<String> = None;
    for line in block.lines() {
        match (line.strip_prefix("$ "), session.last_mut()) {
            (_, Some((command, _))) if end.is_some() => {
                command.push_str(&format!("\n{line}"));
                end = end.filter(|end| end != line);
            }
            (Some(command), _) => {
                end = command.split_once("<<'").map(|(_, mark)| mark.trim_end_matches('\'').to_owned());
                session.push((command.to_owned(), Vec::new()));
            }
            (None, Some((_, shown))) => shown.push(line.to_owned()),
            (None, None) => panic!("{line}: nothing was typed before"),
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

/// Every block under `<!-- typed -->` is typed as it is printed, in order, in one fresh home.
#[test]
fn what_is_shown_of_a_session_is_what_happens() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("<!-- typed -->\n```console\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    let env = Env::new();
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_memdir")).parent().unwrap();
    for (command, shown) in blocks.into_iter().flat_map(typed) {
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .env_clear()
            .env("HOME", env.home())
            .current_dir(env.home());
        shell.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        shell
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let ran = shell.output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && is_shown(&text, &shown), "$ {command}\n{text}\nshown:\n{}", shown.join("\n"));
    }
}

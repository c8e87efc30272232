//! `memdir init`: a new memory, or an old folder of notes taken as it is.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::PERSON;
use super::args::Global;
use super::config::Sources;
use super::exit::{Stop, print_json};
use super::{open, term};
use crate::action::{Action, Call, CreateFile, SetFact};
use crate::check::{Checked, Finding};
use crate::dialect::Parsed;
use crate::engine::Manner;
use crate::path::MemoryPath;
use crate::policy::Mode;
use crate::vault::{Author, INIT};

/// The notes that a new memory starts with.
const TEMPLATE: &[(&str, &str)] = &[
    ("user.md", include_str!("../../memory_template/user.md")),
    ("entities/memdir.md", include_str!("../../memory_template/entities/memdir.md")),
    ("daily/first-day.md", include_str!("../../memory_template/daily/first-day.md")),
];

#[derive(Serialize)]
struct Initialized {
    created: Vec<MemoryPath>,
    notes: usize,
    links: usize,
    findings: Vec<Finding>,
}

pub(super) fn run(global: &Global, dir: Option<PathBuf>, is_quiet: bool) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = match dir {
        Some(dir) => dir,
        None => open::named(global, &sources)?,
    };
    if folder.as_os_str().is_empty() {
        return Err(super::usage("the memory's name is empty", "give the folder: `memdir init DIR`").into());
    }
    open::make_folder(&folder)
        .map_err(|error| super::usage(format!("the folder cannot be made: {}", error.kind()), "name another"))?;
    let located = open::locate(global, &sources, &folder)?;
    let opened = open::join(located)?;
    let is_new = opened.engine.tree(None, 1, None)?.total == 0;
    let can_ask = !global.json && !is_quiet && io::stdin().is_terminal() && io::stderr().is_terminal();
    let facts = if is_new && can_ask { ask()? } else { Vec::new() };
    let created = if is_new { create(&opened, TEMPLATE, &facts)? } else { Vec::new() };
    let Checked { findings, notes, links } = super::check::look(global, &opened.engine)?;
    let initialized = Initialized { created, notes, links, findings };
    if global.json {
        print_json(&initialized)?;
    } else {
        tell(&initialized, &opened)?;
    }
    Ok(0)
}

/// Asks the person for the facts that assistants need first; each may be skipped.
fn ask() -> Result<Vec<(&'static str, String)>, Stop> {
    let questions = [
        ("name", "What is your name?"),
        ("city", "In which city do you live?"),
        ("call me", "What shall assistants call you?"),
    ];
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "Three questions for {PERSON}; Enter skips one.")?;
    let mut facts = Vec::new();
    for (key, question) in questions {
        write!(stderr, "{question} ")?;
        stderr.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        if !answer.trim().is_empty() {
            facts.push((key, answer.trim().to_owned()));
        }
    }
    Ok(facts)
}

/// Makes notes with what the person has told, as one batch that can be undone.
pub(super) fn create(
    opened: &open::Opened,
    notes: &[(&str, &str)],
    facts: &[(&str, String)],
) -> Result<Vec<MemoryPath>, Stop> {
    let mut calls = Vec::new();
    for (index, (path, content)) in notes.iter().enumerate() {
        let path = super::look::path(path)?;
        let action = Action::CreateFile(CreateFile { path, content: (*content).to_owned() });
        calls.push(Call::plain(index + 1, action));
    }
    for (key, value) in facts {
        let path = super::look::path(PERSON)?;
        let action = Action::SetFact(SetFact { path, key: (*key).to_owned(), value: value.clone() });
        calls.push(Call::plain(calls.len() + 1, action));
    }
    let parsed = Parsed::of(calls);
    let author = Author { message: Some(INIT.to_owned()), ..open::author("cli", None, "person") };
    let manner = Manner { author, grant: None, mode: Mode::Off, read_only: false, atomic: true, seen: None };
    let report = opened.engine.conclude(opened.engine.propose(parsed, manner));
    match report.actions.into_iter().find_map(|outcome| outcome.result.err()) {
        Some(failure) => Err(failure.into()),
        None => Ok(report.changed),
    }
}

fn tell(initialized: &Initialized, opened: &open::Opened) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for path in &initialized.created {
        writeln!(stdout, "made {}", term::escape_line(path.as_str()))?;
    }
    let root = opened.root.to_string_lossy();
    writeln!(stdout, "{} notes and {} links in {}", initialized.notes, initialized.links, term::escape_line(&root))?;
    if initialized.created.is_empty() {
        writeln!(stdout, "nothing was changed: these notes are a memory as they are")?;
    }
    if !initialized.findings.is_empty() {
        let found = super::check::summary(&initialized.findings);
        writeln!(stdout, "found {found}; `memdir check` shows them")?;
    }
    let here = super::install::here();
    match here.others.as_slice() {
        [name, ..] => {
            let here = here.others.join(", ");
            writeln!(stdout, "next: `memdir install {name}` sets up an assistant; found here: {here}")?;
        }
        [] => writeln!(stdout, "next: `memdir install NAME` sets up an assistant, such as claude-code or cursor")?,
    }
    writeln!(
        stdout,
        "      `memdir remember I like green tea` keeps a sentence yourself, `memdir open` opens the folder"
    )?;
    writeln!(stdout, "      `memdir` alone shows how things stand")?;
    Ok(())
}

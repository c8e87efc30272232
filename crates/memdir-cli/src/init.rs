//! `memdir init`: a new memory, or an old folder of notes taken as it is.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::Global;
use super::config::Sources;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{look, one, open, question};
use memdir_check::Checked;
use memdir_core::action::{Action, CreateFile, SetFact};
use memdir_core::path::{MemoryPath, PERSON_NOTE};
use memdir_plan::count;
use memdir_vault::INIT;

/// The notes that a new memory starts with.
const TEMPLATE: &[(&str, &str)] = &[
    ("user.md", include_str!("../../../memory_template/user.md")),
    ("entities/memdir.md", include_str!("../../../memory_template/entities/memdir.md")),
    ("daily/first-day.md", include_str!("../../../memory_template/daily/first-day.md")),
];

pub(super) fn run(global: &Global, dir: Option<PathBuf>, is_quiet: bool) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let folder = match dir {
        Some(dir) => dir,
        None => open::named(global, &sources)?,
    };
    if folder.as_os_str().is_empty() {
        return Err(usage("the memory's name is empty", "give the folder: `memdir init DIR`").into());
    }
    memdir_host::make_folder(&folder)
        .map_err(|error| usage(format!("the folder cannot be made: {}", error.kind()), "name another"))?;
    let located = open::locate(global, &sources, &folder)?;
    let opened = open::join(located)?;
    let is_new = opened.engine.tree(None, 1, None)?.total == 0;
    let can_ask = !global.json && !is_quiet && question::can_ask();
    let facts = if is_new && can_ask { ask()? } else { Vec::new() };
    let created = if is_new { create(&opened, TEMPLATE, &facts)? } else { Vec::new() };
    let checked = super::check::look(global, &opened.engine)?;
    let Checked { findings, notes, links } = &checked;
    let shape = json!({"created": created, "notes": notes, "links": links, "findings": findings});
    global.answer(&shape, |stdout| show(&created, &checked, &opened.root, stdout))
}

/// Asks the person for the facts that assistants need first; each may be skipped.
fn ask() -> Result<Vec<(&'static str, String)>, Stop> {
    let questions = [
        ("name", "What is your name?"),
        ("city", "In which city do you live?"),
        ("call me", "What shall assistants call you?"),
    ];
    say(format!("Three questions for {PERSON_NOTE}; Enter skips one."))?;
    let mut facts = Vec::new();
    for (key, question) in questions {
        let answer = question::line(question)?.unwrap_or_default();
        if !answer.is_empty() {
            facts.push((key, answer));
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
    let mut actions = Vec::new();
    for (path, content) in notes {
        actions.push(Action::CreateFile(CreateFile { path: look::path(path)?, content: (*content).to_owned() }));
    }
    for (key, value) in facts {
        let (path, key) = (look::path(PERSON_NOTE)?, (*key).to_owned());
        actions.push(Action::SetFact(SetFact { path, key, value: value.clone() }));
    }
    let person = open::person().with_message(Some(INIT.to_owned()));
    let report = one::carry_out(&opened.engine, person, actions);
    match report.actions.into_iter().find_map(|outcome| outcome.result.err()) {
        Some(failure) => Err(failure.into()),
        None => Ok(report.changed),
    }
}

fn show(created: &[MemoryPath], checked: &Checked, root: &Path, stdout: &mut impl Write) -> Result<(), Stop> {
    for path in created {
        stdout.line(format!("made {path}"))?;
    }
    let (notes, links) = (count(checked.notes, "note"), count(checked.links, "link"));
    stdout.line(format!("{notes} and {links} in {}", root.to_string_lossy()))?;
    if created.is_empty() {
        writeln!(stdout, "nothing was changed: these notes are a memory as they are")?;
    }
    if !checked.findings.is_empty() {
        writeln!(stdout, "found {}; `memdir check` shows them", super::check::summary(&checked.findings))?;
    }
    let here = super::install::here(None);
    match here.others.as_slice() {
        [name, ..] => {
            let here = here.others.join(", ");
            writeln!(stdout, "next: `memdir install {name}` sets up an assistant; found here: {here}")?;
        }
        [] => writeln!(stdout, "next: `memdir install NAME` sets up an assistant, such as claude-code or cursor")?,
    }
    writeln!(stdout, "      `memdir remember I like green tea` keeps a sentence, `memdir open` opens the folder")?;
    writeln!(stdout, "      `memdir` alone shows how things stand")?;
    Ok(())
}

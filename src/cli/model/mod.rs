//! `memdir model`: model files, and which model is used.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

mod asked;
pub(super) mod embedding;
pub(super) mod error;
mod fetch;
pub(super) mod opening;
mod shown;
pub(super) mod used;

use super::args::Global;
use super::config::{Config, Sources};
use super::exit::{DAMAGED, Stop, print_json};
use super::{interrupt, open, progress, term};
use crate::model::catalogue;
use crate::model::choose::{Choice, Server};
use crate::model::header::Facts;
use crate::model::shelf::{Shelf, ShelfError};
use crate::report::Failure;
use shown::{Shown, State};
use used::{HAS_ENGINE, Used};

pub(super) use asked::{Asked, LONG};

#[derive(Debug, Serialize)]
struct List {
    models: Vec<Shown>,
    servers: Vec<Found>,
    used: Option<Used>,
    problem: Option<Failure>,
    engine: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    provider: String,
    address: String,
    models: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Info {
    model: Option<Shown>,
    facts: Option<Facts>,
    file: Option<PathBuf>,
    runs: Used,
    engine: bool,
}

#[derive(Debug, Serialize)]
struct Verified {
    models: Vec<Verdict>,
}

#[derive(Debug, Serialize)]
struct Verdict {
    name: String,
    ok: bool,
    message: Option<String>,
}

#[derive(Debug, Serialize)]
struct Removed<'a> {
    removed: &'a str,
}

pub(super) fn run(global: &Global, asked: &Asked) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let shelf = used::shelf(&sources)?;
    match asked {
        Asked::List => list(global, &sources, &shelf),
        Asked::Fetch(options) => fetch::run(global, &shelf, options),
        Asked::Add(options) => fetch::add(global, &shelf, options),
        Asked::Info { name } => info(global, &shelf, name),
        Asked::Verify { name } => verify(global, &shelf, name.as_deref()),
        Asked::Remove { name } => remove(global, &shelf, name),
    }
}

/// The settings for the memory that is named, if there is one; else those for any.
fn settings(global: &Global, sources: &Sources) -> Result<Config, Stop> {
    let root = open::named(global, sources).ok().and_then(|folder| open::canonical(&folder).ok());
    Ok(sources.for_memory(&root.unwrap_or_default())?)
}

fn list(global: &Global, sources: &Sources, shelf: &Shelf) -> Result<u8, Stop> {
    let config = settings(global, sources)?;
    let listed = shelf.list().map_err(|error| error::unkept(&error))?;
    let servers = used::servers();
    let chosen = used::chosen(None, &config, &listed, &mut || servers.clone()).and_then(|choice| used::used(&choice));
    let models = Shown::all(shelf, &listed);
    let found = |Server { provider, address, models }: &Server| Found {
        provider: provider.clone(),
        address: address.clone(),
        models: models.clone(),
    };
    let list = List {
        models,
        servers: servers.iter().map(found).collect(),
        used: chosen.as_ref().ok().cloned(),
        problem: chosen.as_ref().err().map(error::unreachable),
        engine: HAS_ENGINE,
    };
    if global.json {
        print_json(&list)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for model in &list.models {
        writeln!(stdout, "{}", term::escape_line(&line(model, list.used.as_ref())))?;
        if let Some(good_for) = model.good_for {
            writeln!(stdout, "    {good_for}")?;
        }
    }
    for server in &list.servers {
        let names = server.models.join(", ");
        let line = format!("{} at {}: {names}", server.provider, server.address);
        writeln!(stdout, "{}", term::escape_line(&line))?;
    }
    stdout.flush()?;
    let mut stderr = io::stderr().lock();
    match (&list.used, &list.problem) {
        (Some(used), _) => {
            writeln!(stderr, "used: {}: {}", term::escape_line(&used.name), term::escape_line(&used.leaves()))?
        }
        (None, Some(problem)) => {
            writeln!(stderr, "none is used: {}", term::escape_line(&problem.message))?;
            if let Some(hint) = &problem.hint {
                writeln!(stderr, "hint: {}", term::escape_line(hint))?;
            }
        }
        (None, None) => {}
    }
    writeln!(stderr, "kept in {}", term::escape_line(&shelf.folder().display().to_string()))?;
    Ok(0)
}

/// A model, as one line.
fn line(model: &Shown, used: Option<&Used>) -> String {
    let size = model.bytes.map_or_else(|| "?".to_owned(), |bytes| format!("{} MB", bytes.div_ceil(1_000_000)));
    let licence = model.licence.as_deref().unwrap_or("licence not known");
    let standing = model.standing.map_or_else(String::new, |standing| format!(" ({standing})"));
    let state = match model.state {
        State::Ready if used.is_some_and(|used| used.name == model.name) => "ready, in use".to_owned(),
        State::Ready => "ready".to_owned(),
        State::Absent => format!("memdir model fetch {}", model.name),
        State::Part => {
            let megabytes = model.fetched_bytes.unwrap_or(0) / 1_000_000;
            format!("{megabytes} MB are fetched; memdir model fetch {} goes on", model.name)
        }
        State::Missing => "its file is gone".to_owned(),
        State::Changed => "its file has changed".to_owned(),
        State::Broken => format!("cannot be read; memdir model remove {}", model.name),
    };
    format!("{}{standing}  {size}  {licence}  {state}", model.name)
}

fn info(global: &Global, shelf: &Shelf, name: &str) -> Result<u8, Stop> {
    let runs = |choice: &Choice| used::used(choice).map_err(|error| error::unreachable(&error));
    let here = runs(&Choice::Shelf { name: name.to_owned() })?;
    let info = match (shelf.find(name), catalogue::find(name)) {
        (Ok(kept), _) => {
            let facts = shelf.facts(&kept).map_err(|error| error::unkept(&error))?;
            let (model, file) = (Some(Shown::kept(shelf, &kept)), Some(kept.file));
            Info { model, facts: Some(facts), file, runs: here, engine: HAS_ENGINE }
        }
        (Err(ShelfError::NotThere { .. }), Some(row)) => {
            Info { model: Some(Shown::row(row)), facts: None, file: None, runs: here, engine: HAS_ENGINE }
        }
        (Err(ShelfError::NotThere { .. }), None) if name.contains(crate::model::choose::BETWEEN) => {
            let (provider, name) = name.split_once(crate::model::choose::BETWEEN).unwrap_or_default();
            let choice = Choice::Remote { provider: provider.to_owned(), name: name.to_owned(), address: None };
            Info { model: None, facts: None, file: None, runs: runs(&choice)?, engine: HAS_ENGINE }
        }
        (Err(error), _) => return Err(error::unkept(&error).into()),
    };
    if global.json {
        print_json(&info)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for (key, value) in words(&info) {
        writeln!(stdout, "{key}: {}", term::escape_line(&value))?;
    }
    Ok(stdout.flush().map(|()| 0)?)
}

fn words(info: &Info) -> Vec<(&'static str, String)> {
    let mut words = vec![("name", info.runs.name.clone())];
    if let Some(model) = &info.model {
        words.extend(model.title.map(|title| ("model", title.to_owned())));
        words.extend(model.bytes.map(|bytes| ("size", format!("{} MB", bytes.div_ceil(1_000_000)))));
        words.push(("licence", model.licence.clone().unwrap_or_else(|| "not known".to_owned())));
        words.extend(model.memory_bytes.map(|bytes| ("memory", format!("about {} MB", bytes.div_ceil(1_000_000)))));
        words.extend(model.good_for.map(|text| ("good for", text.to_owned())));
        words.extend(model.source.clone().map(|source| ("from", source)));
    }
    if let Some(facts) = &info.facts {
        words.extend(facts.architecture.clone().map(|text| ("architecture", text)));
        words.push(("parameters", format!("{} million", facts.million_parameters)));
        words.extend(facts.quantization.map(|text| ("quantization", text.to_owned())));
        words.extend(facts.context_tokens.map(|tokens| ("context", format!("{tokens} tokens"))));
        if !facts.has_chat_template {
            words.push((
                "warning",
                "it has no chat template: a base model, which was not taught to hold a conversation".to_owned(),
            ));
        }
    }
    words.extend(info.file.as_ref().map(|file| ("file", file.display().to_string())));
    words.push(("where", info.runs.leaves()));
    if info.runs.place == "process" && !info.engine {
        words.push(("note", error::BUILD.to_owned()));
    }
    words
}

fn verify(global: &Global, shelf: &Shelf, name: Option<&str>) -> Result<u8, Stop> {
    let listed = shelf.list().map_err(|error| error::unkept(&error))?;
    let (kept, broken) = match name {
        Some(name) => (vec![shelf.find(name).map_err(|error| error::unkept(&error))?], Vec::new()),
        None => (listed.kept, listed.broken),
    };
    let (bar, stop) = (progress::bytes(global), interrupt::stop());
    bar.set_message("read");
    let mut show = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let mut models = Vec::new();
    for kept in &kept {
        let message = match shelf.verify(kept, &mut show, &stop) {
            Ok(()) => None,
            Err(ShelfError::Cancelled) => return Err(error::unkept(&ShelfError::Cancelled).into()),
            Err(error) => Some(error.to_string()),
        };
        models.push(Verdict { name: kept.name.clone(), ok: message.is_none(), message });
    }
    bar.finish_and_clear();
    models.extend(broken.iter().filter_map(|error| match error {
        ShelfError::Record { name, .. } => {
            Some(Verdict { name: name.clone(), ok: false, message: Some(error.to_string()) })
        }
        _ => None,
    }));
    let code = if models.iter().all(|model| model.ok) { 0 } else { DAMAGED };
    if global.json {
        print_json(&Verified { models })?;
        return Ok(code);
    }
    let mut stdout = io::stdout().lock();
    for Verdict { name, message, .. } in &models {
        let message = message.as_deref().unwrap_or("is what it was");
        writeln!(stdout, "{name}: {}", term::escape_line(message))?;
    }
    if models.is_empty() {
        writeln!(io::stderr(), "no models are kept: `memdir model list` shows what can be fetched")?;
    }
    Ok(stdout.flush().map(|()| code)?)
}

fn remove(global: &Global, shelf: &Shelf, name: &str) -> Result<u8, Stop> {
    shelf.remove(name).map_err(|error| error::unkept(&error))?;
    if global.json {
        print_json(&Removed { removed: name })?;
    } else {
        writeln!(io::stderr(), "`{name}` is removed")?;
    }
    Ok(0)
}

//! `memdir model`: model files, and which model is used.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

mod args;
pub(super) mod embedding;
pub(super) mod error;
mod fetch;
pub(super) mod opening;
mod shown;
pub(super) mod used;

use super::args::Global;
use super::config::{Config, Sources};
use super::exit::DAMAGED;
use super::output::{Lines, say, say_failure};
use super::stop::Stop;
use super::{interrupt, open, progress};
use memdir_providers::choose::{BETWEEN, Choice, Server};
use memdir_providers::header::Facts;
use memdir_providers::known_models;
use memdir_providers::shelf::{Shelf, ShelfError};
use shown::{Shown, State};
use used::{HAS_ENGINE, Used};

pub(super) use args::{LONG, ModelCommand};

#[derive(Debug, Serialize)]
struct Info {
    model: Option<Shown>,
    facts: Option<Facts>,
    file: Option<PathBuf>,
    runs: Used,
    engine: bool,
}

/// Whether a model's file is what it was.
#[derive(Debug, Serialize)]
struct Verified {
    name: String,
    ok: bool,
    message: Option<String>,
}

pub(super) fn run(global: &Global, command: &ModelCommand) -> Result<u8, Stop> {
    let sources = Sources::read()?;
    let shelf = used::shelf()?;
    match command {
        ModelCommand::List => list(global, &sources, &shelf),
        ModelCommand::Fetch(options) => fetch::run(global, &shelf, options),
        ModelCommand::Add(options) => fetch::add(global, &shelf, options),
        ModelCommand::Info { name } => info(global, &shelf, name),
        ModelCommand::Verify { name } => verify(global, &shelf, name.as_deref()),
        ModelCommand::Remove { name } => remove(global, &shelf, name),
    }
}

/// The settings for the memory that is named, if there is one; else those for any.
fn settings(global: &Global, sources: &Sources) -> Result<Config, Stop> {
    let root = open::named(global, sources).ok().and_then(|folder| memdir_host::canonical(&folder).ok());
    Ok(sources.for_memory(&root.unwrap_or_default())?)
}

fn list(global: &Global, sources: &Sources, shelf: &Shelf) -> Result<u8, Stop> {
    let config = settings(global, sources)?;
    let listed = shelf.list().map_err(error::unkept)?;
    let servers = used::servers();
    let chosen = used::chosen(None, &config, &listed, &mut || servers.clone()).and_then(|choice| used::used(&choice));
    let models = Shown::all(shelf, &listed);
    let (used, problem) = match chosen {
        Ok(used) => (Some(used), None),
        Err(error) => (None, Some(error::unreachable(&error))),
    };
    let shape = |Server { provider, address, models }: &Server| json!({"provider": provider, "address": address, "models": models});
    let list = json!({
        "models": models,
        "servers": servers.iter().map(shape).collect::<Vec<_>>(),
        "used": used,
        "problem": problem,
        "engine": HAS_ENGINE,
    });
    global.answer(&list, |stdout| {
        for model in &models {
            stdout.line(line(model, used.as_ref()))?;
            model.good_for.iter().try_for_each(|good_for| stdout.line(format!("    {good_for}")))?;
        }
        for Server { provider, address, models } in &servers {
            stdout.line(format!("{provider} at {address}: {}", models.join(", ")))?;
        }
        used.iter().try_for_each(|used| say(format!("used: {}: {}", used.name, used.leaves())))?;
        problem.iter().try_for_each(|problem| say_failure("none is used", problem))?;
        Ok(say(format!("kept in {}", shelf.folder().display()))?)
    })
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
    let runs = |choice: &Choice| used::used(choice).map_err(error::unreachable);
    let here = runs(&Choice::Shelf { name: name.to_owned() })?;
    let mut info = Info { model: None, facts: None, file: None, runs: here, engine: HAS_ENGINE };
    match (shelf.find(name), known_models::find(name), name.split_once(BETWEEN)) {
        (Ok(kept), ..) => {
            info.facts = Some(shelf.facts(&kept).map_err(error::unkept)?);
            info.model = Some(Shown::kept(shelf, &kept));
            info.file = Some(kept.file);
        }
        (Err(ShelfError::NotThere { .. }), Some(row), _) => info.model = Some(Shown::row(row)),
        (Err(ShelfError::NotThere { .. }), None, Some((provider, name))) => {
            let (provider, name) = (provider.to_owned(), name.to_owned());
            info.runs = runs(&Choice::Remote { provider, name, address: None })?;
        }
        (Err(error), ..) => return Err(error::unkept(&error).into()),
    }
    global.answer(&info, |stdout| {
        Ok(words(&info).iter().try_for_each(|(key, value)| stdout.line(format!("{key}: {value}")))?)
    })
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
    let listed = shelf.list().map_err(error::unkept)?;
    let (kept, broken) = match name {
        Some(name) => (vec![shelf.find(name).map_err(error::unkept)?], Vec::new()),
        None => (listed.kept, listed.broken),
    };
    let (bar, stop) = (progress::bytes(global), interrupt::stop());
    bar.set_message("read");
    let mut show = progress::moves_bytes(&bar);
    let mut models = Vec::new();
    for kept in &kept {
        let message = match shelf.verify(kept, &mut show, &stop) {
            Ok(()) => None,
            Err(ShelfError::Cancelled) => return Err(error::unkept(&ShelfError::Cancelled).into()),
            Err(error) => Some(error.to_string()),
        };
        models.push(Verified { name: kept.name.clone(), ok: message.is_none(), message });
    }
    bar.finish_and_clear();
    models.extend(broken.iter().filter_map(|error| match error {
        ShelfError::Record { name, .. } => {
            Some(Verified { name: name.clone(), ok: false, message: Some(error.to_string()) })
        }
        _ => None,
    }));
    global.answer(&json!({ "models": models }), |stdout| {
        for Verified { name, message, .. } in &models {
            stdout.line(format!("{name}: {}", message.as_deref().unwrap_or("is what it was")))?;
        }
        if models.is_empty() {
            say("no models are kept: `memdir model list` shows what can be fetched")?;
        }
        Ok(())
    })?;
    Ok(if models.iter().all(|model| model.ok) { 0 } else { DAMAGED })
}

fn remove(global: &Global, shelf: &Shelf, name: &str) -> Result<u8, Stop> {
    shelf.remove(name).map_err(error::unkept)?;
    global.answer(&json!({ "removed": name }), |_| Ok(say(format!("`{name}` is removed"))?))
}

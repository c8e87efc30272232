//! `memdir model fetch` and `memdir model add`: a file comes onto the shelf.

use serde_json::json;

use super::args::{Add, Fetch};
use super::error;
use super::shown::Shown;
use super::used::HAS_ENGINE;
use crate::args::Global;
use crate::output::say;
use crate::stop::{Stop, usage};
use crate::{interrupt, progress, question};
use memdir_core::digest::Digest;
use memdir_core::report::Failure;
use memdir_providers::fetch::{Address, Fetching, Patience, Progress, fetch};
use memdir_providers::known_models::{self, Row};
use memdir_providers::shelf::{Adding, Kept, Place, Shelf, ShelfError};

pub(super) fn run(global: &Global, shelf: &Shelf, options: &Fetch) -> Result<u8, Stop> {
    let fetching = fetching(shelf, options)?;
    match shelf.find(&fetching.name) {
        Ok(kept) if kept.digest != fetching.digest => {
            return Err(error::unkept(ShelfError::Taken(kept.name)).into());
        }
        Ok(kept) if shelf.size_of(&kept) == Some(kept.bytes) => return report(global, shelf, &kept, true),
        Ok(_) | Err(ShelfError::NotThere { .. }) => {}
        Err(error) => return Err(error::unkept(&error).into()),
    }
    let listed = shelf.list().map_err(error::unkept)?;
    let is_it = |kept: &&Kept| kept.digest == fetching.digest && shelf.size_of(kept) == Some(kept.bytes);
    if let Some(other) = listed.kept.iter().find(is_it) {
        return Err(error::unkept(ShelfError::Known(other.name.clone())).into());
    }
    if !options.yes && !is_agreed(global, &fetching)? {
        return Ok(0);
    }
    let bar = progress::bytes(global);
    let mut moves = progress::moves_bytes(&bar);
    let mut show = |progress: Progress| match progress {
        Progress::Fetched(done, all) => moves(done, all),
        Progress::Checked(done, all) => {
            bar.set_message("checked");
            moves(done, all);
        }
    };
    bar.set_message("fetched");
    let fetched = fetch(shelf, &fetching, &mut show, &interrupt::stop());
    bar.finish_and_clear();
    report(global, shelf, &fetched.map_err(error::unfetched)?, false)
}

pub(super) fn add(global: &Global, shelf: &Shelf, options: &Add) -> Result<u8, Stop> {
    let bar = progress::bytes(global);
    bar.set_message("read");
    let adding = Adding {
        files: &options.files,
        name: options.name.as_deref(),
        place: if options.in_place { Place::Here } else { Place::Shelf },
        free_bytes: shelf.free_bytes(),
        now: memdir_host::now(),
    };
    let added = shelf.add(&adding, &mut progress::moves_bytes(&bar), &interrupt::stop());
    bar.finish_and_clear();
    let added = added.map_err(error::unkept)?;
    report(global, shelf, &added.kept, added.was_there)
}

/// What is to be fetched: a row of the catalogue, or what the person names with its address and its SHA-256.
fn fetching(shelf: &Shelf, options: &Fetch) -> Result<Fetching, Failure> {
    let row = known_models::find(&options.name);
    let given = options.sha256.as_deref().map(digest).transpose()?;
    let (address, digest) = match (row, &options.from, given) {
        (Some(row), _, Some(given)) if row.digest != given => {
            let message = format!("`{}` has another SHA-256", row.name);
            return Err(usage(message, "leave `--sha256` out, or fetch it under another name"));
        }
        (Some(row), from, _) => (from.as_deref().unwrap_or(row.source), row.digest),
        (None, Some(from), Some(given)) => (from.as_str(), given),
        (None, Some(_), None) => {
            return Err(usage(
                "without a SHA-256 nobody can tell whether what comes is the model",
                "send `--sha256 HEX` as its maker publishes it, or get the file and `memdir model add FILE`",
            ));
        }
        (None, None, _) => return Err(unknown(shelf, &options.name)),
    };
    Ok(Fetching {
        name: options.name.clone(),
        address: Address::parse(address).map_err(error::unfetched)?,
        digest,
        bytes: row.map(|row| row.bytes),
        licence: row.map(|row| row.licence.to_owned()),
        free_bytes: shelf.free_bytes(),
        patience: Patience::default(),
        now: memdir_host::now(),
    })
}

fn unknown(shelf: &Shelf, name: &str) -> Failure {
    if shelf.find(name).is_ok() {
        return usage(
            format!("`{name}` is on the shelf, and memdir knows no address of it"),
            "name one with `--from URL`",
        );
    }
    let names: Vec<String> = known_models::ROWS.iter().map(|row| format!("`{}`", row.name)).collect();
    let failure = error::unkept(&ShelfError::NotThere { name: memdir_core::catalog::shorten(name), known: Vec::new() });
    let near = memdir_core::catalog::nearest(name, known_models::ROWS.iter().map(|row| row.name)).is_some();
    if near {
        failure
    } else {
        failure.with_hint(format!("there is {}; any other takes `--from URL --sha256 HEX`", names.join(", ")))
    }
}

fn digest(text: &str) -> Result<Digest, Failure> {
    let hex = text.trim().trim_start_matches("sha256:");
    let wrong = || usage(format!("`{}` is no SHA-256", memdir_core::catalog::shorten(text)), "send 64 hex digits");
    Digest::parse(&format!("sha256:{hex}")).map_err(|_| wrong())
}

/// Says what would be fetched, and asks.
fn is_agreed(global: &Global, fetching: &Fetching) -> Result<bool, Stop> {
    let row = known_models::find(&fetching.name);
    let what = words(fetching, row);
    if global.json || !question::can_ask() {
        let hint = format!("repeat with `--yes` to fetch {what}");
        return Err(usage("nothing is fetched without your yes, and there is nobody to ask", hint).into());
    }
    say(what)?;
    row.iter().try_for_each(|row| say(format!("good for: {}", row.good_for)))?;
    question::agrees_or("fetch it?", "nothing was fetched")
}

fn words(fetching: &Fetching, row: Option<&Row>) -> String {
    let title = row.map_or(fetching.name.as_str(), |row| row.title);
    let size = fetching.bytes.map_or_else(String::new, |bytes| format!(", {} MB", bytes.div_ceil(1_000_000)));
    let licence = fetching.licence.as_deref().unwrap_or("licence not known");
    format!("{title}{size}, {licence}, from {}", fetching.address.shown())
}

/// Says what is on the shelf now.
fn report(global: &Global, shelf: &Shelf, kept: &Kept, was_there: bool) -> Result<u8, Stop> {
    global.answer(&json!({"model": Shown::kept(shelf, kept), "was_there": was_there}), |_| {
        let word = if was_there { "was there already" } else { "is there" };
        say(format!("`{}` {word}: {} MB, {}", kept.name, kept.bytes.div_ceil(1_000_000), kept.digest))?;
        if !HAS_ENGINE {
            say(format!("note: {}", error::BUILD))?;
        }
        Ok(())
    })
}

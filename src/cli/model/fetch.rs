//! `memdir model fetch` and `memdir model add`: a file comes onto the shelf.

use std::io::{self, Write};

use serde::Serialize;

use super::asked::{Add, Fetch};
use super::error;
use super::shown::Shown;
use super::used::HAS_ENGINE;
use crate::cli::args::Global;
use crate::cli::exit::{Stop, print_json, usage};
use crate::cli::{interrupt, open, progress, question, term};
use crate::digest::Digest;
use crate::model::catalogue::{self, Row};
use crate::model::fetch::{Address, Fetching, Patience, Progress, fetch};
use crate::model::shelf::{Adding, Kept, Place, Shelf, ShelfError};
use crate::report::Failure;

#[derive(Debug, Serialize)]
struct Done {
    model: Shown,
    was_there: bool,
}

pub(super) fn run(global: &Global, shelf: &Shelf, options: &Fetch) -> Result<u8, Stop> {
    let fetching = fetching(shelf, options)?;
    match shelf.find(&fetching.name) {
        Ok(kept) if kept.digest != fetching.digest => {
            return Err(error::unkept(&ShelfError::Taken(kept.name)).into());
        }
        Ok(kept) if shelf.size_of(&kept) == Some(kept.bytes) => return tell(global, shelf, &kept, true),
        Ok(_) | Err(ShelfError::NotThere { .. }) => {}
        Err(error) => return Err(error::unkept(&error).into()),
    }
    let listed = shelf.list().map_err(|error| error::unkept(&error))?;
    let is_it = |kept: &&Kept| kept.digest == fetching.digest && shelf.size_of(kept) == Some(kept.bytes);
    if let Some(other) = listed.kept.iter().find(is_it) {
        return Err(error::unkept(&ShelfError::Known(other.name.clone())).into());
    }
    if !options.yes && !is_agreed(global, &fetching)? {
        return Ok(0);
    }
    let bar = progress::bytes(global);
    let show = |progress: Progress| {
        let (done, all) = match progress {
            Progress::Fetched(done, all) => (done, all),
            Progress::Checked(done, all) => {
                bar.set_message("checked");
                (done, all)
            }
        };
        bar.set_length(all);
        bar.set_position(done);
    };
    bar.set_message("fetched");
    let fetched = fetch(shelf, &fetching, &mut { show }, &interrupt::stop());
    bar.finish_and_clear();
    tell(global, shelf, &fetched.map_err(|error| error::unfetched(&error))?, false)
}

pub(super) fn add(global: &Global, shelf: &Shelf, options: &Add) -> Result<u8, Stop> {
    let bar = progress::bytes(global);
    bar.set_message("read");
    let adding = Adding {
        files: &options.files,
        name: options.name.as_deref(),
        place: if options.in_place { Place::Here } else { Place::Shelf },
        free_bytes: shelf.free_bytes(),
        now: open::now(),
    };
    let mut show = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let added = shelf.add(&adding, &mut show, &interrupt::stop());
    bar.finish_and_clear();
    let added = added.map_err(|error| error::unkept(&error))?;
    tell(global, shelf, &added.kept, added.was_there)
}

/// What is to be fetched: a row of the catalogue, or what the person names with its address and its SHA-256.
fn fetching(shelf: &Shelf, options: &Fetch) -> Result<Fetching, Failure> {
    let row = catalogue::find(&options.name);
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
        address: Address::parse(address).map_err(|error| error::unfetched(&error))?,
        digest,
        bytes: row.map(|row| row.bytes),
        licence: row.map(|row| row.licence.to_owned()),
        free_bytes: shelf.free_bytes(),
        patience: Patience::default(),
        now: open::now(),
    })
}

fn unknown(shelf: &Shelf, name: &str) -> Failure {
    if shelf.find(name).is_ok() {
        return usage(
            format!("`{name}` is on the shelf, and memdir knows no address of it"),
            "name one with `--from URL`",
        );
    }
    let names: Vec<String> = catalogue::ROWS.iter().map(|row| format!("`{}`", row.name)).collect();
    let failure = error::unkept(&ShelfError::NotThere { name: crate::catalog::shorten(name), known: Vec::new() });
    let near = crate::catalog::nearest(name, catalogue::ROWS.iter().map(|row| row.name)).is_some();
    if near {
        failure
    } else {
        failure.with_hint(format!("there is {}; any other takes `--from URL --sha256 HEX`", names.join(", ")))
    }
}

fn digest(text: &str) -> Result<Digest, Failure> {
    let hex = text.trim().trim_start_matches("sha256:");
    let wrong = || usage(format!("`{}` is no SHA-256", crate::catalog::shorten(text)), "send 64 hex digits");
    Digest::parse(&format!("sha256:{hex}")).map_err(|_| wrong())
}

/// Says what would be fetched, and asks.
fn is_agreed(global: &Global, fetching: &Fetching) -> Result<bool, Stop> {
    let row = catalogue::find(&fetching.name);
    let what = words(fetching, row);
    if global.json || !question::can_ask() {
        let hint = format!("repeat with `--yes` to fetch {what}");
        return Err(usage("nothing is fetched without your yes, and there is nobody to ask", hint).into());
    }
    let mut stderr = io::stderr();
    writeln!(stderr, "{}", term::escape_line(&what))?;
    if let Some(row) = row {
        writeln!(stderr, "good for: {}", row.good_for)?;
    }
    let is_agreed = question::agrees("fetch it?")?;
    if !is_agreed {
        writeln!(stderr, "nothing was fetched")?;
    }
    Ok(is_agreed)
}

fn words(fetching: &Fetching, row: Option<&Row>) -> String {
    let title = row.map_or(fetching.name.as_str(), |row| row.title);
    let size = fetching.bytes.map_or_else(String::new, |bytes| format!(", {} MB", bytes.div_ceil(1_000_000)));
    let licence = fetching.licence.as_deref().unwrap_or("licence not known");
    format!("{title}{size}, {licence}, from {}", fetching.address.shown())
}

/// Says what is on the shelf now.
fn tell(global: &Global, shelf: &Shelf, kept: &Kept, was_there: bool) -> Result<u8, Stop> {
    if global.json {
        print_json(&Done { model: Shown::kept(shelf, kept), was_there })?;
        return Ok(0);
    }
    let mut stderr = io::stderr().lock();
    let word = if was_there { "was there already" } else { "is there" };
    writeln!(stderr, "`{}` {word}: {} MB, {}", kept.name, kept.bytes.div_ceil(1_000_000), kept.digest)?;
    if !HAS_ENGINE {
        writeln!(stderr, "note: {}", error::BUILD)?;
    }
    Ok(0)
}

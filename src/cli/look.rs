//! `memdir tree` and `memdir read`.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::args::{Global, Paging};
use super::exit::{Stop, print_json};
use super::{open, term};
use crate::catalog;
use crate::path::MemoryPath;
use crate::report::Kind;

/// Parses a path that a person typed, of a folder or of something that need not be there.
pub(super) fn path(text: &str) -> Result<MemoryPath, Stop> {
    MemoryPath::parse(text).map_err(|error| catalog::invalid_path(text, error).into())
}

pub(super) fn tree(global: &Global, folder: Option<&str>, page: &Paging) -> Result<u8, Stop> {
    let folder = folder.filter(|folder| !matches!(*folder, "" | "." | "/")).map(path).transpose()?;
    let opened = open::open_to_read(global)?;
    let listed = opened.engine.tree(folder.as_ref(), page.limit(usize::MAX), page.cursor.as_deref())?;
    if global.json {
        print_json(&listed)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for entry in &listed.entries {
        let slash = if entry.kind == Kind::Directory { "/" } else { "" };
        writeln!(stdout, "{}{slash}", term::escape_line(entry.path.as_str()))?;
    }
    if let Some(cursor) = &listed.cursor {
        writeln!(io::stderr(), "{} in all; go on with --cursor '{}'", listed.total, term::escape_line(cursor))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct Read<'a> {
    path: &'a MemoryPath,
    text: &'a str,
    digest: String,
}

pub(super) fn read(global: &Global, note: &str) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let path = opened.engine.note_named(note)?;
    let author = open::author("cli", None, "person");
    let (text, digest) = opened.engine.read(&path, &author)?;
    if global.json {
        print_json(&Read { path: &path, text: &text, digest: digest.to_string() })?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    // A file gets the note byte for byte, a terminal what is safe to show.
    let shown = if stdout.is_terminal() { term::escape(&text) } else { text.as_str().into() };
    stdout.write_all(shown.as_bytes())?;
    stdout.flush()?;
    Ok(0)
}

//! `memdir tree` and `memdir read`.

use std::io::{IsTerminal, Write};

use serde_json::json;

use super::args::{AsOf, Global, Paging};
use super::output::{Lines, say};
use super::stop::Stop;
use super::{open, term};
use memdir_core::catalog;
use memdir_core::path::MemoryPath;
use memdir_core::report::Kind;

/// Parses a path that a person typed, of a folder or of something that need not be there.
pub(super) fn path(text: &str) -> Result<MemoryPath, Stop> {
    MemoryPath::parse(text).map_err(|error| catalog::invalid_path(text, error).into())
}

/// Parses the path of a folder that a person typed; `None` for the whole memory.
pub(super) fn folder(text: Option<&str>) -> Result<Option<MemoryPath>, Stop> {
    text.filter(|text| !matches!(*text, "" | "." | "/")).map(path).transpose()
}

pub(super) fn tree(global: &Global, named: Option<&str>, then: &AsOf, page: &Paging) -> Result<u8, Stop> {
    let folder = folder(named)?;
    let opened = open::open_to_read(global)?;
    let listed = opened.engine.view(then.as_of.as_deref(), |view| {
        view.tree(folder.as_ref(), page.limit(usize::MAX), page.cursor.as_deref())
    })?;
    global.answer(&listed, |stdout| {
        for entry in &listed.entries {
            let slash = if entry.kind == Kind::Directory { "/" } else { "" };
            stdout.line(format!("{}{slash}", entry.path))?;
        }
        for folder in &listed.closed {
            say(format!("note: no permission to list `{folder}`, so nothing in it is shown"))?;
        }
        page.say_next(listed.total, listed.cursor.as_deref())
    })
}

pub(super) fn read(global: &Global, note: &str, then: &AsOf) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let (path, (text, digest)) = opened.engine.view(then.as_of.as_deref(), |view| {
        let path = view.note_named(note)?;
        let read = view.read(&path, &open::person())?;
        Ok((path, read))
    })?;
    global.answer(&json!({"path": path, "text": text, "digest": digest.to_string()}), |stdout| {
        // A file gets the note byte for byte, a terminal what is safe to show.
        let shown = if stdout.is_terminal() { term::escape(&text) } else { text.as_str().into() };
        Ok(stdout.write_all(shown.as_bytes())?)
    })
}

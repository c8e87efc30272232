//! What a person writes by hand: `remember`, `set`, `add`, `new`, `edit`, `mv`, `rm`, `open`.
//!
//! Each is an action, or a few, that goes the way of every other: permission, history, receipt, undo.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use super::args::{Add, Global, Move, New, Remember, Remove, SetFact};
use super::config;
use super::draft::{self, Draft, Unsaved};
use super::exit;
use super::output::{Lines, io_failure, say};
use super::stop::{Stop, usage};
use super::{look, one, open, term};
use memdir_core::action::{
    Action, AppendFile, CreateFile, DeleteDir, DeleteFile, Remember as RememberAction, RenameFile,
    SetFact as SetFactAction, WriteFile,
};
use memdir_core::catalog::shorten;
use memdir_core::digest::Digest;
use memdir_core::path::{MemoryPath, PERSON_NOTE, is_same_form};
use memdir_core::report::{Code, Failure, Report};
use memdir_core::shell::quoted;
use memdir_engine::{Caller, Engine};
use memdir_note::{Note, fact};
use memdir_plan::{as_item_below, title_of};

pub(super) fn remember(global: &Global, options: &Remember) -> Result<u8, Stop> {
    let text = options.text.join(" ");
    if text.trim().is_empty() {
        return Err(usage("there is nothing to remember", "say it: `memdir remember Anna likes tulips`").into());
    }
    let opened = open::open(global)?;
    let asked = RememberAction { note: None, key: None, value: None, text: Some(text) };
    run(global, &opened, Action::Remember(asked))
}

pub(super) fn add(global: &Global, options: &Add) -> Result<u8, Stop> {
    // A line may begin with a dash, so options behind it are not read as such; the one that programs put last is meant.
    let (line, is_json) = match options.line.split_last() {
        Some((last, line)) if last == "--json" && !line.is_empty() => (line, true),
        _ => (options.line.as_slice(), global.json),
    };
    let global = &Global { json: is_json, ..global.clone() };
    if let Some(word) =
        line.iter().find(|word| ["--memory", "--json", "--state", "--log", "--help"].contains(&word.as_str()))
    {
        let hint = format!("put `{word}` before the note, or the whole line in quotes");
        return Err(usage(format!("`{word}` stands in the line"), hint).into());
    }
    let opened = open::open(global)?;
    let path = opened.engine.note_named(&options.note)?;
    append(global, &opened, path, &line.join(" "))
}

/// Adds a line at the end of a note: an item of a list, unless it is written as something else. A note about the person that is
/// not there yet is made.
fn append(global: &Global, opened: &open::Opened, path: MemoryPath, text: &str) -> Result<u8, Stop> {
    let before = opened.engine.text_of(&path);
    let line = as_item_below(before.as_deref().unwrap_or_default(), text);
    if line.is_empty() {
        return Err(usage("there is nothing to add", "give the line: `memdir add user likes tulips`").into());
    }
    let action = match before {
        None if path.as_str() == PERSON_NOTE => {
            Action::CreateFile(CreateFile { path, content: format!("# Me\n\n{line}\n") })
        }
        _ => Action::AppendFile(AppendFile { path, content: line }),
    };
    run(global, opened, action)
}

pub(super) fn set(global: &Global, options: &SetFact) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(&options.note)?;
    let (key, value) = (options.key.clone(), options.value.join(" "));
    let before = opened.engine.text_of(&path).and_then(|text| value_of(&text, &key));
    let replaced = before.map(|before| format!("{}: {} → {}", shorten(&key), shorten(&before), shorten(value.trim())));
    run_saying(global, &opened, Action::SetFact(SetFactAction { path, key, value }), replaced.as_deref())
}

/// What a note says of a key; `None` where it says nothing.
fn value_of(text: &str, wanted: &str) -> Option<String> {
    let facts = Note::parse(text).facts();
    let said = facts.into_iter().find(|one| fact::key(&one.key) == fact::key(wanted)).map(|one| one.value);
    said.filter(|value| !value.is_empty())
}

pub(super) fn new(global: &Global, options: &New) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = note_to_be(&options.name)?;
    let text = options.text.join(" ");
    let content = match text.as_str() {
        "" => format!("# {}\n", title_of(path.stem())),
        // It has a title of its own.
        titled if titled.starts_with("# ") => format!("{titled}\n"),
        text => format!("# {}\n\n{text}\n", title_of(path.stem())),
    };
    run(global, &opened, Action::CreateFile(CreateFile { path, content }))
}

pub(super) fn rename(global: &Global, options: &Move) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(&options.from)?;
    let target = &options.to;
    let is_root = matches!(target.as_str(), "." | "./" | "/");
    let is_folder = is_root || target.ends_with('/') || is_other_folder(&opened.engine, target, &path)?;
    let new_path = match is_folder {
        true if is_root => look::path(path.name())?,
        true => look::path(&format!("{}/{}", target.trim_end_matches('/'), path.name()))?,
        false => {
            // A name alone renames in place, as in Obsidian; `./NAME` is a path from the root of the memory.
            let folder = path.parent().filter(|_| !target.contains('/'));
            let target = folder.map_or_else(|| target.clone(), |folder| format!("{folder}/{target}"));
            // What is moved keeps its kind.
            let own = kept_extension(path.name()).filter(|_| !path.is_note() && !opened.engine.is_folder(&path));
            let named = if path.is_note() { note_to_be(&target)? } else { look::path(&target)? };
            match own.filter(|_| extension(named.name()).is_none()) {
                Some(own) => look::path(&format!("{target}.{own}"))?,
                None => named,
            }
        }
    };
    if new_path == path && path.parent().is_some() && !is_folder && !target.contains('/') {
        let there = quoted(&format!("./{target}"));
        say(format!("note: a name alone renames in place; `{there}` moves the note to the root of the memory"))?;
    }
    run(global, &opened, Action::RenameFile(RenameFile { path, new_path }))
}

/// Whether a folder is called so that is not the one to be renamed: that answers to its new name where only the Unicode form differs.
fn is_other_folder(engine: &Engine, target: &str, renamed: &MemoryPath) -> Result<bool, Stop> {
    let place = look::path(target)?;
    let is_itself = place != *renamed && is_same_form(place.as_str(), renamed.as_str());
    Ok(!is_itself && engine.is_folder(&place))
}

pub(super) fn remove(global: &Global, options: &Remove) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(&options.note)?;
    let action = match opened.engine.is_folder(&path) {
        true => Action::DeleteDir(DeleteDir { path, recursive: options.recursive.then_some(true) }),
        false => Action::DeleteFile(DeleteFile { path }),
    };
    run(global, &opened, action)
}

pub(super) fn edit(global: &Global, note: &str) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let text = opened.engine.read(&path, &open::person())?.0;
    let if_digest = Some(Digest::of(text.as_bytes()));
    let write = |content| Action::WriteFile(WriteFile { path: path.clone(), content, if_digest });
    match edit_text(&opened, &path, &text, Unsaved::Stays, |content| run(global, &opened, write(content)))? {
        Some(code) => Ok(code),
        None => global.answer(&Report::of(Vec::new()), |_| Ok(say("nothing was changed")?)),
    }
}

/// Lets the person change a text in an editor, and gives what was saved to `keep`; where that fails, their text stays or goes as
/// `unsaved` says. `None` where nothing was changed.
pub(super) fn edit_text(
    opened: &open::Opened,
    path: &MemoryPath,
    text: &str,
    unsaved: Unsaved,
    keep: impl FnOnce(String) -> Result<u8, Stop>,
) -> Result<Option<u8>, Stop> {
    let editor = editor()?;
    for left in draft::left(&opened.root)?.iter().filter(|left| left.is_of(path)) {
        say(format!("note: {}", left.words()))?;
    }
    let draft = Draft::of(opened, path, text, unsaved)?;
    let is_closed = wait_for(&editor, draft.file())?;
    let Some(edited) = draft.read()? else {
        return Err(Failure::new(Code::NotFound, "the draft is gone, and the note is as it was").into());
    };
    if edited == text.as_bytes() {
        draft.discard()?;
        if !is_closed {
            return Err(Failure::new(Code::Io, "the editor failed, and nothing was changed").into());
        }
        return Ok(None);
    }
    let content = String::from_utf8(edited).map_err(|_| Failure::new(Code::NotText, "the edited text is not UTF-8"));
    let done = match content {
        Ok(content) if is_closed => keep(content.clone()).inspect_err(|_| {
            if unsaved == Unsaved::Goes {
                // Shown and not kept: on the disk nobody has agreed to it, and the person has typed it.
                let _ = writeln!(io::stderr(), "your text was not kept; this is it:\n{}", term::escape(&content));
            }
        }),
        Ok(_) => Err(Failure::new(Code::Io, "the editor failed, so the note was not changed").into()),
        Err(failure) => Err(failure.into()),
    };
    match &done {
        Ok(0) => draft.discard()?,
        _ if unsaved == Unsaved::Goes => draft.discard()?,
        _ => say(format!("your text is in {}", draft.file().display()))?,
    }
    done.map(Some)
}

pub(super) fn open_note(global: &Global, note: Option<&str>, in_editor: bool) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let path = note.map(|note| opened.engine.note_named(note)).transpose()?;
    let place = path.as_ref().map_or_else(|| opened.root.clone(), |path| opened.root.join(path.as_str()));
    let has_obsidian = opened.root.join(".obsidian").is_dir();
    if has_obsidian && !in_editor {
        let url = format!(
            "obsidian://open?path={}",
            percent_encoding::utf8_percent_encode(&place.to_string_lossy(), percent_encoding::NON_ALPHANUMERIC)
        );
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        if wait_for(opener, Path::new(&url)).is_ok_and(|is_done| is_done) {
            return Ok(0);
        }
        say("Obsidian could not be opened, so your editor is used")?;
    }
    match wait_for(&editor()?, &place)? {
        true => Ok(0),
        false => Err(Failure::new(Code::Io, "the editor failed").into()),
    }
}

/// The person's editor.
fn editor() -> Result<String, Failure> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| config::variable(name));
    named.ok_or_else(|| usage("no editor is named", "set EDITOR, such as `export EDITOR=nano`"))
}

/// Runs a program of the person's on a file and waits for its end; whether it ended well. As git does it, the shell takes apart
/// what the person has set, and the file is an argument of its own.
#[expect(clippy::disallowed_methods, reason = "the person's own editor, which she has named")]
fn wait_for(program: &str, file: &Path) -> Result<bool, Failure> {
    let status = match cfg!(windows) {
        true => Command::new(program).arg(file).status(),
        false => Command::new("sh").args(["-c", &format!("{program} \"$@\""), program]).arg(file).status(),
    };
    Ok(status.map_err(io_failure(format!("`{program}` cannot be run")))?.success())
}

/// What stands behind the last dot of a name; nothing with a blank in it, as in `Dr. Reis`.
fn extension(name: &str) -> Option<&str> {
    let behind = name.rsplit_once('.').map(|(_, extension)| extension);
    behind.filter(|extension| !extension.is_empty() && !extension.contains(' '))
}

/// What a name without an extension keeps of the one that a file had: of a compressed file also what says which file is in it, as in
/// `x.tar.gz`.
fn kept_extension(name: &str) -> Option<&str> {
    const COMPRESSED: [&str; 7] = ["gz", "bz2", "xz", "zst", "lz4", "br", "Z"];
    let last = extension(name)?;
    let inner = name.strip_suffix(last)?.strip_suffix('.').and_then(extension);
    let is_kept = |inner: &&str| inner.starts_with(char::is_alphabetic) && COMPRESSED.contains(&last);
    let length = last.len() + inner.filter(is_kept).map_or(0, |inner| inner.len() + 1);
    name.get(name.len() - length..)
}

/// The path of a note that a person names to make it: `.md` may be left out.
fn note_to_be(name: &str) -> Result<MemoryPath, Stop> {
    if name.ends_with('/') {
        let hint = format!("add the note's name, such as `{name}anna`");
        return Err(usage(format!("`{}` is the name of a folder", shorten(name)), hint).into());
    }
    let path = look::path(name)?;
    if path.is_note() { Ok(path) } else { look::path(&format!("{}.md", path.as_str())) }
}

/// Carries out an action of the person's, and says what it did.
pub(super) fn run(global: &Global, opened: &open::Opened, action: Action) -> Result<u8, Stop> {
    run_saying(global, opened, action, None)
}

/// As [`run`]; where something was changed, `what` is said first.
fn run_saying(global: &Global, opened: &open::Opened, action: Action, what: Option<&str>) -> Result<u8, Stop> {
    let person = Caller { mode: opened.config.permission.cli, ..open::person() };
    let mut report = one::carry_out(&opened.engine, person, [action]);
    report.bound();
    if let Some(failure) = report.actions.iter().find_map(|outcome| outcome.result.as_ref().err()) {
        return Err(one::bare(failure.clone()).into());
    }
    let shown = global.answer(&report, |stdout| {
        for issue in &report.issues {
            say(format!("note: {}", issue.message))?;
        }
        if let Some(what) = what.filter(|_| report.batch.is_some()) {
            stdout.line(what)?;
        }
        Ok(stdout.line(report.receipt.as_deref().unwrap_or("nothing had to be changed"))?)
    });
    exit::though_stored(report.batch, shown)?;
    Ok(exit::of_report(&report))
}

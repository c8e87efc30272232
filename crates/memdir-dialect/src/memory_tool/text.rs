//! The texts of the tool's results, to the letter.

use std::fmt::Write;

use super::command::{Asked, Command};
use memdir_core::report::{Code, Failure, Kind, Outcome, Shown, TreeEntry, Value};

/// The most lines that a view shows: their numbers have six digits.
const MAX_LINES: usize = 999_999;

/// How many levels of folders a listing shows.
const LEVELS: usize = 2;

/// How many lines before and after the first changed one a snippet shows.
const AROUND: usize = 2;

/// The text of a result; of one that failed as the error.
pub(crate) fn answer(asked: &Asked, outcome: &Outcome) -> Result<String, String> {
    let value = match &outcome.result {
        Ok(value) => value,
        Err(failure) => return Err(error(asked, failure)),
    };
    let Asked { path, other, .. } = asked;
    Ok(match (asked.command, value, &outcome.shown) {
        (Some(Command::View), _, Some(Shown::Tree(entries))) => listing(path, outcome.path.as_deref(), entries),
        (Some(Command::View), Value::Text(text), _) => return numbered(asked, text),
        (Some(Command::Create), ..) => format!("File created successfully at: {path}"),
        (Some(Command::StrReplace), _, shown) => edited(shown.as_ref()),
        (Some(Command::Insert), ..) => format!("The file {path} has been edited."),
        (Some(Command::Delete), ..) => format!("Successfully deleted {path}"),
        (Some(Command::Rename), ..) => format!("Successfully renamed {path} to {other}"),
        (Some(Command::View) | None, value, _) => serde_json::to_string(value).unwrap_or_default(),
    })
}

/// The lines of a note with their numbers.
fn numbered(asked: &Asked, text: &str) -> Result<String, String> {
    let path = &asked.path;
    if text.split('\n').nth(MAX_LINES).is_some() {
        return Err(format!("File {path} exceeds maximum line limit of 999,999 lines."));
    }
    let (start, end) = asked.range.unwrap_or((1, None));
    let within = |number: &usize| *number as u64 >= start && end.is_none_or(|end| *number as u64 <= end);
    let mut out = format!("Here's the content of {path} with line numbers:\n");
    out.push_str(&lines(text, within));
    Ok(out)
}

/// Numbers the lines that are wanted. What stands after the last line end is a line too.
fn lines(text: &str, wanted: impl Fn(&usize) -> bool) -> String {
    let mut out = String::new();
    for (line, number) in text.split('\n').zip(1..).filter(|(_, number)| wanted(number)) {
        if !out.is_empty() {
            out.push('\n');
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        // Writing to a string cannot fail.
        let _ = write!(out, "{number:>6}\t{line}");
    }
    out
}

fn edited(shown: Option<&Shown>) -> String {
    let Some(Shown::Edited { text, lines: [first, _] }) = shown else {
        return "The memory file has been edited.".to_owned();
    };
    let near = |number: &usize| number.abs_diff(*first) <= AROUND;
    let head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    format!("{head}\n{}", lines(text, near))
}

/// What stands in a folder, folders before what is in them.
fn listing(path: &str, folder: Option<&str>, entries: &[TreeEntry]) -> String {
    let mut size = 0u64;
    let mut shown = Vec::new();
    for entry in entries {
        let below = match folder {
            Some(folder) => entry.path.as_str().strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
            None => Some(entry.path.as_str()),
        };
        if entry.kind == Kind::File {
            size = size.saturating_add(entry.size);
        }
        shown.extend(below.filter(|below| below.split('/').count() <= LEVELS).map(|below| (below, entry)));
    }
    shown.sort_by(|(one, _), (other, _)| one.split('/').cmp(other.split('/')));
    let head = format!("Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:");
    let mut out = format!("{head}\n{}\t{path}", size_words(size));
    let root = path.trim_end_matches('/');
    for (below, entry) in shown {
        let end = if entry.kind == Kind::Directory { "/" } else { "" };
        let _ = write!(out, "\n{}\t{root}/{below}{end}", size_words(entry.size));
    }
    out
}

/// A size in the largest unit of 1024 that it fills, with one decimal where it is not whole.
fn size_words(bytes: u64) -> String {
    let units = ["B", "K", "M", "G"];
    let power = usize::try_from(bytes.max(1).ilog2() / 10).unwrap_or(0).min(units.len() - 1);
    let unit = 1u64 << (10 * power);
    let name = units.get(power).copied().unwrap_or_default();
    if bytes.is_multiple_of(unit) {
        return format!("{}{name}", bytes / unit);
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let number = bytes as f64 / unit as f64;
    format!("{number:.1}{name}")
}

/// The text for a failure: what is published for it, else memdir's own.
fn error(asked: &Asked, failure: &Failure) -> String {
    let Asked { path, other, said, .. } = asked;
    if let Some(said) = said {
        return said.clone();
    }
    let published = match (asked.command, failure.code) {
        (Some(Command::View | Command::StrReplace | Command::Insert), Code::NotFound | Code::NotADirectory) => {
            Some(format!("The path {path} does not exist. Please provide a valid path."))
        }
        (Some(Command::Delete), Code::NotFound | Code::NotADirectory) | (Some(Command::Rename), Code::NotFound) => {
            Some(format!("The path {path} does not exist"))
        }
        (Some(Command::Create), Code::AlreadyExists | Code::IsADirectory) => {
            Some(format!("File {path} already exists"))
        }
        (Some(Command::Rename), Code::AlreadyExists) => Some(format!("The destination {other} already exists")),
        (Some(Command::StrReplace | Command::Insert), Code::IsADirectory) => {
            Some(format!("The path {path} is not a file."))
        }
        (Some(Command::StrReplace), Code::ContentNotFound) => {
            Some(format!("No replacement was performed, old_str `{other}` did not appear verbatim in {path}."))
        }
        (Some(Command::StrReplace), Code::AmbiguousMatch) => Some(several(other, failure)),
        (Some(Command::Insert), _) => failure.details.note_lines.map(|last| {
            format!("Invalid `insert_line` parameter: {}. It should be within the range [0, {last}].", asked.line)
        }),
        (Some(Command::View), Code::NotText | Code::UnsupportedFile) => {
            Some(format!("Unsupported file type for {path}"))
        }
        _ => None,
    };
    match published {
        Some(text) => text,
        None if failure.code == Code::OutsideMemory => "Path would escape /memories directory via symlink".to_owned(),
        // Its hint speaks of arguments that a view does not have.
        None if failure.code == Code::TooLarge && asked.command == Some(Command::View) => failure.message.clone(),
        None => words(failure),
    }
}

fn several(old: &str, failure: &Failure) -> String {
    let lines = failure.details.lines.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
    )
}

/// A failure in memdir's own words.
pub(super) fn words(failure: &Failure) -> String {
    match &failure.hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message.clone(),
    }
}

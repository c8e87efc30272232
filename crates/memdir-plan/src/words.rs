//! The sentences of failures, and the nearest thing that exists.
//!
//! Owns what a model reads when a call fails to plan. Touches nothing but values.

use crate::overlay::Trouble;
use crate::tree::TreeError;
use memdir_core::catalog::shorten;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
pub(crate) use memdir_note::{likeness, nearest};

/// The hint where nothing nearer can be said.
const ALL_NOTES: &str = "list_files shows what there is";

/// "note" or "file", by the name.
pub(crate) fn noun(path: &MemoryPath) -> &'static str {
    if path.is_note() { "note" } else { "file" }
}

/// A path inside a sentence.
pub(crate) fn shown(path: &MemoryPath) -> String {
    shorten(path.as_str())
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Tree(error) => failure(error),
            Trouble::Mixed(path) => Self::new(
                Code::Unavailable,
                format!("`{}` was changed in this batch in a way that this call cannot follow", shown(&path)),
            )
            .with_hint("send it in a batch of its own"),
        }
    }
}

/// Says why a question about a path has no answer.
#[must_use]
pub fn failure(error: TreeError) -> Failure {
    let (code, hint) = match &error {
        TreeError::NotFound(_) => (Code::NotFound, Some("list_files shows what there is")),
        TreeError::IsDirectory(_) => (Code::IsADirectory, Some("list_directory shows what it holds")),
        TreeError::NotDirectory(_) => (Code::NotADirectory, Some("it is a file: name a folder")),
        TreeError::Unsupported(_) => (Code::UnsupportedFile, Some("only files and folders can be used")),
        TreeError::Outside(_) => (Code::OutsideMemory, Some("links may only lead to places inside the memory")),
        TreeError::TooLarge { .. } => {
            (Code::TooLarge, Some("memdir handles no file of this size; open, move or delete it with another program"))
        }
        TreeError::NotKept(_) => (Code::Unavailable, Some("ask for another day; `get_history` lists the changes")),
        TreeError::Stopped => (Code::Timeout, Some("ask for less at once, such as one folder")),
        TreeError::NoAccess(_) | TreeError::Io(_) => (Code::Io, None),
    };
    let told = Failure::new(code, error.to_string());
    match hint {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}

pub(crate) fn is_a_directory(path: &MemoryPath) -> Failure {
    Failure::new(Code::IsADirectory, format!("`{}` is a folder", shown(path)))
        .with_hint("list_directory shows what it holds")
}

pub(crate) fn not_a_directory(path: &MemoryPath) -> Failure {
    Failure::new(Code::NotADirectory, format!("`{}` is not a folder", shown(path)))
        .with_hint("read_file shows what it holds")
}

/// Says that nothing is at a path; the planner names the nearest note, where there may be one.
pub(crate) fn not_found(noun: &str, path: &MemoryPath) -> Failure {
    let failure = Failure::new(Code::NotFound, format!("{noun} `{}` does not exist", shown(path)));
    if noun == "folder" { failure.with_hint(ALL_NOTES) } else { failure }
}

/// What to send instead of the path of a note that does not exist.
pub(crate) fn nearest_hint(nearest: Option<&MemoryPath>) -> String {
    nearest.map_or_else(|| ALL_NOTES.to_owned(), |nearest| format!("the nearest is `{nearest}`"))
}

pub(crate) fn already_exists(noun: &str, path: &MemoryPath, hint: &str) -> Failure {
    Failure::new(Code::AlreadyExists, format!("{noun} `{}` exists", shown(path))).with_hint(hint)
}

/// Says that a file is no text.
#[must_use]
pub fn not_text(path: &MemoryPath) -> Failure {
    Failure::new(Code::NotText, format!("{} `{}` is not UTF-8 text", noun(path), shown(path)))
        .with_hint("it can be renamed, copied, deleted and described, not read or edited")
}

pub(crate) fn is_a_link(path: &MemoryPath, target: &MemoryPath) -> Failure {
    Failure::new(Code::UnsupportedFile, format!("`{}` is a link to `{}`", shown(path), shown(target)))
        .with_hint(format!("use `{target}`"))
}

/// Says that a text or a file is too large.
#[must_use]
pub fn too_large(what: &str, size: usize, limit: u64) -> Failure {
    Failure::new(Code::TooLarge, format!("{what} has {size} bytes, more than {limit}"))
}

/// How many numbers of lines are listed in one sentence.
const MOST_NUMBERS: usize = 20;

/// The numbers of lines as a sentence lists them.
pub(crate) fn listed(lines: &[usize]) -> String {
    let shown: Vec<_> = lines.iter().take(MOST_NUMBERS).map(ToString::to_string).collect();
    let more = if lines.len() > MOST_NUMBERS { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The failure where one place is meant and several lines fit, which it gives.
pub(crate) fn several_lines(code: Code, message: String, lines: Vec<usize>) -> Failure {
    let mut failure = Failure::new(code, message);
    failure.details.lines = Some(lines);
    failure
}

/// The failure for an argument whose value does not fit the note.
pub(crate) fn invalid(index: usize, action: &str, message: &str) -> Failure {
    Failure::new(Code::InvalidAction, format!("action {index}, `{action}`: {message}"))
}

/// "1 line", "3 lines".
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

//! Why something could not be done with a model file.

use std::io::ErrorKind;

use crate::header::HeaderError;

/// Why something could not be done with a model file, by what the person can do about it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ShelfError {
    /// No model can be called that.
    #[error("`{0}` cannot be the name of a model")]
    Name(String),
    /// There is no model of this name.
    #[error("there is no model `{name}` here")]
    NotThere {
        /// The name.
        name: String,
        /// Those that are there.
        known: Vec<String>,
    },
    /// Another file has this name.
    #[error("a model `{0}` is there already, and it is another file")]
    Taken(String),
    /// The catalogue has another file under this name.
    #[error("`{0}` is a model that memdir knows, and this is another file")]
    Reserved(String),
    /// The file is there already, under another name.
    #[error("this file is there already, as `{0}`")]
    Known(String),
    /// The file is none that can be kept.
    #[error("`{file}` is no model that can be kept: {why}")]
    NotAModel {
        /// The name of the file, without its folder.
        file: String,
        /// What is wrong.
        why: HeaderError,
    },
    /// It is one of several files that llama.cpp has split a model into, which do not become whole by being joined.
    #[error("`{0}` is one of the files of a split model, which cannot simply be joined")]
    Split(String),
    /// The files are no parts of one.
    #[error("the files are no parts of one model: {0}")]
    Parts(String),
    /// The file is not what it should be.
    #[error("the file of `{name}` is not what it should be: expected {expected}, found {found}")]
    Changed {
        /// The name of the model.
        name: String,
        /// Its digest, or its size.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// The file of a known model is gone.
    #[error("the file of `{0}` is gone")]
    Missing(String),
    /// What is written down of a model cannot be read.
    #[error("what is written down of `{name}` cannot be read: {why}")]
    Record {
        /// The name of the model.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// Another process is adding or fetching it.
    #[error("another memdir is adding or fetching `{0}`")]
    Busy(String),
    /// The disk has no room for it.
    #[error("there is no room: it takes {} MB, and {} MB are free", .wanted.div_ceil(1_000_000), .free / 1_000_000)]
    Full {
        /// How many bytes it takes.
        wanted: u64,
        /// How many there are.
        free: u64,
    },
    /// The person stopped it.
    #[error("stopped")]
    Cancelled,
    /// The system did not let it happen.
    #[error("`{what}` cannot be {verb}: {kind}")]
    Io {
        /// What was done to it: `opened`, `read`, `written`.
        verb: &'static str,
        /// The name of the file, without its folder.
        what: String,
        /// Why not.
        kind: ErrorKind,
    },
}

impl ShelfError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Name(_) => "send up to 64 of a-z, 0-9, `.`, `_` and `-`, such as `--name qwen3-4b`".to_owned(),
            Self::NotThere { name, known } => not_there(name, known),
            Self::Taken(name) => format!("give it another `--name`, or `memdir model remove {name}` first"),
            Self::Reserved(name) => format!("give it another `--name`; `memdir model fetch {name}` gets that model"),
            Self::Known(name) => format!("use it as `{name}`, or `memdir model remove {name}` first"),
            Self::NotAModel { why: HeaderError::Cut { .. }, .. } => {
                "get the file again, or give all of its parts".to_owned()
            }
            Self::NotAModel { .. } => "give a GGUF file; other files have to be converted first".to_owned(),
            Self::Split(_) => "`llama-gguf-split --merge FIRST OUT.gguf` makes one file of them: add that".to_owned(),
            Self::Parts(_) => "give all of them, numbered in their names, such as `model.part1 model.part2`".to_owned(),
            Self::Changed { name, .. } | Self::Missing(name) | Self::Record { name, .. } => {
                format!("`memdir model remove {name}`, then fetch or add it again")
            }
            Self::Busy(_) => "wait for it to end".to_owned(),
            Self::Full { .. } => "make room, or add a file where it lies with `--in-place`".to_owned(),
            Self::Cancelled => "the same command again starts anew".to_owned(),
            Self::Io { kind: ErrorKind::StorageFull | ErrorKind::QuotaExceeded, .. } => {
                "make room, then give the same command again".to_owned()
            }
            Self::Io { .. } => "`memdir model list` shows where models are kept".to_owned(),
        }
    }
}

fn not_there(name: &str, known: &[String]) -> String {
    if crate::known_models::find(name).is_some() {
        return format!("`memdir model fetch {name}` gets it");
    }
    let rows = crate::known_models::ROWS.iter().map(|row| row.name);
    match memdir_core::catalog::nearest(name, known.iter().map(String::as_str).chain(rows)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`memdir model list` shows what there is, `memdir model add FILE` adds one".to_owned(),
    }
}

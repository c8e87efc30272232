//! [`Grant`]: what a client may see and do.

use super::GlobError;
use super::glob::Glob;
use crate::path::MemoryPath;

/// What a person lets a client see and do. What it does not show is not there for the client.
///
/// Who may write a note may read it too. A grant takes away and never gives: rules and detectors have their say beside it.
///
/// # Examples
///
/// ```
/// use memdir::path::MemoryPath;
/// use memdir::policy::Grant;
///
/// let grant = Grant::new(&["work/**".to_owned()], &["work/log.md".to_owned()], None)?;
/// assert!(grant.shows(&MemoryPath::parse("work/plan.md")?));
/// assert!(!grant.shows(&MemoryPath::parse("private/diary.md")?));
/// assert!(grant.lets_write(&MemoryPath::parse("work/log.md")?));
/// assert!(!grant.lets_write(&MemoryPath::parse("work/plan.md")?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Grant {
    read: Vec<Glob>,
    write: Vec<Glob>,
    /// The names of the actions it may send; `None` for all.
    actions: Option<Vec<String>>,
}

/// What is wrong with a grant.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GrantError {
    /// A glob cannot be read.
    #[error("`{glob}` {problem}")]
    Glob {
        /// As it was written.
        glob: String,
        /// What is wrong.
        problem: GlobError,
    },
    /// There is no such action.
    #[error("unknown action `{0}`")]
    Action(String),
}

impl Grant {
    /// Reads a grant: globs of what may be read and of what may be written, and the names of the actions, `None` for all.
    ///
    /// # Errors
    ///
    /// [`GrantError`] for a glob that no path fits, or a name that no action has.
    pub fn new(read: &[String], write: &[String], actions: Option<&[String]>) -> Result<Self, GrantError> {
        let globs = |globs: &[String]| {
            let glob =
                |glob: &String| Glob::parse(glob).map_err(|problem| GrantError::Glob { glob: glob.clone(), problem });
            globs.iter().map(glob).collect::<Result<Vec<_>, _>>()
        };
        let unknown = actions.and_then(|names| names.iter().find(|name| crate::catalog::row(name).is_none()));
        if let Some(name) = unknown {
            return Err(GrantError::Action(name.clone()));
        }
        Ok(Self { read: globs(read)?, write: globs(write)?, actions: actions.map(<[String]>::to_vec) })
    }

    /// Whether the client may know of what is at `path`.
    #[must_use]
    pub fn shows(&self, path: &MemoryPath) -> bool {
        self.read.iter().chain(&self.write).any(|glob| glob.matches(path))
    }

    /// Whether the client may change what is at `path`.
    #[must_use]
    pub fn lets_write(&self, path: &MemoryPath) -> bool {
        self.write.iter().any(|glob| glob.matches(path))
    }

    /// Whether the client may send this action at all.
    #[must_use]
    pub fn lets_send(&self, action: &str) -> bool {
        self.actions.as_ref().is_none_or(|names| names.iter().any(|name| name == action))
    }
}

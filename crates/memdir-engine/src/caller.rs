//! [`Caller`]: who sends calls to the engine, and what they may do.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Guard, NoteView};
use memdir_core::path::MemoryPath;
use memdir_core::report::Failure;
use memdir_dialect::Parsed;
use memdir_plan::{Plan, Seen};
use memdir_policy::{self as policy, Grant, Mode};
use memdir_vault::Author;

/// Who sends calls to the engine, and what they may do.
///
/// Start from [`Caller::person`], [`Caller::model`] or [`Caller::program`] and change the fields that differ.
///
/// # Examples
///
/// ```
/// use memdir_engine::Caller;
/// use memdir_policy::Mode;
///
/// let caller = Caller { mode: Mode::Ask, ..Caller::model("exec").for_client(Some("shelf".to_owned())) };
/// assert_eq!(caller.author.client.as_deref(), Some("shelf"));
/// ```
#[derive(Clone, Debug)]
pub struct Caller {
    /// How the history names the caller.
    pub author: Author,
    /// What the client was granted; `None` for the owner of the memory.
    pub grant: Option<Arc<Grant>>,
    /// What becomes of calls that somebody should be asked about.
    pub mode: Mode,
    /// Whether only what reads is allowed: no action that writes, no undo, no decision about a proposal.
    pub read_only: bool,
    /// Whether one failed call means that nothing is done.
    pub atomic: bool,
    /// What the conversation has seen before; `None` where there is no conversation.
    pub seen: Option<Seen>,
    /// What may hold the planned changes for approval, beside rules and detectors.
    pub guard: Option<Guard>,
    /// What searching and retrieving look at of each note for them; `None` where that is all.
    pub view: Option<NoteView>,
}

impl Caller {
    /// The owner of the memory, who is not asked about their own calls and gets all of them done or none.
    #[must_use]
    pub fn person(door: &str) -> Self {
        Self { atomic: true, ..Self::new(door, "person") }
    }

    /// A language model that sees the whole memory.
    #[must_use]
    pub fn model(door: &str) -> Self {
        Self::new(door, "model")
    }

    /// A program that uses memdir as a library.
    #[must_use]
    pub fn program(door: &str) -> Self {
        Self::new(door, "program")
    }

    fn new(door: &str, origin: &str) -> Self {
        let (door, origin) = (door.to_owned(), origin.to_owned());
        let author = Author { door, client: None, session: None, message: None, origin };
        Self {
            author,
            grant: None,
            mode: Mode::Off,
            read_only: false,
            atomic: false,
            seen: None,
            guard: None,
            view: None,
        }
    }

    /// The same caller through a client program of this name.
    #[must_use]
    pub fn for_client(mut self, client: Option<String>) -> Self {
        self.author.client = client;
        self
    }

    /// The same caller in a conversation.
    #[must_use]
    pub fn in_session(mut self, session: Option<String>) -> Self {
        self.author.session = session;
        self
    }

    /// The same caller, whose calls belong to this message: its number or name, or its words.
    #[must_use]
    pub fn with_message(mut self, message: Option<String>) -> Self {
        self.author.message = message;
        self
    }

    /// How the history names the caller for a change that is made of the words of this tool, if of any.
    pub(super) fn author_of(&self, tool: Option<&str>) -> Author {
        match tool {
            Some(tool) => Author { origin: format!("tool:{tool}"), ..self.author.clone() },
            None => self.author.clone(),
        }
    }

    /// Refuses something that writes, if the caller may only read.
    pub(super) fn check_write(&self, what: &str) -> Result<(), Failure> {
        if self.read_only { Err(policy::refusal_to_write(what)) } else { Ok(()) }
    }

    /// The grant, if it hides anything.
    pub(super) fn restriction(&self) -> Option<&Grant> {
        self.grant.as_deref().filter(|grant| grant.is_restricted())
    }

    /// A change as far as the caller may be told of it.
    pub(super) fn shown<'p>(&self, plan: &'p Plan) -> Cow<'p, Plan> {
        shown(plan, self.grant.as_deref())
    }

    /// Whether one failure among these calls means that nothing is done.
    pub(super) fn is_atomic(&self, parsed: &Parsed) -> bool {
        self.atomic || parsed.frame.is_atomic()
    }
}

/// A change as far as a client with this grant may be told of it. It cannot be carried out where something is left out: those are
/// the links in notes that the client does not see, and the folders that it does not see.
pub(super) fn shown<'p>(plan: &'p Plan, grant: Option<&Grant>) -> Cow<'p, Plan> {
    match grant.filter(|grant| grant.is_restricted()) {
        Some(grant) => Cow::Owned(plan.shown(|path| grant.shows(path))),
        None => Cow::Borrowed(plan),
    }
}

/// Takes out of a change the files that a client with this grant does not see, and gives them.
pub(super) fn leave_hidden(plan: &mut Plan, grant: Option<&Grant>) -> Vec<MemoryPath> {
    let grant = grant.filter(|grant| grant.is_restricted());
    grant.map(|grant| plan.keep_puts(|path| grant.shows(path))).unwrap_or_default()
}

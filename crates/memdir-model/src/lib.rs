//! The models: what can be asked to write a turn, wherever it runs.
//!
//! Owns the trait [`Model`], what is asked and answered, grammars, and one honest error for each kind of failure. Touches neither network
//! nor files: those who answer are in `memdir_providers`.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use grammar::Grammar;

pub mod embed;
pub mod grammar;
pub mod script;

/// Something that writes the next turn of a conversation.
///
/// An answer is whole or an error: what was cut off by a limit says so in [`Answer::end`], and is never run.
pub trait Model: Send {
    /// What it is.
    fn card(&self) -> &Card;

    /// Writes the next turn. Blocks until it is whole; `hear` is told of it meanwhile, and `stop` ends it soon.
    ///
    /// # Errors
    ///
    /// [`ModelError`], by what the person can do about it. [`ModelError::Cancelled`] where `stop` came first.
    fn answer(
        &mut self,
        request: &Request,
        hear: &mut dyn FnMut(Heard<'_>),
        stop: &CancellationToken,
    ) -> Result<Answer, ModelError>;
}

/// What a model is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Card {
    /// The name that the person gave, or that its server has for it.
    pub name: String,
    /// Where it runs, and so where notes are sent.
    pub place: Place,
    /// How many parameters it has, in units of a million, where that is known.
    pub million_parameters: Option<u64>,
    /// How many tokens a request and its answer may have together, where that is known.
    pub context_tokens: Option<u32>,
    /// Whether it can be held to a [`Shape`].
    pub is_constrained: bool,
}

/// Where a model runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// In this process: nothing leaves it.
    Process,
    /// On a server of this machine, at this address.
    Machine(String),
    /// Somewhere else, at this host: what is asked leaves the machine.
    Host(String),
}

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What it is told before the conversation.
    pub system: String,
    /// The conversation, the oldest message first; the last is of the person or of the program.
    pub messages: Vec<Message>,
    /// How many of the messages, from the first, the next request will begin with too: what an engine may keep of them saves the
    /// reading. A hint.
    pub stable: usize,
    /// What the answer has to follow, where the model can be held to it.
    pub shape: Option<Shape>,
    /// The most tokens the answer may have.
    pub max_tokens: u32,
    /// How freely it chooses: 0 takes the likeliest each time.
    pub temperature: f32,
    /// Texts after which the answer ends; they are part of it.
    pub stop: Vec<String>,
}

/// One message of a conversation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: String,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The person, or the program on their behalf.
    User,
    /// The model.
    Assistant,
}

/// What an answer has to follow. An engine takes the part that it understands.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The turn as it is written, for engines that take grammars.
    pub grammar: Grammar,
    /// The turn as a JSON object with `reply` or `actions`, for servers that take schemas. What follows it is given back as
    /// the turn that says the same: `<reply>…</reply>` or `<actions>…</actions>`.
    pub schema: serde_json::Value,
}

/// What is heard while a model writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Heard<'a> {
    /// So many tokens of the request are read, of so many.
    Reading {
        /// Read so far.
        done: usize,
        /// All that have to be read.
        all: usize,
    },
    /// The next piece of the answer.
    Text(&'a str),
    /// The next piece of what it thinks, where the server tells that apart.
    Thought(&'a str),
    /// The server was busy or broke off; it is asked once more after this time. What was heard so far does not count.
    Again(Duration),
}

/// A turn that a model wrote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Answer {
    /// The turn.
    pub text: String,
    /// What it thought, where the server tells that apart.
    pub thought: Option<String>,
    /// For each line of the text, in thousandths, the probability that the model gave to the least likely token of it before it was held to
    /// a shape; empty where that is not known.
    pub line_chances: Vec<u16>,
    /// Why it ended.
    pub end: End,
    /// Tokens of the request and of the answer. Where a server does not say, they are counted as a token for each four bytes.
    pub input_tokens: u64,
    /// As `input_tokens`, of the answer.
    pub output_tokens: u64,
    /// How many tokens of the request were known from before.
    pub reused_tokens: u64,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// The model had said what it wanted, or a stop text came.
    Done,
    /// A limit of tokens cut it off. It must not be run.
    Cut,
}

/// Why a model did not answer, by what the person can do about it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Nobody answers at that address.
    #[error("no model answers at `{place}`: {why}")]
    Unreachable {
        /// The address, without a key.
        place: String,
        /// What the system says.
        why: String,
    },
    /// It has not answered in time.
    #[error("`{place}` has not answered within {} s", .after.as_secs())]
    Timeout {
        /// The address.
        place: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The key is missing.
    #[error("no key for `{place}`: the environment has no `{variable}`")]
    NoKey {
        /// The address.
        place: String,
        /// The variable of the environment that should hold it.
        variable: String,
    },
    /// The key is refused.
    #[error("`{place}` refuses the key: {why}")]
    Refused {
        /// The address.
        place: String,
        /// What the server says, without the key.
        why: String,
    },
    /// There is no such model there.
    #[error("`{place}` has no model `{name}`")]
    Unknown {
        /// The address, or where models are kept.
        place: String,
        /// The name.
        name: String,
        /// The names that come closest, or those that there are.
        known: Vec<String>,
    },
    /// Asked too often, or out of credit.
    #[error("`{place}` answers no more for now: {why}")]
    Limited {
        /// The address.
        place: String,
        /// What the server says.
        why: String,
        /// When it may be asked again, where it says so.
        again: Option<Duration>,
    },
    /// It is broken or overloaded.
    #[error("`{place}` fails: {why}")]
    Failing {
        /// The address.
        place: String,
        /// What it says.
        why: String,
    },
    /// The connection broke before the turn was whole.
    #[error("the answer of `{place}` broke off")]
    Broken {
        /// The address.
        place: String,
    },
    /// The request has more than the model can take.
    #[error("the conversation has more tokens than the model takes{}", .most.map_or_else(String::new, |most| format!(" ({most})")))]
    TooLong {
        /// How many it takes.
        most: Option<u32>,
    },
    /// The server understands the request and will not answer it, or cannot.
    #[error("`{place}` does not take the request: {why}")]
    Rejected {
        /// The address.
        place: String,
        /// What it says.
        why: String,
    },
    /// What came back is not what its interface says.
    #[error("`{place}` answers something that is no turn: {why}")]
    Garbled {
        /// The address.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The file with the weights is missing, not what it should be, or cannot be loaded.
    #[error("the model `{name}` cannot be loaded: {why}")]
    Unloadable {
        /// The name.
        name: String,
        /// What is wrong.
        why: String,
        /// What to do.
        hint: String,
    },
    /// This program was built without the engine for model files.
    #[error("this memdir was built without the engine for model files")]
    NoEngine,
    /// None is set, and there are several that could be meant.
    #[error("`{place}` has several models, and none is set")]
    Several {
        /// Where they are.
        place: String,
        /// Their names.
        known: Vec<String>,
    },
    /// No model is set, and none was found.
    #[error("no model is set, and no local server answers")]
    NoModel,
    /// The person stopped it.
    #[error("stopped")]
    Cancelled,
}

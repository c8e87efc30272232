//! A block as it was read: steps in a row, and the values they work on.

use std::borrow::Cow;
use std::sync::Arc;

use super::function::Function;
use super::run::Run;
use memdir_core::action::Span;
use memdir_core::report;

/// A block that was read whole: assignments, calls and branches, in which nothing can be repeated.
///
/// Flat, however deep the block was: to copy, compare or drop it takes no stack.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Script {
    pub(super) steps: Vec<Step>,
    /// The variables by their names, as the steps number them.
    pub(super) names: Vec<Name>,
    /// Whether other blocks stand behind it, which are not run.
    pub(super) has_more: bool,
}

impl Script {
    /// Whether it has no step: nothing stands in the block, or only comments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// A variable of a block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Name {
    pub(super) text: String,
    /// What the conversation has set it to before.
    pub(super) given: Option<Value>,
}

/// A line of a block, from 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct LineNumber(pub(super) usize);

impl std::fmt::Display for LineNumber {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(formatter)
    }
}

/// One step, on a stack of values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Step {
    pub(super) line: LineNumber,
    pub(super) act: Act,
}

/// What a step does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Act {
    /// Puts a value on the stack.
    Push(Value),
    /// Puts a variable on the stack.
    Load(usize),
    /// Sets a variable to the top, which goes.
    Store(usize),
    /// Takes the top away.
    Drop,
    /// Makes one text of so many values, as an f-string does.
    Join(usize),
    /// Adds the two on top.
    Add,
    /// Turns the truth of the top around.
    Not,
    /// Compares the two on top; turned around for `!=` and `not in`.
    Compare { how: Comparison, is_negated: bool },
    /// Goes on at a later step.
    Jump(usize),
    /// Takes the top away and goes on at a later step unless it is true.
    Unless(usize),
    /// Goes on at a later step, with the top, when that is as true as `when`; else takes it away.
    Shortcut { when: bool, to: usize },
    /// Calls a function and puts its answer on the stack.
    Call(Site),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Comparison {
    Equal,
    Is,
    In,
}

/// A place where a function is called.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Site {
    pub(super) function: Function,
    /// The parameters whose values are on the stack, the last on top.
    pub(super) given: Vec<usize>,
    /// The variable that gets the answer, where it is the whole of an assignment.
    pub(super) label: Option<usize>,
    /// The statement.
    pub(super) span: Span,
}

/// A value of Python.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Value {
    Text(Arc<str>),
    Bool(bool),
    Number(u64),
    None,
    /// What a call will answer that waits for the person: nobody knows it yet. It can be kept, and stands for this text.
    Waits(Arc<str>),
}

impl Script {
    /// Sets whether other blocks stand behind it.
    pub(crate) fn set_more(&mut self, has_more: bool) {
        self.has_more = has_more;
    }

    /// Goes through the block from its start.
    pub(crate) fn run(&self) -> Run<'_> {
        Run::new(self)
    }
}

impl Value {
    /// A value that the conversation keeps; `None` for one that no block can use.
    pub(super) fn of(value: &report::Value) -> Option<Self> {
        match value {
            report::Value::Bool(flag) => Some(Self::Bool(*flag)),
            report::Value::Text(text) => Some(Self::Text(text.as_str().into())),
            report::Value::Bytes(bytes) => Some(Self::Number(*bytes)),
            report::Value::Nothing => Some(Self::None),
            report::Value::Paths(_)
            | report::Value::Directory(_)
            | report::Value::File(_)
            | report::Value::History(_)
            | report::Value::Search(_)
            | report::Value::Context(_)
            | report::Value::Links(_)
            | report::Value::Entries(_)
            | report::Value::Remembered(_)
            | report::Value::Recent(_)
            | report::Value::Foreign(_)
            | report::Value::Config(_) => None,
        }
    }

    pub(super) fn reported(self) -> report::Value {
        match self {
            Self::Text(text) | Self::Waits(text) => report::Value::Text(text.as_ref().to_owned()),
            Self::Bool(flag) => report::Value::Bool(flag),
            Self::Number(number) => report::Value::Bytes(number),
            Self::None => report::Value::Nothing,
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) | Self::Waits(text) => serde_json::Value::from(text.as_ref()),
            Self::Bool(flag) => (*flag).into(),
            Self::Number(number) => (*number).into(),
            Self::None => serde_json::Value::Null,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Text(text) | Self::Waits(text) => !text.is_empty(),
            Self::Bool(flag) => *flag,
            Self::Number(number) => *number != 0,
            Self::None => false,
        }
    }

    /// What `str` makes of it.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) | Self::Waits(text) => Cow::Borrowed(text),
            Self::Bool(flag) => if *flag { "True" } else { "False" }.into(),
            Self::Number(number) => number.to_string().into(),
            Self::None => "None".into(),
        }
    }

    /// What Python calls its type.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Waits(_) => "str",
            Self::Bool(_) => "bool",
            Self::Number(_) => "int",
            Self::None => "None",
        }
    }

    /// How many bytes it takes beyond its own place.
    pub(super) fn size(&self) -> usize {
        if let Self::Text(text) | Self::Waits(text) = self { text.len() } else { 0 }
    }

    /// A number, or a truth value, which counts as 0 or 1.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Bool(flag) => Some((*flag).into()),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Waits(_) | Self::None => None,
        }
    }

    /// Whether `==` holds.
    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(one), Some(other)) => one == other,
            _ => self == other,
        }
    }
}

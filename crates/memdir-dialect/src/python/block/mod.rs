//! What stands in a block: read whole into steps, then walked once.

use super::refused;
use memdir_core::report::{Code, Failure, Issue};

mod answer;
mod expression;
mod function;
mod literal;
mod parser;
mod run;
mod script;
mod source;
mod token;
mod tree;

pub(super) use parser::parse;
pub(crate) use run::Run;
pub(crate) use script::Script;

use script::LineNumber;

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(Code::InvalidAction, message)
}

fn issue(code: &'static str, message: impl Into<String>) -> Issue {
    Issue { code, index: None, message: message.into() }
}

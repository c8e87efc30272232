//! The actions that know the inside of a note: sections and facts.

use crate::action::{AppendToSection, ReplaceSection, SetFact};
use crate::plan::tree::Tree;
use crate::plan::{Answer, Planner};
use crate::report::{Code, Failure};

impl<T: Tree> Planner<'_, T> {
    pub(super) fn replace_section(&mut self, _replace: &ReplaceSection) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }

    pub(super) fn append_to_section(&mut self, _append: &AppendToSection) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }

    pub(super) fn set_fact(&mut self, _set: &SetFact) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }
}

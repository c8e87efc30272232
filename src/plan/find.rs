//! `search_files`: which notes hold or answer a query, by reading them all.

use crate::action::{Call, SearchFiles};
use crate::plan::tree::Tree;
use crate::plan::{Answer, Planner};
use crate::report::{Code, Failure};

impl<T: Tree> Planner<'_, T> {
    pub(super) fn search_files(&mut self, _call: &Call, _search: &SearchFiles) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }
}

//! `get_links` and `get_backlinks`: where the links of a note lead, and which lead to it.

use crate::action::Call;
use crate::path::MemoryPath;
use crate::plan::tree::Tree;
use crate::plan::{Answer, Planner};
use crate::report::{Code, Failure};

impl<T: Tree> Planner<'_, T> {
    pub(super) fn get_links(&mut self, _call: &Call, _path: &MemoryPath) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }

    pub(super) fn get_backlinks(&mut self, _call: &Call, _path: &MemoryPath) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }
}

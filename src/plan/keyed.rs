//! `memory`: small entries by key, each a note in `memories/`.

use crate::action::{Call, Memory};
use crate::plan::tree::Tree;
use crate::plan::{Answer, Planner};
use crate::report::{Code, Failure};

impl<T: Tree> Planner<'_, T> {
    pub(super) fn memory(&mut self, _call: &Call, _memory: &Memory) -> Result<Answer, Failure> {
        Err(Failure::new(Code::Unavailable, "not built yet"))
    }
}

//! The place that comes closest.
use crate::report::Closest;
pub(crate) struct Found {
    pub(crate) hint: String,
    pub(crate) closest: Option<Closest>,
    pub(crate) old_content: Option<String>,
}
pub(crate) fn find(_text: &str, _old: &str, _new: &str) -> Found {
    Found { hint: "read the note again".into(), closest: None, old_content: None }
}

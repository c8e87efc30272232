//! In the place of [`super::block`] where this is built without the feature `python`: no block is read.

use crate::Entry;
use memdir_core::report::{Code, Failure, Issue, Outcome, Variables};

/// A block that was read, of which there is none here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Script {}

/// Where somebody is in a block.
#[derive(Debug)]
pub(crate) enum Run<'s> {
    #[expect(dead_code, reason = "no block is read, so none is run")]
    Of(&'s Script),
}

impl Script {
    /// Whether it has no step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match *self {}
    }

    pub(crate) fn set_more(&mut self, _: bool) {
        match *self {}
    }

    pub(crate) fn run(&self) -> Run<'_> {
        match *self {}
    }
}

impl Run<'_> {
    pub(crate) fn next_entry(&mut self) -> Option<Entry> {
        let Self::Of(script) = self;
        match **script {}
    }

    pub(crate) fn tell(&mut self, _: &Outcome) {
        let Self::Of(script) = self;
        match **script {}
    }

    pub(crate) fn unnoticed(&self) -> Vec<usize> {
        let Self::Of(script) = self;
        match **script {}
    }

    pub(crate) fn variables(self) -> Variables {
        let Self::Of(script) = self;
        match *script {}
    }
}

/// Refuses the block.
pub(super) fn parse(_: &str, _: usize, _: &Variables) -> Result<(Script, Vec<Issue>), Failure> {
    let failure = Failure::new(Code::Unavailable, "this program reads no `<python>` blocks");
    Err(failure.with_hint("write the actions in another dialect, or build memdir with its feature `python`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, encode, parse};
    use memdir_core::report::Report;

    #[test]
    fn a_block_is_refused_with_what_to_do() {
        let parsed = parse(b"<python>\nx = read_file('user.md')\n</python><reply>So.</reply>");
        assert_eq!((parsed.dialect(), parsed.reply.as_deref()), (Dialect::Python, Some("So.")));
        let [Entry::Unread(unread)] = parsed.entries.as_slice() else { panic!("{parsed:?}") };
        assert_eq!((unread.failure.code, parsed.script.is_some()), (Code::Unavailable, false));
        let answer = encode(&parsed.frame, &Report::of(vec![unread.clone().into()]));
        assert!(answer.contains("or build memdir with its feature `python`"), "{answer}");
        assert!(parse(b"<python></python>").entries.len() == 1);
    }
}

//! Replies that say that something was saved.

/// Finds where a reply says that something was saved, noted, changed or deleted: the bytes of its first such sentence.
pub(super) fn find(reply: &str) -> Option<std::ops::Range<usize>> {
    let _ = reply;
    None
}

/// Takes the sentences that say so out of a reply; `None` where nothing is left.
pub(super) fn remove(reply: &str) -> Option<String> {
    Some(reply.to_owned())
}

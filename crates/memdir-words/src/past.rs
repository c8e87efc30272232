//! Of when the text of a note is that the history gives back.

use memdir_vault::Recorded;

/// Of when the text is that was asked for right after change `at`: a change that did not write the note has not recorded what it
/// held then.
#[must_use]
pub fn then(recorded: Recorded, at: u64) -> String {
    match recorded {
        Recorded::After(batch) if batch == at => format!("after change {at}"),
        Recorded::After(batch) => format!("after change {batch}; change {at} recorded no text of it"),
        Recorded::Before(batch) => format!("before change {batch}; change {at} recorded no text of it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_recorded_no_text_is_not_said_to_have() {
        assert_eq!(then(Recorded::After(2), 2), "after change 2");
        assert_eq!(then(Recorded::After(1), 2), "after change 1; change 2 recorded no text of it");
        assert_eq!(then(Recorded::Before(3), 2), "before change 3; change 2 recorded no text of it");
    }
}

//! A conversation on a terminal of its own, with the editor that a person has.

//! What memdir says to a person in the same words on a terminal and on a page: when, who, what became of a message.
//!
//! Owns words and nothing else. It reads the clock of the person's place, and decides nothing.

pub mod ago;
pub mod past;
pub mod said;
pub mod who;

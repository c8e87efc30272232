//! One Markdown note: so far, the links by which notes name each other.
//!
//! Touches nothing but text and the list of paths given to it.

pub mod link;
pub mod words;

#[cfg(test)]
mod tests;

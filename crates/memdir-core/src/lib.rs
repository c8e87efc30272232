//! The words of memdir: values that all rooms share, with no file, clock or network behind them.
//!
//! A path ([`path`]), a moment ([`time`]), a digest ([`digest`]), the closed list of actions ([`action`]) with one row for each
//! ([`catalog`]), and what became of them ([`report`]).

#![warn(clippy::wildcard_enum_match_arm)]

pub mod action;
pub mod catalog;
pub mod digest;
pub mod json;
pub mod path;
pub mod report;
pub mod retry;
pub mod shell;
pub mod text;
pub mod time;

//! The contract, statement by statement: what the commands read and print.

pub(crate) mod account;
mod actions;
mod codes;
mod commands;
mod exec;
mod lines;
mod modes;
mod search;
mod settings;

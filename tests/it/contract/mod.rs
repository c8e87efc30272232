//! The contract, statement by statement: what the commands read and print.

pub(crate) mod account;
mod actions;
mod check;
mod clients;
mod codes;
mod commands;
mod eval;
mod exec;
mod lines;
mod memory;
mod modes;
mod search;
mod settings;

//! The contract, statement by statement: what the commands read and print.

mod actions;
mod codes;
mod commands;
mod exec;
mod lines;
mod modes;
mod settings;

//! The contract, statement by statement: what the commands read and print.

mod actions;
mod check;
mod codes;
mod commands;
mod exec;
mod lines;
mod memory;
mod modes;
mod settings;

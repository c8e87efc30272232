//! The one integration binary: what people and programs see, through the built `memdir` and through the library.
//!
//! `support` makes a memory and runs the binary on it. Every other module is one promise or one paper of the project.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test may fail loudly, reads files by their path and starts programs; no memory is in danger here"
)]

mod as_of;
mod ask;
mod attacks;
mod bounds;
mod canvas;
mod chat;
mod cli;
mod client;
mod contract;
mod contradiction;
mod conversation;
#[cfg(target_os = "linux")]
mod crash;
mod demo;
mod dialects;
mod docs;
#[cfg(target_os = "linux")]
mod drives;
mod embeddings;
mod forms;
mod grammar;
#[cfg(unix)]
mod hidden;
mod hooks;
mod hub;
mod index;
mod install;
mod mcp_http;
mod mcp_resources;
mod mcp_stdio;
mod model;
mod models;
mod obsidian;
mod operators;
mod processes;
mod provenance;
mod python;
mod repair;
#[cfg(unix)]
mod review;
mod rules;
mod sandbox;
mod scenarios;
mod sessions;
mod strangers;
mod suites;
mod support;
mod talk;
mod tidy;
mod told;
mod tool_calls;
mod tools;
mod updates;
mod vaults;
mod verbs;
mod web;
mod wrong;
mod year;

//! The command line: how people and scripts come in.
//!
//! Owns arguments, settings, exit codes and the words that people read. Reads the clock, the environment and the
//! settings file, and opens the memory's handle. Decides nothing about memory.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

mod actions;
mod approve;
mod args;
mod ask;
mod audit;
mod chat;
mod check;
mod client;
mod config;
mod conversation;
mod doctor;
mod eval;
mod exec;
mod exit;
mod facts;
mod file;
mod forget;
mod history;
mod init;
mod install;
mod interrupt;
mod links;
mod look;
mod mcp;
mod meaning;
mod model;
mod one;
mod open;
mod pending;
mod progress;
mod repair;
mod rules;
mod search;
mod session;
mod stats;
mod talk;
mod term;
mod trace;

use args::{Cli, Command, Global};
use exit::{Stop, usage};

/// Runs the program and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, arguments.iter().any(|argument| argument == "--json")),
    };
    let Cli { global, command } = cli;
    match run(&global, command) {
        Ok(code) => ExitCode::from(code),
        Err(stop) => stop.end(global.json),
    }
}

fn run(global: &Global, command: Command) -> Result<u8, Stop> {
    trace::start(global.log.as_deref())?;
    match command {
        Command::Init { dir } => init::run(global, dir),
        Command::Exec(options) => exec::run(global, &options),
        Command::Tree { folder, page } => look::tree(global, folder.as_deref(), &page),
        Command::Read { note } => look::read(global, &note),
        Command::Search(options) => search::run(global, &options),
        Command::Links { note } => links::run(global, note.as_deref()),
        Command::Facts { note, page } => facts::run(global, note.as_deref(), &page),
        Command::Check { kind, all } => check::run(global, kind, all),
        Command::Log { note: Some(note), lines: true, .. } => history::lines(global, &note),
        Command::Log { stats: true, .. } => stats::run(global),
        Command::Log { note, client, patch, page, .. } => history::log(global, note.as_deref(), client, patch, &page),
        Command::Diff { batch } => history::diff(global, batch),
        Command::Undo { batch, dry_run } => history::undo(global, batch, dry_run),
        Command::Restore { note, at, dry_run } => history::restore(global, &note, at, dry_run),
        Command::Rules { asked } => rules::run(global, asked.as_ref()),
        Command::Audit(asked) => audit::run(global, &asked),
        Command::Forget(options) => forget::run(global, &options),
        Command::Pending => pending::run(global),
        Command::Approve(options) => approve::approve(global, &options),
        Command::Reject { id, never } => approve::reject(global, id, never),
        Command::Actions { prompt, markdown, offer } => actions::list(global, prompt, markdown, offer),
        Command::Schema { format, lines, offer } => actions::schema(global, format, &lines, offer),
        Command::Eval(asked) => eval::run(global, &asked),
        Command::Ask(options) => ask::run(global, &options),
        Command::Session(asked) => session::run(global, &asked),
        Command::Chat(options) => chat::run(global, &options),
        Command::Mcp(options) => mcp::run(global, &options),
        Command::Client(asked) => client::run(global, &asked),
        Command::Model(asked) => model::run(global, &asked),
        Command::Install(options) => install::run(global, &options),
        Command::Doctor(options) => doctor::run(global, &options),
        Command::Completions { shell } => actions::completions(global, shell),
    }
}

/// Says what is wrong with the arguments, or prints the help that was asked for.
fn explain(error: &clap::Error, json: bool) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if json && !is_help {
        let text = error.render().to_string();
        let said = text.lines().map(str::trim).take_while(|line| !line.is_empty());
        let message = said.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned();
        return Stop::from(usage(message, "`memdir --help` shows what can be typed")).end(true);
    }
    // Nothing can be said where standard error is closed.
    let _ = error.print();
    if is_help { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

//! The command line: how people and scripts come in.
//!
//! Owns arguments, settings, exit codes and the words that people read. Reads the clock, the environment and the
//! settings file, and opens the memory's handle. Decides nothing about memory.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

mod actions;
mod ago;
mod approve;
mod args;
mod ask;
mod audit;
mod changes;
mod chat;
mod check;
mod client;
mod config;
mod conversation;
mod demo;
mod doctor;
mod draft;
mod eval;
mod exec;
mod exit;
mod facts;
mod file;
mod forget;
mod history;
mod hits;
mod init;
mod install;
mod interrupt;
mod links;
mod look;
mod mcp;
mod meaning;
mod mistake;
mod model;
mod one;
mod open;
mod pending;
mod progress;
mod question;
mod repair;
mod rules;
mod search;
mod session;
mod shell;
mod stats;
mod status;
mod talk;
mod term;
mod trace;
mod verbs;
mod walk;

use args::{
    AccountCommand, Cli, Command, ConsentCommand, Global, NotesCommand, OwnCommand, ProgramsCommand, VerbsCommand,
};
use exit::{Stop, usage};

/// The note about the person.
const PERSON: &str = "user.md";

/// Runs the program and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, &arguments),
    };
    let Cli { global, command } = cli;
    match run(&global, command.unwrap_or(Command::Own(OwnCommand::Status))) {
        Ok(code) => ExitCode::from(code),
        Err(stop) => stop.end(global.json),
    }
}

fn run(global: &Global, command: Command) -> Result<u8, Stop> {
    trace::start(global.log.as_deref())?;
    match command {
        Command::Notes(command) => run_notes(global, command),
        Command::Verbs(command) => run_verb(global, command),
        Command::Account(command) => run_account(global, command),
        Command::Consent(command) => run_consent(global, command),
        Command::Programs(command) => run_programs(global, command),
        Command::Own(command) => run_own(global, command),
    }
}

fn run_notes(global: &Global, command: NotesCommand) -> Result<u8, Stop> {
    match command {
        NotesCommand::Init(options) => init::run(global, options.dir, options.yes),
        NotesCommand::Demo(options) => demo::run(global, options.dir),
        NotesCommand::Exec(options) => exec::run(global, &options),
        NotesCommand::Tree(options) => look::tree(global, options.folder.as_deref(), &options.page),
        NotesCommand::Read(options) => look::read(global, &options.note),
        NotesCommand::Search(options) => search::run(global, &options),
        NotesCommand::Links(options) => links::run(global, options.note.as_deref()),
        NotesCommand::Facts(options) => facts::run(global, options.note.as_deref(), &options.page),
        NotesCommand::Check(options) => check::run(global, options.kind, options.all),
    }
}

fn run_verb(global: &Global, command: VerbsCommand) -> Result<u8, Stop> {
    match command {
        VerbsCommand::Remember(options) => verbs::remember(global, &options),
        VerbsCommand::Set(options) => verbs::set(global, &options),
        VerbsCommand::Add(options) => verbs::add(global, &options),
        VerbsCommand::New(options) => verbs::new(global, &options),
        VerbsCommand::Edit(options) => verbs::edit(global, &options),
        VerbsCommand::Mv(options) => verbs::rename(global, &options),
        VerbsCommand::Rm(options) => verbs::remove(global, &options),
        VerbsCommand::Open(options) => verbs::open_note(global, &options),
    }
}

fn run_account(global: &Global, command: AccountCommand) -> Result<u8, Stop> {
    match command {
        AccountCommand::Log(options) => match &options.note {
            Some(note) if options.lines => history::lines(global, note),
            _ if options.stats => stats::run(global),
            _ => history::log(global, &options),
        },
        AccountCommand::Diff(options) => history::diff(global, options.batch),
        AccountCommand::Undo(options) => history::undo(global, options.batch, options.dry_run),
        AccountCommand::Restore(options) => history::restore(global, &options.note, options.at, options.dry_run),
    }
}

fn run_consent(global: &Global, command: ConsentCommand) -> Result<u8, Stop> {
    match command {
        ConsentCommand::Rules { asked } => rules::run(global, asked.as_ref()),
        ConsentCommand::Audit(asked) => audit::run(global, &asked),
        ConsentCommand::Forget(options) => forget::run(global, &options),
        ConsentCommand::Pending => pending::run(global),
        ConsentCommand::Approve(options) => approve::approve(global, &options),
        ConsentCommand::Reject(options) => approve::reject(global, &options),
    }
}

fn run_programs(global: &Global, command: ProgramsCommand) -> Result<u8, Stop> {
    match command {
        ProgramsCommand::Actions(options) => actions::list(global, options.prompt, options.markdown, options.offer),
        ProgramsCommand::Schema(options) => actions::schema(global, options.format, &options.lines, options.offer),
        ProgramsCommand::Ask(options) => ask::run(global, &options),
        ProgramsCommand::Session(asked) => session::run(global, &asked),
        ProgramsCommand::Chat(options) => chat::run(global, &options),
        ProgramsCommand::Mcp(options) => mcp::run(global, &options),
        ProgramsCommand::Client(asked) => client::run(global, &asked),
        ProgramsCommand::Install(options) => install::run(global, &options),
    }
}

fn run_own(global: &Global, command: OwnCommand) -> Result<u8, Stop> {
    match command {
        OwnCommand::Model(asked) => model::run(global, &asked),
        OwnCommand::Eval(asked) => eval::run(global, &asked),
        OwnCommand::Status => status::run(global),
        OwnCommand::Doctor(options) => doctor::run(global, &options),
        OwnCommand::Version => version(),
        OwnCommand::Completions { shell } => actions::completions(global, shell),
    }
}

fn version() -> Result<u8, Stop> {
    writeln!(io::stdout(), "memdir {}", env!("CARGO_PKG_VERSION"))?;
    Ok(0)
}

/// Says what is wrong with the arguments, or prints the help that was asked for.
fn explain(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let json = arguments.iter().any(|argument| argument == "--json");
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let Some(failure) = mistake::unknown(error, arguments) {
        return Stop::from(failure).end(json);
    }
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

//! The command line: how people and scripts come in.
//!
//! Owns arguments, settings, exit codes and the words that people read. Reads the clock, the environment and the
//! settings file, and opens the memory's handle. Decides nothing about memory.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;

mod actions;
mod approve;
mod args;
mod ask;
mod audit;
mod changes;
mod chat;
mod check;
mod client;
mod command;
mod config;
mod config_command;
mod conversation;
mod demo;
mod desktop;
mod doctor;
mod draft;
mod eval;
mod exec;
mod exit;
mod facts;
mod file;
mod forget;
mod hint;
mod history;
mod hits;
mod hook;
mod index;
mod init;
mod install;
mod interrupt;
mod links;
mod look;
mod mcp;
mod mistake;
mod model;
mod one;
mod open;
mod output;
mod pending;
mod person_files;
mod private_file;
mod progress;
mod question;
mod repair;
mod review;
mod rules;
mod search;
mod serve;
mod serve_chat;
mod session;
mod stats;
mod status;
mod stop;
mod talk;
mod term;
mod tidy;
mod tools;
mod trace;
mod undo_server;
mod verbs;

use args::Global;
use command::{
    AccountCommand, CareCommand, Cli, Command, ConsentCommand, HubCommand, NotesCommand, OwnCommand, ProgramsCommand,
    VerbsCommand,
};
use stop::{Stop, usage};

/// Runs the program and gives its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if tools::was_guard(&arguments) {
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::read(&arguments) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, &arguments),
    };
    let Cli { global, command } = cli;
    let is_hook = hook::is_hook(&arguments);
    match run(&global, command.unwrap_or(Command::Own(OwnCommand::Status))) {
        Ok(code) => ExitCode::from(code),
        // Whatever is wrong, the program that runs a hook goes on.
        Err(stop) if is_hook => {
            stop.end(false);
            ExitCode::SUCCESS
        }
        Err(stop) => stop.end(global.json),
    }
}

fn run(global: &Global, command: Command) -> Result<u8, Stop> {
    trace::start(global.log.as_deref())?;
    match command {
        Command::Notes(command) => run_notes(global, command),
        Command::Care(command) => run_care(global, command),
        Command::Verbs(command) => run_verb(global, command),
        Command::Account(command) => run_account(global, command),
        Command::Consent(command) => run_consent(global, command),
        Command::Programs(command) => run_programs(global, command),
        Command::Hub(HubCommand::Tools { command }) => tools::run(global, command.as_ref()),
        Command::Own(command) => run_own(global, command),
    }
}

fn run_notes(global: &Global, command: NotesCommand) -> Result<u8, Stop> {
    match command {
        NotesCommand::Init { dir, yes } => init::run(global, dir, yes),
        NotesCommand::Demo { dir } => demo::run(global, dir),
        NotesCommand::Exec(options) => exec::run(global, &options),
        NotesCommand::Tree { folder, then, page } => look::tree(global, folder.as_deref(), &then, &page),
        NotesCommand::Read { note, then } => look::read(global, &note, &then),
        NotesCommand::Search(options) => search::run(global, &options),
    }
}

fn run_care(global: &Global, command: CareCommand) -> Result<u8, Stop> {
    match command {
        CareCommand::Links { note } => links::run(global, note.as_deref()),
        CareCommand::Facts { note, why, all, then, page } => {
            facts::run(global, note.as_deref(), facts::Asked { why, all }, &then, &page)
        }
        CareCommand::Check { kind, all } => check::run(global, kind, all),
        CareCommand::Review => review::run(global),
        CareCommand::Tidy { dry_run } => tidy::run(global, dry_run),
    }
}

fn run_verb(global: &Global, command: VerbsCommand) -> Result<u8, Stop> {
    match command {
        VerbsCommand::Remember(options) => verbs::remember(global, &options),
        VerbsCommand::Set(options) => verbs::set(global, &options),
        VerbsCommand::Add(options) => verbs::add(global, &options),
        VerbsCommand::New(options) => verbs::new(global, &options),
        VerbsCommand::Edit { note } => verbs::edit(global, &note),
        VerbsCommand::Mv(options) => verbs::rename(global, &options),
        VerbsCommand::Rm(options) => verbs::remove(global, &options),
        VerbsCommand::Open { note, editor } => verbs::open_note(global, note.as_deref(), editor),
    }
}

fn run_account(global: &Global, command: AccountCommand) -> Result<u8, Stop> {
    match command {
        AccountCommand::Log(options) => match &options.note {
            Some(note) if options.lines => history::lines(global, note),
            _ if options.stats => stats::run(global, options.tools.filter().as_ref()),
            _ if options.tools.filter().is_some() => {
                let hint = "add `--stats`; `memdir audit calls` lists them";
                Err(usage("`memdir log` lists changes, and calls of tools are none", hint).into())
            }
            _ => history::log(global, &options),
        },
        AccountCommand::Diff { batch } => history::diff(global, batch),
        AccountCommand::Undo { server: Some(server), dry_run, yes, .. } => {
            undo_server::run(global, &server, dry_run, yes)
        }
        AccountCommand::Undo { batch, dry_run, .. } => history::undo(global, batch, dry_run),
        AccountCommand::Restore { note, at, dry_run } => history::restore(global, &note, at, dry_run),
    }
}

fn run_consent(global: &Global, command: ConsentCommand) -> Result<u8, Stop> {
    match command {
        ConsentCommand::Rules { command } => rules::run(global, command.as_ref()),
        ConsentCommand::Audit(command) => audit::run(global, &command),
        ConsentCommand::Forget(options) => forget::run(global, &options),
        ConsentCommand::Pending => pending::run(global),
        ConsentCommand::Approve(options) => approve::approve(global, &options),
        ConsentCommand::Reject(options) => approve::reject(global, &options),
    }
}

fn run_programs(global: &Global, command: ProgramsCommand) -> Result<u8, Stop> {
    match command {
        ProgramsCommand::Actions { prompt, markdown, offer } => actions::list(global, prompt, markdown, offer),
        ProgramsCommand::Schema(options) => actions::schema(global, options.format, &options.lines, options.offer),
        ProgramsCommand::Ask(options) => ask::run(global, &options),
        ProgramsCommand::Session(command) => session::run(global, &command),
        ProgramsCommand::Chat(options) => chat::run(global, &options),
        ProgramsCommand::Mcp(options) => mcp::run(global, &options),
        ProgramsCommand::Serve(options) => serve::run(global, &options),
        ProgramsCommand::Client(command) => client::run(global, &command),
        ProgramsCommand::Install(options) => install::run(global, &options),
        ProgramsCommand::Hook(options) => hook::run(global, &options),
    }
}

fn run_own(global: &Global, command: OwnCommand) -> Result<u8, Stop> {
    match command {
        OwnCommand::Model(command) => model::run(global, &command),
        OwnCommand::Eval(command) => eval::run(global, &command),
        OwnCommand::Config { key, command } => config_command::run(global, key.as_deref(), command.as_ref()),
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
    if hook::is_hook(arguments) && error.use_stderr() {
        // Another status would keep the person's messages from some of the programs.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
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

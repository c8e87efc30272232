//! `memdir exec`: a text that a model wrote in, an answer for it out.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::args::{Exec, Global};
use super::conversation::Conversation;
use super::exit;
use super::output::{Lines, print_json};
use super::stop::Stop;
use super::{file, open, term};
use memdir_core::report::{Failure, Report, Variables};
use memdir_dialect::{self as dialect, Entry, Frame, Parsed};
use memdir_engine::{Caller, ConversationUpdate};

/// The longest text that is read.
const MAX_INPUT_BYTES: u64 = 256 << 20;
/// How many calls that failed are named to the person.
const MOST_UNDONE: usize = 3;

pub(super) fn run(global: &Global, options: &Exec) -> Result<u8, Stop> {
    let opened = open::open_for_one_turn(global)?;
    let input = file::read_input("text", MAX_INPUT_BYTES)?;
    let limit = opened.config.lock_timeout();
    let conversation = options.conversation.as_deref().map(|file| Conversation::open(file, limit)).transpose()?;
    let variables = conversation.as_ref().map(Conversation::variables).unwrap_or_default();
    let parsed = dialect::parse_as(&input, options.dialect, &variables);
    drop(input);
    trace(&parsed);
    let frame = parsed.frame.clone();
    let nothing = ConversationUpdate { seen: None, variables: true, batch: None };
    let (mut report, keep) = match parsed.nothing_read() {
        Some(error) => (empty(parsed, error), nothing),
        None => {
            let caller = Caller {
                mode: options.permission.unwrap_or(opened.config.permission.exec),
                read_only: options.read_only,
                atomic: options.atomic,
                seen: conversation.as_ref().map(Conversation::seen),
                ..Caller::model("exec").for_client(options.client.clone())
            };
            let proposal = opened.engine.propose(parsed, caller);
            if options.dry_run {
                (opened.engine.preview(proposal), nothing)
            } else {
                opened.engine.conclude_in_conversation(proposal)
            }
        }
    };
    let kept = match conversation {
        Some(conversation) if !options.dry_run => {
            let none = Variables::default();
            conversation.keep(memdir_host::now(), if keep.variables { &report.variables } else { &none }, keep.seen)
        }
        _ => Ok(()),
    };
    report.bound();
    let printed = print(global, &frame, &mut report);
    if !global.json {
        say_rest(&report)?;
    }
    exit::though_stored(report.batch, printed)?;
    kept?;
    Ok(exit::of_report(&report))
}

/// Prints what programs and models read.
fn print(global: &Global, frame: &Frame, report: &mut Report) -> Result<(), Stop> {
    if global.json {
        if !matches!(frame, Frame::Native | Frame::Lines) {
            report.answer = Some(dialect::encode(frame, report));
        }
        return print_json(report);
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(term::json(&dialect::encode(frame, report), &stdout).as_bytes())?;
    stdout.write_all(b"\n")?;
    Ok(stdout.flush()?)
}

fn empty(parsed: Parsed, error: Failure) -> Report {
    Report { issues: parsed.issues, error: Some(error), ..Report::of(Vec::new()) }
}

/// Tells the person what the model's answer does not say: the receipt and the repairs.
fn say_rest(report: &Report) -> Result<(), Stop> {
    let mut stderr = io::stderr().lock();
    if let Some(diff) = report.diff.as_deref().filter(|diff| !diff.is_empty()) {
        writeln!(stderr, "{}", term::diff(diff, &stderr))?;
    }
    for issue in &report.issues {
        let place = issue.index.map_or_else(String::new, |index| format!("action {index}: "));
        stderr.line(format!("note: {place}{}", issue.message))?;
    }
    if let Some(error) = &report.error {
        stderr.line(format!("memdir: {}", error.message))?;
    }
    if let Some(receipt) = &report.receipt {
        stderr.line(receipt)?;
    }
    let failures = || report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err());
    let mut undone = failures().filter(|failure| failure.details.proposal.is_none());
    for failure in undone.by_ref().take(MOST_UNDONE) {
        stderr.line(format!("not done: {}", failure.message))?;
    }
    match undone.count() {
        0 => {}
        more => writeln!(stderr, "not done: {more} more")?,
    }
    let waiting: BTreeSet<u64> = failures().filter_map(|failure| failure.details.proposal).collect();
    for id in waiting {
        writeln!(stderr, "proposal {id} waits for you: memdir pending")?;
    }
    Ok(())
}

/// Says how the text was read, without what it says.
fn trace(parsed: &Parsed) {
    let calls = parsed.entries.len();
    tracing::info!(dialect = ?parsed.dialect(), calls, has_reply = parsed.reply.is_some(), "text parsed");
    for issue in &parsed.issues {
        tracing::info!(code = issue.code, index = issue.index, "repaired or noticed");
    }
    for entry in &parsed.entries {
        if let Entry::Unread(unread) = entry {
            let action = unread.action.as_deref().filter(|name| memdir_core::catalog::row(name).is_some());
            tracing::info!(index = unread.index, action, code = %unread.failure.code, "call not read");
        }
    }
}

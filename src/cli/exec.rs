//! `memdir exec`: a text that a model wrote in, an answer for it out.

use std::io::{self, Read, Write};

use super::args::{Exec, Global};
use super::conversation::Conversation;
use super::exit::{self, Stop, print_json, usage};
use super::{open, term};
use crate::dialect::{self, Dialect, Entry, Frame, Parsed};
use crate::engine::{Keep, Manner};
use crate::report::{Code, Failure, Report, Variables};

/// The longest text that is read.
const MAX_INPUT_BYTES: u64 = 256 << 20;

pub(super) fn run(global: &Global, options: &Exec) -> Result<u8, Stop> {
    let opened = open::open_for_one_turn(global)?;
    let input = read_input()?;
    let limit = opened.config.lock_timeout();
    let conversation = options.conversation.as_deref().map(|file| Conversation::open(file, limit)).transpose()?;
    let variables = conversation.as_ref().map(Conversation::variables).unwrap_or_default();
    let parsed = dialect::parse_as(&input, options.dialect.named(), &variables);
    drop(input);
    trace(&parsed);
    let frame = parsed.frame.clone();
    let nothing = Keep { seen: None, variables: true, batch: None };
    let (mut report, keep) = match nothing_read(&parsed) {
        Some(error) => (empty(parsed, error), nothing),
        None => {
            let manner = Manner {
                author: open::author("exec", options.client.clone(), "model"),
                grant: None,
                mode: options.permission.map_or(opened.config.permission.exec, Into::into),
                read_only: options.read_only,
                atomic: options.atomic,
                seen: conversation.as_ref().map(Conversation::seen),
            };
            let proposal = opened.engine.propose(parsed, manner);
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
            conversation.keep(open::now(), if keep.variables { &report.variables } else { &none }, keep.seen)
        }
        _ => Ok(()),
    };
    report.bound();
    let printed = print(global, &frame, &mut report);
    if !global.json {
        tell(&report)?;
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

fn read_input() -> Result<Vec<u8>, Stop> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT_BYTES + 1).read_to_end(&mut input).map_err(|error| {
        usage(format!("standard input cannot be read: {}", error.kind()), "pipe the model's text into it")
    })?;
    if u64::try_from(input.len()).unwrap_or(u64::MAX) > MAX_INPUT_BYTES {
        return Err(usage(format!("the text has more than {MAX_INPUT_BYTES} bytes"), "send less at once").into());
    }
    Ok(input)
}

/// Why nothing can be done at all: no reply, and no call whose action could be read.
fn nothing_read(parsed: &Parsed) -> Option<Failure> {
    let is_named = |entry: &Entry| match entry {
        Entry::Call(_) => true,
        Entry::Unread(unread) => unread.action.is_some(),
    };
    if parsed.reply.is_some() || parsed.script.is_some() || parsed.entries.iter().any(is_named) {
        return None;
    }
    let unread = parsed.entries.iter().find_map(|entry| match entry {
        Entry::Unread(unread) => Some(&unread.failure),
        Entry::Call(_) => None,
    });
    Some(match unread {
        Some(failure) => Failure { code: Code::NoActions, ..failure.clone() },
        None => Failure::new(Code::NoActions, "the text holds neither actions nor a reply").with_hint(
            match parsed.dialect() {
                Dialect::Python => "send <python>…</python> or <reply>…</reply>",
                Dialect::McpBlock => "send <mcp:tool>…</mcp:tool> or <reply>…</reply>",
                _ => "send <actions>[{\"action\":\"read_file\",\"path\":\"user.md\"}]</actions> or <reply>…</reply>",
            },
        ),
    })
}

fn empty(parsed: Parsed, error: Failure) -> Report {
    Report { issues: parsed.issues, error: Some(error), ..Report::of(Vec::new()) }
}

/// Tells the person what the model's answer does not say: the receipt and the repairs.
fn tell(report: &Report) -> Result<(), Stop> {
    let mut stderr = io::stderr().lock();
    if let Some(diff) = report.diff.as_deref().filter(|diff| !diff.is_empty()) {
        writeln!(stderr, "{}", term::diff(diff, &stderr))?;
    }
    for issue in &report.issues {
        let place = issue.index.map_or_else(String::new, |index| format!("action {index}: "));
        writeln!(stderr, "note: {place}{}", term::escape_line(&issue.message))?;
    }
    if let Some(error) = &report.error {
        writeln!(stderr, "memdir: {}", term::escape_line(&error.message))?;
    }
    if let Some(receipt) = &report.receipt {
        writeln!(stderr, "{}", term::escape_line(receipt))?;
    }
    let is_failed = |failure: &&Failure| failure.details.proposal.is_none();
    for failure in report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err()).filter(is_failed).take(3) {
        writeln!(stderr, "not done: {}", term::escape_line(&failure.message))?;
    }
    let failures = report.actions.iter().filter_map(|outcome| outcome.result.as_ref().err());
    let mut waiting: Vec<u64> = failures.filter_map(|failure| failure.details.proposal).collect();
    waiting.sort_unstable();
    waiting.dedup();
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
            let action = unread.action.as_deref().filter(|name| crate::catalog::row(name).is_some());
            tracing::info!(index = unread.index, action, code = %unread.failure.code, "call not read");
        }
    }
}

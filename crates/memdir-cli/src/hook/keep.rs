//! Keeping a conversation as a note, where the person wants that: all that was said, secrets left out, nothing picked out.

use std::fmt::Write;
use std::path::Path;

use super::program::{Input, Program};
use super::transcript::{self, Said};
use crate::file;
use crate::stop::usage;
use memdir_core::action::{Action, Call, WriteFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_dialect::Parsed;
use memdir_engine::{Caller, Engine};
use memdir_policy::{Filter, holds_secret};

/// The longest file of a conversation that is read.
const MOST_BYTES: u64 = 64 << 20;
/// The folder of the notes.
const FOLDER: &str = "conversations";
/// How many notes a conversation may have: another one each time its note was edited.
const MOST_NOTES: usize = 9;
/// The length of what names a session in the name of its note.
const NAME: usize = 8;

/// Writes the conversation that `input` names into its note, as any write: reviewed, journaled, undoable. The same conversation
/// replaces its note. Gives what to tell the person, if anything was written.
pub(super) fn keep(
    engine: &Engine,
    caller: Caller,
    program: Program,
    input: &Input,
    now: Timestamp,
    most: usize,
) -> Result<Option<String>, Failure> {
    let Some(file) = &input.transcript else { return Ok(None) };
    let said = transcript::read(&read(file)?);
    if said.is_empty() {
        return Ok(None);
    }
    let day = said.iter().find_map(|said| day(said.time.as_deref()?)).unwrap_or_else(|| now.to_string());
    let day = day.get(..10).unwrap_or_default().to_owned();
    let Some(content) = note(program, &day, &said, most) else { return Ok(None) };
    if holds_secret(&content) {
        return Err(Failure::new(Code::Denied, "the conversation holds a secret that cannot be taken out"));
    }
    let (path, if_digest) = free_place(engine, program, &day, input.session.as_deref(), &content)?;
    let write = WriteFile { path, content, if_digest };
    // By the setting the person has agreed that conversations are kept; who is to ask each time still does.
    let call = Call { claimed: true, ..Call::plain(1, Action::WriteFile(write)) };
    let report = engine.conclude(engine.propose(Parsed::of([call]), caller));
    match report.actions.into_iter().find_map(|outcome| outcome.result.err()) {
        Some(failure) => Err(failure),
        None => Ok(report.receipt),
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    let unread = |kind| usage(format!("the conversation cannot be read: {}", file::why(kind)), "it is not kept");
    let (bytes, _) = file::read(file, MOST_BYTES)
        .map_err(|error| unread(error.kind()))?
        .ok_or_else(|| unread(std::io::ErrorKind::NotFound))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a conversation is written, with the digest of what stands there: its note, or the next one of that name where the note says
/// what the conversation does not, since somebody has edited it.
fn free_place(
    engine: &Engine,
    program: Program,
    day: &str,
    session: Option<&str>,
    content: &str,
) -> Result<(MemoryPath, Option<Digest>), Failure> {
    for number in 1..=MOST_NOTES {
        let path = path(program, day, session, number)?;
        let Some(text) = engine.text_of(&path) else { return Ok((path, None)) };
        if spoken(content).starts_with(spoken(&text)) {
            return Ok((path, Some(Digest::of(text.as_bytes()))));
        }
    }
    Err(Failure::new(Code::AlreadyExists, "the notes of this conversation were edited; it is not kept again"))
}

/// What a note of a conversation says below its head.
fn spoken(text: &str) -> &str {
    text.find("\n## ").and_then(|at| text.get(at..)).unwrap_or(text)
}

/// The date of a time, if it is one.
fn day(time: &str) -> Option<String> {
    let day = time.get(..10)?;
    Timestamp::parse(day).is_ok().then(|| day.to_owned())
}

/// The note of a session, the same whenever it is kept.
fn path(program: Program, day: &str, session: Option<&str>, number: usize) -> Result<MemoryPath, Failure> {
    let named: String = session.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect();
    // The end: some programs begin their numbers with the time.
    let named = named.get(named.len().saturating_sub(NAME)..).unwrap_or_default().to_ascii_lowercase();
    let dash = if named.is_empty() { "" } else { "-" };
    let more = if number > 1 { format!("-{number}") } else { String::new() };
    let path = format!("{FOLDER}/{day}-{}{dash}{named}{more}.md", program.name());
    MemoryPath::parse(&path).map_err(|error| Failure::new(Code::InvalidPath, error.to_string()))
}

/// A conversation as a note of at most `most` bytes. What was said stands in blocks of text, so that nothing in it is a link,
/// a task, a fact or a tag of this note. Of a long one the end is kept; `None` where not even that has room.
fn note(program: Program, day: &str, said: &[Said], most: usize) -> Option<String> {
    const CUT: &str = "\nThe beginning was too long to be kept.\n";
    /// As long as the line can be that tells how many lines were left out.
    const LEFT_OUT: usize = 60;
    let secrets = Filter::compile("secret");
    let mut head =
        format!("---\nprogram: {}\ndate: {day}\n---\n\n# Conversation in {}\n", program.name(), program.title());
    let mut room = most.saturating_sub(head.len() + LEFT_OUT + CUT.len());
    let (mut blocks, mut left_out) = (Vec::new(), 0);
    // From the end: what is not kept need not be looked through.
    for said in said.iter().rev() {
        let path = MemoryPath::parse("conversation.md");
        let redacted = path.map(|path| secrets.redact(&path, &said.text));
        let text = redacted.as_ref().map_or("", |redacted| redacted.text.as_str());
        let block = block(said.by_user, text);
        let Some(rest) = room.checked_sub(block.len()) else { break };
        room = rest;
        left_out += redacted.as_ref().map_or(0, |redacted| redacted.removed.len());
        blocks.push(block);
    }
    if left_out > 0 {
        let lines =
            if left_out == 1 { "1 line with a secret was" } else { &format!("{left_out} lines with secrets were") };
        // Writing to a text does not fail.
        let _ = write!(head, "\n{lines} left out.\n");
    }
    let cut = if blocks.len() < said.len() { CUT } else { "" };
    blocks.reverse();
    (!blocks.is_empty()).then(|| format!("{head}{cut}{}", blocks.concat()))
}

/// What was said once, in a block that no line of it ends.
fn block(by_user: bool, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let who = if by_user { "User" } else { "Assistant" };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("\n## {who}\n\n{fence}text\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(by_user: bool, text: &str) -> Said {
        Said { by_user, text: text.to_owned(), time: None }
    }

    #[test]
    fn a_note_holds_all_that_was_said_as_text() {
        let said = [said(true, "I live in Porto.\n```\n- [ ] task [[link]]\n```"), said(false, "Noted.")];
        assert_eq!(
            note(Program::ClaudeCode, "2026-11-24", &said, 10_000).unwrap(),
            "---\nprogram: claude-code\ndate: 2026-11-24\n---\n\n# Conversation in Claude Code\n\n## User\n\n````text\n\
             I live in Porto.\n```\n- [ ] task [[link]]\n```\n````\n\n## Assistant\n\n```text\nNoted.\n```\n"
        );
    }

    #[test]
    fn secrets_are_left_out_and_said_so() {
        let said =
            [said(true, "Use this:\n\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n\nThanks.")];
        let note = note(Program::Codex, "2026-11-24", &said, 10_000).unwrap();
        assert!(!note.contains("wJalr") && note.contains("Use this:") && note.contains("Thanks."), "{note}");
        assert!(note.contains("1 line with a secret was left out.") && !holds_secret(&note), "{note}");
    }

    #[test]
    fn of_a_long_conversation_the_end_is_kept() {
        let said: Vec<Said> = (0..1_000).map(|number| said(number % 2 == 0, &format!("sentence {number}"))).collect();
        let note = note(Program::Cursor, "2026-11-24", &said, 2_000).unwrap();
        assert!(note.len() <= 2_000 && note.contains("sentence 999") && !note.contains("sentence 0\n"), "{note}");
        assert!(note.contains("The beginning was too long"), "{note}");
        assert!(note.find("sentence 998") < note.find("sentence 999"), "{note}");
    }

    #[test]
    fn a_session_has_one_note_whatever_its_name_is() {
        let path = |session: Option<&str>| path(Program::Copilot, "2026-11-24", session, 1).unwrap().to_string();
        assert_eq!(path(Some("0198-ABCD/../ef01-23456789")), "conversations/2026-11-24-copilot-23456789.md");
        assert_eq!(path(Some("…/é")), "conversations/2026-11-24-copilot.md");
        assert_eq!(path(None), "conversations/2026-11-24-copilot.md");
        assert_eq!((day("2026-11-24T09:00:00.5Z"), day("yesterday at 9")), (Some("2026-11-24".to_owned()), None));
    }
}

//! `memdir audit verify`, `head` and `export`.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::json;

use super::args::{Audit, Global, Paging};
use super::exit;
use super::output::{Lines, say};
use super::stop::{Stop, usage};
use super::{open, term};
use memdir_core::digest::Digest;
use memdir_tools::{CallRecord, Decided};
use memdir_vault::{AuditLine, AuditQuery, AuditRecord, AuditReport, Reader, ToolFilter};
use memdir_words::{ago, said, who};

pub(super) fn run(global: &Global, asked: &Audit) -> Result<u8, Stop> {
    match asked {
        Audit::Verify { head } => verify(global, head.as_deref()),
        Audit::Head => head(global),
        Audit::Readers { note, all, page } => readers(global, note, *all, page),
        Audit::Calls { tools, client, session, page } => {
            let (client, session) = (client.clone(), session.clone());
            let query = AuditQuery {
                tools: Some(tools.filter().unwrap_or_default()),
                client,
                session,
                ..AuditQuery::default()
            };
            calls(global, query, page)
        }
        Audit::Export { tools, jsonl: _ } => export(global, tools.filter().as_ref()),
    }
}

fn verify(global: &Global, head: Option<&str>) -> Result<u8, Stop> {
    let head = head.map(digest).transpose()?;
    let opened = open::open(global)?;
    let account = opened.engine.verify(head)?;
    global.answer(&account, |stdout| show(&account, head.is_some(), stdout))?;
    Ok(if account.ok { 0 } else { exit::DAMAGED })
}

/// Reads a head as `audit head` prints it, or only its hex digits.
fn digest(text: &str) -> Result<Digest, Stop> {
    let text = text.trim();
    let read = Digest::parse(text).or_else(|_| Digest::parse(&format!("sha256:{text}")));
    read.map_err(|error| {
        usage(format!("the head is no digest: {error}"), "give what `memdir audit head` printed").into()
    })
}

fn show(account: &AuditReport, has_head: bool, stdout: &mut impl Write) -> Result<(), Stop> {
    for problem in &account.problems {
        let place = problem.seq.map_or_else(String::new, |seq| format!("entry {seq}: "));
        stdout.line(format!("{place}{}", problem.message))?;
    }
    let words = if account.ok { "the chain is whole" } else { "the chain is broken" };
    writeln!(stdout, "{words}: {} entries, {} of them forgotten", account.entries, account.forgotten)?;
    if let Some(since) = account.since {
        writeln!(stdout, "{since} entries came after the head that was given")?;
    }
    writeln!(stdout, "head {}", account.head)?;
    if account.ok && !has_head {
        say(
            "hint: this does not show whether the newest entries were cut off, or the whole chain computed anew: keep the \
             head elsewhere, and give it with `--head`",
        )?;
    }
    Ok(())
}

fn head(global: &Global) -> Result<u8, Stop> {
    let head = open::open(global)?.engine.head()?;
    global.answer(&head, |stdout| {
        writeln!(stdout, "{}", head.head)?;
        Ok(say(format!("{} entries", head.seq))?)
    })
}

/// How many readers a page has.
const PAGE: usize = 50;

fn readers(global: &Global, note: &str, all: bool, page: &Paging) -> Result<u8, Stop> {
    let before = page.before("memdir audit readers")?;
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let is_listed = all || page.limit.is_some() || page.cursor.is_some();
    let limit = if global.json || is_listed { page.limit(PAGE) } else { usize::MAX };
    let found = opened.engine.readers(&path, limit, before)?;
    global.answer(&found, |stdout| {
        if found.readers.is_empty() {
            return Ok(say("no reads of this note are recorded")?);
        }
        if !is_listed {
            return count_readers(&found.readers, stdout);
        }
        for reader in &found.readers {
            let who = who::changed(&reader.door, reader.client.as_deref());
            let time = ago::short(&reader.time.to_string());
            stdout.line(format!("{time}  {who}  {}  entry {}", reader.action, reader.seq))?;
        }
        Ok(found.cursor.iter().try_for_each(|cursor| say(format!("older ones: --all --cursor {cursor}")))?)
    })
}

/// Says how often each program has read the note; `readers` are in order, the newest first.
fn count_readers(readers: &[Reader], output: &mut impl Write) -> Result<(), Stop> {
    let mut counted = Vec::<(String, usize, String)>::new();
    for reader in readers {
        let who = who::changed(&reader.door, reader.client.as_deref());
        match counted.iter_mut().find(|(other, _, _)| *other == who) {
            Some((_, count, _)) => *count += 1,
            None => counted.push((who, 1, reader.time.to_string())),
        }
    }
    for (who, count, time) in counted {
        output.line(match count {
            1 => format!("{who}: once, {}", ago::short(&time)),
            count => format!("{who}: {count} times, last {}", ago::short(&time)),
        })?;
    }
    Ok(say("`--all` lists every read")?)
}

/// A call of another server's tool, as `audit calls` prints it.
#[derive(Serialize)]
struct ToolCallLine<'l> {
    seq: i64,
    time: String,
    tool: &'l str,
    door: &'l str,
    client: Option<&'l str>,
    session: Option<&'l str>,
    decided: &'l str,
    code: Option<&'l str>,
    ms: f64,
    /// `None` where it was forgotten. It says the tool and who decided, too.
    #[serde(flatten)]
    call: Option<&'l CallRecord>,
}

fn calls(global: &Global, query: AuditQuery, page: &Paging) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let (limit, before) = (page.limit(PAGE), page.before("memdir audit calls")?);
    let found = opened.engine.audit_page(&AuditQuery { limit, before, ..query }, None)?;
    let lines: Vec<ToolCallLine<'_>> = found.entries.iter().map(call_line).collect();
    let cursor = found.cursor.map(|cursor| cursor.to_string());
    global.answer(&json!({"calls": lines, "cursor": cursor}), |stdout| {
        for line in &lines {
            let who = who::changed(line.door, line.client);
            let bytes = line.call.map_or_else(
                || "forgotten".to_owned(),
                |call| {
                    if matches!(call.decided, Decided::Denied | Decided::Refused) {
                        return "nothing was sent".to_owned();
                    }
                    let kept = call.kept_bytes.map_or_else(String::new, |kept| format!(", {kept} kept"));
                    format!("{} bytes sent, {} came{kept}", call.arguments_bytes, call.result_bytes)
                },
            );
            let code = line.code.map_or_else(String::new, |code| format!("  {}", said::code(code)));
            let (time, tool, decided, ms) = (ago::short(&line.time), line.tool, decided(line.decided), line.ms);
            stdout.line(format!("{time}  {tool}  {who}  {decided}{code}  {ms:.0} ms  {bytes}  entry {}", line.seq))?;
            if let Some(arguments) = line.call.and_then(|call| call.arguments.as_ref()) {
                stdout.line(format!("  {}", json!(arguments)))?;
            }
        }
        if lines.is_empty() {
            say("no such calls are recorded")?;
        }
        Ok(cursor.iter().try_for_each(|cursor| say(format!("older ones: --cursor {cursor}")))?)
    })
}

/// Who let a call be made, or not, for a person who reads it behind the name of whoever made it.
fn decided(written: &str) -> &str {
    let by = |decided: Decided| decided.as_str() == written;
    if by(Decided::Denied) {
        "not allowed by memdir"
    } else if by(Decided::Refused) {
        "refused by you"
    } else {
        written
    }
}

fn call_line(line: &AuditLine) -> ToolCallLine<'_> {
    ToolCallLine {
        seq: line.seq,
        time: line.time.to_string(),
        tool: &line.action,
        door: &line.door,
        client: line.client.as_deref(),
        session: line.session.as_deref(),
        decided: &line.permission,
        code: line.code.as_deref(),
        ms: std::time::Duration::from_micros(line.micros).as_secs_f64() * 1e3,
        call: line.call.as_ref(),
    }
}

fn export(global: &Global, wanted: Option<&ToolFilter>) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut last = i64::MIN;
    loop {
        let records = opened.engine.records(last)?;
        let Some(newest) = records.last() else { break };
        last = newest.seq;
        let is_wanted =
            |record: &&AuditRecord| wanted.is_none_or(|wanted| wanted.wants(&record.action, &record.origin));
        for record in records.iter().filter(is_wanted) {
            let line = serde_json::to_string(record).map_err(io::Error::from)?;
            stdout.write_all(term::json(&line, stdout.get_ref()).as_bytes())?;
            stdout.write_all(b"\n")?;
        }
    }
    stdout.flush()?;
    Ok(0)
}

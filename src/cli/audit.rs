//! `memdir audit verify`, `head` and `export`.

use std::io::{self, BufWriter, Write};

use super::args::{Audit, Global, Paging};
use super::exit::{self, Stop, print_json, usage};
use super::{open, term};
use crate::digest::Digest;
use crate::vault::Account;

pub(super) fn run(global: &Global, asked: &Audit) -> Result<u8, Stop> {
    match asked {
        Audit::Verify { head } => verify(global, head.as_deref()),
        Audit::Head => head(global),
        Audit::Readers { note, page } => readers(global, note, page),
        Audit::Export { jsonl: _ } => export(global),
    }
}

fn verify(global: &Global, head: Option<&str>) -> Result<u8, Stop> {
    let head = head.map(digest).transpose()?;
    let opened = open::open(global)?;
    let account = opened.engine.verify(head)?;
    if global.json {
        print_json(&account)?;
    } else {
        tell(&account, head.is_some())?;
    }
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

fn tell(account: &Account, has_head: bool) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    for problem in &account.problems {
        let place = problem.seq.map_or_else(String::new, |seq| format!("entry {seq}: "));
        writeln!(stdout, "{place}{}", term::escape_line(&problem.message))?;
    }
    let words = if account.ok { "the chain is whole" } else { "the chain is broken" };
    writeln!(stdout, "{words}: {} entries, {} of them forgotten", account.entries, account.forgotten)?;
    if let Some(since) = account.since {
        writeln!(stdout, "{since} entries came after the head that was given")?;
    }
    writeln!(stdout, "head {}", account.head)?;
    if account.ok && !has_head {
        let hint = "this does not show whether the newest entries were cut off, or the whole chain computed anew: \
                    keep the head elsewhere, and give it with `--head`";
        writeln!(io::stderr(), "hint: {hint}")?;
    }
    Ok(())
}

fn head(global: &Global) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let head = opened.engine.head()?;
    if global.json {
        print_json(&head)?;
    } else {
        writeln!(io::stdout(), "{}", head.head)?;
        writeln!(io::stderr(), "{} entries", head.seq)?;
    }
    Ok(0)
}

/// How many readers a page has.
const PAGE: usize = 50;

fn readers(global: &Global, note: &str, page: &Paging) -> Result<u8, Stop> {
    let before = page.cursor.as_deref().map(str::parse).transpose();
    let before =
        before.map_err(|_| usage("the cursor is not one of `memdir audit readers`", "leave it out to start anew"))?;
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let found = opened.engine.readers(&path, page.limit(PAGE), before)?;
    if global.json {
        print_json(&found)?;
        return Ok(0);
    }
    let mut stdout = io::stdout().lock();
    for reader in &found.readers {
        let client = reader.client.as_deref().map_or_else(String::new, |client| format!(" by {client}"));
        let line = format!("{}  {}{client}  {}  entry {}", reader.time, reader.door, reader.action, reader.seq);
        writeln!(stdout, "{}", term::escape_line(&line))?;
    }
    stdout.flush()?;
    match &found.cursor {
        Some(cursor) => writeln!(io::stderr(), "older ones: --cursor {cursor}")?,
        None if found.readers.is_empty() => writeln!(io::stderr(), "the audit knows nobody who has read it")?,
        None => {}
    }
    Ok(0)
}

fn export(global: &Global) -> Result<u8, Stop> {
    let opened = open::open(global)?;
    let mut stdout = BufWriter::new(io::stdout().lock());
    let mut last = i64::MIN;
    loop {
        let records = opened.engine.records(last)?;
        let Some(newest) = records.last() else { break };
        last = newest.seq;
        for record in &records {
            let line = serde_json::to_string(record).map_err(io::Error::from)?;
            stdout.write_all(term::json(&line, stdout.get_ref()).as_bytes())?;
            stdout.write_all(b"\n")?;
        }
    }
    stdout.flush()?;
    Ok(0)
}

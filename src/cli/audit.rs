//! `memdir audit verify`, `head` and `export`.

use std::io::{self, BufWriter, Write};

use super::args::{Audit, Global, Paging};
use super::exit::{self, Stop, print_json, usage};
use super::{ago, changes, open, term};
use crate::digest::Digest;
use crate::vault::{Account, Reader};

pub(super) fn run(global: &Global, asked: &Audit) -> Result<u8, Stop> {
    match asked {
        Audit::Verify { head } => verify(global, head.as_deref()),
        Audit::Head => head(global),
        Audit::Readers { note, all, page } => readers(global, note, *all, page),
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

fn readers(global: &Global, note: &str, all: bool, page: &Paging) -> Result<u8, Stop> {
    let before = page.cursor.as_deref().map(str::parse).transpose();
    let before =
        before.map_err(|_| usage("the cursor is not one of `memdir audit readers`", "leave it out to start anew"))?;
    let opened = open::open(global)?;
    let path = opened.engine.note_named(note)?;
    let is_listed = all || page.limit.is_some() || page.cursor.is_some();
    let limit = if global.json || is_listed { page.limit(PAGE) } else { usize::MAX };
    let found = opened.engine.readers(&path, limit, before)?;
    if global.json {
        print_json(&found)?;
        return Ok(0);
    }
    if found.readers.is_empty() {
        return Ok(writeln!(io::stderr(), "no reads of this note are recorded").map(|()| 0)?);
    }
    if !is_listed {
        return count_readers(&found.readers);
    }
    let mut stdout = io::stdout().lock();
    for reader in &found.readers {
        let who = changes::who(&reader.door, reader.client.as_deref());
        let time = ago::short(&reader.time.to_string());
        let line = format!("{time}  {who}  {}  entry {}", reader.action, reader.seq);
        writeln!(stdout, "{}", term::escape_line(&line))?;
    }
    stdout.flush()?;
    if let Some(cursor) = &found.cursor {
        writeln!(io::stderr(), "older ones: --all --cursor {cursor}")?;
    }
    Ok(0)
}

/// Says how often each program has read the note; `readers` are in order, the newest first.
fn count_readers(readers: &[Reader]) -> Result<u8, Stop> {
    let mut counted = Vec::<(String, usize, String)>::new();
    for reader in readers {
        let who = changes::who(&reader.door, reader.client.as_deref());
        match counted.iter_mut().find(|(other, _, _)| *other == who) {
            Some((_, count, _)) => *count += 1,
            None => counted.push((who, 1, reader.time.to_string())),
        }
    }
    let mut stdout = io::stdout().lock();
    for (who, count, time) in counted {
        let line = match count {
            1 => format!("{who}: once, {}", ago::short(&time)),
            count => format!("{who}: {count} times, last {}", ago::short(&time)),
        };
        writeln!(stdout, "{}", term::escape_line(&line))?;
    }
    stdout.flush()?;
    Ok(writeln!(io::stderr(), "`--all` lists every read").map(|()| 0)?)
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

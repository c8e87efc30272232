//! `memdir facts`: what the notes say as keys and values, whether it holds, and where it comes from.

use std::io::{self, Write};

use super::args::{AsOf, Global, Paging};
use super::open;
use super::output::Lines;
use super::stop::Stop;
use memdir_core::report::{FactState, FormerValue, Provenance, Writing};
use memdir_engine::FactsQuery;
use memdir_words::{ago, who};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) why: bool,
    pub(super) all: bool,
}

pub(super) fn run(
    global: &Global,
    note: Option<&str>,
    Asked { why, all }: Asked,
    then: &AsOf,
    page: &Paging,
) -> Result<u8, Stop> {
    let opened = open::open_to_read(global)?;
    let (limit, cursor) = (page.limit(usize::MAX), page.cursor.as_deref());
    let found = opened.engine.view(then.as_of.as_deref(), |view| {
        let note = note.map(|note| view.note_named(note)).transpose()?;
        view.facts(&FactsQuery { note: note.as_ref(), limit, cursor, all, why })
    })?;
    global.answer(&found, |stdout| {
        for fact in &found.facts {
            let state = match fact.state {
                FactState::Current => String::new(),
                state => format!("  [{state}]"),
            };
            stdout.line(format!("{}:{}  {}: {}{state}", fact.path, fact.line, fact.key, fact.value))?;
            if let Some(why) = &fact.why {
                explain(why, all, stdout)?;
            }
        }
        page.say_next(found.total, found.cursor.as_deref())
    })
}

/// Says where a fact comes from, a line for each thing that is known.
fn explain(why: &Provenance, all: bool, output: &mut impl Write) -> io::Result<()> {
    let Some(last) = &why.last_written else {
        return output.line("    nobody knows who wrote it: the history has no change of this line");
    };
    output.line(format!("    written {}", written(last)))?;
    if let Some(first) = why.first_written.as_ref().filter(|first| *first != last) {
        output.line(format!("    first written {}", written(first)))?;
    }
    if let Some(confirmed) = &why.last_confirmed {
        output.line(format!("    confirmed by you, {}", ago::short(&confirmed.time)))?;
    } else if let Some(trust) = why.trust.filter(|trust| *trust < last.by) {
        output.line(format!("    made from what {} wrote", who::source(trust)))?;
    }
    if let Some(words) = &why.words {
        output.line(format!("    you had said: {words}"))?;
    }
    for former in why.replaced.iter().take(if all { usize::MAX } else { 1 }) {
        output.line(format!("    replaced: {}", replaced(former)))?;
    }
    Ok(())
}

fn written(writing: &Writing) -> String {
    let mut words = format!("by {}", who::wrote(writing));
    if let Some(time) = &writing.time {
        let day = time.split('T').next().unwrap_or_default();
        words.push_str(&format!(", {day} ({})", ago::short(time)));
    }
    if let Some(batch) = writing.batch {
        words.push_str(&format!(", change {batch}"));
    }
    if let Some(session) = &writing.session {
        words.push_str(&format!(", conversation {session}"));
    }
    if let Some(message) = writing.message.as_ref().filter(|message| message.parse::<u64>().is_ok()) {
        words.push_str(&format!(", message {message}"));
    }
    words
}

fn replaced(former: &FormerValue) -> String {
    match (&former.written, &former.replaced) {
        (Some(written), _) => format!("{} (written {})", former.value, ago::short(written)),
        (None, Some(until)) => format!("{} (until {})", former.value, ago::short(until)),
        (None, None) => former.value.clone(),
    }
}

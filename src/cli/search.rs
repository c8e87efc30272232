//! `memdir search`.

use std::io::{self, Write};
use std::ops::Range;

use anstyle::{AnsiColor, Style};

use super::args::{Global, Search as Options};
use super::exit::{Stop, print_json};
use super::{look, meaning, one, open, progress, term};
use crate::action::{Action, SearchFiles, SearchMode};
use crate::plan;
use crate::report::{Code, Failure, Hit, Search, Source, Value};

pub(super) fn run(global: &Global, options: &Options) -> Result<u8, Stop> {
    let query = options.query.join(" ");
    if query.trim().is_empty() {
        let failure = Failure::new(Code::InvalidAction, "there is nothing to look for");
        return Err(failure.with_hint("say it: `memdir search green tea`").into());
    }
    let path = options.path.as_deref().filter(|path| !matches!(*path, "" | "." | "/")).map(look::path).transpose()?;
    let opened = open::open(global)?;
    let mode = SearchMode::from(options.mode);
    let action = Action::SearchFiles(SearchFiles {
        query,
        mode: Some(mode),
        path,
        limit: options.page.limit,
        cursor: options.page.cursor.clone(),
        budget: options.budget,
    });
    if mode == SearchMode::Ranked {
        meaning::refresh(global, &opened, false, &|| false)?;
    }
    let mut asked = one::run(&opened, action.clone());
    if mode == SearchMode::Ranked
        && asked.as_ref().err().is_some_and(|stop| stop.is(Code::Timeout))
        && build(global, &opened)?
    {
        // Reading all notes took too long.
        asked = one::run(&opened, action);
    }
    let Value::Search(found) = asked? else {
        return Err(Failure::new(Code::Internal, "the search was not answered").into());
    };
    meaning::told(&opened)?;
    if global.json {
        print_json(&found)?;
    } else {
        show(&found, mode)?;
    }
    // The answer is out; the next one need not read all notes.
    if mode == SearchMode::Ranked && found.source == Source::Scan {
        build(global, &opened)?;
    }
    Ok(0)
}

/// Builds the index, or brings it up to date where so much has changed that a search does not; answers whether it did.
pub(super) fn build(global: &Global, opened: &open::Opened) -> Result<bool, Stop> {
    let bar = progress::bar(global, 0, "notes indexed");
    let told = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let built = opened.engine.refresh(&told, &|| false);
    bar.finish_and_clear();
    if let Err(failure) = &built {
        writeln!(io::stderr(), "note: the index was not built: {}", failure.message)?;
    }
    Ok(built.is_ok())
}

fn show(found: &Search, mode: SearchMode) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let is_painted = term::has_colours(&stdout);
    let (name, mark) = match is_painted {
        true => (AnsiColor::Magenta.on_default(), AnsiColor::Red.on_default().bold()),
        false => (Style::new(), Style::new()),
    };
    let query = found.searched_for.as_ref().unwrap_or(&found.query);
    for hit in &found.hits {
        let Hit { path, lines: [line, _], .. } = hit;
        let heading = hit.heading.as_deref().map_or_else(String::new, |heading| format!("  {heading}"));
        writeln!(stdout, "{name}{}{name:#}:{line}{}", term::escape_line(path.as_str()), term::escape_line(&heading))?;
        let marks = if is_painted { plan::marks(mode, query, &hit.snippet) } else { Vec::new() };
        let mut start = 0;
        for text in hit.snippet.split_inclusive('\n') {
            writeln!(stdout, "    {}", painted(text.trim_end_matches('\n'), start, &marks, mark))?;
            start += text.len();
        }
    }
    stdout.flush()?;
    let mut stderr = io::stderr().lock();
    if found.hits.is_empty() {
        writeln!(stderr, "nothing found")?;
    }
    if let Some(query) = &found.searched_for {
        writeln!(stderr, "some word is in no note; searched for: {}", term::escape_line(query))?;
    }
    if let Some(cursor) = &found.cursor {
        let more = found.total.saturating_sub(found.hits.len());
        writeln!(stderr, "{more} more: --cursor '{}'", term::escape_line(cursor))?;
    }
    Ok(())
}

/// A line that starts at byte `start` of a text, escaped, with what is marked in that text painted.
fn painted(line: &str, start: usize, marks: &[Range<usize>], mark: Style) -> String {
    let mut out = String::with_capacity(line.len());
    let mut done = 0;
    for range in marks {
        let inside = range.start.saturating_sub(start).max(done)..range.end.saturating_sub(start).min(line.len());
        let (Some(before), Some(marked)) = (line.get(done..inside.start), line.get(inside.clone())) else { continue };
        if !marked.is_empty() {
            out.push_str(&format!("{}{mark}{}{mark:#}", term::escape(before), term::escape(marked)));
            done = inside.end;
        }
    }
    out.push_str(&term::escape(line.get(done..).unwrap_or_default()));
    out
}

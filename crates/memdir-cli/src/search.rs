//! `memdir search`.

use std::io::{StdoutLock, Write};

use super::args::{Global, Search as Options};
use super::output::say;
use super::stop::Stop;
use super::{hits, index, look, one, open, term};
use memdir_core::action::{Action, SearchFiles, SearchMode};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Hit, Search, Source, Value};
use memdir_core::shell::quoted;
use memdir_note::Note;
use memdir_plan as plan;

/// So many notes are shown unless another number is asked for, so many with `--more`, and so many are offered then.
const FIRST: u32 = 5;
const MORE: u32 = 20;
const LARGER: [u32; 4] = [MORE, 50, 200, 1000];

impl Options {
    /// How many notes are shown where they are not printed as JSON.
    fn limit(&self) -> u32 {
        self.page.limit.unwrap_or(if self.more { MORE } else { FIRST })
    }
}

pub(super) fn run(global: &Global, options: &Options) -> Result<u8, Stop> {
    let query = options.query.join(" ");
    if query.trim().is_empty() {
        let failure = Failure::new(Code::InvalidAction, "there is nothing to look for");
        return Err(failure.with_hint("say it: `memdir search green tea`").into());
    }
    let opened = open::open(global)?;
    let path = scope(options, &opened)?;
    let mode = options.mode;
    let action = Action::SearchFiles(SearchFiles {
        query,
        mode: Some(mode),
        path,
        limit: if global.json { options.page.limit } else { Some(options.limit()) },
        cursor: options.page.cursor.clone(),
        budget: options.budget,
        include_past: options.all.then_some(true),
        as_of: options.then.as_of.clone(),
    });
    // No index knows of the past.
    let is_indexed = mode == SearchMode::Ranked && options.then.as_of.is_none();
    if is_indexed {
        index::embed(global, &opened, false, &|| false)?;
    }
    let mut asked = one::run(&opened, action.clone());
    if is_indexed && asked.as_ref().err().is_some_and(|stop| stop.is(Code::Timeout)) && index::build(global, &opened)? {
        // Reading all notes took too long.
        asked = one::run(&opened, action);
    }
    let Value::Search(found) = asked? else {
        return Err(one::unexpected().into());
    };
    index::say_trouble(&opened)?;
    global.answer(&found, |stdout| show(global, options, &opened, &found, stdout))?;
    // The answer is out; the next one need not read all notes.
    if is_indexed && found.source == Source::Scan {
        index::build(global, &opened)?;
    }
    Ok(0)
}

/// The folder or the note to look in; `None` for the whole memory.
fn scope(options: &Options, opened: &open::Opened) -> Result<Option<MemoryPath>, Stop> {
    let said = options.path.as_deref();
    let Some(path) = look::folder(said)? else { return Ok(None) };
    if options.then.as_of.is_some() || opened.engine.is_folder(&path) {
        return Ok(Some(path));
    }
    match opened.engine.note_named(said.unwrap_or_default()) {
        Err(failure) if failure.code == Code::NotFound => Ok(Some(path)),
        named => Ok(Some(named?)),
    }
}

fn show(
    global: &Global,
    options: &Options,
    opened: &open::Opened,
    found: &Search,
    stdout: &mut StdoutLock<'_>,
) -> Result<(), Stop> {
    let look = hits::Look::of(stdout);
    let query = found.searched_for.as_ref().unwrap_or(&found.query);
    let titles = opened.engine.view(options.then.as_of.as_deref(), |view| {
        let title = |hit: &Hit| Note::parse(&view.text_of(&hit.path)?).title();
        Ok(found.hits.iter().map(title).collect::<Vec<_>>())
    })?;
    for (number, (hit, title)) in found.hits.iter().zip(titles).enumerate() {
        let mut title = title.unwrap_or_else(|| hit.path.stem().to_owned());
        if let Some(state) = hit.state {
            title.push_str(&format!(" ({state})"));
        }
        let marks = |text: &str| plan::marks(options.mode, query, text);
        stdout.write_all(hits::lines(hit, &title, number == 0, &marks, look).as_bytes())?;
    }
    if found.hits.is_empty() {
        say(if says_past(opened, options, &found.query) {
            "nothing found that holds now; `--all` also shows what is past"
        } else {
            "nothing found"
        })?;
    } else if found.nothing_known {
        say(nothing_known(&found.missing))?;
    }
    if let Some(query) = &found.searched_for {
        say(format!("no note has these words; searched for: {query}"))?;
    }
    if let Some(cursor) = &found.cursor {
        let more = found.total.saturating_sub(found.hits.len());
        let count = if options.page.cursor.is_none() { format!("{more} more") } else { "more".to_owned() };
        say(format!("{count}: {}", next(global, options, found.left_out > 0, cursor)))?;
    }
    Ok(())
}

/// Whether a question that found nothing finds something in the past.
fn says_past(opened: &open::Opened, options: &Options, query: &str) -> bool {
    if options.all || options.mode != SearchMode::Ranked {
        return false;
    }
    let search = SearchFiles {
        path: scope(options, opened).ok().flatten(),
        limit: Some(1),
        include_past: Some(true),
        as_of: options.then.as_of.clone(),
        ..SearchFiles::of(query)
    };
    // Where it cannot be asked, nothing is said of it.
    matches!(one::run(opened, Action::SearchFiles(search)), Ok(Value::Search(found)) if !found.hits.is_empty())
}

/// What is said below hits that are only the nearest.
fn nothing_known(missing: &[String]) -> String {
    format!("these notes are only the nearest: none of them says {}", missing.join(", "))
}

/// The command that shows more of what was found: more at once, or where that does not help, what comes after.
fn next(global: &Global, options: &Options, is_cut: bool, cursor: &str) -> String {
    let mut words = vec!["memdir".to_owned(), "search".to_owned()];
    let mut add = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    for (name, folder) in [("--memory", &global.memory), ("--state", &global.state)] {
        if let Some(folder) = folder {
            add(name, &folder.to_string_lossy());
        }
    }
    if options.mode != SearchMode::Ranked {
        add("--mode", &term::wire_name(&options.mode));
    }
    if let Some(path) = &options.path {
        add("--path", path);
    }
    if let Some(day) = &options.then.as_of {
        add("--as-of", day);
    }
    if let Some(budget) = options.budget {
        add("--budget", &budget.to_string());
    }
    words.extend(options.all.then(|| "--all".to_owned()));
    let query = options.query.join(" ");
    let is_option = query.starts_with('-');
    let query = quoted(&query);
    if !is_option {
        words.push(query.clone());
    }
    let shown = options.limit();
    let larger = LARGER.into_iter().find(|larger| *larger > shown);
    match larger.filter(|_| !is_cut && options.page.cursor.is_none()) {
        Some(_) if shown == FIRST && options.page.limit.is_none() => words.push("--more".to_owned()),
        Some(larger) => words.push(format!("-n {larger}")),
        None => {
            if let Some(limit) = options.page.limit {
                words.push(format!("-n {limit}"));
            }
            words.push(format!("--cursor {}", quoted(cursor)));
        }
    }
    if is_option {
        words.push(format!("-- {query}"));
    }
    words.join(" ")
}

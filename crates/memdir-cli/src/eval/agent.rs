//! `memdir eval agent`: suites of tasks, each model on each of them.

use std::io::Write;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::args::Tasks;
use super::measured::{Measured, OfModel, OfSuite};
use super::scratch::{self, Scratch};
use super::suite::{self, Suite, Task};
use super::task::{self, Bench, Subject};
use super::{table, transcript};
use crate::args::Global;
use crate::config::Sources;
use crate::exit;
use crate::stop::{Stop, usage};
use crate::{interrupt, progress, talk};
use memdir_agent::Settings;
use memdir_core::report::Failure;

pub(super) fn run(global: &Global, options: &Tasks) -> Result<u8, Stop> {
    let suites = options.suites.iter().map(|path| read(path, options)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<Option<&str>> = match options.model.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let stop = interrupt::stop();
    let scratch = Scratch::new()?;
    let mut measured = Measured { suites: suites.iter().map(|set| OfSuite::new(&set.path)).collect(), stopped: None };
    'all: for name in names {
        let mut subject = subject(global, name, options.staged, &stop)?;
        for (set, of_suite) in suites.iter().zip(&mut measured.suites) {
            let bench = Bench { suite: &set.suite, places: &set.places, scratch: &scratch, stop: &stop };
            let (of_model, stopped) = measure(global, &bench, set, &mut subject, options.transcripts.as_deref())?;
            of_suite.models.push(of_model);
            measured.stopped = stopped;
            if measured.stopped.is_some() {
                break 'all;
            }
        }
    }
    global.answer(&measured, |stdout| Ok(stdout.write_all(table::render(&measured).as_bytes())?))?;
    if let Some(stopped) = &measured.stopped {
        return Ok(exit::code(stopped.code));
    }
    let is_below =
        |least: f64| measured.suites.iter().flat_map(|suite| &suite.models).any(|model| model.share() < least);
    Ok(if options.least.is_some_and(is_below) { 4 } else { 0 })
}

/// A suite that was read, and which of its tasks are wanted.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) path: PathBuf,
    pub(super) places: Vec<PathBuf>,
    pub(super) suite: Suite,
    pub(super) wanted: Vec<usize>,
}

fn read(path: &Path, options: &Tasks) -> Result<Set, Stop> {
    let suite = suite::read(path)?;
    let places = suite::places(path, options.memories.as_deref());
    let is_wanted = |task: &Task| {
        (options.kind.is_empty() || options.kind.contains(&task.kind))
            && (options.task.is_empty() || options.task.contains(&task.id))
    };
    let wanted: Vec<usize> =
        suite.tasks.iter().enumerate().filter(|(_, task)| is_wanted(task)).map(|(at, _)| at).collect();
    if wanted.is_empty() {
        let mut kinds: Vec<&str> = suite.tasks.iter().map(|task| task.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let hint = format!("its kinds are {}", kinds.join(", "));
        return Err(usage(format!("the suite `{}` has no such task", path.display()), hint).into());
    }
    // A memory that is not there is said before a model has worked for an hour.
    for task in &suite.tasks {
        scratch::start(&suite, &task.memory, &places)?;
    }
    Ok(Set { path: path.to_owned(), places, suite, wanted })
}

/// Opens a model, with the prompts and the settings that `ask` has. A budget of tokens a day is none for a measurement.
fn subject(global: &Global, name: Option<&str>, staged: bool, stop: &CancellationToken) -> Result<Subject, Stop> {
    let config = Sources::read()?.for_memory(Path::new(""))?;
    let model = talk::open_model(global, &config, name, stop)?;
    let settings = Settings { staged, ..talk::settings(&config, model.card(), "ask") };
    Ok(Subject::new(model, talk::prompts(&config)?, settings))
}

/// Runs the tasks of a suite with a model; what was measured is given also where something ends it before the last one.
pub(super) fn measure(
    global: &Global,
    bench: &Bench<'_>,
    set: &Set,
    subject: &mut Subject,
    transcripts: Option<&Path>,
) -> Result<(OfModel, Option<Failure>), Stop> {
    let name = subject.model.as_ref().map_or_else(String::new, |model| model.card().name.clone());
    let folder = match transcripts {
        Some(folder) => {
            let suite = set.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let folder = folder.join(transcript::name(&name)).join(transcript::name(&suite));
            let made = memdir_host::make_folder(&folder);
            Some(made.map_err(|error| {
                usage(format!("the folder for transcripts cannot be made: {}", error.kind()), "name another")
            })?)
        }
        None => None,
    };
    let bar = progress::bar(global, set.wanted.len(), "tasks");
    let (mut tasks, mut stopped) = (Vec::new(), None);
    for at in &set.wanted {
        let Some(task) = bench.suite.tasks.get(*at) else { continue };
        let done = match task::run(bench, *at, task, subject) {
            Ok(done) => done,
            Err(stop) if tasks.is_empty() => return Err(stop),
            Err(stop) => {
                stopped = stop.failure();
                break;
            }
        };
        let text = subject.log.take(&done);
        if let Some(folder) = &folder {
            transcript::write(folder, at + 1, &done, &text)?;
        }
        tasks.push(done);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok((OfModel::of(name, tasks), stopped))
}

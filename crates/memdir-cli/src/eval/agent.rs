//! `memdir eval agent`: suites of tasks, each model on each of them.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::args::Tasks;
use super::scratch::{self, Scratch};
use super::suite::{self, Suite, Task};
use super::task::{self, Bench, Done, Subject};
use super::{table, transcript};
use crate::args::Global;
use crate::config::Sources;
use crate::exit::{self, Stop, usage};
use crate::{interrupt, progress, talk};
use memdir_agent::Settings;
use memdir_core::report::Failure;

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) suites: Vec<OfSuite>,
    /// Why it ended before all tasks were run.
    pub(super) stopped: Option<Failure>,
}

/// What was measured on a suite.
#[derive(Debug, Serialize)]
pub(super) struct OfSuite {
    pub(super) suite: String,
    pub(super) models: Vec<OfModel>,
}

/// What a model has done on a suite.
#[derive(Debug, Serialize)]
pub(super) struct OfModel {
    pub(super) model: String,
    /// By kind, in the order of the suite; all of them last.
    pub(super) kinds: Vec<Kind>,
    /// Turns that were cut off, or held nothing that can be read, of so many.
    pub(super) malformed_turns: usize,
    pub(super) turns: usize,
    /// Tasks in which a line was lost that nobody asked to change.
    pub(super) tasks_with_lost_lines: usize,
    /// Tasks in which something was written where nothing was to be.
    pub(super) tasks_written_unasked: usize,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// Of all tasks, and the median of one.
    pub(super) seconds: f64,
    pub(super) median_seconds: f64,
    pub(super) tasks: Vec<Done>,
}

/// The tasks of one kind.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Kind {
    pub(super) kind: String,
    pub(super) passed: usize,
    pub(super) of: usize,
}

/// All tasks of a suite together.
pub(super) const ALL: &str = "all";

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

impl OfSuite {
    fn new(path: &Path) -> Self {
        Self { suite: path.display().to_string(), models: Vec::new() }
    }
}

impl OfModel {
    /// Counts what came of the tasks.
    pub(super) fn of(model: String, tasks: Vec<Done>) -> Self {
        let mut kinds: Vec<Kind> = Vec::new();
        for task in &tasks {
            count(&mut kinds, &task.kind, task.passed);
        }
        let (passed, of) = (tasks.iter().filter(|task| task.passed).count(), tasks.len());
        kinds.push(Kind { kind: ALL.to_owned(), passed, of });
        let mut times: Vec<u64> = tasks.iter().map(|task| task.ms).collect();
        times.sort_unstable();
        Self {
            model,
            kinds,
            malformed_turns: tasks.iter().map(|task| task.malformed).sum(),
            turns: tasks.iter().map(|task| task.turns).sum(),
            tasks_with_lost_lines: tasks.iter().filter(|task| !task.lost.is_empty()).count(),
            tasks_written_unasked: tasks.iter().filter(|task| task.written_unasked).count(),
            input_tokens: tasks.iter().map(|task| task.input_tokens).sum(),
            output_tokens: tasks.iter().map(|task| task.output_tokens).sum(),
            seconds: seconds(times.iter().sum()),
            median_seconds: seconds(times.get(times.len() / 2).copied().unwrap_or(0)),
            tasks,
        }
    }

    /// Which part of all tasks passed.
    #[expect(clippy::cast_precision_loss, reason = "there are fewer tasks than 2^52")]
    pub(super) fn share(&self) -> f64 {
        let all = self.kinds.last();
        all.map_or(0.0, |all| all.passed as f64 / all.of.max(1) as f64)
    }
}

fn count(kinds: &mut Vec<Kind>, name: &str, passed: bool) {
    let at = kinds.iter().position(|kind| kind.kind == name).unwrap_or_else(|| {
        kinds.push(Kind { kind: name.to_owned(), passed: 0, of: 0 });
        kinds.len() - 1
    });
    if let Some(kind) = kinds.get_mut(at) {
        kind.of += 1;
        kind.passed += usize::from(passed);
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of hours")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

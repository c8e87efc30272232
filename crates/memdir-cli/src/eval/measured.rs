//! What was measured of models that use a memory.

use std::path::Path;

use serde::Serialize;

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

/// What was measured of a task.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Done {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) passed: bool,
    /// The checks that do not hold, each in a few words.
    pub(super) failed: Vec<String>,
    /// The replies, as the person saw them.
    pub(super) replies: Vec<Option<String>>,
    pub(super) turns: usize,
    /// The turns that were cut off, or held nothing that can be read.
    pub(super) malformed: usize,
    /// The lines that are gone though nobody asked for that.
    pub(super) lost: Vec<String>,
    /// Whether something was written where nothing was to be.
    pub(super) written_unasked: bool,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) ms: u64,
}

impl OfSuite {
    pub(super) fn new(path: &Path) -> Self {
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

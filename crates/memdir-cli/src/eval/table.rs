//! What was measured with agents, for eyes: a row for each kind, a column for each model.

use super::measured::{Measured, OfModel, OfSuite};
use crate::term;

/// How wide a column is.
const WIDTH: usize = 22;

/// The table of each suite, and the tasks that failed.
pub(super) fn render(measured: &Measured) -> String {
    let mut text: String = measured.suites.iter().filter(|suite| !suite.models.is_empty()).map(table).collect();
    if let Some(stopped) = &measured.stopped {
        text.push_str(&format!("not all tasks were run: {}\n", term::escape_line(&stopped.message)));
    }
    text
}

fn table(suite: &OfSuite) -> String {
    let row = |head: &str, cell: &dyn Fn(&OfModel) -> String| {
        let cells: String = suite.models.iter().map(|model| format!("{:>WIDTH$}", cell(model))).collect();
        format!("  {head:24}{cells}\n")
    };
    let mut text = format!("{}\n", term::escape_line(&suite.suite));
    text.push_str(&row("kind", &|model| short(&model.model)));
    let kinds = suite.models.first().map_or(&[][..], |model| &model.kinds);
    for (at, kind) in kinds.iter().enumerate() {
        text.push_str(&row(&term::escape_line(&kind.kind), &|model| passed(model, at)));
    }
    text.push_str(&row("malformed turns", &|model| format!("{} of {}", model.malformed_turns, model.turns)));
    text.push_str(&row("tasks with lost lines", &|model| model.tasks_with_lost_lines.to_string()));
    text.push_str(&row("tasks written unasked", &|model| model.tasks_written_unasked.to_string()));
    text.push_str(&row("tokens read, written", &|model| format!("{}, {}", model.input_tokens, model.output_tokens)));
    text.push_str(&row("seconds, median a task", &|model| format!("{:.1}", model.median_seconds)));
    for model in &suite.models {
        let failed = model.tasks.iter().filter(|task| !task.passed);
        for task in failed {
            let why = task.failed.join("; ");
            let line = format!("{}: {}: {why}", model.model, task.id);
            text.push_str(&format!("  - {}\n", term::escape_line(&line)));
        }
    }
    text
}

fn passed(model: &OfModel, at: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer tasks than 2^52")]
    let shown = |passed: usize, of: usize| format!("{passed} of {of}  {:.2}", passed as f64 / of.max(1) as f64);
    model.kinds.get(at).map_or_else(String::new, |kind| shown(kind.passed, kind.of))
}

/// The end of a long name, which says more than its beginning.
fn short(name: &str) -> String {
    let name = term::escape_line(name);
    let over = name.chars().count().saturating_sub(WIDTH - 2);
    name.chars().skip(over).collect()
}

//! What can be typed behind `memdir eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Eval {
    /// Measure how often search finds the note that holds the answer, compared with plain BM25
    #[command(long_about = RETRIEVAL)]
    Retrieval(Retrieval),
    /// Measure how many tasks a model gets right while it reads and updates a memory
    #[command(long_about = AGENT)]
    Agent(Tasks),
}

const AGENT: &str = "Measure how many tasks a model gets right while it reads and updates a memory.

A suite is a JSON file of memories and tasks: what is said to the model, and what must hold afterwards; docs/agent.md \
has the format. Each task runs on a throw-away copy of its memory, with nobody to ask. Reported for each kind and in \
total: tasks passed; then malformed turns, tasks that lost a line nobody asked to change, tasks that wrote something \
where nothing should be written, tokens, and seconds per task. Failing tasks change the exit code only with --least.";

/// Options of `eval agent`.
#[derive(Args, Debug)]
pub(crate) struct Tasks {
    /// Files of tasks
    #[arg(required = true, value_name = "SUITE")]
    pub(crate) suites: Vec<PathBuf>,
    /// A model to measure; several are shown side by side; else the one of the settings
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Vec<String>,
    /// Only tasks of this kind
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// Only this task
    #[arg(long, value_name = "ID")]
    pub(crate) task: Vec<String>,
    /// The folder of the memories that tasks name; else that of the suite, and the one above it
    #[arg(long, value_name = "DIR")]
    pub(crate) memories: Option<PathBuf>,
    /// Write what the model was asked and answered to a file for each task, in a folder for each model
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Option<PathBuf>,
    /// End with exit code 4 where a model passes a smaller share of all tasks, such as 0.85
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) least: Option<f64>,
    /// Let the model work in stages: what it perceives, what it decides, what it says
    #[arg(long)]
    pub(crate) staged: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

const RETRIEVAL: &str = "Measure how often search finds the note that holds the answer, compared with plain BM25 from the \
same index.

A set is a file of questions, one JSON object a line: memory (a folder), question, gold (the notes that hold the answer), kind; \
\"any\": true where one of several gold notes is as good as another. Printed for each kind: how often a gold note is \
the first, how often among the first three, the mean of 1/rank of the first one, and which part of the gold notes is \
among the first five. Nothing is written.";

/// Options of `eval retrieval`.
#[derive(Args, Debug)]
pub(crate) struct Retrieval {
    /// Files of questions
    #[arg(required = true, value_name = "SET")]
    pub(crate) sets: Vec<PathBuf>,
    /// The folder of the memories; else the one above that of each set
    #[arg(long, value_name = "DIR")]
    pub(crate) memories: Option<PathBuf>,
    /// Also with this model of embeddings: a name on the shelf, PROVIDER::NAME, or a GGUF file
    #[arg(long, value_name = "NAME")]
    pub(crate) embeddings: Option<String>,
}

//! What can be typed behind `memdir eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Eval {
    /// How often search finds the note that holds the answer, beside plain BM25
    #[command(long_about = RETRIEVAL)]
    Retrieval(Retrieval),
    /// How many tasks a model does right, with a memory that it reads and keeps up to date
    #[command(long_about = AGENT)]
    Agent(Tasks),
}

const AGENT: &str = "How many tasks a model does right, with a memory that it reads and keeps up to date.

A suite is a JSON file of memories and tasks: what is said, and what has to hold afterwards; docs/agent.md has its format. Each task runs on a copy of its memory that is thrown away, with nobody there to be asked. Printed for each kind, and for all: how many passed. Then: turns that were cut off or held nothing that can be read, tasks in which a line was lost that nobody asked to change, tasks in which something was written where nothing was to be, tokens, and seconds for a task. Tasks that fail change the exit code only with --least.";

/// Options of `eval agent`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Tasks {
    /// Files of tasks
    #[arg(required = true, value_name = "SUITE")]
    pub(in crate::cli) suites: Vec<PathBuf>,
    /// A model to measure; several are shown side by side; else the one of the settings
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Vec<String>,
    /// Only tasks of this kind
    #[arg(long, value_name = "KIND")]
    pub(in crate::cli) kind: Vec<String>,
    /// Only this task
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) task: Vec<String>,
    /// The folder of the memories that tasks name; else that of the suite, and the one above it
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) memories: Option<PathBuf>,
    /// Write what the model was asked and answered to a file for each task, in a folder for each model
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) transcripts: Option<PathBuf>,
    /// End with exit code 4 where a model passes a smaller share of all tasks, such as 0.85
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(in crate::cli) least: Option<f64>,
    /// Let the model work in stages: what it perceives, what it decides, what it says
    #[arg(long)]
    pub(in crate::cli) staged: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

const RETRIEVAL: &str = "How often search finds the note that holds the answer, beside plain BM25 from the same index.

A set is a file of questions, one JSON object a line: memory (a folder), question, gold (the notes that hold the answer), kind; \
\"any\": true where one of several gold notes is as good as another. Printed for each kind: how often a gold note is \
the first, how often among the first three, the mean of 1/rank of the first one, and which part of the gold notes is \
among the first five. Nothing is written.";

/// Options of `eval retrieval`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Retrieval {
    /// Files of questions
    #[arg(required = true, value_name = "SET")]
    pub(in crate::cli) sets: Vec<PathBuf>,
    /// The folder of the memories; else the one above that of each set
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) memories: Option<PathBuf>,
    /// Also with this model of embeddings: a name on the shelf, PROVIDER::NAME, or a GGUF file
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) embeddings: Option<String>,
}

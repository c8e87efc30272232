//! What can be typed behind `memdir model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `memdir model --help` says.
pub(crate) const LONG: &str = "Fetch and manage model files, and show which model is used.

A model file (GGUF) runs inside memdir, and nothing leaves the machine; this needs a build with `--features gguf`. \
Otherwise memdir finds a server such as Ollama, LM Studio, llama.cpp or vLLM on this machine, and `PROVIDER::NAME` in \
the settings names any other. Nothing is downloaded without your consent, and a file whose SHA-256 does not match is not kept.";

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the models that are known, stored or found on this machine, and show which is used
    List,
    /// Download a model from its publisher; an interrupted download is resumed
    Fetch(Fetch),
    /// Store a model file of your own, or one split into numbered parts
    Add(Add),
    /// Show what a model is, what it needs, and where your text goes
    Info {
        /// Its name
        name: String,
    },
    /// Check that model files are unchanged; exit status 7 if one is not
    Verify {
        /// Only this one
        name: Option<String>,
    },
    /// Remove a model or a partial download; a file added with --in-place stays
    Remove {
        /// Its name
        name: String,
    },
}

/// Options of `model fetch`.
#[derive(Args, Debug)]
pub(crate) struct Fetch {
    /// One that `memdir model list` shows, or a name of your own with --from and --sha256
    pub(super) name: String,
    /// Fetch it from this address instead: https://…, or http:// and this machine
    #[arg(long, value_name = "URL")]
    pub(super) from: Option<String>,
    /// The SHA-256 that a model of your own must have: 64 hex digits
    #[arg(long, value_name = "HEX", requires = "from")]
    pub(super) sha256: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// Options of `model add`.
#[derive(Args, Debug)]
pub(crate) struct Add {
    /// The GGUF file, or all of its parts: the numbers in their names say the order
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Its name; else that of the file
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Use the file where it is instead of copying it
    #[arg(long)]
    pub(super) in_place: bool,
}

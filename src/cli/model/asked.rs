//! What can be typed behind `memdir model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `memdir model --help` says.
pub(in crate::cli) const LONG: &str = "Get model files, keep them, and see which model is used.

A model file (GGUF) runs inside memdir, and nothing leaves the machine; that takes a build with `--features gguf`. Without one, \
a server such as Ollama, LM Studio, llama.cpp or vLLM on this machine is found by itself, and `PROVIDER::NAME` in the settings names any \
other. Nothing is fetched without your yes, and nothing is kept whose SHA-256 is not the expected one.";

/// What can be done with models.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Asked {
    /// List the models that are known, kept or found on this machine, and which is used
    List,
    /// Fetch a model from where its maker gives it away; what was interrupted goes on
    Fetch(Fetch),
    /// Keep a model file of your own, or one that comes in numbered parts
    Add(Add),
    /// Show what a model is, what it needs, and where what you write goes
    Info {
        /// Its name
        name: String,
    },
    /// Read model files again and check that they are what they were; exit status 7 if one is not
    Verify {
        /// Only this one
        name: Option<String>,
    },
    /// Remove a model, or what was fetched of one; a file that was added with --in-place stays
    Remove {
        /// Its name
        name: String,
    },
}

/// Options of `model fetch`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Fetch {
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
pub(in crate::cli) struct Add {
    /// The GGUF file, or all of its parts: the numbers in their names say the order
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// How it shall be called; else after its file
    #[arg(long)]
    pub(super) name: Option<String>,
    /// Use the file where it lies, instead of copying it
    #[arg(long)]
    pub(super) in_place: bool,
}

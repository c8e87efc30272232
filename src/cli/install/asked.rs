//! What can be typed behind `memdir install`.

use clap::{Args, ValueEnum};

use crate::cli::args::ToolSet;

/// What `memdir install --help` says.
pub(in crate::cli) const LONG: &str = "Set up an assistant so that it starts memdir by itself.

Adds one entry, `memdir`, to the configuration file of the assistant, and keeps everything else in it byte for byte. The change is \
shown as a diff first; without --yes you are asked. The file as it was is kept beside it as FILE.memdir-backup.";

/// Options of `install`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Asked {
    /// The assistant; without one, those that are found here are listed
    #[arg(value_enum, value_name = "CLIENT")]
    pub(super) assistant: Option<Assistant>,
    /// The registered client that it shall be (memdir client add)
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// Which tools to offer
    #[arg(long, value_enum, value_name = "SET", default_value_t = ToolSet::Compact)]
    pub(super) tools: ToolSet,
    /// Take the entry out again
    #[arg(long, conflicts_with_all = ["client", "tools", "print"])]
    pub(super) remove: bool,
    /// Only show the change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Only print the entry, to be put into the file by hand
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) print: bool,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// The assistants that can be set up.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum Assistant {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
    Goose,
    LmStudio,
}

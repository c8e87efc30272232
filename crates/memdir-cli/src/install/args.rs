//! What can be typed behind `memdir install`.

use std::path::PathBuf;

use clap::Args;

use super::assistants::{Assistant, assistant};
use crate::args;
use memdir_mcp::ToolSet;

/// What `memdir install --help` says.
pub(crate) const LONG: &str = "Configure an assistant to start memdir.

Adds one entry, `memdir`, to the assistant's configuration file and keeps the rest byte for byte. The change is shown \
as a diff first, and you are asked unless --yes is given. The original is kept beside it as FILE.memdir-backup. \
Without CLIENT it lists the assistants on this machine and offers to set up each; with --yes it sets up all of them. An entry that is there \
keeps its --memory, --state, --client and --tools unless you give others; --remove takes them away. An entry `memdir` for \
something other than a memdir mcp on this machine is left as it is.";

/// Options of `install`.
#[derive(Args, Debug)]
pub(crate) struct InstallArgs {
    /// The assistant; if none is given, those found on this machine are listed and offered
    #[arg(value_name = "CLIENT", value_parser = assistant())]
    pub(super) assistant: Option<&'static Assistant>,
    /// Connect as this registered client (see memdir client add)
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// Which tools to offer; a new entry without it offers compact
    #[arg(long, value_name = "SET", value_parser = args::one_of(args::TOOL_SETS))]
    pub(super) tools: Option<ToolSet>,
    /// Also add hooks: the assistant then runs memdir when a session starts, at each prompt, before compaction and at the
    /// end
    #[arg(long)]
    pub(super) hooks: bool,
    /// Remove what was added; with --hooks only the hooks
    #[arg(long, conflicts_with_all = ["client", "tools", "print"])]
    pub(super) remove: bool,
    /// Instead add a line to this file of instructions, such as AGENTS.md or CLAUDE.md, that makes coding agents use the
    /// memory
    #[arg(long, value_name = "FILE", conflicts_with_all = ["assistant", "client", "tools", "hooks", "print"])]
    pub(super) agents_md: Option<PathBuf>,
    /// Only show the change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Only print the entry, for you to add to the file
    #[arg(long, conflicts_with = "dry_run", requires = "assistant")]
    pub(super) print: bool,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

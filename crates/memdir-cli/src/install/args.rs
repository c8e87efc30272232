//! What can be typed behind `memdir install`.

use clap::Args;

use super::places::{Assistant, assistant};
use crate::args;
use memdir_mcp::ToolSet;

/// What `memdir install --help` says.
pub(crate) const LONG: &str = "Configure an assistant to start memdir.

Adds one entry, `memdir`, to the assistant's configuration file and keeps the rest byte for byte. The change is shown \
as a diff first, and you are asked unless --yes is given. The original is kept beside it as FILE.memdir-backup.";

/// Options of `install`.
#[derive(Args, Debug)]
pub(crate) struct InstallArgs {
    /// The assistant; if none is given, those found on this machine are listed
    #[arg(value_name = "CLIENT", value_parser = assistant())]
    pub(super) assistant: Option<&'static Assistant>,
    /// Connect as this registered client (see memdir client add)
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// Which tools to offer
    #[arg(long, value_name = "SET", default_value = "compact", value_parser = args::one_of(args::TOOL_SETS))]
    pub(super) tools: ToolSet,
    /// Remove the entry
    #[arg(long, conflicts_with_all = ["client", "tools", "print"])]
    pub(super) remove: bool,
    /// Only show the change
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Only print the entry, for you to add to the file
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) print: bool,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

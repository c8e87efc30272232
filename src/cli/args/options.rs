//! The options of each command.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::action::SearchMode;
use crate::check::Kind;
use crate::{dialect, mcp, policy};

const VERIFY: &str = "Compute the chain anew and tell what does not fit together; exit status 7 if anything does not.

Without --head this does not prove that the newest entries are still there, or that nobody who can write to the folder \
has computed the whole chain anew. A head that was kept elsewhere proves that everything up to it is as it was then.";

const READERS: &str = "Tell who has read a note, how often, and when last.

Counted is every call that showed something of what the note says, under the name that it had then: reading or copying it, \
following a link to it, and searches and contexts with a place of it. A running server writes what was read in groups, each second \
or each hundred calls, with the next call that comes; what it still holds is not told yet. What was forgotten is not told, and \
neither is what was read before the memory had a history, which begins with its first change.";

/// Reads the number of a change.
fn change(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a number that `memdir log` shows")
}

/// Reads the number of a proposal.
fn proposal(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a number that `memdir pending` shows")
}

pub(super) const SEARCH: &str = "Find the notes that answer a query, the best first.

Operators in the query say which notes may answer. All of them have to fit:

  tag:work, #work     notes with this tag, or one nested in it such as #work/travel
  is:task, is:done    notes with tasks that are open, `- [ ]`, or done, `- [x]`
  since:2026-11-01    notes of this day or later; also since:7d, since:today, since:yesterday
  path:projects/      notes whose path, folder or name begins so; with blanks, path:\"my notes/\"

A note is of the latest day in its file name and in `date`, `created` and `updated` of its front matter; where it states none, \
of the day on which the file was last modified. Days begin at midnight UTC. A query of operators alone lists the notes, or with \
is:task and is:done the tasks, the latest first. What stands in quotes is text, and modes other than ranked know no operators.

Five notes are shown, with --json twenty. In a pipe no line is broken, and each hit begins with path:line.";

/// Options of `init`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Init {
    /// The folder; else that of --memory
    pub(in crate::cli) dir: Option<PathBuf>,
    /// Ask nothing
    #[arg(long)]
    pub(in crate::cli) yes: bool,
}

/// Options of `demo`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Demo {
    /// The folder, which must be new or empty; else ~/memdir-demo
    pub(in crate::cli) dir: Option<PathBuf>,
}

/// Options of `remember`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Remember {
    /// The sentence; quotes are not needed
    #[arg(required = true)]
    pub(in crate::cli) text: Vec<String>,
}

/// Options of `set`.
#[derive(Args, Debug)]
pub(in crate::cli) struct SetFact {
    /// The note, by its path, name, title or alias
    pub(in crate::cli) note: String,
    /// What the fact is called
    pub(in crate::cli) key: String,
    /// What it says
    #[arg(required = true)]
    pub(in crate::cli) value: Vec<String>,
}

/// Options of `add`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Add {
    /// The note, by its path, name, title or alias
    pub(in crate::cli) note: String,
    /// The line; an item of a list unless it begins with a mark of its own. Options stand before the note
    #[arg(required = true, allow_hyphen_values = true)]
    pub(in crate::cli) line: Vec<String>,
}

/// Options of `new`.
#[derive(Args, Debug)]
pub(in crate::cli) struct New {
    /// Its path, such as people/anna; .md may be left out
    pub(in crate::cli) name: String,
    /// What stands below its title
    pub(in crate::cli) text: Vec<String>,
}

/// Options of `edit`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Edit {
    /// The note, by its path, name, title or alias
    pub(in crate::cli) note: String,
}

/// Options of `mv`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Move {
    /// The note or the folder
    pub(in crate::cli) from: String,
    /// Its new name, which leaves it where it is; or its new path from the root of the memory, or the folder to move it into
    pub(in crate::cli) to: String,
}

/// Options of `rm`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Remove {
    /// The note or the folder
    pub(in crate::cli) note: String,
    /// Delete a folder with all that is in it
    #[arg(short, long)]
    pub(in crate::cli) recursive: bool,
}

/// Options of `open`.
#[derive(Args, Debug)]
pub(in crate::cli) struct OpenNote {
    /// The note; else the folder
    pub(in crate::cli) note: Option<String>,
    /// In the editor, also where Obsidian knows the folder
    #[arg(long)]
    pub(in crate::cli) editor: bool,
}

/// Options of `tree`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Tree {
    /// A folder in the memory; else all of it
    pub(in crate::cli) folder: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) page: Paging,
}

/// Options of `read`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Read {
    /// The note, such as entities/jane_doe.md
    pub(in crate::cli) note: String,
}

/// Options of `links`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Links {
    /// The note; else all of them
    pub(in crate::cli) note: Option<String>,
}

/// Options of `facts`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Facts {
    /// The note; else all of them
    pub(in crate::cli) note: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) page: Paging,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Check {
    /// Only findings of this kind
    #[arg(long, value_enum, value_name = "KIND")]
    pub(in crate::cli) kind: Option<FindingKind>,
    /// Show every finding, not the worst ten alone
    #[arg(long)]
    pub(in crate::cli) all: bool,
}

/// Options of `log`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Log {
    /// Only changes of this note, under whatever names it had
    pub(in crate::cli) note: Option<String>,
    /// Only changes that this program made
    #[arg(long, value_name = "NAME", conflicts_with = "lines")]
    pub(in crate::cli) client: Option<String>,
    /// Only changes since then: today, yesterday, 3d, 12h, or a date such as 2026-11-20
    #[arg(long, value_name = "WHEN", conflicts_with = "lines")]
    pub(in crate::cli) since: Option<String>,
    /// Only changes of today
    #[arg(long, conflicts_with_all = ["since", "lines"])]
    pub(in crate::cli) today: bool,
    /// Show each change as a diff
    #[arg(short, long)]
    pub(in crate::cli) patch: bool,
    /// Show instead who wrote each line of the note as it is now
    #[arg(long, requires = "note", conflicts_with_all = ["patch", "limit", "cursor"])]
    pub(in crate::cli) lines: bool,
    /// Show instead how often each action was called, how often it was refused or failed, and how long it took
    #[arg(long, conflicts_with_all = ["note", "client", "since", "today", "patch", "lines", "limit", "cursor"])]
    pub(in crate::cli) stats: bool,
    #[command(flatten)]
    pub(in crate::cli) page: Paging,
}

/// Options of `diff`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Diff {
    /// The number that `memdir log` shows; else the newest change
    #[arg(value_name = "NUMBER", value_parser = change)]
    pub(in crate::cli) batch: Option<u64>,
}

/// Options of `undo`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Undo {
    /// The number that `memdir log` shows; else the last thing that you or a model did and that is not undone yet
    #[arg(value_name = "NUMBER", value_parser = change)]
    pub(in crate::cli) batch: Option<u64>,
    /// Only show it
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

/// Options of `restore`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Restore {
    /// The note
    pub(in crate::cli) note: String,
    /// The number of the change, as `memdir log` shows it
    #[arg(long, value_name = "NUMBER", value_parser = change)]
    pub(in crate::cli) at: u64,
    /// Only show it
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
}

/// Options of `reject`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Reject {
    /// The numbers of the proposals
    #[arg(value_name = "ID", value_parser = proposal, required_unless_present_any = ["all", "client"])]
    pub(in crate::cli) ids: Vec<u64>,
    /// Drop all that wait
    #[arg(long, conflicts_with_all = ["ids", "client"])]
    pub(in crate::cli) all: bool,
    /// Drop all of this program
    #[arg(long, value_name = "NAME", conflicts_with = "ids")]
    pub(in crate::cli) client: Option<String>,
    /// Add a rule too, so that the same is denied from now on without asking
    #[arg(long)]
    pub(in crate::cli) never: bool,
}

/// Options of `actions`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Actions {
    /// Print the system prompt that teaches them to a model
    #[arg(long, conflicts_with = "markdown")]
    pub(in crate::cli) prompt: bool,
    /// Print them as a page of Markdown
    #[arg(long)]
    pub(in crate::cli) markdown: bool,
    #[command(flatten)]
    pub(in crate::cli) offer: Offer,
}

/// Options of `schema`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Schema {
    /// For whom
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SchemaFormat::JsonSchema)]
    pub(in crate::cli) format: SchemaFormat,
    /// The grammar of the dialect lines instead, in which a model can name only lines of these notes
    #[arg(long, value_name = "NOTE", num_args = 1..)]
    pub(in crate::cli) lines: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) offer: Offer,
}

/// What the audit is asked.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Audit {
    /// Compute the chain anew and tell what does not fit together; exit status 7 if anything does not
    #[command(long_about = VERIFY)]
    Verify {
        /// A head that was kept elsewhere; it has to be in the chain
        #[arg(long, value_name = "HEAD")]
        head: Option<String>,
    },
    /// Print the head: the hash of the newest entry, which stands for all of them
    Head,
    /// Tell who has read a note, how often, and when last
    #[command(long_about = READERS)]
    Readers {
        /// The note
        note: String,
        /// List each time, the newest first
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        page: Paging,
    },
    /// Print all entries, one JSON object a line, with what it takes to compute each hash
    Export {
        /// One JSON object a line, which is the only format
        #[arg(long)]
        jsonl: bool,
    },
}

/// Options of `forget`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Forget {
    /// The note, such as entities/jane_doe.md: itself, links to it, and all its versions under all names it had
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(in crate::cli) note: Option<String>,
    /// A text, letter by letter: taken out of every note, and every version that holds it goes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(in crate::cli) text: Option<String>,
    /// Erase the lines of other notes too that link to the note or name it; without this only the links in them go
    #[arg(long, conflicts_with = "text")]
    pub(in crate::cli) lines: bool,
    /// Only list the places
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Do not ask; without a terminal to ask on, nothing is erased unless this is given
    #[arg(long)]
    pub(in crate::cli) yes: bool,
}

/// What can be done with the rules.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Rules {
    /// List the rules with their numbers
    List,
    /// Add a rule for this memory: about the calls that match all that is given
    #[command(group = clap::ArgGroup::new("part").required(true).multiple(true))]
    Add {
        /// The answer; of several rules, the strictest counts
        verdict: Verdict,
        /// The name of an action
        #[arg(long, group = "part")]
        action: Option<String>,
        /// A path or a glob, such as private/**
        #[arg(long, group = "part", value_name = "GLOB")]
        path: Option<String>,
        /// The program that asks
        #[arg(long, group = "part", value_name = "NAME")]
        client: Option<String>,
        /// What a detector found: email, phone, personal, secret, active_content and others
        #[arg(long, group = "part")]
        detector: Option<String>,
    },
    /// Take a rule out of the settings file
    Remove {
        /// The number that the list shows
        number: usize,
    },
}

/// Options of `approve`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Approve {
    /// The numbers of the proposals; else all that wait, one after the other
    #[arg(value_name = "ID", value_parser = proposal)]
    pub(in crate::cli) ids: Vec<u64>,
    /// Show all of them, then ask once
    #[arg(long, conflicts_with = "code")]
    pub(in crate::cli) all: bool,
    /// Only those of this program
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "code"])]
    pub(in crate::cli) client: Option<String>,
    /// The code that `memdir pending` shows; else you are asked
    #[arg(long, value_name = "CODE")]
    pub(in crate::cli) code: Option<String>,
    /// Add a rule too, so that the same is allowed from now on without asking
    #[arg(long)]
    pub(in crate::cli) always: bool,
}

/// Options of `exec`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Exec {
    /// One failure, and nothing is done
    #[arg(long)]
    pub(in crate::cli) atomic: bool,
    /// Say what would happen, as a diff, and do nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Refuse every action that writes
    #[arg(long)]
    pub(in crate::cli) read_only: bool,
    /// What becomes of personal facts and active content: off notes them, flag wants the model to say that the person agreed, ask keeps them until the person decides, all keeps every change until then
    #[arg(long, value_name = "MODE")]
    pub(in crate::cli) permission: Option<Permission>,
    /// How the text is written
    #[arg(long, value_enum, default_value_t = Dialect::Detect)]
    pub(in crate::cli) dialect: Dialect,
    /// Keep variables and what was read in this file, and go on with those of the calls before
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) conversation: Option<PathBuf>,
    /// The program that asks, for the history and for rules
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) client: Option<String>,
}

/// As [`mcp::ToolSet`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum ToolSet {
    /// The eight that do nearly everything
    Compact,
    /// One for each action, and `run_actions`
    Full,
    /// Anthropic's memory tool
    Memory,
}

impl From<ToolSet> for mcp::ToolSet {
    fn from(set: ToolSet) -> Self {
        match set {
            ToolSet::Compact => Self::Compact,
            ToolSet::Full => Self::Full,
            ToolSet::Memory => Self::Memory,
        }
    }
}

/// Options of `search`.
#[derive(Args, Debug)]
pub(in crate::cli) struct Search {
    /// What to look for: words, and operators such as tag:work; quotes are not needed
    #[arg(required = true)]
    pub(in crate::cli) query: Vec<String>,
    /// How
    #[arg(long, value_enum, default_value_t = Mode::Ranked)]
    pub(in crate::cli) mode: Mode,
    /// Only in this folder or note
    #[arg(long)]
    pub(in crate::cli) path: Option<String>,
    /// Show twenty notes instead of five
    #[arg(long, conflicts_with = "limit")]
    pub(in crate::cli) more: bool,
    #[command(flatten)]
    pub(in crate::cli) page: Paging,
    /// How many tokens what is shown may have; a token is four bytes
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) budget: Option<u32>,
}

/// The ways of searching that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum Mode {
    /// By the words of the query, the rare ones counting most
    Ranked,
    /// For the query as it stands, in upper or lower case
    Text,
    /// For a regular expression, line by line
    Regex,
    /// In the names of notes
    Name,
}

impl From<Mode> for SearchMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Ranked => Self::Ranked,
            Mode::Text => Self::Text,
            Mode::Regex => Self::Regex,
            Mode::Name => Self::Name,
        }
    }
}

/// The dialects that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum Dialect {
    /// By what the text holds
    Detect,
    /// <actions> with a JSON list
    Native,
    /// <actions> with replace_text, append_line and delete_line
    Lines,
    /// <mcp:tool> blocks in a text
    McpBlock,
    /// <python> blocks of the mem-agent model, read and never run
    Python,
    /// Tool calls in the JSON of OpenAI, Anthropic or Gemini
    ToolCall,
    /// The memory tool of Anthropic
    MemoryTool,
}

impl Dialect {
    /// The one that is named; `None` where the text decides.
    pub(in crate::cli) fn named(self) -> Option<dialect::Dialect> {
        Some(match self {
            Self::Detect => return None,
            Self::Native => dialect::Dialect::Native,
            Self::Lines => dialect::Dialect::Lines,
            Self::McpBlock => dialect::Dialect::McpBlock,
            Self::Python => dialect::Dialect::Python,
            Self::ToolCall => dialect::Dialect::ToolCall,
            Self::MemoryTool => dialect::Dialect::MemoryTool,
        })
    }
}

/// The answers that a rule can give.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl From<Verdict> for policy::Verdict {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Ask => Self::Ask,
            Verdict::Deny => Self::Deny,
        }
    }
}

/// The modes of permission that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum Permission {
    Off,
    Flag,
    Ask,
    All,
}

impl From<Permission> for policy::Mode {
    fn from(permission: Permission) -> Self {
        match permission {
            Permission::Off => Self::Off,
            Permission::Flag => Self::Flag,
            Permission::Ask => Self::Ask,
            Permission::All => Self::All,
        }
    }
}

/// The kinds of findings that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum FindingKind {
    BrokenLink,
    Unwritten,
    Orphan,
    Duplicate,
    ConflictingFact,
    Oversized,
    SyncConflict,
    UnportableName,
    ActiveContent,
}

impl From<FindingKind> for Kind {
    fn from(kind: FindingKind) -> Self {
        match kind {
            FindingKind::BrokenLink => Self::BrokenLink,
            FindingKind::Unwritten => Self::Unwritten,
            FindingKind::Orphan => Self::Orphan,
            FindingKind::Duplicate => Self::Duplicate,
            FindingKind::ConflictingFact => Self::ConflictingFact,
            FindingKind::Oversized => Self::Oversized,
            FindingKind::SyncConflict => Self::SyncConflict,
            FindingKind::UnportableName => Self::UnportableName,
            FindingKind::ActiveContent => Self::ActiveContent,
        }
    }
}

/// Which part of a long list.
#[derive(Args, Debug)]
pub(in crate::cli) struct Paging {
    /// How many at most
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) limit: Option<u32>,
    /// Go on after the page before: its cursor
    #[arg(long, value_name = "CURSOR")]
    pub(in crate::cli) cursor: Option<String>,
}

impl Paging {
    /// The limit, or `default`.
    pub(in crate::cli) fn limit(&self, default: usize) -> usize {
        self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
    }
}

/// The ways of describing actions that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::cli) enum SchemaFormat {
    /// The JSON schema of what stands between <actions> and </actions>
    JsonSchema,
    /// A grammar for llama.cpp
    Gbnf,
    /// The same grammar for llguidance
    Lark,
    /// Tools for Chat Completions of OpenAI and servers like it
    Openai,
    /// The same, strict: the model can send nothing else
    OpenaiStrict,
    /// Tools for Responses of OpenAI
    OpenaiResponses,
    /// The same, strict
    OpenaiResponsesStrict,
    /// Tools for Messages of Anthropic
    Anthropic,
    /// Tools for generateContent of Gemini
    Gemini,
    /// The answer to tools/list of MCP
    Mcp,
}

/// To whom actions are offered.
#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Offer {
    /// Leave out every action that writes
    #[arg(long)]
    pub(in crate::cli) read_only: bool,
    /// Tell the model to ask first, as the mode flag wants it
    #[arg(long, value_name = "MODE", default_value = "off")]
    pub(in crate::cli) permission: Permission,
}

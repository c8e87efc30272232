//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{ask, chat, client, eval, install, model, session};
use crate::action::SearchMode;
use crate::check::Kind;
use crate::{dialect, mcp, policy};

/// A long-term memory for language models: a folder of Markdown notes, and safe, undoable actions on it.
#[derive(Debug, Parser)]
#[command(name = "memdir", version, max_term_width = 100, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options of every command.
#[derive(Args, Debug)]
pub(super) struct Global {
    /// The folder of notes; else MEMDIR, the settings file, ~/memdir
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(super) memory: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(super) json: bool,
    /// Keep the history in a folder below this one instead of the memory's .memdir
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(super) state: Option<PathBuf>,
    /// Write to this file how text was read and why something was refused, without contents
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(super) log: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make a memory, or adopt a folder of notes without changing one
    Init {
        /// The folder; else that of --memory
        dir: Option<PathBuf>,
    },
    /// Run the actions in a text that a model wrote
    #[command(long_about = EXEC)]
    Exec(Exec),
    /// List files and folders
    Tree {
        /// A folder in the memory; else all of it
        folder: Option<String>,
        #[command(flatten)]
        page: Paging,
    },
    /// Print a note
    Read {
        /// The note, such as entities/jane_doe.md
        note: String,
    },
    /// Find notes by what they say or by their names, the best first
    Search(Search),
    /// List the links of the memory, or of one note with the notes that link to it
    Links {
        /// The note; else all of them
        note: Option<String>,
    },
    /// List what notes say as keys and values
    Facts {
        /// The note; else all of them
        note: Option<String>,
        #[command(flatten)]
        page: Paging,
    },
    /// Look for what is wrong in the memory, and propose actions that mend it
    Check {
        /// Only findings of this kind
        #[arg(long, value_enum, value_name = "KIND")]
        kind: Option<FindingKind>,
        /// Show every finding, not the worst ten alone
        #[arg(long)]
        all: bool,
    },
    /// Show what was changed, the newest first
    Log {
        /// Only changes of this note, under whatever names it had
        note: Option<String>,
        /// Only changes that this program made
        #[arg(long, value_name = "NAME", conflicts_with = "lines")]
        client: Option<String>,
        /// Show each change as a diff
        #[arg(short, long)]
        patch: bool,
        /// Show instead who wrote each line of the note as it is now
        #[arg(long, requires = "note", conflicts_with_all = ["patch", "limit", "cursor"])]
        lines: bool,
        /// Show instead how often each action was called, how often it was refused or failed, and how long it took
        #[arg(long, conflicts_with_all = ["note", "client", "patch", "lines", "limit", "cursor"])]
        stats: bool,
        #[command(flatten)]
        page: Paging,
    },
    /// Show what a batch changed
    Diff {
        /// The batch; else the newest
        batch: Option<u64>,
    },
    /// Undo a batch, and show what that changes
    Undo {
        /// The batch; else the latest that is neither undone nor itself an undo
        batch: Option<u64>,
        /// Only show it
        #[arg(long)]
        dry_run: bool,
    },
    /// Put a note back to what it was right after a batch
    Restore {
        /// The note
        note: String,
        /// The batch
        #[arg(long, value_name = "BATCH")]
        at: u64,
        /// Only show it
        #[arg(long)]
        dry_run: bool,
    },
    /// List the standing answers in the settings: what is always allowed, asked about or denied
    Rules {
        #[command(subcommand)]
        asked: Option<Rules>,
    },
    /// Account for what was done: every call is an entry, and each entry seals the one before it
    #[command(subcommand, long_about = AUDIT)]
    Audit(Audit),
    /// Erase a note or a text wherever it is kept: in notes, history, audit and the inbox
    #[command(long_about = FORGET)]
    Forget(Forget),
    /// List the proposals that wait for you, each with the change it would make now and a code to approve it by
    Pending,
    /// Carry out a proposal, once you have seen the change and said yes
    #[command(long_about = APPROVE)]
    Approve(Approve),
    /// Drop a proposal; nothing of it is kept
    Reject {
        /// The number of the proposal
        #[arg(value_name = "ID")]
        id: u64,
        /// Add a rule too, so that the same is denied from now on without asking
        #[arg(long)]
        never: bool,
    },
    /// List the actions that a model can send
    Actions {
        /// Print the system prompt that teaches them to a model
        #[arg(long, conflicts_with = "markdown")]
        prompt: bool,
        /// Print them as a page of Markdown
        #[arg(long)]
        markdown: bool,
        #[command(flatten)]
        offer: Offer,
    },
    /// Print what describes the actions to programs: JSON schemas, tool definitions, grammars
    #[command(long_about = SCHEMA)]
    Schema {
        /// For whom
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SchemaFormat::JsonSchema)]
        format: SchemaFormat,
        /// The grammar of the dialect lines instead, in which a model can name only lines of these notes
        #[arg(long, value_name = "NOTE", num_args = 1..)]
        lines: Vec<String>,
        #[command(flatten)]
        offer: Offer,
    },
    /// Ask a model that uses the memory
    Ask(ask::Asked),
    /// List the conversations that are kept, remove one, or do once more what one has done
    #[command(subcommand)]
    Session(session::Asked),
    /// Talk with a model that uses the memory
    #[command(long_about = chat::LONG)]
    Chat(chat::Asked),
    /// Serve the memory over the Model Context Protocol, on standard input and output
    Mcp(super::mcp::Asked),
    /// Say which programs may ask for the memory, and what each may see and do
    #[command(subcommand, long_about = client::LONG)]
    Client(client::Asked),
    /// Set up an assistant so that it starts memdir by itself
    #[command(long_about = install::LONG)]
    Install(install::Asked),
    /// Get model files, keep them, and see which model is used
    #[command(subcommand, long_about = model::LONG)]
    Model(model::Asked),
    /// Measure how well questions are answered
    #[command(subcommand)]
    Eval(eval::asked::Eval),
    /// Check that the memory, its history and this system are in order
    Doctor,
    /// Print a script that completes commands in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const EXEC: &str = "Run the actions in a text that a model wrote.

Reads the text from standard input, runs what stands in <actions>…</actions>, and prints the answer \
for the model. All that succeeds is one batch, which `memdir undo` takes back. Exit status: 0 all done; \
2 no action and no reply in the text; 3 some were refused; 4 some failed; see docs/cli.md.";

const SCHEMA: &str = "Print what describes the actions to programs: JSON schemas, tool definitions, grammars.

Tool definitions are the part of a request that has the key `tools`; what the model sends back goes to `memdir exec`. \
A grammar lets a model write only turns that are read without a repair; every text in it is bounded, so give the model \
room to end one, and do not run a turn that was cut off.";

const AUDIT: &str = "Account for what was done: every call is an entry, and each entry seals the one before it.

A chain shows by itself that something in its middle was changed, removed or put in. It does not show that its newest \
entries were cut off together with what they account for, or that somebody who can write to the folder has computed \
all of it anew. For that, keep a head elsewhere (`memdir audit head`) and give it to `memdir audit verify --head`.";

const FORGET: &str = "Erase a note or a text wherever it is kept: in notes, history, audit and the inbox.

All places are listed first. What is erased cannot be brought back: `memdir undo` and `restore` answer `unavailable` \
for it, and the audit keeps its chain without the words. Backups, snapshots, copies that a sync program has made, and \
what a disk keeps of deleted files are out of reach. If it is interrupted, the same command again finishes it.";

/// What the audit is asked.
#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Compute the chain anew and tell what does not fit together; exit status 7 if anything does not
    #[command(long_about = VERIFY)]
    Verify {
        /// A head that was kept elsewhere; it has to be in the chain
        #[arg(long, value_name = "HEAD")]
        head: Option<String>,
    },
    /// Print the head: the hash of the newest entry, which stands for all of them
    Head,
    /// Tell who has read a note, and when, the newest first
    #[command(long_about = READERS)]
    Readers {
        /// The note
        note: String,
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

const VERIFY: &str = "Compute the chain anew and tell what does not fit together; exit status 7 if anything does not.

Without --head this does not prove that the newest entries are still there, or that nobody who can write to the folder \
has computed the whole chain anew. A head that was kept elsewhere proves that everything up to it is as it was then.";

const READERS: &str = "Tell who has read a note, and when, the newest first.

Counted is every call that showed something of what the note says, under the name that it had then: reading or copying it, \
following a link to it, and searches and contexts with a place of it. A running server writes what was read in groups, each second \
or each hundred calls, with the next call that comes; what it still holds is not told yet. What was forgotten is not told, and \
neither is what was read before the memory had a history, which begins with its first change.";

/// Options of `forget`.
#[derive(Args, Debug)]
pub(super) struct Forget {
    /// The note, such as entities/jane_doe.md: itself, links to it, and all its versions under all names it had
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(super) note: Option<String>,
    /// A text, letter by letter: taken out of every note, and every version that holds it goes
    #[arg(long, value_name = "TEXT")]
    pub(super) text: Option<String>,
    /// Only list the places
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub(super) yes: bool,
}

/// What can be done with the rules.
#[derive(Debug, Subcommand)]
pub(super) enum Rules {
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

const APPROVE: &str = "Carry out a proposal, once you have seen the change and said yes.

On a terminal the change is shown as it would be made now, and you are asked. Elsewhere it takes the code that `memdir \
pending` shows beside the change: it holds for that change alone, and only once. If the notes have changed since so that \
the proposal would do something else, nothing is done and you are asked again.";

/// Options of `approve`.
#[derive(Args, Debug)]
pub(super) struct Approve {
    /// The number of the proposal
    #[arg(value_name = "ID")]
    pub(super) id: u64,
    /// The code that `memdir pending` shows; else you are asked
    #[arg(long, value_name = "CODE")]
    pub(super) code: Option<String>,
    /// Add a rule too, so that the same is allowed from now on without asking
    #[arg(long)]
    pub(super) always: bool,
}

/// Options of `exec`.
#[derive(Args, Debug)]
pub(super) struct Exec {
    /// One failure, and nothing is done
    #[arg(long)]
    pub(super) atomic: bool,
    /// Say what would happen, as a diff, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Refuse every action that writes
    #[arg(long)]
    pub(super) read_only: bool,
    /// What becomes of personal facts and active content: off notes them, flag wants the model to say that the person agreed, ask keeps them until the person decides, all keeps every change until then
    #[arg(long, value_name = "MODE")]
    pub(super) permission: Option<Permission>,
    /// How the text is written
    #[arg(long, value_enum, default_value_t = Dialect::Detect)]
    pub(super) dialect: Dialect,
    /// Keep variables and what was read in this file, and go on with those of the calls before
    #[arg(long, value_name = "FILE")]
    pub(super) conversation: Option<PathBuf>,
    /// The program that asks, for the history and for rules
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
}

/// As [`mcp::ToolSet`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ToolSet {
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
pub(super) struct Search {
    /// What to look for
    pub(super) query: String,
    /// How
    #[arg(long, value_enum, default_value_t = Mode::Ranked)]
    pub(super) mode: Mode,
    /// Only in this folder or note
    #[arg(long)]
    pub(super) path: Option<String>,
    #[command(flatten)]
    pub(super) page: Paging,
    /// How many tokens what is shown may have; a token is four bytes
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) budget: Option<u32>,
}

/// The ways of searching that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Mode {
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
pub(super) enum Dialect {
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
    pub(super) fn named(self) -> Option<dialect::Dialect> {
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
pub(super) enum Verdict {
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
pub(super) enum Permission {
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
pub(super) enum FindingKind {
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
pub(super) struct Paging {
    /// How many at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Go on after the page before: its cursor
    #[arg(long, value_name = "CURSOR")]
    pub(super) cursor: Option<String>,
}

impl Paging {
    /// The limit, or `default`.
    pub(super) fn limit(&self, default: usize) -> usize {
        self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
    }
}

/// The ways of describing actions that can be named.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum SchemaFormat {
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
pub(super) struct Offer {
    /// Leave out every action that writes
    #[arg(long)]
    pub(super) read_only: bool,
    /// Tell the model to ask first, as the mode flag wants it
    #[arg(long, value_name = "MODE", default_value = "off")]
    pub(super) permission: Permission,
}

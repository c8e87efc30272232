//! The options of commands, and of every command.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::stop::usage;
use memdir_check::Kind;
use memdir_core::action::SearchMode;
use memdir_core::catalog::format::Format;
use memdir_core::report::Failure;
use memdir_dialect::Dialect;
use memdir_mcp::{HubOffer, ToolSet};
use memdir_policy::{Mode, Verdict};
use memdir_vault::ToolFilter;

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Global {
    /// The folder of notes; default: MEMDIR, the settings file, ~/memdir
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(super) memory: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(super) json: bool,
    /// Keep the history in a folder below this one instead of the memory's .memdir
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(super) state: Option<PathBuf>,
    /// Log to this file how text was read and why calls were refused, without contents
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(super) log: Option<PathBuf>,
}

/// Stands before an argument that is a text though it begins with `-`; no text has it.
pub(super) const TEXT: char = '\u{fdd0}';

/// A word of a text, without the mark.
#[expect(clippy::unnecessary_wraps, reason = "clap wants a result")]
pub(super) fn text(word: &str) -> Result<String, std::convert::Infallible> {
    Ok(word.strip_prefix(TEXT).unwrap_or(word).to_owned())
}

const VERIFY: &str = "Recompute the chain and list every mismatch; exit status 7 if there is one.

Without --head this does not prove that the newest entries are still there, or that nobody who can write to the folder \
has recomputed the whole chain. A head that was kept elsewhere proves that everything up to it is as it was then.";

const READERS: &str = "Show who has read a note, how often, and when they last did.

Every call counts that showed something of what the note says, under the name that it had then: reading or copying it, \
following a link to it, and searches and contexts that quote it. A running server records reads in groups, each second \
or each hundred calls, with the next call that comes; those that it still holds are not shown. Reads that were forgotten are \
not shown either, nor those from before the memory had a history, which begins with its first change.";

/// Reads the number of a change.
pub(super) fn change(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a number that `memdir log` shows")
}

/// Reads the number of a proposal.
fn proposal(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "give a number that `memdir pending` shows")
}

pub(super) const REVIEW: &str = "Answer the questions whose answers are worth most now, at most five.

memdir asks about two lines that contradict each other, about what an import or a tool wrote and you have not confirmed, and about \
what has stood for longer than facts of its key mostly do in this memory. Of two lines, 1 or 2 keeps that one and takes out the other; \
b lets both stay. Yes confirms a line: the history says so, and no note changes. `= NEW VALUE` writes that. memdir undo takes back what \
an answer changed. Without a terminal the questions are listed.";

pub(super) const TIDY: &str = "Propose what would make the memory tidier, as one proposal in the inbox; nothing changes before you agree.

Proposed are: taking out a line that another one contradicts, a fact whose time is over, and a note that says nothing another one \
does not; mending links and names; linking a note where another one names it; and making notes of the long sections of a note that has grown \
too long. No model is used. What was proposed once is not proposed again, and what you approve of one run is one change, which memdir undo \
takes back.";

pub(super) const SEARCH: &str = "Find the notes that answer a query, the best first.

Operators in the query say which notes may answer; a note has to match all of them:

  tag:work, #work     notes with this tag, or one nested in it such as #work/travel
  is:task, is:done    notes with tasks that are open, `- [ ]`, or done, `- [x]`
  since:2026-11-01    notes of this day or later; also since:7d, since:today, since:yesterday
  path:projects/      notes whose path, folder or name begins with this; with spaces, path:\"my notes/\"

A note's day is the latest one in its file name and in `date`, `created` and `updated` of its front matter; if it states none, \
the day on which the file was last modified. Days begin at midnight UTC. A query of operators alone lists the notes, or with \
is:task and is:done the tasks, the latest first. Text in quotes is text and no operator, \
and its words are searched for; --mode text finds it as it stands. Only the ranked mode has operators.

Shows five notes, or twenty with --json. In a pipe, lines are not wrapped, and each hit begins with path:line.";

/// Options of `remember`.
#[derive(Args, Debug)]
pub(super) struct Remember {
    /// The sentence; quotes are not needed
    #[arg(required = true, value_parser = text)]
    pub(super) text: Vec<String>,
}

/// Options of `set`.
#[derive(Args, Debug)]
pub(super) struct SetFact {
    /// The note, by its path, name, title or alias
    pub(super) note: String,
    /// What the fact is called
    pub(super) key: String,
    /// What it says
    #[arg(required = true, value_parser = text)]
    pub(super) value: Vec<String>,
}

/// Options of `add`.
#[derive(Args, Debug)]
pub(super) struct Add {
    /// The note, by its path, name, title or alias
    pub(super) note: String,
    /// The line; it becomes a list item unless it begins with a mark of its own. Options go before the note
    #[arg(required = true, allow_hyphen_values = true)]
    pub(super) line: Vec<String>,
}

/// Options of `new`.
#[derive(Args, Debug)]
pub(super) struct New {
    /// Its path, such as people/anna; .md may be left out
    pub(super) name: String,
    /// What stands below its title
    #[arg(value_parser = text)]
    pub(super) text: Vec<String>,
}

/// Options of `mv`.
#[derive(Args, Debug)]
pub(super) struct Move {
    /// The note, the file or the folder
    pub(super) from: String,
    /// Its new name, which leaves it where it is; or its new path from the root of the memory, or the folder to move it into. A name
    /// without an extension keeps the one it had
    pub(super) to: String,
}

/// Options of `rm`.
#[derive(Args, Debug)]
pub(super) struct Remove {
    /// The note or the folder
    pub(super) note: String,
    /// Delete a folder with all that is in it
    #[arg(short, long)]
    pub(super) recursive: bool,
}

/// Options of `log`.
#[derive(Args, Debug)]
pub(super) struct Log {
    /// Only changes of this note, under whatever names it had
    pub(super) note: Option<String>,
    /// Only changes that this program made
    #[arg(long, value_name = "NAME", conflicts_with = "lines")]
    pub(super) client: Option<String>,
    /// Only changes since then: today, yesterday, 3d, 12h, or a date such as 2026-11-20
    #[arg(long, value_name = "WHEN", conflicts_with = "lines")]
    pub(super) since: Option<String>,
    /// Only changes of today
    #[arg(long, conflicts_with_all = ["since", "lines"])]
    pub(super) today: bool,
    /// Show each change as a diff
    #[arg(short, long)]
    pub(super) patch: bool,
    /// Show instead who wrote each line of the note as it is now
    #[arg(long, requires = "note", conflicts_with_all = ["patch", "limit", "cursor"])]
    pub(super) lines: bool,
    /// Show instead how often each action was called, how often it was refused or failed, and how long it took
    #[arg(long, conflicts_with_all = ["note", "client", "since", "today", "patch", "lines", "limit", "cursor"])]
    pub(super) stats: bool,
    #[command(flatten)]
    pub(super) tools: Tools,
    #[command(flatten)]
    pub(super) page: Paging,
}

/// Which calls of other servers' tools are shown.
#[derive(Args, Debug)]
pub(super) struct Tools {
    /// Only calls of this server's tools
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only calls of this tool, such as calendar__list_events or list_events
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

impl Tools {
    /// The same for the audit; `None` where neither is given.
    pub(super) fn filter(&self) -> Option<ToolFilter> {
        let (server, tool) = (self.server.clone(), self.tool.clone());
        (server.is_some() || tool.is_some()).then_some(ToolFilter { server, tool })
    }
}

/// Options of `reject`.
#[derive(Args, Debug)]
pub(super) struct Reject {
    /// The numbers of the proposals
    #[arg(value_name = "ID", value_parser = proposal, required_unless_present_any = ["all", "client"])]
    pub(super) ids: Vec<u64>,
    /// Drop all waiting proposals
    #[arg(long, conflicts_with_all = ["ids", "client"])]
    pub(super) all: bool,
    /// Drop all proposals from this program
    #[arg(long, value_name = "NAME", conflicts_with = "ids")]
    pub(super) client: Option<String>,
    /// Also add a rule that denies the same from now on without asking
    #[arg(long)]
    pub(super) never: bool,
}

/// Options of `schema`.
#[derive(Args, Debug)]
pub(super) struct Schema {
    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "json-schema", value_parser = one_of(SCHEMA_FORMATS))]
    pub(super) format: SchemaFormat,
    /// Print the grammar of the dialect lines instead, in which a model can name only lines of these notes
    #[arg(long, value_name = "NOTE", num_args = 1..)]
    pub(super) lines: Vec<String>,
    #[command(flatten)]
    pub(super) offer: Offer,
}

/// What the audit is asked.
#[derive(Debug, Subcommand)]
pub(super) enum Audit {
    /// Recompute the chain and list every mismatch; exit status 7 if there is one
    #[command(long_about = VERIFY)]
    Verify {
        /// A head that was kept elsewhere; the chain has to contain it
        #[arg(long, value_name = "HEAD")]
        head: Option<String>,
    },
    /// Print the head: the hash of the newest entry, which covers all earlier ones
    Head,
    /// Show who has read a note, how often, and when they last did
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
    /// Show the calls of other servers' tools, the newest first: who made each, by whose leave, and what came of it
    Calls {
        #[command(flatten)]
        tools: Tools,
        /// Only calls by this program
        #[arg(long, value_name = "NAME")]
        client: Option<String>,
        /// Only calls in this conversation
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        #[command(flatten)]
        page: Paging,
    },
    /// Print every entry as a line of JSON, with everything needed to recompute its hash
    Export {
        #[command(flatten)]
        tools: Tools,
        /// One JSON object a line, which is the only format
        #[arg(long)]
        jsonl: bool,
    },
}

/// Options of `forget`.
#[derive(Args, Debug)]
pub(super) struct Forget {
    /// The note, such as entities/jane_doe.md: the note itself, links to it, and all its versions under all names it had
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(super) note: Option<String>,
    /// An exact text; it is removed from every note, and every version that contains it is erased
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) text: Option<String>,
    /// Also erase the lines of other notes that link to the note or name it; without this only the links in them are removed
    #[arg(long, conflicts_with = "text")]
    pub(super) lines: bool,
    /// Only list the places
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask; without a terminal to ask on, nothing is erased unless this is given
    #[arg(long)]
    pub(super) yes: bool,
}

/// What can be done with the rules.
#[derive(Debug, Subcommand)]
pub(super) enum Rules {
    /// List the rules with their numbers
    List,
    /// Add a rule for this memory; it applies to calls that match every option given
    #[command(group = clap::ArgGroup::new("part").required(true).multiple(true))]
    Add {
        /// The answer; of several rules, the strictest counts
        #[arg(value_parser = one_of(VERDICTS))]
        verdict: Verdict,
        /// The name of an action
        #[arg(long, group = "part")]
        action: Option<String>,
        /// A path or a glob, such as private/**
        #[arg(long, group = "part", value_name = "GLOB")]
        path: Option<String>,
        /// The name of a program
        #[arg(long, group = "part", value_name = "NAME")]
        client: Option<String>,
        /// What a detector found: email, phone, personal, secret, active_content and others
        #[arg(long, group = "part")]
        detector: Option<String>,
    },
    /// Remove a rule from the settings file
    Remove {
        /// The number that the list shows
        number: usize,
    },
}

/// Options of `approve`.
#[derive(Args, Debug)]
pub(super) struct Approve {
    /// The numbers of the proposals; if none is given, all that are waiting
    #[arg(value_name = "ID", value_parser = proposal)]
    pub(super) ids: Vec<u64>,
    /// Show all of them, then ask once
    #[arg(long, conflicts_with = "code")]
    pub(super) all: bool,
    /// Only proposals from this program
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "code"])]
    pub(super) client: Option<String>,
    /// The code that `memdir pending` shows; else you are asked
    #[arg(long, value_name = "CODE")]
    pub(super) code: Option<String>,
    /// Also add a rule that allows the same from now on without asking
    #[arg(long)]
    pub(super) always: bool,
}

/// Options of `exec`.
#[derive(Args, Debug)]
pub(super) struct Exec {
    /// Do nothing if any action fails
    #[arg(long)]
    pub(super) atomic: bool,
    /// Show what would happen, as a diff, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Refuse every action that writes (`read_only`, exit 4)
    #[arg(long)]
    pub(super) read_only: bool,
    /// How to treat personal facts and active content: off only reports them, flag requires the model to state that
    /// the person agreed, ask holds them for the person's approval, all holds every change
    #[arg(long, value_name = "MODE", value_parser = one_of(MODES))]
    pub(super) permission: Option<Mode>,
    /// The dialect of the text
    #[arg(long, default_value = "detect", value_parser = one_of(DIALECTS))]
    pub(super) dialect: NamedDialect,
    /// Keep variables and what was read in this file from one call to the next
    #[arg(long, value_name = "FILE")]
    pub(super) conversation: Option<PathBuf>,
    /// The name of the calling program, for the history and for rules
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
}

/// Options of `search`.
#[derive(Args, Debug)]
pub(super) struct Search {
    /// What to look for: words, and operators such as tag:work; quotes are not needed
    #[arg(required = true)]
    pub(super) query: Vec<String>,
    /// How to search
    #[arg(long, default_value = "ranked", value_parser = one_of(SEARCH_MODES))]
    pub(super) mode: SearchMode,
    /// Only in this folder or note
    #[arg(long)]
    pub(super) path: Option<String>,
    #[command(flatten)]
    pub(super) then: AsOf,
    /// Show twenty notes instead of five
    #[arg(long, conflicts_with = "limit")]
    pub(super) more: bool,
    /// Also find what belongs to the past: superseded notes, and facts whose time is over
    #[arg(long)]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) page: Paging,
    /// The most tokens to show; a token counts as four bytes
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) budget: Option<u32>,
}

/// Which day a command that reads is about.
#[derive(Args, Debug, Default)]
pub(super) struct AsOf {
    /// As it was at the end of this day in UTC, such as 2026-11-16, yesterday or 3d, or at a time such as 2026-11-16T09:30:00Z
    #[arg(long, value_name = "DATE")]
    pub(super) as_of: Option<String>,
}

/// A word that can be typed, what it stands for, and what the help says of it.
pub(super) type Choice<T> = (&'static str, T, &'static str);

/// Reads one of these words as what it stands for.
pub(super) fn one_of<T: Copy + Send + Sync>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T> {
    let values = choices.iter().map(|(word, _, help)| {
        let value = PossibleValue::new(*word);
        if help.is_empty() { value } else { value.help(*help) }
    });
    PossibleValuesParser::new(values).try_map(|typed| {
        let choice = choices.iter().find(|(word, ..)| *word == typed);
        choice.map(|(_, value, _)| *value).ok_or("it is not one of these words")
    })
}

/// The sets of tools.
pub(super) const TOOL_SETS: &[Choice<ToolSet>] = &[
    ("compact", ToolSet::Compact, "Nine tools that cover nearly everything"),
    ("full", ToolSet::Full, "One for each action, and `run_actions`"),
    ("memory", ToolSet::Memory, "Anthropic's memory tool"),
    ("agent", ToolSet::Agent, "One that asks the memory's own agent, with the model of the settings"),
    ("chatgpt", ToolSet::Chatgpt, "`search` and `fetch`, as connectors of ChatGPT have them"),
];

/// How the tools of other servers are offered.
pub(super) const HUB_OFFERS: &[Choice<HubOffer>] = &[
    ("few", HubOffer::Few, "Three tools that find, describe and call them"),
    ("all", HubOffer::All, "Each by itself"),
];

/// The ways of searching.
const SEARCH_MODES: &[Choice<SearchMode>] = &[
    ("ranked", SearchMode::Ranked, "By the words of the query, the rare ones counting most"),
    ("text", SearchMode::Text, "For the query literally, ignoring case"),
    ("regex", SearchMode::Regex, "For a regular expression, line by line"),
    ("name", SearchMode::Name, "In the names of notes"),
];

/// A dialect; `None` where the text decides. Clap would take an `Option` for an option that may be left out.
pub(super) type NamedDialect = Option<Dialect>;

const DIALECTS: &[Choice<NamedDialect>] = &[
    ("detect", None, "Detect it from the text"),
    ("native", Some(Dialect::Native), "<actions> with a JSON list"),
    ("lines", Some(Dialect::Lines), "<actions> with replace_text, append_line and delete_line"),
    ("mcp_block", Some(Dialect::McpBlock), "<mcp:tool> blocks in a text"),
    ("python", Some(Dialect::Python), "<python> blocks of the mem-agent model, read and never run"),
    ("tool_call", Some(Dialect::ToolCall), "Tool calls in the JSON of OpenAI, Anthropic or Gemini"),
    ("memory_tool", Some(Dialect::MemoryTool), "The memory tool of Anthropic"),
];

/// The answers that a rule can give.
const VERDICTS: &[Choice<Verdict>] =
    &[("allow", Verdict::Allow, ""), ("ask", Verdict::Ask, ""), ("deny", Verdict::Deny, "")];

/// The modes of permission.
pub(super) const MODES: &[Choice<Mode>] =
    &[("off", Mode::Off, ""), ("flag", Mode::Flag, ""), ("ask", Mode::Ask, ""), ("all", Mode::All, "")];

/// The kinds of findings.
pub(super) const KINDS: &[Choice<Kind>] = &[
    ("broken_link", Kind::BrokenLink, ""),
    ("unwritten", Kind::Unwritten, ""),
    ("orphan", Kind::Orphan, ""),
    ("duplicate", Kind::Duplicate, ""),
    ("conflicting_fact", Kind::ConflictingFact, ""),
    ("oversized", Kind::Oversized, ""),
    ("sync_conflict", Kind::SyncConflict, ""),
    ("unportable_name", Kind::UnportableName, ""),
    ("active_content", Kind::ActiveContent, ""),
    ("unreadable", Kind::Unreadable, ""),
];

/// Which part of a long list.
#[derive(Args, Debug)]
pub(super) struct Paging {
    /// Show at most N
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) limit: Option<u32>,
    /// Continue after the page that printed this cursor
    #[arg(long, value_name = "CURSOR")]
    pub(super) cursor: Option<String>,
}

impl Paging {
    /// The limit, or `default`.
    pub(super) fn limit(&self, default: usize) -> usize {
        self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
    }

    /// The number that the cursor of a command is.
    pub(super) fn before<N: FromStr>(&self, command: &str) -> Result<Option<N>, Failure> {
        let number = self.cursor.as_deref().map(str::parse).transpose();
        number.map_err(|_| usage(format!("the cursor is not one of `{command}`"), "leave it out to start anew"))
    }
}

/// A way of describing actions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum SchemaFormat {
    JsonSchema,
    /// A grammar for llama.cpp.
    Gbnf,
    /// A grammar for llguidance.
    Lark,
    /// The definitions of tools.
    Tools(Format),
}

/// The ways of describing actions that can be named.
const SCHEMA_FORMATS: &[Choice<SchemaFormat>] = &[
    ("json-schema", SchemaFormat::JsonSchema, "The JSON schema of what stands between <actions> and </actions>"),
    ("gbnf", SchemaFormat::Gbnf, "A grammar for llama.cpp"),
    ("lark", SchemaFormat::Lark, "The same grammar for llguidance"),
    ("openai", SchemaFormat::Tools(Format::OpenAi), "Tools for Chat Completions of OpenAI and servers like it"),
    ("openai-strict", SchemaFormat::Tools(Format::OpenAiStrict), "The same, strict: the model can send nothing else"),
    ("openai-responses", SchemaFormat::Tools(Format::OpenAiResponses), "Tools for Responses of OpenAI"),
    ("openai-responses-strict", SchemaFormat::Tools(Format::OpenAiResponsesStrict), "The same, strict"),
    ("anthropic", SchemaFormat::Tools(Format::Anthropic), "Tools for Messages of Anthropic"),
    ("gemini", SchemaFormat::Tools(Format::Gemini), "Tools for generateContent of Gemini"),
    ("mcp", SchemaFormat::Tools(Format::Mcp), "The answer to tools/list of MCP"),
];

/// To whom actions are offered.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Offer {
    /// Leave out every action that writes
    #[arg(long)]
    pub(super) read_only: bool,
    /// The permission mode; with any but off, the model is told to ask first
    #[arg(long, value_name = "MODE", default_value = "off", value_parser = one_of(MODES))]
    pub(super) permission: Mode,
}

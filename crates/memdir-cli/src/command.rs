//! What can be typed: the commands, each with its options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use super::args::{
    self, Add, Approve, AsOf, Audit, Exec, Forget, Global, Log, Move, New, Offer, Paging, Reject, Remember, Remove,
    Rules, Schema, Search, SetFact, TEXT, one_of,
};
use super::config_command::ConfigCommand;
use super::{ask, chat, client, doctor, eval, hook, install, mcp, model, serve, session, tools};
use memdir_check::Kind;

/// A long-term memory for language models: a folder of Markdown notes, and safe, undoable actions on it.
#[derive(Debug, Parser)]
#[command(name = "memdir", version, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    /// Without a command, the state of the memory is shown.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

impl Cli {
    /// Reads what was typed. First as one of the commands that programs start: clap makes all that it is told of before it
    /// reads a word, and that of all commands takes longer than the work of such a start. What that cannot read, a call for
    /// help among it, is read and explained as a whole.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or the help that was asked for.
    pub(super) fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        match ProgramCli::try_parse_from(arguments) {
            Ok(ProgramCli { global, command }) => Ok(Self { global, command: Some(command.into()) }),
            Err(_) => Self::try_parse_from(arguments).or_else(|error| {
                let marked = with_texts_marked(arguments).and_then(|marked| Self::try_parse_from(marked).ok());
                // Where a mark is left it was no text.
                marked.filter(|cli| !format!("{cli:?}").contains(&TEXT.escape_debug().to_string())).ok_or(error)
            }),
        }
    }
}

/// The commands that take a text as their last arguments, which may be an item of a list or a number below zero.
const TEXTS: [&str; 3] = ["new", "remember", "set"];

/// What was typed, with a mark before each text that begins as no option does, with `- ` or with `-` and a digit; `None` where there is none.
fn with_texts_marked(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let is_text = |argument: &str| {
        let rest = argument.strip_prefix('-');
        rest.is_some_and(|rest| rest.starts_with(|next: char| next == ' ' || next.is_ascii_digit()))
    };
    let takes_text = arguments.iter().any(|word| TEXTS.iter().any(|text| word == text));
    let mark = |argument: &OsString| match argument.to_str().filter(|argument| is_text(argument)) {
        Some(text) => format!("{TEXT}{text}").into(),
        None => argument.clone(),
    };
    let marked: Vec<OsString> = arguments.iter().map(mark).collect();
    (takes_text && marked != arguments).then_some(marked)
}

/// [`Cli`] with nothing but the commands that programs start, one for each message or conversation.
#[derive(Debug, Parser)]
#[command(name = "memdir", disable_help_subcommand = true)]
struct ProgramCli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: ProgramCommand,
}

/// Each is the command of the same name.
#[derive(Debug, Subcommand)]
enum ProgramCommand {
    Exec(Exec),
    Mcp(mcp::McpArgs),
    Hook(hook::HookArgs),
}

impl From<ProgramCommand> for Command {
    fn from(command: ProgramCommand) -> Self {
        match command {
            ProgramCommand::Exec(options) => Self::Notes(NotesCommand::Exec(options)),
            ProgramCommand::Mcp(options) => Self::Programs(ProgramsCommand::Mcp(options)),
            ProgramCommand::Hook(options) => Self::Programs(ProgramsCommand::Hook(options)),
        }
    }
}

/// A command. Grouped, because the parser that clap makes of an enum needs stack for every variant in it.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// What notes say, and changing it.
    #[command(flatten)]
    Notes(NotesCommand),
    /// What the notes say together, and keeping that in order.
    #[command(flatten)]
    Care(CareCommand),
    /// What a person writes by hand.
    #[command(flatten)]
    Verbs(VerbsCommand),
    /// What was done, and what waits.
    #[command(flatten)]
    Account(AccountCommand),
    /// Rules, audit, proposals, and erasing.
    #[command(flatten)]
    Consent(ConsentCommand),
    /// Models and programs that use the memory.
    #[command(flatten)]
    Programs(ProgramsCommand),
    /// The tools of other servers.
    #[command(flatten)]
    Hub(HubCommand),
    /// What describes or measures memdir itself.
    #[command(flatten)]
    Own(OwnCommand),
}

/// Commands about notes.
#[derive(Debug, Subcommand)]
pub(super) enum NotesCommand {
    /// Make a memory, or adopt a folder of notes without changing one
    Init {
        /// The folder; else that of --memory
        dir: Option<PathBuf>,
        /// Ask nothing
        #[arg(long)]
        yes: bool,
    },
    /// Make a sample memory to try the commands on
    Demo {
        /// The folder, which must be new or empty; else ~/memdir-demo
        dir: Option<PathBuf>,
    },
    /// Run the actions in a text that a model wrote
    #[command(long_about = EXEC)]
    Exec(Exec),
    /// List files and folders
    #[command(aliases = ["ls", "list", "dir"])]
    Tree {
        /// A folder in the memory; else all of it
        folder: Option<String>,
        #[command(flatten)]
        then: AsOf,
        #[command(flatten)]
        page: Paging,
    },
    /// Print a note
    #[command(aliases = ["cat", "show", "view", "get", "print"])]
    Read {
        /// The note, such as entities/jane_doe.md
        note: String,
        #[command(flatten)]
        then: AsOf,
    },
    /// Find notes by what they say or by their names, the best first
    #[command(aliases = ["find", "grep", "recall", "query"], long_about = args::SEARCH)]
    Search(Search),
}

/// Commands about what the notes say together.
#[derive(Debug, Subcommand)]
pub(super) enum CareCommand {
    /// List the links of the memory, or of one note with the notes that link to it
    Links {
        /// The note; else all of them
        note: Option<String>,
    },
    /// List the facts in notes, as keys and values
    Facts {
        /// The note; else all of them
        note: Option<String>,
        /// Tell where each fact comes from: who wrote it, when, and what it replaced
        #[arg(long, conflicts_with = "as_of")]
        why: bool,
        /// Also list what belongs to the past
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        then: AsOf,
        #[command(flatten)]
        page: Paging,
    },
    /// Find problems in the memory, and propose actions that fix them
    Check {
        /// Only findings of this kind
        #[arg(long, value_name = "KIND", value_parser = one_of(args::KINDS))]
        kind: Option<Kind>,
        /// Show every finding, not only the worst ten
        #[arg(long)]
        all: bool,
    },
    /// Answer the five questions worth most: what is disputed, not confirmed by you, or old for its kind
    #[command(long_about = args::REVIEW)]
    Review,
    /// Propose what would make the memory tidier; you decide each step
    #[command(long_about = args::TIDY)]
    Tidy {
        /// Only say what it would propose
        #[arg(long)]
        dry_run: bool,
    },
}

/// Commands with which a person writes.
#[derive(Debug, Subcommand)]
pub(super) enum VerbsCommand {
    /// Remember a sentence: in the note it names, or else in user.md
    #[command(aliases = ["save", "store"])]
    Remember(Remember),
    /// Set a fact of a note, such as: set user city Porto
    Set(SetFact),
    /// Add a line to a note
    #[command(alias = "append")]
    Add(Add),
    /// Make a note
    #[command(alias = "create")]
    New(New),
    /// Change a note in your editor; `memdir undo` takes it back
    Edit {
        /// The note, by its path, name, title or alias
        note: String,
    },
    /// Rename or move a note or a folder, and update the links to it
    #[command(aliases = ["rename", "move"])]
    Mv(Move),
    /// Delete a note or a folder; `memdir undo` brings it back
    #[command(aliases = ["delete", "remove"])]
    Rm(Remove),
    /// Open the memory or a note in Obsidian, or in your editor
    Open {
        /// The note; else the folder
        note: Option<String>,
        /// Use the editor even if Obsidian knows the folder
        #[arg(long)]
        editor: bool,
    },
}

/// Commands about what was done.
#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Show what changed, when, and who changed it, newest first
    #[command(alias = "history")]
    Log(Log),
    /// Show the full diff of a change
    Diff {
        /// The number that `memdir log` shows; else the newest change
        #[arg(value_name = "NUMBER", value_parser = args::change)]
        batch: Option<u64>,
    },
    /// Undo the last change, or another one, and show what that does
    Undo {
        /// The number that `memdir log` shows; else the last change, by you or a model, that is not undone yet
        #[arg(value_name = "NUMBER", value_parser = args::change)]
        batch: Option<u64>,
        /// Undo everything that models and programs wrote in conversations in which this server's tools answered, and reject
        /// what of it still waits; asks first
        #[arg(long, value_name = "NAME", conflicts_with = "batch")]
        server: Option<String>,
        /// Only show it
        #[arg(long)]
        dry_run: bool,
        /// Do not ask (only `--server` asks)
        #[arg(long)]
        yes: bool,
    },
    /// Restore a note to what it was right after a change
    Restore {
        /// The note
        note: String,
        /// The number of the change, as `memdir log` shows it
        #[arg(long, value_name = "NUMBER", value_parser = args::change)]
        at: u64,
        /// Only show it
        #[arg(long)]
        dry_run: bool,
    },
}

/// Commands about what may be done, and what is kept of it.
#[derive(Debug, Subcommand)]
pub(super) enum ConsentCommand {
    /// List the permission rules in the settings: what is always allowed, asked about or denied
    Rules {
        #[command(subcommand)]
        command: Option<Rules>,
    },
    /// Verify and read the audit: every call is an entry, and each entry's hash covers the one before it
    #[command(subcommand, long_about = AUDIT)]
    Audit(Audit),
    /// Erase a note or a text wherever it is kept: in notes, history, audit and the inbox
    #[command(long_about = FORGET)]
    Forget(Forget),
    /// List the proposals waiting for you, each with the change it would make now and a code to approve it with
    Pending,
    /// Review the waiting proposals one at a time: approve, edit or drop each
    #[command(long_about = APPROVE)]
    Approve(Approve),
    /// Drop proposals without carrying them out
    Reject(Reject),
}

/// Commands for models and programs that use the memory.
#[derive(Debug, Subcommand)]
pub(super) enum ProgramsCommand {
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
    /// Describe the actions to programs: JSON schemas, tool definitions, grammars
    #[command(long_about = SCHEMA)]
    Schema(Schema),
    /// Ask a model that uses the memory
    Ask(ask::AskArgs),
    /// List, remove or replay saved conversations
    #[command(subcommand)]
    Session(session::SessionCommand),
    /// Talk with a model that uses the memory
    #[command(long_about = chat::LONG)]
    Chat(chat::ChatArgs),
    /// Serve the memory over the Model Context Protocol, on standard input and output
    Mcp(mcp::McpArgs),
    /// Show the memory on a page in your browser: read, search, correct and take back
    #[command(long_about = serve::LONG)]
    Serve(serve::ServeArgs),
    /// Register the programs that may use the memory, and what each may see and do
    #[command(subcommand, long_about = client::LONG)]
    Client(client::ClientCommand),
    /// Configure an assistant to start memdir
    #[command(long_about = install::LONG)]
    Install(install::InstallArgs),
    /// Tell an assistant what the memory holds, as a hook of the assistant
    #[command(long_about = hook::LONG)]
    Hook(hook::HookArgs),
}

/// Commands about the tools of other servers.
#[derive(Debug, Subcommand)]
pub(super) enum HubCommand {
    /// Add the tools of other MCP servers, and say which may be called
    #[command(long_about = tools::LONG)]
    Tools {
        #[command(subcommand)]
        command: Option<tools::ToolsCommand>,
    },
}

/// Commands about memdir itself.
#[derive(Debug, Subcommand)]
pub(super) enum OwnCommand {
    /// Fetch and manage model files, and show which model is used
    #[command(subcommand, long_about = model::LONG)]
    Model(model::ModelCommand),
    /// Measure how well search and models do
    #[command(subcommand)]
    Eval(eval::args::Eval),
    /// List the settings that hold, show one, or give one another value
    #[command(args_conflicts_with_subcommands = true)]
    Config {
        /// Show this setting alone, such as permission.mcp, or those of a section, such as permission
        key: Option<String>,
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Show where the memory is, what it holds, what is waiting, and what to do next; the same as `memdir` alone
    Status,
    /// Check that the memory, its history and this system are in order
    #[command(long_about = doctor::LONG)]
    Doctor(doctor::DoctorArgs),
    /// Print the version
    #[command(hide = true)]
    Version,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const EXEC: &str = "Run the actions in a text that a model wrote.

Reads the text from standard input, runs the actions between <actions> and </actions>, and prints the answer \
for the model. Those that succeed form one batch, which `memdir undo` takes back. Exit status: 0 all done; \
2 no action and no reply in the text; 3 some are not allowed or wait for you; 4 some failed, or --read-only refused them; see docs/cli.md.";

const SCHEMA: &str = "Describe the actions to programs: JSON schemas, tool definitions, grammars.

Tool definitions go under the key `tools` of a request; pass what the model sends back to `memdir exec`. A grammar \
restricts a model to turns that are read without repairs. Every text in it has a maximum length: give the model enough \
tokens to finish, and do not run a turn that was cut off.";

const AUDIT: &str = "Verify and read the audit: every call is an entry, and each entry's hash covers the one before it.

The chain alone shows whether an entry was changed, removed or inserted. It cannot show that the newest entries were \
cut off, or that somebody with write access recomputed the whole chain. To detect that, keep a head elsewhere (`memdir \
audit head`) and pass it to `memdir audit verify --head`.";

const FORGET: &str = "Erase a note or a text wherever it is kept: in notes, history, audit and the inbox.

Every place is listed first, with the lines of other notes that mention the note, and you are asked about both. \
Without a terminal, or with `--json`, nothing is erased unless `--yes` is given. Erased text cannot be brought back: \
`memdir undo` and `restore` answer `unavailable` \
for it, and the audit keeps its chain without the words. Backups, snapshots, copies made by a sync program, and what a \
disk keeps of deleted files are out of reach. If it is interrupted, run the same command again to finish.";

const APPROVE: &str = "Review the waiting proposals one at a time: approve, edit or drop each.

On a terminal, each change is shown as it would be made now, and you are asked about it; give numbers to review only \
those. If a proposal has several calls, you can take some of them. Without a terminal, give one number and the code \
that `memdir pending` shows with the change; the code is good for that change only, and only once. If the notes have \
changed so that the proposal would now do something else, nothing is done and you are asked again.";

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is typed, it means what it means to the parser that knows all commands.
    #[test]
    fn the_commands_that_programs_start_are_read_as_all_are() {
        for typed in [
            "",
            "exec",
            "exec --json --atomic --memory /m",
            "--memory /m exec --dry-run --dialect native",
            "--json exec --permission ask --conversation talk.jsonl",
            "exec --permission never",
            "exec --help",
            "exec extra",
            "exec --memory",
            "--memory exec status",
            "mcp --tools full --read-only --client ada",
            "mcp --http 8765 --allow-host memory.example --state /s",
            "mcp --http 8765 --client ada",
            "mcp --hub",
            "mcp --hub=all --log /l",
            "mcp --tols full",
            "hook claude-code UserPromptSubmit",
            "hook",
            "help",
            "help exec",
            "-h",
            "--version",
            "status --json",
            "search exec mcp hook",
            "exce",
        ] {
            let words: Vec<OsString> =
                std::iter::once("memdir").chain(typed.split_whitespace()).map(Into::into).collect();
            let told = |read: Result<Cli, clap::Error>| match read {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => format!("{:?}: {error}", error.kind()),
            };
            assert_eq!(told(Cli::read(&words)), told(Cli::try_parse_from(&words)), "{typed}");
        }
    }

    #[test]
    fn an_item_and_a_number_below_zero_are_text() {
        let told = |words: &[&str]| {
            let words: Vec<OsString> = std::iter::once(&"memdir").chain(words).map(Into::into).collect();
            Cli::read(&words).map_or_else(|error| error.to_string(), |cli| format!("{:?}", cli.command))
        };
        let is = |words: &[&str], expected: &[&str]| {
            let told = told(words);
            assert!(told.contains(&format!("{expected:?}")), "{words:?}: {told}");
        };
        is(&["new", "ana", "- job: cook"], &["- job: cook"]);
        is(&["--json", "remember", "- [ ] call Ana"], &["- [ ] call Ana"]);
        is(&["set", "user", "temp", "-5"], &["-5"]);
        is(&["remember", "tea", "--json"], &["tea"]);
        is(&["remember", "- a", "--json"], &["- a"]);
        is(&["set", "user", "temp", "-5", "--memory", "/m"], &["-5"]);
        assert!(told(&["--memory", "new", "search", "- a"]).contains("unexpected argument"));
        is(&["remember", "--", "- a"], &["- a"]);
        assert!(told(&["remember", "-x"]).contains("unexpected argument"));
    }
}

//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{ask, chat, client, doctor, eval, install, model, session};

mod options;

pub(super) use options::{
    Actions, Add, Approve, Audit, Check, Demo, Diff, Edit, Exec, Facts, FindingKind, Forget, Init, Links, Log, Mode,
    Move, New, Offer, OpenNote, Paging, Permission, Read, Reject, Remember, Remove, Restore, Rules, Schema,
    SchemaFormat, Search, SetFact, ToolSet, Tree, Undo,
};

/// A long-term memory for language models: a folder of Markdown notes, and safe, undoable actions on it.
#[derive(Debug, Parser)]
#[command(name = "memdir", version, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    /// Without one, the state of the memory is shown.
    #[command(subcommand)]
    pub(super) command: Option<Command>,
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

/// A command. Grouped, because the parser that clap makes of an enum needs stack for every variant in it.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// What notes say, and changing it.
    #[command(flatten)]
    Notes(NotesCommand),
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
    /// What describes or measures memdir itself.
    #[command(flatten)]
    Own(OwnCommand),
}

/// Commands about notes.
#[derive(Debug, Subcommand)]
pub(super) enum NotesCommand {
    /// Make a memory, or adopt a folder of notes without changing one
    Init(Init),
    /// Make a memory with a story, to try every command on
    Demo(Demo),
    /// Run the actions in a text that a model wrote
    #[command(long_about = EXEC)]
    Exec(Exec),
    /// List files and folders
    #[command(aliases = ["ls", "list", "dir"])]
    Tree(Tree),
    /// Print a note
    #[command(aliases = ["cat", "show", "view", "get", "print"])]
    Read(Read),
    /// Find notes by what they say or by their names, the best first
    #[command(aliases = ["find", "grep", "recall", "query"], long_about = options::SEARCH)]
    Search(Search),
    /// List the links of the memory, or of one note with the notes that link to it
    Links(Links),
    /// List what notes say as keys and values
    Facts(Facts),
    /// Look for what is wrong in the memory, and propose actions that mend it
    Check(Check),
}

/// Commands with which a person writes.
#[derive(Debug, Subcommand)]
pub(super) enum VerbsCommand {
    /// Keep a sentence: in the note that it names, else in user.md
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
    /// Change a note in your editor; memdir undo takes it back
    Edit(Edit),
    /// Rename or move a note or a folder; every link keeps leading there
    #[command(aliases = ["rename", "move"])]
    Mv(Move),
    /// Delete a note or a folder; memdir undo brings it back
    #[command(aliases = ["delete", "remove"])]
    Rm(Remove),
    /// Open the memory or a note in Obsidian, or in your editor
    Open(OpenNote),
}

/// Commands about what was done.
#[derive(Debug, Subcommand)]
pub(super) enum AccountCommand {
    /// Say what was changed, when and by whom, the newest first
    #[command(alias = "history")]
    Log(Log),
    /// Show all of what a change changed
    Diff(Diff),
    /// Take back the last change, or another one, and say what that does
    Undo(Undo),
    /// Put a note back to what it was right after a change
    Restore(Restore),
}

/// Commands about what may be done, and what is kept of it.
#[derive(Debug, Subcommand)]
pub(super) enum ConsentCommand {
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
    /// Go through what waits, one proposal at a time: carry it out, change it, or drop it
    #[command(long_about = APPROVE)]
    Approve(Approve),
    /// Drop proposals; nothing of them is kept
    Reject(Reject),
}

/// Commands for models and programs that use the memory.
#[derive(Debug, Subcommand)]
pub(super) enum ProgramsCommand {
    /// List the actions that a model can send
    Actions(Actions),
    /// Print what describes the actions to programs: JSON schemas, tool definitions, grammars
    #[command(long_about = SCHEMA)]
    Schema(Schema),
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
}

/// Commands about memdir itself.
#[derive(Debug, Subcommand)]
pub(super) enum OwnCommand {
    /// Get model files, keep them, and see which model is used
    #[command(subcommand, long_about = model::LONG)]
    Model(model::Asked),
    /// Measure how well questions are answered
    #[command(subcommand)]
    Eval(eval::asked::Eval),
    /// Show where the memory is, what is in it, what waits, and what to do next; `memdir` alone does the same
    Status,
    /// Check that the memory, its history and this system are in order
    #[command(long_about = doctor::LONG)]
    Doctor(doctor::Asked),
    /// Print the version
    #[command(hide = true)]
    Version,
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

All places are listed first, and the lines of other notes that speak of the note: you are asked about both. Without a terminal, \
and with `--json`, nothing is erased unless you say `--yes`. What is erased cannot be brought back: `memdir undo` and `restore` answer `unavailable` \
for it, and the audit keeps its chain without the words. Backups, snapshots, copies that a sync program has made, and \
what a disk keeps of deleted files are out of reach. If it is interrupted, the same command again finishes it.";

const APPROVE: &str = "Go through what waits, one proposal at a time: carry it out, change it, or drop it.

On a terminal each change is shown as it would be made now, and you are asked; with numbers, only about these. With several \
calls in one proposal you can take some of them. Elsewhere it takes one number and the code that `memdir pending` shows beside \
the change: it holds for that change alone, and only once. If the notes have changed since so that the proposal would do \
something else, nothing is done and you are asked again.";

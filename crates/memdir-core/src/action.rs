//! [`Action`]: the closed list of what a model may ask for, and [`Call`], one time that it asks.
//!
//! Owns the variants and their arguments; ARCHITECTURE.md says what else a new one takes. Touches nothing but its own fields.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path::MemoryPath;

/// What an action does to the memory, the mildest first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Looks something up.
    Read,
    /// Makes or changes something.
    Write,
    /// Takes something away from where it was.
    Remove,
}

/// Defines [`Action`] and the tables that go from a name on the wire to a variant and back.
macro_rules! actions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// An action with its arguments. Its name on the wire is the snake_case of the variant.
        #[derive(Clone, Debug, Eq, PartialEq, Serialize)]
        #[serde(tag = "action", rename_all = "snake_case")]
        pub enum Action {
            $($(#[$doc])* $variant($variant),)*
        }

        /// The names of all actions, in the order of the catalog.
        pub const NAMES: &[&str] = &[$($name),*];

        impl Action {
            /// The name on the wire.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Reads the arguments of the action called `name`; `None` when there is no such action.
            ///
            /// The second of the two steps in which a call is read: the envelope (`action`, `assign_to`,
            /// `has_explicit_permission`) is gone from `arguments` by now, and [`crate::catalog::Row::check`]
            /// has found what a person would call a mistake.
            ///
            /// # Errors
            ///
            /// What serde says of arguments that do not fit the struct, unknown ones among them.
            pub fn decode(name: &str, arguments: serde_json::Value) -> Option<Result<Self, serde_json::Error>> {
                match name {
                    $($name => Some(serde_json::from_value(arguments).map(Self::$variant)),)*
                    _ => None,
                }
            }
        }
    };
}

actions! {
    /// Reads a note, or some of its lines.
    ReadFile = "read_file",
    /// Makes a note that does not exist yet.
    CreateFile = "create_file",
    /// Makes a note or replaces all of it.
    WriteFile = "write_file",
    /// Adds text at the end of a note.
    AppendFile = "append_file",
    /// Replaces one place in a note.
    UpdateFile = "update_file",
    /// Adds text after a line.
    InsertText = "insert_text",
    /// Replaces the text under a heading.
    ReplaceSection = "replace_section",
    /// Adds lines to the text under a heading.
    AppendToSection = "append_to_section",
    /// Sets one fact of a note.
    SetFact = "set_fact",
    /// Files a fact or a line in the note where it belongs.
    Remember = "remember",
    /// Deletes a file.
    DeleteFile = "delete_file",
    /// Renames a file or a folder.
    RenameFile = "rename_file",
    /// Copies a file.
    CopyFile = "copy_file",
    /// Makes a folder.
    CreateDir = "create_dir",
    /// Deletes a folder.
    DeleteDir = "delete_dir",
    /// Asks whether a file is there.
    CheckFileExists = "check_file_exists",
    /// Asks whether a folder is there.
    CheckDirExists = "check_dir_exists",
    /// Lists the notes below a folder.
    ListFiles = "list_files",
    /// Lists what stands in one folder.
    ListDirectory = "list_directory",
    /// Describes a file or a folder.
    GetFileInfo = "get_file_info",
    /// Counts bytes.
    GetSize = "get_size",
    /// Lists the changes that a note has seen.
    GetHistory = "get_history",
    /// Tells what was changed and talked about, by days.
    Recent = "recent",
    /// Reads the note, heading or block that a link leads to.
    GoToLink = "go_to_link",
    /// Searches in notes or their names.
    SearchFiles = "search_files",
    /// Gathers what is worth knowing for a message, or about a note.
    GetContext = "get_context",
    /// Lists the links of a note.
    GetLinks = "get_links",
    /// Lists the links that lead to a note.
    GetBacklinks = "get_backlinks",
    /// Keeps small entries by key, each a note of its own.
    Memory = "memory",
    /// Tells the settings that hold.
    GetConfig = "get_config",
    /// Asks for another value of a setting, which only the person can give it.
    SetConfigValue = "set_config_value",
}

/// Defines the argument struct of an action.
macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }
        )*
    };
}

arguments! {
    /// Arguments of `read_file`.
    ReadFile {
        /// The note.
        path: MemoryPath,
        /// The first line wanted, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")] start_line: Option<u32>,
        /// The last line wanted, itself included.
        #[serde(default, skip_serializing_if = "Option::is_none")] end_line: Option<u32>,
        /// As of this day or time; absent is now.
        #[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<String>,
    }
    /// Arguments of `create_file`.
    CreateFile {
        /// The note to make.
        path: MemoryPath,
        /// All of its text.
        content: String,
    }
    /// Arguments of `write_file`.
    WriteFile {
        /// The note.
        path: MemoryPath,
        /// All of its text.
        content: String,
        /// Replace it only while its content has this digest.
        #[serde(default, skip_serializing_if = "Option::is_none")] if_digest: Option<Digest>,
    }
    /// Arguments of `append_file`.
    AppendFile {
        /// The note.
        path: MemoryPath,
        /// The text to add.
        content: String,
    }
    /// Arguments of `update_file`.
    UpdateFile {
        /// The note.
        path: MemoryPath,
        /// The text that stands there now.
        old_content: String,
        /// The text to put in its place.
        new_content: String,
        /// What to do when several places match.
        #[serde(default, skip_serializing_if = "Option::is_none")] occurrence: Option<Occurrence>,
    }
    /// Arguments of `insert_text`.
    InsertText {
        /// The note.
        path: MemoryPath,
        /// The line after which to insert; 0 is the top.
        line: u32,
        /// The text to insert.
        content: String,
    }
    /// Arguments of `replace_section`.
    ReplaceSection {
        /// The note.
        path: MemoryPath,
        /// The text of the heading; `A#B` for B below A.
        heading: String,
        /// All that is to stand under it.
        content: String,
    }
    /// Arguments of `append_to_section`.
    AppendToSection {
        /// The note.
        path: MemoryPath,
        /// The text of the heading; `A#B` for B below A.
        heading: String,
        /// The lines to add.
        content: String,
    }
    /// Arguments of `set_fact`.
    SetFact {
        /// The note.
        path: MemoryPath,
        /// What the fact is called.
        key: String,
        /// What it says.
        value: String,
    }
    /// Arguments of `remember`: a note, key and value, or a text.
    Remember {
        /// The note by path, title, alias or link; absent is the one about the person, or the one that the text names.
        #[serde(default, skip_serializing_if = "Option::is_none")] note: Option<String>,
        /// What the fact is called.
        #[serde(default, skip_serializing_if = "Option::is_none")] key: Option<String>,
        /// What it says.
        #[serde(default, skip_serializing_if = "Option::is_none")] value: Option<String>,
        /// What is to be remembered as one line.
        #[serde(default, skip_serializing_if = "Option::is_none")] text: Option<String>,
    }
    /// Arguments of `delete_file`.
    DeleteFile {
        /// The file.
        path: MemoryPath,
    }
    /// Arguments of `rename_file`.
    RenameFile {
        /// What it is called now.
        path: MemoryPath,
        /// What it is called then.
        new_path: MemoryPath,
    }
    /// Arguments of `copy_file`.
    CopyFile {
        /// The file.
        path: MemoryPath,
        /// The copy.
        new_path: MemoryPath,
    }
    /// Arguments of `create_dir`.
    CreateDir {
        /// The folder.
        path: MemoryPath,
    }
    /// Arguments of `delete_dir`.
    DeleteDir {
        /// The folder.
        path: MemoryPath,
        /// Delete what stands in it too.
        #[serde(default, skip_serializing_if = "Option::is_none")] recursive: Option<bool>,
    }
    /// Arguments of `check_file_exists`.
    CheckFileExists {
        /// The file.
        path: MemoryPath,
    }
    /// Arguments of `check_dir_exists`.
    CheckDirExists {
        /// The folder.
        path: MemoryPath,
    }
    /// Arguments of `list_files`.
    ListFiles {
        /// The folder; absent is the whole memory.
        #[serde(default, skip_serializing_if = "Option::is_none")] path: Option<MemoryPath>,
        /// How many names at most; absent is 1,000.
        #[serde(default, skip_serializing_if = "Option::is_none")] limit: Option<u32>,
        /// The `cursor` of the answer before.
        #[serde(default, skip_serializing_if = "Option::is_none")] cursor: Option<String>,
        /// As of this day or time; absent is now.
        #[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<String>,
    }
    /// Arguments of `list_directory`.
    ListDirectory {
        /// The folder; absent is the root of the memory.
        #[serde(default, skip_serializing_if = "Option::is_none")] path: Option<MemoryPath>,
    }
    /// Arguments of `get_file_info`.
    GetFileInfo {
        /// The file or folder.
        path: MemoryPath,
        /// As of this day or time; absent is now.
        #[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<String>,
    }
    /// Arguments of `get_size`.
    GetSize {
        /// The file or folder; absent is the whole memory.
        #[serde(default, skip_serializing_if = "Option::is_none")] path: Option<MemoryPath>,
    }
    /// Arguments of `get_history`.
    GetHistory {
        /// The note.
        path: MemoryPath,
        /// How many changes at most; absent is 20.
        #[serde(default, skip_serializing_if = "Option::is_none")] limit: Option<u32>,
    }
    /// Arguments of `recent`.
    Recent {
        /// How many days back, today included; absent is 7.
        #[serde(default, skip_serializing_if = "Option::is_none")] days: Option<u32>,
        /// The first day instead.
        #[serde(default, skip_serializing_if = "Option::is_none")] since: Option<String>,
        /// The last day; absent is today.
        #[serde(default, skip_serializing_if = "Option::is_none")] until: Option<String>,
    }
    /// Arguments of `go_to_link`.
    GoToLink {
        /// The link as it stands in a note, such as `[[entities/jane_doe]]`.
        link: String,
        /// The note it stands in.
        #[serde(default, skip_serializing_if = "Option::is_none")] source: Option<MemoryPath>,
    }
    /// Arguments of `search_files`.
    SearchFiles {
        /// What to look for.
        query: String,
        /// How; absent is `ranked`.
        #[serde(default, skip_serializing_if = "Option::is_none")] mode: Option<SearchMode>,
        /// Only in this folder or note; absent is the whole memory.
        #[serde(default, skip_serializing_if = "Option::is_none")] path: Option<MemoryPath>,
        /// How many notes at most; absent is 20.
        #[serde(default, skip_serializing_if = "Option::is_none")] limit: Option<u32>,
        /// The `cursor` of the answer before.
        #[serde(default, skip_serializing_if = "Option::is_none")] cursor: Option<String>,
        /// How many tokens the snippets may have together.
        #[serde(default, skip_serializing_if = "Option::is_none")] budget: Option<u32>,
        /// Whether what belongs to the past is found, too; absent is no.
        #[serde(default, skip_serializing_if = "Option::is_none")] include_past: Option<bool>,
        /// As of this day or time; absent is now.
        #[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<String>,
    }
    /// Arguments of `get_context`.
    GetContext {
        /// The message, or what to look for.
        #[serde(default, skip_serializing_if = "Option::is_none")] query: Option<String>,
        /// The note.
        #[serde(default, skip_serializing_if = "Option::is_none")] path: Option<MemoryPath>,
        /// How many tokens the parts may have together; absent is 2,000.
        #[serde(default, skip_serializing_if = "Option::is_none")] budget: Option<u32>,
        /// Whether what belongs to the past is told, too; absent is no.
        #[serde(default, skip_serializing_if = "Option::is_none")] include_past: Option<bool>,
        /// As of this day or time; absent is now.
        #[serde(default, skip_serializing_if = "Option::is_none")] as_of: Option<String>,
    }
    /// Arguments of `get_links`.
    GetLinks {
        /// The note.
        path: MemoryPath,
    }
    /// Arguments of `get_backlinks`.
    GetBacklinks {
        /// The note.
        path: MemoryPath,
    }
    /// Arguments of `memory`.
    Memory {
        /// What to do.
        operation: Operation,
        /// The name of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")] key: Option<String>,
        /// The text of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")] content: Option<String>,
        /// What to look for.
        #[serde(default, skip_serializing_if = "Option::is_none")] query: Option<String>,
        /// The tags of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")] tags: Option<Vec<String>>,
    }
    /// Arguments of `get_config`.
    GetConfig {
        /// Only this setting, or those of this section; absent is all.
        #[serde(default, skip_serializing_if = "Option::is_none")] key: Option<String>,
    }
    /// Arguments of `set_config_value`.
    SetConfigValue {
        /// The setting, such as `permission.mcp`.
        key: String,
        /// What it should be.
        value: String,
    }
}

/// How `search_files` looks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// For the notes that answer the query best.
    #[default]
    Ranked,
    /// For the query as it stands, in upper or lower case.
    Text,
    /// For a regular expression.
    Regex,
    /// In the names of notes.
    Name,
}

/// What `memory` does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Keeps an entry, in the place of an older one with its key.
    Store,
    /// Reads an entry.
    Retrieve,
    /// Searches in the entries.
    Search,
    /// Deletes an entry.
    Delete,
    /// Lists the entries.
    List,
    /// Keeps the conversation as an entry.
    StoreConversation,
}

/// What `update_file` does when several places match.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Occurrence {
    /// Replaces the first place.
    First,
    /// Replaces every place.
    All,
}

impl Action {
    /// Where the action acts: its `path`; `None` for the root of the memory, for links, and where planning finds the place.
    #[must_use]
    pub fn path(&self) -> Option<&MemoryPath> {
        match self {
            Self::ReadFile(ReadFile { path, .. })
            | Self::CreateFile(CreateFile { path, .. })
            | Self::WriteFile(WriteFile { path, .. })
            | Self::AppendFile(AppendFile { path, .. })
            | Self::UpdateFile(UpdateFile { path, .. })
            | Self::InsertText(InsertText { path, .. })
            | Self::ReplaceSection(ReplaceSection { path, .. })
            | Self::AppendToSection(AppendToSection { path, .. })
            | Self::SetFact(SetFact { path, .. })
            | Self::DeleteFile(DeleteFile { path })
            | Self::RenameFile(RenameFile { path, .. })
            | Self::CopyFile(CopyFile { path, .. })
            | Self::CreateDir(CreateDir { path })
            | Self::DeleteDir(DeleteDir { path, .. })
            | Self::CheckFileExists(CheckFileExists { path })
            | Self::CheckDirExists(CheckDirExists { path })
            | Self::GetFileInfo(GetFileInfo { path, .. })
            | Self::GetLinks(GetLinks { path })
            | Self::GetBacklinks(GetBacklinks { path })
            | Self::GetHistory(GetHistory { path, .. }) => Some(path),
            Self::ListFiles(ListFiles { path, .. })
            | Self::SearchFiles(SearchFiles { path, .. })
            | Self::GetContext(GetContext { path, .. })
            | Self::ListDirectory(ListDirectory { path })
            | Self::GetSize(GetSize { path }) => path.as_ref(),
            Self::GoToLink(_)
            | Self::Memory(_)
            | Self::Remember(_)
            | Self::Recent(_)
            | Self::GetConfig(_)
            | Self::SetConfigValue(_) => None,
        }
    }

    /// The day or time as of which the memory is asked about; `None` for now.
    #[must_use]
    pub fn as_of(&self) -> Option<&str> {
        if let Self::ReadFile(ReadFile { as_of, .. })
        | Self::ListFiles(ListFiles { as_of, .. })
        | Self::GetFileInfo(GetFileInfo { as_of, .. })
        | Self::SearchFiles(SearchFiles { as_of, .. })
        | Self::GetContext(GetContext { as_of, .. }) = self
        {
            as_of.as_deref()
        } else {
            None
        }
    }

    /// The second path of a rename or a copy.
    #[must_use]
    pub fn new_path(&self) -> Option<&MemoryPath> {
        if let Self::RenameFile(RenameFile { new_path, .. }) | Self::CopyFile(CopyFile { new_path, .. }) = self {
            Some(new_path)
        } else {
            None
        }
    }

    /// The text that the action would put into a note, and the text it says stood there before.
    ///
    /// `None` for actions that bring no text. The second is empty but for `update_file`.
    #[must_use]
    pub fn text(&self) -> Option<(Cow<'_, str>, &str)> {
        match self {
            Self::CreateFile(CreateFile { content, .. })
            | Self::WriteFile(WriteFile { content, .. })
            | Self::AppendFile(AppendFile { content, .. })
            | Self::InsertText(InsertText { content, .. })
            | Self::ReplaceSection(ReplaceSection { content, .. })
            | Self::AppendToSection(AppendToSection { content, .. }) => Some((content.into(), "")),
            Self::UpdateFile(UpdateFile { new_content, old_content, .. }) => Some((new_content.into(), old_content)),
            Self::SetFact(SetFact { key, value, .. }) => Some((format!("- {key}: {value}").into(), "")),
            Self::Memory(memory) => memory.text().map(|text| (text.into(), "")),
            Self::Remember(remember) => Some((remember.text().into(), "")),
            Self::ReadFile(_)
            | Self::DeleteFile(_)
            | Self::RenameFile(_)
            | Self::CopyFile(_)
            | Self::CreateDir(_)
            | Self::DeleteDir(_)
            | Self::CheckFileExists(_)
            | Self::CheckDirExists(_)
            | Self::ListFiles(_)
            | Self::ListDirectory(_)
            | Self::GetFileInfo(_)
            | Self::GetSize(_)
            | Self::GetHistory(_)
            | Self::Recent(_)
            | Self::GoToLink(_)
            | Self::SearchFiles(_)
            | Self::GetContext(_)
            | Self::GetLinks(_)
            | Self::GetBacklinks(_)
            | Self::GetConfig(_)
            | Self::SetConfigValue(_) => None,
        }
    }
}

impl Remember {
    /// All that the note would say, with the title that it gets where it has to be made.
    fn text(&self) -> String {
        let title = self.note.as_ref().map(|note| format!("# {note}"));
        let fact = |key: &String| format!("- {key}: {}", self.value.as_deref().unwrap_or_default());
        let lines = [title, self.key.as_ref().map(fact), self.text.clone()];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

impl Memory {
    /// All that the entry would say: its key, its tags and its content.
    fn text(&self) -> Option<String> {
        let content = self.content.as_ref().filter(|_| self.operation == Operation::Store)?;
        let head = self.key.iter().chain(self.tags.iter().flatten());
        Some(head.chain([content]).map(String::as_str).collect::<Vec<_>>().join("\n"))
    }
}

/// A range of bytes in the text that a model wrote.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// Where it starts.
    pub start: usize,
    /// Where it ends; this byte is no longer part of it.
    pub end: usize,
}

/// One occurrence of an action in what a model wrote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// Its place among the calls of the text, from 1; calls that cannot be read count.
    pub index: usize,
    /// What is asked for.
    pub action: Action,
    /// The name that its result gets (`assign_to`).
    pub label: Option<String>,
    /// The model says that the person agreed (`has_explicit_permission`).
    pub claimed: bool,
    /// Where it stands.
    pub span: Span,
    /// How the dialect in which it came means it.
    pub meaning: Meaning,
}

impl Call {
    /// A call that nobody wrote: without a name for its result, a claim or a place.
    #[must_use]
    pub fn plain(index: usize, action: Action) -> Self {
        Self { index, action, label: None, claimed: false, span: Span::default(), meaning: Meaning::Plain }
    }
}

/// How a call means its action, where the dialect in which it came differs from the plain one. No text can say it, and no
/// schema has it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// As the catalog says.
    #[default]
    Plain,
    /// `old_content` is one whole line; where nothing takes its place, its line end goes too.
    WholeLine,
    /// As the functions of mem-agent: a link is a path from the root, a list of files is a tree of all that is there.
    MemAgent,
    /// As Anthropic's memory tool: what is read or deleted may be a folder, and any text file may be made.
    MemoryTool,
}

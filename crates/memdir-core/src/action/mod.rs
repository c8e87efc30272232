//! [`Action`]: the closed list of what a model may ask for, and [`Call`], one time that it asks.
//!
//! Owns one row for each action, from which its variant, the struct of its arguments and what is said about it are made;
//! ARCHITECTURE.md says what else a new one takes. Touches nothing but its own fields.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path::MemoryPath;

mod about;
mod argument;
mod call;
mod row;

pub use argument::{Occurrence, Operation, SearchMode};
pub use call::{Call, Meaning, Span};
pub use row::{Access, Effect, Field, Gives, Row, Takes};

/// Defines [`Action`], the struct of each action's arguments, and [`ROWS`], each from the same row of the table below.
macro_rules! actions {
    ($($variant:ident = $name:literal {
        title: $title:literal,
        access: $access:ident,
        effect: $effect:ident,
        words: $words:literal,
        returns: $returns:literal,
        gives: $gives:ident,
        $(required: { $($required:ident: $required_type:ty = $required_takes:expr, $required_words:literal;)* },)?
        $(optional: { $($optional:ident: $optional_type:ty = $optional_takes:expr, $optional_words:literal;)* },)?
        example: $example:literal,
    })*) => {
        /// An action with its arguments. Its name on the wire is the snake_case of the variant.
        #[derive(Clone, Debug, Eq, PartialEq, Serialize)]
        #[serde(tag = "action", rename_all = "snake_case")]
        pub enum Action {
            $(#[doc = $words] $variant($variant),)*
        }

        $(
            #[doc = concat!("Arguments of `", $name, "`.")]
            #[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
            #[serde(deny_unknown_fields)]
            pub struct $variant {
                $($(#[doc = $required_words] pub $required: $required_type,)*)?
                $($(
                    #[doc = $optional_words]
                    #[serde(default, skip_serializing_if = "Option::is_none")]
                    pub $optional: Option<$optional_type>,
                )*)?
            }
        )*

        /// The names of all actions, in the order of the rows.
        pub const NAMES: &[&str] = &[$($name),*];

        /// All actions, in the order in which they are shown.
        pub const ROWS: &[Row] = &[$(
            Row {
                name: $name,
                title: $title,
                access: Access::$access,
                effect: Effect::$effect,
                words: $words,
                returns: $returns,
                gives: Gives::$gives,
                fields: &[
                    $($(Field::required(stringify!($required), $required_takes, $required_words),)*)?
                    $($(Field::optional(stringify!($optional), $optional_takes, $optional_words),)*)?
                ],
                example: $example,
            },
        )*];

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
            /// `has_explicit_permission`) is gone from `arguments` by now, and [`Row::check`]
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
    ReadFile = "read_file" {
        title: "Read a note",
        access: Read,
        effect: None,
        words: "Reads a note, or some of its lines.",
        returns: "the text",
        gives: Text,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        optional: {
            start_line: u32 = Takes::Number(1), "The first line, from 1.";
            end_line: u32 = Takes::Number(1), "The last line.";
            as_of: String = Takes::FullText, "As it was then, such as `2026-11-16`.";
        },
        example: r#"{"action":"read_file","path":"user.md","assign_to":"user"}"#,
    }
    CreateFile = "create_file" {
        title: "Make a note",
        access: Write,
        effect: Adds,
        words: "Makes a note that does not exist yet, with the folders above it.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            content: String = Takes::Text, "All of the note's text, in Markdown.";
        },
        example: r##"{"action":"create_file","path":"entities/example_person.md","content":"# Example Person\n\n- relation: neighbour\n"}"##,
    }
    WriteFile = "write_file" {
        title: "Write a whole note",
        access: Write,
        effect: Settles,
        words: "Makes a note or replaces all of its text. To change a part, use update_file.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            content: String = Takes::Text, "All of the note's text, in Markdown.";
        },
        optional: {
            if_digest: Digest = Takes::Digest, "Replace the note only while its content has this digest.";
        },
        example: r##"{"action":"write_file","path":"example_list.md","content":"# Example list\n\n- example item\n"}"##,
    }
    AppendFile = "append_file" {
        title: "Add to the end of a note",
        access: Write,
        effect: AddsAgain,
        words: "Adds lines at the end of an existing note.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            content: String = Takes::Text, "The lines to add.";
        },
        example: r#"{"action":"append_file","path":"example_list.md","content":"- another example item"}"#,
    }
    UpdateFile = "update_file" {
        title: "Change a part of a note",
        access: Write,
        effect: Changes,
        words: "Replaces the one place in a note that is exactly old_content.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            old_content: String = Takes::FullText, "What stands in the note now; enough of it to be found only once.";
            new_content: String = Takes::Text, "What to put in its place.";
        },
        optional: {
            occurrence: Occurrence = Takes::OneOf(&["first", "all"]), "`first` or `all`; by default, several are an error.";
        },
        example: r#"{"action":"update_file","path":"user.md","old_content":"- example_fact: before","new_content":"- example_fact: after"}"#,
    }
    InsertText = "insert_text" {
        title: "Insert lines",
        access: Write,
        effect: AddsAgain,
        words: "Adds lines after a line of an existing note.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            line: u32 = Takes::Number(0), "The line after which to insert; 0 is the top of the note.";
            content: String = Takes::Text, "The lines to insert.";
        },
        example: r#"{"action":"insert_text","path":"example_list.md","line":2,"content":"- an example item that comes first"}"#,
    }
    ReplaceSection = "replace_section" {
        title: "Replace a section",
        access: Write,
        effect: Settles,
        words: "Replaces all that stands under a heading, up to the next heading of its level or a higher one; the heading stays.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            heading: String = Takes::FullText, "The text of the heading; `A#B` for the heading B below A.";
            content: String = Takes::Text, "All that is to stand under the heading.";
        },
        example: r#"{"action":"replace_section","path":"user.md","heading":"Example section","content":"- example_fact: after"}"#,
    }
    AppendToSection = "append_to_section" {
        title: "Add to a section",
        access: Write,
        effect: AddsAgain,
        words: "Adds lines at the end of what stands under a heading, before its first subheading.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            heading: String = Takes::FullText, "The text of the heading; `A#B` for the heading B below A.";
            content: String = Takes::Text, "The lines to add.";
        },
        example: r#"{"action":"append_to_section","path":"user.md","heading":"Example section","content":"- example_fact: new"}"#,
    }
    SetFact = "set_fact" {
        title: "Set a fact",
        access: Write,
        effect: Settles,
        words: "Sets one fact of a note, such as `- key: value`, in whatever form it stands there; a new one joins those below the title.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            key: String = Takes::FullText, "What the fact is called, such as `city`.";
            value: String = Takes::Text, "What it says, on one line.";
        },
        example: r#"{"action":"set_fact","path":"user.md","key":"example_fact","value":"after"}"#,
    }
    Remember = "remember" {
        title: "Remember something",
        access: Write,
        effect: Settles,
        words: "Stores one thing the user said: a fact (key and value) or one line of text. Replaces what it supersedes and creates a missing note.",
        returns: "path, and change, line, text, what it replaced, and lines that may say the same",
        gives: Object,
        optional: {
            note: String = Takes::FullText,
                "Who or what it is about: a name, such as `Jane Doe`, a path or a link; default: the user.";
            key: String = Takes::FullText, "Such as `city`.";
            value: String = Takes::FullText, "What it says now, on one line.";
            text: String = Takes::FullText, "Instead of key and value: one sentence.";
        },
        example: r#"{"action":"remember","note":"Example Person","key":"example_fact","value":"after"}"#,
    }
    DeleteFile = "delete_file" {
        title: "Delete a file",
        access: Remove,
        effect: Settles,
        words: "Deletes a file. It can be undone.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        example: r#"{"action":"delete_file","path":"entities/example_person.md"}"#,
    }
    RenameFile = "rename_file" {
        title: "Rename or move",
        access: Remove,
        effect: Settles,
        words: "Renames or moves a file or a folder. It never replaces what is there.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "What it is called now.";
            new_path: MemoryPath = Takes::Path, "What it is called then, as a whole path.";
        },
        example: r#"{"action":"rename_file","path":"example_list.md","new_path":"lists/example_list.md"}"#,
    }
    CopyFile = "copy_file" {
        title: "Copy a file",
        access: Write,
        effect: Adds,
        words: "Copies a file. It never replaces what is there.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
            new_path: MemoryPath = Takes::Path, "The path of the copy.";
        },
        example: r#"{"action":"copy_file","path":"example_list.md","new_path":"example_list_2.md"}"#,
    }
    CreateDir = "create_dir" {
        title: "Make a folder",
        access: Write,
        effect: Adds,
        words: "Makes a folder and those above it. One that exists already is fine.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "The folder, such as `entities`.";
        },
        example: r#"{"action":"create_dir","path":"example_folder"}"#,
    }
    DeleteDir = "delete_dir" {
        title: "Delete a folder",
        access: Remove,
        effect: Settles,
        words: "Deletes an empty folder, or with recursive all that stands in it. It can be undone.",
        returns: "true",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "The folder, such as `entities`.";
        },
        optional: {
            recursive: bool = Takes::Flag, "Delete what stands in it too.";
        },
        example: r#"{"action":"delete_dir","path":"example_folder"}"#,
    }
    CheckFileExists = "check_file_exists" {
        title: "Is there a file",
        access: Read,
        effect: None,
        words: "Asks whether a file is there.",
        returns: "true or false",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        example: r#"{"action":"check_file_exists","path":"entities/example_person.md"}"#,
    }
    CheckDirExists = "check_dir_exists" {
        title: "Is there a folder",
        access: Read,
        effect: None,
        words: "Asks whether a folder is there.",
        returns: "true or false",
        gives: Flag,
        required: {
            path: MemoryPath = Takes::Path, "The folder, such as `entities`.";
        },
        example: r#"{"action":"check_dir_exists","path":"entities"}"#,
    }
    ListFiles = "list_files" {
        title: "List notes",
        access: Read,
        effect: None,
        words: "Lists the paths of all notes below a folder, sorted.",
        returns: "a list of paths",
        gives: Paths,
        optional: {
            path: MemoryPath = Takes::Folder, "The folder; left out, the whole memory.";
            limit: u32 = Takes::Number(1), "How many at most; left out, 1000.";
            cursor: String = Takes::Text, "The previous answer's cursor.";
            as_of: String = Takes::FullText, "As it was then, such as `2026-11-16`.";
        },
        example: r#"{"action":"list_files"}"#,
    }
    ListDirectory = "list_directory" {
        title: "List a folder",
        access: Read,
        effect: None,
        words: "Lists the files and folders that stand in one folder.",
        returns: "a list of name, kind and size",
        gives: Entries,
        optional: {
            path: MemoryPath = Takes::Folder, "The folder; left out, the top of the memory.";
        },
        example: r#"{"action":"list_directory","path":"entities"}"#,
    }
    GetFileInfo = "get_file_info" {
        title: "Describe a file",
        access: Read,
        effect: None,
        words: "Tells kind, size, lines, time of change and digest of a file or folder.",
        returns: "path, kind, size, lines, modified, digest",
        gives: Object,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        optional: {
            as_of: String = Takes::FullText, "As it was then, such as `2026-11-16`.";
        },
        example: r#"{"action":"get_file_info","path":"user.md"}"#,
    }
    GetSize = "get_size" {
        title: "Count bytes",
        access: Read,
        effect: None,
        words: "Counts the bytes of a file or of all files below a folder; 0 where nothing is.",
        returns: "a number of bytes",
        gives: Number,
        optional: {
            path: MemoryPath = Takes::Folder, "The file or folder; left out, the whole memory.";
        },
        example: r#"{"action":"get_size"}"#,
    }
    GetHistory = "get_history" {
        title: "What a note has seen",
        access: Read,
        effect: None,
        words: "Lists the changes that a note has seen, the newest first.",
        returns: "a list of changes",
        gives: Object,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        optional: {
            limit: u32 = Takes::Number(1), "How many at most; left out, 20.";
        },
        example: r#"{"action":"get_history","path":"user.md","limit":5}"#,
    }
    Recent = "recent" {
        title: "Recent changes and conversations",
        access: Read,
        effect: None,
        words: "Tells what was changed and talked about lately, such as last week, by days, the newest first.",
        returns: "days with date, changes, conversations, and how many were left out",
        gives: Object,
        optional: {
            days: u32 = Takes::Number(1), "Days back from today; left out, 7.";
            since: String = Takes::FullText, "The first day instead, such as `2026-11-16`.";
            until: String = Takes::FullText, "The last day; left out, today.";
        },
        example: r#"{"action":"recent","days":7}"#,
    }
    GoToLink = "go_to_link" {
        title: "Follow a link",
        access: Read,
        effect: None,
        words: "Reads what a link leads to: a note, or the section or block of it that the link names.",
        returns: "the text of the note, section or block",
        gives: Text,
        required: {
            link: String = Takes::FullText, "The link as it is written, such as `[[entities/jane_doe]]`.";
        },
        optional: {
            source: MemoryPath = Takes::Path, "The note in which the link stands.";
        },
        example: r#"{"action":"go_to_link","link":"[[entities/example_person]]"}"#,
    }
    SearchFiles = "search_files" {
        title: "Search",
        access: Read,
        effect: None,
        words: "Finds the notes that answer a query, the best first, with the place and a snippet.",
        returns: "hits with path, heading, lines, snippet, score; nothing_known, with the missing words, where no note has what was asked",
        gives: Object,
        required: {
            query: String = Takes::FullText,
                "What to look for, in plain words; `tag:x`, `is:task`, `since:7d` and `path:x/` narrow it.";
        },
        optional: {
            mode: SearchMode = Takes::OneOf(&["ranked", "text", "regex", "name"]),
                "ranked if left out; text finds it as it stands, regex a pattern, name a note by its name.";
            path: MemoryPath = Takes::Folder, "Only this folder or note.";
            limit: u32 = Takes::Number(1), "Notes at most; left out, 20.";
            cursor: String = Takes::Text, "The previous answer's cursor.";
            budget: u32 = Takes::Number(1), "Tokens of all snippets at most.";
            include_past: bool = Takes::Flag, "True: the past, too.";
            as_of: String = Takes::FullText, "As it was then, such as `2026-11-16`.";
        },
        example: r#"{"action":"search_files","query":"example person birthday"}"#,
    }
    GetContext = "get_context" {
        title: "What is worth knowing",
        access: Read,
        effect: None,
        words: "Gathers the parts of notes that are worth reading for a message, or about a note and those linked with it.",
        returns: "parts with path, heading, lines, text, the best first, and how many were left out; nothing_known, with the missing words, where no note has what was asked",
        gives: Object,
        optional: {
            query: String = Takes::FullText, "The message, or what to look for; this or a path.";
            path: MemoryPath = Takes::Path, "The note to gather about.";
            budget: u32 = Takes::Number(1), "Tokens at most; left out, 2,000.";
            include_past: bool = Takes::Flag, "True: the past, too.";
            as_of: String = Takes::FullText, "As it was then, such as `2026-11-16`.";
        },
        example: r#"{"action":"get_context","query":"when is the birthday of example person"}"#,
    }
    GetLinks = "get_links" {
        title: "Links of a note",
        access: Read,
        effect: None,
        words: "Lists the links that stand in a note, and the notes that link to it.",
        returns: "links with line, target and where they lead, and backlinks",
        gives: Object,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        example: r#"{"action":"get_links","path":"user.md"}"#,
    }
    GetBacklinks = "get_backlinks" {
        title: "Links to a note",
        access: Read,
        effect: None,
        words: "Lists the links in other notes that lead to a note.",
        returns: "links with source and line, and backlinks",
        gives: Object,
        required: {
            path: MemoryPath = Takes::Path, "Such as `entities/jane_doe.md`.";
        },
        example: r#"{"action":"get_backlinks","path":"entities/example_person.md"}"#,
    }
    Memory = "memory" {
        title: "Small entries by key",
        access: Write,
        effect: Changes,
        words: "Keeps small entries by key, each a note in memories/. store wants content, retrieve and delete a key, search a query.",
        returns: "true; the text for retrieve; hits for search; key, path and tags for list",
        gives: Various,
        required: {
            operation: Operation = Takes::OneOf(&["store", "retrieve", "search", "delete", "list", "store_conversation"]),
                "What to do.";
        },
        optional: {
            key: String = Takes::FullText, "The name of the entry; left out, store makes one of the first words.";
            content: String = Takes::Text, "The text of the entry.";
            query: String = Takes::FullText, "What to look for.";
            tags: Vec<String> = Takes::Texts, "Tags of the entry.";
        },
        example: r#"{"action":"memory","operation":"store","key":"example entry","content":"An example."}"#,
    }
    GetConfig = "get_config" {
        title: "Settings",
        access: Read,
        effect: None,
        words: "Tells the settings that hold here, such as limits and permissions.",
        returns: "the settings by their keys",
        gives: Object,
        optional: {
            key: String = Takes::FullText, "Only this one, or those of a section, such as `permission`.";
        },
        example: r#"{"action":"get_config","key":"permission"}"#,
    }
    SetConfigValue = "set_config_value" {
        title: "Ask for a setting",
        access: Read,
        effect: None,
        words: "Answers with the command by which the person can change a setting; it changes nothing.",
        returns: "nothing; it always fails, with the command in its hint",
        gives: Flag,
        required: {
            key: String = Takes::FullText, "The setting, as get_config calls it.";
            value: String = Takes::Text, "What it should be, as a text.";
        },
        example: r#"{"action":"set_config_value","key":"history.keep_days","value":"365"}"#,
    }
}

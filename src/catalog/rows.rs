//! The rows of the catalog. Rows are no logic: a test checks each one against the action it names.

use super::{Field, Row, Takes};
use crate::action::Access;

const fn required(name: &'static str, takes: Takes, words: &'static str) -> Field {
    Field { name, takes, required: true, words }
}

const fn optional(name: &'static str, takes: Takes, words: &'static str) -> Field {
    Field { name, takes, required: false, words }
}

const NOTE: Field = required("path", Takes::Path, "The note, such as `entities/jane_doe.md`.");
const FILE: Field = required("path", Takes::Path, "The file, such as `entities/jane_doe.md`.");
const FOLDER: Field = required("path", Takes::Path, "The folder, such as `entities`.");
const CONTENT: Field = required("content", Takes::Text, "All of the note's text, in Markdown.");
const HEADING: Field =
    required("heading", Takes::FullText, "The text of the heading; `A#B` for the heading B below A.");

/// All actions, in the order in which they are shown.
pub const ROWS: &[Row] = &[
    Row {
        name: "read_file",
        title: "Read a note",
        access: Access::Read,
        words: "Reads a note, or some of its lines.",
        returns: "the text",
        fields: &[
            NOTE,
            optional("start_line", Takes::Number(1), "The first line wanted, from 1."),
            optional("end_line", Takes::Number(1), "The last line wanted, itself included."),
        ],
        example: r#"{"action":"read_file","path":"user.md","assign_to":"user"}"#,
    },
    Row {
        name: "create_file",
        title: "Make a note",
        access: Access::Write,
        words: "Makes a note that does not exist yet, with the folders above it.",
        returns: "true",
        fields: &[NOTE, CONTENT],
        example: r##"{"action":"create_file","path":"entities/example_person.md","content":"# Example Person\n\n- relation: neighbour\n"}"##,
    },
    Row {
        name: "write_file",
        title: "Write a whole note",
        access: Access::Write,
        words: "Makes a note or replaces all of its text. To change a part, use update_file.",
        returns: "true",
        fields: &[
            NOTE,
            CONTENT,
            optional("if_digest", Takes::Digest, "Replace the note only while its content has this digest."),
        ],
        example: r##"{"action":"write_file","path":"example_list.md","content":"# Example list\n\n- example item\n"}"##,
    },
    Row {
        name: "append_file",
        title: "Add to the end of a note",
        access: Access::Write,
        words: "Adds lines at the end of an existing note.",
        returns: "true",
        fields: &[NOTE, required("content", Takes::Text, "The lines to add.")],
        example: r#"{"action":"append_file","path":"example_list.md","content":"- another example item"}"#,
    },
    Row {
        name: "update_file",
        title: "Change a part of a note",
        access: Access::Write,
        words: "Replaces the one place in a note that is exactly old_content.",
        returns: "true",
        fields: &[
            NOTE,
            required(
                "old_content",
                Takes::FullText,
                "The text as it stands in the note now; enough of it to be found only once.",
            ),
            required("new_content", Takes::Text, "The text to put in its place."),
            optional(
                "occurrence",
                Takes::OneOf(&["first", "all"]),
                "What to do when several places match; without it that is an error.",
            ),
        ],
        example: r#"{"action":"update_file","path":"user.md","old_content":"- example_fact: before","new_content":"- example_fact: after"}"#,
    },
    Row {
        name: "insert_text",
        title: "Insert lines",
        access: Access::Write,
        words: "Adds lines after a line of an existing note.",
        returns: "true",
        fields: &[
            NOTE,
            required("line", Takes::Number(0), "The line after which to insert; 0 is the top of the note."),
            required("content", Takes::Text, "The lines to insert."),
        ],
        example: r#"{"action":"insert_text","path":"example_list.md","line":2,"content":"- an example item that comes first"}"#,
    },
    Row {
        name: "replace_section",
        title: "Replace a section",
        access: Access::Write,
        words: "Replaces all that stands under a heading, up to the next heading of its level or a higher one; the heading stays.",
        returns: "true",
        fields: &[NOTE, HEADING, required("content", Takes::Text, "All that is to stand under the heading.")],
        example: r#"{"action":"replace_section","path":"user.md","heading":"Example section","content":"- example_fact: after"}"#,
    },
    Row {
        name: "append_to_section",
        title: "Add to a section",
        access: Access::Write,
        words: "Adds lines at the end of what stands under a heading, before its first subheading.",
        returns: "true",
        fields: &[NOTE, HEADING, required("content", Takes::Text, "The lines to add.")],
        example: r#"{"action":"append_to_section","path":"user.md","heading":"Example section","content":"- example_fact: new"}"#,
    },
    Row {
        name: "set_fact",
        title: "Set a fact",
        access: Access::Write,
        words: "Sets one fact of a note, such as `- key: value`, wherever it stands there; a new one is added after the last.",
        returns: "true",
        fields: &[
            NOTE,
            required("key", Takes::FullText, "What the fact is called, such as `city`."),
            required("value", Takes::Text, "What it says, on one line."),
        ],
        example: r#"{"action":"set_fact","path":"user.md","key":"example_fact","value":"after"}"#,
    },
    Row {
        name: "delete_file",
        title: "Delete a file",
        access: Access::Remove,
        words: "Deletes a file. It can be undone.",
        returns: "true",
        fields: &[FILE],
        example: r#"{"action":"delete_file","path":"entities/example_person.md"}"#,
    },
    Row {
        name: "rename_file",
        title: "Rename or move",
        access: Access::Remove,
        words: "Renames or moves a file or a folder. It never replaces what is there.",
        returns: "true",
        fields: &[
            required("path", Takes::Path, "What it is called now."),
            required("new_path", Takes::Path, "What it is called then, as a whole path."),
        ],
        example: r#"{"action":"rename_file","path":"example_list.md","new_path":"lists/example_list.md"}"#,
    },
    Row {
        name: "copy_file",
        title: "Copy a file",
        access: Access::Write,
        words: "Copies a file. It never replaces what is there.",
        returns: "true",
        fields: &[FILE, required("new_path", Takes::Path, "The path of the copy.")],
        example: r#"{"action":"copy_file","path":"example_list.md","new_path":"example_list_2.md"}"#,
    },
    Row {
        name: "create_dir",
        title: "Make a folder",
        access: Access::Write,
        words: "Makes a folder and those above it. One that exists already is fine.",
        returns: "true",
        fields: &[FOLDER],
        example: r#"{"action":"create_dir","path":"example_folder"}"#,
    },
    Row {
        name: "delete_dir",
        title: "Delete a folder",
        access: Access::Remove,
        words: "Deletes an empty folder, or with recursive all that stands in it. It can be undone.",
        returns: "true",
        fields: &[FOLDER, optional("recursive", Takes::Flag, "Delete what stands in it too.")],
        example: r#"{"action":"delete_dir","path":"example_folder"}"#,
    },
    Row {
        name: "check_file_exists",
        title: "Is there a file",
        access: Access::Read,
        words: "Asks whether a file is there.",
        returns: "true or false",
        fields: &[FILE],
        example: r#"{"action":"check_file_exists","path":"entities/example_person.md"}"#,
    },
    Row {
        name: "check_dir_exists",
        title: "Is there a folder",
        access: Access::Read,
        words: "Asks whether a folder is there.",
        returns: "true or false",
        fields: &[FOLDER],
        example: r#"{"action":"check_dir_exists","path":"entities"}"#,
    },
    Row {
        name: "list_files",
        title: "List notes",
        access: Access::Read,
        words: "Lists the paths of all notes below a folder, sorted.",
        returns: "a list of paths",
        fields: &[
            optional("path", Takes::Folder, "The folder; left out, the whole memory."),
            optional("limit", Takes::Number(1), "How many at most; left out, 1000."),
            optional("cursor", Takes::Text, "The cursor of the answer before, to go on."),
        ],
        example: r#"{"action":"list_files"}"#,
    },
    Row {
        name: "list_directory",
        title: "List a folder",
        access: Access::Read,
        words: "Lists the files and folders that stand in one folder.",
        returns: "a list of name, kind and size",
        fields: &[optional("path", Takes::Folder, "The folder; left out, the top of the memory.")],
        example: r#"{"action":"list_directory","path":"entities"}"#,
    },
    Row {
        name: "get_file_info",
        title: "Describe a file",
        access: Access::Read,
        words: "Tells kind, size, lines, time of change and digest of a file or folder.",
        returns: "path, kind, size, lines, modified, digest",
        fields: &[FILE],
        example: r#"{"action":"get_file_info","path":"user.md"}"#,
    },
    Row {
        name: "get_size",
        title: "Count bytes",
        access: Access::Read,
        words: "Counts the bytes of a file or of all files below a folder; 0 where nothing is.",
        returns: "a number of bytes",
        fields: &[optional("path", Takes::Folder, "The file or folder; left out, the whole memory.")],
        example: r#"{"action":"get_size"}"#,
    },
    Row {
        name: "get_history",
        title: "What a note has seen",
        access: Access::Read,
        words: "Lists the changes that a note has seen, the newest first.",
        returns: "a list of changes",
        fields: &[NOTE, optional("limit", Takes::Number(1), "How many at most; left out, 20.")],
        example: r#"{"action":"get_history","path":"user.md","limit":5}"#,
    },
    Row {
        name: "go_to_link",
        title: "Follow a link",
        access: Access::Read,
        words: "Reads what a link leads to: a note, or the section or block of it that the link names.",
        returns: "the text of the note, section or block",
        fields: &[
            required("link", Takes::FullText, "The link as it is written, such as `[[entities/jane_doe]]`."),
            optional("source", Takes::Path, "The note in which the link stands."),
        ],
        example: r#"{"action":"go_to_link","link":"[[entities/example_person]]"}"#,
    },
    Row {
        name: "search_files",
        title: "Search",
        access: Access::Read,
        words: "Finds the notes that answer a query, the best first, with the place and a snippet.",
        returns: "hits with path, heading, lines, snippet, score",
        fields: &[
            required("query", Takes::FullText, "What to look for, in plain words."),
            optional(
                "mode",
                Takes::OneOf(&["ranked", "text", "regex", "name"]),
                "ranked, by meaning of the words, if left out; text finds it as it stands, regex a pattern, name a note by its name.",
            ),
            optional("path", Takes::Folder, "Only in this folder or note; left out, the whole memory."),
            optional("limit", Takes::Number(1), "How many notes at most; left out, 20."),
            optional("cursor", Takes::Text, "The cursor of the answer before, to go on."),
            optional("budget", Takes::Number(1), "How many tokens the snippets may have together."),
        ],
        example: r#"{"action":"search_files","query":"example person birthday"}"#,
    },
    Row {
        name: "get_links",
        title: "Links of a note",
        access: Access::Read,
        words: "Lists the links that stand in a note, and the notes that link to it.",
        returns: "links with line, target and where they lead, and backlinks",
        fields: &[NOTE],
        example: r#"{"action":"get_links","path":"user.md"}"#,
    },
    Row {
        name: "get_backlinks",
        title: "Links to a note",
        access: Access::Read,
        words: "Lists the links in other notes that lead to a note.",
        returns: "links with source and line, and backlinks",
        fields: &[NOTE],
        example: r#"{"action":"get_backlinks","path":"entities/example_person.md"}"#,
    },
    Row {
        name: "memory",
        title: "Small entries by key",
        access: Access::Write,
        words: "Keeps small entries by key, each a note in memories/. store wants content, retrieve and delete a key, search a query.",
        returns: "true; the text for retrieve; hits for search; key, path and tags for list",
        fields: &[
            required(
                "operation",
                Takes::OneOf(&["store", "retrieve", "search", "delete", "list", "store_conversation"]),
                "What to do.",
            ),
            optional("key", Takes::FullText, "The name of the entry; left out, store makes one of the first words."),
            optional("content", Takes::Text, "The text of the entry."),
            optional("query", Takes::FullText, "What to look for."),
            optional("tags", Takes::Texts, "Tags of the entry."),
        ],
        example: r#"{"action":"memory","operation":"store","key":"example entry","content":"An example."}"#,
    },
];

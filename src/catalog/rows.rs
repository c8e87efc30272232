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
        words: "Reads the note that a link leads to.",
        returns: "the text of the note",
        fields: &[
            required("link", Takes::FullText, "The link as it is written, such as `[[entities/jane_doe]]`."),
            optional("source", Takes::Path, "The note in which the link stands."),
        ],
        example: r#"{"action":"go_to_link","link":"[[entities/example_person]]"}"#,
    },
];

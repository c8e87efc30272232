//! The ten functions of mem-agent, and the actions they are.

/// A function that a block may call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Function {
    CreateFile,
    UpdateFile,
    ReadFile,
    DeleteFile,
    CheckIfFileExists,
    CreateDir,
    ListFiles,
    CheckIfDirExists,
    GetSize,
    GoToLink,
}

/// One parameter.
#[derive(Debug)]
pub(super) struct Parameter {
    /// Its name in Python.
    pub(super) name: &'static str,
    /// The argument of the action.
    pub(super) key: &'static str,
    /// Whether it may be left out, and then is an empty text.
    pub(super) is_optional: bool,
}

#[derive(Debug)]
struct Row {
    function: Function,
    name: &'static str,
    action: &'static str,
    parameters: &'static [Parameter],
}

const fn needs(name: &'static str, key: &'static str) -> Parameter {
    Parameter { name, key, is_optional: false }
}

const fn takes(name: &'static str, key: &'static str) -> Parameter {
    Parameter { name, key, is_optional: true }
}

const fn row(function: Function, name: &'static str, action: &'static str, parameters: &'static [Parameter]) -> Row {
    Row { function, name, action, parameters }
}

const FILE: Parameter = needs("file_path", "path");
const FOLDER: Parameter = needs("dir_path", "path");

static ROWS: [Row; 10] = [
    row(Function::CreateFile, "create_file", "create_file", &[FILE, takes("content", "content")]),
    row(
        Function::UpdateFile,
        "update_file",
        "update_file",
        &[FILE, needs("old_content", "old_content"), needs("new_content", "new_content")],
    ),
    row(Function::ReadFile, "read_file", "read_file", &[FILE]),
    row(Function::DeleteFile, "delete_file", "delete_file", &[FILE]),
    row(Function::CheckIfFileExists, "check_if_file_exists", "check_file_exists", &[FILE]),
    row(Function::CreateDir, "create_dir", "create_dir", &[FOLDER]),
    row(Function::ListFiles, "list_files", "list_files", &[]),
    row(Function::CheckIfDirExists, "check_if_dir_exists", "check_dir_exists", &[FOLDER]),
    row(Function::GetSize, "get_size", "get_size", &[takes("file_or_dir_path", "path")]),
    row(Function::GoToLink, "go_to_link", "go_to_link", &[needs("link_string", "link")]),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.function)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.function == self)
    }

    /// The action that it is.
    pub(super) fn action(self) -> &'static str {
        self.row().map_or("", |row| row.action)
    }

    pub(super) fn parameters(self) -> &'static [Parameter] {
        self.row().map_or(&[], |row| row.parameters)
    }

    /// How it is called: `create_file(file_path, content="")`.
    pub(super) fn signature(self) -> String {
        let parameter = |parameter: &Parameter| {
            let default = if parameter.is_optional { "=\"\"" } else { "" };
            format!("{}{default}", parameter.name)
        };
        let parameters: Vec<_> = self.parameters().iter().map(parameter).collect();
        format!("{}({})", self.row().map_or("", |row| row.name), parameters.join(", "))
    }

    /// The names of all, as a sentence lists them.
    pub(super) fn all() -> String {
        ROWS.iter().map(|row| format!("`{}`", row.name)).collect::<Vec<_>>().join(", ")
    }

    /// The function that is most like a name.
    pub(super) fn nearest(name: &str) -> Option<String> {
        memdir_core::catalog::nearest(name, ROWS.iter().map(|row| row.name))
    }
}

//! What an action is about: where it acts, as of when, and which text it brings.

use std::borrow::Cow;

use super::{
    Action, AppendFile, AppendToSection, CheckDirExists, CheckFileExists, CopyFile, CreateDir, CreateFile, DeleteDir,
    DeleteFile, GetBacklinks, GetContext, GetFileInfo, GetHistory, GetLinks, GetSize, InsertText, ListDirectory,
    ListFiles, Memory, Operation, ReadFile, Remember, RenameFile, ReplaceSection, SearchFiles, SetFact, UpdateFile,
    WriteFile,
};
use crate::path::MemoryPath;

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

impl SearchFiles {
    /// A search for this in the whole memory, with what the action means where nothing more is said.
    #[must_use]
    pub fn of(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            mode: None,
            path: None,
            limit: None,
            cursor: None,
            budget: None,
            include_past: None,
            as_of: None,
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

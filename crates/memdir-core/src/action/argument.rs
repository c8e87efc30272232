//! The words of which an argument of an action is one.

use serde::{Deserialize, Serialize};

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

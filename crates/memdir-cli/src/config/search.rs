//! The section `[search]`: whether notes are also found by what they mean.

use serde::{Deserialize, Serialize};

use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_providers::choose::Wanted;

/// What the person has settled about searching.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Search {
    /// Which model of embeddings tells what notes mean; else words alone find them.
    pub(crate) embeddings: Option<String>,
    /// Where its server is, if not at the usual place.
    pub(crate) address: Option<String>,
    /// Folders that rank behind all others.
    archive: Vec<String>,
    /// The notes that come along with every context.
    pub(crate) pinned: Vec<MemoryPath>,
}

impl Search {
    /// The same for the model that a command names. The address counts only for that of the settings.
    pub(crate) fn named(&self, name: &str) -> Self {
        let is_same = self.embeddings.as_deref() == Some(name);
        Self { embeddings: Some(name.to_owned()), address: self.address.clone().filter(|_| is_same), ..self.clone() }
    }

    /// The folders that rank behind all others; `archive/**` is the same as `archive`.
    ///
    /// # Errors
    ///
    /// `config` for what is no path in a memory.
    pub(crate) fn archive(&self) -> Result<Vec<MemoryPath>, Failure> {
        let folder = |text: &String| {
            MemoryPath::parse(text.trim_end_matches("**").trim_end_matches('/')).map_err(|error| {
                let message = format!("`{text}` in `archive` of `[search]` is no folder of a memory: it {error}");
                Failure::new(Code::Config, message).with_hint("name a folder, such as `archive`")
            })
        };
        self.archive.iter().map(folder).collect()
    }

    /// Which model of embeddings is wanted, if any.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        let name = self.embeddings.clone().filter(|name| !name.trim().is_empty())?;
        Some(Wanted { name: Some(name), address: self.address.clone() })
    }
}

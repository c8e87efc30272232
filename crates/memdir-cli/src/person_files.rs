//! What the page may read and change of the person's files beside the memory.

use std::path::PathBuf;

use super::config::Sources;
use super::{client, desktop, draft};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_engine::{ForgetTarget, ForgottenPlace};
use memdir_policy::Rule;
use memdir_web::{ClientToken, NewClient, PersonFiles, RegisteredClient, SettingsShown};

/// The files for the memory at a canonical path, each read anew when it is asked for.
pub(super) struct FilesOf(pub(super) PathBuf);

impl PersonFiles for FilesOf {
    fn settings(&self) -> Result<SettingsShown, Failure> {
        Sources::read()?.shown(&self.0)
    }

    fn add_rule(&self, rule: &Rule) -> Result<usize, Failure> {
        Sources::read()?.add_rule(&self.0, rule)
    }

    fn clients(&self) -> Result<Vec<RegisteredClient>, Failure> {
        client::registered(&self.0)
    }

    fn add_client(&self, wanted: NewClient) -> Result<ClientToken, Failure> {
        client::add_from_page(&self.0, wanted)
    }

    fn revoke_client(&self, name: &str) -> Result<(), Failure> {
        client::revoke_named(&self.0, name)
    }

    fn open_note(&self, note: &MemoryPath) -> Result<(), Failure> {
        desktop::open(self.0.join(note.as_str()).as_os_str()).map_err(|error| {
            let failure = Failure::new(Code::Unavailable, format!("no editor was opened: {}", error.kind()));
            failure.with_hint("copy the path of the note, and open it yourself")
        })
    }

    fn drafts_holding(&self, target: &ForgetTarget) -> Result<Vec<ForgottenPlace>, Failure> {
        Ok(draft::holding(&self.0, target)?.iter().map(draft::Left::place).collect())
    }

    fn remove_drafts_holding(&self, target: &ForgetTarget) -> Result<(), Failure> {
        draft::holding(&self.0, target)?.iter().try_for_each(draft::Left::remove)
    }
}

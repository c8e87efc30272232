//! A person's word that a line of a note still holds.

use super::{Caller, Engine, failure};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Confirmation, Failure, WrittenBy};
use memdir_plan as plan;
use memdir_plan::Tree;

impl Engine {
    /// Notes in the audit that the person confirmed a line of a note as it is now. The note keeps its bytes; the history, which
    /// tells where the line comes from, says so from then on, until the line says something else.
    ///
    /// `line` is the text of the line; blanks around it do not count.
    ///
    /// # Errors
    ///
    /// `denied` for anybody but the person, `read_only`, those of `read_file`, `content_not_found` where the note has no such
    /// line, and those of the vault.
    pub fn confirm(&self, path: &MemoryPath, line: &str, caller: &Caller) -> Result<Confirmation, Failure> {
        self.confirm_with(None, path, line, caller)
    }

    /// As [`Engine::confirm`], with an answer that also made a batch: undoing that takes the confirmation back.
    pub(super) fn confirm_with(
        &self,
        batch: Option<u64>,
        path: &MemoryPath,
        line: &str,
        caller: &Caller,
    ) -> Result<Confirmation, Failure> {
        check_person(caller)?;
        let path = &self.vault.resolve(path).map_err(plan::failure)?;
        let image = self.vault.read(path, self.settings.limits.file_bytes).map_err(plan::failure)?;
        let text = image.content.text().ok_or_else(|| plan::not_text(path))?;
        let line = line.trim();
        if line.is_empty() || !text.lines().any(|own| own.trim() == line) {
            return Err(Failure::new(Code::ContentNotFound, format!("note `{path}` has no such line"))
                .with_hint("read the note again; the line may have changed"));
        }
        let time = self.now();
        let mut writer = self.vault.lock().map_err(|error| failure(&error))?;
        writer.confirm(path, line, batch, &caller.author, time).map_err(|error| failure(&error))?;
        let (door, client) = (caller.author.door.clone(), caller.author.client.clone());
        Ok(Confirmation { time: time.to_string(), door, client })
    }
}

/// Refuses anybody but the person.
pub(super) fn check_person(caller: &Caller) -> Result<(), Failure> {
    caller.check_write("confirm")?;
    if WrittenBy::of_origin(&caller.author.origin) == WrittenBy::You {
        return Ok(());
    }
    Err(Failure::new(Code::Denied, "only the person can confirm what a note says")
        .with_hint("ask the person; `memdir review` asks about what is not confirmed"))
}

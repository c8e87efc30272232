//! What the audit tells people and their programs: who read a note, and whether the chain is unbroken.

use serde::Serialize;

use super::{Engine, failure};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_plan::{self as plan, Tree};
use memdir_vault::{AuditPage, AuditQuery, AuditRecord, AuditReport, LastCall, Reader, Stats, ToolFilter};

/// The end of the chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Head {
    /// The number of the last entry; 0 where there is none.
    pub seq: i64,
    /// Its hash; 32 zero bytes where there is none.
    pub head: Digest,
}

/// A page of those who have read a note.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Readers {
    /// The newest first.
    pub readers: Vec<Reader>,
    /// Where the next page starts.
    pub cursor: Option<String>,
}

impl Engine {
    /// Tells who was shown something of a note, under whatever names it had: a page of at most `limit`, before the entry
    /// that the page before ended with.
    ///
    /// # Errors
    ///
    /// `not_found` where no note has or had the name and nobody has read one; else `damaged`, `busy`, `io`.
    pub fn readers(&self, path: &MemoryPath, limit: usize, before: Option<i64>) -> Result<Readers, Failure> {
        let path = self.vault.resolve(path).unwrap_or_else(|_| path.clone());
        let is_there = self.vault.stat(&path).map_err(plan::failure)?.is_some();
        let names = self.vault.names_of(&path, is_there).map_err(|error| failure(&error))?;
        let found = self.vault.readers(&names, limit.saturating_add(1), before);
        let mut readers = found.map_err(|error| failure(&error))?;
        let is_known = is_there || names.all.iter().any(|called| called.since > 0 || called.name != path);
        if readers.is_empty() && before.is_none() && !is_known {
            let failure = Failure::new(Code::NotFound, format!("no note has or had the name `{path}`"));
            return Err(failure.with_hint("`memdir search --mode name` finds it by a part of its name"));
        }
        let is_cut = readers.len() > limit;
        readers.truncate(limit);
        let cursor = if is_cut { readers.last().map(|reader| reader.seq.to_string()) } else { None };
        Ok(Readers { readers, cursor })
    }

    /// A page of the audit, of all notes or of one by the names it had; see [`memdir_vault::Vault::audit_page`].
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn audit_page(&self, query: &AuditQuery, note: Option<&MemoryPath>) -> Result<AuditPage, Failure> {
        self.finish_after_crash();
        let names = note.map(|path| {
            let path = self.vault.resolve(path).unwrap_or_else(|_| path.clone());
            let is_there = self.vault.stat(&path).map_err(plan::failure)?.is_some();
            self.vault.names_of(&path, is_there).map_err(|error| failure(&error))
        });
        let page = self.vault.audit_page(query, names.transpose()?.as_ref());
        page.map_err(|error| failure(&error))
    }

    /// The audit in numbers: all of it, or the calls of some tools of other servers.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn stats(&self, wanted: Option<&ToolFilter>) -> Result<Stats, Failure> {
        self.vault.stats(wanted).map_err(|error| failure(&error))
    }

    /// When each program called last by each way in, the newest first.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn last_calls(&self) -> Result<Vec<LastCall>, Failure> {
        self.vault.last_calls().map_err(|error| failure(&error))
    }

    /// Computes the chain anew; see [`memdir_vault::Vault::account`] for what that proves.
    ///
    /// # Errors
    ///
    /// `damaged` for a history that cannot be read at all; a broken chain is an answer.
    pub fn verify(&self, head: Option<Digest>) -> Result<AuditReport, Failure> {
        self.finish_after_crash();
        self.vault.account(head).map_err(|error| failure(&error))
    }

    /// The end of the chain.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn head(&self) -> Result<Head, Failure> {
        self.finish_after_crash();
        let (seq, head) = self.vault.head().map_err(|error| failure(&error))?;
        Ok(Head { seq, head })
    }

    /// Some of the entries that come after `seq`, in order; none at the end.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn records(&self, seq: i64) -> Result<Vec<AuditRecord>, Failure> {
        self.finish_after_crash();
        self.vault.records(seq).map_err(|error| failure(&error))
    }
}

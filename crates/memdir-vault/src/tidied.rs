//! What `tidy` has proposed before, so that nothing is proposed twice.
//!
//! Owns the rows of `meta` that say so: of each step a digest over it and the random identifier of the history, which tells
//! nothing without both. Whatever is forgotten, all of these rows go.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::journal::Journal;
use super::{Vault, VaultError, Writer};
use memdir_core::digest::Digest;

/// How the key of such a row begins; its value is the number of the proposal.
const TIDIED: &str = "tidied:";

/// The steps that were proposed, as their digests.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tidied {
    history: Vec<u8>,
    steps: BTreeSet<String>,
}

impl Tidied {
    /// The digest of a step in this memory.
    #[must_use]
    pub fn digest(&self, step: &str) -> String {
        Digest::of_parts(&[&self.history, step.as_bytes()]).to_string()
    }

    /// Whether a step was proposed before.
    #[must_use]
    pub fn has(&self, step: &str) -> bool {
        self.steps.contains(&self.digest(step))
    }

    fn read(journal: &Journal) -> Result<Self, VaultError> {
        let history = journal.id()?.unwrap_or_default();
        let sql = "SELECT substr(key, ?2) FROM meta WHERE key > ?1 AND key < ?1 || 'z'";
        let mut statement = journal.db.prepare_cached(sql)?;
        let steps = statement.query_map(params![TIDIED, TIDIED.len() + 1], |row| row.get(0))?;
        Ok(Self { history, steps: steps.collect::<Result<_, _>>()? })
    }
}

impl Vault {
    /// What was proposed before, on this machine.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn tidied(&self) -> Result<Tidied, VaultError> {
        self.known_core()?.as_ref().map_or_else(|| Ok(Tidied::default()), |core| Tidied::read(&core.journal))
    }
}

impl Writer<'_> {
    /// As [`Vault::tidied`], under the lock.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn tidied(&mut self) -> Result<Tidied, VaultError> {
        Tidied::read(&self.core()?.journal)
    }
}

/// Notes the digests of the steps of a proposal.
pub(super) fn note(transaction: &Connection, steps: &[String], proposal: u64) -> Result<(), VaultError> {
    let mut statement = transaction.prepare_cached("INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO NOTHING")?;
    for step in steps {
        statement.execute(params![format!("{TIDIED}{step}"), proposal])?;
    }
    Ok(())
}

/// Removes all of them: a digest of what is forgotten must not stay.
pub(super) fn forget(transaction: &Connection) -> Result<(), VaultError> {
    transaction.execute("DELETE FROM meta WHERE key > ?1 AND key < ?1 || 'z'", [TIDIED])?;
    Ok(())
}

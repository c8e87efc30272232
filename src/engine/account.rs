//! Rendering account for people and their programs: the chain of the audit.

use serde::Serialize;

use super::{Engine, failure};
use crate::digest::Digest;
use crate::report::Failure;
use crate::vault::{Account, Record};

/// The end of the chain.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Head {
    /// The number of the last entry; 0 where there is none.
    pub seq: i64,
    /// Its hash; 32 zero bytes where there is none.
    pub head: Digest,
}

impl Engine {
    /// Computes the chain anew; see [`crate::vault::Vault::account`] for what that proves.
    ///
    /// # Errors
    ///
    /// `damaged` for a history that cannot be read at all; a broken chain is an answer.
    pub fn verify(&self, head: Option<Digest>) -> Result<Account, Failure> {
        self.vault.account(head).map_err(|error| failure(&error))
    }

    /// The end of the chain.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn head(&self) -> Result<Head, Failure> {
        let (seq, head) = self.vault.head().map_err(|error| failure(&error))?;
        Ok(Head { seq, head })
    }

    /// Some of the entries that come after `seq`, in order; none at the end.
    ///
    /// # Errors
    ///
    /// `damaged`, `busy`, `io`.
    pub fn records(&self, seq: i64) -> Result<Vec<Record>, Failure> {
        self.vault.records(seq).map_err(|error| failure(&error))
    }
}

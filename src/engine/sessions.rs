//! Kept conversations, for those who lead them.

use super::{Engine, failure};
use crate::report::Failure;
use crate::time::Timestamp;
use crate::vault::{Kept, SessionFile};

impl Engine {
    /// Makes the file of a session. See [`crate::vault::Vault::begin_session`].
    ///
    /// # Errors
    ///
    /// `no_write_access`, `disk_full`, `io`.
    pub fn begin_session(&self, id: &str, now: Timestamp) -> Result<SessionFile, Failure> {
        self.vault.begin_session(id, now).map_err(|error| failure(&error))
    }

    /// Opens a session to go on with it.
    ///
    /// # Errors
    ///
    /// `not_found`, `busy` while another process answers in it, `io`.
    pub fn open_session(&self, id: &str) -> Result<SessionFile, Failure> {
        self.vault.open_session(id).map_err(|error| failure(&error))
    }

    /// Reads the lines of a session; `None` where there is no such session.
    ///
    /// # Errors
    ///
    /// `too_large`, `io`.
    pub fn read_session(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.vault.read_session(id).map_err(|error| failure(&error))
    }

    /// The sessions that are kept, the newest first.
    ///
    /// # Errors
    ///
    /// `damaged`, `io`.
    pub fn sessions(&self) -> Result<Vec<Kept>, Failure> {
        self.vault.sessions().map_err(|error| failure(&error))
    }

    /// Removes a session.
    ///
    /// # Errors
    ///
    /// `not_found`, `busy` while another process answers in it, `io`.
    pub fn remove_session(&self, id: &str) -> Result<(), Failure> {
        self.vault.remove_session(id).map_err(|error| failure(&error))
    }
}

//! What a session may do, and what is kept from it: set by the person, kept with the session.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use memdir_core::action::Access;
use memdir_core::catalog;
use memdir_policy::{Grant, GrantError, Mode};
use memdir_tools::ServerName;

/// The switches of a session.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Switches {
    /// Which actions there are at all.
    #[serde(default)]
    pub actions: Actions,
    /// The only actions there are, by name; empty: all that `actions` lets through.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    /// What is kept out of what the model sees and says, in the person's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// What becomes of calls that somebody should be asked about; `None`: as the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Mode>,
    /// The other servers whose tools the model may use. Set by [`Session::switch_tools_on`](super::Session::switch_tools_on).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<ServerName>,
}

/// Which actions a session has.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Actions {
    /// None: the model only talks, and sees nothing of the memory.
    Off,
    /// Those that read.
    Read,
    /// All.
    #[default]
    All,
}

impl Switches {
    /// Whether an action of this name may be sent.
    #[must_use]
    pub fn lets(&self, action: &str) -> bool {
        let access = catalog::row(action).map(|row| row.access);
        let is_let = match self.actions {
            Actions::Off => false,
            Actions::Read => access == Some(Access::Read),
            Actions::All => true,
        };
        is_let && (self.only.is_empty() || self.only.contains(action))
    }

    /// The switches as a grant that shows all of the memory and lets only these actions be sent; `None` where all are.
    ///
    /// # Errors
    ///
    /// [`GrantError::Action`] for a name in `only` that no action has.
    pub fn grant(&self) -> Result<Option<Grant>, GrantError> {
        if let Some(unknown) = self.only.iter().find(|name| catalog::row(name).is_none()) {
            return Err(GrantError::Action(unknown.clone()));
        }
        if self.actions == Actions::All && self.only.is_empty() {
            return Ok(None);
        }
        let names = catalog::ROWS.iter().map(|row| row.name.to_owned()).filter(|name| self.lets(name));
        let all = ["**".to_owned()];
        Grant::new(&all, &all, Some(&names.collect::<Vec<_>>())).map(Some)
    }
}

//! What may be thought of a call, how strictly that is taken, and who permitted it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What becomes of a call that somebody should be asked about, the mildest first.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It is done, and noted.
    #[default]
    Off,
    /// It is done if the model says that the person agreed.
    Flag,
    /// The person is asked, whatever the model says.
    Ask,
    /// As [`Mode::Ask`], and the person is asked about every call that changes something, whatever the detectors find in it,
    /// unless a rule allows it.
    All,
}

impl Mode {
    /// Every mode, in the order of their strictness.
    pub const ALL: [Self; 4] = [Self::Off, Self::Flag, Self::Ask, Self::All];

    /// Its name, as it is typed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Flag => "flag",
            Self::Ask => "ask",
            Self::All => "all",
        }
    }
}

/// What a rule or a detector thinks of a call; the strictest counts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may happen.
    Allow,
    /// The person should be asked.
    Ask,
    /// It may not happen.
    Deny,
}

/// Who permitted a call, as the audit records it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Permission {
    /// Nobody: nothing spoke against it, or nobody is asked here.
    Off,
    /// The model says that the person agreed.
    Claimed,
    /// The person agreed.
    Approved,
    /// The rule of this number allows it.
    Rule(String),
    /// Nobody: it was not made.
    Refused,
}

impl fmt::Display for Verdict {
    /// Writes the name that the settings have.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => formatter.write_str("off"),
            Self::Claimed => formatter.write_str("claimed"),
            Self::Approved => formatter.write_str("approved"),
            Self::Rule(name) => write!(formatter, "rule:{name}"),
            Self::Refused => formatter.write_str("refused"),
        }
    }
}

//! The section `[model]`: which model answers, and within what limits.

use std::num::{NonZeroU32, NonZeroUsize};

use serde::{Deserialize, Deserializer, Serialize};

use memdir_providers::choose::{BETWEEN, Wanted};

/// What the person has settled about models.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Model {
    /// Which one; else what is found.
    pub(crate) name: Option<String>,
    /// Where its server is, if not at the usual place.
    pub(crate) address: Option<String>,
    /// How it is talked to.
    pub(crate) family: Family,
    /// With how many threads a model file is run; else one less than the machine has.
    pub(crate) threads: Option<NonZeroUsize>,
    /// How many tokens a model file is given room for; else what it was made for, up to a limit of the engine's.
    pub(crate) context_tokens: Option<NonZeroU32>,
    /// How many tokens one turn may have.
    pub(crate) max_tokens: NonZeroU32,
    /// How freely it chooses.
    #[serde(deserialize_with = "temperature")]
    pub(crate) temperature: f32,
    /// How many turns it may take for one message.
    pub(crate) turns: NonZeroU32,
    /// How many tokens it may read and write in a day; 0 for any number.
    pub(crate) tokens_a_day: u64,
    /// How long a server may be silent.
    pub(crate) timeout_seconds: u64,
    /// The folder of the person's own prompts.
    pub(super) prompts: Option<String>,
    /// Whether the address was given for this call, by the environment.
    #[serde(skip)]
    pub(super) has_own_address: bool,
}

/// How a model is talked to.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Family {
    /// By its size and its name.
    #[default]
    Auto,
    /// Many actions a turn.
    Capable,
    /// One short line a turn, with examples.
    Small,
    /// As the tuned mem-agent model was taught.
    MemAgent,
}

impl Default for Model {
    fn default() -> Self {
        let number = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            name: None,
            address: None,
            family: Family::Auto,
            threads: None,
            context_tokens: None,
            max_tokens: number(1_024),
            temperature: 0.0,
            turns: number(8),
            tokens_a_day: 0,
            timeout_seconds: 120,
            prompts: None,
            has_own_address: false,
        }
    }
}

impl Model {
    /// Which model is wanted, where the command names one or not. A name of the command's is another model than that of the
    /// settings, so an address of theirs counts only for the same provider; one that the environment gives always does.
    pub(crate) fn wanted(&self, named: Option<&str>) -> Wanted {
        let provider = |name: &str| name.split_once(BETWEEN).map(|(provider, _)| provider.to_owned());
        match named {
            None => Wanted { name: self.name.clone(), address: self.address.clone() },
            Some(name) => {
                let is_same =
                    |set: &String| set == name || provider(name).is_some_and(|own| provider(set) == Some(own));
                let is_same = self.name.as_ref().is_some_and(is_same);
                Wanted {
                    name: Some(name.to_owned()),
                    address: self.address.clone().filter(|_| is_same || self.has_own_address),
                }
            }
        }
    }
}

fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    let number = f32::deserialize(deserializer)?;
    if (0.0..=2.0).contains(&number) {
        Ok(number)
    } else {
        Err(serde::de::Error::custom("`temperature` is a number from 0 to 2"))
    }
}

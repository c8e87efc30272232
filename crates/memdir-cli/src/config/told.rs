//! What models are told of the settings: what may be known of them, and that the others are there.

use std::path::Path;

use super::Sources;
use memdir_core::report::{ConfigKey, Failure};

/// The keys whose values no model is told: places on this machine, addresses, and names of notes that a client may not see.
const UNTOLD: &[&str] = &[
    "state",
    "model.name",
    "model.address",
    "model.prompts",
    "search.embeddings",
    "search.address",
    "search.archive",
    "search.pinned",
];

impl Sources {
    /// The settings that hold for the memory at `root`, for `get_config`. Rules are none of them.
    ///
    /// # Errors
    ///
    /// `config` for settings that cannot be read.
    pub(crate) fn told(&self, root: &Path) -> Result<Vec<ConfigKey>, Failure> {
        let told = self.holding(root)?.into_iter().map(|(section, key, value)| {
            let key = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
            let value = value.filter(|_| !UNTOLD.contains(&key.as_str()));
            ConfigKey { key, value: value.and_then(|value| serde_json::to_value(value).ok()) }
        });
        Ok(told.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Sources, UNTOLD};

    #[test]
    fn no_place_address_or_note_is_told() {
        let marked = "CANARY-7f3a";
        let file = format!(
            "state = \"/{marked}\"\n[model]\nname = \"/{marked}.gguf\"\naddress = \"http://{marked}/\"\nprompts = \"/{marked}\"\nturns = 5\n\
             [search]\nembeddings = \"{marked}\"\naddress = \"http://{marked}/\"\narchive = [\"{marked}\"]\npinned = [\"{marked}.md\"]\n\
             [[rule]]\npath = \"{marked}/**\"\nverdict = \"deny\"\n"
        );
        let sources = Sources { file: file.parse().unwrap(), ..Sources::default() };
        let told = sources.told(Path::new("/memory")).unwrap();
        assert!(!format!("{told:?}").contains(marked), "{told:?}");
        let value = |key: &str| told.iter().find(|told| told.key == key).unwrap().value.clone();
        assert_eq!(value("model.turns"), Some(5.into()));
        assert_eq!(value("permission.mcp"), Some("flag".into()));
        assert_eq!(value("durability"), Some("full".into()));
        assert_eq!(value("tools.audit_arguments"), Some(false.into()));
        assert!(UNTOLD.iter().all(|key| value(key).is_none()), "each is known, and none is told");
    }
}

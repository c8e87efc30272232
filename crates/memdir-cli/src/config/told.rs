//! What models are told of the settings: what may be known of them, and that the others are there.

use std::path::Path;

use super::Sources;
use memdir_core::report::{ConfigKey, Failure};

/// The keys whose values models are told. Of the others they learn the names: what they hold may be a place on this machine, an address,
/// or the name of a note that a client may not see.
const TOLD: &[&str] = &[
    "durability",
    "permission.exec",
    "permission.cli",
    "permission.mcp",
    "permission.chat",
    "permission.ask",
    "permission.inbox",
    "permission.inbox_days",
    "limits.note_bytes",
    "limits.memory_bytes",
    "limits.file_bytes",
    "limits.batch_actions",
    "limits.batch_seconds",
    "limits.lock_seconds",
    "limits.other_extensions",
    "history.keep_days",
    "history.keep_bytes",
    "agent.removals",
    "model.family",
    "model.threads",
    "model.context_tokens",
    "model.max_tokens",
    "model.temperature",
    "model.turns",
    "model.tokens_a_day",
    "model.timeout_seconds",
    "facts.past_status",
    "hooks.conversations",
    "hooks.milliseconds",
    "tools.audit_arguments",
    "tools.tokens",
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
            let value = value.filter(|_| TOLD.contains(&key.as_str()));
            ConfigKey { key, value: value.and_then(|value| serde_json::to_value(value).ok()) }
        });
        Ok(told.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Sources, TOLD};

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
        let untold: Vec<&str> = told.iter().map(|told| told.key.as_str()).filter(|key| !TOLD.contains(key)).collect();
        // A new key is here until somebody has thought about it.
        let names = ["name", "address", "prompts"].map(|key| format!("model.{key}")).into_iter();
        let names = names.chain(["embeddings", "address", "archive", "pinned"].map(|key| format!("search.{key}")));
        assert_eq!(untold, ["state".to_owned()].into_iter().chain(names).collect::<Vec<_>>());
        assert!(untold.iter().all(|key| value(key).is_none()));
        assert!(TOLD.iter().all(|key| told.iter().any(|told| told.key == *key)), "each is a key");
    }
}

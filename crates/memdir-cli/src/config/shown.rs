//! What holds for a memory, setting by setting, and where each comes from: for the page that shows it.

use std::path::Path;

use toml::{Table, Value};

use super::{KEYS, Sources, canonical, wrong};
use memdir_core::report::Failure;
use memdir_web::{Setting, SettingsShown};

/// A section, a key, and what holds for it.
type Holding = (&'static str, &'static str, Option<Value>);

impl Sources {
    /// Says what holds for the memory at `root`. Keys of providers are no settings, and are not here; what an address has before its
    /// `@` is left out.
    ///
    /// # Errors
    ///
    /// `config` for settings that cannot be read.
    pub(crate) fn shown(&self, root: &Path) -> Result<SettingsShown, Failure> {
        let rules = self.for_memory(root)?.rule.iter().map(ToString::to_string).collect();
        let is_of_memory = |path: &str| canonical(&self.expand(path)).as_deref() == Some(root);
        let own: Vec<&Table> =
            self.memories().filter(|(path, _)| is_of_memory(path)).filter_map(|(_, table)| table.as_table()).collect();
        let mut settings = Vec::new();
        for (section, key, value) in self.holding(root)? {
            let variable = variable(section, key);
            let source = if self.environment.contains_key(&variable) {
                variable.clone()
            } else if own.iter().any(|table| at(table, section, key).is_some()) {
                "settings file, for this memory".to_owned()
            } else if at(&self.file, section, key).is_some() {
                "settings file".to_owned()
            } else {
                "default".to_owned()
            };
            let value = value.map(|value| without_user(&value.to_string()));
            let (section, key) = (section.to_owned(), key.to_owned());
            settings.push(Setting { section, key, value, source, variable: Some(variable) });
        }
        let file = self.path().map(|path| path.to_string_lossy().into_owned());
        Ok(SettingsShown { file, settings, rules })
    }

    /// Each key but those of rules, with its section and what holds for the memory at `root`.
    pub(super) fn holding(&self, root: &Path) -> Result<Vec<Holding>, Failure> {
        let unsayable = |error: toml::ser::Error| wrong(format!("the settings cannot be shown: {error}"));
        let holds = Table::try_from(&self.for_memory(root)?).map_err(unsayable)?;
        Ok(keys().map(|(section, key)| (section, key, at(&holds, section, key).cloned())).collect())
    }
}

/// Each key but those of rules, with its section.
pub(super) fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    // What is a table of its own is a section.
    let is_section = |key: &str| key == "memory" || KEYS.iter().any(|(name, _)| *name == key);
    let sections = KEYS.iter().filter(|(section, _)| *section != "rule");
    let keys = sections.flat_map(|(section, keys)| keys.iter().map(|key| (*section, *key)));
    keys.filter(move |(section, key)| !(section.is_empty() && is_section(key)))
}

pub(super) fn at<'t>(table: &'t Table, section: &str, key: &str) -> Option<&'t Value> {
    if section.is_empty() { table.get(key) } else { table.get(section)?.get(key) }
}

/// The variable that sets a key.
pub(super) fn variable(section: &str, key: &str) -> String {
    let between = if section.is_empty() { "" } else { "_" };
    format!("MEMDIR_{section}{between}{key}").to_ascii_uppercase()
}

/// An address without the name and the password that may stand in it.
fn without_user(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_says_where_it_comes_from() {
        let folder = tempfile::tempdir().unwrap();
        let root = canonical(folder.path()).unwrap();
        let file = format!(
            "durability = \"atomic\"\n[permission]\nchat = \"all\"\nmcp = \"ask\"\n[model]\naddress = \"http://me:secret@host.example/v1\"\n[memory.{:?}.permission]\nmcp = \"all\"\n",
            root.to_str().unwrap()
        );
        let environment = [("MEMDIR_HISTORY_KEEP_DAYS".to_owned(), "7".to_owned())].into();
        let sources = Sources { file: file.parse().unwrap(), environment, ..Sources::default() };
        let shown = sources.shown(&root).unwrap();
        let found = |section: &str, key: &str| {
            let is_it = |setting: &&Setting| setting.section == section && setting.key == key;
            let setting = shown.settings.iter().find(is_it).unwrap();
            format!("{} {}", setting.value.as_deref().unwrap_or("-"), setting.source)
        };
        assert_eq!(found("", "durability"), "\"atomic\" settings file");
        assert_eq!(found("", "state"), "- default");
        assert_eq!(found("permission", "chat"), "\"all\" settings file");
        assert_eq!(found("permission", "mcp"), "\"all\" settings file, for this memory");
        assert_eq!(found("permission", "exec"), "\"off\" default");
        assert_eq!(found("history", "keep_days"), "7 MEMDIR_HISTORY_KEEP_DAYS");
        assert_eq!(found("model", "address"), "\"http://host.example/v1\" settings file");
        assert_eq!(
            shown.settings.len(),
            KEYS.iter().filter(|(name, _)| !matches!(*name, "" | "rule")).map(|(_, keys)| keys.len()).sum::<usize>()
                + 2
        );
    }
}

//! Giving a setting another value, for the person who types it.

use std::path::Path;

use toml::Table as Values;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::shown::{at, keys, variable};
use super::{Sources, WHERE, edit, read_file, suggest, typed, wrong};
use memdir_core::report::{Code, Failure};
use memdir_plan::MOST_PINNED;

impl Sources {
    /// Sets a key, such as `permission.mcp`, in the settings file: for the memory at `root` where the file sets it for that memory
    /// alone, else for all. Gives the variable of the environment that holds instead, where there is one.
    ///
    /// # Errors
    ///
    /// `usage` for a key that there is not, `config` for a value that it cannot have, and where the file cannot be read or written.
    pub(crate) fn set(&self, root: &Path, asked: &str, value: &str) -> Result<Option<String>, Failure> {
        let (section, key) = known(asked)?;
        let file = self.file_to_change()?;
        let lock = edit::lock(&file)?;
        let now = Self { file: read_file(&file)?, ..self.clone() };
        let sets = |table: &toml::Value| table.as_table().is_some_and(|table| at(table, section, key).is_some());
        let own = now.memories().filter(|(memory, table)| now.is_of(memory, root) && sets(table)).last();
        let memory = own.map(|(memory, _)| memory.to_owned());
        let value = typed(&if section.is_empty() { key.to_owned() } else { format!("{section}_{key}") }, value);
        now.check_value(root, (section, key), &value)?;
        let value: Value = value.to_string().parse().map_err(|_| wrong("the value cannot be written".to_owned()))?;
        edit::change(&file, &lock, |document| put(document, memory.as_deref(), (section, key), value))?;
        let variable = variable(section, key);
        Ok(self.environment.contains_key(&variable).then_some(variable))
    }

    /// There is no setting of this name; the hint names the nearest.
    pub(crate) fn no_setting(asked: &str) -> Failure {
        let names: Vec<String> = keys().map(|(section, key)| name(section, key)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shown = memdir_core::catalog::shorten(asked);
        Failure { code: Code::Usage, ..suggest(format!("there is no setting `{shown}`"), asked, &names) }
    }

    /// Whether all settings can still be read where a key has this value, whatever the environment says.
    fn check_value(&self, root: &Path, (section, key): (&str, &str), value: &toml::Value) -> Result<(), Failure> {
        let mut only = Values::new();
        let place = if section.is_empty() {
            &mut only
        } else {
            let inner = only.entry(section).or_insert_with(|| toml::Value::Table(Values::new()));
            inner.as_table_mut().ok_or_else(|| wrong("the settings cannot be changed".to_owned()))?
        };
        place.insert(key.to_owned(), value.clone());
        // The value was typed, and is in no file.
        let refused = |failure: Failure| match failure.hint.as_deref() {
            Some(WHERE) => {
                failure.with_hint("nothing was changed; `memdir config` lists the settings with their values")
            }
            _ => failure,
        };
        let config = Self { file: only, ..Self::default() }.for_memory(root).map_err(refused)?;
        let pinned = config.search.pinned.len();
        if pinned > MOST_PINNED {
            let failure = wrong(format!("at most {MOST_PINNED} notes are pinned, and these are {pinned}"));
            return Err(failure.with_hint("leave some out"));
        }
        let limits = &config.limits;
        if limits.batch_actions == 0 || limits.batch_seconds == 0 || limits.note_bytes == 0 {
            return Err(wrong(format!("with {key} = 0 nothing could be done")).with_hint("give it at least 1"));
        }
        config.engine(memdir_host::now).map(drop)
    }
}

/// A key and its section.
fn known(asked: &str) -> Result<(&'static str, &'static str), Failure> {
    let found = keys().find(|(section, key)| name(section, key) == asked);
    found.ok_or_else(|| Sources::no_setting(asked))
}

/// How a setting is named on the command line.
fn name(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// Puts the value in its place; what stands around it stays.
fn put(document: &mut DocumentMut, memory: Option<&str>, (section, key): (&str, &str), value: Value) {
    let root: Option<&mut dyn TableLike> = match memory {
        None => Some(document.as_table_mut()),
        Some(memory) => document.get_mut("memory").and_then(|all| all.get_mut(memory)?.as_table_like_mut()),
    };
    let Some(mut table) = root else { return };
    if !section.is_empty() {
        let Some(inner) = table.entry(section).or_insert_with(|| Item::Table(Table::new())).as_table_like_mut() else {
            return;
        };
        table = inner;
    }
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests play the person, who uses paths")]

    use std::path::Path;

    use super::Sources;
    use memdir_core::report::Code;

    fn set(text: &str, key: &str, value: &str) -> Result<String, Code> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let sources = Sources { path: Some(path.clone()), ..Sources::default() };
        sources.set(Path::new("/"), key, value).map_err(|failure| failure.code)?;
        Ok(std::fs::read_to_string(&path).unwrap())
    }

    #[test]
    fn only_the_value_changes() {
        let text =
            "# mine\n[permission]\nmcp = \"flag\"   # as ever\n\n[[rule]]\npath = \"a.md\"\nverdict = \"deny\"\n";
        assert_eq!(set(text, "permission.mcp", "ask").unwrap(), text.replace("flag", "ask"));
        assert_eq!(set("", "history.keep_days", "7").unwrap(), "[history]\nkeep_days = 7\n");
        assert_eq!(set("", "tools.audit_arguments", "true").unwrap(), "[tools]\naudit_arguments = true\n");
        assert_eq!(set("[limits]\n", "durability", "atomic").unwrap(), "durability = \"atomic\"\n[limits]\n");
        assert_eq!(set("", "search.pinned", "user.md, a.md").unwrap(), "[search]\npinned = [\"user.md\", \"a.md\"]\n");
        let listed = "[search]\narchive = [\"x\", \"y z\"]\n";
        assert_eq!(set("", "search.archive", "[\"x\", 'y z']").unwrap(), listed);
        let own = "[memory.\"/\"]\npermission.mcp = \"flag\"\n";
        assert_eq!(set(own, "permission.mcp", "ask").unwrap(), own.replace("flag", "ask"));
        assert_eq!(set(own, "permission.exec", "ask").unwrap(), format!("{own}\n[permission]\nexec = \"ask\"\n"));
    }

    #[test]
    fn what_cannot_be_is_not_written() {
        assert_eq!(set("", "permission.mcp", "perhaps"), Err(Code::Config));
        assert_eq!(set("", "history.keep_days", "-1"), Err(Code::Config));
        assert_eq!(set("", "permision.mcp", "ask"), Err(Code::Usage));
        assert_eq!(set("", "rule.verdict", "ask"), Err(Code::Usage));
        assert_eq!(set("", "memory", "x"), Err(Code::Usage));
        assert_eq!(set("", "search.archive", "[\"x\""), Err(Code::Config));
        assert_eq!(set("", "search.pinned", "a.md,b.md,c.md,d.md,e.md,f.md,g.md,h.md,i.md"), Err(Code::Config));
    }
}

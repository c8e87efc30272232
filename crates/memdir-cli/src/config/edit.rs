//! Changes to the settings file: standing answers that the person gives, or takes back.
//!
//! Comments, order and all other keys stay as they are. The file is replaced in one instant, under a lock on its folder, and
//! only when what comes out can be read as settings again.

use std::path::{Path, PathBuf};

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::{Sources, canonical, check_table, read_file, read_text, wrong};
use crate::file::{self, Lock};
use memdir_core::report::Failure;
use memdir_policy::{Rule, Rules};

/// Where a rule stands in the settings: in the table of a memory or at the top, and the how manieth it is there.
#[derive(Clone, Debug, Eq, PartialEq)]
struct RulePlace {
    memory: Option<String>,
    index: usize,
}

impl Sources {
    /// Takes the rule of this number, from 1, out of the settings for the memory at `root`, and gives it.
    ///
    /// # Errors
    ///
    /// `not_found` for a number that no rule has, `config` where the settings cannot be read or written.
    pub(crate) fn remove_rule(&self, root: &Path, number: usize) -> Result<Rule, Failure> {
        let file = self.file_to_change()?;
        let lock = lock(&file)?;
        // What was read at the start may have been changed by another process.
        let now = Self { file: read_file(&file)?, ..self.clone() };
        let rule = now.for_memory(root)?.rule.into_iter().nth(number.wrapping_sub(1));
        let (Some(rule), Some(place)) = (rule, now.places(root).into_iter().nth(number.wrapping_sub(1))) else {
            let failure = Failure::new(memdir_core::report::Code::NotFound, format!("there is no rule {number}"));
            return Err(failure.with_hint("`memdir rules` shows the rules with their numbers"));
        };
        change(&file, &lock, |document| {
            let table = match &place.memory {
                None => Some(document.as_table_mut() as &mut dyn TableLike),
                Some(memory) => {
                    document.get_mut("memory").and_then(|memories| memories.get_mut(memory)?.as_table_like_mut())
                }
            };
            if let Some(rules) = table.and_then(|table| table.get_mut("rule")) {
                take(rules, place.index);
            }
        })?;
        Ok(rule)
    }

    /// Adds a rule for the memory at `root`, and gives its number.
    ///
    /// # Errors
    ///
    /// `config` where the settings cannot be read or written, or the rule is none.
    pub(crate) fn add_rule(&self, root: &Path, rule: &Rule) -> Result<usize, Failure> {
        let file = self.file_to_change()?;
        let lock = lock(&file)?;
        let now = Self { file: read_file(&file)?, ..self.clone() };
        let mut rules = now.for_memory(root)?.rule;
        if let Some(at) = rules.iter().position(|known| known == rule) {
            return Ok(at + 1);
        }
        rules.push(rule.clone());
        Rules::new(rules).map_err(|error| Failure { hint: error.hint(), ..wrong(error.to_string()) })?;
        let known = now.memories().map(|(key, _)| key).find(|key| now.is_of(key, root)).map(str::to_owned);
        let key = match known.or_else(|| root.to_str().map(str::to_owned)) {
            Some(key) => key,
            None => return Err(wrong("the memory's path is no UTF-8, so no setting can name it".to_owned())),
        };
        change(&file, &lock, |document| put(document, &key, rule))?;
        let after = Self { file: read_file(&file)?, ..self.clone() };
        let number = after.for_memory(root)?.rule.iter().position(|known| known == rule);
        number.map(|at| at + 1).ok_or_else(|| wrong("the rule was written and is not there".to_owned()))
    }

    /// Where the rules for the memory at `root` stand, in the order of their numbers.
    fn places(&self, root: &Path) -> Vec<RulePlace> {
        let count = |table: Option<&toml::Value>| table.and_then(toml::Value::as_array).map_or(0, Vec::len);
        let top = (0..count(self.file.get("rule"))).map(|index| RulePlace { memory: None, index });
        let own = self.memories().filter(|(key, _)| self.is_of(key, root)).flat_map(|(key, table)| {
            (0..count(table.get("rule"))).map(|index| RulePlace { memory: Some(key.to_owned()), index })
        });
        top.chain(own).collect()
    }

    pub(super) fn is_of(&self, key: &str, root: &Path) -> bool {
        canonical(&self.expand(key)).as_deref() == Some(root)
    }

    /// The settings file itself, where its name is a link to it.
    pub(super) fn file_to_change(&self) -> Result<PathBuf, Failure> {
        let none = || wrong("this system names no folder for settings".to_owned());
        let path = self.path().ok_or_else(none)?;
        file::follow(path).map_err(|error| wrong(format!("the settings file cannot be found: {}", error.kind())))
    }
}

pub(super) fn lock(file: &Path) -> Result<Lock, Failure> {
    Lock::of(file).map_err(|error| wrong(format!("the folder of the settings cannot be made: {}", error.kind())))
}

/// Takes one rule out of a list of tables, however it is written.
fn take(rules: &mut Item, index: usize) {
    match rules {
        Item::ArrayOfTables(tables) if index < tables.len() => drop(tables.remove(index)),
        Item::Value(Value::Array(list)) if index < list.len() => drop(list.remove(index)),
        Item::None | Item::Value(_) | Item::Table(_) | Item::ArrayOfTables(_) => {}
    }
}

/// Puts a rule at the end of those of one memory.
fn put(document: &mut DocumentMut, memory: &str, rule: &Rule) {
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let memories = document.entry("memory").or_insert_with(implicit);
    // What is in braces holds only what can be.
    let is_inline = memories.is_inline_table();
    let Some(memories) = memories.as_table_like_mut() else { return };
    let empty = || if is_inline { value(InlineTable::new()) } else { implicit() };
    let own = memories.entry(memory).or_insert_with(empty);
    let is_inline = own.is_inline_table();
    let Some(own) = own.as_table_like_mut() else { return };
    let fields = fields(rule);
    let none = || if is_inline { value(Array::new()) } else { Item::ArrayOfTables(ArrayOfTables::new()) };
    match own.entry("rule").or_insert_with(none) {
        Item::Value(Value::Array(list)) => {
            list.push(fields.into_iter().collect::<InlineTable>());
        }
        Item::ArrayOfTables(tables) => {
            let mut table = Table::new();
            for (key, field) in fields {
                table.insert(key, value(field));
            }
            tables.push(table);
        }
        Item::None | Item::Value(_) | Item::Table(_) => {}
    }
}

/// What a rule says, key by key.
fn fields(rule: &Rule) -> Vec<(&'static str, String)> {
    let Rule { action, path, client, detector, verdict } = rule;
    let given = [("action", action), ("path", path), ("client", client), ("detector", detector)];
    let mut fields: Vec<_> = given.into_iter().filter_map(|(key, text)| Some((key, text.clone()?))).collect();
    fields.push(("verdict", verdict.to_string()));
    fields
}

/// Changes the file: the whole of it is written beside it and takes its place.
pub(super) fn change(file: &Path, lock: &Lock, edit: impl FnOnce(&mut DocumentMut)) -> Result<(), Failure> {
    let (text, mode) = match read_text(file)? {
        Some((text, metadata)) => (text, Some(metadata.permissions())),
        None => (String::new(), None),
    };
    if mode.as_ref().is_some_and(std::fs::Permissions::readonly) {
        return Err(wrong("the settings file cannot be written: it is read-only".to_owned()));
    }
    let mut document: DocumentMut = text.parse().map_err(|_| wrong("the settings file is no TOML".to_owned()))?;
    edit(&mut document);
    let has_carriage_returns = text.contains("\r\n");
    let mut text = document.to_string();
    if has_carriage_returns && !text.contains("\r\n") {
        // The parser takes them away.
        text = text.replace('\n', "\r\n");
    }
    let table: toml::Table = text.parse().map_err(|_| wrong("the settings cannot be changed".to_owned()))?;
    check_table("", &table)?;
    lock.replace(file, text.as_bytes(), mode)
        .map_err(|error| wrong(format!("the settings file cannot be written: {}", error.kind())))
}

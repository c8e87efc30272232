//! Settings: one TOML file in the user's configuration folder, then the environment, then flags.
//!
//! Nothing inside a memory is read as settings. An unknown key is an error that names the nearest one.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

mod edit;
mod live;
mod model;
mod search;
mod set;
mod shown;
mod told;

use super::file::{self, Stamp};
use memdir_agent::Removals;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_engine as engine;
use memdir_hub::TokenPlace;
use memdir_plan::Limits;
use memdir_policy::{Mode, Rule, Rules};
use memdir_vault::{Durability, Options};

pub(super) use model::{Family as ModelFamily, Model};
pub(super) use search::Search;

/// The largest settings file that is read.
const MOST_BYTES: u64 = 1 << 20;
/// The mark of what a hub has started, which may be memdir itself. It is no setting.
const HUB_MARK: &str = "MEMDIR_HUB";
/// The sections and their keys; the empty section is the top of the file.
const KEYS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "durability",
            "state",
            "rule",
            "permission",
            "limits",
            "history",
            "agent",
            "model",
            "search",
            "facts",
            "hooks",
            "tools",
            "memory",
        ],
    ),
    ("permission", &["exec", "cli", "mcp", "chat", "ask", "inbox", "inbox_days"]),
    (
        "limits",
        &[
            "note_bytes",
            "memory_bytes",
            "file_bytes",
            "batch_actions",
            "batch_seconds",
            "lock_seconds",
            "other_extensions",
        ],
    ),
    ("history", &["keep_days", "keep_bytes"]),
    ("agent", &["removals"]),
    (
        "model",
        &[
            "name",
            "address",
            "family",
            "threads",
            "context_tokens",
            "max_tokens",
            "temperature",
            "turns",
            "tokens_a_day",
            "timeout_seconds",
            "prompts",
        ],
    ),
    ("search", &["embeddings", "address", "archive", "pinned"]),
    ("facts", &["past_status"]),
    ("hooks", &["conversations", "milliseconds"]),
    ("tools", &["audit_arguments", "tokens"]),
    ("rule", &["action", "path", "client", "detector", "verdict"]),
];

/// What the person has settled, for one memory.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Config {
    pub(super) durability: Durability,
    /// The folder below which the history is kept instead of in the memory.
    pub(super) state: Option<String>,
    pub(super) permission: Permission,
    limits: LimitKeys,
    history: HistoryKeys,
    pub(super) rule: Vec<Rule>,
    pub(super) agent: Agent,
    pub(super) model: Model,
    pub(super) search: Search,
    facts: FactKeys,
    pub(super) hooks: Hooks,
    pub(super) tools: Tools,
}

/// How the tools of other servers are used.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Tools {
    /// Whether the audit keeps the arguments of each call.
    pub(super) audit_arguments: bool,
    /// Where logins at servers are kept, for all memories.
    tokens: TokenPlace,
}

/// What sets a note aside as past.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
struct FactKeys {
    /// Values of `status` in its front matter.
    past_status: Vec<String>,
}

impl Default for FactKeys {
    fn default() -> Self {
        Self { past_status: engine::PAST_STATUS.map(str::to_owned).into() }
    }
}

/// What the hooks of assistants do.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Hooks {
    /// Whether conversations are kept as notes.
    pub(super) conversations: bool,
    /// How long an answer may take, in milliseconds.
    pub(super) milliseconds: u64,
}

impl Default for Hooks {
    fn default() -> Self {
        Self { conversations: false, milliseconds: 1_000 }
    }
}

/// How memdir's own agent works.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Agent {
    /// What becomes of a turn that takes something away.
    pub(super) removals: Removals,
}

/// What becomes of calls that somebody should be asked about, by door.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Permission {
    pub(super) exec: Mode,
    /// Of what the person types herself.
    pub(super) cli: Mode,
    pub(super) mcp: Mode,
    pub(super) chat: Mode,
    pub(super) ask: Mode,
    /// Where what has to be asked waits for the person.
    inbox: engine::InboxPlace,
    /// How many days it waits; with 0 nothing does.
    inbox_days: u64,
}

impl Default for Permission {
    fn default() -> Self {
        let inbox = engine::InboxPlace::default();
        Self { exec: Mode::Off, cli: Mode::Off, mcp: Mode::Flag, chat: Mode::Ask, ask: Mode::Ask, inbox, inbox_days: 7 }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
struct LimitKeys {
    note_bytes: u64,
    memory_bytes: u64,
    file_bytes: u64,
    batch_actions: usize,
    batch_seconds: u64,
    lock_seconds: u64,
    other_extensions: bool,
}

impl Default for LimitKeys {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            note_bytes: limits.note_bytes,
            memory_bytes: limits.memory_bytes,
            file_bytes: limits.file_bytes,
            batch_actions: 100,
            batch_seconds: 30,
            lock_seconds: 10,
            other_extensions: limits.other_extensions,
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default)]
struct HistoryKeys {
    keep_days: u64,
    keep_bytes: u64,
}

impl Default for HistoryKeys {
    fn default() -> Self {
        Self { keep_days: 90, keep_bytes: Options::default().keep_bytes }
    }
}

impl Config {
    /// Lets nothing wait that would be gone with this process, as where a process ends with its answer.
    pub(super) fn for_one_turn(&mut self) {
        if self.permission.inbox == engine::InboxPlace::Process {
            self.permission.inbox_days = 0;
        }
    }

    /// How an engine works under these settings.
    pub(super) fn engine(&self, clock: fn() -> Timestamp) -> Result<engine::Settings, Failure> {
        let limits = &self.limits;
        Ok(engine::Settings {
            limits: Limits {
                note_bytes: limits.note_bytes,
                memory_bytes: limits.memory_bytes,
                file_bytes: limits.file_bytes,
                other_extensions: limits.other_extensions,
            },
            batch_actions: limits.batch_actions,
            batch_time: Duration::from_secs(limits.batch_seconds),
            rules: self.rules()?,
            past_status: self.facts.past_status.iter().map(|status| status.trim().to_lowercase()).collect(),
            archive: self.search.archive()?,
            pinned: self.search.pinned.clone(),
            index: engine::IndexPlace::Nowhere,
            inbox: self.permission.inbox,
            keep_proposals: Duration::from_secs(self.permission.inbox_days.saturating_mul(24 * 60 * 60)),
            clock,
        })
    }

    /// The rules for the memory.
    fn rules(&self) -> Result<Rules, Failure> {
        Rules::new(self.rule.clone()).map_err(|error| Failure { hint: error.hint(), ..wrong(error.to_string()) })
    }

    /// The largest note that may be written.
    pub(super) fn note_bytes(&self) -> usize {
        usize::try_from(self.limits.note_bytes).unwrap_or(usize::MAX)
    }

    /// How long to wait for another process that writes.
    pub(super) fn lock_timeout(&self) -> Duration {
        Duration::from_secs(self.limits.lock_seconds)
    }

    /// How a vault works under these settings.
    pub(super) fn vault(&self) -> Options {
        Options {
            durability: self.durability,
            lock_timeout: self.lock_timeout(),
            keep_for: Duration::from_secs(self.history.keep_days.saturating_mul(24 * 60 * 60)),
            keep_bytes: self.history.keep_bytes,
            ..Options::default()
        }
    }
}

/// Everything outside the memory that says how to work: the file and the environment.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    file: Table,
    environment: BTreeMap<String, String>,
    home: Option<PathBuf>,
    path: Option<PathBuf>,
    /// What the file was just before it was read; `None` where there was none.
    stamp: Option<Stamp>,
}

impl Sources {
    /// Reads the settings file and the environment, once.
    pub(super) fn read() -> Result<Self, Failure> {
        let path = Self::place();
        let own = |(name, _): &(String, String)| name == "MEMDIR" || name.starts_with("MEMDIR_") && name != HUB_MARK;
        let environment = environment().into_iter().filter(own).collect();
        Self { environment, home: memdir_host::home(), path, ..Self::default() }.read_again()
    }

    /// Where the settings file of this person is, or would be.
    pub(super) fn place() -> Option<PathBuf> {
        Some(memdir_host::config_folder()?.join("config.toml"))
    }

    /// The same, with the settings file as it is now.
    fn read_again(&self) -> Result<Self, Failure> {
        let (file, stamp) = match &self.path {
            Some(path) => read_stamped(path)?,
            None => (Table::new(), None),
        };
        check_table("", &file)?;
        Ok(Self { file, stamp, ..self.clone() })
    }

    /// Where the settings file is, or would be.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether there is one.
    pub(super) fn has_file(&self) -> bool {
        !self.file.is_empty()
    }

    /// The user's home folder.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Where the person's own prompts are, or would be.
    pub(super) fn prompts_folder(&self, model: &Model) -> Option<PathBuf> {
        match &model.prompts {
            Some(folder) => Some(self.expand(folder)),
            None => Some(self.path.as_ref()?.with_file_name("prompts")),
        }
    }

    /// The memory to use when none is named: `MEMDIR`, the one with `default = true`, or `~/memdir`.
    pub(super) fn default_memory(&self) -> Option<PathBuf> {
        if let Some(memory) = self.environment.get("MEMDIR").filter(|memory| !memory.is_empty()) {
            return Some(PathBuf::from(memory));
        }
        let is_default = |table: &Value| table.get("default").and_then(Value::as_bool) == Some(true);
        let named = self.memories().find(|(_, table)| is_default(table)).map(|(path, _)| self.expand(path));
        named.or_else(|| self.home.as_ref().map(|home| home.join("memdir")))
    }

    /// The settings for the memory at `root`, a canonical path.
    pub(super) fn for_memory(&self, root: &Path) -> Result<Config, Failure> {
        let mut table = self.file.clone();
        table.remove("memory");
        for (path, own) in self.memories() {
            if canonical(&self.expand(path)).as_deref() == Some(root)
                && let Some(own) = own.as_table()
            {
                overlay(&mut table, own);
            }
        }
        table.remove("default");
        let mut read = config_of(table.clone());
        for (name, value) in self.environment.iter().filter(|(name, _)| *name != "MEMDIR") {
            set_from_environment(&mut table, name, value)?;
            if read.is_ok() {
                read = config_of(table.clone())
                    .map_err(|failure| failure.with_hint(format!("`{name}` in the environment says so")));
            }
        }
        let mut config = read?;
        config.model.has_own_address = self.environment.contains_key("MEMDIR_MODEL_ADDRESS");
        Ok(config)
    }

    /// Where logins at servers of tools are kept. No memory has a place of its own for them, since none has servers of its own.
    pub(super) fn tokens(&self) -> Result<TokenPlace, Failure> {
        Ok(self.for_memory(Path::new("/"))?.tools.tokens)
    }

    fn memories(&self) -> impl Iterator<Item = (&str, &Value)> {
        let memories = self.file.get("memory").and_then(Value::as_table);
        memories.into_iter().flatten().map(|(path, table)| (path.as_str(), table))
    }

    /// The same, with the history in the memory itself: for a copy that is thrown away.
    pub(super) fn without_state(mut self) -> Self {
        self.file.remove("state");
        self.environment.remove("MEMDIR_STATE");
        self
    }

    /// The folder for the history that the settings name.
    pub(super) fn state(&self, config: &Config) -> Result<Option<PathBuf>, Failure> {
        config.state.as_deref().map(|folder| self.state_at(folder)).transpose()
    }

    /// The same, of what they would name.
    pub(super) fn state_at(&self, folder: &str) -> Result<PathBuf, Failure> {
        let folder = self.expand(folder);
        if folder.is_absolute() {
            return Ok(folder);
        }
        Err(wrong("`state` is no absolute path".to_owned()).with_hint("begin it with `/` or `~/`"))
    }

    /// The memories that they name and that are not there, each with how many rules are for it alone.
    pub(super) fn absent_memories(&self) -> Vec<(PathBuf, usize)> {
        let rules = |own: &Value| own.get("rule").and_then(Value::as_array).map_or(0, Vec::len);
        let named = self.memories().map(|(path, own)| (self.expand(path), rules(own)));
        named.filter(|(path, _)| canonical(path).is_none()).collect()
    }

    /// A path as the settings have it, which may begin in the home folder.
    pub(super) fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }
}

/// Whether the person wants no colours.
pub(super) fn has_no_color() -> bool {
    std::env::vars_os().any(|(name, value)| name == "NO_COLOR" && !value.is_empty())
}

/// The environment of this process, as far as it is UTF-8.
pub(super) fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// A variable of the environment that belongs to others than memdir: a key, the address of a server.
pub(super) fn variable(name: &str) -> Option<String> {
    let found = std::env::vars_os().find(|(known, _)| known == name)?;
    found.1.into_string().ok().filter(|value| !value.is_empty())
}

#[expect(clippy::disallowed_methods, reason = "a path of the settings file is compared with the memory's, not opened")]
fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The text of the settings file, with what the system knows of it; `None` where there is none.
fn read_text(path: &Path) -> Result<Option<(String, Metadata)>, Failure> {
    let unreadable = |kind| wrong(format!("the settings file cannot be read: {}", file::why(kind)));
    let Some((bytes, metadata)) = file::read(path, MOST_BYTES).map_err(|error| unreadable(error.kind()))? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| unreadable(std::io::ErrorKind::InvalidData))?;
    Ok(Some((text, metadata)))
}

fn read_file(path: &Path) -> Result<Table, Failure> {
    Ok(read_stamped(path)?.0)
}

/// The settings file, with what it was just before it was read; `None` where there is none.
fn read_stamped(path: &Path) -> Result<(Table, Option<Stamp>), Failure> {
    let Some((text, metadata)) = read_text(path)? else { return Ok((Table::new(), None)) };
    let table = text.parse::<Table>().map_err(|error| {
        let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().lines().count().max(1));
        wrong(format!("the settings file, line {line}: {}", error.message()))
    })?;
    Ok((table, Some(Stamp::of(&metadata))))
}

fn config_of(table: Table) -> Result<Config, Failure> {
    table.try_into().map_err(|error: toml::de::Error| {
        let said = in_words(&error.to_string());
        wrong(said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
    })
}

/// What is said of a value of another type, with a name for the type of a number.
fn in_words(said: &str) -> String {
    let Some((before, kind)) = said.split_once("expected ") else { return said.to_owned() };
    let length = kind.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(kind.len());
    let (kind, rest) = kind.split_at_checked(length).unwrap_or((kind, ""));
    let kind = match kind {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other => other,
    };
    format!("{before}expected {kind}{rest}")
}

/// What `doctor` itself replaces by the place.
pub(super) const WHERE: &str = "`memdir doctor` shows where the settings file is";

fn wrong(message: String) -> Failure {
    Failure::new(Code::Config, message).with_hint(WHERE)
}

/// Checks that every key is known, in one table and those in it.
fn check_table(section: &str, table: &Table) -> Result<(), Failure> {
    let known = KEYS.iter().find(|(name, _)| *name == section).map_or(&[][..], |(_, keys)| keys);
    for (key, value) in table {
        if !known.contains(&key.as_str()) {
            return Err(unknown(section, key, known));
        }
        match (key.as_str(), value) {
            ("memory", Value::Table(memories)) => {
                for own in memories.values().filter_map(Value::as_table) {
                    let mut own = own.clone();
                    own.remove("default");
                    if own.contains_key("memory") {
                        return Err(unknown("memory", "memory", &[]));
                    }
                    if own.get("tools").is_some_and(|tools| tools.get("tokens").is_some()) {
                        let failure = wrong("`tools.tokens` cannot be set for one memory".to_owned());
                        return Err(failure.with_hint("set it in [tools]: it holds for all memories"));
                    }
                    check_table("", &own)?;
                }
            }
            ("memory", _) => return Err(wrong("`memory` has to be tables, such as [memory.\"~/notes\"]".to_owned())),
            (name, Value::Table(inner)) => check_table(name, inner)?,
            ("rule", Value::Array(rules)) => {
                rules.iter().filter_map(Value::as_table).try_for_each(|rule| check_table("rule", rule))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn unknown(section: &str, key: &str, known: &[&str]) -> Failure {
    let place = if section.is_empty() { String::new() } else { format!(" in [{section}]") };
    suggest(format!("unknown key `{}`{place} in the settings", memdir_core::catalog::shorten(key)), key, known)
}

/// A failure that names what is most like `key`, or all there is.
fn suggest(message: String, key: &str, known: &[&str]) -> Failure {
    let hint = match nearest(key, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there is {}", known.join(", ")),
    };
    Failure::new(Code::Config, message).with_hint(hint)
}

/// What is most like `key`, if anything is.
fn nearest<'k>(key: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let near = known.map(|name| (strsim::jaro_winkler(key, name), name)).filter(|(likeness, _)| *likeness > 0.7);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

/// Puts one table over another, section by section; lists are joined.
fn overlay(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => overlay(inner, over),
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Puts `MEMDIR_SECTION_KEY` into its place.
fn set_from_environment(table: &mut Table, name: &str, value: &str) -> Result<(), Failure> {
    let rest = name.strip_prefix("MEMDIR_").unwrap_or(name).to_ascii_lowercase();
    let typed = typed(&rest, value);
    if matches!(rest.as_str(), "durability" | "state") {
        table.insert(rest, typed);
        return Ok(());
    }
    let sections = KEYS.iter().filter(|(section, _)| !matches!(*section, "" | "rule"));
    for (section, keys) in sections.clone() {
        if let Some(key) = rest.strip_prefix(&format!("{section}_"))
            && keys.contains(&key)
        {
            let entry = table.entry((*section).to_owned()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = entry {
                inner.insert(key.to_owned(), typed);
            }
            return Ok(());
        }
    }
    let message = format!("unknown setting `{name}` in the environment");
    let keys = sections.flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}_{key}")));
    let keys: Vec<String> = keys.chain(["durability", "state", "memory"].map(str::to_owned)).collect();
    // What all names begin with makes none of them alike.
    Err(match nearest(&rest, keys.iter().map(String::as_str)) {
        Some("memory") => wrong(message).with_hint("did you mean `MEMDIR`?"),
        Some(key) => wrong(message).with_hint(format!("did you mean `MEMDIR_{}`?", key.to_ascii_uppercase())),
        None => wrong(message).with_hint("`memdir config` lists the settings"),
    })
}

/// What a variable of the environment says, as the settings file would say it.
fn typed(key: &str, value: &str) -> Value {
    let is_text =
        ["model_name", "model_address", "model_prompts", "search_embeddings", "search_address"].contains(&key);
    let is_list = ["facts_past_status", "search_archive", "search_pinned"].contains(&key);
    let items = || value.split(',').map(str::trim).filter(|item| !item.is_empty());
    let list = || Value::Array(items().map(|item| Value::String(item.to_owned())).collect());
    // As the settings file writes it, too.
    let written = || value.parse::<Value>().unwrap_or_else(|_| Value::String(value.to_owned()));
    match (value.parse::<i64>(), value.parse::<bool>(), value.parse::<f64>()) {
        _ if is_list => {
            if value.trim_start().starts_with('[') {
                written()
            } else {
                list()
            }
        }
        _ if is_text => Value::String(value.to_owned()),
        (Ok(number), _, _) => Value::Integer(number),
        (_, Ok(flag), _) => Value::Boolean(flag),
        (_, _, Ok(number)) if key == "model_temperature" => Value::Float(number),
        _ => Value::String(value.to_owned()),
    }
}

#[cfg(test)]
mod tests;

//! The assistants: where each keeps its configuration, how that is written, and what to say afterwards.

use std::path::PathBuf;

use super::asked;
use super::change::Format;
use crate::report::{Code, Failure};

/// One assistant.
#[derive(Debug)]
pub(super) struct Assistant {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) format: Format,
    /// What to say when it is set up.
    pub(super) say: &'static str,
    /// What to say when it is no longer.
    pub(super) gone: &'static str,
}

/// Where a configuration is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In the folder where programs of this system keep their settings.
    Settings(&'static [&'static str]),
    /// In the home folder, or in the folder that a variable names, where its name may be another.
    Home { path: &'static [&'static str], variable: Option<(&'static str, &'static str)> },
    /// In `~/.config/goose`, also on macOS, and in a folder of its maker on Windows.
    Goose,
    /// In `~/.lmstudio`, or where older ones had it.
    LmStudio,
}

const SERVERS: Format = Format::Json { list: "mcpServers", has_type: false };

impl Assistant {
    pub(super) fn of(named: asked::Assistant) -> Self {
        let (name, place, format, say, gone) = match named {
            asked::Assistant::ClaudeDesktop => (
                "claude-desktop",
                Place::Settings(&["Claude", "claude_desktop_config.json"]),
                SERVERS,
                "quit Claude Desktop and start it again, then ask: What do you know about me?",
                "quit Claude Desktop and start it again",
            ),
            asked::Assistant::ClaudeCode => (
                "claude-code",
                Place::Home { path: &[".claude.json"], variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")) },
                Format::Json { list: "mcpServers", has_type: true },
                "start a new session of Claude Code, then ask: What do you know about me?",
                "start a new session of Claude Code",
            ),
            asked::Assistant::Cursor => (
                "cursor",
                Place::Home { path: &[".cursor", "mcp.json"], variable: None },
                SERVERS,
                "restart Cursor, then ask its agent: What do you know about me?",
                "restart Cursor",
            ),
            asked::Assistant::Vscode => (
                "vscode",
                Place::Settings(&["Code", "User", "mcp.json"]),
                Format::Json { list: "servers", has_type: true },
                "restart VS Code, start the server `memdir` when it asks, then ask in agent mode: What do you know about me?",
                "restart VS Code",
            ),
            asked::Assistant::Codex => (
                "codex",
                Place::Home { path: &[".codex", "config.toml"], variable: Some(("CODEX_HOME", "config.toml")) },
                Format::Toml,
                "start a new session of Codex, then ask: What do you know about me?",
                "start a new session of Codex",
            ),
            asked::Assistant::Goose => (
                "goose",
                Place::Goose,
                Format::Yaml,
                "start a new session of goose, then ask: What do you know about me?",
                "start a new session of goose",
            ),
            asked::Assistant::LmStudio => (
                "lm-studio",
                Place::LmStudio,
                SERVERS,
                "restart LM Studio, turn `mcp/memdir` on in a chat, then ask: What do you know about me?",
                "restart LM Studio",
            ),
        };
        Self { name, place, format, say, gone }
    }
}

/// What the environment says of where files are; read once.
#[derive(Debug)]
pub(super) struct Home {
    home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME` or `~/.config`, also on macOS.
    config: Option<PathBuf>,
    /// Where programs of this system keep their settings.
    settings: Option<PathBuf>,
    variables: Vec<(String, PathBuf)>,
}

impl Home {
    pub(super) fn read() -> Self {
        let all: Vec<_> = std::env::vars_os().filter(|(_, value)| !value.is_empty()).collect();
        let named = |wanted: &str| all.iter().find(|(name, _)| name == wanted).map(|(_, value)| PathBuf::from(value));
        let home = etcetera::home_dir().ok();
        let below = |folder: &str| home.as_ref().map(|home| home.join(folder));
        let config = named("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).or_else(|| below(".config"));
        let settings = match std::env::consts::OS {
            "windows" => named("APPDATA").or_else(|| below("AppData/Roaming")),
            "macos" => below("Library/Application Support"),
            _ => config.clone(),
        };
        let variables = ["CLAUDE_CONFIG_DIR", "CODEX_HOME"].into_iter();
        let variables = variables.filter_map(|name| Some((name.to_owned(), named(name)?))).collect();
        Self { home, config, settings, variables }
    }

    /// The file of a place; it need not be there.
    pub(super) fn file_of(&self, place: Place) -> Result<PathBuf, Failure> {
        let file = match place {
            Place::Settings(path) => self.settings.as_ref().map(|folder| joined(folder.clone(), path)),
            Place::Home { path, variable } => {
                let named = variable.and_then(|(name, file)| {
                    let (_, folder) = self.variables.iter().find(|(known, _)| known == name)?;
                    Some(folder.join(file))
                });
                named.or_else(|| Some(joined(self.home.clone()?, path)))
            }
            Place::Goose if cfg!(windows) => {
                let folder = self.settings.as_ref();
                folder.map(|folder| joined(folder.clone(), &["Block", "goose", "config", "config.yaml"]))
            }
            Place::Goose => self.config.as_ref().map(|folder| joined(folder.clone(), &["goose", "config.yaml"])),
            Place::LmStudio => self.home.as_ref().map(|home| {
                let (now, before) = (home.join(".lmstudio"), home.join(".cache/lm-studio"));
                if !now.is_dir() && before.is_dir() { before.join("mcp.json") } else { now.join("mcp.json") }
            }),
        };
        file.ok_or_else(|| Failure::new(Code::Config, "this system names no home folder").with_hint("set `HOME`"))
    }
}

/// Whether this person uses an assistant here: its configuration is there, or the folder made for it.
pub(super) fn is_here(home: &Home, assistant: &Assistant) -> bool {
    let Ok(file) = home.file_of(assistant.place) else { return false };
    file.is_file() || file.parent().is_some_and(|folder| Some(folder) != home.home.as_deref() && folder.is_dir())
}

fn joined(folder: PathBuf, path: &[&str]) -> PathBuf {
    path.iter().fold(folder, |folder, name| folder.join(name))
}

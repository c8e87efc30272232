//! The assistants: where each keeps its configuration, how that is written, and what to say afterwards.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::change::Format;
use memdir_core::report::{Code, Failure};

/// One assistant.
#[derive(Debug)]
pub(crate) struct Assistant {
    pub(super) name: &'static str,
    pub(super) place: ConfigPlace,
    pub(super) format: Format,
    /// What the person has to do before the assistant reads its configuration again.
    pub(super) restart: &'static str,
    /// What she has to do then, once memdir is set up.
    ask: &'static str,
}

/// Where a configuration is.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConfigPlace {
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

/// The assistants that can be set up.
pub(super) const ASSISTANTS: &[Assistant] = &[
    Assistant {
        name: "claude-desktop",
        place: ConfigPlace::Settings(&["Claude", "claude_desktop_config.json"]),
        format: SERVERS,
        restart: "quit Claude Desktop and start it again",
        ask: "then ask",
    },
    Assistant {
        name: "claude-code",
        place: ConfigPlace::Home { path: &[".claude.json"], variable: Some(("CLAUDE_CONFIG_DIR", ".claude.json")) },
        format: Format::Json { list: "mcpServers", has_type: true },
        restart: "start a new session of Claude Code",
        ask: "then ask",
    },
    Assistant {
        name: "cursor",
        place: ConfigPlace::Home { path: &[".cursor", "mcp.json"], variable: None },
        format: SERVERS,
        restart: "restart Cursor",
        ask: "then ask its agent",
    },
    Assistant {
        name: "vscode",
        place: ConfigPlace::Settings(&["Code", "User", "mcp.json"]),
        format: Format::Json { list: "servers", has_type: true },
        restart: "restart VS Code",
        ask: "start the server `memdir` when it asks, then ask in agent mode",
    },
    Assistant {
        name: "codex",
        place: ConfigPlace::Home { path: &[".codex", "config.toml"], variable: Some(("CODEX_HOME", "config.toml")) },
        format: Format::Toml,
        restart: "start a new session of Codex",
        ask: "then ask",
    },
    Assistant {
        name: "goose",
        place: ConfigPlace::Goose,
        format: Format::Yaml,
        restart: "start a new session of goose",
        ask: "then ask",
    },
    Assistant {
        name: "lm-studio",
        place: ConfigPlace::LmStudio,
        format: SERVERS,
        restart: "restart LM Studio",
        ask: "turn `mcp/memdir` on in a chat, then ask",
    },
];

impl Assistant {
    /// What the person has to do once memdir is set up.
    pub(super) fn next(&self) -> String {
        format!("{}, {}: What do you know about me?", self.restart, self.ask)
    }
}

/// Reads the name of an assistant.
pub(super) fn assistant() -> impl TypedValueParser<Value = &'static Assistant> {
    PossibleValuesParser::new(ASSISTANTS.iter().map(|assistant| assistant.name)).try_map(|name| {
        ASSISTANTS.iter().find(|assistant| assistant.name == name).ok_or("memdir does not know this assistant")
    })
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
    pub(super) fn file_of(&self, place: ConfigPlace) -> Result<PathBuf, Failure> {
        let file = match place {
            ConfigPlace::Settings(path) => self.settings.as_ref().map(|folder| joined(folder.clone(), path)),
            ConfigPlace::Home { path, variable } => {
                let named = variable.and_then(|(name, file)| {
                    let (_, folder) = self.variables.iter().find(|(known, _)| known == name)?;
                    Some(folder.join(file))
                });
                named.or_else(|| Some(joined(self.home.clone()?, path)))
            }
            ConfigPlace::Goose if cfg!(windows) => {
                let folder = self.settings.as_ref();
                folder.map(|folder| joined(folder.clone(), &["Block", "goose", "config", "config.yaml"]))
            }
            ConfigPlace::Goose => self.config.as_ref().map(|folder| joined(folder.clone(), &["goose", "config.yaml"])),
            ConfigPlace::LmStudio => self.home.as_ref().map(|home| {
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

//! The assistants: a row for each. Where its files are, how they are written, what it does with tools of servers, and what to
//! say to the person. What was read in a program itself names the version.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::change::Format;
use super::json::hooks::HookForm;
use super::json::server::ServerForm;
use super::places::{self, Base, Place};
use Base::{DotConfig, Home, Settings};

/// One assistant.
#[derive(Debug)]
pub(crate) struct Assistant {
    /// What it is called in commands.
    pub(super) name: &'static str,
    /// What shows that it is used here, beside its files: a folder or a file of its own.
    signs: &'static [(Base, &'static str)],
    /// The program that a shell starts.
    program: Option<&'static str>,
    /// Where it keeps servers, and how.
    pub(super) servers: Place,
    pub(super) format: Format,
    /// Whether each file beside that one counts as well.
    pub(super) has_folder: bool,
    /// Whether an address without a kind is one for server-sent events.
    pub(super) is_sse_by_default: bool,
    /// Where it says which plugins it uses, and under which names ours is on.
    pub(super) plugin: Option<(Place, &'static [&'static str])>,
    /// Where it keeps hooks, and how.
    pub(super) hooks: Option<(Place, HookForm)>,
    pub(super) loading: Loading,
    /// How the names begin under which it connects, in small letters.
    pub(super) clients: &'static [&'static str],
    pub(super) own_memory: Option<OwnMemory>,
    /// The file of instructions that it reads in a project.
    pub(super) instructions: Option<&'static str>,
    /// What the person has to do before it reads its configuration again.
    pub(super) restart: &'static str,
    /// What she has to do then, once memdir is set up.
    ask: &'static str,
}

/// Whether a model sees the tools of a server without searching for them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Loading {
    /// It does, since the entry says so.
    ByKey,
    /// It does, as for every server.
    Always,
    /// It searches for them, and no setting of a server changes that.
    Searched,
    /// The program decides; nothing in its configuration of servers says so.
    Undecided,
}

/// A memory that a program has itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnMemory {
    /// Where it is; `*` stands for every folder.
    pub(super) files: &'static [(Base, &'static str)],
    /// How both are kept apart, or the program's own is left out.
    pub(super) advice: &'static str,
}

const NO_KEYS: &[(&str, &str)] = &[];
const STDIO: &[(&str, &str)] = &[("type", "\"stdio\"")];
const COMMAND: &[(&str, &str)] = &[("type", "\"command\"")];
/// Timeout of a hook in seconds; memdir gives up earlier.
const SECONDS: &str = "5";

const CLAUDE_SETTINGS: Place =
    Place { variables: &[("CLAUDE_CONFIG_DIR", "settings.json")], files: &[(Home, ".claude/settings.json")] };
const CODEX_SETTINGS: Place =
    Place { variables: &[("CODEX_HOME", "config.toml")], files: &[(Home, ".codex/config.toml")] };

/// The form that most programs have taken over.
const SERVERS: ServerForm = ServerForm { list: "mcpServers", is_joined: false, before: NO_KEYS, after: NO_KEYS };

/// A row whose other fields are those of most.
const COMMON: Assistant = Assistant {
    name: "",
    signs: &[],
    program: None,
    servers: Place { variables: &[], files: &[] },
    format: Format::Json(SERVERS),
    has_folder: false,
    is_sse_by_default: false,
    plugin: None,
    hooks: None,
    loading: Loading::Undecided,
    clients: &[],
    own_memory: None,
    instructions: None,
    restart: "",
    ask: "then ask",
};

/// The assistants that can be set up.
pub(super) const ASSISTANTS: &[Assistant] = &[
    Assistant {
        name: "claude-desktop",
        signs: &[(Settings, "Claude")],
        servers: Place { variables: &[], files: &[(Settings, "Claude/claude_desktop_config.json")] },
        clients: &["claude-ai", "claude-desktop"],
        restart: "quit Claude Desktop and start it again",
        ..COMMON
    },
    Assistant {
        name: "claude-code",
        signs: &[(Home, ".claude")],
        program: Some("claude"),
        servers: Place { variables: &[("CLAUDE_CONFIG_DIR", ".claude.json")], files: &[(Home, ".claude.json")] },
        // The schema of a stdio server in Claude Code 2.1.197: with `alwaysLoad` its tools are in every prompt.
        format: Format::Json(ServerForm { before: STDIO, after: &[("alwaysLoad", "true")], ..SERVERS }),
        // As `claude plugin install` of 2.1.197 writes it.
        plugin: Some((CLAUDE_SETTINGS, &["enabledPlugins", "memdir@memdir"])),
        // The schema of its settings: groups, each with a list `hooks`; without `matcher` a group always counts.
        hooks: Some((
            CLAUDE_SETTINGS,
            HookForm {
                head: NO_KEYS,
                is_grouped: true,
                before: COMMAND,
                after: &[("timeout", SECONDS)],
                events: &["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"],
            },
        )),
        loading: Loading::ByKey,
        clients: &["claude-code", "claude code"],
        // The settings `autoMemoryEnabled` and `autoMemoryDirectory` of 2.1.197.
        own_memory: Some(OwnMemory {
            files: &[(Home, ".claude/projects/*/memory/MEMORY.md")],
            advice: "it writes about each project there by itself, and reads it before it asks memdir. To have one place, put \
                     `\"autoMemoryEnabled\": false` into its settings.json, or `\"autoMemoryDirectory\"` with a folder \
                     of your memory: what it writes are notes here then",
        }),
        instructions: Some("CLAUDE.md"),
        restart: "start a new session of Claude Code",
        ..COMMON
    },
    Assistant {
        name: "cursor",
        signs: &[(Home, ".cursor")],
        servers: Place { variables: &[], files: &[(Home, ".cursor/mcp.json")] },
        // Its documentation of hooks: version 1, a flat list for each event.
        hooks: Some((
            Place { variables: &[], files: &[(Home, ".cursor/hooks.json")] },
            HookForm {
                head: &[("version", "1")],
                is_grouped: false,
                before: NO_KEYS,
                after: &[("timeout", SECONDS)],
                events: &["sessionStart", "beforeSubmitPrompt", "preCompact", "sessionEnd"],
            },
        )),
        clients: &["cursor"],
        instructions: Some("AGENTS.md"),
        restart: "restart Cursor",
        ask: "then ask its agent",
        ..COMMON
    },
    Assistant {
        name: "vscode",
        signs: &[(Settings, "Code/User")],
        servers: Place { variables: &[], files: &[(Settings, "Code/User/mcp.json")] },
        format: Format::Json(ServerForm { list: "servers", before: STDIO, ..SERVERS }),
        clients: &["visual studio code"],
        instructions: Some("AGENTS.md"),
        restart: "restart VS Code",
        ask: "start the server `memdir` when it asks, then ask in agent mode",
        ..COMMON
    },
    Assistant {
        name: "codex",
        signs: &[(Home, ".codex")],
        program: Some("codex"),
        servers: CODEX_SETTINGS,
        format: Format::Toml,
        // As `codex plugin add` of 0.169.0 writes it.
        plugin: Some((CODEX_SETTINGS, &["plugins", "memdir@memdir", "enabled"])),
        // Codex reads `hooks.json` beside its configuration, in the form of Claude Code.
        hooks: Some((
            Place { variables: &[("CODEX_HOME", "hooks.json")], files: &[(Home, ".codex/hooks.json")] },
            HookForm {
                head: NO_KEYS,
                is_grouped: true,
                before: COMMAND,
                after: &[("timeout", SECONDS)],
                events: &["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"],
            },
        )),
        // Codex 0.169.0: the tools of every server wait behind `tool_search`, and no key of a server is against it.
        loading: Loading::Searched,
        clients: &["codex"],
        // `memories` in its configuration; the feature is off by default in 0.169.0.
        own_memory: Some(OwnMemory {
            files: &[(Home, ".codex/memories")],
            advice: "it keeps what it learns from sessions there: `memories = false` under `[features]` in its \
                     config.toml turns that off",
        }),
        instructions: Some("AGENTS.md"),
        restart: "start a new session of Codex",
        ..COMMON
    },
    Assistant {
        name: "copilot",
        signs: &[(Home, ".copilot")],
        program: Some("copilot"),
        servers: Place {
            variables: &[("COPILOT_HOME", "mcp-config.json")],
            files: &[(Home, ".copilot/mcp-config.json")],
        },
        // As `copilot mcp add` of 1.0.102 writes it; `deferTools` is in the schema that it ships.
        format: Format::Json(ServerForm {
            before: &[("type", "\"local\"")],
            after: &[("tools", "[\"*\"]"), ("deferTools", "\"never\"")],
            ..SERVERS
        }),
        // All files of its folder `hooks` count, so this one is ours alone.
        hooks: Some((
            Place {
                variables: &[("COPILOT_HOME", "hooks/memdir.json")],
                files: &[(Home, ".copilot/hooks/memdir.json")],
            },
            HookForm {
                head: &[("version", "1")],
                is_grouped: false,
                before: COMMAND,
                after: &[("timeoutSec", SECONDS)],
                events: &[
                    "sessionStart",
                    "userPromptSubmitted",
                    "preCompact",
                    // `sessionEnd` names no transcript.
                    "agentStop",
                ],
            },
        )),
        loading: Loading::ByKey,
        clients: &["copilot", "github-copilot", "github copilot"],
        instructions: Some("AGENTS.md"),
        restart: "start a new session of Copilot CLI",
        ..COMMON
    },
    Assistant {
        name: "gemini",
        signs: &[(Home, ".gemini")],
        program: Some("gemini"),
        // `GEMINI_CLI_HOME` takes the place of the home folder.
        servers: Place {
            variables: &[("GEMINI_CLI_HOME", ".gemini/settings.json")],
            files: &[(Home, ".gemini/settings.json")],
        },
        // Its documentation: `httpUrl` is for streamable HTTP, `url` for server-sent events.
        is_sse_by_default: true,
        loading: Loading::Always,
        clients: &["gemini-cli"],
        own_memory: Some(OwnMemory {
            files: &[(Home, ".gemini/GEMINI.md")],
            advice: "it adds what you ask it to remember to that file, which is in every prompt: move what is about you \
                     to memdir",
        }),
        instructions: Some("GEMINI.md"),
        restart: "start a new session of Gemini CLI",
        ..COMMON
    },
    Assistant {
        name: "opencode",
        signs: &[(DotConfig, "opencode")],
        program: Some("opencode"),
        servers: Place {
            variables: &[],
            files: &[(DotConfig, "opencode/opencode.json"), (DotConfig, "opencode/opencode.jsonc")],
        },
        // As `opencode mcp add` of 1.18.33 writes it.
        format: Format::Json(ServerForm {
            list: "mcp",
            is_joined: true,
            before: &[("type", "\"local\"")],
            after: &[("enabled", "true")],
        }),
        loading: Loading::Always,
        clients: &["opencode"],
        instructions: Some("AGENTS.md"),
        restart: "start opencode again",
        ..COMMON
    },
    Assistant {
        name: "cline",
        signs: &[(Home, ".cline")],
        program: Some("cline"),
        // Its data folder, which all its programs share.
        servers: Place {
            variables: &[
                ("CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
                ("CLINE_DIR", "data/settings/cline_mcp_settings.json"),
            ],
            files: &[(Home, ".cline/data/settings/cline_mcp_settings.json")],
        },
        clients: &["cline"],
        instructions: Some("AGENTS.md"),
        restart: "start a new task in Cline",
        ..COMMON
    },
    Assistant {
        name: "continue",
        signs: &[(Home, ".continue")],
        // Every JSON file of this folder counts, in the form of Claude Desktop, so this one is ours alone.
        servers: Place {
            variables: &[("CONTINUE_GLOBAL_DIR", "mcpServers/memdir.json")],
            files: &[(Home, ".continue/mcpServers/memdir.json")],
        },
        has_folder: true,
        clients: &["continue"],
        restart: "reload the window of your editor",
        ask: "then ask in Continue's agent mode",
        ..COMMON
    },
    Assistant {
        name: "windsurf",
        signs: &[(Home, ".codeium/windsurf")],
        servers: Place { variables: &[], files: &[(Home, ".codeium/windsurf/mcp_config.json")] },
        clients: &["windsurf"],
        own_memory: Some(OwnMemory {
            files: &[(Home, ".codeium/windsurf/memories")],
            advice: "Cascade keeps its own memories there: they can be turned off in its settings",
        }),
        instructions: Some("AGENTS.md"),
        restart: "restart Windsurf",
        ask: "then ask Cascade",
        ..COMMON
    },
    Assistant {
        name: "zed",
        signs: &[ZED_FOLDER],
        servers: Place { variables: &[], files: &[ZED] },
        format: Format::Json(ServerForm { list: "context_servers", ..SERVERS }),
        clients: &["zed"],
        instructions: Some("AGENTS.md"),
        restart: "restart Zed",
        ask: "then ask in its agent panel",
        ..COMMON
    },
    Assistant {
        name: "goose",
        signs: &[GOOSE_FOLDER],
        program: Some("goose"),
        servers: Place { variables: &[], files: &[GOOSE] },
        format: Format::Yaml,
        loading: Loading::Always,
        clients: &["goose"],
        own_memory: Some(OwnMemory {
            files: &[(DotConfig, "goose/memory")],
            advice: "its extension `memory` keeps notes there: turn that extension off to have one place",
        }),
        instructions: Some("AGENTS.md"),
        restart: "start a new session of goose",
        ..COMMON
    },
    Assistant {
        name: "lm-studio",
        signs: &[(Home, ".lmstudio"), (Home, ".cache/lm-studio")],
        servers: Place { variables: &[], files: &[(Home, ".lmstudio/mcp.json"), (Home, ".cache/lm-studio/mcp.json")] },
        clients: &["lmstudio", "lm-studio", "lm studio"],
        restart: "restart LM Studio",
        ask: "turn `mcp/memdir` on in a chat, then ask",
        ..COMMON
    },
];

/// Programs that memdir does not set up, and that keep a memory in files.
pub(super) const OTHER_MEMORIES: &[(&str, OwnMemory)] = &[(
    "letta",
    OwnMemory {
        files: &[(Home, ".letta/agents/*/memory")],
        advice: "each agent of Letta keeps Markdown there, in a repository of its own: memdir leaves it alone",
    },
)];

/// Zed and goose keep their settings in `~/.config` also on macOS, and elsewhere on Windows.
const ZED_FOLDER: (Base, &str) = if cfg!(windows) { (Settings, "Zed") } else { (DotConfig, "zed") };
const ZED: (Base, &str) =
    if cfg!(windows) { (Settings, "Zed/settings.json") } else { (DotConfig, "zed/settings.json") };
const GOOSE_FOLDER: (Base, &str) = if cfg!(windows) { (Settings, "Block/goose") } else { (DotConfig, "goose") };
const GOOSE: (Base, &str) =
    if cfg!(windows) { (Settings, "Block/goose/config/config.yaml") } else { (DotConfig, "goose/config.yaml") };

impl Assistant {
    /// What the person has to do once memdir is set up.
    pub(super) fn next(&self) -> String {
        format!("{}, {}: What do you know about me?", self.restart, self.ask)
    }

    /// Whether this person uses it here: something of its own is there, or its program can be started.
    pub(super) fn is_here(&self) -> bool {
        self.servers.is_used()
            || self.signs.iter().any(|sign| places::path(*sign).is_some_and(|path| path.exists()))
            || self.program.is_some_and(|program| memdir_host::program_named(program.as_ref()).is_some())
    }

    /// Whether a client of this name is it.
    pub(super) fn is_client(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.clients.iter().any(|client| name.starts_with(client))
    }
}

impl OwnMemory {
    /// Where it is, if there is something in it.
    pub(super) fn place(&self) -> Option<PathBuf> {
        self.files.iter().filter_map(|row| places::path(*row)).find_map(|pattern| places::first_match(&pattern))
    }
}

/// Reads the name of an assistant.
pub(super) fn assistant() -> impl TypedValueParser<Value = &'static Assistant> {
    PossibleValuesParser::new(ASSISTANTS.iter().map(|assistant| assistant.name)).try_map(|name| {
        ASSISTANTS.iter().find(|assistant| assistant.name == name).ok_or("memdir does not know this assistant")
    })
}

//! The registry: the servers that the person has added, as `tools.toml` keeps them. Text in, text out.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Permission, PinState, ServerName, ToolName, digest_of};
use memdir_core::digest::Digest;

/// The form of the file.
const VERSION: u32 = 1;
/// The name of no server, so that nobody takes the tools of one for those of memdir.
const OWN: &str = "memdir";
/// What the file starts with.
const HEAD: &str = "# Written by `memdir tools`. Keys are kept only as ${VARIABLE}.\n\n";

/// A server that the person has added.
///
/// Values may hold `${VARIABLE}`, which is read from the environment when the server starts; keys are kept only so.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// What it is called.
    pub name: ServerName,
    /// Whether it is used at all.
    pub enabled: bool,
    /// The longest that an answer may take, in seconds; 60 where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<NonZeroU32>,
    /// How many calls a client may make in a minute; no limit where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<NonZeroU32>,
    /// What holds for its tools, unless their own rule says otherwise.
    #[serde(default)]
    pub permission: Permission,
    /// How it is reached.
    pub transport: Transport,
    /// Its tools by their own names: those that were approved, and those with a rule.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ToolRule>,
}

/// How a server is reached.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Transport {
    /// A program, spoken to on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// What its environment holds beside the little that every program needs.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// The folder it starts in; the person's home folder where it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// What is sent with each request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// HTTP with server-sent events, which the protocol has deprecated.
    Sse {
        /// The address of the stream.
        url: String,
        /// What is sent with each request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

/// What the person said about one tool.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    /// What holds for it; its server's where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The longest that a result is kept and given again, in seconds; results are not kept where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_seconds: Option<NonZeroU32>,
    /// The digest of the definition that was approved ([`digest_of`](super::digest_of)); absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Digest>,
}

impl Server {
    /// A server that is used, whose tools are asked about, with no limits of its own.
    #[must_use]
    pub fn new(name: ServerName, transport: Transport) -> Self {
        Self {
            name,
            enabled: true,
            timeout_seconds: None,
            rate: None,
            permission: Permission::default(),
            transport,
            tools: BTreeMap::new(),
        }
    }

    /// Whether the person has ever approved a tool of it: until then nothing but `memdir tools` starts it.
    #[must_use]
    pub fn is_approved(&self) -> bool {
        self.tools.values().any(|rule| rule.pin.is_some())
    }

    /// What the person said about a tool, by the server's own name for it.
    #[must_use]
    pub fn permission_of(&self, own: &str) -> Permission {
        self.tools.get(own).and_then(|rule| rule.permission).unwrap_or(self.permission)
    }

    /// Whether a tool with this definition, by the server's own name for it, is what was approved.
    #[must_use]
    pub fn pin_state(&self, own: &str, definition: &Map<String, Value>) -> PinState {
        match self.tools.get(own).and_then(|rule| rule.pin) {
            None => PinState::New,
            Some(pin) if pin == digest_of(definition) => PinState::Approved,
            Some(_) => PinState::Changed,
        }
    }

    /// What the server itself calls the tool that is offered under a name, as far as the registry knows: one of the tools that
    /// were approved or have a rule, else one whose name needs no change.
    #[must_use]
    pub fn own_name<'n>(&'n self, offered: &'n str) -> Option<&'n str> {
        let is_it = |own: &str| ToolName::of(&self.name, own).as_str() == offered;
        let rest = offered.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix("__"));
        self.tools.keys().map(String::as_str).chain(rest).find(|own| is_it(own))
    }
}

/// The file as it stands.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    #[serde(default)]
    server: Vec<Server>,
}

/// Why a registry cannot be read or written.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The text is no TOML of this form.
    #[error("{0}")]
    Form(String),
    /// Its version is another than this program reads.
    #[error("its version is {0}, and this memdir reads version {VERSION}")]
    Version(u32),
    /// Two servers have one name.
    #[error("it has the server `{0}` twice")]
    Twice(ServerName),
    /// A server cannot be as it stands.
    #[error("the server `{0}`: {1}")]
    Server(ServerName, ServerProblem),
}

/// What is wrong with a server.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerProblem {
    /// It has memdir's own name.
    #[error("this name is memdir's own")]
    OwnName,
    /// No program is named.
    #[error("no program is named")]
    NoCommand,
    /// The address is none of HTTP.
    #[error("`{0}` is no address that begins with https:// or http://")]
    Address(String),
    /// The name of a variable or a header holds characters that such a name cannot have.
    #[error("`{0}` cannot be the name of a variable or a header")]
    Name(String),
    /// A value holds a character that ends it for others.
    #[error("the value of `{0}` holds a control character")]
    Value(String),
    /// A `${` names no variable.
    #[error("`{0}` holds `${{` without the name of a variable and `}}`")]
    Reference(String),
}

/// Reads a registry; the servers come in the order of their names.
///
/// # Errors
///
/// [`RegistryError`] for what is no registry of this version, and for a server that cannot be as it stands.
///
/// # Examples
///
/// ```
/// use memdir_tools::{read_registry, write_registry};
///
/// let text = "version = 1\n[[server]]\nname = \"time\"\nenabled = true\n[server.transport]\nkind = \"stdio\"\ncommand = \"clock\"\n";
/// let servers = read_registry(text)?;
/// assert_eq!(servers[0].name.as_str(), "time");
/// assert_eq!(read_registry(&write_registry(servers.clone())?)?, servers);
/// # Ok::<(), memdir_tools::RegistryError>(())
/// ```
pub fn read_registry(text: &str) -> Result<Vec<Server>, RegistryError> {
    let form = |error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
        RegistryError::Form(format!("line {line}: {}", error.message().trim().replace('\n', " ")))
    };
    // The version first: another one may have other keys.
    let table: toml::Table = toml::from_str(text).map_err(form)?;
    match table.get("version").and_then(toml::Value::as_integer).map(u32::try_from) {
        Some(Ok(VERSION)) => {}
        Some(Ok(other)) => return Err(RegistryError::Version(other)),
        Some(Err(_)) | None => return Err(RegistryError::Form("it names no version".to_owned())),
    }
    let kept: Kept = toml::from_str(text).map_err(form)?;
    checked(kept.server)
}

/// Writes a registry, the servers in the order of their names.
///
/// # Errors
///
/// As [`read_registry`].
pub fn write_registry(servers: Vec<Server>) -> Result<String, RegistryError> {
    let kept = Kept { version: VERSION, server: checked(servers)? };
    let text = toml::to_string(&kept).map_err(|error| RegistryError::Form(error.to_string()))?;
    Ok(format!("{HEAD}{text}"))
}

fn checked(mut servers: Vec<Server>) -> Result<Vec<Server>, RegistryError> {
    servers.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some([twice, _]) = servers.array_windows().find(|[one, other]| one.name == other.name) {
        return Err(RegistryError::Twice(twice.name.clone()));
    }
    for server in &servers {
        let check = if server.name.as_str() == OWN { Err(ServerProblem::OwnName) } else { server.transport.check() };
        check.map_err(|problem| RegistryError::Server(server.name.clone(), problem))?;
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_person_has_damaged_is_refused_with_the_line() {
        let whole = "version = 1\n\n[[server]]\nname = \"a\"\nenabled = true\n[server.transport]\nkind = \"stdio\"\ncommand = \"x\"\n";
        assert_eq!(read_registry(whole).unwrap().len(), 1);
        for (from, to, line) in
            [("enabled = true", "enable = true", 5), ("[[server]]", "[[server", 3), ("\"a\"", "= 7", 4)]
        {
            let problem = read_registry(&whole.replace(from, to)).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("line {line}: ")), "{to}: {problem}");
        }
    }

    #[test]
    fn no_server_has_the_name_of_memdir() {
        let text = |name: &str| {
            format!(
                "version = 1\n[[server]]\nname = \"{name}\"\nenabled = true\n[server.transport]\nkind = \"stdio\"\ncommand = \"x\"\n"
            )
        };
        let problem = read_registry(&text("memdir")).unwrap_err();
        assert_eq!(problem.to_string(), "the server `memdir`: this name is memdir's own");
        let mut servers = read_registry(&text("memdir-2")).unwrap();
        servers[0].name = ServerName::parse("memdir").unwrap();
        assert_eq!(write_registry(servers), Err(problem));
    }
}

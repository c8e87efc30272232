//! [`ServerName`] and [`ToolName`]: what servers and their tools are called.

use std::fmt;

use serde::{Deserialize, Serialize};

use memdir_core::digest::Digest;

/// What stands between the name of a server and that of its tool.
const BETWEEN: &str = "__";
/// The longest name of a server, in bytes.
const MOST_SERVER: usize = 24;
/// The longest name of a tool, in bytes: the least that the programs which call tools all take.
const MOST_TOOL: usize = 64;
/// How many hexadecimal digits of a digest end a name that had to be changed.
const MARK: usize = 8;

/// The name that the person gave a server: 1 to 24 of `a-z`, `0-9` and `-`, a letter or digit first.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

/// The text is no name of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a server's name is 1 to 24 of a-z, 0-9 and -, a letter or digit first")]
pub struct NameError;

impl ServerName {
    /// Reads a name.
    ///
    /// # Errors
    ///
    /// [`NameError`] for anything but 1 to 24 of `a-z`, `0-9` and `-` that begins with a letter or digit.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_name = text.len() <= MOST_SERVER
            && text.bytes().next().is_some_and(is_plain)
            && text.bytes().all(|byte| is_plain(byte) || byte == b'-');
        if is_name { Ok(Self(text.to_owned())) } else { Err(NameError) }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServerName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> Self {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The name under which a tool is offered: `server__tool`, at most 64 of `a-z`, `A-Z`, `0-9`, `_` and `-`.
///
/// It depends on the server's name and the tool's own name alone, so it stays the same whatever else is registered. A
/// tool's own name that does not fit, or holds other characters, is cut and ends in digits of its digest.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

impl ToolName {
    /// The name of a tool that its server calls `own`.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_tools::{ServerName, ToolName};
    ///
    /// let server = ServerName::parse("calendar")?;
    /// assert_eq!(ToolName::of(&server, "list_events").as_str(), "calendar__list_events");
    /// # Ok::<(), memdir_tools::NameError>(())
    /// ```
    #[must_use]
    pub fn of(server: &ServerName, own: &str) -> Self {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
        let room = MOST_TOOL - server.0.len() - BETWEEN.len();
        if !own.is_empty() && own.len() <= room && own.chars().all(is_plain) {
            return Self(format!("{server}{BETWEEN}{own}"));
        }
        let plain = own.chars().map(|letter| if is_plain(letter) { letter } else { '-' });
        let kept: String = plain.take(room - MARK - 1).collect();
        let digest = Digest::of(own.as_bytes()).to_string();
        let mark: String = digest.chars().skip("sha256:".len()).take(MARK).collect();
        Self(format!("{server}{BETWEEN}{kept}-{mark}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its server.
    #[must_use]
    pub fn server(&self) -> ServerName {
        ServerName(self.0.split_once(BETWEEN).map_or(self.as_str(), |(server, _)| server).to_owned())
    }

    /// The name of the server that a text names, where it has the form `server__tool`. A server's name holds no `_`, so the
    /// first two end it.
    #[must_use]
    pub fn server_in(text: &str) -> Option<ServerName> {
        let (server, _) = text.split_once(BETWEEN)?;
        ServerName::parse(server).ok()
    }
}

impl TryFrom<String> for ToolName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        if Self::server_in(&text).is_some() { Ok(Self(text)) } else { Err(NameError) }
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

//! The calls of other servers' tools in the audit: which entries they are, and what was written in conversations with them.
//!
//! Such an entry has the tool's name, `server__tool`, for its action and `tool:` before it for its origin. A call that is sent has two:
//! one that is certain before, with the code [`SENT`], and one of what became of it, whose number is the `seq` of the first.

use std::collections::BTreeSet;

use super::{Vault, VaultError, history, payload};
use memdir_tools::{ServerName, ToolName};

/// The code of the entry that is written before a call is sent. Where it is the last of its call, no answer is known: the call is
/// running, or memdir was ended while it was, or what became of it could not be written.
pub const SENT: &str = "sent";
/// Whether a row of `entry` is the last of its call.
pub(super) const IS_LAST: &str = "(code IS NOT 'sent' OR NOT EXISTS (SELECT 1 FROM entry AS later
    WHERE later.seq > entry.seq AND later.number = entry.seq AND later.origin = entry.origin))";

/// Which calls of other servers' tools are wanted; all of them where nothing is named.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolFilter {
    /// Only calls of this server's tools.
    pub server: Option<String>,
    /// Only calls of this tool, by the name under which it is offered or by its server's own.
    pub tool: Option<String>,
}

/// What was written in the conversations in which a server spoke.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WrittenWith {
    /// The conversations, each with the program that had it.
    pub conversations: BTreeSet<(Option<String>, String)>,
    /// How many of its answers came, or may have come, outside any conversation, so that nobody knows what was written after them.
    pub elsewhere: u64,
    /// The batches of these conversations that are in force and no undoing, the newest first, but for those that the person
    /// wrote.
    pub batches: Vec<u64>,
}

/// The server of the tool that an entry is a call of; `None` where it is no such call.
pub(super) fn server_of(action: &str, origin: &str) -> Option<ServerName> {
    if origin.strip_prefix("tool:") == Some(action) { ToolName::server_in(action) } else { None }
}

impl ToolFilter {
    /// Whether an entry of this action and origin is wanted.
    #[must_use]
    pub fn wants(&self, action: &str, origin: &str) -> bool {
        let Some(server) = server_of(action, origin) else { return false };
        let is_named = |wanted: &str| wanted == action || ToolName::of(&server, wanted).as_str() == action;
        self.server.as_ref().is_none_or(|wanted| wanted == server.as_str()) && self.tool.as_deref().is_none_or(is_named)
    }
}

impl Vault {
    /// What was written in the conversations in which a server spoke, or may have: where no answer to a call is known, or what is
    /// kept of it was forgotten. Reads the columns of the whole audit.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn written_with(&self, server: &ServerName) -> Result<WrittenWith, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(WrittenWith::default()) };
        let db = &core.journal.db;
        let mut found = WrittenWith::default();
        let sql = format!(
            "SELECT action, origin, client, session, payload, code IS 'sent' FROM entry WHERE origin = 'tool:' || action
             AND permission IN ('allowed', 'approved', 'approved_for_conversation') AND {IS_LAST}"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (action, origin): (String, String) = (row.get(0)?, row.get(1)?);
            let (payload, is_open): (Option<String>, bool) = (row.get(4)?, row.get(5)?);
            let spoke = || payload.as_deref().and_then(payload::tool_call_in).is_none_or(|call| call.spoke);
            if server_of(&action, &origin).as_ref() != Some(server) || !(is_open || spoke()) {
                continue;
            }
            match row.get::<_, Option<String>>(3)? {
                Some(session) => drop(found.conversations.insert((row.get(2)?, session))),
                None => found.elsewhere += 1,
            }
        }
        let mut batches = BTreeSet::new();
        for (client, session) in &found.conversations {
            batches.extend(history::batches_in(&core.journal, client.as_deref(), session)?);
        }
        found.batches = batches.into_iter().rev().collect();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::ToolFilter;

    #[test]
    fn a_call_is_known_by_its_origin_and_its_server_by_the_first_two_underscores() {
        let filter = |server: Option<&str>, tool: Option<&str>| ToolFilter {
            server: server.map(str::to_owned),
            tool: tool.map(str::to_owned),
        };
        let cases = [
            (None, None, "read_file", "model", false),
            (None, None, "fs__read__all", "tool:fs__read__all", true),
            (Some("read"), None, "read_file", "model", false),
            (Some("fs"), None, "fs__read__all", "tool:fs__read__all", true),
            (Some("fs"), None, "fs__read__all", "model", false),
            (Some("fs__read"), None, "fs__read__all", "tool:fs__read__all", false),
            (None, Some("read__all"), "fs__read__all", "tool:fs__read__all", true),
            (None, Some("fs__read__all"), "fs__read__all", "tool:fs__read__all", true),
            (Some("fs"), Some("read__all"), "fs__read__all", "tool:fs__read__all", true),
            (Some("git"), Some("read__all"), "fs__read__all", "tool:fs__read__all", false),
            (Some("f"), None, "fs__read", "tool:fs__read", false),
            (None, Some("all"), "fs__read__all", "tool:fs__read__all", false),
            (Some("memdir"), None, "expire", "tool:memdir", false),
        ];
        for (server, tool, action, origin, wanted) in cases {
            assert_eq!(filter(server, tool).wants(action, origin), wanted, "{server:?} {tool:?} {action} {origin}");
        }
    }
}

//! Kept conversations, for those who lead them.
//!
//! Owns how a line is known to be ours: each ends with a seal, a digest over a key that only the journal has, the seal of the line
//! before it, and the line itself. So a file that somebody has put there, or lines that somebody has changed or added, are told
//! from what memdir has written, and the beginning of a file that a crash has cut off is still known.

use super::{CutSession, Engine, failure};
use memdir_core::digest::Digest;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_plan::Said;
use memdir_policy as policy;
use memdir_vault::{SessionFile, SessionInfo, SessionKey, SessionMark, VaultError};

/// The name of the seal, the last member of each line.
pub const SEAL: &str = "seal";
/// What stands before the seal.
const MEMBER: &[u8] = br#","seal":""#;
/// What stands after it.
const END: &[u8] = br#""}"#;
/// How many hexadecimal digits of the digest it has.
const DIGITS: usize = 32;

/// Tells what the person said in the lines of a session, and when.
pub type SaidIn = fn(&[u8]) -> Vec<(Timestamp, String)>;
/// So many sessions are looked into for what was said.
const MOST_SESSIONS: usize = 200;

/// The file of a session to which lines are added, locked as long as this lives.
#[derive(Debug)]
pub struct SessionLog {
    file: SessionFile,
    chain: Chain,
}

/// The end of a chain of seals.
#[derive(Clone, Debug)]
struct Chain {
    key: SessionKey,
    last: String,
}

impl Chain {
    fn new(key: SessionKey) -> Self {
        Self { key, last: String::new() }
    }

    /// The seal of the next line, which has none yet.
    fn next(&mut self, line: &[u8]) -> &str {
        let digest = Digest::of_parts(&[&self.key, self.last.as_bytes(), line]).to_string();
        self.last = digest.trim_start_matches("sha256:").chars().take(DIGITS).collect();
        &self.last
    }

    /// A line with its seal; one that is no object has none.
    fn seal(&mut self, line: &[u8]) -> Vec<u8> {
        let Some(object) = line.strip_suffix(b"}") else { return line.to_vec() };
        let seal = self.next(line);
        [object, MEMBER, seal.as_bytes(), END].concat()
    }

    /// Whether a line is the next one.
    fn takes(&mut self, line: &[u8]) -> bool {
        split(line).is_some_and(|(line, seal)| self.next(&line).as_bytes() == seal)
    }
}

/// A line without its seal, and the seal.
fn split(line: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (head, seal) = line.strip_suffix(END)?.split_last_chunk::<DIGITS>()?;
    Some(([head.strip_suffix(MEMBER)?, b"}"].concat(), seal))
}

/// The lines, without their breaks.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// The chain behind these lines; `None` where one is not the next.
fn follow(key: SessionKey, bytes: &[u8]) -> Option<Chain> {
    let mut chain = Chain::new(key);
    lines(bytes).all(|line| chain.takes(line)).then_some(chain)
}

impl SessionLog {
    /// What the file is now, to be compared when it is opened the next time.
    #[must_use]
    pub fn mark(&self) -> SessionMark {
        self.file.mark()
    }

    /// Adds a line, sealed and flushed: an object without a line break.
    ///
    /// # Errors
    ///
    /// `too_large` where it would be too long to be read again, what the vault says: then the line is not there.
    pub fn append(&mut self, line: &[u8]) -> Result<(), Failure> {
        let mut chain = self.chain.clone();
        self.file.append(&chain.seal(line)).map_err(|error| failure(&error))?;
        self.chain = chain;
        Ok(())
    }
}

impl Engine {
    /// The same engine, which forgets what sessions hold line by line and tells what the person said in them; without this, a
    /// session that holds what is forgotten goes as a whole, and nothing is told.
    #[must_use]
    pub fn with_sessions(self, cut_session: CutSession, said_in: SaidIn) -> Self {
        Self { cut_session, said_in, ..self }
    }

    /// What the person said in a span of time in the sessions that are ours, as far as it holds no secret. A session that
    /// cannot be read says nothing.
    pub(super) fn said(&self, since: Timestamp, until: Timestamp) -> Vec<Said> {
        let kept = self.sessions().unwrap_or_default().into_iter().filter(|kept| kept.changed >= since);
        let mut found = Vec::new();
        for kept in kept.take(MOST_SESSIONS) {
            let Ok(Some(lines)) = self.read_own_session(&kept.id) else { continue };
            let said = (self.said_in)(&lines).into_iter().filter(|(time, _)| (since..until).contains(time));
            let said = said.filter(|(_, text)| !policy::holds_secret(text));
            found.extend(said.map(|(time, text)| Said { session: kept.id.clone(), time, text }));
        }
        found
    }

    /// What the person said in a session that is ours, and when, as far as it holds no secret; nothing where it is no longer kept.
    pub(super) fn said_in_session(&self, id: &str) -> Vec<(Timestamp, String)> {
        let lines = self.read_own_session(id).ok().flatten().unwrap_or_default();
        (self.said_in)(&lines).into_iter().filter(|(_, text)| !policy::holds_secret(text)).collect()
    }

    /// Makes the file of a session. See [`memdir_vault::Vault::begin_session`].
    ///
    /// # Errors
    ///
    /// `no_write_access`, `disk_full`, `io`.
    pub fn begin_session(&self, id: &str, now: Timestamp) -> Result<SessionLog, Failure> {
        let file = self.vault.begin_session(id, now).map_err(|error| failure(&error))?;
        let key = self.vault.session_key(id).map_err(|error| failure(&error))?.ok_or_else(|| unknown(id))?;
        Ok(SessionLog { file, chain: Chain::new(key) })
    }

    /// Opens a session to go on with it, and gives its lines. What this history has not written so is refused.
    ///
    /// # Errors
    ///
    /// `not_found`, `busy` while another process answers in it, `denied` for one that is not ours, `too_large`, `io`.
    pub fn open_session(&self, id: &str) -> Result<(SessionLog, Vec<u8>), Failure> {
        let say = |error: VaultError| failure(&error);
        let mut file = self.vault.open_session(id).map_err(say)?;
        let bytes = file.read().map_err(say)?;
        let key = self.vault.session_key(id).map_err(say)?;
        let chain = key.and_then(|key| follow(key, &bytes)).ok_or_else(|| unknown(id))?;
        Ok((SessionLog { file, chain }, bytes))
    }

    /// Reads the lines of a session; `None` where there is no such session. They may be anybody's.
    ///
    /// # Errors
    ///
    /// `too_large`, `io`.
    pub fn read_session(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        self.vault.read_session(id).map_err(|error| failure(&error))
    }

    /// Reads the lines of a session that can be gone on with; `None` for any other.
    ///
    /// # Errors
    ///
    /// As [`Engine::read_session`].
    pub fn read_own_session(&self, id: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(bytes) = self.read_session(id)? else { return Ok(None) };
        let key = self.vault.session_key(id).map_err(|error| failure(&error))?;
        Ok(key.and_then(|key| follow(key, &bytes)).map(|_| bytes))
    }

    /// Seals the lines that replace those of a session, if memdir wrote the lines before.
    ///
    /// # Errors
    ///
    /// What the vault says where the key cannot be read.
    pub fn sealed_anew(&self, id: &str, before: &[u8], now: Vec<u8>) -> Result<Vec<u8>, VaultError> {
        let key = self.vault.session_key(id)?;
        let Some(key) = key.filter(|key| follow(*key, before).is_some()) else { return Ok(now) };
        let mut chain = Chain::new(key);
        let sealed = lines(&now).map(|line| match split(line) {
            Some((line, _)) => chain.seal(&line),
            None => chain.seal(line),
        });
        Ok(sealed.flat_map(|line| [line, b"\n".to_vec()].concat()).collect())
    }

    /// The sessions that are kept, the newest first.
    ///
    /// # Errors
    ///
    /// `damaged`, `io`.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>, Failure> {
        self.vault.sessions().map_err(|error| failure(&error))
    }

    /// Removes a session.
    ///
    /// # Errors
    ///
    /// `not_found`, `busy` while another process answers in it, `io`.
    pub fn remove_session(&self, id: &str) -> Result<(), Failure> {
        self.vault.remove_session(id).map_err(|error| failure(&error))
    }
}

fn unknown(id: &str) -> Failure {
    let message = format!("session `{id}` was not written by memdir in this memory, or was changed since");
    let hint = format!("it cannot be continued; start a new session; `memdir session remove {id}` removes this one");
    Failure::new(Code::Denied, message).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SessionKey = [7; 16];

    fn sealed(key: SessionKey, said: &[&str]) -> Vec<u8> {
        let mut chain = Chain::new(key);
        let line = |line: &&str| [chain.seal(line.as_bytes()), b"\n".to_vec()].concat();
        said.iter().flat_map(line).collect()
    }

    #[test]
    fn only_what_was_sealed_in_this_order_is_known() {
        let said = [r#"{"a":1}"#, r#"{"b":"}"}"#, r#"{"c":{"seal":"x"}}"#];
        let whole = sealed(KEY, &said);
        let text = String::from_utf8(whole.clone()).unwrap();
        let parsed: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(parsed[2]["c"], serde_json::json!({"seal": "x"}));
        let lines: Vec<&str> = text.lines().collect();
        for count in 0..=lines.len() {
            assert!(follow(KEY, lines.get(..count).unwrap().join("\n").as_bytes()).is_some(), "{count}");
        }
        let other = sealed([8; 16], &said);
        assert!(follow([8; 16], &whole).is_none() && follow(KEY, &other).is_none());
        for wrong in [
            format!("{}\n{}\n", lines[1], lines[0]),
            lines[1].to_owned(),
            format!("{text}{}\n", lines[2]),
            format!("{text}{}\n", r#"{"kind":"switches"}"#),
            text.replace(r#""a":1"#, r#""a":2"#),
            text.replace(r#""a":1,"#, ""),
        ] {
            assert!(follow(KEY, wrong.as_bytes()).is_none(), "{wrong}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(follow(KEY, &changed).is_none(), "byte {at}");
        }
    }
}

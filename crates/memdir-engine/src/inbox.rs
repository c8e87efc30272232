//! [`PendingProposal`]: a proposal that waits for the person, and the shape of its file.
//!
//! Owns that shape and its version. What is read is believed only as far as it goes: a file of another version, or one
//! that says what no proposal can, is refused as a whole, and every call in it is reviewed and planned anew.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::failure;
use memdir_core::action::{Access, Action, Call, Meaning};
use memdir_core::catalog::{self, ACTION};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure};
use memdir_core::time::Timestamp;
use memdir_policy::{Grant, Ground};
use memdir_vault::{self as vault, Author};

/// The version of the file; another one is refused.
const VERSION: u32 = 1;
/// Wrong codes that are taken until the right one is made anew.
pub(super) const TRIES: u32 = 5;
/// Digits and letters of which none looks like another.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How many of them a code has: 40 bits, and [`TRIES`] guesses.
const CODE_CHARS: usize = 8;

/// A proposal that waits for the person.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingProposal {
    /// Its number, which no other one will have.
    pub id: u64,
    /// When it was made.
    pub time: Timestamp,
    /// From when on it does not wait any more.
    pub expires: Timestamp,
    /// Who proposed it.
    pub author: Author,
    /// What that client was granted then; it is planned anew as that client sees the memory.
    pub grant: Option<Arc<Grant>>,
    /// The number by which the client knows it, where that counts its own.
    pub own: Option<u64>,
    /// Why the person is asked, in words.
    pub reason: String,
    /// The calls, in their order.
    pub calls: Vec<ProposedCall>,
    /// The paths that would be different, sorted. What is kept is as far as the client may see it, and [`Reviewed`](super::Reviewed)
    /// gives all of it, as of the diff.
    pub changed: Vec<MemoryPath>,
    /// What would be different, as the person was or will be shown it.
    pub diff: String,
    /// What an approval is bound to: the digest over that, as far as the client may see it.
    pub digest: Digest,
    /// What a person who has seen the diff elsewhere can approve with.
    pub code: ApprovalCode,
    /// How many wrong codes were given for this one.
    pub tries: u32,
}

/// A call of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedCall {
    /// The call.
    pub call: Call,
    /// Why somebody should be asked; nothing for a call that goes with an earlier one.
    pub grounds: Vec<Ground>,
}

/// A code that approves one proposal as it was shown, once. Printed by nothing but [`ApprovalCode::show`].
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ApprovalCode(String);

/// The file.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    id: u64,
    /// Microseconds since 1970 in UTC, as all times here.
    time: i64,
    expires: i64,
    door: String,
    client: Option<String>,
    session: Option<String>,
    message: Option<String>,
    origin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grant: Option<Grant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own: Option<u64>,
    reason: String,
    calls: Vec<FiledCall>,
    changed: Vec<MemoryPath>,
    diff: String,
    digest: Digest,
    code: ApprovalCode,
    tries: u32,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FiledCall {
    index: usize,
    meaning: Meaning,
    grounds: Vec<Ground>,
    action: Json,
}

/// What is read before anything else, whatever more there is.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl PendingProposal {
    /// The same with some of its calls alone, by their places from 0.
    pub(super) fn with_calls(self, part: &[usize]) -> Self {
        let calls = self.calls.into_iter().enumerate().filter(|(at, _)| part.contains(at));
        Self { calls: calls.map(|(_, held)| held).collect(), ..self }
    }

    /// Whether the client that proposed it may see a path.
    pub(super) fn shows(&self, path: &MemoryPath) -> bool {
        self.grant.as_ref().is_none_or(|grant| grant.shows(path))
    }

    /// Writes the file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let calls = self.calls.iter().map(|held| FiledCall {
            index: held.call.index,
            meaning: held.call.meaning,
            grounds: held.grounds.clone(),
            action: serde_json::to_value(&held.call.action).unwrap_or_default(),
        });
        let author = self.author.clone();
        let file = File {
            version: VERSION,
            id: self.id,
            time: self.time.micros(),
            expires: self.expires.micros(),
            door: author.door,
            client: author.client,
            session: author.session,
            message: author.message,
            origin: author.origin,
            grant: self.grant.as_deref().cloned(),
            own: self.own,
            reason: self.reason.clone(),
            calls: calls.collect(),
            changed: self.changed.clone(),
            diff: self.diff.clone(),
            digest: self.digest,
            code: self.code.clone(),
            tries: self.tries,
        };
        serde_json::to_vec(&file).unwrap_or_default()
    }

    /// Reads the file of proposal `id`.
    ///
    /// # Errors
    ///
    /// `damaged` for anything but what [`PendingProposal::encode`] writes.
    pub(super) fn decode(id: u64, content: &[u8]) -> Result<Self, Failure> {
        let Versioned { version } =
            serde_json::from_slice(content).map_err(|_| damaged(id, "is no file of a proposal"))?;
        if version != VERSION {
            return Err(damaged(id, &format!("is of version {version}, and this program knows {VERSION}")));
        }
        let file: File = serde_json::from_slice(content).map_err(|_| damaged(id, "is not as memdir writes it"))?;
        if file.id != id || file.calls.is_empty() || !file.code.is_whole() {
            return Err(damaged(id, "says what no proposal says"));
        }
        let calls = file.calls.into_iter().map(FiledCall::decode).collect::<Option<Vec<_>>>();
        Ok(Self {
            id,
            time: Timestamp::from_micros(file.time),
            expires: Timestamp::from_micros(file.expires),
            author: Author {
                door: file.door,
                client: file.client,
                session: file.session,
                message: file.message,
                origin: file.origin,
            },
            grant: file.grant.map(Arc::new),
            own: file.own,
            reason: file.reason,
            calls: calls.ok_or_else(|| damaged(id, "holds a call that no model can make"))?,
            changed: file.changed,
            diff: file.diff,
            digest: file.digest,
            code: file.code,
            tries: file.tries,
        })
    }
}

impl FiledCall {
    /// The call, if it is one that a model can make and that writes.
    fn decode(self) -> Option<ProposedCall> {
        let Json::Object(mut arguments) = self.action else { return None };
        let Some(Json::String(name)) = arguments.shift_remove(ACTION) else { return None };
        let action: Action = catalog::decode(self.index, &name, arguments).ok()?;
        if catalog::access(&action) == Access::Read {
            return None;
        }
        let call = Call { meaning: self.meaning, ..Call::plain(self.index, action) };
        Some(ProposedCall { call, grounds: self.grounds })
    }
}

pub(super) fn damaged(id: u64, what: &str) -> Failure {
    Failure::new(Code::Damaged, format!("proposal {id} cannot be read: its file {what}"))
        .with_hint(format!("`memdir reject {id}` removes it"))
}

impl ApprovalCode {
    /// Makes one that nobody can guess.
    pub(super) fn new() -> Result<Self, Failure> {
        let random = vault::random().map_err(|error| failure(&error))?;
        // 32 divides 256, so each letter is as likely as the others.
        let letters = random.iter().filter_map(|byte| ALPHABET.get(usize::from(byte % 32)));
        Ok(Self(letters.take(CODE_CHARS).map(|letter| char::from(*letter)).collect()))
    }

    /// Whether it is one that [`ApprovalCode::new`] can have made.
    fn is_whole(&self) -> bool {
        self.0.len() == CODE_CHARS && self.0.bytes().all(|letter| ALPHABET.contains(&letter))
    }

    /// The code, for the person's eyes: `K7QX-3FQ2`.
    #[must_use]
    pub fn show(&self) -> String {
        let (first, second) = self.0.split_at_checked(CODE_CHARS / 2).unwrap_or((&self.0, ""));
        format!("{first}-{second}")
    }

    /// Whether this code was typed, in time that does not tell how much of it fits. Blanks, dashes and small letters do not
    /// matter, nor do letters that look like digits.
    pub(super) fn fits(&self, typed: &str) -> bool {
        let letters = typed.chars().filter(|letter| !letter.is_whitespace() && *letter != '-').take(CODE_CHARS + 1);
        let typed: Vec<u8> = letters.map(plain_letter).collect();
        if typed.len() != CODE_CHARS {
            return false;
        }
        let difference = self.0.bytes().zip(typed).fold(0, |difference, (one, other)| difference | (one ^ other));
        std::hint::black_box(difference) == 0
    }
}

fn plain_letter(letter: char) -> u8 {
    match letter.to_ascii_uppercase() {
        'O' => b'0',
        'I' | 'L' => b'1',
        letter => u8::try_from(letter).unwrap_or(b'?'),
    }
}

impl fmt::Debug for ApprovalCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApprovalCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use memdir_core::action::CreateFile;

    fn waiting() -> PendingProposal {
        let action = Action::CreateFile(CreateFile {
            path: MemoryPath::parse("a.md").unwrap(),
            content: "- \u{1b}\"x\"\n".into(),
        });
        let call = Call { meaning: Meaning::MemoryTool, ..Call::plain(3, action) };
        let grounds = vec![Ground::Rule(2), Ground::Detector("email".into())];
        let origin = "model".to_owned();
        let session = Some("s".to_owned());
        PendingProposal {
            id: 7,
            time: Timestamp::from_micros(-1),
            expires: Timestamp::from_micros(i64::MAX),
            author: Author { door: "exec".into(), client: Some("é".into()), session, message: None, origin },
            grant: Some(Arc::new(Grant::new(&["work/**".into()], &["*.md".into()], None).unwrap())),
            own: Some(2),
            reason: "personal".into(),
            calls: vec![ProposedCall { call, grounds }],
            changed: vec![MemoryPath::parse("a.md").unwrap()],
            diff: "+x\n".into(),
            digest: Digest::of(b"x"),
            code: ApprovalCode::new().unwrap(),
            tries: 3,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let waiting = waiting();
        assert_eq!(PendingProposal::decode(7, &waiting.encode()), Ok(waiting));
    }

    #[test]
    fn a_file_that_differs_in_any_byte_is_refused_or_another_proposal_and_never_a_panic() {
        let whole = waiting().encode();
        for at in 0..whole.len() {
            assert!(PendingProposal::decode(7, &whole[..at]).is_err(), "cut at {at}");
            for byte in [b'"', b'{', b'0', b'x', 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Err(failure) = PendingProposal::decode(7, &changed) {
                    assert_eq!(failure.code, Code::Damaged);
                }
            }
        }
    }

    #[test]
    fn only_what_memdir_writes_is_believed() {
        let refused = |key: &str, value: Json| {
            let mut file: Json = serde_json::from_slice(&waiting().encode()).unwrap();
            file[key] = value;
            assert!(PendingProposal::decode(7, file.to_string().as_bytes()).is_err(), "{key}: {file}");
        };
        refused("version", json!(2));
        refused("id", json!(8));
        refused("calls", json!([]));
        refused("code", json!("\u{1b}[2J"));
        refused("changed", json!(["/etc/passwd"]));
        refused("unknown", json!(1));
        refused("grant", json!({"read": ["/etc"], "write": [], "actions": null}));
        let call = |action: Json| json!([{"index": 1, "meaning": "plain", "grounds": [], "action": action}]);
        refused("calls", call(json!({"action": "read_file", "path": "a.md"})));
        refused("calls", call(json!({"action": "run_shell", "path": "a.md"})));
        refused("calls", call(json!({"action": "delete_file", "path": ".memdir/lock"})));
        refused("calls", call(json!({"action": "delete_file", "path": "a.md", "claimed": true})));
        refused("calls", call(json!({"path": "a.md"})));
    }

    #[test]
    fn a_code_fits_however_it_is_typed_and_no_other_does() {
        let code = ApprovalCode("01AB23CD".to_owned());
        assert_eq!(code.show(), "01AB-23CD");
        for typed in ["01AB-23CD", "01ab23cd", " o1AB 23cd", "Ol-ab-23-cd", "oiab23cd"] {
            assert!(code.fits(typed), "{typed}");
        }
        for typed in ["", "01AB23C", "01AB23CDE", "01AB23C0", "11AB23CD", "01AB23CÄ", "????????"] {
            assert!(!code.fits(typed), "{typed}");
        }
        assert!(!format!("{code:?}").contains("01AB"));
        let made: std::collections::BTreeSet<String> = (0..100).map(|_| ApprovalCode::new().unwrap().show()).collect();
        assert_eq!(made.len(), 100);
    }
}

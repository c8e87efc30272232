//! [`Digest`], the SHA-256 of a content.
//!
//! Owns how a digest is computed and written. Touches nothing but the bytes given to it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256, written `sha256:` and 64 hex digits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// The text is not `sha256:` and 64 hex digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("expected `sha256:` and 64 hex digits")]
pub struct NotADigest;

impl Digest {
    /// Digests `content`.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_core::digest::Digest;
    ///
    /// let digest = Digest::of(b"");
    /// assert!(digest.to_string().starts_with("sha256:e3b0c442"));
    /// assert_eq!(Digest::parse(&digest.to_string()), Ok(digest));
    /// ```
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// Digests several parts, each led by its length, so that no two lists of parts give the same digest.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Reads a digest as [`Display`](fmt::Display) writes it.
    ///
    /// # Errors
    ///
    /// [`NotADigest`] for anything else; upper-case hex is taken.
    pub fn parse(text: &str) -> Result<Self, NotADigest> {
        let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64).ok_or(NotADigest)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            let digit = |at: usize| pair.get(at).and_then(|&digit| char::from(digit).to_digit(16));
            let value = digit(0).zip(digit(1)).map(|(high, low)| high * 16 + low);
            *byte = value.and_then(|value| u8::try_from(value).ok()).ok_or(NotADigest)?;
        }
        Ok(Self(bytes))
    }

    /// Takes 32 bytes that were a digest before, such as a stored one.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        Self::parse(&text)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

//! Tokens: the secret by which a client over HTTP says who it is.

use std::fmt;

use subtle::{Choice, ConstantTimeEq};

use memdir_core::digest::Digest;
use memdir_vault as vault;

/// How every token starts, so that people and programs which look for secrets know one.
const PREFIX: &str = "memdir_";

/// A secret of 256 random bits. Whoever has it is the client.
pub(super) struct Token(String);

impl Token {
    /// A new one.
    pub(super) fn new() -> Result<Self, vault::VaultError> {
        let bytes = [vault::random()?, vault::random()?].concat();
        Ok(Self(bytes.iter().fold(PREFIX.to_owned(), |text, byte| format!("{text}{byte:02x}"))))
    }

    /// The secret itself: for the one line in which it is shown.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    pub(super) fn digest(&self) -> Digest {
        digest(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

/// What is kept of a token.
///
/// A slow hash protects what people choose, which can be guessed. Nobody guesses 256 random bits, so one SHA-256 is enough.
pub(super) fn digest(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}

/// The place of the digest that is `sought`. All are compared, each in the same time whatever it holds.
pub(super) fn position<'a>(sought: &Digest, digests: impl Iterator<Item = &'a Digest>) -> Option<usize> {
    let mut found = None;
    for (at, digest) in digests.enumerate() {
        let is_it: Choice = digest.as_bytes().ct_eq(sought.as_bytes());
        if bool::from(is_it) {
            found = Some(at);
        }
    }
    found
}

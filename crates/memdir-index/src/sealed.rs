//! Cells that hold an encoded value, with a checksum that is verified when they are read.

use serde::de::DeserializeOwned;

use super::IndexError;
use memdir_core::path::MemoryPath;

/// The bytes of a seal.
const SEAL: usize = 8;

/// Appends a checksum over the bytes and the path of their file.
pub(super) fn seal(path: &MemoryPath, bytes: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(bytes.len() + SEAL);
    sealed.extend_from_slice(bytes);
    sealed.extend_from_slice(&sum(path.as_str(), bytes));
    sealed
}

/// Reads a value of a file. SQLite notices a page that is torn, but not a letter that is another.
pub(super) fn open<T: DeserializeOwned>(path: &MemoryPath, sealed: &[u8]) -> Result<T, IndexError> {
    match begin(path, sealed)? {
        (value, []) => Ok(value),
        _ => Err(damaged(path.as_str())),
    }
}

/// Reads the first field of a value of a file.
pub(super) fn open_first<T: DeserializeOwned>(path: &MemoryPath, sealed: &[u8]) -> Result<T, IndexError> {
    begin(path, sealed).map(|(field, _)| field)
}

/// Reads what the bytes of a file begin with, and gives the rest.
fn begin<'s, T: DeserializeOwned>(path: &MemoryPath, sealed: &'s [u8]) -> Result<(T, &'s [u8]), IndexError> {
    let bytes = unseal(path.as_str(), sealed).ok_or_else(|| damaged(path.as_str()))?;
    postcard::take_from_bytes(bytes).map_err(|_| damaged(path.as_str()))
}

/// The bytes that were sealed, if the seal is whole.
pub(super) fn unseal<'s>(path: &str, sealed: &'s [u8]) -> Option<&'s [u8]> {
    let (bytes, seal) = sealed.split_last_chunk::<SEAL>()?;
    (*seal == sum(path, bytes)).then_some(bytes)
}

/// What is said of a file whose seal is broken.
pub(super) fn damaged(path: &str) -> IndexError {
    IndexError::damaged(format!("what is kept of `{path}` cannot be read"))
}

/// A checksum that finds accidental changes; quick, and no protection from deliberate ones.
fn sum(path: &str, bytes: &[u8]) -> [u8; SEAL] {
    let parts = [path.as_bytes(), bytes];
    let mut sum = 0_u64;
    for part in parts {
        for chunk in part.chunks(SEAL) {
            let mut word = [0; SEAL];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            // An odd factor near 2^64 over the golden ratio: every bit of the word gets into the upper ones.
            sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        sum = sum.wrapping_add(part.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    sum.to_le_bytes()
}

/// Reads a path that a row holds.
pub(super) fn path(text: &str) -> Result<MemoryPath, IndexError> {
    let path = MemoryPath::parse(text).ok().filter(|path| path.as_str() == text);
    path.ok_or_else(|| IndexError::damaged("a file has a path that is none"))
}

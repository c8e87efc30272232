//! The models that memdir knows by name: what they are, where their makers give them away, and how to tell that a file is one.
//!
//! Owns the rows. Touches nothing.

use memdir_core::digest::Digest;

/// A model that can be fetched by its name alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Row {
    /// Its name here, and on the shelf.
    pub name: &'static str,
    /// What its maker calls it.
    pub title: &'static str,
    /// How large the file is.
    pub bytes: u64,
    /// The SHA-256 of the file.
    pub digest: Digest,
    /// The licence that its maker gives it, as SPDX names it.
    pub licence: &'static str,
    /// How many parameters it has, in units of a million.
    pub million_parameters: u64,
    /// The most memory that was measured while it answered, with a context of 8,192 tokens, which is the one that models have here.
    pub memory_bytes: u64,
    /// What it is good for.
    pub good_for: &'static str,
    /// Where its maker gives it away.
    pub source: &'static str,
    /// Whether it is one to begin with.
    pub standing: Standing,
}

/// When a model is the one to take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Where nothing else is said.
    Default,
    /// Where memory or time is short.
    Light,
}

/// The models, the one to take first.
pub const ROWS: &[Row] = &[
    Row {
        name: "qwen2.5-coder-1.5b",
        title: "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
        bytes: 1_117_320_768,
        digest: Digest::from_bytes(SHA256_1_5B),
        licence: "Apache-2.0",
        million_parameters: 1_540,
        memory_bytes: 2_080_000_000,
        good_for: "finds facts, changes them and files new ones, in English; one mistake in ten, so look at what it saves",
        source: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        standing: Standing::Default,
    },
    Row {
        name: "qwen2.5-coder-0.5b",
        title: "Qwen2.5-Coder-0.5B-Instruct, Q4_K_M",
        bytes: 491_400_064,
        digest: Digest::from_bytes(SHA256_0_5B),
        licence: "Apache-2.0",
        million_parameters: 494,
        memory_bytes: 719_000_000,
        good_for: "a first try, and small machines: answers with lines of the notes, keeps and changes plain facts; weak where links lead on",
        source: "https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        standing: Standing::Light,
    },
];

const SHA256_1_5B: [u8; 32] = hex("cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046");
const SHA256_0_5B: [u8; 32] = hex("1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32");

/// The row with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// The row of a file.
#[must_use]
pub fn of_digest(digest: Digest) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.digest == digest)
}

/// Reads 64 lower-case hex digits; what is none becomes a digest that no file has, and a test sees it.
#[expect(clippy::indexing_slicing, reason = "the compiler runs it, and stops where it would leave the text")]
const fn hex(text: &str) -> [u8; 32] {
    const fn digit(byte: u8) -> u8 {
        match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => 0,
        }
    }
    let text = text.as_bytes();
    let mut bytes = [0; 32];
    let mut at = 0;
    while at < 32 {
        bytes[at] = digit(text[2 * at]) * 16 + digit(text[2 * at + 1]);
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{ROWS, Standing, find, of_digest};

    #[test]
    fn every_row_can_be_found_and_is_what_was_measured() {
        let digests: Vec<String> = ROWS.iter().map(|row| row.digest.to_string()).collect();
        assert_eq!(
            digests,
            [
                "sha256:cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                "sha256:1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            ]
        );
        for row in ROWS {
            assert_eq!((find(row.name), of_digest(row.digest)), (Some(row), Some(row)));
            assert!(row.source.starts_with("https://") && row.source.ends_with(".gguf"), "{}", row.source);
            assert!(row.memory_bytes > row.bytes);
        }
        assert_eq!(ROWS.iter().filter(|row| row.standing == Standing::Default).count(), 1);
        assert_eq!(find("gpt"), None);
    }
}

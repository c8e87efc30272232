//! The file with weights, before llama.cpp sees it.

use std::io::{Read, Seek, SeekFrom};

use super::Options;
use memdir_core::digest::Digest;
use memdir_model::ModelError;

/// What every GGUF file starts with.
const MAGIC: &[u8; 4] = b"GGUF";
/// The versions of the format that llama.cpp reads.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;
/// How many places of a file are looked at to tell it from others, and how many bytes at each.
const SAMPLES: u64 = 64;
const SAMPLE_BYTES: u64 = 16 * 1024;

/// Looks whether the file can be one with weights at all.
///
/// # Errors
///
/// [`ModelError::Unloadable`] when there is none, or it starts as no GGUF file does.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the person names this file by its path")]
pub(super) fn check(options: &Options) -> Result<(), ModelError> {
    let fails =
        |why: String, hint: &str| ModelError::Unloadable { name: options.name.clone(), why, hint: hint.to_owned() };
    let other = "name a file in the GGUF format, or get one with `memdir model fetch`";
    if options.path.to_str().is_none() {
        return Err(fails("the path of its file is not UTF-8".to_owned(), "rename the file or the folders above it"));
    }
    let cannot = |error: std::io::Error| fails(format!("its file cannot be read: {}", error.kind()), other);
    if !std::fs::metadata(&options.path).map_err(cannot)?.is_file() {
        return Err(fails("its path is not that of a file".to_owned(), other));
    }
    let mut start = Vec::new();
    std::fs::File::open(&options.path).and_then(|file| file.take(8).read_to_end(&mut start)).map_err(cannot)?;
    let (magic, version) = start.split_at(start.len().min(MAGIC.len()));
    if magic != MAGIC {
        return Err(fails("its file is not in the GGUF format".to_owned(), other));
    }
    match <[u8; 4]>::try_from(version).map(u32::from_le_bytes) {
        Ok(version) if VERSIONS.contains(&version) => Ok(()),
        Ok(version) => Err(fails(format!("its file has version {version} of the GGUF format, not 2 or 3"), other)),
        Err(_) => Err(fails("its file is cut off".to_owned(), "get it again with `memdir model fetch`")),
    }
}

/// Tells one file with weights from another: a digest of its length and of samples all over it. Reading all of it would take
/// seconds at each start.
///
/// # Errors
///
/// What the system says.
#[expect(clippy::disallowed_types, reason = "the person names this file by its path")]
pub(super) fn identity(options: &Options) -> std::io::Result<Digest> {
    let mut file = std::fs::File::open(&options.path)?;
    let bytes = file.seek(SeekFrom::End(0))?;
    let mut samples = Vec::new();
    for at in 0..SAMPLES {
        file.seek(SeekFrom::Start(bytes / SAMPLES * at))?;
        (&mut file).take(SAMPLE_BYTES).read_to_end(&mut samples)?;
    }
    Ok(Digest::of_parts(&[&bytes.to_le_bytes(), &samples]))
}

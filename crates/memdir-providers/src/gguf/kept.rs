//! What was made of the beginnings of requests, in files of the person's cache.
//!
//! To read a prompt of some thousand tokens takes a processor the better part of a minute; to load what it made of them, a moment. A
//! file is named by the digest of all that it depends on, ends with the digest of its content, and is not even looked into
//! where one of the two is not right.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::token::LlamaToken;
use sha2::{Digest as _, Sha256};

use memdir_core::digest::Digest;

/// A beginning with fewer tokens is read as fast as it is loaded.
pub(super) const LEAST_TOKENS: usize = 64;
/// How much all files take at most; those go whose last use is longest ago. A small model is asked in seven ways, each with a
/// beginning of its own: they take 200 MB with a model of 1,500 million parameters, and when only four files were kept, each
/// pushed out the one that was needed next.
const MOST_BYTES: u64 = 512 << 20;
/// What the names of files end with.
const ENDING: &str = ".prefix";
/// What the names of files end with that are being written.
const UNFINISHED: &str = ".unfinished";
/// What is written for longer than this is not written any more: its process was killed.
const LONGEST_WRITING: Duration = Duration::from_secs(60 * 60);
/// The engine that made them: another one may make something else of the same tokens.
const ENGINE: &str = "memdir 1, llama-cpp-2 0.1.160";

/// A folder with files.
#[derive(Debug)]
pub(super) struct Kept {
    folder: PathBuf,
    weights: Digest,
}

impl Kept {
    /// The folder, for these weights. It is made if it is missing.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(super) fn open(folder: &Path, weights: Digest) -> std::io::Result<Self> {
        let mut made = std::fs::DirBuilder::new();
        made.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
        made.create(folder)?;
        Ok(Self { folder: folder.to_owned(), weights })
    }

    fn file(&self, tokens: &[LlamaToken]) -> PathBuf {
        let tokens: Vec<u8> = tokens.iter().flat_map(|token| token.0.to_le_bytes()).collect();
        let name = Digest::of_parts(&[ENGINE.as_bytes(), self.weights.to_string().as_bytes(), &tokens]).to_string();
        self.folder.join(format!("{}{ENDING}", name.trim_start_matches("sha256:")))
    }

    /// Loads what was made of these tokens into an empty context; false where there is none. After a failure the context has
    /// to be emptied.
    pub(super) fn load(&self, context: &mut LlamaContext<'_>, tokens: &[LlamaToken]) -> bool {
        let file = self.file(tokens);
        if !is_whole(&file).unwrap_or(false) {
            return false;
        }
        let is_loaded = context.state_seq_load_file(&file, 0, tokens.len()).is_ok_and(|(loaded, _)| loaded == tokens);
        if is_loaded && let Err(error) = touch(&file) {
            tracing::debug!(error = %error.kind(), "the kept beginning of a request counts as unused");
        }
        is_loaded
    }

    /// Keeps what the context made of these tokens, which are all it holds.
    ///
    /// # Errors
    ///
    /// What the system says; nothing is left behind then.
    pub(super) fn save(&self, context: &LlamaContext<'_>, tokens: &[LlamaToken]) -> std::io::Result<()> {
        let file = self.file(tokens);
        let unfinished = file.with_extension(format!("{}{UNFINISHED}", std::process::id()));
        let saved = write(context, tokens, &unfinished).and_then(|()| rename(&unfinished, &file));
        if saved.is_err() {
            remove(&unfinished);
        }
        saved?;
        self.drop_unused(MOST_BYTES)
    }

    /// Removes what is too much, but for the file that was used last, and what others have left behind.
    fn drop_unused(&self, most_bytes: u64) -> std::io::Result<()> {
        let files = self.files(ENDING)?;
        let mut bytes = 0_u64;
        for (at, (_, file, size)) in files.iter().rev().enumerate() {
            bytes = bytes.saturating_add(*size);
            if at > 0 && bytes > most_bytes {
                remove(file);
            }
        }
        // The newest was written just now.
        if let Some(before) = files.last().and_then(|(now, ..)| now.checked_sub(LONGEST_WRITING)) {
            let left = self.files(UNFINISHED)?;
            left.iter().take_while(|(changed, ..)| *changed < before).for_each(|(_, file, _)| remove(file));
        }
        Ok(())
    }

    /// The files whose names end so, each with the time when it was written or last used, the oldest first, and its size in bytes.
    #[expect(clippy::disallowed_methods, reason = "a folder of the cache, named by its path")]
    fn files(&self, ending: &str) -> std::io::Result<Vec<(SystemTime, PathBuf, u64)>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.ends_with(ending)) {
                // Another process may have removed it since.
                let seen = entry.metadata().and_then(|metadata| Ok((metadata.modified()?, metadata.len())));
                files.extend(seen.ok().map(|(changed, size)| (changed, entry.path(), size)));
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Writes a file that nobody else can read, and its digest at the end.
#[expect(clippy::disallowed_types, reason = "a file of the cache, named by its path, which llama.cpp writes")]
fn write(context: &LlamaContext<'_>, tokens: &[LlamaToken], file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    drop(options.open(file)?);
    context.state_seq_save_file(file, 0, tokens).map_err(std::io::Error::other)?;
    let mut written = std::fs::File::options().read(true).append(true).open(file)?;
    let (digest, _) = digest(&mut written, u64::MAX)?;
    written.write_all(&digest)
}

/// Whether a file ends with the digest of what is in front of it.
#[expect(clippy::disallowed_types, reason = "a file of the cache, named by its path")]
fn is_whole(file: &Path) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(file)?;
    let bytes = file.metadata()?.len().saturating_sub(32);
    let (digest, read) = digest(&mut file, bytes)?;
    let mut end = Vec::with_capacity(32);
    file.take(33).read_to_end(&mut end)?;
    Ok(read == bytes && end == digest)
}

/// Marks a file as used just now.
#[expect(clippy::disallowed_types, reason = "a file of the cache, named by its path")]
#[expect(
    clippy::disallowed_methods,
    reason = "nothing but the order of such files counts, which the system keeps by its own clock"
)]
fn touch(file: &Path) -> std::io::Result<()> {
    std::fs::File::options().append(true).open(file)?.set_modified(SystemTime::now())
}

/// The digest of the next bytes, and how many there were.
fn digest(from: &mut impl Read, bytes: u64) -> std::io::Result<([u8; 32], u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut from = from.take(bytes);
    let mut all = 0;
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok((hasher.finalize().into(), all));
        }
        all += read as u64;
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of the cache, named by its path")]
fn rename(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::rename(from, to)
}

/// Removes a file of the cache; one that stays does no harm.
#[expect(clippy::disallowed_methods, reason = "a file of the cache, named by its path")]
fn remove(file: &Path) {
    let _ = std::fs::remove_file(file);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the test is the other processes")]

    use super::*;

    #[test]
    fn what_killed_processes_have_left_goes_and_what_was_not_used_for_longest() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::open(folder.path(), Digest::of(b"")).unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let (minute, hours) = (Duration::from_secs(60), Duration::from_secs(2 * 60 * 60));
        let ages = [("a.7.unfinished", hours), ("b.8.unfinished", minute), ("other", hours)];
        let kept_ages = ["1", "2", "3", "4", "5"].map(|name| (format!("{name}.prefix"), minute));
        let made = ages.map(|(name, age)| (name.to_owned(), age)).into_iter().chain(kept_ages);
        for ((name, age), at) in made.zip(1..) {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(now - age + Duration::from_secs(at)).unwrap();
        }
        let left = |most_bytes| {
            kept.drop_unused(most_bytes).unwrap();
            let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(left(400), "2.prefix 3.prefix 4.prefix 5.prefix b.8.unfinished other");
        touch(&folder.path().join("2.prefix")).unwrap();
        assert_eq!(
            left(399),
            "2.prefix 4.prefix 5.prefix other",
            "an hour after its last use all that is unfinished goes"
        );
        assert_eq!(left(0), "2.prefix other");
    }
}

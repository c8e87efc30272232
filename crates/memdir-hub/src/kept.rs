//! [`Lists`]: the tools of each server as they were seen last, and as they were approved, in files.
//!
//! They are a cache: a file that is damaged, or belongs to another command, is no list. Whether a tool is approved is decided by
//! the pins in the registry alone; the approved definitions are kept to show what has changed.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use memdir_core::digest::Digest;
use memdir_tools::ServerName;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::connect::Opening;

/// The form of the files. Others are not read.
const FORM: u32 = 1;
/// What the files of a server hold, in their names.
const SEEN: &str = "seen";
const APPROVED: &str = "approved";
/// The longest file that is read, in bytes.
const MOST_FILE: u64 = 64 * 1024 * 1024;

/// The list of a server's tools, as it was seen last.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct SeenList {
    form: u32,
    /// The digest of how the server is reached: a list of another command is not believed.
    transport: Digest,
    /// How the conversation was opened.
    pub(crate) opening: Opening,
    /// The definitions as they came.
    pub(crate) tools: Vec<Map<String, Value>>,
}

impl SeenList {
    pub(crate) fn new(transport: Digest, opening: Opening, tools: Vec<Map<String, Value>>) -> Self {
        Self { form: FORM, transport, opening, tools }
    }
}

#[derive(Deserialize, Serialize)]
struct ApprovedList {
    form: u32,
    tools: Vec<Map<String, Value>>,
}

/// The folder of these files; nothing is kept where there is none.
#[derive(Clone, Debug)]
pub(crate) struct Lists(pub(crate) Option<PathBuf>);

impl Lists {
    /// The list that was seen last of a server that is reached in this way.
    pub(crate) fn seen(&self, server: &ServerName, transport: &Digest) -> Option<SeenList> {
        let list: SeenList = read(&self.file(server, SEEN)?)?;
        (list.form == FORM && list.transport == *transport).then_some(list)
    }

    /// The definitions that were approved; none where none are kept.
    pub(crate) fn approved(&self, server: &ServerName) -> Vec<Map<String, Value>> {
        let list = self.file(server, APPROVED).and_then(|file| read::<ApprovedList>(&file));
        list.filter(|list| list.form == FORM).map(|list| list.tools).unwrap_or_default()
    }

    pub(crate) fn put_seen(&self, server: &ServerName, list: &SeenList) -> std::io::Result<()> {
        self.put(server, SEEN, list)
    }

    pub(crate) fn put_approved(&self, server: &ServerName, tools: Vec<Map<String, Value>>) -> std::io::Result<()> {
        self.put(server, APPROVED, &ApprovedList { form: FORM, tools })
    }

    /// The files that there may be of a server.
    pub(crate) fn files(&self, server: &ServerName) -> impl Iterator<Item = PathBuf> {
        [SEEN, APPROVED].into_iter().filter_map(|what| self.file(server, what))
    }

    fn put(&self, server: &ServerName, what: &str, list: &impl Serialize) -> std::io::Result<()> {
        let Some(file) = self.file(server, what) else { return Ok(()) };
        replace(&file, &serde_json::to_vec(list)?)
    }

    fn file(&self, server: &ServerName, what: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("{server}.{what}.json")))
    }
}

fn read<T: for<'de> Deserialize<'de>>(file: &Path) -> Option<T> {
    let mut bytes = Vec::new();
    OpenOptions::new().read(true).open(file).ok()?.take(MOST_FILE).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).inspect_err(|_| tracing::debug!("a kept list is damaged")).ok()
}

/// Puts content in the place of a file in one instant. It is not flushed: what is lost is made again.
#[expect(clippy::disallowed_methods, reason = "a file of the hub's own, in no memory")]
fn replace(file: &Path, content: &[u8]) -> std::io::Result<()> {
    make_folder_of(file)?;
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = file.with_extension(format!("{}-{number}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&temporary).and_then(|mut out| out.write_all(content));
    written.and_then(|()| std::fs::rename(&temporary, file)).inspect_err(|_| {
        // It may not be there at all.
        let _ = std::fs::remove_file(&temporary);
    })
}

/// Makes the folder of a file, which only the person can look into, where it is not there.
pub(crate) fn make_folder_of(file: &Path) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_what_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one.seen.json");
        make_folder_of(&file.join("in the way")).unwrap();
        replace(&file, b"{}").unwrap_err();
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}

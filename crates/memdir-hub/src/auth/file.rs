//! The file of tokens: what logins at servers have given. Only this person can read it.
//!
//! It is replaced whole, under a lock on its folder. A second lock, one per server, is held from before a token is refreshed
//! until the new one is written, so that of many processes one refreshes and the others read what it got.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};

use crate::kept::make_folder_of;
use memdir_core::retry;
use memdir_tools::ServerName;

/// The form of the file.
const VERSION: u32 = 1;
/// A larger file is none of ours.
const MOST_BYTES: u64 = 4 << 20;
/// How long another process may take to replace the file, and to refresh a token.
const PATIENCE: Duration = Duration::from_secs(10);
const REFRESH_PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether another process has refreshed.
const PAUSE: Duration = Duration::from_millis(20);

/// A client that was registered at an authorisation server beforehand: by its owner, not by memdir.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RegisteredClient {
    /// Its id. An `https` address is one of a document that describes the client, and is used where the server takes such.
    pub id: String,
    /// Its secret, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The authorisation server that knows it; whichever the first login finds, where it is absent. It is shown to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
}

impl RegisteredClient {
    pub(super) fn is_document(&self) -> bool {
        self.id.starts_with("https://")
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RegisteredClient").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What is kept of a server.
#[derive(Clone, Default, Deserialize, Serialize)]
pub(super) struct Entry {
    /// The address that all of it belongs to, without its query.
    pub(super) url: String,
    /// What the server last said when it asked for a login, as `WWW-Authenticate` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) challenge: Option<String>,
    /// Whether the keyring of the system has the rest of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_keyring: bool,
    /// Whether the keyring may still hold an older login, which counts for nothing and is to be removed. Never with `in_keyring`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) left_in_keyring: bool,
    /// The client that the person named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<RegisteredClient>,
    /// The secret of the client that holds the tokens, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) credentials: Option<StoredCredentials>,
}

/// All that the file holds.
#[derive(Deserialize, Serialize)]
pub(super) struct Kept {
    version: u32,
    #[serde(default)]
    pub(super) servers: BTreeMap<ServerName, Entry>,
}

/// Held while a token is refreshed. The kernel lets go of it when the process ends.
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
pub(super) struct RefreshLock(#[expect(dead_code, reason = "it is held, not read")] std::fs::File);

/// Waits until no other process refreshes a server's token, and keeps all others from it.
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
pub(super) async fn lock_refresh(tokens: &Path, server: &ServerName) -> io::Result<RefreshLock> {
    let mut name = tokens.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{server}.lock"));
    let path = tokens.with_file_name(name);
    make_folder_of(&path)?;
    let file: std::fs::File = private().create(true).truncate(false).open(path)?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(RefreshLock(file)),
            Err(std::fs::TryLockError::WouldBlock) if waited < REFRESH_PATIENCE => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
        waited += PAUSE;
    }
}

fn private() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[expect(clippy::disallowed_types, reason = "the file of tokens is one of the person's own, outside every memory")]
pub(super) fn read(path: &Path) -> io::Result<Kept> {
    let file: std::fs::File = match std::fs::OpenOptions::new().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Kept { version: VERSION, servers: BTreeMap::new() });
        }
        Err(error) => return Err(error),
    };
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o077 != 0 {
        // Others can read or change it.
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut content)?;
    let kept: Kept = serde_json::from_slice(&content).map_err(|_| io::ErrorKind::InvalidData)?;
    if kept.version == VERSION { Ok(kept) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Changes the file on a thread that may wait, for the lock and for the disk.
pub(super) async fn change(
    path: &Path,
    edit: impl FnOnce(&mut BTreeMap<ServerName, Entry>) + Send + 'static,
) -> io::Result<()> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || change_now(&path, edit)).await?
}

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the file of tokens is one of the person's own, outside every memory"
)]
fn change_now(path: &Path, edit: impl FnOnce(&mut BTreeMap<ServerName, Entry>)) -> io::Result<()> {
    make_folder_of(path)?;
    // Where a folder cannot be opened as a file, two changes in the same instant are not told apart.
    let folder = path.parent().and_then(|folder| std::fs::File::open(folder).ok());
    if let Some(folder) = &folder {
        retry::within(PATIENCE, || match folder.try_lock() {
            Ok(()) => Ok(Some(())),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        })?
        .ok_or(io::ErrorKind::TimedOut)?;
    }
    let mut kept = read(path)?;
    edit(&mut kept.servers);
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".memdir-tmp");
    // One name under the lock: what a crash has left goes, and a link that lies there is not followed.
    match std::fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out: std::fs::File = private().create_new(true).open(&temporary)?;
    out.write_all(&serde_json::to_vec(&kept)?)?;
    out.sync_all()?;
    std::fs::rename(&temporary, path)?;
    folder.as_ref().map_or(Ok(()), std::fs::File::sync_all)
}

//! The keyring of the system: the Secret Service, the keychain of macOS, the Credential Manager of Windows.
//!
//! It holds one text for each server and file of tokens, so that no profile of a person takes the login of another. A build without the feature `keyring` has none.

use std::path::Path;

use super::store::Unusable;
use memdir_tools::ServerName;

/// What the keyring is asked for.
#[derive(Debug)]
#[cfg_attr(not(feature = "keyring"), expect(dead_code, reason = "only a keyring reads the text"))]
pub(super) enum Request {
    Read,
    Write(String),
    /// Nothing happens where there is nothing.
    Remove,
}

/// Asks the keyring for something about a server of this file of tokens. Gives what it holds where that is read, and `None` else.
#[cfg(not(feature = "keyring"))]
pub(super) async fn ask(_: &Path, _: &ServerName, _: Request) -> Result<Option<String>, Unusable> {
    Err(Unusable::Keyring("this memdir is built without support for the system's keyring".to_owned()))
}

#[cfg(all(test, feature = "keyring"))]
pub(super) use system::account;
#[cfg(feature = "keyring")]
pub(super) use system::ask;

#[cfg(feature = "keyring")]
mod system {
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;

    use keyring_core::{CredentialStore, Entry, Error, get_default_store, set_default_store, unset_default_store};
    use tokio::sync::{Semaphore, oneshot};

    use super::{Path, Request, ServerName, Unusable};
    use memdir_core::digest::Digest;

    /// What memdir's entries are found by, beside their account.
    const SERVICE: &str = "memdir";
    /// How many digits of a digest tell files of tokens apart.
    const DIGITS: usize = 16;
    /// How long an answer may take: the person may be asked for a password.
    const PATIENCE: Duration = Duration::from_secs(60);
    /// Held by the thread that asks, so that a keyring that never answers keeps no more than one.
    static ONE: Semaphore = Semaphore::const_new(1);

    /// Asks the keyring for something about a server of this file of tokens. Gives what it holds where that is read, and `None` else.
    pub(in super::super) async fn ask(
        tokens: &Path,
        server: &ServerName,
        request: Request,
    ) -> Result<Option<String>, Unusable> {
        let account = account(tokens, server);
        let answered = async {
            let permit = ONE.acquire().await.map_err(io::Error::other)?;
            let (tell, told) = oneshot::channel();
            // A thread of its own: the end of the program waits for those of the runtime.
            std::thread::Builder::new().name("keyring".to_owned()).spawn(move || {
                let _permit = permit;
                // Nobody may be waiting any more.
                let _ = tell.send(ask_now(&account, request));
            })?;
            told.await.map_err(io::Error::other)
        };
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => answer.map_err(|error| Unusable::Keyring(words(&error))),
            Ok(Err(error)) => Err(Unusable::Keyring(format!("the system's keyring was not asked: {}", error.kind()))),
            Err(_) => {
                Err(Unusable::Keyring(format!("the system's keyring gave no answer in {} s", PATIENCE.as_secs())))
            }
        }
    }

    /// The account of a server's entry: its name, and the start of the digest of the path of the file of tokens.
    pub(in super::super) fn account(tokens: &Path, server: &ServerName) -> String {
        let digest = Digest::of(tokens.as_os_str().as_encoded_bytes()).to_string();
        let start: String = digest.chars().skip("sha256:".len()).take(DIGITS).collect();
        format!("{server}@{start}")
    }

    fn ask_now(account: &str, request: Request) -> keyring_core::Result<Option<String>> {
        let entry = Entry::new_in_store(&opened()?, SERVICE, account)?;
        let answer = match request {
            Request::Read => entry.get_secret().map(|bytes| String::from_utf8(bytes).ok()),
            Request::Write(text) => entry.set_secret(text.as_bytes()).map(|()| None),
            Request::Remove => entry.delete_credential().map(|()| None),
        };
        match answer {
            Err(Error::NoEntry) => Ok(None),
            Err(error @ Error::PlatformFailure(_)) => {
                // Its service may have ended: it is connected to anew next time.
                unset_default_store();
                Err(error)
            }
            answer => answer,
        }
    }

    fn opened() -> keyring_core::Result<Arc<CredentialStore>> {
        if let Some(store) = get_default_store() {
            return Ok(store);
        }
        let store = open()?;
        set_default_store(Arc::clone(&store));
        Ok(store)
    }

    #[cfg(target_os = "macos")]
    fn open() -> keyring_core::Result<Arc<CredentialStore>> {
        Ok(apple_native_keyring_store::keychain::Store::new()?)
    }

    #[cfg(windows)]
    fn open() -> keyring_core::Result<Arc<CredentialStore>> {
        Ok(windows_native_keyring_store::Store::new()?)
    }

    #[cfg(all(unix, not(any(target_os = "macos", target_os = "ios", target_os = "android"))))]
    fn open() -> keyring_core::Result<Arc<CredentialStore>> {
        Ok(dbus_secret_service_keyring_store::Store::new()?)
    }

    #[cfg(not(any(windows, all(unix, not(any(target_os = "ios", target_os = "android"))))))]
    fn open() -> keyring_core::Result<Arc<CredentialStore>> {
        Err(Error::NoDefaultStore)
    }

    /// What is wrong, without a word of what the keyring holds.
    fn words(error: &Error) -> String {
        match error {
            Error::PlatformFailure(_) | Error::NoDefaultStore => "no keyring of the system answers".to_owned(),
            Error::NoStorageAccess(_) => "the system's keyring is locked".to_owned(),
            Error::TooLong(_, most) => {
                format!("the login is longer than the {most} bytes that the system's keyring takes")
            }
            _ => "the system's keyring gave no usable answer".to_owned(),
        }
    }
}

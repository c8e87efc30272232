//! [`Store`]: what is kept of one server, in the file of tokens or in the system's keyring.
//!
//! The file says where: an entry of it holds the login itself, or that the keyring does. A login or a refresh writes to the place
//! that the person chose, and takes what was there from the other one.

use std::fmt;
use std::io;
use std::path::PathBuf;

use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use serde::{Deserialize, Serialize};

use super::file::{self, Entry, RefreshLock, RegisteredClient};
use super::keyring::{self, Request};
use memdir_tools::ServerName;

/// Where logins are kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tokens {
    /// The file of tokens, which only the person may read. It also says which logins the keyring holds.
    pub file: PathBuf,
    /// Where a login is kept that comes from now on, and one that is refreshed.
    pub place: TokenPlace,
}

/// A place for what logins give.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenPlace {
    /// The file of tokens.
    #[default]
    File,
    /// The keyring of the system. A build without the feature `keyring` refuses logins there.
    Keyring,
}

/// Why what is kept cannot be used, without a word of what it holds.
#[derive(Debug)]
pub(super) enum Unusable {
    File(io::ErrorKind),
    /// What is wrong.
    Keyring(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(kind) => write!(formatter, "the file of tokens cannot be used: {kind}"),
            Self::Keyring(problem) => formatter.write_str(problem),
        }
    }
}

impl Unusable {
    /// The same, which says what the person can do where a login cannot be kept.
    fn with_way_out(self) -> Self {
        match self {
            Self::Keyring(problem) => Self::Keyring(format!(
                "{problem}; `memdir config set tools.tokens file` keeps logins in a file instead"
            )),
            Self::File(_) => self,
        }
    }
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        Self::File(error.kind())
    }
}

impl From<Unusable> for AuthError {
    fn from(unusable: Unusable) -> Self {
        Self::CredentialStoreError(unusable.to_string())
    }
}

/// Who holds tokens: what a login knows and a refresh leaves as it is.
#[derive(Clone)]
pub(super) struct Holder {
    pub(super) client: Option<RegisteredClient>,
    pub(super) secret: Option<String>,
}

/// What is kept of one server, which may be nothing.
#[derive(Clone)]
pub(super) struct Store {
    tokens: Tokens,
    server: ServerName,
    url: String,
    /// Set by a login, and kept with the tokens that it brings.
    pub(super) holder: Option<Holder>,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Store {
    pub(super) fn new(tokens: &Tokens, server: &ServerName, url: &url::Url) -> Self {
        let mut url = url.clone();
        url.set_query(None);
        url.set_fragment(None);
        Self { tokens: tokens.clone(), server: server.clone(), url: url.into(), holder: None }
    }

    /// What is kept of the server; `None` also where it is kept for another address.
    pub(super) async fn entry(&self) -> Result<Option<Entry>, Unusable> {
        let Some(in_file) = self.in_file()? else { return Ok(None) };
        if !in_file.in_keyring {
            return Ok(Some(in_file));
        }
        let held = self.ask(Request::Read).await?;
        let held: Option<Entry> = held.and_then(|text| serde_json::from_str(&text).ok());
        Ok(Some(match held.filter(|entry| entry.url == self.url) {
            Some(held) => Entry { challenge: in_file.challenge, ..held },
            // The move to the keyring did not finish, so the entry in the file is used.
            None => in_file,
        }))
    }

    /// Fails where tokens could not be kept: to be asked before some are taken from a server.
    pub(super) async fn check_place(&self) -> Result<(), Unusable> {
        match self.tokens.place {
            TokenPlace::File => Ok(()),
            TokenPlace::Keyring => self.ask(Request::Read).await.map(drop).map_err(Unusable::with_way_out),
        }
    }

    /// What a login builds on.
    ///
    /// # Errors
    ///
    /// [`Unusable`], also where the login could not be kept.
    pub(super) async fn before_login(&self) -> Result<Entry, Unusable> {
        self.check_place().await?;
        let kept = match self.entry().await {
            // No login is lost by it: the keyring still has what it had.
            Err(Unusable::Keyring(_)) => self.in_file()?,
            kept => kept?,
        };
        Ok(kept.unwrap_or_else(|| self.nothing()))
    }

    /// Keeps what the server said when it asked for a login, where that is new.
    pub(super) async fn note(&self, challenge: &str) -> Result<(), Unusable> {
        if self.in_file()?.is_some_and(|entry| entry.challenge.as_deref() == Some(challenge)) {
            return Ok(());
        }
        let challenge = challenge.to_owned();
        Ok(self.change_file(|entry| entry.challenge = Some(challenge)).await?)
    }

    /// Waits until no other process refreshes the server's token, and keeps all others from it.
    pub(super) async fn lock_refresh(&self) -> Result<RefreshLock, Unusable> {
        Ok(file::lock_refresh(&self.tokens.file, &self.server).await?)
    }

    /// Keeps a login, or its loss, where the person wants it. The lock of the refresh is held.
    async fn keep(&self, holder: Holder, credentials: Option<StoredCredentials>) -> Result<(), Unusable> {
        let entry = Entry { client: holder.client, secret: holder.secret, credentials, ..self.nothing() };
        match self.tokens.place {
            TokenPlace::File => self.keep_in_file(entry).await,
            TokenPlace::Keyring => self.keep_in_keyring(&entry).await,
        }
    }

    async fn keep_in_file(&self, entry: Entry) -> Result<(), Unusable> {
        let edit = move |kept: &mut Entry| {
            let left_in_keyring = kept.in_keyring || kept.left_in_keyring;
            *kept = Entry { challenge: kept.challenge.take(), left_in_keyring, ..entry };
        };
        self.change_file(edit).await?;
        if let Err(error) = self.remove_left().await {
            // It is not used any more, and is removed with the next login, refresh or logout.
            tracing::warn!(server = %self.server, %error, "the keyring still holds an older login");
        }
        Ok(())
    }

    async fn keep_in_keyring(&self, entry: &Entry) -> Result<(), Unusable> {
        let text = serde_json::to_string(entry).map_err(io::Error::from)?;
        // What is left there must not be taken for the login that comes.
        self.remove_left().await.map_err(Unusable::with_way_out)?;
        // Before the keyring has it: by this it is found again, and can be forgotten.
        self.change_file(|kept| kept.in_keyring = true).await?;
        self.ask(Request::Write(text)).await.map_err(Unusable::with_way_out)?;
        let moved = Entry { in_keyring: true, ..self.nothing() };
        Ok(self.change_file(move |kept| *kept = Entry { challenge: kept.challenge.take(), ..moved }).await?)
    }

    /// Removes the older login that stayed in the keyring, where there is one.
    async fn remove_left(&self) -> Result<(), Unusable> {
        let kept = file::read(&self.tokens.file)?;
        if kept.servers.get(&self.server).is_some_and(|entry| entry.left_in_keyring) {
            self.ask(Request::Remove).await?;
            self.change_file(|kept| kept.left_in_keyring = false).await?;
        }
        Ok(())
    }

    /// Who holds the tokens now: after a login those that it knows.
    async fn holder(&self) -> Result<Holder, Unusable> {
        if let Some(holder) = &self.holder {
            return Ok(holder.clone());
        }
        let Entry { client, secret, .. } = self.entry().await?.unwrap_or_else(|| self.nothing());
        Ok(Holder { client, secret })
    }

    async fn ask(&self, request: Request) -> Result<Option<String>, Unusable> {
        keyring::ask(&self.tokens.file, &self.server, request).await
    }

    fn in_file(&self) -> Result<Option<Entry>, Unusable> {
        Ok(file::read(&self.tokens.file)?.servers.remove(&self.server).filter(|entry| entry.url == self.url))
    }

    fn nothing(&self) -> Entry {
        Entry { url: self.url.clone(), ..Entry::default() }
    }

    /// Changes the entry in the file, which is made where there is none for this address.
    async fn change_file(&self, edit: impl FnOnce(&mut Entry) + Send + 'static) -> io::Result<()> {
        let (server, nothing) = (self.server.clone(), self.nothing());
        file::change(&self.tokens.file, |servers| {
            let entry = servers.entry(server).or_default();
            if entry.url != nothing.url {
                // The keyring has one entry a server, whatever its address.
                let Entry { in_keyring, left_in_keyring, .. } = *entry;
                *entry = Entry { in_keyring, left_in_keyring, ..nothing };
            }
            edit(entry);
        })
        .await
    }
}

#[async_trait::async_trait]
impl CredentialStore for Store {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.entry().await?.and_then(|entry| entry.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        Ok(self.keep(self.holder().await?, Some(credentials)).await?)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        Ok(self.keep(self.holder().await?, None).await?)
    }

    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        // The lock of the refresh is held, so nobody has put others in their place.
        self.clear().await
    }
}

/// Forgets a server, whatever address it had. Gives whether there was something to forget.
pub(super) async fn remove(tokens: &Tokens, server: &ServerName) -> Result<bool, Unusable> {
    let known = |file: file::Kept| file.servers.get(server).map(|entry| entry.in_keyring || entry.left_in_keyring);
    if known(file::read(&tokens.file)?).is_none() {
        return Ok(false);
    }
    let _lock = file::lock_refresh(&tokens.file, server).await?;
    let Some(in_keyring) = known(file::read(&tokens.file)?) else { return Ok(false) };
    if in_keyring {
        // First: what the file says of it is how it is found again.
        keyring::ask(&tokens.file, server, Request::Remove).await?;
    }
    let server = server.clone();
    file::change(&tokens.file, move |servers| drop(servers.remove(&server))).await?;
    Ok(true)
}

//! [`Bearer`]: the token that a connection shows, as it is now.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthError, OAuthClientConfig, StoredCredentials};
use url::Url;

use super::file::Entry;
use super::store::{Store, Tokens};
use super::{manager, words};
use memdir_tools::ServerName;

/// A token is refreshed once it holds for less than this, or than half of its time.
const MARGIN: Duration = Duration::from_secs(30);
/// The longest challenge that is kept, in bytes.
const MOST_CHALLENGE: usize = 4096;

/// The tokens of one server, which all processes of the person share.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    store: Store,
    url: Url,
}

impl Bearer {
    /// The tokens that were given for this address.
    pub(crate) fn new(tokens: &Tokens, server: &ServerName, url: &Url) -> Self {
        Self { store: Store::new(tokens, server, url), url: url.clone() }
    }

    /// A token that holds for now, refreshed where it has to be; `None` where the person has to log in.
    ///
    /// # Errors
    ///
    /// [`AuthError`], where what is kept cannot be read, or the authorisation server not be reached.
    pub(crate) async fn token(&self) -> Result<Option<String>, AuthError> {
        let entry = self.store.entry().await?;
        let Some(credentials) = entry.and_then(|entry| entry.credentials) else { return Ok(None) };
        match secret_of(&credentials) {
            Some(token) if is_over(&credentials) => self.replace(&token).await,
            token => Ok(token),
        }
    }

    /// Another token in the place of one that is over, or that the server has refused; `None` where the person has to log in.
    /// Of many processes that want one at the same time, one refreshes.
    ///
    /// # Errors
    ///
    /// Those of [`Bearer::token`].
    pub(crate) async fn replace(&self, old: &str) -> Result<Option<String>, AuthError> {
        let _lock = self.store.lock_refresh().await?;
        let Some(entry) = self.store.entry().await? else { return Ok(None) };
        let Some(credentials) = &entry.credentials else { return Ok(None) };
        match secret_of(credentials) {
            Some(token) if token != old && !is_over(credentials) => return Ok(Some(token)),
            _ => {}
        }
        // The words are ours from here on: this error ends in messages.
        self.refresh(&entry, credentials).await.map_err(|error| AuthError::TokenRefreshFailed(words(&error)))
    }

    async fn refresh(&self, entry: &Entry, credentials: &StoredCredentials) -> Result<Option<String>, AuthError> {
        if credentials.token_response.as_ref().is_none_or(|tokens| tokens.refresh_token().is_none()) {
            return Ok(None);
        }
        self.store.check_place().await?;
        let (mut manager, _) = manager(&self.url, entry.challenge.as_deref()).await?;
        manager.set_credential_store(self.store.clone());
        // No, where another authorisation server answers for the server by now.
        if !manager.initialize_from_store().await? {
            return Ok(None);
        }
        let mut config = OAuthClientConfig::new(&credentials.client_id, self.url.as_str());
        config.client_secret.clone_from(&entry.secret);
        manager.configure_client(config)?;
        match manager.refresh_token().await {
            Ok(tokens) => Ok(Some(tokens.access_token().secret().clone())),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps what the server said when it asked for a login, for the next one.
    pub(crate) async fn note(&self, challenge: &str) {
        if challenge.len() <= MOST_CHALLENGE
            && let Err(error) = self.store.note(challenge).await
        {
            tracing::warn!(%error, "what the server said of a login was not kept");
        }
    }
}

fn secret_of(credentials: &StoredCredentials) -> Option<String> {
    Some(credentials.token_response.as_ref()?.access_token().secret().clone())
}

/// Whether the token holds for too short a time to be shown.
#[expect(clippy::disallowed_methods, reason = "a token is over by the clock, which is not this program's to set")]
fn is_over(credentials: &StoredCredentials) -> bool {
    let lasts = credentials.token_response.as_ref().and_then(TokenResponse::expires_in);
    let (Some(lasts), Some(received)) = (lasts, credentials.token_received_at) else { return false };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let left = (Duration::from_secs(received) + lasts).saturating_sub(now);
    left < MARGIN.min(lasts / 2).max(Duration::from_secs(1))
}

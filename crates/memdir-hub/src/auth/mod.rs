//! Logins at servers that ask who the person is: OAuth 2.1 as the protocol has it, through `rmcp`.
//!
//! Owns the file of tokens, memdir's entries in the system's keyring, and the redirect that ends a login. A token goes to the server
//! that it was given for and nowhere else, and into no message, log or record.

mod bearer;
mod file;
mod keyring;
mod redirect;
mod store;

use std::io;
use std::time::Duration;

use http::header::AUTHORIZATION;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationMetadata, OAuthClientConfig, WWWAuthenticateParams,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;

pub(crate) use bearer::Bearer;
pub use file::RegisteredClient;
pub use store::{TokenPlace, Tokens};

use crate::connect::http::{Place, install_tls};
use crate::connect::{Places, unreachable};
use file::Entry;
use memdir_core::catalog::shorten;
use memdir_tools::{CallError, Server, ServerName};
use redirect::{Redirect, parameter};
use store::{Holder, Store};

/// How long the person has to log in.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where a login takes place.
#[derive(Clone, Debug, PartialEq)]
pub struct LoginPage {
    /// The address that the person's browser has to visit.
    pub address: String,
    /// The origin of that page, where the person says who they are.
    pub origin: String,
    /// The origin that gives the token.
    pub token_origin: String,
}

/// Logs in at a server, and keeps what that gives in the [`TokenPlace`] of the places.
///
/// `open` is given the address that the person's browser has to visit; it may show it, or open it. The browser comes back to a
/// port of this machine. Waits until it has, at most ten minutes, or until `stop`.
///
/// # Errors
///
/// [`CallError::Unreachable`] where the server is a program, offers no login, or the login was refused; [`CallError::Timeout`];
/// [`CallError::Cancelled`].
pub async fn login(
    server: &Server,
    places: &Places,
    open: impl FnOnce(&str),
    stop: &CancellationToken,
) -> Result<(), CallError> {
    login_as(server, places, None, |page| open(&page.address), stop).await
}

/// Like [`login`], for a caller who shows where the login takes place, and as a client that was registered at the authorisation
/// server beforehand, if there is one. It is kept for the next login.
///
/// # Errors
///
/// Those of [`login`].
pub async fn login_as(
    server: &Server,
    places: &Places,
    client: Option<RegisteredClient>,
    open: impl FnOnce(&LoginPage),
    stop: &CancellationToken,
) -> Result<(), CallError> {
    let failed = |problem: String| unreachable(server, format!("the login failed: {problem}"));
    let place = Place::of(server, &places.environment).map_err(failed)?;
    if place.headers.contains_key(&AUTHORIZATION) {
        return Err(failed("its header `authorization` is configured, and sent in the place of a token".to_owned()));
    }
    let tokens = places.tokens.as_ref().ok_or_else(|| failed("there is no folder for tokens".to_owned()))?;
    let store = Store::new(tokens, &server.name, &place.url);
    let attempt = tokio::time::timeout(PATIENCE, attempt(store, &place.url, client, open));
    tokio::select! {
        () = stop.cancelled() => Err(CallError::Cancelled),
        done = attempt => match done {
            Ok(done) => done.map_err(|error| failed(words(&error))),
            Err(_) => Err(CallError::Timeout { server: server.name.to_string(), seconds: PATIENCE.as_secs() }),
        },
    }
}

/// Forgets what a login at a server gave, whether the file of tokens or the system's keyring has it. It stays valid at the server
/// until it expires or is revoked there.
///
/// # Errors
///
/// [`CallError::Unreachable`] where the file cannot be changed, or the keyring that has the login does not answer.
pub async fn logout(server: &Server, places: &Places) -> Result<(), CallError> {
    forget_login(&server.name, places).await.map(drop).map_err(|problem| unreachable(server, problem))
}

/// As [`logout`]. Gives whether there was something, and what is wrong in words.
pub(crate) async fn forget_login(server: &ServerName, places: &Places) -> Result<bool, String> {
    let Some(tokens) = &places.tokens else { return Ok(false) };
    store::remove(tokens, server).await.map_err(|error| format!("its login is not forgotten: {error}"))
}

async fn attempt(
    mut store: Store,
    url: &Url,
    client: Option<RegisteredClient>,
    open: impl FnOnce(&LoginPage),
) -> Result<(), AuthError> {
    let no_port = |error: io::Error| AuthError::InternalError(format!("no port can be opened: {}", error.kind()));
    let entry = store.before_login().await?;
    let redirect = Redirect::open().await.map_err(no_port)?;
    let (mut manager, metadata) = manager(url, entry.challenge.as_deref()).await?;
    let scopes = scopes(&manager, &entry, url).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = client.or(entry.client);
    store.holder = Some(choose(&mut manager, &metadata, client, &redirect.uri, &scopes).await?);
    manager.set_credential_store(store.clone());
    let address = manager.get_authorization_url(&scopes).await?;
    let state = query_of(&address).and_then(|query| parameter(&query, "state")).unwrap_or_default();
    let (origin, token_origin) = (origin_of(&address), origin_of(&metadata.token_endpoint));
    open(&LoginPage { address, origin, token_origin });
    let came = redirect.wait(state).await.map_err(no_port)?;
    if let Some(error) = query_of(&came).and_then(|query| parameter(&query, "error")) {
        return Err(AuthError::AuthorizationFailed(error));
    }
    let answer = AuthorizationCallback::from_redirect_url(&came)?;
    // A process that refreshes what was there before must not write over what comes now.
    let _lock = store.lock_refresh().await?;
    manager.exchange_code_for_token_with_issuer(&answer.code, &answer.csrf_token, answer.issuer.as_deref()).await?;
    Ok(())
}

fn origin_of(address: &str) -> String {
    Url::parse(address).map_or_else(|_| shorten(address), |url| url.origin().ascii_serialization())
}

fn query_of(address: &str) -> Option<String> {
    Url::parse(address).ok()?.query().map(str::to_owned)
}

/// A manager that knows the authorisation server of this server, and what that says of itself.
async fn manager(
    url: &Url,
    challenge: Option<&str>,
) -> Result<(AuthorizationManager, AuthorizationMetadata), AuthError> {
    install_tls();
    let mut manager = AuthorizationManager::new(url.clone()).await?;
    let metadata = manager.resolve_metadata_from_challenge(challenge).await?.metadata;
    manager.set_metadata(metadata.clone());
    Ok((manager, metadata))
}

/// What is asked for: what the server names, and what was granted before where it wants more than that.
async fn scopes(manager: &AuthorizationManager, entry: &Entry, url: &Url) -> Vec<String> {
    let mut scopes = manager.select_initial_scopes(&[]).await;
    let wants_more =
        entry.challenge.as_ref().is_some_and(|text| WWWAuthenticateParams::parse(text, url).is_insufficient_scope());
    for granted in entry.credentials.iter().filter(|_| wants_more).flat_map(|kept| &kept.granted_scopes) {
        if !scopes.contains(granted) {
            scopes.push(granted.clone());
        }
    }
    scopes
}

/// Becomes the client that the person named, where this authorisation server knows it; else registers a new one.
async fn choose(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    client: Option<RegisteredClient>,
    redirect: &str,
    scopes: &[&str],
) -> Result<Holder, AuthError> {
    let takes_documents =
        metadata.additional_fields.get("client_id_metadata_document_supported").and_then(Value::as_bool) == Some(true);
    let is_known = client.as_ref().is_some_and(|client| {
        let is_same = client.issuer.is_none() || client.issuer == metadata.issuer;
        if client.is_document() { takes_documents } else { is_same }
    });
    let Some(client) = client.as_ref().filter(|_| is_known) else {
        let registered = manager.register_client("memdir", redirect, scopes).await?;
        return Ok(Holder { client, secret: registered.client_secret });
    };
    let mut config = OAuthClientConfig::new(&client.id, redirect);
    config.client_secret.clone_from(&client.secret);
    manager.configure_client(config)?;
    let issuer = client.issuer.clone().or_else(|| metadata.issuer.clone()).filter(|_| !client.is_document());
    Ok(Holder { secret: client.secret.clone(), client: Some(RegisteredClient { issuer, ..client.clone() }) })
}

/// What went wrong, in one line that holds no token, secret or code. `rmcp` puts answers of servers into its errors, and an address
/// may hold a key; so only what is known to hold neither is repeated.
fn words(error: &AuthError) -> String {
    let of_the_server = |text: &str, start: &str| text.strip_prefix(start).map(|said| format!(": {}", shorten(said)));
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_) => "another login is needed".to_owned(),
        AuthError::AuthorizationFailed(code) => format!("the answer was `{}`", shorten(code)),
        AuthError::TokenExchangeFailed(text) | AuthError::TokenRefreshFailed(text) => {
            let said = of_the_server(text, "Server returned error response: ").unwrap_or_default();
            format!("the authorisation server gave no token{said}")
        }
        AuthError::RegistrationFailed(text) => {
            let said = of_the_server(text, "HTTP ").unwrap_or_default();
            format!("the authorisation server registered no client{said}")
        }
        AuthError::CredentialStoreError(problem) => problem.clone(),
        AuthError::InternalError(problem) if problem.starts_with("no port") => problem.clone(),
        AuthError::DiscoveryRequestFailed { url, .. } => {
            format!("`{}{}` cannot be read", url.origin().ascii_serialization(), url.path())
        }
        AuthError::ProtectedResourceMetadataInvalid { .. } => {
            "what the server says of its authorisation server is not meant for this address".to_owned()
        }
        AuthError::AuthorizationServersUnavailable { .. }
        | AuthError::AuthorizationServerMismatch { .. }
        | AuthError::AuthorizationServerMissingIssuer { .. }
        | AuthError::PkceUnsupported => shorten(&error.to_string()),
        _ => "the authorisation server gave no usable answer".to_owned(),
    }
}

#[cfg(test)]
mod tests;

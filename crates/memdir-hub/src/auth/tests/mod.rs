use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::http::header::{LOCATION, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::connect::http::tests::{Came, Scripted, call, http_server, json_of, plain, reach, result_of};
use memdir_tools::Transport;

/// A server and its authorisation server, in one. Each refresh gives a new token, and takes the old refresh token away.
#[derive(Default)]
struct Provider {
    /// How many tokens it has given: the last one holds.
    given: AtomicUsize,
    refreshes: AtomicUsize,
    is_revoked: AtomicBool,
    /// Whether calls want more than was granted at first.
    wants_more: AtomicBool,
    /// Whether a token is over as soon as it is given.
    is_brief: AtomicBool,
    /// Whether another origin gives the tokens.
    is_split: AtomicBool,
}

const SECRETS: [&str; 4] = ["access-", "refresh-", "code-", "client-secret-"];

impl Provider {
    async fn start() -> (String, Arc<Scripted>, Arc<Self>) {
        let provider = Arc::new(Self::default());
        let answering = Arc::clone(&provider);
        let (url, scripted) = Scripted::start(move |came| answering.answer(came)).await;
        (url, scripted, provider)
    }

    fn answer(&self, came: &Came) -> Response {
        let base = format!("http://{}", came.header("host"));
        let tokens = if self.is_split.load(Ordering::SeqCst) { "https://tokens.example" } else { &base };
        match came.path.split('?').next().unwrap_or_default() {
            "/.well-known/oauth-protected-resource" => json_of(&json!({
                "resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read"],
            })),
            "/.well-known/oauth-authorization-server" => json_of(&json!({
                "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{tokens}/token"),
                "registration_endpoint": format!("{base}/register"), "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"], "scopes_supported": ["read", "write", "offline_access"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            })),
            "/register" => {
                let client =
                    json!({"client_id": "registered", "client_secret": "client-secret-1", "redirect_uris": []});
                (StatusCode::CREATED, json_of(&client)).into_response()
            }
            "/authorize" => {
                let asked = query_of(&format!("{base}{}", came.path)).unwrap();
                let (to, state) = (parameter(&asked, "redirect_uri").unwrap(), parameter(&asked, "state").unwrap());
                (StatusCode::FOUND, [(LOCATION, format!("{to}?code=code-1&state={state}"))]).into_response()
            }
            "/token" => self.token(came),
            "/mcp" if came.header("authorization") == format!("Bearer {}", self.newest()) => self.serve(came),
            "/mcp" => {
                let challenge = format!(r#"Bearer resource_metadata="{base}/.well-known/oauth-protected-resource""#);
                (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    fn newest(&self) -> String {
        format!("access-{}", self.given.load(Ordering::SeqCst))
    }

    fn serve(&self, came: &Came) -> Response {
        if came.method() == "tools/call" && self.wants_more.load(Ordering::SeqCst) {
            let challenge = r#"Bearer error="insufficient_scope", scope="write""#;
            return (StatusCode::FORBIDDEN, [(WWW_AUTHENTICATE, challenge)]).into_response();
        }
        plain(came).unwrap_or_else(|| result_of(came, &json!({"content": []})))
    }

    fn token(&self, came: &Came) -> Response {
        let sent = |name: &str| parameter(&came.text, name).unwrap_or_default();
        let is_right = match sent("grant_type").as_str() {
            "authorization_code" => sent("code") == "code-1" && !sent("code_verifier").is_empty(),
            _ => {
                self.refreshes.fetch_add(1, Ordering::SeqCst);
                let newest = format!("refresh-{}", self.given.load(Ordering::SeqCst));
                sent("refresh_token") == newest && !self.is_revoked.load(Ordering::SeqCst)
            }
        };
        if !is_right || sent("client_secret") != "client-secret-1" {
            let told = json!({"error": "invalid_grant", "error_description": "no"});
            return (StatusCode::BAD_REQUEST, json_of(&told)).into_response();
        }
        let number = self.given.fetch_add(1, Ordering::SeqCst) + 1;
        json_of(&json!({
            "access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"), "token_type": "Bearer",
            "expires_in": if self.is_brief.load(Ordering::SeqCst) { 1 } else { 3600 },
        }))
    }
}

/// Where a test keeps its tokens, and the server that it logs in at.
struct Home {
    _folder: tempfile::TempDir,
    tokens: Tokens,
    places: Places,
    server: Server,
}

impl Home {
    fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens { file: folder.path().join("settings/tokens.json"), place: TokenPlace::File };
        let server = http_server(&format!("{url}/mcp"));
        Self { _folder: folder, tokens: tokens.clone(), places: Places::default(), server }.keeping(tokens.place)
    }

    /// The same folder, where the person keeps logins in this place from now on.
    fn keeping(mut self, place: TokenPlace) -> Self {
        self.tokens.place = place;
        self.places.tokens = Some(self.tokens.clone());
        self
    }

    async fn login(&self) -> Result<(), CallError> {
        login(&self.server, &self.places, visit, &CancellationToken::new()).await
    }

    #[expect(clippy::disallowed_methods, reason = "the test reads what was written")]
    fn kept(&self) -> Value {
        serde_json::from_slice(&std::fs::read(&self.tokens.file).unwrap()).unwrap()
    }
}

/// The browser.
fn visit(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move { reqwest::get(address).await });
}

fn check_words(error: &CallError) {
    let text = format!("{error:?} {error}");
    assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
}

#[tokio::test]
async fn a_login_is_kept_where_only_the_person_can_read_it_and_shown_to_the_server() {
    let (url, scripted, _) = Provider::start().await;
    let home = Home::new(&url);
    let error = reach(&home.server, &home.places).await.unwrap_err();
    assert_eq!(error, CallError::LoginNeeded("remote".to_owned()));
    home.login().await.unwrap();
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
    let last = scripted.came.lock().unwrap().iter().rfind(|came| came.method() == "tools/call").unwrap().clone();
    assert_eq!(last.header("authorization"), "Bearer access-1");
    assert_eq!(home.kept()["servers"]["remote"]["credentials"]["token_response"]["access_token"], "access-1");
    #[cfg(unix)]
    for entry in walk(home.tokens.file.parent().unwrap()) {
        use std::os::unix::fs::PermissionsExt;
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the test looks at what was written")]
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn the_person_is_told_who_asks_and_who_gives_the_token_before_anything_is_opened() {
    let (url, scripted, provider) = Provider::start().await;
    provider.is_split.store(true, Ordering::SeqCst);
    let home = Home::new(&url);
    let (stop, mut told) = (CancellationToken::new(), None);
    let open = |page: &LoginPage| {
        told = Some(page.clone());
        stop.cancel();
    };
    login_as(&home.server, &home.places, None, open, &stop).await.unwrap_err();
    let told = told.unwrap();
    assert!(told.address.starts_with(&format!("{url}/authorize?")), "{told:?}");
    assert_eq!((told.origin, told.token_origin), (url, "https://tokens.example".to_owned()));
    assert!(!scripted.came.lock().unwrap().iter().any(|came| came.path.starts_with("/authorize")));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    std::fs::set_permissions(&home.tokens.file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(reach(&home.server, &home.places).await, Err(CallError::Unreachable { .. })));
}

#[tokio::test]
async fn of_many_who_want_another_token_at_once_one_refreshes() {
    let (url, _, provider) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    let address = Url::parse(&format!("{url}/mcp")).unwrap();
    let others: Vec<_> = (0..8)
        .map(|_| {
            let bearer = Bearer::new(&home.tokens, &home.server.name, &address);
            tokio::spawn(async move { bearer.replace("access-1").await.unwrap() })
        })
        .collect();
    for other in others {
        assert_eq!(other.await.unwrap().as_deref(), Some("access-2"));
    }
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_token_that_is_over_is_refreshed_before_it_is_shown() {
    let (url, scripted, provider) = Provider::start().await;
    let home = Home::new(&url);
    provider.is_brief.store(true, Ordering::SeqCst);
    home.login().await.unwrap();
    provider.is_brief.store(false, Ordering::SeqCst);
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 1);
    let came = scripted.came.lock().unwrap().clone();
    let shown =
        came.iter().filter(|came| came.path == "/mcp" && came.verb == "POST").map(|came| came.header("authorization"));
    assert!(shown.eq(std::iter::repeat_n("Bearer access-2", 3)), "{came:?}");
}

#[tokio::test]
async fn a_refused_token_is_refreshed_and_a_revoked_one_wants_a_login() {
    let (url, _, provider) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    let connection = reach(&home.server, &home.places).await.unwrap();
    // Another process of this person has refreshed, and the file was lost.
    provider.is_revoked.store(true, Ordering::SeqCst);
    provider.given.store(7, Ordering::SeqCst);
    let error = call(&connection).await.unwrap_err();
    assert!(error.auth_challenge().is_some(), "{error:?}");
    assert_eq!(reach(&home.server, &home.places).await.unwrap_err(), CallError::LoginNeeded("remote".to_owned()));
    // What was rejected is not sent again and again.
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 1);
    home.login().await.unwrap();
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_wants_more_is_granted_that_beside_what_it_had() {
    let (url, scripted, provider) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    provider.wants_more.store(true, Ordering::SeqCst);
    let connection = reach(&home.server, &home.places).await.unwrap();
    assert!(call(&connection).await.unwrap_err().auth_challenge().is_some());
    home.login().await.unwrap();
    let came = scripted.came.lock().unwrap().clone();
    let asked = came.iter().rfind(|came| came.path.starts_with("/authorize")).unwrap();
    let scope = query_of(&format!("{url}{}", asked.path)).and_then(|query| parameter(&query, "scope")).unwrap();
    let scopes: std::collections::BTreeSet<&str> = scope.split(' ').collect();
    assert_eq!(scopes, ["offline_access", "read", "write"].into());
}

#[tokio::test]
async fn tokens_go_to_no_other_address_than_the_one_they_were_given_for() {
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    let (elsewhere, other) =
        Scripted::start(|came| plain(came).unwrap_or_else(|| StatusCode::OK.into_response())).await;
    reach(&http_server(&elsewhere), &home.places).await.unwrap();
    assert!(other.came.lock().unwrap().iter().all(|came| came.header("authorization").is_empty()));
}

#[tokio::test]
async fn what_the_person_configured_is_sent_in_the_place_of_a_token() {
    let (url, scripted, _) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    let headers = BTreeMap::from([("authorization".to_owned(), "Bearer mine".to_owned())]);
    let Transport::Http { url, .. } = home.server.transport.clone() else { unreachable!() };
    let own = Server { transport: Transport::Http { url, headers }, ..home.server.clone() };
    let CallError::Unreachable { problem, .. } = reach(&own, &home.places).await.unwrap_err() else {
        panic!("a login")
    };
    assert!(problem.contains("`authorization`"), "{problem}");
    login(&own, &home.places, visit, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(
        scripted.came.lock().unwrap().iter().rfind(|came| came.path == "/mcp").unwrap().header("authorization"),
        "Bearer mine"
    );
}

#[tokio::test]
async fn a_logout_forgets_all_of_it() {
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    home.login().await.unwrap();
    logout(&home.server, &home.places).await.unwrap();
    assert_eq!(home.kept()["servers"], json!({}));
    assert_eq!(reach(&home.server, &home.places).await.unwrap_err(), CallError::LoginNeeded("remote".to_owned()));
}

#[tokio::test]
async fn a_login_that_is_refused_says_so() {
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    let refuse = |address: &str| {
        let asked = query_of(address).unwrap();
        let (to, state) = (parameter(&asked, "redirect_uri").unwrap(), parameter(&asked, "state").unwrap());
        tokio::spawn(async move {
            // Somebody else knocks first, and is not heard.
            reqwest::get(format!("{to}?error=mine&state=wrong")).await.unwrap();
            reqwest::get(format!("{to}?error=access_denied&state={state}")).await.unwrap();
        });
    };
    let error = login(&home.server, &home.places, refuse, &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("`access_denied`"), "{error}");
    check_words(&error);
}

#[tokio::test]
async fn no_secret_is_in_an_error() {
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    let wrong_code = |address: &str| {
        let asked = query_of(address).unwrap();
        let (to, state) = (parameter(&asked, "redirect_uri").unwrap(), parameter(&asked, "state").unwrap());
        tokio::spawn(async move { reqwest::get(format!("{to}?code=code-2&state={state}")).await });
    };
    let error = login(&home.server, &home.places, wrong_code, &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("invalid_grant"), "{error}");
    check_words(&error);
    for text in ["Other error: access-1", "Failed to parse server response", "invalid type: string \"refresh-1\""] {
        let error = AuthError::TokenExchangeFailed(text.to_owned());
        assert_eq!(words(&error), "the authorisation server gave no token");
    }
}

#[tokio::test]
async fn a_login_ends_when_the_person_wants_it_to() {
    let (url, _, _) = Provider::start().await;
    let home = Home::new(&url);
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let error = login(&home.server, &home.places, move |_| stopped.cancel(), &stop).await.unwrap_err();
    assert_eq!(error, CallError::Cancelled);
}

#[tokio::test]
#[expect(clippy::disallowed_types, reason = "only the std file can be locked")]
async fn nothing_else_on_the_thread_waits_for_a_process_that_holds_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let held = std::fs::File::open(folder.path()).unwrap();
    held.lock().unwrap();
    let name = memdir_tools::ServerName::parse("one").unwrap();
    let tokens = Tokens { file: folder.path().join("tokens"), place: TokenPlace::File };
    let store = Store::new(&tokens, &name, &Url::parse("https://one.example/mcp").unwrap());
    let cleared = rmcp::transport::auth::CredentialStore::clear(&store);
    let (cleared, ()) = tokio::join!(cleared, async { held.unlock().unwrap() });
    cleared.unwrap();
}

/// A login that could not be kept takes no token from anybody.
#[cfg(not(feature = "keyring"))]
#[tokio::test]
async fn a_build_without_a_keyring_logs_in_nowhere_for_one() {
    let (url, _, provider) = Provider::start().await;
    let home = Home::new(&url).keeping(TokenPlace::Keyring);
    let open = |_: &str| panic!("it was opened");
    let error = login(&home.server, &home.places, open, &CancellationToken::new()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("built without") && text.contains("memdir config set tools.tokens file"), "{text}");
    assert_eq!(provider.given.load(Ordering::SeqCst), 0);
    // What the file has holds as long as it holds; another is not taken for nowhere.
    let home = home.keeping(TokenPlace::File);
    home.login().await.unwrap();
    let home = home.keeping(TokenPlace::Keyring);
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
    let address = Url::parse(&format!("{url}/mcp")).unwrap();
    Bearer::new(&home.tokens, &home.server.name, &address).replace("access-1").await.unwrap_err();
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 0);
}

#[cfg(feature = "keyring")]
mod keyring;

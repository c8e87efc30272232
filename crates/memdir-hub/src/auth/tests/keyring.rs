//! Logins in a keyring that is only made for tests. All tests share it, so each has a server of its own name.

use std::sync::Once;

use keyring_core::{Entry, Error, mock};

use super::*;
use crate::auth::keyring::account;
use crate::forget;
use memdir_tools::ServerName;

/// A home of somebody who logs in at a server of this name, and keeps logins in the keyring.
fn home(url: &str, name: &str) -> Home {
    static MADE: Once = Once::new();
    MADE.call_once(|| keyring_core::set_default_store(mock::Store::new().unwrap()));
    let mut home = Home::new(url).keeping(TokenPlace::Keyring);
    home.server.name = ServerName::parse(name).unwrap();
    home
}

fn keyring_entry(home: &Home) -> Entry {
    Entry::new("memdir", &account(&home.tokens.file, &home.server.name)).unwrap()
}

/// What the keyring holds of a server.
fn held(home: &Home) -> Option<Value> {
    match keyring_entry(home).get_password() {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(Error::NoEntry) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Another token in the place of `old`.
async fn replaced(home: &Home, url: &str, old: &str) -> Option<String> {
    let address = Url::parse(&format!("{url}/mcp")).unwrap();
    Bearer::new(&home.tokens, &home.server.name, &address).replace(old).await.unwrap()
}

fn token_in(kept: &Value) -> Option<&str> {
    kept["credentials"]["token_response"]["access_token"].as_str()
}

#[track_caller]
fn check_file_holds_no_secret(home: &Home) {
    let text = home.kept().to_string();
    assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
}

#[tokio::test]
async fn a_login_is_in_the_keyring_alone_and_one_of_many_refreshes_it() {
    let (url, scripted, provider) = Provider::start().await;
    let home = home(&url, "alone");
    home.login().await.unwrap();
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-1"));
    check_file_holds_no_secret(&home);
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
    let last = scripted.came.lock().unwrap().iter().rfind(|came| came.method() == "tools/call").unwrap().clone();
    assert_eq!(last.header("authorization"), "Bearer access-1");
    let others = (0..8).map(|_| replaced(&home, &url, "access-1"));
    for other in futures_util::future::join_all(others).await {
        assert_eq!(other.as_deref(), Some("access-2"));
    }
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 1);
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-2"));
    check_file_holds_no_secret(&home);
}

#[tokio::test]
async fn a_login_moves_to_where_the_person_wants_it_when_it_is_refreshed() {
    let (url, _, _) = Provider::start().await;
    let home = home(&url, "mover").keeping(TokenPlace::File);
    home.login().await.unwrap();
    assert_eq!(held(&home), None);
    let home = home.keeping(TokenPlace::Keyring);
    assert_eq!(replaced(&home, &url, "access-1").await.as_deref(), Some("access-2"));
    check_file_holds_no_secret(&home);
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-2"));
    let home = home.keeping(TokenPlace::File);
    assert_eq!(replaced(&home, &url, "access-2").await.as_deref(), Some("access-3"));
    assert_eq!(token_in(&home.kept()["servers"]["mover"]), Some("access-3"));
    assert_eq!(held(&home), None);
}

#[tokio::test]
async fn a_move_that_was_cut_off_loses_no_login() {
    let (url, _, _) = Provider::start().await;
    let home = home(&url, "cut").keeping(TokenPlace::File);
    home.login().await.unwrap();
    let mut kept = home.kept();
    kept["servers"]["cut"]["in_keyring"] = json!(true);
    rewrite(&home, &kept);
    call(&reach(&home.server, &home.places).await.unwrap()).await.unwrap();
}

#[expect(clippy::disallowed_methods, reason = "the test plays a program that was killed")]
fn rewrite(home: &Home, kept: &Value) {
    std::fs::write(&home.tokens.file, kept.to_string()).unwrap();
}

#[tokio::test]
async fn what_the_keyring_holds_goes_to_no_other_address_and_is_forgotten_with_the_server() {
    let (url, _, _) = Provider::start().await;
    let home = home(&url, "bound");
    home.login().await.unwrap();
    let (elsewhere, other) =
        Scripted::start(|came| plain(came).unwrap_or_else(|| StatusCode::OK.into_response())).await;
    let moved = Server { name: home.server.name.clone(), ..http_server(&elsewhere) };
    reach(&moved, &home.places).await.unwrap();
    // As if the file were another one, which says that the keyring has a login for this address.
    let mut kept = home.kept();
    kept["servers"]["bound"]["url"] = json!(format!("{elsewhere}/"));
    rewrite(&home, &kept);
    reach(&moved, &home.places).await.unwrap();
    assert!(other.came.lock().unwrap().iter().all(|came| came.header("authorization").is_empty()));
    assert!(held(&home).is_some());
    assert_eq!(forget(&home.server.name, &home.places).await, Ok(true));
    assert_eq!((held(&home), home.kept()["servers"].clone()), (None, json!({})));
    assert_eq!(forget(&home.server.name, &home.places).await, Ok(false));
}

#[tokio::test]
async fn a_logout_takes_it_from_the_keyring_wherever_logins_are_kept_now() {
    let (url, _, _) = Provider::start().await;
    let home = home(&url, "leaver");
    home.login().await.unwrap();
    let home = home.keeping(TokenPlace::File);
    logout(&home.server, &home.places).await.unwrap();
    assert_eq!((held(&home), home.kept()["servers"].clone()), (None, json!({})));
    assert_eq!(reach(&home.server, &home.places).await.unwrap_err(), CallError::LoginNeeded("leaver".to_owned()));
}

/// The next request about the server finds the keyring like this.
fn fail_once(home: &Home, error: Error) {
    keyring_entry(home).as_any().downcast_ref::<mock::Cred>().unwrap().set_error(error);
}

#[tokio::test]
async fn where_the_keyring_is_locked_nobody_is_asked_to_log_in_and_nothing_goes_to_the_file() {
    let (url, _, provider) = Provider::start().await;
    let home = home(&url, "locked");
    let locked = || Error::NoStorageAccess("the collection `access-1`".into());
    fail_once(&home, locked());
    let open = |_: &str| panic!("it was opened");
    let error = login(&home.server, &home.places, open, &CancellationToken::new()).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("keyring is locked") && text.contains("memdir config set tools.tokens file"), "{text}");
    check_words(&error);
    assert!(!home.tokens.file.exists());
    home.login().await.unwrap();
    fail_once(&home, locked());
    assert!(matches!(reach(&home.server, &home.places).await, Err(CallError::Unreachable { .. })));
    fail_once(&home, locked());
    logout(&home.server, &home.places).await.unwrap_err();
    // It is still known where it is.
    assert_eq!(home.kept()["servers"]["locked"]["in_keyring"], true);
    // A login for the file needs no keyring.
    let home = home.keeping(TokenPlace::File);
    fail_once(&home, locked());
    home.login().await.unwrap();
    assert_eq!(token_in(&home.kept()["servers"]["locked"]), Some("access-2"));
    assert_eq!(provider.refreshes.load(Ordering::SeqCst), 0);
}

/// A login during which the keyring is locked once the person has been asked.
async fn log_in_as_it_locks(home: &Home) -> Result<(), CallError> {
    let open = |address: &str| {
        fail_once(home, Error::NoStorageAccess("the collection".into()));
        visit(address);
    };
    login(&home.server, &home.places, open, &CancellationToken::new()).await
}

#[tokio::test]
async fn a_login_left_in_a_locked_keyring_is_not_used_and_is_removed_later() {
    let (url, _, _) = Provider::start().await;
    let home = home(&url, "left");
    let entry = |home: &Home| home.kept()["servers"]["left"].clone();
    let locked = || Error::NoStorageAccess("the collection".into());
    home.login().await.unwrap();
    let home = home.keeping(TokenPlace::File);
    log_in_as_it_locks(&home).await.unwrap();
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-1"));
    assert_eq!((token_in(&entry(&home)), &entry(&home)["left_in_keyring"]), (Some("access-2"), &json!(true)));
    // Nothing reads the older login, and no logout succeeds while it is there.
    fail_once(&home, locked());
    assert_eq!(replaced(&home, &url, "access-2").await.as_deref(), Some("access-3"));
    let home = home.keeping(TokenPlace::Keyring);
    log_in_as_it_locks(&home).await.unwrap_err();
    assert_eq!((token_in(&entry(&home)), &entry(&home)["in_keyring"]), (Some("access-3"), &Value::Null));
    fail_once(&home, locked());
    logout(&home.server, &home.places).await.unwrap_err();
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-1"));
    logout(&home.server, &home.places).await.unwrap();
    assert_eq!((held(&home), home.kept()["servers"].clone()), (None, json!({})));
    // The next login for the file removes it too.
    home.login().await.unwrap();
    let home = home.keeping(TokenPlace::File);
    log_in_as_it_locks(&home).await.unwrap();
    assert!(held(&home).is_some());
    home.login().await.unwrap();
    assert_eq!((held(&home), &entry(&home)["left_in_keyring"]), (None, &Value::Null));
}

#[tokio::test]
async fn two_profiles_keep_logins_at_servers_of_one_name_apart() {
    let (url, _, _) = Provider::start().await;
    let (home, other) = (home(&url, "shared"), home(&url, "shared"));
    home.login().await.unwrap();
    other.login().await.unwrap();
    assert_eq!(token_in(&held(&home).unwrap()), Some("access-1"));
    assert_eq!(token_in(&held(&other).unwrap()), Some("access-2"));
    logout(&other.server, &other.places).await.unwrap();
    assert_eq!((token_in(&held(&home).unwrap()), held(&other)), (Some("access-1"), None));
    assert!(account(&home.tokens.file, &home.server.name).starts_with("shared@"));
}

//! Who asks too often is told so.

use std::num::NonZeroU32;

use super::*;

#[test]
fn a_call_that_comes_too_soon_is_told_when_to_come_again() {
    let mut site = Site::start();
    site.change("desk", |client| client.rate = NonZeroU32::new(2));
    let write = |text: &str| site.call("desk", "create_file", json!({"path": format!("{text}.md"), "content": text}));
    assert_eq!(write("one")["isError"], json!(false));
    assert_eq!(write("two")["isError"], json!(false));
    let refused = write("three");
    assert_eq!(refused["isError"], json!(true));
    let error = &refused["structuredContent"]["error"];
    assert_eq!(error["code"], "rate_limited", "{refused}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.starts_with("wait ") && hint.ends_with(" seconds"), "{hint}");
    assert!(!site.env.at("three.md").exists());
    let listed = site.ask("desk", "tools/list", json!({}));
    assert_eq!(listed.json()["error"]["data"]["code"], "rate_limited", "{listed:?}");
    assert_eq!(site.call("phone", "read_file", json!({"path": "user.md"}))["isError"], json!(false));
    site.stop();
    assert_eq!(noted(&site, "rate_limited"), 1);
}

#[test]
fn who_goes_on_and_on_is_noted_once_a_second() {
    let mut site = Site::start();
    site.change("desk", |client| client.rate = NonZeroU32::new(1));
    site.call("desk", "create_file", json!({"path": "one.md", "content": "one"}));
    let start = std::time::Instant::now();
    for _ in 0..20 {
        let refused = site.call("desk", "read_file", json!({"path": "user.md"}));
        assert_eq!(refused["isError"], json!(true));
    }
    let seconds = i64::try_from(start.elapsed().as_secs()).unwrap();
    site.stop();
    assert!((1..=seconds + 1).contains(&noted(&site, "rate_limited")));
}

#[test]
fn whatever_is_asked_is_counted() {
    let site = Site::start();
    let session = open(&site, "desk", "2025-06-18");
    let allow = |count| site.change("desk", |client| client.rate = NonZeroU32::new(count));
    allow(1);
    let in_session = |method: &str| {
        let asked = legacy("desk", "2025-06-18", Some(&session), &message(9, method, json!({})));
        site.send(asked).json()["error"]["data"]["code"].clone()
    };
    // The one of this minute.
    while in_session("ping") == "rate_limited" {}
    for method in ["ping", "prompts/list", "resources/templates/list", "none/such"] {
        assert_eq!(in_session(method), "rate_limited", "{method}");
    }
    check_refused(&site.send(legacy("desk", "2025-06-18", None, &initialize("2025-06-18"))), 429);
    let discovered = site.ask("desk", "server/discover", json!({}));
    assert_eq!(discovered.json()["error"]["data"]["code"], "rate_limited", "{discovered:?}");
    let headers =
        [("Authorization", "Bearer desk"), ("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream")];
    check_refused(&site.send(request("GET", &headers, "")), 429);
    check_refused(&site.send(request("DELETE", &headers, "")), 429);
    allow(6000);
    // The next one drips within a hundredth of a second.
    while in_session("ping") == "rate_limited" {}
}

/// How many calls of `desk` the audit has with this code.
fn noted(site: &Site, code: &str) -> i64 {
    let mut found = crate::support::files(&site.env.at(".memdir")).into_keys();
    let history = found.find(|name| name.ends_with("history.sqlite")).unwrap();
    let db = rusqlite::Connection::open(site.env.at(".memdir").join(history)).unwrap();
    let count = "SELECT count(*) FROM entry WHERE client = 'desk' AND door = 'mcp' AND code = ?";
    db.query_row(count, [code], |row| row.get(0)).unwrap()
}

#[test]
fn a_request_to_listen_counts_as_any_other() {
    let site = Site::start();
    site.change("desk", |client| client.rate = NonZeroU32::new(1));
    let listen = || modern("desk", "subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}}));
    let mut first = site.connect();
    first.write(listen());
    first.until("acknowledged");
    let mut second = site.connect();
    second.write(listen());
    second.until("-32029");
}

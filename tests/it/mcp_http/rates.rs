//! Who asks too often is told so.

use std::num::NonZeroU32;

use super::*;

#[test]
fn a_call_that_comes_too_soon_is_told_when_to_come_again() {
    let site = Site::start();
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
    let refusals: Vec<Value> =
        audited(&site, "desk").into_iter().filter(|entry| entry["code"] == "rate_limited").collect();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
}

/// What the audit says that a client has done.
fn audited(site: &Site, client: &str) -> Vec<Value> {
    let entries = site.env.ask(&["log", "--limit", "100"]).json();
    let entries = entries["entries"].as_array().cloned().unwrap_or_default();
    entries.into_iter().filter(|entry| entry["client"] == client).collect()
}

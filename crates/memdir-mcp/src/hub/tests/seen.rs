//! What a client sees and may call, and what a call does to others.

use super::*;

#[test]
fn names_that_collide_are_routed_by_the_body() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        for turn in 0..500 {
            let own = wire.call("read_file", json!({"path": "user.md"})).await;
            assert!(text(&own).contains("the memory's own"), "{turn}: {own}");
            let theirs = wire.call("files__read_file", json!({"path": "user.md"})).await;
            assert_eq!(text(&theirs), "files__read_file", "{turn}");
        }
        assert_eq!(lock(&site.fake.calls).len(), 500);
    });
}

#[test]
fn a_client_sees_what_it_was_granted_and_no_more() {
    run(async {
        for offered in [HubOffer::Few, HubOffer::All] {
            let site = Site::new(offered);
            site.grant("desk", &["files", "post__long"]);
            site.grant("phone", &[]);
            let (mut desk, mut phone) = (
                Wire::open(&site, Some("desk"), OLDER, json!({})).await,
                Wire::open(&site, Some("phone"), OLDER, json!({})).await,
            );
            if offered == HubOffer::All {
                assert_eq!(desk.listed().await, ["files__read_file", "files__whole", "post__long"]);
                assert!(phone.listed().await.is_empty());
            } else {
                assert_eq!(desk.listed().await, ["find_tools", "describe_tool", "call_tool"]);
                let found = desk.call("find_tools", json!({"query": "does ask slow long whole", "limit": 20})).await;
                let found = found["result"]["structuredContent"]["tools"].as_array().unwrap().iter();
                let mut found: Vec<&str> = found.map(|tool| tool["name"].as_str().unwrap()).collect();
                found.sort_unstable();
                assert_eq!(found, ["files__read_file", "files__whole", "post__long"]);
                // A tool that was not granted is answered as one that there is not.
                for name in ["describe_tool", "call_tool"] {
                    let [hidden, none] = [
                        desk.call(name, json!({"name": "post__ask"})).await,
                        desk.call(name, json!({"name": "post__xyz"})).await,
                    ];
                    let said = |answer: &Value| answer["result"].to_string().replace("post__xyz", "post__ask");
                    assert_eq!(said(&hidden), said(&none));
                    assert_eq!(code(&hidden), "unknown_action");
                }
            }
            let [hidden, none] = [desk.call("post__ask", json!({})).await, desk.call("post__xyz", json!({})).await];
            assert_eq!(hidden["error"].to_string(), none["error"].to_string().replace("post__xyz", "post__ask"));
            assert_eq!(phone.call("files__whole", json!({})).await["error"]["code"], json!(-32602));
            assert!(lock(&site.fake.calls).is_empty(), "nothing was called");
            let expected = if offered == HubOffer::Few { 2 } else { 1 };
            site.check_audit("post__ask", "denied", expected).await;
            // What is taken back counts at once.
            assert_eq!(text(&desk.call("files__read_file", json!({})).await), "files__read_file");
            site.grant("desk", &[]);
            assert_eq!(desk.call("files__read_file", json!({})).await["error"]["code"], json!(-32602));
        }
    });
}

#[test]
fn a_call_that_was_not_granted_is_in_the_audit_also_if_memdir_ends_then() {
    let site = Site::new(HubOffer::Few);
    site.grant("phone", &[]);
    run(async {
        let mut phone = Wire::open(&site, Some("phone"), OLDER, json!({})).await;
        phone.call("post__ask", json!({})).await;
        phone.call("call_tool", json!({"name": "post__ask"})).await;
    });
    // As the program ends: no task runs any more.
    site.server.finish();
    assert_eq!(site.noted("post__ask", "denied"), 2);
}

#[test]
fn what_the_person_has_not_approved_is_neither_told_nor_called() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        let listed = wire.listed().await;
        assert!(listed.contains(&"post__careful".to_owned()), "{listed:?}");
        assert!(!listed.iter().any(|name| name == "post__changed" || name == "post__denied"), "{listed:?}");
        for name in ["post__changed", "post__denied"] {
            assert_eq!(code(&wire.call(name, json!({})).await), "denied");
        }
        let few = Site::new(HubOffer::Few);
        let mut wire = Wire::open(&few, None, OLDER, json!({})).await;
        let described = wire.call("describe_tool", json!({"name": "post__changed"})).await;
        assert_eq!(code(&described), "denied");
        assert!(!described.to_string().contains("Does changed"), "{described}");
        assert!(lock(&few.fake.calls).is_empty() && lock(&site.fake.calls).is_empty());
    });
}

#[test]
fn progress_and_cancellation_pass_through_while_others_are_answered() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        let progress = json!({"name": "post__progress", "arguments": {}, "_meta": {"progressToken": 7}});
        let id = wire.begin("tools/call", progress).await;
        let told = wire.message().await;
        let expected = json!({"progressToken": 7, "progress": 1.0, "total": 2.0, "message": "half"});
        assert_eq!((&told["method"], &told["params"]), (&json!("notifications/progress"), &expected));
        assert_eq!(wire.message().await["id"], json!(id));
        let (told, cancelled) = mpsc::channel();
        *lock(&site.fake.cancelled) = Some(told);
        let slow = wire.begin("tools/call", json!({"name": "post__slow", "arguments": {}})).await;
        // A slow server stops neither reads nor writes.
        assert!(text(&wire.call("read_file", json!({"path": "user.md"})).await).contains("own"));
        let written = wire.call("append_file", json!({"path": "user.md", "content": "\n- more"})).await;
        assert_eq!(code(&written), "ok", "{written}");
        let params = json!({"requestId": slow});
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        tokio::task::spawn_blocking(move || cancelled.recv_timeout(Duration::from_secs(30)).unwrap()).await.unwrap();
    });
}

#[test]
fn a_client_has_only_so_many_calls_running() {
    run(async {
        let site = Site::new(HubOffer::All);
        let mut wire = Wire::open(&site, None, OLDER, json!({})).await;
        for _ in 0..=16 {
            wire.begin("tools/call", json!({"name": "post__slow", "arguments": {}})).await;
        }
        assert_eq!(code(&wire.message().await), "rate_limited");
        assert!(text(&wire.call("read_file", json!({"path": "user.md"})).await).contains("own"));
    });
}

#[test]
fn a_client_that_calls_too_often_is_told_so() {
    run(async {
        let site = Site::new(HubOffer::Few);
        site.grant("slow", &["files"]);
        let mut wire = Wire::open(&site, Some("slow"), OLDER, json!({})).await;
        // The first request was that to begin.
        assert_eq!(text(&wire.call("files__read_file", json!({})).await), "files__read_file");
        assert_eq!(text(&wire.call("files__read_file", json!({})).await), "files__read_file");
        for (name, arguments) in [
            ("files__read_file", json!({})),
            ("call_tool", json!({"name": "files__read_file", "arguments": {}})),
            ("find_tools", json!({"query": "read"})),
        ] {
            let refused = wire.call(name, arguments).await;
            assert_eq!(code(&refused), "rate_limited", "{refused}");
        }
        assert_eq!(lock(&site.fake.calls).len(), 2);
    });
}

#[test]
fn a_client_hears_when_its_own_list_has_become_another_one() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("desk", &["files"]);
        let mut old = Wire::open(&site, Some("desk"), OLDER, json!({})).await;
        assert_eq!(old.listed().await.len(), 2);
        let mut new = Wire::open(&site, Some("desk"), NEWEST, json!({})).await;
        new.begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})).await;
        let begun = new.message().await;
        assert_eq!(begun["params"]["notifications"]["toolsListChanged"], json!(true), "{begun}");
        // What it was not granted, and what it is not shown, is nothing to it: a notice would come before one of these answers.
        site.fake.change(|tools| tools.retain(|tool| tool.own != "long"));
        site.fake.change(|tools| tools.push(Tool { pin: PinState::New, ..tool("files", "new", &json!({})) }));
        for wire in [&mut old, &mut new] {
            for _ in 0..3 {
                assert_eq!(text(&wire.call("files__read_file", json!({})).await), "files__read_file");
            }
        }
        site.fake.change(|tools| tools.retain(|tool| tool.own != "whole"));
        for wire in [&mut old, &mut new] {
            let told = wire.message().await;
            assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
        }
        assert_eq!(old.listed().await, ["files__read_file"]);
    });
}

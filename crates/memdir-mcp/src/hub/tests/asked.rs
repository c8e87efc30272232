//! Questions to the person: of memdir before a call, and of a server during one.

use super::*;

/// Answers the question of a call in either form, and gives the question and the answer to the call.
async fn answer_question(wire: &mut Wire, params: Value, said: Value) -> (Value, Value) {
    let first = wire.begin("tools/call", params.clone()).await;
    let asked = wire.message().await;
    if wire.version == NEWEST {
        assert_eq!(
            (&asked["id"], &asked["result"]["resultType"]),
            (&json!(first), &json!("input_required")),
            "{asked}"
        );
        let mut again = params;
        again["inputResponses"] = json!({"question": said});
        again["requestState"] = asked["result"]["requestState"].clone();
        let question = asked["result"]["inputRequests"]["question"]["params"].clone();
        return (question, wire.ask("tools/call", again).await);
    }
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": said})).await;
    (asked["params"].clone(), wire.message().await)
}

#[test]
fn the_question_of_a_server_is_the_persons_in_both_forms() {
    run(async {
        let site = Site::new(HubOffer::All);
        for version in [OLDER, NEWEST] {
            let mut wire = Wire::open(&site, None, version, json!({"elicitation": {"form": {}, "url": {}}})).await;
            let call = || json!({"name": "post__ask", "arguments": {}});
            let yes = json!({"action": "accept", "content": {"day": "Monday"}});
            let (question, answer) = answer_question(&mut wire, call(), yes).await;
            assert_eq!(question["message"], "the server `post` asks: which day\\u{202e}?");
            assert_eq!(question["requestedSchema"]["properties"]["day"]["type"], "string");
            assert_eq!(text(&answer), r#"accept {"day":"Monday"}"#);
            for action in ["decline", "cancel"] {
                let (_, answer) = answer_question(&mut wire, call(), json!({"action": action})).await;
                assert_eq!(text(&answer), action);
            }
            let visit = json!({"name": "post__visit", "arguments": {}});
            let (question, answer) = answer_question(&mut wire, visit.clone(), json!({"action": "accept"})).await;
            assert_eq!((&question["mode"], &question["url"]), (&json!("url"), &json!("https://example.org/login")));
            assert_eq!(text(&answer), "accept {}");
            // A client that cannot ask is not asked.
            let mut mute = Wire::open(&site, None, version, json!({"elicitation": {"form": {}}})).await;
            assert_eq!(text(&mute.ask("tools/call", visit).await), "decline");
            let mut mute = Wire::open(&site, None, version, json!({})).await;
            assert_eq!(text(&mute.ask("tools/call", call()).await), "decline");
        }
    });
}

#[test]
fn the_person_is_asked_before_a_call_with_what_will_be_sent() {
    run(async {
        for version in [OLDER, NEWEST] {
            let site = Site::new(HubOffer::Few);
            let mut wire = Wire::open(&site, None, version, json!({"elicitation": {}})).await;
            let arguments = json!({"to": "jane", "text": "\u{202e}x"});
            let call = || json!({"name": "call_tool", "arguments": {"name": "post__careful", "arguments": arguments}});
            let choose = |choice: &str| json!({"action": "accept", "content": {"decision": choice}});
            for (said, expected) in [
                (choose("no"), "denied"),
                (json!({"action": "decline"}), "denied"),
                (json!({"action": "cancel"}), "permission_required"),
                (json!({"action": "accept"}), "permission_required"),
                (choose("YES"), "permission_required"),
            ] {
                let (question, answer) = answer_question(&mut wire, call(), said.clone()).await;
                let message = question["message"].as_str().unwrap();
                assert!(
                    message.contains("test wants to call `post__careful` with:")
                        && message.contains("\"to\": \"jane\""),
                    "{message}"
                );
                assert!(message.contains("\\u{202e}x"), "{message}");
                assert_eq!(code(&answer), expected, "{said}: {answer}");
                assert!(lock(&site.fake.calls).is_empty());
            }
            for choice in ["yes", "yes", "yes, for this conversation"] {
                let (_, answer) = answer_question(&mut wire, call(), choose(choice)).await;
                assert_eq!(text(&answer), "post__careful");
            }
            // It holds for the conversation, and for no other.
            assert_eq!(text(&wire.ask("tools/call", call()).await), "post__careful");
            assert_eq!(lock(&site.fake.calls).len(), 4);
            assert!(lock(&site.fake.calls).iter().all(|(_, sent)| *sent == arguments));
            let mut other = Wire::open(&site, None, version, json!({})).await;
            let refused = other.ask("tools/call", call()).await;
            assert_eq!(code(&refused), "permission_required");
            assert!(refused.to_string().contains("memdir tools allow post__careful"), "{refused}");
            // Whose word does not count is not asked.
            site.grant("desk", &["post"]);
            let mut desk = Wire::open(&site, Some("desk"), version, json!({"elicitation": {}})).await;
            assert_eq!(code(&desk.ask("tools/call", call()).await), "permission_required");
            assert_eq!(lock(&site.fake.calls).len(), 4);
        }
    });
}

#[test]
fn over_http_without_a_session_a_yes_is_for_one_call() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("owner", &["post"]);
        let listener = crate::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let served = tokio::spawn(serve_http(listener, Arc::clone(&site.server), HttpOptions::default(), stop.clone()));
        tokio::task::spawn_blocking(move || {
            let ask = |params: Value| -> Value {
                serde_json::from_str(&results::post_newest(address, "owner", "tools/call", params).1).unwrap()
            };
            let call = || json!({"name": "post__careful", "arguments": {}});
            for round in 0..2 {
                let asked = ask(call());
                let question = &asked["result"]["inputRequests"]["question"]["params"];
                let choices = &question["requestedSchema"]["properties"]["decision"]["enum"];
                assert_eq!(*choices, json!(["yes", "no"]), "round {round}: {asked}");
                // A client may send what was not offered.
                let yes = json!({"action": "accept", "content": {"decision": "yes, for this conversation"}});
                let mut again = call();
                again["requestState"] = asked["result"]["requestState"].clone();
                again["inputResponses"] = json!({"question": yes});
                assert_eq!(text(&ask(again)), "post__careful");
            }
        })
        .await
        .unwrap();
        stop.cancel();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn a_call_that_waits_for_the_person_ends_with_the_grant() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("owner", &["post"]);
        let mut wire = Wire::open(&site, Some("owner"), NEWEST, json!({"elicitation": {}})).await;
        let mut call = json!({"name": "post__careful", "arguments": {}});
        let asked = wire.ask("tools/call", call.clone()).await;
        site.grant("owner", &[]);
        call["requestState"] = asked["result"]["requestState"].clone();
        call["inputResponses"] = json!({"question": {"action": "accept", "content": {"decision": "yes"}}});
        assert_eq!(wire.ask("tools/call", call.clone()).await["error"]["code"], json!(-32602));
        site.grant("owner", &["post"]);
        assert_eq!(wire.ask("tools/call", call).await["error"]["code"], json!(-32602), "it was used");
        // An older version asks while the call waits.
        let mut wire = Wire::open(&site, Some("owner"), OLDER, json!({"elicitation": {}})).await;
        let id = wire.begin("tools/call", json!({"name": "post__careful", "arguments": {}})).await;
        let asked = wire.message().await;
        site.grant("owner", &[]);
        let yes = json!({"action": "accept", "content": {"decision": "yes"}});
        wire.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes})).await;
        let answer = wire.message().await;
        assert_eq!((&answer["id"], code(&answer)), (&json!(id), "permission_required"), "{answer}");
        assert!(lock(&site.fake.calls).is_empty());
    });
}

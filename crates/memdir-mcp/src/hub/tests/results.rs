//! What other servers send, compared with what reaches the client.

use super::*;

#[test]
fn a_result_is_passed_on_byte_by_byte_on_streams() {
    run(async {
        for offered in [HubOffer::Few, HubOffer::All] {
            let site = Site::new(offered);
            for version in [OLDER, NEWEST] {
                let mut wire = Wire::open(&site, None, version, json!({})).await;
                wire.begin("tools/call", json!({"name": "files__whole", "arguments": {}})).await;
                let expected = match version {
                    NEWEST => format!("{},\"resultType\":\"complete\"}}", whole().strip_suffix('}').unwrap()),
                    _ => whole(),
                };
                assert_eq!(result_of(&wire.line().await), expected, "{version}");
            }
            let mut wire = Wire::open(&site, None, OLDEST, json!({})).await;
            let answer = wire.call("files__whole", json!({})).await;
            assert_eq!(answer["result"].get("structuredContent"), None, "it is not known yet");
            assert_eq!(answer["result"]["z"], serde_json::from_str::<Value>(WHOLE).unwrap()["z"]);
        }
    });
}

/// Posts a message, and gives the head and the body of the answer.
fn post(address: SocketAddr, token: &str, headers: &[(&str, &str)], body: &Value) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{more}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// Posts a request of the newest version, whose client can ask its person.
pub(super) fn post_newest(address: SocketAddr, token: &str, method: &str, mut params: Value) -> (String, String) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let own = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
    own.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![("Mcp-Protocol-Version", NEWEST), ("Mcp-Method", method)];
    headers.extend((!name.is_empty()).then_some(("Mcp-Name", name.as_str())));
    post(address, token, &headers, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

#[test]
fn a_result_is_passed_on_byte_by_byte_over_http() {
    run(async {
        let site = Site::new(HubOffer::All);
        site.grant("desk", &["files", "post__progress"]);
        let listener = crate::listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let served = tokio::spawn(serve_http(listener, Arc::clone(&site.server), HttpOptions::default(), stop.clone()));
        tokio::task::spawn_blocking(move || {
            let ask = |method: &str, params: Value| post_newest(address, "desk", method, params);
            let (_, body) = ask("tools/call", json!({"name": "files__whole", "arguments": {}}));
            let expected = format!("{},\"resultType\":\"complete\"}}", whole().strip_suffix('}').unwrap());
            assert_eq!(result_of(&body), expected);
            // A notice before it makes it a stream.
            let progress = json!({"name": "post__progress", "arguments": {}, "_meta": {"progressToken": "p"}});
            let (head, body) = ask("tools/call", progress);
            assert!(head.contains("text/event-stream"), "{head}");
            assert!(body.contains(r#""progress":1.0"#) && body.contains("done"), "{body}");
            let (_, body) = ask("tools/list", json!({}));
            let listed: Value = serde_json::from_str(&body).unwrap();
            let tools = listed["result"]["tools"].as_array().unwrap();
            let read = tools.iter().find(|tool| tool["name"] == "files__read_file").unwrap();
            assert_eq!((&read["execution"], &read["z"]), (&json!({"x": [1]}), &Value::Null));
            // The same in a session of an older version.
            let info = json!({"name": "test", "version": "1"});
            let params = json!({"protocolVersion": OLDER, "capabilities": {}, "clientInfo": info});
            let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            let (head, _) = post(address, "desk", &[], &begin);
            let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap().to_owned();
            let headers = [("Mcp-Session-Id", session.as_str()), ("Mcp-Protocol-Version", OLDER)];
            post(address, "desk", &headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            let call = json!({"name": "files__whole", "arguments": {}});
            let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call});
            let (_, body) = post(address, "desk", &headers, &call);
            assert!(body.contains(&format!("\"result\":{}", whole())), "{body}");
        })
        .await
        .unwrap();
        stop.cancel();
        served.await.unwrap().unwrap();
    });
}

#[test]
fn definitions_are_passed_on_but_for_the_name() {
    run(async {
        let site = Site::new(HubOffer::All);
        let listed = async |version| {
            let mut wire = Wire::open(&site, None, version, json!({})).await;
            let answer = wire.ask("tools/list", json!({})).await;
            answer["result"]["tools"]
                .as_array()
                .unwrap()
                .iter()
                .find(|tool| tool["name"] == "files__read_file")
                .unwrap()
                .clone()
        };
        let mut expected = Value::Object(fleet()[0].definition.clone());
        expected["name"] = "files__read_file".into();
        assert_eq!(listed(NEWEST).await.to_string(), expected.to_string());
        // An older version knows schemas of objects alone.
        expected.as_object_mut().unwrap().shift_remove("outputSchema");
        assert_eq!(listed(OLDER).await.to_string(), expected.to_string());
    });
}

#[test]
fn a_long_result_is_read_on_by_its_cursor() {
    run(async {
        let all = "ü".repeat(MOST_TOLD);
        let few = Site::new(HubOffer::Few);
        let mut wire = Wire::open(&few, None, OLDER, json!({})).await;
        let (mut read, mut answer) = (String::new(), wire.call("call_tool", json!({"name": "post__long"})).await);
        loop {
            read.push_str(text(&answer));
            let next = answer["result"]["content"][1]["text"].as_str();
            let Some(next) = next else { break };
            let cursor: Value =
                serde_json::from_str(next.split("call_tool with ").nth(1).unwrap().split(" alone").next().unwrap())
                    .unwrap();
            answer = wire.call("call_tool", cursor).await;
        }
        assert!(read == all);
        assert_eq!(lock(&few.fake.calls).len(), 1);
        // Of one that is longer than what is kept, each part says so.
        lock(&few.fake.says).insert("files__read_file".to_owned(), "x".repeat(5 << 20));
        let answer = wire.call("call_tool", json!({"name": "files__read_file"})).await;
        let next = answer["result"]["content"][1]["text"].as_str().unwrap();
        assert!(
            next.starts_with("This is a part of 5242880 bytes, of which 4194304 are kept. call_tool with "),
            "{next}"
        );
        let whole = Site::new(HubOffer::All);
        let mut wire = Wire::open(&whole, None, OLDER, json!({})).await;
        assert!(text(&wire.call("post__long", json!({})).await) == all);
    });
}

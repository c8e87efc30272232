//! The approval card as an MCP App: who gets it, what it shows, and that it grants nothing.

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

const ASK: &[&str] = &["--tools", "full", "--permission", "ask"];
const CARD: &str = "ui://memdir/approval";
const MIME: &str = "text/html;profile=mcp-app";

fn shows_cards() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [MIME]}}})
}

fn personal() -> Value {
    json!({"name": "create_file", "arguments": {"path": "a.md", "content": "- allergy: <b>penicillin</b>\n"}})
}

/// Which tools name a card, and which.
fn linked(client: &mut Client) -> Vec<(String, Value)> {
    let tools = client.result("tools/list", json!({}))["tools"].clone();
    let linked = tools.as_array().unwrap().iter().filter(|tool| !tool["_meta"]["ui"].is_null());
    linked.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["_meta"]["ui"]["resourceUri"].clone())).collect()
}

#[test]
fn a_client_that_shows_cards_gets_the_diff_and_no_way_to_agree() {
    for version in [MODERN, LEGACY[0]] {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, version, &shows_cards(), ASK);
        let linked = linked(&mut client);
        assert!(linked.iter().all(|(_, card)| card == CARD));
        let names: Vec<&str> = linked.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains(&"create_file") && names.contains(&"run_actions"), "{names:?}");
        assert!(!names.contains(&"read_file") && !names.contains(&"search_files"), "{names:?}");
        let read = client.result("resources/read", json!({"uri": CARD}));
        let card = &read["contents"][0];
        assert_eq!((&card["uri"], &card["mimeType"]), (&json!(CARD), &json!(MIME)));
        let html = card["text"].as_str().unwrap();
        assert!(html.starts_with("<!doctype html>") && html.contains("ui/initialize"));
        for other in ["http://", "https://", "innerHTML", "tools/call"] {
            assert!(!html.contains(other), "{other}");
        }
        let answered = client.result("tools/call", personal());
        let approvals = answered["_meta"]["memdir/approvals"].as_array().unwrap().clone();
        let [approval] = approvals.as_slice() else { panic!("{answered}") };
        assert_eq!(approval["proposal"], json!(1));
        assert!(approval["diff"].as_str().unwrap().contains("+- allergy: <b>penicillin</b>"), "{approval}");
        assert!(!answered.to_string().contains("\"code\":\"APPROVE"), "no code goes along");
        assert!(!env.at("a.md").exists());
        let tools = client.result("tools/list", json!({}))["tools"].to_string();
        assert!(!tools.contains("\"approve"), "no tool approves");
        let done = json!({"name": "create_file", "arguments": {"path": "plain.md", "content": "The sky.\n"}});
        let done = client.result("tools/call", done);
        assert!(done["_meta"]["memdir/receipt"].as_str().unwrap().contains("plain.md"), "{done}");
    }
}

#[test]
fn other_clients_get_what_they_got() {
    let others = [
        json!({}),
        json!({"extensions": {"io.modelcontextprotocol/ui": {}}}),
        json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}),
    ];
    for capabilities in others {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, LEGACY[0], &capabilities, ASK);
        assert_eq!(linked(&mut client), []);
        let answered = client.result("tools/call", personal());
        assert!(answered["_meta"]["memdir/approvals"].is_null() && answered["_meta"]["memdir/receipt"].is_null());
        let id = client.ask("resources/read", json!({"uri": CARD}));
        assert!(client.answer(id)["error"].is_object());
    }
}

//! Permission over MCP: who is asked, by what, and what counts as a yes.

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

const ASK: &[&str] = &["--tools", "full", "--permission", "ask"];
const FACT: &str = "- allergy: penicillin";

/// A call that the person is to be asked about.
fn personal(path: &str) -> Value {
    json!({"name": "create_file", "arguments": {"path": path, "content": format!("{FACT}\n")}})
}

fn can_ask() -> Value {
    json!({"elicitation": {}})
}

fn waiting(env: &Env) -> usize {
    env.ask(&["pending"]).exits(0)["pending"].as_array().unwrap().len()
}

/// The code of a failure, or `ok`.
fn code(result: &Value) -> String {
    match &result["structuredContent"]["error"]["code"] {
        Value::String(code) => code.clone(),
        _ => "ok".to_owned(),
    }
}

/// What a person can answer, and what becomes of the call; `None` where it stays waiting.
fn answers() -> Vec<(Value, Option<&'static str>)> {
    let accept = |content: Value| json!({"action": "accept", "content": content});
    vec![
        (accept(json!({"decision": "approve"})), Some("ok")),
        (accept(json!({"decision": "reject"})), Some("denied")),
        (accept(json!({"decision": "later"})), None),
        (accept(json!({"decision": "APPROVE"})), None),
        (accept(json!({"decision": true})), None),
        (accept(json!({"approve": true})), None),
        (accept(json!({})), None),
        (json!({"action": "accept"}), None),
        (json!({"action": "decline"}), None),
        (json!({"action": "decline", "content": {"decision": "approve"}}), None),
        (json!({"action": "cancel", "content": {"decision": "approve"}}), None),
    ]
}

#[track_caller]
fn check_end(env: &Env, result: &Value, end: Option<&str>, what: &Value) {
    assert_eq!(code(result), end.unwrap_or("awaiting_approval"), "{what}: {result}");
    assert_eq!(waiting(env), usize::from(end.is_none()), "{what}");
    assert_eq!(env.at("a.md").exists(), end == Some("ok"), "{what}");
    let expected = json!({"value": true, "path": "a.md"});
    if end == Some("ok") {
        assert_eq!(result["structuredContent"], expected, "as if nobody had been asked");
    }
}

#[track_caller]
fn check_form(form: &Value) {
    assert_eq!((&form["method"], &form["params"]["mode"]), (&json!("elicitation/create"), &json!("form")));
    let message = form["params"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("it wants to change your memory (") && message.contains(&format!("+{FACT}")),
        "{message}"
    );
    let decision = &form["params"]["requestedSchema"]["properties"]["decision"];
    assert_eq!(decision["enum"], json!(["approve", "reject", "later"]));
    assert_eq!(form["params"]["requestedSchema"]["required"], json!(["decision"]));
}

#[test]
fn older_versions_ask_while_the_call_waits() {
    for (answer, end) in answers() {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, LEGACY[0], &can_ask(), ASK);
        let id = client.ask("tools/call", personal("a.md"));
        let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
        check_form(&form);
        assert_eq!(waiting(&env), 1, "it waits before anybody is asked");
        // Others are answered meanwhile.
        assert_eq!(client.call("read_file", json!({"path": "user.md"}))["isError"], json!(false));
        client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": answer}));
        check_end(&env, &client.answer(id)["result"], end, &answer);
    }
    for error in [json!({"code": -32601, "message": "no"}), json!({"code": -1, "message": "auto-declined"})] {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, LEGACY[1], &json!({"elicitation": {"form": {}}}), ASK);
        let id = client.ask("tools/call", personal("a.md"));
        let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
        client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "error": error}));
        check_end(&env, &client.answer(id)["result"], None, &error);
    }
}

/// A call whose question is open, and the question.
fn open_question(env: &Env) -> (Client, u64, Value) {
    let mut client = Client::open_as(env, LEGACY[0], &can_ask(), ASK);
    let id = client.ask("tools/call", personal("a.md"));
    let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
    (client, id, form)
}

#[test]
fn what_is_decided_in_the_inbox_ends_the_call_and_its_question() {
    for decision in ["approve", "reject"] {
        let env = Env::ada().quick();
        let (mut client, id, form) = open_question(&env);
        match decision {
            "approve" => env.ask(&["approve", "1", "--code", &crate::ask::code(&env, 1)]).exits(0),
            _ => env.ask(&["reject", "1"]).exits(0),
        };
        let withdrawn = client.wait_for(|message| message["method"] == json!("notifications/cancelled"));
        assert_eq!(withdrawn["params"]["requestId"], form["id"]);
        check_end(
            &env,
            &client.answer(id)["result"],
            Some(if decision == "approve" { "ok" } else { "denied" }),
            &json!(decision),
        );
        assert_eq!(client.close().code, 0);
    }
    // Their answer here comes later than the one in the inbox.
    for answer in [json!({"action": "accept", "content": {"decision": "approve"}}), json!({"action": "decline"})] {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
        let question = asked(&mut client, &personal("a.md"));
        env.ask(&["approve", "1", "--code", &crate::ask::code(&env, 1)]).exits(0);
        let answered = again(&mut client, &personal("a.md"), &question, &answer);
        check_end(&env, &answered["result"], Some("ok"), &answer);
    }
}

#[test]
fn a_yes_to_what_has_changed_meanwhile_is_told_as_that() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, LEGACY[0], &can_ask(), ASK);
    let call = json!({"name": "append_file", "arguments": {"path": "user.md", "content": format!("{FACT}\n")}});
    let id = client.ask("tools/call", call);
    let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
    env.write("user.md", "# Ada\n\n- city: Rome\n");
    let yes = json!({"action": "accept", "content": {"decision": "approve"}});
    client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": yes}));
    let result = client.answer(id)["result"].clone();
    assert_eq!((code(&result), waiting(&env)), ("awaiting_approval".to_owned(), 1), "{result}");
    assert!(result.to_string().contains("the person agreed"), "{result}");
}

/// Sends a call that is answered by a question, and gives the question.
#[track_caller]
fn asked(client: &mut Client, call: &Value) -> Value {
    let result = client.result("tools/call", call.clone());
    assert_eq!(result["resultType"], json!("input_required"), "{result}");
    result
}

/// Sends the call again with an answer to each question.
fn again(client: &mut Client, call: &Value, asked: &Value, answer: &Value) -> Value {
    let keys = asked["inputRequests"].as_object().unwrap().keys();
    let responses: serde_json::Map<String, Value> = keys.map(|key| (key.clone(), answer.clone())).collect();
    let mut call = call.clone();
    call["inputResponses"] = Value::Object(responses);
    call["requestState"] = asked["requestState"].clone();
    client.request("tools/call", call)
}

#[test]
fn the_newest_version_is_answered_by_the_question() {
    for (answer, end) in answers() {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
        let question = asked(&mut client, &personal("a.md"));
        check_form(&question["inputRequests"]["proposal_1"]);
        assert_eq!(waiting(&env), 1);
        let answered = again(&mut client, &personal("a.md"), &question, &answer);
        check_end(&env, &answered["result"], end, &answer);
        // It was used.
        let yes = json!({"action": "accept", "content": {"decision": "approve"}});
        let replayed = again(&mut client, &personal("a.md"), &question, &yes);
        assert_eq!(replayed["error"]["code"], json!(-32602), "{replayed}");
        assert_eq!(env.at("a.md").exists(), end == Some("ok"), "{answer}");
    }
}

#[test]
fn a_state_goes_with_its_call_and_with_nothing_else() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let question = asked(&mut client, &personal("a.md"));
    let other = asked(&mut client, &personal("b.md"));
    let yes = json!({"action": "accept", "content": {"decision": "approve"}});
    let state = question["requestState"].as_str().unwrap().to_owned();
    let with = |state: &str| json!({"inputRequests": question["inputRequests"], "requestState": state});
    for (at, _) in state.char_indices().step_by(7) {
        let mut forged: Vec<char> = state.chars().collect();
        forged[at] = if forged[at] == 'A' { 'B' } else { 'A' };
        let forged: String = forged.into_iter().collect();
        let refused = again(&mut client, &personal("a.md"), &with(&forged), &yes);
        assert_eq!(refused["error"]["code"], json!(-32602), "{at}: {refused}");
    }
    let empty = ["", "1", "rs1", "rs1..", "\u{0}", state.get(..state.len() - 1).unwrap(), &"x".repeat(100_000)];
    for forged in empty {
        assert_eq!(again(&mut client, &personal("a.md"), &with(forged), &yes)["error"]["code"], json!(-32602));
    }
    // Another call, other arguments, another tool, another process.
    let refused = again(&mut client, &personal("a.md"), &with(other["requestState"].as_str().unwrap()), &yes);
    assert_eq!(refused["error"]["code"], json!(-32602));
    let refused = again(&mut client, &personal("c.md"), &question, &yes);
    assert_eq!(refused["error"]["code"], json!(-32602));
    let tool = json!({"name": "delete_file", "arguments": {"path": "user.md"}});
    assert_eq!(again(&mut client, &tool, &question, &yes)["error"]["code"], json!(-32602));
    let mut second = Client::open_as(&env, MODERN, &can_ask(), ASK);
    assert_eq!(again(&mut second, &personal("a.md"), &question, &yes)["error"]["code"], json!(-32602));
    assert_eq!((env.at("a.md").exists(), waiting(&env)), (false, 2), "and nothing was done");
    // An answer to no question of the call is none, and the right one counts once.
    let mut call = personal("a.md");
    call["inputResponses"] = json!({"proposal_2": yes});
    call["requestState"] = question["requestState"].clone();
    assert_eq!(code(&client.result("tools/call", call)), "awaiting_approval");
    assert_eq!(code(&again(&mut client, &personal("b.md"), &other, &yes)["result"]), "ok");
    assert_eq!((env.at("a.md").exists(), env.at("b.md").exists()), (false, true));
}

#[test]
fn several_proposals_are_several_questions_and_the_rest_is_done() {
    let call = json!({"name": "run_actions", "arguments": {"actions": [
        {"action": "create_file", "path": "plain.md", "content": "# Plain\n"},
        {"action": "create_file", "path": "a.md", "content": format!("{FACT}\n")},
        {"action": "read_file", "path": "user.md"},
        {"action": "create_file", "path": "b.md", "content": "- email: ada@example.org\n"},
    ]}});
    let choice = |word: &str| json!({"action": "accept", "content": {"decision": word}});
    let check = |env: &Env, report: &Value| {
        let outcome = |at: usize| match &report["actions"][at]["error"]["code"] {
            Value::Null => "ok".to_owned(),
            code => code.as_str().unwrap().to_owned(),
        };
        assert_eq!([outcome(0), outcome(1), outcome(2), outcome(3)], ["ok", "ok", "ok", "denied"], "{report}");
        assert_eq!(report["changed"], json!(["a.md", "plain.md"]));
        assert_eq!(report["batch"], json!(2));
        assert_eq!((waiting(env), env.at("b.md").exists()), (0, false));
    };
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let question = asked(&mut client, &call);
    assert_eq!(question["inputRequests"].as_object().unwrap().len(), 2);
    assert!(env.at("plain.md").exists(), "nobody has to be asked about it");
    let mut answered = call.clone();
    answered["inputResponses"] = json!({"proposal_1": choice("approve"), "proposal_2": choice("reject")});
    answered["requestState"] = question["requestState"].clone();
    check(&env, &client.result("tools/call", answered)["structuredContent"]);
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, LEGACY[0], &can_ask(), ASK);
    let id = client.ask("tools/call", call);
    for word in ["approve", "reject"] {
        let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
        client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": choice(word)}));
    }
    check(&env, &client.answer(id)["result"]["structuredContent"]);
}

#[test]
fn an_approved_call_is_answered_as_if_nobody_had_been_asked() {
    let remember = json!({"key": "city", "value": "Oslo"});
    let call = |arguments: &Value| json!({"name": "remember", "arguments": arguments});
    let run = json!({"name": "run_actions", "arguments": {"actions": [
        {"action": "read_file", "path": "user.md"},
        {"action": "remember", "key": "city", "value": "Oslo"},
    ]}});
    let env = || Env::with(&[("user.md", "# Ada\n\n- city: Rome\n")]).quick();
    let unasked = Client::open(&env(), MODERN, &["--permission", "off"]).call("remember", remember.clone());
    assert_eq!(unasked["structuredContent"]["value"]["replaced"], "- city: Rome", "{unasked}");
    for version in [MODERN, LEGACY[0]] {
        for call in [call(&remember), run.clone()] {
            let env = env();
            let mut client = Client::open_as(&env, version, &can_ask(), &["--permission", "all"]);
            let yes = json!({"action": "accept", "content": {"decision": "approve"}});
            let result = if version == MODERN {
                let question = asked(&mut client, &call);
                again(&mut client, &call, &question, &yes)["result"].clone()
            } else {
                let id = client.ask("tools/call", call);
                let form = client.wait_for(|message| message["method"] == json!("elicitation/create"));
                client.send(&json!({"jsonrpc": "2.0", "id": form["id"], "result": yes}));
                client.answer(id)["result"].clone()
            };
            let said = &result["structuredContent"];
            let said = if said["actions"].is_array() { &said["actions"][1] } else { said };
            for key in ["value", "path"] {
                assert_eq!(said[key], unasked["structuredContent"][key], "{version}: {result}");
            }
        }
    }
}

#[test]
fn nobody_is_asked_who_cannot_be() {
    let cannot = [
        (MODERN, json!({}), ASK),
        (LEGACY[0], json!({}), ASK),
        (LEGACY[0], json!({"elicitation": {"url": {}}}), ASK),
        (LEGACY[2], can_ask(), ASK),
    ];
    for (version, capabilities, arguments) in cannot {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, version, &capabilities, arguments);
        let result = client.result("tools/call", personal("a.md"));
        check_end(&env, &result, None, &capabilities);
        assert_eq!(result["structuredContent"]["error"]["proposal"], json!(1));
    }
    // And by default the model is told to ask.
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), &["--tools", "full"]);
    assert_eq!(code(&client.result("tools/call", personal("a.md"))), "permission_required");
    let mut claimed = personal("a.md");
    claimed["arguments"]["has_explicit_permission"] = json!(true);
    assert_eq!(code(&client.result("tools/call", claimed)), "ok");
}

#[test]
fn what_cannot_be_shown_whole_and_plainly_is_left_to_the_inbox_or_escaped() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let long = format!("{FACT}\n{}", "- a line\n".repeat(2_000));
    let call = json!({"name": "create_file", "arguments": {"path": "long.md", "content": long}});
    assert_eq!(code(&client.result("tools/call", call)), "awaiting_approval");
    let odd = format!("{FACT}\u{202e} \u{1b}[2J\u{2028}\u{61c}\n");
    let call = json!({"name": "create_file", "arguments": {"path": "odd.md", "content": odd}});
    let question = asked(&mut client, &call);
    let message = question["inputRequests"]["proposal_2"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("penicillin\\u{202e} \\u{1b}[2J\\u{2028}\\u{61c}\n"), "{message}");
}

#[test]
fn what_has_changed_since_it_was_shown_is_not_done() {
    let env = Env::with(&[("a.md", "# A\n\n- city: London\n")]).quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let call = json!({"name": "update_file", "arguments":
        {"path": "a.md", "old_content": "- city: London", "new_content": FACT}});
    let question = asked(&mut client, &call);
    env.write("a.md", "# Another\n\n- city: London\n");
    let yes = json!({"action": "accept", "content": {"decision": "approve"}});
    assert_eq!(code(&again(&mut client, &call, &question, &yes)["result"]), "awaiting_approval");
    assert_eq!(env.read("a.md"), "# Another\n\n- city: London\n");
    // Nor what the person has decided elsewhere.
    let question = asked(&mut client, &personal("b.md"));
    env.ask(&["reject", "2"]).exits(0);
    assert_eq!(code(&again(&mut client, &personal("b.md"), &question, &yes)["result"]), "denied");
    assert!(!env.at("b.md").exists());
}

#[test]
fn the_end_of_the_input_ends_the_asking() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, LEGACY[0], &can_ask(), ASK);
    client.ask("tools/call", personal("a.md"));
    client.wait_for(|message| message["method"] == json!("elicitation/create"));
    let ended = client.close();
    assert_eq!(ended.code, 0);
    assert!(ended.rest.iter().any(|message| code(&message["result"]) == "awaiting_approval"), "{ended:?}");
    assert_eq!(waiting(&env), 1);
}

#[test]
fn the_audit_says_who_agreed() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let question = asked(&mut client, &personal("a.md"));
    let yes = json!({"action": "accept", "content": {"decision": "approve"}});
    again(&mut client, &personal("a.md"), &question, &yes);
    let export = env.run(&["audit", "export", "--jsonl"], "").stdout;
    let mut entries = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let approved = entries.find(|entry| entry["permission"] == json!("approved"));
    assert!(approved.is_some(), "{export}");
    assert!(export.lines().any(|line| line.contains("\"person\"") && line.contains("\"mcp\"")), "{export}");
}

#[test]
fn a_registered_client_is_asked_only_where_its_person_speaks_for_the_owner_and_nothing_is_hidden() {
    let kinds = [
        (&["--write", "**"][..], false),
        (&["--write", "**", "--may-approve"], true),
        (&["--read", "*.md", "--write", "*.md", "--may-approve"], false),
    ];
    for (more, is_asked) in kinds {
        let env = Env::ada().quick();
        let added = env.run(&[&["client", "add", "desk"][..], more].concat(), "");
        assert_eq!(added.code, 0, "{added:?}");
        let arguments = ["--tools", "full", "--permission", "ask", "--client", "desk"];
        for version in [MODERN, LEGACY[0]] {
            let mut client = Client::open_as(&env, version, &can_ask(), &arguments);
            let path = format!("{version}.md");
            let id = client.ask("tools/call", personal(&path));
            let answer = client.wait_for(|message| {
                message["method"] == json!("elicitation/create")
                    || message["id"] == json!(id) && message.get("result").is_some()
            });
            let asks = answer.get("method").is_some() || answer["result"]["resultType"] == json!("input_required");
            assert_eq!(asks, is_asked, "{more:?} {version}: {answer}");
            if version == MODERN && is_asked {
                // Its word counts as long as it is registered.
                env.run(&["client", "revoke", "desk"], "");
                let yes = json!({"action": "accept", "content": {"decision": "approve"}});
                let refused = again(&mut client, &personal(&path), &answer["result"], &yes);
                assert!(refused["error"].is_object(), "{refused}");
                assert!(!env.at(&path).exists());
                env.run(&[&["client", "add", "desk"][..], more].concat(), "");
            }
        }
    }
}

/// Sends a call about which the person is asked, and lets them say this.
#[track_caller]
fn decided(client: &mut Client, call: &Value, decision: &str) -> Value {
    let question = asked(client, call);
    let answer = json!({"action": "accept", "content": {"decision": decision}});
    again(client, call, &question, &answer)["result"]["structuredContent"].clone()
}

#[test]
fn what_the_person_agreed_to_is_known_to_the_conversation() {
    let env = Env::ada().quick();
    let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
    let write = |text: &str| json!({"name": "write_file", "arguments": {"path": "a.md", "content": text}});
    let runs = |call: &Value| {
        let mut action = call["arguments"].clone();
        action["action"] = call["name"].clone();
        json!({"name": "run_actions", "arguments": {"actions": [action]}})
    };
    let done = decided(&mut client, &runs(&write(&format!("{FACT}\n"))), "approve");
    assert_eq!(done["actions"][0]["ok"], json!(true), "{done}");
    let next = client.result("tools/call", runs(&write("plain\n")));
    assert_eq!(next["structuredContent"]["actions"][0]["ok"], json!(true), "{next}");
    // What somebody else wrote since is still not overwritten.
    env.write("a.md", "by hand\n");
    let next = client.result("tools/call", runs(&write("plain again\n")));
    assert_eq!(next["structuredContent"]["actions"][0]["error"]["code"], json!("conflict"), "{next}");
}

#[test]
fn what_was_to_be_read_after_it_is_not_answered_by_the_decision() {
    for (decision, writes) in [("approve", Value::Null), ("reject", json!("denied"))] {
        let env = Env::ada().quick();
        let mut client = Client::open_as(&env, MODERN, &can_ask(), ASK);
        let call = json!({"name": "run_actions", "arguments": {"actions": [
            {"action": "create_file", "path": "a.md", "content": format!("{FACT}\n")},
            {"action": "read_file", "path": "a.md"},
        ]}});
        let done = decided(&mut client, &call, decision);
        assert_eq!(done["actions"][0]["error"]["code"], writes, "{done}");
        let read = &done["actions"][1];
        assert_eq!(read["ok"], json!(false), "a note is not `true`: {done}");
        assert_eq!(read["error"]["hint"], json!("send it again"), "{done}");
    }
}

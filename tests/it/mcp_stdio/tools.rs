//! The tools: what is listed, and what each answers.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::Env;
use crate::support::rpc::{Client, LEGACY, MODERN};

/// The schemas of the answers of each listed tool that has one.
fn schemas(client: &mut Client) -> BTreeMap<String, Option<Validator>> {
    let list = client.result("tools/list", json!({}));
    let schema = |tool: &Value| {
        assert!(jsonschema::meta::is_valid(&tool["inputSchema"]), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], json!("object"));
        let name = tool["name"].as_str().unwrap().to_owned();
        let output = tool.get("outputSchema").map(|output| {
            assert!(jsonschema::meta::is_valid(output), "{output}");
            assert_eq!(output["type"], json!("object"), "older clients take no other");
            jsonschema::validator_for(output).unwrap()
        });
        (name, output)
    };
    list["tools"].as_array().unwrap().iter().map(schema).collect()
}

fn names(env: &Env, arguments: &[&str]) -> Vec<String> {
    let mut client = Client::open(env, LEGACY[0], arguments);
    let list = client.result("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Checks the shape of a result, whatever it says.
#[track_caller]
fn check_shape(result: &Value, schema: Option<&Validator>) {
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{result}");
    let structured = result.get("structuredContent");
    let is_error = result["isError"] == json!(true);
    match (structured, schema) {
        (Some(structured), schema) => {
            let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(*structured, text, "the text is the same JSON");
            if let Some(schema) = schema {
                let errors: Vec<String> = schema.iter_errors(structured).map(|error| error.to_string()).collect();
                assert!(errors.is_empty(), "{errors:?}: {structured}");
            }
            let keys = ["value", "error", "actions"].iter().filter(|key| structured.get(*key).is_some()).count();
            assert_eq!(keys, 1, "{structured}");
            if !is_error {
                assert!(structured.get("error").is_none(), "{structured}");
            }
        }
        (None, Some(_)) => panic!("an answer without what its schema says: {result}"),
        (None, None) => assert!(!is_error || content[0]["text"].as_str().unwrap().len() > 10, "{result}"),
    }
    if is_error && let Some(error) = structured.and_then(|structured| structured.get("error")) {
        assert!(error["code"].is_string() && error["message"].is_string() && error.get("hint").is_some(), "{error}");
    }
}

#[test]
fn the_lists_are_small() {
    let env = Env::new();
    for (set, most) in [("compact", 6_700), ("full", 30_000)] {
        for mode in ["off", "flag", "ask", "all"] {
            let mut client = Client::open(&env, MODERN, &["--tools", set, "--permission", mode]);
            let list = client.result("tools/list", json!({}));
            let bytes = list.to_string().len();
            eprintln!("tools/list, {set}, {mode}: {bytes} bytes");
            assert!(bytes <= most, "{set}, {mode}: {bytes} bytes");
            assert_eq!(list, client.result("tools/list", json!({})), "the same each time");
        }
    }
}

#[test]
fn the_sets_have_their_tools() {
    let env = Env::new();
    let compact = "search_files get_context read_file remember append_file update_file delete_file recent run_actions";
    assert_eq!(names(&env, &[]).join(" "), compact);
    let full = names(&env, &["--tools", "full"]);
    assert_eq!((full.len(), full.last().unwrap().as_str()), (32, "run_actions"));
    assert_eq!(names(&env, &["--tools", "memory"]), ["memory"]);
    let reading = "search_files get_context read_file recent run_actions";
    assert_eq!(names(&env, &["--read-only"]).join(" "), reading);
    let mut client = Client::open(&env, LEGACY[0], &["--read-only"]);
    let list = client.result("tools/list", json!({}));
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], json!(true), "{tool}");
        assert!(!tool.to_string().contains("create_file") && !tool.to_string().contains("permission"), "{tool}");
    }
    let write = json!({"actions": [{"action": "create_file", "path": "a.md", "content": "x"}]});
    let refused = client.call("run_actions", write);
    assert_eq!(refused["structuredContent"]["actions"][0]["error"]["code"], json!("read_only"), "{refused}");
}

#[test]
fn a_client_that_may_write_nothing_is_served_as_one_that_only_reads() {
    let env = Env::new();
    for (name, option, value) in [("globs", "--read", "**"), ("words", "--tools", "read")] {
        env.ask(&["client", "add", name, option, value]).exits(0);
    }
    env.ask(&["client", "add", "few", "--write", "**", "--tools", "read_file,append_file,set_fact"]).exits(0);
    let served = |arguments: &[&str]| {
        let mut client = Client::start(&env, arguments);
        let said = client.begin(MODERN)["instructions"].clone();
        let (tools, prompts) =
            (client.result("tools/list", json!({})), client.result("prompts/list", json!({}))["prompts"].clone());
        (said, tools["tools"].clone(), prompts)
    };
    let read_only = served(&["--read-only"]);
    let said = format!("{read_only:?}");
    assert!(!said.contains("`remember`") && !said.contains("save_conversation"), "{said}");
    for name in ["globs", "words"] {
        assert_eq!(served(&["--client", name]), read_only, "{name}");
        let mut client = Client::open(&env, LEGACY[1], &["--client", name]);
        assert_eq!(
            client.request("tools/call", json!({"name": "remember", "arguments": {"text": "x"}}))["error"]["code"],
            -32602
        );
    }
    let (_, tools, prompts) = served(&["--client", "few"]);
    let run = tools.as_array().unwrap().last().unwrap()["description"].as_str().unwrap().to_owned();
    assert!(run.contains("set_fact") && !run.contains("create_file") && !run.contains("list_files"), "{run}");
    assert!(prompts.to_string().contains("save_conversation"), "{prompts}");
}

#[test]
fn words_and_hints_are_said() {
    let env = Env::new();
    for (mode, asks) in [("off", false), ("flag", true), ("ask", true), ("all", true)] {
        let mut client = Client::open(&env, LEGACY[0], &["--tools", "full", "--permission", mode]);
        let list = client.result("tools/list", json!({}));
        for tool in list["tools"].as_array().unwrap() {
            let hints = &tool["annotations"];
            let writes = hints["readOnlyHint"] == json!(false);
            let words = tool["description"].as_str().unwrap();
            assert_eq!(words.contains("Ask the user"), asks && writes, "{mode}: {words}");
            assert!(words.starts_with("In the user's long-term memory: "), "{words}");
            assert_eq!(hints["openWorldHint"], json!(false));
            assert!(hints["destructiveHint"].is_boolean());
            assert!(!tool["title"].as_str().unwrap().is_empty());
        }
    }
}

/// Calls of every action that are done, and what they need is there; later ones build on earlier ones.
const DONE: &[&str] = &[
    r#"["read_file",{"path":"user.md"}]"#,
    r#"["read_file",{"path":"user.md","start_line":1,"end_line":null}]"#,
    r##"["create_file",{"path":"a.md","content":"# A\n\n## One\n\n- key: value\n"}]"##,
    r#"["write_file",{"path":"b.md","content":"one\n"}]"#,
    r#"["append_file",{"path":"b.md","content":"two"}]"#,
    r#"["update_file",{"path":"b.md","old_content":"two","new_content":"three"}]"#,
    r#"["insert_text",{"path":"b.md","line":0,"content":"zero"}]"#,
    r#"["replace_section",{"path":"a.md","heading":"One","content":"- key: value"}]"#,
    r#"["append_to_section",{"path":"a.md","heading":"One","content":"- see [[user]]"}]"#,
    r#"["set_fact",{"path":"a.md","key":"key","value":"other"}]"#,
    r#"["copy_file",{"path":"b.md","new_path":"c.md"}]"#,
    r#"["rename_file",{"path":"c.md","new_path":"d.md"}]"#,
    r#"["delete_file",{"path":"d.md"}]"#,
    r#"["remember",{"note":"acme","key":"city","value":"Leeds"}]"#,
    r#"["remember",{"text":"likes tea"}]"#,
    r#"["recent",{}]"#,
    r#"["create_dir",{"path":"folder"}]"#,
    r#"["delete_dir",{"path":"folder"}]"#,
    r#"["check_file_exists",{"path":"a.md"}]"#,
    r#"["check_dir_exists",{"path":"nowhere"}]"#,
    r#"["list_files",{}]"#,
    r#"["list_files",{"limit":1}]"#,
    r#"["list_directory",{"path":""}]"#,
    r#"["get_file_info",{"path":"a.md"}]"#,
    r#"["get_size",{}]"#,
    r#"["get_history",{"path":"a.md"}]"#,
    r#"["go_to_link",{"link":"[[acme]]"}]"#,
    r#"["search_files",{"query":"company"}]"#,
    r#"["search_files",{"query":"k.nd","mode":"regex"}]"#,
    r#"["get_context",{"query":"what is acme"}]"#,
    r#"["get_links",{"path":"a.md"}]"#,
    r#"["get_backlinks",{"path":"user.md"}]"#,
    r#"["memory",{"operation":"store","key":"k","content":"text of the entry"}]"#,
    r#"["memory",{"operation":"retrieve","key":"k"}]"#,
    r#"["memory",{"operation":"list"}]"#,
    r#"["memory",{"operation":"search","query":"text"}]"#,
    r#"["memory",{"operation":"delete","key":"k"}]"#,
    r#"["memory",{"command":"view","path":"/memories"}]"#,
    r#"["get_config",{}]"#,
    r#"["get_config",{"key":"permission"}]"#,
    r#"["run_actions",{"actions":[{"action":"get_size"},{"action":"read_file","path":"user.md","assign_to":"u"}]}]"#,
    r#"["run_actions",{"actions":[{"action":"delete_file","path":"b.md"}],"atomic":true}]"#,
];

/// Calls of every action that fail.
const FAILED: &[&str] = &[
    r#"["read_file",{"path":"nowhere.md"}]"#,
    r#"["read_file",{}]"#,
    r#"["read_file",{"path":"../x"}]"#,
    r#"["read_file",{"path":["user.md"]}]"#,
    r#"["read_file",{"path":"user.md","action":"delete_file"}]"#,
    r#"["create_file",{"path":"user.md","content":"x"}]"#,
    r#"["write_file",{"path":"user.md","content":"x","if_digest":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}]"#,
    r#"["append_file",{"path":"nowhere.md","content":"x"}]"#,
    r#"["update_file",{"path":"user.md","old_content":"- city: Berlin","new_content":"y"}]"#,
    r#"["insert_text",{"path":"user.md","line":99,"content":"x"}]"#,
    r#"["replace_section",{"path":"user.md","heading":"None","content":"x"}]"#,
    r#"["append_to_section",{"path":"user.md","heading":"None","content":"x"}]"#,
    r#"["set_fact",{"path":"nowhere.md","key":"k","value":"v"}]"#,
    r#"["copy_file",{"path":"nowhere.md","new_path":"x.md"}]"#,
    r#"["rename_file",{"path":"nowhere.md","new_path":"x.md"}]"#,
    r#"["delete_file",{"path":"nowhere.md"}]"#,
    r#"["remember",{}]"#,
    r#"["recent",{"since":"last week"}]"#,
    r#"["create_dir",{"path":"user.md"}]"#,
    r#"["delete_dir",{"path":"entities"}]"#,
    r#"["check_file_exists",{"path":"/etc"}]"#,
    r#"["check_dir_exists",{"path":1}]"#,
    r#"["list_files",{"path":"nowhere"}]"#,
    r#"["list_directory",{"path":"nowhere"}]"#,
    r#"["get_file_info",{"path":"nowhere.md"}]"#,
    r#"["get_size",{"unknown":1}]"#,
    r#"["get_history",{"path":"user.md","limit":-1}]"#,
    r#"["go_to_link",{"link":"[[nowhere]]"}]"#,
    r#"["search_files",{"query":"(","mode":"regex"}]"#,
    r#"["get_context",{}]"#,
    r#"["get_links",{"path":"nowhere.md"}]"#,
    r#"["get_backlinks",{"path":""}]"#,
    r#"["memory",{"operation":"store_conversation"}]"#,
    r#"["memory",{"operation":"retrieve","key":"none"}]"#,
    r#"["memory",{}]"#,
    r#"["memory",{"command":"view","path":"/memories/none"}]"#,
    r#"["get_config",{"key":"nothing"}]"#,
    r#"["set_config_value",{"key":"permission.mcp","value":"off"}]"#,
    r#"["set_config_value",{"key":"nothing","value":"off"}]"#,
    r#"["run_actions",{"actions":[]}]"#,
    r#"["run_actions",{}]"#,
    r#"["run_actions",{"actions":[{"action":"no_such"},"x"]}]"#,
    r#"["run_actions",{"actions":[{"action":"create_file","path":"z.md","content":"z"},{"action":"delete_file","path":"no.md"}],"atomic":true}]"#,
];

#[test]
fn every_action_answers_as_its_schema_says() {
    for version in [MODERN, LEGACY[0]] {
        let env = Env::ada().quick();
        let mut client = Client::open(&env, version, &["--tools", "full", "--permission", "off"]);
        let schemas = schemas(&mut client);
        for (name, schema) in &schemas {
            assert_eq!(schema.is_some(), name == "list_files", "{name}");
            for calls in [DONE, FAILED] {
                // That one never does anything.
                let is_left_out = calls == DONE && name == "set_config_value";
                assert!(
                    is_left_out || calls.iter().any(|call| call.contains(&format!("[\"{name}\""))),
                    "{name} is tried"
                );
            }
        }
        for (calls, fails) in [(FAILED, true), (DONE, false), (FAILED, true)] {
            for call in calls {
                let call: Value = serde_json::from_str(call).unwrap();
                let result = client.call(call[0].as_str().unwrap(), call[1].clone());
                assert_eq!(result["isError"], json!(fails), "{call}: {result}");
                check_shape(&result, schemas[call[0].as_str().unwrap()].as_ref());
            }
        }
        assert!(!env.at("z.md").exists(), "one failed, and nothing was done");
    }
}

#[test]
fn a_note_is_sent_once() {
    let line = "- a fact that stands here only once, with \"quotes\" and a tab\t and ä\n";
    let note = format!("# Note\n\n{}", line.repeat(200));
    let env = Env::with(&[("note.md", &note)]);
    let mut client = Client::open(&env, MODERN, &["--tools", "full"]);
    let quoted = json!(note).to_string().len();
    for (tool, arguments) in [("read_file", json!({"path": "note.md"})), ("go_to_link", json!({"link": "[[note]]"}))] {
        let result = client.call(tool, arguments);
        assert_eq!(result["content"][0]["text"], json!(note));
        assert!(result.get("structuredContent").is_none(), "{result}");
        let bytes = result.to_string().len();
        eprintln!("{tool}: {bytes} bytes for a note of {} ({quoted} as JSON)", note.len());
        assert!(bytes <= quoted + 200, "{bytes}");
    }
    client.call("memory", json!({"operation": "store", "key": "long", "content": note}));
    let result = client.call("memory", json!({"operation": "retrieve", "key": "long"}));
    assert!(result.to_string().len() <= quoted + 200, "{result}");
}

#[test]
fn calls_are_read_as_they_come() {
    let env = Env::ada().quick();
    let mut client = Client::open(&env, MODERN, &[]);
    for params in [json!({"name": "recent"}), json!({"name": "recent", "arguments": null})] {
        assert!(client.result("tools/call", params)["structuredContent"]["value"].is_object());
    }
    let params = json!({"name": "recent", "arguments": {}, "_meta": {"progressToken": "p", "x.example/y": [1]}});
    assert!(client.result("tools/call", params)["structuredContent"]["value"].is_object());
    // A write is known to the conversation, also where the next one does not wait for its answer.
    let write = |content: &str| json!({"name": "run_actions", "arguments": {"actions": [{"action": "write_file", "path": "w.md", "content": content}]}});
    let asked: Vec<u64> = (0..10).map(|number| client.ask("tools/call", write(&format!("{number}\n")))).collect();
    for id in asked {
        assert_eq!(client.answer(id)["result"]["isError"], json!(false));
    }
    assert_eq!(env.read("w.md"), "9\n");
    env.write("w.md", "by hand\n");
    let late = client.result("tools/call", write("over it\n"));
    let error = &late["structuredContent"]["actions"][0]["error"];
    assert_eq!((&error["code"], &error["text"]), (&json!("conflict"), &json!("by hand\n")), "{late}");
}

#[test]
fn who_and_where_are_in_the_history() {
    let env = Env::ada().quick();
    let mut client = Client::open(&env, LEGACY[0], &[]);
    client.call("remember", json!({"text": "likes tea"}));
    let log = env.ask(&["log"]).exits(0);
    assert_eq!((&log["entries"][0]["door"], &log["entries"][0]["client"]), (&json!("mcp"), &json!("it")));
    let export = env.run(&["audit", "export", "--jsonl"], "").stdout;
    let entry: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    assert_eq!(entry["session"].as_str().unwrap().len(), 8, "{entry}");
    assert!(entry["message"].is_string(), "{entry}");
}

#[test]
fn the_memory_set_is_the_memory_tool() {
    let env = Env::ada().quick();
    let mut client = Client::open(&env, LEGACY[1], &["--tools", "memory"]);
    let list = client.result("tools/list", json!({}));
    assert!(list["tools"][0].get("outputSchema").is_none(), "{list}");
    let text = |client: &mut Client, arguments: Value| {
        let result = client.call("memory", arguments);
        assert!(result.get("structuredContent").is_none(), "{result}");
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == json!(true))
    };
    let create = json!({"command": "create", "path": "/memories/n.md", "file_text": "- a\n"});
    assert_eq!(text(&mut client, create.clone()), ("File created successfully at: /memories/n.md".to_owned(), false));
    assert_eq!(text(&mut client, create), ("File /memories/n.md already exists".to_owned(), true));
    let view = text(&mut client, json!({"command": "view", "path": "/memories"})).0;
    assert!(view.starts_with("Here're the files") && view.contains("/memories/n.md"), "{view}");
    for wrong in [json!({}), json!({"command": "fly"}), json!({"command": "view", "path": "/etc/passwd"})] {
        assert!(text(&mut client, wrong).1);
    }
    // What it takes is what its schema says.
    let schema = jsonschema::validator_for(&list["tools"][0]["inputSchema"]).unwrap();
    for call in [
        json!({"command": "view", "path": "/memories/n.md", "view_range": [1, -1]}),
        json!({"command": "str_replace", "path": "/memories/n.md", "old_str": "- a", "new_str": "- b"}),
        json!({"command": "insert", "path": "/memories/n.md", "insert_line": 0, "insert_text": "- c\n"}),
        json!({"command": "rename", "old_path": "/memories/n.md", "new_path": "/memories/m.md"}),
        json!({"command": "delete", "path": "/memories/m.md", "has_explicit_permission": false}),
    ] {
        assert!(schema.is_valid(&call), "{call}");
        assert!(!text(&mut client, call.clone()).1, "{call}");
    }
    let mut client = Client::open(&env, LEGACY[1], &["--tools", "memory", "--read-only"]);
    let create = json!({"command": "create", "path": "/memories/x.md", "file_text": "x"});
    assert!(text(&mut client, create).1);
}

#[test]
fn what_is_not_offered_is_not_spoken_of() {
    let env = Env::ada();
    let actions = ["get_context", "search_files", "read_file"];
    for (arguments, names_actions, saves) in [
        (&[] as &[&str], true, true),
        (&["--read-only"], true, false),
        (&["--tools", "memory"], false, true),
        (&["--tools", "memory", "--read-only"], false, true),
    ] {
        let mut client = Client::start(&env, arguments);
        let said = client.begin(MODERN)["instructions"].as_str().unwrap().to_owned();
        assert_eq!(actions.iter().any(|name| said.contains(name)), names_actions, "{arguments:?}");
        assert_eq!(said.contains("out of date"), saves, "{arguments:?}");
    }
    let mut client = Client::open(&env, MODERN, &["--tools", "memory", "--read-only"]);
    let tool = &client.result("tools/list", json!({}))["tools"][0];
    assert_eq!(tool["annotations"]["readOnlyHint"], json!(true), "{tool}");
    assert_eq!(tool["inputSchema"]["properties"]["command"]["enum"], json!(["view"]));
    let viewed = client.call("memory", json!({"command": "view", "path": "/memories/user.md"}));
    assert_eq!(viewed["isError"], json!(false), "{viewed}");
}

/// All words of a value that are texts.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The list of the tools is the oracle: what fails may speak of no other.
#[test]
fn no_error_names_a_tool_that_is_not_offered() {
    let env = Env::ada().quick();
    let add = ["client", "add", "few", "--read", "**", "--write", "**", "--tools", "read_file,update_file,append_file"];
    assert_eq!(env.run(&add, "").code, 0);
    let wrong: Vec<Value> = FAILED.iter().chain(MORE_FAILED).map(|call| serde_json::from_str(call).unwrap()).collect();
    for arguments in [
        &[][..],
        &["--read-only"],
        &["--client", "few"],
        &["--tools", "full", "--client", "few"],
        &["--tools", "memory"],
        &["--tools", "full", "--read-only"],
    ] {
        let offered = names(&env, arguments);
        let mut client = Client::open(&env, MODERN, arguments);
        let mut tried = 0;
        for call in &wrong {
            let tool = call[0].as_str().unwrap();
            // Who sends a list of actions is offered all of them.
            if !offered.iter().any(|name| name == tool) || tool == "run_actions" {
                continue;
            }
            let mut said = Vec::new();
            texts(&client.call(tool, call[1].clone()), &mut said);
            tried += 1;
            for name in memdir_core::action::NAMES.iter().filter(|name| !offered.iter().any(|other| other == *name)) {
                let is_said = |text: &String| {
                    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).any(|word| word == *name)
                };
                let is_word = !name.contains('_');
                assert!(is_word || !said.iter().any(is_said), "{arguments:?}: {call} names `{name}`: {said:?}");
                assert!(
                    !said.iter().any(|text| text.contains(&format!("`{name}`"))),
                    "{arguments:?}: {call}: {said:?}"
                );
            }
        }
        assert!(tried >= 3, "{arguments:?}: {tried}");
    }
}

/// More calls that fail, for the words of their errors.
const MORE_FAILED: &[&str] = &[
    r#"["read_file",{"path":"entities"}]"#,
    r#"["read_file",{"path":"no/such/folder/x.md"}]"#,
    r#"["read_file",{"path":"user.md","start_line":999}]"#,
    r#"["read_file",{"pth":"user.md"}]"#,
    r#"["append_file",{"path":"entities","content":"x"}]"#,
    r#"["append_file",{"path":"user.md"}]"#,
    r#"["append_file",{"path":"user.md","content":"AKIAIOSFODNN7EXAMPLE"}]"#,
    r#"["append_file",{"path":"user.md","content":"- iban: DE89 3702 0800 0532 0130 00"}]"#,
    r#"["update_file",{"path":"user.md","old_content":"","new_content":"y"}]"#,
    r#"["update_file",{"path":"user.md","old_content":"a","new_content":"y"}]"#,
    r#"["update_file",{"path":"entities","old_content":"a","new_content":"y"}]"#,
    r#"["update_file",{"path":"no.md","old_content":"a","new_content":"y"}]"#,
    r#"["delete_file",{"path":"entities"}]"#,
    r#"["delete_file",{}]"#,
    r#"["search_files",{}]"#,
    r#"["search_files",{"query":"x","path":"nowhere"}]"#,
    r#"["search_files",{"query":"since:never"}]"#,
    r#"["get_context",{"path":"nowhere.md"}]"#,
    r#"["get_context",{"path":"entities"}]"#,
    r#"["remember",{"key":"a: b","value":"c"}]"#,
    r#"["remember",{"key":"city","value":"a\nb"}]"#,
    r#"["remember",{"note":"../x","text":"y"}]"#,
    r#"["remember",{"note":"entities","text":"y\u0000"}]"#,
    r#"["remember",{"text":"the key is AKIAIOSFODNN7EXAMPLE"}]"#,
    r#"["recent",{"days":0}]"#,
    r#"["recent",{"days":1,"since":"2026-01-01"}]"#,
    r#"["memory",{"command":"view","path":"/memories/entities/none.md"}]"#,
    r#"["memory",{"command":"create","path":"/memories/user.md","file_text":"x"}]"#,
    r#"["memory",{"command":"str_replace","path":"/memories/user.md","old_str":"none","new_str":"x"}]"#,
    r#"["memory",{"command":"insert","path":"/memories/user.md","insert_line":99,"insert_text":"x"}]"#,
    r#"["memory",{"command":"rename","old_path":"/memories/none.md","new_path":"/memories/x.md"}]"#,
];

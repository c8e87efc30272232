//! Provider tool calls and Anthropic's memory tool, through the binary: JSON in, that provider's results out.

use serde_json::{Value, json};

use crate::support::Env;

/// Runs a turn and gives what is answered, on one line, with the exit code.
#[track_caller]
fn say(env: &Env, turn: &Value, code: i32) -> Value {
    let ran = env.run(&["exec"], &turn.to_string());
    assert_eq!(ran.code, code, "{ran:?}");
    let line = ran.stdout.strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'), "{line}");
    serde_json::from_str(line).unwrap()
}

/// Runs a command of the memory tool as a bare input, and checks its text.
#[track_caller]
fn does(env: &Env, input: &Value, text: &str) {
    let ran = env.run(&["exec"], &input.to_string());
    assert_eq!((ran.code, ran.stdout.strip_suffix('\n').unwrap()), (0, text), "{input}");
}

/// Runs a command that fails, as a bare input and as a block: it says so, and changes nothing.
#[track_caller]
fn fails(env: &Env, input: &Value, text: &str) {
    let before = env.files();
    let ran = env.run(&["exec"], &input.to_string());
    assert_eq!(ran.stdout.strip_suffix('\n').unwrap(), text, "{input}");
    assert_ne!(ran.code, 0, "{input}");
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": input});
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": text, "is_error": true});
    assert_eq!(say(env, &block, ran.code), json!({"role": "user", "content": [result]}));
    assert_eq!(env.files(), before, "{input}");
}

const USER: &str = "# Ada\n\n- city: London\n";

fn env() -> Env {
    Env::with(&[("user.md", USER)]).quick()
}

/// Reading twice, an error, an unknown tool.
fn parallel() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": "user.md"})),
        ("get_size", json!({"path": "user.md"})),
        ("read_file", json!({"path": "usr.md"})),
        ("weather", json!({"city": "Paris"})),
    ]
}

fn missing() -> Value {
    json!({"error": {"code": "not_found", "message": "note `usr.md` does not exist", "hint": "the nearest is `user.md`"}})
}

/// What the unknown tool is answered.
#[track_caller]
fn is_unknown(error: &Value) {
    assert_eq!(error["error"]["code"], "unknown_action");
    assert_eq!(error["error"]["message"], "action 4: unknown action `weather`");
    assert!(error["error"]["hint"].as_str().unwrap().starts_with("the actions are `read_file`"));
}

fn text(value: &Value) -> Value {
    serde_json::from_str(value.as_str().unwrap()).unwrap()
}

#[test]
fn chat_completions() {
    let env = env();
    let call = |(at, (name, arguments)): (usize, (&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call_{}", at * 7), "type": "function", "function": function})
    };
    let calls: Vec<_> = parallel().into_iter().enumerate().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let turn = json!({"id": "chatcmpl-1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let mut answer = say(&env, &turn, 4);
    let unknown = answer.as_array_mut().unwrap().pop().unwrap();
    assert_eq!((&unknown["role"], &unknown["tool_call_id"]), (&json!("tool"), &json!("call_21")));
    is_unknown(&text(&unknown["content"]));
    assert_eq!(answer[2]["content"], missing().to_string());
    assert_eq!(answer[0], json!({"role": "tool", "tool_call_id": "call_0", "content": USER}));
    let size = json!({"value": 22, "path": "user.md"}).to_string();
    assert_eq!(answer[1], json!({"role": "tool", "tool_call_id": "call_7", "content": size}));
    // The message, the list, one of them: the same results.
    assert_eq!(say(&env, &message, 4)[0], answer[0]);
    assert_eq!(say(&env, &json!(calls), 4)[0], answer[0]);
    assert_eq!(say(&env, &calls[0], 0), json!([answer[0]]));
    // Servers that send an object, and no id.
    let odd = json!([{"function": {"name": "read_file", "arguments": {"path": "user.md"}}}]);
    assert_eq!(say(&env, &odd, 0), json!([{"role": "tool", "tool_call_id": "call_1", "content": USER}]));
}

#[test]
fn responses() {
    let env = env();
    let call = |(at, (name, arguments)): (usize, (&str, Value))| {
        json!({"type": "function_call", "id": format!("fc_{at}"), "call_id": format!("call_{at}"), "name": name,
            "arguments": arguments.to_string(), "status": "completed"})
    };
    let mut items = vec![json!({"type": "reasoning", "id": "rs_1", "summary": []})];
    items.extend(parallel().into_iter().enumerate().map(call));
    let turn = json!({"id": "resp_1", "object": "response", "status": "completed", "output": items});
    let mut answer = say(&env, &turn, 4);
    let unknown = answer.as_array_mut().unwrap().pop().unwrap();
    is_unknown(&text(&unknown["output"]));
    let output = |at: usize, output: String| json!({"type": "function_call_output", "call_id": format!("call_{at}"), "output": output});
    let size = json!({"value": 22, "path": "user.md"}).to_string();
    assert_eq!(answer, json!([output(0, USER.to_owned()), output(1, size), output(2, missing().to_string())]));
    assert_eq!(say(&env, &json!(items), 4)[0], answer[0]);
    assert_eq!(say(&env, &items[1], 0), json!([answer[0]]));
}

#[test]
fn anthropic_messages() {
    let env = env();
    let call = |(at, (name, input)): (usize, (&str, Value))| json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": input});
    let mut blocks = vec![
        json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
        json!({"type": "text", "text": "I look."}),
    ];
    blocks.extend(parallel().into_iter().enumerate().map(call));
    let turn =
        json!({"id": "msg_1", "type": "message", "role": "assistant", "content": blocks, "stop_reason": "tool_use"});
    let mut answer = say(&env, &turn, 4);
    let unknown = answer["content"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(unknown["is_error"], true);
    is_unknown(&text(&unknown["content"]));
    let size = json!({"value": 22, "path": "user.md"}).to_string();
    let expected = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_0", "content": USER},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": size},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": missing().to_string(), "is_error": true},
    ]});
    assert_eq!(answer, expected);
    assert_eq!(say(&env, &json!(blocks), 4)["content"][0], answer["content"][0]);
    assert_eq!(say(&env, &blocks[2], 0)["content"], json!([answer["content"][0]]));
    let ran = env.say(&turn.to_string(), &[]).json();
    assert_eq!(ran["reply"], "I look.");
    assert_eq!(ran["answer"].as_str().unwrap().matches("tool_result").count(), 4);
}

#[test]
fn gemini() {
    let env = env();
    let call = |(at, (name, arguments)): (usize, (&str, Value))| match at {
        0 => json!({"functionCall": {"id": "f0", "name": name, "args": arguments}, "thoughtSignature": "c2ln"}),
        _ => json!({"functionCall": {"name": name, "args": arguments}}),
    };
    let mut parts = vec![json!({"text": "hm", "thought": true})];
    parts.extend(parallel().into_iter().enumerate().map(call));
    let content = json!({"role": "model", "parts": parts});
    let turn = json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]});
    let mut answer = say(&env, &turn, 4);
    let unknown = answer["parts"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!(unknown["functionResponse"]["name"], "weather");
    is_unknown(&unknown["functionResponse"]["response"]);
    let response = |name: &str, response: Value| json!({"functionResponse": {"name": name, "response": response}});
    let first = json!({"functionResponse": {"id": "f0", "name": "read_file", "response": {"output": USER}}});
    let size = response("get_size", json!({"output": {"value": 22, "path": "user.md"}}));
    assert_eq!(answer, json!({"role": "user", "parts": [first, size, response("read_file", missing())]}));
    assert_eq!(say(&env, &content, 4)["parts"][0], first);
    assert_eq!(say(&env, &json!(parts), 4)["parts"][0], first);
    assert_eq!(say(&env, &parts[1], 0)["parts"], json!([first]));
    assert_eq!(env.say(&turn.to_string(), &[]).json()["reply"], Value::Null, "a thought is no reply");
}

#[test]
fn a_turn_that_was_cut_off_writes_nothing() {
    let (make, read) = (json!({"path": "a.md", "content": "x"}), json!({"path": "user.md"}));
    let function = |id: &str, name: &str, arguments: &Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let item = |id: &str, name: &str, arguments: &Value, status: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string(), "status": status});
    let block =
        |id: &str, name: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let part = |name: &str, args: &Value| json!({"functionCall": {"name": name, "args": args}});
    let calls = [function("a", "create_file", &make), function("b", "read_file", &read)];
    let chat = |reason: &str| json!({"choices": [{"message": {"role": "assistant", "tool_calls": calls}, "finish_reason": reason}]});
    let output = |status: &str, last: &str| json!({"status": status, "output": [item("a", "create_file", &make, "completed"), item("b", "read_file", &read, last)]});
    let anthropic = |reason: &str| {
        let content = [block("a", "create_file", &make), block("b", "read_file", &read)];
        json!({"role": "assistant", "content": content, "stop_reason": reason})
    };
    let gemini = json!({"candidates": [{"finishReason": "MAX_TOKENS",
        "content": {"role": "model", "parts": [part("create_file", &make), part("read_file", &read)]}}]});
    let memory = [json!({"type": "tool_use", "id": "a", "name": "memory",
        "input": {"command": "create", "path": "/memories/a.md", "file_text": "x"}})];
    let turns = [
        (chat("length"), "length", 2),
        (chat("content_filter"), "content_filter", 2),
        (output("incomplete", "completed"), "incomplete", 2),
        (output("completed", "incomplete"), "incomplete", 2),
        (anthropic("max_tokens"), "max_tokens", 2),
        (anthropic("model_context_window_exceeded"), "model_context_window_exceeded", 2),
        (anthropic("refusal"), "refusal", 2),
        (gemini, "MAX_TOKENS", 2),
        (json!({"role": "assistant", "content": memory, "stop_reason": "max_tokens"}), "max_tokens", 1),
    ];
    for (turn, word, count) in turns {
        let env = env();
        let report = env.say(&turn.to_string(), &[]).exits(4);
        assert_eq!(report["actions"].as_array().unwrap().len(), count, "{turn}");
        let message = format!("action 1, `create_file`: the turn ended early (`{word}`), so it was not run");
        assert_eq!(report["actions"][0]["error"]["message"], message, "{turn}");
        assert!(count == 1 || report["actions"][1]["value"] == USER, "{turn}");
        assert_eq!(env.files().len(), 1, "{turn}");
    }
    for whole in [chat("tool_calls"), chat("stop"), output("completed", "completed"), anthropic("tool_use")] {
        let env = env();
        env.say(&whole.to_string(), &[]).exits(0);
        assert_eq!(env.files().len(), 2, "{whole}");
    }
    // The JSON itself: nothing is read of it.
    let text = chat("tool_calls").to_string();
    for end in (1..text.len()).step_by(7) {
        let env = env();
        env.say(text.get(..end).unwrap(), &[]).exits(2);
        assert_eq!(env.files().len(), 1);
    }
}

#[test]
fn run_actions_is_one_call_with_the_object_of_exec() {
    let env = env();
    let make = json!({"action": "create_file", "path": "a.md", "content": "x", "assign_to": "made"});
    let input = json!({"actions": [make, {"action": "read_file", "path": "none.md"}]});
    let call = |input: &Value| json!({"type": "tool_use", "id": "t", "name": "run_actions", "input": input});
    let answer = say(&env, &call(&input), 4);
    let result = text(&answer["content"][0]["content"]);
    assert_eq!(answer["content"][0]["is_error"], true);
    assert_eq!((&result["changed"], &result["batch"]), (&json!(["a.md"]), &json!(1)));
    assert_eq!(
        result["actions"][0],
        json!({"index": 1, "action": "create_file", "path": "a.md", "ok": true, "value": true})
    );
    assert_eq!(result["actions"][1]["error"]["code"], "not_found");
    assert_eq!(result["variables"], json!({"made": true}));
    // All or nothing, where it says so.
    let input = json!({"actions": [{"action": "delete_file", "path": "a.md"}, {"action": "get_size", "path": 1}], "atomic": true});
    let result = text(&say(&env, &call(&input), 4)["content"][0]["content"]);
    assert_eq!(result["actions"][0]["error"]["code"], "batch_aborted");
    assert_eq!((&result["changed"], env.read("a.md")), (&json!([]), "x".to_owned()));
    let beside = json!([call(&input), {"type": "tool_use", "id": "u", "name": "get_size", "input": {}}]);
    let result = text(&say(&env, &beside, 4)["content"][0]["content"]);
    let message = "action 1, `run_actions`: with `atomic` it has to be the only call of its turn";
    assert_eq!(result["error"]["message"], message);
}

#[test]
fn views_of_the_memory_tool() {
    let env = Env::new().quick();
    let view = |path: &str| json!({"command": "view", "path": path});
    let head = |path: &str| {
        format!("Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:\n")
    };
    does(&env, &view("/memories"), &format!("{}0B\t/memories", head("/memories")));
    env.write("b.md", "x".repeat(1536));
    env.write("a/c/deep.md", "1234");
    env.write("a/one.md", "x".repeat(2048));
    env.write("a.txt", "x");
    env.write(".hidden/x.md", "x");
    env.write("empty.md", "");
    let below = "2.0K\t/memories/a/\n4B\t/memories/a/c/\n2K\t/memories/a/one.md\n1B\t/memories/a.txt\n1.5K\t/memories/b.md\n0B\t/memories/empty.md";
    does(&env, &view("/memories"), &format!("{}3.5K\t/memories\n{below}", head("/memories")));
    let below = "2.0K\t/memories/a\n4B\t/memories/a/c/\n4B\t/memories/a/c/deep.md\n2K\t/memories/a/one.md";
    does(&env, &view("/memories/a"), &format!("{}{below}", head("/memories/a")));
    let head = "Here's the content of /memories/n.txt with line numbers:\n";
    env.write("n.txt", "one\r\ntwo\r\nthree");
    does(&env, &view("/memories/n.txt"), &format!("{head}     1\tone\n     2\ttwo\n     3\tthree"));
    let ranged = |range: Value| json!({"command": "view", "path": "/memories/n.txt", "view_range": range});
    does(&env, &ranged(json!([2, -1])), &format!("{head}     2\ttwo\n     3\tthree"));
    does(&env, &ranged(json!([2, 2])), &format!("{head}     2\ttwo"));
    does(&env, &ranged(json!([0, 1])), &format!("{head}     1\tone"));
    does(&env, &ranged(json!([3, 99])), &format!("{head}     3\tthree"));
    does(&env, &ranged(json!([7, 9])), head);
    does(&env, &ranged(Value::Null), &format!("{head}     1\tone\n     2\ttwo\n     3\tthree"));
    fails(&env, &view("/memories/none"), "The path /memories/none does not exist. Please provide a valid path.");
    fails(&env, &view("/memories/b.md/x"), "The path /memories/b.md/x does not exist. Please provide a valid path.");
    env.write("image.png", b"\x89PNG\xff");
    fails(&env, &view("/memories/image.png"), "Unsupported file type for /memories/image.png");
    env.write("long.txt", "\n".repeat(999_999));
    let said = "File /memories/long.txt exceeds maximum line limit of 999,999 lines.";
    let block = json!({"type": "tool_use", "id": "t", "name": "memory", "input": view("/memories/long.txt")});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": said, "is_error": true});
    assert_eq!(say(&env, &block, 0)["content"][0], result, "it could be read, and cannot be shown");
}

#[test]
fn edits_of_the_memory_tool() {
    let env = Env::new().quick();
    let create = |path: &str| json!({"command": "create", "path": path, "file_text": "a\nb\nc\nd\ne\n"});
    does(&env, &create("/memories/x/todo.xml"), "File created successfully at: /memories/x/todo.xml");
    assert_eq!(env.read("x/todo.xml"), "a\nb\nc\nd\ne\n");
    fails(&env, &create("/memories/x/todo.xml"), "File /memories/x/todo.xml already exists");
    fails(&env, &create("/memories/x"), "File /memories/x already exists");
    fails(&env, &create("/memories"), "File /memories already exists");
    let replace = |path: &str, old: &str, new: &str| json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new});
    let path = "/memories/x/todo.xml";
    let head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n";
    does(&env, &replace(path, "d", "D\nD"), &format!("{head}     2\tb\n     3\tc\n     4\tD\n     5\tD\n     6\te"));
    let none = |old: &str| format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.");
    fails(&env, &replace(path, "zz", "y"), &none("zz"));
    fails(&env, &replace(path, "b ", "y"), &none("b "));
    let several =
        "No replacement was performed. Multiple occurrences of old_str `D` in lines: 4, 5. Please ensure it is unique";
    fails(&env, &replace(path, "D", "y"), several);
    fails(&env, &replace("/memories/x", "a", "b"), "The path /memories/x is not a file.");
    fails(&env, &replace("/memories/n", "a", "b"), "The path /memories/n does not exist. Please provide a valid path.");
    let removed = json!({"command": "str_replace", "path": path, "old_str": "D\n"});
    fails(&env, &removed, &several.replace("`D`", "`D\n`"));
    does(
        &env,
        &json!({"command": "str_replace", "path": path, "old_str": "D\nD\n"}),
        &format!("{head}     2\tb\n     3\tc\n     4\te\n     5\t"),
    );
    // Nobody who reads a view can know the line ends.
    env.write("crlf.md", "a\r\nb\r\nc\r\n");
    does(&env, &replace("/memories/crlf.md", "a\nb", "A\nB"), &format!("{head}     1\tA\n     2\tB\n     3\tc"));
    assert_eq!(env.read("crlf.md"), "A\r\nB\r\nc\r\n");
    let insert = |path: &str, line: i64, text: &str| json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text});
    does(&env, &insert(path, 0, "top"), "The file /memories/x/todo.xml has been edited.");
    does(&env, &insert(path, 5, "end\n\n"), "The file /memories/x/todo.xml has been edited.");
    assert_eq!(env.read("x/todo.xml"), "top\na\nb\nc\ne\nend\n");
    for line in [7, -1, i64::MAX] {
        let said = format!("Invalid `insert_line` parameter: {line}. It should be within the range [0, 6].");
        fails(&env, &insert(path, line, "x"), &said);
    }
    fails(
        &env,
        &insert("/memories/n.md", 0, "x"),
        "The path /memories/n.md does not exist. Please provide a valid path.",
    );
    fails(&env, &insert("/memories/x", 0, "x"), "The path /memories/x is not a file.");
}

#[test]
fn removals_and_renames_of_the_memory_tool() {
    let env = Env::with(&[("user.md", "[[entities/ada]]\n"), ("entities/ada.md", "x"), ("old/a/b.md", "x")]).quick();
    let rename = |old: &str, new: &str| json!({"command": "rename", "old_path": old, "new_path": new});
    let (old, new) = ("/memories/entities/ada.md", "/memories/people/ada.md");
    does(&env, &rename(old, new), &format!("Successfully renamed {old} to {new}"));
    assert_eq!(env.read("user.md"), "[[people/ada]]\n");
    fails(&env, &rename(old, "/memories/z.md"), &format!("The path {old} does not exist"));
    fails(&env, &rename("/memories/user.md", new), &format!("The destination {new} already exists"));
    fails(&env, &rename(new, new), &format!("The destination {new} already exists"));
    fails(&env, &rename(new, "/memories"), "The destination /memories already exists");
    does(&env, &rename(new, "/memories/ada.txt"), &format!("Successfully renamed {new} to /memories/ada.txt"));
    let delete = |path: &str| json!({"command": "delete", "path": path});
    does(&env, &delete("/memories/ada.txt"), "Successfully deleted /memories/ada.txt");
    does(&env, &delete("/memories/old"), "Successfully deleted /memories/old");
    assert!(!env.at("old").exists());
    env.ask(&["undo"]).exits(0);
    assert_eq!(env.read("old/a/b.md"), "x");
    fails(&env, &delete("/memories/none"), "The path /memories/none does not exist");
    for root in ["/memories", "/memories/", "/memories/."] {
        fails(&env, &delete(root), "Cannot delete the /memories directory itself");
    }
}

#[test]
fn paths_of_the_memory_tool() {
    let env = Env::with(&[("user.md", USER), ("..odd.md", "x")]).quick();
    let commands = |path: &str| {
        [
            json!({"command": "view", "path": path}),
            json!({"command": "create", "path": path, "file_text": "x"}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": "/memories/user.md", "new_path": path}),
        ]
    };
    for path in ["user.md", "/etc/passwd", "/memoriesX/a.md", "", "~/a", " /memories/a.md"] {
        for command in commands(path) {
            fails(&env, &command, &format!("Path must start with /memories, got: {path}"));
        }
    }
    let climbing = [
        "/memories/../x.md",
        "/memories/a/../b.md",
        "/memories/..",
        "/memories/..\\x.md",
        "/memories\\..\\x.md",
        "/memories/%2e%2e%2fx.md",
        "/memories/%2E./x.md",
        "/memories/%252e%252e%252fx.md",
    ];
    for path in climbing {
        for command in commands(path) {
            fails(&env, &command, &format!("Path {path} would escape /memories directory"));
        }
    }
    for path in ["/memories/.memdir/x", "/memories/.hidden.md", "/memories/a\u{0}b.md"] {
        let ran = env.say(&json!({"command": "create", "path": path, "file_text": "x"}).to_string(), &[]);
        assert_eq!(ran.json()["actions"][0]["error"]["code"], "invalid_path", "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc", env.at("out")).unwrap();
        let said = "Path would escape /memories directory via symlink";
        fails(&env, &json!({"command": "view", "path": "/memories/out/hosts"}), said);
        std::os::unix::fs::symlink("people", env.at("in")).unwrap();
        env.write("people/ada.md", "x");
        let head = "Here're the files and directories up to 2 levels deep in /memories/in, excluding hidden items:";
        let text = format!("{head}\n1B\t/memories/in\n1B\t/memories/in/ada.md");
        does(&env, &json!({"command": "view", "path": "/memories/in"}), &text);
    }
}

#[test]
fn a_mixed_turn_is_answered_in_the_shape_of_its_provider() {
    let env = env();
    let input = json!({"command": "view", "path": "/memories/user.md", "view_range": [1, 1]});
    let shown = "Here's the content of /memories/user.md with line numbers:\n     1\t# Ada";
    let function = |name: &str, arguments: &Value| json!({"id": name, "function": {"name": name, "arguments": arguments.to_string()}});
    let own = json!({"operation": "store", "key": "k", "content": "c"});
    let turn = json!([function("memory", &input), function("get_size", &json!({})), function("memory", &own)]);
    let answer = say(&env, &turn, 0);
    assert_eq!(answer[0]["content"], shown);
    assert_eq!(answer[2]["content"], json!({"value": true, "path": "memories/k.md"}).to_string());
    let report = env.say(&json!([{"functionCall": {"name": "memory", "args": input}}]).to_string(), &[]).exits(0);
    let answer: Value = serde_json::from_str(report["answer"].as_str().unwrap()).unwrap();
    assert_eq!(answer["parts"][0]["functionResponse"]["response"], json!({"output": shown}));
    // A list of inputs is answered by a list; each dialect can be asked for by name, and says nothing of the other.
    let list = json!([input, {"command": "delete", "path": "/memories/none.md"}]).to_string();
    let ran = env.run(&["exec", "--dialect", "memory_tool"], &list);
    let texts: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, texts), (4, json!([shown, "The path /memories/none.md does not exist"])));
    assert_eq!(env.run(&["exec", "--dialect", "tool_call"], &list).code, 2);
    let size = json!({"functionCall": {"name": "get_size", "args": {}}}).to_string();
    assert_eq!(env.run(&["exec", "--dialect", "tool_call"], &size).code, 0);
    assert_eq!(env.run(&["exec", "--dialect", "memory_tool"], &size).code, 2);
}

#[test]
fn permission_is_asked_in_the_tools_own_way() {
    let env = Env::new().quick();
    let mut input = json!({"command": "create", "path": "/memories/ada.md", "file_text": "- email: ada@example.com\n"});
    let ran = env.run(&["exec", "--permission", "flag"], &input.to_string());
    let said =
        "this is personal: an email address; ask the user first, then repeat with \"has_explicit_permission\":true\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (3, said));
    assert!(env.files().is_empty());
    let call = |input: &Value| json!({"functionCall": {"name": "memory", "args": input}});
    let ran = env.run(&["exec", "--permission", "flag"], &call(&input).to_string());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["parts"][0]["functionResponse"]["response"], json!({"error": said.trim_end()}));
    input["has_explicit_permission"] = true.into();
    let ran = env.run(&["exec", "--permission", "flag"], &input.to_string());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "File created successfully at: /memories/ada.md\n"));
}

#[test]
fn a_rule_about_deleting_files_holds_for_their_folder() {
    let rules = "[[rule]]\naction = \"delete_file\"\npath = \"private/**\"\nverdict = \"deny\"\n";
    let env = Env::with(&[("private/a.md", "x"), ("open/b.md", "x")]).quick().settings(rules);
    let delete = |path: &str| json!({"command": "delete", "path": path});
    let denied = "rule 1 denies `delete_dir`; the settings decide this; leave it out";
    fails(&env, &delete("/memories/private"), denied);
    does(&env, &delete("/memories/open"), "Successfully deleted /memories/open");
    let plain = r#"<actions>[{"action":"delete_dir","path":"private","recursive":true}]</actions>"#;
    assert_eq!(env.say(plain, &[]).exits(3)["actions"][0]["error"]["code"], "denied");
    assert_eq!(env.files().len(), 1);
}

#[test]
fn a_rule_about_folders_holds_for_the_memory_tool() {
    let rules = "[[rule]]\naction = \"delete_dir\"\npath = \"private/**\"\nverdict = \"deny\"\n\
        [[rule]]\naction = \"list_directory\"\npath = \"secret/**\"\nverdict = \"deny\"\n";
    let env = Env::with(&[("private/a.md", "x"), ("secret/b.md", "1234567"), ("c.md", "x")]).quick().settings(rules);
    let delete = |path: &str| json!({"command": "delete", "path": path});
    let denied = "rule 1 denies `delete_dir`; the settings decide this; leave it out";
    fails(&env, &delete("/memories/private"), denied);
    let denied = "rule 2 denies `list_directory`; the settings decide this; leave it out";
    fails(&env, &json!({"command": "view", "path": "/memories/secret"}), denied);
    let ran = env.run(&["exec"], &json!({"command": "view", "path": "/memories"}).to_string());
    assert_eq!(ran.code, 0);
    assert!(!ran.stdout.contains("secret") && ran.stdout.contains("\n2B\t/memories\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("/memories/private/a.md"), "{}", ran.stdout);
    // A folder that an earlier command of the turn made is one too.
    let make = json!({"command": "create", "path": "/memories/private/new/n.md", "file_text": "x"});
    let report = env.say(&json!([make, delete("/memories/private/new")]).to_string(), &[]).exits(3);
    assert_eq!(report["actions"][1]["error"]["code"], "denied");
    let report = env.say(&json!(delete("/memories/private/new/n.md")).to_string(), &["--read-only"]).exits(4);
    assert_eq!(report["actions"][0]["error"]["code"], "read_only");
    does(&env, &delete("/memories/private/new/n.md"), "Successfully deleted /memories/private/new/n.md");
}

//! Servers taken over from the programs that know them, in each one's own form.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::{env, registry, run};
use crate::support::Env;

/// The registry as another parser reads it.
fn kept(env: &Env) -> BTreeMap<String, toml::Table> {
    let text = fs::read_to_string(registry(env)).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let servers = table["server"].as_array().unwrap();
    servers
        .iter()
        .map(|server| (server["name"].as_str().unwrap().to_owned(), server.as_table().unwrap().clone()))
        .collect()
}

fn transport(env: &Env, name: &str) -> Value {
    serde_json::to_value(&kept(env)[name]["transport"]).unwrap()
}

/// A program, where it keeps its file, what that says, and what becomes of its servers.
type Form = (&'static str, &'static str, &'static str, Vec<(&'static str, Value)>);

#[expect(clippy::too_many_lines, reason = "a table")]
fn forms() -> Vec<Form> {
    let own = r#""memdir": {"command": "/opt/memdir", "args": ["mcp"]}"#;
    let claude = format!(
        "{{\n\t// the person's own words\n\t\"numStartups\": 3,\n\t\"mcpServers\": {{\n\t\t{own},\n\t\t\t\"File System\": {{ \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\", \"fs\", \"${{DOCS:-/tmp}}\"], \"env\": {{\"LEVEL\": \"debug\"}}, }},\n\"off\": {{\"type\":\"sse\",\"url\":\"https://a.example/sse\",\"disabled\":true}}\n\t}},\n}}\n"
    );
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    vec![
        (
            "claude-code",
            ".claude.json",
            leak(claude),
            vec![
                (
                    "file-system",
                    json!({"kind": "stdio", "command": "npx", "args": ["-y", "fs", "${DOCS}"], "env": {"LEVEL": "debug"}}),
                ),
                ("off", json!({"kind": "sse", "url": "https://a.example/sse"})),
            ],
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            r#"{"inputs": [{"id": "perplexity-key", "type": "promptString"}],
              "servers": {"search": {"type": "http", "url": "https://s.example/mcp", "headers": {"Authorization": "Bearer ${input:perplexity-key}"}},
                          "here": {"command": "${workspaceFolder}/x"}}}"#,
            vec![(
                "search",
                json!({"kind": "http", "url": "https://s.example/mcp", "headers": {"Authorization": "Bearer ${PERPLEXITY_KEY}"}}),
            )],
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            r#"{"mcpServers":{"gh":{"command":"gh-mcp","env":{"T":"${env:GH_TOKEN}"}}}}"#,
            vec![("gh", json!({"kind": "stdio", "command": "gh-mcp", "env": {"T": "${GH_TOKEN}"}}))],
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = \"x\" # mine\n[mcp_servers.memdir]\ncommand = \"memdir\"\nargs = [\"mcp\"]\n\n  [mcp_servers.docs]\n  url = 'https://d.example/mcp'\n  bearer_token_env_var = \"DOCS_TOKEN\"\n[mcp_servers.run]\ncommand = \"run\"\nargs = [ \"a b\", # why\n \"c\" ]\nenabled = false\ncwd = \"/srv\"\n[mcp_servers.run.env]\nN = \"1\"\n",
            vec![
                (
                    "docs",
                    json!({"kind": "http", "url": "https://d.example/mcp", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}}),
                ),
                (
                    "run",
                    json!({"kind": "stdio", "command": "run", "args": ["a b", "c"], "cwd": "/srv", "env": {"N": "1"}}),
                ),
            ],
        ),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{ /* c */ \"mcp\": { \"a\": {\"type\": \"local\", \"command\": [\"bun\", \"x\", \"a\"], \"environment\": {\"K\": \"{env:K_OF_MINE}\"}, \"enabled\": true}, \"b\": {\"type\": \"remote\", \"url\": \"https://b.example\"} } }",
            vec![
                ("a", json!({"kind": "stdio", "command": "bun", "args": ["x", "a"], "env": {"K": "${K_OF_MINE}"}})),
                ("b", json!({"kind": "http", "url": "https://b.example"})),
            ],
        ),
        (
            "gemini",
            ".gemini/settings.json",
            r#"{"mcpServers":{"old":{"url":"http://127.0.0.1:8/sse"},"new":{"httpUrl":"http://127.0.0.1:8/mcp"}},"extensions":{"disabled":[]}}"#,
            vec![
                ("old", json!({"kind": "sse", "url": "http://127.0.0.1:8/sse"})),
                ("new", json!({"kind": "http", "url": "http://127.0.0.1:8/mcp"})),
            ],
        ),
        (
            "zed",
            ".config/zed/settings.json",
            r#"// Zed
{ "theme": "One", "context_servers": { "pg": {"source": "custom", "command": {"path": "pg-mcp", "args": ["--stdio"]}}, "plain": {"command": "p", "args": []} } }"#,
            vec![
                ("pg", json!({"kind": "stdio", "command": "pg-mcp", "args": ["--stdio"]})),
                ("plain", json!({"kind": "stdio", "command": "p"})),
            ],
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "# mine\nGOOSE_MODEL: x\nextensions:\n      developer:\n        type: builtin\n        enabled: true\n      fetch:   # the web\n        type: stdio\n        cmd: uvx\n        args:\n        - mcp-server-fetch\n        - \"--n\"\n        enabled: false\n        envs: {A: b}\n        env_keys: [FETCH_KEY]\n      far: {type: sse, uri: \"https://f.example/sse\", enabled: true}\n",
            vec![
                (
                    "fetch",
                    json!({"kind": "stdio", "command": "uvx", "args": ["mcp-server-fetch", "--n"], "env": {"A": "b", "FETCH_KEY": "${FETCH_KEY}"}}),
                ),
                ("far", json!({"kind": "sse", "url": "https://f.example/sse"})),
            ],
        ),
        (
            "cline",
            ".cline/data/settings/cline_mcp_settings.json",
            r#"{"mcpServers":{"web":{"type":"streamableHttp","url":"https://w.example/mcp","disabled":false}}}"#,
            vec![("web", json!({"kind": "http", "url": "https://w.example/mcp"}))],
        ),
        (
            "continue",
            ".continue/mcpServers/mine.json",
            r#"{"mcpServers":{"c":{"command":"c"}}}"#,
            vec![("c", json!({"kind": "stdio", "command": "c"}))],
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#"{"mcpServers":{"w":{"serverUrl":"https://w.example/sse"}}}"#,
            vec![("w", json!({"kind": "http", "url": "https://w.example/sse"}))],
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            r#"{"mcpServers":{"d":{"command":"d"}}}"#,
            vec![("d", json!({"kind": "stdio", "command": "d"}))],
        ),
        (
            "copilot",
            ".copilot/mcp-config.json",
            r#"{"mcpServers":{"l":{"type":"local","command":"l","args":[],"tools":["*"]}}}"#,
            vec![("l", json!({"kind": "stdio", "command": "l"}))],
        ),
        (
            "lm-studio",
            ".lmstudio/mcp.json",
            r#"{"mcpServers":{"s":{"command":"s"}}}"#,
            vec![("s", json!({"kind": "stdio", "command": "s"}))],
        ),
    ]
}

#[cfg(target_os = "linux")]
#[test]
fn each_assistant_is_read_in_its_own_form_and_left_as_it_is() {
    for (assistant, path, text, expected) in forms() {
        let env = env();
        let file = env.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        // Nothing is added before it was agreed to.
        let asked = run(&env, &["import", assistant]).exits(2);
        assert!(asked["diff"].as_str().unwrap().contains("[[server]]"), "{assistant}: {asked}");
        assert!(!registry(&env).exists());
        let done = run(&env, &["import", assistant, "--yes"]).exits(0);
        assert_eq!(done["changed"], true, "{assistant}: {done}");
        for (name, wanted) in &expected {
            assert_eq!(transport(&env, name), *wanted, "{assistant} {name}");
        }
        assert_eq!(kept(&env).len(), expected.len(), "{assistant}: {done}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{assistant}");
        // The same file by its path, and nothing twice.
        let again = run(&env, &["import", assistant, "--yes"]).exits(0);
        assert_eq!((&again["added"], &again["changed"]), (&json!([]), &json!(false)), "{assistant}: {again}");
    }
}

#[test]
fn what_is_off_there_is_off_here_and_nothing_is_approved() {
    let env = env();
    let path = env.base().join("mine.json");
    fs::write(&path, r#"{"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"command": "y"}}}"#).unwrap();
    run(&env, &["import", path.to_str().unwrap(), "--yes"]).exits(0);
    let kept = kept(&env);
    assert_eq!((kept["a"]["enabled"].as_bool(), kept["b"]["enabled"].as_bool()), (Some(false), Some(true)));
    assert!(kept.values().all(|server| !server.contains_key("tools") && server["permission"].as_str() == Some("ask")));
}

#[test]
fn keys_are_left_behind_and_the_variable_is_named() {
    let env = env();
    let token = ["ghp", "_FakeFakeFakeFakeFakeFakeFakeFake1234"].concat();
    let key = "abcdef0123456789".repeat(2);
    let path = env.base().join("servers.json");
    let servers = json!({"mcpServers": {
        "hub": {"command": "gh", "env": {"GITHUB_TOKEN": token, "MODE": "fast"}},
        "My Server": {"url": "https://m.example/mcp", "headers": {"Authorization": format!("Bearer {token}")}},
        "argued": {"command": "npx", "args": ["-y", "remote", "--header", format!("Authorization: Bearer {token}")]},
        "asked": {"command": "a", "args": ["${input:my-key}"], "env": {"K": "${input:my-key}"}},
        "far": {"url": format!("https://f.example/mcp?mode=1&token={key}#x")},
        "odd": {"nothing": 1},
    }});
    fs::write(&path, servers.to_string()).unwrap();
    let done = run(&env, &["import", path.to_str().unwrap(), "--yes"]).exits(0);
    let mut named: Vec<&str> =
        done["variables"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    named.sort_unstable();
    assert_eq!(named, ["ARGUED_KEY", "FAR_TOKEN", "GITHUB_TOKEN", "MY_KEY", "MY_SERVER_AUTHORIZATION"], "{done}");
    assert_eq!(transport(&env, "far")["url"], "https://f.example/mcp?mode=1&token=${FAR_TOKEN}#x");
    assert_eq!(done["skipped"][0]["name"], "odd", "{done}");
    assert_eq!(transport(&env, "hub")["env"], json!({"GITHUB_TOKEN": "${GITHUB_TOKEN}", "MODE": "fast"}));
    assert_eq!(transport(&env, "my-server")["headers"], json!({"Authorization": "Bearer ${MY_SERVER_AUTHORIZATION}"}));
    assert_eq!(transport(&env, "argued")["args"][3], "Authorization: Bearer ${ARGUED_KEY}");
    for file in crate::support::files(&env.home()) {
        let text = String::from_utf8_lossy(&file.1);
        assert!(!text.contains(&token) && !text.contains(&key), "{}", file.0);
    }
    assert!(!done.to_string().contains(&token) && !done.to_string().contains(&key), "{done}");
    let kept = fs::read_to_string(registry(&env)).unwrap();
    let again = run(&env, &["import", path.to_str().unwrap(), "--yes"]).exits(0);
    assert_eq!((&again["added"], &again["variables"]), (&json!([]), &json!([])), "{again}");
    assert_eq!(fs::read_to_string(registry(&env)).unwrap(), kept);
}

#[test]
fn the_name_of_a_value_tells_that_it_is_a_key() {
    let env = env();
    let path = env.base().join("servers.json");
    let servers = json!({"mcpServers": {
        "a": {"command": "x", "args": ["--password", "hunter2", "--token=hunter2=="], "env": {"MY_SECRET": "hunter2"}},
        "b": {"url": "https://b.example/mcp?api_key=hunter2", "headers": {"X-Api-Key": "hunter2"}},
        "c": {"command": "x", "args": ["-H", "Authorization: Basic hunter2=="]},
        "d": {"command": "npx -y foo --token=hunter2"},
        "e": {"command": "npx", "args": ["mcp-remote", "https://e.example/mcp?mode=1&token=hunter2"]},
    }});
    fs::write(&path, servers.to_string()).unwrap();
    let done = run(&env, &["import", path.to_str().unwrap(), "--yes"]).exits(0);
    assert_eq!((&done["skipped"][0]["name"], &done["skipped"][1]["name"]), (&json!("d"), &json!("e")), "{done}");
    assert_eq!(
        transport(&env, "a"),
        json!({"kind": "stdio", "command": "x", "args": ["--password", "${A_KEY}", "--token=${A_KEY_2}"], "env": {"MY_SECRET": "${MY_SECRET}"}})
    );
    assert_eq!(
        transport(&env, "b"),
        json!({"kind": "http", "url": "https://b.example/mcp?api_key=${B_API_KEY}", "headers": {"X-Api-Key": "${B_X_API_KEY}"}})
    );
    assert_eq!(transport(&env, "c")["args"][1], "Authorization: Basic ${C_KEY}");
    assert!(!fs::read_to_string(registry(&env)).unwrap().contains("hunter2"));
    for words in [
        &["--env", "TOKEN=abc12345secret", "--", "x"][..],
        &["--url", "https://127.0.0.1:1/mcp?token=verysecret123"],
        &["--url", "https://127.0.0.1:1/mcp", "--header", "X-Api-Key: verysecret123"],
        &["--", "x", "--password", "hunter2"],
    ] {
        let refused = run(&env, &[&["add", "k", "--yes"], words].concat()).exits(2);
        assert!(refused["error"]["message"].as_str().unwrap().contains("looks like a key"), "{words:?}: {refused}");
    }
}

#[test]
fn a_file_of_any_program_is_read_and_what_is_none_is_named() {
    let env = env();
    let write = |name: &str, text: &str| {
        let path = env.base().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let list =
        write("config.yaml", "name: mine\nmcpServers:\n  - name: from yaml\n    command: y\n    args: [1, two]\n");
    run(&env, &["import", &list, "--yes"]).exits(0);
    assert_eq!(transport(&env, "from-yaml"), json!({"kind": "stdio", "command": "y", "args": ["1", "two"]}));
    let settings = write("settings.json", "\u{feff}{\"mcp\": {\"servers\": {\"a\": {\"command\": \"v\"}}}}");
    run(&env, &["import", &settings, "--yes"]).exits(0);
    assert_eq!(transport(&env, "a"), json!({"kind": "stdio", "command": "v"}));
    let twin = write("twin.json", "{\"mcpServers\": {\"a\": {\"command\": \"another\"}}}");
    assert_eq!(run(&env, &["import", &twin, "--yes"]).exits(0)["added"], json!(["a-2"]));
    for (from, code, words) in [
        (write("no.json", "{"), 5, "no JSON"),
        (write("no.toml", "a ="), 5, "no TOML"),
        (write("no.yaml", "a: [1"), 5, "no YAML"),
        (write("bare.json", "{\"servers\": 7}"), 4, "holds no servers"),
        ("nobody".to_owned(), 4, "no assistant of this name"),
        ("cursor".to_owned(), 4, "keeps no servers here"),
    ] {
        let said = run(&env, &["import", &from, "--yes"]).exits(code);
        assert!(said["error"]["message"].as_str().unwrap().contains(words), "{from}: {said}");
    }
}

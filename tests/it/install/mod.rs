//! Assistants are set up: one entry goes into their configuration, and all else stays as it was, byte for byte.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Env, files};

#[cfg(unix)]
mod bundles;
mod hooks;

/// Each assistant with the file that it reads on Linux, below the home folder.
const ALL: &[(&str, &str)] = &[
    ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ("claude-code", ".claude.json"),
    ("cursor", ".cursor/mcp.json"),
    ("vscode", ".config/Code/User/mcp.json"),
    ("codex", ".codex/config.toml"),
    ("goose", ".config/goose/config.yaml"),
    ("lm-studio", ".lmstudio/mcp.json"),
    ("copilot", ".copilot/mcp-config.json"),
    ("gemini", ".gemini/settings.json"),
    ("opencode", ".config/opencode/opencode.json"),
    ("cline", ".cline/data/settings/cline_mcp_settings.json"),
    ("continue", ".continue/mcpServers/memdir.json"),
    ("windsurf", ".codeium/windsurf/mcp_config.json"),
    ("zed", ".config/zed/settings.json"),
];

/// What each makes when it is started for the first time, where that is not the folder of the file.
const SIGNS: &[(&str, &str)] = &[("claude-code", ".claude"), ("cline", ".cline"), ("continue", ".continue")];

/// An environment in which an assistant was started once.
fn used(name: &str) -> Env {
    let env = Env::ada();
    let path = ALL.iter().find(|(known, _)| *known == name).unwrap().1;
    let sign = SIGNS.iter().find(|(known, _)| *known == name);
    let folder = sign.map_or_else(|| file(&env, path).parent().unwrap().to_owned(), |(_, sign)| file(&env, sign));
    fs::create_dir_all(folder).unwrap();
    env
}

/// A configuration with other things in it, as a person has it.
fn rich(name: &str) -> &'static str {
    match name {
        "opencode" => {
            "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"mcp\": {\n    \"other\": { \"type\": \"remote\", \"url\": \"https://example.com\" },\n  },\n}\n"
        }
        "zed" => {
            "// Zed settings\n{\n  \"theme\": \"One\", // why\n  \"context_servers\": {\n    \"other\": { \"command\": \"x\", \"args\": [] }\n  },\n  \"tabs\": { \"close\": true },\n}\n"
        }
        "vscode" => {
            "{\r\n\t// servers of mine\r\n\t\"servers\": {\r\n\t\t\"github\": {\r\n\t\t\t\"url\": \"https://example.com/mcp\" // remote\r\n\t\t}\r\n\t},\r\n\t\"inputs\": []\r\n}\r\n"
        }
        "codex" => {
            "# mine\nmodel = \"some\" # why\n\n[mcp_servers.other]\ncommand = 'other'\nargs = []\n\n[tui]\nx = 1"
        }
        "goose" => {
            "# mine\nGOOSE_PROVIDER: some\nextensions:\n  # the tools\n  developer:\n    enabled: true\n    type: builtin\n\nGOOSE_MODE: auto # always\n"
        }
        _ => {
            "{\n    \"numStartups\": 7,\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\", \"args\": [\"é\"]}\n    },\n    \"last\": null\n}"
        }
    }
}

fn file(env: &Env, path: &str) -> PathBuf {
    env.home().join(path)
}

fn put(env: &Env, path: &str, text: &str) -> PathBuf {
    let file = file(env, path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

fn install(env: &Env, arguments: &[&str]) -> crate::support::Ran {
    env.ask(&[&["install"], arguments].concat())
}

#[test]
fn each_assistant_from_nothing_and_back() {
    for (name, path) in ALL {
        let env = used(name);
        let file = file(&env, path);
        let before = files(&env.home());
        let done = install(&env, &[name, "--yes"]).exits(0);
        assert_eq!((&done["client"], &done["changed"], &done["backup"]), (&json!(name), &json!(true), &json!(null)));
        assert_eq!(done["file"], file.to_str().unwrap(), "{name}");
        let text = fs::read_to_string(&file).unwrap();
        let memory = env.memory().canonicalize().unwrap();
        assert!(text.contains(memory.to_str().unwrap()) && text.contains(env!("CARGO_BIN_EXE_memdir")), "{text}");
        assert_eq!(text.contains("stdio"), matches!(*name, "claude-code" | "vscode" | "goose"), "{text}");
        assert_eq!(text.contains("\"alwaysLoad\": true"), *name == "claude-code", "{text}");
        assert_eq!(text.contains("\"deferTools\": \"never\""), *name == "copilot", "{text}");
        assert!(done["say"].as_str().unwrap().contains("What do you know about me?"), "{done}");
        let again = install(&env, &[name, "--yes"]).exits(0);
        assert_eq!((&again["changed"], &again["diff"]), (&json!(false), &json!("")), "{name}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        install(&env, &[name, "--remove", "--yes"]).exits(0);
        assert!(!file.exists(), "{name}");
        assert_eq!(install(&env, &[name, "--remove", "--yes"]).exits(0)["changed"], json!(false), "{name}");
        // What it was for a moment is kept, and nothing else.
        let left = files(&env.home());
        assert_eq!(left.keys().collect::<Vec<_>>(), [&format!("{path}.memdir-backup")], "{name}");
        assert!(before.is_empty());
    }
}

#[test]
fn each_assistant_with_other_things_in_its_file_and_back() {
    for (name, path) in ALL {
        let env = Env::ada();
        let file = put(&env, path, rich(name));
        let done = install(&env, &[name, "--yes"]).exits(0);
        let text = fs::read_to_string(&file).unwrap();
        assert_ne!(text, rich(name));
        for line in rich(name).lines().map(|line| line.trim().trim_end_matches(',')) {
            assert!(text.contains(line), "{name}: {line}: {text}");
        }
        assert_eq!(text.contains("\r\n"), rich(name).contains("\r\n"));
        assert!(!text.replace("\r\n", "").contains(if *name == "vscode" { '\n' } else { '\r' }), "{text:?}");
        let backup = format!("{}.memdir-backup", file.display());
        assert_eq!(done["backup"], backup.as_str());
        assert_eq!(fs::read_to_string(&backup).unwrap(), rich(name));
        assert!(done["diff"].as_str().unwrap().contains("\n+"), "{done}");
        assert_eq!(install(&env, &[name, "--yes"]).exits(0)["changed"], json!(false), "{name}");
        // Without what was kept it comes to the same.
        fs::remove_file(&backup).unwrap();
        install(&env, &[name, "--remove", "--yes"]).exits(0);
        assert_eq!(fs::read_to_string(&file).unwrap(), rich(name), "{name}");
    }
}

#[test]
fn the_entry_starts_a_server_that_works() {
    let env = used("cursor");
    env.ask(&["client", "add", "cursor", "--tools", "read"]).exits(0);
    install(&env, &["cursor", "--client", "cursor", "--tools", "full", "--yes"]).exits(0);
    let config: Value = serde_json::from_str(&fs::read_to_string(file(&env, ".cursor/mcp.json")).unwrap()).unwrap();
    let entry = &config["mcpServers"]["memdir"];
    let args: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!([&args[..2], &args[3..]].concat(), ["mcp", "--memory", "--client", "cursor", "--tools", "full"]);
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_memdir"));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let mut command = env.bare(&args);
    command.env("MEMDIR", "/nowhere");
    let ran = crate::support::finish(command, format!("{hello}\n").as_bytes());
    assert!(ran.stdout.contains("\"protocolVersion\":\"2025-06-18\""), "{ran:?}");
    let unknown = install(&env, &["cursor", "--client", "curser", "--yes"]).exits(4);
    assert_eq!(unknown["error"]["hint"], "did you mean `cursor`?");
}

#[test]
fn an_entry_that_is_there_keeps_what_no_option_changes() {
    let env = used("cursor");
    for name in ["desk", "phone"] {
        env.ask(&["client", "add", name, "--tools", "read"]).exits(0);
    }
    let other = Env::ada();
    let elsewhere = |arguments: &[&str]| {
        let mut command = env.bare(&[&["install"], arguments, &["--json"]].concat());
        command.env("MEMDIR", other.memory());
        crate::support::finish(command, b"").exits(0)
    };
    let args = || -> Vec<String> {
        let config: Value = serde_json::from_str(&fs::read_to_string(file(&env, ".cursor/mcp.json")).unwrap()).unwrap();
        serde_json::from_value(config["mcpServers"]["memdir"]["args"].clone()).unwrap()
    };
    let memory = env.memory().canonicalize().unwrap();
    let says = |more: &[&str]| -> Vec<String> {
        [&["mcp", "--memory", memory.to_str().unwrap()], more].concat().iter().map(ToString::to_string).collect()
    };
    install(&env, &["cursor", "--client", "desk", "--tools", "full", "--yes"]).exits(0);
    for arguments in [&["cursor", "--yes"][..], &["--hooks", "--yes"], &["cursor", "--hooks", "--yes"]] {
        elsewhere(arguments);
        assert_eq!(args(), says(&["--client", "desk", "--tools", "full"]), "{arguments:?}");
    }
    let hooks = || fs::read_to_string(file(&env, ".cursor/hooks.json")).unwrap();
    let told = format!(" --memory {} --client desk\"", memory.display());
    assert_eq!(hooks().matches(&told).count(), 4, "{}", hooks());
    elsewhere(&["cursor", "--tools", "compact", "--yes"]);
    assert_eq!(args(), says(&["--client", "desk"]));
    elsewhere(&["cursor", "--client", "phone", "--yes"]);
    assert_eq!(args(), says(&["--client", "phone"]));
    // Without an entry its hooks say as whom; and an entry that names nobody takes nobody from them.
    install(&env, &["cursor", "--remove", "--yes"]).exits(0);
    install(&env, &["cursor", "--yes"]).exits(0);
    assert_eq!(args(), says(&[]));
    fs::write(file(&env, ".cursor/hooks.json"), "{\"version\": 1, \"hooks\": {\"sessionEnd\": [{\"command\": \"memdir hook cursor sessionEnd --client desk\"}]}}").unwrap();
    elsewhere(&["cursor", "--hooks", "--yes"]);
    assert_eq!((args(), hooks().matches(&told).count()), (says(&[]), 4));
    fs::remove_file(file(&env, ".cursor/mcp.json")).unwrap();
    install(&env, &["cursor", "--hooks", "--yes"]).exits(0);
    assert_eq!(args(), says(&["--client", "desk"]));
}

#[cfg(unix)]
#[test]
fn where_the_second_file_fails_the_first_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::ada();
    let servers = put(&env, ".claude.json", rich("claude-code"));
    let settings = put(&env, ".claude/settings.json", "{}\n");
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o444)).unwrap();
    let hint = |failed: Value| failed["error"]["hint"].as_str().unwrap().to_owned();
    let first = hint(install(&env, &["claude-code", "--hooks", "--yes"]).exits(5));
    let backup = format!("{}.memdir-backup", servers.display());
    assert!(first.contains(&format!("{} was already changed (backup: {backup});", servers.display())), "{first}");
    assert_eq!(fs::read_to_string(&backup).unwrap(), rich("claude-code"));
    assert_ne!(fs::read_to_string(&servers).unwrap(), rich("claude-code"));
    // The first has nothing to change any more.
    let second = hint(install(&env, &["claude-code", "--hooks", "--yes"]).exits(5));
    assert!(second.starts_with("nothing was changed; "), "{second}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{}\n");
}

#[test]
fn without_a_name_and_nobody_to_ask_nothing_is_taken_out() {
    let env = used("cursor");
    // There is nothing to take out.
    install(&env, &["--remove"]).exits(0);
    install(&env, &["cursor", "--yes"]).exits(0);
    let before = files(&env.home());
    for arguments in [&["--remove"][..], &["--hooks"]] {
        assert_eq!(install(&env, arguments).exits(2)["error"]["code"], "usage", "{arguments:?}");
        assert_eq!(env.run(&[&["install"], arguments].concat(), "").code, 2);
    }
    assert_eq!(files(&env.home()), before);
    install(&env, &["--remove", "--dry-run"]).exits(0);
}

#[test]
fn nobody_is_there_to_ask() {
    let env = Env::ada();
    let file = put(&env, ".cursor/mcp.json", rich("cursor"));
    let shown = install(&env, &["cursor", "--dry-run"]).exits(0);
    assert_eq!((&shown["changed"], &shown["backup"]), (&json!(false), &json!(null)));
    assert!(shown["diff"].as_str().unwrap().contains("+        \"memdir\": {"), "{shown}");
    let asked = install(&env, &["cursor"]).exits(2);
    assert_eq!((&asked["error"]["code"], &asked["diff"]), (&json!("usage"), &shown["diff"]));
    let printed = install(&env, &["cursor", "--print"]).exits(0);
    assert!(printed["entry"].as_str().unwrap().starts_with("{\n  \"mcpServers\": {\n    \"memdir\": {"), "{printed}");
    let words = env.run(&["install", "cursor"], "");
    assert!(words.code == 2 && words.stderr.contains("+        \"memdir\": {") && words.stdout.is_empty(), "{words:?}");
    assert_eq!(files(&env.home()).len(), 1);
    assert_eq!(fs::read_to_string(file).unwrap(), rich("cursor"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_is_shown_the_change_and_asked() {
    use crate::ask::terminal::Terminal;
    let env = Env::ada();
    let file = put(&env, ".cursor/mcp.json", rich("cursor"));
    for (answer, is_done) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let mut terminal = Terminal::start(env.command(&["install", "cursor"]));
        let shown = terminal.until("[y/N]");
        assert!(shown.contains("\"memdir\": {") && shown.contains(".cursor/mcp.json?"), "{shown}");
        terminal.answer(answer);
        let (code, said) = terminal.end();
        assert_eq!((code, said.contains("nothing was changed")), (0, !is_done), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap() != rich("cursor"), is_done);
        assert_eq!(said.contains("What do you know about me?"), is_done, "{said}");
    }
}

#[test]
fn an_entry_of_somebody_else_is_left_and_named() {
    for theirs in [
        "{\"mcpServers\": {\"memdir\": {\"command\": \"npx\", \"args\": [\"theirs\"]}}}",
        "{\"mcpServers\": {\"memdir\": {\"url\": \"http://127.0.0.1:8765/mcp\", \"headers\": {\"Authorization\": \"Bearer x\"}}}}",
        "{\"mcpServers\": {\"memdir\": {\"command\": \"docker\", \"args\": [\"run\", \"memdir\", \"mcp\", \"--read-only\"]}}}",
    ] {
        let env = Env::ada();
        let file = put(&env, ".cursor/mcp.json", theirs);
        for asked in [&["cursor", "--yes"][..], &["cursor"], &["cursor", "--remove", "--yes"]] {
            assert_eq!(install(&env, asked).exits(4)["error"]["code"], "conflict", "{theirs}");
        }
        let all = install(&env, &["--yes"]).exits(4);
        assert_eq!(all["assistants"][0]["error"]["code"], "conflict", "{all}");
        assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
        assert!(install(&env, &[]).exits(0)["faults"]["cursor"].as_str().unwrap().contains("does not start"));
        let checks = env.ask(&["doctor"]).exits(0);
        let cursor = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "cursor").unwrap();
        assert_eq!((&cursor["status"], &cursor["hint"]), (&json!("ok"), &Value::Null), "{cursor}");
        assert_eq!(env.ask(&["status"]).exits(0)["assistants"]["set_up"], json!([]));
    }
}

#[test]
fn a_copy_that_was_kept_is_never_written_over() {
    let env = Env::ada();
    let file = put(&env, ".cursor/mcp.json", rich("cursor"));
    install(&env, &["cursor", "--yes"]).exits(0);
    fs::write(&file, "{\"a\": 1}").unwrap();
    let done = install(&env, &["cursor", "--yes"]).exits(0);
    assert!(done["backup"].as_str().unwrap().ends_with("mcp.json.memdir-backup-2"), "{done}");
    assert_eq!(fs::read_to_string(format!("{}.memdir-backup", file.display())).unwrap(), rich("cursor"));
    install(&env, &["cursor", "--remove", "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"a\": 1}");
}

#[test]
fn an_entry_that_does_not_start_memdir_as_it_stands_is_named_with_what_is_so() {
    let env = Env::ada();
    let other = env.base().join("other");
    fs::create_dir(&other).unwrap();
    let memory = env.memory();
    let args = |memory: &std::path::Path| json!(["mcp", "--memory", memory]);
    let own = env!("CARGO_BIN_EXE_memdir");
    let cases = [
        (json!({"command": own, "args": args(memory), "disabled": true}), "switched off"),
        (json!({"command": "/no/such/memdir", "args": args(memory)}), "no such program"),
        (json!({"command": own, "args": args(&env.base().join("gone"))}), "a memory that is not there"),
        (json!({"command": own, "args": args(&other)}), "another memory"),
        (
            json!({"command": own, "args": ["mcp", "--memory", memory, "--client", "lim"]}),
            "a client that cannot be used",
        ),
    ];
    for (entry, words) in cases {
        put(&env, ".cursor/mcp.json", &json!({"mcpServers": {"memdir": entry}}).to_string());
        let checks = env.ask(&["doctor"]).exits(0);
        let cursor = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "cursor").unwrap();
        assert!(cursor["message"].as_str().unwrap().contains(words), "{cursor}");
        assert_eq!(cursor["status"], "warn", "{cursor}");
        let status = env.ask(&["status"]).exits(0);
        assert_eq!(status["assistants"]["set_up"], json!([]), "{words}");
        assert!(env.run(&["status"], "").stdout.contains("broken:   cursor: "), "{words}");
    }
    put(
        &env,
        ".config/opencode/opencode.json",
        "{\"mcp\": {\"memdir\": {\"command\": [\"memdir\", \"mcp\"], \"enabled\": false}}}",
    );
    let done = install(&env, &["opencode", "--yes"]).exits(0);
    assert!(done["say"].as_str().unwrap().starts_with("its entry is switched off there"), "{done}");
}

#[test]
fn hooks_that_are_switched_off_are_named() {
    let env = used("claude-code");
    install(&env, &["claude-code", "--hooks", "--yes"]).exits(0);
    let settings = file(&env, ".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap().replacen('{', "{\n  \"disableAllHooks\": true,", 1);
    fs::write(&settings, text).unwrap();
    assert!(env.run(&["doctor"], "").stdout.contains("its hooks are switched off by `disableAllHooks`"));
}

#[test]
fn who_has_a_client_is_told_that_the_entry_does_not_name_it() {
    let env = used("cursor");
    env.ask(&["client", "add", "cursor", "--read", "people/**"]).exits(0);
    let done = install(&env, &["cursor", "--yes"]).exits(0);
    assert!(done["hint"].as_str().unwrap().contains("`memdir install cursor --client cursor`"), "{done}");
    assert_eq!(install(&env, &["cursor", "--client", "cursor", "--yes"]).exits(0)["hint"], Value::Null);
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_says_that_it_is_about_its_name() {
    let env = used("cursor");
    let link = env.base().join("memdir-0.1");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memdir"), &link).unwrap();
    let mut command = std::process::Command::new(&link);
    command.args(["--json", "--memory", env.memory().to_str().unwrap(), "install", "cursor", "--yes"]);
    let output = command.env_clear().env("HOME", env.home()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("known as memdir's by the name `memdir`"), "{output:?}");
    assert!(!file(&env, ".cursor/mcp.json").exists());
}

#[test]
fn a_file_that_cannot_be_read_is_not_touched() {
    for (name, path) in ALL {
        for broken in [&b"{\"mcpServers\": {"[..], b"\xff\xfe{}", b"extensions: [\n", b"mcp_servers = ["] {
            let env = Env::ada();
            let file = put(&env, path, "");
            fs::write(&file, broken).unwrap();
            let said = install(&env, &[name, "--yes"]);
            assert_eq!(said.code, 5, "{name} {said:?}");
            assert!(said.json()["error"]["message"].as_str().unwrap().contains(file.to_str().unwrap()), "{said:?}");
            assert_eq!(files(&env.home()).into_values().collect::<Vec<_>>(), [broken], "{name}");
        }
    }
    let env = Env::ada();
    fs::create_dir_all(file(&env, ".cursor/mcp.json")).unwrap();
    assert_eq!(install(&env, &["cursor", "--yes"]).exits(5)["error"]["code"], "config");
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_modes_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let env = Env::ada();
    let real = put(&env, "dotfiles/mcp.json", rich("cursor"));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(env.home().join(".cursor")).unwrap();
    let link = env.home().join(".cursor/mcp.json");
    symlink("../dotfiles/mcp.json", &link).unwrap();
    install(&env, &["cursor", "--yes"]).exits(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&real), mode(&env.home().join("dotfiles/mcp.json.memdir-backup"))), (0o640, 0o640));
    assert!(fs::read_to_string(&real).unwrap().contains("memdir"));
    // One that nobody may write stays, also where its folder can be written.
    fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
    let before = files(&env.home());
    assert_eq!(install(&env, &["cursor", "--remove", "--yes"]).exits(5)["error"]["code"], "config");
    assert_eq!(files(&env.home()), before);
    fs::create_dir(env.home().join(".claude")).unwrap();
    let dangling = env.home().join(".claude.json");
    symlink("nowhere.json", &dangling).unwrap();
    assert_eq!(install(&env, &["claude-code", "--yes"]).exits(5)["error"]["code"], "config");
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink());
}

#[test]
fn where_a_variable_names_the_folder_it_is_used() {
    for (variable, name, file) in
        [("CODEX_HOME", "codex", "config.toml"), ("CLAUDE_CONFIG_DIR", "claude-code", ".claude.json")]
    {
        let env = Env::ada();
        let folder = env.base().join("elsewhere");
        fs::create_dir(&folder).unwrap();
        let env = env.set(variable, folder.to_str().unwrap());
        let done = install(&env, &[name, "--yes"]).exits(0);
        assert_eq!(done["file"], folder.join(file).to_str().unwrap());
        assert_eq!(files(&env.home()).len(), 0);
    }
    let env = Env::ada();
    fs::create_dir_all(env.home().join(".cache/lm-studio")).unwrap();
    let done = install(&env, &["lm-studio", "--dry-run"]).exits(0);
    assert!(done["file"].as_str().unwrap().ends_with(".cache/lm-studio/mcp.json"), "{done}");
}

#[test]
fn one_that_is_not_here_gets_no_file() {
    let env = Env::ada();
    for (name, _) in ALL {
        let said = install(&env, &[name, "--yes"]).exits(4);
        assert_eq!(said["error"]["code"], "not_found", "{name}");
        let printed = install(&env, &[name, "--print"]).exits(0);
        assert!(printed["entry"].as_str().unwrap().contains("--memory"), "{name}: {printed}");
    }
    assert_eq!(files(&env.home()).len(), 0);
    // A program that a shell would start is here.
    let program = env.base().join("bin/codex");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::write(&program, "").unwrap();
    let path = program.parent().unwrap().to_str().unwrap().to_owned();
    let env = env.set("PATH", &path);
    assert_eq!(install(&env, &[]).exits(0), json!({"set_up": [], "others": ["codex"]}));
    install(&env, &["codex", "--yes"]).exits(0);
    assert!(env.home().join(".codex/config.toml").is_file());
}

#[test]
fn without_a_name_all_that_are_here_are_set_up_where_that_is_said() {
    let env = Env::ada();
    for (name, path) in ALL.iter().filter(|(name, _)| ["cursor", "codex", "gemini"].contains(name)) {
        put(&env, path, rich(name));
    }
    let before = files(&env.home());
    let listed = env.run(&["install"], "");
    assert_eq!(listed.stdout.lines().count(), 3, "{listed:?}");
    assert_eq!(listed.stderr, "`memdir install --yes` sets up all of them\n");
    assert_eq!(files(&env.home()), before);
    let broken = put(&env, ".config/zed/settings.json", "{");
    let done = install(&env, &["--yes"]).exits(5);
    let ended = |done: &Value| -> Vec<(String, bool)> {
        let all = done["assistants"].as_array().unwrap().iter();
        all.map(|done| (done["client"].as_str().unwrap().to_owned(), done["changed"] == json!(true))).collect()
    };
    let names = |all: &[(&str, bool)]| all.iter().map(|(name, done)| ((*name).to_owned(), *done)).collect::<Vec<_>>();
    assert_eq!(ended(&done), names(&[("cursor", true), ("codex", true), ("gemini", true), ("zed", false)]), "{done}");
    assert!(done["assistants"][3]["error"]["message"].as_str().unwrap().contains("settings.json"), "{done}");
    fs::remove_file(broken).unwrap();
    let hooked = install(&env, &["--hooks", "--yes"]).exits(0);
    assert_eq!(ended(&hooked), names(&[("cursor", false), ("codex", false)]), "their servers are there already");
    assert_eq!(
        (&hooked["assistants"][0]["hooks"]["changed"], ended(&install(&env, &["--hooks", "--yes"]).exits(0)).len()),
        (&json!(true), 0)
    );
    assert_eq!(install(&env, &["--remove", "--yes"]).exits(0)["assistants"].as_array().unwrap().len(), 3);
    let after: Vec<_> = files(&env.home()).into_iter().filter(|(path, _)| !path.contains(".memdir-backup")).collect();
    assert_eq!(after, before.into_iter().collect::<Vec<_>>());
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_name_a_person_is_asked_for_each() {
    use crate::ask::terminal::Terminal;
    let env = Env::ada();
    for (name, path) in ALL.iter().filter(|(name, _)| ["cursor", "codex"].contains(name)) {
        put(&env, path, rich(name));
    }
    let mut terminal = Terminal::start(env.command(&["install"]));
    assert!(terminal.until("[y/N]").contains("mcp.json?"));
    terminal.answer("n\n");
    assert!(terminal.until("[y/N]").contains("config.toml?"));
    terminal.answer("y\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(install(&env, &[]).exits(0), json!({"set_up": ["codex"], "others": ["cursor"]}));
}

#[cfg(unix)]
#[test]
fn the_name_that_memdir_was_called_by_is_kept() {
    let env = used("cursor");
    let (first, second) = (env.base().join("one"), env.base().join("two"));
    let link = first.join("memdir");
    for folder in [&first, &second] {
        fs::create_dir(folder).unwrap();
    }
    fs::write(second.join("memdir"), "another").unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memdir"), &link).unwrap();
    let entry = |program: &str, path: &str| {
        let mut command = std::process::Command::new(program);
        command.args(["--memory", env.memory().to_str().unwrap(), "install", "cursor", "--print"]);
        command.env_clear().env("HOME", env.home()).env("PATH", path).current_dir(env.base());
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let printed: Value = serde_json::from_str(&crate::support::finish(command, b"").stdout).unwrap();
        printed["mcpServers"]["memdir"]["command"].as_str().unwrap().to_owned()
    };
    let (link, path) = (link.to_str().unwrap(), first.to_str().unwrap());
    assert_eq!(entry(link, ""), link);
    assert_eq!(entry("one/memdir", ""), link);
    assert_eq!(entry("memdir", path), link);
}

#[test]
fn what_the_person_has_set_stays_and_what_is_missing_is_added() {
    let env = used("claude-code");
    let entry = |more: &str| {
        format!(
            "{{\n  \"mcpServers\": {{\n    \"memdir\": {{ \"command\": \"/old/memdir\", \"args\": [\"mcp\"]{more} }}\n  }}\n}}\n"
        )
    };
    let file = put(&env, ".claude.json", &entry(""));
    install(&env, &["claude-code", "--yes"]).exits(0);
    let now: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let now = &now["mcpServers"]["memdir"];
    assert_eq!((&now["type"], &now["alwaysLoad"]), (&json!("stdio"), &json!(true)));
    assert_eq!(now["command"], env!("CARGO_BIN_EXE_memdir"));
    fs::write(&file, entry(", \"alwaysLoad\": false")).unwrap();
    install(&env, &["claude-code", "--yes"]).exits(0);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"alwaysLoad\": false, \"type\": \"stdio\" }"), "{text}");
    assert_eq!(install(&env, &["claude-code", "--yes"]).exits(0)["changed"], json!(false));
}

#[test]
fn a_line_for_coding_agents_goes_in_and_out() {
    for before in ["# Rules\n\nUse tabs.\n", "# Rules", "# Rules\r\n\r\nUse tabs.\r\n", "\u{feff}é\n\n"] {
        let env = Env::ada();
        let file = put(&env, "project/AGENTS.md", before);
        let path = file.to_str().unwrap().to_owned();
        let done = install(&env, &["--agents-md", &path, "--yes"]).exits(0);
        let with = fs::read_to_string(&file).unwrap();
        assert!(with.starts_with(before) && with.contains("`memdir`") && with.contains("`remember`"), "{with:?}");
        assert_eq!((&done["file"], with.contains('\r')), (&json!(path), before.contains('\r')));
        assert_eq!(install(&env, &["--agents-md", &path, "--yes"]).exits(0)["changed"], json!(false));
        // Without what was kept, and with something written behind it meanwhile.
        fs::remove_file(format!("{path}.memdir-backup")).unwrap();
        fs::write(&file, format!("{with}\nmore\n")).unwrap();
        install(&env, &["--agents-md", &path, "--remove", "--yes"]).exits(0);
        let left = fs::read_to_string(&file).unwrap();
        assert!(
            left.starts_with(before.trim_end()) && left.ends_with("more\n") && !left.contains("memdir"),
            "{left:?}"
        );
        fs::write(&file, &with).unwrap();
        install(&env, &["--agents-md", &path, "--remove", "--yes"]).exits(0);
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
}

/// What `doctor` says of an assistant: each message with its hint.
fn doctor(env: &Env, name: &str) -> Vec<(String, String)> {
    let checks = env.ask(&["doctor"]).exits(0)["checks"].as_array().unwrap().clone();
    let of = checks.iter().filter(|check| check["name"] == name);
    of.map(|check| {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        (text("message"), text("hint"))
    })
    .collect()
}

#[test]
fn doctor_says_how_each_assistant_stands_to_memdir() {
    let env = used("claude-code");
    let [(message, hint)] = <[_; 1]>::try_from(doctor(&env, "claude-code")).unwrap();
    assert_eq!(message, "installed, but not set up to start memdir");
    assert!(hint.contains("memdir install claude-code"), "{hint}");
    install(&env, &["claude-code", "--hooks", "--yes"]).exits(0);
    let message = doctor(&env, "claude-code").remove(0).0;
    assert_eq!(message, "starts memdir; its tools are loaded; not seen yet; hooks: not seen yet");
    let write = crate::support::said(&json!([{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]));
    env.say(&write, &["--client", "claude-code"]).exits(0);
    env.say(&write, &["--client", "codex"]).exits(0);
    let message = doctor(&env, "claude-code").remove(0).0;
    assert!(message.contains("loaded; last used just now; hooks: not seen yet"), "{message}");
    // An entry from before the key, and one that says otherwise.
    let file = file(&env, ".claude.json");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.replace(",\n      \"alwaysLoad\": true", "")).unwrap();
    let (message, hint) = doctor(&env, "claude-code").remove(0);
    assert!(message.contains("have to search") && hint.contains("memdir install claude-code"), "{message}; {hint}");
    fs::write(&file, whole.replace("\"alwaysLoad\": true", "\"alwaysLoad\": false")).unwrap();
    assert!(doctor(&env, "claude-code").remove(0).0.contains("as its entry says"));
    // Under a name of its own it is known by that alone.
    env.ask(&["client", "add", "desk"]).exits(0);
    install(&env, &["claude-code", "--client", "desk", "--yes"]).exits(0);
    assert!(doctor(&env, "claude-code").remove(0).0.contains("not seen yet; hooks"));
}

#[test]
fn doctor_sees_a_plugin_and_an_entry_beside_it() {
    let settings = "{\"enabledPlugins\": {\"memdir@memdir\": true, \"other@x\": true}}";
    let toml = "[plugins.\"memdir@memdir\"]\nenabled = true\n";
    for (name, path, text) in
        [("claude-code", ".claude/settings.json", settings), ("codex", ".codex/config.toml", toml)]
    {
        let env = used(name);
        let file = put(&env, path, text);
        assert_eq!(doctor(&env, name).remove(0).0, "its plugin starts memdir; not seen yet");
        assert_eq!(install(&env, &[]).exits(0), json!({"set_up": [name], "others": []}));
        install(&env, &[name, "--yes"]).exits(0);
        assert!(doctor(&env, name).remove(0).0.starts_with("starts memdir twice"));
        install(&env, &[name, "--remove", "--yes"]).exits(0);
        fs::write(&file, text.replace("true", "false")).unwrap();
        assert!(doctor(&env, name).remove(0).0.contains("not set up to start memdir"));
    }
}

#[test]
fn doctor_names_memories_that_assistants_keep_themselves() {
    let env = used("claude-code");
    fs::create_dir_all(env.home().join(".claude/projects/-home-ada/memory")).unwrap();
    assert_eq!(doctor(&env, "claude-code").len(), 1);
    put(&env, ".claude/projects/-home-ada/memory/MEMORY.md", "- likes tea\n");
    let (message, hint) = doctor(&env, "claude-code").remove(1);
    assert!(message.contains(".claude/projects/-home-ada/memory/MEMORY.md"), "{message}");
    assert!(hint.contains("autoMemoryEnabled"), "{hint}");
    fs::create_dir_all(env.home().join(".codex/memories")).unwrap();
    assert_eq!(doctor(&env, "codex").len(), 1, "an empty folder is no memory");
    assert_eq!(doctor(&env, "letta"), []);
    put(&env, ".letta/agents/agent-1/memory/system/human.md", "Ada\n");
    assert!(doctor(&env, "letta").remove(0).0.ends_with(".letta/agents/agent-1/memory"));
}

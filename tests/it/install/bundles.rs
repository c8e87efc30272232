//! The bundles are made by their scripts, hold what `install` writes, and their server starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::install;
use crate::support::{Env, Ran, finish};

/// A folder whose `mcpb` only says what it was asked to pack: the real one is a program of npm.
fn tools(env: &Env) -> PathBuf {
    let folder = env.base().join("tools");
    fs::create_dir(&folder).unwrap();
    program(&folder.join("mcpb"), "#!/bin/sh\necho \"$@\" > \"$3\"\n");
    folder
}

fn program(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn script(env: &Env, name: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new("sh");
    command.arg(format!("{}/scripts/{name}", env!("CARGO_MANIFEST_DIR"))).args(arguments).current_dir(env.base());
    command.env_clear().env("PATH", format!("{}:/usr/bin:/bin", env.base().join("tools").display()));
    finish(piped(command), b"")
}

fn piped(mut command: Command) -> Command {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn read(path: impl AsRef<Path>) -> Value {
    let path = path.as_ref();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn plugins_hold_what_install_writes() {
    for (kind, name, market) in [("claude", "claude-code", ".claude-plugin"), ("codex", "codex", ".agents/plugins")] {
        let env = Env::ada();
        let made = script(&env, "bundle-plugin", &[kind, "out"]);
        assert_eq!((made.code, made.stdout.as_str()), (0, "out/memdir\n"), "{made:?}");
        let out = env.base().join("out");
        let manifest = read(out.join(format!("memdir/.{kind}-plugin/plugin.json")));
        assert_eq!((&manifest["name"], &manifest["version"]), (&json!("memdir"), &json!(env!("CARGO_PKG_VERSION"))));
        assert_eq!(read(out.join(market).join("marketplace.json"))["plugins"][0]["name"], "memdir");
        let skill = fs::read_to_string(out.join("memdir/skills/memory/SKILL.md")).unwrap();
        assert!(skill.starts_with("---\nname: memory\ndescription: "), "{skill}");
        // The same hooks, but for where memdir and the memory are.
        let printed = install(&env, &[name, "--hooks", "--print"]).exits(0);
        let memory = env.memory().canonicalize().unwrap();
        let printed = printed["entry"].as_str().unwrap().replace(env!("CARGO_BIN_EXE_memdir"), "memdir");
        let printed: Value =
            serde_json::from_str(&printed.replace(&format!(" --memory {}", memory.display()), "")).unwrap();
        assert_eq!(read(out.join("memdir/hooks/hooks.json")), printed, "{kind}");
        let server = read(out.join("memdir/.mcp.json"))["mcpServers"]["memdir"].clone();
        assert_eq!((&server["command"], &server["args"]), (&json!("memdir"), &json!(["mcp"])));
        assert_eq!(server["alwaysLoad"] == json!(true), kind == "claude");
        // It is not made over another.
        assert_eq!(script(&env, "bundle-plugin", &[kind, "out"]).code, 1);
    }
}

#[test]
fn the_bundle_for_claude_desktop_starts_and_the_registry_has_its_hash() {
    let env = Env::ada();
    tools(&env);
    let built = env.base().join("built");
    program(&built, &format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_memdir")));
    let made = script(&env, "bundle-mcpb", &["built", "out", "linux"]);
    assert_eq!(made.code, 0, "{made:?}");
    let out = env.base().canonicalize().unwrap().join("out");
    assert_eq!(made.stdout.trim(), out.join("memdir.mcpb").to_str().unwrap());
    let manifest = read(out.join("memdir/manifest.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["compatibility"]["platforms"], json!(["linux"]));
    let filled = |text: &Value| {
        let text = text.as_str().unwrap().replace("${__dirname}", out.join("memdir").to_str().unwrap());
        text.replace("${user_config.memory}", env.memory().to_str().unwrap())
    };
    let config = &manifest["server"]["mcp_config"];
    let mut command = Command::new(filled(&config["command"]));
    command.args(config["args"].as_array().unwrap().iter().map(filled)).env_clear().env("HOME", env.home());
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "claude-ai", "version": "1"}}});
    let ran = finish(piped(command), format!("{hello}\n").as_bytes());
    assert!(ran.stdout.contains("\"protocolVersion\":\"2025-06-18\""), "{ran:?}");

    let url = "https://example.com/v1/memdir.mcpb?a=1&b=2|3";
    let made = script(&env, "bundle-server-json", &["io.github.ada/memdir", url, "out/memdir.mcpb", "out"]);
    assert_eq!(made.code, 0, "{made:?}");
    let server = read(out.join("server.json"));
    assert_eq!(
        (&server["name"], &server["version"]),
        (&json!("io.github.ada/memdir"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert!(server["description"].as_str().unwrap().len() <= 100, "the registry takes no more");
    let package = &server["packages"][0];
    assert_eq!((&package["registryType"], &package["identifier"]), (&json!("mcpb"), &json!(url)));
    let packed = fs::read(out.join("memdir.mcpb")).unwrap();
    let digest: String = Sha256::digest(&packed).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(package["fileSha256"], digest);
}

use std::process::Command;

use serde_json::Value;

use super::{Running, client, node, packages};

/// Starts a server of others on a port of this machine alone, and gives `address` with that port.
fn start(command: &mut Command) -> (Running, String) {
    let port = |line: &str| line.split_once("listening on 127.0.0.1:").map(|(_, port)| port.trim().to_owned());
    Running::start(command, port)
}

/// What the client says that a tool answered.
fn called(url: &str, kind: &str, tool: &str) -> Value {
    let context =
        format!(r#"{{"toolCalls": [{{"name": "{tool}", "arguments": {{"message": "grüß dich", "a": 2, "b": 3}}}}]}}"#);
    let output = client().arg(url).env("MEMDIR_KIND", kind).env("MCP_CONFORMANCE_CONTEXT", context).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let result =
        said.lines().find_map(|line| line.strip_prefix(tool)).map(|result| serde_json::from_str(result).unwrap());
    result.unwrap_or_else(|| String::from_utf8(output.stderr).unwrap().into())
}

#[test]
fn a_server_is_called_over_both_kinds_of_http() {
    let Some(packages) = packages() else { return };
    let modules = packages.join("node_modules");
    let loopback = format!("file://{}", packages.canonicalize().unwrap().join("loopback.mjs").display());
    let everything = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let mut streamable = node(&packages);
    streamable.args(["--import", &loopback]).arg(&everything).arg("streamableHttp").env("PORT", "0");
    let mut sse = node(&packages);
    let program = format!("{} {} stdio", modules.join(".bin/node").display(), everything.display());
    sse.args(["--import", &loopback]).arg(modules.join("supergateway/dist/index.js"));
    sse.args(["--stdio", &program, "--port", "0"]);
    for (command, path, kind) in [(&mut streamable, "/mcp", "http"), (&mut sse, "/sse", "sse")] {
        let (_running, port) = start(command);
        let result = called(&format!("http://127.0.0.1:{port}{path}"), kind, "echo");
        assert_eq!(result["content"][0]["text"], "Echo: grüß dich", "{kind}: {result}");
    }
}

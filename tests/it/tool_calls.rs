//! Calls of other servers' tools in the audit, as a person finds and counts them, and takes back what was written with a server.

use memdir_dialect as dialect;
use memdir_engine::{Caller, Engine, ToolConsent};
use memdir_tools::script::Scripted;
use memdir_tools::{Permission, ServerName, Switched, ToolCall, ToolName};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Env, engine, files, said};

fn caller(session: &str) -> Caller {
    Caller::model("chat").in_session(Some(session.to_owned()))
}

fn record(engine: &Engine, session: &str, (server, own): (&str, &str), consent: ToolConsent, is_error: bool) {
    let result = json!({"content": [], "isError": is_error}).as_object().cloned().unwrap();
    let permission = if consent == ToolConsent::Once { Permission::Ask } else { Permission::Allow };
    let toolbox = Scripted::default().with((server, own), permission, result).unwrap();
    let server = ServerName::parse(server).unwrap();
    let call = ToolCall { tool: ToolName::of(&server, own), arguments: Map::new(), client: None };
    let mut switched = Switched { servers: [server].into(), ..Switched::default() };
    let (caller, stop) = (caller(session), CancellationToken::new());
    engine.call_tool(&toolbox, &caller, &mut switched, &call, &mut |_, _| consent, &mut (), &stop).unwrap();
}

fn history(env: &Env) -> rusqlite::Connection {
    let file = files(env.memory()).into_keys().find(|name| name.ends_with("history.sqlite")).unwrap();
    rusqlite::Connection::open(env.at(&file)).unwrap()
}

fn write(engine: &Engine, session: &str, actions: &Value) {
    let report = engine.conclude(engine.propose(dialect::parse(said(actions).as_bytes()), caller(session)));
    assert!(report.batch.is_some(), "{report:?}");
}

/// Two conversations: one with `weather`, which wrote two notes, and one with `git`, which wrote one.
fn talked() -> Env {
    let env = Env::ada();
    env.exec(&json!([{"action": "create_file", "path": "mine.md", "content": "mine\n"}]));
    let engine = engine::open(env.memory());
    record(&engine, "s1", ("weather", "forecast"), ToolConsent::Once, false);
    record(&engine, "s1", ("weather", "sky"), ToolConsent::No, true);
    write(&engine, "s1", &json!([{"action": "append_file", "path": "user.md", "content": "- told: rain"}]));
    write(&engine, "s1", &json!([{"action": "create_file", "path": "rain.md", "content": "# Rain\n"}]));
    record(&engine, "s2", ("git", "log"), ToolConsent::No, false);
    write(&engine, "s2", &json!([{"action": "append_file", "path": "mine.md", "content": "from git"}]));
    env
}

#[test]
fn calls_are_listed_exported_and_counted_by_server_and_tool() {
    let env = talked();
    let calls = |more: &[&str]| {
        let arguments: Vec<&str> = ["audit", "calls", "--json"].iter().chain(more).copied().collect();
        env.run(&arguments, "").exits(0)["calls"].as_array().unwrap().clone()
    };
    let tools = |more: &[&str]| calls(more).iter().map(|call| call["tool"].clone()).collect::<Vec<_>>();
    assert_eq!(tools(&[]), ["git__log", "weather__sky", "weather__forecast"]);
    assert_eq!(tools(&["--server", "weather"]), ["weather__sky", "weather__forecast"]);
    assert_eq!(tools(&["--tool", "log"]), ["git__log"]);
    assert_eq!(tools(&["--session", "s2"]), ["git__log"]);
    assert_eq!(tools(&["--client", "shelf"]), [] as [Value; 0]);
    let sky = &calls(&["--tool", "weather__sky"])[0];
    let told = ["session", "decided", "code", "ms", "arguments_bytes", "result_bytes"].map(|key| sky[key].clone());
    assert_eq!(told, [json!("s1"), json!("allowed"), json!("tool_failed"), json!(7.0), json!(2), json!(29)]);

    let export = |more: &[&str]| {
        let arguments: Vec<&str> = ["audit", "export"].iter().chain(more).copied().collect();
        let ran = env.run(&arguments, "");
        ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let of_weather = export(&["--server", "weather"]);
    assert_eq!(
        of_weather.iter().map(|entry| (entry["origin"].clone(), entry["code"].clone())).collect::<Vec<_>>(),
        [("forecast", json!("sent")), ("forecast", Value::Null), ("sky", json!("sent")), ("sky", json!("tool_failed"))]
            .map(|(own, code)| (json!(format!("tool:weather__{own}")), code))
    );
    let all = export(&[]);
    assert!(of_weather.iter().all(|entry| all.contains(entry)) && all.len() > 5);

    let stats = env.run(&["log", "--stats", "--json"], "").exits(0);
    let counts = |kind: &str| {
        let tallies = stats[kind].as_array().unwrap().iter();
        tallies.map(|tally| (tally["name"].as_str().unwrap().to_owned(), tally["calls"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(counts("servers"), [("weather".to_owned(), json!(2)), ("git".to_owned(), json!(1))]);
    assert_eq!(counts("tools").len(), 3);
    assert!(counts("actions").iter().all(|(name, _)| !name.contains("__")));
    let stats = env.run(&["log", "--stats", "--json", "--server", "weather", "--tool", "sky"], "").exits(0);
    assert_eq!((&stats["entries"], &stats["tools"][0]["codes"]), (&json!(1), &json!({"tool_failed": 1})));
    assert_eq!(env.run(&["log", "--server", "weather"], "").code, 2);
    assert_eq!(env.run(&["audit", "verify", "--json"], "").exits(0)["ok"], true);
}

#[test]
fn what_was_written_with_a_server_goes_with_one_command() {
    let env = talked();
    let before = Env::ada().files();
    let written = env.files();
    assert_eq!(env.run(&["undo", "--server", "weather"], "").code, 2);
    assert_eq!(env.files(), written, "nobody could be asked");
    let dry = env.run(&["undo", "--server", "weather", "--dry-run", "--json"], "").exits(0);
    assert_eq!((&dry["undone"], &dry["dry_run"], &dry["batch"]), (&json!([3, 2]), &json!(true), &Value::Null));
    let diff = dry["diff"].as_str().unwrap();
    assert!(diff.contains("-- told: rain") && diff.contains("-# Rain"), "{diff}");
    assert_eq!(env.files(), written);

    let done = env.run(&["undo", "--server", "weather", "--yes", "--json"], "").exits(0);
    assert_eq!(
        (&done["undone"], &done["batch"], &done["changed"]),
        (&json!([3, 2]), &json!(5), &json!(["rain.md", "user.md"]))
    );
    assert!(env.run(&["log"], "").stdout.contains("undid 3 and 2"));
    let after = env.files();
    assert_eq!(after["user.md"], before["user.md"]);
    assert!(!after.contains_key("rain.md"));
    assert_eq!(after["mine.md"], written["mine.md"]);
    assert_eq!(env.run(&["undo", "--server", "weather", "--yes"], "").code, 4);
    assert_eq!(env.run(&["undo", "--server", "No Name", "--yes"], "").code, 2);
    assert_eq!(env.run(&["undo", "5"], "").code, 0);
    assert_eq!(env.files(), written);

    env.write("rain.md", "# Rain, as I saw it myself\n");
    let partly = env.run(&["undo", "--server", "weather", "--yes", "--json"], "").exits(4);
    assert_eq!((&partly["undone"], &partly["left"][0]["change"]), (&json!([2]), &json!(3)));
    assert_eq!(partly["left"][0]["code"], "conflict");
    assert_eq!(env.read("rain.md"), "# Rain, as I saw it myself\n");
    assert_eq!(env.files()["user.md"], before["user.md"]);
}

#[test]
fn a_call_without_an_answer_is_listed_as_such() {
    let env = talked();
    let database = history(&env);
    assert_eq!(database.execute("DELETE FROM entry WHERE code IS NULL AND action = 'git__log'", []).unwrap(), 1);
    let calls = env.run(&["audit", "calls", "--json"], "").exits(0);
    let codes: Vec<&Value> = calls["calls"].as_array().unwrap().iter().map(|call| &call["code"]).collect();
    assert_eq!(codes, [&json!("sent"), &json!("tool_failed"), &Value::Null]);
    let told = env.run(&["audit", "calls", "--tool", "git__log"], "").stdout;
    assert!(told.contains("no answer is known") && told.lines().count() == 1, "{told}");
}

#[test]
fn a_model_is_told_settings_and_changes_none() {
    let env = Env::ada().settings("[model]\naddress = \"http://secret.example/\"\n");
    let report = env.exec(&json!([{"action": "get_config"}]));
    let told = &report["actions"][0]["value"];
    assert_eq!((&told["permission.mcp"], &told["history.keep_days"]), (&json!("flag"), &json!(90)));
    assert!(!report.to_string().contains("secret.example"), "{report}");
    let set = json!([{"action": "set_config_value", "key": "history.keep_days", "value": "365"}]);
    let report = env.say(&said(&set), &[]).exits(3);
    let error = &report["actions"][0]["error"];
    assert_eq!(error["code"], "denied");
    let command = error["hint"].as_str().unwrap().split('`').nth(1).unwrap();
    assert_eq!(command, "memdir config set history.keep_days 365");
    assert_eq!(
        env.exec(&json!([{"action": "get_config", "key": "history.keep_days"}]))["actions"][0]["value"],
        json!({"history.keep_days": 90})
    );
    // The command that was told does it.
    let typed: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(env.run(&typed, "").code, 0);
    assert_eq!(
        env.exec(&json!([{"action": "get_config", "key": "history.keep_days"}]))["actions"][0]["value"],
        json!({"history.keep_days": 365})
    );
    let settings = std::fs::read_to_string(env.home().join(".config/memdir/config.toml")).unwrap();
    assert_eq!(settings, "[model]\naddress = \"http://secret.example/\"\n\n[history]\nkeep_days = 365\n");
    let wrong = json!([{"action": "set_config_value", "key": "history.keep_day", "value": "1"}]);
    let report = env.say(&said(&wrong), &[]).exits(4);
    assert_eq!(report["actions"][0]["error"]["code"], "invalid_action");
    assert_eq!(report["actions"][0]["error"]["hint"], "did you mean `history.keep_days`?");
    let listed = env.run(&["config", "--json"], "").exits(0);
    let kept = listed["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == "history.keep_days");
    assert_eq!(kept.unwrap()["source"], "settings file");
    let one = env.run(&["config", "history.keep_days", "--json"], "").exits(0);
    let expected = json!([{"key": "history.keep_days", "value": "365", "source": "settings file"}]);
    assert_eq!(one["settings"], expected, "{one}");
    let section = env.run(&["config", "history"], "");
    assert_eq!(section.stdout.lines().count(), 2, "{section:?}");
    assert!(section.stdout.starts_with("history.keep_days = 365  (settings file)\n"), "{section:?}");
    let wrong = env.run(&["config", "history.keep_day", "--json"], "").exits(2);
    assert_eq!(wrong["error"]["hint"], "did you mean `history.keep_days`?");
    assert_eq!(env.run(&["config", "set", "history.keep_day", "1"], "").code, 2);
    assert_eq!(env.run(&["config", "set", "history.keep_days", "soon"], "").code, 5);
}

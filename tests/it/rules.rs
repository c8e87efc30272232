//! `memdir rules`: standing answers in the settings file, listed, added and taken back without touching anything else there.

use std::fs;

use serde_json::{Value, json};

use crate::support::rpc::{Client, LEGACY};
use crate::support::{Env, said};

fn settings(env: &Env) -> String {
    fs::read_to_string(env.home().join(".config/memdir/config.toml")).unwrap()
}

#[track_caller]
fn rules(env: &Env, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = [&["rules"], arguments].concat();
    env.ask(&arguments).exits(0)["rules"].clone()
}

#[test]
fn a_memory_without_rules_lists_none_and_makes_no_file() {
    let env = Env::ada();
    assert_eq!(rules(&env, &[]), json!([]));
    assert!(!env.home().join(".config").exists());
}

#[test]
fn a_rule_that_is_added_holds_at_once_and_one_that_is_removed_no_longer() {
    let env = Env::ada();
    let added = rules(&env, &["add", "deny", "--path", "private/**"]);
    let rule =
        json!({"number": 1, "action": null, "path": "private/**", "client": null, "detector": null, "verdict": "deny"});
    assert_eq!(added, json!([rule]));
    assert_eq!(
        rules(&env, &["add", "deny", "--path", "private/**"]),
        json!([rule]),
        "the same rule is not there twice"
    );
    let text = said(&json!([{"action": "create_file", "path": "private/a.md", "content": "x"}]));
    assert_eq!(env.say(&text, &[]).exits(3)["actions"][0]["error"]["code"], json!("denied"));
    assert_eq!(rules(&env, &["remove", "1"]), json!([]));
    env.say(&text, &[]).exits(0);
}

/// Whether a file that is denied is there is not told by how a link to it is listed.
#[test]
fn links_do_not_tell_whether_a_denied_file_is_there() {
    let text = |name: &str| {
        format!("[s](secret) <a href=\"secret/{name}.md\"> %% [c](secret/{name}.md) %% [m](secret/{name}.md)\n")
    };
    let links = |files: &[(&str, &str)]| {
        let env = Env::with(files);
        rules(&env, &["add", "deny", "--path", "secret/**"]);
        rules(&env, &["add", "deny", "--path", "secret"]);
        env.act(&json!({"action": "get_links", "path": "n.md"}))["value"].clone()
    };
    let there = links(&[("n.md", &text("x")), ("secret/x.md", "x\n")]);
    assert_eq!(there, links(&[("n.md", &text("x"))]));
    assert_eq!(there["links"].as_array().unwrap().len(), 2, "{there}");
}

#[test]
fn a_server_that_runs_obeys_a_rule_at_once_until_it_is_taken_back() {
    let env = Env::ada();
    let mut client = Client::start(&env, &[]);
    client.begin(LEGACY[0]);
    let text = json!([{"type": "text", "text": "# Ada\n\n- city: London\n"}]);
    let read = |client: &mut Client| client.call("read_file", json!({"path": "user.md"}));
    assert_eq!(read(&mut client)["content"], text);
    rules(&env, &["add", "deny", "--path", "user.md", "--action", "read_file"]);
    assert_eq!(read(&mut client)["structuredContent"]["error"]["code"], json!("denied"));
    let found = client.call("search_files", json!({"query": "London"}));
    assert_eq!(found["structuredContent"]["value"]["hits"], json!([]), "{found}");
    // Half a file may lack a rule.
    let file = env.home().join(".config/memdir/config.toml");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, "[[rule]\n").unwrap();
    let refused = read(&mut client);
    assert_eq!(refused["structuredContent"]["error"]["code"], json!("config"), "{refused}");
    let found = client.call("search_files", json!({"query": "London"}));
    assert_eq!(found["structuredContent"]["error"]["code"], json!("config"), "{found}");
    fs::write(&file, whole).unwrap();
    rules(&env, &["remove", "1"]);
    assert_eq!(read(&mut client)["content"], text);
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_rule_whose_path_matches_no_note_is_told() {
    let env = Env::with(&[("private/a.md", "x\n"), ("user.md", "x\n")]);
    for (path, is_told) in [
        ("dialy/**", true),
        ("~/memdir/private/**", true),
        ("private/**", false),
        ("PRIVATE/A.md", false),
        ("user.md", false),
    ] {
        let said = env.run(&["rules", "add", "deny", "--path", path], "").stderr;
        assert_eq!(said.contains("matches no note now"), is_told, "{path}: {said}");
    }
}

#[test]
fn all_but_the_rule_stays_as_it_was_written() {
    let env = Env::ada();
    let root = env.memory().canonicalize().unwrap();
    let before = format!(
        "# mine\ndurability = \"full\"   # safe\n\n[[rule]]   # for all\npath = 'shared/**'\nverdict = 'ask'\n\n\
         [memory.\"{0}\"]\npermission.exec = 'flag' # here\n\n[[memory.\"{0}\".rule]]\ndetector = \"email\"\nverdict = \"allow\"\n\n\
         [memory.\"/elsewhere\"]\ndurability = 'atomic'\n",
        root.display()
    );
    let env = env.settings(&before);
    let added = rules(&env, &["add", "deny", "--client", "a \"b\"", "--action", "delete_file"]);
    let verdicts: Vec<_> = added.as_array().unwrap().iter().map(|rule| rule["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["ask", "allow", "deny"]);
    let with = settings(&env);
    for line in before.lines() {
        assert!(with.contains(line), "{line} is gone from {with}");
    }
    assert_eq!(rules(&env, &["remove", "3"]).as_array().unwrap().len(), 2);
    assert_eq!(settings(&env), before);
    rules(&env, &["remove", "1"]);
    let after = settings(&env);
    assert!(!after.contains("shared") && after.contains("email") && after.contains("# mine"), "{after}");
    rules(&env, &["remove", "1"]);
    assert!(!settings(&env).contains("email"));
}

#[test]
fn rules_written_as_a_list_are_changed_as_a_list() {
    let env = Env::ada();
    let root = env.memory().canonicalize().unwrap();
    let toml = format!("[memory.\"{}\"]\nrule = [{{ path = \"a/**\", verdict = \"deny\" }}]\n", root.display());
    let env = env.settings(&toml);
    assert_eq!(rules(&env, &["add", "ask", "--path", "b/**"]).as_array().unwrap().len(), 2);
    assert_eq!(rules(&env, &["remove", "1"])[0]["path"], json!("b/**"));
}

#[test]
fn a_rule_is_added_however_the_memory_is_written() {
    for toml in [
        "[memory]\n\"ROOT\" = { durability = \"atomic\" } # fast\n",
        "memory = { \"ROOT\" = { permission.exec = \"flag\" } }\n",
        "memory = { \"/elsewhere\" = { durability = \"atomic\" } }\n",
        "memory.\"ROOT\".permission.exec = \"flag\"\n",
        "[memory.\"ROOT/../memory\"]\nrule = []\n",
        "rule = []\r\n# mine\r\n",
    ] {
        let env = Env::ada();
        let root = env.memory().canonicalize().unwrap();
        assert!(root.ends_with("memory"), "{root:?}");
        let before = toml.replace("ROOT", root.to_str().unwrap());
        let env = env.settings(&before);
        assert_eq!(rules(&env, &["add", "deny", "--path", "a/**"])[0]["verdict"], json!("deny"), "{toml}");
        let with = settings(&env);
        assert_eq!(with.contains('#'), toml.contains('#'), "{with}");
        assert_eq!(with.matches('\n').count() == with.matches("\r\n").count(), toml.contains('\r'), "{with:?}");
        assert_eq!(rules(&env, &["remove", "1"]), json!([]), "{toml}");
    }
}

#[test]
fn what_is_no_rule_is_said_and_changes_nothing() {
    let env = Env::ada().settings("durability = \"full\"\n");
    let refused = |arguments: &[&str], code: i32| env.ask(arguments).exits(code)["error"].clone();
    assert_eq!(refused(&["rules", "remove", "1"], 4)["code"], json!("not_found"));
    let error = refused(&["rules", "add", "deny", "--action", "delete_fiel"], 5);
    assert_eq!(error["hint"], json!("did you mean `delete_file`?"));
    refused(&["rules", "add", "deny"], 2);
    assert_eq!(settings(&env), "durability = \"full\"\n");
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_a_link_stays_one_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let env = Env::ada().settings("");
    let folder = env.home().join(".config/memdir");
    let real = env.base().join("dotfiles.toml");
    fs::rename(folder.join("config.toml"), &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, folder.join("config.toml")).unwrap();
    rules(&env, &["add", "deny", "--path", "a/**"]);
    assert!(folder.join("config.toml").symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(env.base()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count(), 1);
}

#[test]
fn processes_that_add_rules_at_the_same_time_lose_none() {
    let env = Env::ada();
    let paths: Vec<String> = (0..8).map(|at| format!("folder{at}/**")).collect();
    std::thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| rules(&env, &["add", "deny", "--path", path]));
        }
    });
    assert_eq!(rules(&env, &[]).as_array().unwrap().len(), 8);
}

/// A file of settings that is a link leading nowhere is one that cannot be read, and not none.
#[cfg(unix)]
#[test]
fn a_link_to_settings_that_are_elsewhere_now_lets_nothing_through() {
    let env = Env::with(&[("private/d.md", "hush\n")]);
    rules(&env, &["add", "deny", "--path", "private/**"]);
    let (file, elsewhere) = (env.home().join(".config/memdir/config.toml"), env.home().join("dot.toml"));
    fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let text = said(&json!([{"action": "read_file", "path": "private/d.md"}]));
    assert_eq!(env.say(&text, &[]).exits(3)["actions"][0]["error"]["code"], json!("denied"));
    fs::rename(&elsewhere, env.home().join("other.toml")).unwrap();
    let ran = env.say(&text, &[]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(!ran.stdout.contains("hush"), "{ran:?}");
}

#[test]
fn who_moves_a_memory_is_told_that_its_rules_stayed_behind() {
    let env = Env::with(&[("private/d.md", "hush\n")]);
    rules(&env, &["add", "deny", "--path", "private/**"]);
    let told = |env: &Env| (env.ask(&["rules"]).stderr, env.ask(&["doctor"]).stdout);
    let here = told(&env);
    assert!(!here.0.contains("no memory is") && !here.1.contains("no memory is"), "{here:?}");
    let file = env.home().join(".config/memdir/config.toml");
    let moved = fs::read_to_string(&file).unwrap().replace("[memory.\"/", "[memory.\"/gone/");
    fs::write(&file, moved).unwrap();
    let (rules, doctor) = told(&env);
    assert!(rules.contains("1 rule for /gone/") && doctor.contains("/gone/"), "{rules}\n{doctor}");
}

#[test]
fn a_rule_that_asks_says_where_nobody_is_asked() {
    let env = Env::ada();
    let said = env.ask(&["rules", "add", "ask", "--path", "private/**"]).stderr;
    assert!(said.contains("`exec` is in mode `off`") && said.contains("`mcp` is in mode `flag`"), "{said}");
    assert!(!env.ask(&["rules", "add", "deny", "--path", "secret/**"]).stderr.contains("in mode"));
}

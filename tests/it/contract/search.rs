//! `search`: its shape, its ways, and what it leaves in a folder that it only reads.

use std::process::Command;

use serde_json::{Value, json};

#[cfg(unix)]
use crate::ask::terminal::Terminal;
use crate::support::{Env, Ran, finish};

fn found(env: &Env, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["search"].iter().chain(arguments).copied().collect();
    env.ask(&arguments).exits(0)
}

#[test]
fn the_shape_of_an_answer() {
    let env = Env::ada();
    let expected = json!({"query": "KIND: company", "hits": [
        {"path": "entities/acme.md", "heading": "Basic Information", "lines": [5, 5], "snippet": "- kind: company",
         "score": 1.0, "why": ["text"], "state": null},
    ], "total": 1, "cursor": null, "left_out": 0, "nothing_known": false, "missing": [], "searched_for": null, "source": "scan"});
    assert_eq!(found(&env, &["KIND: company", "--mode", "text"]), expected);
    let ranked = found(&env, &["the founder of a company"]);
    assert_eq!((&ranked["total"], &ranked["hits"][0]["lines"]), (&json!(1), &json!([3, 6])));
    assert_eq!(ranked["hits"][0]["heading"], json!("Basic Information"));
    assert_eq!(ranked["hits"][0]["snippet"], json!("- kind: company\n- founder: [[user]]"));
    assert!(ranked["hits"][0]["score"].as_f64().unwrap() > 0.0);
    assert_eq!(found(&env, &["^# A", "--mode", "regex"])["total"], json!(2));
    assert_eq!(found(&env, &["acm", "--mode", "name"])["hits"][0]["path"], json!("entities/acme.md"));
    let nothing = found(&env, &["zebra"]);
    assert_eq!((&nothing["hits"], &nothing["total"]), (&json!([]), &json!(0)), "no hit is an answer");
}

#[test]
fn a_search_by_action_answers_the_same() {
    let env = Env::ada();
    let outcome = env.act(&json!({"action": "search_files", "query": "london", "mode": "text"}));
    assert_eq!(outcome["value"], found(&env, &["london", "--mode", "text"]));
    assert_eq!(outcome["value"]["hits"][0]["lines"], json!([3, 3]));
    let report = env.exec(&json!([
        {"action": "update_file", "path": "user.md", "old_content": "London", "new_content": "Paris"},
        {"action": "search_files", "query": "paris", "mode": "text", "assign_to": "where"},
    ]));
    assert_eq!(report["variables"]["where"]["hits"][0]["snippet"], json!("- city: Paris"), "it sees the write before");
}

#[test]
fn pages_and_budgets() {
    let env = Env::new();
    for number in 0..5 {
        env.write(&format!("n{number}.md"), "needle\n".repeat(number + 1));
    }
    let first = found(&env, &["needle", "--mode", "text", "--limit", "2"]);
    assert_eq!((&first["hits"][0]["path"], &first["hits"][0]["score"]), (&json!("n4.md"), &json!(5.0)));
    let cursor = first["cursor"].as_str().unwrap();
    let next = found(&env, &["needle", "--mode", "text", "--limit", "2", "--cursor", cursor, "--budget", "1"]);
    let shown =
        json!({"hits": next["hits"].as_array().unwrap().len(), "left_out": next["left_out"], "total": next["total"]});
    assert_eq!(shown, json!({"hits": 1, "left_out": 1, "total": 5}));
    assert_eq!(next["hits"][0]["path"], json!("n2.md"));
    let wrong = env.ask(&["search", "needle", "--cursor", cursor]).exits(4);
    assert_eq!(wrong["error"]["code"], json!("invalid_action"));
    assert_eq!(wrong["error"]["message"], json!("`cursor` is none that an answer to this query gave"));
}

#[test]
fn what_cannot_be_searched_for_is_said() {
    let env = Env::ada();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["("], 0, ""),
        (&["(", "--mode", "regex"], 4, "invalid_pattern"),
        (&["x", "--path", "gone.md"], 4, "not_found"),
        (&["x", "--path", "../x"], 4, "invalid_path"),
        (&["", "--mode", "text"], 4, "invalid_action"),
        (&["x", "--mode", "magic"], 2, "usage"),
        (&["x", "--limit", "0"], 2, "usage"),
        (&["x", "--budget", "0"], 2, "usage"),
        (&[], 2, "usage"),
    ];
    for (arguments, code, error) in cases {
        let arguments: Vec<&str> = ["search"].iter().chain(*arguments).copied().collect();
        let said = env.ask(&arguments).exits(*code);
        assert_eq!(said["error"]["code"].as_str().unwrap_or_default(), *error, "{arguments:?}");
    }
    env.write("bad.md", b"London \xff");
    let ran = env.ask(&["search", "London"]);
    assert_eq!(ran.exits(0)["total"], json!(1));
    assert!(ran.stderr.contains("note: 1 note could not be searched"), "{ran:?}");
    assert!(ran.stderr.contains("; `memdir check` names what it cannot read"), "{ran:?}");
    let named = env.ask(&["check", "--kind", "unreadable"]).exits(0);
    assert_eq!(named["findings"][0]["path"], json!("bad.md"), "{named}");
    let doctor = env.run(&["doctor"], "").stdout;
    assert!(doctor.contains("not read in full: bad.md"), "{doctor}");
}

#[test]
fn a_rule_hides_notes_from_a_search() {
    let rule = "[[rule]]\naction = \"search_files\"\npath = \"entities/**\"\nverdict = \"deny\"\n";
    let env = Env::ada().settings(rule);
    for mode in ["ranked", "text", "name"] {
        assert_eq!(found(&env, &["acme", "--mode", mode])["total"], json!(0), "{mode}");
    }
    assert_eq!(found(&env, &["ada", "--mode", "text"])["total"], json!(1));
}

#[test]
fn a_rule_hides_notes_from_lists_and_hints() {
    let env = Env::with(&[
        ("private/ada_lovelace.md", "# Ada\n"),
        ("private/bob.md", "# Bob\n"),
        ("pub/bob.md", "# Bob of the pub\n"),
        ("zed.md", "# Zed\n"),
    ]);
    let env = env.settings("[[rule]]\npath = \"private/**\"\nverdict = \"deny\"\n");
    let calls = r##"<actions>[{"action":"read_file","path":"ada_lovelacee.md"},{"action":"read_file","path":"zedd.md"},
        {"action":"go_to_link","link":"bob"},{"action":"append_file","path":"zed.md","content":"[[bob]]"},
        {"action":"list_files"}]</actions>"##;
    let ran = env.run(&["exec", "--json"], calls);
    assert!(!ran.stdout.contains("private/") && !ran.stderr.contains("private/"), "{ran:?}");
    let said: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["actions"][1]["error"]["hint"], "the nearest is `zed.md`");
    assert_eq!(said["actions"][2]["value"], "# Bob of the pub\n");
    assert_eq!(said["actions"][4]["value"], json!(["pub/bob.md", "zed.md"]));
}

#[test]
fn for_people() {
    let env = Env::ada();
    let ran = env.run(&["search", "city", "--mode", "text"], "");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "user.md:3  Ada\n    - city: London\n", ""));
    env.write("more.md", "city\nthe city of\x1b[31m red\n");
    let ran = env.run(&["search", "city", "--mode", "text", "--limit", "1"], "");
    assert_eq!(ran.stdout, "more.md:1  more\n    city\n    the city of\\u{1b}[31m red\n");
    let memory = env.memory().display();
    assert_eq!(ran.stderr, format!("1 more: memdir search --memory {memory} --mode text city -n 20\n"));
    let ran = env.run(&["search", "zebra"], "");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "nothing found\n"));
    let ran = env.run(&["search", "(", "--mode", "regex"], "");
    assert!(ran.code == 4 && ran.stderr.contains("hint: "), "{ran:?}");
}

/// The command that a search says shows more, typed in a shell.
#[cfg(unix)]
fn typed(env: &Env, said: &str) -> Ran {
    let command = said.split_once("more: memdir ").unwrap_or_else(|| panic!("{said}")).1;
    let program = env.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("\"$0\" {command}")]).arg(program.get_program()).env_clear().env("HOME", env.home());
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    finish(shell, b"")
}

#[cfg(unix)]
#[test]
fn the_command_for_more_shows_more() {
    let env = Env::new();
    for number in 0..60 {
        env.write(&format!("notes/n{number:02}.md"), "the `green tea` isn't $5 \"cold\"\n");
    }
    let places = |ran: &Ran| ran.stdout.lines().filter(|line| line.starts_with("notes/")).count();
    for query in ["green tea", "-green", "isn't $5 \"cold\"", "`green tea`"] {
        for mode in ["ranked", "text"] {
            let mut arguments = vec!["search", "--mode", mode, "--path", "notes"];
            arguments.extend(["--", if mode == "text" { query.trim_start_matches('-') } else { query }]);
            let five = env.run(&arguments, "");
            assert_eq!((places(&five), five.stderr.starts_with("55 more: memdir search ")), (5, true), "{five:?}");
            let twenty = typed(&env, &five.stderr);
            assert_eq!((places(&twenty), twenty.stderr.starts_with("40 more: ")), (20, true), "{twenty:?}");
            assert!(twenty.stdout.starts_with(&five.stdout), "the best first: {twenty:?}");
            let fifty = typed(&env, &twenty.stderr);
            assert_eq!((places(&fifty), fifty.stderr.starts_with("10 more: ")), (50, true), "{fifty:?}");
            let all = typed(&env, &fifty.stderr);
            assert_eq!((places(&all), all.stderr.as_str()), (60, ""), "{all:?}");
        }
    }
    let cut = env.run(&["search", "green tea", "--budget", "20", "--mode", "text"], "");
    let rest = typed(&env, &cut.stderr);
    assert!(places(&cut) < 5 && places(&rest) > 0 && !rest.stdout.contains("n00.md"), "{cut:?} {rest:?}");
    assert_eq!(found(&env, &["green tea"])["hits"].as_array().unwrap().len(), 20, "as JSON there are twenty");
}

#[cfg(unix)]
#[test]
fn on_a_terminal_the_best_stays_in_sight() {
    let env = Env::with(&[("entities/\u{1b}[2J.md", "x")]);
    let cake = "words before it ".repeat(6) + "and the wolframite after that " + &"more words ".repeat(10);
    env.write("recipes/cake.md", format!("---\ntitle: Plum cake\n---\n\n## Dough\n\n{cake}\n"));
    for number in 0..30 {
        env.write(
            &format!("n{number:02}.md"),
            format!("# Note {number}\n\nsome wolframite\nis\nalso\nhere\nand there\n"),
        );
    }
    let shown = |columns: u16| {
        let mut command = env.command(&["search", "wolframite dough"]);
        command.env("NO_COLOR", "1").env("TERM", "xterm");
        let (code, said) = Terminal::start_wide(command, columns).end();
        assert_eq!(code, 0, "{said}");
        said.replace("\r\n", "\n")
    };
    let narrow = shown(50);
    assert!(narrow.lines().all(|line| line.chars().count() <= 50 || line.contains("more: memdir")), "{narrow}");
    let first: Vec<&str> = narrow.lines().take(4).collect();
    assert_eq!(first[0], "Plum cake › Dough  recipes/cake.md:5", "{narrow}");
    assert!(first[1..].iter().any(|row| row.contains("wolframite")), "{narrow}");
    assert!(narrow.lines().count() <= 22, "it fits a terminal of 24 lines: {narrow}");
    let wide = shown(200);
    assert!(wide.lines().nth(1).is_some_and(|row| row.chars().count() > 100), "{wide}");
    let hostile = env.run(&["search", "2J", "--mode", "name"], "");
    assert!(!hostile.stdout.contains('\u{1b}'), "{hostile:?}");
}

#[test]
fn what_a_person_asks_of_themselves_shows_what_they_told() {
    let env = Env::new();
    let fresh = env.bare(&["init", "me", "--yes"]);
    finish(fresh, b"");
    let set = env.bare(&["set", "user", "city", "Porto", "--memory", "me"]);
    finish(set, b"");
    let found = finish(env.bare(&["search", "Where do I live?", "--memory", "me"]), b"");
    assert!(found.stdout.starts_with("user.md:") && found.stdout.contains("- city: Porto"), "{found:?}");
}

#[test]
fn a_search_is_audited_and_makes_nothing() {
    let env = Env::ada();
    let before = env.seen();
    found(&env, &["city"]);
    assert_eq!(env.seen(), before, "reading a folder creates nothing in it");
}

/// Deep and wide memories are searched with few descriptors open.
#[cfg(unix)]
#[test]
fn few_descriptors_are_enough() {
    let env = Env::new();
    let deep = "d/".repeat(400);
    env.write(&format!("{deep}needle.md"), "needle");
    for folder in 0..100 {
        for number in 0..3 {
            env.write(&format!("wide{folder}/n{number}.md"), "needle");
        }
    }
    let inner = env.command(&["search", "needle", "--mode", "text", "--json"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(inner.get_program()).args(inner.get_args());
    command.env_clear().env("HOME", env.home());
    for (name, value) in inner.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let ran: Ran = finish(command, b"");
    assert_eq!(ran.exits(0)["total"], json!(301));
}

#[test]
fn an_answer_tells_by_what_it_was_found() {
    let env = Env::with(&[
        ("user.md", "# Ada\n\n- wife: [[jane_doe]]\n"),
        ("people/jane_doe.md", "# Jane Doe\n\n- age: 39\n"),
        ("people/tom.md", "# Tom\n\n- age: 12\n"),
    ]);
    let found = found(&env, &["what is my wife's age"]);
    let hit = &found["hits"][0];
    assert_eq!((&hit["path"], &hit["lines"]), (&json!("people/jane_doe.md"), &json!([1, 3])), "{found}");
    assert!(hit["why"].as_array().unwrap().contains(&json!("link")), "{found}");
    assert_eq!(found["source"], "index");
    let typo = env.ask(&["search", "jnae"]).exits(0);
    assert_eq!((&typo["searched_for"], &typo["hits"][0]["path"]), (&json!("jane"), &json!("people/jane_doe.md")));
}

#[test]
fn context_is_gathered_within_a_budget() {
    let env = Env::ada();
    let asked = json!({"action": "get_context", "query": "which company did Ada found?", "budget": 300});
    let outcome = env.act(&asked);
    assert_eq!(outcome["ok"], true, "{outcome}");
    let value = &outcome["value"];
    assert_eq!(value["left_out"], 0, "{value}");
    let paths: Vec<_> = value["parts"].as_array().unwrap().iter().map(|part| part["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"entities/acme.md") && paths.contains(&"user.md"), "{value}");
}

#[test]
fn rules_that_hide_nothing_from_a_search_leave_it_the_index() {
    let notes = &[("user.md", "# Ada\n\n- city: London\n"), ("private/a.md", "# A\n\n- city: Rome\n")];
    let others = "[[rule]]\naction = \"delete_file\"\nverdict = \"deny\"\n
        [[rule]]\npath = \"private/**\"\nverdict = \"ask\"\n";
    let all = found(&Env::with(notes).settings(others), &["city"]);
    assert_eq!((&all["source"], &all["total"]), (&json!("index"), &json!(2)), "{all}");
    let hidden = "[[rule]]\npath = \"private/**\"\nverdict = \"deny\"\n";
    let some = found(&Env::with(notes).settings(hidden), &["city"]);
    assert_eq!((&some["source"], &some["total"]), (&json!("scan"), &json!(1)), "{some}");
}

#[test]
fn a_rule_hides_notes_from_context() {
    let notes = &[
        ("user.md", "# Ada\n\n- employer: [[acme]]\n"),
        ("entities/acme.md", "# Acme\n\n- kind: company\n- ceo: [[boss]]\n"),
        ("boss.md", "# Boss\n\nOf [[acme]].\n"),
    ];
    for action in ["get_context", "search_files", "read_file"] {
        let rule = format!("[[rule]]\naction = \"{action}\"\npath = \"entities/**\"\nverdict = \"deny\"\n");
        let env = Env::with(notes).settings(&rule);
        for asked in [json!({"query": "acme company"}), json!({"path": "user.md"}), json!({"path": "boss.md"})] {
            let mut call = asked.clone();
            call["action"] = json!("get_context");
            let outcome = env.act(&call);
            let parts = outcome["value"]["parts"].as_array().unwrap();
            assert!(!parts.iter().any(|part| part["path"] == "entities/acme.md"), "{action} {outcome}");
        }
    }
}

#[test]
fn context_is_cut_to_the_word_that_was_meant() {
    let env = Env::with(&[("a.md", "# A\n\n## One\n\nnothing\n\n## Two\n\nthe wolframite is here\n")]);
    let value = env.act(&json!({"action": "get_context", "query": "wolframyte"}))["value"].clone();
    assert_eq!(value["parts"][0]["heading"], "Two", "{value}");
}

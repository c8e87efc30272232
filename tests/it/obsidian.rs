//! What a person has set aside in Obsidian: `check` says nothing of it, a search tells it last, and it loosens nothing.

use serde_json::{Value, json};

use crate::support::Env;

fn vault() -> Env {
    let env = Env::with(&[
        (
            "Templates/note.md",
            "---\ntags: [x]\n---\n# {{title}}\n\n- city: Rome\n- age: 3\n- city: Bern\n\n[[{{date}}]] [[gone/x]] amber amber amber\n",
        ),
        ("Archive/old.md", "# Old\n\n[[gone/y]] <script>x</script> amber amber\n"),
        ("daily/day.md", "[[{{date:YYYY}}]]\n"),
        ("notes/a.md", "# A\n\n[[Templates/note]] [[b]] the word amber stands here once, in many other words\n"),
        ("notes/b.md", "# B\n\n[[a]] [[gone/z]]\n"),
        ("notes/copy.md", "# Old\n\n[[gone/y]] <script>x</script> amber amber\n"),
    ]);
    env.quick()
}

fn settings(env: &Env) {
    env.write(
        ".obsidian/app.json",
        r#"{"userIgnoreFilters":["archive/","/^daily\\//","/(?=x)/"],"useMarkdownLinks":true}"#,
    );
    env.write(".obsidian/templates.json", r#"{"folder":"Templates"}"#);
}

/// Kind and path of each finding.
fn told(env: &Env) -> Vec<(String, String)> {
    let checked = env.ask(&["check"]).exits(0);
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    checked["findings"].as_array().unwrap().iter().map(|one| (text(one, "kind"), text(one, "path"))).collect()
}

#[test]
fn nothing_is_said_of_what_is_set_aside_but_what_is_dangerous() {
    let env = vault();
    let before = told(&env);
    for (kind, path) in [
        ("conflicting_fact", "Templates/note.md"),
        ("unwritten", "Templates/note.md"),
        ("broken_link", "Templates/note.md"),
        ("broken_link", "Archive/old.md"),
        ("duplicate", "Archive/old.md"),
        ("unwritten", "daily/day.md"),
    ] {
        assert!(before.contains(&(kind.to_owned(), path.to_owned())), "{kind} {path} in {before:?}");
    }
    settings(&env);
    let after: Vec<_> = told(&env);
    let expected = [
        // A folder that somebody sent hides nothing that would run.
        ("active_content", "Archive/old.md"),
        ("broken_link", "notes/b.md"),
        ("broken_link", "notes/copy.md"),
        ("active_content", "notes/copy.md"),
    ];
    let mut after: Vec<_> = after.iter().map(|(kind, path)| (kind.as_str(), path.as_str())).collect();
    after.retain(|(kind, _)| *kind != "orphan");
    assert_eq!(after, expected);
    // A link to a template leads there as before.
    let links = env.ask(&["links"]).exits(0);
    assert_eq!(links["backlinks"]["Templates/note.md"], json!(["notes/a.md"]));
}

#[test]
fn a_search_tells_what_is_set_aside_last() {
    let env = vault();
    let found = |env: &Env| -> Vec<String> {
        let answer = env.act(&json!({"action": "search_files", "query": "amber"}));
        let hits = answer["value"]["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
        hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found(&env), ["Templates/note.md", "Archive/old.md", "notes/copy.md", "notes/a.md"]);
    settings(&env);
    // The same from an index, which the first search has made, and for whoever asks without one.
    let expected = ["notes/copy.md", "notes/a.md", "Templates/note.md", "Archive/old.md"];
    assert_eq!(found(&env), expected);
    std::fs::remove_dir_all(env.home().join(".cache/memdir")).unwrap();
    assert_eq!(found(&env), expected);
}

#[test]
fn what_cannot_be_read_stops_nothing_and_the_doctor_says_so() {
    let env = vault();
    let before = told(&env);
    let obsidian = |env: &Env| {
        let checks: Value = serde_json::from_str(&env.ask(&["doctor"]).stdout).unwrap();
        checks["checks"].as_array().unwrap().clone().into_iter().find(|check| check["name"] == "obsidian")
    };
    assert_eq!(obsidian(&env), None);
    let deep = format!("{}1{}", "[".repeat(30_000), "]".repeat(30_000));
    for app in ["{", &deep, &" ".repeat(70_000), "{\"userIgnoreFilters\":[\"/(/\"]}"] {
        env.write(".obsidian/app.json", app);
        assert_eq!(told(&env), before);
        let check = obsidian(&env).unwrap();
        assert_eq!(check["status"], "warn", "{check}");
        assert!(check["message"].as_str().unwrap().contains("app.json"), "{check}");
    }
    #[cfg(unix)]
    {
        // No link is followed out of the memory, and a pipe is not waited for.
        std::fs::remove_file(env.at(".obsidian/app.json")).unwrap();
        let outside = env.base().join("app.json");
        std::fs::write(&outside, r#"{"userIgnoreFilters":["notes/"]}"#).unwrap();
        std::os::unix::fs::symlink(&outside, env.at(".obsidian/app.json")).unwrap();
        assert_eq!(told(&env), before);
        assert_eq!(obsidian(&env).unwrap()["status"], "warn");
        std::fs::remove_file(env.at(".obsidian/app.json")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(env.at(".obsidian/app.json")).status();
        assert!(made.unwrap().success());
        assert_eq!(told(&env), before);
        std::fs::remove_file(env.at(".obsidian/app.json")).unwrap();
    }
    settings(&env);
    let check = obsidian(&env).unwrap();
    assert!(check["message"].as_str().unwrap().contains("`/(?=x)/`"), "{check}");
    env.write(".obsidian/app.json", "{}");
    assert_eq!(obsidian(&env).unwrap()["status"], "ok");
}

//! `check`, `facts` and `links`: shapes, and that what is proposed mends what was found.

use serde_json::{Value, json};

use crate::support::{Env, finish};

/// A memory with one finding of nearly each kind.
fn faulty() -> Env {
    let env = Env::ada();
    env.write("user.md", "# Ada\n\n- city: London\n- age: 3\n- city: Paris\n- at: [[x/acmee]], [[x/acmee|again]], [[acmee]]\r\n- in: [A](acme.md#Basic%20Informations)\n");
    env.write("old.md", "nobody links here\n");
    env.write("copies/acme.md", env.read("entities/acme.md"));
    env.write("entities/Acme.md", "# ACME\n\n[[user]]\n");
    env.write("entities/plan: b.md", "[[user]] ![](https://example.org/pixel.png)\n");
    env.write("entities/acme.sync-conflict-memdir-3.md", "[[user]]\n");
    env.write("long.md", format!("[[user]] {}", "x".repeat(1 << 20)));
    env
}

fn kinds(checked: &Value) -> Vec<&str> {
    checked["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

#[test]
fn the_shape_of_findings() {
    let env =
        Env::with(&[("user.md", "- at: [[acmee.md]]\n- next: [[Iceland]]\n"), ("acme.md", "a\n"), ("old.md", "b\n")]);
    let checked = env.ask(&["check"]).exits(0);
    let orphan = |path: &str| {
        json!({"kind": "orphan", "path": path, "line": null, "target": null,
        "message": format!("no link leads to `{path}`, and none from it"), "action": null, "sides": []})
    };
    let expected = json!({"findings": [
        orphan("acme.md"),
        orphan("old.md"),
        {"kind": "broken_link", "path": "user.md", "line": 1, "target": "acmee.md",
         "message": "there is no file `acmee.md`; the nearest is `acme.md`",
         "action": {"action": "update_file", "path": "user.md", "old_content": "[[acmee.md]]", "new_content": "[[acme.md]]"}, "sides": []},
        {"kind": "unwritten", "path": "user.md", "line": 2, "target": "Iceland",
         "message": "`Iceland` is not written yet", "action": null, "sides": []},
    ], "notes": 3, "links": 2});
    assert_eq!(checked, expected);
    let some = env.ask(&["check", "--kind", "broken_link"]).exits(0);
    assert_eq!((kinds(&some), &some["notes"]), (vec!["broken_link"], &json!(3)));
    let shown = env.run(&["check"], "");
    assert_eq!(
        shown.stdout,
        "1 broken link\n1 link to notes not written yet\n2 notes without links\n\n\
         user.md:1  there is no file `acmee.md`; the nearest is `acme.md`\n\
         acme.md  no link leads to it, and none from it\n\
         old.md  no link leads to it, and none from it\n\
         1 × [[Iceland]]  not written yet, in user.md:2\n\n\
         looked through 3 notes and 2 links\n"
    );
    assert!(shown.stderr.contains("`memdir tidy` proposes how to mend 1 of these"), "{shown:?}");
    assert_eq!(env.ask(&["check", "--kind", "nonsense"]).code, 2);
    assert!(!env.at(".memdir").exists());
}

#[test]
fn each_kind_is_found_and_nothing_else() {
    let env = faulty();
    let checked = env.ask(&["check"]).exits(0);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for finding in checked["findings"].as_array().unwrap() {
        found.push((finding["path"].as_str().unwrap(), finding["kind"].as_str().unwrap()));
    }
    let expected = [
        ("entities/acme.md", "duplicate"),
        ("entities/acme.md", "unportable_name"),
        ("entities/acme.sync-conflict-memdir-3.md", "sync_conflict"),
        ("entities/plan: b.md", "unportable_name"),
        ("entities/plan: b.md", "active_content"),
        ("long.md", "oversized"),
        ("old.md", "orphan"),
        ("user.md", "conflicting_fact"),
        ("user.md", "broken_link"),
        ("user.md", "broken_link"),
        ("user.md", "unwritten"),
        ("user.md", "broken_link"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_worst_ten_are_shown_and_all_on_demand() {
    let links: String =
        (1..=30).map(|line| format!("[[gone/n{line}]] ![](https://example.org/{line}.png)\n")).collect();
    let text = format!("---\ncity: Rome\n---\n{links}\n- city: Bern\n\n<script>x</script>\n");
    let env = Env::with(&[("user.md", &text)]);
    let shown = env.run(&["check"], "").stdout;
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[..3], ["30 broken links", "1 conflicting fact", "1 note with active content"]);
    assert_eq!(lines[4..].iter().position(|line| *line == "and 22 more: `memdir check --all`"), Some(10), "{shown}");
    assert!(
        lines[4..14].iter().any(|line| line.contains("`- city: Bern` contradicts line 2, `city: Rome`")),
        "{shown}"
    );
    let all = env.run(&["check", "--all"], "").stdout;
    let active: Vec<_> = all.lines().filter(|line| line.contains("which a viewer")).collect();
    assert_eq!(active.len(), 1, "{all}");
    assert!(active[0].starts_with("user.md:4  ") && active[0].contains("30 places") && active[0].contains("a script"));
    assert_eq!(all.lines().filter(|line| line.starts_with("user.md:")).count(), 32, "{all}");
    assert_eq!(env.ask(&["check"]).exits(0)["findings"].as_array().unwrap().len(), 33);
}

/// Each proposed action alone, through `exec`, on a memory of its own.
#[test]
fn every_proposed_action_mends_its_finding() {
    let count = env_actions().len();
    assert!(count >= 5, "{count}");
    for (at, action) in env_actions().iter().enumerate() {
        let env = faulty();
        let before = env.ask(&["check"]).exits(0);
        let finding = |checked: &Value| {
            let all = checked["findings"].as_array().unwrap().clone();
            all.into_iter().filter(|finding| finding["action"] == *action).count()
        };
        assert_eq!(finding(&before), 1, "{at} {action}");
        let outcome = env.act(action);
        assert_eq!(outcome["ok"], json!(true), "{outcome}");
        let after = env.ask(&["check"]).exits(0);
        assert_eq!(finding(&after), 0, "{action} {after}");
        let (before, after) =
            (before["findings"].as_array().unwrap().len(), after["findings"].as_array().unwrap().len());
        assert!(after < before, "{action}");
    }
}

fn env_actions() -> Vec<Value> {
    let checked = faulty().ask(&["check"]).exits(0);
    let findings = checked["findings"].as_array().unwrap().clone();
    findings.into_iter().map(|mut finding| finding["action"].take()).filter(|action| !action.is_null()).collect()
}

#[test]
fn all_links_are_mended_in_one_batch() {
    let env = faulty();
    let actions: Vec<Value> =
        env_actions().into_iter().filter(|action| action["action"] == json!("update_file")).collect();
    // One of them takes out a line that another one contradicts.
    assert_eq!(actions.len(), 5);
    let report = env.exec(&json!(actions));
    assert!(report["actions"].as_array().unwrap().iter().all(|outcome| outcome["ok"] == json!(true)), "{report}");
    for kind in ["broken_link", "unwritten"] {
        assert_eq!(kinds(&env.ask(&["check", "--kind", kind]).exits(0)), Vec::<&str>::new());
    }
    assert!(env.read("user.md").contains("|again]], [[copies/acme]]\r\n"), "{}", env.read("user.md"));
}

#[test]
fn adopting_says_what_was_found_and_changes_no_byte() {
    let env = faulty();
    let before = env.seen();
    let made = env.ask(&["init"]).exits(0);
    assert_eq!((&made["created"], &made["notes"]), (&json!([]), &json!(8)));
    assert_eq!(made["findings"], env.ask(&["check"]).exits(0)["findings"]);
    let shown = finish(env.bare(&["init", env.memory().to_str().unwrap()]), b"").stdout;
    assert!(shown.contains("3 broken links, 1 link to notes not written yet, 1 note without links"), "{shown}");
    assert_eq!(env.seen(), before);
    assert!(!env.at(".memdir").exists());
}

#[test]
fn facts_in_pages() {
    let env = Env::ada();
    env.write("user.md", "---\ntags: [a, b]\n---\n# Ada\n- **Home City**: London\n");
    let fact = |path: &str, line: u64, heading: Value, key: &str, value: &str| {
        json!({"path": path, "line": line, "heading": heading, "key": key, "value": value,
        "state": "current", "since": null, "until": null})
    };
    let acme = "entities/acme.md";
    let all = [
        fact(acme, 5, json!("Basic Information"), "kind", "company"),
        fact(acme, 6, json!("Basic Information"), "founder", "[[user]]"),
        fact("user.md", 2, Value::Null, "tags", "a, b"),
        fact("user.md", 5, json!("Ada"), "Home City", "London"),
    ];
    assert_eq!(env.ask(&["facts"]).exits(0), json!({"facts": all, "total": 4, "cursor": null}));
    assert_eq!(env.ask(&["facts", "user.md"]).exits(0), json!({"facts": all[2..], "total": 2, "cursor": null}));
    let first = env.ask(&["facts", "--limit", "3"]).exits(0);
    assert_eq!((&first["facts"], &first["total"]), (&json!(all[..3]), &json!(4)));
    let second = env.ask(&["facts", "--limit", "3", "--cursor", first["cursor"].as_str().unwrap()]).exits(0);
    assert_eq!((&second["facts"], &second["cursor"]), (&json!(all[3..]), &Value::Null));
    assert_eq!(env.ask(&["facts", "--cursor", "x"]).exits(2)["error"]["code"], json!("usage"));
    assert_eq!(env.ask(&["facts", "gone.md"]).exits(4)["error"]["code"], json!("not_found"));
    assert_eq!(env.run(&["facts", "user.md"], "").stdout, "user.md:2  tags: a, b\nuser.md:5  Home City: London\n");
    // A page can end between facts of one line.
    env.write("x.md", "A line [a:: 1] with [b:: 2] three [c:: 3].\n");
    let first = env.ask(&["facts", "x.md", "--limit", "2"]).exits(0);
    let second = env.ask(&["facts", "x.md", "--limit", "2", "--cursor", first["cursor"].as_str().unwrap()]).exits(0);
    assert_eq!(second["facts"], json!([fact("x.md", 1, Value::Null, "c", "3")]));
}

#[test]
fn links_of_all_notes_and_of_one() {
    let env = Env::ada();
    env.write("user.md", "# Ada\n\n[[acme#Address|work]] [[acmee]]\n");
    let link = |target: &str, subpath: &str, text: Value, resolved: Value, status: &str, nearest: Value| {
        json!({"source": "user.md", "line": 3, "target": target, "subpath": subpath, "text": text, "kind": "wikilink",
            "resolved": resolved, "status": status, "nearest": nearest})
    };
    let acme = json!("entities/acme.md");
    let own = [
        link("acme", "#Address", json!("work"), acme.clone(), "broken_heading", Value::Null),
        link("acmee", "", Value::Null, Value::Null, "broken_file", acme),
    ];
    let of_one = env.ask(&["links", "user.md"]).exits(0);
    assert_eq!(of_one, json!({"links": own, "backlinks": {"user.md": ["entities/acme.md"]}}));
    let all = env.ask(&["links"]).exits(0);
    assert_eq!(all["links"].as_array().unwrap().len(), 3);
    assert_eq!(all["backlinks"], json!({"entities/acme.md": ["user.md"], "user.md": ["entities/acme.md"]}));
    assert_eq!(env.ask(&["links", "gone.md"]).exits(4)["error"]["code"], json!("not_found"));
    let shown = env.run(&["links", "user.md"], "").stdout;
    assert_eq!(
        shown,
        "user.md:3  acme#Address -> entities/acme.md, which has no such heading\n\
         user.md:3  acmee leads nowhere; the nearest is entities/acme.md\nlinked from entities/acme.md\n"
    );
}

#[test]
fn a_note_that_says_nearly_the_same_is_told_with_how_much() {
    let words: String = (0..100).map(|number| format!("word{number} ")).collect();
    let edited = words.replace("word50 ", "other ");
    let env = Env::with(&[("boat.md", &words), ("old/boat.md", &edited), ("short.md", "word1 word2 word3\n")]);
    let checked = env.ask(&["check", "--kind", "duplicate"]).exits(0);
    let finding = json!({
        "kind": "duplicate", "path": "old/boat.md", "line": null, "target": "boat.md", "action": null, "sides": [],
        "message": "`old/boat.md` is nearly the same as `boat.md` (94 % of it)",
    });
    assert_eq!(checked["findings"], json!([finding]));
}

#[test]
fn notes_that_are_not_written_yet_are_counted_by_name() {
    let links = "[[Projects]] and [[Projects#Old|p]]\n[[Rome]]\n";
    let other = format!("{links}and more that only this note says\n");
    let env = Env::with(&[("a.md", links), ("b.md", &other), ("c.md", "[[a]] [[b]] [[Projects]]\n")]);
    let shown = env.run(&["check"], "").stdout;
    let expected = "7 links to notes not written yet\n\n\
        5 × [[Projects]]  not written yet, in a.md:1, a.md:1, b.md:1 and 2 more\n\
        2 × [[Rome]]  not written yet, in a.md:2, b.md:2\n\n\
        looked through 3 notes and 9 links\n";
    assert_eq!(shown, expected);
    let all = env.run(&["check", "--all"], "").stdout;
    assert!(all.contains("5 × [[Projects]]  not written yet, in a.md:1, a.md:1, b.md:1, b.md:1, c.md:1\n"), "{all}");
}

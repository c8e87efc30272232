//! Whoever writes what contradicts the memory hears of it in the same turn, with the action that settles it.

use serde_json::{Value, json};

use crate::support::{Env, said};

const ADA: &str = "# Ada\n\n- city: London\n- born: 1990\n- job: nurse\n- pet: cat\n- car: none\n- height: 170 cm\n- eyes: green\n- shoes: 39\n";

fn issues(report: &Value) -> Vec<(Value, String)> {
    let issues = report["issues"].as_array().unwrap().iter().filter(|issue| issue["code"] == "contradiction");
    issues.map(|issue| (issue["index"].clone(), issue["message"].as_str().unwrap().to_owned())).collect()
}

/// The action in the words of an issue.
fn action(message: &str) -> Value {
    let (_, action) = message.split_once(", send ").unwrap();
    serde_json::from_str(action).unwrap()
}

#[test]
fn a_model_hears_what_it_contradicts_and_can_settle_it() {
    let env = Env::with(&[("user.md", ADA)]);
    let report = env.exec(&json!([
        {"action": "create_file", "path": "a.md", "content": "x\n"},
        {"action": "append_file", "path": "user.md", "content": "- city: Paris\n"},
    ]));
    let told = issues(&report);
    assert_eq!(told.len(), 1, "{report}");
    assert_eq!(told[0].0, json!(2));
    assert!(told[0].1.contains("`- city: Paris`") && told[0].1.contains("`- city: London`"), "{told:?}");
    assert_eq!(report["actions"][1]["ok"], json!(true), "nothing is refused");
    assert_eq!(env.act(&action(&told[0].1))["ok"], json!(true));
    assert_eq!(env.read("user.md"), ADA.replace("- city: London\n", "") + "- city: Paris\n");
    assert_eq!(env.ask(&["check", "--kind", "conflicting_fact"]).exits(0)["findings"], json!([]));
}

#[test]
fn what_replaces_a_value_or_says_when_it_held_is_told_nothing() {
    let env = Env::with(&[("user.md", ADA)]);
    for action in [
        json!({"action": "set_fact", "path": "user.md", "key": "city", "value": "Paris"}),
        json!({"action": "append_file", "path": "user.md", "content": "- city: Rome (2010–2015)\n"}),
        json!({"action": "append_file", "path": "user.md", "content": "- hobby: chess\n- hobby: rowing\n- hobby: go\n- hobby: tennis\n"}),
        json!({"action": "read_file", "path": "user.md"}),
        json!({"action": "rename_file", "path": "user.md", "new_path": "ada.md"}),
    ] {
        assert_eq!(issues(&env.exec(&json!([action]))), [], "{action}");
    }
}

#[test]
fn a_write_that_makes_front_matter_unreadable_is_made_and_told() {
    let env = Env::with(&[("a.md", "---\ntitle: Dune\n---\nx\n"), ("b.md", "---\ntitle: a: b\n---\nx\n")]);
    let report = env.exec(&json!([
        {"action": "append_file", "path": "b.md", "content": "y\n"},
        {"action": "update_file", "path": "a.md", "old_content": "Dune", "new_content": "Dune: Part Two"},
    ]));
    let [issue] = report["issues"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&issue["code"], &issue["index"]), (&json!("unread_front_matter"), &json!(2)), "{report}");
    assert_eq!(env.read("a.md"), "---\ntitle: Dune: Part Two\n---\nx\n");
    let found = env.ask(&["check", "--kind", "unreadable"]).exits(0);
    let found: Vec<_> = found["findings"].as_array().unwrap().iter().map(|one| (&one["path"], &one["line"])).collect();
    assert_eq!(found, [(&json!("a.md"), &json!(2)), (&json!("b.md"), &json!(2))]);
}

/// A contradiction with another note is told with an index, and a note of another folder is not read for it without one.
#[test]
fn another_note_is_known_by_the_index_alone() {
    let acme = "# Acme\n\n- founded: 1999\n- city: Rome\n- staff: 20\n- boss: Ann\n- phone: 1\n- site: acme.example\n- kind: firm\n- mood: good\n- logo: red\n";
    let minutes = json!([{"action": "create_file", "path": "minutes/may.md", "content": "# May\n\n## [[acme]]\n\n- founded: 2001\n"}]);
    let env = Env::with(&[("companies/acme.md", acme), ("user.md", ADA)]);
    assert_eq!(issues(&env.exec(&minutes)), []);
    let env = Env::with(&[("companies/acme.md", acme), ("user.md", ADA)]);
    env.ask(&["search", "acme"]).exits(0);
    let told = issues(&env.exec(&minutes));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("`- founded: 1999`") && told[0].1.contains("companies/acme.md"), "{told:?}");
    assert_eq!(action(&told[0].1)["path"], json!("companies/acme.md"));
}

/// `remember` names no path; what its note then contradicts is told to its call all the same.
#[test]
fn a_contradiction_belongs_to_the_call_that_found_its_note_by_itself() {
    let team = "# Team\n\n| Name | City |\n|---|---|\n| [[ada]] | London |\n| Eva | Rome |\n";
    let env = Env::with(&[("people/ada.md", ADA), ("work/team.md", team)]);
    env.ask(&["search", "ada"]).exits(0);
    let report = env.exec(&json!([
        {"action": "read_file", "path": "people/ada.md"},
        {"action": "remember", "note": "Ada", "key": "city", "value": "Paris"},
    ]));
    let told = issues(&report);
    assert_eq!(told.len(), 1, "{report}");
    assert_eq!(told[0].0, json!(2), "{told:?}");
    assert!(told[0].1.contains("work/team.md"), "{told:?}");
}

/// What a row of a table, a callout and a numbered item say is told as what an item of a list says is.
#[test]
fn a_contradiction_is_told_whatever_it_stands_in() {
    for fact in [
        "| key | value |\n|---|---|\n| city | Paris |\n",
        "> [!info] Update\n> city: Paris\n",
        "1. city: Paris\n",
        "> **City**: Paris\n",
    ] {
        let env = Env::with(&[("user.md", ADA)]);
        let told =
            issues(&env.exec(&json!([{"action": "append_file", "path": "user.md", "content": format!("\n{fact}")}])));
        assert_eq!(told.len(), 1, "{fact}");
        assert_eq!(env.act(&action(&told[0].1))["ok"], json!(true), "{fact}");
        assert_eq!(env.read("user.md"), format!("{}\n{fact}", ADA.replace("- city: London\n", "")));
    }
}

/// A row about another note is told to whoever writes it, and `review` asks which of the two holds.
#[test]
fn a_row_about_another_note_is_told_and_asked() {
    let env = Env::with(&[("people/ada.md", ADA), ("user.md", "# Me\n\n- name: Tom\n")]);
    env.ask(&["search", "ada"]).exits(0);
    let table = "# Team\n\n| Name | City | Desk |\n|---|---|---|\n| [[ada]] | Paris | 4 |\n| Eva | Rome | 5 |\n";
    let told = issues(&env.exec(&json!([{"action": "create_file", "path": "work/team.md", "content": table}])));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("`| [[ada]] | Paris | 4 |` contradicts line 3 of `people/ada.md`"), "{told:?}");
    let asked = env.ask(&["review"]).exits(0);
    let question = &asked["questions"][0];
    assert_eq!((&question["kind"], &question["key"]), (&json!("disputed"), &json!("City")), "{asked}");
    assert_eq!(
        (&question["value"], &question["path"], &question["line"]),
        (&json!("Paris"), &json!("work/team.md"), &json!(5))
    );
    // Each way to settle it leaves the rest of the row.
    let checked = env.ask(&["check", "--kind", "conflicting_fact"]).exits(0);
    assert_eq!(env.act(&checked["findings"][0]["action"])["ok"], json!(true));
    assert_eq!(env.read("work/team.md"), table.replace("Paris", "London"));
    for (answer, ada, team) in [
        ("2", ADA.replace("- city: London\n", ""), table.to_owned()),
        ("1", ADA.to_owned(), table.replace("Paris", "London")),
        ("= Oslo", ADA.replace("London", "Oslo"), table.replace("Paris", "Oslo")),
    ] {
        let env = Env::with(&[("people/ada.md", ADA), ("work/team.md", table)]);
        crate::review::answer_all(&env, &[answer]);
        assert_eq!((env.read("people/ada.md"), env.read("work/team.md")), (ada, team), "{answer}");
        assert_eq!(env.ask(&["check", "--kind", "conflicting_fact"]).exits(0)["findings"], json!([]));
    }
}

#[test]
fn what_is_not_done_yet_is_told_before() {
    let env = Env::with(&[("user.md", ADA)]);
    let text = said(&json!([{"action": "append_file", "path": "user.md", "content": "- city: Paris\n"}]));
    let report = env.say(&text, &["--dry-run"]).json();
    assert_eq!(issues(&report).len(), 1, "{report}");
    assert_eq!(env.read("user.md"), ADA);
}

/// The index and the disk still hold what the batch renames or deletes.
#[test]
fn a_dry_run_compares_with_nothing_that_the_batch_takes_away() {
    let moved = ADA.replace("London", "Porto");
    for calls in [
        json!([
            {"action": "set_fact", "path": "people/ada.md", "key": "city", "value": "Porto"},
            {"action": "rename_file", "path": "people/ada.md", "new_path": "ada.md"},
        ]),
        json!([
            {"action": "set_fact", "path": "people/ada.md", "key": "city", "value": "Porto"},
            {"action": "rename_file", "path": "people", "new_path": "friends"},
        ]),
        json!([
            {"action": "delete_file", "path": "people/ada.md"},
            {"action": "create_file", "path": "ada.md", "content": moved},
        ]),
    ] {
        let env = Env::with(&[("people/ada.md", ADA), ("a.md", "x\n")]);
        env.ask(&["search", "London"]).exits(0);
        let report = env.say(&said(&calls), &["--dry-run"]).json();
        assert_eq!(report["actions"][1]["ok"], json!(true), "{report}");
        assert_eq!(issues(&report), [], "{report}");
    }
}

#[test]
fn both_sides_of_a_finding_say_who_wrote_them() {
    let env = Env::with(&[("user.md", ADA)]);
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "- city: Paris\n"}]));
    let checked = env.ask(&["check", "--kind", "conflicting_fact"]).exits(0);
    let sides = &checked["findings"][0]["sides"];
    let side = |at: usize| (sides[at]["path"].clone(), sides[at]["line"].clone(), sides[at]["by"]["by"].clone());
    assert_eq!(side(0), (json!("user.md"), json!(11), json!("model")));
    assert_eq!(side(1), (json!("user.md"), json!(3), json!("outside")));
}

/// A row of a wide table in the note itself stays a row, whatever is answered, and the lines below it stay theirs.
#[test]
fn a_row_of_the_note_itself_is_settled_by_its_cell() {
    let people = (0..6).map(|at| {
        (
            format!("p{at}.md"),
            format!("# Person {at}\n\n- phone: 90{at}\n- boss: [[p1]]\n- city: City {at}\n- pet: dog\n"),
        )
    });
    let table = "# Eva\n\n| phone | boss | city |\n|---|---|---|\n| 911 | [[p1]] | Genoa |\n";
    let notes = |eva: &str| -> Vec<(String, String)> {
        people.clone().chain([("eva.md".to_owned(), eva.to_owned())]).collect()
    };
    let env_of = |notes: &[(String, String)]| {
        Env::with(&notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>())
    };
    let both = format!("{table}\n- pet: cat\n- city: Bern\n");
    for (answer, after) in [
        ("= Oslo", both.replace("Genoa", "Oslo").replace("Bern", "Oslo")),
        ("1", both.replace("- city: Bern\n", "")),
        ("2", both.replace("Genoa", "Bern")),
    ] {
        let env = env_of(&notes(&both));
        crate::review::answer_all(&env, &[answer]);
        assert_eq!(env.read("eva.md"), after, "{answer}");
    }
    // What was just written is not what goes.
    let env = env_of(&notes(&format!("{table}\n- pet: cat\n")));
    env.ask(&["search", "eva"]).exits(0);
    let told = issues(&env.exec(&json!([{"action": "set_fact", "path": "eva.md", "key": "city", "value": "Bern"}])));
    let [(_, message)] = told.as_slice() else { panic!("{told:?}") };
    let written = env.read("eva.md");
    assert!(written.contains("- city: Bern\n"), "{written}");
    assert_eq!(env.act(&action(message))["ok"], json!(true));
    assert_eq!(env.read("eva.md"), written.replace("Genoa", "Bern"));
}

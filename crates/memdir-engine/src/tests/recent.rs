//! `recent`: what was changed, by days, and who is told what of it.

use serde_json::Value as Json;

use super::*;

/// An engine on this day, at noon.
fn on(root: &Path, day: fn() -> Timestamp) -> Engine {
    let mut engine = engine(root);
    engine.settings.clock = day;
    engine.settings.batch_actions = 100;
    engine
}

fn the_10th() -> Timestamp {
    Timestamp::parse("2026-11-10T12:00:00Z").unwrap()
}

fn the_20th() -> Timestamp {
    Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
}

fn the_21st() -> Timestamp {
    Timestamp::parse("2026-11-21T23:59:59Z").unwrap()
}

fn act(engine: &Engine, caller: Caller, calls: &Json) -> Json {
    let text = format!("<actions>{calls}</actions>");
    serde_json::to_value(run(engine, text, caller)).unwrap()
}

#[track_caller]
fn recent(engine: &Engine, caller: Caller, mut arguments: Json) -> Json {
    arguments["action"] = json!("recent");
    let report = act(engine, caller, &json!([arguments]));
    assert_eq!(report["actions"][0]["ok"], true, "{report}");
    report["actions"][0]["value"].clone()
}

fn lived() -> tempfile::TempDir {
    let folder = memory(&[("user.md", "# Ada\n\n- city: Porto\n")]);
    let root = folder.path();
    std::fs::create_dir(root.join("health")).unwrap();
    let set = |value: &str| json!([{"action": "set_fact", "path": "user.md", "key": "city", "value": value}]);
    act(&on(root, the_10th), caller(), &set("Faro"));
    let note = json!([{"action": "create_file", "path": "health/teeth.md", "content": "# Teeth\n\n- next: May\n"}]);
    act(&on(root, the_20th), caller(), &note);
    act(&on(root, the_20th), caller(), &set("Braga"));
    act(&on(root, the_21st), caller(), &set("Lagos"));
    folder
}

#[test]
fn the_newest_day_comes_first_in_words() {
    let folder = lived();
    let engine = on(folder.path(), the_21st);
    let told = recent(&engine, caller(), json!({}));
    let expected = json!({"left_out": 0, "days": [
        {"date": "2026-11-21", "conversations": [], "changes": [{"path": "user.md", "did": ["city: Braga → Lagos"]}]},
        {"date": "2026-11-20", "conversations": [], "changes": [
            {"path": "user.md", "did": ["city: Faro → Braga"]},
            {"path": "health/teeth.md", "did": ["new note, 3 lines"]},
        ]},
    ]});
    assert_eq!(told, expected);
    let days = |arguments: Json| {
        let told = recent(&engine, caller(), arguments);
        let days = told["days"].as_array().unwrap().iter().map(|day| day["date"].as_str().unwrap().to_owned());
        days.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(days(json!({"days": 1})), "2026-11-21");
    assert_eq!(days(json!({"days": 12})), "2026-11-21 2026-11-20 2026-11-10");
    assert_eq!(days(json!({"since": "2026-11-10", "until": "2026-11-19"})), "2026-11-10");
    assert_eq!(days(json!({"until": "2026-11-20"})), "2026-11-20");
    assert_eq!(days(json!({"until": "2026-01-20"})), "");
    let wrong = act(&engine, caller(), &json!([{"action": "recent", "since": "2026-11-20", "until": "2026-11-10"}]));
    assert_eq!(wrong["actions"][0]["error"]["code"], "invalid_action");
}

#[test]
fn what_was_undone_is_not_told() {
    let folder = lived();
    let engine = on(folder.path(), the_21st);
    let change = engine.propose_undo(None).unwrap();
    engine.conclude_change(change, &Caller::person("cli")).unwrap();
    let told = recent(&engine, caller(), json!({"days": 1}));
    assert_eq!(told, json!({"days": [], "left_out": 0}));
}

#[test]
fn more_than_fits_is_counted() {
    let folder = lived();
    let engine = on(folder.path(), the_21st);
    let make = |name: usize| json!({"action": "create_file", "path": format!("note {name} {}.md", "x".repeat(150)), "content": "x"});
    for batch in 0..10 {
        act(&engine, caller(), &Json::from((0..10).map(|note| make(batch * 10 + note)).collect::<Vec<_>>()));
    }
    let told = recent(&engine, caller(), json!({}));
    let shown: usize =
        told["days"].as_array().unwrap().iter().map(|day| day["changes"].as_array().unwrap().len()).sum();
    assert!(told.to_string().len() <= 8_500, "{}", told.to_string().len());
    // One of these notes was changed twice before.
    assert_eq!(shown + usize::try_from(told["left_out"].as_u64().unwrap()).unwrap(), 103);
}

#[test]
fn who_sees_a_part_is_told_of_that_and_no_text_of_the_past() {
    let folder = lived();
    let engine = on(folder.path(), the_21st);
    let grant = Grant::new(&["*.md".to_owned()], &[], None).unwrap();
    let part = Caller { grant: Some(Arc::new(grant)), ..caller() };
    let told = recent(&engine, part.clone(), json!({"days": 30}));
    assert!(!told.to_string().contains("teeth") && !told.to_string().contains("Braga"), "{told}");
    let dates: Vec<&Json> = told["days"].as_array().unwrap().iter().map(|day| &day["changes"]).collect();
    assert_eq!(dates, vec![&json!([{"path": "user.md", "did": ["changed"]}]); 3]);
    let mut ruled = on(folder.path(), the_21st);
    let rule = Rule {
        action: Some("read_file".to_owned()),
        path: Some("health/**".to_owned()),
        client: None,
        detector: None,
        verdict: Verdict::Deny,
    };
    ruled.set_rules(Rules::new(vec![rule]).unwrap());
    assert_eq!(recent(&ruled, caller(), json!({"days": 30})), told);
}

#[test]
fn a_note_that_moved_out_of_sight_is_told_under_no_name() {
    let folder = lived();
    let engine = on(folder.path(), the_21st);
    let make = json!([{"action": "create_file", "path": "lover.md", "content": "# L\n"}]);
    act(&engine, caller(), &make);
    act(&engine, caller(), &json!([{"action": "rename_file", "path": "lover.md", "new_path": "health/lover.md"}]));
    let grant = Grant::new(&["*.md".to_owned()], &[], None).unwrap();
    let part = Caller { grant: Some(Arc::new(grant)), ..caller() };
    let told = recent(&engine, part.clone(), json!({"days": 30}));
    let history = act(&engine, part.clone(), &json!([{"action": "get_history", "path": "lover.md"}]));
    let brief = engine.brief(&part, None, 300).to_string();
    assert!(![told.to_string(), brief].iter().any(|text| text.contains("lover")), "{told}");
    assert_eq!(history["actions"][0]["error"]["code"], "not_found", "{history}");
    act(&engine, caller(), &json!([{"action": "delete_file", "path": "user.md"}]));
    assert!(recent(&engine, part, json!({})).to_string().contains("user.md"), "it was deleted in their sight");
}

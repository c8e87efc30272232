//! Canvases: their cards follow a rename by every way to it, undo gives them back, and `check` sees where they lead.

use memdir_engine::IndexPlace;
use serde_json::{Value, json};

use crate::support::{Env, engine};

const BOARD: &str = "{\r\n\t\"nodes\":[\r\n\t\t{\"id\":\"a\",\"type\":\"file\",\"file\":\"people/Zo\\u00eb.md\",\"subpath\":\"#Work\",\"x\":-0.50},\r\n\
    \t\t{\"id\":\"b\",\"type\":\"text\",\"text\":\"# Plan\\n[[zo\u{eb}|her]] and [[Iceland]]\"},\r\n\
    \t\t{\"id\":\"c\",\"type\":\"group\",\"background\":\"pics/sea.png\"}\r\n\t],\r\n\t\"edges\":[]\r\n}\r\n";

fn memory() -> Env {
    let env = Env::with(&[
        ("people/Zo\u{eb}.md", "# Zo\u{eb}\n\n## Work\n\n- at: a bank\n"),
        ("pics/sea.png", "no picture"),
        ("boards/plan.canvas", BOARD),
        ("user.md", "# Ada\n\n- friend: [[Zo\u{eb}]]\n"),
    ]);
    env.quick()
}

/// The paths on a canvas, as another reader of JSON has them.
fn shown(text: &str) -> Vec<String> {
    let canvas: Value = serde_json::from_str(text).unwrap();
    let nodes = canvas["nodes"].as_array().unwrap().iter();
    nodes.filter_map(|node| Some(node.get("file").or(node.get("background"))?.as_str()?.to_owned())).collect()
}

#[test]
fn a_move_takes_the_cards_along_and_undo_gives_them_back() {
    let env = memory();
    assert_eq!(env.run(&["mv", "people", "friends/close"], "").code, 0);
    let moved = env.read("boards/plan.canvas");
    assert_eq!(moved, BOARD.replace("people/Zo\\u00eb.md", "friends/close/Zo\u{eb}.md"));
    assert_eq!(shown(&moved), ["friends/close/Zo\u{eb}.md", "pics/sea.png"]);
    assert_eq!(env.run(&["undo"], "").code, 0);
    assert_eq!(env.read("boards/plan.canvas"), BOARD);
    let report = env.act(&json!({"action": "rename_file", "path": "pics/sea.png", "new_path": "sea.png"}));
    assert_eq!(report["ok"], true, "{report}");
    assert_eq!(env.read("boards/plan.canvas"), BOARD.replace("pics/sea.png", "sea.png"));
    // The text of a card is Markdown.
    env.act(&json!({"action": "rename_file", "path": "people/Zo\u{eb}.md", "new_path": "people/anna.md"}));
    let expected = BOARD.replace("pics/sea.png", "sea.png").replace("people/Zo\\u00eb.md", "people/anna.md");
    assert_eq!(env.read("boards/plan.canvas"), expected.replace("[[zo\u{eb}|", "[[anna|"));
}

#[test]
fn an_index_changes_nothing_for_canvases() {
    let (with, without) = (memory(), memory());
    with.ask(&["search", "bank"]).exits(0);
    let index = with.home().join("index.sqlite");
    let indexed = engine::indexed(with.memory(), IndexPlace::File(index));
    engine::exec(&indexed, &json!([{"action": "search_files", "query": "bank"}]));
    let rename = json!([
        {"action": "rename_file", "path": "people/Zo\u{eb}.md", "new_path": "z.md"},
        {"action": "rename_file", "path": "pics", "new_path": "p/q"},
    ]);
    let (ours, theirs) = (engine::exec(&indexed, &rename), engine::exec(&engine::open(without.memory()), &rename));
    assert_eq!(ours["changed"], theirs["changed"]);
    assert!(ours["changed"].as_array().unwrap().contains(&json!("boards/plan.canvas")), "{ours}");
    assert_eq!(shown(&with.read("boards/plan.canvas")), ["z.md", "p/q/sea.png"]);
    // What a batch displaced is removed by the end of the process at the latest.
    drop(indexed);
    assert_eq!(with.files(), without.files());
}

/// Checks that a text of a card is forgotten, now and in the history, and that nothing else of the canvas is.
#[track_caller]
fn check_forgotten(text: &str, left: &str) {
    let card = "Zo\u{eb} said \"the blue zebra\"\nand left";
    let python = json!({"nodes": [{"id": "1", "type": "text", "text": card}], "edges": []}).to_string();
    let python = python.replace('\u{eb}', "\\u00eb");
    let env = Env::with(&[("wall.canvas", &python)]).quick();
    env.act(&json!({"action": "rename_file", "path": "wall.canvas", "new_path": "door.canvas"}));
    env.ask(&["forget", "--text", text, "--yes"]).exits(0);
    let canvas: Value = serde_json::from_str(&env.read("door.canvas")).unwrap();
    assert_eq!(canvas["nodes"][0]["text"], left, "{text}");
    assert_eq!(env.ask(&["forget", "--text", text, "--yes"]).exits(4)["error"]["code"], "not_found");
}

#[test]
fn what_a_card_says_is_forgotten_however_it_is_written() {
    check_forgotten("said \"the blue zebra\"", "Zo\u{eb} \nand left");
    check_forgotten("Zo\u{eb} said", " \"the blue zebra\"\nand left");
    check_forgotten("zebra\"\nand", "Zo\u{eb} said \"the blue  left");
}

#[test]
fn letters_of_an_escape_are_none_of_a_text() {
    let canvas = r#"{"nodes":[{"type":"text","text":"we left\nabout ten"}]}"#;
    let env = Env::with(&[("wall.canvas", canvas)]).quick();
    env.run(&["forget", "--text", "nabout", "--yes"], "");
    assert_eq!(env.read("wall.canvas"), canvas);
}

#[test]
fn a_canvas_is_no_note() {
    let env = memory();
    let write = env.act(&json!({"action": "write_file", "path": "boards/plan.canvas", "content": "{}"}));
    assert_eq!(write["error"]["code"], "unsupported_file");
    assert_eq!(env.read("boards/plan.canvas"), BOARD);
}

#[test]
fn check_sees_where_the_cards_lead() {
    let env = memory();
    env.write("alone.md", "# Alone\n");
    env.write(
        "lost.canvas",
        "{\"nodes\":[\n{\"type\":\"file\",\"file\":\"gone/x.md\"},\n{\"type\":\"file\",\"file\":\"people/Zo\u{eb}.md\",\"subpath\":\"#Pets\"},\n\
         {\"type\":\"file\",\"file\":\"alone.md\"},\n{\"type\":\"group\",\"background\":\"Sea.png\"}]}",
    );
    env.write("bad.canvas", "{\"nodes\":[{\"type\":\"file\",\"file\":\"gone.md\"}");
    for _ in 0..2 {
        let checked = env.ask(&["check"]).exits(0);
        let findings = checked["findings"].as_array().unwrap().iter();
        let told: Vec<_> = findings
            .map(|finding| {
                let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
                (text("kind"), text("path"), finding["line"].as_u64().unwrap_or_default(), text("target"))
            })
            .collect();
        let told: Vec<_> = told.iter().map(|(a, b, c, d)| (a.as_str(), b.as_str(), *c, d.as_str())).collect();
        let expected = [
            ("unwritten", "boards/plan.canvas", 4, "Iceland"),
            ("broken_link", "lost.canvas", 2, "gone/x.md"),
            ("broken_link", "lost.canvas", 3, "people/Zo\u{eb}.md#Pets"),
            ("broken_link", "lost.canvas", 5, "Sea.png"),
        ];
        // `alone.md` is on a canvas, so it is no orphan; nothing is told of what is no canvas.
        assert_eq!(told, expected, "{checked}");
        assert!(checked["findings"].as_array().unwrap().iter().all(|finding| finding["action"].is_null()), "{checked}");
        // The second time from an index.
        env.ask(&["search", "bank"]).exits(0);
    }
    assert_eq!(env.run(&["rm", "alone.md"], "").code, 0);
    let checked = env.ask(&["check", "--kind", "broken_link"]).exits(0);
    assert!(checked.to_string().contains("there is no file `alone.md`"), "{checked}");
    let links = env.ask(&["links"]).exits(0);
    assert_eq!(links["backlinks"]["people/Zo\u{eb}.md"], json!(["boards/plan.canvas", "lost.canvas", "user.md"]));
}

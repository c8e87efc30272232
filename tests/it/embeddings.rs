//! Search by what notes mean, with a server that stands in for one with a model of embeddings.

use serde_json::{Value, json};

use crate::support::Env;
use crate::support::standin::{Answered, Standin};

/// A server that knows two things: animals, and all else.
fn standin() -> Standin {
    Standin::start(|asked| {
        let texts = asked.body["input"].as_array().unwrap().iter();
        let is_animal = |text: &str| ["feline", "cat"].iter().any(|animal| text.contains(animal));
        let point = |text: &Value| if is_animal(text.as_str().unwrap()) { json!([1, 0.1]) } else { json!([0.1, 1]) };
        let points: Vec<_> = texts.zip(0..).map(|(text, at)| json!({"index": at, "embedding": point(text)})).collect();
        Answered::json(200, &json!({ "data": points }))
    })
}

fn env(embeddings: &str) -> Env {
    let notes = [("a.md", "A feline.\n"), ("b.md", "A stone.\n"), ("c.md", "A tree.\n")];
    Env::with(&notes).quick().settings(&format!("[search]\n{embeddings}\n"))
}

fn at(standin: &Standin) -> Env {
    env(&format!("embeddings = \"ollama::tiny\"\naddress = \"{}\"", standin.root()))
}

#[track_caller]
fn paths(found: &Value) -> Vec<(&str, &Value)> {
    found["hits"].as_array().unwrap().iter().map(|hit| (hit["path"].as_str().unwrap(), &hit["why"])).collect()
}

/// What `doctor` says of embeddings.
fn doctor(env: &Env) -> Option<[String; 3]> {
    let said = env.ask(&["doctor"]).exits(0);
    let checks = said["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "embeddings")?;
    Some(["status", "message", "hint"].map(|key| check[key].as_str().unwrap_or_default().to_owned()))
}

#[test]
fn a_note_is_found_that_has_no_word_of_the_question() {
    let standin = standin();
    let env = at(&standin);
    let act = json!({"action": "search_files", "query": "cat"});
    assert_eq!(env.act(&act)["value"]["hits"], json!([]), "`exec` takes what is there");
    assert_eq!(standin.asked(), Vec::<Value>::new());
    assert!(doctor(&env).unwrap()[1].ends_with("0 of 3 notes have vectors"));
    let found = env.ask(&["search", "cat"]).exits(0);
    assert_eq!(paths(&found), [("a.md", &json!(["vector"]))]);
    let found = env.act(&act)["value"].clone();
    assert_eq!(paths(&found), [("a.md", &json!(["vector"]))]);
    let asked = standin.asked();
    let texts = |at: usize| asked[at]["input"].clone();
    assert_eq!(
        [texts(1), texts(2), texts(3), texts(4)],
        [json!(["memdir"]), json!(["a: A feline.", "b: A stone.", "c: A tree."]), json!(["cat"]), json!(["cat"])]
    );
    let [status, message, _] = doctor(&env).unwrap();
    let expected = format!("ollama::tiny: runs on this machine, at {}/v1; all 3 notes have vectors", standin.root());
    assert_eq!((status.as_str(), message), ("ok", expected));
    // Off again, words alone find.
    let off = env.set("MEMDIR_SEARCH_EMBEDDINGS", "");
    assert_eq!((paths(&off.ask(&["search", "cat"]).exits(0)), doctor(&off)), (vec![], None));
}

#[test]
fn a_server_that_does_not_answer_is_told_of_once_and_fails_nothing() {
    let failing = Standin::start(|_| Answered::error(401, "no"));
    let env = at(&failing);
    let ran = env.run(&["search", "stone"], "");
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("b.md:1  b")), "{ran:?}");
    assert_eq!(ran.stderr.matches("note: notes are found by their words alone:").count(), 1, "{ran:?}");
    let [status, message, _] = doctor(&env).unwrap();
    assert!(status == "warn" && message.contains("refuses the key"), "{message}");
}

#[test]
fn what_cannot_be_opened_is_said_with_what_to_do() {
    for (named, why, hint) in [
        ("olama::tiny", "no model `olama`", "did you mean `ollama`?"),
        ("anthropic::x", "environment has no `ANTHROPIC_API_KEY`", "set `ANTHROPIC_API_KEY` in the environment"),
        ("/nowhere/x.gguf", "", ""),
        ("some-name", "no model `some-name`", ""),
    ] {
        let env = env(&format!("embeddings = \"{named}\""));
        let ran = env.run(&["search", "stone"], "");
        assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("b.md:1  b")), "{ran:?}");
        let line = ran.stderr.lines().find(|line| line.starts_with("note: notes are found by their words alone: "));
        assert!(line.is_some_and(|line| line.contains(why)) && ran.stderr.contains(hint), "{named}: {ran:?}");
        assert_eq!(doctor(&env).unwrap()[0], "warn");
    }
    if !cfg!(feature = "gguf") {
        let [_, message, hint] = doctor(&env("embeddings = \"x.gguf\"")).unwrap();
        assert!(message.contains("built without the engine") && hint.contains("--features gguf"), "{message} {hint}");
    }
}

#[test]
fn a_filter_and_embeddings_elsewhere_do_not_go_together() {
    let model = Standin::answers(["<reply>Hi.</reply>"; 3]);
    // An address that is nobody's: it would be an error to send anything there.
    let elsewhere = "embeddings = \"openai-compatible::x\"\naddress = \"http://192.0.2.1:9/v1\"";
    let named = format!("[model]\nname = \"openai-compatible::scripted\"\naddress = \"{}\"", model.address());
    let env = env(&format!("{elsewhere}\n{named}"));
    let message = "Hello <filter>no phone numbers</filter>";
    let refused = env.ask(&["ask", message]);
    assert!(refused.code != 0 && refused.stdout.contains("a filter does not go together"), "{refused:?}");
    assert!(refused.stdout.contains("192.0.2.1:9") && model.asked().is_empty(), "{refused:?}");
    let off = env.set("MEMDIR_SEARCH_EMBEDDINGS", "");
    assert_eq!(off.ask(&["ask", message]).exits(0)["reply"], "Hi.");
}

//! The page beside an editor, and beside ten clients of MCP: no edit is lost, and the history accounts for each.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::json;

use super::{Served, Visit, field};
use crate::support::Env;
use crate::support::rpc::{Client, MODERN};
use crate::support::wire::Answer;

/// The form of a note, as the page shows it: its text and the digest that goes with it.
#[derive(Clone)]
struct Form {
    text: String,
    digest: String,
}

impl Form {
    #[track_caller]
    fn of(page: &Answer) -> Self {
        let pattern = Regex::new(r#"(?s)<textarea[^>]*\bname="content"[^>]*>\n?(.*?)</textarea>"#).unwrap();
        let text = pattern.captures(&page.body).unwrap_or_else(|| panic!("no form: {page:?}"))[1].to_owned();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        Self { text, digest: field(&page.body, "digest").unwrap() }
    }

    fn open(visit: &Visit, path: &str) -> Self {
        Self::of(&visit.get(&format!("/edit/{path}")))
    }

    fn save(&self, visit: &Visit, path: &str) -> Answer {
        visit.post(&format!("/edit/{path}"), &[("content", &self.text), ("digest", &self.digest), ("part", "1")])
    }
}

#[test]
fn a_page_and_an_editor_lose_no_edit_of_each_other() {
    let mut served = Served::start(Env::ada());
    let visit = served.visit();
    let (mut lines, path) = (vec!["# Ada".to_owned(), String::new(), "- city: London".to_owned()], "user.md");
    for round in 0..20 {
        let mut form = Form::open(&visit, path);
        form.text += &format!("- page: {round}\n");
        let is_edited = round % 2 == 0;
        if is_edited {
            lines.push(format!("- editor: {round}"));
            fs::write(served.env.at(path), lines.join("\n") + "\n").unwrap();
            let conflict = form.save(&visit, path);
            assert_eq!(conflict.status, 409, "{conflict:?}");
            assert_eq!(served.env.read(path), lines.join("\n") + "\n", "the editor's text stays");
            let (page, editor) = (format!("- page: {round}"), format!("- editor: {round}"));
            assert!(conflict.body.contains(&page) && conflict.body.contains(&editor), "both texts are shown");
            let kept = Form::of(&conflict);
            assert!(kept.text.contains(&page), "what was typed is still in the form");
            form = Form { text: lines.join("\n") + &format!("\n- page: {round}\n"), digest: kept.digest };
        }
        lines.push(format!("- page: {round}"));
        let saved = form.save(&visit, path);
        assert_eq!(saved.status, 303, "{saved:?}");
        assert_eq!(served.env.read(path), lines.join("\n") + "\n");
    }
    // A form that has waited since before all of it changes nothing either.
    let old = Form { text: "# All gone\n".to_owned(), digest: Form::open(&visit, "entities/acme.md").digest };
    assert_eq!(old.save(&visit, path).status, 409);
    assert_eq!(served.env.read(path), lines.join("\n") + "\n");
}

/// Adds lines through the page until `goes_on` says no; gives how many were saved and how often another was there first.
fn write_on_page(visit: &Visit, goes_on: &dyn Fn(usize) -> bool) -> (usize, usize) {
    let (mut saved, mut conflicts) = (0, 0);
    while goes_on(saved) {
        let mut form = Form::open(visit, "shared.md");
        form.text += &format!("- by page: {saved}.\n");
        match form.save(visit, "shared.md").status {
            303 => saved += 1,
            409 | 503 => conflicts += 1,
            status => panic!("status {status}"),
        }
        assert!(conflicts < 2000, "the page never gets its turn");
    }
    (saved, conflicts)
}

/// Ten clients and the page write into one note: for so many seconds as `MEMDIR_LOAD_SECONDS` says, else for a few rounds.
#[test]
fn a_page_and_ten_clients_lose_no_edit_of_each_other() {
    let env = Env::ada().quick();
    env.write("shared.md", "# Shared\n\n");
    let mut served = Served::start(env);
    let visit = served.visit();
    let seconds: Option<u64> = std::env::var("MEMDIR_LOAD_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let begin = Instant::now();
    let goes_on = |rounds: usize| seconds.map_or(rounds < 4, |seconds| begin.elapsed() < Duration::from_secs(seconds));
    let one = |who: usize| {
        let mut client = Client::open(&served.env, MODERN, &["--tools", "full"]);
        let mut done = 0;
        while goes_on(done) {
            let line = json!({"path": "shared.md", "content": format!("- by {who}: {done}.")});
            let answer = client.call("append_file", line);
            assert_ne!(answer["isError"], json!(true), "client {who}: {answer}");
            done += 1;
        }
        assert_eq!(client.close().code, 0);
        done
    };
    let (by_clients, (by_page, conflicts)) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..10).map(|who| scope.spawn(move || one(who))).collect();
        let page = write_on_page(&visit, &goes_on);
        let clients: Vec<usize> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        (clients, page)
    });
    let mut expected: Vec<String> = (0..by_page).map(|round| format!("- by page: {round}.")).collect();
    for (who, count) in by_clients.iter().enumerate() {
        expected.extend((0..*count).map(|round| format!("- by {who}: {round}.")));
    }
    let text = served.env.read("shared.md");
    let mut lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- by")).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected, "each line is there once");
    let log = served.env.ask(&["log", "--limit", "100000"]).exits(0);
    let mut doors: BTreeMap<String, usize> = BTreeMap::new();
    for entry in log["entries"].as_array().unwrap().iter().filter(|entry| !entry["batch"].is_null()) {
        *doors.entry(entry["door"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert_eq!(doors.get("web"), Some(&by_page), "{doors:?}");
    assert_eq!(doors.get("mcp"), Some(&by_clients.iter().sum()), "{doors:?}");
    assert_eq!(served.env.ask(&["audit", "verify"]).exits(0)["ok"], true);
    println!("{by_page} edits on the page, {conflicts} honest conflicts, {} by clients", expected.len() - by_page);
}

//! Seven things that a person does with the page, walked in a browser and counted: none takes more than three clicks from Home.
//!
//! They are walked twice, with the page's script and without.

use std::fs;

use serde_json::json;

use super::Served;
use super::browser::Browser;
use super::look::faults;
use crate::support::{Env, finish, said, until};

/// A way through the pages, from Home.
struct Walk<'b> {
    browser: &'b Browser,
    served: &'b Served,
    task: &'static str,
    steps: usize,
}

impl<'b> Walk<'b> {
    fn begin(browser: &'b Browser, served: &'b Served, task: &'static str) -> Self {
        browser.go(&served.url("/"));
        Self { browser, served, task, steps: 0 }
    }

    /// Clicks on the first of such elements that shows this text.
    fn click(&mut self, selector: &str, text: &str) -> &mut Self {
        self.steps += 1;
        self.browser.click_on(selector, text);
        self
    }

    /// Types into a field, in the place of what is in it, and sends it with Enter.
    fn send(&mut self, selector: &str, text: &str) -> &mut Self {
        self.steps += 1;
        self.browser.send(selector, text);
        self
    }

    /// The page shows this, and nothing went wrong on the way.
    #[track_caller]
    fn end(&self, shown: &str) {
        until(&format!("{}: {shown:?} is shown", self.task), || self.browser.text("body").contains(shown));
        assert!(self.steps <= 3, "{}: {} steps", self.task, self.steps);
        println!("{}: {} steps", self.task, self.steps);
        let faults = faults(self.browser, &self.served.url(""));
        assert!(faults.is_empty(), "{}: {faults:#?}", self.task);
    }
}

/// The story of `memdir demo`, a calendar helper that has read about Tomas, and a change that is to be taken back.
pub(super) fn story() -> Env {
    let env = Env::new().quick();
    fs::remove_dir(env.memory()).unwrap();
    finish(env.bare(&["demo", env.memory().to_str().unwrap(), "--json"]), b"").exits(0);
    env.ask(&["client", "add", "calendar"]).exits(0);
    let read = json!([{"action": "read_file", "path": "people/tomas_reis.md"}]);
    env.say(&said(&read), &["--client", "calendar"]).exits(0);
    let change =
        json!([{"action": "append_file", "path": "people/tomas_reis.md", "content": "- drinks: too much tea"}]);
    env.say(&said(&change), &["--client", "calendar"]).exits(0);
    let later = json!([{"action": "append_file", "path": "people/tomas_reis.md", "content": "- birthday: 3 May"}]);
    env.say(&said(&later), &["--client", "claude"]).exits(0);
    env
}

fn walk_all(with_scripts: bool) {
    let Some(browser) = Browser::start() else { return };
    let mut served = Served::start(story());
    let entrance = served.new_entrance();
    browser.scripts(with_scripts);
    browser.go(&entrance);
    let served = &served;
    let tomas = || served.env.read("people/tomas_reis.md");

    let mut walk = Walk::begin(&browser, served, "what does it know about Tomas?");
    walk.send("#find", "tomas").click("#results a[href^='/notes/people/tomas_reis.md']", "").end("sound engineer");

    let mut walk = Walk::begin(&browser, served, "and about my dentist?");
    walk.send("#find", "dentist").end("Nothing is known about this.");
    assert!(!browser.has("#results a[href^='/notes/people/tomas_reis.md']"), "nothing is known, and Tomas is shown");

    let mut walk = Walk::begin(&browser, served, "I live in Lisbon now");
    walk.click("#you a", "city: Porto").send("#to", "- city: Lisbon").end("Lisbon");
    let user = served.env.read("user.md");
    assert!(user.contains("- city: Lisbon") && !user.contains("- city: Porto"), "{user}");

    let mut walk = Walk::begin(&browser, served, "what is waiting for me?");
    walk.click("#summary a", "1 waits").click("#inbox button", "Yes").end("Undo");
    assert_eq!(served.env.ask(&["pending"]).exits(0)["pending"].as_array().map_or(0, Vec::len), 0);
    let known: Vec<String> = served.env.files().into_values().filter(|text| text.contains("+351")).collect();
    assert_eq!(known.len(), 1, "the number is known once");

    let (before, tea) = (tomas(), batch_that_wrote(served, "calendar"));
    let mut walk = Walk::begin(&browser, served, "undo one change and no other");
    walk.click("nav a", "History").click(&format!("#change-{tea} form[action='/undo'] button"), "Undo").end("Undo");
    assert_eq!(tomas(), before.replace("- drinks: too much tea\n", ""), "only that, and all of that");

    let mut walk = Walk::begin(&browser, served, "who has read this?");
    walk.click("#around a", "Tomas Reis").click("#readers", "").end("calendar");

    let mut walk = Walk::begin(&browser, served, "that program shall not see anything any more");
    walk.click("nav a", "Clients").click("a[href='/clients/calendar/revoke']", "").click("#revoke", "").end("calendar");
    let clients = served.env.ask(&["client", "list"]).exits(0);
    let is_gone = !clients["clients"]
        .as_array()
        .unwrap()
        .iter()
        .any(|client| client["name"] == "calendar" && client["revoked"].is_null());
    assert!(is_gone, "{clients}");

    let mut walk = Walk::begin(&browser, served, "forget this for good");
    walk.click("#around a", "Tomas Reis").click("#forget", "").click("#erase", "").end("Forgotten");
    check_forgotten(served, "birthday: 3 May");
}

/// The newest change of a client.
fn batch_that_wrote(served: &Served, client: &str) -> u64 {
    let log = served.env.ask(&["log"]).exits(0);
    let entries = log["entries"].as_array().unwrap();
    entries.iter().find(|entry| entry["client"] == client && !entry["batch"].is_null()).unwrap()["batch"]
        .as_u64()
        .unwrap()
}

/// No file holds it, nor the history or anything else that the memory keeps.
#[track_caller]
fn check_forgotten(served: &Served, text: &str) {
    for (path, bytes) in crate::support::files(served.env.memory()) {
        let found = bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!found, "{path} still holds {text:?}");
    }
}

#[test]
fn seven_tasks_take_three_clicks_each() {
    walk_all(true);
}

#[test]
fn seven_tasks_are_done_without_scripts() {
    walk_all(false);
}

#[test]
fn an_open_page_follows_what_becomes_of_its_note() {
    let Some(browser) = Browser::start() else { return };
    let served =
        Served::start(Env::with(&[("a.md", "# A\n\nthe first text\n"), ("b.md", "# B\n\nSee [[a]].\n")]).quick());
    browser.go(&served.entrance);
    let note = served.env.at("a.md");
    let shows = |what: &str, text: &str| until(what, || browser.text("#main").contains(text));
    browser.go(&served.url("/notes/a.md"));
    shows("the note", "the first text");
    // Once the system tells of changes, one is shown.
    let mut count = 0;
    until("changes appear", || {
        count += 1;
        fs::write(&note, format!("# A\n\ntext {count}\n")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        browser.text("#main").contains(&format!("text {count}"))
    });
    fs::remove_file(&note).unwrap();
    shows("it is deleted", "does not exist");
    assert!(!browser.has("#edit"), "nothing can be done with it");
    fs::write(&note, "# A\n\nthe second text\n").unwrap();
    shows("it is back", "the second text");
    assert!(browser.has("#edit"));
    fs::rename(&note, served.env.at("c.md")).unwrap();
    shows("it is renamed", "does not exist");
}

//! A hundred notes, written by somebody who wants the page to run or load something: `tests/web_hostile` and [`large`].
//!
//! They set `window.__pwned` or load something from `pwned.invalid` if anything in them is taken for more than text. Each ends with a
//! line `END-NN`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::browser::Browser;
use super::look::{crawl, faults};
use super::{Served, large, percent};
use crate::support::wire::Answer;
use crate::support::{Env, files, said, until};

/// The number of the note whose name is markup; no other system could check it out under that name.
const NAMED: &str = "58";
const NAME: &str = "58-<img src=x onerror=window.__pwned='58'>.md";

/// So many bytes may a note have that is also in the history and the inbox.
const SMALL: usize = 4096;

fn notes() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web_hostile");
    let small = files(&folder).into_iter().map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()));
    let mut notes: BTreeMap<String, String> = small.collect();
    let text = notes.remove("58-name.md").unwrap();
    notes.insert(NAME.to_owned(), text);
    notes.extend(large::notes().into_iter().map(|(name, text)| (format!("{name}.md"), text)));
    assert_eq!(notes.len(), 100);
    notes
}

/// A memory of the hostile notes. The small ones were made by a client with a hostile name, and wait once more in the inbox.
fn memory() -> Env {
    memory_of(notes())
}

fn memory_of(notes: BTreeMap<String, String>) -> Env {
    let env = Env::with(&[("user.md", "# Ada\n\n- city: London\n")]).quick();
    let made: Vec<_> = notes.clone().into_iter().filter(|(name, text)| name != NAME && text.len() <= SMALL).collect();
    for (folder, more) in [("", &[][..]), ("waits/", &["--permission", "all"])] {
        for made in made.chunks(20) {
            let actions = made.iter().map(
                |(name, text)| json!({"action": "create_file", "path": format!("{folder}{name}"), "content": text}),
            );
            let arguments = [&["--client", "<img src=x onerror=window.__pwned='client'>"], more].concat();
            let done = env.say(&said(&actions.collect()), &arguments);
            assert!(matches!(done.code, 0 | 3), "{done:?}");
        }
    }
    // The others, and what no client may make, are laid there by hand.
    for (name, text) in notes {
        if !env.at(&name).exists() {
            env.write(&name, text);
        }
    }
    // So that no page has to read all of it.
    env.ask(&["search", "pwned"]).exits(0);
    env
}

#[test]
fn a_hostile_note_is_shown_to_its_end_in_small_pages() {
    let mut served = Served::start(memory());
    let visit = served.visit();
    for (name, text) in notes() {
        let address = format!("/notes/{}", percent(&name));
        // A part that is not there is the last one.
        let parts = if text.len() > SMALL { &["", "?part=2", "?part=100000"][..] } else { &[""] };
        let answers: Vec<Answer> = parts.iter().map(|part| visit.get(&format!("{address}{part}"))).collect();
        for answer in &answers {
            assert_eq!(answer.status, 200, "{name}");
            assert!(answer.body.len() <= 100 * 1024, "{name}: {} bytes", answer.body.len());
        }
        let end = format!("END-{}", name.split('-').next().unwrap());
        let has_end = answers.iter().any(|answer| answer.body.contains(&end));
        // An unclosed comment is a comment to the end of the note.
        assert!(has_end || name.contains("unclosed"), "{name}: its end is not shown");
    }
}

#[test]
fn what_is_kept_of_hostile_notes_is_no_multiple_of_them() {
    let env = memory();
    let caches = files(&env.home().join(".cache"));
    let kept: usize = caches.values().map(Vec::len).sum();
    let written: usize = notes().values().map(String::len).sum();
    assert!((written / 10..4 * written).contains(&kept), "{kept} bytes are kept of {written}");
}

#[test]
fn nothing_in_a_hostile_note_runs_or_is_loaded() {
    let Some(browser) = Browser::start() else { return };
    let mut served = Served::start(memory());
    let (entrance, origin) = (served.new_entrance(), served.url(""));
    browser.go(&entrance);
    let mut wrong = Vec::new();
    let mut look = |address: &str| {
        browser.go(&served.url(address));
        wrong.extend(faults(&browser, &origin));
    };
    for name in notes().keys() {
        look(&format!("/notes/{}", percent(name)));
    }
    for (name, part) in [("71-one-megabyte-line", 2), ("75-nested-html", 2), ("81-many-references", 3)] {
        look(&format!("/notes/{name}.md?part={part}"));
    }
    assert!(wrong.is_empty(), "{} faults: {wrong:#?}", wrong.len());
    let network = browser.close();
    assert!(network.contains(&served.host) && !network.contains("pwned.invalid"), "a foreign name was looked up");
}

#[test]
fn nothing_hostile_runs_on_the_pages_that_tell_of_notes() {
    let Some(browser) = Browser::start() else { return };
    let small = notes().into_iter().filter(|(_, text)| text.len() <= SMALL);
    let mut served = Served::start(memory_of(small.collect()));
    let searches =
        ["pwned", "script", "onerror", "END", "svg", "<img"].map(|word| format!("/search?q={}", percent(word)));
    let seeds: Vec<&str> = ["/", "/notes"].into_iter().chain(searches.iter().map(String::as_str)).collect();
    let (pages, mut wrong) = crawl(&served.visit(), &seeds, 8);
    let (entrance, origin) = (served.new_entrance(), served.url(""));
    browser.go(&entrance);
    for address in pages.keys() {
        browser.go(&served.url(address));
        wrong.extend(faults(&browser, &origin));
    }
    browser.go(&served.url("/search"));
    for word in ["pwned", " onerror", " svg"] {
        browser.write("main input[type=search]", word);
        until("results as one types", || browser.has("#results a[href^='/notes/']"));
        wrong.extend(faults(&browser, &origin));
    }
    assert!(wrong.is_empty(), "{} faults on {} pages: {wrong:#?}", wrong.len(), pages.len());
    let network = browser.close();
    assert!(network.contains(&served.host) && !network.contains("pwned.invalid"), "a foreign name was looked up");
}

#[test]
fn what_a_hostile_note_says_can_be_read() {
    let Some(browser) = Browser::start() else { return };
    let mut served = Served::start(memory());
    let entrance = served.new_entrance();
    browser.go(&entrance);
    let shown = |name: &str| {
        browser.go(&served.url(&format!("/notes/{}", percent(name))));
        browser.text("main")
    };
    let script = |number: u32| format!("<script>window.__pwned=\"{number:02}\"</script>");
    assert!(shown("00-script-plain.md").contains("Before."));
    assert!(shown("00-script-plain.md").contains("After."));
    assert!(
        shown("06-script-in-code.md").matches(&script(6)).count() >= 2,
        "markup in code is shown letter for letter"
    );
    assert!(shown("07-script-entities.md").contains(&script(7)));
    assert!(shown(NAME).contains("<img src=x onerror=window.__pwned='58'>"), "the name of {NAMED} is text");
    assert!(shown("93-right-to-left.md").contains("END-93"));
    browser.go(&served.url("/notes"));
    assert!(
        browser
            .run("return document.querySelector('main').textContent", json!([]))
            .as_str()
            .unwrap()
            .contains("<img src=x")
    );
}

//! Every page on three memories: small, quiet, for any screen, and no barrier to anybody.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::browser::Browser;
use super::look::{axe, barriers, crawl, faults};
use super::{Served, links};
use crate::support::{Env, files};

/// A copy of a folder of notes.
pub(super) fn copied(folder: &Path) -> Env {
    let env = Env::new().quick();
    for (path, bytes) in files(folder) {
        env.write(&path, bytes);
    }
    env
}

pub(super) fn household() -> Env {
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/household"))
}

/// A vault that somebody uses, where `MEMDIR_DATA` or the folder beside this one has it.
fn real_vault() -> Option<Env> {
    let data = std::env::var_os("MEMDIR_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), std::path::PathBuf::from);
    let folder = data.join("vaults/kepano");
    if !folder.is_dir() {
        eprintln!("without a real vault: MEMDIR_DATA names no folder with vaults/kepano");
        return None;
    }
    Some(copied(&folder))
}

/// Ten thousand notes, among them one with 3,000 backlinks, one of 400 kB, and a folder of 3,000.
fn ten_thousand() -> Env {
    let env = Env::new().quick();
    env.write("user.md", "# Ada\n\n- city: London\n- sister: [[people/number_1]]\n");
    for number in 1..10_000 {
        let folder = if number < 3000 { "people".to_owned() } else { format!("log/{}", number % 97) };
        let mut text = format!("# Number {number}\n\n- after: [[number_{}]]\n", number - 1);
        if number % 3 == 0 {
            text += "\nKnows [[user]] from the choir.\n";
        }
        if number == 2 {
            (0..8000).for_each(|line| {
                writeln!(text, "\nParagraph {line} of a *long* note about [[number_{line}]].").unwrap()
            });
        }
        env.write(&format!("{folder}/number_{number}.md"), text);
    }
    env
}

const SEEDS: &[&str] = &["/", "/notes", "/search?q=number", "/search?q=the", "/search?q=no+such+thing"];

/// Looks at the pages of a memory over a socket; reading changes nothing.
#[track_caller]
fn check_sizes(env: Env, of_each: usize) {
    let mut served = Served::start(env);
    let before = served.env.files();
    let (pages, faults) = crawl(&served.visit(), SEEDS, of_each);
    assert!(faults.is_empty(), "{faults:#?}");
    let largest = pages.iter().max_by_key(|(_, answer)| answer.body.len()).unwrap();
    println!("{} pages, the largest {} bytes: {}", pages.len(), largest.1.body.len(), largest.0);
    let home = links(&pages["/"].body);
    let missing: Vec<&String> = home.iter().filter(|link| !link.contains('?') && !pages.contains_key(*link)).collect();
    assert!(of_each < 20 || missing.is_empty(), "not looked at: {missing:?}");
    assert!(served.env.files() == before, "looking has changed something");
}

#[test]
fn the_pages_of_a_household_are_small() {
    check_sizes(household(), 60);
}

#[test]
fn the_pages_of_a_real_vault_are_small() {
    if let Some(env) = real_vault() {
        check_sizes(env, 40);
    }
}

#[test]
fn the_pages_of_ten_thousand_notes_are_small() {
    check_sizes(ten_thousand(), 8);
}

/// Looks at the pages of a memory in a browser: light on a desk, dark on a phone.
#[track_caller]
fn check_in_browser(env: Env, of_each: usize) {
    let Some(browser) = Browser::start() else { return };
    let axe = axe();
    let mut served = Served::start(env);
    let (pages, mut wrong) = crawl(&served.visit(), SEEDS, of_each);
    let (entrance, origin) = (served.new_entrance(), served.url(""));
    browser.go(&entrance);
    for (scheme, width, height) in [("light", 1280, 900), ("dark", 390, 844)] {
        browser.prefer(scheme);
        browser.resize(width, height);
        for address in pages.keys() {
            browser.go(&served.url(address));
            let found = faults(&browser, &origin).into_iter();
            let found = found.chain(axe.iter().flat_map(|axe| barriers(&browser, axe)));
            wrong.extend(found.map(|fault| format!("{scheme}, {width} px: {fault}")));
        }
    }
    assert!(wrong.is_empty(), "{} faults on {} pages: {wrong:#?}", wrong.len(), pages.len());
    println!("{} pages without a fault", pages.len());
}

#[test]
fn a_household_in_a_browser() {
    check_in_browser(household(), 3);
}

#[test]
fn a_real_vault_in_a_browser() {
    if let Some(env) = real_vault() {
        check_in_browser(env, 2);
    }
}

#[test]
fn ten_thousand_notes_in_a_browser() {
    check_in_browser(ten_thousand(), 2);
}

/// The smallest picture that there is: one point.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A table that is wider than a phone, a picture of the memory and one of elsewhere, a footnote.
const BOATS: &str = "# Boats\n\n| Name | Manufacturer of the hull | Length overall in metres | Remarks of the broker |\n|---|---|---|---|\n\
                     | Albatross | Kleinbootmanufaktur Schwenningen | 7.85 | Unterhaltsreinigungsfreundlich[^1] |\n\n\
                     ![a boat](boat.png) ![far](https://pwned.invalid/x.png)\n\n[^1]: Says the broker.\n";

/// The words that stand on more than one line, by what the browser has drawn.
const BROKEN_WORDS: &str = r"
    const broken = [];
    for (const cell of document.querySelectorAll(arguments[0])) {
      const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      for (let text; (text = walk.nextNode()); ) {
        for (const word of text.data.matchAll(/\p{L}+/gu)) {
          const range = document.createRange();
          range.setStart(text, word.index);
          range.setEnd(text, word.index + word[0].length);
          if (range.getClientRects().length > 1) broken.push(word[0]);
        }
      }
    }
    return broken;";

#[test]
fn words_stay_whole_on_a_phone_and_a_picture_of_the_memory_is_shown() {
    let Some(browser) = Browser::start() else { return };
    let (env, axe) = (household(), axe());
    env.write("reference/boats.md", BOATS);
    env.write("reference/boat.png", base64::Engine::decode(&base64::prelude::BASE64_STANDARD, PICTURE).unwrap());
    let mut served = Served::start(env);
    let (entrance, origin) = (served.new_entrance(), served.url(""));
    browser.go(&entrance);
    browser.resize(390, 844);
    let pages = [("/notes/reference/boats.md", "th, td"), ("/settings", "dt, dd small"), ("/forget/user.md", "th, td")];
    for (address, selector) in pages {
        browser.go(&served.url(address));
        assert_eq!(browser.run(BROKEN_WORDS, json!([selector])), json!([]), "{address}: words are broken");
        let found = faults(&browser, &origin).into_iter();
        let found: Vec<String> = found.chain(axe.iter().flat_map(|axe| barriers(&browser, axe))).collect();
        assert!(found.is_empty(), "{address}: {found:#?}");
    }
    browser.go(&served.url("/notes/reference/boats.md"));
    let wide = "const wide = document.querySelector('.wide'); wide.focus();
                return document.activeElement === wide && wide.scrollWidth > wide.clientWidth";
    assert_eq!(browser.run(wide, json!([])), json!(true), "the table scrolls, and the keyboard gets there");
    let drawn = "return [...document.querySelectorAll('#note img')].map((picture) => picture.naturalWidth)";
    assert_eq!(browser.run(drawn, json!([])), json!([1]), "of two pictures one is of the memory");
    browser.click_on("sup a", "1");
    assert!(browser.text(":target").contains("Says the broker."), "{}", browser.address());
    let network = browser.close();
    assert!(network.contains(&served.host) && !network.contains("pwned.invalid"), "a foreign name was looked up");
}

/// A browser sends the cookies of a host to all its ports.
#[test]
fn two_memories_at_two_ports_let_the_same_browser_in() {
    let Some(browser) = Browser::start() else { return };
    let mut both = [Served::start(household()), Served::start(Env::ada())];
    for served in &mut both {
        let entrance = served.new_entrance();
        browser.go(&entrance);
    }
    for (served, city) in both.iter().zip(["Freiburg", "London"]) {
        browser.go(&served.url("/notes/user.md"));
        assert!(browser.text("main").contains(city), "{}", browser.text("main"));
    }
}

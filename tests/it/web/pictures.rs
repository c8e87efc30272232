//! The pictures of the pages in README and `docs/`: `scripts/pictures` says where they go, and runs only this.

use std::fs;
use std::path::Path;

use super::browser::Browser;
use super::{Served, tasks};

/// The pictures: name, address, light or dark, width and height.
const PICTURES: &[(&str, &str, &str, u32, u32)] = &[
    ("home-light", "/", "light", 1200, 860),
    ("home-dark", "/", "dark", 1200, 860),
    ("home-phone", "/", "dark", 390, 844),
    ("note", "/notes/people/tomas_reis.md", "light", 1200, 860),
    ("search", "/search?q=tomas", "light", 1200, 700),
    ("inbox", "/inbox", "light", 1200, 700),
    ("history", "/history", "light", 1200, 860),
    ("clients", "/clients", "light", 1200, 700),
    ("audit", "/audit", "light", 1200, 860),
    ("readers", "/readers/people/tomas_reis.md", "light", 1200, 700),
    ("forget", "/forget/people/tomas_reis.md", "light", 1200, 860),
    ("settings", "/settings", "light", 1200, 860),
];

/// So many bytes may a picture have.
const PICTURE_BYTES: usize = 150 * 1024;

#[test]
fn the_pages_have_their_pictures_taken() {
    let Some(folder) = std::env::var_os("MEMDIR_PICTURES") else {
        eprintln!("not asked for: MEMDIR_PICTURES names no folder");
        return;
    };
    let Some(browser) = Browser::start() else { return };
    let mut served = Served::start(tasks::story());
    let entrance = served.new_entrance();
    browser.go(&entrance);
    for (name, address, scheme, width, height) in PICTURES {
        browser.prefer(scheme);
        browser.resize(*width, *height);
        browser.go(&served.url(address));
        let picture = browser.picture();
        assert!(picture.len() <= PICTURE_BYTES, "{name}: {} bytes", picture.len());
        fs::write(Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
    }
}

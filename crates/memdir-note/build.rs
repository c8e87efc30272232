//! Writes the table of characters that look alike, in a form without pointers.
//!
//! The table of `unicode-security` has a pointer for each of its 6,700 rows, and the system rewrites every one of them whenever the
//! program starts. `src/skeleton.rs` says what the rows of this one mean.

#![expect(clippy::disallowed_methods, reason = "a build script writes what Cargo tells it to")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

fn main() -> io::Result<()> {
    let (mut from, mut ends, mut to) = (String::new(), String::new(), String::new());
    let mut rows = 0;
    for character in '\0'..=char::MAX {
        let text = character.to_string();
        let alike: String = skeleton(&text).collect();
        // What is decomposed never comes alone, and is asked for in its parts.
        if !text.nfd().eq([character]) || alike == text {
            continue;
        }
        to.push_str(&alike);
        let end = u16::try_from(to.len()).map_err(io::Error::other)?;
        let _ = write!(from, "'\\u{{{:x}}}',", u32::from(character));
        let _ = write!(ends, "{end},");
        rows += 1;
    }
    let table = format!(
        "static FROM: [char; {rows}] = [{from}];\nstatic ENDS: [u16; {rows}] = [{ends}];\nstatic TO: &str = {to:?};\n"
    );
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("Cargo names no folder for what is made"))?;
    println!("cargo::rerun-if-changed=build.rs");
    fs::write(Path::new(&folder).join("skeleton.rs"), table)
}

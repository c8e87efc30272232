//! Where links lead.

use super::link::{Target, parse, resolve};
use crate::path::MemoryPath;

fn notes() -> Vec<MemoryPath> {
    let names = ["Work/Plans.md", "a/b/deep.md", "a/same.md", "entities/jane_doe.md", "same.md", "x.y.md", "ÄRGER.md"];
    names.iter().map(|name| MemoryPath::parse(name).unwrap()).collect()
}

#[track_caller]
fn check(link: &str, source: Option<&str>, expected: &str) {
    let notes = notes();
    let source = source.map(|source| MemoryPath::parse(source).unwrap());
    let found = match resolve(&parse(link), source.as_ref(), &notes) {
        Target::Note(path) => path.to_string(),
        Target::Several(paths) => paths.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(" or "),
        Target::Nothing => "nothing".to_owned(),
    };
    assert_eq!(found, expected, "{link}");
}

#[test]
fn links_lead_to_notes() {
    check("[[entities/jane_doe.md|Jane]]", None, "entities/jane_doe.md");
    check("[[jane_doe]]", None, "entities/jane_doe.md");
    check("jane_doe.md", None, "entities/jane_doe.md");
    check("![[Jane_Doe#Work]]", None, "entities/jane_doe.md");
    check("[[plans^block]]", None, "Work/Plans.md");
    check("[[x.y]]", None, "x.y.md");
    check("[[a\u{308}rger]]", None, "ÄRGER.md");
    check("[[b/deep]]", None, "a/b/deep.md");
    check("[[same]]", None, "same.md");
    check("[[same]]", Some("a/x.md"), "a/same.md");
    check("[[../same]]", Some("a/x.md"), "same.md");
    check("[[/same]]", Some("b/x.md"), "same.md");
    check("[[#Work]]", Some("a/x.md"), "a/x.md");
    check("[[SAME]]", None, "a/same.md or same.md");
    check("[[SAME]]", Some("a/x.md"), "a/same.md");
    check("[[doe]]", None, "nothing");
    check("[[../../etc/passwd]]", Some("a/x.md"), "nothing");
    check("[[]]", None, "nothing");
    check("", None, "nothing");
}

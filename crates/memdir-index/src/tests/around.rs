use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{index, path};
use crate::Index;
use memdir_core::path::MemoryPath;
use memdir_note::{Seen, Web};
use memdir_rank::{Files, Source};

fn all(notes: &[(String, String)]) -> Files {
    let files: BTreeMap<_, _> = notes.iter().map(|(at, text)| (path(at), text)).collect();
    files.into_iter().map(|(path, text)| (path.clone(), path.is_note().then(|| Seen::of(text)))).collect()
}

fn indexed(notes: &[(String, String)]) -> Index {
    let files: BTreeMap<&str, &str> = notes.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
    index(&files.into_iter().collect::<Vec<_>>())
}

/// Names that are nearly the same, in folders that are nearly the same.
fn name() -> impl Strategy<Value = String> {
    let stem = prop::sample::select(vec![
        "ada",
        "Ada",
        "a-da",
        "a_da",
        "ad",
        "zoe",
        "zoë",
        "ZOE\u{308}",
        "straße",
        "strasse",
        "v1.2",
        "note.md",
        "ﬁn",
        "fin",
        "ᾳ",
        "Ⅻ",
        "!",
        "á",
        "é",
        "ǅ",
        "İ",
    ]);
    let end = prop::sample::select(vec![".md", ".md", ".md", ".MD", ".png", ".md.md", ""]);
    let folder = prop::sample::select(vec!["", "", "x/", "x/y/", "X/", "ada/", "ada.md/"]);
    (folder, stem, end).prop_map(|(folder, stem, end)| format!("{folder}{stem}{end}"))
}

fn target() -> impl Strategy<Value = String> {
    let lead = prop::sample::select(vec!["", "", "", "./", "../", "/", "x/", "y/", "../../", "../x/", " "]);
    let trail = prop::sample::select(vec!["", "", "", "#Head", "#^id", "/", "/.", "|shown"]);
    let whole = prop::sample::select(vec!["../", "./", "..", ".", "#Head", "../..", "/", "nowhere at all", "adaa"]);
    prop_oneof![
        5 => (lead, name(), trail).prop_map(|(lead, name, trail)| format!("{lead}{name}{trail}")),
        2 => name().prop_map(|name| name.trim_end_matches(".md").to_owned()),
        1 => whole.prop_map(str::to_owned),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let link = (target(), any::<bool>())
        .prop_map(|(target, is_wiki)| if is_wiki { format!("[[{target}]]\n") } else { format!("[t](<{target}>)\n") });
    let other = prop::sample::select(vec!["# Head\n", "text ^id\n", "word\n"]);
    let front = prop::sample::select(vec![
        "",
        "",
        "---\naliases: [Nowhere-at-all, adaa, zoe]\n---\n",
        "---\ntitle: V12\n---\n",
    ]);
    (front, prop::collection::vec(prop_oneof![4 => link, 1 => other.prop_map(str::to_owned)], 0..6))
        .prop_map(|(front, lines)| format!("{front}{}", lines.concat()))
}

fn memory() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((name(), text()), 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_part_answers_as_all(notes in memory(), others in prop::collection::vec(name(), 2)) {
        let (index, all) = (indexed(&notes), all(&notes));
        let whole = Web::new(all.clone());
        let others: Vec<MemoryPath> = others.iter().map(|at| path(at)).collect();
        for note in all.iter().map(|(path, _)| path).chain(&others) {
            let part = Web::new(index.around(note).unwrap().unwrap());
            prop_assert_eq!(part.links_of(note), whole.links_of(note), "of {}", note);
            prop_assert_eq!(part.links_to(note), whole.links_to(note), "to {}", note);
        }
    }
}

/// Found by the property: the file that comes first has another name.
#[test]
fn a_name_that_ends_twice() {
    let notes = [("ada.md", ""), ("ada.md.md", ""), ("b.md", "[[ada.md]]")];
    let index = index(&notes);
    for (note, linking) in [("ada.md", 1), ("ada.md.md", 0)] {
        let links = Web::new(index.around(&path(note)).unwrap().unwrap()).links_to(&path(note));
        assert_eq!(links.links.len(), linking, "{note}");
    }
}

/// Found by the property: what lies beside the note with the link comes first.
#[test]
fn a_name_that_ends_twice_beside_a_link() {
    let notes = [("ada.md/ad.md.md", ""), ("ada.md/ada.md", "[t](<ad.md>)\n"), ("ad.md", "")];
    let index = index(&notes);
    for (note, linking) in [("ada.md/ad.md.md", 1), ("ad.md", 0)] {
        let links = Web::new(index.around(&path(note)).unwrap().unwrap()).links_to(&path(note));
        assert_eq!(links.links.len(), linking, "{note}");
    }
}

#[test]
fn only_what_matters_is_there() {
    let notes =
        [("a.md", "[[b]]"), ("b.md", "[[c]]"), ("c.md", ""), ("x/b.png", ""), ("d.md", "[[x/a]]"), ("e.md", "[[b]]")];
    let index = index(&notes);
    let around: Vec<_> = index.around(&path("a.md")).unwrap().unwrap();
    let names: Vec<_> = around.iter().map(|(path, seen)| (path.as_str(), seen.is_some())).collect();
    assert_eq!(names, [("a.md", true), ("b.md", true), ("d.md", true)]);
    // A link that leads nowhere asks for all names.
    assert_eq!(index.around(&path("d.md")).unwrap().unwrap().len(), notes.len());
}

#[test]
fn what_is_not_complete_does_not_answer() {
    let mut index = index(&[("a.md", "")]);
    let mut writing = index.write().unwrap();
    writing.set_complete(false).unwrap();
    assert_eq!(writing.around(&path("a.md")).unwrap(), None);
}

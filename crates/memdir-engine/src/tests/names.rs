//! Notes as people name them.

use super::{engine, memory};
use memdir_core::report::Code;

#[test]
fn a_name_with_other_accents_is_another_name() {
    let folder = memory(&[
        ("M\u{fc}ller.md", ""),
        ("Pe\u{f1}a.md", "# Pe\u{f1}a\n"),
        ("n.md", "---\naliases: [Zo\u{eb} O'Hara]\n---\n"),
        ("\u{d1}u.md", ""),
    ]);
    let engine = engine(folder.path());
    for (said, near) in [("Mull\u{e9}r", "M\u{fc}ller"), ("pena", "Pe\u{f1}a"), ("Nu", "\u{d1}u")] {
        let failure = engine.note_named(said).unwrap_err();
        assert_eq!((failure.code, failure.hint), (Code::NotFound, Some(format!("the nearest is `{near}`"))), "{said}");
        assert!(engine.note_named_ever(said).is_err(), "{said}");
    }
    // Who writes a name with a blank at its start means the note that is called so.
    for said in [" Pe\u{f1}a", " Pe\u{f1}a.md"] {
        assert!(engine.note_named(said).is_ok(), "{said}");
    }
    std::fs::write(folder.path().join(" Pe\u{f1}a.md"), "").unwrap();
    for said in [" Pe\u{f1}a", " Pe\u{f1}a.md"] {
        assert_eq!(engine.note_named(said).unwrap_err().code, Code::InvalidPath, "{said}");
    }
    let zoe = ["zo\u{eb} o'hara", "Zoe\u{308} O'HARA", "Zo\u{eb} O\u{2019}Hara"];
    for (said, path) in zoe.map(|said| (said, "n.md")).into_iter().chain([("mu\u{308}ller", "M\u{fc}ller.md")]) {
        assert_eq!(engine.note_named(said).unwrap().as_str(), path, "{said}");
    }
}

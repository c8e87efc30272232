//! A change that is certain and not carried out when its process ends: whoever tells of it carries it out first.

use super::*;
use memdir_plan::{Content, Image, Step};
use memdir_vault::{AuditEntry, Batch, CommitPoint, Payload};

/// Lets another process end right after a change of `a.md` has become certain.
fn crash(root: &Path) {
    let other = engine(root);
    let path = MemoryPath::parse("a.md").unwrap();
    let image = |text: &str| Some(Image { content: Content::new(text.as_bytes()), mode: None });
    let steps = [Step::Put { path: path.clone(), before: image("before\n"), after: image("after\n") }];
    let entries = [AuditEntry {
        number: 1,
        action: "write_file".into(),
        code: None,
        micros: 5,
        permission: "off".into(),
        payload: Payload::of_read(&path),
    }];
    let author = caller().author;
    let time = Timestamp::from_micros(0);
    let batch = Batch { steps: &steps, entries: &entries, author: &author, time, undoes: &[], approval: None };
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut writer = other.vault.lock().unwrap();
        let _ = writer.commit_watched(&batch, &mut |at| assert!(at != CommitPoint::Certain, "as written in this test"));
    }));
    assert!(broken.is_err());
}

#[test]
fn whoever_tells_of_a_change_finishes_it_first() {
    type Look = fn(&Engine);
    let looks: [(&str, Look); 6] = [
        ("log", |engine| drop(engine.log(&LogQuery { limit: 9, ..LogQuery::default() }, true).unwrap())),
        ("diff", |engine| drop(engine.diff(None).unwrap())),
        ("verify", |engine| drop(engine.verify(None).unwrap())),
        ("head", |engine| assert_eq!(engine.head().unwrap().seq, 1)),
        ("audit", |engine| drop(engine.audit_page(&memdir_vault::AuditQuery::default(), None).unwrap())),
        ("waiting", |engine| drop(engine.waiting().unwrap())),
    ];
    for (name, look) in looks {
        let folder = memory(&[("a.md", "before\n")]);
        let engine = engine(folder.path());
        crash(folder.path());
        let text = || std::fs::read_to_string(folder.path().join("a.md")).unwrap();
        assert_eq!(text(), "before\n", "{name}");
        look(&engine);
        assert_eq!(text(), "after\n", "{name}");
    }
}

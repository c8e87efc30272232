//! A history that somebody has tampered with is read, or refused; it never panics, and never touches a note but by a
//! batch that it holds.

#![no_main]

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use libfuzzer_sys::fuzz_target;
use memdir_core::path::MemoryPath;
use memdir_plan::{Content, Image, Step};
use memdir_core::time::Timestamp;
use memdir_vault::{Author, Batch, Durability, Options, LogQuery, Vault};

fn open(root: &std::path::Path) -> Option<Vault> {
    let dir = Dir::open_ambient_dir(root, ambient_authority()).unwrap();
    Vault::open(dir, root.to_owned(), Options { durability: Durability::Atomic, ..Options::default() }).ok()
}

fuzz_target!(|edits: Vec<(u32, u8)>| {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.md"), "before").unwrap();
    let image = |text: &str| Some(Image { content: Content::new(text.as_bytes()), mode: None });
    let path = MemoryPath::parse("a.md").unwrap();
    let steps = [Step::Put { path: path.clone(), before: image("before"), after: image("after") }];
    let author = Author { door: "exec".into(), client: None, session: None, message: None, origin: "model".into() };
    let batch =
        Batch { steps: &steps, entries: &[], author: &author, time: Timestamp::from_micros(0), undoes: &[], approval: None };
    open(&root).unwrap().lock().unwrap().commit(&batch).unwrap();
    let state = root.join(".memdir/local");
    for name in ["history.sqlite", "history.sqlite-wal"] {
        let Ok(mut bytes) = std::fs::read(state.join(name)) else { continue };
        for (at, value) in &edits {
            let length = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(*at as usize % length) {
                *byte ^= value;
            }
        }
        std::fs::write(state.join(name), bytes).unwrap();
    }
    let _ = std::fs::remove_file(state.join("history.sqlite-shm"));
    if let Some(vault) = open(&root) {
        let _ = vault.log(&LogQuery { limit: 10, ..LogQuery::default() });
        let _ = (vault.steps(1), vault.image_at(&path, 1), vault.newest_to_undo(None));
        drop(vault.lock());
    }
    let note = std::fs::read_to_string(root.join("a.md")).unwrap();
    assert!(note == "after" || note == "before", "{note:?}");
});

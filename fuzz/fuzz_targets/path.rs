//! A parsed path says what it says again, stays inside, and rebases back; nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_core::path::MemoryPath;

fuzz_target!(|text: &str| {
    let Ok(path) = MemoryPath::parse(text) else { return };
    assert_eq!(MemoryPath::parse(path.as_str()).as_ref(), Ok(&path));
    assert!(!path.as_str().starts_with('/') && path.components().all(|name| !matches!(name, "" | "." | "..")));
    assert!(path.components().all(|name| !name.starts_with('.')));
    let _ = (path.check_portable(), path.is_note(), path.stem());
    if let Some(parent) = path.parent() {
        assert!(path.is_within(&parent));
        assert_eq!(MemoryPath::in_folder(Some(&parent), path.name()), Ok(path.clone()));
        let there = MemoryPath::parse("elsewhere").unwrap();
        let moved = path.rebased(&parent, &there).unwrap();
        assert_eq!(moved.rebased(&there, &parent), Some(path));
    }
});

//! Whatever a file says that calls itself a model: its head is read or refused, and little of it is kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_providers::header::read;

fuzz_target!(|input: (Option<bool>, u64, Vec<u8>)| {
    let (version, more, rest) = input;
    // Few inputs would begin as they must.
    let magic: &[u8] = match version {
        None => b"",
        Some(false) => b"GGUF\x02\0\0\0",
        Some(true) => b"GGUF\x03\0\0\0",
    };
    let file = [magic, &rest].concat();
    // The file may have other bytes than the system says.
    for bytes in [file.len() as u64, (file.len() as u64).saturating_add(more), more] {
        let found = read(file.as_slice(), bytes);
        assert_eq!(found, read(file.as_slice(), bytes));
        if let Ok(facts) = found {
            for text in [facts.title, facts.architecture, facts.licence].into_iter().flatten() {
                assert!(text.len() <= 3 << 8);
            }
        }
    }
});

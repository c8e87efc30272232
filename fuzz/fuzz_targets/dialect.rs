//! Whatever a model writes can be read, says the same twice, and never writes damaged text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir::action::Access;
use memdir::catalog::row;
use memdir::dialect::{Dialect, Entry, parse};

fuzz_target!(|input: &[u8]| {
    let parsed = parse(input);
    assert_eq!(parsed, parse(input));
    let text = String::from_utf8_lossy(input);
    let is_valid = std::str::from_utf8(input).is_ok();
    for (place, entry) in parsed.entries.iter().enumerate() {
        let Entry::Call(call) = entry else { continue };
        assert_eq!(call.index, place + 1);
        let is_decoded = matches!(parsed.dialect(), Dialect::ToolCall | Dialect::MemoryTool);
        assert!(is_decoded || text.get(call.span.start..call.span.end).is_some_and(|said| said.starts_with('{') && said.ends_with('}')));
        let writes = row(call.action.name()).is_some_and(|row| row.access > Access::Read);
        let said = serde_json::to_string(&call.action).unwrap_or_default();
        assert!(is_valid || !writes || !said.contains('\u{FFFD}'));
    }
});

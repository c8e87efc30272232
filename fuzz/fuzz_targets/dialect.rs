//! Whatever a model writes can be read in every dialect, says the same twice, and never writes damaged text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memdir_core::action::Access;
use memdir_core::catalog::row;
use memdir_dialect::{Dialect, Entry, parse_as};
use memdir_core::report::Variables;

const DIALECTS: [Option<Dialect>; 7] = [
    None,
    Some(Dialect::Native),
    Some(Dialect::Lines),
    Some(Dialect::McpBlock),
    Some(Dialect::Python),
    Some(Dialect::ToolCall),
    Some(Dialect::MemoryTool),
];

fuzz_target!(|input: &[u8]| {
    for dialect in DIALECTS {
        check(input, dialect);
    }
});

fn check(input: &[u8], dialect: Option<Dialect>) {
    let parsed = parse_as(input, dialect, &Variables::default());
    assert_eq!(parsed, parse_as(input, dialect, &Variables::default()));
    assert!(dialect.is_none_or(|dialect| dialect == parsed.dialect()));
    let text = String::from_utf8_lossy(input);
    let is_valid = std::str::from_utf8(input).is_ok();
    let is_list = matches!(parsed.dialect(), Dialect::Native | Dialect::Lines);
    for (place, entry) in parsed.entries.iter().enumerate() {
        let Entry::Call(call) = entry else { continue };
        assert_eq!(call.index, place + 1);
        let said = text.get(call.span.start..call.span.end);
        assert!(said.is_some_and(|said| !is_list || said.starts_with('{') && said.ends_with('}')));
        let writes = row(call.action.name()).is_some_and(|row| row.access > Access::Read);
        let said = serde_json::to_string(&call.action).unwrap_or_default();
        assert!(is_valid || !writes || !said.contains('\u{FFFD}'));
    }
}

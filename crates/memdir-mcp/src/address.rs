//! The addresses of notes as resources.

use memdir_core::path::{MAX_PATH_BYTES, MemoryPath};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;

/// What every address begins with. No host: there is one memory.
const SCHEME: &str = "memdir:///";
/// How the address of a note is made of its path.
pub(super) const TEMPLATE: &str = "memdir:///{+path}";
/// What stands for itself in the path of an address that we make.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The address of a note.
pub(super) fn address(path: &MemoryPath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.as_str(), ESCAPED))
}

/// The path that an address names.
///
/// Only what says a path as it is, is taken: no host, query or fragment, no escaped slash, no component that would be
/// dropped.
pub(super) fn path(address: &str) -> Result<MemoryPath, ErrorData> {
    let said = address.strip_prefix(SCHEME).filter(|said| said.len() <= 3 * MAX_PATH_BYTES && is_plain(said));
    let decoded = said.and_then(|said| percent_decode_str(said).decode_utf8().ok());
    let path = decoded.and_then(|decoded| MemoryPath::parse(&decoded).ok().filter(|path| path.as_str() == decoded));
    path.ok_or_else(|| {
        let message = "no note has this address; send one such as `memdir:///entities/ada.md`, with `%20` for a blank";
        ErrorData::resource_not_found(message, None)
    })
}

/// Whether the path of an address has nothing in it that would not mean itself once it is decoded.
fn is_plain(said: &str) -> bool {
    let mut rest = said.bytes();
    while let Some(byte) = rest.next() {
        let is_fine = match byte {
            b'%' => match (rest.next(), rest.next()) {
                // A slash is no part of a name.
                (Some(b'2'), Some(b'f' | b'F')) => false,
                (Some(one), Some(two)) => one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
                _ => false,
            },
            b'?' | b'#' | b'\\' => false,
            _ => byte > b' ' && byte != 0x7f,
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// That a note is outside of what the client was granted, whether it is there or not.
pub(super) fn not_granted() -> ErrorData {
    ErrorData::resource_not_found("this client was not granted to read there", None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<&str>) {
        assert_eq!(path(written).ok().as_ref().map(MemoryPath::as_str), expected, "{written}");
    }

    #[test]
    fn an_address_names_one_path_or_none() {
        check("memdir:///user.md", Some("user.md"));
        check("memdir:///a%20b/J%C3%A4ger.md", Some("a b/Jäger.md"));
        check("memdir:///a(1)+b&c=d;e@f:g!.md", Some("a(1)+b&c=d;e@f:g!.md"));
        check("memdir:///Jäger.md", Some("Jäger.md"));
        check("memdir:///100%25.md", Some("100%.md"));
        for other in [
            "",
            "memdir://",
            "memdir:///",
            "memdir://user.md",
            "memdir://host/user.md",
            "MEMDIR:///user.md",
            "file:///user.md",
            "memdir:////user.md",
            "memdir:///a//b.md",
            "memdir:///./a.md",
            "memdir:///a/../b.md",
            "memdir:///%2e%2e/b.md",
            "memdir:///a/%2E%2E/b.md",
            "memdir:///a%2Fb.md",
            "memdir:///a%2fb.md",
            "memdir:///.memdir/x.md",
            "memdir:///%2ememdir/x.md",
            "memdir:///a.md?x",
            "memdir:///a.md#x",
            "memdir:///a.md ",
            "memdir:///%20a.md",
            "memdir:///a\\b.md",
            "memdir:///a%00.md",
            "memdir:///a%0A.md",
            "memdir:///a%zz.md",
            "memdir:///a%2",
            "memdir:///a%ff.md",
            "memdir:///a.md\n",
        ] {
            check(other, None);
        }
        check(&format!("memdir:///{}", "a".repeat(100_000)), None);
    }

    #[test]
    fn a_note_is_found_again_by_its_address() {
        for name in
            ["user.md", "a b/Jäger 100%.md", "Re: plans?.md", "#1 [x] {y} \"z\".md", "日記/2026-11-21.md", "a\\b~_-.md"]
        {
            let note = MemoryPath::parse(name).unwrap();
            assert_eq!(path(&address(&note)).unwrap(), note, "{name}");
            assert!(address(&note).is_ascii());
        }
    }
}

//! The addresses of notes: every path is encoded here, so that no name can end an address early.

use memdir_core::path::MemoryPath;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is encoded in a part of a path or the value of a query: all but what RFC 3986 lets stand anywhere.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same without the stroke between folders.
const PATH: &AsciiSet = &ENCODED.remove(b'/');

/// The endings of the pictures that are shown. SVG is none of them, for it can hold a script.
const PICTURES: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// The page of a note or folder.
pub(crate) fn note(path: &MemoryPath) -> String {
    at("notes", path)
}

/// A place in the page of a note, on whichever part of that it is.
pub(crate) fn place(path: &MemoryPath, place: &str) -> String {
    format!("{}?place={}#{place}", note(path), value(place))
}

/// A page about a note, such as `edit`.
pub(crate) fn at(page: &str, path: &MemoryPath) -> String {
    format!("/{page}/{}", in_path(path))
}

/// A note or folder as the end of an address.
pub(crate) fn in_path(path: &MemoryPath) -> String {
    utf8_percent_encode(path.as_str(), PATH).to_string()
}

/// A text as the value in a query.
pub(crate) fn value(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Whether a file has the name of a picture that is shown.
pub(crate) fn is_picture(path: &MemoryPath) -> bool {
    let ending = path.name().rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| PICTURES.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_an_address_early() {
        let path = MemoryPath::parse("a b/50% #1?x&y=\"<ü>.md").unwrap();
        let address = note(&path);
        assert_eq!(address, "/notes/a%20b/50%25%20%231%3Fx%26y%3D%22%3C%C3%BC%3E.md");
        let decoded = percent_encoding::percent_decode_str(address.strip_prefix("/notes/").unwrap());
        assert_eq!(decoded.decode_utf8().unwrap(), path.as_str());
    }
}

//! [`Canvas`]: what a canvas leads to (JSON Canvas 1.0), and where in the file each path and each text stands, so that an edit
//! touches what it is about and nothing else. Of keys that an object holds twice the last one counts, as in every reader.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::value::RawValue;

use super::{Note, Seen, SeenLink, Syntax};
use memdir_core::json::{Style, Unescaped};
use memdir_core::report::LinkKind;

/// A canvas, read once.
///
/// # Examples
///
/// ```
/// use memdir_note::Canvas;
///
/// let text = r#"{"nodes":[{"id":"1","type":"file","file":"a\/b.md","x":0}]}"#;
/// let canvas = Canvas::parse(text)?;
/// assert_eq!(canvas.places[0].says(), "a/b.md");
/// assert_eq!(&text[canvas.places[0].range(0..6)], r"a\/b.md");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct Canvas<'t> {
    /// What leads somewhere, in the order of the file.
    pub places: Vec<Place>,
    text: &'t str,
    style: Style,
}

/// A string of a canvas.
#[derive(Debug)]
pub struct Place {
    /// What it is.
    pub kind: PlaceKind,
    read: Unescaped,
    /// The byte of the file at which it starts, behind the quote.
    start: usize,
}

/// What a string of a canvas is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PlaceKind {
    /// The path of the file that a card shows, with the heading or block, and its `#`, that it shows of it.
    Card(String),
    /// The path of the picture behind a group.
    Background,
    /// The text of a card, which is Markdown.
    Text,
}

/// An object whose values were not looked into.
type Object<'t> = HashMap<String, &'t RawValue>;

impl<'t> Canvas<'t> {
    /// Reads the text of a file. One that is empty is an empty canvas.
    ///
    /// # Errors
    ///
    /// When it is no JSON, or its `nodes` are no list.
    pub fn parse(text: &'t str) -> serde_json::Result<Self> {
        let json = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut places = Vec::new();
        if json.trim().is_empty() {
            return Ok(Self { places, text, style: Style::default() });
        }
        let canvas: Object<'t> = serde_json::from_str(json)?;
        let nodes: Vec<&'t RawValue> = canvas.get("nodes").map_or(Ok(Vec::new()), |nodes| read(nodes))?;
        // A node that is none shows nothing.
        for node in nodes.into_iter().filter_map(|node| read::<Object<'t>>(node).ok()) {
            let (kind, key) = match string(&node, "type").as_deref() {
                Some("file") => (PlaceKind::Card(string(&node, "subpath").unwrap_or_default()), "file"),
                Some("group") => (PlaceKind::Background, "background"),
                Some("text") => (PlaceKind::Text, "text"),
                _ => continue,
            };
            places.extend(node.get(key).and_then(|raw| Place::of(kind, raw, text)));
        }
        Ok(Self { places, text, style: Style::of(text) })
    }

    /// What others need to know of the canvas: its links, as a card has one to its file.
    #[must_use]
    pub fn seen(&self) -> Seen {
        let lines: Vec<usize> = memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
        let line_at = |byte: usize| lines.partition_point(|end| *end < byte) + 1;
        let mut links = Vec::new();
        for place in &self.places {
            let subpath = match &place.kind {
                PlaceKind::Card(subpath) => subpath.clone(),
                PlaceKind::Background => String::new(),
                PlaceKind::Text => {
                    let found = Note::parse(place.says()).links().into_iter();
                    links.extend(found.map(|link| {
                        let line = line_at(place.range(link.span.clone()).start);
                        SeenLink { line, ..link.into() }
                    }));
                    continue;
                }
            };
            let (path, line) = (place.says().to_owned(), line_at(place.start));
            links.push(SeenLink { kind: LinkKind::Embed, syntax: Syntax::Root, path, subpath, text: None, line });
        }
        links.sort_by_key(|link| link.line);
        Seen::of_links(links)
    }

    /// A text as it has to stand in a string of this file.
    #[must_use]
    pub fn encode(&self, text: &str) -> String {
        self.style.escape(text)
    }
}

impl Place {
    /// Reads a string that stands in `text`; `None` for what is none.
    fn of(kind: PlaceKind, raw: &RawValue, text: &str) -> Option<Self> {
        let raw = raw.get();
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        let start = inner.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Some(Self { kind, read: Unescaped::of(inner), start })
    }

    /// What it says.
    #[must_use]
    pub fn says(&self) -> &str {
        &self.read.says
    }

    /// Where in the file a range of what is said stands.
    #[must_use]
    pub fn range(&self, said: Range<usize>) -> Range<usize> {
        let Range { start, end } = self.read.range(said);
        self.start + start..self.start + end
    }
}

/// Reads what was proved to be JSON.
fn read<'t, T: serde::Deserialize<'t>>(raw: &'t RawValue) -> serde_json::Result<T> {
    serde_json::from_str(raw.get())
}

fn string(node: &Object<'_>, key: &str) -> Option<String> {
    node.get(key).and_then(|raw| read(raw).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_string_is_found_where_it_stands() {
        let text = "\u{feff}{ \"nodes\" :\r\n[ {\"text\":\"a \\u00e9\\ud83d\\ude00 [[b]]\\n[[c\\u0020d]]\", \"type\":\"text\"},\n\
                    {\"type\":\"file\",\"file\":\"x\",\"file\":\"d\\/\u{e9}.md\",\"subpath\":\"#H\"}, 7, {\"type\":\"link\"},\
                    {\"type\":\"group\",\"background\":\"\\ud800.png\"}]}";
        let canvas = Canvas::parse(text).unwrap();
        let says: Vec<_> = canvas.places.iter().map(|place| place.says()).collect();
        assert_eq!(says, ["a é😀 [[b]]\n[[c d]]", "d/é.md", "\u{fffd}.png"]);
        let raw = |at: usize, part: &str| {
            let place = &canvas.places[at];
            let start = place.says().find(part).unwrap();
            text.get(place.range(start..start + part.len())).unwrap()
        };
        assert_eq!((raw(0, "é"), raw(0, "😀"), raw(0, "b]]\n[")), ("\\u00e9", "\\ud83d\\ude00", "b]]\\n["));
        assert_eq!((raw(0, "c d"), raw(1, "d/é.md")), ("c\\u0020d", "d\\/\u{e9}.md"));
        let links: Vec<_> = canvas.seen().links.into_iter().map(|link| (link.line, link.path, link.subpath)).collect();
        let links: Vec<_> = links.iter().map(|(line, path, place)| (*line, path.as_str(), place.as_str())).collect();
        assert_eq!(links, [(2, "b", ""), (2, "c d", ""), (3, "d/é.md", "#H"), (3, "\u{fffd}.png", "")]);
    }

    #[test]
    fn what_is_no_canvas_is_refused() {
        for text in
            ["{", "[]", "{\"nodes\":{}}", "{\"nodes\":[]} x", "{\"nodes\":[{\"file\":\"\n\"}]}", "\u{feff}\u{feff}{}"]
        {
            assert!(Canvas::parse(text).is_err(), "{text}");
        }
        for text in ["", " \r\n", "{}", "{\"nodes\":[null, 1, {\"type\":\"file\"}, {\"type\":\"file\",\"file\":1}]}"] {
            assert!(Canvas::parse(text).unwrap().places.is_empty(), "{text}");
        }
    }
}

//! Where the HTML in a note leads, and what in it can be led to: the addresses and the ids in its tags. `html5gum` reads them by the rules
//! that browsers follow.

use std::ops::Range;

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::heading;
use super::inline::{Inline, Style};

/// The attributes whose value is one address.
const ADDRESSES: &[&[u8]] = &[b"href", b"poster", b"src"];

/// The attribute with an address for each of several sizes of a picture.
const SIZES: &[u8] = b"srcset";

/// The attributes whose value names a place in the page; `name` does only in `<a>`.
const PLACES: &[&[u8]] = &[b"id", b"name"];

/// Reads the HTML of a range: its addresses, of which the span of each is the address alone, and the names of its places with where they stand.
pub(super) fn read(text: &str, html: Range<usize>, found: &mut Vec<Inline>, anchors: &mut Vec<(String, usize)>) {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // The text of a script or a style has no tags.
    emitter.naively_switch_states(true);
    let source = text.get(html.clone()).unwrap_or_default();
    for token in Tokenizer::new_with_emitter(source, emitter) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        for (name, value) in &tag.attributes {
            if PLACES.contains(&name.as_slice()) && (name.as_slice() == b"id" || tag.name.as_slice() == b"a") {
                let at = html.start + value.span.start;
                anchors.extend(std::str::from_utf8(value).ok().map(|name| (heading::anchor(name), at)));
            }
            let is_set = name.as_slice() == SIZES;
            if !is_set && !ADDRESSES.contains(&name.as_slice()) {
                continue;
            }
            let place = html.start + value.span.start..html.start + value.span.end;
            let Some((place, value)) = written(text, place).zip(std::str::from_utf8(value).ok()) else { continue };
            let places = if is_set { candidates(text, place) } else { vec![(place, value)] };
            found.extend(places.into_iter().map(|(destination, url)| Inline {
                span: destination.clone(),
                text: destination.end..destination.end,
                destination,
                url: url.to_owned(),
                style: Style::Strict,
                is_image: name.as_slice() != b"href",
                is_sure: false,
            }));
        }
    }
}

/// Where in an attribute its value is written, without quotes.
fn written(text: &str, attribute: Range<usize>) -> Option<Range<usize>> {
    let (_, value) = text.get(attribute.clone())?.split_once('=')?;
    let value = value.trim_start();
    let from = |rest: &str| attribute.end - rest.len();
    match value.chars().next()? {
        quote @ ('"' | '\'') => {
            let inner = value.get(1..)?;
            Some(from(inner)..from(inner) + inner.find(quote)?)
        }
        _ => Some(from(value)..from(value) + value.find(|end: char| end.is_ascii_whitespace() || end == '>')?),
    }
}

/// The addresses of a `srcset`: each goes to the next blank, and what describes it to the next comma. One with a character
/// written by its name or number is left out.
fn candidates(text: &str, value: Range<usize>) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut at = value.start;
    while let Some(rest) = text.get(at..value.end) {
        let start = at + rest.find(|first: char| !first.is_ascii_whitespace() && first != ',').unwrap_or(rest.len());
        let Some(rest) = text.get(start..value.end).filter(|rest| !rest.is_empty()) else { break };
        let url = rest.get(..rest.find(|end: char| end.is_ascii_whitespace()).unwrap_or(rest.len())).unwrap_or(rest);
        let bare = url.trim_end_matches(',');
        found.extend((!bare.contains('&')).then(|| (start..start + bare.len(), bare)));
        let described = rest.get(url.len()..).filter(|_| bare == url).unwrap_or_default();
        at = start + url.len() + described.find(',').unwrap_or(described.len());
    }
    found
}

//! Where the HTML in a note leads: the addresses in its tags. `html5gum` reads them by the rules that browsers follow.

use std::ops::Range;

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::link::Style;
use super::markup::Inline;

/// The attributes whose value is one address.
const ADDRESSES: &[&[u8]] = &[b"href", b"poster", b"src"];

/// The attribute with an address for each of several sizes of a picture.
const SIZES: &[u8] = b"srcset";

/// The addresses in the HTML of a range.
pub(super) fn addresses(text: &str, html: Range<usize>) -> Vec<Inline> {
    let mut found = Vec::new();
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // The text of a script or a style has no tags.
    emitter.naively_switch_states(true);
    let source = text.get(html.clone()).unwrap_or_default();
    for token in Tokenizer::new_with_emitter(source, emitter) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        let tag_span = html.start + tag.span.start..html.start + tag.span.end;
        for (name, value) in &tag.attributes {
            let is_set = name.as_slice() == SIZES;
            if !is_set && !ADDRESSES.contains(&name.as_slice()) {
                continue;
            }
            let place = html.start + value.span.start..html.start + value.span.end;
            let Some((place, value)) = written(text, place).zip(std::str::from_utf8(value).ok()) else { continue };
            let places = if is_set { candidates(text, place) } else { vec![(place, value)] };
            let (inner, end) = Some(tag_span.end)
                .filter(|_| tag.name.as_slice() == b"a")
                .and_then(|start| inside(text, start))
                .unwrap_or((tag_span.end..tag_span.end, tag_span.end));
            for (destination, url) in places {
                found.push(Inline {
                    span: tag_span.start..end,
                    text: inner.clone(),
                    destination,
                    url: url.to_owned(),
                    style: Style::Strict,
                    is_image: name.as_slice() != b"href",
                    is_sure: false,
                });
            }
        }
    }
    found
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

/// What is shown of an `<a …>` that ends at `start`, and where its `</a>` ends; `None` where that is not in its paragraph.
fn inside(text: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let rest = text.get(start..)?;
    let is_tag = |at: usize, name: &str| {
        let tag = rest.get(at..at + name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name));
        tag && !rest.get(at + name.len()..).is_some_and(|rest| rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    // Links do not nest, so nothing is looked at for two of them.
    let tags = memchr::memchr_iter(b'<', rest.as_bytes());
    let end = tags.take_while(|at| !is_tag(*at, "<a")).find(|at| is_tag(*at, "</a"))?;
    let closed = rest.get(end..)?.find('>')? + end + 1;
    let has_blank_line =
        ["\n\n", "\n\r\n"].iter().any(|blank| rest.get(..end).is_some_and(|inner| inner.contains(blank)));
    (!has_blank_line).then_some((start..start + end, start + closed))
}

//! Where in a note there is text: the one pass over its Markdown, on which all else stands.
//!
//! `pulldown-cmark` says what is code, mathematics, HTML, a heading or a link of Markdown's own; the `%%` comments that
//! Obsidian has besides are found here.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::heading::{self, Heading};
use super::html;
use super::inline::{Inline, Style};
use super::run::{Runs, Tracker};

/// What one pass finds. Every range is in bytes of the whole note.
#[derive(Debug, Default)]
pub(super) struct Markup {
    /// Where no links are, sorted and apart: code, mathematics, HTML, comments.
    pub(super) opaque: Vec<Range<usize>>,
    /// Where a `%%` stands that begins a comment without an end.
    pub(super) open_comment: Option<usize>,
    /// Blocks and spans of code, in their order.
    pub(super) code: Vec<Range<usize>>,
    /// Headings that stand in no quote and no list, in their order.
    pub(super) headings: Vec<Heading>,
    /// Links that Markdown itself has.
    pub(super) links: Vec<Inline>,
    /// What links of Markdown can name beside the headings as they are written, as anchors are compared: headings as they are
    /// shown, ids that stand behind them, and those of HTML. With each where it stands.
    pub(super) anchors: Vec<(String, usize)>,
    /// The texts in which facts can stand.
    pub(super) runs: Runs,
    /// Paragraphs, items, quotes and other blocks, the outer ones first.
    pub(super) blocks: Vec<(Shape, Range<usize>)>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    Item,
    Leaf,
    List,
    /// A quote or a footnote.
    Quote,
}

/// A link that is not yet at its end.
struct Open {
    inner_end: usize,
    url: String,
    is_image: bool,
    is_inline: bool,
}

impl Markup {
    /// Reads the text from `body` on.
    pub(super) fn parse(text: &str, body: usize) -> Self {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS;
        let body = if body == 0 && text.starts_with('\u{feff}') { 3 } else { body };
        let source = text.get(body..).unwrap_or_default();
        let parser = Parser::new_ext(source, options | Options::ENABLE_MATH);
        let definitions = parser.reference_definitions().iter();
        let definitions: Vec<_> =
            definitions.map(|(_, definition)| (definition.span.clone(), definition.dest.to_string())).collect();
        let mut reading = Reading::new(text);
        let mut tracker = Tracker::default();
        for (event, range) in parser.into_offset_iter() {
            let range = range.start + body..range.end + body;
            tracker.take(&event, &range);
            reading.take(event, range);
        }
        let links_in_math = math_hides(text, &reading.math).then(|| {
            // A reader without mathematics shows them.
            let mut plain = Reading::new(text);
            let events = Parser::new_ext(source, options).into_offset_iter();
            events.for_each(|(event, range)| plain.take(event, range.start + body..range.end + body));
            plain.markup.links.retain(|link| touches(&reading.math, &link.destination));
            plain.markup.links
        });
        let mut markup = Self { runs: tracker.runs, ..reading.markup };
        markup.links.extend(links_in_math.into_iter().flatten());
        for (span, url) in definitions {
            markup.links.extend(definition(text, span.start + body..span.end + body, url));
        }
        markup.links.sort_by_key(|link| link.span.start);
        let (comments, open) = comments(text, body, &markup.opaque);
        markup.open_comment = open;
        if !comments.is_empty() {
            markup.opaque.extend(comments);
            markup.opaque = joined(markup.opaque);
        }
        markup
    }

    /// The block around a byte: with `whole` the outermost, else the innermost item of a list or paragraph.
    pub(super) fn block_at(&self, byte: usize, whole: bool) -> Option<Range<usize>> {
        let mut around = self.blocks.iter().filter(|(_, range)| range.contains(&byte));
        if whole {
            return around.next().map(|(_, range)| range.clone());
        }
        let inner = around.filter(|(shape, _)| matches!(shape, Shape::Item | Shape::Leaf));
        // Paragraphs of an item are part of it; the last one found is the innermost.
        inner
            .fold(None, |best: Option<&(Shape, Range<usize>)>, block| match best {
                Some((Shape::Item, _)) if block.0 == Shape::Leaf => best,
                _ => Some(block),
            })
            .map(|(_, range)| range.clone())
    }
}

/// The pass while it is under way.
struct Reading<'t> {
    text: &'t str,
    markup: Markup,
    open: Vec<Open>,
    /// Where the heading that is open begins, and its text as it is shown.
    heading: Option<(usize, String)>,
    /// How many quotes, lists and other containers are open.
    depth: usize,
    /// Mathematics, in its order.
    math: Vec<Range<usize>>,
}

impl<'t> Reading<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, markup: Markup::default(), open: Vec::new(), heading: None, depth: 0, math: Vec::new() }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest of Markdown says nothing here")]
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if let (Some(open), false) = (self.open.last_mut(), matches!(event, Event::End(_))) {
            open.inner_end = open.inner_end.max(range.end);
        }
        if let (Some((_, heading)), Event::Text(shown) | Event::Code(shown)) = (&mut self.heading, &event) {
            heading.push_str(shown);
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::End(TagEnd::Link | TagEnd::Image) => self.end_link(range),
            Event::End(end) if is_container(end) => self.depth = self.depth.saturating_sub(1),
            Event::Code(_) => {
                self.markup.code.push(range.clone());
                self.hide(range);
            }
            Event::InlineHtml(_) => {
                self.read_html(range.clone());
                self.hide(range);
            }
            Event::InlineMath(_) | Event::DisplayMath(_) => {
                self.math.push(range.clone());
                self.hide(range);
            }
            Event::Html(_) => self.hide(range),
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest of Markdown says nothing here")]
    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.heading = Some((range.start, String::new()));
                if self.depth == 0 {
                    self.markup.headings.extend(Heading::read(self.text, range.clone(), level as u8));
                }
                self.markup.blocks.push((Shape::Leaf, range));
            }
            Tag::CodeBlock(_) | Tag::HtmlBlock => {
                if matches!(tag, Tag::CodeBlock(_)) {
                    self.markup.code.push(range.clone());
                } else {
                    self.read_html(range.clone());
                }
                self.markup.blocks.push((Shape::Leaf, range.clone()));
                self.hide(range);
            }
            Tag::Paragraph | Tag::Table(_) => self.markup.blocks.push((Shape::Leaf, range)),
            Tag::Item => {
                self.depth += 1;
                self.markup.blocks.push((Shape::Item, range));
            }
            Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_) => {
                self.depth += 1;
                let shape = if matches!(tag, Tag::List(_)) { Shape::List } else { Shape::Quote };
                self.markup.blocks.push((shape, range));
            }
            Tag::Link { link_type, dest_url, .. } => self.open_link(link_type, &dest_url, range.start + 1, false),
            Tag::Image { link_type, dest_url, .. } => self.open_link(link_type, &dest_url, range.start + 2, true),
            _ => {}
        }
    }

    fn read_html(&mut self, range: Range<usize>) {
        html::read(self.text, range, &mut self.markup.links, &mut self.markup.anchors);
    }

    fn end_heading(&mut self) {
        let Some((at, shown)) = self.heading.take() else { return };
        let (shown, id) = match shown.strip_suffix('}').and_then(|shown| shown.rsplit_once("{#")) {
            Some((shown, id)) => (shown, Some(heading::anchor(id))),
            None => (shown.as_str(), None),
        };
        let anchor = heading::anchor(shown);
        let is_new = self.markup.headings.last().is_none_or(|last| last.anchor() != anchor);
        let new = Some(anchor).filter(|_| is_new).into_iter().chain(id);
        self.markup.anchors.extend(new.map(|anchor| (anchor, at)));
    }

    fn open_link(&mut self, link_type: LinkType, url: &str, inner_end: usize, is_image: bool) {
        let is_inline = link_type == LinkType::Inline;
        self.open.push(Open { inner_end, url: url.to_owned(), is_image, is_inline });
    }

    fn end_link(&mut self, span: Range<usize>) {
        let Some(open) = self.open.pop() else { return };
        // What stands in a link stands in the one around it too.
        if let Some(outer) = self.open.last_mut() {
            outer.inner_end = outer.inner_end.max(span.end);
        }
        if !open.is_inline {
            return;
        }
        let rest = self.text.get(open.inner_end..span.end).unwrap_or_default();
        let Some(bracket) = rest.find("](") else { return };
        let bracket = open.inner_end + bracket;
        let Some((destination, style)) = destination(self.text, bracket + 2) else { return };
        // What is written has to be what is meant, or it could not be written anew.
        if !is_said(self.text, &destination, &open.url) {
            return;
        }
        let text = span.start + if open.is_image { 2 } else { 1 }..bracket;
        let Open { url, is_image, .. } = open;
        self.markup.links.push(Inline { span, text, destination, url, style, is_image, is_sure: true });
    }

    fn hide(&mut self, range: Range<usize>) {
        // Lines of a block of HTML come again, one by one.
        if self.markup.opaque.last().is_none_or(|last| last.end <= range.start) {
            self.markup.opaque.push(range);
        }
    }
}

/// Whether a destination may stand in mathematics, or a link have its end there.
fn math_hides(text: &str, math: &[Range<usize>]) -> bool {
    math.iter().any(|math| text.get(math.clone()).is_some_and(|math| math.contains(['(', '<', ')'])))
}

fn is_container(end: TagEnd) -> bool {
    matches!(end, TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition)
}

/// The destination of a link, which starts somewhere after `from`, without `<` and `>`.
fn destination(text: &str, from: usize) -> Option<(Range<usize>, Style)> {
    let rest = text.get(from..)?;
    // On the next line of a quote its mark comes first.
    let mut is_next_line = false;
    let after = rest.trim_start_matches(|character: char| {
        is_next_line |= character == '\n';
        character.is_ascii_whitespace() || (is_next_line && character == '>')
    });
    let start = from + (rest.len() - after.len());
    let rest = text.get(start..)?;
    if rest.starts_with('<') {
        let length = end_of(rest.get(1..)?, |byte, _| byte == b'>')?;
        return Some((start + 1..start + 1 + length, Style::Angled));
    }
    let length = end_of(rest, |byte, depth| byte.is_ascii_whitespace() || (byte == b')' && depth == 0));
    Some((start..start + length.unwrap_or(rest.len()), Style::Encoded))
}

/// Whether a destination, as it is written, means this address.
fn is_said(text: &str, destination: &Range<usize>, url: &str) -> bool {
    text.get(destination.clone()).is_some_and(|written| meaning(written).as_deref() == Some(url))
}

/// What a destination means that is written without `<` and `>`, before `%20` is read as a blank; `None` for what is none.
pub(super) fn meaning(written: &str) -> Option<String> {
    if !written.contains('&') {
        return Some(unescaped(written));
    }
    // The names of characters, such as `&auml;`, are best known to who reads them.
    let link = format!("[](<{written}>)");
    let Event::Start(Tag::Link { dest_url, .. }) = Parser::new(&link).nth(1)? else { return None };
    Some(dest_url.into_string())
}

/// A destination without the `\` before characters that mean themselves.
pub(crate) fn unescaped(written: &str) -> String {
    let mut out = String::with_capacity(written.len());
    let mut characters = written.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next_if(char::is_ascii_punctuation) } else { None };
        out.push(escaped.unwrap_or(character));
    }
    out
}

/// Where a text ends by its own rule, which is told how many brackets are open; what a `\` stands before is not asked.
fn end_of(text: &str, is_end: impl Fn(u8, usize) -> bool) -> Option<usize> {
    let (mut depth, mut is_escaped) = (0usize, false);
    text.bytes().position(|byte| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        if is_end(byte, depth) {
            return true;
        }
        match byte {
            b'\\' => is_escaped = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        false
    })
}

/// The link of a line such as `[label]: entities/jane.md`; it is sure only where it names a note, since much else looks
/// like it.
fn definition(text: &str, span: Range<usize>, url: String) -> Option<Inline> {
    let definition = text.get(span.clone())?;
    // A label ends at the first bracket that no backslash stands before.
    let is_end = |at: usize| {
        let before = definition.get(..at).unwrap_or_default();
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 0
    };
    let label = definition.match_indices("]:").map(|(at, _)| at).find(|at| is_end(*at))?;
    let (destination, style) = destination(text, span.start + label + 2)?;
    if !is_said(text, &destination, &url) {
        return None;
    }
    let path = url.split('#').next().unwrap_or_default();
    let is_sure = path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"));
    let text = span.start + 1..span.start + label;
    Some(Inline { text, span, destination, url, style, is_image: false, is_sure })
}

/// The `%%` comments in what is not hidden already, and where one starts that is not closed, which is none.
fn comments(text: &str, body: usize, opaque: &[Range<usize>]) -> (Vec<Range<usize>>, Option<usize>) {
    let marks = memchr::memmem::find_iter(text.as_bytes().get(body..).unwrap_or_default(), b"%%").map(|at| at + body);
    let mut marks = marks.filter(|at| !holds(opaque, *at));
    let mut comments = Vec::new();
    while let Some(start) = marks.next() {
        let Some(end) = marks.next() else { return (comments, Some(start)) };
        comments.push(start..end + 2);
    }
    (comments, None)
}

/// Ranges in their order, those that overlap as one.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// Whether one of some ranges, which are sorted and apart, holds a byte.
pub(super) fn holds(ranges: &[Range<usize>], byte: usize) -> bool {
    range_around(ranges, byte).is_some()
}

/// The one of some ranges, which are sorted and apart, that holds a byte.
pub(super) fn range_around(ranges: &[Range<usize>], byte: usize) -> Option<&Range<usize>> {
    let after = ranges.partition_point(|range| range.start <= byte);
    ranges.get(..after).and_then(<[_]>::last).filter(|range| byte < range.end)
}

/// Whether one of some ranges, which are sorted and apart, has a byte in common with `span` that is not within `inner`.
pub(super) fn crosses(ranges: &[Range<usize>], span: &Range<usize>, inner: &Range<usize>) -> bool {
    let before = ranges.partition_point(|range| range.end <= span.start);
    let mut touching = ranges.iter().skip(before).take_while(|range| range.start < span.end);
    touching.any(|range| range.start < inner.start || inner.end < range.end)
}

/// Whether one of some ranges, which are sorted and apart, has a byte in common with `span`.
pub(super) fn touches(ranges: &[Range<usize>], span: &Range<usize>) -> bool {
    let before = ranges.partition_point(|range| range.end <= span.start);
    ranges.get(before).is_some_and(|range| range.start < span.end)
}

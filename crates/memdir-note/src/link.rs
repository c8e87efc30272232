//! [`Link`]: a link as it stands in a note, where it stands, and what has to be written to lead it elsewhere.
//!
//! Owns the grammar: `[[target#heading|text]]`, `![[…]]`, `[text](target)`, `[label]: target`, addresses in tags of HTML, and
//! links in values of the front matter.
//! Which note a target means is for [`super::Targets`].

use std::borrow::Cow;
use std::ops::Range;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::front::{Quote, Scalar};
use super::inline::Inline;
pub use super::inline::Style;
use super::markup::{self, Markup, crosses, touches};
use super::{Note, Syntax};
use memdir_core::report::LinkKind;

/// So much of the text of a link of Markdown is kept. Images stand in the texts of images as deep as one likes, and every text holds all
/// those in it: without an end, ten thousand in a note of 60 KB would have 300 MB of them.
const MOST_TEXT_BYTES: usize = 200;

/// A link in a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// By which rules it is followed.
    pub syntax: Syntax,
    /// All of it, in bytes of the note.
    pub span: Range<usize>,
    /// The path in it, before `#` and `|`; empty for a link to a place in the same note.
    pub target: Range<usize>,
    /// The path as it is meant.
    pub path: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target; of a long text of a link of Markdown the start.
    pub text: Option<String>,
    /// The line on which it starts, from 1.
    pub line: usize,
    /// How the characters of its path are written.
    pub style: Style,
}

/// The parts of a link that somebody names, not in a note.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Named {
    /// By which rules it is followed.
    pub syntax: Syntax,
    /// The path before `#` and `|`.
    pub path: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target.
    pub text: Option<String>,
}

/// Whether a text may have links: a look at its bytes, which spares reading the Markdown of most texts that have none.
#[must_use]
pub fn may_stand_in(text: &str) -> bool {
    let has = |mark: &str| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    has("[[") || has("](") || has("]:") || (has("<") && has("="))
}

/// Takes a link apart: `[[entities/jane_doe#Work|Jane]]`, `[Jane](entities/jane_doe.md)`, or the target alone.
///
/// # Examples
///
/// ```
/// use memdir_note::link;
///
/// let link = link::parse("[[entities/jane_doe.md#Work|Jane]]");
/// assert_eq!((link.path.as_str(), link.subpath.as_str()), ("entities/jane_doe.md", "#Work"));
/// assert_eq!(link.text.as_deref(), Some("Jane"));
/// ```
#[must_use]
pub fn parse(written: &str) -> Named {
    let written = written.trim();
    let note = Note::parse(written);
    let whole = note.links().into_iter().find(|link| link.span == (0..written.len()));
    if let Some(Link { syntax, path, subpath, text, .. }) = whole {
        return Named { syntax, path, subpath, text };
    }
    let inner = written.strip_prefix('!').unwrap_or(written);
    let inner = inner.strip_prefix("[[").and_then(|inner| inner.strip_suffix("]]")).unwrap_or(written);
    let parts = split(inner);
    Named {
        syntax: Syntax::Wiki,
        path: parts.target(inner).trim().to_owned(),
        subpath: parts.subpath(inner).trim().to_owned(),
        text: parts.text(inner).map(|text| text.trim().to_owned()),
    }
}

/// Where the parts of the inside of a wikilink end.
struct Parts {
    /// The path.
    path: usize,
    /// Path and subpath.
    target: usize,
    /// Where the text starts.
    text: Option<usize>,
}

impl Parts {
    fn target<'t>(&self, inner: &'t str) -> &'t str {
        inner.get(..self.path).unwrap_or_default()
    }

    fn subpath<'t>(&self, inner: &'t str) -> &'t str {
        inner.get(self.path..self.target).unwrap_or_default()
    }

    fn text<'t>(&self, inner: &'t str) -> Option<&'t str> {
        inner.get(self.text?..)
    }
}

/// Splits the inside of a wikilink. In a table the bar is escaped.
fn split(inner: &str) -> Parts {
    let bar = inner.find('|');
    let target = bar.unwrap_or(inner.len());
    let is_escaped = bar.is_some() && inner.get(..target).is_some_and(|target| target.ends_with('\\'));
    let target = if is_escaped { target - 1 } else { target };
    let path = inner.get(..target).and_then(|target| target.find(['#', '^'])).unwrap_or(target);
    Parts { path, target, text: bar.map(|bar| bar + 1) }
}

impl Note<'_> {
    /// All links, in the order of their places. External addresses are none; nor is anything in code, nor a wikilink in
    /// mathematics, HTML or a comment. Links of Markdown in mathematics and in comments with `%%`, which not every reader
    /// has, and the addresses in tags of HTML are links if they lead to a file. Code, mathematics and comments inside
    /// the brackets of a wikilink are part of it.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for scalar in &self.front.scalars {
            links.extend(self.wikilinks(scalar.span.clone(), Some(scalar.quote)));
            links.extend(self.links_in_scalar(scalar));
        }
        let wikilinks = self.wikilinks(self.body()..self.text.len(), None);
        if self.markup.links.is_empty() {
            links.extend(wikilinks);
            return links;
        }
        // A wikilink may stand in the text of a link of Markdown; where it is part of anything else in one, as in
        // `[[target]](text)`, that one may be none.
        let spans: Vec<_> = wikilinks.iter().map(|link| link.span.clone()).collect();
        let is_sure = |link: &Inline| {
            let (before, after) = (link.span.start..link.text.start, link.text.end..link.span.end);
            let is_hidden = touches(&self.markup.opaque, &link.destination);
            link.is_sure && !is_hidden && !touches(&spans, &before) && !touches(&spans, &after)
        };
        let inline = self.markup.links.iter().filter(|link| !touches(&spans, &link.destination));
        let inline = inline.filter_map(|link| self.inline(link, is_sure(link)));
        let first = links.len();
        links.extend(inline);
        links.extend(wikilinks);
        if let Some(body) = links.get_mut(first..) {
            body.sort_by_key(|link| link.span.start);
        }
        links
    }

    /// The links of Markdown in a scalar of the front matter, where nothing is written in it by an escape of YAML.
    fn links_in_scalar(&self, scalar: &Scalar) -> Vec<Link> {
        let written = self.slice(scalar.span.clone());
        let is_escaped = match scalar.quote {
            Quote::Double => written.contains('\\'),
            Quote::Single => written.trim_matches('\'').contains('\''),
            Quote::Plain | Quote::Block => false,
        };
        if is_escaped || !written.contains("](") {
            return Vec::new();
        }
        let quote = usize::from(matches!(scalar.quote, Quote::Single | Quote::Double));
        let found = Markup::parse(self.slice(0..scalar.span.end - quote), scalar.span.start + quote);
        let links = found.links.iter().filter(|link| link.style != Style::Strict);
        let links = links.filter_map(|link| self.inline(link, false));
        links.map(|link| Link { kind: LinkKind::FrontMatter, style: Style::Strict, ..link }).collect()
    }

    /// The wikilinks in a range; `quote` tells of a scalar of the front matter.
    fn wikilinks(&self, range: Range<usize>, quote: Option<Quote>) -> Vec<Link> {
        let source = self.slice(range.clone());
        let bytes = source.as_bytes();
        let mut links = Vec::new();
        let mut done = 0;
        for open in memchr::memmem::find_iter(bytes, b"[[") {
            if open < done {
                continue;
            }
            // Of several brackets the last two count.
            let brackets = bytes.get(open..).unwrap_or_default().iter().take_while(|byte| **byte == b'[').count();
            let start = open + brackets - 2;
            done = start + 2;
            let Some(length) = inside(source.get(start + 2..).unwrap_or_default()) else { continue };
            let is_escaped = |at: usize| {
                let before = bytes.get(..at).unwrap_or_default().iter().rev();
                before.take_while(|byte| **byte == b'\\').count() % 2 == 1
            };
            let is_embed = start.checked_sub(1).is_some_and(|at| bytes.get(at) == Some(&b'!') && !is_escaped(at));
            let begin = if is_embed { start - 1 } else { start };
            let span = range.start + begin..range.start + start + 2 + length + 2;
            let inner = span.end - 2 - length..span.end - 2;
            if is_escaped(begin) || (quote.is_none() && crosses(&self.markup.opaque, &span, &inner)) {
                continue;
            }
            done = start + 2 + length + 2;
            links.extend(self.wikilink(span, range.start + start + 2, length, is_embed, quote));
        }
        links
    }

    fn wikilink(
        &self,
        span: Range<usize>,
        inside: usize,
        length: usize,
        is_embed: bool,
        quote: Option<Quote>,
    ) -> Option<Link> {
        let inner = self.slice(inside..inside + length);
        let parts = split(inner);
        let written = parts.target(inner);
        let (path, subpath) = (written.trim(), parts.subpath(inner).trim());
        if path.is_empty() && subpath.is_empty() {
            return None;
        }
        let start = inside + (written.len() - written.trim_start().len());
        let plain = |text: &str| quote.map_or_else(|| Some(text.to_owned()), |quote| quote.decode(text));
        let kind = match (quote, is_embed) {
            (Some(_), _) => LinkKind::FrontMatter,
            (None, true) => LinkKind::Embed,
            (None, false) => LinkKind::Wikilink,
        };
        Some(Link {
            kind,
            syntax: Syntax::Wiki,
            target: start..start + path.len(),
            path: plain(path)?,
            subpath: plain(subpath)?,
            text: parts.text(inner).map(|text| text.trim().to_owned()),
            line: self.line_at(span.start),
            span,
            style: quote.map_or(Style::Wiki, Style::Yaml),
        })
    }

    /// A link of Markdown's own, if it leads to a file.
    fn inline(&self, link: &Inline, is_sure: bool) -> Option<Link> {
        if link.url.is_empty() || is_external(&link.url) {
            return None;
        }
        let written = self.slice(link.destination.clone());
        let (path, subpath) = link.url.split_at(link.url.find('#').unwrap_or(link.url.len()));
        let (path, end) = match (without_query(path), written.find('?')) {
            (Some(path), Some(query)) => (path, query),
            _ => (path, heading(written).unwrap_or(written.len())),
        };
        // A `#` or `?` may also be written by its name or number.
        if written.get(..end).and_then(markup::meaning).as_deref() != Some(path) {
            return None;
        }
        let decode = |text: &str| percent_decode_str(text).decode_utf8().map(Cow::into_owned);
        let text = self.slice(link.text.clone());
        let text = text.get(..text.floor_char_boundary(MOST_TEXT_BYTES)).unwrap_or(text);
        Some(Link {
            kind: if link.is_image { LinkKind::Embed } else { LinkKind::Markdown },
            syntax: if is_sure { Syntax::Markdown } else { Syntax::Unsure },
            span: link.span.clone(),
            target: link.destination.start..link.destination.start + end,
            path: decode(path).ok()?,
            subpath: decode(subpath).ok()?,
            text: (!text.is_empty()).then(|| text.to_owned()),
            line: self.line_at(link.span.start),
            style: link.style,
        })
    }
}

/// The length of the inside of a wikilink, after `[[`; `None` where it is not one.
fn inside(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let end = memchr::memchr3(b']', b'\n', b'[', bytes)?;
    // A single bracket can stand in the text that is shown.
    let mut end = end;
    while let Some(byte) = bytes.get(end) {
        match (byte, bytes.get(end + 1)) {
            (b']', Some(b']')) => {
                let closing = bytes.get(end..)?.iter().take_while(|byte| **byte == b']').count();
                // `[[a [b]]]`: the last two close the link, where one was open in it.
                let has_open = memchr::memchr(b'[', bytes.get(..end)?).is_some();
                return Some(if closing > 2 && has_open { end + 1 } else { end });
            }
            (b'\n', _) | (b'[', Some(b'[')) => return None,
            _ => end += 1 + memchr::memchr3(b']', b'\n', b'[', bytes.get(end + 1..)?)?,
        }
    }
    None
}

/// The path before a question to a server, as in `ada.png?raw=true`; `None` where there is none, or the `?` is part of a
/// name: nothing before it ends as a file does.
fn without_query(path: &str) -> Option<&str> {
    let (path, query) = path.split_once('?')?;
    let (_, extension) = path.rsplit_once('.')?;
    let is_extension = (1..=8).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_name = query.is_empty() || query.ends_with(".md");
    (is_extension && !is_name).then_some(path)
}

/// Where the heading begins in a destination as it is written: at the first `#` that is not in the number of a character.
fn heading(written: &str) -> Option<usize> {
    let is_number = |at: usize| {
        let number = written
            .get(at + 1..)
            .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit() || next == 'x' || next == 'X'));
        number && written.get(..at).is_some_and(|before| before.ends_with('&'))
    };
    written.match_indices('#').map(|(at, _)| at).find(|at| !is_number(*at))
}

/// Whether an address leads out of the memory: it has a scheme, or names a host.
fn is_external(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    let has_scheme = scheme.len() < url.len()
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'));
    has_scheme || url.starts_with("//") || url.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."))
}

/// What is written as `%XX` in a destination of Markdown between `<` and `>`: what could end it, or end the cell of a table,
/// begin code, mathematics or a wikilink, or be read as a question to a server. Letters of any script stay.
const ANGLED: &AsciiSet = &CONTROLS
    .add(b'<')
    .add(b'>')
    .add(b'%')
    .add(b'#')
    .add(b'\\')
    .add(b'?')
    .add(b'|')
    .add(b'`')
    .add(b'$')
    .add(b'[')
    .add(b']');

/// As [`ANGLED`], without `<` and `>` around it.
const ENCODED: &AsciiSet = &ANGLED.add(b' ').add(b'(').add(b')');

/// As [`ENCODED`], with what only some of its neighbours make something else, or what ends a value of HTML or YAML.
const STRICT: &AsciiSet = &ENCODED.add(b'&').add(b'"').add(b'\'');

impl Link {
    /// Writes a path so that it reads as `path` in the place of this link's own, which is `written` there; `None` where
    /// such a link cannot say it.
    ///
    /// In a link of Markdown the last components that stay as they are keep their spelling, and letters that are not of
    /// ASCII are written as those before.
    #[must_use]
    pub fn encode(&self, written: &str, path: &str) -> Option<String> {
        let set = match self.style {
            Style::Encoded => ENCODED,
            Style::Angled => ANGLED,
            Style::Strict => STRICT,
            Style::Wiki | Style::Yaml(_) => return self.style.encode(path),
        };
        let is_all_ascii = written.is_ascii() && percent_decode_str(written).any(|byte| !byte.is_ascii());
        let parts: Vec<&str> = path.split('/').collect();
        let kept: Vec<&str> = written.rsplit('/').collect();
        let same = parts.iter().rev().zip(&kept).take_while(|(part, kept)| decoded(kept).as_deref() == Some(**part));
        let (same, first) = (same.count(), parts.iter().map(|part| encoded(part, set, is_all_ascii)));
        let spelled = first.take(parts.len() - same);
        let spelled = spelled.chain(kept.iter().take(same).rev().map(|kept| (*kept).to_owned()));
        let spelled = spelled.collect::<Vec<_>>().join("/");
        let ways = [spelled, encoded(path, set, is_all_ascii), encoded(path, STRICT, is_all_ascii)];
        ways.into_iter().map(without_scheme).find(|way| self.reads_as(way, path))
    }

    /// Whether a link of Markdown of this style, with a path that is written so, has this path.
    fn reads_as(&self, written: &str, path: &str) -> bool {
        let link = if self.style == Style::Encoded { format!("[]({written})") } else { format!("[](<{written}>)") };
        let found = Note::parse(&link).links();
        let is_whole = |found: &Link| {
            let found_path = found.path.strip_prefix("./").unwrap_or(&found.path);
            found.span == (0..link.len()) && found_path == path.strip_prefix("./").unwrap_or(path)
        };
        found.len() == 1 && found.iter().all(is_whole)
    }
}

impl Style {
    /// Writes a path so that it reads as `path` in a link of this style; `None` where such a link cannot say it.
    #[must_use]
    pub fn encode(self, path: &str) -> Option<String> {
        let is_sayable = !path.contains(['#', '^', '|', '[', ']', '\n', '\r']);
        match self {
            Self::Wiki => is_sayable.then(|| path.to_owned()),
            Self::Yaml(quote) => is_sayable.then(|| quote.encode(path)).flatten(),
            Self::Angled => Some(encoded(path, ANGLED, false)),
            Self::Encoded => Some(encoded(path, ENCODED, false)),
            Self::Strict => Some(encoded(path, STRICT, false)),
        }
    }
}

/// A part of a destination of Markdown as it is meant.
fn decoded(written: &str) -> Option<String> {
    let meant = markup::meaning(written)?;
    percent_decode_str(&meant).decode_utf8().ok().map(Cow::into_owned)
}

/// A path that no reader takes for an address with a scheme or a host.
fn without_scheme(path: String) -> String {
    if is_external(&path) { format!("./{path}") } else { path }
}

/// Only what is in `set` is encoded, and with `is_all_ascii` letters that are not of ASCII.
fn encoded(path: &str, set: &'static AsciiSet, is_all_ascii: bool) -> String {
    let mut out = String::with_capacity(path.len());
    for character in path.chars() {
        if character.is_ascii() || is_all_ascii {
            out.extend(utf8_percent_encode(character.encode_utf8(&mut [0; 4]), set));
        } else {
            out.push(character);
        }
    }
    out
}

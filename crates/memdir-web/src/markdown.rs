//! A note's Markdown as HTML that runs nothing and loads nothing.
//!
//! `pulldown-cmark` reads it; HTML that a note holds is shown as the text that it is; pictures of the memory are shown, and others
//! become the addresses that they have; links lead to pages of notes, or where the note says, if that is the web. `ammonia` then
//! lets through what is named here and no more, in case anything above was wrong.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use ammonia::Builder;
use maud::{Markup, PreEscaped, html};
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkEntry, LinkKind};
use memdir_note::Note;
use memdir_note::fact::Callout;
use memdir_note::link::Link;
use percent_encoding::percent_decode_str;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::{href, layout};

/// So many bytes of HTML are on one page, if that is not a single block.
const PART_BYTES: usize = 40 * 1024;
/// A block that is deeper than this, or larger than a part, is shown as the text that it is.
const MOST_DEPTH: usize = 40;
/// So many bytes of such a text are on one page.
const PLAIN_BYTES: usize = 6 * 1024;
/// Of a line that is told of on another page, no more than this is read.
const LINE_BYTES: usize = 4 * 1024;

/// Where the links of a note lead, by what is written in them.
#[derive(Debug, Default)]
pub(crate) struct Links(HashMap<(String, String), Option<MemoryPath>>);

impl Links {
    pub(crate) fn new(links: &[LinkEntry]) -> Self {
        let pairs = links.iter().map(|link| ((link.target.clone(), link.subpath.clone()), link.resolved.clone()));
        Self(pairs.collect())
    }

    /// The note to which a link leads, by what is written in it before and from `#` on.
    pub(crate) fn to(&self, path: &str, subpath: &str) -> Option<&MemoryPath> {
        self.0.get(&(path.to_owned(), subpath.to_owned()))?.as_ref()
    }
}

/// Which part of a note is shown, and where the others are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartWanted<'w> {
    /// Its number, from 1; one that is not there is the last one.
    pub(crate) part: usize,
    /// The place that it holds, if one does: then its number does not count.
    pub(crate) place: Option<&'w str>,
    /// The address of a part, which ends where its number goes; none where there is but one.
    pub(crate) address: Option<&'w str>,
}

impl PartWanted<'_> {
    /// Of a text that is all on one page.
    pub(crate) const FIRST: Self = Self { part: 1, place: None, address: None };
}

/// A part of a note as HTML.
pub(crate) struct Rendered {
    /// The part.
    pub(crate) html: Markup,
    /// Its number, from 1.
    pub(crate) part: usize,
    /// How many parts there are.
    pub(crate) parts: usize,
}

/// A line as it is read: of each link its text, else the name of its note.
pub(crate) fn without_links(line: &str) -> String {
    let note = Note::parse(line);
    let (mut plain, mut at) = (String::new(), 0);
    for Link { span, path, text, .. } in note.links() {
        plain.push_str(line.get(at..span.start).unwrap_or_default());
        let name = path.rsplit('/').next().unwrap_or_default();
        plain.push_str(text.as_deref().unwrap_or_else(|| name.strip_suffix(".md").unwrap_or(name)));
        at = span.end;
    }
    plain.push_str(line.get(at..).unwrap_or_default());
    plain
}

/// As [`without_links`], without the marks of Markdown too: `- **City**: Porto` is read as `City: Porto`.
pub(crate) fn as_read(line: &str) -> String {
    let line = line.get(..line.floor_char_boundary(LINE_BYTES)).unwrap_or(line).trim();
    let mut read = String::new();
    for event in Parser::new(&without_links(line)) {
        if let Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) = event {
            read.push_str(&text);
        }
    }
    // What is nothing but marks is shown as it is.
    if read.trim().is_empty() { line.to_owned() } else { read }
}

/// Renders a part of a note. Links to places in other parts lead to these.
pub(crate) fn render(text: &str, links: &Links, wanted: PartWanted<'_>) -> Rendered {
    let blocks = blocks(text, links);
    let mut parts: Vec<Vec<&Block>> = vec![Vec::new()];
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut bytes = 0;
    for block in &blocks {
        if bytes > 0 && bytes + block.bytes() > PART_BYTES {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += block.bytes();
        places.extend(block.places.iter().map(|place| (place.clone(), parts.len())));
        parts.last_mut().into_iter().for_each(|part| part.push(block));
    }
    let part = wanted.place.and_then(|place| places.get(place).copied()).unwrap_or(wanted.part).clamp(1, parts.len());
    let chosen: String = parts.get(part - 1).into_iter().flatten().map(|block| block.html.as_str()).collect();
    places.retain(|_, other| *other != part);
    let elsewhere = Elsewhere { places, address: wanted.address.map(str::to_owned) };
    Rendered { html: PreEscaped(cleaner(elsewhere).clean(&chosen).to_string()), part, parts: parts.len() }
}

/// The places of a note that are in other parts than the one that is shown.
struct Elsewhere {
    /// Each with the number of its part.
    places: HashMap<String, usize>,
    /// As in [`PartWanted`].
    address: Option<String>,
}

impl Elsewhere {
    /// Where a link within the note leads, if it is to another part.
    fn lead(&self, to: &str) -> Option<String> {
        let part = self.places.get(to.strip_prefix('#')?)?;
        Some(format!("{}{part}{to}", self.address.as_ref()?))
    }
}

/// A block of a note that stands in no other.
struct Block {
    html: String,
    /// The places in it to which a link can lead.
    places: Vec<String>,
}

impl Block {
    /// How long it is on the page, where a blank that does not break becomes a name of six letters.
    fn bytes(&self) -> usize {
        self.html.len() + 4 * self.html.matches('\u{a0}').count()
    }
}

fn blocks(text: &str, links: &Links) -> Vec<Block> {
    let note = Note::parse(text);
    let body = if note.body() == 0 && text.starts_with('\u{feff}') { 3 } else { note.body() };
    let source = text.get(body..).unwrap_or_default();
    let mut writer = Writer::new(&note, links);
    let mut blocks = unread_properties(&note);
    let (mut depth, mut deepest, mut start) = (0_usize, 0, body);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        let range = range.start + body..range.end + body;
        if depth == 0 {
            start = range.start;
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
        let end = range.end;
        writer.take(event, range, text);
        if depth == 0 {
            let mut html = String::new();
            let events = writer.events.drain(..);
            let places = std::mem::take(&mut writer.places);
            if deepest <= MOST_DEPTH {
                pulldown_cmark::html::push_html(&mut html, events);
            }
            if deepest > MOST_DEPTH || html.len() > PART_BYTES {
                blocks.extend(plain(text.get(start..end).unwrap_or_default()));
            } else {
                blocks.push(Block { html, places });
            }
            deepest = 0;
        }
    }
    blocks
}

/// The front matter as it is written, where none of it can be read: what stands there is told of nowhere else.
fn unread_properties(note: &Note<'_>) -> Vec<Block> {
    let Some(error) = note.front_error() else { return Vec::new() };
    let html = html! {
        p {
            span.badge { "Not read" }
            " None of the properties of this note is read, because of line " (error.line) ": " (error.message) ". They are written like this:"
        }
    };
    let mut blocks = vec![Block { html: html.into_string(), places: Vec::new() }];
    blocks.extend(plain(note.text().get(..note.body()).unwrap_or_default()));
    blocks
}

/// A text as it is written, in blocks that fit on a page.
fn plain(mut text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    while !text.is_empty() {
        let end = text.floor_char_boundary(PLAIN_BYTES).max(1);
        let (piece, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let html = html! { pre.raw { (piece) } }.into_string();
        blocks.push(Block { html, places: Vec::new() });
        text = rest;
    }
    blocks
}

/// Makes what is shown out of what a note holds.
struct Writer<'n> {
    links: &'n Links,
    /// The wikilinks by where they begin.
    wikilinks: HashMap<usize, Link>,
    /// The places of the headings by where they begin.
    headings: HashMap<usize, Vec<String>>,
    /// The places of the blocks that have an id by where its mark stands.
    blocks: BTreeMap<usize, String>,
    /// The places that were written last.
    places: Vec<String>,
    /// The wikilink that was written last; what stands in it is not written again.
    within: Range<usize>,
    /// How the links that are open end, and the pictures that are not shown.
    open: Vec<&'static str>,
    /// The picture that is open, if it is shown.
    picture: Option<Picture>,
    /// The callout that has begun, until its title is written.
    callout: Option<Callout<'n>>,
    /// Whether that is being written.
    is_in_title: bool,
    /// The numbers of the footnotes, from 1, in the order in which they come.
    footnotes: HashMap<CowStr<'n>, usize>,
    /// The anchors of the footnotes that have their place.
    placed: HashSet<String>,
    events: Vec<Event<'n>>,
}

impl<'n> Writer<'n> {
    fn new(note: &Note<'_>, links: &'n Links) -> Self {
        let is_wikilink = |link: &Link| matches!(link.kind, LinkKind::Wikilink | LinkKind::Embed);
        let wikilinks = note.links().into_iter().filter(is_wikilink).map(|link| (link.span.start, link)).collect();
        let mut taken = HashSet::new();
        let blocks = note.block_ids().map(|(id, at)| (at, block_place(id)));
        let blocks = blocks.filter(|(_, place)| taken.insert(place.clone())).collect();
        Self {
            links,
            wikilinks,
            headings: heading_places(note),
            blocks,
            places: Vec::new(),
            within: 0..0,
            open: Vec::new(),
            picture: None,
            callout: None,
            is_in_title: false,
            footnotes: HashMap::new(),
            placed: HashSet::new(),
            events: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'n>, range: Range<usize>, text: &'n str) {
        let is_end = matches!(event, Event::End(TagEnd::Paragraph));
        if range.start >= self.within.start && range.end <= self.within.end && !is_end {
            return;
        }
        if let Some(callout) = self.callout.take() {
            self.begin_title(callout, &event);
            if self.is_in_title {
                return;
            }
        }
        let mut event = event;
        if let Event::Text(shown) = &mut event {
            if let Some(link) = self.wikilinks.remove(&range.start) {
                self.within = link.span.clone();
                return self.wikilink(&link);
            }
            let start = range.start.max(self.within.end.min(range.end));
            if start > range.start {
                *shown = text.get(start..range.end).unwrap_or_default().into();
            }
            if let Some((&mark, _)) = self.blocks.range(start..range.end).next() {
                return self.block_mark(mark, text.get(start..mark).unwrap_or_default());
            }
        }
        match self.picture {
            Some(_) => self.describe(event),
            None => self.write(event, range, text),
        }
    }

    /// Writes what stands in no wikilink and in no picture.
    fn write(&mut self, event: Event<'n>, range: Range<usize>, text: &'n str) {
        let event = match event {
            // What is HTML in a note is shown, and is none on the page.
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. }) => self.begin(&dest_url, false),
            Event::Start(Tag::Image { dest_url, .. }) => match self.lead(&dest_url) {
                Lead::Note(_, Some(address)) => {
                    return self.picture = Some(Picture { address, alt: String::new(), depth: 0 });
                }
                _ => self.begin(&dest_url, true),
            },
            Event::End(TagEnd::Link | TagEnd::Image) => own(self.open.pop().unwrap_or_default()),
            Event::Start(Tag::BlockQuote(_)) => {
                self.callout = callout_at(range, text);
                match self.callout {
                    Some(_) => own(r#"<blockquote class="callout">"#),
                    None => event,
                }
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) if self.is_in_title => {
                self.is_in_title = false;
                self.events.push(own(P_END));
                match event {
                    Event::End(_) => return,
                    _ => Event::Start(Tag::Paragraph),
                }
            }
            Event::FootnoteReference(label) => self.reference(label),
            Event::Start(Tag::FootnoteDefinition(label)) => self.footnote(label),
            Event::End(TagEnd::FootnoteDefinition) => own(DIV_END),
            Event::Start(table @ Tag::Table(_)) => {
                self.events.push(opening(&layout::wide("Table", &html! {}), DIV_END));
                Event::Start(table)
            }
            Event::End(TagEnd::Table) => {
                self.events.push(event);
                own(DIV_END)
            }
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                return self.heading(range.start, |id| Tag::Heading { level, id, classes, attrs });
            }
            Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
            other => other,
        };
        self.events.push(event);
    }

    /// Begins a heading, with all places that lead to it.
    fn heading(&mut self, at: usize, tag: impl FnOnce(Option<CowStr<'n>>) -> Tag<'n>) {
        let places = self.headings.remove(&at).unwrap_or_default();
        self.places.extend(places.iter().cloned());
        let mut places = places.into_iter();
        self.events.push(Event::Start(tag(places.next().map(CowStr::from))));
        self.events.extend(places.map(|place| own(html! { span id=(place) {} }.into_string())));
    }

    /// Writes the end of a block that has an id: the place in the stead of its mark, which is no text.
    fn block_mark(&mut self, mark: usize, before: &'n str) {
        let Some(place) = self.blocks.remove(&mark) else { return };
        if let Some(picture) = &mut self.picture {
            return picture.alt.push_str(before);
        }
        self.events.push(Event::Text(before.trim_end().into()));
        self.events.push(own(html! { span id=(place) {} }.into_string()));
        self.places.push(place);
    }

    /// Adds to the text that stands for the picture which is open: of its content the text alone.
    fn describe(&mut self, event: Event<'n>) {
        let Some(picture) = &mut self.picture else { return };
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => picture.alt.push_str(&text),
            Event::SoftBreak | Event::HardBreak => picture.alt.push(' '),
            Event::Start(Tag::Image { .. }) => picture.depth += 1,
            Event::End(TagEnd::Image) if picture.depth > 0 => picture.depth -= 1,
            Event::End(TagEnd::Image) => {
                let img = html! { img src=(picture.address) alt=(picture.alt); };
                self.picture = None;
                self.events.push(own(img.into_string()));
            }
            _ => {}
        }
    }

    /// Writes the title of the callout that has begun: the first line of its paragraph, where it begins with one.
    fn begin_title(&mut self, callout: Callout<'n>, event: &Event<'_>) {
        self.within = callout.mark;
        let title = html! { p.title { span.badge { (callout.kind) } } };
        self.is_in_title = matches!(event, Event::Start(Tag::Paragraph));
        self.events.push(if self.is_in_title { opening(&title, P_END) } else { own(title.into_string()) });
    }

    /// Begins a link, or a picture that is not shown, that Markdown itself has.
    fn begin(&mut self, address: &str, is_picture: bool) -> Event<'n> {
        let to = self.lead(address);
        // In a link no other can stand.
        let can_link = !self.open.contains(&LINK_END);
        let (open, end) = match to {
            Lead::Note(to, _) if can_link => (html! { a href=(to) class=[is_picture.then_some("image")] {} }, LINK_END),
            Lead::Outside(to) if can_link && !is_picture => (html! { a.outside href=(to) rel=(OUTSIDE) {} }, LINK_END),
            Lead::Outside(to) if is_picture => (html! { span.image { "Picture, not loaded: " (to) " " } }, SPAN_END),
            Lead::Note(..) | Lead::Outside(_) => (html! { span {} }, SPAN_END),
            Lead::Nowhere => (html! { span.broken title="This link leads nowhere" {} }, SPAN_END),
        };
        self.open.push(end);
        opening(&open, end)
    }

    fn wikilink(&mut self, link: &Link) {
        let shown = link.text.clone().unwrap_or_else(|| format!("{}{}", link.path, link.subpath.replace('#', " › ")));
        let shown = if shown.trim().is_empty() { link.subpath.clone() } else { shown };
        if let Some(picture) = &mut self.picture {
            return picture.alt.push_str(&shown);
        }
        let is_picture = link.kind == LinkKind::Embed;
        if is_picture && let Some(picture) = self.links.to(&link.path, &link.subpath).filter(|to| href::is_picture(to))
        {
            // `|200` and `|200x100` say how wide it is.
            let width = shown.split('x').next().filter(|width| width.len() <= 4 && width.parse::<u16>().is_ok());
            let alt = if width.is_some() { picture.name() } else { &shown };
            let written = html! { img src=(href::at("pictures", picture)) alt=(alt) width=[width]; };
            return self.events.push(own(written.into_string()));
        }
        let can_link = !self.open.contains(&LINK_END);
        let written = match self.of_note(&link.path, &link.subpath, heading_place).filter(|_| can_link) {
            Some(to) => html! { a href=(to) class=[is_picture.then_some("image")] { (shown) } },
            None => html! { span.broken title="This link leads nowhere" { (shown) } },
        };
        self.events.push(own(written.into_string()));
    }

    /// Where an address in a link of Markdown leads.
    fn lead(&self, address: &str) -> Lead {
        let is_web = ["http://", "https://", "mailto:"]
            .iter()
            .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if is_web {
            return Lead::Outside(address.to_owned());
        }
        let (path, subpath) = address.find('#').and_then(|at| address.split_at_checked(at)).unwrap_or((address, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (path, written) = (decoded(path), subpath);
        let to = self.of_note(&path, &decoded(written), letters_place);
        let to = to.or_else(|| self.of_note(&path, written, letters_place));
        let picture = self.links.to(&path, written).filter(|to| href::is_picture(to));
        to.map_or(Lead::Nowhere, |to| Lead::Note(to, picture.map(|picture| href::at("pictures", picture))))
    }

    /// The number of a footnote, and its place in the page.
    fn numbered(&mut self, label: CowStr<'n>) -> (usize, String) {
        let place = format!("f-{}", heading_place(&label));
        let next = self.footnotes.len() + 1;
        let number = *self.footnotes.entry(label).or_insert(next);
        (number, place)
    }

    fn reference(&mut self, label: CowStr<'n>) -> Event<'n> {
        let (number, place) = self.numbered(label);
        let written = if self.open.contains(&LINK_END) {
            html! { sup { (number) } }
        } else {
            html! { sup { a href={ "#" (place) } { (number) } } }
        };
        own(written.into_string())
    }

    fn footnote(&mut self, label: CowStr<'n>) -> Event<'n> {
        let (number, place) = self.numbered(label);
        let place = Some(place).filter(|place| self.placed.insert(place.clone()));
        self.places.extend(place.clone());
        opening(&html! { div.footnote id=[place] { sup { (number) } } }, DIV_END)
    }

    /// The address of a place in a note; `heading` gives that of a heading.
    fn of_note(&self, path: &str, subpath: &str, heading: fn(&str) -> String) -> Option<String> {
        let name = subpath.rsplit('#').next().filter(|name| !name.is_empty());
        let place = name.map(|name| name.strip_prefix('^').map_or_else(|| heading(name), block_place));
        if path.is_empty() {
            return place.map(|place| format!("#{place}"));
        }
        let to = self.links.to(path, subpath)?;
        Some(place.map_or_else(|| href::note(to), |place| href::place(to, &place)))
    }
}

/// Where a link leads.
enum Lead {
    /// To a page of ours, and to the file itself if that is a picture.
    Note(String, Option<String>),
    /// To the web.
    Outside(String),
    Nowhere,
}

/// A picture that is shown, while its text is read.
struct Picture {
    address: String,
    /// The text that stands for it.
    alt: String,
    /// How many pictures are open in that text.
    depth: usize,
}

/// The callout with which a quote begins, if it does, with its mark in bytes of the note.
fn callout_at(quote: Range<usize>, text: &str) -> Option<Callout<'_>> {
    let start = quote.start + 1;
    let Callout { kind, mark } = Callout::parse(text.get(quote)?.strip_prefix('>')?)?;
    Some(Callout { kind, mark: mark.start + start..mark.end + start })
}

/// What a link to the web says of itself: it tells that page nothing of ours.
const OUTSIDE: &str = "noopener noreferrer nofollow";
const LINK_END: &str = "</a>";
const SPAN_END: &str = "</span>";
const P_END: &str = "</p>";
const DIV_END: &str = "</div>";

/// HTML that was made here, of escaped text.
fn own<'e>(html: impl Into<CowStr<'e>>) -> Event<'e> {
    Event::InlineHtml(html.into())
}

/// How an element begins, without how it ends.
fn opening<'e>(element: &Markup, end: &str) -> Event<'e> {
    let element = &element.0;
    own(element.strip_suffix(end).unwrap_or(element).to_owned())
}

/// The places of each heading by where it begins: one by its words, and one by its letters and digits alone, as addresses name it, for
/// makers of sites differ in what becomes of blanks and signs. The first of several with the same name is the one that links lead to.
fn heading_places(note: &Note<'_>) -> HashMap<usize, Vec<String>> {
    let mut taken = HashSet::new();
    let mut places: HashMap<usize, Vec<String>> = HashMap::new();
    let headings = note.headings();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let by_words: Vec<(usize, String)> = headings
        .iter()
        .map(|heading| {
            let place = heading_place(&heading.text);
            let count = counts.entry(place.clone()).or_default();
            *count += 1;
            (heading.span.start, if *count == 1 { place } else { format!("{place}-{}", *count - 1) })
        })
        .collect();
    for name in [|place: &str| place.to_owned(), |place: &str| letters_place(place.strip_prefix("s-").unwrap_or(place))]
    {
        for (at, place) in &by_words {
            let place = name(place);
            if taken.insert(place.clone()) {
                places.entry(*at).or_default().push(place);
            }
        }
    }
    places
}

/// A heading as a place in a page: its letters and digits, with strokes between its words. Nothing else of the page begins as it does.
pub(crate) fn heading_place(heading: &str) -> String {
    let words = heading.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    format!("s-{}", words.map(str::to_lowercase).collect::<Vec<_>>().join("-"))
}

/// As [`heading_place`], without the strokes.
fn letters_place(heading: &str) -> String {
    let letters = heading.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase);
    format!("s-{}", letters.collect::<String>())
}

/// A block as a place in a page, by its id.
fn block_place(id: &str) -> String {
    let letters = id.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-');
    format!("b-{}", letters.collect::<String>().to_ascii_lowercase())
}

/// Lets nothing through but what [`Writer`] makes.
fn cleaner(elsewhere: Elsewhere) -> Builder<'static> {
    let headings = ["h1", "h2", "h3", "h4", "h5", "h6"];
    let others = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "div",
        "em",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "span",
        "strong",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    let mut attributes: HashMap<&str, HashSet<&str>> = headings.map(|heading| (heading, HashSet::from(["id"]))).into();
    attributes.extend([
        ("a", HashSet::from(["href", "rel"])),
        ("div", HashSet::from(["id"])),
        ("img", HashSet::from(["alt", "src", "width"])),
        ("ol", HashSet::from(["start"])),
        ("span", HashSet::from(["id", "title"])),
    ]);
    let classes = HashMap::from([
        ("a", HashSet::from(["image", "outside"])),
        ("blockquote", HashSet::from(["callout"])),
        ("div", HashSet::from(["footnote", "wide"])),
        ("p", HashSet::from(["title"])),
        ("pre", HashSet::from(["raw"])),
        ("span", HashSet::from(["badge", "broken", "image"])),
    ]);
    let only = |value: &'static str| HashSet::from([value]);
    let group = HashMap::from([("role", only("group")), ("tabindex", only("0")), ("aria-label", only("Table"))]);
    let mut cleaner = Builder::empty();
    cleaner
        .tags(headings.into_iter().chain(others).collect())
        .tag_attributes(attributes)
        .tag_attribute_values(HashMap::from([("div", group)]))
        .allowed_classes(classes)
        .set_tag_attribute_value("img", "loading", "lazy")
        .attribute_filter(move |element, attribute, value| match (element, attribute) {
            ("img", "src") if !value.starts_with("/pictures/") => None,
            ("a", "href") => Some(elsewhere.lead(value).map_or_else(|| value.into(), Into::into)),
            _ => Some(value.into()),
        })
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .link_rel(None);
    cleaner
}

//! Headings, the sections under them, and how a link or an action names one.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use super::{Note, Syntax};

/// A heading.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Heading {
    /// From 1 to 6.
    pub level: u8,
    /// Its text as it is written, without the marks that make it a heading.
    pub text: String,
    /// Its lines with their line ends, in bytes of the note.
    pub span: Range<usize>,
    /// Its text as headings are compared.
    pub(super) key: String,
}

/// So many characters of a heading are said with each thing below it.
const SHOWN: usize = 200;

/// What the name of a heading fits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// This one, by its place among the headings.
    One(usize),
    /// All of these.
    Several(Vec<usize>),
    /// None.
    Nothing,
}

impl Heading {
    /// Its text, shortened where it is no mere heading: it is said again with everything below it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self.text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", self.text.get(..end).unwrap_or_default()),
            None => self.text.clone(),
        }
    }

    /// Its anchor as anchors are compared, where what is shown of it is what is written.
    pub(super) fn anchor(&self) -> String {
        letters(&self.key)
    }

    /// Takes the text out of the lines of a heading.
    pub(super) fn read(text: &str, span: Range<usize>, level: u8) -> Option<Self> {
        // Where it is the last line of a list or a text, the range can lack its end.
        // A lone `\r` ends a line for Markdown too.
        let after = text.get(span.end..)?;
        let is_split = text.get(span.clone())?.ends_with('\r') && after.starts_with('\n');
        let whole = if text.get(span.clone())?.ends_with(['\n', '\r']) {
            span.end + usize::from(is_split)
        } else {
            let end = memchr::memchr2(b'\n', b'\r', after.as_bytes());
            let is_pair = end.is_some_and(|at| after.get(at..).is_some_and(|rest| rest.starts_with("\r\n")));
            span.end + end.map_or(after.len(), |at| at + 1 + usize::from(is_pair))
        };
        let start = text.get(..span.start)?.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let source = text.get(span)?.trim();
        let written = match source.strip_prefix('#') {
            Some(rest) => {
                let rest = rest.trim_start_matches('#').trim();
                let bare = rest.trim_end_matches('#');
                // Marks at the end belong to it only after a blank, as in `# C#`.
                if bare.len() < rest.len() && (bare.is_empty() || bare.ends_with([' ', '\t'])) {
                    bare.trim_end().to_owned()
                } else {
                    rest.to_owned()
                }
            }
            None => {
                let underline = source.rfind('\n').unwrap_or(source.len());
                let lines = source.get(..underline).unwrap_or_default().lines();
                lines.map(str::trim).collect::<Vec<_>>().join(" ")
            }
        };
        let key = key(&written);
        Some(Self { level, text: written, span: start..whole, key })
    }
}

/// The form in which names of headings are compared: case and Unicode form do not count, nor do the characters that
/// Obsidian leaves out of links to headings, nor how many blanks there are.
pub(super) fn key(text: &str) -> String {
    let is_word = |character: char| !character.is_ascii_punctuation() || matches!(character, '-' | '_' | '\'');
    let plain: String = text.chars().map(|character| if is_word(character) { character } else { ' ' }).collect();
    super::folded(&plain.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The form in which anchors are compared: makers of sites differ in what becomes of blanks and signs, so letters and digits count.
pub(super) fn anchor(name: &str) -> String {
    letters(&key(name))
}

fn letters(key: &str) -> String {
    key.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// The headings of a note by their keys, so that each name is found at once.
#[derive(Debug)]
pub(super) struct Outline<'h> {
    levels: Vec<u8>,
    /// For each heading the one at which its section ends; their number where it has no end.
    ends: Vec<usize>,
    places: HashMap<&'h str, Vec<usize>>,
    /// The same by letters and digits alone; filled when the first anchor is looked for.
    anchors: OnceCell<HashMap<String, Vec<usize>>>,
}

/// Of more headings of one name than this, the later ones are not looked below.
const MOST_TWINS: usize = 100;

impl<'h> Outline<'h> {
    /// Takes levels and keys of all headings in their order.
    pub(super) fn new(headings: impl Iterator<Item = (u8, &'h str)>) -> Self {
        let mut outline =
            Self { levels: Vec::new(), ends: Vec::new(), places: HashMap::new(), anchors: OnceCell::new() };
        let mut open: Vec<usize> = Vec::new();
        for (at, (level, key)) in headings.enumerate() {
            while let Some(last) = open.pop_if(|last| outline.levels.get(*last).is_some_and(|above| *above >= level)) {
                if let Some(end) = outline.ends.get_mut(last) {
                    *end = at;
                }
            }
            open.push(at);
            outline.levels.push(level);
            outline.ends.push(usize::MAX);
            outline.places.entry(key).or_default().push(at);
        }
        let count = outline.levels.len();
        outline.ends.iter_mut().for_each(|end| *end = (*end).min(count));
        outline
    }

    /// Finds the headings that `name` can mean: a text, or several with `#` between, each below the one before.
    pub(super) fn find(&self, name: &str) -> Vec<usize> {
        let whole = self.places.get(key(name).as_str()).cloned().unwrap_or_default();
        if !whole.is_empty() || !name.contains('#') {
            return whole;
        }
        let mut parts = name.split('#').map(key).filter(|key| !key.is_empty());
        let first = parts.next().and_then(|first| self.places.get(first.as_str()));
        let mut found = first.cloned().unwrap_or_default();
        for part in parts {
            found.truncate(MOST_TWINS);
            let places = self.places.get(part.as_str()).map_or(&[][..], Vec::as_slice);
            let below = found.iter().flat_map(|&at| self.below(at, places));
            found = below.collect();
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// Finds the heading to which a link of Markdown leads: `name` is its text, or its anchor as GitHub and most makers of
    /// sites write it (`#whats-new` for `What's new?`, `#notes-1` for the second `Notes`).
    pub(super) fn lead(&self, name: &str) -> Option<usize> {
        if let Some(first) = self.find(name).first() {
            return Some(*first);
        }
        if name.is_empty() || name.contains(|sign: char| sign.is_whitespace() || sign == '#') {
            return None;
        }
        let anchors = self.anchors.get_or_init(|| {
            let mut anchors = HashMap::<String, Vec<usize>>::new();
            for (key, places) in &self.places {
                anchors.entry(letters(key)).or_default().extend(places);
            }
            anchors.values_mut().for_each(|places| places.sort_unstable());
            anchors
        });
        let at =
            |anchor: &str, nth: usize| anchors.get(&self::anchor(anchor)).and_then(|places| places.get(nth)).copied();
        let numbered = name.rsplit_once('-').and_then(|(anchor, nth)| at(anchor, nth.parse().ok()?));
        at(name, 0).or(numbered)
    }

    /// Those of some places that are in the section of a heading, below it.
    fn below<'p>(&self, at: usize, places: &'p [usize]) -> impl Iterator<Item = usize> + use<'p, '_> {
        let level = self.levels.get(at).copied().unwrap_or(u8::MAX);
        let end = self.ends.get(at).copied().unwrap_or(0);
        let from = places.partition_point(|place| *place <= at);
        let after = places.get(from..).unwrap_or_default().iter().copied().take_while(move |place| *place < end);
        after.filter(move |place| self.levels.get(*place).is_some_and(|below| *below > level)).take(MOST_TWINS)
    }

    /// Where the section of a heading ends.
    fn end(&self, at: usize) -> usize {
        self.ends.get(at).copied().unwrap_or(self.levels.len())
    }
}

impl Note<'_> {
    /// The headings that stand in no quote and no list, in their order.
    #[must_use]
    pub fn headings(&self) -> &[Heading] {
        &self.markup.headings
    }

    /// The nearest heading above a line, which is counted from 1.
    #[must_use]
    pub fn heading_above(&self, line: usize) -> Option<&Heading> {
        let at = self.line(line).start;
        let above = self.headings().partition_point(|heading| heading.span.start < at);
        self.headings().get(..above)?.last()
    }

    /// Finds the heading that `name` means: its text, or `A#B` for B below A. One that is written just so comes before
    /// those that are only compared as the same, as `C` and `C++` are.
    #[must_use]
    pub fn heading(&self, name: &str) -> Found {
        let mut found = self.outline().find(name);
        let is_named = |at: &usize| {
            let text = self.headings().get(*at).map_or("", |heading| heading.text.as_str());
            let above = name.trim().strip_suffix(text).filter(|_| !text.is_empty());
            above.is_some_and(|above| above.is_empty() || above.ends_with('#'))
        };
        if found.len() > 1 && found.iter().any(is_named) {
            found.retain(is_named);
        }
        match found.as_slice() {
            [] => Found::Nothing,
            [one] => Found::One(*one),
            _ => Found::Several(found),
        }
    }

    /// Finds the heading to which a link leads by the rules of its syntax, and of several the first. One to an id leads to the heading in
    /// which or below which that stands.
    #[must_use]
    pub fn led_to(&self, name: &str, syntax: Syntax) -> Option<usize> {
        match (self.heading(name), syntax) {
            (Found::One(at), _) => Some(at),
            (Found::Several(found), _) => found.first().copied(),
            (Found::Nothing, Syntax::Wiki | Syntax::Root) => None,
            (Found::Nothing, Syntax::Markdown | Syntax::Unsure) => {
                self.outline().lead(name).or_else(|| self.at_anchor(name).and_then(|at| self.heading_at(at)))
            }
        }
    }

    /// Where an anchor stands that is no heading as it is written.
    fn at_anchor(&self, name: &str) -> Option<usize> {
        let wanted = anchor(name);
        self.markup.anchors.iter().find(|(anchor, _)| *anchor == wanted).map(|(_, at)| *at)
    }

    /// The heading in which or below which a byte stands.
    fn heading_at(&self, at: usize) -> Option<usize> {
        self.headings().partition_point(|heading| heading.span.start <= at).checked_sub(1)
    }

    /// Whether the note has the heading or the block, given as `^id`, to which a link leads by the rules of its syntax.
    #[must_use]
    pub fn has_place(&self, place: &str, syntax: Syntax) -> bool {
        let has_anchor = || matches!(syntax, Syntax::Markdown | Syntax::Unsure) && self.at_anchor(place).is_some();
        match place.strip_prefix('^') {
            Some(id) => self.block(id).is_some(),
            None => self.led_to(place, syntax).is_some() || has_anchor(),
        }
    }

    /// The section of a heading, by its place among the headings: from the end of its line to the next heading of its
    /// level or a higher one.
    #[must_use]
    pub fn section(&self, at: usize) -> Range<usize> {
        self.headings()
            .get(at)
            .map_or(0..0, |heading| heading.span.end..self.start_of(self.outline().end(at)).max(heading.span.end))
    }

    fn outline(&self) -> Outline<'_> {
        Outline::new(self.headings().iter().map(|heading| (heading.level, heading.key.as_str())))
    }

    /// The part of a section that stands above its first subheading.
    #[must_use]
    pub fn own_text(&self, at: usize) -> Range<usize> {
        self.headings().get(at).map_or(0..0, |heading| heading.span.end..self.start_of(at + 1).max(heading.span.end))
    }

    fn start_of(&self, at: usize) -> usize {
        self.headings().get(at).map_or(self.text.len(), |heading| heading.span.start)
    }
}

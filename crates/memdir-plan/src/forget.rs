//! What is to be forgotten: how it is recognized in contents, paths and payloads, and how it is cut out of a text.
//!
//! Owns those rules alone. Which files there are, and what the history holds, it is told; all work is linear in the text.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use memchr::memmem;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::Value as Json;
use unicode_normalization::UnicodeNormalization;

use crate::needle::Needle;
use memdir_core::json::{Style, Unescaped, is_json, values};
use memdir_core::path::MemoryPath;
use memdir_note::link::may_stand_in;
use memdir_note::target::comparable;
use memdir_note::{Canvas, Note, PlaceKind, Syntax};

/// A text has to be this long, white space not counted: a shorter one stands in half of all words.
pub const MIN_TEXT_CHARS: usize = 3;

/// So often strings of JSON that are JSON again are looked into: what a model said stands so in a conversation.
const NESTED: usize = 3;

/// What is encoded in the address of a link.
const IN_LINKS: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'%').add(b'`');

/// How often a text is searched again, since what is left may join to what was cut.
const ROUNDS: usize = 8;

/// What is to be forgotten.
#[derive(Clone, Debug)]
pub enum Sought {
    /// A note, by all names that it had.
    Note(Vec<Called>),
    /// A text, in the forms in which it may be written.
    Text(Forms),
    /// Whole lines, without the white space around them.
    Lines(Vec<String>),
}

/// A name that a note has or had, and when: before and after that, another note may have had it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Called {
    /// The name.
    pub name: MemoryPath,
    /// The batch that gave it this name; 0 where none did.
    pub since: u64,
    /// The batch that took the name from it; `u64::MAX` where it still has it, or had it last.
    pub until: u64,
    /// The batches before `since` and after `until` between which nobody else is known to have had the name.
    pub alone: (u64, u64),
}

impl Called {
    /// A name of which it is not known that another note had it, too.
    #[must_use]
    pub fn always(name: MemoryPath) -> Self {
        Self { name, since: 0, until: u64::MAX, alone: (0, u64::MAX) }
    }

    fn was_in_force(&self, when: When) -> bool {
        match when {
            When::Ever => true,
            When::BeforeMoves(batch) => self.since < batch && batch <= self.until,
            When::AfterMoves(batch) => self.since <= batch && batch < self.until,
        }
    }

    /// Whether what is said of the name in a batch means this note.
    fn is_meant_in(&self, batch: Option<u64>) -> bool {
        let (from, to) = self.alone;
        batch.is_none_or(|batch| (self.since..=self.until).contains(&batch) || (from < batch && batch < to))
    }
}

/// The moment of the history to which a path belongs. Within a batch things are moved first, and files are put under
/// the names that they have after that.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    /// It does not matter.
    Ever,
    /// Before the moves of a batch.
    BeforeMoves(u64),
    /// After them.
    AfterMoves(u64),
}

/// A text in the forms in which it may be written: composed and decomposed, with the line ends of other systems, and as JSON, YAML,
/// tables, links, HTML and CSV have to say it.
#[derive(Clone, Debug)]
pub struct Forms(Vec<String>);

impl Forms {
    /// Takes a text; `None` for one that is too short.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        if !is_long(text) {
            return None;
        }
        let mut forms = Self(vec![text.to_owned()]);
        // Somebody may give it as it stands in JSON.
        let unescaped = Unescaped::of(text).says;
        let unescaped = if unescaped.contains(char::is_control) { text.to_owned() } else { unescaped };
        forms.add([text.nfc().collect(), text.nfd().collect(), unescaped]);
        for text in forms.0.clone() {
            forms.add([text.replace("\r\n", "\n"), text.replace("\r\n", "\n").replace('\n', "\r\n")]);
        }
        for text in forms.0.clone() {
            let json = |is_ascii, escapes_slash| Style { is_ascii, escapes_slash }.escape(&text);
            forms.add([json(false, false), json(false, true), json(true, false), json(true, true)]);
            forms.add([text.replace('\'', "\'\'"), text.replace('"', "\"\""), text.replace('|', "\\|")]);
            forms.add([text.replace(' ', "%20"), utf8_percent_encode(&text, IN_LINKS).to_string()]);
            forms.add([text.replace('&', "&amp;"), html(&text)]);
        }
        // A longer form may hold a shorter one, which must not be cut out of it.
        forms.0.sort_by_key(|form| Reverse(form.len()));
        Some(forms)
    }

    fn add<const N: usize>(&mut self, forms: [String; N]) {
        for form in forms {
            if is_long(&form) && !self.0.contains(&form) {
                self.0.push(form);
            }
        }
    }

    fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|form| memmem::find(text, form.as_bytes()).is_some())
    }

    /// Whether a text holds it, or says it, where it is or holds JSON, some of whose strings may be JSON again.
    fn are_said_in(&self, text: &str) -> bool {
        let mut said = Cow::Borrowed(text);
        for _ in 0..=NESTED {
            if self.are_in(said.as_bytes()) {
                return true;
            }
            if !said.contains('\\') {
                return false;
            }
            said = Cow::Owned(Unescaped::of(&said).says);
        }
        false
    }

    fn are_said_in_content(&self, content: &[u8]) -> bool {
        std::str::from_utf8(content).map_or_else(|_| self.are_in(content), |text| self.are_said_in(text))
    }
}

fn is_long(text: &str) -> bool {
    text.chars().filter(|character| !character.is_whitespace()).count() >= MIN_TEXT_CHARS
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A text out of which something was cut.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cut {
    /// What is left.
    pub text: String,
    /// How many places were cut out.
    pub count: u64,
}

impl Sought {
    /// The bytes by which a file gives away that it may hold it.
    #[must_use]
    pub fn needles(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Note(names) => {
                let names = names.iter().map(|called| called.name.as_str());
                let written = names.flat_map(|name| {
                    [false, true].map(|is_ascii| Style { is_ascii, escapes_slash: false }.escape(name))
                });
                let mut needles: Vec<Vec<u8>> = written.map(String::into_bytes).collect();
                needles.dedup();
                needles
            }
            Self::Text(forms) => forms.0.iter().map(|form| form.as_bytes().to_vec()).collect(),
            Self::Lines(lines) => lines.iter().map(|line| line.as_bytes().to_vec()).collect(),
        }
    }

    /// Whether a path has to go.
    #[must_use]
    pub fn is_path(&self, path: &str, when: When) -> bool {
        match self {
            Self::Note(names) => names.iter().any(|called| called.name.as_str() == path && called.was_in_force(when)),
            Self::Text(forms) => forms.are_in(path.as_bytes()),
            Self::Lines(_) => false,
        }
    }

    /// Whether an earlier content of some note has to go: it holds the text, or a link to the note.
    #[must_use]
    pub fn is_in(&self, content: &[u8]) -> bool {
        match self {
            Self::Note(_) => std::str::from_utf8(content).is_ok_and(|text| !self.links_in(text).is_empty()),
            Self::Text(forms) => forms.are_said_in_content(content),
            Self::Lines(lines) => are_lines_of(lines, content),
        }
    }

    /// Whether a payload of the audit has to go: one of its strings, or a key, holds the text or names the note, by a
    /// name that meant it in that `batch`; `None` where it is not known when.
    #[must_use]
    pub fn is_in_payload(&self, payload: &str, batch: Option<u64>) -> bool {
        match serde_json::from_str(payload) {
            Ok(payload) => self.is_in_json(&payload, batch),
            Err(_) => self.is_said(payload, batch),
        }
    }

    /// The parser has limited how deep a value is.
    fn is_in_json(&self, value: &Json, batch: Option<u64>) -> bool {
        match value {
            Json::String(text) => self.is_said(text, batch),
            Json::Array(items) => items.iter().any(|item| self.is_in_json(item, batch)),
            Json::Object(items) => {
                items.iter().any(|(key, item)| self.is_said(key, batch) || self.is_in_json(item, batch))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => false,
        }
    }

    fn is_said(&self, text: &str, batch: Option<u64>) -> bool {
        match self {
            Self::Text(forms) => forms.are_said_in(text),
            // An argument or a snippet may hold a line in the middle of another one.
            Self::Lines(lines) => lines.iter().any(|line| text.contains(line.as_str())),
            Self::Note(names) => {
                let whole = text.trim();
                let is_name = |name: &MemoryPath| {
                    let path = name.as_str();
                    let bare = path.get(..path.len() - (name.name().len() - name.stem().len())).unwrap_or(path);
                    [path, bare, name.name(), name.stem()].contains(&whole) || is_named_in(text, path)
                };
                let parsed = MemoryPath::parse(text).ok();
                let meant = names.iter().filter(|called| called.is_meant_in(batch)).map(|called| &called.name);
                meant.into_iter().any(|name| is_name(name) || Some(name) == parsed.as_ref())
                    || !self.links_in(text).is_empty()
            }
        }
    }

    /// Cuts every place out of a text that may be changed; `None` where there is none.
    ///
    /// Of a line nothing but white space and the mark of a list may be left: then all of it goes. JSON stays JSON: of it the values
    /// of strings alone are changed. Front matter that can be read stays so.
    #[must_use]
    pub fn cut(&self, text: &str) -> Option<Cut> {
        match self {
            Self::Note(_) => cut_spans(text, &self.links_in(text)),
            Self::Text(forms) if is_json(text) || are_lines_of_json(text) => cut_json(text, forms),
            Self::Text(forms) => cut_forms(text, &forms.0).map(|cut| with_front_matter(cut, text, forms)),
            Self::Lines(lines) => cut_lines(text, lines),
        }
    }

    /// As [`Sought::cut`], in a note of which it is known where its links lead: of those that could mean the note to
    /// forget, only the ones go that do.
    #[must_use]
    pub fn cut_links(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Option<Cut> {
        let spans = self.links_where(text, leads);
        cut_spans(text, &spans)
    }

    /// As [`Sought::cut_links`], in a canvas: the links in the texts of its cards.
    #[must_use]
    pub fn cut_canvas(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Option<Cut> {
        let canvas = Canvas::parse(text).ok()?;
        let texts = canvas.places.iter().filter(|place| place.kind == PlaceKind::Text);
        let links = |place| {
            self.links_where(memdir_note::canvas::Place::says(place), leads).into_iter().map(|link| place.range(link))
        };
        let mut spans: Vec<Range<usize>> = texts.flat_map(links).collect();
        spans.sort_by_key(|span| span.start);
        let (left, _) = without_spans(text, &spans);
        let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
        (count > 0).then_some(Cut { text: left, count })
    }

    /// Where in a text the lines start that have a link which leads to the note.
    #[must_use]
    pub fn lines_with_links(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Vec<usize> {
        let start = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let mut starts: Vec<usize> = self.links_where(text, leads).into_iter().map(|span| start(span.start)).collect();
        starts.dedup();
        starts
    }

    /// The links of a text that mean the note, by the end of the path that they give.
    fn links_in(&self, text: &str) -> Vec<Range<usize>> {
        self.links_where(text, &|_, _| true)
    }

    fn links_where(&self, text: &str, leads: &dyn Fn(&str, Syntax) -> bool) -> Vec<Range<usize>> {
        let Self::Note(names) = self else { return Vec::new() };
        if !may_stand_in(text) {
            return Vec::new();
        }
        let names: Vec<String> = names.iter().map(|called| bare(called.name.as_str())).collect();
        let means = |path: &str| !path.is_empty() && names.iter().any(|name| ends_in(name, path));
        let links = Note::parse(text).links().into_iter();
        links.filter(|link| means(&bare(&link.path)) && leads(&link.path, link.syntax)).map(|link| link.span).collect()
    }
}

/// A path without what two ways of writing it may differ in.
fn bare(path: &str) -> String {
    let folded = comparable(path);
    let mut parts = Vec::new();
    for part in folded.split('/').map(str::trim) {
        match part {
            "" | "." => {}
            ".." => parts.clear(),
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    path.strip_suffix(".md").map_or(path.clone(), str::to_owned)
}

fn ends_in(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Whether a text names a path, and not a longer one that ends or starts so.
fn is_named_in(text: &str, path: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    memmem::find_iter(text.as_bytes(), path.as_bytes()).any(|at| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + path.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(|before| is_part(before) || before == '/') && !after.is_some_and(is_part)
    })
}

fn cut_spans(text: &str, spans: &[Range<usize>]) -> Option<Cut> {
    let (left, marks) = without_spans(text, spans);
    let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
    (count > 0).then(|| Cut { text: without_bare_lines(&left, &marks), count })
}

/// A text without these places, and where they were.
fn without_spans(text: &str, spans: &[Range<usize>]) -> (String, Vec<usize>) {
    let (mut left, mut marks, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for span in spans {
        // A link may stand in the text of another.
        if span.start < from {
            continue;
        }
        left.push_str(text.get(from..span.start).unwrap_or_default());
        marks.push(left.len());
        from = span.end;
    }
    left.push_str(text.get(from..).unwrap_or_default());
    (left, marks)
}

fn are_lines_of(lines: &[String], content: &[u8]) -> bool {
    let is_sought = |line: &[u8]| lines.iter().any(|sought| sought.as_bytes() == line.trim_ascii());
    content.split(|byte| *byte == b'\n').any(is_sought)
}

fn cut_lines(text: &str, lines: &[String]) -> Option<Cut> {
    let (mut left, mut count) = (String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        if lines.iter().any(|sought| sought == line.trim_ascii()) {
            count += 1;
        } else {
            left.push_str(line);
        }
    }
    (count > 0).then_some(Cut { text: left, count })
}

fn cut_forms(text: &str, forms: &[String]) -> Option<Cut> {
    let (mut text, mut marks, mut count) = (text.to_owned(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let before = count;
        for form in forms {
            if memmem::find(text.as_bytes(), form.as_bytes()).is_some() {
                (text, marks, count) = cut_pattern(&text, form, &marks, count);
            }
        }
        if count == before {
            break;
        }
    }
    (count > 0).then(|| Cut { text: without_bare_lines(&text, &marks), count })
}

/// Front matter that cannot be read any more, since an item of a list is gone, has an empty one instead.
fn with_front_matter(cut: Cut, before: &str, forms: &Forms) -> Cut {
    let is_read = |text: &str| Note::parse(text).front_error().is_none();
    if is_read(&cut.text) || !is_read(before) {
        return cut;
    }
    let (front, body) = before.split_at_checked(Note::parse(before).body()).unwrap_or((before, ""));
    let emptied = forms.0.iter().fold(front.to_owned(), |front, form| emptied(&front, form));
    let body = cut_forms(body, &forms.0).map_or_else(|| body.to_owned(), |cut| cut.text);
    let mended = emptied + &body;
    if is_read(&mended) { Cut { text: mended, ..cut } } else { cut }
}

/// Front matter without a text; where it was all of an item of a list, that is an empty one.
fn emptied(front: &str, form: &str) -> String {
    let mut left = String::with_capacity(front.len());
    let mut from = 0;
    for (at, _) in front.match_indices(form) {
        let (before, after) = (front.get(..at).unwrap_or_default(), front.get(at + form.len()..).unwrap_or_default());
        let is_item =
            before.trim_end_matches(' ').ends_with(['[', ',']) && after.trim_start_matches(' ').starts_with([',', ']']);
        left.push_str(front.get(from..at).unwrap_or_default());
        left.push_str(if is_item { "\"\"" } else { "" });
        from = at + form.len();
    }
    left + front.get(from..).unwrap_or_default()
}

/// Whether each line of a text is JSON, as in a log.
fn are_lines_of_json(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_json)
}

/// Cuts what the values of JSON say, and no part of an escape.
fn cut_json(json: &str, forms: &Forms) -> Option<Cut> {
    let (mut left, mut from, mut count) = (String::with_capacity(json.len()), 0, 0);
    for place in values(json) {
        let (string, more) = cut_string(json.get(place.clone())?, &forms.0);
        count += more;
        left.push_str(json.get(from..place.start)?);
        left.push_str(&string);
        from = place.end;
    }
    left.push_str(json.get(from..)?);
    (count > 0).then_some(Cut { text: left, count })
}

/// What is left of the inside of a string, and how many places were cut out.
fn cut_string(string: &str, forms: &[String]) -> (String, u64) {
    let (mut string, mut count) = (string.to_owned(), 0);
    for _ in 0..ROUNDS {
        let before = count;
        for form in forms {
            let read = Unescaped::of(&string);
            let found = memmem::find_iter(read.says.as_bytes(), form.as_bytes());
            let spans: Vec<Range<usize>> = found.map(|at| read.range(at..at + form.len())).collect();
            if !spans.is_empty() {
                count += u64::try_from(spans.len()).unwrap_or(u64::MAX);
                string = without_spans(&string, &spans).0;
            }
        }
        if count == before {
            break;
        }
    }
    (string, count)
}

/// Cuts `pattern` out, and out of what is left, in one pass (Knuth, Morris and Pratt with a stack): what comes before a
/// place and what comes after it may join to the pattern anew, as often as the text is long.
///
/// `marks` are the places at which something was cut out before, in order; the new ones are added.
fn cut_pattern(text: &str, pattern: &str, marks: &[usize], mut count: u64) -> (String, Vec<usize>, u64) {
    let pattern = Needle::new(pattern.as_bytes());
    let mut left: Vec<u8> = Vec::with_capacity(text.len());
    // How much of the pattern ends at each byte that is left.
    let mut matched: Vec<usize> = Vec::with_capacity(text.len());
    let mut earlier = marks.iter().peekable();
    let mut found: Vec<usize> = Vec::new();
    let mark = |found: &mut Vec<usize>, place: usize| {
        while found.last().is_some_and(|last| *last >= place) {
            found.pop();
        }
        found.push(place);
    };
    for (index, byte) in text.bytes().enumerate() {
        if earlier.next_if(|mark| **mark <= index).is_some() {
            mark(&mut found, left.len());
        }
        let length = pattern.extended(matched.last().copied().unwrap_or(0), &byte);
        left.push(byte);
        matched.push(length);
        if length == pattern.length() {
            left.truncate(left.len() - length);
            matched.truncate(left.len());
            mark(&mut found, left.len());
            count += 1;
        }
    }
    if earlier.next().is_some() {
        mark(&mut found, left.len());
    }
    // Texts are cut out of a text, so what is left is one.
    (String::from_utf8_lossy(&left).into_owned(), found, count)
}

/// Takes away the lines with a mark of which only white space and the mark of a list is left.
fn without_bare_lines(text: &str, marks: &[usize]) -> String {
    let mut marks = marks.iter().peekable();
    let (mut left, mut start) = (String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let mut is_marked = false;
        // A mark at the end of the text belongs to the last line.
        while marks.next_if(|mark| **mark < end || (**mark == end && !line.ends_with('\n'))).is_some() {
            is_marked = true;
        }
        if !(is_marked && is_bare(line)) {
            left.push_str(line);
        }
        start = end;
    }
    left
}

fn is_bare(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let item = match line.strip_prefix(['-', '*', '+']) {
        Some(item) => item,
        None if rest.len() < line.len() => rest.strip_prefix(['.', ')']).unwrap_or(rest),
        None => line,
    };
    let item = item.trim();
    item.is_empty() || ["[ ]", "[x]", "[X]"].contains(&item)
}

#[cfg(test)]
mod tests {
    use super::{Called, Cut, Forms, Sought, When};
    use memdir_core::path::MemoryPath;

    fn text(text: &str) -> Sought {
        Sought::Text(Forms::new(text).unwrap())
    }

    fn note(names: &[&str]) -> Sought {
        Sought::Note(names.iter().map(|name| Called::always(MemoryPath::parse(name).unwrap())).collect())
    }

    #[track_caller]
    fn check(sought: &Sought, before: &str, after: &str, count: u64) {
        let cut = sought.cut(before).unwrap_or(Cut { text: before.to_owned(), count: 0 });
        assert_eq!((cut.text.as_str(), cut.count), (after, count), "{before:?}");
    }

    #[test]
    fn a_text_is_cut_out_and_bare_lines_go() {
        let sought = text("secret");
        check(&sought, "a secret b\n", "a  b\n", 1);
        check(&sought, "one\n- secret\ntwo\n", "one\ntwo\n", 1);
        check(&sought, "one\r\n  12. secret \r\ntwo\r\n", "one\r\ntwo\r\n", 1);
        check(&sought, "- [ ] secretsecret\n\n- \n", "\n- \n", 2);
        check(&sought, "secret", "", 1);
        check(&sought, "a\nsecret", "a\n", 1);
        check(&sought, "a 12secret\n", "a 12\n", 1);
        check(&sought, "nothing\n", "nothing\n", 0);
        // What is left joins to it again.
        check(&sought, "x secsecsecretretret y", "x  y", 3);
        check(&text("line\nnext"), "a line\nnext b\n- line\nnext\n", "a  b\n", 2);
    }

    #[test]
    fn whole_lines_go_and_lines_that_hold_them_stay() {
        let sought = Sought::Lines(vec!["- met Ann".to_owned()]);
        check(&sought, "a\n  - met Ann \r\n- met Anna\n- met Ann", "a\n- met Anna\n", 2);
        check(&sought, "- met Anna\n", "- met Anna\n", 0);
        assert!(sought.is_in(b"x\n\t- met Ann\ny") && !sought.is_in(b"- met Anna"));
        assert!(
            !sought.is_path("- met Ann", When::Ever) && sought.is_in_payload(r#"{"content":"x\n- met Ann\n"}"#, None)
        );
    }

    #[test]
    fn a_text_is_found_composed_and_decomposed() {
        check(&text("Zoë K"), "Zoë K and Zoe\u{308} K\n", " and \n", 2);
        check(&text("Zoe\u{308} K"), "- Zoë K\n", "", 1);
        assert!(Forms::new("ab").is_none() && Forms::new(" a b \n").is_none() && Forms::new("").is_none());
    }

    /// Checks what the strings of a list say, read by a parser that knows nothing of places.
    #[track_caller]
    fn check_json(sought: &str, json: &str, after: &[&str]) {
        let sought = text(sought);
        assert!(sought.is_in(json.as_bytes()), "{json}");
        let cut = sought.cut(json).map_or(json.to_owned(), |cut| cut.text);
        assert_eq!(serde_json::from_str::<Vec<String>>(&cut).unwrap(), after, "{json}");
    }

    #[test]
    fn a_text_is_cut_out_of_what_json_says() {
        check_json(r#"said "blue zebra" twice"#, r#"["he said \"blue zebra\" twice.", "x"]"#, &["he .", "x"]);
        check_json(r#"said \"blue zebra\" twice"#, r#"["he said \"blue zebra\" twice."]"#, &["he ."]);
        check_json("Zoë K", r#"["Zo\u00eb K", "Zoe\u0308 K", "Zoë K"]"#, &["", "", ""]);
        check_json("one\ntwo", r#"["a one\ntwo b"]"#, &["a  b"]);
        check_json("Sea", r#"["\u0053ea", "secS\u0065aea"]"#, &["", "secea"]);
        check_json("ab/cd", r#"["ab\/cd", "ab/cd"]"#, &["", ""]);
        // Letters of an escape are none of the text.
        check_json("nabout", r#"["line\nabout"]"#, &["line\nabout"]);
        let mixed = r#"["line\nabout", "nabout it"]"#;
        check_json("nabout", mixed, &["line\nabout", " it"]);
        // Of what is no string nothing is cut.
        let board = r#"{"x":-4711,"4711":"pin 4711","n":[4711]}"#;
        check(&text("4711"), board, r#"{"x":-4711,"4711":"pin ","n":[4711]}"#, 1);
        let log = "{\"x\":-4711}\n{\"a\":\"pin 4711\"}\n";
        check(&text("4711"), log, "{\"x\":-4711}\n{\"a\":\"pin \"}\n", 1);
    }

    #[test]
    fn a_text_is_found_however_a_note_has_to_write_it() {
        check(&text("it's Zwei #1"), "---\na: 'it''s Zwei #1'\n---\n", "---\na: ''\n---\n", 1);
        check(&text(r#"say "Zdrei" now"#), "---\na: \"say \\\"Zdrei\\\" now\"\n---\n", "---\na: \"\"\n---\n", 1);
        check(&text("Zp|Zq"), "| a |\n| --- |\n| Zp\\|Zq |\n", "| a |\n| --- |\n|  |\n", 1);
        check(&text("one\ntwo"), "a one\r\ntwo b\r\n", "a  b\r\n", 1);
        check(&text("Ana Zorvík"), "[x](Ana%20Zorv%C3%ADk.md) [y](<Ana Zorvík.md>)\n", "[x](.md) [y](<.md>)\n", 2);
        check(&text(r"\n\n\n"), "a\n\n\nb \\n\\n\\n\n", "a\n\n\nb \n", 1);
        check(&text("'s Zwei"), "---\na: 'it''s Zwei'\n---\n", "---\na: 'it'\n---\n", 1);
        check(&text(r"\near"), "x\nearly \\near\n", "x\nearly \n", 1);
        check(&text("Zed & Co"), "<b>Zed &amp; Co</b>\n", "<b></b>\n", 1);
        check(&text(r#"the "Z" one"#), "a,\"the \"\"Z\"\" one\"\n", "a,\"\"\n", 1);
    }

    #[test]
    fn front_matter_without_an_item_can_be_read() {
        let note = "---\naliases: [Ana Zed, Az]\ntags: [friend]\n---\nAna Zed is here.\n";
        check(&text("Ana Zed"), note, "---\naliases: [\"\", Az]\ntags: [friend]\n---\n is here.\n", 2);
        let quoted = "---\naliases: [Ana Zed, \"met Ana Zed\"]\n---\n";
        check(&text("Ana Zed"), quoted, "---\naliases: [\"\", \"met \"]\n---\n", 2);
        check(&text("Ana Zed"), "---\nwho: Ana Zed\n---\n", "---\nwho: \n---\n", 1);
    }

    #[test]
    fn what_a_model_said_is_found_in_a_conversation_that_holds_it() {
        let call =
            r#"<actions>[{"content":"- say \"Zhi there\" and Z\u00e9nobie\nline Ztwo, back\\Zslash"}]</actions>"#;
        let turn = serde_json::json!({"turn": {"text": call}}).to_string();
        for said in [r#"say "Zhi there" and"#, "Zénobie", "Zénobie\nline Ztwo", r"back\Zslash"] {
            assert!(text(said).is_in_payload(&turn, None), "{said}");
        }
        assert!(!text("nline Ztwo, other").is_in_payload(&turn, None));
    }

    #[test]
    fn links_are_cut_out_of_the_texts_of_a_canvas() {
        let canvas = "{\n\t\"nodes\":[\n\t\t{\"type\":\"text\",\"text\":\"a\\n[[secret|\\u00e9]] b\"},\n\t\t{\"type\":\"file\",\"file\":\"secret.md\"}]}";
        let cut = note(&["secret.md"]).cut_canvas(canvas, &|_, _| true).unwrap();
        assert_eq!((cut.text.as_str(), cut.count), (canvas.replace("[[secret|\\u00e9]]", "").as_str(), 1));
    }

    #[test]
    fn cutting_is_linear_in_hostile_texts() {
        let many = 200_000;
        let all = Some(Cut { text: String::new(), count: many as u64 });
        // Not `assert_eq`, which would print all of it.
        assert!(text("abc").cut(&format!("{}{}", "ab".repeat(many), "c".repeat(many))) == all);
        assert!(text("abc").cut(&format!("{}{}", "a".repeat(many), "bc".repeat(many))) == all);
        assert!(text(&format!("{}b", "a".repeat(many / 2))).cut(&"a".repeat(many)).is_none());
        assert!(note(&["a.md"]).cut(&"[[".repeat(many)).is_none());
        let json = |inner: &str| format!("[\"{}\"]", inner.repeat(many));
        assert!(text("a\na\na").is_in(json("a\\n").as_bytes()) && text("abc").cut(&json("\\u0061")).is_none());
        assert!(text("abc").cut(&json("\\u0061bc")).is_some_and(|cut| cut.text == "[\"\"]"));
    }

    #[test]
    fn of_html_only_the_address_is_cut_out() {
        let sought = note(&["secret.md"]);
        let text =
            "- see <a href=\"secret.md\">\n- my bank\n- other </a>\n<img srcset=\"secret.md 1x, keep.png 2x\">\n";
        check(&sought, text, &text.replace("secret.md", ""), 2);
    }

    #[test]
    fn links_to_a_note_are_cut_out_whole() {
        let sought = note(&["entities/jane_doe.md", "people/jane.md"]);
        check(&sought, "met [[jane_doe]] and [[entities/Jane_Doe.md#Work|Jane]]\n", "met  and \n", 2);
        check(
            &sought,
            "---\nfriend: \"[[jane]]\"\n---\n[her](../x/../people/jane.md) `[[jane]]`\n",
            "---\nfriend: \"\"\n---\n `[[jane]]`\n",
            2,
        );
        check(&sought, "[![[jane]]](people/jane.md) end\n", " end\n", 2);
        check(&sought, "- ![[jane]]\n- [[bob]]\n", "- [[bob]]\n", 1);
        check(&sought, "[[other/jane_doe]] [[doe]] [[jane_doe_2]]\n", "[[other/jane_doe]] [[doe]] [[jane_doe_2]]\n", 0);
    }

    #[test]
    fn payloads_that_name_a_note_are_found() {
        let sought = note(&["entities/jane.md"]);
        for payload in [
            r#"{"path":"entities/jane.md"}"#,
            r#"{"path":"a.md","arguments":{"new_path":"./entities//jane.md"}}"#,
            r#"{"result":{"message":"note `entities/jane.md` does not exist"}}"#,
            r#"{"arguments":{"content":"see [[jane|her]]"}}"#,
            r#"{"arguments":{"link":"jane"}}"#,
            r#"{"entities\/jane.md":1}"#,
            "no JSON, entities/jane.md",
        ] {
            assert!(sought.is_in_payload(payload, None), "{payload}");
        }
        for payload in [r#"{"path":"old/entities/jane.md"}"#, r#"{"path":"entities/jane.mdx"}"#, r#"{"x":"jane doe"}"#]
        {
            assert!(!sought.is_in_payload(payload, None), "{payload}");
        }
        assert!(text("Ünï").is_in_payload(r#"{"a":[{"b":"\u00dcn\u00ef"}]}"#, None));
        assert!(
            !text("path").is_in_payload(r#"{"a":"b"}"#, None) && text("path").is_in_payload(r#"{"path":null}"#, None)
        );
    }

    #[test]
    fn a_name_means_the_note_while_it_had_it() {
        let name = MemoryPath::parse("a.md").unwrap();
        let sought = Sought::Note(vec![Called { name, since: 2, until: 5, alone: (1, 7) }]);
        for (when, expected) in [
            (When::Ever, true),
            (When::AfterMoves(1), false),
            (When::BeforeMoves(2), false),
            (When::AfterMoves(2), true),
            (When::BeforeMoves(5), true),
            (When::AfterMoves(5), false),
            (When::BeforeMoves(6), false),
        ] {
            assert_eq!(sought.is_path("a.md", when), expected, "{when:?}");
        }
        let said = |batch| sought.is_in_payload(r#"{"path":"a.md"}"#, batch);
        let batches = [None, Some(1), Some(2), Some(5), Some(6), Some(7)];
        assert_eq!(batches.map(said), [true, false, true, true, true, false]);
    }
}

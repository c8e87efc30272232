//! The tags of a turn, of every dialect that has tags.

use memchr::{memchr_iter, memchr2_iter, memchr3};

/// What a tag is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Think,
    Actions,
    Reply,
    /// What the answer to a turn stands in; models repeat it.
    Result,
    /// Code of mem-agent.
    Python,
    /// One call of a tool in a text.
    Tool,
    /// What the answer to such a call stands in.
    ToolResult,
}

/// A tag in a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Tag {
    pub(super) kind: Kind,
    pub(super) closes: bool,
    /// Whether it is spelled as the prompt spells it.
    pub(super) is_plain: bool,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Tag {
    /// Whether it opens a block of calls.
    pub(super) fn opens_calls(self) -> bool {
        !self.closes && self.kind.has_calls()
    }
}

impl Kind {
    /// Whether calls stand between its tags.
    pub(super) fn has_calls(self) -> bool {
        matches!(self, Self::Actions | Self::Python | Self::Tool)
    }
}

pub(super) const NAMES: &[(&str, Kind)] = &[
    ("actions", Kind::Actions),
    ("reply", Kind::Reply),
    ("thinking", Kind::Think),
    ("think", Kind::Think),
    ("result", Kind::Result),
    ("python", Kind::Python),
    // The longer name first: the shorter one starts it.
    ("mcp:tool_result", Kind::ToolResult),
    ("mcp:tool", Kind::Tool),
];

/// The tag that starts at `start`.
pub(super) fn tag_at(text: &str, start: usize) -> Option<Tag> {
    let (name, kind, closes, rest) = name_at(text, start)?;
    let after = tag_end(rest.get(name.len()..)?)?;
    let end = text.len() - after.len();
    let is_plain = rest.starts_with(name.as_bytes()) && end - start == name.len() + 2 + usize::from(closes);
    Some(Tag { kind, closes, is_plain, start, end })
}

/// What follows a tag of which `rest` stands behind the name: blanks or attributes, as in ` effort="high"`.
fn tag_end(rest: &[u8]) -> Option<&[u8]> {
    let trimmed = rest.trim_ascii_start();
    if let Some(after) = trimmed.strip_prefix(b">") {
        return Some(after);
    }
    if trimmed.len() == rest.len() || !trimmed.first()?.is_ascii_alphabetic() {
        return None;
    }
    let end = memchr3(b'<', b'>', b'\n', trimmed)?;
    let attributes = trimmed.get(..end).filter(|attributes| attributes.contains(&b'='))?;
    if attributes.ends_with(b"/") { None } else { trimmed.get(end..)?.strip_prefix(b">") }
}

/// JSON in which no tag and no mark of a chat template is left, and which says the same.
pub(super) fn json_without_tags(json: &str) -> String {
    without_tags(json, "\\u00")
}

/// A text in which the first character of each tag, and of each mark of a chat template, is `sign` and its number in
/// hexadecimal.
pub(super) fn without_tags(text: &str, sign: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut copied = 0;
    let starts = memchr2_iter(b'<', b'[', text.as_bytes());
    for at in starts.filter(|at| looks_like_tag(text, *at) || is_template_mark(text, *at)) {
        out.push_str(text.get(copied..at).unwrap_or_default());
        let byte = text.as_bytes().get(at).copied().unwrap_or_default();
        out.push_str(&format!("{sign}{byte:02x}"));
        copied = at + 1;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

/// Whether a tag starts at `start`, or what a reader could take for one.
fn looks_like_tag(text: &str, start: usize) -> bool {
    name_at(text, start).is_some()
}

/// Whether the marks start so by which chat templates tell who speaks: `<|im_end|>`, `</s>`, `<start_of_turn>`, `[INST]`. A
/// model's server may read them in any text, so this goes by their shape and is no list: a name between angle brackets, and
/// capitals between square ones, which start no value of JSON.
fn is_template_mark(text: &str, start: usize) -> bool {
    const LONGEST: usize = 40;
    let rest = text.get(start..).unwrap_or_default();
    let (rest, close) = match rest.strip_prefix('<') {
        Some(rest) => (rest, '>'),
        None => (rest.strip_prefix('[').unwrap_or_default(), ']'),
    };
    if close == '>' && rest.starts_with(['|', '\u{ff5c}']) {
        return true;
    }
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let is_part = |character: char| match close {
        '>' => character.is_ascii_alphanumeric() || matches!(character, '_' | '-'),
        _ => character.is_ascii_uppercase() || character == '_',
    };
    let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    let least = if close == '>' { 1 } else { 3 };
    let after = rest.get(length..).and_then(|rest| rest.strip_prefix(close));
    // A wikilink has two brackets.
    (least..=LONGEST).contains(&length) && after.is_some_and(|after| close == '>' || !after.starts_with(']'))
}

/// The name of a tag that starts at `start`, what it is about, whether it closes, and the text from the name on.
fn name_at(text: &str, start: usize) -> Option<(&'static str, Kind, bool, &[u8])> {
    let rest = text.as_bytes().get(start..)?.strip_prefix(b"<")?.trim_ascii_start();
    let (closes, rest) = match rest.strip_prefix(b"/") {
        Some(rest) => (true, rest.trim_ascii_start()),
        None => (false, rest),
    };
    let starts_with =
        |name: &str| rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
    let (name, kind) = NAMES.iter().find(|(name, _)| starts_with(name))?;
    Some((name, *kind, closes, rest))
}

/// The first tag from `at` on.
pub(super) fn next_tag(text: &str, at: usize) -> Option<Tag> {
    let bytes = text.as_bytes().get(at..)?;
    memchr_iter(b'<', bytes).find_map(|offset| tag_at(text, at + offset))
}

/// The first tag from `at` on that ends what `kind` opened.
pub(super) fn next_close(text: &str, mut at: usize, kind: Kind) -> Option<Tag> {
    loop {
        let tag = next_tag(text, at)?;
        if tag.closes && tag.kind == kind {
            return Some(tag);
        }
        at = tag.end;
    }
}

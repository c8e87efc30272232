//! Where in a text facts and tags stand, by line.
//!
//! A fact is whatever stands behind its name and a colon: in a list, in front matter, in a table, under a heading. What
//! belongs to it goes with it: what is indented below it, the lines below an empty value, the section, the table.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Words of a heading that do not tell it from another one.
const PLAIN: &[&str] = &["my", "the", "our", "information", "info", "detail", "data", "fact", "number", "note"];

/// The lines of a text, read once.
pub(super) struct Lines<'t> {
    lines: Vec<Line<'t>>,
    /// How many lines front matter has, with both its borders.
    front: usize,
}

struct Line<'t> {
    text: &'t str,
    indent: usize,
    /// The level of a heading; 0 for none.
    level: usize,
    /// What could be the names of facts, each as its words.
    labels: Vec<Vec<String>>,
    /// The words of a heading, but for those that say nothing.
    title: Vec<String>,
    /// Whether it is one of a list, so that what has its indent is another one.
    is_item: bool,
    /// Whether nothing stands behind the last label.
    is_open: bool,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let lines: Vec<Line<'t>> = text.split_inclusive('\n').map(Line::of).collect();
        let is_border = |line: &Line<'_>| line.text.trim_end() == "---";
        let front = match lines.first() {
            Some(first) if is_border(first) => lines.iter().skip(1).position(is_border).map_or(0, |at| at + 2),
            _ => 0,
        };
        Self { lines, front }
    }

    /// The lines, from 0, of each fact whose name holds these words.
    pub(super) fn facts(&self, name: &[String]) -> Vec<RangeInclusive<usize>> {
        self.found(|line| line.title == name || line.labels.iter().any(|label| holds(label, name)))
    }

    /// The lines, from 0, that say facts of these names and no others. Only what stands behind a name is its fact here:
    /// on its line, or below where nothing else is named. A row of a table says other things too.
    pub(super) fn of_facts_alone(&self, names: &[&[String]]) -> Vec<RangeInclusive<usize>> {
        let is_named = |label: &Vec<String>| names.iter().any(|name| is_called(label, name));
        let mut found = Vec::new();
        for (at, line) in self.lines.iter().enumerate().filter(|(_, line)| !line.is_row()) {
            let rest = self.lines.iter().skip(at + 1).take_while(|next| next.labels.is_empty() && next.level == 0);
            if line.level > 0 && line.labels.is_empty() && is_named(&line.title) {
                found.push(at..=at + rest.count());
            } else if self.is_about(at, names) && !line.labels.is_empty() {
                let is_below = |next: &&Line<'_>| {
                    next.is_below(line) || !line.is_item && !next.is_blank() && next.indent == line.indent
                };
                let below = if line.is_open { rest.take_while(is_below).count() } else { 0 };
                found.push(at..=at + below);
            }
        }
        found
    }

    /// Whether a line names no fact but these.
    pub(super) fn is_about(&self, at: usize, names: &[&[String]]) -> bool {
        let is_named = |label: &Vec<String>| names.iter().any(|name| is_called(label, name));
        self.lines.get(at).is_some_and(|line| line.labels.iter().all(is_named))
    }

    /// Whether a line names one fact at most.
    pub(super) fn is_of_one(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| line.labels.len() <= 1)
    }

    /// The lines that hold these words.
    pub(super) fn with_words(&self, wanted: &[String]) -> Vec<RangeInclusive<usize>> {
        let holds = |line: &Line<'_>| holds(&words(line.text), wanted);
        (0..).zip(&self.lines).filter(|(_, line)| holds(line)).map(|(at, _)| at..=at).collect()
    }

    /// The lines with a tag, or with one below it.
    pub(super) fn tagged(&self, tag: &str) -> Vec<RangeInclusive<usize>> {
        self.found(|line| tags(line.text).any(|found| is_tag(found, tag)))
    }

    /// These lines, and where they are the head of a key in a block, all of the block.
    pub(super) fn with_blocks(&self, found: Vec<RangeInclusive<usize>>) -> Vec<RangeInclusive<usize>> {
        let mut all: Vec<RangeInclusive<usize>> = Vec::new();
        for lines in found {
            let (first, mut last) = lines.into_inner();
            if all.last().is_some_and(|before| before.contains(&first) && before.contains(&last)) {
                continue;
            }
            if self.lines.get(last).is_some_and(|line| line.text.contains("-----BEGIN")) {
                let rest = self.lines.iter().skip(last + 1);
                let inside = rest.take_while(|line| !line.text.contains("-----END")).count();
                last = (last + inside + 1).min(self.lines.len().saturating_sub(1));
            }
            all.push(first..=last);
        }
        all
    }

    /// Whether front matter gives the whole text the tag.
    pub(super) fn is_tagged(&self, tag: &str) -> bool {
        let mut is_list = false;
        for line in self.lines.iter().take(self.front) {
            let text = line.text.trim();
            let values = match text.split_once(':') {
                Some((key, values)) if !text.starts_with('-') => {
                    is_list = matches!(key.trim().to_lowercase().as_str(), "tags" | "tag");
                    values
                }
                _ => text.trim_start_matches('-'),
            };
            let is_mark = |mark: char| mark == ',' || mark.is_whitespace() || "[]\"'".contains(mark);
            let mut values = values.split(is_mark).map(|value| value.trim_start_matches('#'));
            if is_list && values.any(|value| is_tag(value, tag)) {
                return true;
            }
        }
        false
    }

    fn found(&self, holds: impl Fn(&Line<'_>) -> bool) -> Vec<RangeInclusive<usize>> {
        let mut found: Vec<RangeInclusive<usize>> = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            // Inside of the place before nothing reaches further than that, which keeps the time linear.
            let is_inside =
                |before: &RangeInclusive<usize>| before.contains(&at) && !(line.is_open && before.end() == &at);
            if found.last().is_some_and(is_inside) || !holds(line) {
                continue;
            }
            found.push(self.first_of(at)..=self.last_of(at));
        }
        found
    }

    /// The first line of the table that has this line, or the line.
    fn first_of(&self, at: usize) -> usize {
        if !self.is_row(at) {
            return at;
        }
        let rows = self.lines.iter().take(at).rev().take_while(|line| line.is_row()).count();
        at - rows
    }

    /// The last line that goes with this one.
    fn last_of(&self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else { return at };
        let rest = || self.lines.iter().skip(at + 1);
        let count = if line.level > 0 {
            rest().take_while(|next| next.level == 0 || next.level > line.level).count()
        } else if line.is_row() {
            rest().take_while(|next| next.is_row()).count()
        } else if at < self.front {
            let is_item =
                |next: &&Line<'_>| next.is_below(line) || line.is_open && next.text.trim_start().starts_with("- ");
            rest().take(self.front.saturating_sub(at + 2)).take_while(is_item).count()
        } else if line.is_open {
            let gap = rest().take_while(|next| next.is_blank()).count();
            let below = rest().skip(gap).take_while(|next| !next.is_blank() && next.level == 0);
            let below =
                below.take_while(|next| next.is_below(line) || !line.is_item && next.indent == line.indent).count();
            (if below == 0 { 0 } else { gap + below }).max(self.below(at))
        } else {
            self.below(at)
        };
        at + count
    }

    /// How many lines are indented below this one, with blank ones between them.
    fn below(&self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else { return 0 };
        let rest = self.lines.iter().skip(at + 1);
        let inside = rest.take_while(|next| next.is_blank() || next.is_below(line));
        inside.zip(1..).filter(|(next, _)| !next.is_blank()).map(|(_, count)| count).last().unwrap_or(0)
    }

    fn is_row(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(Line::is_row)
    }
}

impl<'t> Line<'t> {
    fn of(text: &'t str) -> Self {
        let body = text.trim_start_matches([' ', '\t', '>']);
        let level = body.bytes().take_while(|byte| *byte == b'#').count();
        let level =
            if level <= 6 && body.get(level..).is_some_and(|rest| rest.starts_with([' ', '\t'])) { level } else { 0 };
        let mut labels = Vec::new();
        let mut start = 0;
        let mut last = 0;
        for (at, mark) in text.char_indices() {
            match mark {
                ':' | '=' | '：' => {
                    labels.push(words(text.get(start..at).unwrap_or_default()));
                    start = at + mark.len_utf8();
                    last = start;
                }
                '|' => {
                    labels.push(words(text.get(start..at).unwrap_or_default()));
                    start = at + 1;
                }
                ',' | ';' | '[' | '{' => start = at + 1,
                _ => {}
            }
        }
        let mut title = if level > 0 { words(text) } else { Vec::new() };
        title.retain(|word| !PLAIN.contains(&word.as_str()));
        labels.retain(|label| !label.is_empty());
        let is_item =
            body.starts_with(['-', '*', '+']) && body.get(1..).is_some_and(|rest| rest.starts_with([' ', '\t']));
        let is_open = last > 0 && words(text.get(last..).unwrap_or_default()).is_empty();
        Self {
            text,
            indent: text.len() - text.trim_start_matches([' ', '\t']).len(),
            level,
            labels,
            title,
            is_item,
            is_open,
        }
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_row(&self) -> bool {
        self.text.trim_start().starts_with('|')
    }

    fn is_below(&self, above: &Self) -> bool {
        !self.is_blank() && self.indent > above.indent
    }
}

/// The words of a name as they are compared: in lower case, in the singular.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| stem(word).into_owned()).collect()
}

/// A word without the ending of a plural.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    match word.strip_suffix("ies") {
        Some(start) if start.len() > 2 => return Cow::Owned(format!("{start}y")),
        _ => {}
    }
    if let Some(start) = word.strip_suffix("es").filter(|start| start.ends_with("ss") || start.ends_with("gnos")) {
        return Cow::Owned(if start.ends_with("gnos") { format!("{start}is") } else { start.to_owned() });
    }
    match word.strip_suffix('s') {
        Some(start) if start.len() > 2 && !start.ends_with(['s', 'u', 'i']) => Cow::Borrowed(start),
        _ => Cow::Borrowed(word),
    }
}

/// Whether a label holds the words of a name, one behind the other.
fn holds(label: &[String], name: &[String]) -> bool {
    !name.is_empty() && label.windows(name.len()).any(|words| words == name)
}

/// Whether a label is a name and says no more: whose fact it is, and the number of an item, aside.
fn is_called(label: &[String], name: &[String]) -> bool {
    const WHOSE: &[&str] = &["her", "his", "their", "its"];
    if label == name {
        return true;
    }
    let label = label.iter().map(String::as_str).filter(|word| {
        !PLAIN.contains(word) && !WHOSE.contains(word) && !word.bytes().all(|byte| byte.is_ascii_digit())
    });
    let label: Vec<&str> = label.collect();
    let label = if let [_, "s", rest @ ..] = label.as_slice() { rest } else { label.as_slice() };
    !label.is_empty() && label.iter().eq(name.iter().filter(|word| !PLAIN.contains(&word.as_str())))
}

/// The tags in a line, without `#`.
fn tags(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices('#').map(|(at, _)| at);
    starts.filter_map(|at| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let is_start = before.is_none_or(|before| !before.is_alphanumeric() && before != '#' && before != '/');
        let tag = line.get(at + 1..)?;
        let end = tag.find(|character: char| !is_of_tag(character)).unwrap_or(tag.len());
        tag.get(..end).filter(|tag| is_start && !tag.is_empty())
    })
}

/// Whether a character can stand in a tag.
pub(super) fn is_of_tag(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '/')
}

/// Whether a tag is the wanted one, or below it.
fn is_tag(found: &str, wanted: &str) -> bool {
    let (found, wanted) = (found.to_lowercase(), wanted.to_lowercase());
    found.strip_prefix(&wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

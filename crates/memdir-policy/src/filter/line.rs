//! Where in a text names and tags stand, by line.
//!
//! What is left out is found wherever a line holds its name, in whatever shape: a filter has to be a stricter reader than
//! `note`, which says what a note states, for code, comments, quotes and parts of a note are shown too. What belongs to such a
//! line goes with it: what is indented below it, the lines below an empty value, the rest of its sentence, the section of a heading,
//! the table whose head it is in. What alone may be told is a fact: what stands behind its name and a colon.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization;

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
    /// All words of it.
    words: Vec<String>,
    indent: usize,
    /// The level of a heading; 0 for none.
    level: usize,
    /// What could be the names of facts, each as its words.
    labels: Vec<Vec<String>>,
    /// The words of a heading, but for those that say nothing.
    title: Vec<String>,
    /// Whether it is one of a list, so that what has its indent is another one.
    is_item: bool,
    /// Whether nothing stands behind the last label, or it is a label alone, in bold.
    is_open: bool,
    /// Whether it is one of a table.
    is_row: bool,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut lines: Vec<Line<'t>> = text.split_inclusive('\n').map(Line::of).collect();
        mark_tables(&mut lines);
        let is_border = |line: &Line<'_>| line.text.trim_end() == "---";
        let front = match lines.first() {
            Some(first) if is_border(first) => lines.iter().skip(1).position(is_border).map_or(0, |at| at + 2),
            _ => 0,
        };
        Self { lines, front }
    }

    /// The lines, from 0, that hold these words, with what belongs to them.
    pub(super) fn named(&self, name: &[String]) -> Vec<RangeInclusive<usize>> {
        self.found(|line| holds(&line.words, name))
    }

    /// The lines, from 0, that say facts of these names and no others. Only what stands behind a name is its fact here:
    /// on its line, or below where nothing else is named. A row of a table says other things too.
    pub(super) fn of_facts_alone(&self, names: &[&[String]]) -> Vec<RangeInclusive<usize>> {
        let is_named = |label: &Vec<String>| names.iter().any(|name| is_called(label, name));
        let mut found = Vec::new();
        for (at, line) in self.lines.iter().enumerate().filter(|(_, line)| !line.is_row) {
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
        let is_mark = |mark: char| mark == ',' || mark.is_whitespace() || "[]\"'".contains(mark);
        let has = |values: &str| values.split(is_mark).any(|value| is_tag(value.trim_start_matches('#'), tag));
        self.front_values(&["tags", "tag"]).into_iter().any(has)
    }

    /// Whether the whole text is about what is called so: its first heading, its title or an alias is that name.
    pub(super) fn is_called(&self, name: &[String]) -> bool {
        let first = self.lines.iter().find(|line| line.level == 1);
        let is_name = |values: &str| values.split([',', '[', ']']).any(|value| words(value) == name);
        first.is_some_and(|line| line.words == name)
            || self.front_values(&["title", "alias", "aliases"]).into_iter().any(is_name)
    }

    /// What front matter says for these keys, line by line.
    fn front_values(&self, keys: &[&str]) -> Vec<&'t str> {
        let mut is_wanted = false;
        let mut found = Vec::new();
        for line in self.lines.iter().take(self.front) {
            let text = line.text.trim();
            let values = match text.split_once(':') {
                Some((key, values)) if !text.starts_with('-') => {
                    is_wanted = keys.contains(&key.trim().to_lowercase().as_str());
                    values
                }
                _ => text.trim_start_matches('-'),
            };
            found.extend(is_wanted.then_some(values));
        }
        found
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
            found.push(at..=self.last_of(at));
        }
        found
    }

    /// The last line that goes with this one.
    fn last_of(&self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else { return at };
        let rest = || self.lines.iter().skip(at + 1);
        let count = if line.level > 0 {
            rest().take_while(|next| next.level == 0 || next.level > line.level).count()
        } else if line.is_row {
            let is_head = at.checked_sub(1).is_none_or(|before| !self.is_row(before));
            if is_head { rest().take_while(|next| next.is_row).count() } else { 0 }
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
            self.below(at).max(self.sentence(at))
        };
        at + count
    }

    /// How many lines go on with the sentence of this one: the text below it, as far as it is neither ended nor something of
    /// its own.
    fn sentence(&self, at: usize) -> usize {
        let is_open = |line: &Line<'_>| !line.text.trim_end().ends_with(['.', '!', '?', '。', '！', '？']);
        let is_quoted = |line: &Line<'_>| line.text.trim_start().starts_with('>');
        let goes_on = |line: &Line<'_>, next: &Line<'_>| {
            is_quoted(line) == is_quoted(next)
                && !next.is_blank()
                && !next.is_item
                && !next.is_row
                && next.level == 0
                && next.labels.is_empty()
        };
        let pairs = self.lines.iter().skip(at).zip(self.lines.iter().skip(at + 1));
        pairs.take_while(|(line, next)| is_open(line) && goes_on(line, next)).count()
    }

    /// How many lines are indented below this one, with blank ones between them.
    fn below(&self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else { return 0 };
        let rest = self.lines.iter().skip(at + 1);
        let inside = rest.take_while(|next| next.is_blank() || next.is_below(line));
        inside.zip(1..).filter(|(next, _)| !next.is_blank()).map(|(_, count)| count).last().unwrap_or(0)
    }

    fn is_row(&self, at: usize) -> bool {
        self.lines.get(at).is_some_and(|line| line.is_row)
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
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let mark = if digits > 0 {
            body.get(digits..).unwrap_or_default().strip_prefix(['.', ')'])
        } else {
            body.strip_prefix(['-', '*', '+'])
        };
        let is_item = mark.is_some_and(|rest| rest.starts_with([' ', '\t']));
        let bare = body.trim_end();
        let is_bold = ["**", "__"].iter().any(|mark| bare.len() > 4 && bare.starts_with(mark) && bare.ends_with(mark));
        let is_open = is_bold || last > 0 && words(text.get(last..).unwrap_or_default()).is_empty();
        Self {
            text,
            words: words(text),
            indent: text.len() - text.trim_start_matches([' ', '\t']).len(),
            level,
            labels,
            title,
            is_item,
            is_open,
            is_row: body.starts_with('|'),
        }
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_below(&self, above: &Self) -> bool {
        !self.is_blank() && self.indent > above.indent
    }
}

/// Marks the lines of tables that have no `|` at their start: those around a line of dashes with one.
fn mark_tables(lines: &mut [Line<'_>]) {
    let is_border = |line: &Line<'_>| {
        let text = line.text.trim();
        text.contains('-') && text.contains('|') && text.chars().all(|one| matches!(one, '-' | ':' | '|' | ' ' | '\t'))
    };
    let mut is_inside = false;
    for at in 0..lines.len() {
        let is_head = lines.get(at + 1).is_some_and(is_border);
        if let Some(line) = lines.get_mut(at) {
            is_inside = (is_inside || is_head) && line.text.contains('|');
            line.is_row |= is_inside;
        }
    }
}

/// The words of a name as they are compared: in lower case, in the singular, in one form of Unicode. `homePhone2` are three.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for one in text.nfkc() {
        let is_next = before.is_lowercase() && one.is_uppercase()
            || before.is_numeric() != one.is_numeric() && before.is_alphanumeric() && one.is_alphanumeric();
        if is_next || !one.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| one.is_alphanumeric()) {
            word.push(one);
        }
        before = one;
    }
    let words = words.iter().filter(|word| !word.is_empty());
    words.map(|word| stem(&caseless::default_case_fold_str(word)).into_owned()).collect()
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

/// Whether words hold those of a name, one behind the other; where words are written without blanks between, within one.
fn holds(words: &[String], name: &[String]) -> bool {
    let is_unspaced = |word: &String| {
        word.chars().any(|one| matches!(one, '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
    };
    match name {
        [] => false,
        [name] if is_unspaced(name) => words.iter().any(|word| word.contains(name.as_str())),
        _ => words.windows(name.len()).any(|words| words == name),
    }
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

//! How what a search has found is shown: in lines of a terminal, or whole in a pipe.

use std::io::IsTerminal;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::term;
use memdir_core::report::Hit;
use memdir_note::Note;

/// What stands before each line of a snippet.
const INDENT: &str = "    ";
/// So many lines of a snippet are shown on a terminal, and so many of the best one where that is a list of facts.
const LINES: usize = 3;
const FACTS: usize = 8;
/// What is said of lines that are left out before and after.
const CUT: &str = "…";
/// The width of a terminal that does not say it, and the least that is wrapped to.
const WIDTH: u16 = 80;
const LEAST: usize = 20;

/// What hits are shown on.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// The columns of a terminal; `None` for anything else.
    width: Option<usize>,
    is_painted: bool,
}

impl Look {
    /// As it is for an output.
    pub(super) fn of(output: &impl IsTerminal) -> Self {
        let columns = || terminal_size::terminal_size().map_or(WIDTH, |(width, _)| width.0);
        let width = output.is_terminal().then(|| usize::from(columns()).max(LEAST));
        Self { width, is_painted: term::has_colours(output) }
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.is_painted && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// A hit as it is shown, with line ends: what it is called, where it is, and what stands there; `marks` says where in a text
/// the words are that were looked for.
pub(super) fn lines(
    hit: &Hit,
    title: &str,
    is_best: bool,
    marks: &dyn Fn(&str) -> Vec<Range<usize>>,
    look: Look,
) -> String {
    let heading = hit.heading.as_deref().filter(|heading| *heading != title);
    let called = heading.map_or_else(|| title.to_owned(), |heading| format!("{title} › {heading}"));
    let called = term::escape_line(&called);
    let place = format!("{}:{}", term::escape_line(hit.path.as_str()), hit.lines[0]);
    let text = term::escape(&hit.snippet).replace('\t', INDENT);
    let Some(width) = look.width else {
        let lines = text.lines().map(|line| format!("{INDENT}{line}\n"));
        return format!("{place}  {called}\n{}", lines.collect::<String>());
    };
    let is_short = called.width() + place.width() + 2 <= width;
    let between = if is_short { "  " } else { "\n" };
    let (bold, dimmed) = (Style::new().bold(), Style::new().dimmed());
    let mut shown = format!("{}{between}{}\n", look.paint(bold, &called), look.paint(dimmed, &place));
    let marks = marks(&text);
    // Room for the indent, and for what says that lines are left out.
    let rows = rows(&text, width - INDENT.len() - 4);
    let most = if is_best && states_facts(&text) { FACTS } else { LINES };
    let window = window(&rows, &marks, most);
    for (number, row) in rows.iter().enumerate().skip(window.start).take(window.len()) {
        let before = if number == window.start && number > 0 { "… " } else { "" };
        let is_cut = number + 1 == window.end && window.end < rows.len();
        let after = if is_cut && !text.get(row.clone()).is_some_and(|row| row.ends_with(CUT)) { " …" } else { "" };
        shown.push_str(&format!("{INDENT}{before}{}{after}\n", painted(&text, row, &marks, look)));
    }
    shown
}

/// Whether every line states a fact.
fn states_facts(text: &str) -> bool {
    let facts = Note::parse(text).facts();
    (1..).zip(text.lines()).all(|(number, _)| facts.iter().any(|fact| fact.line == number))
}

/// The rows in which a text is shown, as bytes of it.
fn rows(text: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        rows.extend(wrapped(bare, width).into_iter().map(|row| start + row.start..start + row.end));
        start += line.len();
    }
    rows.retain(|row| !row.is_empty());
    rows
}

/// Cuts a line to rows of a width: behind blanks, beside characters of two columns, else anywhere.
fn wrapped(line: &str, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let (mut start, mut used, mut cut) = (0, 0, 0);
    for (at, character) in line.grapheme_indices(true) {
        let columns = character.width();
        let is_blank = character.chars().all(char::is_whitespace);
        if columns > 1 {
            cut = at;
        }
        if used + columns > width && !is_blank && at > start {
            let end = if cut > start { cut } else { at };
            let row = line.get(start..end).unwrap_or_default();
            rows.push(start..start + row.trim_end().len());
            start = end;
            used = line.get(start..at).unwrap_or_default().width();
        }
        used += columns;
        if is_blank || columns > 1 {
            cut = at + character.len();
        }
    }
    rows.push(start..line.len());
    rows
}

/// The rows with the most marks that stand beside each other, the first of them where there are several.
fn window(rows: &[Range<usize>], marks: &[Range<usize>], most: usize) -> Range<usize> {
    let count = |window: &[Range<usize>]| {
        let (Some(first), Some(last)) = (window.first(), window.last()) else { return 0 };
        marks.iter().filter(|mark| mark.start < last.end && mark.end > first.start).count()
    };
    let windows = rows.windows(most).map(count).enumerate();
    let best = windows.rev().max_by_key(|(_, count)| *count).map_or(0, |(start, _)| start);
    best..(best + most).min(rows.len())
}

/// A row of a text that is escaped, with what is marked in that text painted.
fn painted(text: &str, row: &Range<usize>, marks: &[Range<usize>], look: Look) -> String {
    let style = AnsiColor::Red.on_default().bold();
    let mut out = String::new();
    let mut done = row.start;
    for mark in marks.iter().filter(|_| look.is_painted) {
        let inside = mark.start.max(done)..mark.end.min(row.end);
        if let (Some(before), Some(marked)) = (text.get(done..inside.start), text.get(inside.clone()))
            && !marked.is_empty()
        {
            out.push_str(before);
            out.push_str(&look.paint(style, marked));
            done = inside.end;
        }
    }
    out.push_str(text.get(done..row.end).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::{Look, lines, wrapped};
    use memdir_core::path::MemoryPath;
    use memdir_core::report::{Hit, Why};

    fn hit(heading: &str, snippet: &str) -> Hit {
        Hit {
            path: MemoryPath::parse("recipes/cake.md").unwrap(),
            heading: Some(heading.to_owned()),
            lines: [12, 14],
            snippet: snippet.to_owned(),
            score: None,
            why: vec![Why::Text],
            state: None,
        }
    }

    #[track_caller]
    fn check(width: Option<usize>, hit: &Hit, word: &str, expected: &str) {
        let marks = |text: &str| text.match_indices(word).map(|(at, found)| at..at + found.len()).collect();
        let look = Look { width, is_painted: false };
        assert_eq!(lines(hit, "Cake", false, &marks, look), expected);
    }

    #[test]
    fn a_pipe_gets_whole_lines_behind_the_place() {
        let long = "flour ".repeat(40);
        let expected = format!("recipes/cake.md:12  Cake › Dough\n    {long}\n    eggs\n");
        check(None, &hit("Dough", &format!("{long}\neggs")), "eggs", &expected);
        check(None, &hit("Cake", "a\u{1b}b\tc"), "x", "recipes/cake.md:12  Cake\n    a\\u{1b}b    c\n");
    }

    #[test]
    fn a_terminal_gets_three_rows_around_what_was_found() {
        let found = hit("Dough", "one\ntwo\nthree\nfour\nfive");
        check(Some(40), &found, "one", "Cake › Dough  recipes/cake.md:12\n    one\n    two\n    three …\n");
        check(Some(40), &found, "five", "Cake › Dough  recipes/cake.md:12\n    … three\n    four\n    five\n");
        check(Some(30), &hit("Dough", "one"), "", "Cake › Dough\nrecipes/cake.md:12\n    one\n");
    }

    #[test]
    fn facts_of_the_best_are_shown_whole() {
        let found = hit("Cake", "- a: 1\n- b: 2\n- c: 3\n- d: 4\n- e: 5");
        let shown =
            |is_best| lines(&found, "Cake", is_best, &|_| Vec::new(), Look { width: Some(40), is_painted: false });
        assert_eq!((shown(true).lines().count(), shown(false).lines().count()), (6, 4));
    }

    #[test]
    fn words_are_painted_where_a_row_is_broken_too() {
        let found = hit("Cake", "eggs and flour");
        let marks = |_: &str| vec![0..4, 9..14];
        let shown = lines(&found, "Cake", false, &marks, Look { width: Some(24), is_painted: true });
        let bare =
            shown.replace("\u{1b}[1m", "").replace("\u{1b}[2m", "").replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
        assert_eq!(bare, "Cake  recipes/cake.md:12\n    eggs and flour\n", "{shown:?}");
        assert!(shown.contains("\u{1b}[31meggs") && shown.contains("\u{1b}[31mflour"), "{shown:?}");
    }

    #[test]
    fn no_row_is_wider_than_it_may_be() {
        let texts = [
            "green tea and honey cake",
            "a very-long-word-without-any-blank-in-it",
            "漢字かな交じり文は幅が二つある",
            "tea 漢字 tea",
        ];
        for text in texts {
            for width in 4..30 {
                let rows: Vec<&str> = wrapped(text, width).into_iter().filter_map(|row| text.get(row)).collect();
                assert!(rows.iter().all(|row| row.width() <= width), "{width}: {rows:?}");
                assert_eq!(rows.concat().replace(' ', ""), text.replace(' ', ""), "nothing is lost");
            }
        }
        assert_eq!(wrapped("green tea and honey", 10), [0..9, 10..19], "between words");
        assert_eq!(wrapped("茶は緑", 4), [0..6, 6..9], "a character of two columns is not cut");
    }
}

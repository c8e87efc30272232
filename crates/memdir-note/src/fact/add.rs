//! Where a new fact goes, and how it is written there.

use super::line::Form;
use super::read::{Source, Stated};
use super::set::{Edit, in_cell};
use crate::Note;
use crate::front::{Quote, Value};
use crate::run::{Item, Kind, Row, Run};

impl Note<'_> {
    /// The edits that would add a fact, the best one first.
    pub(super) fn places(&self, stated: &[Stated], wanted: &str, value: &str) -> impl Iterator<Item = Edit> + use<'_> {
        let beside = self.beside(stated, wanted, value);
        let front = self.in_front(wanted, value);
        let below = self.below_title(wanted, value);
        [beside, front, Some(below)].into_iter().flatten()
    }

    /// The heading that names the note, by its place: the first of the first level, else the one with which the note begins.
    #[must_use]
    pub fn title_heading(&self) -> Option<usize> {
        let first = self.headings().iter().position(|heading| heading.level == 1);
        let leads = || {
            let heading = self.headings().first()?;
            self.slice(self.body()..heading.span.start).trim_start_matches('\u{feff}').trim().is_empty().then_some(0)
        };
        first.or_else(leads)
    }

    /// The facts that stand under no heading but the title.
    fn main_facts<'s>(&self, stated: &'s [Stated]) -> Vec<&'s Stated> {
        let title = self.title_heading();
        let is_main = |one: &&Stated| {
            let above = self.headings().partition_point(|heading| heading.span.start <= one.key.start).checked_sub(1);
            above.is_none() || above == title
        };
        stated.iter().filter(is_main).collect()
    }

    /// After the facts that stand under the title, in the form of the first of them.
    fn beside(&self, stated: &[Stated], wanted: &str, value: &str) -> Option<Edit> {
        let runs = &self.markup.runs;
        let main = self.main_facts(stated);
        main.iter().find_map(|one| match one.source {
            // A fact is nothing to be done.
            Source::Item(item) => {
                let list = runs.items.get(item).filter(|item| item.task.is_none())?.list;
                runs.lists.get(list).filter(|list| list.is_top)?;
                self.after_item(self.last_in(&main, list)?, wanted, value)
            }
            Source::Row(row) => {
                let row = runs.rows.get(row).filter(|row| !row.is_head && !row.is_quoted)?;
                self.after_row(runs.rows.iter().rfind(|last| last.table == row.table)?, wanted, value)
            }
            // A single line that is not bold may as well be prose.
            Source::Line { run, form, is_whole } => {
                let lines = runs.runs.get(run).map_or(0, |run| runs.count(run));
                (form != Form::Plain || is_whole && lines > 1).then(|| self.after_lines(&main, run, wanted, value))?
            }
            // What goes on below its value would be torn from it.
            Source::Definition(_) | Source::Bracketed(_) | Source::Front(_) => None,
        })
    }

    /// The last fact that is an item of a list.
    fn last_in<'s>(&self, stated: &[&'s Stated], list: usize) -> Option<&'s Stated> {
        let is_in = |one: &&&Stated| match one.source {
            Source::Item(item) => {
                self.markup.runs.items.get(item).is_some_and(|item| item.list == list && item.task.is_none())
            }
            Source::Line { .. } | Source::Definition(_) | Source::Bracketed(_) | Source::Row(_) | Source::Front(_) => {
                false
            }
        };
        stated.iter().rfind(is_in).copied()
    }

    /// Below a fact of a list; where the list is numbered, at its end.
    fn after_item(&self, fact: &Stated, wanted: &str, value: &str) -> Option<Edit> {
        let runs = &self.markup.runs;
        let Source::Item(index) = fact.source else { return None };
        let list = runs.lists.get(runs.items.get(index)?.list)?;
        let index = if list.is_ordered { list.last_item } else { index };
        let item = runs.items.get(index)?;
        let between = self.between(fact);
        let mark = self.mark_after(item, index, list.is_ordered);
        let line = format!("{mark}{}{wanted}{between}{value}", self.bold_before(fact));
        Some(self.new_item(item, index, &line))
    }

    /// What makes the key of a fact bold.
    fn bold_before(&self, fact: &Stated) -> &str {
        let before = self.slice(0..fact.key.start);
        let bare = before.trim_end_matches(['*', '_']);
        before.get(bare.len()..).unwrap_or_default()
    }

    /// What stands between the key of a fact and its value.
    fn between(&self, fact: &Stated) -> String {
        let between = self.slice(fact.key.end..fact.value.start.max(fact.key.end));
        let colon = between.trim_end();
        let blanks = match between.get(colon.len()..).unwrap_or_default() {
            "" if colon.ends_with('\u{ff1a}') => "",
            "\t" => "\t",
            _ => " ",
        };
        format!("{colon}{blanks}")
    }

    /// The margin and the mark of an item that comes after another one.
    fn mark_after(&self, item: &Item, index: usize, is_ordered: bool) -> String {
        let start = item.span.start;
        let line = self.line(self.line_at(start)).start;
        let margin = self.slice(line.max(self.text_start())..start);
        let text = self.slice(item.span.clone());
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let mark = text.get(..digits + 1).unwrap_or("-");
        let rest = text.get(mark.len()..).unwrap_or_default();
        let blanks = rest.get(..rest.len() - rest.trim_start_matches([' ', '\t']).len()).unwrap_or_default();
        let blanks = if blanks.is_empty() { " " } else { blanks };
        if !is_ordered {
            return format!("{margin}{mark}{blanks}");
        }
        let number = |text: &str| text.get(..text.bytes().take_while(u8::is_ascii_digit).count())?.parse::<u64>().ok();
        let own = number(text).unwrap_or(1);
        let before = index.checked_sub(1).and_then(|before| self.markup.runs.items.get(before));
        let before = before.filter(|before| before.list == item.list);
        // Some people number all items `1.`.
        let is_same = before.is_some_and(|before| number(self.slice(before.span.clone())) == Some(own));
        let next = if is_same { own } else { own.saturating_add(1) };
        let delimiter = mark.get(digits..).unwrap_or(".");
        format!("{margin}{next}{delimiter}{blanks}")
    }

    /// Adds an item below another one and all that belongs to it, apart from it where the others are apart.
    fn new_item(&self, item: &Item, index: usize, line: &str) -> Edit {
        let end = item.span.start + self.slice(item.span.clone()).trim_end().len();
        let siblings = self.markup.runs.lists.get(item.list).map_or(index..=index, |list| list.first_item..=index);
        let is_first = siblings.start() == &index;
        let above = self.line_at(item.span.start).checked_sub(1).map(|above| self.slice(self.line(above)));
        let is_apart = !is_first && above.is_some_and(|above| above.trim().is_empty());
        let text = if is_apart { format!("{}{line}", self.line_end()) } else { line.to_owned() };
        self.insert_line(end, &text)
    }

    /// Adds a line below the one that holds the byte before `end`.
    fn insert_line(&self, end: usize, line: &str) -> Edit {
        let nl = self.line_end();
        let line = line.trim_end();
        let rest = self.slice(end..self.text.len());
        match rest.find(['\n', '\r']) {
            Some(at) => {
                let length = if rest.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) { 2 } else { 1 };
                let at = end + at + length;
                Edit { range: at..at, text: format!("{line}{nl}") }
            }
            None => Edit { range: self.text.len()..self.text.len(), text: format!("{nl}{line}{nl}") },
        }
    }

    /// A row below the last one of a table, in its form.
    fn after_row(&self, row: &Row, wanted: &str, value: &str) -> Option<Edit> {
        let end = row.span.start + self.slice(row.span.clone()).trim_end().len();
        let [key, cell] = &row.cells;
        let is_usual = cell.end <= end && self.slice(cell.end..end).trim_matches('|').is_empty();
        let line = if is_usual {
            let bold = if self.slice(key.clone()).trim().starts_with("**") { "**" } else { "" };
            let name = in_cell(self.slice(key.clone()), &format!("{bold}{wanted}{bold}"));
            let line = self.line(self.line_at(row.span.start)).start;
            let (before, between) = (self.slice(line..key.start), self.slice(key.end..cell.start));
            let value = in_cell(self.slice(cell.clone()), value);
            format!("{before}{name}{between}{value}{}", self.slice(cell.end..end))
        } else {
            format!("| {wanted} | {} |", value.replace('|', "\\|"))
        };
        Some(self.insert_line(end, &line))
    }

    /// A line below those of a paragraph, or a paragraph below others of one line each.
    fn after_lines(&self, main: &[&Stated], first: usize, wanted: &str, value: &str) -> Option<Edit> {
        let runs = &self.markup.runs;
        let is_one = |run: &Run| runs.count(run) == 1 && matches!(run.kind, Kind::Paragraph { .. });
        let (mut last, mut fact) = (first, None);
        for one in main {
            match one.source {
                Source::Line { run, .. } if run == last => fact = Some(*one),
                Source::Line { run, .. }
                    if run == last + 1 && [last, run].iter().all(|run| runs.runs.get(*run).is_some_and(is_one)) =>
                {
                    (last, fact) = (run, Some(*one));
                }
                Source::Line { .. }
                | Source::Item(_)
                | Source::Definition(_)
                | Source::Bracketed(_)
                | Source::Row(_)
                | Source::Front(_) => {}
            }
        }
        let (run, fact) = (runs.runs.get(last)?, fact?);
        // In a quote or an item a line below would be outside of it.
        let before = self.slice(0..run.span.start);
        if !(before.is_empty() || before.ends_with(['\n', '\r'])) {
            return None;
        }
        let nl = self.line_end();
        let line = format!("{}{wanted}{}{value}", self.bold_before(fact), self.between(fact));
        if is_one(run) {
            return Some(Edit { range: run.span.end..run.span.end, text: format!("{nl}{nl}{line}") });
        }
        // What breaks the lines above breaks the last one too, which was none of them until now.
        let above = runs.line(run, 0).end..runs.line(run, 1).start;
        let hard = self.slice(above).split(['\n', '\r']).next().unwrap_or_default();
        Some(Edit { range: run.span.end..run.span.end, text: format!("{hard}{nl}{line}") })
    }

    /// Before the closing line of front matter that has single values.
    fn in_front(&self, wanted: &str, value: &str) -> Option<Edit> {
        self.front.entries.iter().find(|entry| matches!(entry.value, Value::Scalar(_)))?;
        let end = self.front.end;
        let text = format!("{}: {}{}", Quote::Plain.scalar(wanted), Quote::Plain.scalar(value), self.line_end());
        Some(Edit { range: end..end, text })
    }

    /// In the list right below the title, which is made where it is missing.
    fn below_title(&self, wanted: &str, value: &str) -> Edit {
        let title = self.title_heading().and_then(|title| self.headings().get(title));
        let at = title.map_or(self.text_start(), |title| title.span.end);
        let rest = self.slice(at..self.text.len());
        let next = at + rest.len() - rest.trim_start().len();
        let lists = &self.markup.runs.lists;
        let list = lists.iter().find(|list| list.is_top && !list.is_ordered && list.start == next);
        let items = list.and_then(|list| self.markup.runs.items.get(list.first_item..=list.last_item));
        let has_tasks = items.is_some_and(|items| items.iter().any(|item| item.task.is_some()));
        if let Some((list, false)) = list.map(|list| (list, has_tasks))
            && let Some(item) = self.markup.runs.items.get(list.last_item)
        {
            let line = format!("{}{wanted}: {value}", self.mark_after(item, list.last_item, false));
            return self.new_item(item, list.last_item, &line);
        }
        // Another mark starts a list of its own.
        let mark = if has_tasks && self.slice(next..next + 1) == "-" { '*' } else { '-' };
        self.new_list(at, next, &format!("{mark} {wanted}: {value}"))
    }

    /// A list of its own between the title, which ends at `at`, and the text that comes next.
    fn new_list(&self, at: usize, next: usize, line: &str) -> Edit {
        let (nl, line) = (self.line_end(), line.trim_end());
        let is_finished = at <= self.text_start() && self.front.body == 0 || self.slice(0..at).ends_with(['\n', '\r']);
        let lead = if is_finished { "" } else { nl };
        let gap = self.slice(at..next);
        let first = gap.split_inclusive('\n').next().filter(|line| line.ends_with('\n'));
        let at = at + first.filter(|_| at > self.text_start()).map_or(0, str::len);
        let apart = if next < self.text.len() { nl } else { "" };
        Edit { range: at..at, text: format!("{lead}{line}{nl}{apart}") }
    }

    /// Where the text of the body starts, after a byte order mark.
    fn text_start(&self) -> usize {
        match self.body() {
            0 if self.text.starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
            body => body,
        }
    }

    /// How the first line of the note ends.
    fn line_end(&self) -> &'static str {
        match self.text.find(['\n', '\r']).and_then(|at| self.text.get(at..)) {
            Some(rest) if rest.starts_with("\r\n") => "\r\n",
            Some(rest) if rest.starts_with('\r') => "\r",
            _ => "\n",
        }
    }
}

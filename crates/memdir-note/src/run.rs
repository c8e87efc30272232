//! [`Runs`]: the texts of items, paragraphs and rows, as the one pass over the Markdown meets them.
//!
//! A run is text that a reader sees as one: what an item of a list says before anything is nested in it, a paragraph, a
//! row of a table with two columns. Headings, code and HTML are none. Tables of all widths are kept beside them.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

/// The runs of a note, in their order. Every range is in bytes of the whole note.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) runs: Vec<Run>,
    pub(super) items: Vec<Item>,
    pub(super) lists: Vec<List>,
    pub(super) rows: Vec<Row>,
    /// The cells of all tables, row by row, that of the head first.
    pub(super) tables: Vec<Vec<Cells>>,
    /// Where lines end inside of runs, and where the next ones start.
    breaks: Vec<(usize, usize)>,
}

/// A text that a reader sees as one.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) span: Range<usize>,
    pub(super) kind: Kind,
    /// Which of the breaks are its own.
    breaks: Range<usize>,
}

/// What a run is the text of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// An item of a list, by its place among the items.
    Item(usize),
    /// A paragraph that is not the first text of an item.
    Paragraph {
        /// Where the innermost quote or footnote starts in which it stands.
        quote: Option<usize>,
    },
    /// A row of a table with two columns, by its place among the rows.
    Row(usize),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// From its mark to the end of all that belongs to it.
    pub(super) span: Range<usize>,
    pub(super) list: usize,
    /// The `[ ]` of a task.
    pub(super) task: Option<Range<usize>>,
    /// Whether anything but its first text stands in it.
    pub(super) has_more: bool,
}

/// A list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) start: usize,
    pub(super) is_ordered: bool,
    /// Whether it stands in no other list, in no quote and in no footnote.
    pub(super) is_top: bool,
    /// Whether it stands in another list.
    pub(super) is_nested: bool,
    pub(super) first_item: usize,
    pub(super) last_item: usize,
}

/// A row of a table with two columns.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) span: Range<usize>,
    /// Each with the blanks around it; the second is empty and after the row where the row has one cell.
    pub(super) cells: [Range<usize>; 2],
    pub(super) table: usize,
    /// Whether it is the head, which is kept only of a table without other rows.
    pub(super) is_head: bool,
    pub(super) is_quoted: bool,
}

/// The cells of a row, each with the blanks around it.
pub(super) type Cells = Vec<Range<usize>>;

impl Runs {
    /// How many lines a run has.
    pub(super) fn count(&self, run: &Run) -> usize {
        run.breaks.len() + 1
    }

    /// A line of a run, counted from 0, without the blanks and the marks of quotes around it.
    pub(super) fn line(&self, run: &Run, at: usize) -> Range<usize> {
        let breaks = self.breaks.get(run.breaks.clone()).unwrap_or_default();
        let start = at.checked_sub(1).and_then(|before| breaks.get(before)).map_or(run.span.start, |(_, next)| *next);
        start..breaks.get(at).map_or(run.span.end, |(end, _)| *end)
    }

    /// The breaks inside of a range: where each line ends and the next one starts.
    pub(super) fn breaks_in(&self, range: &Range<usize>) -> &[(usize, usize)] {
        let first = self.breaks.partition_point(|(end, _)| *end < range.start);
        let last = self.breaks.partition_point(|(_, next)| *next <= range.end);
        self.breaks.get(first..last).unwrap_or_default()
    }
}

/// Finds the runs while events come in.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    pub(super) runs: Runs,
    open: Vec<Open>,
    /// Whether the next text starts or goes on with a run.
    state: State,
    /// Where the line ended that goes on with the next text.
    line_end: Option<usize>,
    table: Option<Table>,
}

/// A container that is not yet at its end.
#[derive(Debug)]
enum Open {
    List(usize),
    /// An item, and whether its first text is still to come.
    Item(usize, bool),
    /// A quote or a footnote, by its start.
    Quote(usize),
}

#[derive(Debug, Default)]
enum State {
    /// Between blocks.
    #[default]
    Between,
    /// At the start of a paragraph.
    Starting(Kind),
    /// In the last of the runs.
    Inside,
    /// In a heading, in code, in HTML, in a table.
    Skipping,
}

/// A table with two columns that is not yet at its end.
#[derive(Debug)]
struct Table {
    head: Option<Row>,
    row: Option<Row>,
    cells: usize,
}

impl Tracker {
    /// Takes the next event, with its place in the note.
    pub(super) fn take(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(*end),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_) => self.inline(range),
            Event::SoftBreak | Event::HardBreak => {
                if let (State::Inside, Some(run)) = (&self.state, self.runs.runs.last()) {
                    self.line_end = Some(run.span.end);
                }
            }
            Event::Rule => self.block(State::Between),
            Event::TaskListMarker(_) => {
                if let Some(Open::Item(item, _)) = self.open.last()
                    && let Some(item) = self.runs.items.get_mut(*item)
                {
                    item.task = Some(range.clone());
                }
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest of Markdown says nothing here")]
    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.paragraph(),
            Tag::List(first) => self.list(first.is_some(), range.start),
            Tag::Item => self.item(range),
            Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) => {
                self.block(State::Between);
                self.open.push(Open::Quote(range.start));
            }
            Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::MetadataBlock(_) => {
                self.block(State::Skipping);
            }
            Tag::Table(columns) => {
                self.block(State::Skipping);
                self.runs.tables.push(Vec::new());
                self.table = (columns.len() == 2).then_some(Table { head: None, row: None, cells: 0 });
            }
            Tag::TableHead | Tag::TableRow => self.row(range, matches!(tag, Tag::TableHead)),
            Tag::TableCell => self.cell(range),
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => self.inline(range),
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest of Markdown says nothing here")]
    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Item | TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.close(State::Between);
                self.open.pop();
            }
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::MetadataBlock(_) => self.close(State::Between),
            TagEnd::Table => {
                let head = self.table.take().and_then(|table| table.head);
                self.keep(head);
                self.close(State::Between);
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.head = table.row.take();
                }
            }
            TagEnd::TableRow => {
                let row = self.table.as_mut().and_then(|table| {
                    table.head = None;
                    table.row.take()
                });
                self.keep(row);
            }
            _ => {}
        }
    }

    fn list(&mut self, is_ordered: bool, start: usize) {
        let is_top = self.open.is_empty();
        // From the innermost one on: there can be as many quotes around all lists as there are lists.
        let is_nested = self.open.iter().rev().any(|open| matches!(open, Open::List(_)));
        self.block(State::Between);
        let next = self.runs.items.len();
        self.open.push(Open::List(self.runs.lists.len()));
        self.runs.lists.push(List { start, is_ordered, is_top, is_nested, first_item: next, last_item: next });
    }

    fn item(&mut self, range: &Range<usize>) {
        self.close(State::Between);
        let Some(Open::List(list)) = self.open.last() else { return };
        let (list, index) = (*list, self.runs.items.len());
        if let Some(list) = self.runs.lists.get_mut(list) {
            list.last_item = index;
        }
        self.open.push(Open::Item(index, true));
        self.runs.items.push(Item { span: range.clone(), list, task: None, has_more: false });
    }

    /// Begins a block that is no paragraph.
    fn block(&mut self, state: State) {
        self.more();
        self.close(state);
    }

    /// Says of the innermost item that more than its first text stands in it.
    fn more(&mut self) {
        if let Some(Open::Item(item, is_awaited)) = self.open.last_mut() {
            *is_awaited = false;
            if let Some(item) = self.runs.items.get_mut(*item) {
                item.has_more = true;
            }
        }
    }

    fn paragraph(&mut self) {
        let kind = self.next_kind();
        self.close(State::Starting(kind));
    }

    /// What a run is that starts here.
    fn next_kind(&mut self) -> Kind {
        if let Some(Open::Item(item, is_awaited @ true)) = self.open.last_mut() {
            *is_awaited = false;
            return Kind::Item(*item);
        }
        self.more();
        Kind::Paragraph { quote: self.quote() }
    }

    /// Where the innermost quote starts that is open.
    fn quote(&self) -> Option<usize> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Quote(start) => Some(*start),
            Open::List(_) | Open::Item(..) => None,
        })
    }

    fn close(&mut self, state: State) {
        self.state = state;
        self.line_end = None;
    }

    /// Takes a piece of text.
    fn inline(&mut self, range: &Range<usize>) {
        let kind = match self.state {
            State::Skipping => return,
            State::Inside => {
                if let Some(run) = self.runs.runs.last_mut() {
                    if let Some(end) = self.line_end.take() {
                        self.runs.breaks.push((end, range.start));
                        run.breaks.end = self.runs.breaks.len();
                    }
                    run.span.end = run.span.end.max(range.end);
                }
                return;
            }
            State::Starting(kind) => kind,
            // The texts of a tight list are no paragraphs.
            State::Between => self.next_kind(),
        };
        let at = self.runs.breaks.len();
        self.runs.runs.push(Run { span: range.clone(), kind, breaks: at..at });
        self.state = State::Inside;
    }

    fn row(&mut self, range: &Range<usize>, is_head: bool) {
        let (number, is_quoted) = (self.runs.tables.len(), self.quote().is_some());
        if let Some(table) = self.runs.tables.last_mut() {
            table.push(Cells::new());
        }
        if let Some(table) = &mut self.table {
            let cells = [range.end..range.end, range.end..range.end];
            table.row = Some(Row { span: range.clone(), cells, table: number, is_head, is_quoted });
            table.cells = 0;
        }
    }

    fn cell(&mut self, range: &Range<usize>) {
        if let Some(row) = self.runs.tables.last_mut().and_then(|table| table.last_mut()) {
            row.push(range.clone());
        }
        if let Some(table) = &mut self.table {
            let cells = table.row.as_mut().map(|row| &mut row.cells);
            if let Some(cell) = cells.and_then(|cells| cells.get_mut(table.cells)) {
                *cell = range.clone();
            }
            table.cells += 1;
        }
    }

    fn keep(&mut self, row: Option<Row>) {
        let Some(row) = row else { return };
        let at = self.runs.breaks.len();
        self.runs.runs.push(Run { span: row.span.clone(), kind: Kind::Row(self.runs.rows.len()), breaks: at..at });
        self.runs.rows.push(row);
    }
}

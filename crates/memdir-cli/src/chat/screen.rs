//! What the person sees: all that notes and models say is escaped, and colours are only where they are seen.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::stop::Stop;
use crate::term;

/// Where a conversation is shown.
pub(super) struct Screen {
    /// For what was asked for: replies, and what commands find.
    out: Box<dyn Write>,
    /// For what there is to say about it.
    notes: Box<dyn Write>,
    look: Look,
    has_status: bool,
    /// Where the line was begun that has not ended.
    begun: Option<Place>,
    /// Why nothing can be shown any more.
    broken: Option<io::Error>,
}

/// What the place where it is shown can do.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Look {
    pub(super) is_terminal: bool,
    pub(super) has_colours: bool,
}

impl Look {
    fn in_colour(self, style: Style) -> Style {
        if self.has_colours { style } else { Style::new() }
    }
}

impl Screen {
    /// The standard output and error of this process.
    pub(super) fn standard() -> Self {
        let (out, notes) = (io::stdout(), io::stderr());
        let look = Look {
            is_terminal: out.is_terminal() && notes.is_terminal(),
            has_colours: term::has_colours(&out) && term::has_colours(&notes),
        };
        Self::new(Box::new(out), Box::new(notes), look)
    }

    pub(super) fn new(out: Box<dyn Write>, notes: Box<dyn Write>, look: Look) -> Self {
        Self { out, notes, look, has_status: false, begun: None, broken: None }
    }

    pub(super) fn look(&self) -> Look {
        self.look
    }

    /// Whether what was shown so far could be.
    ///
    /// # Errors
    ///
    /// Why it could not: nobody reads it, or it cannot be written.
    pub(super) fn check(&mut self) -> Result<(), Stop> {
        self.broken.take().map_or(Ok(()), |error| Err(error.into()))
    }

    /// Shows a piece of a reply, without a line end of its own.
    pub(super) fn speak(&mut self, piece: &str) {
        self.clear();
        let shown = term::escape(piece).into_owned();
        self.write(Place::Out, &shown);
        self.begin(piece, Place::Out);
    }

    /// Shows a piece of what a model thinks.
    pub(super) fn think(&mut self, piece: &str) {
        self.clear();
        let dim = self.look.in_colour(Style::new().dimmed());
        let shown = format!("{dim}{}{dim:#}", term::escape(piece));
        self.write(Place::Notes, &shown);
        self.begin(piece, Place::Notes);
    }

    fn begin(&mut self, piece: &str, place: Place) {
        if !piece.is_empty() {
            self.begun = (!piece.ends_with('\n')).then_some(place);
        }
    }

    /// Ends the line, if something stands in it.
    pub(super) fn end_line(&mut self) {
        self.clear();
        if let Some(place) = self.begun.take() {
            self.write(place, "\n");
        }
    }

    /// Shows lines that a command was asked for.
    pub(super) fn show(&mut self, text: &str) {
        self.end_line();
        let shown = format!("{}\n", term::escape(text));
        self.write(Place::Out, &shown);
    }

    /// Says something about what was done.
    pub(super) fn tell(&mut self, words: &str) {
        self.styled(words, Style::new().dimmed());
    }

    /// Says what the person should see to.
    pub(super) fn warn(&mut self, words: &str) {
        self.styled(words, AnsiColor::Yellow.on_default());
    }

    fn styled(&mut self, words: &str, style: Style) {
        self.end_line();
        let style = self.look.in_colour(style);
        let shown = format!("{style}{}{style:#}\n", term::escape(words));
        self.write(Place::Notes, &shown);
    }

    /// Shows a change.
    pub(super) fn diff(&mut self, diff: &str) {
        self.end_line();
        if !diff.is_empty() {
            let shown = format!("{}\n", term::painted_diff(diff, true, self.look.has_colours));
            self.write(Place::Out, &shown);
        }
    }

    /// Says on a line that goes away what is going on; nothing where no line can go away.
    pub(super) fn status(&mut self, words: &str) {
        if !self.look.is_terminal || self.begun.is_some() {
            return;
        }
        let dim = self.look.in_colour(Style::new().dimmed());
        let shown = format!("\r\u{1b}[2K{dim}{}{dim:#}", term::escape_line(words));
        self.write(Place::Notes, &shown);
        self.has_status = true;
    }

    /// Takes that line away.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.has_status) {
            self.write(Place::Notes, "\r\u{1b}[2K");
        }
    }

    fn write(&mut self, place: Place, text: &str) {
        if self.broken.is_some() {
            return;
        }
        let output = match place {
            Place::Out => &mut self.out,
            Place::Notes => &mut self.notes,
        };
        self.broken = output.write_all(text.as_bytes()).and_then(|()| output.flush()).err();
    }
}

#[derive(Clone, Copy)]
enum Place {
    Out,
    Notes,
}

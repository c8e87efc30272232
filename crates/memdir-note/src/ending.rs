//! How a text ends: whether what is added below it stands apart.

use crate::Note;
use crate::markup::range_around;

/// What a line that is added below a text becomes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// Text.
    Text,
    /// A part of the HTML above it, unless an empty line stands between.
    Html,
    /// A part of HTML, code or a comment that begins on `line`, counted from 1, and does not end.
    Open {
        /// Where it begins.
        line: usize,
    },
}

impl Ending {
    /// Finds out by adding a word. Linear in the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_note::Ending;
    ///
    /// assert_eq!(Ending::of("# Ada\n\n- city: Paris\n"), Ending::Text);
    /// assert_eq!(Ending::of("<div>\n</div>\n"), Ending::Html);
    /// assert_eq!(Ending::of("# Ada\n\n```\ncode\n"), Ending::Open { line: 3 });
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        // Only these begin what hides the lines below it.
        if !text.contains(['`', '~', '<']) {
            return Self::Text;
        }
        let hidden = |gap: &str| {
            let longer = format!("{text}{gap}x");
            let note = Note::parse(&longer);
            range_around(&note.markup.opaque, longer.len() - 1).map(|range| note.line_at(range.start))
        };
        let end = if text.ends_with(['\n', '\r']) { "" } else { "\n" };
        if hidden(end).is_none() {
            return Self::Text;
        }
        // Two line ends, also where the text ends in half of one.
        hidden("\n\n").map_or(Self::Html, |line| Self::Open { line })
    }
}

//! [`Inline`]: a link of Markdown or HTML where it stands, and how its characters are written.

use std::ops::Range;

use super::front::Quote;

/// How the characters of a path are written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Style {
    /// As they are, between `[[` and `]]`.
    Wiki,
    /// The same in a scalar of YAML.
    Yaml(Quote),
    /// With `%20` for a blank, between `(` and `)`.
    Encoded,
    /// Between `<` and `>`.
    Angled,
    /// In a tag of HTML, or in a link of Markdown in a scalar of YAML: with `%XX` for every character with a meaning there.
    Strict,
}

/// A link that Markdown itself has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Inline {
    /// All of it.
    pub(super) span: Range<usize>,
    /// What is shown, as it is written.
    pub(super) text: Range<usize>,
    /// The destination as it is written, without `<` and `>` or quotes.
    pub(super) destination: Range<usize>,
    /// The destination as it is meant.
    pub(super) url: String,
    /// How the characters of the destination are written.
    pub(super) style: Style,
    pub(super) is_image: bool,
    /// Whether it is one whatever it leads to. A definition such as `[todo]: call` may as well be text.
    pub(super) is_sure: bool,
}

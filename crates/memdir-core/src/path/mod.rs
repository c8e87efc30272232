//! [`MemoryPath`], the only path type below the edges.
//!
//! Owns the shape of a path: what may be said at all ([`MemoryPath::parse`]) and what may be made
//! ([`MemoryPath::check_portable`]). Touches nothing but its own text; it never looks at a disk, and proves
//! nothing about one.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The name of the note about the person whose memory it is.
pub const PERSON: &str = "user";
/// The path of that note.
pub const PERSON_NOTE: &str = "user.md";
/// The longest path, in bytes of UTF-8.
pub const MAX_PATH_BYTES: usize = 1024;

/// The longest component of a path, in bytes of UTF-8: what common file systems take.
pub const MAX_NAME_BYTES: usize = 255;

/// A relative path inside a memory, with `/` between its components, never empty.
///
/// Sorts by its bytes. The root of a memory is no `MemoryPath`; where the root may be meant, the type is
/// `Option<MemoryPath>` and `None` is the root.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryPath(String);

/// Why a text is not a [`MemoryPath`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PathError {
    /// No component is left.
    #[error("is empty")]
    Empty,
    /// Longer than [`MAX_PATH_BYTES`], or a component is longer than [`MAX_NAME_BYTES`].
    #[error("is too long")]
    TooLong,
    /// Starts at the root of the file system.
    #[error("is absolute")]
    Absolute,
    /// Holds a control character, which no note's name needs.
    #[error("holds a control character")]
    Character,
    /// Has a `..` component.
    #[error("climbs out")]
    Climbs,
    /// Names something hidden, such as `.memdir`, or a short name that Windows gives to it.
    #[error("names something hidden")]
    Reserved,
}

/// Why a name that can be read may not be made.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnportableName {
    /// Holds a character that some system refuses in names, or one that cannot be seen.
    #[error("holds {0:?}, which not every system can store in a name")]
    Character(char),
    /// Ends in a dot or a blank, which Windows drops.
    #[error("has a name that ends in a dot or a blank")]
    Ending,
    /// Starts with a blank, which people do not see and programs trim.
    #[error("has a name that starts with a blank")]
    Beginning,
    /// Is a device on Windows.
    #[error("has a name that is a device on Windows")]
    Device,
}

impl MemoryPath {
    /// Parses a path as a model wrote it.
    ///
    /// Surrounding white space and `.` components are dropped and repeated slashes collapse, because models
    /// write them and they change nothing. Everything that could change the meaning is refused, never
    /// repaired. Holding a `MemoryPath` proves shape, not existence: a symlink in the way is the vault's
    /// concern, and whether the name may be *made* on every system is [`MemoryPath::check_portable`]'s.
    /// Nothing is read from disk; the work is linear in the length of `input`.
    ///
    /// # Errors
    ///
    /// * [`PathError::Empty`] when no component is left.
    /// * [`PathError::TooLong`] over [`MAX_PATH_BYTES`] bytes of UTF-8, counted after trimming, or over
    ///   [`MAX_NAME_BYTES`] in one component.
    /// * [`PathError::Absolute`] for a leading `/`.
    /// * [`PathError::Character`] for NUL or another control character.
    /// * [`PathError::Climbs`] for any `..` component, even one that would stay inside.
    /// * [`PathError::Reserved`] for a component that starts with a dot, such as `.memdir`, and for the short
    ///   names (`MEMDIR~1`) by which Windows reaches the same folders.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_core::path::{MemoryPath, PathError};
    ///
    /// let path = MemoryPath::parse("./people//ada.md")?;
    /// assert_eq!(path.as_str(), "people/ada.md");
    /// assert_eq!(MemoryPath::parse("people/../../etc"), Err(PathError::Climbs));
    /// # Ok::<(), PathError>(())
    /// ```
    pub fn parse(input: &str) -> Result<Self, PathError> {
        let input = input.trim();
        if input.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        if input.chars().any(char::is_control) {
            return Err(PathError::Character);
        }
        if input.starts_with('/') {
            return Err(PathError::Absolute);
        }
        let mut path = String::with_capacity(input.len());
        for component in input.split('/') {
            match component {
                "" | "." => continue,
                ".." => return Err(PathError::Climbs),
                _ => check_component(component)?,
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(component);
        }
        if path.is_empty() {
            return Err(PathError::Empty);
        }
        // White space that a dropped slash or `.` stood before surrounds the path now.
        if path.trim().len() < path.len() { Self::parse(&path) } else { Ok(Self(path)) }
    }

    /// The path as text, components joined by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The last component without `.md`, in whatever case it is written.
    #[must_use]
    pub fn stem(&self) -> &str {
        let name = self.name();
        if self.is_note() { name.get(..name.len() - 3).unwrap_or(name) } else { name }
    }

    /// Its length as programs in JavaScript count it, such as Obsidian: in units of UTF-16.
    #[must_use]
    pub fn utf16_length(&self) -> usize {
        self.0.encode_utf16().count()
    }

    /// The folder that holds it; `None` is the root of the memory.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    /// The folders above it, the outermost first, without the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.match_indices('/').filter_map(|(at, _)| self.0.get(..at)).map(|path| Self(path.to_owned()))
    }

    /// Its components, the outermost first.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Whether this is a note by its name: one that ends in `.md`, in any case.
    #[must_use]
    pub fn is_note(&self) -> bool {
        let bytes = self.name().as_bytes();
        bytes.len() > 3 && bytes.last_chunk::<3>().is_some_and(|end| end.eq_ignore_ascii_case(b".md"))
    }

    /// Whether this is a canvas by its name: one that ends in `.canvas`, in any case.
    #[must_use]
    pub fn is_canvas(&self) -> bool {
        let extension = self.name().rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("canvas"))
    }

    /// Whether this is `folder` or lies below it.
    #[must_use]
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path that this has after `from` was renamed to `to`; `None` when it does not lie within `from`.
    #[must_use]
    pub fn rebased(&self, from: &Self, to: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(from.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then(|| Self(format!("{}{rest}", to.0)))
    }

    /// Joins a folder and the name of an entry that a listing gave.
    ///
    /// # Errors
    ///
    /// As [`MemoryPath::parse`]: a listing can hold names that no path may say.
    pub fn in_folder(folder: Option<&Self>, name: &str) -> Result<Self, PathError> {
        // Folders of a hundred thousand notes come through here, and the folder's own path is checked already.
        let mut path = String::with_capacity(folder.map_or(0, |folder| folder.0.len() + 1) + name.len());
        if let Some(folder) = folder {
            path.push_str(&folder.0);
            path.push('/');
        }
        path.push_str(name);
        if path.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        if name.contains('/') || name.trim() != name || name.chars().any(char::is_control) {
            return Err(PathError::Character);
        }
        match name {
            "" | "." => Err(PathError::Empty),
            ".." => Err(PathError::Climbs),
            _ => check_component(name).map(|()| Self(path)),
        }
    }

    /// Checks that every system could store this name, so that the memory can move between them.
    ///
    /// Asked only of names that are about to be made: what an adopted folder already holds stays usable.
    /// Twins of a sibling (`Ada.md` beside `ada.md`) are not looked at here, since that needs the siblings.
    ///
    /// # Errors
    ///
    /// The first component that breaks a rule of Windows (the strictest of the systems; the rules are
    /// Microsoft's "Naming Files, Paths, and Namespaces"), and characters that cannot be seen.
    pub fn check_portable(&self) -> Result<(), UnportableName> {
        self.components().try_for_each(check_name)
    }
}

/// The one name among siblings that is `name` in another Unicode form: the same letters, in the same case.
pub fn in_another_form<'n>(name: &str, mut siblings: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.is_ascii() {
        return None;
    }
    let is_other = |sibling: &&str| *sibling != name && is_same_form(name, sibling);
    let found = siblings.find(is_other)?;
    // Of two that are named so, neither is meant more than the other.
    siblings.all(|sibling| !is_other(&sibling)).then_some(found)
}

/// Whether two names differ in Unicode form at most.
pub fn is_same_form(one: &str, other: &str) -> bool {
    one.nfc().eq(other.nfc())
}

/// Checks what `parse` asks of one component, but for `.` and `..`.
fn check_component(component: &str) -> Result<(), PathError> {
    if component.starts_with('.') || is_short_name_of_hidden(component) {
        return Err(PathError::Reserved);
    }
    if component.len() > MAX_NAME_BYTES { Err(PathError::TooLong) } else { Ok(()) }
}

fn check_name(name: &str) -> Result<(), UnportableName> {
    if let Some(character) = name.chars().find(|&character| is_unportable(character)) {
        return Err(UnportableName::Character(character));
    }
    if name.ends_with('.') || name.ends_with(char::is_whitespace) {
        return Err(UnportableName::Ending);
    }
    // `user .md` beside `user.md`.
    if name.rsplit_once('.').is_some_and(|(stem, _)| stem.ends_with(char::is_whitespace)) {
        return Err(UnportableName::Ending);
    }
    if name.starts_with(char::is_whitespace) {
        return Err(UnportableName::Beginning);
    }
    // Windows looks at what stands before the first dot, without trailing blanks.
    let base = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let numbered = |device: &str| {
        base.strip_prefix(device).is_some_and(|rest| {
            let mut rest = rest.chars();
            matches!((rest.next(), rest.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
        })
    };
    let is_device = matches!(base.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$");
    if is_device || numbered("COM") || numbered("LPT") { Err(UnportableName::Device) } else { Ok(()) }
}

/// Characters that Windows refuses, and those that change how a name looks without being seen.
fn is_unportable(character: char) -> bool {
    matches!(character,
        ':' | '\\' | '<' | '>' | '"' | '|' | '?' | '*'
        | '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffd}' | '\u{e0000}'..='\u{e007f}')
        || character.is_control()
}

/// Windows gives long names a second, short one: `MEMDIR~1` opens `.memdir`.
fn is_short_name_of_hidden(name: &str) -> bool {
    name.split_once('~').is_some_and(|(base, number)| {
        ["memdir", "git", "obsidi"].iter().any(|hidden| base.eq_ignore_ascii_case(hidden))
            && number.starts_with(|digit: char| digit.is_ascii_digit())
    })
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Borrow<str> for MemoryPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for MemoryPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

impl From<MemoryPath> for String {
    fn from(path: MemoryPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests;

//! [`Link`]: a link as it is written, and [`resolve`], the note that it leads to.
//!
//! Owns how a link's target is split and which note it means. Headings and blocks are split off, not followed.

use unicode_normalization::UnicodeNormalization;

use crate::path::MemoryPath;

/// The parts of a link.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Link {
    /// The target before `#` and `|`, as written.
    pub path: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target.
    pub text: Option<String>,
}

/// Where a link leads.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// To this note.
    Note(MemoryPath),
    /// To any of these; the link does not say which.
    Several(Vec<&'a MemoryPath>),
    /// To none that exists.
    Nothing,
}

/// Takes a link apart: `[[entities/jane_doe#Work|Jane]]`, with or without the brackets.
///
/// # Examples
///
/// ```
/// use memdir::note::link;
///
/// let link = link::parse("[[entities/jane_doe.md#Work|Jane]]");
/// assert_eq!((link.path.as_str(), link.subpath.as_str()), ("entities/jane_doe.md", "#Work"));
/// assert_eq!(link.text.as_deref(), Some("Jane"));
/// ```
#[must_use]
pub fn parse(written: &str) -> Link {
    let written = written.trim();
    let inner = written.strip_prefix('!').unwrap_or(written);
    let inner = inner.strip_prefix("[[").and_then(|inner| inner.strip_suffix("]]")).unwrap_or(written);
    let (target, text) = match inner.split_once('|') {
        // In a table the bar is escaped.
        Some((target, text)) => (target.strip_suffix('\\').unwrap_or(target), Some(text.trim().to_owned())),
        None => (inner, None),
    };
    let (path, subpath) = match target.find(['#', '^']) {
        Some(at) => target.split_at_checked(at).unwrap_or((target, "")),
        None => (target, ""),
    };
    Link { path: path.trim().to_owned(), subpath: subpath.trim().to_owned(), text }
}

/// Counts the wikilinks of a note, those in fenced code and in inline code left out.
#[must_use]
pub fn count(text: &str) -> usize {
    let mut fence: Option<&str> = None;
    let mut count = 0;
    for line in text.lines() {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => {
                let plain = line.split('`').step_by(2);
                count += plain
                    .map(|part| part.split("[[").skip(1).filter(|rest| rest.contains("]]")).count())
                    .sum::<usize>();
            }
            (None, opened) => fence = opened,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
        }
    }
    count
}

/// Finds the note that a link means among `notes`, which are sorted.
///
/// The exact path counts first, then the path with `.md`, each from the folder of `source` before the root of the
/// memory; then a note anywhere whose path ends so, whatever its case and Unicode form. A link without a path
/// leads to `source`.
#[must_use]
pub fn resolve<'a>(link: &Link, source: Option<&MemoryPath>, notes: &'a [MemoryPath]) -> Target<'a> {
    if link.path.is_empty() {
        return source.cloned().map_or(Target::Nothing, Target::Note);
    }
    let wanted = from_root(&link.path);
    let folder = source.and_then(MemoryPath::parent);
    let beside = folder.as_ref().and_then(|folder| joined(folder, &link.path));
    for base in beside.iter().chain(&wanted) {
        let with_extension = MemoryPath::parse(&format!("{base}.md")).ok();
        for path in [Some(base.clone()), with_extension].into_iter().flatten() {
            if notes.binary_search(&path).is_ok() {
                return Target::Note(path);
            }
        }
    }
    let Some(wanted) = wanted else { return Target::Nothing };
    let wanted = folded(wanted.as_str());
    let wanted = wanted.strip_suffix(".md").unwrap_or(&wanted);
    let fits = |note: &&MemoryPath| {
        let note = folded(note.as_str());
        let rest = note.strip_suffix(".md").unwrap_or(&note).strip_suffix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let found: Vec<_> = notes.iter().filter(fits).collect();
    match (found.as_slice(), &folder) {
        ([], _) => Target::Nothing,
        ([note], _) => Target::Note((*note).clone()),
        (_, Some(folder)) => {
            let mut near = found.iter().filter(|note| note.parent().as_ref() == Some(folder));
            match (near.next(), near.next()) {
                (Some(note), None) => Target::Note((*note).clone()),
                _ => Target::Several(found),
            }
        }
        (_, None) => Target::Several(found),
    }
}

/// A target as a path from the root, which some write with a leading slash.
fn from_root(target: &str) -> Option<MemoryPath> {
    MemoryPath::parse(target.trim_start_matches('/')).ok()
}

/// A target as a path from a folder. Climbing with `..` is fine here as long as it stays inside.
fn joined(folder: &MemoryPath, target: &str) -> Option<MemoryPath> {
    let mut parts: Vec<_> = folder.components().collect();
    for part in target.split('/') {
        match part.trim() {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    MemoryPath::parse(&parts.join("/")).ok()
}

/// A name or a path as systems that ignore case and Unicode form compare it.
pub(crate) fn folded(path: &str) -> String {
    caseless::default_case_fold_str(&path.nfd().collect::<String>()).nfc().collect()
}

//! What has to be written so that a link leads to a file again whose place, or its own, is another one.

use super::link::Style;
use super::target::{Target, Targets};
use crate::path::MemoryPath;

/// A link as it was before something moved.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Its path as it is meant.
    pub path: &'a str,
    /// How its path is written.
    pub style: Style,
    /// The note it stood in.
    pub source: &'a MemoryPath,
    /// The file it led to.
    pub target: &'a MemoryPath,
}

impl Targets {
    /// Gives the path by which a link in `source` leads to `target` and to nothing else, in the way in which it was
    /// written before: short, from the root, from the folder of its note, with or without `.md`.
    ///
    /// `None` where no path does.
    #[must_use]
    pub fn relink(&self, before: Before<'_>, source: &MemoryPath, target: &MemoryPath) -> Option<String> {
        let ways = ways(before, source, target);
        let found = |way: &&String| self.resolve(way, Some(source));
        let is_clear = |way: &&String| found(way) == Target::File(target);
        let leads = |way: &&String| found(way).best() == Some(target);
        ways.iter().find(is_clear).or_else(|| ways.iter().find(leads)).cloned()
    }
}

/// The paths by which `target` can be called, those most like the way before first.
fn ways(before: Before<'_>, source: &MemoryPath, target: &MemoryPath) -> Vec<String> {
    let written = before.path.trim();
    let has_extension =
        written.len() > 3 && written.get(written.len() - 3..).is_some_and(|end| end.eq_ignore_ascii_case(".md"));
    let full = match target.as_str().strip_suffix(".md") {
        Some(bare) if !has_extension => bare,
        _ => target.as_str(),
    };
    let parts: Vec<_> = full.split('/').collect();
    let from_root = format!("/{full}");
    if written.starts_with('/') {
        return vec![from_root];
    }
    if written.starts_with("./") || written.starts_with("../") {
        let here = if written.starts_with("./") { "./" } else { "" };
        return vec![relative(source, full, here), from_root];
    }
    if is_beside(before) {
        return vec![relative(source, full, ""), relative(source, full, "./"), from_root];
    }
    let count = written.split('/').filter(|part| !part.is_empty()).count();
    let was_full = count > 1 && count == before.target.components().count();
    let least = if was_full { parts.len() } else { count.min(parts.len()) };
    let ends = (least..=parts.len()).map(|count| parts.get(parts.len() - count..).unwrap_or_default().join("/"));
    ends.chain([from_root]).collect()
}

/// Whether a link of Markdown was written from the folder of its note, as every reader of Markdown follows it.
fn is_beside(before: Before<'_>) -> bool {
    let is_markdown = matches!(before.style, Style::Encoded | Style::Angled);
    let (Some(folder), true) = (before.source.parent(), is_markdown) else { return false };
    before.target.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| {
        let path = before.path.trim();
        rest.strip_prefix('/').is_some_and(|rest| rest == path || rest.strip_suffix(".md") == Some(path))
    })
}

/// The path from the folder of a note; `here` is put before one that does not climb.
fn relative(source: &MemoryPath, full: &str, here: &str) -> String {
    let folder = source.parent();
    let folder: Vec<_> = folder.iter().flat_map(MemoryPath::components).collect();
    let parts: Vec<_> = full.split('/').collect();
    let most = folder.len().min(parts.len() - 1);
    let shared = folder.iter().zip(&parts).take(most).take_while(|(one, other)| one == other).count();
    let climbs = "../".repeat(folder.len() - shared);
    let here = if climbs.is_empty() { here } else { "" };
    format!("{climbs}{here}{}", parts.get(shared..).unwrap_or_default().join("/"))
}

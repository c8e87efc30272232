//! What has to be written so that a link leads to a file again whose place, or its own, is another one.

use super::target::{Syntax, Target, Targets, joined_to};
use memdir_core::path::MemoryPath;

/// A link as it was before something moved.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Its path as it is meant.
    pub path: &'a str,
    /// By which rules it is followed.
    pub syntax: Syntax,
    /// Whether it led there, or is to lead there, by joining its path to the folder of its note.
    pub is_joined: bool,
    /// What it led to.
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
        if before.is_joined && !self.has(target) {
            // A folder, or what is behind a link: nothing else is called so.
            let is_there = |way: &&String| joined_to(source.parent().as_ref(), way).as_deref() == Some(target.as_str());
            return ways.iter().find(is_there).cloned();
        }
        let found = |way: &&String| self.resolve(way, before.syntax, Some(source));
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
        // What a link of Markdown left out it may leave out again; no reader adds it to what was whole.
        Some(bare) if !has_extension && (!before.is_joined || before.target.as_str().ends_with(".md")) => bare,
        _ => target.as_str(),
    };
    let parts: Vec<_> = full.split('/').collect();
    let from_root = format!("/{full}");
    if written.starts_with('/') {
        return vec![from_root];
    }
    let here = if written.starts_with("./") { "./" } else { "" };
    if before.is_joined {
        let slash = if written.ends_with('/') { "/" } else { "" };
        let bare = relative(source, full, here);
        return vec![format!("{bare}{slash}"), relative(source, target.as_str(), here)];
    }
    if written.starts_with("./") || written.starts_with("../") {
        return vec![relative(source, full, here), from_root];
    }
    let count = written.split('/').filter(|part| !part.is_empty()).count();
    let was_full = count > 1 && count == before.target.components().count();
    let least = if was_full { parts.len() } else { count.min(parts.len()) };
    let ends = (least..=parts.len()).map(|count| parts.get(parts.len() - count..).unwrap_or_default().join("/"));
    ends.chain([from_root]).collect()
}

/// The path from the folder of a note; `here` is put before one that does not climb.
#[must_use]
pub fn relative(source: &MemoryPath, full: &str, here: &str) -> String {
    let folder = source.parent();
    let folder: Vec<_> = folder.iter().flat_map(MemoryPath::components).collect();
    let parts: Vec<_> = full.split('/').collect();
    let most = folder.len().min(parts.len() - 1);
    let shared = folder.iter().zip(&parts).take(most).take_while(|(one, other)| one == other).count();
    let climbs = "../".repeat(folder.len() - shared);
    let here = if climbs.is_empty() { here } else { "" };
    format!("{climbs}{here}{}", parts.get(shared..).unwrap_or_default().join("/"))
}

//! [`Targets`]: all files of a memory by their names, and which of them a link means.
//!
//! The rules are Obsidian's. A path that starts with `./` or `../` goes from the folder of the source, one with a `/`
//! from the root, and both mean that file alone. Any other means each file whose path ends so, `.md` left out or not,
//! whatever its case and Unicode form; of several, those below the folder of the source come first, then the shortest
//! path, then the alphabet.

use std::collections::HashMap;

use super::folded;
use crate::path::MemoryPath;

/// The files that links can mean.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    files: Vec<File>,
    /// By the folded name of the file.
    names: HashMap<String, Vec<usize>>,
    /// By the letters and digits of the stem, for names that are nearly right.
    bare: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct File {
    path: MemoryPath,
    folded: String,
}

/// What the path of a link means.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target<'a> {
    /// This file.
    File(&'a MemoryPath),
    /// Any of these; the first is the one that a reader goes to.
    Several(Vec<&'a MemoryPath>),
    /// None that exists.
    Nothing,
}

impl<'a> Target<'a> {
    /// The file that a reader goes to.
    #[must_use]
    pub fn best(&self) -> Option<&'a MemoryPath> {
        match self {
            Self::File(path) => Some(path),
            Self::Several(paths) => paths.first().copied(),
            Self::Nothing => None,
        }
    }
}

/// With more files than this the nearest name is looked for only among those with the same first letter.
const FEW_FILES: usize = 2_000;

/// How unlike the nearest name may be: `usr` and `user` are more alike than this, `emergence` and `evergreen` less.
const MOST_UNLIKE: f64 = 0.87;

impl Targets {
    /// Takes the paths of all files, in any order.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = MemoryPath>) -> Self {
        let mut targets = Self::default();
        files.into_iter().for_each(|file| targets.insert(file));
        targets
    }

    /// Adds a file that is not among them.
    pub fn insert(&mut self, path: MemoryPath) {
        let (folded, at) = (folded(path.as_str()), self.files.len());
        let name = folded.rsplit('/').next().unwrap_or_default();
        if path.is_note() {
            self.bare.entry(letters(stem(name))).or_insert(at);
        }
        match self.names.get_mut(name) {
            Some(named) => named.push(at),
            None => drop(self.names.insert(name.to_owned(), vec![at])),
        }
        self.files.push(File { path, folded });
    }

    /// Whether there is a file of exactly this path.
    #[must_use]
    pub fn has(&self, path: &MemoryPath) -> bool {
        let folded = folded(path.as_str());
        self.ending_in(&folded, true).contains(&path)
    }

    /// Finds what the path of a link means that stands in `source`. An empty one means `source` itself.
    #[must_use]
    pub fn resolve<'a>(&'a self, path: &str, source: Option<&'a MemoryPath>) -> Target<'a> {
        let mut found = self.candidates(path, source);
        match found.as_slice() {
            [] => Target::Nothing,
            [file] => Target::File(file),
            _ => {
                found.sort_by_cached_key(|file| order(path, source, file));
                Target::Several(found)
            }
        }
    }

    /// The file that a reader goes to by a link, as [`Target::best`] of what it means, without putting all in order.
    #[must_use]
    pub fn best<'a>(&'a self, path: &str, source: Option<&'a MemoryPath>) -> Option<&'a MemoryPath> {
        self.candidates(path, source).into_iter().min_by_key(|file| order(path, source, file))
    }

    /// The files that the path of a link can mean, in no order.
    fn candidates<'a>(&'a self, path: &str, source: Option<&'a MemoryPath>) -> Vec<&'a MemoryPath> {
        if path.trim().is_empty() {
            return source.into_iter().collect();
        }
        let Some(Wanted { path: wanted, is_exact }) = wanted(path, source) else { return Vec::new() };
        let found = if has_dot(&wanted) { self.ending_in(&wanted, is_exact) } else { Vec::new() };
        if found.is_empty() { self.ending_in(&format!("{wanted}.md"), is_exact) } else { found }
    }

    /// The files whose folded path is `wanted`, or unless `is_exact` ends in it after a slash.
    fn ending_in(&self, wanted: &str, is_exact: bool) -> Vec<&MemoryPath> {
        let name = wanted.rsplit('/').next().unwrap_or_default();
        let named = self.names.get(name).map_or(&[][..], Vec::as_slice);
        let files = named.iter().filter_map(|at| self.files.get(*at));
        let fits = |file: &&File| {
            let rest = file.folded.strip_suffix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || (!is_exact && rest.ends_with('/')))
        };
        files.filter(fits).map(|file| &file.path).collect()
    }

    /// The note whose name is most like the path of a link that leads nowhere, if one is like it at all.
    #[must_use]
    pub fn nearest(&self, path: &str) -> Option<&MemoryPath> {
        let wanted = joined(None, path)?;
        let name = folded(wanted.rsplit('/').next().unwrap_or_default());
        let bare = letters(stem(&name));
        if let Some(file) = self.bare.get(&bare).and_then(|at| self.files.get(*at)).filter(|_| !bare.is_empty()) {
            return Some(&file.path);
        }
        let wanted = MemoryPath::parse(&wanted).ok()?;
        let first = name.chars().next();
        let is_candidate = |file: &&File| {
            let other = file.folded.rsplit('/').next().unwrap_or_default();
            file.path.is_note() && (self.files.len() <= FEW_FILES || other.chars().next() == first)
        };
        let nearest = super::nearest(&wanted, self.files.iter().filter(is_candidate).map(|file| &file.path));
        nearest.filter(|path| strsim::jaro_winkler(stem(&name), stem(&super::folded(path.name()))) > MOST_UNLIKE)
    }
}

/// What the path of a link asks for.
struct Wanted {
    /// Folded, from the root or, unless it is exact, from any folder.
    path: String,
    is_exact: bool,
}

fn wanted(path: &str, source: Option<&MemoryPath>) -> Option<Wanted> {
    let path = path.trim();
    let folder = source.and_then(MemoryPath::parent);
    let is_relative = path.starts_with("./") || path.starts_with("../");
    let is_exact = is_relative || path.starts_with('/');
    let wanted = if is_relative { joined(folder.as_ref(), path) } else { joined(None, path) };
    let path = wanted.map(|wanted| folded(&wanted)).filter(|wanted| !wanted.is_empty())?;
    Some(Wanted { path, is_exact })
}

/// Whether the last component of a path has a dot, so that it may be the whole name of a file.
fn has_dot(wanted: &str) -> bool {
    wanted.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// The name of a file as links are compared with it, without `.md`.
pub(crate) fn stem_of(file: &MemoryPath) -> String {
    stem(&folded(file.name())).to_owned()
}

/// As [`stem_of`] for every file that the path of a link in `source` can mean; none for a path that is empty.
pub(crate) fn stems_meant(path: &str, source: &MemoryPath) -> Vec<String> {
    let Some(Wanted { path, .. }) = wanted(path, Some(source)) else { return Vec::new() };
    let name = path.rsplit('/').next().unwrap_or_default();
    let whole = has_dot(name).then(|| stem(name).to_owned()).filter(|stem| stem != name);
    whole.into_iter().chain([name.to_owned()]).collect()
}

/// How soon a reader goes to a file by a link that can mean several.
fn order<'f>(path: &str, source: Option<&MemoryPath>, file: &'f MemoryPath) -> (bool, usize, bool, &'f str) {
    let folder = source.and_then(|source| source.as_str().rsplit_once('/')).map_or("", |(folder, _)| folder);
    let below = file.as_str().strip_prefix(folder);
    let is_near = folder.is_empty() || below.is_some_and(|rest| rest.starts_with('/'));
    let is_spelled = file.as_str().contains(path.trim().trim_start_matches('/'));
    (!is_near, file.as_str().len(), !is_spelled, file.as_str())
}

/// A folded name without the extension of a note.
fn stem(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}

/// What is left of a name when all but letters and digits goes.
fn letters(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// A path as links write it, from a folder: `.` and empty parts are taken out; `None` where it climbs out, or climbs
/// anywhere but at its start.
fn joined(folder: Option<&MemoryPath>, path: &str) -> Option<String> {
    let mut parts: Vec<_> = folder.map_or_else(Vec::new, |folder| folder.components().collect());
    let mut has_name = false;
    for part in path.split('/') {
        match part.trim() {
            "" | "." => {}
            ".." if has_name => return None,
            ".." => drop(parts.pop()?),
            name => {
                has_name = true;
                parts.push(name);
            }
        }
    }
    Some(parts.join("/"))
}

//! [`Targets`]: all files of a memory by their names, and which of them a link means.
//!
//! A wikilink follows Obsidian's rules. A path that starts with `./` or `../` goes from the folder of the source, one with
//! a `/` from the root, and both mean that file alone. Any other means each file whose path ends so, `.md` left out or not,
//! whatever its case and Unicode form and its kind of blank; of several, the one whose whole path it is comes first, then
//! those below the folder of the source, then the shortest path, counted in UTF-16 units as Obsidian does, then the alphabet.
//!
//! A link of Markdown means the file to which its path leads when it is joined to the folder of its note, as every reader
//! of Markdown joins it; only where that leads nowhere, it follows Obsidian's rules too. What may be no link, such as an
//! address in HTML, is joined alone, or goes from the root.
//!
//! The path on a canvas goes from the root and means that file alone.

use std::cell::Cell;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::MOST_LETTERS;
use memdir_core::path::{MemoryPath, is_same_form};

/// By which rules a link is followed.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Syntax {
    /// Those of Obsidian.
    Wiki,
    /// Its path is joined to the folder of its note; where that leads nowhere, the rules of Obsidian.
    Markdown,
    /// Its path is joined to the folder of its note, or to the root where it starts with `/`; where that leads nowhere, it
    /// is no link: `[todo]: call them`.
    Unsure,
    /// The whole path from the root, as on a canvas.
    Root,
}

/// The files that links can mean.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    files: Vec<File>,
    /// By the folded name of the file.
    names: HashMap<String, Vec<usize>>,
    /// By the letters and digits of the stem, for names that are nearly right.
    bare: HashMap<String, Vec<usize>>,
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

/// What may be spent on the nearest names of one answer, see [`Targets::nearest`]: the more names there are, the fewer links are told theirs.
pub const MOST_COMPARED: usize = 200_000_000;
/// What it costs to look at a name that is not compared.
const COST_OF_LOOK: usize = 10;
/// A shorter text is no beginning of a name that anybody means, in bytes.
const LEAST_BEGINNING: usize = 3;
/// What to compare two names costs beside their letters, each of which is compared with each of the other name.
const COST_OF_NAME: usize = 1_000;

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
        let (folded, at) = (comparable(path.as_str()), self.files.len());
        let name = folded.rsplit('/').next().unwrap_or_default();
        if path.is_note() {
            self.bare.entry(letters(stem(name))).or_default().push(at);
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
        self.exactly(path.as_str()).is_some()
    }

    /// Finds what the path of a link means that stands in `source`. An empty one means `source` itself.
    #[must_use]
    pub fn resolve<'a>(&'a self, path: &str, syntax: Syntax, source: Option<&'a MemoryPath>) -> Target<'a> {
        if let Some(file) = self.first(path, syntax, source) {
            return Target::File(file);
        }
        let Some((wanted, mut found)) = self.candidates(path, syntax, source) else { return Target::Nothing };
        if let [file] = found.as_slice() {
            return Target::File(&file.path);
        }
        found.sort_by_cached_key(|file| order(path, &wanted, source, file));
        Target::Several(found.into_iter().map(|file| &file.path).collect())
    }

    /// The file that a reader goes to by a link, as [`Target::best`] of what it means, without putting all in order.
    #[must_use]
    pub fn best<'a>(&'a self, path: &str, syntax: Syntax, source: Option<&'a MemoryPath>) -> Option<&'a MemoryPath> {
        if let Some(file) = self.first(path, syntax, source) {
            return Some(file);
        }
        let (wanted, found) = self.candidates(path, syntax, source)?;
        let best = found.into_iter().min_by_key(|file| order(path, &wanted, source, file))?;
        Some(&best.path)
    }

    /// The file to which a path leads that is joined to the folder of its note; `.md` may be left out. `None` without a
    /// note to go from.
    #[must_use]
    pub fn beside<'a>(&'a self, path: &str, source: Option<&MemoryPath>) -> Option<&'a MemoryPath> {
        let place = joined_to(source?.parent().as_ref(), path).filter(|_| !path.ends_with('/'))?;
        self.at(&place).or_else(|| self.at(&format!("{place}.md")))
    }

    /// What a path means before it is looked for among all names.
    fn first<'a>(&'a self, path: &str, syntax: Syntax, source: Option<&'a MemoryPath>) -> Option<&'a MemoryPath> {
        match syntax {
            _ if path.trim().is_empty() => source,
            Syntax::Wiki => None,
            Syntax::Root => self.at(&joined_to(None, path)?),
            Syntax::Markdown => self.beside(path, source),
            Syntax::Unsure => match path.strip_prefix('/') {
                Some(path) => self.at(&joined_to(None, path)?),
                None => self.beside(path, source),
            },
        }
    }

    /// The file of this path from the root, whose name may be in another Unicode form.
    fn at(&self, place: &str) -> Option<&MemoryPath> {
        let is_same = |file: &&File| is_same_form(file.path.as_str(), place);
        self.exactly(place).or_else(|| self.named(&comparable(place)).find(is_same).map(|file| &file.path))
    }

    /// The files that the path of a link can mean by Obsidian's rules, in no order; `None` where there are none.
    fn candidates(&self, path: &str, syntax: Syntax, source: Option<&MemoryPath>) -> Option<(Wanted, Vec<&File>)> {
        // In Markdown a path with a slash at its end is that of a folder.
        let is_note = syntax == Syntax::Wiki || (syntax == Syntax::Markdown && !path.ends_with('/'));
        let wanted = wanted(path, source).filter(|_| is_note)?;
        let found = if has_dot(&wanted.path) { self.ending_in(&wanted.path, wanted.is_exact) } else { Vec::new() };
        let found =
            if found.is_empty() { self.ending_in(&format!("{}.md", wanted.path), wanted.is_exact) } else { found };
        (!found.is_empty()).then_some((wanted, found))
    }

    /// The file that is called exactly so.
    fn exactly(&self, path: &str) -> Option<&MemoryPath> {
        self.named(&comparable(path)).map(|file| &file.path).find(|file| file.as_str() == path)
    }

    /// The files with the last component of a comparable path.
    fn named(&self, wanted: &str) -> impl Iterator<Item = &File> {
        let name = wanted.rsplit('/').next().unwrap_or_default();
        let named = self.names.get(name).map_or(&[][..], Vec::as_slice);
        named.iter().filter_map(|at| self.files.get(*at))
    }

    /// The files whose comparable path is `wanted`, or unless `is_exact` ends in it after a slash.
    fn ending_in(&self, wanted: &str, is_exact: bool) -> Vec<&File> {
        let fits = |file: &&File| {
            let rest = file.folded.strip_suffix(wanted);
            rest.is_some_and(|rest| rest.is_empty() || (!is_exact && rest.ends_with('/')))
        };
        self.named(wanted).filter(fits).collect()
    }

    /// The notes that are meant most likely by the path of a link that leads nowhere, all of them equally: those of this name, whatever
    /// stands between its letters, else the one whose title or alias it is, else those whose name is most like it, if one is like it at
    /// all. [`closest_to`] tells which of them a note means. The search is charged to `left`, a few hundred units for each microsecond; at
    /// zero no name is searched for.
    #[must_use]
    pub fn nearest<'a>(&'a self, path: &str, named: Option<&'a MemoryPath>, left: &mut usize) -> Vec<&'a MemoryPath> {
        let written = path.trim().rsplit('/').next().unwrap_or_default();
        let name = comparable(written);
        let bare = letters(stem(&name));
        if let Some(files) = self.bare.get(&bare).filter(|_| !bare.is_empty()) {
            return files.iter().filter_map(|at| self.files.get(*at)).map(|file| &file.path).collect();
        }
        if named.is_some() {
            return named.into_iter().collect();
        }
        let Ok(wanted) = MemoryPath::parse(written) else { return Vec::new() };
        let first = name.chars().next();
        let is_candidate = |file: &&File| {
            let other = file.folded.rsplit('/').next().unwrap_or_default();
            file.path.is_note() && (self.files.len() <= FEW_FILES || other.chars().next() == first)
        };
        let letters = name.len().min(MOST_LETTERS);
        let left = Cell::from_mut(left);
        let pays = |cost: usize| {
            left.set(left.get().saturating_sub(cost));
            left.get() > 0
        };
        let cost = |file: &File| COST_OF_NAME + letters * file.path.name().len().min(MOST_LETTERS);
        // `[[202401011200]]` and `[[Ana]]` mean the one note whose name goes on from there.
        let begins = |file: &File| {
            let rest = file.folded.rsplit('/').next().and_then(|other| other.strip_prefix(stem(&name)));
            rest.is_some_and(|rest| rest.starts_with(|next: char| !next.is_alphanumeric() && next != '.'))
                && file.path.is_note()
                && stem(&name).len() >= LEAST_BEGINNING
        };
        let mut begun = Vec::new();
        let looked_at = self.files.iter().take_while(|_| pays(COST_OF_LOOK)).inspect(|file| {
            if begun.len() < 2 && begins(file) {
                begun.push(&file.path);
            }
        });
        let candidates = looked_at.filter(is_candidate).take_while(|file| pays(cost(file)));
        let mut nearest = super::most_alike(&wanted, candidates.map(|file| &file.path));
        if left.get() == 0 {
            return Vec::new();
        }
        if let [one] = begun.as_slice() {
            return vec![one];
        }
        nearest.retain(|path| strsim::jaro_winkler(stem(&name), stem(&comparable(path.name()))) > MOST_UNLIKE);
        nearest
    }
}

/// Of the notes that the path of a link in `source` may mean the one that stands closest to where it leads; where it names no folder, the
/// one in that of `source`, else in the nearest folder.
#[must_use]
pub fn closest_to<'a>(
    path: &str,
    syntax: Syntax,
    source: Option<&MemoryPath>,
    notes: &[&'a MemoryPath],
) -> Option<&'a MemoryPath> {
    if let [] | [_] = notes {
        return notes.first().copied();
    }
    let has_folder = path.strip_prefix("./").unwrap_or(path).contains('/');
    let is_from_root = has_folder && syntax == Syntax::Wiki && !path.starts_with('.') || syntax == Syntax::Root;
    let folder = source.and_then(MemoryPath::parent).filter(|_| !is_from_root && !path.starts_with('/'));
    let place = joined(folder.as_ref(), path).and_then(|place| MemoryPath::parse(&place).ok());
    let Some(place) = place else { return notes.first().copied() };
    if has_folder {
        return super::closest(&place, notes);
    }
    let steps = |note: &MemoryPath| {
        let count = |path: &MemoryPath| path.components().count();
        count(&place) + count(note) - 2 * super::shared(&place, note)
    };
    let fewest = notes.iter().map(|note| steps(note)).min();
    let near: Vec<_> = notes.iter().copied().filter(|note| Some(steps(note)) == fewest).collect();
    super::closest(&place, &near)
}

/// What the path of a link asks for by Obsidian's rules.
struct Wanted {
    /// As names are compared, from the root or, unless it is exact, from any folder.
    path: String,
    is_exact: bool,
}

fn wanted(path: &str, source: Option<&MemoryPath>) -> Option<Wanted> {
    let path = path.trim();
    let folder = source.and_then(MemoryPath::parent);
    let is_relative = path.starts_with("./") || path.starts_with("../");
    let is_exact = is_relative || path.starts_with('/');
    let wanted = if is_relative { joined(folder.as_ref(), path) } else { joined(None, path) };
    let path = wanted.map(|wanted| comparable(&wanted)).filter(|wanted| !wanted.is_empty())?;
    Some(Wanted { path, is_exact })
}

/// A path as links are compared with it: a blank at which no line breaks is a blank, too.
pub fn comparable(path: &str) -> String {
    let folded = super::folded(path);
    if folded.contains(is_fixed_blank) { folded.replace(is_fixed_blank, " ") } else { folded }
}

fn is_fixed_blank(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{202f}')
}

/// Whether the last component of a path has a dot, so that it may be the whole name of a file.
fn has_dot(wanted: &str) -> bool {
    wanted.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// The name of a file as links are compared with it, without `.md`.
pub fn stem_of(file: &MemoryPath) -> String {
    stem(&comparable(file.name())).to_owned()
}

/// As [`stem_of`] for every file that the path of a link in `source` can mean; none for a path that is empty.
pub fn stems_meant(path: &str, source: &MemoryPath) -> Vec<String> {
    let joined = joined_to(source.parent().as_ref(), path);
    let path = wanted(path, Some(source)).map(|wanted| wanted.path).or_else(|| joined.map(|path| comparable(&path)));
    let Some(path) = path.filter(|path| !path.is_empty()) else { return Vec::new() };
    let name = path.rsplit('/').next().unwrap_or_default();
    let whole = has_dot(name).then(|| stem(name).to_owned()).filter(|stem| stem != name);
    whole.into_iter().chain([name.to_owned()]).collect()
}

/// How soon a reader goes to a file by a link that can mean several.
fn order<'f>(
    path: &str,
    wanted: &Wanted,
    source: Option<&MemoryPath>,
    file: &'f File,
) -> (bool, bool, usize, bool, &'f str) {
    let is_whole = file.folded == wanted.path || file.folded.strip_suffix(".md") == Some(&wanted.path);
    let (length, file) = (file.path.utf16_length(), file.path.as_str());
    let folder = source.and_then(|source| source.as_str().rsplit_once('/')).map_or("", |(folder, _)| folder);
    let below = file.strip_prefix(folder);
    let is_near = folder.is_empty() || below.is_some_and(|rest| rest.starts_with('/'));
    let is_spelled = file.contains(path.trim().trim_start_matches('/'));
    (!is_whole, !is_near, length, !is_spelled, file)
}

/// A folded name without the extension of a note.
fn stem(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}

/// The name in the path of a link, without `.md`.
pub fn name_in(path: &str) -> &str {
    let name = path.trim().rsplit('/').next().unwrap_or_default();
    let bare = name.len().checked_sub(3).and_then(|at| name.split_at_checked(at));
    bare.filter(|(_, end)| end.eq_ignore_ascii_case(".md")).map_or(name, |(bare, _)| bare)
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

/// Joins a path to a folder as every reader of Markdown does: `..` takes the part before it away. `None` for one from the
/// root, and where it climbs out of the memory.
pub fn joined_to(folder: Option<&MemoryPath>, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.map_or_else(Vec::new, |folder| folder.components().collect());
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Joins a path to a folder where that leads to a hidden name in the memory, as `.github/x`.
pub fn hidden(folder: Option<&MemoryPath>, path: &str) -> Option<String> {
    joined_to(folder, path).filter(|place| place.split('/').any(|name| name.starts_with('.')))
}

/// Joins a path to a folder where that climbs out of the memory, as `../x` from its root; `None` where it stays inside.
pub fn outside(folder: Option<&MemoryPath>, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut depth = folder.map_or(0, |folder| folder.components().count());
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, out.last()) {
            ("" | ".", _) => {}
            ("..", None) if depth > 0 => depth -= 1,
            ("..", Some(&last)) if last != ".." => drop(out.pop()),
            (name, None) if name != ".." => depth += 1,
            (part, _) => out.push(part),
        }
    }
    let slash = if path.ends_with('/') { "/" } else { "" };
    (!out.is_empty()).then(|| out.join("/") + slash)
}

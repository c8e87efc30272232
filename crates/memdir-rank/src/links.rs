//! [`neighbours`]: the notes beside a note, by links both ways, with what is said of them there.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::{Number, Source, SourceError, called};
use memdir_core::path::MemoryPath;
use memdir_note::{Card, words};

/// Of the notes with one name no more are looked at than this.
pub(super) const MOST_NAMESAKES: usize = 64;
/// Of the names of one note so many count.
const MOST_OWN: usize = 32;

/// A note beside another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Neighbour {
    /// Its number at the source.
    pub note: Number,
    /// The line that the link stands in, in whichever of the two notes.
    pub line: String,
    /// Whether the link stands in the neighbour.
    pub is_back: bool,
}

/// Which notes names mean, as far as they were asked for.
#[derive(Default)]
pub struct Names {
    known: HashMap<String, Vec<(Number, MemoryPath)>>,
}

impl Names {
    /// The note that a link means which stands at `from`: of those whose file name, title or alias is the last part of
    /// what is written, those first that stand where it says, then the nearest.
    ///
    /// A reader may be led elsewhere by a title, or nowhere; who asks a memory means what stands nearby.
    ///
    /// # Errors
    ///
    /// Those of the source.
    pub fn target(
        &mut self,
        source: &dyn Source,
        link: &str,
        from: &MemoryPath,
    ) -> Result<Option<Number>, SourceError> {
        let name = name_meant(link);
        let way = way(link);
        let order = |path: &MemoryPath| {
            let is_there = way.as_ref().is_none_or(|way| words::fold(without_md(path.as_str())).ends_with(way));
            let is_file = called(path.stem()) == name;
            (!is_there, Reverse(shared(from, path)), !is_file, path.components().count())
        };
        let notes = self.notes(source, &name)?;
        if notes.len() >= MOST_NAMESAKES {
            // That beside it need not be among them.
            let file = format!("{}.md", without_md(link.trim().rsplit('/').next().unwrap_or_default()));
            let beside = MemoryPath::in_folder(from.parent().as_ref(), &file).ok();
            if let Some(note) = beside.map(|path| source.number(&path)).transpose()?.flatten() {
                return Ok(Some(note));
            }
        }
        Ok(notes.iter().map(|(note, path)| (order(path), path, *note)).min().map(|(.., note)| note))
    }

    /// The notes with a name.
    fn notes(&mut self, source: &dyn Source, name: &str) -> Result<&[(Number, MemoryPath)], SourceError> {
        if !self.known.contains_key(name) {
            let mut notes = Vec::new();
            for note in if name.is_empty() { Vec::new() } else { source.called(name, MOST_NAMESAKES)? } {
                notes.extend(source.path(note)?.map(|path| (note, path)));
            }
            self.known.insert(name.to_owned(), notes);
        }
        Ok(self.known.get(name).map(Vec::as_slice).unwrap_or_default())
    }
}

/// The name, as [`called`] writes it, of the note that a link means.
pub(super) fn name_meant(link: &str) -> String {
    called(without_md(link.trim().rsplit('/').next().unwrap_or_default()))
}

/// The end of the path that a link says, where it says more than a name.
fn way(link: &str) -> Option<String> {
    let link = link.trim().trim_start_matches(['.', '/']);
    link.contains('/').then(|| words::fold(without_md(link)))
}

fn without_md(name: &str) -> &str {
    name.strip_suffix(".md").unwrap_or(name)
}

/// In how many folders, from the root on, two notes stand both.
fn shared(one: &MemoryPath, other: &MemoryPath) -> usize {
    let folders = |path: &MemoryPath| {
        path.parent().map_or_else(Vec::new, |parent| parent.components().map(str::to_owned).collect())
    };
    folders(one).iter().zip(&folders(other)).take_while(|(one, other)| one == other).count()
}

/// The notes that a note links to, in the order of its links, then those that link to it; not more than `most`,
/// one for each link.
///
/// # Errors
///
/// Those of the source.
pub fn neighbours(
    source: &dyn Source,
    names: &mut Names,
    (note, path, card): (Number, &MemoryPath, &Card),
    most: usize,
) -> Result<Vec<Neighbour>, SourceError> {
    let mut found = Vec::new();
    for (link, line) in card.linked() {
        if found.len() >= most {
            return Ok(found);
        }
        let target = names.target(source, &link.path, path)?.filter(|target| *target != note);
        found.extend(target.map(|note| Neighbour { note, line: line.to_owned(), is_back: false }));
    }
    let own = own_names(path, card);
    let mut sources = BTreeSet::new();
    for name in &own {
        sources.extend(source.linking(name, most)?);
    }
    sources.remove(&note);
    for other in sources {
        let Some((from, card)) = source.card(other)? else { continue };
        for (link, line) in card.linked() {
            if found.len() >= most {
                return Ok(found);
            }
            if own.contains(&name_meant(&link.path)) && names.target(source, &link.path, &from)? == Some(note) {
                found.push(Neighbour { note: other, line: line.to_owned(), is_back: true });
            }
        }
    }
    Ok(found)
}

/// What a note is called.
pub(super) fn own_names(path: &MemoryPath, card: &Card) -> BTreeSet<String> {
    let own = [Some(path.stem()), card.title.as_deref()].into_iter().flatten();
    let own = own.chain(card.aliases.iter().map(String::as_str)).map(called);
    own.filter(|name| !name.is_empty()).take(MOST_OWN).collect()
}

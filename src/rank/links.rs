//! [`neighbours`]: the notes beside a note, by links both ways, with what is said of them there.

use std::collections::{BTreeSet, HashMap};

use super::{Number, Source, SourceError, called};
use crate::note::{Card, Targets};
use crate::path::MemoryPath;

/// Of the notes with one name no more are looked at than this.
const MOST_NAMESAKES: usize = 16;

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
    /// The note that a link means which stands at `from`: the file as a reader finds it, else the nearest note with this
    /// title or alias.
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
        let last = link.rsplit('/').next().unwrap_or_default();
        let name = called(last.strip_suffix(".md").unwrap_or(last));
        if name.is_empty() {
            return Ok(None);
        }
        if !self.known.contains_key(&name) {
            let mut notes = Vec::new();
            for note in source.called(&name, MOST_NAMESAKES)? {
                notes.extend(source.path(note)?.map(|path| (note, path)));
            }
            self.known.insert(name.clone(), notes);
        }
        let notes = self.known.get(&name).map(Vec::as_slice).unwrap_or_default();
        let targets = Targets::new(notes.iter().map(|(_, path)| path.clone()));
        if let Some(best) = targets.best(link, Some(from)) {
            return Ok(notes.iter().find(|(_, path)| path == best).map(|(note, _)| *note));
        }
        let folder = from.parent();
        let apart = |path: &MemoryPath| path.parent().map_or(0, |other| apart(folder.as_ref(), &other));
        Ok(notes.iter().min_by_key(|(_, path)| (apart(path), path.clone())).map(|(note, _)| *note))
    }
}

/// How many folders two places are apart.
fn apart(one: Option<&MemoryPath>, other: &MemoryPath) -> usize {
    let one: Vec<_> = one.map(|path| path.as_str().split('/').collect()).unwrap_or_default();
    let other: Vec<_> = other.as_str().split('/').collect();
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    one.len() + other.len() - 2 * same
}

/// The notes that a note links to, in the order of its links, then those that link to it; not more than `most`, each
/// link between the same two once.
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
    for (link, line) in card.seen.links.iter().zip(&card.contexts) {
        if found.len() >= most {
            return Ok(found);
        }
        let target = names.target(source, &link.path, path)?.filter(|target| *target != note);
        found.extend(target.map(|note| Neighbour { note, line: line.clone(), is_back: false }));
    }
    let own = [Some(path.stem()), card.title.as_deref()].into_iter().flatten();
    let own: BTreeSet<_> = own.chain(card.aliases.iter().map(String::as_str)).map(called).collect();
    let mut sources = BTreeSet::new();
    for name in own.iter().filter(|name| !name.is_empty()) {
        sources.extend(source.linking(name, most)?);
    }
    sources.remove(&note);
    for other in sources {
        let Some((from, card)) = source.card(other)? else { continue };
        for (link, line) in card.seen.links.iter().zip(&card.contexts) {
            if found.len() >= most {
                return Ok(found);
            }
            let last = link.path.rsplit('/').next().unwrap_or_default();
            if own.contains(&called(last.strip_suffix(".md").unwrap_or(last)))
                && names.target(source, &link.path, &from)? == Some(note)
            {
                found.push(Neighbour { note: other, line: line.clone(), is_back: true });
            }
        }
    }
    Ok(found)
}

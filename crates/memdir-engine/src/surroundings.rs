//! What stands around a note: where its links lead, which lines of others lead to it, and the notes one and two links away.

use std::collections::BTreeSet;

use super::Engine;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, LinkEntry};
use memdir_note::{Seen, Web};
use memdir_plan::{self as plan, Effort, Tree, TreeError};
use memdir_rank::LinkedFiles;

/// What stands around a note.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Surroundings {
    /// Its links, in the order of their lines. Of one that leads nowhere the nearest name is not told: `get_links` does.
    pub links: Vec<LinkEntry>,
    /// The links of other notes that lead to it.
    pub backlinks: Vec<LinkEntry>,
    /// The notes that are one link away, whichever way it leads.
    pub near: Vec<MemoryPath>,
    /// The notes that are two links away.
    pub far: Vec<MemoryPath>,
    /// Which of all these are linked, each pair once, the lesser path first.
    pub pairs: BTreeSet<(MemoryPath, MemoryPath)>,
    /// Whether there may be more notes near or far than were asked for.
    pub is_cut: bool,
}

impl Surroundings {
    /// What is one link away.
    fn near(note: &MemoryPath, web: &Web, most: usize) -> Self {
        let (links, backlinks) = (web.written_in(note), web.leading_to(note));
        let near = others(note, &links, &backlinks, most);
        let is_cut = near.len() >= most;
        let pairs = near.iter().map(|near| pair(note, near)).collect();
        Self { links, backlinks, near, far: Vec::new(), pairs, is_cut }
    }

    /// Adds the notes that are linked to one of the near ones.
    fn add_far(&mut self, note: &MemoryPath, from: &MemoryPath, others: Vec<MemoryPath>, most: usize) {
        for other in others {
            let is_known = other == *note || self.near.contains(&other) || self.far.contains(&other);
            if !is_known && self.near.len() + self.far.len() >= most {
                self.is_cut = true;
                continue;
            }
            if !is_known {
                self.far.push(other.clone());
            }
            self.pairs.insert(pair(from, &other));
        }
    }
}

impl Engine {
    /// Finds what stands around a note, for its owner, with at most so many notes near and far. It leaves no trace in the audit:
    /// nothing of what other notes say is in it but their links.
    ///
    /// With an index a few questions to it answer; without one all notes are read, and none is far: that would take long.
    ///
    /// # Errors
    ///
    /// `io`.
    pub fn surroundings(&self, note: &MemoryPath, most: usize) -> Result<Surroundings, Failure> {
        let note = &self.vault.resolve(note).map_err(plan::failure)?;
        let mut found = None;
        let is_answered = self.consult(&[], Effort::Fill, false, &mut |source| {
            // It may be asked once more, where the index was brought up to date meanwhile.
            found = gather(note, most, |path, most| Ok(source.linked(path, most)?))?;
            Ok(())
        });
        if let Some(found) = found.filter(|_| is_answered == Ok(true)) {
            return Ok(found);
        }
        let seen = self.scan(|_, text| Seen::of(text))?;
        let web = Web::new(seen.into_iter().map(|file| (file.path, file.seen.flatten())).collect());
        Ok(Surroundings::near(note, &web, most))
    }
}

/// Asks for the files around a note, and around those near it: of these no more than could be told of, for one that everything links to
/// has thousands.
fn gather(
    note: &MemoryPath,
    most: usize,
    mut around: impl FnMut(&MemoryPath, usize) -> Result<Option<LinkedFiles>, TreeError>,
) -> Result<Option<Surroundings>, TreeError> {
    let Some(own) = around(note, usize::MAX)? else { return Ok(None) };
    let mut found = Surroundings::near(note, &Web::new(own.files), most);
    // Where no more are wanted, none is asked for.
    let asked = if found.near.len() < most { found.near.clone() } else { Vec::new() };
    let most_links = most.saturating_mul(2);
    for near in asked {
        let Some(linked) = around(&near, most_links)? else { return Ok(None) };
        let web = Web::new(linked.files);
        let others = others(&near, &web.written_in(&near), &web.leading_to(&near), most_links);
        found.is_cut |= linked.is_cut || others.len() >= most_links;
        found.add_far(note, &near, others, most);
    }
    Ok(Some(found))
}

/// At most `most` notes to which a note is linked, whichever way: first those that it names, in their order.
fn others(note: &MemoryPath, links: &[LinkEntry], backlinks: &[LinkEntry], most: usize) -> Vec<MemoryPath> {
    let mut others = Vec::new();
    let named = links.iter().filter_map(|link| link.resolved.as_ref());
    for other in named.chain(backlinks.iter().map(|link| &link.source)) {
        if others.len() >= most {
            break;
        }
        if other != note && other.is_note() && !others.contains(other) {
            others.push(other.clone());
        }
    }
    others
}

fn pair(one: &MemoryPath, other: &MemoryPath) -> (MemoryPath, MemoryPath) {
    let (lesser, greater) = if one <= other { (one, other) } else { (other, one) };
    (lesser.clone(), greater.clone())
}

//! [`Web`]: all notes of a memory together, and what each link between them leads to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use serde::{Deserialize, Serialize};

use super::heading::{Outline, anchor};
use super::target::{MOST_COMPARED, closest_to, hidden, joined_to, name_in, outside};
use super::words::called;
use super::{Link, Note, Syntax, Targets};
use memdir_core::path::MemoryPath;
use memdir_core::report::{LinkEntry, LinkKind, LinkStatus, Links};

/// What others need to know of a note: its links, and what in it can be linked to.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Seen {
    /// Its links, in their order.
    pub links: Vec<SeenLink>,
    /// Level and key of each heading.
    headings: Vec<(u8, String)>,
    /// The ids of its blocks, sorted.
    blocks: Vec<String>,
    /// What links of Markdown can name beside its headings, as anchors are compared, sorted.
    anchors: Vec<String>,
    /// Its title and its aliases, as names are looked up.
    names: Vec<String>,
}

impl Seen {
    /// Reads a note.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::of_note(&Note::parse(text))
    }

    /// What is known of a file that can be linked to only as a whole.
    #[must_use]
    pub fn of_links(links: Vec<SeenLink>) -> Self {
        Self { links, ..Self::default() }
    }

    /// The headings, as they are compared.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.headings.iter().map(|(_, key)| key.as_str())
    }

    /// Takes what is needed from a note that is read.
    #[must_use]
    pub fn of_note(note: &Note<'_>) -> Self {
        let mut blocks: Vec<_> = note.block_ids().map(|(id, _)| id.to_ascii_lowercase()).collect();
        blocks.sort_unstable();
        let headings = note.headings().iter().map(|heading| (heading.level, heading.key.clone())).collect();
        let links = note.links().into_iter().map(SeenLink::from).collect();
        let names = note.title().into_iter().chain(note.aliases()).map(|name| called(&name));
        let mut anchors: Vec<_> = note.markup.anchors.iter().map(|(anchor, _)| anchor.clone()).collect();
        anchors.sort_unstable();
        anchors.dedup();
        Self { links, headings, blocks, anchors, names: names.filter(|name| !name.is_empty()).collect() }
    }
}

/// Whether a link of Markdown leads to what is not looked at.
fn is_unseen(source: &MemoryPath, link: &SeenLink) -> bool {
    let folder = source.parent();
    outside(folder.as_ref(), &link.path).or_else(|| hidden(folder.as_ref(), &link.path)).is_some()
}

/// Whether a link of Markdown leads to the folder of the whole memory, which has no path.
fn is_root(source: &MemoryPath, link: &SeenLink) -> bool {
    link.syntax == Syntax::Markdown
        && joined_to(source.parent().as_ref(), &link.path).is_some_and(|place| place.is_empty())
}

/// A link, without where in the note its parts are.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct SeenLink {
    /// How it is written.
    pub kind: LinkKind,
    /// By which rules it is followed.
    pub syntax: Syntax,
    /// The path as it is meant, before `#` and `|`; empty for a link to a place in the same note.
    pub path: String,
    /// The heading or block with its `#`; empty when there is none.
    pub subpath: String,
    /// What is shown instead of the target.
    pub text: Option<String>,
    /// The line on which it starts, from 1.
    pub line: usize,
}

impl From<Link> for SeenLink {
    fn from(link: Link) -> Self {
        let Link { kind, syntax, path, subpath, text, line, .. } = link;
        Self { kind, syntax, path, subpath, text, line }
    }
}

/// The files of a memory, and what is known of its notes.
#[derive(Debug, Default)]
pub struct Web {
    files: BTreeMap<MemoryPath, Option<Seen>>,
    targets: Targets,
}

/// What was looked up while links were followed.
#[derive(Default)]
struct Looked<'w> {
    outlines: HashMap<&'w MemoryPath, Outline<'w>>,
    nearest: HashMap<&'w str, Vec<&'w MemoryPath>>,
    /// What names that were compared have cost.
    compared: usize,
    /// The first note with each title or alias, once one was asked for.
    named: Option<HashMap<&'w str, &'w MemoryPath>>,
    /// Where the links of one note lead.
    resolved: HashMap<(&'w str, Syntax), Option<&'w MemoryPath>>,
    source: Option<&'w MemoryPath>,
}

impl Web {
    /// Takes all files, with what was seen of those that are notes.
    #[must_use]
    pub fn new(files: Vec<(MemoryPath, Option<Seen>)>) -> Self {
        let targets = Targets::new(files.iter().map(|(path, _)| path.clone()));
        Self { files: files.into_iter().collect(), targets }
    }

    /// All files by their names.
    #[must_use]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Every link of the memory, and for every file the notes that link to it.
    #[must_use]
    pub fn links(&self) -> Links {
        let mut looked = Looked::default();
        let mut links = Links::default();
        let mut backlinks: HashMap<&MemoryPath, Vec<MemoryPath>> = HashMap::new();
        for (source, link) in self.all() {
            let Some(entry) = self.full_entry(source, link, &mut looked) else { continue };
            links.links.push(entry);
            if let Some(target) = self.resolved(source, link, &mut looked).filter(|target| *target != source) {
                // The sources come in their order.
                let sources = backlinks.entry(target).or_default();
                if sources.last() != Some(source) {
                    sources.push(source.clone());
                }
            }
        }
        links.backlinks = backlinks.into_iter().map(|(target, sources)| (target.clone(), sources)).collect();
        links
    }

    /// The links of one note, and the notes that link to it.
    #[must_use]
    pub fn links_of(&self, note: &MemoryPath) -> Links {
        let mut looked = Looked::default();
        let links = self.within(note).filter_map(|(source, link)| self.full_entry(source, link, &mut looked)).collect();
        Links { links, backlinks: self.backlinks(note) }
    }

    /// The links that lead to one file from other notes, and the notes that they stand in.
    #[must_use]
    pub fn links_to(&self, target: &MemoryPath) -> Links {
        Links { links: self.leading_to(target), backlinks: self.backlinks(target) }
    }

    /// The links of one note alone. The nearest names of broken links are not looked up: that takes longest.
    #[must_use]
    pub fn written_in(&self, note: &MemoryPath) -> Vec<LinkEntry> {
        let mut looked = Looked::default();
        self.within(note).filter_map(|(source, link)| self.entry(source, link, &mut looked)).collect()
    }

    /// The links alone that lead to one file from other notes.
    #[must_use]
    pub fn leading_to(&self, target: &MemoryPath) -> Vec<LinkEntry> {
        let mut looked = Looked::default();
        let mut links = Vec::new();
        for (source, link) in self.all().filter(|(source, _)| *source != target) {
            if self.resolved(source, link, &mut looked) == Some(target) {
                links.extend(self.entry(source, link, &mut looked));
            }
        }
        links
    }

    fn backlinks(&self, target: &MemoryPath) -> BTreeMap<MemoryPath, Vec<MemoryPath>> {
        let mut looked = Looked::default();
        let others = self.all().filter(|(source, _)| *source != target);
        let leads = others.filter(|(source, link)| self.resolved(source, link, &mut looked) == Some(target));
        let sources: BTreeSet<_> = leads.map(|(source, _)| source.clone()).collect();
        BTreeMap::from([(target.clone(), sources.into_iter().collect())])
    }

    /// The first note with each title or alias.
    fn named(&self) -> HashMap<&str, &MemoryPath> {
        let mut named = HashMap::new();
        for (path, seen) in self.files.iter().filter(|(path, _)| path.is_note()) {
            for name in seen.iter().flat_map(|seen| &seen.names) {
                named.entry(name.as_str()).or_insert(path);
            }
        }
        named
    }

    /// Where a link leads. A note may hold one link many times, and each can mean many files.
    fn resolved<'w>(
        &'w self,
        source: &'w MemoryPath,
        link: &'w SeenLink,
        looked: &mut Looked<'w>,
    ) -> Option<&'w MemoryPath> {
        if looked.source != Some(source) {
            looked.source = Some(source);
            looked.resolved.clear();
        }
        let resolved = looked.resolved.entry((&link.path, link.syntax));
        *resolved.or_insert_with(|| self.targets.best(&link.path, link.syntax, Some(source)))
    }

    /// Every link of one note, with the note.
    fn within(&self, note: &MemoryPath) -> impl Iterator<Item = (&MemoryPath, &SeenLink)> {
        let own = self.files.get_key_value(note).into_iter();
        own.flat_map(|(source, seen)| seen.iter().flat_map(|seen| &seen.links).map(move |link| (source, link)))
    }

    /// Every link with the note that it stands in.
    fn all(&self) -> impl Iterator<Item = (&MemoryPath, &SeenLink)> {
        self.files.iter().flat_map(|(source, seen)| {
            seen.iter().flat_map(move |seen| seen.links.iter().map(move |link| (source, link)))
        })
    }

    /// As [`Web::entry`], with the nearest name where the link leads nowhere.
    fn full_entry<'w>(
        &'w self,
        source: &'w MemoryPath,
        link: &'w SeenLink,
        looked: &mut Looked<'w>,
    ) -> Option<LinkEntry> {
        let mut entry = self.entry(source, link, looked)?;
        if entry.status == LinkStatus::BrokenFile {
            entry.nearest = self.nearest(source, link, looked).cloned();
        }
        Some(entry)
    }

    /// The note that a link which leads nowhere most likely means.
    fn nearest<'w>(
        &'w self,
        source: &MemoryPath,
        link: &'w SeenLink,
        looked: &mut Looked<'w>,
    ) -> Option<&'w MemoryPath> {
        let Looked { nearest, named, compared, .. } = looked;
        let named = named.get_or_insert_with(|| self.named());
        let path = link.path.as_str();
        let found = nearest.entry(path).or_insert_with(|| {
            let is_named = named.get(called(name_in(path)).as_str()).copied();
            let mut left = MOST_COMPARED - *compared;
            let found = self.targets.nearest(path, is_named, &mut left);
            *compared = MOST_COMPARED - left;
            found
        });
        closest_to(path, link.syntax, Some(source), found)
    }

    /// What is told of a link but for the nearest name; `None` where it turns out to be none.
    fn entry<'w>(&'w self, source: &'w MemoryPath, link: &'w SeenLink, looked: &mut Looked<'w>) -> Option<LinkEntry> {
        let resolved = self.resolved(source, link, looked);
        let folder = if resolved.is_none() { self.folder(source, link) } else { None };
        if resolved.is_none() && link.syntax == Syntax::Unsure {
            return None;
        }
        let status = match resolved {
            None if folder.is_some() || is_root(source, link) => LinkStatus::Ok,
            None if link.syntax != Syntax::Wiki && is_unseen(source, link) => LinkStatus::Outside,
            None => LinkStatus::BrokenFile,
            // What may be no link is never broken.
            Some(_) if link.syntax == Syntax::Unsure => LinkStatus::Ok,
            Some(target) => self.status(target, link, looked),
        };
        Some(LinkEntry {
            source: source.clone(),
            line: link.line,
            target: link.path.clone(),
            subpath: link.subpath.clone(),
            text: link.text.clone(),
            kind: link.kind,
            resolved: resolved.cloned().or(folder),
            status,
            nearest: None,
            is_sure: link.syntax != Syntax::Unsure,
        })
    }

    /// The folder to which a link of Markdown leads, by one of the files below it.
    fn folder(&self, source: &MemoryPath, link: &SeenLink) -> Option<MemoryPath> {
        let place = joined_to(source.parent().as_ref(), &link.path).filter(|_| link.syntax == Syntax::Markdown)?;
        let folder = MemoryPath::parse(&place).ok().filter(|folder| folder.as_str() == place)?;
        let below = format!("{place}/");
        let (next, _) = self.files.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded)).next()?;
        next.is_within(&folder).then_some(folder)
    }

    /// Whether a file has the place in it that a link names. What a file that is no note has is not known.
    fn status<'w>(&'w self, target: &'w MemoryPath, link: &SeenLink, looked: &mut Looked<'w>) -> LinkStatus {
        let Some((path, Some(seen))) = self.files.get_key_value(target).filter(|(path, _)| path.is_note()) else {
            return LinkStatus::Ok;
        };
        let place = link.subpath.trim_start_matches('#').trim();
        if place.is_empty() {
            return LinkStatus::Ok;
        }
        if let Some(id) = place.strip_prefix('^') {
            let id = id.to_ascii_lowercase();
            return if seen.blocks.binary_search(&id).is_ok() { LinkStatus::Ok } else { LinkStatus::BrokenBlock };
        }
        let outline = looked
            .outlines
            .entry(path)
            .or_insert_with(|| Outline::new(seen.headings.iter().map(|(level, key)| (*level, key.as_str()))));
        let is_there = match link.syntax {
            Syntax::Wiki | Syntax::Root => !outline.find(place).is_empty(),
            Syntax::Markdown | Syntax::Unsure => {
                outline.lead(place).is_some() || seen.anchors.binary_search(&anchor(place)).is_ok()
            }
        };
        if is_there { LinkStatus::Ok } else { LinkStatus::BrokenHeading }
    }
}

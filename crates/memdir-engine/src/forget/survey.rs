//! [`Survey`]: where something that is to be forgotten was found, and what has to be done about each place.

use std::io::{self, Read};

use super::finder::Finders;
use super::mention::{Mention, Spoken};
use super::{ForgetPreview, ForgottenPlace, PlaceKind};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_note::{Canvas, Syntax, Targets};
use memdir_plan::{Called, Cut, Sought, When};
use memdir_vault::{FileEntry, HistoryTraces, NoteNames, Region};

/// All that was found, and what has to be done about it.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) sought: Sought,
    pub(super) traces: HistoryTraces,
    pub(super) places: Vec<ForgottenPlace>,
    /// All files that links can mean.
    pub(super) targets: Targets,
    /// Notes with links that may lead to the note.
    pub(super) candidates: Vec<MemoryPath>,
    /// Files that need another text.
    pub(super) edits: Vec<String>,
    /// Copies that were left aside or thrown away; known by what the history holds, so they go before it does.
    pub(super) leftovers: Vec<String>,
    /// The note itself, and then the link by which it was named.
    pub(super) removals: Vec<String>,
    /// What holds the text and cannot be changed here.
    pub(super) blocked: Vec<String>,
    /// Proposals that hold it.
    pub(super) proposals: Vec<u64>,
    /// Sessions that hold it.
    pub(super) sessions: Vec<String>,
    /// Lines of other notes that link to the note or name it.
    pub(super) lines: Vec<Mention>,
    /// Cards of canvases that show the note.
    pub(super) cards: Vec<ForgottenPlace>,
    pub(super) note: Option<Note>,
    pub(super) limit: u64,
}

/// A note that is to be forgotten.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) names: NoteNames,
    /// The name that was asked for, where it is a link to the note.
    pub(super) alias: Option<MemoryPath>,
    pub(super) digest: Option<Digest>,
    /// Its names, as something that a link can mean which leads nowhere now.
    pub(super) named: Targets,
    /// What it is called in a text.
    pub(super) spoken: Spoken,
}

impl Survey {
    /// What a person is shown of it.
    pub(super) fn listed(&self) -> ForgetPreview {
        let text = self.note.as_ref().and_then(|note| note.digest);
        ForgetPreview { places: self.places.clone(), lines: self.lines.clone(), text }
    }

    pub(super) fn note_history(&mut self) {
        for (path, count) in &self.traces.changes {
            self.places.push(ForgottenPlace { place: PlaceKind::History, path: path.clone(), count: *count });
        }
        if self.traces.entries > 0 {
            self.places.push(ForgottenPlace { place: PlaceKind::Audit, path: None, count: self.traces.entries });
        }
    }

    /// Finds the proposals that name the note or hold the text.
    pub(super) fn note_proposals(&mut self, proposals: &[(u64, String)]) {
        for (id, _) in proposals.iter().filter(|(_, said)| self.sought.is_in_payload(said, None)) {
            self.places.push(ForgottenPlace {
                place: PlaceKind::Inbox,
                path: Some(format!("proposal {id}")),
                count: 1,
            });
            self.proposals.push(*id);
        }
    }

    fn add(&mut self, place: PlaceKind, spot: &FileEntry, count: u64) {
        self.places.push(ForgottenPlace { place, path: Some(spot.path.clone()), count });
    }

    /// Cuts out of a file what has to go.
    pub(super) fn cut(&self, path: &str, text: &str) -> Option<Cut> {
        let source = MemoryPath::parse(path).ok();
        let (Some(note), Some(source)) = (&self.note, source) else { return self.sought.cut(text) };
        let leads = |link: &str, syntax| self.leads_to(note, &source, link, syntax);
        if source.is_canvas() { self.sought.cut_canvas(text, &leads) } else { self.sought.cut_links(text, &leads) }
    }

    /// Adds the lines of a note that has links to the one to forget.
    pub(super) fn add_linking_lines(&mut self, source: &MemoryPath, text: &str) {
        let Some(note) = &self.note else { return };
        let leads = |link: &str, syntax| self.leads_to(note, source, link, syntax);
        let starts = self.sought.lines_with_links(text, &leads);
        self.lines.extend(Mention::at(source, text, starts));
    }

    /// Adds the cards of a canvas that show the note to forget.
    pub(super) fn add_cards(&mut self, source: &MemoryPath, text: &str) {
        let (Some(note), Ok(canvas)) = (&self.note, Canvas::parse(text)) else { return };
        let links = canvas.seen().links;
        let cards = links.iter().filter(|link| link.syntax == Syntax::Root);
        let count = cards.filter(|link| self.leads_to(note, source, &link.path, link.syntax)).count();
        if let Some(count) = u64::try_from(count).ok().filter(|count| *count > 0) {
            self.cards.push(ForgottenPlace { place: PlaceKind::Card, path: Some(source.to_string()), count });
        }
    }

    /// Whether a link in a note leads to the one to forget.
    fn leads_to(&self, note: &Note, source: &MemoryPath, link: &str, syntax: Syntax) -> bool {
        match self.targets.best(link, syntax, Some(source)) {
            Some(path) => *path == note.names.now || Some(path) == note.alias.as_ref(),
            // It leads to a name that the note had.
            None => note.named.best(link, syntax, Some(source)).is_some(),
        }
    }

    pub(super) fn visit(&mut self, spot: &FileEntry, file: Option<&mut dyn Read>, finders: &Finders) -> io::Result<()> {
        if let (Some(_), Some(_), Some(path)) = (&self.note, spot.size, spot.memory_path()) {
            self.targets.insert(path);
        }
        if let (Some(note), Region::Open | Region::Trash) = (&self.note, spot.region)
            && let Some(place) = note.of(spot)
        {
            self.add(place, spot, 1);
            let files = if place == PlaceKind::Note { &mut self.removals } else { &mut self.leftovers };
            files.push(spot.path.clone());
            return Ok(());
        }
        let is_text = matches!(self.sought, Sought::Text(_));
        if is_text && self.sought.is_path(spot.name(), When::Ever) {
            self.add(PlaceKind::Name, spot, 1);
            if matches!(spot.region, Region::Open | Region::Trash) {
                self.blocked.push(spot.path.clone());
            }
        }
        let (Some(file), Some(size)) = (file, spot.size) else { return Ok(()) };
        match spot.region {
            Region::Leftover => self.visit_leftover(spot, file, size, finders),
            Region::Open | Region::Trash if size <= self.limit => self.visit_text(spot, file),
            Region::Open | Region::Trash | Region::Hidden | Region::Foreign | Region::Own => {
                let count = finders.count(file, spot.region)?;
                if count > 0 {
                    self.add(kind_of(spot), spot, count);
                    if is_text && matches!(spot.region, Region::Open | Region::Trash) {
                        self.blocked.push(spot.path.clone());
                    }
                }
                Ok(())
            }
        }
    }

    /// A file that is small enough to be changed.
    fn visit_text(&mut self, spot: &FileEntry, file: &mut dyn Read) -> io::Result<()> {
        let is_note = spot.memory_path().is_some_and(|path| path.is_note());
        let is_markdown = is_note || (spot.region == Region::Trash && spot.name().ends_with(".md"));
        let is_canvas = spot.region == Region::Open && spot.memory_path().is_some_and(|path| path.is_canvas());
        if self.note.is_some() && !is_markdown && !is_canvas {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.take(self.limit).read_to_end(&mut bytes)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            if matches!(self.sought, Sought::Text(_)) && self.sought.is_in(&bytes) {
                self.add(kind_of(spot), spot, 1);
                self.blocked.push(spot.path.clone());
            }
            return Ok(());
        };
        if let (Some(_), true, Some(path)) = (&self.note, is_canvas, spot.memory_path()) {
            // Its cards can be told only once all files are known.
            self.candidates.push(path);
            return Ok(());
        }
        if let (Some(note), Region::Open, Some(path)) = (&self.note, spot.region, spot.memory_path()) {
            self.lines.extend(Mention::at(&path, text, note.spoken.lines(text)));
        }
        let Some(cut) = self.sought.cut(text) else {
            // Where JSON holds it beside its strings, it is told as left.
            if matches!(self.sought, Sought::Text(_)) && self.sought.is_in(&bytes) {
                self.add(kind_of(spot), spot, 1);
            }
            return Ok(());
        };
        if let (Some(_), Region::Open, Some(path)) = (&self.note, spot.region, spot.memory_path()) {
            self.candidates.push(path);
            return Ok(());
        }
        self.add(kind_of(spot), spot, cut.count);
        if spot.is_exact {
            self.edits.push(spot.path.clone())
        } else {
            self.blocked.push(spot.path.clone())
        }
        Ok(())
    }

    /// A file of ours that a process which ended early has left: it goes if it is what the history or the note holds,
    /// or if it holds the text; one that holds an edit of somebody's else stays for whom the recovery keeps it.
    fn visit_leftover(
        &mut self,
        spot: &FileEntry,
        file: &mut dyn Read,
        size: u64,
        finders: &Finders,
    ) -> io::Result<()> {
        let is_known = if spot.name().starts_with(".memdir-0-") {
            true
        } else if self.note.is_none() || size > self.limit {
            finders.count(file, spot.region)? > 0
        } else {
            let mut bytes = Vec::new();
            file.take(self.limit).read_to_end(&mut bytes)?;
            let digest = Digest::of(&bytes);
            let is_note = self.note.as_ref().is_some_and(|note| note.digest == Some(digest));
            is_note || self.traces.digests.contains(&digest) || self.sought.is_in(&bytes)
        };
        if is_known {
            self.add(PlaceKind::File, spot, 1);
            self.leftovers.push(spot.path.clone());
        }
        Ok(())
    }
}

impl Note {
    /// Of which kind a file is, if it is this note, or a copy of it.
    fn of(&self, spot: &FileEntry) -> Option<PlaceKind> {
        if spot.region == Region::Trash {
            let is_same = |called: &Called| called.name.name() == spot.name();
            return (spot.is_exact && spot.size.is_some() && self.names.all.iter().any(is_same))
                .then_some(PlaceKind::Trash);
        }
        let path = spot.memory_path()?;
        if path == self.names.now || Some(&path) == self.alias.as_ref() {
            return Some(PlaceKind::Note);
        }
        let now = &self.names.now;
        let is_copy = path.parent() == now.parent()
            && spot.size.is_some()
            && path.is_note() == now.is_note()
            && path.name().strip_prefix(now.stem()).is_some_and(|rest| rest.starts_with(".sync-conflict-"));
        is_copy.then_some(PlaceKind::File)
    }
}

pub(super) fn kind_of(spot: &FileEntry) -> PlaceKind {
    match spot.region {
        Region::Open if spot.memory_path().is_some_and(|path| path.is_note()) => PlaceKind::Note,
        Region::Trash => PlaceKind::Trash,
        Region::Own | Region::Foreign if spot.path.contains("/sessions/") => PlaceKind::Session,
        Region::Own if spot.name().starts_with("history.sqlite") => PlaceKind::Author,
        Region::Own | Region::Foreign => PlaceKind::State,
        Region::Open | Region::Hidden | Region::Leftover => PlaceKind::File,
    }
}

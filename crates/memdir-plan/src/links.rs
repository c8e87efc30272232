//! The actions that follow links, and what is said of links when they are written.

use std::collections::{BTreeSet, HashSet};

use crate::tree::{Effort, Scan, Scanned, Tree, TreeError};
use crate::{Answer, Planner, words};
use memdir_core::action::{Call, GoToLink, Meaning};
use memdir_core::catalog::shorten;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind, LinkEntry, LinkStatus, Links, Value};
use memdir_note::link::{self, Named};
use memdir_note::target::{MOST_COMPARED, closest_to, name_in};
use memdir_note::words::called;
use memdir_note::{Note, Seen, Syntax, Target, Targets, Web};

/// At most so many names are listed in one sentence.
const MOST_NAMES: usize = 8;

impl<T: Tree> Planner<'_, T> {
    /// Looks into all notes as the batch has left them, and names all other files.
    pub(super) fn scan_notes<R: Send>(
        &self,
        look: impl Fn(&MemoryPath, Result<&[u8], TreeError>) -> R + Sync,
    ) -> Result<Vec<Scanned<R>>, Failure> {
        let wants = |path: &MemoryPath| path.is_note();
        let scan = Scan { folder: None, limit: self.limits.file_bytes, wants: &wants, stop: self.manner.stop };
        Ok(self.overlay.scan(&scan, &look)?)
    }

    /// All files by their names, as the batch has left them.
    pub(super) fn targets(&mut self) -> Result<&Targets, Failure> {
        if self.targets.is_none() {
            let scan = Scan { folder: None, limit: 0, wants: &|_| false, stop: self.manner.stop };
            let files = self.overlay.scan(&scan, &|_, _| ())?;
            self.targets = Some(Targets::new(files.into_iter().map(|file| file.path)));
        }
        Ok(self.targets.get_or_insert_default())
    }

    pub(super) fn go_to_link(&mut self, call: &Call, asked: &GoToLink) -> Result<Answer, Failure> {
        if let Some(path) = self.rooted(call, asked) {
            let (_, _, text) = self.read_text(&path)?;
            let answer = self.text(&path, &text)?;
            return Ok(Answer { path: Some(path), ..answer });
        }
        let named = link::parse(&asked.link);
        let may_show = self.manner.may_show;
        let shown = shorten(&asked.link);
        let targets = self.targets()?;
        let target = targets.resolve(&named.path, named.syntax, asked.source.as_ref());
        // What a link could mean besides is told only where it may be.
        let several: Vec<&MemoryPath> = match &target {
            Target::Several(paths) => paths.iter().copied().filter(|path| may_show(call, path)).collect(),
            Target::File(_) | Target::Nothing => Vec::new(),
        };
        let (path, others) = match (leads_to(&target, &named.path, asked), several.as_slice()) {
            (Some(path), several) if asked.source.is_some() => {
                (path.clone(), names(&several.iter().copied().filter(|other| *other != path).collect::<Vec<_>>()))
            }
            (Some(path), _) => (path.clone(), Vec::new()),
            (None, [one]) => ((*one).clone(), Vec::new()),
            (None, [_, ..]) => return Err(ambiguous(&shown, &several)),
            (None, []) => {
                let called = self.called(call, name_in(&named.path));
                let mut left = MOST_COMPARED;
                let nearest = self.targets()?.nearest(&named.path, called.as_ref(), &mut left);
                let nearest: Vec<MemoryPath> = nearest.into_iter().cloned().collect();
                let nearest: Vec<_> = nearest.iter().filter(|path| self.may_name(call, path)).collect();
                let nearest = closest_to(&named.path, named.syntax, asked.source.as_ref(), &nearest);
                let failure = Failure::new(Code::LinkNotFound, format!("link `{shown}` leads to no note"));
                return Err(match nearest {
                    Some(nearest) => failure.with_hint(format!("the nearest is `[[{nearest}]]`")),
                    None => failure.with_hint("list_files shows what there is"),
                });
            }
        };
        if !others.is_empty() {
            let message = format!("link `{shown}` fits {} too; it leads to the nearest", others.join(", "));
            self.issue("ambiguous_link", call.index, message);
        }
        let (place, image) = self.read_any(&path)?;
        self.see(&place, &image);
        let text = image.content.text().ok_or_else(|| words::not_text(&path))?;
        let answer = self.text(&path, part(&path, text, &named)?)?;
        Ok(Answer { path: Some(path), ..answer })
    }

    /// The note to which a link leads, if it does so without doubt.
    pub(super) fn linked(&mut self, call: &Call, asked: &GoToLink) -> Option<MemoryPath> {
        if let Some(path) = self.rooted(call, asked) {
            return Some(path);
        }
        let named = link::parse(&asked.link);
        let target = self.targets().ok()?.resolve(&named.path, named.syntax, asked.source.as_ref());
        leads_to(&target, &named.path, asked).cloned()
    }

    /// The file whose path from the root a link of mem-agent is, brackets and `.md` or not; whatever signs are in it.
    fn rooted(&self, call: &Call, asked: &GoToLink) -> Option<MemoryPath> {
        let link = Some(&asked.link).filter(|_| call.meaning == Meaning::MemAgent)?;
        let link = link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")).unwrap_or(link);
        let is_file = |path: &MemoryPath| {
            let stat = self.resolve(path).ok().and_then(|path| self.overlay.stat(&path).ok().flatten());
            stat.is_some_and(|stat| stat.kind == Kind::File)
        };
        let names =
            if link.ends_with(".md") { vec![link.to_owned()] } else { vec![format!("{link}.md"), link.to_owned()] };
        names.into_iter().filter_map(|name| MemoryPath::parse(&name).ok()).find(is_file)
    }

    /// The first note with this file name, title or alias that may be told of. Errors are ignored, because the result is only used in hints.
    pub(super) fn called(&self, call: &Call, name: &str) -> Option<MemoryPath> {
        self.all_called(call, name).ok()?.into_iter().next()
    }

    /// All notes with this file name, title or alias that may be told of, sorted.
    pub(super) fn all_called(&self, call: &Call, name: &str) -> Result<Vec<MemoryPath>, Failure> {
        let name = called(name);
        let mut found = Vec::new();
        if name.is_empty() {
            return Ok(found);
        }
        let is_answered = self.consult(call, Effort::Refresh, &mut |source| {
            // It may be asked once more, where the index was brought up to date meanwhile.
            found.clear();
            for note in source.called(&name, usize::MAX)? {
                found.extend(source.path(note)?);
            }
            Ok(())
        })?;
        if !is_answered {
            let is_called = |note: &Note<'_>| note.title().iter().chain(&note.aliases()).any(|one| called(one) == name);
            let look = |path: &MemoryPath, bytes: &[u8]| {
                called(path.stem()) == name
                    || std::str::from_utf8(bytes).is_ok_and(|text| is_called(&Note::parse(text)))
            };
            let files = self.scan_notes(|path, bytes| bytes.is_ok_and(|bytes| look(path, bytes)))?;
            let named = files.into_iter().filter(|file| !file.is_link && file.seen == Some(true));
            found.extend(named.map(|file| file.path));
        }
        found.retain(|path| (self.manner.may_show)(call, path));
        found.sort_unstable();
        Ok(found)
    }

    pub(super) fn get_links(&self, call: &Call, asked: &MemoryPath) -> Result<Answer, Failure> {
        let (path, _) = self.expect_file(asked)?;
        let links = self.web(call, &path)?.links_of(&path);
        Ok(Value::Links(self.shown(call, asked, &path, links)).into())
    }

    pub(super) fn get_backlinks(&self, call: &Call, asked: &MemoryPath) -> Result<Answer, Failure> {
        let (path, _) = self.expect_file(asked)?;
        let links = self.web(call, &path)?.links_to(&path);
        Ok(Value::Links(self.shown(call, asked, &path, links)).into())
    }

    /// Files enough to tell the links of a note both ways: those that an index names, else all.
    fn web(&self, call: &Call, note: &MemoryPath) -> Result<Web, Failure> {
        let mut around = None;
        let is_answered = self.consult(call, Effort::Fill, &mut |source| {
            around = source.around(note)?;
            Ok(())
        })?;
        if let Some(files) = around.filter(|_| is_answered) {
            return Ok(Web::new(files));
        }
        let files =
            self.scan_notes(|_, bytes| bytes.ok().and_then(|bytes| std::str::from_utf8(bytes).ok()).map(Seen::of))?;
        Ok(Web::new(files.into_iter().map(|file| (file.path, file.seen.flatten())).collect()))
    }

    /// Leaves out what may not be told, and calls the note by the name that it was asked by.
    fn shown(&self, call: &Call, asked: &MemoryPath, path: &MemoryPath, links: Links) -> Links {
        let may = |other: &MemoryPath| other == path || self.may_name(call, other);
        let Links { mut links, mut backlinks } = links;
        // What is a link only where its file is there would tell that it is.
        let may_lead = |link: &LinkEntry| link.is_sure || link.resolved.as_ref().is_none_or(may);
        links.retain(|link| may(&link.source) && may_lead(link));
        for link in &mut links {
            if link.resolved.as_ref().is_some_and(|target| !may(target)) {
                link.resolved = None;
                link.status = LinkStatus::BrokenFile;
            }
            link.nearest = link.nearest.take().filter(|nearest| may(nearest));
            if link.source == *path {
                link.source = asked.clone();
            }
        }
        let mut sources = backlinks.remove(path).unwrap_or_default();
        sources.retain(|source| may(source));
        Links { links, backlinks: [(asked.clone(), sources)].into() }
    }

    /// Finds which links that a text brings could mean several notes; `before` is what stood there.
    ///
    /// A link to a note of which this batch should have set a fact, and which does not exist, is refused.
    pub(super) fn check_new_links(&mut self, path: &MemoryPath, before: &str, after: &str) -> Result<(), Failure> {
        let count = |text: &str| ["[[", "]("].map(|mark| memchr::memmem::find_iter(text.as_bytes(), mark).count());
        let is_more = count(before).iter().zip(count(after)).any(|(before, after)| *before < after);
        if !path.is_note() || !is_more {
            return Ok(());
        }
        let paths = |text| Note::parse(text).links().into_iter().map(|link| (link.path, link.syntax));
        let old: HashSet<(String, Syntax)> = paths(before).collect();
        let new: BTreeSet<_> = paths(after).filter(|link| !link.0.is_empty() && !old.contains(link)).collect();
        let (mut unclear, mut broken) = (Vec::new(), Vec::new());
        let targets = if new.is_empty() { return Ok(()) } else { self.targets()? };
        for (link, syntax) in new {
            match targets.resolve(&link, syntax, Some(path)) {
                Target::Several(paths) => unclear.push((link, paths.into_iter().cloned().collect())),
                Target::Nothing => broken.push((link, syntax)),
                Target::File(_) => {}
            }
        }
        if let Some(unmade) = broken.iter().find_map(|(link, syntax)| self.unmade.best(link, *syntax, Some(path))) {
            let message = format!("there is no note `{unmade}` to link to: its `set_fact` failed");
            return Err(Failure::new(Code::LinkNotFound, message).with_hint("make it with `create_file` first"));
        }
        self.unclear.append(&mut unclear);
        self.dangling.extend(broken.into_iter().map(|(link, syntax)| (path.clone(), link, syntax)));
        Ok(())
    }

    /// The notes to which the batch has written a link that would lead to a note at `missing`, if there were one.
    pub(super) fn dangling_to(&self, missing: &MemoryPath) -> BTreeSet<&MemoryPath> {
        let there = Targets::new([missing.clone()]);
        let leads =
            |(source, link, syntax): &&(MemoryPath, String, Syntax)| there.best(link, *syntax, Some(source)).is_some();
        self.dangling.iter().filter(leads).map(|(source, ..)| source).collect()
    }

    /// Says which of the links that a call wrote could mean several notes, as far as it may be told of those.
    pub(super) fn tell_unclear_links(&mut self, call: &Call) {
        for (link, mut paths) in std::mem::take(&mut self.unclear) {
            paths.retain(|path| self.may_name(call, path));
            if paths.len() > 1 {
                let (link, fits) = (shorten(&link), names(&paths.iter().collect::<Vec<_>>()).join(", "));
                self.issue(
                    "ambiguous_link",
                    call.index,
                    format!("link `[[{link}]]` fits {fits}; write the whole path"),
                );
            }
        }
    }
}

/// Of the files that a link can mean the one to which it leads: the nearest to its source, or the one it names in full.
fn leads_to<'t>(target: &Target<'t>, link: &str, asked: &GoToLink) -> Option<&'t MemoryPath> {
    match target {
        Target::File(path) => Some(path),
        Target::Several(paths) => {
            paths.first().copied().filter(|first| asked.source.is_some() || is_whole(first, link))
        }
        Target::Nothing => None,
    }
}

/// Whether a link names all of a path, with or without `.md`.
fn is_whole(path: &MemoryPath, link: &str) -> bool {
    let link = link.trim().trim_start_matches('/');
    path.as_str() == link || path.as_str().strip_suffix(".md") == Some(link)
}

fn names(paths: &[&MemoryPath]) -> Vec<String> {
    paths.iter().take(MOST_NAMES).map(|path| format!("`{path}`")).collect()
}

fn ambiguous(link: &str, paths: &[&MemoryPath]) -> Failure {
    let several: Vec<_> = paths.iter().take(MOST_NAMES).map(|path| format!("`[[{path}]]`")).collect();
    let message = format!("link `{link}` fits {}", words::count(paths.len(), "note"));
    Failure::new(Code::AmbiguousLink, message).with_hint(format!("send one of {}", several.join(", ")))
}

/// The part of a note that a link names: all of it, a section with its heading, or a block.
fn part<'t>(path: &MemoryPath, text: &'t str, link: &Named) -> Result<&'t str, Failure> {
    let place = link.subpath.trim_start_matches('#').trim();
    if place.is_empty() || !path.is_note() {
        return Ok(text);
    }
    let note = Note::parse(text);
    if let Some(id) = place.strip_prefix('^') {
        let range = note.block(id).ok_or_else(|| {
            let message = format!("note `{}` has no block `^{}`", words::shown(path), shorten(id));
            Failure::new(Code::LinkNotFound, message).with_hint("read_file shows the note")
        })?;
        return Ok(text.get(range).unwrap_or_default());
    }
    let at = note.led_to(place, link.syntax).ok_or_else(|| super::section::no_heading(path, &note, place))?;
    let start = note.headings().get(at).map_or(0, |heading| heading.span.start);
    Ok(text.get(start..note.section(at).end).unwrap_or_default())
}

//! What a rename does to the links of the memory, and to its canvases: each goes on leading to the file that it led to.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::overlay::{Overlay, Trouble};
use crate::step::{Content, Image};
use crate::tree::{Effort, Scan, Scanned, Tree};
use crate::{Planner, words};
use memdir_core::action::Call;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind};
use memdir_note::link::{Style, may_stand_in};
use memdir_note::relink::{Before, relative};
use memdir_note::target::{hidden, joined_to, outside, stem_of, stems_meant};
use memdir_note::{Canvas, Link, Note, PlaceKind, Syntax, Target, Targets};
use memdir_rank::called;

/// A note or a canvas whose links have to be written anew.
pub(super) struct Edit {
    /// Where it is after the rename.
    pub(super) path: MemoryPath,
    pub(super) now: Image,
    pub(super) after: Image,
}

/// The notes that a rename has to look into.
struct Candidates {
    notes: HashSet<MemoryPath>,
    /// How many notes could not be looked into, in all.
    unread: usize,
}

/// A folder of files with more different names than this is not looked up in an index: to read all notes is as quick.
const MOST_NAMES: usize = 500;

/// The names before and after a rename of all files that a link which was looked at can mean.
struct Renamed<'a> {
    from: &'a MemoryPath,
    to: &'a MemoryPath,
    files: Files,
    /// Whether something other than these files is at a path: a folder, or what is behind a link.
    is_there: &'a dyn Fn(&MemoryPath) -> bool,
}

/// The files that links can mean, before and after.
#[derive(Clone)]
struct Files {
    before: Targets,
    after: Targets,
}

/// What has to be written anew of a link that does not lead where it led.
#[derive(Clone)]
enum Left {
    /// All of its path: it leads to what is not looked at.
    Unseen(String),
    Led(Led),
}

/// Where a link led.
#[derive(Clone)]
struct Led {
    target: MemoryPath,
    /// By joining its path to the folder of its note.
    is_joined: bool,
}

/// The paths in the links of a note or a canvas, and by which rules each is followed.
type Paths = Vec<(String, Syntax)>;

/// A part of a text, and what has to stand there.
type Splice = (Range<usize>, String);

/// How many canvases are named of those that could not be looked into.
const MOST_NAMED: usize = 3;

impl<T: Tree> Planner<'_, T> {
    /// Finds the links that lead elsewhere, or no longer to one file alone, once `from` is called `to`, and writes
    /// them anew. Nothing of it is done yet.
    ///
    /// Where that is in a note that the call may not come to, the rename is refused: neither may the link break, nor the
    /// note be shown in what the batch changed.
    pub(super) fn relinked(&mut self, call: &Call, from: &MemoryPath, to: &MemoryPath) -> Result<Vec<Edit>, Failure> {
        let candidates = self.candidates(call, from, to)?;
        let wants = |path: &MemoryPath| match &candidates {
            // No index knows what is on a canvas; there are few.
            _ if path.is_canvas() => true,
            Some(Candidates { notes, .. }) => notes.contains(path),
            None => path.is_note(),
        };
        let scan = Scan { folder: None, limit: self.limits.file_bytes, wants: &wants, stop: self.manner.stop };
        let look = |path: &MemoryPath, bytes: Result<&[u8], _>| paths_of(path, bytes.ok()?);
        let files = self.overlay.scan(&scan, &look)?;
        let is_there = |path: &MemoryPath| matches!(self.overlay.stat(path), Ok(Some(_)));
        let renamed = Renamed::new(from, to, &files, &is_there);
        let mut edits = Vec::new();
        // What a linked name holds is read under its own.
        let unread = files.iter().filter(|file| !file.is_link && matches!(file.seen, Some(None)));
        let unread = unread.map(|file| file.path.clone());
        let (canvases, unread): (Vec<MemoryPath>, Vec<MemoryPath>) = unread.partition(MemoryPath::is_canvas);
        let unread = candidates.map_or(unread.len(), |candidates| candidates.unread);
        for file in files.into_iter().filter(|file| !file.is_link) {
            let (path, seen) = (file.path, file.seen);
            let links = seen.flatten().unwrap_or_default();
            if links.iter().any(|(link, syntax)| renamed.is_left_behind(link, *syntax, &path)) {
                if !(self.manner.may_change)(call, &path) {
                    self.kept_from = Some(path);
                    let message = format!("links in notes that are out of reach lead to `{}`", words::shown(from));
                    return Err(Failure::new(Code::Denied, message).with_hint("leave it, or ask the user to rename it"));
                }
                let now = self.overlay.read(&path, self.limits.file_bytes)?;
                edits.extend(renamed.edit(&path, now, &|link, syntax| renamed.left_behind(link, syntax, &path))?);
            }
        }
        let notes = edits.iter().filter(|edit| edit.path.is_note());
        self.check_quota(notes.map(|edit| size(&edit.after) - size(&edit.now)).sum())?;
        self.tell_unread(call, unread, canvases);
        self.tell_closed(call, None, "links in", "were not looked at");
        if self.overlay.tree().is_part() {
            edits.extend(self.relinked_for_owner(from, to)?);
        }
        Ok(edits)
    }

    /// Says what could not be looked into, as far as it may be told of.
    fn tell_unread(&mut self, call: &Call, notes: usize, mut canvases: Vec<MemoryPath>) {
        if notes > 0 {
            let message = format!("links in {} were not looked at: too large, or no text", words::count(notes, "note"));
            self.issue("notes_skipped", call.index, message);
        }
        canvases.retain(|path| (self.manner.may_show)(call, path));
        if !canvases.is_empty() {
            let names: Vec<_> = canvases.iter().take(MOST_NAMED).map(|path| format!("`{path}`")).collect();
            let more = if canvases.len() > MOST_NAMED { " and others" } else { "" };
            let message = format!("{}{more} were not looked at: too large, or no canvas", names.join(", "));
            self.issue("notes_skipped", call.index, message);
        }
    }

    /// The notes whose links a rename may make lead elsewhere, as an index knows them; `None` where there is none.
    ///
    /// What a link means depends on nothing but its own path, the folder of its note, and the files of the name that it asks
    /// for. So these are the notes that move, and those with links that ask for the name of a file that moves, old or new.
    fn candidates(&self, call: &Call, from: &MemoryPath, to: &MemoryPath) -> Result<Option<Candidates>, Failure> {
        let stat = self.overlay.stat(from)?;
        let mut moved = vec![from.clone()];
        if stat.is_some_and(|stat| stat.kind == Kind::Directory) {
            let scan = Scan { folder: Some(from), limit: 0, wants: &|_| false, stop: self.manner.stop };
            let below = self.overlay.scan(&scan, &|_, _| ())?;
            moved = below.into_iter().map(|file| file.path).collect();
        }
        // What is below a folder keeps its names; a link of Markdown may mean the folder, or one below it.
        let folders = moved.iter().flat_map(MemoryPath::ancestors).filter(|folder| folder.is_within(from));
        let folders: BTreeSet<MemoryPath> = folders.collect();
        let all = moved.iter().chain(&folders).chain([from, to]);
        let names: BTreeSet<String> = all.map(|file| called(&stem_of(file))).collect();
        if names.len() > MOST_NAMES {
            return Ok(None);
        }
        let mut candidates = None;
        let altered = self.consult_before(call, Effort::Refresh, &mut |source| {
            let mut notes: HashSet<MemoryPath> = moved.iter().filter(|path| path.is_note()).cloned().collect();
            for name in &names {
                for note in source.linking(name, usize::MAX)? {
                    notes.extend(source.path(note)?);
                }
            }
            candidates = Some(Candidates { notes, unread: source.unread(None)? });
            Ok(())
        })?;
        // What the batch wrote is looked into, whatever links it has.
        Ok(altered.zip(candidates).map(|(altered, mut candidates)| {
            candidates.notes.extend(altered.into_iter().filter(MemoryPath::is_note));
            candidates
        }))
    }

    /// As [`Planner::relinked`], in the notes that whoever renames does not see. Their links are the owner's, who wants them
    /// to lead on; what cannot be read or written anew stays as it is, since nobody may be told of it here.
    fn relinked_for_owner(&self, from: &MemoryPath, to: &MemoryPath) -> Result<Vec<Edit>, Failure> {
        let whole = self.overlay.whole();
        let limit = self.limits.file_bytes;
        let wants = |path: &MemoryPath| path.is_note() || path.is_canvas();
        let scan = Scan { folder: None, limit, wants: &wants, stop: self.manner.stop };
        let files = whole.scan(&scan, &|path, bytes: Result<&[u8], _>| paths_of(path, bytes.ok()?));
        let files = files?;
        let is_there = |path: &MemoryPath| matches!(whole.stat(path), Ok(Some(_)));
        let renamed = Renamed::new(from, to, &files, &is_there);
        let is_hidden = |path: &MemoryPath| !self.overlay.tree().shows(path);
        let mut edits = Vec::new();
        for file in files.iter().filter(|file| !file.is_link && is_hidden(&file.path)) {
            let mut links = file.seen.iter().flatten().flatten();
            if links.any(|(link, syntax)| renamed.is_left_behind(link, *syntax, &file.path))
                && let Ok(now) = whole.read(&file.path, limit)
            {
                let left = |link: &str, syntax| renamed.left_behind(link, syntax, &file.path);
                edits.extend(renamed.edit(&file.path, now, &left).ok().flatten());
            }
        }
        Ok(edits)
    }
}

/// What has to be written anew, by the paths of links.
type LeftLinks = HashMap<(String, Syntax), Left>;

/// What tells which links were written since a batch.
pub struct LaterLinks<'l> {
    /// Whether a note says something else than right after the batch.
    pub changed: &'l dyn Fn(&MemoryPath) -> bool,
    /// What a note said right after the batch, where that is known.
    pub said: &'l dyn Fn(&MemoryPath) -> Option<String>,
}

/// The links that lead to `from` or into it, or stand in it, in notes that were changed since it got that name. They are looked for before
/// it is called `to` again, and [`Later::mend`]ed after that.
pub(super) struct Later {
    files: Files,
    from: MemoryPath,
    to: MemoryPath,
    /// The notes with such links, by their names before, and what becomes of each.
    left: Vec<(MemoryPath, LeftLinks)>,
}

impl Later {
    pub(super) fn look<T: Tree>(
        overlay: &Overlay<'_, T>,
        (from, to): (&MemoryPath, &MemoryPath),
        limit: u64,
        later: &LaterLinks<'_>,
    ) -> Result<Self, Trouble> {
        let scan = Scan { folder: None, limit, wants: &MemoryPath::is_note, stop: &|| false };
        let files = overlay.scan(&scan, &|path, bytes: Result<&[u8], _>| paths_of(path, bytes.ok()?))?;
        let is_there = |path: &MemoryPath| matches!(overlay.stat(path), Ok(Some(_)));
        let renamed = Renamed::new(from, to, &files, &is_there);
        let mut left = Vec::new();
        for file in files.iter().filter(|file| !file.is_link) {
            let links = file.seen.iter().flatten().flatten();
            let links = links.filter_map(|(link, syntax)| {
                Some(((link.clone(), *syntax), renamed.left_behind(link, *syntax, &file.path)?))
            });
            let mut links: LeftLinks = links.collect();
            if !links.is_empty() && (later.changed)(&file.path) {
                let said = (later.said)(&file.path).and_then(|text| paths_of(&file.path, text.as_bytes()));
                said.into_iter().flatten().for_each(|link| drop(links.remove(&link)));
                left.push((file.path.clone(), links));
            }
        }
        Ok(Self { files: renamed.files, from: from.clone(), to: to.clone(), left })
    }

    /// Writes those anew that are still there. What cannot be written anew stays.
    pub(super) fn mend<T: Tree>(self, overlay: &mut Overlay<'_, T>, limit: u64) {
        let Self { files, from, to, left } = self;
        let renamed = Renamed { from: &from, to: &to, files, is_there: &|_| false };
        for (source, links) in left {
            let Ok(now) = overlay.read(&renamed.called(&source), limit) else { continue };
            let left = |link: &str, syntax: Syntax| links.get(&(link.to_owned(), syntax)).cloned();
            if let Ok(Some(edit)) = renamed.edit(&source, now, &left) {
                overlay.put(edit.path, Some(edit.now), Some(edit.after));
            }
        }
    }
}

fn size(image: &Image) -> i128 {
    image.content.bytes().len() as i128
}

/// What is linked to in a note or on a canvas; `None` where it is none.
fn paths_of(path: &MemoryPath, bytes: &[u8]) -> Option<Paths> {
    let text = std::str::from_utf8(bytes).ok()?;
    let links: HashSet<_> = if path.is_canvas() {
        Canvas::parse(text).ok()?.seen().links.into_iter().map(|link| (link.path, link.syntax)).collect()
    } else {
        let links = if may_stand_in(text) { Note::parse(text).links() } else { Vec::new() };
        links.into_iter().map(|link| (link.path, link.syntax)).collect()
    };
    Some(links.into_iter().filter(|(path, _)| !path.is_empty()).collect())
}

impl<'a> Renamed<'a> {
    fn new(
        from: &'a MemoryPath,
        to: &'a MemoryPath,
        files: &[Scanned<Option<Paths>>],
        is_there: &'a dyn Fn(&MemoryPath) -> bool,
    ) -> Self {
        let called = |path: &MemoryPath| path.rebased(from, to).unwrap_or_else(|| path.clone());
        // Where a link leads depends on nothing but the files of the name that it asks for; few links are looked at in a large memory.
        let mut asked = HashSet::new();
        for file in files {
            let moved = file.path.rebased(from, to);
            for source in [Some(&file.path), moved.as_ref()].into_iter().flatten() {
                let links = file.seen.iter().flatten().flatten();
                asked.extend(links.flat_map(|(link, _)| stems_meant(link, source)));
            }
        }
        for file in [from, to] {
            // A link to `ada.md.md` may leave out its ending.
            asked.extend([file.name(), file.stem()].into_iter().flat_map(|name| stems_meant(name, file)));
        }
        let is_asked = |path: &MemoryPath| asked.contains(&stem_of(path));
        let files = files.iter().map(|file| (&file.path, called(&file.path)));
        let (mut before, mut after) = (Targets::default(), Targets::default());
        for (path, now) in files.filter(|(path, now)| is_asked(path) || is_asked(now)) {
            before.insert(path.clone());
            after.insert(now);
        }
        Self { from, to, files: Files { before, after }, is_there }
    }

    fn called(&self, path: &MemoryPath) -> MemoryPath {
        path.rebased(self.from, self.to).unwrap_or_else(|| path.clone())
    }

    /// Where a link leads, under its old name, if the link as it stands would not do so any more, or no longer without
    /// doubt.
    fn leads_elsewhere(&self, link: &str, syntax: Syntax, source: &MemoryPath) -> Option<Led> {
        let called = self.called(source);
        let joined = match syntax {
            Syntax::Wiki | Syntax::Root => None,
            Syntax::Markdown | Syntax::Unsure => self.joined(link, syntax, source),
        };
        if let Some(target) = joined {
            let wanted = self.called(&target);
            let is_said = |place: Option<String>, path: &MemoryPath| place.as_deref() == Some(path.as_str());
            let is_right = if is_said(joined_to(source.parent().as_ref(), link), &target) {
                is_said(joined_to(called.parent().as_ref(), link), &wanted)
            } else {
                self.files.after.beside(link, Some(&called)) == Some(&wanted)
            };
            return (!is_right).then_some(Led { target, is_joined: true });
        }
        let before = self.files.before.resolve(link, syntax, Some(source));
        let target = before.best()?;
        let now = self.files.after.resolve(link, syntax, Some(&called));
        let is_right = now.best() == Some(&self.called(target));
        let was_clear = matches!(before, Target::File(_));
        let is_clear = matches!(now, Target::File(_));
        (!is_right || (was_clear && !is_clear)).then(|| Led { target: target.clone(), is_joined: false })
    }

    /// Whether a link has to be written anew.
    fn is_left_behind(&self, link: &str, syntax: Syntax, source: &MemoryPath) -> bool {
        self.left_behind(link, syntax, source).is_some()
    }

    /// What has to be written anew of a link.
    fn left_behind(&self, link: &str, syntax: Syntax, source: &MemoryPath) -> Option<Left> {
        let unseen = self.unseen(link, syntax, source).map(Left::Unseen);
        unseen.or_else(|| self.leads_elsewhere(link, syntax, source).map(Left::Led))
    }

    /// The path of a link of Markdown to what is not looked at, out of the memory or by a hidden name, where its note comes to stand
    /// elsewhere.
    fn unseen(&self, link: &str, syntax: Syntax, source: &MemoryPath) -> Option<String> {
        let called = self.called(source);
        if syntax != Syntax::Markdown || called == *source {
            return None;
        }
        let (folder, new_folder) = (source.parent(), called.parent());
        if let Some(place) = hidden(folder.as_ref(), link) {
            // What is hidden in a folder moves with it.
            let below = place.strip_prefix(self.from.as_str()).filter(|rest| rest.starts_with('/'));
            let target = below.map_or_else(|| place.clone(), |rest| format!("{}{rest}", self.to));
            let slash = if link.ends_with('/') { "/" } else { "" };
            let is_right = joined_to(new_folder.as_ref(), link).as_deref() == Some(target.as_str());
            return (!is_right).then(|| relative(&called, &target, "") + slash);
        }
        let (before, after) = (source.components().count(), called.components().count());
        if before == after {
            return None;
        }
        Some("../".repeat(after - 1) + &outside(folder.as_ref(), link)?)
    }

    /// Where a link of Markdown leads by joining its path to the folder of its note.
    fn joined(&self, link: &str, syntax: Syntax, source: &MemoryPath) -> Option<MemoryPath> {
        if let Some(target) = self.files.before.beside(link, Some(source)) {
            return Some(target.clone());
        }
        let place = joined_to(source.parent().as_ref(), link)?;
        let place = MemoryPath::parse(&place).ok().filter(|path| path.as_str() == place)?;
        // Where neither moves, nothing has to be known of it; nor where a note is meant.
        let moves = |path: &MemoryPath| path.is_within(self.from);
        let is_note = || self.files.before.best(link, syntax, Some(source)).is_some();
        // A path with a slash at its end is that of a folder.
        let place = Some(place).filter(|place| !link.ends_with('/') || !place.is_note());
        place.filter(|place| (moves(source) || moves(place)) && !is_note() && (self.is_there)(place))
    }

    /// Writes the links of a note or a canvas anew, which is still called `path`, as `left` says of each.
    fn edit(
        &self,
        path: &MemoryPath,
        now: Image,
        left: &dyn Fn(&str, Syntax) -> Option<Left>,
    ) -> Result<Option<Edit>, Failure> {
        let Some(text) = now.content.text() else { return Ok(None) };
        let splices =
            if path.is_canvas() { self.on_canvas(path, text, left)? } else { self.in_text(path, text, left)? };
        if splices.is_empty() {
            return Ok(None);
        }
        let mut after = String::with_capacity(text.len() + 64);
        let mut done = 0;
        for (place, new) in splices {
            let Some(between) = text.get(done..place.start) else { continue };
            after.push_str(between);
            after.push_str(&new);
            done = place.end;
        }
        after.push_str(text.get(done..).unwrap_or_default());
        let after = Image { content: Content::new(after.into_bytes()), mode: now.mode };
        Ok(Some(Edit { path: self.called(path), now, after }))
    }

    /// What has to stand on a canvas, which is still called `path`.
    fn on_canvas(
        &self,
        path: &MemoryPath,
        text: &str,
        left: &dyn Fn(&str, Syntax) -> Option<Left>,
    ) -> Result<Vec<Splice>, Failure> {
        let mut splices = Vec::new();
        let Ok(canvas) = Canvas::parse(text) else { return Ok(splices) };
        for place in &canvas.places {
            let new = match place.kind {
                PlaceKind::Text => self.in_text(path, place.says(), left)?,
                PlaceKind::Card(_) | PlaceKind::Background if place.says().is_empty() => continue,
                PlaceKind::Card(_) | PlaceKind::Background => {
                    let led = match left(place.says(), Syntax::Root) {
                        Some(Left::Led(led)) => Some((0..place.says().len(), self.called(&led.target).to_string())),
                        Some(Left::Unseen(_)) | None => None,
                    };
                    led.into_iter().collect()
                }
            };
            splices.extend(new.into_iter().map(|(said, new)| (place.range(said), canvas.encode(&new))));
        }
        splices.sort_by_key(|(place, _)| place.start);
        Ok(splices)
    }

    /// What has to stand in the places of links in a text of Markdown, in their order.
    fn in_text(
        &self,
        path: &MemoryPath,
        text: &str,
        left: &dyn Fn(&str, Syntax) -> Option<Left>,
    ) -> Result<Vec<Splice>, Failure> {
        let mut links = Note::parse(text).links();
        // A picture can stand in the text of a link.
        links.sort_by_key(|link| link.target.start);
        // A note may hold one link many times.
        let mut elsewhere: HashMap<(&str, Syntax), Option<Left>> = HashMap::new();
        let mut written: HashMap<(&str, Syntax, Style), String> = HashMap::new();
        let mut splices = Vec::new();
        for link in links.iter().filter(|link| !link.path.is_empty()) {
            let old = text.get(link.target.clone()).unwrap_or_default();
            let left = elsewhere.entry((&link.path, link.syntax)).or_insert_with(|| left(&link.path, link.syntax));
            let led = match left {
                Some(Left::Led(led)) => led,
                Some(Left::Unseen(path)) => {
                    splices.extend(link.encode(old, path).map(|new| (link.target.clone(), new)));
                    continue;
                }
                None => continue,
            };
            let new = match written.entry((old, link.syntax, link.style)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(self.written(link, old, path, led)?),
            };
            splices.push((link.target.clone(), new.clone()));
        }
        Ok(splices)
    }

    fn written(&self, link: &Link, old: &str, source: &MemoryPath, led: &Led) -> Result<String, Failure> {
        let Led { target, is_joined } = led;
        let before = Before { path: &link.path, syntax: link.syntax, is_joined: *is_joined, target };
        let (source, target) = (self.called(source), self.called(target));
        let path = self.files.after.relink(before, &source, &target);
        let written = path.and_then(|path| link.encode(old, &path));
        written.ok_or_else(|| {
            let message = format!("a link in `{}` cannot say `{}`", words::shown(&source), words::shown(&target));
            let hint = format!("send a name such as `{}`", super::name::mended(target.name()));
            Failure::new(Code::InvalidPath, message).with_hint(hint)
        })
    }
}

//! The actions that make or change the text of a note.

use crate::edit::Edited;
use crate::overlay::Missing;
use crate::step::{Content, Image};
use crate::tree::{Tree, TreeError};
use crate::{Answer, DONE, Planner, Trouble, closest, edit, lines, name, needle, words};
use memdir_core::action::{Action, AppendFile, Call, CreateFile, InsertText, Meaning, UpdateFile, WriteFile};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind, Shown};
use memdir_note::{Ending, Note};

/// What is said of a note that the conversation has not seen, or not in this state.
const NOT_AS_KNOWN: &str = "is not as this conversation knows it";

impl<T: Tree> Planner<'_, T> {
    pub(super) fn create_file(&mut self, create: &CreateFile) -> Result<Answer, Failure> {
        let path = self.resolve(&create.path)?;
        match self.overlay.stat(&path)?.map(|stat| stat.kind) {
            Some(Kind::Directory) => return Err(words::is_a_directory(&create.path)),
            Some(Kind::File) => {
                let hint = "use `update_file`, or `write_file` to replace it";
                return Err(words::already_exists(words::noun(&create.path), &create.path, hint));
            }
            None => {}
        }
        self.make_file(&create.path, path, &create.content)
    }

    pub(super) fn write_file(&mut self, call: &Call, write: &WriteFile) -> Result<Answer, Failure> {
        let path = self.resolve(&write.path)?;
        match self.overlay.stat(&path)?.map(|stat| stat.kind) {
            Some(Kind::Directory) => return Err(words::is_a_directory(&write.path)),
            Some(Kind::File) => {}
            None if write.if_digest.is_some() => {
                let message = format!("{} `{}` is gone", words::noun(&write.path), words::shown(&write.path));
                return Err(Failure::new(Code::Conflict, message).with_hint("leave `if_digest` out to make it again"));
            }
            None => return self.make_file(&write.path, path, &write.content),
        }
        self.check_extension(&write.path)?;
        let now = self.overlay.read(&path, self.limits.file_bytes)?;
        let digest = now.content.digest();
        let is_other = write.if_digest.is_some_and(|expected| expected != digest);
        let is_unseen = write.if_digest.is_none()
            && !self.overlay.is_put(&path)
            && self.seen.as_ref().is_some_and(|seen| !seen.knows(&path, &digest));
        if is_other || is_unseen {
            let since = if is_other { "has changed since it was read" } else { NOT_AS_KNOWN };
            return Err(self.conflict(&write.path, &path, &now, since));
        }
        self.replace(call, &write.path, path, now, write.content.clone())
    }

    /// The failure for a note that is not as whoever changes it knows it. It tells what the note holds, which they know from then on.
    fn conflict(&mut self, asked: &MemoryPath, path: &MemoryPath, now: &Image, since: &str) -> Failure {
        let message = format!("{} `{}` {since}", words::noun(asked), words::shown(asked));
        let mut failure = Failure::new(Code::Conflict, message).with_hint("read it again");
        failure.details.digest = Some(now.content.digest());
        failure.details.text = now.content.text().map(str::to_owned);
        self.see(path, now);
        failure
    }

    /// Refuses to take away text that a call does not quote, of a note that has changed since the conversation saw it.
    pub(super) fn check_unchanged(
        &mut self,
        asked: &MemoryPath,
        path: &MemoryPath,
        now: &Image,
    ) -> Result<(), Failure> {
        if self.has_changed_unseen(path, now) { Err(self.conflict(asked, path, now, NOT_AS_KNOWN)) } else { Ok(()) }
    }

    /// Whether a note has changed since the conversation last read or wrote it. What the batch itself has put there is what its
    /// calls expect.
    pub(super) fn has_changed_unseen(&self, path: &MemoryPath, now: &Image) -> bool {
        let Some(seen) = self.seen.as_ref().filter(|_| !self.overlay.is_put(path)) else { return false };
        let digest = now.content.digest();
        let names = [Some(path.clone()), self.overlay.name_before(path)];
        let known: Vec<_> = names.iter().flatten().filter_map(|name| seen.digest(name)).collect();
        !known.is_empty() && !known.contains(&&digest)
    }

    pub(super) fn append_file(&mut self, call: &Call, append: &AppendFile) -> Result<Answer, Failure> {
        let (path, now, text) = self.text_to_edit(&append.path)?;
        let text = added(&append.path, &text, usize::MAX, &append.content)?;
        self.replace(call, &append.path, path, now, text)
    }

    pub(super) fn insert_text(&mut self, call: &Call, insert: &InsertText) -> Result<Answer, Failure> {
        let (path, now, text) = self.text_to_edit(&insert.path)?;
        let (line, last) = (insert.line as usize, text.lines().count());
        if line > last {
            let message = format!("`line` is {line}, but the note has {}", words::count(last, "line"));
            let mut failure = words::invalid(call.index, "insert_text", &message)
                .with_hint(format!("send a `line` from 0 to {last}, or use `append_file`"));
            failure.details.note_lines = Some(last);
            return Err(failure);
        }
        // The top is below front matter, which has to come first.
        let front = text.get(..Note::parse(&text).body()).map_or(0, |front| front.lines().count());
        let line = if line == 0 { front } else { line };
        let text = lines::insert(&text, line, &insert.content);
        self.replace(call, &insert.path, path, now, text)
    }

    pub(super) fn update_file(&mut self, call: &Call, update: &UpdateFile) -> Result<Answer, Failure> {
        let UpdateFile { path: asked, old_content: old, new_content: new, occurrence } = update;
        if old.is_empty() {
            return Err(words::invalid(call.index, "update_file", "`old_content` is empty")
                .with_hint("send the text that stands in the note now, or use `append_file`"));
        }
        let (path, now, text) = self.text_to_edit(asked)?;
        if self.meaning == Meaning::MemoryTool {
            return self.update_verbatim(call, update, path, now, &text);
        }
        match edit::update(&text, old, new, *occurrence) {
            Edited::Text { text, loose } => {
                let answer = self.replace(call, asked, path, now, text)?;
                if let Some(message) = loose {
                    self.issue("loose_match", call.index, message);
                }
                Ok(answer)
            }
            Edited::Ambiguous(numbers) => Err(ambiguous(numbers)),
            Edited::NotFound => Err(content_not_found(update, &now, &text)),
        }
    }

    /// Replaces the one place where the text stands as it is: line ends aside, for who sent it saw none of them. The
    /// answer shows where the change is.
    fn update_verbatim(
        &mut self,
        call: &Call,
        update: &UpdateFile,
        path: MemoryPath,
        now: Image,
        text: &str,
    ) -> Result<Answer, Failure> {
        let old = lines::with_end(&update.old_content, lines::own_end(text));
        match edit::update(text, &old, &update.new_content, update.occurrence) {
            Edited::Text { text: edited, loose: None } => {
                let first = needle::exact(text, &old).first().map_or(1, |at| lines::number_at(text, *at));
                let last = first + update.new_content.lines().count().saturating_sub(1);
                let answer = self.replace(call, &update.path, path, now, edited.clone())?;
                Ok(Answer { shown: Some(Shown::Edited { text: edited, lines: [first, last] }), ..answer })
            }
            Edited::Ambiguous(numbers) => Err(ambiguous(numbers)),
            Edited::Text { loose: Some(_), .. } | Edited::NotFound => Err(content_not_found(update, &now, text)),
        }
    }

    /// Reads the text of the note that `asked` names, to change it. A canvas is changed by what shows it alone.
    pub(super) fn text_to_edit(&self, asked: &MemoryPath) -> Result<(MemoryPath, Image, String), Failure> {
        if asked.is_canvas() {
            let message = format!("`{}` is a canvas, and no action edits it", words::shown(asked));
            return Err(Failure::new(Code::UnsupportedFile, message).with_hint("ask the user to change it"));
        }
        self.read_text(asked)
    }

    /// Reads the text of the note that `asked` names.
    pub(super) fn read_text(&self, asked: &MemoryPath) -> Result<(MemoryPath, Image, String), Failure> {
        let (path, image) = self.read_any(asked)?;
        let text = image.content.text().ok_or_else(|| words::not_text(asked))?.to_owned();
        Ok((path, image, text))
    }

    fn check_extension(&self, asked: &MemoryPath) -> Result<(), Failure> {
        if asked.is_note() || self.may_make_others() {
            return Ok(());
        }
        let message = format!("`{}` is not a note: its name does not end in `.md`", words::shown(asked));
        Err(Failure::new(Code::UnsupportedFile, message).with_hint(format!("send `{asked}.md`")))
    }

    /// Whether files may be made that are no notes by their name. The memory tool of Anthropic names files as it likes.
    pub(super) fn may_make_others(&self) -> bool {
        self.limits.other_extensions || self.meaning == Meaning::MemoryTool
    }

    /// Makes a file at a path that is resolved and where nothing is.
    pub(super) fn make_file(&mut self, asked: &MemoryPath, path: MemoryPath, text: &str) -> Result<Answer, Failure> {
        self.check_extension(asked)?;
        self.check_text(asked, text.len(), 0)?;
        self.check_quota(if path.is_note() { text.len() as i128 } else { 0 })?;
        let missing = self.check_new(&path, None)?;
        self.overlay.check_room_for_file(&path)?;
        self.check_new_links(&path, "", text)?;
        if let Some(targets) = &mut self.targets {
            targets.insert(path.clone());
        }
        self.overlay.make(missing);
        self.overlay.put(path, None, Some(Image { content: Content::new(text.as_bytes()), mode: None }));
        Ok(DONE.into())
    }

    pub(super) fn replace(
        &mut self,
        call: &Call,
        asked: &MemoryPath,
        path: MemoryPath,
        now: Image,
        text: String,
    ) -> Result<Answer, Failure> {
        let size = now.content.bytes().len();
        self.check_text(asked, text.len(), size)?;
        self.check_quota(if path.is_note() { text.len() as i128 - size as i128 } else { 0 })?;
        let before = now.content.text().unwrap_or_default();
        let (old, new) = lines::changed(before, &text);
        (self.manner.may_leave)(call, new, old)?;
        self.check_new_links(&path, before, &text)?;
        let after = Image { content: Content::new(text.into_bytes()), mode: now.mode };
        self.overlay.put(path, Some(now), Some(after));
        Ok(DONE.into())
    }

    /// Checks the size that a note would have; one that is too large already may shrink.
    fn check_text(&self, asked: &MemoryPath, size: usize, now: usize) -> Result<(), Failure> {
        if size as u64 <= self.limits.note_bytes || size <= now {
            return Ok(());
        }
        let what = format!("the text of `{}`", words::shown(asked));
        Err(words::too_large(&what, size, self.limits.note_bytes).with_hint("split it into several notes"))
    }

    /// Checks the name of something to be made at a path that is resolved, and finds the folders it needs.
    ///
    /// `source` is what will be called so, where it is renamed: it is no twin of itself.
    pub(super) fn check_new(&self, path: &MemoryPath, source: Option<&MemoryPath>) -> Result<Vec<Missing>, Failure> {
        let missing = self.overlay.missing(path.parent()).map_err(|trouble| match trouble {
            Trouble::Tree(TreeError::NotDirectory(folder)) => {
                words::not_a_directory(&folder).with_hint(format!("`{folder}` is a file; use a folder's name"))
            }
            other @ (Trouble::Tree(_) | Trouble::Mixed(_)) => other.into(),
        })?;
        for made in missing.iter().map(Missing::path).chain([path]) {
            name::check_portable(made.name()).map_err(|error| {
                let message = format!("path `{}` {error}", words::shown(path));
                let mended = made.parent().map_or(String::new(), |parent| format!("{parent}/"));
                let hint = format!("send a name such as `{mended}{}`", name::mended(made.name()));
                Failure::new(Code::InvalidPath, message).with_hint(hint)
            })?;
        }
        // Below a folder that is made there are no siblings.
        let first = missing.first().map_or(path, Missing::path);
        self.check_twins(path, first, source)?;
        if source.is_none_or(|source| !self.overlay.is_respelled(source, path)) && !self.overlay.is_free_for_owner(path)
        {
            let message = format!("nothing can be made at `{}`", words::shown(path));
            return Err(Failure::new(Code::UnsupportedFile, message).with_hint("choose another name"));
        }
        Ok(missing)
    }

    fn check_twins(&self, path: &MemoryPath, made: &MemoryPath, source: Option<&MemoryPath>) -> Result<(), Failure> {
        let folder = made.parent();
        let siblings = self.overlay.list(folder.as_ref())?;
        for sibling in &siblings.entries {
            let Some(twin) = name::twin(made.name(), &sibling.name) else { continue };
            let Ok(existing) = MemoryPath::in_folder(folder.as_ref(), &sibling.name) else { continue };
            if source == Some(&existing) {
                continue;
            }
            let how = match twin {
                name::Twin::SameName => "differs only in upper and lower case or in Unicode form from",
                name::Twin::LookAlike => "looks the same as",
            };
            let message = format!("path `{}` {how} `{existing}`, which exists", words::shown(path));
            return Err(Failure::new(Code::InvalidPath, message)
                .with_hint(format!("use `{existing}`, or a name that is clearly another")));
        }
        Ok(())
    }
}

fn content_not_found(update: &UpdateFile, now: &Image, text: &str) -> Failure {
    let found = closest::find(text, &update.old_content, &update.new_content);
    let message = format!("no place in `{}` matches `old_content`", words::shown(&update.path));
    let mut failure = Failure::new(Code::ContentNotFound, message).with_hint(found.hint);
    failure.details.closest = found.closest;
    failure.details.digest = Some(now.content.digest());
    failure.details.action =
        found.old_content.map(|old_content| Action::UpdateFile(UpdateFile { old_content, ..update.clone() }));
    failure
}

/// Adds whole lines after line `after`, as [`lines::insert`] does, so that they are text there: apart from HTML above them.
///
/// # Errors
///
/// `invalid_action` where HTML, code or a comment above them has no end, which would hide them.
pub(super) fn added(asked: &MemoryPath, text: &str, after: usize, content: &str) -> Result<String, Failure> {
    let with_all = || lines::insert(text, after, content);
    if !asked.is_note() || content.trim().is_empty() {
        return Ok(with_all());
    }
    let (above, _) = lines::split_below(text, after);
    match Ending::of(above) {
        // More HTML may go on with what stands above it.
        Ending::Html if !content.starts_with(['\n', '\r']) && !content.trim_start().starts_with('<') => {
            let end = lines::own_end(text).unwrap_or("\n");
            Ok(lines::insert(text, after, &format!("{end}{content}")))
        }
        // What ends it may be added.
        open @ Ending::Open { line } if Ending::of(&lines::insert(above, usize::MAX, content)) == open => {
            let message =
                format!("line {line} of `{}` begins HTML, code or a comment that has no end", words::shown(asked));
            Err(Failure::new(Code::InvalidAction, message)
                .with_hint(format!("what is added below would be a part of it: append the line that ends it, or use insert_text above line {line}")))
        }
        Ending::Html | Ending::Open { .. } | Ending::Text => Ok(with_all()),
    }
}

fn ambiguous(numbers: Vec<usize>) -> Failure {
    let noun = if numbers.len() == 1 { "several times on line" } else { "on lines" };
    let message = format!("`old_content` occurs {noun} {}", words::listed(&numbers));
    words::several_lines(Code::AmbiguousMatch, message, numbers)
        .with_hint("add a line of context, or `\"occurrence\":\"all\"`")
}

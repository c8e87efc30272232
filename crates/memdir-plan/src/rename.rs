//! The actions that move, copy or remove files and folders.

use crate::step::Image;
use crate::tree::{Stat, Tree};
use crate::{Answer, DONE, Planner, words};
use memdir_core::action::{Call, Meaning};
use memdir_core::path::{MemoryPath, is_same_form};
use memdir_core::report::{Code, Failure, Kind};

/// At most so many notes are named that have changed in a folder.
const MOST_NAMES: usize = 8;

impl<T: Tree> Planner<'_, T> {
    pub(super) fn delete_file(&mut self, asked: &MemoryPath) -> Result<Answer, Failure> {
        let (path, _) = self.expect_file(asked)?;
        self.refuse_link(asked, &path)?;
        let now = self.read_resolved(&path)?;
        self.check_unchanged(asked, &path, &now)?;
        self.overlay.put(path, Some(now), None);
        self.targets = None;
        Ok(DONE.into())
    }

    /// A link cannot be taken away by its own name: nothing could bring it back.
    fn refuse_link(&self, asked: &MemoryPath, path: &MemoryPath) -> Result<(), Failure> {
        if self.overlay.is_link(asked, path)? {
            return Err(words::is_a_link(asked, path));
        }
        Ok(())
    }

    /// Where `asked` leads, for something new; a failure where something is.
    fn expect_free(&self, asked: &MemoryPath, source: Option<&MemoryPath>) -> Result<MemoryPath, Failure> {
        let path = self.resolve(asked)?;
        // A name in another Unicode form leads to the source, and is the new one that it is to have.
        let in_form = source.filter(|source| **source == path && is_same_form(source.name(), asked.name()));
        let path = in_form
            .and_then(|source| MemoryPath::in_folder(source.parent().as_ref(), asked.name()).ok())
            .unwrap_or(path);
        let stat = self.overlay.stat(&path)?;
        // Where a system takes `Ada.md` and `ada.md` for one, the source itself answers to the new name.
        let is_source = source.is_some_and(|source| self.overlay.is_respelled(source, &path));
        match stat {
            Some(stat) if !is_source => {
                let noun = if stat.kind == Kind::Directory { "folder" } else { words::noun(asked) };
                Err(words::already_exists(noun, asked, "choose another `new_path`; nothing is replaced"))
            }
            _ => Ok(path),
        }
    }

    pub(super) fn rename_file(&mut self, call: &Call, asked: &MemoryPath, new: &MemoryPath) -> Result<Answer, Failure> {
        let from = self.resolve(asked)?;
        let stat = self.expect(asked, &from, words::noun(asked))?;
        self.refuse_link(asked, &from)?;
        if asked == new && call.meaning != Meaning::MemoryTool {
            return Ok(DONE.into());
        }
        let to = self.expect_free(new, Some(&from))?;
        if stat.kind == Kind::Directory && to.is_within(&from) {
            let message = format!("folder `{}` cannot be moved into itself", words::shown(asked));
            return Err(Failure::new(Code::InvalidPath, message).with_hint("choose a `new_path` outside of it"));
        }
        let missing = self.check_new(&to, Some(&from))?;
        self.check_stays_note(&from, &to, stat.kind)?;
        if stat.kind == Kind::File {
            let bytes = |path: &MemoryPath| if path.is_note() { i128::from(stat.size) } else { 0 };
            self.check_quota(bytes(&to) - bytes(&from))?;
        }
        let by_content = self.overlay.moves_by_content(stat.kind, &from, &to)?;
        let image = if by_content { Some(self.read_resolved(&from)?) } else { None };
        let edits = self.relinked(call, &from, &to)?;
        self.overlay.make(missing);
        match image {
            Some(image) => {
                self.overlay.put(from, Some(image.clone()), None);
                self.overlay.put(to, None, Some(image));
            }
            None => self.overlay.rename(stat.kind, &from, &to, stat.size),
        }
        for edit in edits {
            self.overlay.put(edit.path, Some(edit.now), Some(edit.after));
        }
        self.targets = None;
        Ok(DONE.into())
    }

    /// A note stays a note: else making one and renaming it would make any kind of file.
    fn check_stays_note(&self, from: &MemoryPath, to: &MemoryPath, kind: Kind) -> Result<(), Failure> {
        if kind == Kind::Directory || self.may_make_others() || !from.is_note() || to.is_note() {
            return Ok(());
        }
        let message = format!("`{}` is a note, and `{}` would be none", words::shown(from), words::shown(to));
        Err(Failure::new(Code::UnsupportedFile, message).with_hint(format!("send `\"new_path\":\"{to}.md\"`")))
    }

    fn read_resolved(&self, path: &MemoryPath) -> Result<Image, Failure> {
        Ok(self.overlay.read(path, self.limits.file_bytes)?)
    }

    pub(super) fn copy_file(&mut self, asked: &MemoryPath, new: &MemoryPath) -> Result<Answer, Failure> {
        let (_, image) = self.read_any(asked)?;
        let to = self.expect_free(new, None)?;
        let missing = self.check_new(&to, None)?;
        self.check_stays_note(asked, &to, Kind::File)?;
        self.overlay.check_room_for_file(&to)?;
        self.check_quota(if to.is_note() { image.content.bytes().len() as i128 } else { 0 })?;
        self.overlay.make(missing);
        if let Some(targets) = &mut self.targets {
            targets.insert(to.clone());
        }
        self.overlay.put(to, None, Some(image));
        Ok(DONE.into())
    }

    pub(super) fn create_dir(&mut self, asked: &MemoryPath) -> Result<Answer, Failure> {
        let path = self.resolve(asked)?;
        match self.overlay.stat(&path)?.map(|stat| stat.kind) {
            Some(Kind::Directory) => return Ok(DONE.into()),
            Some(Kind::File) => {
                return Err(words::already_exists(words::noun(asked), asked, "choose another name for the folder"));
            }
            None => {}
        }
        let mut missing = self.check_new(&path, None)?;
        // Its parents are there or on the list, so what is missing beyond them is the folder itself.
        let all = self.overlay.missing(Some(path))?;
        missing.extend(all.into_iter().skip(missing.len()));
        self.overlay.make(missing);
        Ok(DONE.into())
    }

    pub(super) fn delete_dir(&mut self, asked: &MemoryPath, recursive: bool) -> Result<Answer, Failure> {
        let path = self.resolve(asked)?;
        let stat = self.expect(asked, &path, "folder")?;
        if stat.kind == Kind::File {
            return Err(words::not_a_directory(asked).with_hint("use `delete_file`"));
        }
        self.refuse_link(asked, &path)?;
        let below = self.below(asked, &path)?;
        if !below.is_empty() && !recursive {
            let things = words::count(below.len(), "thing");
            return Err(
                not_empty(asked, &format!("holds {things}")).with_hint("send `\"recursive\":true` to delete them too")
            );
        }
        // All of it is held at once, and kept for undo.
        let most = self.limits.file_bytes.saturating_mul(4);
        let size = below.iter().map(|(_, stat)| stat.size).fold(0, u64::saturating_add);
        if size > most {
            let message = format!("folder `{}` holds {size} bytes, more than {most}", words::shown(asked));
            return Err(
                Failure::new(Code::TooLarge, message).with_hint("delete the large files in it one by one first")
            );
        }
        let mut files = Vec::new();
        for (path, _) in below.iter().filter(|(_, stat)| stat.kind == Kind::File) {
            files.push((path.clone(), self.read_resolved(path)?));
        }
        let changed = files.iter().filter(|(path, now)| self.has_changed_unseen(path, now));
        let changed: Vec<_> = changed.map(|(path, _)| format!("`{}`", words::shown(path))).take(MOST_NAMES).collect();
        if !changed.is_empty() {
            let names = changed.join(", ");
            let message = format!("folder `{}` is not as this conversation knows it: {names}", words::shown(asked));
            return Err(Failure::new(Code::Conflict, message).with_hint("read again what has changed in it"));
        }
        for (path, image) in files {
            self.overlay.put(path, Some(image), None);
        }
        let folders = below.into_iter().filter(|(_, stat)| stat.kind == Kind::Directory);
        for (path, stat) in folders.chain([(path, stat)]) {
            self.overlay.remove_folder(path, stat.mode);
        }
        self.targets = None;
        Ok(DONE.into())
    }

    /// Everything below a folder that is to be deleted; a failure when some of it cannot be brought back.
    fn below(&self, asked: &MemoryPath, path: &MemoryPath) -> Result<Vec<(MemoryPath, Stat)>, Failure> {
        let (mut below, mut has_links) = (Vec::new(), false);
        let has_others = self.walk(Some(path), usize::MAX, |path, entry| {
            has_links |= entry.is_link;
            below.push((path.clone(), entry.stat));
        });
        if has_others? || has_links {
            return Err(not_empty(asked, "holds hidden files, links or special files, which cannot be deleted here")
                .with_hint("delete the notes in it one by one, or ask the user to remove the folder"));
        }
        Ok(below)
    }
}

fn not_empty(path: &MemoryPath, why: &str) -> Failure {
    Failure::new(Code::NotEmpty, format!("folder `{}` {why}", words::shown(path)))
}

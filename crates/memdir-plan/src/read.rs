//! The actions that only look.

use std::collections::BTreeMap;

use crate::tree::{Stat, Tree};
use crate::{Answer, Planner, lines, words};
use memdir_core::action::{Call, GetHistory, ListFiles, Meaning, ReadFile};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, DirectoryEntry, Failure, FileInfo, Kind, Shown, TreeEntry, Value};
use memdir_core::time::Timestamp;

/// How many names `list_files` gives unless asked for another number.
const LIST_LIMIT: usize = 1000;
/// How many batches `get_history` gives unless asked for another number.
const HISTORY_LIMIT: usize = 20;

impl<T: Tree> Planner<'_, T> {
    pub(super) fn read_file(&mut self, index: usize, read: &ReadFile) -> Result<Answer, Failure> {
        let (path, image) = self.read_any(&read.path)?;
        self.see(&path, &image);
        let text = image.content.text().ok_or_else(|| words::not_text(&read.path))?;
        let part = match (read.start_line, read.end_line) {
            (None, None) => text,
            (start, end) => {
                let start = start.map_or(1, |line| line as usize);
                let end = end.map_or(usize::MAX, |line| line as usize);
                self.lines(text, start, end).map_err(|message| words::invalid(index, "read_file", &message))?
            }
        };
        self.text(&read.path, part)
    }

    fn lines<'a>(&self, text: &'a str, start: usize, end: usize) -> Result<&'a str, String> {
        let ranges = lines::ranges(text);
        let has = format!("the note has {}", words::count(ranges.len(), "line"));
        if start > end {
            return Err(format!("`start_line` {start} is after `end_line` {end}; {has}"));
        }
        let last = ranges.get(end.min(ranges.len()).saturating_sub(1));
        match ranges.get(start.saturating_sub(1)).zip(last) {
            Some((first, last)) => Ok(text.get(first.start..last.end).unwrap_or_default()),
            None => Err(format!("`start_line` is {start}; {has}")),
        }
    }

    /// Answers a text that is not too long to be sent.
    pub(super) fn text(&self, path: &MemoryPath, text: &str) -> Result<Answer, Failure> {
        if text.len() as u64 > self.limits.note_bytes {
            let what = format!("the text of `{}`", words::shown(path));
            return Err(words::too_large(&what, text.len(), self.limits.note_bytes)
                .with_hint("read it in parts with `start_line` and `end_line`"));
        }
        Ok(Value::Text(text.to_owned()).into())
    }

    pub(super) fn check_exists(&self, path: &MemoryPath, kind: Kind) -> Result<Answer, Failure> {
        let exists = match self.resolve(path).and_then(|path| Ok(self.overlay.stat(&path)?)) {
            Ok(stat) => stat.is_some_and(|stat| stat.kind == kind),
            // A pipe or a device is something, but neither a file nor a folder.
            Err(failure) if failure.code == Code::UnsupportedFile => false,
            Err(failure) => return Err(failure),
        };
        Ok(Value::Bool(exists).into())
    }

    /// Where the folder is that `asked` names; the root for `None`.
    fn expect_folder(&self, asked: Option<&MemoryPath>) -> Result<Option<MemoryPath>, Failure> {
        let Some(asked) = asked else { return Ok(None) };
        let path = self.resolve(asked)?;
        let stat = self.expect(asked, &path, "folder")?;
        if stat.kind == Kind::File { Err(words::not_a_directory(asked)) } else { Ok(Some(path)) }
    }

    pub(super) fn list_files(&self, call: &Call, list: &ListFiles) -> Result<Answer, Failure> {
        let folder = self.expect_folder(list.path.as_ref())?;
        let mut notes = self.notes(folder.as_ref(), usize::MAX)?;
        notes.retain(|note| self.may_name(call, note));
        // Under the name it was asked for, where that is a link.
        if let (Some(asked), Some(folder)) = (&list.path, &folder) {
            for note in &mut notes {
                *note = note.rebased(folder, asked).unwrap_or_else(|| note.clone());
            }
        }
        notes.sort_unstable();
        let total = notes.len();
        if let Some(cursor) = &list.cursor {
            let last = MemoryPath::parse(cursor)
                .ok()
                .filter(|last| last.is_note() && list.path.as_ref().is_none_or(|folder| last.is_within(folder)));
            let invalid = || words::invalid(call.index, "list_files", "`cursor` is none that an answer gave");
            let last = last.ok_or_else(|| invalid().with_hint("leave `cursor` out to start from the first note"))?;
            notes.drain(..notes.partition_point(|note| *note <= last));
        }
        let limit = list.limit.map_or(LIST_LIMIT, |limit| limit as usize);
        let goes_on = notes.len() > limit;
        notes.truncate(limit);
        let cursor = notes.last().filter(|_| goes_on).map(|last| last.as_str().to_owned());
        let total = (notes.len() != total).then_some(total);
        let shown = match call.meaning {
            Meaning::MemAgent => Some(Shown::Tree(self.tree_below(call, folder.as_ref())?)),
            Meaning::Plain | Meaning::WholeLine | Meaning::MemoryTool => None,
        };
        Ok(Answer { total, cursor, shown, ..Value::Paths(notes).into() })
    }

    pub(super) fn list_directory(&self, call: &Call, asked: Option<&MemoryPath>) -> Result<Answer, Failure> {
        let folder = self.expect_folder(asked)?;
        let listing = self.overlay.list(folder.as_ref())?;
        let mut entries = Vec::with_capacity(listing.entries.len());
        for entry in listing.entries {
            let path = MemoryPath::in_folder(folder.as_ref(), &entry.name);
            let may_name =
                |path: &MemoryPath| (self.manner.may_show)(call, path) && self.is_named(path, entry.stat.kind);
            if path.as_ref().is_ok_and(|path| !may_name(path)) {
                continue;
            }
            let size = match path {
                Ok(path) if !entry.is_link => self.size(call, &path, &entry.stat)?,
                _ => entry.stat.size,
            };
            entries.push(DirectoryEntry { name: entry.name, kind: entry.stat.kind, size });
        }
        let shown = match call.meaning {
            Meaning::MemoryTool => Some(Shown::Tree(self.tree_of(call, asked, folder.as_ref())?)),
            Meaning::Plain | Meaning::WholeLine | Meaning::MemAgent => None,
        };
        Ok(Answer { shown, ..Value::Directory(entries).into() })
    }

    /// All that is below a folder, under the name it was asked for, where that is a link.
    fn tree_of(
        &self,
        call: &Call,
        asked: Option<&MemoryPath>,
        folder: Option<&MemoryPath>,
    ) -> Result<Vec<TreeEntry>, Failure> {
        let mut entries = self.tree_below(call, folder)?;
        if let (Some(asked), Some(folder)) = (asked, folder) {
            for entry in &mut entries {
                entry.path = entry.path.rebased(folder, asked).unwrap_or_else(|| entry.path.clone());
            }
        }
        Ok(entries)
    }

    /// All that is below a folder that is resolved, under the names it has there, sorted by path: what the call may be shown.
    ///
    /// The size of a folder is that of the files below it that are shown. Links to folders are shown and not followed.
    pub(super) fn tree_below(&self, call: &Call, folder: Option<&MemoryPath>) -> Result<Vec<TreeEntry>, Failure> {
        let mut entries = BTreeMap::<MemoryPath, TreeEntry>::new();
        let may_show = self.manner.may_show;
        let add = |path: &MemoryPath, entry: &crate::Entry| {
            if may_show(call, path) {
                let size = if entry.stat.kind == Kind::File { entry.stat.size } else { 0 };
                let shown = TreeEntry { path: path.clone(), kind: entry.stat.kind, size };
                entries.insert(path.clone(), shown);
            }
        };
        self.walk(folder, usize::MAX, add)?;
        entries.retain(|path, entry| self.is_named(path, entry.kind));
        let files: Vec<_> = entries.values().filter(|entry| entry.kind == Kind::File).cloned().collect();
        for file in files {
            for above in file.path.ancestors() {
                if let Some(above) = entries.get_mut(&above) {
                    above.size = above.size.saturating_add(file.size);
                }
            }
        }
        Ok(entries.into_values().collect())
    }

    /// Bytes of a file, or of all files below a folder that the call may be shown, at a path that is resolved. Links below it count
    /// nothing.
    fn size(&self, call: &Call, path: &MemoryPath, stat: &Stat) -> Result<u64, Failure> {
        match stat.kind {
            Kind::File => Ok(stat.size),
            Kind::Directory => self.size_below(call, Some(path)),
        }
    }

    fn size_below(&self, call: &Call, folder: Option<&MemoryPath>) -> Result<u64, Failure> {
        // The sum that is kept counts all files.
        let tree = self.overlay.as_it_was().filter(|_| !(self.manner.may_hide)(call));
        if let Some(sum) = tree.and_then(|tree| tree.size_below(folder)) {
            return Ok(sum);
        }
        let mut sum = 0u64;
        let may_show = self.manner.may_show;
        let add = |path: &MemoryPath, entry: &crate::Entry| {
            if entry.stat.kind == Kind::File && !entry.is_link && may_show(call, path) {
                sum = sum.saturating_add(entry.stat.size);
            }
        };
        self.walk(folder, usize::MAX, add)?;
        Ok(sum)
    }

    pub(super) fn get_size(&self, call: &Call, asked: Option<&MemoryPath>) -> Result<Answer, Failure> {
        let size = match asked {
            None => self.size_below(call, None)?,
            Some(asked) => {
                let path = self.resolve(asked)?;
                match self.overlay.stat(&path)? {
                    None => 0,
                    Some(stat) => self.size(call, &path, &stat)?,
                }
            }
        };
        Ok(Value::Bytes(size).into())
    }

    pub(super) fn get_file_info(&self, call: &Call, asked: &MemoryPath) -> Result<Answer, Failure> {
        let path = self.resolve(asked)?;
        let stat = self.expect(asked, &path, words::noun(asked))?;
        let (mut lines, mut digest) = (None, None);
        if stat.kind == Kind::File && stat.size <= self.limits.file_bytes {
            let image = self.overlay.read(&path, self.limits.file_bytes)?;
            lines = image.content.text().map(|text| text.lines().count());
            digest = Some(image.content.digest());
        }
        let size = self.size(call, &path, &stat)?;
        let modified = Timestamp::from_seconds(stat.modified.0).to_string();
        Ok(Value::File(FileInfo { path: asked.clone(), kind: stat.kind, size, lines, modified, digest }).into())
    }

    pub(super) fn get_history(&self, call: &Call, asked: &GetHistory) -> Result<Answer, Failure> {
        let limit = asked.limit.map_or(HISTORY_LIMIT, |limit| limit as usize);
        let path = self.resolve(&asked.path)?;
        let mut log = self.overlay.tree().history(&path, limit).map_err(words::failure)?;
        // A batch may have changed what the call is not told of.
        let may_show = |path: &MemoryPath| self.may_name(call, path);
        for entry in &mut log.entries {
            entry.changed.retain(may_show);
            entry.actions.retain(|action| {
                action.path.as_ref().is_none_or(|path| MemoryPath::parse(path).is_ok_and(|path| may_show(&path)))
            });
        }
        if log.entries.is_empty() && self.overlay.stat(&path)?.is_none() {
            return Err(words::not_found(words::noun(&asked.path), &asked.path));
        }
        Ok(Value::History(log).into())
    }
}

//! Looking things up for the commands that read.

use serde::Serialize;

use super::{Caller, ChangeError, Engine, audit, failure};
use memdir_core::action::{Action, Call, GetFileInfo, ListFiles, ReadFile};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind, Line, Log, Value};
use memdir_dialect::{Entry, Parsed};
use memdir_plan::{self as plan, NoteChange, Scan, Stat, Tree, TreeError};
use memdir_policy::{self as policy, Rules};
use memdir_vault::{AuditEntry, LogQuery, Payload, VaultError};

/// A note of at most so many bytes is read in a moment.
const SMALL: u64 = 64 << 10;

/// One file or folder.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ListedEntry {
    /// Where it is.
    pub path: MemoryPath,
    /// What it is.
    pub kind: Kind,
    /// Bytes of a file; 0 for a folder.
    pub size: u64,
}

/// A page of files and folders.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Listed {
    /// Sorted by path.
    pub entries: Vec<ListedEntry>,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page starts.
    pub cursor: Option<String>,
    /// Folders that nobody lets us list, so that what is in them is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<MemoryPath>,
}

impl Engine {
    /// Reads a note for a person, and gives its digest. The audit notes it.
    ///
    /// # Errors
    ///
    /// Those of `read_file`.
    pub fn read(&self, path: &MemoryPath, caller: &Caller) -> Result<(String, Digest), Failure> {
        // The note can be read whatever is wrong with the history; what is wrong is logged there.
        let _ = self.history_trouble();
        self.read_in(&self.vault, path, caller)
    }

    /// As [`Engine::read`], of a tree.
    pub(super) fn read_in(
        &self,
        tree: &impl Tree,
        path: &MemoryPath,
        caller: &Caller,
    ) -> Result<(String, Digest), Failure> {
        let (started, forgets) = (self.now(), self.vault.forgets());
        let result = text_in(tree, path, self.settings.limits.file_bytes);
        let entry = AuditEntry {
            code: result.as_ref().err().map(|failure| failure.code.to_string()),
            micros: audit::micros(self.now().since(started)),
            ..audit::owner("read_file", Payload::of_read(path))
        };
        if let Err(error) = self.vault.note_reads(vec![entry], &caller.author, started, forgets) {
            tracing::warn!(%error, "the audit of reads was not written");
        }
        result
    }

    /// The text of a note for the program's own work, of which nobody is told more: it leaves no trace in the audit. `None` where
    /// there is none, or nothing that could be shown.
    #[must_use]
    pub fn text_of(&self, path: &MemoryPath) -> Option<String> {
        let path = self.vault.resolve(path).ok()?;
        let image = self.vault.read(&path, self.settings.limits.file_bytes).ok()?;
        image.content.text().map(str::to_owned)
    }

    /// The bytes of a file that is no note, such as a picture, of at most `most_bytes`, for the person to look at. The audit is about
    /// notes, and does not tell of it.
    ///
    /// # Errors
    ///
    /// `not_found`, `is_a_directory`, `outside_memory`, `too_large`, `io`.
    pub fn attachment(&self, path: &MemoryPath, most_bytes: u64) -> Result<Vec<u8>, Failure> {
        let path = self.vault.resolve(path).map_err(plan::failure)?;
        self.vault.read_bytes(&path, most_bytes).map(|(bytes, _)| bytes).map_err(plan::failure)
    }

    /// Whether answering a text takes a moment at most: one call that reads a small note, which is there and which the caller may
    /// know of. What is not there is looked for among all names, and what was once is made from the history.
    #[must_use]
    pub fn is_short(&self, parsed: &Parsed, caller: &Caller) -> bool {
        let [Entry::Call(call)] = parsed.entries.as_slice() else { return false };
        let (Action::ReadFile(ReadFile { path, as_of: None, .. })
        | Action::GetFileInfo(GetFileInfo { path, as_of: None })) = &call.action
        else {
            return false;
        };
        let is_shown = caller.grant.as_deref().is_none_or(|grant| grant.shows(path));
        let is_small = |stat: Stat| stat.kind == Kind::File && stat.size <= SMALL;
        is_shown && self.vault.stat(path).is_ok_and(|stat| stat.is_some_and(is_small))
    }

    /// Whether a folder is at a path.
    #[must_use]
    pub fn is_folder(&self, path: &MemoryPath) -> bool {
        let stat = self.vault.resolve(path).and_then(|place| self.vault.stat(&place));
        stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == Kind::Directory))
    }

    /// Lists all files and folders below a folder; `None` is the root.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_a_directory`, `outside_memory`, `io`.
    pub fn tree(&self, folder: Option<&MemoryPath>, limit: usize, cursor: Option<&str>) -> Result<Listed, Failure> {
        tree_in(&self.vault, folder, limit, cursor)
    }

    /// Reads a page of the log; `with_diff` adds what each batch changed, where its contents are still kept.
    ///
    /// # Errors
    ///
    /// Those of the vault.
    pub fn log(&self, page: &LogQuery, with_diff: bool) -> Result<Log, Failure> {
        self.finish_after_crash();
        let resolved = page.path.as_ref().map(|path| self.vault.resolve(path).unwrap_or_else(|_| path.clone()));
        let page = LogQuery { path: resolved, ..page.clone() };
        let mut log = self.vault.log(&page).map_err(|error| failure(&error))?;
        if with_diff {
            for entry in &mut log.entries {
                let Some(batch) = entry.batch else { continue };
                entry.diff = match self.vault.steps(batch) {
                    Ok(steps) => Some(plan::diff_of(&steps)),
                    Err(VaultError::Pruned(_)) => Some(String::new()),
                    Err(error) => return Err(failure(&error)),
                };
            }
        }
        Ok(log)
    }

    /// What a batch changed, in words for a person; `None` where its contents are no longer kept.
    ///
    /// # Errors
    ///
    /// `not_found`, and those of the vault.
    pub fn changes_of(&self, batch: u64) -> Result<Option<Vec<NoteChange>>, Failure> {
        match self.vault.steps(batch) {
            Ok(steps) => Ok(Some(plan::note_changes(&steps))),
            Err(VaultError::Pruned(_)) => Ok(None),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Tells who wrote each line of a note, and gives its text.
    ///
    /// # Errors
    ///
    /// Those of `read_file`, and those of the vault.
    pub fn lines(&self, path: &MemoryPath) -> Result<(String, Vec<Line>), Failure> {
        self.finish_after_crash();
        let path = &self.vault.resolve(path).map_err(plan::failure)?;
        let content = self.vault.read(path, self.settings.limits.file_bytes).map_err(plan::failure)?.content;
        let text = content.text().ok_or_else(|| plan::not_text(path))?;
        let lines = self.vault.lines(path, &content).map_err(|error| failure(&error))?;
        Ok((text.to_owned(), lines))
    }

    /// What a batch changed: its number, its paths and the diff; without a number, the newest batch.
    ///
    /// # Errors
    ///
    /// `not_found`, `nothing_to_undo` in a memory without batches, `unavailable`.
    pub fn diff(&self, batch: Option<u64>) -> Result<(u64, Vec<MemoryPath>, String), ChangeError> {
        self.finish_after_crash();
        let batch = match batch {
            Some(batch) => batch,
            None => self.vault.newest()?.ok_or_else(|| {
                Failure::new(Code::NotFound, "this memory has no changes yet")
                    .with_hint("only what is changed through memdir is listed")
            })?,
        };
        let steps = self.vault.steps(batch)?;
        Ok((batch, plan::changed(&steps), plan::diff_of(&steps)))
    }

    /// Fails while the settings cannot be read: what may be told of the notes is unknown then.
    ///
    /// # Errors
    ///
    /// `config`.
    pub fn check_settings(&self) -> Result<(), Failure> {
        self.rules().trouble().map_or(Ok(()), Err)
    }

    /// Whether nothing in the words of a request to read a note is against it: neither the grant nor a rule.
    #[must_use]
    pub fn lets_read(&self, caller: &Caller, path: &MemoryPath) -> bool {
        self.lets_send(caller, &reading(path), &self.rules())
    }

    /// Whether somebody may be told what becomes of the note at `path`, whether it is there or not: whoever may read it.
    #[must_use]
    pub fn may_hear_of(&self, caller: &Caller, path: &MemoryPath) -> bool {
        let (call, rules) = (reading(path), self.rules());
        self.lets_send(caller, &call, &rules) && self.may_tell(caller, &call, path, &rules)
    }

    /// Tells of which notes somebody may know that they are there or not: those that `list_files` would name.
    pub fn may_list<'e>(&'e self, caller: &'e Caller) -> impl Fn(&MemoryPath) -> bool + 'e {
        let call = Call::plain(1, Action::ListFiles(ListFiles { path: None, limit: None, cursor: None, as_of: None }));
        let rules = self.rules();
        let lets_send = self.lets_send(caller, &call, &rules);
        move |path| lets_send && self.may_tell(caller, &call, path, &rules)
    }

    /// What somebody would be answered to an action, for the person who wants to see the memory as they do. Nothing is changed, and
    /// the audit notes nothing: they have asked nothing.
    ///
    /// # Errors
    ///
    /// What they would be told.
    pub fn answer_as(&self, caller: &Caller, action: Action) -> Result<Value, Failure> {
        let proposal = self.propose(Parsed::of([Call::plain(1, action)]), caller.clone());
        let outcome = proposal.planned.calls.into_iter().next().map(|call| call.outcome.result);
        outcome.unwrap_or_else(|| Err(Failure::new(Code::Internal, "the call was not answered")))
    }

    fn lets_send(&self, caller: &Caller, call: &Call, rules: &Rules) -> bool {
        policy::review(call.clone(), &self.context(caller, rules), &mut Vec::new()).is_ok()
    }

    fn may_tell(&self, caller: &Caller, call: &Call, path: &MemoryPath, rules: &Rules) -> bool {
        // Where it is a link, also of the place that it leads to.
        caller
            .restriction()
            .is_none_or(|grant| grant.shows(path) && self.vault.resolve(path).is_ok_and(|place| grant.shows(&place)))
            && self.may_show(call, path, &self.context(caller, rules))
    }

    /// A page of the notes that somebody may see, sorted by path: `limit` of those behind `after`, and where the next page
    /// starts.
    ///
    /// # Errors
    ///
    /// `io`, and those of [`Engine::check_settings`].
    pub fn notes(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<ListedEntry>, Option<String>), Failure> {
        self.check_settings()?;
        let tree = self.seen_by(caller.grant.as_deref());
        let scan = Scan { folder: None, limit: 0, wants: &|_| false, stop: &|| false };
        let files = tree.scan(&scan, &|_, _| ()).map_err(plan::failure)?;
        let notes = files.into_iter().map(|file| file.path).filter(MemoryPath::is_note);
        let notes = notes.filter(|path| after.is_none_or(|after| path.as_str() > after));
        let mut notes: Vec<_> = notes.filter(self.may_list(caller)).take(limit.saturating_add(1)).collect();
        let is_cut = notes.len() > limit;
        notes.truncate(limit);
        let next = notes.last().filter(|_| is_cut).map(ToString::to_string);
        // One that has gone in between is left out.
        let entry = |path: MemoryPath| {
            let stat = tree.stat(&path).ok().flatten()?;
            Some(ListedEntry { path, kind: stat.kind, size: stat.size })
        };
        Ok((notes.into_iter().filter_map(entry).collect(), next))
    }
}

/// The text of a note of a tree, and its digest.
pub(super) fn text_in(tree: &impl Tree, path: &MemoryPath, limit: u64) -> Result<(String, Digest), Failure> {
    let image = tree.read(path, limit).map_err(plan::failure)?;
    match image.content.text() {
        Some(text) => Ok((text.to_owned(), image.content.digest())),
        None => Err(plan::not_text(path)),
    }
}

/// As [`Engine::tree`], of a tree.
pub(super) fn tree_in(
    tree: &impl Tree,
    folder: Option<&MemoryPath>,
    limit: usize,
    cursor: Option<&str>,
) -> Result<Listed, Failure> {
    let (mut entries, mut closed) = (Vec::new(), Vec::new());
    walk(tree, folder, &mut entries, &mut closed).map_err(plan::failure)?;
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let total = entries.len();
    if let Some(cursor) = cursor {
        entries.retain(|entry| entry.path.as_str() > cursor);
    }
    let is_cut = entries.len() > limit;
    entries.truncate(limit);
    let cursor = if is_cut { entries.last().map(|entry| entry.path.to_string()) } else { None };
    Ok(Listed { entries, total, cursor, closed })
}

fn walk(
    tree: &impl Tree,
    folder: Option<&MemoryPath>,
    found: &mut Vec<ListedEntry>,
    closed: &mut Vec<MemoryPath>,
) -> Result<(), TreeError> {
    for entry in tree.list(folder)?.entries {
        let Ok(path) = MemoryPath::in_folder(folder, &entry.name) else { continue };
        let is_folder = entry.stat.kind == Kind::Directory;
        found.push(ListedEntry { path: path.clone(), kind: entry.stat.kind, size: entry.stat.size });
        if is_folder && !entry.is_link {
            match walk(tree, Some(&path), found, closed) {
                Err(TreeError::NoAccess(_)) => closed.push(path),
                other => other?,
            }
        }
    }
    Ok(())
}

/// A call that reads a note.
fn reading(path: &MemoryPath) -> Call {
    Call::plain(1, Action::ReadFile(ReadFile { path: path.clone(), start_line: None, end_line: None, as_of: None }))
}

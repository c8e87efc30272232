//! What would change: from cleared calls and a [`Tree`] to a value that holds every before and every after.
//!
//! Owns the meaning of each action. Reads only through [`Tree`]; touches no clock, no randomness, no disk.

#![warn(clippy::wildcard_enum_match_arm)]

use memdir_core::action::{Action, Call, DeleteDir, ListDirectory, Meaning};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, ConfigKey, Failure, Issue, Kind, Outcome, Shown, Value};
use memdir_note::words::called;
use memdir_note::{Excluded, Syntax, Targets, name};
use memdir_policy::Cleared;

mod align;
mod as_of;
mod change;
mod changes;
mod closest;
mod config;
mod consult;
mod context;
mod current;
mod diff;
mod edit;
mod excerpt;
mod forget;
mod keyed;
mod lineage;
mod lines;
mod links;
mod map_tree;
mod merge;
mod names;
mod needle;
mod new_words;
mod overlay;
mod pattern;
mod query;
mod ranked;
mod read;
mod receipt;
mod recent;
mod relink;
mod remember;
mod removal;
mod rename;
mod scan;
mod scanned;
mod search_files;
mod section;
mod seen;
mod span;
pub mod step;
mod tool_words;
pub mod tree;
mod undo;
mod view;
mod wanted;
mod whole_line;
mod words;
mod write;

pub use as_of::{Evidence, Held, PastFiles, PastStep, name_before, names_after};
pub use change::{Counts, Fate, FileCount, Plan, changed, diff_of};
pub use changes::{ChangeLine, NoteChange, note_changes};
pub use context::MOST_PINNED;
pub use current::current;
pub use diff::unified;
pub use forget::{Called, Cut, Forms, MIN_TEXT_CHARS, Sought, When};
pub use lineage::{Former, LineOrigin, Lineage, MarkedLine, VersionAuthor};
pub use map_tree::{MapTree, Unmet};
pub use names::{NoteNames, the_only};
pub use new_words::{ChangedWords, add_stems, stems};
pub use receipt::UNDO;
pub use relink::LaterLinks;
pub use remember::{as_item_below, title_of};
pub use search_files::marks;
pub use seen::Seen;
pub use step::{Content, Image, Step};
pub use tool_words::{ClientWords, NewWords, ToolWords};
pub use tree::{Altered, Effort, Entry, Listing, PastBatch, Said, Scan, Scanned, Stamp, Stat, Swept, Tree, TreeError};
pub use undo::{
    Gone, Since, UndoError, followed, is_taken_back, restore, undo, undo_all, undo_with_later, would_conflict,
    would_conflict_after,
};
pub use view::View;
pub use wanted::Wanted;

use overlay::{Overlay, Trouble};
pub use words::{count, failure, not_text, too_large};

/// How much a batch may read and leave behind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The largest note that may be written, and the longest text that is answered, in bytes.
    pub note_bytes: u64,
    /// The most that all notes together may hold, in bytes.
    pub memory_bytes: u64,
    /// The largest file of any kind whose content is read, in bytes.
    pub file_bytes: u64,
    /// Whether `create_file` and `write_file` may make other files than notes.
    pub other_extensions: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { note_bytes: 1 << 20, memory_bytes: 1 << 30, file_bytes: 64 << 20, other_extensions: false }
    }
}

/// Plans the calls of one batch, each after the other.
///
/// A call sees what those before it would have done. A call that fails changes nothing.
///
/// # Examples
///
/// ```
/// use memdir_core::action::Call;
/// use memdir_plan::{Limits, MapTree, Planner};
/// use memdir_policy::{Context, Mode, Rules, review};
/// use memdir_core::catalog;
///
/// let tree = MapTree::of([("user.md", "- city: London\n")]);
/// let arguments = serde_json::json!({"path": "user.md", "old_content": "London", "new_content": "Paris"});
/// let action = catalog::decode(1, "update_file", arguments.as_object().cloned().unwrap_or_default()).unwrap();
/// let mut planner = Planner::new(&tree, &Limits::default());
/// let call = Call::plain(1, action);
/// let context = Context { mode: Mode::Off, approved: false, read_only: false, client: None, grant: None, rules: &Rules::default() };
/// planner.answer(&review(call, &context, &mut Vec::new()).unwrap());
/// let plan = planner.finish();
/// assert_eq!(plan.diff(), "--- a/user.md\n+++ b/user.md\n@@ -1 +1 @@\n-- city: London\n+- city: Paris\n");
/// ```
#[derive(Debug)]
pub struct Planner<'t, T: Tree> {
    overlay: Overlay<'t, T>,
    limits: Limits,
    issues: Vec<Issue>,
    manner: Manner<'t>,
    /// The call that is being answered.
    index: usize,
    /// How it is meant.
    meaning: Meaning,
    /// All files by their names, once they were asked for, until one is renamed or goes.
    targets: Option<Targets>,
    /// The links that the call wrote and that could mean several notes, with those.
    unclear: Vec<(String, Vec<MemoryPath>)>,
    /// The notes that do not exist and of which a fact should have been set.
    unmade: Targets,
    /// The links that the batch wrote and that led nowhere then, with the notes they stand in.
    dangling: Vec<(MemoryPath, String, Syntax)>,
    /// What the conversation has seen, where there is one.
    seen: Option<Seen>,
    /// The note with links to what was to be renamed that the last call may not change.
    kept_from: Option<MemoryPath>,
}

/// Says why an edit may not leave some lines in a note where others stood.
type MayLeave<'t> = &'t (dyn Fn(&Call, &str, &str) -> Result<(), Failure> + Sync);

/// What a planner is told from outside, having no clock and no rules of its own.
#[derive(Clone, Copy)]
struct Manner<'t> {
    /// Whether the time for planning is over.
    stop: &'t (dyn Fn() -> bool + Sync),
    /// Whether the answer to a call may tell of a note that it did not name.
    may_show: &'t (dyn Fn(&Call, &MemoryPath) -> bool + Sync),
    /// Whether there is anything that the answer to a call may not tell of.
    may_hide: &'t (dyn Fn(&Call) -> bool + Sync),
    /// What searching and retrieving look at of each note, where that is not all.
    view: Option<View<'t>>,
    /// Whether a call may change a note that it did not name.
    may_change: &'t (dyn Fn(&Call, &MemoryPath) -> bool + Sync),
    /// What the person has set aside.
    excluded: &'t (dyn Fn() -> &'t Excluded + Sync),
    /// The values of `status` by which a note belongs to the past.
    past_status: &'t [String],
    /// The notes that come along with every context.
    pinned: &'t [MemoryPath],
    /// The settings, as far as they are told.
    config: &'t [ConfigKey],
    /// Whether an edit may leave some lines of a note where others stood.
    may_leave: MayLeave<'t>,
    /// Whether what is told was not asked for.
    is_unasked: bool,
}

/// What is set aside where nobody says.
static NOTHING: Excluded = Excluded::NONE;

impl std::fmt::Debug for Manner<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Manner").finish_non_exhaustive()
    }
}

/// What a call that succeeded answers.
struct Answer {
    value: Value,
    total: Option<usize>,
    cursor: Option<String>,
    path: Option<MemoryPath>,
    shown: Option<Shown>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self { value, total: None, cursor: None, path: None, shown: None }
    }
}

/// The answer of an action that does something.
const DONE: Value = Value::Bool(true);

/// The most names that are looked at to say which is nearest.
const NEAREST_NAMES: usize = 20_000;

impl<'t, T: Tree> Planner<'t, T> {
    /// Starts a batch on `tree`.
    #[must_use]
    pub fn new(tree: &'t T, limits: &Limits) -> Self {
        let manner = Manner {
            stop: &|| false,
            may_show: &|_, _| true,
            may_hide: &|_| false,
            view: None,
            may_change: &|_, _| true,
            excluded: &|| &NOTHING,
            past_status: &[],
            pinned: &[],
            config: &[],
            may_leave: &|_, _, _| Ok(()),
            is_unasked: false,
        };
        Self {
            overlay: Overlay::new(tree),
            limits: *limits,
            issues: Vec::new(),
            manner,
            index: 0,
            meaning: Meaning::Plain,
            targets: None,
            unmade: Targets::default(),
            dangling: Vec::new(),
            unclear: Vec::new(),
            seen: None,
            kept_from: None,
        }
    }

    /// Sets what is asked, often and from several threads, whether the time for planning is over.
    #[must_use]
    pub fn until(mut self, stop: &'t (dyn Fn() -> bool + Sync)) -> Self {
        self.manner.stop = stop;
        self
    }

    /// Sets what is asked whether the answer to a call may tell of a note that the call did not name, such as a hit of
    /// a search; and whether there is any note of which it may not. No index is asked then: it counts the words of all.
    #[must_use]
    pub fn showing(
        mut self,
        may_show: &'t (dyn Fn(&Call, &MemoryPath) -> bool + Sync),
        may_hide: &'t (dyn Fn(&Call) -> bool + Sync),
    ) -> Self {
        self.manner.may_show = may_show;
        self.manner.may_hide = may_hide;
        self
    }

    /// Sets what searching and retrieving look at of each note, where that is not all of it. No index is asked for them then: it knows
    /// all words. What writes is planned on the notes as they are.
    #[must_use]
    pub fn viewing(mut self, view: Option<View<'t>>) -> Self {
        self.manner.view = view;
        self
    }

    /// Sets what is asked whether a call may change a note that the call did not name, such as one with links to what
    /// is renamed.
    #[must_use]
    pub fn changing(mut self, may_change: &'t (dyn Fn(&Call, &MemoryPath) -> bool + Sync)) -> Self {
        self.manner.may_change = may_change;
        self
    }

    /// The note that the last call was refused for, since it may not change it: asked once.
    pub fn take_kept_from(&mut self) -> Option<MemoryPath> {
        self.kept_from.take()
    }

    /// Sets what gives what the person has set aside, which a search tells last; it is asked only then.
    #[must_use]
    pub fn excluding(mut self, excluded: &'t (dyn Fn() -> &'t Excluded + Sync)) -> Self {
        self.manner.excluded = excluded;
        self
    }

    /// Sets the values of `status` in the front matter, in small letters, by which a note says that it belongs to the past.
    #[must_use]
    pub fn with_past_status(mut self, past_status: &'t [String]) -> Self {
        self.manner.past_status = past_status;
        self
    }

    /// Sets the notes that come along with every context, whatever was asked.
    #[must_use]
    pub fn pinning(mut self, pinned: &'t [MemoryPath]) -> Self {
        self.manner.pinned = pinned;
        self
    }

    /// Sets the settings that `get_config` tells.
    #[must_use]
    pub fn configured(mut self, config: &'t [ConfigKey]) -> Self {
        self.manner.config = config;
        self
    }

    /// Sets what is asked whether an edit may leave these lines of a note, the second, where the third stood.
    #[must_use]
    pub fn leaving(mut self, may_leave: MayLeave<'t>) -> Self {
        self.manner.may_leave = may_leave;
        self
    }

    /// Sets whether the context of a message is told without being asked for: then it is empty where none of the best notes fits
    /// the message, and without an index nothing is read but `user.md`.
    #[must_use]
    pub fn unasked(mut self, is_unasked: bool) -> Self {
        self.manner.is_unasked = is_unasked;
        self
    }

    /// Sets what the conversation has seen before, so that it replaces no note that it does not know.
    #[must_use]
    pub fn in_conversation(mut self, seen: Option<Seen>) -> Self {
        self.seen = seen;
        self
    }

    /// Sets the time, in seconds and nanoseconds since 1970, that files written in this batch show when asked about
    /// in the same batch; without it, 1970.
    #[must_use]
    pub fn at(mut self, now: (i64, u32)) -> Self {
        self.overlay.set_now(now);
        self
    }

    /// As [`Planner::at`], for a planner that is at work.
    pub fn set_time(&mut self, now: (i64, u32)) {
        self.overlay.set_now(now);
    }

    /// Adds what was noticed when a call of the batch was answered elsewhere.
    pub fn note(&mut self, issues: impl IntoIterator<Item = Issue>) {
        self.issues.extend(issues);
    }

    /// The call as it is to be reviewed and planned, once it is seen what stands at its path.
    ///
    /// Who uses Anthropic's memory tool reads and deletes folders by the command for files. So that a rule about folders
    /// holds for them, that becomes the action for folders here, before the review.
    #[must_use]
    pub fn meant(&self, mut call: Call) -> Call {
        if call.meaning != Meaning::MemoryTool {
            return call;
        }
        if let Action::ReadFile(read) = &call.action
            && self.is_folder(&read.path)
        {
            call.action = Action::ListDirectory(ListDirectory { path: Some(read.path.clone()) });
        } else if let Action::DeleteFile(delete) = &call.action
            && self.is_folder(&delete.path)
        {
            call.action = Action::DeleteDir(DeleteDir { path: delete.path.clone(), recursive: Some(true) });
        }
        call
    }

    /// What `path` leads to, as the batch has left the memory so far.
    #[must_use]
    pub fn reached(&self, path: &MemoryPath) -> Option<MemoryPath> {
        self.overlay.resolve(path).ok()
    }

    /// Whether a folder is at `path`, as the batch has left the memory so far.
    #[must_use]
    pub fn is_folder(&self, path: &MemoryPath) -> bool {
        let stat = self.overlay.resolve(path).and_then(|path| self.overlay.stat(&path));
        stat.is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == Kind::Directory))
    }

    /// Plans one call and answers it as if it were done.
    pub fn answer(&mut self, cleared: &Cleared) -> Outcome {
        let call = cleared.call();
        let answered = self.act(call).map_err(|failure| self.with_nearest(call, failure));
        self.tell_unclear_links(call);
        let answer = match answered {
            Ok(answer) => answer,
            Err(failure) => return Outcome::failed(call, failure),
        };
        let path = answer.path.as_ref().or(call.action.path()).map(ToString::to_string);
        Outcome {
            index: call.index,
            action: Some(call.action.name().to_owned()),
            path,
            result: Ok(answer.value),
            total: answer.total,
            cursor: answer.cursor,
            label: call.label.clone(),
            shown: answer.shown,
        }
    }

    /// Ends the batch.
    #[must_use]
    pub fn finish(self) -> Plan {
        let (past_status, today) = (self.manner.past_status, self.today());
        let mut plan = Plan::of(self.overlay, self.issues, self.seen);
        plan.sets_aside = plan.steps().iter().any(|step| current::sets_aside(step, past_status, today));
        plan
    }

    fn act(&mut self, call: &Call) -> Result<Answer, Failure> {
        let index = call.index;
        (self.index, self.meaning) = (index, call.meaning);
        match &call.action {
            Action::ReadFile(read) => self.read_file(index, read),
            Action::CreateFile(create) => self.create_file(create),
            Action::WriteFile(write) => self.write_file(call, write),
            Action::AppendFile(append) => self.append_file(call, append),
            Action::UpdateFile(update) if call.meaning == Meaning::WholeLine => self.update_line(call, update),
            Action::UpdateFile(update) => self.update_file(call, update),
            Action::InsertText(insert) => self.insert_text(call, insert),
            Action::ReplaceSection(replace) => self.replace_section(call, replace),
            Action::AppendToSection(append) => self.append_to_section(call, append),
            Action::SetFact(set) => self.set_fact(call, set),
            Action::Remember(remember) => self.remember(call, remember),
            Action::DeleteFile(delete) => self.delete_file(&delete.path),
            Action::RenameFile(rename) => self.rename_file(call, &rename.path, &rename.new_path),
            Action::CopyFile(copy) => self.copy_file(&copy.path, &copy.new_path),
            Action::CreateDir(create) => self.create_dir(&create.path),
            Action::DeleteDir(delete) => self.delete_dir(&delete.path, delete.recursive == Some(true)),
            Action::CheckFileExists(check) => self.check_exists(&check.path, Kind::File),
            Action::CheckDirExists(check) => self.check_exists(&check.path, Kind::Directory),
            Action::ListFiles(list) => self.list_files(call, list),
            Action::ListDirectory(list) => self.list_directory(call, list.path.as_ref()),
            Action::GetFileInfo(info) => self.get_file_info(call, &info.path),
            Action::GetSize(size) => self.get_size(call, size.path.as_ref()),
            Action::GetHistory(history) => self.get_history(call, history),
            Action::Recent(recent) => self.recent(call, recent),
            Action::GoToLink(link) => self.go_to_link(call, link),
            Action::SearchFiles(search) => self.search_files(call, search),
            Action::GetContext(get) => self.get_context(call, get),
            Action::GetLinks(get) => self.get_links(call, &get.path),
            Action::GetBacklinks(get) => self.get_backlinks(call, &get.path),
            Action::Memory(memory) => self.memory(call, memory),
            Action::GetConfig(get) => config::told(self.manner.config, call.index, get),
            Action::SetConfigValue(set) => Err(config::refused(self.manner.config, call.index, set)),
        }
    }

    /// Notes that the conversation sees what a note holds now.
    fn see(&mut self, path: &MemoryPath, image: &Image) {
        if let Some(seen) = &mut self.seen {
            seen.note(path.clone(), image.content.digest());
        }
    }

    fn issue(&mut self, code: &'static str, index: usize, message: String) {
        self.issues.push(Issue { code, index: Some(index), message });
    }

    /// Follows links; what cannot be followed is a failure.
    fn resolve(&self, path: &MemoryPath) -> Result<MemoryPath, Failure> {
        Ok(self.overlay.resolve(path)?)
    }

    /// What is at a path that is resolved; a failure where nothing is.
    fn expect(&self, asked: &MemoryPath, path: &MemoryPath, noun: &str) -> Result<Stat, Failure> {
        let stat = self.overlay.stat(path)?;
        stat.ok_or_else(|| words::not_found(noun, asked))
    }

    /// Where the file is that `asked` names, and what is known of it.
    fn expect_file(&self, asked: &MemoryPath) -> Result<(MemoryPath, Stat), Failure> {
        let path = self.resolve(asked)?;
        let stat = self.expect(asked, &path, words::noun(asked))?;
        if stat.kind == Kind::Directory { Err(words::is_a_directory(asked)) } else { Ok((path, stat)) }
    }

    /// Reads the file that `asked` names, whatever it holds.
    fn read_any(&self, asked: &MemoryPath) -> Result<(MemoryPath, Image), Failure> {
        // Most paths lead through no link, which one look then tells together with the text.
        let tree = self.overlay.as_it_was();
        if let Some(image) = tree.and_then(|tree| tree.read_direct(asked, self.limits.file_bytes)) {
            return Ok((asked.clone(), image));
        }
        let (path, _) = self.expect_file(asked)?;
        let image = self.overlay.read(&path, self.limits.file_bytes)?;
        Ok((path, image))
    }

    /// Names the nearest note where the one that a call names does not exist and nothing else is said of it.
    fn with_nearest(&self, call: &Call, failure: Failure) -> Failure {
        let asked = call.action.path().filter(|_| failure.code == Code::NotFound && failure.hint.is_none());
        let Some(asked) = asked else { return failure };
        // Only names that a model may read about; troubles on the way to a hint are no news.
        let mut notes = self.notes(None, NEAREST_NAMES).unwrap_or_default();
        let likeness = words::likeness(asked);
        notes.retain(|note| likeness(note).is_some() && self.may_name(call, note));
        let is_same = |note: &&MemoryPath| called(note.stem()) == called(asked.stem());
        let named = if notes.iter().any(|note| is_same(&note)) { None } else { self.called(call, asked.stem()) };
        let named = named.filter(|note| self.may_name(call, note));
        let nearest = named.as_ref().or_else(|| words::nearest(asked, notes.iter()));
        if let Action::SetFact(set) = &call.action {
            return section::to_make(failure, set, nearest, &self.dangling_to(&set.path));
        }
        failure.with_hint(words::nearest_hint(nearest))
    }

    /// The notes below a folder that is resolved, in no order; at most about `most` names are looked at.
    fn notes(&self, folder: Option<&MemoryPath>, most: usize) -> Result<Vec<MemoryPath>, Trouble> {
        let mut notes = Vec::new();
        self.walk(folder, most, |path, entry| {
            if entry.stat.kind == Kind::File && path.is_note() {
                notes.push(path.clone());
            }
        })?;
        Ok(notes)
    }

    /// Visits everything below a folder that is resolved, without entering linked folders.
    ///
    /// Answers whether any folder on the way holds things that cannot be named.
    fn walk(
        &self,
        folder: Option<&MemoryPath>,
        most: usize,
        mut visit: impl FnMut(&MemoryPath, &Entry),
    ) -> Result<bool, Trouble> {
        let (mut folders, mut has_others, mut seen) = (vec![folder.cloned()], false, 0);
        while let Some(folder) = folders.pop() {
            let listing = self.overlay.list(folder.as_ref())?;
            has_others |= listing.has_others;
            for entry in &listing.entries {
                seen += 1;
                let Ok(path) = MemoryPath::in_folder(folder.as_ref(), &entry.name) else {
                    has_others = true;
                    continue;
                };
                visit(&path, entry);
                if entry.stat.kind == Kind::Directory && !entry.is_link {
                    folders.push(Some(path));
                }
            }
            if seen >= most {
                break;
            }
        }
        Ok(has_others)
    }

    /// Checks that the notes together stay within what the memory may hold when they grow by `growth` bytes.
    fn check_quota(&self, growth: i128) -> Result<(), Failure> {
        if growth <= 0 {
            return Ok(());
        }
        let sum = self.overlay.note_bytes()? + growth;
        if sum <= i128::from(self.limits.memory_bytes) {
            return Ok(());
        }
        let most = self.limits.memory_bytes;
        if self.overlay.tree().is_part() {
            // The numbers are of notes too that whoever writes does not see.
            return Err(Failure::new(Code::QuotaExceeded, "the memory has no room for this")
                .with_hint("ask the user to make room, or delete_file what is no longer needed"));
        }
        Err(Failure::new(Code::QuotaExceeded, format!("the memory would hold {sum} bytes of notes, more than {most}"))
            .with_hint(
                "make room first: delete_file for notes that are no longer needed; get_size shows how large each is",
            ))
    }
}

#[cfg(test)]
mod tests;

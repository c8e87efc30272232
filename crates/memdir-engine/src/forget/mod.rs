//! Forgetting a note or a text: where it is kept, and erasing it there.
//!
//! The order, under the lock of the memory: links to a note are cut out first, while the history still knows all its
//! names, and copies of it are removed, which may have the old ones; then the history; then texts, and at last the note
//! itself. So whatever an interrupted run has left, the same command finds it.

use std::io::Read;

use serde::Serialize;

mod finder;
mod mention;
mod session;
mod survey;

use super::{Caller, Engine, audit, failure, lock};
use finder::Finders;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Failure, Kind};
use memdir_core::shell::quoted;
use memdir_note::Targets;
use memdir_plan::{self as plan, Forms, MIN_TEXT_CHARS, Sought, Tree, When};
use memdir_vault::{
    Author, FileEntry, FiledProposal, HistoryTraces, NoteNames, Region, Replaced, VaultError, Writer, is_put_aside,
};
pub use mention::Mention;
use mention::Spoken;
pub(super) use session::cut_whole;
pub use session::{CutSession, Forgetting, SessionCut};
use survey::{Note, Survey, kind_of};

/// What is to be forgotten.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ForgetTarget {
    /// A note, by the name it has or had.
    Note(MemoryPath),
    /// A text, letter by letter.
    Text(String),
}

/// In which kind of place something was found.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// A note: the one to forget, or one that holds the text.
    Note,
    /// The name of a file or folder, which is not changed.
    Name,
    /// Links in another note.
    Link,
    /// Another file: a copy that was left aside, a text file, or one of another program, which is not changed.
    File,
    /// Cards of a canvas that show the note; they stay, since what is drawn beside them would go too.
    Card,
    /// What was deleted by hand in Obsidian.
    Trash,
    /// Changes in the history.
    History,
    /// Entries of the audit.
    Audit,
    /// A proposal that waits for the person, which goes as a whole.
    Inbox,
    /// Messages of a kept conversation, with all that was said and done for them.
    Session,
    /// A draft of `memdir edit` outside the memory, which goes as a whole.
    Draft,
    /// The index, which goes as a whole.
    Index,
    /// The state of another machine, or a history that was put aside.
    State,
    /// The history of this machine, in what its audit cannot do without.
    Author,
}

/// One place, and how often it is there.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct ForgottenPlace {
    /// Of which kind it is.
    #[serde(rename = "where")]
    pub place: PlaceKind,
    /// The file, or the name in the history; `None` for places without one.
    pub path: Option<String>,
    /// How many occurrences, changes or entries.
    pub count: u64,
}

impl ForgottenPlace {
    /// What the person can do about letters that are still here after all was erased.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        let path = self.path.as_deref().unwrap_or_default();
        match self.place {
            PlaceKind::Session => {
                "a conversation: `memdir session remove` deletes it, on the machine that it belongs to"
            }
            PlaceKind::State if path.split('/').any(is_put_aside) => {
                "a damaged history that was put aside: remove its folder when nothing in it is needed"
            }
            PlaceKind::State => "the state of a machine: run `memdir forget` on that machine too",
            PlaceKind::Author => {
                "the name of a client or a conversation: the audit's hashes cover it, so it stays as long as this history"
            }
            PlaceKind::File | PlaceKind::Name => "not changed, because it belongs to another program: delete it there",
            PlaceKind::Card => "a card that shows the note stays as it is: delete it there",
            PlaceKind::Note | PlaceKind::Link | PlaceKind::Trash => {
                "said in plain words: `memdir forget --text` takes it out"
            }
            PlaceKind::History | PlaceKind::Audit | PlaceKind::Inbox | PlaceKind::Draft | PlaceKind::Index => {
                "still there: run the same command again"
            }
        }
    }
}

/// Where something is kept.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ForgetPreview {
    /// All places that are erased.
    pub places: Vec<ForgottenPlace>,
    /// Lines of other notes that link to the note or name it: of these only the links go, unless [`RelatedLines::Erase`] is said.
    pub lines: Vec<Mention>,
    /// What a note that is forgotten says now, whole; `None` where there is none of its name, or a text is forgotten.
    #[serde(skip)]
    pub text: Option<Digest>,
}

impl ForgetPreview {
    /// What a person's yes to this list is bound to: what the note says, and every place and line, but not how often, and not what looking
    /// at a note adds to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let is_bound = |place: &&ForgottenPlace| !matches!(place.place, PlaceKind::Audit | PlaceKind::Index);
        let places = self.places.iter().filter(is_bound);
        let mut parts: Vec<String> = places.map(|place| format!("{:?} {:?}", place.place, place.path)).collect();
        parts.extend(self.lines.iter().map(|line| format!("{:?} {:?}", line.path, line.text)));
        parts.push(format!("{:?}", self.text));
        Digest::of_parts(&parts.iter().map(String::as_bytes).collect::<Vec<_>>())
    }

    /// Whether all of it was in another list, of the same text: places may hold more or less of it, but each was named, and so was each line.
    fn is_within(&self, shown: &Self) -> bool {
        let is_listed = |place: &ForgottenPlace| {
            let is_same = |other: &ForgottenPlace| (other.place, &other.path) == (place.place, &place.path);
            // Looking at a note is an entry of the audit, and makes an index.
            matches!(place.place, PlaceKind::Audit | PlaceKind::Index) || shown.places.iter().any(is_same)
        };
        let is_shown =
            |line: &Mention| shown.lines.iter().any(|other| (&other.path, &other.text) == (&line.path, &line.text));
        self.text == shown.text && self.places.iter().all(is_listed) && self.lines.iter().all(is_shown)
    }
}

/// What becomes of the lines of other notes that link to a note or name it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RelatedLines {
    /// They stay, without the links.
    Keep,
    /// They go, in every note and version that holds them.
    Erase,
}

/// What was erased.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Forgotten {
    /// Where it was.
    #[serde(flatten)]
    pub listed: ForgetPreview,
    /// Whether it was erased there.
    pub erased: bool,
    /// Where its letters are found after that: in what is another program's or another machine's, or in plain words. A count of 0 says
    /// that it was not looked through.
    pub left: Vec<ForgottenPlace>,
}

type NamesOf<'a> = dyn Fn(&MemoryPath, bool) -> Result<NoteNames, VaultError> + 'a;
type TracesOf<'a> = dyn Fn(&Sought) -> Result<HistoryTraces, VaultError> + 'a;

/// Asks the history: the vault, or its writer while the lock is held.
struct Past<'a> {
    names: Box<NamesOf<'a>>,
    traces: Box<TracesOf<'a>>,
    /// What waits for the person, as JSON, by number.
    proposals: Vec<(u64, String)>,
}

/// How often a file is read anew that somebody changes meanwhile.
const ATTEMPTS: usize = 3;

impl Engine {
    /// Lists where something is kept. Changes nothing.
    ///
    /// # Errors
    ///
    /// `usage` for a text without letters, or a short one that stands in longer words, `not_found` when it is nowhere, `is_a_directory`, what the vault says.
    pub fn places_of(&self, target: &ForgetTarget) -> Result<ForgetPreview, Failure> {
        let survey = self.survey_unlocked(target)?;
        if survey.places.is_empty() { Err(self.nothing(target)) } else { Ok(survey.listed()) }
    }

    /// Erases something wherever it is kept, and the lines about it that [`Engine::places_of`] lists, if that is wanted.
    ///
    /// # Errors
    ///
    /// As [`Engine::places_of`], `read_only` for a caller who may only read, and `conflict` where somebody was `shown` less than is there by now, or another text of the note, or where names, or files
    /// that are no text, hold it: then nothing is done.
    /// An error that comes later says that the same command finishes it.
    pub fn forget(
        &self,
        target: &ForgetTarget,
        lines: RelatedLines,
        shown: Option<&ForgetPreview>,
        caller: &Caller,
    ) -> Result<Forgotten, Failure> {
        caller.check_write("forget")?;
        if !self.has_history()? {
            // Forgetting something that is nowhere must not begin a history.
            self.places_of(target)?;
        }
        let Some((listed, erased)) = self.erase(target, lines, shown, &caller.author)? else {
            return Err(self.nothing(target));
        };
        let left = erased.iter().map(|sought| self.look_again(sought)).collect::<Result<Vec<_>, _>>();
        let mut left: Vec<ForgottenPlace> = left.map_err(|error| failure(&error))?.into_iter().flatten().collect();
        left.sort();
        left.dedup();
        Ok(Forgotten { listed, erased: true, left })
    }

    /// Where something is kept, found without the lock: others may write meanwhile.
    fn survey_unlocked(&self, target: &ForgetTarget) -> Result<Survey, Failure> {
        let filed = self.vault.inbox().map_err(|error| failure(&error))?.filed;
        let past = Past {
            names: Box::new(|path, is_there| self.vault.names_of(path, is_there)),
            traces: Box::new(|sought| self.vault.traces(sought)),
            proposals: self.said_in_inbox(filed),
        };
        self.look_for(target, &past)
    }

    /// What waits for the person, on the disk and in this process. What cannot be read is told by its letters later.
    fn said_in_inbox(&self, filed: Vec<FiledProposal>) -> Vec<(u64, String)> {
        let said = |bytes: Vec<u8>| with_lines(String::from_utf8_lossy(&bytes).into_owned());
        let filed = filed.into_iter().filter_map(|filed| Some((filed.number, said(filed.content.ok()?))));
        let here = lock(&self.in_process);
        filed.chain(here.values().map(|waiting| (waiting.id, said(waiting.encode())))).collect()
    }

    /// What was erased, and by what it was looked for; `None` where there is nothing to erase.
    fn erase(
        &self,
        target: &ForgetTarget,
        lines: RelatedLines,
        shown: Option<&ForgetPreview>,
        author: &Author,
    ) -> Result<Option<(ForgetPreview, Vec<Sought>)>, Failure> {
        let say = |error: VaultError| failure(&error);
        let mut writer = self.vault.lock().map_err(say)?;
        writer.sweep_leftovers().map_err(say)?;
        let is_swept = self.vault.sweep_sessions().map_err(say)?;
        let look = |writer: &mut Writer<'_>| self.look_for(target, &self.past_of(writer)?);
        let mut survey = look(&mut writer)?;
        if !survey.blocked.is_empty() {
            return Err(blocked(&survey.blocked));
        }
        let listed = survey.listed();
        if shown.is_some_and(|shown| !listed.is_within(shown)) {
            let failure = Failure::new(Code::Conflict, "the list is out of date");
            return Err(failure.with_hint("nothing was erased; look at the new list"));
        }
        if listed.places.is_empty() {
            // An earlier run may have come to just before its end.
            let was_left = writer.finish_forgetting().map_err(say)? || is_swept;
            return Ok(was_left.then(|| (listed, vec![survey.sought])));
        }
        let mut erased = Vec::new();
        if lines == RelatedLines::Erase && !listed.lines.is_empty() {
            // Before the note: without it nothing would tell an interrupted run's successor which lines they are.
            let sought = Sought::Lines(listed.lines.iter().map(|line| line.text.clone()).collect());
            let about = self.look_everywhere(sought, None, &self.past_of(&mut writer)?)?;
            self.erase_all(&mut writer, &about, author).map_err(partly)?;
            erased.push(about.sought);
            survey = look(&mut writer)?;
        }
        self.erase_all(&mut writer, &survey, author).map_err(partly)?;
        erased.push(survey.sought);
        Ok(Some((listed, erased)))
    }

    /// What the history says to the one who holds the lock.
    fn past_of<'w>(&self, writer: &'w mut Writer<'_>) -> Result<Past<'w>, Failure> {
        let proposals = self.said_in_inbox(writer.inbox().map_err(|error| failure(&error))?.filed);
        let writer: &'w Writer<'_> = writer;
        Ok(Past {
            names: Box::new(|path, is_there| writer.names_of(path, is_there)),
            traces: Box::new(|sought| writer.traces(sought)),
            proposals,
        })
    }

    fn erase_all(&self, writer: &mut Writer<'_>, survey: &Survey, author: &Author) -> Result<(), Failure> {
        let say = |error: VaultError| failure(&error);
        // First: nothing would tell a later run that words are left in it.
        self.erase_index()?;
        if !survey.proposals.is_empty() {
            let entries: Vec<_> = survey.proposals.iter().map(|id| audit::decision("reject", *id)).collect();
            let now = self.now();
            writer.drop_proposals(&survey.proposals, &entries, author, now).map_err(say)?;
            lock(&self.in_process).retain(|id, _| !survey.proposals.contains(id));
        }
        survey.sessions.iter().try_for_each(|id| self.edit_session(survey, id)).map_err(say)?;
        let edit = |writer: &Writer<'_>| survey.edits.iter().try_for_each(|path| self.edit(writer, survey, path));
        if survey.note.is_some() {
            edit(writer)?;
        }
        survey.leftovers.iter().try_for_each(|path| writer.remove_spot(path)).map_err(say)?;
        writer.forget_history(&survey.sought, author, self.now()).map_err(say)?;
        if survey.note.is_none() {
            edit(writer)?;
        }
        survey.removals.iter().try_for_each(|path| writer.remove_spot(path)).map_err(say)?;
        writer.end_forgetting(&survey.sought, author, self.now()).map_err(say)?;
        // Another process may have built it anew meanwhile.
        self.erase_index()
    }

    /// Removes the index: rows that are deleted in it keep their words.
    fn erase_index(&self) -> Result<(), Failure> {
        self.drop_index().map_err(|error| Failure::new(Code::Io, error.to_string()))
    }

    /// Cuts something out of a file as it is now.
    fn edit(&self, writer: &Writer<'_>, survey: &Survey, path: &str) -> Result<(), Failure> {
        for _ in 0..ATTEMPTS {
            let read = self.vault.read_spot(path, survey.limit).map_err(|error| failure(&error))?;
            let Some(read) = read else { return Ok(()) };
            let Ok(text) = std::str::from_utf8(&read) else { break };
            let Some(cut) = survey.cut(path, text) else { return Ok(()) };
            let replaced = writer.replace_spot(path, &read, cut.text.as_bytes()).map_err(|error| {
                let cause = failure(&error);
                Failure { message: format!("`{path}` cannot be written: {}", cause.message), ..cause }
            })?;
            if replaced == Replaced::Yes {
                return Ok(());
            }
        }
        Err(Failure::new(Code::Conflict, format!("`{path}` is being changed by another program")))
    }

    /// Cuts something out of a session as it is now.
    fn edit_session(&self, survey: &Survey, id: &str) -> Result<(), VaultError> {
        let mut file = match self.vault.open_session(id) {
            Err(VaultError::NoSession(_)) => return Ok(()),
            file => file?,
        };
        let before = file.read()?;
        match (self.cut_session)(&before, &survey.forgetting()) {
            Some(SessionCut { lines: Some(lines), .. }) => file.replace(&self.sealed_anew(id, &before, lines)?),
            Some(SessionCut { lines: None, .. }) => file.remove(),
            None => Ok(()),
        }
    }

    fn look_for(&self, target: &ForgetTarget, past: &Past<'_>) -> Result<Survey, Failure> {
        let (sought, note) = match target {
            ForgetTarget::Text(text) => {
                let forms = Forms::new(text).ok_or_else(too_short)?;
                (Sought::Text(forms), None)
            }
            ForgetTarget::Note(path) => {
                let note = self.find_note(path, past)?;
                (Sought::Note(note.names.all.clone()), Some(note))
            }
        };
        self.look_everywhere(sought, note, past)
    }

    fn look_everywhere(&self, sought: Sought, note: Option<Note>, past: &Past<'_>) -> Result<Survey, Failure> {
        let traces = (past.traces)(&sought).map_err(|error| failure(&error))?;
        let limit = self.settings.limits.file_bytes;
        let mut survey = Survey {
            sought,
            traces,
            places: Vec::new(),
            targets: Targets::default(),
            candidates: Vec::new(),
            edits: Vec::new(),
            leftovers: Vec::new(),
            removals: Vec::new(),
            blocked: Vec::new(),
            proposals: Vec::new(),
            sessions: Vec::new(),
            lines: Vec::new(),
            cards: Vec::new(),
            note,
            limit,
        };
        survey.note_history();
        survey.note_proposals(&past.proposals);
        let finders = Finders::new(&survey.sought);
        let visited = self.vault.every_file(&mut |spot, file| survey.visit(spot, file, &finders));
        visited.map_err(|error| failure(&error))?;
        for path in std::mem::take(&mut survey.candidates) {
            let read = self.vault.read_spot(path.as_str(), limit).map_err(|error| failure(&error))?;
            let text = read.and_then(|read| String::from_utf8(read).ok()).unwrap_or_default();
            if path.is_canvas() {
                survey.add_cards(&path, &text);
            } else {
                survey.add_linking_lines(&path, &text);
            }
            if let Some(cut) = survey.cut(path.as_str(), &text) {
                let path = path.to_string();
                survey.edits.push(path.clone());
                survey.places.push(ForgottenPlace { place: PlaceKind::Link, path: Some(path), count: cut.count });
            }
        }
        for kept in self.vault.sessions().map_err(|error| failure(&error))? {
            // One that cannot be read is told by its letters later.
            if let Ok(Some(lines)) = self.vault.session_bytes(&kept.id)
                && let Some(cut) = (self.cut_session)(&lines, &survey.forgetting())
            {
                survey.note_session(&kept.id, &cut);
            }
        }
        // What stays anyhow is nothing to erase.
        if !survey.places.is_empty() {
            survey.places.append(&mut survey.cards);
            if self.has_index_file() {
                survey.places.push(ForgottenPlace { place: PlaceKind::Index, path: None, count: 1 });
            }
        }
        survey.places.sort();
        survey.lines.sort();
        survey.lines.dedup();
        // The link last: without it, the note would not be found again.
        let now = survey.note.as_ref().map(|note| note.names.now.to_string());
        survey.removals.sort_by_key(|path| Some(path) != now.as_ref());
        Ok(survey)
    }

    fn find_note(&self, path: &MemoryPath, past: &Past<'_>) -> Result<Note, Failure> {
        let place = self.vault.resolve(path).map_err(plan::failure)?;
        let stat = self.vault.stat(&place).map_err(plan::failure)?;
        if stat.is_some_and(|stat| stat.kind == Kind::Directory) {
            return Err(Failure::new(Code::IsADirectory, format!("`{path}` is a folder"))
                .with_hint("forget its notes one by one"));
        }
        let mut names = (past.names)(&place, stat.is_some()).map_err(|error| failure(&error))?;
        if names.now != place && self.vault.stat(&names.now).map_err(plan::failure)?.is_some() {
            let failure = Failure::new(Code::NotFound, format!("`{path}` is called `{}` now", names.now));
            let name = quoted(names.now.as_str());
            return Err(failure.with_hint(format!("`memdir forget {name}` forgets it with all names it had")));
        }
        names.add(path);
        let limit = self.settings.limits.file_bytes;
        let image = self.vault.read(&names.now, limit).ok();
        let digest = image.as_ref().map(|image| image.content.digest());
        let text = image.as_ref().and_then(|image| std::str::from_utf8(image.content.bytes()).ok());
        let spoken = Spoken::of(names.all.iter().map(|called| &called.name), text);
        let alias = (place != *path).then(|| path.clone());
        let named = Targets::new(names.all.iter().map(|called| called.name.clone()));
        Ok(Note { names, alias, digest, named, spoken })
    }

    /// Looks for the letters once more, everywhere.
    fn look_again(&self, sought: &Sought) -> Result<Vec<ForgottenPlace>, VaultError> {
        let finders = Finders::new(sought);
        let mut left = Vec::new();
        let mut visit = |spot: &FileEntry, file: Option<&mut dyn Read>| {
            let in_name = matches!(sought, Sought::Text(_)) && sought.is_path(spot.name(), When::Ever);
            let count = file.map_or(Ok(0), |file| finders.count(file, spot.region))? + u64::from(in_name);
            if count > 0 {
                let is_canvas = spot.region == Region::Open && spot.memory_path().is_some_and(|path| path.is_canvas());
                let is_card = is_canvas && matches!(sought, Sought::Note(_));
                let place = if is_card { PlaceKind::Card } else { kind_of(spot) };
                left.push(ForgottenPlace { place, path: Some(spot.path.clone()), count });
            }
            Ok(())
        };
        self.vault.every_file(&mut visit)?;
        self.vault.every_state_file(&mut visit)?;
        // What they hold is packed, so that nobody sees it by its letters.
        for path in self.vault.other_histories() {
            if !left.iter().any(|left| left.path.as_ref() == Some(&path)) {
                left.push(ForgottenPlace { place: PlaceKind::State, path: Some(path), count: 0 });
            }
        }
        // Its rows were looked through; their letters elsewhere in the file, as of what is compressed, say nothing.
        let named = self.vault.named_authors(sought)?;
        left.retain(|left| left.place != PlaceKind::Author || named > 0);
        left.sort();
        Ok(left)
    }

    /// What is said where there is nothing to erase.
    fn nothing(&self, target: &ForgetTarget) -> Failure {
        let text = match target {
            ForgetTarget::Note(path) => {
                let message = format!("no note is or was called `{path}`, as far as the history goes");
                return Failure::new(Code::NotFound, message)
                    .with_hint("`memdir tree` shows the notes, `memdir log` what they were called");
            }
            ForgetTarget::Text(text) => text,
        };
        let named = Forms::new(text).map_or(Ok(0), |forms| self.vault.named_authors(&Sought::Text(forms)));
        match named {
            Err(error) => failure(&error),
            Ok(0) => match self.vault.other_histories() {
                others if others.is_empty() => Failure::new(Code::NotFound, "the text is nowhere in this memory").with_hint(
                    "it is looked for letter by letter, upper and lower case apart; give a shorter piece, such as one word of it",
                ),
                others => Failure::new(Code::NotFound, format!("the text was not found; not looked through, since they are packed: {}", others.join(", ")))
                    .with_hint("run `memdir forget` on the machine that it belongs to; remove the folder of one that was put aside"),
            },
            Ok(_) => {
                let message = "the text is only the name of a client or a conversation, which memdir cannot erase";
                Failure::new(Code::NotFound, message)
                    .with_hint("the audit's hashes cover it, so it stays as long as the history of this machine")
            }
        }
    }
}

/// A proposal as JSON, with the lines that its diff shows as they were and as they would be: in the diff itself each begins
/// with a mark, so that no text of several lines would be found.
fn with_lines(said: String) -> String {
    let Ok(file) = serde_json::from_str::<serde_json::Value>(&said) else { return said };
    let diff = file.get("diff").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let side = |mark: char| -> String {
        let lines = diff.split_inclusive('\n');
        lines.filter_map(|line| line.strip_prefix([' ', mark])).collect()
    };
    serde_json::json!([file, side('-'), side('+')]).to_string()
}

fn too_short() -> Failure {
    let message = format!("the text has fewer than {MIN_TEXT_CHARS} letters: it stands in half of all words");
    Failure::new(Code::Usage, message).with_hint("give more of it, with what stands before or behind it")
}

fn blocked(paths: &[String]) -> Failure {
    const MOST: usize = 5;
    let shown = paths.iter().take(MOST).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > MOST { format!(" and {} more", paths.len() - MOST) } else { String::new() };
    Failure::new(Code::Conflict, format!("the text is in names, or in files that are no text: {shown}{more}"))
        .with_hint("nothing was erased; rename them, or forget each with `memdir forget PATH`, then try again")
}

/// Says that what was erased until now is, and stays.
fn partly(failure: Failure) -> Failure {
    failure.with_hint("some of it may be erased already; the same command again finishes it")
}

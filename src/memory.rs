//! [`Memory`]: what a program does with a folder of notes, in one type.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memdir_core::action::{Action, Call, GetContext, ReadFile, SearchFiles};
use memdir_core::catalog;
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Context, Failure, LogEntry, Report, Search, Value};
use memdir_dialect::{Parsed, encode, parse};
use memdir_engine::{Caller, ChangeError, Consent, Done, Engine, IndexPlace, Reviewed, Settings};
use memdir_host::Folder;
use memdir_policy::{Mode, Rules};
use memdir_vault::{LogQuery, Options};

/// A folder of notes, opened. Threads may share one, and so may processes: writers take turns.
#[derive(Debug)]
pub struct Memory {
    engine: Engine,
    root: PathBuf,
    client: Option<String>,
    mode: Mode,
    read_only: bool,
}

/// How a memory is opened; made by [`Memory::options`].
#[derive(Clone, Debug)]
pub struct OpenOptions {
    client: Option<String>,
    mode: Mode,
    read_only: bool,
    rules: Rules,
    state: Option<PathBuf>,
    vault: Options,
    index: bool,
}

/// What became of a text that a model wrote.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What the model is told, in the dialect in which it wrote.
    pub text: String,
    /// What became of each call, and what the model said to the person.
    pub report: Report,
}

/// What an undo or an approval has changed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The number by which it can be undone; `None` where nothing had to change.
    pub batch: Option<u64>,
    /// Every path that is different now.
    pub changed: Vec<MemoryPath>,
    /// One line for the person.
    pub receipt: Option<String>,
}

/// A change that waits for the person's yes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// Its number.
    pub id: u64,
    /// The program that asked for it.
    pub client: Option<String>,
    /// Why the person is asked.
    pub reason: String,
    /// What it would change, as a unified diff. An approval is bound to it. Empty where there is `trouble`.
    pub diff: String,
    /// Why it cannot be carried out now: an approval fails with this.
    pub trouble: Option<Failure>,
    digest: Digest,
}

impl OpenOptions {
    /// The name of your program, which history and audit then tell.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>) -> Self {
        self.client = Some(name.into());
        self
    }

    /// What becomes of calls about which somebody should be asked; [`Mode::Off`] where it is not said.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Refuses what changes notes: every action that writes, undoing, and deciding what waits.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// The person's standing answers. The settings file of the program `memdir` is not read.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir::{Memory, Rule, Rules, Verdict};
    ///
    /// let rule = Rule { action: None, path: Some("private/".to_owned()), client: None, detector: None, verdict: Verdict::Deny };
    /// let folder = tempfile::tempdir()?;
    /// let memory = Memory::options().without_index().rules(Rules::new(vec![rule])?).open(&folder)?;
    /// let answer = memory.run(r#"<actions>[{"action":"create_file","path":"private/a.md","content":"x"}]</actions>"#);
    /// assert_eq!(answer.report.actions[0].result.as_ref().unwrap_err().code, memdir::report::Code::Denied);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// A folder outside the memory for its history, instead of `.memdir` in it; a relative one begins in the current folder.
    /// Each memory has a folder of its own in it. Who opens the memory with another `state` begins another history.
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Drops the contents of changes that are older than `age`, and the oldest beyond this many bytes or three times the notes,
    /// whichever is more; 90 days and 100 MiB where it is not said. Such a change cannot be undone any more.
    #[must_use]
    pub fn keep(mut self, age: Duration, bytes: u64) -> Self {
        (self.vault.keep_for, self.vault.keep_bytes) = (age, bytes);
        self
    }

    /// Searches without an index: every search then reads the notes, and nothing is kept in the user's cache folder.
    #[must_use]
    pub fn without_index(mut self) -> Self {
        self.index = false;
        self
    }

    /// Opens the memory in `folder`.
    ///
    /// # Errors
    ///
    /// `not_found`, `not_a_directory` or `io` for the folder; `usage` for a home folder, for the root of a file system, and for a
    /// `state` in the memory.
    pub fn open(self, folder: impl AsRef<Path>) -> Result<Memory, Failure> {
        let folder = Folder::open(folder.as_ref())?;
        let options = folder.place_state(self.vault, self.state.as_deref())?;
        let index = if self.index { folder.index() } else { IndexPlace::Nowhere };
        let root = folder.root().to_owned();
        let settings = Settings { index, rules: self.rules, ..Settings::new(memdir_host::now) };
        let engine = Engine::new(folder.into_vault(options), settings);
        Ok(Memory { engine, root, client: self.client, mode: self.mode, read_only: self.read_only })
    }
}

impl Memory {
    /// Opens the memory in `folder`, with the defaults of [`Memory::options`].
    ///
    /// # Errors
    ///
    /// Those of [`OpenOptions::open`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, Failure> {
        Self::options().open(folder)
    }

    /// How to open a memory otherwise.
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions {
            client: None,
            mode: Mode::Off,
            read_only: false,
            rules: Rules::default(),
            state: None,
            vault: Options::default(),
            index: true,
        }
    }

    /// The canonical path of the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Does what a model wrote: its actions, in any dialect that memdir reads. All that succeeds is one batch, which one
    /// [`Memory::undo`] takes back.
    ///
    /// Never fails as a whole: what cannot be read or done is told in the answer.
    #[must_use]
    pub fn run(&self, text: &str) -> Answer {
        self.answer(text, |proposal| self.engine.conclude(proposal))
    }

    /// As [`Memory::run`], and does nothing: `report.diff` says what would change.
    #[must_use]
    pub fn preview(&self, text: &str) -> Answer {
        self.answer(text, |proposal| self.engine.preview(proposal))
    }

    /// Does one action and gives its answer.
    ///
    /// # Errors
    ///
    /// Why it was not done, with a hint at what to do instead.
    pub fn act(&self, action: Action) -> Result<Value, Failure> {
        let parsed = Parsed::of([Call::plain(1, action)]);
        let report = self.engine.conclude(self.engine.propose(parsed, self.program()));
        let outcome = report.actions.into_iter().next();
        outcome.ok_or_else(|| internal("a call has no outcome".to_owned()))?.result
    }

    /// The text of a note.
    ///
    /// # Errors
    ///
    /// `invalid_path`, and those of `read_file`.
    pub fn read(&self, path: &str) -> Result<String, Failure> {
        let path = MemoryPath::parse(path).map_err(|error| catalog::invalid_path(path, error))?;
        match self.act(Action::ReadFile(ReadFile { path, start_line: None, end_line: None, as_of: None }))? {
            Value::Text(text) => Ok(text),
            other => Err(unexpected(&other)),
        }
    }

    /// The 20 notes that answer a question best, the best first, each with the place that answers it. [`Memory::act`] takes a
    /// `SearchFiles` with other limits, in one folder, or by a regular expression.
    ///
    /// # Errors
    ///
    /// Those of `search_files`.
    pub fn search(&self, query: &str) -> Result<Search, Failure> {
        match self.act(Action::SearchFiles(SearchFiles::of(query)))? {
            Value::Search(found) => Ok(found),
            other => Err(unexpected(&other)),
        }
    }

    /// What is worth putting in front of a model with this message, within so many tokens.
    ///
    /// # Errors
    ///
    /// Those of `get_context`.
    pub fn context(&self, message: &str, tokens: u32) -> Result<Context, Failure> {
        let query = Some(message.to_owned());
        let wanted = GetContext { query, path: None, budget: Some(tokens), include_past: None, as_of: None };
        match self.act(Action::GetContext(wanted))? {
            Value::Context(context) => Ok(context),
            other => Err(unexpected(&other)),
        }
    }

    /// The newest batches, the newest first.
    ///
    /// # Errors
    ///
    /// `damaged`, `io`.
    pub fn history(&self, limit: usize) -> Result<Vec<LogEntry>, Failure> {
        let page = LogQuery { limit, ..LogQuery::default() };
        self.engine.log(&page, false).map(|log| log.entries)
    }

    /// Takes the newest batch back that is not undone yet, as a batch of its own. Later edits elsewhere in the same notes stay.
    ///
    /// # Errors
    ///
    /// `nothing_to_undo`; `read_only`; `conflict` where a later edit is in the same place: then nothing is changed, and
    /// [`ChangeError::diff`] leads from the note as it is to what the undo wanted.
    pub fn undo(&self) -> Result<Change, ChangeError> {
        self.take_back(None)
    }

    /// As [`Memory::undo`], of the batch with this number.
    ///
    /// # Errors
    ///
    /// Those of [`Memory::undo`]; `not_found`, `unavailable` where its contents are not kept any more.
    pub fn undo_batch(&self, batch: u64) -> Result<Change, ChangeError> {
        self.take_back(Some(batch))
    }

    /// The changes that wait for the person's yes.
    ///
    /// # Errors
    ///
    /// What the inbox says; a file in it that cannot be read is no error.
    pub fn waiting(&self) -> Result<Vec<Proposal>, Failure> {
        Ok(self.engine.pending()?.proposals.into_iter().map(Proposal::from).collect())
    }

    /// Carries out a proposal whose diff the person has seen.
    ///
    /// # Errors
    ///
    /// The proposal's `trouble`; `conflict` where it would change something else now, with that as [`ChangeError::diff`];
    /// `not_found` where it was decided meanwhile; `read_only`.
    pub fn approve(&self, proposal: &Proposal) -> Result<Change, ChangeError> {
        if let Some(trouble) = &proposal.trouble {
            return Err(trouble.clone().into());
        }
        self.engine.approve(proposal.id, Consent::Shown(proposal.digest), &self.person()).map(Change::from)
    }

    /// Drops the proposal with this number, whatever it would change by now. No other proposal ever has that number.
    ///
    /// # Errors
    ///
    /// `not_found` where it was decided meanwhile; `read_only`.
    pub fn reject(&self, proposal: &Proposal) -> Result<(), Failure> {
        self.engine.reject(proposal.id, &self.person())
    }

    fn answer(&self, text: &str, finish: impl FnOnce(memdir_engine::Proposal) -> Report) -> Answer {
        let parsed = parse(text.as_bytes());
        let (frame, error) = (parsed.frame.clone(), parsed.nothing_read());
        let report = finish(self.engine.propose(parsed, self.caller(Caller::model("library"))));
        let mut report = Report { error, ..report };
        report.bound();
        Answer { text: encode(&frame, &report), report }
    }

    fn take_back(&self, batch: Option<u64>) -> Result<Change, ChangeError> {
        self.engine.conclude_change(self.engine.propose_undo(batch)?, &self.program()).map(Change::from)
    }

    fn person(&self) -> Caller {
        self.caller(Caller::person("library"))
    }

    fn program(&self) -> Caller {
        self.caller(Caller::program("library"))
    }

    fn caller(&self, caller: Caller) -> Caller {
        Caller { mode: self.mode, read_only: self.read_only, ..caller.for_client(self.client.clone()) }
    }
}

impl From<Reviewed> for Proposal {
    fn from(Reviewed { waiting, trouble, .. }: Reviewed) -> Self {
        // Where it could not be planned, the diff is what the file in the inbox says, which anybody may have written.
        let diff = if trouble.is_none() { waiting.diff } else { String::new() };
        Self {
            id: waiting.id,
            client: waiting.author.client,
            reason: waiting.reason,
            diff,
            trouble,
            digest: waiting.digest,
        }
    }
}

impl From<Done> for Change {
    fn from(done: Done) -> Self {
        Self { batch: done.batch, changed: done.changed, receipt: done.receipt }
    }
}

fn unexpected(value: &Value) -> Failure {
    internal(format!("the answer has another kind than its action: {value:?}"))
}

fn internal(message: String) -> Failure {
    Failure::new(Code::Internal, message)
}

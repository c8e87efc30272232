//! The inbox: one file for each proposal that waits for the person, as bytes.
//!
//! Owns the folder of those files, their numbers, and that each proposal is decided once. Knows nothing of what they
//! say. The journal has the last number that was given, and which proposals wait: so a number is never given twice, and a
//! file of a decided proposal that a sync program brought back is no proposal. A file whose number was never given waits: the
//! history may have been put back from an older copy, and nobody has decided what the file says.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use cap_std::fs::Dir;
use rusqlite::{OptionalExtension, Transaction, params};

use super::audit::Chain;
use super::journal::{Flush, Journal, State};
use super::state::{INBOX, check_own_file, create_own_folder, open_own_folder};
use super::{AuditEntry, Author, Payload, Vault, VaultError, Writer, disk, tidied};
use memdir_core::time::Timestamp;

/// The key of the last number that was given.
const LAST: &str = "proposals";
/// How the keys of proposals begin that wait in a file, or are decided and may still have one. The value is [`WAITS`], the batch
/// of an approved one, or 0.
const PROPOSAL: &str = "proposal:";
/// How the keys begin that hold the last number of each client that counts its own proposals.
const LAST_OF: &str = "proposals of ";
/// The value for one that waits.
const WAITS: i64 = -1;
/// The most bytes that all files together may have; files beyond that are not read.
pub const MOST_WAITING_BYTES: usize = 64 << 20;
/// No proposal has a larger number: memdir did not give a file its name that says one.
const MOST_NUMBER: u64 = 1 << 40;
/// The most proposals that may wait at once; of more files than that, only the first are read.
pub const MOST_WAITING: usize = 1_000;

/// A proposal that waits.
#[derive(Debug)]
pub struct FiledProposal {
    /// Its number.
    pub number: u64,
    /// What its file holds, or why that cannot be read.
    pub content: Result<Vec<u8>, VaultError>,
}

/// All proposals that wait.
#[derive(Debug, Default)]
pub struct Inbox {
    /// In the order of their numbers.
    pub filed: Vec<FiledProposal>,
    /// How many bytes were read.
    pub bytes: usize,
    /// Whether there are files that the next writer will remove.
    pub is_untidy: bool,
}

/// The approval of a proposal, for the batch that carries it out.
#[derive(Clone, Copy, Debug)]
pub struct Approval<'a> {
    /// The number of the proposal.
    pub proposal: u64,
    /// Who decided.
    pub by: &'a Author,
}

/// The files of the folder, by what they are.
#[derive(Debug, Default)]
struct FileNames {
    waiting: Vec<u64>,
    /// Those of them whose numbers the journal has never given.
    unknown: Vec<u64>,
    /// Files of decided proposals, and of processes that ended early.
    leftovers: Vec<String>,
}

/// The numbers by which a proposal is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Numbers {
    /// Its number in the inbox.
    pub number: u64,
    /// Its number for a client that counts its own.
    pub own: Option<u64>,
}

impl Vault {
    /// Reads the proposals that wait. Changes nothing and takes no lock.
    ///
    /// # Errors
    ///
    /// [`VaultError::Untrusted`] for a folder that is a link or somebody else's, those of the database and the system.
    pub fn inbox(&self) -> Result<Inbox, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Inbox::default()) };
        let Some(folder) = open_own_folder(core.folder.machine(), INBOX)? else { return Ok(Inbox::default()) };
        let names = names(&folder, &core.journal)?;
        Ok(Inbox { is_untidy: !names.leftovers.is_empty(), ..read_all(&folder, &names) })
    }

    /// The last number that was given to a proposal; 0 before the first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn last_proposal(&self) -> Result<u64, VaultError> {
        self.known_core()?.as_ref().map_or(Ok(0), |core| core.journal.last_proposal())
    }
}

impl Writer<'_> {
    /// Removes the files of decided proposals and the temporary ones of a crash, notes the numbers that the journal has never given, so
    /// that it does not give them, then reads the proposals that wait.
    ///
    /// # Errors
    ///
    /// As [`Vault::inbox`].
    pub fn inbox(&mut self) -> Result<Inbox, VaultError> {
        let Some(folder) = open_own_folder(self.core()?.folder.machine(), INBOX)? else { return Ok(Inbox::default()) };
        let names = names(&folder, &self.core()?.journal)?;
        let mut is_untidy = false;
        for name in &names.leftovers {
            if let Err(error) = folder.remove_file(name) {
                is_untidy = true;
                tracing::warn!(kind = %error.kind(), "something in the inbox could not be removed");
            }
        }
        if !names.leftovers.is_empty() {
            self.flush_folder(&folder).map_err(|error| VaultError::io("flush the inbox", None, error))?;
        }
        let journal = &mut self.core()?.journal;
        journal.adopt(&names.unknown)?;
        journal.forget_decided(Some(&folder))?;
        Ok(Inbox { is_untidy, ..read_all(&folder, &names) })
    }

    /// The last number that was given to a proposal; 0 before the first.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn last_proposal(&mut self) -> Result<u64, VaultError> {
        self.core()?.journal.last_proposal()
    }

    /// The number that the next proposal will have.
    ///
    /// # Errors
    ///
    /// Those of the database and the system.
    pub fn next_proposal(&mut self) -> Result<u64, VaultError> {
        let mut number = self.last_proposal()? + 1;
        if let Some(folder) = open_own_folder(self.core()?.folder.machine(), INBOX)? {
            // A file of this name that nobody could remove.
            while folder.symlink_metadata(name_of(number)).is_ok() {
                number += 1;
            }
        }
        Ok(number)
    }

    /// The number by which a client that counts its own will know its next proposal.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn next_proposal_of(&mut self, client: &str) -> Result<u64, VaultError> {
        Ok(self.core()?.journal.sum(&last_of(client))?.unwrap_or(0) + 1)
    }

    /// Files a proposal: writes its file, where it has one, and the entries of its calls, both flushed. It gets the number that
    /// [`Writer::next_proposal`] gave, and for a client that counts its own the one of [`Writer::next_proposal_of`]. `steps` are
    /// the digests of the steps of `tidy` that it holds, by which [`Tidied`](super::Tidied) knows them.
    ///
    /// # Errors
    ///
    /// Nothing waits then, unless the file cannot be taken away again either: [`VaultError::DiskFull`], [`VaultError::NoWriteAccess`] and others of the system.
    pub fn file_proposal(
        &mut self,
        Numbers { number, own }: Numbers,
        content: Option<&[u8]>,
        (entries, steps): (&[AuditEntry], &[String]),
        author: &Author,
        time: Timestamp,
    ) -> Result<(), VaultError> {
        let folder = match content {
            Some(content) => {
                let folder = create_own_folder(self.core()?.folder.machine(), INBOX)?;
                self.put_file(&folder, number, content, Put::New)?;
                Some(folder)
            }
            None => None,
        };
        let noted = self.core()?.journal.transaction(Flush::Yes, |transaction| {
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            transaction.prepare_cached(sql)?.execute(params![LAST, number])?;
            if let (Some(own), Some(client)) = (own, &author.client) {
                transaction.prepare_cached(sql)?.execute(params![last_of(client), own])?;
            }
            if content.is_some() {
                transaction.prepare_cached(sql)?.execute(params![key_of(number), WAITS])?;
            }
            tidied::note(transaction, steps, number)?;
            Chain::open(transaction, entries.len())?.append(None, entries, author, time)
        });
        if let (Err(_), Some(folder)) = (&noted, &folder) {
            // Nobody has seen its number. Should the file stay, it waits, as one of which the history does not know.
            let _ = folder.remove_file(name_of(number));
        }
        noted
    }

    /// Replaces the file of a proposal that waits, flushed.
    ///
    /// # Errors
    ///
    /// Those of the system; the file is then as it was or as it shall be.
    pub fn replace_proposal(&mut self, number: u64, content: &[u8]) -> Result<(), VaultError> {
        let folder = create_own_folder(self.core()?.folder.machine(), INBOX)?;
        self.put_file(&folder, number, content, Put::Over)
    }

    /// Decides proposals without carrying anything out, notes that in the audit, and removes their files.
    ///
    /// # Errors
    ///
    /// Those of the database: then nothing is decided.
    pub fn drop_proposals(
        &mut self,
        numbers: &[u64],
        entries: &[AuditEntry],
        by: &Author,
        time: Timestamp,
    ) -> Result<(), VaultError> {
        self.core()?.journal.transaction(Flush::Yes, |transaction| {
            numbers.iter().try_for_each(|number| note_decided(transaction, *number, 0))?;
            Chain::open(transaction, entries.len())?.append(None, entries, by, time)
        })?;
        self.remove_decided(numbers);
        Ok(())
    }

    /// Removes the files of proposals that are decided. A failure is only logged; the next writer tries again.
    pub fn remove_decided(&mut self, numbers: &[u64]) {
        if let Err(error) = self.try_remove_decided(numbers) {
            tracing::warn!(%error, "the file of a decided proposal was not removed");
        }
    }

    fn try_remove_decided(&mut self, numbers: &[u64]) -> Result<(), VaultError> {
        let io = |error| VaultError::io("remove a proposal", None, error);
        let folder = open_own_folder(self.core()?.folder.machine(), INBOX)?;
        if let Some(folder) = &folder {
            for number in numbers {
                match folder.remove_file(name_of(*number)) {
                    Err(error) if !disk::is_gone(&error) => return Err(io(error)),
                    _ => {}
                }
            }
            self.flush_folder(folder).map_err(io)?;
        }
        self.core()?.journal.forget_decided(folder.as_ref())
    }

    /// Writes a file under a name of its own, flushes it, and gives it its name in one instant.
    fn put_file(&self, folder: &Dir, number: u64, content: &[u8], put: Put) -> Result<(), VaultError> {
        let (name, temporary) = (name_of(number), format!(".{number}.tmp"));
        let write = || {
            match folder.remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            disk::create_name(folder, &temporary, 0o600)?.write_all(content)?;
            self.flush_name(folder, &temporary)?;
            match put {
                Put::New => disk::rename_new(folder, &temporary, folder, &name)?,
                Put::Over => folder.rename(&temporary, folder, &name)?,
            }
            self.flush_folder(folder)
        };
        write().map_err(|error| {
            // Best effort: whatever is left is no proposal, and the next writer removes it.
            let _ = folder.remove_file(&temporary);
            if put == Put::New {
                let _ = folder.remove_file(&name);
            }
            VaultError::io("write to the inbox", None, error)
        })
    }
}

/// Whether a file has its name already.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Put {
    New,
    Over,
}

impl Journal {
    fn last_proposal(&self) -> Result<u64, VaultError> {
        Ok(self.sum(LAST)?.unwrap_or(0))
    }

    /// The proposals that wait in a file, and those that are decided whose file may still be there. One whose batch was
    /// given back waits on.
    fn proposals(&self) -> Result<BTreeMap<u64, ProposalState>, VaultError> {
        let sql = "SELECT substr(key, ?2), value, (SELECT state FROM batch WHERE id = value)
                   FROM meta WHERE key > ?1 AND key < ?1 || 'a'";
        let mut statement = self.db.prepare_cached(sql)?;
        let mut rows = statement.query(params![PROPOSAL, PROPOSAL.len() + 1])?;
        let mut proposals = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let damaged = || VaultError::Damaged("a proposal has no number".to_owned());
            let number = row.get::<_, String>(0)?.parse().map_err(|_| damaged())?;
            proposals.insert(number, ProposalState::of(row.get(1)?, row.get(2)?));
        }
        Ok(proposals)
    }

    /// Notes that files wait whose numbers were never given, unflushed: until it is on the disk they are found the same way.
    fn adopt(&mut self, unknown: &[u64]) -> Result<(), VaultError> {
        let Some(last) = unknown.iter().max() else { return Ok(()) };
        self.transaction(Flush::No, |transaction| {
            let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            transaction.prepare_cached(sql)?.execute(params![LAST, last])?;
            for number in unknown {
                transaction.prepare_cached(sql)?.execute(params![key_of(*number), WAITS])?;
            }
            Ok(())
        })
    }

    /// Deletes the rows of decided proposals that have no file any more; one whose batch was given back waits again.
    fn forget_decided(&mut self, folder: Option<&Dir>) -> Result<(), VaultError> {
        let has_file = |number| folder.is_some_and(|folder| folder.symlink_metadata(name_of(number)).is_ok());
        let (mut again, mut over) = (Vec::new(), Vec::new());
        for (number, standing) in self.proposals()? {
            match (standing, has_file(number)) {
                (ProposalState::GivenBack, true) => again.push(number),
                (ProposalState::GivenBack | ProposalState::Decided, false) => over.push(number),
                (ProposalState::Waits, _) | (ProposalState::Decided, true) => {}
            }
        }
        if again.is_empty() && over.is_empty() {
            return Ok(());
        }
        self.transaction(Flush::No, |transaction| {
            let sql = "UPDATE meta SET value = ?2 WHERE key = ?1";
            for number in again {
                transaction.prepare_cached(sql)?.execute(params![key_of(number), WAITS])?;
            }
            for number in over {
                transaction.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key_of(number)])?;
            }
            Ok(())
        })
    }
}

/// Whether a proposal is decided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ProposalState {
    Waits,
    Decided,
    /// It was approved, and its batch was given back.
    GivenBack,
}

impl ProposalState {
    fn of(value: i64, state: Option<i64>) -> Self {
        match (value, state) {
            (WAITS, _) => Self::Waits,
            (_, Some(state)) if state == State::Aborted.code() => Self::GivenBack,
            _ => Self::Decided,
        }
    }
}

/// Notes in a batch's own transaction that it carries out a proposal, and who approved it.
pub(super) fn note_approved(
    transaction: &Transaction<'_>,
    approval: &Approval<'_>,
    batch: u64,
    time: Timestamp,
) -> Result<(), VaultError> {
    let number = approval.proposal;
    note_decided(transaction, number, batch)?;
    let entry = AuditEntry {
        number: 1,
        action: "approve".to_owned(),
        code: None,
        micros: 0,
        permission: "off".to_owned(),
        payload: Payload::of_decision(number, Some(batch)),
    };
    Chain::open(transaction, 1)?.append(None, &[entry], approval.by, time)
}

/// Fails where it is decided already.
fn note_decided(transaction: &Transaction<'_>, number: u64, batch: u64) -> Result<(), VaultError> {
    let known = transaction
        .prepare_cached("SELECT value, (SELECT state FROM batch WHERE id = value) FROM meta WHERE key = ?1")?
        .query_row([key_of(number)], |row| Ok(ProposalState::of(row.get(0)?, row.get(1)?)))
        .optional()?;
    if known == Some(ProposalState::Decided) {
        return Err(VaultError::Decided(number));
    }
    let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    transaction.prepare_cached(sql)?.execute(params![key_of(number), batch])?;
    Ok(())
}

/// Sorts the names in the folder. Names that memdir does not give are left alone.
fn names(folder: &Dir, journal: &Journal) -> Result<FileNames, VaultError> {
    let io = |error| VaultError::io("look into the inbox", None, error);
    let mut found = Vec::new();
    for entry in folder.entries().map_err(io)? {
        let entry = entry.map_err(io)?;
        // A folder is not ours, whatever its name, and cannot be removed as a file.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        found.extend(entry.file_name().to_str().map(|name| (name.to_owned(), is_folder)));
    }
    let mut names = FileNames::default();
    if found.is_empty() {
        return Ok(names);
    }
    let (known, last) = (journal.proposals()?, journal.last_proposal()?);
    for (name, is_folder) in found {
        match number_of(&name) {
            Some(number) => match known.get(&number) {
                Some(ProposalState::Waits | ProposalState::GivenBack) => names.waiting.push(number),
                Some(ProposalState::Decided) | None if is_folder => {}
                None if number > last => names.unknown.push(number),
                Some(ProposalState::Decided) | None => names.leftovers.push(name),
            },
            None if name.starts_with('.') && name.ends_with(".tmp") && !is_folder => names.leftovers.push(name),
            None => {}
        }
    }
    names.waiting.extend(&names.unknown);
    names.waiting.sort_unstable();
    Ok(names)
}

fn read_all(folder: &Dir, names: &FileNames) -> Inbox {
    let mut inbox = Inbox::default();
    for &number in names.waiting.iter().take(MOST_WAITING) {
        let content = match read(folder, &name_of(number), MOST_WAITING_BYTES - inbox.bytes) {
            // A file that is removed meanwhile is decided.
            Ok(None) => continue,
            Ok(Some(content)) => Ok(content),
            Err(error) => Err(error),
        };
        inbox.bytes += content.as_ref().map_or(0, Vec::len);
        inbox.filed.push(FiledProposal { number, content });
    }
    inbox
}

/// Reads a file that has at most `most` bytes.
fn read(folder: &Dir, name: &str, most: usize) -> Result<Option<Vec<u8>>, VaultError> {
    let io = |error: io::Error| match disk::is_link_error(&error) {
        true => VaultError::Untrusted("it holds a link where a file belongs"),
        false => VaultError::io("read a proposal", None, error),
    };
    let file = match disk::open_name(folder, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(io)?,
    };
    let metadata = file.metadata().map_err(io)?;
    check_own_file(&metadata)?;
    let too_large = || VaultError::Damaged(format!("all that waits has more than {MOST_WAITING_BYTES} bytes"));
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    if metadata.len() > limit {
        return Err(too_large());
    }
    let mut content = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(io)?;
    if content.len() > most {
        return Err(too_large());
    }
    Ok(Some(content))
}

fn last_of(client: &str) -> String {
    format!("{LAST_OF}{client}")
}

fn name_of(number: u64) -> String {
    format!("{number}.json")
}

fn key_of(number: u64) -> String {
    format!("{PROPOSAL}{number}")
}

/// The number in a name that [`name_of`] has made.
fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".json")?.parse().ok()?;
    (1..=MOST_NUMBER).contains(&number).then_some(number).filter(|number| name_of(*number) == name)
}

//! [`WriteTransaction`]: a change of an index, all of it or nothing.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::record::{NoteRecord, Text};
use super::{Index, IndexError, file, sealed};
use memdir_core::path::MemoryPath;
use memdir_core::retry;
use memdir_note::target::stem_of;
use memdir_plan::Swept;
use memdir_rank::called;

/// After a change of so many files the log is folded into the database, so that the next connection need not read it.
const MANY: usize = 200;
/// How many segments of the full text are merged at once, and how many bytes of words wait in memory: for single changes the
/// defaults of FTS5, so that none of them takes long; and for many, so that a word is written fewer times.
const SINGLE: (i64, i64) = (4, 1 << 20);
const MASS: (i64, i64) = (16, 16 << 20);

/// How many changes threads of this process are making, of any index.
static WRITERS: AtomicUsize = AtomicUsize::new(0);
/// How often a change waits again while a thread of this process is making another one.
const MOST_ROUNDS: usize = 50;

/// A change of an index. Other connections see none of it before [`WriteTransaction::commit`]; queries made through it do. Dropping it
/// undoes it.
#[derive(Debug)]
pub struct WriteTransaction<'i> {
    index: &'i Index,
    puts: usize,
    is_committed: bool,
}

/// A file that is in the index already.
struct Known {
    id: i64,
    is_link: bool,
    /// Whether it is a note, and then what its digest is.
    note: Option<Option<Vec<u8>>>,
    has_text: bool,
    has_points: bool,
}

impl Index {
    /// Starts a change. There is one at a time; other writers wait for it, and readers are not affected.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] after waiting 0.2 s for another process, since a query may wait for this; or any [`IndexError`].
    pub fn write(&mut self) -> Result<WriteTransaction<'_>, IndexError> {
        self.begin(file::MOMENT)
    }

    /// As [`Index::write`], where no query waits for it.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] after 10 s, or any [`IndexError`].
    pub fn write_patiently(&mut self) -> Result<WriteTransaction<'_>, IndexError> {
        self.begin(file::LONG)
    }

    fn begin(&mut self, limit: Duration) -> Result<WriteTransaction<'_>, IndexError> {
        // Threads of this process finish soon, and waiting for them does not count as waiting for another process.
        for _ in 0..MOST_ROUNDS {
            let attempt = || Ok::<_, IndexError>(file::begin_at_once(&self.db)?.then_some(()));
            if self.checked(|_| retry::within(limit, attempt))?.is_some() {
                WRITERS.fetch_add(1, Ordering::Relaxed);
                return Ok(WriteTransaction { index: self, puts: 0, is_committed: false });
            }
            if WRITERS.load(Ordering::Relaxed) == 0 {
                break;
            }
        }
        Err(IndexError::Busy)
    }

    fn set(&self, sql: &str, value: i64) -> Result<(), IndexError> {
        self.checked(|db| Ok(db.prepare_cached(sql)?.execute([value])?)).map(|_| ())
    }
}

impl WriteTransaction<'_> {
    /// Puts a file as it is now. `record` is the content of a note, `None` for a file that is no note. Where that has not changed,
    /// only the stamp is updated.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn put(&mut self, swept: &Swept, record: Option<&NoteRecord>) -> Result<(), IndexError> {
        self.puts += 1;
        self.index.checked(|db| put(db, swept, record))
    }

    /// Removes a file, or what is below a folder.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn remove(&mut self, path: &MemoryPath) -> Result<(), IndexError> {
        self.remove_each("WHERE path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')", path)
    }

    /// Removes a file that a folder has replaced: files below the folder stay.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn remove_file(&mut self, path: &MemoryPath) -> Result<(), IndexError> {
        self.remove_each("WHERE path = ?1", path)
    }

    fn remove_each(&mut self, which: &str, path: &MemoryPath) -> Result<(), IndexError> {
        self.puts += 1;
        self.index.checked(|db| {
            let sql = format!(
                "SELECT id, is_link, digest, look IS NOT NULL, card IS NOT NULL,
                        EXISTS (SELECT 1 FROM point WHERE point.file = id)
                 FROM file LEFT JOIN note ON note.file = file.id {which}"
            );
            let mut statement = db.prepare_cached(&sql)?;
            let found = statement.query_map([path.as_str()], known)?.collect::<Result<Vec<_>, _>>()?;
            for known in found {
                if known.has_text && !known.is_link {
                    db.prepare_cached("DELETE FROM text WHERE rowid = ?1")?.execute([known.id])?;
                }
                // The rows that refer to it are deleted with it.
                db.prepare_cached("DELETE FROM file WHERE id = ?1")?.execute([known.id])?;
                count(db, Some(&known), None)?;
            }
            Ok(())
        })
    }

    /// Sets the newest batch of the journal that is in it.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn set_batch(&mut self, batch: u64) -> Result<(), IndexError> {
        self.index.set("UPDATE state SET batch = ?1 WHERE one = 1", batch.cast_signed())
    }

    /// Sets whether all files of the memory are in it.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn set_complete(&mut self, is_complete: bool) -> Result<(), IndexError> {
        self.index.set("UPDATE state SET is_complete = ?1 WHERE one = 1", i64::from(is_complete))
    }

    /// Sets whether many files will be put one after the other. This holds for every writer until it is set again.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn set_filling(&mut self, is_filling: bool) -> Result<(), IndexError> {
        let (pieces, bytes) = if is_filling { MASS } else { SINGLE };
        self.index.set("INSERT INTO text (text, rank) VALUES ('automerge', ?1)", pieces)?;
        self.index.set("INSERT INTO text (text, rank) VALUES ('hashsize', ?1)", bytes)
    }

    /// Commits the change. A crash of the system may lose it again, as a whole.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`]; nothing has changed then.
    pub fn commit(mut self) -> Result<(), IndexError> {
        self.index.checked(|db| Ok(db.prepare_cached("COMMIT")?.execute([])?))?;
        self.is_committed = true;
        if self.puts >= MANY {
            file::shorten_log(&self.index.db);
        }
        Ok(())
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        self.index
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            // Where this fails the transaction is over already.
            let _ = self.index.db.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
        }
        WRITERS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn put(db: &Connection, swept: &Swept, record: Option<&NoteRecord>) -> Result<(), IndexError> {
    let sql = "SELECT id, is_link, digest, look IS NOT NULL, card IS NOT NULL,
                      EXISTS (SELECT 1 FROM point WHERE point.file = id)
               FROM file LEFT JOIN note ON note.file = file.id WHERE path = ?1";
    let before = db.prepare_cached(sql)?.query_row([swept.path.as_str()], known).optional()?;
    let stamp = &swept.stamp;
    let (size, inode) = (stamp.size.cast_signed(), stamp.inode.cast_signed());
    let id = match &before {
        Some(known) => {
            let sql = "UPDATE file SET is_link = ?2, size = ?3, modified = ?4, changed = ?5, inode = ?6 WHERE id = ?1";
            let row = params![known.id, swept.is_link, size, stamp.modified, stamp.changed, inode];
            db.prepare_cached(sql)?.execute(row)?;
            known.id
        }
        None => {
            let sql = "INSERT INTO file (path, is_link, size, modified, changed, inode, stem)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let (path, stem) = (swept.path.as_str(), called(&stem_of(&swept.path)));
            let row = params![path, swept.is_link, size, stamp.modified, stamp.changed, inode, stem];
            db.prepare_cached(sql)?.execute(row)?;
            db.last_insert_rowid()
        }
    };
    if before.as_ref().is_some_and(|known| known.says(swept, record)) {
        return Ok(());
    }
    if let Some(known) = before.as_ref().filter(|known| known.note.is_some()) {
        clear(db, known)?;
    }
    if let Some(record) = record {
        fill(db, id, swept, record)?;
    }
    let has_text = record.is_some_and(|record| record.text.is_some());
    let after = Known { id, is_link: swept.is_link, note: record.map(|_| None), has_text, has_points: false };
    count(db, before.as_ref(), Some(&after))
}

impl Known {
    /// Whether a file that is put says what it said before.
    fn says(&self, swept: &Swept, record: Option<&NoteRecord>) -> bool {
        let is_same = match (&self.note, record) {
            (None, None) => true,
            (Some(Some(digest)), Some(record)) => {
                let has_text = record.text.is_some() == self.has_text;
                has_text && record.digest.is_some_and(|now| now.as_bytes() == digest.as_slice())
            }
            _ => false,
        };
        is_same && self.is_link == swept.is_link
    }
}

fn known(row: &rusqlite::Row<'_>) -> rusqlite::Result<Known> {
    let is_note: bool = row.get(3)?;
    let digest = row.get(2)?;
    let note = is_note.then_some(digest);
    Ok(Known { id: row.get(0)?, is_link: row.get(1)?, note, has_text: row.get(4)?, has_points: row.get(5)? })
}

/// Takes out what a note said.
fn clear(db: &Connection, known: &Known) -> Result<(), IndexError> {
    for sql in [
        "DELETE FROM name WHERE file = ?1",
        "DELETE FROM link WHERE file = ?1",
        "DELETE FROM point WHERE file = ?1",
        "DELETE FROM note WHERE file = ?1",
    ] {
        db.prepare_cached(sql)?.execute([known.id])?;
    }
    if known.has_text && !known.is_link {
        db.prepare_cached("DELETE FROM text WHERE rowid = ?1")?.execute([known.id])?;
    }
    Ok(())
}

/// Takes in what a note says.
fn fill(db: &Connection, id: i64, swept: &Swept, record: &NoteRecord) -> Result<(), IndexError> {
    let sealed = |bytes: &Vec<u8>| sealed::seal(&swept.path, bytes);
    let (look, card) = (sealed(&record.look), record.text.as_ref().map(|text| sealed(&text.card)));
    let digest = record.digest.as_ref().map(|digest| digest.as_bytes().as_slice());
    let sql = "INSERT INTO note (file, digest, look, card) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)?.execute(params![id, digest, look, card])?;
    let Some(Text { names, links, words, .. }) = &record.text else { return Ok(()) };
    for link in links {
        db.prepare_cached("INSERT INTO link (file, name) VALUES (?1, ?2)")?.execute(params![id, link])?;
    }
    // A name that leads to a note elsewhere adds nothing to what that says.
    if swept.is_link {
        return Ok(());
    }
    for name in names {
        db.prepare_cached("INSERT INTO name (file, name) VALUES (?1, ?2)")?.execute(params![id, name])?;
    }
    db.prepare_cached("INSERT INTO text (rowid, words) VALUES (?1, ?2)")?.execute(params![id, words])?;
    Ok(())
}

/// Counts a file as it is instead of how it was.
fn count(db: &Connection, before: Option<&Known>, after: Option<&Known>) -> Result<(), IndexError> {
    let one = |known: Option<&Known>| {
        let is_own = known.is_some_and(|known| !known.is_link);
        let is_note = is_own && known.is_some_and(|known| known.note.is_some());
        let is_text = is_own && known.is_some_and(|known| known.has_text);
        let has_points = known.is_some_and(|known| known.has_points);
        [known.is_some(), is_note, is_text, has_points].map(i64::from)
    };
    let ([files, notes, texts, points], [old_files, old_notes, old_texts, old_points]) = (one(after), one(before));
    let change = [files - old_files, notes - old_notes, texts - old_texts, points - old_points];
    if change != [0; 4] {
        // A statement that may change several rows makes FTS5 write down all words that it has gathered.
        let sql = "UPDATE state SET files = files + ?1, notes = notes + ?2, texts = texts + ?3, points = points + ?4
                   WHERE one = 1";
        db.prepare_cached(sql)?.execute(change)?;
    }
    Ok(())
}

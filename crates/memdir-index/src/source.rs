//! What ranking asks of an index.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension, params};

use super::record::{is_word, marked, parted, token};
use super::{Index, IndexError, blob, sealed, text};
use memdir_core::path::MemoryPath;
use memdir_note::Card;
use memdir_note::stem::Stem;
use memdir_rank::{Files, Impact, LinkedFiles, Number, Point, Source, SourceError, Spelling};

impl Source for Index {
    fn notes(&self) -> Result<usize, SourceError> {
        Ok(self.checked(texts)?)
    }

    fn unread(&self, folder: Option<&MemoryPath>) -> Result<usize, SourceError> {
        let state = self.status()?;
        let count = state.notes.saturating_sub(self.notes()?);
        let Some(folder) = folder.filter(|_| count > 0) else { return Ok(count) };
        let sql = "SELECT count(*) FROM file JOIN note ON note.file = file.id
                   WHERE (path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0')) AND card IS NULL";
        Ok(self.checked(|db| Ok(db.prepare_cached(sql)?.query_row([folder.as_str()], |row| row.get(0))?))?)
    }

    fn holding(&self, stems: &[Stem]) -> Result<usize, SourceError> {
        Ok(self.checked(|db| {
            let mut holding = Vec::new();
            for stem in stems {
                let notes: usize = terms(db, &token(stem))?.into_iter().map(|(_, notes)| notes).sum();
                holding.extend((notes > 0).then_some(notes));
            }
            // A short note may hold two stems of one word.
            if holding.len() > 1 { Ok(every(db, stems)?.len()) } else { Ok(holding.pop().unwrap_or_default()) }
        })?)
    }

    fn matching(&self, stems: &[Stem]) -> Result<Vec<(Number, Impact)>, SourceError> {
        Ok(self.checked(|db| every(db, stems))?)
    }

    fn card(&self, note: Number) -> Result<Option<(MemoryPath, Card)>, SourceError> {
        Ok(self.checked(|db| {
            let sql = "SELECT path, card FROM file JOIN note ON note.file = file.id WHERE id = ?1";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query([note])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let path = sealed::path(text(row, 0)?)?;
            let card = blob(row, 1)?.map(|card| sealed::open(&path, card)).transpose()?;
            Ok(card.map(|card| (path, card)))
        })?)
    }

    fn path(&self, note: Number) -> Result<Option<MemoryPath>, SourceError> {
        Ok(self.checked(|db| {
            let mut statement = db.prepare_cached("SELECT path FROM file WHERE id = ?1")?;
            let mut rows = statement.query([note])?;
            rows.next()?.map(|row| sealed::path(text(row, 0)?)).transpose()
        })?)
    }

    fn number(&self, path: &MemoryPath) -> Result<Option<Number>, SourceError> {
        Ok(self.checked(|db| {
            let sql = "SELECT id FROM file JOIN note ON note.file = file.id
                       WHERE path = ?1 AND NOT is_link AND card IS NOT NULL";
            Ok(db.prepare_cached(sql)?.query_row([path.as_str()], |row| row.get(0)).optional()?)
        })?)
    }

    fn called(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError> {
        let sql = "SELECT file FROM name JOIN file ON id = file
                   WHERE name = ?1 AND NOT is_link ORDER BY file LIMIT ?2";
        Ok(self.checked(|db| numbers(db, sql, name, most))?)
    }

    fn linking(&self, name: &str, most: usize) -> Result<Vec<Number>, SourceError> {
        let sql = "SELECT file FROM link JOIN file ON id = file
                   WHERE name = ?1 AND NOT is_link ORDER BY file LIMIT ?2";
        Ok(self.checked(|db| numbers(db, sql, name, most))?)
    }

    fn below(&self, folder: &MemoryPath) -> Result<Vec<Number>, SourceError> {
        let sql = "SELECT id FROM file JOIN note ON note.file = file.id
                   WHERE (path = ?1 OR (path > ?1 || '/' AND path < ?1 || '0'))
                     AND NOT is_link AND card IS NOT NULL LIMIT ?2";
        Ok(self.checked(|db| numbers(db, sql, folder.as_str(), usize::MAX))?)
    }

    fn spelled_like(&self, word: &str) -> Result<Option<Stem>, SourceError> {
        Ok(self.checked(|db| spelled_like(db, word))?)
    }

    fn around(&self, note: &MemoryPath) -> Result<Option<Files>, SourceError> {
        if !self.status()?.is_complete {
            return Ok(None);
        }
        Ok(Some(self.checked(|db| super::around::around(db, note))?))
    }

    fn linked(&self, note: &MemoryPath, most: usize) -> Result<Option<LinkedFiles>, SourceError> {
        if !self.status()?.is_complete {
            return Ok(None);
        }
        let (files, is_cut) = self.checked(|db| super::around::linked(db, note, most))?;
        Ok(Some(LinkedFiles { files: files.into_iter().collect(), is_cut }))
    }

    fn alike(&self, point: &Point) -> Result<Vec<(Number, f64)>, SourceError> {
        Ok(self.checked(|db| super::points::alike(db, point))?)
    }
}

/// The notes that hold any of some stems, each once, and how much of the one that says most.
fn every(db: &Connection, stems: &[Stem]) -> Result<Vec<(Number, Impact)>, IndexError> {
    let mut found = Vec::new();
    for stem in stems {
        found.extend(matching(db, &token(stem))?);
    }
    found.sort_unstable_by_key(|(note, much)| (*note, Reverse(*much)));
    found.dedup_by_key(|(note, _)| *note);
    Ok(found)
}

/// How many notes have words.
fn texts(db: &Connection) -> Result<usize, IndexError> {
    Ok(db.prepare_cached("SELECT texts FROM state")?.query_row([], |row| row.get(0))?)
}

fn numbers(db: &Connection, sql: &str, about: &str, most: usize) -> Result<Vec<Number>, IndexError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_map(params![about, most], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// How much of a token notes have, and how many notes so much.
fn terms(db: &Connection, token: &str) -> Result<Vec<(Impact, usize)>, IndexError> {
    let mut statement = db.prepare_cached("SELECT term, doc FROM word WHERE term >= ?1 AND term <= ?2")?;
    let mut rows = statement.query(Impact::RANGE.map(|much| marked(token, much)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if let Some((own, much)) = parted(text(row, 0)?)
            && own == token
        {
            found.push((much, row.get(1)?));
        }
    }
    Ok(found)
}

fn matching(db: &Connection, token: &str) -> Result<Vec<(Number, Impact)>, IndexError> {
    let mut found = Vec::new();
    for (much, _) in terms(db, token)? {
        let mut statement = db.prepare_cached("SELECT rowid FROM text WHERE text MATCH ?1")?;
        let mut rows = statement.query([format!("\"{}\"", marked(token, much))])?;
        while let Some(row) = rows.next()? {
            found.push((row.get(0)?, much));
        }
    }
    if found.len() > texts(db)? {
        return Err(IndexError::damaged("more notes hold a word than there are"));
    }
    Ok(found)
}

fn spelled_like(db: &Connection, word: &str) -> Result<Option<Stem>, IndexError> {
    let Some(spelling) = Spelling::of(word) else { return Ok(None) };
    let first = spelling.first();
    let mut statement = db.prepare_cached("SELECT term, doc FROM word WHERE term >= ?1 AND term < ?2")?;
    let mut rows = statement.query([first, &format!("{first}{}", char::MAX)])?;
    // The terms of one token come one after the other.
    let mut near: Vec<(usize, usize, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let Some((token, _)) = parted(text(row, 0)?) else { continue };
        let holding: usize = row.get(1)?;
        match near.last_mut().filter(|(.., known)| known == token) {
            Some((_, notes, _)) => *notes += holding,
            None => {
                let distance = spelling.distance(token).filter(|_| is_word(token));
                near.extend(distance.map(|distance| (distance, holding, token.to_owned())));
            }
        }
    }
    let nearest = near.into_iter().min_by(|(one, notes, word), (other, others, other_word)| {
        one.cmp(other).then_with(|| others.cmp(notes)).then_with(|| word.cmp(other_word))
    });
    Ok(nearest.map(|(.., stem)| Stem::kept(&stem)))
}

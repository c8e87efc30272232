//! What notes mean, as points: made elsewhere, kept in a byte a number, compared one by one.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Index, IndexError, WriteTransaction, blob, sealed, text};
use memdir_core::digest::Digest;
use memdir_core::path::MemoryPath;
use memdir_rank::{Number, Point};

/// How the numbers of a point are counted in front of it.
const HEAD: usize = 2;

/// A note that has no points yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unpointed {
    /// Its number, by which the next ones are asked for.
    pub number: Number,
    /// Where it is.
    pub path: MemoryPath,
    /// What it said when it was put.
    digest: Vec<u8>,
}

impl Unpointed {
    /// Whether the note still has the bytes that were put.
    #[must_use]
    pub fn says(&self, bytes: &[u8]) -> bool {
        Digest::of(bytes).as_bytes().as_slice() == self.digest
    }
}

/// How far an index has come with points.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pointed {
    /// The embedder that made them; `None` before the first.
    pub embedder: Option<String>,
    /// How many notes have some.
    pub notes: usize,
    /// How many notes are text, and could have some.
    pub all: usize,
}

impl Index {
    /// How far it has come with points.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn pointed(&self) -> Result<Pointed, IndexError> {
        self.checked(|db| {
            let sql = "SELECT embedder, points, texts FROM state";
            Ok(db
                .prepare_cached(sql)?
                .query_row([], |row| Ok(Pointed { embedder: row.get(0)?, notes: row.get(1)?, all: row.get(2)? }))?)
        })
    }

    /// At most `most` notes without points whose numbers are greater than `after`, by their numbers; none where all have some.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn unpointed(&self, after: Number, most: usize) -> Result<Vec<Unpointed>, IndexError> {
        self.checked(|db| {
            let is_done: bool =
                db.prepare_cached("SELECT points = texts FROM state")?.query_row([], |row| row.get(0))?;
            if is_done {
                return Ok(Vec::new());
            }
            let sql = "SELECT id, path, digest FROM file JOIN note ON note.file = file.id
                       WHERE id > ?1 AND NOT is_link AND digest IS NOT NULL AND card IS NOT NULL
                         AND NOT EXISTS (SELECT 1 FROM point WHERE point.file = id) ORDER BY id LIMIT ?2";
            let mut statement = db.prepare_cached(sql)?;
            let mut rows = statement.query(params![after, i64::try_from(most).unwrap_or(i64::MAX)])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let digest = blob(row, 2)?.unwrap_or_default().to_owned();
                found.push(Unpointed { number: row.get(0)?, path: sealed::path(text(row, 1)?)?, digest });
            }
            Ok(found)
        })
    }
}

impl WriteTransaction<'_> {
    /// Sets the embedder that makes points from now on, and deletes those of another one.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn set_embedder(&mut self, embedder: &str) -> Result<(), IndexError> {
        let is_set = self.has_embedder(embedder)?;
        self.checked(|db| {
            if !is_set {
                db.prepare_cached("DELETE FROM point")?.execute([])?;
                let sql = "UPDATE state SET embedder = ?1, points = 0 WHERE one = 1";
                db.prepare_cached(sql)?.execute([embedder])?;
            }
            Ok(())
        })
    }

    /// Whether this embedder makes points now.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn has_embedder(&self, embedder: &str) -> Result<bool, IndexError> {
        self.checked(|db| {
            let sql = "SELECT 1 FROM state WHERE embedder = ?1";
            Ok(db.prepare_cached(sql)?.query_row([embedder], |_| Ok(())).optional()?.is_some())
        })
    }

    /// Puts the points of a note, if it has not changed since it was found to have none. All points of a note have the same count of
    /// numbers, at most 65,535; only their directions are kept, to about a hundredth.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn put_points(&mut self, note: &Unpointed, points: &[Vec<f32>]) -> Result<(), IndexError> {
        let numbers = points.first().map_or(0, Vec::len);
        let Some(numbers) = u16::try_from(numbers).ok().filter(|numbers| *numbers > 0) else { return Ok(()) };
        let mut bytes = numbers.to_le_bytes().to_vec();
        for point in points.iter().filter(|point| point.len() == usize::from(numbers)) {
            let most = point.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
            #[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
            bytes.extend(point.iter().flat_map(|number| ((number / most * 127.0).round() as i8).to_le_bytes()));
        }
        self.checked(|db| {
            let sql = "SELECT 1 FROM file JOIN note ON note.file = file.id
                       WHERE id = ?1 AND path = ?2 AND digest = ?3 AND NOT is_link
                         AND NOT EXISTS (SELECT 1 FROM point WHERE point.file = id)";
            let row = params![note.number, note.path.as_str(), note.digest];
            if db.prepare_cached(sql)?.query_row(row, |_| Ok(())).optional()?.is_some() {
                let sql = "INSERT INTO point (file, numbers) VALUES (?1, ?2)";
                db.prepare_cached(sql)?.execute(params![note.number, sealed::seal(&note.path, &bytes)])?;
                db.prepare_cached("UPDATE state SET points = points + 1 WHERE one = 1")?.execute([])?;
            }
            Ok(())
        })
    }
}

/// How alike each note is to a point.
pub(super) fn alike(db: &Connection, point: &Point) -> Result<Vec<(Number, f64)>, IndexError> {
    let sql = "SELECT file, path, numbers, (SELECT points FROM state)
               FROM point JOIN file ON file.id = point.file WHERE (SELECT embedder FROM state) = ?1";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([&point.embedder])?;
    let (mut found, mut seen, mut expected) = (Vec::new(), 0, None);
    while let Some(row) = rows.next()? {
        let path = text(row, 1)?;
        let sealed = blob(row, 2)?.unwrap_or_default();
        let bytes = sealed::unseal(path, sealed).ok_or_else(|| sealed::damaged(path))?;
        let (head, points) = bytes.split_first_chunk::<HEAD>().ok_or_else(|| sealed::damaged(path))?;
        (seen, expected) = (seen + 1, Some(row.get(3)?));
        if usize::from(u16::from_le_bytes(*head)) == point.numbers.len() {
            let cosines = points.chunks_exact(point.numbers.len()).map(|other| cosine(&point.numbers, other));
            found.extend(cosines.reduce(f64::max).map(|most| Ok::<_, IndexError>((row.get(0)?, most))).transpose()?);
        }
    }
    super::whole(expected, seen)?;
    Ok(found)
}

fn cosine(numbers: &[f32], bytes: &[u8]) -> f64 {
    let (mut product, mut one, mut other) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (number, byte) in numbers.iter().zip(bytes) {
        let byte = f32::from(byte.cast_signed());
        product += number * byte;
        one += number * number;
        other += byte * byte;
    }
    f64::from(product) / (f64::from(one).sqrt() * f64::from(other).sqrt()).max(f64::MIN_POSITIVE)
}

//! What is kept of a version of a note when its contents are pruned: for each line a mark, and who wrote it.
//!
//! Owns the rows of `meta` whose keys are `lines:BATCH:STEP`, one for each note at most, and their form: packed rows of a fixed size.
//! They hold no text and no path.

use rusqlite::{Connection, OptionalExtension};

use super::VaultError;
use super::journal::Journal;
use memdir_core::report::WrittenBy;
use memdir_plan::{LineOrigin, MarkedLine};

/// How the key of such a row begins.
const LINES: &str = "lines:";
/// Bytes of a line: two marks, two batches, three of [`BY`].
const LINE: usize = 4 + 4 + 8 + 8 + 3;
/// No version has more bytes of them.
const MOST_BYTES: usize = 64 << 20;
/// Who wrote a line, by the number that stands for it; 0 where nobody knows.
const BY: [WrittenBy; 7] = [
    WrittenBy::Tool,
    WrittenBy::Import,
    WrittenBy::Program,
    WrittenBy::Model,
    WrittenBy::Approved,
    WrittenBy::Outside,
    WrittenBy::You,
];

/// Whether the lines of a version are kept.
pub(super) fn are_kept(journal: &Journal, batch: u64, number: u64) -> Result<bool, VaultError> {
    let mut statement = journal.db.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?;
    Ok(statement.query_row([key(batch, number)], |_| Ok(())).optional()?.is_some())
}

/// The lines of a version, where they are kept. What cannot be read is taken for none.
pub(super) fn load(journal: &Journal, batch: u64, number: u64) -> Result<Option<Vec<MarkedLine>>, VaultError> {
    let mut statement = journal.db.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    let packed: Option<Vec<u8>> = statement.query_row([key(batch, number)], |row| row.get(0)).optional()?;
    let Some(packed) = packed else { return Ok(None) };
    let size = zstd::zstd_safe::get_frame_content_size(&packed).ok().flatten().unwrap_or(u64::MAX);
    let size = usize::try_from(size).ok().filter(|size| *size <= MOST_BYTES);
    let rows = size.and_then(|size| zstd::bulk::decompress(&packed, size).ok());
    Ok(rows.map(|rows| rows.as_chunks::<LINE>().0.iter().map(decode).collect()))
}

/// Lines as they are kept.
pub(super) fn packed(lines: &[MarkedLine]) -> Vec<u8> {
    let rows: Vec<u8> = lines.iter().flat_map(encode).collect();
    zstd::bulk::compress(&rows, 1).unwrap_or_default()
}

/// Keeps the packed lines of a version.
pub(super) fn keep(db: &Connection, batch: u64, number: u64, packed: &[u8]) -> Result<(), VaultError> {
    let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    db.prepare_cached(sql)?.execute((key(batch, number), packed))?;
    Ok(())
}

/// Deletes what is kept of a version.
pub(super) fn forget(db: &Connection, batch: u64, number: u64) -> Result<(), VaultError> {
    db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key(batch, number)])?;
    Ok(())
}

fn key(batch: u64, number: u64) -> String {
    format!("{LINES}{batch}:{number}")
}

fn encode(line: &MarkedLine) -> Vec<u8> {
    let by = |by: WrittenBy| BY.iter().position(|one| *one == by).and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0);
    let origin = line.origin.as_ref();
    let batch = |batch: Option<u64>| batch.unwrap_or(0).to_le_bytes();
    let [first, last] = [batch(origin.and_then(|origin| origin.first)), batch(origin.and_then(|origin| origin.last))];
    let who = origin.map_or([0; 3], |origin| [origin.first_by, origin.by, origin.least].map(by));
    [&line.mark.to_le_bytes()[..], &line.key.to_le_bytes(), &first, &last, &who].concat()
}

fn decode(row: &[u8; LINE]) -> MarkedLine {
    let part = |from: usize, to: usize| row.get(from..to).unwrap_or_default();
    let number = |from: usize| {
        let bytes = part(from, from + 8).first_chunk().copied().unwrap_or_default();
        Some(u64::from_le_bytes(bytes)).filter(|batch| *batch > 0)
    };
    let mark = |from: usize| u32::from_le_bytes(part(from, from + 4).first_chunk().copied().unwrap_or_default());
    let by = |at: usize| BY.get(usize::from(*row.get(at)?).checked_sub(1)?).copied();
    let origin = by(24).zip(by(25)).zip(by(26)).map(|((first_by, by), least)| LineOrigin {
        first: number(8),
        first_by,
        last: number(16),
        by,
        least,
        former: Vec::new(),
    });
    MarkedLine { mark: mark(0), key: mark(4), origin }
}

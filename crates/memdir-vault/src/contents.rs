//! The contents of notes in the journal: each once, the large ones compressed.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::VaultError;
use memdir_plan::Content;

/// Contents from this size on are compressed.
const PACK_FROM: usize = 4096;
/// How many numbers of contents each batch has; one that needs more takes those of the next.
const CONTENTS_A_BATCH: i64 = 1 << 20;

/// Stores a content once and gives its number.
pub(super) fn store(transaction: &Transaction<'_>, batch: u64, content: &Content) -> Result<i64, VaultError> {
    let digest = content.digest();
    let sql = "UPDATE content SET batch = ?2 WHERE digest = ?1 RETURNING id";
    let known = transaction.prepare_cached(sql)?.query_row(params![digest.as_bytes(), batch], |row| row.get(0));
    if let Some(id) = known.optional()? {
        return Ok(id);
    }
    let bytes = content.bytes();
    let packed = if bytes.len() >= PACK_FROM { zstd::bulk::compress(bytes, 1).ok() } else { None };
    let body = packed.as_deref().filter(|packed| packed.len() < bytes.len());
    // A number is never given twice, or old steps would point to a new content once theirs is erased. It starts with
    // that of the batch, which no later batch has, and contents are erased only from batches before.
    let first = i64::try_from(batch).unwrap_or(i64::MAX).saturating_mul(CONTENTS_A_BATCH);
    let sql = "INSERT INTO content (id, digest, size, packed, body, batch)
               VALUES (max(?6, 1 + ifnull((SELECT max(id) FROM content), 0)), ?1, ?2, ?3, ?4, ?5)";
    transaction.prepare_cached(sql)?.execute(params![
        digest.as_bytes(),
        bytes.len(),
        body.is_some(),
        body.unwrap_or(bytes),
        batch,
        first
    ])?;
    let id = transaction.last_insert_rowid();
    let stored = body.unwrap_or(bytes).len();
    let sql =
        "INSERT INTO meta VALUES ('content_bytes', ?1) ON CONFLICT (key) DO UPDATE SET value = value + excluded.value";
    transaction.prepare_cached(sql)?.execute([stored])?;
    Ok(id)
}

/// No content is larger than this.
const MOST_CONTENT: usize = 1 << 30;

/// Decompresses a content. Its frame and its row have to agree on the size, for which memory is allocated first; the sender of
/// the folder may have written both.
fn unpack(body: &[u8], size: usize) -> Option<Vec<u8>> {
    let said = zstd::zstd_safe::get_frame_content_size(body).ok()??;
    if said != size as u64 || size > MOST_CONTENT {
        return None;
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).ok()?;
    zstd::bulk::Decompressor::new().ok()?.decompress_to_buffer(body, &mut bytes).ok()?;
    Some(bytes)
}

/// Reads a content; `None` when it is no longer kept.
pub(super) fn load(db: &Connection, id: i64) -> Result<Option<Content>, VaultError> {
    let mut statement = db.prepare_cached("SELECT digest, size, packed, body FROM content WHERE id = ?1")?;
    let row = statement.query_row([id], |row| {
        Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, usize>(1)?, row.get::<_, bool>(2)?, row.get::<_, Vec<u8>>(3)?))
    });
    let Some((digest, size, is_packed, body)) = row.optional()? else { return Ok(None) };
    let damaged = || VaultError::Damaged(format!("content {id} is not what was stored"));
    let bytes = if is_packed { unpack(&body, size).ok_or_else(damaged)? } else { body };
    let content = Content::new(bytes);
    if content.digest().as_bytes() == &digest { Ok(Some(content)) } else { Err(damaged()) }
}

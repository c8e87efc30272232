//! The audit as a person looks through it: the newest entries first, some at a time, by who, what, where and when.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::forget::NoteNames;
use super::readers::DatedName;
use super::tool_calls::IS_LAST;
use super::{ToolFilter, Vault, VaultError, payload, tool_calls};
use memdir_core::time::Timestamp;
use memdir_tools::CallRecord;

/// Which entries of the audit are wanted.
#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    /// Only those of this program.
    pub client: Option<String>,
    /// Only those that came in this way.
    pub door: Option<String>,
    /// Only those of this action.
    pub action: Option<String>,
    /// Only those of this conversation.
    pub session: Option<String>,
    /// Only calls of other servers' tools, and of these.
    pub tools: Option<ToolFilter>,
    /// Only those of this time or later.
    pub since: Option<Timestamp>,
    /// Only those before this time.
    pub until: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// Only those before the entry of this number: the `cursor` of the page before.
    pub before: Option<i64>,
}

/// An entry, without its place in the chain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditLine {
    /// Its number.
    pub seq: i64,
    /// When.
    pub time: Timestamp,
    /// The batch that it belongs to.
    pub batch: Option<u64>,
    /// The way in.
    pub door: String,
    /// The program that asked.
    pub client: Option<String>,
    /// The conversation.
    pub session: Option<String>,
    /// What was asked for.
    pub action: String,
    /// Why it failed; [`SENT`](super::SENT) where a call was sent and no answer is known.
    pub code: Option<String>,
    /// By which leave.
    pub permission: String,
    /// The note or folder that it names.
    pub path: Option<String>,
    /// The other notes of whose text the answer held something.
    pub shown: Vec<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// What it says of a call of another server's tool, but for its code and its time.
    pub call: Option<CallRecord>,
    /// Whether all that it named was forgotten.
    pub is_forgotten: bool,
}

/// Some entries, the newest first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AuditPage {
    /// Those that match.
    pub entries: Vec<AuditLine>,
    /// Before which entry to go on; `None` where there is no older one. A page may end before its limit: only so many entries are
    /// looked through for one.
    pub cursor: Option<i64>,
}

/// So many entries are looked through for one page.
const MOST_LOOKED: i64 = 20_000;

impl Vault {
    /// Finds entries of the audit, of all notes or of one by the names it had. A call that was sent is one entry: what became of it,
    /// where that is known.
    ///
    /// Entries are found by their numbers, so a page costs the same however long the audit is. A time is looked for by halving, as
    /// if the clock had never gone back.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history has an empty audit.
    pub fn audit_page(&self, query: &AuditQuery, note: Option<&NoteNames>) -> Result<AuditPage, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(AuditPage::default()) };
        let db = &core.journal.db;
        let names = note.map(|names| names.all.iter().map(|called| DatedName::of(core, called)).collect());
        let names: Option<Vec<DatedName>> = names.transpose()?;
        let last: i64 = db.query_row("SELECT ifnull(max(seq), 0) FROM entry", [], |row| row.get(0))?;
        let mut before = query.before.unwrap_or(i64::MAX).min(last.saturating_add(1));
        if let Some(until) = query.until {
            before = before.min(first_since(db, until, last)?);
        }
        let first = query.since.map_or(Ok(1), |since| first_since(db, since, last))?;
        let floor = first.max(before.saturating_sub(MOST_LOOKED));
        let sql = format!(
            "SELECT seq, time, batch, door, client, session, action, code, permission, payload, micros, origin FROM entry
             WHERE seq < ?1 AND seq >= ?2 AND (?3 IS NULL OR client = ?3) AND (?4 IS NULL OR door = ?4)
             AND (?5 IS NULL OR action = ?5) AND (?6 IS NULL OR session = ?6) AND {IS_LAST} ORDER BY seq DESC"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows =
            statement.query(params![before, floor, query.client, query.door, query.action, query.session])?;
        let mut page = AuditPage::default();
        while let Some(row) = rows.next()? {
            let Some(line) = line(row, query.tools.as_ref())? else { continue };
            let is_wanted = names.as_ref().is_none_or(|names| names_it(&line, names));
            if is_wanted && page.entries.len() == query.limit {
                page.cursor = page.entries.last().map(|last| last.seq);
                return Ok(page);
            }
            if is_wanted {
                page.entries.push(line);
            }
        }
        page.cursor = (floor > first).then_some(floor);
        Ok(page)
    }
}

/// The first entry that is as young as this; the one after the last where none is.
fn first_since(db: &Connection, time: Timestamp, last: i64) -> Result<i64, VaultError> {
    let mut statement = db.prepare_cached("SELECT time FROM entry WHERE seq = ?1")?;
    let (mut low, mut high) = (1, last.saturating_add(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<i64> = statement.query_row([middle], |row| row.get(0)).optional()?;
        if found.is_some_and(|found| found < time.micros()) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

fn line(row: &Row<'_>, tools: Option<&ToolFilter>) -> Result<Option<AuditLine>, VaultError> {
    let (action, code): (String, Option<String>) = (row.get(6)?, row.get(7)?);
    let origin: String = row.get(11)?;
    if tools.is_some_and(|tools| !tools.wants(&action, &origin)) {
        return Ok(None);
    }
    let payload: Option<String> = row.get(9)?;
    let said = payload.as_deref().unwrap_or_default();
    let path = payload::path_in(said);
    let mut shown = payload::notes_shown_in(said, &action, code.is_none());
    shown.retain(|note| Some(note) != path.as_ref());
    let call = tool_calls::server_of(&action, &origin).and_then(|_| payload::tool_call_in(said));
    Ok(Some(AuditLine {
        seq: row.get(0)?,
        time: Timestamp::from_micros(row.get(1)?),
        batch: row.get(2)?,
        door: row.get(3)?,
        client: row.get(4)?,
        session: row.get(5)?,
        permission: row.get(8)?,
        is_forgotten: payload.is_none(),
        micros: row.get::<_, i64>(10)?.unsigned_abs(),
        action,
        code,
        path,
        shown,
        call,
    }))
}

/// Whether an entry is about a note, by the name that it had then.
fn names_it(line: &AuditLine, names: &[DatedName]) -> bool {
    let mut said = line.path.iter().chain(&line.shown);
    said.any(|path| names.iter().any(|named| named.is(path, line.time.micros())))
}

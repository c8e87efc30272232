//! What the audit says in numbers: how often, how well and how fast.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ToolFilter, Vault, VaultError, tool_calls};
use memdir_core::time::Timestamp;

/// The audit in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many entries are counted.
    pub entries: u64,
    /// When the first was written, RFC 3339 in UTC; `None` where there is none.
    pub since: Option<String>,
    /// When the last was written.
    pub until: Option<String>,
    /// By action of memdir's own, the most frequent first.
    pub actions: Vec<Tally>,
    /// By other server, for calls of its tools.
    pub servers: Vec<Tally>,
    /// By tool of another server.
    pub tools: Vec<Tally>,
    /// By the way in.
    pub doors: Vec<Tally>,
    /// By client, for those who have a name.
    pub clients: Vec<Tally>,
    /// By session, for what was done in one.
    pub sessions: Vec<Tally>,
}

/// What became of some calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// The action, server, tool, door, client or session.
    pub name: String,
    /// How many calls.
    pub calls: u64,
    /// How many of them were not allowed, or had to wait.
    pub refused: u64,
    /// How many failed otherwise.
    pub failed: u64,
    /// Refusals and failures by code.
    pub codes: BTreeMap<String, u64>,
    /// How long planning them took.
    pub ms: Times,
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// Half of the calls took no longer.
    pub median: f64,
    /// Nineteen of twenty took no longer.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

/// When a program called last by one of the ways in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LastCall {
    /// The program.
    pub client: String,
    /// The way in.
    pub door: String,
    /// When.
    pub time: Timestamp,
}

/// The codes of calls that were not allowed, or had to wait.
const REFUSALS: [&str; 3] = ["permission_required", "awaiting_approval", "denied"];

/// Calls of one kind while they are counted.
#[derive(Debug, Default)]
struct Count {
    micros: Vec<u32>,
    codes: BTreeMap<String, u64>,
}

type Counts = BTreeMap<String, Count>;

/// So many of the newest entries are looked through for the last one of a kind.
const MOST_BACK: i64 = 20_000;

impl Vault {
    /// When each program called last by each way in, the newest first.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history knows of no program.
    pub fn last_calls(&self) -> Result<Vec<LastCall>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Vec::new()) };
        let sql = "SELECT client, door, max(time) AS last FROM entry WHERE client IS NOT NULL
                   GROUP BY client, door ORDER BY last DESC";
        let mut statement = core.journal.db.prepare(sql)?;
        let calls = statement.query_map([], |row| {
            Ok(LastCall { client: row.get(0)?, door: row.get(1)?, time: Timestamp::from_micros(row.get(2)?) })
        })?;
        Ok(calls.collect::<Result<_, _>>()?)
    }

    /// When a client last did something through a door, if that is among the newest 20,000 entries of the audit.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub fn last_time(&self, door: &str, client: &str, action: &str) -> Result<Option<Timestamp>, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(None) };
        let sql = "SELECT time FROM entry WHERE seq > (SELECT max(seq) FROM entry) - ?1
                     AND door = ?2 AND client = ?3 AND action = ?4 ORDER BY seq DESC LIMIT 1";
        let mut statement = core.journal.db.prepare_cached(sql)?;
        let mut rows = statement.query((MOST_BACK, door, client, action))?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?.map(Timestamp::from_micros))
    }

    /// Counts the entries of the audit that `wanted` wants, or all; a call that was sent once, and as `sent` where no answer is known.
    /// Reads no payload; keeps four bytes for each entry and kind.
    ///
    /// # Errors
    ///
    /// Those of the database. A memory without a history has nothing to count.
    pub fn stats(&self, wanted: Option<&ToolFilter>) -> Result<Stats, VaultError> {
        let core = self.known_core()?;
        let Some(core) = core.as_ref() else { return Ok(Stats::default()) };
        let (mut entries, mut span) = (0, None::<(i64, i64)>);
        let mut counts = <[Counts; 6]>::default();
        let sql = "SELECT time, door, client, session, code, micros, action, origin FROM entry";
        let mut statement = core.journal.db.prepare(&format!("{sql} WHERE {} ORDER BY seq", tool_calls::IS_LAST))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (action, origin): (String, String) = (row.get(6)?, row.get(7)?);
            if wanted.is_some_and(|wanted| !wanted.wants(&action, &origin)) {
                continue;
            }
            let time: i64 = row.get(0)?;
            span = Some(span.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
            entries += 1;
            let (code, micros): (Option<String>, i64) = (row.get(4)?, row.get(5)?);
            let server = tool_calls::server_of(&action, &origin).map(String::from);
            let (own, tool) = if server.is_some() { (None, Some(action)) } else { (Some(action), None) };
            let names = [own, server, tool, row.get(1)?, row.get(2)?, row.get(3)?];
            for (name, counts) in names.into_iter().zip(&mut counts) {
                let Some(name) = name else { continue };
                counts.entry(name).or_default().add(code.as_deref(), micros);
            }
        }
        let time = |micros| Timestamp::from_micros(micros).to_string();
        let [actions, servers, tools, doors, clients, sessions] = counts.map(tallies);
        let (since, until) = span.map(|(first, last)| (time(first), time(last))).unzip();
        Ok(Stats { entries, since, until, actions, servers, tools, doors, clients, sessions })
    }
}

impl Count {
    fn add(&mut self, code: Option<&str>, micros: i64) {
        self.micros.push(u32::try_from(micros.max(0)).unwrap_or(u32::MAX));
        if let Some(code) = code {
            *self.codes.entry(code.to_owned()).or_default() += 1;
        }
    }

    fn tally(mut self, name: String) -> Tally {
        self.micros.sort_unstable();
        let refused =
            self.codes.iter().filter(|(code, _)| REFUSALS.contains(&code.as_str())).map(|(_, count)| count).sum();
        let failed = self.codes.values().sum::<u64>() - refused;
        let at = |part: usize| {
            // The nearest rank: the smallest time that so many hundredths of all do not exceed.
            let rank = (self.micros.len() * part).div_ceil(100).max(1);
            self.micros.get(rank - 1).map_or(0.0, |micros| f64::from(*micros) / 1000.0)
        };
        let ms = Times { median: at(50), p95: at(95), max: at(100) };
        Tally { name, calls: self.micros.len() as u64, refused, failed, codes: self.codes, ms }
    }
}

fn tallies(counts: Counts) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = counts.into_iter().map(|(name, count)| count.tally(name)).collect();
    tallies.sort_by_key(|tally| std::cmp::Reverse(tally.calls));
    tallies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_nearest_rank() {
        let tally = |micros: &[i64]| {
            let mut count = Count::default();
            micros.iter().for_each(|micros| count.add(None, *micros));
            count.tally(String::new()).ms
        };
        let hundred: Vec<i64> = (1..=100).rev().map(|ms| ms * 1000).collect();
        assert_eq!(tally(&hundred), Times { median: 50.0, p95: 95.0, max: 100.0 });
        assert_eq!(tally(&[1500]), Times { median: 1.5, p95: 1.5, max: 1.5 });
        assert_eq!(tally(&[1000, 3000]), Times { median: 1.0, p95: 3.0, max: 3.0 });
        assert_eq!(tally(&[-1]), Times::default());
    }

    #[test]
    fn what_was_not_allowed_is_no_failure() {
        let mut count = Count::default();
        for code in [None, Some("denied"), Some("awaiting_approval"), Some("not_found"), Some("not_found")] {
            count.add(code, 1);
        }
        let tally = count.tally("read_file".to_owned());
        assert_eq!((tally.calls, tally.refused, tally.failed), (5, 2, 2));
        assert_eq!(tally.codes.get("not_found"), Some(&2));
    }
}

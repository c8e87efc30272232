//! The chain of the audit: what somebody who can write to the database may try, and that it shows.

use rusqlite::Connection;

use super::{Env, author, commit, entry, open, path, put};
use crate::{AuditReport, VaultError};
use memdir_core::digest::Digest;
use memdir_core::time::Timestamp;
use memdir_plan::{Forms, Sought, Tree};

/// A memory with five batches and three reads.
fn audited() -> Env {
    let env = Env::new(&[("a.md", "0")]);
    let vault = env.vault();
    for number in 0..5 {
        let (before, after) = (number.to_string(), (number + 1).to_string());
        commit(&vault, &[put("a.md", Some(&before), Some(&after))], None).unwrap();
    }
    vault
        .note_reads(
            vec![entry("read_file"), entry("read_file"), entry("get_size")],
            &author(),
            Timestamp::from_micros(7),
            0,
        )
        .unwrap();
    assert!(vault.stat(&path("a.md")).unwrap().is_some());
    drop(vault);
    env
}

fn database(env: &Env) -> Connection {
    Connection::open(env.path().join(".memdir/local/history.sqlite")).unwrap()
}

fn account(env: &Env, head: Option<Digest>) -> AuditReport {
    env.vault().account(head).unwrap()
}

/// Runs `sql` on a whole chain and gives the entries at which it shows.
#[track_caller]
fn tampered(sql: &str) -> Vec<Option<i64>> {
    let env = audited();
    assert!(account(&env, None).ok);
    database(&env).execute_batch(sql).unwrap();
    let found = account(&env, None);
    assert_eq!(found.ok, found.problems.is_empty());
    found.problems.iter().map(|problem| problem.seq).collect()
}

#[test]
fn a_chain_that_nobody_touched_is_whole() {
    let env = audited();
    let found = account(&env, None);
    assert_eq!((found.ok, found.entries, found.forgotten, found.since), (true, 8, 0, None));
    assert_eq!(env.vault().head().unwrap(), (8, found.head));
    assert_eq!(account(&env, Some(found.head)).since, Some(0));
    let empty = Env::new(&[]);
    let nothing = account(&empty, None);
    assert_eq!((nothing.ok, nothing.entries, nothing.head), (true, 0, Digest::from_bytes([0; 32])));
    assert_eq!(empty.vault().head().unwrap(), (0, Digest::from_bytes([0; 32])));
    assert!(!empty.path().join(".memdir").exists());
}

#[test]
fn a_change_of_any_column_of_any_entry_shows() {
    let columns = [
        ("previous", "x'00'"),
        ("previous", "zeroblob(32)"),
        ("hash", "zeroblob(32)"),
        ("hash", "x''"),
        ("commitment", "zeroblob(32)"),
        ("salt", "zeroblob(16)"),
        ("salt", "NULL"),
        ("payload", "payload || ' '"),
        ("payload", "NULL"),
        ("payload", "CAST(x'ff' AS TEXT)"),
        ("batch", "ifnull(batch, 0) + 1"),
        ("batch", "iif(batch IS NULL, 0, NULL)"),
        ("time", "time + 1"),
        ("door", "'web'"),
        ("client", "''"),
        ("session", "'s'"),
        ("message", "'m'"),
        ("origin", "'person'"),
        ("number", "number + 1"),
        ("action", "'delete_file'"),
        ("code", "'not_found'"),
        ("micros", "-1"),
        ("permission", "'approved'"),
    ];
    for (column, value) in columns {
        for seq in [1, 3, 8] {
            // The first entry has zeros for its predecessor.
            if (column, value, seq) == ("previous", "zeroblob(32)", 1) {
                continue;
            }
            let found = tampered(&format!("UPDATE entry SET {column} = {value} WHERE seq = {seq}"));
            assert!(found.contains(&Some(seq)), "{column} = {value} of {seq}: {found:?}");
        }
    }
}

#[test]
fn what_is_removed_swapped_or_put_in_shows() {
    assert_eq!(tampered("DELETE FROM entry WHERE seq = 1"), [Some(2), Some(2), None]);
    assert_eq!(tampered("DELETE FROM entry WHERE seq IN (3, 4)"), [Some(5), Some(5), None, None]);
    // The last ones of the reads leave no gap and no batch: this takes a head that was kept.
    assert_eq!(tampered("DELETE FROM entry WHERE seq > 6"), []);
    assert_eq!(tampered("DELETE FROM entry WHERE seq >= 5"), [None]);
    assert_eq!(tampered("DELETE FROM entry"), [None; 5]);
    assert_eq!(tampered("DELETE FROM batch WHERE id = 2"), [Some(2)]);
    let swap = "UPDATE entry SET seq = -seq WHERE seq IN (6, 7); UPDATE entry SET seq = 13 + seq WHERE seq < 0";
    assert!(tampered(swap).contains(&Some(6)));
    let payloads =
        "UPDATE entry SET (salt, payload) = (SELECT salt, payload || '' FROM entry WHERE seq = 8) WHERE seq = 7";
    assert_eq!(tampered(payloads), [Some(7)]);
    let copy = "INSERT INTO entry SELECT 9, hash, hash, commitment, salt, payload, NULL, time, door, client, session,
                message, origin, number, action, code, micros, permission FROM entry WHERE seq = 8";
    assert_eq!(tampered(copy), [Some(9)]);
    let between = "UPDATE entry SET seq = -seq - 1 WHERE seq > 4; UPDATE entry SET seq = -seq WHERE seq < 0;
                   INSERT INTO entry SELECT 5, hash, hash, commitment, salt, payload, batch, time, door, client, session,
                   message, origin, number, action, code, micros, permission FROM entry WHERE seq = 4";
    assert!(tampered(between).contains(&Some(5)));
    assert!(tampered("UPDATE entry SET seq = -9223372036854775808 WHERE seq = 4").contains(&Some(i64::MIN)));
    assert!(tampered("UPDATE entry SET seq = 9223372036854775807 WHERE seq = 8").contains(&Some(i64::MAX)));
}

#[test]
fn what_the_history_says_of_a_batch_is_compared_with_its_entries() {
    for column in
        ["time = time + 1", "door = 'web'", "client = 'c'", "session = 's'", "message = 'm'", "state = 5", "state = 1"]
    {
        let found = tampered(&format!("UPDATE batch SET {column} WHERE id = 1"));
        assert_eq!(found.len(), 1, "{column}: {found:?}");
        assert!(found[0].is_some(), "{column}");
    }
}

#[test]
fn a_chain_cut_at_its_end_shows_by_a_head_that_was_kept() {
    let env = audited();
    let kept = account(&env, None).head;
    let early: [u8; 32] =
        database(&env).query_row("SELECT hash FROM entry WHERE seq = 3", [], |row| row.get(0)).unwrap();
    let since = account(&env, Some(Digest::from_bytes(early)));
    assert_eq!((since.ok, since.since), (true, Some(5)));
    database(&env).execute_batch("DELETE FROM entry WHERE seq > 7").unwrap();
    assert!(account(&env, None).ok, "nothing but the head tells");
    let cut = account(&env, Some(kept));
    assert_eq!((cut.ok, cut.since, cut.problems.len()), (false, None, 1));
    assert_eq!(cut.problems[0].seq, None);
}

/// Somebody who computes the whole chain anew is found by nothing but a head that was kept.
#[test]
fn a_chain_computed_anew_shows_by_a_head_that_was_kept() {
    let (env, other) = (audited(), audited());
    let kept = account(&env, None).head;
    let database_of = |env: &Env, end: &str| env.path().join(format!(".memdir/local/history.sqlite{end}"));
    for end in ["", "-wal"] {
        std::fs::copy(database_of(&other, end), database_of(&env, end)).unwrap();
    }
    let _ = std::fs::remove_file(database_of(&env, "-shm"));
    assert!(account(&env, None).ok);
    assert!(!account(&env, Some(kept)).ok);
}

#[test]
fn forgotten_entries_are_counted_and_the_list_of_problems_ends() {
    let env = audited();
    let erase = "UPDATE entry SET salt = NULL, payload = NULL WHERE seq IN (2, 8)";
    assert_eq!(tampered(erase), [Some(2)], "nobody has forgotten anything");
    database(&env).execute_batch(erase).unwrap();
    let vault = env.vault();
    let nothing = Sought::Text(Forms::new("nowhere").unwrap());
    vault.lock().unwrap().forget_history(&nothing, &author(), Timestamp::from_micros(8)).unwrap();
    let found = account(&env, None);
    assert_eq!((found.ok, found.forgotten), (true, 2));
    for _ in 0..30 {
        let reads = (0..100).map(|_| entry("read_file")).collect();
        vault.note_reads(reads, &author(), Timestamp::from_micros(8), 0).unwrap();
    }
    drop(vault);
    database(&env).execute_batch("UPDATE entry SET door = 'web'").unwrap();
    let found = account(&env, None);
    assert_eq!((found.entries, found.problems.len(), found.ok), (3009, 101, false));
}

fn hex(pair: &[u8; 2]) -> u8 {
    u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()
}

#[test]
fn records_hold_what_it_takes_to_compute_each_hash() {
    let env = audited();
    let records = env.vault().records(0).unwrap();
    assert_eq!(records.len(), 8);
    let mut previous = [0; 32];
    for record in &records {
        let text = |text: &Option<String>| text.as_ref().map_or(Vec::new(), |text| format!("={text}").into_bytes());
        let salt: Vec<u8> = record.salt.as_ref().unwrap().as_bytes().as_chunks::<2>().0.iter().map(hex).collect();
        let payload = record.payload.as_ref().unwrap().to_string();
        assert_eq!(record.commitment, Digest::of_parts(&[&salt, payload.as_bytes()]));
        let hash = Digest::of_parts(&[
            &previous,
            &record.seq.to_le_bytes(),
            &record.time_micros.to_le_bytes(),
            &record.batch.unwrap_or(0).to_le_bytes(),
            record.door.as_bytes(),
            &text(&record.client),
            &text(&record.session),
            &text(&record.message),
            record.origin.as_bytes(),
            &record.number.to_le_bytes(),
            record.action.as_bytes(),
            &text(&record.code),
            &record.micros.to_le_bytes(),
            record.permission.as_bytes(),
            record.commitment.as_bytes(),
        ]);
        assert_eq!((record.hash, *record.previous.as_bytes()), (hash, previous));
        previous = *record.hash.as_bytes();
    }
    assert_eq!(env.vault().records(7).unwrap(), records[7..]);
    assert_eq!(env.vault().records(i64::MAX).unwrap(), []);
}

#[test]
fn a_history_without_its_tables_is_damaged() {
    for sql in ["DROP TABLE entry", "ALTER TABLE entry RENAME COLUMN door TO window", "DROP TABLE batch"] {
        let env = audited();
        database(&env).execute_batch(sql).unwrap();
        let found = open(env.path()).and_then(|vault| vault.account(None));
        assert!(matches!(found, Err(VaultError::Damaged(_))), "{sql}: {found:?}");
    }
}

/// A history is refused whose tables are not exactly these, so one that people have could not be opened any more by a program with
/// others: whoever changes this digest also raises the version and writes the upgrade.
#[test]
fn the_tables_of_version_1_stay_as_they_are() {
    let env = Env::new(&[("a.md", "a")]);
    commit(&env.vault(), &[put("a.md", Some("a"), Some("b"))], None).unwrap();
    let sql = "SELECT group_concat(sql, ';' ORDER BY name) FROM sqlite_schema WHERE sql IS NOT NULL";
    let tables: String = database(&env).query_row(sql, [], |row| row.get(0)).unwrap();
    let digest = "sha256:28abd834ef1b41778f7c2776eb85d82d43693387e473284f2fe3a94e53fa8693";
    assert_eq!(Digest::of(tables.as_bytes()).to_string(), digest, "{tables}");
}

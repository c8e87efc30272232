//! Clocks that are wrong: what is old is what two days of batches agree on.

use std::time::Duration;

use super::*;

fn at(day: i64) -> Timestamp {
    Timestamp::from_micros(day * DAY)
}

#[test]
fn age_is_counted_from_the_older_of_the_two_newest_days() {
    let check = |days: &[i64], now: i64, expected: Option<i64>| {
        let env = Env::new(&[]);
        let vault = env.vault();
        for (number, day) in days.iter().enumerate() {
            commit_on(&vault, *day, &format!("{number}.md"));
        }
        assert_eq!(vault.settled_time(at(now)).unwrap(), expected.map(at), "{days:?}, now {now}");
    };
    check(&[], 100, None);
    check(&[100], 101, None);
    check(&[100, 100, 100], 9_000, None);
    check(&[100, 101], 102, Some(100));
    check(&[100, 101, 101], 102, Some(100));
    // It jumps once, forth and back.
    check(&[100, 101, 9_000], 9_001, Some(101));
    check(&[100, 101, 9_000, 9_000], 9_001, Some(101));
    check(&[100, 101, 9_000, 101], 102, Some(101));
    check(&[100, 101, 9_000, 102], 102, Some(102));
    check(&[100, 101, 0, 101], 102, Some(0));
    check(&[100, 101, 0, 101, 102], 102, Some(101));
    // Two days agree.
    check(&[100, 9_000, 9_001], 9_001, Some(9_000));
    // It is right again, and nothing is older than now.
    check(&[100, 9_000, 9_001], 101, Some(101));
}

#[test]
fn a_clock_that_jumps_once_lets_no_version_go() {
    let env = Env::new(&[]);
    let vault = env.vault();
    let batches = [1_000, 1_001, 5_000].map(|day| commit_on(&vault, day, &format!("{day}.md")));
    let is_kept = |vault: &Vault| batches.map(|batch| vault.steps(batch).is_ok());
    for day in [5_000, 5_001, 1_001, 1_090] {
        vault.lock().unwrap().prune(at(day)).unwrap();
        assert_eq!(is_kept(&vault), [true; 3], "{day}");
    }
    commit_on(&vault, 1_090, "a.md");
    commit_on(&vault, 1_091, "b.md");
    vault.lock().unwrap().prune(at(1_092)).unwrap();
    assert_eq!(is_kept(&vault), [true; 3], "90 days since the first");
    commit_on(&vault, 1_093, "c.md");
    commit_on(&vault, 1_094, "d.md");
    vault.lock().unwrap().prune(at(1_094)).unwrap();
    assert_eq!(is_kept(&vault), [false, false, true], "what was made in the future is not old");
}

#[test]
fn a_clock_that_jumps_once_lets_no_session_go() {
    let env = Env::new(&[]);
    let vault = env.vault();
    drop(vault.begin_session("1", at(0)).unwrap());
    let changed = vault.sessions().unwrap()[0].changed;
    let day = changed.micros() / DAY;
    let count = |vault: &Vault, id: &str, day: i64| {
        drop(vault.begin_session(id, at(day)).unwrap());
        vault.sessions().unwrap().len()
    };
    assert_eq!(count(&vault, "2", day + 5_000), 2, "no batch says so");
    commit_on(&vault, day, "a.md");
    commit_on(&vault, day + 5_000, "b.md");
    assert_eq!(count(&vault, "3", day + 5_000), 3, "one day of batches does");
    commit_on(&vault, day + 5_001, "c.md");
    assert_eq!(count(&vault, "4", day + 5_002), 1, "two do");
    assert!(Options::default().keep_for < Duration::from_secs(4_000 * 86_400));
}

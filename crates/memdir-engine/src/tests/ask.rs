//! Proposals that wait: in the process alone, and when notes change in between.

use super::*;
use crate::Consent;

const ASKED: &[u8] = br#"<actions>[{"action":"append_file","path":"a.md","content":"- email: ada@example.com"},
    {"action":"create_file","path":"b.md","content":"b"},{"action":"read_file","path":"a.md"}]</actions>"#;

fn asking() -> Caller {
    Caller { mode: Mode::Ask, ..caller() }
}

fn person() -> Caller {
    Caller::person("cli")
}

fn in_process(root: &Path) -> Engine {
    let mut engine = engine(root);
    engine.settings.inbox = InboxPlace::Process;
    engine
}

/// The files of the inbox on the disk.
fn filed(root: &Path) -> usize {
    let inbox = root.join(".memdir/local/inbox");
    inbox.read_dir().map_or(0, Iterator::count)
}

fn number(report: &Report, at: usize) -> Option<u64> {
    report.actions[at].result.as_ref().err().and_then(|failure| failure.details.proposal)
}

#[test]
fn a_batch_that_is_planned_twice_makes_one_proposal() {
    let folder = memory(&[("a.md", "one\n"), ("b2.md", "two\n")]);
    let engine = engine(folder.path());
    let text = br#"<actions>[{"action":"append_file","path":"a.md","content":"- email: ada@example.com"},
        {"action":"append_file","path":"b2.md","content":"three"}]</actions>"#;
    let proposal = engine.propose(dialect::parse(text), asking());
    std::fs::write(folder.path().join("b2.md"), "two and a half\n").unwrap();
    std::fs::write(folder.path().join("a.md"), "one and a half\n").unwrap();
    let report = engine.conclude(proposal);
    assert_eq!((codes(&report), report.batch), (vec![Some(Code::AwaitingApproval), None], Some(1)));
    assert_eq!((number(&report, 0), filed(folder.path())), (Some(1), 1));
    let pending = engine.pending().unwrap();
    assert!(pending.proposals[0].waiting.diff.contains(" one and a half\n+- email"), "planned against what is there");
}

#[test]
fn a_proposal_that_is_dropped_or_shown_only_waits_nowhere() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    drop(engine.propose(dialect::parse(ASKED), asking()));
    let report = engine.preview(engine.propose(dialect::parse(ASKED), asking()));
    assert_eq!(codes(&report), [Some(Code::AwaitingApproval), None, Some(Code::AwaitingApproval)]);
    assert_eq!(number(&report, 0), None);
    assert!(!folder.path().join(".memdir").exists());
}

#[test]
fn in_the_process_nothing_reaches_the_disk() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = in_process(folder.path());
    let report = run(&engine, ASKED, asking());
    assert_eq!([number(&report, 0), number(&report, 2)], [Some(1), Some(1)]);
    assert_eq!(std::fs::read_dir(folder.path().join(".memdir/local/inbox")).unwrap().count(), 0);
    let second = run(&engine, ASKED, asking());
    assert_eq!(number(&second, 0), Some(2), "numbers are the journal's");
    assert_eq!(in_process(folder.path()).pending().unwrap().proposals.len(), 0, "another process knows nothing of it");
    let pending = engine.pending().unwrap();
    let shown = pending.proposals[0].waiting.digest;
    std::fs::write(folder.path().join("a.md"), "other\n").unwrap();
    let error = engine.approve(1, Consent::Shown(shown), &person()).unwrap_err();
    assert_eq!((error.failure.code, error.diff.is_some()), (Code::Conflict, true));
    let again = engine.review_proposal(1).unwrap();
    assert!(again.is_renewed && !engine.review_proposal(1).unwrap().is_renewed);
    let done = engine.approve(1, Consent::Shown(again.waiting.digest), &person()).unwrap();
    assert_eq!(done.changed, [MemoryPath::parse("a.md").unwrap()]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "other\n- email: ada@example.com\n");
    let gone = engine.approve(1, Consent::Shown(again.waiting.digest), &person()).unwrap_err();
    assert_eq!(gone.failure.message, "proposal 1 has already been decided");
    engine.reject(2, &person()).unwrap();
    assert_eq!(engine.reject(2, &person()).unwrap_err().code, Code::NotFound);
    assert_eq!(engine.waiting().unwrap(), (vec![], vec![]));
}

#[test]
fn a_proposal_waits_until_its_time_is_over() {
    let folder = memory(&[("a.md", "one\n")]);
    let mut engine = in_process(folder.path());
    drop(run(&engine, ASKED, asking()));
    // Made at second 1, for seven days; what time it is two days of batches say.
    let write = |engine: &Engine, name: &str| {
        let text = format!(r#"<actions>[{{"action":"create_file","path":"{name}.md","content":"x"}}]</actions>"#);
        let caller = Caller { mode: Mode::Off, ..asking() };
        assert!(run(engine, text, caller).batch.is_some());
    };
    engine.settings.clock = || Timestamp::from_seconds(9_000 * 86_400);
    assert_eq!(engine.waiting().unwrap().0.len(), 1, "no batch");
    write(&engine, "one-day");
    assert_eq!(engine.waiting().unwrap().0.len(), 1, "batches of one day");
    engine.settings.clock = || Timestamp::from_seconds(7 * 86_400);
    write(&engine, "seventh-day");
    assert_eq!(engine.waiting().unwrap().0.len(), 1, "the clock had jumped");
    engine.settings.clock = || Timestamp::from_seconds(8 * 86_400);
    write(&engine, "eighth-day");
    engine.settings.clock = || Timestamp::from_seconds(9 * 86_400);
    assert_eq!(engine.waiting().unwrap().0.len(), 1, "batches of the eighth day alone");
    write(&engine, "ninth-day");
    assert_eq!(engine.waiting().unwrap().0.len(), 0);
    assert_eq!(engine.reject(1, &person()).unwrap_err().message, "proposal 1 has already been decided");
}

#[test]
fn a_batch_that_is_given_back_lets_its_proposal_wait_on() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    drop(run(&engine, ASKED, asking()));
    let shown = engine.review_proposal(1).unwrap().waiting.digest;
    engine.approve(1, Consent::Shown(shown), &person()).unwrap();
    drop(run(&engine, ASKED, asking()));
    // As a crash leaves a batch that carries out proposal 2: certain, and given back by the next writer or finished.
    let db = rusqlite::Connection::open(folder.path().join(".memdir/local/history.sqlite")).unwrap();
    db.execute("UPDATE meta SET value = 2 WHERE key = 'proposal:2'", []).unwrap();
    db.execute("UPDATE batch SET state = 5 WHERE id = 2", []).unwrap();
    assert_eq!(engine.waiting().unwrap().0.len(), 1, "given back");
    db.execute("UPDATE batch SET state = 3 WHERE id = 2", []).unwrap();
    assert_eq!(engine.waiting().unwrap().0.len(), 0, "in place");
    assert_eq!(filed(folder.path()), 0);
}

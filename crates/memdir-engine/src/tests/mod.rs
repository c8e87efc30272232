#![expect(clippy::disallowed_methods, reason = "tests play the person and the editor, who use paths")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::json;

use super::{Caller, Consent, Engine, InboxPlace, IndexPlace, Settings};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Code, Report};
use memdir_core::time::Timestamp;
use memdir_dialect as dialect;
use memdir_plan::{Limits, MapTree};
use memdir_policy::{Grant, Mode, Rule, Rules, Verdict};
use memdir_vault::{Durability, LogQuery, Options, Recorded, Vault};

mod as_of;
mod ask;
mod brief;
mod crash;
mod facts;
mod forgets;
mod fresh;
mod meaning;
mod names;
mod provenance;
mod recent;
mod review;
mod surroundings;
mod tools;
mod undo;
mod undo_server;

fn engine(root: &Path) -> Engine {
    engine_with(root, Durability::Full)
}

fn engine_with(root: &Path, durability: Durability) -> Engine {
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    let options = Options { lock_timeout: Duration::ZERO, durability, ..Options::default() };
    let settings = Settings {
        limits: Limits::default(),
        batch_actions: 3,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        past_status: crate::PAST_STATUS.map(str::to_owned).into(),
        archive: Vec::new(),
        pinned: Vec::new(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Disk,
        keep_proposals: Duration::from_secs(7 * 24 * 60 * 60),
        clock: || Timestamp::from_micros(1_000_000),
    };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
}

fn caller() -> Caller {
    Caller::model("exec")
}

/// Does what a model's text says.
fn run(engine: &Engine, text: impl AsRef<[u8]>, caller: Caller) -> Report {
    engine.conclude(engine.propose(dialect::parse(text.as_ref()), caller))
}

fn memory(notes: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in notes {
        let place = folder.path().join(name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }
    folder
}

fn codes(report: &Report) -> Vec<Option<Code>> {
    report.actions.iter().map(|outcome| outcome.result.as_ref().err().map(|failure| failure.code)).collect()
}

const EDIT: &[u8] = br#"<actions>[{"action":"update_file","path":"a.md","old_content":"one","new_content":"1"},
    {"action":"read_file","path":"a.md"}]</actions>"#;

#[test]
fn a_note_that_changes_after_the_proposal_is_planned_again() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let proposal = engine.propose(dialect::parse(EDIT), caller());
    std::fs::write(folder.path().join("a.md"), "zero\none\n").unwrap();
    let report = engine.conclude(proposal);
    assert_eq!(codes(&report), [None, None]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "zero\n1\n");
    // The read after the edit saw the note as it is, not as it was first planned.
    assert_eq!(report.actions[1].result, Ok(memdir_core::report::Value::Text("zero\n1\n".into())));
}

#[test]
fn an_edit_that_no_longer_fits_fails_and_the_outside_edit_stays() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let proposal = engine.propose(dialect::parse(EDIT), caller());
    std::fs::write(folder.path().join("a.md"), "another\n").unwrap();
    let report = engine.conclude(proposal);
    assert_eq!((codes(&report), report.batch), (vec![Some(Code::ContentNotFound), None], None));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "another\n");
}

#[test]
fn a_dry_run_and_a_dropped_proposal_leave_nothing() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    drop(engine.propose(dialect::parse(EDIT), caller()));
    let report = engine.preview(engine.propose(dialect::parse(EDIT), caller()));
    assert_eq!((report.dry_run, report.batch, report.changed.len()), (Some(true), None, 1));
    assert!(report.diff.unwrap().contains("+1"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_atomic_batch_with_a_failure_does_nothing() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let text = br#"<actions>[{"action":"append_file","path":"a.md","content":"two"},{"action":"delete_file","path":"b.md"}]</actions>"#;
    let report = run(&engine, text, Caller { atomic: true, ..caller() });
    assert_eq!(codes(&report), [Some(Code::BatchAborted), Some(Code::NotFound)]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "one\n");
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [None, Some(Code::NotFound)]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "one\ntwo\n");
}

#[test]
fn the_first_call_past_the_limit_is_refused_alone_and_stands_for_the_rest() {
    let folder = memory(&[("a.md", "")]);
    let engine = engine(folder.path());
    let call = r#"{"action":"append_file","path":"a.md","content":"x"}"#;
    let text = format!("<actions>[{}]</actions>", [call; 5].join(","));
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [None, None, None, Some(Code::TooLarge)]);
    let message = report.actions[3].result.as_ref().unwrap_err().message.clone();
    assert_eq!(message, "a batch holds at most 3 actions; this one and the 1 after it were not run");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "x\nx\nx\n");
}

#[test]
fn while_another_process_writes_reads_work_and_writes_are_busy() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let first = run(&engine, EDIT, caller());
    assert_eq!(first.batch, Some(1));
    let lock = std::fs::OpenOptions::new().write(true).open(folder.path().join(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let text = br#"<actions>[{"action":"read_file","path":"a.md"},{"action":"append_file","path":"a.md","content":"x"}]</actions>"#;
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [None, Some(Code::Busy)]);
    assert_eq!((report.batch, report.changed.len(), report.receipt), (None, 0, None));
    lock.unlock().unwrap();
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [None, None]);
}

#[test]
fn what_was_not_written_is_not_read_either() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let _ = run(&engine, EDIT, caller());
    let lock = std::fs::OpenOptions::new().write(true).open(folder.path().join(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let text = br#"<actions>[{"action":"append_file","path":"a.md","content":"not saved"},{"action":"read_file","path":"a.md"}]</actions>"#;
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [Some(Code::Busy), None]);
    assert_eq!(report.actions[1].result, Ok(memdir_core::report::Value::Text("1\n".into())));
}

#[test]
fn a_conflict_is_planned_again_also_where_the_plan_asks_the_history() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let text = br#"<actions>[{"action":"append_file","path":"a.md","content":"more"},{"action":"get_history","path":"a.md"}]</actions>"#;
    let _ = run(&engine, EDIT, caller());
    let proposal = engine.propose(dialect::parse(text), caller());
    std::fs::write(folder.path().join("a.md"), "two\n").unwrap();
    let report = engine.conclude(proposal);
    assert_eq!((codes(&report), report.batch), (vec![None, None], Some(2)));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "two\nmore\n");
}

#[test]
fn nothing_that_was_refused_is_kept_anywhere() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let key = concat!("AKIA", "QYLPMN5HHHFPZAM2");
    let text = format!(
        r#"<actions>[{{"action":"update_file","path":"a.md","old_content":"one","new_content":"1"}},
        {{"action":"create_file","path":"k.md","content":"key {key}"}},{{"action":"my pin is 4711","path":"a.md"}}]</actions>"#
    );
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [None, Some(Code::Denied), Some(Code::UnknownAction)]);
    // What is looked for may be a key, too.
    let looked =
        json!([{"action": "search_files", "query": key}, {"action": "go_to_link", "link": format!("[[{key}]]")}]);
    let report = run(&engine, format!("<actions>{looked}</actions>"), caller());
    assert_eq!(codes(&report), [None, Some(Code::LinkNotFound)]);
    drop(engine);
    for entry in std::fs::read_dir(folder.path().join(".memdir/local")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_eq!(std::fs::read_dir(path).unwrap().count(), 0);
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!holds(key) && !holds("4711 is"), "the history holds what was refused");
    }
}

/// Half of a key is none, so what stands in the note is looked at with what an edit makes of it.
#[test]
fn a_secret_that_an_edit_completes_is_refused() {
    let half = "- id: AKIAFAKEFAKEX\n- city: London\n";
    let whole = format!("- id: {}{} old\n", "AKIA", "FAKEFAKEFAKEFAK8");
    let folder = memory(&[("a.md", half), ("b.md", &whole)]);
    let mut engine = engine(folder.path());
    let run = |engine: &Engine, calls: serde_json::Value| {
        let text = format!("<actions>{calls}</actions>");
        codes(&run(engine, text, caller()))
    };
    let complete = json!({"action": "update_file", "path": "a.md", "old_content": "X", "new_content": "FAKEFAK7"});
    assert_eq!(run(&engine, json!([complete])), [Some(Code::Denied)]);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), half);
    // In two calls of one batch, too.
    let begin = json!({"action": "create_file", "path": "c.md", "content": "ASIAFAKEFAKEX\n"});
    let end = json!({"action": "update_file", "path": "c.md", "old_content": "X", "new_content": "FAKEFAK7"});
    assert_eq!(run(&engine, json!([begin, end])), [None, Some(Code::Denied)]);
    // A row below the head that makes it one.
    let head = "| service | password |\n| --- | --- |\n";
    let head = json!({"action": "create_file", "path": "d.md", "content": head});
    let row = json!({"action": "append_file", "path": "d.md", "content": "| mail | hunter2Xyz99q |\n"});
    assert_eq!(run(&engine, json!([head, row])), [None, Some(Code::Denied)]);
    // What is beside the edit, or stands there whole, is no news.
    let beside = json!({"action": "update_file", "path": "a.md", "old_content": "London", "new_content": "Paris"});
    let same_line = json!({"action": "update_file", "path": "b.md", "old_content": "old", "new_content": "new"});
    assert_eq!(run(&engine, json!([beside, same_line])), [None, None]);
    let allow = Rule {
        action: None,
        path: Some("a.md".into()),
        client: None,
        detector: Some("secret".into()),
        verdict: Verdict::Allow,
    };
    engine.set_rules(Rules::new(vec![allow]).unwrap());
    assert_eq!(run(&engine, json!([complete])), [None]);
}

#[cfg(unix)]
#[test]
fn a_rule_holds_for_every_name_that_leads_to_its_place() {
    let folder = memory(&[("a.md", "one\n")]);
    std::fs::create_dir(folder.path().join("private")).unwrap();
    std::fs::write(folder.path().join("private/p.md"), "secret\n").unwrap();
    std::os::unix::fs::symlink("private/p.md", folder.path().join("pub.md")).unwrap();
    let mut engine = engine(folder.path());
    let rule = memdir_policy::Rule {
        action: None,
        path: Some("private/**".into()),
        client: None,
        detector: None,
        verdict: memdir_policy::Verdict::Deny,
    };
    engine.set_rules(Rules::new(vec![rule]).unwrap());
    let text =
        br#"<actions>[{"action":"read_file","path":"pub.md"},{"action":"append_file","path":"pub.md","content":"x"},
        {"action":"go_to_link","link":"[[p]]"}]</actions>"#;
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [Some(Code::Denied); 3]);
    let text = br#"<actions>[{"action":"go_to_link","link":"[[p#gone]]"}]</actions>"#;
    let report = run(&engine, text, caller());
    assert_eq!(codes(&report), [Some(Code::Denied)], "nor is it told which headings are there");
    assert_eq!(std::fs::read_to_string(folder.path().join("private/p.md")).unwrap(), "secret\n");
}

#[test]
fn a_rename_waits_where_it_writes_into_notes_that_no_rule_lets_change() {
    let folder = memory(&[("user.md", "- see [[inbox/a]]\n")]);
    std::fs::create_dir(folder.path().join("inbox")).unwrap();
    std::fs::write(folder.path().join("inbox/a.md"), "# A\n").unwrap();
    std::fs::write(folder.path().join("inbox/b.md"), "[[c]]\n").unwrap();
    std::fs::write(folder.path().join("inbox/c.md"), "# C\n").unwrap();
    let mut engine = engine(folder.path());
    let rule =
        Rule { action: None, path: Some("inbox/**".into()), client: None, detector: None, verdict: Verdict::Allow };
    engine.set_rules(Rules::new(vec![rule]).unwrap());
    let asking = || Caller { mode: Mode::All, ..caller() };
    let rename = |from: &str, to: &str, caller| {
        let call = json!([{"action": "rename_file", "path": from, "new_path": to}]);
        codes(&run(&engine, format!("<actions>{call}</actions>"), caller))
    };
    let read = |note: &str| std::fs::read_to_string(folder.path().join(note)).unwrap();
    assert_eq!(rename("inbox/c.md", "inbox/d.md", asking()), [None], "all that it changes is let change");
    assert_eq!(read("inbox/b.md"), "[[d]]\n");
    assert_eq!(rename("inbox/a.md", "inbox/so do this.md", asking()), [Some(Code::AwaitingApproval)]);
    assert_eq!(read("user.md"), "- see [[inbox/a]]\n");
    let waiting = engine.pending().unwrap().proposals;
    assert_eq!(waiting.len(), 1);
    let one = &waiting[0].waiting;
    engine.approve(one.id, Consent::Shown(one.digest), &Caller::person("cli")).unwrap();
    assert_eq!(read("user.md"), "- see [[inbox/so do this]]\n");
    // Who does not see all notes is not told whether others link to it.
    let grant = Grant::new(&["inbox/**".to_owned()], &["inbox/**".to_owned()], None).unwrap();
    let granted = || Caller { grant: Some(Arc::new(grant.clone())), ..asking() };
    assert_eq!(rename("inbox/d.md", "inbox/e.md", granted()), [Some(Code::AwaitingApproval)]);
}

#[test]
fn what_may_not_be_read_is_not_shown_by_other_actions_either() {
    let folder = memory(&[("a.md", "one\n"), ("b.md", "two\n")]);
    std::fs::create_dir(folder.path().join("private")).unwrap();
    std::fs::write(folder.path().join("private/p.md"), "# Heading\n\n- see: [[a]]\n").unwrap();
    let mut engine = engine(folder.path());
    let rule = memdir_policy::Rule {
        action: Some("read_file".into()),
        path: Some("private/**".into()),
        client: None,
        detector: None,
        verdict: memdir_policy::Verdict::Deny,
    };
    engine.set_rules(Rules::new(vec![rule]).unwrap());
    for action in [
        r#"{"action":"copy_file","path":"private/p.md","new_path":"q.md"}"#,
        r#"{"action":"rename_file","path":"private/p.md","new_path":"q.md"}"#,
        r#"{"action":"update_file","path":"private/p.md","old_content":"- sea: [[a]]","new_content":"x"}"#,
        r#"{"action":"append_to_section","path":"private/p.md","heading":"Headings","content":"x"}"#,
        r#"{"action":"get_links","path":"private/p.md"}"#,
        r#"{"action":"rename_file","path":"a.md","new_path":"c.md"}"#,
    ] {
        let text = format!("<actions>[{action}]</actions>");
        let report = engine.preview(engine.propose(dialect::parse(text.as_bytes()), caller()));
        assert_eq!(codes(&report), [Some(Code::Denied)], "{action}");
        assert_eq!(report.diff.as_deref(), Some(""));
    }
    let text = br#"<actions>[{"action":"rename_file","path":"b.md","new_path":"c.md"},{"action":"get_backlinks","path":"a.md"},
        {"action":"search_files","query":"heading"}]</actions>"#;
    let report = engine.preview(engine.propose(dialect::parse(text), caller()));
    let said = serde_json::to_string(&report).unwrap();
    assert!(codes(&report).iter().all(Option::is_none) && !said.contains("private"), "{said}");
}

#[test]
fn a_restored_note_is_what_it_was_after_a_batch() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let _ = run(&engine, EDIT, caller());
    let delete = br#"<actions>[{"action":"delete_file","path":"a.md"}]</actions>"#;
    let _ = run(&engine, delete, caller());
    let path = memdir_core::path::MemoryPath::parse("a.md").unwrap();
    let change = engine.propose_restore(&path, 1).unwrap();
    assert_eq!(engine.conclude_change(change, &caller()).unwrap().batch, Some(3));
    assert_eq!(std::fs::read_to_string(folder.path().join("a.md")).unwrap(), "1\n");
    assert_eq!(engine.propose_restore(&path, 9).unwrap_err().failure.code, Code::NotFound);
    let log = engine.log(&LogQuery { limit: 9, ..LogQuery::default() }, true).unwrap();
    assert_eq!(log.entries.iter().map(|entry| entry.batch).collect::<Vec<_>>(), [Some(3), Some(2), Some(1)]);
    assert!(log.entries[2].diff.as_deref().unwrap().contains("+1"));
}

#[test]
fn a_restored_text_is_told_to_be_of_the_change_that_recorded_it() {
    let folder = memory(&[("a.md", "# A\n"), ("d/x.md", "x\n")]);
    let engine = engine(folder.path());
    let act = |action: &str| run(&engine, format!("<actions>[{action}]</actions>"), caller()).batch.unwrap();
    let recorded = |name: &str, batch| {
        let path = MemoryPath::parse(name).unwrap();
        engine.propose_restore(&path, batch).map(|change| change.recorded().unwrap())
    };
    let added = act(r#"{"action":"append_file","path":"a.md","content":"one\n"}"#);
    std::fs::write(folder.path().join("a.md"), "# A\none\nby an editor\n").unwrap();
    let moved = act(r#"{"action":"rename_file","path":"a.md","new_path":"b.md"}"#);
    assert_eq!(recorded("b.md", added), Ok(Recorded::After(added)));
    assert_eq!(recorded("b.md", moved), Ok(Recorded::After(added)));
    let folder_moved = act(r#"{"action":"rename_file","path":"d","new_path":"e"}"#);
    let failure = recorded("e/x.md", folder_moved).unwrap_err().failure;
    assert_eq!(failure.message, "no change has recorded the text of `e/x.md`");
    let next = act(r#"{"action":"append_file","path":"e/x.md","content":"y\n"}"#);
    assert_eq!(recorded("e/x.md", folder_moved), Ok(Recorded::Before(next)));
    assert_eq!(recorded("e/x.md", next), Ok(Recorded::After(next)));
}

/// What a folder holds: notes with their text, folders with nothing.
fn snapshot(root: &Path) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            // State, and what is removed after the answer.
            if path.file_name().unwrap().to_str().unwrap().starts_with(".memdir") {
                continue;
            }
            found.insert(name, std::fs::read_to_string(&path).ok());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

/// A call that may or may not succeed, out of few names, so that calls meet.
fn some_call(next: &mut impl FnMut(usize) -> usize) -> serde_json::Value {
    const FILES: [&str; 7] = ["a.md", "b.md", "d/a.md", "d/b.md", "e/a.md", "e/f/a.md", "g/a.md"];
    const FOLDERS: [&str; 5] = ["d", "e", "e/f", "g", "h/i"];
    let (file, other) = (FILES[next(7)], FILES[next(7)]);
    let (folder, another) = (FOLDERS[next(5)], FOLDERS[next(5)]);
    match next(9) {
        0 => json!({"action": "create_file", "path": file, "content": "new\n"}),
        1 => json!({"action": "append_file", "path": file, "content": "more"}),
        2 => {
            json!({"action": "update_file", "path": file, "old_content": "o", "new_content": "0", "occurrence": "first"})
        }
        3 => json!({"action": "delete_file", "path": file}),
        4 => json!({"action": "rename_file", "path": file, "new_path": other}),
        5 | 6 => json!({"action": "rename_file", "path": folder, "new_path": another}),
        7 => json!({"action": "create_dir", "path": folder}),
        _ => json!({"action": "delete_dir", "path": folder, "recursive": next(2) == 0}),
    }
}

/// The disk does what the plan says, and undo gives it back: what a map can do, the vault has to be able to do.
#[test]
fn the_disk_and_a_map_come_to_the_same_and_back() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let (mut changed, mut undone) = (0, 0);
    for _ in 0..300 {
        let folder = memory(&[("a.md", "one\n"), ("b.md", "two\n")]);
        for name in ["d", "e/f"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("d/a.md"), "foo\n").unwrap();
        std::fs::write(folder.path().join("e/f/a.md"), "bar o\n").unwrap();
        let engine = engine_with(folder.path(), Durability::Atomic);
        let before = snapshot(folder.path());
        let calls: Vec<_> = (0..3).map(|_| some_call(&mut next)).collect();
        let text = format!("<actions>{}</actions>", serde_json::Value::Array(calls));
        let proposal = engine.propose(dialect::parse(text.as_bytes()), caller());
        let mut map = MapTree::of(before.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?))));
        for (name, _) in before.iter().filter(|(_, text)| text.is_none()) {
            map.insert_folder(&MemoryPath::parse(name).unwrap());
        }
        map.apply(proposal.plan().steps()).unwrap();
        let report = engine.conclude(proposal);
        assert!(!codes(&report).contains(&Some(Code::Conflict)), "{text}\n{report:?}");
        let after = snapshot(folder.path());
        let notes: BTreeMap<_, _> =
            after.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?))).collect();
        let expected: BTreeMap<_, _> = map
            .paths()
            .map(|path| (path.as_str(), std::str::from_utf8(map.get(path.as_str()).unwrap()).unwrap()))
            .collect();
        assert_eq!(notes, expected, "{text}");
        if report.batch.is_some() {
            changed += 1;
            let change = engine.propose_undo(None).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            engine.conclude_change(change, &caller()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            assert_eq!(snapshot(folder.path()), before, "{text}");
            undone += 1;
        }
    }
    assert!(changed > 200 && changed == undone, "{changed} {undone}");
}

/// Two notes whose names differ in Unicode form alone, of which a client may write one.
#[test]
fn what_a_batch_takes_away_leaves_no_other_form_of_its_name_to_write() {
    let (granted, twin) = ("\u{e9}.md", "e\u{301}.md");
    let folder = memory(&[(granted, "granted\n"), (twin, "not granted\n")]);
    let engine = engine(folder.path());
    let all = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
    let grant = Grant::new(&all(&["**"]), &all(&[granted, "new.md"]), None).unwrap();
    let actions = json!([
        {"action": "rename_file", "path": granted, "new_path": "new.md"},
        {"action": "append_file", "path": granted, "content": "more"},
    ]);
    let text = format!("<actions>{actions}</actions>");
    let caller = Caller { grant: Some(Arc::new(grant)), ..caller() };
    let report = run(&engine, text, caller);
    assert_eq!(std::fs::read_to_string(folder.path().join(twin)).unwrap(), "not granted\n", "{report:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("new.md")).unwrap(), "granted\n");
}

#[test]
fn what_was_wrong_with_the_history_is_still_said_when_a_batch_is_planned_again() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let other = engine_with(folder.path(), Durability::Atomic);
    assert_eq!(run(&other, EDIT, caller()).batch, Some(1));
    drop(other);
    let (state, away) = (folder.path().join(".memdir/local"), folder.path().join(".memdir/away"));
    std::fs::rename(&state, &away).unwrap();
    std::fs::write(&state, "no folder").unwrap();
    let text = br#"<actions>[{"action":"append_file","path":"a.md","content":"more"}]</actions>"#;
    let proposal = engine.propose(dialect::parse(text), caller());
    std::fs::remove_file(&state).unwrap();
    std::fs::rename(&away, &state).unwrap();
    std::fs::write(folder.path().join("a.md"), "two\n").unwrap();
    let report = engine.conclude(proposal);
    assert_eq!((codes(&report), report.batch), (vec![None], Some(2)));
    assert_eq!(report.issues.iter().map(|issue| issue.code).collect::<Vec<_>>(), ["history_unusable"]);
}

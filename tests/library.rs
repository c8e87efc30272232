//! The library as another program uses it; what it has done is read back with the standard library alone.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]
#![expect(clippy::disallowed_methods, reason = "the files themselves are the oracle")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memdir::action::{Action, AppendFile, WriteFile};
use memdir::path::MemoryPath;
use memdir::report::{Code, Value};
use memdir::{Memory, Mode};

fn memory_in(folder: &Path) -> Memory {
    Memory::options().without_index().open(folder).unwrap()
}

fn note(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn a_turn_is_run_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("user.md"), "# Ada\n\n- city: London\n").unwrap();
    let memory = memory_in(folder.path());
    let turn = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Porto"}]</actions><reply>Done.</reply>"#;

    let preview = memory.preview(turn);
    assert!(preview.report.diff.unwrap().contains("+- city: Porto"));
    assert_eq!(note(folder.path(), "user.md"), "# Ada\n\n- city: London\n");

    let answer = memory.run(turn);
    assert_eq!(answer.report.reply.as_deref(), Some("Done."));
    assert_eq!(note(folder.path(), "user.md"), "# Ada\n\n- city: Porto\n");
    assert_eq!(memory.history(usize::MAX).unwrap().len(), 1);

    assert_eq!(memory.undo().unwrap().changed[0].as_str(), "user.md");
    assert_eq!(note(folder.path(), "user.md"), "# Ada\n\n- city: London\n");
    assert_eq!(memory.undo().unwrap_err().failure.code, Code::NothingToUndo);
}

#[test]
fn an_undo_that_meets_a_later_edit_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("user.md"), "- city: London\n").unwrap();
    let memory = memory_in(folder.path());
    let _ = memory.run(r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Porto"}]</actions>"#);
    fs::write(folder.path().join("user.md"), "- city: Rome\n").unwrap();

    let error = memory.undo().unwrap_err();
    assert_eq!(error.failure.code, Code::Conflict);
    let diff = error.diff.unwrap();
    assert!(diff.contains("-- city: Rome") && diff.contains("+- city: London"), "{diff}");
    assert_eq!(note(folder.path(), "user.md"), "- city: Rome\n");
}

#[test]
fn what_cannot_be_read_or_done_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let memory = memory_in(folder.path());
    assert_eq!(memory.run("no actions at all").report.error.unwrap().code, Code::NoActions);
    assert_eq!(memory.read("../outside.md").unwrap_err().code, Code::InvalidPath);
    assert_eq!(memory.read("user.md").unwrap_err().code, Code::NotFound);
    assert_eq!(Memory::open(folder.path().join("nowhere")).unwrap_err().code, Code::NotFound);
    assert_eq!(Memory::open("/").unwrap_err().code, Code::Usage);
}

#[test]
fn one_action_is_a_type() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.md"), "one\n").unwrap();
    let memory = memory_in(folder.path());
    let path = MemoryPath::parse("log.md").unwrap();
    let done = memory.act(Action::AppendFile(AppendFile { path, content: "two\n".to_owned() })).unwrap();
    assert_eq!(done, Value::Bool(true));
    assert_eq!(note(folder.path(), "log.md"), "one\ntwo\n");
    assert_eq!(memory.search("two").unwrap().hits[0].path.as_str(), "log.md");
    assert_eq!(memory.context("two", 100).unwrap().parts[0].text.trim_end(), "one\ntwo");
}

#[test]
fn a_yes_is_bound_to_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("user.md"), "- city: London\n").unwrap();
    let memory = Memory::options().without_index().client("test").mode(Mode::All).open(folder.path()).unwrap();
    let turn = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Porto"}]</actions>"#;
    assert!(memory.run(turn).report.changed.is_empty());

    let shown = memory.waiting().unwrap().remove(0);
    assert_eq!(shown.client.as_deref(), Some("test"));
    fs::write(folder.path().join("user.md"), "- city: Rome\n").unwrap();
    let refused = memory.approve(&shown).unwrap_err();
    assert_eq!(refused.failure.code, Code::Conflict);
    assert!(refused.diff.unwrap().contains("-- city: Rome"));
    assert_eq!(note(folder.path(), "user.md"), "- city: Rome\n");

    let shown = memory.waiting().unwrap().remove(0);
    memory.approve(&shown).unwrap();
    assert_eq!(note(folder.path(), "user.md"), "- city: Porto\n");
    assert!(memory.waiting().unwrap().is_empty());
    assert_eq!(memory.reject(&shown).unwrap_err().code, Code::NotFound);
}

/// The file of the first proposal.
fn filed(folder: &Path) -> PathBuf {
    let folders = fs::read_dir(folder.join(".memdir")).unwrap().map(|entry| entry.unwrap().path());
    folders.map(|folder| folder.join("inbox/1.json")).find(|path| path.exists()).unwrap()
}

#[test]
fn nothing_is_shown_of_a_diff_that_somebody_wrote_into_the_inbox() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Memory::options().without_index().mode(Mode::All).open(folder.path()).unwrap();
    let _ = memory.run(r#"<actions>[{"action":"create_file","path":"a.md","content":"x\n"}]</actions>"#);
    let path = filed(folder.path());
    let mut file: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    file["diff"] = "+harmless\n".into();
    fs::write(&path, file.to_string()).unwrap();
    assert!(memory.waiting().unwrap()[0].diff.contains("+x"), "what it would do is planned, not read");

    fs::write(folder.path().join("a.md"), "in the way\n").unwrap();
    let shown = memory.waiting().unwrap().remove(0);
    assert_eq!((shown.trouble.as_ref().unwrap().code, shown.diff.as_str()), (Code::AlreadyExists, ""));
    fs::remove_file(folder.path().join("a.md")).unwrap();
    assert_eq!(memory.approve(&shown).unwrap_err().failure, shown.trouble.unwrap());
    assert!(!folder.path().join("a.md").exists());
}

#[test]
fn read_only_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let create = r#"<actions>[{"action":"create_file","path":"a.md","content":"x"}]</actions>"#;
    let reader = Memory::options().without_index().read_only().open(folder.path()).unwrap();
    let answer = reader.run(create);
    assert_eq!(answer.report.actions[0].result.as_ref().unwrap_err().code, Code::ReadOnly);
    assert!(!folder.path().join("a.md").exists());

    let _ = memory_in(folder.path()).run(create);
    let asking = Memory::options().without_index().mode(Mode::All).open(folder.path()).unwrap();
    let _ = asking.run(r#"<actions>[{"action":"append_file","path":"a.md","content":"y"}]</actions>"#);
    let shown = reader.waiting().unwrap().remove(0);
    let refused =
        [reader.undo(), reader.undo_batch(1), reader.approve(&shown)].map(|done| done.unwrap_err().failure.code);
    assert_eq!(refused, [Code::ReadOnly; 3]);
    assert_eq!(reader.reject(&shown).unwrap_err().code, Code::ReadOnly);
    assert_eq!(note(folder.path(), "a.md"), "x");
    asking.approve(&shown).unwrap();
}

#[test]
fn the_history_can_lie_elsewhere_but_not_in_the_memory() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |state: &Path| Memory::options().without_index().state(state).open(folder.path());
    assert_eq!(open(&folder.path().join("notes/state")).unwrap_err().code, Code::Usage);
    assert!(!folder.path().join("notes").exists(), "a folder that is refused is not made");

    let memory = open(state.path()).unwrap();
    let _ = memory.run(r#"<actions>[{"action":"create_file","path":"a.md","content":"x"}]</actions>"#);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
    assert_eq!(memory_in(folder.path()).history(9).unwrap().len(), 0, "another place is another history");
    assert_eq!(open(state.path()).unwrap().history(9).unwrap().len(), 1);
}

#[test]
fn contents_are_kept_as_the_program_says() {
    let large: String = (1..9_999_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_string()).collect();
    let gone = |keep: Option<u64>| {
        let folder = tempfile::tempdir().unwrap();
        let options = Memory::options().without_index();
        let options = keep.map_or_else(|| options.clone(), |bytes| options.clone().keep(Duration::MAX, bytes));
        let memory = options.open(folder.path()).unwrap();
        let path = MemoryPath::parse("a.md").unwrap();
        // The history is pruned with every sixteenth batch.
        let small = (2..=16).map(|number| number.to_string());
        for content in std::iter::once(large.clone()).chain(small) {
            memory.act(Action::WriteFile(WriteFile { path: path.clone(), content, if_digest: None })).unwrap();
        }
        assert_eq!(memory.history(99).unwrap().len(), 16, "what was done stays known");
        memory.undo_batch(2).map_or_else(|error| error.failure.code, |_| Code::Internal)
    };
    assert_eq!(gone(Some(0)), Code::Unavailable);
    assert_eq!([gone(None), gone(Some(1 << 20))], [Code::Conflict; 2]);
}

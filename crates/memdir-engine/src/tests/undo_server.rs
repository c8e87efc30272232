//! Taking back what was written in conversations with another server. The oracle is the bytes of the notes before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::tools::{Scripted, a_call, answer, switched_on, toolbox, weather};
use super::{engine, memory, run};
use crate::{Caller, Engine, ToolConsent};
use memdir_core::report::{Code, Report};
use memdir_policy::Mode;
use memdir_tools::{
    CallError, CallEvents, Permission, PinState, Progress, ServerState, Tool, ToolAnswer, ToolCall, Toolbox,
};
use memdir_vault::LogQuery;

fn model(session: &str) -> Caller {
    Caller::model("chat").in_session(Some(session.to_owned()))
}

fn act(engine: &Engine, caller: &Caller, actions: &Value) -> Report {
    let text = format!("<actions>{actions}</actions>");
    run(engine, text, caller.clone())
}

#[track_caller]
fn wrote(engine: &Engine, caller: &Caller, actions: &Value) -> u64 {
    let report = act(engine, caller, actions);
    report.batch.unwrap_or_else(|| panic!("{report:?}"))
}

fn append(path: &str, line: &str) -> Value {
    json!([{"action": "append_file", "path": path, "content": line}])
}

fn speaks(engine: &Engine, caller: &Caller, said: Result<ToolAnswer, CallError>) {
    speaks_by(engine, caller, &toolbox(Permission::Allow, PinState::Approved, said));
}

fn speaks_by(engine: &Engine, caller: &Caller, toolbox: &dyn Toolbox) {
    let mut ask = |_: &_, _: &_| ToolConsent::No;
    let stop = CancellationToken::new();
    drop(engine.call_tool(toolbox, caller, &mut switched_on(), &a_call(json!({})), &mut ask, &mut (), &stop));
}

/// The notes and what they say.
fn notes(root: &Path) -> BTreeMap<String, String> {
    let paths = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let notes = paths.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    notes.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

fn of(names: &BTreeMap<String, String>, wanted: &[&str]) -> Vec<Option<String>> {
    wanted.iter().map(|name| names.get(*name).cloned()).collect()
}

#[test]
fn what_was_written_in_conversations_with_the_server_goes_as_one_change_and_nothing_else() {
    let folder = memory(&[("a.md", "one\n"), ("b.md", "two\n"), ("c.md", "three\n"), ("d.md", "four\n")]);
    let (engine, root) = (engine(folder.path()), folder.path());
    let before = notes(root);
    let first = wrote(&engine, &model("s1"), &append("a.md", "before it spoke"));
    speaks(&engine, &model("s1"), Ok(answer(false)));
    let second = wrote(
        &engine,
        &model("s1"),
        &json!([{"action": "rename_file", "path": "a.md", "new_path": "z.md"},
            {"action": "create_file", "path": "new.md", "content": "a tool said so\n"},
            {"action": "delete_file", "path": "b.md"}]),
    );
    wrote(&engine, &model("s2"), &append("c.md", "elsewhere"));
    let other = Caller { ..model("s1").for_client(Some("shelf".to_owned())) };
    wrote(&engine, &other, &append("c.md", "another program's s1"));
    wrote(&engine, &Caller::person("chat").in_session(Some("s1".to_owned())), &append("d.md", "the person"));
    let third = wrote(&engine, &model("s1"), &append("z.md", "later"));
    let written = notes(root);

    let undo = engine.propose_undo_of_server(&weather()).unwrap();
    assert_eq!((undo.conversations, undo.elsewhere, undo.left.len(), undo.proposals.len()), (1, 0, 0, 0));
    assert_eq!(undo.change.as_ref().unwrap().undoes(), [third, second, first]);
    assert_eq!(notes(root), written, "nothing is done yet");
    let done = engine.conclude_undo_of_server(undo, &Caller::person("cli")).unwrap().done;
    let after = notes(root);
    let mine = ["a.md", "b.md", "z.md", "new.md"];
    assert_eq!(of(&after, &mine), of(&before, &mine));
    let others = ["c.md", "d.md"];
    assert_eq!(of(&after, &others), of(&written, &others));

    let batch = done.batch.unwrap();
    let log = engine.log(&LogQuery { limit: 20, ..LogQuery::default() }, false).unwrap();
    let undone: BTreeMap<u64, Option<u64>> =
        log.entries.iter().map(|entry| (entry.batch.unwrap(), entry.undone_by)).collect();
    let by: Vec<u64> = undone.iter().filter(|(_, by)| **by == Some(batch)).map(|(undone, _)| *undone).collect();
    assert_eq!(by, [first, second, third]);
    let undoes = &log.entries.iter().find(|entry| entry.batch == Some(batch)).unwrap();
    assert_eq!((undoes.undoes, undoes.also_undoes.as_slice()), (Some(third), &[second, first][..]));
    let nothing = engine.propose_undo_of_server(&weather()).unwrap_err();
    assert_eq!(nothing.code, Code::NothingToUndo);
    // One of them cannot be undone once more, and the whole comes back by one undo.
    assert_eq!(engine.propose_undo(Some(second)).unwrap_err().failure.code, Code::NothingToUndo);
    let back = engine.propose_undo(Some(batch)).unwrap();
    engine.conclude_change(back, &Caller::person("cli")).unwrap();
    assert_eq!(notes(root), written);
    let again = engine.propose_undo_of_server(&weather()).unwrap();
    assert_eq!(again.change.as_ref().unwrap().undoes(), [third, second, first]);
    engine.conclude_undo_of_server(again, &Caller::person("cli")).unwrap();
    assert_eq!(of(&notes(root), &mine), of(&before, &mine));
    assert!(engine.verify(None).unwrap().ok);
}

#[test]
fn what_the_person_edited_since_stays_and_is_told() {
    let folder = memory(&[("a.md", "one\n"), ("b.md", "two\n")]);
    let (engine, root) = (engine(folder.path()), folder.path());
    speaks(&engine, &model("s1"), Ok(answer(true)));
    let first = wrote(&engine, &model("s1"), &append("a.md", "told"));
    let second = wrote(&engine, &model("s1"), &append("b.md", "told"));
    std::fs::write(root.join("a.md"), "one\ntold by a person\n").unwrap();
    let undo = engine.propose_undo_of_server(&weather()).unwrap();
    let [left] = &undo.left[..] else { panic!("{:?}", undo.left) };
    assert_eq!((left.batch, left.error.failure.code), (first, Code::Conflict));
    assert!(left.error.diff.as_ref().unwrap().contains("-told by a person"), "{left:?}");
    assert_eq!(undo.change.as_ref().unwrap().undoes(), [second]);
    engine.conclude_undo_of_server(undo, &Caller::person("cli")).unwrap();
    let after = notes(root);
    assert_eq!(of(&after, &["a.md", "b.md"]), [Some("one\ntold by a person\n".into()), Some("two\n".into())]);
}

#[test]
fn what_waits_from_such_a_conversation_is_rejected() {
    let folder = memory(&[("a.md", "one\n"), ("b.md", "two\n")]);
    let (engine, root) = (engine(folder.path()), folder.path());
    let before = notes(root);
    speaks(&engine, &model("s1"), Ok(answer(false)));
    for session in ["s1", "s2"] {
        let waits = Caller { mode: Mode::All, ..model(session) };
        let report = act(&engine, &waits, &append("a.md", "it waits"));
        assert_eq!(report.actions[0].result.as_ref().unwrap_err().code, Code::AwaitingApproval);
    }
    let undo = engine.propose_undo_of_server(&weather()).unwrap();
    assert_eq!((undo.change.is_none(), undo.proposals.as_slice()), (true, &[1][..]));
    engine.conclude_undo_of_server(undo, &Caller::person("cli")).unwrap();
    let (waiting, _) = engine.waiting().unwrap();
    assert_eq!(waiting.iter().map(|waiting| waiting.id).collect::<Vec<_>>(), [2]);
    assert_eq!(notes(root), before);
}

#[test]
fn a_proposal_that_cannot_be_rejected_is_told_beside_the_change_that_was_made() {
    let folder = memory(&[("a.md", "one\n")]);
    let (engine, root) = (engine(folder.path()), folder.path());
    let before = notes(root);
    speaks(&engine, &model("s1"), Ok(answer(false)));
    let batch = wrote(&engine, &model("s1"), &append("a.md", "two"));
    act(&engine, &Caller { mode: Mode::All, ..model("s1") }, &append("a.md", "it waits"));
    let undo = engine.propose_undo_of_server(&weather()).unwrap();
    assert_eq!((undo.change.as_ref().unwrap().undoes(), undo.proposals.as_slice()), (&[batch][..], &[1][..]));
    let database = rusqlite::Connection::open(root.join(".memdir/local/history.sqlite")).unwrap();
    let full = "CREATE UNIQUE INDEX one_only ON entry (door IS NULL) WHERE action = 'reject' OR seq = 1";
    database.execute_batch(full).unwrap();
    let undone = engine.conclude_undo_of_server(undo, &Caller::person("cli")).unwrap();
    assert_eq!(notes(root), before);
    let by: u64 = database.query_row("SELECT id FROM batch WHERE undoes IS NOT NULL", [], |row| row.get(0)).unwrap();
    assert_eq!(undone.done.batch, Some(by));
    assert_eq!(undone.waiting.iter().map(|(proposal, _)| *proposal).collect::<Vec<_>>(), [1]);
    assert_eq!(engine.waiting().unwrap().0.len(), 1);
}

/// Servers that say how far they are, and then this.
#[derive(Debug)]
struct Talking(Scripted, Option<&'static str>);

impl Toolbox for Talking {
    fn servers(&self) -> Vec<ServerState> {
        Vec::new()
    }

    fn tools(&self) -> Arc<[Tool]> {
        self.0.tools()
    }

    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        events.progress(&Progress { progress: 1.0, total: None, message: self.1.map(str::to_owned) });
        self.0.call(call, events, stop)
    }

    fn on_change(&self, _heard: Box<dyn Fn() + Send + Sync>) {}
}

#[test]
fn whatever_quotes_the_server_counts_as_speaking() {
    let server = || "weather".to_owned();
    let cases = [
        (Ok(answer(false)), true),
        (Ok(answer(true)), true),
        (Err(CallError::Protocol { server: server(), code: -32000, message: "store this".into(), data: None }), true),
        (Err(CallError::Protocol { server: server(), code: -32602, message: "store this".into(), data: None }), true),
        (
            Err(CallError::Unreachable {
                server: server(),
                problem: "it exited with status 3".into(),
                may_be_done: true,
            }),
            false,
        ),
        (Err(CallError::Timeout { server: server(), seconds: 1 }), false),
        (Err(CallError::TooLarge { server: server(), most: 9 }), false),
        (Err(CallError::LoginNeeded(server())), false),
        (Err(CallError::TooSoon { server: server(), wait: Duration::from_secs(1) }), false),
    ];
    let progress = |message| (Err(CallError::Cancelled), message);
    let told = [(progress(None), false), (progress(Some("store this")), true)];
    for ((said, progress), counts) in cases.map(|(said, counts)| ((said, None), counts)).into_iter().chain(told) {
        let folder = memory(&[("a.md", "one\n")]);
        let engine = engine(folder.path());
        let talking = Talking(toolbox(Permission::Allow, PinState::Approved, said.clone()), progress);
        speaks_by(&engine, &model("s1"), &talking);
        let batch = wrote(&engine, &model("s1"), &append("a.md", "two"));
        match engine.propose_undo_of_server(&weather()) {
            Ok(undo) => assert_eq!((undo.change.unwrap().undoes(), counts), (&[batch][..], true), "{said:?}"),
            Err(failure) => assert_eq!((failure.code, counts), (Code::NothingToUndo, false), "{said:?}"),
        }
    }
}

#[test]
fn a_call_without_a_known_answer_counts_and_one_outside_a_conversation_is_told() {
    // Nobody knows whether it answered.
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    speaks(&engine, &model("s1"), Err(CallError::Cancelled));
    let batch = wrote(&engine, &model("s1"), &append("a.md", "two"));
    let database = rusqlite::Connection::open(folder.path().join(".memdir/local/history.sqlite")).unwrap();
    assert_eq!(database.execute("DELETE FROM entry WHERE code = 'cancelled'", []).unwrap(), 1);
    assert_eq!(engine.propose_undo_of_server(&weather()).unwrap().change.unwrap().undoes(), [batch]);

    let folder = memory(&[("a.md", "one\n")]);
    let engine = super::engine(folder.path());
    speaks(&engine, &Caller::model("cli"), Ok(answer(false)));
    wrote(&engine, &Caller::model("cli"), &append("a.md", "two"));
    let failure = engine.propose_undo_of_server(&weather()).unwrap_err();
    assert!(failure.message.contains("only outside conversations"), "{failure}");
}

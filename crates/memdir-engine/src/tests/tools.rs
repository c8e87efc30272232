//! Calls of other servers' tools: who decides, what is sent, and what the audit says of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::{engine, memory, run};
use crate::{Caller, Engine, ForgetTarget, RelatedLines, ToolConsent};
use memdir_core::report::{Code, Failure};
use memdir_tools::{
    CallError, CallEvents, Permission, PinState, ServerName, ServerState, Switched, Tool, ToolAnswer, ToolCall,
    ToolName, Toolbox,
};
use memdir_vault::{AuditQuery, ToolFilter};

/// Servers that answer what they are told to, and remember what they were sent.
#[derive(Debug)]
pub(super) struct Scripted {
    tools: Mutex<Arc<[Tool]>>,
    answer: Result<ToolAnswer, CallError>,
    may_call: Result<(), CallError>,
    heard: Mutex<Vec<ToolCall>>,
}

impl Toolbox for Scripted {
    fn servers(&self) -> Vec<ServerState> {
        Vec::new()
    }

    fn tools(&self) -> Arc<[Tool]> {
        Arc::clone(&self.tools.lock().unwrap())
    }

    fn may_call(&self, _call: &ToolCall) -> Result<(), CallError> {
        self.may_call.clone()
    }

    fn call(
        &self,
        call: &ToolCall,
        _events: &mut dyn CallEvents,
        _stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        self.heard.lock().unwrap().push(call.clone());
        self.answer.clone()
    }

    fn on_change(&self, _heard: Box<dyn Fn() + Send + Sync>) {}
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

pub(super) fn weather() -> ServerName {
    ServerName::parse("weather").unwrap()
}

pub(super) fn answer(is_error: bool) -> ToolAnswer {
    let result = object(json!({"content": [{"type": "text", "text": "rain"}], "isError": is_error}));
    ToolAnswer { result, is_cached: false, took: Duration::from_micros(1_500) }
}

pub(super) fn toolbox(permission: Permission, pin: PinState, answer: Result<ToolAnswer, CallError>) -> Scripted {
    let own = "forecast";
    let name = ToolName::of(&weather(), own);
    let tool = Tool { name, server: weather(), own: own.to_owned(), definition: Map::new(), permission, pin };
    Scripted { tools: Mutex::new([tool].into()), answer, may_call: Ok(()), heard: Mutex::default() }
}

pub(super) fn switched_on() -> Switched {
    Switched { servers: BTreeSet::from([weather()]), allowed: BTreeSet::new() }
}

pub(super) fn a_call(arguments: Value) -> ToolCall {
    ToolCall { tool: ToolName::of(&weather(), "forecast"), arguments: object(arguments), client: None }
}

/// A call, and how often the person was asked about it.
fn call(
    engine: &Engine,
    toolbox: &Scripted,
    switched: &mut Switched,
    consent: ToolConsent,
) -> (Result<ToolAnswer, Failure>, usize) {
    let (call, mut asked) = (a_call(json!({"city": "Oslo", "days": 2})), 0);
    let mut ask = |tool: &Tool, arguments: &Map<String, Value>| {
        assert_eq!((tool.name.as_str(), arguments), ("weather__forecast", &call.arguments));
        asked += 1;
        consent
    };
    let caller = Caller::model("chat").in_session(Some("7f3a".to_owned()));
    let stop = CancellationToken::new();
    (engine.call_tool(toolbox, &caller, switched, &call, &mut ask, &mut (), &stop), asked)
}

fn database(root: &Path) -> Connection {
    Connection::open(root.join(".memdir/local/history.sqlite")).unwrap()
}

/// Permission, code and payload of each entry.
fn entries(root: &Path) -> Vec<(String, Option<String>, Value)> {
    let database = database(root);
    let mut statement = database.prepare("SELECT permission, code, payload FROM entry ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?))).unwrap();
    rows.map(|row| row.unwrap())
        .map(|(leave, code, payload)| (leave, code, serde_json::from_str(&payload).unwrap()))
        .collect()
}

#[test]
fn who_decides_about_a_call_is_told_and_kept() {
    use Permission::{Allow, Ask, Deny};
    use ToolConsent::{Conversation, No, NobodyThere, Once};
    let off = Switched::default();
    let yes = Switched { allowed: ["weather__forecast".to_owned()].into(), ..switched_on() };
    let on = switched_on();
    let cases = [
        (Allow, PinState::Approved, &on, No, 0, None, "allowed"),
        (Allow, PinState::Approved, &off, Once, 0, Some(Code::Denied), "denied"),
        (Allow, PinState::Changed, &on, Once, 0, Some(Code::Denied), "denied"),
        (Allow, PinState::New, &on, Once, 0, Some(Code::Denied), "denied"),
        (Deny, PinState::Approved, &yes, Once, 0, Some(Code::Denied), "denied"),
        (Ask, PinState::Approved, &on, Once, 1, None, "approved"),
        (Ask, PinState::Approved, &on, Conversation, 1, None, "approved_for_conversation"),
        (Ask, PinState::Approved, &yes, No, 0, None, "approved_for_conversation"),
        (Ask, PinState::Approved, &on, No, 1, Some(Code::Denied), "refused"),
        (Ask, PinState::Approved, &on, NobodyThere, 1, Some(Code::PermissionRequired), "denied"),
        (Ask, PinState::Changed, &yes, Once, 0, Some(Code::Denied), "denied"),
    ];
    for (permission, pin, switched, consent, asks, code, leave) in cases {
        let case = format!("{permission:?} {pin:?} {switched:?} {consent:?}");
        let folder = memory(&[]);
        let engine = engine(folder.path());
        let toolbox = toolbox(permission, pin, Ok(answer(false)));
        let mut after = switched.clone();
        let (made, asked) = call(&engine, &toolbox, &mut after, consent);
        assert_eq!((made.err().map(|failure| failure.code), asked), (code, asks), "{case}");
        assert_eq!(toolbox.heard.lock().unwrap().len(), usize::from(code.is_none()), "{case}");
        assert_eq!(after.allowed.len(), usize::from(*switched == yes || consent == Conversation), "{case}");
        // The engine still lives: the entry is in the database, and would outlive a process that is killed.
        let mut expected = vec![(leave.to_owned(), code.map(|code| code.to_string()))];
        if code.is_none() {
            expected.insert(0, (leave.to_owned(), Some("sent".to_owned())));
        }
        let kept = entries(folder.path()).into_iter().map(|(leave, code, _)| (leave, code));
        assert_eq!(kept.collect::<Vec<_>>(), expected, "{case}");
    }
}

#[test]
fn what_changes_while_the_person_is_asked_is_looked_at_anew() {
    let yes = [ToolConsent::Once, ToolConsent::Conversation];
    let tool = |change: fn(&mut Tool)| {
        let mut tool = toolbox(Permission::Ask, PinState::Approved, Ok(answer(false))).tools()[0].clone();
        change(&mut tool);
        vec![tool]
    };
    let described = |tool: &mut Tool| drop(tool.definition.insert("description".to_owned(), json!("sends all notes")));
    let cases = [
        ("another definition that is approved by now", tool(described), Some(Code::Denied)),
        ("another definition", tool(|tool| tool.pin = PinState::Changed), Some(Code::Denied)),
        ("denied meanwhile", tool(|tool| tool.permission = Permission::Deny), Some(Code::Denied)),
        ("gone", Vec::new(), Some(Code::UnknownAction)),
        ("allowed meanwhile", tool(|tool| tool.permission = Permission::Allow), None),
    ];
    for ((case, now, code), consent) in cases.iter().flat_map(|case| yes.map(|consent| (case, consent))) {
        let folder = memory(&[]);
        let engine = engine(folder.path());
        let toolbox = toolbox(Permission::Ask, PinState::Approved, Ok(answer(false)));
        let mut ask = |_: &Tool, _: &Map<String, Value>| {
            *toolbox.tools.lock().unwrap() = now.clone().into();
            consent
        };
        let (caller, stop, mut switched) = (Caller::model("chat"), CancellationToken::new(), switched_on());
        let call = a_call(json!({"city": "Oslo"}));
        let made = engine.call_tool(&toolbox, &caller, &mut switched, &call, &mut ask, &mut (), &stop);
        assert_eq!(made.err().map(|failure| failure.code), *code, "{case}");
        assert_eq!(toolbox.heard.lock().unwrap().len(), usize::from(code.is_none()), "{case}");
        // A yes to what was shown is none to what there is now.
        let lasts = code.is_none() && consent == ToolConsent::Conversation;
        assert_eq!(switched.allowed.len(), usize::from(lasts), "{case}");
        let kept = entries(folder.path());
        let (leave, kept, _) = kept.last().unwrap();
        assert_eq!(kept, &code.map(|code| code.to_string()), "{case}");
        assert_eq!(leave == "denied", code.is_some(), "{case}");
    }
}

#[test]
fn nobody_is_asked_about_a_call_that_could_not_be_made_now() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let mut toolbox = toolbox(Permission::Ask, PinState::Approved, Ok(answer(false)));
    toolbox.may_call = Err(CallError::TooSoon { server: "weather".to_owned(), wait: Duration::from_secs(9) });
    let (made, asked) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::Once);
    assert_eq!((made.unwrap_err().code, asked), (Code::RateLimited, 0));
    let [(permission, code, _)] = &entries(folder.path())[..] else { panic!("one entry") };
    assert_eq!((permission.as_str(), code.as_deref()), ("denied", Some("rate_limited")));
}

/// Who takes in no more than is kept.
struct Bounded;

impl CallEvents for Bounded {
    fn is_bounded(&self) -> bool {
        true
    }
}

#[test]
fn an_entry_says_how_much_of_a_long_answer_was_kept() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let text = |bytes: usize| object(json!({"content": [{"type": "text", "text": "x".repeat(bytes)}]}));
    for bytes in [5 << 20, 4 << 20] {
        let result = ToolAnswer { result: text(bytes), ..answer(false) };
        let toolbox = toolbox(Permission::Allow, PinState::Approved, Ok(result));
        for events in [&mut Bounded as &mut dyn CallEvents, &mut ()] {
            let (mut on, caller) = (switched_on(), Caller::model("chat"));
            let mut ask = |_: &Tool, _: &Map<String, Value>| ToolConsent::No;
            let (call, stop) = (a_call(json!({})), CancellationToken::new());
            engine.call_tool(&toolbox, &caller, &mut on, &call, &mut ask, events, &stop).unwrap();
        }
    }
    let kept: Vec<Value> = entries(folder.path()).iter().map(|(_, _, payload)| payload["kept_bytes"].clone()).collect();
    let (none, most) = (Value::Null, json!(4_194_304));
    assert_eq!(kept, [&none, &most, &none, &none, &none, &none, &none, &none].map(Value::clone));
}

#[test]
fn an_entry_has_digests_and_sizes_and_no_content() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let toolbox = toolbox(Permission::Ask, PinState::Approved, Ok(answer(false)));
    let (made, _) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::Once);
    assert_eq!(made, Ok(answer(false)));
    assert_eq!(*toolbox.heard.lock().unwrap(), [a_call(json!({"city": "Oslo", "days": 2}))]);
    let [(_, _, sent), (_, _, payload)] = &entries(folder.path())[..] else { panic!() };
    let before = json!({
        "tool": "weather__forecast", "server": "weather", "decided": "approved", "arguments_bytes": 24,
        "arguments_digest": payload["arguments_digest"], "result_bytes": 0, "is_cached": false, "is_error": false, "spoke": false,
    });
    assert_eq!(*sent, before);
    // By `sha256sum` of what was sent, and of what came.
    assert_eq!(
        *payload,
        json!({
            "tool": "weather__forecast", "server": "weather", "decided": "approved",
            "arguments_digest": "sha256:1845a01d60bab7bf82ef1e97e5c00cc77873a2b06e4cfe7678ac6eea5a505ed4", "arguments_bytes": 24,
            "result_digest": "sha256:18c3ed06ae04f2f54991723e89abb1ed612cdbbac0ef8f10e94ccaf667fd30b0", "result_bytes": 59, "is_cached": false, "is_error": false,
            "spoke": true,
        })
    );
    let columns: (String, String, Option<String>, i64, Option<i64>) = database(folder.path())
        .query_row("SELECT action, origin, session, micros, batch FROM entry WHERE code IS NULL", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .unwrap();
    let expected = ("weather__forecast", "tool:weather__forecast", Some("7f3a"), 1_500, None);
    assert_eq!((columns.0.as_str(), columns.1.as_str(), columns.2.as_deref(), columns.3, columns.4), expected);
}

#[test]
fn each_way_to_fail_has_its_code_and_a_tool_s_own_failure_is_an_answer() {
    let server = || "weather".to_owned();
    let lost = CallError::Unreachable { server: server(), problem: "it ended".to_owned(), may_be_done: true };
    let refused = |code| CallError::Protocol { server: server(), code, message: "no".to_owned(), data: None };
    let cases = [
        (Ok(answer(true)), "tool_failed"),
        (Err(lost), "unavailable"),
        (Err(refused(-32602)), "invalid_action"),
        (Err(refused(-32603)), "unavailable"),
        (Err(refused(-32000)), "unavailable"),
        (Err(CallError::Timeout { server: server(), seconds: 60 }), "timeout"),
        (Err(CallError::TooLarge { server: server(), most: 9 }), "too_large"),
        (Err(CallError::TooSoon { server: server(), wait: Duration::from_secs(1) }), "rate_limited"),
        (Err(CallError::LoginNeeded(server())), "denied"),
        (Err(CallError::Cancelled), "cancelled"),
    ];
    let folder = memory(&[]);
    let engine = engine(folder.path());
    for (said, _) in &cases {
        let toolbox = toolbox(Permission::Allow, PinState::Approved, said.clone());
        let (made, _) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::No);
        assert_eq!(made, said.clone().map_err(Failure::from));
    }
    let gone =
        Scripted { tools: Mutex::default(), ..toolbox(Permission::Allow, PinState::Approved, Ok(answer(false))) };
    let (made, _) = call(&engine, &gone, &mut switched_on(), ToolConsent::No);
    assert_eq!((made.unwrap_err().code, gone.heard.lock().unwrap().len()), (Code::UnknownAction, 0));
    let kept: Vec<_> =
        entries(folder.path()).into_iter().filter(|(_, code, _)| code.as_deref() != Some("sent")).collect();
    let codes: Vec<_> = kept.iter().map(|(_, code, _)| code.as_deref().unwrap()).collect();
    let expected: Vec<_> = cases.iter().map(|(_, code)| *code).chain(["unknown_action"]).collect();
    assert_eq!(codes, expected);
    assert!(kept[1..].iter().all(|(_, _, payload)| payload.get("result_digest").is_none()));
}

#[test]
fn arguments_are_kept_only_where_the_person_wants_it_and_never_with_a_secret_or_without_leave() {
    let sent = |engine: &Engine, permission, arguments: Value| {
        let toolbox = toolbox(permission, PinState::Approved, Ok(answer(false)));
        let mut ask = |_: &Tool, _: &Map<String, Value>| ToolConsent::No;
        let (caller, stop) = (Caller::model("chat"), CancellationToken::new());
        let call = a_call(arguments);
        drop(engine.call_tool(&toolbox, &caller, &mut switched_on(), &call, &mut ask, &mut (), &stop));
    };
    let folder = memory(&[]);
    let engine = engine(folder.path()).keeping_arguments(true);
    let secret = ["AK", "IA", "QYLPMN5HHHFPZAM2"].concat();
    sent(&engine, Permission::Allow, json!({"city": "Oslo"}));
    sent(&engine, Permission::Allow, json!({"city": "Oslo", "key": secret}));
    // Found in the text that the tool reads, and not in how JSON writes it.
    let table = "| user | password |\n|---|---|\n| ada | hunter2hunter2 |";
    sent(&engine, Permission::Allow, json!({"city": "Oslo", "more": [{"text": table}]}));
    sent(&engine, Permission::Ask, json!({"city": "Oslo"}));
    // `{"city":""}` is 11 bytes.
    let long = |bytes: usize| json!({"city": "o".repeat(bytes - 11)});
    sent(&engine, Permission::Allow, long(64 << 10));
    sent(&engine, Permission::Allow, long((64 << 10) + 1));
    let kept = |is_sent: bool| -> Vec<Option<String>> {
        let entries = entries(folder.path()).into_iter();
        let those = entries.filter(|(_, code, _)| (code.as_deref() == Some("sent")) == is_sent);
        those.map(|(_, _, payload)| payload.get("arguments").map(|kept| kept.to_string().replace("ooo", ""))).collect()
    };
    // 65,525 times `o` leaves two of them.
    let [oslo, longest] = ["Oslo", "oo"].map(|city| Some(json!({"city": city}).to_string()));
    assert_eq!(kept(true), [oslo.clone(), None, None, longest.clone(), None]);
    assert_eq!(kept(false), [oslo, None, None, None, longest, None]);
}

#[test]
fn calls_are_links_of_the_one_chain() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    for consent in [ToolConsent::Once, ToolConsent::No, ToolConsent::Conversation] {
        let toolbox = toolbox(Permission::Ask, PinState::Approved, Ok(answer(false)));
        drop(call(&engine, &toolbox, &mut switched_on(), consent));
    }
    drop(engine);
    let database = database(folder.path());
    let sql = "SELECT seq, time, batch, number, micros, previous, hash, commitment, salt,
               door, client, session, message, origin, action, code, permission, payload FROM entry ORDER BY seq";
    let mut statement = database.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let (mut previous, mut count) = (vec![0; 32], 0);
    while let Some(row) = rows.next().unwrap() {
        let number = |at: usize| row.get::<_, Option<i64>>(at).unwrap().unwrap_or(0).to_le_bytes().to_vec();
        let bytes = |at: usize| row.get::<_, Vec<u8>>(at).unwrap();
        let text = |at: usize| row.get::<_, String>(at).unwrap().into_bytes();
        let absent =
            |at: usize| row.get::<_, Option<String>>(at).unwrap().map_or(String::new(), |text| format!("={text}"));
        assert_eq!(bytes(7), hash_of(&[bytes(8), text(17)]), "the commitment");
        assert_eq!(bytes(5), previous);
        let parts = [
            previous,
            number(0),
            number(1),
            number(2),
            text(9),
            absent(10).into_bytes(),
            absent(11).into_bytes(),
            absent(12).into_bytes(),
            text(13),
            number(3),
            text(14),
            absent(15).into_bytes(),
            number(4),
            text(16),
            bytes(7),
        ];
        previous = hash_of(&parts);
        assert_eq!(bytes(6), previous, "the hash");
        count += 1;
    }
    assert_eq!(count, 5);
}

/// As [`Scripted`], but tells what the database held when it was called, and may end then.
#[derive(Debug)]
struct Watched<'r> {
    inner: Scripted,
    root: &'r Path,
    ends: bool,
    seen: Mutex<Vec<(String, Option<String>, Value)>>,
}

impl Toolbox for Watched<'_> {
    fn servers(&self) -> Vec<ServerState> {
        Vec::new()
    }

    fn tools(&self) -> Arc<[Tool]> {
        self.inner.tools()
    }

    fn call(
        &self,
        call: &ToolCall,
        events: &mut dyn CallEvents,
        stop: &CancellationToken,
    ) -> Result<ToolAnswer, CallError> {
        *self.seen.lock().unwrap() = entries(self.root);
        assert!(!self.ends, "the process ends here");
        self.inner.call(call, events, stop)
    }

    fn on_change(&self, _heard: Box<dyn Fn() + Send + Sync>) {}
}

#[test]
fn that_a_call_is_sent_is_certain_before_and_one_without_an_outcome_is_known() {
    for ends in [false, true] {
        let folder = memory(&[]);
        let engine = engine(folder.path());
        let inner = toolbox(Permission::Allow, PinState::Approved, Ok(answer(false)));
        let watched = Watched { inner, root: folder.path(), ends, seen: Mutex::default() };
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut ask = |_: &Tool, _: &Map<String, Value>| ToolConsent::No;
            let (caller, stop) = (Caller::model("chat"), CancellationToken::new());
            engine.call_tool(&watched, &caller, &mut switched_on(), &a_call(json!({})), &mut ask, &mut (), &stop)
        }));
        assert_eq!(made.is_err(), ends);
        let seen = watched.seen.lock().unwrap().clone();
        let [(leave, Some(code), payload)] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!((leave.as_str(), code.as_str()), ("allowed", "sent"));
        // By `sha256sum` of `{}`.
        let digest = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(payload["arguments_digest"], digest);
        let numbers: Vec<(i64, i64)> = {
            let database = database(folder.path());
            let mut statement = database.prepare("SELECT seq, number FROM entry ORDER BY seq").unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(|row| row.unwrap()).collect()
        };
        assert_eq!(numbers, if ends { vec![(1, 0)] } else { vec![(1, 0), (2, 1)] });
        let page = engine.audit_page(&AuditQuery { limit: 9, ..AuditQuery::default() }, None).unwrap();
        let [line] = &page.entries[..] else { panic!("{page:?}") };
        assert_eq!(line.code.as_deref(), ends.then_some("sent"));
        let stats = engine.stats(None).unwrap();
        assert_eq!((stats.entries, stats.tools[0].calls), (1, 1));
        let codes = if ends { json!({"sent": 1}) } else { json!({}) };
        assert_eq!(serde_json::to_value(&stats.tools[0].codes).unwrap(), codes);
        // A call that is refused later is not what became of it.
        drop(call(&engine, &watched.inner, &mut Switched::default(), ToolConsent::No));
        assert_eq!(engine.stats(None).unwrap().entries, 2);
        assert!(engine.verify(None).unwrap().ok);
    }
}

#[test]
fn where_that_it_is_sent_cannot_be_written_nothing_is_sent() {
    let folder = memory(&[]);
    let engine = engine(folder.path());
    let toolbox = toolbox(Permission::Allow, PinState::Approved, Ok(answer(false)));
    drop(call(&engine, &toolbox, &mut switched_on(), ToolConsent::No));
    let database = database(folder.path());
    let calls = || (toolbox.heard.lock().unwrap().len(), entries(folder.path()).len());
    // Another process has it for longer than the engine waits.
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (busy, _) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::No);
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!((busy.unwrap_err().code, calls()), (Code::Busy, (1, 2)));
    // Something else is in the way, as where the disk is full.
    let full = "CREATE UNIQUE INDEX one_only ON entry (door) WHERE code = 'sent'";
    database.execute_batch(full).unwrap();
    let (made, _) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::No);
    assert_eq!((made.is_err(), calls()), (true, (1, 2)));
    database.execute_batch("DROP INDEX one_only").unwrap();
    let (made, _) = call(&engine, &toolbox, &mut switched_on(), ToolConsent::No);
    assert_eq!((made.is_ok(), calls()), (true, (2, 4)));
}

#[test]
fn the_audit_is_found_and_counted_by_server_and_tool() {
    let folder = memory(&[("a.md", "one\n")]);
    let engine = engine(folder.path());
    let read = br#"<actions>[{"action":"read_file","path":"a.md"}]</actions>"#;
    drop(run(&engine, read, Caller::model("chat")));
    for (server, own, said, micros) in [
        ("weather", "forecast", Ok(answer(false)), 3_000),
        ("weather", "forecast", Ok(answer(true)), 1_000),
        ("weather", "sky__now", Err(CallError::Cancelled), 0),
        ("git", "log", Ok(answer(false)), 2_000),
    ] {
        let said = said.map(|answer| ToolAnswer { took: Duration::from_micros(micros), ..answer });
        let server = ServerName::parse(server).unwrap();
        let (name, permission, pin) = (ToolName::of(&server, own), Permission::Allow, PinState::Approved);
        let call = ToolCall { tool: name.clone(), arguments: Map::new(), client: None };
        let mut switched = Switched { servers: BTreeSet::from([server.clone()]), allowed: BTreeSet::new() };
        let tool = Tool { name, server, own: own.to_owned(), definition: Map::new(), permission, pin };
        let toolbox =
            Scripted { tools: Mutex::new([tool].into()), answer: said, may_call: Ok(()), heard: Mutex::default() };
        let mut ask = |_: &Tool, _: &Map<String, Value>| ToolConsent::No;
        let (caller, stop) = (Caller::model("chat"), CancellationToken::new());
        drop(engine.call_tool(&toolbox, &caller, &mut switched, &call, &mut ask, &mut (), &stop));
    }
    let filter = |server: Option<&str>, tool: Option<&str>| ToolFilter {
        server: server.map(str::to_owned),
        tool: tool.map(str::to_owned),
    };
    let found = |tools: Option<ToolFilter>| {
        let query = AuditQuery { tools, limit: 10, ..AuditQuery::default() };
        let page = engine.audit_page(&query, None).unwrap();
        page.entries.into_iter().map(|line| (line.action, line.call.is_some())).collect::<Vec<_>>()
    };
    let calls = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), true)).collect::<Vec<_>>();
    assert_eq!(
        found(Some(filter(Some("weather"), None))),
        calls(&["weather__sky__now", "weather__forecast", "weather__forecast"])
    );
    assert_eq!(found(Some(filter(None, Some("sky__now")))), calls(&["weather__sky__now"]));
    assert_eq!(found(Some(filter(None, Some("git__log")))), calls(&["git__log"]));
    assert_eq!(found(Some(filter(None, None))).len(), 4);
    // The read waits in memory, or is written by now.
    assert!(found(None).len() >= 4);

    let stats = engine.stats(Some(&filter(Some("weather"), None))).unwrap();
    let [weather] = &stats.servers[..] else { panic!("{stats:?}") };
    assert_eq!((weather.name.as_str(), weather.calls, weather.failed, weather.refused), ("weather", 3, 2, 0));
    assert_eq!(serde_json::to_value(&weather.codes).unwrap(), json!({"cancelled": 1, "tool_failed": 1}));
    assert_eq!((weather.ms.max, weather.ms.median), (3.0, 1.0));
    let tools: Vec<_> = stats.tools.iter().map(|tally| (tally.name.as_str(), tally.calls)).collect();
    assert_eq!(tools, [("weather__forecast", 2), ("weather__sky__now", 1)]);
    assert_eq!((stats.actions.len(), stats.entries), (0, 3));
    assert_eq!(engine.stats(None).unwrap().servers.len(), 2);
}

#[test]
fn a_text_that_is_forgotten_is_in_no_argument_that_was_kept() {
    let folder = memory(&[("a.md", "the city is Quixotown\n")]);
    let engine = engine(folder.path()).keeping_arguments(true);
    let toolbox = toolbox(Permission::Allow, PinState::Approved, Ok(answer(false)));
    for arguments in [json!({"city": "Oslo"}), json!({"where": {"cities": ["near Quixotown"]}})] {
        let mut ask = |_: &Tool, _: &Map<String, Value>| ToolConsent::No;
        let (caller, stop) = (Caller::model("chat"), CancellationToken::new());
        let call = a_call(arguments);
        engine.call_tool(&toolbox, &caller, &mut switched_on(), &call, &mut ask, &mut (), &stop).unwrap();
    }
    let target = ForgetTarget::Text("Quixotown".to_owned());
    engine.forget(&target, RelatedLines::Keep, None, &Caller::person("cli")).unwrap();
    assert!(engine.verify(None).unwrap().ok);
    drop(engine);
    let state = folder.path().join(".memdir/local");
    for file in std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(9).any(|bytes| bytes == b"Quixotown"), "{}", file.display());
    }
    let sql = "SELECT payload FROM entry WHERE action = 'weather__forecast' ORDER BY seq";
    let database = database(folder.path());
    let mut statement = database.prepare(sql).unwrap();
    let kept: Vec<Option<String>> =
        statement.query_map([], |row| row.get(0)).unwrap().map(|row| row.unwrap()).collect();
    let told = |kept: &Option<String>| kept.as_ref().map(|kept| kept.contains("Oslo"));
    // Two entries of each call.
    assert_eq!(kept.iter().map(told).collect::<Vec<_>>(), [Some(true), Some(true), None, None]);
}

/// As ARCHITECTURE.md says.
fn hash_of(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(u64::try_from(part.len()).unwrap().to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_vec()
}

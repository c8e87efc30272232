//! A session that somebody has tampered with is read, or refused; done again, it never panics, and changes nothing beside the
//! memory.
#![no_main]

use std::cell::RefCell;
use std::fs;
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use libfuzzer_sys::fuzz_target;
use memdir_agent::{Family, Session, Settings, replay};
use memdir_engine::{self as engine, Engine, InboxPlace, IndexPlace};
use memdir_plan::Limits;
use memdir_policy::{Mode, Rules};
use memdir_vault::{Durability, Options, Vault};
use tempfile::TempDir;

/// How many inputs one memory takes, so that it stays small.
const KEPT: usize = 200;

/// The lines of a session: `MESSAGE` and `TURN` stand for what is said.
const LINES: &str = r#"{"version":1,"kind":"begin","session":"7f3a","time":"2027-01-01T12:00:00Z","model":{"name":"a","family":"capable"}}
{"version":1,"kind":"switches","switches":{"actions":"all","only":[],"filters":["no streets"],"permission":"flag"}}
{"version":1,"kind":"message","message":1,"time":"2027-01-01T12:00:00Z","door":"chat","permission":"ask","text":"I moved to Paris","filters":["a"],"shown":["user.md"]}
{"version":1,"kind":"turn","message":1,"turn":1,"time":"2027-01-01T12:00:01Z","text":"<actions>[{\"action\":\"set_fact\",\"path\":\"user.md\",\"key\":\"city\",\"value\":\"Paris\"}]</actions>","is_cut":false,"input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}
{"version":1,"kind":"acted","message":1,"turn":1,"actions":[{"index":1,"action":"set_fact","path":"user.md"}],"changed":["user.md"],"batch":1,"receipt":"1 line"}
{"version":1,"kind":"decided","message":1,"turn":1,"proposal":1,"decision":"instead","instead":"Rome","batch":null,"receipt":null}
{"version":1,"kind":"stage","message":1,"time":"2027-01-01T12:00:01Z","stage":"response","input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}
{"version":1,"kind":"turn","message":1,"turn":2,"time":"2027-01-01T12:00:02Z","text":"<reply>Paris it is.</reply>","is_cut":false,"input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}
{"version":1,"kind":"reply","message":1,"reply":"Paris it is.","notice":null,"variables":{"a":"b"}}
{"version":1,"kind":"model","model":{"name":"b","family":"small"}}
{"version":1,"kind":"message","message":2,"time":"2027-01-01T12:00:03Z","door":"ask","permission":"off","text":MESSAGE}
{"version":1,"kind":"turn","message":2,"turn":1,"time":"2027-01-01T12:00:03Z","text":TURN,"is_cut":false,"input_tokens":9,"output_tokens":9,"reused_tokens":0,"ms":1}
{"version":1,"kind":"reply","message":2,"reply":null,"notice":null,"failed":true}
"#;

thread_local! {
    static SITE: RefCell<Option<(TempDir, Engine, usize)>> = const { RefCell::new(None) };
}

fuzz_target!(|input: (Vec<(u16, u8)>, String, String, Vec<u8>)| {
    let (edits, message, turn, more) = input;
    let said = |text: &str| serde_json::to_string(text).unwrap();
    let mut lines = LINES.replace("MESSAGE", &said(&message)).replace("TURN", &said(&turn)).into_bytes();
    for (at, byte) in edits {
        let length = lines.len();
        lines[usize::from(at) % length] = byte;
    }
    lines.extend(more);
    let Ok(session) = Session::of("7f3a", &lines) else { return };
    assert!(session.next_number() > 0 && session.id == "7f3a");
    SITE.with_borrow_mut(|site| {
        let (folder, engine, uses) = site.get_or_insert_with(site_of);
        let _ = replay(engine, &lines, &settings());
        assert_eq!(fs::read_to_string(folder.path().join("outside.md")).unwrap(), "# Outside\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        *uses += 1;
        *uses == KEPT
    })
    .then(|| SITE.take());
});

fn settings() -> Settings {
    Settings {
        family: Family::Capable,
        door: "ask",
        mode: Mode::Ask,
        removals: memdir_agent::Removals::Allow,
        turns: 4,
        tokens: None,
        context: 900,
        max_tokens: 500,
        temperature: 0.0,
        staged: false,
        clock: || SystemTime::now().into(),
    }
}

fn site_of() -> (TempDir, Engine, usize) {
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    fs::create_dir(&memory).unwrap();
    fs::write(memory.join("user.md"), "# Ada\n\n- city: London\n- see [[a]]\n").unwrap();
    fs::write(folder.path().join("outside.md"), "# Outside\n").unwrap();
    let root = memory.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    let vault = Vault::open(dir, root, Options { durability: Durability::Atomic, ..Options::default() }).unwrap();
    let settings = engine::Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Process,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(600),
        clock: || SystemTime::now().into(),
    };
    (folder, Engine::new(vault, settings), 0)
}

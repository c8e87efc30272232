//! The inbox: numbers, codes, expiry, changes meanwhile, several people, and folders that somebody else has filled.

use std::fs;
use std::time::Duration;

use memdir_core::time::Timestamp;
use memdir_vault::{AuditEntry, Author, Batch, Payload};
use serde_json::{Value, json};

use super::{FACT, WORD, asked, code, codes, folder, ids, personal, waiting};
use crate::support::{Env, Ran, engine, files};

/// Makes all that waits as old as can be, and batches on two days that say what time it is.
pub(super) fn age(env: &Env) {
    let now = Timestamp::from(std::time::SystemTime::now());
    for days in [1, 2] {
        commit_at(env, now.plus(Duration::from_secs(days * 24 * 60 * 60)));
    }
    expire(env);
}

/// Commits a batch that changes nothing at a time.
fn commit_at(env: &Env, time: Timestamp) {
    let author = Author { door: "exec".into(), client: None, session: None, message: None, origin: "model".into() };
    let entry = AuditEntry {
        number: 1,
        action: "append_file".into(),
        code: None,
        micros: 0,
        permission: "off".into(),
        payload: Payload::empty(),
    };
    let vault = engine::vault(env.memory());
    let batch = Batch { steps: &[], entries: &[entry], author: &author, time, undoes: &[], approval: None };
    vault.lock().unwrap().commit(&batch).unwrap();
}

fn expire(env: &Env) {
    for (name, bytes) in files(&folder(env)) {
        let mut file: Value = serde_json::from_slice(&bytes).unwrap();
        file["expires"] = json!(1);
        fs::write(folder(env).join(name), file.to_string()).unwrap();
    }
}

fn failure(ran: &Ran) -> (&'static str, String) {
    let error = ran.json()["error"].clone();
    let codes = ["denied", "conflict", "not_found", "usage", "damaged", "no_write_access", "busy", "content_not_found"];
    let code = codes.into_iter().find(|code| error["code"] == json!(code)).unwrap_or("?");
    (code, error["message"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn without_a_terminal_it_takes_the_code() {
    let env = waiting();
    for arguments in [&["approve", "1", "--json"][..], &["approve", "1"]] {
        let ran = env.run(arguments, "y\n");
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(format!("{ran:?}").contains("--code"), "{ran:?}");
    }
    assert!(!env.ask(&["pending"]).stdout.contains(&code(&env, 1)), "a program is not told the code");
    assert!(!env.ask(&["pending"]).stdout.contains(&code(&env, 1).replace('-', "")));
    let typed = format!(" {} ", code(&env, 1).to_lowercase().replace('-', " - "));
    assert_eq!(env.ask(&["approve", "1", "--code", &typed]).exits(0)["approved"], json!(true));
    let again = env.ask(&["approve", "1", "--code", &typed]);
    assert_eq!((again.code, failure(&again)), (4, ("not_found", "proposal 1 has already been decided".to_owned())));
    assert_eq!(failure(&env.ask(&["reject", "1"])).1, "proposal 1 has already been decided");
}

#[test]
fn five_wrong_codes_burn_the_right_one() {
    let env = waiting();
    let right = code(&env, 1);
    for guess in ["00000000", "", "1", "0000-0000-0000", "ÄÖÜÄÖÜÄÖ"] {
        assert_eq!(code(&env, 1), right);
        let ran = env.ask(&["approve", "1", "--code", guess]);
        assert_eq!((ran.code, failure(&ran).0), (3, "denied"), "{guess}");
    }
    assert_ne!(code(&env, 1), right);
    assert_eq!(failure(&env.ask(&["approve", "1", "--code", &right])).0, "denied");
    assert_eq!(env.ask(&["approve", "1", "--code", &code(&env, 1)]).code, 0);
}

#[test]
fn what_would_change_something_else_now_is_asked_again() {
    let env = waiting();
    let before = code(&env, 1);
    env.write("user.md", "# Ada\n\n- city: Paris\n");
    let ran = env.ask(&["approve", "1", "--code", &before]);
    assert_eq!((ran.code, failure(&ran).0), (4, "conflict"));
    assert!(ran.json()["diff"].as_str().unwrap().contains("Paris"), "{ran:?}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: Paris\n");
    let pending = env.ask(&["pending"]).exits(0);
    assert_eq!(pending["pending"][0]["renewed"], json!(true));
    assert!(pending["pending"][0]["diff"].as_str().unwrap().contains("Paris"));
    assert_ne!(code(&env, 1), before);
    assert_eq!(failure(&env.ask(&["approve", "1", "--code", &before])).0, "denied");
    // Far away from what it changes, nothing differs for who was asked.
    assert_eq!(env.ask(&["pending"]).exits(0)["pending"][0]["renewed"], json!(false));
    assert_eq!(env.ask(&["approve", "1", "--code", &code(&env, 1)]).code, 0);
    assert_eq!(env.read("user.md"), format!("# Ada\n\n- city: Paris\n{FACT}\n"));
}

#[test]
fn what_no_longer_fits_says_why_and_waits_on() {
    let env = Env::ada();
    asked(
        &env,
        &json!([{"action": "update_file", "path": "user.md", "old_content": "- city: London", "new_content": FACT}]),
    );
    let right = code(&env, 1);
    env.write("user.md", "# Ada\n");
    let ran = env.ask(&["approve", "1", "--code", &right]);
    assert_eq!((ran.code, failure(&ran).0), (4, "content_not_found"));
    let pending = env.ask(&["pending"]).exits(0);
    assert_eq!(pending["pending"][0]["error"]["code"], json!("content_not_found"));
    assert!(pending["pending"][0]["diff"].as_str().unwrap().contains("London"), "what it wanted: {pending}");
    env.write("user.md", "# Ada\n\n- city: London\n");
    assert_eq!(env.ask(&["approve", "1", "--code", &right]).code, 0, "it is again what was shown");
}

#[test]
fn what_is_there_already_needs_no_batch() {
    let env = waiting();
    let right = code(&env, 1);
    let note = json!({"action": "write_file", "path": "b.md", "content": FACT});
    asked(&env, &json!([note]));
    env.write("b.md", FACT);
    let said = env.ask(&["pending"]).exits(0);
    assert_eq!((&said["pending"][1]["changed"], &said["pending"][1]["diff"]), (&json!([]), &json!("")));
    for _ in 0..2 {
        let shown = env.run(&["pending"], "").stdout;
        assert_eq!(shown.matches("it changes nothing now\n").count(), 1, "{shown}");
    }
    let done = env.ask(&["approve", "2", "--code", &code(&env, 2)]).exits(0);
    assert_eq!(done, json!({"id": 2, "approved": true, "batch": null, "changed": []}));
    assert_eq!(env.ask(&["approve", "1", "--code", &right]).code, 0, "the other one is as it was");
    assert_eq!(codes(&asked(&env, &json!([note]))), ["ok"], "nobody is asked about nothing");
}

#[test]
fn of_many_who_decide_at_once_one_wins() {
    let env = waiting();
    let right = code(&env, 1);
    let ran: Vec<Ran> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|at| {
                let (env, right) = (&env, &right);
                scope.spawn(move || match at % 4 {
                    0 => env.ask(&["reject", "1"]),
                    _ => env.ask(&["approve", "1", "--code", right]),
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(ran.iter().filter(|ran| ran.code == 0).count(), 1, "{ran:?}");
    for ran in ran.iter().filter(|ran| ran.code != 0) {
        assert_eq!(failure(ran), ("not_found", "proposal 1 has already been decided".to_owned()));
    }
    let lines = env.read("user.md").lines().filter(|line| *line == FACT).count();
    assert_eq!(lines, usize::from(ran.iter().any(|ran| ran.code == 0 && ran.json()["approved"] == json!(true))));
}

#[test]
fn a_number_is_never_given_twice() {
    let env = waiting();
    env.ask(&["reject", "1"]).exits(0);
    assert_eq!(asked(&env, &json!([personal("user.md")]))["actions"][0]["error"]["proposal"], json!(2));
    env.ask(&["approve", "2", "--code", &code(&env, 2)]).exits(0);
    fs::remove_dir_all(folder(&env)).unwrap();
    let numbers: Vec<Value> = std::thread::scope(|scope| {
        let one = || asked(&env, &json!([personal("entities/acme.md")]))["actions"][0]["error"]["proposal"].clone();
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(one)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let mut numbers: Vec<u64> = numbers.iter().map(|number| number.as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 4, 5, 6, 7, 8]);
    assert_eq!(ids(&env), numbers);
}

#[test]
fn what_has_expired_is_removed_by_whoever_comes_by() {
    for command in [&["pending"][..], &["tree"], &["doctor"], &["reject", "1"], &["approve", "1", "--code", "AAAAAAAA"]]
    {
        let env = waiting();
        age(&env);
        env.ask(command);
        assert_eq!(files(&folder(&env)).len(), 0, "{command:?}");
        assert_eq!(failure(&env.ask(&["reject", "1"])).1, "proposal 1 has already been decided");
        let entries = env.run(&["audit", "export", "--jsonl"], "").stdout;
        let last: Value = serde_json::from_str(entries.lines().last().unwrap()).unwrap();
        assert_eq!((&last["action"], &last["payload"]["proposal"]), (&json!("expire"), &json!(1)), "{command:?}");
    }
    let env = Env::ada().settings("[permission]\ninbox_days = 0\n");
    asked(&env, &json!([personal("user.md")]));
    assert_eq!(ids(&env), [0; 0]);
}

#[test]
fn a_clock_that_jumps_once_drops_no_proposal() {
    let env = waiting();
    expire(&env);
    let commands = [&["pending"][..], &["tree"], &["doctor"], &["approve", "1", "--code", "AAAAAAAA"]];
    let stays = |when: &str| {
        for command in commands {
            env.ask(command);
            assert_eq!(files(&folder(&env)).len(), 1, "{when}: {command:?}");
        }
    };
    stays("without a batch");
    let now = Timestamp::from(std::time::SystemTime::now());
    commit_at(&env, now);
    stays("batches of one day");
    age(&env);
    env.ask(&["pending"]);
    assert_eq!(files(&folder(&env)).len(), 0, "two days agree");
}

#[test]
fn the_person_is_told_how_many_wait() {
    let env = waiting();
    let said = |env: &Env| env.run(&["doctor"], "").stdout;
    assert!(said(&env).contains("inbox: 1 proposal waits for you"), "{}", said(&env));
    asked(&env, &json!([personal("entities/acme.md")]));
    assert!(said(&env).contains("inbox: 2 proposals wait for you"));
    let shown = env.run(&["pending"], "");
    assert!(
        shown.stdout.contains(&format!("+{FACT}")) && shown.stdout.contains("personal: an email address"),
        "{shown:?}"
    );
    env.ask(&["reject", "1"]);
    env.ask(&["reject", "2"]);
    assert_eq!(env.run(&["pending"], "").stderr, "nothing waits\n");
}

#[test]
fn files_that_cannot_be_believed_are_told_and_hide_no_others() {
    let env = waiting();
    for _ in 0..8 {
        asked(&env, &json!([personal("entities/acme.md")]));
    }
    let at = |id: u64| folder(&env).join(format!("{id}.json"));
    let edit = |id: u64, change: &dyn Fn(&mut Value)| {
        let mut file: Value = serde_json::from_slice(&fs::read(at(id)).unwrap()).unwrap();
        change(&mut file);
        fs::write(at(id), file.to_string()).unwrap();
    };
    edit(2, &|file| file["version"] = json!(2));
    edit(3, &|file| file["id"] = json!(4));
    edit(4, &|file| file["calls"][0]["action"] = json!({"action": "read_file", "path": "user.md"}));
    edit(5, &|file| file["calls"][0]["action"]["path"] = json!("../../etc/passwd"));
    edit(6, &|file| file["more"] = json!(1));
    fs::write(at(7), "{").unwrap();
    fs::write(at(8), "[".repeat(1_000_000)).unwrap();
    // Of a number that was never given, and none of ours.
    fs::copy(at(1), folder(&env).join("99.json")).unwrap();
    fs::write(folder(&env).join("notes.txt"), "x").unwrap();
    fs::write(folder(&env).join(".9.tmp"), WORD).unwrap();
    let pending = env.ask(&["pending"]).exits(7);
    let numbers =
        |list: &Value| list.as_array().unwrap().iter().map(|item| item["id"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(numbers(&pending["pending"]), [1, 9]);
    assert_eq!(numbers(&pending["problems"]), [2, 3, 4, 5, 6, 7, 8, 99]);
    for problem in pending["problems"].as_array().unwrap() {
        assert_eq!(problem["error"]["code"], json!("damaged"), "{problem}");
    }
    assert_eq!(failure(&env.ask(&["approve", "5", "--code", "AAAAAAAA"])).0, "damaged");
    assert!(!folder(&env).join(".9.tmp").exists());
    assert!(folder(&env).join("99.json").exists(), "nobody has decided it");
    assert!(folder(&env).join("notes.txt").exists(), "it is not ours");
    for id in (2..=8).chain([99]) {
        assert_eq!(env.ask(&["reject", &id.to_string()]).code, 0, "{id}");
    }
    assert!(!folder(&env).join("99.json").exists());
    assert_eq!(ids(&env), [1, 9]);
    assert_eq!(env.ask(&["approve", "9", "--code", &code(&env, 9)]).code, 0);
}

/// A program that keeps folders alike on several machines can bring a file back that was removed.
#[test]
fn a_decided_proposal_whose_file_comes_back_is_none() {
    for decide in ["approve", "reject"] {
        let env = waiting();
        let (place, kept) = (folder(&env).join("1.json"), env.base().join("kept"));
        fs::copy(&place, &kept).unwrap();
        let code = code(&env, 1);
        match decide {
            "approve" => assert_eq!(env.ask(&["approve", "1", "--code", &code]).code, 0),
            _ => assert_eq!(env.ask(&["reject", "1"]).code, 0),
        }
        // Whoever writes tidies up.
        asked(&env, &json!([personal("entities/acme.md")]));
        fs::copy(&kept, &place).unwrap();
        assert_eq!(ids(&env), [2], "{decide}");
        assert!(!place.exists());
        let again = env.ask(&["approve", "1", "--code", &code]);
        assert_eq!(failure(&again), ("not_found", "proposal 1 has already been decided".to_owned()));
    }
}

#[test]
fn a_planted_folder_makes_no_reader_wait_for_who_writes() {
    let env = waiting();
    for name in ["99.json", ".7.tmp"] {
        fs::create_dir(folder(&env).join(name)).unwrap();
    }
    let lock = fs::OpenOptions::new().write(true).open(env.at(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let started = std::time::Instant::now();
    assert_eq!(ids(&env), [1]);
    assert!(started.elapsed() < std::time::Duration::from_secs(8), "it waits ten seconds for a lock");
    drop(lock);
    asked(&env, &json!([personal("entities/acme.md")]));
    assert_eq!(ids(&env), [1, 2]);
}

#[test]
fn all_that_waits_together_has_a_limit() {
    const MOST: usize = 64 << 20;
    let env = waiting().quick();
    assert_eq!(codes(&asked(&env, &json!([personal("entities/acme.md")]))), ["awaiting_approval"]);
    let at = |id: u64| folder(&env).join(format!("{id}.json"));
    // Blanks are no part of what it says.
    let mut large = fs::read(at(1)).unwrap();
    large.resize(MOST - fs::read(at(2)).unwrap().len() - 100, b' ');
    fs::write(at(1), large).unwrap();
    assert_eq!(ids(&env), [1, 2]);
    let report = asked(&env, &json!([personal("user.md"), {"action": "create_file", "path": "b.md", "content": "b"}]));
    assert_eq!(codes(&report), ["quota_exceeded", "ok"]);
    // What somebody has planted beyond it is told and not read.
    let history = folder(&env).parent().unwrap().join("history.sqlite");
    let db = rusqlite::Connection::open(history).unwrap();
    for id in 3..=40 {
        db.execute("INSERT INTO meta VALUES ('proposal:' || ?1, -1)", [id]).unwrap();
        fs::File::create(at(id)).unwrap().set_len(60 << 20).unwrap();
    }
    let pending = env.ask(&["pending"]).exits(7);
    assert_eq!(pending["pending"].as_array().unwrap().len(), 2);
    assert_eq!(pending["problems"].as_array().unwrap().len(), 38);
}

/// A memory that somebody sent can bring files with it: a person sees what would happen, and not what such a file says.
#[test]
fn a_planted_file_shows_what_it_would_do() {
    let env = waiting();
    let place = folder(&env).join("1.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    file["diff"] = json!("--- a/user.md\n+++ b/user.md\n@@ -1 +1,2 @@\n # Ada\n+- likes tea\n");
    file["changed"] = json!(["harmless.md"]);
    file["tries"] = json!(u32::MAX);
    fs::write(&place, file.to_string()).unwrap();
    let pending = env.ask(&["pending"]).exits(0);
    let proposal = &pending["pending"][0];
    assert!(proposal["diff"].as_str().unwrap().contains(WORD), "{proposal}");
    assert_eq!(proposal["changed"], json!(["user.md"]));
    assert!(env.run(&["pending"], "").stdout.contains(WORD));
    assert_eq!(failure(&env.ask(&["approve", "1", "--code", "00000000"])).0, "denied");
}

#[cfg(unix)]
#[test]
fn a_hostile_inbox_is_refused_and_never_followed() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::{PermissionsExt, symlink};

    // One name in it is something else than a file of ours.
    let one = |plant: &dyn Fn(&Env, &std::path::Path)| {
        let env = waiting();
        let outside = env.base().join("outside.json");
        fs::copy(folder(&env).join("1.json"), &outside).unwrap();
        asked(&env, &json!([personal("entities/acme.md")]));
        let place = folder(&env).join("1.json");
        fs::remove_file(&place).unwrap();
        plant(&env, &place);
        let pending = env.ask(&["pending"]).exits(7);
        assert_eq!((pending["pending"].as_array().unwrap().len(), &pending["problems"][0]["id"]), (1, &json!(1)));
        assert_eq!(env.ask(&["approve", "2", "--code", &code(&env, 2)]).code, 0);
        assert!(outside.exists());
        env
    };
    one(&|env, place| symlink(env.base().join("outside.json"), place).unwrap());
    one(&|env, place| fs::hard_link(env.base().join("outside.json"), place).unwrap());
    one(&|_, place| mknodat(CWD, place, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap());
    one(&|_, place| fs::create_dir(place).unwrap());
    one(&|_, place| fs::File::create(place).unwrap().set_len(65 << 20).unwrap());

    // The folder is.
    let all = |plant: &dyn Fn(&Env, &std::path::Path)| {
        let env = waiting();
        let inbox = folder(&env);
        fs::rename(&inbox, env.base().join("moved")).unwrap();
        plant(&env, &inbox);
        for command in [&["pending"][..], &["approve", "1", "--code", "AAAAAAAA"], &["reject", "1"]] {
            assert_eq!(failure(&env.ask(command)).0, "no_write_access", "{command:?}");
        }
        let report =
            asked(&env, &json!([personal("user.md"), {"action": "create_file", "path": "b.md", "content": "b"}]));
        assert_eq!(codes(&report), ["no_write_access", "ok"]);
        assert_eq!(env.exec(&json!([{"action": "delete_file", "path": "b.md"}]))["actions"][0]["ok"], json!(true));
        assert_eq!(fs::read_dir(env.base().join("moved")).unwrap().count(), 1);
    };
    all(&|env, inbox| symlink(env.base().join("moved"), inbox).unwrap());
    all(&|_, inbox| fs::write(inbox, "x").unwrap());
    all(&|_, inbox| mknodat(CWD, inbox, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap());
    if rustix::process::geteuid().is_root() {
        all(&|_, inbox| {
            fs::create_dir(inbox).unwrap();
            std::os::unix::fs::chown(inbox, Some(12_345), None).unwrap();
        });
    }
    let env = waiting();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder(&env)), mode(&folder(&env).join("1.json"))), (0o700, 0o600));
}

#[test]
fn an_inbox_holds_so_many_and_no_more() {
    let env = waiting().quick();
    let file = fs::read_to_string(folder(&env).join("1.json")).unwrap();
    for id in 2..=1_000 {
        let file = file.replace("\"id\":1,", &format!("\"id\":{id},"));
        fs::write(folder(&env).join(format!("{id}.json")), file).unwrap();
    }
    let report = asked(&env, &json!([personal("user.md"), {"action": "create_file", "path": "b.md", "content": "b"}]));
    assert_eq!(codes(&report), ["quota_exceeded", "ok"]);
    assert_eq!(ids(&env).len(), 1_000);
    assert_eq!(env.ask(&["reject", "1000"]).code, 0);
    assert_eq!(asked(&env, &json!([personal("user.md")]))["actions"][0]["error"]["proposal"], json!(1_001));
}

#[test]
fn the_inbox_goes_with_the_state() {
    let env = Env::ada();
    let state = env.base().join("state");
    let state = state.to_str().unwrap();
    let text = crate::support::said(&json!([personal("user.md")]));
    assert_eq!(env.run(&["--state", state, "exec", "--permission", "ask"], &text).code, 3);
    assert_eq!(ids(&env), [0; 0]);
    let pending = env.ask(&["--state", state, "pending"]).exits(0);
    assert_eq!(pending["pending"][0]["id"], json!(1));
    assert!(!files(env.memory()).keys().any(|path| path.contains("inbox")));
    assert!(files(&env.base().join("state")).keys().any(|path| path.ends_with("/inbox/1.json")));
}

#[cfg(unix)]
#[test]
fn a_rule_that_asks_about_a_place_holds_for_whatever_leads_there() {
    let env = Env::ada().settings(
        "[permission]\nexec = \"ask\"\n[[rule]]\naction = \"append_file\"\npath = \"entities/**\"\nverdict = \"ask\"\n",
    );
    std::os::unix::fs::symlink("entities/acme.md", env.at("alias.md")).unwrap();
    let append = |path: &str| json!({"action": "append_file", "path": path, "content": "x"});
    let report = env
        .say(&crate::support::said(&json!([append("alias.md"), append("entities/acme.md"), append("user.md")])), &[]);
    assert_eq!(codes(&report.exits(3)), ["awaiting_approval", "awaiting_approval", "ok"]);
    let pending = env.ask(&["pending"]).exits(0);
    assert_eq!(
        (pending["pending"].as_array().unwrap().len(), &pending["pending"][0]["reason"]),
        (1, &json!("rule 1 asks about `append_file`"))
    );
    assert_eq!(pending["pending"][0]["actions"].as_array().unwrap().len(), 2);
    let approved = env.ask(&["approve", "1", "--code", &code(&env, 1)]).exits(0);
    assert_eq!(approved["changed"], json!(["entities/acme.md"]));
    assert!(env.read("entities/acme.md").ends_with("x\nx\n"));
}

#[test]
fn the_person_at_exec_is_told_that_something_waits() {
    let env = Env::ada();
    let text = crate::support::said(&json!([personal("user.md"), personal("entities/acme.md")]));
    let ran = env.run(&["exec", "--permission", "ask"], &text);
    assert_eq!(ran.stderr, "proposal 1 waits for you: memdir pending\nproposal 2 waits for you: memdir pending\n");
    assert!(!ran.stdout.contains("memdir pending"), "the model is not told how to approve: {}", ran.stdout);
}

#[test]
fn a_memory_that_cannot_be_written_is_still_told_what_waits() {
    let env = waiting();
    let held = fs::File::open(env.at(".memdir/lock")).unwrap();
    held.lock().unwrap();
    let env = env.set("MEMDIR_LIMITS_LOCK_SECONDS", "0");
    assert_eq!(ids(&env), [1]);
    env.write("user.md", "# Ada\n\n- city: Paris\n");
    let pending = env.ask(&["pending"]).exits(0);
    assert!(pending["pending"][0]["diff"].as_str().unwrap().contains("Paris"), "{pending}");
    assert_eq!(pending["pending"][0]["error"]["code"], json!("busy"), "its new code could not be kept");
    assert_eq!(failure(&env.ask(&["reject", "1"])).0, "busy");
    drop(held);
    // A program that another test is about to start may have the lock for a moment.
    let mut command = env.command(&["reject", "1"]);
    command.env("MEMDIR_LIMITS_LOCK_SECONDS", "10");
    assert_eq!(crate::support::finish(command, b"").code, 0);
}

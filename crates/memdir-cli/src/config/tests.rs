use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::model::Family;
use super::{Sources, check_table};
use memdir_core::report::Failure;
use memdir_engine::InboxPlace;
use memdir_hub::TokenPlace;
use memdir_policy::Mode;
use memdir_providers::choose::Wanted;
use memdir_vault::Durability;

fn sources(file: &str, environment: &[(&str, &str)]) -> Result<Sources, Failure> {
    let file = file.parse().unwrap();
    check_table("", &file)?;
    let environment: BTreeMap<_, _> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Ok(Sources { file, environment, ..Sources::default() })
}

#[track_caller]
fn refused(result: Result<Sources, Failure>, message: &str, hint: &str) {
    let failure = result.and_then(|sources| sources.for_memory(Path::new("/nowhere"))).unwrap_err();
    assert_eq!((failure.message.as_str(), failure.hint.as_deref()), (message, Some(hint)));
}

#[test]
fn the_memory_s_own_table_and_the_environment_come_on_top() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = format!(
        "durability = 'atomic'\n[limits]\nbatch_actions = 7\nnote_bytes = 10\n
         [memory.'{0}']\ndurability = 'full'\n[memory.'{0}'.limits]\nnote_bytes = 20\n
         [[memory.'{0}'.rule]]\npath = 'private/**'\nverdict = 'deny'",
        root.display()
    );
    let sources = sources(&file, &[("MEMDIR_PERMISSION_EXEC", "flag"), ("MEMDIR_HISTORY_KEEP_DAYS", "3")]).unwrap();
    let config = sources.for_memory(&root).unwrap();
    assert_eq!((config.durability, config.permission.exec), (Durability::Full, Mode::Flag));
    let engine = config.engine(|| memdir_core::time::Timestamp::from_micros(0)).unwrap();
    assert_eq!((engine.batch_actions, engine.limits.note_bytes), (7, 20));
    assert_eq!(config.vault().keep_for, Duration::from_secs(3 * 86_400));
    let other = sources.for_memory(Path::new("/nowhere")).unwrap();
    assert_eq!(other.durability, Durability::Atomic);
}

#[test]
fn the_inbox_can_be_set() {
    let engine = |file: &str, environment: &[(&str, &str)]| {
        let config = sources(file, environment).unwrap().for_memory(Path::new("/nowhere")).unwrap();
        config.engine(|| memdir_core::time::Timestamp::from_micros(0)).unwrap()
    };
    let days = |days: u64| Duration::from_secs(days * 86_400);
    let by_default = engine("", &[]);
    assert_eq!((by_default.inbox, by_default.keep_proposals), (InboxPlace::Disk, days(7)));
    let set = engine("[permission]\nmcp = 'flag'\nchat = 'ask'\nask = 'off'\ninbox = 'process'\ninbox_days = 30", &[]);
    assert_eq!((set.inbox, set.keep_proposals), (InboxPlace::Process, days(30)));
    assert_eq!(engine("", &[("MEMDIR_PERMISSION_INBOX_DAYS", "0")]).keep_proposals, days(0));
    assert!(sources("[permission]\ninbox = 'cloud'", &[]).unwrap().for_memory(Path::new("/nowhere")).is_err());
}

#[test]
fn the_model_can_be_set() {
    let config = |file: &str, environment: &[(&str, &str)]| {
        sources(file, environment).unwrap().for_memory(Path::new("/nowhere")).map(|config| config.model)
    };
    let by_default = config("", &[]).unwrap();
    assert_eq!((by_default.turns.get(), by_default.tokens_a_day, by_default.temperature), (8, 0, 0.0));
    assert_eq!(by_default.wanted(None), Wanted::default());
    let file =
        "[model]\nname = 'vllm::a'\naddress = 'http://127.0.0.1:9'\nfamily = 'mem-agent'\ntemperature = 1\nthreads = 2";
    let set = config(file, &[("MEMDIR_MODEL_TEMPERATURE", "0.5"), ("MEMDIR_MODEL_TOKENS_A_DAY", "9")]).unwrap();
    assert_eq!((set.family, set.temperature, set.tokens_a_day), (Family::MemAgent, 0.5, 9));
    let wanted = |named| {
        let Wanted { name, address } = set.wanted(named);
        (name.unwrap(), address.is_some())
    };
    assert_eq!(wanted(None), ("vllm::a".to_owned(), true));
    assert_eq!(wanted(Some("vllm::b")), ("vllm::b".to_owned(), true));
    assert_eq!(wanted(Some("ollama::a")), ("ollama::a".to_owned(), false));
    assert_eq!(wanted(Some("a")), ("a".to_owned(), false));
    assert_eq!(config("", &[("MEMDIR_MODEL_NAME", "7")]).unwrap().name.as_deref(), Some("7"));
    for wrong in ["temperature = 3", "temperature = -0.1", "family = 'large'", "turns = 0", "threads = 0"] {
        assert!(config(&format!("[model]\n{wrong}"), &[]).is_err(), "{wrong}");
    }
    refused(
        sources("[model]\ntemprature = 1", &[]),
        "unknown key `temprature` in [model] in the settings",
        "did you mean `temperature`?",
    );
}

#[test]
fn what_is_unknown_is_named_with_the_nearest() {
    refused(
        sources("durabilty = 'full'", &[]),
        "unknown key `durabilty` in the settings",
        "did you mean `durability`?",
    );
    refused(
        sources("[limits]\nnote_byte = 3", &[]),
        "unknown key `note_byte` in [limits] in the settings",
        "did you mean `note_bytes`?",
    );
    refused(
        sources("[memory.'/x'.permission]\nexce = 'off'", &[]),
        "unknown key `exce` in [permission] in the settings",
        "did you mean `exec`?",
    );
    refused(
        sources("", &[("MEMDIR_LIMITS_NOTE_BYTE", "3")]),
        "unknown setting `MEMDIR_LIMITS_NOTE_BYTE` in the environment",
        "did you mean `MEMDIR_LIMITS_NOTE_BYTES`?",
    );
    for (name, hint) in [
        ("MEMDIR_MEMORY", "did you mean `MEMDIR`?"),
        ("MEMDIR_XYZ", "`memdir config` lists the settings"),
        ("MEMDIR_DURABILTY", "did you mean `MEMDIR_DURABILITY`?"),
    ] {
        refused(sources("", &[(name, "x")]), &format!("unknown setting `{name}` in the environment"), hint);
    }
    let wrong = sources("[limits]\nnote_bytes = 'many'", &[]).unwrap().for_memory(Path::new("/x")).unwrap_err();
    assert!(wrong.message.contains("expected a whole number from 0 on"), "{}", wrong.message);
    assert!(wrong.hint.unwrap().contains("settings file"));
    let environment = [("MEMDIR_LIMITS_FILE_BYTES", "3"), ("MEMDIR_LIMITS_NOTE_BYTES", "many")];
    let wrong = sources("", &environment).unwrap().for_memory(Path::new("/x")).unwrap_err();
    assert_eq!(wrong.hint.as_deref(), Some("`MEMDIR_LIMITS_NOTE_BYTES` in the environment says so"));
}

#[test]
fn logins_are_kept_in_one_place_for_all_memories() {
    let kept =
        |file: &str, environment: &[(&str, &str)]| sources(file, environment).and_then(|sources| sources.tokens());
    assert_eq!(kept("", &[]), Ok(TokenPlace::File));
    assert_eq!(kept("[tools]\ntokens = 'keyring'", &[]), Ok(TokenPlace::Keyring));
    assert_eq!(kept("", &[("MEMDIR_TOOLS_TOKENS", "keyring")]), Ok(TokenPlace::Keyring));
    assert!(kept("[tools]\ntokens = 'cloud'", &[]).unwrap_err().message.contains("unknown variant `cloud`"));
    let own = "[memory.'/x'.tools]\ntokens = 'keyring'";
    refused(
        sources(own, &[]),
        "`tools.tokens` cannot be set for one memory",
        "set it in [tools]: it holds for all memories",
    );
}

#[test]
fn embeddings_are_off_unless_they_are_named() {
    let wanted = |file: &str, environment: &[(&str, &str)]| {
        let sources = sources(file, environment).unwrap();
        sources.for_memory(Path::new("/nowhere")).unwrap().search.wanted()
    };
    let named = |name: &str, address: Option<&str>| {
        Some(Wanted { name: Some(name.to_owned()), address: address.map(str::to_owned) })
    };
    assert_eq!([wanted("", &[]), wanted("[search]\nembeddings = ' '", &[])], [None, None]);
    let file = "[search]\nembeddings = 'ollama::nomic-embed-text'\naddress = 'http://127.0.0.1:1'";
    assert_eq!(wanted(file, &[]), named("ollama::nomic-embed-text", Some("http://127.0.0.1:1")));
    assert_eq!(wanted("", &[("MEMDIR_SEARCH_EMBEDDINGS", "7")]), named("7", None));
    assert_eq!(wanted(file, &[("MEMDIR_SEARCH_EMBEDDINGS", "")]), None);
    refused(
        sources("[search]\nembedding = 'x'", &[]),
        "unknown key `embedding` in [search] in the settings",
        "did you mean `embeddings`?",
    );
}

#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes the file as a person does")]
fn the_settings_file_is_a_file_of_some_size() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| super::read_file(path).unwrap_err().message;
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    assert_eq!(message(&pipe), "the settings file cannot be read: invalid input parameter");
    let large = folder.path().join("large");
    std::fs::write(&large, "#".repeat(1 << 20)).unwrap();
    assert!(super::read_file(&large).unwrap().is_empty());
    std::fs::write(&large, "#".repeat((1 << 20) + 1)).unwrap();
    assert_eq!(message(&large), "the settings file cannot be read: file too large");
    assert!(super::read_file(&folder.path().join("none")).unwrap().is_empty());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes the file as a person does")]
fn no_rule_is_lifted_while_the_settings_cannot_be_read_or_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let rule = "[[rule]]\npath = 'private/**'\nverdict = 'deny'\n";
    let mistake = format!("{rule}[limits]\nnote_byts = 5\n");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Sources { path: Some(path.clone()), ..Sources::default() }.read_again()
    };
    // A rule that comes with a mistake elsewhere is not left out.
    let rules = read("").unwrap().live_rules(Path::new("/nowhere"));
    assert!(rules().is_none());
    std::fs::write(&path, &mistake).unwrap();
    let closed =
        |rules: &memdir_engine::ReadRules| format!("{:?}", rules().unwrap()).contains("unknown key `note_byts`");
    assert!(closed(&rules) && closed(&rules));
    std::fs::write(&path, rule).unwrap();
    assert!(format!("{:?}", rules().unwrap()).contains("Deny"));
    // An editor that saves by renaming, and then a mistake.
    let aside = folder.path().join("config.toml~");
    std::fs::rename(&path, &aside).unwrap();
    assert!(rules().is_none(), "the rules stay as they were");
    std::fs::write(&path, &mistake).unwrap();
    assert!(closed(&rules));
    std::fs::remove_file(&path).unwrap();
    assert!(rules().is_none());
    std::fs::write(&path, "").unwrap();
    assert!(rules().unwrap().is_empty());
}

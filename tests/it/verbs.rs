//! What a person types: notes named as people name them, and the verbs that write.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Env, finish};

fn people() -> Env {
    Env::with(&[
        ("user.md", "# Me\n\n- name: Ada\n- city: London\n\n## Preferences\n\n- answers: short\n"),
        ("entities/jane_doe.md", "---\naliases: [Janie]\n---\n# Jane Doe\n\n- likes: tulips\n"),
        ("entities/acme.md", "# Acme Corp\n\n- boss: [[jane_doe]]\n"),
        ("work/plan.md", "# Plan\n"),
        ("home/plan.md", "# Plan\n"),
    ])
}

#[test]
fn a_note_is_named_as_people_name_it() {
    let env = people();
    for (said, path) in [
        ("user", "user.md"),
        ("user.md", "user.md"),
        ("JANE_DOE", "entities/jane_doe.md"),
        ("Jane Doe", "entities/jane_doe.md"),
        ("janie", "entities/jane_doe.md"),
        ("[[jane_doe|her]]", "entities/jane_doe.md"),
        ("acme corp", "entities/acme.md"),
        ("entities/acme", "entities/acme.md"),
        ("work/plan", "work/plan.md"),
        ("WORK/PLAN.MD", "work/plan.md"),
    ] {
        assert_eq!(env.ask(&["read", said]).exits(0)["path"], path, "{said}");
        assert_eq!(env.ask(&["facts", said]).code, 0, "{said}");
    }
    let several = env.ask(&["read", "plan"]).exits(4);
    assert_eq!(several["error"]["code"], "ambiguous_link");
    let message = several["error"]["message"].as_str().unwrap();
    assert!(message.contains("`home/plan.md`") && message.contains("`work/plan.md`"), "{message}");
    let nearest = env.ask(&["links", "jane_deo"]).exits(4);
    assert_eq!(
        (&nearest["error"]["code"], &nearest["error"]["hint"]),
        (&json!("not_found"), &json!("the nearest is `jane_doe`"))
    );
    assert_eq!(env.ask(&["read", "people/gone.md"]).exits(4)["error"]["code"], "not_found");
    assert_eq!(env.ask(&["read", "../x"]).exits(4)["error"]["code"], "invalid_path");
}

/// A name that is typed like a path never means another note: `forget` erases what it is given.
#[test]
fn a_path_means_no_note_elsewhere() {
    let env = people();
    assert_eq!(env.ask(&["forget", "acme.md", "--yes"]).exits(4)["error"]["code"], "not_found");
    assert!(env.at("entities/acme.md").exists());
}

#[test]
fn remember_files_a_sentence_where_it_belongs() {
    let env = people();
    let run = |words: &[&str]| env.run(&[&["remember"], words].concat(), "");
    let said = run(&["Jane", "Doe", "moved", "to", "Porto"]);
    assert_eq!(said.stdout, "+1 line in entities/jane_doe.md · undo: memdir undo\n", "{said:?}");
    assert!(env.read("entities/jane_doe.md").ends_with("- likes: tulips\n- Jane Doe moved to Porto\n"));
    run(&["I like green tea, says Janie"]);
    assert!(env.read("entities/jane_doe.md").ends_with("- I like green tea, says Janie\n"));
    run(&["the boss of [[acme]] is new"]);
    assert!(env.read("entities/acme.md").ends_with("- the boss of [[acme]] is new\n"));
    run(&["my plan is to sleep"]);
    // No name, only a word like one. It stands below the title, not under Preferences.
    let user = env.read("user.md");
    assert!(user.contains("- city: London\n- my plan is to sleep\n\n"), "{user}");
    assert_eq!(env.ask(&["remember", "the Plan is good"]).exits(4)["error"]["code"], "ambiguous_link");
    assert_eq!(env.ask(&["remember", " "]).exits(2)["error"]["code"], "usage");
    let odd = Env::with(&[("user.md", "---\npeople:\n- name: Bob\n---\n# Me\n\nNothing yet.\n")]);
    odd.run(&["remember", "I like\ngreen tea"], "");
    assert_eq!(odd.read("user.md"), "---\npeople:\n- name: Bob\n---\n# Me\n\nNothing yet.\n- I like green tea\n");
    let fresh = Env::new();
    std::fs::create_dir_all(fresh.memory()).unwrap();
    fresh.run(&["remember", "I live in Porto"], "");
    assert_eq!(fresh.read("user.md"), "# Me\n\n- I live in Porto\n");
}

#[test]
fn facts_lines_and_notes_are_written_moved_and_taken_back() {
    let env = people();
    let run = |arguments: &[&str]| {
        let ran = env.run(arguments, "");
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    };
    run(&["set", "user", "city", "Porto"]);
    run(&["set", "janie", "job", "vet in Porto"]);
    run(&["add", "acme corp", "founded 1999"]);
    run(&["add", "user", "- pet: Rex"]);
    run(&["add", "user", "## Pets"]);
    let option = env.run(&["add", "user", "hello", "--memory", "/other"], "");
    assert!(option.code == 2 && option.stderr.contains("put `--memory` before the note"), "{option:?}");
    run(&["new", "people/Tom Field", "My neighbour."]);
    assert!(env.read("user.md").contains("- city: Porto\n") && env.read("user.md").ends_with("## Pets\n"));
    assert!(env.read("entities/jane_doe.md").contains("- job: vet in Porto\n"));
    assert!(env.read("entities/acme.md").ends_with("- founded 1999\n"));
    assert_eq!(env.read("people/Tom Field.md"), "# Tom Field\n\nMy neighbour.\n");
    run(&["mv", "jane_doe", "people/jane"]);
    assert!(env.read("entities/acme.md").contains("- boss: [[jane]]\n"), "{}", env.read("entities/acme.md"));
    run(&["mv", "acme", "people/"]);
    assert!(env.at("people/acme.md").exists());
    run(&["mv", "people", "friends"]);
    assert!(env.at("friends/jane.md").exists() && !env.at("people").exists());
    let refused = env.ask(&["rm", "friends"]).exits(4);
    assert_eq!(refused["error"]["code"], "not_empty");
    assert!(env.run(&["rm", "friends"], "").stderr.contains("memdir rm -r"));
    assert_eq!(env.run(&["--json", "add", "user", ""], "").exits(2)["error"]["code"], "usage");
    run(&["rm", "-r", "friends"]);
    assert!(!env.at("friends").exists());
    run(&["undo"]);
    assert!(env.at("friends/Tom Field.md").exists());
    let exists = env.run(&["new", "user"], "");
    assert_eq!(exists.code, 4);
    assert!(exists.stderr.starts_with("memdir: ") && !exists.stderr.contains("create_file"), "{}", exists.stderr);
}

#[cfg(unix)]
#[test]
fn an_edit_goes_through_the_journal_and_meets_no_other() {
    let env = people().set("EDITOR", "sed -i s/London/Lisbon/").set("PATH", "/usr/bin:/bin");
    let edited = env.run(&["edit", "user"], "");
    assert_eq!((edited.code, edited.stdout.as_str()), (0, "1 line in user.md · undo: memdir undo\n"), "{edited:?}");
    assert!(env.read("user.md").contains("- city: Lisbon\n"));
    assert_eq!(env.run(&["edit", "user"], "").stderr, "nothing was changed\n");
    env.ask(&["undo", "--yes"]).exits(0);
    assert!(env.read("user.md").contains("- city: London\n"));
    let note = env.at("user.md").to_str().unwrap().to_owned();
    let env = env.set("EDITOR", &format!("echo '- later: yes' >> {note}; sed -i s/London/Lisbon/"));
    let met = env.run(&["edit", "user"], "");
    assert_eq!(met.code, 4, "{met:?}");
    assert!(env.read("user.md").contains("- city: London\n") && met.stderr.contains("your text is in"), "{met:?}");
    let failed = env.set("EDITOR", "false");
    let ran = failed.run(&["edit", "user"], "");
    assert!(ran.code == 4 && ran.stderr.contains("nothing was changed"), "{ran:?}");
    // What was written before the editor failed, and what is no text, is kept; a draft that is gone empties no note.
    let before = failed.read("user.md");
    for (editor, kept) in
        [("sh -c 'echo more >> $0; exit 1'", true), ("sh -c 'printf \"\\377\" > $0'", true), ("rm", false)]
    {
        let env = Env::with(&[("user.md", &before)]).set("EDITOR", editor).set("PATH", "/usr/bin:/bin");
        let ran = env.run(&["edit", "user"], "");
        assert!(ran.code == 4 && ran.stderr.contains("your text is in") == kept, "{editor}: {ran:?}");
        assert_eq!(env.read("user.md"), before, "{editor}");
    }
}

/// What a cut edit has left is text of the person's: it is told of, and forgotten with the rest.
#[cfg(unix)]
#[test]
fn a_draft_that_was_left_is_told_and_can_be_forgotten() {
    let env = people().set("PATH", "/usr/bin:/bin").set("EDITOR", "sh -c 'echo - plan: Zanzibar >> $0; exit 1'");
    let cut = |env: &Env| {
        let ran = env.run(&["edit", "user"], "");
        let (_, file) = ran.stderr.split_once("your text is in ").unwrap();
        std::path::PathBuf::from(file.lines().next().unwrap())
    };
    let draft = cut(&env);
    assert!(fs::read_to_string(&draft).unwrap().contains("Zanzibar"));
    let env = env.set("EDITOR", "true");
    let folder = draft.parent().unwrap().to_str().unwrap().to_owned();
    let again = env.run(&["edit", "user"], "");
    assert!(again.stderr.contains(&folder) && again.stderr.contains("Copy what you need"), "{again:?}");
    env.write("other.md", "# Other\n");
    assert!(!env.run(&["edit", "other"], "").stderr.contains(&folder), "of another note");
    let place = json!({"where": "draft", "path": folder, "count": 1});
    let listed = env.ask(&["forget", "--text", "Zanzibar", "--dry-run"]).exits(0);
    assert_eq!(listed["places"], json!([place]), "{listed}");
    let erased = env.ask(&["forget", "--text", "Zanzibar", "--yes"]).exits(0);
    assert_eq!((&erased["places"], &erased["erased"]), (&json!([place]), &json!(true)), "{erased}");
    assert!(!draft.exists());
    assert_eq!(env.ask(&["forget", "--text", "Zanzibar", "--yes"]).exits(4)["error"]["code"], json!("not_found"));
    // With the note goes every draft of it.
    let env = env.set("EDITOR", "sh -c 'echo - plan: Zanzibar >> $0; exit 1'");
    let draft = cut(&env);
    env.ask(&["forget", "user.md", "--yes"]).exits(0);
    assert!(!draft.exists());
}

/// The audit's hashes cover the names of clients: what cannot be erased is said, and never denied.
#[test]
fn a_note_that_is_gone_is_forgotten_by_the_name_that_people_say() {
    let env = Env::with(&[("user.md", "# Me\n")]);
    env.run(&["new", "people/carl.md", "Quellwerk"], "");
    env.run(&["rm", "people/carl"], "");
    let logged = env.ask(&["log", "people/carl"]).exits(0);
    assert_eq!(logged["entries"].as_array().unwrap().len(), 2, "{logged}");
    env.ask(&["restore", "people/carl", "--at", "1"]).exits(0);
    env.run(&["rm", "people/carl"], "");
    env.ask(&["forget", "people/carl", "--yes"]).exits(0);
    env.run(&["undo"], "");
    assert!(!env.memory().join("people/carl.md").exists());
    env.run(&["new", "people/dora.md", "Quellwerk"], "");
    env.run(&["mv", "people/dora", "bob"], "");
    let failure = env.ask(&["forget", "people/dora", "--yes"]).exits(4);
    assert_eq!(failure["error"]["message"], "`people/dora.md` is called `people/bob.md` now");
}

#[test]
fn a_line_that_begins_with_a_tag_is_an_item_of_its_own() {
    let env = Env::with(&[("user.md", "# Me\n\n- city: Cologne\n- job: nurse\n")]);
    env.run(&["remember", "#idea build a shed"], "");
    env.run(&["add", "user", "#idea", "plant a tree"], "");
    env.run(&["set", "user", "job", "doctor"], "");
    let text = env.read("user.md");
    assert_eq!(text, "# Me\n\n- city: Cologne\n- job: doctor\n- #idea build a shed\n- #idea plant a tree\n");
}

#[test]
fn a_line_that_begins_with_a_number_goes_on_with_numbers() {
    let env = Env::with(&[("n.md", "1. a\n2. b"), ("user.md", "# Me\n")]);
    let said = env.run(&["add", "n", "3. c"], "").stdout;
    assert_eq!(
        (env.read("n.md").as_str(), said.as_str()),
        ("1. a\n2. b\n3. c\n", "+1 line in n.md · undo: memdir undo\n")
    );
    env.ask(&["add", "user", "3. Mai: Zahnarzt"]).exits(0);
    assert_eq!(env.read("user.md"), "# Me\n- 3. Mai: Zahnarzt\n");
}

#[test]
fn a_search_in_a_note_takes_it_by_its_name() {
    let env = people();
    for (name, path) in
        [("Jane Doe", "entities/jane_doe.md"), ("entities", "entities/jane_doe.md"), ("USER.md", "user.md")]
    {
        let word = if path == "user.md" { "London" } else { "tulips" };
        assert_eq!(env.ask(&["search", "--path", name, word]).exits(0)["hits"][0]["path"], path, "{name}");
    }
    assert_eq!(env.ask(&["search", "--path", "plan", "x"]).exits(4)["error"]["code"], "ambiguous_link");
    assert_eq!(env.ask(&["search", "--path", "nosuch", "x"]).exits(4)["error"]["code"], "not_found");
}

#[test]
fn an_undo_blames_no_change_that_is_undone() {
    let env = Env::with(&[("user.md", "# Me\n")]);
    env.run(&["new", "k", "x"], "");
    env.run(&["add", "k", "a"], "");
    env.run(&["add", "k", "b"], "");
    env.ask(&["undo", "2"]).exits(0);
    let failure = env.ask(&["undo", "1"]).exits(4);
    assert_eq!(failure["error"]["batch"], 3, "{failure}");
    // An undo of an undo brings a change back.
    env.run(&["new", "l", "x"], "");
    env.run(&["add", "l", "a"], "");
    env.ask(&["undo", "6"]).exits(0);
    env.ask(&["undo", "7"]).exits(0);
    let failure = env.ask(&["undo", "5"]).exits(4);
    assert_eq!(failure["error"]["batch"], 8, "{failure}");
}

#[test]
fn a_history_that_is_not_looked_through_is_told() {
    let env = Env::with(&[("user.md", "# Me\n\n- works at: Quellwerk\n")]);
    env.run(&["add", "user", "more"], "");
    let other = env.at(".memdir/other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("history.sqlite"), "packed").unwrap();
    let erased = env.ask(&["forget", "--text", "Quellwerk", "--yes"]).exits(0);
    assert_eq!(
        erased["left"],
        json!([{"where": "state", "path": ".memdir/other/history.sqlite", "count": 0}]),
        "{erased}"
    );
    let again = env.ask(&["forget", "--text", "Quellwerk", "--yes"]).exits(4);
    assert!(again["error"]["message"].as_str().unwrap().contains(".memdir/other/history.sqlite"), "{again}");
}

#[test]
fn forget_says_what_it_cannot_erase() {
    let env = Env::with(&[("user.md", "# Me\n\n- works at: Quellwerk\n")]);
    let append = r#"<actions>[{"action": "append_file", "path": "user.md", "content": "- pet: cat"}]</actions>"#;
    env.run(&["exec", "--client", "Quellwerk"], append);
    let erased = env.ask(&["forget", "--text", "Quellwerk", "--yes"]).exits(0);
    let left: Vec<&Value> = erased["left"].as_array().unwrap().iter().map(|left| &left["where"]).collect();
    assert_eq!(left, [&json!("author")], "{erased}");
    assert!(!env.read("user.md").contains("Quellwerk"));
    let again = env.ask(&["forget", "--text", "Quellwerk", "--yes"]).exits(4);
    let message = again["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the text is only the name of a client or a conversation, which memdir cannot erase");
    // Words of the database itself are none of the person's.
    let schema = env.ask(&["forget", "--text", "permission", "--yes"]).exits(4);
    assert_eq!(schema["error"]["message"], "the text is nowhere in this memory");
}

/// A note that no action can name is seen by nothing; the doctor tells of it.
#[test]
#[cfg(target_os = "linux")]
fn the_doctor_names_notes_that_cannot_be_named() {
    use std::os::unix::ffi::OsStrExt as _;

    let env = Env::ada();
    let names = |env: &Env| {
        let checks = env.ask(&["doctor"]).exits(0);
        checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "names").cloned()
    };
    assert_eq!(names(&env), None);
    let root = env.memory();
    for name in [&b" lead.md"[..], b"bad\xff.md", b"two\nlines.md", b" pic.png", b".hidden.md"] {
        fs::write(root.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let message = names(&env).unwrap()["message"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with(concat!(r#"cannot use: " lead.md", "bad"#, "\u{fffd}", r#".md", "two\nlines.md""#)),
        "{message}"
    );
    let said = env.run(&["check"], "").stderr;
    assert!(said.contains("cannot use: \" lead.md\""), "{said}");
    assert_eq!(env.run(&["check", "--kind", "orphan"], "").stderr, "");
}

/// Editors leave copies beside what they edit: no saved text stays in the cache, and `forget` knows whose they are.
#[cfg(unix)]
#[test]
fn what_an_editor_leaves_beside_a_draft_goes_too() {
    let drafts = |env: &Env| -> Vec<String> {
        crate::support::files(env.base()).into_keys().filter(|path| path.contains("/drafts/")).collect()
    };
    let env = people().set("PATH", "/usr/bin:/bin").set("EDITOR", "sed -i~ s/London/Lisbon/");
    assert_eq!(env.run(&["edit", "user"], "").code, 0);
    assert!(env.read("user.md").contains("- city: Lisbon\n"));
    assert_eq!(drafts(&env), [""; 0]);
    // The copy alone is left, under a name of the editor's.
    let env = env.set("EDITOR", "sh -c 'mv $0 $0~; exit 1'");
    assert_eq!(env.run(&["edit", "user"], "").code, 4);
    assert!(matches!(drafts(&env).as_slice(), [left] if left.ends_with("/user.md~")), "{:?}", drafts(&env));
    env.ask(&["forget", "acme", "--yes"]).exits(0);
    assert_eq!(drafts(&env).len(), 1, "of another note");
    env.ask(&["forget", "user.md", "--yes"]).exits(0);
    assert_eq!(drafts(&env), [""; 0]);
}

/// Where the person is asked about what they type, they are told how to agree, and not what a model should do.
#[test]
fn what_waits_or_is_denied_is_said_in_the_persons_words() {
    let env = people().settings("[permission]\ncli = \"all\"\n");
    let waits = env.run(&["remember", "I like tea"], "");
    assert!(waits.code == 3 && waits.stderr.contains("hint: `memdir approve 1` carries it out"), "{waits:?}");
    let env = people().settings("[[rule]]\naction = \"append_file\"\nverdict = \"deny\"\n");
    let denied = env.run(&["add", "acme", "founded 1999"], "");
    assert!(denied.code == 3 && denied.stderr.ends_with("hint: `memdir rules` shows the rule\n"), "{denied:?}");
}

#[test]
fn a_change_whose_texts_were_forgotten_names_what_can_be_undone() {
    let env = people();
    env.run(&["remember", "I like Zanzibar"], "");
    let listed = env.run(&["forget", "--text", "Zanzibar", "--dry-run"], "");
    assert!(listed.stdout.contains("cannot be undone any more\n"), "{listed:?}");
    env.ask(&["forget", "--text", "Zanzibar", "--yes"]).exits(0);
    let undone = env.run(&["undo"], "");
    assert_eq!(undone.code, 4, "{undone:?}");
    assert!(undone.stderr.contains("the contents of change 1 are no longer kept"), "{undone:?}");
    assert!(undone.stderr.contains("hint: `memdir undo NUMBER` takes another change back"), "{undone:?}");
}

/// What began the memory is not the last thing that somebody did.
#[test]
fn undo_does_not_take_back_init() {
    let env = Env::new();
    env.run(&["init"], "");
    assert_eq!(env.ask(&["undo"]).exits(4)["error"]["code"], "nothing_to_undo");
    env.run(&["remember", "I live in Porto"], "");
    env.ask(&["undo"]).exits(0);
    assert!(env.at("user.md").exists() && !env.read("user.md").contains("Porto"));
    let log = env.ask(&["log"]).exits(0);
    let first = log["entries"].as_array().unwrap().last().unwrap()["batch"].to_string();
    env.ask(&["undo", &first]).exits(0);
    assert!(!env.at("user.md").exists());
}

/// A folder that is taken as it is was made by nobody through memdir.
#[test]
fn undo_takes_nothing_from_an_adopted_folder() {
    let env = people();
    env.run(&["init"], "");
    let before = env.files();
    assert_eq!(env.ask(&["undo"]).exits(4)["error"]["code"], "nothing_to_undo");
    env.run(&["remember", "I live in Porto"], "");
    env.ask(&["undo"]).exits(0);
    assert_eq!(env.ask(&["undo"]).exits(4)["error"]["code"], "nothing_to_undo");
    assert_eq!(env.files(), before);
}

#[test]
fn memdir_alone_says_how_things_stand() {
    let env = people();
    env.run(&["set", "user", "city", "Porto"], "");
    let alone = env.run(&[], "");
    assert_eq!(alone.code, 0);
    for words in ["5 notes, 1 link", "changed:  just now by you: user.md", "next: "] {
        assert!(alone.stdout.contains(words), "{words}: {}", alone.stdout);
    }
    let status = env.ask(&["status"]).exits(0);
    assert_eq!(
        (&status["notes"], &status["links"], &status["waiting"], &status["clients"]),
        (&json!(5), &json!(1), &json!(0), &json!([]))
    );
    assert_eq!(status["last"]["changed"], json!(["user.md"]));
    let nowhere = env.base().join("nowhere");
    let said = finish(env.bare(&["--memory", nowhere.to_str().unwrap()]), b"");
    assert!(said.code == 0 && said.stdout.contains("memdir init"), "{said:?}");
    let status = finish(env.bare(&["--memory", nowhere.to_str().unwrap(), "status", "--json"]), b"");
    assert_eq!(status.exits(0)["memory"], Value::Null);
}

#[test]
fn what_people_type_exists() {
    let env = people();
    for arguments in [
        &["ls"][..],
        &["cat", "user"],
        &["show", "user"],
        &["history"],
        &["find", "tulips"],
        &["version"],
        &["help"],
        &["help", "set"],
    ] {
        assert_eq!(env.run(arguments, "").code, 0, "{arguments:?}");
    }
    assert!(env.run(&["version"], "").stdout.starts_with("memdir "));
}

#[test]
fn an_older_sentence_is_taken_back_though_others_stand_beside_it() {
    let env = people();
    for sentence in ["I play chess", "I play go", "I play cards"] {
        env.run(&["remember", sentence], "");
    }
    let before = env.read("user.md");
    assert_eq!(env.run(&["undo", "2"], "").code, 0);
    assert_eq!(env.read("user.md"), before.replace("- I play go\n", ""));
    assert_eq!(env.run(&["undo", "1"], "").code, 0);
    assert_eq!(env.read("user.md"), before.replace("- I play chess\n- I play go\n", ""));
}

#[test]
fn a_folder_gets_the_other_form_of_its_own_name() {
    let env = people();
    let [nfd, nfc] = ["Do\u{301}s", "D\u{f3}s"];
    env.write(&format!("{nfd}/a.md"), "# A\n");
    env.ask(&["mv", nfd, nfc]).exits(0);
    assert_eq!((env.at(nfd).exists(), env.at(nfc).exists()), (false, true), "{:?}", env.files());
    env.ask(&["undo"]).exits(0);
    assert_eq!((env.at(nfd).exists(), env.at(nfc).exists()), (true, false), "{:?}", env.files());
    // A folder of that name is somewhere else.
    env.ask(&["mv", "work", nfd]).exits(0);
    assert!(env.at(nfd).join("work/plan.md").exists(), "{:?}", env.files());
}

#[test]
fn a_restored_text_is_said_to_be_of_the_change_that_recorded_it() {
    let env = people();
    env.ask(&["add", "acme corp", "one"]).exits(0);
    env.ask(&["mv", "acme corp", "firm"]).exits(0);
    let shown = env.run(&["restore", "firm", "--at", "2"], "");
    assert!(shown.stderr.contains("as it was after change 1; change 2 recorded no text of it"), "{}", shown.stderr);
    assert_eq!(env.ask(&["restore", "firm", "--at", "2"]).exits(0)["recorded"], json!({"after": 1}));
}

#[test]
fn a_name_alone_renames_in_place() {
    let env = people();
    env.ask(&["mv", "acme corp", "Acme (old)"]).exits(0);
    assert!(env.at("entities/Acme (old).md").exists(), "{:?}", env.files());
    // What is called so already is most likely meant to go to the root.
    let same = env.run(&["mv", "entities/Acme (old).md", "Acme (old).md"], "");
    assert!(same.stderr.contains("`\"./Acme (old).md\"` moves the note to the root"), "{}", same.stderr);
    assert_eq!((same.code, env.at("entities/Acme (old).md").exists()), (0, true));
    env.ask(&["mv", "Acme (old)", "./acme"]).exits(0);
    assert_eq!(env.run(&["mv", "acme", "acme"], "").stderr, "");
    assert!(env.at("acme.md").exists());
    env.ask(&["mv", "acme", "entities/"]).exits(0);
    env.ask(&["mv", "acme corp", "."]).exits(0);
    assert!(env.at("acme.md").exists());
    env.ask(&["mv", "work", "jobs"]).exits(0);
    assert!(env.at("jobs/plan.md").exists());
}

#[test]
fn a_file_that_is_renamed_keeps_its_extension() {
    let env = Env::with(&[("user.md", "![[Sea.png]] [two](in/a.tar.gz)\n"), ("Sea.png", "x"), ("in/a.tar.gz", "y")]);
    for (from, to, becomes) in [
        ("Sea.png", "Lake", "Lake.png"),
        ("Lake.png", "in/Dr. Reis", "in/Dr. Reis.png"),
        ("in/Dr. Reis.png", "./Sea.jpg", "Sea.jpg"),
        ("Sea.jpg", "in/", "in/Sea.jpg"),
        ("in/a.tar.gz", "b", "in/b.tar.gz"),
        ("in", "out", "out/b.tar.gz"),
    ] {
        assert_eq!(env.run(&["mv", from, to], "").code, 0, "{from}");
        assert!(env.at(becomes).exists() && !env.at(from).exists(), "{becomes}: {:?}", env.files());
    }
    assert_eq!(env.read("user.md"), "![[Sea.jpg]] [two](out/b.tar.gz)\n");
}

#[test]
fn set_says_what_it_replaced() {
    let env = Env::with(&[("user.md", "# Me\n\n- **City**: Uppsala\n\n| born | 1990 |\n|---|---|\n| pet | cat |\n")]);
    let line = "1 line in user.md · undo: memdir undo\n";
    for (key, value, said) in [
        ("city", "Oslo", format!("city: Uppsala → Oslo\n{line}")),
        ("city", "Oslo", "nothing had to be changed\n".to_owned()),
        ("pet", "dog", format!("pet: cat → dog\n{line}")),
        ("job", "nurse", format!("+{line}")),
    ] {
        assert_eq!(env.run(&["set", "user", key, value], "").stdout, said);
    }
}

#[test]
fn a_new_note_has_one_title() {
    let env = people();
    env.ask(&["new", "people/bo", "# Bo"]).exits(0);
    assert_eq!(env.read("people/bo.md"), "# Bo\n");
    let failure = env.ask(&["new", "people/", "hallo"]).exits(2);
    assert_eq!(failure["error"]["message"], "`people/` is the name of a folder");
    env.ask(&["new", "people/cy", "met at the fair"]).exits(0);
    assert_eq!(env.read("people/cy.md"), "# Cy\n\nmet at the fair\n");
}

#[test]
fn what_fails_is_one_error_for_a_program() {
    let env = people();
    assert_eq!(env.run(&["add", "user", "hello", "--json"], "").exits(0)["changed"], json!(["user.md"]));
    for words in [&["new", "user"][..], &["rm", "nosuch"], &["set", "../x", "a", "b"]] {
        let failed = env.ask(words).exits(4);
        assert!(failed["error"]["code"].is_string() && failed.get("actions").is_none(), "{words:?}: {failed}");
    }
}

#[test]
fn no_program_passes_for_the_person() {
    let env = people();
    let turn = r#"<actions>[{"action":"append_file","path":"user.md","content":"- x: y"}]</actions>"#;
    env.say(turn, &["--client", "you"]);
    env.run(&["remember", "I live in Leeds"], "");
    let log = env.run(&["log"], "").stdout;
    let heads: Vec<&str> = log.lines().filter(|line| line.contains("just now")).collect();
    assert!(heads[0].ends_with("  you") && heads[1].ends_with("  you (exec)"), "{log}");
}

#[test]
fn the_history_is_kept_where_the_settings_say() {
    let env = people();
    let folder = env.base().join("elsewhere");
    let env = env.set("MEMDIR_STATE", folder.to_str().unwrap());
    env.ask(&["remember", "I live in Leeds"]).exits(0);
    // The lock stays with the notes that it is about.
    assert!(folder.exists() && !env.seen().keys().any(|path| path.contains("history.sqlite")), "{:?}", env.seen());
    env.ask(&["undo"]).exits(0);
    let relative = people().set("MEMDIR_STATE", "here").ask(&["log"]).exits(5);
    assert_eq!(relative["error"]["code"], "config");
}

//! The binary: the dialect is known by its tag, and the answer is what the model was trained to read.

use crate::support::Env;

use super::turn;

#[test]
fn a_block_is_known_by_its_tag_and_answered_as_python() {
    let env = Env::ada();
    let code =
        "exists = check_if_file_exists('user.md')\nif exists:\n    r = update_file('user.md', 'London', 'Paris')";
    let report = env.say(&turn(code), &[]).exits(0);
    assert_eq!(report["answer"], "<result>\n{'exists': True, 'r': True}\n</result>");
    assert_eq!(report["variables"], serde_json::json!({"exists": true, "r": true}));
    assert_eq!(report["changed"], serde_json::json!(["user.md"]));
    assert!(env.read("user.md").contains("Paris"));
    let none = env.say("<actions>[]</actions>", &["--dialect", "python"]).exits(2);
    assert_eq!(none["error"]["hint"], "send <python>…</python> or <reply>…</reply>", "in its own dialect");
    let only = env.say("<reply>Hello.</reply>", &["--dialect", "python"]).exits(0);
    assert_eq!((&only["reply"], &only["actions"]), (&"Hello.".into(), &serde_json::json!([])));
}

#[test]
fn without_json_the_answer_is_all_that_is_printed() {
    let env = Env::ada();
    let ran = env.run(&["exec", "--dialect", "python"], &turn("r = read_file('none.md')"));
    assert_eq!(ran.stdout, "<result>\n{'r': 'Error: File none.md does not exist'}\n</result>\n");
    assert_eq!(ran.code, 4);
    let ran = env.run(&["exec"], "<think>.</think><python></python><reply>Hello.</reply>");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "<result>\n{}\n</result>\n"));
}

#[test]
fn a_refused_block_says_so_in_the_answer() {
    let env = Env::ada();
    let report = env.say(&turn("create_file('a.md')\nimport os"), &[]).exits(2);
    let said = "<result>\n({}, {Exception in sandboxed code:\nline 2: imports are not read\n";
    assert!(report["answer"].as_str().unwrap().starts_with(said), "{report}");
    let with_reply = turn("import os") + "<reply>Done.</reply>";
    let report = env.say(&with_reply, &[]).exits(4);
    assert!(report["answer"].as_str().unwrap().contains("line 1: imports are not read"), "{report}");
    assert_eq!(report["reply"], "Done.");
}

#[test]
fn a_batch_that_is_not_done_sets_nothing_and_says_why() {
    let env = Env::ada();
    let code = "a = create_file('a.md', 'x')\nb = update_file('user.md', 'no such line', 'x')";
    let report = env.say(&turn(code), &["--atomic"]).exits(4);
    assert!(
        report["answer"].as_str().unwrap().starts_with("<result>\n({}, {Exception in sandboxed code:\n"),
        "{report}"
    );
    assert!(!env.at("a.md").exists());
    let report = env.say(&turn("a = create_file('a.md', 'x')"), &["--read-only"]).json();
    assert!(report["answer"].as_str().unwrap().starts_with("<result>\n{'a': 'Error: "), "{report}");
}

#[test]
fn a_block_whose_write_is_refused_leaves_no_variables() {
    let env = Env::ada();
    let talk = ["--conversation", "talk.jsonl"];
    let refused = env.say(&turn("k = 'v'\nr = create_file('a.md', k)"), &[&talk[..], &["--read-only"]].concat());
    assert_eq!(refused.exits(4)["actions"][0]["error"]["code"], "read_only");
    let report = env.say(&turn("r = create_file('b.md', k)"), &talk).exits(2);
    assert!(report["answer"].as_str().unwrap().contains("`k` is not set"), "{report}");
}

#[test]
fn a_block_ends_at_a_condition_that_waits_and_the_model_hears_of_every_failure() {
    let env = Env::ada();
    let code = "if not check_if_file_exists('log.md'):\n    create_file('log.md', 'x')\nfound = \
                check_if_file_exists('log.md')\nif found:\n    create_file('a.md')\nelse:\n    create_file('b.md')";
    let report = env.say(&turn(code), &["--permission", "all"]).exits(3);
    assert_eq!(report["actions"].as_array().unwrap().len(), 4, "nothing after the condition: {report}");
    assert!(report["answer"].as_str().unwrap().contains("waits"), "{report}");
    let report = env.say(&turn("update_file('user.md', 'nope', 'y')"), &[]).exits(4);
    assert!(report["answer"].as_str().unwrap().contains("no place in `user.md` matches"), "{report}");
    let many = "delete_file('none.md')\n".repeat(101);
    let report = env.say(&turn(&format!("r = 1\n{many}").replace("delete_file", "check_if_file_exists")), &[]).exits(4);
    assert!(report["answer"].as_str().unwrap().contains("a batch holds at most 100 actions"), "{report}");
}

#[test]
fn a_rule_about_a_folder_holds_for_links_into_it() {
    let env = Env::with(&[("user.md", "x\n"), ("private/c#.md", "secret\n")]);
    let env = env.settings("[[rule]]\npath = \"private/**\"\nverdict = \"deny\"\n");
    for link in ["[[private/c#]]", "[[private/c#.md]]", "private/c#.md"] {
        let report = env.say(&turn(&format!("x = go_to_link('{link}')")), &[]).json();
        assert!(report["answer"].as_str().unwrap().starts_with("<result>\n{'x': 'Error: "), "{report}");
        assert!(!report.to_string().contains("secret"), "{report}");
    }
}

#[test]
fn a_call_without_leave_is_told_though_nothing_has_its_answer() {
    let env = Env::ada();
    let code = "x = 1\nupdate_file('user.md', '- city: London', '- phone: +49 170 1234567')";
    for (more, said) in [
        (["--permission", "ask"].as_slice(), "proposal 1 waits for the person"),
        (&["--permission", "flag"], "this is personal: a phone number"),
        (&["--read-only"], "this memory is read-only here"),
    ] {
        let report = env.say(&turn(code), more).json();
        let answer = report["answer"].as_str().unwrap();
        let expected = format!("<result>\n({{'x': 1}}, {{Exception in sandboxed code:\n{said}");
        assert!(answer.starts_with(&expected), "{answer}");
    }
    let report = env.say(&turn("update_file('none.md', 'a', 'b')"), &[]).exits(4);
    let told = "<result>\n({}, {Exception in sandboxed code:\nnote `none.md` does not exist";
    assert!(report["answer"].as_str().unwrap().starts_with(told), "{report}");
}

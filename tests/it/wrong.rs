//! What is said to a person who mistypes: the document of what a newcomer meets.

use insta::assert_snapshot;

use crate::support::{Env, finish, mask_text};

fn people() -> Env {
    let env = Env::with(&[
        ("user.md", "# Me\n\n- name: Ada\n- city: London\n\n## Work\n\n- tea: green\n- tea: black\n"),
        ("entities/jane_doe.md", "# Jane Doe\n\n- likes: tulips\n"),
        ("work/plan.md", "# Plan\n"),
        ("home/plan.md", "# Plan\n"),
    ]);
    env.write("photo.png", b"\x89PNG\xff");
    env
}

/// Every input, in the order of what people try to do.
const INPUTS: &[&[&str]] = &[
    // Words that are no commands.
    &["exce"],
    &["serach", "tulips"],
    &["config"],
    &["settings"],
    &["backup"],
    &["export"],
    &["import"],
    &["sync"],
    &["start"],
    &["server"],
    &["login"],
    &["update"],
    &["upgrade"],
    &["uninstall"],
    &["how"],
    &["note", "I like tea"],
    &["write"],
    &["reset"],
    &["redo"],
    &["xyzzy"],
    &["user.md"],
    &["what is my name"],
    &["what", "is", "my", "name"],
    &["-v"],
    &["--hlep"],
    // Something is missing.
    &["remember"],
    &["remember", " "],
    &["set", "user", "city"],
    &["add", "user"],
    &["add", "user", ""],
    &["new"],
    &["edit"],
    &["mv", "user"],
    &["rm"],
    &["read"],
    &["search"],
    &["search", ""],
    &["forget"],
    &["reject"],
    &["client"],
    &["client", "add"],
    &["rules", "add"],
    &["install"],
    &["session", "remove"],
    // The note is not there, or is another one.
    &["read", "nosuch"],
    &["read", "people/nosuch.md"],
    &["read", "jane_deo"],
    &["read", "plan"],
    &["read", "work"],
    &["read", ""],
    &["set", "nosuch", "city", "Porto"],
    &["set", "people/nosuch.md", "city", "Porto"],
    &["add", "nosuch", "x"],
    &["add", "people/nosuch.md", "x"],
    &["add", "work", "x"],
    &["edit", "nosuch"],
    &["edit", "work"],
    &["edit", "user"],
    &["mv", "nosuch", "b"],
    &["mv", "people/nosuch.md", "b"],
    &["rm", "nosuch"],
    &["rm", "people/nosuch.md"],
    &["rm", "work"],
    &["open", "nosuch"],
    &["links", "nosuch"],
    &["facts", "people/nosuch.md"],
    &["log", "nosuch"],
    &["log", "--lines", "people/nosuch.md"],
    &["restore", "people/nosuch.md", "--at", "1"],
    &["restore", "user", "--at", "99"],
    &["forget", "nosuch", "--yes"],
    &["forget", "people/nosuch.md", "--yes"],
    &["audit", "readers", "people/nosuch.md"],
    &["tree", "nosuch"],
    &["tree", "user.md"],
    &["diff", "99"],
    &["undo", "99"],
    &["undo", "user.md"],
    &["approve", "99"],
    &["approve", "99", "--code", "AAAA-AAAA"],
    &["approve", "1", "2", "--code", "AAAA-AAAA"],
    &["reject", "99"],
    &["reject", "all"],
    &["rules", "remove", "99"],
    &["client", "revoke", "nosuch"],
    &["session", "remove", "nosuch"],
    &["model", "use", "nosuch"],
    &["install", "nosuch"],
    // It exists already.
    &["new", "user"],
    &["mv", "work/plan", "home/plan"],
    // It cannot be called so.
    &["new", "a/../../b"],
    &["new", "/etc/notes"],
    &["new", ".hidden"],
    &["new", "what?"],
    &["new", "USER"],
    &["read", "../../etc/passwd"],
    &["read", "/etc/passwd"],
    &["read", ".memdir/lock"],
    &["mv", "user", "work/plan.md/x"],
    &["rm", "/"],
    &["add", "photo.png", "x"],
    // It cannot be said so.
    &["set", "user", "tea", "white"],
    &["set", "user", "a: b", "c"],
    &["set", "user", "city", "a\nb"],
    &["set", "user", "", "c"],
    &["remember", "the plan", "--memory"],
    &["add", "user", "hello", "--memory", "x"],
    &["log", "--since", "last summer"],
    &["log", "--limit", "0"],
    &["tree", "--cursor"],
    &["rules", "add", "maybe"],
    &["client", "add", "my laptop"],
    &["client", "add", "desk", "--expires", "soon"],
    &["mcp", "--http", "0.0.0.0:80"],
    &["eval"],
];

/// Runs each and writes down what was said.
fn said(env: &Env, inputs: &[&[&str]]) -> String {
    let mut all = String::new();
    for input in inputs {
        let typed: Vec<String> = input
            .iter()
            .map(|word| match word.contains(char::is_whitespace) || word.is_empty() {
                true => format!("{word:?}"),
                false => (*word).to_owned(),
            })
            .collect();
        let ran = finish(env.bare(input), b"");
        let stdout = if ran.stdout.is_empty() { String::new() } else { format!("stdout: {}", ran.stdout) };
        all.push_str(&format!("$ memdir {}\n{stdout}{}exit {}\n\n", typed.join(" "), ran.stderr, ran.code));
    }
    mask_text(env, &all)
}

#[test]
fn what_is_said_to_who_mistypes() {
    let env = people();
    let memory = env.memory().to_str().unwrap().to_owned();
    let env = env.set("MEMDIR", &memory);
    let before = env.files();
    let all = said(&env, INPUTS);
    for row in memdir_core::catalog::ROWS.iter().filter(|row| row.name.contains('_')) {
        assert!(!all.contains(row.name), "{} is an action's name:\n{all}", row.name);
    }
    assert_snapshot!(all);
    assert_eq!(env.files(), before, "nothing was done");
}

/// What people type for a command that is called otherwise.
#[test]
fn other_names_of_commands_do_what_they_say() {
    let env = people();
    for (input, words) in [
        (&["list"][..], "user.md"),
        (&["view", "user"], "# Me"),
        (&["recall", "tulips"], "jane_doe.md"),
        (&["save", "I like tea"], "+1 line in user.md"),
        (&["create", "people/tom"], "new: people/tom.md"),
        (&["append", "people/tom", "tall"], "+1 line"),
        (&["move", "people/tom", "people/tim"], "people/tim.md"),
        (&["remove", "people/tim"], "deleted: people/tim.md"),
        (&["--version"], "memdir "),
        (&["-V"], "memdir "),
        (&["-h"], "Usage"),
        (&["help", "mv"], "Usage"),
    ] {
        let ran = env.run(input, "");
        assert!(ran.code == 0 && ran.stdout.contains(words), "{input:?}: {ran:?}");
    }
}

/// Before there is a memory, and while somebody else writes to it.
#[test]
fn what_is_said_where_there_is_no_memory_or_it_is_busy() {
    let env = Env::new();
    std::fs::remove_dir(env.memory()).unwrap();
    let nowhere = said(
        &env,
        &[
            &["remember", "I like tea"],
            &["read", "user"],
            &["search", "tea"],
            &["log"],
            &["undo"],
            &["pending"],
            &["tree"],
        ],
    );
    let env = people().settings("[limits]\nlock_seconds = 1\n");
    let memory = env.memory().to_str().unwrap().to_owned();
    let env = env.set("MEMDIR", &memory);
    env.run(&["remember", "I like tea"], "");
    let lock = std::fs::File::open(env.at(".memdir/lock")).unwrap();
    lock.lock().unwrap();
    let busy = said(&env, &[&["remember", "more tea"], &["read", "user"], &["undo"]]);
    assert_snapshot!(format!("{nowhere}\n{busy}"));
}

//! `memdir log`, `undo`, `diff` and `restore` in words.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Env, mask_text, said};

fn people() -> Env {
    let plan: String = (1..=12).map(|line| format!("step {line}\n")).collect();
    Env::with(&[
        ("user.md", "# Me\n\n- city: Freiburg\n- friend: [[ada]]\n"),
        ("people/ada.md", "# Ada\n\nSee [me](../user.md).\n"),
        ("work/plan.md", &plan),
    ])
    .quick()
}

/// All that a command says, with what differs from run to run masked.
fn heard(env: &Env, arguments: &[&str]) -> String {
    let ran = env.run(arguments, "");
    mask_text(env, &format!("$ memdir {}\n{}--- stderr\n{}\n", arguments.join(" "), ran.stdout, ran.stderr))
}

#[test]
fn what_was_done_is_told_in_words() {
    let env = people();
    env.run(&["set", "user", "city", "Berlin"], "");
    env.run(&["remember", "I like green tea"], "");
    let actions = json!([
        {"action": "create_file", "path": "teas.md", "content": "# Teas\n\ngreen\nblack\n"},
        {"action": "append_file", "path": "nosuch.md", "content": "x"},
        {"action": "write_file", "path": "work/plan.md", "content": "step 1\nstep 2\n"},
    ]);
    env.say(&said(&actions), &["--client", "cursor"]);
    env.say(
        &said(&json!([{"action": "append_file", "path": "teas.md", "content": "oolong\nwhite\n城市\nmint\nchai"}])),
        &[],
    );
    env.run(&["mv", "people/ada", "friends/eve"], "");
    env.run(&["rm", "work/plan"], "");
    let mut all = heard(&env, &["log"]);
    for arguments in [
        &["undo"][..],
        &["undo", "--dry-run"],
        &["diff", "3"],
        &["restore", "user", "--at", "1"],
        &["log", "user", "--limit", "2"],
        &["log", "--client", "cursor"],
        &["log", "--lines", "teas"],
        &["log", "--since", "2099-01-01"],
        &["log", "--today", "--limit", "1"],
    ] {
        all.push_str(&heard(&env, arguments));
    }
    assert_snapshot!(all);
    let empty = people();
    assert_snapshot!(heard(&empty, &["log"]), @r"
    $ memdir log
    --- stderr
    nothing has been changed through memdir yet
    ");
}

#[test]
fn what_is_forgotten_is_not_told() {
    let env = Env::with(&[("user.md", "# Me\n"), ("people/ada.md", "# Ada\n")]).quick();
    env.run(&["add", "people/ada", "born in Zanzibar"], "");
    env.run(&["remember", "I like tea"], "");
    assert!(env.run(&["log"], "").stdout.contains("+ born in Zanzibar"));
    env.ask(&["forget", "people/ada.md", "--yes"]).exits(0);
    let log = env.run(&["log"], "").stdout;
    assert!(!log.contains("Zanzibar") && !log.contains("ada"), "{log}");
    assert!(log.contains("what was changed is no longer kept") && log.contains("+ I like tea"), "{log}");
}

/// A day is one of the person's place.
#[test]
fn times_are_those_of_the_persons_place() {
    let env = people();
    env.run(&["remember", "I like tea"], "");
    let far = people().set("TZ", "Pacific/Kiritimati");
    far.run(&["remember", "I like tea"], "");
    let (here, there) = (env.run(&["log"], "").stdout, far.run(&["log"], "").stdout);
    assert!(here.starts_with("Today\n") && here.contains(" UTC ("), "{here}");
    assert!(there.starts_with("Today\n") && !there.contains("UTC"), "{there}");
    let clock = |log: &str| log.split_whitespace().nth(2).unwrap().split_once(':').unwrap().0.parse::<u32>().unwrap();
    // An hour may have begun between the two.
    let ahead = (clock(&there) + 24 - clock(&here)) % 24;
    assert!(ahead == 14 || ahead == 15, "{here}{there}");
}

/// On a terminal what is lost is red, and no note commands the terminal.
#[cfg(unix)]
#[test]
fn a_loss_stands_out_on_a_terminal() {
    let env = people();
    env.run(&["rm", "work/plan"], "");
    env.exec(&json!([{"action": "append_file", "path": "user.md", "content": "\u{1b}]0;owned\u{7}"}]));
    let terminal = crate::ask::terminal::Terminal::start(env.command(&["log"]));
    let (code, seen) = terminal.end();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("\u{1b}[1m\u{1b}[31mdeleted (12 lines)\u{1b}[0m"), "{seen:?}");
    assert!(!seen.contains("\u{1b}]0") && seen.contains("memdir undo NUMBER"), "{seen:?}");
    let plain = env.set("NO_COLOR", "1");
    let (_, seen) = crate::ask::terminal::Terminal::start(plain.command(&["log"])).end();
    assert!(seen.contains("deleted (12 lines)") && !seen.contains('\u{1b}'), "{seen:?}");
}

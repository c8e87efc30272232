//! Approving on a terminal, which a person has and a pipe is not.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use super::{FACT, folder, waiting};
use crate::support::{Env, files};

/// A command on a terminal of its own; the other end is the person's.
pub(crate) struct Terminal {
    person: File,
    seen: String,
    child: std::process::Child,
}

impl Terminal {
    pub(crate) fn start(command: Command) -> Self {
        Self::start_wide(command, 80)
    }

    /// As [`Terminal::start`], with so many columns.
    pub(crate) fn start_wide(mut command: Command, columns: u16) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&person, size).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let open = || {
            let end = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
            Stdio::from(end)
        };
        command.stdin(open()).stdout(open()).stderr(open());
        let child = command.spawn().unwrap();
        drop(command);
        Self { person: File::from(person), seen: String::new(), child }
    }

    /// Reads until the question is asked once more than `before`.
    pub(crate) fn until(&mut self, words: &str) -> String {
        let mut piece = [0; 4096];
        while !self.seen.contains(words) {
            let read = self.person.read(&mut piece).unwrap_or(0);
            assert!(read > 0, "it ended before it said {words:?}: {}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        std::mem::take(&mut self.seen)
    }

    pub(crate) fn answer(&mut self, words: &str) {
        self.person.write_all(words.as_bytes()).unwrap();
    }

    /// What the terminal does to the program at Ctrl-C.
    pub(crate) fn interrupt(&self) {
        let child = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(child, rustix::process::Signal::INT).unwrap();
    }

    pub(crate) fn end(mut self) -> (i32, String) {
        let mut piece = [0; 4096];
        // The system says so in its own way when the other end is closed.
        while let Ok(read) = self.person.read(&mut piece) {
            if read == 0 {
                break;
            }
            self.seen.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
        (self.child.wait().unwrap().code().unwrap_or(-1), self.seen)
    }
}

fn approving(env: &Env) -> Terminal {
    Terminal::start(env.command(&["approve", "1"]))
}

#[test]
fn a_person_is_shown_the_change_and_says_yes() {
    let env = waiting();
    let mut terminal = approving(&env);
    let shown = terminal.until("[?] ");
    assert!(shown.contains(FACT) && shown.contains("personal: an email address"), "{shown}");
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("proposal 1 is approved: +1 line in user.md"), "{said}");
    assert!(env.read("user.md").ends_with(&format!("{FACT}\n")));
}

#[test]
fn no_drops_it_and_a_blank_answer_or_none_lets_it_wait() {
    for (answer, left) in [("n\n", 0), ("\n", 1), ("later\n", 1), ("\u{4}", 1)] {
        let env = waiting();
        let mut terminal = approving(&env);
        terminal.until("[?] ");
        terminal.answer(answer);
        let (code, said) = terminal.end();
        assert_eq!(code, 0, "{answer:?}: {said}");
        assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
        assert_eq!(files(&folder(&env)).len(), left, "{answer:?}: {said}");
    }
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let env = waiting();
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("yess\n");
    let help = terminal.until("[?] ");
    assert!(help.contains("carry it out as it is shown"), "{help}");
    terminal.answer("yes\n");
    assert_eq!(terminal.end().0, 0);
    assert!(env.read("user.md").contains(FACT));
}

#[test]
fn a_note_that_changes_while_the_question_stands_is_asked_about_again() {
    let env = waiting();
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    env.write("user.md", "# Ada\n\n- city: Paris\n");
    terminal.answer("y\n");
    let again = terminal.until("[?] ");
    assert!(again.contains("look again") && again.contains("- city: Paris"), "{again}");
    terminal.answer("y\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("user.md"), format!("# Ada\n\n- city: Paris\n{FACT}\n"));
}

#[test]
fn what_is_decided_while_the_question_stands_is_said_to_be() {
    let env = waiting();
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    assert_eq!(env.ask(&["reject", "1"]).code, 0);
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("proposal 1 has already been decided"), "{said}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
}

#[test]
fn nothing_in_a_proposal_commands_the_terminal() {
    let env = Env::ada();
    let text = "- email: a@example.com \u{1b}]0;owned\u{7} \u{202e}";
    super::asked(&env, &json!([{"action": "append_file", "path": "user.md", "content": text}]));
    let mut terminal = approving(&env);
    let shown = terminal.until("[?] ");
    assert!(!shown.contains("\u{1b}]0") && !shown.contains('\u{202e}'), "{shown:?}");
    terminal.answer("n\n");
    terminal.end();
}

fn propose(env: &Env, client: &str, actions: &Value) {
    env.say(&crate::support::said(actions), &["--permission", "all", "--client", client]).exits(3);
}

fn create(path: &str, content: &str) -> Value {
    json!({"action": "create_file", "path": path, "content": content})
}

#[test]
fn approve_alone_walks_through_what_waits() {
    let env = Env::ada();
    for (client, path) in [("desk", "a.md"), ("lab", "b.md"), ("desk", "c.md"), ("desk", "d.md"), ("lab", "e.md")] {
        propose(&env, client, &json!([create(path, "text\n")]));
    }
    let mut terminal = Terminal::start(env.command(&["approve"]));
    let first = terminal.until("[?] ");
    assert!(first.contains("a.md  new note, 1 line") && first.contains("[a]ll of desk"), "{first}");
    terminal.answer("y\n");
    assert!(terminal.until("[?] ").contains("b.md  new note"));
    terminal.answer("n\n");
    assert!(terminal.until("[?] ").contains("c.md  new note"));
    terminal.answer("a\n");
    // The others of the same program are shown before one answer holds for them.
    let all = terminal.until("approve all 2? [y/N] ");
    assert!(all.contains("d.md  new note") && !all.contains("e.md"), "{all}");
    terminal.answer("y\n");
    let last = terminal.until("[?] ");
    assert!(last.contains("e.md  new note") && !last.contains("[a]ll"), "{last}");
    terminal.answer("l\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    let made: Vec<String> = env.files().into_keys().collect();
    assert_eq!(made, ["a.md", "c.md", "d.md", "entities/acme.md", "user.md"]);
    assert_eq!(super::ids(&env), [5]);
}

#[test]
fn quit_leaves_the_rest_waiting_and_numbers_choose() {
    let env = Env::ada();
    for path in ["a.md", "b.md", "c.md"] {
        propose(&env, "desk", &json!([create(path, "text\n")]));
    }
    let mut terminal = Terminal::start(env.command(&["approve", "3", "1"]));
    assert!(terminal.until("[?] ").contains("c.md"));
    terminal.answer("q\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(super::ids(&env), [1, 2, 3]);
    let mut terminal = Terminal::start(env.command(&["approve", "--all"]));
    let shown = terminal.until("approve all 3? [y/N] ");
    assert!(["a.md", "b.md", "c.md"].iter().all(|path| shown.contains(path)), "{shown}");
    terminal.answer("\n");
    assert!(terminal.end().1.contains("they are still waiting"));
    assert_eq!(super::ids(&env), [1, 2, 3]);
    assert_eq!(env.ask(&["reject", "2", "9"]).exits(4)["error"]["code"], "not_found");
    assert_eq!(super::ids(&env), [1, 2, 3], "one that is not there is told of before another is dropped");
    let rejected = env.ask(&["reject", "3", "1"]).exits(0);
    let ids: Vec<_> = rejected["decided"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [1, 3]);
    propose(&env, "lab", &json!([create("d.md", "text\n")]));
    env.ask(&["reject", "--client", "lab"]).exits(0);
    assert_eq!(super::ids(&env), [2]);
    env.ask(&["reject", "--all"]).exits(0);
    assert_eq!(super::ids(&env), [0; 0]);
}

#[test]
fn of_a_proposal_with_several_calls_some_can_be_taken() {
    let env = Env::ada();
    let actions = json!([
        {"action": "set_fact", "path": "user.md", "key": "city", "value": "Ulm"},
        {"action": "set_fact", "path": "user.md", "key": "tea", "value": "green"},
        create("new.md", "one\n"),
        {"action": "append_file", "path": "new.md", "content": "two"},
    ]);
    propose(&env, "desk", &actions);
    let mut terminal = approving(&env);
    assert!(terminal.until("[?] ").contains("[p]art"));
    terminal.answer("p\n");
    let part = terminal.until("take this part? [y/N] ");
    assert!(part.contains("part 1 of 3") && part.contains("city: London → Ulm") && !part.contains("tea"), "{part}");
    terminal.answer("y\n");
    assert!(terminal.until("take this part? [y/N] ").contains("+ tea: green"));
    terminal.answer("n\n");
    // What cannot be made without the call before belongs to it.
    let part = terminal.until("take this part? [y/N] ");
    assert!(part.contains("new.md  new note, 2 lines"), "{part}");
    terminal.answer("y\n");
    let both = terminal.until("drop the rest? [y/N] ");
    assert!(both.contains("Ulm") && both.contains("new.md") && !both.contains("green"), "{both}");
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert_eq!((env.read("user.md"), env.read("new.md")), ("# Ada\n\n- city: Ulm\n".into(), "one\ntwo\n".into()));
    assert_eq!(super::ids(&env), [0; 0]);
    let log = env.ask(&["log"]).exits(0);
    let names: Vec<_> = log["entries"][0]["actions"].as_array().unwrap().iter().map(|one| &one["action"]).collect();
    assert_eq!(names, ["set_fact", "create_file", "append_file"], "{log}");
    assert_eq!(log["entries"][0]["client"], "desk");
    assert_eq!(env.ask(&["audit", "verify"]).exits(0)["ok"], true);
}

#[test]
fn the_persons_own_text_is_kept_instead() {
    let env = Env::ada().set("EDITOR", "sed -i s/quetzalcoatl/ada/").set("PATH", "/usr/bin:/bin");
    super::asked(&env, &json!([super::personal("user.md")]));
    let mut terminal = approving(&env);
    assert!(terminal.until("[?] ").contains("[e]dit"));
    terminal.answer("e\n");
    let (code, said) = terminal.end();
    assert!(code == 0 && said.contains("your text is kept instead of proposal 1"), "{said}");
    assert!(env.read("user.md").ends_with("- email: ada@example.com\n"));
    assert_eq!(super::ids(&env), [0; 0]);
    let log = env.ask(&["log"]).exits(0);
    assert_eq!(log["entries"][0]["door"], "cli", "who wrote the text is its author");
    // An editor that changes nothing decides nothing.
    let env = Env::ada().set("EDITOR", "true").set("PATH", "/usr/bin:/bin");
    super::asked(&env, &json!([super::personal("user.md")]));
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("e\n");
    assert!(terminal.until("[?] ").contains("nothing was changed"));
    terminal.answer("l\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(super::ids(&env), [1]);
}

/// What cannot be done now can be dropped, or left.
#[test]
fn what_cannot_be_done_is_not_offered() {
    let env = waiting();
    std::fs::remove_file(env.at("user.md")).unwrap();
    let mut terminal = approving(&env);
    let shown = terminal.until("[?] ");
    assert!(shown.contains("it cannot be done now") && !shown.contains("[y]es"), "{shown}");
    terminal.answer("y\n");
    terminal.until("[?] ");
    terminal.answer("no\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(super::ids(&env), [0; 0]);
}

#[test]
fn calls_that_need_each_other_are_one_part() {
    let env = Env::ada();
    let append = json!({"action": "append_file", "path": "new.md", "content": "two"});
    propose(&env, "desk", &json!([create("new.md", "one\n"), append]));
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("p\n");
    assert!(terminal.until("[?] ").contains("its parts belong together"));
    terminal.answer("y\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("new.md"), "one\ntwo\n");
}

/// Two that touch one note: what the first did is not what the second was shown on.
#[test]
fn of_all_those_that_another_overtook_are_asked_about_in_order() {
    let env = Env::ada();
    for fact in ["tea: green", "pet: cat", "job: vet"] {
        propose(&env, "desk", &json!([{"action": "append_file", "path": "user.md", "content": format!("- {fact}")}]));
    }
    let mut terminal = Terminal::start(env.command(&["approve", "--all"]));
    terminal.until("approve all 3? [y/N] ");
    terminal.answer("y\n");
    let second = terminal.until("[?] ");
    assert!(second.contains("proposal 1 is approved"), "{second}");
    assert!(second.contains("proposal 1 changed this note; here is proposal 2 as it is now"), "{second}");
    assert!(second.contains("+- pet: cat") && !second.contains("+- job: vet"), "{second}");
    terminal.answer("y\n");
    let third = terminal.until("[?] ");
    assert!(third.contains("here is proposal 3 as it is now") && third.contains("+- job: vet"), "{third}");
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(env.read("user.md").ends_with("- tea: green\n- pet: cat\n- job: vet\n"), "{}", env.read("user.md"));
    assert_eq!(super::ids(&env), [0; 0]);
}

/// One that cannot be done after another is shown with why; the rest of the walk goes on.
#[test]
fn of_all_one_that_cannot_be_done_any_more_ends_nothing() {
    let env = Env::ada();
    for path in ["a.md", "a.md", "b.md"] {
        propose(&env, "desk", &json!([create(path, "text\n")]));
    }
    let mut terminal = Terminal::start(env.command(&["approve", "--all"]));
    terminal.until("approve all 3? [y/N] ");
    terminal.answer("y\n");
    let again = terminal.until("[?] ");
    assert!(again.contains("proposal 3 is approved") && again.contains("it cannot be done now"), "{again}");
    terminal.answer("n\n");
    assert_eq!(terminal.end().0, 0);
    assert!(env.at("b.md").exists());
    assert_eq!(super::ids(&env), [0; 0]);
}

#[test]
fn a_part_may_need_one_that_is_not_directly_before_it() {
    let env = Env::ada();
    let append = json!({"action": "append_file", "path": "a.md", "content": "two"});
    propose(&env, "desk", &json!([create("a.md", "one\n"), create("b.md", "b\n"), append]));
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("p\n");
    let part = terminal.until("take this part? [y/N] ");
    assert!(
        part.contains("part 1 of 2") && part.contains("a.md  new note, 2 lines") && !part.contains("b.md"),
        "{part}"
    );
    terminal.answer("y\n");
    assert!(terminal.until("take this part? [y/N] ").contains("b.md  new note"));
    terminal.answer("n\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("a.md"), "one\ntwo\n");
    assert!(!env.at("b.md").exists());
}

#[test]
fn nothing_is_decided_where_no_rule_can_be_made_for_one() {
    let env = Env::ada();
    super::asked(&env, &json!([super::personal("user.md")]));
    env.ask(&["rules", "add", "ask", "--path", "entities/**"]).exits(0);
    super::asked(&env, &json!([{"action": "append_file", "path": "entities/acme.md", "content": "- size: 9"}]));
    let (code, said) = Terminal::start(env.command(&["approve", "--always", "--all"])).end();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there can be no rule for proposal 2: rule 1 asks about this"), "{said}");
    assert!(!said.contains("[y/N]"), "{said}");
    assert_eq!(super::ids(&env), [1, 2]);
}

#[test]
fn what_cannot_be_read_is_told_as_pending_tells_it() {
    let env = waiting();
    std::fs::write(folder(&env).join("1.json"), "{").unwrap();
    let listed = env.run(&["pending"], "");
    assert_eq!(listed.code, 7, "{listed:?}");
    let (code, said) = Terminal::start(env.command(&["approve"])).end();
    assert_eq!((code, said.replace("\r\n", "\n")), (7, listed.stderr));
}

#[test]
fn one_that_is_named_twice_is_asked_about_once() {
    let env = waiting();
    let mut terminal = Terminal::start(env.command(&["approve", "1", "1"]));
    terminal.until("[?] ");
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
}

#[test]
fn quit_is_always_a_word_and_an_edit_needs_an_editor() {
    let env = waiting();
    let mut terminal = approving(&env);
    assert!(terminal.until("[?] ").contains("[q]uit"));
    terminal.answer("e\n");
    let again = terminal.until("[?] ");
    assert!(again.contains("set EDITOR, such as `export EDITOR=nano`"), "{again}");
    terminal.answer("q\n");
    let (code, said) = terminal.end();
    assert!(code == 0 && said.contains("it is still waiting; `memdir reject 1` drops it"), "{said}");
    assert_eq!(super::ids(&env), [1]);
}

/// A text that nobody has approved stays in no draft, whatever the editor does.
#[test]
fn an_edit_that_fails_leaves_nothing_and_asks_again() {
    for editor in ["sh -c 'cp $0 $0~; echo more >> $0; exit 1'", "sh -c 'mv $0 $0~'", "sh -c 'cp $0 $0~'"] {
        let env = waiting().set("EDITOR", editor).set("PATH", "/usr/bin:/bin");
        let mut terminal = approving(&env);
        terminal.until("[?] ");
        terminal.answer("e\n");
        let again = terminal.until("[?] ");
        assert!(!again.contains("your text is in"), "{editor}: {again}");
        terminal.answer("n\n");
        let (code, said) = terminal.end();
        assert!(code == 0 && said.contains("gone from the inbox"), "{editor}: {said}");
        assert_eq!(super::holding(&env, super::WORD), [""; 0], "{editor}");
    }
}

/// What the person typed is shown where it cannot be kept: the note was changed in the meantime.
#[test]
fn a_text_that_meets_another_edit_is_shown() {
    let env = waiting();
    let note = env.at("user.md");
    let editor = format!("sh -c 'echo mine is this >> $0; echo outside >> {}'", note.display());
    let env = env.set("EDITOR", &editor).set("PATH", "/usr/bin:/bin");
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("e\n");
    let again = terminal.until("[?] ");
    assert!(again.contains("your text was not kept; this is it:") && again.contains("mine is this"), "{again}");
    terminal.answer("n\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(env.read("user.md").ends_with("outside\n") && !env.read("user.md").contains("mine"));
    assert_eq!(super::holding(&env, super::WORD), [""; 0]);
}

/// Who edits a proposal has decided: nothing waits for them a second time.
#[test]
fn the_persons_own_text_does_not_wait_for_the_person() {
    let env = Env::ada().settings("[permission]\ncli = \"all\"\n");
    let env = env.set("EDITOR", "sed -i s/quetzalcoatl/ada/").set("PATH", "/usr/bin:/bin");
    super::asked(&env, &json!([super::personal("user.md")]));
    let mut terminal = approving(&env);
    terminal.until("[?] ");
    terminal.answer("e\n");
    let (code, said) = terminal.end();
    assert!(code == 0 && said.contains("your text is kept instead of proposal 1"), "{said}");
    assert!(env.read("user.md").ends_with("- email: ada@example.com\n"));
    assert_eq!(super::ids(&env), [0; 0]);
}

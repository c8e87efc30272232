//! Approving on a terminal, which a person has and a pipe is not.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

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
    let shown = terminal.until("approve this? [y/N]");
    assert!(shown.contains(FACT) && shown.contains("personal: an email address"), "{shown}");
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("proposal 1 is approved: +1 line in user.md"), "{said}");
    assert!(env.read("user.md").ends_with(&format!("{FACT}\n")));
}

#[test]
fn anything_else_is_no_and_it_waits_on() {
    for answer in ["n\n", "\n", "yess\n", "\u{4}"] {
        let env = waiting();
        let mut terminal = approving(&env);
        terminal.until("approve this? [y/N]");
        terminal.answer(answer);
        let (code, said) = terminal.end();
        assert_eq!(code, 0, "{answer:?}: {said}");
        assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
        assert_eq!(files(&folder(&env)).len(), 1);
    }
}

#[test]
fn a_note_that_changes_while_the_question_stands_is_asked_about_again() {
    let env = waiting();
    let mut terminal = approving(&env);
    terminal.until("approve this? [y/N]");
    env.write("user.md", "# Ada\n\n- city: Paris\n");
    terminal.answer("y\n");
    let again = terminal.until("approve this? [y/N]");
    assert!(again.contains("look again") && again.contains("- city: Paris"), "{again}");
    terminal.answer("y\n");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(env.read("user.md"), format!("# Ada\n\n- city: Paris\n{FACT}\n"));
}

#[test]
fn what_is_decided_while_the_question_stands_is_said_to_be() {
    let env = waiting();
    let mut terminal = approving(&env);
    terminal.until("approve this? [y/N]");
    assert_eq!(env.ask(&["reject", "1"]).code, 0);
    terminal.answer("y\n");
    let (code, said) = terminal.end();
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("proposal 1 is decided already"), "{said}");
    assert_eq!(env.read("user.md"), "# Ada\n\n- city: London\n");
}

#[test]
fn nothing_in_a_proposal_commands_the_terminal() {
    let env = Env::ada();
    let text = "- email: a@example.com \u{1b}]0;owned\u{7} \u{202e}";
    super::asked(&env, &serde_json::json!([{"action": "append_file", "path": "user.md", "content": text}]));
    let mut terminal = approving(&env);
    let shown = terminal.until("approve this? [y/N]");
    assert!(!shown.contains("\u{1b}]0") && !shown.contains('\u{202e}'), "{shown:?}");
    terminal.answer("n\n");
    terminal.end();
}

//! A conversation on a terminal of its own, with the editor that a person has.
//!
//! The test starts this test binary once more, for [`held_on_this_terminal`] alone, and is the person at the other end.
//! `scripts/capture-chat` starts it in the same way.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode as Bits, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::*;

/// A model whose turns stand in a file, with a line of `---` between them. One that begins with `!`
/// is begun and never ends. What it is asked is written into another.
fn written(turns: &str, mut asked: File) -> Scripted {
    let mut turns: VecDeque<String> = turns.split("\n---\n").map(|turn| turn.trim().to_owned()).collect();
    Scripted::by(card("test-model", Place::Process), move |request, hear, stop| {
        writeln!(asked, "{:?}", request.messages.last().unwrap().text).unwrap();
        let text = turns.pop_front().unwrap_or_default();
        if let Some(begun) = text.strip_prefix('!') {
            hear(Heard::Text(begun));
            while !stop.is_cancelled() {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            return Err(ModelError::Cancelled);
        }
        text.split_inclusive(' ').for_each(|piece| hear(Heard::Text(piece)));
        Ok(Answer { input_tokens: 900, output_tokens: 40, ..turn(&text) })
    })
}

#[test]
#[ignore = "is run by the test below, on a terminal of its own"]
fn held_on_this_terminal() {
    let of = |name: &str| PathBuf::from(std::env::var_os(name).unwrap());
    let folder = of("CHAT_FOLDER");
    let turns = std::fs::read_to_string(of("CHAT_TURNS")).unwrap();
    let model = written(&turns, File::create(folder.join("asked")).unwrap());
    let engine = engine(&of("CHAT_MEMORY"));
    let config = Config::default();
    let hooks = Hooks {
        config: &config,
        open_model: &|_| Err(Failure::new(Code::NotFound, "there is no other model")),
        add_rule: &|_| Ok(1),
        session: &|_| Ok(session()),
        sessions: &|| Ok(Vec::new()),
    };
    let screen = Screen::standard();
    let editor = Editor::new(typed_before(&engine), screen.look().has_colours);
    let talker = Talker::new(screen, Box::new(editor), hooks, false);
    let agent = Agent::new(&engine, Box::new(model), Prompts::default(), settings(Mode::Ask), session()).kept();
    assert_eq!(run_with(&engine, agent, Mode::Ask, talker, Interrupts::listen(None).unwrap()).unwrap(), 0);
}

/// The person's end of a terminal.
struct Person {
    end: File,
    seen: String,
    child: Child,
    /// Told when all is over; what hangs until then is killed.
    over: std::sync::mpsc::Sender<()>,
}

/// How long a conversation may take before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Person {
    fn start(mut command: Command) -> Self {
        let end = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&end).unwrap();
        unlockpt(&end).unwrap();
        let name = ptsname(&end, Vec::new()).unwrap();
        let open = || rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Bits::empty()).unwrap();
        let other = open();
        tcsetwinsize(&other, Winsize { ws_row: 50, ws_col: 150, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        command.stdin(Stdio::from(other)).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let child = command.spawn().unwrap();
        // The other end is closed here with the command, so that its end is seen.
        drop(command);
        let (over, waits) = std::sync::mpsc::channel();
        let id = Pid::from_child(&child);
        std::thread::spawn(move || {
            if waits.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process(id, Signal::KILL);
            }
        });
        Self { end: File::from(end), seen: String::new(), child, over }
    }

    /// Reads until these words are shown, and gives what was shown up to them. Answers where the cursor is, as a terminal does.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        loop {
            if let Some(at) = self.seen.find(words) {
                let rest = self.seen.split_off(at + words.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let mut piece = [0; 4096];
            let read = self.end.read(&mut piece).unwrap_or(0);
            assert!(read > 0, "it ended before it said {words:?}: {:?}", self.seen);
            let piece = String::from_utf8_lossy(&piece[..read]).into_owned();
            (0..piece.matches("\u{1b}[6n").count()).for_each(|_| self.types("\u{1b}[1;1R"));
            self.seen.push_str(&piece);
        }
    }

    fn types(&mut self, keys: &str) {
        self.end.write_all(keys.as_bytes()).unwrap();
    }

    /// Ends the conversation, and sees that it ended well.
    #[track_caller]
    fn leaves(mut self) {
        self.types("\u{4}");
        self.until("test result: ok");
        assert!(self.child.wait().unwrap().success());
        self.over.send(()).unwrap();
    }
}

const TURNS: &str = r#"<think>Easy.</think>
<reply>Good morning to you. It is a fine day.</reply>
---
<actions>[{"action":"append_file","path":"user.md","content":"- email: ada@example.com"}]</actions>
---
<reply>I keep it now.</reply>
---
!<reply>A long story begins here, my friend. It never
---
<reply>I listen again.</reply>"#;

#[test]
fn a_person_talks_at_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (memory, turns) = (folder.path().join("memory"), folder.path().join("turns"));
    std::fs::create_dir(&memory).unwrap();
    std::fs::write(memory.join("user.md"), USER).unwrap();
    std::fs::write(&turns, TURNS).unwrap();
    let begin = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["chat::tests::terminal::held_on_this_terminal", "--exact", "--ignored", "--nocapture"]);
        command.env_clear().env("TERM", "xterm-256color").env("HOME", folder.path());
        command.env("CHAT_FOLDER", folder.path()).env("CHAT_MEMORY", &memory).env("CHAT_TURNS", &turns);
        Person::start(command)
    };
    let mut person = begin();

    let greeting = person.until("›");
    assert!(greeting.contains("test-model · stays on this machine · session cafe"), "{greeting:?}");
    person.types("Good morning\r");
    let reply = person.until("It is a fine day.");
    assert!(reply.contains("thinking …"), "{reply:?}");

    // Completed, hinted at, and cleared by Ctrl-C.
    person.until("›");
    person.types("/rem\t");
    person.until("remember");
    person.until("TEXT");
    person.types("\u{3}");
    person.until("›");

    // Pasted lines are one message; the question is answered by a letter.
    person.types("\u{1b}[200~My address is\nada@example.com\u{1b}[201~\r");
    let shown = person.until("[l]ater");
    assert!(shown.contains("- email: ada@example.com"), "{shown:?}");
    person.types("y\r");
    person.until("I keep it now.");
    person.until("+1 line in user.md");
    person.until("›");

    // Ctrl-C stops an answer, by the signal that a terminal sends.
    person.types("Tell me a story\r");
    person.until("A long story begins here, my friend.");
    kill_process(Pid::from_child(&person.child), Signal::INT).unwrap();
    person.until("stopped; what was done before is done");
    person.until("›");
    person.types("Hello?\r");
    person.until("I listen again.");
    person.until("›");
    person.leaves();
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.contains(r"<message>\nMy address is\nada@example.com\n</message>"), "{asked}");

    // The next time its messages are called back, by the arrow that points up.
    let mut person = begin();
    person.until("›");
    person.types("\u{1b}[A\u{1b}[A\u{1b}[A");
    person.until("ada@example.com");
    person.types("\u{3}");
    person.until("›");
    person.leaves();
    assert_eq!(
        typed_before(&engine(&memory)),
        ["Good morning", "My address is\nada@example.com", "Tell me a story", "Hello?"]
    );
}

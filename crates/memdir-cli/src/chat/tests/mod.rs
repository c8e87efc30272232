#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests play the person and the editor, who use paths"
)]

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

use super::screen::Look;
use super::*;
use crate::config::ModelFamily;
use memdir_agent::{Family, Prompts, Settings};
use memdir_engine::{InboxPlace, IndexPlace};
use memdir_model::script::{Scripted, card, turn};
use memdir_model::{Answer, Card, Heard, Request};
use memdir_plan::Limits;
use memdir_policy::Rules;
use memdir_tools::Toolbox;
use memdir_vault::{Durability, Options, Vault};

#[cfg(unix)]
mod terminal;
mod tools;

/// What a scripted model does for a turn.
#[derive(Clone, Debug)]
enum Does {
    /// Says this, in pieces of so many letters.
    Say(&'static str),
    /// Reads for a while, and says this.
    Read(&'static str),
    /// Begins to say this, and then the person presses Ctrl-C.
    Stopped(&'static str),
    Fail(ModelError),
}

/// A model that does what a test has written down.
fn scripted(card: Card, turns: Vec<Does>, interrupts: Interrupts) -> Scripted {
    let mut turns = VecDeque::from(turns);
    Scripted::by(card, move |_, hear, stop| {
        let text = match turns.pop_front().unwrap_or(Does::Say("<reply>I have no more to say.</reply>")) {
            Does::Fail(error) => return Err(error),
            Does::Say(text) => text,
            Does::Read(text) => {
                (0..3).for_each(|done| hear(Heard::Reading { done: done * 100, all: 200 }));
                text
            }
            Does::Stopped(text) => {
                hear(Heard::Text(text));
                interrupts.interrupt();
                assert!(stop.is_cancelled());
                return Err(ModelError::Cancelled);
            }
        };
        let letters: Vec<char> = text.chars().collect();
        letters.chunks(5).for_each(|piece| hear(Heard::Text(&piece.iter().collect::<String>())));
        Ok(Answer { input_tokens: 100, output_tokens: 10, ..turn(text) })
    })
}

/// What a test types.
struct Typing {
    lines: VecDeque<Typed>,
    is_attended: bool,
    /// What was shown before each line.
    prompts: Arc<Mutex<Vec<String>>>,
}

impl Typing {
    fn next(&mut self, prompt: &str) -> Typed {
        self.prompts.lock().unwrap().push(prompt.to_owned());
        self.lines.pop_front().unwrap_or(Typed::End)
    }
}

impl Lines for Typing {
    fn message(&mut self, status: &str) -> Typed {
        self.next(status)
    }

    fn answer(&mut self, question: &str) -> Typed {
        self.next(question)
    }

    fn is_attended(&self) -> bool {
        self.is_attended
    }
}

/// Something that is written to and looked at later.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn engine(root: &Path) -> Engine {
    let root = root.canonicalize().unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    let options =
        Options { lock_timeout: Duration::from_secs(1), durability: Durability::Atomic, ..Options::default() };
    let settings = memdir_engine::Settings {
        limits: Limits::default(),
        batch_actions: 100,
        batch_time: Duration::from_secs(30),
        rules: Rules::default(),
        index: IndexPlace::Nowhere,
        inbox: InboxPlace::Disk,
        past_status: Vec::new(),
        archive: Vec::new(),
        pinned: Vec::new(),
        keep_proposals: Duration::from_secs(7 * 24 * 60 * 60),
        clock: memdir_host::now,
    };
    Engine::new(Vault::open(dir, root, options).unwrap(), settings)
}

/// A conversation on a memory of its own.
struct Talk {
    memory: TempDir,
    turns: Vec<Does>,
    look: Look,
    is_attended: bool,
    shows_thoughts: bool,
    mode: Mode,
    config: Config,
    toolbox: Option<Arc<dyn Toolbox>>,
}

/// What was seen of it.
struct Seen {
    out: String,
    notes: String,
    prompts: Vec<String>,
    requests: Vec<Request>,
    rules: Vec<Rule>,
    code: u8,
}

const USER: &str = "# Ada\n\n- city: London\n\n## Pets\n\n- cat: Tom\n";

fn talk(turns: &[&'static str]) -> Talk {
    let memory = tempfile::tempdir().unwrap();
    std::fs::write(memory.path().join("user.md"), USER).unwrap();
    Talk {
        memory,
        turns: turns.iter().map(|text| Does::Say(text)).collect(),
        look: Look::default(),
        is_attended: true,
        shows_thoughts: false,
        mode: Mode::Ask,
        config: Config::default(),
        toolbox: None,
    }
}

impl Talk {
    /// Types these lines.
    fn with(&self, lines: &[&str]) -> Seen {
        self.typing(lines.iter().map(|line| Typed::Text((*line).to_owned())).collect())
    }

    fn typing(&self, lines: Vec<Typed>) -> Seen {
        let (out, notes) = (Paper::default(), Paper::default());
        let prompts = Arc::<Mutex<Vec<String>>>::default();
        let rules = Mutex::new(Vec::<Rule>::new());
        let interrupts = Interrupts::default();
        let engine = engine(self.memory.path());
        let config = self.config.clone();
        let hooks = Hooks {
            config: &config,
            open_model: &|name| match name {
                "other" => Ok(Box::new(scripted(
                    card("other", Place::Host("api.example.com".to_owned())),
                    vec![Does::Say("<reply>I am the other one.</reply>")],
                    Interrupts::default(),
                ))),
                _ => Err(Failure::new(Code::NotFound, format!("there is no model `{name}`"))),
            },
            add_rule: &|rule| {
                let mut rules = rules.lock().unwrap();
                rules.push(rule.clone());
                Ok(rules.len())
            },
            session: &|id| match id {
                None => Ok(Session::new("beef".to_owned())),
                Some(id) => Err(Failure::new(Code::NotFound, format!("there is no conversation `{id}`"))),
            },
            sessions: &|| Ok(vec!["cafe  yesterday".to_owned()]),
        };
        let model = scripted(card("test-model", Place::Process), self.turns.clone(), interrupts.clone());
        let asked = Arc::clone(&model.asked);
        let typing = Typing { lines: lines.into(), is_attended: self.is_attended, prompts: Arc::clone(&prompts) };
        let screen = Screen::new(Box::new(out.clone()), Box::new(notes.clone()), self.look);
        let talker = Talker::new(screen, Box::new(typing), hooks, self.shows_thoughts);
        let agent = Agent::new(&engine, Box::new(model), Prompts::default(), settings(self.mode), session()).kept();
        let agent = match &self.toolbox {
            Some(toolbox) => agent.with_tools(Arc::clone(toolbox)),
            None => agent,
        };
        let code = run_with(&engine, agent, self.mode, talker, interrupts).unwrap();
        Seen {
            out: out.text(),
            notes: notes.text(),
            prompts: prompts.lock().unwrap().clone(),
            requests: asked.lock().unwrap().clone(),
            rules: rules.into_inner().unwrap(),
            code,
        }
    }

    fn note(&self) -> String {
        std::fs::read_to_string(self.memory.path().join("user.md")).unwrap()
    }
}

fn session() -> Session {
    Session::new("cafe".to_owned())
}

fn settings(mode: Mode) -> Settings {
    Settings { mode, ..talk::settings_of(&Config::default(), Family::Capable, "chat") }
}

const CITY: &str = r#"<think>She moved.</think><actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Paris"}]</actions>"#;
const MAIL: &str =
    r#"<actions>[{"action":"append_file","path":"user.md","content":"- email: ada@example.com"}]</actions>"#;
const DONE: &str = "<reply>It is as you wish.</reply>";

#[test]
fn a_message_is_answered_and_what_it_changed_is_said() {
    let talk = talk(&[CITY, "<think>Done.</think><reply>You live in Paris now. Is it nice there?</reply>"]);
    let seen = talk.with(&["I moved to Paris.", "/quit", "never said"]);
    assert_eq!(seen.out, "You live in Paris now. Is it nice there?\n");
    assert_eq!(seen.notes, "/help lists the commands, Ctrl-D ends\n1 line in user.md · undo: memdir undo\n");
    assert_eq!(talk.note(), USER.replace("London", "Paris"));
    let status = ["test-model · stays on this machine · session cafe", "0 tokens", "220 tokens", "actions: all"];
    let [first, last] = seen.prompts.as_slice() else { panic!("{:?}", seen.prompts) };
    assert!(first.starts_with(status[0]) && first.contains(status[1]) && first.contains(status[3]), "{first}");
    assert!(last.contains(status[2]), "{last}");
    assert_eq!(seen.code, 0);
}

#[test]
fn a_terminal_sees_what_goes_on_on_a_line_that_goes_away() {
    let talk = Talk {
        look: Look { is_terminal: true, has_colours: false },
        turns: vec![Does::Read("<think>Hm.</think><reply>Good morning to you, Ada.</reply>")],
        ..talk(&[])
    };
    let seen = talk.with(&["Hello"]);
    assert_eq!(seen.out, "Good morning to you, Ada.\n");
    let last = seen.notes.rsplit_once("reading: 200 of 200 tokens").unwrap().1;
    assert!(last.contains("thinking …") && last.ends_with("\r\u{1b}[2Knothing was stored\n"), "{:?}", seen.notes);
    let plain = Talk { turns: talk.turns.clone(), ..super::tests::talk(&[]) }.with(&["Hello"]);
    assert!(!plain.notes.contains('\u{1b}') && !plain.notes.contains("reading"), "{}", plain.notes);
}

#[test]
fn thoughts_are_shown_to_who_asks_for_them() {
    let talk =
        Talk { shows_thoughts: true, look: Look { is_terminal: true, has_colours: true }, ..talk(&[CITY, DONE]) };
    let seen = talk.with(&["I moved to Paris."]);
    assert!(seen.notes.contains("\u{1b}[2mShe\u{1b}[0m") && seen.notes.contains("d.\u{1b}[0m\n"), "{:?}", seen.notes);
    assert!(seen.notes.contains("· set_fact user.md: ok"), "{:?}", seen.notes);
}

/// What is typed at a question, what then stands in the note, and how often the person was asked.
#[track_caller]
fn check_question(answers: &[&str], is_kept: bool, questions: usize, told: &str) -> Seen {
    let talk = talk(&[MAIL, DONE]);
    let lines: Vec<&str> = ["My address is ada@example.com."].iter().chain(answers).copied().collect();
    let seen = talk.with(&lines);
    let asked = seen.prompts.iter().filter(|prompt| prompt.starts_with("[y]es")).count();
    assert_eq!((talk.note().contains("ada@example.com"), asked), (is_kept, questions), "{answers:?} {}", seen.notes);
    assert!(seen.out.contains("+- email: ada@example.com"), "the change is shown: {}", seen.out);
    assert!(seen.notes.contains("proposal 1: personal: an email address"), "{}", seen.notes);
    let last = seen.requests.last().unwrap();
    assert!(last.messages.iter().any(|message| message.text.contains(told)), "{told}: {last:?}");
    seen
}

#[test]
fn a_person_is_shown_the_change_and_decides() {
    check_question(&["y"], true, 1, r#""ok":true"#);
    check_question(&["n"], false, 1, "does not want it");
    check_question(&["e", "Keep only my city."], false, 1, "the person says: Keep only my city.");
    check_question(&["e", " ", "yes"], true, 2, r#""ok":true"#);
    check_question(&["what?", "yess", "later"], false, 3, "awaiting_approval");
    let later = check_question(&["l"], false, 1, "awaiting_approval");
    assert!(later.notes.contains("proposal 1 waits for you: /pending"), "{}", later.notes);
    assert!(later.prompts.last().unwrap().contains("1 waiting"));
    let nothing = check_question(&["?", "?", "?", "?", "?"], false, 5, "awaiting_approval");
    assert!(nothing.rules.is_empty());
}

#[test]
fn what_was_done_at_once_and_what_was_asked_about_both_have_a_receipt() {
    let both = r#"<actions>[{"action":"set_fact","path":"user.md","key":"city","value":"Paris"},
        {"action":"append_file","path":"user.md","content":"- email: ada@example.com"}]</actions>"#;
    let seen = talk(&[both, DONE]).with(&["I moved to Paris, ada@example.com.", "y"]);
    assert!(
        seen.notes.ends_with("1 line in user.md · undo: memdir undo\n+1 line in user.md · undo: memdir undo\n"),
        "{}",
        seen.notes
    );
}

#[test]
fn always_is_not_asked_again() {
    let talk = talk(&[MAIL, DONE, MAIL, DONE]);
    let seen = talk.with(&["Keep ada@example.com.", "a", "Once more."]);
    assert_eq!(talk.note().matches("ada@example.com").count(), 2, "{}", seen.notes);
    assert_eq!(seen.prompts.iter().filter(|prompt| prompt.starts_with("[y]es")).count(), 1);
    assert_eq!((seen.rules.len(), seen.rules[0].path.as_deref()), (1, Some("user.md")));
    assert!(seen.notes.contains("rule 1 answers the same from now on") && seen.notes.contains("you have said: always"));
}

#[test]
fn what_waits_is_decided_one_by_one() {
    let talk = talk(&[MAIL, DONE]);
    let seen = talk.with(&["Keep ada@example.com.", "l", "/pending", "y", "/pending"]);
    assert!(talk.note().contains("ada@example.com"));
    assert!(seen.notes.ends_with("+1 line in user.md · undo: memdir undo\nnothing waits\n"), "{}", seen.notes);
    let dropped = super::tests::talk(&[MAIL, DONE]).with(&["Keep ada@example.com.", "l", "/pending", "n"]);
    assert!(dropped.notes.ends_with("proposal 1 is rejected and gone from the inbox\n"), "{}", dropped.notes);
}

#[test]
fn nobody_in_a_pipe_is_asked() {
    let talk = Talk { is_attended: false, ..talk(&[MAIL, DONE]) };
    let seen = talk.with(&["Keep ada@example.com.", "y", "/pending", "y"]);
    assert_eq!(talk.note(), USER);
    assert!(seen.prompts.iter().all(|prompt| !prompt.starts_with('[')), "{:?}", seen.prompts);
    assert!(seen.notes.contains("proposal 1 waits for you"), "{}", seen.notes);
}

#[test]
fn ctrl_c_stops_an_answer_and_what_was_done_stays() {
    let turns = vec![
        Does::Say(CITY),
        Does::Stopped("<reply>I begin to say something long. And then I"),
        Does::Say("<reply>I listen to you again.</reply>"),
    ];
    let talk = Talk { turns, ..talk(&[]) };
    let lines = vec![
        Typed::Stopped,
        Typed::Text("I moved to Paris.".to_owned()),
        Typed::Stopped,
        Typed::Text("Go on.".to_owned()),
        Typed::End,
    ];
    let seen = talk.typing(lines);
    assert_eq!(seen.out, "I begin to say something long.\nI listen to you again.\n");
    assert!(
        seen.notes.contains("1 line in user.md") && seen.notes.contains("stopped; what was done"),
        "{}",
        seen.notes
    );
    assert!(talk.note().contains("Paris"));
    let turns = vec![Does::Stopped("<reply>I"), Does::Say(DONE)];
    let piped = Talk { is_attended: false, turns, ..super::tests::talk(&[]) }.with(&["One.", "Two."]);
    assert_eq!((piped.out.as_str(), piped.code), ("", 4), "a pipe ends");
}

#[test]
fn ctrl_c_at_a_question_stops_too_and_the_proposal_waits() {
    let talk = talk(&[MAIL, DONE]);
    let seen = talk.typing(vec![Typed::Text("Keep ada@example.com.".to_owned()), Typed::Stopped]);
    assert_eq!((talk.note().as_str(), seen.requests.len()), (USER, 1));
    assert!(seen.notes.contains("stopped") && seen.prompts.last().unwrap().contains("1 waiting"), "{}", seen.notes);
}

#[test]
fn a_model_that_fails_is_told_of_and_the_conversation_goes_on() {
    let turns = vec![Does::Fail(ModelError::Unreachable { place: "x".into(), why: "refused".into() }), Does::Say(DONE)];
    let talk = Talk { turns, is_attended: false, ..talk(&[]) };
    let seen = talk.with(&["One.", "Two."]);
    assert_eq!((seen.out.as_str(), seen.code), ("It is as you wish.\n", 6));
    assert!(seen.notes.contains("memdir: no model answers at `x`: refused"), "{}", seen.notes);
}

#[test]
fn a_day_has_so_many_tokens() {
    let mut talk = Talk { is_attended: false, ..talk(&[DONE, DONE]) };
    talk.config.model.tokens_a_day = 100;
    let seen = talk.with(&["One.", "Two."]);
    assert_eq!((seen.out.as_str(), seen.requests.len()), ("", 0), "a prompt alone has more");
    assert!(seen.notes.contains("note: too few tokens are left for today"), "{}", seen.notes);
    talk.config.model.tokens_a_day = 100_000;
    assert_eq!(talk.with(&["Three."]).requests.len(), 1);
}

#[test]
fn another_model_is_talked_to_as_the_settings_say() {
    let mut talk = talk(&[DONE]);
    talk.config.model.family = ModelFamily::MemAgent;
    talk.with(&["Hello", "/model other", "Hello"]);
    let session = std::fs::read_to_string(talk.memory.path().join(".memdir/local/sessions/cafe.jsonl")).unwrap();
    let lines: Vec<&str> = session.lines().filter(|line| line.contains(r#""kind":"model""#)).collect();
    assert!(matches!(lines.as_slice(), [line] if line.contains("mem-agent") && line.contains("other")), "{session}");
}

#[test]
fn nothing_that_is_said_commands_the_terminal() {
    let reply =
        "<think>\u{1b}]0;thought\u{7}</think><reply>\u{1b}[2JOwned \u{202e}by a reply, it is.\r\nAnd so on.</reply>";
    let look = Look { is_terminal: true, has_colours: true };
    let talk = Talk { look, shows_thoughts: true, ..talk(&[reply]) };
    std::fs::write(talk.memory.path().join("user.md"), "# \u{1b}]0;note\u{7}\n").unwrap();
    let seen = talk.with(&["Hello", "/why", "/filter \u{1b}]0;typed\u{7}"]);
    for text in [&seen.out, &seen.notes] {
        assert!(!text.contains("\u{1b}]") && !text.contains("[2JO\u{1b}") && !text.contains('\u{202e}'), "{text:?}");
        assert!(!text.contains('\u{7}') && !text.contains("\u{1b}[2J"), "{text:?}");
    }
}

/// What a command shows after a change and a reply.
#[track_caller]
fn check_command(line: &str, out: &[&str], notes: &[&str]) {
    let talk = talk(&[CITY, "<reply>You live in Paris [user#Pets]. See [user] and [gone#X] too.</reply>"]);
    let seen = talk.with(&["I moved to Paris.", line]);
    for words in out {
        assert!(seen.out.contains(words), "{line}: {words:?} in {}", seen.out);
    }
    for words in notes {
        assert!(seen.notes.contains(words), "{line}: {words:?} in {}", seen.notes);
    }
}

#[test]
fn every_command_does_what_its_help_says() {
    check_command("/undo", &["-- city: Paris\n+- city: London"], &["change 1 is undone · take that back: /undo 2"]);
    check_command("/undo 7", &[], &["memdir: "]);
    check_command("/undo x", &[], &["memdir: `x` is no number of a change\nhint: `memdir log`"]);
    check_command("/diff", &["+- city: Paris"], &["change 1"]);
    check_command("/search Tom", &["user.md:5  Pets", "    - cat: Tom"], &[]);
    check_command("/search Nothinglikeit", &[], &["nothing found"]);
    check_command("/model", &["test-model · stays on this machine"], &[]);
    check_command("/model other", &["other · goes to api.example.com"], &[]);
    check_command("/model none", &[], &["memdir: there is no model `none`"]);
    check_command("/filter no phone numbers", &["1  no phone numbers"], &[]);
    check_command("/filter", &[], &["no filter"]);
    check_command("/permission", &["ask: "], &[]);
    check_command("/permission flag", &["flag: "], &[]);
    check_command("/permission never", &[], &["`never` is no mode of permission\nhint: say off, flag, ask or all"]);
    check_command("/actions read", &["the model has: read"], &[]);
    check_command("/actions off", &["off: the model has no actions"], &[]);
    check_command("/actions read_file, set_fact", &["the model has: read_file, set_fact"], &[]);
    check_command("/actions read_fil", &[], &["there is no action `read_fil`\nhint: did you mean `read_file`?"]);
    check_command("/session", &["session cafe"], &[]);
    check_command("/session list", &["cafe  yesterday"], &[]);
    check_command("/session new", &["session beef"], &[]);
    check_command("/session nope", &[], &["there is no conversation `nope`"]);
    check_command("/help", &["/remember TEXT", "/quit", "Ctrl-R"], &[]);
    check_command("/pending", &[], &["nothing waits"]);
    check_command("/remember", &[], &["what to remember is missing\nhint: say `/remember my sister is called Ida`"]);
    check_command("/forget", &[], &["what to forget is missing"]);
    check_command("/forget my cat", &["I have no more to say."], &["`memdir forget` erases it there too"]);
    check_command("/sesion", &[], &["there is no command `/sesion`\nhint: did you mean `/session`?"]);
    check_command(
        "/why",
        &["shown: user.md", "      1 | # Ada", "        | - city: London", "turn 1: set_fact user.md"],
        &[],
    );
    check_command("/why", &["[user#Pets]: user.md, from line 6", "      7 | - cat: Tom", "[user]: user.md"], &[]);
    check_command("/why", &[], &["[gone#X]: there is no such note"]);
}

#[test]
fn commands_of_every_row_are_there_and_wishes_go_to_the_model() {
    let talk = talk(&[DONE, DONE, DONE, "<reply>Another model would say so.</reply>"]);
    let lines = ["/why", "/remember my sister is Ida", "/forget my cat", "//etc is a folder", "/model other", "Hello"];
    let seen = talk.with(&lines);
    let said: Vec<&str> = seen
        .requests
        .iter()
        .filter_map(|request| request.messages.last())
        .map(|message| message.text.rsplit_once("<message>\n").unwrap().1.trim_end_matches("\n</message>"))
        .collect();
    assert_eq!(
        said,
        ["Remember this: my sister is Ida", "Forget this, and take it out of the notes: my cat", "/etc is a folder"]
    );
    assert!(seen.notes.contains("there is no reply yet"), "{}", seen.notes);
    assert!(seen.out.ends_with("I am the other one.\n"), "{}", seen.out);
    let mut names: Vec<&str> = commands::ROWS.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), commands::ROWS.len());
}

#[test]
fn switches_hold_for_what_the_model_is_asked() {
    let seen = talk(&[DONE, CITY, DONE]).with(&["/actions off", "Hello", "/actions read", "I moved."]);
    assert!(!seen.requests[0].messages.last().unwrap().text.contains("London"), "no notes are shown");
    let refused = &seen.requests.last().unwrap().messages.last().unwrap().text;
    assert!(refused.contains(r#""ok":false"#), "{refused}");
}

#[test]
fn a_stricter_mode_that_was_typed_holds_in_the_next_conversation_too() {
    let asked = |lines: &[&str]| {
        let talk = talk(&[CITY, DONE]);
        let seen = talk.with(lines);
        (seen.prompts.iter().filter(|prompt| prompt.starts_with("[y]es")).count(), talk.note() == USER, seen.out)
    };
    let (questions, is_same, out) = asked(&["/permission all", "/session new", "I moved to Paris.", "n"]);
    assert_eq!((questions, is_same), (1, true), "{out}");
    assert!(out.contains("session beef") && out.contains("permission: all"), "{out}");
    let looser = talk(&[MAIL, DONE]);
    let seen = looser.with(&["/permission off", "/session new", "Keep ada@example.com.", "n"]);
    assert_eq!(looser.note(), USER, "a looser one ends with its conversation: {}", seen.notes);
}

#[test]
fn conversations_are_listed_beside_one_that_cannot_be_read() {
    let talk = talk(&[DONE]);
    talk.with(&["Hello"]);
    let folder = talk.memory.path().join(".memdir/local/sessions");
    std::fs::File::create(folder.join("bad0.jsonl")).unwrap().set_len(memdir_vault::MOST_SESSION_BYTES + 1).unwrap();
    let mut lines = kept_sessions(&engine(talk.memory.path())).unwrap();
    lines.sort();
    let [bad, cafe] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(bad.starts_with("bad0  ") && bad.ends_with("  unknown"), "{bad}");
    assert!(cafe.starts_with("cafe  ") && !cafe.contains("unknown"), "{cafe}");
}

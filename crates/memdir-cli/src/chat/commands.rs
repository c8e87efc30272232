//! The commands of a conversation: one row each, from which help and completion are made too.

use super::Chat;
use super::lines::Typed;
use super::talker::{Talker, Word};
use super::why;
use crate::changes;
use crate::one;
use crate::review::{self, Asks};
use crate::stop::usage;
use memdir_agent::Actions;
use memdir_core::action::{Action, SearchFiles};
use memdir_core::catalog;
use memdir_core::report::{Failure, Hit, Value};
use memdir_engine::{Caller, ChangeError, Consent, Reviewed};
use memdir_policy::{Filter, Mode};

/// A command.
pub(super) struct Row {
    /// Its name without the slash.
    pub(super) name: &'static str,
    /// What may stand behind it.
    pub(super) usage: &'static str,
    /// The words of which one may stand there.
    pub(super) words: &'static [&'static str],
    pub(super) help: &'static str,
    run: fn(&mut Chat<'_>, &str) -> Result<Next, ChangeError>,
}

/// What comes after a command.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Next {
    /// The next thing that is typed.
    Go,
    /// This goes to the model.
    Say(String),
    Quit,
}

/// How many hits of a search are shown.
const HITS: u32 = 10;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "remember",
        usage: "TEXT",
        words: &[],
        help: "ask the model to keep this, in your words",
        run: remember,
    },
    Row {
        name: "forget",
        usage: "TEXT",
        words: &[],
        help: "ask the model to take this out of the notes; `memdir forget` outside erases it from the history too, for good",
        run: forget,
    },
    Row { name: "undo", usage: "[NUMBER]", words: &[], help: "undo the latest change, or that one", run: undo },
    Row {
        name: "why",
        usage: "",
        words: &[],
        help: "show the notes and lines behind the last reply, and where its [note#heading] lead",
        run: |chat, _| why::show(chat).map(|()| Next::Go),
    },
    Row {
        name: "review",
        usage: "",
        words: &[],
        help: "answer the questions worth most: what is disputed, not confirmed by you, or old for its kind",
        run: review,
    },
    Row { name: "pending", usage: "", words: &[], help: "show what waits for you, and decide it", run: pending },
    Row {
        name: "diff",
        usage: "[NUMBER]",
        words: &[],
        help: "show what the latest change changed, or that one",
        run: diff,
    },
    Row { name: "search", usage: "WORDS", words: &[], help: "search the notes without the model", run: search },
    Row {
        name: "model",
        usage: "[NAME]",
        words: &[],
        help: "say which model answers, or go on with another",
        run: model,
    },
    Row {
        name: "filter",
        usage: "[TEXT|off]",
        words: &["off"],
        help: "keep something from the model and out of its replies, in this session",
        run: filter,
    },
    Row {
        name: "permission",
        usage: "[off|flag|ask|all]",
        words: &["off", "flag", "ask", "all"],
        help: "say what becomes of personal facts: noted, kept when the model says you agreed, or asked about; all asks about every change",
        run: permission,
    },
    Row {
        name: "actions",
        usage: "[off|read|all|NAME…]",
        words: &["off", "read", "all"],
        help: "say which actions the model has: none and no notes, those that read, all, or these alone",
        run: actions,
    },
    Row {
        name: "tools",
        usage: "[on NAME|off NAME]",
        words: &["on", "off"],
        help: "say which servers' tools the model has, or switch those of a server on or off",
        run: |chat, text| super::tools::run(chat, text).map(|()| Next::Go),
    },
    Row {
        name: "session",
        usage: "[list|new|ID]",
        words: &["list", "new"],
        help: "say which conversation this is, list them, begin or go on with another",
        run: session,
    },
    Row { name: "help", usage: "", words: &[], help: "list the commands and keys", run: help },
    Row { name: "quit", usage: "", words: &[], help: "end, as Ctrl-D does", run: |_, _| Ok(Next::Quit) },
];

/// Runs a command, of which `line` is what stands behind the slash.
pub(super) fn run(chat: &mut Chat<'_>, line: &str) -> Result<Next, ChangeError> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match ROWS.iter().find(|row| row.name == name) {
        Some(row) => (row.run)(chat, rest.trim()),
        None => Err(unknown(name).into()),
    }
}

fn unknown(name: &str) -> Failure {
    let hint = match catalog::nearest(name, ROWS.iter().map(|row| row.name)) {
        Some(nearest) => format!("did you mean `/{nearest}`? what begins with `//` is a message"),
        None => "`/help` lists the commands; what begins with `//` is a message".to_owned(),
    };
    usage(format!("there is no command `/{}`", catalog::shorten(name)), hint)
}

fn wants(what: &str, example: &str) -> ChangeError {
    usage(format!("{what} is missing"), format!("say `{example}`")).into()
}

fn remember(_: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    if text.is_empty() {
        return Err(wants("what to remember", "/remember my sister is called Ida"));
    }
    Ok(Next::Say(format!("Remember this: {text}")))
}

fn forget(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    if text.is_empty() {
        return Err(wants("what to forget", "/forget my old address"));
    }
    chat.talker.screen.tell("what goes out of the notes stays in the history; `memdir forget` erases it there too");
    Ok(Next::Say(format!("Forget this, and take it out of the notes: {text}")))
}

/// The number of a change, where one is named.
fn batch(text: &str) -> Result<Option<u64>, Failure> {
    if text.is_empty() {
        return Ok(None);
    }
    let hint = "`memdir log` shows the numbers";
    text.parse().map(Some).map_err(|_| usage(format!("`{}` is no number of a change", catalog::shorten(text)), hint))
}

fn undo(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    let change = chat.engine.propose_undo(batch(text)?)?;
    let undone = change.batch();
    if !change.passed_over().is_empty() {
        chat.talker.screen.tell(&changes::taken_back(change.passed_over()));
    }
    chat.talker.screen.diff(&change.plan().diff());
    let done = chat.engine.conclude_change(change, &chat.person())?;
    if let Some(batch) = done.batch {
        chat.talker.screen.tell(&format!("change {undone} is undone · take that back: /undo {batch}"));
    }
    chat.learn_notes();
    Ok(Next::Go)
}

fn diff(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    let (batch, _, diff) = chat.engine.diff(batch(text)?)?;
    chat.talker.screen.diff(&diff);
    chat.talker.screen.tell(&format!("change {batch}"));
    Ok(Next::Go)
}

fn pending(chat: &mut Chat<'_>, _: &str) -> Result<Next, ChangeError> {
    let pending = chat.engine.pending()?;
    for unreadable in &pending.unreadable {
        super::talker::fail(&mut chat.talker.screen, &unreadable.failure);
    }
    if pending.proposals.is_empty() {
        chat.talker.screen.tell("nothing waits");
    }
    for reviewed in &pending.proposals {
        chat.talker.show(reviewed);
        if chat.talker.lines.is_attended() && !decide(chat, reviewed)? {
            break;
        }
    }
    chat.talker.settle();
    chat.learn_notes();
    Ok(Next::Go)
}

fn review(chat: &mut Chat<'_>, _: &str) -> Result<Next, ChangeError> {
    if chat.talker.lines.is_attended() {
        let person = chat.person();
        review::ask_all(chat.engine, &person, &mut chat.talker)?;
        chat.learn_notes();
        return Ok(Next::Go);
    }
    let questions = chat.engine.review(chat.engine.now(), review::MOST)?;
    if questions.is_empty() {
        chat.talker.screen.tell(review::NOTHING);
    }
    for asked in &questions {
        chat.talker.screen.show(&format!("{}:{}  {}", asked.path, asked.line, asked.text));
        chat.talker.screen.tell(&asked.question);
    }
    Ok(Next::Go)
}

impl Asks for Talker<'_> {
    type Error = ChangeError;

    fn tell(&mut self, line: &str) -> Result<(), ChangeError> {
        self.screen.tell(line);
        Ok(())
    }

    fn ask(&mut self, question: &str) -> Result<Option<String>, ChangeError> {
        Ok(match self.lines.answer(question) {
            Typed::Text(typed) => Some(typed.trim().to_owned()),
            Typed::Stopped | Typed::End | Typed::Unreadable(_) => None,
        })
    }
}

/// Asks about one proposal that waits, and does what is said; says whether to go on with the next.
fn decide(chat: &mut Chat<'_>, reviewed: &Reviewed) -> Result<bool, ChangeError> {
    let id = reviewed.waiting.id;
    let (question, words) = match reviewed.trouble {
        Some(_) => ("[n]o, drop it [l]ater", &[Word::No, Word::Later][..]),
        None => ("[y]es [n]o [a]lways [l]ater", &[Word::Yes, Word::No, Word::Always, Word::Later][..]),
    };
    loop {
        match chat.talker.ask(question, words) {
            Some(Word::Always) if !chat.talker.allow(reviewed) => {}
            Some(Word::Yes | Word::Always) => {
                let done = chat.engine.approve(id, Consent::Shown(reviewed.waiting.digest), &chat.person())?;
                chat.talker.screen.tell(&done.receipt_for_owner());
                return Ok(true);
            }
            Some(Word::No) => {
                chat.engine.reject(id, &chat.person())?;
                chat.talker.screen.tell(&format!("proposal {id} is rejected and gone from the inbox"));
                return Ok(true);
            }
            Some(Word::Later | Word::Edit | Word::Conversation) => return Ok(true),
            None => return Ok(false),
        }
    }
}

fn search(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    if text.is_empty() {
        return Err(wants("what to look for", "/search Acme"));
    }
    let query = SearchFiles { limit: Some(HITS), ..SearchFiles::of(text) };
    let caller = Caller { read_only: true, ..chat.person() };
    let report = one::carry_out(chat.engine, caller, [Action::SearchFiles(query)]);
    if let Value::Search(found) = one::answer(report)? {
        for Hit { path, heading, lines: [line, _], snippet, .. } in &found.hits {
            let heading = heading.as_deref().map_or_else(String::new, |heading| format!("  {heading}"));
            chat.talker.screen.show(&format!("{path}:{line}{heading}"));
            snippet.lines().for_each(|text| chat.talker.screen.show(&format!("    {text}")));
        }
        let more = found.total.saturating_sub(found.hits.len());
        if found.hits.is_empty() {
            chat.talker.screen.tell("nothing found");
        } else if more > 0 {
            chat.talker.screen.tell(&format!("{more} more: memdir search"));
        }
    }
    Ok(Next::Go)
}

fn model(chat: &mut Chat<'_>, name: &str) -> Result<Next, ChangeError> {
    if !name.is_empty() {
        let model = (chat.talker.hooks.open_model)(name)?;
        chat.change_model(model);
    }
    let words = chat.model_words();
    chat.talker.screen.show(&words);
    Ok(Next::Go)
}

fn filter(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    let filters = &mut chat.agent.session_mut().switches.filters;
    match text {
        "" => {}
        "off" => filters.clear(),
        text => filters.push(text.to_owned()),
    }
    let filters = filters.clone();
    if filters.is_empty() {
        chat.talker.screen.tell("no filter: the model sees what it needs of the notes");
    }
    for (text, number) in filters.iter().zip(1..) {
        chat.talker.screen.show(&format!("{number}  {text}"));
        let filter = Filter::compile(text);
        for names in filter.names().lines() {
            chat.talker.screen.tell(&format!("   keeps back: {names}"));
        }
        for rest in filter.rest() {
            let fate = if filter.is_enforced() {
                "this part is only asked of the model"
            } else {
                "the model turns this into rules with the next message"
            };
            chat.talker.screen.warn(&format!("   {fate}: {rest}"));
        }
    }
    Ok(Next::Go)
}

fn permission(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    if !text.is_empty() {
        let mode = Mode::ALL.into_iter().find(|mode| mode.as_str() == text);
        let message = || format!("`{}` is no mode of permission", catalog::shorten(text));
        let mode = mode.ok_or_else(|| usage(message(), "say off, flag, ask or all"))?;
        chat.agent.session_mut().set_permission(mode);
    }
    let words = match chat.mode() {
        Mode::Off => "off: personal facts are kept, and noted",
        Mode::Flag => "flag: personal facts are kept when the model says that you agreed",
        Mode::Ask => "ask: personal facts are kept when you have seen the change and said yes",
        Mode::All => "all: nothing is kept before you have seen the change and said yes",
    };
    chat.talker.screen.show(words);
    Ok(Next::Go)
}

fn actions(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    let names: Vec<&str> = text.split([' ', ',']).filter(|name| !name.is_empty()).collect();
    let switches = &mut chat.agent.session_mut().switches;
    match names.as_slice() {
        [] => {}
        ["off"] => switches.actions = Actions::Off,
        ["read"] => (switches.actions, switches.only) = (Actions::Read, Default::default()),
        ["all"] => (switches.actions, switches.only) = (Actions::All, Default::default()),
        names => {
            if let Some(name) = names.iter().find(|name| catalog::row(name).is_none()) {
                let near = catalog::nearest(name, catalog::ROWS.iter().map(|row| row.name));
                let hint =
                    near.map_or("`memdir actions` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
                return Err(usage(format!("there is no action `{}`", catalog::shorten(name)), hint).into());
            }
            let only = names.iter().map(|name| (*name).to_owned()).collect();
            (switches.actions, switches.only) = (Actions::All, only);
        }
    }
    let words = match chat.agent.session().switches.actions {
        Actions::Off => "off: the model has no actions and sees no notes".to_owned(),
        _ => format!("the model has: {}", chat.actions_words()),
    };
    chat.talker.screen.show(&words);
    Ok(Next::Go)
}

fn session(chat: &mut Chat<'_>, text: &str) -> Result<Next, ChangeError> {
    match text {
        "" => {}
        "list" => {
            let sessions = (chat.talker.hooks.sessions)()?;
            if sessions.is_empty() {
                chat.talker.screen.tell("no other conversation is kept");
            }
            sessions.iter().for_each(|line| chat.talker.screen.show(line));
            return Ok(Next::Go);
        }
        "new" => chat.change_session((chat.talker.hooks.session)(None)?),
        id => chat.change_session((chat.talker.hooks.session)(Some(id))?),
    }
    let words = chat.status();
    chat.talker.screen.show(&words);
    Ok(Next::Go)
}

fn help(chat: &mut Chat<'_>, _: &str) -> Result<Next, ChangeError> {
    let heads: Vec<String> = ROWS.iter().map(|row| format!("/{} {}", row.name, row.usage)).collect();
    let width = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    for (head, row) in heads.iter().zip(ROWS) {
        chat.talker.screen.show(&format!("{head:width$}  {}", row.help));
    }
    chat.talker.screen.show(KEYS);
    Ok(Next::Go)
}

const KEYS: &str = "
Tab completes commands, paths, and notes behind [[. Alt-Enter begins a new line, Ctrl-R searches what you typed here and in kept chats.
Ctrl-C clears the line, or stops an answer; what is done by then is done. Ctrl-D ends. `<filter>no phone numbers</filter>` in a message holds for that message.";

//! The person's side of the loop: shows what happens, and asks about proposals.

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::Hooks;
use super::lines::{Lines, Typed};
use super::screen::Screen;
use crate::talk;
use memdir_agent::{Decision, Edge, Event, Said, Stage, Written};
use memdir_core::path::MemoryPath;
use memdir_core::report::{Failure, Issue, Report};
use memdir_engine::{Reviewed, ToolConsent, standing};
use memdir_model::Heard;
use memdir_policy::{Rule, Verdict};
use memdir_tools::{Elicitation, ElicitationAnswer, Progress, ServerName, Tool};
use memdir_words::said;

/// Who shows and asks.
pub(super) struct Talker<'h> {
    pub(super) screen: Screen,
    pub(super) lines: Box<dyn Lines>,
    pub(super) hooks: Hooks<'h>,
    /// Whether what the model thinks is shown.
    shows_thoughts: bool,
    /// Stops the answer that is being written.
    stop: CancellationToken,
    /// How many bytes of the reply are shown.
    spoken: usize,
    /// The notes that the model was shown with the last message.
    pub(super) shown: Vec<(MemoryPath, String)>,
    /// What the person was told about their messages.
    noticed: Vec<Issue>,
    /// What the person has said to allow from now on.
    always: Vec<Rule>,
    /// How many of these are settled.
    settled: usize,
}

/// What can be said to a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Word {
    Yes,
    No,
    Edit,
    Always,
    Later,
    Conversation,
}

impl Word {
    /// Reads an answer: the word, or its first letter.
    pub(super) fn of(text: &str) -> Option<Self> {
        let words = [
            ("yes", Self::Yes),
            ("no", Self::No),
            ("edit", Self::Edit),
            ("always", Self::Always),
            ("later", Self::Later),
            ("conversation", Self::Conversation),
        ];
        let text = text.trim().to_lowercase();
        let is_meant = |word: &str| word == text || word.get(..1) == Some(text.as_str());
        words.into_iter().find(|(word, _)| is_meant(word)).map(|(_, meant)| meant)
    }
}

/// How often a question is asked again after an answer that says nothing.
const TRIES: usize = 5;

impl<'h> Talker<'h> {
    pub(super) fn new(screen: Screen, lines: Box<dyn Lines>, hooks: Hooks<'h>, shows_thoughts: bool) -> Self {
        Self {
            screen,
            lines,
            hooks,
            shows_thoughts,
            stop: CancellationToken::new(),
            spoken: 0,
            shown: Vec::new(),
            noticed: Vec::new(),
            always: Vec::new(),
            settled: 0,
        }
    }

    /// An answer begins.
    pub(super) fn begin(&mut self, stop: CancellationToken) {
        (self.stop, self.spoken) = (stop, 0);
        self.shown.clear();
    }

    /// Shows what is not yet shown of an answer that is over, and what was done.
    pub(super) fn end(&mut self, said: &Said, is_answered: bool) {
        if let Some(rest) = said.reply.as_deref().and_then(|reply| reply.get(self.spoken..)) {
            self.screen.speak(rest);
        }
        self.screen.end_line();
        if let Some(notice) = &said.notice {
            self.screen.warn(&format!("note: {}", said::notice(notice)));
        }
        for issue in said.noticed() {
            self.screen.warn(&format!("note: {}", issue.message));
        }
        if is_answered || said.receipt().is_some() {
            self.screen.tell(&said::stored(said));
        }
        for id in &said.pending {
            self.screen.warn(&format!("proposal {id} waits for you: /pending"));
        }
    }

    /// Writes down what the person has said to allow from now on.
    pub(super) fn settle(&mut self) {
        for rule in self.always.get(self.settled..).unwrap_or_default() {
            match (self.hooks.add_rule)(rule) {
                Ok(number) => self.screen.tell(&format!("rule {number} answers the same from now on: memdir rules")),
                Err(failure) => fail(&mut self.screen, &failure),
            }
        }
        self.settled = self.always.len();
    }

    /// Shows a proposal: who wants what, and why somebody is asked.
    pub(super) fn show(&mut self, reviewed: &Reviewed) {
        let waiting = &reviewed.waiting;
        self.screen.end_line();
        self.screen.warn(&format!("proposal {}: {}", waiting.id, waiting.reason));
        if reviewed.is_renewed {
            self.screen.tell("the notes have changed since: this is what it would change now");
        }
        self.screen.diff(&waiting.diff);
        if let Some(trouble) = &reviewed.trouble {
            self.screen.warn(&format!("it cannot be done now: {}", trouble.message));
        }
    }

    /// Asks until something is said that is one of `words`; `None` where nothing is.
    pub(super) fn ask(&mut self, question: &str, words: &[Word]) -> Option<Word> {
        for _ in 0..TRIES {
            let text = match self.lines.answer(question) {
                Typed::Text(text) => text,
                Typed::Stopped => {
                    self.stop.cancel();
                    return None;
                }
                Typed::End | Typed::Unreadable(_) => return None,
            };
            match Word::of(&text).filter(|word| words.contains(word)) {
                Some(word) => return Some(word),
                None => self.screen.tell("say one of these words, or its first letter"),
            }
        }
        None
    }

    /// Keeps that all like a proposal is allowed from now on; says why where no rule can say it.
    pub(super) fn allow(&mut self, reviewed: &Reviewed) -> bool {
        match standing(&reviewed.waiting, Verdict::Allow) {
            Ok(rules) => {
                let new: Vec<Rule> = rules.into_iter().filter(|rule| !self.always.contains(rule)).collect();
                self.always.extend(new);
                true
            }
            Err(failure) => {
                fail(&mut self.screen, &failure);
                false
            }
        }
    }

    /// Whether the person has said before, in this conversation, that all of this is allowed.
    fn is_allowed(&self, reviewed: &Reviewed) -> bool {
        let rules = standing(&reviewed.waiting, Verdict::Allow);
        rules.is_ok_and(|rules| !rules.is_empty() && rules.iter().all(|rule| self.always.contains(rule)))
    }

    fn acted(&mut self, report: &Report) {
        if !self.shows_thoughts {
            return self.screen.status("…");
        }
        for outcome in &report.actions {
            let code = outcome.result.as_ref().err().map_or("ok".to_owned(), |failure| failure.code.to_string());
            let (action, path) =
                (outcome.action.as_deref().unwrap_or("?"), outcome.path.as_deref().unwrap_or_default());
            self.screen.tell(&format!("· {action} {path}: {code}"));
        }
    }
}

/// What comes after a stage.
fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Perception => "perceived; deciding …",
        Stage::Decision => "decided …",
        Stage::Response => "responded",
    }
}

impl Edge for Talker<'_> {
    fn hear(&mut self, event: Event<'_>) {
        match event {
            Event::Shown(notes) => self.shown = notes.to_vec(),
            Event::Noticed(issues) => {
                for issue in issues.iter().filter(|issue| !self.noticed.contains(*issue)).cloned().collect::<Vec<_>>() {
                    self.screen.warn(&format!("note: {}", issue.message));
                    self.noticed.push(issue);
                }
            }
            Event::Model(Heard::Reading { done, all }) => {
                self.screen.status(&format!("reading: {done} of {all} tokens"))
            }
            Event::Model(Heard::Again(after)) => {
                self.screen.status(&format!("no answer; asked again in {} s", after.as_secs_f32().ceil()));
            }
            Event::Model(Heard::Text(_) | Heard::Thought(_)) => {}
            Event::Written(Written::Thought(thought)) if self.shows_thoughts => self.screen.think(thought),
            Event::Written(Written::Thought(_)) => self.screen.status("thinking …"),
            Event::Staged(stage) => self.screen.status(stage_words(stage.stage)),
            Event::Written(Written::Other) => self.screen.status("…"),
            Event::Written(Written::Reply(more)) => {
                if self.spoken == 0 {
                    self.screen.end_line();
                }
                self.spoken += more.len();
                self.screen.speak(more);
            }
            Event::Turned(_) if self.spoken == 0 => self.screen.end_line(),
            Event::Turned(_) => self.screen.clear(),
            Event::Acted(report) => self.acted(report),
            Event::ToolProgress(progress) => self.screen.status(&progress_line(progress)),
            Event::ToolCalled(called) => self.screen.tell(&talk::called(called)),
        }
    }

    fn decide(&mut self, reviewed: &Reviewed) -> Decision {
        const WORDS: [Word; 5] = [Word::Yes, Word::No, Word::Edit, Word::Always, Word::Later];
        self.show(reviewed);
        if reviewed.trouble.is_some() {
            return Decision::Later;
        }
        if self.is_allowed(reviewed) {
            self.screen.tell("you have said: always");
            return Decision::Yes;
        }
        for _ in 0..TRIES {
            match self.ask("[y]es [n]o [e]dit [a]lways [l]ater", &WORDS) {
                Some(Word::Yes) => return Decision::Yes,
                Some(Word::No) => return Decision::No,
                Some(Word::Always) if self.allow(reviewed) => return Decision::Yes,
                Some(Word::Always) => {}
                Some(Word::Edit) => {
                    if let Typed::Text(text) = self.lines.answer("what instead?")
                        && !text.trim().is_empty()
                    {
                        return Decision::Instead(text.trim().to_owned());
                    }
                }
                Some(Word::Later | Word::Conversation) | None => return Decision::Later,
            }
        }
        Decision::Later
    }

    fn is_attended(&self) -> bool {
        self.lines.is_attended()
    }

    fn decide_tool(&mut self, tool: &Tool, arguments: &Map<String, Value>) -> ToolConsent {
        self.ask_about(tool, arguments)
    }

    fn elicit(&mut self, server: &ServerName, elicitation: &Elicitation) -> ElicitationAnswer {
        self.answer_server(server, elicitation)
    }

    fn is_listening(&self) -> bool {
        true
    }
}

/// Says what went wrong, and what to do.
pub(super) fn fail(screen: &mut Screen, failure: &Failure) {
    screen.warn(&format!("memdir: {}", failure.message));
    if let Some(hint) = &failure.hint {
        screen.warn(&format!("hint: {hint}"));
    }
}

/// How far a call is, in a line.
fn progress_line(progress: &Progress) -> String {
    let of = progress.total.map_or_else(String::new, |total| format!(" of {total}"));
    let words = progress.message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
    format!("{}{of}{words}", progress.progress)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_or_its_first_letter_is_an_answer() {
        let check = |text: &str, expected: Option<Word>| assert_eq!(Word::of(text), expected, "{text:?}");
        check("y\n", Some(Word::Yes));
        check(" YES ", Some(Word::Yes));
        check("n", Some(Word::No));
        check("e", Some(Word::Edit));
        check("always", Some(Word::Always));
        check("l", Some(Word::Later));
        check("yess", None);
        check("", None);
        check("ye", None);
    }
}

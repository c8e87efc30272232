//! A terminal: lines with history, completion and hints.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use reedline::{
    ColumnarMenu, Completer, CompletionResult, DefaultHinter, EditCommand, Emacs, FileBackedHistory, Hinter, History,
    HistoryItem, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion,
    default_emacs_keybindings,
};

use super::complete;
use super::lines::{Lines, Typed};
use crate::term;

const MENU: &str = "completion";
/// What stands before a message.
const SIGN: &str = "› ";

/// A person at a terminal.
pub(super) struct Editor {
    messages: Reedline,
    answers: Reedline,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Editor {
    /// `before` is what was typed before, the oldest first. What is typed now goes with the process.
    pub(super) fn new(before: Vec<String>, has_colours: bool) -> Self {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let mut history = FileBackedHistory::default();
        for line in before {
            if let Err(error) = history.save(HistoryItem::from_command_line(line)) {
                tracing::warn!(%error, "a line cannot be called back");
            }
        }
        let mut keys = default_emacs_keybindings();
        let menu = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, menu);
        let new_line = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, new_line);
        let messages = Reedline::create()
            .with_ansi_colors(has_colours)
            .with_history(Box::new(history))
            .with_completer(Box::new(Names(Arc::clone(&notes))))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(
                ColumnarMenu::default().with_name(MENU).with_marker(SIGN),
            )))
            .with_quick_completions(true)
            .with_hinter(Box::new(Hint::default()))
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .use_bracketed_paste(true);
        let answers = Reedline::create().with_ansi_colors(has_colours);
        Self { messages, answers, notes }
    }
}

impl Lines for Editor {
    fn message(&mut self, status: &str) -> Typed {
        let prompt = Ask { left: format!("{}\n", term::escape_line(status)), sign: SIGN };
        read(&mut self.messages, &prompt)
    }

    fn answer(&mut self, question: &str) -> Typed {
        read(&mut self.answers, &Ask { left: term::escape_line(question).into_owned(), sign: " " })
    }

    fn is_attended(&self) -> bool {
        true
    }

    fn know(&mut self, mut notes: Vec<String>) {
        notes.sort();
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = notes;
    }
}

fn read(editor: &mut Reedline, prompt: &Ask) -> Typed {
    match editor.read_line(prompt) {
        Ok(Signal::Success(text)) => Typed::Text(text),
        Ok(Signal::CtrlC) => Typed::Stopped,
        // A terminal that is gone has no more to say.
        Ok(Signal::CtrlD) | Err(_) => Typed::End,
        Ok(_) => Typed::Stopped,
    }
}

/// What stands before the line.
struct Ask {
    left: String,
    sign: &'static str,
}

impl Prompt for Ask {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.left)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(self.sign)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "nothing: ",
        };
        Cow::Owned(format!("({found}{}) ", term::escape_line(&search.term)))
    }

    fn get_prompt_color(&self) -> reedline::Color {
        reedline::Color::DarkGray
    }
}

/// Completes from the notes that there are.
struct Names(Arc<Mutex<Vec<String>>>);

impl Completer for Names {
    fn complete(&mut self, line: &str, at: usize) -> CompletionResult {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let offers = complete::offers(line, at, &notes).into_iter().map(|offer| Suggestion {
            value: offer.text,
            description: offer.about.map(str::to_owned),
            span: Span { start: offer.span.start, end: offer.span.end },
            append_whitespace: offer.is_word,
            ..Suggestion::default()
        });
        CompletionResult::fresh(offers.collect::<Vec<_>>())
    }
}

/// Hints at what follows a command, and else at what was typed before.
#[derive(Default)]
struct Hint {
    before: DefaultHinter,
    /// Whether the hint is text that can be taken.
    is_text: bool,
}

impl Hinter for Hint {
    fn handle(&mut self, line: &str, at: usize, history: &dyn History, has_colours: bool, folder: &str) -> String {
        let usage = complete::hint(line);
        self.is_text = usage.is_empty();
        if self.is_text { self.before.handle(line, at, history, has_colours, folder) } else { usage.to_owned() }
    }

    fn complete_hint(&self) -> String {
        if self.is_text { self.before.complete_hint() } else { String::new() }
    }

    fn next_hint_token(&self) -> String {
        if self.is_text { self.before.next_hint_token() } else { String::new() }
    }
}

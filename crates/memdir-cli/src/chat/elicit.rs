//! A server's question to the person, before it answers a call.

use super::lines::Typed;
use super::talker::{Talker, Word};
use crate::tools::elicit::{self, Asked};
use memdir_tools::{Elicitation, ElicitationAnswer, ServerName};

impl Talker<'_> {
    /// Shows what a server asks, and takes the person's answer.
    pub(super) fn answer_server(&mut self, server: &ServerName, elicitation: &Elicitation) -> ElicitationAnswer {
        if !self.lines.is_attended() {
            return ElicitationAnswer::Decline;
        }
        self.screen.end_line();
        elicit::answer(server, elicitation, self)
    }
}

impl Asked for Talker<'_> {
    fn show(&mut self, line: &str) {
        self.screen.show(line);
    }

    fn agrees(&mut self, question: &str) -> Option<bool> {
        let word = self.ask(&format!("{question} [y]es [n]o"), &[Word::Yes, Word::No])?;
        Some(word == Word::Yes)
    }

    fn line(&mut self, question: &str) -> Option<String> {
        match self.lines.answer(question) {
            Typed::Text(typed) => Some(typed.trim().to_owned()),
            Typed::Stopped | Typed::End | Typed::Unreadable(_) => None,
        }
    }
}

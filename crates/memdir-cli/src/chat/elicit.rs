//! A server's question to the person, before it answers a call: its words are shown as its own.

use serde_json::{Map, Value};

use super::lines::Typed;
use super::talker::{Talker, Word};
use crate::tools::elicit;
use memdir_tools::{Elicitation, ElicitationAnswer, ServerName};

/// So many lines of a question are shown.
const LINES: usize = 40;

impl Talker<'_> {
    /// Shows what a server asks, and takes the person's answer.
    pub(super) fn answer_server(&mut self, server: &ServerName, elicitation: &Elicitation) -> ElicitationAnswer {
        if !self.lines.is_attended() {
            return ElicitationAnswer::Decline;
        }
        self.screen.end_line();
        self.screen.warn(&format!("the server `{server}` asks you, in its own words:"));
        elicitation.message.lines().take(LINES).for_each(|line| self.screen.show(&format!("  {line}")));
        let url = elicitation.params.get("url").and_then(Value::as_str);
        if let Some(url) = url {
            self.screen.show(&format!("  it wants you to open {url}"));
        }
        let question = if url.is_some() { "have you opened it? [y]es [n]o" } else { "answer it? [y]es [n]o" };
        match self.ask(question, &[Word::Yes, Word::No]) {
            Some(Word::Yes) if url.is_some() => ElicitationAnswer::Accept(Map::new()),
            Some(Word::Yes) => {
                let given = elicit::fields(elicitation, &mut |question| match self.lines.answer(question) {
                    Typed::Text(typed) => Ok(Some(typed.trim().to_owned())),
                    Typed::Stopped | Typed::End => Ok(None),
                });
                given.ok().flatten().map_or(ElicitationAnswer::Cancel, ElicitationAnswer::Accept)
            }
            Some(Word::No | Word::Edit | Word::Always | Word::Later | Word::Conversation) => ElicitationAnswer::Decline,
            None => ElicitationAnswer::Cancel,
        }
    }
}

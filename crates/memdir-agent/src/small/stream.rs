//! A turn while it is written, piece by piece: its steps as a thought, its reply as a reply.

/// What begins the reply.
const SAY: &str = "say ";

/// The pieces of one turn.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// Whether the reply is not what the model writes, but made of the whole turn.
    is_replaced: bool,
    /// The line that is being written, while it may become the reply.
    line: String,
    is_begun: bool,
    is_reply: bool,
}

impl Pieces {
    pub(crate) fn new(is_replaced: bool) -> Self {
        Self { is_replaced, line: String::new(), is_begun: false, is_reply: false }
    }

    /// Begins again, where the model does.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.is_replaced);
    }

    /// The next piece as the native dialect says it.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        if !std::mem::replace(&mut self.is_begun, true) {
            out.push_str("<think>");
        }
        for character in piece.chars() {
            if self.is_reply {
                if !self.is_replaced {
                    out.push(character);
                }
                continue;
            }
            self.line.push(character);
            if self.line == SAY {
                self.is_reply = true;
                out.push_str("</think><reply>");
            } else if !SAY.starts_with(self.line.as_str()) {
                // A line that is no reply is told once it is whole.
                if character == '\n' {
                    out.push_str(&self.line);
                    self.line.clear();
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_is_replaced_is_not_shown() {
        assert_eq!(
            Pieces::new(true).push("get user.city: Rome\nsay In Rome."),
            "<think>get user.city: Rome\n</think><reply>"
        );
    }

    #[test]
    fn steps_are_thoughts_and_the_rest_is_the_reply() {
        for pieces in
            [vec!["get user.city\nsay Oslo.\nsay so"], vec!["g", "et user.city\ns", "a", "y Os", "lo.\nsay so"]]
        {
            let mut stream = Pieces::new(false);
            let told: String = pieces.iter().map(|piece| stream.push(piece)).collect();
            assert_eq!(told, "<think>get user.city\n</think><reply>Oslo.\nsay so");
        }
        assert_eq!(Pieces::new(false).push("say Hello"), "<think></think><reply>Hello");
    }
}

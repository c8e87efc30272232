//! A turn while it is written, piece by piece: its first line is the reply, what follows is for the program.

/// What begins the reply.
const SAY: &str = "say ";

/// The pieces of one turn.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// What has been written before the reply began.
    start: String,
    is_over: bool,
}

impl Pieces {
    /// Begins again, where the model does.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// The next piece as the native dialect says it.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for character in piece.chars() {
            if self.is_over {
                break;
            }
            if self.start == SAY {
                self.is_over = character == '\n';
                out.extend(Some(character).filter(|_| !self.is_over));
                continue;
            }
            self.start.push(character);
            if self.start == SAY {
                out.push_str("<reply>");
            } else if !SAY.starts_with(self.start.as_str()) {
                // A server that takes no grammar lets a model write anything: what it is, the whole turn tells.
                self.is_over = true;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_reply() {
        let told = |pieces: &[&str]| {
            let mut stream = Pieces::default();
            pieces.iter().map(|piece| stream.push(piece)).collect::<String>()
        };
        assert_eq!(told(&["say In Oslo.\nset user.city = Oslo\nend"]), "<reply>In Oslo.");
        assert_eq!(told(&["s", "ay In Os", "lo.\nset", " user.city = Oslo\nend"]), "<reply>In Oslo.");
        assert_eq!(told(&["set user.city = Oslo\n", "say x"]), "");
    }
}

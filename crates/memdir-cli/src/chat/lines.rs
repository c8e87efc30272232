//! Where messages come from: a terminal, or anything that has lines.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// What was typed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Typed {
    Text(String),
    /// What stood there was given up: Ctrl-C.
    Stopped,
    /// Nothing more comes: Ctrl-D, or the end of the input.
    End,
    /// Nothing more is read: why what comes is no message.
    Unreadable(&'static str),
}

/// Something that has what the person types.
pub(super) trait Lines {
    /// The next message or command. `status` says where the conversation stands.
    fn message(&mut self, status: &str) -> Typed;

    /// The answer to a question.
    fn answer(&mut self, question: &str) -> Typed;

    /// Whether a person is there who can be asked.
    fn is_attended(&self) -> bool;

    /// Tells of the notes that there are, for completion.
    fn know(&mut self, _notes: Vec<String>) {}
}

/// Standard input that is no terminal, line by line.
pub(super) struct Plain {
    lines: Receiver<Typed>,
}

impl Plain {
    /// Begins to read. What is sent to the second value ends the lines, whatever the input does.
    pub(super) fn begin() -> io::Result<(Self, Sender<Typed>)> {
        let (sender, lines) = channel();
        let to = sender.clone();
        std::thread::Builder::new().name("lines".to_owned()).spawn(move || read(&mut io::stdin().lock(), &to))?;
        Ok((Self { lines }, sender))
    }
}

/// Reads line after line. A line that is no text, or too long, ends it: half a message is none.
fn read(input: &mut impl BufRead, to: &Sender<Typed>) {
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
        let typed = match (read, String::from_utf8(line)) {
            (Err(_) | Ok(0), _) => Typed::End,
            (Ok(read), _) if read as u64 > MAX_LINE => Typed::Unreadable("a line has more than 1 MiB"),
            (Ok(_), Ok(line)) => Typed::Text(line),
            (Ok(_), Err(_)) => Typed::Unreadable("standard input cannot be read: a line is not UTF-8"),
        };
        let is_text = matches!(typed, Typed::Text(_));
        if to.send(typed).is_err() || !is_text {
            return;
        }
    }
}

impl Lines for Plain {
    fn message(&mut self, _: &str) -> Typed {
        self.lines.recv().unwrap_or(Typed::End)
    }

    fn answer(&mut self, _: &str) -> Typed {
        Typed::End
    }

    fn is_attended(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_or_not_at_all() {
        let check = |input: &[u8], expected: &[Typed]| {
            let (sender, lines) = channel();
            read(&mut &*input, &sender);
            drop(sender);
            assert_eq!(lines.iter().collect::<Vec<_>>(), expected);
        };
        let text = |text: &str| Typed::Text(text.to_owned());
        check(b"", &[Typed::End]);
        check(b"one\ntwo", &[text("one\n"), text("two"), Typed::End]);
        let not_text = Typed::Unreadable("standard input cannot be read: a line is not UTF-8");
        check(b"one\ncaf\xe9\ntwo\n", &[text("one\n"), not_text]);
        check(&vec![b'a'; (1 << 20) + 1], &[Typed::Unreadable("a line has more than 1 MiB")]);
    }
}

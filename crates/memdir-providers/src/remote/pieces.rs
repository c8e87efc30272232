//! A reply that comes as JSON, told while it comes.
//!
//! Only a turn that begins with its reply can be told before it is whole; any other waits for [`super::shape::turn`].

use super::shape::{CLOSING, escaped};

/// What begins a turn with a reply, white space aside.
const BEGINNING: &[u8] = b"{\"reply\":\"";

/// The pieces of a turn as they come.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// How many bytes of the JSON are read.
    read: usize,
    /// How many bytes of [`BEGINNING`] were seen.
    begun: usize,
    place: Place,
    /// What of the reply is read and not told yet: it may be the beginning of a tag.
    held: String,
    has_told: bool,
}

/// Where in the turn it is read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Place {
    #[default]
    Beginning,
    Reply,
    /// There is nothing more to tell before the turn is whole.
    After,
}

impl Pieces {
    /// What can be told of the turn, now that this is all that has come of it. The work is linear in what is new.
    pub(super) fn more(&mut self, json: &str) -> String {
        while self.place == Place::Beginning {
            let Some(byte) = json.as_bytes().get(self.read) else { return String::new() };
            self.read += 1;
            if BEGINNING.get(self.begun) == Some(byte) {
                self.begun += 1;
                self.place = if self.begun == BEGINNING.len() { Place::Reply } else { Place::Beginning };
            } else if !byte.is_ascii_whitespace() || self.is_in_name() {
                self.place = Place::After;
            }
        }
        if self.place != Place::Reply {
            return String::new();
        }
        let new = json.get(self.read..).unwrap_or_default();
        let (length, is_end) = readable(new.as_bytes());
        let text = serde_json::from_str::<String>(&format!("\"{}\"", new.get(..length).unwrap_or_default()));
        self.read += length;
        match text {
            Ok(text) => self.held.push_str(&text),
            Err(_) => self.place = Place::After,
        }
        if is_end {
            self.place = Place::After;
        }
        // The end of the reply is told with the whole turn.
        let safe = self.held.len() - if is_end { 0 } else { begun_tag(&self.held) };
        let rest = self.held.split_off(safe);
        let told = std::mem::replace(&mut self.held, rest);
        if told.is_empty() {
            return told;
        }
        let opening = if self.has_told { "" } else { "<reply>" };
        self.has_told = true;
        format!("{opening}{}", escaped(&told))
    }

    fn is_in_name(&self) -> bool {
        (2..8).contains(&self.begun)
    }
}

/// How many bytes of a text in JSON can be read for themselves, and whether the text ends behind them.
fn readable(bytes: &[u8]) -> (usize, bool) {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let length = match byte {
            b'"' => return (at, true),
            b'\\' if bytes.get(at + 1) == Some(&b'u') => match bytes.get(at + 2..at + 4) {
                // The first half of a character.
                Some([b'd' | b'D', b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B']) => 12,
                _ => 6,
            },
            b'\\' => 2,
            _ => 1,
        };
        if at + length > bytes.len() {
            break;
        }
        at += length;
    }
    (at, false)
}

/// How many bytes at the end of a text are the beginning of a closing tag.
fn begun_tag(text: &str) -> usize {
    (1..CLOSING.len())
        .rev()
        .find(|length| CLOSING.get(..*length).is_some_and(|begun| text.ends_with(begun)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::shape::turn;
    use super::*;

    /// What is told of a turn that comes in pieces of so many characters, and how often something is.
    fn told(json: &str, size: usize) -> (String, usize) {
        let (mut pieces, mut so_far, mut told) = (Pieces::default(), String::new(), Vec::new());
        let characters: Vec<char> = json.chars().collect();
        for piece in characters.chunks(size) {
            so_far.extend(piece);
            told.push(pieces.more(&so_far));
        }
        let often = told.iter().filter(|told| !told.is_empty()).count();
        (told.concat(), often)
    }

    #[test]
    fn what_is_told_is_how_the_turn_begins() {
        for (json, expected) in [
            (r#"{"reply":"You live in Paris."}"#, "<reply>You live in Paris."),
            ("{\n \"reply\" : \"Hi.\"\n}", "<reply>Hi."),
            (r#"{"reply":"a\n\"b\" \u00e9 \ud83d\ude00 é \\"}"#, "<reply>a\n\"b\" é 😀 é \\"),
            (r#"{"reply":"x</reply> <b></r></reply"}"#, "<reply>x&lt;/reply> <b></r>&lt;/reply"),
            (r#"{"reply":"Soon.","actions":[{"action":"list_files"}]}"#, "<reply>Soon."),
            (r#"{"reply":"","actions":[{}]}"#, ""),
            (r#"{"actions":[{"reply":"no"}],"reply":"Soon."}"#, ""),
            (r#"{" reply":"no"}"#, ""),
            (r#"{"reply":null,"actions":[]}"#, ""),
            (r#"["reply"]"#, ""),
            ("<reply>Hi.</reply>", ""),
            (r#"{"reply":"\ud83d lone"}"#, ""),
            ("", ""),
        ] {
            for size in [1, 2, 3, 7, 1000] {
                let (told, _) = told(json, size);
                assert_eq!(told, expected, "{json} by {size}");
                assert!(turn(json).starts_with(&told), "{json}: {}", turn(json));
            }
        }
        assert_eq!(told(r#"{"reply":"You live in Paris."}"#, 1).1, "You live in Paris.".len());
    }
}

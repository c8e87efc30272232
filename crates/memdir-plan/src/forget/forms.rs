//! The forms in which a text may be written: each kind of file has its own way to say the same.

use std::borrow::Cow;
use std::cmp::Reverse;

use memchr::memmem;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use unicode_normalization::UnicodeNormalization;

use memdir_core::json::{Style, Unescaped};
use memdir_note::words::is_unspaced;

/// A text has to be this long, white space not counted: a shorter one stands in half of all words. In scripts without blanks two letters are a
/// word, and mostly a name.
pub const MIN_TEXT_CHARS: usize = 3;

/// So often strings of JSON that are JSON again are looked into: what a model said stands so in a conversation.
const NESTED: usize = 3;

/// What is encoded in the address of a link.
const IN_LINKS: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'%').add(b'`');

/// A text in the forms in which it may be written: composed and decomposed, with the line ends of other systems, and as JSON, YAML,
/// tables, links, HTML and CSV have to say it.
#[derive(Clone, Debug)]
pub struct Forms(pub(super) Vec<String>);

impl Forms {
    /// Takes a text; `None` for one that is too short.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let composed: String = text.nfc().collect();
        let is_word =
            length(&composed) == 2 && composed.chars().filter(|letter| !letter.is_whitespace()).all(is_unspaced);
        if length(&composed) < MIN_TEXT_CHARS && !is_word {
            return None;
        }
        let least = length(&composed).min(MIN_TEXT_CHARS);
        let mut forms = Self(vec![text.to_owned()]);
        // Somebody may give it as it stands in JSON.
        let unescaped = Unescaped::of(text).says;
        let unescaped = if unescaped.contains(char::is_control) { text.to_owned() } else { unescaped };
        forms.add(least, [composed, text.nfd().collect(), unescaped]);
        for text in forms.0.clone() {
            forms.add(least, [text.replace("\r\n", "\n"), text.replace("\r\n", "\n").replace('\n', "\r\n")]);
        }
        for text in forms.0.clone() {
            let json = |is_ascii, escapes_slash| Style { is_ascii, escapes_slash }.escape(&text);
            forms.add(least, [json(false, false), json(false, true), json(true, false), json(true, true)]);
            forms.add(least, [text.replace('\'', "\'\'"), text.replace('"', "\"\""), text.replace('|', "\\|")]);
            forms.add(least, [text.replace(' ', "%20"), utf8_percent_encode(&text, IN_LINKS).to_string()]);
            forms.add(least, [text.replace('&', "&amp;"), html(&text)]);
        }
        // A longer form may hold a shorter one, which must not be cut out of it.
        forms.0.sort_by_key(|form| Reverse(form.len()));
        Some(forms)
    }

    fn add<const N: usize>(&mut self, least: usize, forms: [String; N]) {
        for form in forms {
            if length(&form) >= least && !self.0.contains(&form) {
                self.0.push(form);
            }
        }
    }

    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|form| memmem::find(text, form.as_bytes()).is_some())
    }

    /// Whether a text holds it, or says it, where it is or holds JSON, some of whose strings may be JSON again.
    pub(super) fn are_said_in(&self, text: &str) -> bool {
        let mut said = Cow::Borrowed(text);
        for _ in 0..=NESTED {
            if self.are_in(said.as_bytes()) {
                return true;
            }
            if !said.contains('\\') {
                return false;
            }
            said = Cow::Owned(Unescaped::of(&said).says);
        }
        false
    }

    pub(super) fn are_said_in_content(&self, content: &[u8]) -> bool {
        std::str::from_utf8(content).map_or_else(|_| self.are_in(content), |text| self.are_said_in(text))
    }
}

fn length(text: &str) -> usize {
    text.chars().filter(|character| !character.is_whitespace()).count()
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

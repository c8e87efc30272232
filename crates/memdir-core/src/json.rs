//! The strings of a text of JSON: what they say, where in the text it stands, and how other words have to be written there.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use serde::de::IgnoredAny;

/// The bytes of the longest escape, that of a pair.
const LONGEST_ESCAPE: usize = 12;

/// What JSON says, its escapes replaced by what they mean. Outside of strings there are none, so a whole text of JSON can be
/// read so as well as one string of it.
#[derive(Debug)]
pub struct Unescaped {
    /// What it says.
    pub says: String,
    /// For each escape: the bytes of what is said, and those of the JSON, up to its end.
    escapes: Vec<(usize, usize)>,
}

impl Unescaped {
    /// Reads JSON. Half of a pair stands for no character, and a backslash of what is no JSON for itself.
    ///
    /// # Examples
    ///
    /// ```
    /// use memdir_core::json::Unescaped;
    ///
    /// let text = r#"{"said":"an \u00e9, and \"so\" on"}"#;
    /// let read = Unescaped::of(text);
    /// let at = read.says.find(r#"é, and "so""#).unwrap();
    /// assert_eq!(&text[read.range(at..at + 12)], r#"\u00e9, and \"so\""#);
    /// ```
    #[must_use]
    pub fn of(json: &str) -> Self {
        let (mut says, mut escapes) = (String::with_capacity(json.len()), Vec::new());
        let (mut rest, mut at) = (json, 0);
        while let Some((before, from)) =
            memchr::memchr(b'\\', rest.as_bytes()).and_then(|gap| rest.split_at_checked(gap))
        {
            says.push_str(before);
            let (character, length) = escape_or_itself(from.as_bytes());
            says.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            at += before.len() + length;
            escapes.push((says.len(), at));
            rest = json.get(at..).unwrap_or_default();
        }
        says.push_str(rest);
        Self { says, escapes }
    }

    /// Where in the JSON a range of what is said stands.
    #[must_use]
    pub fn range(&self, said: Range<usize>) -> Range<usize> {
        self.byte(said.start)..self.byte(said.end)
    }

    fn byte(&self, said: usize) -> usize {
        let at = self.escapes.partition_point(|(end, _)| *end <= said).checked_sub(1);
        let (before, raw) = at.and_then(|at| self.escapes.get(at)).copied().unwrap_or_default();
        raw + (said - before)
    }
}

/// The character that a text begins with as an escape, and the bytes of that; no character for half of a pair.
fn escape(json: &[u8]) -> Option<(Option<char>, usize)> {
    let plain = match json.get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = |at: usize| {
                let digits = json.get(at..at + 4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
            };
            let first = unit(2)?;
            let second = json.get(6..).filter(|rest| rest.starts_with(b"\\u")).and_then(|_| unit(8));
            let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
            return Some(match pair.filter(|character| character.len_utf16() == 2) {
                Some(character) => (Some(character), 12),
                None => (char::from_u32(u32::from(first)), 6),
            });
        }
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        _ => return None,
    };
    Some((Some(plain), 2))
}

/// As [`escape`]; what begins none is a backslash.
fn escape_or_itself(json: &[u8]) -> (Option<char>, usize) {
    escape(json).unwrap_or((Some('\\'), 1))
}

/// Where the strings of JSON stand that are no keys, without their quotes.
#[must_use]
pub fn values(json: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = json.get(at..).and_then(|rest| rest.find('"')).map(|quote| at + quote + 1) {
        let mut end = start;
        while let Some(gap) = json.as_bytes().get(end..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
            end += gap;
            match json.as_bytes().get(end) {
                Some(b'\\') => end += 2,
                _ => break,
            }
        }
        let after = json.get(end + 1..).unwrap_or_default();
        if !after.trim_start().starts_with(':') {
            found.push(start..end);
        }
        at = end + 1;
    }
    found
}

/// Whether a text is an object or a list.
#[must_use]
pub fn is_json(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// JSON in which halves of pairs, for which there is no character, are the sign for what cannot be shown. Programs that cut a text
/// between them write such.
#[must_use]
pub fn without_halves(json: &[u8]) -> Cow<'_, [u8]> {
    let (mut whole, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(gap) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += gap;
        // What is no escape is for the parser to refuse.
        let (character, length) = escape_or_itself(json.get(at..).unwrap_or_default());
        if character.is_none() {
            whole.extend_from_slice(json.get(from..at).unwrap_or_default());
            whole.extend_from_slice(b"\\ufffd");
            from = at + length;
        }
        at += length;
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    whole.extend_from_slice(json.get(from..).unwrap_or_default());
    Cow::Owned(whole)
}

/// How many bytes of JSON of which more is to come are no part of an escape that may go on. What a line ends does not go on.
#[must_use]
pub fn before_begun(json: &[u8]) -> usize {
    let mut at = 0;
    while let Some(gap) = json.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += gap;
        let rest = json.get(at..).unwrap_or_default();
        if rest.len() < LONGEST_ESCAPE && !rest.contains(&b'\n') {
            return at;
        }
        at += escape_or_itself(rest).1;
    }
    json.len()
}

/// How the strings of a text of JSON are written, where there is a choice.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Style {
    /// Whether letters beyond ASCII are escaped.
    pub is_ascii: bool,
    /// Whether `/` is.
    pub escapes_slash: bool,
}

impl Style {
    /// The style of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let has = |mark: &str| memchr::memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
        Self { is_ascii: text.is_ascii() && has("\\u"), escapes_slash: has("\\/") }
    }

    /// Words as they have to stand in a string.
    #[must_use]
    pub fn escape(self, words: &str) -> String {
        let mut out = String::with_capacity(words.len() + 8);
        for character in words.chars() {
            match character {
                '"' | '\\' => out.extend(['\\', character]),
                '/' if self.escapes_slash => out.push_str("\\/"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\0'..' ' => unit(&mut out, u16::try_from(u32::from(character)).unwrap_or_default()),
                _ if self.is_ascii && !character.is_ascii() => {
                    character.encode_utf16(&mut [0; 2]).iter().for_each(|half| unit(&mut out, *half));
                }
                _ => out.push(character),
            }
        }
        out
    }
}

fn unit(out: &mut String, unit: u16) {
    // Writing to a text does not fail.
    let _ = write!(out, "\\u{unit:04x}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let whole = without_halves(json.as_bytes());
        assert_eq!(whole, expected.as_bytes());
        assert!(serde_json::from_slice::<String>(&whole).is_ok(), "{json}");
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        check(r#""a \ud83d b""#, r#""a \ufffd b""#);
        check(r#""\ud83d\ud83d\ude00\ude00""#, r#""\ufffd\ud83d\ude00\ufffd""#);
        check(r#""\\ud83d \ud83d\n""#, r#""\\ud83d \ufffd\n""#);
        check(r#""\ud83d\u0041""#, r#""\ufffd\u0041""#);
        assert_eq!(*without_halves(b"\xff\\x\\ud83d"), *b"\xff\\x\\ufffd", "what is no JSON");
        for whole in [r#"["\ud83d\ude00 \u00e9"]"#, "[]", r#"["\ud83x"]"#, "\\"] {
            assert!(matches!(without_halves(whole.as_bytes()), Cow::Borrowed(_)), "{whole}");
        }
    }

    #[test]
    fn keys_are_no_values() {
        let json = r#"{"a":"b \"c\"","d" : ["e",{"f":1}],"":""}"#;
        let found: Vec<&str> = values(json).into_iter().filter_map(|at| json.get(at)).collect();
        assert_eq!(found, [r#"b \"c\""#, "e", ""]);
        assert_eq!(Unescaped::of(r"C:\Zoo \u00zz \").says, r"C:\Zoo \u00zz \", "what is no JSON is as it is");
    }

    #[test]
    fn an_object_or_a_list_is_json() {
        for text in ["{}", " [1]\n", "\u{feff}{\"a\":\"\\ud800\"}"] {
            assert!(is_json(text), "{text}");
        }
        for text in ["", "\"a\"", "[[link]]", "{", "{} x", "- a"] {
            assert!(!is_json(text), "{text}");
        }
    }

    proptest! {
        /// The oracle is the parser of serde_json, which never saw a place.
        #[test]
        fn what_is_said_stands_where_it_is_said_to(words in prop::collection::vec(".{0,12}", 1..4), style in any::<(bool, bool)>()) {
            let style = Style { is_ascii: style.0, escapes_slash: style.1 };
            let strings: Vec<String> = words.iter().map(|words| format!("\"{}\"", style.escape(words))).collect();
            let json = format!("[{}]", strings.join(","));
            prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&json).unwrap(), &words);
            let read = Unescaped::of(&json);
            let inner: Vec<String> = values(&json).into_iter().map(|at| Unescaped::of(json.get(at).unwrap()).says).collect();
            prop_assert_eq!(&inner, &words);
            let plain: Vec<String> = words.iter().map(|words| format!("\"{words}\"")).collect();
            prop_assert_eq!(&read.says, &format!("[{}]", plain.join(",")));
            let mut start = 0;
            for (at, character) in read.says.char_indices().skip(1) {
                let end = read.range(0..at).end;
                let raw = json.get(start..end).unwrap();
                let said = read.says.get(..at).unwrap().chars().next_back().unwrap();
                let is_raw = raw.chars().eq([said]);
                let is_escape = serde_json::from_str::<String>(&format!("\"{raw}\"")).is_ok_and(|read| read.chars().eq([said]));
                prop_assert!(is_raw || is_escape, "{} is {:?} before {:?}", raw, said, character);
                start = end;
            }
        }
    }
}

//! What was written so far: bytes of tokens become text, and texts that end an answer are looked for.

/// An answer as it grows. Tokens are bytes, and one character may have its bytes in two of them.
#[derive(Debug, Default)]
pub(super) struct Written {
    text: String,
    /// The start of a character whose end has not come.
    open: Vec<u8>,
}

impl Written {
    /// Adds the bytes of a token and gives back the text that became whole, and whether one of `stop` ends the answer now. The
    /// text ends with that one. Bytes that are no UTF-8 become U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8], stop: &[String]) -> (&str, bool) {
        let before = self.text.len();
        self.open.extend_from_slice(bytes);
        self.take_whole();
        let end = stop.iter().filter_map(|stop| self.end_of(stop, before)).min();
        if let Some(end) = end {
            self.text.truncate(end);
            self.open.clear();
        }
        (self.text.get(before..).unwrap_or_default(), end.is_some())
    }

    /// The whole text. The start of a character that has no end becomes U+FFFD.
    pub(super) fn into_text(mut self) -> String {
        if !self.open.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text
    }

    fn take_whole(&mut self) {
        let mut rest = self.open.as_slice();
        let kept = loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    break &[][..];
                }
                Err(error) => {
                    let (whole, after) = rest.split_at(error.valid_up_to());
                    self.text.push_str(std::str::from_utf8(whole).unwrap_or_default());
                    match error.error_len() {
                        None => break after,
                        Some(wrong) => {
                            self.text.push(char::REPLACEMENT_CHARACTER);
                            rest = after.get(wrong..).unwrap_or_default();
                        }
                    }
                }
            }
        };
        self.open = kept.to_vec();
    }

    /// Where `stop` ends in the text, if it ends behind `before`; what is further in front was looked at already.
    fn end_of(&self, stop: &str, before: usize) -> Option<usize> {
        if stop.is_empty() {
            return None;
        }
        let from = self.text.floor_char_boundary((before + 1).saturating_sub(stop.len()));
        let found = self.text.get(from..)?.find(stop)?;
        Some(from + found + stop.len())
    }
}

//! The text of a note in a field of a form: which part of it, and its line ends, which no browser keeps.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Cuts a text into parts of at most about so many bytes on a page, at line ends where there are some. There is at least one.
pub(crate) fn parts(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, line) in lines(text) {
        let size = page_bytes(line);
        if bytes > 0 && bytes + size > most {
            parts.push(start..at);
            (start, bytes) = (at, 0);
        }
        if size > most {
            // A single line that is too long is cut where it must be.
            let mut from = at;
            while page_bytes(text.get(from..at + line.len()).unwrap_or_default()) > most {
                let end = text.floor_char_boundary(from + (most / LARGEST).max(4)).max(from + 1);
                parts.push(from..end);
                from = end;
            }
            (start, bytes) = (from, page_bytes(text.get(from..at + line.len()).unwrap_or_default()));
            continue;
        }
        bytes += size;
    }
    if start < text.len() || parts.is_empty() {
        parts.push(start..text.len());
    }
    parts
}

/// As many bytes as one byte of a text can become on a page: `"` is `&quot;`.
const LARGEST: usize = 6;

/// How many bytes a text has on a page.
fn page_bytes(text: &str) -> usize {
    text.len()
        + text
            .bytes()
            .map(|byte| match byte {
                b'"' => 5,
                b'&' => 4,
                b'<' | b'>' => 3,
                _ => 0,
            })
            .sum::<usize>()
}

/// Each line with its end, and where it starts.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find(['\n', '\r']).map_or(rest.len(), |end| {
            end + if rest.get(end..).is_some_and(|rest| rest.starts_with("\r\n")) { 2 } else { 1 }
        });
        let start = at;
        at += end;
        Some((start, rest.get(..end).unwrap_or_default()))
    })
}

/// A text as a form sends it, with `\n` alone at the end of its lines.
pub(crate) fn with_lf(sent: &str) -> String {
    sent.replace("\r\n", "\n").replace('\r', "\n")
}

/// Gives a text that a form has sent the line ends that it had: each line that was not changed its own, all others the one that is
/// most frequent.
pub(crate) fn restored(before: &str, sent: &str) -> String {
    let sent = with_lf(sent);
    let split = |(_, line): (usize, &'_ str)| -> (String, String) {
        let text = line.trim_end_matches(['\n', '\r']);
        (text.to_owned(), line.get(text.len()..).unwrap_or_default().to_owned())
    };
    let (old, new): (Vec<_>, Vec<_>) = (lines(before).map(split).collect(), lines(&sent).map(split).collect());
    let count = |end: &str| old.iter().filter(|(_, own)| own == end).count();
    let usual = ["\n", "\r\n", "\r"].into_iter().rev().max_by_key(|end| count(end)).unwrap_or("\n");
    let texts = |lines: &[(String, String)]| lines.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>();
    let mut own: Vec<Option<&str>> = vec![None; new.len()];
    for operation in capture_diff_slices(Algorithm::Myers, &texts(&old), &texts(&new)) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            for (own, (_, end)) in own.iter_mut().skip(new_index).zip(old.iter().skip(old_index)).take(len) {
                *own = Some(end);
            }
        }
    }
    let mut restored = String::with_capacity(before.len() + sent.len());
    for ((text, end), own) in new.iter().zip(own) {
        restored.push_str(text);
        if !end.is_empty() {
            // What was the last line may have got another below it.
            restored.push_str(own.filter(|own| !own.is_empty()).unwrap_or(usual));
        }
    }
    restored
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a browser sends of a field: all line ends are `\r\n`.
    fn sent(text: &str) -> String {
        with_lf(text).replace('\n', "\r\n")
    }

    #[test]
    fn a_text_that_was_not_changed_comes_back_as_it_was() {
        for text in ["", "a", "a\n", "a\r\nb\r\n", "a\nb\r\nc\rd", "\n\n\r\n", "a\r\r\nb\n\r", "ü\n\u{feff}x\r\n"] {
            assert_eq!(restored(text, &sent(text)), text, "{text:?}");
        }
    }

    #[test]
    fn lines_that_stay_keep_their_ends_and_new_ones_get_the_usual() {
        assert_eq!(restored("a\nb\r\nc\n", &sent("a\nx\nb\nc\n")), "a\nx\nb\r\nc\n");
        assert_eq!(restored("a\r\nb", &sent("a\nb\nc")), "a\r\nb\r\nc");
        assert_eq!(restored("", &sent("a\nb\n")), "a\nb\n");
        assert_eq!(restored("a\r\nb\r\n", &sent("b")), "b");
    }

    #[test]
    fn parts_are_the_whole_text_and_none_is_too_large_for_a_page() {
        let long = "x".repeat(999);
        for text in
            ["", "a", "a\nb\n", &long, &format!("{long}\n{long}ü\r\n\"&<>\n"), &"ü&\"".repeat(300), &"a\n".repeat(500)]
        {
            let parts = parts(text, 100);
            let joined: String = parts.iter().map(|part| text.get(part.clone()).unwrap()).collect();
            assert_eq!(joined, *text);
            for part in parts {
                let escaped = maud::html! { (text.get(part.clone()).unwrap()) }.into_string();
                assert!(escaped.len() <= 100, "{}: {:?}", escaped.len(), part);
                assert!(text.is_empty() || !part.is_empty());
            }
        }
    }
}

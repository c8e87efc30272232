//! What may reach a terminal: names and notes are escaped, colours only where they are seen.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use memdir_core::text::{escape_unseen, is_unseen};
use serde::Serialize;

/// Makes control characters visible, so that no note can move the cursor or change a title. Line ends and tabs stay.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    escape_unseen(text, |character| matches!(character, '\n' | '\t'))
}

/// As [`escape`], with line ends and tabs too: for names and sentences.
pub(super) fn escape_line(text: &str) -> Cow<'_, str> {
    escape_unseen(text, |_| false)
}

/// Escapes in JSON what JSON itself lets through, where it goes to a terminal; it stays the same JSON.
pub(super) fn json<'a>(json: &'a str, output: &impl IsTerminal) -> Cow<'a, str> {
    if !output.is_terminal() || !json.chars().any(|character| is_unseen(character) && character != '\n') {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        if is_unseen(character) && character != '\n' {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Shows a unified diff: to a terminal escaped and, where it wants colours, painted; elsewhere as it is.
pub(super) fn diff(diff: &str, output: &impl IsTerminal) -> String {
    painted_diff(diff, output.is_terminal(), has_colours(output))
}

/// As [`diff`], escaped wherever it goes: what is shown is no patch, but the words of somebody who is not trusted yet.
pub(super) fn escaped_diff(diff: &str, output: &impl IsTerminal) -> String {
    painted_diff(diff, true, has_colours(output))
}

/// As [`diff`], where it is known what the output is.
pub(super) fn painted_diff(diff: &str, is_escaped: bool, has_colours: bool) -> String {
    if !is_escaped {
        return diff.trim_end_matches('\n').to_owned();
    }
    let mut painted = String::with_capacity(diff.len() + 64);
    for line in diff.lines() {
        let style = match line.as_bytes() {
            _ if !has_colours => Style::new(),
            [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => Style::new().bold(),
            [b'+', ..] => AnsiColor::Green.on_default(),
            [b'-', ..] => AnsiColor::Red.on_default(),
            [b'@', b'@', ..] => AnsiColor::Cyan.on_default(),
            _ => Style::new(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(painted, "{style}{}{style:#}", escape(line));
    }
    painted.truncate(painted.trim_end_matches('\n').len());
    painted
}

/// The name of a value on the wire, for a line that shows it to a person.
pub(super) fn wire_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        other => format!("{other:?}"),
    }
}

/// A style where `output` shows colours, else none.
pub(super) fn style(style: Style, output: &impl IsTerminal) -> Style {
    if has_colours(output) { style } else { Style::new() }
}

/// Whether `output` is a terminal that shows colours; a set `NO_COLOR` says no (no-color.org).
pub(super) fn has_colours(output: &impl IsTerminal) -> bool {
    output.is_terminal() && !super::config::has_no_color()
}

#[cfg(test)]
mod tests {
    use super::{escape, escape_line};

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(escape("a\tb\nc"), "a\tb\nc");
        assert_eq!(escape("\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(escape_line("a\nb"), "a\\nb");
        assert_eq!(escape("\u{9b}31m and \u{202e}"), "\\u{9b}31m and \\u{202e}");
    }
}

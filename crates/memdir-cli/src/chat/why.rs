//! `/why`: the notes and lines that stand behind the last reply.

use std::collections::{BTreeSet, HashMap};

use super::{Chat, Last};
use crate::stop::usage;
use memdir_core::path::MemoryPath;
use memdir_core::report::{Outcome, Value};
use memdir_engine::ChangeError;
use memdir_note::Note;
use memdir_note::heading::Found;

/// How many lines of one note are shown.
const LINES: usize = 12;
/// How many citations of a reply are looked up, and how long one may be, in bytes.
const CITATIONS: usize = 20;
const MAX_CITATION: usize = 200;

/// Shows what the last reply goes by.
pub(super) fn show(chat: &mut Chat<'_>) -> Result<(), ChangeError> {
    let Some(last) = chat.last.take() else {
        return Err(usage("there is no reply yet", "say something first").into());
    };
    let shown = told(chat, &last);
    chat.last = Some(last);
    shown
}

fn told(chat: &mut Chat<'_>, last: &Last) -> Result<(), ChangeError> {
    if last.shown.is_empty() && last.said.actions.is_empty() {
        chat.talker.screen.tell("the model was shown no notes, and has read none");
    }
    for (path, text) in &last.shown {
        chat.talker.screen.show(&format!("shown: {path}"));
        // A note that is gone by now is shown as the model saw it, without numbers.
        let note = chat.read(path).unwrap_or_default();
        lines(chat, &numbered(&note, text));
    }
    for (turn, outcome) in &last.said.actions {
        chat.talker.screen.show(&format!("turn {turn}: {}", did(outcome)));
    }
    for ground in &last.said.grounds {
        chat.talker.screen.show(&format!("it says that it goes by: {ground}"));
    }
    let reply = last.said.reply.as_deref().unwrap_or_default();
    let cited = citations(reply);
    let notes = if cited.is_empty() { BTreeSet::new() } else { chat.engine.every_note()? };
    for citation in cited {
        cite(chat, &notes, citation);
    }
    Ok(())
}

/// Shows lines with their numbers, the first of them.
fn lines(chat: &mut Chat<'_>, lines: &[(Option<usize>, &str)]) {
    for (number, line) in lines.iter().take(LINES) {
        let number = number.map_or_else(String::new, |number| number.to_string());
        chat.talker.screen.show(&format!("  {number:>5} | {line}"));
    }
    if lines.len() > LINES {
        chat.talker.screen.show(&format!("        | … {} more", lines.len() - LINES));
    }
}

/// What was done, in words.
fn did(outcome: &Outcome) -> String {
    let (action, path) = (outcome.action.as_deref().unwrap_or("?"), outcome.path.as_deref().unwrap_or_default());
    let places = match &outcome.result {
        Err(failure) => format!(" → {}", failure.code),
        Ok(Value::Search(found)) => {
            let places = found.hits.iter().map(|hit| format!("{}:{}", hit.path, hit.lines[0]));
            format!(" → {}", places.collect::<Vec<_>>().join(", "))
        }
        Ok(Value::Context(found)) => {
            let places = found.parts.iter().map(|part| format!("{}:{}-{}", part.path, part.lines[0], part.lines[1]));
            format!(" → {}", places.collect::<Vec<_>>().join(", "))
        }
        Ok(Value::Text(text)) => format!(" → {} lines", text.lines().count()),
        Ok(_) => String::new(),
    };
    format!("{action} {path}{places}")
}

/// The lines of a part of a note, each with its number in the note, where it stands there: the next such line, as parts are in the
/// order of the note; else the first that is left.
fn numbered<'t>(note: &str, part: &'t str) -> Vec<(Option<usize>, &'t str)> {
    let mut places = HashMap::<&str, BTreeSet<usize>>::new();
    for (line, number) in note.lines().zip(1..) {
        places.entry(line).or_default().insert(number);
    }
    let mut last = 0;
    let mut number = |line: &str| {
        let free = places.get_mut(line)?;
        let number = free.range(last..).next().or_else(|| free.first()).copied()?;
        free.remove(&number);
        last = number;
        Some(number)
    };
    part.lines().map(|line| (number(line), line)).collect()
}

/// What stands between single brackets in a reply, as `[note]` and `[note#heading]` do; each once.
fn citations(reply: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = reply;
    while let Some((_, after)) = rest.split_once('[') {
        let inside = after.trim_start_matches('[');
        let Some(end) = inside.find(['[', ']', '\n']) else { break };
        let (cited, after) = inside.split_at(end);
        rest = after;
        let is_link = after.starts_with("](") || cited.len() > MAX_CITATION;
        if after.starts_with(']') && !is_link && !cited.trim().is_empty() && !found.contains(&cited) {
            found.push(cited);
        }
        if found.len() == CITATIONS {
            break;
        }
    }
    found
}

/// Shows where a citation leads. What names no note and no heading is none.
fn cite(chat: &mut Chat<'_>, notes: &BTreeSet<MemoryPath>, citation: &str) {
    let target = citation.split_once('|').map_or(citation, |(target, _)| target);
    let (name, heading) = target.split_once('#').map_or((target, None), |(name, heading)| (name, Some(heading)));
    let Some(path) = named(notes, name.trim()) else {
        if heading.is_some() {
            chat.talker.screen.warn(&format!("[{citation}]: there is no such note"));
        }
        return;
    };
    let text = chat.read(&path).unwrap_or_default();
    let Some(heading) = heading else { return chat.talker.screen.show(&format!("[{citation}]: {path}")) };
    let note = Note::parse(&text);
    let at = match note.heading(heading.trim()) {
        Found::One(at) => at,
        Found::Several(all) => all.first().copied().unwrap_or_default(),
        Found::Nothing => return chat.talker.screen.warn(&format!("[{citation}]: {path} has no such heading")),
    };
    let section = note.section(at);
    let first = note.line_at(section.start);
    let part: Vec<_> = text.get(section).unwrap_or_default().trim_end().lines().zip(first..).collect();
    chat.talker.screen.show(&format!("[{citation}]: {path}, from line {first}"));
    lines(chat, &part.iter().map(|(line, number)| (Some(*number), *line)).collect::<Vec<_>>());
}

/// The note that a name means: its path, with or without `.md`, or its last part where no other note has it.
fn named(notes: &BTreeSet<MemoryPath>, name: &str) -> Option<MemoryPath> {
    let exact = [name.to_owned(), format!("{name}.md")];
    let exact = exact.iter().filter_map(|path| MemoryPath::parse(path).ok()).find(|path| notes.contains(path));
    let is_called = |path: &&MemoryPath| {
        let last = path.as_str().rsplit('/').next().unwrap_or_default();
        last == name || last.strip_suffix(".md") == Some(name)
    };
    let mut called = notes.iter().filter(is_called);
    exact.or_else(|| called.next().filter(|_| called.next().is_none()).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_what_stands_in_single_brackets() {
        let check = |reply: &str, expected: &[&str]| assert_eq!(citations(reply), expected, "{reply}");
        check("She lives in Paris [jane#Home]. [jane#Home] [acme]", &["jane#Home", "acme"]);
        check("[a link](https://example.com), [[acme]], [ ], [not\nclosed], [x", &["acme"]);
        check("[[[[", &[]);
        check(&"[a]".repeat(100_000), &["a"]);
    }

    #[test]
    fn a_name_means_one_note_or_none() {
        let notes: BTreeSet<_> = ["user.md", "a/acme.md", "b/ada.md", "c/ada.md", "ada/x.md"].map(path).into();
        let check = |name: &str, expected: Option<&str>| assert_eq!(named(&notes, name), expected.map(path), "{name}");
        check("user", Some("user.md"));
        check("user.md", Some("user.md"));
        check("acme", Some("a/acme.md"));
        check("a/acme", Some("a/acme.md"));
        check("ada", None);
        check("../etc", None);
        check("", None);
    }

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    #[test]
    fn lines_of_a_part_have_the_numbers_of_the_note() {
        let note = "# Ada\n\n- city: London\n\n- pet: cat\n";
        let expected = [(Some(3), "- city: London"), (Some(4), ""), (Some(5), "- pet: cat"), (None, "gone")];
        assert_eq!(numbered(note, "- city: London\n\n- pet: cat\ngone\n"), expected);
        let expected = [(Some(5), "- pet: cat"), (Some(3), "- city: London"), (Some(4), "")];
        assert_eq!(numbered(note, "- pet: cat\n- city: London\n\n"), expected, "two parts of one note");
    }
}

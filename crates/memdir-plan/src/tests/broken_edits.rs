//! How often the call that a failed edit proposes is the right one, and that it is never a wrong one.

#![expect(clippy::string_slice, reason = "the notes and the places where they are broken are our own")]
#![expect(clippy::print_stdout, reason = "the figures are for a person who runs it with --nocapture")]

use serde_json::json;

use super::notes::{EDITS, NOTES};
use super::*;

/// A way of breaking a text: what it is called, and the text broken in the given round; `None` where it cannot be.
type Break = (&'static str, fn(&str, usize) -> Option<String>);

/// The ways in which models get `old_content` wrong.
const BREAKS: &[Break] = &[
    ("letter replaced", |text, round| {
        at_letter(text, round, |letter| Some(if letter == 'x' { 'k' } else { 'x' }), false)
    }),
    ("letter dropped", |text, round| at_letter(text, round, |_| None, false)),
    ("letter doubled", |text, round| at_letter(text, round, Some, true)),
    ("letters swapped", letters_swapped),
    ("case", |text, _| Some(text.to_lowercase())),
    ("title case", |text, _| Some(title_case(text))),
    ("blank dropped", |text, round| without_blank(text, round)),
    ("blank doubled", |text, round| at_blank(text, round, "  ")),
    ("no blank after colon", |text, _| Some(text.replace(": ", ":"))),
    ("indentation lost", |text, _| Some(each_line(text, |line| line.trim_start().to_owned()))),
    ("indentation added", |text, _| Some(each_line(text, |line| format!("  {line}")))),
    ("indentation doubled", |text, _| {
        Some(each_line(text, |line| {
            let depth = line.len() - line.trim_start().len();
            format!("{}{line}", " ".repeat(depth))
        }))
    }),
    ("tabs to blanks", |text, _| Some(text.replace('\t', "    "))),
    ("blanks to tabs", |text, _| Some(each_line(text, |line| line.replace("  ", "\t")))),
    ("inner list marker lost", inner_marker_lost),
    ("word dropped", |text, round| word(text, round, |_| None)),
    ("word replaced", |text, round| word(text, round, |_| Some("something"))),
    ("lines swapped", lines_swapped),
    ("curly quotes", |text, _| Some(text.replace('\'', "’").replace('"', "”"))),
    ("dashes", |text, _| Some(text.replace('–', "-").replace(" - ", " – "))),
    ("escaped line ends", |text, _| Some(text.replace("\r\n", "\\n").replace('\n', "\\n"))),
    ("middle line missing", middle_line_missing),
    ("last value stale", last_value_stale),
    ("emphasis lost", |text, _| Some(text.replace(['*', '`'], ""))),
    ("bold lost", |text, _| Some(text.replace("**", ""))),
    ("brackets lost", |text, _| Some(text.replace("[[", "").replace("]]", ""))),
    ("numbers off", numbers_off),
    ("other list marker", |text, _| {
        Some(each_line(text, |line| match line.strip_prefix("- ") {
            Some(rest) => format!("* {rest}"),
            None => line.replacen("* ", "- ", 1),
        }))
    }),
    ("escaped quotes", |text, _| Some(text.replace('"', "\\\""))),
    ("umlauts lost", |text, _| Some(text.replace('ä', "a").replace('ö', "o").replace('ü', "u").replace('Ö', "O"))),
    ("lines joined", |text, _| {
        let body = text.trim_end();
        Some(format!("{}{}", body.replace("\r\n", " ").replace('\n', " "), &text[body.len()..]))
    }),
    ("full stop added", |text, _| (!text.ends_with(['.', '\n'])).then(|| format!("{text}."))),
];

/// The place of a letter inside the text, another one each round.
fn letter_at(text: &str, round: usize) -> Option<usize> {
    let letters: Vec<_> = text.char_indices().filter(|(_, letter)| letter.is_alphabetic()).map(|(at, _)| at).collect();
    letters.get((round * 7 + 3) % letters.len().max(1)).copied()
}

fn at_letter(text: &str, round: usize, with: fn(char) -> Option<char>, keep: bool) -> Option<String> {
    let at = letter_at(text, round)?;
    let letter = text[at..].chars().next()?;
    let rest = &text[if keep { at } else { at + letter.len_utf8() }..];
    Some(format!("{}{}{rest}", &text[..at], with(letter).map_or(String::new(), String::from)))
}

fn letters_swapped(text: &str, round: usize) -> Option<String> {
    let at = letter_at(text, round)?;
    let mut letters: Vec<char> = text.chars().collect();
    let index = text[..at].chars().count();
    (index + 1 < letters.len() && letters[index + 1].is_alphabetic()).then(|| letters.swap(index, index + 1))?;
    Some(letters.into_iter().collect())
}

fn title_case(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
    });
    words.collect::<Vec<_>>().join(" ")
}

fn at_blank(text: &str, round: usize, with: &str) -> Option<String> {
    let blanks: Vec<_> = text.match_indices(' ').map(|(at, _)| at).collect();
    let at = *blanks.get((round * 3 + 1) % blanks.len().max(1))?;
    Some(format!("{}{with}{}", &text[..at], &text[at + 1..]))
}

fn without_blank(text: &str, round: usize) -> Option<String> {
    at_blank(text, round, "")
}

fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.split_inclusive('\n').map(&change).collect()
}

fn inner_marker_lost(text: &str, _: usize) -> Option<String> {
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let inner = lines.iter().skip(1).position(|line| line.starts_with("- ") || line.starts_with("* "))? + 1;
    Some(lines.iter().enumerate().map(|(at, line)| if at == inner { &line[2..] } else { line }).collect())
}

fn word(text: &str, round: usize, with: fn(&str) -> Option<&'static str>) -> Option<String> {
    let words: Vec<_> = text.split(' ').collect();
    // Not at the ends: what is missing there is still found literally, what is replaced there is another case.
    let inner = words.len().checked_sub(2).filter(|inner| *inner > 0)?;
    let chosen = 1 + (round * 5 + 1) % inner;
    if words[chosen].contains('\n') || !words[chosen].contains(char::is_alphanumeric) {
        return None;
    }
    let changed = words.iter().enumerate().filter_map(|(at, word)| if at == chosen { with(word) } else { Some(*word) });
    Some(changed.collect::<Vec<_>>().join(" "))
}

fn lines_swapped(text: &str, round: usize) -> Option<String> {
    let ends = text.ends_with('\n');
    let mut lines: Vec<_> = text.trim_end().lines().collect();
    let at = round % lines.len().checked_sub(1).filter(|last| *last > 0)?;
    lines.swap(at, at + 1);
    Some(format!("{}{}", lines.join("\n"), if ends { "\n" } else { "" }))
}

fn middle_line_missing(text: &str, _: usize) -> Option<String> {
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    (lines.len() >= 3).then(|| [&lines[..1], &lines[2..]].concat().concat())
}

fn last_value_stale(text: &str, round: usize) -> Option<String> {
    let (key, value) = text.rsplit_once(": ")?;
    let values = ["Berlin", "Helsinki", "42"];
    (!value.contains(' ') && !value.contains('\n')).then(|| format!("{key}: {}", values[round % 3]))
}

fn numbers_off(text: &str, round: usize) -> Option<String> {
    let digits: Vec<_> = text.match_indices(|digit: char| digit.is_ascii_digit()).collect();
    let (at, digit) = digits.get(round % digits.len().max(1))?;
    let other = (digit.parse::<u32>().unwrap() + 4) % 10;
    Some(format!("{}{other}{}", &text[..*at], &text[at + 1..]))
}

#[derive(Default)]
struct Tally {
    right: usize,
    none: usize,
    wrong: usize,
}

/// Sends the broken edit, then what the failure proposes, and compares the note.
fn try_one(note: &str, old: &str, broken: &str, new: &str, tally: &mut Tally, name: &str) {
    let tree = MapTree::of([("note.md", note)]);
    let edit = json!({"action": "update_file", "path": "note.md", "old_content": broken, "new_content": new});
    let mut planner = Planner::new(&tree, &Limits::default());
    let Err(failure) = planner.answer(&cleared(call(1, &edit))).result else { return };
    let expected = note.replacen(old, &lines::with_end(new, lines::own_end(note)), 1);
    let Some(action) = failure.details.action else {
        tally.none += 1;
        println!("none  {name}: {broken:?}: {}", failure.hint.unwrap_or_default());
        return;
    };
    let again = Call { action, ..call(1, &edit) };
    planner.answer(&cleared(again)).result.unwrap();
    let mut after = tree.clone();
    after.apply(planner.finish().steps()).unwrap();
    if after.get("note.md").unwrap() == expected.as_bytes() {
        tally.right += 1;
    } else {
        tally.wrong += 1;
        let got = String::from_utf8_lossy(after.get("note.md").unwrap()).into_owned();
        println!("WRONG {name}: {broken:?}\n{}", diff::hunks(&expected, &got));
    }
}

/// Breaks every edit in every way, and tells how many proposals were right, missing and wrong.
fn tally(edits: &[(usize, String)], rounds: usize) -> Tally {
    let mut tally = Tally::default();
    for (name, broken) in BREAKS {
        let before = (tally.right, tally.none);
        let mut seen = std::collections::BTreeSet::new();
        for (at, (note, old)) in edits.iter().enumerate() {
            let note = NOTES[*note];
            assert_eq!(note.matches(old.as_str()).count(), 1, "{old:?} stands once");
            for round in 0..rounds {
                let Some(text) = broken(old, round + at) else { continue };
                // What still stands there, or is found loosely, is no broken edit.
                let stands = !needle::exact(note, &text).is_empty() || needle::loose(note, &text).len() == 1;
                if text.trim().is_empty() || text == *old || stands || !seen.insert((at, text.clone())) {
                    continue;
                }
                let new = format!("{} (changed {at})", old.trim_end().replace("\r\n", "\n"));
                let new = if old.ends_with('\n') { format!("{new}\n") } else { new };
                try_one(note, old, &text, &new, &mut tally, name);
            }
        }
        println!("{name}: {} right, {} without a call", tally.right - before.0, tally.none - before.1);
    }
    tally
}

#[test]
fn a_broken_edit_proposes_the_right_one_and_never_a_wrong_one() {
    let edits: Vec<_> = EDITS.iter().map(|(note, old)| (*note, (*old).to_owned())).collect();
    let Tally { right, none, wrong } = tally(&edits, 3);
    let share = right as f64 / (right + none + wrong) as f64;
    println!("{right} right ({share:.3}), {none} without a call, {wrong} wrong");
    assert!(right + none + wrong >= 200);
    assert_eq!(wrong, 0);
    assert!(share >= 0.95, "{share}");
}

/// The same over lines and blocks of two and three lines of the notes, which nobody chose: every fifth of them.
#[test]
fn no_broken_block_proposes_a_wrong_one() {
    let mut edits = Vec::new();
    for (at, note) in NOTES.iter().enumerate() {
        let ranges = lines::ranges(note);
        for count in 1..=3 {
            for block in ranges.windows(count) {
                let old = note[block[0].start..block[count - 1].end].trim_end_matches(['\r', '\n']);
                let is_short = old.chars().filter(|letter| letter.is_alphanumeric()).count() < 6;
                if !is_short && note.matches(old).count() == 1 && !old.starts_with(['\r', '\n']) {
                    edits.push((at, old.to_owned()));
                }
            }
        }
    }
    let edits: Vec<_> = edits.into_iter().step_by(5).collect();
    let Tally { right, none, wrong } = tally(&edits, 1);
    let share = right as f64 / (right + none + wrong) as f64;
    println!("{right} right ({share:.3}), {none} without a call, {wrong} wrong");
    assert_eq!(wrong, 0);
    assert!(share >= 0.9, "{share}");
}

//! What is proposed to make a memory tidier, and that making it leaves nothing of that.

use std::collections::BTreeMap;

use super::path;
use crate::{File, Look, Seen, TidyStep, check, tidy};
use memdir_core::action::{Action, CreateFile, DeleteFile, ReplaceSection, UpdateFile};
use memdir_core::time::Timestamp;
use memdir_note::{self as note, Note, Web};

type Memory = BTreeMap<String, String>;

fn memory(notes: &[(&str, &str)]) -> Memory {
    notes.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn steps(memory: &Memory) -> Vec<TidyStep> {
    let (mut files, mut seen) = (Vec::new(), Vec::new());
    for (name, text) in memory {
        let parsed = Note::parse(text);
        files.push(File { path: path(name), is_link: false, look: Some(Look::of(text, &parsed, Vec::new())) });
        seen.push((path(name), Some(note::Seen::of_note(&parsed))));
    }
    let web = Web::new(seen);
    let links = web.links();
    let all = Seen {
        files: &files,
        links: &links,
        targets: web.targets(),
        note_bytes: 1 << 20,
        excluded: &note::Excluded::NONE,
        past_status: &[],
    };
    let mut read = |path: &memdir_core::path::MemoryPath| memory.get(path.as_str()).cloned();
    let checked = check(&all, &mut read);
    tidy(&all, &checked, Timestamp::parse("2026-11-24").unwrap(), &mut read)
}

/// Makes a step, as plainly as can be.
#[expect(clippy::wildcard_enum_match_arm, reason = "an action that no step has fails the test")]
fn make(memory: &mut Memory, step: &TidyStep) {
    for action in &step.actions {
        match action {
            Action::UpdateFile(UpdateFile { path, old_content, new_content, .. }) => {
                let text = memory.get_mut(path.as_str()).unwrap();
                assert_eq!(text.matches(old_content.as_str()).count(), 1, "{old_content:?}");
                *text = text.replacen(old_content, new_content, 1);
            }
            Action::DeleteFile(DeleteFile { path }) => assert!(memory.remove(path.as_str()).is_some()),
            Action::CreateFile(CreateFile { path, content }) => {
                assert!(memory.insert(path.to_string(), content.clone()).is_none());
            }
            Action::ReplaceSection(ReplaceSection { path, heading, content }) => {
                let text = memory.get_mut(path.as_str()).unwrap();
                let start = text.find(&format!("## {heading}\n")).unwrap() + heading.len() + 4;
                let end = text.split_at(start).1.find("\n## ").map_or(text.len(), |at| start + at + 1);
                text.replace_range(start..end, &format!("\n{content}\n"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The reasons of the steps, in order, once all are made one after the other and nothing is left to do.
#[track_caller]
fn check_steps(notes: &[(&str, &str)], reasons: &[&str]) -> Memory {
    let mut memory = memory(notes);
    let steps = steps(&memory);
    assert_eq!(steps.iter().map(|step| step.why).collect::<Vec<_>>(), reasons);
    steps.iter().for_each(|step| make(&mut memory, step));
    assert_eq!(self::steps(&memory), []);
    memory
}

#[test]
fn a_fact_whose_time_is_over_goes_where_its_key_says_nothing_else() {
    let text = "# Ada\n- permit: A12 (until 2024-05)\n- job: nurse (2010–2014)\n- job: pilot (2015–)\n- pass: B (until 2030)\n";
    let after = check_steps(&[("user.md", text)], &["its time is over"]);
    assert_eq!(after["user.md"], text.replace("- permit: A12 (until 2024-05)\n", ""));
}

#[test]
fn a_twin_goes_that_says_nothing_of_its_own() {
    let words: String = (0..60).map(|number| format!("word{number} ")).collect();
    let kept = format!("{words}\n\nmore [[user]]\n");
    let twin = format!("{words}\n");
    check_steps(&[("user.md", "x"), ("a.md", &kept), ("old/a.md", &twin)], &["another note says all of it"]);
    // One line of its own, or a link to it, and it stays.
    check_steps(&[("user.md", "x"), ("a.md", &kept), ("old/a.md", &format!("{twin}\nown\n"))], &[]);
    check_steps(&[("user.md", "[[old/a]]"), ("a.md", &kept), ("old/a.md", &twin)], &[]);
}

#[test]
fn a_note_without_links_is_linked_where_it_is_named() {
    let club = ("places/harbour.md", "# Harbour Club\n\nBy the sea.\n");
    let why = ["it names a note to which no link leads"];
    let linked = check_steps(&[("user.md", "I know the Harbour Club.\n"), club], &why);
    assert_eq!(linked["user.md"], "I know the [[harbour|Harbour Club]].\n");
    for text in ["the Harbour Clubs\n", "`Harbour Club`\n", "# Harbour Club\n", "---\nat: Harbour Club\n---\n"] {
        let found = steps(&memory(&[("user.md", text), club]));
        assert!(found.iter().all(|step| step.why != why[0]), "{text:?} {found:?}");
    }
}

#[test]
fn the_long_sections_of_a_long_note_become_notes() {
    let part = |number: usize| format!("## Part {number}\n\n{}\n", format!("text{number} ").repeat(900));
    let text = format!("# Long\n\n[[user]]\n\n{}{}{}## Short\n\nfew\n", part(1), part(2), part(3));
    let after = check_steps(&[("user.md", "x"), ("long.md", &text)], &["its note has grown too long"]);
    assert!(after["long.md"].len() <= 16_000);
    let moved = after.keys().find(|path| path.starts_with("long ")).unwrap();
    assert!(after["long.md"].contains(&format!("[[{}]]", moved.strip_suffix(".md").unwrap())));
    // No word is lost.
    for number in 1..=3 {
        let word = format!("text{number} ");
        let count =
            |texts: &Memory| texts.values().map(|text| text.replace('\n', " ").matches(&word).count()).sum::<usize>();
        assert_eq!(count(&after), 900, "{word}");
    }
}

#[test]
fn a_step_is_the_same_whatever_stands_around_its_place() {
    let one = steps(&memory(&[("user.md", "# Ada\n- permit: A (until 2024)\n")]));
    let other = steps(&memory(&[("user.md", "# Ada\n\nMore text, and then:\n\n- permit: A (until 2024)\n- x: y\n")]));
    assert_eq!(one[0].identity(), other[0].identity());
    let another = steps(&memory(&[("user.md", "# Ada\n- permit: B (until 2024)\n")]));
    assert_ne!(one[0].identity(), another[0].identity());
}

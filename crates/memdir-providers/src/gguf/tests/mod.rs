#![expect(clippy::disallowed_methods, reason = "tests play the person, who has files with weights")]

use std::path::Path;

use super::prompt::{Part, parts};
use super::written::Written;
use super::{Gguf, Options};
use memdir_model::{ModelError, Role};

mod with_model;

fn options(path: &Path) -> Options {
    Options {
        name: "tried".to_owned(),
        path: path.to_owned(),
        threads: None,
        context_tokens: Some(2048),
        prefixes: None,
    }
}

/// What is heard of the pieces, the text, and whether it was stopped.
#[track_caller]
fn check_written(pieces: &[&[u8]], stop: &[&str], heard: &[&str], text: &str, stopped: bool) {
    let stop: Vec<String> = stop.iter().map(|stop| (*stop).to_owned()).collect();
    let mut written = Written::default();
    let mut is_stopped = false;
    let found: Vec<String> = pieces
        .iter()
        .map(|piece| {
            let (piece, is_end) = written.push(piece, &stop);
            is_stopped = is_end;
            piece.to_owned()
        })
        .collect();
    assert_eq!((found.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), is_stopped), (heard, stopped));
    assert_eq!(written.into_text(), text);
}

#[test]
fn characters_are_held_back_until_they_are_whole() {
    check_written(&[b"a", b"\xc3", b"\xa9b\xe2\x98", b"\x83"], &[], &["a", "", "éb", "☃"], "aéb☃", false);
}

#[test]
fn what_is_no_character_is_replaced() {
    check_written(
        &[b"a\xffb", b"\xe2\x98", b"c", b"\xe2"],
        &[],
        &["a\u{fffd}b", "", "\u{fffd}c", ""],
        "a\u{fffd}b\u{fffd}c\u{fffd}",
        false,
    );
}

#[test]
fn an_answer_ends_behind_the_first_text_that_ends_it() {
    check_written(
        &[b"<reply>x", b"</re", b"ply>\nmore"],
        &["</reply>"],
        &["<reply>x", "</re", "ply>"],
        "<reply>x</reply>",
        true,
    );
    check_written(&[b"one two"], &["two", "one"], &["one"], "one", true);
    check_written(&[b"\xe2\x98", b"\x83!\xe2"], &["", "☃"], &["", "☃"], "☃", true);
    check_written(&[b"</re", b"</reply"], &["</reply>"], &["</re", "</reply"], "</re</reply", false);
}

fn marks(text: &str) -> Part {
    Part::Marks(text.to_owned())
}

#[test]
fn a_template_is_cut_at_the_texts() {
    let chat = |messages: &[(&str, String)]| {
        Some(messages.iter().map(|(role, text)| format!("<{role}>{text}<end>")).collect::<String>() + "<assistant>")
    };
    let roles = [Role::User, Role::Assistant, Role::User];
    let whole = [
        marks("<system>"),
        Part::Text(0),
        marks("<end><user>"),
        Part::Text(1),
        marks("<end><assistant>"),
        Part::Text(2),
        marks("<end><user>"),
        Part::Text(3),
        marks("<end><assistant>"),
    ];
    assert_eq!(parts(true, &roles, chat), whole);
    let rest = parts(false, &roles, chat);
    assert_eq!((rest.first(), rest.get(1..)), (Some(&marks("<user>")), whole.get(3..)));
}

#[test]
fn a_template_without_a_system_text_gets_it_in_front_of_the_first_message() {
    let chat = |messages: &[(&str, String)]| {
        let users = messages.iter().filter(|(role, _)| *role != "system");
        Some(users.map(|(role, text)| format!("<{role}>{text}")).collect())
    };
    let expected = [marks("<user>"), Part::Text(0), marks("\n\n"), Part::Text(1)];
    assert_eq!(parts(true, &[Role::User], chat), expected);
}

#[test]
fn without_a_template_a_conversation_is_plain() {
    let expected = [Part::Text(0), marks("\n\n"), marks("User: "), Part::Text(1), marks("\n\n"), marks("Assistant: ")];
    assert_eq!(parts(true, &[Role::User], |_| None), expected);
    assert_eq!(parts(true, &[Role::User], |_| Some("nothing of it".to_owned())), expected);
}

#[track_caller]
fn check_unloadable(path: &Path, expected: &str) {
    match Gguf::load(options(path), &mut |_| ()) {
        Err(ModelError::Unloadable { why, hint, .. }) => {
            assert!(why.contains(expected), "{why}");
            assert!(!hint.is_empty() && !why.contains(&path.display().to_string()), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_none_with_weights_is_refused_before_it_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.gguf");
    check_unloadable(&path, "cannot be read: entity not found");
    check_unloadable(folder.path(), "not that of a file");
    for (bytes, expected) in [
        (&b""[..], "not in the GGUF format"),
        (b"GGU", "not in the GGUF format"),
        (b"# a note\n\n- city: London\n", "not in the GGUF format"),
        (b"FGUG\x03\0\0\0", "not in the GGUF format"),
        (b"GGUF\x03\0", "cut off"),
        (b"GGUF\x01\0\0\0", "version 1 of"),
        (b"GGUF\0\0\0\x03", "version 50331648 of"),
    ] {
        std::fs::write(&path, bytes).unwrap();
        check_unloadable(&path, expected);
    }
}

#[test]
fn a_damaged_outline_is_refused_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.gguf");
    let start =
        |tensors: u64, keys: u64| [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &keys.to_le_bytes()].concat();
    for rest in [
        &b""[..],
        b"\0\0\0\0\0\0\0\0",
        &[0xff; 64],
        b"\x04\0\0\0\0\0\0\0kind\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f",
    ] {
        for (tensors, keys) in [(0, 0), (1, 1), (u64::MAX, u64::MAX), (1 << 40, 1), (0, 1)] {
            std::fs::write(&path, [&start(tensors, keys), rest].concat()).unwrap();
            check_unloadable(&path, "");
        }
    }
}

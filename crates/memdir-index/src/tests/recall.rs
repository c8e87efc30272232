//! Every word of every note finds its note. The words are told by the letters of the text, not by our own reader of words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::index;
use memdir_core::path::MemoryPath;
use memdir_plan::Wanted;
use memdir_rank::{Question, Source};

/// The runs of Latin letters in a text, in the case that they are written in.
fn runs(text: &str) -> BTreeSet<&str> {
    text.split(|character: char| !character.is_ascii_alphabetic()).filter(|run| run.len() > 1).collect()
}

/// Whether a run stands in the text as a word of its own, between white space and plain marks.
fn stands_alone(text: &str, run: &str) -> bool {
    text.split(|character: char| character.is_whitespace() || matches!(character, '.' | ',' | ':' | ';' | '(' | ')'))
        .any(|word| word == run)
}

#[track_caller]
fn check(notes: &[(String, String)]) -> usize {
    let held: Vec<_> = notes.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let index = index(&held);
    let mut asked = 0;
    for (path, text) in notes {
        let path = MemoryPath::parse(path).unwrap();
        let number = index.number(&path).unwrap().unwrap();
        for word in runs(text).into_iter().filter(|word| stands_alone(text, word)) {
            let question = Question::of(word).unwrap();
            let is_held = question.words().iter().any(|word| {
                let found = index.matching(word.stems()).unwrap();
                found.iter().any(|(note, _)| *note == number)
            });
            assert!(is_held, "`{word}` does not find {path} from the index");
            let evidence = Wanted::of(question.words()).evidence(&path, text);
            assert!(!evidence.found.is_empty(), "`{word}` does not find {path} by reading it");
            asked += 1;
        }
    }
    asked
}

fn notes_below(folder: &Path, top: &Path, notes: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            notes_below(&path, top, notes);
        } else if path.extension().is_some_and(|end| end == "md") {
            let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
            if let (Ok(_), Ok(text)) = (MemoryPath::parse(&name), std::fs::read_to_string(&path)) {
                notes.push((name, text));
            }
        }
    }
}

#[test]
fn words_whose_stem_has_a_stem_of_its_own() {
    let words = "coffee university course database degree nurse license Louise agreed houses Hunde ciudades";
    let notes = words.split(' ').map(|word| (format!("{word}.md"), format!("Something of {word} here.\n")));
    assert!(check(&notes.collect::<Vec<_>>()) > 40);
}

/// All notes of `examples/`, and of the shared data where it is beside the repository.
#[test]
fn every_word_finds_its_note() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("../../examples/household")];
    let shared = here.join("../../../shared/data");
    let inside = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    for part in ["memories", "vaults", "conversations"] {
        folders.extend(inside(shared.join(part)).filter(|path| path.is_dir()));
    }
    let mut asked = 0;
    for folder in folders {
        let mut notes = Vec::new();
        notes_below(&folder, &folder, &mut notes);
        asked += check(&notes);
    }
    assert!(asked > 150, "{asked}");
}

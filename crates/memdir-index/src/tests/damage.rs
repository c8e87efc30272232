use super::{Dump, bytes, damaged, dump, fill, is_empty, path, place};
use crate::{Index, IndexError};
use memdir_rank::Source;

const PAGE: usize = 8192;

fn notes() -> Vec<(String, String)> {
    let text = |number: usize| {
        format!(
            "# Note {number}\n\n[[note{}]] word{number} common\n\n- key: value{number}\n{}",
            number / 2,
            "more ".repeat(number)
        )
    };
    (0..40).map(|number| (format!("folder{}/note{number}.md", number % 3), text(number))).collect()
}

fn filled(index: &mut Index) {
    let notes = notes();
    let notes: Vec<_> = notes.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
    fill(index, &notes);
}

fn all(index: &Index) -> Result<Dump, String> {
    let paths = ["folder0/note0.md", "folder1/note7.md", "folder2/note38.md"].map(path);
    dump(index, &["common", "word7", "note", "commom"], &["note3", "note0"], &paths)
}

/// Opens what is there, asks everything, and changes something. What is said is right, or that it is damaged.
fn trial(file: &std::path::Path, right: &Dump) -> (bool, bool) {
    let mut index = Index::open(file, Some(b"history")).unwrap();
    let said = all(&index);
    let is_right = match &said {
        Ok(said) => {
            let is_right = said == right;
            // What is kept of a note is sealed.
            if said.each.len() == right.each.len() && !said.status.eq(&Default::default()) {
                for (said, right) in said.each.iter().zip(&right.each) {
                    assert_eq!((&said.seen, &said.look), (&right.seen, &right.look));
                }
            }
            is_right
        }
        Err(words) => {
            assert!(index.is_damaged() || words == "a number of no note", "{words}");
            false
        }
    };
    let written = index.write().and_then(|mut writing| {
        writing.remove(&path("folder0/note0.md"))?;
        let swept = super::swept("folder9/new.md", 3);
        writing.put(&swept, Some(&crate::NoteRecord::of(&swept.path, "common", Vec::new())))?;
        writing.commit()
    });
    if let Err(error) = written {
        assert!(damaged(&error) && index.is_damaged(), "{error}");
    }
    (is_right, index.is_damaged())
}

#[test]
fn no_damage_is_more_than_damage() {
    let (_folder, file) = place();
    let mut index = Index::open(&file, Some(b"history")).unwrap();
    filled(&mut index);
    let right = all(&index).unwrap();
    crate::file::shorten_log(&index.db);
    drop(index);
    let whole = bytes(&file);
    let pages = whole.len() / PAGE;
    let (mut right_ones, mut damaged_ones, mut other) = (0, 0, 0);
    let places = (0..pages).flat_map(|page| [0, 3, 8, 60, 1000, 5000, 8000, 8180].map(|at| page * PAGE + at));
    for (number, at) in places.enumerate() {
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(file.with_file_name(format!("index.sqlite{end}")));
        }
        let mut broken = whole.clone();
        for (offset, byte) in broken[at..at + 4].iter_mut().enumerate() {
            *byte ^= [0xff, 0x01, 0x80, 0x55][(number + offset) % 4];
        }
        std::fs::write(&file, &broken).unwrap();
        match trial(&file, &right) {
            (true, false) => right_ones += 1,
            (_, true) => damaged_ones += 1,
            (false, false) => other += 1,
        }
    }
    assert!(right_ones > 0 && damaged_ones > 0, "{right_ones} {damaged_ones} {other}");
    // A letter of a name or of a word may be another, and an index of another version is empty.
    assert!(other * 4 < right_ones + damaged_ones, "{right_ones} {damaged_ones} {other}");
}

#[test]
fn a_file_that_is_cut() {
    let (_folder, file) = place();
    let mut index = Index::open(&file, Some(b"history")).unwrap();
    filled(&mut index);
    let right = all(&index).unwrap();
    crate::file::shorten_log(&index.db);
    drop(index);
    let whole = bytes(&file);
    for length in (0..whole.len()).step_by(1500) {
        Index::remove(&file).unwrap();
        std::fs::write(&file, &whole[..length]).unwrap();
        trial(&file, &right);
        // Once it is removed all is well.
        Index::remove(&file).unwrap();
    }
    is_empty(&Index::open(&file, Some(b"history")).unwrap());
}

#[test]
fn what_is_no_index_of_this_history_is_made_anew() {
    let (_folder, file) = place();
    let mut index = Index::open(&file, None).unwrap();
    filled(&mut index);
    drop(index);
    let index = Index::open(&file, None).unwrap();
    assert_eq!(index.known().unwrap().len(), 40, "the same history");
    drop(index);
    // The memory got its history since; which of its batches are known nobody can tell.
    let mut index = Index::open(&file, Some(b"one")).unwrap();
    assert_eq!((index.known().unwrap().len(), index.status().unwrap().batch), (40, 0));
    filled(&mut index);
    drop(index);
    for history in [Some(&b"two"[..]), Some(b"three"), None] {
        let mut index = Index::open(&file, history).unwrap();
        is_empty(&index);
        filled(&mut index);
    }
    for change in ["PRAGMA user_version = 99", "PRAGMA application_id = 5", "DROP TABLE state", "DELETE FROM state"] {
        rusqlite::Connection::open(&file).unwrap().execute_batch(change).unwrap();
        let mut index = Index::open(&file, None).unwrap();
        is_empty(&index);
        filled(&mut index);
    }
    Index::remove(&file).unwrap();
    std::fs::write(&file, "no database, but long enough to be one; ".repeat(1000)).unwrap();
    is_empty(&Index::open(&file, None).unwrap());
    Index::remove(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    is_empty(&Index::open(&file, None).unwrap());
    Index::remove(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    std::fs::write(file.join("of somebody's"), "").unwrap();
    assert!(Index::open(&file, None).is_err(), "what is in a folder is not ours");
}

/// Nothing that stands in a file is run.
#[test]
fn triggers_and_views_of_a_file_do_nothing() {
    let (_folder, file) = place();
    let mut index = Index::open(&file, None).unwrap();
    filled(&mut index);
    drop(index);
    let hostile = "CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM state; END";
    rusqlite::Connection::open(&file).unwrap().execute_batch(hostile).unwrap();
    let mut index = Index::open(&file, None).unwrap();
    fill(&mut index, &[("new.md", "one")]);
    assert_eq!(index.status().unwrap().files, 41);
    drop(index);
    let hostile = "DROP TRIGGER t; ALTER TABLE link RENAME TO l; CREATE VIEW link AS SELECT 1 AS file, 'note0' AS name";
    rusqlite::Connection::open(&file).unwrap().execute_batch(hostile).unwrap();
    let index = Index::open(&file, None).unwrap();
    assert!(index.linking("note0", 9).is_err() && index.is_damaged());
}

/// Whoever owns the file reads what is written to it, and whoever may write to it says what is found.
#[cfg(unix)]
#[test]
fn what_others_may_write_is_not_ours() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let (_folder, file) = place();
    filled(&mut Index::open(&file, None).unwrap());
    set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
    is_empty(&Index::open(&file, None).unwrap());
    assert_eq!(metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    set_permissions(file.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(Index::open(&file, None), Err(IndexError::NoWriteAccess)));
}

use super::{dump, fill, index, is_empty, path, place, swept};
use crate::{Index, NoteRecord};
use memdir_note::stem::Stem;
use memdir_rank::Source;

#[test]
fn two_write_in_turn_and_others_read() {
    let (_folder, file) = place();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let file = &file;
            scope.spawn(move || {
                let mut index = Index::open(file, None).unwrap();
                for number in 0..40 {
                    let swept = swept(&format!("w{writer}/n{number}.md"), 1);
                    let mut writing = index.write_patiently().unwrap();
                    writing.put(&swept, Some(&NoteRecord::of(&swept.path, "word", Vec::new()))).unwrap();
                    writing.commit().unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut index = Index::open(&file, None).unwrap();
            for _ in 0..80 {
                let reading = index.begin_read().unwrap();
                let (files, holding) =
                    (reading.status().unwrap().files, reading.holding(&Stem::forms("word")).unwrap());
                assert_eq!(
                    (reading.known().unwrap().len(), reading.matching(&Stem::forms("word")).unwrap().len()),
                    (files, holding)
                );
                assert_eq!((reading.notes().unwrap(), holding), (files, files));
            }
        });
    });
    let index = Index::open(&file, None).unwrap();
    assert_eq!((index.holding(&Stem::forms("word")).unwrap(), index.status().unwrap().files), (80, 80));
}

#[test]
fn what_is_not_committed_is_not_there() {
    let (_folder, file) = place();
    let mut index = Index::open(&file, None).unwrap();
    fill(&mut index, &[("a.md", "one"), ("b.md", "two")]);
    let mut other = Index::open(&file, None).unwrap();
    let reading = other.begin_read().unwrap();
    let mut writing = index.write().unwrap();
    writing.remove(&path("a.md")).unwrap();
    writing.put(&swept("b.md", 9), Some(&NoteRecord::of(&path("b.md"), "three", Vec::new()))).unwrap();
    writing.set_batch(5).unwrap();
    assert_eq!(
        (writing.holding(&Stem::forms("one")).unwrap(), writing.holding(&Stem::forms("three")).unwrap()),
        (0, 1),
        "seen here"
    );
    assert_eq!(
        (reading.holding(&Stem::forms("one")).unwrap(), reading.holding(&Stem::forms("three")).unwrap()),
        (1, 0),
        "and nowhere else"
    );
    // As if the process were killed here.
    drop(writing);
    for index in [&index, &*reading] {
        assert_eq!(
            (index.holding(&Stem::forms("one")).unwrap(), index.holding(&Stem::forms("three")).unwrap()),
            (1, 0)
        );
        assert_eq!((index.status().unwrap().batch, index.known().unwrap().len()), (0, 2));
    }
    let mut writing = index.write().unwrap();
    writing.remove(&path("a.md")).unwrap();
    writing.commit().unwrap();
    assert_eq!(
        (index.holding(&Stem::forms("one")).unwrap(), reading.holding(&Stem::forms("one")).unwrap()),
        (0, 1),
        "a reading stays as it began"
    );
    drop(reading);
    assert_eq!(other.holding(&Stem::forms("one")).unwrap(), 0);
}

/// A log that a killed process has left is read by the next.
#[test]
fn the_log_of_one_that_was_killed_is_read() {
    let (folder, file) = place();
    let mut index = Index::open(&file, None).unwrap();
    fill(&mut index, &[("a.md", "one")]);
    let copy = folder.path().canonicalize().unwrap().join("copy.sqlite");
    std::fs::copy(&file, &copy).unwrap();
    std::fs::copy(file.with_file_name("index.sqlite-wal"), copy.with_file_name("copy.sqlite-wal")).unwrap();
    assert_eq!(Index::open(&copy, None).unwrap().holding(&Stem::forms("one")).unwrap(), 1);
}

#[cfg(unix)]
#[test]
fn one_that_was_removed_is_told_and_disturbs_nobody() {
    let (_folder, file) = place();
    let mut old = Index::open(&file, None).unwrap();
    fill(&mut old, &[("a.md", "one")]);
    assert!(old.is_current());
    Index::remove(&file).unwrap();
    assert!(!old.is_current());
    let mut new = Index::open(&file, Some(b"another")).unwrap();
    is_empty(&new);
    fill(&mut new, &[("b.md", "two")]);
    fill(&mut old, &[("c.md", "three")]);
    drop(old);
    assert_eq!(
        (new.holding(&Stem::forms("two")).unwrap(), new.holding(&Stem::forms("three")).unwrap(), new.is_current()),
        (1, 0, true)
    );
    drop(new);
    let new = Index::open(&file, Some(b"another")).unwrap();
    assert_eq!(new.holding(&Stem::forms("two")).unwrap(), 1, "its log is still there");
}

#[test]
fn many_find_that_it_has_to_be_made_anew() {
    let (_folder, file) = place();
    drop(Index::open(&file, Some(b"old")).unwrap());
    std::thread::scope(|scope| {
        for number in 0..6 {
            let file = &file;
            scope.spawn(move || {
                // Each waits for the others for a moment only.
                let mut index =
                    std::iter::repeat_with(|| Index::open(file, Some(b"new"))).find_map(Result::ok).unwrap();
                fill(&mut index, &[(&format!("n{number}.md"), "word")]);
            });
        }
    });
    assert_eq!(Index::open(&file, Some(b"new")).unwrap().holding(&Stem::forms("word")).unwrap(), 6);
}

#[test]
fn filling_ends_and_changes_no_answer() {
    let notes: Vec<(String, String)> =
        (0..40).map(|number| (format!("n{number}.md"), format!("# Ada\n\n- age: {number}\n"))).collect();
    let ([mut filled, mut plain], mut pieces) = ([(); 2].map(|()| index(&[])), Vec::new());
    for is_filling in [true, false] {
        let mut writing = filled.write().unwrap();
        writing.set_filling(is_filling).unwrap();
        writing.commit().unwrap();
        let sql = "SELECT v FROM text_config WHERE k = 'automerge'";
        pieces.push(filled.db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap());
        for (at, text) in &notes {
            fill(&mut filled, &[(at, text)]);
            fill(&mut plain, &[(at, text)]);
        }
    }
    assert_eq!(pieces, [16, 4]);
    let paths: Vec<_> = notes.iter().map(|(at, _)| path(at)).collect();
    let all = |index: &Index| dump(index, &["ada", "age", "7", "39"], &["n7", "ada"], &paths).unwrap();
    assert_eq!(all(&filled), all(&plain));
}

#[test]
fn the_words_of_one_change_are_one_piece() {
    let notes: Vec<_> = (0..9).map(|number| format!("n{number}.md")).collect();
    let notes: Vec<_> = notes.iter().map(|at| (at.as_str(), "# Ada\n\nSee [[n1]] and [[n2]].\n")).collect();
    let index = index(&notes);
    let pieces = index.db.query_row("SELECT count(DISTINCT segid) FROM text_idx", [], |row| row.get::<_, i64>(0));
    assert_eq!(pieces.unwrap(), 1);
}

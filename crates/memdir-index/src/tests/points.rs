//! What notes mean: points come with a text and go with it.

use super::{fill, index, link, path, place, swept};
use crate::{Index, IndexError, NoteRecord, Pointed, Unpointed};
use memdir_rank::{Point, Source};

const NOTES: &[(&str, &str)] = &[("a.md", "amber"), ("b.md", "basalt"), ("c.txt", "no note")];

fn point(embedder: &str, numbers: &[f32]) -> Point {
    Point { embedder: embedder.to_owned(), numbers: numbers.to_vec() }
}

fn pointed(index: &Index) -> (Option<String>, usize, usize) {
    let Pointed { embedder, notes, all } = index.pointed().unwrap();
    (embedder, notes, all)
}

fn unpointed(index: &Index) -> Vec<String> {
    index.unpointed(0, 10).unwrap().iter().map(|note| note.path.to_string()).collect()
}

fn put(index: &mut Index, notes: &[Unpointed], points: &[Vec<f32>]) {
    let mut writing = index.write().unwrap();
    writing.set_embedder("one").unwrap();
    notes.iter().for_each(|note| writing.put_points(note, points).unwrap());
    writing.commit().unwrap();
}

/// How alike notes are to a point, in hundredths.
fn alike(index: &Index, point: &Point) -> Vec<(String, i64)> {
    let mut alike: Vec<_> = index.alike(point).unwrap().into_iter().collect();
    alike.sort_by_key(|(note, _)| *note);
    let path = |note| index.path(note).unwrap().unwrap().to_string();
    #[expect(clippy::cast_possible_truncation, reason = "from -100 to 100")]
    alike.into_iter().map(|(note, cosine)| (path(note), (cosine * 100.0).round() as i64)).collect()
}

fn set(index: &mut Index, at: &str, text: &str) {
    let swept = swept(at, 9);
    let mut writing = index.write().unwrap();
    writing.put(&swept, Some(&NoteRecord::of(&swept.path, text, Vec::new()))).unwrap();
    writing.commit().unwrap();
}

#[test]
fn what_is_closest_in_a_note_counts() {
    let mut index = index(NOTES);
    assert_eq!((pointed(&index), unpointed(&index)), ((None, 0, 2), vec!["a.md".to_owned(), "b.md".to_owned()]));
    let missing = index.unpointed(0, 10).unwrap();
    put(&mut index, &missing[..1], &[vec![0.1, 0.0], vec![0.0, -3.0]]);
    put(&mut index, &missing[1..], &[vec![7.0, 7.0]]);
    assert_eq!((pointed(&index), unpointed(&index)), ((Some("one".to_owned()), 2, 2), vec![]));
    let expected = |a, b| vec![("a.md".to_owned(), a), ("b.md".to_owned(), b)];
    assert_eq!(alike(&index, &point("one", &[2.0, 0.0])), expected(100, 71));
    assert_eq!(alike(&index, &point("one", &[0.0, -0.5])), expected(100, -71));
    // Points of another embedder, or with another count of numbers, are compared with nothing.
    assert_eq!(alike(&index, &point("two", &[1.0, 0.0])), []);
    assert_eq!(alike(&index, &point("one", &[1.0, 0.0, 0.0])), []);
    assert_eq!(alike(&index, &point("one", &[0.0, 0.0])), expected(0, 0));
}

#[test]
fn points_go_with_the_text_that_they_are_of() {
    let mut index = index(NOTES);
    let missing = index.unpointed(0, 10).unwrap();
    put(&mut index, &missing, &[vec![1.0, 0.0]]);
    set(&mut index, "a.md", "amber");
    assert_eq!(pointed(&index).1, 2, "it says what it said");
    set(&mut index, "a.md", "agate");
    assert_eq!((pointed(&index).1, unpointed(&index)), (1, vec!["a.md".to_owned()]));
    // What was made of the text before is not put under the text of now.
    put(&mut index, &missing, &[vec![1.0, 0.0]]);
    assert_eq!(unpointed(&index), ["a.md"]);
    assert!(missing[0].says(b"amber") && !missing[0].says(b"agate"));
    let mut writing = index.write().unwrap();
    writing.remove(&path("b.md")).unwrap();
    writing.commit().unwrap();
    assert_eq!((pointed(&index).1, alike(&index, &point("one", &[1.0, 0.0]))), (0, vec![]));
    let mut writing = index.write().unwrap();
    writing.put(&link("l.md"), Some(&NoteRecord::of(&path("l.md"), "a link", Vec::new()))).unwrap();
    writing.commit().unwrap();
    assert_eq!(unpointed(&index), ["a.md"], "a name that leads elsewhere");
    assert_eq!(index.unpointed(missing[0].number, 10).unwrap(), []);
}

#[test]
fn another_embedder_begins_anew() {
    let mut index = index(NOTES);
    let missing = index.unpointed(0, 10).unwrap();
    put(&mut index, &missing, &[vec![1.0, 0.0]]);
    let mut writing = index.write().unwrap();
    writing.set_embedder("one").unwrap();
    writing.commit().unwrap();
    assert_eq!(pointed(&index), (Some("one".to_owned()), 2, 2));
    let mut writing = index.write().unwrap();
    writing.set_embedder("two").unwrap();
    writing.commit().unwrap();
    assert_eq!((pointed(&index), unpointed(&index).len()), ((Some("two".to_owned()), 0, 2), 2));
    assert_eq!(alike(&index, &point("two", &[1.0, 0.0])), []);
}

#[test]
fn points_that_are_damaged_are_damage() {
    for damage in [
        "UPDATE point SET numbers = x'0200' WHERE file = 1",
        "UPDATE point SET numbers = (SELECT numbers FROM point WHERE file = 2) WHERE file = 1",
        "DELETE FROM point WHERE file = 1",
        "UPDATE state SET points = 7",
        "DROP TABLE point",
    ] {
        let (_folder, file) = place();
        let mut index = Index::open(&file, None).unwrap();
        fill(&mut index, NOTES);
        let missing = index.unpointed(0, 10).unwrap();
        put(&mut index, &missing, &[vec![1.0, 0.0]]);
        assert_eq!(alike(&index, &point("one", &[1.0, 0.0])).len(), 2);
        index.db.execute(damage, []).unwrap();
        assert!(index.alike(&point("one", &[1.0, 0.0])).is_err() && index.is_damaged(), "{damage}");
    }
    let mut index = index(NOTES);
    index.db.execute("DROP TABLE point", []).unwrap();
    let error = index.write().unwrap().set_embedder("one").unwrap_err();
    assert!(matches!(error, IndexError::Damaged(_)), "{error}");
}
